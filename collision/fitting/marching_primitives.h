/// Superquadrics that together fill what a grid of signed distances has inside.
#pragma once

#include <vector>

#include "collision/fitting/distance_grid.h"
#include "engine/model.h"

namespace abut {

struct MarchingPrimitivesOptions {
  double truncation = 1.2;  ///< distances are cut off here [spacings], > 0
  int padding = 15;         ///< around a region, points that its superquadric may grow into [spacings], >= 1
  int least_region = 5;     ///< points of a region that gets a superquadric, >= 1
  double most_outside = 0.3;  ///< part of an accepted superquadric that may be outside [-], in (0, 1]
  double inlier_prior =
      0.01;             ///< of points inside: how likely it is that this superquadric is theirs, in (0, 1)
  int max_rounds = 50;  ///< >= 1
  int max_regions = 100000;   ///< that get a superquadric, accepted or not, >= 1
  int max_primitives = 1000;  ///< >= 1; those that matter least to the IoU are left out
  int refinement_sweeps = 5;  ///< of all superquadrics, against their union, >= 0
  MeshingProgress progress = {};
  double least_exponent = 0.05, most_exponent = 1.9;  ///< of superquadrics, in [0.02, 1.9]
};

struct MarchingPrimitivesReport {
  int rounds = 0;    ///< through all thresholds
  int rejected = 0;  ///< regions whose superquadric was mostly outside, or covered nothing new
  int left_out = 0;  ///< superquadrics without which the IoU is higher, or that are beyond max_primitives
  double iou = 0.0;  ///< points in both by points in either of grid and union
};

struct FittedSuperquadrics {
  std::vector<Primitive> primitives;
  MarchingPrimitivesReport report;
};

/// Fits superquadrics to a grid of signed distances, the deepest regions first.
///
/// Regions are connected sets of points (26 neighbours) deeper than a threshold, which goes from the deepest
/// of all towards the surface by factors of 3/5. Into each grows a superquadric, by Gauss-Newton steps on its
/// radial distance against the truncated distances of the grid: points outside count fully; points inside by
/// how likely it is that they are this superquadric's, given the error, and not another's. Where it comes to
/// rest it may start again with its axes exchanged, or turned by 45 degrees about one of them with the
/// opposite exponent. It is accepted if little of it is outside; then what it covers is taken off the grid.
///
/// In the end each superquadric in turn moves to where the union of all fits the truncated distances best.
/// Superquadrics are left out one by one, the least useful first, as long as there are too many or the IoU
/// rises; then the rest is refined once more.
///
/// The result depends on the grid and the options alone.
///
/// @see  Liu et al. (2023), "Marching-Primitives: shape abstraction from signed distance function". Changed:
///       first axes are those of the region's second moments; candidates are compared by their robust cost
///       over the whole region; the scales' and exponents' steps are limited.
///
/// Throws std::invalid_argument for options out of range. A grid without inside gives none.
[[nodiscard]] FittedSuperquadrics march_primitives(const DistanceGrid& grid,
                                                   const MarchingPrimitivesOptions& options = {});

/// A superquadric for a region in which a shape is wrong.
struct ResidualPrimitive {
  Primitive primitive;
  int gain;  ///< grid points that it makes right, less those that it makes wrong
};

/// Superquadrics for what a shape lacks of the inside of a grid (`operation` add), or has too much of it
/// (subtract): connected regions that are inside the grid and outside the shape, or the reverse, by a tenth
/// of a spacing, each fitted as in march_primitives(). Points that the shape has right already count for
/// nothing. The superquadrics are not refined, nor is any left out.
///
/// @param distances  of the shape, at the points of the grid [m]
/// Throws std::invalid_argument for options out of range.
[[nodiscard]] std::vector<ResidualPrimitive> march_residual(const DistanceGrid& grid,
                                                            const std::vector<double>& distances,
                                                            PrimitiveOperation operation,
                                                            const MarchingPrimitivesOptions& options = {});

/// Points with a negative distance in both by those in either, of a grid and the union of superquadrics.
[[nodiscard]] double volumetric_iou(const DistanceGrid& grid, const std::vector<Primitive>& superquadrics);

}  // namespace abut
