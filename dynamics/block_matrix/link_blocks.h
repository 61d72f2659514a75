/// Blocks of links in a factorization: products with X, by which a link is carried along with its parent, and the
/// way between twists and rates (motion/link_motion.h).
#pragma once

#include "dynamics/motion/link_motion.h"

namespace abut {

/// B X, of which the right half is that of B and the left one less B's right half times [r]x
[[nodiscard]] inline Mat6<double> times_carried(const LinkMotion& link, const Mat6<double>& B) {
  const Vec3<double>& r = link.r;
  Mat6<double> BX;
  BX.col(0) = B.col(0) - r.z() * B.col(4) + r.y() * B.col(5);
  BX.col(1) = B.col(1) + r.z() * B.col(3) - r.x() * B.col(5);
  BX.col(2) = B.col(2) - r.y() * B.col(3) + r.x() * B.col(4);
  BX.rightCols<3>() = B.rightCols<3>();
  return BX;
}

/// X' B, of any number of columns
template <typename Block>
[[nodiscard]] Block block_on_parent(const LinkMotion& link, const Block& B) {
  Block on_parent = B;
  if constexpr (Block::ColsAtCompileTime > 0) {
    for (Eigen::Index c = 0; c < B.cols(); ++c) {
      const Vec3<double> force = B.template block<3, 1>(3, c);
      on_parent.template block<3, 1>(0, c) += link.r.cross(force);
    }
  }
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
