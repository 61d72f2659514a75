/// Overlap of solids, measured by their surfaces: what contacts, which know the points that touch, cannot
/// tell of bodies that lie deep in each other.
///
/// The depth of two solids A and B is
///     D = max over x in A and B of  -(phi_A(x) + phi_B(x)),
/// phi being their signed distances. A ball of radius -phi_A(x) about x lies in A, one of radius -phi_B(x) in
/// B, so that no translation shorter than D parts the two: D bounds the penetration depth from below, and is
/// equal to it where one direction of least translation exists (a body on a plane, two balls, coincident or
/// concentric boxes). D is as good as the distances are: exact for exact primitives and shallow overlaps.
#pragma once

#include <span>
#include <vector>

#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

class ContactDetector;

struct Overlap {
  int body_A = -1, body_B = -1;                 ///< body_A < body_B
  double depth = 0;                             ///< D [m], > 0
  Vec3<double> point_W = Vec3<double>::Zero();  ///< the x of D [m]
};

/// The depth of overlap, in sizes of the smaller body, that is worth a word: bodies at rest lie less deep in
/// each other than this, by the compliance of contacts and the smoothing of shapes.
inline constexpr double k_least_overlap = 1e-3;

/// The pairs of bodies that may touch and overlap by more than `least` sizes of the smaller body, in
/// ascending order. D is found by a search from a lattice in the pair's common box and from its contacts, to
/// about 1e-5 sizes; the same state always gives the same answer. Costs 0.1 ms (boxes) to 1 ms (bodies of
/// twenty primitives) for each pair whose boxes overlap, so it is for the start and the end of a run, not for
/// each of its steps. None where a pose is not finite.
[[nodiscard]] std::vector<Overlap> find_overlaps(const ContactDetector& detector,
                                                 std::span<const Pose<double>> X_WB,
                                                 double least = k_least_overlap);

/// The largest depth of any pair, `least` where none overlaps by more [m]. The deeper that is, the less the
/// search takes: give what contacts say.
[[nodiscard]] double deepest_overlap(const ContactDetector& detector, std::span<const Pose<double>> X_WB,
                                     double least = 0.0);

}  // namespace abut
