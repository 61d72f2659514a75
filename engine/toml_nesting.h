/// How deep the values of a TOML text are nested, found without parsing it.
#pragma once

#include <string_view>

namespace abut {

/// Tables, arrays and parts of dotted keys within each other that a file may have. Parsing, visiting and
/// destroying a value recurse once per level, so that an unbounded file could exhaust the stack.
inline constexpr int k_max_toml_depth = 64;

/// The line on which a value is first nested deeper than `limit` levels, or 0 if none is. Each part of a
/// table header or dotted key is a level, each open bracket, and the value itself. What follows the first
/// syntax error may be counted wrongly; a parser stops there.
[[nodiscard]] int first_line_nested_deeper(std::string_view toml, int limit);

}  // namespace abut
