/// Figure 6: time of a witness routine by the number of queries, uniform in the unit cube, of the smooth
/// closed form, the exact one, and the iterative methods that smooth by a barrier; one thread, both
/// precisions.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "../support/gnuplot.h"
#include "../support/table.h"
#include "../timer.h"
#include "figure.h"
#include "witness_batch.h"

namespace abut::paper000 {
namespace {

using benchmarks::png_header;
using benchmarks::run_gnuplot;
using benchmarks::Table;

struct Method {
  WitnessMethod method;
  const char *name, *title;
  bool is_iterative;
};

/// The largest batch, of those measured, whose times are printed: larger ones are bound by memory.
constexpr std::size_t k_queries_shown = 100000;

constexpr std::array k_methods{
    Method{WitnessMethod::smooth, "smooth", "closed form, smooth", false},
    Method{WitnessMethod::active_set, "active_set", "closed form, exact", false},
    Method{WitnessMethod::interior_point, "interior_point", "interior point, a pair a lane", true},
    Method{WitnessMethod::barrier_lbfgs, "barrier_lbfgs", "L-BFGS with barrier, a pair a lane", true},
    Method{WitnessMethod::dense_interior_point, "dense_interior_point", "interior point, general, one by one",
           true}};

struct Protocol {
  std::vector<std::size_t> queries;
  int repetitions;  ///< at most, of which the median counts
  int least_repetitions;
  double seconds;         ///< after which no repetition begins [s]
  double least_duration;  ///< of a repetition; shorter ones are made of several calls [s]
};

Protocol protocol(bool quick) {
  if (quick) return {{1, 100}, 3, 3, 0.01, 1e-5};
  return {{1, 10, 100, 1000, 10000, 100000, 1000000, 10000000}, 100, 3, 0.05, 1e-3};
}

/// Median time of a query [ns].
template <typename T>
double time_of_query(WitnessPair pair, WitnessMethod method, WitnessBatch<T>& batch,
                     const Protocol& protocol) {
  const WitnessSettings<T> settings = published_witness_settings<T>();
  const WitnessView<T> view = batch.view();
  const auto seconds_of = [&](int calls) {
    const double start = benchmarks::cpu_seconds();
    for (int call = 0; call < calls; ++call) solve_witnesses(pair, method, settings, view);
    return benchmarks::cpu_seconds() - start;
  };
  int calls = 1;
  double total = seconds_of(calls);  // warms the caches up; counted only where one call is more than enough
  if (total > protocol.seconds * protocol.least_repetitions) {
    return 1e9 * total / static_cast<double>(batch.count());
  }
  while (total < protocol.least_duration) total = seconds_of(calls *= 2);
  std::vector<double> times;
  total = 0.0;
  while (static_cast<int>(times.size()) < protocol.repetitions &&
         (total < protocol.seconds || static_cast<int>(times.size()) < protocol.least_repetitions)) {
    times.push_back(seconds_of(calls));
    total += times.back();
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return 1e9 * times[times.size() / 2] / (static_cast<double>(batch.count()) * calls);
}

/// How far points are from those of another method in double precision: largest, mean [size]; and the mean of
/// the last output, which is the number of iterations of the iterative methods.
template <typename T>
std::array<double, 3> agreement(WitnessPair pair, WitnessMethod method, WitnessMethod reference,
                                std::size_t count) {
  constexpr std::uint64_t k_seed = 7;
  WitnessBatch<T> batch(count, k_seed);
  WitnessBatch<double> exact(count, k_seed);
  solve_witnesses(pair, method, published_witness_settings<T>(), batch.view());
  solve_witnesses(pair, reference, published_witness_settings<double>(), exact.view());
  double largest = 0.0, sum = 0.0, extra = 0.0;
  for (std::size_t k = 0; k < count; ++k) {
    double distance = 0.0;
    for (std::size_t i = 0; i < 6; ++i) {
      distance = std::max(distance, std::abs(static_cast<double>(batch.output(i, k)) - exact.output(i, k)));
    }
    if (!std::isfinite(distance)) distance = HUGE_VAL;
    largest = std::max(largest, distance);
    sum += distance;
    extra += static_cast<double>(batch.output(6, k));
  }
  return {largest, sum / static_cast<double>(count), extra / static_cast<double>(count)};
}

template <typename T>
void measure(WitnessPair pair, const FigureOptions& options) {
  const std::string name = fmt::format("{}_{}", pair == WitnessPair::edge_edge ? "edge_edge" : "vertex_face",
                                       std::is_same_v<T, float> ? "fp32" : "fp64");
  const Protocol steps = protocol(options.quick);
  std::vector<std::string> columns{"queries"};
  for (const Method& method : k_methods) columns.push_back(fmt::format("{}[ns/query]", method.name));
  Table table(columns);
  std::vector<double> row, row_shown;
  for (const std::size_t queries : steps.queries) {
    WitnessBatch<T> batch(queries, 1);
    row = {static_cast<double>(queries)};
    for (const Method& method : k_methods) row.push_back(time_of_query(pair, method.method, batch, steps));
    table.add_row(row);
    if (queries <= k_queries_shown) row_shown = row;
    table.write(options.folder / fmt::format("figure6_{}.tsv", name));  // so far: the largest take their time
  }

  // Against the exact points, what smoothing does; against the other interior point, what is left of
  // convergence.
  Table deviations({"method", "largest_to_exact", "mean_to_exact", "largest_to_barrier", "mean_to_barrier",
                    "mean_gamma_or_iterations"});
  const std::size_t count = options.quick ? 500 : 100000;
  fmt::print("\nIn registers of {} bits.\n", witness_register_bits());
  fmt::print(
      "\n| {}, {} | [ns] in batches of {:.0e} | of the smooth closed form | deviation | iterations |\n"
      "| --- | --- | --- | --- | --- |\n",
      pair == WitnessPair::edge_edge ? "edge and edge" : "vertex and face",
      std::is_same_v<T, float> ? "fp32" : "fp64", row_shown[0]);
  for (std::size_t i = 0; i < k_methods.size(); ++i) {
    const auto exact = agreement<T>(pair, k_methods[i].method, WitnessMethod::active_set, count);
    const auto barrier = agreement<T>(pair, k_methods[i].method, WitnessMethod::dense_interior_point, count);
    deviations.add_row({static_cast<double>(i), exact[0], exact[1], barrier[0], barrier[1], exact[2]});
    fmt::print("| {} | {:.1f} | {:.2f} | {:.3f} | {} |\n", k_methods[i].title, row_shown[i + 1],
               row_shown[i + 1] / row_shown[1], exact[1],
               k_methods[i].is_iterative ? fmt::format("{:.1f}", exact[2]) : "");
  }
  deviations.write(options.folder / fmt::format("figure6_{}_deviation.tsv", name));
}

}  // namespace

void draw_witness_times(const FigureOptions& options) {
  for (const WitnessPair pair : {WitnessPair::edge_edge, WitnessPair::vertex_face}) {
    measure<float>(pair, options);
    measure<double>(pair, options);
  }
  if (!options.pictures) return;
  std::string script = png_header("figure6.png", 1100, 860);
  script += R"(
set multiplot layout 2,2 margins 0.075,0.985,0.175,0.955 spacing 0.06,0.1
set logscale xy
set xrange [0.7:1.5e7]
set yrange [1:5e3]
set format x '10^{%T}'
set format y '10^{%T}'
)";
  const auto panel = [&](const char* name, const char* title, bool left, bool bottom) {
    script += fmt::format("set title '{}' offset 0,-0.6\n{}\n{}\nplot ", title,
                          left ? "set ylabel 'time of a query [ns]' offset 1,0" : "unset ylabel",
                          bottom ? "set xlabel 'queries in a batch [-]' offset 0,0.4" : "unset xlabel");
    for (std::size_t i = 0; i < k_methods.size(); ++i) {
      script += fmt::format("{}'figure6_{}.tsv' using 1:{} with linespoints ls {} title '{}'",
                            i == 0 ? "" : ", ", name, i + 2, i + 1, bottom && left ? k_methods[i].title : "");
    }
    script += "\n";
  };
  panel("edge_edge_fp32", "edge and edge, fp32", true, false);
  panel("edge_edge_fp64", "edge and edge, fp64", false, false);
  script += "set key at screen 0.5,0.085 center maxrows 2 samplen 3\n";
  panel("vertex_face_fp32", "vertex and face, fp32", true, true);
  script += "unset key\n";
  panel("vertex_face_fp64", "vertex and face, fp64", false, true);
  run_gnuplot(script + "unset multiplot\n", options.folder);
}

}  // namespace abut::paper000
