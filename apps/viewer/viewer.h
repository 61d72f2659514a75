/// The viewer: what the user does goes to the simulation, what the simulation says becomes a picture.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/picture/image.h"
#include "apps/render/renderer.h"
#include "apps/viewer/command_palette.h"
#include "apps/viewer/hints.h"
#include "apps/viewer/interface.h"
#include "apps/viewer/layout.h"
#include "apps/viewer/lens.h"
#include "apps/viewer/open_dialog.h"
#include "apps/viewer/panels/key_table.h"
#include "apps/viewer/panels/panel.h"
#include "apps/viewer/panels/timeline.h"
#include "apps/viewer/picture_maker.h"
#include "apps/viewer/pose_gizmo.h"
#include "apps/viewer/remembered_state.h"
#include "apps/viewer/simulation/ghost_job.h"
#include "apps/viewer/thumbnails.h"
#include "apps/viewer/video_file.h"

namespace abut::viewer {

inline constexpr int k_video_rate = 30;  ///< pictures of a video in a second

/// Needs a current OpenGL 3.3 context as long as it lives. Takes its input from ImGuiIO, whoever has filled
/// that in.
class Viewer {
 public:
  /// @param text_scale  of text and widgets
  Viewer(SimulationThread& simulation, double text_scale);
  ~Viewer();
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;

  /// One picture of ImGuiIO::DisplaySize, ImGuiIO::DeltaTime after the last one, into a framebuffer.
  void draw(unsigned framebuffer);
  /// The picture that the last draw() left there.
  [[nodiscard]] Image capture(unsigned framebuffer) const;

  /// Does what a key would do.
  void act(Action action);
  /// A scene (.toml) to open, a trajectory (.npz) to replay, or both. What opens becomes a recent file.
  void open(std::span<const std::filesystem::path> files);
  void open(const std::filesystem::path& file) { open({&file, 1}); }
  /// Bodies of another motion beside those of the simulation, when they are there: see GhostJob. They stay
  /// when the scene is read again. Throws InputError for a file that cannot be read.
  void show_ghosts(const std::filesystem::path& file) {
    ghost_job_.start(file, frame_->model);
    ghosts_file_ = file;
  }
  /// Until they are there or `may_go_on` says no. Throws InputError if they could not be simulated.
  void wait_for_ghosts(const std::function<bool()>& may_go_on);
  /// The same, but where settings that were changed would be lost, the dialog asks first.
  void offer(std::span<const std::filesystem::path> files);
  /// Layout, panels and recent files of an earlier run; the hints are shown to whoever has not seen them.
  void restore(const RememberedState& state);
  [[nodiscard]] RememberedState remembered() const;
  void remember_file(const std::filesystem::path& file) { add_recent_file(file, recent_files_); }
  /// Looks from there, also at the first picture.
  void look_from(const OrbitCamera& from) {
    camera = from;
    show_all_ = false;
  }
  /// Computes the gradient, or waits for one that is on its way.
  void compute_gradient_now(bool check);

  DisplayOptions display;
  Selection selection;
  GradientState gradients;
  RecordingState recording;
  OrbitCamera camera;
  CameraState camera_state;
  bool can_capture_pointer = false;  ///< whoever has a window does what wants_pointer() says
  bool shows_motion_first = true;    ///< all of it in the first picture, not the bodies of the moment alone
  Layout layout;
  [[nodiscard]] const std::vector<std::unique_ptr<Panel>>& panels() const { return panels_; }
  [[nodiscard]] const ContactGlyphCounts& glyph_counts() const { return counts_; }  ///< of the last picture
  /// What is written into the last picture, of two side by side into the left one.
  [[nodiscard]] const PictureNotes& notes() const { return halves_.front().notes; }
  [[nodiscard]] const std::optional<Lens>& lens() const { return halves_.front().lens; }
  [[nodiscard]] SharedFrame frame() const { return frame_; }             ///< of the last picture
  [[nodiscard]] const Rectangle& scene() const { return areas_.scene; }  ///< of the last picture
  [[nodiscard]] const LayoutAreas& areas() const { return areas_; }
  /// Of the last picture, of two side by side the left one's.
  [[nodiscard]] const Rectangle& legend_place() const { return halves_.front().legend_place; }
  [[nodiscard]] const std::optional<Rectangle>& message_place() const { return message_place_; }
  [[nodiscard]] bool wants_to_close() const { return wants_to_close_; }
  /// Whether every motion of the mouse looks around, without a pointer: while the camera flies.
  [[nodiscard]] bool wants_pointer() const {
    return can_capture_pointer && camera_state.flies && !has_popup();
  }
  [[nodiscard]] bool has_popup() const;         ///< the dialog, the palette or the hints
  [[nodiscard]] bool makes_thumbnails() const;  ///< that the dialog shows: more pictures show more of them
  [[nodiscard]] const OpenDialog& open_dialog() const { return open_dialog_; }

 private:
  /// The mouse in the world: its ray, and where it is in the picture.
  struct Mouse {
    double x = 0, y = 0;  ///< in [-1, 1], y upwards
    Ray ray;
  };
  /// A picture of the world in a part of the window.
  struct ScenePlace {
    Rectangle area;
    OrbitCamera camera;
    [[nodiscard]] Vec2<double> on_screen(const Vec3<double>& p_W) const;
  };
  /// The world and what is written into its picture, of which there are two side by side.
  struct SceneHalf {
    ScenePlace place;
    PictureNotes notes;
    std::optional<Lens> lens{};
    ScenePlace lens_place{};
    std::vector<ArrowLabel> lens_arrows{};
    Rectangle legend_place{};
  };
  [[nodiscard]] Mouse mouse() const;
  [[nodiscard]] bool over_lens() const;
  [[nodiscard]] double aspect() const;
  [[nodiscard]] int picture_width() const;  ///< of one of the pictures side by side [points of ImGui]
  [[nodiscard]] Vec2<double> on_screen(const Vec3<double>& p_W) const;
  [[nodiscard]] GlyphScale picture_scale() const;
  [[nodiscard]] double gizmo_size() const;
  [[nodiscard]] bool gizmo_shown() const;

  void handle_keys();
  void fly();
  void handle_mouse();
  void change_speed();
  void look_around();
  void begin_drag(const Mouse& at);
  void go_on_dragging(const Mouse& at);
  [[nodiscard]] const ContactView* contact_at(const Mouse& at) const;  ///< null if there is none near
  void click(const Mouse& at);
  void centre_on(const Mouse& at);
  void pose_edit(const Pose<double>& X_WB);
  void draw_menu();
  void draw_recent_menu();
  void take_opened();
  bool take_ghosts();
  void poll_ghosts();
  void show_ghosts_again();
  void open_chosen(const std::filesystem::path& file);
  void answer_requests();
  void reset_layout();
  void draw_popups();
  [[nodiscard]] std::string what_opening_loses() const;
  void lay_out();
  void draw_panels();
  void draw_pane(Pane pane, const Rectangle& area);
  [[nodiscard]] Panel* draw_tabs(Pane pane, const Panel* shown) const;  ///< that was clicked, or null
  void draw_timeline();
  void draw_splitter(Pane pane, const Rectangle& area);
  void draw_overlay(Panel& panel);
  void draw_gizmo();
  void draw_notes();
  void draw_titles() const;
  Rectangle draw_legend(const Rectangle& area, const Legend& legend) const;  ///< returns its place
  void draw_labels(const ScenePlace& place, std::span<const ArrowLabel> arrows,
                   const std::vector<const ContactView*>& with_tables,
                   const std::vector<Rectangle>& taken) const;
  /// Returns the places of its title and of its scale bar.
  std::array<Rectangle, 2> draw_lens_frame(const SceneHalf& half) const;
  /// Those that are pinned and the one under the mouse, as many as there is room for.
  [[nodiscard]] std::vector<const ContactView*> contacts_with_tables() const;
  void draw_message();
  void draw_recording_sign(unsigned framebuffer);
  void draw_world(unsigned framebuffer);
  void draw_half(const ContactSet& set, const Rectangle& area, unsigned framebuffer);
  void draw_lens(const ContactSet& set, SceneHalf& half, unsigned framebuffer);
  [[nodiscard]] Viewport viewport_of(const Rectangle& area) const;
  void record(unsigned framebuffer);
  void record_video(unsigned framebuffer);
  /// Puts what went wrong in place of what there is to say of a recording.
  template <typename F>
  void report_of(F recording_step);
  void use_new_scene(const SceneModel& before);
  [[nodiscard]] PanelContext context();

  SimulationThread& simulation_;
  Interface interface_;
  Renderer renderer_;
  PictureMaker pictures_;
  std::vector<std::unique_ptr<Panel>> panels_;
  SharedFrame frame_;
  VisibleContacts visible_;
  ContactGlyphCounts counts_;
  Timeline timeline_;
  LayoutAreas areas_;
  std::vector<SceneHalf> halves_;  // of the last picture
  double lens_zoom_ = 1.0;         // by the wheel
  bool show_all_ = true, wants_to_close_ = false;
  double text_scale_, pictures_per_second_ = 0.0;

  enum class Drag { none, turn_camera, move_camera, pull, move_body, turn_body, gizmo };
  Drag drag_ = Drag::none;
  double drag_depth_ = 0.0;  // of what is dragged, along the camera's view [m]
  Pose<double> drag_start_;  // of the body
  Mouse drag_from_;
  Pull pull_;
  PoseGizmo gizmo_;
  std::unique_ptr<VideoFile> video_;
  double video_seconds_ = 0.0;
  ViewerRequests requests_;
  GhostJob ghost_job_;
  std::filesystem::path ghosts_file_;  // empty without any
  std::future<std::string> opening_;   // why it cannot be
  std::vector<std::filesystem::path> opening_files_, offered_files_, recent_files_;
  OpenDialog open_dialog_;
  std::unique_ptr<Thumbnails> thumbnails_;  // once the dialog has been opened
  CommandPalette palette_;
  Hints hints_;
  bool hints_seen_ = false;
  std::future<std::string> saving_;  // the file, from the thread of the simulation
  std::string noticed_;              // the message that is on the screen
  double notice_seconds_ = 0.0;      // left of that
  std::optional<Rectangle> message_place_;
};

}  // namespace abut::viewer
