/// The phases of a substep, from one impact to the next.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "dynamics/step/impact_phases.h"
#include "dynamics/step/phase_energy.h"

namespace abut {
namespace {

constexpr double k_no_closing = std::numeric_limits<double>::infinity();
constexpr double k_same_time = 1e-6;  // of the step: impacts that are closer than this are one
constexpr int k_most_impacts = 100;   // of a group, for each of its bodies
constexpr int k_most_last = 10;       // after these, without restitution
constexpr int k_closings = 12;        // of a pair, one soon after the other, which then answers other impacts
constexpr double k_soon = 1e-2;       // of the step
constexpr int k_most_looks = 8;       // in a row
constexpr double k_close = 1e-8;      // of delta: gaps of a pair that closes now
constexpr double k_less_restitution[] = {0.999, 0.99, 0.95, 0.8, 0.5, 0.0};  // where energy would rise

double loaded(double load) { return smoothstep5(50.0 * load - 9.0); }

}  // namespace

class ImpactPhases::Run {
 public:
  Run(const ImpactPhases& phases, const PhasesStart& start, const ContactManifold* manifold,
      PhasesMemory& memory, bool linearizes)
      : phases_(phases),
        start_(start),
        manifold_(manifold),
        memory_(memory),
        settings_(phases.settings_of(start.h)),
        linearizes_(linearizes) {}

  void all() {
    PhasesMemory& m = memory_;
    m.h = start_.h;
    m.event_count = 0;
    m.impacts = m.iterations = 0;
    m.residual = 0.0;
    m.converged = true;
    m.has_negative_determinant = m.is_cut_short = false;
    m.velocity = start_.v_rest;
    m.way.setZero(m.velocity.size());
    m.displacement.setZero(m.velocity.size());
    m.phase_speeds.setZero(2 * start_.mass.slot_count());
    for (int s = 0; s < start_.mass.slot_count(); ++s) note_speed(s, start_.v_rest.segment<6>(6 * s));
    m.acceleration = (start_.free.v_free - start_.free.v_start) / start_.h;
    m.state = start_.state;
    for (int s = 0; s < start_.mass.slot_count(); ++s)
      m.state.V_WB[at(start_.mass.body(s))] = m.velocity.segment<6>(6 * s);
    make_pairs();
    for (int group = 0; group < group_count_; ++group) {
      const std::size_t first = m.event_count;
      const int impacts = m.impacts;
      run_group(group, 1.0);
      for (const double share : k_less_restitution) {
        if (!phases_.is_bounded_ || !gains_energy(start_, settings_, m, group, first)) break;
        m.event_count = first;
        m.impacts = impacts;
        start_again(group);
        run_group(group, share);
      }
    }
  }

 private:
  void note_speed(int slot, const Vec6<double>& V) {
    GrowableVector& speeds = memory_.phase_speeds;
    speeds[2 * slot] = std::max(speeds[2 * slot], V.head<3>().norm());
    speeds[2 * slot + 1] = std::max(speeds[2 * slot + 1], V.tail<3>().norm());
  }

  void make_pairs() {
    PhasesMemory& m = memory_;
    const MassMatrix& mass = start_.mass;
    m.pairs.clear();
    m.sets.reset(mass.slot_count());
    for (const CandidatePair& candidate : start_.pairs) {
      PhasePair& pair = m.pairs.emplace_back();
      pair.body_A = candidate.body_A;
      pair.body_B = candidate.body_B;
      pair.slot_A = mass.slot(candidate.body_A);
      pair.slot_B = mass.slot(candidate.body_B);
      pair.margin = candidate.margin;
      for (const PhaseLoad& load : start_.loads) {
        if (load.body_A == pair.body_A && load.body_B == pair.body_B) pair.load = load.value;
      }
      m.sets.tie(pair.slot_A, pair.slot_B);
    }
    for (const JointGroup& group : start_.joints.groups) m.sets.tie(start_.joints.slots_of(group));
    for (const LinkMotion& link : mass.links()) m.sets.tie(link.parent, link.slot);
    // Groups in the order of their lowest slots.
    m.group_of_slot.assign(at(mass.slot_count()), -1);
    group_count_ = 0;
    for (const PhasePair& pair : m.pairs) m.group_of_slot[at(m.sets.root(slot_of(pair)))] = 0;
    for (int& group : m.group_of_slot) {
      if (group == 0) group = group_count_++;
    }
    for (PhasePair& pair : m.pairs) pair.group = m.group_of_slot[at(m.sets.root(slot_of(pair)))];
    for (int s = 0; s < mass.slot_count(); ++s) m.group_of_slot[at(s)] = m.group_of_slot[at(m.sets.root(s))];
  }
  [[nodiscard]] static int slot_of(const PhasePair& pair) { return std::max(pair.slot_A, pair.slot_B); }

  void start_again(int group) {
    PhasesMemory& m = memory_;
    for (PhasePair& pair : m.pairs) {
      if (pair.group == group) pair.closings = 0;
    }
    for (int s = 0; s < start_.mass.slot_count(); ++s) {
      if (m.group_of_slot[at(s)] != group) continue;
      const Vec6<double> V = start_.v_rest.segment<6>(6 * s);
      const auto body = at(start_.mass.body(s));
      m.velocity.segment<6>(6 * s) = V;
      m.way.segment<6>(6 * s).setZero();
      m.state.V_WB[body] = V;
      m.state.X_WB[body] = start_.state.X_WB[body];
    }
  }

  /// @param restitution_share  of that of its pairs
  void run_group(int group, double restitution_share) {
    PhasesMemory& m = memory_;
    int bodies = 0;
    for (const int of_slot : m.group_of_slot) bodies += of_slot == group ? 1 : 0;
    const int most = k_most_impacts * bodies;
    double time = 0.0, since = 0.0;
    const int start = static_cast<int>(m.event_count);
    {
      PhaseEvent& event = next_event(group, 0.0);
      event.is_start = true;
      event.solution.velocity = m.velocity;
      for (int p = 0; p < static_cast<int>(m.pairs.size()); ++p) {
        if (m.pairs[at(p)].group == group) event.pairs.push_back(p);
      }
      if (manifold_ == nullptr) {
        evaluate(event);
      } else {
        event.way = m.way;
        // Impacts of other groups have moved what both may touch.
        if (has_moved_) phases_.set_poses(start_, event, m);
      }
      foresee(event);
    }
    for (int count = 0, looks = 0, last_impact = start;;) {
      double first = k_no_closing;
      for (const PhasePair& pair : m.pairs) {
        if (pair.group == group) first = std::min(first, pair.time);
      }
      if (!(first < start_.h)) break;
      const double before = time;
      time = std::max(first, since);
      advance(group, time - before);
      PhaseEvent& event = next_event(group, time);
      event.last_impact = last_impact;
      event.is_last = count >= most;
      event.restitution_share = event.is_last ? 0.0 : restitution_share;
      choose_closing(event, first, since);
      event.v_before = event.solution.velocity = m.velocity;
      Closes closes = Closes::already;
      event.is_unsettled = looks == k_most_looks;
      if (event.first >= 0 && !event.is_last && !event.is_unsettled) {
        event.is_look = true;
        event.pairs = event.closing;
        evaluate(event);
        foresee(event);
        closes = closes_now(event);
      }
      if (closes == Closes::not_now) {
        ++looks;
        continue;
      }
      const bool has_looked = event.is_look;
      PhaseEvent& impact = linearizes_ && closes == Closes::now ? impact_of_look() : event;
      impact.is_look = false;
      impact.past.clear();
      looks = 0;
      since = time;
      last_impact = static_cast<int>(m.event_count) - 1;
      choose_parts(impact);
      evaluate(impact, has_looked ? impact.closing.size() : 0);
      make_impact_rows(impact);
      count_closings(impact);
      resolve(impact);
      foresee(impact);
      ++count;
      ++m.impacts;
      m.is_cut_short |= impact.is_last;
      if (count > most + k_most_last * bodies) break;
    }
    // D + (h - t) v + c (v_0 - v_start) = h v + c (v - v_start) + displacement
    for (int s = 0; s < start_.mass.slot_count(); ++s) {
      if (m.group_of_slot[at(s)] != group) continue;
      m.displacement.segment<6>(6 * s) = m.way.segment<6>(6 * s) - time * m.velocity.segment<6>(6 * s);
      m.displacement.segment<3>(6 * s + 3) -=
          start_.lag * (m.velocity.segment<3>(6 * s + 3) - start_.v_rest.segment<3>(6 * s + 3));
    }
  }

  PhaseEvent& next_event(int group, double time) {
    PhasesMemory& m = memory_;
    if (m.event_count == m.events.size()) m.events.emplace_back();
    PhaseEvent& event = m.events[m.event_count++];
    event.time = time;
    event.group = group;
    event.is_start = event.is_look = event.is_last = false;
    event.restitution_share = 1.0;
    event.is_near_order = event.is_repeated = event.is_unsettled = false;
    event.pairs.clear();
    event.closing.clear();
    event.past.clear();
    event.first = event.foreseen_by = event.last_impact = -1;
    return event;
  }

  void advance(int group, double time) {
    PhasesMemory& m = memory_;
    for (int s = 0; s < start_.mass.slot_count(); ++s) {
      if (m.group_of_slot[at(s)] == group) m.way.segment<6>(6 * s) += time * m.velocity.segment<6>(6 * s);
    }
  }

  /// The pairs that close at this time, and whose it is.
  void choose_closing(PhaseEvent& event, double first, double since) {
    PhasesMemory& m = memory_;
    const int count = static_cast<int>(m.pairs.size());
    m.is_closing.assign(at(count), 0);
    m.takes_part.assign(at(start_.mass.slot_count()), 0);
    for (int p = 0; p < count; ++p) {
      const PhasePair& pair = m.pairs[at(p)];
      if (pair.group != event.group) continue;
      if (!event.is_last && !(pair.time <= first + k_same_time * start_.h)) continue;
      if (event.is_last && pair.time == k_no_closing) continue;
      m.is_closing[at(p)] = 1;
      event.closing.push_back(p);
      if (pair.time == first && first > since && event.first < 0) {
        event.first = p;
        event.foreseen_by = pair.event;
      }
      take(pair.slot_A);
      take(pair.slot_B);
    }
    for (int p = 0; p < count; ++p) {
      const PhasePair& pair = m.pairs[at(p)];
      event.is_near_order |= pair.group == event.group && m.is_closing[at(p)] == 0 &&
                             pair.time < first + k_near_time * start_.h &&
                             (is_in(pair.slot_A) || is_in(pair.slot_B));
    }
  }
  bool take(int slot) {
    if (slot < 0 || memory_.takes_part[at(slot)] != 0) return false;
    return memory_.takes_part[at(slot)] = 1, true;
  }
  /// The other bodies that an impact may move, and the pairs and joints of all of them.
  void choose_parts(PhaseEvent& event) {
    PhasesMemory& m = memory_;
    for (bool grows = true; grows;) {
      grows = false;
      const auto spread_to_all = [&](std::span<const int> slots) {
        if (std::none_of(slots.begin(), slots.end(), [&](int slot) { return is_in(slot); })) return;
        for (const int slot : slots) grows = take(slot) || grows;
      };
      const auto spread = [&](int slot_A, int slot_B) { spread_to_all(std::array{slot_A, slot_B}); };
      for (const PhasePair& pair : m.pairs) {
        if (pair.group == event.group && gate_of(event, pair) > 0.0) spread(pair.slot_A, pair.slot_B);
      }
      for (const JointGroup& joint : start_.joints.groups) spread_to_all(start_.joints.slots_of(joint));
      for (const LinkMotion& link : start_.mass.links()) spread(link.parent, link.slot);
    }
    event.pairs = event.closing;  // which a look may have evaluated
    for (int p = 0; p < static_cast<int>(m.pairs.size()); ++p) {
      const PhasePair& pair = m.pairs[at(p)];
      if (pair.group != event.group || m.is_closing[at(p)] != 0) continue;
      if (is_in(pair.slot_A) || is_in(pair.slot_B)) event.pairs.push_back(p);
    }
    event.joints.clear();
    event.joint_groups.clear();
    for (std::size_t j = 0; j < start_.joints.groups.size(); ++j) {
      const JointGroup& joint = start_.joints.groups[j];
      if (!is_in(start_.joints.moving_slot(joint))) continue;  // all of them are
      event.joints.append(start_.joints, joint);
      event.joint_groups.push_back(static_cast<int>(j));
    }
  }
  void count_closings(PhaseEvent& event) {
    for (const int p : event.closing) {
      PhasePair& pair = memory_.pairs[at(p)];
      pair.closings = 1 + closings_before(pair, event.time);
      pair.last_closing = event.time;
      event.is_repeated |= pair.closings >= k_closings;
    }
  }
  /// Consecutive closings of a pair up to a time; 0 if the last is more than k_soon h ago.
  [[nodiscard]] int closings_before(const PhasePair& pair, double time) const {
    return time - pair.last_closing < k_soon * start_.h ? pair.closings : 0;
  }
  [[nodiscard]] PairPast past_of(const PhasePair& pair, double time) const {
    return {pair.since, std::min(closings_before(pair, time), k_closings)};
  }
  /// An impact at the time and poses of the last event, a look that found its pair to close then. Its time
  /// depends on what was seen there, not only on what was foreseen: gaps of curved bodies that turn are not
  /// straight lines, even where the one that is taken happens to be.
  PhaseEvent& impact_of_look() {
    PhasesMemory& m = memory_;
    const std::size_t k = m.event_count - 1;
    PhaseEvent& impact = next_event(m.events[k].group, m.events[k].time);
    const PhaseEvent& look = m.events[k];
    impact.is_last = look.is_last;
    impact.restitution_share = look.restitution_share;
    impact.is_near_order = look.is_near_order;
    impact.first = look.first;
    impact.foreseen_by = static_cast<int>(k);
    impact.last_impact = look.last_impact;
    impact.closing = look.closing;
    impact.v_before = look.v_before;
    return impact;
  }

  enum class Closes {
    not_now,
    now,
    already  ///< some of its contacts were closed while they began to approach
  };
  /// Whether the pair that a look is for closes at its time.
  [[nodiscard]] Closes closes_now(const PhaseEvent& look) {
    PhasesMemory& m = memory_;
    const PhasePair& pair = m.pairs[at(look.first)];
    const RowPair* const of_pair = find_pair(look.rows_after, pair);
    if (of_pair == nullptr) return Closes::not_now;
    if (look.pairs.size() > 1) {  // else foresee() found them last
      phases_.find_members(settings_, look, past_of(pair, look.time), look.rows_after, *of_pair, m.velocity,
                           m);
    }
    if (m.members.empty()) return Closes::not_now;
    if (std::abs(impact::pair_excess(m.members, phases_.pair_length(pair), look.time)) <= k_close)
      return Closes::now;
    return m.has_closed_members ? Closes::already : Closes::not_now;
  }
  /// How far contacts that touch answer in another pair's impact.
  [[nodiscard]] static double gate_of(const PhaseEvent& event, const PhasePair& pair) {
    return event.is_last || pair.closings >= k_closings ? 1.0 : loaded(pair.load);
  }
  [[nodiscard]] bool is_in(int slot) const { return slot >= 0 && memory_.takes_part[at(slot)] != 0; }

  /// The contacts of the event's pairs at the poses of its time: memory.manifold, which has those of the first
  /// `evaluated` pairs already.
  void evaluate(PhaseEvent& event, std::size_t evaluated = 0) {
    PhasesMemory& m = memory_;
    event.way = m.way;
    if (evaluated < event.pairs.size()) {
      phases_.set_poses(start_, event, m, evaluated);
      has_moved_ = true;
      m.candidates.clear();
      for (std::size_t k = evaluated; k < event.pairs.size(); ++k) {
        const PhasePair& pair = m.pairs[at(event.pairs[k])];
        m.candidates.push_back({pair.body_A, pair.body_B, pair.margin});
      }
      ContactManifold& found = evaluated == 0 ? m.manifold : m.added;
      phases_.detector_->detect_pairs(m.state.X_WB, m.candidates, m.detector, found);
      if (evaluated > 0) append_added();
    }
    event.features.clear();
    for (std::size_t i = 0; linearizes_ && i < m.manifold.contacts.size(); ++i)
      event.features.push_back(m.manifold.contacts.feature(i));
  }
  void append_added() {
    ContactManifold& manifold = memory_.manifold;
    const int offset = static_cast<int>(manifold.contacts.size());
    for (const Contact& contact : memory_.added.contacts) manifold.contacts.push_back(contact);
    for (ContactPair pair : memory_.added.pairs) {
      pair.begin += offset;
      pair.end += offset;
      manifold.pairs.push_back(pair);
    }
  }
  [[nodiscard]] static bool is_before(const PhasePair& a, const ContactPair& b) {
    return a.body_A != b.body_A ? a.body_A < b.body_A : a.body_B < b.body_B;
  }
  [[nodiscard]] static bool is_of(const PhasePair& a, const ContactPair& b) {
    return a.body_A == b.body_A && a.body_B == b.body_B;
  }

  /// Rows of the event's pairs that `takes` says, with the velocities of the state.
  template <typename Takes>
  void make_event_rows(const PhaseEvent& event, const Takes& takes, ContactRows& rows) {
    PhasesMemory& m = memory_;
    const ContactManifold& manifold = event.is_start && manifold_ != nullptr ? *manifold_ : m.manifold;
    m.contact_pairs.clear();
    std::size_t k = 0;
    const auto of_event = [&]() -> const PhasePair& { return m.pairs[at(event.pairs[k])]; };
    for (const ContactPair& pair : manifold.pairs) {
      // Both in the order of the event or, of a start, whose manifold may have other pairs, of their bodies.
      while (k < event.pairs.size() &&
             (event.is_start ? is_before(of_event(), pair) : !is_of(of_event(), pair)))
        ++k;
      if (k == event.pairs.size()) break;
      if (is_of(of_event(), pair) && takes(event.pairs[k])) m.contact_pairs.push_back(pair);
    }
    make_rows(*phases_.model_, start_.mass, m.state, manifold.contacts, m.contact_pairs,
              phases_.row_settings(start_.h), rows);
  }

  /// The rows that may take part in the impact.
  void make_impact_rows(PhaseEvent& event) {
    make_event_rows(
        event,
        [&](int p) { return memory_.is_closing[at(p)] != 0 || gate_of(event, memory_.pairs[at(p)]) > 0.0; },
        event.rows);
  }

  /// The impact.
  void resolve(PhaseEvent& event) {
    PhasesMemory& m = memory_;
    const MassMatrix& mass = start_.mass;
    event.v_lead = settings_.lead(event.time) * m.acceleration;
    for (const int p : event.pairs) {
      const PhasePair& pair = m.pairs[at(p)];
      const RowPair* const of_pair = find_pair(event.rows, pair);
      if (of_pair == nullptr) continue;
      const bool is_closing = m.is_closing[at(p)] != 0;
      const double gate = is_closing ? 1.0 : gate_of(event, pair);
      for (int i = of_pair->begin; i < of_pair->end; ++i) {
        phases_.set_part(settings_, event, is_closing, gate, of_pair->material.restitution, m.acceleration,
                         event.rows.rows[at(i)]);
      }
    }
    event.joints.set_borne(m.velocity);
    phases_.solver_->solve(phases_.problem_of(start_, event), m.solver, event.solution,
                           linearizes_ ? &event.islands : nullptr);
    m.iterations += event.solution.iterations;
    m.residual = std::max(m.residual, event.solution.residual);
    m.converged = m.converged && event.solution.converged;
    m.has_negative_determinant |= event.solution.has_negative_determinant;
    for (int s = 0; s < mass.slot_count(); ++s) {
      if (m.takes_part[at(s)] == 0) continue;
      const Vec6<double> V = event.solution.velocity.segment<6>(6 * s);
      m.velocity.segment<6>(6 * s) = V;
      m.state.V_WB[at(mass.body(s))] = V;
      note_speed(s, V);
    }
    event.solution.velocity = m.velocity;
  }

  /// When the event's pairs close next.
  void foresee(PhaseEvent& event) {
    PhasesMemory& m = memory_;
    make_event_rows(
        event, [](int) { return true; }, event.rows_after);
    for (const int p : event.pairs) {
      PhasePair& pair = m.pairs[at(p)];
      pair.time = k_no_closing;
      if (!event.is_look) pair.since = event.time;
      event.past.push_back(past_of(pair, event.time));
      pair.event = static_cast<int>(m.event_count) - 1;
      const RowPair* const of_pair = find_pair(event.rows_after, pair);
      if (of_pair == nullptr) continue;
      phases_.find_members(settings_, event, event.past.back(), event.rows_after, *of_pair,
                           event.solution.velocity, m);
      if (!m.members.empty()) pair.time = impact::pair_time(m.members, phases_.pair_length(pair));
    }
  }

  const ImpactPhases& phases_;
  const PhasesStart& start_;
  const ContactManifold* manifold_;
  PhasesMemory& memory_;
  impact::Settings settings_;
  bool linearizes_;
  int group_count_ = 0;
  bool has_moved_ = false;  ///< bodies are not all at the poses of the start
};

void ImpactPhases::run(const PhasesStart& start, const ContactManifold* manifold, PhasesMemory& memory,
                       bool linearizes) const {
  Run(*this, start, manifold, memory, linearizes).all();
}

}  // namespace abut
