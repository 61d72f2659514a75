// What stands on a turning table is carried round; what rolls on one circles at two sevenths of its rate.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/truths.h"
#include "tests/support/watched_run.h"

namespace abut {
namespace {

constexpr double k_friction = 0.6;

/// A half-space or a box whose upper face is z = 0, of infinite mass, that turns about z.
test::TestScene turning_table(double spin, bool is_box) {
  test::TestScene scene;
  Body table = is_box ? make_box({1.0, 1.0, 0.1}, 0.0, 4, 1000.0) : make_half_space();
  table.fixed = true;
  table.material.friction = k_friction;
  scene.add(table, test::pose_at({0.0, 0.0, is_box ? -0.1 : 0.0}),
            stack<double>(Vec3<double>(0.0, 0.0, spin), Vec3<double>::Zero()));
  return scene;
}

/// A box that stands on it at rest, in its frame.
test::TestScene carried_box(double spin, double radius, bool is_box) {
  test::TestScene scene = turning_table(spin, is_box);
  Body box = test::box_of_mass({0.05, 0.05, 0.05}, 1.0);
  box.material.friction = k_friction;
  scene.add(box, test::pose_at({radius, 0.0, 0.05}),
            stack<double>(Vec3<double>(0.0, 0.0, spin), Vec3<double>(0.0, spin * radius, 0.0)));
  return scene;
}

/// Largest change of the distance from the axis [m].
double change_of_radius(const test::TestScene& scene, const StepConfig& config, double seconds) {
  const auto radius_of = [](const State& state) { return state.X_WB[1].p.head<2>().norm(); };
  const double radius = radius_of(scene.state);
  double change = 0.0;
  const test::WatchedRun run = test::watch(
      scene, config, static_cast<int>(std::lround(seconds / config.h)),
      [&](const State& state) { change = std::max(change, std::abs(radius_of(state) - radius)); });
  REQUIRE(run.status == StepStatus::ok);
  return change;
}

}  // namespace

TEST_CASE("turntable: a box that friction holds keeps its distance from the axis", "[truth][value]") {
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::convex_cone, ContactLaw::lcp,
                                  ContactLaw::relaxed_complementarity);
  const bool is_box = GENERATE(false, true);
  const double spin = 1.8, radius = 0.3;  // w^2 r is a sixth of mu g
  StepConfig config = test::config_with_step(2e-3);
  config.law = law;
  const double change = change_of_radius(carried_box(spin, radius, is_box), config, 4.0);
  CAPTURE(to_string(law), is_box, change);
  CHECK(change < 2e-4);  // creep of friction; r w^2 h/2 would be 3.9e-3
}

TEST_CASE("turntable: a ball that rolls on it circles at two sevenths of its rate", "[truth][value]") {
  const double R = 0.05, spin = 4.0, h = GENERATE(1e-3, 2e-3, 4e-3);
  const Vec3<double> start(0.3, 0.0, R), v(0.0, 0.15, 0.0), up = Vec3<double>::UnitZ();
  test::TestScene scene = turning_table(spin, false);
  Body ball = test::sphere_of_mass(R, 1.0);
  ball.material.friction = k_friction;
  const Vec3<double> slip = spin * up.cross(start) - v;  // what the spin has to make up for
  scene.add(ball, test::pose_at(start), stack<double>(Vec3<double>(-up.cross(slip) / R), v));

  // dv/dt = 2/7 spin z x v: a circle about a point where it would rest.
  const double rate = 2.0 / 7.0 * spin, seconds = 2.0 * std::numbers::pi / rate;
  const Vec3<double> centre = start + up.cross(v) / rate;
  const double circle = (start - centre).norm();
  double off = 0.0;
  const test::WatchedRun run =
      test::watch(scene, test::config_with_step(h), static_cast<int>(seconds / h), [&](const State& state) {
        const Vec3<double> from_centre = state.X_WB[1].p - centre;
        off = std::max(off, std::abs(from_centre.head<2>().norm() - circle));
      });
  CAPTURE(h, circle, off, run.end.X_WB[1].p.transpose());
  CHECK(run.status == StepStatus::ok);
  CHECK(off < 1e-2 * circle);
  CHECK((run.end.X_WB[1].p - start).norm() < 2e-2 * circle + h * v.norm());
}

}  // namespace abut
