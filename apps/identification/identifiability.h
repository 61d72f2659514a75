/// What motions tell of the unknowns, to first order about a solution.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "apps/identification/motion_fit.h"

namespace abut {

/// Half of a 95 % interval, in standard deviations of a normal distribution.
inline constexpr double k_normal_95 = 1.959963984540054;

/// A direction of the unknowns, in units of their size, that the motions tell little of.
struct OpenDirection {
  Eigen::VectorXd direction;  ///< an entry each, of unit length
  double deviation = 0;  ///< standard deviation along it, in sizes of the unknowns; infinite: nothing is told
  std::string text;      ///< "body.a.mass and body.b.mass are told as a ratio only"
};

/// What intervals rest on. H being the Hessian of half the loss, its residuals taken for linear,
///   stated     the noise is as stated, normal and independent: the covariance of x is (J^T W J)^-1, W = rho'
///   residuals  the spread of the residuals themselves: H^-1 (sum_b g_b g_b^T n/(n - m)) H^-1, g_b being the
///              gradient of each of the n blocks of measurements and m the number of unknowns (Huber's
///              sandwich). Right for noise of unknown size and for outliers, where n is much larger than m:
///              below 5 m intervals stay as stated. Priors count as stated
enum class IntervalBasis { stated, residuals };
[[nodiscard]] const char* to_string(IntervalBasis basis);

/// Statistics of estimates, which are normally distributed about the truth to first order.
struct Identifiability {
  /// How well an entry is known.
  ///   told      its deviation is below its own size
  ///   open      it is known to no better than its own size, or has a part in a direction of which nothing is
  ///             told: no interval is given
  ///   at_bound  it lies at a bound; intervals of the others take it for known
  enum class Entry { told, open, at_bound };
  std::vector<Entry> entries;
  Eigen::VectorXd deviation;        ///< standard deviation of each entry of x's tangent; infinite where open
  Eigen::MatrixXd covariance;       ///< of those that are told; 0 elsewhere
  Eigen::MatrixXd correlation;      ///< of the entries; 0 with those that are not told
  std::vector<OpenDirection> open;  ///< known to no better than their own size
  /// Mean square of residuals per degree of freedom: 1 where the noise is as stated. NaN without freedom, and
  /// with a robust loss.
  double reduced_chi_square = 0;
  /// Intervals were to be those of the residuals, of which there are too few.
  bool has_too_few_residuals = false;
  /// Largest by smallest singular value of J in sizes of the unknowns, of those that are told.
  double condition = 0;
};

/// At a solution.
///
/// @param evaluation  with the Jacobian there
[[nodiscard]] Identifiability identifiability_of(const MotionFit& fit, const Eigen::VectorXd& x,
                                                 const MotionFit::Evaluation& evaluation,
                                                 const RobustLoss& loss,
                                                 IntervalBasis basis = IntervalBasis::stated);

}  // namespace abut
