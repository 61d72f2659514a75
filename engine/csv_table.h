/// Tables of comma-separated values: a header of column names, then one row of fields per line.
///
///     const CsvTable table("motion.csv", {"time", "height"});
///     table.require_columns({"time"}, "add the time of each row [s]");
///     for (std::size_t row = 0; row < table.rows(); ++row) use(table.number(row, "time"));
///
/// Lines without any text are skipped, and so is a byte order mark. All errors are InputError "file:line: ...".
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace abut {

/// The fields of a line; quotes as RFC 4180 has them. Blanks at the ends of a field do not count, unless quoted.
[[nodiscard]] std::vector<std::string> fields_of(std::string_view line);

enum class CsvQuotes { where_needed, always };

/// A text as such a field, quoted at least where it would not be read as it is.
[[nodiscard]] std::string csv_field(const std::string& text, CsvQuotes quotes = CsvQuotes::where_needed);

class CsvTable {
 public:
  /// Reads a file. Throws InputError if it is missing or empty, if a quote is not closed, or if a row has another
  /// number of fields than the header.
  ///
  /// @param known_columns  names that are never taken for a misspelt other one
  explicit CsvTable(const std::filesystem::path& file, std::vector<std::string> known_columns = {});

  /// Throws about a line of the file; 0: about the whole file.
  [[noreturn]] void fail(int line, const std::string& message) const;

  /// The names of the header, in its order.
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] int header_line() const { return header_line_; }
  [[nodiscard]] bool has(const std::string& column) const;
  /// Whether a column is there, once. Throws if it is there twice, or if it is missing and an unknown column has a
  /// name much like it.
  [[nodiscard]] bool has_column(const std::string& name) const;
  /// @param advice  what to add, or to say instead, where a column is missing
  void require_columns(const std::vector<std::string>& names, const std::string& advice) const;

  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  [[nodiscard]] int line(std::size_t row) const { return rows_[row].first; }
  /// The field of a row in a column that is there.
  [[nodiscard]] const std::string& text(std::size_t row, const std::string& column) const;
  /// The same as a number. Throws if it is not a finite one, or if its magnitude is above `largest`.
  [[nodiscard]] double number(std::size_t row, const std::string& column,
                              double largest = std::numeric_limits<double>::max()) const;

 private:
  std::string file_;
  std::vector<std::string> known_columns_, columns_;
  int header_line_ = 0;
  std::vector<std::pair<int, std::vector<std::string>>> rows_;  // line and fields
};

}  // namespace abut
