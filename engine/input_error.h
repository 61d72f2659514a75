/// The one exception for what a user can get wrong in a file: where it is, and what is wrong there.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace abut {

/// A text with the control characters in it as escapes, \u0000 for instance: a zero would end a message, and
/// others move the cursor of a terminal. Line breaks stay.
[[nodiscard]] inline std::string without_control_characters(std::string_view text) {
  constexpr std::string_view k_digits = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte >= 0x20 && byte != 0x7F) || c == '\n') {
      result += c;
    } else {
      result += {'\\', 'u', '0', '0', k_digits[byte >> 4], k_digits[byte & 0xF]};
    }
  }
  return result;
}

/// Says "file:line: what is wrong", or "file: what is wrong" where there is no line to name (line 0).
class InputError : public std::runtime_error {
 public:
  InputError(std::string file, int line, std::string_view message)
      : std::runtime_error(located(file, line, message)), file_(std::move(file)), line_(line) {}

  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] int line() const noexcept { return line_; }  ///< from 1; 0 when the whole file is meant

 private:
  static std::string located(const std::string& file, int line, std::string_view message) {
    std::string text = file;
    if (line > 0) text.append(1, ':').append(std::to_string(line));
    return without_control_characters(text.append(": ").append(message));
  }

  std::string file_;
  int line_ = 0;
};

/// Calls use() and returns what it does; std::invalid_argument about what was read from a file becomes an
/// InputError that names the file.
template <typename Use>
decltype(auto) naming_file(const std::string& file, const Use& use) {
  try {
    return use();
  } catch (const std::invalid_argument& error) {
    throw InputError(file, 0, error.what());
  }
}

}  // namespace abut
