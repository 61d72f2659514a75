/// Losses that the viewer can differentiate: functions of the state at the end, or of what was measured.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/identification/experiment.h"
#include "dynamics/simulator.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut::viewer {

enum class LossKind {
  position,            ///< d . p of a body [m]
  distance_to_target,  ///< |p - target| of a body [m]
  distance_of_bodies,  ///< |p - p_other| [m]
  kinetic_energy,      ///< of all moving bodies [J]
  energy,              ///< kinetic and potential [J]
  measurements         ///< 1/2 sum |r|^2 of a motion's measurements and goals [-]
};

struct Loss {
  LossKind kind = LossKind::position;
  int body = 1, other = 0;
  Vec3<double> direction = Vec3<double>::UnitZ();
  Vec3<double> target = Vec3<double>::Zero();      ///< [m]
  std::shared_ptr<const MeasuredMotion> motion{};  ///< of `measurements`
};

/// Of the last state; not of measurements.
[[nodiscard]] double loss_value(const Model& model, const State& state, const Loss& loss);
/// Adds dL/d(state), likewise.
void add_loss_gradient(const Model& model, const State& state, const Loss& loss, StateTangent& bar);
[[nodiscard]] std::string loss_name(const Model& model, const Loss& loss);
[[nodiscard]] const char* loss_unit(LossKind kind);

/// Of all states of a rollout. Measurements before its start or past its end do not count; throws
/// std::invalid_argument where none is left.
[[nodiscard]] double rollout_loss(const Simulator& simulator, const std::vector<State>& states,
                                  const Loss& loss);
/// dL/d(state k) for each of them.
[[nodiscard]] std::vector<StateTangent> rollout_loss_gradient(const Simulator& simulator,
                                                              const std::vector<State>& states,
                                                              const Loss& loss);

/// Of dL/d(a number with this unit): "m/kg", "m/(m/s)", "" without one.
[[nodiscard]] std::string derivative_unit(std::string_view loss, std::string_view number);

}  // namespace abut::viewer
