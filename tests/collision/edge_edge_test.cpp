#include "collision/manifold/edge_edge.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "engine/dual.h"
#include "engine/lie.h"
#include "engine/pack.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace abut {
namespace {

using test::close;

/// An edge as 9 numbers: start, vector, normal.
template <typename S>
using EdgeNumbers = Eigen::Matrix<S, 9, 1>;
template <typename S>
using PairNumbers = Eigen::Matrix<S, 18, 1>;

template <typename S, typename Numbers>
Edge<S> edge_of(const Numbers& x) {
  Edge<S> edge;
  for (int i = 0; i < 3; ++i) {
    edge.start[i] = S(x[i]);
    edge.vector[i] = S(x[3 + i]);
    edge.normal[i] = S(x[6 + i]);
  }
  return edge;
}

EdgeNumbers<double> numbers_of(const Edge<double>& edge) {
  EdgeNumbers<double> x;
  x << edge.start, edge.vector, edge.normal;
  return x;
}

struct EdgePair {
  Edge<double> edge1, edge2;
};

PairNumbers<double> numbers_of(const EdgePair& pair) {
  PairNumbers<double> x;
  x << numbers_of(pair.edge1), numbers_of(pair.edge2);
  return x;
}

Vec3<double> perpendicular(Random& random, const Vec3<double>& to) {
  const Vec3<double> u = random.unit_vector();
  return (u - to * (to.dot(u) / to.squaredNorm())).normalized();
}

/// Two edges of 0.02 to 0.5 m with middles 0.2 m apart or less; one in four pairs is nearly parallel.
EdgePair random_pair(Random& random) {
  EdgePair pair;
  pair.edge1.vector = 0.5 * std::pow(0.04, random.uniform()) * random.unit_vector();
  pair.edge2.vector = 0.5 * std::pow(0.04, random.uniform()) * random.unit_vector();
  if (random.uniform() < 0.25) {
    const double sine = std::pow(10.0, random.uniform(-6.0, -1.0));
    pair.edge2.vector = pair.edge2.vector.norm() *
                        (pair.edge1.vector.normalized() + sine * random.unit_vector()).normalized();
  }
  const Vec3<double> middle = test::random_vector(random, 0.5);
  const Vec3<double> offset = random.uniform(0.0, 0.2) * random.unit_vector();
  pair.edge1.start = middle - 0.5 * pair.edge1.vector;
  pair.edge2.start = middle + offset - 0.5 * pair.edge2.vector;
  pair.edge1.normal = perpendicular(random, pair.edge1.vector);
  pair.edge2.normal = perpendicular(random, pair.edge2.vector);
  if (random.uniform() < 0.5) pair.edge2.normal *= pair.edge2.normal.dot(pair.edge1.normal) < 0.0 ? 1.0 : -1.0;
  return pair;
}

const EdgeEdgeSettings<double>& settings() {
  static const EdgeEdgeSettings<double> s(ContactConfig{}, 1.0);
  return s;
}

/// All that a contact says, in a row: e1, e2, n, D, gamma_con, d, gamma_cl.
template <typename S>
Eigen::Matrix<S, 13, 1> outputs(const Edge<S>& edge1, const Edge<S>& edge2,
                                const EdgeEdgeSettings<double>& of = settings()) {
  const EdgeContact<S> c = edge_contact(edge1, edge2, of);
  Eigen::Matrix<S, 13, 1> y;
  for (int i = 0; i < 3; ++i) {
    y[i] = c.witness.e1[i];
    y[3 + i] = c.witness.e2[i];
    y[6 + i] = c.normal.n[i];
  }
  y[9] = c.witness.softened;
  y[10] = c.witness.minimum.gamma;
  y[11] = c.distance;
  y[12] = c.clash;
  return y;
}

template <typename S>
Eigen::Matrix<S, 13, 1> outputs(const PairNumbers<S>& x) {
  return outputs(edge_of<S>(x.template head<9>()), edge_of<S>(x.template tail<9>()));
}

EdgeContactBar<double> bar_of(const Eigen::Matrix<double, 13, 1>& y_bar) {
  EdgeContactBar<double> bar;
  bar.e1 = y_bar.segment<3>(0);
  bar.e2 = y_bar.segment<3>(3);
  bar.n = y_bar.segment<3>(6);
  bar.softened = y_bar[9];
  bar.gamma_con = y_bar[10];
  bar.distance = y_bar[11];
  bar.clash = y_bar[12];
  return bar;
}

/// Edges crossing each other at right heights: edge 1 above edge 2 by `gap`, tilted by 12 degrees from what
/// their bodies' surfaces would have as normals.
EdgePair crossing_pair(Random& random, double gap, double angle, double error) {
  const Vec3<double> u1(1.0, 0.0, 0.0), u2(std::cos(angle), std::sin(angle), 0.0), up(0.0, 0.0, 1.0);
  const auto turned = [&](const Vec3<double>& n, const Vec3<double>& about) {
    const double sign = random.uniform() < 0.5 ? -1.0 : 1.0;
    return Vec3<double>(so3_exp(Vec3<double>(sign * error * about)) * n);
  };
  EdgePair pair;
  pair.edge1 = {-random.uniform(0.2, 0.8) * u1 + gap * up, u1, turned(-up, u1)};
  pair.edge2 = {-random.uniform(0.2, 0.8) * u2, u2, turned(up, u2)};
  return pair;
}

TEST_CASE("edge_witness: reference values of the published routine with its errors mended",
          "[collision][golden]") {
  ContactConfig config;
  config.fidelity = Fidelity::paper;
  const Edge<double> edge1{{0, 0, 0}, {1, 0, 0}, {0, 0, 1}}, edge2{{.3, -.5, .2}, {.1, 1.1, .1}, {0, 0, -1}};
  const EdgeWitness<double> w = edge_witness(edge1, edge2, EdgeEdgeSettings<double>(config, 1.0));
  CHECK(close(w.minimum.alpha[0], 0.3400384784608862, 1e-13, 0));
  CHECK(close(w.minimum.alpha[1], 0.43231852079949806, 1e-13, 0));
  CHECK(close(w.minimum.gamma, 0.9521887900877739, 1e-13, 0));
  CHECK(close(w.e1, Vec3<double>(0.3400384784608862, 0.0, 0.0), 1e-13, 0));
}

TEST_CASE("edge_contact: edges that cross have their normal across both and their gap as distance",
          "[collision][value]") {
  // Independent run: tilt 0.21 degrees (median), 1.4 (99 %), the same at every gap; d/gap at a gap of 1e-3
  // of the edge 0.935 to 1.059, at 1e-2 0.992 to 1.004.
  const double gap = GENERATE(-1e-2, -1e-3, 1e-3, 1e-2, 0.1);
  Random random(1);
  std::vector<double> tilt, ratio;
  for (int trial = 0; trial < 10000; ++trial) {
    const double angle = random.uniform(30.0, 150.0) * std::numbers::pi / 180.0;
    const EdgePair pair = crossing_pair(random, gap, angle, 12.0 * std::numbers::pi / 180.0);
    const EdgeContact<double> c = edge_contact(pair.edge1, pair.edge2, settings());
    const Vec3<double> n = c.normal.n;
    REQUIRE(n.z() > 0.9);
    REQUIRE(n.norm() <= 1.0);
    tilt.push_back(std::atan2(n.head<2>().norm(), n.z()) * 180.0 / std::numbers::pi);
    ratio.push_back(c.distance / (gap * n.norm()));
  }
  std::sort(tilt.begin(), tilt.end());
  std::sort(ratio.begin(), ratio.end());
  CAPTURE(gap, tilt[5000], tilt[9900], tilt.back(), ratio[500], ratio[9500], ratio.front(), ratio.back());
  WARN(gap << ' ' << tilt[5000] << ' ' << tilt[9900] << ' ' << ratio[500] << ' ' << ratio[9500] << ' ' << ratio.front() << ' ' << ratio.back());
  CHECK(tilt[5000] < 0.25);
  CHECK(tilt[9900] < 1.5);
}

}  // namespace
}  // namespace abut
