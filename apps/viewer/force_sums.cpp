#include "apps/viewer/force_sums.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "apps/viewer/contact_description.h"

namespace abut::viewer {
namespace {

constexpr double k_one_normal = 0.985;  // cosine of 10 degrees

/// Adds up parts; what is weighted by forces is divided by their sum in the end.
class ForceSummer {
 public:
  void add(const ContactForce& force, double sign) {
    const double newtons = force.force_B_W.norm(), normal = std::max(0.0, force.normal_force());
    if (!(newtons > 0.0)) return;
    sum_.point_W += newtons * force.point_W;
    sum_.force_W += sign * force.force_B_W;
    sum_.normal_W += sign * normal * force.normal_AB_W.normalized();
    sum_.normal_force += normal;
    sum_.friction += normal * force.friction;
    ++sum_.count;
    newtons_ += newtons;
  }
  [[nodiscard]] ForceArrow sum(int body, int from) const {
    ForceArrow arrow = sum_;
    arrow.body = body;
    arrow.from = from;
    if (newtons_ > 0.0) arrow.point_W /= newtons_;
    if (arrow.normal_force > 0.0) {
      arrow.normal_W /= arrow.normal_force;
      arrow.friction /= arrow.normal_force;
    }
    return arrow;
  }

 private:
  ForceArrow sum_;
  double newtons_ = 0.0;  // sum of |force| [N]
};

template <typename F>
void for_each_force(const Frame& frame, F use) {
  for (const ContactView& view : frame.contacts) {
    if (view.has_force) use(view.force);
  }
  for (const ContactForce& force : frame.other_forces) use(force);
}

/// Calls use(force, sign) for the forces on a body, +1 where it is body B.
template <typename F>
void for_each_force_on(const Frame& frame, int body, F use) {
  for_each_force(frame, [&](const ContactForce& force) {
    if (force.feature.body_A == body) use(force, -1.0);
    if (force.feature.body_B == body) use(force, 1.0);
  });
}

}  // namespace

std::vector<ForceArrow> force_arrows(const Model& model, const ContactSet& set,
                                     const ContactDisplay& display) {
  std::vector<ForceArrow> single;
  std::map<std::pair<int, int>, ForceSummer> sums;  // by body and, of pairs, the other one
  const auto is_bounded = [&](int body) {
    return std::isfinite(model.bodies[static_cast<std::size_t>(body)].size);
  };
  const auto add = [&](const ContactForce& force) {
    const int A = force.feature.body_A, B = force.feature.body_B;
    if (!(force.force_B_W.norm() > k_least_force)) return;
    switch (display.force_sum) {
      case ForceSum::contact: {
        ForceSummer one;
        one.add(force, 1.0);
        single.push_back(one.sum(B, A));
        return;
      }
      case ForceSum::pair:
        return sums[{B, A}].add(force, 1.0);
      case ForceSum::body:
        if (is_bounded(A)) sums[{A, -1}].add(force, -1.0);
        if (is_bounded(B)) sums[{B, -1}].add(force, 1.0);
        return;
    }
  };
  for (const ContactView& view : set.contacts) {
    if (view.has_force && is_shown(view, display)) add(view.force);
  }
  for (const ContactForce& force : set.other_forces) {
    if (display.shows(force.feature.kind)) add(force);
  }
  for (const auto& [bodies, summer] : sums) single.push_back(summer.sum(bodies.first, bodies.second));
  return single;
}

ForceArrow force_on(const Frame& frame, int body, int from) {
  ForceSummer summer;
  for_each_force_on(frame, body, [&](const ContactForce& force, double sign) {
    const int other = sign > 0.0 ? force.feature.body_A : force.feature.body_B;
    if (from < 0 || other == from) summer.add(force, sign);
  });
  return summer.sum(body, from);
}

Vec3<double> contact_torque_on(const Frame& frame, int body, const Vec3<double>& about_W) {
  Vec3<double> torque_W = Vec3<double>::Zero();
  for_each_force_on(frame, body, [&](const ContactForce& force, double sign) {
    torque_W += sign * (force.point_W - about_W).cross(force.force_B_W);
  });
  return torque_W;
}

std::map<BodyPair, ForceArrow> forces_of_pairs(const Frame& frame) {
  std::map<BodyPair, ForceSummer> summers;
  for_each_force(frame, [&](const ContactForce& force) {
    const int A = force.feature.body_A, B = force.feature.body_B;
    summers[body_pair(A, B)].add(force, A < B ? 1.0 : -1.0);
  });
  std::map<BodyPair, ForceArrow> sums;
  for (const auto& [bodies, summer] : summers) sums[bodies] = summer.sum(bodies.second, bodies.first);
  return sums;
}

bool has_friction_cone(const ForceArrow& arrow) {
  return arrow.from >= 0 && arrow.friction > 0.0 && arrow.normal_W.norm() > k_one_normal;
}

double friction_use(const ForceArrow& arrow) {
  const Vec3<double> normal = arrow.normal_W.normalized();
  const double along = arrow.force_W.dot(normal), bound = arrow.friction * along;
  return bound > 0.0 ? (arrow.force_W - along * normal).norm() / bound : 0.0;
}

}  // namespace abut::viewer
