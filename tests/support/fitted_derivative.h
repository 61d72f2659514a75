#pragma once

#include <cmath>
#include <limits>
#include <span>

namespace abut::test {

/// A derivative from values with scatter, and an estimate of its error from that scatter.
struct FittedDerivative {
  double value = std::numeric_limits<double>::quiet_NaN();
  double error = std::numeric_limits<double>::infinity();

  /// Whether the estimated error is within tolerance().
  [[nodiscard]] bool is_resolved() const { return error <= tolerance(); }
  /// Whether a derivative is within 1e-6 of the value, or within 1e-6.
  [[nodiscard]] bool agrees_with(double derivative) const {
    return std::abs(derivative - value) <= tolerance();
  }
  [[nodiscard]] double tolerance() const { return 1e-6 * std::fmax(1.0, std::abs(value)); }
};

/// df/dx from the polynomial of degree 5 that fits f at the 16 Chebyshev points of x - width ... x + width best.
/// With the coefficients c_j of T_j and the residual's standard deviation sigma,
///     value = (c_1 - 3 c_3 + 5 c_5)/width,   error = (2 sigma sqrt(35/8) + 7 |c_7|)/width,
/// twice the standard error of the slope, and the next term. Rounding that f magnifies, jumps, and a kink at x,
/// whose even terms the residual holds, all raise the error.
template <typename F>
FittedDerivative fitted_derivative(const F& f, double x, double width) {
  constexpr int k_points = 16, k_degree = 5;
  double values[k_points], coefficients[k_points];
  const auto angle = [](int k) { return std::acos(-1.0) * (k + 0.5) / k_points; };
  for (int k = 0; k < k_points; ++k) values[k] = f(x + width * std::cos(angle(k)));
  double residual = 0.0;
  for (int j = 0; j < k_points; ++j) {
    coefficients[j] = 0.0;
    for (int k = 0; k < k_points; ++k) coefficients[j] += 2.0 / k_points * values[k] * std::cos(j * angle(k));
    if (j > k_degree) residual += coefficients[j] * coefficients[j];
  }
  const double sigma = std::sqrt(residual * (0.5 * k_points) / (k_points - k_degree - 1));
  return {(coefficients[1] - 3.0 * coefficients[3] + 5.0 * coefficients[5]) / width,
          (2.0 * sigma * std::sqrt(35.0 * 2.0 / k_points) + 7.0 * std::abs(coefficients[7])) / width};
}

/// Of the widths the one with the smallest error for its tolerance, or the first whose error is a tenth of that.
template <typename F>
FittedDerivative fitted_derivative(const F& f, double x, std::span<const double> widths) {
  FittedDerivative best;
  for (const double width : widths) {
    const FittedDerivative fitted = fitted_derivative(f, x, width);
    if (fitted.error * best.tolerance() < best.error * fitted.tolerance()) best = fitted;
    if (best.error <= 0.1 * best.tolerance()) break;
  }
  return best;
}

}  // namespace abut::test
