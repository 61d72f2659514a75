// Bodies with a small clearance around them pass through gaps, notches and holes, and past edges.
#include <catch2/catch.hpp>

#include <cmath>
#include <string>

#include <spdlog/fmt/fmt.h>

#include "collision/fitting/shape_surface.h"
#include "dynamics/simulator.h"
#include "engine/scene_io.h"
#include "tests/support/mesh_files.h"
#include "tests/support/temporary_folder.h"

namespace {

using namespace abut;

/// A body of a scene: [[body]] keys, and the keys of its primitives.
std::string body_text(const std::string& keys, std::initializer_list<std::string> primitives) {
  std::string text = "[[body]]\n" + keys + "\n";
  for (const std::string& primitive : primitives) text += "[[body.primitive]]\n" + primitive + "\n";
  return text;
}

std::string box_text(double x, double y, double z) {
  return fmt::format("kind = \"box\"\nhalf_extents = [{}, {}, {}]", x, y, z);
}

const std::string k_floor = body_text("name = \"floor\"\nfriction = 0.2", {"kind = \"half_space\""});

/// The last body of a scene after some time.
struct Fall {
  Pose<double> X;
  Vec6<double> V;
};

Fall fall(const std::string& bodies, double h, double seconds, const std::string& mesh = {}) {
  const test::TemporaryFolder folder;
  if (!mesh.empty()) folder.write("mesh.obj", mesh);
  const Scene scene = read_scene(
      folder.write("scene.toml", fmt::format("[simulation]\ntime_step = {}\n", h) + bodies), surface_maker());
  const Simulator simulator(scene.model, scene.config.step);
  const Trajectory trajectory = simulator.rollout(scene.initial, static_cast<int>(std::lround(seconds / h)));
  REQUIRE(trajectory.ok());
  return {trajectory.states.back().X_WB.back(), trajectory.states.back().V_WB.back()};
}

/// Angle by which the z axis of a body is off that of the world [rad].
double tilt(const Fall& end) { return std::acos(std::min(1.0, (end.X.q * Vec3<double>::UnitZ()).z())); }

/// A beam 120 mm high with a notch 44 mm wide and 60 mm deep in the middle of its upper side, exact.
TriangleMesh notched_beam() {
  const double a = 0.3, b = 0.022, y = 0.02, z = 0.06;
  TriangleMesh mesh;
  // The outline in the plane y = -0.02, anticlockwise seen from there, and again at y = 0.02.
  const double outline[8][2] = {{-a, -z}, {a, -z}, {a, z}, {b, z}, {b, 0.0}, {-b, 0.0}, {-b, z}, {-a, z}};
  mesh.vertices.resize(3, 16);
  for (int i = 0; i < 16; ++i)
    mesh.vertices.col(i) = Vec3<double>(outline[i % 8][0], i < 8 ? -y : y, outline[i % 8][1]);
  for (int i = 0; i < 8; ++i) {
    const int j = (i + 1) % 8;
    mesh.triangles.emplace_back(i, 8 + i, 8 + j);
    mesh.triangles.emplace_back(i, 8 + j, j);
  }
  for (const Eigen::Vector3i& t :
       {Eigen::Vector3i(0, 5, 7), Eigen::Vector3i(5, 6, 7), Eigen::Vector3i(0, 4, 5),
        Eigen::Vector3i(0, 1, 4), Eigen::Vector3i(1, 2, 4), Eigen::Vector3i(2, 3, 4)}) {
    mesh.triangles.push_back(t);
    mesh.triangles.emplace_back(8 + t[0], 8 + t[2], 8 + t[1]);
  }
  return mesh;
}

}  // namespace

TEST_CASE("clearance: a cube falls freely past the edge of a table", "[truth][value]") {
  const double gap = GENERATE(2e-4, 1e-3, 5e-3), h = GENERATE(1e-3, 2e-3, 4e-3);
  const double start = 0.6, seconds = 0.24;
  const Fall end = fall(
      body_text("name = \"table\"\nfixed = true\nposition = [-0.2, 0, 0.38]", {box_text(0.2, 0.2, 0.02)}) +
          body_text(fmt::format("name = \"cube\"\ndensity = 500\nposition = [{}, 0, {}]", 0.05 + gap, start),
                    {box_text(0.05, 0.05, 0.05)}),
      h, seconds);
  CAPTURE(gap, h, end.X.p.transpose(), end.V.transpose());
  const double g = 9.81;
  CHECK(std::abs(end.X.p.z() - (start - 0.5 * g * seconds * (seconds + h))) < 0.5 * g * h * seconds + 1e-9);
  CHECK(std::abs(end.V[5] + g * seconds) < 1e-9);
  CHECK(end.V.head<5>().norm() < 1e-9);
}

TEST_CASE("clearance: a book of 30 mm falls through a gap of 32 mm", "[truth][value]") {
  const auto side = [](const std::string& name, double x) {
    return body_text(
        fmt::format("name = \"{}\"\nfixed = true\nfriction = 0.1\nposition = [{}, 0, 0.125]", name, x),
        {box_text(0.1, 0.1, 0.125)});
  };
  const Fall end =
      fall(k_floor + side("left", -0.116) + side("right", 0.116) +
               body_text("name = \"book\"\ndensity = 500\nfriction = 0.1\nposition = [0, 0, 0.38]",
                         {box_text(0.015, 0.1, 0.125)}),
           2e-3, 1.0);
  CAPTURE(end.X.p.transpose(), tilt(end));
  CHECK(std::abs(end.X.p.z() - 0.125) < 1e-4);
  CHECK(tilt(end) < 2e-3);
}

TEST_CASE("clearance: a beam of 40 mm falls into a notch of 44 mm", "[truth][value]") {
  const Fall end = fall(
      k_floor +
          body_text("name = \"notched\"\nfixed = true\nfriction = 0.1\nposition = [0, 0, 0.06]\nmesh = "
                    "\"mesh.obj\"",
                    {box_text(0.3, 0.02, 0.06),
                     box_text(0.022, 0.05, 0.06) + "\noperation = \"subtract\"\nposition = [0, 0, 0.06]"}) +
          body_text("name = \"beam\"\ndensity = 600\nfriction = 0.1\nposition = [0, 0, 0.19]",
                    {box_text(0.02, 0.3, 0.06)}),
      2e-3, 1.0, test::obj_text(notched_beam()));
  CAPTURE(end.X.p.transpose(), tilt(end));
  CHECK(std::abs(end.X.p.z() - 0.12) < 1e-4);
  CHECK(tilt(end) < 2e-3);
}

TEST_CASE("clearance: a round peg of 20 mm enters a hole that is wider by 0.02 mm all round",
          "[truth][value]") {
  // At 0.01 mm it is stopped: the chords of the hole's rim reach into it.
  const bool is_cone = GENERATE(false, true);
  const double h = GENERATE(1e-3, 2e-3, 4e-3), clearance = 2e-5;
  const auto round = [&](double radius) {
    return is_cone
               ? fmt::format("kind = \"cone\"\nradius = {0}\ntop_radius = {0}\nhalf_length = 0.03", radius)
               : fmt::format("kind = \"cylinder\"\nradius = {}\nhalf_length = 0.03", radius);
  };
  const Fall end = fall(
      k_floor +
          body_text("name = \"plate\"\nfixed = true\nfriction = 0.2\nposition = [0, 0, 0.0151]",
                    {box_text(0.05, 0.05, 0.015), round(0.01 + clearance) + "\noperation = \"subtract\""}) +
          body_text("name = \"peg\"\ndensity = 7800\nfriction = 0.2\nposition = [0, 0, 0.065]",
                    {round(0.01)}),
      h, 1.0);
  CAPTURE(clearance, is_cone, h, end.X.p.transpose(), tilt(end));
  CHECK(std::abs(end.X.p.z() - 0.03) < 1e-4);
  CHECK(tilt(end) < 2e-3);
}
