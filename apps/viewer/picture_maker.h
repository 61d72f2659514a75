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
/// Sizes of glyphs by the picture, so that zooming does not change them. A point is that of the user
/// interface.
struct GlyphScale {
  OrbitCamera camera;
  int height = 1;  ///< of the picture [points]
  /// Size of a point where p_W is [m].
  [[nodiscard]] double point_at(const Vec3<double>& p_W) const;
};

inline const Colour k_passing_ghost_colour = rgb(240, 228, 66);

inline constexpr double k_normal_length = 55.0;    ///< at indicator 1 [points]
inline constexpr double k_largest_length = 110.0;  ///< of the largest force, and gradient of a kind [points]

/// How many contacts are drawn with what.
struct ContactGlyphCounts {
  int points = 0, normals = 0, forces = 0, friction_discs = 0, witness_pairs = 0, candidates = 0;
  double points_per_newton = 0.0;  ///< of arrows of forces; 0 without forces
};

/// Adds the glyphs of contacts, seen through bodies. The largest force that is shown is k_largest_length long
/// at the display's sizes 1, others in proportion.
ContactGlyphCounts add_contact_glyphs(const Frame& frame, std::span<const ContactView> contacts,
                                      const ContactDisplay& display, const Selection& selection,
                                      const GlyphScale& scale, GlyphList& glyphs);

/// Adds gradient_arrows(), gradient_arrows.h.
void add_gradient_glyphs(const Frame& frame, const GradientResult& result, double size,
                         const GlyphScale& scale, GlyphList& glyphs);

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
  /// @param scale     with the camera of the picture
  [[nodiscard]] Made make(const Frame& frame, std::span<const ContactView> contacts,
                          const DisplayOptions& display, const Selection& selection,
                          const GradientResult* gradient, const GlyphScale& scale);

  /// The surfaces of the bodies of a frame, which are kept from one picture to the next.
  [[nodiscard]] BodySurfaces& surfaces_of(const Frame& frame);

 private:
  std::uint64_t geometry_version_ = 0;
  BodySurfaces surfaces_;  // of bodies of that version
};

}  // namespace abut::viewer
