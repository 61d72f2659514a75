#include "dynamics/solver/smooth_coulomb_settings.h"

#include <algorithm>
#include <numbers>

namespace abut {

smooth_coulomb::Settings smooth_coulomb_settings(const StepConfig& config, double speed_scale) {
  smooth_coulomb::Settings s;
  s.h = config.h;
  s.near_rigid =
      config.near_rigid_factor * config.near_rigid_factor / (4.0 * std::numbers::pi * std::numbers::pi);
  s.velocity_smoothing = config.normal_smoothing_factor * speed_scale;
  s.stiction_speed = config.stiction_factor * speed_scale;
  s.push_out_speed = config.push_out_factor * speed_scale;
  s.impact_speed = std::max(config.impact_speed, 3.0 * speed_scale);
  return s;
}

smooth_coulomb::Parameters smooth_coulomb_parameters(const ContactRows& rows, std::size_t i) {
  const ContactRow& row = rows.rows[i];
  const PairMaterial& material = rows.pairs[static_cast<std::size_t>(row.pair)].material;
  return {row.distance, row.weight, row.inverse_mass, material.compliance, material.dissipation_time};
}

}  // namespace abut
