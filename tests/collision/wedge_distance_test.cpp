#include "collision/sdf/wedge_distance.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "collision/sdf/shape_sdf.h"
#include "engine/lie.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace {

using namespace abut;
using Sample = SdfSampleJacobian<double>;

constexpr double k_tau = 2e-4, k_radius = 8e-3;

/// Above a plane through the origin.
Sample above_plane(const Vec3<double>& normal, const Vec3<double>& x) {
  Sample sample;
  sample.distance = normal.dot(x);
  sample.gradient = sample.normal = normal;
  sample.normal_jacobian.setZero();
  return sample;
}

/// Within a cone about z of that radius at z = 0, `slope` wider per height.
Sample within_cone(double slope, const Vec3<double>& x) {
  const double rho = std::hypot(x.x(), x.y()), length = std::hypot(1.0, slope);
  const Vec3<double> e(x.x() / rho, x.y() / rho, 0.0);
  Sample sample;
  sample.distance = (k_radius - rho + slope * x.z()) / length;
  sample.gradient = sample.normal = Vec3<double>(-e.x(), -e.y(), slope) / length;
  Mat3<double> across = Vec3<double>(1, 1, 0).asDiagonal();
  across -= e * e.transpose();
  sample.normal_jacobian = -across / (rho * length);
  return sample;
}

template <SdfOrder order, typename Answer>
Answer with_rim(const Answer& a, const Answer& b) {
  Answer minus_b = b;
  minus_b.distance = -b.distance;
  minus_b.normal = -b.normal;
  if constexpr (order == SdfOrder::jacobian) {
    minus_b.gradient = -b.gradient;
    minus_b.normal_jacobian = -b.normal_jacobian;
  }
  return with_distance_to_rim<order, double>(smooth_difference<order, double>(a, minus_b, k_tau), a, b,
                                             k_tau);
}

SdfNormal<double> normal_of(const Sample& sample) { return {sample.distance, sample.normal}; }

bool sees_rim(const SdfNormal<double>& a, const SdfNormal<double>& b) {
  return rim_wedge(a.distance, a.normal, b.distance, b.normal, k_tau).inverse_sine > 0.0;
}

/// Primitives of several kinds, the last two subtracted, all about a plate whose top is near z = 0.
Shape cut_plate(Random& random) {
  const auto part = [&](PrimitiveKind kind, const std::array<double, 5>& parameters, const Vec3<double>& p,
                        PrimitiveOperation operation) {
    Primitive primitive;
    primitive.kind = kind;
    primitive.operation = operation;
    primitive.parameters = parameters;
    primitive.X_BP = {exp_quaternion<double>(test::random_vector(random, 0.1)), p};
    return primitive;
  };
  using Kind = PrimitiveKind;
  constexpr auto k_add = PrimitiveOperation::add, k_subtract = PrimitiveOperation::subtract;
  Shape shape;
  shape.union_smoothing = 3e-4;
  shape.primitives = {
      part(Kind::rounded_box, {0.06, 0.06, 0.03, 1e-3, 0}, {0, 0, -0.03}, k_add),
      part(Kind::superquadric, {0.04, 0.05, 0.03, 0.2, 0.3}, {0.05, 0, -0.03}, k_add),
      part(Kind::rounded_box, {0.008, 0.1, 0.05, 1e-3, 0}, test::random_vector(random, 0.003), k_subtract),
      part(Kind::capsule, {0.008, 0.05, 0, 0, 0},
           Vec3<double>(0.025, 0, 0) + test::random_vector(random, 0.003), k_subtract)};
  return shape;
}

Vec3<double> point_above(Random& random) {
  return {random.uniform(-0.02, 0.045), random.uniform(-0.02, 0.02), random.uniform(-0.002, 0.012)};
}

}  // namespace

TEST_CASE("wedge_distance: is the distance to the rim of a round hole, and to the edge of a wedge",
          "[collision][value]") {
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    const Vec3<double> x(random.uniform(-0.012, 0.012), random.uniform(-0.012, 0.012),
                         random.uniform(1e-3, 0.012));
    const double rho = std::hypot(x.x(), x.y());
    const SdfNormal<double> got =
        with_rim<SdfOrder::normal>(normal_of(above_plane({0, 0, 1}, x)), normal_of(within_cone(0.0, x)));
    CAPTURE(i, x.transpose());
    REQUIRE(test::close(got.distance, rho < k_radius ? std::hypot(k_radius - rho, x.z()) : x.z(), 1e-12, 0));
  }
  // Two planes through the y axis, with any angle between them up to 134 degrees.
  for (int i = 0; i < 500; ++i) {
    const double turn = random.uniform(0.1, 2.3), place = random.uniform(-0.5, 1.5) * turn;
    const Vec3<double> n_1(0, 0, 1), n_2(std::sin(turn), 0, std::cos(turn)),
        x = 0.01 * Vec3<double>(std::sin(place), 0, std::cos(place));
    const double nearest = std::clamp(place, 0.0, turn), exact = 0.01 * std::cos(place - nearest);
    if (exact < 3.0 * k_tau) continue;
    const SdfNormal<double> got =
        with_rim<SdfOrder::normal>(normal_of(above_plane(n_1, x)), normal_of(above_plane(n_2, x)));
    CAPTURE(i, turn, place);
    REQUIRE(test::close(got.distance, exact, 1e-9, 0));
    REQUIRE(test::close(got.normal, Vec3<double>(std::sin(nearest), 0, std::cos(nearest)), 0, 1e-7));
  }
}

TEST_CASE("wedge_distance: derivatives by the point and by both surfaces agree with differences",
          "[collision][derivative]") {
  Random random(2);
  int seen = 0, compared = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vec3<double> n = Vec3<double>(random.uniform(-0.4, 0.4), random.uniform(-0.4, 0.4), 1).normalized();
    const double slope = random.uniform(-0.8, 0.8);
    Vec3<double> x = test::random_vector(random, 0.012);
    if (i % 3 == 0) x = Vec3<double>(k_radius, 0, 0) + 0.05 * x;  // where the smooth maximum takes over
    const auto at = [&](double t, int axis) {
      const Vec3<double> y = x + t * Vec3<double>::Unit(axis);
      return with_rim<SdfOrder::jacobian>(above_plane(n, y), within_cone(slope, y));
    };
    const Sample a = above_plane(n, x), b = within_cone(slope, x), got = at(0.0, 0);
    const double step = 1e-6;
    bool changes = false;
    for (int axis = 0; axis < 3; ++axis) {
      for (const double t : {-step, step}) {
        const Vec3<double> y = x + t * Vec3<double>::Unit(axis);
        changes |= sees_rim(normal_of(above_plane(n, y)), normal_of(within_cone(slope, y))) !=
                   sees_rim(normal_of(a), normal_of(b));
      }
    }
    if (changes) continue;  // the curvature jumps where the rim comes into sight
    CAPTURE(i, x.transpose(), n.transpose(), slope);
    for (int axis = 0; axis < 3; ++axis) {
      const auto distance =
          test::fd_sweep([&](double t) { return at(t, axis).distance; }, 0.0, step, 1e-7, 1e-9);
      REQUIRE(test::close(got.gradient[axis], distance.value, 1e-6, 1e-7));
      for (int row = 0; row < 3; ++row) {
        const auto normal =
            test::fd_sweep([&](double t) { return at(t, axis).normal[row]; }, 0.0, step, 1e-6, 1e-6);
        REQUIRE(test::close(got.normal_jacobian(row, axis), normal.value, 1e-5, 1e-2));  // up to 1/tau
      }
    }
    seen += sees_rim(normal_of(a), normal_of(b));
    ++compared;

    const double distance_bar = random.uniform(-1, 1);
    const Vec3<double> normal_bar = test::random_vector(random, 1e-2);
    const SdfNormal<double> own[2] = {normal_of(a), normal_of(b)};
    SdfNormal<double> whole =
        smooth_difference<SdfOrder::normal, double>(own[0], {-own[1].distance, -own[1].normal}, k_tau);
    const RimBar bar = distance_to_rim_vjp(whole, own[0], own[1], k_tau, distance_bar, normal_bar);
    SdfNormal<double> dot[3];
    double slope_of_all = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      dot[k] = {random.uniform(-1e-3, 1e-3), test::random_vector(random, 0.1)};
      slope_of_all += bar.distance[k] * dot[k].distance + bar.normal[k].dot(dot[k].normal);
    }
    bool loses = false;
    const auto loss = [&](double t) {
      const auto moved = [&](const SdfNormal<double>& of, std::size_t k) {
        return SdfNormal<double>{of.distance + t * dot[k].distance, of.normal + t * dot[k].normal};
      };
      const SdfNormal<double> f_1 = moved(own[0], 0), f_2 = moved(own[1], 1);
      loses |= sees_rim(f_1, f_2) != sees_rim(own[0], own[1]);
      const auto r = with_distance_to_rim<SdfOrder::normal, double>(moved(whole, 2), f_1, f_2, k_tau);
      return distance_bar * r.distance + normal_bar.dot(r.normal);
    };
    const auto fd = test::fd_sweep(loss, 0.0, 1e-4, 1e-7, 1e-10);
    if (loses) continue;
    REQUIRE(test::close(slope_of_all, fd.value, 1e-5, 1e-8));
  }
  CHECK(seen > 200);
  CHECK(compared > 1500);
}

TEST_CASE("ShapeSdf: derivatives of sample_to_rims() agree with differences in the point and in the shape",
          "[collision][derivative]") {
  Random random(3);
  int compared = 0, differing = 0, by_shape = 0;
  for (int i = 0; i < 400; ++i) {
    const Shape shape = cut_plate(random);
    const ShapeSdf sdf(shape);
    const Vec3<double> x = point_above(random);
    const auto got = sdf.sample_to_rims<SdfOrder::jacobian, double>(x);
    differing += std::abs(got.distance - sdf.distance<double>(x)) > 1e-5;
    CAPTURE(i, x.transpose(), got.distance);
    bool is_smooth = true;
    for (int axis = 0; axis < 3; ++axis) {
      const auto at = [&](double t) {
        return sdf.sample_to_rims<SdfOrder::normal, double>(x + t * Vec3<double>::Unit(axis));
      };
      for (int row = 0; row < 3; ++row) {
        const auto fd = test::fd_sweep([&](double t) { return at(t).normal[row]; }, 0.0, 1e-6, 1e-6, 1e-5);
        is_smooth = is_smooth && !fd.disagrees_with_itself;
        if (!fd.disagrees_with_itself)
          REQUIRE(test::close(got.normal_jacobian(row, axis), fd.value, 1e-4, 1e-2));
      }
      const auto fd = test::fd_sweep([&](double t) { return at(t).distance; }, 0.0, 1e-6, 1e-7, 1e-8);
      if (!fd.disagrees_with_itself) REQUIRE(test::close(got.gradient[axis], fd.value, 1e-5, 1e-6));
    }
    compared += is_smooth;

    const double distance_bar = random.uniform(-1, 1);
    const Vec3<double> normal_bar = test::random_vector(random, 1e-2);
    std::vector<PrimitiveGradient> bar(shape.primitives.size());
    sdf.parameter_vjp_to_rims(x, distance_bar, normal_bar, bar);
    std::vector<std::array<double, 5>> d_parameters;
    std::vector<Vec6<double>> d_pose;
    double slope = 0.0;
    for (std::size_t p = 0; p < bar.size(); ++p) {
      std::array<double, 5> d{};
      const int count = shape.primitives[p].kind == PrimitiveKind::capsule       ? 2
                        : shape.primitives[p].kind == PrimitiveKind::rounded_box ? 4
                                                                                 : 5;
      for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
        d[k] = 1e-2 * random.uniform(-1, 1) * shape.primitives[p].parameters[k];
        slope += d[k] * bar[p].parameters[k];
      }
      d_parameters.push_back(d);
      d_pose.push_back(stack<double>(test::random_vector(random, 1e-2), test::random_vector(random, 1e-3)));
      slope += d_pose.back().dot(bar[p].pose);
    }
    const auto loss = [&](double t) {
      Shape moved = shape;
      for (std::size_t p = 0; p < bar.size(); ++p) {
        for (std::size_t k = 0; k < 5; ++k) moved.primitives[p].parameters[k] += t * d_parameters[p][k];
        moved.primitives[p].X_BP = retract<double>(moved.primitives[p].X_BP, t * d_pose[p]);
      }
      const auto r = ShapeSdf(moved).sample_to_rims<SdfOrder::normal, double>(x);
      return distance_bar * r.distance + normal_bar.dot(r.normal);
    };
    const auto fd = test::fd_sweep(loss, 0.0, 1e-4, 1e-6, 1e-10);
    if (fd.disagrees_with_itself) continue;
    REQUIRE(test::close(slope, fd.value, 1e-5, 1e-8));
    ++by_shape;
  }
  CHECK(compared > 200);
  CHECK(differing > 30);
  CHECK(by_shape > 200);
}

TEST_CASE("ShapeSdf: without a subtraction sample_to_rims() is sample(), to the last bit",
          "[collision][value]") {
  Random random(4);
  Shape shape = cut_plate(random);
  shape.primitives.resize(2);
  const ShapeSdf sdf(shape);
  CHECK_FALSE(sdf.has_rims());
  for (int i = 0; i < 100; ++i) {
    const Vec3<double> x = point_above(random);
    const auto a = sdf.sample_to_rims<SdfOrder::jacobian, double>(x),
               b = sdf.sample<SdfOrder::jacobian, double>(x);
    REQUIRE(a.distance == b.distance);
    REQUIRE(a.normal == b.normal);
    REQUIRE(a.normal_jacobian == b.normal_jacobian);
  }
}
