#include "apps/identification/experiment_io.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "apps/identification/synthetic_data.h"
#include "engine/input_error.h"
#include "engine/lie.h"
#include "tests/apps/program.h"
#include "tests/support/close.h"

namespace abut::test {
namespace {

using Catch::Contains;

const std::string k_header = "scene = \"scene.toml\"\n";
const std::string k_unknown = "[[unknown]]\nname = \"body.ball.mass\"\n";
const std::string k_motion = "[[motion]]\nfile = \"motion.csv\"\n";
const std::string k_data =
    "time,body,position_x,position_y,position_z,rotation_vector_x,rotation_vector_y,rotation_vector_z\n"
    "0.01,ball,0.5,0,0.06,0,0,0\n0.02,ball,0.5,0,0.06,0.1,0,0\n";

struct Place {
  TemporaryFolder folder;
  Place() {
    folder.write("scene.toml", k_scene);
    folder.write("motion.csv", k_data);
  }
  [[nodiscard]] ExperimentFile read(const std::string& text, DataUse use = DataUse::read) const {
    return read_experiment(folder.write("experiment.toml", text), use);
  }
  [[nodiscard]] std::string error_of(const std::string& text) const {
    try {
      (void)read(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing";
  }
};

}  // namespace

TEST_CASE("read_experiment: everything that can be said is read", "[apps][value]") {
  const Place place;
  const ExperimentFile file = place.read(R"(name = "all of it"
scene = "scene.toml"
[[unknown]]
name = "body.ball.stiffness"
initial = 1e4
lower = 1e2
upper = 1e6
truth = 2e4
logarithmic = true
[[unknown]]
name = "body.ball.linear_velocity"
initial = [0.1, 0.2, 0.3]
in_each_motion = true
prior = { mean = 0, deviation = [1, 2, 3] }
[[unknown]]
name = "body.box, tilted.orientation"
initial = [0, 0, 0.5]
truth = [0, 0, 0.4]
[[unknown]]
name = "control.ball.force"
from = 0.01
until = 0.05
pieces = 2
[[unknown]]
name = "body.ball.inertia"
[[motion]]
name = "first"
file = "motion.csv"
kind = "positions"
position_noise = 0.002
[motion.set]
body.ball.friction = 0.3
body.ball.angular_velocity = [1, 2, 3]
"body.box, tilted.mass" = 2
[[motion.goal]]
kind = "twist"
times = [0.03, 0.05]
body = "ball"
linear_velocity = [1, 0, 0]
linear_tolerance = 0.1
[[motion]]
[[motion.goal]]
kind = "pose"
time = 0.04
body = "ball"
position = [1, 2, 3]
rotation_vector = [0, 0, 1]
[[motion.goal]]
kind = "contact"
time = 0
bodies = ["ball", "box, tilted"]
point_A = [0.1, 0, 0]
point_B = [0, 0, 0.1]
[[motion.goal]]
kind = "clearance"
time = 0.02
bodies = ["ball", "box, tilted"]
[search]
method = "gradient"
jacobian = "adjoint"
max_iterations = 7
tolerance = 1e-3
trust_region = 5
loss = "huber"
loss_width = 2
intervals = "residuals"
starts = 3
seed = 9
continuation = [10, 1]
[shooting]
segments = 2
position_noise = 0.5
)");
  const std::vector<Unknown>& unknowns = file.experiment.unknowns;
  REQUIRE(unknowns.size() == 1 + 3 + 1 + 3 + 6);
  CHECK(unknowns[0].logarithmic);
  CHECK(unknowns[0].truth == 2e4);
  CHECK(unknowns[2].name == "body.ball.linear_velocity.y");
  CHECK(unknowns[2].initial == 0.2);
  CHECK(unknowns[2].prior->deviation == 2.0);
  CHECK(unknowns[2].in_each_motion);
  CHECK(unknowns[4].kind == Unknown::Kind::orientation);
  CHECK(close(log_quaternion(*unknowns[4].true_orientation), Vec3<double>(0, 0, 0.4), 1e-12, 1e-12));
  CHECK(unknowns[6].component == 4);
  CHECK(unknowns[6].name == "control.ball.force.y");
  CHECK(unknowns[6].pieces == 2);
  CHECK(std::abs(unknowns[8].initial - unknowns[9].initial) < 1e-9);  // of a ball, the scene's own
  const std::vector<MeasuredMotion>& motions = file.experiment.motions;
  REQUIRE(motions.size() == 2);
  CHECK(motions[0].name == "first");
  REQUIRE(motions[0].settings.size() == 5);
  CHECK(motions[0].settings[3].first.name == "body.ball.angular_velocity.z");
  CHECK(motions[0].settings[3].second == 3.0);
  REQUIRE(motions[0].measurements.size() == 4);
  CHECK(std::get<MeasuredPose>(motions[0].measurements[1].what).position_noise == 0.002);
  CHECK(std::isinf(std::get<MeasuredTwist>(motions[0].measurements[3].what).angular_noise));
  REQUIRE(motions[1].measurements.size() == 3);
  CHECK(std::holds_alternative<ContactPlace>(motions[1].measurements[0].what));  // in the order of times
  CHECK(std::holds_alternative<Clearance>(motions[1].measurements[1].what));
  CHECK(motions[1].name == "motion 1");
  const SearchSettings& search = file.search;
  CHECK(search.method == SearchMethod::gradient);
  CHECK(search.jacobian == JacobianMethod::adjoint);
  CHECK(search.max_iterations == 7);
  CHECK(search.loss.kind == RobustLoss::Kind::huber);
  CHECK(search.loss.width == 2.0);
  CHECK(search.intervals == IntervalBasis::residuals);
  CHECK(search.starts == 3);
  CHECK(search.continuation == std::vector<double>{10.0, 1.0});
  CHECK(file.experiment.shooting.segments == 2);
  CHECK(file.experiment.shooting.position_noise == 0.5);
}

TEST_CASE("read_experiment: mistakes are named by file and line", "[apps][value]") {
  const Place place;
  struct Case {
    std::string text;
    std::vector<std::string> parts;
  };
  const Case cases[] = {
      {"", {"experiment.toml", "scene"}},
      {"scene = \"other.toml\"\n", {"other.toml"}},
      {k_header + k_unknown, {"no motion"}},
      {k_header + k_motion, {"no unknown"}},
      {k_header + k_unknown + "inital = 2\n" + k_motion, {"experiment.toml:4", "inital", "initial"}},
      {k_header + "[[unknown]]\nname = \"body.bal.mass\"\n" + k_motion, {":3:", "body.ball.mass"}},
      {k_header + "[[unknown]]\nname = \"simulation.time_step\"\n" + k_motion, {"time step"}},
      {k_header + k_unknown + "initial = -1\n" + k_motion, {"body.ball.mass", "-1", "> 0"}},
      {k_header + k_unknown + "lower = 3\nupper = 2\n" + k_motion, {"lower = 3", "upper = 2"}},
      {k_header + k_unknown + k_unknown + k_motion, {"asked for twice"}},
      {k_header + k_unknown + "prior = { mean = 1 }\n" + k_motion, {"deviation"}},
      {k_header + "[[unknown]]\nname = \"body.ball.position\"\ninitial = [1, 2]\n" + k_motion,
       {":4:", "initial"}},
      {k_header + "[[unknown]]\nname = \"control.ball.force.x\"\n" + k_motion, {"until"}},
      {k_header + "[[unknown]]\nname = \"control.ball.force.x\"\nuntil = 0.1\npieces = 1000\n" + k_motion,
       {"pieces"}},
      {k_header + "[[unknown]]\nname = \"control.floor.force.x\"\nuntil = 0.1\n" + k_motion, {"fixed"}},
      {k_header + k_unknown + "[[motion]]\n", {":4:", "neither"}},
      {k_header + k_unknown + "[[motion]]\nfile = \"none.csv\"\n", {"none.csv"}},
      {k_header + k_unknown + k_motion + "[motion.set]\nbody.ball.mass = 1\n", {"unknown", "set"}},
      {k_header + k_unknown + k_motion + "[motion.set]\nbody.ball.colour = 1\n", {":7:", "body.ball.colour"}},
      {k_header + k_unknown + k_motion + "[motion.set]\nbody.ball.friction = -1\n", {":7:", ">= 0"}},
      {k_header + k_unknown + k_motion + "[motion.set]\nsimulation.time_step = 0.001\n", {"time step"}},
      {k_header + k_unknown + k_motion + "[motion.set]\nbody.ball.friction = [0.1, 0.2]\n",
       {":7:", "2 given, allowed: one number"}},
      {k_header + k_unknown + k_motion + "[motion.set]\nbody.ball.linear_velocity = 1\n",
       {":7:", "1 given, allowed: 3 numbers"}},
      {k_header + k_unknown + k_motion + "[motion.set]\nbody.ball.friction = true\n",
       {":7:", "a number or an array of numbers"}},
      {k_header + k_unknown + k_motion +
           "[motion.set]\nbody.ball.position = [0, 0, 1]\n\"body.ball.position.z\" = 2\n",
       {"sets the same by 'body.ball.position.z' and 'body.ball.position.z'"}},
      {k_header + k_unknown + k_motion +
           "[motion.set]\n\"body.box, tilted.mass\" = 1\n\"body.box, tilted.density\" = 2\n",
       {"tilted.mass' and 'body.box, tilted.density'"}},
      {k_header + k_unknown + k_motion + "sampling = { every = 0.1, until = 0.1 }\n",
       {":6:", "two measurements"}},
      {k_header + k_unknown + k_motion + "sampling = { every = 1e-9, until = 10 }\n", {":6:", "more than"}},
      {k_header + "[[unknown]]\nname = \"body.ball.dissipation_time\"\n" + k_motion,
       {":3:", "'initial' is needed"}},
      {k_header + k_unknown + k_motion + "position_noise = 0\n", {":6:", "position_noise"}},
      {k_header + k_unknown + "[[motion]]\n[[motion.goal]]\nkind = \"pose\"\n", {"body"}},
      {k_header + k_unknown + "[[motion]]\n[[motion.goal]]\nkind = \"twist\"\nbody = \"bal\"\ntime = 1\n",
       {":7:", "did you mean 'ball'"}},
      {k_header + k_unknown + "[[motion]]\n[[motion.goal]]\nkind = \"twist\"\nbody = \"ball\"\ntime = 1\n",
       {":5:", "needs 'linear_velocity' or 'angular_velocity'"}},
      {k_header + k_unknown +
           "[[motion]]\n[[motion.goal]]\nkind = \"twist\"\nbody = \"ball\"\ntime = -1\n"
           "linear_velocity = [0, 0, 1]\n",
       {":8:", "before the start"}},
      {k_header + k_unknown + k_motion + "[search]\nmethod = \"magic\"\n", {":7:", "least_squares"}},
      {k_header + k_unknown + k_motion + "[search]\ncontinuation = [10]\n", {":7:", "last is 1"}},
      {k_header + k_unknown + k_motion + "[shooting]\nsegments = 1000\n", {"segments"}},
      {k_header + k_unknown + k_motion + "[serch]\n", {"serch", "search"}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const std::string error = place.error_of(c.text);
    for (const std::string& part : c.parts) CHECK_THAT(error, Contains(part));
  }
}

TEST_CASE("write_measurements: what is planned, made and written is read again", "[apps][value]") {
  const Place place;
  const std::string text = k_header + k_unknown + R"([[motion]]
file = "made.csv"
sampling = { every = 0.01, until = 0.05 }
[[motion]]
file = "points.csv"
kind = "surface_points"
bodies = ["ball"]
sampling = { from = 0.02, every = 0.02, until = 0.04, points = 3 }
)";
  const ExperimentFile plan = place.read(text, DataUse::plan);
  REQUIRE(plan.experiment.motions[0].measurements.size() == 2u * 5u);
  REQUIRE(plan.experiment.motions[1].measurements.size() == 2u);
  const MotionFit fit(plan.experiment);
  Random noise(4);
  const Experiment made = with_simulated_data(fit, fit.unknowns().truth(), &noise);
  for (int m = 0; m < 2; ++m) {
    const auto i = static_cast<std::size_t>(m);
    write_measurements(plan.data[i].source.file, made.scene.model, made.motions[i]);
  }
  const ExperimentFile file = place.read(text);
  const Eigen::VectorXd x = fit.unknowns().truth();
  const Eigen::VectorXd expected = MotionFit(made).evaluate(x, MotionFit::Want::residuals).residuals;
  const Eigen::VectorXd residuals =
      MotionFit(file.experiment).evaluate(x, MotionFit::Want::residuals).residuals;
  REQUIRE(residuals.size() == expected.size());
  CHECK(close(residuals, expected, 1e-4, 1e-4));
  CHECK_THROWS_WITH(place.read(k_header + k_unknown + k_motion, DataUse::plan), Contains("sampling"));
}

}  // namespace abut::test
