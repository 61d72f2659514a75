#include "edge_contact.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <numbers>

#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"

namespace abut::paper000 {
namespace {

using test::close;

/// Widths and lambda as published, of edges in a scene of this size [m].
EdgeWitnessSettings<double> published_settings(double size = 1.0) {
  return {{.clip = 0.1, .minimum = 0.1 * size * size, .interior = 0.1}, 0.01 * size * size};
}

/// With ends uniform in the unit cube.
Edge<double> random_edge(Random& random) {
  Edge<double> edge;
  for (int i = 0; i < 3; ++i) {
    edge.start[i] = random.uniform();
    edge.vector[i] = random.uniform() - edge.start[i];
  }
  return edge;
}

TEST_CASE("edge_witness: reference values of the published routine with its errors mended",
          "[paper000][golden]") {
  const Edge<double> edge1{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}}, edge2{{0.3, -0.5, 0.2}, {0.1, 1.1, 0.1}};
  const EdgeWitness<double> w = edge_witness(edge1, edge2, published_settings());
  CHECK(close(w.minimum.alpha[0], 0.3400384784608862, 1e-13, 0));
  CHECK(close(w.minimum.alpha[1], 0.43231852079949806, 1e-13, 0));
  CHECK(close(w.minimum.gamma, 0.9521887900877739, 1e-13, 0));
  CHECK(close(w.e1, Vec3<double>(0.3400384784608862, 0.0, 0.0), 1e-13, 0));
  CHECK(close(w.e2, Vec3<double>(edge2.start + 0.43231852079949806 * edge2.vector), 1e-13, 0));
}

TEST_CASE("edge_witness: swapping the edges swaps the points", "[paper000][property]") {
  Random random(2);
  for (int trial = 0; trial < 1000; ++trial) {
    const Edge<double> edge1 = random_edge(random), edge2 = random_edge(random);
    const EdgeWitness<double> a = edge_witness(edge1, edge2, published_settings()),
                              b = edge_witness(edge2, edge1, published_settings());
    CHECK(close(a.e1, b.e2, 1e-9, 1e-11));
    CHECK(close(a.e2, b.e1, 1e-9, 1e-11));
    CHECK(close(a.minimum.gamma, b.minimum.gamma, 1e-8, 1e-12));
  }
}

TEST_CASE("edge_witness: moves with the frame, and scales with the scene", "[paper000][property]") {
  Random random(3);
  for (int trial = 0; trial < 1000; ++trial) {
    const Edge<double> edge1 = random_edge(random), edge2 = random_edge(random);
    const Pose<double> X = test::random_pose(random, 3.0);
    const double size = std::pow(10.0, random.uniform(-2.0, 2.0));
    const auto moved = [&](const Edge<double>& e) {
      return Edge<double>{size * (X.q * e.start) + X.p, size * (X.q * e.vector)};
    };
    const EdgeWitness<double> a = edge_witness(edge1, edge2, published_settings()),
                              b = edge_witness(moved(edge1), moved(edge2), published_settings(size));
    CHECK(close(Vec3<double>(size * (X.q * a.e1) + X.p), b.e1, 1e-9, 1e-9 * size));
    CHECK(close(Vec3<double>(size * (X.q * a.e2) + X.p), b.e2, 1e-9, 1e-9 * size));
    CHECK(close(a.minimum.gamma, b.minimum.gamma, 1e-6, 1e-9));
  }
}

TEST_CASE("edge_contact_normal: is that of the crossing of both edges, or of their bodies if parallel",
          "[paper000][value]") {
  const EdgeWithNormal lower{{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}}, {0.0, 0.0, 1.0}};
  const auto upper = [](double angle) {
    return EdgeWithNormal{{{0.0, 0.0, 0.0}, {std::cos(angle), std::sin(angle), 0.0}}, {0.0, 0.0, -1.0}};
  };
  // From B, the upper one, to A.
  const Vec3<double> crossed = edge_contact_normal(lower, upper(0.5 * std::numbers::pi)),
                     parallel = edge_contact_normal(lower, upper(0.0));
  CHECK(close(crossed, Vec3<double>(0.0, 0.0, -1.0), 0, 2e-3));
  CHECK(close(parallel, Vec3<double>(0.0, 0.0, -std::sqrt(0.5)), 1e-14, 1e-15));  // |m| = kappa = eta
  CHECK(close(edge_contact_normal(upper(0.7), lower), Vec3<double>(-edge_contact_normal(lower, upper(0.7))),
              1e-14, 1e-15));
}

}  // namespace
}  // namespace abut::paper000
