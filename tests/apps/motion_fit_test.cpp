#include "apps/identification/motion_fit.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "dynamics/gradient_check.h"
#include "dynamics/gradient_sample.h"
#include "dynamics/simulator.h"
#include "tests/apps/program.h"
#include "tests/support/close.h"

namespace abut::test {
namespace {

using Catch::Contains;

/// A box and a ball that slide and roll over a floor, measured between the steps.
struct Case {
  TemporaryFolder folder;
  Experiment experiment;

  explicit Case(const std::vector<std::string>& unknowns, int motions = 2) {
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
      experiment.motions.push_back(motion);
      measure(m);
    }
  }
  void add(const std::string& name, bool in_each_motion = false) {
    Unknown unknown;
    unknown.parameter = find_parameter(experiment.scene, name);
    unknown.in_each_motion = in_each_motion;
    unknown.initial = value_of(name);
    experiment.unknowns.push_back(unknown);
  }
  /// As the scene has it.
  [[nodiscard]] double value_of(const std::string& name) const {
    const Scene& scene = experiment.scene;
    if (name == "body.box, tilted.friction") return scene.model.bodies[1].material.friction;
    if (name == "body.ball.mass") return scene.model.bodies[2].mass;
    if (name == "body.box, tilted.angular_velocity.z") return scene.initial.V_WB[1][2];
    if (name == "simulation.gravity.z") return scene.model.gravity.z();
    throw std::invalid_argument(name);
  }
  /// The true motion, at times that are no multiples of the step.
  void measure(int m) {
    Scene scene = experiment.scene;
    const auto& setting = experiment.motions[static_cast<std::size_t>(m)].settings.front();
    set_parameters({setting.first}, {&setting.second, 1}, scene);
    const Simulator simulator(scene.model, scene.config.step);
    const Trajectory trajectory = simulator.rollout(scene.initial, 40);
    REQUIRE(trajectory.ok());
    for (int k = 3; k < 40; k += 4) {
      for (const int body : {1, 2}) {
        const auto b = static_cast<std::size_t>(body), at = static_cast<std::size_t>(k);
        const double share = 0.3 + 0.01 * k;
        const Pose<double> X_WB =
            interpolate(trajectory.states[at].X_WB[b], trajectory.states[at + 1].X_WB[b], share).X_WB;
        Measurement measurement;
        measurement.body = body;
        measurement.time = (k + share) * scene.config.step.h;
        measurement.p_WA = X_WB * scene.model.bodies[b].p_BA;
        if (body == 1) measurement.q_WA = X_WB.q;
        measurement.position_noise = 1e-3;
        measurement.rotation_noise = 1e-2;
        experiment.motions[static_cast<std::size_t>(m)].measurements.push_back(measurement);
      }
    }
  }
};

const std::vector<std::string> k_unknowns{"body.box, tilted.friction", "body.ball.mass",
                                          "simulation.gravity.z"};

}  // namespace

TEST_CASE("MotionFit: the true numbers leave nothing over", "[apps][value]") {
  const Case c(k_unknowns);
  const MotionFit fit(c.experiment);
  CHECK(fit.entries().size() == 3);
  CHECK(fit.residual_count() == 2 * 10 * (6 + 3));
  const MotionFit::Evaluation evaluation = fit.evaluate(fit.initial(), false);
  REQUIRE(evaluation.ok);
  CHECK(evaluation.residuals.norm() < 1e-6);
  Eigen::VectorXd x = fit.initial();
  x[0] *= 1.2;
  CHECK(fit.evaluate(x, false).residuals.norm() > 1.0);
}

TEST_CASE("MotionFit: Jacobians forwards and backwards are those of differences", "[apps][derivative]") {
  Case c(k_unknowns);
  c.add("body.box, tilted.angular_velocity.z", true);
  c.experiment.unknowns[1].prior = Unknown::Prior{0.5, 0.25};
  MotionFit fit(c.experiment);
  REQUIRE(fit.entries().size() == 5);
  CHECK(fit.entry_name(4) == "body.box, tilted.angular_velocity.z (motion 1)");
  Eigen::VectorXd x = fit.initial();
  x[0] *= 1.1;
  x[3] = 0.3;
  x[4] = -0.2;
  CHECK(fit.method() == JacobianMethod::forward);
  const MotionFit::Evaluation forward = fit.evaluate(x, true);
  fit.set_method(JacobianMethod::adjoint);
  const MotionFit::Evaluation backward = fit.evaluate(x, true);
  REQUIRE(forward.ok);
  REQUIRE(backward.ok);
  CHECK(backward.contacts > 0);
  const double largest = forward.jacobian.cwiseAbs().maxCoeff();
  CHECK(close(forward.jacobian, backward.jacobian, 1e-7, 1e-9 * largest));
  for (Eigen::Index e = 0; e < x.size(); ++e) {
    const Eigen::VectorXd weights = Eigen::VectorXd::LinSpaced(fit.residual_count(), -1.0, 1.3);
    GradientSample sample;
    sample.adjoint = weights.dot(forward.jacobian.col(e)) * 0.01;
    sample.largest = std::abs(sample.adjoint);
    const double nominal = weights.dot(forward.residuals);
    score_by_differences(
        [&](double h) {
          Eigen::VectorXd moved = x;
          moved[e] += 0.01 * h;
          return weights.dot(fit.evaluate(moved, false).residuals) - nominal;
        },
        sample);
    CAPTURE(e, sample.adjoint, sample.difference);
    CHECK(sample.adjoint != 0.0);
    CHECK_FALSE(sample.unresolved);
    CHECK(sample.relative_error < 1e-5);
  }
  // A motion knows nothing of another's own numbers; a prior of nothing but its own.
  const Eigen::Index half = (fit.residual_count() - 1) / 2;
  CHECK(forward.jacobian.col(3).segment(half, half).isZero(0.0));
  CHECK(forward.jacobian.col(4).head(half).isZero(0.0));
  CHECK(forward.jacobian.row(fit.residual_count() - 1).isApprox(Eigen::RowVectorXd::Unit(5, 1) / 0.25));
  CHECK(forward.residuals[fit.residual_count() - 1] == Approx((x[1] - 0.5) / 0.25));
}

TEST_CASE("MotionFit: the number of threads does not change a bit", "[apps][determinism]") {
  const Case c(k_unknowns, 5);
  const MotionFit one(c.experiment, 1), three(c.experiment, 3);
  Eigen::VectorXd x = one.initial();
  x[1] *= 1.3;
  const MotionFit::Evaluation a = one.evaluate(x, true), b = three.evaluate(x, true);
  CHECK(a.residuals == b.residuals);
  CHECK(a.jacobian == b.jacobian);
}

TEST_CASE("MotionFit: a motion that fails is named", "[apps][value]") {
  Case c(k_unknowns);
  c.experiment.scene.config.step.speed_limit = 1e-3;
  const MotionFit fit(c.experiment);
  const MotionFit::Evaluation evaluation = fit.evaluate(fit.initial(), true);
  CHECK_FALSE(evaluation.ok);
  CHECK_THAT(evaluation.failure, Contains("motion 0") && Contains("speed"));
}

TEST_CASE("validate(Experiment): names what makes no sense", "[apps][value]") {
  const auto cause = [](const std::function<void(Experiment&)>& change) {
    Case c(k_unknowns);
    change(c.experiment);
    try {
      validate(c.experiment);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  CHECK(cause([](Experiment&) {}) == "nothing");
  CHECK_THAT(cause([](Experiment& e) { e.unknowns.clear(); }), Contains("no unknown"));
  CHECK_THAT(cause([](Experiment& e) { e.motions.clear(); }), Contains("no measured motion"));
  CHECK_THAT(cause([](Experiment& e) { e.motions[1].measurements.clear(); }), Contains("motion 1"));
  CHECK_THAT(cause([](Experiment& e) { e.unknowns[0].lower = 0.9; }),
             Contains("friction") && Contains("0.9"));
  CHECK_THAT(cause([](Experiment& e) { e.unknowns[0].lower = -1.0; }), Contains("-1"));
  CHECK_THAT(cause([](Experiment& e) { e.unknowns[0].lower = e.unknowns[0].upper = 0.5; }),
             Contains("below"));
  CHECK_THAT(cause([](Experiment& e) { e.unknowns[1].prior = Unknown::Prior{1.0, 0.0}; }), Contains("prior"));
  CHECK_THAT(cause([](Experiment& e) { e.unknowns.push_back(e.unknowns[2]); }), Contains("twice"));
  CHECK_THAT(
      cause([](Experiment& e) { e.unknowns[0].parameter = find_parameter(e.scene, "simulation.time_step"); }),
      Contains("time_step"));
  CHECK_THAT(cause([](Experiment& e) {
               e.unknowns[0].parameter = find_parameter(e.scene, "pair.floor.ball.friction");
             }),
             Contains("no value of its own"));
  CHECK_THAT(cause([](Experiment& e) { e.unknowns[0].parameter = e.motions[0].settings[0].first; }),
             Contains("motion 0"));
  CHECK_THAT(cause([](Experiment& e) { e.unknowns[0].initial = std::nan(""); }), Contains("friction"));
}

}  // namespace abut::test
