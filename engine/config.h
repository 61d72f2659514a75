/// Every setting of a simulation that is not part of the model.
#pragma once

#include <string>

#include "engine/contact_config.h"

namespace abut {

enum class ContactLaw { smooth_coulomb, penalty, lcp, relaxed_complementarity };

/// Settings of a time step. All smoothing is scale-free: lengths and speeds follow from h and
/// `acceleration_scale`.
struct StepConfig {
  double h = 2e-3;  ///< time step [s], > 0
  ContactLaw law = ContactLaw::smooth_coulomb;
  double near_rigid_factor = 0.1;   ///< beta [-], > 0: compliance beta^2/(4 pi^2) W added to every contact
  double dissipation_steps = 10.0;  ///< default tau_d in time steps [-], > 0 (penalty law: default tau_d = 0)
  double stiction_factor = 0.01;    ///< v_s = stiction_factor * g * h [-], > 0
  double normal_smoothing_factor = 0.02;  ///< tau_v = normal_smoothing_factor * g * h [-], > 0
  double acceleration_scale =
      -1.0;                        ///< g of all such factors [m/s^2]; negative: |gravity|, or 9.81 without it
  double push_out_factor = 50.0;   ///< overlap is resolved at push_out_factor * g * h [m/s] at most [-], > 0
  int friction_repeats = 2;        ///< passes with friction after the frictionless one, 1 to 100
  double tolerance = 1e-8;         ///< relative residual of every pass [-], > 0
  int max_iterations = 100;        ///< Newton iterations of a pass, >= 1
  double penalty_stiffness = 1e4;  ///< penalty law where a pair is rigid: stiffness [N/m], > 0
  double penalty_stiction_factor = 5.0;  ///< penalty law: v_s = penalty_stiction_factor * g * h [-], > 0
  double complementarity_factor = 1e-4;  ///< complementarity laws: velocity times impulse of every contact at
                                         ///< the solution, over (g h)^2/W [-], > 0
  double restitution_threshold_factor =
      3.0;  ///< lcp law: slower approaches than this times g h do not bounce
            ///< [-], > 0
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
