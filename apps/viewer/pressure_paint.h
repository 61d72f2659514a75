/// Pressure of contacts, painted on the surfaces of bodies.
#pragma once

#include <vector>

#include "apps/picture/body_surfaces.h"
#include "apps/picture/surface_density.h"
#include "apps/viewer/contact_glyphs.h"

namespace abut::viewer {

/// Normal forces on one body in the step from a frame, as they are spread over its surface, in its frame B.
/// Radii are those of 2.5 times the area that a contact stands for, and at least 3 % of the smaller body's
/// size.
[[nodiscard]] std::vector<SpreadAmount> spread_forces(const Frame& frame, const ContactSet& set,
                                                      const ContactDisplay& display, int body);

/// The surface that pressures of a body are painted on: what is drawn of it, which may be null, and of its
/// half-spaces the parts that the amounts reach. Null without either.
[[nodiscard]] SharedSurface pressed_surface(const Body& body, SharedSurface drawn,
                                            const std::vector<SpreadAmount>& amounts);

/// Adds a see-through surface to each body that is drawn: normal force by area, so that the integral
/// over the surface is the sum of the normal forces of its contacts. Counts the contacts.
///
/// @param surfaces  of the frame's bodies
[[nodiscard]] int add_pressures(const Frame& frame, const ContactSet& set, const DisplayOptions& display,
                                BodySurfaces& surfaces, Picture& picture, PictureNotes& notes);

}  // namespace abut::viewer
