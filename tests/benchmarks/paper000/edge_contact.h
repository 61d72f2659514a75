/// Contacts of the edges of two bodies, each edge of A with each of B, values only: those of figure 5.
///
/// Edges i of A and j of B have unit normals n_i, n_j that point out of their bodies. With the witness points
/// e_i, e_j and gamma_con of edge_witness.h, De = e_i - e_j, D = sqrt(|De|^2 + tau_d^2), u = t/|t| and
/// S = smoothstep5:
///   normal      g = (n_j - n_i)/2,   c = u_i x u_j,   P = I - (u_i u_i^T + u_j u_j^T)/2,
///               m = (c (c.g) + kappa eta_c^2 P g)/(|c|^2 + eta_c^2),   n = m/sqrt(|m|^2 + eta^2)
///   distance    d = n.De
///   clash       gamma_cl = S((1/5 - n_i.n_j)/(8 tau_n))
///   neighbours  s_ij = E_ij/(1 + sum_k E_kj),   E = e^(3 - D/tau_d)
///   activity    gamma_con gamma_cl s_ij S(1/2 - phi_A(e_j)/(8 tau_p)),   phi_A the signed distance to A
/// with tau_n = 0.1, eta_c = 0.2 and kappa = eta = 0.05. n points from B to A; d > 0 when the bodies are
/// apart. |n| < 1 where the edges are parallel or their normals do not oppose each other.
///
/// @see  Beker et al., "Smoothly differentiable and efficiently vectorizable contact manifold generation",
///       IV-D3. There the normal is along De and the indicators are sigmoids. Here it is of the directions
///       of the edges alone, since that of De is lost to the smoothing of the witness points where edges
///       touch, and the indicators end.
#pragma once

#include <cmath>
#include <vector>

#include "collision/manifold/contact_activity.h"
#include "collision/sdf/shape_sdf.h"
#include "edge_witness.h"
#include "engine/smooth.h"
#include "engine/types.h"

namespace abut::paper000 {

struct EdgeWithNormal {
  Edge<double> edge;
  Vec3<double> normal;  ///< of unit length
};

struct EdgeContactSettings {
  EdgeWitnessSettings<double> witness;
  double activity_smoothing;   ///< tau_p [m], > 0
  double neighbour_smoothing;  ///< tau_d [m], > 0
};

/// A contact at the witness point on B's edge.
struct EdgeContact {
  Vec3<double> point;      ///< e_j [m]
  Vec3<double> normal_AB;  ///< -n
  double distance;         ///< d [m]
  double activity;         ///< in [0, 1]
};

/// The normal n of two edges.
[[nodiscard]] inline Vec3<double> edge_contact_normal(const EdgeWithNormal& a, const EdgeWithNormal& b) {
  constexpr double k_cross_squared = 0.2 * 0.2, k_blend = 0.05, k_fade = 0.05;
  const Vec3<double> u = a.edge.vector.normalized(), v = b.edge.vector.normalized(), c = u.cross(v),
                     g = 0.5 * (b.normal - a.normal), across = g - 0.5 * (u * u.dot(g) + v * v.dot(g));
  const Vec3<double> m =
      (c * c.dot(g) + k_blend * k_cross_squared * across) / (c.squaredNorm() + k_cross_squared);
  return m / soft_norm(m, k_fade);
}

/// All pairs, the edges of B varying fastest; everything in the frame of A.
///
/// @param edges_A, sdf_A  of A: its edges, and its signed distance function phi_A
[[nodiscard]] inline std::vector<EdgeContact> edge_contacts(const std::vector<EdgeWithNormal>& edges_A,
                                                            const ShapeSdf& sdf_A,
                                                            const std::vector<EdgeWithNormal>& edges_B,
                                                            const EdgeContactSettings& settings) {
  constexpr double k_clash_threshold = 0.2, k_clash_width = 8.0 * 0.1, k_cutoff = 3.0;
  std::vector<EdgeContact> contacts;
  std::vector<double> nearness, sums(edges_B.size(), 1.0);  // E_ij, 1 + sum_k E_kj
  for (const EdgeWithNormal& a : edges_A) {
    for (std::size_t j = 0; j < edges_B.size(); ++j) {
      const EdgeWithNormal& b = edges_B[j];
      const EdgeWitness<double> witness = edge_witness(a.edge, b.edge, settings.witness);
      const Vec3<double> De = witness.e1 - witness.e2, n = edge_contact_normal(a, b);
      const double clash = smoothstep5((k_clash_threshold - a.normal.dot(b.normal)) / k_clash_width);
      const double inside = activity(sdf_A.distance<double>(witness.e2), settings.activity_smoothing);
      contacts.push_back({witness.e2, -n, n.dot(De), witness.minimum.gamma * clash * inside});
      const double D = soft_norm(De, settings.neighbour_smoothing);
      nearness.push_back(std::exp(k_cutoff - D / settings.neighbour_smoothing));
      sums[j] += nearness.back();
    }
  }
  for (std::size_t at = 0; at < contacts.size(); ++at)
    contacts[at].activity *= nearness[at] / sums[at % edges_B.size()];
  return contacts;
}

}  // namespace abut::paper000
