/// The contacts of a pair as published (Fidelity::paper), values only: for comparison with published figures.
///
///   vertex-SDF   every contact point v of a body at the other's phi:  d = phi(v),
///                n = grad phi/sqrt(|grad phi|^2 + 1e-12), point v, activity sigmoid(-d/tau_p)
///   edge-edge    K soft edges a body, each a mean of all edges by a row of paper_top_k() with tau_p of their
///                metrics (phi(a) + phi(b))/2; witness points of all K_A x K_B pairs; paper_edge_contact()
///                with the bodies' own normals there, once for either body b of the other c: activity
///                gamma_con gamma_cl nn sigmoid(-phi_c(e_b)/tau_p) sigmoid(-phi_b(e_b)/tau_p)
/// Balls of a contact radius r take r off d and touch at v - r n; bodies that have one have no edge contacts
/// here. All vertices take part, and there are no contacts of edges against solids.
/// The last factor is the safeguard for means of edges that have left their own body. The errors of sign and
/// listing that these formulas have in print are mended; their conditioning is as published.
///
/// @see  Beker et al., "Smoothly differentiable and efficiently vectorizable contact manifold generation",
///       IV-C, IV-D and supplement II-B.
#pragma once

#include <vector>

#include "collision/manifold/contact.h"
#include "collision/manifold/edge_contacts.h"
#include "engine/contact_config.h"
#include "engine/pose.h"

namespace abut {

/// Appends the contacts whose penetration is below `reach` [m]. The features of edge contacts are numbers of
/// soft edges.
///
/// @param index_A, index_B  of the bodies in the model
void append_paper_contacts(const EdgeBody& A, const EdgeBody& B, int index_A, int index_B,
                           const ContactConfig& config, const Pose<double>& X_WA, const Pose<double>& X_WB,
                           double reach, std::vector<Contact>& contacts);

}  // namespace abut
