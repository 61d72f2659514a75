/// EPA: the depth of two convex cores that overlap, by the face of their Minkowski difference closest to the
/// origin.
///
/// A polytope within D grows from a simplex: the face whose plane is closest to the origin is replaced by
/// faces to the support point along its normal. Planes count with their sign, so it does not matter whether
/// the polytope contains the origin yet, nor whether D does: where cores are apart by a little, or just
/// touch, the result is the largest plane distance. That of the closest face is never above the depth, the
/// support function along its normal never below it; the iteration ends where they differ by `tolerance`. It
/// is exact for polyhedra. Where D is curved, faces near the closest point are divided again and again, each
/// time to about a quarter of the error.
///
/// A D without volume (two segments, a point and a segment, two points) has depth 0 along a normal of its
/// plane.
/// @see  van den Bergen (2001), "Proximity queries and penetration depth computation on 3D game objects".
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "collision/convex/gjk.h"
#include "collision/convex/minkowski_difference.h"
#include "engine/types.h"

namespace abut {

struct EpaSettings {
  int max_iterations = 192;
  double tolerance = 1e-14;  ///< of the depth, by the size of D; at least what rounding makes of it
};

/// Memory of EPA, which it keeps from one use to the next.
struct EpaScratch {
  struct Face {
    std::array<int, 3> corners;     ///< counter-clockwise seen from outside
    std::array<int, 3> neighbours;  ///< across the edge from corner i to corner i + 1
    Vec3<double> normal;            ///< outwards, of unit length
    double distance;                ///< of its plane from the origin, along the normal [m]
    bool is_alive;
  };
  struct Edge {
    int from, to,
        face;  ///< of the horizon: beside a face that stays, in the direction of the one that leaves
  };
  std::vector<DifferencePoint> points;
  std::vector<Face> faces, new_faces;
  std::vector<std::pair<double, int>> heap;  ///< distances of faces, the closest first
  std::vector<int> stack, leaving;           ///< faces
  std::vector<int> face_from;                ///< by point: which edge of the horizon starts there
  std::vector<Edge> horizon;
};

enum class EpaEnd {
  converged,
  flat,       ///< D has no volume
  iterations  ///< of the settings, or faces that rounding does not divide: the error is upper - lower
};

struct EpaResult {
  EpaEnd end = EpaEnd::converged;
  int iterations = 0;
  Vec3<double> normal =
      Vec3<double>::UnitZ();        ///< of D where the origin is closest to its boundary, in P; from A to B
  double lower = 0.0, upper = 0.0;  ///< bounds of the depth [m]; both below 0 where the origin lies outside D
};

/// @param simplex  where the polytope starts, at least one point of D; then the points of the closest face,
///                 with the weights of its point closest to the origin
template <typename T>
[[nodiscard]] EpaResult epa(MinkowskiDifference<T>& difference, const EpaSettings& settings,
                            DifferenceSimplex& simplex, EpaScratch& scratch);

}  // namespace abut
