/// The sums of a superquadric's fit, one compilation for each instruction set.
#pragma once

#include "collision/fitting/free_superquadric.h"

namespace abut {

/// Columns of points of a fit are filled up to whole packs of so many.
inline constexpr int k_lanes_of_fit = 16;

/// A superquadric in single precision.
struct SuperquadricNumbers {
  float R[9], center[3], inverse_axes[3], eps1, eps2;

  explicit SuperquadricNumbers(const FreeSuperquadric& sq)
      : eps1(static_cast<float>(sq.eps1)), eps2(static_cast<float>(sq.eps2)) {
    for (int i = 0; i < 3; ++i) {
      center[i] = static_cast<float>(sq.center[i]);
      inverse_axes[i] = static_cast<float>(1.0 / sq.axes[i]);
      for (int j = 0; j < 3; ++j) R[3 * i + j] = static_cast<float>(sq.R(i, j));
    }
  }
};

/// Points of a fit (FitSamples), whole packs of them.
struct FitColumns {
  const float *x, *y, *z;
  const float *d, *w;   ///< truncated distance, weight
  const float* others;  ///< distance of the other superquadrics
  int count;
};

/// Sums over points: of w J J^T (the lower triangle, row by row), w e J, w e^2 and w.
struct FitSums {
  float JJ[66], Je[11], cost, weight;
};

/// One compilation of fit_kernel.h.
struct FitKernels {
  /// Radial distances at points; the columns are of whole packs.
  void (*distances)(const SuperquadricNumbers&, const float* x, const float* y, const float* z, int count,
                    float* out);
  /// The error e is that of the union with the others, truncated at T; J is 0 where it does not move.
  void (*normal_equations)(const SuperquadricNumbers&, const FitColumns&, float T, FitSums&);

  [[nodiscard]] static FitKernels base();
  [[nodiscard]] static FitKernels avx2();
  [[nodiscard]] static FitKernels avx512();
};

}  // namespace abut
