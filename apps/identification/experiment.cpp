#include "apps/identification/experiment.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <spdlog/fmt/fmt.h>

#include "dynamics/parameters/scene_parameter_derivatives.h"
#include "engine/check.h"
#include "engine/count_text.h"
#include "engine/detector_choice.h"

namespace abut {
namespace {

void require_findable(const SceneParameter& parameter, const Scene& scene) {
  require(is_differentiable(parameter),
          fmt::format("'{}' is a setting of the time step: it cannot be found", parameter.name));
  const auto has_override = [&](const PairOverride& pair) {
    return pair.body_A == parameter.body_A && pair.body_B == parameter.body_B;
  };
  const auto& pairs = scene.model.pair_overrides;
  require(!parameter.is_of_pair() || std::any_of(pairs.begin(), pairs.end(), has_override),
          fmt::format("'{}': the scene gives the pair no value of its own to start from", parameter.name));
}

void validate_number(const Unknown& unknown) {
  const SceneParameter& parameter = unknown.parameter;
  for (const double bound : {unknown.lower, unknown.upper}) {
    if (std::isfinite(bound)) require_allowed(parameter, bound);
  }
  require_allowed(parameter, unknown.initial);
  if (unknown.truth) require_allowed(parameter, *unknown.truth);
  require(!vanishes_at_zero(parameter.kind) || unknown.initial > 0.0,
          fmt::format("'{}': initial = {}, allowed: > 0", unknown.name, unknown.initial));
  require(!unknown.logarithmic ||
              (unknown.initial > 0.0 && (unknown.lower >= 0.0 || !std::isfinite(unknown.lower))),
          fmt::format("'{}': logarithmic, so that initial = {} and lower = {} have to be > 0 and >= 0",
                      unknown.name, unknown.initial, unknown.lower));
}

void validate_control(const Unknown& unknown, const Scene& scene) {
  require(unknown.motor >= 0 || !scene.model.bodies[static_cast<std::size_t>(unknown.body)].fixed,
          fmt::format("'{}': a fixed body cannot be pushed", unknown.name));
  require(unknown.from >= scene.initial.time && unknown.from < unknown.until && std::isfinite(unknown.until),
          fmt::format("'{}': from {} s until {} s, allowed: from the start of the scene on, and from < until",
                      unknown.name, unknown.from, unknown.until));
  const double piece = (unknown.until - unknown.from) / unknown.pieces;
  require(unknown.pieces >= 1 && piece >= scene.config.step.h * (1.0 - 1e-9),
          fmt::format("'{}': {} of {:.4g} s, allowed: each at least a time step, {} s", unknown.name,
                      count_text(unknown.pieces, "piece"), piece, scene.config.step.h));
}

void validate(const Unknown& unknown, const Scene& scene) {
  if (unknown.kind == Unknown::Kind::orientation) {
    require(!unknown.prior, fmt::format("'{}': an orientation has no prior", unknown.name));
    require(!unknown.logarithmic, fmt::format("'{}': an orientation has no logarithm", unknown.name));
    return;
  }
  if (unknown.kind == Unknown::Kind::number) require_findable(unknown.parameter, scene);
  require(unknown.lower < unknown.upper, fmt::format("'{}': lower = {} does not lie below upper = {}",
                                                     unknown.name, unknown.lower, unknown.upper));
  require(unknown.lower <= unknown.initial && unknown.initial <= unknown.upper,
          fmt::format("'{}': initial = {} does not lie between {} and {}", unknown.name, unknown.initial,
                      unknown.lower, unknown.upper));
  require(std::isfinite(unknown.initial),
          fmt::format("'{}': initial = {}, allowed: finite", unknown.name, unknown.initial));
  if (unknown.kind == Unknown::Kind::number) {
    validate_number(unknown);
  } else {
    validate_control(unknown, scene);
  }
  if (!unknown.prior) return;
  require(std::isfinite(unknown.prior->mean) && unknown.prior->deviation > 0.0 &&
              std::isfinite(unknown.prior->deviation),
          fmt::format("'{}': prior of mean {} and deviation {}, allowed: finite, deviation > 0", unknown.name,
                      unknown.prior->mean, unknown.prior->deviation));
}

bool is_turn(const Unknown& unknown) {
  return unknown.kind == Unknown::Kind::number &&
         unknown.parameter.kind == SceneParameter::Kind::rotation_vector;
}

/// Whether a number is the start of a body that no force moves.
bool moves_fixed_body(const SceneParameter& parameter, const Scene& scene) {
  return parameter.is_initial_state() && !parameter.is_of_joint() &&
         scene.model.bodies[static_cast<std::size_t>(parameter.body_A)].fixed;
}

/// Whether a measurement depends on the geometry of a body in a way of which the derivative is not known.
bool has_unknown_geometry(const Measurement& measurement, const Unknown& unknown) {
  const auto* clearance = std::get_if<Clearance>(&measurement.what);
  if (clearance == nullptr || unknown.kind != Unknown::Kind::number) return false;
  const SceneParameter& parameter = unknown.parameter;
  return parameter.is_of_geometry() &&
         (parameter.body_A == clearance->body_A || parameter.body_A == clearance->body_B);
}

/// Starts of later segments are those of moving bodies: whatever else moves has to be known.
void validate_shooting(const Experiment& experiment) {
  if (experiment.shooting.segments == 1) return;
  const Scene& scene = experiment.scene;
  for (int b = 0; b < scene.model.body_count(); ++b) {
    const auto i = static_cast<std::size_t>(b);
    const Body& body = scene.model.bodies[i];
    require(!body.fixed || (scene.initial.V_WB[i].isZero(0.0) && body.oscillation.frequency == 0.0),
            fmt::format("segments: body '{}' is fixed and moves, which is not known how to cut", body.name));
  }
  for (const Unknown& unknown : experiment.unknowns) {
    if (unknown.kind == Unknown::Kind::orientation) {
      require(!scene.model.bodies[static_cast<std::size_t>(unknown.body)].fixed,
              fmt::format("segments: not together with the unknown '{}'", unknown.name));
    }
    if (unknown.kind != Unknown::Kind::number) continue;
    require(unknown.parameter.kind != SceneParameter::Kind::center_of_mass &&
                !moves_fixed_body(unknown.parameter, scene),
            fmt::format("segments: not together with the unknown '{}'", unknown.name));
  }
}

/// Whether two unknowns fight for the same thing.
bool overlap(const Unknown& a, const Unknown& b) {
  using Kind = Unknown::Kind;
  if (a.kind == Kind::orientation && is_turn(b)) return a.body == b.parameter.body_A;
  if (b.kind == Kind::orientation && is_turn(a)) return b.body == a.parameter.body_A;
  if (a.kind != b.kind) return false;
  if (a.kind == Kind::number) {
    const bool are_masses =
        a.parameter.is_mass() && b.parameter.is_mass() && a.parameter.body_A == b.parameter.body_A;
    return are_masses || is_same(a.parameter, b.parameter);
  }
  if (a.body != b.body || a.motor != b.motor) return false;
  if (a.kind == Kind::orientation) return true;
  return a.component == b.component && a.from < b.until && b.from < a.until;
}

/// Throws where joints and bodies at the start are unknown together, or one of them where the other is set.
void validate_starts(const Experiment& experiment) {
  std::vector<SceneParameter> unknowns;
  for (const Unknown& unknown : experiment.unknowns) {
    if (unknown.kind == Unknown::Kind::control) continue;
    SceneParameter& parameter = unknowns.emplace_back(unknown.parameter);
    if (unknown.kind != Unknown::Kind::orientation) continue;
    parameter.name = unknown.name;
    parameter.kind = ParameterKind::rotation_vector;
    parameter.body_A = unknown.body;
  }
  require_known_derivatives(experiment.scene, unknowns);
  for (const MeasuredMotion& motion : experiment.motions) {
    for (const auto& [set, value] : motion.settings) {
      for (const SceneParameter& unknown : unknowns)
        require_known_derivatives(experiment.scene, std::array{unknown, set});
    }
  }
}

}  // namespace

void validate(const Experiment& experiment) {
  require(!experiment.unknowns.empty(), "there is no unknown");
  require(!experiment.motions.empty(), "there is no motion");
  const bool has_manifold_only =
      !needs_other_detectors(experiment.scene.model, experiment.scene.config.step.contact);
  for (std::size_t i = 0; i < experiment.unknowns.size(); ++i) {
    const Unknown& unknown = experiment.unknowns[i];
    validate(unknown, experiment.scene);
    require(unknown.kind != Unknown::Kind::number || !unknown.parameter.is_of_geometry() || has_manifold_only,
            fmt::format("'{}': shapes and centres of mass can be unknown with detector = \"manifold\" only",
                        unknown.name));
    for (std::size_t k = 0; k < i; ++k) {
      require(!overlap(experiment.unknowns[k], unknown),
              fmt::format("'{}' is asked for twice", unknown.name));
    }
    for (const MeasuredMotion& motion : experiment.motions) {
      for (const auto& setting : motion.settings) {
        Unknown set;
        set.parameter = setting.first;
        require(!overlap(set, unknown),
                fmt::format("'{}' is unknown, and set in motion '{}'", unknown.name, motion.name));
      }
      for (const Measurement& measurement : motion.measurements) {
        require(!has_unknown_geometry(measurement, unknown),
                fmt::format("'{}': the derivative of a clearance by shapes is not known", unknown.name));
      }
    }
  }
  validate_shooting(experiment);
  validate_starts(experiment);
  for (const MeasuredMotion& motion : experiment.motions) {
    require(!motion.measurements.empty(), fmt::format("motion '{}' has no measurement", motion.name));
    for (std::size_t i = 0; i < motion.settings.size(); ++i) {
      Unknown later, earlier;
      later.parameter = motion.settings[i].first;
      for (std::size_t k = 0; k < i; ++k) {
        earlier.parameter = motion.settings[k].first;
        require(!overlap(later, earlier),
                fmt::format("motion '{}' sets the same by '{}' and '{}'", motion.name, earlier.parameter.name,
                            later.parameter.name));
      }
    }
    for (const auto& [parameter, value] : motion.settings) {
      require(parameter.name != "simulation.time_step",
              fmt::format("motion '{}': all motions have the time step of the scene", motion.name));
      require_allowed(parameter, value);
    }
    const int steps = step_count(experiment, motion);
    require(experiment.shooting.segments >= 1 &&
                (experiment.shooting.segments == 1 || experiment.shooting.segments <= steps),
            fmt::format("motion '{}': {} of {}, allowed: 1 or more, a step each", motion.name,
                        count_text(experiment.shooting.segments, "segment"), count_text(steps, "step")));
  }
}

int step_count(const Experiment& experiment, const MeasuredMotion& motion) {
  const double duration = motion.measurements.back().time - experiment.scene.initial.time;
  const double steps = std::ceil(duration / experiment.scene.config.step.h - 1e-9);
  constexpr double k_most = 1e6;
  require(steps <= k_most,
          fmt::format("motion '{}' takes {:.3g} steps, allowed: at most {:.0g}; are its times "
                      "seconds?",
                      motion.name, steps, k_most));
  return std::max(0, static_cast<int>(steps));
}

}  // namespace abut
