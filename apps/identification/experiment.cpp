#include "apps/identification/experiment.h"

#include <algorithm>
#include <cmath>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/scene_parameter_derivatives.h"
#include "engine/check.h"

namespace abut {
namespace {

bool is_same(const SceneParameter& a, const SceneParameter& b) {
  return a.kind == b.kind && a.index == b.index && a.body_A == b.body_A && a.body_B == b.body_B;
}

void validate(const Unknown& unknown, const Scene& scene) {
  const SceneParameter& parameter = unknown.parameter;
  const std::string& name = parameter.name;
  require(is_differentiable(parameter),
          fmt::format("'{}' is a setting of the time step: it cannot be found", name));
  const auto has_override = [&](const PairOverride& pair) {
    return pair.body_A == parameter.body_A && pair.body_B == parameter.body_B;
  };
  const auto& pairs = scene.model.pair_overrides;
  require(!parameter.is_of_pair() || std::any_of(pairs.begin(), pairs.end(), has_override),
          fmt::format("'{}': the scene gives the pair no value of its own to start from", name));
  require(unknown.lower < unknown.upper,
          fmt::format("'{}': lower = {} does not lie below upper = {}", name, unknown.lower, unknown.upper));
  require(unknown.lower <= unknown.initial && unknown.initial <= unknown.upper,
          fmt::format("'{}': initial = {} does not lie between {} and {}", name, unknown.initial,
                      unknown.lower, unknown.upper));
  require(std::isfinite(unknown.initial),
          fmt::format("'{}': initial = {}, allowed: finite", name, unknown.initial));
  for (const double bound : {unknown.lower, unknown.upper}) {
    if (std::isfinite(bound)) require_allowed(parameter, bound);
  }
  require_allowed(parameter, unknown.initial);
  if (!unknown.prior) return;
  require(std::isfinite(unknown.prior->mean) && unknown.prior->deviation > 0.0 &&
              std::isfinite(unknown.prior->deviation),
          fmt::format("'{}': prior of {} +- {}, allowed: finite, deviation > 0", name, unknown.prior->mean,
                      unknown.prior->deviation));
}

}  // namespace

void validate(const Experiment& experiment) {
  require(!experiment.unknowns.empty(), "there is no unknown");
  require(!experiment.motions.empty(), "there is no measured motion");
  for (std::size_t i = 0; i < experiment.unknowns.size(); ++i) {
    const Unknown& unknown = experiment.unknowns[i];
    validate(unknown, experiment.scene);
    for (std::size_t k = 0; k < i; ++k) {
      require(!is_same(experiment.unknowns[k].parameter, unknown.parameter),
              fmt::format("'{}' is asked for twice", unknown.parameter.name));
    }
    for (const MeasuredMotion& motion : experiment.motions) {
      for (const auto& setting : motion.settings) {
        require(!is_same(setting.first, unknown.parameter),
                fmt::format("'{}' is unknown, and set in motion '{}'", unknown.parameter.name, motion.name));
      }
    }
  }
  for (const MeasuredMotion& motion : experiment.motions) {
    require(!motion.measurements.empty(), fmt::format("motion '{}' has no measurement", motion.name));
    for (const auto& [parameter, value] : motion.settings) require_allowed(parameter, value);
  }
}

}  // namespace abut
