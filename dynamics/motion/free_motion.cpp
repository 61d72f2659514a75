#include "dynamics/motion/free_motion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dynamics/motion/fixed_motion.h"
#include "engine/lie.h"

namespace abut {
namespace {

/// d(I w)/dtheta for a left perturbation of the rotation that I = R I_B R^T follows.
Mat3<double> momentum_dtheta(const Mat3<double>& I, const Vec3<double>& w) {
  return I * skew<double>(w) - skew<double>(I * w);
}

/// The midpoint equation I(Exp(h w/2) R) w = M, M = L + h tau/2, in the frame of the body: with u = R^T w and
/// m = R^T M it is
///   I_B u = y,   y = Exp(-h u/2) m,
/// since Exp(h w/2) R = R Exp(h u/2), and u lies on the axis of that rotation.
class MidpointProblem {
 public:
  MidpointProblem(const Mat3<double>& inertia_B, const Vec3<double>& momentum_B)
      : inertia_B_(inertia_B), momentum_B_(momentum_B) {}

  /// Newton's method from u on, for a step of h; it turns by at most a radian at a time, and by less where
  /// that brings the error down.
  [[nodiscard]] bool solve(double h, Vec3<double>& u) const {
    constexpr int k_iterations = 20, k_halvings = 6;
    constexpr double k_last_turn = 1.4e-8;
    const double half = 0.5 * std::abs(h), size = momentum_B_.norm(), rounding = 1e-13 * inertia_B_.norm();
    Point at(*this, u, h);
    double error = at.residual.norm();
    for (int iteration = 0; iteration < k_iterations; ++iteration) {
      if (error <= 4e-16 * size) return true;
      const Vec3<double> step = at.jacobian(inertia_B_).inverse() * at.residual, start = u;
      const double turn = half * step.norm(), before = error;
      // The error left behind is |m| (h step/2)^2/2 at most: that of rounding, not worth looking at.
      if (turn <= k_last_turn) {
        u -= step;
        return u.allFinite();
      }
      double length = turn > 1.0 ? 1.0 / turn : 1.0;
      for (int k = 0; k <= k_halvings; ++k, length *= 0.5) {
        u = start - length * step;
        at = Point(*this, u, h);
        error = at.residual.norm();
        if (error <= (1.0 - 0.1 * length) * before || before < rounding * u.norm()) break;
      }
      // Newton converges quadratically: once the error no longer falls it is rounding.
      if (error < rounding * u.norm() && error >= 0.5 * before) return true;
      if (!std::isfinite(error)) return false;
    }
    return false;
  }

  /// The same along h from 0 on, where u = I_B^-1 m, in steps that grow while they succeed.
  [[nodiscard]] bool solve_by_continuation(double h, Vec3<double>& u) const {
    constexpr double k_first = 0.125, k_growth = 1.5, k_least = 1e-4;
    Vec3<double> reached = inertia_B_.inverse() * momentum_B_;
    double share = 0.0, step = k_first;
    while (share < 1.0) {
      const double next = std::min(1.0, share + step);
      u = reached;
      if (solve(next * h, u)) {
        reached = u;
        share = next;
        step *= k_growth;
      } else if ((step *= 0.5) < k_least) {
        return false;
      }
    }
    return true;
  }

 private:
  /// The equation at u.
  struct Point {
    double half_h;
    Vec3<double> turn;  ///< theta = -h u/2
    AngleFunctions<double> angle;
    Vec3<double> carried;   ///< y
    Vec3<double> residual;  ///< I_B u - y

    Point(const MidpointProblem& problem, const Vec3<double>& u, double h)
        : half_h(0.5 * h), turn(-half_h * u), angle(turn.squaredNorm()) {
      const Vec3<double>& m = problem.momentum_B_;
      const Vec3<double> across = turn.cross(m);
      carried = m + angle.sinc() * across + angle.versine() * turn.cross(across);
      residual = problem.inertia_B_ * u - carried;
    }

    /// d(residual)/du = I_B - (h/2) [y]x J_l(theta)
    [[nodiscard]] Mat3<double> jacobian(const Mat3<double>& inertia_B) const {
      const Mat3<double> T = skew<double>(turn);
      const Mat3<double> J_l = Mat3<double>::Identity() + angle.versine() * T + angle.cubic() * (T * T);
      return inertia_B - skew<double>(half_h * carried) * J_l;
    }
  };

  const Mat3<double>& inertia_B_;
  Vec3<double> momentum_B_;
};

/// By how much a moving body turns and travels during a step.
Vec6<double> way_of(const FreeMotion& free, const EndMotion& end, double h, int slot) {
  Vec6<double> way = h * end.velocity.segment<6>(6 * slot);
  if (end.lag.time != 0.0) {
    way.tail<3>() +=
        end.lag.time * (end.velocity.segment<3>(6 * slot + 3) - free.v_start.segment<3>(6 * slot + 3));
  }
  if (end.displacement.size() > 0) way += end.displacement.segment<6>(6 * slot);
  return way;
}

/// x of A x = b with A symmetric: Eigen's LDLT, which pivots on the diagonal, operation by operation and so to the last
/// bit, without what its sizes cost.
Vec3<double> solve_symmetric(const Mat3<double>& A, const Vec3<double>& b) {
  double d0 = A(0, 0), d1 = A(1, 1), d2 = A(2, 2), l10 = A(1, 0), l20 = A(2, 0), l21 = A(2, 1);
  Vec3<double> x = b;
  int first = std::abs(d1) > std::abs(d0) ? 1 : 0;
  if (std::abs(d2) > std::abs(first == 1 ? d1 : d0)) first = 2;
  if (first == 1) {
    std::swap(d0, d1);
    std::swap(l20, l21);
  } else if (first == 2) {
    std::swap(d0, d2);
    std::swap(l10, l21);
  }
  std::swap(x[0], x[first]);
  if (d0 != 0.0) {
    l10 /= d0;
    l20 /= d0;
  }
  const bool last_is_next = std::abs(d2) > std::abs(d1);
  if (last_is_next) {
    std::swap(d1, d2);
    std::swap(l10, l20);
    std::swap(x[1], x[2]);
  }
  const double u01 = d0 * l10;
  d1 -= l10 * u01;
  l21 -= l20 * u01;
  if (d1 != 0.0) l21 /= d1;
  d2 -= l20 * (d0 * l20) + l21 * (d1 * l21);

  constexpr double k_least = 1.0 / std::numeric_limits<double>::max();
  const auto divided = [](double y, double d) { return std::abs(d) > k_least ? y / d : 0.0; };
  x[1] -= l10 * x[0];
  x[2] -= l20 * x[0] + l21 * x[1];
  x = {divided(x[0], d0), divided(x[1], d1), divided(x[2], d2)};
  x[1] -= l21 * x[2];
  x[0] -= l10 * x[1] + l20 * x[2];
  if (last_is_next) std::swap(x[1], x[2]);
  std::swap(x[0], x[first]);
  return x;
}

}  // namespace

Vec6<double> applied_wrench(const Model& model, const Control& control, int body) {
  const auto b = static_cast<std::size_t>(body);
  Vec6<double> wrench = model.bodies[b].external_wrench;
  if (!control.wrenches.empty()) wrench += control.wrenches[b];
  return wrench;
}

Vec3<double> angular_velocity(const Pose<double>& X_WB, const Mat3<double>& inertia_B,
                              const Vec3<double>& L) {
  const Mat3<double> R = X_WB.rotation(), I = R * inertia_B * R.transpose();
  return solve_symmetric(I, L);
}

void free_motion(const Model& model, const MassMatrix& mass, const State& state, const Control& control,
                 double h, FreeMotion& free) {
  free.v_start.resize(mass.size());
  free.v_free.resize(mass.size());
  free.converged = true;
  for (int s = 0; s < mass.slot_count(); ++s) {
    const auto b = static_cast<std::size_t>(mass.body(s));
    const Body& body = model.bodies[b];
    const Vec6<double> wrench = applied_wrench(model, control, mass.body(s));
    const Vec6<double>& V = state.V_WB[b];
    free.v_start.segment<6>(6 * s) = V;
    if (free.moves_with_tree(s)) continue;
    const Vec3<double> momentum = std::exp(-body.angular_damping * h) * (mass.inertia_W(s) * V.head<3>());
    const Mat3<double> R = state.X_WB[b].rotation();
    const Vec3<double> middle_momentum = momentum + 0.5 * h * wrench.head<3>(), w = V.head<3>(),
                       start = R.transpose() * w;
    const MidpointProblem midpoint(body.inertia, R.transpose() * middle_momentum);
    Vec3<double> u = start;
    if (!midpoint.solve(h, u) && !midpoint.solve_by_continuation(h, u)) {
      free.converged = false;
      free.unconverged_slot = s;
    }
    free.v_free.segment<3>(6 * s) =
        w + R * (u - start);  // w itself, to the last bit, where nothing changes it
    free.v_free.segment<3>(6 * s + 3) =
        std::exp(-body.linear_damping * h) * V.tail<3>() + h * (model.gravity + wrench.tail<3>() / body.mass);
  }
}

void advance(const Model& model, const MassMatrix& mass, const State& state, const Control& control, double h,
             const FreeMotion& free, const EndMotion& end, State& next) {
  next.X_WB = state.X_WB;
  next.V_WB = state.V_WB;
  next.hinge_angles = state.hinge_angles;
  next.time = state.time + h;
  for (int body = 0; body < model.body_count(); ++body) {
    if (mass.slot(body) >= 0) continue;
    const auto b = static_cast<std::size_t>(body);
    const Vec6<double> V = fixed_twist(model, state, h, body);
    next.V_WB[b] = fixed_twist_at_end(model, state, h, body);
    if (!V.isZero(0.0)) next.X_WB[b] = retract<double>(state.X_WB[b], h * V).normalized();
  }
  for (int s = 0; s < mass.slot_count(); ++s) {
    if (free.moves_with_tree(s)) continue;
    const auto b = static_cast<std::size_t>(mass.body(s));
    const Body& body = model.bodies[b];
    const Vec3<double> w = end.velocity.segment<3>(6 * s), v = end.velocity.segment<3>(6 * s + 3);
    const Vec6<double> way = way_of(free, end, h, s);
    const Vec3<double> turn = way.head<3>();
    next.X_WB[b].q = exp_quaternion<double>(turn) * state.X_WB[b].q;
    next.X_WB[b].p = state.X_WB[b].p + way.tail<3>();
    next.X_WB[b] = next.X_WB[b].normalized();
    const Vec3<double> w_start = free.v_start.segment<3>(6 * s), w_free = free.v_free.segment<3>(6 * s);
    Vec3<double> momentum = std::exp(-body.angular_damping * h) * (mass.inertia_W(s) * w_start) +
                            h * applied_wrench(model, control, mass.body(s)).head<3>() +
                            mass.inertia_W(s) * (w - w_free);
    next.V_WB[b] = stack<double>(angular_velocity(next.X_WB[b], body.inertia, momentum), v);
  }
}

void linearize_motion(const Model& model, const MassMatrix& mass, const State& state, double h,
                      const FreeMotion& free, const EndMotion& end, const State& next,
                      std::vector<BodyMotionDerivative>& derivatives) {
  derivatives.resize(model.bodies.size());
  for (int body = 0; body < model.body_count(); ++body) {
    const auto b = static_cast<std::size_t>(body);
    BodyMotionDerivative& d = derivatives[b];
    const int s = mass.slot(body);
    const Vec6<double> way =
        s < 0 ? Vec6<double>(h * fixed_twist(model, state, h, body)) : way_of(free, end, h, s);
    d.turn = exp_so3<double>(Vec3<double>(way.head<3>()));
    d.turn_by_way = left_jacobian_so3<double>(Vec3<double>(way.head<3>()));
    if (s < 0) continue;
    const Mat3<double>& inertia_B = model.bodies[b].inertia;
    d.R = state.X_WB[b].rotation();
    d.linear_decay = std::exp(-model.bodies[b].linear_damping * h);
    d.angular_decay = std::exp(-model.bodies[b].angular_damping * h);
    d.momentum = d.angular_decay * (mass.inertia_W(s) * state.V_WB[b].head<3>());
    // I(Exp(h w_m/2) R) w_m = L + h tau/2, differentiated implicitly
    const Vec3<double> w_free = free.v_free.segment<3>(6 * s);
    const Vec3<double> half_turn = 0.5 * h * w_free;
    const Mat3<double> to_middle = exp_so3<double>(half_turn);
    d.R_middle = to_middle * d.R;
    const Mat3<double> I_middle = d.R_middle * inertia_B * d.R_middle.transpose(),
                       by_turn = momentum_dtheta(I_middle, w_free);
    d.middle_by_theta = by_turn * to_middle;
    d.w_free_by_momentum = (I_middle + 0.5 * h * by_turn * left_jacobian_so3<double>(half_turn)).inverse();
    // I(R+) w_next = L+
    d.R_end = next.X_WB[b].rotation();
    const Mat3<double> I_end = d.R_end * inertia_B * d.R_end.transpose();
    d.end_inertia_inverse = I_end.inverse();
    d.end_by_theta = momentum_dtheta(I_end, next.V_WB[b].head<3>());
  }
}

namespace {

/// How a pose changes that turns and travels by `way_dot` more.
Vec6<double> moved(const BodyMotionDerivative& d, const Vec6<double>& pose_dot, const Vec6<double>& way_dot) {
  return stack<double>(d.turn * pose_dot.head<3>() + d.turn_by_way * way_dot.head<3>(),
                       pose_dot.tail<3>() + way_dot.tail<3>());
}

/// The way back of moved(): adds to dL/d(pose before), returns dL/d(way).
Vec6<double> moved_vjp(const BodyMotionDerivative& d, const Vec3<double>& theta_bar,
                       const Vec3<double>& p_bar, Vec6<double>& pose_bar) {
  pose_bar += stack<double>(d.turn.transpose() * theta_bar, p_bar);
  return stack<double>(d.turn_by_way.transpose() * theta_bar, p_bar);
}

}  // namespace

void free_motion_jvp(const Model& model, const MassMatrix& mass, const State& state, const Control& control,
                     double h, const FreeMotion& free, std::span<const BodyMotionDerivative> derivatives,
                     const FreeMotionDirection& direction, FreeMotionTangent& tangent) {
  tangent.v_start.resize(mass.size());
  tangent.v_free.resize(mass.size());
  tangent.momentum.resize(static_cast<std::size_t>(mass.slot_count()));
  tangent.inertia_W.resize(static_cast<std::size_t>(mass.slot_count()));
  for (int s = 0; s < mass.slot_count(); ++s) {
    const auto b = static_cast<std::size_t>(mass.body(s)), k = static_cast<std::size_t>(s);
    const Body& body = model.bodies[b];
    const BodyMotionDerivative& d = derivatives[b];
    const FreeMotionParameterBar& dot = direction.parameters[k];
    const bool inertia_changes = !dot.inertia_B.isZero(0.0);
    const Vec3<double> theta_dot = direction.state.pose[b].head<3>();
    const Vec6<double>&V = state.V_WB[b], &V_dot = direction.state.twist[b],
          &wrench_dot = direction.wrench[b];
    tangent.v_start.segment<6>(6 * s) = V_dot;

    // I = R I_B R^T, L = e^{-c_w h} I w
    const Mat3<double> turn = skew<double>(theta_dot), &I = mass.inertia_W(s);
    tangent.inertia_W[k] = turn * I - I * turn;
    if (inertia_changes) tangent.inertia_W[k] += d.R * dot.inertia_B * d.R.transpose();
    tangent.momentum[k] = d.angular_decay * (tangent.inertia_W[k] * V.head<3>() + I * V_dot.head<3>()) -
                          h * dot.angular_damping * d.momentum;

    if (free.moves_with_tree(s)) continue;
    // I(R_m) w_m = L + h tau/2
    const Vec3<double> w_free = free.v_free.segment<3>(6 * s);
    Vec3<double> middle_dot =
        tangent.momentum[k] + 0.5 * h * wrench_dot.head<3>() - d.middle_by_theta * theta_dot;
    if (inertia_changes)
      middle_dot -= d.R_middle * (dot.inertia_B * Vec3<double>(d.R_middle.transpose() * w_free));
    tangent.v_free.segment<3>(6 * s) = d.w_free_by_momentum * middle_dot;

    // v* = e^{-c_v h} v + h (g + f/m)
    Vec3<double> force_dot = wrench_dot.tail<3>();
    if (dot.mass != 0.0)
      force_dot -= dot.mass / body.mass * applied_wrench(model, control, mass.body(s)).tail<3>();
    tangent.v_free.segment<3>(6 * s + 3) =
        d.linear_decay * Vec3<double>(V_dot.tail<3>() - h * dot.linear_damping * V.tail<3>()) +
        h * (direction.gravity + force_dot / body.mass);
  }
}

void advance_jvp(const Model& model, const MassMatrix& mass, double h, const FreeMotion& free,
                 const EndMotion& end, const State& next, std::span<const BodyMotionDerivative> derivatives,
                 const FreeMotionDirection& direction, const FreeMotionTangent& tangent,
                 const EndMotionBar& end_dot, StateTangent& next_dot) {
  next_dot.set_zero(model.body_count());
  for (int body = 0; body < model.body_count(); ++body) {
    const auto b = static_cast<std::size_t>(body);
    const BodyMotionDerivative& d = derivatives[b];
    const Vec6<double>& pose_dot = direction.state.pose[b];
    const int s = mass.slot(body);
    if (s < 0) {
      next_dot.twist[b] = direction.state.twist[b];
      next_dot.pose[b] = moved(d, pose_dot, h * direction.state.twist[b]);
      continue;
    }
    if (free.moves_with_tree(s)) continue;
    const auto k = static_cast<std::size_t>(s);
    const Vec6<double> v_end_dot = end_dot.velocity.segment<6>(6 * s);
    Vec6<double> way_dot = h * v_end_dot;
    way_dot.tail<3>() += end.lag.time * (v_end_dot.tail<3>() - tangent.v_start.segment<3>(6 * s + 3));
    if (end.displacement.size() > 0) way_dot += end_dot.displacement.segment<6>(6 * s);
    next_dot.pose[b] = moved(d, pose_dot, way_dot);
    // I(R+) w_next = L+ = L + h tau + I (w_end - w_free)
    const Vec3<double> w_change = end.velocity.segment<3>(6 * s) - free.v_free.segment<3>(6 * s),
                       w_change_dot = v_end_dot.head<3>() - tangent.v_free.segment<3>(6 * s);
    Vec3<double> momentum_dot = tangent.momentum[k] + h * direction.wrench[b].head<3>() +
                                tangent.inertia_W[k] * w_change + mass.inertia_W(s) * w_change_dot -
                                d.end_by_theta * next_dot.pose[b].head<3>();
    const Mat3<double>& inertia_dot = direction.parameters[k].inertia_B;
    if (!inertia_dot.isZero(0.0))
      momentum_dot -= d.R_end * (inertia_dot * Vec3<double>(d.R_end.transpose() * next.V_WB[b].head<3>()));
    next_dot.twist[b] = stack<double>(d.end_inertia_inverse * momentum_dot, v_end_dot.tail<3>());
  }
}

void advance_vjp(const Model& model, const MassMatrix& mass, double h, const FreeMotion& free,
                 const EndMotion& end, const State& next, std::span<const BodyMotionDerivative> derivatives,
                 const StateTangent& next_bar, StateTangent& state_bar, std::span<Vec6<double>> wrench_bar,
                 EndMotionBar& end_bar, GrowableVector& v_free_bar, std::span<Vec3<double>> momentum_bar,
                 std::span<Mat3<double>> inertia_W_bar, std::span<FreeMotionParameterBar> parameter_bar) {
  end_bar.velocity.setZero(mass.size());
  end_bar.displacement.setZero(end.displacement.size());
  for (int s = 0; s < mass.slot_count(); ++s) {
    if (free.moves_with_tree(s)) continue;
    const auto b = static_cast<std::size_t>(mass.body(s)), k = static_cast<std::size_t>(s);
    const BodyMotionDerivative& d = derivatives[b];
    const Vec3<double> w_end = end.velocity.segment<3>(6 * s), w_next = next.V_WB[b].head<3>();
    // w_next = I(R+)^-1 L+
    const Vec3<double> L_bar = d.end_inertia_inverse * next_bar.twist[b].head<3>();
    const Vec3<double> theta_bar = next_bar.pose[b].head<3>() - d.end_by_theta.transpose() * L_bar;
    const Mat3<double> inertia_bar =
        -(d.R_end.transpose() * L_bar) * (d.R_end.transpose() * w_next).transpose();
    parameter_bar[k].inertia_B += 0.5 * (inertia_bar + inertia_bar.transpose());
    // R+ = Exp(h w_end + displacement) R, p+ = p + h v_end + displacement
    const Vec3<double> p_bar = next_bar.pose[b].tail<3>();
    const Vec6<double> way_bar = moved_vjp(d, theta_bar, p_bar, state_bar.pose[b]);
    if (end.displacement.size() > 0) end_bar.displacement.segment<6>(6 * s) = way_bar;
    end_bar.velocity.segment<6>(6 * s) = h * way_bar;
    end_bar.velocity.segment<3>(6 * s + 3) += next_bar.twist[b].tail<3>() + end.lag.time * p_bar;
    state_bar.twist[b].tail<3>() -= end.lag.time * p_bar;
    // L+ = L + h tau + I (w_end - w_free)
    const Vec3<double> w_free = free.v_free.segment<3>(6 * s), reaction = mass.inertia_W(s) * L_bar;
    momentum_bar[k] += L_bar;
    wrench_bar[b].head<3>() += h * L_bar;
    end_bar.velocity.segment<3>(6 * s) += reaction;
    v_free_bar.segment<3>(6 * s) -= reaction;
    inertia_W_bar[k] += L_bar * (w_end - w_free).transpose();
  }
  for (int body = 0; body < model.body_count(); ++body) {
    if (mass.slot(body) >= 0) continue;
    const auto b = static_cast<std::size_t>(body);
    const Vec6<double> way_bar =
        moved_vjp(derivatives[b], next_bar.pose[b].head<3>(), next_bar.pose[b].tail<3>(), state_bar.pose[b]);
    state_bar.twist[b] += next_bar.twist[b] + h * way_bar;
  }
}

void free_motion_vjp(const Model& model, const MassMatrix& mass, const State& state, const Control& control,
                     double h, const FreeMotion& free, std::span<const BodyMotionDerivative> derivatives,
                     const GrowableVector& v_free_bar, std::span<const Vec3<double>> momentum_bar,
                     std::span<Mat3<double>> inertia_W_bar, StateTangent& state_bar,
                     std::span<Vec6<double>> wrench_bar, Vec3<double>& gravity_bar,
                     std::span<FreeMotionParameterBar> parameter_bar) {
  for (int s = 0; s < mass.slot_count(); ++s) {
    const auto b = static_cast<std::size_t>(mass.body(s)), k = static_cast<std::size_t>(s);
    const Body& body = model.bodies[b];
    const BodyMotionDerivative& d = derivatives[b];
    FreeMotionParameterBar& bar = parameter_bar[k];
    Mat3<double> inertia_B_bar = Mat3<double>::Zero();
    if (!free.moves_with_tree(s)) {
      const Vec3<double> w_start = state.V_WB[b].head<3>(), w_free = free.v_free.segment<3>(6 * s);

      // I(R_m) w_m = L + h tau/2
      const Vec3<double> multiplier = d.w_free_by_momentum.transpose() * v_free_bar.segment<3>(6 * s);
      const Vec3<double> L_bar = momentum_bar[k] + multiplier;
      wrench_bar[b].head<3>() += 0.5 * h * multiplier;
      state_bar.pose[b].head<3>() -= d.middle_by_theta.transpose() * multiplier;
      inertia_B_bar = -(d.R_middle.transpose() * multiplier) * (d.R_middle.transpose() * w_free).transpose();

      // L = e^{-c_w h} I w
      bar.angular_damping -= h * L_bar.dot(d.momentum);
      state_bar.twist[b].head<3>() += d.angular_decay * (mass.inertia_W(s) * L_bar);
      inertia_W_bar[k] += d.angular_decay * L_bar * w_start.transpose();

      // v* = e^{-c_v h} v + h (g + f/m)
      const Vec3<double> v_bar = v_free_bar.segment<3>(6 * s + 3), v = state.V_WB[b].tail<3>();
      const Vec3<double> force = applied_wrench(model, control, mass.body(s)).tail<3>();
      state_bar.twist[b].tail<3>() += d.linear_decay * v_bar;
      bar.linear_damping -= h * d.linear_decay * v_bar.dot(v);
      gravity_bar += h * v_bar;
      wrench_bar[b].tail<3>() += (h / body.mass) * v_bar;
      bar.mass -= h * force.dot(v_bar) / (body.mass * body.mass);
    }

    // I = R I_B R^T: <A, [dtheta]x I - I [dtheta]x> for A = dL/dI
    const Mat3<double>& A = inertia_W_bar[k];
    const Mat3<double> X = mass.inertia_W(s) * A.transpose() - A.transpose() * mass.inertia_W(s);
    state_bar.pose[b].head<3>() += Vec3<double>(X(1, 2) - X(2, 1), X(2, 0) - X(0, 2), X(0, 1) - X(1, 0));
    inertia_B_bar += d.R.transpose() * A * d.R;
    bar.inertia_B += 0.5 * (inertia_B_bar + inertia_B_bar.transpose());
  }
}

}  // namespace abut
