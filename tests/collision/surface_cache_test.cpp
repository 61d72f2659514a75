#include "collision/fitting/surface_cache.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "engine/atomic_file.h"
#include "engine/mesh_shapes.h"
#include "tests/support/temporary_folder.h"

namespace abut {
namespace {

namespace fs = std::filesystem;

ShapeSurface some_surface() {
  ShapeSurface surface;
  surface.mesh = sphere_mesh(0.1, 1);
  surface.of_unit_density = sphere_mass_properties(0.1, 1.0);
  surface.of_unit_density.center_of_mass = {0.1, -0.2, 1.0 / 3.0};
  surface.union_smoothing = 1e-4;
  return surface;
}

fs::path only_file_in(const fs::path& folder) {
  std::vector<fs::path> files(fs::directory_iterator(folder), {});
  REQUIRE(files.size() == 1);
  return files.front();
}

TEST_CASE("surface_cache: gives back what was stored, bit for bit, for all of the numbers", "[collision]") {
  const test::TemporaryFolder folder;
  const SurfaceCache cache(folder.path() / "a" / "b");
  const std::vector<double> numbers{1.0, 0.1, -0.0};
  CHECK_FALSE(cache.find(numbers));
  const ShapeSurface stored = some_surface();
  cache.store(numbers, stored);
  const auto found = SurfaceCache(folder.path() / "a" / "b").find(numbers);
  REQUIRE(found);
  CHECK(found->mesh.vertices == stored.mesh.vertices);
  CHECK(found->mesh.triangles == stored.mesh.triangles);
  CHECK(found->of_unit_density.volume == stored.of_unit_density.volume);
  CHECK(found->of_unit_density.mass == stored.of_unit_density.mass);
  CHECK(found->of_unit_density.center_of_mass == stored.of_unit_density.center_of_mass);
  CHECK(found->of_unit_density.inertia == stored.of_unit_density.inertia);
  CHECK(found->union_smoothing == stored.union_smoothing);
  CHECK_FALSE(cache.find(std::vector<double>{1.0, 0.1}));
  CHECK_FALSE(cache.find(std::vector<double>{1.0, 0.1, 1e-300}));
}

TEST_CASE("surface_cache: what cannot be read or written is not remembered, and is no error",
          "[collision][error]") {
  const test::TemporaryFolder folder;
  const std::vector<double> numbers{1.0, 2.0}, others{1.0, 3.0};
  const SurfaceCache cache(folder.path() / "cache");
  cache.store(numbers, some_surface());
  const fs::path file = only_file_in(folder.path() / "cache");
  const std::string whole = read_file(file);
  for (const std::size_t length : {std::size_t{0}, std::size_t{10}, whole.size() / 2, whole.size() - 1}) {
    std::ofstream(file, std::ios::binary) << whole.substr(0, length);
    CAPTURE(length);
    CHECK_FALSE(cache.find(numbers));
  }
  // Whole files that hold no surface, or that of another maker.
  const auto is_remembered = [&](const auto& change) {
    ShapeSurface surface = some_surface();
    change(surface);
    cache.store(numbers, surface);
    return cache.find(numbers).has_value();
  };
  CHECK(is_remembered([](ShapeSurface&) {}));
  CHECK_FALSE(is_remembered([](ShapeSurface& s) { s.mesh.vertices *= -1.0; }));
  CHECK_FALSE(is_remembered([](ShapeSurface& s) { s.mesh.vertices *= 2.0; }));
  CHECK_FALSE(is_remembered([](ShapeSurface& s) { s.mesh.triangles.pop_back(); }));
  CHECK_FALSE(is_remembered([](ShapeSurface& s) { s.mesh.triangles[0][0] = 1000; }));
  CHECK_FALSE(is_remembered([](ShapeSurface& s) { s.of_unit_density.mass *= 2.0; }));
  CHECK_FALSE(is_remembered([](ShapeSurface& s) { s.of_unit_density.inertia(0, 0) = NAN; }));
  CHECK_FALSE(is_remembered([](ShapeSurface& s) { s.union_smoothing = -1.0; }));
  // The name of another shape's file, and what is inside that of this one.
  cache.store(others, some_surface());
  fs::rename(file, folder.path() / "kept");
  const fs::path other_file = only_file_in(folder.path() / "cache");
  std::ofstream(other_file, std::ios::binary) << whole;
  CHECK_FALSE(cache.find(others));

  folder.write("file", "no folder");
  const SurfaceCache nowhere(folder.path() / "file" / "cache"), none(fs::path{});
  CHECK_NOTHROW(nowhere.store(numbers, some_surface()));
  CHECK_FALSE(nowhere.find(numbers));
  CHECK_NOTHROW(none.store(numbers, some_surface()));
  CHECK_FALSE(none.find(numbers));
}

}  // namespace
}  // namespace abut
