#include "collision/convex/convex_distance.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "collision/convex/normal_polish.h"
#include "collision/convex/support.h"

namespace abut {
namespace {

/// A part at a half-space, the solid below the plane through p with normal n (all in W).
template <typename T>
ConvexDistance<T> half_space_distance(const ConvexPart<T>& part, const Pose<T>& X_WP, const Pose<T>& X_WH) {
  const Vec3<T> n = X_WH.q * Vec3<T>(Vec3<T>::UnitZ());
  int vertex = -1;
  const Vec3<T> lowest = X_WP * core_support(part, Vec3<T>(X_WP.q.conjugate() * Vec3<T>(-n)), vertex);
  ConvexDistance<T> result;
  result.status = ConvexStatus::converged;
  result.core_distance = n.dot(lowest - X_WH.p);
  result.distance = result.core_distance - part.radius;
  result.normal_AB_W = n;
  result.point_A_W = lowest - result.core_distance * n;
  result.point_B_W = lowest - part.radius * n;
  return result;
}

template <typename T>
bool is_curved(const ConvexPart<T>& part) {
  return part.core == ConvexCore::superquadric || part.core == ConvexCore::cone;
}

template <typename T>
bool is_finite(const Pose<T>& X) {
  return X.p.allFinite() && X.q.coeffs().allFinite();
}

/// Of cores, in P; the same members as ConvexDistance.
struct CoreDistance {
  GjkEnd end = GjkEnd::apart;
  double distance = 0.0, lower = 0.0, upper = 0.0;
  Vec3<double> normal = Vec3<double>::UnitZ();
  CoreWitness witness_A, witness_B;
  bool is_polished = false;
  int gjk_iterations = 0, epa_iterations = 0, polish_iterations = 0;
};

/// Counts iterations on top of those there are.
template <typename T>
void find_depth(MinkowskiDifference<T>& difference, const EpaSettings& settings, DifferenceSimplex closest,
                ConvexScratch& scratch, CoreDistance& result) {
  const EpaResult depth = epa(difference, settings, closest, scratch.epa);
  result.epa_iterations += depth.iterations;
  result.normal = depth.normal;
  result.distance = result.lower = -depth.upper;
  if (result.lower > 0.0) {  // apart after all: points of both cores are no closer than the cores are
    if (!is_curved(difference.A()) && !is_curved(difference.B())) result.distance = result.upper;
  } else {
    result.upper = -depth.lower;
  }
  result.witness_A = witness_of(closest, true);
  result.witness_B = witness_of(closest, false);
}

/// GJK and, where they overlap, EPA.
template <typename T>
void find_closest(MinkowskiDifference<T>& difference, const GjkSettings& gjk_settings,
                  const EpaSettings& epa_settings, DifferenceSimplex& simplex, ConvexScratch& scratch,
                  CoreDistance& result) {
  const GjkResult found = gjk(difference, gjk_settings, simplex);
  result.end = found.end;
  result.gjk_iterations += found.iterations;
  result.lower = found.lower;
  result.distance = result.upper = found.upper;
  if (found.end == GjkEnd::overlap) {
    find_depth(difference, epa_settings, simplex, scratch, result);
    return;
  }
  result.normal = -found.v / found.upper;
  result.witness_A = witness_of(simplex, true);
  result.witness_B = witness_of(simplex, false);
}

/// Whether the polished normal is better; then it is the result.
template <typename T>
bool polish_result(MinkowskiDifference<T>& difference, int max_iterations, CoreDistance& result) {
  const PolishedNormal polished = polish_normal(difference, result.normal, result.witness_A, result.witness_B,
                                                result.lower, max_iterations);
  result.polish_iterations += polished.iterations;
  if (!polished.is_better) return false;
  result.is_polished = true;
  result.normal = polished.normal;
  result.distance = polished.distance;
  result.witness_A = polished.witness_A;
  result.witness_B = polished.witness_B;
  result.lower = std::max(result.lower, polished.lower);
  // Points of both cores are no closer than the cores are.
  if (result.end != GjkEnd::overlap)
    result.upper =
        std::min(result.upper, difference.distance(polished.witness_A.mean(), polished.witness_B.mean()));
  return true;
}

template <typename T>
CoreDistance core_distance(MinkowskiDifference<T>& difference, const ConvexDistanceSettings& settings,
                           double cutoff, DifferenceSimplex& simplex, ConvexScratch& scratch) {
  CoreDistance result;
  GjkSettings gjk_settings = settings.gjk;
  EpaSettings epa_settings = settings.epa;
  gjk_settings.cutoff = std::min(gjk_settings.cutoff, cutoff);
  // Where D is curved, the normal is polished from a coarse answer, and a finer one sought only if that
  // fails.
  const bool has_polish =
      (is_curved(difference.A()) || is_curved(difference.B())) && settings.max_polish_iterations > 0;
  if (has_polish) {
    gjk_settings.tolerance = std::max(gjk_settings.tolerance, settings.polish_tolerance);
    gjk_settings.normal_tolerance = 1e-3;  // however close they are
    epa_settings.tolerance = std::max(epa_settings.tolerance, settings.polish_tolerance);
  }
  find_closest(difference, gjk_settings, epa_settings, simplex, scratch, result);
  if (!has_polish || result.end == GjkEnd::beyond ||
      polish_result(difference, settings.max_polish_iterations, result))
    return result;
  gjk_settings.tolerance = settings.gjk.tolerance;
  gjk_settings.normal_tolerance = settings.gjk.normal_tolerance;
  epa_settings.tolerance = settings.epa.tolerance;
  find_closest(difference, gjk_settings, epa_settings, simplex, scratch, result);
  if (result.end != GjkEnd::beyond) (void)polish_result(difference, settings.max_polish_iterations, result);
  return result;
}

}  // namespace

template <typename T>
ConvexDistance<T> convex_distance(const ConvexPart<T>& A, const Pose<T>& X_WA, const ConvexPart<T>& B,
                                  const Pose<T>& X_WB, const ConvexDistanceSettings& settings,
                                  ConvexScratch& scratch, ConvexWarmStart* warm) {
  const Pose<T> X_WP = X_WA * A.X_BP, X_WQ = X_WB * B.X_BP;  // P and Q: the frames of both parts
  ConvexDistance<T> result;
  if (!is_finite(X_WP) || !is_finite(X_WQ)) return result;
  if (A.core == ConvexCore::half_space || B.core == ConvexCore::half_space) {
    if (A.core == B.core) return result;
    if (A.core == ConvexCore::half_space) return half_space_distance(B, X_WQ, X_WP);
    result = half_space_distance(A, X_WP, X_WQ);
    result.normal_AB_W = -result.normal_AB_W;
    std::swap(result.point_A_W, result.point_B_W);
    return result;
  }
  const Pose<double> X_PQ =
      X_WP.template cast<double>().normalized().inverse() * X_WQ.template cast<double>().normalized();
  MinkowskiDifference<T> difference(A, B, X_PQ);
  DifferenceSimplex simplex;
  if (warm != nullptr && warm->simplex.count > 0) {
    simplex = warm->simplex;
    for (int i = 0; i < simplex.count; ++i) difference.place(simplex.points[at(i)]);
    difference.start_search_at(simplex.points[0].vertex_A, simplex.points[0].vertex_B);
  }
  const T radii = A.radius + B.radius;
  const CoreDistance found =
      core_distance(difference, settings, settings.cutoff + double(radii), simplex, scratch);
  if (warm != nullptr) warm->simplex = simplex;

  result.gjk_iterations = found.gjk_iterations;
  result.epa_iterations = found.epa_iterations;
  result.polish_iterations = found.polish_iterations;
  result.normal_AB_W = X_WP.q * Vec3<T>(found.normal.cast<T>());
  if (found.end == GjkEnd::beyond) {
    result.status = ConvexStatus::beyond;
    result.core_distance = T(found.lower);
    result.distance = result.core_distance - radii;
    return result;
  }
  result.core_distance = T(found.distance);
  result.distance = result.core_distance - radii;
  result.error = T(std::max(std::abs(found.upper - found.distance), std::abs(found.distance - found.lower)));
  result.is_polished = found.is_polished;
  result.witness_A = found.witness_A;
  result.witness_B = found.witness_B;
  result.point_A_W = X_WP * Vec3<T>(found.witness_A.mean().cast<T>()) + A.radius * result.normal_AB_W;
  result.point_B_W = X_WQ * Vec3<T>(found.witness_B.mean().cast<T>()) - B.radius * result.normal_AB_W;
  const double tolerance = std::max({found.is_polished ? settings.polish_tolerance : 0.0,
                                     settings.gjk.tolerance, settings.epa.tolerance}) *
                           difference.size();
  const bool is_accurate = double(result.error) <= 64.0 * std::max(tolerance, difference.rounding());
  result.status = is_accurate ? ConvexStatus::converged : ConvexStatus::inaccurate;
  return result;
}

template ConvexDistance<double> convex_distance(const ConvexPart<double>&, const Pose<double>&,
                                                const ConvexPart<double>&, const Pose<double>&,
                                                const ConvexDistanceSettings&, ConvexScratch&,
                                                ConvexWarmStart*);
template ConvexDistance<float> convex_distance(const ConvexPart<float>&, const Pose<float>&,
                                               const ConvexPart<float>&, const Pose<float>&,
                                               const ConvexDistanceSettings&, ConvexScratch&,
                                               ConvexWarmStart*);

}  // namespace abut
