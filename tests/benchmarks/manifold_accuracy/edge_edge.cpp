/// Two edges whose closest points are known, against the formulas of convex_edges.h.
#include "collision/manifold/convex_edges.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "accuracy_table.h"
#include "collision/segment_distance.h"
#include "engine/random.h"
#include "samples.h"

namespace abut::accuracy {
namespace {

constexpr double k_radian = std::numbers::pi / 180.0;
constexpr double k_inradius = 0.2;  ///< of the thinner body: overlaps of 1 % are shallow
constexpr double k_counts = 1e-2;   ///< weight from which on a pair is a contact

/// Where the line of one edge crosses the other edge.
enum class Place { middle, near_end, beyond_end };

/// Edge A below edge B, whose lines cross on the z axis, `clearance` apart.
struct CrossingEdges {
  ConvexEdge<double> A, B;
  // The exact contact.
  double distance;
  Vec3<double> normal, point;
  double weight;
};

/// @param at  share of the length at which the edge passes through `crossing`; beyond its ends if not in [0,
/// 1]
ConvexEdge<double> random_edge(const Vec3<double>& crossing, const Vec3<double>& direction, double length,
                               double at, const Vec3<double>& outward, Random& random) {
  const double arc = random.uniform(10.0, 150.0) * k_radian, first = -arc * random.uniform();
  const Vec3<double> across = direction.cross(outward);
  const auto normal_at = [&](double angle) -> Vec3<double> {
    return std::cos(angle) * outward + std::sin(angle) * across;
  };
  return {crossing - at * length * direction, direction, length, {normal_at(first), normal_at(first + arc)}};
}

CrossingEdges random_crossing(Place place, double least_sine, double largest_sine, double clearance,
                              Random& random) {
  const double sine = least_sine * std::pow(largest_sine / least_sine, random.uniform());
  const double cosine = (random.uniform() < 0.5 ? -1.0 : 1.0) * std::sqrt(1.0 - sine * sine);
  const double lengths[2] = {random.uniform(0.5, 1.0), random.uniform(0.5, 1.0)};
  double at[2] = {random.uniform(0.2, 0.8), random.uniform(0.2, 0.8)};
  if (place != Place::middle) {
    // Half a window, seen across the other edge, is that much along this one.
    const int side = random.uniform() < 0.5 ? 0 : 1;
    const double window = 0.5 * ContactConfig().edge_smoothing / sine / lengths[side];
    const double from_end = place == Place::beyond_end ? -random.uniform(0.0, window)
                                                       : random.uniform(0.0, std::min(window, 0.5));
    at[side] = random.uniform() < 0.5 ? from_end : 1.0 - from_end;
  }
  const Vec3<double> up = Vec3<double>::UnitZ(), down = -up;
  CrossingEdges edges;
  edges.A = random_edge(0.5 * clearance * down, Vec3<double>::UnitX(), lengths[0], at[0], up, random);
  edges.B = random_edge(0.5 * clearance * up, {cosine, sine, 0.0}, lengths[1], at[1], down, random);
  edges.distance = clearance;
  edges.normal = up;
  edges.point.setZero();
  edges.weight = 1.0;
  if (place == Place::beyond_end) {
    const auto end = [](const ConvexEdge<double>& edge, double share) -> Vec3<double> {
      return edge.start + share * edge.length * edge.direction;
    };
    const SegmentDistance<double> closest =
        segment_distance<double>(end(edges.A, 0.0), end(edges.A, 1.0), end(edges.B, 0.0), end(edges.B, 1.0));
    const Vec3<double> x_A = end(edges.A, closest.parameter_A), x_B = end(edges.B, closest.parameter_B);
    const double sign = clearance < 0.0 ? -1.0 : 1.0;
    edges.distance = sign * (x_B - x_A).norm();
    edges.normal = sign * (x_B - x_A).normalized();
    edges.point = 0.5 * (x_A + x_B);
    edges.weight = 0.0;
  }
  return edges;
}

/// Median, 99 % and worst; dashes of none.
void append(Samples& errors, std::vector<benchmarks::Cell>& row) {
  if (errors.size() == 0) {
    row.insert(row.end(), 3, "-");
    return;
  }
  for (const double quantile : {0.5, 0.99, 1.0}) row.emplace_back(shown_error(errors.quantile(quantile)));
}

}  // namespace

Table measure_edge_edge(bool quick) {
  const int count = quick ? 200 : 10000;
  std::vector<std::string> columns{"crossing", "sine", "clearance", "contacts %"};
  for (const char* of : {"d", "n", "point", "weight"}) {
    for (const char* quantile : {"median", "99 %", "max"})
      columns.push_back(fmt::format("{} {}", of, quantile));
  }
  Table table(columns);
  const ConvexEdgeSettings<double> settings(ContactConfig(), 1.0, k_inradius);
  const double radii[2] = {0.0, 0.0};
  for (const auto& [place, name] :
       {std::pair(Place::middle, "middle"), std::pair(Place::near_end, "near an end"),
        std::pair(Place::beyond_end, "beyond an end")}) {
    for (const auto& [least_sine, largest_sine] :
         {std::pair(0.005, 0.02), std::pair(0.02, 0.1), std::pair(0.1, 0.3), std::pair(0.3, 1.0)}) {
      for (const double clearance : {-1e-2, 1e-3}) {
        Random random(2);
        Samples distances, normals, points, weights;
        for (int i = 0; i < count; ++i) {
          const CrossingEdges exact = random_crossing(place, least_sine, largest_sine, clearance, random);
          const EdgeEdge<double> found = edge_edge<double>(exact.A, exact.B, radii, settings);
          weights.add(std::abs(found.weight - exact.weight));
          if (found.weight < k_counts) continue;
          distances.add(std::abs(found.distance - exact.distance));
          normals.add(angle_between(found.normal, exact.normal));
          points.add((found.point - exact.point).norm());
        }
        std::vector<benchmarks::Cell> row{name, fmt::format("{:g} to {:g}", least_sine, largest_sine),
                                          clearance, 100.0 * static_cast<double>(distances.size()) / count};
        for (Samples* errors : {&distances, &normals, &points, &weights}) append(*errors, row);
        table.add_row(std::move(row));
      }
    }
  }
  return table;
}

}  // namespace abut::accuracy
