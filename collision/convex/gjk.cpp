#include "collision/convex/gjk.h"

#include <algorithm>
#include <cmath>

namespace abut {
namespace {

bool has_point(const DifferenceSimplex& simplex, const Vec3<double>& w) {
  for (int i = 0; i < simplex.count; ++i)
    if (simplex.points[at(i)].w == w) return true;
  return false;
}

}  // namespace

template <typename T>
GjkResult gjk(MinkowskiDifference<T>& difference, const GjkSettings& settings, DifferenceSimplex& simplex) {
  GjkResult result;
  const double tolerance = std::max(settings.tolerance * difference.size(), difference.rounding());
  const double touching = 8.0 * difference.rounding();
  if (simplex.count == 0) {
    const Vec3<double> to_B = difference.p_AB();
    simplex.points[0] =
        difference.support(to_B.squaredNorm() > 0.0 ? to_B : Vec3<double>(Vec3<double>::UnitZ()));
    simplex.count = 1;
  }
  Vec3<double> v = reduce_to_closest(simplex);
  double length = v.norm();
  for (; result.iterations < settings.max_iterations; ++result.iterations) {
    result.v = v;
    result.upper = length;
    if (simplex.count == 4 || length <= touching) {
      result.end = GjkEnd::overlap;
      return result;
    }
    const DifferencePoint next = difference.support(Vec3<double>(-v / length));
    result.lower = std::max(result.lower, v.dot(next.w) / length);
    if (result.lower > settings.cutoff) {
      result.end = GjkEnd::beyond;
      return result;
    }
    const double error = length - result.lower;
    if (error <= std::min(tolerance, std::max(settings.normal_tolerance * length, difference.rounding())))
      return result;
    DifferenceSimplex larger = simplex;
    larger.points[at(larger.count++)] = next;
    const Vec3<double> v_next = reduce_to_closest(larger);
    const double length_next = v_next.norm();
    // What a small step across v gains is lost in the rounding of |v|: the plane perpendicular to it says
    // more.
    const auto separates_better = [&] {
      return length_next <= length + difference.rounding() &&
             v_next.dot(difference.support(Vec3<double>(-v_next / length_next)).w) >
                 result.lower * length_next;
    };
    if (has_point(simplex, next.w) || (!(length_next < length) && !separates_better())) {
      // Where rounding ends the search before a plane separates the cores, how they touch is for EPA to say.
      if (!(result.lower > 0.0)) result.end = GjkEnd::overlap;
      return result;
    }
    simplex = larger;
    v = v_next;
    length = length_next;
  }
  result.end = GjkEnd::iterations;
  return result;
}

template GjkResult gjk(MinkowskiDifference<double>&, const GjkSettings&, DifferenceSimplex&);
template GjkResult gjk(MinkowskiDifference<float>&, const GjkSettings&, DifferenceSimplex&);

}  // namespace abut
