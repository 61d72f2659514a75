/// Settings of the smooth contact manifold of a pair of bodies.
///
/// Lengths are relative to the size of the smaller body, areas of parameters (0 to 1 along an edge) and
/// angles have no unit, so a scene keeps its contacts when it is scaled. Their keys in a scene, what is
/// allowed and what they do: docs/scene_format.md.
#pragma once

#include <optional>

namespace abut {

/// Which formulas.
///   corrected  the default: conditioned normals, compact indicators, soft-K weights
///   paper      as published, with its errors of sign and listing mended; for comparison with its figures
enum class Fidelity { corrected, paper };

/// Which bodies carry vertices that meet the other's signed distance function.
enum class VertexContacts { both, first, none };

/// What is done with the contacts of a pair before anyone sees them.
///   none     nothing
///   blend    smooth averages at the extremes of each group of like normals (contact_blending.h)
///   cluster  the extremes of each cluster speak for their neighbours (contact_clustering.h)
enum class Reduction { none, blend, cluster };

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
  double clash_threshold = 0.2;  ///< n_1 . n_2 at and above which two edges do not count, in (-1, 1)
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

  // Edges against a solid.
  double chord_pull =
      0.3;  ///< pull to the quadrature points of the chord; smaller follows ridges closer, > 0

  // Reduction.
  Reduction reduction = Reduction::none;
  double blend_length = 0.05;   ///< contacts this much nearer to an extreme dominate it, > 0
  double cluster_radius = 0.1;  ///< from the centre of a cluster within which contacts join it, > 0
  int cluster_points = 4;       ///< contacts that a cluster keeps, >= 1
};

/// Settings of one pair in place of those of the scene; what is empty stays.
struct ContactOverrides {
  std::optional<Fidelity> fidelity;
  std::optional<VertexContacts> vertex_contacts;
  std::optional<bool> edge_edge;
  std::optional<bool> edge_sdf;
  std::optional<double> activity_smoothing;
  std::optional<double> clash_smoothing;
  std::optional<double> clash_threshold;
  std::optional<double> neighbour_smoothing;
  std::optional<double> neighbour_cutoff;
  std::optional<double> selection_band;
  std::optional<double> metric_range;
  std::optional<double> edge_regularization;
  std::optional<double> clip_smoothing;
  std::optional<double> minimum_smoothing;
  std::optional<double> interior_smoothing;
  std::optional<double> cross_smoothing;
  std::optional<double> parallel_blend;
  std::optional<double> normal_fade;
  std::optional<double> chord_pull;
  std::optional<Reduction> reduction;
  std::optional<double> blend_length;
  std::optional<double> cluster_radius;
  std::optional<int> cluster_points;
};

/// Throws std::invalid_argument naming every bad field and its value.
void validate(const ContactConfig& config);

}  // namespace abut
