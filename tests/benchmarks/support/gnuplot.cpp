#include "gnuplot.h"

#include <cstdio>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

namespace abut::benchmarks {

void run_gnuplot(std::string_view script, const std::filesystem::path& folder) {
  std::string quoted;
  for (const char c : std::filesystem::absolute(folder).string()) {
    if (c == '\'') quoted += "'\\'";
    quoted += c;
  }
  std::FILE* gnuplot = ::popen(("cd '" + quoted + "' && exec gnuplot -").c_str(), "w");
  if (gnuplot == nullptr) throw std::runtime_error("cannot start a shell for gnuplot");
  const bool written = std::fwrite(script.data(), 1, script.size(), gnuplot) == script.size();
  const int status = ::pclose(gnuplot);
  if (!written || status != 0) {
    throw std::runtime_error(
        "gnuplot failed; is it installed (Debian: gnuplot-nox)? --no-pictures does without");
  }
}

std::string png_header(std::string_view name, int width, int height) {
  return fmt::format(R"(
set terminal pngcairo size {},{} font 'DejaVu Sans,11' background rgb 'white'
set output '{}'
set encoding utf8
set style line 1 lc rgb '#0072B2' lw 2.5 pt 7 ps 0.9
set style line 2 lc rgb '#D55E00' lw 2.5 pt 5 ps 0.9
set style line 3 lc rgb '#009E73' lw 2.5 pt 9 ps 1.0
set style line 4 lc rgb '#CC79A7' lw 2.5 pt 11 ps 1.0
set style line 5 lc rgb '#E69F00' lw 2.5 pt 13 ps 1.1
set style line 6 lc rgb '#56B4E9' lw 2.5 pt 4 ps 1.0
set style line 7 lc rgb '#000000' lw 2.5 pt 6 ps 1.0
set style line 8 lc rgb '#999999' lw 1.5 pt 1 ps 1.0
set border lw 1.2 lc rgb '#444444'
set grid lc rgb '#DDDDDD' lw 1 lt 1
set key noautotitle
)",
                     width, height, name);
}

}  // namespace abut::benchmarks
