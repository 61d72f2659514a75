/// Signed distance of two convex parts with normal and witness points: GJK where their cores are apart, EPA
/// where they overlap, a Newton iteration on the normal where they are smooth, and both radii.
///
/// The distance is
///   phi = max_{|n| = 1} g(n),   g(n) = min_{x in B} n.x - max_{x in A} n.x = -h_A(n) - h_B(-n),
/// the gap between two parallel planes that touch A and B. phi > 0 when apart; else -phi is the length of the
/// shortest translation that parts them. The normal n points from A to B. The witness points x_A and x_B lie
/// on the surfaces, x_B - x_A = phi n.
///
/// Errors in double, by the size of the pair (that of both cores and the distance of their frames):
///   sharp cores                   1e-15 of distances; normals 1e-15 where faces or pairs of edges meet
///   one is curved (`is_polished`)  1e-14 of distances, 1e-12 of witness points, apart, touching and deep
/// A normal between two corners is rounding over their distance. Where Newton's method fails (nearly flat
/// sides of superquadrics, corners within 1e-7 of a curved core) phi is as good as `error` says and the
/// normal as the square root of that. `error` bounds that of phi whatever happened, up to rounding: that
/// there is no other, shorter way out of an overlap of curved cores is known to 1e-6 only.
///
/// Where several translations are equally short (concentric, aligned) one of them is found, the same for the
/// same numbers. Where cores without volume overlap, phi is minus the radii and the normal that of their
/// plane. Parallel faces have one pair of witness points here.
#pragma once

#include "collision/convex/convex_part.h"
#include "collision/convex/core_feature.h"
#include "collision/convex/epa.h"
#include "collision/convex/gjk.h"
#include "collision/convex/minkowski_difference.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

struct ConvexDistanceSettings {
  GjkSettings gjk;
  EpaSettings epa;
  /// Newton iterations on the normal, where support points are smooth functions of it; 0: none.
  int max_polish_iterations = 12;
  /// Tolerance of GJK and EPA before that, by the size of D.
  double polish_tolerance = 1e-6;
  /// phi beyond which a bound is enough, with status `beyond` [m].
  double cutoff = k_infinity;
};

enum class ConvexStatus {
  converged,
  beyond,      ///< farther apart than the cutoff: `distance` is a lower bound, witness points are not set
  inaccurate,  ///< stopped by iterations or rounding: `error` says how accurate it is
  unbounded    ///< both are half-spaces, or a number is not finite: nothing else is set
};

/// What the next query of the same pair may start from: valid at any poses, for the same parts.
struct ConvexWarmStart {
  DifferenceSimplex simplex{};  ///< of GJK
};

template <typename T>
struct ConvexDistance {
  ConvexStatus status = ConvexStatus::unbounded;
  T distance = T(0);                                                 ///< phi [m]
  T error = T(0);                                                    ///< |phi - true phi| is at most that [m]
  Vec3<T> normal_AB_W = Vec3<T>::UnitZ();                            ///< of unit length
  Vec3<T> point_A_W = Vec3<T>::Zero(), point_B_W = Vec3<T>::Zero();  ///< x_A, x_B [m]
  T core_distance = T(0);                                            ///< phi + r_A + r_B [m]
  bool is_polished = false;          ///< by Newton's method: normal and witness points to rounding
  CoreWitness witness_A, witness_B;  ///< x_A, x_B less their radii; empty of half-spaces
  int gjk_iterations = 0, epa_iterations = 0, polish_iterations = 0;
};

/// Memory of queries, one a thread.
struct ConvexScratch {
  EpaScratch epa;
};

/// @param X_WA, X_WB  poses of the bodies of the parts
/// @param warm        null, or where the search starts (if not empty) and what it leaves for the next one
/// Never throws. Allocates nothing once `scratch` has grown.
template <typename T>
[[nodiscard]] ConvexDistance<T> convex_distance(const ConvexPart<T>& A, const Pose<T>& X_WA,
                                                const ConvexPart<T>& B, const Pose<T>& X_WB,
                                                const ConvexDistanceSettings& settings,
                                                ConvexScratch& scratch, ConvexWarmStart* warm = nullptr);

}  // namespace abut
