/// Gradients of a loss with respect to everything a rollout depends on.
#pragma once

#include <vector>

#include "collision/manifold/geometry_gradient.h"
#include "dynamics/step/rollout_direction.h"
#include "engine/model.h"
#include "engine/model_tangent.h"
#include "engine/state.h"

namespace abut {

/// dL/d(parameters of one body): of its numbers one by one, and what follows from these.
struct BodyGradient : BodyTangent {
  double density = 0;                    ///< mass and inertia in proportion, shape held fixed
  double stiffness = 0;                  ///< of the body's material: by compliance = 1/stiffness
  GeometryGradient geometry;             ///< partial: SDF and contact points independent of each other
  std::vector<PrimitiveGradient> shape;  ///< total: contact points follow the surface (see shape_change.h);
                                         ///< NaN where ContactDetector::has_shape_derivatives() is false
};

/// dL/d(overridden values of a pair), in the order of Model::pair_overrides.
struct PairGradient : MaterialTangent {
  double stiffness = 0;
};

struct ModelGradient {
  std::vector<BodyGradient> bodies;
  std::vector<PairGradient> pairs;
  std::vector<JointGradient> joints, couplings;
  Vec3<double> gravity = Vec3<double>::Zero();  ///< smoothing scales that default to |gravity| held fixed

  void set_zero(const Model& model);
};

/// The JVP of pair_material(), along changes of both bodies' materials.
[[nodiscard]] PairMaterialBar pair_material_jvp(const Model& model, int body_A, int body_B,
                                                const BodyDirection& A_dot, const BodyDirection& B_dot);

/// Adds the way back of pair_material().
void pair_material_vjp(const Model& model, int body_A, int body_B, const PairMaterialBar& bar,
                       ModelGradient& gradient);

}  // namespace abut
