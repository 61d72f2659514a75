#include <catch2/catch.hpp>

#include "apps/viewer/joint_glyphs.h"
#include "apps/viewer/panels/scene_tree.h"
#include "apps/viewer/picture_maker.h"
#include "dynamics/step/joint_force.h"
#include "tests/viewer/panel_desk.h"

namespace abut::viewer {
namespace {

using Catch::Contains;

std::string copied_all(Desk& desk) {
  Panel& panel = desk.panel(GLFW_KEY_F11);
  const auto button = desk.find(panel, [] { return ImGui::GetID("Copy all"); });
  REQUIRE(button);
  desk.click(panel, *button);
  return ImGui::GetClipboardText();
}

double number_in(const std::string& text, const std::string& name) {
  const std::size_t place = text.find("\n" + name + "\t");
  REQUIRE(place != std::string::npos);
  return std::stod(text.substr(place + name.size() + 2));
}

}  // namespace

TEST_CASE("inspector: says how to select as long as nothing is, and shows what is", "[viewer][value]") {
  Desk desk(scene_file("box_stack"));
  run_steps(desk, 300);
  Panel& panel = desk.panel(GLFW_KEY_F11);
  CHECK_FALSE(desk.find(panel, [] { return ImGui::GetID("Copy all"); }));
  desk.selection.select_body(1);
  const std::string of_body = copied_all(desk);
  const Body& body = desk.frame->model->model().bodies[1];
  CHECK_THAT(of_body, Contains("Body\t" + body.name + "\n"));
  CHECK(number_in(of_body, "Mass") == body.mass);  // with all its digits
  CHECK_THAT(of_body, Contains(fmt::format("Mass\t{} kg\n", body.mass)));
  // What carries it and what lies on it add up to its own weight.
  CHECK(number_in(of_body, "Size of that") == Approx(9.81 * body.mass).epsilon(0.02));

  desk.selection.select_pair({0, 1});
  const std::string of_pair = copied_all(desk);
  double weight = 0.0;
  for (const Body& other : desk.frame->model->model().bodies) weight += other.fixed ? 0.0 : 9.81 * other.mass;
  CHECK(number_in(of_pair, "Normal forces") == Approx(weight).epsilon(0.01));
  CHECK(number_in(of_pair, "Size of that") == Approx(weight).epsilon(0.01));
  desk.selection.select_pair({0, 3});
  for (int i = 0; i < 3; ++i) desk.draw(panel);  // do not touch
  CHECK(desk.beyond_the_edge == 0.0f);
}

TEST_CASE("inspector: the friction of a pair is the mean of its contacts by their forces",
          "[viewer][value]") {
  Desk desk(scene_file("box_stack"));
  run_steps(desk, 300);
  auto frame = std::make_shared<Frame>(*desk.frame);
  int contacts = 0;
  double sum = 0.0, weighted = 0.0;
  for (ContactView& view : frame->contacts) {
    if (body_pair(view.contact.feature.body_A, view.contact.feature.body_B) != BodyPair{0, 1}) continue;
    view.force.friction = 0.1 * ++contacts;
    sum += std::max(0.0, view.force.normal_force());
    weighted += std::max(0.0, view.force.normal_force()) * view.force.friction;
  }
  REQUIRE(contacts > 1);
  for (const PairContacts& pair : touching_pairs(*frame)) {
    if (pair.bodies == BodyPair{0, 1}) CHECK(pair.force.friction == Approx(weighted / sum));
  }
}

TEST_CASE("inspector: a click on a value copies it", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  run_steps(desk, 10);
  desk.selection.select_body(1);
  Panel& panel = desk.panel(GLFW_KEY_F11);
  for (int i = 0; i < 3; ++i) desk.draw(panel);
  ImGui::SetClipboardText("");
  const Vec3<double>& p = desk.frame->state.X_WB[1].p;
  const std::string wanted = fmt::format("{}, {}, {} m", p.x(), p.y(), p.z());
  std::set<std::string> copied;
  for (float y = 30.0f; y < 400.0f; y += 9.0f) {
    desk.click(panel, {140.0f, y});
    copied.insert(ImGui::GetClipboardText());
  }
  CHECK(copied.count(wanted) == 1);
}

TEST_CASE("inspector: a click on a contact of a pair pins it, and its numbers are those of the frame",
          "[viewer][value]") {
  Desk desk(scene_file("box_stack"));
  run_steps(desk, 100);
  desk.selection.select_pair({0, 1});
  Panel& panel = desk.panel(GLFW_KEY_F11);
  for (int i = 0; i < 3; ++i) desk.draw(panel);
  const float line = ImGui::GetFontSize() + ImGui::GetStyle().ItemSpacing.y;
  for (float y = desk.content_height - 3.0f * line; y > 100.0f && desk.selection.pinned.empty(); y -= line)
    desk.click(panel, {60.0f, y});  // from below: the contacts are the last rows
  REQUIRE(desk.selection.pinned.size() == 1);
  const ContactFeature feature = desk.selection.pinned[0].feature;
  CHECK(body_pair(feature.body_A, feature.body_B) == BodyPair{0, 1});
  const auto place =
      std::find_if(desk.frame->contacts.begin(), desk.frame->contacts.end(),
                   [&](const ContactView& view) { return Selection::same(view.contact.feature, feature); });
  REQUIRE(place != desk.frame->contacts.end());
  desk.selection.select_body(-1);  // the contact is shown by itself, too
  const std::string text = copied_all(desk);
  CHECK(number_in(text, "Distance") == place->contact.signed_distance);
  CHECK(number_in(text, "Activity") == place->contact.activity);
  REQUIRE(place->has_force);
  CHECK(number_in(text, "normal") == place->force.normal_force());

  const auto button = desk.find(panel, [] { return ImGui::GetID("Unpin all contacts"); });
  REQUIRE(button);
  desk.click(panel, *button);
  CHECK(desk.selection.pinned.empty());
}

TEST_CASE("inspector: a joint's numbers are those of the model, and it carries what hangs on it",
          "[viewer][value]") {
  Desk desk(scene_file("gripper"));
  run_steps(desk, 40);
  const Model& model = desk.frame->model->model();
  REQUIRE(desk.frame->joint_forces.size() == model.joints.size());
  Panel& panel = desk.panel(GLFW_KEY_F11);
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    desk.selection.select_joint(static_cast<int>(j));
    CAPTURE(model.joints[j].name);
    for (int i = 0; i < 3; ++i) desk.draw(panel);
    CHECK(desk.beyond_the_edge == 0.0f);
    const std::string text = copied_all(desk);
    CHECK_THAT(text, Contains(model.joints[j].name));
    CHECK_THAT(text, Contains("Force on B\t"));
  }
}

TEST_CASE("joint glyphs: a ball where the joint is, rods to its bodies, and an arrow along its axis",
          "[viewer][value]") {
  const auto shapes_of = [](const std::string& scene, int joint) {
    SimulationThread simulation(Desk::options(scene_file(scene)), Threading::none);
    simulation.call([](SimulationCore& core) {
      for (int i = 0; i < 50; ++i) core.step_forward();
    });
    GlyphList glyphs;
    add_joint_glyphs(*simulation.frame(), joint, GlyphScale{OrbitCamera(), 500}, glyphs);
    const auto count = [&](GlyphShape shape) { return glyphs.glyphs(shape).size(); };
    return std::array{count(GlyphShape::sphere), count(GlyphShape::cylinder), count(GlyphShape::cone)};
  };
  CHECK(shapes_of("pendulum", 0) == std::array<std::size_t, 3>{1, 2, 1});       // a hinge of the world
  CHECK(shapes_of("gripper", 2) == std::array<std::size_t, 3>{1, 3, 1});        // a slider of two bodies
  CHECK(shapes_of("hanging_chain", 1) == std::array<std::size_t, 3>{1, 2, 0});  // a ball of two bodies
}

TEST_CASE("joint_forces: the momentum of a body changes by them and by its weight", "[viewer][value]") {
  const std::string scene = GENERATE(as<std::string>(), "pendulum", "hanging_chain");
  CAPTURE(scene);
  SimulationThread simulation(Desk::options(scene_file(scene)), Threading::none);
  simulation.call([](SimulationCore& core) {
    for (int i = 0; i < 100; ++i) core.step_forward();
  });
  const SharedFrame frame = simulation.frame();
  simulation.call([](SimulationCore& core) { core.step_forward(); });
  const SharedFrame after = simulation.frame();
  const Model& model = frame->model->model();
  const double h = frame->model->config().h;
  REQUIRE(frame->contacts.empty());
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    Vec3<double> force = body.mass * model.gravity;
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
      if (model.joints[j].body_B == static_cast<int>(b)) force += frame->joint_forces[j].force_B_W;
      if (model.joints[j].body_A == static_cast<int>(b)) force -= frame->joint_forces[j].force_B_W;
    }
    const Vec3<double> change =
        body.mass / h * (after->state.V_WB[b].tail<3>() - frame->state.V_WB[b].tail<3>());
    CAPTURE(body.name, change.transpose(), force.transpose());
    CHECK((change - force).norm() < 1e-6 * (1.0 + body.mass * 9.81));
  }
}

}  // namespace abut::viewer
