/// Bodies that many tests are made of.
#pragma once

#include <string>

#include "engine/body_io.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/scenes.h"

namespace abut::test {

inline Body asset(const std::string& name) {
  return read_body(std::string(ABUT_SOURCE_DIR) + "/assets/bodies/" + name);
}

inline Shape single_primitive(const Primitive& primitive, double union_smoothing = 1e-3) {
  Shape shape;
  shape.primitives = {primitive};
  shape.union_smoothing = union_smoothing;
  return shape;
}

/// A superquadric with a dent.
inline Body dented_body() {
  Shape shape;
  shape.primitives = {superquadric({0.1, 0.08, 0.12}, 0.6, 0.9),
                      superquadric({0.05, 0.05, 0.05}, 1.0, 1.0, pose_at({0.0, 0.0, 0.13}))};
  shape.primitives[1].operation = PrimitiveOperation::subtract;
  return star_shaped_body(std::move(shape), 1.0, 2);
}

/// 70 balls around a centre and 2562 points: masks of 64 bits have to be shared.
inline Body many_primitives() {
  Shape shape;
  Random random(7);
  shape.primitives.push_back(superquadric({0.08, 0.08, 0.08}, 1.0, 1.0));
  for (int i = 0; i < 70; ++i) {
    shape.primitives.push_back(
        superquadric({0.03, 0.02, 0.025}, 0.8, 1.0, {random.quaternion(), 0.08 * random.unit_vector()}));
  }
  shape.union_smoothing = 0.0005;
  return star_shaped_body(std::move(shape), 1.0, 4);
}

}  // namespace abut::test
