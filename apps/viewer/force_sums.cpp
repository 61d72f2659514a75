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
    sum_.friction += normal * force.friction;
    ++sum_.count;
    newtons_ += newtons;
    normal_ += normal;
  }
  [[nodiscard]] ForceArrow sum(int body, int from) const {
    ForceArrow arrow = sum_;
    arrow.body = body;
    arrow.from = from;
    arrow.point_W /= newtons_;
    if (normal_ > 0.0) {
      arrow.normal_W /= normal_;
      arrow.friction /= normal_;
    }
    return arrow;
  }

 private:
  ForceArrow sum_;
  double newtons_ = 0.0, normal_ = 0.0;  // sums of |force| and of the normal forces [N]
};

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

bool has_friction_cone(const ForceArrow& arrow) {
  return arrow.from >= 0 && arrow.friction > 0.0 && arrow.normal_W.norm() > k_one_normal;
}

double friction_use(const ForceArrow& arrow) {
  const Vec3<double> normal = arrow.normal_W.normalized();
  const double along = arrow.force_W.dot(normal), bound = arrow.friction * along;
  return bound > 0.0 ? (arrow.force_W - along * normal).norm() / bound : 0.0;
}

}  // namespace abut::viewer
