#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "engine/assimp_faces.h"
#include "engine/count_text.h"
#include "engine/mesh_source.h"

namespace abut::mesh_files {
namespace {

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

}  // namespace

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

}  // namespace abut::mesh_files
