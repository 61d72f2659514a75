/// Contact problems of random scenes, for tests of the laws that solve them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "dynamics/contact_rows.h"
#include "dynamics/contact_solver.h"
#include "dynamics/free_motion.h"
#include "tests/support/scenes.h"

namespace abut::test {

/// The velocity problem of a state, as a step poses it.
struct Problem {
  TestScene scene;
  StepConfig config;
  MassMatrix mass;
  ContactRows rows;
  FreeMotion free;

  Problem(TestScene s, const StepConfig& c) : scene(std::move(s)), config(c) {
    const ContactDetector detector(scene.model, config.contact);
    DetectorScratch scratch;
    ContactManifold manifold;
    const std::vector<double> margins(scene.model.bodies.size(), 0.01);
    detector.detect(scene.state.X_WB, margins, scratch, manifold);
    mass.update(scene.model, scene.state);
    const RowSettings settings{config.h, 0.1 * gravity() * config.h * config.h,
                               config.dissipation_steps * config.h};
    make_rows(scene.model, mass, scene.state, manifold, settings, rows);
    free_motion(scene.model, mass, scene.state, {}, config.h, free);
  }
  [[nodiscard]] ContactProblem problem() const { return {mass, rows, free.v_start, free.v_free, config.h}; }
  [[nodiscard]] double gravity() const { return 9.81; }
};

/// Converged as far as differences need.
inline StepConfig exact_config() {
  StepConfig config;
  config.tolerance = 1e-12;
  config.acceleration_scale = 9.81;
  return config;
}

/// Those of `count` random scenes of up to `max_bodies` bodies that have contacts.
inline std::vector<Problem> random_problems(int count, int max_bodies,
                                            const StepConfig& config = exact_config()) {
  std::vector<Problem> problems;
  for (std::uint64_t seed = 1; static_cast<int>(problems.size()) < count; ++seed) {
    Random random(seed);
    Problem p(random_contact_scene(random, {1, max_bodies, true, seed % 4 == 0, 0.5, 2.0}), config);
    if (!p.rows.rows.empty()) problems.push_back(std::move(p));
  }
  return problems;
}

}  // namespace abut::test
