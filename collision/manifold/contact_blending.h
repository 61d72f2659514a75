/// Blending: many contacts of a pair become a few, smoothly.
///
/// Contacts are grouped by their normals: 42 axes a_g (the vertices and edge middles of an icosahedron),
/// fixed in the reference body R. For each axis, four directions u_j across it, fixed in R too, take a soft
/// support point each, so that the support polygon survives:
///   groups   k_ig = S((N_i.a_g - cos 30)/(1 - cos 30)),   K_i = sum_g k_ig,   psi_ig = k_ig S(2 K_i)/K_i,
///            N_i = n_i sqrt(1 + eta^2)/sqrt(|n_i|^2 + eta^2),   S = smoothstep5
///   weights  w_i = mu_i exp(s_i) / sum_k mu_k exp(s_k),   mu_i = area_i activity_i psi_ig,
///            s_i = u_j.p_i/l - d_i/(4 tau_p)
///   outputs  point sum w p,   distance sum w d,
///            m = sum w n,   normal m sqrt(1 + eta^2)/sqrt(|m|^2 + eta^2),
///            activity sum_i mu_i/(4 A),   area A = sum_i area_i
/// Only normals within 30 degrees of an axis meet in its group. The psi of a contact add up to 1 (K is 1/2 or
/// more wherever |n| is not short), so area times activity adds up to what it was. Everything is twice
/// continuously differentiable; a group comes and goes with activity 0. Contacts without activity are left
/// out.
///
/// What it costs: a support point lies inside the hull of its contacts, by up to l log n for n contacts that
/// are equally far out; contacts of a plane come out in up to four groups, of four points each.
/// @see  The groups stand in for pairs of convex parts (softmax over these: arXiv 2604.17538).
#pragma once

#include <span>
#include <vector>

#include "collision/manifold/contact.h"
#include "engine/contact_config.h"
#include "engine/types.h"

namespace abut {

struct ContactBlendingSettings {
  double length = 0;  ///< l [m]
  double depth = 0;   ///< 4 tau_p [m]
  double fade = 0;    ///< eta [-]

  ContactBlendingSettings() = default;
  /// @param size  of the smaller body of the pair [m]
  ContactBlendingSettings(const ContactConfig& config, double size)
      : length(config.blend_length * size),
        depth(4.0 * config.activity_smoothing * size),
        fade(config.normal_fade) {}
};

/// Replaces `blended` by the blended contacts of one pair: kind `blended`, feature_A = feature_B = 4 g + j,
/// in ascending order.
///
/// @param R_WR  orientation of the reference body
void blend_contacts(std::span<const Contact> contacts, const Mat3<double>& R_WR,
                    const ContactBlendingSettings& settings, std::vector<Contact>& blended);

/// Adds dL/d(contacts) and dL/d(rotation of R; left, in W), given dL/d(blended contacts) in the order in
/// which blend_contacts() gives them.
void blend_contacts_vjp(std::span<const Contact> contacts, const Mat3<double>& R_WR,
                        const ContactBlendingSettings& settings, std::span<const ContactBar> blended_bar,
                        std::span<ContactBar> contact_bar, Vec3<double>& rotation_bar);

}  // namespace abut
