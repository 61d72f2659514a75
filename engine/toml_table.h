/// A table of a TOML file, read one key a line:
///
///     config.h = table.number("time_step", config.h, positive());
///
/// The table remembers which keys it was asked for; finish() then finds every other key in the file and says
/// which it was probably meant to be. All errors are InputError "file:line: table.key ...".
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/closest_word.h"
#include "engine/number_range.h"
#include "engine/types.h"

namespace abut {

/// An array of numbers, what it is called, and where it stands.
struct NamedNumbers {
  std::string name;
  std::vector<double> numbers;
  int line = 0;
};

class TomlTable {
 public:
  /// Parses a file. Throws InputError if it is missing, no regular file, or no TOML.
  [[nodiscard]] static TomlTable read(const std::filesystem::path& file);

  [[nodiscard]] const std::filesystem::path& file() const;

  /// Whether the key is there; also makes it a known one.
  [[nodiscard]] bool has(std::string_view key) const;

  // Each getter comes twice: with a default for a key that may be left out, and as required_... for one that
  // may not.
  [[nodiscard]] double number(std::string_view key, double otherwise, const NumberRange& range) const;
  [[nodiscard]] double required_number(std::string_view key, const NumberRange& range) const;
  [[nodiscard]] std::optional<double> optional_number(std::string_view key, const NumberRange& range) const;
  [[nodiscard]] int integer(std::string_view key, int otherwise, int lower) const;
  [[nodiscard]] bool boolean(std::string_view key, bool otherwise) const;
  [[nodiscard]] std::string text(std::string_view key, std::string_view otherwise) const;
  [[nodiscard]] std::string required_text(std::string_view key) const;
  [[nodiscard]] Vec3<double> vector3(std::string_view key, const Vec3<double>& otherwise,
                                     const NumberRange& range = any_number()) const;
  /// An array of exactly `count` numbers.
  [[nodiscard]] std::vector<double> required_numbers(std::string_view key, int count,
                                                     const NumberRange& range) const;
  /// An array of any length.
  [[nodiscard]] std::vector<double> required_numbers(std::string_view key, const NumberRange& range) const;
  /// An array of exactly `count` strings.
  [[nodiscard]] std::vector<std::string> required_texts(std::string_view key, int count) const;
  /// An array of strings, of any length.
  [[nodiscard]] std::vector<std::string> required_texts(std::string_view key) const;
  /// An array of arrays of `count` numbers each, called "key[0]" and so on; infinite ones included.
  [[nodiscard]] std::vector<NamedNumbers> required_rows(std::string_view key, int count) const;
  /// The same, of numbers in a range.
  [[nodiscard]] std::vector<NamedNumbers> required_rows(std::string_view key, int count,
                                                        const NumberRange& range) const;
  /// Every array of numbers, infinite ones included, in this table and the tables in it, in the order of the
  /// file; a name is the keys on the way to it, with dots between them. Nothing else may be there, but single
  /// numbers where they are allowed, as arrays of one.
  [[nodiscard]] std::vector<NamedNumbers> all_numbers(bool single_allowed = false) const;
  /// The path of a regular file, which the key gives relative to the folder of this one.
  [[nodiscard]] std::filesystem::path required_file(std::string_view key) const;
  /// An array of arrays of three numbers, as columns.
  [[nodiscard]] Points required_points(std::string_view key) const;
  /// A unit quaternion wxyz: off by more than 1e-3 is an error, else it is normalised.
  [[nodiscard]] Quat<double> quaternion(std::string_view key) const;
  /// Whether the value is a string (and not, say, an array); false if there is none.
  [[nodiscard]] bool is_text(std::string_view key) const;
  /// The same for an array.
  [[nodiscard]] bool is_array(std::string_view key) const;
  /// Whether the key holds an array that begins with an array.
  [[nodiscard]] bool holds_arrays(std::string_view key) const;
  /// An array of arrays of numbers, of any lengths.
  [[nodiscard]] std::vector<std::vector<double>> required_ragged_rows(std::string_view key,
                                                                      const NumberRange& range) const;

  /// One of a set of words.
  template <typename Enum>
  using Words = std::vector<std::pair<std::string_view, Enum>>;
  template <typename Enum>
  [[nodiscard]] Enum choice(std::string_view key, Enum otherwise, const Words<Enum>& words) const {
    return has(key) ? required_choice<Enum>(key, words) : otherwise;
  }
  template <typename Enum>
  [[nodiscard]] Enum required_choice(std::string_view key, const Words<Enum>& words) const {
    std::vector<std::string_view> names;
    for (const auto& word : words) names.push_back(word.first);
    return words[choice_index(key, names)].second;
  }

  /// The table under a key, [key]; empty if it is left out.
  [[nodiscard]] TomlTable table(std::string_view key) const;
  /// The tables under a key, [[key]]; none if it is left out.
  [[nodiscard]] std::vector<TomlTable> tables(std::string_view key) const;

  /// Throws for the first key in the file that was never asked for. To be called when everything has been.
  void finish() const;

  /// Throws about a key (or, with "", the table itself): "file:line: table.key: message".
  [[noreturn]] void fail(std::string_view key, std::string_view message) const;
  /// The line of a key's value, or of the table where the key is not there.
  [[nodiscard]] int line(std::string_view key) const;
  /// Throws about a line of the file: "file:line: message".
  [[noreturn]] void fail_at(int line, std::string_view message) const;
  /// Throws if more than one of the keys is there, or none and one is required.
  void require_one_of(const std::vector<std::string_view>& keys, bool required) const;

 private:
  struct Content;
  explicit TomlTable(std::shared_ptr<const Content> content) : content_(std::move(content)) {}
  [[nodiscard]] std::size_t choice_index(std::string_view key,
                                         const std::vector<std::string_view>& words) const;

  std::shared_ptr<const Content> content_;
};

}  // namespace abut
