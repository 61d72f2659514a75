/// Settings of the smooth contact manifold of a pair of bodies.
///
/// Lengths are relative to the size of the smaller body, areas of parameters (0 to 1 along an edge) and
/// angles have no unit, so a scene keeps its contacts when it is scaled.
#pragma once

namespace abut {

/// Which formulas.
///   corrected  the default: conditioned normals, compact indicators, soft-K weights
///   paper      as published, with its errors of sign and listing mended; for comparison with its figures
enum class Fidelity { corrected, paper };

/// Which bodies carry vertices that meet the other's signed distance function.
enum class VertexContacts { both, first, none };

struct ContactConfig {
  Fidelity fidelity = Fidelity::corrected;
  VertexContacts vertex_contacts = VertexContacts::both;
  bool edge_edge = true;  ///< contacts between edges of the two meshes
  bool edge_sdf = false;  ///< contacts where an edge enters and leaves the other body's solid

  // Indicators.
  double activity_smoothing =
      2e-3;  ///< tau_p: penetration counts fully at -4 tau_p, not at all at 4 tau_p, > 0
  double clash_smoothing =
      0.1;  ///< tau_n: width over which n_1 . n_2 decides that two edges face each other, > 0
  double clash_threshold = 0.2;  ///< n_1 . n_2 from which they count as half facing each other, in (-1, 1)
  double neighbour_smoothing =
      1e-2;                       ///< tau_d: distances of edge pairs that differ by less share a contact, > 0
  double neighbour_cutoff = 3.0;  ///< D_0/tau_d: pairs farther apart than that fade away [-], > 0

  // Selection of edges (and of vertices where a body limits them).
  double selection_band = 1.6e-2;  ///< range of metrics over which a candidate's weight goes from 0 to 1, > 0
  double metric_range = 3.2e-2;    ///< distances beyond which a vertex counts as far, > 0

  // Witness points of two edges.
  double edge_regularization =
      0.01;  ///< lambda: pull to the middles of edges, relative to their squared lengths, > 0
  double clip_smoothing = 0.1;  ///< of the parameter along an edge at its ends, > 0
  double minimum_smoothing =
      0.1;  ///< of the choice between the sides of the box, relative to squared length, > 0
  double interior_smoothing = 0.1;  ///< of whether the minimum lies inside the box, > 0

  // Normals of two edges.
  double cross_smoothing =
      0.2;  ///< eta_c: sine of the angle between edges below which they count as parallel, > 0
  double parallel_blend = 0.05;  ///< kappa: share of the surfaces' own normals, > 0
  double normal_fade = 0.05;     ///< eta: length of the unscaled normal below which it fades away, > 0
};

}  // namespace abut
