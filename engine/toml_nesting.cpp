#include "engine/toml_nesting.h"

#include <algorithm>
#include <string>
#include <vector>

namespace abut {
namespace {

/// Counts how deep the values of a text are nested, from its punctuation: a level for each part of a table
/// header and of a dotted key, and one for each array or inline table that is open.
class NestingScanner {
 public:
  explicit NestingScanner(std::string_view text) : text_(text) {}

  int first_line_deeper(int limit) {
    while (at_ < text_.size()) {
      take(text_[at_]);
      if (depth() > limit) return line_;
    }
    return 0;
  }

 private:
  /// Levels around the place reached, the key being read included.
  [[nodiscard]] int depth() const {
    return header_ + (open_.empty() ? 0 : open_.back()) + value_key_ + 1 + dots_;
  }
  void end_item() { value_key_ = dots_ = 0; }

  void take(char c) {
    const bool is_outside = open_.empty();
    switch (c) {
      case '"':
      case '\'':
        skip_string(c);
        return;
      case '#':
        at_ = std::min(text_.find('\n', at_), text_.size());
        return;
      case '\n':
        ++line_;
        if (is_outside) {
          end_item();
          is_in_header_ = false;
          is_at_line_start_ = true;
        }
        break;
      case '.':
        ++dots_;
        break;  // of a key or of a number, which is no deeper for it than a key of two parts
      case '=':
        value_key_ += 1 + dots_;
        dots_ = 0;
        break;
      case ',':
        end_item();
        break;
      case '[':
      case '{':
        if (is_outside && (is_at_line_start_ || is_in_header_)) {
          if (is_at_line_start_) header_ = 0;
          is_in_header_ = true;
        } else {
          open_.push_back((is_outside ? 0 : open_.back()) + value_key_ + 1);
          end_item();
        }
        break;
      case ']':
      case '}':
        if (is_in_header_) {
          header_ += 1 + dots_;  // the second bracket of [[...]] adds a level, as the array is one
        } else if (!is_outside) {
          open_.pop_back();
        }
        end_item();
        break;
      default:
        break;
    }
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') is_at_line_start_ = false;
    ++at_;
  }

  void skip_string(char quote) {
    is_at_line_start_ = false;
    const std::string three(3, quote);
    const bool is_multi_line = text_.substr(at_, 3) == three;
    at_ += is_multi_line ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n' && !is_multi_line) return;  // not closed: the parser says so
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] == '\\' && quote == '"') {
        ++at_;
        if (at_ < text_.size() && text_[at_] == '\n') ++line_;
      } else if (is_multi_line ? text_.substr(at_, 3) == three : text_[at_] == quote) {
        at_ += is_multi_line ? 3 : 1;
        // A multi-line string may end in two quotes of its own, before the three that close it.
        for (int i = 0; is_multi_line && i < 2 && at_ < text_.size() && text_[at_] == quote; ++i) ++at_;
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool is_at_line_start_ = true, is_in_header_ = false;
  int header_ = 0;         // levels of the last table header
  std::vector<int> open_;  // of each open bracket: the levels that it and what is around it make
  int value_key_ = 0;      // levels of the key whose value is being read
  int dots_ = 0;           // since the last key, bracket or comma
};

}  // namespace

int first_line_nested_deeper(std::string_view toml, int limit) {
  return NestingScanner(toml).first_line_deeper(limit);
}

}  // namespace abut
