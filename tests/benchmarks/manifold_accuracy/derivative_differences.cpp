/// Derivatives of contacts, the columns of blocks and the VJP of the detector, against central differences.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "../support/colliding_poses.h"
#include "accuracy_table.h"
#include "block_contacts.h"
#include "collision/manifold/contact_detector.h"
#include "collision/manifold/pair_manifold.h"
#include "samples.h"
#include "test_bodies.h"

namespace abut::accuracy {
namespace {

constexpr std::array k_steps{1e-4, 1e-5, 1e-6};

/// Point, distance, normal, activity of a contact.
constexpr int k_outputs = 8;
using Outputs = Eigen::Matrix<double, k_outputs, 1>;
struct OutputRange {
  const char* name;
  int first, count;
};
constexpr std::array k_ranges{OutputRange{"point", 0, 3}, OutputRange{"distance", 3, 1},
                              OutputRange{"normal", 4, 3}, OutputRange{"activity", 7, 1}};
constexpr std::array k_kind_names{"vertex-SDF", "edge-edge"};

struct Errors {
  std::array<Samples, k_steps.size()> by_step;
  double largest = 0.0;  ///< derivative
};
/// By kind of contact and output.
using AllErrors = std::array<std::array<Errors, k_ranges.size()>, k_kind_names.size()>;

void add_rows(const char* derivative, AllErrors& errors, Table& table) {
  for (std::size_t kind = 0; kind < k_kind_names.size(); ++kind) {
    for (std::size_t range = 0; range < k_ranges.size(); ++range) {
      Errors& of = errors[kind][range];
      std::vector<benchmarks::Cell> row{derivative, k_kind_names[kind], k_ranges[range].name,
                                        static_cast<double>(of.by_step[0].size())};
      for (Samples& samples : of.by_step) {
        row.emplace_back(samples.quantile(0.99));
        row.emplace_back(samples.largest());
      }
      row.emplace_back(of.largest);
      table.add_row(std::move(row));
    }
  }
}

// Columns of blocks -----------------------------------------------------------------------------------------

Outputs outputs_of(const ContactBlock<double>& block, int contact, double tau) {
  Outputs y;
  y << block.origin_W + block.vector(k_contact_point, contact), block.number(k_contact_distance, contact),
      block.vector(k_contact_normal, contact), block_activity(block, contact, tau);
  return y;
}

/// By one component of the motion of B.
Outputs derivatives_of(const ContactBlock<double>& block, int contact, int motion) {
  Outputs y;
  for (int i = 0; i < 3; ++i) {
    y[i] = block.number(k_point_by_motion + 6 * i + motion, contact);
    y[4 + i] = block.number(k_normal_by_motion + 6 * i + motion, contact);
  }
  y[3] = block.number(k_distance_by_motion + motion, contact);
  y[7] = block.number(k_activity_by_motion + motion, contact);
  return y;
}

/// The pose after a motion (w; v) about a point.
Pose<double> moved(const Pose<double>& X, const Vec3<double>& origin, const Vec6<double>& motion) {
  const Quat<double> turn = exp_quaternion<double>(Vec3<double>(motion.head<3>()));
  return {turn * X.q, origin + turn * Vec3<double>(X.p - origin) + motion.tail<3>()};
}

void compare_blocks(const PairManifold<double>& manifold, const Pose<double>& X_AB, AllErrors& errors) {
  PairScratch<double> scratch;
  ContactBlock<double> block, forward, backward;
  manifold.find({Pose<double>(), X_AB}, ManifoldOrder::complete, scratch, block);
  const double tau = manifold.activity_smoothing();
  for (int motion = 0; motion < 6; ++motion) {
    for (std::size_t h = 0; h < k_steps.size(); ++h) {
      const Vec6<double> step = k_steps[h] * Vec6<double>::Unit(motion);
      manifold.find({Pose<double>(), moved(X_AB, block.origin_W, step)}, ManifoldOrder::value, scratch,
                    forward);
      manifold.find({Pose<double>(), moved(X_AB, block.origin_W, -step)}, ManifoldOrder::value, scratch,
                    backward);
      const std::map<ContactKey, int> in_forward = places_of(forward), in_backward = places_of(backward);
      for (int i = 0; i < block.count; ++i) {
        if (block_activity(block, i, tau) <= k_least_activity) continue;
        const ContactKey key = key_of(block, i);
        const auto f = in_forward.find(key), b = in_backward.find(key);
        if (f == in_forward.end() || b == in_backward.end()) continue;
        const Outputs difference =
            (outputs_of(forward, f->second, tau) - outputs_of(backward, b->second, tau)) / (2.0 * k_steps[h]);
        const Outputs derivative = derivatives_of(block, i, motion);
        for (std::size_t range = 0; range < k_ranges.size(); ++range) {
          Errors& of = errors[is_edge_pair(key) ? 1 : 0][range];
          for (int k = k_ranges[range].first; k < k_ranges[range].first + k_ranges[range].count; ++k) {
            of.by_step[h].add(std::abs(difference[k] - derivative[k]));
            of.largest = std::max(of.largest, std::abs(derivative[k]));
          }
        }
      }
    }
  }
}

// VJP of the detector ---------------------------------------------------------------------------------------

/// The contacts with an effect at a pose, and sums of one output each of one kind, weighted at random.
class RandomSums {
 public:
  RandomSums(const ContactDetector& detector, const Pose<double>& X_AB, Random& random)
      : detector_(&detector), X_W_{Pose<double>(), X_AB} {
    DetectorScratch scratch;
    ContactManifold manifold;
    detector.detect(X_W_, {}, scratch, manifold);
    for (const Contact& contact : manifold.contacts) {
      if (contact.activity <= k_least_activity) continue;
      features_.push_back(contact.feature);
      Outputs& weights = weights_.emplace_back();
      for (double& weight : weights) weight = random.uniform(-1.0, 1.0);
    }
    for (std::size_t kind = 0; kind < k_kind_names.size(); ++kind) normalise(kind);
  }

  [[nodiscard]] bool has(std::size_t kind) const {
    return std::any_of(features_.begin(), features_.end(),
                       [&](const ContactFeature& feature) { return kind_of(feature) == kind; });
  }

  /// By the poses of both bodies.
  [[nodiscard]] Eigen::Matrix<double, 12, 1> vjp(std::size_t kind, const OutputRange& range) {
    std::vector<ContactBar> bars(features_.size());
    for (std::size_t i = 0; i < bars.size(); ++i) {
      if (kind_of(features_[i]) != kind) continue;
      Outputs chosen = Outputs::Zero();
      chosen.segment(range.first, range.count) = weights_[i].segment(range.first, range.count);
      bars[i].point_W = chosen.head<3>();
      bars[i].signed_distance = chosen[3];
      bars[i].normal_AB_W = chosen.segment<3>(4);
      bars[i].activity = chosen[7];
    }
    std::array<Vec6<double>, 2> pose_bar{Vec6<double>::Zero(), Vec6<double>::Zero()};
    detector_->linearize(X_W_, features_, linearization_);
    detector_->vjp(X_W_, bars, linearization_, pose_bar);
    Eigen::Matrix<double, 12, 1> result;
    result << pose_bar[0], pose_bar[1];
    return result;
  }

  /// The sums at poses moved by a multiple of one of the 12 tangents, by kind and output.
  using Sums = std::array<std::array<double, k_ranges.size()>, k_kind_names.size()>;
  [[nodiscard]] Sums at_moved(int tangent, double step) {
    std::array<Pose<double>, 2> X_W = X_W_;
    Pose<double>& X = X_W[at(tangent / 6)];
    X = retract<double>(X, step * Vec6<double>::Unit(tangent % 6));
    detector_->linearize(X_W, features_, linearization_);
    Sums sums{};
    for (std::size_t i = 0; i < features_.size(); ++i) {
      const Contact& contact = linearization_.contacts[i];
      Outputs y;
      y << contact.point_W, contact.signed_distance, contact.normal_AB_W, contact.activity;
      for (std::size_t range = 0; range < k_ranges.size(); ++range) {
        const auto [name, first, count] = k_ranges[range];
        sums[kind_of(features_[i])][range] += weights_[i].segment(first, count).dot(y.segment(first, count));
      }
    }
    return sums;
  }

 private:
  static std::size_t kind_of(const ContactFeature& feature) {
    return feature.kind == ContactKind::edge_edge ? 1 : 0;
  }
  /// Weights of an output whose squares add up to 1.
  void normalise(std::size_t kind) {
    Outputs squares = Outputs::Zero();
    for (std::size_t i = 0; i < features_.size(); ++i) {
      if (kind_of(features_[i]) == kind) squares += weights_[i].cwiseAbs2();
    }
    for (std::size_t i = 0; i < features_.size(); ++i) {
      if (kind_of(features_[i]) == kind) weights_[i] = weights_[i].cwiseQuotient(squares.cwiseSqrt());
    }
  }

  const ContactDetector* detector_;
  std::array<Pose<double>, 2> X_W_;
  std::vector<ContactFeature> features_;
  std::vector<Outputs> weights_;
  ManifoldLinearization linearization_;
};

void compare_vjps(const ContactDetector& detector, const Pose<double>& X_AB, Random& random,
                  AllErrors& errors) {
  RandomSums sums(detector, X_AB, random);
  std::array<std::array<Eigen::Matrix<double, 12, 1>, k_ranges.size()>, k_kind_names.size()> derivatives;
  for (std::size_t kind = 0; kind < k_kind_names.size(); ++kind) {
    for (std::size_t range = 0; range < k_ranges.size(); ++range)
      derivatives[kind][range] = sums.vjp(kind, k_ranges[range]);
  }
  for (int tangent = 0; tangent < 12; ++tangent) {
    for (std::size_t h = 0; h < k_steps.size(); ++h) {
      const RandomSums::Sums forward = sums.at_moved(tangent, k_steps[h]),
                             backward = sums.at_moved(tangent, -k_steps[h]);
      for (std::size_t kind = 0; kind < k_kind_names.size(); ++kind) {
        if (!sums.has(kind)) continue;
        for (std::size_t range = 0; range < k_ranges.size(); ++range) {
          const double difference = (forward[kind][range] - backward[kind][range]) / (2.0 * k_steps[h]),
                       derivative = derivatives[kind][range][tangent];
          Errors& of = errors[kind][range];
          of.by_step[h].add(std::abs(difference - derivative));
          of.largest = std::max(of.largest, std::abs(derivative));
        }
      }
    }
  }
}

}  // namespace

Table measure_derivative_differences(bool quick) {
  std::vector<std::string> columns{"derivative", "contacts", "of", "components"};
  for (const double step : k_steps) {
    for (const char* what : {"99 %", "max"}) columns.push_back(fmt::format("h {:.0e} {}", step, what));
  }
  columns.emplace_back("largest derivative");
  Table table(columns);

  const Body armadillo = unit_size_asset("armadillo");
  const std::vector<Pose<double>> poses = benchmarks::colliding_poses(armadillo, quick ? 3 : 100);
  const PairManifold<double> manifold(armadillo, armadillo, ContactConfig());
  Model model;
  model.bodies = {armadillo, armadillo};
  const ContactDetector detector(model, ContactConfig());
  AllErrors of_blocks, of_vjps;
  Random random(9);
  for (const Pose<double>& X_AB : poses) {
    compare_blocks(manifold, X_AB, of_blocks);
    compare_vjps(detector, X_AB, random, of_vjps);
  }
  add_rows("block", of_blocks, table);
  add_rows("vjp", of_vjps, table);
  return table;
}

}  // namespace abut::accuracy
