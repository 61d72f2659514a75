/// The kernels of the VJP of the simulation's contacts, one compilation for each instruction set: solids at
/// points, and relations of the selected edges of two bodies.
#pragma once

#include <string_view>

#include "collision/manifold/edge_edge.h"
#include "collision/manifold/kernel/detection_kernels.h"
#include "collision/manifold/kernel/point_kernels.h"
#include "collision/manifold/neighbour_weights.h"

namespace abut {

/// Points in the frame of a solid with dL/d(distance, normal) there. Columns are of whole packs of 8; what
/// fills the last one up has bars of 0 and a point of the list.
struct SolidBarColumns {
  PointColumns points;
  const double* distance;  ///< [m], to rounding: says which primitives matter
  const double* distance_bar;
  const double* normal_bar[3];  ///< null: all are 0
  double* x_bar[3];             ///< written
};

/// dL/d of a primitive: parameters (5), then its pose (6), left, in B.
inline constexpr int k_primitive_bars = 11;
/// Numbers of memory for each primitive.
inline constexpr int k_solid_vjp_memory = 16 * 8 + 1;

/// All pairs of the selected edges of two bodies, (rows, columns) numbers each, row by row. There are columns
/// for a whole number of packs of 8; those that fill up have an edge of the list, and weight 0.
struct EdgePairMatrices {
  int rows, columns;
  NeighbourSettings<double> neighbours;
  double radii;              ///< by which distances are less [m]
  const double* weights[2];  ///< of the edges
  double *softened, *interior, *clash, *nearness, *slopes, *by_row, *by_column;
  double *row_sums, *column_sums;
};

/// dL/d(weights of both contacts of each pair), and what follows from it.
struct EdgeWeightBars {
  const double* of_contacts[2];         ///< given, (rows, columns)
  double *softened, *interior, *clash;  ///< written, (rows, columns)
  double* of_edges[2];                  ///< of the selection weights, written: rows, columns
  double* sums[2];                      ///< memory: rows, columns
};

/// Some pairs of edges with dL/d of what they say; columns of whole packs of 8, the rest filled up with 0.
struct EdgePairBarColumns {
  const int *row, *column;
  int count;
  const double *distance, *softened, *interior, *clash;
  const double *point[3], *normal[3];  ///< of the contact: between the capsules' surfaces; from B to A
  const double* witness[2][3];         ///< witness points
};

/// One compilation of derivative_kernel.h.
struct DerivativeKernels {
  /// For solids that have it (ShapeSdf::has_vjp_by_lanes()): writes dL/dx and, unless null, adds dL/d(each
  /// primitive) to k_primitive_bars numbers each. `memory` has k_solid_vjp_memory numbers for each primitive.
  void (*solid_vjp)(const BoundedSolid&, const SolidBarColumns&, double* memory, double* primitives_bar);

  /// The same with bars of normals, each point by itself: k_primitive_bars columns of numbers for each
  /// primitive, as long as those of points. Written where a primitive matters to a pack of points.
  void (*solid_vjp_by_point)(const BoundedSolid&, const SolidBarColumns&, double* memory,
                             double* primitives_bar);

  /// Takes the radii off the softened distances and computes what follows: nearness and its slopes, sums,
  /// shares.
  void (*relate_neighbours)(const EdgePairMatrices&);

  void (*edge_weights_vjp)(const EdgePairMatrices&, const EdgeWeightBars&);

  /// Adds dL/d(edges) to 9 numbers an edge (start, vector, normal) and dL/d(both radii).
  void (*edge_pairs_vjp)(const EdgeEdgeSettings<double>&, const EdgeColumns& A, const EdgeColumns& B,
                         const double (&radii)[2], const EdgePairBarColumns&, double* edges_A_bar,
                         double* edges_B_bar, double (&radii_bar)[2]);
};

/// Those for one of available_instruction_sets().
[[nodiscard]] DerivativeKernels derivative_kernels_for(std::string_view instruction_set);

/// Those for instruction_set().
[[nodiscard]] const DerivativeKernels& derivative_kernels();

}  // namespace abut
