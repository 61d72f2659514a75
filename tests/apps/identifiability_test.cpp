#include "apps/identification/identifiability.h"

#include <ceres/cost_function.h>
#include <ceres/covariance.h>
#include <ceres/problem.h>
#undef CHECK  // that of Ceres' logging, in the way of Catch's

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "apps/identification/solve.h"
#include "tests/apps/identification_case.h"

namespace abut::test {
namespace {

using Status = Solution::Status;
using Want = MotionFit::Want;

Eigen::VectorXd guess_off(const MotionFit& fit, double factor) { return factor * fit.unknowns().initial(); }

Identifiability told_at(const MotionFit& fit, const Solution& solution) {
  return identifiability_of(fit, solution.x, fit.evaluate(solution.x, Want::jacobian), {});
}

}  // namespace

TEST_CASE("identifiability: what the motions do not tell is said, by name", "[apps][value]") {
  IdentificationCase c({"body.ball.mass"}, 1);
  // A ball in free fall: its mass does nothing.
  c.experiment.scene.initial.X_WB[2].p.z() += 10.0;
  std::erase_if(c.experiment.motions[0].measurements, [](const Measurement& m) { return body_of(m) != 2; });
  c.measure();
  const MotionFit fit(c.experiment);
  const Solution solution = solve(fit, guess_off(fit, 1.5), {});
  REQUIRE(solution.status != Status::failed);
  const Identifiability told = told_at(fit, solution);
  REQUIRE(told.open.size() == 1);
  CHECK(told.open[0].text == "nothing is told of body.ball.mass");
  CHECK(std::isinf(told.deviation[0]));
  CHECK(told.entries[0] == Identifiability::Entry::open);

  // Where it has drifted to a bound, that is not why it is not told.
  Eigen::VectorXd drifted = solution.x;
  drifted[0] = fit.unknowns().bounds(fit.unknowns().variables()[0]).first;
  const Identifiability at_bound =
      identifiability_of(fit, drifted, fit.evaluate(drifted, Want::jacobian), {});
  CHECK(at_bound.entries[0] == Identifiability::Entry::open);
  CHECK(at_bound.open.size() == 1);

  CHECK_FALSE(at_bound.has_too_few_residuals);

  c.experiment.unknowns[0].prior = Unknown::Prior{0.6, 0.1};
  const MotionFit with_prior(c.experiment);
  const Solution known = solve(with_prior, with_prior.unknowns().initial(), {});
  const Identifiability from_prior = told_at(with_prior, known);
  CHECK(from_prior.open.empty());
  CHECK(known.x[0] == Approx(0.6));
  CHECK(from_prior.deviation[0] == Approx(0.1).epsilon(1e-3));

  // A deviation of ten times the mass is as good as none.
  c.experiment.unknowns[0].prior = Unknown::Prior{0.6, 6.0};
  const MotionFit with_weak_prior(c.experiment);
  const Identifiability little = told_at(with_weak_prior, solve(with_weak_prior, known.x, {}));
  REQUIRE(little.open.size() == 1);
  CHECK(little.open[0].text == "little is told of body.ball.mass");
  CHECK(little.entries[0] == Identifiability::Entry::open);
  CHECK(std::isinf(little.deviation[0]));
}

TEST_CASE("identifiability: a common factor that changes nothing is called a ratio", "[apps][value]") {
  // A push on a sliding box: its force and its mass, when friction is none.
  IdentificationCase c({"body.ball.mass", "body.ball.force.x"}, 1);
  c.experiment.scene.initial.X_WB[2].p.z() += 10.0;
  c.experiment.scene.model.bodies[2].external_wrench[3] = 2.0;
  c.experiment.unknowns[1].initial = 2.0;
  std::erase_if(c.experiment.motions[0].measurements, [](const Measurement& m) { return body_of(m) != 2; });
  c.measure();
  const MotionFit fit(c.experiment);
  const Identifiability told = told_at(fit, solve(fit, fit.unknowns().initial(), {}));
  REQUIRE(told.open.size() == 1);
  CHECK(told.open[0].text == "body.ball.mass and body.ball.force.x are told as a ratio only");
}

TEST_CASE("identifiability: the covariance is that of Ceres", "[apps][value]") {
  IdentificationCase c({"body.box, tilted.friction", "simulation.gravity.z"}, 2, 3);
  c.add("body.ball.linear_velocity.x");
  const MotionFit fit(c.experiment);
  const Solution solution = solve(fit, fit.unknowns().initial(), {});
  const Identifiability told = told_at(fit, solution);
  struct Linear : ceres::CostFunction {
    const Eigen::MatrixXd jacobian;
    explicit Linear(Eigen::MatrixXd of) : jacobian(std::move(of)) {
      set_num_residuals(static_cast<int>(jacobian.rows()));
      mutable_parameter_block_sizes()->push_back(static_cast<int>(jacobian.cols()));
    }
    bool Evaluate(double const* const*, double* residuals, double** jacobians) const override {
      std::fill_n(residuals, jacobian.rows(), 0.0);
      if (jacobians != nullptr && jacobians[0] != nullptr) {
        Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
            jacobians[0], jacobian.rows(), jacobian.cols()) = jacobian;
      }
      return true;
    }
  };
  Eigen::VectorXd x = solution.x;
  ceres::Problem problem;
  problem.AddResidualBlock(new Linear(fit.evaluate(x, Want::jacobian).jacobian), nullptr, x.data());
  ceres::Covariance::Options options;
  options.algorithm_type = ceres::DENSE_SVD;
  ceres::Covariance covariance(options);
  REQUIRE(covariance.Compute(std::vector<const double*>{x.data()}, &problem));
  Eigen::Matrix<double, 3, 3, Eigen::RowMajor> expected;
  covariance.GetCovarianceBlock(x.data(), x.data(), expected.data());
  for (int i = 0; i < 3; ++i) {
    CHECK(told.deviation[i] == Approx(std::sqrt(expected(i, i))).epsilon(1e-6));
    for (int k = 0; k < 3; ++k) {
      CHECK(told.covariance(i, k) ==
            Approx(expected(i, k)).epsilon(1e-6).margin(1e-9 * told.deviation[i] * told.deviation[k]));
    }
  }
}

TEST_CASE("identifiability: too few residuals have no spread of their own", "[apps][value]") {
  IdentificationCase c({"body.ball.mass", "body.ball.friction"}, 1, 3);
  auto& measurements = c.experiment.motions[0].measurements;
  const auto at_guess = [&] {
    const MotionFit fit(c.experiment);
    const Eigen::VectorXd x = fit.unknowns().initial();
    const MotionFit::Evaluation evaluation = fit.evaluate(x, Want::jacobian);
    return std::pair(identifiability_of(fit, x, evaluation, {}),
                     identifiability_of(fit, x, evaluation, {}, IntervalBasis::residuals));
  };
  const auto [stated, by_residuals] = at_guess();
  CHECK_FALSE(by_residuals.has_too_few_residuals);
  CHECK(by_residuals.deviation != stated.deviation);
  CHECK(by_residuals.deviation[0] == Approx(stated.deviation[0]).epsilon(0.9));
  measurements.erase(measurements.begin() + 9, measurements.end());
  const auto [few_stated, few] = at_guess();
  CHECK(few.has_too_few_residuals);
  CHECK(few.deviation == few_stated.deviation);
}

}  // namespace abut::test
