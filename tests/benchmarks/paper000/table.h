/// Tables of numbers as text, and pictures of them by gnuplot.
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace abut::paper000 {

/// Columns with names, tab-separated; the first line is "# " and the names. Blank lines part blocks, which
/// gnuplot takes for the rows of a grid.
class Table {
 public:
  explicit Table(std::vector<std::string> columns);

  /// One number a column. Throws std::invalid_argument if there are more or fewer.
  void add_row(std::span<const double> row);
  void add_row(std::initializer_list<double> row) { add_row(std::span(row.begin(), row.size())); }
  void end_block() { text_ += '\n'; }

  /// Throws InputError where it cannot be written.
  void write(const std::filesystem::path& path) const;

 private:
  std::size_t columns_;
  std::string text_;
};

/// Runs a script in `folder`, so that names of tables and of the picture are relative to it. Throws
/// std::runtime_error if gnuplot is not installed or refuses the script.
void run_gnuplot(std::string_view script, const std::filesystem::path& folder);

/// Sets the terminal to a PNG of this name and size [pixels], and line styles 1 to 8 to colours that the
/// colour-blind tell apart (Okabe and Ito's). A script begins with it.
[[nodiscard]] std::string png_header(std::string_view name, int width, int height);

}  // namespace abut::paper000
