/// Settings of the contacts of a pair of bodies: which detector finds them, and how.
///
/// Lengths are relative to the size of the smaller body, areas of parameters (0 to 1 along an edge) and
/// angles have no unit, so a scene keeps its contacts when it is scaled. Their keys in a scene, what is
/// allowed and what they do: docs/scene_format.md.
#pragma once

#include <optional>

namespace abut {

/// What finds the contacts of a pair: docs/detectors.md.
///   manifold      the smooth contact manifold: vertices and edges at signed distance functions
///   gjk           witness points of convex parts, by GJK and EPA, and patches of flush faces
///   proximity_qp  witness points of padded convex parts, by a quadratic program
///   frank_wolfe   the deepest points of triangles in the other body's signed distance function
enum class DetectorKind { manifold, gjk, proximity_qp, frank_wolfe };

/// What `gjk` takes as the derivative of witness points: collision/convex/smoothed_derivatives.h.
enum class WitnessDerivative { exact, finite_differences, zeroth_gaussian, first_gaussian, first_gumbel };

/// Which bodies carry vertices that meet the other's signed distance function.
enum class VertexContacts { both, first, none };

/// What is done with the contacts of a pair before anyone sees them.
///   none     nothing
///   blend    smooth averages at the extremes of each group of like normals (contact_blending.h)
///   cluster  the extremes of each cluster speak for their neighbours (contact_clustering.h)
enum class Reduction { none, blend, cluster };

struct ContactConfig {
  DetectorKind detector = DetectorKind::manifold;

  // Of every detector: indicators, and flat faces (of gjk and proximity_qp: patches of contact points).
  double activity_smoothing =
      2e-3;                 ///< tau_p: penetration counts fully at -4 tau_p, not at all at 4 tau_p, > 0
  bool flush_faces = true;  ///< a flat face that lies flush touches with few of its points

  // The manifold.
  VertexContacts vertex_contacts = VertexContacts::both;
  bool edge_edge = true;  ///< contacts between edges of the two meshes
  bool edge_sdf = false;  ///< contacts where an edge enters and leaves the other body's solid

  // Edge-edge contacts.
  double edge_smoothing = 4e-3;  ///< w: length inside of an edge's end over which a contact fades in, > 0
  double cone_smoothing = 0.2;   ///< w_c: angle over which it fades at the border of a normal cone [rad], > 0
  double parallel_sine = 0.02;   ///< s_1: sine of the angle between edges below which it fades, in (0, 1)

  // Selection of edges (and of vertices where a body limits them).
  double selection_band = 1.6e-2;  ///< range of metrics over which a candidate's weight goes from 0 to 1, > 0
  double metric_range = 3.2e-2;    ///< distances beyond which a vertex counts as far, > 0

  double normal_fade = 0.05;  ///< length of a normal that is a mean of others below which it fades, > 0

  // Edges against a solid.
  double chord_pull =
      0.3;  ///< pull to the quadrature points of the chord; smaller follows ridges closer, > 0

  // GJK.
  WitnessDerivative witness_derivative = WitnessDerivative::exact;
  double witness_epsilon = 1e-3;  ///< epsilon of smoothed derivatives (smoothed_derivatives.h), > 0
  int witness_samples = 20;       ///< M of Gaussian ones, >= 2
  int witness_seed = 1;           ///< of their samples, >= 0

  // Proximity QPs.
  double qp_padding = 0.1;       ///< radius given to a part that has none, by its inradius, in (0, 1)
  double qp_relaxation = 1e-13;  ///< kappa of derivatives, > 0

  // Frank-Wolfe.
  int search_iterations = 32;   ///< steps to the deepest point of a triangle, >= 1
  double cluster_angle = 0.01;  ///< between normals of one cluster of contacts [rad], in (0, pi)

  // Reduction.
  Reduction reduction = Reduction::none;
  double blend_length = 0.05;   ///< contacts this much nearer to an extreme dominate it, > 0
  double cluster_radius = 0.1;  ///< from the centre of a cluster within which contacts join it, > 0
  int cluster_points = 4;       ///< contacts that a cluster keeps, >= 1
};

/// Settings of one pair in place of those of the scene; what is empty stays.
struct ContactOverrides {
  std::optional<DetectorKind> detector;
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
  std::optional<WitnessDerivative> witness_derivative;
  std::optional<double> witness_epsilon;
  std::optional<int> witness_samples;
  std::optional<int> witness_seed;
  std::optional<double> qp_padding;
  std::optional<double> qp_relaxation;
  std::optional<int> search_iterations;
  std::optional<double> cluster_angle;
  std::optional<Reduction> reduction;
  std::optional<double> blend_length;
  std::optional<double> cluster_radius;
  std::optional<int> cluster_points;
};

/// Throws std::invalid_argument naming every bad field and its value.
void validate(const ContactConfig& config);

}  // namespace abut
