/// abut_accuracy TABLE|all [--quick] [--out FILE]: exit codes as those of `abut`.
#include <exception>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "accuracy_table.h"
#include "engine/atomic_file.h"

int main(int argc, char** argv) {
  using namespace abut::accuracy;
  std::string help = "Measures how accurate and how smooth the contact manifold is.\n";
  for (const AccuracyTable& table : accuracy_tables())
    help += fmt::format("\n  {:22}  {}", table.name, table.title);
  CLI::App app(help + "\n", "abut_accuracy");
  std::string name, out;
  bool quick = false;
  app.add_option("table", name, "name of the table, or 'all'")->required();
  app.add_option("--out", out, "file to write the tables to as well, as TSV");
  app.add_flag("--quick", quick, "few samples");
  CLI11_PARSE(app, argc, argv);

  try {
    std::vector<AccuracyTable> chosen;
    for (const AccuracyTable& table : accuracy_tables()) {
      if (name == "all" || name == table.name) chosen.push_back(table);
    }
    if (chosen.empty()) {
      fmt::print(stderr, "abut_accuracy: no table '{}'; try --help\n", name);
      return 2;
    }
    std::string tsv;
    for (const AccuracyTable& table : chosen) {
      const Table measured = table.measure(quick);
      fmt::print("## {}: {}\n\n{}\n\n{}\n", table.name, table.title, table.protocol, measured.markdown());
      std::fflush(stdout);
      tsv += fmt::format("{}## {}\n{}", tsv.empty() ? "" : "\n", table.name, measured.tsv());
    }
    if (!out.empty()) abut::write_file(out, tsv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "abut_accuracy: {}\n", error.what());
    return 1;
  }
  return 0;
}
