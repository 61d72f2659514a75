/// Forces of contacts, for those who want to see them.
#pragma once

#include "collision/manifold/contact.h"
#include "engine/types.h"

namespace abut {

/// What a contact did during a step.
struct ContactForce {
  ContactFeature feature;  ///< of pairs that are reduced of kind blended, without a feature of either body
  Vec3<double> point_W = Vec3<double>::Zero();  ///< [m]
  Vec3<double> normal_AB_W = Vec3<double>::Zero();
  Vec3<double> force_B_W =
      Vec3<double>::Zero();  ///< on body B, the mean over the whole step [N]; -force_B_W on A
  Vec3<double> slip_W =
      Vec3<double>::Zero();  ///< velocity of B relative to A across the normal at the end [m/s]
  double friction = 0;       ///< Coulomb coefficient of its pair [-]

  /// Along the direction of the normal, whatever its length [N].
  [[nodiscard]] double normal_force() const;
  /// Share of what friction can hold at most: 1 where it slides; 0 without a force or friction.
  [[nodiscard]] double friction_use() const;
};

}  // namespace abut
