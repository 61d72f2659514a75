/// The one exception for what a user can get wrong in a file: where it is, and what is wrong there.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace abut {

/// Says "file:line: what is wrong", or "file: what is wrong" where there is no line to name (line 0).
class InputError : public std::runtime_error {
 public:
  InputError(std::string file, int line, std::string_view message)
      : std::runtime_error(file + (line > 0 ? ":" + std::to_string(line) : std::string()) + ": " +
                           std::string(message)),
        file_(std::move(file)),
        line_(line) {}

  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] int line() const noexcept { return line_; }  ///< from 1; 0 when the whole file is meant

 private:
  std::string file_;
  int line_ = 0;
};

}  // namespace abut
