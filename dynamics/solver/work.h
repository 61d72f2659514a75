/// Which bodies and joints do work of their own.
#pragma once

#include <algorithm>

#include "dynamics/motion/link_motion.h"
#include "dynamics/rows/contact_rows.h"
#include "dynamics/rows/joint_rows.h"

namespace abut {

/// Whether driven bodies, motors or springs do work on the bodies of a problem.
[[nodiscard]] inline bool has_work_of_its_own(const ContactRows& rows, const JointRows& joints,
                                              const LinkMotions& links) {
  return std::any_of(links.begin(), links.end(), [](const LinkMotion& link) { return link.base_moves; }) ||
         std::any_of(joints.groups.begin(), joints.groups.end(),
                     [](const JointGroup& joint) { return joint.does_work; }) ||
         std::any_of(rows.pairs.begin(), rows.pairs.end(),
                     [](const RowPair& pair) { return !pair.V_A.isZero(0.0) || !pair.V_B.isZero(0.0); });
}

}  // namespace abut
