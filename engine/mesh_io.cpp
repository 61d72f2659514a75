#include "engine/mesh_io.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include <spdlog/fmt/fmt.h>

#include "engine/atomic_file.h"
#include "engine/gltf_mesh.h"
#include "engine/mesh_source.h"

namespace abut {
namespace {

constexpr std::array<std::string_view, 5> k_mesh_endings{".obj", ".ply", ".stl", ".gltf", ".glb"};

std::string ending_of(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

ColouredMesh read_source(const std::filesystem::path& path, bool allow_repeated, bool with_colours) {
  const std::string extension = ending_of(path);
  const mesh_files::Source source{path.string(), read_file(path), path.parent_path(), allow_repeated,
                                  with_colours};
  if (source.bytes.empty()) source.fail("the file is empty");
  if (extension == ".obj") return mesh_files::read_obj(source);
  if (extension == ".ply") return mesh_files::read_ply(source);
  if (extension == ".stl") return {mesh_files::read_stl(source)};
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
