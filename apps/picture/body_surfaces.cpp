#include "apps/picture/body_surfaces.h"

#include <algorithm>
#include <cmath>

#include "collision/sdf/shape_sdf.h"
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

/// Cubes along the longest side: three across the thinnest added primitive, within limits of time and memory.
int resolution_for(const Shape& shape, const Eigen::AlignedBox3d& bounds) {
  constexpr double k_least = 64.0, k_most = 256.0, k_across = 3.0;
  double thinnest = bounds.sizes().maxCoeff();
  for (Primitive primitive : shape.primitives) {
    if (primitive.operation != PrimitiveOperation::add) continue;
    primitive.X_BP = {};  // its own box, however it is turned
    Shape alone = shape;
    alone.primitives = {primitive};
    thinnest = std::min(thinnest, ShapeSdf(alone).bounds().sizes().minCoeff());
  }
  return static_cast<int>(
      std::clamp(std::ceil(k_across * bounds.sizes().maxCoeff() / thinnest), k_least, k_most));
}

SharedSurface box_surface(const Eigen::AlignedBox3d& box) {
  TriangleMesh mesh = box_mesh(0.5 * box.sizes(), 1);
  mesh.vertices.colwise() += box.center();
  return mesh_surface(mesh);
}

/// The surface phi = level of what is bounded of a shape. The solid itself is never left out: where it is
/// thinner than the cubes that look for it, its box stands for it.
SharedSurface sdf_surface(const Shape& shape, double level, const std::function<void()>& pulse) {
  const Shape part = bounded_part(shape);
  if (adds_nothing(part)) return nullptr;
  const ShapeSdf sdf(part);
  const SharedSurface surface = iso_surface(sdf, level, resolution_for(part, sdf.bounds()), pulse);
  return surface || level != 0.0 ? surface : box_surface(sdf.bounds());
}

/// The visual mesh of a body that has one, read if it is not there yet.
SharedSurface visual_surface_of(const Body& body, VisualSurfaces& known) {
  const std::filesystem::path& file = body.appearance.visual_mesh;
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

SharedSurface BodySurfaces::kept(const Body& of, Kind kind, int body, int primitive, double level) {
  if (kind == Kind::sdf && level != level_) {
    std::erase_if(surfaces_, [](const auto& entry) { return std::get<0>(entry.first) == Kind::sdf; });
    level_ = level;
  }
  const auto [place, is_new] = surfaces_.try_emplace({kind, body, primitive});
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
      made = sdf_surface(of.shape, level, pulse_);
      break;
    case Kind::primitive:
      made = primitive_surface(of, primitive);
      break;
    case Kind::discrepancy:
      made = discrepancy_surface(of.mesh, ShapeSdf(of.shape)).surface;
      break;
  }
  return made;
}

SharedSurface BodySurfaces::surface_of(const Model& model, int body, const BodyDisplay& display) {
  const Body& of = model.bodies[static_cast<std::size_t>(body)];
  switch (display.surface) {
    case BodySurface::visual:
      if (!of.appearance.visual_mesh.empty() && !display.discrepancy) return visual_surface_of(of, visuals_);
      [[fallthrough]];
    case BodySurface::mesh:
      if (of.mesh.triangle_count() == 0) return kept(of, Kind::sdf, body, -1, 0.0);
      if (display.discrepancy) return kept(of, Kind::discrepancy, body, -1, 0.0);
      return kept(of, rounded_box(of) && !display.wireframe ? Kind::rounded_box : Kind::mesh, body, -1, 0.0);
    case BodySurface::sdf:
      return kept(of, Kind::sdf, body, -1, display.iso_level);
    case BodySurface::none:
      break;
  }
  return nullptr;
}

void BodySurfaces::add_primitives(const Body& of, int body, DrawnSurface drawn, const BodyDisplay& display,
                                  Picture& picture) {
  for (int i = 0; i < static_cast<int>(of.shape.primitives.size()); ++i) {
    if (display.primitive >= 0 && display.primitive != i) continue;
    drawn.surface = kept(of, Kind::primitive, body, i, 0.0);
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
    add_primitives(of, body, drawn, display, picture);
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
