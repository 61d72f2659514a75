#include "apps/picture/body_surfaces.h"

#include <algorithm>
#include <cmath>

#include "collision/sdf/shape_sdf.h"
#include "engine/geometry_comparison.h"
#include "engine/mesh_io.h"
#include "engine/mesh_shapes.h"

namespace abut {
namespace {

bool is_half_space(const Primitive& primitive) {
  return primitive.kind == PrimitiveKind::half_space && primitive.operation == PrimitiveOperation::add;
}

/// The one primitive of a box with an edge radius, else null.
const Primitive* rounded_box(const Body& body) {
  if (body.shape.primitives.size() != 1) return nullptr;
  const Primitive& only = body.shape.primitives[0];
  return only.kind == PrimitiveKind::rounded_box && only.parameters[3] > 0.0 ? &only : nullptr;
}

bool adds_nothing(const Shape& shape) {
  return std::none_of(shape.primitives.begin(), shape.primitives.end(),
                      [](const Primitive& p) { return p.operation == PrimitiveOperation::add; });
}

/// Whether a surface that rounds edges off by a hundredth of the size would look wrong. Unions of
/// superquadrics have seams anyway, and a mesh that is coarser than that.
bool has_sharp_edges(const Shape& shape) {
  constexpr double k_round = 0.02;           // edge radius, of the least half extent
  constexpr double k_sharp_exponent = 0.25;  // of a superquadric
  return std::any_of(shape.primitives.begin(), shape.primitives.end(), [&](const Primitive& primitive) {
    const auto& parameters = primitive.parameters;
    switch (primitive.kind) {
      case PrimitiveKind::convex_polyhedron:
      case PrimitiveKind::extruded_superquadric:
      case PrimitiveKind::cone:
        return true;
      case PrimitiveKind::rounded_box:
        return parameters[3] < k_round * std::min({parameters[0], parameters[1], parameters[2]});
      case PrimitiveKind::superquadric:
        return shape.primitives.size() == 1 && std::min(parameters[3], parameters[4]) < k_sharp_exponent;
      default:
        return false;
    }
  });
}

/// Cubes along the longest side: three across the thinnest added primitive, within limits of time and memory,
/// which are narrower where many bodies share them.
int resolution_for(const Shape& shape, const Eigen::AlignedBox3d& bounds, int bodies) {
  constexpr int k_many = 100;
  constexpr double k_across = 3.0;
  const double least = bodies > k_many ? 16.0 : 56.0, most = 1.5 * least;
  double thinnest = bounds.sizes().maxCoeff();
  for (Primitive primitive : shape.primitives) {
    if (primitive.operation != PrimitiveOperation::add) continue;
    primitive.X_BP = {};  // its own box, however it is turned
    Shape alone = shape;
    alone.primitives = {primitive};
    thinnest = std::min(thinnest, ShapeSdf(alone).bounds().sizes().minCoeff());
  }
  return static_cast<int>(
      std::clamp(std::ceil(k_across * bounds.sizes().maxCoeff() / thinnest), least, most));
}

SharedSurface box_surface(const Eigen::AlignedBox3d& box) {
  TriangleMesh mesh = box_mesh(0.5 * box.sizes(), 1);
  mesh.vertices.colwise() += box.center();
  return mesh_surface(mesh);
}

/// The surface phi = level of what is bounded of a shape. The solid itself is never left out: where it is
/// thinner than the cubes that look for it, its box stands for it.
SharedSurface sdf_surface(const Shape& shape, double level, int bodies, const std::function<void()>& pulse) {
  const Shape part = bounded_part(shape);
  if (adds_nothing(part)) return nullptr;
  const ShapeSdf sdf(part);
  const SharedSurface surface = iso_surface(sdf, level, resolution_for(part, sdf.bounds(), bodies), pulse);
  return surface || level != 0.0 ? surface : box_surface(sdf.bounds());
}

/// The visual mesh of a body that has one, read if it is not there yet.
SharedSurface visual_surface_of(const Body& body, VisualSurfaces& known) {
  const std::string& file = body.appearance.visual_mesh;
  const Vec3<double>& p = body.p_BA;
  const VisualSurfaces::key_type key{file, p.x(), p.y(), p.z()};
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, visual_surface(read_coloured_mesh(file), p)).first->second;
}

}  // namespace

Colour colour_of(const Body& body, int index) {
  if (!body.appearance.colour) return body_colour(index);
  const auto& [r, g, b] = *body.appearance.colour;
  return {r, g, b, 1.0f};
}

VisualSurfaces visual_surfaces(const Model& model) {
  VisualSurfaces visuals;
  for (const Body& body : model.bodies) {
    if (!body.appearance.visual_mesh.empty()) (void)visual_surface_of(body, visuals);
  }
  return visuals;
}

SharedSurface BodySurfaces::kept(const Model& model, Kind kind, int body, int primitive, double level) {
  if (kind == Kind::sdf && level != level_) {
    std::erase_if(surfaces_, [](const auto& entry) { return std::get<0>(entry.first) == Kind::sdf; });
    level_ = level;
  }
  if (first_of_same_.empty()) first_of_same_ = first_of_same_geometry(model.bodies);
  const Body& of = model.bodies[static_cast<std::size_t>(body)];
  const auto [place, is_new] =
      surfaces_.try_emplace({kind, first_of_same_[static_cast<std::size_t>(body)], primitive});
  if (!is_new) return place->second;
  SharedSurface& made = place->second;
  switch (kind) {
    case Kind::mesh:
      made = mesh_surface(of.mesh);
      break;
    case Kind::rounded_box:
      made = rounded_box_surface(*rounded_box(of));
      break;
    case Kind::sdf:
      made = sdf_surface(of.shape, level, model.body_count(), pulse_);
      break;
    case Kind::primitive:
      made = primitive_surface(of, primitive);
      break;
    case Kind::discrepancy:
      made = discrepancy_surface(of.mesh, ShapeSdf(of.shape)).surface;
      break;
    case Kind::discrepancy_of_triangles:
      made = discrepancy_surface(of.mesh, ShapeSdf(of.shape), 1).surface;
      break;
  }
  return made;
}

SharedSurface BodySurfaces::surface_of(const Model& model, int body, const BodyDisplay& display) {
  const Body& of = model.bodies[static_cast<std::size_t>(body)];
  switch (display.surface) {
    case BodySurface::visual:
      if (!of.appearance.visual_mesh.empty() && !display.discrepancy) return visual_surface_of(of, visuals_);
      if (!display.discrepancy && !display.wireframe && !has_sharp_edges(of.shape) && !rounded_box(of)) {
        if (SharedSurface smooth = kept(model, Kind::sdf, body, -1, 0.0)) return smooth;
      }
      [[fallthrough]];
    case BodySurface::mesh:
      if (of.mesh.triangle_count() == 0) return kept(model, Kind::sdf, body, -1, 0.0);
      if (display.discrepancy) {  // a wireframe shows the edges of what is drawn
        const Kind kind = display.wireframe ? Kind::discrepancy_of_triangles : Kind::discrepancy;
        return kept(model, kind, body, -1, 0.0);
      }
      return kept(model, rounded_box(of) && !display.wireframe ? Kind::rounded_box : Kind::mesh, body, -1,
                  0.0);
    case BodySurface::sdf:
      return kept(model, Kind::sdf, body, -1, display.iso_level);
    case BodySurface::none:
      break;
  }
  return nullptr;
}

void BodySurfaces::add_primitives(const Model& model, int body, DrawnSurface drawn,
                                  const BodyDisplay& display, Picture& picture) {
  const Body& of = model.bodies[static_cast<std::size_t>(body)];
  for (int i = 0; i < static_cast<int>(of.shape.primitives.size()); ++i) {
    if (display.primitive >= 0 && display.primitive != i) continue;
    drawn.surface = kept(model, Kind::primitive, body, i, 0.0);
    drawn.colour = body_colour(i);
    // What is cut away is seen through.
    drawn.colour.w() =
        of.shape.primitives[static_cast<std::size_t>(i)].operation == PrimitiveOperation::add ? 1.0f : 0.35f;
    if (drawn.surface) picture.surfaces.push_back(drawn);
  }
}

void BodySurfaces::add_body(const Model& model, int body, const Pose<double>& X_WB,
                            const BodyDisplay& display, bool highlighted, Picture& picture) {
  const Body& of = model.bodies[static_cast<std::size_t>(body)];
  if (display.floor) {
    for (const Primitive& primitive : of.shape.primitives) {
      if (!is_half_space(primitive)) continue;
      picture.floors.push_back({X_WB * primitive.X_BP});
      if (of.appearance.colour) picture.floors.back().colour = colour_of(of, body);
    }
  }
  DrawnSurface drawn;
  drawn.X_WB = X_WB;
  drawn.colour = colour_of(of, body);
  drawn.own_colours = display.discrepancy || !of.appearance.paints_visual_mesh;
  drawn.highlighted = highlighted;
  drawn.wireframe = display.wireframe;
  if (display.primitive_body == body) {
    add_primitives(model, body, drawn, display, picture);
    if (display.primitive < 0) return;
    drawn.colour.w() = 0.25f;  // the rest of the body around the one that is shown
  } else if (display.translucent) {
    drawn.colour.w() = 0.4f;
  }
  drawn.surface = surface_of(model, body, display);
  if (drawn.surface) picture.surfaces.push_back(drawn);
}

void BodySurfaces::add_bodies(const Model& model, std::span<const Pose<double>> X_WB,
                              const BodyDisplay& display, int highlighted, Picture& picture) {
  for (int body = 0; body < model.body_count(); ++body) {
    add_body(model, body, X_WB[static_cast<std::size_t>(body)], display, highlighted == body, picture);
  }
}

}  // namespace abut
