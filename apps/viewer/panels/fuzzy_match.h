/// Approximate search by name, as command palettes have it.
#pragma once

#include <optional>
#include <string_view>

namespace abut::viewer {

/// How well a query describes a text, the higher the better: letters that follow each other and beginnings of
/// words count more. Each word of the query must occur in the text as a subsequence of its letters, whatever
/// their case; none if one does not. An empty query scores 0.
[[nodiscard]] std::optional<double> fuzzy_score(std::string_view query, std::string_view text);

}  // namespace abut::viewer
