#include "table.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include <spdlog/fmt/fmt.h>

#include "engine/atomic_file.h"

namespace abut::benchmarks {
namespace {

/// Numbers below this are written without an exponent on a page, unless they are small.
constexpr double k_largest_whole = 1e9;

std::string exact(const Cell& cell) {
  const auto* number = std::get_if<double>(&cell);
  return number != nullptr ? fmt::format("{:.9g}", *number) : std::get<std::string>(cell);
}

std::string rounded(const Cell& cell) {
  const auto* number = std::get_if<double>(&cell);
  if (number == nullptr) return std::get<std::string>(cell);
  if (std::floor(*number) == *number && std::abs(*number) < k_largest_whole)
    return fmt::format("{:.0f}", *number);
  const std::string digits = fmt::format("{:.2g}", *number);
  const double value = std::stod(digits);
  return std::abs(value) >= 100.0 && std::abs(value) < k_largest_whole ? fmt::format("{:.0f}", value)
                                                                       : digits;
}

}  // namespace

void Table::add_row(std::vector<Cell> row) {
  if (row.size() != columns_.size()) {
    throw std::invalid_argument(
        fmt::format("a row of {} cells in a table of {}", row.size(), columns_.size()));
  }
  rows_.push_back(std::move(row));
}

const Cell& Table::at(std::size_t row, std::string_view column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found == columns_.end()) throw std::out_of_range(fmt::format("no column '{}'", column));
  return rows_.at(row).at(static_cast<std::size_t>(found - columns_.begin()));
}

double Table::number(std::size_t row, std::string_view column) const {
  return std::get<double>(at(row, column));
}

const std::string& Table::text(std::size_t row, std::string_view column) const {
  return std::get<std::string>(at(row, column));
}

std::string Table::tsv() const {
  std::string text = fmt::format("# {}\n", fmt::join(columns_, "\t"));
  for (const std::vector<Cell>& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : "\t") + exact(row[i]);
    text += '\n';
  }
  return text;
}

std::string Table::markdown() const {
  std::string text = "|", rule = "|";
  for (const std::string& column : columns_) {
    text += ' ' + column + " |";
    rule += " --- |";
  }
  text += '\n' + rule + '\n';
  for (const std::vector<Cell>& row : rows_) {
    if (row.empty()) continue;
    text += '|';
    for (const Cell& cell : row) text += ' ' + rounded(cell) + " |";
    text += '\n';
  }
  return text;
}

void Table::write(const std::filesystem::path& path) const { write_file(path, tsv()); }

}  // namespace abut::benchmarks
