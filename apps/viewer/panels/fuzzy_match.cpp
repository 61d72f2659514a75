#include "apps/viewer/panels/fuzzy_match.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <vector>

namespace abut::viewer {
namespace {

constexpr double k_no_match = -std::numeric_limits<double>::infinity();

char small(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// The best sum over all subsequences that spell the word; `best[j]` is that of its letters so far, the last
/// of them at j.
double score_of_word(std::string_view word, std::string_view text) {
  constexpr double k_letter = 1.0, k_follows = 2.0, k_begins = 1.5;
  std::vector<double> best(text.size(), k_no_match), next(text.size());
  for (std::size_t i = 0; i < word.size(); ++i) {
    double before = i == 0 ? 0.0 : k_no_match;  // of the letters before, anywhere left of j
    for (std::size_t j = 0; j < text.size(); ++j) {
      const bool begins = j == 0 || std::isalnum(static_cast<unsigned char>(text[j - 1])) == 0;
      const double follows = i > 0 && j > 0 ? best[j - 1] + k_follows : k_no_match;
      next[j] = small(word[i]) == small(text[j])
                    ? k_letter + (begins ? k_begins : 0.0) + std::max(before, follows)
                    : k_no_match;
      if (i > 0) before = std::max(before, best[j]);
    }
    best.swap(next);
  }
  return *std::max_element(best.begin(), best.end());
}

}  // namespace

std::optional<double> fuzzy_score(std::string_view query, std::string_view text) {
  double sum = 0.0;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find(' '), query.size());
    const std::string_view word = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (word.empty()) continue;
    if (text.empty()) return std::nullopt;
    const double score = score_of_word(word, text);
    if (score == k_no_match) return std::nullopt;
    sum += score;
  }
  return sum;
}

}  // namespace abut::viewer
