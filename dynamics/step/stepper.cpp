#include "dynamics/step/stepper.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dynamics/motion/fixed_motion.h"
#include "dynamics/rows/joint_constraints.h"
#include "dynamics/solver/smooth_coulomb_settings.h"
#include "dynamics/step/gap_following.h"
#include "dynamics/step/make_contact_solver.h"
#include "dynamics/step/step_failure.h"
#include "dynamics/step/step_memory.h"
#include "dynamics/step/step_warnings.h"
#include "dynamics/step/tape_pool.h"
#include "dynamics/step/tree_motion.h"
#include "engine/control.h"
#include "engine/joint_geometry.h"
#include "engine/law_settings.h"
#include "engine/model_validation.h"

namespace abut {
namespace {

double resolve_acceleration_scale(const Model& model, const StepConfig& config) {
  constexpr double k_earth = 9.81, k_least = 1e-3 * k_earth;  // with less, smoothing goes below rounding
  if (config.acceleration_scale > 0.0) return config.acceleration_scale;
  const double gravity = model.gravity.norm();
  return gravity > 0.0 ? std::max(gravity, k_least) : k_earth;
}

/// Whether a law acts on the gap that it expects at the end of a step.
bool continues_gaps(ContactLaw law) { return law != ContactLaw::penalty && law != ContactLaw::impedance; }

bool has_restitution(const Model& model) {
  return std::any_of(model.bodies.begin(), model.bodies.end(),
                     [](const Body& body) { return body.material.restitution > 0.0; }) ||
         std::any_of(model.pair_overrides.begin(), model.pair_overrides.end(),
                     [](const PairOverride& pair) { return pair.restitution > 0.0; });
}

/// Numbers contacts as a record does: those of rows, in their order.
void number_as_recorded(SolvedSubstep& solved) {
  std::vector<FollowedGap>& gaps = solved.followed;
  std::size_t next = 0, left = 0;
  int contact = 0;
  solved.rows.each_member([&](ContactRow& row) {
    while (next < gaps.size() && gaps[next].contact < row.contact) ++next;
    if (next < gaps.size() && gaps[next].contact == row.contact) {
      gaps[left] = gaps[next++];
      gaps[left++].contact = contact;
    }
    row.contact = contact++;
  });
  gaps.resize(left);
}

}  // namespace

Stepper::Stepper(const Model& model, const StepConfig& config, const Stepper* prepared)
    : model_(&model),
      config_((validate(config), validate(model), require_honoured(model, config), config)),
      acceleration_scale_(resolve_acceleration_scale(model, config)),
      detector_(std::make_unique<const ContactDetector>(
          model, config.contact, prepared == nullptr ? nullptr : prepared->detector_.get())),
      solver_(std::make_unique<const IslandSolver>(make_contact_solver(config, acceleration_scale_))),
      motor_count_(motor_count(model)),
      tapes_(std::make_unique<const TapePool>()) {
  if (continues_gaps(config.law)) following_ = std::make_unique<const GapFollowing>(model, *detector_);
  auto trees = std::make_unique<const TreeMotion>(model);
  if (!trees->is_empty()) trees_ = std::move(trees);
  for (const int joint : joints_with_coordinate(model)) {
    if (model.joints[at(joint)].kind == JointKind::hinge && (!trees_ || trees_->is_link()[at(joint)] == 0))
      free_hinges_.push_back(joint);
  }
  const double impact_speed = solver_->law().impact_speed();
  if (impact_speed > 0.0 && has_restitution(model)) {
    phases_ = std::make_unique<const ImpactPhases>(model, config_, acceleration_scale_, impact_speed,
                                                   row_settings(), *detector_);
  }
}

Stepper::~Stepper() = default;

double Stepper::default_dissipation_time() const { return solver_->law().default_dissipation_time(); }

RowSettings Stepper::row_settings(double h) const {
  constexpr double k_resting = 0.1;
  return {h, k_resting * acceleration_scale_ * config_.h * config_.h, default_dissipation_time()};
}

RowSettings Stepper::row_settings() const { return row_settings(config_.h); }

MotionLag Stepper::lag_of(double h) const {
  return model_->joints.empty() ? MotionLag::of_part(h, config_.h) : MotionLag();
}

JointSettings Stepper::joint_settings(double h) const {
  constexpr double k_dissipation_steps = 1.0;
  JointSettings settings;
  settings.law = smooth_coulomb_settings(config_, acceleration_scale_ * config_.h);
  settings.substep = h;
  settings.default_dissipation_time = k_dissipation_steps * config_.h;
  if (trees_) settings.is_link = trees_->is_link();
  return settings;
}

JointSettings Stepper::joint_settings() const { return joint_settings(config_.h); }

void Stepper::contacts(const State& state, StepScratch& scratch, ContactManifold& manifold) const {
  StepMemory& memory = scratch.memory();
  manifold.clear();
  int culprit = -1;
  if (!is_finite(state, culprit)) return;
  detector_->detect(state.X_WB, {}, memory.detector, memory.manifold);
  manifold = reduced_manifold(memory.manifold, state.X_WB);
}

double Stepper::largest_speed(const State& state, int body, const Vec6<double>& V) const {
  const auto b = static_cast<std::size_t>(body);
  double reach = detector_->reach(body);
  if (!std::isfinite(model_->bodies[b].size)) {  // a half-space reaches as far as there is something to touch
    for (std::size_t other = 0; other < state.X_WB.size(); ++other) {
      reach = std::max(
          reach, (state.X_WB[other].p - state.X_WB[b].p).norm() + detector_->reach(static_cast<int>(other)));
    }
  }
  return V.tail<3>().norm() + V.head<3>().norm() * reach;
}

StepReport Stepper::step(const State& state, const Control& control, State& next, StepScratch& scratch,
                         StepRecord* record, Tape tape) const {
  StepMemory& memory = scratch.memory();
  memory.motor_impulses.assign(motor_count_, 0.0);
  StepReport report;
  if (config_.adaptive_substeps) {
    report = divided_step(state, control, next, memory, record, tape);
  } else {
    if (record) record->substeps.resize(1);
    report = substep(state, control, config_.h, next, memory, record ? &record->substeps[0] : nullptr, tape);
    if (record) record->report = report;
  }
  next.motor_forces.resize(motor_count_);
  for (std::size_t m = 0; m < motor_count_; ++m) next.motor_forces[m] = memory.motor_impulses[m] / config_.h;
  return report;
}

void Stepper::add_motor_impulses(const Control& control, double h, StepMemory& scratch) const {
  if (motor_count_ == 0) return;
  SolvedSubstep& solved = scratch.solved;
  if (trees_) trees_->add_motor_impulses(control, h, scratch.motor_impulses);
  solved.joints.add_motor_impulses(solved.solution.velocity, scratch.motor_impulses);
  for (std::size_t k = 0; solved.has_impacts && k < scratch.phases.event_count; ++k) {
    const PhaseEvent& event = scratch.phases.events[k];
    if (event.has_impact()) event.joints.add_motor_impulses(event.solution.velocity, scratch.motor_impulses);
  }
}

ContactProblem Stepper::problem_of(const SolvedSubstep& solved, double h) const {
  return {solved.mass, solved.rows, solved.free.v_start, solved.free.v_free, h, solved.joints, lag_of(h)};
}

PhasesStart Stepper::phases_start(const State& state, double h, const SolvedSubstep& solved,
                                  std::span<const CandidatePair> pairs, StepMemory& scratch) const {
  return {state,
          h,
          lag_of(h).time,
          solved.mass,
          solved.free,
          solved.joints,
          solved.solution.velocity,
          pairs,
          scratch.loads,
          {trees_.get(), &solved.trees, &scratch.trees}};
}

void Stepper::run_phases(const State& state, double h, std::span<const CandidatePair> pairs,
                         const ContactManifold* manifold, bool linearizes, SolvedSubstep& solved,
                         StepMemory& scratch) const {
  solver_->impulses(problem_of(solved, h), solved.solution, scratch.solver, scratch.impulses);
  phases_->find_loads(solved.rows, scratch.impulses, scratch.loads);
  PhasesMemory& phases = scratch.phases;
  phases_->run(phases_start(state, h, solved, pairs, scratch), manifold, phases, linearizes);
  solved.end_velocity = phases.velocity;
  solved.end_displacement = phases.displacement;
  if (solved.solution.displacement.size() > 0) solved.end_displacement += solved.solution.displacement;
}

void Stepper::make_contact_rows(const State& state, double h, std::span<const ContactPair> pairs,
                                std::span<const ContactClusters> clusters, ContactList& contacts,
                                FollowingMemory& memory, SolvedSubstep& solved) const {
  const RowSettings settings = row_settings(h);
  solved.followed.clear();
  if (following_) following_->follow(state, solved.mass, settings, pairs, contacts, solved.followed, memory);
  make_rows(*model_, solved.mass, state, contacts, pairs, settings, solved.rows, clusters);
  GapFollowing::restore(solved.followed, contacts);
}

void Stepper::make_joint_rows(const State& state, const Control& control, double h, SolvedSubstep& solved,
                              StepMemory& scratch) const {
  JointSettings settings = joint_settings(h);
  settings.commands = control.commands;
  abut::make_joint_rows(*model_, solved.mass, state, settings, solved.joints, &solved.free,
                        &scratch.row_memory);
}

void Stepper::set_margins(const State& state, double h, StepMemory& scratch) const {
  const Model& model = *model_;
  const MassMatrix& mass = scratch.solved.mass;
  std::vector<double>& margins = scratch.margins;
  margins.assign(model.bodies.size(), 0.0);
  double fastest = 0.0;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const int body = static_cast<int>(b);
    if (model.bodies[b].fixed) {
      const Vec6<double> V = fixed_twist(model, state, h, body);
      if (!V.isZero(0.0)) margins[b] = h * largest_speed(state, body, V);
    } else {
      margins[b] = h * largest_speed(state, body, state.V_WB[b]);
      // A force may bring a body that is at rest to an impact.
      if (phases_) {
        const Vec6<double> V_free = scratch.solved.free.v_free.segment<6>(6 * mass.slot(body));
        margins[b] = std::max(margins[b], h * largest_speed(state, body, V_free));
      }
    }
    fastest = std::max(fastest, margins[b]);
  }
  // A body that is struck may be twice as fast as what strikes it: both bodies of a pair have half of that.
  if (phases_ && fastest > h * phases_->least_speed()) margins.assign(margins.size(), fastest);
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    if (!model.bodies[b].fixed) margins[b] += 4.0 * row_settings(h).resting_band;
  }
}

const State& Stepper::close_joints(const State& state, double h, TreeStep& trees, StepMemory& scratch) const {
  if (!trees_) return state;
  trees_->close_joints(state, h, trees, scratch.closed);
  return scratch.closed;
}

void Stepper::free_motion(const State& state, const Control& control, double h, bool records,
                          SolvedSubstep& solved, StepMemory& scratch) const {
  if (trees_) trees_->set_links(solved.trees, solved.mass, solved.free);
  abut::free_motion(*model_, solved.mass, state, control, h, solved.free);
  if (trees_)
    trees_->free_motion(solved.mass, state, control, h, records, scratch.trees, solved.trees, solved.free);
}

StepReport Stepper::substep(const State& given, const Control& control, double h, State& next,
                            StepMemory& scratch, SubstepRecord* record, Tape tape) const {
  StepReport report;
  report.law = config_.law;
  const Model& model = *model_;
  if (!is_finite(given, report.body)) {
    report.status = StepStatus::non_finite;
    if (record) *record = {};
    return report;
  }
  SolvedSubstep& solved = scratch.solved;
  const State& state = close_joints(given, h, solved.trees, scratch);
  solved.mass.update(model, state, trees_ ? &trees_->rigid_groups() : nullptr);
  const bool records = record && tape == Tape::full;
  free_motion(state, control, h, records, solved, scratch);
  set_margins(state, h, scratch);
  detector_->detect(state.X_WB, scratch.margins, scratch.detector, scratch.manifold);
  make_contact_rows(state, h, scratch.manifold.pairs, {}, scratch.manifold.contacts, scratch.following,
                    solved);
  make_joint_rows(state, control, h, solved, scratch);
  solved.has_impacts = phases_ && phases_->set_shares(solved.free.v_free, solved.rows);
  const ContactProblem problem = problem_of(solved, h);
  std::shared_ptr<SubstepTape> kept;
  if (records && !solved.has_impacts) kept = tapes_->next();
  solver_->solve(problem, scratch.solver, solved.solution, kept ? &kept->islands : nullptr);
  if (phases_ && phases_->find_brought_back(phases_start(state, h, solved, {}, scratch), scratch.manifold,
                                            solved.rows, scratch.phases.brought_back))
    solved.has_impacts = true;
  if (solved.has_impacts) {
    kept = nullptr;
    phases_->find_pairs(scratch.manifold, scratch.margins, solved.mass, solved.rows, solved.joints,
                        scratch.phases.brought_back, scratch.phases.sets, scratch.phase_pairs);
    run_phases(state, h, scratch.phase_pairs, &scratch.manifold, false, solved, scratch);
    const PhasesMemory& phases = scratch.phases;
    ContactSolution& solution = solved.solution;
    solution.converged = solution.converged && phases.converged;
    solution.phase_speeds = phases.phase_speeds;
    solution.iterations += phases.iterations;
    solution.residual = std::max(solution.residual, phases.residual);
    solution.has_negative_determinant |= phases.has_negative_determinant;
    report.impacts = phases.impacts;
    report.are_impacts_cut_short = phases.is_cut_short;
  }
  add_motor_impulses(control, h, scratch);
  const EndMotion end = solved.end_motion(problem.lag);
  advance(model, solved.mass, state, control, h, solved.free, end, next);
  if (trees_) {
    const int unsolved =
        trees_->end_step(solved.mass, solved.free, end, h, records, scratch.trees, solved.trees);
    if (unsolved >= 0) {
      solved.free.converged = false;
      solved.free.unconverged_slot = unsolved;
    }
    trees_->advance(solved.trees, next);
  }
  follow_hinges(model, free_hinges_, state, h, next);

  judge_step(model, config_, *detector_, h, problem.lag, state, next,
             {trees_.get(), &solved.trees, &scratch.trees}, scratch, report);
  if (report.status == StepStatus::ok) {
    find_step_warnings(model, config_, acceleration_scale_, h,
                       trees_ ? trees_->is_link() : std::span<const char>(), scratch, next, report);
  }
  if (record) {
    record->features.clear();
    record->features.reserve(std::max(solved.rows.rows.size(), solved.rows.members.size()));
    solved.rows.each_member([&](const ContactRow& row) {
      record->features.push_back(scratch.manifold.contacts.feature(static_cast<std::size_t>(row.contact)));
    });
    record->clusters.clear();
    if (!solved.rows.members.empty()) {
      for (const RowPair& pair : solved.rows.pairs) record->clusters.push_back(pair.clusters);
    }
    record->phase_pairs.clear();
    if (solved.has_impacts) record->phase_pairs = scratch.phase_pairs;
    record->velocity = solved.solution.velocity;
    record->push_out = solved.solution.push_out;
    record->displacement = solved.solution.displacement;
    record->h = h;
    if (!kept || !kept->islands.is_complete || report.status != StepStatus::ok) {
      record->tape = nullptr;
    } else {
      std::swap(kept->solved, solved);
      kept->solved.rows.reduced = {};
      number_as_recorded(kept->solved);
      record->tape = std::move(kept);
    }
  }
  return report;
}

double mechanical_energy(const Model& model, const State& state) {
  double energy = 0.0;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (body.fixed) continue;
    const Vec3<double> w_B = state.X_WB[b].q.conjugate() * Vec3<double>(state.V_WB[b].head<3>());
    energy += 0.5 * w_B.dot(body.inertia * w_B) + 0.5 * body.mass * state.V_WB[b].tail<3>().squaredNorm() -
              (body.mass * model.gravity + body.external_wrench.tail<3>()).dot(state.X_WB[b].p);
  }
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    if (joint.armature > 0.0) {
      const double rate = joint_rate(joint, state);
      energy += 0.5 * joint.armature * rate * rate;
    }
    if (joint.spring_stiffness > 0.0) {
      const double error = joint_coordinate(model, static_cast<int>(j), state) - joint.spring_position;
      energy += 0.5 * joint.spring_stiffness * error * error;
    }
  }
  for (const Coupling& coupling : model.couplings) {
    if (coupling.spring_stiffness == 0.0) continue;
    const double error = coupling_coordinate(model, coupling, state) - coupling.spring_position;
    energy += 0.5 * coupling.spring_stiffness * error * error;
  }
  return energy;
}

}  // namespace abut
