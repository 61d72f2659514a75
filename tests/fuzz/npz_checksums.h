/// Archives whose checksums fit, so that what lies behind the check is tested, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "engine/npz.h"

namespace abut::fuzz {

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
    const std::size_t length = number(at + 24, 4), local = number(at + 42, 4);
    if (archive.size() < k_local_size || local > archive.size() - k_local_size) continue;
    const std::size_t data = local + k_local_size + number(local + 26, 2) + number(local + 28, 2);
    if (data > archive.size() || archive.size() - data < length) continue;
    const std::uint32_t checksum = zip_checksum(std::string_view(archive).substr(data, length));
    std::memcpy(archive.data() + at + 16, &checksum, sizeof checksum);
  }
  return archive;
}

}  // namespace abut::fuzz
