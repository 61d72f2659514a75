/// What of the world is shown, and how: what panels set and the picture obeys.
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "apps/picture/body_surfaces.h"
#include "apps/viewer/visibility.h"
#include "collision/manifold/contact.h"
#include "engine/pose.h"

namespace abut::viewer {

/// What colours a contact.
enum class Indicator { activity, penetration, window, cone, gate, share, selection };
inline constexpr const char* k_indicator_names[] = {"activity", "penetration", "window",   "cone",
                                                    "gate",     "share",       "selection"};

/// What each tells, in a few words.
inline constexpr const char* k_indicator_meanings[] = {"how much a contact counts",
                                                       "how deep a contact lies",
                                                       "whether edges pass between their ends",
                                                       "whether the normal lies in the edges' normal cones",
                                                       "whether edges are their bodies' surfaces",
                                                       "what its neighbours leave of an edge",
                                                       "weight in the choice of the K deepest"};
static_assert(std::size(k_indicator_meanings) == std::size(k_indicator_names));

/// What a force's arrow is the sum of.
enum class ForceSum { contact, pair, body };
inline constexpr const char* k_force_sum_names[] = {"contact", "pair", "body"};

struct ContactDisplay {
  bool points = true;           ///< a ball at each contact's point
  bool normals = true;          ///< an arrow from A to B
  bool witness_points = false;  ///< on either surface, with a line between them
  bool forces = false;          ///< arrows, one for each `force_sum`
  ForceSum force_sum = ForceSum::pair;
  bool force_numbers = true;    ///< at the tips of the arrows
  bool friction_cones = false;  ///< of half-angle atan(mu) around forces that have one normal
  bool pressure = false;        ///< normal force by area, painted on surfaces
  bool tables = true;           ///< beside contacts that are pinned, and under the mouse
  bool friction_discs = false;  ///< across the normal: blue where it sticks, vermilion where it slides
  bool candidates = false;      ///< vertices and edges of the soft choice
  bool vertex_sdf = true, edge_edge = true, edge_sdf = true, convex_parts = true, triangle_sdf = true,
       blended = true;  ///< kinds that are shown
  Indicator indicator = Indicator::activity;
  bool scale_by_indicator = true;  ///< lengths of normals and sizes of points, not their colour alone
  double least = 1e-3;             ///< contacts with a smaller indicator are not shown
  double size = 1.0;               ///< of all glyphs
  double force_scale = 1.0;        ///< of the force's arrows

  [[nodiscard]] bool shows(ContactKind kind) const;
};

struct SliceDisplay {
  bool shown = false;
  int body = -1;                             ///< whose distance; -1: the least of all
  double azimuth = 1.5708, elevation = 0.0;  ///< of the plane's normal [rad]
  double offset = 0.0;  ///< along the normal, from the camera's target when it was placed [m]
  Vec3<double> centre = Vec3<double>::Zero();  ///< [m]
  double size = 1.0;                           ///< [m]
  int arrows = 0;                              ///< along each side
  int resolution = 160;                        ///< pixels along each side
};

struct DisplayOptions : BodyDisplay {
  ContactDisplay contacts;
  SliceDisplay slice;
  bool gradient_arrows = true;
  double gradient_scale = 1.0;
  PictureLook look;
  bool side_by_side = false;  ///< left as the scene has it, right without contacts of edges with edges
  bool lens = false;          ///< a pair's contacts enlarged, in a corner
  bool panels = true;
  Visibility visibility;
  /// Of the bodies at a moment that the timeline previews, or empty: set in each picture that shows it.
  std::vector<Pose<double>> preview_X_WB;
  /// The same of where sliders of parameters are predicted to lead.
  std::vector<Pose<double>> predicted_X_WB;
};

/// What the user has picked: a body, a joint or a pair of bodies, and contacts.
struct Selection {
  int body = -1, joint = -1;  ///< -1: none
  std::optional<BodyPair> pair;
  /// In place of any other body, joint or pair.
  void select_body(int index);
  void select_joint(int index);
  void select_pair(const BodyPair& bodies);
  void clear();
  /// Whether the body is selected, as itself or of a pair.
  [[nodiscard]] bool has_body(int index) const {
    return body == index || (pair && (pair->first == index || pair->second == index));
  }
  struct Pinned {
    ContactFeature feature;
    std::vector<float> time, distance, force, activity;  ///< [s], [m], [N], [-], as seen since it was pinned
  };
  std::vector<Pinned> pinned;
  /// Whether features are the same contact.
  [[nodiscard]] static bool same(const ContactFeature& a, const ContactFeature& b);
  [[nodiscard]] bool is_pinned(const ContactFeature& feature) const;
  void toggle_pin(const ContactFeature& feature);
};

}  // namespace abut::viewer
