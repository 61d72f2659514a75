#include <string>

#include <imgui.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/viewer/panels/actions.h"
#include "apps/viewer/panels/key_table.h"
#include "apps/viewer/panels/panel.h"
#include "apps/viewer/panels/widgets.h"
#include "apps/viewer/video_pipe.h"
#include "engine/count_text.h"

namespace abut::viewer {
namespace {

class RecordingPanel : public Panel {
 public:
  RecordingPanel() : Panel("Recording", GLFW_KEY_F9, Pane::bottom, false), has_ffmpeg_(has_ffmpeg()) {}

  void draw(PanelContext& context) override {
    RecordingState& recording = context.recording;
    (void)text_field("Picture", "file.png", recording.screenshot,
                     "The file of the next screenshot, in the current folder if it names none.");
    ImGui::BeginDisabled(recording.screenshot.empty());
    if (wide_button("Take a screenshot")) recording.take_screenshot = true;
    ImGui::EndDisabled();
    tooltip("The picture as it is, panels included, as PNG.\nKey: " + key_text(Action::screenshot));

    ImGui::Separator();
    ImGui::BeginDisabled(recording.recording_video);
    (void)text_field("Video", "file.mp4 or file.png", recording.video,
                     "The file of the next video, or of numbered pictures if it ends in .png.");
    ImGui::EndDisabled();
    ImGui::BeginDisabled(!recording.recording_video && recording.video.empty());
    if (wide_button(recording.recording_video ? "End the video###video" : "Begin a video###video"))
      perform(Action::video, context, {});
    ImGui::EndDisabled();
    tooltip("Every picture goes to ffmpeg, or to files file_00001.png and so on.\nKey: " +
            key_text(Action::video));
    if (recording.recording_video) show_text(k_bad_colour, "Recording");
    if (!has_ffmpeg_)
      show_note("There is no ffmpeg in PATH, which makes videos; pictures one by one need none: file.png.");

    ImGui::Separator();
    (void)text_field("Trajectory", "file.npz or file.csv", recording.trajectory,
                     "The file of the next trajectory: .npz can be replayed, .csv is a table.");
    ImGui::BeginDisabled(recording.trajectory.empty());
    if (wide_button("Save the trajectory")) recording.save_trajectory = true;
    ImGui::EndDisabled();
    tooltip("All moments that are kept, as 'abut run --out' writes them.\nKey: " +
            key_text(Action::save_trajectory));
    show_note("Kept: " + count_text(context.frame.last - context.frame.first + 1, "moment") + ".");

    if (recording.message.empty()) return;
    ImGui::Separator();
    show_text(recording.message);
    if (ImGui::Button("Dismiss")) recording.message.clear();
  }

 private:
  bool has_ffmpeg_;
};

}  // namespace

std::unique_ptr<Panel> make_recording_panel() { return std::make_unique<RecordingPanel>(); }

}  // namespace abut::viewer
