/// How heavy and how long what a joint's coordinate moves is, for stabilising and smoothing its rows.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "dynamics/motion/mass_matrix.h"
#include "engine/joint.h"
#include "engine/model.h"
#include "engine/state.h"
#include "engine/types.h"

namespace abut {

/// J M^-1 J^T of one body alone; 0 where it does not move (slot -1).
[[nodiscard]] double inverse_mass_of(const MassMatrix& mass, int slot, const Vec6<double>& J);
/// Its VJP, of a body that moves; added to.
void inverse_mass_vjp(const MassMatrix& mass, int slot, const Vec6<double>& J, double inverse_bar,
                      Vec6<double>& J_bar, std::span<double> mass_bar, std::span<Mat3<double>> inertia_W_bar);

/// Links with all that hangs from them, as if their joints did not move: what a coordinate of a tree moves alone.
class CompositeInertias {
 public:
  /// Of the links of a mass matrix.
  void reset(const MassMatrix& mass);
  /// They are of no mass matrix any more; memory is kept.
  void clear() { mass_ = nullptr; }
  [[nodiscard]] bool is_reset() const { return mass_ != nullptr; }

  /// Whether body B of a joint that a tree holds is beyond it, and not body A.
  [[nodiscard]] bool is_B_beyond(int slot_A, int slot_B) const {
    return slot_B >= 0 && parent_[at(slot_B)] == slot_A;
  }

  /// The inertia of a coordinate [kg m^2 or kg]; `arm` leads from a point of the axis to the centre of mass of the body beyond.
  [[nodiscard]] double inertia(int slot, bool slides, const Vec3<double>& axis,
                               const Vec3<double>& arm) const;

  /// Its VJP: returns dL/d(axis) and dL/d(arm), and collects the rest for finish_vjp().
  struct Bar {
    Vec3<double> axis = Vec3<double>::Zero(), arm = Vec3<double>::Zero();
  };
  [[nodiscard]] Bar vjp(int slot, bool slides, const Vec3<double>& axis, const Vec3<double>& arm,
                        double inertia_bar);
  /// Adds what was collected to dL/d of masses and inertias (by slot) and of the centres of mass (by body).
  void finish_vjp(std::span<double> mass_bar, std::span<Mat3<double>> inertia_W_bar,
                  std::span<Vec6<double>> pose_bar);

 private:
  /// Mass, first and second moment about a body's centre of mass, in W; or dL/d of these.
  struct Moments {
    double mass = 0.0;
    Vec3<double> first = Vec3<double>::Zero();
    Mat3<double> second = Mat3<double>::Zero();
  };

  const MassMatrix* mass_ = nullptr;
  std::vector<Moments> moments_, bars_;  ///< by slot
  std::vector<int> parent_;              ///< slot of the parent; k_no_link of what is no link
  static constexpr int k_no_link = -2;
};

/// The inverse inertia w of a tree's coordinate [1/(kg m^2) or 1/kg], as if only its joint tied the two sides, each what
/// is fixed together: a bound, as what else hangs from them makes the true one smaller. With the direction s of the coordinate and
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
