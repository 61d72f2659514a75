#include "collision/manifold/flush_faces.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "collision/manifold/kernel/point_kernels.h"
#include "collision/sdf/parameter_vjp.h"
#include "engine/instruction_set.h"

namespace abut {
namespace {

struct Spread {
  double mean = 0.0, variance = 0.0;

  Spread(const double* numbers, std::size_t count) {
    const double share = 1.0 / static_cast<double>(count);
    for (std::size_t k = 0; k < count; ++k) mean += share * numbers[k];
    for (std::size_t k = 0; k < count; ++k) variance += share * (numbers[k] - mean) * (numbers[k] - mean);
  }
};

/// Adds dL/d of the poses and geometry, given dL/dQ of a face.
void unevenness_vjp(const FlushQuery& query, const FlatFace& face, double bar, Vec6<double>& pose_O_bar,
                    Vec6<double>& pose_S_bar, GeometryGradient* geometry_O, GeometryGradient* geometry_S) {
  const auto count = static_cast<Eigen::Index>(face.factors.size());
  using Samples = Eigen::Matrix<double, 4, Eigen::Dynamic>;  // distance and normal
  Points x_S(3, count);
  std::vector<SdfSampleJacobian<double>> at_supports;
  Samples samples(4, count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const Vec3<double> x_W =
        query.X_WO * Vec3<double>(query.owner->contact_points.col(face.points[static_cast<std::size_t>(k)]));
    x_S.col(k) = inverse_point<double>(query.X_WS, x_W);
    at_supports.push_back(query.solid->evaluate_jacobian<double>(Vec3<double>(x_S.col(k))));
    samples.col(k) << at_supports.back().distance, at_supports.back().normal;
  }
  const double share = 1.0 / static_cast<double>(count), mean = samples.row(0).mean();
  Samples samples_bar = 2.0 * bar * share * (samples.colwise() - samples.rowwise().mean());
  samples_bar.row(0) /= query.band.distance * query.band.distance;
  samples_bar.row(0).array() +=
      2.0 * bar * share * (mean - query.owner->contact_radius) / (query.band.away * query.band.away);
  samples_bar.bottomRows<3>() /= query.band.normal * query.band.normal;

  // In the middle, where points of the owner move by the mean of the supports.
  const Vec3<double> middle_S = x_S.rowwise().mean(), middle_arm_S = query.X_WS.q * middle_S,
                     middle_arm_O = query.X_WS * middle_S - query.X_WO.p;
  const auto at_middle = query.solid->evaluate_jacobian<double>(middle_S);
  const double gap_bar = 2.0 * bar * (mean - at_middle.distance) / (query.band.gap * query.band.gap);
  samples_bar.row(0).array() += share * gap_bar;
  const Vec3<double> face_normal = query.X_WO.q * face.normal, normal = query.X_WS.q * at_middle.normal,
                     off_bar =
                         2.0 * bar * std::pow(face.reach / query.band.distance, 2) * (normal + face_normal),
                     normal_bar_S = query.X_WS.q.conjugate() * off_bar,
                     middle_bar = query.X_WS.q * sample_vjp(at_middle, -gap_bar, normal_bar_S);
  pose_O_bar += stack<double>(middle_arm_O.cross(middle_bar) + face_normal.cross(off_bar), middle_bar);
  pose_S_bar -= stack<double>(middle_arm_S.cross(middle_bar) - normal.cross(off_bar), middle_bar);
  if (geometry_O != nullptr) {
    for (Eigen::Index k = 0; k < count; ++k)
      geometry_O->contact_points.col(face.points[static_cast<std::size_t>(k)]) +=
          share * (query.X_WO.q.conjugate() * middle_bar);
  }
  if (geometry_S != nullptr)
    query.solid->parameter_vjp(middle_S, -gap_bar, normal_bar_S, geometry_S->primitives);

  for (Eigen::Index k = 0; k < count; ++k) {
    const int point = face.points[static_cast<std::size_t>(k)];
    const Vec3<double> normal_bar = samples_bar.col(k).tail<3>(), x = x_S.col(k),
                       arm_O = query.X_WO.q * Vec3<double>(query.owner->contact_points.col(point)),
                       arm_S = query.X_WS.q * x,
                       x_bar = query.X_WS.q * sample_vjp(at_supports[static_cast<std::size_t>(k)],
                                                         samples_bar(0, k), normal_bar);
    pose_O_bar += stack<double>(arm_O.cross(x_bar), x_bar);
    pose_S_bar -= stack<double>(arm_S.cross(x_bar), x_bar);
    if (geometry_O != nullptr) {
      geometry_O->contact_points.col(point) += query.X_WO.q.conjugate() * x_bar;
      geometry_O->contact_radius -= samples_bar(0, k) - share * gap_bar;
    }
    if (geometry_S != nullptr)
      query.solid->parameter_vjp(x, samples_bar(0, k), normal_bar, geometry_S->primitives);
  }
}

bool is_support(const FlatFace& face, std::size_t k) { return k < face.factors.size(); }

/// The solid at flush.coordinates, columns of flush.samples; says how many they are.
std::size_t sample_solid(const FlushQuery& query, FlushFaces& flush) {
  const std::size_t count = flush.coordinates[0].size();
  flush.samples.resize(k_sample_normal_columns * count);
  if (count > 0) {
    chosen_kernels<PointKernels>().sample_points(*query.solid, SdfOrder::normal, flush.coordinates[0].data(),
                                                 flush.coordinates[1].data(), flush.coordinates[2].data(),
                                                 static_cast<int>(count), flush.samples.data());
  }
  return count;
}

/// The faces that may lie flush by where their middle is and how they are turned, and the solid at their
/// supports, one face after the other.
void sample_supports(const FlushQuery& query, FlushFaces& flush) {
  flush.asked.clear();
  const auto clear = [&] {
    for (auto& numbers : flush.coordinates) numbers.clear();
  };
  const auto ask = [&](const Vec3<double>& x_S) {
    for (int axis = 0; axis < 3; ++axis) flush.coordinates[axis].push_back(x_S[axis]);
  };
  const Pose<double> X_SO = query.X_WS.inverse() * query.X_WO;
  const Mat3<double> R_SO = X_SO.rotation();
  // A convex distance is least in the middle.
  const Vec3<double> grown = Vec3<double>::Constant(query.solid->distance_ratio() *
                                                    (k_away * query.band.away + query.owner->contact_radius));
  const Vec3<double> low = query.solid->bounds().min() - grown, high = query.solid->bounds().max() + grown;
  clear();
  for (const FlatFace& face : query.owner->flat_faces) {
    if (!counts_as_flush(face, *query.of_owner)) continue;
    Vec3<double> sum = Vec3<double>::Zero();
    for (const int point : std::span(face.points).first(face.factors.size()))
      sum += query.owner->contact_points.col(point);
    const Vec3<double> middle = R_SO * (sum / static_cast<double>(face.factors.size())) + X_SO.p;
    if ((middle.array() < low.array()).any() || (middle.array() > high.array()).any()) continue;
    flush.asked.push_back({&face, 0.0, 0.0});
    ask(middle);
  }
  const std::size_t near = sample_solid(query, flush);
  std::size_t left = 0;
  for (std::size_t i = 0; i < near; ++i) {
    const auto number = [&](std::size_t column) { return flush.samples[column * near + i]; };
    const FlatFace& face = *flush.asked[i].face;
    Vec3<double> off = query.X_WO.q * face.normal;
    off = query.X_WS.q.conjugate() * off;
    for (int axis = 0; axis < 3; ++axis) off[axis] += number(k_sample_normal + at(axis));
    const double misaligned = std::pow(face.reach / query.band.distance, 2) * off.squaredNorm();
    if (flushness(misaligned) > 0.0) flush.asked[left++] = {&face, misaligned, number(k_sample_distance)};
  }
  flush.asked.resize(left);
  clear();
  for (const auto& [face, misaligned, distance] : flush.asked) {
    for (const int point : std::span(face->points).first(face->factors.size()))
      ask(R_SO * query.owner->contact_points.col(point) + X_SO.p);
  }
  (void)sample_solid(query, flush);
}

}  // namespace

void find_flush_faces(const FlushQuery& query, FlushFaces& flush) {
  flush.clear();
  if (!query.may_lie_flush()) return;
  sample_supports(query, flush);
  const std::size_t samples = flush.coordinates[0].size();
  std::size_t begin = 0;
  for (const auto& [asked, misaligned, distance_in_middle] : flush.asked) {
    const FlatFace& face = *asked;
    const std::size_t supports = face.factors.size();
    double uneven = 0.0;
    for (std::size_t c = 0; c < k_sample_normal_columns; ++c) {
      const Spread spread(flush.samples.data() + c * samples + begin, supports);
      if (c == k_sample_distance) {
        uneven += spread.variance / std::pow(query.band.distance, 2) +
                  std::pow((spread.mean - query.owner->contact_radius) / query.band.away, 2) +
                  std::pow((spread.mean - distance_in_middle) / query.band.gap, 2);
      } else {
        uneven += spread.variance / std::pow(query.band.normal, 2);
      }
    }
    uneven += misaligned;
    begin += supports;
    const double flat = flushness(uneven);
    if (!(flat > 0.0)) continue;
    if (flush.none) {
      const auto count = static_cast<std::size_t>(query.owner->contact_points.cols());
      flush.none = false;
      for (auto* const ones : {&flush.weights, &flush.area_factors}) ones->assign(count, 1.0);
      for (auto* const zeros : {&flush.weights_bar, &flush.area_factors_bar}) {
        if (zeros->size() != count) zeros->assign(count, 0.0);  // else flush_faces_vjp() left 0
      }
    }
    for (std::size_t k = 0; k < face.points.size(); ++k) {
      const std::size_t point = at(face.points[k]);
      if (is_support(face, k)) {
        flush.area_factors[point] += flat * (face.factors[k] - 1.0);
      } else {
        flush.weights[point] = std::max(0.0, flush.weights[point] - flat);
      }
    }
    if (query.of_owner->is_convex()) flush.edges_left *= 1.0 - flat;
    const double slope = flushness_dx(uneven);
    if (slope != 0.0 && flat < 1.0) flush.changing.push_back({&face, flat, slope});
  }
}

void flush_faces_jvp(const FlushQuery& query, const FlushFaces& flush, const Vec6<double>& pose_O,
                     const Vec6<double>& pose_S, FlushFacesDot& dot) {
  const std::size_t count = flush.none ? 0 : flush.weights.size();
  for (auto* const zeros : {&dot.weights, &dot.area_factors}) zeros->assign(count, 0.0);
  dot.edges_left = 0.0;
  if (flush.none) return;
  for (const auto& [face, flat, slope] : flush.changing) {
    Vec6<double> by_O = Vec6<double>::Zero(), by_S = by_O;
    unevenness_vjp(query, *face, slope, by_O, by_S, nullptr, nullptr);
    const double flat_dot = by_O.dot(pose_O) + by_S.dot(pose_S);
    if (query.of_owner->is_convex()) dot.edges_left -= flush.edges_left / (1.0 - flat) * flat_dot;
    for (std::size_t k = 0; k < face->points.size(); ++k) {
      const std::size_t point = at(face->points[k]);
      if (is_support(*face, k)) {
        dot.area_factors[point] += flat_dot * (face->factors[k] - 1.0);
      } else {
        dot.weights[point] -= flat_dot;
      }
    }
  }
}

void flush_faces_vjp(const FlushQuery& query, FlushFaces& flush, Vec6<double>& pose_O_bar,
                     Vec6<double>& pose_S_bar, GeometryGradient* geometry_O, GeometryGradient* geometry_S) {
  if (flush.none) return;
  for (const auto& [face, flat, slope] : flush.changing) {
    double flat_bar =
        query.of_owner->is_convex() ? -flush.edges_left / (1.0 - flat) * flush.edges_left_bar : 0.0;
    for (std::size_t k = 0; k < face->points.size(); ++k) {
      const std::size_t point = at(face->points[k]);
      flat_bar += is_support(*face, k) ? (face->factors[k] - 1.0) * flush.area_factors_bar[point]
                                       : -flush.weights_bar[point];
    }
    if (flat_bar != 0.0)
      unevenness_vjp(query, *face, slope * flat_bar, pose_O_bar, pose_S_bar, geometry_O, geometry_S);
  }
  for (auto* const bars : {&flush.weights_bar, &flush.area_factors_bar})
    std::fill(bars->begin(), bars->end(), 0.0);
  flush.edges_left_bar = 0.0;
}

}  // namespace abut
