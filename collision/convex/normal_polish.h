/// The last digits of a normal: Newton's method for the features at which GJK and EPA end.
///
/// The signed distance of cores is the maximum over unit n of g(n) = n.(x_B(n) - x_A(n)), the x being support
/// points. Where these are smooth functions of n, the Hessian of g on the sphere is -(W_A + W_B + g I). Where
/// a core has flat directions e at the contact, the maximum is at a kink of g and n.e = 0 there; these are
/// equations of the iteration, and the witness points follow from x_B - x_A = g n. GJK and EPA know n to the
/// square root of their tolerance only where D is curved. This knows it to rounding.
#pragma once

#include "collision/convex/core_feature.h"
#include "collision/convex/minkowski_difference.h"
#include "engine/types.h"

namespace abut {

struct PolishedNormal {
  bool is_better = false;  ///< the rest is set, and consistent to rounding
  int iterations = 0;
  Vec3<double> normal = Vec3<double>::UnitZ();  ///< in P
  double distance = 0.0;                        ///< n.(x_B - x_A) of the witness points [m]
  double lower = 0.0;  ///< g(n) by support points: never above the distance of the cores [m]
  CoreWitness witness_A, witness_B;
  bool outside_A = false, outside_B = false;  ///< not better because a witness point is not of its core
};

/// @param normal, witness_A, witness_B  what GJK or EPA found
/// @param lower                         g of it: a result below that, by more than rounding, is refused [m]
template <typename T>
[[nodiscard]] PolishedNormal polish_normal(MinkowskiDifference<T>& difference, const Vec3<double>& normal,
                                           const CoreWitness& witness_A, const CoreWitness& witness_B,
                                           double lower, int max_iterations);

}  // namespace abut
