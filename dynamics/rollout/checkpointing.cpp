#include "dynamics/rollout/checkpointing.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"

namespace abut {
namespace {

/// How many chunks `checkpoints` checkpoints reverse if no chunk is simulated more than `repeats` times:
/// (checkpoints + repeats over checkpoints).
double reversible_chunks(int checkpoints, int repeats) {
  double count = 1.0;
  for (int i = 1; i <= repeats; ++i) count *= static_cast<double>(checkpoints + i) / i;
  return count;
}

int repeats_needed(int chunks, int checkpoints) {
  int repeats = 1;
  while (reversible_chunks(checkpoints, repeats) < chunks) ++repeats;
  return repeats;
}

/// Steps that are kept together, and checkpoints between them.
struct Plan {
  int chunk = 1, chunks = 1, checkpoints = 0;
};

/// The plan that simulates steps least often within the memory.
Plan make_plan(int steps, std::size_t limit, std::size_t step_numbers, std::size_t checkpoint_numbers) {
  Plan best;
  int least = std::numeric_limits<int>::max();
  for (int chunk = steps;; chunk = (chunk + 1) / 2) {
    const std::size_t used = static_cast<std::size_t>(chunk) * step_numbers;
    if (used <= limit || chunk == 1) {
      Plan plan{chunk, (steps + chunk - 1) / chunk, 0};
      if (limit > used) {
        plan.checkpoints = static_cast<int>(
            std::min((limit - used) / checkpoint_numbers, static_cast<std::size_t>(plan.chunks - 1)));
      }
      const int repeats = plan.checkpoints == 0 ? plan.chunks : repeats_needed(plan.chunks, plan.checkpoints);
      if (repeats < least) {
        least = repeats;
        best = plan;
      }
    }
    if (chunk == 1) return best;
  }
}

/// Steps in a row, from step `begin` on, with the states around them.
struct Kept {
  int begin = 0;
  std::vector<State> states;
  std::vector<StepRecord> records;
  std::size_t numbers = 0;

  void add(State& next, StepRecord& record, std::size_t more) {
    states.push_back(std::move(next));
    records.push_back(std::move(record));
    numbers += more;
  }
};

class Reversal {
 public:
  Reversal(const Stepper& stepper, int steps, const Controls& controls, const LossGradient& loss,
           std::size_t limit_numbers, const AdjointOptions& options)
      : stepper_(stepper),
        controls_(controls),
        limit_(limit_numbers),
        sweep_(stepper, steps, controls, loss, options) {}

  CheckpointedGradient run(const State& initial, int steps) {
    steps_ = steps;
    checkpoint_numbers_ = checkpoint_numbers(initial);
    Kept kept{0, {initial}, {}};
    bool all_kept = true;
    StepRecord record;
    State next;
    for (int k = 0; k < steps; ++k) {
      step(k, kept.states.back(), next, record);
      const std::size_t numbers = kept_numbers(record, next);
      step_numbers_ = std::max(step_numbers_, numbers);
      all_kept = all_kept && kept.numbers + numbers <= limit_;
      if (all_kept) {
        kept.add(next, record, numbers);
      } else {
        kept = {0, {std::move(next)}, {}};
      }
    }
    sweep_.start(kept.states.back());
    result_.final_state = kept.states.back();
    if (all_kept) {
      step_back(kept);
    } else {
      const Plan plan = make_plan(steps, limit_, step_numbers_, checkpoint_numbers_);
      chunk_ = plan.chunk;
      reverse(0, plan.chunks, initial, plan.checkpoints, 0);
    }
    result_.gradient = sweep_.finish();
    return std::move(result_);
  }

 private:
  void step(int k, const State& state, State& next, StepRecord& record) {
    static const Control none;
    const Control& control = controls_.empty() ? none : controls_[static_cast<std::size_t>(k)];
    const StepReport report = stepper_.step(state, control, next, scratch_, &record);
    ++result_.steps_taken;
    if (report.status != StepStatus::ok) {
      throw std::logic_error(
          fmt::format("step {} of the rollout ended '{}': it has no gradient", k, to_string(report.status)));
    }
  }

  State advance(const State& from, int begin, int end) {
    StepRecord record;
    State at = from, next;
    for (int k = begin; k < end; ++k) {
      step(k, at, next, record);
      std::swap(at, next);
    }
    return at;
  }

  /// The step a chunk begins with.
  [[nodiscard]] int first_step(int chunk) const { return std::min(chunk * chunk_, steps_); }

  /// Chunks begin ... end - 1 backwards, with `free` checkpoints left and `kept` numbers in use by others.
  void reverse(int begin, int end, const State& start, int free, std::size_t kept) {
    if (end - begin == 1) {
      reverse_kept(first_step(begin), first_step(end), start, kept);
    } else if (free == 0) {
      for (int c = end; c-- > begin;) {
        const State at = c == begin ? start : advance(start, first_step(begin), first_step(c));
        reverse_kept(first_step(c), first_step(c + 1), at, kept);
      }
    } else {
      const int repeats = repeats_needed(end - begin, free);
      const int middle =
          begin + std::clamp(static_cast<int>(reversible_chunks(free, repeats - 1)), 1, end - begin - 1);
      reverse(middle, end, advance(start, first_step(begin), first_step(middle)), free - 1,
              kept + checkpoint_numbers_);
      reverse(begin, middle, start, free, kept);
    }
  }

  /// @param others  numbers in use by others
  void reverse_kept(int begin, int end, const State& start, std::size_t others) {
    Kept kept{begin, {start}, {}};
    StepRecord record;
    State next;
    for (int k = begin; k < end; ++k) {
      step(k, kept.states.back(), next, record);
      kept.add(next, record, kept_numbers(record, next));
    }
    step_back(kept, others);
  }

  void step_back(const Kept& kept, std::size_t others = 0) {
    result_.peak_numbers = std::max(result_.peak_numbers, kept.numbers + others);
    for (std::size_t i = kept.records.size(); i-- > 0;) {
      sweep_.step_back(kept.begin + static_cast<int>(i), kept.states[i], kept.states[i + 1], kept.records[i]);
    }
  }

  const Stepper& stepper_;
  const Controls& controls_;
  std::size_t limit_, checkpoint_numbers_ = 0, step_numbers_ = 0;
  int steps_ = 0, chunk_ = 1;
  AdjointSweep sweep_;
  StepScratch scratch_;
  CheckpointedGradient result_;
};

std::size_t numbers_of(const State& state) { return 13 * state.X_WB.size(); }

}  // namespace

std::size_t kept_numbers(const StepRecord& record, const State& state) {
  std::size_t numbers = numbers_of(state);
  for (const SubstepRecord& substep : record.substeps) {
    numbers += numbers_of(substep.end) + sizeof(ContactFeature) * substep.features.size() / sizeof(double);
    for (const GrowableVector* v : {&substep.velocity, &substep.push_out, &substep.displacement})
      numbers += static_cast<std::size_t>(v->size());
  }
  return numbers;
}

std::size_t checkpoint_numbers(const State& state) { return numbers_of(state); }

CheckpointedGradient checkpointed_gradient(const Stepper& stepper, const State& initial, int steps,
                                           const Controls& controls, const LossGradient& loss,
                                           std::size_t limit_numbers, const AdjointOptions& options) {
  require_rollout(stepper, initial, steps, controls);
  return Reversal(stepper, steps, controls, loss, limit_numbers, options).run(initial, steps);
}

}  // namespace abut
