#include "apps/viewer/viewer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include <imgui.h>

#include "apps/viewer/contact_description.h"
#include "apps/viewer/label_layout.h"
#include "apps/viewer/panels/actions.h"
#include "apps/viewer/picking.h"
#include "engine/log.h"

namespace abut::viewer {
namespace {

constexpr double k_click_distance = 5.0;    // that the mouse may move in a click [points]
constexpr double k_contact_distance = 9.0;  // of a contact that a click means [points]
constexpr double k_handle_distance = 7.0;   // of the gizmo's handles [points]
constexpr double k_handle_length = 90.0;    // [points]

double distance_to_segment(const Vec2<double>& p, const Vec2<double>& a, const Vec2<double>& b) {
  const Vec2<double> along = b - a;
  const double length = along.squaredNorm();
  const double t = length > 0.0 ? std::clamp((p - a).dot(along) / length, 0.0, 1.0) : 0.0;
  return (p - a - t * along).norm();
}

bool is_fly_key(int key) {
  return std::any_of(fly_keys().begin(), fly_keys().end(),
                     [key](const FlyKey& one) { return one.key == key; });
}

}  // namespace

Viewer::Viewer(SimulationThread& simulation, double text_scale)
    : simulation_(simulation),
      interface_(static_cast<float>(text_scale)),
      panels_(make_panels()),
      frame_(simulation.frame()),
      text_scale_(text_scale) {}

Viewer::~Viewer() {
  if (!video_) return;
  try {
    video_->finish();
  } catch (const std::exception& error) {
    log().error("{}", error.what());  // nobody looks at the screen any more
  }
}

PanelContext Viewer::context() {
  return {*frame_,      simulation_,          display, selection, gradients, recording, requests_, camera,
          camera_state, pictures_per_second_, aspect()};
}

// The screen ------------------------------------------------------------------------------------------------

int Viewer::picture_width() const {
  const int width = static_cast<int>(scene().width);
  return display.side_by_side ? width / 2 : width;
}

double Viewer::aspect() const {
  return std::max(1, picture_width()) / std::max(1.0, static_cast<double>(scene().height));
}

Viewer::Mouse Viewer::mouse() const {
  const ImGuiIO& io = ImGui::GetIO();
  const double width = std::max(1, picture_width()), height = std::max(1.0f, scene().height);
  double x = io.MousePos.x - scene().x;
  if (display.side_by_side && x >= width) x -= width;
  Mouse at;
  at.x = 2.0 * x / width - 1.0;
  at.y = 1.0 - 2.0 * (io.MousePos.y - scene().y) / height;
  at.ray = camera.ray(at.x, at.y, aspect());
  return at;
}

Vec2<double> Viewer::on_screen(const Vec3<double>& p_W) const {
  Rectangle area = scene();
  area.width = static_cast<float>(picture_width());
  return ScenePlace{area, camera}.on_screen(p_W);
}

// What the user does ----------------------------------------------------------------------------------------

void Viewer::compute_gradient_now(bool check) {
  PanelContext now = context();
  ask_for_gradient(now, check);
  while (is_busy(gradients)) {
    simulation_.call([](SimulationCore&) {});  // until it has seen what was asked for
    poll_gradients(gradients);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Viewer::act(Action action) {
  PanelContext now = context();
  if (!perform(action, now, panels_)) wants_to_close_ = true;
}

void Viewer::handle_keys() {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.WantTextInput || has_popup()) return;
  const KeyModifier modifier = io.KeyCtrl    ? KeyModifier::control
                               : io.KeyShift ? KeyModifier::shift
                                             : KeyModifier::none;
  for (int key = 0; key < static_cast<int>(std::size(io.KeysDown)); ++key) {
    if (!ImGui::IsKeyPressed(key, true)) continue;
    if (camera_state.flies && modifier != KeyModifier::control && is_fly_key(key)) continue;
    const std::optional<KeyBinding> binding = find_key(key, modifier);
    if (binding && (binding->repeats || ImGui::IsKeyPressed(key, false))) act(binding->action);
  }
}

void Viewer::fly() {
  const ImGuiIO& io = ImGui::GetIO();
  if (!camera_state.flies || io.WantTextInput || has_popup() || io.KeyCtrl) return;
  constexpr double k_speed = 0.8, k_faster = 4.0, k_longest = 0.1;  // [distances of the camera/s], [-], [s]
  const double length =
      k_speed * (io.KeyShift ? k_faster : 1.0) * camera.distance * std::min<double>(io.DeltaTime, k_longest);
  for (const FlyKey& one : fly_keys()) {
    if (!ImGui::IsKeyDown(one.key)) continue;
    camera.target +=
        length * (one.way[0] * camera.right() + one.way[1] * camera.up() + one.way[2] * camera.forward());
  }
}

bool Viewer::gizmo_shown() const {
  return selection.body >= 0 && display.visibility.shows_body(selection.body) && !frame_->running &&
         !display.side_by_side &&
         std::isfinite(frame_->model->model().bodies[static_cast<std::size_t>(selection.body)].size);
}

double Viewer::gizmo_size() const {
  const Vec3<double>& p = frame_->state.X_WB[static_cast<std::size_t>(selection.body)].p;
  const double depth = std::max(1e-6, camera.project(p, aspect()).z());
  return k_handle_length * text_scale_ *
         camera.pixel_size(depth, std::max(1, static_cast<int>(scene().height)));
}

void Viewer::pose_edit(const Pose<double>& X_WB) {
  const int body = selection.body;
  simulation_.post([body, X_WB](SimulationCore& core) { core.set_pose(body, X_WB); });
}

void Viewer::begin_drag(const Mouse& at) {
  const ImGuiIO& io = ImGui::GetIO();
  const Model& model = frame_->model->model();
  drag_from_ = at;
  const bool left = ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  if (!io.KeyCtrl) {
    drag_ = left ? Drag::turn_camera : Drag::move_camera;
    if (!left || !gizmo_shown()) return;
    const Pose<double>& X_WB = frame_->state.X_WB[static_cast<std::size_t>(selection.body)];
    const Vec2<double> p(io.MousePos.x, io.MousePos.y);
    double nearest = k_handle_distance * text_scale_;
    std::optional<GizmoHandle> found;
    for (const GizmoHandle handle : k_gizmo_handles) {
      const std::vector<Vec3<double>> line = PoseGizmo::line(handle, X_WB.p, gizmo_size());
      for (std::size_t i = 1; i < line.size(); ++i) {
        const double distance = distance_to_segment(p, on_screen(line[i - 1]), on_screen(line[i]));
        if (distance >= nearest) continue;
        nearest = distance;
        found = handle;
      }
    }
    if (!found) return;
    gizmo_.begin(*found, X_WB, at.ray);
    if (gizmo_.held()) drag_ = Drag::gizmo;
    return;
  }
  const std::optional<BodyHit> hit =
      pick_body(model, frame_->state.X_WB, pictures_.surfaces_of(*frame_), at.ray, display.visibility);
  drag_ = Drag::none;
  if (!hit) return;
  const auto b = static_cast<std::size_t>(hit->body);
  if (!std::isfinite(model.bodies[b].size)) return;
  selection.select_body(hit->body);
  drag_depth_ = camera.project(hit->point_W, aspect()).z();
  drag_start_ = frame_->state.X_WB[b];
  if (!left) {
    drag_ = io.KeyShift ? Drag::turn_body : Drag::move_body;
  } else if (!model.bodies[b].fixed) {
    drag_ = Drag::pull;
    pull_.body = hit->body;
    pull_.point_B = inverse_point(drag_start_, hit->point_W);
    pull_.target_W = hit->point_W;
  }
}

void Viewer::go_on_dragging(const Mouse& at) {
  const ImGuiIO& io = ImGui::GetIO();
  const double height = std::max(1.0f, scene().height);
  const double dx = io.MouseDelta.x / height, dy = -io.MouseDelta.y / height;
  const auto in_depth = [this](const Mouse& m) -> Vec3<double> {
    return m.ray.origin +
           drag_depth_ / std::max(1e-6, m.ray.direction.dot(camera.forward())) * m.ray.direction;
  };
  switch (drag_) {
    case Drag::none:
      return;
    case Drag::turn_camera:
      return camera_state.flies ? camera.look(dx, dy) : camera.turn(dx, dy);
    case Drag::move_camera:
      return camera.pan(dx, dy);
    case Drag::pull: {
      pull_.target_W = in_depth(at);
      simulation_.post([pull = pull_](SimulationCore& core) { core.set_pull(pull); });
      return;
    }
    case Drag::move_body:
      return pose_edit({drag_start_.q, drag_start_.p + in_depth(at) - in_depth(drag_from_)});
    case Drag::turn_body: {
      constexpr double k_turn = 3.0;  // [rad] for half the picture
      const Vec3<double> turn =
          k_turn * ((at.x - drag_from_.x) * camera.up() - (at.y - drag_from_.y) * camera.right());
      return pose_edit(retract(drag_start_, stack<double>(turn, Vec3<double>::Zero())));
    }
    case Drag::gizmo:
      return pose_edit(gizmo_.drag(at.ray));
  }
}

const ContactView* Viewer::contact_at(const Mouse& at) const {
  if (!display.contacts.points && !display.contacts.normals) return nullptr;
  const Vec2<double> p(scene().x + 0.5 * (1.0 + at.x) * picture_width(),
                       scene().y + 0.5 * (1.0 - at.y) * scene().height);
  double nearest = k_contact_distance * text_scale_;
  const ContactView* found = nullptr;
  for (const ContactView& view : visible_.set().contacts) {
    if (!is_shown(view, display.contacts)) continue;
    const double distance = (on_screen(view.contact.point_W) - p).norm();
    if (distance >= nearest) continue;
    nearest = distance;
    found = &view;
  }
  return found;
}

void Viewer::click(const Mouse& at) {
  if (const ContactView* found = contact_at(at)) {
    selection.toggle_pin(found->contact.feature);
    return;
  }
  const std::optional<BodyHit> hit = pick_body(frame_->model->model(), frame_->state.X_WB,
                                               pictures_.surfaces_of(*frame_), at.ray, display.visibility);
  const bool is_body =
      hit && std::isfinite(frame_->model->model().bodies[static_cast<std::size_t>(hit->body)].size);
  selection.select_body(is_body ? hit->body : -1);
}

void Viewer::centre_on(const Mouse& at) {
  if (contact_at(at)) return;  // two clicks pin it and let it go
  const std::optional<BodyHit> hit = pick_body(frame_->model->model(), frame_->state.X_WB,
                                               pictures_.surfaces_of(*frame_), at.ray, display.visibility);
  if (!hit) return;
  if (!camera.orthographic) camera.distance = camera.project(hit->point_W, aspect()).z();  // as large as now
  camera.target = hit->point_W;
}

bool Viewer::over_lens() const {
  const ImVec2 p = ImGui::GetIO().MousePos;
  return std::any_of(halves_.begin(), halves_.end(), [&](const SceneHalf& half) {
    return half.lens && intersect(half.lens_place.area, {p.x, p.y, 0.0f, 0.0f});
  });
}

void Viewer::handle_mouse() {
  const ImGuiIO& io = ImGui::GetIO();
  if (!ImGui::IsMousePosValid()) return;
  if (wants_pointer()) return look_around();
  const Mouse at = mouse();
  const bool pressed =
      ImGui::IsMouseClicked(ImGuiMouseButton_Left) || ImGui::IsMouseClicked(ImGuiMouseButton_Right);
  const bool held = ImGui::IsMouseDown(ImGuiMouseButton_Left) || ImGui::IsMouseDown(ImGuiMouseButton_Right);
  if (drag_ != Drag::none && !held) {
    if (drag_ == Drag::pull) simulation_.post([](SimulationCore& core) { core.set_pull({}); });
    const Vec2<double> way(0.5 * (at.x - drag_from_.x) * picture_width(),
                           0.5 * (at.y - drag_from_.y) * scene().height);
    if (drag_ == Drag::turn_camera && way.norm() < k_click_distance * text_scale_) click(at);
    gizmo_.end();
    drag_ = Drag::none;
  }
  if (io.WantCaptureMouse && drag_ == Drag::none) return;
  if (drag_ == Drag::none && over_lens()) {
    constexpr double k_notch = 1.25, k_most = 100.0;
    lens_zoom_ = std::clamp(lens_zoom_ * std::pow(k_notch, io.MouseWheel), 1.0 / k_most, k_most);
    return;
  }
  if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left) && !io.KeyCtrl) centre_on(at);
  if (pressed && drag_ == Drag::none) {
    begin_drag(at);
  } else if (held) {
    go_on_dragging(at);
  }
  if (io.MouseWheel == 0.0f) return;
  camera_state.flies ? change_speed() : camera.zoom(io.MouseWheel);
}

/// It flies faster, the farther ahead it looks.
void Viewer::change_speed() {
  const Vec3<double> here = camera.position();
  camera.zoom(-ImGui::GetIO().MouseWheel);
  camera.stand_at(here);
}

void Viewer::look_around() {
  const ImGuiIO& io = ImGui::GetIO();
  const double height = std::max(1.0f, scene().height);
  drag_ = Drag::none;
  camera.look(io.MouseDelta.x / height, -io.MouseDelta.y / height);
  change_speed();
}

// A picture -------------------------------------------------------------------------------------------------

Image Viewer::capture(unsigned framebuffer) const {
  const ImGuiIO& io = ImGui::GetIO();
  return read_pixels(static_cast<int>(std::lround(io.DisplaySize.x * io.DisplayFramebufferScale.x)),
                     static_cast<int>(std::lround(io.DisplaySize.y * io.DisplayFramebufferScale.y)),
                     framebuffer);
}

void Viewer::use_new_scene(const SceneModel& before) {
  drag_ = Drag::none;
  pull_ = {};
  gizmo_.end();
  selection.pinned.clear();
  selection.pair.reset();
  display.primitive_body = display.primitive = -1;
  ghost_job_.cancel();
  if (!opening_.valid() && frame_->model->file == before.file) show_ghosts_again();
  const std::vector<Body>&now = frame_->model->model().bodies, &then = before.model().bodies;
  const bool same_bodies = std::equal(now.begin(), now.end(), then.begin(), then.end(),
                                      [](const Body& a, const Body& b) { return a.name == b.name; });
  if (same_bodies) return;  // a scene that is being edited: its user goes on looking at what they look at
  selection.clear();
  display.visibility.show_all();
  show_all_ = true;
}

void Viewer::draw(unsigned framebuffer) {
  const ImGuiIO& io = ImGui::GetIO();
  const SharedFrame before = std::exchange(frame_, simulation_.frame());
  if (frame_->model->geometry_version != before->model->geometry_version) use_new_scene(*before->model);
  visible_.update(frame_, display.visibility);
  // Without a pointer there is nothing that it is over.
  ImGuiConfigFlags& flags = ImGui::GetIO().ConfigFlags;
  flags = wants_pointer() ? flags | ImGuiConfigFlags_NoMouse : flags & ~ImGuiConfigFlags_NoMouse;
  interface_.begin();
  if (!(io.DisplaySize.x >= 1.0f && io.DisplaySize.y >= 1.0f)) {  // minimised
    interface_.discard();
    return;
  }
  constexpr double k_averaged_over = 0.5;  // [s]
  const double now = io.DeltaTime > 0.0f ? 1.0 / io.DeltaTime : 0.0;
  const double share = pictures_per_second_ > 0.0 ? std::min(1.0, io.DeltaTime / k_averaged_over) : 1.0;
  pictures_per_second_ += share * (now - pictures_per_second_);
  poll_gradients(gradients);
  poll_ghosts();
  follow_experiment(*frame_, gradients);
  const auto& result = gradients.result;
  if (result && result->request.model->geometry_version != frame_->model->geometry_version) {
    gradients.result.reset();  // of a scene that is gone
    gradients.study.begin(nullptr);
  }
  sample_pinned(*frame_, selection);
  take_opened();
  handle_keys();
  fly();
  if (display.panels) draw_menu();
  answer_requests();
  lay_out();  // after all that opens and closes panes
  if (std::exchange(show_all_, false))
    camera = camera_around(frame_->model->model(), frame_->state.X_WB, aspect(), camera, std::nullopt,
                           shows_motion_first ? frame_->motion() : std::span<const Points>());
  if (selection.body >= 0)
    camera_state.follow(selection.body, frame_->state.X_WB[static_cast<std::size_t>(selection.body)].p,
                        camera);
  handle_mouse();
  // Who wants either to be seen says so in every picture.
  display.preview_X_WB.clear();
  display.predicted_X_WB.clear();
  gradients.motion.reset();
  if (display.panels) draw_panels();
  PanelContext now_drawn = context();
  show_motion_of_sliders(now_drawn);
  draw_world(framebuffer);
  draw_gizmo();
  draw_notes();
  draw_message();
  draw_popups();
  interface_.end(framebuffer);
  record(framebuffer);
  draw_recording_sign(framebuffer);
}

}  // namespace abut::viewer
