/// The timeline: buttons of time, and the whole motion to move in, with curves, marks and a preview.
#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/viewer/panels/panel.h"
#include "apps/viewer/panels/pending_edits.h"

namespace abut::viewer {

/// A thing that is marked on the timeline.
struct TimelineMark {
  enum class Kind { warning, fallback, gradient, failure };
  Kind kind = Kind::warning;
  std::int64_t number = 0;  ///< of a moment
  int body = -1;            ///< that it is about, -1: none in particular
  std::string text{};       ///< empty: the preview of the moment says it
};

/// All of a frame and of the gradient's health, in the order in which they are drawn, each above those
/// before.
[[nodiscard]] std::vector<TimelineMark> timeline_marks(const Frame& frame, const GradientResult* gradient);

class Timeline {
 public:
  /// In a window that the viewer has begun.
  void draw(PanelContext& context);

 private:
  struct Track;
  void draw_controls(PanelContext& context) const;
  void draw_track(PanelContext& context);
  void seek(std::int64_t number);
  /// Asks for the moment under the mouse, and shows its bodies in the scene when it is there.
  void preview(PanelContext& context, std::int64_t number);
  void draw_tooltip(const PanelContext& context, std::int64_t number,
                    std::span<const TimelineMark> marks) const;

  PendingEdits edits_;
  std::future<StepPreview> on_its_way_;
  std::optional<StepPreview> preview_;
};

}  // namespace abut::viewer
