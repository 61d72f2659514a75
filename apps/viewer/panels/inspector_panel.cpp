#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <imgui.h>
#include <Eigen/Eigenvalues>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/viewer/contact_description.h"
#include "apps/viewer/panels/contact_details.h"
#include "apps/viewer/panels/number_table.h"
#include "apps/viewer/panels/panel.h"
#include "apps/viewer/panels/scene_tree.h"
#include "apps/viewer/panels/widgets.h"
#include "engine/count_text.h"
#include "engine/joint_geometry.h"

namespace abut::viewer {
namespace {

constexpr double k_degrees = 180.0 / std::numbers::pi;
constexpr const char* k_motor_names[] = {"none", "velocity", "position", "force", "affine"};

/// [rad], R = Rz(yaw) Ry(pitch) Rx(roll).
Vec3<double> roll_pitch_yaw(const Quat<double>& q) {
  const Mat3<double> R = q.toRotationMatrix();
  return {std::atan2(R(2, 1), R(2, 2)), std::atan2(-R(2, 0), std::hypot(R(0, 0), R(1, 0))),
          std::atan2(R(1, 0), R(0, 0))};
}

class InspectorPanel : public Panel {
 public:
  InspectorPanel() : Panel("Inspector", GLFW_KEY_F11, Pane::right, true) {}

  void draw(PanelContext& context) override {
    const Model& model = context.frame.model->model();
    const Selection& selection = context.selection;
    all_.clear();
    if (selection.body >= 0 && selection.body < model.body_count()) {
      draw_body(context, selection.body);
    } else if (selection.joint >= 0 && selection.joint < static_cast<int>(model.joints.size())) {
      draw_joint(context, selection.joint);
    } else if (selection.pair && selection.pair->second < model.body_count()) {
      draw_pair(context, *selection.pair);
    } else if (selection.pinned.empty()) {
      show_text("Nothing is selected.");
      show_note(
          "Click a body or a contact in the scene, a row of the scene's tree at the left (F10) or of the "
          "table of contacts (F6).");
      return;
    }
    draw_pinned_contacts(context, all_);
    ImGui::Spacing();
    if (wide_button("Copy all")) ImGui::SetClipboardText(all_.c_str());
    tooltip("All numbers with their names, a line each; a click on one copies it alone.");
  }

 private:
  void title(const std::string& kind, const std::string& name) {
    show_note(kind);
    show_text(name);
    all_ += fmt::format("{}\t{}\n", kind, name);
    ImGui::Separator();
  }

  /// A name that a click selects.
  template <typename Select>
  void link(const char* kind, const std::string& name, int id, Select select) {
    ImGui::PushID(kind);
    ImGui::PushID(id);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    if (ImGui::Selectable("##link")) select();
    ImGui::PopID();
    ImGui::PopID();
    tooltip(name + "\nClick to select it.");
    // Names are the user's and no label: what follows a '##' would not be shown.
    ImGui::GetWindowDrawList()->AddText(corner, ImGui::GetColorU32(ImGuiCol_TextDisabled), kind);
    const float indent = ImGui::CalcTextSize(kind).x + ImGui::GetStyle().ItemSpacing.x;
    ImGui::GetWindowDrawList()->AddText({corner.x + indent, corner.y}, ImGui::GetColorU32(ImGuiCol_Text),
                                        name.c_str());
    all_ += fmt::format("{}\t{}\n", kind, name);
  }

  void draw_body(PanelContext& context, int index) {
    const Frame& frame = context.frame;
    const auto b = static_cast<std::size_t>(index);
    const Model& model = frame.model->model();
    const Body& body = model.bodies[b];
    const Pose<double>& X_WB = frame.state.X_WB[b];
    const Vec6<double>& V_WB = frame.state.V_WB[b];
    title(body.fixed ? "Body, of infinite mass" : "Body", body.name);
    if (ImGui::CollapsingHeader("Motion", ImGuiTreeNodeFlags_DefaultOpen)) {
      NumberTable table("motion", &all_);
      table.vector("Centre of mass", X_WB.p, "m");
      table.vector("Roll, pitch, yaw", roll_pitch_yaw(X_WB.q), "°", k_degrees);
      table.vector("Velocity", V_WB.tail<3>(), "m/s");
      table.number("Speed", V_WB.tail<3>().norm(), "m/s");
      table.vector("Spin", V_WB.head<3>(), "rad/s");
    }
    draw_contacts_of(context, index);
    draw_joints_of(context, index);
    if (ImGui::CollapsingHeader("Mass and material", ImGuiTreeNodeFlags_DefaultOpen)) {
      NumberTable table("mass", &all_);
      if (!body.fixed) {
        table.number("Mass", body.mass, "kg");
        const Eigen::SelfAdjointEigenSolver<Mat3<double>> principal(body.inertia, Eigen::EigenvaluesOnly);
        table.vector("Principal inertia", principal.eigenvalues(), "kg m²");
        if (body.volume > 0.0) table.number("Density", body.mass / body.volume, "kg/m³");
      }
      table.number("Friction", body.material.friction, "");
    }
    if (ImGui::CollapsingHeader("Shape", ImGuiTreeNodeFlags_DefaultOpen)) {
      NumberTable table("shape", &all_);
      if (std::isfinite(body.size)) table.number("Size", body.size, "m");
      table.text("SDF", count_text(body.shape.primitives.size(), "primitive"));
      table.text("Mesh", fmt::format("{}, {}", count_text(body.mesh.vertex_count(), "vertex", "vertices"),
                                     count_text(body.mesh.triangle_count(), "triangle")));
      table.text("Contact", count_text(body.contact_points.cols(), "point"));
    }
  }

  void draw_contacts_of(PanelContext& context, int body) {
    if (!ImGui::CollapsingHeader("Contacts", ImGuiTreeNodeFlags_DefaultOpen)) return;
    const Frame& frame = context.frame;
    std::vector<PairContacts> pairs = touching_pairs(frame);
    std::erase_if(pairs, [body](const PairContacts& pair) {
      return pair.bodies.first != body && pair.bodies.second != body;
    });
    if (pairs.empty()) return show_note("It touches nothing.");
    {
      int contacts = 0;
      for (const PairContacts& pair : pairs) contacts += pair.contacts;
      const ForceArrow sum = force_on(frame, body);
      NumberTable table("contacts", &all_);
      table.text("Count", fmt::format("{}", contacts));
      table.vector("Force on it", sum.force_W, "N");
      table.number("Size of that", sum.force_W.norm(), "N");
      const auto b = static_cast<std::size_t>(body);
      if (std::isfinite(frame.model->model().bodies[b].size))
        table.vector("Torque on it", contact_torque_on(frame, body, frame.state.X_WB[b].p), "N m");
      table.number("Normal forces", sum.normal_force, "N");
    }
    for (const PairContacts& pair : pairs) {
      const int other = pair.bodies.first == body ? pair.bodies.second : pair.bodies.first;
      link("with",
           fmt::format("{}, {}", frame.model->body_name(other), three_digits(pair.force.force_W.norm(), "N")),
           other, [&] { context.selection.select_pair(pair.bodies); });
    }
  }

  void draw_joints_of(PanelContext& context, int body) {
    const Model& model = context.frame.model->model();
    const auto ties_it = [body](const Joint& joint) { return joint.body_A == body || joint.body_B == body; };
    if (std::none_of(model.joints.begin(), model.joints.end(), ties_it)) return;
    if (!ImGui::CollapsingHeader("Joints", ImGuiTreeNodeFlags_DefaultOpen)) return;
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
      if (!ties_it(model.joints[j])) continue;
      const auto index = static_cast<int>(j);
      link(to_string(model.joints[j].kind), model.joints[j].name, index,
           [&] { context.selection.select_joint(index); });
    }
  }

  void draw_joint(PanelContext& context, int index) {
    const Frame& frame = context.frame;
    const Model& model = frame.model->model();
    const Joint& joint = model.joints[static_cast<std::size_t>(index)];
    title(fmt::format("Joint: {}", to_string(joint.kind)), joint.name);
    if (joint.body_A < 0) {
      show_note("from the world");
    } else {
      link("from", frame.model->body_name(joint.body_A), 0,
           [&] { context.selection.select_body(joint.body_A); });
    }
    link("to", frame.model->body_name(joint.body_B), 1, [&] { context.selection.select_body(joint.body_B); });

    const bool turns = joint.kind == JointKind::hinge;
    const char* const unit = turns ? "rad" : "m";
    const char* const effort_unit = turns ? "N m" : "N";
    const JointFrames frames = joint_frames(joint, frame.state);
    NumberTable table("joint", &all_);
    if (has_coordinate(joint.kind)) {
      table.number(turns ? "Angle" : "Travel", joint_coordinate(model, index, frame.state), unit);
      table.number("Rate", joint_rate(joint, frame.state), turns ? "rad/s" : "m/s");
      if (std::isfinite(joint.lower) || std::isfinite(joint.upper)) {
        table.number("Lower limit", joint.lower, unit);
        table.number("Upper limit", joint.upper, unit);
      }
    }
    if (joint.kind == JointKind::distance) table.number("Length", joint.length, "m");
    table.vector("Place on B", frames.X_WJB.p, "m");
    if (has_coordinate(joint.kind)) table.vector("Axis", frames.X_WJA.q * Vec3<double>::UnitZ(), "");
    const JointError error = joint_error(joint, frame.state);
    table.number("Apart by", error.position, "m");
    if (joint.kind != JointKind::ball && joint.kind != JointKind::distance)
      table.number("Twisted by", error.rotation, "rad");
    if (joint.damping > 0.0) table.number("Damping", joint.damping, turns ? "N m s/rad" : "N s/m");
    if (joint.friction > 0.0) table.number("Friction", joint.friction, effort_unit);
    if (joint.armature > 0.0) table.number("Armature", joint.armature, turns ? "kg m^2" : "kg");
    if (joint.spring_stiffness > 0.0) {
      table.number("Spring", joint.spring_stiffness, turns ? "N m/rad" : "N/m");
      table.number("At rest at", joint.spring_position, unit);
    }
    if (joint.motor.kind != MotorKind::none) {
      table.text("Motor", k_motor_names[static_cast<std::size_t>(joint.motor.kind)]);
      table.number("Target", joint.motor.target, target_unit(turns, joint.motor.kind));
      if (std::isfinite(joint.motor.limit)) table.number("Motor limit", joint.motor.limit, effort_unit);
    }
    if (static_cast<std::size_t>(index) >= frame.joint_forces.size()) return;
    const JointForce& force = frame.joint_forces[static_cast<std::size_t>(index)];
    table.vector("Force on B", force.force_B_W, "N");
    table.number("Size of that", force.force_B_W.norm(), "N");
    table.vector("Torque on B", force.torque_B_W, "N m");
    if (has_coordinate(joint.kind)) {
      const Vec3<double> axis_W = frames.X_WJA.q * Vec3<double>::UnitZ();
      table.number("Along the axis", axis_W.dot(turns ? force.torque_B_W : force.force_B_W), effort_unit);
    }
  }

  void draw_pair(PanelContext& context, const BodyPair& bodies) {
    const Frame& frame = context.frame;
    const SceneModel& model = *frame.model;
    title("Pair in contact", model.body_name(bodies.first) + " | " + model.body_name(bodies.second));
    link("A", model.body_name(bodies.first), 0, [&] { context.selection.select_body(bodies.first); });
    link("B", model.body_name(bodies.second), 1, [&] { context.selection.select_body(bodies.second); });
    const std::vector<PairContacts> pairs = touching_pairs(frame);
    const auto place = std::find_if(pairs.begin(), pairs.end(),
                                    [&](const PairContacts& pair) { return pair.bodies == bodies; });
    if (place == pairs.end()) return show_note("They do not touch at this moment.");
    draw_sums_of_pair(frame, *place);
    if (ImGui::CollapsingHeader("Each of them", ImGuiTreeNodeFlags_DefaultOpen))
      draw_contacts_of_pair(context, bodies);
  }

  void draw_sums_of_pair(const Frame& frame, const PairContacts& pair) {
    const BodyPair& bodies = pair.bodies;
    NumberTable table("pair", &all_);
    table.text("Contacts", fmt::format("{}", pair.contacts));
    table.number("Deepest", pair.depth, "m");
    table.vector("Force on B", pair.force.force_W, "N");
    table.number("Size of that", pair.force.force_W.norm(), "N");
    table.number("Normal forces", pair.force.normal_force, "N");
    if (pair.force.normal_force > 0.0) table.number("Friction", pair.force.friction, "");
    double activity = 0.0;
    for (const ContactView& view : frame.contacts) {
      if (body_pair(view.contact.feature.body_A, view.contact.feature.body_B) == bodies)
        activity = std::max(activity, view.contact.activity);
    }
    table.number("Most active", activity, "");
  }

  std::string all_;
};

}  // namespace

std::unique_ptr<Panel> make_inspector_panel() { return std::make_unique<InspectorPanel>(); }

}  // namespace abut::viewer
