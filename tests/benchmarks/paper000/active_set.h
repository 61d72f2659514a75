/// The exact minimiser of a quadratic program of two variables, without iterations or branches: the free
/// minimum if it lies in the set, else the least of the minima on the sides. box_quadratic.h and
/// vertex_face.h smooth these choices.
#pragma once

#include <array>

#include "quadratic_program.h"

namespace abut::paper000 {

template <typename S>
struct ActiveSetAnswer {
  std::array<S, 2> x;
  S gamma;  ///< 1 where the free minimum lies in the set, else 0
};

namespace active_set_detail {

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S clip_to_unit(const S& x) {
  const S above = select(x < S(0), S(0), x);
  return select(above < S(1), above, S(1));
}

/// Takes a candidate where it costs less.
template <typename S>
struct Best {
  std::array<S, 2> x;
  S cost;

  ABUT_KERNEL_PART void offer(const QuadraticProgram<S>& program, const std::array<S, 2>& candidate) {
    const S value = program.value(candidate);
    const auto is_less = value < cost;
    for (std::size_t j = 0; j < 2; ++j) x[j] = select(is_less, candidate[j], x[j]);
    cost = select(is_less, value, cost);
  }
};

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART std::array<S, 2> free_minimum(const QuadraticProgram<S>& p) {
  const S inverse = inverse_of(S(p.Q11 * p.Q22 - p.Q12 * p.Q12));
  return {(p.Q12 * p.c2 - p.Q22 * p.c1) * inverse, (p.Q12 * p.c1 - p.Q11 * p.c2) * inverse};
}

}  // namespace active_set_detail

/// Over the unit square; Q11, Q22 > 0. Where Q is singular the minimum is on a side as well, and found there.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART ActiveSetAnswer<S> active_set(const QuadraticProgram<S>& p, UnitSquare) {
  using namespace active_set_detail;
  const S inverse1 = inverse_of(p.Q11), inverse2 = inverse_of(p.Q22);
  Best<S> best;
  best.x = {S(0), clip_to_unit(S(-p.c2 * inverse2))};
  best.cost = p.value(best.x);
  best.offer(p, {S(1), clip_to_unit(S(-(p.c2 + p.Q12) * inverse2))});
  best.offer(p, {clip_to_unit(S(-p.c1 * inverse1)), S(0)});
  best.offer(p, {clip_to_unit(S(-(p.c1 + p.Q12) * inverse1)), S(1)});
  const std::array<S, 2> free = free_minimum(p);
  const auto inside = free[0] >= S(0) && free[0] <= S(1) && free[1] >= S(0) && free[1] <= S(1);
  return {{select(inside, free[0], best.x[0]), select(inside, free[1], best.x[1])},
          select(inside, S(1), S(0))};
}

/// Over the unit triangle x >= 0, x_1 + x_2 <= 1.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART ActiveSetAnswer<S> active_set(const QuadraticProgram<S>& p, UnitTriangle) {
  using namespace active_set_detail;
  Best<S> best;
  best.x = {S(0), clip_to_unit(S(-p.c2 * inverse_of(p.Q22)))};
  best.cost = p.value(best.x);
  best.offer(p, {clip_to_unit(S(-p.c1 * inverse_of(p.Q11))), S(0)});
  const S t = clip_to_unit(S((p.Q22 - p.Q12 + p.c2 - p.c1) * inverse_of(S(p.Q11 - S(2) * p.Q12 + p.Q22))));
  best.offer(p, {t, S(1) - t});
  const std::array<S, 2> free = free_minimum(p);
  const auto inside = free[0] >= S(0) && free[1] >= S(0) && free[0] + free[1] <= S(1);
  return {{select(inside, free[0], best.x[0]), select(inside, free[1], best.x[1])},
          select(inside, S(1), S(0))};
}

}  // namespace abut::paper000
