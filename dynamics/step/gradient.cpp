#include "dynamics/step/gradient.h"

#include <cmath>
#include <utility>

#include "engine/parameters.h"

namespace abut {

void ModelGradient::set_zero(const Model& model) {
  bodies.resize(model.bodies.size());
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    GeometryGradient geometry = std::move(bodies[b].geometry);  // keeps its memory
    bodies[b] = {};
    bodies[b].geometry = std::move(geometry);
    bodies[b].geometry.set_zero(model.bodies[b]);
  }
  pairs.assign(model.pair_overrides.size(), {});
  joints.assign(model.joints.size(), {});
  couplings.assign(model.couplings.size(), {});
  gravity.setZero();
}

namespace {

/// Harmonic mean: d/dmu_A = 2 mu_B^2/(mu_A + mu_B)^2. Where both are 0 it is not differentiable; both equal
/// gives 1/2.
double friction_slope(double other, double sum) {
  return sum > 0.0 ? 2.0 * other * other / (sum * sum) : 0.5;
}

}  // namespace

void pair_material_vjp(const Model& model, int body_A, int body_B, const PairMaterialBar& bar,
                       ModelGradient& gradient) {
  PairMaterialBar from_bodies = bar;
  for (std::size_t i = 0; i < model.pair_overrides.size(); ++i) {
    const PairOverride& pair = model.pair_overrides[i];
    if (pair.body_A != body_A || pair.body_B != body_B) continue;
    PairGradient& out = gradient.pairs[i];
    for (const MaterialParameter& parameter : k_material_parameters) {
      if (std::isnan(pair.*parameter.of_pair)) continue;
      out.*parameter.slot += from_bodies.*parameter.slot;
      from_bodies.*parameter.slot = 0.0;
    }
  }
  const auto a = static_cast<std::size_t>(body_A), b = static_cast<std::size_t>(body_B);
  const double mu_A = model.bodies[a].material.friction, mu_B = model.bodies[b].material.friction,
               sum = mu_A + mu_B;
  gradient.bodies[a].friction += friction_slope(mu_B, sum) * from_bodies.friction;
  gradient.bodies[b].friction += friction_slope(mu_A, sum) * from_bodies.friction;
  for (const std::size_t body : {a, b}) {
    gradient.bodies[body].compliance += from_bodies.compliance;
    gradient.bodies[body].dissipation_time += 0.5 * from_bodies.dissipation_time;
    gradient.bodies[body].restitution += 0.5 * from_bodies.restitution;
  }
}

PairMaterialBar pair_material_jvp(const Model& model, int body_A, int body_B, const BodyDirection& A_dot,
                                  const BodyDirection& B_dot) {
  const double mu_A = model.bodies[static_cast<std::size_t>(body_A)].material.friction,
               mu_B = model.bodies[static_cast<std::size_t>(body_B)].material.friction, sum = mu_A + mu_B;
  PairMaterialBar dot;
  dot.friction = friction_slope(mu_B, sum) * A_dot.friction + friction_slope(mu_A, sum) * B_dot.friction;
  dot.compliance = A_dot.compliance + B_dot.compliance;
  dot.dissipation_time = 0.5 * (A_dot.dissipation_time + B_dot.dissipation_time);
  dot.restitution = 0.5 * (A_dot.restitution + B_dot.restitution);
  for (const PairOverride& pair : model.pair_overrides) {
    if (pair.body_A != body_A || pair.body_B != body_B) continue;
    for (const MaterialParameter& parameter : k_material_parameters) {
      if (!std::isnan(pair.*parameter.of_pair)) dot.*parameter.slot = 0.0;
    }
  }
  return dot;
}

}  // namespace abut
