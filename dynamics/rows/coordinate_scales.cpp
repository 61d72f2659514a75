#include "dynamics/rows/coordinate_scales.h"

#include <cmath>
#include <tuple>
#include <utility>

#include "engine/lie.h"

namespace abut {

double inverse_mass_of(const MassMatrix& mass, int slot, const Vec6<double>& J) {
  if (slot < 0) return 0.0;
  return J.head<3>().dot(mass.inverse_inertia_W(slot) * J.head<3>()) +
         J.tail<3>().squaredNorm() / mass.mass(slot);
}

void inverse_mass_vjp(const MassMatrix& mass, int slot, const Vec6<double>& J, double inverse_bar,
                      Vec6<double>& J_bar, std::span<double> mass_bar,
                      std::span<Mat3<double>> inertia_W_bar) {
  const Vec3<double> y = mass.inverse_inertia_W(slot) * J.head<3>(), f = J.tail<3>();
  const double m = mass.mass(slot);
  J_bar += 2.0 * inverse_bar * stack<double>(y, f / m);
  mass_bar[at(slot)] -= inverse_bar * f.squaredNorm() / (m * m);
  inertia_W_bar[at(slot)] -= inverse_bar * y * y.transpose();
}

void CompositeInertias::reset(const MassMatrix& mass) {
  mass_ = &mass;
  const std::size_t slots = at(mass.slot_count());
  moments_.resize(slots);
  for (std::size_t s = 0; s < slots; ++s) {
    const int slot = static_cast<int>(s);
    moments_[s] = {mass.mass(slot), Vec3<double>::Zero(), mass.inertia_W(slot)};
  }
  bars_.assign(slots, {});
  parent_.assign(slots, k_no_link);
  const LinkMotions& links = mass.links();
  for (auto link = links.rbegin(); link != links.rend(); ++link) {
    parent_[at(link->slot)] = link->parent;
    if (link->parent < 0) continue;
    const Moments& of = moments_[at(link->slot)];
    Moments& sum = moments_[at(link->parent)];
    const Vec3<double>&d = link->r, &h = of.first;
    sum.mass += of.mass;
    sum.first += h + of.mass * d;
    sum.second += of.second + (2.0 * h.dot(d) + of.mass * d.squaredNorm()) * Mat3<double>::Identity() -
                  h * d.transpose() - d * h.transpose() - of.mass * d * d.transpose();
  }
}

double CompositeInertias::inertia(int slot, bool slides, const Vec3<double>& axis,
                                  const Vec3<double>& arm) const {
  const Moments& of = moments_[at(slot)];
  if (slides) return of.mass;
  const double along = axis.dot(arm);
  return axis.dot(of.second * axis) + 2.0 * (of.first.dot(arm) - axis.dot(of.first) * along) +
         of.mass * (arm.squaredNorm() - along * along);
}

CompositeInertias::Bar CompositeInertias::vjp(int slot, bool slides, const Vec3<double>& axis,
                                              const Vec3<double>& arm, double inertia_bar) {
  const Moments& of = moments_[at(slot)];
  Moments& bar = bars_[at(slot)];
  Bar out;
  if (slides) {
    bar.mass += inertia_bar;
    return out;
  }
  const double along = axis.dot(arm), first_along = axis.dot(of.first);
  const Vec3<double> across = arm - along * axis;
  out.axis =
      2.0 * inertia_bar * (of.second * axis - first_along * arm - along * of.first - of.mass * along * arm);
  out.arm = 2.0 * inertia_bar * (of.first - first_along * axis + of.mass * across);
  bar.mass += inertia_bar * (arm.squaredNorm() - along * along);
  bar.first += 2.0 * inertia_bar * across;
  bar.second += inertia_bar * axis * axis.transpose();
  return out;
}

void CompositeInertias::finish_vjp(std::span<double> mass_bar, std::span<Mat3<double>> inertia_W_bar,
                                   std::span<Vec6<double>> pose_bar) {
  for (const LinkMotion& link : mass_->links()) {
    if (link.parent < 0) continue;
    const Moments &of = moments_[at(link.slot)], &above = bars_[at(link.parent)];
    Moments& bar = bars_[at(link.slot)];
    const Vec3<double>& d = link.r;
    const Mat3<double> sides =
        2.0 * above.second.trace() * Mat3<double>::Identity() - above.second - above.second.transpose();
    bar.mass += above.mass + above.first.dot(d) + 0.5 * d.dot(sides * d);
    bar.first += above.first + sides * d;
    bar.second += above.second;
    const Vec3<double> d_bar = of.mass * above.first + sides * (of.first + of.mass * d);
    pose_bar[at(mass_->body(link.slot))].tail<3>() += d_bar;
    pose_bar[at(mass_->body(link.parent))].tail<3>() -= d_bar;
  }
  for (std::size_t s = 0; s < bars_.size(); ++s) {
    mass_bar[s] += bars_[s].mass;
    inertia_W_bar[s] += bars_[s].second;
    bars_[s] = {};
  }
}

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
