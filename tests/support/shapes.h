/// Shapes for tests.
#pragma once

#include <utility>
#include <vector>

#include "engine/model.h"

namespace abut::test {

[[nodiscard]] inline Shape shape_of(std::vector<Primitive> primitives) {
  Shape shape;
  shape.primitives = std::move(primitives);
  return shape;
}

}  // namespace abut::test
