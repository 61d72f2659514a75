/// Blocks of links in a factorization: products with X, by which a link is carried along with its parent, and the
/// way between twists and rates (motion/link_motion.h).
#pragma once

#include "dynamics/motion/link_motion.h"
#include "engine/lie.h"

namespace abut {

/// B X
[[nodiscard]] inline Mat6<double> times_carried(const LinkMotion& link, const Mat6<double>& B) {
  Mat6<double> BX = B;
  BX.leftCols<3>().noalias() -= B.rightCols<3>() * skew<double>(link.r);
  return BX;
}

/// X' B, of any number of columns
template <typename Block>
[[nodiscard]] Block block_on_parent(const LinkMotion& link, const Block& B) {
  Block on_parent = B;
  on_parent.template topRows<3>().noalias() += skew<double>(link.r) * B.template bottomRows<3>();
  return on_parent;
}

/// On the way up: the force on a link becomes [S' F; 0], and goes on to its parent.
inline void force_to_rates(const LinkMotion& link, GrowableVector& x) {
  auto of_link = x.segment<6>(6 * link.slot);
  const Vec6<double> F = of_link;
  if (link.parent >= 0) x.segment<6>(6 * link.parent) += link.on_parent(F);
  of_link << link.S.transpose() * F, Vec3<double>::Zero();
}

/// On the way down: rates become the link's twist.
inline void rates_to_twist(const LinkMotion& link, GrowableVector& x) {
  auto of_link = x.segment<6>(6 * link.slot);
  const Vec3<double> d = of_link.head<3>();
  of_link = link.S * d;
  if (link.parent >= 0) of_link += link.carried(x.segment<6>(6 * link.parent));
}

}  // namespace abut
