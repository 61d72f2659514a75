#include "apps/identification/motion_fit.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "dynamics/gradient_check/gradient_check.h"
#include "dynamics/gradient_check/gradient_sample.h"
#include "dynamics/simulator.h"
#include "tests/apps/identification_case.h"
#include "tests/support/close.h"

namespace abut::test {
namespace {

using Catch::Contains;

using Want = MotionFit::Want;

const std::vector<std::string> k_unknowns{"body.box, tilted.friction", "body.ball.mass",
                                          "simulation.gravity.z"};

}  // namespace

TEST_CASE("MotionFit: the true numbers leave nothing over", "[apps][value]") {
  const IdentificationCase c(k_unknowns);
  const MotionFit fit(c.experiment);
  CHECK(fit.unknowns().size() == 3);
  CHECK(fit.residual_count() == 2 * 10 * (6 + 3));
  Eigen::VectorXd x = fit.unknowns().initial();
  const MotionFit::Evaluation evaluation = fit.evaluate(x, Want::residuals);
  REQUIRE(evaluation.ok);
  CHECK(evaluation.residuals.norm() < 1e-6);
  CHECK(evaluation.contacts > 1.0);
  x[0] *= 1.2;
  CHECK(fit.evaluate(x, Want::residuals).residuals.norm() > 1.0);
}

namespace {

/// Of a weighted sum of residuals, and of half the loss, against differences along each tangent entry.
void check_derivatives(const Experiment& experiment, const Eigen::VectorXd& x,
                       const std::vector<JacobianMethod>& methods) {
  MotionFit fit(experiment);
  const UnknownSpace& unknowns = fit.unknowns();
  const RobustLoss loss{RobustLoss::Kind::cauchy, 2.0};
  const Eigen::VectorXd weights = Eigen::VectorXd::LinSpaced(fit.residual_count(), -1.0, 1.3);
  std::vector<Eigen::MatrixXd> jacobians;
  for (const JacobianMethod method : methods) {
    fit.set_method(method);
    const MotionFit::Evaluation evaluation = fit.evaluate(x, Want::jacobian);
    CAPTURE(evaluation.failure);
    REQUIRE(evaluation.ok);
    jacobians.push_back(evaluation.jacobian);
  }
  const Eigen::MatrixXd& jacobian = jacobians.front();
  for (const Eigen::MatrixXd& other : jacobians) {
    CHECK(close(other, jacobian, 1e-7, 1e-9 * jacobian.cwiseAbs().maxCoeff()));
    for (Eigen::Index e = 0; e < jacobian.cols(); ++e) {
      const double largest = jacobian.col(e).cwiseAbs().maxCoeff();
      CAPTURE(unknowns.name(static_cast<int>(e)));
      CHECK(close(other.col(e), jacobian.col(e), 1e-6, 1e-8 * largest));
    }
  }
  const MotionFit::Evaluation by_adjoint = fit.evaluate(x, Want::gradient, loss);
  const MotionFit::Evaluation nominal = fit.evaluate(x, Want::residuals);
  REQUIRE(by_adjoint.ok);
  constexpr double k_least_size = 0.05;  // a centre of mass near 0 has the size of its body
  const auto step_of = [&](int e) {
    const Variable& variable = unknowns.variable_of(e);
    const bool is_number = variable.kind == Variable::Kind::number;
    return 1e-3 * (is_number ? std::max(std::abs(x[variable.begin]), k_least_size) : 1.0);
  };
  for (int e = 0; e < unknowns.tangent_size(); ++e) {
    const double step = step_of(e);
    const auto moved = [&](double h) {
      Eigen::VectorXd tangent = Eigen::VectorXd::Zero(unknowns.tangent_size());
      tangent[e] = h * step;
      return fit.evaluate(unknowns.plus(x, tangent), Want::residuals).residuals;
    };
    const auto check = [&](double derivative, const std::function<double(double)>& difference) {
      GradientSample sample;
      sample.adjoint = derivative * step;
      sample.largest = std::abs(sample.adjoint);
      score_by_differences(difference, sample);
      CAPTURE(unknowns.name(e), sample.adjoint, sample.difference);
      CHECK(sample.adjoint != 0.0);
      CHECK_FALSE(sample.unresolved);
      CHECK(sample.relative_error < 1e-5);
    };
    check(weights.dot(jacobian.col(e)), [&](double h) { return weights.dot(moved(h) - nominal.residuals); });
    check(by_adjoint.gradient[e],
          [&](double h) { return fit.cost_of(moved(h), loss) - fit.cost_of(nominal.residuals, loss); });
  }
}

constexpr JacobianMethod k_forward = JacobianMethod::forward, k_adjoint = JacobianMethod::adjoint;

}  // namespace

TEST_CASE("MotionFit: both ways of the Jacobian agree with differences", "[apps][derivative]") {
  IdentificationCase c(k_unknowns);
  c.add("body.box, tilted.angular_velocity.z", true);
  c.add("body.ball.stiffness").logarithmic = true;
  c.add("body.box, tilted.inertia.log_x");
  c.experiment.unknowns[1].prior = Unknown::Prior{0.5, 0.25};
  const MotionFit fit(c.experiment);
  const UnknownSpace& unknowns = fit.unknowns();
  REQUIRE(unknowns.size() == 7);
  CHECK(unknowns.name(4) == "body.box, tilted.angular_velocity.z (motion 1)");
  Eigen::VectorXd x = unknowns.initial();
  CHECK(x[5] == Approx(std::log(2e4)));
  x[0] *= 1.1;
  x[3] = 0.3;
  x[4] = -0.2;
  x[5] += 0.1;
  CHECK(fit.method() == k_forward);
  CHECK(fit.cost(k_forward) == 2.5);
  CHECK(fit.cost(k_adjoint) == Approx(90.5));
  check_derivatives(c.experiment, x, {k_forward, k_adjoint});

  // A motion knows nothing of another's own numbers; a prior of nothing but its own.
  const MotionFit::Evaluation evaluation = fit.evaluate(x, Want::jacobian);
  const Eigen::Index half = (fit.residual_count() - 1) / 2, last = fit.residual_count() - 1;
  CHECK(evaluation.jacobian.col(3).segment(half, half).isZero(0.0));
  CHECK(evaluation.jacobian.col(4).head(half).isZero(0.0));
  CHECK(evaluation.jacobian.row(last).isApprox(Eigen::RowVectorXd::Unit(7, 1) / 0.25));
  CHECK(evaluation.residuals[last] == Approx((x[1] - 0.5) / 0.25));
}

TEST_CASE(
    "MotionFit: derivatives by shapes, centres of mass, orientations and pushes are those of differences",
    "[apps][derivative]") {
  IdentificationCase c({"body.ball.primitive.0.radius", "body.box, tilted.center_of_mass.y",
                        "body.box, tilted.primitive.0.half_extents.z"},
                       1);
  Unknown turned;
  turned.kind = Unknown::Kind::orientation;
  turned.name = "body.box, tilted.orientation";
  turned.body = 1;
  turned.initial_orientation = c.experiment.scene.initial.X_WB[1].q;
  Unknown push;
  push.kind = Unknown::Kind::control;
  push.name = "control.ball.force.x";
  push.body = 2;
  push.component = 3;
  push.from = 0.01;
  push.until = 0.05;
  push.pieces = 2;
  c.experiment.unknowns.push_back(turned);
  c.experiment.unknowns.push_back(push);
  MeasuredMotion& motion = c.experiment.motions.front();
  SurfacePoints points{1, Points::Zero(3, 4), 1e-3};
  MeasuredTwist twist{2, Vec6<double>::Zero(), 0.1, 0.1};
  motion.measurements.push_back({0.0801, points});
  motion.measurements.push_back({0.0801, twist});
  c.measure();
  const MotionFit fit(c.experiment);
  CHECK(fit.unknowns().size() == 3 + 4 + 2);
  CHECK(fit.unknowns().tangent_size() == 3 + 3 + 2);
  CHECK(fit.unknowns().name(4) == "body.box, tilted.orientation.y");
  CHECK(fit.unknowns().name(7) == "control.ball.force.x.1");
  CHECK(fit.method() == k_forward);
  CHECK(fit.cost(k_forward) == 13.0);
  Eigen::VectorXd tangent = Eigen::VectorXd::Zero(8);
  tangent << 0.001, 0.002, -0.001, 0.01, -0.02, 0.05, 3.0, -2.0;
  const Eigen::VectorXd x = fit.unknowns().plus(fit.unknowns().initial(), tangent);
  CHECK(close(fit.unknowns().minus(x, fit.unknowns().initial()), tangent, 1e-9, 1e-12));
  check_derivatives(c.experiment, x, {k_forward, k_adjoint});
}

TEST_CASE(
    "MotionFit: derivatives by commands of motors, and by joints at the start, are those of differences",
    "[apps][derivative]") {
  IdentificationCase c({"body.ball.mass"}, 1);
  Scene& scene = c.experiment.scene;
  Joint slide;
  slide.name = "slide";
  slide.kind = JointKind::slider;
  slide.body_B = 2;
  slide.X_AJ = scene.initial.X_WB[2];
  slide.motor.kind = MotorKind::force;
  scene.model.joints.push_back(slide);
  scene.commands.push_back({0, true, {0.0, 0.05}, {0.0, 1.0}});
  c.add("joint.slide.coordinate");
  c.add("joint.slide.rate");
  Unknown force;
  force.kind = Unknown::Kind::control;
  force.name = "command.slide";
  force.motor = 0;
  force.until = 0.06;
  force.pieces = 3;
  c.experiment.unknowns.push_back(force);
  c.measure();
  const MotionFit fit(c.experiment);
  CHECK(fit.unknowns().size() == 3 + 3);
  CHECK(fit.unknowns().name(5) == "command.slide.2");
  CHECK(fit.method() == k_forward);
  Eigen::VectorXd tangent(6);
  tangent << 0.01, 0.002, -0.1, 0.5, -1.0, 0.7;
  check_derivatives(c.experiment, fit.unknowns().plus(fit.unknowns().initial(), tangent),
                    {k_forward, k_adjoint});

  Experiment two = c.experiment;  // commands of another motor at the same time are other unknowns
  two.scene.model.joints.push_back(slide);
  two.scene.model.joints.back().name = "other";
  two.scene.model.joints.back().body_B = 1;
  two.unknowns.push_back(force);
  two.unknowns.back().name = "command.other";
  two.unknowns.back().motor = 1;
  CHECK_NOTHROW(validate(two));
  two.unknowns.push_back(two.unknowns.back());
  CHECK_THROWS_WITH(validate(two), Catch::Contains("'command.other' is asked for twice"));

  c.add("body.ball.linear_velocity.x");
  CHECK_THROWS_WITH(
      validate(c.experiment),
      Catch::Contains(
          "'body.ball.linear_velocity.x' and 'joint.slide.coordinate' have no derivatives together"));
}

TEST_CASE("MotionFit: derivatives where steps know some unknowns backwards only are those of differences",
          "[apps][derivative]") {
  const std::string what = GENERATE("the place of a fixed body", "a joint", "split push-out");
  IdentificationCase c({"body.ball.primitive.0.radius"}, 1);
  StepConfig& config = c.experiment.scene.config.step;
  if (what == "the place of a fixed body") c.add("body.floor.position.z");
  if (what == "split push-out") c.add("body.ball.mass");
  if (what == "a joint") {
    Joint spring;
    spring.name = "spring";
    spring.kind = JointKind::distance;
    spring.body_B = 2;
    spring.X_AJ.p = c.experiment.scene.initial.X_WB[2].p + Vec3<double>(0.0, 0.05, 0.2);
    spring.length = 0.15;
    spring.stiffness = 20.0;
    spring.dissipation_time = 0.01;
    c.experiment.scene.model.joints.push_back(spring);
    c.add("joint.spring.stiffness");
  }
  if (what == "split push-out") config.push_out = PushOut::split;
  c.measure();
  const MotionFit fit(c.experiment);
  Eigen::VectorXd x = fit.unknowns().initial();
  x[0] *= 1.001;
  x[1] += what == "the place of a fixed body" ? 1e-4 : 0.02 * x[1];
  CAPTURE(what);
  const UnknownSpace::Simulation motion = fit.unknowns().simulate(x, 0);
  CHECK(motion.simulator.stepper().has_jvp() == (what != "split push-out"));
  check_derivatives(c.experiment, x, {k_forward, k_adjoint});
}

TEST_CASE("MotionFit: motions of one unknown shape are those of each alone, to the last bit",
          "[apps][property]") {
  struct Setting {
    std::vector<std::string> unknowns;
    std::string of_one_motion;
    bool is_shared;
  };
  const std::string edges = "body.box, tilted.primitive.0.half_extents.";
  const std::string radius = "body.ball.primitive.0.radius";
  const auto setting =
      GENERATE_COPY(Setting{{edges + "z", radius}, "", true},
                    Setting{{edges + "z", edges + "x", "body.box, tilted.center_of_mass.y"}, "", true},
                    Setting{{edges + "z", "body.ball.mass"}, edges + "y", false},
                    Setting{{edges + "z", radius}, edges + "y", true});
  CAPTURE(setting.unknowns, setting.of_one_motion);
  IdentificationCase c(setting.unknowns);
  if (!setting.of_one_motion.empty()) {
    const SceneParameter parameter = find_parameter(c.experiment.scene, setting.of_one_motion);
    c.experiment.motions[1].settings.emplace_back(parameter, 1.01 * value_of(c.experiment.scene, parameter));
  }
  const MotionFit fit(c.experiment);
  const Eigen::VectorXd x = 1.002 * fit.unknowns().initial();
  const auto prepared = fit.unknowns().prepare(x);
  CHECK(prepared.has_value() == setting.is_shared);
  if (prepared) {  // the last body of unknown shape is ready for both motions
    const int body = fit.unknowns().experiment().unknowns[1].parameter.body_A;
    for (int m = 0; m < 2; ++m) {
      const UnknownSpace::Simulation motion = fit.unknowns().simulate(x, m, prepared);
      CHECK(motion.simulator.stepper().detector().shares(body, prepared->simulator.stepper().detector()));
    }
  }
  const Eigen::VectorXd together = fit.evaluate(x, Want::residuals).residuals;
  CHECK(together.norm() > 0.1);
  const Eigen::Index half = together.size() / 2;
  for (std::size_t m = 0; m < 2; ++m) {
    Experiment single = c.experiment;
    single.motions = {c.experiment.motions[m]};
    const Eigen::VectorXd alone = MotionFit(single).evaluate(x, Want::residuals).residuals;
    CHECK(alone == together.segment(static_cast<Eigen::Index>(m) * half, half));
  }
  // A shape that cannot be is a failure of the motion, said as before.
  Eigen::VectorXd impossible = x;
  impossible[0] = 1e-3;  // less than the radius of the edges
  CHECK_FALSE(fit.evaluate(impossible, Want::residuals).ok);
}

TEST_CASE("MotionFit: a memory of motions changes nothing but the time", "[apps][property]") {
  IdentificationCase c(k_unknowns);
  MotionFit fit(c.experiment);
  Eigen::VectorXd x = fit.unknowns().initial();
  MotionFit::Memory memory;
  for (int i = 0; i < 3; ++i) {
    x[i] *= 1.05;
    for (const Want want : {Want::residuals, Want::jacobian, Want::gradient}) {
      const RobustLoss loss{RobustLoss::Kind::cauchy, 2.0};
      const MotionFit::Evaluation with = fit.evaluate(x, want, loss, &memory),
                                  without = fit.evaluate(x, want, loss);
      REQUIRE(with.ok);
      CHECK(with.residuals == without.residuals);
      CHECK(with.jacobian == without.jacobian);
      CHECK(with.gradient == without.gradient);
      CHECK(with.contacts == without.contacts);
    }
    CHECK(memory.x == x);
  }
  // What could not be simulated is not remembered as if it had been.
  Eigen::VectorXd wild = x;
  wild[2] = -1e9;
  CHECK_FALSE(fit.evaluate(wild, Want::residuals, {}, &memory).ok);
  CHECK_FALSE(fit.evaluate(wild, Want::jacobian, {}, &memory).ok);
  CHECK(fit.evaluate(x, Want::residuals, {}, &memory).residuals ==
        fit.evaluate(x, Want::residuals).residuals);
}

TEST_CASE("MotionFit: motions cut into segments meet where the whole one is, with derivatives of differences",
          "[apps][derivative]") {
  IdentificationCase c({"body.box, tilted.friction"}, 1);
  c.experiment.shooting.segments = 3;
  const MotionFit fit(c.experiment);
  const UnknownSpace& unknowns = fit.unknowns();
  CHECK(unknowns.segments().size() == 3);
  CHECK(unknowns.size() == 1 + 2 * 2 * 13);
  CHECK(unknowns.tangent_size() == 1 + 2 * 2 * 12);
  CHECK(fit.residual_count() == 10 * 9 + 2 * 2 * 12);
  // The guess takes the measured poses, which here are true but for the twists between measurements.
  Eigen::VectorXd x = unknowns.initial();
  CHECK(fit.evaluate(x, Want::residuals).residuals.cwiseAbs().maxCoeff() < 50.0);

  // Started where the whole motion passes, every joint closes.
  Experiment whole = c.experiment;
  whole.shooting.segments = 1;
  const Simulator simulator(whole.scene.model, whole.scene.config.step);
  const MotionFit fit_of_whole(whole);
  const auto inputs = fit_of_whole.unknowns().inputs(fit_of_whole.unknowns().initial(),
                                                     fit_of_whole.unknowns().segments().front());
  const Trajectory trajectory = Simulator(inputs.scene.model, inputs.scene.config.step)
                                    .rollout(inputs.scene.initial, step_count(whole, whole.motions.front()));
  for (const Segment& segment : unknowns.segments()) {
    for (const int v : unknowns.start_variables(0, segment.number)) {
      const Variable& variable = unknowns.variables()[static_cast<std::size_t>(v)];
      const State& state = trajectory.states[static_cast<std::size_t>(segment.first_step)];
      const auto b = static_cast<std::size_t>(variable.body);
      const Quat<double>& q = state.X_WB[b].q;
      x.segment<4>(variable.begin) << q.w(), q.x(), q.y(), q.z();
      x.segment<3>(variable.begin + 4) = state.X_WB[b].p;
      x.segment<6>(variable.begin + 7) = state.V_WB[b];
    }
  }
  CHECK(fit.evaluate(x, Want::residuals).residuals.norm() < 1e-5);

  Random random(5);
  Eigen::VectorXd tangent(unknowns.tangent_size());
  for (Eigen::Index e = 0; e < tangent.size(); ++e) tangent[e] = 1e-3 * random.normal();
  x = unknowns.plus(x, tangent);
  const MotionFit::Evaluation evaluation = fit.evaluate(x, Want::jacobian);
  REQUIRE(evaluation.ok);
  const double h = 2e-7;
  for (int e = 0; e < unknowns.tangent_size(); ++e) {
    Eigen::VectorXd along = Eigen::VectorXd::Zero(unknowns.tangent_size());
    along[e] = h;
    const Eigen::VectorXd difference =
        (fit.evaluate(unknowns.plus(x, along), Want::residuals).residuals -
         fit.evaluate(unknowns.plus(x, Eigen::VectorXd(-along)), Want::residuals).residuals) /
        (2.0 * h);
    CAPTURE(unknowns.name(e));
    const double largest = difference.cwiseAbs().maxCoeff();
    CHECK(largest > 0.0);
    CHECK(close(evaluation.jacobian.col(e), difference, 1e-4, 1e-5 * largest));
  }
}

TEST_CASE("MotionFit: what is asked of the start alone needs no step", "[apps][derivative]") {
  IdentificationCase c({"body.ball.position.x", "body.ball.position.z"}, 1);
  MeasuredMotion& motion = c.experiment.motions.front();
  motion.measurements = {{0.0, ContactPlace{1, 2, {0.15, 0.0, 0.0}, {0.04, 0.0, 0.0}, 0.01, 0.1}},
                         {0.0, Clearance{1, 2, 0.01}}};
  const MotionFit fit(c.experiment);
  CHECK(step_count(c.experiment, motion) == 0);
  Eigen::VectorXd x = fit.unknowns().initial();
  x << 0.03, 0.1;  // deep in the box
  const MotionFit::Evaluation evaluation = fit.evaluate(x, Want::jacobian);
  REQUIRE(evaluation.ok);
  CHECK(evaluation.residuals.tail(fit.residual_count() - 6).maxCoeff() > 1.0);
  for (Eigen::Index e = 0; e < 2; ++e) {
    Eigen::VectorXd forward = x, backward = x;
    forward[e] += 1e-6;
    backward[e] -= 1e-6;
    const Eigen::VectorXd difference = (fit.evaluate(forward, Want::residuals).residuals -
                                        fit.evaluate(backward, Want::residuals).residuals) /
                                       2e-6;
    CHECK(close(evaluation.jacobian.col(e), difference, 1e-5, 1e-4));
  }
}

TEST_CASE("MotionFit: the number of threads does not change a bit", "[apps][determinism]") {
  const IdentificationCase c(k_unknowns, 5);
  const MotionFit one(c.experiment, 1), three(c.experiment, 3);
  Eigen::VectorXd x = one.unknowns().initial();
  x[1] *= 1.3;
  const MotionFit::Evaluation a = one.evaluate(x, Want::jacobian), b = three.evaluate(x, Want::jacobian);
  CHECK(a.residuals == b.residuals);
  CHECK(a.jacobian == b.jacobian);
  CHECK(one.evaluate(x, Want::gradient).gradient == three.evaluate(x, Want::gradient).gradient);
}

TEST_CASE("MotionFit: a motion that fails is named, a shape that cannot be as well", "[apps][value]") {
  IdentificationCase c({"body.box, tilted.friction", "body.box, tilted.primitive.0.edge_radius"});
  const MotionFit fit(c.experiment);
  Eigen::VectorXd x = fit.unknowns().initial();
  x[1] = 0.2;
  const MotionFit::Evaluation impossible = fit.evaluate(x, Want::residuals);
  CHECK_FALSE(impossible.ok);
  CHECK_THAT(impossible.failure, Contains("edge_radius = 0.2"));

  c.experiment.scene.config.step.speed_limit = 1e-3;
  const MotionFit slow(c.experiment);
  const MotionFit::Evaluation evaluation = slow.evaluate(slow.unknowns().initial(), Want::jacobian);
  CHECK_FALSE(evaluation.ok);
  CHECK_THAT(evaluation.failure, Contains("motion 0") && Contains("speed"));
}

TEST_CASE("with_simulated_data: has the noise that is stated", "[apps][property]") {
  IdentificationCase c({"body.ball.mass"}, 40);
  const MotionFit fit(c.experiment);
  const Eigen::VectorXd x = fit.unknowns().initial();
  Random random(17);
  const Experiment noisy = with_simulated_data(fit, x, &random);
  const MotionFit fit_of_noisy(noisy);
  const Eigen::VectorXd residuals = fit_of_noisy.evaluate(x, Want::residuals).residuals;
  const double mean_square = residuals.squaredNorm() / static_cast<double>(residuals.size());
  CHECK(mean_square == Approx(1.0).margin(5.0 * std::sqrt(2.0 / static_cast<double>(residuals.size()))));
  CHECK(std::abs(residuals.mean()) < 5.0 / std::sqrt(static_cast<double>(residuals.size())));
}

TEST_CASE("validate(Experiment): names what makes no sense", "[apps][value]") {
  const auto cause = [](const std::function<void(Experiment&)>& change) {
    IdentificationCase c(k_unknowns);
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
  CHECK_THAT(cause([](Experiment& e) { e.motions.clear(); }), Contains("no motion"));
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
      Contains("setting of the time step"));
  CHECK_THAT(cause([](Experiment& e) {
               e.unknowns[0].parameter = find_parameter(e.scene, "pair.floor.ball.friction");
             }),
             Contains("no value of its own"));
  CHECK_THAT(cause([](Experiment& e) { e.unknowns[0].parameter = e.motions[0].settings[0].first; }),
             Contains("motion 0"));
  CHECK_THAT(cause([](Experiment& e) { e.unknowns[0].initial = std::nan(""); }), Contains("friction"));
  // What has no derivative, or would be cut in a way that is not known, is refused.
  const auto add_number = [](Experiment& e, const std::string& name) {
    Unknown unknown;
    unknown.name = name;
    unknown.parameter = find_parameter(e.scene, name);
    unknown.initial = value_of(e.scene, unknown.parameter);
    e.unknowns.push_back(unknown);
  };
  CHECK_THAT(cause([&](Experiment& e) {
               add_number(e, "body.ball.primitive.0.radius");
               e.motions[0].measurements.push_back({0.08, Clearance{1, 2, 1e-3}});
             }),
             Contains("clearance"));
  CHECK_THAT(cause([&](Experiment& e) { add_number(e, "body.ball.density"); }), Contains("twice"));
  CHECK_THAT(cause([&](Experiment& e) {
               add_number(e, "body.ball.center_of_mass.x");
               e.shooting.segments = 2;
             }),
             Contains("segments") && Contains("center_of_mass"));
  CHECK_THAT(cause([](Experiment& e) {
               e.scene.initial.V_WB[0][5] = 0.1;
               e.shooting.segments = 2;
             }),
             Contains("segments") && Contains("floor"));
  CHECK_THAT(cause([](Experiment& e) {
               e.motions[1].settings.emplace_back(find_parameter(e.scene, "simulation.time_step"), 0.001);
             }),
             Contains("motion 1") && Contains("time step"));
}

}  // namespace abut::test
