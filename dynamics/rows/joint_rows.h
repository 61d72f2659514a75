/// Rows of joints: directions of two bodies' twists, each with a convex potential of its velocity, whatever
/// made them (joint_constraints.h).
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "engine/growable_vector.h"
#include "engine/types.h"

namespace abut {

/// A load is an impulse that does not depend on s.
enum class JointLaw { hold, motor, stop, load };

struct JointRow {
  JointLaw law = JointLaw::hold;
  Vec6<double> J_A, J_B;  ///< s = J_A.V_A + J_B.V_B, [w; v]
  double drift = 0;       ///< the part of s of bodies of infinite mass
  double error = 0;       ///< e, or of a stop the distance to it [m or rad]
  double inverse_mass = 0;
  double target = 0;      ///< v_hat, or the impulse of a load
  double resistance = 0;  ///< R
  double limit = 0;       ///< L [N s or N m s], infinite if there is none
  double borne = 0;       ///< what of lambda has acted before: lambda - borne is what acts
};

/// The rows of one joint.
struct JointGroup {
  int joint = -1;
  int motor = -1;                ///< among those of the model, -1 if it has none
  int slot_A = -1, slot_B = -1;  ///< position among the moving bodies, -1 if of infinite mass
  int begin = 0, end = 0;
  bool is_link = false;    ///< of a tree, which holds it: only its coordinate has rows
  bool does_work = false;  ///< it has a motor, armature or a spring, is one, or ties to what moves by itself

  [[nodiscard]] bool both_move() const { return slot_A >= 0 && slot_B >= 0; }
};

/// The blocks of a group's Hessian: A A, B B and (row B, column A); 0 where a body does not move.
struct JointHessian {
  Mat6<double> AA = Mat6<double>::Zero(), BB = Mat6<double>::Zero(), BA = Mat6<double>::Zero();
};

/// dL/d of a row's numbers.
struct JointRowBar {
  Vec6<double> J_A = Vec6<double>::Zero(), J_B = Vec6<double>::Zero();
  double drift = 0, target = 0, resistance = 0, limit = 0, borne = 0;

  JointRowBar& operator+=(const JointRowBar& other) {
    J_A += other.J_A;
    J_B += other.J_B;
    drift += other.drift;
    target += other.target;
    resistance += other.resistance;
    limit += other.limit;
    borne += other.borne;
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
  void add_gradient(const GrowableVector& v, GrowableVector& gradient) const;

  /// sizes += |J|^T (-dlambda/ds) (|J| |v| + |drift| + |v_hat|): what add_gradient() sums, without its signs.
  void add_gradient_sizes(const GrowableVector& v, GrowableVector& sizes) const;

  /// J^T (-dlambda/ds) J of a group at v.
  [[nodiscard]] JointHessian hessian(const JointGroup& group, const GrowableVector& v) const;

  /// Slope and curvature of the potentials along v + a dv, by a.
  void add_line(const GrowableVector& v, const GrowableVector& dv, double a, double& slope,
                double& curvature) const;

  /// Counts the impulse that each row has at v as one that has acted before.
  void set_borne(const GrowableVector& v);
  /// VJP of set_borne(): adds to dL/d(rows) and dL/dv.
  void borne_vjp(const GrowableVector& v, std::span<JointRowBar> bars, GrowableVector& v_bar) const;

  /// The impulse that acts of each row at v [N s or N m s]; that of a stop pushes away from it.
  void impulses(const GrowableVector& v, std::vector<double>& impulses) const;

  /// Adds the gradient of w^T sum J^T lambda(J v), v and w held fixed: with w = H^-1 v_bar, what an implicit
  /// derivative takes from the rows.
  void vjp(const GrowableVector& v, const GrowableVector& w, std::span<JointRowBar> bars) const;
};

inline const JointRows k_no_joints{};

}  // namespace abut
