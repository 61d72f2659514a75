#include "collision/fitting/shape_surface.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "collision/fitting/marching_cubes.h"
#include "collision/fitting/surface_cache.h"
#include "collision/fitting/surface_creases.h"
#include "collision/fitting/surface_mesh.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/body_builder.h"
#include "engine/check.h"
#include "engine/edged_solids.h"

namespace abut {
namespace {

constexpr double k_cells = 64.0, k_cells_of_thin = 80.0;  // along the longest side; of a thin shape
constexpr double k_most_cells = 160.0;                    // along any side
constexpr double k_cells_of_thickness = 8.0;              // of the thinnest primitive
constexpr double k_sharp_smoothing = 1e-8;                // of the size
constexpr double k_most_of_default = 1.01;                // smoothing of a union that is meant to be sharp
constexpr int k_rounds = 3;             // of refinement: a scene is not to wait for the last tenth
constexpr double k_most_corners = 1.5;  // of a polyhedron with a mesh of its faces, by the vertices wanted

/// Spacings of a grid along each axis [m] that show how thin every added primitive is: along each of them the
/// distance from its faces changes by no more than that part of its thickness.
Vec3<double> spacings_for(const ShapeSdf& sdf, const Shape& shape) {
  const Vec3<double> sizes = sdf.bounds().sizes();
  const double usual = sizes.maxCoeff() / k_cells;
  Vec3<double> spacings = Vec3<double>::Constant(usual);
  for (std::size_t i = 0; i < shape.primitives.size(); ++i) {
    Primitive upright = shape.primitives[static_cast<std::size_t>(sdf.primitive_of_shape(i))];
    if (upright.operation == PrimitiveOperation::subtract) continue;
    const Mat3<double> directions = upright.X_BP.q.toRotationMatrix();
    upright.X_BP.q.setIdentity();
    Shape alone = shape;
    alone.primitives = {upright};
    const Vec3<double> thickness = ShapeSdf(alone).bounds().sizes() / k_cells_of_thickness;
    for (int axis = 0; axis < 3; ++axis) {
      for (int j = 0; j < 3; ++j)
        spacings[axis] = std::min(spacings[axis], thickness[j] / std::abs(directions(axis, j)));
    }
  }
  if (spacings.minCoeff() < usual) spacings = spacings.cwiseMin(sizes.maxCoeff() / k_cells_of_thin);
  return spacings.cwiseMax(sizes / k_most_cells);
}

/// Marching cubes on a grid with a spacing of its own along each axis: in coordinates stretched by them.
TriangleMesh fine_surface(const ShapeSdf& sdf, const Vec3<double>& spacings) {
  const double longest = spacings.maxCoeff();
  const Vec3<double> stretch = Vec3<double>::Constant(longest).cwiseQuotient(spacings),
                     back = spacings / longest;
  const Eigen::AlignedBox3d box(stretch.asDiagonal() * sdf.bounds().min(),
                                stretch.asDiagonal() * sdf.bounds().max());
  const ScalarField field = [&, inner = field_of(sdf)](const Points& points, std::span<double> values) {
    inner(back.asDiagonal() * points, values);
  };
  TriangleMesh mesh = marching_cubes(
      field, grid_around(box, static_cast<int>(std::lround(box.sizes().maxCoeff() / longest))));
  mesh.vertices = back.asDiagonal() * mesh.vertices;
  return mesh;
}

/// The distance from the solid without the smoothing of its union (the log-sum-exp with 1e-8 of the size),
/// the primitives being as they are: where these meet its surface has sharp creases, and flat faces are flat
/// up to there.
SurfaceField sharp_field(const ShapeSdf& sdf, const Shape& shape) {
  const double tau = k_sharp_smoothing * sdf.bounds().sizes().maxCoeff();
  std::vector<PreparedPrimitive<double>> primitives;  // of the lengths that the shape says
  for (std::size_t i = 0; i < sdf.primitives<double>().size(); ++i) {
    const Primitive& primitive = shape.primitives[at(sdf.primitive_of_shape(i))];
    primitives.emplace_back(primitive, primitive.parameters, shape.union_smoothing);
  }
  return [&sdf, primitives = std::move(primitives), tau](const Vec3<double>& x) {
    UnionSum<SdfOrder::gradient, double> added(tau), subtracted(tau);
    for (std::size_t i = 0; i < primitives.size(); ++i)
      (i < at(sdf.added()) ? added : subtracted)
          .add(primitive_sample<SdfOrder::gradient, double>(primitives[i], sdf.distance_mode(), x));
    if (!sdf.has_rims()) return added.result();
    return smooth_difference<SdfOrder::gradient, double>(added.result(), subtracted.result(), tau);
  };
}

/// The surface that is meshed: without smoothing where that is so little that sharp creases are meant.
SurfaceField surface_field(const ShapeSdf& sdf, const Shape& shape) {
  const double size = sdf.bounds().sizes().maxCoeff();
  if (shape.primitives.size() > 1 &&
      shape.union_smoothing <= k_most_of_default * default_union_smoothing(shape, size))
    return sharp_field(sdf, shape);
  return [&sdf](const Vec3<double>& x) { return sdf.evaluate<double>(x); };
}

/// The sharp solid of a single convex polyhedron or cone; none of others. (Its rounded edges, within a few
/// tau_c of these, are the SDF's.)
std::optional<ShapeSurface> edged_surface(const Shape& shape) {
  if (shape.primitives.size() != 1) return std::nullopt;
  const Primitive& primitive = shape.primitives.front();
  const int vertices = SurfaceMeshOptions{}.vertices;
  ShapeSurface surface;
  surface.union_smoothing = shape.union_smoothing;
  if (primitive.kind == PrimitiveKind::convex_polyhedron) {
    std::optional<TriangleMesh> mesh = polyhedron_mesh(primitive.directions, primitive.values, vertices);
    if (!mesh || mesh->vertex_count() > k_most_corners * vertices) return std::nullopt;
    surface.mesh = std::move(*mesh);
    surface.of_unit_density = mass_properties(surface.mesh, 1.0);
  } else if (primitive.kind == PrimitiveKind::cone) {
    const auto& [base_radius, top_radius, half_length, smoothing, unused] = primitive.parameters;
    surface.mesh = cone_mesh(base_radius, top_radius, half_length, vertices);
    surface.of_unit_density = cone_mass_properties(base_radius, top_radius, half_length, 1.0);
  } else {
    return std::nullopt;
  }
  for (Eigen::Index v = 0; v < surface.mesh.vertices.cols(); ++v)
    surface.mesh.vertices.col(v) = primitive.X_BP * Vec3<double>(surface.mesh.vertices.col(v));
  surface.of_unit_density = transformed(primitive.X_BP, surface.of_unit_density);
  return surface;
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
  if (std::optional<ShapeSurface> surface = edged_surface(shape)) return *std::move(surface);
  const ShapeSdf sdf(shape);
  TriangleMesh fine = fine_surface(sdf, spacings_for(sdf, shape));
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
  const SurfaceField field = surface_field(sdf, shape);
  const double tolerance = projection_tolerance(sdf.bounds().sizes().maxCoeff());
  TriangleMesh on_surface = fine;
  for (int v = 0; v < fine.vertex_count(); ++v) {
    Vec3<double> x = fine.vertices.col(v);
    if (project_to_surface(field, x, tolerance)) on_surface.vertices.col(v) = x;
  }
  CreasedMesh creased = with_creases(field, on_surface, tolerance);
  ShapeSurface surface;
  surface.union_smoothing = shape.union_smoothing;
  surface.of_unit_density = mass_properties(creased.mesh, 1.0);
  // Without creases the vertices need not be on the surface, and the grid's are as symmetric as the solid:
  // rounding would decide which of two edges that are alike goes first.
  if (creased.creases.empty()) creased.mesh = std::move(fine);
  surface.mesh = make_surface_mesh(field, creased, {.rounds = k_rounds});
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
