/// How the viewer writes pictures, videos and trajectories.
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <imgui.h>

#include "apps/abut/trajectory_file.h"
#include "apps/viewer/viewer.h"
#include "engine/count_text.h"

namespace abut::viewer {

template <typename F>
void Viewer::report_of(F recording_step) {
  try {
    recording_step();
  } catch (const std::exception& error) {
    recording.message = error.what();
  }
}

void Viewer::record_video(unsigned framebuffer) {
  if (!recording.recording_video) {
    const std::unique_ptr<VideoFile> video = std::move(video_);
    video->finish();
    recording.message =
        fmt::format("written to {}: {}", video->file().string(), count_text(video->pictures(), "picture"));
    return;
  }
  const Image picture = capture(framebuffer);
  if (!video_) {
    video_ = make_video_file(recording.video, picture.width, picture.height, k_video_rate);
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
    recording.message = "written to " + recording.screenshot;
  });
  if (std::exchange(recording.save_trajectory, false)) {
    saving_ = simulation_.ask([file = recording.trajectory](const SimulationCore& core) {
      core.save_trajectory(file);
      return file;
    });
  }
  if (saving_.valid() && saving_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
    report_of([&] { recording.message = "written to " + saving_.get(); });
  if (!recording.recording_video && !video_) return;
  try {
    record_video(framebuffer);
  } catch (const std::exception& error) {
    recording.message = error.what();
    recording.recording_video = false;
    video_.reset();
  }
}

}  // namespace abut::viewer
