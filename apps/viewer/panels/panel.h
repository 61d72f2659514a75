/// What a panel of the viewer is, and all that panels may see and change.
#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/picture/camera.h"
#include "apps/viewer/camera_state.h"
#include "apps/viewer/display_options.h"
#include "apps/viewer/simulation/gradient_job.h"
#include "apps/viewer/simulation/parameter_study.h"
#include "apps/viewer/simulation/simulation_thread.h"

namespace abut::viewer {

/// Gradients, as panels and the picture share them.
struct GradientState {
  Loss loss;
  int steps = 100;
  bool from_past = false;  ///< the steps that led here, not those that would follow
  GradientJob job;
  std::optional<GradientResult> result;
  ParameterStudy study;  ///< of the result
  /// Of other values, as ghosts in this picture: set by whoever draws the sliders, reset before each picture.
  std::shared_ptr<const std::vector<State>> motion, shown_motion;
  std::optional<DeterminismResult> determinism;
  std::string message;  ///< why nothing came of what was asked for
  /// On their way from the thread of the simulation; see poll_gradients().
  std::future<GradientRequest> request_on_its_way;
  std::future<DeterminismResult> determinism_on_its_way;
};

/// Requests of panels to the viewer.
struct RecordingState {
  std::string screenshot = "abut.png", video = "abut.mp4", trajectory = "abut.npz";
  bool take_screenshot = false;  ///< set by a panel, reset by the viewer
  bool save_trajectory = false;
  bool recording_video = false;  ///< wanted by a panel
  std::string message;           ///< what came of it
};

/// Requests of keys and panels to the viewer, which resets them.
struct ViewerRequests {
  std::vector<std::filesystem::path> files;  ///< to open: a scene, a trajectory, or both
  bool open_dialog = false, palette = false, hints = false, reset_layout = false;
};

struct PanelContext {
  const Frame& frame;
  SimulationThread& simulation;
  DisplayOptions& display;
  Selection& selection;
  GradientState& gradients;
  RecordingState& recording;
  ViewerRequests& requests;
  OrbitCamera& camera;
  CameraState& camera_state;
  double pictures_per_second = 0;
  double aspect = 1;  ///< width by height of the picture
};

/// Where a panel is shown: over the scene, or as a tab of a pane beside it.
enum class Pane { overlay, left, right, bottom };

class Panel {
 public:
  Panel(std::string title, int key, Pane pane, bool open)
      : title_(std::move(title)), key_(key), pane_(pane), open_(open) {}
  virtual ~Panel() = default;
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;

  [[nodiscard]] const std::string& title() const { return title_; }
  [[nodiscard]] std::string name() const;         ///< the first word of its title, in small letters
  [[nodiscard]] int key() const { return key_; }  ///< GLFW key that opens and closes it
  [[nodiscard]] Pane pane() const { return pane_; }
  [[nodiscard]] bool open() const { return open_; }  ///< of a pane's panels, one at a time is
  void set_open(bool open) { open_ = open; }

  /// Its content, inside of a window that the viewer has begun.
  virtual void draw(PanelContext& context) = 0;

 private:
  std::string title_;
  int key_;
  Pane pane_;
  bool open_;
};

// One file each.
[[nodiscard]] std::unique_ptr<Panel> make_simulation_panel();  ///< run, pause, step, scrub, speed, reset
[[nodiscard]] std::unique_ptr<Panel>
make_settings_panel();  ///< law, step, contact settings; masses and materials
[[nodiscard]] std::unique_ptr<Panel> make_display_panel();   ///< what is shown of contacts
[[nodiscard]] std::unique_ptr<Panel> make_geometry_panel();  ///< surfaces, primitives, discrepancy, slice
[[nodiscard]] std::unique_ptr<Panel> make_contacts_panel();  ///< the table, and what is pinned
[[nodiscard]] std::unique_ptr<Panel> make_gradient_panel();
[[nodiscard]] std::unique_ptr<Panel> make_plots_panel();
[[nodiscard]] std::unique_ptr<Panel> make_recording_panel();
[[nodiscard]] std::unique_ptr<Panel> make_help_panel();
[[nodiscard]] std::unique_ptr<Panel> make_scene_panel();      ///< tree of bodies, joints and contact pairs
[[nodiscard]] std::unique_ptr<Panel> make_inspector_panel();  ///< numbers of what is selected

/// All of them, in the order of the tabs of their panes. Their keys are F1 (help) to F11.
[[nodiscard]] std::vector<std::unique_ptr<Panel>> make_panels();

}  // namespace abut::viewer
