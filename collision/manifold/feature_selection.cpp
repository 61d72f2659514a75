#include "collision/manifold/feature_selection.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "collision/manifold/contact_activity.h"

namespace abut {
namespace {

double largest_metric(const SelectionQuery& query) { return 2.0 / 3.0 * query.range; }

double metric(const SelectionQuery& query, double distance) {
  return clamped_metric<double>(distance, largest_metric(query), query.range / 3.0);
}

double metric_dx(const SelectionQuery& query, double distance) {
  return clamped_metric_dx<double>(distance, largest_metric(query), query.range / 3.0);
}

/// f(contact point, its share in the feature's metric).
template <typename F>
void for_each_point(const SelectionQuery& query, std::size_t feature, const F& f) {
  if (query.edges.empty()) {
    f(feature, 1.0);
  } else {
    for (const int end : {query.edges[feature].start, query.edges[feature].end}) f(at(end), 0.5);
  }
}

}  // namespace

void select_features(const SelectionQuery& query, NearPoints& near, FeatureSelection& selection) {
  const std::size_t count = query.feature_count();
  selection.all = query.most == 0 || at(query.most) >= count;
  if (selection.all) return;
  const Body& owner = *query.owner;
  point_distances(owner.contact_points, *query.solid, query.X_WS.inverse() * query.X_WO,
                  query.range + owner.contact_radius, k_far_away, near, selection.distances);
  for (double& distance : selection.distances) distance -= owner.contact_radius;
  selection.metrics.assign(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    for_each_point(query, i, [&](std::size_t point, double share) {
      selection.metrics[i] += share * metric(query, selection.distances[point]);
    });
  }
  selection.soft = soft_selection<double>(selection.metrics, query.most, query.band, largest_metric(query));
  selection.weights_bar.assign(count, 0.0);
}

std::vector<double> select_features_jvp(const SelectionQuery& query, const FeatureSelection& selection,
                                        const Vec6<double>& pose_O, const Vec6<double>& pose_S) {
  if (selection.all) return {};
  const std::size_t count = selection.metrics.size();
  std::vector<double> metrics_dot(count, 0.0), weights_dot(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (selection.soft.slope(selection.metrics[i]) == 0.0) continue;
    for_each_point(query, i, [&](std::size_t point, double share) {
      const double slope = share * metric_dx(query, selection.distances[point]);
      if (slope == 0.0) return;
      const Vec3<double> arm =
          query.X_WO.q * Vec3<double>(query.owner->contact_points.col(static_cast<Eigen::Index>(point)));
      metrics_dot[i] += slope * solid_distance_jvp(*query.solid, query.X_WS, arm + query.X_WO.p,
                                                   point_velocity(pose_O, arm), pose_S);
    });
  }
  soft_selection_jvp<double>(selection.metrics, selection.soft, metrics_dot, weights_dot);
  return weights_dot;
}

void select_features_vjp(const SelectionQuery& query, FeatureSelection& selection, Vec6<double>& pose_O_bar,
                         Vec6<double>& pose_S_bar, GeometryGradient* geometry_O,
                         GeometryGradient* geometry_S) {
  if (selection.all) return;
  std::vector<double> metrics_bar(selection.metrics.size()), distances_bar(selection.distances.size(), 0.0);
  soft_selection_vjp<double>(selection.metrics, selection.soft, selection.weights_bar, metrics_bar);
  std::fill(selection.weights_bar.begin(), selection.weights_bar.end(), 0.0);
  for (std::size_t i = 0; i < metrics_bar.size(); ++i) {
    if (metrics_bar[i] == 0.0) continue;
    for_each_point(query, i, [&](std::size_t point, double share) {
      distances_bar[point] += share * metrics_bar[i] * metric_dx(query, selection.distances[point]);
    });
  }
  point_distances_vjp(query.owner->contact_points, *query.solid, query.X_WO, query.X_WS, distances_bar,
                      pose_O_bar, pose_S_bar, geometry_O, geometry_S);
  if (geometry_O != nullptr)
    geometry_O->contact_radius -= std::accumulate(distances_bar.begin(), distances_bar.end(), 0.0);
}

}  // namespace abut
