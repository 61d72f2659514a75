#include "apps/identification/joint_measurement_io.h"

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "apps/abut/trajectory_file.h"
#include "apps/identification/experiment_io.h"
#include "apps/identification/identifiability.h"
#include "apps/identification/motion_fit.h"
#include "apps/identification/report_builder.h"
#include "apps/identification/search.h"
#include "apps/identification/synthetic_data.h"
#include "apps/identification/unit_check.h"
#include "dynamics/simulator.h"
#include "engine/input_error.h"
#include "engine/npz.h"
#include "engine/scene_io.h"
#include "tests/apps/program.h"
#include "tests/support/close.h"

namespace abut::test {
namespace {

using Catch::Matchers::Contains;

/// A wheel on an axle, which an arm swings from; a drawer on a rail.
constexpr const char* k_mechanisms = R"(
[simulation]
time_step = 0.002
gravity = [0, 0, 0]

[[body]]
name = "wheel"
mass = 1
position = [0, 0, 1]
[[body.primitive]]
kind = "rounded_box"
half_extents = [0.09, 0.02, 0.09]
edge_radius = 0.005

[[body]]
name = "arm"
mass = 0.5
position = [0.25, 0, 1]
[[body.primitive]]
kind = "capsule"
radius = 0.02
half_length = 0.1

[[body]]
name = "drawer"
mass = 2
position = [0, 1, 1]
[[body.primitive]]
kind = "rounded_box"
half_extents = [0.1, 0.1, 0.05]
edge_radius = 0.005

[[joint]]
name = "axle"
kind = "hinge"
body_B = "wheel"
position = [0, 0, 1]
axis = [0, 1, 0]
rate = 7
friction = 0.05
[joint.motor]
kind = "force"

[[joint]]
name = "elbow, left"
kind = "hinge"
body_A = "wheel"
body_B = "arm"
position = [0.1, 0, 1]
axis = [0, 1, 0]
rate = 2
damping = 0.02

[[joint]]
name = "rail"
kind = "slider"
body_B = "drawer"
position = [0, 1, 1]
axis = [1, 0, 0]
rate = 0.5
damping = 1.5
armature = 0.5
)";

struct JointPlace {
  TemporaryFolder folder;
  Scene scene = read_scene(folder.write("scene.toml", k_mechanisms));

  [[nodiscard]] Trajectory rollout(int steps) const {
    Trajectory trajectory = Simulator(scene.model, scene.config.step).rollout(scene.initial, steps);
    REQUIRE(trajectory.ok());
    return trajectory;
  }
  [[nodiscard]] MeasurementSource source(const std::string& file) const {
    MeasurementSource source;
    source.file = folder.path() / file;
    source.kind = MeasurementSource::Kind::joints;
    return source;
  }
  [[nodiscard]] std::vector<Measurement> read(const std::string& table, std::vector<std::string> joints = {},
                                              bool has_rates = false) const {
    MeasurementSource from = source("table.csv");
    (void)folder.write("table.csv", table);
    from.joints = std::move(joints);
    from.has_rates = has_rates;
    return read_measurements(from, scene.model, 0.0);
  }
  [[nodiscard]] ExperimentFile experiment(const std::string& text, DataUse use = DataUse::read) const {
    return read_experiment(folder.write("experiment.toml", "scene = \"scene.toml\"\n" + text), use);
  }
  [[nodiscard]] std::string error_of(const std::string& text) const {
    try {
      (void)experiment(text);
    } catch (const std::exception& error) {
      return error.what();
    }
    return {};
  }
};

const MeasuredJoint& joint_of(const Measurement& measurement) {
  return std::get<MeasuredJoint>(measurement.what);
}

constexpr const char* k_joint_unknowns = R"(
[[unknown]]
name = "joint.axle.friction"
initial = 0.02
truth = 0.05
[[unknown]]
name = "joint.elbow, left.damping"
initial = 0.1
truth = 0.02
[[unknown]]
name = "joint.rail.damping"
initial = 0.5
truth = 1.5
)";

constexpr const char* k_joint_motion = R"(
[[motion]]
file = "made.csv"
kind = "joints"
rates = true
rotation_noise = 1e-3
position_noise = 1e-4
sampling = { every = 0.0133, until = 0.9 }
)";

}  // namespace

TEST_CASE("joint measurements: what abut run wrote is read, turns and all, from table and archive alike",
          "[apps][value]") {
  const JointPlace place;
  const Trajectory trajectory = place.rollout(700);
  REQUIRE(joint_coordinate(place.scene.model, 0, trajectory.states.back()) > 7.0);  // more than a turn
  TrajectoryFile file(place.scene.model, "scene.toml");
  for (const State& state : trajectory.states) file.add(state, state.time, 0.0, 0);
  for (const char* name : {"motion.csv", "motion.npz"}) {
    CAPTURE(name);
    MeasurementSource source = place.source(name);
    file.write(source.file);
    CHECK(joint_of(read_measurements(source, place.scene.model, 0.0).front()).rate == std::nullopt);
    source.has_rates = true;
    const std::vector<Measurement> all = read_measurements(source, place.scene.model, 0.0);
    REQUIRE(all.size() == 3u * 701u);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const State& state = trajectory.states[i / 3];
      CHECK(all[i].time == state.time);
      const MeasurementResidual residual = measurement_residual(place.scene.model, {}, all[i], state);
      REQUIRE(residual.residual.size() == 2);
      CHECK(residual.residual.norm() < 1e-9);
    }
    source.joints = {"rail"};
    const std::vector<Measurement> rail = read_measurements(source, place.scene.model, 0.0);
    CHECK(rail.size() == 701u);
    CHECK(joint_of(rail.front()).joint == 2);
  }
}

TEST_CASE("joint measurements: columns by names of joints, noise by their kind, lines of the table",
          "[apps][value]") {
  const JointPlace place;
  const auto all =
      place.read("temperature,\"elbow, left\",time,joint.rail.coordinate\n20,0.5,0,0.1\n\n21,0.6,0.5,0.2\n");
  REQUIRE(all.size() == 4);
  CHECK(joint_of(all[2]).joint == 1);
  CHECK(joint_of(all[2]).coordinate == 0.6);
  CHECK(joint_of(all[2]).coordinate_noise == 1e-2);
  CHECK(joint_of(all[3]).coordinate == 0.2);
  CHECK(joint_of(all[3]).coordinate_noise == 1e-3);
  CHECK(all[3].time == 0.5);
  CHECK(all[3].lines == std::vector<int>{4});
  CHECK(subject_text(place.scene.model, all[2]) == "joint 'elbow, left'");
}

TEST_CASE("joint measurements: mistakes are named by file, line and joint", "[apps][value]") {
  const JointPlace place;
  struct Case {
    std::string table;
    std::vector<std::string> joints;
    bool has_rates;
    std::vector<std::string> parts;
  };
  const Case cases[] = {
      {"time,angle\n0,1\n1,2\n",
       {},
       false,
       {"table.csv:1", "no column has the name of", "allowed: axle, elbow, left, rail"}},
      {"time,axel\n0,1\n1,2\n", {"axle"}, false, {"table.csv", "axel", "axle"}},
      {"time,axle\n0,1\n1,2\n", {"rail"}, false, {"table.csv:1", "'rail' or 'joint.rail.coordinate'"}},
      {"time,axle,joint.axle.coordinate\n0,1,1\n1,2,2\n", {}, false, {"same coordinate"}},
      {"time,axle\n0,1\n1,2\n", {}, true, {"joint.axle.rate", "rates = true"}},
      {"axle\n1\n2\n", {}, false, {"'time'"}},
      {"time,axle\n0,1\n0,2\n", {}, false, {"table.csv:3", "does not lie after"}},
      {"time,axle\n-1,1\n0,2\n", {}, false, {"table.csv:2", "before the start"}},
      {"time,axle\n0,1\n1,nan\n", {}, false, {"table.csv:3", "axle"}},
      {"time,axle\n0,1\n1,1e13\n", {}, false, {"table.csv:3", "axle"}},
      {"time,axle\n0,1\n", {}, false, {"table.csv", "fewer than two times"}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.table, c.joints);
    std::string message;
    try {
      (void)place.read(c.table, c.joints, c.has_rates);
    } catch (const std::exception& error) {
      message = error.what();
    }
    for (const std::string& part : c.parts) CHECK_THAT(message, Contains(part));
  }
  const std::string motion = "[[motion]]\nfile = \"table.csv\"\n";
  CHECK_THAT(place.error_of(k_joint_unknowns + motion + "kind = \"joints\"\nbodies = [\"arm\"]\n"),
             Contains("'joints'"));
  CHECK_THAT(place.error_of(k_joint_unknowns + motion + "kind = \"joints\"\njoints = [\"axel\"]\n"),
             Contains("no hinge or slider 'axel'") && Contains("did you mean 'axle'"));
  CHECK_THAT(place.error_of(k_joint_unknowns + motion + "joints = [\"axle\"]\n"), Contains("goes with kind"));
  CHECK_THAT(place.error_of(k_joint_unknowns + motion + "kind = \"joints\"\njoints = [\"axle\", \"axle\"]\n"),
             Contains("names 'axle' twice"));
  CHECK_THAT(place.error_of(k_joint_unknowns + motion + "kind = \"joints\"\njoints = []\n"),
             Contains("is empty"));
  const std::string archive = k_joint_unknowns + std::string(k_joint_motion);
  try {
    (void)place.experiment(std::string(archive).replace(archive.find("made.csv"), 8, "made.npz"),
                           DataUse::plan);
    FAIL("data are made as an archive");
  } catch (const InputError& error) {
    CHECK_THAT(error.what(), Contains("made.npz") && Contains("made as .csv files"));
  }
  const std::string goal = std::string("[[motion]]\n[[motion.goal]]\nkind = \"joint\"\ntime = 0.1\n");
  CHECK_THAT(place.error_of(k_joint_unknowns + goal + "joint = \"axle\"\n"),
             Contains("needs 'coordinate' or 'rate'"));
  CHECK_THAT(place.error_of(k_joint_unknowns + goal + "joint = \"wheel\"\ncoordinate = 1\n"),
             Contains("no hinge or slider 'wheel'"));
}

TEST_CASE("joint measurements: mistakes of archives are named by array and place", "[apps][value]") {
  const JointPlace place;
  const std::vector<double> time{0.0, 0.5}, numbers{1.0, 2.0, 3.0, 4.0};
  const auto error_of = [&](const std::vector<std::string>& names, const std::vector<double>& coordinates,
                            const std::vector<std::size_t>& shape_of_time) -> std::string {
    MeasurementSource source = place.source("log.npz");
    NpzWriter writer;
    writer.add("time", time, shape_of_time);
    writer.add("joint_names", names, std::vector<std::size_t>{names.size()});
    writer.add("joint_coordinate", coordinates, std::vector<std::size_t>{2, 2});
    writer.write(source.file);
    try {
      (void)read_measurements(source, place.scene.model, 0.0);
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  CHECK(error_of({"axle", "rail"}, numbers, {2}).empty());
  CHECK_THAT(error_of({"axle", "axle"}, numbers, {2}), Contains("'joint_names' has 'axle' twice"));
  CHECK_THAT(error_of({"axle", "rail"}, {1.0, 2.0, 3.0, std::nan("")}, {2}),
             Contains("joint_coordinate[1, 1] = nan"));
  CHECK_THAT(error_of({"axle", "rail"}, numbers, {2, 1}), Contains("'time' has shape (2, 1), expected (T)"));
  CHECK_THAT(error_of({"door", "lid"}, numbers, {2}), Contains("no hinge or slider") && Contains("axle"));
}

TEST_CASE("joint measurements: friction and damping are found from encoders that were made up and written",
          "[apps][value]") {
  const JointPlace place;
  const ExperimentFile plan = place.experiment(std::string(k_joint_unknowns) + k_joint_motion, DataUse::plan);
  Random noise(7);
  const MotionFit planned(plan.experiment);
  const Experiment made = with_simulated_data(planned, planned.unknowns().truth(), &noise);
  write_measurements(place.folder.path() / "made.csv", made.scene.model, made.motions[0]);
  const ExperimentFile file = place.experiment(std::string(k_joint_unknowns) + k_joint_motion);
  REQUIRE(file.experiment.motions[0].measurements.size() == made.motions[0].measurements.size());
  const MotionFit fit(file.experiment);
  REQUIRE(fit.residual_count() == 3 * 2 * 67);
  const SearchResult result = search(file, SearchOptions{});
  const IdentificationReport report = build_report(file, result, Question::identify, 1);
  CHECK(report.status == "converged");
  CHECK(report.reduced_chi_square == Approx(1.0).margin(0.25));
  REQUIRE(report.estimates.size() == 3);
  for (const EstimateRow& estimate : report.estimates) {
    CAPTURE(estimate.name, estimate.value, estimate.deviation);
    CHECK(std::abs(estimate.value - *estimate.truth) < 4.0 * estimate.deviation);
    CHECK(estimate.deviation < 0.05 * *estimate.truth);
  }
  REQUIRE(report.series.size() == 6);
  CHECK(report.series[0].joint == "axle");
  CHECK(report.series[0].unit == "rad");
  CHECK(report.series[5].quantity == "rate");
  CHECK(report.series[5].unit == "m/s");
  CHECK(std::abs(report.residual_check.serial_correlation) < 0.2);
}

TEST_CASE("joint measurements: Jacobians forwards and backwards are that of differences",
          "[apps][derivative]") {
  const JointPlace place;
  const ExperimentFile plan = place.experiment(std::string(k_joint_unknowns) + k_joint_motion, DataUse::plan);
  const MotionFit planned(plan.experiment);
  const Experiment made = with_simulated_data(planned, planned.unknowns().truth(), nullptr);
  MotionFit fit(made);
  const Eigen::VectorXd x = fit.unknowns().initial();
  std::vector<Eigen::MatrixXd> jacobians;
  for (const JacobianMethod method : {JacobianMethod::forward, JacobianMethod::adjoint}) {
    fit.set_method(method);
    const MotionFit::Evaluation at = fit.evaluate(x, MotionFit::Want::jacobian);
    REQUIRE(at.ok);
    jacobians.push_back(at.jacobian);
  }
  for (Eigen::Index c = 0; c < x.size(); ++c) {
    const double step = 1e-3 * x[c];
    const auto moved = [&](double by) {
      Eigen::VectorXd there = x;
      there[c] += by;
      return fit.evaluate(there, MotionFit::Want::residuals).residuals;
    };
    const Eigen::VectorXd difference = (moved(step) - moved(-step)) / (2.0 * step);
    const double size = difference.norm();
    CHECK((jacobians[0].col(c) - difference).norm() < 1e-5 * size);
    CHECK((jacobians[1].col(c) - jacobians[0].col(c)).norm() < 1e-8 * size);
  }
}

TEST_CASE("suspected_units: angles of hinges in degrees", "[apps][value]") {
  const JointPlace place;
  const ExperimentFile plan = place.experiment(std::string(k_joint_unknowns) + k_joint_motion, DataUse::plan);
  const MotionFit planned(plan.experiment);
  Experiment made = with_simulated_data(planned, planned.unknowns().truth(), nullptr);
  CHECK(suspected_units(MotionFit(made)).empty());
  for (Measurement& measurement : made.motions[0].measurements) {
    auto& joint = std::get<MeasuredJoint>(measurement.what);
    if (joint.joint != 2) *joint.coordinate *= 180.0 / std::numbers::pi;
  }
  const auto found = suspected_units(MotionFit(made));
  REQUIRE(found.size() == 1);
  CHECK(found[0].quantity == UnitSuspicion::Quantity::angles);
  CHECK_THAT(found[0].text, Contains("degrees"));
}

TEST_CASE("joint goals: a motor's command brings a hinge to an angle and a rate", "[apps][value]") {
  const JointPlace place;
  const ExperimentFile file = place.experiment(R"(
[[unknown]]
name = "command.axle"
until = 0.5
pieces = 2
initial = 0.1
[[motion]]
[[motion.goal]]
kind = "joint"
joint = "axle"
time = 0.5
coordinate = 9
coordinate_tolerance = 1e-4
rate = 20
rate_tolerance = 1e-3
)");
  const SearchResult result = search(file, SearchOptions{});
  const IdentificationReport report = build_report(file, result, Question::optimize, 1);
  REQUIRE(report.goals.size() == 2);
  CHECK_THAT(report.goals[0].what, Contains("coordinate of joint 'axle' at 0.5 s"));
  CHECK(report.goals[0].unit == "rad");
  CHECK(report.goals[1].unit == "rad/s");
  for (const GoalRow& goal : report.goals) CHECK(goal.is_reached());
}

}  // namespace abut::test
