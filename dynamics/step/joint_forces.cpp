/// What the joints of a recorded step did.
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rows/joint_geometry.h"
#include "dynamics/step/joint_force.h"
#include "dynamics/step/step_memory.h"
#include "dynamics/step/stepper.h"

namespace abut {

void Stepper::joint_forces(const State& state, const Control& control, const StepRecord& record,
                           StepScratch& scratch, std::vector<JointForce>& forces) const {
  StepMemory& memory = scratch.memory();
  if (record.report.status != StepStatus::ok)
    throw std::logic_error(
        fmt::format("a step that ended '{}' has no forces", to_string(record.report.status)));
  forces.assign(model_->joints.size(), {});
  if (forces.empty()) return;
  std::vector<double> impulses;
  std::vector<Vec6<double>> of_trees;
  const State* given = &state;
  for (const SubstepRecord& part : record.substeps) {
    const State& start = close_joints(*given, part.h, memory.linearized.own.solved.trees, memory);
    restore(start, control, part, LinearizeFor::both, memory);
    SolvedSubstep& solved = memory.linearized.own.solved;
    const auto add = [&](int joint, const Vec6<double>& impulse_B, const Vec3<double>& p_W) {
      const JointFrames frames = joint_frames(model_->joints[at(joint)], start);
      const Vec3<double> push = impulse_B.tail<3>() / config_.h;
      forces[at(joint)].force_B_W += push;
      forces[at(joint)].torque_B_W += impulse_B.head<3>() / config_.h - (frames.X_WJB.p - p_W).cross(push);
    };
    solved.joints.impulses(solved.solution.velocity, impulses);
    for (const JointGroup& group : solved.joints.groups) {
      Vec6<double> impulse = Vec6<double>::Zero();
      for (int i = group.begin; i < group.end; ++i)
        impulse += impulses[at(i)] * solved.joints.rows[at(i)].J_B;
      add(group.joint, impulse, start.X_WB[at(model_->joints[at(group.joint)].body_B)].p);
    }
    if (trees_) {
      if (solved.has_impacts) run_phases(start, part.h, part.phase_pairs, nullptr, false, solved, memory);
      (void)trees_->end_step(solved.mass, solved.free, solved.end_motion(lag_of(part.h)), part.h, true,
                             memory.trees, solved.trees);
      trees_->joint_impulses(solved.trees, of_trees);
      for (std::size_t i = 0; i < of_trees.size(); ++i) {
        const Link& link = trees_->trees().links[i];
        if (link.joint >= 0)
          add(link.joint, link.reversed ? Vec6<double>(-of_trees[i]) : of_trees[i], Vec3<double>::Zero());
      }
    }
    given = &part.end;
  }
}

}  // namespace abut
