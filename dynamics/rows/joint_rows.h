/// Rows of joints and couplings: directions of bodies' twists, each with a convex potential of its velocity,
/// whatever made them (joint_constraints.h, coordinate_rows.h).
#pragma once

#include <algorithm>
#include <array>
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
  double scale = 1;  ///< s by the rate of the coordinate: of a stop a way, away from it
  double drift = 0;  ///< the part of s of bodies of infinite mass
  double error = 0;  ///< e, or of a stop the distance to it [m or rad]
  double inverse_mass = 0;
  double target = 0;      ///< v_hat, or the impulse of a load
  double resistance = 0;  ///< R
  double limit = 0;       ///< L [N s or N m s], infinite if there is none
  double borne = 0;       ///< what of lambda has acted before: lambda - borne is what acts
};

inline constexpr int k_most_rows = 12;  ///< of a group

/// Rows of the same bodies: of one joint or coupling.
struct JointGroup {
  int joint = -1, coupling = -1;  ///< one of them
  int motor = -1;                 ///< among those of the model, -1 if it has none
  int motor_row = -1;             ///< its row; -1: it has none, as where it is a load of a tree
  int begin = 0, end = 0;         ///< of its rows
  int first_body = 0,
      bodies = 0;           ///< of JointRows::slots: bodies A and B of a joint, those that move of a coupling
  int first_direction = 0;  ///< of JointRows::directions
  bool is_coordinate = false;  ///< its rows are of a coordinate, not what holds a joint
  bool is_link = false;        ///< trees hold its joints: only coordinates have rows
  bool does_work = false;  ///< it has a motor, armature or a spring, is one, or ties to what moves by itself
};

/// dL/d of a row's numbers, but for its directions.
struct JointRowBar {
  double drift = 0, target = 0, resistance = 0, limit = 0, borne = 0;

  JointRowBar& operator+=(const JointRowBar& other) {
    drift += other.drift;
    target += other.target;
    resistance += other.resistance;
    limit += other.limit;
    borne += other.borne;
    return *this;
  }
};

class JointRows;

/// dL/d of rows and of their directions.
struct JointRowBars {
  std::vector<JointRowBar> rows;
  std::vector<Vec6<double>> directions;

  /// As many as there are, all 0.
  void reset(const JointRows& of);
  JointRowBars& operator+=(const JointRowBars& other);
  /// Adds those of a group that was appended to other rows.
  void add(const JointGroup& to, const JointRowBars& from, const JointGroup& group);
};

class JointRows {
 public:
  std::vector<JointRow> rows;
  std::vector<JointGroup> groups;
  /// Position among the moving bodies, of each body of a group; -1 if of infinite mass. None stands there twice.
  std::vector<int> slots;
  /// J of each row [w; v], for each body of its group.
  std::vector<Vec6<double>> directions;
  double stop_smoothing = 0;  ///< tau_v of stops [m/s]

  void clear();
  [[nodiscard]] bool empty() const { return groups.empty(); }

  [[nodiscard]] std::span<const int> slots_of(const JointGroup& group) const {
    return std::span(slots).subspan(at(group.first_body), at(group.bodies));
  }
  /// Any of them that moves; there is one.
  [[nodiscard]] int moving_slot(const JointGroup& group) const {
    const std::span<const int> of = slots_of(group);
    return *std::max_element(of.begin(), of.end());
  }
  /// Where J of the k-th body of a group stands for one of its rows.
  [[nodiscard]] static std::size_t place_of(const JointGroup& group, int row, int k) {
    return at(group.first_direction + (row - group.begin) * group.bodies + k);
  }
  [[nodiscard]] const Vec6<double>& direction(const JointGroup& group, int row, int k) const {
    return directions[place_of(group, row, k)];
  }

  /// Begins a group of rows of some bodies; rows are added by add_row().
  JointGroup& add_group(std::span<const int> slots_of_bodies);
  /// A row of the last group; the directions are as many as it has bodies.
  JointRow& add_row(std::span<const Vec6<double>> directions_of_bodies);

  /// Adds those of a group of `whole`, for slots that count within an island (-1 stays); empty: they stay.
  void append(const JointRows& whole, const JointGroup& group, std::span<const int> local_slot = {});

  /// gradient -= J^T lambda at v: the derivative of the potentials.
  void add_gradient(const GrowableVector& v, GrowableVector& gradient) const;

  /// sizes += |J|^T (-dlambda/ds) (|J| |v| + |drift| + |v_hat|): what add_gradient() sums, without its signs.
  void add_gradient_sizes(const GrowableVector& v, GrowableVector& sizes) const;

  /// Calls f(slot_a, slot_b) for each two moving bodies of a group, in the order in which add_hessian() does.
  template <typename F>
  void each_two(const JointGroup& group, const F& f) const {
    const std::span<const int> of = slots_of(group);
    for (std::size_t a = 0; a < of.size(); ++a) {
      for (std::size_t b = a + 1; b < of.size(); ++b) {
        if (of[a] >= 0 && of[b] >= 0) f(of[a], of[b]);
      }
    }
  }

  /// J^T (-dlambda/ds) J of a group at v:  diagonal(slot, block),  off_diagonal(slot_a, slot_b, block of row b, column a).
  template <typename Diagonal, typename OffDiagonal>
  void each_hessian_block(const JointGroup& group, const GrowableVector& v, const Diagonal& diagonal,
                          const OffDiagonal& off_diagonal) const {
    const std::span<const int> of = slots_of(group);
    std::array<double, k_most_rows> curvatures;
    find_curvatures(group, v, curvatures);
    const auto block = [&](std::size_t b, std::size_t a) {
      Mat6<double> sum = Mat6<double>::Zero();
      for (int i = group.begin; i < group.end; ++i) {
        const Vec6<double> kJ_b = curvatures[at(i - group.begin)] * direction(group, i, static_cast<int>(b));
        sum.noalias() += kJ_b * direction(group, i, static_cast<int>(a)).transpose();
      }
      return sum;
    };
    for (std::size_t a = 0; a < of.size(); ++a) {
      if (of[a] >= 0) diagonal(of[a], block(a, a));
    }
    for (std::size_t a = 0; a < of.size(); ++a) {
      for (std::size_t b = a + 1; b < of.size(); ++b) {
        if (of[a] >= 0 && of[b] >= 0) off_diagonal(of[a], of[b], block(b, a));
      }
    }
  }

  /// Slope and curvature of the potentials along v + a dv, by a.
  void add_line(const GrowableVector& v, const GrowableVector& dv, double a, double& slope,
                double& curvature) const;

  /// Counts the impulse that each row has at v as one that has acted before.
  void set_borne(const GrowableVector& v);
  /// VJP of set_borne(): adds to dL/d(rows) and dL/dv.
  void borne_vjp(const GrowableVector& v, JointRowBars& bars, GrowableVector& v_bar) const;

  /// Adds the impulses of motors at v to `impulses`, one for each motor of the model [N s or N m s].
  void add_motor_impulses(const GrowableVector& v, std::span<double> impulses) const;

  /// The impulse that acts of each row at v [N s or N m s]; that of a stop pushes away from it.
  void impulses(const GrowableVector& v, std::vector<double>& impulses) const;

  /// Adds the gradient of w^T sum J^T lambda(J v), v and w held fixed: with w = H^-1 v_bar, what an implicit
  /// derivative takes from the rows.
  void vjp(const GrowableVector& v, const GrowableVector& w, JointRowBars& bars) const;

 private:
  [[nodiscard]] double velocity(const JointGroup& group, int row, const GrowableVector& v) const;
  /// -dlambda/ds of each row of a group.
  void find_curvatures(const JointGroup& group, const GrowableVector& v, std::span<double> curvatures) const;
  /// Adds x J of a row to the entries of its bodies.
  void add_along(const JointGroup& group, int row, double x, GrowableVector& to) const;
};

inline const JointRows k_no_joints{};

}  // namespace abut
