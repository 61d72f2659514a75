#include "paths.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../support/colliding_poses.h"
#include "accuracy_table.h"
#include "collision/manifold/kernel/point_kernels.h"
#include "edge_pairs.h"
#include "engine/dual.h"
#include "test_bodies.h"
#include "tests/support/manifold_reference.h"

namespace abut::accuracy {
namespace {

constexpr double k_half_length = 0.1;  ///< a path goes from -0.1 to 0.1 [rad, size]
constexpr double k_slack = 0.1;        ///< of the bound, relative
constexpr double k_floor = 1e-12;      ///< changes below that are rounding
constexpr int k_most_halvings = 16;    ///< of a step that is violated; what is left then is a jump

using D = Dual<double, 1>;

/// Numbers with derivatives of all pairs of edges at one place of a path.
using PairNumbers = std::vector<DistanceNormal<D>>;

/// Normals of a solid at points that move, with the derivatives of both.
class NormalsAlong {
 public:
  /// (count) normals in W at points in W.
  std::span<const Vec3<D>> operator()(const ShapeSdf& sdf, const Pose<D>& X_WS,
                                      std::span<const Vec3<D>> points_W) {
    const std::size_t count = points_W.size();
    for (auto& row : rows_) row.resize(count);
    local_.resize(count);
    normals_.resize(count);
    samples_.resize(k_sample_columns * count);
    for (std::size_t i = 0; i < count; ++i) {
      local_[i] = inverse_point<D>(X_WS, points_W[i]);
      for (std::size_t k = 0; k < 3; ++k) rows_[k][i] = local_[i][static_cast<Eigen::Index>(k)].value;
    }
    point_kernels().sample_points(sdf, SdfOrder::jacobian, rows_[0].data(), rows_[1].data(),
                                     rows_[2].data(), static_cast<int>(count), samples_.data());
    const auto sample = [&](int column, std::size_t i) {
      return samples_[static_cast<std::size_t>(column) * count + i];
    };
    for (std::size_t i = 0; i < count; ++i) {
      Vec3<D> normal;
      for (int a = 0; a < 3; ++a) {
        double slope = 0.0;
        for (int b = 0; b < 3; ++b)
          slope += sample(k_sample_normal_jacobian + 3 * a + b, i) * local_[i][b].d[0];
        normal[a] = D(sample(k_sample_normal + a, i), {slope});
      }
      normals_[i] = X_WS.q * normal;
    }
    return normals_;
  }

 private:
  std::array<std::vector<double>, 3> rows_;
  std::vector<Vec3<D>> local_, normals_;
  std::vector<double> samples_;
};

/// d and n of all pairs of chosen edges along a path.
class PairsAlong {
 public:
  PairsAlong(const EdgedBody& body, const ContactConfig& config)
      : body_(&body), config_(config), settings_(config, 1.0) {}

  void set(const StraightPath& path) {
    path_ = path;
    edges_A_ = deepest_edges(edge_metrics(*body_, body_->sdf, path.middle.inverse()), k_selected_edges);
    edges_B_ = deepest_edges(edge_metrics(*body_, body_->sdf, path.middle), k_selected_edges);
  }

  void evaluate(double t, PairNumbers& out) {
    const Pose<D> X_A, X_B = path_.at<D>(D::variable(t, 0));
    std::vector<Edge<D>> edges_B;
    for (const int edge : edges_B_) edges_B.push_back(body_->edge_at<D>(edge, X_B));
    out.clear();
    witnesses_.clear();
    for (const int edge : edges_A_) {
      const Edge<D> edge_A = body_->edge_at<D>(edge, X_A);
      for (const Edge<D>& edge_B : edges_B) {
        if (config_.fidelity == Fidelity::paper) {
          witnesses_.push_back(edge_witness<D>(edge_A, edge_B, settings_));
        } else {
          const EdgeWitness<D> witness = edge_witness<D>(edge_A, edge_B, settings_);
          const Vec3<D> n = edge_normal<D>(edge_A, edge_B, settings_).n;
          out.push_back({edge_edge_detail::dot3(n, witness.difference), n});
        }
      }
    }
    if (config_.fidelity != Fidelity::paper) return;
    points_A_.clear();
    points_B_.clear();
    for (const EdgeWitness<D>& witness : witnesses_) {
      points_A_.push_back(witness.e1);
      points_B_.push_back(witness.e2);
    }
    const auto normals_A = of_A_(body_->sdf, X_A, points_A_), normals_B = of_B_(body_->sdf, X_B, points_B_);
    for (std::size_t i = 0; i < witnesses_.size(); ++i) {
      const auto contact = paper_edge_contact<D>(witnesses_[i], normals_A[i], normals_B[i], settings_);
      out.push_back({contact.distance1, contact.normal1});
    }
  }

 private:
  const EdgedBody* body_;
  ContactConfig config_;
  EdgeEdgeSettings<double> settings_;
  StraightPath path_;
  std::vector<int> edges_A_, edges_B_;
  std::vector<EdgeWitness<D>> witnesses_;
  std::vector<Vec3<D>> points_A_, points_B_;
  NormalsAlong of_A_, of_B_;
};

/// activity d and activity n of all edge contacts of a manifold along a path.
class ManifoldAlong {
 public:
  using Numbers = std::map<test::ContactKey, DistanceNormal<D>>;

  ManifoldAlong(const EdgedBody& body, const ContactConfig& config)
      : reference_(body.body, body.body, config) {}

  [[nodiscard]] Numbers at(const StraightPath& path, double t) const {
    Numbers numbers;
    for (const auto& [key, contact] : reference_.contacts<D>({}, path.at<D>(D::variable(t, 0)))) {
      if (std::get<0>(key) < k_edge_on_A) continue;
      numbers.emplace(key, DistanceNormal<D>{contact.activity * contact.distance,
                                             Vec3<D>(contact.activity * contact.normal)});
    }
    return numbers;
  }

 private:
  test::ManifoldReference reference_;
};

Vec3<double> value_of_normal(const Vec3<D>& n) { return {n[0].value, n[1].value, n[2].value}; }
Vec3<double> slope_of_normal(const Vec3<D>& n) { return {n[0].d[0], n[1].d[0], n[2].d[0]}; }

/// A change f(t + h) - f(t), and the derivatives at both ends.
struct Change {
  double change, slope, slope_change;  ///< slope: the larger one

  /// Whether  |change| <= h (1.1 slope + slope_change/2) + 1e-12:  what the derivatives allow for, a tenth of
  /// it, and h^2/2 |f''| with f'' by their difference.
  [[nodiscard]] bool is_explained(double h) const {
    return change <= h * ((1.0 + k_slack) * slope + 0.5 * slope_change) + k_floor;
  }
};

Change change_of_d(const DistanceNormal<D>& before, const DistanceNormal<D>& now) {
  const D &d0 = before.distance, &d1 = now.distance;
  return {std::abs(d1.value - d0.value), std::max(std::abs(d0.d[0]), std::abs(d1.d[0])),
          std::abs(d1.d[0] - d0.d[0])};
}

Change change_of_n(const DistanceNormal<D>& before, const DistanceNormal<D>& now) {
  const Vec3<double> slope0 = slope_of_normal(before.normal), slope1 = slope_of_normal(now.normal);
  return {(value_of_normal(now.normal) - value_of_normal(before.normal)).norm(),
          std::max(slope0.norm(), slope1.norm()), (slope1 - slope0).norm()};
}

/// Of one form.
class Comparison {
 public:
  /// @param at  d and n of the same contact at any t
  template <typename At>
  void add(double t0, const DistanceNormal<D>& before, double t1, const DistanceNormal<D>& now,
           const At& at) {
    const Change of_d = change_of_d(before, now), of_n = change_of_n(before, now);
    ++steps_;
    violations_d_ += of_d.is_explained(t1 - t0) ? 0.0 : 1.0;
    violations_n_ += of_n.is_explained(t1 - t0) ? 0.0 : 1.0;
    steepest_d_ = std::max(steepest_d_, of_d.slope);
    steepest_n_ = std::max(steepest_n_, of_n.slope);
    const int halvings = halvings_of(t0, before, t1, now, at, 0);
    halvings_ = std::max(halvings_, halvings);
    jumps_ += halvings > k_most_halvings ? 1.0 : 0.0;
  }

  void add_row(const std::string& form, double tau, Table& table) const {
    table.add_row({form, tau, steps_, violations_d_, violations_n_, static_cast<double>(halvings_), jumps_,
                   steepest_d_, steepest_n_});
  }

 private:
  /// How often a step has to be halved until all its parts are explained; one more than k_most_halvings if
  /// that does not help.
  template <typename At>
  static int halvings_of(double t0, const DistanceNormal<D>& before, double t1, const DistanceNormal<D>& now,
                         const At& at, int done) {
    const double h = t1 - t0;
    if (change_of_d(before, now).is_explained(h) && change_of_n(before, now).is_explained(h)) return done;
    if (done == k_most_halvings) return done + 1;
    const double middle = t0 + 0.5 * h;
    const DistanceNormal<D> between = at(middle);
    return std::max(halvings_of(t0, before, middle, between, at, done + 1),
                    halvings_of(middle, between, t1, now, at, done + 1));
  }

  double steps_ = 0.0, violations_d_ = 0.0, violations_n_ = 0.0, jumps_ = 0.0;
  double steepest_d_ = 0.0, steepest_n_ = 0.0;
  int halvings_ = 0;
};

Comparison compare_pairs(const EdgedBody& body, const ContactConfig& config,
                         std::span<const StraightPath> paths, int steps) {
  PairsAlong pairs(body, config);
  Comparison comparison;
  PairNumbers before, now, between;
  const double h = 2.0 * k_half_length / steps;
  for (const StraightPath& path : paths) {
    pairs.set(path);
    pairs.evaluate(-k_half_length, before);
    for (int step = 1; step <= steps; ++step) {
      const double t = -k_half_length + step * h;
      pairs.evaluate(t, now);
      for (std::size_t i = 0; i < now.size(); ++i) {
        comparison.add(t - h, before[i], t, now[i], [&](double at) {
          pairs.evaluate(at, between);
          return between[i];
        });
      }
      std::swap(before, now);
    }
  }
  return comparison;
}

/// A contact that is not there has activity 0.
Comparison compare_manifolds(const EdgedBody& body, const ContactConfig& config,
                             std::span<const StraightPath> paths, int steps) {
  const ManifoldAlong manifold(body, config);
  Comparison comparison;
  const double h = 2.0 * k_half_length / steps;
  const auto contact_of = [](const ManifoldAlong::Numbers& numbers, const test::ContactKey& key) {
    const auto found = numbers.find(key);
    return found != numbers.end() ? found->second
                                  : DistanceNormal<D>{D(0.0), Vec3<D>(D(0.0), D(0.0), D(0.0))};
  };
  for (const StraightPath& path : paths) {
    ManifoldAlong::Numbers before = manifold.at(path, -k_half_length);
    for (int step = 1; step <= steps; ++step) {
      const double t = -k_half_length + step * h;
      ManifoldAlong::Numbers now = manifold.at(path, t);
      std::map<double, ManifoldAlong::Numbers> between;  // many contacts are asked for at the same places
      const auto compare = [&](const test::ContactKey& key) {
        comparison.add(t - h, contact_of(before, key), t, contact_of(now, key), [&](double at) {
          auto found = between.find(at);
          if (found == between.end()) found = between.emplace(at, manifold.at(path, at)).first;
          return contact_of(found->second, key);
        });
      };
      for (const auto& entry : now) compare(entry.first);
      for (const auto& entry : before) {
        if (!now.contains(entry.first)) compare(entry.first);
      }
      before = std::move(now);
    }
  }
  return comparison;
}

}  // namespace

Table measure_paths(bool quick) {
  const int paths = quick ? 2 : 200, steps = quick ? 50 : 250;
  const std::size_t paths_of_manifolds = quick ? 1 : 5;  // each manifold takes long
  Table table({"form", "tau", "steps", "violations d", "violations n", "halvings", "jumps", "steepest d",
               "steepest n"});
  for (const double tau : {0.002, 0.01}) {
    Body asset = unit_size_asset("armadillo");
    const std::vector<StraightPath> all = paths_through(benchmarks::colliding_poses(asset, paths));
    asset.shape.union_smoothing = tau;
    const EdgedBody armadillo(asset);
    for (const EdgeForm& form : edge_forms())
      compare_pairs(armadillo, form.config, all, steps).add_row(form.name, tau, table);
    ContactConfig config;  // all lengths in proportion to tau, as the defaults have them
    config.activity_smoothing = tau;
    config.neighbour_smoothing = 5.0 * tau;
    config.selection_band = 8.0 * tau;
    config.metric_range = 16.0 * tau;
    compare_manifolds(armadillo, config, std::span(all).first(paths_of_manifolds), steps)
        .add_row("manifold, by activity", tau, table);
  }
  return table;
}

}  // namespace abut::accuracy
