/// The one parser of TOML files. Internal to the engine: everything else reads files through TomlTable.
#pragma once

#include <filesystem>

#include <toml++/toml.h>

namespace abut {

/// Parses a file. Throws InputError "file:line: ..." if it is missing, no regular file, no TOML, nested
/// deeper than k_max_toml_depth, or has a key or string with a zero character.
[[nodiscard]] toml::table parse_toml(const std::filesystem::path& file);

}  // namespace abut
