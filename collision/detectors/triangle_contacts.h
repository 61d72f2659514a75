/// Contacts of the triangles of a mesh at the signed distance function of another body: the points of the
/// triangles that Frank and Wolfe's method finds, filtered (sdf/frank_wolfe.h).
///
/// With x the point on the mesh of the owner O, r its contact radius where contact points are the mesh's
/// vertices (else 0), phi and n the distance and the normal of the solid S:
///   d = phi(x) - r,   point = x - (r + d/2) n,   weight 1.
/// Derivatives are those of a point that is fixed to the mesh: steps of the method go to a corner each, so
/// that its weights are constant until a step goes to another corner. There, and where the filter keeps
/// others, contacts jump. A contact counts as near a kink where a turn by a thousandth may move its point
/// (TriangleSearch::is_held()), or where the solid's distance has one; the filter has no mark.
#pragma once

#include <span>
#include <vector>

#include "collision/detectors/point_contact.h"
#include "collision/sdf/frank_wolfe.h"
#include "engine/contact_config.h"

namespace abut {

/// The triangles of one body at the solid of another, at given poses.
struct TriangleQuery {
  const TriangleSearch* triangles = nullptr;  ///< of the owner
  const ShapeSdf* sdf = nullptr;              ///< of the solid
  bool owner_is_A = true;
  double radius = 0;  ///< r [m]
  Pose<double> X_WO, X_WS;
  FrankWolfeSettings settings;
};

/// @param margin  phi below which triangles touch [m]
[[nodiscard]] FrankWolfeSettings frank_wolfe_settings(const ContactConfig& config, double margin);

/// Appends the contacts that the filter keeps, without derivatives.
void find_triangle_contacts(const TriangleQuery& query, std::vector<TriangleContact>& memory,
                            std::vector<PointContact>& contacts);

/// The contact of a triangle, with derivatives.
[[nodiscard]] PointContact linearize_triangle_contact(const TriangleQuery& query, int triangle);

}  // namespace abut
