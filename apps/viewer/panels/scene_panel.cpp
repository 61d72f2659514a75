#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <imgui.h>
#include <imgui_stdlib.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/viewer/contact_description.h"
#include "apps/viewer/panels/panel.h"
#include "apps/viewer/panels/scene_tree.h"
#include "apps/viewer/panels/widgets.h"
#include "engine/count_text.h"
#include "engine/joint_geometry.h"

namespace abut::viewer {
namespace {

constexpr int k_deepest_indentation = 8;  // a long chain must not leave the panel

/// An open or a closed eye.
void draw_eye(ImVec2 centre, float size, bool open, ImU32 colour) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float w = 0.5f * size, h = 0.32f * size, thickness = std::max(1.0f, 0.09f * size);
  const auto lid = [&](float side) {
    list.AddBezierQuadratic({centre.x - w, centre.y}, {centre.x, centre.y + side * 2.0f * h},
                            {centre.x + w, centre.y}, colour, thickness);
  };
  lid(1.0f);
  if (!open) return;
  lid(-1.0f);
  list.AddCircleFilled(centre, 0.18f * size, colour);
}

/// Looks at a place from where the camera is, from so far that something of the size fills a third of the
/// picture.
void look_at(OrbitCamera& camera, const Vec3<double>& p_W, double size) {
  camera.target = p_W;
  if (std::isfinite(size) && size > 0.0) camera.distance = 1.5 * size / std::tan(0.5 * camera.vertical_angle);
}

const char* heading_name(int heading) {
  constexpr const char* k_names[k_tree_headings] = {"Bodies", "Joints", "Pairs in contact"};
  return k_names[static_cast<std::size_t>(heading)];
}

class ScenePanel : public Panel {
 public:
  ScenePanel() : Panel("Scene", GLFW_KEY_F10, Pane::left, true) {}

  void draw(PanelContext& context) override {
    const SceneModel& model = *context.frame.model;
    if (!tree_ || geometry_version_ != model.geometry_version) {
      tree_.emplace(model.model());
      geometry_version_ = model.geometry_version;
    }
    draw_search(context);
    pairs_ = touching_pairs(context.frame);
    rows_ = tree_->rows(model.model(), pairs_, filter_);
    const bool has_moved = handle_arrows(context);
    if (ImGui::BeginChild("rows")) draw_rows(context, has_moved);
    ImGui::EndChild();
  }

 private:
  void draw_search(PanelContext& context) {
    Visibility& visibility = context.display.visibility;
    const float spacing = ImGui::GetStyle().ItemSpacing.x, padding = 2.0f * ImGui::GetStyle().FramePadding.x;
    const float button = ImGui::CalcTextSize("Show all").x + padding;
    ImGui::SetNextItemWidth(std::max(1.0f, ImGui::GetContentRegionAvail().x - button - spacing));
    ImGui::InputTextWithHint("##search", "Search", &filter_);
    ImGui::SameLine();
    ImGui::BeginDisabled(visibility.shows_all());
    if (ImGui::Button("Show all")) visibility.show_all();
    ImGui::EndDisabled();
    tooltip("Bodies and contacts that are hidden.");
  }

  [[nodiscard]] bool is_selected(const TreeRow& row, const Selection& selection) const {
    switch (row.node) {
      case TreeNode::body:
        return selection.body == row.index;
      case TreeNode::joint:
        return selection.joint == row.index;
      case TreeNode::pair:
        return selection.pair == pairs_[static_cast<std::size_t>(row.index)].bodies;
      case TreeNode::heading:
        break;
    }
    return false;
  }

  void select(const TreeRow& row, Selection& selection) const {
    if (row.node == TreeNode::body) selection.select_body(row.index);
    if (row.node == TreeNode::joint) selection.select_joint(row.index);
    if (row.node == TreeNode::pair) selection.select_pair(pairs_[static_cast<std::size_t>(row.index)].bodies);
  }

  /// Up and Down move the selection, Return looks at it. Whether the selection has moved.
  bool handle_arrows(PanelContext& context) const {
    if (!ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows)) return false;
    const auto here = std::find_if(rows_.begin(), rows_.end(),
                                   [&](const TreeRow& row) { return is_selected(row, context.selection); });
    if (ImGui::IsKeyPressed(GLFW_KEY_ENTER, false) && here != rows_.end()) centre_on_row(context, *here);
    const int step = ImGui::IsKeyPressed(GLFW_KEY_DOWN) ? 1 : ImGui::IsKeyPressed(GLFW_KEY_UP) ? -1 : 0;
    if (step == 0) return false;
    const auto count = static_cast<int>(rows_.size());
    int place = here == rows_.end() ? (step > 0 ? -1 : count) : static_cast<int>(here - rows_.begin());
    do {
      place += step;
    } while (place >= 0 && place < count && rows_[static_cast<std::size_t>(place)].node == TreeNode::heading);
    if (place < 0 || place >= count) return false;
    select(rows_[static_cast<std::size_t>(place)], context.selection);
    return true;
  }

  void centre_on_row(PanelContext& context, const TreeRow& row) const {
    const Frame& frame = context.frame;
    const Model& model = frame.model->model();
    if (row.node == TreeNode::body) {
      const auto b = static_cast<std::size_t>(row.index);
      look_at(context.camera, frame.state.X_WB[b].p, model.bodies[b].size);
    } else if (row.node == TreeNode::joint) {
      const Joint& joint = model.joints[static_cast<std::size_t>(row.index)];
      look_at(context.camera, joint_frames(joint, frame.state).X_WJB.p,
              model.bodies[static_cast<std::size_t>(joint.body_B)].size);
    } else if (row.node == TreeNode::pair) {
      const BodyPair& bodies = pairs_[static_cast<std::size_t>(row.index)].bodies;
      Eigen::AlignedBox3d box;
      for (const ContactView& view : frame.contacts) {
        if (body_pair(view.contact.feature.body_A, view.contact.feature.body_B) == bodies)
          box.extend(view.contact.point_W);
      }
      if (!box.isEmpty())
        look_at(context.camera, box.center(),
                std::min(model.bodies[static_cast<std::size_t>(bodies.first)].size,
                         model.bodies[static_cast<std::size_t>(bodies.second)].size));
    }
  }

  void draw_rows(PanelContext& context, bool has_moved) {
    if (rows_.empty()) show_note(fmt::format("Nothing is called '{}'.", filter_));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0.0f, ImGui::GetStyle().ItemSpacing.y));
    const float height = ImGui::GetTextLineHeightWithSpacing();
    if (has_moved) {
      const auto here = std::find_if(rows_.begin(), rows_.end(),
                                     [&](const TreeRow& row) { return is_selected(row, context.selection); });
      const float top = height * static_cast<float>(here - rows_.begin());
      if (top < ImGui::GetScrollY()) ImGui::SetScrollY(top);
      if (top + height > ImGui::GetScrollY() + ImGui::GetWindowHeight())
        ImGui::SetScrollY(top + height - ImGui::GetWindowHeight());
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows_.size()), height);
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        draw_row(context, rows_[static_cast<std::size_t>(i)]);
    }
    ImGui::PopStyleVar();
  }

  void draw_row(PanelContext& context, const TreeRow& row) {
    const float line = ImGui::GetTextLineHeight(), em = ImGui::GetFontSize();
    ImGui::PushID(static_cast<int>(row.node));
    push_row_id(row);
    ImGui::Dummy({0.6f * em * static_cast<float>(std::min(row.depth, k_deepest_indentation)), line});
    ImGui::SameLine();
    const ImVec2 arrow_at = ImGui::GetCursorScreenPos();
    if (row.has_children) {
      const bool is_open = tree_->is_open(row) || !filter_.empty();
      if (ImGui::InvisibleButton("arrow", {em, line})) tree_->set_open(row, !is_open);
      const ImU32 colour = ImGui::GetColorU32(ImGui::IsItemHovered() ? ImGuiCol_Text : ImGuiCol_TextDisabled);
      draw_arrow({arrow_at.x + 0.45f * em, arrow_at.y + 0.5f * line}, 0.28f * em, is_open, colour);
    } else {
      ImGui::Dummy({em, line});
    }
    ImGui::SameLine();
    const bool has_eye = row.node == TreeNode::body || row.node == TreeNode::pair;
    const float eye = 1.5f * em;
    const float width = std::max(1.0f, ImGui::GetContentRegionAvail().x - (has_eye ? eye : 0.0f));
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    // What follows a '##' in a label is not shown, and names of bodies are the user's: they are no label.
    if (ImGui::Selectable("##row", is_selected(row, context.selection), ImGuiSelectableFlags_AllowDoubleClick,
                          {width, line})) {
      if (row.node == TreeNode::heading) {
        tree_->set_open(row, !tree_->is_open(row));
      } else {
        select(row, context.selection);
        if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) centre_on_row(context, row);
      }
    }
    row_tooltip(context, row);
    draw_words(context, row, corner, width);
    if (has_eye) draw_row_eye(context, row, eye);
    ImGui::PopID();
    ImGui::PopID();
  }

  /// The same for the same thing in every picture, so that a click ends on what it began on.
  void push_row_id(const TreeRow& row) const {
    if (row.node != TreeNode::pair) return ImGui::PushID(row.index);
    const BodyPair& bodies = pairs_[static_cast<std::size_t>(row.index)].bodies;
    const int numbers[] = {bodies.first, bodies.second};
    const auto* const bytes = reinterpret_cast<const char*>(numbers);
    ImGui::PushID(bytes, bytes + sizeof numbers);
  }

  static void draw_arrow(ImVec2 centre, float r, bool open, ImU32 colour) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (open) {
      list.AddTriangleFilled({centre.x - r, centre.y - 0.6f * r}, {centre.x + r, centre.y - 0.6f * r},
                             {centre.x, centre.y + 0.8f * r}, colour);
    } else {
      list.AddTriangleFilled({centre.x - 0.6f * r, centre.y - r}, {centre.x - 0.6f * r, centre.y + r},
                             {centre.x + 0.8f * r, centre.y}, colour);
    }
  }

  [[nodiscard]] std::string name_of(const SceneModel& model, const TreeRow& row) const {
    switch (row.node) {
      case TreeNode::heading:
        return fmt::format("{} ({})", heading_name(row.index), row.count);
      case TreeNode::body:
        return model.body_name(row.index);
      case TreeNode::joint:
        return model.model().joints[static_cast<std::size_t>(row.index)].name;
      case TreeNode::pair:
        break;
    }
    const BodyPair& bodies = pairs_[static_cast<std::size_t>(row.index)].bodies;
    return model.body_name(bodies.first) + " | " + model.body_name(bodies.second);
  }

  /// A word or number at the right of the row.
  [[nodiscard]] std::string remark_on(const Frame& frame, const TreeRow& row) const {
    const Model& model = frame.model->model();
    if (row.node == TreeNode::body) {
      return model.bodies[static_cast<std::size_t>(row.index)].fixed ? "fixed" : "";
    }
    if (row.node == TreeNode::joint) {
      const Joint& joint = model.joints[static_cast<std::size_t>(row.index)];
      if (!has_coordinate(joint.kind)) return to_string(joint.kind);
      const double q = joint_coordinate(model, row.index, frame.state);
      return joint.kind == JointKind::hinge ? fmt::format("{:.3f} rad", q) : with_prefix(q, "m");
    }
    if (row.node == TreeNode::pair)
      return three_digits(pairs_[static_cast<std::size_t>(row.index)].force.force_W.norm(), "N");
    return {};
  }

  void draw_words(const PanelContext& context, const TreeRow& row, ImVec2 corner, float width) const {
    const float em = ImGui::GetFontSize(), line = ImGui::GetTextLineHeight();
    const SceneModel& model = *context.frame.model;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Visibility& visibility = context.display.visibility;
    bool is_shown = true;
    float x = corner.x + 0.2f * em;
    if (row.node == TreeNode::body) {
      is_shown = visibility.shows_body(row.index);
      const Body& body = model.model().bodies[static_cast<std::size_t>(row.index)];
      list.AddRectFilled({x, corner.y + 0.2f * line}, {x + 0.6f * line, corner.y + 0.8f * line},
                         packed(colour_of(body, row.index)), 2.0f);
      x += 0.6f * line + 0.4f * em;
    }
    if (row.node == TreeNode::pair)
      is_shown = visibility.shows_pair(pairs_[static_cast<std::size_t>(row.index)].bodies);
    const ImU32 dim = ImGui::GetColorU32(ImGuiCol_TextDisabled);
    const std::string remark = remark_on(context.frame, row);
    const float end = corner.x + width - 0.3f * em,
                remark_at = end - (remark.empty() ? 0.0f : ImGui::CalcTextSize(remark.c_str()).x + 0.5f * em);
    const std::string name = name_of(model, row);
    list.PushClipRect({x, corner.y}, {std::max(x, remark_at), corner.y + line}, true);
    list.AddText({x, corner.y}, is_shown ? ImGui::GetColorU32(ImGuiCol_Text) : dim, name.c_str());
    list.PopClipRect();
    if (!remark.empty()) list.AddText({remark_at + 0.5f * em, corner.y}, dim, remark.c_str());
  }

  void row_tooltip(const PanelContext& context, const TreeRow& row) const {
    if (row.node == TreeNode::heading || !ImGui::IsItemHovered()) return;
    std::string words = name_of(*context.frame.model, row);
    if (row.node == TreeNode::pair) {
      const PairContacts& pair = pairs_[static_cast<std::size_t>(row.index)];
      words += fmt::format("\nforce {} (normal forces {}), {}, deepest {}",
                           three_digits(pair.force.force_W.norm(), "N"),
                           three_digits(pair.force.normal_force, "N"), count_text(pair.contacts, "contact"),
                           with_prefix(pair.depth, "m"));
    }
    tooltip(words + "\n\nClick to select, double click to look at it.");
  }

  void draw_row_eye(PanelContext& context, const TreeRow& row, float width) const {
    Visibility& visibility = context.display.visibility;
    ImGui::SameLine();
    const float line = ImGui::GetTextLineHeight();
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const bool is_pressed = ImGui::InvisibleButton("eye", {width, line});
    const bool is_hovered = ImGui::IsItemHovered();
    const bool is_body = row.node == TreeNode::body;
    const BodyPair bodies =
        is_body ? BodyPair{row.index, row.index} : pairs_[static_cast<std::size_t>(row.index)].bodies;
    if (is_pressed) {
      if (!is_body) {
        visibility.toggle_pair(bodies);
      } else if (ImGui::GetIO().KeyCtrl) {
        visibility.toggle_only(row.index, context.frame.model->model().body_count());
      } else {
        visibility.toggle_body(row.index);
      }
    }
    const bool is_shown = is_body ? visibility.shows_body(row.index) : visibility.shows_pair(bodies);
    tooltip(is_body
                ? "Shows or hides the body and its contacts.\nCtrl + click: this body alone, or all again."
                : "Shows or hides the contacts of the pair.");
    draw_eye({corner.x + 0.5f * width, corner.y + 0.5f * line}, 0.9f * line, is_shown,
             ImGui::GetColorU32(is_hovered ? ImGuiCol_Text : ImGuiCol_TextDisabled));
  }

  std::string filter_;
  std::optional<SceneTree> tree_;
  std::uint64_t geometry_version_ = 0;
  std::vector<PairContacts> pairs_;
  std::vector<TreeRow> rows_;
};

}  // namespace

std::unique_ptr<Panel> make_scene_panel() { return std::make_unique<ScenePanel>(); }

}  // namespace abut::viewer
