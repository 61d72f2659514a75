#include "engine/primitive_io.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "engine/count_text.h"
#include "engine/mesh_io.h"
#include "engine/padded_polygon.h"
#include "engine/parameters.h"
#include "engine/primitive_builder.h"
#include "engine/primitive_check.h"
#include "engine/toml_table.h"
#include "engine/toml_text.h"

namespace abut {
namespace {

constexpr double k_cylinder_exponent = 0.05;  // of the superquadric that a cylinder is: eps_1

const TomlTable::Words<PrimitiveOperation> k_operations{{"add", PrimitiveOperation::add},
                                                        {"subtract", PrimitiveOperation::subtract}};

/// An array of vectors with a direction, `count` of them if that is not 0.
Points read_normals(const TomlTable& table, Eigen::Index count) {
  Points normals = table.required_points("normals");
  if (count != 0 && normals.cols() != count) {
    table.fail("normals", fmt::format("{}, allowed: one for each of the {}",
                                      count_text(normals.cols(), "normal"), count_text(count, "point")));
  }
  for (Eigen::Index i = 0; i < normals.cols(); ++i) {
    const double length = normals.col(i).norm();
    if (!(std::abs(length - 1.0) <= 1e-3))
      table.fail("normals", fmt::format("normal {} has length {}, allowed: 1", i, length));
  }
  return normals;
}

/// What `make` makes, its complaints being about `key`.
template <typename Make>
Primitive made(const TomlTable& table, std::string_view key, const Make& make) {
  try {
    return make();
  } catch (const std::invalid_argument& error) {
    table.fail(key, error.what());
  }
}

/// Given by planes, or as the hull of a mesh.
Primitive read_polyhedron(const TomlTable& table) {
  constexpr PrimitiveKind k_kind = PrimitiveKind::convex_polyhedron;
  const std::optional<double> smoothing =
      table.optional_number("smoothing", shape_range(k_kind, "smoothing"));
  table.require_one_of({"normals", "mesh"}, true);
  if (table.has("mesh")) {
    const double merge_angle = table.number("merge_angle", 1e-4, between(0.0, 0.5));
    const Points points = read_mesh(table.required_file("mesh")).vertices;
    return made(table, "mesh", [&] { return make_convex_hull_polyhedron(points, smoothing, merge_angle); });
  }
  const Points normals = read_normals(table, 0);
  const std::vector<double> offsets =
      table.required_numbers("offsets", static_cast<int>(normals.cols()), shape_range(k_kind, "offsets"));
  return made(table, "normals", [&] { return make_convex_polyhedron(normals, offsets, smoothing); });
}

/// Given by points and normals, or as those of a mesh.
Primitive read_point_cloud(const TomlTable& table) {
  const std::optional<double> width =
      table.optional_number("width", shape_range(PrimitiveKind::oriented_point_cloud, "width"));
  table.require_one_of({"points", "mesh"}, true);
  if (table.has("mesh")) {
    const TriangleMesh mesh = read_mesh(table.required_file("mesh"));
    return made(table, "mesh", [&] { return make_oriented_point_cloud(mesh, width); });
  }
  const Points points = table.required_points("points");
  if (points.cols() < 4) table.fail("points", count_text(points.cols(), "point") + ", allowed: at least 4");
  const Points normals = read_normals(table, points.cols());
  return made(table, "points", [&] { return make_oriented_point_cloud(points, normals, width); });
}

Primitive read_extruded_superquadric(const TomlTable& table) {
  const auto range = [](std::string_view key) {
    return shape_range(PrimitiveKind::extruded_superquadric, key);
  };
  const auto semi_axes = table.required_numbers("semi_axes", 3, range("semi_axes"));
  const auto exponents = table.required_numbers("exponents", 2, range("exponents"));
  const double power = table.number("profile_power", k_default_profile_power, range("profile_power"));
  std::vector<double> angles, offsets;
  if (table.has("angles")) angles = table.required_numbers("angles", range("angles"));
  if (table.has("offsets") || !angles.empty())
    offsets = table.required_numbers("offsets", static_cast<int>(angles.size()), range("offsets"));
  return made(table, "", [&] {
    return make_extruded_superquadric({semi_axes[0], semi_axes[1], semi_axes[2]}, exponents[0], exponents[1],
                                      angles, offsets, power);
  });
}

/// A primitive that is read with a pose of its own, which is that in the frame of the file.
template <Primitive (*read)(const TomlTable&)>
void read_placed(const TomlTable& table, Primitive& primitive) {
  const Primitive shape = read(table);
  primitive.parameters = shape.parameters;
  primitive.values = shape.values;
  primitive.directions = shape.directions;
  primitive.X_BP.p = primitive.X_BP * shape.X_BP.p;
}

/// Those of a kind that has as many on every body.
void read_shape_parameters(const TomlTable& table, Primitive& primitive) {
  double* next = primitive.parameters.data();
  for (const ShapeKey& key : shape_keys(primitive.kind)) {
    if (key.numbers == ShapeKey::Numbers::single) {
      const bool may_be_left_out = key.key == "edge_radius";
      *next++ =
          may_be_left_out ? table.number(key.key, 0.0, key.range) : table.required_number(key.key, key.range);
      continue;
    }
    const int count = key.numbers == ShapeKey::Numbers::vector ? 3 : 2;
    const std::vector<double> numbers = table.required_numbers(key.key, count, key.range);
    next = std::copy(numbers.begin(), numbers.end(), next);
  }
}

void read_rounded_box(const TomlTable& table, Primitive& primitive) {
  read_shape_parameters(table, primitive);
  const auto& p = primitive.parameters;
  const double smallest = std::min({p[0], p[1], p[2]});
  if (p[3] >= smallest)
    table.fail("edge_radius", fmt::format("{}, allowed: < {}, the smallest half extent", p[3], smallest));
}

void read_box(const TomlTable& table, Primitive& primitive) {
  const std::vector<double> half_extents =
      table.required_numbers("half_extents", 3, shape_range(primitive.kind, "half_extents"));
  primitive.parameters = {half_extents[0], half_extents[1], half_extents[2]};
}

void read_ellipsoid(const TomlTable& table, Primitive& primitive) {
  const std::vector<double> axes =
      table.required_numbers("semi_axes", 3, shape_range(primitive.kind, "semi_axes"));
  primitive.parameters = {axes[0], axes[1], axes[2], 1.0, 1.0};
}

void read_cylinder(const TomlTable& table, Primitive& primitive) {
  const double radius = table.required_number("radius", positive()),
               half_length = table.required_number("half_length", positive());
  primitive.parameters = {radius, radius, half_length, k_cylinder_exponent, 1.0};
}

void read_cone(const TomlTable& table, Primitive& primitive) {
  const double radius = table.required_number("radius", shape_range(primitive.kind, "radius")),
               top_radius = table.number("top_radius", 0.0, shape_range(primitive.kind, "top_radius")),
               half_length = table.required_number("half_length", shape_range(primitive.kind, "half_length"));
  const double larger = std::max(radius, top_radius), size = 2.0 * std::max(larger, half_length),
               most = k_most_cone_smoothing * std::min(larger, half_length);
  if (larger == 0.0) table.fail("radius", "0, allowed: > 0 unless top_radius is");
  const double smoothing =
      table.number("smoothing", std::min(k_edge_smoothing_per_size * size, k_edge_smoothing_per_limit * most),
                   shape_range(primitive.kind, "smoothing"));
  if (smoothing > most) {
    table.fail("smoothing",
               fmt::format("{}, allowed: <= {}, a tenth of the smaller of half_length and larger radius",
                           smoothing, most));
  }
  primitive.parameters = {radius, top_radius, half_length, smoothing};
}

void read_torus(const TomlTable& table, Primitive& primitive) {
  read_shape_parameters(table, primitive);
  const auto& p = primitive.parameters;
  if (p[1] >= p[0]) table.fail("tube_radius", fmt::format("{}, allowed: < {}, the radius", p[1], p[0]));
}

void read_padded_polygon(const TomlTable& table, Primitive& primitive) {
  primitive.parameters[0] = table.required_number("radius", shape_range(primitive.kind, "radius"));
  for (const NamedNumbers& corner : table.required_rows("corners", 2, shape_range(primitive.kind, "corners")))
    primitive.values.insert(primitive.values.end(), corner.numbers.begin(), corner.numbers.end());
  try {
    require_wide_polygon(polygon_corners(primitive));
  } catch (const std::invalid_argument& error) {
    table.fail("corners", error.what());
  }
}

/// A word for `kind`, and what reads the keys that come with it.
struct PrimitiveWord {
  PrimitiveKind kind;
  void (*read)(const TomlTable&, Primitive&);
};

const TomlTable::Words<PrimitiveWord> k_primitive_words{
    {"sphere", {PrimitiveKind::sphere, read_shape_parameters}},
    {"capsule", {PrimitiveKind::capsule, read_shape_parameters}},
    {"box", {PrimitiveKind::rounded_box, read_box}},
    {"rounded_box", {PrimitiveKind::rounded_box, read_rounded_box}},
    {"cylinder", {PrimitiveKind::superquadric, read_cylinder}},
    {"ellipsoid", {PrimitiveKind::superquadric, read_ellipsoid}},
    {"cone", {PrimitiveKind::cone, read_cone}},
    {"torus", {PrimitiveKind::torus, read_torus}},
    {"padded_polygon", {PrimitiveKind::padded_polygon, read_padded_polygon}},
    {"superquadric", {PrimitiveKind::superquadric, read_shape_parameters}},
    {"extruded_superquadric",
     {PrimitiveKind::extruded_superquadric, read_placed<read_extruded_superquadric>}},
    {"convex_polyhedron", {PrimitiveKind::convex_polyhedron, read_placed<read_polyhedron>}},
    {"oriented_point_cloud", {PrimitiveKind::oriented_point_cloud, read_placed<read_point_cloud>}},
    {"half_space", {PrimitiveKind::half_space, read_shape_parameters}}};

std::string corners_text(const std::vector<double>& values) {
  std::string text;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2)
    text += (i > 0 ? ", " : "") + toml_array(std::array<double, 2>{values[i], values[i + 1]});
  return "[" + text + "]";
}

/// A cut's angle and offset stand next to each other in `values`; `first` is 1 or 2.
std::vector<double> every_second(const std::vector<double>& values, std::size_t first) {
  std::vector<double> result;
  for (std::size_t i = first; i < values.size(); i += 2) result.push_back(values[i]);
  return result;
}

}  // namespace

Primitive read_primitive(const TomlTable& table) {
  const PrimitiveWord word = table.required_choice("kind", k_primitive_words);
  Primitive primitive;
  primitive.kind = word.kind;
  primitive.operation = table.choice("operation", PrimitiveOperation::add, k_operations);
  primitive.X_BP.p = table.vector3("position", Vec3<double>::Zero());
  primitive.X_BP.q = table.quaternion("orientation");
  word.read(table, primitive);
  table.finish();
  return primitive;
}

std::string primitive_text(const Primitive& primitive) {
  const auto& p = primitive.parameters;
  std::string text = fmt::format("\n[[primitive]]\nkind = \"{}\"\n", kind_name(primitive.kind));
  if (primitive.operation != PrimitiveOperation::add) text += "operation = \"subtract\"\n";
  if (primitive.X_BP.p != Vec3<double>::Zero())
    text += fmt::format("position = {}\n", toml_vector(primitive.X_BP.p));
  const Quat<double>& q = primitive.X_BP.q;
  if (q.coeffs() != Quat<double>::Identity().coeffs()) {
    text += fmt::format("orientation = {}\n", toml_array(std::array<double, 4>{q.w(), q.x(), q.y(), q.z()}));
  }
  switch (primitive.kind) {
    case PrimitiveKind::superquadric:
      text += fmt::format("semi_axes = {}\nexponents = {}\n", toml_vector({p[0], p[1], p[2]}),
                          toml_array(std::array<double, 2>{p[3], p[4]}));
      break;
    case PrimitiveKind::half_space:
      break;
    case PrimitiveKind::sphere:
      text += fmt::format("radius = {}\n", toml_number(p[0]));
      break;
    case PrimitiveKind::capsule:
      text += fmt::format("radius = {}\nhalf_length = {}\n", toml_number(p[0]), toml_number(p[1]));
      break;
    case PrimitiveKind::rounded_box:
      text += fmt::format("half_extents = {}\nedge_radius = {}\n", toml_vector({p[0], p[1], p[2]}),
                          toml_number(p[3]));
      break;
    case PrimitiveKind::convex_polyhedron:
      text += fmt::format("smoothing = {}\nnormals = {}\noffsets = {}\n", toml_number(p[0]),
                          toml_vectors(primitive.directions), toml_array(primitive.values));
      break;
    case PrimitiveKind::oriented_point_cloud:
      text += fmt::format("width = {}\npoints = {}\nnormals = {}\n", toml_number(p[0]),
                          toml_vectors(Eigen::Map<const Eigen::Matrix3Xd>(primitive.values.data(), 3,
                                                                          primitive.directions.cols())),
                          toml_vectors(primitive.directions));
      break;
    case PrimitiveKind::cone:
      text += fmt::format("radius = {}\ntop_radius = {}\nhalf_length = {}\nsmoothing = {}\n",
                          toml_number(p[0]), toml_number(p[1]), toml_number(p[2]), toml_number(p[3]));
      break;
    case PrimitiveKind::torus:
      text += fmt::format("radius = {}\ntube_radius = {}\n", toml_number(p[0]), toml_number(p[1]));
      break;
    case PrimitiveKind::padded_polygon:
      text += fmt::format("radius = {}\ncorners = {}\n", toml_number(p[0]), corners_text(primitive.values));
      break;
    case PrimitiveKind::extruded_superquadric:
      text += fmt::format("semi_axes = {}\nexponents = {}\nprofile_power = {}\nangles = {}\noffsets = {}\n",
                          toml_vector({p[0], p[1], p[2]}), toml_array(std::array<double, 2>{p[3], p[4]}),
                          toml_number(primitive.values[0]), toml_array(every_second(primitive.values, 1)),
                          toml_array(every_second(primitive.values, 2)));
      break;
  }
  return text;
}

}  // namespace abut
