// Ten boxes on each other rest on few contacts.
#include <catch2/catch.hpp>

#include "dynamics/simulator.h"
#include "engine/body_builder.h"
#include "engine/scene_io.h"

namespace abut::test {
namespace {

/// Contacts that count of the bundled stack at rest, its boxes of eight corners if asked for.
std::size_t contacts_at_rest(bool has_corners_alone, bool flush_faces) {
  Scene scene = read_scene(ABUT_SOURCE_DIR "/assets/scenes/box_stack.toml");
  for (Body& body : scene.model.bodies) {
    if (body.fixed) continue;
    if (!has_corners_alone) {
      REQUIRE(body.contact_points.cols() == 98);
      continue;
    }
    const auto& size = body.shape.primitives[0].parameters;
    Body corners = make_box({size[0], size[1], size[2]}, size[3], 1, body.mass / body.volume);
    REQUIRE(corners.contact_points.cols() == 8);
    corners.material = body.material;
    body = corners;
  }
  scene.config.step.contact.flush_faces = flush_faces;
  const Simulator simulator(scene.model, scene.config.step);
  State end;
  REQUIRE(simulate(simulator.stepper(), scene.initial, 1000, {}, end).status == StepStatus::ok);
  for (std::size_t b = 1; b < end.V_WB.size(); ++b) {
    REQUIRE(end.V_WB[b].norm() < 1e-3);
    REQUIRE((end.X_WB[b].p - scene.initial.X_WB[b].p).norm() < 1e-3);
  }
  return simulator.contacts(end).contacts.size();
}

}  // namespace

TEST_CASE("stacked boxes: ten have few contacts at rest, for their faces lie flush", "[dynamics][value]") {
  CHECK(contacts_at_rest(false, true) <= 350);
  CHECK(contacts_at_rest(true, true) <= 120);
  CHECK(contacts_at_rest(false, false) > 350);
  CHECK(contacts_at_rest(true, false) > 120);
}

}  // namespace abut::test
