/// The kernels of the way back from contacts and from solids at points, one compilation for each instruction
/// set.
#pragma once

#include "collision/manifold/convex_edges.h"
#include "collision/manifold/kernel/contact_columns.h"
#include "collision/manifold/kernel/solid_bound.h"

namespace abut {

/// Points in the frame of a solid with dL/d(distance, normal) there. Columns are of whole packs of 8; what
/// fills the last one up has bars of 0 and a point of the list.
struct SolidBarColumns {
  const double* x[3];  ///< [m]
  int count;
  const double* distance;  ///< [m], to rounding: says which primitives matter
  const double* distance_bar;
  const double* normal_bar[3];  ///< null: all are 0
  double* x_bar[3];             ///< written
};

/// dL/d of a primitive: parameters (5), then its pose (6), left, in B.
inline constexpr int k_primitive_bars = 11;
/// Numbers of memory for each primitive.
inline constexpr int k_solid_vjp_memory = 16 * 8 + 1;

/// What contacts of the contact points of an owner O at a solid S have in common.
struct VertexVjp {
  PlainPose X_WO, X_WS;
  double radius;  ///< of contact points [m]
  double sign;    ///< normal_AB = sign times that of the solid
};

struct VertexVjpSums {
  double pose_O[6], pose_S[6], radius;
};

/// What contacts of edges of A and B have in common.
struct EdgeVjp {
  PlainPose X_W[2];
  double radii[2];  ///< [m]
  const ConvexEdgeSettings<double>* settings;
};

struct EdgeVjpSums {
  double poses[2][6], radii[2];
};

/// One compilation of derivative_kernel.h and contact_vjp_kernel.h. `count` contacts, whole packs, have the
/// columns of contact_columns.h.
struct DerivativeKernels {
  /// For solids that have it (ShapeSdf::has_vjp_by_lanes()): writes dL/dx and, unless null, adds dL/d(each
  /// primitive) to k_primitive_bars numbers each. `memory` has k_solid_vjp_memory numbers for each primitive.
  void (*solid_vjp)(const BoundedSolid&, const SolidBarColumns&, double* memory, double* primitives_bar);

  /// The same with bars of normals, each point by itself: k_primitive_bars columns of numbers for each
  /// primitive, as long as those of points. Written where a primitive matters to a pack of points.
  void (*solid_vjp_by_point)(const BoundedSolid&, const SolidBarColumns&, double* memory,
                             double* primitives_bar);

  /// Contact points, to their solid and on from it.
  void (*vertices_to_solid)(const VertexVjp&, double* columns, int count);
  void (*vertices_from_solid)(const VertexVjp&, double* columns, int count, VertexVjpSums&);

  /// Pairs of edges, up to their probes; their gates; and back from the solids.
  void (*edge_pairs)(const EdgeVjp&, double* columns, int count);
  void (*edge_gates)(const EdgeVjp&, double* columns, int count, bool has_bars);
  void (*edges_from_solids)(const EdgeVjp&, double* columns, int count, EdgeVjpSums&);

  [[nodiscard]] static DerivativeKernels base();
  [[nodiscard]] static DerivativeKernels avx2();
  [[nodiscard]] static DerivativeKernels avx512();
};

}  // namespace abut
