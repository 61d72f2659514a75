/// Joints, motors and stops as rows of the contact problem.
///
/// A row is a direction J of the two bodies' twists with an impulse lambda that depends on s = J v alone and
/// is the negative derivative of a convex C-infinity potential of it. With the error e of the row (J = de/dx
/// for tangents x of the poses), its inverse mass w = J M^-1 J^T and x = v_hat - s:
///
///     hold   lambda = x/R                          v_hat = -e/(h + tau),  R = 1/(h k (h + tau)) + c w
///     motor  lambda = y/sqrt(1 + (y/L)^2), y = x/R L = h times the motor's limit;
///            servo   v_hat = -k (q - target)/(k h + d), R = 1/(h (k h + d)) + c w,   d = damping
///            speed   v_hat = target,                    R = 1/(h d) + c w
///     stop   the normal impulse of smooth_coulomb.h, the way to the end of the travel being the distance
///
/// with c = beta^2/(4 pi^2), as contacts have it: near-rigid. w is the mean over the rows that belong
/// together (three of a point, two or three of a rotation), so that it does not depend on the choice of axes.
///
/// The impulses of a point act on both bodies at the origin of JB, and rows turn with JA: momentum and
/// angular momentum of two free bodies are exact.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "dynamics/block_cholesky.h"
#include "dynamics/block_lu.h"
#include "dynamics/contact_laws/smooth_coulomb.h"
#include "dynamics/mass_matrix.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut {

enum class JointLaw { hold, motor, stop };

struct JointRow {
  JointLaw law = JointLaw::hold;
  Vec6<double> J_A, J_B;  ///< s = J_A.V_A + J_B.V_B, [w; v]
  double drift = 0;       ///< the part of s of bodies of infinite mass
  double error = 0;       ///< e, or of a stop the distance to it [m or rad]
  double inverse_mass = 0;
  double target = 0;      ///< v_hat
  double resistance = 0;  ///< R
  double limit = 0;       ///< L [N s or N m s], infinite if there is none
};

/// The rows of one joint.
struct JointGroup {
  int joint = -1;
  int slot_A = -1, slot_B = -1;  ///< position among the moving bodies, -1 if of infinite mass
  int begin = 0, end = 0;

  [[nodiscard]] bool both_move() const { return slot_A >= 0 && slot_B >= 0; }
};

/// dL/d of a row's numbers.
struct JointRowBar {
  Vec6<double> J_A = Vec6<double>::Zero(), J_B = Vec6<double>::Zero();
  double drift = 0, target = 0, resistance = 0, limit = 0;

  JointRowBar& operator+=(const JointRowBar& other) {
    J_A += other.J_A;
    J_B += other.J_B;
    drift += other.drift;
    target += other.target;
    resistance += other.resistance;
    limit += other.limit;
    return *this;
  }
};

class JointRows {
 public:
  std::vector<JointRow> rows;
  std::vector<JointGroup> groups;
  double stop_smoothing = 0;  ///< tau_v of stops [m/s]

  void clear();
  [[nodiscard]] bool empty() const { return groups.empty(); }

  /// Adds those of a joint of `whole`, for slots that count within an island (-1 stays).
  void append(const JointRows& whole, const JointGroup& group, int slot_A, int slot_B);

  /// gradient -= J^T lambda at v: the derivative of the potentials.
  void add_gradient(const Eigen::VectorXd& v, Eigen::VectorXd& gradient) const;

  /// A coupling for each group whose two bodies move, in the order of the groups.
  void add_couplings(std::vector<Coupling>& couplings) const;

  /// H += J^T (-dlambda/ds) J at v. `coupling` is the number of the first of add_couplings().
  void add_hessian(const Eigen::VectorXd& v, std::size_t coupling, BlockCholesky& H) const;
  void add_hessian(const Eigen::VectorXd& v, std::size_t coupling, BlockLu& H) const;

  /// The same to a dense matrix, both triangles.
  void add_hessian(const Eigen::VectorXd& v, Eigen::MatrixXd& H) const;

  /// Slope and curvature of the potentials along v + a dv, by a.
  void add_line(const Eigen::VectorXd& v, const Eigen::VectorXd& dv, double a, double& slope,
                double& curvature) const;

  /// The impulse lambda of each row at v [N s or N m s]; that of a stop pushes away from it.
  void impulses(const Eigen::VectorXd& v, std::vector<double>& impulses) const;

  /// Adds the gradient of w^T sum J^T lambda(J v), v and w held fixed: with w = H^-1 v_bar, what an implicit
  /// derivative takes from the rows.
  void vjp(const Eigen::VectorXd& v, const Eigen::VectorXd& w, std::span<JointRowBar> bars) const;
};

inline const JointRows k_no_joints{};

/// What all rows of a step share.
struct JointSettings {
  smooth_coulomb::Settings law;         ///< h, c, and what stops need
  double default_dissipation_time = 0;  ///< tau of joints that give none [s]
};

/// Rows of all joints of a model.
void make_joint_rows(const Model& model, const MassMatrix& mass, const State& state,
                     const JointSettings& settings, JointRows& rows);

/// dL/d of a motor's numbers.
struct MotorGradient {
  double target = 0, stiffness = 0, damping = 0, limit = 0;  ///< 0 of an infinite one
};

/// dL/d of a joint's numbers. Compliances are 1/stiffness.
struct JointGradient {
  Vec6<double> X_AJ = Vec6<double>::Zero(), X_BJ = Vec6<double>::Zero();  ///< by tangents in A and B
  double length = 0;
  double compliance = 0, stiffness = 0;
  double angular_compliance = 0, angular_stiffness = 0;
  double dissipation_time = 0;  ///< of its resolved value, where the joint gives none
  double lower = 0, upper = 0;
  MotorGradient motor;
};

/// What rows contribute to; everything is added to.
struct JointRowsGradient {
  std::span<Vec6<double>> pose;         ///< one per body
  std::span<Vec6<double>> fixed_twist;  ///< one per body, of the step; those of moving bodies stay
  std::span<double> mass;               ///< one per slot
  std::span<Mat3<double>> inertia_W;    ///< one per slot, not symmetrised
  std::span<JointGradient> joints;      ///< one per joint
};

/// The way back of make_joint_rows(), which made `rows`.
void joint_rows_vjp(const Model& model, const MassMatrix& mass, const State& state,
                    const JointSettings& settings, const JointRows& rows, std::span<const JointRowBar> bars,
                    const JointRowsGradient& gradient);

}  // namespace abut
