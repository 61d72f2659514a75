#include "engine/coloured_mesh.h"

#include <map>
#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "engine/atomic_file.h"

namespace abut {

std::optional<Rgb> ColouredMesh::colour(int triangle, int corner) const {
  const auto t = static_cast<std::size_t>(triangle);
  const auto v = static_cast<std::size_t>(mesh.triangles[t][corner]);
  if (!vertex_colours.empty() && vertex_colours[v]) return vertex_colours[v];
  return triangle_colours.empty() ? std::nullopt : triangle_colours[t];
}

void write_coloured_obj(const std::filesystem::path& path, const ColouredMesh& mesh) {
  std::string vertices, faces;
  std::map<std::pair<int, std::optional<Rgb>>, int> number_of;  // in the file, of a vertex in a colour
  for (int t = 0; t < mesh.mesh.triangle_count(); ++t) {
    faces += 'f';
    for (int corner = 0; corner < 3; ++corner) {
      const int v = mesh.mesh.triangles[static_cast<std::size_t>(t)][corner];
      const std::optional<Rgb> colour = mesh.colour(t, corner);
      const auto [place, is_new] = number_of.try_emplace({v, colour}, static_cast<int>(number_of.size()) + 1);
      if (is_new) {
        const Vec3<float> p = mesh.mesh.vertices.col(v).cast<float>();
        vertices += fmt::format("v {} {} {}", p.x(), p.y(), p.z());
        if (colour)
          vertices += fmt::format(" {:.3g} {:.3g} {:.3g}", (*colour)[0], (*colour)[1], (*colour)[2]);
        vertices += '\n';
      }
      faces += fmt::format(" {}", place->second);
    }
    faces += '\n';
  }
  write_file(path, vertices + faces);
}

}  // namespace abut
