#pragma once

#include <algorithm>
#include <cmath>
#include <ostream>
#include <sstream>
#include <string>

#include <Eigen/Core>

namespace abut::test {

/// The answer of close(): a bool that says, when Catch prints it, where the two differ most.
struct Closeness {
  bool is_close = true;
  std::string difference;

  explicit operator bool() const { return is_close; }
  bool operator!() const { return !is_close; }
  friend std::ostream& operator<<(std::ostream& out, const Closeness& c) {
    return out << (c.is_close ? "close" : c.difference);
  }
};

/// |a - b| <= atol + rtol max(|a|, |b|), and neither is NaN; equal infinities are close.
inline Closeness close(double a, double b, double rtol, double atol) {
  const double larger = std::fmax(std::abs(a), std::abs(b));
  if (a == b || (std::isfinite(larger) && std::abs(a - b) <= atol + rtol * larger)) return {};
  std::ostringstream message;
  message.precision(17);
  message << a << " against " << b << ": " << std::abs(a - b) / larger << " relative, " << std::abs(a - b)
          << " absolute";
  return {false, message.str()};
}

/// The same of every element by itself; false if the sizes differ.
template <typename A, typename B>
Closeness close(const Eigen::DenseBase<A>& a, const Eigen::DenseBase<B>& b, double rtol, double atol) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return {false, "sizes differ"};
  const auto& a_values = a.eval();
  const auto& b_values = b.eval();
  for (Eigen::Index col = 0; col < a.cols(); ++col) {
    for (Eigen::Index row = 0; row < a.rows(); ++row) {
      const Closeness c = close(double(a_values(row, col)), double(b_values(row, col)), rtol, atol);
      if (!c)
        return {false, "element (" + std::to_string(row) + ", " + std::to_string(col) + "): " + c.difference};
    }
  }
  return {};
}

/// The largest element of |a - b|, by that of |b| and `scale`.
template <typename A, typename B>
double relative_error(const A& a, const B& b, double scale = 0.0) {
  return (a - b).cwiseAbs().maxCoeff() / std::max({b.cwiseAbs().maxCoeff(), scale, 1e-300});
}

}  // namespace abut::test
