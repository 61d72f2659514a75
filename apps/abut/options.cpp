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

CLI::Validator number_between(double lower, double upper) {
  return {[lower, upper](std::string& text) {
            double value = 0.0;
            if (parse(text, value) && value >= lower && value <= upper) return std::string();
            const bool has_lower = lower > std::numeric_limits<double>::lowest(),
                       has_upper = upper < std::numeric_limits<double>::max();
            if (!has_lower && !has_upper) return fmt::format("{}, allowed: a finite number", text);
            return has_upper ? fmt::format("{}, allowed: a number in [{}, {}]", text, lower, upper)
                             : fmt::format("{}, allowed: a number >= {}, finite", text, lower);
          },
          "", "number_between"};
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

void refuse_empty_values(CLI::App& app) {
  const CLI::Validator not_empty(
      [](std::string& text) { return text.empty() ? std::string("must not be empty") : std::string(); }, "",
      "not_empty");
  for (CLI::Option* const option : app.get_options()) {
    if (option->get_expected_max() > 0) option->check(not_empty);  // not a flag
  }
}

}  // namespace abut
