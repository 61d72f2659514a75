/// How results and failures are put into words, tables and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "collision/overlap.h"
#include "dynamics/rollout/adjoint.h"
#include "dynamics/start_warnings.h"
#include "dynamics/step/run_warnings.h"
#include "dynamics/step/solution_counts.h"
#include "dynamics/step/stepper.h"
#include "engine/config.h"
#include "engine/model.h"
#include "engine/types.h"

namespace abut {

/// What went wrong in a step of a rollout, in one line: which step, when, by which law, why, which body and
/// contact, and what to try.
///
/// @param time  at the end of that step [s]
[[nodiscard]] std::string failure_text(const Model& model, const StepConfig& config, double time,
                                       const StepReport& report);

/// Warns on stderr of what is wrong with the state that a simulation starts from, a line each.
///
/// @param verb  that warns
void warn_of_start(std::string_view verb, const Model& model, const StartWarnings& warnings);

[[nodiscard]] const char* to_string(StepWarning::Kind kind);

/// What a warning of a step means and what to try, in one line.
[[nodiscard]] std::string warning_text(const Model& model, const StepConfig& config, StepWarning::Kind kind,
                                       const StepWarning& warning);

/// How many steps each fallback of the solver solved, a line each; none without fallbacks.
[[nodiscard]] std::vector<std::string> fallback_texts(const SolutionCounts& counts);

/// A hash of states as tables, JSON and files have it: 16 hexadecimal digits.
[[nodiscard]] std::string hash_text(std::uint64_t hash);

/// A table of texts with aligned columns; the first row is the header, with a line below it.
class Table {
 public:
  explicit Table(std::vector<std::string> header) { add(std::move(header)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  /// @param left  how many of the first columns are aligned to the left; the rest is to the right
  [[nodiscard]] std::string text(std::size_t left = 1) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Keys stay in the order they were added.
using Json = nlohmann::ordered_json;

[[nodiscard]] Json json_of(const Vec3<double>& v);
/// {"newton", "convex_pass", ..., "negative_determinant"}: numbers of steps
[[nodiscard]] Json json_of(const SolutionCounts& counts);
/// [{"a", "b", "depth", "point"}, ...]
[[nodiscard]] Json json_of(const Model& model, const std::vector<Overlap>& overlaps);
/// [{"kind", "joint", "value"}, ...]
[[nodiscard]] Json json_of(const Model& model, const std::vector<JointStartWarning>& warnings);
/// [{"kind", "body", "other", "first_step", "steps", "worst"}, ...]; "other" is null for the world
[[nodiscard]] Json json_of(const Model& model, const RunWarnings& warnings);

/// {"largest_growth", "growth_over_free", "contacts", "contacts_near_kink",
/// "share_near_kink", "steps_on_branches", "steps_lacking_restitution",
/// "warnings": [{"kind", "step", "body", "value"}, ...]}
[[nodiscard]] Json json_of(const Model& model, const GradientHealth& health);

/// Prints how a gradient came about: a line, and one for each of the first warnings.
void print_health(const Model& model, const GradientHealth& health);

/// A JSON object as text, with a line break at its end. What is not finite becomes null, and bytes that are
/// no UTF-8 are replaced.
[[nodiscard]] std::string json_text(const Json& json);

/// Writes that text to stdout.
void print_json(const Json& json);

}  // namespace abut
