#include "engine/toml_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <spdlog/fmt/fmt.h>

#include "engine/input_error.h"
#include "engine/toml_parse.h"

namespace abut {
namespace {

/// A number as TOML writes it, or what else the value is.
std::string describe(const toml::node& node) {
  if (const auto* value = node.as_floating_point()) return fmt::format("{}", value->get());
  if (const auto* value = node.as_integer()) return fmt::format("{}", value->get());
  if (const auto* value = node.as_boolean()) return value->get() ? "true" : "false";
  if (const auto* value = node.as_string()) return fmt::format("\"{}\"", value->get());
  if (const auto* value = node.as_array()) return fmt::format("an array of {}", value->size());
  if (node.is_table()) return "a table";
  return "a date or time";
}

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string closest = closest_word(word, candidates);
  return closest.empty() ? std::string() : fmt::format("; did you mean '{}'?", closest);
}

std::string a_number(const NumberRange& range) {
  const bool is_bounded = range.lower > -k_infinity || range.upper < k_infinity;
  return is_bounded ? "a number " + range.text() : "a number";
}

}  // namespace

struct TomlTable::Content {
  std::shared_ptr<const std::filesystem::path> file;
  std::shared_ptr<const toml::table> root;  // keeps `table` alive
  const toml::table* table = nullptr;
  std::string name;  // "body[1].contact"; empty for the whole file
  int line = 0;
  mutable std::vector<std::string> known;  // keys asked for, in that order

  const toml::node* find(std::string_view key) const {
    if (std::find(known.begin(), known.end(), key) == known.end()) known.emplace_back(key);
    return table == nullptr ? nullptr : table->get(key);
  }
  std::string full(std::string_view key) const {
    if (key.empty()) return name;
    return name.empty() ? std::string(key) : fmt::format("{}.{}", name, key);
  }
  [[noreturn]] void fail(int at_line, std::string_view message) const {
    throw InputError(file->string(), at_line, message);
  }
  [[noreturn]] void wrong_type(const toml::node& node, std::string_view key, std::string_view allowed) const {
    fail(line_of(node), fmt::format("{} = {}, allowed: {}", full(key), describe(node), allowed));
  }
  [[noreturn]] void missing(std::string_view key, std::string_view what) const {
    // A key of the file that no one knows and that looks like this one is what the user thought to have
    // written.
    std::vector<std::string> unknown;
    if (table != nullptr) {
      for (const auto& [other, node] : *table) {
        if (std::find(known.begin(), known.end(), other.str()) == known.end())
          unknown.emplace_back(other.str());
      }
    }
    std::string message = fmt::format("missing key '{}'{}, {}", key, name.empty() ? "" : " in " + name, what);
    int at_line = line;
    if (const std::string closest = closest_word(key, unknown); !closest.empty()) {
      at_line = line_of(*table->get(closest));
      message += fmt::format("; unknown key '{}': did you mean '{}'?", closest, key);
    }
    fail(at_line, message);
  }
  static NumberRange any_number_or_infinite() { return {-k_infinity, k_infinity, false, true}; }
  double number_of(const toml::node& node, std::string_view key, const NumberRange& range) const {
    double value = 0.0;
    if (const auto* floating = node.as_floating_point()) {
      value = floating->get();
    } else if (const auto* integer = node.as_integer()) {
      value = static_cast<double>(integer->get());
    } else {
      wrong_type(node, key, a_number(range));
    }
    if (!range.contains(value)) {
      fail(line_of(node), fmt::format("{} = {}, allowed: {}", full(key), describe(node), range.text()));
    }
    return value;
  }
  std::vector<double> numbers_of(const toml::node& node, std::string_view key, int count,
                                 const NumberRange& range) const {
    const toml::array* array = node.as_array();
    const bool any_count = count < 0;
    if (array == nullptr || (!any_count && array->size() != static_cast<std::size_t>(count))) {
      wrong_type(
          node, key,
          any_count ? std::string("an array of numbers") : fmt::format("an array of {} numbers", count));
    }
    std::vector<double> values;
    for (std::size_t i = 0; i < array->size(); ++i) {
      values.push_back(number_of(*array->get(i), fmt::format("{}[{}]", key, i), range));
    }
    return values;
  }
};

TomlTable TomlTable::read(const std::filesystem::path& file) {
  auto content = std::make_shared<Content>();
  content->file = std::make_shared<const std::filesystem::path>(file);
  content->root = std::make_shared<const toml::table>(parse_toml(file));
  content->table = content->root.get();
  return TomlTable(std::move(content));
}

const std::filesystem::path& TomlTable::file() const { return *content_->file; }

bool TomlTable::has(std::string_view key) const { return content_->find(key) != nullptr; }

bool TomlTable::is_text(std::string_view key) const {
  const toml::node* node = content_->find(key);
  return node != nullptr && node->is_string();
}

bool TomlTable::is_array(std::string_view key) const {
  const toml::node* node = content_->find(key);
  return node != nullptr && node->is_array();
}

bool TomlTable::holds_arrays(std::string_view key) const {
  if (!is_array(key)) return false;
  const toml::array& array = *content_->find(key)->as_array();
  return !array.empty() && array.front().is_array();
}

std::vector<std::vector<double>> TomlTable::required_ragged_rows(std::string_view key,
                                                                 const NumberRange& range) const {
  const toml::node* node = content_->find(key);
  constexpr std::string_view k_allowed = "an array of rows of numbers";
  if (node == nullptr) content_->missing(key, fmt::format("allowed: {}", k_allowed));
  const toml::array* array = node->as_array();
  if (array == nullptr) content_->wrong_type(*node, key, k_allowed);
  std::vector<std::vector<double>> rows;
  for (const toml::node& element : *array)
    rows.push_back(content_->numbers_of(element, fmt::format("{}[{}]", key, rows.size()), -1, range));
  return rows;
}

std::optional<double> TomlTable::optional_number(std::string_view key, const NumberRange& range) const {
  const toml::node* node = content_->find(key);
  if (node == nullptr) return std::nullopt;
  return content_->number_of(*node, key, range);
}

double TomlTable::number(std::string_view key, double otherwise, const NumberRange& range) const {
  return optional_number(key, range).value_or(otherwise);
}

double TomlTable::required_number(std::string_view key, const NumberRange& range) const {
  const std::optional<double> value = optional_number(key, range);
  if (!value) content_->missing(key, "allowed: " + a_number(range));
  return *value;
}

int TomlTable::integer(std::string_view key, int otherwise, int lower) const {
  const toml::node* node = content_->find(key);
  if (node == nullptr) return otherwise;
  const auto* value = node->as_integer();
  if (value == nullptr || value->get() < lower || value->get() > std::numeric_limits<int>::max()) {
    constexpr int k_most = std::numeric_limits<int>::max();
    const bool is_too_large = node->value<double>().value_or(0.0) > k_most;
    content_->wrong_type(*node, key,
                         is_too_large ? fmt::format("a whole number in [{}, {}]", lower, k_most)
                                      : fmt::format("a whole number >= {}", lower));
  }
  return static_cast<int>(value->get());
}

bool TomlTable::boolean(std::string_view key, bool otherwise) const {
  const toml::node* node = content_->find(key);
  if (node == nullptr) return otherwise;
  if (!node->is_boolean()) content_->wrong_type(*node, key, "true or false");
  return node->as_boolean()->get();
}

std::string TomlTable::text(std::string_view key, std::string_view otherwise) const {
  const toml::node* node = content_->find(key);
  if (node == nullptr) return std::string(otherwise);
  if (!node->is_string() || node->as_string()->get().empty())
    content_->wrong_type(*node, key, "a string, not empty");
  return node->as_string()->get();
}

std::string TomlTable::required_text(std::string_view key) const {
  if (!has(key)) content_->missing(key, "allowed: a string");
  return text(key, "");
}

Vec3<double> TomlTable::vector3(std::string_view key, const Vec3<double>& otherwise,
                                const NumberRange& range) const {
  const toml::node* node = content_->find(key);
  if (node == nullptr) return otherwise;
  const std::vector<double> values = content_->numbers_of(*node, key, 3, range);
  return {values[0], values[1], values[2]};
}

std::vector<double> TomlTable::required_numbers(std::string_view key, int count,
                                                const NumberRange& range) const {
  const toml::node* node = content_->find(key);
  if (node == nullptr)
    content_->missing(key, fmt::format("allowed: an array of {} numbers {}", count, range.text()));
  return content_->numbers_of(*node, key, count, range);
}

std::vector<double> TomlTable::required_numbers(std::string_view key, const NumberRange& range) const {
  const toml::node* node = content_->find(key);
  if (node == nullptr) content_->missing(key, fmt::format("allowed: an array of numbers {}", range.text()));
  return content_->numbers_of(*node, key, -1, range);
}

std::vector<std::string> TomlTable::required_texts(std::string_view key, int count) const {
  const toml::node* node = content_->find(key);
  const std::string allowed = fmt::format("an array of {} strings", count);
  if (node == nullptr) content_->missing(key, "allowed: " + allowed);
  const toml::array* array = node->as_array();
  if (array == nullptr || array->size() != static_cast<std::size_t>(count))
    content_->wrong_type(*node, key, allowed);
  std::vector<std::string> values;
  for (const toml::node& element : *array) {
    if (!element.is_string())
      content_->wrong_type(element, fmt::format("{}[{}]", key, values.size()), "a string");
    values.push_back(element.as_string()->get());
  }
  return values;
}

std::vector<std::string> TomlTable::required_texts(std::string_view key) const {
  const toml::node* node = content_->find(key);
  constexpr std::string_view k_allowed = "an array of strings";
  if (node == nullptr) content_->missing(key, fmt::format("allowed: {}", k_allowed));
  const toml::array* array = node->as_array();
  if (array == nullptr) content_->wrong_type(*node, key, k_allowed);
  return required_texts(key, static_cast<int>(array->size()));
}

std::vector<NamedNumbers> TomlTable::required_rows(std::string_view key, int count) const {
  return required_rows(key, count, Content::any_number_or_infinite());
}

std::vector<NamedNumbers> TomlTable::required_rows(std::string_view key, int count,
                                                   const NumberRange& range) const {
  const toml::node* node = content_->find(key);
  const std::string allowed = fmt::format("an array of rows of {} numbers", count);
  if (node == nullptr) content_->missing(key, "allowed: " + allowed);
  const toml::array* array = node->as_array();
  if (array == nullptr) content_->wrong_type(*node, key, allowed);
  std::vector<NamedNumbers> rows;
  for (const toml::node& element : *array) {
    NamedNumbers& row = rows.emplace_back();
    row.name = fmt::format("{}[{}]", key, rows.size() - 1);
    row.numbers = content_->numbers_of(element, row.name, count, range);
    row.line = line_of(element);
  }
  return rows;
}

std::vector<NamedNumbers> TomlTable::all_numbers(bool single_allowed) const {
  std::vector<NamedNumbers> result;
  if (content_->table == nullptr) return result;
  const auto collect = [&](const auto& self, const toml::table& table, const std::string& prefix) -> void {
    for (const auto& [key, node] : table) {
      const std::string name = prefix + std::string(key.str());
      if (prefix.empty()) (void)has(key.str());
      if (const toml::table* inner = node.as_table()) {
        self(self, *inner, name + ".");
      } else if (single_allowed && node.is_number()) {
        result.push_back({name, {*node.template value<double>()}, line_of(node)});
      } else if (single_allowed && !node.is_array()) {
        content_->wrong_type(node, name, "a number or an array of numbers");
      } else {
        result.push_back(
            {name, content_->numbers_of(node, name, -1, Content::any_number_or_infinite()), line_of(node)});
      }
    }
  };
  collect(collect, *content_->table, "");
  std::stable_sort(result.begin(), result.end(),
                   [](const NamedNumbers& a, const NamedNumbers& b) { return a.line < b.line; });
  return result;
}

std::filesystem::path TomlTable::required_file(std::string_view key) const {
  std::filesystem::path path = file().parent_path() / required_text(key);
  if (std::error_code ignored; !std::filesystem::is_regular_file(path, ignored))
    fail(key, fmt::format("there is no file '{}'", path.string()));
  return path;
}

Points TomlTable::required_points(std::string_view key) const {
  const toml::node* node = content_->find(key);
  constexpr std::string_view k_allowed = "an array of points [x, y, z]";
  if (node == nullptr) content_->missing(key, fmt::format("allowed: {}", k_allowed));
  const toml::array* array = node->as_array();
  if (array == nullptr) content_->wrong_type(*node, key, k_allowed);
  Points points(3, static_cast<Eigen::Index>(array->size()));
  for (std::size_t i = 0; i < array->size(); ++i) {
    const std::vector<double> p =
        content_->numbers_of(*array->get(i), fmt::format("{}[{}]", key, i), 3, any_number());
    points.col(static_cast<Eigen::Index>(i)) = Vec3<double>(p[0], p[1], p[2]);
  }
  return points;
}

Quat<double> TomlTable::quaternion(std::string_view key) const {
  const toml::node* node = content_->find(key);
  if (node == nullptr) return Quat<double>::Identity();
  const std::vector<double> values = content_->numbers_of(*node, key, 4, any_number());
  const Quat<double> q(values[0], values[1], values[2], values[3]);
  constexpr double k_tolerance = 1e-3;
  const double norm = q.norm();
  if (!(std::abs(norm - 1.0) <= k_tolerance)) {
    content_->fail(line_of(*node),
                   fmt::format("{} = a quaternion of length {}, allowed: w, x, y, z of length 1",
                               content_->full(key), norm));
  }
  return q.normalized();
}

std::size_t TomlTable::choice_index(std::string_view key, const std::vector<std::string_view>& words) const {
  const toml::node* node = content_->find(key);
  const std::string allowed = fmt::format("allowed: {}", fmt::join(words, ", "));
  if (node == nullptr) content_->missing(key, allowed);
  if (const auto* value = node->as_string()) {
    const auto found = std::find(words.begin(), words.end(), value->get());
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  }
  std::string message = fmt::format("{} = {}, {}", content_->full(key), describe(*node), allowed);
  if (const auto* value = node->as_string())
    message += did_you_mean(value->get(), {words.begin(), words.end()});
  content_->fail(line_of(*node), message);
}

TomlTable TomlTable::table(std::string_view key) const {
  const toml::node* node = content_->find(key);
  auto content = std::make_shared<Content>();
  content->file = content_->file;
  content->root = content_->root;
  content->name = content_->full(key);
  content->line = content_->line;
  if (node != nullptr) {
    if (!node->is_table()) content_->wrong_type(*node, key, fmt::format("a table, [{}]", content->name));
    content->table = node->as_table();
    content->line = line_of(*node);
  }
  return TomlTable(std::move(content));
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) const {
  const toml::node* node = content_->find(key);
  std::vector<TomlTable> result;
  if (node == nullptr) return result;
  const toml::array* array = node->as_array();
  const std::string allowed = fmt::format("tables, [[{}]]", content_->full(key));
  if (array == nullptr) content_->wrong_type(*node, key, allowed);
  for (const toml::node& element : *array) {
    const std::string indexed = fmt::format("{}[{}]", key, result.size());
    if (!element.is_table()) content_->wrong_type(element, indexed, allowed);
    auto content = std::make_shared<Content>();
    content->file = content_->file;
    content->root = content_->root;
    content->table = element.as_table();
    content->name = content_->full(indexed);
    content->line = line_of(element);
    result.push_back(TomlTable(std::move(content)));
  }
  return result;
}

void TomlTable::finish() const {
  if (content_->table == nullptr) return;
  const toml::node* first = nullptr;
  std::string first_key;
  for (const auto& [key, node] : *content_->table) {
    if (std::find(content_->known.begin(), content_->known.end(), key.str()) != content_->known.end())
      continue;
    if (first != nullptr && line_of(*first) <= line_of(node)) continue;
    first = &node;
    first_key = std::string(key.str());
  }
  if (first == nullptr) return;
  std::string message =
      fmt::format("unknown key '{}'{}", first_key, content_->name.empty() ? "" : " in " + content_->name);
  message += fmt::format(", allowed: {}", fmt::join(content_->known, ", "));
  content_->fail(line_of(*first), message + did_you_mean(first_key, content_->known));
}

void TomlTable::fail(std::string_view key, std::string_view message) const {
  const toml::node* node = key.empty() || content_->table == nullptr ? nullptr : content_->table->get(key);
  const std::string name = content_->full(key);
  content_->fail(node != nullptr ? line_of(*node) : content_->line,
                 name.empty() ? std::string(message) : fmt::format("{}: {}", name, message));
}

int TomlTable::line(std::string_view key) const {
  const toml::node* node = content_->table == nullptr ? nullptr : content_->table->get(key);
  return node != nullptr ? line_of(*node) : content_->line;
}

void TomlTable::fail_at(int line, std::string_view message) const { content_->fail(line, message); }

void TomlTable::require_one_of(const std::vector<std::string_view>& keys, bool required) const {
  std::vector<std::string_view> present;
  for (const std::string_view key : keys) {
    if (has(key)) present.push_back(key);
  }
  if (present.size() > 1) {
    fail(present[1], fmt::format("only one of '{}' can be given", fmt::join(keys, "', '")));
  }
  if (present.empty() && required)
    content_->missing(keys[0], fmt::format("one of '{}' is needed", fmt::join(keys, "', '")));
}

}  // namespace abut
