// Bodies in frames, grooves and holes: made meshes have no edges across inner corners.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <spdlog/fmt/fmt.h>

#include "collision/fitting/shape_surface.h"
#include "dynamics/simulator.h"
#include "engine/scene_io.h"
#include "tests/support/temporary_folder.h"

namespace {

using namespace abut;

/// The table of a primitive in a scene, of a box.
std::string box_table(double x, double y, double z, const std::string& keys = {}) {
  return fmt::format("[[body.primitive]]\nkind = \"box\"\nhalf_extents = [{}, {}, {}]\n{}\n", x, y, z, keys);
}

/// The second body of a scene, moved by a force of its own weight and no other, or by none.
Trajectory run(const std::string& bodies, double h, double seconds, const std::string& gravity) {
  const test::TemporaryFolder folder;
  const Scene scene = read_scene(
      folder.write("scene.toml",
                   fmt::format("[simulation]\ntime_step = {}\ngravity = {}\n", h, gravity) + bodies),
      surface_maker());
  const Simulator simulator(scene.model, scene.config.step);
  Trajectory trajectory = simulator.rollout(scene.initial, static_cast<int>(std::lround(seconds / h)));
  REQUIRE(trajectory.ok());
  return trajectory;
}

/// A frame of 1 x 0.6 x 0.2 m with a hole of 0.6 x 0.4 m.
std::string frame_text(const std::string& kind) {
  const std::string head = "[[body]]\nname = \"frame\"\nfixed = true\nfriction = 0.3\n";
  if (kind == "box minus box")
    return head + box_table(0.5, 0.3, 0.1) + box_table(0.3, 0.2, 0.2, "operation = \"subtract\"");
  return head + box_table(0.5, 0.05, 0.1, "position = [0, 0.25, 0]") +
         box_table(0.5, 0.05, 0.1, "position = [0, -0.25, 0]") +
         box_table(0.1, 0.3, 0.1, "position = [-0.4, 0, 0]") +
         box_table(0.1, 0.3, 0.1, "position = [0.4, 0, 0]");
}

/// A channel along x: 0.2 m wide and 0.2 m deep, its floor at z = 0.
const std::string k_channel = "[[body]]\nname = \"channel\"\nfixed = true\nfriction = 0\n" +
                              box_table(0.5, 0.2, 0.05, "position = [0, 0, -0.05]") +
                              box_table(0.5, 0.05, 0.1, "position = [0, -0.15, 0.1]") +
                              box_table(0.5, 0.05, 0.1, "position = [0, 0.15, 0.1]");

}  // namespace

TEST_CASE("inner corners: a plate flies through the hole of a frame as if that were not there",
          "[truth][value]") {
  const std::string kind = GENERATE("box minus box", "four boxes");
  const double room = GENERATE(0.01, 0.02, 0.04), h = GENERATE(1e-3, 2e-3);
  const double seconds = 0.8, speed = 1.0, start = 0.4;
  const Trajectory trajectory =
      run(frame_text(kind) +
              fmt::format("[[body]]\nname = \"plate\"\nmass = 1\nfriction = 0.3\nposition = [0, 0, {}]\n"
                          "linear_velocity = [0, 0, {}]\n",
                          start, -speed) +
              box_table(0.3 * (1.0 - room), 0.2 * (1.0 - room), 0.05),
          h, seconds, "[0, 0, 0]");
  const Pose<double>& X = trajectory.states.back().X_WB.back();
  const Vec6<double>& V = trajectory.states.back().V_WB.back();
  CAPTURE(kind, room, h, X.p.transpose(), V.transpose());
  CHECK(std::abs(X.p.z() - (start - speed * seconds)) < 1e-9);
  CHECK(X.p.head<2>().norm() < 1e-9);
  CHECK((V - (Vec6<double>() << 0, 0, 0, 0, 0, -speed).finished()).norm() < 1e-9);
}

TEST_CASE("inner corners: a round peg flies through a round hole as if that were not there",
          "[truth][value]") {
  const std::string kind = GENERATE("cylinder", "cone");
  const double room = GENERATE(0.005, 0.01, 0.04), h = GENERATE(1e-3, 2e-3);
  const double seconds = 0.4, speed = 1.0, start = 0.2, radius = 0.04;
  const auto round = [&](double r) {
    return kind == "cone"
               ? fmt::format(
                     "[[body.primitive]]\nkind = \"cone\"\nradius = {0}\ntop_radius = {0}\nhalf_length = "
                     "0.1\n",
                     r)
               : fmt::format("[[body.primitive]]\nkind = \"cylinder\"\nradius = {}\nhalf_length = 0.1\n", r);
  };
  const Trajectory trajectory =
      run("[[body]]\nname = \"plate\"\nfixed = true\nfriction = 0.3\n" + box_table(0.2, 0.2, 0.05) +
              round(radius * (1.0 + 2.0 * room)) + "operation = \"subtract\"\n" +
              fmt::format("[[body]]\nname = \"peg\"\nmass = 1\nfriction = 0.3\nposition = [0, 0, {}]\n"
                          "linear_velocity = [0, 0, {}]\n",
                          start, -speed) +
              round(radius),
          h, seconds, "[0, 0, 0]");
  const Vec3<double> way = trajectory.states.back().X_WB.back().p - trajectory.states.front().X_WB.back().p;
  const Vec6<double>& V = trajectory.states.back().V_WB.back();
  CAPTURE(kind, room, h, way.transpose(), V.transpose());
  CHECK((way - Vec3<double>(0, 0, -speed * seconds)).norm() < 1e-9);
  CHECK((V - (Vec6<double>() << 0, 0, 0, 0, 0, -speed).finished()).norm() < 1e-9);
}

TEST_CASE("inner corners: a block slides into a channel with 3 % of room and on without friction",
          "[truth][value]") {
  const double room_below = GENERATE(0.002, 0.005);
  const double speed = 2.0, seconds = 0.5, start = -0.8;
  const Trajectory trajectory =
      run(k_channel +
              fmt::format("[[body]]\nname = \"block\"\nmass = 1\nfriction = 0\nposition = [{}, 0, {}]\n"
                          "linear_velocity = [{}, 0, 0]\n",
                          start, 0.08 + room_below, speed) +
              box_table(0.15, 0.097, 0.08),
          2e-3, seconds, "[0, 0, 0]");
  const Pose<double>& X = trajectory.states.back().X_WB.back();
  const Vec6<double>& V = trajectory.states.back().V_WB.back();
  CAPTURE(room_below, X.p.transpose(), V.transpose());
  CHECK(std::abs(X.p.x() - (start + speed * seconds)) < 1e-9);
  CHECK((V - (Vec6<double>() << 0, 0, 0, speed, 0, 0).finished()).norm() < 1e-9);
}

TEST_CASE("inner corners: a block rests in a channel and is lifted out of it", "[truth][value]") {
  const double h = GENERATE(1e-3, 2e-3);
  const std::string block = "[[body]]\nname = \"block\"\nmass = 1\nfriction = 0\n";
  const Trajectory rest = run(k_channel + block + "position = [0, 0, 0.082]\n" + box_table(0.15, 0.097, 0.08),
                              h, 1.0, "[0, 0, -9.81]");
  const Pose<double>& X = rest.states.back().X_WB.back();
  CAPTURE(h, X.p.transpose());
  CHECK(std::abs(X.p.z() - 0.08) < 2e-4);
  CHECK(X.p.head<2>().norm() < 1e-4);
  CHECK(rest.states.back().V_WB.back().norm() < 1e-4);
  // Upwards from there, gently: nothing holds it.
  const double speed = 0.5, seconds = 0.8;
  const Trajectory lift = run(
      k_channel + block + fmt::format("position = [0, 0, 0.0801]\nlinear_velocity = [0, 0, {}]\n", speed) +
          box_table(0.15, 0.097, 0.08),
      h, seconds, "[0, 0, 0]");
  const Pose<double>& lifted = lift.states.back().X_WB.back();
  CAPTURE(lifted.p.transpose());
  CHECK(std::abs(lifted.p.z() - (0.0801 + speed * seconds)) < 1e-3);
  CHECK(lift.states.back().V_WB.back().head<3>().norm() < 1e-3);
}

TEST_CASE("inner corners: a square peg falls through a square hole in a plate", "[truth][value]") {
  const double room = GENERATE(0.01, 0.02, 0.05), h = GENERATE(1e-3, 2e-3);
  const double start = 0.2, seconds = 0.3, g = 9.81;
  const Trajectory trajectory =
      run("[[body]]\nname = \"plate\"\nfixed = true\nfriction = 0.2\n" + box_table(0.1, 0.1, 0.02) +
              box_table(0.02, 0.02, 0.05, "operation = \"subtract\"") +
              fmt::format("[[body]]\nname = \"peg\"\nmass = 0.1\nfriction = 0.2\nposition = [0, 0, {}]\n",
                          start) +
              box_table(0.02 * (1.0 - room), 0.02 * (1.0 - room), 0.05),
          h, seconds, "[0, 0, -9.81]");
  const Pose<double>& X = trajectory.states.back().X_WB.back();
  const Vec6<double>& V = trajectory.states.back().V_WB.back();
  CAPTURE(room, h, X.p.transpose(), V.transpose());
  // With 0.2 mm of room at 4 mm a step its corners graze the rim by friction.
  const double grazing = room > 0.015 ? 0.0 : 0.05;
  CHECK(std::abs(X.p.z() - (start - 0.5 * g * seconds * seconds)) <
        0.6 * g * h * seconds + grazing * 0.5 * g * seconds * seconds);
  CHECK(std::abs(V[5] + g * seconds) < 1e-6 + grazing * g * seconds);
  CHECK(V.head<5>().norm() < 1e-6);
}
