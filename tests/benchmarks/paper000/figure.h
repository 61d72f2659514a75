/// The figures of a published method, drawn again: each writes tables (TSV) and a picture (PNG) into a
/// folder.
///
/// @see  Beker et al., "Smoothly differentiable and efficiently vectorizable contact manifold generation"
///       (arXiv:2602.20304); the numbers of figures are those of this document. docs/paper000.md says what is
///       to be seen.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace abut::paper000 {

struct FigureOptions {
  std::filesystem::path folder;  ///< exists
  bool quick = false;            ///< few samples and repetitions: for a look, and for the tests
  bool pictures = true;          ///< else tables alone
};

struct Figure {
  const char* name;   ///< of the command line: its number
  const char* title;  ///< what is shown
  void (*draw)(const FigureOptions&);
};

/// All there are, in order.
[[nodiscard]] std::span<const Figure> figures();

/// nullptr if there is none of this name.
[[nodiscard]] const Figure* find_figure(std::string_view name);

void draw_smoothed_primitives(const FigureOptions& options);  // figure 2
void draw_rotating_edge(const FigureOptions& options);        // figure 3
void draw_stacked_boxes(const FigureOptions& options);        // figure 5
void draw_witness_times(const FigureOptions& options);        // figure 6
void draw_manifold_times(const FigureOptions& options);       // figure 7
void draw_ablation_times(const FigureOptions& options);       // figure 8

}  // namespace abut::paper000
