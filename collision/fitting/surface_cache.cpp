#include "collision/fitting/surface_cache.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/hash.h"
#include "engine/input_error.h"
#include "engine/instruction_set.h"
#include "engine/npz.h"

namespace abut {
namespace fs = std::filesystem;

namespace {

constexpr int k_version = 7;  // to be raised when surfaces of the same numbers become others
constexpr std::size_t k_mass_numbers = 14;
constexpr double k_most_sag = 0.5;  // of the volume, between the solid and its coarse mesh

/// What else than the numbers decides about a surface, to the last bit.
std::string maker_of_surfaces() {
  return fmt::format("abut {}, surfaces {}, {}", ABUT_VERSION, k_version, instruction_set());
}

/// [volume, mass, centre of mass, inertia by columns]
std::array<double, k_mass_numbers> mass_numbers_of(const ShapeSurface& surface) {
  std::array<double, k_mass_numbers> numbers{surface.of_unit_density.volume, surface.of_unit_density.mass};
  for (std::size_t i = 0; i < 3; ++i) numbers[2 + i] = surface.of_unit_density.center_of_mass.data()[i];
  for (std::size_t i = 0; i < 9; ++i) numbers[5 + i] = surface.of_unit_density.inertia.data()[i];
  return numbers;
}

const std::vector<double>& doubles(const std::map<std::string, NpzArray>& arrays, const std::string& name) {
  return arrays.at(name).doubles();
}

ShapeSurface surface_of(const std::map<std::string, NpzArray>& arrays) {
  ShapeSurface surface;
  const std::vector<double>& vertices = doubles(arrays, "vertices");
  const std::vector<std::int64_t>& triangles = arrays.at("triangles").integers();
  const std::vector<double>& mass = doubles(arrays, "mass_properties");
  require(mass.size() == k_mass_numbers, "mass properties of another length");
  const auto count = static_cast<Eigen::Index>(vertices.size() / 3);
  surface.mesh.vertices = Eigen::Map<const Points>(vertices.data(), 3, count);
  require(
      std::all_of(triangles.begin(), triangles.end(), [&](std::int64_t v) { return v >= 0 && v < count; }),
      "a triangle of a vertex that is not there");
  for (std::size_t i = 0; i + 2 < triangles.size(); i += 3) {
    surface.mesh.triangles.emplace_back(static_cast<int>(triangles[i]), static_cast<int>(triangles[i + 1]),
                                        static_cast<int>(triangles[i + 2]));
  }
  require_closed_surface(surface.mesh, "surface");
  surface.of_unit_density.volume = mass[0];
  surface.of_unit_density.mass = mass[1];
  std::copy_n(mass.begin() + 2, 3, surface.of_unit_density.center_of_mass.data());
  std::copy_n(mass.begin() + 5, 9, surface.of_unit_density.inertia.data());
  surface.union_smoothing = doubles(arrays, "union_smoothing").at(0);
  const double of_mesh = mass_properties(surface.mesh, 1.0).volume;
  require(std::abs(mass[0] - of_mesh) <= k_most_sag * of_mesh && mass[0] == mass[1] &&
              std::all_of(mass.begin(), mass.end(), [](double x) { return std::isfinite(x); }) &&
              surface.union_smoothing > 0.0 && std::isfinite(surface.union_smoothing),
          "numbers that no surface has");
  return surface;
}

}  // namespace

fs::path SurfaceCache::file_of(std::span<const double> numbers) const {
  return folder_ / fmt::format("surface_{:016x}.npz", hash_of(numbers, hash_of(maker_of_surfaces())));
}

std::optional<ShapeSurface> SurfaceCache::find(std::span<const double> numbers) const {
  std::error_code ignored;
  if (folder_.empty() || !fs::is_regular_file(file_of(numbers), ignored)) return std::nullopt;
  try {
    const std::map<std::string, NpzArray> arrays = read_npz(file_of(numbers));
    if (!std::ranges::equal(doubles(arrays, "numbers"), numbers)) return std::nullopt;
    if (arrays.at("maker").texts() != std::vector<std::string>{maker_of_surfaces()}) return std::nullopt;
    return surface_of(arrays);
  } catch (const InputError&) {
  } catch (const std::logic_error&) {  // an array is missing, of another kind, or no surface
  }
  return std::nullopt;
}

void SurfaceCache::store(std::span<const double> numbers, const ShapeSurface& surface) const {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::create_directories(folder_, ignored);
  const fs::file_status status = fs::status(file_of(numbers), ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) return;
  std::vector<std::int64_t> triangles;
  for (const Eigen::Vector3i& triangle : surface.mesh.triangles)
    triangles.insert(triangles.end(), triangle.data(), triangle.data() + 3);
  const Points& vertices = surface.mesh.vertices;
  const std::array<double, k_mass_numbers> mass = mass_numbers_of(surface);
  const std::array<std::size_t, 2> of_vertices{static_cast<std::size_t>(vertices.cols()), 3},
      of_triangles{surface.mesh.triangles.size(), 3};
  const std::array<std::size_t, 1> of_mass{mass.size()}, of_numbers{numbers.size()};
  NpzWriter writer;
  writer.add("maker", maker_of_surfaces());
  writer.add("numbers", numbers, of_numbers);
  writer.add("vertices", std::span(vertices.data(), static_cast<std::size_t>(vertices.size())), of_vertices);
  writer.add("triangles", std::span<const std::int64_t>(triangles), of_triangles);
  writer.add("mass_properties", std::span<const double>(mass), of_mass);
  writer.add("union_smoothing", surface.union_smoothing);
  try {
    writer.write(file_of(numbers));
  } catch (const InputError&) {  // the folder cannot be made or written to: remembered by this program alone
  }
}

fs::path user_cache_folder() {
  const auto variable = [](const char* name) { return std::getenv(name); };
  if (const char* folder = variable("ABUT_CACHE_DIR")) return folder;
  if (const char* folder = variable("XDG_CACHE_HOME"); folder != nullptr && *folder != '\0')
    return fs::path(folder) / "abut";
  if (const char* home = variable("HOME"); home != nullptr && *home != '\0')
    return fs::path(home) / ".cache" / "abut";
  return {};
}

}  // namespace abut
