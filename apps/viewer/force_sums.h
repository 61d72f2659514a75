/// Forces of contacts, one by one or summed by pairs of bodies or by body.
#pragma once

#include <map>
#include <vector>

#include "apps/viewer/display_options.h"
#include "apps/viewer/simulation/frame.h"

namespace abut::viewer {

/// A force on a body, or the sum of several.
struct ForceArrow {
  int body = -1, from = -1;                      ///< `from`: the other body of the pair, -1: all others
  Vec3<double> point_W = Vec3<double>::Zero();   ///< centre of the points of its parts, by their |force| [m]
  Vec3<double> force_W = Vec3<double>::Zero();   ///< on `body` [N]
  Vec3<double> normal_W = Vec3<double>::Zero();  ///< mean, by normal forces, towards `body`; shorter than 1
                                                 ///< where normals differ
  double normal_force = 0.0;                     ///< sum of those of its parts [N]
  double friction = 0.0;                         ///< Coulomb coefficient, mean by normal forces [-]
  int count = 0;                                 ///< of its parts
};

inline constexpr double k_least_force = 1e-9;  ///< [N]; smaller ones are those of rounding

/// Of the contacts that are shown, as display.force_sum says. Pairs are in the order of their bodies, and the
/// force is that on B. Sums of bodies leave out those without bounds, as half-spaces are.
[[nodiscard]] std::vector<ForceArrow> force_arrows(const Model& model, const ContactSet& set,
                                                   const ContactDisplay& display);

/// Of all contacts of a frame, whatever is shown: on a body by another one, or by all others (-1).
[[nodiscard]] ForceArrow force_on(const Frame& frame, int body, int from = -1);
/// The torque of the same about a point [N m].
[[nodiscard]] Vec3<double> contact_torque_on(const Frame& frame, int body, const Vec3<double>& about_W);
/// Of all contacts of a frame, by pairs, on the second body of each.
[[nodiscard]] std::map<BodyPair, ForceArrow> forces_of_pairs(const Frame& frame);

/// Whether the parts of a sum have one normal, up to 10 degrees, so that a friction cone holds for the sum.
[[nodiscard]] bool has_friction_cone(const ForceArrow& arrow);
/// Share of what friction can hold at most, of an arrow with a friction cone.
[[nodiscard]] double friction_use(const ForceArrow& arrow);

}  // namespace abut::viewer
