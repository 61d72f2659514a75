#include "apps/abut/options.h"

#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

#include <spdlog/fmt/fmt.h>

namespace abut {
namespace {

template <typename T>
bool parse(const std::string& text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stopped == end;
}

}  // namespace

CLI::Validator finite_positive() {
  return {[](std::string& text) {
            double value = 0.0;
            if (parse(text, value) && std::isfinite(value) && value > 0.0) return std::string();
            return fmt::format("{}, allowed: a number > 0, finite", text);
          },
          "", "finite_positive"};
}

CLI::Validator whole_number(std::uint64_t lower, std::uint64_t upper) {
  return {[lower, upper](std::string& text) {
            std::uint64_t value = 0;
            if (parse(text, value) && value >= lower && value <= upper) {
              text = fmt::format("{}", value);  // without leading zeros, which CLI11 takes for octal
              return std::string();
            }
            return fmt::format("{}, allowed: a whole number in [{}, {}]", text, lower, upper);
          },
          "", "whole_number"};
}

}  // namespace abut
