/// The fit of one superquadric to distances at grid points, by damped Gauss-Newton steps.
///
/// All in units of the spacing, from the lower corner of the grid.
#pragma once

#include <cstddef>
#include <vector>

#include "collision/fitting/fit_kernels.h"
#include "collision/fitting/free_superquadric.h"
#include "engine/check.h"
#include "engine/instruction_set.h"
#include "engine/types.h"

namespace abut {

/// Grid points, both corners included.
struct IntBox {
  Eigen::Vector3i lower = Eigen::Vector3i::Zero(), upper = Eigen::Vector3i::Zero();

  [[nodiscard]] double count() const {
    return (upper - lower + Eigen::Vector3i::Ones()).cast<double>().prod();
  }
};

/// Points that a fit looks at: coordinates, truncated distance, weight; as many as fill whole packs.
struct FitSamples {
  std::vector<float> x, y, z, d, w;
  std::vector<float> others;  ///< distance of the other superquadrics; large where they are of no concern
  std::size_t count = 0;      ///< without those that fill the last pack

  void add(float i, float j, float k, float distance, float weight) {
    x.push_back(i);
    y.push_back(j);
    z.push_back(k);
    d.push_back(distance);
    w.push_back(weight);
    ++count;
  }
  void fill_packs();
};

/// Radial distances of a superquadric at points, in columns of whole packs.
inline void distances_of(const FreeSuperquadric& sq, const float* x, const float* y, const float* z,
                         int count, float* out) {
  chosen_kernels<FitKernels>().distances(SuperquadricNumbers(sq), x, y, z, count, out);
}

struct SuperquadricFitOptions {
  double truncation = 1.2;     ///< T: distances are cut off here
  double inlier_prior = 0.01;  ///< of points inside: how likely it is that they are this superquadric's
  double least_exponent = 0.05, most_exponent = 1.9;
};

class SuperquadricFitter {
 public:
  explicit SuperquadricFitter(const SuperquadricFitOptions& options)
      : options_(options), T_(options.truncation) {}

  /// Brings it into the box and its numbers into their range.
  void clamp(FreeSuperquadric& sq, const IntBox& box) const;

  /// Damped Gauss-Newton steps with the weights as they are. @return mean w e^2
  double step(const IntBox& box, const FitSamples& samples, FreeSuperquadric& sq) const;

  /// Steps with weights that follow the errors, until the robust cost settles. Where it is calm, axes are
  /// exchanged, or turned by 45 degrees, if that lowers the cost.
  void fit(const IntBox& box, const FitSamples& samples, FreeSuperquadric& sq) const;

 private:
  [[nodiscard]] double outlier_level(double deviation) const;

  /// A superquadric's distances of all samples, and what each counts.
  struct Weighed {
    std::vector<float> distances, weights;
    /// Per sample: e^2 outside, -2 s^2 log((exp(-e^2/2s^2) + kappa)/(1 + kappa)) inside.
    double cost = k_infinity;
  };
  [[nodiscard]] Weighed weigh(const FreeSuperquadric& sq, double deviation, const FitSamples& samples) const;

  /// Steps with the samples near the surface as it is, and their weights. @return mean w e^2
  double step_near(const IntBox& box, const FitSamples& samples, const Weighed& weighed,
                   FreeSuperquadric& sq) const;

  /// Sums of w J J^T and w e J, and that of w; the error is that of the union with the other superquadrics.
  /// @return sum of w e^2
  double normal_equations(const FreeSuperquadric& sq, const FitSamples& samples, SuperquadricMatrix& JJ,
                          SuperquadricTangent& Je, double& weight) const;

  SuperquadricFitOptions options_;
  double T_;
};

}  // namespace abut
