/// Measured motions that a program made up, of which the truth is known.
#pragma once

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "apps/identification/motion_fit.h"
#include "apps/identification/synthetic_data.h"
#include "dynamics/gradient_check/gradient_check.h"
#include "engine/random.h"
#include "tests/apps/program.h"

namespace abut::test {

/// A box and a ball that slide and roll over a floor, measured between the steps.
struct IdentificationCase {
  TemporaryFolder folder;
  Experiment experiment;
  Random noise;
  bool has_noise;  ///< what is measured is off by its standard deviation

  explicit IdentificationCase(const std::vector<std::string>& unknowns, int motions = 2,
                              std::uint64_t noise_seed = 0)
      : noise(noise_seed), has_noise(noise_seed > 0) {
    experiment.scene = read_scene(folder.write("scene.toml", k_scene));
    StepConfig& config = experiment.scene.config.step;
    config.acceleration_scale = 9.81;
    config.tolerance = k_gradient_check_tolerance;
    for (Body& body : experiment.scene.model.bodies) {
      body.material.dissipation_time = 0.02;
      body.material.stiffness = 2e4;
    }
    for (const std::string& name : unknowns) add(name);
    for (int m = 0; m < motions; ++m) {
      MeasuredMotion motion;
      motion.name = "motion " + std::to_string(m);
      motion.settings.emplace_back(find_parameter(experiment.scene, "body.box, tilted.linear_velocity.y"),
                                   0.2 * m);
      add_poses(motion);
      experiment.motions.push_back(motion);
    }
    measure();
  }
  /// A number of the scene, whose value there is the truth and the guess.
  Unknown& add(const std::string& name, bool in_each_motion = false) {
    Unknown unknown;
    unknown.name = name;
    unknown.parameter = find_parameter(experiment.scene, name);
    unknown.in_each_motion = in_each_motion;
    unknown.initial = value_of(experiment.scene, unknown.parameter);
    experiment.unknowns.push_back(unknown);
    return experiment.unknowns.back();
  }
  /// Of both bodies, at times that are no multiples of the step; of the ball without rotations.
  void add_poses(MeasuredMotion& motion) const {
    for (int k = 3; k < 40; k += 4) {
      for (const int body : {1, 2}) {
        MeasuredPose pose;
        pose.body = body;
        if (body == 1) pose.q_WA = Quat<double>::Identity();
        pose.position_noise = 1e-3;
        pose.rotation_noise = 1e-2;
        motion.measurements.push_back({(k + 0.3 + 0.01 * k) * experiment.scene.config.step.h, pose});
      }
    }
  }
  /// What is measured of the true motions.
  void measure() {
    const MotionFit fit(experiment);
    experiment = with_simulated_data(fit, fit.unknowns().initial(), has_noise ? &noise : nullptr);
  }
};

}  // namespace abut::test
