/// Every setting of a simulation that is not part of the model.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/contact_config.h"

namespace abut {

enum class ContactLaw { smooth_coulomb, penalty, convex_cone, impedance, lcp, relaxed_complementarity };

/// MuJoCo's parameters of a contact, in its order; what they do: dynamics/contact_laws/impedance.h.
struct ImpedanceConfig {
  std::array<double, 2> solref{0.02, 1.0};  ///< time constant [s] > 0, damping ratio [-] > 0
  /// d_0 and d_w in [0, 1] (d_w > 0), width [m] > 0, midpoint [-] in (0, 1), power [-] >= 1
  std::array<double, 5> solimp{0.0, 0.95, 1e-3, 0.5, 2.0};
  double impratio = 1.0;  ///< R_n/R_t [-], > 0
};

/// How overlap is resolved.
///   bias   by the contact law: bodies leave each other with a velocity
///   split  by displacements alone, which create no kinetic energy (smooth Coulomb law)
enum class PushOut { bias, split };

/// Every law by the word that scenes call it.
[[nodiscard]] std::span<const std::pair<std::string_view, ContactLaw>> contact_laws();
[[nodiscard]] std::string_view to_string(ContactLaw law);

/// Settings of a time step. All smoothing is scale-free: lengths and speeds follow from h and
/// `acceleration_scale`.
struct StepConfig {
  double h = 2e-3;  ///< time step [s], > 0
  ContactLaw law = ContactLaw::smooth_coulomb;
  double near_rigid_factor = 0.1;   ///< beta [-], > 0: compliance beta^2/(4 pi^2) W added to every contact
  double dissipation_steps = 10.0;  ///< default tau_d in time steps [-], > 0
  double stiction_factor = 0.01;    ///< v_s = stiction_factor * g * h [-], > 0
  double normal_smoothing_factor = 0.02;  ///< tau_v = normal_smoothing_factor * g * h [-], > 0
  double acceleration_scale =
      -1.0;  ///< g of all such factors [m/s^2]; negative: max(|gravity|, 0.00981), or 9.81 without it
  double push_out_factor = 50.0;  ///< rigid overlap goes at push_out_factor * g * h [m/s] at most [-], > 0
  PushOut push_out = PushOut::bias;
  /// Speed of approach above which a contact with restitution is an impact [m/s], > 0; v_thr = max(impact_speed,
  /// 3 g h). Restitution fades in between 5/8 and 11/8 of v_thr (dynamics/contact_laws/impact.h).
  double impact_speed = 0.05;
  /// Restitution is reduced where an impact would gain kinetic energy (dynamics/solver/impact_solver.h).
  bool passive_impacts = true;
  bool adaptive_substeps = false;    ///< steps are halved where penetration grows by more than ...
  double penetration_growth = 1e-3;  ///< ... this in one substep [m], > 0
  /// Relative residual of a solution [-], > 0. One that rounding keeps above it counts as solved; the step
  /// warns of it (dynamics/step/step_warnings.h).
  double tolerance = 1e-9;
  int max_iterations = 60;               ///< of Newton's method from each start, at most, >= 1
  double penalty_stiffness = 1e4;        ///< penalty law where a pair is rigid: stiffness [N/m], > 0
  double penalty_stiction_factor = 5.0;  ///< penalty law: v_s = penalty_stiction_factor * g * h [-], > 0
  double speed_limit = 1e5;         ///< a step that leaves a point of a body faster [m/s] has failed, > 0
  double penetration_limit = 2.0;   ///< so has one that finds a contact deeper [smaller body's size], > 0
  double tangential_factor = 1e-3;  ///< sigma [-], > 0: convex cone law, compliance sigma W of friction
  ImpedanceConfig impedance;        ///< impedance law
  double complementarity_factor = 1e-4;  ///< complementarity laws: velocity times impulse of every contact at
                                         ///< the solution, over (g h)^2/W [-], > 0
  ContactConfig contact;
};

/// Throws std::invalid_argument naming every bad field and its value.
void validate(const StepConfig& config);

/// A scene as read from its file.
struct RunConfig {
  StepConfig step;
  int steps = 1000;  ///< number of steps of a rollout, >= 1
};

}  // namespace abut
