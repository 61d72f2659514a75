/// The input of `abut fit`: which kind of file it is, and in which frame and unit its mesh is meant.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "engine/mesh.h"

namespace abut {

enum class FitInputKind { mesh, superquadrics, body };

/// By the ending of the name (any case): .obj, .stl, .ply, .gltf, .glb; .json; .toml or a folder. Throws
/// InputError for any other, and where there is no such file or folder.
[[nodiscard]] FitInputKind kind_of_fit_input(const std::filesystem::path& path);

/// How the coordinates of a mesh become metres, z up.
struct MeshPlacement {
  std::string unit = "m";      ///< of the file; length_unit() knows it
  double scale = 1.0;          ///< > 0
  std::optional<double> size;  ///< largest extent to scale to, whatever unit and scale are [m], > 0
  std::string up = "z";        ///< the axis of the file that points up: x, y or z
};

/// A unit of length in metres: m, dm, cm, mm, um, km, in, ft. Throws std::invalid_argument for any other,
/// naming the closest.
[[nodiscard]] double length_unit(const std::string& name);

/// The mesh in metres, turned so that z is up. Throws std::invalid_argument for an unknown unit or axis.
[[nodiscard]] TriangleMesh placed(TriangleMesh mesh, const MeshPlacement& placement);

}  // namespace abut
