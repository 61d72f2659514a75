#include "collision/manifold/selection_statistics.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/scenes.h"

using namespace abut;

TEST_CASE("suggest-k: samples collide, no deeper than asked", "[collision][property]") {
  Random random(4);
  const Body box = test::box_of_mass({0.1, 0.08, 0.05}, 1.0, 2),
             cross = test::cross_of_mass({0.1, 0.08, 0.06}, 0.4, 0.6, 1.0), floor = make_half_space();
  const double depth = 0.03;
  const std::vector<std::pair<const Body*, const Body*>> pairs{
      {&box, &cross}, {&floor, &box}, {&cross, &floor}};
  for (const auto& [A, B] : pairs) {
    const SelectionSampler sampler(*A, *B, depth);
    const ShapeSdf sdf_A(A->shape), sdf_B(B->shape);
    const double limit = depth * std::min(A->size, B->size);
    for (int i = 0; i < 30; ++i) {
      const Pose<double> X_AB = sampler.colliding_pose(random);
      double least = 1.0;
      for (Eigen::Index k = 0; k < B->contact_points.cols(); ++k)
        least = std::min(
            least, sdf_A.distance<double>(X_AB * Vec3<double>(B->contact_points.col(k))) - B->contact_radius);
      for (Eigen::Index k = 0; k < A->contact_points.cols(); ++k)
        least =
            std::min(least, sdf_B.distance<double>(inverse_point<double>(X_AB, A->contact_points.col(k))) -
                                A->contact_radius);
      CAPTURE(A->name, B->name, i);
      REQUIRE(least < 0.0);
      REQUIRE(least > -1.05 * limit);
      const SelectionCounts counts = sampler.counts(X_AB);
      REQUIRE(counts.vertices_A + counts.vertices_B >= 1);  // the deepest of all
    }
  }
}

TEST_CASE("suggest-k: counts of poses that can be counted by hand", "[collision][value]") {
  const Body box = make_box({0.1, 0.1, 0.1}, 1e-3, 1, 1000.0), floor = make_half_space();
  // A corner, an edge and a face of the box down on the floor.
  const SelectionSampler on_floor(floor, box, 0.05);
  const auto at = [&](const Quat<double>& q, double height) { return on_floor.counts({q, {0, 0, height}}); };
  const double corner = 0.099 * std::sqrt(3.0), edge = 0.099 * std::sqrt(2.0);
  const Quat<double> corner_down = shortest_rotation(Vec3<double>(1, 1, 1), Vec3<double>(0, 0, -1));
  CHECK(at(corner_down, corner).vertices_B == 1);
  const Quat<double> edge_down = shortest_rotation(Vec3<double>(1, 1, 0), Vec3<double>(0, 0, -1));
  CHECK(at(edge_down, edge).vertices_B == 1);  // both ends are equally deep: the one counts as deeper
  CHECK(at(corner_down, corner).edge_pairs == 0);
  CHECK(at(corner_down, corner).vertices_A == 0);

  // Two boxes crossing with one edge each: one pair of edges, and no vertex.
  const SelectionSampler crossing(box, box, 0.05);
  const double rim = (0.099 * std::sqrt(2.0) + 1e-3);
  const Quat<double> up(Eigen::AngleAxisd(0.25 * 3.14159265358979, Vec3<double>::UnitX()));
  const Quat<double> down = Quat<double>(Eigen::AngleAxisd(0.25 * 3.14159265358979, Vec3<double>::UnitY()));
  const Pose<double> X_WA{up, {0, 0, 0}}, X_WB{down, {0.01, 0.02, 2.0 * rim - 2e-3}};
  const SelectionCounts counts = crossing.counts(X_WA.inverse() * X_WB);
  CHECK(counts.edge_pairs == 1);
  CHECK(counts.vertices_A == 0);
  CHECK(counts.vertices_B == 0);
  CHECK(crossing.counts({Quat<double>::Identity(), {0, 0, 5.0}}).edge_pairs == 0);
}

TEST_CASE("suggest-k: counts do not depend on which body comes first", "[collision][property]") {
  Random random(8);
  const Body box = test::box_of_mass({0.1, 0.08, 0.05}, 1.0, 1),
             cross = test::cross_of_mass({0.1, 0.08, 0.06}, 0.4, 0.6, 1.0);
  const SelectionSampler one(box, cross, 0.05), other(cross, box, 0.05);
  int edges = 0;
  for (int i = 0; i < 60; ++i) {
    const Pose<double> X = one.colliding_pose(random);
    const SelectionCounts a = one.counts(X), b = other.counts(X.inverse());
    REQUIRE(a.edge_pairs == b.edge_pairs);
    REQUIRE(a.vertices_A == b.vertices_B);
    REQUIRE(a.vertices_B == b.vertices_A);
    edges += a.edge_pairs;
  }
  CHECK(edges > 0);
}

TEST_CASE("suggest-k: quantiles by nearest rank, and what cannot be sampled", "[collision][value]") {
  CHECK(quantile_of({3, 1, 2, 4}, 0.5) == 2);
  CHECK(quantile_of({3, 1, 2, 4}, 0.51) == 3);
  CHECK(quantile_of({3, 1, 2, 4}, 1.0) == 4);
  CHECK(quantile_of({3, 1, 2, 4}, 0.01) == 1);
  CHECK(quantile_of({}, 0.5) == 0);
  const Body floor = make_half_space(), ball = make_sphere(0.1, 1000.0);
  CHECK_THROWS_WITH(SelectionSampler(floor, floor, 0.05), Catch::Contains("extend for ever"));
  CHECK_THROWS_WITH(SelectionSampler(floor, ball, 0.0), Catch::Contains("depth = 0"));
}
