#include "dynamics/step/gap_following.h"

#include <algorithm>
#include <utility>

#include "collision/manifold/slid_vertices.h"
#include "dynamics/motion/fixed_motion.h"
#include "dynamics/step/contacts_vjp.h"
#include "engine/lie.h"
#include "engine/smooth.h"

namespace abut {
namespace {

constexpr double k_left = 0.01;                // of d, and of tau_p: how far from its plane a contact stays
constexpr double k_begin = 0.02, k_end = 0.1;  // of c
constexpr double k_rest = 0.03;                // of tau_p
constexpr double k_onset = 0.05;               // of x
constexpr double k_least_weight = 1e-3;        // w up to which a followed contact fades in

/// The side whose solid a vertex meets where it is; -1 of other features, whose places on their bodies change.
int solid_of_vertex(const Model& model, const ContactFeature& feature) {
  if (feature.kind != ContactKind::vertex_sdf) return -1;
  const int owner = feature.feature_A >= 0 ? 0 : 1;
  const Body& body = model.bodies[at(owner == 0 ? feature.body_A : feature.body_B)];
  return body.contact_points_on_surface && !is_slid_vertex(body, feature) ? 1 - owner : -1;
}

/// U_t: w_B x (w_B x r_B) - w_A x (w_A x r_A) - 2 w_S x U.
struct TurningAway {
  int solid = -1;  ///< S, a side; -1: U_t is 0
  Vec3<double> w[2], arms[2], U;

  [[nodiscard]] static Vec3<double> towards_axis(const Vec3<double>& w, const Vec3<double>& r) {
    return w.cross(Vec3<double>(w.cross(r)));
  }
  [[nodiscard]] Vec3<double> value() const {
    if (solid < 0) return Vec3<double>::Zero();
    return towards_axis(w[1], arms[1]) - towards_axis(w[0], arms[0]) - 2.0 * w[solid].cross(U);
  }
  /// d value of changes of w, arms and U.
  [[nodiscard]] Vec3<double> jvp(const TurningAway& dot) const {
    Vec3<double> result = Vec3<double>::Zero();
    if (solid < 0) return result;
    for (int side = 0; side < 2; ++side) {
      const Vec3<double> changed = dot.w[side].cross(Vec3<double>(w[side].cross(arms[side]))) +
                                   w[side].cross(Vec3<double>(dot.w[side].cross(arms[side]))) +
                                   towards_axis(w[side], dot.arms[side]);
      result += side == 1 ? changed : Vec3<double>(-changed);
    }
    return result - 2.0 * (dot.w[solid].cross(U) + w[solid].cross(dot.U));
  }
  /// dL/d(w, arms, U) from dL/d value.
  [[nodiscard]] TurningAway vjp(const Vec3<double>& bar) const {
    TurningAway result;
    result.U = solid < 0 ? Vec3<double>(Vec3<double>::Zero()) : Vec3<double>(-2.0 * bar.cross(w[solid]));
    for (int side = 0; side < 2; ++side) {
      const Vec3<double> of_side =
          solid < 0 ? Vec3<double>(Vec3<double>::Zero()) : Vec3<double>(side == 1 ? bar : Vec3<double>(-bar));
      result.w[side] = Vec3<double>(w[side].cross(arms[side])).cross(of_side) +
                       arms[side].cross(Vec3<double>(of_side.cross(w[side])));
      result.arms[side] = towards_axis(w[side], of_side);
    }
    if (solid >= 0) result.w[solid] -= 2.0 * U.cross(bar);
    return result;
  }
};

/// Of a gap whose contact and U at the start are known.
///
/// @param V, centers  twists and centres of mass of both sides
TurningAway turning_of(const Model& model, const FollowedGap& gap, const Vec6<double> (&V)[2],
                       const Vec3<double> (&centers)[2]) {
  TurningAway turning;
  turning.solid = solid_of_vertex(model, gap.start.feature);
  turning.U = gap.velocity;
  for (int side = 0; side < 2; ++side) {
    turning.w[side] = V[side].head<3>();
    turning.arms[side] = gap.start.point_W - centers[side];
  }
  return turning;
}

}  // namespace

FollowingTime::FollowingTime(double d, double u, double h, double tau_p, double band) {
  if (!(u < 0.0 && d > 0.0)) return;
  const double way = -u * h, c = d / way, rest = k_rest * tau_p, by_gap = -0.5 / (band * k_onset);
  const double begun = c / k_begin, moved = way / rest - 1.0, near = (d - way - band) * by_gap;
  const double begins = smoothstep5(begun), moves = smoothstep5(moved), nears = smoothstep5(near);
  amount = begins * moves * nears;
  turning = moves * nears;
  turning_by_distance = moves * smoothstep5_dx(near) * by_gap;
  turning_by_velocity = -h * (nears * smoothstep5_dx(moved) / rest - turning_by_distance);
  const double amount_by_c = smoothstep5_dx(begun) / k_begin * moves * nears,
               amount_by_gap = begins * moves * smoothstep5_dx(near) * by_gap,
               amount_by_way =
                   begins * smoothstep5_dx(moved) / rest * nears - amount_by_gap - amount_by_c * c / way;
  amount_by_distance = amount_by_c / way + amount_by_gap;
  amount_by_velocity = -h * amount_by_way;

  const double part = tau_p / (tau_p + d), reached = d * (1.0 - k_left * part) / way,
               reached_by_distance = (1.0 - k_left * part * part) / way;
  const double time = h * (reached - smooth_ramp(reached - 1.0, k_end)),
               time_by_reached = h * (1.0 - smooth_ramp_dx(reached - 1.0, k_end));
  value = amount * time;
  by_distance = amount_by_distance * time + amount * time_by_reached * reached_by_distance;
  by_velocity = amount_by_velocity * time + h * amount * time_by_reached * reached / way;
}

struct GapFollowing::Motion {
  int body[2];
  Vec6<double> V[2];

  /// Velocity of B's contact point relative to A's.
  [[nodiscard]] static Vec3<double> relative(const Vec6<double> (&V)[2], const Vec3<double> (&arms)[2]) {
    return V[1].tail<3>() + V[1].head<3>().cross(arms[1]) - V[0].tail<3>() - V[0].head<3>().cross(arms[0]);
  }
};

GapFollowing::Motion GapFollowing::motion_of(const State& state, const MassMatrix& mass, double h,
                                             const ContactFeature& feature) const {
  Motion motion{{feature.body_A, feature.body_B}, {}};
  for (int side = 0; side < 2; ++side) {
    const int body = motion.body[side];
    motion.V[side] = mass.slot(body) < 0 ? fixed_twist(*model_, state, h, body) : state.V_WB[at(body)];
  }
  return motion;
}

void GapFollowing::move(const State& state, const Motion& motion, double time, FollowingMemory& memory) {
  for (int side = 0; side < 2; ++side) {
    const std::size_t b = at(motion.body[side]);
    memory.X_WB[b] = retract<double>(state.X_WB[b], time * motion.V[side]).normalized();
  }
}

std::span<const Pose<double>> GapFollowing::poses(const State& state, const MassMatrix& mass, double h,
                                                  const FollowedGap& gap, FollowingMemory& memory) const {
  memory.X_WB = state.X_WB;
  move(state, motion_of(state, mass, h, gap.start.feature), gap.time.value, memory);
  return memory.X_WB;
}

void GapFollowing::linearize(const State& state, const Motion& motion, const ContactFeature& feature,
                             double time, LinearizeFor what_for, FollowingMemory& memory) const {
  move(state, motion, time, memory);
  detector_->linearize(memory.X_WB, {&feature, 1}, memory.there, what_for);
}

void GapFollowing::follow(const State& state, const MassMatrix& mass, const RowSettings& settings,
                          std::span<const ContactPair> pairs, ContactList& contacts,
                          std::vector<FollowedGap>& gaps, FollowingMemory& memory) const {
  gaps.clear();
  memory.X_WB.clear();
  const double h = settings.h;
  ContactBlock<double>& block = contacts.block();
  for (const ContactPair& pair : pairs) {
    if (pair.end == pair.begin) continue;
    const Motion motion = motion_of(state, mass, h, contacts.feature(at(pair.begin)));
    const Vec3<double> centers[2] = {state.X_WB[at(motion.body[0])].p, state.X_WB[at(motion.body[1])].p};
    const double tau_p = pair.activity_smoothing, band = 4.0 * (tau_p + settings.resting_band);
    if ((motion.V[1] - motion.V[0]).isZero(0.0) && motion.V[0].head<3>().isZero(0.0)) continue;
    for (int i = pair.begin; i < pair.end; ++i) {
      const double d = block.number(k_contact_distance, i), w = block.number(k_contact_weight, i);
      if (!(d > 0.0 && w > 0.0)) continue;
      const Vec3<double> n = block.vector(k_contact_normal, i), x = block.vector(k_contact_point, i),
                         U = Motion::relative(motion.V, {x - centers[0], x - centers[1]});
      const double u = n.dot(U);
      if (!(-u * h > k_rest * tau_p && d + h * u < band)) continue;
      const ContactFeature feature = contacts.feature(at(i));
      if (feature.kind != ContactKind::vertex_sdf && feature.kind != ContactKind::edge_edge) continue;
      if (memory.X_WB.empty()) memory.X_WB = state.X_WB;
      FollowedGap& gap = gaps.emplace_back();
      gap.start = contacts[at(i)];
      gap.contact = i;
      gap.time = FollowingTime(d, u, h, tau_p, band);
      gap.velocity = U;
      gap.turning_away = turning_of(*model_, gap, motion.V, centers).value();
      gap.turning_time = 0.5 * gap.time.turning * (h * h - gap.time.value * gap.time.value);
      linearize(state, motion, feature, gap.time.value, LinearizeFor::vjp, memory);
      const Contact there = memory.there.contacts[0];
      gap.closing = there.normal_AB_W.dot(U);
      const double amount = gap.time.amount, fade = smoothstep5(w / k_least_weight);
      gap.weight_by_there = amount * fade;
      gap.weight_by_start =
          1.0 - amount + amount * smoothstep5_dx(w / k_least_weight) / k_least_weight * there.weight;
      gap.weight_by_amount = fade * there.weight - w;
      block.set_vector(k_contact_normal, i, there.normal_AB_W);
      block.set_number(k_contact_distance, i,
                       there.signed_distance - gap.time.value * gap.closing +
                           gap.turning_time * there.normal_AB_W.dot(gap.turning_away));
      block.set_number(k_contact_weight, i, w + amount * gap.weight_by_amount);
      block.set_number(k_contact_area, i, there.area);
    }
    for (const int body : motion.body) {
      if (!memory.X_WB.empty()) memory.X_WB[at(body)] = state.X_WB[at(body)];
    }
  }
}

void GapFollowing::restore(std::span<const FollowedGap> gaps, ContactList& contacts) {
  ContactBlock<double>& block = contacts.block();
  for (const FollowedGap& gap : gaps) {
    block.set_vector(k_contact_normal, gap.contact, gap.start.normal_AB_W);
    block.set_number(k_contact_distance, gap.contact, gap.start.signed_distance);
    block.set_number(k_contact_weight, gap.contact, gap.start.weight);
    block.set_number(k_contact_area, gap.contact, gap.start.area);
  }
}

void GapFollowing::vjp(const State& state, const MassMatrix& mass, double h,
                       std::span<const FollowedGap> gaps, std::span<ContactBar> contacts,
                       const StepBar& step_bar, std::vector<GeometryGradient>& geometry,
                       FollowingMemory& memory) const {
  StateTangent& state_bar = *step_bar.state;
  memory.X_WB = state.X_WB;
  memory.poses.assign(state.X_WB.size(), Vec6<double>::Zero());
  for (const FollowedGap& gap : gaps) {
    ContactBar& bar = contacts[at(gap.contact)];
    const Motion motion = motion_of(state, mass, h, gap.start.feature);
    const double time = gap.time.value, closing_bar = -time * bar.signed_distance;
    linearize(state, motion, gap.start.feature, time, LinearizeFor::vjp, memory);
    const Vec3<double> n_there = memory.there.contacts[0].normal_AB_W;
    const double turning_time_bar = bar.signed_distance * n_there.dot(gap.turning_away),
                 turning_bar = 0.5 * (h * h - time * time) * turning_time_bar;
    double time_bar = -gap.closing * bar.signed_distance - time * gap.time.turning * turning_time_bar;
    ContactBar there;
    there.signed_distance = bar.signed_distance;
    there.normal_AB_W = bar.normal_AB_W + closing_bar * gap.velocity +
                        gap.turning_time * bar.signed_distance * gap.turning_away;
    there.weight = bar.weight * gap.weight_by_there;
    there.area = bar.area;
    const double amount_bar = bar.weight * gap.weight_by_amount;
    contacts_vjp(*detector_, memory.X_WB, {&there, 1}, step_bar, memory.there, memory.poses, geometry);
    Vec6<double> V_bar[2];
    for (int side = 0; side < 2; ++side) {
      // X' = (Exp(tau w) R, p + tau v)
      const std::size_t b = at(motion.body[side]);
      const Vec6<double> pose_bar = std::exchange(memory.poses[b], Vec6<double>::Zero());
      const Vec3<double> turn = time * motion.V[side].head<3>();
      state_bar.pose[b] +=
          stack<double>(exp_so3<double>(turn).transpose() * pose_bar.head<3>(), pose_bar.tail<3>());
      const Vec6<double> way_bar =
          stack<double>(left_jacobian_so3<double>(turn).transpose() * pose_bar.head<3>(), pose_bar.tail<3>());
      V_bar[side] = time * way_bar;
      time_bar += way_bar.dot(motion.V[side]);
    }
    const TurningAway turning = turning_of(
        *model_, gap, motion.V, {state.X_WB[at(motion.body[0])].p, state.X_WB[at(motion.body[1])].p});
    const TurningAway of_turning = turning.vjp(gap.turning_time * bar.signed_distance * n_there);
    const double start_closing_bar = time_bar * gap.time.by_velocity +
                                     amount_bar * gap.time.amount_by_velocity +
                                     turning_bar * gap.time.turning_by_velocity;
    const Vec3<double> U_bar =
        closing_bar * n_there + start_closing_bar * gap.start.normal_AB_W + of_turning.U;
    bar.signed_distance = time_bar * gap.time.by_distance + amount_bar * gap.time.amount_by_distance +
                          turning_bar * gap.time.turning_by_distance;
    bar.normal_AB_W = start_closing_bar * gap.velocity;
    bar.weight *= gap.weight_by_start;
    bar.area = 0.0;
    for (int side = 0; side < 2; ++side) {
      const std::size_t b = at(motion.body[side]);
      const Vec3<double> force = side == 0 ? Vec3<double>(-U_bar) : U_bar,
                         arm = gap.start.point_W - state.X_WB[b].p,
                         arm_bar = force.cross(motion.V[side].head<3>()) + of_turning.arms[side];
      V_bar[side] += stack<double>(arm.cross(force) + of_turning.w[side], force);
      bar.point_W += arm_bar;
      state_bar.pose[b].tail<3>() -= arm_bar;
      state_bar.twist[b] += V_bar[side];
      memory.X_WB[b] = state.X_WB[b];
    }
  }
}

void GapFollowing::jvp(const State& state, const MassMatrix& mass, double h,
                       std::span<const FollowedGap> gaps, const StateTangent& state_dot,
                       std::span<ContactBar> contacts, FollowingMemory& memory) const {
  memory.X_WB = state.X_WB;
  memory.poses.assign(state.X_WB.size(), Vec6<double>::Zero());
  for (const FollowedGap& gap : gaps) {
    ContactBar& dot = contacts[at(gap.contact)];
    const Motion motion = motion_of(state, mass, h, gap.start.feature);
    const double time = gap.time.value;
    linearize(state, motion, gap.start.feature, time, LinearizeFor::both, memory);
    const TurningAway turning = turning_of(
        *model_, gap, motion.V, {state.X_WB[at(motion.body[0])].p, state.X_WB[at(motion.body[1])].p});
    TurningAway turning_dot;
    Vec3<double> U_dot = Vec3<double>::Zero();
    for (int side = 0; side < 2; ++side) {
      const std::size_t b = at(motion.body[side]);
      const Vec6<double>&V = motion.V[side], &V_dot = state_dot.twist[b];
      const Vec3<double> arm = gap.start.point_W - state.X_WB[b].p,
                         arm_dot = dot.point_W - state_dot.pose[b].tail<3>();
      const Vec3<double> of_side = V_dot.tail<3>() + V_dot.head<3>().cross(arm) + V.head<3>().cross(arm_dot);
      U_dot += side == 0 ? Vec3<double>(-of_side) : of_side;
      turning_dot.w[side] = V_dot.head<3>();
      turning_dot.arms[side] = arm_dot;
    }
    turning_dot.U = U_dot;
    const double start_closing_dot = dot.normal_AB_W.dot(gap.velocity) + gap.start.normal_AB_W.dot(U_dot);
    const double start_distance_dot = dot.signed_distance,
                 amount_dot = gap.time.amount_by_distance * start_distance_dot +
                              gap.time.amount_by_velocity * start_closing_dot,
                 time_dot =
                     gap.time.by_distance * start_distance_dot + gap.time.by_velocity * start_closing_dot;
    for (int side = 0; side < 2; ++side) {
      const std::size_t b = at(motion.body[side]);
      const Vec3<double> turn = time * motion.V[side].head<3>();
      const Vec6<double> way_dot = time_dot * motion.V[side] + time * state_dot.twist[b];
      const Vec6<double>& pose_dot = state_dot.pose[b];
      memory.poses[b] = stack<double>(
          exp_so3<double>(turn) * pose_dot.head<3>() + left_jacobian_so3<double>(turn) * way_dot.head<3>(),
          pose_dot.tail<3>() + way_dot.tail<3>());
    }
    ContactBar there;
    detector_->jvp(memory.X_WB, memory.poses, memory.there, {&there, 1});
    const double closing_dot =
        there.normal_AB_W.dot(gap.velocity) + memory.there.contacts[0].normal_AB_W.dot(U_dot);
    const Vec3<double>& n_there = memory.there.contacts[0].normal_AB_W;
    const double turning_time_dot = 0.5 * (h * h - time * time) *
                                        (gap.time.turning_by_distance * start_distance_dot +
                                         gap.time.turning_by_velocity * start_closing_dot) -
                                    gap.time.turning * time * time_dot;
    dot.signed_distance =
        there.signed_distance - time_dot * gap.closing - time * closing_dot +
        turning_time_dot * n_there.dot(gap.turning_away) +
        gap.turning_time * (there.normal_AB_W.dot(gap.turning_away) + n_there.dot(turning.jvp(turning_dot)));
    dot.normal_AB_W = there.normal_AB_W;
    dot.weight = gap.weight_by_there * there.weight + gap.weight_by_start * dot.weight +
                 gap.weight_by_amount * amount_dot;
    dot.area = there.area;
    for (const int body : motion.body) {
      memory.poses[at(body)].setZero();
      memory.X_WB[at(body)] = state.X_WB[at(body)];
    }
  }
}

}  // namespace abut
