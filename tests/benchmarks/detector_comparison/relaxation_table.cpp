#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "collision/detectors/padded_part.h"
#include "dynamics/gradient_check/gradient_check.h"
#include "engine/lie.h"
#include "engine/model.h"
#include "engine/random.h"
#include "engine/scene_io.h"
#include "tests/benchmarks/detector_comparison/comparison.h"
#include "tests/benchmarks/support/table.h"

namespace abut::benchmarks {
namespace {

constexpr double k_length = 0.05;  // half length or half extent of all bodies [m]
constexpr double k_exact = 1e-13;  // relaxation that differences of the contact cannot tell from 0
constexpr double k_padding = 0.2;  // of boxes, by their half extent

PaddedPart part_of(PrimitiveKind kind, const std::array<double, 5>& parameters) {
  Primitive primitive;
  primitive.kind = kind;
  primitive.parameters = parameters;
  return make_padded_part(make_convex_part(primitive), k_padding);
}
PaddedPart capsule() { return part_of(PrimitiveKind::capsule, {0.2 * k_length, k_length}); }
PaddedPart box() { return part_of(PrimitiveKind::rounded_box, {k_length, k_length, k_length, 0.0}); }

/// Derivatives of both witness points and the normal by the pose of B, lengths in units of k_length.
using Derivative = Eigen::Matrix<double, 9, 6>;
std::optional<Derivative> derivative_of(const PaddedPart& A, const PaddedPart& B, const Pose<double>& X_WB,
                                        double relaxation) {
  Witness<double> witness;
  WitnessByB by_B;
  if (!padded_witness(A, Pose<double>(), B, X_WB, {&relaxation, 1}, witness, {&by_B, 1})) return std::nullopt;
  Derivative J;
  J << by_B.point_A / k_length, by_B.point_B / k_length, by_B.normal;
  J.rightCols<3>() *= k_length;
  return J;
}

double relative_bias(const PaddedPart& A, const PaddedPart& B, const Pose<double>& X_WB, double relaxation) {
  const auto J = derivative_of(A, B, X_WB, relaxation), exact = derivative_of(A, B, X_WB, k_exact);
  return J && exact ? (*J - *exact).norm() / exact->norm() : k_infinity;
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

/// B above A, a little aside, turned.
Pose<double> above(double centres_apart, const Vec3<double>& rotation) {
  return {exp_quaternion<double>(rotation), {0.013 * k_length, 0.007 * k_length, centres_apart}};
}
Pose<double> capsules_at(double angle) { return above(0.6 * k_length, {0.0, angle, 0.0}); }

/// Two boxes at random attitudes, a little apart.
std::vector<double> biases_of_random_boxes(double relaxation) {
  std::vector<double> biases;
  Random random(1);
  const PaddedPart A = box();
  for (int i = 0; i < 500; ++i) {
    const Vec3<double> turn = std::numbers::pi * random.uniform(0.0, 1.0) * random.unit_vector();
    const Pose<double> X_WB{exp_quaternion<double>(turn), 3.6 * k_length * random.unit_vector()};
    biases.push_back(relative_bias(A, A, X_WB, relaxation));
  }
  return biases;
}

/// Of the entries of the derivative, over turns about an axis through 0 by up to 2 degrees.
double largest_in_sweep(const PaddedPart& A, const PaddedPart& B, double centres_apart,
                        const Vec3<double>& axis, double relaxation) {
  double largest = 0.0;
  constexpr int k_count = 100;
  for (int i = -k_count; i <= k_count; ++i) {
    const double share = static_cast<double>(i) / k_count;
    const double angle = 2.0 * std::numbers::pi / 180.0 * share * std::abs(share);  // denser near 0
    const auto J = derivative_of(A, B, above(centres_apart, angle * axis), relaxation);
    if (J) largest = std::max(largest, J->cwiseAbs().maxCoeff());
  }
  return largest;
}

struct CheckedScene {
  const char* name;
  const char* file;  ///< in the source tree
  int steps;
};
constexpr CheckedScene k_checked_scenes[] = {{"plates", "assets/scenes/plates.toml", 100},
                                             {"gripper", "assets/scenes/gripper.toml", 30},
                                             {"stack", "assets/scenes/box_stack.toml", 30}};

GradientCheckSummary check_of(const CheckedScene& named, double relaxation) {
  const Scene scene = read_scene(k_source / named.file);
  StepConfig config = scene.config.step;
  config.contact.detector = DetectorKind::proximity_qp;
  config.contact.qp_relaxation = relaxation;
  GradientCheckConfig check;
  check.steps = named.steps;
  return check_gradient(scene.model, config, scene.initial, check).summary;
}

}  // namespace

void print_relaxation() {
  constexpr double k_relaxations[] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13};
  const auto power = [](double x) { return fmt::format("{:.0e}", x); };
  const double degree = std::numbers::pi / 180.0;
  Table witnesses({"relaxation", "capsules 10° from parallel", "1°", "0.1°", "largest at up to 2°",
                   "boxes at random, median", "ninth decile", "largest at up to 2° from flush"});
  for (const double relaxation : k_relaxations) {
    std::vector<Cell> row{power(relaxation)};
    const auto add = [&](double x) { row.emplace_back(fmt::format("{:.1e}", x)); };
    for (const double angle : {10.0, 1.0, 0.1})
      add(relative_bias(capsule(), capsule(), capsules_at(angle * degree), relaxation));
    add(largest_in_sweep(capsule(), capsule(), 0.6 * k_length, Vec3<double>::UnitY(), relaxation));
    const std::vector<double> biases = biases_of_random_boxes(relaxation);
    add(quantile(biases, 0.5));
    add(quantile(biases, 0.9));
    add(largest_in_sweep(box(), box(), 2.2 * k_length, Vec3<double>(0.6, 0.8, 0.0), relaxation));
    witnesses.add_row(std::move(row));
  }
  fmt::print("{}\n", witnesses.markdown());
  std::fflush(stdout);

  std::vector<std::string> columns{"relaxation"};
  for (const CheckedScene& scene : k_checked_scenes) {
    for (const char* what : {"median error", "largest", "off"})
      columns.push_back(fmt::format("{}: {}", scene.name, what));
  }
  Table checks(columns);
  for (const double relaxation : k_relaxations) {
    std::vector<Cell> row{power(relaxation)};
    for (const CheckedScene& scene : k_checked_scenes) {
      const GradientCheckSummary of = check_of(scene, relaxation);
      row.insert(row.end(), {power(of.median_relative_error), power(of.max_resolved_error),
                             fmt::format("{} of {}", of.off, of.samples)});
      fmt::print(stderr, "{} {}: {} {} {}\n", power(relaxation), scene.name, power(of.median_relative_error),
                 power(of.max_resolved_error), of.off);
    }
    checks.add_row(std::move(row));
  }
  std::fputs(checks.markdown().c_str(), stdout);
}

}  // namespace abut::benchmarks
