#include "dynamics/step/stepper.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dynamics/motion/fixed_motion.h"
#include "dynamics/rows/joint_constraints.h"
#include "dynamics/solver/smooth_coulomb_settings.h"
#include "dynamics/step/make_contact_solver.h"
#include "dynamics/step/step_failure.h"
#include "dynamics/step/step_memory.h"
#include "dynamics/step/step_warnings.h"
#include "dynamics/step/tape_pool.h"
#include "engine/law_settings.h"
#include "engine/model_validation.h"

namespace abut {
namespace {

double resolve_acceleration_scale(const Model& model, const StepConfig& config) {
  constexpr double k_earth = 9.81;
  if (config.acceleration_scale > 0.0) return config.acceleration_scale;
  const double gravity = model.gravity.norm();
  return gravity > 0.0 ? gravity : k_earth;
}

}  // namespace

Stepper::Stepper(const Model& model, const StepConfig& config, const Stepper* prepared)
    : model_(&model),
      config_((validate(config), validate(model), require_honoured(model, config), config)),
      acceleration_scale_(resolve_acceleration_scale(model, config)),
      detector_(std::make_unique<const ContactDetector>(
          model, config.contact, prepared == nullptr ? nullptr : prepared->detector_.get())),
      solver_(std::make_unique<const IslandSolver>(make_contact_solver(config, acceleration_scale_))),
      tapes_(std::make_unique<const TapePool>()) {}

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

JointSettings Stepper::joint_settings() const {
  constexpr double k_dissipation_steps = 1.0;
  JointSettings settings;
  settings.law = smooth_coulomb_settings(config_, acceleration_scale_ * config_.h);
  settings.default_dissipation_time = k_dissipation_steps * config_.h;
  return settings;
}

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
  if (config_.adaptive_substeps) return divided_step(state, control, next, memory, record, tape);
  if (record) record->substeps.resize(1);
  const StepReport report =
      substep(state, control, config_.h, next, memory, record ? &record->substeps[0] : nullptr, tape);
  if (record) record->report = report;
  return report;
}

ContactProblem Stepper::problem_at_start(const SolvedSubstep& solved, double h) const {
  return {solved.mass, solved.rows, solved.free.v_start, solved.free.v_free,
          h,           config_.h,   solved.joints,       lag_of(h)};
}

ContactProblem Stepper::problem_of(const SolvedSubstep& solved, double h) const {
  if (solved.impacts.empty()) return problem_at_start(solved, h);
  return {solved.mass, solved.impacts.rows, solved.free.v_start, solved.free.v_free, h,
          config_.h,   solved.joints,       lag_of(h),           solved.rows.rows};
}

StepReport Stepper::substep(const State& state, const Control& control, double h, State& next,
                            StepMemory& scratch, SubstepRecord* record, Tape tape) const {
  StepReport report;
  report.law = config_.law;
  const Model& model = *model_;
  if (!is_finite(state, report.body)) {
    report.status = StepStatus::non_finite;
    if (record) *record = {};
    return report;
  }
  SolvedSubstep& solved = scratch.solved;
  solved.mass.update(model, state);
  scratch.margins.assign(model.bodies.size(), 0.0);
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const int body = static_cast<int>(b);
    if (model.bodies[b].fixed) {
      const Vec6<double> V = fixed_twist(model, state, h, body);
      if (!V.isZero(0.0)) scratch.margins[b] = h * largest_speed(state, body, V);
      continue;
    }
    scratch.margins[b] = h * largest_speed(state, body, state.V_WB[b]) + 4.0 * row_settings(h).resting_band;
  }
  detector_->detect(state.X_WB, scratch.margins, scratch.detector, scratch.manifold);
  make_rows(model, solved.mass, state, scratch.manifold, row_settings(h), solved.rows);
  make_joint_rows(model, solved.mass, state, joint_settings(), solved.joints);
  free_motion(model, solved.mass, state, control, h, solved.free);
  move_to_impacts(
      state, problem_at_start(solved, h),
      [&](int contact) { return scratch.manifold.contacts.feature(static_cast<std::size_t>(contact)); },
      scratch.impacts, solved.impacts);
  const ContactProblem problem = problem_of(solved, h);
  std::shared_ptr<SubstepTape> kept;
  if (record && tape == Tape::full) kept = tapes_->next();
  solver_->solve(problem, scratch.solver, solved.solution, kept ? &kept->islands : nullptr);
  advance(model, solved.mass, state, control, h, solved.free, solved.solution.end_motion(problem.lag), next);

  judge_step(model, config_, *detector_, next, scratch, report);
  if (report.status == StepStatus::ok)
    find_step_warnings(model, config_, acceleration_scale_, h, scratch, next, report);
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
    record->velocity = solved.solution.velocity;
    record->push_out = solved.solution.push_out;
    record->displacement = solved.solution.displacement;
    record->h = h;
    if (!kept || !kept->islands.is_complete || report.status != StepStatus::ok) {
      record->tape = nullptr;
    } else {
      std::swap(kept->solved, solved);
      kept->solved.rows.reduced = {};
      int contact = 0;  // as in the record
      kept->solved.rows.each_member([&](ContactRow& row) { row.contact = contact++; });
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
  return energy;
}

}  // namespace abut
