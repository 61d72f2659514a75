/// Gradient of a loss with respect to one primitive of a shape.
#pragma once

#include <array>
#include <vector>

#include "engine/types.h"

namespace abut {

/// dL/d of one primitive.
struct PrimitiveGradient {
  std::array<double, 5> parameters{};
  std::vector<double> values{};              ///< as many as the primitive has, or none yet: all 0
  Vec6<double> pose = Vec6<double>::Zero();  ///< by a left perturbation [rotation; translation] of X_BP, in B
};

}  // namespace abut
