/// Glyphs of contacts: points, normals, forces, friction cones, pressures, and what they mean.
#pragma once

#include <string>
#include <vector>

#include "apps/picture/picture.h"
#include "apps/viewer/force_sums.h"
#include "apps/viewer/legend.h"

namespace abut::viewer {

/// Sizes of glyphs by the picture, so that zooming does not change them. A point is that of the user
/// interface.
struct GlyphScale {
  OrbitCamera camera;
  int height = 1;  ///< of the picture [points]
  /// Size of a point where p_W is [m].
  [[nodiscard]] double point_at(const Vec3<double>& p_W) const;
};

inline constexpr double k_normal_length = 55.0;    ///< at indicator 1 [points]
inline constexpr double k_largest_length = 110.0;  ///< of the largest force, and gradient of a kind [points]

inline constexpr double k_legend_length = 55.0;  ///< of an arrow in a legend at most, at size 1 [points]

inline constexpr double k_point_radius = 5.0, k_rod_radius = 1.4;  ///< [points]

/// How many contacts are drawn with what.
struct ContactGlyphCounts {
  int points = 0, normals = 0, forces = 0, friction_discs = 0, friction_cones = 0, pressures = 0,
      witness_pairs = 0, candidates = 0;
  double points_per_newton = 0.0;  ///< of arrows of forces; 0 without forces
};

/// A number at the tip of an arrow.
struct ArrowLabel {
  Vec3<double> from_W = Vec3<double>::Zero(), tip_W = Vec3<double>::Zero();  ///< of the arrow [m]
  std::string text;                                                          ///< empty: none
  double priority = 0.0;                                                     ///< where there is little room
  Colour colour = Colour::Ones();                                            ///< of the arrow
};

/// What stands beside and below a picture.
struct PictureNotes {
  Legend legend;
  std::vector<ArrowLabel> arrows;
};

/// An arrow on a rim that stands out on bodies of its own colour.
void add_rimmed_arrow(const Vec3<double>& from, const Vec3<double>& to, double radius, const Colour& colour,
                      const GlyphScale& scale, GlyphList& glyphs);

/// Adds the glyphs of contacts, seen through bodies. The largest force that is shown is k_largest_length long
/// at the display's sizes 1, others in proportion.
ContactGlyphCounts add_contact_glyphs(const Frame& frame, const ContactSet& set,
                                      const ContactDisplay& display, const Selection& selection,
                                      const GlyphScale& scale, Picture& picture, PictureNotes& notes);

}  // namespace abut::viewer
