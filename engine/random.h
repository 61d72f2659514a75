/// Random numbers from a seed: the same stream everywhere, which std::normal_distribution and its like lack.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "engine/pack.h"
#include "engine/types.h"

namespace abut {

/// A generator of period 2^256 - 1 (xoshiro256++), seeded through splitmix64. A copy continues alike.
/// @see  Blackman, Vigna (2021), "Scrambled linear pseudorandom number generators", ACM TOMS 47(4).
class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      word = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
      word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
      word ^= word >> 31;
    }
  }

  /// 64 random bits.
  std::uint64_t bits() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  /// Uniform in [lo, hi].
  double uniform(double lo, double hi) { return lo + (hi - lo) * uniform(); }

  /// Uniform in {0, ..., n - 1}, n >= 1; exactly, by rejection.
  std::uint64_t integer(std::uint64_t n) {
    const std::uint64_t excess = (UINT64_MAX % n + 1) % n;  // 2^64 mod n
    std::uint64_t x = bits();
    while (x > UINT64_MAX - excess) x = bits();
    return x % n;
  }

  /// Normally distributed, mean 0 and variance 1 (Marsaglia's polar method).
  double normal() {
    double x = 0.0, r2 = 0.0;
    do {
      x = uniform(-1.0, 1.0);
      const double y = uniform(-1.0, 1.0);
      r2 = x * x + y * y;
    } while (r2 >= 1.0 || r2 == 0.0);
    return x * std::sqrt(-2.0 * fast_log(r2) / r2);  // fast_log: std::log differs between C libraries
  }

  /// Uniform on the unit sphere.
  Vec3<double> unit_vector() {
    Vec3<double> x;
    double r2 = 0.0;
    do {
      for (int i = 0; i < 3; ++i) x[i] = uniform(-1.0, 1.0);
      r2 = (x[0] * x[0] + x[1] * x[1]) + x[2] * x[2];
    } while (r2 >= 1.0 || r2 < 1e-6);
    return x / std::sqrt(r2);
  }

  /// Uniform rotation, as a unit quaternion.
  Quat<double> quaternion() {
    double c[4], r2 = 0.0;
    do {
      for (double& x : c) x = uniform(-1.0, 1.0);
      r2 = (c[0] * c[0] + c[1] * c[1]) + (c[2] * c[2] + c[3] * c[3]);
    } while (r2 >= 1.0 || r2 < 1e-6);
    const double norm = std::sqrt(r2);
    return {c[0] / norm, c[1] / norm, c[2] / norm, c[3] / norm};
  }

 private:
  std::uint64_t state_[4];
};

}  // namespace abut
