/// Memory of an interior-point solver, and what its derivatives start from.
#pragma once

#include <vector>

#include "dynamics/contact_laws/lcp.h"
#include "dynamics/contact_laws/relaxed_complementarity.h"
#include "dynamics/other_laws/dense_factor.h"
#include "dynamics/solver/contact_solver.h"
#include "dynamics/solver/smooth_coulomb_solver.h"

namespace abut {

/// A contact on its way to the solution. Impulses are per unit of weight.
template <typename Law>
struct ContactIterate {
  using Friction = typename Law::Friction;

  Vec3<double> n;
  complementarity::Tangents tangents;
  smooth_coulomb::NormalTarget<double> target;
  complementarity::Resistance resistance_of;
  double resistance = 0, relaxation = 0, friction_coefficient = 0, weight = 0;

  Vec2<double> x;              ///< tangential velocity of friction's conditions [m/s] ...
  Vec2<double> x_residual;     ///< ... less that of the bodies
  double normal_residual = 0;  ///< of the normal row [m/s]
  complementarity::Normal normal;
  Friction friction;

  Vec2<double> x_step;
  double longest_step = 1;  ///< that stays inside
  complementarity::Normal normal_step;
  Friction friction_step;

  complementarity::NormalStep normal_linear;
  complementarity::FrictionStep friction_linear;

  [[nodiscard]] bool has_friction() const { return friction_coefficient > 0.0; }
  [[nodiscard]] double bound() const { return friction_coefficient * normal.impulse; }
  [[nodiscard]] double bound_step() const { return friction_coefficient * normal_step.impulse; }
  /// In W, with its weight.
  [[nodiscard]] Vec3<double> impulse() const {
    Vec3<double> gamma = normal.impulse * n;
    if (has_friction()) gamma += tangents * friction.impulse();
    return weight * gamma;
  }
};

template <typename Law>
struct InteriorPointMemory final : SolverMemory {
  std::vector<ContactIterate<Law>> contacts;
  DenseFactor jacobian;  ///< of M + sum J^T K J
  ImpulseNorm norm;
  GrowableVector force, momentum, mass_direction;
  GrowableVector direction, step;     ///< of velocities
  GrowableVector trial, stage_start;  ///< velocities
  GrowableVector joint_velocity;      ///< that the joints alone leave
  GrowableVector start_velocity;      ///< see set_start()
  RowBlocks no_rows;
  NewtonMemory joints;
  SmoothCoulombMemory smooth_coulomb;
  ContactSolution smooth_solution;  ///< of the smooth Coulomb law
};

template <typename Law>
struct InteriorPointLinearization final : SolutionLinearization {
  GrowableVector velocity;  ///< of the solution, to all digits
  std::vector<ContactIterate<Law>> contacts;
  DenseFactor jacobian;
  GrowableVector reaction;  ///< F, with links

  [[nodiscard]] std::size_t bytes() const override {
    return sizeof(ContactIterate<Law>) * contacts.size() + jacobian.bytes() +
           sizeof(double) * static_cast<std::size_t>(velocity.size() + reaction.size());
  }
};

}  // namespace abut
