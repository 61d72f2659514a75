#include "dynamics/stepper.h"

#include <cmath>
#include <stdexcept>

#include "dynamics/fixed_motion.h"
#include "dynamics/smooth_coulomb_solver.h"
#include "dynamics/step_failure.h"
#include "dynamics/step_warnings.h"
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

const char* to_string(StepStatus status) {
  switch (status) {
    case StepStatus::ok:
      return "ok";
    case StepStatus::not_converged:
      return "not_converged";
    case StepStatus::non_finite:
      return "non_finite";
    case StepStatus::too_deep:
      return "too_deep";
    case StepStatus::too_fast:
      return "too_fast";
  }
  return "unknown";
}

Stepper::Stepper(const Model& model, const StepConfig& config, const Stepper* prepared)
    : model_(&model),
      config_((validate(config), validate(model), require_honoured(model, config), config)),
      acceleration_scale_(resolve_acceleration_scale(model, config)),
      detector_(model, config.contact, prepared == nullptr ? nullptr : &prepared->detector_),
      solver_(make_contact_solver(config, acceleration_scale_)) {}

RowSettings Stepper::row_settings(double h) const {
  constexpr double k_resting = 0.1;
  return {h, k_resting * acceleration_scale_ * config_.h * config_.h, default_dissipation_time()};
}

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
  manifold.clear();
  int culprit = -1;
  if (!is_finite(state, culprit)) return;
  detector_.detect(state.X_WB, {}, scratch.detector, scratch.manifold);
  manifold = reduced_manifold(scratch.manifold, state.X_WB);
}

double Stepper::largest_speed(const State& state, int body, const Vec6<double>& V) const {
  const auto b = static_cast<std::size_t>(body);
  double reach = detector_.reach(body);
  if (!std::isfinite(model_->bodies[b].size)) {  // a half-space reaches as far as there is something to touch
    for (std::size_t other = 0; other < state.X_WB.size(); ++other) {
      reach = std::max(
          reach, (state.X_WB[other].p - state.X_WB[b].p).norm() + detector_.reach(static_cast<int>(other)));
    }
  }
  return V.tail<3>().norm() + V.head<3>().norm() * reach;
}

StepReport Stepper::step(const State& state, const Control& control, State& next, StepScratch& scratch,
                         StepRecord* record) const {
  if (divides_steps()) return divided_step(state, control, next, scratch, record);
  if (record) record->substeps.resize(1);
  const StepReport report = substep(state, control, config_.h, Impacts::with_restitution, next, scratch,
                                    record ? &record->substeps[0] : nullptr);
  if (record) record->report = report;
  return report;
}

StepReport Stepper::substep(const State& state, const Control& control, double h, Impacts impacts,
                            State& next, StepScratch& scratch, SubstepRecord* record) const {
  StepReport report;
  report.law = config_.law;
  const Model& model = *model_;
  if (!is_finite(state, report.body)) {
    report.status = StepStatus::non_finite;
    return report;
  }
  scratch.mass.update(model, state);
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
  detector_.detect(state.X_WB, scratch.margins, scratch.detector, scratch.manifold);
  make_rows(model, scratch.mass, state, scratch.manifold, row_settings(h), scratch.rows);
  make_joint_rows(model, scratch.mass, state, joint_settings(), scratch.joints);
  free_motion(model, scratch.mass, state, control, h, scratch.free);
  const ContactProblem problem{
      scratch.mass, scratch.rows, scratch.free.v_start, scratch.free.v_free, h, config_.h, scratch.joints,
      impacts,      lag_of(h)};
  solver_.solve(problem, scratch.solver, scratch.solution);
  advance(model, scratch.mass, state, control, h, scratch.free, scratch.solution.end_motion(problem.lag),
          next);

  judge_step(model, config_, detector_, next, scratch, report);
  if (report.status == StepStatus::ok)
    find_step_warnings(model, config_, acceleration_scale_, h, scratch, next, report);
  if (record) {
    record->features.clear();
    scratch.rows.each_member([&](const ContactRow& row) {
      record->features.push_back(scratch.manifold.contacts.feature(static_cast<std::size_t>(row.contact)));
    });
    record->clusters.clear();
    if (!scratch.rows.members.empty()) {
      for (const RowPair& pair : scratch.rows.pairs) record->clusters.push_back(pair.clusters);
    }
    record->velocity = scratch.solution.velocity;
    record->push_out = scratch.solution.push_out;
    record->displacement = scratch.solution.displacement;
    record->h = h;
  }
  return report;
}

ContactProblem Stepper::problem_of(const SubstepRecord& record, const StepScratch& scratch) const {
  return {scratch.mass, scratch.rows,   scratch.free.v_start,      scratch.free.v_free, record.h,
          config_.h,    scratch.joints, impacts_of(record.length), lag_of(record.h)};
}

void Stepper::restore(const State& state, const Control& control, const SubstepRecord& record,
                      LinearizeFor what_for, StepScratch& scratch) const {
  const Model& model = *model_;
  const double h = record.h;
  scratch.mass.update(model, state);
  ContactManifold& manifold = scratch.manifold;
  detector_.linearize(state.X_WB, record.features, scratch.linearization, what_for);
  std::swap(manifold.contacts, scratch.linearization.contacts);  // lent to it
  manifold.pairs.clear();
  for (std::size_t i = 0; i < record.features.size(); ++i) {
    const ContactFeature& feature = record.features[i];
    const int k = static_cast<int>(i);
    if (manifold.pairs.empty() || manifold.pairs.back().body_A != feature.body_A ||
        manifold.pairs.back().body_B != feature.body_B) {
      manifold.pairs.push_back(detector_.make_pair(feature.body_A, feature.body_B));
      manifold.pairs.back().begin = k;
    }
    manifold.pairs.back().end = k + 1;
  }
  make_rows(model, scratch.mass, state, manifold, row_settings(h), scratch.rows, record.clusters);
  std::swap(manifold.contacts, scratch.linearization.contacts);
  make_joint_rows(model, scratch.mass, state, joint_settings(), scratch.joints);
  free_motion(model, scratch.mass, state, control, h, scratch.free);
  scratch.solution.velocity = record.velocity;
  scratch.solution.push_out = record.push_out;
  scratch.solution.displacement = record.displacement;
}

void Stepper::linearize_motion(const State& state, const State& next, const SubstepRecord& record,
                               StepScratch& scratch) const {
  abut::linearize_motion(*model_, scratch.mass, state, record.h, scratch.free,
                         scratch.solution.end_motion(lag_of(record.h)), next, scratch.motion);
}

Stepper::TimeBar Stepper::substep_vjp(const State& state, const Control& control, const State& next,
                                      const SubstepRecord& record, const StepBar& step_bar,
                                      StepScratch& scratch) const {
  const Model& model = *model_;
  const double h = record.h;
  const ContactProblem problem = problem_of(record, scratch);
  const StateTangent& next_bar = *step_bar.next;
  StateTangent& state_bar = *step_bar.state;
  const std::span<Vec6<double>> wrench_bar = step_bar.wrench;
  ModelGradient& model_bar = *step_bar.model;

  // Backwards: pose update, contact problem, weights, free motion, geometry.
  const auto slots = static_cast<std::size_t>(scratch.mass.slot_count());
  state_bar.set_zero(model.body_count());
  ContactProblemBar& bar = scratch.problem_bar;
  bar.set_zero(problem);
  std::vector<Vec3<double>>& momentum_bar = scratch.momentum_bar;
  momentum_bar.assign(slots, Vec3<double>::Zero());
  std::vector<FreeMotionParameterBar>& parameter_bar = scratch.parameter_bar;
  parameter_bar.assign(slots, {});
  EndMotionBar& end_bar = scratch.end_bar;
  advance_vjp(model, scratch.mass, state, control, h, scratch.free, scratch.solution.end_motion(problem.lag),
              next, scratch.motion, next_bar, state_bar, wrench_bar, end_bar, bar.v_free, momentum_bar,
              bar.inertia_W, parameter_bar, bar.h);
  solver_.vjp(problem, scratch.solution, end_bar, scratch.solver, bar);
  scratch.contact_bars.assign(scratch.linearization.contacts.size(), ContactBar{});
  bar.h += rows_vjp(scratch.rows, h, scratch.free.v_start, bar.rows,
                    {scratch.contact_bars, state_bar.pose, &bar.v_start, state_bar.twist});
  joint_rows_vjp(model, scratch.mass, state, joint_settings(), scratch.joints, bar.joints,
                 {state_bar.pose, state_bar.twist, bar.mass, bar.inertia_W, model_bar.joints});
  free_motion_vjp(model, scratch.mass, state, control, h, scratch.free, scratch.motion, bar.v_free,
                  momentum_bar, bar.inertia_W, state_bar, wrench_bar, model_bar.gravity, parameter_bar,
                  bar.h);

  for (std::size_t s = 0; s < slots; ++s) {
    const auto b = static_cast<std::size_t>(scratch.mass.body(static_cast<int>(s)));
    state_bar.twist[b] += bar.v_start.segment<6>(6 * static_cast<Eigen::Index>(s));
    BodyGradient& body = model_bar.bodies[b];
    body.mass += bar.mass[s] + parameter_bar[s].mass;
    body.inertia += parameter_bar[s].inertia_B;
    body.linear_damping += parameter_bar[s].linear_damping;
    body.angular_damping += parameter_bar[s].angular_damping;
  }
  std::vector<GeometryGradient>& geometry = scratch.geometry;
  geometry.resize(model.bodies.size());
  for (std::size_t b = 0; b < geometry.size(); ++b) geometry[b] = std::move(model_bar.bodies[b].geometry);
  for (std::size_t i = 0; i < scratch.rows.rows.size(); ++i) {
    const ContactRow& row = scratch.rows.rows[i];
    for (const int body : {row.body_A, row.body_B}) {
      const double inverse = scratch.mass.inverse_mass(body);
      model_bar.bodies[static_cast<std::size_t>(body)].mass -= bar.rows[i].inverse_mass * inverse * inverse;
    }
  }
  detector_.add_vjp(state.X_WB, scratch.contact_bars, scratch.linearization, state_bar.pose, geometry);
  for (std::size_t b = 0; b < geometry.size(); ++b) model_bar.bodies[b].geometry = std::move(geometry[b]);
  for (std::size_t p = 0; p < scratch.rows.pairs.size(); ++p) {
    const RowPair& pair = scratch.rows.pairs[p];
    pair_material_vjp(model, pair.body_A, pair.body_B, bar.pairs[p], model_bar);
  }

  TimeBar time_bar{0.0, bar.h};
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    if (!model.bodies[b].fixed) continue;
    const StepTimeBar by_twist = fixed_twist_vjp(model.bodies[b].oscillation, state.time, h,
                                                 state_bar.twist[b] - next_bar.twist[b], next_bar.twist[b]);
    time_bar.start += by_twist.start;
    time_bar.h += by_twist.h;
  }
  return time_bar;
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
