#include "dynamics/step/contact_force.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "dynamics/step/stepper.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

constexpr double k_standard_gravity = 9.81;

struct Stepped {
  State next;
  StepReport report;
  std::vector<ContactForce> forces;

  Stepped(const TestScene& scene, const StepConfig& config) {
    const Stepper stepper(scene.model, config);
    StepScratch scratch;
    StepRecord record;
    report = stepper.step(scene.state, {}, next, scratch, &record);
    if (report.status == StepStatus::ok) stepper.contact_forces(scene.state, {}, record, scratch, forces);
  }
  /// On a body, of all contacts.
  [[nodiscard]] Vec3<double> force_on(int body) const {
    Vec3<double> sum = Vec3<double>::Zero();
    for (const ContactForce& force : forces) {
      if (force.feature.body_B == body) sum += force.force_B_W;
      if (force.feature.body_A == body) sum -= force.force_B_W;
    }
    return sum;
  }
};

}  // namespace

TEST_CASE("contact_forces: with gravity they account for the momentum of every body, whatever the law",
          "[dynamics][property]") {
  const ContactLaw law =
      GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty, ContactLaw::convex_cone,
               ContactLaw::impedance, ContactLaw::lcp, ContactLaw::relaxed_complementarity);
  const int variant = GENERATE(0, 1, 2);  // as it is, contacts blended, with restitution
  Random random(11);
  double largest = 0.0;
  for (int i = 0; i < 12; ++i) {
    TestScene scene = random_contact_scene(random);
    StepConfig config;
    config.law = law;
    if (law == ContactLaw::penalty) config.h = 2e-4;
    if (variant == 1) config.contact.reduction = Reduction::blend;
    for (Body& body : scene.model.bodies) {
      body.linear_damping = 0.0;
      if (variant == 2) body.material.restitution = 0.5;
    }
    scene = test::without_ignored(std::move(scene), law);
    const Stepped step(scene, config);
    CAPTURE(static_cast<int>(law), variant, i, to_string(step.report.status));
    REQUIRE(step.report.status == StepStatus::ok);
    for (int b = 1; b < scene.model.body_count(); ++b) {
      const double m = scene.body(b).mass;
      const Vec3<double> rate =
          m / config.h * (step.next.V_WB[static_cast<std::size_t>(b)] - scene.V_WB(b)).tail<3>();
      const Vec3<double> force = rate - m * scene.model.gravity;
      CAPTURE(b, force.transpose(), step.force_on(b).transpose());
      CHECK(close(step.force_on(b), force, 1e-5, 1e-5 * m * k_standard_gravity));
      largest = std::max(largest, force.norm() / (m * k_standard_gravity));
    }
  }
  CHECK(largest > 1.0);
}

TEST_CASE(
    "contact_forces: a box at rest is carried by its weight, one that slides holds back by mu times that",
    "[dynamics][value]") {
  const Vec3<double> half(0.1, 0.08, 0.05);
  const double mass = 2.0, mu = 0.3, speed = GENERATE(0.0, 1.0);
  TestScene scene = box_on_floor(box_of_mass(half, mass), half, mu, 0.0, speed);
  const Stepper stepper(scene.model, {});
  StepScratch scratch;
  for (int k = 0; k < 100; ++k) {  // until it has settled
    State next;
    REQUIRE(stepper.step(scene.state, {}, next, scratch).status == StepStatus::ok);
    scene.state = next;
  }
  const Stepped step(scene, {});
  REQUIRE(step.forces.size() >= 4);
  const double weight = mass * k_standard_gravity;
  CHECK(close(step.force_on(1), Vec3<double>(speed > 0.0 ? -mu * weight : 0.0, 0.0, weight), 0.0,
              1e-3 * weight));
  const double v = step.next.V_WB[1][3];
  for (const ContactForce& force : step.forces) {
    CAPTURE(force.force_B_W.transpose(), force.slip_W.transpose());
    CHECK(force.friction == Approx(mu));
    CHECK(force.normal_AB_W.z() == Approx(1.0));  // from the floor to the box
    CHECK(force.point_W.z() == Approx(0.0).margin(1e-4));
    if (force.normal_force() < 1e-3 * weight) continue;
    CHECK(force.friction_use() == (speed > 0.0 ? Approx(1.0).margin(2e-3) : Approx(0.0).margin(1e-2)));
    CHECK(close(force.slip_W, Vec3<double>(v, 0.0, 0.0), 0.0, 1e-3));
  }
  CHECK((speed > 0.0 ? v > 0.3 : std::abs(v) < 1e-6));
}

TEST_CASE("contact_forces: of a stack at rest none slides", "[dynamics][value]") {
  TestScene scene = stack_scene(4, 0.1, 1.0);
  const Stepper stepper(scene.model, {});
  StepScratch scratch;
  for (int k = 0; k < 300; ++k) {
    State next;
    REQUIRE(stepper.step(scene.state, {}, next, scratch).status == StepStatus::ok);
    scene.state = next;
  }
  const Stepped step(scene, {});
  for (const ContactForce& force : step.forces) {
    if (force.normal_force() < 1e-3) continue;
    CAPTURE(force.force_B_W.transpose());
    CHECK(force.normal_AB_W.norm() == Approx(1.0));
    CHECK(force.friction_use() < 0.5);
    CHECK(force.slip_W.norm() < 1e-4);
  }
  CHECK(step.forces.size() > 20);
}

TEST_CASE("contact_forces: a step that failed has none", "[dynamics][value]") {
  TestScene scene = floor_scene();
  scene.add(sphere_of_mass(0.1, 1.0), pose_at({0, 0, -1.0}));  // deeper than it is large
  const Stepper stepper(scene.model, {});
  StepScratch scratch;
  StepRecord record;
  State next;
  REQUIRE(stepper.step(scene.state, {}, next, scratch, &record).status == StepStatus::too_deep);
  std::vector<ContactForce> forces;
  CHECK_THROWS_AS(stepper.contact_forces(scene.state, {}, record, scratch, forces), std::logic_error);
}

}  // namespace abut::test
