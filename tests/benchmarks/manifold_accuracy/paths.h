/// Straight paths of B through contact with A.
#pragma once

#include <vector>

#include "engine/pose.h"
#include "engine/random.h"

namespace abut::accuracy {

/// X(t) = retract(X(0), t [u; v]), |u| = |v| = 1: t is a turn [rad] about a fixed axis and a way in units of
/// length [m].
struct StraightPath {
  Pose<double> middle;
  Vec6<double> tangent;

  template <typename S>
  [[nodiscard]] Pose<S> at(const S& t) const {
    return retract<S>(middle.cast<S>(), Vec6<S>(tangent.cast<S>() * t));
  }
};

/// One in a random direction through each of the poses.
[[nodiscard]] inline std::vector<StraightPath> paths_through(const std::vector<Pose<double>>& poses) {
  Random random(6);
  std::vector<StraightPath> paths;
  for (const Pose<double>& pose : poses) {
    const Vec3<double> turn = random.unit_vector(), way = random.unit_vector();
    paths.push_back({pose, stack<double>(turn, way)});
  }
  return paths;
}

}  // namespace abut::accuracy
