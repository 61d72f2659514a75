#include "apps/abut/file_hash.h"

#include <string>

#include <spdlog/fmt/fmt.h>

#include "engine/atomic_file.h"
#include "engine/hash.h"

namespace abut {

std::uint64_t hash_of_files(const std::vector<std::filesystem::path>& files, std::uint64_t from) {
  for (const std::filesystem::path& file : files) {
    const std::string bytes = read_file(file);
    from = hash_of(bytes, hash_of(fmt::format("\n{}\n", bytes.size()), from));
  }
  return from;
}

}  // namespace abut
