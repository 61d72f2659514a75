#include "apps/viewer/pressure_paint.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "apps/picture/perceptual_colour.h"
#include "apps/viewer/contact_description.h"
#include "apps/viewer/panels/widgets.h"

namespace abut::viewer {
namespace {

struct PaintedBody {
  int body;
  SurfaceDensity pressure;
};

/// Calls use(force, area) for all contacts that are shown and press.
template <typename F>
void for_each_pressing(const ContactSet& set, const ContactDisplay& display, F use) {
  const auto presses = [](const ContactForce& force) { return force.normal_force() > k_least_force; };
  for (const ContactView& view : set.contacts) {
    if (view.has_force && is_shown(view, display) && presses(view.force))
      use(view.force, std::max(0.0, view.contact.area));
  }
  for (const ContactForce& force : set.other_forces) {
    if (display.shows(force.feature.kind) && presses(force)) use(force, 0.0);
  }
}

SharedSurface painted_surface(SurfaceDensity& pressure, double top) {
  constexpr float k_opacity = 0.92f;
  constexpr double k_fades_from = 0.05;  // of the top, so that the paint has no hard border
  Surface& patch = pressure.patch;
  for (const double density : pressure.density) {
    Colour colour = heat_colour(density / top);
    colour.w() = k_opacity * static_cast<float>(std::min(1.0, density / (k_fades_from * top)));
    patch.colours.push_back(colour);
  }
  patch.two_sided = true;
  return std::make_shared<const Surface>(std::move(patch));
}

/// Adds the part of a plane z = 0 of P that all amounts can reach, P in the frame of the amounts.
void add_plane(const Pose<double>& X_BP, const std::vector<SpreadAmount>& amounts, Surface& surface) {
  Eigen::AlignedBox2d reached;
  for (const SpreadAmount& amount : amounts) {
    const Vec2<double> place = inverse_point(X_BP, amount.place).head<2>();
    const Vec2<double> radius = Vec2<double>::Constant(amount.radius);
    reached.extend(place - radius).extend(Vec2<double>(place + radius));
  }
  if (reached.isEmpty()) return;
  const auto first = static_cast<std::uint32_t>(surface.positions.size());
  for (const auto corner : {Eigen::AlignedBox2d::BottomLeft, Eigen::AlignedBox2d::BottomRight,
                            Eigen::AlignedBox2d::TopLeft, Eigen::AlignedBox2d::TopRight}) {
    const Vec2<double> p = reached.corner(corner);
    surface.positions.push_back((X_BP * Vec3<double>(p.x(), p.y(), 0.0)).cast<float>());
    surface.normals.push_back((X_BP.q * Vec3<double>::UnitZ()).cast<float>());
  }
  for (const std::uint32_t i : {0U, 1U, 3U, 0U, 3U, 2U}) surface.triangles.push_back(first + i);
}

}  // namespace

SharedSurface pressed_surface(const Body& body, SharedSurface drawn,
                              const std::vector<SpreadAmount>& amounts) {
  Surface with_planes;
  if (drawn) with_planes = *drawn;
  const std::size_t before = with_planes.triangles.size();
  for (const Primitive& primitive : body.shape.primitives) {
    if (primitive.kind == PrimitiveKind::half_space && primitive.operation == PrimitiveOperation::add)
      add_plane(primitive.X_BP, amounts, with_planes);
  }
  if (with_planes.triangles.size() == before) return drawn;
  return std::make_shared<const Surface>(std::move(with_planes));
}

std::vector<SpreadAmount> spread_forces(const Frame& frame, const ContactSet& set,
                                        const ContactDisplay& display, int body) {
  constexpr double k_more = 2.5, k_least = 0.03;  // of the area, of the smaller body's size
  const Pose<double>& X_WB = frame.state.X_WB[static_cast<std::size_t>(body)];
  const auto size_of = [&](int b) { return frame.model->model().bodies[static_cast<std::size_t>(b)].size; };
  std::vector<SpreadAmount> amounts;
  for_each_pressing(set, display, [&](const ContactForce& force, double area) {
    const ContactFeature& feature = force.feature;
    if (feature.body_A != body && feature.body_B != body) return;
    const double size = std::min(size_of(feature.body_A), size_of(feature.body_B));
    SpreadAmount amount;
    amount.place = inverse_point(X_WB, force.point_W);
    amount.outwards = (feature.body_A == body ? 1.0 : -1.0) * (X_WB.q.conjugate() * force.normal_AB_W);
    amount.amount = force.normal_force();
    amount.radius = std::max(std::sqrt(k_more * area / std::numbers::pi), k_least * size);
    if (amount.place.allFinite() && std::isfinite(amount.radius)) amounts.push_back(amount);
  });
  return amounts;
}

int add_pressures(const Frame& frame, const ContactSet& set, const DisplayOptions& display,
                  BodySurfaces& surfaces, Picture& picture, PictureNotes& notes) {
  const Model& model = frame.model->model();
  std::vector<PaintedBody> painted;
  double most = 0.0;
  for (int body = 0; body < model.body_count(); ++body) {
    const std::vector<SpreadAmount> amounts = spread_forces(frame, set, display.contacts, body);
    if (amounts.empty()) continue;
    SharedSurface surface = surfaces.surface_of(model, body, display);
    if (display.floor)
      surface = pressed_surface(model.bodies[static_cast<std::size_t>(body)], std::move(surface), amounts);
    if (!surface) continue;
    painted.push_back({body, spread_over(*surface, amounts)});
    for (const double density : painted.back().pressure.density) most = std::max(most, density);
  }
  if (!(most > 0.0)) return 0;
  const double top = round_up(most);
  for (PaintedBody& one : painted) {
    DrawnSurface drawn;
    drawn.X_WB = frame.state.X_WB[static_cast<std::size_t>(one.body)];
    drawn.surface = painted_surface(one.pressure, top);
    picture.see_through_surfaces.push_back(std::move(drawn));
  }
  notes.legend.add(
      {LegendMark::scale, {}, "pressure on surfaces", 0.0, &heat_colour, "0", with_prefix(top, "Pa")});
  int contacts = 0;
  for_each_pressing(set, display.contacts, [&](const ContactForce&, double) { ++contacts; });
  return contacts;
}

}  // namespace abut::viewer
