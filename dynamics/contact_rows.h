/// What the laws see of a contact: lever arms, relative velocity, its share of the pair's stiffness, its
/// material.
///
/// The share makes the pair's response independent of how finely its bodies are meshed:
///     g = p + h u_n            penetration expected after the step, with the velocities at its start
///     gamma = area w S(1/2 - g/(8 tau)),   Gamma = gamma / D(sum over the pair of gamma),   tau = tau_p +
///     tau_h, D(x) = x for x >= a_0,  x + a_0/3 (1 - x/a_0)^3 below,   a_0 = half the smallest contact area
///     of the pair,
/// so a lone touching corner has Gamma = 1, a face shares it out by area, and everything sets in with C^2
/// smoothness. tau_h = 0.1 a h^2, a being the config's acceleration scale, keeps the band wider than the gap
/// of about 0.1 a h^2 at which the smoothed law lets a body rest, however small the body and long the step.
#pragma once

#include <span>
#include <vector>

#include "collision/manifold/contact.h"
#include "dynamics/mass_matrix.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut {

struct ContactRow {
  int body_A = -1, body_B = -1;
  int slot_A = -1, slot_B = -1;       ///< position among the moving bodies, -1 if fixed
  int pair = -1;                      ///< index into ContactRows::pairs
  int contact = -1;                   ///< index into the manifold
  Vec3<double> r_A, r_B;              ///< contact point relative to each centre of mass [m]
  Vec3<double> n;                     ///< normal_AB_W
  double distance = 0;                ///< [m]
  double weight = 0;                  ///< Gamma
  double share = 0, share_slope = 0;  ///< gamma [m^2] and d gamma/dg
  double share_by_weight = 0;         ///< d gamma/dw, w being the weight of the contact [m^2]
  double inverse_mass = 0;            ///< 1/m_A + 1/m_B [1/kg]
};

struct RowPair {
  int body_A = -1, body_B = -1;
  int slot_A = -1, slot_B = -1;
  int begin = 0, end = 0;                         ///< rows
  double tau = 0;                                 ///< tau_p + tau_h [m]
  double denominator = 1, denominator_slope = 1;  ///< D and dD/dx
  PairMaterial material;
};

/// dL/d of a row's numbers.
struct ContactRowBar {
  Vec3<double> r_A = Vec3<double>::Zero(), r_B = Vec3<double>::Zero(), n = Vec3<double>::Zero();
  double distance = 0, weight = 0, inverse_mass = 0;
  double penetration = 0, contact_weight = 0;  ///< p and w of the contact, on which the weight depends
};

/// dL/d of a pair's material.
struct PairMaterialBar {
  double friction = 0, compliance = 0, dissipation_time = 0;
};

struct ContactRows {
  std::vector<ContactRow> rows;
  std::vector<RowPair> pairs;
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
void make_rows(const Model& model, const MassMatrix& mass, const State& state,
               const ContactManifold& manifold, const RowSettings& settings, ContactRows& rows);

/// Velocity of B's contact point relative to A's for velocities of the moving bodies.
[[nodiscard]] inline Vec3<double> relative_velocity(const ContactRow& row, const Eigen::VectorXd& v) {
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

/// out += J^T impulse.
inline void add_impulse(const ContactRow& row, const Vec3<double>& impulse, Eigen::VectorXd& out) {
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
inline void add_arm_bar(const ContactRow& row, const Vec3<double>& impulse, const Eigen::VectorXd& v,
                        ContactRowBar& bar) {
  if (row.slot_B >= 0) bar.r_B += impulse.cross(v.segment<3>(6 * row.slot_B));
  if (row.slot_A >= 0) bar.r_A -= impulse.cross(v.segment<3>(6 * row.slot_A));
}

/// Weights back to geometry and velocity: turns `bars[i].weight` into distance, normal, arms and
/// `velocity_bar` (of the moving bodies at the start of the step, whose velocities are `velocity`).
void weights_vjp(const ContactRows& rows, double h, const Eigen::VectorXd& velocity,
                 std::span<ContactRowBar> bars, Eigen::VectorXd& velocity_bar);

}  // namespace abut
