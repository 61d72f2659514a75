/// How heavy and how long what a joint's coordinate moves is, for stabilising and smoothing its rows.
#pragma once

#include <array>

#include "dynamics/motion/mass_matrix.h"
#include "engine/joint.h"
#include "engine/model.h"
#include "engine/state.h"
#include "engine/types.h"

namespace abut {

/// The inverse inertia w of a tree's coordinate [1/(kg m^2) or 1/kg], as if only its joint tied the two sides, each what
/// is fixed together; what else hangs from them makes the true one smaller. With the direction s of the coordinate and
/// inertias (6, 6) at the origin o of JB:
///     w = 1/(s^T P),   P = (d_A I_A^-1 + d_B I_B^-1)^-1 s,   dw = -w^2 (2 P . ds + sum d V^T dI V),   V = I^-1 P
class CoordinateInertia {
 public:
  /// @param axis      z of JA, in W
  /// @param o         origin of JB, in W [m]
  /// @param d_A, d_B  by how much the mobilities of the sides are multiplied
  CoordinateInertia(const MassMatrix& mass, const State& state, const Joint& joint, const Vec3<double>& axis,
                    const Vec3<double>& o, double d_A, double d_B);

  [[nodiscard]] double inverse() const { return inverse_; }

  /// dL/d of the masses and inertias (by slot) and of the centres of mass (by body), added to; the rest is returned.
  struct Bar {
    Vec3<double> axis = Vec3<double>::Zero(), o = Vec3<double>::Zero();
  };
  [[nodiscard]] Bar vjp(double inverse_bar, std::span<double> mass_bar, std::span<Mat3<double>> inertia_W_bar,
                        std::span<Vec6<double>> pose_bar) const;

 private:
  struct Side {
    int body = -1;
    double d = 1.0;
    Mat6<double> mobility;  ///< I^-1
  };

  /// Twist at the origin of JB by the wrench there, of a body with what is fixed to it.
  [[nodiscard]] Mat6<double> mobility(int body) const;

  const MassMatrix& mass_;
  const State& state_;
  Vec3<double> o_;
  bool slides_;
  std::array<Side, 2> sides_;
  int count_ = 0;
  Vec6<double> P_ = Vec6<double>::Zero();
  double inverse_ = 0.0;
};

/// The way r [m] per angle of a hinge at which the smoothing of its stops and friction is that of contacts:
///     r^-2 = sum r_i^-2,   r_i^2 = |p_i|^2 + (size_i/2)^2
/// over those of its bodies that move, p_i being the joint in the body. 1 of a slider.
struct CoordinateRadius {
  double value = 1.0;
  Vec3<double> by_p_A = Vec3<double>::Zero(), by_p_B = Vec3<double>::Zero();  ///< dr/dp_i

  CoordinateRadius(const Model& model, const Joint& joint);
};

}  // namespace abut
