/// Rigid bodies without contact: free velocities at the end of a step, and the pose update that follows a
/// solve.
///
/// Angular momentum is carried exactly. With L = e^{-c_w h} I(R) w and the torque tau of the step,
///
///     I(Exp(h w_m/2) R) w_m = L + h tau/2     the implicit midpoint: w* = w_m enters the contact problem
///     v* = e^{-c_v h} v + h (g + f/m)
///     R+ = Exp(h w+) R,   p+ = p + h v+       w+, v+ as the contact problem leaves them
///     L+ = L + h tau + I(R) (w+ - w_m),   w_next = I(R+)^-1 L+
///
/// Bodies that only touch each other conserve angular momentum, whatever h: the impulses of a step have lever
/// arms about p and travel along v+; those of an impact have them about the pose that it finds, from which
/// bodies travel on along their velocities (step/impact_phases.h).
#pragma once

#include <span>
#include <vector>

#include "dynamics/motion/mass_matrix.h"
#include "engine/growable_vector.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut {

/// Free velocities of the moving bodies, with what the way back needs. Links of trees move as step/tree_motion.h says:
/// the functions below pass them over, but for v_start and, backwards and along directions, inertias in W.
struct FreeMotion {
  std::vector<char> is_link;  ///< per moving body; empty: none is
  GrowableVector v_start;     ///< [w; v] at the start
  GrowableVector v_free;      ///< [w_m; v*]
  bool converged = true;      ///< of every midpoint equation
  int unconverged_slot = -1;  ///< the last moving body whose equation was not solved

  [[nodiscard]] bool moves_with_tree(int slot) const {
    return !is_link.empty() && is_link[static_cast<std::size_t>(slot)] != 0;
  }
};

/// dL/d of the parameters of one moving body that free motion knows.
struct FreeMotionParameterBar {
  double mass = 0;
  Mat3<double> inertia_B = Mat3<double>::Zero();  ///< symmetric
  double linear_damping = 0, angular_damping = 0;
};

/// Wrench on a body during a step: its own constant one plus the control's.
[[nodiscard]] Vec6<double> applied_wrench(const Model& model, const Control& control, int body);

/// w of a body whose angular momentum is L, in W. Solved with the very matrix that a step multiplies by (see
/// MassMatrix): through the inverse in B, the rounding of |q| would add up to a drift of the angular momentum, 1e-15
/// of it a step.
[[nodiscard]] Vec3<double> angular_velocity(const Pose<double>& X_WB, const Mat3<double>& inertia_B,
                                            const Vec3<double>& L);

void free_motion(const Model& model, const MassMatrix& mass, const State& state, const Control& control,
                 double h, FreeMotion& free);

/// By how much velocities are behind in a part of a step. They belong to the middles of whole steps of H
/// seconds: where h seconds of one are taken, bodies travel by h v+ + c (v+ - v), c = (H - h)/2, so that the
/// parts of a free flight add up to the whole. Bodies that joints hold do not fly: c = 0 where there are any.
struct MotionLag {
  double time = 0.0;  ///< c [s]

  [[nodiscard]] static MotionLag of_part(double h, double whole) { return {0.5 * (whole - h)}; }
};

/// How the contact problem ends: velocities of the moving bodies, and by how much they are displaced beyond h
/// times these and their lag ([rotation; translation] each; empty: not at all).
struct EndMotion {
  const GrowableVector& velocity;
  const GrowableVector& displacement;
  MotionLag lag{};
};

/// dL/d of it. The displacement's has a size only where there is one.
struct EndMotionBar {
  GrowableVector velocity, displacement;
};

/// The state a step later; bodies of infinite mass go on as fixed_motion.h says.
void advance(const Model& model, const MassMatrix& mass, const State& state, const Control& control, double h,
             const FreeMotion& free, const EndMotion& end, State& next);

/// What all derivatives of one body's step have in common; of a fixed body only how it turns.
struct BodyMotionDerivative {
  Mat3<double> turn;         ///< Exp(h w+ + displacement)
  Mat3<double> turn_by_way;  ///< dtheta(R+)/d(h w+ + displacement): the left Jacobian there
  Mat3<double> R, R_middle, R_end;
  double linear_decay = 1, angular_decay = 1;
  Vec3<double> momentum;             ///< L, and its damping
  Mat3<double> middle_by_theta;      ///< d(I(R_m) w_m)/d(theta of R)
  Mat3<double> w_free_by_momentum;   ///< dw_m/d(L + h tau/2)
  Mat3<double> end_inertia_inverse;  ///< I(R+)^-1
  Mat3<double> end_by_theta;         ///< d(I(R+) w_next)/d(theta of R+)
};

/// Prepares the derivatives of free_motion() and advance(): one entry per body, overwritten.
void linearize_motion(const Model& model, const MassMatrix& mass, const State& state, double h,
                      const FreeMotion& free, const EndMotion& end, const State& next,
                      std::vector<BodyMotionDerivative>& derivatives);

/// A direction of what a step of free motion depends on; its length is constant.
struct FreeMotionDirection {
  const StateTangent& state;
  std::span<const Vec6<double>> wrench;  ///< one per body
  Vec3<double> gravity = Vec3<double>::Zero();
  std::span<const FreeMotionParameterBar> parameters;  ///< changes of them, one per moving body
};

/// What follows from it: changes of the free velocities, and of the mass matrix at the start.
struct FreeMotionTangent {
  GrowableVector v_start, v_free;
  std::vector<Vec3<double>> momentum;   ///< of L, per moving body
  std::vector<Mat3<double>> inertia_W;  ///< per moving body
};

/// The JVP of free_motion(). Overwrites `tangent`.
void free_motion_jvp(const Model& model, const MassMatrix& mass, const State& state, const Control& control,
                     double h, const FreeMotion& free, std::span<const BodyMotionDerivative> derivatives,
                     const FreeMotionDirection& direction, FreeMotionTangent& tangent);

/// The JVP of advance(), after that of free_motion(). `end_dot` is the change of the end of the contact
/// problem; overwrites `next_dot`.
void advance_jvp(const Model& model, const MassMatrix& mass, double h, const FreeMotion& free,
                 const EndMotion& end, const State& next, std::span<const BodyMotionDerivative> derivatives,
                 const FreeMotionDirection& direction, const FreeMotionTangent& tangent,
                 const EndMotionBar& end_dot, StateTangent& next_dot);

/// The way back through advance(). `next_bar` is dL/d(next state). Overwrites `end_bar`, adds to everything
/// else; `inertia_W_bar` is dL/d(world inertia at the start), not symmetrised, `momentum_bar` dL/dL per
/// moving body. The length of the step is constant.
void advance_vjp(const Model& model, const MassMatrix& mass, double h, const FreeMotion& free,
                 const EndMotion& end, const State& next, std::span<const BodyMotionDerivative> derivatives,
                 const StateTangent& next_bar, StateTangent& state_bar, std::span<Vec6<double>> wrench_bar,
                 EndMotionBar& end_bar, GrowableVector& v_free_bar, std::span<Vec3<double>> momentum_bar,
                 std::span<Mat3<double>> inertia_W_bar, std::span<FreeMotionParameterBar> parameter_bar);

/// The way back through free_motion(), called after everything that adds to `v_free_bar`, `momentum_bar` and
/// `inertia_W_bar`; also turns the latter into pose and inertia.
void free_motion_vjp(const Model& model, const MassMatrix& mass, const State& state, const Control& control,
                     double h, const FreeMotion& free, std::span<const BodyMotionDerivative> derivatives,
                     const GrowableVector& v_free_bar, std::span<const Vec3<double>> momentum_bar,
                     std::span<Mat3<double>> inertia_W_bar, StateTangent& state_bar,
                     std::span<Vec6<double>> wrench_bar, Vec3<double>& gravity_bar,
                     std::span<FreeMotionParameterBar> parameter_bar);

}  // namespace abut
