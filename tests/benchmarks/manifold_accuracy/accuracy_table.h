/// How accurate and how smooth the contact manifold is: a table each. docs/manifold_accuracy.md shows them
/// and says how each is made.
#pragma once

#include <span>
#include <string_view>

#include "../support/table.h"

namespace abut::accuracy {

using benchmarks::Table;

struct AccuracyTable {
  const char* name;      ///< of the command line
  const char* title;     ///< what is measured
  const char* protocol;  ///< how, in which units
  Table (*measure)(bool quick);
};

/// All there are, in order.
[[nodiscard]] std::span<const AccuracyTable> accuracy_tables();

/// nullptr if there is none of this name.
[[nodiscard]] const AccuracyTable* find_accuracy_table(std::string_view name);

// With `quick`, of few samples: for a look, and for the tests.
[[nodiscard]] Table measure_vertex_sdf(bool quick);
[[nodiscard]] Table measure_edge_edge(bool quick);
[[nodiscard]] Table measure_crossings(bool quick);
[[nodiscard]] Table measure_convex(bool quick);
[[nodiscard]] Table measure_derivative_differences(bool quick);
[[nodiscard]] Table measure_paths(bool quick);
[[nodiscard]] Table measure_single_precision(bool quick);
[[nodiscard]] Table measure_force(bool quick);
[[nodiscard]] Table measure_vertex_depth(bool quick);

}  // namespace abut::accuracy
