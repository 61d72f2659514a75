/// Vertices on edges of their meshes, and the normals with which they can touch.
#pragma once

#include <span>
#include <vector>

#include "collision/manifold/contact.h"
#include "engine/model.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// Whether a vertex between faces of normals N_k can touch with the normal n of a solid, out of it,
///     C = 1 - prod_k (1 - S((-N_k.n - 0.1)/0.2)),
/// and its derivative with respect to the normal of the contact, from A to B.
struct VertexFacing {
  double value = 0.0;
  Vec3<double> by_normal = Vec3<double>::Zero();
};

/// The vertices of a model's bodies at which faces differ by 1 rad or more. Constant data, as meshes are.
class EdgeVertices {
 public:
  explicit EdgeVertices(const Model& model);

  /// Whether the feature of a contact is one of them, or has slid from one.
  [[nodiscard]] bool contains(const ContactFeature& feature) const { return !normals(feature).empty(); }
  /// C of one of them at poses.
  [[nodiscard]] VertexFacing facing(const ContactFeature& feature, const Vec3<double>& normal_AB,
                                    std::span<const Pose<double>> X_WB) const;

 private:
  /// Of the faces, in its body's frame; none of other features.
  [[nodiscard]] std::span<const Vec3<double>> normals(const ContactFeature& feature) const;

  std::vector<std::vector<std::vector<Vec3<double>>>> normals_;  ///< of each contact point of each body
};

}  // namespace abut
