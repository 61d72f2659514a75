/// Hashes of bytes: what tells whether a computation that was stopped goes on with the same inputs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace abut {

/// FNV-1a of bytes, going on from another hash.
[[nodiscard]] std::uint64_t hash_of(std::string_view bytes, std::uint64_t from = 0xcbf29ce484222325u);

/// Of every byte of files and of where each of them ends, in their order; not of their names. Throws
/// InputError if one cannot be read.
[[nodiscard]] std::uint64_t hash_of_files(const std::vector<std::filesystem::path>& files,
                                          std::uint64_t from);

}  // namespace abut
