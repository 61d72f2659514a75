/// Files that the viewer opens, what it remembers between runs, and what appears over everything: the dialog,
/// the palette and the hints.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <imgui.h>

#include "apps/viewer/file_listing.h"
#include "apps/viewer/panels/actions.h"
#include "apps/viewer/viewer.h"
#include "collision/fitting/surface_cache.h"

namespace abut::viewer {

void Viewer::open(std::span<const std::filesystem::path> files) {
  if (files.empty()) return;
  std::filesystem::path scene, trajectory, measurements;  // the last of each
  for (const std::filesystem::path& file : files)
    (is_measurements(file) ? measurements : file.extension() == ".npz" ? trajectory : scene) = file;
  if (!measurements.empty()) ghost_job_.cancel();  // they take its place
  opening_files_.assign(files.begin(), files.end());
  opening_ = open_files(simulation_, scene, trajectory, measurements);
}

/// Passes the ghosts on to the simulation when they are there; throws why they are not.
bool Viewer::take_ghosts() {
  std::optional<Ghosts> ghosts = ghost_job_.poll();
  if (!ghosts) return false;
  simulation_.post(
      [ghosts = std::move(*ghosts), version = frame_->model->geometry_version](SimulationCore& core) {
        if (core.model()->geometry_version == version) core.set_ghosts(ghosts);
      });
  return true;
}

void Viewer::poll_ghosts() {
  try {
    (void)take_ghosts();
  } catch (const std::exception& error) {
    simulation_.post([what = std::string(error.what())](SimulationCore& core) { core.set_message(what); });
  }
}

/// Of a scene that was read again, whose bodies may be others now.
void Viewer::show_ghosts_again() {
  if (ghosts_file_.empty()) return;
  try {
    show_ghosts(ghosts_file_);
  } catch (const std::exception& error) {
    simulation_.post([what = std::string(error.what())](SimulationCore& core) { core.set_message(what); });
  }
}

void Viewer::wait_for_ghosts(const std::function<bool()>& may_go_on) {
  while (ghost_job_.busy() && !take_ghosts()) {
    if (!may_go_on()) return ghost_job_.cancel();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Viewer::offer(std::span<const std::filesystem::path> files) {
  if (files.empty()) return;
  const bool keeps_scene = std::all_of(files.begin(), files.end(), is_measurements);
  if (keeps_scene || !frame_->is_edited) return open(files);
  offered_files_.assign(files.begin(), files.end());
  requests_.open_dialog = true;
}

void Viewer::take_opened() {
  if (!opening_.valid() || opening_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  const std::string problem = opening_.get();
  if (problem.empty()) {
    ghosts_file_.clear();
    for (const std::filesystem::path& file : opening_files_) {
      add_recent_file(file, recent_files_);
      if (is_measurements(file)) ghosts_file_ = file;
    }
    open_dialog_.close();
  } else if (open_dialog_.open()) {  // which says it in place of the frame
    open_dialog_.set_error(problem);
    simulation_.post([](SimulationCore& core) { core.dismiss_message(); });
  }
}

void Viewer::restore(const RememberedState& state) {
  layout = state.layout;
  recent_files_ = state.recent_files;
  hints_seen_ = state.hints_seen;
  if (!hints_seen_) requests_.hints = true;
  if (!state.open_panels) return;
  for (const auto& panel : panels_) panel->set_open(false);
  for (const auto& panel : panels_) {
    const bool was_open = std::find(state.open_panels->begin(), state.open_panels->end(), panel->name()) !=
                          state.open_panels->end();
    if (was_open && panel->pane() != Pane::overlay) choose_panel(*panel, panels_);
  }
}

RememberedState Viewer::remembered() const {
  RememberedState state;
  state.layout.left = layout.left;
  state.layout.right = layout.right;
  state.layout.bottom = layout.bottom;
  state.open_panels.emplace();
  for (const auto& panel : panels_) {
    if (panel->open() && panel->pane() != Pane::overlay) state.open_panels->push_back(panel->name());
  }
  state.recent_files = recent_files_;
  state.hints_seen = hints_seen_;
  return state;
}

void Viewer::reset_layout() {
  layout = {};
  const std::vector<std::unique_ptr<Panel>> fresh = make_panels();
  for (std::size_t i = 0; i < panels_.size(); ++i) panels_[i]->set_open(fresh[i]->open());
  display.panels = true;
  recording.message = "the layout is that of the first start";
}

void Viewer::answer_requests() {
  const ViewerRequests requests = std::exchange(requests_, {});
  if (!requests.files.empty()) offer(requests.files);
  if (requests.reset_layout) reset_layout();
  if (!requests.open_dialog && !requests.palette && !requests.hints) return;
  // One of them at a time.
  open_dialog_.close();
  palette_.close();
  hints_.close();
  if (requests.open_dialog) {
    if (!thumbnails_) {
      const std::filesystem::path cache = user_cache_folder();
      thumbnails_ = std::make_unique<Thumbnails>(cache.empty() ? cache : cache / "thumbnails");
    }
    open_dialog_.show(scenes_in(bundled_scenes_folder()),
                      offered_files_.empty() ? std::filesystem::path() : offered_files_.back());
  } else if (requests.palette) {
    palette_.show();
  } else {
    hints_.show();
  }
}

bool Viewer::has_popup() const { return open_dialog_.open() || palette_.open() || hints_.open(); }

bool Viewer::makes_thumbnails() const { return open_dialog_.open() && thumbnails_->busy(); }

void Viewer::draw_popups() {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const Rectangle window{0.0f, 0.0f, size.x, size.y};
  const auto scale = static_cast<float>(text_scale_);
  if (open_dialog_.open()) {
    thumbnails_->update(renderer_);
    if (const auto file = open_dialog_.draw(window, scale, recent_files_, what_opening_loses(), *thumbnails_))
      open_chosen(*file);
    if (!open_dialog_.open()) offered_files_.clear();
  }
  if (const std::optional<Action> action = palette_.draw(context(), window, scale)) act(*action);
  const bool had_hints = hints_.open();
  hints_.draw(window, scale);
  if (had_hints && !hints_.open()) hints_seen_ = true;
}

void Viewer::open_chosen(const std::filesystem::path& file) {
  const bool is_offered = !offered_files_.empty() && file == offered_files_.back();
  is_offered ? open(offered_files_) : open(file);
}

std::string Viewer::what_opening_loses() const {
  if (video_) return "A video is being recorded: it goes on with what is opened.";
  return frame_->is_edited ? "Settings that were changed here are lost when another file opens." : "";
}

void Viewer::draw_recent_menu() {
  if (!ImGui::BeginMenu("open a recent file", !recent_files_.empty())) return;
  for (std::size_t i = 0; i < recent_files_.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::MenuItem(recent_files_[i].string().c_str())) requests_.files = {recent_files_[i]};
    ImGui::PopID();
  }
  ImGui::EndMenu();
}

}  // namespace abut::viewer
