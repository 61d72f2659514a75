#include "apps/identification/measurement.h"

#include <catch2/catch.hpp>

#include <array>
#include <string>
#include <vector>

#include "apps/abut/trajectory_file.h"
#include "apps/identification/measurement_io.h"
#include "dynamics/simulator.h"
#include "engine/input_error.h"
#include "engine/scene_io.h"
#include "tests/apps/program.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"

namespace abut::test {
namespace {

using Catch::Contains;

constexpr double k_step = 1e-6;

Vec6<double> unit(int i) { return Vec6<double>::Unit(i); }

const std::string k_header =
    "time,body,position_x,position_y,position_z,orientation_w,orientation_x,orientation_y,orientation_z\n";
const std::string k_row = ",\"box, tilted\",0.1,0.2,0.3,1,0,0,0\n";

struct Place {
  TemporaryFolder folder;
  Scene scene = read_scene(folder.write("scene.toml", k_scene));

  std::vector<Measurement> read(const std::string& csv, bool rotations = true) const {
    return read_file("motion.csv", csv, rotations);
  }
  std::vector<Measurement> read_file(const std::string& name, const std::string& text,
                                     bool rotations = true) const {
    MeasurementSource source;
    source.file = folder.write(name, text);
    source.rotations = rotations;
    return read_measurements(source, scene.model, scene.initial.time);
  }
};

}  // namespace

TEST_CASE("interpolate: its ends are the poses, its middle is half way, its derivatives those of differences",
          "[apps][derivative]") {
  Random random(1);
  for (int i = 0; i < 30; ++i) {
    const Pose<double> a = random_pose(random);
    const double turn = i == 0 ? 0.0 : random.uniform(0.0, 3.0);  // no turn at all in one
    const Pose<double> b =
        retract(a, stack<double>(random_rotation_vector(random, turn), random_vector(random)));
    const double share = random.uniform();
    CHECK(difference(interpolate(a, b, 0.0).X_WB, a).norm() < 1e-12);
    CHECK(difference(interpolate(a, b, 1.0).X_WB, b).norm() < 1e-12);
    const Pose<double> middle = interpolate(a, b, 0.5).X_WB;
    CHECK(close(difference(middle, a), Vec6<double>(0.5 * difference(b, a)), 1e-9, 1e-12));
    const InterpolatedPose between = interpolate(a, b, share);
    for (int c = 0; c < 6; ++c) {
      const auto column = [&](bool of_later, double h) {
        const Pose<double> moved = of_later
                                       ? interpolate(a, retract(b, Vec6<double>(h * unit(c))), share).X_WB
                                       : interpolate(retract(a, Vec6<double>(h * unit(c))), b, share).X_WB;
        return difference(moved, between.X_WB);
      };
      const Vec6<double> later = (column(true, k_step) - column(true, -k_step)) / (2.0 * k_step),
                         earlier = (column(false, k_step) - column(false, -k_step)) / (2.0 * k_step);
      CHECK(close(between.by_later.col(c), later, 1e-6, 1e-8));
      CHECK(close(between.by_earlier.col(c), earlier, 1e-6, 1e-8));
    }
  }
}

TEST_CASE("measurement_residual: is what the noise makes of it, with its derivatives", "[apps][derivative]") {
  Random random(2);
  Body body;
  body.p_BA = Vec3<double>(0.1, -0.2, 0.05);
  for (int i = 0; i < 30; ++i) {
    const Pose<double> X_WB = random_pose(random);
    Measurement measurement;
    measurement.position_noise = 0.01;
    measurement.rotation_noise = 0.2;
    const Vec3<double> off = random_vector(random, 0.03),
                       turned = random_rotation_vector(random, random.uniform(0.0, 2.0));
    measurement.p_WA = X_WB * body.p_BA - off;
    CHECK(measurement.residual_count() == 3);
    CHECK(measurement_residual(body, measurement, X_WB).residual.tail<3>().isZero(0.0));
    measurement.q_WA = exp_quaternion<double>(-turned) * X_WB.q;
    CHECK(measurement.residual_count() == 6);
    const MeasurementResidual at = measurement_residual(body, measurement, X_WB);
    CHECK(close(at.residual.head<3>(), Vec3<double>(off / 0.01), 1e-10, 1e-10));
    CHECK(close(at.residual.tail<3>(), Vec3<double>(turned / 0.2), 1e-10, 1e-10));
    for (int c = 0; c < 6; ++c) {
      const auto moved = [&](double h) {
        return measurement_residual(body, measurement, retract(X_WB, Vec6<double>(h * unit(c)))).residual;
      };
      CHECK(close(at.by_pose.col(c), Vec6<double>((moved(k_step) - moved(-k_step)) / (2.0 * k_step)), 1e-6,
                  1e-6));
    }
  }
}

TEST_CASE("read_measurements: reads what abut run wrote, from table and archive alike", "[apps][value]") {
  const Place place;
  const Simulator simulator(place.scene.model, place.scene.config.step);
  const Trajectory trajectory = simulator.rollout(place.scene.initial, 20);
  TrajectoryFile file(place.scene.model, "scene.toml");
  for (const State& state : trajectory.states) file.add(state, 0.0, 0);
  for (const char* name : {"motion.csv", "motion.npz"}) {
    MeasurementSource source;
    source.file = place.folder.path() / name;
    file.write(source.file);
    const std::vector<Measurement> all = read_measurements(source, place.scene.model, 0.0);
    CAPTURE(name);
    REQUIRE(all.size() == 2u * 21u);  // the floor does not move
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto b = static_cast<std::size_t>(all[i].body);
      const State& state = trajectory.states[i / 2];
      CHECK(all[i].time == state.time);
      const MeasurementResidual residual =
          measurement_residual(place.scene.model.bodies[b], all[i], state.X_WB[b]);
      CHECK(residual.residual.norm() < 1e-9);
    }
    source.bodies = {"ball"};
    source.rotations = false;
    const std::vector<Measurement> ball = read_measurements(source, place.scene.model, 0.0);
    CHECK(ball.size() == 21u);
    CHECK_FALSE(ball.front().q_WA);
  }
}

TEST_CASE("read_measurements: rotation vectors, quotes, further columns and blank lines", "[apps][value]") {
  const Place place;
  const auto all = place.read(
      "remark,time,body,position_x,position_y,position_z,rotation_vector_x,rotation_vector_y,rotation_vector_"
      "z\r\n"
      "\"a \"\"b\"\", c\",0.5,\"box, tilted\",1,2,3,0,0,1.5\r\n\n"
      ",0.75,\"box, tilted\",1,2,3.5,0,0,1.6\n");
  REQUIRE(all.size() == 2);
  CHECK(all[0].body == 1);
  CHECK(all[0].p_WA == Vec3<double>(1, 2, 3));
  CHECK(close(log_quaternion(*all[1].q_WA), Vec3<double>(0, 0, 1.6), 1e-12, 1e-12));
}

TEST_CASE("read_measurements: bad data are named by file, row and column", "[apps][value]") {
  const Place place;
  struct Case {
    std::string text, line, cause;
  };
  const std::string first = "0.1" + k_row;
  const Case cases[] = {
      {"", "motion.csv", "empty"},
      {k_header, "motion.csv", "no measurement"},
      {k_header + first, "motion.csv", "measured once"},
      {"time,body,position_x,position_y\n", "motion.csv", "'position_z'"},
      {"time,body,position_x,position_y,position_z\n", "motion.csv", "'orientation_w'"},
      {"tme,body,position_x,position_y,position_z\n", "motion.csv", "'tme'"},
      {k_header + first + "0.2,\"box, tilted\",nan,0.2,0.3,1,0,0,0\n", ":3:", "'position_x'"},
      {k_header + first + "0.2,\"box, tilted\",,0.2,0.3,1,0,0,0\n", ":3:", "'position_x'"},
      {k_header + first + "0.2s,\"box, tilted\",0,0.2,0.3,1,0,0,0\n", ":3:", "'0.2s'"},
      {k_header + first + "0.2,\"box, tilted\",0,0.2,0.3,1,0,0\n", ":3:", "8 fields"},
      {k_header + first + "0.1" + k_row, ":3:", "does not lie after 0.1"},
      {k_header + "-0.1" + k_row, ":2:", "before the start"},
      {k_header + first + "0.2,\"box, tited\",0,0.2,0.3,1,0,0,0\n", ":3:", "did you mean 'box, tilted'"},
      {k_header + first + "0.2,\"box, tilted\",0,0.2,0.3,2,0,0,0\n", ":3:", "orientation of length 2"},
      {"time,body,position_x,position_y,position_z,rotation_vector_x,rotation_vector_y,rotation_vector_z\n"
       "0.1,ball,0,0,0,0,0,90\n",
       ":2:", "degrees"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    try {
      (void)place.read(c.text);
      FAIL("no error");
    } catch (const InputError& error) {
      CHECK_THAT(error.what(), Contains(c.line) && Contains(c.cause));
    }
  }
  CHECK_THROWS_WITH(place.read_file("motion.txt", ""), Contains(".csv"));
  CHECK_THROWS_WITH(place.read_file("motion.npz", "no archive"), Contains("motion.npz"));
}

}  // namespace abut::test
