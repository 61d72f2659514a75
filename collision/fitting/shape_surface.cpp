#include "collision/fitting/shape_surface.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "collision/fitting/marching_cubes.h"
#include "collision/fitting/surface_cache.h"
#include "collision/fitting/surface_mesh.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/body_builder.h"
#include "engine/check.h"

namespace abut {
namespace {

constexpr int k_least_resolution = 64, k_most_resolution = 160;
constexpr double k_cells_of_thickness = 8.0;  // of the thinnest primitive
constexpr int k_rounds = 3;                   // of refinement: a scene is not to wait for the last tenth

/// How many cubes along the longest side show the thinnest primitive.
int resolution_for(const ShapeSdf& sdf, const Shape& shape) {
  double thinnest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < shape.primitives.size(); ++i) {
    Primitive upright = shape.primitives[static_cast<std::size_t>(sdf.primitive_of_shape(i))];
    if (upright.operation == PrimitiveOperation::subtract) continue;
    upright.X_BP.q.setIdentity();
    Shape alone = shape;
    alone.primitives = {upright};
    thinnest = std::min(thinnest, ShapeSdf(alone).bounds().sizes().minCoeff());
  }
  const double wanted = k_cells_of_thickness * sdf.bounds().sizes().maxCoeff() / thinnest;
  return std::clamp(static_cast<int>(std::min<double>(wanted, k_most_resolution)), k_least_resolution,
                    k_most_resolution);
}

/// The numbers that a surface depends on.
std::vector<double> numbers_of(const Shape& shape) {
  std::vector<double> numbers{shape.union_smoothing, static_cast<double>(shape.distance_mode)};
  for (const Primitive& primitive : shape.primitives) {
    numbers.push_back(static_cast<double>(primitive.kind));
    numbers.push_back(static_cast<double>(primitive.operation));
    numbers.insert(numbers.end(), primitive.parameters.begin(), primitive.parameters.end());
    numbers.push_back(static_cast<double>(primitive.values.size()));
    numbers.insert(numbers.end(), primitive.values.begin(), primitive.values.end());
    numbers.insert(numbers.end(), primitive.directions.data(),
                   primitive.directions.data() + primitive.directions.size());
    for (const double x :
         {primitive.X_BP.q.w(), primitive.X_BP.q.x(), primitive.X_BP.q.y(), primitive.X_BP.q.z(),
          primitive.X_BP.p.x(), primitive.X_BP.p.y(), primitive.X_BP.p.z()})
      numbers.push_back(x);
  }
  return numbers;
}

}  // namespace

ShapeSurface make_shape_surface(const Shape& given) {
  require(!is_unbounded(given), "a half-space has no mesh");
  Shape shape = given;
  const Eigen::AlignedBox3d around = ShapeSdf(shape).bounds();
  require(!around.isEmpty(), "a shape needs at least one added primitive");
  if (shape.union_smoothing == 0.0)
    shape.union_smoothing = default_union_smoothing(shape, around.sizes().maxCoeff());
  const ShapeSdf sdf(shape);
  TriangleMesh fine = marching_cubes(field_of(sdf), grid_around(sdf.bounds(), resolution_for(sdf, shape)));
  require(fine.triangle_count() > 0, "the shape has no inside, or is too thin to be seen");
  std::vector<TriangleMesh> parts = connected_components(fine);
  if (parts.size() > 1) {
    if (!sdf.is_convex())
      throw std::invalid_argument(fmt::format(
          "the shape has {} closed surfaces (parts that do not touch, or a cavity)", parts.size()));
    // The tip of a sharp corner, narrower than a cube, may be cut off.
    fine = *std::max_element(parts.begin(), parts.end(), [](const TriangleMesh& a, const TriangleMesh& b) {
      return a.triangle_count() < b.triangle_count();
    });
  }
  const SurfaceField field = [&](const Vec3<double>& x) { return sdf.evaluate<double>(x); };
  const double tolerance = 1e-9 * sdf.bounds().sizes().maxCoeff();
  ShapeSurface surface;
  surface.union_smoothing = shape.union_smoothing;
  surface.mesh = make_surface_mesh(field, fine, {.rounds = k_rounds});
  for (int v = 0; v < fine.vertex_count(); ++v) {
    Vec3<double> x = fine.vertices.col(v);
    if (project_to_surface(field, x, tolerance)) fine.vertices.col(v) = x;
  }
  surface.of_unit_density = mass_properties(fine, 1.0);
  return surface;
}

SurfaceMaker surface_maker(const std::filesystem::path& cache_folder) {
  return [cache = SurfaceCache(cache_folder)](const Shape& shape) {
    static std::mutex mutex;
    static std::map<std::vector<double>, ShapeSurface> known;
    std::vector<double> numbers = numbers_of(shape);
    {
      const std::lock_guard lock(mutex);
      if (const auto found = known.find(numbers); found != known.end()) return found->second;
    }
    std::optional<ShapeSurface> surface = cache.find(numbers);
    if (!surface) {
      surface = make_shape_surface(shape);
      cache.store(numbers, *surface);
    }
    const std::lock_guard lock(mutex);
    return known.emplace(std::move(numbers), std::move(*surface)).first->second;
  };
}

}  // namespace abut
