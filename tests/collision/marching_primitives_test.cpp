#include "collision/fitting/marching_primitives.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>
#include <utility>
#include <vector>

#include <ceres/jet.h>
#include <catch2/catch.hpp>

#include "collision/fitting/fit_kernels.h"
#include "collision/fitting/free_superquadric.h"
#include "collision/fitting/superquadric_residual.h"
#include "collision/sdf/superquadric.h"
#include "engine/instruction_set.h"
#include "engine/mesh_io.h"
#include "engine/pack.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/reference_data.h"
#include "tests/support/samples.h"

using namespace abut;

namespace {

FreeSuperquadric random_superquadric(Random& random) {
  FreeSuperquadric sq;
  sq.R = random.quaternion().toRotationMatrix();
  sq.center = test::random_vector(random);
  for (double& a : sq.axes) a = random.uniform(0.3, 2.0);
  sq.eps1 = random.uniform(0.1, 1.8);
  sq.eps2 = random.uniform(0.1, 1.8);
  return sq;
}

double distance_at(const FreeSuperquadric& sq, const Vec3<double>& p) {
  std::array<double, 11> unused;
  return radial_distance<false, double>(sq.R.transpose() * (p - sq.center), sq.axes.cwiseInverse(), sq.eps1,
                                        sq.eps2, unused);
}

Primitive superquadric_at(const Vec3<double>& axes, double eps1, double eps2, const Pose<double>& X) {
  Primitive primitive;
  primitive.parameters = {axes.x(), axes.y(), axes.z(), eps1, eps2};
  primitive.X_BP = X;
  return primitive;
}

/// The grid of a function of n^3 points over [-1, 1]^3.
template <typename Distance>
DistanceGrid grid_of(int n, const Distance& distance) {
  DistanceGrid grid;
  grid.grid = {Vec3<double>::Constant(-1.0), 2.0 / (n - 1), Eigen::Vector3i::Constant(n - 1)};
  for (int k = 0; k < n; ++k) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) grid.values.push_back(distance(grid.point(i, j, k)));
    }
  }
  return grid;
}

/// Of a union of superquadrics: the least of their distances to first order.
DistanceGrid grid_of(int n, const std::vector<Primitive>& primitives) {
  std::vector<Superquadric<double>> prepared;
  for (const Primitive& p : primitives) prepared.emplace_back(p.parameters, p.X_BP, 0.0);
  return grid_of(n, [&](const Vec3<double>& x) {
    double least = k_infinity;
    for (const auto& sq : prepared)
      least = std::min(least, taubin_sample<SdfOrder::distance, double>(sq, x).distance);
    return least;
  });
}

double volume_of(const Primitive& p) {
  const double e1 = p.parameters[3], e2 = p.parameters[4];
  return 2.0 * p.parameters[0] * p.parameters[1] * p.parameters[2] * e1 * e2 * std::beta(0.5 * e1 + 1.0, e1) *
         std::beta(0.5 * e2, 0.5 * e2);
}

bool same_primitives(const std::vector<Primitive>& a, const std::vector<Primitive>& b, double scale = 1.0,
                     const Vec3<double>& shift = Vec3<double>::Zero()) {
  if (a.size() != b.size()) return false;
  for (std::size_t s = 0; s < a.size(); ++s) {
    for (std::size_t i = 0; i < 5; ++i) {
      if (b[s].parameters[i] != (i < 3 ? scale : 1.0) * a[s].parameters[i]) return false;
    }
    if (b[s].X_BP.q.coeffs() != a[s].X_BP.q.coeffs()) return false;
    if (!test::close(b[s].X_BP.p, Vec3<double>(scale * a[s].X_BP.p + shift), 1e-14, 1e-14)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("FitKernels: every instruction set gives the sums of the scalar kernel", "[collision][batch]") {
  Random random(5);
  const FreeSuperquadric sq = random_superquadric(random);
  constexpr int k_count = 4 * k_lanes_of_fit;
  constexpr float k_T = 0.5f;
  std::vector<float> columns[6];
  for (int i = 0; i < k_count; ++i) {
    for (int axis = 0; axis < 3; ++axis)
      columns[axis].push_back(static_cast<float>(sq.center[axis] + random.uniform(-2.0, 2.0)));
    columns[3].push_back(static_cast<float>(random.uniform(-k_T, k_T)));
    columns[4].push_back(static_cast<float>(random.uniform(0.0, 1.0)));
    columns[5].push_back(static_cast<float>(random.uniform(-0.2, 2.0)));
  }
  SuperquadricMatrix JJ = SuperquadricMatrix::Zero();
  SuperquadricTangent Je = SuperquadricTangent::Zero();
  double cost = 0.0, weight = 0.0;
  std::vector<double> expected;
  for (std::size_t i = 0; i < k_count; ++i) {
    const Vec3<double> p(columns[0][i], columns[1][i], columns[2][i]);
    std::array<double, 11> slopes;
    const double d = radial_distance<true, double>(sq.R.transpose() * (p - sq.center), sq.axes.cwiseInverse(),
                                                   sq.eps1, sq.eps2, slopes);
    const double w = columns[4][i], others = columns[5][i], T = k_T;
    const double e = std::clamp(std::min(d, others), -T, T) - columns[3][i];
    expected.push_back(d);
    cost += w * e * e;
    weight += w;
    if (!(std::abs(d) < T && d < others)) continue;
    const Eigen::Map<const SuperquadricTangent> J(slopes.data());
    JJ += w * J * J.transpose();
    Je += w * e * J;
  }
  REQUIRE(Je.norm() > 0.0);
  for (const std::string_view set : available_instruction_sets()) {
    CAPTURE(set);
    const FitKernels kernels = kernels_for<FitKernels>(set);
    std::vector<float> distances(k_count);
    kernels.distances(SuperquadricNumbers(sq), columns[0].data(), columns[1].data(), columns[2].data(),
                      k_count, distances.data());
    for (std::size_t i = 0; i < k_count; ++i) CHECK(test::close(distances[i], expected[i], 1e-4, 1e-4));
    FitSums sums;
    kernels.normal_equations(SuperquadricNumbers(sq),
                             {columns[0].data(), columns[1].data(), columns[2].data(), columns[3].data(),
                              columns[4].data(), columns[5].data(), k_count},
                             k_T, sums);
    CHECK(test::close(sums.cost, cost, 1e-4, 0.0));
    CHECK(test::close(sums.weight, weight, 1e-5, 0.0));
    for (int a = 0, product = 0; a < 11; ++a) {
      CHECK(test::close(sums.Je[a], Je[a], 1e-3, 1e-3 * Je.norm()));
      for (int b = 0; b <= a; ++b, ++product)
        CHECK(test::close(sums.JJ[product], JJ(a, b), 1e-3, 1e-4 * JJ.norm()));
    }
  }
}

TEST_CASE("radial_distance: is that of the superquadric's SDF, on packs as on single numbers",
          "[collision][value]") {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    FreeSuperquadric sq = random_superquadric(random);
    sq.eps1 = std::min(sq.eps1, 1.0);  // ridges of others are rounded in the SDF
    sq.eps2 = std::min(sq.eps2, 1.0);
    const Superquadric<double> reference({sq.axes.x(), sq.axes.y(), sq.axes.z(), sq.eps1, sq.eps2},
                                         {Quat<double>(sq.R), sq.center}, 0.0);
    const Vec3<double> p = sq.center + test::random_vector(random, 3.0);
    const double expected = radial_sample<SdfOrder::distance, double>(reference, p).distance;
    REQUIRE(test::close(distance_at(sq, p), expected, 1e-11, 1e-12));

    using Lanes = Pack<float, 8>;
    const Vec3<double> x = sq.R.transpose() * (p - sq.center);
    std::array<Lanes, 11> J;
    std::array<double, 11> J_plain;
    const Lanes packed = radial_distance<true, Lanes>(
        {Lanes(x[0]), Lanes(x[1]), Lanes(x[2])},
        {Lanes(1.0 / sq.axes[0]), Lanes(1.0 / sq.axes[1]), Lanes(1.0 / sq.axes[2])}, Lanes(sq.eps1),
        Lanes(sq.eps2), J);
    REQUIRE(test::close(packed[3], expected, 2e-4, 2e-5));
    (void)radial_distance<true, double>(x, sq.axes.cwiseInverse(), sq.eps1, sq.eps2, J_plain);
    for (std::size_t k = 0; k < 11; ++k) REQUIRE(test::close(J[k][3], J_plain[k], 2e-3, 2e-3));
  }
}

TEST_CASE("radial_distance: its derivatives agree with Jet and finite differences",
          "[collision][derivative]") {
  const int seed = GENERATE(range(0, 30));
  const bool on_axis_plane = GENERATE(false, true);
  CAPTURE(seed, on_axis_plane);
  Random random(static_cast<std::uint64_t>(seed));
  FreeSuperquadric sq = random_superquadric(random);
  Vec3<double> x = test::random_vector(random, 2.0);
  if (on_axis_plane) {
    x[seed % 3] = 0.0;
    sq.eps1 = std::min(sq.eps1, 0.8);  // above 1 there is a kink there
    sq.eps2 = std::min(sq.eps2, 0.8);
  }
  const Vec3<double> p = sq.center + sq.R * x;
  std::array<double, 11> J;
  const double d = radial_distance<true, double>(sq.R.transpose() * (p - sq.center), sq.axes.cwiseInverse(),
                                                 sq.eps1, sq.eps2, J);
  CHECK(d == distance_at(sq, p));

  using Jet = ceres::Jet<double, 11>;
  std::array<Jet, 11> unused;
  Vec3<Jet> x_jet, inverse;
  for (int k = 0; k < 3; ++k) {  // x - displacement - rotation x x
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    x_jet[k] = Jet(x[k]) - Jet(0.0, k) - (Jet(0.0, 3 + i) * x[j] - Jet(0.0, 3 + j) * x[i]);
    inverse[k] = Jet(1.0 / sq.axes[k]) * exp(-Jet(0.0, 6 + k));
  }
  const Jet by_jet = radial_distance<false, Jet>(x_jet, inverse, Jet(sq.eps1, 9), Jet(sq.eps2, 10), unused);
  double largest = 0.0;
  for (int k = 0; k < 11; ++k) {
    CAPTURE(k);
    CHECK(test::close(J[at(k)], by_jet.v[k], 1e-10, 1e-11));
    Eigen::Matrix<double, 11, 1> step = Eigen::Matrix<double, 11, 1>::Zero();
    step[k] = 1e-6;
    const double difference = (distance_at(moved(sq, step), p) - distance_at(moved(sq, -step), p)) / 2e-6;
    CHECK(
        test::close(J[at(k)], difference, 1e-6, on_axis_plane ? 1e-4 : 1e-7));  // |x|^(2/eps) is steep there
    largest = std::max(largest, std::abs(J[at(k)]));
  }
  CHECK(largest > 1e-3);
}

TEST_CASE("march_primitives: finds a single superquadric again, whatever its form and pose",
          "[collision][value]") {
  struct Case {
    Vec3<double> axes;
    double eps1, eps2;
  };
  const Case c = GENERATE(Case{{0.6, 0.4, 0.3}, 1.0, 1.0}, Case{{0.5, 0.4, 0.3}, 0.2, 0.2},
                          Case{{0.3, 0.3, 0.6}, 0.2, 1.0}, Case{{0.6, 0.5, 0.15}, 0.5, 0.3},
                          Case{{0.2, 0.2, 0.7}, 1.3, 0.8});
  const int seed = GENERATE(0, 1);
  CAPTURE(c.axes.transpose(), c.eps1, c.eps2, seed);
  Random random(static_cast<std::uint64_t>(seed));
  const Primitive truth =
      superquadric_at(c.axes, c.eps1, c.eps2, {random.quaternion(), test::random_vector(random, 0.1)});
  const DistanceGrid grid = grid_of(48, std::vector{truth});
  const FittedSuperquadrics fitted = march_primitives(grid);
  CHECK(fitted.report.iou > 0.95);
  REQUIRE_FALSE(fitted.primitives.empty());
  const auto largest =
      std::max_element(fitted.primitives.begin(), fitted.primitives.end(),
                       [](const auto& a, const auto& b) { return volume_of(a) < volume_of(b); });
  CHECK(test::close(volume_of(*largest), volume_of(truth), 0.05, 0.0));
  CHECK((largest->X_BP.p - truth.X_BP.p).norm() < 0.02);
  CHECK(volumetric_iou(grid, {truth}) > 0.97);
}

TEST_CASE("march_primitives: pieces of a shape get superquadrics of their own", "[collision][value]") {
  Random random(2);
  const auto at = [](double x, double y, double z) {
    return Pose<double>{Quat<double>::Identity(), {x, y, z}};
  };
  const std::vector<Primitive> apart{superquadric_at({0.3, 0.2, 0.2}, 1, 1, at(-0.5, 0, 0)),
                                     superquadric_at({0.2, 0.3, 0.25}, 0.4, 0.4, at(0.5, 0.1, 0))};
  const FittedSuperquadrics two = march_primitives(grid_of(48, apart));
  CHECK(two.primitives.size() >= 2);
  CHECK(two.primitives.size() <= 4);
  CHECK(two.report.iou > 0.94);

  const std::vector<Primitive> cross{superquadric_at({0.8, 0.12, 0.12}, 0.2, 0.2, at(0, 0, 0)),
                                     superquadric_at({0.12, 0.8, 0.12}, 0.2, 0.2, at(0, 0, 0)),
                                     superquadric_at({0.12, 0.12, 0.8}, 0.2, 0.2, at(0, 0, 0))};
  const FittedSuperquadrics arms = march_primitives(grid_of(64, cross));
  CHECK(arms.report.iou > 0.9);
  for (const Primitive& primitive : arms.primitives) {
    for (const std::size_t e : {3u, 4u}) {
      CHECK(primitive.parameters[e] >= MarchingPrimitivesOptions().least_exponent);
      CHECK(primitive.parameters[e] <= MarchingPrimitivesOptions().most_exponent);
    }
  }
}

TEST_CASE("march_primitives: refinement raises the IoU, a limit leaves the most useful",
          "[collision][value]") {
  Random random(4);
  std::vector<Primitive> chain;
  Vec3<double> p(-0.5, -0.3, -0.2);
  for (int i = 0; i < 6; ++i) {
    chain.push_back(
        superquadric_at({random.uniform(0.12, 0.35), random.uniform(0.12, 0.35), random.uniform(0.12, 0.35)},
                        random.uniform(0.2, 1.2), random.uniform(0.2, 1.2), {random.quaternion(), p}));
    p += Vec3<double>(0.2, 0.12, 0.08);
  }
  const DistanceGrid grid = grid_of(56, chain);
  MarchingPrimitivesOptions options;
  options.refinement_sweeps = 0;
  const FittedSuperquadrics rough = march_primitives(grid, options);
  options.refinement_sweeps = 5;
  const FittedSuperquadrics refined = march_primitives(grid, options);
  CHECK(rough.report.iou > 0.85);
  CHECK(refined.report.iou > rough.report.iou + 0.005);
  CHECK(refined.report.iou == volumetric_iou(grid, refined.primitives));
  REQUIRE(refined.primitives.size() > 3);
  options.max_primitives = 3;
  const FittedSuperquadrics few = march_primitives(grid, options);
  CHECK(few.primitives.size() == 3);
  CHECK(few.report.left_out > 0);
  CHECK(few.report.iou > 0.6);
  CHECK(few.report.iou < refined.report.iou);
}

TEST_CASE("march_primitives: depends on the grid alone, and scales and moves with it",
          "[collision][determinism]") {
  const std::vector<Primitive> shape{
      superquadric_at({0.5, 0.3, 0.2}, 0.7, 1.1, {Quat<double>::Identity(), {-0.2, 0, 0}}),
      superquadric_at({0.2, 0.2, 0.6}, 0.5, 0.5, {Quat<double>::Identity(), {0.3, 0.2, 0}})};
  DistanceGrid grid = grid_of(40, shape);
  const FittedSuperquadrics once = march_primitives(grid), again = march_primitives(grid);
  REQUIRE_FALSE(once.primitives.empty());
  CHECK(same_primitives(once.primitives, again.primitives));
  const Vec3<double> shift(3.0, -1.0, 0.5);
  grid.grid.cell_size *= 4.0;
  grid.grid.lower = 4.0 * grid.grid.lower + shift;
  for (double& value : grid.values) value *= 4.0;
  CHECK(same_primitives(once.primitives, march_primitives(grid).primitives, 4.0, shift));
}

TEST_CASE("volumetric_iou: of balls is the ratio of their volumes", "[collision][value]") {
  const DistanceGrid ball = grid_of(101, [](const Vec3<double>& x) { return x.norm() - 0.8; });
  const auto of_radius = [](double r, double x = 0.0) {
    return superquadric_at({r, r, r}, 1.0, 1.0, {Quat<double>::Identity(), {x, 0, 0}});
  };
  CHECK(volumetric_iou(ball, {of_radius(0.8)}) > 0.999);
  CHECK(test::close(volumetric_iou(ball, {of_radius(0.6)}), std::pow(0.75, 3), 0.01, 0.0));
  CHECK(test::close(volumetric_iou(ball, {of_radius(0.9)}), std::pow(8.0 / 9.0, 3), 0.01, 0.0));
  CHECK(test::close(volumetric_iou(ball, {of_radius(0.3, 0.4), of_radius(0.3, -0.4)}),
                    2.0 * std::pow(0.375, 3), 0.02, 0.0));
  CHECK(volumetric_iou(ball, {}) == 0.0);
}

TEST_CASE("march_primitives: a grid without inside gives none, bad options are errors",
          "[collision][value]") {
  const DistanceGrid outside = grid_of(10, [](const Vec3<double>&) { return 0.5; });
  CHECK(march_primitives(outside).primitives.empty());
  const auto refused = [&](const MarchingPrimitivesOptions& options, const char* name) {
    CHECK_THROWS_WITH(march_primitives(outside, options), Catch::Contains(name));
  };
  refused({.truncation = 0.0}, "truncation");
  refused({.padding = 0}, "padding");
  refused({.least_region = 0}, "least_region");
  refused({.most_outside = 0.0}, "most_outside");
  refused({.inlier_prior = 1.0}, "inlier_prior");
  refused({.max_rounds = 0}, "max_rounds");
  refused({.max_primitives = 0}, "max_primitives");
  refused({.refinement_sweeps = -1}, "refinement_sweeps");
  refused({.least_exponent = 0.01}, "least_exponent");
  refused({.most_exponent = 2.0}, "most_exponent");
  refused({.truncation = std::numeric_limits<double>::quiet_NaN()}, "truncation");
}

TEST_CASE("march_primitives: reference meshes are covered with few superquadrics",
          "[collision][value][nightly]") {
  struct Reference {
    const char* name;
    int most;
    double iou;
  };
  const Reference references[] = {{"armadillo.obj", 19, 0.895},   {"armadillo.obj", 39, 0.925},
                                  {"power_drill.obj", 18, 0.945}, {"mustard_bottle.obj", 15, 0.955},
                                  {"spot.obj", 22, 0.96},         {"banana.obj", 6, 0.92}};
  for (std::size_t i = 0; i < std::size(references); ++i) {
    if (!test::is_drawn(i)) continue;
    const Reference& reference = references[i];
    ABUT_REFERENCE_DATA_OR_SKIP(path, reference.name);
    const RepairedMesh mesh = repair_mesh(read_triangles(path));
    const DistanceGrid grid = signed_distance_grid(mesh, padded_grid(mesh.bvh.bounds(), 101));
    const FittedSuperquadrics fitted = march_primitives(grid, {.max_primitives = reference.most});
    CAPTURE(reference.name, reference.most, fitted.report.iou);
    CHECK(static_cast<int>(fitted.primitives.size()) <= reference.most);
    CHECK(fitted.report.iou > reference.iou);
  }
}
