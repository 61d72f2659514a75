/// From a frame and what the user wants to see of it to a picture.
#pragma once

#include <cstdint>

#include "apps/viewer/contact_glyphs.h"
#include "apps/viewer/simulation/gradient_job.h"

namespace abut::viewer {

/// Adds gradient_arrows(), gradient_arrows.h, the numbers of labelled_arrows() and what the arrows mean.
void add_gradient_glyphs(const Frame& frame, const GradientResult& result, double size, int selected_body,
                         const GlyphScale& scale, GlyphList& glyphs, PictureNotes& notes,
                         const Visibility& visibility = {});

/// The plane of a slice.
[[nodiscard]] SlicePlane slice_plane(const SliceDisplay& slice);

/// Makes pictures of frames.
class PictureMaker {
 public:
  struct Made {
    Picture picture;
    ContactGlyphCounts counts;
    PictureNotes notes;
  };
  /// @param set       contacts of the frame, of one pair, or those without contacts of edges
  /// @param gradient  may be null
  /// @param scale     with the camera of the picture
  [[nodiscard]] Made make(const Frame& frame, const ContactSet& set, const DisplayOptions& display,
                          const Selection& selection, const GradientResult* gradient,
                          const GlyphScale& scale);

  /// The surfaces of the bodies of a frame, which are kept from one picture to the next.
  [[nodiscard]] BodySurfaces& surfaces_of(const Frame& frame);

 private:
  std::uint64_t geometry_version_ = 0;
  BodySurfaces surfaces_;  // of bodies of that version
};

}  // namespace abut::viewer
