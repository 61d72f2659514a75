#include "dynamics/motion/mass_matrix.h"

#include <cmath>

namespace abut {

void MassMatrix::update(const Model& model, const State& state, const RigidGroups* groups) {
  groups_ = groups;
  slots_.assign(model.bodies.size(), -1);
  bodies_.clear();
  mass_.clear();
  inertia_W_.clear();
  inverse_inertia_W_.clear();
  links_.clear();
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (body.fixed) continue;
    slots_[b] = static_cast<int>(bodies_.size());
    bodies_.push_back(static_cast<int>(b));
    mass_.push_back(body.mass);
    const Mat3<double> R = state.X_WB[b].rotation();
    inertia_W_.push_back(R * body.inertia * R.transpose());
    inverse_inertia_W_.push_back(R * body.inertia.inverse() * R.transpose());
  }
  inverse_mass_.clear();
  for (const double m : mass_) inverse_mass_.push_back(1.0 / m);
  if (groups == nullptr) return;
  for (const std::vector<int>& group : groups->bodies) {
    double together = 0.0;
    for (const int body : group) together += mass(slot(body));
    for (const int body : group) inverse_mass_[static_cast<std::size_t>(slot(body))] = 1.0 / together;
  }
}

void MassMatrix::select(const MassMatrix& whole, std::span<const int> slots, std::span<const int> links,
                        std::span<const int> local_slot) {
  slots_.clear();
  bodies_.clear();
  mass_.clear();
  inertia_W_.clear();
  inverse_inertia_W_.clear();
  for (const int s : slots) {
    const auto k = static_cast<std::size_t>(s);
    bodies_.push_back(whole.bodies_[k]);
    mass_.push_back(whole.mass_[k]);
    inertia_W_.push_back(whole.inertia_W_[k]);
    inverse_inertia_W_.push_back(whole.inverse_inertia_W_[k]);
  }
  links_.clear();
  for (const int l : links) {
    LinkMotion& link = links_.emplace_back(whole.links_[static_cast<std::size_t>(l)]);
    link.slot = local_slot[static_cast<std::size_t>(link.slot)];
    if (link.parent >= 0) link.parent = local_slot[static_cast<std::size_t>(link.parent)];
  }
}

double MassMatrix::total_mass() const {
  double total = 0.0;
  for (const double m : mass_) total += m;
  return total;
}

Mat6<double> MassMatrix::block(int slot) const {
  Mat6<double> block = Mat6<double>::Zero();
  block.topLeftCorner<3, 3>() = inertia_W(slot);
  block.bottomRightCorner<3, 3>().diagonal().setConstant(mass(slot));
  return block;
}

void MassMatrix::multiply(const GrowableVector& v, GrowableVector& out) const {
  out.resize(v.size());
  for (int s = 0; s < slot_count(); ++s) {
    out.segment<3>(6 * s).noalias() = inertia_W(s) * v.segment<3>(6 * s);
    out.segment<3>(6 * s + 3) = mass(s) * v.segment<3>(6 * s + 3);
  }
}

void MassMatrix::solve(const GrowableVector& f, GrowableVector& out) const {
  out.resize(f.size());
  for (int s = 0; s < slot_count(); ++s) {
    out.segment<3>(6 * s).noalias() = inverse_inertia_W(s) * f.segment<3>(6 * s);
    out.segment<3>(6 * s + 3) = f.segment<3>(6 * s + 3) / mass(s);
  }
}

double MassMatrix::inverse_norm(const GrowableVector& f) const {
  double sum = 0.0;
  for (int s = 0; s < slot_count(); ++s) {
    const auto torque = f.segment<3>(6 * s);
    sum += torque.dot(inverse_inertia_W(s) * torque) + f.segment<3>(6 * s + 3).squaredNorm() / mass(s);
  }
  return std::sqrt(sum);
}

}  // namespace abut
