#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "apps/abut/commands.h"
#include "apps/abut/options.h"
#include "apps/abut/progress_bar.h"
#include "apps/abut/report.h"
#include "collision/fitting/shape_surface.h"
#include "collision/fitting/surface_cache.h"
#include "collision/manifold/selection_statistics.h"
#include "engine/count_text.h"
#include "engine/scene_io.h"
#include "engine/toml_table.h"

namespace abut {
namespace {

struct SuggestKArguments {
  std::filesystem::path scene;
  std::vector<std::string> pair;
  int samples = 500;
  std::uint64_t seed = 1;
  double quantile = 0.95;
  double depth = 0.02;
  bool json = false;
};

/// What was counted in the samples of one pair.
struct PairStatistics {
  int body_A = -1, body_B = -1;
  std::vector<int> edge_pairs, vertices_A, vertices_B;
};

bool collide(const Model& model, int body_A, int body_B) {
  const auto body = [&](int i) -> const Body& { return model.bodies[static_cast<std::size_t>(i)]; };
  if (body(body_A).fixed && body(body_B).fixed) return false;
  return std::none_of(model.pair_overrides.begin(), model.pair_overrides.end(),
                      [&](const PairOverride& pair) {
                        return pair.body_A == body_A && pair.body_B == body_B && !pair.collide;
                      });
}

int body_named(const Model& model, const std::string& name) {
  std::vector<std::string> names;
  for (const Body& body : model.bodies) names.push_back(body.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  const std::string closest = closest_word(name, names);
  throw std::invalid_argument(
      fmt::format("--pair: there is no body '{}'{}", name,
                  closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest)));
}

std::vector<std::pair<int, int>> pairs_of(const Model& model, const std::vector<std::string>& names) {
  if (!names.empty()) {
    const auto [A, B] = std::minmax({body_named(model, names[0]), body_named(model, names[1])});
    if (A == B)
      throw std::invalid_argument(fmt::format("--pair: '{}' cannot be paired with itself", names[0]));
    return {{A, B}};
  }
  std::vector<std::pair<int, int>> pairs;
  for (int A = 0; A < model.body_count(); ++A) {
    for (int B = A + 1; B < model.body_count(); ++B) {
      if (collide(model, A, B)) pairs.emplace_back(A, B);
    }
  }
  if (pairs.empty()) throw std::invalid_argument("no two bodies of the scene can collide");
  return pairs;
}

/// counts[v] is how often the value v occurs.
std::vector<int> histogram_of(const std::vector<int>& values) {
  std::vector<int> counts(static_cast<std::size_t>(*std::max_element(values.begin(), values.end())) + 1);
  for (const int value : values) ++counts[static_cast<std::size_t>(value)];
  return counts;
}

/// One line for each value, or for a range of values where there are more than 20.
std::string histogram_text(const std::vector<int>& values, int quantile) {
  constexpr int k_rows = 20, k_width = 50;
  const std::vector<int> counts = histogram_of(values);
  const int size = static_cast<int>(counts.size()), width = (size + k_rows - 1) / k_rows;
  std::vector<int> rows(static_cast<std::size_t>((size + width - 1) / width));
  for (int value = 0; value < size; ++value)
    rows[static_cast<std::size_t>(value / width)] += counts[static_cast<std::size_t>(value)];
  const int largest = *std::max_element(rows.begin(), rows.end());
  std::string text;
  for (int row = 0; row < static_cast<int>(rows.size()); ++row) {
    const int count = rows[static_cast<std::size_t>(row)], first = row * width, last = first + width - 1;
    const std::string range = width == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    const std::string bar(static_cast<std::size_t>((count * k_width + largest - 1) / largest), '#');
    const char* mark = quantile >= first && quantile <= last ? "  <- quantile" : "";
    text += fmt::format("  {:>9} {:>7} {}{}\n", range, count, bar, mark);
  }
  return text;
}

PairStatistics sample_pair(const Model& model, std::pair<int, int> pair, const SuggestKArguments& arguments,
                           std::int64_t done, ProgressBar& bar) {
  PairStatistics statistics{pair.first, pair.second, {}, {}, {}};
  const SelectionSampler sampler(model.bodies[static_cast<std::size_t>(pair.first)],
                                 model.bodies[static_cast<std::size_t>(pair.second)], arguments.depth);
  Random random(arguments.seed);  // each pair by itself: its figures do not depend on the others
  for (int i = 0; i < arguments.samples; ++i) {
    const SelectionCounts counts = sampler.counts(sampler.colliding_pose(random));
    statistics.edge_pairs.push_back(counts.edge_pairs);
    statistics.vertices_A.push_back(counts.vertices_A);
    statistics.vertices_B.push_back(counts.vertices_B);
    bar.update(done + i + 1);
  }
  return statistics;
}

/// The greatest of what a body needs in any pair, at least 1 where it has any at all.
struct Suggestion {
  int vertices = 0, edges = 0;
};

std::vector<Suggestion> suggestions(const Model& model, const std::vector<PairStatistics>& pairs,
                                    double quantile) {
  std::vector<Suggestion> suggested(model.bodies.size());
  const auto raise = [&](int index, const std::vector<int>& vertices, const std::vector<int>& edge_pairs) {
    const Body& body = model.bodies[static_cast<std::size_t>(index)];
    Suggestion& s = suggested[static_cast<std::size_t>(index)];
    const auto within = [](int value, int most) { return std::min(std::max(value, 1), most); };
    s.vertices = std::max(
        s.vertices, within(quantile_of(vertices, quantile), static_cast<int>(body.contact_points.cols())));
    s.edges = std::max(s.edges, within(quantile_of(edge_pairs, quantile), body.mesh.edge_count()));
  };
  for (const PairStatistics& pair : pairs) {
    raise(pair.body_A, pair.vertices_A, pair.edge_pairs);
    raise(pair.body_B, pair.vertices_B, pair.edge_pairs);
  }
  return suggested;
}

void print_text(const Model& model, const std::vector<PairStatistics>& pairs,
                const SuggestKArguments& arguments) {
  const auto name = [&](int body) { return model.bodies[static_cast<std::size_t>(body)].name; };
  const auto print = [&](const std::string& title, const std::vector<int>& values) {
    const int quantile = quantile_of(values, arguments.quantile);
    fmt::print("{}: {} % of the samples have at most {}\n{}", title, 100.0 * arguments.quantile, quantile,
               histogram_text(values, quantile));
  };
  for (const PairStatistics& pair : pairs) {
    fmt::print("{} and {}, {}\n", name(pair.body_A), name(pair.body_B),
               count_text(arguments.samples, "colliding pose"));
    print("edge pairs in touch", pair.edge_pairs);
    print(fmt::format("deepest vertices of {}", name(pair.body_A)), pair.vertices_A);
    print(fmt::format("deepest vertices of {}", name(pair.body_B)), pair.vertices_B);
    fmt::print("\n");
  }
  const std::vector<Suggestion> suggested = suggestions(model, pairs, arguments.quantile);
  Table table({"body", "selected_vertices", "of", "selected_edges", "of"});
  for (std::size_t i = 0; i < suggested.size(); ++i) {
    const Body& body = model.bodies[i];
    if (suggested[i].vertices == 0 && suggested[i].edges == 0) continue;
    table.add({body.name, fmt::format("{}", suggested[i].vertices),
               fmt::format("{}", body.contact_points.cols()), fmt::format("{}", suggested[i].edges),
               fmt::format("{}", body.mesh.edge_count())});
  }
  fmt::print("{}", table.text());
}

Json json_of_values(const std::vector<int>& values, double quantile) {
  return {{"quantile", quantile_of(values, quantile)}, {"histogram", histogram_of(values)}};
}

Json json_of_statistics(const Model& model, const std::vector<PairStatistics>& pairs,
                        const SuggestKArguments& arguments) {
  Json list = Json::array(), bodies = Json::array();
  for (const PairStatistics& pair : pairs) {
    list.push_back({{"a", model.bodies[static_cast<std::size_t>(pair.body_A)].name},
                    {"b", model.bodies[static_cast<std::size_t>(pair.body_B)].name},
                    {"edge_pairs", json_of_values(pair.edge_pairs, arguments.quantile)},
                    {"vertices_a", json_of_values(pair.vertices_A, arguments.quantile)},
                    {"vertices_b", json_of_values(pair.vertices_B, arguments.quantile)}});
  }
  const std::vector<Suggestion> suggested = suggestions(model, pairs, arguments.quantile);
  for (std::size_t i = 0; i < suggested.size(); ++i) {
    if (suggested[i].vertices == 0 && suggested[i].edges == 0) continue;
    bodies.push_back({{"name", model.bodies[i].name},
                      {"selected_vertices", suggested[i].vertices},
                      {"selected_edges", suggested[i].edges}});
  }
  return {{"samples", arguments.samples}, {"seed", arguments.seed},   {"quantile", arguments.quantile},
          {"depth", arguments.depth},     {"pairs", std::move(list)}, {"bodies", std::move(bodies)}};
}

int suggest_k(const SuggestKArguments& arguments) {
  const Scene scene = read_scene(arguments.scene, surface_maker(user_cache_folder()));
  const std::vector<std::pair<int, int>> pairs = pairs_of(scene.model, arguments.pair);
  std::vector<PairStatistics> statistics;
  {
    const auto total = static_cast<std::int64_t>(pairs.size()) * arguments.samples;
    ProgressBar bar("poses", total, false);
    for (const auto& pair : pairs) {
      const auto done = static_cast<std::int64_t>(statistics.size()) * arguments.samples;
      statistics.push_back(sample_pair(scene.model, pair, arguments, done, bar));
    }
  }
  if (arguments.json) {
    print_json(json_of_statistics(scene.model, statistics, arguments));
  } else {
    print_text(scene.model, statistics, arguments);
  }
  return 0;
}

}  // namespace

void add_suggest_k_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<SuggestKArguments>();
  CLI::App* command =
      app.add_subcommand("suggest-k", "suggest selected_vertices and selected_edges, by colliding at random");
  command->add_option("SCENE", arguments->scene, "scene file (TOML)")->required()->type_name("");
  command->add_option("--pair", arguments->pair, "names of two bodies; default: all pairs that can collide")
      ->expected(2)
      ->type_name("A B");
  command->add_option("--samples", arguments->samples, "number of colliding poses of each pair")
      ->check(whole_number(1))
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "of the random numbers")
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  command->add_option("--quantile", arguments->quantile, "share of the poses that the numbers are enough for")
      ->check(number_between(0.0, 1.0))
      ->capture_default_str();
  command
      ->add_option("--depth", arguments->depth, "greatest overlap, relative to the size of the smaller body")
      ->check(finite_positive())
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer(
      "Brings each pair of bodies into touch in random poses, and counts in each pose the pairs of edges "
      "that\n"
      "touch (each the other's closest) and the vertices that are deeper than their neighbours. Suggested "
      "is\n"
      "what is enough for the given share of the poses, the most that any pair of the body needs: larger is\n"
      "more robust, smaller is faster. Positions in the scene play no part; the same seed gives the same\n"
      "figures. Random poses are hardly ever flat: a body that rests on a face needs the vertices of its "
      "rim.\n"
      "\n"
      "Examples:\n"
      "  abut suggest-k assets/scenes/drill_mustard.toml\n"
      "  abut suggest-k assets/scenes/drill_mustard.toml --pair drill mustard --quantile 0.99 --json");
  command->callback([arguments, &exit_code] { exit_code = suggest_k(*arguments); });
}

}  // namespace abut
