/// Simple shapes that many are drawn of at once: what arrows, points and discs are made of.
#pragma once

#include <array>
#include <vector>

#include "apps/picture/colours.h"
#include "engine/types.h"

namespace abut {

/// sphere    of radius 1 about the origin
/// cylinder  of radius 1 along z from 0 to 1
/// cone      of radius 1 at z = 0, its tip at z = 1
/// disc      of radius 1 in the plane z = 0, seen from both sides
enum class GlyphShape { sphere, cylinder, cone, disc };
inline constexpr std::size_t k_glyph_shapes = 4;

/// As the graphics card takes it: x_W = axes x + origin.
struct Glyph {
  Eigen::Matrix3f axes;
  Eigen::Vector3f origin;
  Colour colour;
};
static_assert(sizeof(Glyph) == 16 * sizeof(float));

/// Glyphs by their shape, in the order in which they were added.
struct GlyphList {
  std::array<std::vector<Glyph>, k_glyph_shapes> of_shape;

  [[nodiscard]] const std::vector<Glyph>& glyphs(GlyphShape shape) const {
    return of_shape[static_cast<std::size_t>(shape)];
  }
  void clear() {
    for (auto& glyphs : of_shape) glyphs.clear();
  }

  void add_sphere(const Vec3<double>& centre, double radius, const Colour& colour);
  /// A rod with flat ends.
  void add_rod(const Vec3<double>& from, const Vec3<double>& to, double radius, const Colour& colour);
  /// A rod that ends in a cone of 2.5 times its radius; of an arrow that is short the cone alone. None if it
  /// has no length.
  void add_arrow(const Vec3<double>& from, const Vec3<double>& to, double radius, const Colour& colour);
  /// From its tip to the middle of its base, which has a radius.
  void add_cone(const Vec3<double>& tip, const Vec3<double>& base, double radius, const Colour& colour);
  void add_disc(const Vec3<double>& centre, const Vec3<double>& normal, double radius, const Colour& colour);
};

}  // namespace abut
