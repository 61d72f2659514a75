/// Rows of numbers, read as lanes: what a gather does, where the numbers of a thing lie side by side.
#pragma once

#include <cstdint>

#include "engine/pack.h"

namespace abut {
inline namespace ABUT_SIMD {

/// From one row to the next.
inline constexpr int k_row = 16;

/// Lane i of columns[c] is rows[k_row * index[i] + c]. For the lanes of one register.
template <int count>
ABUT_INLINE void load_rows(const float* rows, const std::int32_t* index,
                           Pack<float, simd::k_register_lanes> (&columns)[count]) {
  static_assert(count <= k_row);
#if ABUT_SIMD_REGISTER_BYTES == 64   // a gather of each column takes three times as long on Zen 4
  constexpr __mmask16 all = 0xffff;  // unmasked forms: see engine/pack.h
  for (int first = 0; first < count; first += 4) {
    __m512 of_row[4];  // four numbers of rows i, 4 + i, 8 + i and 12 + i
    for (int i = 0; i < 4; ++i) {
      const auto four = [&](int k) { return _mm_loadu_ps(rows + k_row * index[4 * k + i] + first); };
      of_row[i] = _mm512_castps128_ps512(four(0));
      of_row[i] = _mm512_maskz_insertf32x4(all, of_row[i], four(1), 1);
      of_row[i] = _mm512_maskz_insertf32x4(all, of_row[i], four(2), 2);
      of_row[i] = _mm512_maskz_insertf32x4(all, of_row[i], four(3), 3);
    }
    const __m512d low[2] = {_mm512_castps_pd(_mm512_maskz_unpacklo_ps(all, of_row[0], of_row[1])),
                            _mm512_castps_pd(_mm512_maskz_unpacklo_ps(all, of_row[2], of_row[3]))},
                  high[2] = {_mm512_castps_pd(_mm512_maskz_unpackhi_ps(all, of_row[0], of_row[1])),
                             _mm512_castps_pd(_mm512_maskz_unpackhi_ps(all, of_row[2], of_row[3]))};
    const __m512d column[4] = {
        _mm512_maskz_unpacklo_pd(0xff, low[0], low[1]), _mm512_maskz_unpackhi_pd(0xff, low[0], low[1]),
        _mm512_maskz_unpacklo_pd(0xff, high[0], high[1]), _mm512_maskz_unpackhi_pd(0xff, high[0], high[1])};
    for (int c = 0; c < 4 && first + c < count; ++c) {
      const __m512 numbers = _mm512_castpd_ps(column[c]);
      columns[first + c] = Pack<float, 16>::map([&](int) { return numbers; });
    }
  }
#elif ABUT_SIMD_REGISTER_BYTES == 32  // likewise on Zen 3
  for (int first = 0; first < count; first += 4) {
    __m256 of_row[4];  // four numbers of rows i and 4 + i
    for (int i = 0; i < 4; ++i) {
      const auto four = [&](int k) { return _mm_loadu_ps(rows + k_row * index[4 * k + i] + first); };
      of_row[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(four(0)), four(1), 1);
    }
    const __m256d low[2] = {_mm256_castps_pd(_mm256_unpacklo_ps(of_row[0], of_row[1])),
                            _mm256_castps_pd(_mm256_unpacklo_ps(of_row[2], of_row[3]))},
                  high[2] = {_mm256_castps_pd(_mm256_unpackhi_ps(of_row[0], of_row[1])),
                             _mm256_castps_pd(_mm256_unpackhi_ps(of_row[2], of_row[3]))};
    const __m256d column[4] = {_mm256_unpacklo_pd(low[0], low[1]), _mm256_unpackhi_pd(low[0], low[1]),
                               _mm256_unpacklo_pd(high[0], high[1]), _mm256_unpackhi_pd(high[0], high[1])};
    for (int c = 0; c < 4 && first + c < count; ++c) {
      const __m256 numbers = _mm256_castpd_ps(column[c]);
      columns[first + c] = Pack<float, 8>::map([&](int) { return numbers; });
    }
  }
#else
  std::int32_t places[simd::k_register_lanes];
  for (int i = 0; i < simd::k_register_lanes; ++i) places[i] = k_row * index[i];
  for (int c = 0; c < count; ++c) columns[c] = Pack<float, simd::k_register_lanes>::gather(rows + c, places);
#endif
}

}  // namespace ABUT_SIMD
}  // namespace abut
