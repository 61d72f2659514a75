/// Files that must be rejected, and what the rejection must say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/input_error.h"

namespace abut::test {

/// Calls `read` and returns the message of its InputError; "accepted" or "wrong exception: ..." otherwise.
template <typename Read>
std::string rejection(const Read& read) {
  try {
    (void)read();
  } catch (const InputError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("wrong exception: ") + error.what();
  }
  return "accepted";
}

/// The first of the texts that the message does not contain; empty if it contains all.
inline std::string missing_part(std::string_view message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (message.find(part) == std::string_view::npos) return part;
  }
  return {};
}

}  // namespace abut::test
