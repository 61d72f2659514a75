/// Whole numbers in the lanes of a pack: sums of products of vectors of 16-bit numbers, for a fraction of the
/// instructions that products of floats take.
#pragma once

#include <bit>
#include <cstdint>

#include "engine/pack.h"

namespace abut {
inline namespace ABUT_SIMD {

/// W whole numbers of 32 bits, or W pairs of 16 bits. They lie in memory as the bits of floats.
template <int W>
class WholeLanes {
  using P = Pack<float, W>;
  using Part = typename P::Register::Bits;

 public:
  WholeLanes() = default;
  explicit ABUT_INLINE WholeLanes(std::int32_t x) {
    simd::each<P::k_registers>([&](int i) { part_[i] = x - Part{}; });
  }
  static ABUT_INLINE WholeLanes of_bits(const P& bits) {
    WholeLanes r;
    simd::each<P::k_registers>([&](int i) { r.part_[i] = Part(bits.part(i)); });
    return r;
  }
  [[nodiscard]] ABUT_INLINE P bits() const {
    return P::map([&](int i) { return typename P::Register::Real(part_[i]); });
  }
  /// The 32-bit numbers of two packs of 16-bit ones: (low, high). Numbers are rounded.
  static ABUT_INLINE WholeLanes pairs(const P& low, const P& high) {
    const P integers(12582912.0f);  // 1.5 2^23: the lowest bits of a sum are those of the rounded number
    const WholeLanes l = of_bits(low + integers), h = of_bits(high + integers);
    WholeLanes r;
    simd::each<P::k_registers>([&](int i) { r.part_[i] = (l.part_[i] & 0xffff) | (h.part_[i] << 16); });
    return r;
  }

  friend ABUT_INLINE WholeLanes operator+(const WholeLanes& a, const WholeLanes& b) {
    return map([&](int i) { return a.part_[i] + b.part_[i]; });
  }
  friend ABUT_INLINE WholeLanes operator-(const WholeLanes& a, const WholeLanes& b) {
    return map([&](int i) { return a.part_[i] - b.part_[i]; });
  }
  friend ABUT_INLINE WholeLanes operator|(const WholeLanes& a, const WholeLanes& b) {
    return map([&](int i) { return a.part_[i] | b.part_[i]; });
  }
  friend ABUT_INLINE WholeLanes operator&(const WholeLanes& a, const WholeLanes& b) {
    return map([&](int i) { return a.part_[i] & b.part_[i]; });
  }
  /// Of pairs: the product of the low numbers and that of the high ones, added.
  friend ABUT_INLINE WholeLanes products_added(const WholeLanes& a, const WholeLanes& b) {
    return map([&](int i) { return products_added(a.part_[i], b.part_[i]); });
  }
  /// The lanes below 0, lane 0 lowest.
  [[nodiscard]] ABUT_INLINE std::uint32_t negative() const {
    std::uint32_t r = 0;
    simd::each<P::k_registers>([&](int i) {
      r |= P::Register::Native::signs(typename P::Register::Real(part_[i])) << (i * P::Register::k_lanes);
    });
    return r;
  }

 private:
  template <typename F>
  static ABUT_INLINE WholeLanes map(const F& f) {
    WholeLanes r;
    simd::each<P::k_registers>([&](int i) { r.part_[i] = f(i); });
    return r;
  }
  static ABUT_INLINE Part products_added(Part a, Part b) {
#if ABUT_SIMD_REGISTER_BYTES == 64
    return Part(_mm512_madd_epi16(__m512i(a), __m512i(b)));
#elif ABUT_SIMD_REGISTER_BYTES == 32
    return Part(_mm256_madd_epi16(__m256i(a), __m256i(b)));
#elif defined(__SSE2__)
    return Part(_mm_madd_epi16(__m128i(a), __m128i(b)));
#else
    return (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
#endif
  }

  Part part_[P::k_registers];
};

}  // namespace ABUT_SIMD
}  // namespace abut
