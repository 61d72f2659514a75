/// Pack<T, W>: W numbers computed with as one, lane by lane. The only file that knows the instruction set.
///
/// A kernel written on a scalar S runs on a Pack unchanged, if it branches with select(), asks any() or all()
/// of a comparison, and calls maths unqualified. Each lane of every operation depends on the same lane of its
/// arguments alone and is rounded in the same way in every lane, width and instruction set that has fused
/// multiply-add: a Pack equals its lanes bit for bit. (It does not equal the same kernel on a plain double
/// where that calls std::exp and the like; fast_exp and fast_log are the scalar twins of these.) Excepted are
/// the functions called ..._normal and ..._unit, which AVX-512 computes of floats in a way of its own.
///
/// | worst error measured [ulp], 0.5 is exact rounding | float              | double             |
/// | -------------------------------------------------- | ------------------ | ------------------ |
/// | exp                                                | 1.1                | 1.1                |
/// | expm1                                              | 1.7                | 2.2                |
/// | log                                                | 1.0                | 0.9                |
/// | log1p                                              | 1.5                | 1.5                |
/// | tanh                                               | 2.6                | 2.6                |
/// | sin, cos                                           | 2.5, to abs(x) 3e3 | 2.5, to abs(x) 1e6 |
///
/// Transcendental functions follow the classic pattern, e.g. Muller et al. (2018), "Handbook of
/// floating-point arithmetic", ch. 11: reduce the argument exactly (Cody and Waite), evaluate a minimax
/// polynomial in pairs (Estrin), put the exponent back. The polynomials are our own Remez fits. There are no
/// branches, and tables only where a register holds them.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <Eigen/Core>

#include "engine/scalar.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define ABUT_INLINE __attribute__((always_inline)) inline

// Sources compiled for different instruction sets meet in one program. What they make of these templates must
// not have one name, or the linker would keep one of them for all; hence an inline namespace for each set.
#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && defined(__AVX512BW__)
#define ABUT_SIMD avx512
#define ABUT_SIMD_REGISTER_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__)
#define ABUT_SIMD avx2
#define ABUT_SIMD_REGISTER_BYTES 32
#else
#define ABUT_SIMD sse2
#define ABUT_SIMD_REGISTER_BYTES 16
#endif

namespace abut {
inline namespace ABUT_SIMD {
namespace simd {

inline constexpr int k_register_bytes = ABUT_SIMD_REGISTER_BYTES;
inline constexpr int k_register_lanes = k_register_bytes / 4;  ///< floats

/// No more than the 16 bytes to which Eigen is told to align its arrays (EIGEN_MAX_ALIGN_BYTES).
constexpr int alignment_of(int bytes) { return bytes < 16 ? bytes : 16; }

/// Numbers of the reductions and polynomials. The parts of a constant add up to it with extra digits; the
/// high ones end in zeros, so that their products with the integer k are exact.
template <typename T>
struct Constants;

template <>
struct Constants<double> {
  using Bits = std::int64_t;
  using Unsigned = std::uint64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  static constexpr double log2_e = 0x1.71547652b82fep+0;
  static constexpr double exp_lowest = -746.0, exp_highest = 710.0;  // exp is 0 below, inf above
  static constexpr double expm1_lowest = -40.0;                      // expm1 is -1 below
  /// (e^r - 1 - r)/r^2 for |r| < 0.3468
  static constexpr std::array<double, 10> exp{
      0x1.0000000000004p-1,  0x1.555555555555cp-3,  0x1.555555555258dp-5,  0x1.111111110e91bp-7,
      0x1.6c16c17e4a0bdp-10, 0x1.a01a01b524229p-13, 0x1.a019a8d982c46p-16, 0x1.71ddeb763e80ep-19,
      0x1.28a0ac3f3ad06p-22, 0x1.af74919da8dedp-26};
  static constexpr Unsigned sqrt_half = 0x3fe6a09e667f3bcd;
  static constexpr double sqrt_half_value = 0x1.6a09e667f3bcdp-1;
  /// 2^r for |r| <= 1/2
  static constexpr std::array<double, 12> exp2{
      0x1.0000000000000p+0,  0x1.62e42fefa39efp-1,  0x1.ebfbdff82c5aep-3,  0x1.c6b08d704a0c6p-5,
      0x1.3b2ab6fb9f1a5p-7,  0x1.5d87fe78a3fa6p-10, 0x1.430913112c6b3p-13, 0x1.ffcbfc6da3d43p-17,
      0x1.62bfc2c855108p-20, 0x1.b524ebd819587p-24, 0x1.e6228af87127fp-28, 0x1.e9ec14d0b4b6cp-32};
  /// (2 atanh(s)/s - 2)/z with z = s^2 < 0.0295
  static constexpr std::array<double, 7> log{0x1.555555555558fp-1, 0x1.9999999980d1dp-2, 0x1.249249413b39ap-2,
                                             0x1.c71c528a10a45p-3, 0x1.7466274cad38ap-3, 0x1.39a3e567c1d28p-3,
                                             0x1.2ef13e653cbe0p-3};
  static constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
  static constexpr double half_pi_high = 0x1.921fb544p+0, half_pi_middle = 0x1.0b4611a6p-34,
                          half_pi_low = 0x1.3198a2e037073p-69;
  /// (sin(x)/x - 1)/z with z = x^2 < 0.62
  static constexpr std::array<double, 6> sin{-0x1.5555555555549p-3,  0x1.111111110f854p-7,
                                             -0x1.a01a019c0a273p-13, 0x1.71de356f9b84cp-19,
                                             -0x1.ae5e5ee059899p-26, 0x1.5d90a20b3d879p-33};
  /// (cos(x) - 1 + z/2)/z^2
  static constexpr std::array<double, 6> cos{0x1.555555555554dp-5,  -0x1.6c16c16c15499p-10,
                                             0x1.a01a019cf2dd0p-16, -0x1.27e4f83246119p-22,
                                             0x1.1eea03c772457p-29, -0x1.8fb97d62dbc46p-37};
};

template <>
struct Constants<float> {
  using Bits = std::int32_t;
  using Unsigned = std::uint32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr float ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;
  static constexpr float log2_e = 0x1.715476p+0f;
  static constexpr float exp_lowest = -104.0f, exp_highest = 89.0f;
  static constexpr float expm1_lowest = -18.0f;
  static constexpr std::array<float, 5> exp{0x1p-1f, 0x1.5554b2p-3f, 0x1.55548ap-5f, 0x1.12263cp-7f,
                                            0x1.6d965ep-10f};
  static constexpr Unsigned sqrt_half = 0x3f3504f3;
  /// 2^r for |r| <= 1/2
  static constexpr std::array<float, 7> exp2{0x1p+0f,        0x1.62e43p-1f,  0x1.ebfbep-3f,  0x1.c6aeccp-5f,
                                             0x1.3b2a1cp-7f, 0x1.5f48cp-10f, 0x1.443ff8p-13f};
  /// log2(1 + f)/f for 1 + f in [sqrt(1/2), sqrt(2)], and for f in [0, 1]
  static constexpr std::array<float, 9> log2{0x1.715476p+0f,  -0x1.715474p-1f, 0x1.ec73dep-2f,
                                             -0x1.715994p-2f, 0x1.26d01cp-2f,  -0x1.e9d1e6p-3f,
                                             0x1.ba8738p-3f,  -0x1.a59aeap-3f, 0x1.f841dcp-4f};
  static constexpr std::array<float, 9> log2_1p{0x1.715476p+0f,  -0x1.71536ap-1f, 0x1.ec3716p-2f,
                                                -0x1.6ee5f4p-2f, 0x1.19d396p-2f,  -0x1.91e5bap-3f,
                                                0x1.ca106ep-4f,  -0x1.579d1p-5f,  0x1.e4aa42p-8f};
  /// (log(1 + f) - f + f^2/2)/f^3 for 1 + f in [sqrt(1/2), sqrt(2))
  static constexpr std::array<float, 8> log{0x1.55554ap-2f, -0x1.000216p-2f, 0x1.99a592p-3f, -0x1.547ab8p-3f,
                                            0x1.226f78p-3f, -0x1.0cce5ep-3f, 0x1.07c434p-3f, -0x1.422b6p-4f};
  static constexpr float two_over_pi = 0x1.45f306p-1f;
  static constexpr float half_pi_high = 0x1.922p+0f, half_pi_middle = -0x1.2afp-18f,
                         half_pi_low = 0x1.0b4612p-34f;
  static constexpr std::array<float, 3> sin{-0x1.555546p-3f, 0x1.110752p-7f, -0x1.99495ep-13f};
  static constexpr std::array<float, 3> cos{0x1.55554ap-5f, -0x1.6c0c88p-10f, 0x1.9a009p-16f};
};

/// For registers of 16 floats, which the machine has an instruction to look numbers up in: 2^x and log2(x)
/// from what is known at 16 points, and short polynomials around these.
struct Tables {
  using Sixteen = std::array<float, 16>;
  /// 2^(i/16)
  alignas(64) static constexpr Sixteen exp2{0x1p+0f,        0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
                                            0x1.306fep+0f,  0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f,
                                            0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
                                            0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};
  /// (2^r - 1)/r for |r| <= 1/32
  static constexpr std::array<float, 3> exp2_rest{0x1.62e43p-1f, 0x1.ebff92p-3f, 0x1.c6b29ap-5f};

  /// Sixteenths of [45/64, 45/32), of which 1 is in the middle of the tenth; 1/centre, and its -log2.
  static constexpr std::uint32_t log2_begin = 0x3f340000;
  alignas(64) static constexpr Sixteen log2_inverse{
      0x1.642c86p+0f, 0x1.555556p+0f, 0x1.47ae14p+0f, 0x1.3b13b2p+0f, 0x1.2f684cp+0f, 0x1.24924ap+0f,
      0x1.1a7b96p+0f, 0x1.111112p+0f, 0x1.08421p+0f,  0x1p+0f,        0x1.e1e1e2p-1f, 0x1.c71c72p-1f,
      0x1.af286cp-1f, 0x1.99999ap-1f, 0x1.861862p-1f, 0x1.745d18p-1f};
  alignas(64) static constexpr Sixteen log2_centre{
      -0x1.e7df62p-2f, -0x1.a8ff9ap-2f, -0x1.6cb0f4p-2f, -0x1.32bff2p-2f, -0x1.f5fd8cp-3f, -0x1.8a898ap-3f,
      -0x1.22dadcp-3f, -0x1.7d605ep-4f, -0x1.773936p-5f, 0x0p+0f,         0x1.663f6ep-4f,  0x1.5c01a2p-3f,
      0x1.fbc16ap-3f,  0x1.49a784p-2f,  0x1.91bba6p-2f,  0x1.d6753cp-2f};
  /// log2(1 + r)/r for r from -0.030 to 0.032
  static constexpr std::array<float, 4> log2_rest{0x1.715476p+0f, -0x1.715486p-1f, 0x1.ecb5cp-2f,
                                                  -0x1.7078a8p-2f};

  /// 1/(1 + i/15), and its -log2.
  alignas(64) static constexpr Sixteen log2_1p_inverse{
      0x1p+0f,        0x1.ep-1f,      0x1.c3c3c4p-1f, 0x1.aaaaaap-1f, 0x1.9435e6p-1f, 0x1.8p-1f,
      0x1.6db6dcp-1f, 0x1.5d1746p-1f, 0x1.4de9bep-1f, 0x1.4p-1f,      0x1.333334p-1f, 0x1.276276p-1f,
      0x1.1c71c8p-1f, 0x1.124924p-1f, 0x1.08d3dcp-1f, 0x1p-1f};
  alignas(64) static constexpr Sixteen log2_1p_point{
      0x0p+0f,        0x1.7d604ap-4f, 0x1.71cfdcp-3f, 0x1.0d58e6p-2f, 0x1.5d38c4p-2f, 0x1.a8ff98p-2f,
      0x1.f113b8p-2f, 0x1.1ae6a8p-1f, 0x1.3bbc58p-1f, 0x1.5b2c3ep-1f, 0x1.79538cp-1f, 0x1.964c12p-1f,
      0x1.b22ca4p-1f, 0x1.cd09aap-1f, 0x1.e6f554p-1f, 0x1p+0f};
  /// log2(1 + r)/r for r from -0.032 to 0.034
  static constexpr std::array<float, 4> log2_1p_rest{0x1.715476p+0f, -0x1.71548ap-1f, 0x1.ecbeeap-2f,
                                                     -0x1.705b68p-2f};
};

/// The operations that the vector extension has no sign for, lane by lane; below for the registers of x86.
template <typename T, int bytes>
struct Instructions {
  typedef T Real __attribute__((vector_size(bytes), aligned(alignment_of(bytes))));
  static constexpr int k_lanes = bytes / static_cast<int>(sizeof(T));

  /// a * b + c, rounded once; twice on machines that have no instruction for it.
  static ABUT_INLINE Real fma(Real a, Real b, Real c) { return a * b + c; }
  static Real sqrt(Real x) {
    for (int i = 0; i < k_lanes; ++i) x[i] = std::sqrt(x[i]);
    return x;
  }
  /// a < b ? a : b and a > b ? a : b: the second argument where one is NaN.
  static Real min(Real a, Real b) { return a < b ? a : b; }
  static Real max(Real a, Real b) { return a > b ? a : b; }
  /// The sign bits, that of lane 0 lowest.
  static std::uint32_t signs(Real x) {
    std::uint32_t r = 0;
    for (int i = 0; i < k_lanes; ++i) r |= std::uint32_t(std::signbit(x[i])) << i;
    return r;
  }
  static void store_chosen(T* p, Real x, std::uint32_t bits) {
    for (; bits != 0; bits &= bits - 1) *p++ = x[std::countr_zero(bits)];
  }
  static Real reciprocal(Real x) { return T(1) / x; }
  static Real reciprocal_sqrt(Real x) { return T(1) / sqrt(x); }
  /// Of as many registers as it takes, lane l of register i is p[(i k_lanes + l) % 4].
  static Real repeated(const T* p, int i) {
    Real x{};
    for (int l = 0; l < k_lanes; ++l) x[l] = p[(i * k_lanes + l) % 4];
    return x;
  }
  /// Lane l of register i is p[(i k_lanes + l)/4].
  static Real spread(const T* p, int i) {
    Real x{};
    for (int l = 0; l < k_lanes; ++l) x[l] = p[(i * k_lanes + l) / 4];
    return x;
  }
  static Real gather(const T* p, const std::int32_t* index) {
    Real x;
    for (int i = 0; i < k_lanes; ++i) x[i] = p[index[i]];
    return x;
  }
};

/// Newton's steps from an estimate y with 12 good bits or more: each doubles them.
template <int steps, typename Native>
ABUT_INLINE Native refined_reciprocal(Native x, Native y) {
  for (int i = 0; i < steps; ++i) y = y + y * (1 - x * y);
  return y;
}
template <int steps, typename Native>
ABUT_INLINE Native refined_reciprocal_sqrt(Native x, Native y) {
  for (int i = 0; i < steps; ++i)
    y = y + y * (Native{} + decltype(y[0] + y[0])(0.5) - (x * y) * (y * decltype(y[0] + y[0])(0.5)));
  return y;
}

/// For the registers without an instruction for it.
template <typename T, typename Native>
ABUT_INLINE void store_chosen_one_by_one(T* p, Native x, std::uint32_t bits) {
  for (; bits != 0; bits &= bits - 1) *p++ = x[std::countr_zero(bits)];
}

#if ABUT_SIMD_REGISTER_BYTES >= 32
/// The numbers of the bits that are set, one after the other, for every choice of 8.
inline constexpr auto k_set_bits = [] {
  std::array<std::array<std::uint8_t, 8>, 256> numbers{};
  for (std::uint32_t choice = 0; choice < 256; ++choice) {
    std::size_t count = 0;
    for (std::uint8_t bit = 0; bit < 8; ++bit)
      if ((choice >> bit & 1u) != 0) numbers[choice][count++] = bit;
  }
  return numbers;
}();
/// Every bit of four twice.
inline constexpr std::array<std::uint8_t, 16> k_bits_twice{0x00, 0x03, 0x0c, 0x0f, 0x30, 0x33, 0x3c, 0x3f,
                                                           0xc0, 0xc3, 0xcc, 0xcf, 0xf0, 0xf3, 0xfc, 0xff};

/// The chosen ones of eight lanes moved to the front; others follow.
ABUT_INLINE __m256i chosen_first(__m256i x, std::uint32_t bits) {
  const __m128i lanes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(k_set_bits[bits].data()));
  return _mm256_permutevar8x32_epi32(x, _mm256_cvtepu8_epi32(lanes));
}
#endif
// NOLINTBEGIN(bugprone-macro-parentheses): types need none
// clang-format off
#define ABUT_INSTRUCTIONS(T, bytes, Native, fma_abc, sqrt_x, min_ab, max_ab, signs_x, store, reciprocal_x, \
                          reciprocal_sqrt_x, repeated_p, spread_p, gather_x)                        \
  template <>                                                                                       \
  struct Instructions<T, bytes> {                                                                   \
    static ABUT_INLINE Native fma(Native a, Native b, Native c) { return fma_abc; }                 \
    static ABUT_INLINE Native sqrt(Native x) { return sqrt_x; }                                     \
    static ABUT_INLINE Native min(Native a, Native b) { return min_ab; }                            \
    static ABUT_INLINE Native max(Native a, Native b) { return max_ab; }                            \
    static ABUT_INLINE std::uint32_t signs(Native x) { return std::uint32_t(signs_x); }             \
    static ABUT_INLINE void store_chosen(T* p, Native x, std::uint32_t bits) { store; }             \
    static ABUT_INLINE Native reciprocal(Native x) { return reciprocal_x; }                         \
    static ABUT_INLINE Native reciprocal_sqrt(Native x) { return reciprocal_sqrt_x; }               \
    static ABUT_INLINE Native repeated(const T* p, [[maybe_unused]] int i) { return repeated_p; }    \
    static ABUT_INLINE Native spread(const T* p, [[maybe_unused]] int i) { return spread_p; }                        \
    static ABUT_INLINE Native gather(const T* p, const std::int32_t* index) { return gather_x; }    \
  };
#if ABUT_SIMD_REGISTER_BYTES >= 32
ABUT_INSTRUCTIONS(float, 16, __m128, _mm_fmadd_ps(a, b, c), _mm_sqrt_ps(x), _mm_min_ps(a, b), _mm_max_ps(a, b),
                  _mm_movemask_ps(x), store_chosen_one_by_one(p, x, bits),
                  refined_reciprocal<1>(x, _mm_rcp_ps(x)), refined_reciprocal_sqrt<1>(x, _mm_rsqrt_ps(x)),
                  _mm_loadu_ps(p), _mm_set1_ps(p[i]),
                  (__m128{p[index[0]], p[index[1]], p[index[2]], p[index[3]]}))
ABUT_INSTRUCTIONS(double, 16, __m128d, _mm_fmadd_pd(a, b, c), _mm_sqrt_pd(x), _mm_min_pd(a, b), _mm_max_pd(a, b),
                  _mm_movemask_pd(x), store_chosen_one_by_one(p, x, bits), 1 / x,
                  1 / _mm_sqrt_pd(x), _mm_loadu_pd(p + 2 * (i % 2)), _mm_set1_pd(p[i / 2]), (__m128d{p[index[0]], p[index[1]]}))
ABUT_INSTRUCTIONS(float, 32, __m256, _mm256_fmadd_ps(a, b, c), _mm256_sqrt_ps(x), _mm256_min_ps(a, b),
                  _mm256_max_ps(a, b), _mm256_movemask_ps(x), _mm256_storeu_ps(p, __m256(chosen_first(__m256i(x), bits))),
                  refined_reciprocal<1>(x, _mm256_rcp_ps(x)), refined_reciprocal_sqrt<1>(x, _mm256_rsqrt_ps(x)),
                  _mm256_broadcast_ps(reinterpret_cast<const __m128*>(p)),
                  _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)),
                                           _mm256_setr_epi32(2 * i, 2 * i, 2 * i, 2 * i, 2 * i + 1, 2 * i + 1,
                                                             2 * i + 1, 2 * i + 1)),
                  _mm256_mask_i32gather_ps(__m256{}, p, _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(index)),
                                           __m256(~__m256i{}), 4))
ABUT_INSTRUCTIONS(double, 32, __m256d, _mm256_fmadd_pd(a, b, c), _mm256_sqrt_pd(x), _mm256_min_pd(a, b),
                  _mm256_max_pd(a, b), _mm256_movemask_pd(x),
                  _mm256_storeu_pd(p, __m256d(chosen_first(__m256i(x), k_bits_twice[bits]))), 1 / x,
                  1 / _mm256_sqrt_pd(x), _mm256_loadu_pd(p), _mm256_set1_pd(p[i]),
                  _mm256_mask_i32gather_pd(__m256d{}, p, _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(index)),
                                           __m256d(~__m256i{}), 8))
#endif
#if ABUT_SIMD_REGISTER_BYTES == 64   // maskz: g++ 12 warns of its own unmasked forms
ABUT_INSTRUCTIONS(float, 64, __m512, _mm512_fmadd_ps(a, b, c), _mm512_maskz_sqrt_ps(0xffff, x),
                  _mm512_maskz_min_ps(0xffff, a, b), _mm512_maskz_max_ps(0xffff, a, b), _mm512_movepi32_mask(__m512i(x)),
                  _mm512_storeu_ps(p, _mm512_maskz_compress_ps(__mmask16(bits), x)),
                  refined_reciprocal<1>(x, _mm512_maskz_rcp14_ps(0xffff, x)),
                  refined_reciprocal_sqrt<1>(x, _mm512_maskz_rsqrt14_ps(0xffff, x)),
                  _mm512_maskz_broadcast_f32x4(0xffff, _mm_loadu_ps(p)),
                  _mm512_maskz_permutexvar_ps(0xffff, _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3),
                                              _mm512_castps128_ps512(_mm_loadu_ps(p))),
                  _mm512_mask_i32gather_ps(__m512{}, 0xffff, _mm512_loadu_si512(index), p, 4))
ABUT_INSTRUCTIONS(double, 64, __m512d, _mm512_fmadd_pd(a, b, c), _mm512_maskz_sqrt_pd(0xff, x),
                  _mm512_maskz_min_pd(0xff, a, b), _mm512_maskz_max_pd(0xff, a, b), _mm512_movepi64_mask(__m512i(x)),
                  _mm512_storeu_pd(p, _mm512_maskz_compress_pd(__mmask8(bits), x)),
                  refined_reciprocal<2>(x, _mm512_maskz_rcp14_pd(0xff, x)),
                  refined_reciprocal_sqrt<2>(x, _mm512_maskz_rsqrt14_pd(0xff, x)),
                  _mm512_maskz_broadcast_f64x4(0xff, _mm256_loadu_pd(p)),
                  _mm512_maskz_permutexvar_pd(0xff, _mm512_setr_epi64(0, 0, 0, 0, 1, 1, 1, 1),
                                              _mm512_castpd128_pd512(_mm_loadu_pd(p + 2 * i))),
                  _mm512_mask_i32gather_pd(__m512d{}, 0xff, _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(index)), p, 8))
#endif
#undef ABUT_INSTRUCTIONS
// clang-format on
// NOLINTEND(bugprone-macro-parentheses)
/// The operations on one machine register of numbers T, in the vector extension of GCC and Clang.
template <typename T, int bytes>
struct Register {
  using C = Constants<T>;
  using Native = Instructions<T, bytes>;
  typedef T Real __attribute__((vector_size(bytes), aligned(alignment_of(bytes))));
  /// What a comparison gives: 0 or -1 a lane.
  typedef typename C::Bits Bits __attribute__((vector_size(bytes), aligned(alignment_of(bytes))));
  typedef typename C::Unsigned Unsigned __attribute__((vector_size(bytes)));

  static constexpr int k_lanes = bytes / static_cast<int>(sizeof(T));
  /// Whether Tables are of use.
  static constexpr bool k_looks_up = bytes == 64 && std::is_same_v<T, float>;
  static constexpr T k_infinity = std::numeric_limits<T>::infinity();
  static constexpr T k_nan = std::numeric_limits<T>::quiet_NaN();
  static constexpr auto k_sign = typename C::Unsigned(1) << (8 * sizeof(T) - 1);
  static constexpr auto k_one = std::bit_cast<typename C::Unsigned>(T(1));
  static constexpr auto k_mantissa = (typename C::Unsigned(1) << C::mantissa_bits) - 1;
  static constexpr int k_bias = std::numeric_limits<T>::max_exponent - 1;
  /// From here to its double, neighbouring numbers are 1 apart.
  static constexpr T k_integer = T(typename C::Unsigned(1) << C::mantissa_bits);
  /// Adding it rounds x to an integer, and leaves that integer + 2 k_bias in the low bits.
  static constexpr T k_round = T(1.5) * k_integer + T(2 * k_bias);

  static ABUT_INLINE Real broadcast(T x) { return x - Real{}; }
  static ABUT_INLINE Real fma(Real a, Real b, Real c) { return Real(Native::fma(a, b, c)); }
  static ABUT_INLINE Real sqrt(Real x) { return Real(Native::sqrt(x)); }
  static ABUT_INLINE Real abs(Real x) { return Real(Unsigned(x) & ~k_sign); }
  static ABUT_INLINE Real copysign(Real x, Real sign) {
    return Real((Unsigned(x) & ~k_sign) | (Unsigned(sign) & k_sign));
  }

  /// c[first] + c[first + 1] x + ... (count terms) with powers = {x, x^2, x^4, x^8}, the two halves apart: a
  /// dependency chain of length log(count).
  template <int first, int count, std::size_t n>
  static ABUT_INLINE Real polynomial(const std::array<T, n>& c, const Real (&powers)[4]) {
    if constexpr (count == 1) {
      return broadcast(c[first]);
    } else {
      constexpr int level = std::bit_width(unsigned(count - 1)) - 1, low = 1 << level;
      return fma(polynomial<first + low, count - low>(c, powers), powers[level],
                 polynomial<first, low>(c, powers));
    }
  }
  template <std::size_t n>
  static ABUT_INLINE Real polynomial(const std::array<T, n>& c, Real x) {
    const Real x2 = x * x, x4 = x2 * x2;
    const Real powers[4] = {x, x2, x4, x4 * x4};
    return polynomial<0, int(n)>(c, powers);
  }

#if ABUT_SIMD_REGISTER_BYTES == 64
  /// table[index mod 16]
  static ABUT_INLINE Real looked_up(const Tables::Sixteen& table, Unsigned index) {
    return Real(_mm512_maskz_permutexvar_ps(0xffff, __m512i(index), _mm512_load_ps(table.data())));
  }
  /// x 2^floor(k)
  static ABUT_INLINE Real scaled_by_floor(Real x, Real k) {
    return Real(_mm512_maskz_scalef_ps(0xffff, __m512(x), __m512(k)));
  }
#endif

  /// The same one term after the other: fewer operations, a longer chain.
  template <std::size_t n>
  static ABUT_INLINE Real horner(const std::array<T, n>& c, Real x) {
    Real y = broadcast(c[n - 1]);
    for (std::size_t i = n - 1; i-- > 0;) y = fma(y, x, broadcast(c[i]));
    return y;
  }

  /// exp(r) - 1, where x = k ln 2 + r with integer k and |r| <= ln(2)/2. The low bits of k_bits become
  /// k + 2 k_bias.
  static ABUT_INLINE Real exp_reduced(Real x, Unsigned& k_bits) {
    const Real shifted = fma(x, broadcast(C::log2_e), broadcast(k_round));
    const Real k = shifted - k_round;
    const Real r = fma(k, broadcast(-C::ln2_low), fma(k, broadcast(-C::ln2_high), x));
    k_bits = Unsigned(shifted);
    return fma(polynomial(C::exp, r), r * r, r);
  }

  /// x, but at least `lowest` and at most exp_highest; a NaN stays, for it is the second argument.
  static ABUT_INLINE Real clamp(T lowest, Real x) {
    return Real(Native::min(broadcast(C::exp_highest), Native::max(broadcast(lowest), x)));
  }

  /// exp: 0 at -inf, inf at inf and beyond the largest number, gradual underflow.
  static ABUT_INLINE Real exp(Real x) {
    x = clamp(C::exp_lowest, x);
    Unsigned k_bits;
    const Real y = T(1) + exp_reduced(x, k_bits);
    // 2^k as a product of two: it may overflow where the result does not, and a subnormal must round once.
    const Unsigned half = k_bits >> 1;
    return y * Real(half << C::mantissa_bits) * Real((k_bits - half) << C::mantissa_bits);
  }

  /// 2^x, without the care for special cases: for x from k_exp2_lowest up to the largest exponent, and
  /// 2^k_exp2_lowest below.
  static constexpr T k_exp2_lowest = T(2 - k_bias);
  static ABUT_INLINE Real exp2_normal(Real x) {
    x = Real(Native::max(broadcast(k_exp2_lowest), x));
    if constexpr (k_looks_up) {
      constexpr T k_sixteenths = T(1.5) * k_integer / T(16);  // adding it rounds to a multiple of 1/16
      const Real shifted = x + k_sixteenths, multiple = shifted - k_sixteenths;
      const Real r = x - multiple;
      const Real fraction =
          looked_up(Tables::exp2, Unsigned(shifted));  // the low four bits say which sixteenth
      return scaled_by_floor(fma(fraction * r, horner(Tables::exp2_rest, r), fraction), multiple);
    }
    const Real shifted = x + k_round;
    const Real r = x - (shifted - k_round);
    return Real(Unsigned(polynomial(C::exp2, r)) + ((Unsigned(shifted) - 2 * k_bias) << C::mantissa_bits));
  }

  /// log2 of a normal number > 0, without the care for others.
  static ABUT_INLINE Real log2_normal(Real x) {
    if constexpr (k_looks_up) {
      const Unsigned offset = Unsigned(x) - Tables::log2_begin;
      const Bits k = Bits(offset) >> C::mantissa_bits;
      const Real m = Real(Unsigned(x) - (offset & ~k_mantissa));
      const Unsigned i = offset >> (C::mantissa_bits - 4);
      const Real r = fma(m, looked_up(Tables::log2_inverse, i), broadcast(T(-1)));
      return fma(horner(Tables::log2_rest, r), r,
                 __builtin_convertvector(k, Real) + looked_up(Tables::log2_centre, i));
    }
    const Unsigned shifted = Unsigned(x) + (k_one - C::sqrt_half);
    const Real k = Real((shifted >> C::mantissa_bits) | std::bit_cast<typename C::Unsigned>(k_integer)) -
                   broadcast(k_integer + T(k_bias));
    const Real f = Real((shifted & k_mantissa) + C::sqrt_half) - T(1);
    if constexpr (std::is_same_v<T, float>) {
      return fma(polynomial(C::log2, f), f, k);
    } else {
      return fma(log1p_by_atanh(f), broadcast(C::log2_e), k);
    }
  }

  /// log2(1 + f) for f from 0 to 1.
  static ABUT_INLINE Real log2_1p_unit(Real f) {
    if constexpr (k_looks_up) {
      const Unsigned i = Unsigned(fma(f, broadcast(T(15)), broadcast(T(1.5) * k_integer)));
      const Real inverse = looked_up(Tables::log2_1p_inverse, i);
      const Real r = fma(f, inverse, inverse - T(1));  // (1 + f) inverse - 1, whose parts are exact
      return fma(horner(Tables::log2_1p_rest, r), r, looked_up(Tables::log2_1p_point, i));
    }
    if constexpr (std::is_same_v<T, float>) {
      return polynomial(C::log2_1p, f) * f;
    } else {  // of (1 + f)/sqrt(2), which is in the range of the polynomial
      const Real g = fma(f, broadcast(C::sqrt_half_value), broadcast(C::sqrt_half_value - T(1)));
      return fma(log1p_by_atanh(g), broadcast(C::log2_e), broadcast(T(0.5)));
    }
  }

  /// log(1 + f) = 2 atanh(s), s = f/(2 + f), for 1 + f in [sqrt(1/2), sqrt(2)].
  static ABUT_INLINE Real log1p_by_atanh(Real f) {
    const Real s = f * Real(Native::reciprocal(T(2) + f)), z = s * s, half_f2 = T(0.5) * f * f;
    return f - (half_f2 - s * fma(z, polynomial(C::log, z), half_f2));
  }

  /// exp(x) - 1, accurate near 0 too.
  static ABUT_INLINE Real expm1(Real x) {
    x = clamp(C::expm1_lowest, x);
    Unsigned k_bits;
    const Real tail = exp_reduced(x, k_bits);
    const Real half_scale = Real((k_bits - (k_bias + 1)) << C::mantissa_bits);  // 2^(k - 1)
    return T(2) * fma(half_scale, tail, half_scale - T(0.5));
  }

  /// Natural logarithm: -inf at +-0, inf at inf, NaN below 0. x = 2^k m with m in [sqrt(1/2), sqrt(2)).
  static ABUT_INLINE Real log(Real x) {
    const auto is_tiny = x < std::numeric_limits<T>::min();  // subnormal: scale into the normal range
    const Real scaled = is_tiny ? x * (T(4) * k_integer) : x;
    const Unsigned shifted = Unsigned(scaled) + (k_one - C::sqrt_half);
    const T zero = k_integer + T(k_bias);
    const Real k = Real((shifted >> C::mantissa_bits) | std::bit_cast<typename C::Unsigned>(k_integer)) -
                   (is_tiny ? broadcast(zero + T(C::mantissa_bits + 2)) : broadcast(zero));
    const Real f = Real((shifted & k_mantissa) + C::sqrt_half) - T(1);
    Real y;
    if constexpr (std::is_same_v<T, float>) {  // f - f^2/2 + f^3 P(f)
      const Real correction = (f * f) * fma(f, polynomial(C::log, f), broadcast(T(-0.5)));
      y = fma(k, broadcast(C::ln2_high), f + fma(k, broadcast(C::ln2_low), correction));
    } else {  // 2 atanh(s) = f - (f^2/2 - s (f^2/2 + z R(z)))
      const Real s = f / (T(2) + f), z = s * s, half_f2 = T(0.5) * f * f;
      const Real sum = fma(z, polynomial(C::log, z), half_f2);
      y = fma(k, broadcast(C::ln2_high), f - (half_f2 - fma(s, sum, k * C::ln2_low)));
    }
    y = x < k_infinity ? y : x;
    return x > T(0) ? y : (x == T(0) ? broadcast(-k_infinity) : broadcast(k_nan));
  }

  /// log(1 + x), accurate near 0 too: log of the rounded sum, plus what rounding lost over the sum.
  static ABUT_INLINE Real log1p(Real x) {
    const Real sum = T(1) + x;
    const Real correction = (x - (sum - T(1))) / sum;                    // NaN at -1 and at inf
    return log(sum) + (correction == correction ? correction : Real{});  // NOLINT(misc-redundant-expression)
  }

  /// -expm1(-2|x|)/(2 + expm1(-2|x|)), with the sign of x.
  static ABUT_INLINE Real tanh(Real x) {
    const Real e = expm1(T(-2) * abs(x));
    return copysign(e / (T(2) + e), x);
  }

  /// sin(x + quarter pi/2): x = k pi/2 + r with |r| <= pi/4, then +-sin r or +-cos r as (k + quarter) mod 4
  /// says. For |x| <= 1e6 (double), 3e3 (float).
  template <int quarter>
  static ABUT_INLINE Real sin(Real x) {
    const Real shifted = fma(x, broadcast(C::two_over_pi), broadcast(k_round + T(2)));
    const Real k = shifted - (k_round + T(2));  // k_round + 2 is a multiple of 4
    const Real r = fma(k, broadcast(-C::half_pi_low),
                       fma(k, broadcast(-C::half_pi_middle), fma(k, broadcast(-C::half_pi_high), x)));
    const Real z = r * r;
    const Real sin_r = fma(polynomial(C::sin, z), z * r, r);
    const Real cos_r = fma(polynomial(C::cos, z), z * z, fma(z, broadcast(T(-0.5)), broadcast(T(1))));
    const Unsigned turn = Unsigned(shifted) + typename C::Unsigned(quarter);
    const auto is_odd = (turn & 1) != 0;
    const Unsigned sign = (turn & 2) << (8 * sizeof(T) - 2);
    return Real(Unsigned(is_odd ? cos_r : sin_r) ^ sign);
  }
};

/// f(0), ..., f(n - 1).
template <int n, typename F>
ABUT_INLINE void each(F f) {
  static_assert(n == 1 || n == 2 || n == 4 || n == 8);
  f(0);
  if constexpr (n > 1) f(1);
  if constexpr (n > 2) f(2), f(3);
  if constexpr (n > 4) f(4), f(5), f(6), f(7);
}

}  // namespace simd

/// What comparing two packs gives: one bool a lane. Combine with && || ! (both sides are evaluated), ask with
/// any() and all(), choose with select().
template <typename T, int W>
class Mask {
 public:
  static constexpr int k_lanes = W;
  using Register = simd::Register<T, (W * int(sizeof(T)) < simd::k_register_bytes ? W * int(sizeof(T))
                                                                                  : simd::k_register_bytes)>;
  static constexpr int k_registers = W / Register::k_lanes;

  Mask() = default;
  ABUT_INLINE Mask(bool all_lanes) {
    *this = map([&](int) { return all_lanes ? ~typename Register::Bits{} : typename Register::Bits{}; });
  }

  ABUT_INLINE bool operator[](int lane) const {
    return part_[lane / Register::k_lanes][lane % Register::k_lanes] != 0;
  }

  friend ABUT_INLINE Mask operator&&(const Mask& a, const Mask& b) {
    return map([&](int i) { return a.part_[i] & b.part_[i]; });
  }
  friend ABUT_INLINE Mask operator||(const Mask& a, const Mask& b) {
    return map([&](int i) { return a.part_[i] | b.part_[i]; });
  }
  ABUT_INLINE Mask operator!() const {
    return map([&](int i) { return ~part_[i]; });
  }

  /// One bit a lane, lane 0 lowest.
  friend ABUT_INLINE std::uint32_t bits(const Mask& m) {
    static_assert(W <= 32);
    std::uint32_t r = 0;
    simd::each<k_registers>([&](int i) {
      r |= Register::Native::signs(typename Register::Real(m.part_[i])) << (i * Register::k_lanes);
    });
    return r;
  }
  friend ABUT_INLINE bool any(const Mask& m) { return bits(m) != 0; }
  friend ABUT_INLINE bool all(const Mask& m) { return bits(m) == (W == 32 ? ~0u : (1u << W) - 1u); }

  /// The register i is f(i). For Pack.
  template <typename F>
  static ABUT_INLINE Mask map(F f) {
    Mask r;
    simd::each<k_registers>([&](int i) { r.part_[i] = f(i); });
    return r;
  }
  ABUT_INLINE typename Register::Bits part(int i) const { return part_[i]; }

 private:
  typename Register::Bits part_[k_registers];
};

/// W numbers of type T (float or double) as one. W * sizeof(T) is 16 bytes or more, W a power of two. Not
/// initialised by default, as T is not. A plain number converts to all lanes.
template <typename T, int W>
class Pack {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  static_assert((W & (W - 1)) == 0 && W * int(sizeof(T)) >= 16 && W <= 64);

 public:
  using Scalar = T;
  using Mask = abut::Mask<T, W>;
  using Register = typename Mask::Register;
  static constexpr int k_lanes = W;
  static constexpr int k_registers = Mask::k_registers;

  Pack() = default;
  template <typename A>
  requires std::is_arithmetic_v<A> ABUT_INLINE Pack(A x) {
    *this = map([&](int) { return Register::broadcast(static_cast<T>(x)); });
  }

  /// The lanes of a, then those of b.
  static ABUT_INLINE Pack joined(const Pack<T, W / 2>& a, const Pack<T, W / 2>& b) {
    if constexpr (k_registers >= 2) {
      return map([&](int i) { return i < k_registers / 2 ? a.part(i) : b.part(i - k_registers / 2); });
    } else {
      T lanes[W];
      a.store(lanes);
      b.store(lanes + W / 2);
      return load(lanes);
    }
  }
  /// The first and the second half of the lanes.
  [[nodiscard]] ABUT_INLINE Pack<T, W / 2> half(int which) const {
    if constexpr (k_registers >= 2) {
      return Pack<T, W / 2>::map([&](int i) { return part_[i + which * (k_registers / 2)]; });
    } else {
      T lanes[W];
      store(lanes);
      return Pack<T, W / 2>::load(lanes + which * (W / 2));
    }
  }

  // Memory: any alignment.

  /// Lanes are p[0], ..., p[W - 1].
  static ABUT_INLINE Pack load(const T* p) {
    return map([&](int i) {
      typename Register::Real part;
      std::memcpy(&part, p + i * Register::k_lanes, sizeof(part));
      return part;
    });
  }
  /// Lanes are p[0], ..., p[count - 1], and copies of the last one of these; 1 <= count.
  static Pack load(const T* p, int count) {
    Pack r;
    for (int i = 0; i < W; ++i) r.set_lane(i, p[i < count ? i : count - 1]);
    return r;
  }
  /// Lanes are p[index[0]], ..., p[index[W - 1]].
  static ABUT_INLINE Pack gather(const T* p, const std::int32_t* index) {
    return map([&](int i) {
      return typename Register::Real(Register::Native::gather(p, index + i * Register::k_lanes));
    });
  }
  /// Lanes are p[0], ..., p[3], over and over.
  static ABUT_INLINE Pack repeated(const T* p) {
    return map([&](int i) { return typename Register::Real(Register::Native::repeated(p, i)); });
  }
  /// Lanes are p[0] four times, p[1] four times, and so on.
  static ABUT_INLINE Pack spread(const T* p) {
    return map([&](int i) { return typename Register::Real(Register::Native::spread(p, i)); });
  }
  ABUT_INLINE void store(T* p) const {
    simd::each<k_registers>(
        [&](int i) { std::memcpy(p + i * Register::k_lanes, &part_[i], sizeof(part_[i])); });
  }
  /// Only the first `count` lanes.
  void store(T* p, int count) const {
    for (int i = 0; i < W && i < count; ++i) p[i] = (*this)[i];
  }
  /// The lanes chosen, one after the other; what lies behind them, up to p[W - 1], may be overwritten too.
  ABUT_INLINE void store_chosen(T* p, std::uint32_t lane_bits) const {
    simd::each<k_registers>([&](int i) {
      const std::uint32_t part_bits =
          (lane_bits >> (i * Register::k_lanes)) & ((1u << Register::k_lanes) - 1u);
      Register::Native::store_chosen(p, part_[i], part_bits);
      p += std::popcount(part_bits);
    });
  }

  ABUT_INLINE T operator[](int lane) const {
    return part_[lane / Register::k_lanes][lane % Register::k_lanes];
  }
  ABUT_INLINE void set_lane(int lane, T x) { part_[lane / Register::k_lanes][lane % Register::k_lanes] = x; }

  /// The same numbers in another precision.
  template <typename U>
  [[nodiscard]] Pack<U, W> cast() const {
    Pack<U, W> r;
    for (int i = 0; i < W; ++i) r.set_lane(i, static_cast<U>((*this)[i]));
    return r;
  }

  // Arithmetic.

  friend ABUT_INLINE Pack operator+(const Pack& a, const Pack& b) {
    return map([&](int i) { return a.part_[i] + b.part_[i]; });
  }
  friend ABUT_INLINE Pack operator-(const Pack& a, const Pack& b) {
    return map([&](int i) { return a.part_[i] - b.part_[i]; });
  }
  friend ABUT_INLINE Pack operator*(const Pack& a, const Pack& b) {
    return map([&](int i) { return a.part_[i] * b.part_[i]; });
  }
  friend ABUT_INLINE Pack operator/(const Pack& a, const Pack& b) {
    return map([&](int i) { return a.part_[i] / b.part_[i]; });
  }
  ABUT_INLINE Pack operator-() const {
    return map([&](int i) { return -part_[i]; });
  }
  ABUT_INLINE Pack operator+() const { return *this; }
  ABUT_INLINE Pack& operator+=(const Pack& b) { return *this = *this + b; }
  ABUT_INLINE Pack& operator-=(const Pack& b) { return *this = *this - b; }
  ABUT_INLINE Pack& operator*=(const Pack& b) { return *this = *this * b; }
  ABUT_INLINE Pack& operator/=(const Pack& b) { return *this = *this / b; }

  // Comparison and choice.

  friend ABUT_INLINE Mask operator<(const Pack& a, const Pack& b) {
    return Mask::map([&](int i) { return a.part_[i] < b.part_[i]; });
  }
  friend ABUT_INLINE Mask operator>(const Pack& a, const Pack& b) {
    return Mask::map([&](int i) { return a.part_[i] > b.part_[i]; });
  }
  friend ABUT_INLINE Mask operator<=(const Pack& a, const Pack& b) {
    return Mask::map([&](int i) { return a.part_[i] <= b.part_[i]; });
  }
  friend ABUT_INLINE Mask operator>=(const Pack& a, const Pack& b) {
    return Mask::map([&](int i) { return a.part_[i] >= b.part_[i]; });
  }
  friend ABUT_INLINE Mask operator==(const Pack& a, const Pack& b) {
    return Mask::map([&](int i) { return a.part_[i] == b.part_[i]; });
  }
  friend ABUT_INLINE Mask operator!=(const Pack& a, const Pack& b) {
    return Mask::map([&](int i) { return a.part_[i] != b.part_[i]; });
  }
  friend ABUT_INLINE Pack select(const Mask& m, const Pack& a, const Pack& b) {
    return map([&](int i) { return m.part(i) ? a.part_[i] : b.part_[i]; });
  }
  /// As std::min and std::max: the first argument where the two are equal or one is NaN.
  friend ABUT_INLINE Pack min(const Pack& a, const Pack& b) {
    return map([&](int i) { return b.part_[i] < a.part_[i] ? b.part_[i] : a.part_[i]; });
  }
  friend ABUT_INLINE Pack max(const Pack& a, const Pack& b) {
    return map([&](int i) { return a.part_[i] < b.part_[i] ? b.part_[i] : a.part_[i]; });
  }
  friend ABUT_INLINE Mask isfinite(const Pack& x) { return abs(x) < Pack(Register::k_infinity); }
  friend ABUT_INLINE Mask isnan(const Pack& x) { return x != x; }  // NOLINT(misc-redundant-expression)

  // Functions.

  friend ABUT_INLINE Pack abs(const Pack& x) {
    return map([&](int i) { return Register::abs(x.part_[i]); });
  }
  friend ABUT_INLINE Pack copysign(const Pack& x, const Pack& s) {
    return map([&](int i) { return Register::copysign(x.part_[i], s.part_[i]); });
  }
  friend ABUT_INLINE Pack sqrt(const Pack& x) {
    return map([&](int i) { return Register::sqrt(x.part_[i]); });
  }
  friend ABUT_INLINE Pack fma(const Pack& a, const Pack& b, const Pack& c) {
    return map([&](int i) { return Register::fma(a.part_[i], b.part_[i], c.part_[i]); });
  }
  friend ABUT_INLINE Pack exp(const Pack& x) {
    return map([&](int i) { return Register::exp(x.part_[i]); });
  }
  /// 2^x for results that are normal numbers; below, the smallest of these.
  friend ABUT_INLINE Pack exp2_normal(const Pack& x) {
    return map([&](int i) { return Register::exp2_normal(x.part_[i]); });
  }
  /// For normal numbers > 0 only.
  friend ABUT_INLINE Pack log2_normal(const Pack& x) {
    return map([&](int i) { return Register::log2_normal(x.part_[i]); });
  }
  /// log2(1 + x) for x from 0 to 1.
  friend ABUT_INLINE Pack log2_1p_unit(const Pack& x) {
    return map([&](int i) { return Register::log2_1p_unit(x.part_[i]); });
  }
  /// exp and log for results, and arguments, that are normal numbers.
  friend ABUT_INLINE Pack exp_normal(const Pack& x) {
    return exp2_normal(x * Pack(simd::Constants<T>::log2_e));
  }
  friend ABUT_INLINE Pack log_normal(const Pack& x) { return log2_normal(x) * Pack(T(0.6931471805599453)); }
  /// 1/x and 1/sqrt(x) of numbers whose square and reciprocal are normal numbers; within 3 ulp.
  friend ABUT_INLINE Pack reciprocal(const Pack& x) {
    return map([&](int i) { return typename Register::Real(Register::Native::reciprocal(x.part_[i])); });
  }
  friend ABUT_INLINE Pack reciprocal_sqrt(const Pack& x) {
    return map([&](int i) { return typename Register::Real(Register::Native::reciprocal_sqrt(x.part_[i])); });
  }
  friend ABUT_INLINE Pack expm1(const Pack& x) {
    return map([&](int i) { return Register::expm1(x.part_[i]); });
  }
  friend ABUT_INLINE Pack log(const Pack& x) {
    return map([&](int i) { return Register::log(x.part_[i]); });
  }
  friend ABUT_INLINE Pack log1p(const Pack& x) {
    return map([&](int i) { return Register::log1p(x.part_[i]); });
  }
  friend ABUT_INLINE Pack tanh(const Pack& x) {
    return map([&](int i) { return Register::tanh(x.part_[i]); });
  }
  /// For |x| <= 1e6 (double), 3e3 (float).
  friend ABUT_INLINE Pack sin(const Pack& x) {
    return map([&](int i) { return Register::template sin<0>(x.part_[i]); });
  }
  friend ABUT_INLINE Pack cos(const Pack& x) {
    return map([&](int i) { return Register::template sin<1>(x.part_[i]); });
  }
  /// x^p = exp(p log x) for x >= 0 (NaN below), 1 at p = 0. Error at most (3 |p log x| + 2) ulp.
  friend ABUT_INLINE Pack pow(const Pack& x, const Pack& p) {
    return select(p == Pack(0), Pack(1), exp(p * log(x)));
  }

  // Across lanes; sums in the order of the lanes, so they are those of a plain loop.

  friend T reduce_sum(const Pack& x) {
    T r = x[0];
    for (int i = 1; i < W; ++i) r += x[i];
    return r;
  }
  friend T reduce_min(const Pack& x) {
    T r = x[0];
    for (int i = 1; i < W; ++i) r = x[i] < r ? x[i] : r;
    return r;
  }
  friend T reduce_max(const Pack& x) {
    T r = x[0];
    for (int i = 1; i < W; ++i) r = r < x[i] ? x[i] : r;
    return r;
  }

  /// The register i is f(i). For Pack and Mask.
  template <typename F>
  static ABUT_INLINE Pack map(F f) {
    Pack r;
    simd::each<k_registers>([&](int i) { r.part_[i] = f(i); });
    return r;
  }

  [[nodiscard]] ABUT_INLINE typename Register::Real part(int i) const { return part_[i]; }

 private:
  typename Register::Real part_[k_registers];
};

/// exp and log of a single number, equal to a lane of the Pack's.
[[nodiscard]] inline double fast_exp(double x) { return exp(Pack<double, 2>(x))[0]; }
[[nodiscard]] inline float fast_exp(float x) { return exp(Pack<float, 4>(x))[0]; }
[[nodiscard]] inline double fast_log(double x) { return log(Pack<double, 2>(x))[0]; }
[[nodiscard]] inline float fast_log(float x) { return log(Pack<float, 4>(x))[0]; }

}  // namespace ABUT_SIMD

template <typename T, int W>
struct ScalarValue<Pack<T, W>> {
  using type = T;
};

}  // namespace abut

namespace Eigen {

template <typename T, int W>
struct NumTraits<abut::Pack<T, W>> : GenericNumTraits<T> {
  using Real = abut::Pack<T, W>;
  using NonInteger = Real;
  using Nested = Real;
  using Literal = T;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 0,
    ReadCost = 1,
    AddCost = 2,
    MulCost = 2
  };
  static Real epsilon() { return Real(NumTraits<T>::epsilon()); }
  static Real dummy_precision() { return Real(NumTraits<T>::dummy_precision()); }
  static Real highest() { return Real(NumTraits<T>::highest()); }
  static Real lowest() { return Real(NumTraits<T>::lowest()); }
};

/// A matrix of packs times a plain number.
template <typename T, int W, typename A, typename Operation>
requires std::is_arithmetic_v<A>
struct ScalarBinaryOpTraits<abut::Pack<T, W>, A, Operation> {
  using ReturnType = abut::Pack<T, W>;
};
template <typename T, int W, typename A, typename Operation>
requires std::is_arithmetic_v<A>
struct ScalarBinaryOpTraits<A, abut::Pack<T, W>, Operation> {
  using ReturnType = abut::Pack<T, W>;
};

}  // namespace Eigen
