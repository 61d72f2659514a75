#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "engine/assimp_faces.h"
#include "engine/count_text.h"
#include "engine/mesh_source.h"

namespace abut::mesh_files {
namespace {

enum class PlyType { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

constexpr std::array<std::pair<std::string_view, PlyType>, 16> k_ply_types{{
    {"char", PlyType::int8},
    {"int8", PlyType::int8},
    {"uchar", PlyType::uint8},
    {"uint8", PlyType::uint8},
    {"short", PlyType::int16},
    {"int16", PlyType::int16},
    {"ushort", PlyType::uint16},
    {"uint16", PlyType::uint16},
    {"int", PlyType::int32},
    {"int32", PlyType::int32},
    {"uint", PlyType::uint32},
    {"uint32", PlyType::uint32},
    {"float", PlyType::float32},
    {"float32", PlyType::float32},
    {"double", PlyType::float64},
    {"float64", PlyType::float64},
}};

std::size_t size_of(PlyType type) {
  constexpr std::array<std::size_t, 8> k_sizes{1, 1, 2, 2, 4, 4, 4, 8};
  return k_sizes[static_cast<std::size_t>(type)];
}
bool is_float(PlyType type) { return type == PlyType::float32 || type == PlyType::float64; }
/// What a component of a colour that is full has.
double full_scale(PlyType type) {
  return is_float(type) ? 1.0 : size_of(type) == 1 ? 255.0 : size_of(type) == 2 ? 65535.0 : 4294967295.0;
}

struct PlyProperty {
  std::string_view name;
  PlyType type = PlyType::float32;
  std::optional<PlyType> count_type;  ///< of a list
};
struct PlyElement {
  std::string_view name;
  std::size_t count = 0;
  int line = 0;
  std::vector<PlyProperty> properties;
};
enum class PlyFormat { ascii, binary_little_endian, binary_big_endian };

struct PlyHeader {
  PlyFormat format = PlyFormat::ascii;
  std::vector<PlyElement> elements;
  std::size_t size = 0;  ///< bytes up to the data
  int lines = 0;
};

PlyHeader read_ply_header(const Source& source) {
  PlyHeader header;
  bool has_format = false;
  const auto type_of = [&](std::string_view word, int line) {
    for (const auto& [name, type] : k_ply_types) {
      if (name == word) return type;
    }
    source.fail(line, fmt::format("unknown type {}", quoted(word)));
  };
  const std::string_view text = source.bytes;
  std::size_t begin = 0;
  for (int line = 1;; ++line) {
    const std::size_t end = text.find('\n', begin);
    if (line == 1 && text.substr(0, std::min(end, text.size())).substr(0, 4) != "ply" &&
        !text.starts_with("ply\r")) {
      source.fail(1, "a PLY file begins with the line 'ply'");
    }
    if (end == std::string_view::npos)
      source.fail(line, "the file ends within the header, before 'end_header'");
    const std::string_view line_text = text.substr(begin, end - begin);
    const std::vector<std::string_view> words = words_of(line_text);
    begin = end + 1;
    if (line == 1) continue;
    if (words.empty()) source.fail(line, "an empty line in the header");
    const std::string_view statement = words[0];
    if (statement == "end_header") {
      if (words.size() != 1) source.fail(line, "something follows 'end_header' in its line");
      header.size = begin;
      header.lines = line;
      break;
    }
    if (statement == "comment" || statement == "obj_info") continue;
    if (statement == "format") {
      constexpr std::array<std::string_view, 3> k_formats{"ascii", "binary_little_endian",
                                                          "binary_big_endian"};
      const auto found =
          words.size() == 3 ? std::find(k_formats.begin(), k_formats.end(), words[1]) : k_formats.end();
      if (found == k_formats.end() || words[2] != "1.0" || has_format) {
        source.fail(line, fmt::format("{}, allowed: one line 'format F 1.0' with F = {}", quoted(line_text),
                                      fmt::join(k_formats, ", ")));
      }
      header.format = static_cast<PlyFormat>(found - k_formats.begin());
      has_format = true;
    } else if (statement == "element") {
      const std::optional<std::uint64_t> count =
          words.size() == 3 ? parse<std::uint64_t>(words[2]) : std::nullopt;
      if (!count || *count > k_max_count) {
        source.fail(line, fmt::format("{}, allowed: 'element NAME COUNT', count at most {}",
                                      quoted(line_text), k_max_count));
      }
      const std::string_view expected = header.elements.empty() ? "vertex" : "face";
      if (header.elements.size() == 2 || words[1] != expected) {
        source.fail(line, fmt::format("element {}, allowed: 'vertex' first and 'face' second, nothing else",
                                      quoted(words[1])));
      }
      header.elements.push_back({words[1], *count, line, {}});
    } else if (statement == "property") {
      if (header.elements.empty()) source.fail(line, "a property before the first element");
      PlyElement& element = header.elements.back();
      PlyProperty property;
      if (words.size() == 5 && words[1] == "list") {
        property = {words[4], type_of(words[3], line), type_of(words[2], line)};
      } else if (words.size() == 3 && words[1] != "list") {
        property = {words[2], type_of(words[1], line), std::nullopt};
      } else {
        source.fail(line, fmt::format("{}, allowed: 'property TYPE NAME' or 'property list TYPE TYPE NAME'",
                                      quoted(line_text)));
      }
      for (const PlyProperty& other : element.properties) {
        if (other.name == property.name)
          source.fail(line, fmt::format("property {} twice", quoted(property.name)));
      }
      const bool is_index = property.name == "vertex_indices" || property.name == "vertex_index";
      if (property.count_type.has_value() != (element.name == "face" && is_index)) {
        source.fail(line,
                    fmt::format("property {} of element '{}': the one list allowed is 'vertex_indices' (or "
                                "'vertex_index') of 'face'",
                                quoted(property.name), element.name));
      }
      if (property.count_type && (is_float(*property.count_type) || is_float(property.type))) {
        source.fail(line, "the list of vertex indices must be one of whole numbers");
      }
      element.properties.push_back(property);
    } else {
      source.fail(line, fmt::format("unknown statement {} in the header", quoted(statement)));
    }
  }

  if (!has_format) source.fail("no line 'format' in the header");
  if (header.elements.size() != 2) source.fail("the header must declare the elements 'vertex' and 'face'");
  for (const std::string_view name : {"x", "y", "z"}) {
    const auto& properties = header.elements[0].properties;
    const auto found =
        std::find_if(properties.begin(), properties.end(), [&](const auto& p) { return p.name == name; });
    if (found == properties.end() || !is_float(found->type)) {
      source.fail(header.elements[0].line,
                  fmt::format("element 'vertex' has no property '{}' of type float or double", name));
    }
  }
  const auto& properties = header.elements[1].properties;
  if (std::count_if(properties.begin(), properties.end(),
                    [](const auto& p) { return p.count_type.has_value(); }) != 1) {
    source.fail(header.elements[1].line, "element 'face' needs one list 'vertex_indices'");
  }
  for (const PlyElement& element : header.elements) {
    if (element.count == 0) source.fail(element.line, fmt::format("no elements '{}'", element.name));
  }
  return header;
}

/// Where the numbers of a PLY file come from: the words of its lines, or its bytes.
class PlyNumbers {
 public:
  PlyNumbers(const Source& source, const PlyHeader& header)
      : source_(source),
        format_(header.format),
        data_(std::string_view(source.bytes).substr(header.size)),
        line_(header.lines) {}

  /// Where we are, for an error message.
  void begin_element(std::string_view name, std::size_t index) {
    name_ = name;
    index_ = index;
    if (format_ != PlyFormat::ascii) return;
    const std::size_t end = std::min(data_.find('\n'), data_.size());
    words_ = words_of(data_.substr(0, end));
    data_.remove_prefix(std::min(end + 1, data_.size()));
    word_ = 0;
    ++line_;
  }
  void end_element() const {
    if (format_ == PlyFormat::ascii && word_ != words_.size()) fail("has more numbers than the header says");
  }
  /// The next number; every type fits a double.
  double next(PlyType type) {
    if (format_ != PlyFormat::ascii) return next_binary(type);
    if (word_ == words_.size()) fail("has fewer numbers than the header says");
    const std::string_view word = words_[word_++];
    if (is_float(type)) {
      const std::optional<double> value = parse<double>(word);
      if (!value) fail(fmt::format("has {}, which is not a number", quoted(word)));
      return *value;
    }
    const std::optional<std::int64_t> value = parse<std::int64_t>(word);
    if (!value || std::abs(static_cast<double>(*value)) > 4294967295.0) {
      fail(fmt::format("has {}, which is not a whole number", quoted(word)));
    }
    return static_cast<double>(*value);
  }
  void finish() const {
    for (const char c : data_) {
      if (format_ != PlyFormat::ascii || !is_space(c)) {
        source_.fail(fmt::format("has {} after the last element", count_text(data_.size(), "byte")));
      }
    }
  }
  [[noreturn]] void fail(std::string_view message) const {
    source_.fail(format_ == PlyFormat::ascii ? line_ : 0, fmt::format("{} {} {}", name_, index_, message));
  }

 private:
  template <typename T>
  static double number(std::array<char, 8> raw) {
    T value;
    std::memcpy(&value, raw.data(), sizeof(T));
    return static_cast<double>(value);
  }
  double next_binary(PlyType type) {
    const std::size_t size = size_of(type);
    if (data_.size() < size) fail("is cut off by the end of the file");
    std::array<char, 8> raw{};
    static_assert(std::endian::native == std::endian::little);
    for (std::size_t k = 0; k < size; ++k) {
      raw[k] = data_[format_ == PlyFormat::binary_big_endian ? size - 1 - k : k];
    }
    data_.remove_prefix(size);
    switch (type) {
      case PlyType::int8:
        return number<std::int8_t>(raw);
      case PlyType::uint8:
        return number<std::uint8_t>(raw);
      case PlyType::int16:
        return number<std::int16_t>(raw);
      case PlyType::uint16:
        return number<std::uint16_t>(raw);
      case PlyType::int32:
        return number<std::int32_t>(raw);
      case PlyType::uint32:
        return number<std::uint32_t>(raw);
      case PlyType::float32:
        return number<float>(raw);
      case PlyType::float64:
        return number<double>(raw);
    }
    return 0.0;
  }

  const Source& source_;
  PlyFormat format_;
  std::string_view data_, name_;
  std::size_t index_ = 0, word_ = 0;
  std::vector<std::string_view> words_;
  int line_;
};

/// Goes through all numbers. Returns the colours of vertices, if they have any and these are asked for.
std::vector<std::optional<Rgb>> check_ply_data(const Source& source, const PlyHeader& header) {
  constexpr std::array<std::string_view, 3> k_colour_names{"red", "green", "blue"};
  std::vector<std::optional<Rgb>> colours;
  std::array<double, 3> colour{};
  const auto& of_vertices = header.elements[0].properties;
  const bool has_colours =
      source.with_colours &&
      std::all_of(k_colour_names.begin(), k_colour_names.end(), [&](std::string_view name) {
        return std::any_of(of_vertices.begin(), of_vertices.end(),
                           [&](const auto& p) { return p.name == name; });
      });
  PlyNumbers numbers(source, header);
  const std::size_t vertex_count = header.elements[0].count;
  for (const PlyElement& element : header.elements) {
    for (std::size_t i = 0; i < element.count; ++i) {
      numbers.begin_element(element.name, i);
      for (const PlyProperty& property : element.properties) {
        if (!property.count_type) {
          const double value = numbers.next(property.type);
          const bool is_coordinate = property.name == "x" || property.name == "y" || property.name == "z";
          if (is_coordinate && element.name == "vertex" && !(std::abs(value) <= k_max_float)) {
            numbers.fail(fmt::format("has {} = {}, which is not finite", property.name, value));
          }
          const auto* const channel = std::find(k_colour_names.begin(), k_colour_names.end(), property.name);
          if (channel != k_colour_names.end() && element.name == "vertex")
            colour[static_cast<std::size_t>(channel - k_colour_names.begin())] =
                value / full_scale(property.type);
          continue;
        }
        const double corners = numbers.next(*property.count_type);
        if (corners < 3) numbers.fail(fmt::format("has {} vertices, allowed: at least 3", corners));
        for (double k = 0; k < corners; ++k) {
          const double index = numbers.next(property.type);
          if (index < 0 || index >= static_cast<double>(vertex_count)) {
            numbers.fail(fmt::format("has vertex {}, allowed: 0 to {}", index, vertex_count - 1));
          }
        }
      }
      numbers.end_element();
      if (has_colours && element.name == "vertex") colours.emplace_back(clamped_colour(colour));
    }
  }
  numbers.finish();
  return colours;
}

}  // namespace

ColouredMesh read_ply(const Source& source) {
  const PlyHeader header = read_ply_header(source);
  ColouredMesh result;
  result.vertex_colours = check_ply_data(source, header);

  // Assimp gets a header of the bare necessities: no comments (some of which it obeys), no line ends but
  // '\n'.
  constexpr std::array<std::string_view, 3> k_formats{"ascii", "binary_little_endian", "binary_big_endian"};
  constexpr std::array<std::string_view, 8> k_types{"char", "uchar", "short", "ushort",
                                                    "int",  "uint",  "float", "double"};
  const auto type_name = [&](PlyType type) { return k_types[static_cast<std::size_t>(type)]; };
  std::string clean = fmt::format("ply\nformat {} 1.0\n", k_formats[static_cast<std::size_t>(header.format)]);
  for (const PlyElement& element : header.elements) {
    clean += fmt::format("element {} {}\n", element.name, element.count);
    for (std::size_t k = 0; k < element.properties.size(); ++k) {
      const PlyProperty& property = element.properties[k];
      const bool is_coordinate = property.name == "x" || property.name == "y" || property.name == "z";
      clean += property.count_type ? fmt::format("property list {} {} vertex_indices\n",
                                                 type_name(*property.count_type), type_name(property.type))
               : is_coordinate && element.name == "vertex"
                   ? fmt::format("property {} {}\n", type_name(property.type), property.name)
                   : fmt::format("property {} passed_over_{}\n", type_name(property.type), k);
    }
  }
  clean += "end_header\n";
  const std::string_view data = std::string_view(source.bytes).substr(header.size);
  if (header.format == PlyFormat::ascii) {
    std::remove_copy(data.begin(), data.end(), std::back_inserter(clean), '\r');
    while (!clean.empty() && is_space(clean.back())) clean.pop_back();
    clean += '\n';
  } else {
    clean += data;
  }
  const ImportedFaces imported = import_with_assimp(source, clean, "ply");
  require_counts(source, imported, header.elements[0].count, header.elements[1].count);

  TriangleMesh& mesh = result.mesh;
  mesh.vertices.resize(3, static_cast<Eigen::Index>(imported.vertices.size()));
  for (std::size_t i = 0; i < imported.vertices.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      mesh.vertices(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(i)) = imported.vertices[i][k];
    }
  }
  for (std::size_t f = 0; f < imported.faces.size(); ++f) {
    if (imported.faces[f].size() < 3)
      source.fail(fmt::format("face {} was imported without its vertices", f));
    if (!add_polygon(source, imported.faces[f], mesh.triangles))
      source.fail(fmt::format("face {} has a vertex twice", f));
  }
  return result;
}

}  // namespace abut::mesh_files
