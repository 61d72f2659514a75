/// A lens: a second picture of where two bodies touch, enlarged.
#pragma once

#include <optional>
#include <vector>

#include "apps/viewer/contact_glyphs.h"
#include "apps/viewer/layout.h"

namespace abut::viewer {

struct Lens {
  int body_A = -1, body_B = -1;
  OrbitCamera camera;                 ///< parallel rays
  std::vector<ContactView> contacts;  ///< of the pair, that are shown
  std::vector<ContactForce> other_forces;
  double radius = 0;  ///< of what it shows [m], half of its height
};

/// On the pair of the contact that was pinned last, else on the pair that is selected, else on the pair of
/// the selected body with the largest force (of contacts without forces: activity), else on that of all
/// bodies. None where nothing touches. It looks as `like` does, at all contacts of the pair, or at the pinned
/// one, at least three times as large as they are there and `zoom` times larger than that.
///
/// @param scale  of the whole scene's picture
/// @param points  height of the lens
[[nodiscard]] std::optional<Lens> lens_on(const Frame& frame, const ContactSet& set,
                                          const ContactDisplay& display, const Selection& selection,
                                          const GlyphScale& scale, double points, double zoom);

/// How much larger a length appears in the lens than it does where the lens is on.
[[nodiscard]] double magnification(const Lens& lens, const GlyphScale& scale, double points);

/// A square in the upper right corner of a picture.
[[nodiscard]] Rectangle lens_area(const Rectangle& scene, float text_scale);

}  // namespace abut::viewer
