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
  if (random.uniform() < 0.5)
    pair.edge2.normal *= pair.edge2.normal.dot(pair.edge1.normal) < 0.0 ? 1.0 : -1.0;
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
    return Vec3<double>(exp_so3(Vec3<double>(sign * error * about)) * n);
  };
  EdgePair pair;
  pair.edge1 = {Vec3<double>(-random.uniform(0.2, 0.8) * u1 + gap * up), u1, turned(-up, u1)};
  pair.edge2 = {Vec3<double>(-random.uniform(0.2, 0.8) * u2), u2, turned(up, u2)};
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
  // With a share of the surfaces' normals that does not fade as the edges cross: tilt 0.21 degrees (median),
  // 1.4 (99 %), and errors of d 6 times as large.
  const double gap = GENERATE(-1e-2, -1e-3, 1e-3, 1e-2, 0.1);
  Random random(1);
  std::vector<double> tilt, ratio;
  for (int trial = 0; trial < 10000; ++trial) {
    const double angle = random.uniform(10.0, 170.0) * std::numbers::pi / 180.0;
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
  CHECK(tilt[5000] < 0.01);
  CHECK(tilt[9900] < 0.6);
  const double error = 1e-5 / std::abs(gap);  // of the witness points along the edges, in the tilted normal
  CHECK(ratio[500] > 1.0 - error);
  CHECK(ratio[9500] < 1.0 + error);
}

TEST_CASE("edge_contact: rims that meet in a corner have their gap as distance", "[collision][value]") {
  // The upper rim of a cube along x, the lower one along y of a cube above it: witness points are rounded off
  // at the ends by 1.5 % of the edges, and the normals of the surfaces both lean outwards.
  constexpr double k_edge = 0.1;
  const double gap = GENERATE(-1e-4, 0.0, 1e-5, 1e-3);
  const double lean = std::sqrt(0.5);
  const Edge<double> lower{{0.0, 0.0, 0.0}, {-k_edge, 0.0, 0.0}, {0.0, lean, lean}},
      upper{{0.0, 0.0, gap}, {0.0, -k_edge, 0.0}, {lean, 0.0, -lean}};
  const EdgeContact<double> c = edge_contact(lower, upper, settings());
  CAPTURE(gap, c.distance, c.normal.n.transpose(), c.witness.difference.transpose());
  CHECK(c.witness.difference.head<2>().norm() > 1e-3);
  CHECK(std::abs(c.distance + gap * c.normal.n.z()) < 4e-5 * k_edge + 1e-3 * std::abs(gap));
}

TEST_CASE("edge_contact: parallel edges that face each other keep a normal and a distance",
          "[collision][value]") {
  const Edge<double> edge1{{0.0, 0.0, 0.01}, {1.0, 0.0, 0.0}, {0.0, 0.0, -1.0}};
  const Edge<double> edge2{{0.2, 0.0, 0.0}, {0.5, 0.0, 0.0}, {0.0, 0.0, 1.0}};
  const EdgeContact<double> c = edge_contact(edge1, edge2, settings());
  // |m| = kappa = eta there, so n is shorter by sqrt(2).
  CHECK(close(c.normal.n, Vec3<double>(0.0, 0.0, std::sqrt(0.5)), 1e-14, 1e-15));
  CHECK(close(c.distance, 0.01 * std::sqrt(0.5), 1e-12, 0));
  CHECK(c.clash == 1.0);
}

TEST_CASE("edge_contact: gamma_cl is 1 for opposed normals, 0 from the threshold on", "[collision][value]") {
  Edge<double> edge1{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 0.0, -1.0}};
  const Edge<double> edge2{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 0.0, 1.0}};
  const auto clash = [&](double cosine) {
    edge1.normal = {0.0, std::sqrt(1.0 - cosine * cosine), cosine};
    return edge_clash(edge1, edge2, settings());
  };
  CHECK(clash(-1.0) == 1.0);
  CHECK(clash(-0.6001) == 1.0);
  CHECK(close(clash(-0.2), 0.5, 1e-14, 0));
  CHECK(clash(0.2001) == 0.0);
  CHECK(clash(1.0) == 0.0);
}

TEST_CASE("edge_contact: swapping the bodies turns the normal over and keeps the rest",
          "[collision][property]") {
  Random random(2);
  for (int trial = 0; trial < 1000; ++trial) {
    const EdgePair pair = random_pair(random);
    const EdgeContact<double> a = edge_contact(pair.edge1, pair.edge2, settings());
    const EdgeContact<double> b = edge_contact(pair.edge2, pair.edge1, settings());
    CHECK(close(a.distance, b.distance, 1e-9, 1e-12));
    CHECK(close(a.normal.n, Vec3<double>(-b.normal.n), 1e-9, 1e-12));
    CHECK(close(a.witness.e1, b.witness.e2, 1e-9, 1e-11));
    CHECK(close(a.witness.e2, b.witness.e1, 1e-9, 1e-11));
    CHECK(close(a.witness.minimum.gamma, b.witness.minimum.gamma, 1e-8, 1e-12));
    CHECK(close(a.clash, b.clash, 1e-13, 1e-15));
  }
}

TEST_CASE("edge_contact: moves with the frame, and scales with the bodies", "[collision][property]") {
  Random random(3);
  for (int trial = 0; trial < 1000; ++trial) {
    const EdgePair pair = random_pair(random);
    const Pose<double> X = test::random_pose(random, 3.0);
    const Mat3<double> R = X.rotation();
    const double size = std::pow(10.0, random.uniform(-2.0, 2.0));
    const auto moved = [&](const Edge<double>& e) {
      return Edge<double>{Vec3<double>(size * (R * e.start) + X.p), Vec3<double>(size * (R * e.vector)),
                          Vec3<double>(R * e.normal)};
    };
    const EdgeContact<double> a = edge_contact(pair.edge1, pair.edge2, settings());
    const EdgeContact<double> b =
        edge_contact(moved(pair.edge1), moved(pair.edge2), EdgeEdgeSettings<double>(ContactConfig{}, size));
    CHECK(close(size * a.distance, b.distance, 1e-9, 1e-10 * size));
    CHECK(close(Vec3<double>(R * a.normal.n), b.normal.n, 1e-9, 1e-11));
    CHECK(close(size * a.witness.softened, b.witness.softened, 1e-9, 0));
    CHECK(close(a.witness.minimum.gamma, b.witness.minimum.gamma, 1e-6, 1e-9));
    CHECK(close(Vec3<double>(size * (R * a.witness.e1) + X.p), b.witness.e1, 1e-9, 1e-9 * size));
  }
}

/// Sorted errors: those in the middle, and those below which 99 % lie.
struct Errors {
  std::vector<double> values;
  void add(double error) { values.push_back(error); }
  double quantile(double q) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
  }
};

TEST_CASE("edge_contact: JVP by rigid motion and VJP are those of Jet and of differences",
          "[collision][derivative]") {
  Random random(4);
  Errors jet_vjp, jet_jacobian, fd_vjp, fd_jacobian;
  for (int trial = 0; trial < 10000; ++trial) {
    const EdgePair pair = random_pair(random);
    const PairNumbers<double> x = numbers_of(pair);
    const auto J = test::jet_jacobian([](const auto& y) { return outputs(y); }, x);
    const EdgeContact<double> c = edge_contact(pair.edge1, pair.edge2, settings());

    const Eigen::Matrix<double, 13, 1> y_bar = test::random_vector<13>(random);
    const EdgePairBar<double> bar = edge_contact_vjp(pair.edge1, pair.edge2, c, settings(), bar_of(y_bar));
    PairNumbers<double> gradient;
    gradient << numbers_of(bar.edge1), numbers_of(bar.edge2);
    const PairNumbers<double> expected = J.transpose() * y_bar;
    const double size = std::max(1.0, expected.cwiseAbs().maxCoeff());
    jet_vjp.add((gradient - expected).cwiseAbs().maxCoeff() / size);
    const auto loss = [&](const PairNumbers<double>& y) { return outputs(y).dot(y_bar); };
    fd_vjp.add((test::fd_gradient(loss, x, 2e-7) - gradient).cwiseAbs().maxCoeff() / size);

    const EdgeContactJacobian<double> mine = edge_contact_jacobian(pair.edge1, pair.edge2, c, settings());
    Eigen::Matrix<double, 13, 6> by_motion;
    by_motion << mine.e1, mine.e2, mine.distance_normal.bottomRows<3>(), mine.softened.transpose(),
        mine.gamma_con.transpose(), mine.distance_normal.row(0), mine.clash.transpose();
    Eigen::Matrix<double, 18, 6> motion = Eigen::Matrix<double, 18, 6>::Zero();
    motion.block<3, 3>(9, 0) = -skew(pair.edge2.start);
    motion.block<3, 3>(9, 3) = Mat3<double>::Identity();
    motion.block<3, 3>(12, 0) = -skew(pair.edge2.vector);
    motion.block<3, 3>(15, 0) = -skew(pair.edge2.normal);
    const Eigen::Matrix<double, 13, 6> by_jet = J * motion;
    const double jacobian_size = std::max(1.0, by_jet.cwiseAbs().maxCoeff());
    jet_jacobian.add((by_motion - by_jet).cwiseAbs().maxCoeff() / jacobian_size);
    const auto along = [&](const Vec6<double>& tangent) {
      const Mat3<double> R = exp_so3<double>(tangent.head<3>());
      return outputs(pair.edge1,
                     Edge<double>{Vec3<double>(R * pair.edge2.start + tangent.tail<3>()),
                                  Vec3<double>(R * pair.edge2.vector), Vec3<double>(R * pair.edge2.normal)});
    };
    const Eigen::Matrix<double, 13, 6> by_fd =
        test::fd_jacobian(along, Vec6<double>(Vec6<double>::Zero()), 2e-7);
    fd_jacobian.add((by_fd - by_motion).cwiseAbs().maxCoeff() / jacobian_size);
  }
  CAPTURE(jet_vjp.quantile(0.5), jet_vjp.quantile(0.99), jet_jacobian.quantile(0.5), fd_vjp.quantile(0.5),
          fd_vjp.quantile(0.99), fd_jacobian.quantile(0.5), fd_jacobian.quantile(0.99));
  CHECK(jet_vjp.quantile(0.5) < 1e-14);
  CHECK(jet_vjp.quantile(1.0) < 1e-9);
  CHECK(jet_jacobian.quantile(0.5) < 1e-14);
  CHECK(jet_jacobian.quantile(1.0) < 1e-9);
  CHECK(fd_vjp.quantile(0.5) < 1e-8);
  CHECK(fd_vjp.quantile(0.99) < 1e-5);
  CHECK(fd_jacobian.quantile(0.5) < 1e-8);
  CHECK(fd_jacobian.quantile(0.99) < 1e-5);
}

TEST_CASE("edge_contact_vjp: absolute widths have a VJP too", "[collision][derivative]") {
  ContactConfig config;
  config.fidelity = Fidelity::paper;
  const EdgeEdgeSettings<double> absolute(config, 1.0);
  Random random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const EdgePair pair = random_pair(random);
    const auto of = [&](const auto& y) {
      using S = typename std::decay_t<decltype(y)>::Scalar;
      return outputs(edge_of<S>(y.template head<9>()), edge_of<S>(y.template tail<9>()), absolute);
    };
    const auto J = test::jet_jacobian(of, numbers_of(pair));
    const Eigen::Matrix<double, 13, 1> y_bar = test::random_vector<13>(random);
    const EdgeContact<double> c = edge_contact(pair.edge1, pair.edge2, absolute);
    const EdgePairBar<double> bar = edge_contact_vjp(pair.edge1, pair.edge2, c, absolute, bar_of(y_bar));
    PairNumbers<double> gradient;
    gradient << numbers_of(bar.edge1), numbers_of(bar.edge2);
    const PairNumbers<double> expected = J.transpose() * y_bar;
    CHECK(close(gradient, expected, 1e-10, 1e-11 * expected.cwiseAbs().maxCoeff()));
  }
}

TEST_CASE("edge_tangent_bar: numbers feel opposite motions of the two bodies alike",
          "[collision][derivative]") {
  Random random(6);
  for (int trial = 0; trial < 500; ++trial) {
    const EdgePair pair = random_pair(random);
    const EdgeContact<double> c = edge_contact(pair.edge1, pair.edge2, settings());
    EdgeContactBar<double> bar;
    bar.distance = random.uniform(-1, 1), bar.softened = random.uniform(-1, 1);
    bar.gamma_con = random.uniform(-1, 1), bar.clash = random.uniform(-1, 1);
    const EdgePairBar<double> edges = edge_contact_vjp(pair.edge1, pair.edge2, c, settings(), bar);
    const Vec3<double> origin = test::random_vector(random);
    const Vec6<double> of_1 = edge_tangent_bar(pair.edge1, edges.edge1, origin);
    const Vec6<double> of_2 = edge_tangent_bar(pair.edge2, edges.edge2, origin);
    CHECK(close(of_1, Vec6<double>(-of_2), 1e-9, 1e-12 * of_1.cwiseAbs().maxCoeff()));
    const EdgeContactJacobian<double> J = edge_contact_jacobian(pair.edge1, pair.edge2, c, settings());
    const Vec6<double> by_jacobian = J.distance_normal.row(0).transpose() * bar.distance +
                                     J.softened * bar.softened + J.gamma_con * bar.gamma_con +
                                     J.clash * bar.clash;
    const Vec6<double> about_zero = edge_tangent_bar(pair.edge2, edges.edge2, Vec3<double>(0.0, 0.0, 0.0));
    CHECK(close(about_zero, by_jacobian, 1e-9, 1e-11 * by_jacobian.cwiseAbs().maxCoeff()));
  }
}

/// d in the chart of edge_distance_hessian.
template <typename S>
S distance_in_chart(const EdgePair& pair, const Vec3<double> (&origin)[2],
                    const Eigen::Matrix<S, 12, 1>& xi) {
  Edge<S> moved[2];
  for (int b = 0; b < 2; ++b) {
    const Edge<double>& edge = b == 0 ? pair.edge1 : pair.edge2;
    const Vec3<S> theta = xi.template segment<3>(6 * b), v = xi.template segment<3>(6 * b + 3);
    const Mat3<S> R = exp_so3<S>(theta);
    moved[b].start = origin[b].template cast<S>() + v + R * (edge.start - origin[b]).template cast<S>();
    moved[b].vector = R * edge.vector.template cast<S>();
    moved[b].normal = R * edge.normal.template cast<S>();
  }
  return edge_contact(moved[0], moved[1], settings()).distance;
}

TEST_CASE("edge_distance_hessian: is that of a Jet of Jets, and of differences of the gradient",
          "[collision][derivative]") {
  Random random(7);
  double largest = 0.0;
  for (int trial = 0; trial < 60; ++trial) {
    const EdgePair pair = random_pair(random);
    const Vec3<double> origin[2] = {test::random_vector(random), test::random_vector(random)};
    const DistanceHessian mine =
        edge_distance_hessian(pair.edge1, pair.edge2, origin[0], origin[1], settings());
    CHECK(close(mine.distance, edge_contact(pair.edge1, pair.edge2, settings()).distance, 1e-12, 1e-15));

    const auto distance = [&](const auto& xi) {
      using S = typename std::decay_t<decltype(xi)>::Scalar;
      return distance_in_chart<S>(pair, origin, xi);
    };
    const Eigen::Matrix<double, 12, 1> zero = Eigen::Matrix<double, 12, 1>::Zero();
    const Eigen::Matrix<double, 12, 1> gradient = test::jet_gradient(distance, zero);
    CHECK(close(mine.gradient, gradient, 1e-9, 1e-10));

    using Inner = Dual<double, 12>;
    using Outer = Dual<Inner, 12>;
    Eigen::Matrix<Outer, 12, 1> xi;
    for (int i = 0; i < 12; ++i) xi[i] = Outer::variable(Inner::variable(0.0, i), i);
    const Outer d = distance(xi);
    const double size = std::max(1.0, mine.hessian.cwiseAbs().maxCoeff());
    double error = 0.0;
    for (std::size_t i = 0; i < 12; ++i) {
      for (std::size_t j = 0; j < 12; ++j)
        error = std::max(error, std::abs(d.d[i].d[j] - mine.hessian(Eigen::Index(i), Eigen::Index(j))));
    }
    CHECK(error / size < 1e-9);
    const auto fd = test::fd_jacobian(
        [&](const Eigen::Matrix<double, 12, 1>& at) { return test::jet_gradient(distance, at); }, zero, 1e-6);
    CHECK((fd - mine.hessian).cwiseAbs().maxCoeff() / size < 1e-4);
    largest = std::max(largest, size);
  }
  CHECK(largest > 1.0);
}

template <typename S>
bool all_finite(const EdgePair& pair, const EdgeEdgeSettings<scalar_value_t<S>>& of) {
  const Edge<S> edge1 = edge_of<S>(numbers_of(pair.edge1)), edge2 = edge_of<S>(numbers_of(pair.edge2));
  const EdgeContact<S> c = edge_contact(edge1, edge2, of);
  const EdgeContactJacobian<S> J = edge_contact_jacobian(edge1, edge2, c, of);
  EdgeContactBar<S> bar;
  for (int i = 0; i < 3; ++i) bar.e1[i] = bar.e2[i] = bar.n[i] = S(1);
  bar.softened = bar.gamma_con = bar.distance = bar.clash = S(1);
  const EdgePairBar<S> edges = edge_contact_vjp(edge1, edge2, c, of, bar);
  S sum = c.distance + c.clash + c.witness.softened + c.witness.minimum.gamma;
  for (int i = 0; i < 3; ++i) {
    sum += c.witness.e1[i] + c.witness.e2[i] + c.normal.n[i];
    sum += edges.edge1.start[i] + edges.edge1.vector[i] + edges.edge1.normal[i];
    sum += edges.edge2.start[i] + edges.edge2.vector[i] + edges.edge2.normal[i];
  }
  for (int j = 0; j < 6; ++j) {
    for (int i = 0; i < 4; ++i) sum += J.distance_normal(i, j);
    for (int i = 0; i < 3; ++i) sum += J.e1(i, j) + J.e2(i, j);
    sum += J.softened[j] + J.gamma_con[j] + J.clash[j];
  }
  using std::isfinite;
  return all(isfinite(sum));
}

TEST_CASE("edge_contact: parallel, identical, touching, far and zero-length edges have finite derivatives",
          "[collision][property]") {
  Random random(8);
  const EdgeEdgeSettings<float> single(ContactConfig{}, 1.0);
  const auto check = [&](const char* what, const EdgePair& pair) {
    CAPTURE(what, numbers_of(pair).transpose());
    CHECK(all_finite<double>(pair, settings()));
    CHECK(all_finite<float>(pair, single));
    CHECK(all_finite<Pack<float, 8>>(pair, single));
    CHECK(all_finite<Pack<double, 4>>(pair, settings()));
  };
  for (int trial = 0; trial < 200; ++trial) {
    const EdgePair pair = random_pair(random);
    EdgePair p = pair;
    p.edge2.vector = (trial % 2 == 0 ? 1.0 : -0.3) * p.edge1.vector;
    check("parallel", p);
    p.edge2 = p.edge1;
    check("identical", p);
    p.edge2.normal = -p.edge1.normal;
    check("identical, opposed", p);
    p = pair;
    p.edge2.start = p.edge1.start + 0.3 * p.edge1.vector - 0.6 * p.edge2.vector;
    check("touching", p);
    p = pair;
    p.edge2.start += 1e4 * random.unit_vector();
    check("far", p);
    p = pair;
    p.edge1.vector.setZero();
    check("the first a point", p);
    p.edge2.vector.setZero();
    check("both points", p);
    p.edge2.start = p.edge1.start;
    check("both the same point", p);
    p = pair;
    p.edge1.vector *= 1e-5;
    check("short", p);
  }
}

TEST_CASE("edge_contact: packs of float32 agree with float64, derivatives too", "[collision][batch]") {
  Random random(10);
  using P = Pack<float, 8>;
  const EdgeEdgeSettings<float> single(ContactConfig{}, 1.0);
  Errors values, jacobians, gradients;
  for (int trial = 0; trial < 2000; ++trial) {
    EdgePair pairs[8];
    Edge<P> edge1, edge2;
    for (int lane = 0; lane < 8; ++lane) {
      pairs[lane] = random_pair(random);
      for (int i = 0; i < 3; ++i) {
        edge1.start[i].set_lane(lane, static_cast<float>(pairs[lane].edge1.start[i]));
        edge1.vector[i].set_lane(lane, static_cast<float>(pairs[lane].edge1.vector[i]));
        edge1.normal[i].set_lane(lane, static_cast<float>(pairs[lane].edge1.normal[i]));
        edge2.start[i].set_lane(lane, static_cast<float>(pairs[lane].edge2.start[i]));
        edge2.vector[i].set_lane(lane, static_cast<float>(pairs[lane].edge2.vector[i]));
        edge2.normal[i].set_lane(lane, static_cast<float>(pairs[lane].edge2.normal[i]));
      }
    }
    const EdgeContact<P> c = edge_contact(edge1, edge2, single);
    const EdgeContactJacobian<P> J = edge_contact_jacobian(edge1, edge2, c, single);
    EdgeContactBar<P> bar;
    bar.distance = bar.softened = bar.gamma_con = bar.clash = P(1);
    const EdgePairBar<P> edges_bar = edge_contact_vjp(edge1, edge2, c, single, bar);
    for (int lane = 0; lane < 8; ++lane) {
      const EdgePair& pair = pairs[lane];
      const EdgeContact<double> exact = edge_contact(pair.edge1, pair.edge2, settings());
      const EdgeContactJacobian<double> exact_J =
          edge_contact_jacobian(pair.edge1, pair.edge2, exact, settings());
      EdgeContactBar<double> exact_bar;
      exact_bar.distance = exact_bar.softened = exact_bar.gamma_con = exact_bar.clash = 1.0;
      const EdgePairBar<double> exact_edges =
          edge_contact_vjp(pair.edge1, pair.edge2, exact, settings(), exact_bar);
      double error = std::max({std::abs(c.distance[lane] - exact.distance),
                               std::abs(c.witness.softened[lane] - exact.witness.softened),
                               std::abs(c.clash[lane] - exact.clash),
                               std::abs(c.witness.minimum.gamma[lane] - exact.witness.minimum.gamma)});
      double jacobian_error = 0.0, gradient_error = 0.0;
      for (int i = 0; i < 3; ++i) {
        error = std::max(error, std::abs(c.normal.n[i][lane] - exact.normal.n[i]));
        gradient_error =
            std::max({gradient_error, std::abs(edges_bar.edge1.start[i][lane] - exact_edges.edge1.start[i]),
                      std::abs(edges_bar.edge2.normal[i][lane] - exact_edges.edge2.normal[i])});
      }
      for (int row = 0; row < 4; ++row) {
        for (int column = 0; column < 6; ++column) {
          jacobian_error = std::max(jacobian_error, std::abs(J.distance_normal(row, column)[lane] -
                                                             exact_J.distance_normal(row, column)));
        }
      }
      values.add(error);
      jacobians.add(jacobian_error / std::max(1.0, exact_J.distance_normal.cwiseAbs().maxCoeff()));
      gradients.add(gradient_error / std::max(1.0, exact_edges.edge1.start.cwiseAbs().maxCoeff()));
    }
  }
  CAPTURE(values.quantile(0.5), values.quantile(0.99), values.quantile(1.0), jacobians.quantile(0.5),
          jacobians.quantile(0.99), jacobians.quantile(1.0), gradients.quantile(0.5),
          gradients.quantile(0.99), gradients.quantile(1.0));
  CHECK(values.quantile(0.5) < 1e-6);
  CHECK(values.quantile(0.99) < 1e-4);
  CHECK(jacobians.quantile(0.5) < 1e-6);
  CHECK(jacobians.quantile(0.99) < 1e-4);
  CHECK(gradients.quantile(0.5) < 1e-5);
  CHECK(gradients.quantile(0.99) < 1e-3);
}

TEST_CASE("edge_contact: the normal turns no faster than its smoothing allows", "[collision][property]") {
  // |dn/dw| <= 0.68/(eta_c (kappa + eta)) = 34 and a share of |n|; all directions of edges and normals.
  Random random(9);
  double steepest = 0.0;
  for (int trial = 0; trial < 20000; ++trial) {
    const EdgePair pair = random_pair(random);
    const EdgeNormal<double> n = edge_normal(pair.edge1, pair.edge2, settings());
    const Mat3<double> J = edge_normal_dw2(pair.edge1, pair.edge2, n, settings());
    steepest = std::max(steepest, J.norm());
  }
  CAPTURE(steepest);
  CHECK(steepest < 50.0);
  CHECK(steepest > 5.0);
}

TEST_CASE("paper_edge_contact: both bodies are pushed apart, whichever side the witness points are on",
          "[collision][value]") {
  ContactConfig config;
  config.fidelity = Fidelity::paper;
  const EdgeEdgeSettings<double> of(config, 1.0);
  const double height = GENERATE(-0.05, 0.05);
  const Edge<double> edge1{{-0.5, 0.0, height}, {1.0, 0.0, 0.0}, {0.0, 0.0, -1.0}};
  const Edge<double> edge2{{0.0, -0.5, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  const EdgeWitness<double> w = edge_witness(edge1, edge2, of);
  const PaperEdgeContact<double> c = paper_edge_contact(w, edge1.normal, edge2.normal, of);
  CHECK(close(c.distance1, height, 1e-3, 0));
  CHECK(close(c.distance2, height, 1e-3, 0));
  CHECK(close(c.normal1, Vec3<double>(0.0, 0.0, 1.0), 1e-3, 1e-12));
  CHECK(close(c.normal2, Vec3<double>(0.0, 0.0, -1.0), 1e-3, 1e-12));
  CHECK(c.clash > 0.999);
}

TEST_CASE("paper_edge_contact: has derivatives where the edges touch", "[collision][derivative]") {
  ContactConfig config;
  config.fidelity = Fidelity::paper;
  const EdgeEdgeSettings<double> of(config, 1.0);
  const Vec3<double> n1(0.0, 0.0, -1.0), n2(0.0, 0.0, 1.0);
  const auto distance = [&](const auto& De) {
    using S = typename std::decay_t<decltype(De)>::Scalar;
    EdgeWitness<S> w;
    w.difference = De;
    return paper_edge_contact<S>(w, n1.cast<S>(), n2.cast<S>(), of).distance1;
  };
  for (const Vec3<double>& De :
       {Vec3<double>(0, 0, 0), Vec3<double>(1e-7, 0, 1e-7), Vec3<double>(0.01, 0, 0.02)}) {
    const Vec3<double> gradient = test::jet_gradient(distance, De);
    CHECK(close(gradient, test::fd_gradient(distance, De, 1e-9 + 1e-5 * De.norm()), 1e-5, 1e-5));
    CHECK(std::isfinite(gradient.norm()));
  }
}

}  // namespace
}  // namespace abut
