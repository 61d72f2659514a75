#include "collision/fitting/make_body.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <variant>

#include <spdlog/fmt/fmt.h>

#include "collision/fitting/marching_cubes.h"
#include "collision/fitting/shape_on_grid.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/check.h"
#include "engine/count_text.h"
#include "engine/mass_properties.h"
#include "engine/primitive_check.h"

namespace abut {
namespace {

constexpr int k_draft_resolution = 64;   // where only the extents are wanted
constexpr double k_least_extent = 1e-4;  // of a primitive, relative to the size

bool has_exponents(PrimitiveKind kind) {
  return kind == PrimitiveKind::superquadric || kind == PrimitiveKind::extruded_superquadric;
}

void scale(Shape& shape, double factor) {
  for (Primitive& primitive : shape.primitives) {
    for (std::size_t i = 0; i < parameter_count(primitive); ++i) {
      if (is_length(primitive.kind, i)) shape_parameter(primitive, primitive.kind, i) *= factor;
    }
    primitive.X_BP.p *= factor;
  }
  shape.union_smoothing *= factor;
}

TriangleMesh mesh_of_zero_set(const Shape& shape, int resolution, const MeshingProgress& progress = {}) {
  const ShapeSdf sdf(shape);
  const SampleGrid grid = grid_around(sdf.bounds(), resolution);
  constexpr double k_band = 2.0;  // of cubes: the ends of an edge through the zero set are nearer than that
  TriangleMesh mesh = marching_cubes(field_near(sdf, k_band * grid.cell_size), grid, progress);
  require(mesh.triangle_count() > 0,
          fmt::format(
              "the shape is too thin for a grid of {} cubes along its longest side: try a higher resolution",
              resolution));
  return mesh;
}

void clamp_exponents(Shape& shape, std::vector<std::string>& notes) {
  for (std::size_t i = 0; i < shape.primitives.size(); ++i) {
    if (!has_exponents(shape.primitives[i].kind)) continue;
    for (std::size_t k : {3, 4}) {
      double& exponent = shape.primitives[i].parameters[k];
      const double allowed = std::clamp(exponent, k_min_exponent, k_max_exponent);
      if (allowed == exponent) continue;
      notes.push_back(fmt::format("primitive {}: exponent {} is now {:.4g} instead of {:.4g}", i, k - 2,
                                  allowed, exponent));
      exponent = allowed;
    }
  }
}

void drop(Shape& shape, const std::vector<bool>& is_dropped) {
  std::vector<Primitive> kept;
  for (std::size_t i = 0; i < shape.primitives.size(); ++i) {
    if (!is_dropped[i]) kept.push_back(shape.primitives[i]);
  }
  shape.primitives = std::move(kept);
}

void drop_thin_primitives(Shape& shape, double size, std::vector<std::string>& notes) {
  std::vector<bool> is_thin(shape.primitives.size(), false);
  for (std::size_t i = 0; i < shape.primitives.size(); ++i) {
    const Primitive& primitive = shape.primitives[i];
    if (!has_exponents(primitive.kind)) continue;
    const double thickness =
        2.0 * *std::min_element(primitive.parameters.begin(), primitive.parameters.begin() + 3);
    if (thickness >= k_least_extent * size) continue;
    is_thin[i] = true;
    notes.push_back(
        fmt::format("primitive {} is left out: it is only {:.2g} of the size thick", i, thickness / size));
  }
  drop(shape, is_thin);
}

/// Leaves out the primitives that make up components other than the first, and nothing of that one: those
/// whose own surface comes near vertices of the others only.
void drop_loose_primitives(Shape& shape, const std::vector<TriangleMesh>& components,
                           std::vector<std::string>& notes) {
  std::vector<bool> is_loose(shape.primitives.size(), false);
  for (std::size_t i = 0; i < shape.primitives.size(); ++i) {
    if (shape.primitives[i].operation == PrimitiveOperation::subtract) continue;
    Shape alone = shape;
    alone.primitives = {shape.primitives[i]};
    const ShapeSdf sdf(alone);
    const auto touches = [&](const TriangleMesh& mesh) {
      for (int v = 0; v < mesh.vertex_count(); ++v) {
        if (sdf.distance<double>(mesh.vertices.col(v)) < 5.0 * shape.union_smoothing) return true;
      }
      return false;
    };
    if (touches(components[0]) || std::none_of(components.begin() + 1, components.end(), touches)) continue;
    is_loose[i] = true;
    notes.push_back(fmt::format("primitive {} is left out: it floats apart from the rest", i));
  }
  drop(shape, is_loose);
}

/// The largest extent of the primitives' common box [m], whatever the smoothing of their union will be.
double rough_extent(Shape shape) {
  constexpr double k_hardly_smooth = 1e-9;
  shape.union_smoothing = k_hardly_smooth;
  return ShapeSdf(shape).bounds().sizes().maxCoeff();
}

/// Scales the shape so that its largest extent is `size`, or finds what that is; sets its union smoothing, on
/// which the extent depends a little. Returns the factor.
double set_size(Shape& shape, const MeshedBodyOptions& options) {
  if (options.union_smoothing && !options.size) {  // the extent does not matter
    shape.union_smoothing = *options.union_smoothing;
    return 1.0;
  }
  const auto smoothing_at = [&](double extent) {
    if (!options.union_smoothing) return default_union_smoothing(shape, extent);
    return options.size ? *options.union_smoothing * extent / *options.size : *options.union_smoothing;
  };
  shape.union_smoothing = 1e-6 * rough_extent(shape);
  double factor = 1.0;
  constexpr int k_drafts = 3;  // the smoothing changes the extent by less than 1 %
  for (int i = 0; i < k_drafts; ++i) {
    const double extent =
        largest_extent(connected_components(mesh_of_zero_set(shape, k_draft_resolution))[0]);
    shape.union_smoothing = smoothing_at(extent);
    if (options.size) {
      scale(shape, *options.size / extent);
      factor *= *options.size / extent;
    }
    if (options.mesh.progress) options.mesh.progress("drafts", i + 1, k_drafts);
  }
  return factor;
}

/// Largest distance of points of the zero set from the difference of the unsmoothed unions [m].
double bulge_of(const ShapeSdf& sdf, const Points& zero_set) {
  const std::vector<PreparedPrimitive<double>>& primitives = sdf.primitives<double>();
  if (primitives.size() == 1) return 0.0;
  double bulge = 0.0;
  for (Eigen::Index v = 0; v < zero_set.cols(); ++v) {
    const Vec3<double> x = zero_set.col(v);
    const auto distance_to = [&](std::size_t i) {
      return primitive_sample<SdfOrder::distance, double>(primitives[i], sdf.distance_mode(), x).distance;
    };
    double added = k_infinity, subtracted = k_infinity;
    for (std::size_t i = 0; i < primitives.size(); ++i) {
      double& least = i < at(sdf.added()) ? added : subtracted;
      least = std::min(least, distance_to(i));
    }
    bulge = std::max(bulge, std::abs(std::max(added, -subtracted) - sdf.distance<double>(x)));
  }
  return bulge;
}

/// Of a closed surface [m^3]; below 0 where it encloses what is outside: a cavity.
double signed_volume(const TriangleMesh& mesh) {
  double volume = 0.0;
  for (const Eigen::Vector3i& t : mesh.triangles) {
    const Vec3<double> a = mesh.vertices.col(t[0]), b = mesh.vertices.col(t[1]), c = mesh.vertices.col(t[2]);
    volume += a.dot(b.cross(c)) / 6.0;
  }
  return volume;
}

MassProperties mass_properties_of(const TriangleMesh& mesh, const MassOrDensity& mass_or_density) {
  if (const auto* density = std::get_if<Density>(&mass_or_density))
    return mass_properties(mesh, density->value);
  return with_mass(mass_properties(mesh, 1.0), std::get<Mass>(mass_or_density).value);
}

MeshedBody make_regular_body(Shape shape, const MeshedBodyOptions& options) {
  const double factor = options.size ? *options.size / rough_extent(shape) : 1.0;
  if (options.size) scale(shape, factor);
  shape.union_smoothing = options.union_smoothing.value_or(0.0);
  BodyDescription description;
  description.name = options.name;
  description.shape = std::move(shape);
  description.mass_or_density = options.mass_or_density;
  description.material = options.material;
  MeshedBody result;
  result.body = make_body(description);
  result.scale = factor;
  result.origin = -result.body.p_BA;
  // The mesh of a rounded box is that of its inner box, and lies as deep as the radius of its edges.
  const Primitive& primitive = result.body.shape.primitives[0];
  const double depth = primitive.kind == PrimitiveKind::rounded_box ? primitive.parameters[3] : 0.0;
  const ShapeSdf sdf(result.body.shape);
  const SurfaceField field = [&](const Vec3<double>& x) {
    SdfSample<double> sample = sdf.evaluate<double>(x);
    sample.distance += depth;
    return sample;
  };
  result.report = inspect_surface(field, result.body.mesh);
  try {
    result.surface = mesh_of_zero_set(result.body.shape, options.resolution, options.mesh.progress);
  } catch (const std::invalid_argument&) {  // too thin
    result.surface = result.body.mesh;
  }
  return result;
}

}  // namespace

MeshedBody make_meshed_body(const Shape& given, const MeshedBodyOptions& options) {
  require(!given.primitives.empty(), "a body needs at least one primitive");
  require(!is_unbounded(given), "a half-space has no mesh");
  require(!options.size || (*options.size > 0.0 && std::isfinite(*options.size)), "the size must be > 0");
  require(
      !options.union_smoothing || (*options.union_smoothing > 0.0 && std::isfinite(*options.union_smoothing)),
      "the union smoothing must be > 0");
  require(options.resolution >= 16, "the resolution must be at least 16");

  MeshedBody result;
  Shape shape = given;
  clamp_exponents(shape, result.notes);
  for (std::size_t i = 0; i < shape.primitives.size(); ++i) {
    require_valid(shape.primitives[i], fmt::format("primitive {}", i));
  }
  if (has_closed_form(shape)) return make_regular_body(std::move(shape), options);

  drop_thin_primitives(shape, rough_extent(shape), result.notes);
  require(!shape.primitives.empty(), "every primitive of the shape is too thin");
  result.scale = set_size(shape, options);
  const MeshingProgress& progress = options.mesh.progress;
  const auto parts = [&] {
    return connected_components(mesh_of_zero_set(shape, options.resolution, progress));
  };
  std::vector<TriangleMesh> components = parts();
  const double own_volume = signed_volume(components[0]);
  double floating_volume = 0.0;
  for (auto other = components.begin() + 1; other != components.end(); ++other) {
    const double volume = signed_volume(*other);
    ++(volume < 0.0 ? result.cavities : result.floating_parts);
    floating_volume += std::max(volume, 0.0);
  }
  result.floating_share = floating_volume / (own_volume + floating_volume);
  if (components.size() > 1) {
    drop_loose_primitives(shape, components, result.notes);
    components = parts();
    if (components.size() > 1) {
      result.notes.push_back(fmt::format("the collision mesh leaves out {}: cavities, or parts that float",
                                         count_text(components.size() - 1, "more closed surface")));
    }
  }
  TriangleMesh& fine = components[0];

  // Into the frame of the centre of mass.
  const MassProperties properties = mass_properties_of(fine, options.mass_or_density);
  result.origin = properties.center_of_mass;
  fine.vertices.colwise() -= properties.center_of_mass;
  for (Primitive& primitive : shape.primitives) primitive.X_BP.p -= properties.center_of_mass;

  const ShapeSdf sdf(shape);
  const SurfaceField field = [&](const Vec3<double>& x) { return sdf.evaluate<double>(x); };
  BodyDescription description;
  description.name = options.name;
  description.shape = std::move(shape);
  description.mesh = make_surface_mesh(field, fine, options.mesh);
  description.mass_or_density = Mass{properties.mass};
  description.volume = properties.volume;
  description.center_of_mass = Vec3<double>::Zero();
  description.inertia = properties.inertia;
  description.material = options.material;
  result.body = make_body(description);
  result.report = inspect_surface(field, result.body.mesh, fine, progress);
  result.bulge = bulge_of(sdf, fine.vertices);
  result.surface = std::move(fine);
  return result;
}

}  // namespace abut
