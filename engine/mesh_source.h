/// What the readers of mesh formats share: the file being read, its words, and polygons. For mesh_io.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "engine/coloured_mesh.h"
#include "engine/input_error.h"
#include "engine/types.h"

namespace abut::mesh_files {

inline constexpr std::size_t k_max_count = 100'000'000;  // vertices or faces; keeps every index an int

/// Part of a file in an error message: short, and harmless to a terminal.
[[nodiscard]] inline std::string quoted(std::string_view text, std::size_t longest = 40) {
  std::string result = "'";
  for (const char c : text.substr(0, longest)) {
    result +=
        c >= ' ' && c <= '~' ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return result + (text.size() > longest ? "...'" : "'");
}

[[nodiscard]] inline bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

/// Words of a text, with the number of the line that they stand in.
class WordReader {
 public:
  explicit WordReader(std::string_view text, int first_line = 1) : text_(text), line_(first_line) {}

  /// The next word; empty at the end of the text.
  std::string_view next() {
    for (; position_ < text_.size() && is_space(text_[position_]); ++position_)
      line_ += text_[position_] == '\n';
    const std::size_t begin = position_;
    while (position_ < text_.size() && !is_space(text_[position_])) ++position_;
    return text_.substr(begin, position_ - begin);
  }
  /// Passes over the rest of the line.
  void skip_line() {
    while (position_ < text_.size() && text_[position_] != '\n') ++position_;
  }
  int line() const { return line_; }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
  int line_;
};

[[nodiscard]] inline std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  WordReader reader(text);
  for (std::string_view word = reader.next(); !word.empty(); word = reader.next()) words.push_back(word);
  return words;
}

template <typename T>
[[nodiscard]] std::optional<T> parse(std::string_view word) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

/// The file being read: its name for errors, and its bytes.
struct Source {
  std::string name;
  std::string bytes;
  std::filesystem::path folder;
  bool allow_repeated = false;  ///< faces may have a vertex twice
  bool with_colours = false;

  [[noreturn]] void fail(int line, std::string_view message) const { throw InputError(name, line, message); }
  [[noreturn]] void fail(std::string_view message) const { fail(0, message); }

  /// A finite coordinate in a text; `limit` is the largest that its destination can hold.
  double coordinate(std::string_view word, int line, double limit) const {
    const std::optional<double> value = parse<double>(word);
    if (!value) fail(line, fmt::format("{} is not a number", quoted(word)));
    if (!(std::abs(*value) <= limit)) fail(line, fmt::format("coordinate {} is not finite", quoted(word)));
    return *value;
  }
};

/// Red, green and blue within [0, 1]; NaN is 0.
[[nodiscard]] inline Rgb clamped_colour(const std::array<double, 3>& colour) {
  Rgb result{};
  for (std::size_t i = 0; i < 3; ++i)
    result[i] = colour[i] > 0.0 ? static_cast<float>(std::min(colour[i], 1.0)) : 0.0f;
  return result;
}

inline constexpr double k_max_double = std::numeric_limits<double>::max();
inline constexpr double k_max_float = std::numeric_limits<float>::max();

/// Adds a polygon as a fan of triangles about its first vertex. False if a vertex occurs twice in it, where
/// that is not allowed.
[[nodiscard]] inline bool add_polygon(const Source& source, const std::vector<int>& polygon,
                                      std::vector<Eigen::Vector3i>& triangles) {
  std::vector<int> sorted = polygon;
  std::sort(sorted.begin(), sorted.end());
  if (!source.allow_repeated && std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return false;
  for (std::size_t k = 2; k < polygon.size(); ++k)
    triangles.emplace_back(polygon[0], polygon[k - 1], polygon[k]);
  return true;
}

// The formats, each in a file of its own: obj_mesh.cpp, stl_mesh.cpp, ply_mesh.cpp.
[[nodiscard]] ColouredMesh read_obj(const Source& source);
[[nodiscard]] TriangleMesh read_stl(const Source& source);
[[nodiscard]] ColouredMesh read_ply(const Source& source);

}  // namespace abut::mesh_files
