/// What an answer is worth: said first by the terminal, the page and the JSON alike, and by the exit code.
#pragma once

#include <string>
#include <vector>

#include "apps/abut/report.h"

namespace abut {

struct IdentificationReport;

struct Verdict {
  /// In the order of what outweighs what, the least first. The first three are answers.
  ///   explained      the simulated motions differ from the measured ones as the noise stated does
  ///   unchecked      found; no statistic tells whether the fit is good (too few measurements)
  ///   reached        every goal is met to within its tolerance (`abut optimize`)
  ///   at_bound       an estimate lies at a bound, where it was held
  ///   undetermined   the motions tell nothing of any unknown
  ///   implausible    an estimate, or a motion with it, is none of this world
  ///   not_explained  residuals are far from what the noise allows
  ///   not_reached    a goal is missed by more than its tolerance
  ///   unfinished     the search ended before it had converged
  ///   failed         no guess could be simulated
  enum class Status {
    explained,
    unchecked,
    reached,
    at_bound,
    undetermined,
    implausible,
    not_explained,
    not_reached,
    unfinished,
    failed
  };
  Status status = Status::explained;
  std::string headline;              ///< a line
  std::vector<std::string> reasons;  ///< what it rests on, a sentence each
  std::vector<std::string> checks;   ///< what to look at where it is no answer
  bool has_doubts = false;           ///< an answer with something to be known beside it

  [[nodiscard]] bool is_answer() const { return status <= Status::reached; }
};

[[nodiscard]] const char* to_string(Verdict::Status status);

/// From what a report holds alone.
///
/// Residuals are too large where the reduced chi square of nu degrees of freedom lies beyond its 99.99 %
/// quantile and beyond 2, that is 1.4 times the noise stated: no scene is exact, and no noise is known to
/// better. With a robust loss, or too few measurements, the square of ResidualCheck::typical_size stands in
/// for it. With intervals of the residuals, for which noise may have any size, residuals are to look like
/// noise instead: a serial correlation above 0.5 in motions that are off by twice the noise says they do not.
[[nodiscard]] Verdict verdict_of(const IdentificationReport& report);

[[nodiscard]] std::string text_of(const Verdict& verdict);
[[nodiscard]] Json json_of(const Verdict& verdict);

}  // namespace abut
