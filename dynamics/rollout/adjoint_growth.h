/// Growth of an adjoint relative to free motion, the measure of chaos.
///
/// In free motion a change of velocity becomes one of position in proportion to time: dL/dv grows, and that
/// is no sensitivity of the motion. So compared are the adjoint of step k and the most that free motion can
/// make of all that the loss contributed from there on. Both are measured by changes of the state that move
/// the surface of a body by 1 m until the loss first acts, a time tau later:
///     |bar|^2 = sum over moving bodies of
///               |p_bar|^2 + |theta_bar/size|^2 + (|v_bar|^2 + |w_bar/size|^2)/tau^2.
/// Free motion has a growth of at most about 1, stable motion in contact stays within orders of magnitude of
/// it, and in chaotic motion it is exponential in time.
#pragma once

#include "engine/model.h"
#include "engine/state.h"

namespace abut {

class AdjointGrowth {
 public:
  /// @param h  time step [s]
  AdjointGrowth(const Model& model, double h) : model_(&model), h_(h) {}

  /// One step back in time.
  void step_back();
  /// What the loss contributes here: the adjoint without and with it.
  void add_loss(const StateTangent& before, const StateTangent& after);
  /// Of the adjoint here, over that of free motion; 0 before the loss acts.
  [[nodiscard]] double of(const StateTangent& bar) const;

 private:
  const Model* model_;
  double h_;
  double time_ = 0.0;                      ///< tau [s]
  double free_pose_ = 0, free_twist_ = 0;  ///< bounds of the two parts of the adjoint of free motion
};

}  // namespace abut
