#include "apps/picture/glyph_list.h"

#include <cmath>

namespace abut {
namespace {

constexpr double k_head_radius = 2.5, k_head_length = 6.0;  // of an arrow, in radii of its rod

void add(GlyphList& list, GlyphShape shape, const Mat3<double>& axes, const Vec3<double>& origin,
         const Colour& colour) {
  if (!axes.allFinite() || !origin.allFinite()) return;  // a simulation that has blown up
  list.of_shape[static_cast<std::size_t>(shape)].push_back(
      {axes.cast<float>(), origin.cast<float>(), colour});
}

/// Two directions of length `radius` across a direction, and z.
Mat3<double> axes_along(const Vec3<double>& direction, double radius, const Vec3<double>& z) {
  const Vec3<double> x = direction.unitOrthogonal();
  Mat3<double> axes;
  axes << radius * x, radius * direction.cross(x), z;
  return axes;
}

}  // namespace

void GlyphList::add_sphere(const Vec3<double>& centre, double radius, const Colour& colour) {
  add(*this, GlyphShape::sphere, radius * Mat3<double>::Identity(), centre, colour);
}

void GlyphList::add_rod(const Vec3<double>& from, const Vec3<double>& to, double radius,
                        const Colour& colour) {
  const Vec3<double> way = to - from;
  const double length = way.norm();
  if (!(length > 0.0)) return;
  add(*this, GlyphShape::cylinder, axes_along(way / length, radius, way), from, colour);
}

void GlyphList::add_arrow(const Vec3<double>& from, const Vec3<double>& to, double radius,
                          const Colour& colour) {
  const Vec3<double> way = to - from;
  const double length = way.norm();
  if (!(length > 0.0)) return;
  const Vec3<double> direction = way / length;
  const double head = std::fmin(k_head_length * radius, length);
  const double head_radius = head / k_head_length * k_head_radius;
  const Vec3<double> neck = to - head * direction;
  if (length > head) add_rod(from, neck, radius, colour);
  add(*this, GlyphShape::cone, axes_along(direction, head_radius, head * direction), neck, colour);
}

void GlyphList::add_cone(const Vec3<double>& tip, const Vec3<double>& base, double radius,
                         const Colour& colour) {
  const double length = (tip - base).norm();
  if (!(length > 0.0)) return;
  add(*this, GlyphShape::cone, axes_along((tip - base) / length, radius, tip - base), base, colour);
}

void GlyphList::add_disc(const Vec3<double>& centre, const Vec3<double>& normal, double radius,
                         const Colour& colour) {
  const double length = normal.norm();
  if (!(length > 0.0)) return;
  const Vec3<double> n = normal / length;
  add(*this, GlyphShape::disc, axes_along(n, radius, radius * n), centre, colour);
}

}  // namespace abut
