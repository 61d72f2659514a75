#include "apps/abut/failure_scene.h"

#include <system_error>
#include <utility>

#include "collision/fitting/shape_surface.h"
#include "collision/fitting/surface_cache.h"
#include "engine/scene_writer.h"

namespace abut {
namespace fs = std::filesystem;

void RecentStates::add(const State& state) {
  constexpr std::size_t k_kept = 32;
  if (recent_.size() < k_kept) {
    newest_ = recent_.size();
    recent_.push_back(state);
  } else {
    newest_ = (newest_ + 1) % k_kept;
    recent_[newest_] = state;
  }
}

fs::path default_failure_scene(const fs::path& scene, const fs::path& out) {
  return out.parent_path() / (scene.stem().string() + "_failure.toml");
}

int write_failure_scene(const Stepper& stepper, const fs::path& scene, const RecentStates& states,
                        const Controls& controls, const StepReport& failure, const std::string& what,
                        const fs::path& to) {
  SceneStart start;
  start.time_step = stepper.config().h;
  start.comment = what;
  start.make_surface = surface_maker(user_cache_folder());
  StepScratch scratch;
  states.each(failure.step, [&](const State& state, int steps) {
    State end;
    Controls last;
    if (!controls.empty())
      last.assign(controls.begin() + failure.step + 1 - steps, controls.begin() + failure.step + 1);
    const StepReport report = simulate(stepper, state, steps, last, end, scratch);
    start.state = state;
    start.steps = steps;
    return report.status != failure.status || report.step != steps - 1;
  });
  std::error_code ignored;  // where it matters, writing says so
  if (to.has_parent_path()) fs::create_directories(to.parent_path(), ignored);
  write_scene_at(scene, start, to);
  return start.steps;
}

}  // namespace abut
