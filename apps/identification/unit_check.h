/// Measurements in other units than those of the scene: which factor would explain them.
#pragma once

#include <string>
#include <vector>

#include "apps/identification/motion_fit.h"

namespace abut {

/// A factor that brings measurements to the scene.
struct UnitSuspicion {
  enum class Quantity { positions, angles, times } quantity = Quantity::positions;
  double factor = 1;  ///< to be multiplied with
  std::string text;   ///< "positions look like millimetres: multiplied by 0.001 they ..."
};

/// Compares measured positions (of surface points: their means) and coordinates of joints with the motions of the
/// guesses, as measured and multiplied by the factors of millimetres, centimetres, inches and feet, angles of hinges by
/// that of degrees; and at times as given and multiplied by those of milliseconds and microseconds. A factor is suspected where it makes the guessed
/// motion explain most of how the measurements vary, and none does not. Motions are simulated for 2000 steps
/// at most; what lies later, or cannot be simulated, says nothing.
[[nodiscard]] std::vector<UnitSuspicion> suspected_units(const MotionFit& fit);

}  // namespace abut
