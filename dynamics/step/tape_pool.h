/// Memory of full tapes from one rollout to the next.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "dynamics/step/step_memory.h"

namespace abut {

/// Tapes that no record holds any more, to be written again: one that is filled for the first time allocates
/// in some thirty places. Safe with several threads. It keeps as many as were ever in use at once.
class TapePool {
 public:
  TapePool() : shelf_(std::make_shared<Shelf>()) {}

  /// A tape with anything on it.
  [[nodiscard]] std::shared_ptr<SubstepTape> next() const {
    std::unique_ptr<SubstepTape> tape;
    {
      const std::lock_guard lock(shelf_->mutex);
      std::vector<std::unique_ptr<SubstepTape>>& tapes = shelf_->tapes;
      if (tapes.empty()) {
        tapes.reserve(++shelf_->made);  // so that there is room for each that comes back
        tape = std::make_unique<SubstepTape>();
      } else {
        tape = std::move(tapes.back());
        tapes.pop_back();
      }
    }
    return {tape.release(), Return{shelf_}};
  }

 private:
  struct Shelf {
    std::mutex mutex;
    std::size_t made = 0;
    std::vector<std::unique_ptr<SubstepTape>> tapes;
  };
  /// Where a tape goes that is not needed any more: back, unless the pool is gone.
  struct Return {
    std::weak_ptr<Shelf> shelf;
    void operator()(SubstepTape* tape) const noexcept {
      std::unique_ptr<SubstepTape> owned(tape);
      const std::shared_ptr<Shelf> at = shelf.lock();
      if (!at) return;
      const std::lock_guard lock(at->mutex);
      at->tapes.push_back(std::move(owned));
    }
  };
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace abut
