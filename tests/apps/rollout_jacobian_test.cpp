#include "apps/identification/rollout_jacobian.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "apps/identification/motion_fit.h"
#include "apps/identification/synthetic_data.h"
#include "dynamics/gradient_check/gradient_check.h"
#include "dynamics/gradient_check/gradient_sample.h"
#include "tests/support/all_parameters_scene.h"
#include "tests/support/close.h"

namespace abut::test {
namespace {

using Want = MotionFit::Want;

constexpr int k_jacobian_steps = 40;

/// The scene of all parameters, in which nothing touches at first.
Scene lifted_scene() {
  Scene scene = all_parameters_scene(k_gradient_check_tolerance);
  for (const std::size_t b : {1, 2}) {
    scene.initial.X_WB[b].p.z() += 0.008;
    scene.initial.V_WB[b][5] = -0.4;
  }
  scene.initial.X_WB[2].p.x() += 0.02;
  for (const std::size_t b : {8, 9}) scene.initial.X_WB[b].p.z() += 0.015;
  return scene;
}

/// Poses and twists of all moving bodies halfway and at the end, in metres and radians; unknown are some
/// numbers of the scene.
Experiment experiment_of(const Scene& scene, const std::vector<SceneParameter>& parameters) {
  Experiment experiment;
  experiment.scene = scene;
  for (const SceneParameter& parameter : parameters) {
    Unknown unknown;
    unknown.name = parameter.name;
    unknown.parameter = parameter;
    unknown.initial = value_of(scene, parameter);
    experiment.unknowns.push_back(unknown);
  }
  MeasuredMotion motion;
  motion.name = "motion";
  for (const int step : {k_jacobian_steps / 2, k_jacobian_steps}) {
    const double time = step * scene.config.step.h;
    for (int b = 0; b < scene.model.body_count(); ++b) {
      if (scene.model.bodies[static_cast<std::size_t>(b)].fixed) continue;
      MeasuredPose pose;
      pose.body = b;
      pose.q_WA = Quat<double>::Identity();
      pose.position_noise = pose.rotation_noise = 1.0;
      motion.measurements.push_back({time, pose});
      motion.measurements.push_back({time, MeasuredTwist{b, Vec6<double>::Zero(), 1.0, 1.0}});
    }
  }
  experiment.motions.push_back(motion);
  const MotionFit fit(experiment);
  return with_simulated_data(fit, fit.unknowns().initial(), nullptr);
}

/// Numbers of steps with contacts, and without.
std::pair<int, int> touching_steps(const Scene& scene) {
  const Trajectory trajectory =
      Simulator(scene.model, scene.config.step).rollout(scene.initial, k_jacobian_steps);
  REQUIRE(trajectory.ok());
  std::pair<int, int> count{0, 0};
  for (const StepRecord& record : trajectory.records)
    ++(record.substeps.front().features.empty() ? count.second : count.first);
  return count;
}

}  // namespace

TEST_CASE("rollout_jacobian: every parameter has the derivatives of differences, forwards and backwards",
          "[apps][derivative]") {
  const Scene scene = lifted_scene();
  const auto [touching, free] = touching_steps(scene);
  CHECK(touching > 10);
  CHECK(free > 5);
  std::map<ParameterKind, std::vector<SceneParameter>> of_kind;
  for (const SceneParameter& parameter : differentiable_parameters(scene)) {
    const bool is_at_bound =
        parameter.kind == ParameterKind::restitution && value_of(scene, parameter) == 0.0;
    if (!is_at_bound) of_kind[parameter.kind].push_back(parameter);
  }
  std::set<ParameterKind> felt;
  for (const auto& [kind, parameters] : of_kind) {
    const Experiment experiment = experiment_of(scene, parameters);
    MotionFit fit(experiment);
    const Eigen::VectorXd x = fit.unknowns().initial();
    fit.set_method(JacobianMethod::adjoint);
    const Eigen::MatrixXd adjoint = fit.evaluate(x, Want::jacobian).jacobian;
    fit.set_method(JacobianMethod::forward);
    const MotionFit::Evaluation evaluation = fit.evaluate(x, Want::jacobian);
    REQUIRE(evaluation.ok);
    const Eigen::MatrixXd& forward = evaluation.jacobian;
    const Eigen::VectorXd weights = Eigen::VectorXd::LinSpaced(fit.residual_count(), -1.0, 1.3);
    for (Eigen::Index e = 0; e < forward.cols(); ++e) {
      const SceneParameter& parameter = parameters[static_cast<std::size_t>(e)];
      const double step = step_of_parameter(kind, x[e]);
      CAPTURE(parameter.name);
      CHECK(close(forward.col(e), adjoint.col(e), 1e-7, 1e-9 * adjoint.cwiseAbs().maxCoeff()));
      const auto moved = [&](double h) {
        const Eigen::VectorXd there = x + h * step * Eigen::VectorXd::Unit(x.size(), e);
        return weights.dot(fit.evaluate(there, Want::residuals).residuals - evaluation.residuals);
      };
      Differences differences;
      for (const double h : {1e-3, 2.5e-4}) {
        differences.steps.push_back(h);
        differences.forward.push_back(moved(h) / h);
        differences.backward.push_back(-moved(-h) / h);
      }
      const double derivative = step * weights.dot(forward.col(e)), difference = best_difference(differences).value;
      constexpr double k_size = 1.0;  // about that of what is measured
      CAPTURE(derivative, difference);
      CHECK(close(derivative, difference, 1e-5, 1e-8 * k_size));
      if (std::abs(derivative) > 1e-6) felt.insert(kind);
    }
  }
  CHECK(felt.count(ParameterKind::shape) == 1);
  for (const ParameterInfo* const parameter : all_parameters()) {
    CAPTURE(parameter->key, static_cast<int>(parameter->kind));
    CHECK(felt.count(parameter->kind) == 1);  // else the scene needs something that depends on it
  }
}

}  // namespace abut::test
