/// Triangle meshes with the colours of their files, for pictures.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "engine/appearance.h"
#include "engine/mesh.h"

namespace abut {

/// Any triangles: open ones, too, and with a vertex twice. A corner has the colour of its vertex, else that
/// of its triangle, else none.
struct ColouredMesh {
  TriangleMesh mesh;
  std::vector<std::optional<Rgb>> vertex_colours{};    ///< as many as vertices, or empty
  std::vector<std::optional<Rgb>> triangle_colours{};  ///< as many as triangles, or empty

  [[nodiscard]] std::optional<Rgb> colour(int triangle, int corner) const;
};

/// Writes an OBJ file, atomically, with coordinates in single precision and colours at its vertices
/// (`v x y z red green blue`): a vertex that meets triangles of several colours is written once for each.
/// Throws InputError if it cannot be written.
void write_coloured_obj(const std::filesystem::path& path, const ColouredMesh& mesh);

}  // namespace abut
