/// Time at which a contact that is open at the start of a substep closes: the root of its gap.
#pragma once

#include <algorithm>
#include <cmath>

namespace abut {

struct ImpactTime {
  double time;      ///< [s]
  double gap;       ///< there [m]
  int evaluations;  ///< of the gap
};

/// Root of gap_after(t) in (0, h), by regula falsi (Illinois).
///
/// @param gap_at_0  > 0 [m]
/// @param gap_at_h  < 0 [m]
/// @param rounding  size of the gap that rounding of its terms leaves [m], >= 0: about the unit roundoff
/// times
///                  the coordinates of the bodies. No smaller gap is sought, nor one below 1e-13 gap_at_0.
/// @return          a time with such a gap; where none is met in 60 evaluations, or where rounding leaves no
///                  time between the ends of the bracket, its end with a negative gap.
template <typename GapAfter>
[[nodiscard]] ImpactTime find_root_of_gap(const GapAfter& gap_after, double gap_at_0, double h,
                                          double gap_at_h, double rounding) {
  constexpr double k_relative = 1e-13;
  constexpr int k_most = 60;
  const double exact = std::max(k_relative * gap_at_0, rounding);
  double low = 0.0, weight_low = gap_at_0, high = h, gap_high = gap_at_h, weight_high = gap_at_h;
  int side = 0, evaluations = 0;
  while (evaluations < k_most) {
    const double t = (low * weight_high - high * weight_low) / (weight_high - weight_low);
    if (!(t > low && t < high)) break;
    const double gap = gap_after(t);
    ++evaluations;
    if (std::abs(gap) <= exact) return {t, gap, evaluations};
    // An end that stays for the second time has its weight halved.
    if (gap < 0.0) {
      high = t;
      gap_high = weight_high = gap;
      if (side < 0) weight_low *= 0.5;
      side = -1;
    } else {
      low = t;
      weight_low = gap;
      if (side > 0) weight_high *= 0.5;
      side = 1;
    }
  }
  return {high, gap_high, evaluations};
}

}  // namespace abut
