/// The past of a simulation, as far as it is kept.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "apps/viewer/simulation/step_mark.h"
#include "dynamics/step/stepper.h"
#include "engine/state.h"

namespace abut::viewer {

/// A state, how it came about, and how to go on from it to the last bit.
struct Moment {
  State state;
  StepReport report;            ///< of the step that led here
  Control control;              ///< of that step; empty where nobody pulled
  double energy = 0;            ///< kinetic and potential [J]
  double momentum = 0;          ///< |sum m v| of the moving bodies [N s]
  double angular_momentum = 0;  ///< |sum L| of these about the world's origin [N m s]
  double step_seconds = 0;      ///< that the step took to compute [s]
  bool is_from_file = false;    ///< of a replay: of the report the number of contacts alone is known
};

/// Moments by their number since the start, the oldest of which are dropped where there are too many.
class History {
 public:
  /// @param capacity  moments that are kept, >= 2
  explicit History(std::size_t capacity) : capacity_(capacity) {}

  void restart(Moment first) {
    moments_.clear();
    marks_.clear();
    first_ = 0;
    moments_.push_back(std::move(first));
    ++marks_version_;
  }
  void push(Moment next) {
    moments_.push_back(std::move(next));
    mark_last();
    if (moments_.size() <= capacity_) return;
    moments_.pop_front();
    ++first_;
    if (marks_.empty() || marks_.front().number >= first_) return;
    marks_.pop_front();
    ++marks_version_;
  }
  void replace_last(Moment by) {
    unmark_after(last() - 1);
    moments_.back() = std::move(by);
    mark_last();
  }
  /// Forgets all that came after a moment.
  void truncate_after(std::int64_t number) {
    while (last() > number) moments_.pop_back();
    unmark_after(number);
  }

  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] std::int64_t last() const { return first_ + static_cast<std::int64_t>(moments_.size()) - 1; }
  /// @param number  from first() to last()
  [[nodiscard]] const Moment& at(std::int64_t number) const {
    return moments_[static_cast<std::size_t>(number - first_)];
  }
  /// Of steps to the moments that are kept, in their order.
  [[nodiscard]] const std::deque<StepMark>& marks() const { return marks_; }
  /// Another one whenever these change.
  [[nodiscard]] std::uint64_t marks_version() const { return marks_version_; }

 private:
  void mark_last() {
    const std::optional<StepMark> mark = mark_of(last(), moments_.back().report);
    if (!mark) return;
    marks_.push_back(*mark);
    ++marks_version_;
  }
  void unmark_after(std::int64_t number) {
    for (; !marks_.empty() && marks_.back().number > number; ++marks_version_) marks_.pop_back();
  }

  std::size_t capacity_;
  std::int64_t first_ = 0;
  std::deque<Moment> moments_;
  std::deque<StepMark> marks_;
  std::uint64_t marks_version_ = 1;
};

}  // namespace abut::viewer
