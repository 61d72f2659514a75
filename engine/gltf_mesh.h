/// Triangle meshes of glTF 2.0 files.
#pragma once

#include <filesystem>
#include <string>

#include "engine/coloured_mesh.h"

namespace abut {

/// The triangles of the default scene of a glTF file, text (.gltf) or binary (.glb), in the frame of the
/// scene, in which y is up; for read_mesh() (engine/mesh_io.h).
///
/// Of each node with a mesh come the primitives that are triangles, strips or fans, moved by the poses, and
/// scaled by the scales, of the nodes above it; a mirrored one keeps its outside. Points, lines, textures,
/// skins and animations are passed over, and so are colours unless they are asked for: then a vertex has
/// COLOR_0 times the baseColorFactor of its material, where there is one of them and no texture instead.
/// Buffers are in the file (base64 or binary) or in other files of its folder and those below.
///
/// Indices of the result are in range and coordinates finite; vertices may occur twice in a triangle. Throws
/// InputError naming the file, the element and the cause for anything else: damaged files, and what is not
/// supported (compressed, quantized or sparse positions).
///
/// @param bytes  the whole file `path`
[[nodiscard]] ColouredMesh read_gltf(const std::filesystem::path& path, const std::string& bytes,
                                     bool with_colours);

}  // namespace abut
