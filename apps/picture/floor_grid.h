/// The grid of a floor: lines at round lengths, and the numbers at them.
#pragma once

#include <string>
#include <vector>

#include "apps/picture/picture.h"

namespace abut {

/// Lines x = i minor and y = i minor of G, thicker ones at multiples of `major`.
struct FloorGrid {
  Pose<double> X_WG;  ///< z out of the floor; the axes and origin of W as far as the floor is level
  Vec2<double> middle{0.0, 0.0};    ///< below the camera's target, in G [m]
  double reach = 1.0;               ///< distance of the camera, and of its target from the floor [m]
  double major = 1.0, minor = 0.2;  ///< 1, 2 or 5 times a power of ten; a fifth or a quarter of that [m]
};

[[nodiscard]] FloorGrid floor_grid(const DrawnFloor& floor, const OrbitCamera& camera);

struct GridLabel {
  Vec3<double> p_W = Vec3<double>::Zero();  ///< of the middle of its lower border [m]
  std::string text;                         ///< as "x 0.2 m"
};

/// Numbers at thick lines, along one line of either direction between the middle and the camera: those two of
/// which the picture shows most. None of a floor that is seen from below.
///
/// @param aspect  width/height of the picture
[[nodiscard]] std::vector<GridLabel> grid_labels(const FloorGrid& grid, const OrbitCamera& camera,
                                                 double aspect);

}  // namespace abut
