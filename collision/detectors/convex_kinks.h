/// Where witness points of convex parts have no derivative, or one that holds only very near by.
///
/// Of parts whose witness points are known these are
///   along a line     both are flat along one line: witness points may be anywhere on it;
///   at a border      the witness point of a part lies at the border of its face or edge, beyond which the
///                    normal turns;
///   cores that meet  a proximity QP has no depth any more; and the normal of cores without volume, such as
///                    segments, may point either way;
///   another way out  of an overlap, in another direction and as short as the one that was found;
///   corners          that touch: the normal turns by a radian within a thousandth of their size.
/// Near is a thousandth: of a radian, of the size of a part, of a depth.
#pragma once

#include "collision/convex/convex_distance.h"
#include "collision/convex/convex_part.h"
#include "collision/convex/face_patch.h"
#include "collision/detectors/padded_part.h"
#include "engine/pose.h"

namespace abut {

/// Along a line, at a border, or at corners that touch.
///
/// @param by_B  derivatives of the same witness points
[[nodiscard]] bool has_kink_of_faces(const ConvexPart<double>& A, const Pose<double>& X_WA,
                                     const ConvexPart<double>& B, const Pose<double>& X_WB,
                                     const Witness<double>& witness, const WitnessByB& by_B);

/// Another way out, or cores without volume that meet.
///
/// @param scratch  of the query by convex_distance() that found the witness points
[[nodiscard]] bool has_other_way_out(const ConvexPart<double>& A, const Pose<double>& X_WA,
                                     const ConvexPart<double>& B, const Pose<double>& X_WB,
                                     const Witness<double>& witness, const ConvexScratch& scratch);

/// Whether the cores of a proximity QP meet.
[[nodiscard]] bool do_cores_meet(const PaddedPart& A, const PaddedPart& B, const Witness<double>& witness);

}  // namespace abut
