/// From a frame and what the user wants to see of it to a picture.
#pragma once

#include <cstdint>
#include <span>

#include "apps/picture/picture.h"
#include "apps/viewer/display_options.h"
#include "apps/viewer/simulation/frame.h"
#include "apps/viewer/simulation/gradient_job.h"

namespace abut::viewer {

/// In [0, 1]; the activity alone is known of blended contacts.
[[nodiscard]] double indicator_of(const ContactView& contact, Indicator indicator);
/// By its kind and its indicator.
[[nodiscard]] bool is_shown(const ContactView& contact, const ContactDisplay& display);
/// Length of a contact's normal as it is drawn at the display's size 1 [m]: a part of the smallest moving
/// body.
[[nodiscard]] double glyph_unit(const Model& model);

/// How many contacts are drawn with what.
struct ContactGlyphCounts {
  int points = 0, normals = 0, forces = 0, friction_discs = 0, witness_pairs = 0, candidates = 0;
};

/// Adds the glyphs of contacts, seen through bodies.
ContactGlyphCounts add_contact_glyphs(const Frame& frame, std::span<const ContactView> contacts,
                                      const ContactDisplay& display, const Selection& selection,
                                      GlyphList& glyphs);

/// Adds dL/d(initial position, initial velocity) and, where the frame shows one of its steps, dL/d(force) of
/// each moving body, as arrows at where it is; the longest of each kind is 4 units times `scale`.
void add_gradient_glyphs(const Frame& frame, const GradientResult& result, double scale, GlyphList& glyphs);

/// The plane of a slice.
[[nodiscard]] SlicePlane slice_plane(const SliceDisplay& slice);

/// Makes pictures of frames.
class PictureMaker {
 public:
  struct Made {
    Picture picture;
    ContactGlyphCounts counts;
  };
  /// @param contacts  of the frame, or those without contacts of edges
  /// @param gradient  may be null
  [[nodiscard]] Made make(const Frame& frame, std::span<const ContactView> contacts,
                          const DisplayOptions& display, const Selection& selection,
                          const GradientResult* gradient, const OrbitCamera& camera);

  /// The surfaces of the bodies of a frame, which are kept from one picture to the next.
  [[nodiscard]] BodySurfaces& surfaces_of(const Frame& frame);

 private:
  std::uint64_t geometry_version_ = 0;
  BodySurfaces surfaces_;  // of bodies of that version
};

}  // namespace abut::viewer
