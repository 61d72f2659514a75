/// abut_truth_table: the matrix of docs/truth.md, as Markdown to standard output, and the marks of what is known to be
/// wrong (marks.txt).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "tests/truth/situations/mujoco_column.h"
#include "tests/truth/situations/run.h"

namespace {

using namespace abut::truth;

struct Count {
  int runs = 0, wrong = 0, refused = 0, warned = 0;
  double worst = 0.0;  ///< in tolerances

  void add(const Outcome& outcome) {
    refused += outcome.verdict == Verdict::is_refused;
    runs += outcome.verdict != Verdict::is_refused;
    if (outcome.verdict != Verdict::is_wrong) return;
    ++wrong;
    warned += outcome.is_warned;
    worst =
        std::isnan(outcome.error) ? std::numeric_limits<double>::infinity() : std::max(worst, outcome.error);
  }
  /// "true"; "2/6, 3.1": two of six runs are wrong, the worst by 3.1 tolerances; "-": refused.
  [[nodiscard]] std::string text() const {
    if (runs == 0) return "–";
    if (wrong == 0) return "true";
    return std::isfinite(worst) ? fmt::format("{}/{}, {:.2g}", wrong, runs, worst)
                                : fmt::format("{}/{}, fails", wrong, runs);
  }
};

void print_matrix(const std::vector<Case>& all, const std::vector<Outcome>& outcomes,
                  const std::vector<Column>& shown) {
  std::map<std::string, std::map<std::string, Count>> rows;
  std::map<std::string, Count> totals;
  for (std::size_t i = 0; i < all.size(); ++i) {
    rows[all[i].situation->name][all[i].column->name].add(outcomes[i]);
    totals[all[i].column->name].add(outcomes[i]);
  }
  std::string header = "| situation |", line = "| --- |", total = "| **runs that are wrong** |";
  for (const Column& column : shown) {
    header += fmt::format(" {} |", column.name);
    line += " --- |";
    const Count& count = totals[column.name];
    total += fmt::format(" {} of {} |", count.wrong, count.runs);
  }
  fmt::print("{}\n{}\n", header, line);
  for (const Situation& situation : situations()) {
    const auto row = rows.find(situation.name);
    if (row == rows.end()) continue;
    fmt::print("| {} |", situation.name);
    for (const Column& column : shown) fmt::print(" {} |", row->second[column.name].text());
    fmt::print("\n");
  }
  fmt::print("{}\n", total);
}

void print_kinds(const std::vector<Case>& all, const std::vector<Outcome>& outcomes,
                 const std::vector<Column>& shown) {
  std::map<std::string, std::map<std::string, Count>> rows;
  std::vector<std::string> order;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = all[i].kind;
    if (!rows.contains(name)) order.push_back(name);
    rows[name][all[i].column->name].add(outcomes[i]);
  }
  fmt::print("| kind |");
  for (const Column& column : shown) fmt::print(" {} |", column.name);
  fmt::print("\n| --- |");
  for (std::size_t i = 0; i < shown.size(); ++i) fmt::print(" --- |");
  fmt::print("\n");
  for (const std::string& name : order) {
    fmt::print("| {} |", name);
    for (const Column& column : shown) {
      const Count& count = rows[name][column.name];
      fmt::print(" {} |", count.runs == 0 ? "–" : fmt::format("{} of {}", count.wrong, count.runs));
    }
    fmt::print("\n");
  }
}

void print_catalogue(const std::string& filter) {
  fmt::print("| situation | measured | right value | tolerance | kinds |\n| --- | --- | --- | --- | --- |\n");
  for (const Situation& situation : situations()) {
    if (situation.name.find(filter) == std::string::npos) continue;
    fmt::print("| {} | {} | {} | {} | {} |\n", situation.name, situation.quantity, situation.source,
               situation.tolerance, fmt::join(situation.kinds, ", "));
  }
}

void print_marks(std::FILE* to, const std::vector<Case>& all, const std::vector<Outcome>& outcomes) {
  fmt::print(to,
             "# What is known to be wrong: situation | kind | law or detector | sizes and steps.\n"
             "# Written by abut_truth_table --table marks; read by tests/truth/situations_test.cpp.\n");
  for (std::size_t i = 0; i < all.size();) {
    const std::string cell = cell_name(all[i]);
    std::string scales;
    for (; i < all.size() && cell_name(all[i]) == cell; ++i) {
      if (outcomes[i].verdict == Verdict::is_wrong) scales += " " + scale_name(all[i]);
    }
    if (!scales.empty()) fmt::print(to, "{} |{}\n", cell, scales);
  }
}

/// Those of Abut alone.
void write_marks(const std::string& path, std::vector<Case> all, std::vector<Outcome> outcomes) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].column->record) continue;
    all[kept] = all[i];
    outcomes[kept++] = outcomes[i];
  }
  all.resize(kept);
  outcomes.resize(kept);
  const std::string temporary = path + ".tmp";
  std::FILE* const file = std::fopen(temporary.c_str(), "w");
  if (file == nullptr) throw std::runtime_error(temporary + " cannot be written");
  print_marks(file, all, outcomes);
  if (std::fclose(file) != 0) throw std::runtime_error(temporary + " cannot be written");
  std::filesystem::rename(temporary, path);
}

void print_runs(const std::vector<Case>& all, const std::vector<Outcome>& outcomes) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Outcome& o = outcomes[i];
    fmt::print("{} | {} | {:.6g} | {:.6g} | {:.3g}{}{}\n", cell_name(all[i]), scale_name(all[i]), o.measured,
               o.exact, o.error, o.is_warned ? " warned" : "", o.failure.empty() ? "" : " " + o.failure);
  }
}

/// Runs of Abut's default and of another simulator with the same bodies, sizes and steps.
struct Comparison {
  int both_right = 0, only_ours = 0, only_theirs = 0, neither = 0, refused = 0;
  std::map<std::string, std::string> kinds_only_ours,
      kinds_only_theirs;  ///< that only one has right, by situation
};

Comparison compare(const std::vector<Case>& all, const std::vector<Outcome>& outcomes,
                   const std::string& peer) {
  const auto name = [](const Case& at) { return at.situation->name + at.kind + scale_name(at); };
  std::map<std::string, bool> ours;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].column->name == columns().front().name)
      ours[name(all[i])] = outcomes[i].verdict == Verdict::is_true;
  }
  Comparison result;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Case& at = all[i];
    if (at.column->name != peer || !ours.contains(name(at))) continue;
    const bool is_ours = ours.at(name(at)), is_theirs = outcomes[i].verdict == Verdict::is_true;
    if (outcomes[i].verdict == Verdict::is_refused) {
      ++result.refused;
    } else if (is_ours == is_theirs) {
      ++(is_ours ? result.both_right : result.neither);
    } else {
      ++(is_ours ? result.only_ours : result.only_theirs);
      auto& kinds = (is_ours ? result.kinds_only_ours : result.kinds_only_theirs)[at.situation->name];
      kinds += (kinds.empty() ? "" : ", ") + at.kind;
    }
  }
  return result;
}

/// How often the default and other simulators are right, then the kinds of bodies that only one of them has right.
void print_peers(const std::vector<Case>& all, const std::vector<Outcome>& outcomes,
                 const std::vector<Column>& peers) {
  fmt::print(
      "| simulator | both right | only Abut | only the other | neither | refused by the other |\n"
      "| --- | --- | --- | --- | --- | --- |\n");
  std::vector<Comparison> comparisons;
  std::string header = "| situation |", line = "| --- |";
  for (const Column& peer : peers) {
    const Comparison c = compare(all, outcomes, peer.name);
    fmt::print("| {} | {} | {} | {} | {} | {} |\n", peer.name, c.both_right, c.only_ours, c.only_theirs,
               c.neither, c.refused);
    header += fmt::format(" Abut right, {0} wrong | {0} right, Abut wrong |", peer.name);
    line += " --- | --- |";
    comparisons.push_back(c);
  }
  fmt::print("\n{}\n{}\n", header, line);
  for (const Situation& situation : situations()) {
    std::string row, text;
    for (Comparison& c : comparisons) {
      for (auto* kinds : {&c.kinds_only_ours, &c.kinds_only_theirs}) {
        text += (*kinds)[situation.name];
        row += fmt::format(" {} |", (*kinds)[situation.name]);
      }
    }
    if (!text.empty()) fmt::print("| {} |{}\n", situation.name, row);
  }
}

/// How many cells of Abut each reason explains, and whether the program warns.
void print_reasons(const std::vector<Case>& all, const std::vector<Outcome>& outcomes) {
  const auto reasons = read_reasons(ABUT_SOURCE_DIR "/tests/truth/situations/reasons.txt");
  std::vector<Count> counts(reasons.size());
  Count others;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (outcomes[i].verdict != Verdict::is_wrong || all[i].column->record) continue;
    const Reason* const reason = reason_of(reasons, cell_name(all[i]));
    (reason == nullptr ? others : counts[static_cast<std::size_t>(reason - reasons.data())]).add(outcomes[i]);
  }
  fmt::print(
      "| situations | kinds | law or detector | wrong runs | warned of | reason |\n"
      "| --- | --- | --- | --- | --- | --- |\n");
  for (std::size_t r = 0; r < reasons.size(); ++r) {
    if (counts[r].wrong == 0) continue;
    fmt::print("| {} | {} | {} | {} | {} | {} |\n", reasons[r].situation, reasons[r].kind, reasons[r].column,
               counts[r].wrong, counts[r].warned, reasons[r].text);
  }
  if (others.wrong > 0)
    fmt::print("| others | | | {} | {} | not explained yet |\n", others.wrong, others.warned);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs the situations of the truth suite and prints their matrix.", "abut_truth_table");
  std::string table = "matrix", filter, kind, only, marks;
  int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  app.add_option("--table", table,
                 "matrix, kinds, peers, reasons, page (all four), catalogue, marks (marks.txt) or runs")
      ->check(CLI::IsMember({"matrix", "kinds", "peers", "reasons", "catalogue", "marks", "runs", "page"}))
      ->capture_default_str();
  app.add_option("--marks", marks,
                 "a file for the marks of the same runs, all of Abut's; not with --table marks or peers");
  app.add_option("--filter", filter, "situations whose names contain it");
  app.add_option("--kind", kind, "one kind of body");
  app.add_option("--column", only, "one law, detector or simulator");
  app.add_option("--threads", threads, "")->check(CLI::PositiveNumber)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    if (table == "catalogue") return print_catalogue(filter), 0;
    const std::vector<Column>& peers = peer_columns();
    std::vector<Column> shown = columns();
    if (table != "marks") shown.insert(shown.end(), peers.begin(), peers.end());
    std::vector<Case> all = cases(filter, shown);
    if (table == "peers") {  // what others are run with
      const Case peers_scale{nullptr, "", nullptr, columns().back().scales.front()};
      std::erase_if(all, [&](const Case& at) {
        const bool is_default = at.column->name == columns().front().name;
        return !at.column->record && (!is_default || scale_name(at) != scale_name(peers_scale));
      });
    }
    if (!only.empty()) std::erase_if(all, [&](const Case& at) { return at.column->name != only; });
    if (!kind.empty()) std::erase_if(all, [&](const Case& at) { return at.kind != kind; });
    const std::vector<Outcome> outcomes = run_all(all, threads);
    const auto shows = [&](const char* name) {  // with an empty line between the tables of a page
      if (table == "page" && name != std::string("matrix")) fmt::print("\n");
      return table == name || table == "page";
    };
    if (shows("matrix")) print_matrix(all, outcomes, shown);
    if (shows("kinds")) print_kinds(all, outcomes, shown);
    if (!peers.empty() && shows("peers")) print_peers(all, outcomes, peers);
    if (shows("reasons")) print_reasons(all, outcomes);
    if (table == "marks") print_marks(stdout, all, outcomes);
    if (!marks.empty()) write_marks(marks, all, outcomes);
    if (table == "runs") print_runs(all, outcomes);
  } catch (const std::exception& error) {
    fmt::print(stderr, "abut_truth_table: {}\n", error.what());
    return 1;
  }
  return 0;
}
