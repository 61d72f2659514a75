#include "engine/toml_parse.h"

#include <string>
#include <string_view>

#include <spdlog/fmt/fmt.h>

#include "engine/atomic_file.h"
#include "engine/input_error.h"
#include "engine/toml_nesting.h"

namespace abut {

namespace {

/// Throws for a zero character in a key or a string: names and paths with one would be cut there.
void require_no_zeros(const toml::node& node, const std::filesystem::path& file) {
  const auto require_none = [&](std::string_view text, const toml::source_region& source) {
    if (text.find('\0') == std::string_view::npos) return;
    throw InputError(file.string(), static_cast<int>(source.begin.line),
                     fmt::format("\"{}\" contains the character U+0000, which no name or path can", text));
  };
  if (const toml::table* const table = node.as_table()) {
    for (const auto& [key, value] : *table) {
      require_none(key.str(), key.source());
      require_no_zeros(value, file);
    }
  } else if (const toml::array* const array = node.as_array()) {
    for (const toml::node& element : *array) require_no_zeros(element, file);
  } else if (const auto* const text = node.as_string()) {
    require_none(text->get(), node.source());
  }
}

}  // namespace

toml::table parse_toml(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  if (const int line = first_line_nested_deeper(text, k_max_toml_depth); line > 0)
    throw InputError(file.string(), line, fmt::format("nested deeper than {} levels", k_max_toml_depth));
  try {
    toml::table table = toml::parse(text);
    require_no_zeros(table, file);
    return table;
  } catch (const toml::parse_error& error) {
    throw InputError(file.string(), static_cast<int>(error.source().begin.line),
                     fmt::format("not valid TOML: {}", error.description()));
  }
}

}  // namespace abut
