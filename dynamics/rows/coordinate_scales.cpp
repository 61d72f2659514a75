#include "dynamics/rows/coordinate_scales.h"

#include <cmath>
#include <tuple>
#include <utility>

#include "engine/lie.h"

namespace abut {

CoordinateInertia::CoordinateInertia(const MassMatrix& mass, const State& state, const Joint& joint,
                                     const Vec3<double>& axis, const Vec3<double>& o, double d_A, double d_B)
    : mass_(mass), state_(state), o_(o), slides_(joint.kind == JointKind::slider) {
  const Vec3<double> zero = Vec3<double>::Zero();
  const Vec6<double> s = slides_ ? stack<double>(zero, axis) : stack<double>(axis, zero);
  Mat6<double> sum = Mat6<double>::Zero();
  for (const auto& [body, d] : {std::pair(joint.body_A, d_A), std::pair(joint.body_B, d_B)}) {
    if (body < 0 || mass.slot(body) < 0) continue;
    Side& side = sides_[at(count_++)];
    side = {body, d, mobility(body)};
    sum += d * side.mobility;
  }
  if (count_ == 0) return;
  P_ = sum.llt().solve(s);
  inverse_ = 1.0 / s.dot(P_);
}

CoordinateInertia::Bar CoordinateInertia::vjp(double inverse_bar, std::span<double> mass_bar,
                                              std::span<Mat3<double>> inertia_W_bar,
                                              std::span<Vec6<double>> pose_bar) const {
  Bar out;
  if (count_ == 0) return out;
  const double factor = -inverse_bar * inverse_ * inverse_;
  out.axis = 2.0 * factor * (slides_ ? P_.tail<3>() : P_.head<3>());
  for (int i = 0; i < count_; ++i) {
    const Side& side = sides_[at(i)];
    const Vec6<double> V = side.mobility * P_;
    const Vec3<double> w = V.head<3>();
    mass_.each_fixed_together(side.body, [&](int slot) {
      const std::size_t b = at(mass_.body(slot));
      const Vec3<double> v = V.tail<3>() + w.cross(state_.X_WB[b].p - o_);
      const double c = factor * side.d;
      inertia_W_bar[at(slot)] += c * w * w.transpose();
      mass_bar[at(slot)] += c * v.squaredNorm();
      const Vec3<double> arm_bar = 2.0 * c * mass_.mass(slot) * v.cross(w);
      pose_bar[b].tail<3>() += arm_bar;
      out.o -= arm_bar;
    });
  }
  return out;
}

Mat6<double> CoordinateInertia::mobility(int body) const {
  double m = 0.0;
  Vec3<double> moment = Vec3<double>::Zero();
  mass_.each_fixed_together(body, [&](int slot) {
    m += mass_.mass(slot);
    moment += mass_.mass(slot) * (state_.X_WB[at(mass_.body(slot))].p - o_);
  });
  const Vec3<double> center = moment / m;
  Mat3<double> inertia = Mat3<double>::Zero();
  mass_.each_fixed_together(body, [&](int slot) {
    const Vec3<double> arm = state_.X_WB[at(mass_.body(slot))].p - o_ - center;
    inertia += mass_.inertia_W(slot) +
               mass_.mass(slot) * (arm.squaredNorm() * Mat3<double>::Identity() - arm * arm.transpose());
  });
  const Mat3<double> inverse = inertia.inverse(), C = skew<double>(center);
  Mat6<double> result;
  result.topLeftCorner<3, 3>() = inverse;
  result.topRightCorner<3, 3>() = -inverse * C;
  result.bottomLeftCorner<3, 3>() = result.topRightCorner<3, 3>().transpose();
  result.bottomRightCorner<3, 3>() = Mat3<double>::Identity() / m - C * inverse * C;
  return result;
}

CoordinateRadius::CoordinateRadius(const Model& model, const Joint& joint) {
  if (joint.kind != JointKind::hinge) return;
  double inverse_square = 0.0;
  for (const auto& [body, X_BJ, by_p] :
       {std::tuple(joint.body_A, &joint.X_AJ, &by_p_A), std::tuple(joint.body_B, &joint.X_BJ, &by_p_B)}) {
    if (body < 0 || model.bodies[at(body)].fixed) continue;
    const double half_size = 0.5 * model.bodies[at(body)].size,
                 square = X_BJ->p.squaredNorm() + half_size * half_size;
    if (!std::isfinite(square)) continue;
    inverse_square += 1.0 / square;
    *by_p = X_BJ->p / (square * square);
  }
  if (inverse_square == 0.0) return;
  value = 1.0 / std::sqrt(inverse_square);
  by_p_A *= value * value * value;
  by_p_B *= value * value * value;
}

}  // namespace abut
