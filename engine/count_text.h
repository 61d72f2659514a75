/// Numbers of things in words.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include <spdlog/fmt/fmt.h>

namespace abut {

/// "1 contact", "2 contacts", "0 contacts"; `many` is the plural where it is not the word and an s.
[[nodiscard]] std::string count_text(std::integral auto count, std::string_view one,
                                     std::string_view many = {}) {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, many);
}

}  // namespace abut
