/// The way back through the phases of a step: from the last impact to the first,
///     velocities after it -> the impact -> rows -> contacts at its poses -> ways, time -> velocities before.
#include <algorithm>

#include "dynamics/motion/fixed_motion.h"
#include "dynamics/step/contacts_vjp.h"
#include "dynamics/step/impact_phases.h"
#include "dynamics/step/phase_approach.h"
#include "engine/lie.h"

namespace abut {

class ImpactPhases::Vjp {
 public:
  Vjp(const ImpactPhases& phases, const PhasesStart& start, PhasesMemory& memory, const PhasesBar& bar)
      : phases_(phases), start_(start), memory_(memory), bar_(bar), settings_(phases.settings_of(start.h)) {}

  void all(const EndMotionBar& end_bar) {
    PhasesMemory& m = memory_;
    m.velocity_bar = end_bar.velocity;
    m.way_bar = end_bar.displacement;
    m.acceleration_bar.setZero(m.velocity.size());
    bar_.v_rest.setZero(m.velocity.size());
    m.times_bar.assign(m.event_count, 0.0);
    m.pose_bars.assign(start_.state.X_WB.size(), Vec6<double>::Zero());
    if (m.after_bars.size() < m.event_count) m.after_bars.resize(m.event_count);
    for (std::size_t k = 0; k < m.event_count; ++k)
      m.after_bars[k].assign(m.events[k].rows_after.rows.size(), {});

    for (std::size_t k = m.event_count; k-- > 0;) {
      const PhaseEvent& event = m.events[k];
      const bool is_last_of_group = k + 1 == m.event_count || m.events[k + 1].group != event.group;
      if (is_last_of_group) end_vjp(event, m.times_bar[k]);
      event_vjp(event, k);
    }
    bar_.v_rest += m.velocity_bar;
    m.acceleration_bar /= start_.h;
    bar_.problem.v_free += m.acceleration_bar;
    bar_.problem.v_start -= m.acceleration_bar;
  }

 private:
  template <typename F>
  void each_slot(int group, const F& f) const {
    for (int s = 0; s < start_.mass.slot_count(); ++s) {
      if (memory_.group_of_slot[at(s)] == group) f(6 * s);
    }
  }

  /// displacement = D - t v - c (v - v_0)
  void end_vjp(const PhaseEvent& last, double& time_bar) {
    PhasesMemory& m = memory_;
    each_slot(last.group, [&](int i) {
      const Vec6<double> by_way = m.way_bar.segment<6>(i);
      time_bar -= by_way.dot(m.velocity.segment<6>(i));
      m.velocity_bar.segment<6>(i) -= last.time * by_way;
      m.velocity_bar.segment<3>(i + 3) -= start_.lag * by_way.tail<3>();
      bar_.v_rest.segment<3>(i + 3) += start_.lag * by_way.tail<3>();
    });
  }

  void event_vjp(const PhaseEvent& event, std::size_t k) {
    PhasesMemory& m = memory_;
    double& time_bar = m.times_bar[k];
    m.contact_bars.assign(event.features.size(), ContactBar{});
    const ContactRowsGradient gradient{m.contact_bars, m.pose_bars, &m.velocity_bar, bar_.step.state->twist};
    add_materials_and_masses(event.rows_after, m.after_bars[k], {});
    rows_vjp(event.rows_after, start_.h, event.solution.velocity, m.after_bars[k], gradient);
    if (event.has_impact()) {
      impact_vjp(event, time_bar);
      rows_vjp(event.rows, start_.h, event.v_before, m.problem_bar.rows, gradient);
    }
    phases_.set_poses(start_, event, m);
    phases_.detector_->linearize(m.state.X_WB, event.features, m.contacts, LinearizeFor::vjp);
    contacts_vjp(*phases_.detector_, m.state.X_WB, m.contact_bars, bar_.step, m.contacts, m.pose_bars,
                 bar_.geometry);
    for (const int p : event.pairs) {
      pose_vjp(event, m.pairs[at(p)].body_A, time_bar);
      pose_vjp(event, m.pairs[at(p)].body_B, time_bar);
    }
    if (event.is_start) {
      each_slot(event.group, [&](int i) { m.way_bar.segment<6>(i).setZero(); });
      return;
    }
    // D_k = D_{k-1} + (t_k - t_{k-1}) v_{k-1}
    double& before_bar = m.times_bar[k - 1];
    const double duration = event.time - m.events[k - 1].time;
    each_slot(event.group, [&](int i) {
      const Vec6<double> by_way = m.way_bar.segment<6>(i);
      const double by_time = by_way.dot(event.v_before.segment<6>(i));
      time_bar += by_time;
      before_bar -= by_time;
      m.velocity_bar.segment<6>(i) += duration * by_way;
    });
    if (event.first >= 0) {
      closing_vjp(event, time_bar);
    } else {
      m.times_bar[at(event.last_impact)] += time_bar;
    }
  }

  /// From dL/d(velocities after it), m.velocity_bar, to those before, in place, and its rows:
  /// m.problem_bar.rows.
  void impact_vjp(const PhaseEvent& event, double& time_bar) {
    PhasesMemory& m = memory_;
    const ContactProblem problem = phases_.problem_of(start_, event);
    ContactProblemBar& bar = m.problem_bar;
    bar.set_zero(problem);
    m.end_bar.velocity = m.velocity_bar;
    m.end_bar.displacement.resize(0);
    phases_.solver_->vjp(problem, event.solution, event.islands, m.end_bar, m.solver, bar);
    GrowableVector& before_bar = m.before_bar;
    before_bar = bar.v_start + bar.v_free;
    event.joints.borne_vjp(event.v_before, bar.joints, before_bar);
    for (std::size_t k = 0; k < bar.links.size(); ++k) bar_.problem.links[k] += bar.links[k];
    m.acceleration_bar += settings_.lead(event.time) * bar.v_lead;
    time_bar += bar.v_lead.dot(m.acceleration);

    for (std::size_t i = 0; i < bar.rows.size(); ++i) {
      const ContactRow& row = event.rows.rows[i];
      ContactRowBar& row_bar = bar.rows[i];
      const RowPair& pair = event.rows.pairs[at(row.pair)];
      const impact::Approach approach = approach_of(row, event.v_before, m.acceleration, event.time);
      impact::Approach by;
      if (row.hits) {
        const RestitutionOf restitution =
            phases_.restitution_of(settings_, row, approach, event, pair.material.restitution);
        double restitution_bar = 0.0;
        by = impact::target_vjp(approach, settings_, restitution.value, {row_bar.rebound, row_bar.settle},
                                restitution_bar);
        bar.pairs[at(row.pair)].restitution += restitution.by_restitution * restitution_bar;
        approach.add_gap_bar(settings_, restitution.by_gap * restitution_bar, by);
      }
      const AnswersOf answers = phases_.answers_of(settings_, row, approach);
      by.distance += row_bar.answers * answers.by_distance;
      approach.add_gap_bar(settings_, row_bar.answers * answers.by_gap, by);
      approach.add_true_velocity_bar(settings_, row_bar.answers * answers.by_velocity, by);
      approach_vjp(row, event.v_before, m.acceleration, by, row_bar, before_bar, m.acceleration_bar,
                   time_bar);
    }
    add_materials_and_masses(event.rows, bar.rows, bar.pairs);
    for (std::size_t s = 0; s < bar.mass.size(); ++s) {
      bar_.problem.mass[s] += bar.mass[s];
      bar_.problem.inertia_W[s] += bar.inertia_W[s];
    }
    for (std::size_t j = 0; j < event.joint_groups.size(); ++j) {
      bar_.problem.joints.add(start_.joints.groups[at(event.joint_groups[j])], bar.joints,
                              event.joints.groups[j]);
    }
    m.velocity_bar = before_bar;
  }

  /// @param pairs  empty: of rows that no law has seen
  void add_materials_and_masses(const ContactRows& rows, std::span<const ContactRowBar> bars,
                                std::span<const PairMaterialBar> pairs) {
    ModelGradient& model = *bar_.step.model;
    if (bar_.step.mask.masses) {
      for (std::size_t i = 0; i < bars.size(); ++i) {
        if (bars[i].inverse_mass == 0.0) continue;
        for (const int body : {rows.rows[i].body_A, rows.rows[i].body_B}) {
          const double inverse = start_.mass.inverse_mass(body);
          start_.mass.each_fixed_together(body, [&](int slot) {
            model.bodies[at(start_.mass.body(slot))].mass -= bars[i].inverse_mass * inverse * inverse;
          });
        }
      }
    }
    if (!bar_.step.mask.materials) return;
    for (std::size_t p = 0; p < pairs.size(); ++p)
      pair_material_vjp(*phases_.model_, rows.pairs[p].body_A, rows.pairs[p].body_B, pairs[p], model);
  }

  /// X_k = (Exp(D_w) R, p + D_v); of bodies of infinite mass D = t V. Leaves nothing behind.
  void pose_vjp(const PhaseEvent& event, int body, double& time_bar) {
    PhasesMemory& m = memory_;
    Vec6<double>& pose_bar = m.pose_bars[at(body)];
    if (pose_bar.isZero(0.0)) return;
    const Vec6<double> way = phases_.way_of(start_, event, body);
    const Vec3<double> turn = way.head<3>();
    bar_.step.state->pose[at(body)] +=
        stack<double>(exp_so3<double>(turn).transpose() * pose_bar.head<3>(), pose_bar.tail<3>());
    const Vec6<double> way_bar =
        stack<double>(left_jacobian_so3<double>(turn).transpose() * pose_bar.head<3>(), pose_bar.tail<3>());
    pose_bar.setZero();
    const int slot = start_.mass.slot(body);
    if (slot >= 0) {
      m.way_bar.segment<6>(6 * slot) += way_bar;
    } else {
      bar_.step.state->twist[at(body)] += event.time * way_bar;
      time_bar += way_bar.dot(fixed_twist(*phases_.model_, start_.state, start_.h, body));
    }
  }

  /// t_k by the rows that foresaw it.
  void closing_vjp(const PhaseEvent& event, double time_bar) {
    PhasesMemory& m = memory_;
    const auto j = at(event.foreseen_by);
    const PhaseEvent& from = m.events[j];
    const RowPair& pair = *find_pair(from.rows_after, m.pairs[at(event.first)]);
    const auto index = std::find(from.pairs.begin(), from.pairs.end(), event.first) - from.pairs.begin();
    const PairPast& past = from.past[at(index)];
    phases_.find_members(settings_, from, past, from.rows_after, pair, from.solution.velocity, m);
    m.members_bar.resize(m.members.size());
    const double length = phases_.pair_length(m.pairs[at(event.first)]);
    impact::pair_time_vjp(m.members, length, impact::pair_time(m.members, length), time_bar, m.members_bar);
    for (std::size_t k = 0; k < m.members.size(); ++k) {
      const auto i = at(m.member_rows[k]);
      const ContactRow& row = from.rows_after.rows[i];
      ContactRowBar& row_bar = m.after_bars[j][i];
      const impact::Approach approach = approach_of(row, from.solution.velocity, m.acceleration, from.time);
      const impact::Closing closing = impact::closing(approach, settings_, past.since),
                            by_effect = impact::effect_gradient(closing, settings_, past.closings);
      const impact::PairImpact& member_bar = m.members_bar[k];
      row_bar.weight += member_bar.weight;
      const impact::Approach by =
          impact::closing_vjp(approach, settings_, closing,
                              {member_bar.time + member_bar.effect * by_effect.time,
                               member_bar.effect * by_effect.velocity - member_bar.speed});
      // Since then nothing has changed the velocities of these bodies.
      approach_vjp(row, from.solution.velocity, m.acceleration, by, row_bar, m.velocity_bar,
                   m.acceleration_bar, m.times_bar[j]);
    }
  }

  const ImpactPhases& phases_;
  const PhasesStart& start_;
  PhasesMemory& memory_;
  const PhasesBar& bar_;
  impact::Settings settings_;
};

void ImpactPhases::vjp(const PhasesStart& start, const EndMotionBar& end_bar, PhasesMemory& memory,
                       const PhasesBar& bar) const {
  Vjp(*this, start, memory, bar).all(end_bar);
}

}  // namespace abut
