/// Settings of the smooth contact manifold of a pair of bodies.
///
/// Lengths are relative to the size of the smaller body, areas of parameters (0 to 1 along an edge) and
/// angles have no unit, so a scene keeps its contacts when it is scaled. Their keys in a scene, what is
/// allowed and what they do: docs/scene_format.md.
#pragma once

#include <optional>

namespace abut {

/// Which bodies carry vertices that meet the other's signed distance function.
enum class VertexContacts { both, first, none };

/// What is done with the contacts of a pair before anyone sees them.
///   none     nothing
///   blend    smooth averages at the extremes of each group of like normals (contact_blending.h)
///   cluster  the extremes of each cluster speak for their neighbours (contact_clustering.h)
enum class Reduction { none, blend, cluster };

struct ContactConfig {
  VertexContacts vertex_contacts = VertexContacts::both;
  bool edge_edge = true;  ///< contacts between edges of the two meshes
  bool edge_sdf = false;  ///< contacts where an edge enters and leaves the other body's solid
  bool flush_faces = true;  ///< a flat face that lies flush touches with few of its points

  // Indicators.
  double activity_smoothing =
      2e-3;  ///< tau_p: penetration counts fully at -4 tau_p, not at all at 4 tau_p, > 0

  // Edge-edge contacts.
  double edge_smoothing = 1.6e-2;  ///< w: length over which a contact fades at the end of an edge, > 0
  double cone_smoothing = 0.2;  ///< w_c: angle over which it fades at the border of a normal cone [rad], > 0
  double parallel_sine = 0.02;  ///< s_1: sine of the angle between edges below which it fades, in (0, 1)

  // Selection of edges (and of vertices where a body limits them).
  double selection_band = 1.6e-2;  ///< range of metrics over which a candidate's weight goes from 0 to 1, > 0
  double metric_range = 3.2e-2;    ///< distances beyond which a vertex counts as far, > 0

  double normal_fade = 0.05;  ///< length of a normal that is a mean of others below which it fades, > 0

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
  std::optional<VertexContacts> vertex_contacts;
  std::optional<bool> edge_edge;
  std::optional<bool> edge_sdf;
  std::optional<bool> flush_faces;
  std::optional<double> activity_smoothing;
  std::optional<double> selection_band;
  std::optional<double> metric_range;
  std::optional<double> edge_smoothing;
  std::optional<double> cone_smoothing;
  std::optional<double> parallel_sine;
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
