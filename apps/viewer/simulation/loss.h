/// Losses that the viewer can differentiate: functions of the state at the end.
#pragma once

#include <string>

#include "engine/model.h"
#include "engine/state.h"

namespace abut::viewer {

enum class LossKind {
  position,            ///< d . p of a body [m]
  distance_to_target,  ///< |p - target| of a body [m]
  distance_of_bodies,  ///< |p - p_other| [m]
  kinetic_energy,      ///< of all moving bodies [J]
  energy               ///< kinetic and potential [J]
};

struct Loss {
  LossKind kind = LossKind::position;
  int body = 1, other = 0;
  Vec3<double> direction = Vec3<double>::UnitZ();
  Vec3<double> target = Vec3<double>::Zero();  ///< [m]
};

[[nodiscard]] double loss_value(const Model& model, const State& state, const Loss& loss);
/// Adds dL/d(state).
void add_loss_gradient(const Model& model, const State& state, const Loss& loss, StateTangent& bar);
[[nodiscard]] std::string loss_name(const Model& model, const Loss& loss);
[[nodiscard]] const char* loss_unit(LossKind kind);

}  // namespace abut::viewer
