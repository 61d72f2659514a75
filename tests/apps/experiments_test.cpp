/// Small versions of the experiments that come with Abut: fewer motions, the same questions.

#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/identification/experiment_io.h"
#include "apps/identification/identifiability.h"
#include "apps/identification/loss_check.h"
#include "apps/identification/search.h"

namespace abut::test {
namespace {

std::filesystem::path path_of(const std::string& name) {
  return std::filesystem::path(ABUT_SOURCE_DIR) / "assets" / "experiments" / (name + ".toml");
}

/// The first motions alone.
ExperimentFile small_version(const std::string& name, std::size_t motions) {
  ExperimentFile file = read_experiment(path_of(name));
  if (motions < file.experiment.motions.size()) {
    file.experiment.motions.resize(motions);
    file.data.resize(motions);
  }
  return file;
}

}  // namespace

TEST_CASE("experiments: those of known truth find it within their own intervals", "[apps][property]") {
  struct Case {
    std::string name;
    std::size_t motions;
  };
  const Case c =
      GENERATE(Case{"box_friction", 4}, Case{"sphere_bounce", 3}, Case{"sphere_bounce_weightless", 3},
               Case{"tumbling_box", 3}, Case{"tumbling_spot", 3}, Case{"shape_from_motion", 4},
               Case{"shape_from_points", 1}, Case{"shape_from_points_weightless", 1},
               Case{"spot_on_pole", 48}, Case{"arm_from_encoders", 1});
  const ExperimentFile file = small_version(c.name, c.motions);
  const SearchResult result = search(file, {});
  const StartState& best = result.starts[static_cast<std::size_t>(result.best)];
  CAPTURE(c.name, best.message);
  REQUIRE(best.status == Solution::Status::converged);
  const MotionFit fit(file.experiment);
  const UnknownSpace& unknowns = fit.unknowns();
  const Identifiability told =
      identifiability_of(fit, best.x, fit.evaluate(best.x, MotionFit::Want::jacobian), {});
  CHECK(told.open.empty());
  CHECK(told.reduced_chi_square == Approx(1.0).margin(0.25));
  const Eigen::VectorXd error = unknowns.minus(best.x, unknowns.truth());
  for (int e = 0; e < unknowns.tangent_size(); ++e) {
    CAPTURE(unknowns.name(e), error[e], told.deviation[e]);
    CHECK(std::abs(error[e]) < 4.0 * told.deviation[e]);
  }
}

TEST_CASE("experiments: without torques the inertia of a tumbling body is told but for a factor",
          "[apps][value]") {
  const ExperimentFile file = small_version("tumbling_box", 1);
  const SearchResult result = search(file, {});
  const StartState& best = result.starts.front();
  const MotionFit fit(file.experiment);
  const Identifiability told =
      identifiability_of(fit, best.x, fit.evaluate(best.x, MotionFit::Want::jacobian), {});
  REQUIRE(told.open.size() == 1);
  CHECK(told.entries[0] == Identifiability::Entry::open);  // log_x, log_y and log_z move together
  CHECK(told.entries[6] == Identifiability::Entry::told);  // how fast it turns
  const Eigen::VectorXd& direction = told.open.front().direction;
  CHECK(told.open.front().text ==
        "body.box.inertia.log_x, body.box.inertia.log_y, body.box.inertia.log_z are told but for a common "
        "factor");
  CHECK(direction[0] == Approx(direction[1]).margin(1e-3));
  CHECK(direction[0] == Approx(direction[2]).margin(1e-3));
}

TEST_CASE("experiments: a shape is morphed until it falls like another", "[apps][property]") {
  const ExperimentFile file = small_version("spot_on_pole", 2);
  const SearchResult result = search(file, {});
  const StartState& best = result.starts.front();
  const MotionFit fit(file.experiment);
  CAPTURE(best.message, best.initial_cost, best.cost);
  CHECK(best.initial_cost > 5.0 * best.cost);
  CHECK(best.cost < 1.3 * 0.5 * fit.residual_count());  // what noise leaves
}

TEST_CASE("experiments: a push brings a drill to a pose", "[apps][property]") {
  const ExperimentFile file = small_version("drill_push", 1);
  const SearchResult result = search(file, {});
  const MotionFit fit(file.experiment);
  const MotionFit::Evaluation reached = fit.evaluate(result.starts.front().x, MotionFit::Want::residuals);
  CHECK(reached.residuals.head(12).cwiseAbs().maxCoeff() < 1.0);  // pose and twist, in tolerances
}

TEST_CASE("experiments: a throw passes the gap and ends on the table", "[apps][property]") {
  ExperimentFile file = small_version("throw_through_gap", 1);
  file.search.starts = 1;
  const std::vector<double> near{1.05, -0.05, 4.7, 0.0, 0.0, 0.0};
  for (std::size_t u = 0; u < near.size(); ++u) file.experiment.unknowns[u].initial = near[u];
  const SearchResult result = search(file, {});
  const MotionFit fit(file.experiment);
  const Eigen::VectorXd residuals =
      fit.evaluate(result.starts.front().x, MotionFit::Want::residuals).residuals;
  CHECK(0.002 * residuals.head(3).norm() < 0.03);  // 2 mm each: within 3 cm of the goal
}

TEST_CASE("experiments: a drill touches a bottle at given points without overlap", "[apps][property]") {
  ExperimentFile file = small_version("contact_pose", 1);
  const SearchResult result = search(file, {});
  const StartState& best = result.starts[static_cast<std::size_t>(result.best)];
  CHECK(best.cost < 1e-3);
  const MotionFit fit(file.experiment);
  const Eigen::VectorXd residuals = fit.evaluate(best.x, MotionFit::Want::residuals).residuals;
  CHECK(5e-4 * residuals.head(3).norm() < 1e-5);                             // the points meet [m]
  CHECK(0.01 * residuals.segment(3, 3).norm() < 1e-3);                       // normals are opposed
  CHECK(5e-4 * residuals.tail(fit.residual_count() - 6).maxCoeff() < 2e-5);  // overlap [m]
}

TEST_CASE("experiments: gradients of their losses are those of differences", "[apps][derivative]") {
  const std::string name =
      GENERATE(as<std::string>(), "box_friction", "sphere_bounce", "sphere_bounce_weightless", "tumbling_box",
               "tumbling_spot", "shape_from_motion", "shape_from_points", "shape_from_points_weightless",
               "spot_on_pole", "drill_push", "throw_through_gap", "contact_pose");
  const LossCheck check = check_loss(small_version(name, 2), 1, 1);
  CAPTURE(name, check.failure, text_of(check));
  REQUIRE(check.failure.empty());
  CHECK(check.summary.non_finite == 0);
  CHECK(check.summary.unresolved == 0);
  CHECK(check.summary.median_relative_error < 1e-6);
  CHECK(check.summary.max_relative_error < 1e-4);
}

}  // namespace abut::test
