/// Triangle meshes from and to files.
#pragma once

#include <filesystem>
#include <string>

#include "engine/coloured_mesh.h"
#include "engine/mesh.h"

namespace abut {

/// Reads the mesh in a .obj, .ply, .stl, .gltf or .glb file, ascii or binary, by the ending of its name (any
/// case); of glTF, what engine/gltf_mesh.h says.
///
/// Polygons are cut into fans of triangles. Vertices keep their order and are not merged, except that an STL
/// file, which has no shared vertices, gets one vertex for equal coordinates. Coordinates of an OBJ keep
/// their double precision; those of the others come as float. Everything but positions and faces is passed
/// over.
///
/// The result has at least one triangle, finite coordinates, indices in range and no triangle with a repeated
/// vertex; whether it is a closed surface is for require_closed_surface to say. Anything else in the file,
/// however damaged, is an InputError that names the file, the line or element, and the cause.
[[nodiscard]] TriangleMesh read_mesh(const std::filesystem::path& path);

/// The same for a mesh that is to be repaired (collision/fitting/mesh_repair.h): triangles may have a vertex
/// twice.
[[nodiscard]] TriangleMesh read_triangles(const std::filesystem::path& path);

/// The same with colours, for a mesh that is only drawn:
///   OBJ   those of its vertices (`v x y z red green blue`), else Kd of the materials of its faces, as far as
///         their libraries are there
///   PLY   `red`, `green` and `blue` of its vertices
///   glTF  COLOR_0 and baseColorFactor, turned from linear light to sRGB; textures are passed over
/// Components beyond [0, 1] are moved to its ends. Throws InputError for colours that are no numbers, too.
[[nodiscard]] ColouredMesh read_coloured_mesh(const std::filesystem::path& path);

/// Whether a name ends as those of meshes do, and these endings, for messages.
[[nodiscard]] bool is_mesh_file(const std::filesystem::path& path);
[[nodiscard]] std::string mesh_file_endings();

/// Writes an OBJ file, atomically, that read_mesh gives back bit for bit. Throws InputError if it cannot be
/// written.
void write_obj(const std::filesystem::path& path, const TriangleMesh& mesh);

}  // namespace abut
