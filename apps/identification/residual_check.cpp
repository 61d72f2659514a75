#include "apps/identification/residual_check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace abut {
namespace {

/// The median of chi square, by Wilson and Hilferty (1931).
double median_of_chi_square(int freedom) {
  const double third = 1.0 - 2.0 / (9.0 * freedom);
  return freedom * third * third * third;
}

double typical_size(const MotionFit& fit, const Eigen::VectorXd& residuals) {
  std::vector<double> squares;
  for (const ResidualBlock& block : fit.blocks()) {
    if (block.kind != ResidualBlock::Kind::measurement || block.count == 0) continue;
    squares.push_back(residuals.segment(block.begin, block.count).squaredNorm() /
                      median_of_chi_square(block.count));
  }
  if (squares.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = squares.begin() + static_cast<std::ptrdiff_t>(squares.size() / 2);
  std::nth_element(squares.begin(), middle, squares.end());
  return std::sqrt(*middle);
}

const Measurement& measurement_of(const MotionFit& fit, const ResidualBlock& block) {
  const int motion = fit.unknowns().segments()[at(block.segment)].motion;
  return fit.experiment().motions[at(motion)].measurements[at(block.measurement)];
}

/// The name of the i-th residual of a measurement: "position.x".
std::string component_of(const Measurement& measurement, int i) {
  if (const auto* joint = std::get_if<MeasuredJoint>(&measurement.what))
    return i == 0 && joint->coordinate ? "coordinate" : "rate";
  const auto* pose = std::get_if<MeasuredPose>(&measurement.what);
  if (pose == nullptr) return "a measurement";
  const std::vector<int> components = pose->components();
  const int positions = static_cast<int>(components.size());
  return i < positions ? fmt::format("position.{}", "xyz"[components[at(i)]])
                       : fmt::format("rotation.{}", "xyz"[i - positions]);
}

/// The series that a measurement belongs to: the poses of a body, or the numbers of a joint. Other measurements belong to
/// none.
std::optional<int> series_of(const Model& model, const Measurement& measurement) {
  if (const auto* pose = std::get_if<MeasuredPose>(&measurement.what)) return pose->body;
  if (const auto* joint = std::get_if<MeasuredJoint>(&measurement.what))
    return model.body_count() + joint->joint;
  return std::nullopt;
}

/// Sums over neighbours in time. Residuals count up to three typical sizes, so that an outlier is but one.
void find_serial_correlation(const MotionFit& fit, const Eigen::VectorXd& residuals, ResidualCheck& check) {
  constexpr double k_most = 3.0;
  const double most = k_most * check.typical_size;
  std::map<std::pair<int, int>, Eigen::VectorXd> before;  // of a segment and series
  double products = 0.0, squares = 0.0;
  for (const ResidualBlock& block : fit.blocks()) {
    if (block.kind != ResidualBlock::Kind::measurement) continue;
    const auto series = series_of(fit.experiment().scene.model, measurement_of(fit, block));
    if (!series) continue;
    const Eigen::VectorXd r = residuals.segment(block.begin, block.count).cwiseMax(-most).cwiseMin(most);
    Eigen::VectorXd& last = before[{block.segment, *series}];
    if (last.size() == r.size()) {
      products += last.dot(r);
      squares += 0.5 * (last.squaredNorm() + r.squaredNorm());
      check.serial_pairs += block.count;
    }
    last = r;
  }
  if (squares > 0.0) check.serial_correlation = products / squares;
}

}  // namespace

ResidualCheck check_residuals(const ExperimentFile& file, const MotionFit& fit,
                              const Eigen::VectorXd& residuals) {
  constexpr double k_far = 6.0;
  constexpr std::size_t k_shown = 5;
  ResidualCheck check;
  check.typical_size = typical_size(fit, residuals);
  find_serial_correlation(fit, residuals, check);
  const double far = k_far * std::max(1.0, check.typical_size);
  int last_measurement = -1, last_segment = -1, part = 0;
  for (const ResidualBlock& block : fit.blocks()) {
    if (block.kind != ResidualBlock::Kind::measurement) continue;
    part = block.measurement == last_measurement && block.segment == last_segment ? part + 1 : 0;
    last_measurement = block.measurement;
    last_segment = block.segment;
    ++check.measurement_count;
    Eigen::Index worst = 0;
    const double size =
        block.count == 0 ? 0.0 : residuals.segment(block.begin, block.count).cwiseAbs().maxCoeff(&worst);
    if (!(size > far)) continue;
    ++check.outlier_count;
    const int motion = fit.unknowns().segments()[at(block.segment)].motion;
    const Measurement& measurement = measurement_of(fit, block);
    OutlyingMeasurement outlier;
    outlier.deviations = size;
    outlier.what = fmt::format("{} of {} at {:.6g} s", component_of(measurement, static_cast<int>(worst)),
                               subject_text(fit.experiment().scene.model, measurement), measurement.time);
    outlier.place =
        at(part) < measurement.lines.size()
            ? fmt::format("{}:{}", file.data[at(motion)].source.file.string(), measurement.lines[at(part)])
            : fmt::format("motion '{}'", fit.experiment().motions[at(motion)].name);
    check.outliers.push_back(std::move(outlier));
  }
  std::stable_sort(check.outliers.begin(), check.outliers.end(),
                   [](const auto& a, const auto& b) { return a.deviations > b.deviations; });
  if (check.outliers.size() > k_shown) check.outliers.resize(k_shown);
  return check;
}

}  // namespace abut
