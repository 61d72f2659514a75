#include "collision/sdf/cutter_ends.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "collision/sdf/shape_sdf.h"
#include "engine/lie.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace abut::test {
namespace {

constexpr double k_hole_radius = 8e-3, k_plate_tau = 1e-4;

Primitive part_of(PrimitiveKind kind, const std::array<double, 5>& parameters, const Vec3<double>& p,
                  PrimitiveOperation operation = PrimitiveOperation::subtract) {
  Primitive primitive;
  primitive.kind = kind;
  primitive.operation = operation;
  primitive.parameters = parameters;
  primitive.X_BP.p = p;
  return primitive;
}

/// A plate of 60 mm, 10 mm thick, its top at z = 0, turned by q about the origin together with what cuts it.
Shape plate_with(std::vector<Primitive> others, const Quat<double>& q = Quat<double>::Identity()) {
  Shape shape;
  shape.union_smoothing = k_plate_tau;
  shape.primitives = {part_of(PrimitiveKind::rounded_box, {0.03, 0.03, 0.005, 0, 0}, {0, 0, -0.005},
                              PrimitiveOperation::add)};
  shape.primitives.insert(shape.primitives.end(), others.begin(), others.end());
  for (Primitive& primitive : shape.primitives) primitive.X_BP = {q * primitive.X_BP.q, q * primitive.X_BP.p};
  return shape;
}

/// Cutters that end 2 mm above the plate and as far below it.
std::vector<Primitive> round_cutters() {
  const double half = 7e-3;
  return {part_of(PrimitiveKind::cone, {k_hole_radius, k_hole_radius, half, 1e-5, 0}, {0, 0, -0.005}),
          part_of(PrimitiveKind::capsule, {k_hole_radius, half, 0, 0, 0}, {0, 0, -0.005})};
}

double distance_to_rims(const ShapeSdf& sdf, const Vec3<double>& x) {
  return sdf.sample_to_rims<SdfOrder::normal, double>(x).distance;
}

/// The difference as the shape says, without longer ends.
double plain_distance(const Shape& shape, const Vec3<double>& x) {
  UnionSum<SdfOrder::normal, double> added(k_plate_tau), subtracted(k_plate_tau);
  for (const Primitive& primitive : shape.primitives) {
    const PreparedPrimitive<double> prepared(primitive, primitive.parameters, k_plate_tau);
    (primitive.operation == PrimitiveOperation::add ? added : subtracted)
        .add(primitive_sample<SdfOrder::normal, double>(prepared, shape.distance_mode, x));
  }
  return smooth_difference<SdfOrder::normal, double>(added.result(), subtracted.result(), k_plate_tau)
      .distance;
}

}  // namespace

TEST_CASE("cutter_ends: above a hole whose cutter ends near the face, the rim is what is nearest",
          "[collision][value]") {
  Random random(3);
  for (const Primitive& cutter : round_cutters()) {
    const Quat<double> q = exp_quaternion<double>(random_vector(random, 1.0));
    const ShapeSdf aligned(plate_with({cutter})), turned(plate_with({cutter}, q));
    for (int i = 0; i < 200; ++i) {
      const Vec3<double> x(random.uniform(-5e-3, 5e-3), random.uniform(-5e-3, 5e-3),
                           random.uniform(1e-3, 5e-2));
      const double exact = std::hypot(k_hole_radius - std::hypot(x.x(), x.y()), x.z());
      CAPTURE(i, x.transpose(), cutter.kind);
      REQUIRE(close(distance_to_rims(aligned, x), exact, 1e-4, 0));
      REQUIRE(close(distance_to_rims(turned, q * x), exact, 1e-4, 0));
      const Vec3<double> below(x.x(), x.y(), -0.01 - x.z());
      REQUIRE(close(distance_to_rims(aligned, below), exact, 1e-4, 0));
    }
  }
}

TEST_CASE("cutter_ends: a slot, open at both ends and above, and a pit, open above", "[collision][value]") {
  const auto box = [](double x, double z) {  // 16 mm wide, 7 mm deep
    return part_of(PrimitiveKind::rounded_box, {x, k_hole_radius, 0.5 * (0.007 + z), 0, 0},
                   {0, 0, 0.5 * (z - 0.007)});
  };
  const ShapeSdf slot(plate_with({box(0.032, 0.002)})), pit(plate_with({box(0.02, 0.002)}));
  for (const ShapeSdf* sdf : {&slot, &pit}) {
    for (const double z : {0.001, 0.004, 0.02})
      CHECK(close(distance_to_rims(*sdf, {0, 0.002, z}), std::hypot(k_hole_radius - 0.002, z), 1e-4, 0));
    CHECK(close(distance_to_rims(*sdf, {0, 0, -0.005}), 0.002, 1e-3, 0));  // the bottom is where it was
    CHECK(distance_to_rims(*sdf, {0, 0, -0.0075}) < 0.0);
  }
  CHECK(close(distance_to_rims(slot, {0.04, 0.0, -0.002}), std::hypot(0.01, 0.005), 0.02, 0));
  CHECK(distance_to_rims(pit, {0.025, 0.0, -0.002}) < 0.0);  // its end walls are, too
}

TEST_CASE("cutter_ends: the surface stays what the shape says", "[collision][value]") {
  Random random(4);
  for (int i = 0; i < 60; ++i) {
    const double narrow = random.uniform(0.3, 1.0) * k_hole_radius;
    std::vector<Primitive> parts = round_cutters();
    parts.push_back(part_of(PrimitiveKind::cone, {narrow, k_hole_radius, 8e-3, 1e-5, 0}, {0.015, 0, -0.005}));
    parts.push_back(part_of(PrimitiveKind::rounded_box, {4e-3, 0.05, 6e-3, 1e-3, 0}, {-0.015, 0, 0.0}));
    for (Primitive& cutter : parts) {
      cutter.X_BP = {exp_quaternion<double>(random_vector(random, 0.3)),
                     cutter.X_BP.p + random_vector(random, 0.004)};
    }
    // A bridge over it, a few millimetres up.
    parts.push_back(part_of(PrimitiveKind::rounded_box, {0.03, 0.002, 0.002, 0, 0},
                            random_vector(random, 0.01) + Vec3<double>(0, 0, 0.012),
                            PrimitiveOperation::add));
    const Shape shape = plate_with(parts);
    const ShapeSdf sdf(shape);
    for (int k = 0; k < 200; ++k) {
      const Vec3<double> x(random.uniform(-0.035, 0.035), random.uniform(-0.035, 0.035),
                           random.uniform(-0.012, 0.018));
      const double is = sdf.distance<double>(x), plain = plain_distance(shape, x);
      CAPTURE(i, k, x.transpose(), is, plain);
      REQUIRE(((is > 0.0) == (plain > 0.0) || std::abs(plain) < 1e-3 * k_plate_tau));
      REQUIRE(is >= plain - 1e-3 * k_plate_tau);  // never nearer than it was
    }
  }
}

TEST_CASE("cutter_ends: dL/d(parameters) agrees with differences", "[collision][derivative]") {
  Random random(5);
  for (int i = 0; i < 50; ++i) {
    const Primitive cone =
        part_of(PrimitiveKind::cone,
                {random.uniform(0.5, 1.0), random.uniform(0.5, 1.0), random.uniform(0.5, 2.0), 0.01, 0},
                random_vector(random, 1.0));
    EndExtensions by{};
    by[2] = {random.uniform(0.0, 0.5), random.uniform(0.0, 0.5)};
    std::array<double, 5> bar{};
    for (double& b : bar) b = random.uniform(-1.0, 1.0);
    using Parameters = Eigen::Matrix<double, 5, 1>;
    const auto loss = [&](const Parameters& p) {
      Primitive changed = cone;
      std::copy(p.begin(), p.end(), changed.parameters.begin());
      const Primitive longer = lengthened(changed, by);
      return std::inner_product(bar.begin(), bar.end(), longer.parameters.begin(), 0.0);
    };
    const std::array<double, 5> vjp = lengthened_vjp(cone, by, bar);
    CAPTURE(i);
    REQUIRE(close(Parameters(vjp.data()), fd_gradient(loss, Parameters(cone.parameters.data()), 1e-5), 1e-8,
                  1e-8));
  }
}

}  // namespace abut::test
