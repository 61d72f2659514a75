/// Norms (|x|^q + |y|^q)^(1/q) and their gradients.
#pragma once

#include <cmath>

#include "engine/kernel_part.h"

namespace abut {

/// Added to |g_i|/|g|: where g_i changes its sign, powers of it below 1 would have infinite slopes.
inline constexpr double k_dual_sign = 1e-6;

/// dual_q(g), and |g|_q.
template <typename S>
struct DualPoint {
  S x, y, norm;

  ABUT_KERNEL_PART DualPoint(const S& g_x, const S& g_y, const S& q) {
    using std::exp, std::log, std::sqrt;
    const S square = g_x * g_x + g_y * g_y, inverse = S(1) / square, sign(k_dual_sign * k_dual_sign);
    const S log_x = S(0.5) * log(g_x * g_x * inverse + sign),
            log_y = S(0.5) * log(g_y * g_y * inverse + sign),
            log_norm = log(exp(q * log_x) + exp(q * log_y)) / q;  // of |g|_q/|g|
    const S power = q - S(1), root = sqrt(inverse), rest = S(0) - power * log_norm;
    x = g_x * root * exp((power - S(1)) * log_x + rest);
    y = g_y * root * exp((power - S(1)) * log_y + rest);
    norm = sqrt(square) * exp(log_norm);
  }
};

}  // namespace abut
