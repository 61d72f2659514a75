#include "apps/abut/fit_input.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "engine/closest_word.h"
#include "engine/input_error.h"
#include "engine/mesh_io.h"
#include "engine/types.h"

namespace abut {
namespace fs = std::filesystem;

namespace {

struct Unit {
  std::string_view name;
  double metres;
};
constexpr std::array<Unit, 8> k_units = {{{"m", 1.0},
                                          {"dm", 0.1},
                                          {"cm", 0.01},
                                          {"mm", 1e-3},
                                          {"um", 1e-6},
                                          {"km", 1e3},
                                          {"in", 0.0254},
                                          {"ft", 0.3048}}};

}  // namespace

FitInputKind kind_of_fit_input(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) throw InputError(path.string(), 0, "there is no such file or folder");
  if (fs::is_directory(path, ignored)) return FitInputKind::body;
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (extension == ".json") return FitInputKind::superquadrics;
  if (extension == ".toml") return FitInputKind::body;
  if (is_mesh_file(path)) return FitInputKind::mesh;
  throw InputError(path.string(), 0,
                   fmt::format("unknown extension '{}', allowed: {} for a mesh, .json for superquadrics, a "
                               "folder or .toml for a body",
                               extension, mesh_file_endings()));
}

double length_unit(const std::string& name) {
  std::vector<std::string> names;
  for (const Unit& unit : k_units) {
    if (unit.name == name) return unit.metres;
    names.emplace_back(unit.name);
  }
  const std::string closest = closest_word(name, names);
  throw std::invalid_argument(fmt::format("--unit {}{}, allowed: {}", name,
                                          closest.empty() ? "" : fmt::format(", did you mean {}?", closest),
                                          fmt::join(names, ", ")));
}

TriangleMesh placed(TriangleMesh mesh, const MeshPlacement& placement) {
  // Cyclic exchanges of the axes: rotations.
  if (placement.up == "y") {
    mesh.vertices = Points(mesh.vertices(std::array{2, 0, 1}, Eigen::all));
  } else if (placement.up == "x") {
    mesh.vertices = Points(mesh.vertices(std::array{1, 2, 0}, Eigen::all));
  } else if (placement.up != "z") {
    throw std::invalid_argument(fmt::format("--up {}, allowed: x, y, z", placement.up));
  }
  double factor = placement.scale * length_unit(placement.unit);
  if (placement.size) {
    const double extent = largest_extent(mesh);
    if (extent > 0.0) factor = *placement.size / extent;  // a mesh without extent is refused later
  }
  if (factor != 1.0) mesh.vertices *= factor;
  return mesh;
}

}  // namespace abut
