/// Many measured numbers, and what is said of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "engine/types.h"

namespace abut::accuracy {

class Samples {
 public:
  /// Throws std::domain_error of what is not finite: no statistic would show it.
  void add(double x) {
    if (!std::isfinite(x)) throw std::domain_error("a measured number is not finite");
    values_.push_back(x);
    sorted_ = false;
  }

  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] double median() { return quantile(0.5); }
  [[nodiscard]] double largest() { return quantile(1.0); }
  /// The least number that is not exceeded by a share q of all; throws std::domain_error of none.
  [[nodiscard]] double quantile(double q) {
    if (values_.empty()) throw std::domain_error("nothing was measured");
    if (!sorted_) std::sort(values_.begin(), values_.end());
    sorted_ = true;
    const double rank = std::ceil(q * static_cast<double>(values_.size()));
    return values_[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
  }

 private:
  std::vector<double> values_;
  bool sorted_ = false;
};

/// Between two vectors of any length > 0 [degrees]; 90 where one is 0.
[[nodiscard]] inline double angle_between(const Vec3<double>& a, const Vec3<double>& b) {
  if (a.isZero(0.0) || b.isZero(0.0)) return 90.0;
  return std::atan2(a.cross(b).norm(), a.dot(b)) * 180.0 / std::numbers::pi;
}

/// Errors below this are rounding, which differs from one machine to another: tables show them as 0.
inline constexpr double k_rounding = 1e-10;
[[nodiscard]] inline double shown_error(double error) { return error < k_rounding ? 0.0 : error; }

}  // namespace abut::accuracy
