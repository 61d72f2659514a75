// Weights of vertices by how nearly they are the closest feature of their body.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "collision/manifold/closest_features.h"
#include "collision/manifold/kernel/body_features.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/convex_bodies.h"
#include "tests/support/gradient_check.h"

namespace abut::test {
namespace {

constexpr double k_width = 0.2;

/// C(w) of contact point `point` for a normal of the other solid.
template <typename S>
NormalCone<S> cone_of(const PointEdges<double>& edges, std::size_t point, const Vec3<S>& n, double width) {
  NormalCone<S> cone;
  for (auto k = static_cast<std::size_t>(edges.first[point]);
       k < static_cast<std::size_t>(edges.first[point + 1]); ++k) {
    const Vec3<S> edge(S(edges.x[k]), S(edges.y[k]), S(edges.z[k]));
    cone.add(edge, edge[0] * n[0] + edge[1] * n[1] + edge[2] * n[2], S(1.0 / width));
  }
  return cone;
}

PointEdges<double> edges_of(const Body& body) {
  return BodyFeatures<double>(body, ShapeSdf(body.shape), {}).point_edges;
}

}  // namespace

TEST_CASE("closest features: whichever way a plane comes, one vertex of a convex body has its whole weight",
          "[collision][property]") {
  int normals = 0, weightless = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const Body body = random_convex_body("A", random).body;
    const PointEdges<double> edges = edges_of(body);
    for (int i = 0; i < 25; ++i, ++normals) {
      const Vec3<double> n = random.unit_vector();
      // The vertex that reaches deepest into the half-space of outward normal n.
      Eigen::Index deepest = 0;
      (n.transpose() * body.contact_points).minCoeff(&deepest);
      CAPTURE(seed, i);
      REQUIRE(cone_of(edges, static_cast<std::size_t>(deepest), n, k_strict_cone * k_width).value == 1.0);
      for (Eigen::Index k = 0; k < body.contact_points.cols(); ++k) {
        const auto point = static_cast<std::size_t>(k);
        double lowest = 0.0;
        for (int e = edges.first[point]; e < edges.first[point + 1]; ++e) {
          const auto at = static_cast<std::size_t>(e);
          lowest = std::min(lowest, n.dot(Vec3<double>(edges.x[at], edges.y[at], edges.z[at])));
        }
        if (lowest > -k_width) continue;
        REQUIRE(cone_of(edges, point, n, k_width).value == 0.0);
        ++weightless;
      }
    }
  }
  CHECK(normals == 1000);
  CHECK(weightless > 5000);
}

TEST_CASE("closest features: derivatives of cones and weights agree with Jet", "[collision][derivative]") {
  Random random(5);
  const Body body = block("block", {0.3, 0.2, 0.1}, 1).body;
  const PointEdges<double> edges = edges_of(body);
  int sloped = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto point = random.integer(static_cast<std::uint64_t>(body.contact_points.cols()));
    const Vec3<double> n = -body.contact_area_vectors.col(static_cast<Eigen::Index>(point)).normalized() +
                           0.3 * random_vector(random);
    const NormalCone<double> cone = cone_of(edges, point, n, k_width);
    const auto value = [&](const auto& x) { return cone_of(edges, point, x, k_width).value; };
    REQUIRE(close(cone.by_normal, jet_gradient(value, n), 1e-12, 1e-13));
    sloped += static_cast<int>(cone.by_normal.norm() > 0.1);

    Eigen::Matrix<double, 5, 1> x, by_all;
    for (double& number : x) number = random.uniform();
    const VertexWeight<double> weight(x[0], x[1], x[2], x[3], x[4]);
    by_all << weight.by_strict, weight.by_wide, weight.by_patch, weight.by_push_out, weight.by_floor;
    REQUIRE(close(by_all,
                  jet_gradient(
                      [](const auto& y) {
                        using S = std::decay_t<decltype(y[0])>;
                        return VertexWeight<S>(y[0], y[1], y[2], y[3], y[4]).value;
                      },
                      x),
                  1e-12, 1e-13));
    const double distance = random.uniform(-15.0, 0.0);
    REQUIRE(close(
        push_out_slope(distance, 1.0),
        jet_derivative([](const auto& d) { return push_out(d, std::decay_t<decltype(d)>(1.0)); }, distance),
        1e-12, 1e-13));
  }
  CHECK(sloped > 200);
}

TEST_CASE("closest features: derivatives of the patch agree with Jet, to the place where a vertex comes in",
          "[collision][derivative]") {
  Random random(6);
  int changing = 0;
  for (int i = 0; i < 500; ++i) {
    constexpr int k_vertices = 4;
    Eigen::Matrix<double, 2 * k_vertices, 1> x;  // areas, depths
    for (int k = 0; k < k_vertices; ++k) {
      x[k] = random.uniform(0.0, 3.0);
      x[k_vertices + k] = k == 0 ? 0.0 : random.uniform(0.0, 2.0);
    }
    const auto sums_of = [](const auto& y) {
      PatchSums<std::decay_t<decltype(y[0])>> sums;
      for (int k = 0; k < k_vertices; ++k) sums.add(y[k], y[k_vertices + k]);
      return sums;
    };
    const PatchShare<double> share(sums_of(x));
    const auto expected = jet_gradient(
        [&](const auto& y) { return PatchShare<std::decay_t<decltype(y[0])>>(sums_of(y)).value; }, x);
    for (int k = 0; k < k_vertices; ++k) {
      REQUIRE(close(share.by_area(x[k_vertices + k]), expected[k], 1e-11, 1e-12));
      REQUIRE(close(share.by_depth(x[k], x[k_vertices + k]), expected[k_vertices + k], 1e-11, 1e-12));
    }
    REQUIRE(share.by_depth(x[0], 0.0) == 0.0);
    changing += static_cast<int>(share.changes());
  }
  CHECK(changing > 200);
}

TEST_CASE("closest features: a floor, the patch and the push-out give weight where a cone does not",
          "[collision][value]") {
  CHECK(VertexWeight<double>(1.0, 1.0, 0.0, 0.0, k_patch_floor).value == 1.0);
  CHECK(VertexWeight<double>(0.0, 1.0, 0.0, 0.0, k_patch_floor).value == Approx(k_patch_floor));
  CHECK(VertexWeight<double>(0.0, 1.0, 1.0, 0.0, k_patch_floor).value == 1.0);
  CHECK(VertexWeight<double>(0.0, 0.0, 1.0, 0.0, k_patch_floor).value == 0.0);  // exactly
  CHECK(VertexWeight<double>(0.0, 0.0, 0.0, 1.0, k_patch_floor).value == 1.0);
  CHECK(push_out(-4.0, 1.0) == 0.0);
  CHECK(push_out(-12.0, 1.0) == 1.0);
  PatchSums<double> even;
  for (int i = 0; i < 10; ++i) even.add(2.0, 0.7);
  CHECK(PatchShare<double>(even).q ==
        Approx(0.7).epsilon(1e-3));  // the depth, where it is the same everywhere
}

}  // namespace abut::test
