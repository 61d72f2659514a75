#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "apps/viewer/contact_description.h"
#include "apps/viewer/force_sums.h"
#include "tests/viewer/headless_viewer.h"

namespace abut::viewer {
namespace {

ContactDisplay display_of(ForceSum sum) {
  ContactDisplay display;
  display.forces = true;
  display.force_sum = sum;
  display.least = 0.0;
  return display;
}

std::vector<ForceArrow> arrows_of(const Frame& frame, ForceSum sum) {
  return force_arrows(frame.model->model(), contacts_of(frame), display_of(sum));
}

Vec3<double> total(const std::vector<ForceArrow>& arrows) {
  Vec3<double> sum = Vec3<double>::Zero();
  for (const ForceArrow& arrow : arrows) sum += arrow.force_W;
  return sum;
}

}  // namespace

TEST_CASE("Force sums: boxes of a stack at rest carry their weight, each pair what lies above it",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("box_stack"));
  user.steps(600);
  user.draw();
  const Frame& frame = user.frame();
  const Model& model = frame.model->model();
  const double g = model.gravity.norm();
  const auto weight_of = [&](int body) { return g * model.bodies[static_cast<std::size_t>(body)].mass; };
  const std::vector<ForceArrow> bodies = arrows_of(frame, ForceSum::body);
  int moving = 0;
  for (int b = 0; b < model.body_count(); ++b) moving += !model.bodies[static_cast<std::size_t>(b)].fixed;
  REQUIRE(static_cast<int>(bodies.size()) == moving);
  REQUIRE(moving >= 2);
  double weight = 0.0;
  for (const ForceArrow& arrow : bodies) {
    CAPTURE(arrow.body);
    weight += weight_of(arrow.body);
    CHECK(arrow.from == -1);
    CHECK(arrow.force_W.dot(-model.gravity) / g == Approx(weight_of(arrow.body)).epsilon(0.01));
    CHECK_FALSE(has_friction_cone(arrow));
  }
  const std::vector<ForceArrow> pairs = arrows_of(frame, ForceSum::pair);
  CHECK(pairs.size() == bodies.size());  // each on what is below it
  double heaviest = 0.0;
  for (const ForceArrow& arrow : pairs) {
    heaviest = std::max(heaviest, arrow.force_W.norm());
    CHECK(has_friction_cone(arrow));
    CHECK(friction_use(arrow) < 0.2);
    // In the middle of the face, as the boxes are symmetric.
    const Vec3<double> away = arrow.point_W - frame.state.X_WB[static_cast<std::size_t>(arrow.body)].p;
    CHECK(away.head<2>().norm() < 0.2 * model.bodies[static_cast<std::size_t>(arrow.body)].size);
  }
  CHECK(heaviest == Approx(weight).epsilon(0.01));
}

TEST_CASE("Force sums: forces of contacts add up to those of pairs, and those of bodies cancel",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("gripper"));
  user.steps(100);
  user.draw();
  const Frame& frame = user.frame();
  const std::vector<ForceArrow> contacts = arrows_of(frame, ForceSum::contact),
                                pairs = arrows_of(frame, ForceSum::pair);
  REQUIRE(contacts.size() > pairs.size());
  REQUIRE_FALSE(pairs.empty());
  CHECK((total(contacts) - total(pairs)).norm() < 1e-9 * (1.0 + total(pairs).norm()));
  int parts = 0;
  for (const ForceArrow& pair : pairs) {
    parts += pair.count;
    Vec3<double> sum = Vec3<double>::Zero();
    for (const ForceArrow& one : contacts) {
      if (one.body == pair.body && one.from == pair.from) sum += one.force_W;
    }
    CHECK((sum - pair.force_W).norm() < 1e-9 * (1.0 + sum.norm()));
  }
  CHECK(parts == static_cast<int>(contacts.size()));
  const Model& model = frame.model->model();
  const bool all_bounded = std::all_of(pairs.begin(), pairs.end(), [&](const ForceArrow& pair) {
    return std::isfinite(model.bodies[static_cast<std::size_t>(pair.from)].size) &&
           std::isfinite(model.bodies[static_cast<std::size_t>(pair.body)].size);
  });
  if (all_bounded) CHECK(total(arrows_of(frame, ForceSum::body)).norm() < 1e-9 * (1.0 + total(pairs).norm()));
}

TEST_CASE("Force sums: all that acts on a body, by pairs or in all, with the torque that it has",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("gripper"));
  user.steps(100);
  user.draw();
  const Frame& frame = user.frame();
  const std::vector<ForceArrow> pairs = arrows_of(frame, ForceSum::pair);
  REQUIRE(pairs.size() >= 2);
  const auto by_pair = forces_of_pairs(frame);
  CHECK(by_pair.size() == pairs.size());
  std::map<int, Vec3<double>> of_body;
  for (const ForceArrow& pair : pairs) {
    const ForceArrow one = force_on(frame, pair.body, pair.from),
                     other = force_on(frame, pair.from, pair.body);
    const double size = 1e-12 * (1.0 + pair.force_W.norm());
    CHECK((one.force_W - pair.force_W).norm() < size);
    CHECK((one.force_W + other.force_W).norm() < size);
    CHECK((by_pair.at({pair.from, pair.body}).force_W - pair.force_W).norm() < size);
    CHECK(one.friction == Approx(pair.friction));
    CHECK(one.normal_force == Approx(other.normal_force));
    CHECK(one.count == pair.count);
    of_body.try_emplace(pair.body, Vec3<double>::Zero()).first->second += pair.force_W;
    of_body.try_emplace(pair.from, Vec3<double>::Zero()).first->second -= pair.force_W;
  }
  for (const auto& [body, force_W] : of_body) {
    CHECK((force_on(frame, body).force_W - force_W).norm() < 1e-9 * (1.0 + force_W.norm()));
    // Moving the point that the torque is about changes it by the moment of the force.
    const Vec3<double> a(0.1, -0.4, 0.3), b(-0.2, 0.5, 0.7);
    const Vec3<double> change = contact_torque_on(frame, body, b) - contact_torque_on(frame, body, a);
    CHECK((change - (a - b).cross(force_W)).norm() < 1e-9 * (1.0 + force_W.norm()));
  }
  // Nothing acts on a body that touches nothing.
  HeadlessViewer apart(scene_file("sphere_bounce"));
  const ForceArrow none = force_on(apart.frame(), 1);
  CHECK(none.count == 0);
  CHECK(none.force_W == Vec3<double>::Zero());
  CHECK(none.point_W.allFinite());
  CHECK(none.friction == 0.0);
}

TEST_CASE("Force sums: what is hidden does not count", "[viewer][value]") {
  HeadlessViewer user(scene_file("box_stack"));
  user.steps(100);
  user.draw();
  ContactDisplay display = display_of(ForceSum::pair);
  REQUIRE_FALSE(force_arrows(user.frame().model->model(), contacts_of(user.frame()), display).empty());
  display.vertex_sdf = display.edge_edge = display.edge_sdf = display.convex_parts = display.triangle_sdf =
      display.blended = false;
  CHECK(force_arrows(user.frame().model->model(), contacts_of(user.frame()), display).empty());
}

}  // namespace abut::viewer
