#include "dynamics/rollout/adjoint_growth.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace abut {
namespace {

/// Squares of the norms of the poses and twists of moving bodies, by what moves a surface by 1 m, or with 1
/// m/s.
struct Squares {
  double pose = 0.0, twist = 0.0;
};

template <typename Entry>
Squares squares(const Model& model, const Entry& entry) {
  Squares sum;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (body.fixed) continue;
    const double size = std::isfinite(body.size) ? body.size : 1.0;
    const auto square = [&](const Vec6<double>& x) {
      return (x.head<3>() / size).squaredNorm() + x.tail<3>().squaredNorm();
    };
    const auto& [pose, twist] = entry(b);
    sum.pose += square(pose);
    sum.twist += square(twist);
  }
  return sum;
}

}  // namespace

void AdjointGrowth::step_back() {
  if (free_pose_ == 0.0 && free_twist_ == 0.0) return;
  time_ += h_;
  free_twist_ += h_ * free_pose_;
}

void AdjointGrowth::add_loss(const StateTangent& before, const StateTangent& after) {
  const Squares added = squares(*model_, [&](std::size_t b) {
    return std::pair<Vec6<double>, Vec6<double>>(after.pose[b] - before.pose[b],
                                                 after.twist[b] - before.twist[b]);
  });
  free_pose_ += std::sqrt(added.pose);
  free_twist_ += std::sqrt(added.twist);
}

double AdjointGrowth::of(const StateTangent& bar) const {
  const double time = std::max(time_, h_), free = std::hypot(free_pose_, free_twist_ / time);
  if (!(free > 0.0)) return 0.0;
  const Squares here = squares(*model_, [&](std::size_t b) {
    return std::pair<const Vec6<double>&, const Vec6<double>&>(bar.pose[b], bar.twist[b]);
  });
  return std::sqrt(here.pose + here.twist / (time * time)) / free;
}

}  // namespace abut
