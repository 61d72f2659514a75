#include "dynamics/stepper.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "dynamics/fixed_motion.h"
#include "engine/check.h"

namespace abut {
namespace {

double resolve_acceleration_scale(const Model& model, const StepConfig& config) {
  constexpr double k_earth = 9.81;
  if (config.acceleration_scale > 0.0) return config.acceleration_scale;
  const double gravity = model.gravity.norm();
  return gravity > 0.0 ? gravity : k_earth;
}

void require_valid(const Model& model) {
  for (const Body& body : model.bodies) {
    if (body.fixed) continue;
    require(std::isfinite(body.mass) && body.mass > 0.0,
            fmt::format("body '{}': mass {} is not positive", body.name, body.mass));
    require(body.inertia.allFinite() && body.inertia.isApprox(body.inertia.transpose()) &&
                body.inertia.llt().info() == Eigen::Success,
            fmt::format("body '{}': inertia is not symmetric positive definite", body.name));
  }
  for (const Body& body : model.bodies) {
    require(body.contact_areas.size() == static_cast<std::size_t>(body.contact_points.cols()),
            fmt::format("body '{}': {} contact areas for {} contact points", body.name,
                        body.contact_areas.size(), body.contact_points.cols()));
    require(body.fixed || body.oscillation.frequency == 0.0,
            fmt::format("body '{}': only a fixed body can oscillate", body.name));
  }
  for (const Joint& joint : model.joints) validate(joint, model);
}

/// Squares included: energies are made of them.
bool is_finite(const State& state, int& culprit) {
  for (std::size_t b = 0; b < state.X_WB.size(); ++b) {
    if (std::isfinite(state.X_WB[b].q.squaredNorm()) && std::isfinite(state.X_WB[b].p.squaredNorm()) &&
        std::isfinite(state.V_WB[b].squaredNorm())) {
      continue;
    }
    culprit = static_cast<int>(b);
    return false;
  }
  return true;
}

/// The deepest contact of `body` (or of any, if -1), and the penetration there.
void find_deepest(const ContactRows& rows, const ContactManifold& manifold, int body, double& depth,
                  ContactFeature& feature, int& found_body) {
  depth = -std::numeric_limits<double>::infinity();
  rows.each_member([&](const ContactRow& row) {
    if (body >= 0 && row.body_A != body && row.body_B != body) return;
    const Contact& contact = manifold.contacts[static_cast<std::size_t>(row.contact)];
    if (-contact.penetration <= depth) return;
    depth = -contact.penetration;
    feature = contact.feature;
    found_body = row.slot_B >= 0 ? row.body_B : row.body_A;
  });
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
  }
  return "unknown";
}

Stepper::Stepper(const Model& model, const StepConfig& config)
    : model_(&model),
      config_((validate(config), require_valid(model), config)),
      acceleration_scale_(resolve_acceleration_scale(model, config)),
      detector_(model, config.contact),
      solver_(make_contact_solver(config, acceleration_scale_)) {}

RowSettings Stepper::row_settings() const {
  constexpr double k_resting = 0.1;
  return {config_.h, k_resting * acceleration_scale_ * config_.h * config_.h, default_dissipation_time()};
}

JointSettings Stepper::joint_settings() const {
  constexpr double k_dissipation_steps = 1.0;
  JointSettings settings;
  settings.law.h = config_.h;
  settings.law.near_rigid =
      config_.near_rigid_factor * config_.near_rigid_factor / (4.0 * std::numbers::pi * std::numbers::pi);
  settings.law.velocity_smoothing = config_.normal_smoothing_factor * acceleration_scale_ * config_.h;
  settings.law.push_out_speed = config_.push_out_factor * acceleration_scale_ * config_.h;
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
  StepReport report;
  const Model& model = *model_;
  const double h = config_.h;
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
    scratch.margins[b] = h * largest_speed(state, body, state.V_WB[b]) + 4.0 * row_settings().resting_band;
  }
  detector_.detect(state.X_WB, scratch.margins, scratch.detector, scratch.manifold);
  make_rows(model, scratch.mass, state, scratch.manifold, row_settings(), scratch.rows);
  make_joint_rows(model, scratch.mass, state, joint_settings(), scratch.joints);
  free_motion(model, scratch.mass, state, control, h, scratch.free);
  const ContactProblem problem{scratch.mass,  scratch.rows, scratch.free.v_start, scratch.free.v_free, h,
                               scratch.joints};
  solver_.solve(problem, scratch.solver, scratch.solution);
  advance(model, scratch.mass, state, control, h, scratch.free, scratch.solution.velocity(), next);

  report.contacts = static_cast<int>(scratch.rows.rows.size());
  scratch.rows.each_member([&](const ContactRow& row) {
    report.max_penetration =
        std::max(report.max_penetration,
                 -scratch.manifold.contacts[static_cast<std::size_t>(row.contact)].penetration);
  });
  report.iterations = scratch.solution.iterations;
  report.residual = scratch.solution.residual;
  if (!is_finite(next, report.body) || !std::isfinite(report.residual)) {
    report.status = StepStatus::non_finite;
  } else if (!scratch.solution.converged || !scratch.free.converged) {
    report.status = StepStatus::not_converged;
  }
  if (report.status != StepStatus::ok) {
    double depth;
    int deepest_body = -1;
    find_deepest(scratch.rows, scratch.manifold, report.body, depth, report.contact, deepest_body);
    if (report.body < 0) report.body = deepest_body;
  }
  if (record) {
    record->features.clear();
    scratch.rows.each_member([&](const ContactRow& row) {
      record->features.push_back(scratch.manifold.contacts[static_cast<std::size_t>(row.contact)].feature);
    });
    record->clusters.clear();
    if (!scratch.rows.members.empty()) {
      for (const RowPair& pair : scratch.rows.pairs) record->clusters.push_back(pair.clusters);
    }
    record->passes = scratch.solution.passes;
    record->report = report;
  }
  return report;
}

void Stepper::step_vjp(const State& state, const Control& control, const State& next,
                       const StepRecord& record, const StateTangent& next_bar, StateTangent& state_bar,
                       std::span<Vec6<double>> wrench_bar, ModelGradient& model_bar,
                       StepScratch& scratch) const {
  if (record.report.status != StepStatus::ok) {
    throw std::logic_error(
        fmt::format("a step that ended '{}' has no gradient", to_string(record.report.status)));
  }
  const Model& model = *model_;
  const double h = config_.h;

  // The forward step again, from what was recorded.
  scratch.mass.update(model, state);
  ContactManifold& manifold = scratch.manifold;
  detector_.linearize(state.X_WB, record.features, scratch.linearization);
  manifold.contacts = scratch.linearization.contacts;
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
  make_rows(model, scratch.mass, state, manifold, row_settings(), scratch.rows, record.clusters);
  make_joint_rows(model, scratch.mass, state, joint_settings(), scratch.joints);
  free_motion(model, scratch.mass, state, control, h, scratch.free);
  const ContactProblem problem{scratch.mass,  scratch.rows, scratch.free.v_start, scratch.free.v_free, h,
                               scratch.joints};
  scratch.solution.passes = record.passes;

  // Backwards: pose update, contact problem, weights, free motion, geometry.
  const auto slots = static_cast<std::size_t>(scratch.mass.slot_count());
  state_bar.set_zero(model.body_count());
  ContactProblemBar bar;
  bar.set_zero(problem);
  std::vector<Vec3<double>> momentum_bar(slots, Vec3<double>::Zero());
  std::vector<FreeMotionParameterBar> parameter_bar(slots);
  Eigen::VectorXd v_end_bar;
  advance_vjp(model, scratch.mass, state, h, scratch.free, scratch.solution.velocity(), next, next_bar,
              state_bar, wrench_bar, v_end_bar, bar.v_free, momentum_bar, bar.inertia_W, parameter_bar);
  solver_.vjp(problem, scratch.solution, v_end_bar, scratch.solver, bar);
  scratch.contact_bars.assign(manifold.contacts.size(), ContactBar{});
  rows_vjp(scratch.rows, h, scratch.free.v_start, bar.rows,
           {scratch.contact_bars, state_bar.pose, &bar.v_start, state_bar.twist});
  joint_rows_vjp(model, scratch.mass, state, joint_settings(), scratch.joints, bar.joints,
                 {state_bar.pose, state_bar.twist, bar.mass, bar.inertia_W, model_bar.joints});
  free_motion_vjp(model, scratch.mass, state, control, h, scratch.free, bar.v_free, momentum_bar,
                  bar.inertia_W, state_bar, wrench_bar, model_bar.gravity, parameter_bar);

  for (std::size_t s = 0; s < slots; ++s) {
    const auto b = static_cast<std::size_t>(scratch.mass.body(static_cast<int>(s)));
    state_bar.twist[b] += bar.v_start.segment<6>(6 * static_cast<Eigen::Index>(s));
    BodyGradient& body = model_bar.bodies[b];
    body.mass += bar.mass[s] + parameter_bar[s].mass;
    body.inertia += parameter_bar[s].inertia_B;
    body.linear_damping += parameter_bar[s].linear_damping;
    body.angular_damping += parameter_bar[s].angular_damping;
  }
  std::vector<GeometryGradient> geometry(model.bodies.size());
  for (std::size_t b = 0; b < geometry.size(); ++b) geometry[b] = std::move(model_bar.bodies[b].geometry);
  for (std::size_t i = 0; i < scratch.rows.rows.size(); ++i) {
    const ContactRow& row = scratch.rows.rows[i];
    for (const int body : {row.body_A, row.body_B}) {
      const double inverse = scratch.mass.inverse_mass(body);
      model_bar.bodies[static_cast<std::size_t>(body)].mass -= bar.rows[i].inverse_mass * inverse * inverse;
    }
  }
  detector_.vjp(state.X_WB, scratch.contact_bars, scratch.linearization, state_bar.pose, geometry);
  for (std::size_t b = 0; b < geometry.size(); ++b) model_bar.bodies[b].geometry = std::move(geometry[b]);
  for (std::size_t p = 0; p < scratch.rows.pairs.size(); ++p) {
    const RowPair& pair = scratch.rows.pairs[p];
    pair_material_vjp(model, pair.body_A, pair.body_B, bar.pairs[p], model_bar);
  }
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
