/// What the joints of a recorded step did.
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rows/coordinate_rows.h"
#include "dynamics/step/joint_force.h"
#include "dynamics/step/step_memory.h"
#include "dynamics/step/stepper.h"
#include "engine/joint_geometry.h"

namespace abut {

void Stepper::find_reaction(const State& start, const SubstepRecord& part, const GrowableVector& end_velocity,
                            StepMemory& memory, GrowableVector& reaction) const {
  SolvedSubstep& solved = memory.linearized.own.solved;
  const GrowableVector change = end_velocity - solved.free.v_free;
  solved.mass.multiply(change, reaction);
  std::vector<Vec3<double>>& impulses = memory.impulses;
  const auto take = [&](const ContactRows& rows) {
    for (std::size_t i = 0; i < impulses.size(); ++i) add_impulse(rows.rows[i], -impulses[i], reaction);
  };
  solver_->impulses(problem_of(solved, part.h), solved.solution, memory.solver, impulses);
  take(solved.rows);
  solved.joints.add_gradient(solved.solution.velocity, reaction);
  if (!solved.has_impacts) return;
  const PhasesStart phases = phases_start(start, part.h, solved, part.phase_pairs, memory);
  for (std::size_t k = 0; k < memory.phases.event_count; ++k) {
    const PhaseEvent& event = memory.phases.events[k];
    if (!event.has_impact()) continue;
    phases_->impulses(phases, event, memory.phases, impulses);
    take(event.rows);
    event.joints.add_gradient(event.solution.velocity, reaction);
  }
}

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
    const auto add_rows = [&](const JointRows& joints, const GrowableVector& velocity) {
      joints.impulses(velocity, impulses);
      for (const JointGroup& group : joints.groups) {
        if (group.coupling >= 0) {
          double impulse = 0.0;
          for (int i = group.begin; i < group.end; ++i) impulse += impulses[at(i)] * joints.rows[at(i)].scale;
          for (const CoordinateSlope& of : coordinate_slopes(*model_, start, group)) {
            const Joint& joint = model_->joints[at(of.joint)];
            const Vec3<double> axis = joint_frames(joint, start).X_WJA.rotation().col(2);
            JointForce& force = forces[at(of.joint)];
            (joint.kind == JointKind::slider ? force.force_B_W : force.torque_B_W) +=
                of.slope * impulse / config_.h * axis;
          }
          continue;
        }
        Vec6<double> impulse = Vec6<double>::Zero();
        for (int i = group.begin; i < group.end; ++i)
          impulse += impulses[at(i)] * joints.direction(group, i, 1);
        add(group.joint, impulse, start.X_WB[at(model_->joints[at(group.joint)].body_B)].p);
      }
    };
    add_rows(solved.joints, solved.solution.velocity);
    if (solved.has_impacts) {
      run_phases(start, part.h, part.phase_pairs, nullptr, true, solved, memory);
      for (std::size_t k = 0; k < memory.phases.event_count; ++k) {
        const PhaseEvent& event = memory.phases.events[k];
        if (event.has_impact()) add_rows(event.joints, event.solution.velocity);
      }
    }
    if (trees_) {
      const EndMotion end = solved.end_motion(lag_of(part.h));
      (void)trees_->end_step(solved.mass, solved.free, end, part.h, true, memory.trees, solved.trees);
      trees_->joint_impulses(solved.trees, of_trees);
      GrowableVector reaction;
      find_reaction(start, part, end.velocity, memory, reaction);
      trees_->add_reactions(solved.mass, solved.trees, reaction, of_trees);
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
