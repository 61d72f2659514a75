/// Poses in which two copies of a body touch.
#pragma once

#include <vector>

#include "engine/model.h"
#include "engine/pose.h"

namespace abut::benchmarks {

/// Random poses of B in A at which a contact point of one lies in the other: rotations uniform, the centres
/// of mass 0.25 to 0.75 of the size apart in a uniform direction. The same on every machine.
[[nodiscard]] std::vector<Pose<double>> colliding_poses(const Body& body, int count);

}  // namespace abut::benchmarks
