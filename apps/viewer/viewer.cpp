#include "apps/viewer/viewer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include <imgui.h>

#include "apps/abut/trajectory_file.h"
#include "apps/viewer/panels/actions.h"
#include "apps/viewer/picture/picking.h"
#include "engine/log.h"

namespace abut::viewer {
namespace {

constexpr double k_click_distance = 5.0;    // that the mouse may move in a click [points]
constexpr double k_contact_distance = 9.0;  // of a contact that a click means [points]
constexpr double k_handle_distance = 7.0;   // of the gizmo's handles [points]
constexpr double k_handle_length = 90.0;    // [points]

ImU32 to_imgui(const Colour& c) { return ImGui::ColorConvertFloat4ToU32(ImVec4(c[0], c[1], c[2], c[3])); }
ImVec2 to_imgui(const Vec2<double>& p) { return {static_cast<float>(p.x()), static_cast<float>(p.y())}; }

/// Where a panel is when it opens for the first time: a column (0 left, 1 middle, 2 right) and the part of
/// its height that it takes.
struct PanelPlace {
  int column;
  float top, bottom;
};
PanelPlace place_of_panel(std::size_t number) {
  constexpr PanelPlace k_places[] = {
      {1, 0.05f, 0.95f},  // help
      {0, 0.00f, 0.46f},  // simulation
      {2, 0.00f, 0.60f},  // settings
      {0, 0.47f, 1.00f},  // display
      {2, 0.30f, 1.00f},  // geometry
      {1, 0.66f, 1.00f},  // contacts
      {2, 0.00f, 1.00f},  // gradients
      {1, 0.55f, 1.00f},  // plots
      {2, 0.70f, 1.00f},  // recording
  };
  return k_places[std::min(number, std::size(k_places) - 1)];
}

double distance_to_segment(const Vec2<double>& p, const Vec2<double>& a, const Vec2<double>& b) {
  const Vec2<double> along = b - a;
  const double length = along.squaredNorm();
  const double t = length > 0.0 ? std::clamp((p - a).dot(along) / length, 0.0, 1.0) : 0.0;
  return (p - a - t * along).norm();
}

Colour handle_colour(GizmoHandle handle) {
  constexpr int k_of_axis[] = {3, 2, 6};  // vermilion, bluish green and blue of body_colour()
  return body_colour(k_of_axis[static_cast<int>(handle) % 3]);
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
  return {*frame_, simulation_, display, selection, gradients, recording, camera, pictures_per_second_};
}

// The screen ------------------------------------------------------------------------------------------------

int Viewer::picture_width() const {
  const int width = static_cast<int>(ImGui::GetIO().DisplaySize.x);
  return display.side_by_side ? width / 2 : width;
}

double Viewer::aspect() const {
  return std::max(1, picture_width()) / std::max(1.0, static_cast<double>(ImGui::GetIO().DisplaySize.y));
}

Viewer::Mouse Viewer::mouse() const {
  const ImGuiIO& io = ImGui::GetIO();
  const double width = std::max(1, picture_width()), height = std::max(1.0f, io.DisplaySize.y);
  double x = io.MousePos.x;
  if (display.side_by_side && x >= width) x -= width;
  Mouse at;
  at.x = 2.0 * x / width - 1.0;
  at.y = 1.0 - 2.0 * io.MousePos.y / height;
  at.ray = camera.ray(at.x, at.y, aspect());
  return at;
}

Vec2<double> Viewer::on_screen(const Vec3<double>& p_W) const {
  const Vec3<double> p = camera.project(p_W, aspect());
  if (!(p.z() > 0.0)) return Vec2<double>::Constant(-1e6);
  return {0.5 * (1.0 + p.x()) * picture_width(), 0.5 * (1.0 - p.y()) * ImGui::GetIO().DisplaySize.y};
}

// What the user does ----------------------------------------------------------------------------------------

void Viewer::open(const std::filesystem::path& file) { open_file(simulation_, file); }

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
  if (io.WantTextInput) return;
  const KeyModifier modifier = io.KeyCtrl    ? KeyModifier::control
                               : io.KeyShift ? KeyModifier::shift
                                             : KeyModifier::none;
  for (int key = 0; key < static_cast<int>(std::size(io.KeysDown)); ++key) {
    if (!ImGui::IsKeyPressed(key, true)) continue;
    const std::optional<KeyBinding> binding = find_key(key, modifier);
    if (binding && (binding->repeats || ImGui::IsKeyPressed(key, false))) act(binding->action);
  }
}

bool Viewer::gizmo_shown() const {
  return selection.body >= 0 && !frame_->running && !display.side_by_side &&
         std::isfinite(frame_->model->model().bodies[static_cast<std::size_t>(selection.body)].size);
}

double Viewer::gizmo_size() const {
  const Vec3<double>& p = frame_->state.X_WB[static_cast<std::size_t>(selection.body)].p;
  const double depth = std::max(1e-6, camera.project(p, aspect()).z());
  return k_handle_length * text_scale_ *
         camera.pixel_size(depth, std::max(1, static_cast<int>(ImGui::GetIO().DisplaySize.y)));
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
  const std::optional<BodyHit> hit = pick_body(model, frame_->state.X_WB, at.ray);
  drag_ = Drag::none;
  if (!hit) return;
  const auto b = static_cast<std::size_t>(hit->body);
  if (!std::isfinite(model.bodies[b].size)) return;
  selection.body = hit->body;
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
  const double height = std::max(1.0f, io.DisplaySize.y);
  const double dx = io.MouseDelta.x / height, dy = -io.MouseDelta.y / height;
  const auto in_depth = [this](const Mouse& m) -> Vec3<double> {
    return m.ray.origin +
           drag_depth_ / std::max(1e-6, m.ray.direction.dot(camera.forward())) * m.ray.direction;
  };
  switch (drag_) {
    case Drag::none:
      return;
    case Drag::turn_camera:
      return camera.turn(dx, dy);
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

void Viewer::click(const Mouse& at) {
  const Vec2<double> p(0.5 * (1.0 + at.x) * picture_width(),
                       0.5 * (1.0 - at.y) * ImGui::GetIO().DisplaySize.y);
  double nearest = k_contact_distance * text_scale_;
  const ContactView* found = nullptr;
  if (display.contacts.points || display.contacts.normals) {
    for (const ContactView& view : frame_->contacts) {
      if (!is_shown(view, display.contacts)) continue;
      const double distance = (on_screen(view.contact.point_W) - p).norm();
      if (distance >= nearest) continue;
      nearest = distance;
      found = &view;
    }
  }
  if (found) {
    selection.toggle_pin(found->contact.feature);
    return;
  }
  const std::optional<BodyHit> hit = pick_body(frame_->model->model(), frame_->state.X_WB, at.ray);
  const bool is_body =
      hit && std::isfinite(frame_->model->model().bodies[static_cast<std::size_t>(hit->body)].size);
  selection.body = is_body ? hit->body : -1;
}

void Viewer::handle_mouse() {
  const ImGuiIO& io = ImGui::GetIO();
  if (!ImGui::IsMousePosValid()) return;
  const Mouse at = mouse();
  const bool pressed =
      ImGui::IsMouseClicked(ImGuiMouseButton_Left) || ImGui::IsMouseClicked(ImGuiMouseButton_Right);
  const bool held = ImGui::IsMouseDown(ImGuiMouseButton_Left) || ImGui::IsMouseDown(ImGuiMouseButton_Right);
  if (drag_ != Drag::none && !held) {
    if (drag_ == Drag::pull) simulation_.post([](SimulationCore& core) { core.set_pull({}); });
    const Vec2<double> way(0.5 * (at.x - drag_from_.x) * picture_width(),
                           0.5 * (at.y - drag_from_.y) * io.DisplaySize.y);
    if (drag_ == Drag::turn_camera && way.norm() < k_click_distance * text_scale_) click(at);
    gizmo_.end();
    drag_ = Drag::none;
  }
  if (io.WantCaptureMouse && drag_ == Drag::none) return;
  if (pressed && drag_ == Drag::none) {
    begin_drag(at);
  } else if (held) {
    go_on_dragging(at);
  }
  if (io.MouseWheel != 0.0f) camera.zoom(io.MouseWheel);
}

// What is drawn over the world ------------------------------------------------------------------------------

void Viewer::draw_menu() {
  if (!ImGui::BeginMainMenuBar()) return;
  for (std::size_t c = 0; c < std::size(k_key_category_names); ++c) {
    if (!ImGui::BeginMenu(k_key_category_names[c])) continue;
    for (const KeyBinding& binding : key_table()) {
      if (static_cast<std::size_t>(binding.category) != c) continue;
      if (ImGui::MenuItem(binding.what, key_text(binding).c_str())) act(binding.action);
    }
    ImGui::EndMenu();
  }
  const std::string text =
      fmt::format("{}   t = {:.3f} s   {} contacts   {:.0f} pictures/s   F1: help", frame_->model->scene.name,
                  frame_->state.time, frame_->contacts.size(), pictures_per_second_);
  const float width = ImGui::CalcTextSize(text.c_str()).x, gap = ImGui::GetStyle().ItemSpacing.x;
  const float left = ImGui::GetIO().DisplaySize.x - width - 2.0f * gap;
  if (left > ImGui::GetCursorPosX()) {
    ImGui::SetCursorPosX(left);
    ImGui::TextUnformatted(text.c_str());
  }
  ImGui::EndMainMenuBar();
}

void Viewer::draw_panels() {
  const ImGuiIO& io = ImGui::GetIO();
  const float scale = static_cast<float>(text_scale_), gap = 6.0f * scale;
  const float top = ImGui::GetFrameHeight() + gap, height = std::max(50.0f, io.DisplaySize.y - top - gap);
  const float column = std::min(350.0f * scale, std::max(100.0f, io.DisplaySize.x - 2.0f * gap));
  PanelContext now = context();
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    Panel& panel = *panels_[i];
    if (!panel.open()) continue;
    const PanelPlace place = place_of_panel(i);
    const float middle = std::max(column, io.DisplaySize.x - 2.0f * column - 4.0f * gap);
    const float x = place.column == 0 ? gap
                    : place.column == 1
                        ? std::min(column + 2.0f * gap, std::max(gap, io.DisplaySize.x - middle - gap))
                        : std::max(gap, io.DisplaySize.x - column - gap);
    ImGui::SetNextWindowPos({x, top + place.top * height}, ImGuiCond_FirstUseEver);
    ImGui::SetNextWindowSize({place.column == 1 ? middle : column, (place.bottom - place.top) * height},
                             ImGuiCond_FirstUseEver);
    bool open = true;
    if (ImGui::Begin(panel.title().c_str(), &open)) panel.draw(now);
    ImGui::End();
    panel.set_open(open);
  }
}

void Viewer::draw_gizmo() {
  if (!gizmo_shown()) return;
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const Vec3<double>& centre = frame_->state.X_WB[static_cast<std::size_t>(selection.body)].p;
  for (const GizmoHandle handle : k_gizmo_handles) {
    std::vector<ImVec2> points;
    for (const Vec3<double>& p : PoseGizmo::line(handle, centre, gizmo_size()))
      points.push_back(to_imgui(on_screen(p)));
    const bool held = gizmo_.held() == handle, is_arrow = points.size() == 2;
    const ImU32 colour = to_imgui(held ? k_selection_colour : handle_colour(handle));
    const float width = static_cast<float>(text_scale_) * (is_arrow ? 3.0f : 1.5f);
    list.AddPolyline(points.data(), static_cast<int>(points.size()), colour, ImDrawFlags_None, width);
    if (is_arrow) list.AddCircleFilled(points.back(), 2.0f * width, colour);
  }
}

void Viewer::draw_legends() {
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const ImGuiIO& io = ImGui::GetIO();
  const float line = ImGui::GetTextLineHeight(), gap = 0.5f * line;
  const ImU32 white = to_imgui(k_selection_colour);
  const auto text = [&](float x, float y, const std::string& words, ImU32 colour) {
    list.AddText({x + 1.0f, y + 1.0f}, IM_COL32(0, 0, 0, 200), words.c_str());
    list.AddText({x, y}, colour, words.c_str());
  };
  float y = io.DisplaySize.y - gap - line;
  const float width = 12.0f * line;
  const float x = std::max(gap, 0.5f * (io.DisplaySize.x - width));
  // What colours contacts mean.
  const ContactDisplay& contacts = display.contacts;
  if (contacts.points || contacts.normals || contacts.candidates) {
    constexpr int k_parts = 48;
    for (int i = 0; i < k_parts; ++i) {
      const float left = x + width * static_cast<float>(i) / k_parts,
                  right = x + width * static_cast<float>(i + 1) / k_parts;
      list.AddRectFilled({left, y - 0.6f * line}, {right, y},
                         to_imgui(sequential_colour((i + 0.5) / k_parts)));
    }
    const bool of_contacts = contacts.points || contacts.normals;
    const char* name = of_contacts ? k_indicator_names[static_cast<std::size_t>(contacts.indicator)]
                                   : "weight of the choice";
    text(x, y, "0", white);
    text(x + width - ImGui::CalcTextSize("1").x, y, "1", white);
    text(x + 0.5f * (width - ImGui::CalcTextSize(name).x), y, name, white);
    y -= 2.0f * line;
  }
  if (contacts.friction_discs) {
    const std::pair<const char*, Colour> entries[] = {{"slides", k_slip_colour}, {"sticks", k_stick_colour}};
    for (const auto& [name, colour] : entries) {
      list.AddCircleFilled({x + 0.5f * line, y + 0.5f * line}, 0.5f * line, to_imgui(k_rim_colour));
      list.AddCircleFilled({x + 0.5f * line, y + 0.5f * line}, 0.4f * line, to_imgui(colour));
      text(x + 1.5f * line, y, name, white);
      y -= 1.2f * line;
    }
  }
  if (gradients.result && gradients.result->error.empty() && display.gradient_arrows) {
    const std::string what =
        "gradient of the " + loss_name(frame_->model->model(), gradients.result->request.loss) + " by:";
    const std::pair<const char*, Colour> entries[] = {{"force in this step", k_gradient_force_colour},
                                                      {"initial velocity", k_gradient_velocity_colour},
                                                      {"initial position", k_gradient_position_colour}};
    const float wide = std::max(width, ImGui::CalcTextSize(what.c_str()).x);
    list.AddRectFilled({x - gap, y - 3.6f * line - gap}, {x + wide + gap, y + line + gap},
                       IM_COL32(20, 22, 26, 170), 4.0f);
    for (const auto& [name, colour] : entries) {
      list.AddRectFilled({x, y + 0.2f * line}, {x + line, y + 0.8f * line}, to_imgui(colour));
      text(x + 1.5f * line, y, name, white);
      y -= 1.2f * line;
    }
    text(x, y, what, white);
  }
  if (display.side_by_side) {
    const float top = ImGui::GetFrameHeight() + gap, half = static_cast<float>(picture_width());
    const std::pair<float, std::string> titles[] = {
        {0.0f, fmt::format("as it is: {} contacts", frame_->contacts.size())},
        {half, fmt::format("without edge-edge: {} contacts", frame_->without_edges.size())}};
    for (const auto& [left, title] : titles)
      text(left + 0.5f * (half - ImGui::CalcTextSize(title.c_str()).x), top, title, white);
    list.AddLine({half, 0.0f}, {half, io.DisplaySize.y}, white);
  }
  if (video_) {
    const float radius = 0.5f * line, left = io.DisplaySize.x - 6.0f * line,
                top = ImGui::GetFrameHeight() + line;
    list.AddCircleFilled({left, top + radius}, radius, IM_COL32(220, 40, 40, 255));
    text(left + line, top, "recording", white);
  }
}

void Viewer::draw_message() {
  constexpr double k_notice = 4.0;  // [s]
  const ImGuiIO& io = ImGui::GetIO();
  if (recording.message != noticed_) {
    noticed_ = recording.message;
    notice_seconds_ = k_notice;
  }
  notice_seconds_ -= io.DeltaTime;
  const bool is_error = !frame_->message.empty();
  const std::string& message = is_error ? frame_->message : noticed_;
  if (message.empty() || (!is_error && notice_seconds_ <= 0.0)) return;
  ImDrawList& list = *ImGui::GetForegroundDrawList();
  const float line = ImGui::GetTextLineHeight(), gap = 0.5f * line;
  const float wrap = std::min(0.9f * io.DisplaySize.x, 50.0f * line);
  const ImVec2 size = ImGui::CalcTextSize(message.c_str(), nullptr, false, wrap);
  const float left = 0.5f * (io.DisplaySize.x - size.x), top = io.DisplaySize.y - size.y - 4.0f * line;
  list.AddRectFilled({left - gap, top - gap}, {left + size.x + gap, top + size.y + gap},
                     is_error ? IM_COL32(120, 40, 0, 240) : IM_COL32(20, 60, 90, 240), 4.0f);
  list.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {left, top}, to_imgui(k_selection_colour),
               message.c_str(), nullptr, wrap);
}

// A picture -------------------------------------------------------------------------------------------------

void Viewer::draw_world(unsigned framebuffer) {
  const ImGuiIO& io = ImGui::GetIO();
  const auto pixels = [](float points, float per_point) {
    return static_cast<int>(std::lround(points * per_point));
  };
  const int width = pixels(io.DisplaySize.x, io.DisplayFramebufferScale.x),
            height = pixels(io.DisplaySize.y, io.DisplayFramebufferScale.y);
  const GradientResult* gradient = gradients.result ? &*gradients.result : nullptr;
  const auto draw = [&](std::span<const ContactView> contacts, const Viewport& viewport) {
    const PictureMaker::Made made = pictures_.make(*frame_, contacts, display, selection, gradient, camera);
    renderer_.draw(made.picture, viewport, framebuffer);
    return made.counts;
  };
  if (!display.side_by_side) {
    counts_ = draw(frame_->contacts, {0, 0, width, height});
    return;
  }
  const int half = width / 2;
  counts_ = draw(frame_->contacts, {0, 0, half, height});
  draw(frame_->without_edges, {half, 0, width - half, height});
}

Image Viewer::capture(unsigned framebuffer) const {
  const ImGuiIO& io = ImGui::GetIO();
  return read_pixels(static_cast<int>(std::lround(io.DisplaySize.x * io.DisplayFramebufferScale.x)),
                     static_cast<int>(std::lround(io.DisplaySize.y * io.DisplayFramebufferScale.y)),
                     framebuffer);
}

template <typename F>
void Viewer::report_of(F recording_step) {
  try {
    recording_step();
  } catch (const std::exception& error) {
    recording.message = error.what();
  }
}

void Viewer::record_video(unsigned framebuffer) {
  constexpr int k_pictures_per_second = 30;
  if (!recording.recording_video) {
    const std::unique_ptr<VideoPipe> video = std::move(video_);
    video->finish();
    recording.message = fmt::format("{} is written: {} pictures", video->file().string(), video->pictures());
    return;
  }
  const Image picture = capture(framebuffer);
  if (!video_) {
    video_ =
        std::make_unique<VideoPipe>(recording.video, picture.width, picture.height, k_pictures_per_second);
    video_seconds_ = 0.0;
  } else {
    video_seconds_ += ImGui::GetIO().DeltaTime;
  }
  video_->add(picture, video_seconds_);
}

void Viewer::record(unsigned framebuffer) {
  report_of([&] {
    if (!std::exchange(recording.take_screenshot, false)) return;
    require_output_path(recording.screenshot, {".png"});
    make_folder_of(recording.screenshot);
    write_png(recording.screenshot, capture(framebuffer));
    recording.message = fmt::format("{} is written", recording.screenshot);
  });
  if (std::exchange(recording.save_trajectory, false)) {
    auto done = std::make_shared<std::promise<std::string>>();
    saving_ = done->get_future();
    simulation_.post([done, file = recording.trajectory](SimulationCore& core) {
      try {
        core.save_trajectory(file);
        done->set_value(file);
      } catch (...) {
        done->set_exception(std::current_exception());
      }
    });
  }
  if (saving_.valid() && saving_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
    report_of([&] { recording.message = fmt::format("{} is written", saving_.get()); });
  if (!recording.recording_video && !video_) return;
  try {
    record_video(framebuffer);
  } catch (const std::exception& error) {
    recording.message = error.what();
    recording.recording_video = false;
    video_.reset();
  }
}

void Viewer::use_new_scene(const SceneModel& before) {
  drag_ = Drag::none;
  pull_ = {};
  gizmo_.end();
  selection.pinned.clear();
  display.primitive_body = display.primitive = -1;
  const std::vector<Body>&now = frame_->model->model().bodies, &then = before.model().bodies;
  const bool same_bodies = std::equal(now.begin(), now.end(), then.begin(), then.end(),
                                      [](const Body& a, const Body& b) { return a.name == b.name; });
  if (same_bodies) return;  // a scene that is being edited: its user goes on looking at what they look at
  selection = {};
  show_all_ = true;
}

void Viewer::draw(unsigned framebuffer) {
  const ImGuiIO& io = ImGui::GetIO();
  const SharedFrame before = std::exchange(frame_, simulation_.frame());
  if (frame_->model->geometry_version != before->model->geometry_version) use_new_scene(*before->model);
  interface_.begin();
  if (!(io.DisplaySize.x >= 1.0f && io.DisplaySize.y >= 1.0f)) {  // minimised
    interface_.discard();
    return;
  }
  constexpr double k_averaged_over = 0.5;  // [s]
  const double now = io.DeltaTime > 0.0f ? 1.0 / io.DeltaTime : 0.0;
  const double share = pictures_per_second_ > 0.0 ? std::min(1.0, io.DeltaTime / k_averaged_over) : 1.0;
  pictures_per_second_ += share * (now - pictures_per_second_);
  if (std::exchange(show_all_, false))
    camera = camera_around(frame_->model->model(), frame_->state.X_WB, aspect(), camera);
  poll_gradients(gradients);
  const auto& result = gradients.result;
  if (result && result->request.model->geometry_version != frame_->model->geometry_version)
    gradients.result.reset();  // of a scene that is gone
  sample_pinned(*frame_, selection);
  handle_keys();
  handle_mouse();
  if (display.panels) {
    draw_menu();
    draw_panels();
  }
  draw_gizmo();
  draw_legends();
  draw_message();
  draw_world(framebuffer);
  interface_.end(framebuffer);
  record(framebuffer);
}

}  // namespace abut::viewer
