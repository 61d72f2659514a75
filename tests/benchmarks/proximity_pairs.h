/// Pairs of padded rectangles with centres uniform in a cube of 2 m and uniform attitudes.
#pragma once

#include <vector>

#include "collision/convex/proximity_qp_core.h"

namespace abut::benchmarks {

template <typename S>
struct RectanglePair {
  PaddedPolygon<S, 4> A, B;
};

inline constexpr int k_pairs = 1024;

/// So many; the same each time.
[[nodiscard]] std::vector<RectanglePair<double>> rectangle_pairs();

}  // namespace abut::benchmarks
