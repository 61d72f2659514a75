/// Lists of chosen lanes, without a branch for each: which lanes are chosen is hard to predict.
#pragma once

#include <bit>
#include <cstdint>

#include "engine/pack.h"

namespace abut {
inline namespace ABUT_SIMD {

/// Whole numbers, one for each of 16 lanes.
struct alignas(64) LaneNumbers {
  std::int32_t of_lane[16];
};

/// Bits of the lanes below 0. Faster than a comparison, which decides -0 and NaN otherwise.
template <typename T, int W>
[[nodiscard]] ABUT_INLINE std::uint32_t negative_lanes(const Pack<T, W>& x) {
  using Register = typename Pack<T, W>::Register;
  std::uint32_t bits = 0;
  simd::each<Pack<T, W>::k_registers>(
      [&](int i) { bits |= Register::Native::signs(x.part(i)) << (i * Register::k_lanes); });
  return bits;
}

/// Stores base + numbers of the chosen lanes one after the other, and overwrites as much as 16 numbers. Bits
/// are those of lanes, lane 0 lowest.
ABUT_INLINE void store_chosen_numbers(std::int32_t* to, const LaneNumbers& numbers, std::int32_t base,
                                      std::uint32_t bits) {
#if ABUT_SIMD_REGISTER_BYTES == 64
  const __m512i sum = _mm512_maskz_add_epi32(0xffff, _mm512_load_si512(numbers.of_lane),
                                             _mm512_maskz_set1_epi32(0xffff, base));
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(static_cast<__mmask16>(bits), sum));
#elif ABUT_SIMD_REGISTER_BYTES == 32
  for (int first = 0; first < 16; first += 8, bits >>= 8) {
    const __m256i eight = _mm256_load_si256(reinterpret_cast<const __m256i*>(numbers.of_lane + first));
    _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(to),
                        _mm256_add_epi32(simd::chosen_first(eight, bits & 0xffu), _mm256_set1_epi32(base)));
    to += std::popcount(bits & 0xffu);
  }
#else
  for (; bits != 0; bits &= bits - 1) *to++ = base + numbers.of_lane[std::countr_zero(bits)];
#endif
}

}  // namespace ABUT_SIMD
}  // namespace abut
