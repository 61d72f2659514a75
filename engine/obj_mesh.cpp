#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "engine/atomic_file.h"
#include "engine/count_text.h"
#include "engine/mesh_source.h"

namespace abut::mesh_files {
namespace {

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

}  // namespace

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

}  // namespace abut::mesh_files
