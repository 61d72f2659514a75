/// What goes into a manifold kernel and what comes out, the same for every instruction set.
#pragma once

#include <cstdint>
#include <vector>

#include "collision/manifold/edge_edge.h"
#include "collision/manifold/kernel/body_features.h"
#include "engine/contact_config.h"
#include "engine/types.h"

namespace abut {

/// How much a kernel computes; each includes those before it.
enum class ManifoldOrder {
  value,
  distance_gradient,  ///< derivatives of signed distances by the relative motion
  jacobian,           ///< of normals too
  complete            ///< of points and activities too: all that a contact says
};

/// Where a contact comes from; contacts are in this order.
enum ManifoldSection { k_vertex_of_A, k_vertex_of_B, k_edge_on_A, k_edge_on_B, k_sections };

/// Columns of the output, a number a contact each.
enum ManifoldColumn {
  k_point = 0,     ///< 3, midway between the surfaces [m]
  k_distance = 3,  ///< [m]
  k_normal = 4,    ///< 3, from A to B
  k_activity = 7,  ///< [-]
  k_place_A = 8,   ///< place in A's tables: of a point (vertex contacts) or an edge; -1 without
  k_place_B = 9,
  k_value_columns = 10,
  k_distance_by_poses = 10,  ///< 12, by the tangents [rotation; translation] of A, then of B
  k_normal_by_poses = 22,    ///< 36, row by row
  k_point_by_poses = 58,     ///< 36, row by row
  k_activity_by_poses = 94   ///< 12
};

[[nodiscard]] constexpr int column_count(ManifoldOrder order) {
  switch (order) {
    case ManifoldOrder::value:
      return 10;
    case ManifoldOrder::distance_gradient:
      return 22;
    case ManifoldOrder::jacobian:
      return 58;
    case ManifoldOrder::complete:
      break;
  }
  return 106;
}

template <typename T>
struct RelativePose {
  Mat3<T> R_AB;
  Vec3<T> p_AB;
};

/// A pair of bodies and its settings in metres. The bodies must outlive it.
template <typename T>
struct PairProblem {
  const BodyFeatures<T>* A;
  const BodyFeatures<T>* B;
  bool vertices[2];  ///< whether the vertices of A, of B carry contacts
  bool edge_edge;
  bool everything;        ///< compute every contact, not only those with weight
  T activity_smoothing;   ///< tau_p [m]
  T neighbour_smoothing;  ///< tau_d [m]
  T neighbour_cutoff;     ///< D_0 [m]
  T nearest;              ///< exponent of the nearness E of edges whose capsules' middles meet, at most 60
  T nearness_rest;        ///< e^-s, see neighbour_weights.h
  T selection_band;       ///< [m]
  T metric_range;         ///< from which on a point is far [m]
  T largest_metric;       ///< of such a point, two thirds of it [m]
  T radii;                ///< sum of the contact radii [m]
  T midway;               ///< from the middle between edges to that between surfaces, along n (B to A) [m]
  EdgeEdgeSettings<T> edges;

  PairProblem(const BodyFeatures<T>& body_A, const BodyFeatures<T>& body_B, const ContactConfig& config,
              bool all_contacts);
};

/// One side's edges that take part, in A's frame; structure of arrays, padded to whole packs with weight 0.
template <typename T>
struct SelectedEdges {
  int count = 0, padded = 0;
  T *start[3], *vector[3], *normal[3];
  T *weight, *place;
  T* sum;       ///< over the other side's edges, of weight times nearness; then 1/(1 + that)
  T threshold;  ///< of the soft choice [m]
  /// By the motion (w; v) of B about A's origin; ManifoldOrder::complete only.
  T *weight_by_motion[6], *sum_by_motion[6];
};

/// Memory of one thread for one pair; nothing is allocated while a kernel runs.
template <typename T>
struct PairBuffers {
  explicit PairBuffers(const PairProblem<T>& problem, ManifoldOrder order);
  PairBuffers(PairBuffers&&) noexcept = default;  // a copy would point into the original
  PairBuffers& operator=(PairBuffers&&) noexcept = default;

  // Output.
  T* columns;    ///< column c of contact i is columns[c * capacity + i]
  int capacity;  ///< contacts that there is room for, and a pack more
  int contacts = 0;
  int count[k_sections] = {};

  // In between.
  T* list_numbers[4];
  std::uint64_t* list_primitives;
  std::uint32_t* kept;
  std::uint16_t* nearby;
  T* lower;
  T* metric[2];  ///< clamped distance of each point of A, of B, to the other's solid
  std::uint64_t near_blocks[2];
  T *candidate_metric, *candidate_edge;
  SelectedEdges<T> selected[2];
  T *pair_alpha[2], *pair_interior, *pair_clash, *pair_nearness;  ///< of each pair of selected edges
  T* pair_activity[2];  ///< of its contact on A's edge, on B's; -1 without
  T* survivor[5];  ///< of pairs: place, activity, point, or place, both activities; of vertices: point, place
  std::uint64_t* survivor_primitives;
  int pair_capacity;  ///< pairs of edges that there is room for

  /// Makes room for as many pairs of edges. What was computed is lost.
  void grow(int pairs);

  [[nodiscard]] ManifoldOrder order() const { return order_; }

 private:
  void allocate();

  int points_[2], edges_[2], primitives_ = 0;
  ManifoldOrder order_;
  std::vector<T> numbers_;
  std::vector<std::uint64_t> masks_;
  std::vector<std::uint32_t> kept_;
  std::vector<std::uint16_t> nearby_;
};

extern template struct PairProblem<float>;
extern template struct PairProblem<double>;
extern template struct PairBuffers<float>;
extern template struct PairBuffers<double>;

}  // namespace abut
