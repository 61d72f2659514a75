/// A step backwards.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "collision/sdf/kinks.h"
#include "dynamics/motion/fixed_motion.h"
#include "dynamics/rows/joint_constraints.h"
#include "dynamics/step/contacts_vjp.h"
#include "dynamics/step/gap_following.h"
#include "dynamics/step/step_memory.h"
#include "dynamics/step/stepper.h"

namespace abut {

void Stepper::restore(const State& state, const Control& control, const SubstepRecord& record,
                      LinearizeFor what_for, StepMemory& scratch) const {
  const Model& model = *model_;
  const double h = record.h;
  LinearizedSubstep& at = scratch.linearized;
  ManifoldLinearization& contacts = at.contacts;
  at.tape = what_for == LinearizeFor::both ? nullptr : record.tape;
  if (at.tape != nullptr) {
    if (what_for == LinearizeFor::vjp) {
      what_for = LinearizeFor::vjp_of_known;
      const ContactRows& rows = at.tape->solved.rows;
      contacts.contacts.resize(record.features.size());
      ContactBlock<double>& block = contacts.contacts.block();
      double* const numbers = block.numbers.data();
      const auto stride = static_cast<std::size_t>(block.capacity);
      rows.each_member([numbers, stride](const ContactRow& row) {
        double* const of_contact = numbers + row.contact;
        of_contact[k_contact_distance * stride] = row.distance;
        for (std::size_t k = 0; k < 3; ++k)
          of_contact[(k_contact_normal + k) * stride] = row.n[static_cast<Eigen::Index>(k)];
        of_contact[k_contact_weight * stride] =
            row.share_by_weight > 0.0 ? row.share / row.share_by_weight : 0.0;
        of_contact[k_contact_area * stride] = row.area;
      });
      GapFollowing::restore(at.tape->solved.followed, contacts.contacts);
      contacts.known.clear();
      for (const RowPair& pair : rows.pairs) contacts.known.push_back(pair.known);
    }
    detector_->linearize(state.X_WB, record.features, contacts, what_for);
    return;
  }
  SolvedSubstep& solved = at.own.solved;
  solved.mass.update(model, state, trees_ ? &trees_->rigid_groups() : nullptr);
  ContactManifold& manifold = scratch.manifold;
  detector_->linearize(state.X_WB, record.features, contacts, what_for);
  manifold.pairs.clear();
  for (std::size_t i = 0; i < record.features.size(); ++i) {
    const ContactFeature& feature = record.features[i];
    const int k = static_cast<int>(i);
    if (manifold.pairs.empty() || manifold.pairs.back().body_A != feature.body_A ||
        manifold.pairs.back().body_B != feature.body_B) {
      manifold.pairs.push_back(detector_->make_pair(feature.body_A, feature.body_B));
      manifold.pairs.back().begin = k;
    }
    manifold.pairs.back().end = k + 1;
  }
  make_contact_rows(state, h, manifold.pairs, record.clusters, contacts.contacts, scratch.following, solved);
  free_motion(state, control, h, true, solved, scratch);
  make_joint_rows(state, control, h, solved, scratch);
  solved.has_impacts = !record.phase_pairs.empty();
  if (solved.has_impacts) (void)phases_->set_shares(solved.free.v_free, solved.rows);
  solved.solution.velocity = record.velocity;
  solved.solution.push_out = record.push_out;
  solved.solution.displacement = record.displacement;
}

void Stepper::linearize(const State& state, const Control& control, const State& next,
                        const SubstepRecord& record, LinearizeFor what_for, StepMemory& scratch) const {
  restore(state, control, record, what_for, scratch);
  LinearizedSubstep& at = scratch.linearized;
  const SolvedSubstep& solved = at.solved();
  const ContactProblem problem = problem_of(solved, record.h);
  if (at.tape == nullptr) {
    if (!solver_->linearize(problem, solved.solution, what_for, scratch.solver, at.own.islands))
      throw std::logic_error("a step that is not finite has no derivative");
    if (solved.has_impacts)
      run_phases(state, record.h, record.phase_pairs, nullptr, true, at.own.solved, scratch);
    if (trees_) {
      (void)trees_->end_step(solved.mass, solved.free, solved.end_motion(problem.lag), record.h, true,
                             scratch.trees, at.own.solved.trees);
    }
  }
  linearize_motion(*model_, solved.mass, state, record.h, solved.free, solved.end_motion(problem.lag), next,
                   at.motion);
}

void Stepper::substep_vjp(const State& state, const Control& control, const State& next,
                          const SubstepRecord& record, const StepBar& step_bar, StepMemory& scratch,
                          bool shares_pairs) const {
  const Model& model = *model_;
  const double h = record.h;
  LinearizedSubstep& at = scratch.linearized;
  const SolvedSubstep& solved = at.solved();
  const ContactProblem problem = problem_of(solved, h);
  const StateTangent& next_bar = *step_bar.next;
  StateTangent& state_bar = *step_bar.state;
  const std::span<Vec6<double>> wrench_bar = step_bar.wrench;
  ModelGradient& model_bar = *step_bar.model;
  const GradientMask& mask = step_bar.mask;

  // Backwards: pose update, contact problem, impacts, weights, free motion, geometry.
  const auto slots = static_cast<std::size_t>(solved.mass.slot_count());
  state_bar.set_zero(model.body_count());
  ContactProblemBar& bar = scratch.vjp.problem;
  bar.set_zero(problem);
  std::vector<Vec3<double>>& momentum_bar = scratch.vjp.momentum;
  momentum_bar.assign(slots, Vec3<double>::Zero());
  std::vector<FreeMotionParameterBar>& parameter_bar = scratch.vjp.parameters;
  parameter_bar.assign(slots, {});
  EndMotionBar& end_bar = scratch.vjp.end;
  advance_vjp(model, solved.mass, h, solved.free, solved.end_motion(problem.lag), next, at.motion, next_bar,
              state_bar, wrench_bar, end_bar, bar.v_free, momentum_bar, bar.inertia_W, parameter_bar);
  if (trees_) {
    trees_->advance_vjp(solved.mass, h, solved.free, solved.end_motion(problem.lag), next, at.motion,
                        solved.trees, next_bar, scratch.trees, end_bar, bar.v_free, bar.inertia_W,
                        parameter_bar);
  }
  if (solved.has_impacts) {
    GrowableVector v_rest_bar;
    phases_->vjp(phases_start(state, h, solved, record.phase_pairs, scratch), end_bar, scratch.phases,
                 {step_bar, v_rest_bar, bar, scratch.vjp.geometry});
    end_bar.velocity = v_rest_bar;
  }
  if (shares_pairs) {
    solver_->multiplier_vjp(problem, solved.solution, at.islands(), end_bar, scratch.solver, bar,
                            scratch.vjp.multiplier);
    for (const PairJacobian& pair : scratch.vjp.pairs) pair.add_vjp(scratch.vjp.multiplier, state_bar);
  } else {
    solver_->vjp(problem, solved.solution, at.islands(), end_bar, scratch.solver, bar);
    if (solved.has_impacts) phases_->shares_vjp(solved.free.v_free, solved.rows, bar.rows, bar.v_free);
    scratch.vjp.contacts.assign(at.contacts.contacts.size(), ContactBar{});
    rows_vjp(solved.rows, h, solved.free.v_start, bar.rows,
             {scratch.vjp.contacts, state_bar.pose, &bar.v_start, state_bar.twist});
    if (!solved.followed.empty()) {
      following_->vjp(state, solved.mass, h, solved.followed, scratch.vjp.contacts, step_bar,
                      scratch.vjp.geometry, scratch.following);
    }
    contacts_vjp(*detector_, state.X_WB, scratch.vjp.contacts, step_bar, at.contacts, state_bar.pose,
                 scratch.vjp.geometry);
  }
  JointSettings settings = joint_settings(h);
  settings.commands = control.commands;
  joint_rows_vjp(model, solved.mass, state, settings, solved.joints, bar.joints,
                 {state_bar.pose, state_bar.twist, bar.mass, bar.inertia_W, model_bar.joints, model_bar.couplings,
                  &bar.v_start, &bar.v_free, step_bar.command},
                 &solved.free);
  if (trees_) {
    trees_->links_vjp(solved.trees, bar.links, scratch.trees);
    trees_->free_motion_vjp(solved.mass, state, h, at.motion, solved.trees, bar.v_free, scratch.trees,
                            bar.inertia_W, state_bar, wrench_bar, model_bar.gravity, parameter_bar);
    trees_->motor_forces_vjp(control, scratch.trees, model_bar.joints, model_bar.couplings, step_bar.command);
  }
  free_motion_vjp(model, solved.mass, state, control, h, solved.free, at.motion, bar.v_free, momentum_bar,
                  bar.inertia_W, state_bar, wrench_bar, model_bar.gravity, parameter_bar);

  for (std::size_t s = 0; s < slots; ++s) {
    const auto b = static_cast<std::size_t>(solved.mass.body(static_cast<int>(s)));
    state_bar.twist[b] += bar.v_start.segment<6>(6 * static_cast<Eigen::Index>(s));
    BodyGradient& body = model_bar.bodies[b];
    if (mask.masses) {
      body.mass += bar.mass[s] + parameter_bar[s].mass;
      body.inertia += parameter_bar[s].inertia_B;
    }
    body.linear_damping += parameter_bar[s].linear_damping;
    body.angular_damping += parameter_bar[s].angular_damping;
  }
  for (std::size_t i = 0; mask.masses && i < solved.rows.rows.size(); ++i) {
    const ContactRow& row = solved.rows.rows[i];
    for (const int body : {row.body_A, row.body_B}) {
      const double inverse = solved.mass.inverse_mass(body);
      solved.mass.each_fixed_together(body, [&](int slot) {
        model_bar.bodies[static_cast<std::size_t>(solved.mass.body(slot))].mass -=
            bar.rows[i].inverse_mass * inverse * inverse;
      });
    }
  }
  for (std::size_t p = 0; mask.materials && p < solved.rows.pairs.size(); ++p) {
    const RowPair& pair = solved.rows.pairs[p];
    pair_material_vjp(model, pair.body_A, pair.body_B, bar.pairs[p], model_bar);
  }
}

namespace {

LinearizeFor vjps_of(std::size_t losses) {
  constexpr std::size_t k_many = 5;  // more than the rows of a contact's derivatives
  return losses < k_many ? LinearizeFor::vjp : LinearizeFor::many_vjps;
}

}  // namespace

bool Stepper::is_near_kink_of_shape(std::span<const Pose<double>> X_WB, const ContactFeature& feature,
                                    double signed_distance) const {
  if (feature.kind != ContactKind::vertex_sdf) return false;
  const bool owner_is_A = feature.feature_A >= 0;
  const auto owner = static_cast<std::size_t>(owner_is_A ? feature.body_A : feature.body_B),
             solid = static_cast<std::size_t>(owner_is_A ? feature.body_B : feature.body_A);
  const Body& body = model_->bodies[owner];
  const ShapeSdf& sdf = detector_->sdf(static_cast<int>(solid));
  constexpr double k_on_surface = 1e-6;  // of the size: most kinks lie on the surface or within
  if (signed_distance + body.contact_radius > k_on_surface * body.size && !has_kinks_outside(sdf))
    return false;
  const Vec3<double> x_W =
      X_WB[owner] * Vec3<double>(body.contact_points.col(std::max(feature.feature_A, feature.feature_B) %
                                                         body.contact_points.cols()));
  return is_near_kink(sdf, inverse_point<double>(X_WB[solid], x_W));
}

void Stepper::count_kinks(const State& state, const SubstepRecord& record, StepMemory& scratch,
                          KinkCount& kinks) const {
  const SolvedSubstep& solved = scratch.linearized.solved();
  const auto& rows = solved.rows.rows;
  std::vector<bool>& near_kink = scratch.vjp.near_kink;
  kinks.contacts += static_cast<int>(rows.size());
  const ContactProblem problem = problem_of(solved, record.h);
  (void)solver_->contacts_near_kink(problem, solved.solution, near_kink);
  solver_->flag_islands_near_kink(problem, scratch.linearized.islands(), near_kink);
  if (solved.has_impacts) {
    const PhasesMemory& phases = scratch.phases;
    for (std::size_t k = 0; k < phases.event_count; ++k) {
      const PhaseEvent& event = phases.events[k];
      if (event.has_impact() || !phases_->is_near_kink(event, phases)) continue;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto slot = static_cast<std::size_t>(std::max(rows[i].slot_A, rows[i].slot_B));
        if (phases.group_of_slot[slot] == event.group) near_kink[i] = true;
      }
    }
  }
  auto gap = solved.followed.begin();  // in the order of rows
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ContactRow& row = rows[i];
    if (row.contact >= 0 && !near_kink[i]) {
      const auto contact = static_cast<std::size_t>(row.contact);
      const ContactFeature& feature = record.features[contact];
      near_kink[i] = scratch.linearized.contacts.is_near_kink(contact);
      while (gap != solved.followed.end() && gap->contact < row.contact) ++gap;
      if (gap == solved.followed.end() || gap->contact != row.contact) {
        near_kink[i] = near_kink[i] || is_near_kink_of_shape(state.X_WB, feature, row.distance);
      } else {
        const auto there = following_->poses(state, solved.mass, record.h, *gap, scratch.following);
        near_kink[i] = near_kink[i] ||
                       is_near_kink_of_shape(state.X_WB, feature, gap->start.signed_distance) ||
                       is_near_kink_of_shape(there, feature,
                                             gap->place().there.signed_distance +
                                                 gap->place().time.value * gap->place().closing);
      }
    }
    if (!near_kink[i]) continue;
    ++kinks.near_kink;
    for (const int body : {row.body_A, row.body_B}) {
      if (!model_->bodies[static_cast<std::size_t>(body)].fixed)
        ++scratch.vjp.kinks_of_body[static_cast<std::size_t>(body)];
    }
  }
  if (solved.has_impacts) count_kinks_of_phases(state, record, scratch, kinks);
  const int divided = trees_ ? trees_->near_division(solved.trees, record.h) : -1;
  if (divided < 0) return;
  ++kinks.contacts;
  ++kinks.near_kink;
  ++scratch.vjp.kinks_of_body[static_cast<std::size_t>(divided)];
}

void Stepper::count_kinks_of_phases(const State& state, const SubstepRecord& record, StepMemory& scratch,
                                    KinkCount& kinks) const {
  PhasesMemory& phases = scratch.phases;
  const PhasesStart start =
      phases_start(state, record.h, scratch.linearized.solved(), record.phase_pairs, scratch);
  for (std::size_t k = 0; k < phases.event_count; ++k) {
    const PhaseEvent& event = phases.events[k];
    if (!event.has_impact()) continue;
    ++kinks.contacts;
    bool is_near = phases_->is_near_kink(event, phases);
    if (!is_near) {
      phases_->set_poses(start, event, phases);
      is_near = std::any_of(event.rows.rows.begin(), event.rows.rows.end(), [&](const ContactRow& row) {
        return row.contact >= 0 && row.answers > 0.0 &&
               is_near_kink_of_shape(phases.state.X_WB, event.features[static_cast<std::size_t>(row.contact)],
                                     row.distance);
      });
    }
    kinks.has_negative_determinant |= event.solution.has_negative_determinant;
    if (!is_near) continue;
    ++kinks.near_kink;
    for (const int p : event.closing) {
      const PhasePair& pair = phases.pairs[static_cast<std::size_t>(p)];
      for (const int body : {pair.body_A, pair.body_B}) {
        if (!model_->bodies[static_cast<std::size_t>(body)].fixed)
          ++scratch.vjp.kinks_of_body[static_cast<std::size_t>(body)];
      }
    }
  }
}

KinkCount Stepper::step_vjp(const State& state, const Control& control, const State& next,
                            const StepRecord& record, std::span<const StepBar> bars,
                            StepScratch& scratch) const {
  StepMemory& memory = scratch.memory();
  if (record.report.status != StepStatus::ok) {
    throw std::logic_error(
        fmt::format("a step that ended '{}' has no gradient", to_string(record.report.status)));
  }
  const auto& substeps = record.substeps;
  std::vector<StateTangent>& end_bars = memory.between;
  end_bars.resize(bars.size());
  KinkCount kinks;
  memory.vjp.kinks_of_body.assign(model_->bodies.size(), 0);
  for (std::size_t k = substeps.size(); k-- > 0;) {
    const SubstepRecord& substep = substeps[k];
    const bool is_last = k + 1 == substeps.size();
    const State& given = k == 0 ? state : substeps[k - 1].end;
    const State& start = close_joints(given, substep.h, memory.linearized.own.solved.trees, memory);
    const State& end = is_last ? next : substep.end;
    const bool may_share = may_share_pairs(bars, record);
    linearize(start, control, end, substep, may_share ? LinearizeFor::vjp : vjps_of(bars.size()), memory);
    count_kinks(start, substep, memory, kinks);
    kinks.has_negative_determinant |= memory.linearized.islands().has_negative_determinant();
    const bool shares_pairs = may_share && can_share_pairs(memory.linearized);
    if (shares_pairs) find_pair_jacobians(start, substep, memory);
    for (std::size_t i = 0; i < bars.size(); ++i) {
      StepBar bar = bars[i];
      if (!is_last) {
        std::swap(end_bars[i], *bar.state);
        bar.next = &end_bars[i];
      }
      substep_vjp(start, control, end, substep, bar, memory, shares_pairs);
      if (trees_) {
        trees_->close_joints_vjp(given, memory.linearized.solved().trees, memory.trees, *bar.state,
                                 bar.model->joints);
      }
    }
  }
  if (kinks.near_kink > 0) {
    const auto& count = memory.vjp.kinks_of_body;
    kinks.body = static_cast<int>(std::max_element(count.begin(), count.end()) - count.begin());
  }
  return kinks;
}

}  // namespace abut
