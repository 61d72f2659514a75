/// 64-bit hashes of bytes and numbers, by FNV-1a: the same on every machine and in every run.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

namespace abut {

inline constexpr std::uint64_t k_hash_of_nothing = 0xcbf29ce484222325u;

/// Of one more byte after what `from` is the hash of.
[[nodiscard]] constexpr std::uint64_t hash_of_byte(std::uint8_t byte, std::uint64_t from) {
  return (from ^ byte) * 0x100000001b3u;
}

[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view bytes,
                                              std::uint64_t from = k_hash_of_nothing) {
  for (const char byte : bytes) from = hash_of_byte(static_cast<std::uint8_t>(byte), from);
  return from;
}

/// Of every bit of a number, the lowest byte first.
[[nodiscard]] constexpr std::uint64_t hash_of(double number, std::uint64_t from) {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  for (int byte = 0; byte < 8; ++byte)
    from = hash_of_byte(static_cast<std::uint8_t>(bits >> (8 * byte)), from);
  return from;
}

[[nodiscard]] constexpr std::uint64_t hash_of(std::span<const double> numbers,
                                              std::uint64_t from = k_hash_of_nothing) {
  for (const double number : numbers) from = hash_of(number, from);
  return from;
}

}  // namespace abut
