#include "apps/identification/identifiability.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <Eigen/QR>
#include <Eigen/SVD>

#include "apps/identification/silent_bounds.h"
#include "engine/check.h"

namespace abut {
namespace {

/// The size of things of a signed unknown's kind: 1 m/s, 1 N, ..., but lengths in a body that of the body.
double size_of_kind(const MotionFit& fit, const Unknown& unknown) {
  if (unknown.kind != Unknown::Kind::number) return 1.0;
  const SceneParameter& parameter = unknown.parameter;
  const bool is_length_in_body = parameter.unit == "m" && !parameter.is_initial_state();
  if (!is_length_in_body) return 1.0;
  const Model& model = fit.experiment().scene.model;
  const int joint = parameter.is_of_coupling() ? model.couplings[at(parameter.coupling)].terms.front().joint
                                               : parameter.joint;
  const int body = joint >= 0 ? model.joints[at(joint)].body_B : parameter.body_A;
  const double size = model.bodies[at(body)].size;
  return std::isfinite(size) ? size : 1.0;
}

/// Whether an entry of x is the logarithm of something.
bool is_logarithm(const Variable& variable, const Unknown* unknown) {
  if (unknown == nullptr || variable.kind != Variable::Kind::number) return false;
  const bool is_number = unknown->kind == Unknown::Kind::number;
  return unknown->logarithmic || (is_number && unknown->parameter.kind == SceneParameter::Kind::inertia &&
                                  unknown->parameter.index < 3);
}

/// What counts as a change of an entry's own size.
double size_of(const MotionFit& fit, int entry, const Eigen::VectorXd& x) {
  const UnknownSpace& unknowns = fit.unknowns();
  const Variable& variable = unknowns.variable_of(entry);
  const Unknown* unknown = unknowns.unknown_of(variable);
  if (variable.kind != Variable::Kind::number || is_logarithm(variable, unknown)) return 1.0;
  const double value = std::abs(x[variable.begin]);
  const bool is_positive = unknown->kind == Unknown::Kind::number && unknown->parameter.range.lower >= 0.0;
  if (!is_positive) return std::max(value, size_of_kind(fit, *unknown));
  const double size = std::max(value, 0.1 * std::abs(unknown->initial));
  return size > 0.0 ? size : 1.0;
}

/// Directions in words. Parts that are equal shares of what the numbers are make a common factor.
std::string text_of(const UnknownSpace& unknowns, const Eigen::VectorXd& direction,
                    const Eigen::VectorXd& size, const Eigen::VectorXd& x, bool is_told_nothing) {
  constexpr double k_matters = 0.1, k_equal = 0.02;
  std::vector<int> parts;
  for (Eigen::Index e = 0; e < direction.size(); ++e) {
    if (std::abs(direction[e]) >= k_matters) parts.push_back(static_cast<int>(e));
  }
  if (parts.size() == 1)
    return fmt::format("{} of {}", is_told_nothing ? "nothing is told" : "little is told",
                       unknowns.name(parts.front()));
  const char* rather = is_told_nothing ? "" : "rather ";
  // The change of a number by the number itself.
  const auto relative = [&](int e) {
    const Variable& variable = unknowns.variable_of(e);
    const bool is_plain =
        variable.kind == Variable::Kind::number && !is_logarithm(variable, unknowns.unknown_of(variable));
    return direction[e] * size[e] / (is_plain ? x[variable.begin] : 1.0);
  };
  // Sums of signed numbers look like factors, at one point.
  const auto is_positive = [&](int e) {
    const Variable& variable = unknowns.variable_of(e);
    const Unknown* unknown = unknowns.unknown_of(variable);
    if (variable.kind != Variable::Kind::number) return false;
    return is_logarithm(variable, unknown) ||
           (unknown->kind == Unknown::Kind::number && unknown->parameter.range.lower >= 0.0);
  };
  const double first = relative(parts.front());
  const bool is_factor = std::all_of(parts.begin(), parts.end(),
                                     [&](int e) { return std::abs(relative(e) / first - 1.0) < k_equal; });
  if (parts.size() == 2 && std::any_of(parts.begin(), parts.end(), is_positive)) {
    const std::string both = fmt::format("{} and {}", unknowns.name(parts[0]), unknowns.name(parts[1]));
    if (is_factor) return fmt::format("{} are told {}as a ratio only", both, rather);
    if (std::all_of(parts.begin(), parts.end(), is_positive) &&
        std::abs(relative(parts[1]) / first + 1.0) < k_equal)
      return fmt::format("{} are told {}as a product only", both, rather);
  } else if (is_factor && std::all_of(parts.begin(), parts.end(), is_positive)) {
    std::string names;
    for (const int e : parts) names += (names.empty() ? "" : ", ") + unknowns.name(e);
    return fmt::format("{} are told {}but for a common factor", names, rather);
  }
  std::string text;
  for (const int e : parts) {
    const char* sign = direction[e] < 0.0 ? (text.empty() ? "-" : " - ") : (text.empty() ? "" : " + ");
    text += fmt::format("{}{:.2f} {}", sign, std::abs(direction[e]), unknowns.name(e));
  }
  return fmt::format("{} along {}", is_told_nothing ? "nothing is told" : "little is told", text);
}

/// J with what a robust loss leaves of each measurement.
Eigen::MatrixXd weighted_jacobian(const MotionFit& fit, const MotionFit::Evaluation& evaluation,
                                  const RobustLoss& loss) {
  Eigen::MatrixXd jacobian = evaluation.jacobian;
  for (const ResidualBlock& block : fit.blocks()) {
    if (block.kind != ResidualBlock::Kind::measurement) continue;
    const double s = evaluation.residuals.segment(block.begin, block.count).squaredNorm();
    jacobian.middleRows(block.begin, block.count) *= std::sqrt(loss.slope(s));
  }
  return jacobian;
}

/// The covariance that the residuals themselves speak for, in units of sizes; of directions that are told,
/// which are columns of `told`. `columns` are the entries of the tangent that are free.
Eigen::MatrixXd covariance_by_residuals(const MotionFit& fit, const MotionFit::Evaluation& evaluation,
                                        const RobustLoss& loss, const std::vector<Eigen::Index>& columns,
                                        const Eigen::VectorXd& size, const Eigen::MatrixXd& told) {
  const Eigen::Index count = told.cols();
  Eigen::MatrixXd hessian = Eigen::MatrixXd::Zero(count, count), stated = hessian, spread = hessian,
                  priors = hessian;
  int blocks = 0;
  for (const ResidualBlock& block : fit.blocks()) {
    Eigen::MatrixXd J(block.count, told.rows());
    for (Eigen::Index c = 0; c < J.cols(); ++c) {
      const Eigen::Index e = columns[static_cast<std::size_t>(c)];
      J.col(c) = size[e] * evaluation.jacobian.col(e).segment(block.begin, block.count);
    }
    const Eigen::MatrixXd along = J * told;
    const Eigen::VectorXd r = evaluation.residuals.segment(block.begin, block.count);
    const Eigen::VectorXd by_residual = along.transpose() * r;
    if (block.kind != ResidualBlock::Kind::measurement) {
      priors += along.transpose() * along;
      continue;
    }
    const double s = r.squaredNorm(), slope = loss.slope(s);
    stated += slope * along.transpose() * along;
    hessian +=
        slope * along.transpose() * along + 2.0 * loss.curvature(s) * by_residual * by_residual.transpose();
    spread += slope * slope * by_residual * by_residual.transpose();
    ++blocks;
  }
  hessian += priors;
  Eigen::LLT<Eigen::MatrixXd> inverse(hessian);
  if (inverse.info() != Eigen::Success) inverse.compute(stated + priors);  // outliers outweigh the rest
  const double freedom = static_cast<double>(blocks - count);
  const Eigen::MatrixXd half = inverse.solve(blocks / freedom * spread + priors);
  return told * inverse.solve(half.transpose()) * told.transpose();
}

bool is_at_bound(const UnknownSpace& unknowns, int entry, const Eigen::VectorXd& x, double size) {
  const Variable& variable = unknowns.variable_of(entry);
  if (variable.kind != Variable::Kind::number) return false;
  const auto [lower, upper] = unknowns.bounds(variable);
  const double near = 1e-6 * size, value = x[variable.begin];
  return value - lower <= near || upper - value <= near;
}

/// True for a variable next to a bound if the loss a tenth of its range inside is larger: the data hold it there,
/// though they cannot tell it from the bound (a restitution of 0.002 has no impacts, either).
bool is_held_by_bound(const MotionFit& fit, const Variable& variable, const Eigen::VectorXd& x, double cost,
                      const RobustLoss& loss) {
  constexpr double k_two_deviations = 2.0;  // of the cost, which is half a sum of squares
  const std::optional<double> inside = inside_of_bound(fit.unknowns(), variable, x);
  if (!inside) return false;
  Eigen::VectorXd there = x;
  there[variable.begin] = *inside;
  const MotionFit::Evaluation evaluation = fit.evaluate(there, MotionFit::Want::residuals);
  return evaluation.ok && fit.cost_of(evaluation.residuals, loss) > cost + k_two_deviations;
}

}  // namespace

const char* to_string(IntervalBasis basis) { return basis == IntervalBasis::stated ? "stated" : "residuals"; }

Identifiability identifiability_of(const MotionFit& fit, const Eigen::VectorXd& x,
                                   const MotionFit::Evaluation& evaluation, const RobustLoss& loss,
                                   IntervalBasis basis) {
  constexpr double k_open = 1.0;       // deviation in sizes of the unknowns, from which on they are not known
  constexpr double k_part = 1e-3;      // of an open direction that leaves an entry open
  constexpr double k_nothing = 1e-10;  // of the largest singular value: rounding of a Jacobian
  const UnknownSpace& unknowns = fit.unknowns();
  const Eigen::Index all = unknowns.tangent_size();
  Identifiability result;
  result.entries.assign(static_cast<std::size_t>(all), Identifiability::Entry::told);
  std::vector<Eigen::Index> free;
  Eigen::VectorXd size(all), told(all);
  for (Eigen::Index e = 0; e < all; ++e) {
    const int entry = static_cast<int>(e);
    size[e] = size_of(fit, entry, x);
    told[e] = size[e] * evaluation.jacobian.col(e).norm();
  }
  const double cost = fit.cost_of(evaluation.residuals, loss);
  for (Eigen::Index e = 0; e < all; ++e) {
    const int entry = static_cast<int>(e);
    // What nothing is told of may have drifted to a bound: that is not why.
    const bool is_told_at_bound =
        is_at_bound(unknowns, entry, x, size[e]) && told[e] > k_nothing * told.maxCoeff();
    if (is_told_at_bound ||
        (told[e] <= 1.0 / k_open && is_held_by_bound(fit, unknowns.variable_of(entry), x, cost, loss))) {
      result.entries[static_cast<std::size_t>(e)] = Identifiability::Entry::at_bound;
    } else {
      free.push_back(e);
    }
  }
  const auto count = static_cast<Eigen::Index>(free.size());
  const Eigen::Index freedom = evaluation.residuals.size() - count;
  result.reduced_chi_square =
      freedom > 0 && loss.kind == RobustLoss::Kind::square
          ? 2.0 * fit.cost_of(evaluation.residuals, loss) / static_cast<double>(freedom)
          : std::numeric_limits<double>::quiet_NaN();
  result.deviation = Eigen::VectorXd::Zero(all);
  result.covariance = Eigen::MatrixXd::Zero(all, all);
  result.correlation = Eigen::MatrixXd::Identity(all, all);
  if (count == 0) return result;

  const Eigen::MatrixXd jacobian = weighted_jacobian(fit, evaluation, loss);
  Eigen::MatrixXd scaled(jacobian.rows(), count);
  for (Eigen::Index c = 0; c < count; ++c) {
    const Eigen::Index e = free[static_cast<std::size_t>(c)];
    scaled.col(c) = size[e] * jacobian.col(e);
  }
  // R of Q R has the same singular values and right singular vectors, and is small.
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(scaled);
  const Eigen::Index rank = std::min(scaled.rows(), count);
  Eigen::MatrixXd R = Eigen::MatrixXd::Zero(count, count);
  R.topRows(rank) = qr.matrixQR().topRows(rank).triangularView<Eigen::Upper>();
  const Eigen::JacobiSVD<Eigen::MatrixXd, Eigen::NoQRPreconditioner> svd(R, Eigen::ComputeFullV);
  const Eigen::VectorXd& singular = svd.singularValues();
  const double largest = singular[0];
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(count, count);
  Eigen::Index told_count = 0;
  for (Eigen::Index k = 0; k < count; ++k) {
    const double s = singular[k];
    const Eigen::VectorXd v = svd.matrixV().col(k);
    const bool is_told = s > 0.0 && s > k_nothing * largest;
    const double deviation = is_told ? 1.0 / s : k_infinity;
    if (is_told) {
      covariance += deviation * deviation * v * v.transpose();
      result.condition = largest / s;
      told_count = k + 1;
    }
    if (deviation < k_open) continue;
    OpenDirection open;
    open.direction = Eigen::VectorXd::Zero(all);
    for (Eigen::Index c = 0; c < count; ++c) {
      const Eigen::Index e = free[static_cast<std::size_t>(c)];
      open.direction[e] = v[c];
      if (std::abs(v[c]) > k_part && !is_told)
        result.entries[static_cast<std::size_t>(e)] = Identifiability::Entry::open;
    }
    open.deviation = deviation;
    open.text = text_of(unknowns, open.direction, size, x, !is_told);
    result.open.push_back(std::move(open));
  }
  constexpr int k_least_measurements = 5;  // for each unknown, for a spread of their own
  const auto measurements = std::count_if(
      fit.blocks().begin(), fit.blocks().end(),
      [](const ResidualBlock& block) { return block.kind == ResidualBlock::Kind::measurement; });
  result.has_too_few_residuals =
      basis == IntervalBasis::residuals && measurements < k_least_measurements * told_count;
  if (basis == IntervalBasis::residuals && told_count > 0 && !result.has_too_few_residuals) {
    covariance =
        covariance_by_residuals(fit, evaluation, loss, free, size, svd.matrixV().leftCols(told_count));
  }
  // An interval as wide as the number itself is none.
  for (Eigen::Index c = 0; c < count; ++c) {
    auto& entry = result.entries[static_cast<std::size_t>(free[static_cast<std::size_t>(c)])];
    if (!(std::sqrt(covariance(c, c)) < k_open)) entry = Identifiability::Entry::open;
  }
  const auto is_told = [&](Eigen::Index e) {
    return result.entries[static_cast<std::size_t>(e)] == Identifiability::Entry::told;
  };
  for (Eigen::Index c = 0; c < count; ++c) {
    const Eigen::Index e = free[static_cast<std::size_t>(c)];
    result.deviation[e] = is_told(e) ? size[e] * std::sqrt(covariance(c, c)) : k_infinity;
    for (Eigen::Index d = 0; d < count; ++d) {
      const Eigen::Index f = free[static_cast<std::size_t>(d)];
      if (!is_told(e) || !is_told(f)) continue;
      result.covariance(e, f) = size[e] * size[f] * covariance(c, d);
      if (e != f)
        result.correlation(e, f) = covariance(c, d) / std::sqrt(covariance(c, c) * covariance(d, d));
    }
  }
  return result;
}

}  // namespace abut
