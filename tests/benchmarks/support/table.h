/// Tables of numbers and words, as TSV for programs and as markdown for pages.
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace abut::benchmarks {

using Cell = std::variant<double, std::string>;

/// Columns with names. Empty rows part blocks, which gnuplot takes for the rows of a grid.
class Table {
 public:
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  /// One cell a column. Throws std::invalid_argument if there are more or fewer.
  void add_row(std::vector<Cell> row);
  void add_row(std::span<const double> row) { add_row(std::vector<Cell>(row.begin(), row.end())); }
  void add_row(std::initializer_list<double> row) { add_row(std::span(row.begin(), row.size())); }
  void end_block() { rows_.emplace_back(); }

  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<std::vector<Cell>>& rows() const { return rows_; }

  /// A cell; both throw std::out_of_range where there is no such row or column, and std::bad_variant_access
  /// where it holds the other kind.
  [[nodiscard]] double number(std::size_t row, std::string_view column) const;
  [[nodiscard]] const std::string& text(std::size_t row, std::string_view column) const;

  /// Separated by tabs, numbers to 9 digits; the first line is "# " and the names.
  [[nodiscard]] std::string tsv() const;
  /// Numbers to 2 digits, whole ones to all. Without its empty rows.
  [[nodiscard]] std::string markdown() const;

  /// As TSV. Throws InputError where it cannot be written.
  void write(const std::filesystem::path& path) const;

 private:
  [[nodiscard]] const Cell& at(std::size_t row, std::string_view column) const;

  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace abut::benchmarks
