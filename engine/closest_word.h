/// The word that a misspelt one was probably meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace abut {

/// The word closest to `word` in edit distance (a swap of neighbours counts as one), or "" if none is close
/// enough to be what was meant: at most a third of its letters wrong.
[[nodiscard]] std::string closest_word(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace abut
