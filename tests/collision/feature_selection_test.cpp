/// The soft choice of edges of bundled bodies: it keeps K in all, at poses where a threshold that is found by
/// Newton's method alone goes back and forth.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "collision/manifold/edge_contacts.h"
#include "collision/manifold/feature_selection.h"
#include "engine/contact_config.h"
#include "engine/random.h"
#include "engine/smooth.h"
#include "tests/support/close.h"
#include "tests/support/test_bodies.h"

namespace abut::test {
namespace {

/// Edges of one body at the solid of another, K of which are chosen.
struct EdgeChoice {
  Body owner, other;
  ShapeSdf solid;
  std::vector<MeshEdge> edges;
  double size;
  static constexpr int k_most = 18;

  EdgeChoice(const std::string& owner_name, const std::string& other_name)
      : owner(asset(owner_name)),
        other(asset(other_name)),
        solid(other.shape),
        edges(contact_edges(owner)),
        size(std::min(owner.size, other.size)) {}

  [[nodiscard]] double band() const { return ContactConfig().selection_band * size; }
  [[nodiscard]] double range() const { return ContactConfig().metric_range * size; }

  [[nodiscard]] FeatureSelection chosen(const Pose<double>& X_WO, const Pose<double>& X_WS) const {
    NearPoints near;
    FeatureSelection selection;
    select_features({&owner, &solid, X_WO, X_WS, edges, k_most, band(), range()}, near, selection);
    REQUIRE(!selection.all);
    return selection;
  }
};

double sum_of_weights(const FeatureSelection& selection) {
  double sum = 0.0;
  for (std::size_t i = 0; i < selection.metrics.size(); ++i) sum += selection.weight(static_cast<int>(i));
  return sum;
}

const Pose<double> k_bottle{
    Quat<double>(0.17691987980882956, -0.71795777268508165, -0.65323672561252066, -0.16284278639392827),
    {-0.092671838671037121, -0.032358932155257786, -0.01470759733273236}};

}  // namespace

TEST_CASE("selected edges: of a drill and a bottle, the weights and the phantom add up to K",
          "[collision][value]") {
  const EdgeChoice of_drill("power_drill", "mustard_bottle"), of_bottle("mustard_bottle", "power_drill");
  Random random(1);
  double least = EdgeChoice::k_most;
  int in_band = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const double away = trial == 0 ? 0.0 : std::pow(10.0, random.uniform(-9.0, -2.0));
    const Pose<double> X_WB{exp_quaternion<double>(5.0 * away * random.unit_vector()) * k_bottle.q,
                            k_bottle.p + away * random.unit_vector()};
    for (const EdgeChoice* const choice : {&of_drill, &of_bottle}) {
      const bool is_drill = choice == &of_drill;
      const FeatureSelection selection =
          is_drill ? choice->chosen({}, X_WB) : choice->chosen(X_WB, Pose<double>());
      const double largest = 2.0 / 3.0 * choice->range(),
                   phantom =
                       smoothstep5((selection.soft.threshold - largest + choice->band()) / choice->band()),
                   sum = sum_of_weights(selection);
      CAPTURE(trial, is_drill, away, selection.soft.threshold, sum, phantom);
      REQUIRE(selection.soft.threshold <= largest);
      REQUIRE(close(sum + EdgeChoice::k_most * phantom, EdgeChoice::k_most, 1e-12, 0));
      least = std::min(least, sum);
      for (std::size_t i = 0; i < selection.metrics.size(); ++i) {
        const double w = selection.weight(static_cast<int>(i));
        in_band += w > 0.01 && w < 0.99;
      }
    }
  }
  CAPTURE(least);
  CHECK(least < 0.9 * EdgeChoice::k_most);  // the phantom takes part
  CHECK(in_band > 1000);
}

TEST_CASE("selected edges: the sum of their weights has no jump between neighbouring poses",
          "[collision][property]") {
  const EdgeChoice of_drill("power_drill", "mustard_bottle"), of_bottle("mustard_bottle", "power_drill");
  Random random(2);
  double largest_change = 0.0;
  for (int path = 0; path < 20; ++path) {
    const Vec3<double> along = random.unit_vector(), axis = random.unit_vector();
    const double step = std::pow(10.0, random.uniform(-8.0, -5.0));  // [m]
    double before[2] = {};
    for (int k = -20; k <= 20; ++k) {
      const Pose<double> X_WB{exp_quaternion<double>(10.0 * k * step * axis) * k_bottle.q,
                              k_bottle.p + k * step * along};
      const double sums[2] = {sum_of_weights(of_drill.chosen({}, X_WB)),
                              sum_of_weights(of_bottle.chosen(X_WB, Pose<double>()))};
      for (int side = 0; side < 2; ++side) {
        // A metric changes by at most the motion of a point; so does the threshold; S' <= 15/8.
        const EdgeChoice& choice = side == 0 ? of_drill : of_bottle;
        const double motion = step * (1.0 + 10.0 * (of_drill.size + of_bottle.size)),
                     bound = 2.0 * 1.875 * static_cast<double>(choice.edges.size()) * motion / choice.band();
        const double change = std::abs(sums[side] - before[side]);
        CAPTURE(path, step, k, side, sums[side], before[side], bound);
        if (k > -20) {
          REQUIRE(change <= bound);
          if (step < 1e-7) largest_change = std::max(largest_change, change);
        }
        before[side] = sums[side];
      }
    }
  }
  CHECK(largest_change > 0.0);
  CHECK(largest_change < 1e-3);
}

}  // namespace abut::test
