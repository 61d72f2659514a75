/// Pairs of bodies at relative poses in which their manifolds are tested, and how contacts are found again.
#pragma once

#include <algorithm>
#include <map>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "collision/manifold/manifold_batch.h"
#include "engine/body_io.h"
#include "engine/mesh_shapes.h"
#include "tests/support/cases.h"
#include "tests/support/manifold_reference.h"
#include "tests/support/scenes.h"

namespace abut::test {

inline Body asset(const std::string& name) {
  return read_body(std::string(ABUT_SOURCE_DIR) + "/assets/bodies/" + name);
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

/// Where the normals of a pair's signed distance functions jump: nowhere, on planes inside the solids
/// (rounded boxes), on the surface as well (a sharp cube's edges, where rounding picks the face).
enum class NormalJumps { none, inside, surface };

struct PairCase {
  std::string name;
  Body A, B;
  std::vector<Pose<double>> X_AB;
  NormalJumps jumps = NormalJumps::none;

  [[nodiscard]] double size() const { return std::min(A.size, B.size); }
};

/// Poses in which the centres are `nearest` to `farthest` of the sizes' mean apart.
inline std::vector<Pose<double>> random_poses(const Body& A, const Body& B, int count, double nearest,
                                              double farthest, std::uint64_t seed) {
  Random random(seed);
  std::vector<Pose<double>> poses;
  for (int i = 0; i < count; ++i) {
    Pose<double> X;
    X.q = random.quaternion();
    X.p = random.uniform(nearest, farthest) * 0.5 * (A.size + B.size) * random.unit_vector();
    poses.push_back(X);
  }
  return poses;
}

inline PairCase pair_of(std::string name, Body A, Body B, int poses, double nearest = 0.25,
                        double farthest = 0.8) {
  PairCase c{std::move(name), std::move(A), std::move(B), {}};
  c.X_AB = random_poses(c.A, c.B, poses, nearest, farthest, 1);
  return c;
}

/// Cubes of 0.2 m, sharp, in poses with ties: faces, edges and corners on each other, edges parallel.
inline PairCase cubes_at_ties() {
  const Body cube = make_box({0.1, 0.1, 0.1}, 0.0, 1, 1000.0);
  PairCase c{"cubes at ties", cube, cube, {}, NormalJumps::surface};
  constexpr double quarter = std::numbers::pi / 4.0;
  for (const double gap : {-0.01, -1e-3, 0.0, 1e-3}) {
    c.X_AB.push_back(pose_at({0.0, 0.0, 0.2 + gap}));
    c.X_AB.push_back(pose_at({0.05, 0.0, 0.2 + gap}));
    c.X_AB.push_back(pose_at({0.2 + gap, 0.0, 0.2 + gap}));
    c.X_AB.push_back(pose_at({0.2 + gap, 0.2 + gap, 0.2 + gap}));
    c.X_AB.push_back(pose_at({0.0, 0.0, 0.2 + gap}, {0.0, 0.0, quarter}));
    c.X_AB.push_back(pose_at({0.0, 0.0, 0.1 + 0.1 * std::numbers::sqrt2 + gap}, {quarter, 0.0, 0.0}));
    c.X_AB.push_back(pose_at({0.2 + gap, 0.0, 0.0}, {0.0, 0.0, std::numbers::pi / 2.0}));
  }
  return c;
}

inline const std::vector<PairCase>& cases() {
  static const std::vector<PairCase> list = [] {
    std::vector<PairCase> c;
    c.push_back(pair_of("armadillos", asset("armadillo"), asset("armadillo"), 12));
    c.push_back(pair_of("drill and mustard bottle", asset("power_drill"), asset("mustard_bottle"), 12));
    const Body box = make_box({0.1, 0.06, 0.04}, 0.002, 4, 1000.0),
               cube = make_box({0.05, 0.05, 0.05}, 0.0, 1, 1000.0);
    c.push_back(pair_of("boxes", box, box, 12));
    c.back().jumps = NormalJumps::inside;
    c.push_back(pair_of("a box and a sharp cube", box, cube, 12));
    c.back().jumps = NormalJumps::inside;
    c.push_back(cubes_at_ties());
    c.push_back(pair_of("single superquadrics", superquadric_of_mass({0.1, 0.08, 0.05}, 0.3, 0.5, 1.0),
                        superquadric_of_mass({0.06, 0.06, 0.06}, 1.0, 1.0, 1.0), 12));
    c.push_back(pair_of("an armadillo and a dented body", asset("armadillo"), dented_body(), 12));
    c.push_back(pair_of("dented bodies", dented_body(), dented_body(), 12));
    c.push_back(pair_of("more primitives and blocks than bits", many_primitives(), dented_body(), 3));
    c.push_back(pair_of("far apart", asset("armadillo"), asset("power_drill"), 4, 2.0, 100.0));
    c.push_back(pair_of("identical poses", asset("armadillo"), asset("armadillo"), 0));
    c.back().X_AB.emplace_back();
    c.push_back(pair_of("deep overlap", asset("armadillo"), asset("mustard_bottle"), 6, 0.0, 0.1));
    c.push_back(pair_of("a sphere and a box", make_sphere(0.05, 1000.0), box, 8, 0.1, 0.7));
    c.back().jumps = NormalJumps::inside;
    c.push_back(pair_of("a half-space and an armadillo", make_half_space(), asset("armadillo"), 0));
    Random random(2);
    for (int i = 0; i < 6; ++i) {
      c.back().X_AB.push_back({random.quaternion(), {random.uniform(), 0.0, random.uniform(0.0, 0.15)}});
    }
    return c;
  }();
  return list;
}

/// What is at a pose, by the bodies' own numbers of features.
template <typename T>
std::map<ContactKey, int> index_of(const ManifoldView<T>& view) {
  std::map<ContactKey, int> index;
  int i = 0;
  for (int section = 0; section < k_sections; ++section) {
    for (int k = 0; k < view.counts()[static_cast<std::size_t>(section)]; ++k, ++i)
      index.emplace(ContactKey(section, view.feature_A(i), view.feature_B(i)), i);
  }
  return index;
}

}  // namespace abut::test
