#include "collision/fitting/exact_kinds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "collision/fitting/free_primitive.h"
#include "collision/fitting/parallel_chunks.h"
#include "collision/fitting/shape_on_grid.h"
#include "collision/fitting/union_refiner.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/check.h"
#include "engine/primitive_check.h"

namespace abut {
namespace {

constexpr double k_most_box_exponent = 0.6, k_round = 0.3;  // |exponent - 1| of what is round
constexpr double k_round_ratio = 1.25;                      // of axes that are about equal
constexpr double k_edge_smoothing = 0.05;  // tau_c of a cylinder by its smaller length; 0.1 is the most
constexpr int k_most_attempts = 4;
constexpr double k_exact_cost = 0.25;  // of a query, in superquadrics

bool about_equal(double a, double b) { return std::max(a, b) <= k_round_ratio * std::min(a, b); }
bool is_round(double exponent) { return std::abs(exponent - 1.0) <= k_round; }

/// Of a square with the same diagonal as a superellipse of this exponent, by its half side.
double edge_radius(double exponent) {
  return (1.0 - std::pow(2.0, -0.5 * exponent)) / (1.0 - 0.5 * std::numbers::sqrt2);
}

struct Replacement {
  std::size_t primitive;
  Primitive exact;
  double change;  ///< of the cost [m^2]
};

/// For each superquadric the exact kind that changes the cost least; the cheapest first.
std::vector<Replacement> replacements_of(const UnionRefiner& refiner, int threads) {
  const Shape& shape = refiner.shape();
  std::vector<Replacement> found;
  for (std::size_t l = 0; l < shape.primitives.size(); ++l) {
    for (Primitive& exact : exact_kinds_near(shape.primitives[l]))
      found.push_back({l, std::move(exact), 0.0});
  }
  for_each_chunk(static_cast<int>(found.size()), threads, [&](int i) {
    Replacement& replacement = found[at(i)];
    replacement.change = refiner.change_by(static_cast<int>(replacement.primitive), -1, replacement.exact);
  });
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.change < b.change; });
  std::vector<Replacement> best;
  for (Replacement& replacement : found) {
    if (std::none_of(best.begin(), best.end(),
                     [&](const auto& other) { return other.primitive == replacement.primitive; }))
      best.push_back(std::move(replacement));
  }
  return best;
}

}  // namespace

std::vector<Primitive> exact_kinds_near(const Primitive& superquadric) {
  std::vector<Primitive> kinds;
  if (superquadric.kind != PrimitiveKind::superquadric) return kinds;
  const auto& [a, b, c, eps1, eps2] = superquadric.parameters;
  const auto offer = [&](PrimitiveKind kind, const std::array<double, 5>& parameters) {
    kinds.push_back(superquadric);
    kinds.back().kind = kind;
    kinds.back().parameters = parameters;
  };
  if (std::max(eps1, eps2) <= k_most_box_exponent) {
    const double radius = std::min(edge_radius(0.5 * (eps1 + eps2)), 0.9) * std::min({a, b, c});
    offer(PrimitiveKind::rounded_box, {a, b, c, radius, 0.0});
  }
  if (!is_round(eps2) || !about_equal(a, b)) return kinds;
  const double radius = std::sqrt(a * b);
  if (is_round(eps1) && about_equal(radius, c))
    offer(PrimitiveKind::sphere, {std::cbrt(a * b * c), 0.0, 0.0, 0.0, 0.0});
  if (eps1 <= 1.0 + k_round && c > radius) offer(PrimitiveKind::capsule, {radius, c - radius, 0.0, 0.0, 0.0});
  const double edge_smoothing = k_edge_smoothing * std::min(radius, c);
  if (eps1 <= k_most_box_exponent && edge_smoothing >= k_least_length)
    offer(PrimitiveKind::cone, {radius, radius, c, edge_smoothing, 0.0});
  return kinds;
}

double query_cost(const Primitive& primitive) {
  return primitive.kind == PrimitiveKind::superquadric ? 1.0 : k_exact_cost;
}

ExactKindsReport take_exact_kinds(Shape& shape, const DistanceGrid& grid, const ExactKindsOptions& options) {
  require(options.least_gain >= 0.0, "least_gain must be >= 0");
  require(std::all_of(shape.primitives.begin(), shape.primitives.end(), is_free),
          "only superquadrics, spheres, capsules, rounded boxes and cones can be refined");
  UnionRefinementOptions refinement = options.refinement;
  refinement.is_good_enough = {};
  const auto iou_of = [&](const Shape& s) {
    return occupancy_iou(grid, distances_on_grid(ShapeSdf(s), grid, grid.grid.cell_size, refinement.threads));
  };
  const auto merit = [&](double iou, const Shape& s) {
    return iou - options.least_gain * std::accumulate(s.primitives.begin(), s.primitives.end(), 0.0,
                                                      [](double sum, const Primitive& primitive) {
                                                        return sum + query_cost(primitive);
                                                      });
  };
  ExactKindsReport report;
  if (std::all_of(shape.primitives.begin(), shape.primitives.end(),
                  [](const Primitive& primitive) { return exact_kinds_near(primitive).empty(); }))
    return report;
  UnionRefiner refiner(shape, grid, refinement);
  const std::vector<double> distances = refiner.distances();
  report.iou_after = occupancy_iou(grid, distances);
  refiner.choose_samples(distances);
  std::vector<Replacement> waiting = replacements_of(refiner, refinement.threads);
  std::size_t most = waiting.size();
  for (int attempt = 0; attempt < k_most_attempts && !waiting.empty(); ++attempt) {
    const auto end = waiting.begin() + static_cast<std::ptrdiff_t>(std::min(most, waiting.size()));
    Shape next = shape;
    for (auto r = waiting.begin(); r != end; ++r) next.primitives[r->primitive] = r->exact;
    refiner.set_shape(next);
    (void)refiner.descend(refinement.steps);
    next = refiner.shape();
    const double iou = iou_of(next);
    if (merit(iou, next) > merit(report.iou_after, shape) &&
        (!options.is_good_enough || options.is_good_enough(next))) {
      report.replaced += static_cast<int>(end - waiting.begin());
      report.iou_after = iou;
      shape = std::move(next);
      waiting.erase(waiting.begin(), end);
    } else if (most == 1) {
      break;
    }
    most = std::max<std::size_t>(std::min(most, waiting.size()) / 2, 1);
  }
  return report;
}

}  // namespace abut
