/// The past of a simulation, as far as it is kept.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

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
    first_ = 0;
    moments_.push_back(std::move(first));
  }
  void push(Moment next) {
    moments_.push_back(std::move(next));
    if (moments_.size() <= capacity_) return;
    moments_.pop_front();
    ++first_;
  }
  /// Forgets all that came after a moment.
  void truncate_after(std::int64_t number) {
    while (last() > number) moments_.pop_back();
  }

  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] std::int64_t last() const { return first_ + static_cast<std::int64_t>(moments_.size()) - 1; }
  /// @param number  from first() to last()
  [[nodiscard]] const Moment& at(std::int64_t number) const {
    return moments_[static_cast<std::size_t>(number - first_)];
  }
  [[nodiscard]] Moment& at(std::int64_t number) {
    return moments_[static_cast<std::size_t>(number - first_)];
  }

 private:
  std::size_t capacity_;
  std::int64_t first_ = 0;
  std::deque<Moment> moments_;
};

}  // namespace abut::viewer
