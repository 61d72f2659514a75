/// Two edges whose nearest points are known, against the formulas of edge_edge.h.
#include "collision/manifold/edge_edge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "accuracy_table.h"
#include "engine/random.h"
#include "samples.h"

namespace abut::accuracy {
namespace {

constexpr double k_radian = std::numbers::pi / 180.0;
constexpr double k_tilt = 12.0 * k_radian;  ///< of the surfaces' normals about the edges

/// Edge 1 lies below edge 2, `gap` apart along the z axis, where both cross it.
struct CrossingEdges {
  Edge<double> edge1, edge2;
};

CrossingEdges random_crossing(double gap, Random& random) {
  const auto edge = [&](const Vec3<double>& direction, const Vec3<double>& normal, double height) {
    const double length = random.uniform(0.5, 1.0), at = random.uniform(0.2, 0.8);
    const Vec3<double> vector = length * direction;
    const double tilt = (random.uniform() < 0.5 ? -1.0 : 1.0) * k_tilt;
    const Vec3<double> wrong = std::cos(tilt) * normal + std::sin(tilt) * direction.cross(normal);
    return Edge<double>{Vec3<double>(0.0, 0.0, height) - at * vector, vector, wrong};
  };
  const double crossing = random.uniform(30.0, 150.0) * k_radian;
  const Vec3<double> up = Vec3<double>::UnitZ();
  const Edge<double> edge1 = edge(Vec3<double>::UnitX(), up, -0.5 * gap);
  return {edge1, edge({std::cos(crossing), std::sin(crossing), 0.0}, -up, 0.5 * gap)};
}

/// From the nearest point of edge 1 to that of edge 2, by a grid that closes in on it.
Vec3<double> nearest_offset(const CrossingEdges& edges) {
  constexpr int k_steps = 10, k_rounds = 14;
  std::array<double, 2> middle{0.5, 0.5};
  double half = 0.5;
  const auto offset = [&](double a, double b) {
    return Vec3<double>(point_on<double>(edges.edge2, b) - point_on<double>(edges.edge1, a));
  };
  for (int round = 0; round < k_rounds; ++round) {
    double least = offset(middle[0], middle[1]).squaredNorm();
    std::array<double, 2> best = middle;
    for (int i = 0; i <= k_steps; ++i) {
      for (int j = 0; j <= k_steps; ++j) {
        const double a = std::clamp(middle[0] + half * (2.0 * i / k_steps - 1.0), 0.0, 1.0),
                     b = std::clamp(middle[1] + half * (2.0 * j / k_steps - 1.0), 0.0, 1.0);
        const double square = offset(a, b).squaredNorm();
        if (!(square < least)) continue;
        least = square;
        best = {a, b};
      }
    }
    middle = best;
    half *= 0.35;
  }
  return offset(middle[0], middle[1]);
}

/// All smoothing of edges, from edge_regularization to normal_fade, times a factor.
ContactConfig smoothed(double factor) {
  ContactConfig config;
  for (double* smoothing :
       {&config.edge_regularization, &config.clip_smoothing, &config.minimum_smoothing,
        &config.interior_smoothing, &config.cross_smoothing, &config.parallel_blend, &config.normal_fade}) {
    *smoothing *= factor;
  }
  return config;
}

}  // namespace

Table measure_edge_edge(bool quick) {
  const int count = quick ? 100 : 4000;
  Table table({"form", "smoothing", "gap", "error median", "error 95 %", "excess % low", "excess % high",
               "angle median", "angle 95 %", "angle 99 %"});
  const auto measure = [&](const char* form, const ContactConfig& config, double smoothing) {
    const EdgeEdgeSettings<double> settings(config, 1.0);
    for (const double gap : {1e-3, 1e-2, 1e-1}) {
      Random random(2);
      Samples errors, excess, angles;
      for (int i = 0; i < count; ++i) {
        const CrossingEdges edges = random_crossing(gap, random);
        const Vec3<double> offset = nearest_offset(edges);
        const EdgeContact<double> contact = edge_contact<double>(edges.edge1, edges.edge2, settings);
        double distance = contact.distance;
        Vec3<double> normal = contact.normal.n;  // from edge 2 to edge 1
        if (config.fidelity == Fidelity::paper) {
          const PaperEdgeContact<double> published =
              paper_edge_contact<double>(contact.witness, edges.edge1.normal, edges.edge2.normal, settings);
          distance = published.distance1;
          normal = published.normal1;
        }
        errors.add(std::abs(distance - offset.norm()));
        excess.add(100.0 * (distance / offset.norm() - 1.0));
        angles.add(angle_between(normal, -offset));
      }
      table.add_row({form, smoothing, gap, errors.median(), errors.quantile(0.95), excess.quantile(0.01),
                     excess.quantile(0.99), angles.median(), angles.quantile(0.95), angles.quantile(0.99)});
    }
  };
  for (const double smoothing : {0.5, 1.0, 2.0}) measure("default", smoothed(smoothing), smoothing);
  ContactConfig paper;
  paper.fidelity = Fidelity::paper;
  measure("paper", paper, 1.0);
  return table;
}

}  // namespace abut::accuracy
