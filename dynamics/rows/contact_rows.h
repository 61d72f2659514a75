/// What the laws see of a contact: lever arms, relative velocity, its share of the pair's stiffness, its
/// material.
///
/// Contacts that are expected to touch are the *members* of their pair. Unless the pair asks for a reduction
/// (contact_reduction.h), each is a row; else the rows are what is left after it, w S(...) below being the
/// members' activity.
///
/// The share makes the pair's response independent of how finely its bodies are meshed:
///     g = p + h u_n            penetration expected after the step, with the velocities at its start
///     gamma = area w S(1/2 - g/(8 tau)),   Gamma = gamma / D(sum over the pair of gamma),
///     tau = tau_p + tau_h,
///     D(x) = x for x >= a_0,  x + a_0/3 (1 - x/a_0)^3 below,
///     a_0 = half the smallest contact area of the pair,
/// so a lone touching corner has a Gamma of about 1 (0.98 a cube's; less where most of a corner's area faces
/// away, as of a thin plate on its rim), a face shares it out by area, and everything sets in with C^2
/// smoothness. tau_h = 0.1 a h^2, a being the config's acceleration scale, keeps the band wider than the gap
/// of about 0.1 a h^2 at which the smoothed law lets a body rest, however small the body and long the step.
///
/// A body of infinite mass turns on during the step. Half way through it the other body's centre has moved on
/// by h/2 (v_B - v_A), and the surface under it has another velocity than at the start, by w x of that. What it
/// adds to the relative velocity along the surface is the tangential part of the pair's
///     b = -h/2 w x (v_B - v_A),
/// w being the angular velocity of the one of infinite mass, v_A and v_B those of the centres at the start:
/// what stands on a turntable keeps its radius to second order in h, and what rolls on it follows its turning.
/// (Across the surface the distance does that: step/gap_following.h.)
#pragma once

#include <span>
#include <vector>

#include "collision/manifold/contact_manifold.h"
#include "dynamics/motion/mass_matrix.h"
#include "engine/growable_vector.h"
#include "engine/model.h"
#include "engine/model_tangent.h"
#include "engine/state.h"

namespace abut {

struct ContactRow {
  int body_A = -1, body_B = -1;
  int slot_A = -1, slot_B = -1;               ///< position among the moving bodies, -1 if fixed
  int pair = -1;                              ///< index into ContactRows::pairs
  int contact = -1;                           ///< index into the manifold; -1: of a reduced pair
  Vec3<double> r_A, r_B;                      ///< contact point relative to each centre of mass [m]
  Vec3<double> n;                             ///< normal_AB_W
  double distance = 0;                        ///< [m]
  double weight = 0;                          ///< Gamma
  double area = 0;                            ///< of its contact [m^2]
  double share = 0, share_slope = 0;          ///< gamma [m^2] and d gamma/dg
  double share_by_weight = 0;                 ///< d gamma/dw, w being the weight of the contact [m^2]
  double inverse_mass = 0;                    ///< 1/m_A + 1/m_B [1/kg]
  Vec3<double> drift = Vec3<double>::Zero();  ///< what bodies of infinite mass add to u [m/s]
  // Of a step with impacts (step/impact_phases.h).
  double answers = 1.0;            ///< q: how much of the contact takes part
  bool hits = false;               ///< an impact
  double rebound = 0, settle = 0;  ///< of an impact v_hat = max(0, rebound + settle) [m/s]
  double gate = 1.0;               ///< of one that answers: q where it touches

  [[nodiscard]] bool is_ordinary() const { return answers == 1.0 && !hits; }
};

struct RowPair {
  int body_A = -1, body_B = -1;
  int slot_A = -1, slot_B = -1;
  int begin = 0, end = 0;                         ///< rows
  double tau = 0;                                 ///< tau_p + tau_h [m]
  double denominator = 1, denominator_slope = 1;  ///< D and dD/dx
  PairMaterial material;
  KnownWeights known;
  bool shares = true;  ///< its stiffness: false of two balls, or a ball and a plane
  ContactReduction reduction;
  int member_begin = 0, member_end = 0;          ///< of ContactRows::members; none without a reduction
  ContactClusters clusters;                      ///< of these
  Mat3<double> R_WR = Mat3<double>::Identity();  ///< of the reference body of the reduction
  Vec6<double> V_A = Vec6<double>::Zero(),
               V_B = Vec6<double>::Zero();      ///< of a body of infinite mass, else 0
  Vec3<double> turning = Vec3<double>::Zero();  ///< b, see the head of this file [m/s]

  [[nodiscard]] bool both_move() const { return slot_A >= 0 && slot_B >= 0; }
  /// That of the reduction.
  [[nodiscard]] int reference_body() const { return reduction.reference_body(body_A, body_B); }
};

/// dL/d of a row's numbers.
struct ContactRowBar {
  Vec3<double> r_A = Vec3<double>::Zero(), r_B = Vec3<double>::Zero(), n = Vec3<double>::Zero();
  double distance = 0, weight = 0, inverse_mass = 0;
  Vec3<double> drift = Vec3<double>::Zero();
  double answers = 0, rebound = 0, settle = 0;

  ContactRowBar& operator+=(const ContactRowBar& other) {
    r_A += other.r_A;
    r_B += other.r_B;
    n += other.n;
    distance += other.distance;
    weight += other.weight;
    inverse_mass += other.inverse_mass;
    drift += other.drift;
    answers += other.answers;
    rebound += other.rebound;
    settle += other.settle;
    return *this;
  }
};

struct ContactRows {
  std::vector<ContactRow> rows;
  std::vector<RowPair> pairs;
  std::vector<ContactRow> members;       ///< of reduced pairs
  std::vector<Contact> member_contacts;  ///< their contacts, with the activity they are expected to have
  std::vector<Contact> reduced;          ///< memory

 private:
  /// The members of a pair if its rows are reduced, else its rows.
  template <typename Rows>
  static auto members_of_pair(Rows& of, const RowPair& pair) {
    const bool is_reduced = pair.member_end > pair.member_begin;
    const int begin = is_reduced ? pair.member_begin : pair.begin,
              end = is_reduced ? pair.member_end : pair.end;
    return std::span(is_reduced ? of.members : of.rows)
        .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  }

 public:
  /// f(row) for each contact of the manifold that takes part: of unreduced pairs the rows, of others the
  /// members.
  template <typename F>
  void each_member(F f) const {
    visit_members(*this, f);
  }
  template <typename F>
  void each_member(F f) {
    visit_members(*this, f);
  }
  /// The members of a pair; unless its rows are reduced, the rows themselves.
  [[nodiscard]] std::span<const ContactRow> members_of(const RowPair& pair) const {
    return members_of_pair(*this, pair);
  }

 private:
  template <typename Rows, typename F>
  static void visit_members(Rows& of, F f) {
    for (const RowPair& pair : of.pairs) {
      for (auto& row : members_of_pair(of, pair)) f(row);
    }
  }
};

/// What rows contribute to the gradient beyond their contacts.
struct ContactRowsGradient {
  std::span<ContactBar> contacts;       ///< one per contact of the manifold
  std::span<Vec6<double>> pose;         ///< one per body
  GrowableVector* velocity;             ///< of the moving bodies at the start of the step
  std::span<Vec6<double>> fixed_twist;  ///< one per body, of those of infinite mass during the step
};

/// The material of a pair: see PairMaterial. `default_dissipation_time` [s] stands for negative values.
[[nodiscard]] PairMaterial pair_material(const Model& model, int body_A, int body_B,
                                         double default_dissipation_time);

/// What all rows of a step share.
struct RowSettings {
  double h = 0;                         ///< time step [s]
  double resting_band = 0;              ///< tau_h [m]
  double default_dissipation_time = 0;  ///< tau_d of materials that give none [s]
};

/// Rows of the contacts whose weight is not zero, in the manifold's order.
///
/// @param clusters  of an earlier call for the same state, one for each pair of rows: decisions to keep
void make_rows(const Model& model, const MassMatrix& mass, const State& state, const ContactList& contacts,
               std::span<const ContactPair> pairs, const RowSettings& settings, ContactRows& rows,
               std::span<const ContactClusters> clusters = {});

/// What a change of the velocities of the moving bodies adds to relative_velocity():  du = J dv.
[[nodiscard]] inline Vec3<double> relative_change(const ContactRow& row, const GrowableVector& v) {
  Vec3<double> u = Vec3<double>::Zero();
  if (row.slot_B >= 0) {
    const auto V = v.segment<6>(6 * row.slot_B);
    u += V.tail<3>() + V.head<3>().cross(row.r_B);
  }
  if (row.slot_A >= 0) {
    const auto V = v.segment<6>(6 * row.slot_A);
    u -= V.tail<3>() + V.head<3>().cross(row.r_A);
  }
  return u;
}

/// Velocity of B's contact point relative to A's for velocities of the moving bodies:  u = J v + drift.
[[nodiscard]] inline Vec3<double> relative_velocity(const ContactRow& row, const GrowableVector& v) {
  return relative_change(row, v) + row.drift;
}

/// out += J^T impulse.
inline void add_impulse(const ContactRow& row, const Vec3<double>& impulse, GrowableVector& out) {
  if (row.slot_B >= 0) {
    out.segment<3>(6 * row.slot_B) += row.r_B.cross(impulse);
    out.segment<3>(6 * row.slot_B + 3) += impulse;
  }
  if (row.slot_A >= 0) {
    out.segment<3>(6 * row.slot_A) -= row.r_A.cross(impulse);
    out.segment<3>(6 * row.slot_A + 3) -= impulse;
  }
}

/// Adds dL/d(lever arms) for the bilinear form impulse . (J v), the velocity v held fixed.
inline void add_arm_bar(const ContactRow& row, const Vec3<double>& impulse, const GrowableVector& v,
                        ContactRowBar& bar) {
  if (row.slot_B >= 0) bar.r_B += impulse.cross(v.segment<3>(6 * row.slot_B));
  if (row.slot_A >= 0) bar.r_A -= impulse.cross(v.segment<3>(6 * row.slot_A));
}

/// Adds dL/d(lever arms and drift) for u_bar . relative_velocity(row, v), the velocity v held fixed.
inline void add_velocity_bar(const ContactRow& row, const Vec3<double>& u_bar, const GrowableVector& v,
                             ContactRowBar& bar) {
  add_arm_bar(row, u_bar, v, bar);
  bar.drift += u_bar;
}

/// The JVP of relative_velocity(), along changes of the row and of v.
[[nodiscard]] inline Vec3<double> relative_velocity_jvp(const ContactRow& row, const ContactRowBar& row_dot,
                                                        const GrowableVector& v,
                                                        const GrowableVector& v_dot) {
  Vec3<double> u_dot = relative_change(row, v_dot) + row_dot.drift;
  if (row.slot_B >= 0) u_dot += v.segment<3>(6 * row.slot_B).cross(row_dot.r_B);
  if (row.slot_A >= 0) u_dot -= v.segment<3>(6 * row.slot_A).cross(row_dot.r_A);
  return u_dot;
}

/// The JVP of add_impulse(), along changes of the row and of its impulse.
inline void add_impulse_jvp(const ContactRow& row, const ContactRowBar& row_dot, const Vec3<double>& impulse,
                            const Vec3<double>& impulse_dot, GrowableVector& out) {
  add_impulse(row, impulse_dot, out);
  if (row.slot_B >= 0) out.segment<3>(6 * row.slot_B) += row_dot.r_B.cross(impulse);
  if (row.slot_A >= 0) out.segment<3>(6 * row.slot_A) -= row_dot.r_A.cross(impulse);
}

/// A direction of what make_rows() depends on; its `h` is constant.
struct ContactRowsDirection {
  std::span<const ContactBar> contacts;  ///< one per contact of the manifold
  const StateTangent& state;
  const GrowableVector& velocity;  ///< of the moving bodies at the start of the step
  std::span<const double> mass;    ///< one per moving body
};

/// The JVP of make_rows(), which made `rows`. Overwrites `dots`, one per row.
void rows_jvp(const ContactRows& rows, const MassMatrix& mass, double h, const GrowableVector& velocity,
              const ContactRowsDirection& direction, std::span<ContactRowBar> dots);

/// From dL/d(rows) to contacts, poses (by the lever arms) and velocities: adds to `gradient`. `velocity` is
/// that of the moving bodies at the start of the step. `h` is constant.
void rows_vjp(const ContactRows& rows, double h, const GrowableVector& velocity,
              std::span<const ContactRowBar> bars, const ContactRowsGradient& gradient);
/// The same of one pair.
void rows_vjp(const ContactRows& rows, const RowPair& pair, double h, const GrowableVector& velocity,
              std::span<const ContactRowBar> bars, const ContactRowsGradient& gradient);

}  // namespace abut
