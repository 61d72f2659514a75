#include "collision/manifold/near_features.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "collision/manifold/kernel/detection_kernels.h"

namespace abut {
namespace {

constexpr std::size_t k_pack = 8;

std::size_t whole_packs(std::size_t count) { return (count + k_pack - 1) / k_pack * k_pack; }

/// Nothing of the body moves more than this between two poses [m].
double motion(const Pose<double>& from, const Pose<double>& to, double reach) {
  // The singular values of a difference of rotations are 2 sin(angle/2), twice, and 0.
  return (to.rotation() - from.rotation()).norm() / std::numbers::sqrt2 * reach + (to.p - from.p).norm();
}

void fill_up(std::vector<double>& numbers, std::size_t count) {
  for (std::size_t i = count; i < whole_packs(count); ++i) numbers[i] = numbers[count - 1];
}

}  // namespace

FeatureColumns::FeatureColumns(const Points& points, const ShapeSdf& sdf)
    : bounds(bounds_of_primitives(sdf)), count(static_cast<int>(points.cols())) {
  const auto many = static_cast<std::size_t>(count);
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<double>& numbers = coordinates[axis];
    numbers.resize(whole_packs(many));
    for (std::size_t i = 0; i < many; ++i) numbers[i] = points(axis, static_cast<Eigen::Index>(i));
    fill_up(numbers, many);
  }
  for (Eigen::Index i = 0; i < points.cols(); ++i) reach = std::max(reach, points.col(i).norm());
}

void NearFeatures::update(const NearQuery& query) {
  // Of the size: a list that is kept at rest, and one that lasts for a few steps of a fast body.
  constexpr double k_least = 4e-3, k_most = 3e-2, k_steps = 4.0, k_rounding = 1e-9;
  const double reach = query.owner->reach;
  const bool is_kept = slack_ >= 0.0 && query.range <= range_ && has_edges_ == !query.edges.empty() &&
                       motion(X_SO_, query.X_SO, reach) <= slack_;
  if (!is_kept) {
    const double step = slack_ >= 0.0 ? motion(last_X_SO_, query.X_SO, reach) : 0.0;
    slack_ = std::clamp(k_steps * step, k_least * query.size, k_most * query.size);
    if (!(slack_ >= 0.0)) slack_ = 0.0;
    range_ = query.range + slack_;
    X_SO_ = query.X_SO;
    has_edges_ = !query.edges.empty();
    list(query);
    slack_ *= 1.0 - k_rounding;
  }
  last_X_SO_ = query.X_SO;
  const RigidMap map{query.X_SO.rotation(), query.X_SO.p};
  const PointColumns columns{coordinates_[0].data(), coordinates_[1].data(), coordinates_[2].data(),
                             static_cast<int>(points_.size())};
  samples_.resize(4 * whole_packs(points_.size()));
  detection_kernels().sample_near({query.sdf, query.solid->bounds.data()}, map, columns, query.range,
                                  {first_.data(), primitives_.data()}, lower_.data(), samples_.data());
}

void NearFeatures::list(const NearQuery& query) {
  const DetectionKernels& kernels = detection_kernels();
  const BoundedSolid solid{query.sdf, query.solid->bounds.data()};
  const RigidMap map{query.X_SO.rotation(), query.X_SO.p};
  const FeatureColumns& owner = *query.owner;
  const auto room = whole_packs(static_cast<std::size_t>(owner.count)) + k_pack;
  points_.resize(room);
  for (auto& numbers : coordinates_) numbers.resize(room);
  const int found = kernels.list_points(
      solid, map,
      {owner.coordinates[0].data(), owner.coordinates[1].data(), owner.coordinates[2].data(), owner.count},
      range_, slack_,
      {points_.data(), coordinates_[0].data(), coordinates_[1].data(), coordinates_[2].data()});
  const auto count = static_cast<std::size_t>(found), added = static_cast<std::size_t>(query.sdf->added());
  points_.resize(count);
  for (auto& numbers : coordinates_) fill_up(numbers, count);
  lower_.resize(k_pack * added);
  first_.resize(room / k_pack + 1);
  primitives_.resize(room / k_pack * added);
  kernels.list_primitives(solid, map,
                          {coordinates_[0].data(), coordinates_[1].data(), coordinates_[2].data(), found},
                          range_, slack_, {first_.data(), primitives_.data()});

  edges_.clear();
  if (query.edges.empty()) return;
  places_.assign(static_cast<std::size_t>(owner.count), -1);
  for (std::size_t i = 0; i < count; ++i) places_[static_cast<std::size_t>(points_[i])] = static_cast<int>(i);
  for (std::size_t e = 0; e < query.edges.size(); ++e) {
    const int start = places_[static_cast<std::size_t>(query.edges[e].start)],
              end = places_[static_cast<std::size_t>(query.edges[e].end)];
    if (start >= 0 || end >= 0 || query.all_edges) edges_.push_back({static_cast<int>(e), start, end});
  }
}

void PairMemory::begin(std::uint64_t detector) {
  if (detector != detector_) {
    next_ = 0;
    forget(kept_.size());
    kept_.clear();
    detector_ = detector;
  }
  next_ = 0;
  now_.clear();
}

void PairMemory::forget(std::size_t until) {
  for (; next_ < until; ++next_) unused_.push_back(std::move(kept_[next_].sides));
}

PairMemory::Sides& PairMemory::of(int body_A, int body_B) {
  const std::pair bodies(body_A, body_B);
  std::size_t at = next_;
  while (at < kept_.size() && kept_[at].bodies < bodies) ++at;
  forget(at);
  if (at < kept_.size() && kept_[at].bodies == bodies) {
    now_.push_back(std::move(kept_[at]));
    ++next_;
  } else if (!unused_.empty()) {
    now_.push_back({bodies, std::move(unused_.back())});
    unused_.pop_back();
    for (NearFeatures& side : *now_.back().sides) side.clear();
  } else {
    now_.push_back({bodies, std::make_unique<Sides>()});
  }
  return *now_.back().sides;
}

void PairMemory::end() {
  forget(kept_.size());
  std::swap(kept_, now_);
}

}  // namespace abut
