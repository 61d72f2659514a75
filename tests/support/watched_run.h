/// Runs under watch: displacements that no velocity explains, overlap, energy and momentum of every step.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "dynamics/rollout/rollout.h"
#include "dynamics/step/step_memory.h"
#include "engine/lie.h"
#include "tests/support/scenes.h"

namespace abut::test {

/// Displacement of a body in a step of h seconds beyond what its velocities explain [m],
///     max(|p+ - p| - h max |v|,  r (|theta| - h max |w|)),
/// over the twists before and after the step and the one that its pose was advanced with, and the largest speeds
/// between impacts of the step; theta is its rotation vector, r the distance of its farthest contact point. Not
/// above 0 where p+ = p + h v+.
inline double unexplained_displacement(const Body& body, const Pose<double>& before,
                                       const Pose<double>& after, std::initializer_list<Vec6<double>> twists,
                                       double between_spin, double between_speed, double h) {
  double reach = 0.0, speed = between_speed, spin = between_spin;
  for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i)
    reach = std::max(reach, body.contact_points.col(i).norm() + body.contact_radius);
  for (const Vec6<double>& V : twists) {
    speed = std::max(speed, V.tail<3>().norm());
    spin = std::max(spin, V.head<3>().norm());
  }
  const Vec6<double> way = difference(after, before);
  return std::max(way.tail<3>().norm() - h * speed, reach * (way.head<3>().norm() - h * spin));
}

struct WatchedRun {
  StepStatus status = StepStatus::ok;
  int steps = 0;
  int jumping_body = -1;                            ///< the one of `jump`
  double jump = 0.0;                                ///< largest unexplained_displacement() [m]
  double size_jump = 0.0;                           ///< the same in sizes of the body [-]
  double overlap = 0.0;                             ///< deepest contact at the start of a step [m]
  double start_energy = 0.0, highest_energy = 0.0;  ///< at ends of steps [J]
  State end;

  [[nodiscard]] double energy_gain() const { return highest_energy - start_energy; }
};

/// Stops at the first step that fails.
///
/// @param see  called with the state after each step
template <typename See>
WatchedRun watch(const TestScene& scene, const StepConfig& config, int steps, const See& see) {
  const auto energy_of = [&](State state) {  // velocities are those of middles of steps
    for (Vec6<double>& V : state.V_WB) V.tail<3>() += 0.5 * config.h * scene.model.gravity;
    return mechanical_energy(scene.model, state);
  };
  WatchedRun run;
  run.start_energy = run.highest_energy = energy_of(scene.state);
  State before = scene.state;
  StepScratch scratch;
  const StepReport report =
      simulate(Stepper(scene.model, config), scene.state, steps, {}, run.end, scratch,
               [&](int, const State& state, const StepReport& step) {
                 if (step.status != StepStatus::ok && step.status != StepStatus::jumped) return false;
                 const SolvedSubstep& solved = scratch.memory().solved;
                 run.overlap = std::max(run.overlap, step.max_penetration);
                 for (std::size_t b = 0; b < state.X_WB.size(); ++b) {
                   const Body& body = scene.model.bodies[b];
                   if (body.fixed) continue;
                   const int slot = solved.mass.slot(static_cast<int>(b));
                   const GrowableVector& between = solved.solution.phase_speeds;
                   const double jump = unexplained_displacement(
                       body, before.X_WB[b], state.X_WB[b],
                       {before.V_WB[b], state.V_WB[b], solved.solution.velocity.segment<6>(6 * slot)},
                       between.size() > 0 ? between[2 * slot] : 0.0,
                       between.size() > 0 ? between[2 * slot + 1] : 0.0, config.h);
                   if (jump > run.jump) run.jumping_body = static_cast<int>(b);
                   run.jump = std::max(run.jump, jump);
                   run.size_jump = std::max(run.size_jump, jump / body.size);
                 }
                 run.highest_energy = std::max(run.highest_energy, energy_of(state));
                 before = state;
                 ++run.steps;
                 see(state);
                 return true;
               });
  run.status = report.status;
  return run;
}

inline WatchedRun watch(const TestScene& scene, const StepConfig& config, int steps) {
  return watch(scene, config, steps, [](const State&) {});
}

inline StepConfig config_with_step(double h) {
  StepConfig config;
  config.h = h;
  return config;
}

inline void set_restitution(TestScene& scene, double restitution) {
  for (Body& body : scene.model.bodies) body.material.restitution = restitution;
}

}  // namespace abut::test
