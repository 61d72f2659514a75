#include "dynamics/step/impact_phases.h"

#include <algorithm>
#include <cmath>

#include "dynamics/motion/fixed_motion.h"
#include "dynamics/solver/impact_solver.h"
#include "dynamics/step/phase_approach.h"
#include "engine/lie.h"

namespace abut {
namespace {

constexpr double k_touching = 0.4;  // [g h^2]

}  // namespace

ImpactPhases::ImpactPhases(const Model& model, const StepConfig& config, double acceleration_scale,
                           double impact_speed, const RowSettings& rows, const ContactDetector& detector)
    : model_(&model),
      detector_(&detector),
      is_bounded_(config.passive_impacts),
      settings_{config.h, config.h, impact_speed, acceleration_scale * config.h},
      rows_(rows),
      touching_(k_touching * acceleration_scale * config.h * config.h),
      solver_(
          std::make_unique<const IslandSolver>(std::make_unique<ImpactSolver>(config, acceleration_scale))) {}

ImpactPhases::~ImpactPhases() = default;

bool ImpactPhases::set_shares(const GrowableVector& v_free, ContactRows& rows) const {
  bool any = false;
  for (const RowPair& pair : rows.pairs) {
    if (!(pair.material.restitution > 0.0)) continue;
    for (int i = pair.begin; i < pair.end; ++i) {
      ContactRow& row = rows.rows[at(i)];
      const double share = impact::share(row.n.dot(relative_velocity(row, v_free)), settings_);
      row.answers = 1.0 - share;
      any = any || (share > 0.0 && row.weight > 0.0);
    }
  }
  return any;
}

void ImpactPhases::shares_vjp(const GrowableVector& v_free, const ContactRows& rows,
                              std::span<ContactRowBar> bars, GrowableVector& v_free_bar) const {
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const ContactRow& row = rows.rows[i];
    if (bars[i].answers == 0.0) continue;
    const Vec3<double> u = relative_velocity(row, v_free);
    const double u_bar = -impact::share_slope(row.n.dot(u), settings_) * bars[i].answers;
    bars[i].n += u_bar * u;
    add_velocity_bar(row, u_bar * row.n, v_free, bars[i]);
    add_impulse(row, u_bar * row.n, v_free_bar);
    bars[i].answers = 0.0;
  }
}

void ImpactPhases::shares_jvp(const GrowableVector& v_free, const GrowableVector& v_free_dot,
                              const ContactRows& rows, std::span<ContactRowBar> dots) const {
  for (const RowPair& pair : rows.pairs) {
    if (!(pair.material.restitution > 0.0)) continue;
    for (int i = pair.begin; i < pair.end; ++i) {
      const ContactRow& row = rows.rows[at(i)];
      ContactRowBar& dot = dots[at(i)];
      const Vec3<double> u = relative_velocity(row, v_free);
      dot.answers = -impact::share_slope(row.n.dot(u), settings_) *
                    (dot.n.dot(u) + row.n.dot(relative_velocity_jvp(row, dot, v_free, v_free_dot)));
    }
  }
}

bool ImpactPhases::find_brought_back(const PhasesStart& start, const ContactManifold& manifold,
                                     const ContactRows& rows, std::vector<int>& pairs) const {
  constexpr double k_next_to_none = 0.1;  // of the share that v_0 would have given it
  pairs.clear();
  const impact::Settings settings = settings_of(start.h);
  const double bow = settings.bow(start.h) / start.h;
  const ContactBlock<double>& block = manifold.contacts.block();
  const GrowableVector &v_start = start.free.v_start, &v_free = start.free.v_free;
  std::size_t next_pair = 0;
  for (std::size_t p = 0; p < manifold.pairs.size(); ++p) {
    const ContactPair& pair = manifold.pairs[p];
    const int slot_A = start.mass.slot(pair.body_A), slot_B = start.mass.slot(pair.body_B);
    // The way of B's contact points relative to A's until the end of the step is that of a rigid body.
    const auto way = [&](int body, int slot) -> Vec6<double> {
      if (slot < 0) return start.h * fixed_twist(*model_, start.state, start.h, body);
      return start.h * start.v_rest.segment<6>(6 * slot) +
             bow * (v_free.segment<6>(6 * slot) - v_start.segment<6>(6 * slot));
    };
    const Vec3<double>&p_A = start.state.X_WB[at(pair.body_A)].p, &p_B = start.state.X_WB[at(pair.body_B)].p;
    const Vec6<double> D_A = way(pair.body_A, slot_A), D_B = way(pair.body_B, slot_B);
    const Vec3<double> turn = D_B.head<3>() - D_A.head<3>(),
                       shift = point_velocity(D_B, Vec3<double>(p_A - p_B)) - D_A.tail<3>();
    const RowPair* const of_rows = next_pair < rows.pairs.size() &&
                                           rows.pairs[next_pair].body_A == pair.body_A &&
                                           rows.pairs[next_pair].body_B == pair.body_B
                                       ? &rows.pairs[next_pair++]
                                       : nullptr;
    const auto members = of_rows == nullptr ? std::span<const ContactRow>() : rows.members_of(*of_rows);
    const double band = 8.0 * (pair.activity_smoothing + rows_.resting_band);
    std::size_t next = 0;
    for (int i = pair.begin; i < pair.end; ++i) {
      double share = 0.0;  // in v_0
      if (next < members.size() && members[next].contact == i) share = members[next++].share;
      const Vec3<double> n = block.vector(k_contact_normal, i);
      const double gap_at_end = block.number(k_contact_distance, i) +
                                n.dot(shift + turn.cross(block.vector(k_contact_point, i) - p_A)),
                   weight = block.number(k_contact_weight, i);
      if (!(gap_at_end < 0.0 && weight > 0.0)) continue;
      if (share <
          k_next_to_none * weight * block.number(k_contact_area, i) * smoothstep5(0.5 - gap_at_end / band)) {
        pairs.push_back(static_cast<int>(p));
        break;
      }
    }
  }
  return !pairs.empty();
}

void ImpactPhases::find_pairs(const ContactManifold& manifold, std::span<const double> margins,
                              const MassMatrix& mass, const ContactRows& rows, const JointRows& joints,
                              std::span<const int> brought_back, DisjointSets& sets,
                              std::vector<CandidatePair>& pairs) const {
  pairs.clear();
  sets.reset(mass.slot_count());
  for (const ContactPair& pair : manifold.pairs) {
    if (pair.end > pair.begin) sets.tie(mass.slot(pair.body_A), mass.slot(pair.body_B));
  }
  for (const JointGroup& group : joints.groups) sets.tie(joints.slots_of(group));
  for (const LinkMotion& link : mass.links()) sets.tie(link.parent, link.slot);
  std::vector<char> has_impacts(at(mass.slot_count()), 0);
  for (const ContactRow& row : rows.rows) {
    if (row.answers < 1.0 && row.weight > 0.0)
      has_impacts[at(sets.root(std::max(row.slot_A, row.slot_B)))] = 1;
  }
  for (const int p : brought_back) {
    const ContactPair& pair = manifold.pairs[at(p)];
    has_impacts[at(sets.root(std::max(mass.slot(pair.body_A), mass.slot(pair.body_B))))] = 1;
  }
  for (const ContactPair& pair : manifold.pairs) {
    const int slot = std::max(mass.slot(pair.body_A), mass.slot(pair.body_B));
    if (slot < 0 || has_impacts[at(sets.root(slot))] == 0) continue;
    if (pair.end > pair.begin)
      pairs.push_back({pair.body_A, pair.body_B, margins[at(pair.body_A)] + margins[at(pair.body_B)]});
  }
}

void ImpactPhases::find_loads(const ContactRows& rows, std::span<const Vec3<double>> impulses,
                              std::vector<PhaseLoad>& loads) const {
  loads.clear();
  for (const RowPair& pair : rows.pairs) {
    double sum = 0.0;
    for (int i = pair.begin; i < pair.end; ++i) {
      const ContactRow& row = rows.rows[at(i)];
      sum += row.inverse_mass * row.n.dot(impulses[at(i)]);
    }
    loads.push_back({pair.body_A, pair.body_B, sum / settings_.speed_scale});
  }
}

Vec6<double> ImpactPhases::way_of(const PhasesStart& start, const PhaseEvent& event, int body) const {
  const int slot = start.mass.slot(body);
  if (slot >= 0) return event.way.segment<6>(6 * slot);
  return event.time * fixed_twist(*model_, start.state, start.h, body);
}

void ImpactPhases::set_poses(const PhasesStart& start, const PhaseEvent& event, PhasesMemory& memory,
                             std::size_t first) const {
  int last = -1;  // of a stack's pairs one body is also the other's of the pair before
  for (std::size_t k = first; k < event.pairs.size(); ++k) {
    const PhasePair& pair = memory.pairs[at(event.pairs[k])];
    for (const int body : {pair.body_A, pair.body_B}) {
      if (body == last) continue;
      memory.state.X_WB[at(body)] =
          retract<double>(start.state.X_WB[at(body)], way_of(start, event, body)).normalized();
    }
    last = pair.body_B;
  }
}

ContactProblem ImpactPhases::problem_of(const PhasesStart& start, const PhaseEvent& event) const {
  ContactProblem problem{start.mass, event.rows, event.v_before, event.v_before, start.h, event.joints};
  problem.v_lead = &event.v_lead;
  return problem;
}

const RowPair* find_pair(const ContactRows& rows, const PhasePair& pair) {
  const auto found = std::find_if(rows.pairs.begin(), rows.pairs.end(), [&](const RowPair& of_rows) {
    return of_rows.body_A == pair.body_A && of_rows.body_B == pair.body_B;
  });
  return found == rows.pairs.end() ? nullptr : &*found;
}

void ImpactPhases::set_part(const impact::Settings& settings, const PhaseEvent& event, bool is_closing,
                            double gate, double restitution, const GrowableVector& acceleration,
                            ContactRow& row) const {
  const impact::Approach approach = approach_of(row, event.v_before, acceleration, event.time);
  row.gate = gate;
  row.hits = is_closing && impact::is_impact(approach.true_velocity(settings), settings);
  row.answers = answers_of(settings, row, approach).value;
  if (!row.hits) return;
  const impact::Target target =
      impact::target(approach, settings, restitution_of(settings, row, approach, event, restitution).value);
  row.rebound = target.rebound;
  row.settle = target.settle;
}

ImpactPhases::AnswersOf ImpactPhases::answers_of(const impact::Settings& settings, const ContactRow& row,
                                                 const impact::Approach& approach) const {
  const double x = 2.0 - row.distance / touching_, touches = row.gate * smoothstep5(x),
               w = approach.true_velocity(settings), rests = 1.0 - impact::share(w, settings);
  const AnswersOf rest{touches * rests, -row.gate * smoothstep5_dx(x) / touching_ * rests, 0.0,
                       -touches * impact::share_slope(w, settings)};
  if (!row.hits) return rest;
  const double length = impact::k_near_length * detector_->pair_size(row.body_A, row.body_B),
               gap = approach.gap(settings), nearer = std::min(row.distance, gap),
               near = impact::nearness(nearer, length),
               by_nearer = (1.0 - rest.value) * impact::nearness_slope(nearer, length);
  const bool is_gap = gap < row.distance;
  return {1.0 - (1.0 - near) * (1.0 - rest.value),
          (1.0 - near) * rest.by_distance + (is_gap ? 0.0 : by_nearer), is_gap ? by_nearer : 0.0,
          (1.0 - near) * rest.by_velocity};
}

ImpactPhases::RestitutionOf ImpactPhases::restitution_of(const impact::Settings& settings,
                                                         const ContactRow& row,
                                                         const impact::Approach& approach,
                                                         const PhaseEvent& event, double restitution) const {
  constexpr double k_deep = 0.01;
  const double depth = k_deep * detector_->pair_size(row.body_A, row.body_B),
               x = 2.0 + approach.gap(settings) / depth, share = event.restitution_share * smoothstep5(x);
  return {restitution * share, share, restitution * event.restitution_share * smoothstep5_dx(x) / depth};
}

double ImpactPhases::pair_length(const PhasePair& pair) const {
  return impact::k_pair_length * detector_->pair_size(pair.body_A, pair.body_B);
}

void ImpactPhases::find_members(const impact::Settings& settings, const PhaseEvent& event,
                                const PairPast& past, const ContactRows& rows, const RowPair& pair,
                                const GrowableVector& v, PhasesMemory& memory) const {
  memory.members.clear();
  memory.member_rows.clear();
  memory.has_closed_members = false;
  for (int i = pair.begin; i < pair.end; ++i) {
    const ContactRow& row = rows.rows[at(i)];
    const impact::Approach approach = approach_of(row, v, memory.acceleration, event.time);
    if (!(row.weight > 0.0) || !approach.hits(settings)) continue;
    const impact::Closing closing = impact::closing(approach, settings, past.since);
    const double effect = impact::effect(closing, settings, past.closings);
    if (!(effect > 0.0)) continue;
    memory.members.push_back({row.weight, effect, closing.time, -closing.velocity});
    memory.member_rows.push_back(i);
    memory.has_closed_members |= !closing.was_open;
  }
}

bool ImpactPhases::is_near_kink(const PhaseEvent& event, const PhasesMemory& memory) const {
  const impact::Settings settings = settings_of(memory.h);
  const auto nearly_closes = [&](const ContactRow& row) {
    const impact::Approach approach =
        approach_of(row, event.solution.velocity, memory.acceleration, event.time);
    const double w = approach.true_velocity(settings), near = k_near_time * memory.h * std::abs(w);
    // Just by the end of the step, or just now: before that the time counts.
    return row.weight > 0.0 && impact::is_impact(w, settings) &&
           (std::abs(approach.gap_at_end(settings)) <= near ||
            (!event.is_look && std::abs(approach.gap(settings)) <= near));
  };
  if (std::any_of(event.rows_after.rows.begin(), event.rows_after.rows.end(), nearly_closes)) return true;
  if (!event.has_impact()) return false;
  return event.restitution_share < 1.0 || event.is_near_order || event.is_repeated || event.is_unsettled ||
         std::any_of(event.rows.rows.begin(), event.rows.rows.end(),
                     [](const ContactRow& row) { return row.gate > 0.0 && row.gate < 1.0; }) ||
         std::any_of(event.islands.parts.begin(), event.islands.parts.end(),
                     [](const IslandLinearization::Part* part) { return part->of_law->is_near_kink(); });
}

void ImpactPhases::impulses(const PhasesStart& start, const PhaseEvent& event, PhasesMemory& memory,
                            std::vector<Vec3<double>>& impulses) const {
  solver_->impulses_by_island(problem_of(start, event), event.solution, event.islands, memory.solver,
                              impulses);
}

}  // namespace abut
