/// Archives whose checksums fit, so that what lies behind the check is tested, too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <zlib.h>

#include "engine/npz.h"

namespace abut::fuzz {

/// What a deflate stream begins with, at most `size` bytes.
inline std::string inflated_prefix(std::string_view stream, std::size_t size) {
  constexpr std::size_t k_largest_ratio = 1032;  // of deflate
  std::string bytes(std::min(size, k_largest_ratio * (stream.size() + 1)), '\0');
  z_stream zlib{};
  if (inflateInit2(&zlib, -MAX_WBITS) != Z_OK) return {};
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stream.data()));
  zlib.avail_in = static_cast<uInt>(stream.size());
  zlib.next_out = reinterpret_cast<Bytef*>(bytes.data());
  zlib.avail_out = static_cast<uInt>(bytes.size());
  if (!bytes.empty()) (void)inflate(&zlib, Z_FINISH);
  (void)inflateEnd(&zlib);
  bytes.resize(bytes.size() - zlib.avail_out);
  return bytes;
}

/// The same bytes, but for the checksums in the directory of the archive: they are set to what read_npz()
/// expects of the entries, where these lie within the bytes.
inline std::string with_right_checksums(const std::uint8_t* bytes, std::size_t size) {
  constexpr std::string_view k_directory_header = "PK\x01\x02";
  constexpr std::size_t k_entry_size = 46, k_local_size = 30;
  std::string archive(reinterpret_cast<const char*>(bytes), size);
  const auto number = [&](std::size_t at, std::size_t width) {
    std::uint32_t value = 0;
    std::memcpy(&value, archive.data() + at, width);
    return std::size_t{value};
  };
  for (std::size_t at = archive.find(k_directory_header);
       at != std::string::npos && archive.size() - at >= k_entry_size;
       at = archive.find(k_directory_header, at + 1)) {
    const std::size_t length = number(at + 24, 4), packed = number(at + 20, 4), local = number(at + 42, 4);
    if (archive.size() < k_local_size || local > archive.size() - k_local_size) continue;
    const std::size_t data = local + k_local_size + number(local + 26, 2) + number(local + 28, 2);
    if (data > archive.size() || archive.size() - data < packed) continue;
    const bool is_deflated = number(at + 10, 2) == 8;
    std::string_view content = std::string_view(archive).substr(data, packed);
    const std::string unpacked = is_deflated ? inflated_prefix(content, length) : std::string();
    if (is_deflated) content = unpacked;
    const std::uint32_t checksum = zip_checksum(content);
    std::memcpy(archive.data() + at + 16, &checksum, sizeof checksum);
  }
  return archive;
}

}  // namespace abut::fuzz
