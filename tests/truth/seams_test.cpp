// Bodies that slide over separate tables whose tops are level: along them, obliquely, where four of them meet, and up a
// step of micrometres, which none of them feels; and one of a tenth of a millimetre, which stops them.
#include <catch2/catch.hpp>

#include <cmath>
#include <string>

#include "tests/support/watched_run.h"
#include "tests/truth/situations/bodies.h"

namespace {

using namespace abut;
using truth::Actor;

constexpr double k_seam_length = 0.1, k_seam_friction = 0.4;  // L of the slider [m]
constexpr double k_seam_at = 0.127;                           // of the first seam, ahead of the slider [m]

struct SeamSlide {
  double path = 0.0;    ///< along its heading [m]
  double beside = 0.0;  ///< [m]
  double turned = 0.0;  ///< [rad]
  double lift = 0.0;    ///< largest [m]
};

/// Four tables that meet at (k_seam_at, 0.02), the two farther ones lower or higher by a step.
test::TestScene tables(const std::string& kind, double step) {
  test::TestScene scene;
  const Vec3<double> half(0.5, 0.4, 0.1);
  for (const double x : {-1.0, 1.0}) {
    for (const double y : {-1.0, 1.0})
      scene.add(
          truth::fixed(truth::box_body(kind, half)),
          test::pose_at({k_seam_at + x * half.x(), 0.02 + y * half.y(), -half.z() + (x > 0.0 ? step : 0.0)}));
  }
  return scene;
}

SeamSlide slide_over(test::TestScene scene, const std::string& slider, double yaw, double heading,
                     double speed, double friction, double h, double seconds) {
  Actor actor = truth::flat_actor(slider, k_seam_length);
  const Vec3<double> along(std::cos(heading), std::sin(heading), 0.0);
  const Pose<double> X = test::pose_at({0.0, 0.0, actor.height}, {0.0, 0.0, yaw});
  const int b = scene.add(std::move(actor.body), X, test::moving_at(speed * along));
  scene.set_friction(friction);
  SeamSlide result;
  const test::WatchedRun run = test::watch(
      scene, test::config_with_step(h), static_cast<int>(std::lround(seconds / h)), [&](const State& state) {
        result.lift = std::max(result.lift, state.X_WB[static_cast<std::size_t>(b)].p.z() - X.p.z());
      });
  REQUIRE(run.status == StepStatus::ok);
  const Vec6<double> moved = difference(run.end.X_WB[static_cast<std::size_t>(b)], X);
  result.path = along.dot(moved.tail<3>());
  result.beside = (moved.tail<3>() - result.path * along).head<2>().norm();
  result.turned = moved.head<3>().norm();
  return result;
}

double stopping_distance(double speed, double h) {
  return 0.5 * speed * speed / (k_seam_friction * truth::k_g) - 0.5 * speed * h;
}

}  // namespace

TEST_CASE("seams: a body stops after v^2/(2 mu g) on flush tables, straight or oblique",
          "[truth][property]") {
  const std::string slider = GENERATE("box", "polyhedron", "rounded_box"),
                    table = GENERATE("box", "polyhedron");
  const double h = GENERATE(2e-3, 1e-3), speed = 1.4;
  for (const auto& [yaw, heading] : {std::pair{0.0, 0.0}, {0.0, 0.3}, {0.4, 0.0}, {1.0, -0.5}}) {
    const SeamSlide slide =
        slide_over(tables(table, 0.0), slider, yaw, heading, speed, k_seam_friction, h, 0.5);
    const double exact = stopping_distance(speed, h);
    CAPTURE(slider, table, h, yaw, heading, slide.path, exact, slide.beside, slide.turned, slide.lift);
    CHECK(std::abs(slide.path / exact - 1.0) < 0.01);
    CHECK(slide.beside < 0.01 * exact);
    CHECK(slide.turned < 0.01);
    CHECK(slide.lift < 5e-5);
  }
}

TEST_CASE("seams: a body keeps its speed across them without friction", "[truth][property]") {
  const std::string slider = GENERATE("box", "polyhedron", "rounded_box");
  const double h = GENERATE(2e-3, 1e-3), speed = GENERATE(0.02, 0.3, 1.4), heading = GENERATE(0.0, 0.3);
  const double seconds = 0.06 / speed + 0.1;  // its front comes to the seam after 27 mm
  const SeamSlide slide = slide_over(tables("box", 0.0), slider, 0.0, heading, speed, 0.0, h, seconds);
  CAPTURE(slider, h, speed, heading, slide.path, slide.beside, slide.turned, slide.lift);
  // 20 mm/s are 20 to 40 um a step.
  CHECK(std::abs(slide.path / (speed * seconds) - 1.0) < (speed < 0.1 ? 0.05 : 0.01));
  CHECK(slide.turned < 0.01);
}

TEST_CASE("seams: micrometres up or down are no step, and a tenth of a millimetre is one",
          "[truth][property]") {
  const std::string slider = GENERATE("box", "polyhedron");
  const double h = GENERATE(2e-3, 1e-3), speed = 1.4, exact = stopping_distance(speed, h);
  for (const double step : {-1e-3, -1e-4, -1e-5, -1e-6, 1e-6, 1e-5}) {
    const SeamSlide slide = slide_over(tables("box", step), slider, 0.0, 0.0, speed, k_seam_friction, h, 0.5);
    CAPTURE(slider, h, step, slide.path, exact, slide.beside, slide.turned, slide.lift);
    CHECK(std::abs(slide.path / exact - 1.0) < 0.02);
    CHECK(slide.lift < 4e-5);
  }
  for (const double step : {1e-4, 1e-3, 1e-2}) {  // its front is 27 mm from it
    for (const double slow : {0.5, speed}) {
      const SeamSlide slide = slide_over(tables("box", step), slider, 0.0, 0.0, slow, 0.0, h, 0.2);
      CAPTURE(slider, h, step, slow, slide.path, slide.lift);
      CHECK(slide.path < 0.03);
    }
  }
}
