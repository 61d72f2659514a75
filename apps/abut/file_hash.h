/// Hashes of files: what tells whether a computation that was stopped goes on with the same inputs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace abut {

/// Of every byte of files and of where each of them ends, in their order; not of their names. Throws
/// InputError if one cannot be read.
[[nodiscard]] std::uint64_t hash_of_files(const std::vector<std::filesystem::path>& files,
                                          std::uint64_t from);

}  // namespace abut
