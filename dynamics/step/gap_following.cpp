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
constexpr double k_slow = 0.1;                 // of that: what is followed to the end of the step
constexpr double k_onset = 0.05;               // of x
constexpr double k_least_weight = 1e-3;        // w up to which a followed contact fades in
constexpr double k_onset_of_depth = 0.5;       // of m
constexpr double k_least_closing = -0.4, k_closing_range = 0.2;  // of u_1/u

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

FollowingTime::FollowingTime(double d, double u, double h, double tau_p, double band, double depth) {
  if (!(u < 0.0 && d > -depth)) return;
  // How far it has begun: by d, in units of the motion, or by d + m, in units of m/2.
  const double way = -u * h, rest = (depth > 0.0 ? k_slow * k_rest : k_rest) * tau_p,
               by_gap = -0.5 / (band * k_onset), over = d + depth,
               begun_by_distance = depth > 0.0 ? 1.0 / (k_onset_of_depth * depth) : 1.0 / (k_begin * way);
  const double begun = over * begun_by_distance, moved = way / rest - 1.0, near = (d - way - band) * by_gap;
  const double begins = smoothstep5(begun), moves = smoothstep5(moved), nears = smoothstep5(near);
  amount = begins * moves * nears;
  turning = moves * nears;
  turning_by_distance = moves * smoothstep5_dx(near) * by_gap;
  turning_by_velocity = -h * (nears * smoothstep5_dx(moved) / rest - turning_by_distance);
  const double amount_by_begun = smoothstep5_dx(begun) * moves * nears,
               amount_by_gap = begins * moves * smoothstep5_dx(near) * by_gap,
               begun_by_way = depth > 0.0 ? 0.0 : -begun / way,
               amount_by_way = begins * smoothstep5_dx(moved) / rest * nears - amount_by_gap +
                               amount_by_begun * begun_by_way;
  amount_by_distance = amount_by_begun * begun_by_distance + amount_by_gap;
  amount_by_velocity = -h * amount_by_way;

  if (depth > 0.0) {
    value = h;
    return;
  }
  const double part = tau_p / (tau_p + d), reached = d * (1.0 - k_left * part) / way,
               reached_by_distance = (1.0 - k_left * part * part) / way;
  const double time = h * (reached - smooth_ramp(reached - 1.0, k_end)),
               time_by_reached = h * (1.0 - smooth_ramp_dx(reached - 1.0, k_end));
  value = amount * time;
  by_distance = amount_by_distance * time + amount * time_by_reached * reached_by_distance;
  by_velocity = amount_by_velocity * time + h * amount * time_by_reached * reached / way;
}

PassedShare::PassedShare(double distance, double closing, double facing, double depth) {
  const double range = k_onset_of_depth * depth, x = (distance + depth) / range,
               y = (closing - k_least_closing) / k_closing_range;
  const double apart = smoothstep5(x), closes = smoothstep5(y);
  value = apart * closes * facing;
  by_distance = smoothstep5_dx(x) / range * closes * facing;
  by_closing = apart * smoothstep5_dx(y) / k_closing_range * facing;
  by_facing = apart * closes;
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
  move(state, motion_of(state, mass, h, gap.start.feature), gap.place().time.value, memory);
  return memory.X_WB;
}

void GapFollowing::linearize(const State& state, const Motion& motion,
                             std::span<const ContactFeature> features, double time, LinearizeFor what_for,
                             FollowingMemory& memory) const {
  move(state, motion, time, memory);
  detector_->linearize(memory.X_WB, features, memory.there, what_for);
}

GapFollowing::GapFollowing(const Model& model, const ContactDetector& detector)
    : model_(&model), detector_(&detector), edge_vertices_(model) {}

bool GapFollowing::may_pass(const ContactFeature& feature) const {
  return edge_vertices_.contains(feature) &&
         detector_->sdf(feature.feature_A >= 0 ? feature.body_B : feature.body_A).is_convex();
}

void GapFollowing::set_row(double h, FollowedGap& gap, int which) {
  FollowedGap::Place& place = gap.places[which];
  const double time = place.time.value, w = gap.start.weight;
  place.turning_time = 0.5 * place.time.turning * (h * h - time * time);
  const Vec3<double>& n = place.there.normal_AB_W;
  place.closing = n.dot(gap.velocity);
  place.there.signed_distance += place.turning_time * n.dot(gap.turning_away) - time * place.closing;
  const double there = place.there.weight, fade = smoothstep5(w / k_least_weight),
               fade_slope = smoothstep5_dx(w / k_least_weight) / k_least_weight,
               amount = which == 0 ? place.time.amount : 1.0;
  place.weight_by_there = amount * fade;
  place.weight_by_start = 1.0 - amount + amount * fade_slope * there;
  place.weight_by_amount = which == 0 ? fade * there - w : 0.0;
  place.there.weight = (1.0 - amount) * w + amount * fade * there;
}

void GapFollowing::find_contacts(const State& state, const Motion& motion, double time,
                                 std::span<FollowedGap> gaps, FollowingMemory& memory) const {
  memory.features.clear();
  for (const FollowedGap& gap : gaps) {
    if (gap.is_evaluated_at(time)) memory.features.push_back(gap.start.feature);
  }
  if (memory.features.empty()) return;
  linearize(state, motion, memory.features, time, LinearizeFor::values, memory);
  std::size_t next = 0;
  for (FollowedGap& gap : gaps) {
    if (!gap.is_evaluated_at(time)) continue;
    const Contact there = memory.there.contacts[next++];
    for (FollowedGap::Place& place : gap.places) {
      if (place.is_evaluated_at(time)) place.there = there;
    }
  }
}

void GapFollowing::evaluate(const State& state, const Motion& motion, double h, double depth,
                            std::span<FollowedGap> gaps, FollowingMemory& memory) const {
  find_contacts(state, motion, h, gaps, memory);
  for (FollowedGap& gap : gaps) {
    auto& [before, end] = gap.places;
    if (end.share > 0.0) {
      const double distance = end.there.signed_distance;
      set_row(h, gap, 1);
      gap.facing = edge_vertices_.facing(gap.start.feature, end.there.normal_AB_W, memory.X_WB);
      gap.passed = PassedShare(distance, end.closing / gap.start_closing, gap.facing.value, depth);
      end.share = end.time.amount * gap.passed.value;
    }
    before.share = 1.0 - end.share;
  }
  find_contacts(state, motion, 0.0, gaps, memory);
  for (FollowedGap& gap : gaps) {
    FollowedGap::Place& before = gap.places[0];
    if (before.share == 0.0) continue;
    if (before.time.value != 0.0 && before.time.value != h)
      find_contacts(state, motion, before.time.value, {&gap, 1}, memory);
    set_row(h, gap, 0);
  }
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
    const double tau_p = pair.activity_smoothing, band = 4.0 * (tau_p + settings.resting_band),
                 depth = k_followed_depth * tau_p;
    double fastest = (motion.V[1] - motion.V[0]).tail<3>().norm();  // at most, of -u
    for (int side = 0; side < 2; ++side) {
      const double spin =
          motion.V[side].head<3>().norm();  // 0 of what reaches without end, for the most part
      if (spin > 0.0) fastest += spin * (detector_->reach(motion.body[side]) + band);
    }
    if (!(fastest * h > k_slow * k_rest * tau_p)) continue;
    const std::size_t first = gaps.size();
    for (int i = pair.begin; i < pair.end; ++i) {
      const double d = block.number(k_contact_distance, i), w = block.number(k_contact_weight, i);
      if (!(d > -depth && w > 0.0)) continue;
      const Vec3<double> n = block.vector(k_contact_normal, i), x = block.vector(k_contact_point, i),
                         U = Motion::relative(motion.V, {x - centers[0], x - centers[1]});
      const double u = n.dot(U);
      if (!(-u * h > k_slow * k_rest * tau_p && d + h * u < band)) continue;
      const ContactFeature feature = contacts.feature(at(i));
      if (feature.kind != ContactKind::vertex_sdf && feature.kind != ContactKind::edge_edge) continue;
      const bool may_pass = this->may_pass(feature);
      if (!may_pass && !(d > 0.0 && -u * h > k_rest * tau_p)) continue;
      FollowedGap& gap = gaps.emplace_back();
      gap.start = contacts[at(i)];
      gap.contact = i;
      gap.velocity = U;
      gap.start_closing = u;
      gap.turning_away = turning_of(*model_, gap, motion.V, centers).value();
      auto& [before, end] = gap.places;
      before.time = FollowingTime(d, u, h, tau_p, band);
      before.share = 1.0;
      if (may_pass) end.time = FollowingTime(d, u, h, tau_p, band, depth);
      end.share = end.time.amount;
    }
    if (gaps.size() == first) continue;
    if (memory.X_WB.empty()) memory.X_WB = state.X_WB;
    const auto of_pair = std::span(gaps).subspan(first);
    evaluate(state, motion, h, depth, of_pair, memory);
    for (const FollowedGap& gap : of_pair) {
      const auto& [before, end] = gap.places;
      const auto mean = [&](const auto& number) {
        return before.share == 0.0 ? number(end.there)
               : end.share == 0.0  ? number(before.there)
                                   : before.share * number(before.there) + end.share * number(end.there);
      };
      Vec3<double> normal;
      for (int axis = 0; axis < 3; ++axis)
        normal[axis] = mean([&](const Contact& there) { return there.normal_AB_W[axis]; });
      block.set_vector(k_contact_normal, gap.contact, normal);
      block.set_number(k_contact_distance, gap.contact,
                       mean([](const Contact& there) { return there.signed_distance; }));
      block.set_number(k_contact_weight, gap.contact,
                       mean([](const Contact& there) { return there.weight; }));
      block.set_number(k_contact_area, gap.contact, mean([](const Contact& there) { return there.area; }));
    }
    for (const int body : motion.body) memory.X_WB[at(body)] = state.X_WB[at(body)];
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
    ContactBar& start_bar = contacts[at(gap.contact)];
    const ContactBar bar = start_bar;  // of the mean of both places
    start_bar.signed_distance = start_bar.weight = start_bar.area = 0.0;
    start_bar.normal_AB_W.setZero();
    const Motion motion = motion_of(state, mass, h, gap.start.feature);
    const TurningAway turning = turning_of(
        *model_, gap, motion.V, {state.X_WB[at(motion.body[0])].p, state.X_WB[at(motion.body[1])].p});
    const Contact &before = gap.places[0].there, &end = gap.places[1].there;
    const double share_bar = gap.places[0].share == 0.0 || gap.places[1].share == 0.0
                                 ? 0.0
                                 : bar.signed_distance * (end.signed_distance - before.signed_distance) +
                                       bar.normal_AB_W.dot(end.normal_AB_W - before.normal_AB_W) +
                                       bar.weight * (end.weight - before.weight) +
                                       bar.area * (end.area - before.area);
    Vec3<double> U_bar = Vec3<double>::Zero();
    double start_closing_bar = 0.0;
    Vec6<double> V_bar[2] = {Vec6<double>::Zero(), Vec6<double>::Zero()};
    TurningAway of_turning;
    of_turning.U.setZero();
    for (int side = 0; side < 2; ++side) {
      of_turning.w[side].setZero();
      of_turning.arms[side].setZero();
    }
    for (int which = 0; which < 2; ++which) {
      const FollowedGap::Place& place = gap.places[which];
      if (place.share == 0.0) continue;
      const double time = place.time.value, row_bar = place.share * bar.signed_distance,
                   closing_bar = -time * row_bar;
      linearize(state, motion, {&gap.start.feature, 1}, time, LinearizeFor::vjp, memory);
      const Vec3<double> n_there = memory.there.contacts[0].normal_AB_W;
      const double turning_time_bar = row_bar * n_there.dot(gap.turning_away),
                   turning_bar = 0.5 * (h * h - time * time) * turning_time_bar;
      double time_bar = -place.closing * row_bar - time * place.time.turning * turning_time_bar;
      ContactBar there;
      there.signed_distance = row_bar;
      there.normal_AB_W = place.share * bar.normal_AB_W + closing_bar * gap.velocity +
                          place.turning_time * row_bar * gap.turning_away;
      there.weight = place.share * bar.weight * place.weight_by_there;
      there.area = place.share * bar.area;
      double amount_bar = place.share * bar.weight * place.weight_by_amount;
      if (which == 1) {
        const double passed_bar = share_bar * place.time.amount,
                     ratio_bar = passed_bar * gap.passed.by_closing / gap.start_closing;
        const int owner = gap.start.feature.feature_A >= 0 ? 0 : 1;
        const Vec3<double> facing_bar = passed_bar * gap.passed.by_facing * gap.facing.by_normal;
        amount_bar = share_bar * gap.passed.value;
        there.signed_distance += passed_bar * gap.passed.by_distance;
        there.normal_AB_W += facing_bar + ratio_bar * gap.velocity;
        U_bar += ratio_bar * n_there;
        start_closing_bar -= ratio_bar * place.closing / gap.start_closing;
        memory.poses[at(motion.body[owner])].head<3>() += facing_bar.cross(n_there);
      }
      contacts_vjp(*detector_, memory.X_WB, {&there, 1}, step_bar, memory.there, memory.poses, geometry);
      for (int side = 0; side < 2; ++side) {
        // X' = (Exp(tau w) R, p + tau v)
        const std::size_t b = at(motion.body[side]);
        const Vec6<double> pose_bar = std::exchange(memory.poses[b], Vec6<double>::Zero());
        const Vec3<double> turn = time * motion.V[side].head<3>();
        state_bar.pose[b] +=
            stack<double>(exp_so3<double>(turn).transpose() * pose_bar.head<3>(), pose_bar.tail<3>());
        const Vec6<double> way_bar = stack<double>(
            left_jacobian_so3<double>(turn).transpose() * pose_bar.head<3>(), pose_bar.tail<3>());
        V_bar[side] += time * way_bar;
        time_bar += way_bar.dot(motion.V[side]);
      }
      const TurningAway of_place = turning.vjp(place.turning_time * row_bar * n_there);
      for (int side = 0; side < 2; ++side) {
        of_turning.w[side] += of_place.w[side];
        of_turning.arms[side] += of_place.arms[side];
      }
      of_turning.U += of_place.U;
      start_closing_bar += time_bar * place.time.by_velocity + amount_bar * place.time.amount_by_velocity +
                           turning_bar * place.time.turning_by_velocity;
      start_bar.signed_distance += time_bar * place.time.by_distance +
                                   amount_bar * place.time.amount_by_distance +
                                   turning_bar * place.time.turning_by_distance;
      start_bar.weight += place.share * bar.weight * place.weight_by_start;
      U_bar += closing_bar * n_there;
    }
    U_bar += start_closing_bar * gap.start.normal_AB_W + of_turning.U;
    start_bar.normal_AB_W = start_closing_bar * gap.velocity;
    for (int side = 0; side < 2; ++side) {
      const std::size_t b = at(motion.body[side]);
      const Vec3<double> force = side == 0 ? Vec3<double>(-U_bar) : U_bar,
                         arm = gap.start.point_W - state.X_WB[b].p,
                         arm_bar = force.cross(motion.V[side].head<3>()) + of_turning.arms[side];
      V_bar[side] += stack<double>(arm.cross(force) + of_turning.w[side], force);
      start_bar.point_W += arm_bar;
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
    const Vec3<double> turned = turning.jvp(turning_dot);
    const double start_closing_dot = dot.normal_AB_W.dot(gap.velocity) + gap.start.normal_AB_W.dot(U_dot),
                 start_distance_dot = dot.signed_distance, start_weight_dot = dot.weight;
    dot.signed_distance = dot.weight = dot.area = 0.0;
    dot.normal_AB_W.setZero();
    for (int which = 0; which < 2; ++which) {
      const FollowedGap::Place& place = gap.places[which];
      if (place.share == 0.0) continue;
      const double time = place.time.value;
      linearize(state, motion, {&gap.start.feature, 1}, time, LinearizeFor::both, memory);
      const double amount_dot = place.time.amount_by_distance * start_distance_dot +
                                place.time.amount_by_velocity * start_closing_dot,
                   time_dot = place.time.by_distance * start_distance_dot +
                              place.time.by_velocity * start_closing_dot;
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
      const Vec3<double>& n_there = memory.there.contacts[0].normal_AB_W;
      const double closing_dot = there.normal_AB_W.dot(gap.velocity) + n_there.dot(U_dot);
      const double turning_time_dot = 0.5 * (h * h - time * time) *
                                          (place.time.turning_by_distance * start_distance_dot +
                                           place.time.turning_by_velocity * start_closing_dot) -
                                      place.time.turning * time * time_dot;
      const double distance_dot = there.signed_distance;
      there.signed_distance +=
          turning_time_dot * n_there.dot(gap.turning_away) - time_dot * place.closing - time * closing_dot +
          place.turning_time * (there.normal_AB_W.dot(gap.turning_away) + n_there.dot(turned));
      there.weight = place.weight_by_there * there.weight + place.weight_by_start * start_weight_dot +
                     place.weight_by_amount * amount_dot;
      dot.signed_distance += place.share * there.signed_distance;
      dot.normal_AB_W += place.share * there.normal_AB_W;
      dot.weight += place.share * there.weight;
      dot.area += place.share * there.area;
      if (which == 1 && gap.places[0].share > 0.0) {
        const int owner = gap.start.feature.feature_A >= 0 ? 0 : 1;
        const Vec3<double> turn = memory.poses[at(motion.body[owner])].head<3>();
        const Vec3<double>& by_normal = gap.facing.by_normal;
        const double facing_dot = by_normal.dot(there.normal_AB_W) + turn.cross(by_normal).dot(n_there),
                     ratio_dot = (closing_dot - place.closing / gap.start_closing * start_closing_dot) /
                                 gap.start_closing,
                     share_dot = gap.passed.value * amount_dot +
                                 place.time.amount *
                                     (gap.passed.by_distance * distance_dot +
                                      gap.passed.by_closing * ratio_dot + gap.passed.by_facing * facing_dot);
        const Contact &before = gap.places[0].there, &end = place.there;
        dot.signed_distance += share_dot * (end.signed_distance - before.signed_distance);
        dot.normal_AB_W += share_dot * (end.normal_AB_W - before.normal_AB_W);
        dot.weight += share_dot * (end.weight - before.weight);
        dot.area += share_dot * (end.area - before.area);
      }
    }
    for (const int body : motion.body) {
      memory.poses[at(body)].setZero();
      memory.X_WB[at(body)] = state.X_WB[at(body)];
    }
  }
}

}  // namespace abut
