#include "apps/viewer/panels/scene_tree.h"

#include <catch2/catch.hpp>

#include "tests/viewer/panel_desk.h"

namespace abut::viewer {
namespace {

/// Bodies "body 0", "body 1", ... and joints from one to another, -1: the world.
Model tied_model(int bodies, const std::vector<std::pair<int, int>>& ties) {
  Model model;
  for (int b = 0; b < bodies; ++b) model.bodies.emplace_back().name = "Body " + std::to_string(b);
  for (const auto& [a, b] : ties) {
    Joint& joint = model.joints.emplace_back();
    joint.name = "joint " + std::to_string(model.joints.size());
    joint.kind = JointKind::ball;
    joint.body_A = a;
    joint.body_B = b;
  }
  return model;
}

std::string text_of(const std::vector<TreeRow>& rows) {
  std::string text;
  for (const TreeRow& row : rows)
    text += std::string(static_cast<std::size_t>(row.depth), ' ') +
            "hbjp"[static_cast<std::size_t>(row.node)] + std::to_string(row.index) + "\n";
  return text;
}

/// Of a panel in a window of the desk's size, the middle of the row of a body: rows stand below each other.
float y_of_row(std::size_t row) {
  const ImGuiStyle& style = ImGui::GetStyle();
  const float first = style.WindowPadding.y + ImGui::GetFontSize() + 2.0f * style.FramePadding.y +
                      ImGui::GetFontSize() + 2.0f * style.FramePadding.y + style.ItemSpacing.y;
  return first + (static_cast<float>(row) + 0.5f) * (ImGui::GetFontSize() + style.ItemSpacing.y);
}

/// A scene of so many balls far apart, in a file of its own.
std::filesystem::path file_of_balls(int count) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "abut_scene_tree_test.toml";
  std::ofstream out(file);
  for (int i = 0; i < count; ++i)
    out << "[[body]]\nname = \"ball " << i << "\"\ndensity = 1000\nposition = [" << i
        << ", 0, 0]\n[[body.primitive]]\nkind = \"sphere\"\nradius = 0.1\n";
  return file;
}

}  // namespace

TEST_CASE("SceneTree: bodies hang below those that joints tie them to, whatever loops there are",
          "[viewer][value]") {
  const Model model = tied_model(5, {{-1, 0}, {0, 2}, {2, 1}, {1, 0}, {0, 1}});
  SceneTree tree(model);
  CHECK(text_of(tree.rows(model, {})) == "h0\n b0\n  b2\n   b1\n b3\n b4\nh1\n j0\n j1\n j2\n j3\n j4\n");
  const std::vector<TreeRow> rows = tree.rows(model, {});
  CHECK(rows[0].count == 5);
  CHECK(rows[1].has_children);
  CHECK_FALSE(rows[3].has_children);
  CHECK_FALSE(rows[4].has_children);

  tree.set_open(rows[2], false);
  CHECK(text_of(tree.rows(model, {})).starts_with("h0\n b0\n  b2\n b3\n"));
  tree.set_open(rows[6], false);
  CHECK(text_of(tree.rows(model, {})) == "h0\n b0\n  b2\n b3\n b4\nh1\n");
  tree.set_open(rows[2], true);
  CHECK(text_of(tree.rows(model, {})).starts_with("h0\n b0\n  b2\n   b1\n"));

  // A loop without a root: one of its bodies is one.
  const Model loop = tied_model(3, {{0, 1}, {1, 2}, {2, 0}});
  CHECK(text_of(SceneTree(loop).rows(loop, {})).starts_with("h0\n b0\n  b1\n   b2\n"));
}

TEST_CASE("SceneTree: a search finds names in any case, flat, also below what is closed", "[viewer][value]") {
  Model model = tied_model(4, {{0, 1}, {1, 2}});
  model.bodies[2].name = "Left finger";
  model.joints[1].name = "finger hinge";
  SceneTree tree(model);
  tree.set_open({TreeNode::heading, 0, 0, true, 0}, false);
  const std::vector<PairContacts> pairs{{{0, 2}, 3, 0.0, {}}, {{0, 3}, 1, 0.0, {}}};
  CHECK(text_of(tree.rows(model, pairs, "FINGER")) == "h0\n b2\nh1\n j1\nh2\n p0\n");
  CHECK(tree.rows(model, pairs, "nobody").empty());
  CHECK(text_of(tree.rows(model, pairs)) == "h0\nh1\n j0\n j1\nh2\n p0\n p1\n");
}

TEST_CASE("SceneTree: a chain of a thousand links is as deep", "[viewer][value]") {
  std::vector<std::pair<int, int>> ties;
  for (int b = 1; b < 1000; ++b) ties.emplace_back(b - 1, b);
  const Model model = tied_model(1000, ties);
  const std::vector<TreeRow> rows = SceneTree(model).rows(model, {});
  REQUIRE(rows.size() == 1 + 1000 + 1 + 999);
  CHECK(rows[1000].depth == 1000);
  CHECK(rows[1000].index == 999);
}

TEST_CASE("touching_pairs: every contact is counted once, and forces add up to what the bodies weigh",
          "[viewer][value]") {
  Desk desk(scene_file("box_stack"));
  run_steps(desk, 300);
  const std::vector<PairContacts> pairs = touching_pairs(*desk.frame);
  std::size_t count = 0;
  for (const PairContacts& pair : pairs) {
    CHECK(pair.bodies.first < pair.bodies.second);
    count += static_cast<std::size_t>(pair.contacts);
  }
  CHECK(count == desk.frame->contacts.size());
  double weight = 0.0;
  for (const Body& body : desk.frame->model->model().bodies) {
    if (!body.fixed) weight += 9.81 * body.mass;
  }
  REQUIRE_FALSE(pairs.empty());
  CHECK(pairs[0].bodies == BodyPair{0, 1});
  CHECK(pairs[0].force.normal_force == Approx(weight).epsilon(0.01));
}

TEST_CASE("touching_pairs: the force of a pair is that at its arrow in the picture", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  run_steps(desk, 50);
  const std::vector<PairContacts> pairs = touching_pairs(*desk.frame);
  ContactDisplay display;
  display.least = 0.0;
  const std::vector<ForceArrow> arrows =
      force_arrows(desk.frame->model->model(), contacts_of(*desk.frame), display);
  REQUIRE(pairs.size() == 1);
  REQUIRE(arrows.size() == 1);
  CHECK((pairs[0].force.force_W - arrows[0].force_W).norm() < 1e-12 * arrows[0].force_W.norm());
  // It slides, so that the two differ by what friction adds.
  const double mu = arrows[0].friction;
  CHECK(pairs[0].force.force_W.norm() / pairs[0].force.normal_force ==
        Approx(std::hypot(1.0, mu)).epsilon(0.02));
}

TEST_CASE("scene panel: a click selects, a double click centres, arrows move, and the eye hides",
          "[viewer][value]") {
  Desk desk(scene_file("box_stack"));
  run_steps(desk, 60);
  Panel& panel = desk.panel(GLFW_KEY_F10);
  for (int i = 0; i < 3; ++i) desk.draw(panel);
  ImGuiIO& io = ImGui::GetIO();
  desk.click(panel, {100.0f, y_of_row(3)});
  CHECK(desk.selection.body == 2);
  const auto press = [&](int key) {
    io.KeysDown[key] = true;
    desk.turn(panel);
    io.KeysDown[key] = false;
    desk.turn(panel);
  };
  press(GLFW_KEY_UP);
  CHECK(desk.selection.body == 1);
  press(GLFW_KEY_DOWN);
  press(GLFW_KEY_DOWN);
  CHECK(desk.selection.body == 3);
  CHECK((desk.camera.target - desk.frame->state.X_WB[3].p).norm() > 1e-3);
  press(GLFW_KEY_ENTER);
  CHECK((desk.camera.target - desk.frame->state.X_WB[3].p).norm() < 1e-9);
  // Past the last body come pairs: there are no joints.
  const int bodies = desk.frame->model->model().body_count();
  for (int i = 3; i < bodies; ++i) press(GLFW_KEY_DOWN);
  CHECK(desk.selection.body == -1);
  REQUIRE(desk.selection.pair);
  CHECK(*desk.selection.pair == touching_pairs(*desk.frame)[0].bodies);

  io.DeltaTime = 1.0f;  // clicks so far are no part of what follows
  desk.turn(panel);
  io.DeltaTime = 1.0f / 60.0f;
  desk.click(panel, {100.0f, y_of_row(2)});
  io.MouseDown[0] = true;
  desk.turn(panel);
  io.MouseDown[0] = false;
  desk.turn(panel);
  CHECK(desk.selection.body == 1);
  CHECK_FALSE(desk.selection.pair);
  CHECK((desk.camera.target - desk.frame->state.X_WB[1].p).norm() < 1e-9);

  // The eye is the last thing of the row.
  const float right = k_width - ImGui::GetStyle().WindowPadding.x - ImGui::GetStyle().ScrollbarSize - 10.0f;
  desk.click(panel, {right, y_of_row(2)});
  CHECK_FALSE(desk.display.visibility.shows_body(1));
  CHECK(desk.display.visibility.shows_body(2));
  desk.click(panel, {right, y_of_row(2)});
  CHECK(desk.display.visibility.shows_all());
  io.KeyCtrl = true;
  desk.click(panel, {right, y_of_row(2)});
  io.KeyCtrl = false;
  for (int b = 0; b < bodies; ++b) CHECK(desk.display.visibility.shows_body(b) == (b == 1));
  const auto button = desk.find(panel, [] { return ImGui::GetID("Show all"); });
  REQUIRE(button);
  desk.click(panel, *button);
  CHECK(desk.display.visibility.shows_all());
}

TEST_CASE("scene panel: what is typed into the search filters", "[viewer][value]") {
  Desk desk(file_of_balls(30));
  Panel& panel = desk.panel(GLFW_KEY_F10);
  for (int i = 0; i < 3; ++i) desk.draw(panel);
  const int all = desk.triangles;
  desk.click(panel, {60.0f, ImGui::GetStyle().WindowPadding.y + 30.0f});
  for (const char letter : std::string("BALL 17"))
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned>(letter));
  desk.turn(panel);
  desk.turn(panel);
  CHECK(desk.triangles < all);
  desk.click(panel, {100.0f, y_of_row(1)});
  CHECK(desk.selection.body == 17);
}

TEST_CASE("scene panel: of a thousand bodies only those are drawn that are seen", "[viewer][value]") {
  int triangles[2] = {};
  for (const int i : {0, 1}) {
    Desk desk(file_of_balls(i == 0 ? 300 : 1000));  // 3,000 pixels show fewer than 200 rows
    Panel& panel = desk.panel(GLFW_KEY_F10);
    for (int k = 0; k < 4; ++k) desk.draw(panel);
    triangles[i] = desk.triangles;
  }
  CHECK(triangles[0] > 3000);
  CHECK(std::abs(triangles[1] - triangles[0]) < 0.05 * triangles[0]);  // names are longer
}

}  // namespace abut::viewer
