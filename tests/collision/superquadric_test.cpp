#include "collision/sdf/superquadric.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "collision/sdf/shape_sdf.h"
#include "engine/dual.h"
#include "engine/pack.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace abut {
namespace {

using test::close;

constexpr double k_tau = 1e-3;
const std::vector<double> k_exponents{0.02, 0.05, 0.1, 0.3, 0.7, 0.98, 1.0, 1.02, 1.3, 1.6, 1.9};
const DistanceMode k_modes[] = {DistanceMode::taubin, DistanceMode::radial, DistanceMode::projected};

template <typename T>
Superquadric<T> make(const std::array<double, 5>& parameters, const Pose<double>& X_BP = {},
                     double tau = k_tau) {
  std::array<T, 5> converted;
  for (std::size_t i = 0; i < 5; ++i) converted[i] = T(parameters[i]);
  return Superquadric<T>(converted, X_BP, tau);
}

/// Axes within a factor of 5, both exponents from the list.
std::array<double, 5> random_parameters(Random& random) {
  const auto exponent = [&] { return k_exponents[random.integer(k_exponents.size())]; };
  const auto axis = [&] { return 0.1 * std::pow(5.0, random.uniform()); };
  return {axis(), axis(), axis(), exponent(), exponent()};
}

/// A point whose gauge is about 0.1 to 10, half of them within 10 % of the surface.
Vec3<double> random_point(Random& random, const Superquadric<double>& sq) {
  Vec3<double> x;
  for (int i = 0; i < 3; ++i) x[i] = sq.centre[i] + sq.axes[i] * random.normal();
  const double F = gauge_point(sq, x).F;
  const double to =
      random.uniform() < 0.5 ? random.uniform(0.9, 1.1) : std::pow(10.0, random.uniform(-1.0, 1.0));
  return sq.centre + (x - sq.centre) * (to / F);
}

template <SdfOrder order, typename S>
SdfAnswer<order, S> sample(const Superquadric<double>& sq, DistanceMode mode, const Vec3<S>& x) {
  return superquadric_sample<order, S>(sq, mode, x);
}

/// The textbook inside-outside function.
template <typename S>
S textbook(const Vec3<S>& x, const std::array<double, 5>& p) {
  const S u = std::pow(std::pow(x[0] / S(p[0]), S(2)), S(1 / p[4])) +
              std::pow(std::pow(x[1] / S(p[1]), S(2)), S(1 / p[4]));
  return std::pow(u, S(p[4] / p[3])) + std::pow(std::pow(x[2] / S(p[2]), S(2)), S(1 / p[3]));
}

// Values ---------------------------------------------------------------------------------------------------

TEST_CASE("superquadric: reference values of gauge and distances", "[collision][value]") {
  // From an independent implementation in double precision, by absolute values and powers.
  const auto sq = make<double>({0.5, 0.4, 0.3, 0.3, 0.5});
  const Vec3<double> x(0.3, 0.2, 0.1);
  const auto F = gauge_derivatives(sq, x);
  CHECK(close(F.value, 0.6630558661390522, 1e-14, 0));
  CHECK(close(F.gradient, Vec3<double>(1.475880859932, 1.067622149835, 0.067671781924), 1e-11, 0));
  Mat3<double> H;
  H << 4.99375082512843, -7.063843876007629, -0.8535647233700289, -7.063843876007629, 10.904491480739608,
      -0.6174513334563289, -0.8535647233700289, -0.6174513334563289, 3.7955968370227424;
  CHECK(close(F.hessian, H, 1e-12, 0));

  const auto radial = sample<SdfOrder::jacobian>(sq, DistanceMode::radial, x);
  CHECK(close(radial.distance, -0.1901392585110725, 1e-12, 0));
  CHECK(close(radial.gradient, Vec3<double>(0.848632295161933, 0.6369905169211465, -0.0782205325541501),
              1e-12, 0));
  const auto taubin = sample<SdfOrder::jacobian>(sq, DistanceMode::taubin, x);
  CHECK(close(taubin.distance, -0.184849171156943, 1e-12, 0));
  CHECK(close(taubin.gradient, Vec3<double>(0.7969298453784829, 0.6510554010539747, -0.05534399078273044),
              1e-12, 0));
  CHECK(close(taubin.normal, Vec3<double>(0.8096753326990372, 0.5857026422880767, 0.037125064787402205),
              1e-12, 0));
  CHECK(close(radial.normal, taubin.normal, 0, 0));

  const std::array<double, 5> expected{-1.3355262522835059, -0.8050770714479081, -0.0340201509302793,
                                       0.028473103680820722, 0.3121996045747511};
  const auto by = gauge_log_parameter_derivatives(sq, x);
  for (std::size_t i = 0; i < 5; ++i) CHECK(close(by[i], expected[i], 1e-12, 0));
}

TEST_CASE("superquadric: the gauge is the textbook function where that can be computed",
          "[collision][value]") {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    auto p = random_parameters(random);
    for (std::size_t k : {3u, 4u}) p[k] = std::clamp(p[k], 0.3, 1.0);
    const auto sq = make<double>(p);
    const Vec3<double> x = random_point(random, sq);
    CAPTURE(i, p, x.transpose());
    CHECK(close(gauge_point(sq, x).F, std::pow(textbook(x, p), 0.5 * p[3]), 1e-13, 0));
  }
}

TEST_CASE("superquadric: a sphere is a sphere", "[collision][value]") {
  Random random(2);
  const auto sq = make<double>({0.2, 0.2, 0.2, 1.0, 1.0}, test::random_pose(random));
  for (const DistanceMode mode : k_modes) {
    for (int i = 0; i < 100; ++i) {
      const Vec3<double> n = random.unit_vector();
      const double r = random.uniform(0.01, 1.0);
      const auto s = sample<SdfOrder::jacobian>(sq, mode, Vec3<double>(sq.centre + r * n));
      CAPTURE(static_cast<int>(mode), r, n.transpose());
      CHECK(close(s.distance, r - 0.2, 1e-13, 1e-14));
      CHECK(close(s.normal, n, 0, 1e-13));
      CHECK(close(s.gradient, n, 0, 1e-12));
      CHECK(close(s.normal_jacobian, (Mat3<double>::Identity() - n * n.transpose()) / r, 0, 1e-12 / r));
    }
  }
}

TEST_CASE("superquadric: the gauge is a norm: homogeneous, with Euler's identities, convex",
          "[collision][property]") {
  Random random(3);
  double worst_negative = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto p = random_parameters(random);
    const auto sq = make<double>(p, test::random_pose(random));
    const Vec3<double> x = random_point(random, sq), y = random_point(random, sq);
    const Vec3<double> r = x - sq.centre;
    const auto F = gauge_derivatives(sq, x);
    CAPTURE(i, p, x.transpose());
    // The rounding of r itself, about 1e-16/|r|, is amplified by the exponent 2/eps in the gradient.
    const double amplified = 1e-14 * (1.0 + 1.0 / std::min(p[3], p[4])) / r.norm();
    CHECK(std::abs(F.gradient.dot(r) - F.value) <= 1e-14 * F.value * (1.0 + 1.0 / r.norm()));
    const double by_x = (F.hessian * r).norm() / (F.hessian.norm() * r.norm());
    CHECK(by_x <= 1e-13 * (1.0 + 1.0 / r.norm()));
    const Eigen::Vector3d eigenvalues = [&] {
      const double trace = F.hessian.trace();
      const double minors = 0.5 * (trace * trace - (F.hessian * F.hessian).trace());
      return Eigen::Vector3d(trace, minors, F.hessian.determinant());
    }();
    CHECK(eigenvalues[0] >= 0.0);
    worst_negative = std::max(worst_negative, -eigenvalues[1] / (eigenvalues[0] * eigenvalues[0] + 1e-300));

    const double s = std::pow(10.0, random.uniform(-2.0, 2.0));
    const auto scaled = gauge_derivatives(sq, Vec3<double>(sq.centre + s * r));
    CHECK(close(scaled.value, s * F.value, amplified, 0));
    CHECK(test::relative_error(scaled.gradient, F.gradient) <= 10 * amplified * std::max(1.0, 1.0 / s));
    CHECK(test::relative_error(scaled.hessian * s, F.hessian) <= 100 * amplified * std::max(1.0, 1.0 / s));

    const double middle = gauge_point(sq, Vec3<double>(0.5 * (x + y))).F;
    CHECK(middle <= 0.5 * (F.value + gauge_point(sq, y).F) * (1.0 + 1e-13));
  }
  CHECK(worst_negative <= 1e-13);
}

TEST_CASE("superquadric: float32 holds the gauge to 1e-6 where the textbook function is lost",
          "[collision][value]") {
  for (const double eps : k_exponents) {
    Random random(4);
    double worst = 0.0;
    int lost = 0;
    constexpr int k_cases = 4000;
    for (int i = 0; i < k_cases; ++i) {
      std::array<double, 5> p{random.uniform(0.05, 0.5), random.uniform(0.05, 0.5), random.uniform(0.05, 0.5),
                              eps, eps};
      for (double& parameter : p) parameter = static_cast<float>(parameter);
      const double scale = std::pow(10.0, random.uniform(-2.0, 1.0));
      Vec3<float> x;
      for (int k = 0; k < 3; ++k)
        x[k] = static_cast<float>(scale * p[static_cast<std::size_t>(k)] * random.uniform(-2.0, 2.0));
      const double F = gauge_point(make<double>(p), Vec3<double>(x.cast<double>())).F;
      worst = std::max(worst, std::abs(gauge_point(make<float>(p), x).F - F) / F);
      const double exact = std::pow(F, 2.0 / eps), single = textbook(x, p);
      if (!(std::abs(single - exact) <= 1e-2 * exact) || single == 0.0f) ++lost;
    }
    CAPTURE(eps, worst, lost);
    CHECK(worst <= 1e-6);
    if (eps <= 0.05) CHECK(lost > k_cases / 4);
  }
}

// Derivatives by x -----------------------------------------------------------------------------------------

TEST_CASE("superquadric: gradient and Hessian of the gauge agree with Jet and differences",
          "[collision][derivative]") {
  Random random(5);
  for (int i = 0; i < 1000; ++i) {
    const auto p = random_parameters(random);
    const auto sq = make<double>(p, test::random_pose(random, 0.1));
    const Vec3<double> x = random_point(random, sq);
    const auto F = gauge_derivatives(sq, x);
    const auto value = [&](const auto& y) { return gauge_point(sq, y).F; };
    const auto gradient = [&](const auto& y) {
      return Vec3<std::remove_cvref_t<decltype(y[0])>>(gauge_derivatives(sq, y).gradient);
    };
    CAPTURE(i, p, x.transpose());
    REQUIRE(F.gradient.norm() > 0.0);
    // F/|x|^2 is the size of a Hessian that is not almost flat.
    const double size = F.value / (x - sq.centre).squaredNorm();
    CHECK(test::relative_error(F.gradient, test::jet_gradient(value, x)) <= 1e-13);
    CHECK(test::relative_error(F.hessian, test::jet_jacobian(gradient, x), size) <= 1e-13);
    // A step well below the radius of the edges. Below eps = 1 but close to it, |t|^p has p - 2 near 0 and
    // its third derivative is singular at the axis planes, where differences lose digits.
    const double h =
        1e-4 * std::min(p[3], p[4]) * (x - sq.centre).norm() * sq.shortest_axis / sq.axes.maxCoeff();
    CHECK(test::relative_error(F.gradient, test::fd_gradient(value, x, h)) <= 1e-5);
    CHECK(test::relative_error(F.hessian, test::fd_jacobian(gradient, x, h), size) <= 1e-4);
  }
}

TEST_CASE("superquadric: axis planes and axes have the derivatives that Jet finds there",
          "[collision][derivative]") {
  Random random(6);
  for (int i = 0; i < 1000; ++i) {
    const auto p = random_parameters(random);
    const auto sq = make<double>(p);
    Vec3<double> x = random_point(random, sq);
    const auto zeros = 1 + random.integer(6);  // one or two coordinates are exactly 0
    for (int k = 0; k < 3; ++k) {
      if (zeros >> k & 1) x[k] = random.uniform() < 0.5 ? 0.0 : -0.0;
    }
    const auto gradient = [&](const auto& y) {
      return Vec3<std::remove_cvref_t<decltype(y[0])>>(gauge_derivatives(sq, y).gradient);
    };
    const auto F = gauge_derivatives(sq, x);
    CAPTURE(i, p, x.transpose());
    for (int k = 0; k < 3; ++k) {
      if (x[k] == 0.0) CHECK(F.gradient[k] == 0.0);
    }
    CHECK(test::relative_error(F.gradient,
                               test::jet_gradient([&](const auto& y) { return gauge_point(sq, y).F; }, x)) <=
          1e-13);
    // |t|^(p - 2) at t = 0 is taken at |t| = 1e-154 instead, which for eps = 0.98 is 5e-7, not 0; on the z
    // axis Jet takes it at another |t| (up to 8.5e-6 of the size).
    const bool is_steep = p[3] == 0.98 || p[4] == 0.98;
    CHECK(F.hessian.allFinite());
    const double size = F.value / x.squaredNorm();
    if (p[3] == 1.0 && p[4] < 1.0 && x[0] == 0.0 && x[1] == 0.0) {
      // The gradient has no linear derivative there, but derivatives along x and along y.
      CHECK(test::relative_error(F.hessian, test::fd_jacobian(gradient, x, 1e-6 * sq.shortest_axis), size) <=
            1e-5);
      continue;
    }
    CHECK(test::relative_error(F.hessian, test::jet_jacobian(gradient, x), size) <=
          (!is_steep                    ? 1e-12
           : x[0] == 0.0 && x[1] == 0.0 ? 1e-5
                                        : 1e-6));
    // And on the planes the Hessian is that of the other side too, except on the z axis where the first
    // exponent is 2 but the second is not (eps1 = 1): there the Hessian depends on the direction from which
    // it is approached.
    if (p[3] == 1.0 && p[4] != 1.0 && x[0] == 0.0 && x[1] == 0.0) continue;  // rounded
    if (is_steep) continue;  // continuous, but not within such a step
    for (int k = 0; k < 3; ++k) {
      Vec3<double> y = x;
      y[k] += 1e-7 * sq.axes[k] * std::min(p[3], p[4]);
      CHECK(test::relative_error(gauge_derivatives(sq, y).hessian, F.hessian, size) <= 1e-3);
    }
  }
}

TEST_CASE(
    "superquadric: exponents barely above 1 have the curvature of differences at poles and in axis planes",
    "[collision][derivative]") {
  const double excess = GENERATE(1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1.8e-4, 1e-3, 1e-2);
  for (const std::array<double, 2> exponents :
       {std::array{1.0 + excess, 1.0}, {1.0, 1.0 + excess}, {1.0 + excess, 1.0 + excess}}) {
    const auto sq = make<double>({0.2, 0.15, 0.12, exponents[0], exponents[1]});
    const auto gradient = [&](const auto& y) {
      return Vec3<std::remove_cvref_t<decltype(y[0])>>(gauge_derivatives(sq, y).gradient);
    };
    for (const Vec3<double>& x : {Vec3<double>(0, 0, 0.12), Vec3<double>(0.2, 0, 0),
                                  Vec3<double>(0.1, 0, 0.1), Vec3<double>(0.1, 0.1, 0)}) {
      // On the z axis the Hessian depends on the direction where only the first exponent is 1.
      if (exponents[0] == 1.0 && x[0] == 0.0 && x[1] == 0.0) continue;
      const auto F = gauge_derivatives(sq, x);
      double best = std::numeric_limits<double>::infinity();
      for (const double h : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9}) {
        best = std::min(best, test::relative_error(F.hessian, test::fd_jacobian(gradient, x, h),
                                                   F.value / x.squaredNorm()));
      }
      CAPTURE(excess, exponents[0], exponents[1], x.transpose(), F.hessian);
      CHECK(best <= 1e-5);
    }
  }
}

TEST_CASE("superquadric: packs have the derivatives of single numbers at poles and in axis planes",
          "[collision][derivative][batch]") {
  using P = SdfDouble4;
  const double eps1 = GENERATE(0.1, 0.5, 1.0, 1.5), eps2 = GENERATE(0.1, 0.5, 1.0, 1.5);
  Shape shape;
  shape.primitives = {
      {PrimitiveKind::superquadric, PrimitiveOperation::add, {0.1, 0.08, 0.06, eps1, eps2}, {}}};
  const ShapeSdf sdf(shape);
  for (const double z : {0.061, 0.05, -0.07}) {
    const Vec3<double> points[4] = {{0, 0, z}, {0.02, 0, z}, {0, -0.03, z}, {0.101, 0, 0}};
    Vec3<P> x;
    for (int lane = 0; lane < 4; ++lane) {
      for (int k = 0; k < 3; ++k) x[k].set_lane(lane, points[lane][k]);
    }
    const auto all = sdf.evaluate_jacobian<P>(x);
    for (int lane = 0; lane < 4; ++lane) {
      const auto one = sdf.evaluate_jacobian<double>(points[lane]);
      Mat3<double> N;
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) N(i, j) = all.normal_jacobian(i, j)[lane];
      }
      CAPTURE(eps1, eps2, z, lane);
      CHECK(close(N, one.normal_jacobian, 1e-9, 1e-7));
    }
  }
}

TEST_CASE(
    "superquadric: distance and normal have the derivatives that Jet and differences find, in every mode",
    "[collision][derivative]") {
  const DistanceMode mode = k_modes[GENERATE(0, 1, 2)];
  CAPTURE(static_cast<int>(mode));
  Random random(7);
  std::vector<double> differences;
  for (int i = 0; i < 1000; ++i) {
    const auto p = random_parameters(random);
    const auto sq = make<double>(p, test::random_pose(random, 0.1));
    const Vec3<double> x = random_point(random, sq);
    const auto s = sample<SdfOrder::jacobian>(sq, mode, x);
    const auto distance = [&](const auto& y) { return sample<SdfOrder::distance>(sq, mode, y).distance; };
    const auto normal = [&](const auto& y) {
      return Vec3<std::remove_cvref_t<decltype(y[0])>>(sample<SdfOrder::normal>(sq, mode, y).normal);
    };
    CAPTURE(i, p, x.transpose());
    CHECK(close(s.normal.norm(), 1.0, 1e-14, 0));
    CHECK(test::relative_error(s.gradient, test::jet_gradient(distance, x)) <= 1e-12);
    CHECK(test::relative_error(s.normal_jacobian, test::jet_jacobian(normal, x),
                               1.0 / (x - sq.centre).norm()) <= 1e-12);
    const double h =
        1e-4 * std::min(p[3], p[4]) * (x - sq.centre).norm() * sq.shortest_axis / sq.axes.maxCoeff();
    const double error = std::max(
        test::relative_error(s.gradient, test::fd_gradient(distance, x, h), 1.0),
        test::relative_error(s.normal_jacobian, test::fd_jacobian(normal, x, h), 1.0 / sq.axes.maxCoeff()));
    differences.push_back(error);
    CHECK(error <= 1e-3);
    // What is asked for less fully is the same.
    const auto gradient = sample<SdfOrder::gradient>(sq, mode, x);
    const auto value = sample<SdfOrder::normal>(sq, mode, x);
    CHECK(close(gradient.gradient, s.gradient, 1e-13, 1e-14));
    CHECK(close(value.normal, s.normal, 0, 0));
    CHECK(close(gradient.distance, s.distance, 0, 0));
    CHECK(close(distance(x), s.distance, 0, 0));
  }
  std::sort(differences.begin(), differences.end());
  CHECK(differences[989] <= 1e-5);
}

// Derivatives by the parameters ----------------------------------------------------------------------------

TEST_CASE("superquadric: log F has the closed parameter derivatives", "[collision][derivative]") {
  Random random(8);
  for (int i = 0; i < 1000; ++i) {
    const auto p = random_parameters(random);
    const double tau =
        random.uniform() < 0.5 ? k_tau : 5e-3;  // delta follows the shortest axis, or is clamped
    const auto sq = make<double>(p, {}, tau);
    const Vec3<double> x = random_point(random, sq);
    const Eigen::Map<const Eigen::Matrix<double, 5, 1>> parameters(p.data());
    const auto log_gauge = [&](const auto& q) {
      using S = std::remove_cvref_t<decltype(q[0])>;
      using std::log;
      return S(log(gauge_point<S>(Superquadric<S>({q[0], q[1], q[2], q[3], q[4]}, {}, tau), x.cast<S>()).F));
    };
    const auto closed = gauge_log_parameter_derivatives(sq, x);
    const Eigen::Map<const Eigen::Matrix<double, 5, 1>> by(closed.data());
    CAPTURE(i, p, x.transpose(), by.transpose());
    CHECK(test::relative_error(by, test::jet_gradient<decltype(log_gauge), 5>(log_gauge, parameters)) <=
          1e-12);
    CHECK(test::relative_error(by, test::fd_gradient<decltype(log_gauge), 5>(log_gauge, parameters, 1e-7),
                               1e-2) <= 1e-5);
  }
}

TEST_CASE("superquadric: Dual gives the parameter derivatives of distance and normal in every mode",
          "[collision][derivative]") {
  const DistanceMode mode = k_modes[GENERATE(0, 1, 2)];
  CAPTURE(static_cast<int>(mode));
  Random random(9);
  using D = Dual<double, 5>;
  std::vector<double> differences;
  for (int i = 0; i < 500; ++i) {
    const auto p = random_parameters(random);
    const Pose<double> X_BP = test::random_pose(random, 0.1);
    const Vec3<double> x = random_point(random, make<double>(p, X_BP));
    const Eigen::Map<const Eigen::Matrix<double, 5, 1>> parameters(p.data());
    const auto distance_and_normal = [&](const auto& q) {
      using S = std::remove_cvref_t<decltype(q[0])>;
      const Superquadric<S> sq({q[0], q[1], q[2], q[3], q[4]}, X_BP, k_tau);
      const auto s = superquadric_sample<SdfOrder::normal, S>(sq, mode, x.cast<S>());
      return Vec4<S>(s.distance, s.normal[0], s.normal[1], s.normal[2]);
    };
    std::array<D, 5> dual;
    for (std::size_t k = 0; k < 5; ++k) dual[k] = D::variable(p[k], static_cast<int>(k));
    const auto s =
        superquadric_sample<SdfOrder::normal, D>(Superquadric<D>(dual, X_BP, k_tau), mode, x.cast<D>());
    Eigen::Matrix<double, 4, 5> by;
    for (int k = 0; k < 5; ++k) {
      by(0, k) = s.distance.d[static_cast<std::size_t>(k)];
      for (int row = 0; row < 3; ++row) by(row + 1, k) = s.normal[row].d[static_cast<std::size_t>(k)];
    }
    CAPTURE(i, p, x.transpose());
    CHECK(test::relative_error(by, test::jet_jacobian<decltype(distance_and_normal), 5>(
                                       distance_and_normal, parameters)) <= 1e-10);
    const double h = 1e-4 * std::min(p[3], p[4]) * std::min({p[0], p[1], p[2]});
    differences.push_back(test::relative_error(
        by, test::fd_jacobian<decltype(distance_and_normal), 5>(distance_and_normal, parameters, h), 1.0));
  }
  std::sort(differences.begin(), differences.end());
  CHECK(differences[250] <= 1e-8);
  CHECK(differences.back() <= 1e-4);
}

// Accuracy as a distance -----------------------------------------------------------------------------------

/// Distance to the surface: from many surface points, the best of which a pattern search moves along it.
double brute_force_distance(const Superquadric<double>& sq, const Vec3<double>& x, Random& random) {
  const auto onto_surface = [&](const Vec3<double>& y) {
    return Vec3<double>(sq.centre + (y - sq.centre) / gauge_point(sq, y).F);
  };
  Vec3<double> best = sq.centre;
  double square = 1e300;
  const auto consider = [&](const Vec3<double>& y) {
    const bool better = (y - x).squaredNorm() < square;
    if (better) best = y, square = (y - x).squaredNorm();
    return better;
  };
  consider(onto_surface(x));
  for (int i = 0; i < 4000; ++i) {
    consider(onto_surface(
        sq.centre + sq.axes.cwiseProduct(Vec3<double>(random.normal(), random.normal(), random.normal()))));
  }
  double step = 0.1 * sq.axes.maxCoeff();
  for (int failures = 0; step > 1e-10;) {
    failures = consider(onto_surface(best + step * random.unit_vector())) ? 0 : failures + 1;
    if (failures > 12) step *= 0.6, failures = 0;
  }
  return std::sqrt(square);
}

TEST_CASE("superquadric: distances near the surface against a brute-force closest point",
          "[collision][value]") {
  Random random(10);
  std::vector<double> ratio[3][3];  // mode, depth
  const double depths[] = {0.002, 0.01, 0.03};
  for (int i = 0; i < 600; ++i) {
    auto p = random_parameters(random);
    for (std::size_t k : {3u, 4u}) p[k] = std::max(p[k], 0.1);
    const auto sq = make<double>(p);
    const Vec3<double> y =
        sq.axes.cwiseProduct(Vec3<double>(random.normal(), random.normal(), random.normal()));
    const Vec3<double> foot = y / gauge_point(sq, y).F;
    const std::size_t d = random.integer(3);
    const double size = 2.0 * sq.axes.maxCoeff();
    const Vec3<double> x =
        foot - depths[d] * size * sample<SdfOrder::normal>(sq, DistanceMode::taubin, foot).normal;
    if (gauge_point(sq, x).F > 1.0) continue;  // through a thin one
    const double exact = brute_force_distance(sq, x, random);
    for (std::size_t m = 0; m < 3; ++m) {
      ratio[m][d].push_back(-sample<SdfOrder::distance>(sq, k_modes[m], x).distance / exact);
    }
  }
  for (std::size_t m = 0; m < 3; ++m) {
    for (std::size_t d = 0; d < 3; ++d) {
      std::vector<double>& r = ratio[m][d];
      std::sort(r.begin(), r.end());
      const double median = r[r.size() / 2], high = r[r.size() * 90 / 100];
      CAPTURE(m, d, median, high, r.back());
      if (k_modes[m] == DistanceMode::radial) {  // not metric: too deep, all over these shapes
        CHECK(median > 1.05);
        CHECK(high > 1.5);
        continue;
      }
      const double metric = k_modes[m] == DistanceMode::projected ? 1e-3 : 0.01;
      CHECK(std::abs(median - 1.0) <= metric);
      CHECK(high <= (d == 2 ? 1.3 : 1.0 + 5.0 * metric));
    }
  }
}

TEST_CASE("superquadric: outside, Taubin's distance is a lower and the radial one an upper bound",
          "[collision][property]") {
  Random random(11);
  for (int i = 0; i < 2000; ++i) {
    const auto p = random_parameters(random);
    const auto sq = make<double>(p, test::random_pose(random));
    Vec3<double> foot = random_point(random, sq);
    foot = sq.centre + (foot - sq.centre) / gauge_point(sq, foot).F;
    // The solid is convex: out along the normal, the foot stays the closest point.
    const double distance = sq.shortest_axis * std::pow(10.0, random.uniform(-3.0, 2.0));
    const Vec3<double> x = foot + distance * sample<SdfOrder::normal>(sq, DistanceMode::taubin, foot).normal;
    const double taubin = sample<SdfOrder::distance>(sq, DistanceMode::taubin, x).distance;
    const double radial = sample<SdfOrder::distance>(sq, DistanceMode::radial, x).distance;
    const double projected = sample<SdfOrder::distance>(sq, DistanceMode::projected, x).distance;
    CAPTURE(i, p, x.transpose(), distance);
    const double rounding =
        1e-11 * (1.0 + x.norm() / distance);  // of the foot's own position, amplified by 2/eps
    CHECK(taubin <= distance * (1.0 + rounding));
    CHECK(radial >= distance * (1.0 - rounding));
    CHECK(projected <= distance * (1.0 + rounding));
    CHECK(projected >= taubin * (1.0 - rounding));
    for (const DistanceMode mode : k_modes) {
      const auto bounds = distance_bounds(sq, mode, x);
      const double d = sample<SdfOrder::distance>(sq, mode, x).distance;
      CHECK(bounds.lower <= d + 1e-12 * (1.0 + std::abs(d)));
      CHECK(bounds.upper >= d - 1e-12 * (1.0 + std::abs(d)));
    }
    const Vec3<double> inside = random_point(random, sq);
    for (const DistanceMode mode : k_modes) {
      const auto bounds = distance_bounds(sq, mode, inside);
      const double d = sample<SdfOrder::distance>(sq, mode, inside).distance;
      CHECK(bounds.lower <= d + 1e-12);
      CHECK(bounds.upper >= d - 1e-12);
    }
  }
}

TEST_CASE("superquadric: the projected distance is exact where it is trusted, and Taubin's where it is not",
          "[collision][value]") {
  Random random(12);
  int exact_count = 0, blended = 0, taubin_count = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto p = random_parameters(random);
    const auto sq = make<double>(p, test::random_pose(random));
    Vec3<double> foot = random_point(random, sq);
    foot = sq.centre + (foot - sq.centre) / gauge_point(sq, foot).F;
    const auto at_foot = sample<SdfOrder::jacobian>(sq, DistanceMode::taubin, foot);
    // Straight out or in from a surface point: where the surface bends little, that point is the foot.
    const double bend = at_foot.normal_jacobian.trace();
    const double distance = sq.shortest_axis * random.uniform(-0.25, 0.25);
    const Vec3<double> x = foot + distance * at_foot.normal;
    const auto s = sample<SdfOrder::jacobian>(sq, DistanceMode::projected, x);
    const auto taubin = sample<SdfOrder::jacobian>(sq, DistanceMode::taubin, x);
    CAPTURE(i, p, x.transpose(), distance, bend);
    const double error = std::abs(s.distance - distance), taubin_error = std::abs(taubin.distance - distance);
    // Deeper than the surface bends, the closest point is elsewhere, and so it is below an edge where the
    // gauge takes another face for the closer one.
    if (bend * distance > -0.5 && taubin.normal.dot(at_foot.normal) > 0.9) {
      CHECK(error <= taubin_error + 1e-3 * sq.shortest_axis);
    }
    if (s.distance == taubin.distance) {
      ++taubin_count;
    } else if (error <= 1e-9 * sq.shortest_axis) {
      ++exact_count;
    } else {
      ++blended;
    }
    // All along the way, with room to spare, and not at another face that the gauge takes for the closer one.
    if (std::abs(bend * distance) < 0.02 && taubin.normal.dot(at_foot.normal) > 0.9) {
      CHECK(close(s.distance, distance, 1e-7, 1e-9));
      CHECK(close(s.normal, at_foot.normal, 0, 1e-5));
      CHECK(close(s.gradient, s.normal, 0, 1e-4));  // an exact distance has its normal as gradient
    }
  }
  CAPTURE(exact_count, blended, taubin_count);
  CHECK(exact_count > 1000);
  CHECK(blended > 100);
  CHECK(taubin_count > 100);
}

// Every number, every point --------------------------------------------------------------------------------

template <typename T, int W>
void check_lanes(double rtol) {
  using P = Pack<T, W>;
  Random random(13);
  for (int i = 0; i < 300; ++i) {
    auto p = random_parameters(random);
    for (double& parameter : p) parameter = static_cast<T>(parameter);
    const Pose<double> X_BP = test::random_pose(random);
    const auto sq = make<T>(p, X_BP);
    const auto sq_double = make<double>(p, X_BP);
    Vec3<P> x, shifted;
    for (int lane = 0; lane < W; ++lane) {
      const Vec3<double> point = random_point(random, sq_double);
      for (int k = 0; k < 3; ++k) {
        x[k].set_lane(lane, static_cast<T>(point[k]));
        shifted[k].set_lane((lane + 1) % W, static_cast<T>(point[k]));
      }
    }
    for (const DistanceMode mode : k_modes) {
      const auto s = superquadric_sample<SdfOrder::jacobian, P>(sq, mode, x);
      const auto t = superquadric_sample<SdfOrder::jacobian, P>(sq, mode, shifted);
      for (int lane = 0; lane < W; ++lane) {
        const Vec3<T> point(x[0][lane], x[1][lane], x[2][lane]);
        const auto one = superquadric_sample<SdfOrder::jacobian, T>(sq, mode, point);
        CAPTURE(i, p, static_cast<int>(mode), lane, point.transpose());
        const int other = (lane + 1) % W;
        CHECK(s.distance[lane] == t.distance[other]);  // bit for bit, whatever the neighbours
        double error = std::abs(double(s.distance[lane]) - double(one.distance)) / double(sq.shortest_axis);
        for (int r = 0; r < 3; ++r) {
          CHECK(s.normal[r][lane] == t.normal[r][other]);
          CHECK(s.gradient[r][lane] == t.gradient[r][other]);
          error = std::max(error, std::abs(double(s.normal[r][lane]) - double(one.normal[r])));
          for (int c = 0; c < 3; ++c) CHECK(s.normal_jacobian(r, c)[lane] == t.normal_jacobian(r, c)[other]);
        }
        // exp and log of packs round otherwise than std's, by an ulp; the exponents 1/eps amplify it in the
        // normal. In single precision Newton's iterations of the projected mode stop at their noise.
        if (mode == DistanceMode::projected && std::is_same_v<T, float>) continue;
        CHECK(error * std::min(p[3], p[4]) <= rtol);
      }
    }
  }
}

TEST_CASE(
    "superquadric: a lane of a pack does not depend on its neighbours, and is the single number's to "
    "rounding",
    "[collision][batch]") {
  SECTION("Pack<float, 8>") { check_lanes<float, 8>(3e-6); }
  SECTION("Pack<double, 4>") { check_lanes<double, 4>(1e-13); }
}

TEST_CASE("superquadric: nothing is infinite or NaN for any finite point", "[collision][value]") {
  Random random(14);
  for (int i = 0; i < 2000; ++i) {
    const auto p = random_parameters(random);
    const auto sq = make<double>(p);
    const auto sq_float = make<float>(p);
    Vec3<double> x;
    const auto coordinate = [&] {
      switch (random.integer(5)) {
        case 0:
          return 0.0;
        case 1:
          return -0.0;
        case 2:
          return test::random_magnitude(random, -300.0, -10.0);
        case 3:
          return test::random_magnitude(random, -10.0, 0.0);
        default:
          return test::random_magnitude(random, 0.0, 6.0);
      }
    };
    for (int k = 0; k < 3; ++k) x[k] = i == 0 ? 0.0 : coordinate();
    for (const DistanceMode mode : k_modes) {
      CAPTURE(i, p, x.transpose(), static_cast<int>(mode));
      const auto s = sample<SdfOrder::jacobian>(sq, mode, x);
      CHECK(std::isfinite(s.distance));
      CHECK(s.normal.allFinite());
      CHECK(s.gradient.allFinite());
      CHECK(s.normal_jacobian.allFinite());
      CHECK(close(s.normal.norm(), 1.0, 1e-12, 0));
      const auto f = superquadric_sample<SdfOrder::jacobian, float>(sq_float, mode, x.cast<float>());
      CHECK(std::isfinite(f.distance));
      CHECK(f.normal.allFinite());
      CHECK(f.gradient.allFinite());
      CHECK(f.normal_jacobian.allFinite());
    }
  }
}

TEST_CASE("superquadric: at the centre there is a fixed answer: as deep as the shortest axis",
          "[collision][value]") {
  const auto sq = make<double>({0.3, 0.1, 0.2, 0.5, 0.7});
  for (const DistanceMode mode : k_modes) {
    const auto s = sample<SdfOrder::jacobian>(sq, mode, Vec3<double>(0, 0, 0));
    CHECK(close(s.distance, -0.1, 1e-5, 0));
    CHECK(close(s.normal, Vec3<double>(0, 1, 0), 0, 1e-12));
    CHECK(s.normal_jacobian.isZero());
  }
}

TEST_CASE("superquadric: moving frame and point together turns normal and gradient, and changes no distance",
          "[collision][property]") {
  Random random(15);
  for (int i = 0; i < 300; ++i) {
    const auto p = random_parameters(random);
    const Pose<double> X_BP = test::random_pose(random), X_AB = test::random_pose(random);
    const auto in_B = make<double>(p, X_BP), in_A = make<double>(p, X_AB * X_BP);
    const Vec3<double> x_B = random_point(random, in_B), x_A = X_AB * x_B;
    const Mat3<double> R_AB = X_AB.rotation();
    for (const DistanceMode mode : {DistanceMode::taubin, DistanceMode::radial}) {
      const auto b = sample<SdfOrder::jacobian>(in_B, mode, x_B),
                 a = sample<SdfOrder::jacobian>(in_A, mode, x_A);
      CAPTURE(i, p, static_cast<int>(mode), x_B.transpose());
      const double rounding = 1e-13 / (std::min(p[3], p[4]) * (x_B - X_BP.p).norm());
      CHECK(close(a.distance, b.distance, rounding, rounding));
      CHECK(close(a.normal, Vec3<double>(R_AB * b.normal), 0, 10 * rounding));
      CHECK(test::relative_error(a.gradient, Vec3<double>(R_AB * b.gradient)) <= 1e3 * rounding);
      CHECK(test::relative_error(a.normal_jacobian, Mat3<double>(R_AB * b.normal_jacobian * R_AB.transpose()),
                                 1.0 / (x_B - X_BP.p).norm()) <= 1e3 * rounding);
    }
  }
}

}  // namespace
}  // namespace abut
