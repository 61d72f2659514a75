/// Tangents of a model: how its numbers change along a direction, or the gradient of a loss by them.
///
/// The two share one layout, as twists and wrenches do. Stiffnesses, which may be infinite, change by their
/// compliance 1/stiffness.
#pragma once

#include "engine/types.h"

namespace abut {

/// Of a material, or of what the materials of a pair make.
struct MaterialTangent {
  double friction = 0;
  double compliance = 0;        ///< of 1/stiffness [m/N]
  double dissipation_time = 0;  ///< of its resolved value, where the material gives none [s]
  double restitution = 0;

  MaterialTangent& operator+=(const MaterialTangent& other) {
    friction += other.friction;
    compliance += other.compliance;
    dissipation_time += other.dissipation_time;
    restitution += other.restitution;
    return *this;
  }
};

/// dL/d of a pair's material.
using PairMaterialBar = MaterialTangent;

/// Of a body, but for its geometry. Masses and inertias of fixed bodies do not count.
struct BodyTangent : MaterialTangent {
  double mass = 0;                                      ///< inertia held fixed [kg]
  Mat3<double> inertia = Mat3<double>::Zero();          ///< symmetric, mass held fixed [kg m^2]
  double linear_damping = 0, angular_damping = 0;       ///< [1/s]
  Vec6<double> external_wrench = Vec6<double>::Zero();  ///< [N m; N]
};

/// The inner product: how a loss of the gradient `bar` changes along `dot`.
[[nodiscard]] double inner_product(const BodyTangent& bar, const BodyTangent& dot);

struct MotorTangent {
  double target = 0, stiffness = 0, damping = 0, limit = 0;  ///< 0 of an infinite one
  double gain = 0, bias = 0;
};

/// Of a joint or a coupling, whichever numbers that has; by its stiffnesses as well as by their compliances.
struct JointTangent {
  Vec6<double> X_AJ = Vec6<double>::Zero(), X_BJ = Vec6<double>::Zero();  ///< by tangents in A and B
  double length = 0;
  double compliance = 0, stiffness = 0;
  double angular_compliance = 0, angular_stiffness = 0;
  double dissipation_time = 0;  ///< of its resolved value, where the joint gives none
  double lower = 0, upper = 0;
  double damping = 0, friction = 0, armature = 0, spring_stiffness = 0, spring_position = 0;
  double gear = 0, held_at = 0;
  MotorTangent motor;
};

/// dL/d of the numbers of a joint or a coupling.
using JointGradient = JointTangent;

}  // namespace abut
