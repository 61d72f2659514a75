#include "engine/csv_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include <spdlog/fmt/fmt.h>

#include "engine/atomic_file.h"
#include "engine/closest_word.h"
#include "engine/count_text.h"
#include "engine/input_error.h"

namespace abut {

namespace {
constexpr std::string_view k_blanks = " \t\r";
}

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  std::size_t quoted_end = 0;  // of the field: what lies before it stays
  const auto end_field = [&] {
    std::string& field = fields.back();
    const std::size_t last = field.find_last_not_of(k_blanks);
    field.erase(std::max(quoted_end, last == std::string::npos ? 0 : last + 1));
    quoted_end = 0;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    std::string& field = fields.back();
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      field += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
      quoted_end = field.size();
    } else if (c == ',' && !quoted) {
      end_field();
      fields.emplace_back();
    } else if (quoted || !field.empty() || k_blanks.find(c) == std::string_view::npos) {
      field += c;
    }
  }
  end_field();
  return fields;
}

std::string csv_field(const std::string& text, CsvQuotes quotes) {
  const bool has_outer_blank =
      text.find_first_of(k_blanks) == 0 || (!text.empty() && text.find_last_of(k_blanks) == text.size() - 1);
  const bool needs_quotes = has_outer_blank || text.find_first_of(",\"\r\n") != std::string::npos;
  if (quotes == CsvQuotes::where_needed && !needs_quotes) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

CsvTable::CsvTable(const std::filesystem::path& file, std::vector<std::string> known_columns)
    : file_(file.string()), known_columns_(std::move(known_columns)) {
  const std::string text = read_file(file);
  std::string_view rest = text;
  constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";
  if (rest.starts_with(k_byte_order_mark)) rest.remove_prefix(k_byte_order_mark.size());
  int line = 0;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    ++line;
    const std::string_view one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (one.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (std::count(one.begin(), one.end(), '"') % 2 != 0) fail(line, "a quote is not closed");
    if (columns_.empty()) {
      columns_ = fields_of(one);
      header_line_ = line;
      continue;
    }
    rows_.emplace_back(line, fields_of(one));
    if (rows_.back().second.size() != columns_.size()) {
      fail(line, fmt::format("{}, expected the {} of the header",
                             count_text(rows_.back().second.size(), "field"), columns_.size()));
    }
  }
  if (columns_.empty()) fail(0, "is empty: a header of column names is expected");
}

void CsvTable::fail(int line, const std::string& message) const { throw InputError(file_, line, message); }

bool CsvTable::has(const std::string& column) const {
  return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
}

bool CsvTable::has_column(const std::string& name) const {
  if (std::count(columns_.begin(), columns_.end(), name) > 1)
    fail(header_line_, fmt::format("there are two columns '{}'", name));
  if (has(name)) return true;
  std::vector<std::string> others;
  for (const std::string& column : columns_) {
    if (std::find(known_columns_.begin(), known_columns_.end(), column) == known_columns_.end())
      others.push_back(column);
  }
  const std::string closest = closest_word(name, others);
  if (!closest.empty()) fail(0, fmt::format("there is no column '{}' (did '{}' mean that?)", name, closest));
  return false;
}

void CsvTable::require_columns(const std::vector<std::string>& names, const std::string& advice) const {
  for (const std::string& name : names) {
    if (!has_column(name)) fail(0, fmt::format("there is no column '{}': {}", name, advice));
  }
}

const std::string& CsvTable::text(std::size_t row, const std::string& column) const {
  const auto place = std::find(columns_.begin(), columns_.end(), column) - columns_.begin();
  return rows_[row].second[static_cast<std::size_t>(place)];
}

double CsvTable::number(std::size_t row, const std::string& column, double largest) const {
  const std::string& field = text(row, column);
  const char* begin = field.data();
  const char* const end = begin + field.size();
  while (begin != end && *begin == ' ') ++begin;
  double value = 0.0;
  const auto [stopped, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stopped != end || !(std::abs(value) <= largest)) {
    const bool is_bounded = largest < std::numeric_limits<double>::max();
    fail(line(row), fmt::format("column '{}' = '{}', allowed: {}", column, field,
                                is_bounded ? fmt::format("a number in [-{:g}, {:g}]", largest, largest)
                                           : "a finite number"));
  }
  return value;
}

}  // namespace abut
