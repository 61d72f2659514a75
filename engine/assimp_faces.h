/// Faces of STL and PLY files, by Assimp, and how that importer is kept from harm. Assimp 5.2 can abort on a
/// truncated PLY file and returns vertices that are not finite, or faces without vertices, for damaged STL
/// files. So
///   - an OBJ file, the format of our own assets, is read by obj_mesh.cpp: Assimp keeps coordinates as float
///     and splits vertices;
///   - STL and PLY files are first walked through by stl_mesh.cpp and ply_mesh.cpp, to the last byte, and
///     rejected with the line or element that is wrong; Assimp gets a clean copy from memory, without names,
///     comments, normals and colours (it leaks memory when one of them is damaged) and without any
///     post-processing (its triangulation is what aborts), and what comes back is checked once more.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "engine/mesh_source.h"

namespace abut::mesh_files {

/// The faces of a file that has been found in order, one list of corners a face; vertices of several meshes
/// in a row.
struct ImportedFaces {
  std::vector<std::array<float, 3>> vertices;
  std::vector<std::vector<int>> faces;
};

/// @param bytes   the clean copy
/// @param format  "stl" or "ply"
[[nodiscard]] ImportedFaces import_with_assimp(const Source& source, std::string_view bytes,
                                               const char* format);

void require_counts(const Source& source, const ImportedFaces& imported, std::size_t vertices,
                    std::size_t faces);

}  // namespace abut::mesh_files
