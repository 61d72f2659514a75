/// A random direction in everything a rollout of free bodies depends on, and a random loss of it.
#pragma once

#include <vector>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "engine/random.h"

namespace abut::benchmarks {

/// Everything a rollout depends on.
struct RolloutInputs {
  Model model;
  State initial;
  Controls controls;
};

/// One direction in initial poses and twists, controls, mass, inertia, friction, compliance, dissipation
/// time, damping, external wrench, gravity, shape parameters and shape poses together. Scaled as that of
/// gradient_check.h: 1 is a large change. Compliance of rigid bodies, restitution, joints and overrides of
/// pairs do not move.
class RandomDirection {
 public:
  RandomDirection(const RolloutInputs& nominal, const Stepper& stepper, int steps, Random& random);

  /// nominal + h direction
  [[nodiscard]] RolloutInputs moved(const RolloutInputs& nominal, double h) const;
  /// dL/dh, one number for each of these kinds of inputs: their sum is the derivative.
  [[nodiscard]] std::vector<double> derivatives(const Gradient& gradient) const;

 private:
  struct PrimitiveChange {
    std::vector<double> parameters;
    Vec6<double> pose = Vec6<double>::Zero();
  };
  struct BodyChange {
    double mass = 0, friction = 0, compliance = 0, dissipation_time = 0, linear_damping = 0,
           angular_damping = 0;
    Mat3<double> inertia = Mat3<double>::Zero();
    Vec6<double> external_wrench = Vec6<double>::Zero();
    std::vector<PrimitiveChange> shape;
  };
  StateTangent initial_;
  Controls controls_;
  std::vector<BodyChange> bodies_;
  Vec3<double> gravity_;
};

/// L = sum over three times k and the moving bodies of random weights times [log(R R_nominal^-1);
/// (p - p_nominal)/size; twist/speed]: 0 for the nominal trajectory, so that differences keep their digits.
class RandomLoss {
 public:
  RandomLoss(const Trajectory& nominal, const Stepper& stepper, Random& random);
  [[nodiscard]] double value(int k, const State& state) const;
  void add_gradient(int k, StateTangent& bar) const;  ///< at the nominal states

 private:
  struct Term {
    int step;
    StateTangent weights;
  };
  const Trajectory& nominal_;
  std::vector<Term> terms_;
};

}  // namespace abut::benchmarks
