#include "apps/abut/file_hash.h"

#include <string>

#include <spdlog/fmt/fmt.h>

#include "engine/atomic_file.h"

namespace abut {

std::uint64_t hash_of(std::string_view bytes, std::uint64_t from) {
  for (const char byte : bytes) {
    from ^= static_cast<unsigned char>(byte);
    from *= 0x100000001b3u;
  }
  return from;
}

std::uint64_t hash_of_files(const std::vector<std::filesystem::path>& files, std::uint64_t from) {
  for (const std::filesystem::path& file : files) {
    const std::string bytes = read_file(file);
    from = hash_of(bytes, hash_of(fmt::format("\n{}\n", bytes.size()), from));
  }
  return from;
}

}  // namespace abut
