/// Runs of the truth suite: every situation with every kind of body, size, time step, law and detector.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/truth/situations/situation.h"

namespace abut::truth {

/// What happened in a run.
struct Recording {
  Motion motion;
  bool is_warned = false;  ///< whether a step gave a warning (StepReport::warnings)
  std::string failure;     ///< of a step; empty: none
  std::string refusal;     ///< why the scene cannot be run; empty: it was
};

/// A law or detector, the rest being defaults, or another simulator: a column of the matrix.
struct Column {
  std::string name;
  StepConfig config;
  std::vector<Scale> scales;  ///< that it is run with
  bool is_slow = false;       ///< run with the first kind of a situation only
  /// Another simulator that runs the scene for so many steps of h; empty: Abut.
  std::function<Recording(const Setup& setup, double h, int steps)> record{};
};
/// Those of Abut.
[[nodiscard]] const std::vector<Column>& columns();

struct Case {
  const Situation* situation = nullptr;
  std::string kind;
  const Column* column = nullptr;
  Scale scale;
};
/// "situation | kind | column", and "10cm@2ms".
[[nodiscard]] std::string cell_name(const Case& at);
[[nodiscard]] std::string scale_name(const Case& at);

/// All cases, in a fixed order.
///
/// @param filter  of the names of situations: those that contain it
/// @param of      the columns; they must outlive the cases
[[nodiscard]] std::vector<Case> cases(const std::string& filter = "",
                                      const std::vector<Column>& of = columns());

enum class Verdict { is_true, is_wrong, is_refused };

struct Outcome {
  Verdict verdict = Verdict::is_true;
  double measured = 0.0, exact = 0.0;
  double error = 0.0;      ///< |measured - exact| in tolerances; infinite where a step failed
  bool is_warned = false;  ///< see Recording
  std::string failure;     ///< of a step, or why the case is refused
};
/// Never throws but for a situation that makes no sense.
[[nodiscard]] Outcome run(const Case& at);

/// The outcomes of cases, in their order, on several threads.
[[nodiscard]] std::vector<Outcome> run_all(const std::vector<Case>& cases, int threads);

/// Cases that are known to be wrong: the scale names by cell name.
using Marks = std::map<std::string, std::string>;
/// Reads marks.txt. Throws std::runtime_error for a line that has not four fields.
[[nodiscard]] Marks read_marks(const std::filesystem::path& path);
[[nodiscard]] bool is_marked(const Marks& marks, const Case& at);

/// Reasons of what is known to be wrong: the first rule whose patterns match. A pattern matches what contains
/// it; "*" matches all.
struct Reason {
  std::string situation, kind, column, text;
};
[[nodiscard]] std::vector<Reason> read_reasons(const std::filesystem::path& path);
/// Null where there is none.
[[nodiscard]] const Reason* reason_of(const std::vector<Reason>& reasons, const std::string& cell);

}  // namespace abut::truth
