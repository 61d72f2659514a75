/// Typical sizes of offsets of the numbers of joints and couplings, for gradient checks.
#pragma once

#include <vector>

#include "engine/control.h"
#include "engine/model.h"
#include "engine/parameters.h"

namespace abut {

struct JointScales {
  const Model& model;
  const std::vector<double>& lengths;  ///< of the bodies [m]
  double heaviest;                     ///< [kg]
  double g;                            ///< [m/s^2]
  double h;                            ///< of a step [s]
  int steps;

  /// Size of a joint [m].
  [[nodiscard]] double length(const Joint& joint) const;
  /// Of a coordinate [rad or m].
  [[nodiscard]] double coordinate(const Joint& joint) const;
  [[nodiscard]] double coordinate(const Coupling& coupling) const;
  /// Of the target of a motor, in its units.
  [[nodiscard]] double target(const MotorPlace& place) const;
  /// Of an offset of a number; one that is not finite and positive leaves the joint or coupling out.
  [[nodiscard]] double number(const JointParameter& parameter, const Joint& joint) const;
  [[nodiscard]] double number(const JointParameter& parameter, const Coupling& coupling) const;

 private:
  /// Of the force on a coordinate [N m or N].
  [[nodiscard]] double force(const Joint& joint) const;
  [[nodiscard]] double force(const Coupling& coupling) const;
  [[nodiscard]] double target(const Motor& motor, double of_coordinate, double of_force) const;
  [[nodiscard]] double number(ParameterKind kind, double value, const CoordinateForces& forces,
                              double of_coordinate, double of_force) const;
};

}  // namespace abut
