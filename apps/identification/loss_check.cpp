#include "apps/identification/loss_check.h"

#include <algorithm>
#include <cmath>

#include <spdlog/fmt/fmt.h>

#include "apps/identification/motion_fit.h"
#include "dynamics/gradient_check/gradient_check.h"
#include "engine/count_text.h"
#include "engine/random.h"

namespace abut {

LossCheck check_loss(const ExperimentFile& file, std::uint64_t seed, int threads) {
  Experiment experiment = file.experiment;
  StepConfig& config = experiment.scene.config.step;
  config.tolerance = std::min(config.tolerance, k_gradient_check_tolerance);
  const MotionFit fit(experiment, threads);
  const UnknownSpace& unknowns = fit.unknowns();
  const RobustLoss& loss = file.search.loss;
  LossCheck check;

  // A per cent of an entry's size is the unit in which everything is told.
  constexpr double k_unit = 0.01;
  Eigen::VectorXd x = unknowns.initial();
  Eigen::VectorXd unit(unknowns.tangent_size()), off(unknowns.tangent_size());
  Random random(seed);
  for (int e = 0; e < unknowns.tangent_size(); ++e) {
    const Variable& variable = unknowns.variable_of(e);
    const bool is_plain =
        variable.kind == Variable::Kind::number && !unknowns.unknown_of(variable)->logarithmic;
    const double size = is_plain ? std::abs(x[variable.begin]) : 1.0;
    unit[e] = k_unit * (size > 0.0 ? size : 1.0);
    off[e] = unit[e] * random.uniform(-1.0, 1.0);
    check.names.push_back(unknowns.name(e));
  }
  x = unknowns.plus(x, off);
  const MotionFit::Evaluation at_point = fit.evaluate(x, MotionFit::Want::gradient, loss);
  if (!at_point.ok) {
    check.failure = "a per cent off the guess: " + at_point.failure;
    return check;
  }
  const Eigen::VectorXd gradient = at_point.gradient.cwiseProduct(unit);
  const double nominal = fit.cost_of(at_point.residuals, loss);
  constexpr double k_nothing = 1e-10;  // of the loss: derivatives that are as good as zero
  const double largest = std::max(gradient.cwiseAbs().maxCoeff(), k_nothing * nominal);
  const double scale = largest > 0.0 ? 1.0 / largest : 1.0;
  for (int e = 0; e < unknowns.tangent_size(); ++e) {
    GradientSample sample;
    sample.adjoint = scale * gradient[e];
    sample.largest = 1.0;
    score_by_differences(
        [&](double h) {
          Eigen::VectorXd tangent = Eigen::VectorXd::Zero(unknowns.tangent_size());
          tangent[e] = h * unit[e];
          const MotionFit::Evaluation moved =
              fit.evaluate(unknowns.plus(x, tangent), MotionFit::Want::residuals);
          return moved.ok ? scale * (fit.cost_of(moved.residuals, loss) - nominal)
                          : std::numeric_limits<double>::quiet_NaN();
        },
        sample);
    check.samples.push_back(sample);
  }
  check.summary = summarize(check.samples);
  return check;
}

std::string text_of(const LossCheck& check) {
  if (!check.failure.empty()) return check.failure + "\n";
  Table table({"unknown", "adjoint", "differences", "relative error", ""});
  for (std::size_t e = 0; e < check.samples.size(); ++e) {
    const GradientSample& sample = check.samples[e];
    table.add({check.names[e], fmt::format("{:.9g}", sample.adjoint),
               fmt::format("{:.9g}", sample.difference), fmt::format("{:.1e}", sample.relative_error),
               sample.non_finite ? "not finite" : (sample.unresolved ? "unresolved" : "")});
  }
  const GradientCheckSummary& s = check.summary;
  return table.text(1) + fmt::format(
                             "relative error of {}: median {:.1e}, largest {:.1e}; {} "
                             "unresolved, {} not finite\n",
                             count_text(s.samples, "derivative"), s.median_relative_error,
                             s.max_relative_error, s.unresolved, s.non_finite);
}

Json json_of(const LossCheck& check) {
  Json json{{"samples", check.summary.samples},
            {"median_relative_error", check.summary.median_relative_error},
            {"max_relative_error", check.summary.max_relative_error},
            {"unresolved", check.summary.unresolved},
            {"non_finite", check.summary.non_finite},
            {"failure", check.failure},
            {"unknowns", Json::array()}};
  for (std::size_t e = 0; e < check.samples.size(); ++e) {
    const GradientSample& sample = check.samples[e];
    json["unknowns"].push_back({{"name", check.names[e]},
                                {"adjoint", sample.adjoint},
                                {"difference", sample.difference},
                                {"relative_error", sample.relative_error},
                                {"unresolved", sample.unresolved}});
  }
  return json;
}

}  // namespace abut
