/// The tangent of a step, by the implicit function theorem: what its solve says of its velocities is
/// differentiated along the direction, with the factor that the way back uses too.
#include <stdexcept>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rows/joint_constraints.h"
#include "dynamics/step/gap_following.h"
#include "dynamics/step/joint_impulse_tangent.h"
#include "dynamics/step/step_memory.h"
#include "dynamics/step/stepper.h"

namespace abut {
bool Stepper::has_jvp() const { return config_.push_out != PushOut::split; }

void Stepper::step_jvp(const State& state, const Control& control, const State& next,
                       const StepRecord& record, std::span<const StepDirection> directions,
                       StepScratch& scratch) const {
  StepMemory& memory = scratch.memory();
  if (record.report.status != StepStatus::ok) {
    throw std::logic_error(
        fmt::format("a step that ended '{}' has no derivative", to_string(record.report.status)));
  }
  if (!has_jvp()) {
    throw std::invalid_argument(
        "push-out of kind 'split' has no forward derivative; take 'bias', or the adjoint");
  }
  memory.between.resize(directions.size());
  for (std::size_t k = 0; k < record.substeps.size(); ++k) {
    const SubstepRecord& substep = record.substeps[k];
    const State& given = k == 0 ? state : record.substeps[k - 1].end;
    const State& start = close_joints(given, substep.h, memory.linearized.own.solved.trees, memory);
    const State& end = k + 1 == record.substeps.size() ? next : substep.end;
    linearize(start, control, end, substep, LinearizeFor::both, memory);
    for (std::size_t i = 0; i < directions.size(); ++i) {
      StepDirection direction = directions[i];
      if (k > 0) {
        std::swap(memory.between[i], *direction.next);
        direction.state = &memory.between[i];
      }
      if (trees_) {
        trees_->close_joints_jvp(given, *direction.state, memory.linearized.solved().trees, memory.trees,
                                 memory.jvp.closed);
        direction.state = &memory.jvp.closed;
      }
      substep_jvp(start, control, end, substep, direction, memory);
    }
  }
}

void Stepper::substep_jvp(const State& state, const Control& control, const State& next,
                          const SubstepRecord& record, const StepDirection& direction,
                          StepMemory& scratch) const {
  const Model& model = *model_;
  const double h = record.h;
  LinearizedSubstep& at = scratch.linearized;
  const SolvedSubstep& solved = at.solved();
  const ContactProblem problem = problem_of(solved, h);
  const StateTangent& state_dot = *direction.state;

  // Free motion, contacts, rows, contact problem, pose update.
  ContactProblemDot& dot = scratch.jvp.problem;
  scratch.jvp.parameters.clear();
  dot.mass.clear();
  for (int s = 0; s < solved.mass.slot_count(); ++s) {
    const BodyDirection& body = direction.bodies[static_cast<std::size_t>(solved.mass.body(s))];
    scratch.jvp.parameters.push_back({body.mass, body.inertia, body.linear_damping, body.angular_damping});
    dot.mass.push_back(body.mass);
  }
  const FreeMotionDirection free_direction{state_dot, direction.wrench, direction.gravity,
                                           scratch.jvp.parameters};
  FreeMotionTangent& tangent = scratch.jvp.free;
  free_motion_jvp(model, solved.mass, state, control, h, solved.free, at.motion, free_direction, tangent);
  dot.links.clear();
  if (trees_) {
    trees_->links_jvp(scratch.trees, dot.links);
    trees_->free_motion_jvp(solved.mass, state, control, h, at.motion, solved.trees, free_direction,
                            direction.command, scratch.trees, tangent);
  }

  scratch.jvp.contacts.resize(at.contacts.contacts.size());
  detector_->jvp(state.X_WB, state_dot.pose, at.contacts, scratch.jvp.contacts);
  if (!solved.followed.empty())
    following_->jvp(state, solved.mass, h, solved.followed, state_dot, scratch.jvp.contacts,
                    scratch.following);
  dot.v_start = tangent.v_start;
  dot.v_free = tangent.v_free;
  dot.inertia_W = tangent.inertia_W;
  dot.rows.resize(solved.rows.rows.size());
  rows_jvp(solved.rows, solved.mass, h, solved.free.v_start,
           {scratch.jvp.contacts, state_dot, tangent.v_start, dot.mass}, dot.rows);
  dot.pairs.clear();
  for (const RowPair& pair : solved.rows.pairs) {
    dot.pairs.push_back(pair_material_jvp(model, pair.body_A, pair.body_B,
                                          direction.bodies[static_cast<std::size_t>(pair.body_A)],
                                          direction.bodies[static_cast<std::size_t>(pair.body_B)]));
  }
  if (solved.has_impacts) phases_->shares_jvp(solved.free.v_free, dot.v_free, solved.rows, dot.rows);
  dot.joint_impulses.resize(0);
  JointSettings settings = joint_settings(h);
  settings.commands = control.commands;
  if (!solved.joints.empty()) {
    dot.joint_impulses.setZero(solved.mass.size());
    JointImpulseTangent(model, state, settings, solved.mass, solved.free, solved.joints, direction, dot)
        .add(solved.solution.velocity, dot.joint_impulses);
  }
  solver_->jvp(problem, solved.solution, at.islands(), dot, scratch.solver, scratch.jvp.end);
  EndMotionBar& end_dot = scratch.jvp.end;
  if (solved.has_impacts) {
    const GrowableVector v_rest_dot = end_dot.velocity;
    phases_->jvp(phases_start(state, h, solved, record.phase_pairs, scratch),
                 {direction, dot, v_rest_dot, settings}, scratch.phases, end_dot);
  }
  advance_jvp(model, solved.mass, h, solved.free, solved.end_motion(problem.lag), next, at.motion,
              free_direction, tangent, end_dot, *direction.next);
  if (trees_) {
    trees_->advance_jvp(solved.mass, h, solved.free, solved.end_motion(problem.lag), next, at.motion,
                        solved.trees, free_direction, tangent, end_dot, scratch.trees, *direction.next);
  }
}

}  // namespace abut
