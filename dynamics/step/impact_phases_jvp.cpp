/// The tangent of the phases of a step, impact by impact.
#include <algorithm>

#include "dynamics/motion/fixed_motion.h"
#include "dynamics/step/impact_phases.h"
#include "dynamics/step/joint_impulse_tangent.h"
#include "dynamics/step/phase_approach.h"
#include "engine/lie.h"

namespace abut {

class ImpactPhases::Jvp {
 public:
  Jvp(const ImpactPhases& phases, const PhasesStart& start, const PhasesDirection& direction,
      PhasesMemory& memory)
      : phases_(phases),
        start_(start),
        direction_(direction),
        memory_(memory),
        settings_(phases.settings_of(start.h)) {}

  void all(EndMotionBar& end_dot) {
    PhasesMemory& m = memory_;
    m.velocity_bar = direction_.v_rest;
    m.way_bar.setZero(m.velocity.size());
    m.acceleration_bar = (direction_.problem.v_free - direction_.problem.v_start) / start_.h;
    m.closings_dot.assign(m.pairs.size(), 0.0);
    m.times_dot.assign(m.event_count, 0.0);
    m.state_dot = *direction_.step.state;
    end_dot.displacement.setZero(m.velocity.size());
    double time_dot = 0.0;
    for (std::size_t k = 0; k < m.event_count; ++k) {
      const PhaseEvent& event = m.events[k];
      if (event.is_start) {
        time_dot = 0.0;
      } else {
        const double before_dot = time_dot, duration = event.time - m.events[k - 1].time;
        time_dot = event.first >= 0 ? m.closings_dot[at(event.first)] : m.times_dot[at(event.last_impact)];
        m.times_dot[k] = time_dot;
        each_slot(event.group, [&](int i) {
          m.way_bar.segment<6>(i) += (time_dot - before_dot) * event.v_before.segment<6>(i) +
                                     duration * m.velocity_bar.segment<6>(i);
        });
      }
      event_jvp(event, time_dot);
      if (k + 1 < m.event_count && m.events[k + 1].group == event.group) continue;
      each_slot(event.group, [&](int i) {
        end_dot.displacement.segment<6>(i) = m.way_bar.segment<6>(i) - time_dot * m.velocity.segment<6>(i) -
                                             event.time * m.velocity_bar.segment<6>(i);
        end_dot.displacement.segment<3>(i + 3) -=
            start_.lag * (m.velocity_bar.segment<3>(i + 3) - direction_.v_rest.segment<3>(i + 3));
      });
    }
    end_dot.velocity = m.velocity_bar;
  }

 private:
  template <typename F>
  void each_slot(int group, const F& f) const {
    for (int s = 0; s < start_.mass.slot_count(); ++s) {
      if (memory_.group_of_slot[at(s)] == group) f(6 * s);
    }
  }

  void event_jvp(const PhaseEvent& event, double time_dot) {
    PhasesMemory& m = memory_;
    phases_.set_poses(start_, event, m);
    for (const int p : event.pairs) {
      pose_jvp(event, m.pairs[at(p)].body_A, time_dot);
      pose_jvp(event, m.pairs[at(p)].body_B, time_dot);
    }
    phases_.detector_->linearize(m.state.X_WB, event.features, m.contacts, LinearizeFor::both);
    m.contact_bars.resize(event.features.size());
    phases_.detector_->jvp(m.state.X_WB, m.state_dot.pose, m.contacts, m.contact_bars);
    if (event.has_impact()) impact_jvp(event, time_dot);
    foresee_jvp(event, time_dot);
  }

  void pose_jvp(const PhaseEvent& event, int body, double time_dot) {
    PhasesMemory& m = memory_;
    const Vec6<double> way = phases_.way_of(start_, event, body),
                       &pose_dot = direction_.step.state->pose[at(body)];
    const int slot = start_.mass.slot(body);
    const Vec6<double> way_dot =
        slot >= 0 ? Vec6<double>(m.way_bar.segment<6>(6 * slot))
                  : Vec6<double>(time_dot * fixed_twist(*phases_.model_, start_.state, start_.h, body) +
                                 event.time * direction_.step.state->twist[at(body)]);
    const Vec3<double> turn = way.head<3>();
    m.state_dot.pose[at(body)] = stack<double>(
        exp_so3<double>(turn) * pose_dot.head<3>() + left_jacobian_so3<double>(turn) * way_dot.head<3>(),
        pose_dot.tail<3>() + way_dot.tail<3>());
  }

  void impact_jvp(const PhaseEvent& event, double time_dot) {
    PhasesMemory& m = memory_;
    const ContactProblem problem = phases_.problem_of(start_, event);
    ContactProblemDot& dot = m.problem_dot;
    dot.v_start = m.velocity_bar;
    dot.v_free = m.velocity_bar;
    dot.inertia_W = direction_.problem.inertia_W;
    dot.mass = direction_.problem.mass;
    dot.links = direction_.problem.links;
    dot.v_lead = settings_.lead(event.time) * m.acceleration_bar + time_dot * m.acceleration;
    dot.rows.resize(event.rows.rows.size());
    rows_jvp(event.rows, start_.mass, start_.h, event.v_before,
             {m.contact_bars, m.state_dot, m.velocity_bar, dot.mass}, dot.rows);
    dot.pairs.clear();
    for (const RowPair& pair : event.rows.pairs) {
      dot.pairs.push_back(pair_material_jvp(*phases_.model_, pair.body_A, pair.body_B,
                                            direction_.step.bodies[at(pair.body_A)],
                                            direction_.step.bodies[at(pair.body_B)]));
    }
    for (std::size_t i = 0; i < dot.rows.size(); ++i) {
      const ContactRow& row = event.rows.rows[i];
      ContactRowBar& row_dot = dot.rows[i];
      const RowPair& pair = event.rows.pairs[at(row.pair)];
      const impact::Approach approach = approach_of(row, event.v_before, m.acceleration, event.time),
                             approach_dot = approach_jvp(row, row_dot, event.v_before, m.velocity_bar,
                                                         m.acceleration, m.acceleration_bar, time_dot);
      const AnswersOf answers = phases_.answers_of(settings_, row, approach);
      row_dot.answers = answers.by_distance * row_dot.distance +
                        answers.by_gap * approach.gap_jvp(settings_, approach_dot) +
                        answers.by_velocity * approach.true_velocity_jvp(settings_, approach_dot);
      if (!row.hits) continue;
      const RestitutionOf restitution =
          phases_.restitution_of(settings_, row, approach, event, pair.material.restitution);
      const impact::Target target_dot =
          impact::target_jvp(approach, settings_, restitution.value, approach_dot,
                             restitution.by_restitution * dot.pairs[at(row.pair)].restitution +
                                 restitution.by_gap * approach.gap_jvp(settings_, approach_dot));
      row_dot.rebound = target_dot.rebound;
      row_dot.settle = target_dot.settle;
    }
    dot.joint_impulses.resize(0);
    if (!event.joints.empty()) {
      dot.joint_impulses.setZero(m.velocity.size());
      JointImpulseTangent tangent(*phases_.model_, start_.state, direction_.joint_settings, start_.mass,
                                  start_.free, event.joints, direction_.step, direction_.problem);
      tangent.set_borne(event.v_before, m.velocity_bar);
      tangent.add(event.solution.velocity, dot.joint_impulses);
    }
    phases_.solver_->jvp(problem, event.solution, event.islands, dot, m.solver, m.end_bar);
    // Bodies that take no part keep their velocities, and those of others do not change.
    m.velocity_bar = m.end_bar.velocity;
  }

  void foresee_jvp(const PhaseEvent& event, double time_dot) {
    PhasesMemory& m = memory_;
    std::vector<ContactRowBar>& dots = m.rows_dot;
    dots.resize(event.rows_after.rows.size());
    rows_jvp(event.rows_after, start_.mass, start_.h, event.solution.velocity,
             {m.contact_bars, m.state_dot, m.velocity_bar, direction_.problem.mass}, dots);
    for (std::size_t index = 0; index < event.pairs.size(); ++index) {
      const int p = event.pairs[index];
      const PairPast& past = event.past[index];
      const RowPair* const pair = find_pair(event.rows_after, m.pairs[at(p)]);
      if (pair == nullptr) continue;
      phases_.find_members(settings_, event, past, event.rows_after, *pair, event.solution.velocity, m);
      if (m.members.empty()) continue;
      m.members_bar.resize(m.members.size());
      for (std::size_t k = 0; k < m.members.size(); ++k) {
        const auto i = at(m.member_rows[k]);
        const ContactRow& row = event.rows_after.rows[i];
        const impact::Approach approach =
            approach_of(row, event.solution.velocity, m.acceleration, event.time);
        const impact::Closing closing = impact::closing(approach, settings_, past.since),
                              by_effect = impact::effect_gradient(closing, settings_, past.closings),
                              closing_dot = impact::closing_jvp(
                                  approach, settings_, closing,
                                  approach_jvp(row, dots[i], event.solution.velocity, m.velocity_bar,
                                               m.acceleration, m.acceleration_bar, time_dot));
        m.members_bar[k] = {dots[i].weight,
                            by_effect.time * closing_dot.time + by_effect.velocity * closing_dot.velocity,
                            closing_dot.time, -closing_dot.velocity};
      }
      const double length = phases_.pair_length(m.pairs[at(p)]);
      m.closings_dot[at(p)] =
          impact::pair_time_jvp(m.members, length, impact::pair_time(m.members, length), m.members_bar);
    }
  }

  const ImpactPhases& phases_;
  const PhasesStart& start_;
  const PhasesDirection& direction_;
  PhasesMemory& memory_;
  impact::Settings settings_;
};

void ImpactPhases::jvp(const PhasesStart& start, const PhasesDirection& direction, PhasesMemory& memory,
                       EndMotionBar& end_dot) const {
  Jvp(*this, start, direction, memory).all(end_dot);
}

}  // namespace abut
