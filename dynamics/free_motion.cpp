#include "dynamics/free_motion.h"

#include <cmath>
#include <limits>

#include "dynamics/fixed_motion.h"
#include "engine/lie.h"

namespace abut {
namespace {

/// d(I w)/dtheta for a left perturbation of the rotation that I = R I_B R^T follows.
Mat3<double> momentum_dtheta(const Mat3<double>& I, const Vec3<double>& w) {
  return I * skew<double>(w) - skew<double>(I * w);
}

/// The midpoint equation I(Exp(h w/2) R) w = L + h tau/2 at w: its inertia and its Jacobian by w.
struct Midpoint {
  Mat3<double> rotation;  ///< Exp(h w/2) R
  Mat3<double> inertia;
  Mat3<double> jacobian;

  Midpoint(const Mat3<double>& R, const Mat3<double>& inertia_B, const Vec3<double>& w, double h) {
    const Vec3<double> half = 0.5 * h * w;
    rotation = exp_so3<double>(half) * R;
    inertia = rotation * inertia_B * rotation.transpose();
    jacobian = inertia + momentum_dtheta(inertia, w) * (0.5 * h) * left_jacobian_so3<double>(half);
  }
};

bool solve_midpoint(const Mat3<double>& R, const Mat3<double>& inertia_B, const Vec3<double>& momentum,
                    double h, Vec3<double>& w) {
  constexpr int k_max_iterations = 50;
  const double scale = momentum.norm();
  double previous = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < k_max_iterations; ++iteration) {
    const Midpoint at(R, inertia_B, w, h);
    const Vec3<double> residual = at.inertia * w - momentum;
    const double error = residual.norm();
    // Newton converges quadratically: once the error no longer falls it is rounding.
    if (error <= 4e-16 * scale || (error < 1e-13 * scale && error >= 0.5 * previous)) return true;
    previous = error;
    w -= at.jacobian.partialPivLu().solve(residual);
  }
  return false;
}

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

}  // namespace

Vec6<double> applied_wrench(const Model& model, const Control& control, int body) {
  const auto b = static_cast<std::size_t>(body);
  Vec6<double> wrench = model.bodies[b].external_wrench;
  if (!control.empty()) wrench += control[b];
  return wrench;
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
    const Vec3<double> momentum = std::exp(-body.angular_damping * h) * (mass.inertia_W(s) * V.head<3>());
    Vec3<double> w = V.head<3>();
    if (!solve_midpoint(state.X_WB[b].rotation(), body.inertia, momentum + 0.5 * h * wrench.head<3>(), h,
                        w)) {
      free.converged = false;
      free.unconverged_slot = s;
    }
    free.v_free.segment<3>(6 * s) = w;
    free.v_free.segment<3>(6 * s + 3) =
        std::exp(-body.linear_damping * h) * V.tail<3>() + h * (model.gravity + wrench.tail<3>() / body.mass);
  }
}

void advance(const Model& model, const MassMatrix& mass, const State& state, const Control& control, double h,
             const FreeMotion& free, const EndMotion& end, State& next) {
  next.X_WB = state.X_WB;
  next.V_WB = state.V_WB;
  next.time = state.time + h;
  for (int body = 0; body < model.body_count(); ++body) {
    if (mass.slot(body) >= 0) continue;
    const auto b = static_cast<std::size_t>(body);
    const Vec6<double> V = fixed_twist(model, state, h, body);
    next.V_WB[b] = fixed_twist_at_end(model, state, h, body);
    if (!V.isZero(0.0)) next.X_WB[b] = retract<double>(state.X_WB[b], h * V).normalized();
  }
  for (int s = 0; s < mass.slot_count(); ++s) {
    const auto b = static_cast<std::size_t>(mass.body(s));
    const Body& body = model.bodies[b];
    const Vec3<double> w = end.velocity.segment<3>(6 * s), v = end.velocity.segment<3>(6 * s + 3);
    const Vec6<double> way = way_of(free, end, h, s);
    const Vec3<double> turn = way.head<3>();
    next.X_WB[b].q = exp_quaternion<double>(turn) * state.X_WB[b].q;
    next.X_WB[b].p = state.X_WB[b].p + way.tail<3>();
    next.X_WB[b] = next.X_WB[b].normalized();
    const Vec3<double> w_start = free.v_start.segment<3>(6 * s), w_free = free.v_free.segment<3>(6 * s);
    const Vec3<double> momentum = std::exp(-body.angular_damping * h) * (mass.inertia_W(s) * w_start) +
                                  h * applied_wrench(model, control, mass.body(s)).head<3>() +
                                  mass.inertia_W(s) * (w - w_free);
    // Solved with the very matrix that the next step multiplies by (see MassMatrix): through the inverse in
    // B, the rounding of |q| would add up to a drift of the angular momentum, 1e-15 of it a step.
    const Mat3<double> R = next.X_WB[b].rotation(), I = R * body.inertia * R.transpose();
    next.V_WB[b] = stack<double>(I.ldlt().solve(momentum), v);
  }
}

void free_motion_jvp(const Model& model, const MassMatrix& mass, const State& state, const Control& control,
                     double h, const FreeMotion& free, const FreeMotionDirection& direction,
                     FreeMotionTangent& tangent) {
  tangent.v_start.resize(mass.size());
  tangent.v_free.resize(mass.size());
  tangent.momentum.resize(static_cast<std::size_t>(mass.slot_count()));
  tangent.inertia_W.resize(static_cast<std::size_t>(mass.slot_count()));
  for (int s = 0; s < mass.slot_count(); ++s) {
    const auto b = static_cast<std::size_t>(mass.body(s)), k = static_cast<std::size_t>(s);
    const Body& body = model.bodies[b];
    const FreeMotionParameterBar& dot = direction.parameters[k];
    const Vec3<double> theta_dot = direction.state.pose[b].head<3>();
    const Vec6<double>&V = state.V_WB[b], &V_dot = direction.state.twist[b],
          &wrench_dot = direction.wrench[b];
    tangent.v_start.segment<6>(6 * s) = V_dot;

    // I = R I_B R^T, L = e^{-c_w h} I w
    const Mat3<double> R = state.X_WB[b].rotation(), turn = skew<double>(theta_dot), &I = mass.inertia_W(s);
    tangent.inertia_W[k] = turn * I - I * turn + R * dot.inertia_B * R.transpose();
    const Vec3<double> L = std::exp(-body.angular_damping * h) * (I * V.head<3>());
    tangent.momentum[k] =
        std::exp(-body.angular_damping * h) * (tangent.inertia_W[k] * V.head<3>() + I * V_dot.head<3>()) -
        h * dot.angular_damping * L;

    // I(Exp(h w_free/2) R) w_free = L + h tau/2, differentiated implicitly
    const Vec3<double> w_free = free.v_free.segment<3>(6 * s);
    const Midpoint at(R, body.inertia, w_free, h);
    const Vec3<double> middle_dot = exp_so3<double>(Vec3<double>(0.5 * h * w_free)) * theta_dot;
    const Vec3<double> by_inertia =
        at.rotation * (dot.inertia_B * Vec3<double>(at.rotation.transpose() * w_free));
    tangent.v_free.segment<3>(6 * s) = at.jacobian.partialPivLu().solve(
        Vec3<double>(tangent.momentum[k] + 0.5 * h * wrench_dot.head<3>() -
                     momentum_dtheta(at.inertia, w_free) * middle_dot - by_inertia));

    // v* = e^{-c_v h} v + h (g + f/m)
    const Vec3<double> force = applied_wrench(model, control, mass.body(s)).tail<3>();
    tangent.v_free.segment<3>(6 * s + 3) =
        std::exp(-body.linear_damping * h) *
            Vec3<double>(V_dot.tail<3>() - h * dot.linear_damping * V.tail<3>()) +
        h * (direction.gravity + (wrench_dot.tail<3>() - dot.mass / body.mass * force) / body.mass);
  }
}

void advance_jvp(const Model& model, const MassMatrix& mass, const State& state, double h,
                 const FreeMotion& free, const EndMotion& end, const State& next,
                 const FreeMotionDirection& direction, const FreeMotionTangent& tangent,
                 const EndMotionBar& end_dot, StateTangent& next_dot) {
  next_dot.set_zero(model.body_count());
  const auto moved = [](const Vec6<double>& pose_dot, const Vec3<double>& turn, const Vec6<double>& way_dot) {
    const Vec3<double> theta_dot =
        exp_so3<double>(turn) * pose_dot.head<3>() + left_jacobian_so3<double>(turn) * way_dot.head<3>();
    return stack<double>(theta_dot, pose_dot.tail<3>() + way_dot.tail<3>());
  };
  for (int s = 0; s < mass.slot_count(); ++s) {
    const auto b = static_cast<std::size_t>(mass.body(s)), k = static_cast<std::size_t>(s);
    const Vec6<double> v_end_dot = end_dot.velocity.segment<6>(6 * s);
    Vec6<double> way_dot = h * v_end_dot;
    way_dot.tail<3>() += end.lag.time * (v_end_dot.tail<3>() - tangent.v_start.segment<3>(6 * s + 3));
    if (end.displacement.size() > 0) way_dot += end_dot.displacement.segment<6>(6 * s);
    next_dot.pose[b] = moved(direction.state.pose[b], way_of(free, end, h, s).head<3>(), way_dot);
    // I(R+) w_next = L+ = L + h tau + I (w_end - w_free)
    const Vec3<double> w_change = end.velocity.segment<3>(6 * s) - free.v_free.segment<3>(6 * s),
                       w_change_dot = v_end_dot.head<3>() - tangent.v_free.segment<3>(6 * s);
    const Vec3<double> momentum_dot = tangent.momentum[k] + h * direction.wrench[b].head<3>() +
                                      tangent.inertia_W[k] * w_change + mass.inertia_W(s) * w_change_dot;
    const Mat3<double> R = next.X_WB[b].rotation(), I = R * model.bodies[b].inertia * R.transpose();
    const Vec3<double> w_next = next.V_WB[b].head<3>();
    const Vec3<double> by_inertia =
        R * (direction.parameters[k].inertia_B * Vec3<double>(R.transpose() * w_next));
    next_dot.twist[b] =
        stack<double>(I.ldlt().solve(Vec3<double>(momentum_dot - by_inertia -
                                                  momentum_dtheta(I, w_next) * next_dot.pose[b].head<3>())),
                      v_end_dot.tail<3>());
  }
  for (int body = 0; body < model.body_count(); ++body) {
    if (mass.slot(body) >= 0) continue;
    const auto b = static_cast<std::size_t>(body);
    const Vec3<double> turn = h * fixed_twist(model, state, h, body).head<3>();
    next_dot.twist[b] = direction.state.twist[b];
    next_dot.pose[b] = moved(direction.state.pose[b], turn, h * direction.state.twist[b]);
  }
}

void advance_vjp(const Model& model, const MassMatrix& mass, const State& state, const Control& control,
                 double h, const FreeMotion& free, const EndMotion& end, const State& next,
                 const StateTangent& next_bar, StateTangent& state_bar, std::span<Vec6<double>> wrench_bar,
                 EndMotionBar& end_bar, Eigen::VectorXd& v_free_bar, std::span<Vec3<double>> momentum_bar,
                 std::span<Mat3<double>> inertia_W_bar, std::span<FreeMotionParameterBar> parameter_bar,
                 double& h_bar) {
  end_bar.velocity.resize(mass.size());
  end_bar.displacement.resize(end.displacement.size());
  for (int s = 0; s < mass.slot_count(); ++s) {
    const auto b = static_cast<std::size_t>(mass.body(s)), k = static_cast<std::size_t>(s);
    const Vec6<double> v_end = end.velocity.segment<6>(6 * s);
    const Vec3<double> w_end = v_end.head<3>(), w_next = next.V_WB[b].head<3>();
    // w_next = I(R+)^-1 L+
    const Mat3<double> R = next.X_WB[b].rotation();
    const Mat3<double> I = R * model.bodies[b].inertia * R.transpose();
    const Vec3<double> L_bar =
        R * model.bodies[b].inertia.ldlt().solve(R.transpose() * next_bar.twist[b].head<3>());
    Vec3<double> theta_bar = next_bar.pose[b].head<3>() - momentum_dtheta(I, w_next).transpose() * L_bar;
    const Mat3<double> inertia_bar = -(R.transpose() * L_bar) * (R.transpose() * w_next).transpose();
    parameter_bar[k].inertia_B += 0.5 * (inertia_bar + inertia_bar.transpose());
    // R+ = Exp(h w_end + displacement) R, p+ = p + h v_end + displacement
    const Vec3<double> turn = way_of(free, end, h, s).head<3>(), p_bar = next_bar.pose[b].tail<3>();
    const Vec6<double> way_bar =
        stack<double>(left_jacobian_so3<double>(turn).transpose() * theta_bar, p_bar);
    if (end.displacement.size() > 0) end_bar.displacement.segment<6>(6 * s) = way_bar;
    end_bar.velocity.segment<6>(6 * s) = h * way_bar;
    end_bar.velocity.segment<3>(6 * s + 3) += next_bar.twist[b].tail<3>() + end.lag.time * p_bar;
    state_bar.twist[b].tail<3>() -= end.lag.time * p_bar;
    h_bar +=
        way_bar.dot(v_end) + end.lag.by_h * p_bar.dot(v_end.tail<3>() - free.v_start.segment<3>(6 * s + 3));
    state_bar.pose[b] += stack<double>(exp_so3<double>(turn).transpose() * theta_bar, p_bar);
    // L+ = L + h tau + I (w_end - w_free)
    const Vec3<double> w_free = free.v_free.segment<3>(6 * s), reaction = mass.inertia_W(s) * L_bar;
    momentum_bar[k] += L_bar;
    wrench_bar[b].head<3>() += h * L_bar;
    end_bar.velocity.segment<3>(6 * s) += reaction;
    h_bar += L_bar.dot(applied_wrench(model, control, mass.body(s)).head<3>());
    v_free_bar.segment<3>(6 * s) -= reaction;
    inertia_W_bar[k] += L_bar * (w_end - w_free).transpose();
  }
  for (int body = 0; body < model.body_count(); ++body) {
    if (mass.slot(body) >= 0) continue;
    const auto b = static_cast<std::size_t>(body);
    const Vec6<double> V = fixed_twist(model, state, h, body);
    const Vec3<double> turn = h * V.head<3>();
    const Vec3<double> theta_bar = next_bar.pose[b].head<3>(), p_bar = next_bar.pose[b].tail<3>();
    const Vec6<double> way_bar =
        stack<double>(left_jacobian_so3<double>(turn).transpose() * theta_bar, p_bar);
    state_bar.pose[b] += stack<double>(exp_so3<double>(turn).transpose() * theta_bar, p_bar);
    state_bar.twist[b] += next_bar.twist[b] + h * way_bar;
    h_bar += way_bar.dot(V);
  }
}

void free_motion_vjp(const Model& model, const MassMatrix& mass, const State& state, const Control& control,
                     double h, const FreeMotion& free, const Eigen::VectorXd& v_free_bar,
                     std::span<const Vec3<double>> momentum_bar, std::span<Mat3<double>> inertia_W_bar,
                     StateTangent& state_bar, std::span<Vec6<double>> wrench_bar, Vec3<double>& gravity_bar,
                     std::span<FreeMotionParameterBar> parameter_bar, double& h_bar) {
  for (int s = 0; s < mass.slot_count(); ++s) {
    const auto b = static_cast<std::size_t>(mass.body(s)), k = static_cast<std::size_t>(s);
    const Body& body = model.bodies[b];
    FreeMotionParameterBar& bar = parameter_bar[k];
    const Mat3<double> R = state.X_WB[b].rotation();
    const Vec3<double> w_start = state.V_WB[b].head<3>(), w_free = free.v_free.segment<3>(6 * s);

    // I(Exp(h w_free/2) R) w_free = L + h tau/2, differentiated implicitly
    const Midpoint at(R, body.inertia, w_free, h);
    const Vec3<double> w_free_bar = v_free_bar.segment<3>(6 * s);
    const Vec3<double> multiplier = at.jacobian.transpose().partialPivLu().solve(w_free_bar);
    const Vec3<double> L_bar = momentum_bar[k] + multiplier;
    wrench_bar[b].head<3>() += 0.5 * h * multiplier;
    const Vec3<double> middle_bar = -momentum_dtheta(at.inertia, w_free).transpose() * multiplier;
    const Vec3<double> half = 0.5 * h * w_free;
    state_bar.pose[b].head<3>() += exp_so3<double>(half).transpose() * middle_bar;
    const Vec3<double> torque = applied_wrench(model, control, mass.body(s)).head<3>();
    h_bar += multiplier.dot(0.5 * torque) +
             (left_jacobian_so3<double>(half).transpose() * middle_bar).dot(0.5 * w_free);
    Mat3<double> inertia_B_bar =
        -(at.rotation.transpose() * multiplier) * (at.rotation.transpose() * w_free).transpose();

    // L = e^{-c_w h} I w
    const double decay = std::exp(-body.angular_damping * h);
    const Vec3<double> L = decay * (mass.inertia_W(s) * w_start);
    bar.angular_damping -= h * L_bar.dot(L);
    h_bar -= body.angular_damping * L_bar.dot(L);
    state_bar.twist[b].head<3>() += decay * (mass.inertia_W(s) * L_bar);
    inertia_W_bar[k] += decay * L_bar * w_start.transpose();

    // v* = e^{-c_v h} v + h (g + f/m)
    const Vec3<double> v_bar = v_free_bar.segment<3>(6 * s + 3), v = state.V_WB[b].tail<3>();
    const Vec3<double> force = applied_wrench(model, control, mass.body(s)).tail<3>();
    const double linear_decay = std::exp(-body.linear_damping * h);
    state_bar.twist[b].tail<3>() += linear_decay * v_bar;
    bar.linear_damping -= h * linear_decay * v_bar.dot(v);
    gravity_bar += h * v_bar;
    h_bar += v_bar.dot(model.gravity + force / body.mass - body.linear_damping * linear_decay * v);
    wrench_bar[b].tail<3>() += (h / body.mass) * v_bar;
    bar.mass -= h * force.dot(v_bar) / (body.mass * body.mass);

    // I = R I_B R^T: <A, [dtheta]x I - I [dtheta]x> for A = dL/dI
    const Mat3<double>& A = inertia_W_bar[k];
    const Mat3<double> X = mass.inertia_W(s) * A.transpose() - A.transpose() * mass.inertia_W(s);
    state_bar.pose[b].head<3>() += Vec3<double>(X(1, 2) - X(2, 1), X(2, 0) - X(0, 2), X(0, 1) - X(1, 0));
    inertia_B_bar += R.transpose() * A * R;
    bar.inertia_B += 0.5 * (inertia_B_bar + inertia_B_bar.transpose());
  }
}

}  // namespace abut
