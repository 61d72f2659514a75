#include "apps/identification/solve.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "apps/identification/identifiability.h"
#include "tests/apps/identification_case.h"
#include "tests/support/close.h"

namespace abut::test {
namespace {

using Catch::Contains;
using Status = Solution::Status;
using Want = MotionFit::Want;

const std::vector<std::string> k_solved_unknowns{"body.box, tilted.friction", "simulation.gravity.z"};

Eigen::VectorXd guess_off(const MotionFit& fit, double factor) { return factor * fit.unknowns().initial(); }

Identifiability told_at(const MotionFit& fit, const Solution& solution, const RobustLoss& loss = {}) {
  return identifiability_of(fit, solution.x, fit.evaluate(solution.x, Want::jacobian), loss);
}

}  // namespace

TEST_CASE("solve: finds the numbers of motions without noise, from guesses far off", "[apps][value]") {
  IdentificationCase c(k_solved_unknowns);
  c.add("body.box, tilted.angular_velocity.z", true);
  const MotionFit fit(c.experiment);
  const Eigen::VectorXd truth = fit.unknowns().initial();
  Eigen::VectorXd guess = guess_off(fit, 0.5);
  guess[2] = 0.5;
  const auto method = GENERATE(SearchMethod::least_squares, SearchMethod::gradient);
  SolveOptions options;
  options.method = method;
  options.max_iterations = 400;
  options.tolerance = 1e-14;
  const Solution solution = solve(fit, guess, options);
  CAPTURE(static_cast<int>(method), solution.message, solution.x.transpose());
  CHECK(solution.status == Status::converged);
  const double accepted = method == SearchMethod::least_squares ? 1e-6 : 1e-3;
  CHECK(close(solution.x, truth, accepted, accepted));
  CHECK(solution.cost < 1e-3);
  CHECK(solution.initial_cost > 100.0);
  CHECK(solution.iterations.size() >= 3);
  CHECK(told_at(fit, solution).open.empty());
}

TEST_CASE("solve: orientations are found on their manifold, by both methods", "[apps][value]") {
  IdentificationCase c({"body.ball.mass"}, 1);
  Unknown turned;
  turned.kind = Unknown::Kind::orientation;
  turned.name = "body.box, tilted.orientation";
  turned.body = 1;
  turned.initial_orientation = c.experiment.scene.initial.X_WB[1].q;
  c.experiment.unknowns = {turned};
  c.measure();
  const MotionFit fit(c.experiment);
  const Eigen::VectorXd truth = fit.unknowns().initial();
  const Eigen::VectorXd guess = fit.unknowns().plus(truth, Eigen::Vector3d(0.005, -0.01, 0.4));
  for (const SearchMethod method : {SearchMethod::least_squares, SearchMethod::gradient}) {
    SolveOptions options;
    options.method = method;
    options.max_iterations = 300;
    options.tolerance = 1e-13;
    const Solution solution = solve(fit, guess, options);
    CAPTURE(static_cast<int>(method), solution.message, solution.cost);
    CHECK(fit.unknowns().minus(solution.x, truth).norm() < 1e-4);
    CHECK(solution.x.norm() == Approx(1.0).epsilon(1e-12));
  }
}

TEST_CASE("solve: shapes and pushes are found", "[apps][value]") {
  IdentificationCase c({"body.ball.primitive.0.radius"}, 1);
  Unknown push;
  push.kind = Unknown::Kind::control;
  push.name = "control.ball.force.x";
  push.body = 2;
  push.component = 3;
  push.until = 0.05;
  push.pieces = 2;
  push.initial = 2.0;
  c.experiment.unknowns.push_back(push);
  c.measure();
  const MotionFit fit(c.experiment);
  const Eigen::VectorXd truth = fit.unknowns().initial();
  const Solution solution = solve(fit, Eigen::Vector3d(0.057, 0.0, 0.0), {});
  CAPTURE(solution.message, solution.x.transpose());
  CHECK(solution.status == Status::converged);
  CHECK(close(solution.x, truth, 1e-5, 1e-5));
}

TEST_CASE("solve: segments carry a guess that is far off to where the whole motion is explained",
          "[apps][value]") {
  IdentificationCase c({"body.box, tilted.friction"}, 1);
  const double truth = c.experiment.unknowns.front().initial;
  c.experiment.shooting.segments = 4;
  const MotionFit fit(c.experiment);
  Eigen::VectorXd guess = fit.unknowns().initial();
  guess[0] = 3.0 * truth;
  SolveOptions options;
  options.tolerance = 1e-12;
  const Solution solution = solve(fit, guess, options);
  CHECK(solution.status == Status::converged);
  CHECK(solution.x[0] == Approx(truth).epsilon(1e-4));
  CHECK(solution.cost < 1e-4);
}

TEST_CASE("solve: with noise the truth lies in the intervals as often as they say", "[apps][property]") {
  int inside = 0, all = 0;
  double chi = 0.0;
  constexpr int k_repetitions = 60;
  for (int i = 0; i < k_repetitions; ++i) {
    const IdentificationCase c(k_solved_unknowns, 2, 100 + static_cast<std::uint64_t>(i));
    const MotionFit fit(c.experiment);
    const Eigen::VectorXd truth = fit.unknowns().initial();
    const Solution solution = solve(fit, guess_off(fit, 0.8), {});
    REQUIRE(solution.status == Status::converged);
    const Identifiability told = told_at(fit, solution);
    chi += told.reduced_chi_square / k_repetitions;
    for (Eigen::Index e = 0; e < truth.size(); ++e) {
      ++all;
      inside += std::abs(solution.x[e] - truth[e]) < 1.96 * told.deviation[e];
    }
  }
  CAPTURE(inside, all, chi);
  CHECK(inside > 0.88 * all);  // 95 % of 120, less two and a half of its standard deviations
  CHECK(inside < all);         // nor are they too wide
  CHECK(chi == Approx(1.0).margin(0.05));
}

TEST_CASE("solve: outliers do not decide where the loss is robust", "[apps][value]") {
  IdentificationCase c(k_solved_unknowns, 2, 7);
  for (MeasuredMotion& motion : c.experiment.motions) {
    for (std::size_t i = 2; i < motion.measurements.size(); i += 6)
      std::get<MeasuredPose>(motion.measurements[i].what).p_WA.x() += 0.05;
  }
  const MotionFit fit(c.experiment);
  const Eigen::VectorXd truth = fit.unknowns().initial();
  SolveOptions robust;
  robust.loss.kind = RobustLoss::Kind::cauchy;
  const Solution plain = solve(fit, guess_off(fit, 0.8), {}), safe = solve(fit, guess_off(fit, 0.8), robust);
  CHECK(std::abs(safe.x[0] - truth[0]) < 0.2 * std::abs(plain.x[0] - truth[0]));
  CHECK(std::abs(safe.x[0] - truth[0]) < 5.0 * told_at(fit, safe, robust.loss).deviation[0]);
  CHECK(told_at(fit, plain).reduced_chi_square > 10.0);
}

TEST_CASE("solve: an active bound does not keep the rest from its least", "[apps][value]") {
  // Three components of a velocity and a force that they are correlated with; one may not reach its least.
  IdentificationCase c({"body.ball.linear_velocity.x", "body.ball.angular_velocity.y", "body.ball.torque.y",
                        "body.ball.force.x"},
                       2, 5);
  const MotionFit free(c.experiment);
  const Solution unbounded = solve(free, free.unknowns().initial(), {});
  REQUIRE(unbounded.status == Status::converged);
  Unknown& speed = c.experiment.unknowns[0];
  speed.upper = unbounded.x[0] - 0.05;
  speed.initial = speed.upper - 0.2;
  const MotionFit fit(c.experiment);
  const Solution bounded = solve(fit, fit.unknowns().initial(), {});
  CHECK(bounded.x[0] <= speed.upper);
  CHECK(bounded.x[0] == Approx(speed.upper).epsilon(1e-6));
  CHECK(bounded.status == Status::converged);
  // With the bounded one held there, the others have nowhere lower to go.
  const Eigen::VectorXd gradient = fit.evaluate(bounded.x, Want::gradient).gradient;
  const Eigen::MatrixXd jacobian = fit.evaluate(bounded.x, Want::jacobian).jacobian;
  for (int e = 1; e < 4; ++e) {
    const double worth = gradient[e] * gradient[e] / (2.0 * jacobian.col(e).squaredNorm());
    CAPTURE(e, worth, bounded.x.transpose(), bounded.message);
    CHECK(worth < 1e-4 * bounded.cost);
  }
}

namespace {

/// The ball falls on a floor without restitution of its own, and bounces as its restitution says.
struct BouncingBall : IdentificationCase {
  explicit BouncingBall(double restitution) : IdentificationCase({"body.ball.restitution"}, 1) {
    Scene& scene = experiment.scene;
    scene.initial.X_WB[2].p.z() += 0.02;
    scene.initial.V_WB[2][5] = -2.0;  // what is left of it at a tenth of the range is still an impact
    experiment.unknowns.front().initial = restitution;
    measure();
  }
};

}  // namespace

TEST_CASE("solve: a search leaves a restitution of 0, where motions do not depend on it", "[apps][value]") {
  const BouncingBall c(0.6);
  const MotionFit fit(c.experiment);
  const Eigen::VectorXd guess = Eigen::VectorXd::Zero(1);
  CHECK(fit.evaluate(guess, Want::jacobian).jacobian.isZero(0.0));
  SolveOptions options;
  options.tolerance = 1e-12;
  const Solution solution = solve(fit, guess, options);
  CAPTURE(solution.message, solution.x.transpose());
  CHECK(solution.status == Status::converged);
  CHECK(solution.x[0] == Approx(0.6).epsilon(1e-3));
  REQUIRE(solution.notes.size() == 1);
  CHECK_THAT(solution.notes[0], Contains("body.ball.restitution") && Contains("tenth of the range inside"));
  CHECK(solve(fit, Eigen::VectorXd::Constant(1, 0.3), options).notes.empty());
}

TEST_CASE("solve: a search that ends at a restitution of 0 looks inside before it says so", "[apps][value]") {
  const BouncingBall c(0.0);
  const MotionFit fit(c.experiment);
  const Solution solution = solve(fit, Eigen::VectorXd::Constant(1, 0.3), {});
  CAPTURE(solution.message, solution.x.transpose());
  CHECK(solution.x[0] < 0.01);
  REQUIRE(solution.notes.size() == 1);
  CHECK_THAT(solution.notes[0], Contains("body.ball.restitution") && Contains("a search from inside found"));
  CHECK(told_at(fit, solution).entries[0] ==
        Identifiability::Entry::at_bound);  // the data exclude what is inside
}

TEST_CASE("solve: a robust loss looks at surface points one by one", "[apps][value]") {
  IdentificationCase c({"body.ball.primitive.0.radius"}, 1);
  MeasuredMotion& motion = c.experiment.motions.front();
  motion.measurements = {{0.01, SurfacePoints{2, Points::Zero(3, 40), 1e-3}}};
  c.has_noise = true;
  c.noise = Random(3);
  c.measure();
  const double truth = c.experiment.unknowns.front().initial;
  auto& points = std::get<SurfacePoints>(c.experiment.motions.front().measurements.front().what);
  points.p_W.col(0).array() += 1.0;
  const MotionFit fit(c.experiment);
  CHECK(fit.blocks().size() == 40);
  SolveOptions robust;
  robust.loss.kind = RobustLoss::Kind::cauchy;
  const Solution safe = solve(fit, fit.unknowns().initial(), robust);
  CHECK(std::abs(safe.x[0] - truth) < 1e-3);
  CHECK(std::abs(solve(fit, fit.unknowns().initial(), {}).x[0] - truth) > 5e-3);
  CHECK(std::isnan(told_at(fit, safe, robust.loss).reduced_chi_square));
}

TEST_CASE("solve: stays within bounds, stops when told to, and says why it failed", "[apps][value]") {
  IdentificationCase c(k_solved_unknowns);
  Unknown& friction = c.experiment.unknowns[0];
  const double truth = friction.initial;
  friction.lower = 1.1 * truth;
  friction.upper = 2.0;
  friction.initial = 1.0;
  const MotionFit fit(c.experiment);
  const Eigen::VectorXd guess = fit.unknowns().initial();
  const Solution bounded = solve(fit, guess, {});
  CHECK(bounded.x[0] == Approx(1.1 * truth).epsilon(1e-6));
  CHECK(told_at(fit, bounded).entries[0] == Identifiability::Entry::at_bound);
  SolveOptions by_gradient;
  by_gradient.method = SearchMethod::gradient;
  by_gradient.max_iterations = 300;
  const double reached = solve(fit, guess, by_gradient).x[0];
  CHECK(reached >= 1.1 * truth);
  CHECK(reached == Approx(1.1 * truth).epsilon(1e-2));

  SolveOptions impatient;
  impatient.progress = [](const Iteration& iteration) { return iteration.number < 1; };
  const Solution stopped = solve(fit, guess, impatient);
  CHECK(stopped.status == Status::stopped);
  CHECK(stopped.cost < stopped.initial_cost);
  SolveOptions short_of_time;
  short_of_time.max_iterations = 1;
  CHECK(solve(fit, guess, short_of_time).status == Status::max_iterations);

  c.experiment.scene.config.step.speed_limit = 1e-3;
  for (const SearchMethod method : {SearchMethod::least_squares, SearchMethod::gradient}) {
    SolveOptions options;
    options.method = method;
    const Solution failed = solve(fit, guess, options);
    CHECK(failed.status == Status::failed);
    CHECK_THAT(failed.message, Contains("motion 0") && Contains("speed"));
  }
}

}  // namespace abut::test
