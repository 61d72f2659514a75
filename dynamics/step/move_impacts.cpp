#include "dynamics/step/impact_rows.h"

#include "dynamics/solver/smooth_coulomb_row.h"
#include "dynamics/step/step_memory.h"
#include "dynamics/step/stepper.h"
#include "engine/lie.h"

namespace abut {

void ImpactRows::clear() {
  moved.clear();
  rows.rows.clear();
  rows.pairs.clear();
  pair_at_start.clear();
}

namespace {

/// A body on its way to an impact.
struct MovingBody {
  int body, slot;
  Vec6<double> V;  ///< [w_m; v*], or the twist of a body of infinite mass

  [[nodiscard]] Pose<double> pose_at(double time, const State& state) const {
    return retract<double>(state.X_WB[static_cast<std::size_t>(body)], time * V).normalized();
  }
};

MovingBody body_A(const RowPair& pair, const GrowableVector& v_free) {
  return {pair.body_A, pair.slot_A,
          pair.slot_A < 0 ? pair.V_A : Vec6<double>(v_free.segment<6>(6 * pair.slot_A))};
}
MovingBody body_B(const RowPair& pair, const GrowableVector& v_free) {
  return {pair.body_B, pair.slot_B,
          pair.slot_B < 0 ? pair.V_B : Vec6<double>(v_free.segment<6>(6 * pair.slot_B))};
}

/// Puts both bodies of a row where its impact finds them, for as long as this lives.
class AtImpact {
 public:
  AtImpact(const MovingBody& A, const MovingBody& B, double time, const State& state,
           std::vector<Pose<double>>& X_WB)
      : a_(static_cast<std::size_t>(A.body)),
        b_(static_cast<std::size_t>(B.body)),
        state_(state),
        X_WB_(X_WB) {
    X_WB_[a_] = A.pose_at(time, state);
    X_WB_[b_] = B.pose_at(time, state);
  }
  AtImpact(const AtImpact&) = delete;
  AtImpact& operator=(const AtImpact&) = delete;
  ~AtImpact() {
    X_WB_[a_] = state_.X_WB[a_];
    X_WB_[b_] = state_.X_WB[b_];
  }

 private:
  std::size_t a_, b_;
  const State& state_;
  std::vector<Pose<double>>& X_WB_;
};

/// Whether the distance of a pair's centres, or what its bodies of infinite mass add to velocities, changes
/// on the way to an impact.
bool has_its_own_shift(const RowPair& pair) {
  return (pair.slot_A >= 0 && pair.slot_B >= 0) || !pair.V_A.isZero(0.0) || !pair.V_B.isZero(0.0);
}

/// The moved rows of one pair, as pair_time() takes them.
std::span<const impact::PairImpact> pair_impacts(const ContactRows& start,
                                                 std::span<const ImpactRows::Moved> of_pair,
                                                 std::vector<impact::PairImpact>& impacts) {
  impacts.clear();
  for (const ImpactRows::Moved& moved : of_pair) {
    impacts.push_back(
        {start.rows[static_cast<std::size_t>(moved.row)].weight, moved.impact.share, moved.impact.closing});
  }
  return impacts;
}

/// f(moved rows of a pair) for each pair.
template <typename F>
void each_pair(const ContactRows& start, std::span<const ImpactRows::Moved> moved, const F& f) {
  const auto pair_of = [&](std::size_t k) { return start.rows[static_cast<std::size_t>(moved[k].row)].pair; };
  for (std::size_t begin = 0, end = 0; begin < moved.size(); begin = end) {
    for (end = begin; end < moved.size() && pair_of(end) == pair_of(begin); ++end) {
    }
    f(moved.subspan(begin, end - begin));
  }
}

/// The rows and pairs of the start, moved rows apart.
void split_pairs(const ContactRows& start, ImpactRows& out) {
  out.rows.rows = start.rows;
  std::size_t next = 0;
  for (std::size_t p = 0; p < start.pairs.size(); ++p) {
    const RowPair& pair = start.pairs[p];
    const auto add_pair = [&](int begin, int end) {
      if (begin == end) return;
      for (int i = begin; i < end; ++i)
        out.rows.rows[static_cast<std::size_t>(i)].pair = static_cast<int>(out.rows.pairs.size());
      RowPair& part = out.rows.pairs.emplace_back(pair);
      part.begin = begin;
      part.end = end;
      out.pair_at_start.push_back(static_cast<int>(p));
    };
    int begin = pair.begin;
    for (; next < out.moved.size() && out.moved[next].row < pair.end; ++next) {
      if (!has_its_own_shift(pair)) continue;
      const int row = out.moved[next].row;
      add_pair(begin, row);
      add_pair(row, row + 1);
      begin = row + 1;
    }
    add_pair(begin, pair.end);
  }
}

}  // namespace

void Stepper::move_to_impacts(const State& state, const ContactProblem& start,
                              const std::function<ContactFeature(int)>& feature_of, ImpactRowsMemory& memory,
                              ImpactRows& out) const {
  out.clear();
  const double impact_speed = solver_->law().impact_speed();
  if (impact_speed == 0.0) return;
  const impact::Settings settings = impact_settings(start, impact_speed);
  const ContactRows& rows = start.rows;
  bool is_split = start.joints.empty();
  for (const RowPair& pair : rows.pairs) {
    if (pair.material.restitution == 0.0) continue;
    const std::size_t first = out.moved.size();
    for (int i = pair.begin; i < pair.end; ++i) {
      const ContactRow& row = rows.rows[static_cast<std::size_t>(i)];
      if (row.contact < 0 || row.weight == 0.0) continue;
      const impact::Impact impact = impact_of_row(start, static_cast<std::size_t>(i), settings);
      if (impact.hit) out.moved.push_back({i, impact, feature_of(row.contact)});
    }
    const std::span of_pair = std::span(out.moved).subspan(first);
    if (of_pair.empty()) continue;
    const double time = impact::pair_time(pair_impacts(rows, of_pair, memory.impacts), start.h);
    if (!is_split && time > 0.0) {
      memory.islands.split(start);
      is_split = true;
    }
    if (!(time > 0.0) || (!start.joints.empty() && memory.islands.has_joints(pair))) {
      out.moved.resize(first);
      continue;
    }
    for (ImpactRows::Moved& moved : of_pair) moved.impact.time = time;
  }
  if (out.empty()) return;

  split_pairs(rows, out);
  memory.X_WB = state.X_WB;
  for (const ImpactRows::Moved& moved : out.moved) {
    ContactRow& row = out.rows.rows[static_cast<std::size_t>(moved.row)];
    const RowPair& pair = out.rows.pairs[static_cast<std::size_t>(row.pair)];
    const AtImpact bodies(body_A(pair, start.v_free), body_B(pair, start.v_free), moved.time(), state,
                          memory.X_WB);
    detector_->linearize(memory.X_WB, {&moved.feature, 1}, memory.contact, LinearizeFor::vjp);
    const Contact contact = memory.contact.contacts[0];
    row.impact_time = moved.impact.time;
    row.n = contact.normal_AB_W;
    row.r_A = contact.point_W - memory.X_WB[static_cast<std::size_t>(pair.body_A)].p;
    row.r_B = contact.point_W - memory.X_WB[static_cast<std::size_t>(pair.body_B)].p;
    row.drift = point_velocity(pair.V_B, row.r_B) - point_velocity(pair.V_A, row.r_A);
  }
}

void Stepper::find_kinks_at_impacts(const State& state, const SolvedSubstep& solved, ImpactRowsMemory& memory,
                                    std::vector<bool>& near_kink) const {
  const ImpactRows& impacts = solved.impacts;
  memory.X_WB = state.X_WB;
  for (const ImpactRows::Moved& moved : impacts.moved) {
    const auto i = static_cast<std::size_t>(moved.row);
    if (near_kink[i]) continue;
    const RowPair& pair = impacts.rows.pairs[static_cast<std::size_t>(impacts.rows.rows[i].pair)];
    const AtImpact bodies(body_A(pair, solved.free.v_free), body_B(pair, solved.free.v_free), moved.time(),
                          state, memory.X_WB);
    detector_->linearize(memory.X_WB, {&moved.feature, 1}, memory.contact, LinearizeFor::vjp);
    near_kink[i] = memory.contact.is_near_kink(0) ||
                   is_near_kink_of_shape(memory.X_WB, moved.feature,
                                         Contact(memory.contact.contacts[0]).signed_distance);
  }
}

void Stepper::impacts_vjp(const State& state, const SolvedSubstep& solved, const ContactProblem& start,
                          const StepBar& step_bar, ContactProblemBar& bar, StepMemory& scratch) const {
  const ImpactRows& impacts = solved.impacts;
  if (impacts.empty()) return;
  const impact::Settings settings = impact_settings(start, solver_->law().impact_speed());
  ImpactRowsMemory& memory = scratch.impacts;
  memory.X_WB = state.X_WB;
  memory.pose.assign(state.X_WB.size(), Vec6<double>::Zero());
  // Adds to everything but the impact, of which it returns dL/d(s t).
  const auto row_vjp = [&](const ImpactRows::Moved& moved) {
    const auto i = static_cast<std::size_t>(moved.row);
    const RowPair& pair = impacts.rows.pairs[static_cast<std::size_t>(impacts.rows.rows[i].pair)];
    const ContactRow& row = impacts.rows.rows[i];
    ContactRowBar& row_bar = bar.rows[i];
    const MovingBody A = body_A(pair, start.v_free), B = body_B(pair, start.v_free);
    const double time = moved.time();

    // dL/d(contact and poses at the impact)
    StateTangent& state_bar = *step_bar.state;
    Vec3<double> arm_bar[2] = {row_bar.r_A, row_bar.r_B};
    const auto drift_vjp = [&](const MovingBody& body, const Vec3<double>& r, double sign,
                               Vec3<double>& r_bar) {
      if (body.slot >= 0) return;
      const Vec3<double> v_bar = sign * row_bar.drift;
      r_bar += v_bar.cross(Vec3<double>(body.V.head<3>()));
      state_bar.twist[static_cast<std::size_t>(body.body)] += stack<double>(r.cross(v_bar), v_bar);
    };
    drift_vjp(A, row.r_A, -1.0, arm_bar[0]);
    drift_vjp(B, row.r_B, 1.0, arm_bar[1]);
    ContactBar contact_bar;
    contact_bar.point_W = arm_bar[0] + arm_bar[1];
    contact_bar.normal_AB_W = row_bar.n;
    {
      const AtImpact bodies(A, B, time, state, memory.X_WB);
      detector_->linearize(memory.X_WB, {&moved.feature, 1}, memory.contact, LinearizeFor::vjp);
      contacts_vjp(memory.X_WB, {&contact_bar, 1}, step_bar, memory.contact, memory.pose, scratch);
    }

    // Poses at the impact by those at the start, twists and s t_c
    double time_bar = 0.0;
    for (const int side : {0, 1}) {
      const MovingBody& body = side == 0 ? A : B;
      const auto b = static_cast<std::size_t>(body.body);
      Vec6<double> pose_bar = memory.pose[b];
      pose_bar.tail<3>() -= arm_bar[side];
      memory.pose[b].setZero();
      const Vec3<double> turn = time * body.V.head<3>();
      state_bar.pose[b] +=
          stack<double>(exp_so3<double>(turn).transpose() * pose_bar.head<3>(), pose_bar.tail<3>());
      const Vec6<double> way_bar =
          stack<double>(left_jacobian_so3<double>(turn).transpose() * pose_bar.head<3>(), pose_bar.tail<3>());
      time_bar += way_bar.dot(body.V);
      if (body.slot >= 0) {
        bar.v_free.segment<6>(6 * body.slot) += time * way_bar;
      } else {
        state_bar.twist[b] += time * way_bar;
      }
    }
    row_bar.r_A.setZero();
    row_bar.r_B.setZero();
    row_bar.n.setZero();
    row_bar.drift.setZero();
    return time_bar;
  };
  each_pair(start.rows, impacts.moved, [&](std::span<const ImpactRows::Moved> of_pair) {
    const std::span<const impact::PairImpact> members = pair_impacts(start.rows, of_pair, memory.impacts);
    std::vector<impact::PairImpact>& members_bar = memory.impacts_bar;
    members_bar.resize(members.size());
    std::vector<double>& share_bar = memory.share_bar;
    share_bar.clear();
    double time_bar = 0.0;
    for (const ImpactRows::Moved& moved : of_pair) {
      const double by_time = row_vjp(moved);
      share_bar.push_back(moved.impact.time * by_time);
      time_bar += bar.rows[static_cast<std::size_t>(moved.row)].impact_time + moved.impact.share * by_time;
    }
    bar.h += impact::pair_time_vjp(members, start.h, of_pair[0].impact.time, time_bar, members_bar);
    for (std::size_t k = 0; k < of_pair.size(); ++k) {
      const auto i = static_cast<std::size_t>(of_pair[k].row);
      const RowApproach approach(start, i, start.rows.rows[i]);
      bar.rows[i].weight += members_bar[k].weight;
      approach.vjp(impact::impact_vjp(approach.value, settings, of_pair[k].impact,
                                      {share_bar[k] + members_bar[k].share, members_bar[k].time, 0.0}),
                   bar.start_rows[i], bar.pairs[static_cast<std::size_t>(impacts.rows.rows[i].pair)], bar);
    }
  });

  // What is left is of rows and pairs at the start.
  for (std::size_t i = 0; i < bar.rows.size(); ++i) bar.rows[i] += bar.start_rows[i];
  bar.start_rows.clear();
  memory.pairs.assign(start.rows.pairs.size(), {});
  for (std::size_t p = 0; p < bar.pairs.size(); ++p)
    memory.pairs[static_cast<std::size_t>(impacts.pair_at_start[p])] += bar.pairs[p];
  std::swap(bar.pairs, memory.pairs);
}

void Stepper::impacts_jvp(const State& state, const SolvedSubstep& solved, const ContactProblem& start,
                          const StateTangent& state_dot, ContactProblemDot& dot, StepMemory& scratch) const {
  const ImpactRows& impacts = solved.impacts;
  dot.start_rows.clear();
  if (impacts.empty()) return;
  const impact::Settings settings = impact_settings(start, solver_->law().impact_speed());
  ImpactRowsMemory& memory = scratch.impacts;
  memory.X_WB = state.X_WB;
  memory.pose = state_dot.pose;
  memory.contact_dot.resize(1);
  dot.start_rows = dot.rows;
  memory.pairs.clear();
  for (const int pair : impacts.pair_at_start)
    memory.pairs.push_back(dot.pairs[static_cast<std::size_t>(pair)]);
  std::swap(dot.pairs, memory.pairs);
  const auto row_jvp = [&](const ImpactRows::Moved& moved, double time_dot) {
    const auto i = static_cast<std::size_t>(moved.row);
    const ContactRow& row = impacts.rows.rows[i];
    const RowPair& pair = impacts.rows.pairs[static_cast<std::size_t>(row.pair)];
    const MovingBody A = body_A(pair, start.v_free), B = body_B(pair, start.v_free);
    const double time = moved.time();

    Vec6<double> V_dot[2];
    for (const int side : {0, 1}) {
      const MovingBody& body = side == 0 ? A : B;
      const auto b = static_cast<std::size_t>(body.body);
      V_dot[side] = body.slot >= 0 ? Vec6<double>(dot.v_free.segment<6>(6 * body.slot)) : state_dot.twist[b];
      const Vec6<double> way_dot = time_dot * body.V + time * V_dot[side];
      const Vec3<double> turn = time * body.V.head<3>();
      memory.pose[b] = stack<double>(exp_so3<double>(turn) * state_dot.pose[b].head<3>() +
                                         left_jacobian_so3<double>(turn) * way_dot.head<3>(),
                                     state_dot.pose[b].tail<3>() + way_dot.tail<3>());
    }
    {
      const AtImpact bodies(A, B, time, state, memory.X_WB);
      detector_->linearize(memory.X_WB, {&moved.feature, 1}, memory.contact, LinearizeFor::both);
      detector_->jvp(memory.X_WB, memory.pose, memory.contact, memory.contact_dot);
    }
    const ContactBar& contact_dot = memory.contact_dot[0];
    ContactRowBar& row_dot = dot.rows[i];
    row_dot.n = contact_dot.normal_AB_W;
    row_dot.r_A = contact_dot.point_W - memory.pose[static_cast<std::size_t>(A.body)].tail<3>();
    row_dot.r_B = contact_dot.point_W - memory.pose[static_cast<std::size_t>(B.body)].tail<3>();
    row_dot.drift.setZero();
    const auto velocity_dot = [&](const MovingBody& body, const Vec6<double>& twist_dot,
                                  const Vec3<double>& r, const Vec3<double>& r_dot) -> Vec3<double> {
      if (body.slot >= 0) return Vec3<double>::Zero();
      return point_velocity(twist_dot, r) + Vec3<double>(body.V.head<3>()).cross(r_dot);
    };
    row_dot.drift += velocity_dot(B, V_dot[1], row.r_B, row_dot.r_B);
    row_dot.drift -= velocity_dot(A, V_dot[0], row.r_A, row_dot.r_A);
    for (const MovingBody& body : {A, B}) {
      const auto b = static_cast<std::size_t>(body.body);
      memory.pose[b] = state_dot.pose[b];
    }
  };
  each_pair(start.rows, impacts.moved, [&](std::span<const ImpactRows::Moved> of_pair) {
    std::vector<impact::PairImpact>& members_dot = memory.impacts_bar;
    members_dot.clear();
    for (const ImpactRows::Moved& moved : of_pair) {
      const auto i = static_cast<std::size_t>(moved.row);
      const RowApproach approach(start, i, start.rows.rows[i]);
      const PairMaterialBar& material_dot = dot.pairs[static_cast<std::size_t>(impacts.rows.rows[i].pair)];
      const impact::ImpactBar impact_dot =
          impact::impact_jvp(approach.value, settings, moved.impact,
                             approach.jvp(dot.start_rows[i], material_dot, dot.v_start, dot.v_free));
      members_dot.push_back({dot.start_rows[i].weight, impact_dot.share, impact_dot.time});
    }
    const double time = of_pair[0].impact.time,
                 time_dot = impact::pair_time_jvp(pair_impacts(start.rows, of_pair, memory.impacts), start.h,
                                                  time, members_dot);
    for (std::size_t k = 0; k < of_pair.size(); ++k) {
      dot.rows[static_cast<std::size_t>(of_pair[k].row)].impact_time = time_dot;
      row_jvp(of_pair[k], members_dot[k].share * time + of_pair[k].impact.share * time_dot);
    }
  });
}

}  // namespace abut
