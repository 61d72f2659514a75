/// Sums of forces of edge contacts: how steep they are, and how they jump where contacts come and go.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "../support/colliding_poses.h"
#include "accuracy_table.h"
#include "collision/manifold/contact_detector.h"
#include "engine/body_builder.h"
#include "paths.h"
#include "samples.h"
#include "test_bodies.h"

namespace abut::accuracy {
namespace {

/// The force of one contact, by the stiffness, and its change along a tangent of the pose of B.
struct Force {
  double magnitude = 0.0, slope = 0.0;  ///< activity psi [m]
  Vec3<double> normal, normal_slope;
};

/// The edge contacts of two copies of a body.
class EdgeForces {
 public:
  EdgeForces(const Body& body, int selected_edges)
      : model_(two_of(body, selected_edges)), detector_(model_, edges_alone()) {}

  using Features = std::vector<std::pair<int, int>>;  ///< edges of A and B, sorted
  [[nodiscard]] Features features(const Pose<double>& X_AB) {
    Features result;
    for (const ContactFeature& feature : found_at(X_AB))
      result.emplace_back(feature.feature_A, feature.feature_B);
    std::sort(result.begin(), result.end());
    return result;
  }

  /// Of all contacts, in any order, along each of the tangents in turn.
  [[nodiscard]] std::vector<Force> forces(const Pose<double>& X_AB, std::span<const Vec6<double>> tangents) {
    const std::vector<ContactFeature> features = found_at(X_AB);
    const std::array<Pose<double>, 2> X_W{Pose<double>(), X_AB};
    detector_.linearize(X_W, features, linearization_);
    std::vector<Force> result;
    std::vector<ContactBar> dots(features.size());
    const double tau = detector_.make_pair(0, 1).activity_smoothing;
    for (const Vec6<double>& tangent : tangents) {
      const std::array<Vec6<double>, 2> pose_dot{Vec6<double>::Zero(), tangent};
      detector_.jvp(X_W, pose_dot, linearization_, dots);
      for (std::size_t i = 0; i < dots.size(); ++i) {
        const Contact& contact = linearization_.contacts[i];
        const double d = contact.signed_distance, root = std::sqrt(d * d + tau * tau), psi = 0.5 * (root - d),
                     psi_slope = 0.5 * (d / root - 1.0) * dots[i].signed_distance;
        result.push_back({contact.activity * psi, contact.activity * psi_slope + dots[i].activity * psi,
                          contact.normal_AB_W, dots[i].normal_AB_W});
      }
    }
    return result;
  }

 private:
  static Model two_of(Body body, int selected_edges) {
    set_selected_edges(body, selected_edges);
    Model model;
    model.bodies = {body, body};
    return model;
  }
  static ContactConfig edges_alone() {
    ContactConfig config;
    config.vertex_contacts = VertexContacts::none;
    return config;
  }

  std::vector<ContactFeature> found_at(const Pose<double>& X_AB) {
    detector_.detect(std::array<Pose<double>, 2>{Pose<double>(), X_AB}, {}, scratch_, manifold_);
    std::vector<ContactFeature> features;
    for (const Contact& contact : manifold_.contacts) features.push_back(contact.feature);
    return features;
  }

  Model model_;
  ContactDetector detector_;
  DetectorScratch scratch_;
  ContactManifold manifold_;
  ManifoldLinearization linearization_;
};

constexpr double k_half_length = 0.1, k_bracket = 2e-11;
constexpr double k_aside = 2e-10;  ///< how far before and behind a change it is looked at

/// Where a contact comes or goes.
struct Change {
  const StraightPath* path;
  double t;
};

std::vector<Change> find_changes(EdgeForces& forces, std::span<const StraightPath> paths, int samples) {
  std::vector<Change> changes;
  for (const StraightPath& path : paths) {
    const auto features_at = [&](double t) { return forces.features(path.at<double>(t)); };
    EdgeForces::Features before = features_at(-k_half_length);
    for (int i = 1; i <= samples; ++i) {
      double high = k_half_length * (2.0 * i / samples - 1.0), low = high - 2.0 * k_half_length / samples;
      const EdgeForces::Features now = features_at(high), at_low = std::exchange(before, now);
      if (now == at_low) continue;
      while (high - low > k_bracket) {
        const double middle = 0.5 * (low + high);
        (features_at(middle) == at_low ? low : high) = middle;
      }
      changes.push_back({&path, 0.5 * (low + high)});
    }
  }
  return changes;
}

/// The sum of all forces and its derivative along a path.
struct TotalForce {
  Vec3<double> value = Vec3<double>::Zero(), slope = Vec3<double>::Zero();
};

TotalForce total_force(EdgeForces& forces, const StraightPath& path, double t) {
  TotalForce total;
  for (const Force& force : forces.forces(path.at<double>(t), std::span(&path.tangent, 1))) {
    total.value += force.magnitude * force.normal;
    total.slope += force.slope * force.normal + force.magnitude * force.normal_slope;
  }
  return total;
}

void add_row(const char* edges, EdgeForces& forces, std::span<const Pose<double>> poses,
             std::span<const Change> changes, Table& table) {
  std::vector<Vec6<double>> tangents;
  for (int i = 0; i < 6; ++i) tangents.emplace_back(Vec6<double>::Unit(i));
  Samples slopes, totals, value_jumps, slope_jumps;
  for (const Pose<double>& X_AB : poses) {
    for (const Force& force : forces.forces(X_AB, tangents)) slopes.add(std::abs(force.slope));
  }
  for (const Change& change : changes) {
    const TotalForce before = total_force(forces, *change.path, change.t - k_aside),
                     after = total_force(forces, *change.path, change.t + k_aside);
    const Vec3<double> expected = k_aside * (before.slope + after.slope);
    totals.add(before.value.norm());
    value_jumps.add((after.value - before.value - expected).norm());
    slope_jumps.add((after.slope - before.slope).norm());
  }
  table.add_row({edges, static_cast<double>(slopes.size()), slopes.quantile(0.99), slopes.largest(),
                 static_cast<double>(value_jumps.size()), totals.median(), value_jumps.median(),
                 value_jumps.largest(), slope_jumps.median(), slope_jumps.largest()});
}

}  // namespace

Table measure_force(bool quick) {
  const Body armadillo = unit_size_asset("armadillo");
  const std::vector<Pose<double>> poses = benchmarks::colliding_poses(armadillo, quick ? 2 : 100);
  const std::vector<StraightPath> paths = paths_through(poses);
  const std::size_t used = quick ? 1 : 20;
  Table table({"edges", "components", "slope 99 %", "slope max", "changes", "F median", "jump of F median",
               "jump of F max", "jump of dF median", "jump of dF max"});
  for (const auto& [name, selected] : {std::pair("all", 0), std::pair("the 18 deepest", 18)}) {
    EdgeForces forces(armadillo, selected);
    const std::vector<Change> changes = find_changes(forces, std::span(paths).first(used), quick ? 10 : 20);
    add_row(name, forces, poses, changes, table);
  }
  return table;
}

}  // namespace abut::accuracy
