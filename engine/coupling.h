/// Coordinates that several joints share: gears, racks and screws, mimics, tendons; and actuators.
///
/// With the coordinates q_i of hinges and sliders, the coordinate of a coupling is
///     q = gear sum_i (c_i1 q_i + c_i2 q_i^2 + ...)
/// What acts on it is what acts on a joint's, f, and reaches the joints as  f dq/dq_i. It may be held, too.
///
/// | in scene files | a coupling with                                                                     |
/// | -------------- | ----------------------------------------------------------------------------------- |
/// | gear, mimic    | terms 1 and -ratio, held at the offset                                              |
/// | rack, screw    | a slider and a hinge, coefficients 1 and -metres per radian, held                   |
/// | tendon         | as many terms as there are joints; spring, damping, limits, a motor                 |
/// | `[[actuator]]` | the terms of a joint or of another coupling, a gear and a motor                     |
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/joint.h"
#include "engine/model_tangent.h"
#include "engine/state.h"

namespace abut {

struct CouplingTerm {
  int joint = -1;                         ///< a hinge or a slider
  std::vector<double> coefficients{1.0};  ///< of q_i, q_i^2, ...; at least one

  /// c_1 q + c_2 q^2 + ... and its first two derivatives.
  struct Value {
    double value, slope, curvature;
  };
  [[nodiscard]] Value at(double q) const;
  [[nodiscard]] bool is_linear() const {
    return std::all_of(coefficients.begin() + 1, coefficients.end(), [](double c) { return c == 0.0; });
  }
};

struct Coupling : CoordinateForces {
  std::string name;
  bool is_actuator = false;  ///< said as an `[[actuator]]`: it has a gear and a motor, nothing else
  int on = -1;  ///< the coupling whose terms and gear it takes, of an actuator on one; its terms are copies
  std::vector<CouplingTerm> terms;
  double gear = 1.0;                                           ///< not 0
  double held_at = std::numeric_limits<double>::quiet_NaN();   ///< [rad or m]; NaN: it is not held
  double stiffness = std::numeric_limits<double>::infinity();  ///< against leaving that [N m/rad or N/m], > 0
  double dissipation_time = -1.0;  ///< errors decay over it [s]; negative: one time step

  [[nodiscard]] bool is_held() const { return !std::isnan(held_at); }
  [[nodiscard]] bool is_linear() const {
    return std::all_of(terms.begin(), terms.end(), [](const CouplingTerm& term) { return term.is_linear(); });
  }
};

/// Whether a coupling's coordinate counts as an angle: those of its joints all are.
[[nodiscard]] bool turns(const Model& model, const Coupling& coupling);

/// The gear of its terms: its own, times that of the coupling that it is on.
[[nodiscard]] double gear_of(const Model& model, const Coupling& coupling);
/// VJP of gear_of(); `bars` are one per coupling of the model.
void gear_vjp(const Model& model, int coupling, double bar, std::span<JointTangent> bars);

/// q [rad or m].
[[nodiscard]] double coupling_coordinate(const Model& model, const Coupling& coupling, const State& state);

/// Throws std::invalid_argument naming the coupling, what is wrong with it and the value.
void validate(const Coupling& coupling, const Model& model);

}  // namespace abut
