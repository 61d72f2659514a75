/// The kernels of the simulation's contact detector, one compilation for each instruction set: which points of
/// a body are near a solid and which of its primitives matter to them, distances of these, and pairs of edges
/// that are near each other.
#pragma once

#include <string_view>
#include <vector>

#include "collision/manifold/edge_edge.h"
#include "collision/manifold/kernel/body_features.h"
#include "collision/manifold/kernel/point_kernels.h"
#include "collision/manifold/neighbour_weights.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/pack.h"
#include "engine/types.h"

namespace abut {

/// Of all primitives of a solid, in the order of the SDF.
[[nodiscard]] std::vector<PrimitiveBound<double>> bounds_of_primitives(const ShapeSdf& sdf);

/// x -> R x + p.
struct RigidMap {
  Mat3<double> R;
  Vec3<double> p;
};

/// A solid with the bounds of its primitives, in the order of the SDF.
struct BoundedSolid {
  const ShapeSdf* sdf;
  const PrimitiveBound<double>* bounds;
};

/// Structure of arrays; each can be read up to a whole number of packs of 8.
struct PointColumns {
  const double *x, *y, *z;
  int count;
};

/// Chosen points, and where they come from; room for a pack more than there are points.
struct ListedPoints {
  int* point;
  double *x, *y, *z;
};

/// Of the i-th pack of 8 points the primitives first[i] to first[i + 1], ascending.
struct ListedPrimitives {
  int* first;
  int* primitive;
};

/// Selected edges of two bodies in one frame, and how pairs of them share contacts.
struct EdgePairProblem {
  const EdgeEdgeSettings<double>* edges;
  NeighbourSettings<double> neighbours;  ///< with a tail that ends
  double radii;                          ///< of both bodies, by which distances are less [m]
  const double* weights[2];              ///< of the edges
};

/// So many pairs are evaluated together, those of a further row of n_B included.
inline constexpr int k_edge_pairs_at_once = 128;
[[nodiscard]] ABUT_INLINE int edge_pairs_waiting(int edges_B) { return k_edge_pairs_at_once + edges_B + 16; }

/// A list of pairs of edges. Each has room for a pack more than there are pairs; `memory` for
/// 30 edge_pairs_waiting(n_B) + n_A numbers.
struct EdgePairColumns {
  int *row, *column;
  double *softened, *interior, *clash, *nearness;
  double* weights[2];    ///< of the contacts of A's edge, of B's, but for the penetration
  double* points[2][3];  ///< witness points
  double* memory;
};

/// One compilation of detection_kernel.h. `map` takes points to the frame of the solid.
struct DetectionKernels {
  /// Points that may come nearer to the solid than `range` while none moves more than `slack` [m]; says how
  /// many.
  int (*list_points)(const BoundedSolid&, const RigidMap& map, const PointColumns& points, double range,
                     double slack, const ListedPoints& out);
  /// The added primitives that may matter then.
  void (*list_primitives)(const BoundedSolid&, const RigidMap& map, const PointColumns& points, double range,
                          double slack, const ListedPrimitives& out);
  /// Distance and normal at points, columns of a whole number of packs; what is farther than `range` may get
  /// any distance that is. `lower` has room for a pack for each primitive.
  void (*sample_near)(const BoundedSolid&, const RigidMap& map, const PointColumns& points, double range,
                      const ListedPrimitives& listed, double* lower, double* out);
  /// Pairs of edges with weight, in ascending order; says how many. Of the output, row, column, weights and
  /// points count.
  int (*find_edge_pairs)(const EdgePairProblem&, const EdgeColumns& A, const EdgeColumns& B,
                         const EdgePairColumns& out);
  /// The normals of pairs of edges, 3 columns of a whole number of packs.
  void (*edge_normals)(const EdgeEdgeSettings<double>&, const EdgeColumns& A, const EdgeColumns& B,
                       const int* row, const int* column, int count, double* out);
};

/// Those for one of available_instruction_sets().
[[nodiscard]] DetectionKernels detection_kernels_for(std::string_view instruction_set);

/// Those for instruction_set().
[[nodiscard]] const DetectionKernels& detection_kernels();

}  // namespace abut
