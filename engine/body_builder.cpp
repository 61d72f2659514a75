#include "engine/body_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <Eigen/Geometry>

#include "engine/check.h"
#include "engine/convex_hull.h"
#include "engine/count_text.h"
#include "engine/flat_faces.h"
#include "engine/mass_properties.h"
#include "engine/mesh_shapes.h"
#include "engine/padded_polygon.h"
#include "engine/padded_polygon_mesh.h"
#include "engine/primitive_check.h"
#include "engine/surface_seeds.h"

namespace abut {
namespace {

constexpr double k_unbounded_union_smoothing = 1e-3;  // [m]
constexpr double k_default_density = 1000.0;          // of fixed bodies, where it means nothing [kg/m^3]
constexpr int k_max_capsule_points = 1000;

Vec3<double> first_three(const Primitive& primitive) {
  return {primitive.parameters[0], primitive.parameters[1], primitive.parameters[2]};
}

/// The only primitive of the shape if it is a sphere, capsule, rounded box or padded polygon, else nullptr.
const Primitive* single_simple_primitive(const Shape& shape) {
  if (shape.primitives.size() != 1) return nullptr;
  const Primitive& primitive = shape.primitives[0];
  const bool is_simple =
      primitive.kind == PrimitiveKind::sphere || primitive.kind == PrimitiveKind::capsule ||
      primitive.kind == PrimitiveKind::rounded_box || primitive.kind == PrimitiveKind::padded_polygon;
  return is_simple ? &primitive : nullptr;
}

/// In the frame of the primitive; of a rounded box the inner box.
TriangleMesh mesh_of(const Primitive& primitive, int box_subdivisions) {
  const auto& [a, b, c, d, e] = primitive.parameters;
  switch (primitive.kind) {
    case PrimitiveKind::sphere:
      return sphere_mesh(a);
    case PrimitiveKind::capsule:
      return capsule_mesh(a, b);
    case PrimitiveKind::padded_polygon:
      return padded_polygon_mesh(polygon_corners(primitive), a);
    default:
      return box_mesh(first_three(primitive).array() - d, box_subdivisions);
  }
}

MassProperties mass_properties_of(const Primitive& primitive, double density) {
  const auto& [a, b, c, d, e] = primitive.parameters;
  switch (primitive.kind) {
    case PrimitiveKind::sphere:
      return sphere_mass_properties(a, density);
    case PrimitiveKind::capsule:
      return capsule_mass_properties(a, b, density);
    case PrimitiveKind::padded_polygon:
      return padded_polygon_mass_properties(polygon_corners(primitive), a, density);
    default:
      return rounded_box_mass_properties(first_three(primitive), d, density);
  }
}

/// Least and largest x and y of a polygon's corners.
Eigen::AlignedBox2d box_of_corners(const Primitive& primitive) {
  Eigen::AlignedBox2d box;
  for (const Vec2<double>& corner : polygon_corners(primitive)) box.extend(corner);
  return box;
}

double size_of(const Primitive& primitive) {
  const auto& [a, b, c, d, e] = primitive.parameters;
  switch (primitive.kind) {
    case PrimitiveKind::sphere:
      return 2.0 * a;
    case PrimitiveKind::capsule:
      return 2.0 * (a + b);
    case PrimitiveKind::padded_polygon:
      return box_of_corners(primitive).sizes().maxCoeff() + 2.0 * a;
    default:
      return 2.0 * first_three(primitive).maxCoeff();
  }
}

/// Half the extents, along the axes of the primitive, of a box about its origin that holds it.
Vec3<double> half_extents_of(const Primitive& primitive) {
  const auto& [a, b, c, d, e] = primitive.parameters;
  switch (primitive.kind) {
    case PrimitiveKind::convex_polyhedron:
      return polyhedron_vertices(primitive.directions, primitive.values).cwiseAbs().rowwise().maxCoeff();
    case PrimitiveKind::oriented_point_cloud: {
      Vec3<double> half = Vec3<double>::Zero();
      for (std::size_t i = 0; i < primitive.values.size(); ++i) {
        double& extent = half[static_cast<Eigen::Index>(i % 3)];
        extent = std::max(extent, std::abs(primitive.values[i]));
      }
      return half;
    }
    case PrimitiveKind::sphere:
      return {a, a, a};
    case PrimitiveKind::capsule:
      return {a, a, a + b};
    case PrimitiveKind::cone:
      return {std::max(a, b), std::max(a, b), c};
    case PrimitiveKind::torus:
      return {a + b, a + b, b};
    case PrimitiveKind::padded_polygon: {
      const Eigen::AlignedBox2d box = box_of_corners(primitive);
      const Vec2<double> half = box.max().cwiseMax(-box.min());
      return {half.x() + a, half.y() + a, a};
    }
    default:
      return first_three(primitive);
  }
}

/// Largest extent of a box, along the axes of A, that holds all added primitives.
double largest_extent(const Shape& shape) {
  Vec3<double> lower = Vec3<double>::Constant(std::numeric_limits<double>::infinity()), upper = -lower;
  for (const Primitive& primitive : shape.primitives) {
    if (primitive.operation != PrimitiveOperation::add) continue;
    const Vec3<double> reach = primitive.X_BP.rotation().cwiseAbs() * half_extents_of(primitive);
    lower = lower.cwiseMin(primitive.X_BP.p - reach);
    upper = upper.cwiseMax(primitive.X_BP.p + reach);
  }
  return (upper - lower).maxCoeff();
}

double surface_area(const TriangleMesh& mesh) {
  double area = 0.0;
  for (const double part : vertex_areas(mesh)) area += part;
  return area;
}

void transform(const Pose<double>& X_AP, Points& points) {
  for (Eigen::Index i = 0; i < points.cols(); ++i) points.col(i) = X_AP * Vec3<double>(points.col(i));
}

/// Builds a body step by step; everything is in A until recenter().
class Builder {
 public:
  explicit Builder(const BodyDescription& description) : d_(description) {
    body_.name = d_.name;
    body_.shape = d_.shape;
    body_.mesh = d_.mesh;
    body_.contact_points.resize(3, 0);
    body_.material = d_.material;
    body_.fixed = d_.fixed;
  }

  Body build() {
    check_shape();
    if (is_unbounded(body_.shape)) {
      make_unbounded();
      return std::move(body_);
    }
    set_mesh();
    set_contact_points();
    set_size();
    body_.seeds = surface_seeds(body_);
    set_inradius();
    set_mass_and_recenter();
    return std::move(body_);
  }

 private:
  void need(bool condition, std::string_view message) const {
    if (!condition)
      throw std::invalid_argument(fmt::format("{}: {}", d_.name.empty() ? "body" : d_.name, message));
  }

  void check_shape() {
    const auto& primitives = body_.shape.primitives;
    need(std::any_of(primitives.begin(), primitives.end(),
                     [](const Primitive& p) { return p.operation == PrimitiveOperation::add; }),
         "a shape needs at least one added primitive");
    for (std::size_t i = 0; i < primitives.size(); ++i) {
      require_valid(primitives[i], fmt::format("{}: primitive {}", d_.name.empty() ? "body" : d_.name, i));
    }
    need(body_.shape.union_smoothing >= 0.0 && std::isfinite(body_.shape.union_smoothing),
         fmt::format("union_smoothing = {}, allowed: > 0", body_.shape.union_smoothing));
    need(d_.material.friction >= 0.0 && std::isfinite(d_.material.friction),
         fmt::format("friction = {}, allowed: >= 0", d_.material.friction));
    need(d_.material.stiffness > 0.0, fmt::format("stiffness = {}, allowed: > 0", d_.material.stiffness));
    need(std::isfinite(d_.material.dissipation_time),
         fmt::format("dissipation_time = {}, allowed: finite", d_.material.dissipation_time));
    need(d_.material.restitution >= 0.0 && d_.material.restitution <= 1.0,
         fmt::format("restitution = {}, allowed: in [0, 1]", d_.material.restitution));
    need(d_.center_of_mass.has_value() == d_.inertia.has_value(), "center_of_mass and inertia come together");
    need(!d_.center_of_mass || d_.center_of_mass->allFinite(), "the centre of mass is not finite");
  }

  void make_unbounded() {
    need(d_.mesh.vertex_count() == 0, "a half-space has no mesh");
    need(!d_.mass_or_density && !d_.inertia && !d_.volume, "a half-space never moves: it has no mass");
    need(!d_.contact_points && !d_.contact_radius, "a half-space has no contact points");
    body_.fixed = true;
    body_.volume = 1.0;
    body_.size = std::numeric_limits<double>::infinity();
    if (body_.shape.union_smoothing == 0.0) body_.shape.union_smoothing = k_unbounded_union_smoothing;
  }

  void set_mesh() {
    const Primitive* simple = single_simple_primitive(body_.shape);
    if (body_.mesh.vertex_count() == 0 && body_.mesh.triangle_count() == 0) {
      if (simple == nullptr) return;
      body_.mesh = mesh_of(*simple, d_.box_subdivisions);
      transform(simple->X_BP, body_.mesh.vertices);
      return;
    }
    require_closed_surface(body_.mesh, d_.name.empty() ? "mesh" : d_.name + ": mesh");
    if (simple == nullptr || simple->kind != PrimitiveKind::rounded_box) return;
    const Vec3<double> inner = first_three(*simple).array() - simple->parameters[3];
    for (int i = 0; i < body_.mesh.vertex_count(); ++i) {
      const Vec3<double> p = inverse_point<double>(simple->X_BP, body_.mesh.vertices.col(i));
      need((p.cwiseAbs() - inner).maxCoeff() <= 1e-6 * inner.maxCoeff(),
           fmt::format("vertex {} of the mesh lies outside the inner box: the mesh of a rounded box is that "
                       "of the box "
                       "with half extents less edge_radius",
                       i));
    }
  }

  void set_contact_points() {
    const Primitive* simple = single_simple_primitive(body_.shape);
    const bool has_mesh = body_.mesh.vertex_count() > 0;
    if (d_.contact_points) {
      body_.contact_points = *d_.contact_points;
      need(body_.contact_points.allFinite(), "the contact points are not finite");
      const std::size_t count = static_cast<std::size_t>(body_.contact_points.cols());
      const double area =
          has_mesh ? surface_area(body_.mesh) / static_cast<double>(std::max<std::size_t>(count, 1)) : 1.0;
      body_.contact_areas.assign(count, area);
    } else if (simple != nullptr && simple->kind == PrimitiveKind::sphere) {
      const double r = simple->parameters[0];
      body_.contact_points = simple->X_BP.p;
      body_.contact_areas = {4.0 * std::numbers::pi * r * r};
      body_.contact_radius = r;
    } else if (simple != nullptr && simple->kind == PrimitiveKind::capsule) {
      const auto& [r, half_length, unused_c, unused_d, unused_e] = simple->parameters;
      const double intervals = 2.0 * std::ceil(half_length / r);
      need(intervals < k_max_capsule_points,
           fmt::format("a capsule of radius {} and half length {} needs more than {} contact points", r,
                       half_length, k_max_capsule_points));
      const int count = static_cast<int>(intervals) + 1;
      body_.contact_points.resize(3, count);
      for (int i = 0; i < count; ++i) {
        const double z = count == 1 ? 0.0 : half_length * (2.0 * i / (count - 1) - 1.0);
        body_.contact_points.col(i) = simple->X_BP * Vec3<double>(0.0, 0.0, z);
      }
      // Trapezoidal rule with a point in the middle: on its side, friction against spinning is that of an even line load.
      const double area = 4.0 * std::numbers::pi * r * (r + half_length);
      const double share = area / std::max(count - 1, 1);
      body_.contact_areas.assign(static_cast<std::size_t>(count), share);
      if (count > 1) body_.contact_areas.front() = body_.contact_areas.back() = 0.5 * share;
      body_.contact_radius = r;
    } else {
      need(has_mesh, "a mesh is needed for the contact points, or contact points");
      body_.contact_points = body_.mesh.vertices;
      body_.contact_areas = vertex_areas(body_.mesh);
      if (simple != nullptr && simple->kind == PrimitiveKind::rounded_box)
        body_.contact_radius = simple->parameters[3];
    }
    if (d_.contact_areas) body_.contact_areas = *d_.contact_areas;
    need(body_.contact_areas.size() == static_cast<std::size_t>(body_.contact_points.cols()),
         fmt::format("{} for {}", count_text(body_.contact_areas.size(), "contact area"),
                     count_text(body_.contact_points.cols(), "contact point")));
    for (const double area : body_.contact_areas) {
      need(area > 0.0 && std::isfinite(area), fmt::format("contact area {}, allowed: > 0", area));
    }
    set_area_vectors();
    if (d_.contact_radius) body_.contact_radius = *d_.contact_radius;
    need(body_.contact_radius >= 0.0 && std::isfinite(body_.contact_radius),
         fmt::format("contact radius {}, allowed: >= 0", body_.contact_radius));
    body_.contact_points_on_surface = body_.contact_radius == 0.0;
  }

  void set_area_vectors() {
    const bool are_vertices = body_.mesh.vertex_count() > 0 &&
                              body_.mesh.vertex_count() == body_.contact_points.cols() &&
                              body_.mesh.vertices == body_.contact_points;
    if (!are_vertices) return;
    body_.contact_area_vectors = vertex_area_vectors(body_.mesh);
    const std::vector<double> of_mesh = vertex_areas(body_.mesh);
    for (std::size_t i = 0; i < of_mesh.size(); ++i)  // areas may have been given
      body_.contact_area_vectors.col(static_cast<Eigen::Index>(i)) *= body_.contact_areas[i] / of_mesh[i];
    body_.flat_faces = flat_faces(body_.mesh, body_.contact_areas, body_.contact_area_vectors);
    if (body_.shape.primitives.size() == 1) return;
    std::erase_if(body_.flat_faces, [](const FlatFace& face) {  // these matter to convex bodies alone
      return !face.has_spare_points();
    });
    body_.flat_faces.shrink_to_fit();
  }

  void set_size() {
    if (const Primitive* simple = single_simple_primitive(body_.shape)) {
      body_.size = size_of(*simple);
    } else if (body_.mesh.vertex_count() > 0) {
      const Points& v = body_.mesh.vertices;
      body_.size = (v.rowwise().maxCoeff() - v.rowwise().minCoeff()).maxCoeff() + 2.0 * body_.contact_radius;
    } else {
      body_.size = largest_extent(body_.shape);
    }
    if (body_.shape.union_smoothing == 0.0)
      body_.shape.union_smoothing = default_union_smoothing(body_.shape, body_.size);
  }

  /// Of unit density.
  [[nodiscard]] MassProperties mesh_properties() const {
    try {
      return mass_properties(body_.mesh, 1.0);
    } catch (const std::invalid_argument& error) {
      need(false, error.what());
      throw;
    }
  }

  void set_inradius() {
    if (body_.contact_area_vectors.cols() == 0) {
      const Primitive* simple = single_simple_primitive(body_.shape);
      if (simple != nullptr && simple->kind == PrimitiveKind::capsule) body_.inradius = body_.contact_radius;
      return;
    }
    body_.inradius = 3.0 * mesh_properties().volume / surface_area(body_.mesh) + body_.contact_radius;
  }

  void set_mass_and_recenter() {
    // Of unit density, where it follows from the geometry.
    std::optional<MassProperties> computed;
    if (const Primitive* simple = single_simple_primitive(body_.shape)) {
      computed = transformed(simple->X_BP, mass_properties_of(*simple, 1.0));
    } else if (d_.of_unit_density) {
      computed = d_.of_unit_density;
    } else if (body_.mesh.vertex_count() > 0) {
      computed = mesh_properties();
    }
    if (d_.volume)
      need(*d_.volume > 0.0 && std::isfinite(*d_.volume),
           fmt::format("volume = {}, allowed: > 0", *d_.volume));
    body_.volume = d_.volume ? *d_.volume : computed ? computed->volume : 0.0;

    need(d_.mass_or_density.has_value() || d_.fixed, "a mass or a density is needed");
    double mass = 1.0;
    if (!d_.mass_or_density) {
      if (body_.volume > 0.0) mass = k_default_density * body_.volume;
    } else if (const auto* given = std::get_if<Mass>(&*d_.mass_or_density)) {
      mass = given->value;
    } else {
      const double density = std::get<Density>(*d_.mass_or_density).value;
      need(density > 0.0 && std::isfinite(density),
           fmt::format("density = {}, allowed: > 0 and finite", density));
      need(body_.volume > 0.0, "a density needs a mesh or a volume");
      mass = density * body_.volume;
    }
    need(mass > 0.0 && std::isfinite(mass), fmt::format("mass = {}, allowed: > 0 and finite", mass));
    body_.mass = mass;

    Vec3<double> center = Vec3<double>::Zero();
    if (d_.inertia) {
      center = *d_.center_of_mass;
      body_.inertia = *d_.inertia;
    } else if (computed) {
      center = computed->center_of_mass;
      body_.inertia = with_mass(*computed, mass).inertia;
    } else {
      need(d_.fixed, "a mesh is needed for the inertia, or center_of_mass and inertia");
    }
    require_physical(body_.mass, body_.inertia, d_.name.empty() ? "body" : d_.name);

    body_.p_BA = -center;
    for (Primitive& primitive : body_.shape.primitives) primitive.X_BP.p -= center;
    body_.mesh.vertices.colwise() -= center;
    body_.contact_points.colwise() -= center;
  }

  const BodyDescription& d_;
  Body body_;
};

Body make_single(PrimitiveKind kind, const std::array<double, 5>& parameters,
                 std::optional<MassOrDensity> density, int box_subdivisions = 4) {
  BodyDescription description;
  description.name = std::string(kind_name(kind));
  Primitive primitive;
  primitive.kind = kind;
  primitive.parameters = parameters;
  description.shape.primitives = {primitive};
  description.mass_or_density = density;
  description.box_subdivisions = box_subdivisions;
  return make_body(description);
}

}  // namespace

double default_union_smoothing(const Shape& shape, double size) {
  double smoothing = k_union_smoothing_per_size * size;
  if (shape.primitives.size() == 1) return smoothing;
  for (const Primitive& primitive : shape.primitives) {
    if (primitive.kind == PrimitiveKind::half_space) continue;
    smoothing = std::min(smoothing, k_union_smoothing_per_part * half_extents_of(primitive).minCoeff());
  }
  return smoothing;
}

bool has_closed_form(const Shape& shape) { return single_simple_primitive(shape) != nullptr; }

Body make_body(const BodyDescription& description) { return Builder(description).build(); }

Body make_body(std::string name, Shape shape, TriangleMesh mesh, MassOrDensity mass_or_density) {
  BodyDescription description;
  description.name = std::move(name);
  description.shape = std::move(shape);
  description.mesh = std::move(mesh);
  description.mass_or_density = mass_or_density;
  return make_body(description);
}

Body make_sphere(double radius, double density) {
  return make_single(PrimitiveKind::sphere, {radius}, Density{density});
}

Body make_capsule(double radius, double half_length, double density) {
  return make_single(PrimitiveKind::capsule, {radius, half_length}, Density{density});
}

Body make_box(const Vec3<double>& half_extents, double edge_radius, int subdivisions, double density) {
  return make_single(PrimitiveKind::rounded_box,
                     {half_extents.x(), half_extents.y(), half_extents.z(), edge_radius}, Density{density},
                     subdivisions);
}

Body make_half_space() { return make_single(PrimitiveKind::half_space, {}, std::nullopt); }

void set_mass(Body& body, double mass) {
  require(mass > 0.0 && std::isfinite(mass),
          fmt::format("{}: mass = {}, allowed: > 0 and finite", body.name, mass));
  body.inertia *= mass / body.mass;
  body.mass = mass;
}

void set_density(Body& body, double density) {
  require(density > 0.0 && std::isfinite(density),
          fmt::format("{}: density = {}, allowed: > 0 and finite", body.name, density));
  require(body.volume > 0.0, fmt::format("{}: a density needs a volume, and the body has none", body.name));
  set_mass(body, density * body.volume);
}

void set_selected_vertices(Body& body, int count) {
  const auto vertices = body.contact_points.cols();
  require(count >= 0 && count <= vertices,
          fmt::format("{}, allowed: 0 (all) to {}, the number of contact points of '{}'", count, vertices,
                      body.name));
  body.selected_vertices = count;
}

void set_selected_edges(Body& body, int count) {
  const int edges = body.mesh.edge_count();
  require(count == 0 || edges > 0, fmt::format("{}, but '{}' has no mesh, hence no edges", count, body.name));
  require(count >= 0 && count <= edges,
          fmt::format("{}, allowed: 0 (all) to {}, the number of edges of the mesh of '{}'", count, edges,
                      body.name));
  body.selected_edges = count;
}

bool is_unbounded(const Shape& shape) {
  return std::any_of(shape.primitives.begin(), shape.primitives.end(), [](const Primitive& p) {
    return p.kind == PrimitiveKind::half_space && p.operation == PrimitiveOperation::add;
  });
}

}  // namespace abut
