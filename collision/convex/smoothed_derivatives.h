/// Randomized smoothing of derivatives: values stay exact, derivatives are those of a smoothed problem.
///
/// Derivatives of witness points of polyhedra are piecewise constant, and zero or unbounded in directions in
/// which features change. Four estimates that see some way around them, by the same interface:
///
///   method              what is smoothed                     epsilon                               queries
///   finite_differences  nothing: central differences         step [m]                              12
///   zeroth_gaussian     the answer, over relative poses      standard deviation [m]                `samples`
///   first_gaussian      support points, over normals         standard deviation of a normal [rad]  none
///   first_gumbel        support points, over vertices up to  temperature [m]: vertices that reach  none
///                       `rings` edges away                   less far by epsilon count 1/e
///
/// A query is one of the detector; first_gaussian takes 2 `samples` support points instead.
/// Rotations by the first two are epsilon over the size of B. Derivatives by A follow from those by B,
/// because moving both together moves the answer along. With W the derivative of the support point by the
/// unit normal:
///   zeroth_gaussian   J ~ sum (x(T + eps z) - x(T - eps z)) z^T/(2 eps) over pairs, T the pose of B
///   first_gaussian    W ~ sum (s(n + eps z) - s(n - eps z)) z^T/(2 eps), symmetric part, perpendicular to n
///   first_gumbel      W = V (diag a - a a^T) V^T/eps, a = softmax(V^T n/eps), perpendicular to n
/// and the last two enter witness_derivatives() in place of the exact W. Curved cores keep theirs in
/// first_gumbel. The same seed gives the same numbers.
///
/// @see  Montaut et al. (2023), "Differentiable collision detection: a randomized smoothing approach".
///       Changed here: the normal has unit length, so that smoothing does not depend on the distance;
///       perturbations are tangents of the pose, not of its quaternion; samples come in antithetic pairs,
///       which do what their baseline does and cancel even terms, too; noise of the softmax is a standard
///       Gumbel one.
#pragma once

#include <cstdint>
#include <vector>

#include "collision/convex/witness_derivatives.h"
#include "engine/random.h"

namespace abut {

enum class SmoothingMethod { finite_differences, zeroth_gaussian, first_gaussian, first_gumbel };

struct SmoothingSettings {
  SmoothingMethod method = SmoothingMethod::first_gumbel;
  double epsilon = 1e-3;  ///< see above, > 0
  int samples = 20;       ///< >= 2, even
  int rings = 1;          ///< >= 1
  std::uint64_t seed = 1;
  double least_radius = 1e-9;  ///< of witness_derivatives() [m], > 0
};

/// Throws std::invalid_argument naming every field that is out of range.
void validate(const SmoothingSettings& settings);

/// Memory that is kept from one use to the next.
struct SmoothingScratch {
  ConvexScratch convex;
  std::vector<int> ring, distance;
  std::vector<double> weights;
};

/// W of the first_gaussian method, of a core in its own frame P [m].
[[nodiscard]] Mat3<double> gaussian_support_jacobian(const ConvexPart<double>& part,
                                                     const Vec3<double>& normal, double epsilon, int samples,
                                                     Random& random);

/// W of the first_gumbel method, of a core in its own frame P [m].
[[nodiscard]] Mat3<double> gumbel_support_jacobian(const ConvexPart<double>& part, const Vec3<double>& normal,
                                                   double epsilon, int rings, SmoothingScratch& scratch);

/// @param found  of the same parts and poses, both bounded
[[nodiscard]] WitnessDerivatives smoothed_derivatives(const ConvexPart<double>& A, const Pose<double>& X_WA,
                                                      const ConvexPart<double>& B, const Pose<double>& X_WB,
                                                      const ConvexDistance<double>& found,
                                                      const SmoothingSettings& settings,
                                                      SmoothingScratch& scratch);

}  // namespace abut
