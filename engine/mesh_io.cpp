// How the importer behind this file is kept from harm. Assimp 5.2 can abort on a truncated PLY file and
// returns vertices that are not finite, or faces without vertices, for damaged STL files. So
//   - an OBJ file, the format of our own assets, is read here: Assimp keeps coordinates as float and splits
//     vertices;
//   - STL and PLY files are first walked through here, to the last byte, and rejected with the line or
//     element that is wrong; Assimp gets a clean copy from memory, without names, comments, normals and
//     colours (it leaks memory when one of them is damaged) and without any post-processing (its
//     triangulation is what aborts), and what comes back is checked once more.
#include "engine/mesh_io.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <assimp/mesh.h>
#include <assimp/scene.h>
#include <spdlog/fmt/fmt.h>
#include <assimp/Importer.hpp>

#include "engine/atomic_file.h"
#include "engine/count_text.h"
#include "engine/gltf_mesh.h"
#include "engine/input_error.h"

namespace abut {
namespace {

constexpr std::array<std::string_view, 5> k_mesh_endings{".obj", ".ply", ".stl", ".gltf", ".glb"};
constexpr std::size_t k_max_count = 100'000'000;  // vertices or faces; keeps every index an int

/// Part of a file in an error message: short, and harmless to a terminal.
std::string quoted(std::string_view text, std::size_t longest = 40) {
  std::string result = "'";
  for (const char c : text.substr(0, longest)) {
    result +=
        c >= ' ' && c <= '~' ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return result + (text.size() > longest ? "...'" : "'");
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f'; }

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

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  WordReader reader(text);
  for (std::string_view word = reader.next(); !word.empty(); word = reader.next()) words.push_back(word);
  return words;
}

template <typename T>
std::optional<T> parse(std::string_view word) {
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
Rgb clamped_colour(const std::array<double, 3>& colour) {
  Rgb result{};
  for (std::size_t i = 0; i < 3; ++i)
    result[i] = colour[i] > 0.0 ? static_cast<float>(std::min(colour[i], 1.0)) : 0.0f;
  return result;
}

constexpr double k_max_double = std::numeric_limits<double>::max();
constexpr double k_max_float = std::numeric_limits<float>::max();

/// Adds a polygon as a fan of triangles about its first vertex. False if a vertex occurs twice in it, where
/// that is not allowed.
bool add_polygon(const Source& source, const std::vector<int>& polygon,
                 std::vector<Eigen::Vector3i>& triangles) {
  std::vector<int> sorted = polygon;
  std::sort(sorted.begin(), sorted.end());
  if (!source.allow_repeated && std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return false;
  for (std::size_t k = 2; k < polygon.size(); ++k)
    triangles.emplace_back(polygon[0], polygon[k - 1], polygon[k]);
  return true;
}

// OBJ -------------------------------------------------------------------------------------------------------

/// The vertex of `7`, `7/1`, `7//3`, `7/1/3`, or -2 for the last but one so far; as an index from 0, not yet
/// checked against the number of vertices, as files may name vertices before they define them.
std::int64_t obj_vertex(const Source& source, std::string_view word, int line, std::size_t vertex_count) {
  std::size_t begin = 0;
  std::int64_t index = 0;
  for (int field = 0; begin <= word.size(); ++field) {
    const std::size_t end = std::min(word.find('/', begin), word.size());
    const std::string_view part = word.substr(begin, end - begin);
    const std::optional<std::int64_t> value = parse<std::int64_t>(part);
    const bool may_be_empty = field == 1;
    if (field > 2 || (!value && !(part.empty() && may_be_empty))) {
      source.fail(line, fmt::format("{} is not a vertex of a face, allowed: v, v/vt, v//vn or v/vt/vn",
                                    quoted(word)));
    }
    if (field == 0) index = *value;
    begin = end + 1;
  }
  if (index == 0) source.fail(line, "vertex 0 in a face, vertices are counted from 1 (or back from -1)");
  return index > 0 ? index - 1 : static_cast<std::int64_t>(vertex_count) + index;
}

/// The colour Kd of each material of a library of an OBJ file.
void read_materials(const std::filesystem::path& path, std::map<std::string, Rgb, std::less<>>& colours) {
  if (std::error_code ignored; !std::filesystem::is_regular_file(path, ignored))
    return;  // it often gets lost
  const std::string text = read_file(path);
  std::string_view rest = text;
  std::string name;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::vector<std::string_view> words = words_of(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (words.size() > 1 && words[0] == "newmtl") name = words[1];
    if (words.size() != 4 || words[0] != "Kd") continue;
    const std::optional<double> r = parse<double>(words[1]), g = parse<double>(words[2]),
                                b = parse<double>(words[3]);
    if (r && g && b) colours[name] = clamped_colour({*r, *g, *b});
  }
}

ColouredMesh read_obj(const Source& source) {
  std::vector<Vec3<double>> vertices;
  std::vector<std::optional<Rgb>> vertex_colours;
  std::map<std::string, Rgb, std::less<>> materials;
  std::vector<std::string> material_names{""};  // one for each `usemtl`
  std::vector<std::size_t> polygon_materials;
  bool has_vertex_colours = false;
  std::vector<std::vector<int>> polygons;
  std::vector<int> polygon_lines;

  std::string_view rest = source.bytes;
  std::string joined;
  for (int line = 1; !rest.empty(); ++line) {
    const int first_line = line;
    joined.clear();
    while (true) {  // a backslash at its end continues a line
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view piece = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      piece = piece.substr(0, piece.find('#'));
      if (!piece.empty() && piece.back() == '\r') piece.remove_suffix(1);
      const bool continues = !piece.empty() && piece.back() == '\\' && !rest.empty();
      if (continues) piece.remove_suffix(1);
      joined += piece;
      if (!continues) break;
      joined += ' ';
      ++line;
    }
    const std::vector<std::string_view> words = words_of(joined);
    if (words.empty()) continue;
    const std::string_view statement = words[0];
    const std::size_t count = words.size() - 1;
    if (statement == "v") {
      if (count < 3 || count > 7 || count == 5) {  // x y z [w] [red green blue]
        source.fail(first_line, fmt::format("a vertex with {}, allowed: x y z, and a weight or colour",
                                            count_text(count, "number")));
      }
      std::array<double, 7> numbers{};
      for (std::size_t k = 0; k < count; ++k)
        numbers[k] = source.coordinate(words[k + 1], first_line, k_max_double);
      if (vertices.size() >= k_max_count) source.fail(first_line, "too many vertices");
      vertices.emplace_back(numbers[0], numbers[1], numbers[2]);
      if (source.with_colours) {
        const bool is_coloured = count >= 6;
        vertex_colours.emplace_back();
        if (is_coloured)
          vertex_colours.back() =
              clamped_colour({numbers[count - 3], numbers[count - 2], numbers[count - 1]});
        has_vertex_colours = has_vertex_colours || is_coloured;
      }
    } else if (statement == "f") {
      if (count < 3)
        source.fail(first_line, fmt::format("a face with {}, allowed: at least 3",
                                            count_text(count, "vertex", "vertices")));
      std::vector<int> polygon;
      for (std::size_t k = 0; k < count; ++k) {
        const std::int64_t index = obj_vertex(source, words[k + 1], first_line, vertices.size());
        if (index < 0 || index >= static_cast<std::int64_t>(k_max_count)) {
          source.fail(first_line,
                      fmt::format("face with vertex {}, which is not there", quoted(words[k + 1])));
        }
        polygon.push_back(static_cast<int>(index));
      }
      polygons.push_back(std::move(polygon));
      polygon_lines.push_back(first_line);
      if (source.with_colours) polygon_materials.push_back(material_names.size() - 1);
    } else if (source.with_colours && statement == "usemtl") {
      material_names.emplace_back(count > 0 ? words[1] : std::string_view());
    } else if (source.with_colours && statement == "mtllib") {
      for (std::size_t k = 0; k < count; ++k) read_materials(source.folder / words[k + 1], materials);
    } else {
      constexpr std::array<std::string_view, 11> k_passed_over{"vt", "vn", "vp",     "o",      "g", "s",
                                                               "l",  "p",  "usemtl", "mtllib", "mg"};
      if (std::find(k_passed_over.begin(), k_passed_over.end(), statement) == k_passed_over.end()) {
        source.fail(first_line, fmt::format("unknown statement {}, allowed: v, f, {}", quoted(statement),
                                            fmt::join(k_passed_over, ", ")));
      }
    }
  }

  if (vertices.empty()) source.fail("no vertices: not one line 'v x y z'");
  if (polygons.empty()) source.fail("no faces: not one line 'f i j k'");
  ColouredMesh result;
  TriangleMesh& mesh = result.mesh;
  mesh.vertices.resize(3, static_cast<Eigen::Index>(vertices.size()));
  for (std::size_t i = 0; i < vertices.size(); ++i)
    mesh.vertices.col(static_cast<Eigen::Index>(i)) = vertices[i];
  for (std::size_t i = 0; i < polygons.size(); ++i) {
    const int largest = *std::max_element(polygons[i].begin(), polygons[i].end());
    if (largest >= mesh.vertex_count()) {
      source.fail(polygon_lines[i], fmt::format("face with vertex {}, but the file has {}", largest + 1,
                                                count_text(vertices.size(), "vertex", "vertices")));
    }
    if (!add_polygon(source, polygons[i], mesh.triangles))
      source.fail(polygon_lines[i], "a face that has a vertex twice");
    if (materials.empty()) continue;
    const auto colour = materials.find(material_names[polygon_materials[i]]);
    result.triangle_colours.resize(mesh.triangles.size(),
                                   colour != materials.end() ? std::optional(colour->second) : std::nullopt);
  }
  if (has_vertex_colours) result.vertex_colours = std::move(vertex_colours);
  return result;
}

// What is shared by the formats that Assimp reads -----------------------------------------------------------

/// The faces of a file that has been found in order, one list of corners a face; vertices of several meshes
/// in a row.
struct ImportedFaces {
  std::vector<std::array<float, 3>> vertices;
  std::vector<std::vector<int>> faces;
};

ImportedFaces import_with_assimp(const Source& source, std::string_view bytes, const char* format) {
  Assimp::Importer importer;
  const aiScene* scene = importer.ReadFileFromMemory(bytes.data(), bytes.size(), 0, format);
  if (scene == nullptr)
    source.fail(fmt::format("cannot be imported: {}", quoted(importer.GetErrorString(), 200)));

  ImportedFaces result;
  for (unsigned m = 0; m < scene->mNumMeshes; ++m) {
    const aiMesh& part = *scene->mMeshes[m];
    if (part.mNumVertices == 0 || part.mVertices == nullptr ||
        (part.mNumFaces > 0 && part.mFaces == nullptr)) {
      source.fail("was imported without vertices");
    }
    const std::size_t first = result.vertices.size();
    for (unsigned i = 0; i < part.mNumVertices; ++i) {
      const aiVector3D& p = part.mVertices[i];
      if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z)) {
        source.fail(fmt::format("vertex {} is not finite", first + i));
      }
      result.vertices.push_back({p.x, p.y, p.z});
    }
    for (unsigned f = 0; f < part.mNumFaces; ++f) {
      const aiFace& face = part.mFaces[f];
      std::vector<int> polygon;
      for (unsigned k = 0; k < face.mNumIndices; ++k) {
        if (face.mIndices[k] >= part.mNumVertices) {
          source.fail(fmt::format("face {} has vertex {}, but there are {} vertices", result.faces.size(),
                                  face.mIndices[k], part.mNumVertices));
        }
        polygon.push_back(static_cast<int>(first + face.mIndices[k]));
      }
      result.faces.push_back(std::move(polygon));
    }
  }
  return result;
}

void require_counts(const Source& source, const ImportedFaces& imported, std::size_t vertices,
                    std::size_t faces) {
  if (imported.vertices.size() != vertices || imported.faces.size() != faces) {
    source.fail(fmt::format("has {} vertices and {} faces, but {} and {} were imported", vertices, faces,
                            imported.vertices.size(), imported.faces.size()));
  }
}

// STL -------------------------------------------------------------------------------------------------------

constexpr std::size_t k_stl_header = 84, k_stl_triangle = 50;

/// What Assimp is given in place of the file, and how many triangles it must find there.
struct CleanStl {
  std::string bytes;
  std::size_t triangle_count = 0;
};

/// Of a binary file whose size is right.
CleanStl clean_binary_stl(const Source& source) {
  CleanStl clean;
  clean.triangle_count = (source.bytes.size() - k_stl_header) / k_stl_triangle;
  clean.bytes.assign(source.bytes.size(), '\0');
  std::copy_n(source.bytes.begin() + 80, 4, clean.bytes.begin() + 80);
  for (std::size_t t = 0; t < clean.triangle_count; ++t) {
    const std::size_t offset = k_stl_header + t * k_stl_triangle + 12;  // after the normal
    std::array<float, 9> corners;
    std::memcpy(corners.data(), source.bytes.data() + offset, sizeof(corners));
    for (const float x : corners) {
      if (!std::isfinite(x))
        source.fail(fmt::format("triangle {} has the coordinate {}, which is not finite", t, x));
    }
    std::memcpy(clean.bytes.data() + offset, corners.data(), sizeof(corners));
  }
  return clean;
}

/// Of a text file; several solids become one.
CleanStl clean_ascii_stl(const Source& source) {
  WordReader reader(source.bytes);
  // Assimp takes a file for binary if bytes 80 to 83, as a number of triangles, fit its size: here these are
  // blanks.
  CleanStl clean{fmt::format("solid part{:90}\n", ""), 0};
  const auto expect = [&](std::string_view expected) {
    const std::string_view word = reader.next();
    if (word == expected) return;
    source.fail(reader.line(), word.empty()
                                   ? fmt::format("the file ends where '{}' is expected", expected)
                                   : fmt::format("{} where '{}' is expected", quoted(word), expected));
  };
  const auto next_of = [&](std::string_view what) {
    const std::string_view word = reader.next();
    if (word.empty()) source.fail(reader.line(), fmt::format("the file ends within a {}", what));
    return word;
  };
  expect("solid");
  while (true) {
    reader.skip_line();  // the name
    std::string_view word = reader.next();
    for (; word == "facet"; word = reader.next()) {
      expect("normal");
      for (int k = 0; k < 3; ++k) (void)next_of("normal");  // some programs write nan here
      expect("outer");
      expect("loop");
      clean.bytes += "facet normal 0 0 0\nouter loop\n";
      for (int k = 0; k < 3; ++k) {
        expect("vertex");
        clean.bytes += "vertex";
        for (int i = 0; i < 3; ++i) {
          const std::string_view number = next_of("vertex");
          (void)source.coordinate(number, reader.line(), k_max_float);
          clean.bytes += ' ';
          clean.bytes += number;
        }
        clean.bytes += '\n';
      }
      expect("endloop");
      expect("endfacet");
      clean.bytes += "endloop\nendfacet\n";
      ++clean.triangle_count;
    }
    if (word != "endsolid") {
      source.fail(reader.line(),
                  word.empty() ? std::string("the file ends where 'facet' or 'endsolid' is expected")
                               : fmt::format("{} where 'facet' or 'endsolid' is expected", quoted(word)));
    }
    reader.skip_line();
    word = reader.next();
    if (word.empty()) break;
    if (word != "solid")
      source.fail(reader.line(), fmt::format("{} where 'solid' is expected", quoted(word)));
  }
  clean.bytes += "endsolid part\n";
  return clean;
}

TriangleMesh read_stl(const Source& source) {
  const std::string& bytes = source.bytes;
  std::uint32_t declared = 0;
  if (bytes.size() >= k_stl_header) std::memcpy(&declared, bytes.data() + 80, 4);
  const std::uint64_t needed = k_stl_header + std::uint64_t{declared} * k_stl_triangle;
  const bool is_binary = bytes.size() >= k_stl_header && bytes.size() == needed;
  const std::vector<std::string_view> first_words = words_of(std::string_view(bytes).substr(0, 80));
  const bool is_ascii = !is_binary && !first_words.empty() && first_words[0] == "solid";
  if (!is_binary && !is_ascii) {
    source.fail(
        bytes.size() < k_stl_header
            ? fmt::format("{} bytes are too few for an STL file, and it does not begin with 'solid'",
                          bytes.size())
            : fmt::format(
                  "the header declares {}, hence {} bytes, but the file has {}; it does not begin with "
                  "'solid' either",
                  count_text(declared, "triangle"), needed, bytes.size()));
  }
  const CleanStl clean = is_binary ? clean_binary_stl(source) : clean_ascii_stl(source);
  if (clean.triangle_count == 0) source.fail("no triangles");
  if (clean.triangle_count > k_max_count / 3) source.fail("too many triangles");
  const ImportedFaces imported = import_with_assimp(source, clean.bytes, "stl");
  require_counts(source, imported, 3 * clean.triangle_count, clean.triangle_count);

  TriangleMesh mesh;
  std::vector<int> merged;
  std::vector<std::array<float, 3>> vertices;
  std::map<std::array<float, 3>, int> index_of;
  for (std::array<float, 3> p : imported.vertices) {
    for (float& x : p) x += 0.0f;  // -0 becomes 0
    const auto [found, is_new] = index_of.emplace(p, static_cast<int>(vertices.size()));
    if (is_new) vertices.push_back(p);
    merged.push_back(found->second);
  }
  mesh.vertices.resize(3, static_cast<Eigen::Index>(vertices.size()));
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    for (int k = 0; k < 3; ++k)
      mesh.vertices(k, static_cast<Eigen::Index>(i)) = vertices[i][static_cast<std::size_t>(k)];
  }
  for (std::size_t t = 0; t < imported.faces.size(); ++t) {
    std::vector<int> triangle;
    for (const int corner : imported.faces[t]) triangle.push_back(merged[static_cast<std::size_t>(corner)]);
    if (triangle.size() != 3 || !add_polygon(source, triangle, mesh.triangles)) {
      source.fail(fmt::format("triangle {} has two equal corners", t));
    }
  }
  return mesh;
}

// PLY -------------------------------------------------------------------------------------------------------

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

std::string ending_of(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

ColouredMesh read_source(const std::filesystem::path& path, bool allow_repeated, bool with_colours) {
  const std::string extension = ending_of(path);
  const Source source{path.string(), read_file(path), path.parent_path(), allow_repeated, with_colours};
  if (source.bytes.empty()) source.fail("the file is empty");
  if (extension == ".obj") return read_obj(source);
  if (extension == ".ply") return read_ply(source);
  if (extension == ".stl") return {read_stl(source)};
  if (extension == ".gltf" || extension == ".glb") {
    ColouredMesh mesh = read_gltf(path, source.bytes, with_colours);
    for (std::size_t t = 0; t < mesh.mesh.triangles.size() && !allow_repeated; ++t) {
      const Eigen::Vector3i& v = mesh.mesh.triangles[t];
      if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
        source.fail(fmt::format("triangle {} has a vertex twice", t));
    }
    return mesh;
  }
  source.fail(fmt::format("a mesh file ends with '{}', allowed: {}", extension, mesh_file_endings()));
}

}  // namespace

bool is_mesh_file(const std::filesystem::path& path) {
  const std::string ending = ending_of(path);
  return std::find(k_mesh_endings.begin(), k_mesh_endings.end(), ending) != k_mesh_endings.end();
}

std::string mesh_file_endings() { return fmt::format("{}", fmt::join(k_mesh_endings, ", ")); }

TriangleMesh read_mesh(const std::filesystem::path& path) { return read_source(path, false, false).mesh; }

TriangleMesh read_triangles(const std::filesystem::path& path) { return read_source(path, true, false).mesh; }

ColouredMesh read_coloured_mesh(const std::filesystem::path& path) { return read_source(path, true, true); }

void write_obj(const std::filesystem::path& path, const TriangleMesh& mesh) {
  std::string text;
  for (int i = 0; i < mesh.vertex_count(); ++i) {
    text += fmt::format("v {} {} {}\n", mesh.vertices(0, i), mesh.vertices(1, i), mesh.vertices(2, i));
  }
  for (const Eigen::Vector3i& t : mesh.triangles)
    text += fmt::format("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1);
  write_file(path, text);
}

}  // namespace abut
