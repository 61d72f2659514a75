/// abut_paper000 FIGURE [--out DIR] [--quick] [--no-pictures]: exit codes as those of `abut`.
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "figure.h"

int main(int argc, char** argv) {
  using namespace abut::paper000;
  std::string help = "Draws figures of arXiv:2602.20304 again, as tables (TSV) and pictures (PNG).\n";
  for (const Figure& figure : figures()) help += fmt::format("\n  {}  {}", figure.name, figure.title);
  CLI::App app(help + "\n", "abut_paper000");
  std::string name;
  FigureOptions options;
  options.folder = ABUT_SOURCE_DIR "/docs/pictures/paper000";
  bool no_pictures = false;
  app.add_option("figure", name, "number of the figure, or 'all'")->required();
  app.add_option("--out", options.folder, "folder to write to")->capture_default_str();
  app.add_flag("--quick", options.quick, "few samples and repetitions");
  app.add_flag("--no-pictures", no_pictures, "tables alone; gnuplot is not needed");
  CLI11_PARSE(app, argc, argv);
  options.pictures = !no_pictures;

  try {
    std::vector<Figure> chosen;
    for (const Figure& figure : figures()) {
      if (name == "all" || name == figure.name) chosen.push_back(figure);
    }
    if (chosen.empty()) {
      fmt::print(stderr, "abut_paper000: no figure '{}'; try --help\n", name);
      return 2;
    }
    std::filesystem::create_directories(options.folder);
    for (const Figure& figure : chosen) {
      fmt::print("figure {}: {}\n", figure.name, figure.title);
      figure.draw(options);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "abut_paper000: {}\n", error.what());
    return 1;
  }
  return 0;
}
