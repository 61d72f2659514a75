/// GJK: the distance of two convex cores that are apart, by the point of their Minkowski difference closest
/// to the origin.
///
/// Each iteration adds the support point w of D along -v to a simplex and takes the simplex's closest point
/// to the origin as the new v. |v| is never below the distance, v.w/|v| never above it: that is the error
/// bound, and the iteration ends where they differ by `tolerance`, where w is a point that is already there,
/// or where |v| no longer falls (rounding).
/// @see  Gilbert, Johnson, Keerthi (1988), "A fast procedure for computing the distance between complex
///       objects in three-dimensional space"; the sub-algorithm is that of Montanari et al. (2017),
///       minkowski_difference.h.
#pragma once

#include <limits>

#include "collision/convex/minkowski_difference.h"
#include "engine/types.h"

namespace abut {

struct GjkSettings {
  int max_iterations = 128;
  double tolerance = 1e-14;  ///< of the distance, by the size of D; at least what rounding makes of it
  double normal_tolerance =
      k_infinity;              ///< of the distance, by |v|: about half the square of the normal's error
  double cutoff = k_infinity;  ///< stops once the cores are known to be farther apart [m]
};

enum class GjkEnd {
  apart,      ///< v and the simplex are closest, up to upper - lower
  overlap,    ///< the simplex contains the origin, or no plane is found that separates the cores
  beyond,     ///< farther apart than the cutoff; lower is a bound of the distance
  iterations  ///< as apart, with the error that is left
};

struct GjkResult {
  GjkEnd end = GjkEnd::apart;
  int iterations = 0;
  Vec3<double> v = Vec3<double>::Zero();  ///< closest point of D, from B to A, in P [m]
  double lower = 0.0, upper = 0.0;        ///< bounds of the distance [m]
};

/// @param simplex  where the search starts: points of D at these poses (place()), or none; then the last
/// simplex
template <typename T>
[[nodiscard]] GjkResult gjk(MinkowskiDifference<T>& difference, const GjkSettings& settings,
                            DifferenceSimplex& simplex);

}  // namespace abut
