/// Sums of forces of edge contacts: how steep they are, and how they jump where the edges that are deepest
/// change.
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "../support/colliding_poses.h"
#include "accuracy_table.h"
#include "collision/manifold/neighbour_weights.h"
#include "edge_pairs.h"
#include "engine/dual.h"
#include "engine/smooth.h"
#include "paths.h"
#include "samples.h"
#include "test_bodies.h"
#include "tests/support/manifold_reference.h"

namespace abut::accuracy {
namespace {

/// psi = (sqrt(d^2 + tau^2) - d)/2 [m].
template <typename S>
S smooth_depth(const S& distance, double tau) {
  using std::sqrt;
  return S(0.5) * (sqrt(distance * distance + S(tau * tau)) - distance);
}

/// The force of one contact, by the stiffness: magnitude [m] and direction.
template <typename S>
struct Force {
  S magnitude;
  Vec3<S> normal;
};

template <typename S>
using Forces = std::vector<Force<S>>;

/// Soft K: the manifold as it is.
class DefaultForces {
 public:
  DefaultForces(const EdgedBody& body, ContactConfig config)
      : tau_(config.activity_smoothing), reference_(body.body, body.body, config) {}

  template <typename S>
  [[nodiscard]] Forces<S> at(const Pose<S>& X_AB) const {
    Forces<S> forces;
    for (const auto& [key, contact] : reference_.contacts<S>({}, X_AB)) {
      if (std::get<0>(key) < k_edge_on_A) continue;
      forces.push_back({contact.activity * smooth_depth<S>(contact.distance, tau_), contact.normal});
    }
    return forces;
  }

 private:
  double tau_;
  test::ManifoldReference reference_;
};

/// As published: K edges by their rank, or K mixtures of all edges (SoftSort); sigmoid indicators; softmax
/// over the neighbours.
class PaperForces {
 public:
  PaperForces(const EdgedBody& body, bool soft_sort, ContactConfig config)
      : body_(&body), soft_sort_(soft_sort), config_(paper(config)), settings_(config_, 1.0) {}

  template <typename S>
  [[nodiscard]] Forces<S> at(const Pose<S>& X_AB) const {
    const Pose<S> X_A, X_B = X_AB;
    const std::vector<Edge<S>> edges_A = edges<S>(X_A, X_B), edges_B = edges<S>(X_B, X_A);
    const std::size_t rows = edges_A.size(), columns = edges_B.size();
    std::vector<EdgeWitness<S>> witnesses;
    std::vector<S> distances, by_row(rows * columns), by_column(rows * columns);
    for (const Edge<S>& edge_A : edges_A) {
      for (const Edge<S>& edge_B : edges_B) {
        witnesses.push_back(edge_witness<S>(edge_A, edge_B, settings_));
        distances.push_back(witnesses.back().softened);
      }
    }
    paper_neighbour_weights<S>(distances, rows, columns, S(config_.neighbour_smoothing), by_row, by_column);
    Forces<S> forces;
    for (std::size_t i = 0; i < witnesses.size(); ++i) {
      const EdgeWitness<S>& witness = witnesses[i];
      const PaperEdgeContact<S> contact = paper_contact<S>(*body_, *body_, X_A, X_B, witness, settings_);
      const S both = witness.minimum.gamma * contact.clash;
      const auto add = [&](const S& share, const S& penetration, const S& distance, const Vec3<S>& normal,
                           double sign) {
        const S activity = both * share * sigmoid<S>(-penetration / S(config_.activity_smoothing));
        forces.push_back(
            {activity * smooth_depth<S>(distance, config_.activity_smoothing), S(sign) * normal});
      };
      add(by_row[i], body_->sdf.distance<S>(inverse_point<S>(X_B, witness.e1)), contact.distance1,
          contact.normal1, -1.0);
      add(by_column[i], body_->sdf.distance<S>(inverse_point<S>(X_A, witness.e2)), contact.distance2,
          contact.normal2, 1.0);
    }
    return forces;
  }

 private:
  static ContactConfig paper(ContactConfig config) {
    config.fidelity = Fidelity::paper;
    return config;
  }

  /// The selected edges of the body at X_WO, by their distances from that at X_WS.
  template <typename S>
  [[nodiscard]] std::vector<Edge<S>> edges(const Pose<S>& X_WO, const Pose<S>& X_WS) const {
    std::vector<S> distances, metrics;
    const Points& vertices = body_->body.mesh.vertices;
    for (Eigen::Index i = 0; i < vertices.cols(); ++i) {
      const Vec3<double> vertex = vertices.col(i);
      distances.push_back(
          body_->sdf.distance<S>(inverse_point<S>(X_WS, Vec3<S>(X_WO * Vec3<S>(vertex.cast<S>())))));
    }
    std::vector<double> values;
    for (const MeshEdge& edge : body_->edges) {
      metrics.push_back(S(0.5) * (distances[static_cast<std::size_t>(edge.start)] +
                                  distances[static_cast<std::size_t>(edge.end)]));
      values.push_back(value_of(metrics.back()));
    }
    std::vector<Edge<S>> chosen;
    if (!soft_sort_) {
      for (const int edge : deepest_edges(values, k_selected_edges))
        chosen.push_back(body_->edge_at<S>(edge, X_WO));
      return chosen;
    }
    const std::size_t n = metrics.size();
    std::vector<S> sorted = metrics, weights(n);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t k = 0; k < k_selected_edges; ++k) {
      using std::abs;  // the k-th row of paper_top_k(), whose numbers have no derivatives
      for (std::size_t i = 0; i < n; ++i) weights[i] = abs(sorted[k] - metrics[i]);
      softargmin(weights, S(config_.activity_smoothing), weights);
      Edge<S> mixed{Vec3<S>::Zero(), Vec3<S>::Zero(), Vec3<S>::Zero()};
      for (std::size_t i = 0; i < n; ++i) {
        const S& weight = weights[i];
        if (!(weight > S(0))) continue;
        const Edge<S> edge = body_->edge_at<S>(static_cast<int>(i), X_WO);
        for (int c = 0; c < 3; ++c) {
          mixed.start[c] += weight * edge.start[c];
          mixed.vector[c] += weight * edge.vector[c];
        }
      }
      chosen.push_back(mixed);
    }
    return chosen;
  }

  const EdgedBody* body_;
  bool soft_sort_;
  ContactConfig config_;
  EdgeEdgeSettings<double> settings_;
};

/// The K deepest edges of both bodies, sorted.
std::vector<int> selected(const EdgedBody& body, const Pose<double>& X_AB) {
  std::vector<int> of_A = deepest_edges(edge_metrics(body, body.sdf, X_AB.inverse()), k_selected_edges),
                   of_B = deepest_edges(edge_metrics(body, body.sdf, X_AB), k_selected_edges);
  std::sort(of_A.begin(), of_A.end());
  std::sort(of_B.begin(), of_B.end());
  of_A.insert(of_A.end(), of_B.begin(), of_B.end());
  return of_A;
}

constexpr double k_half_length = 0.1, k_bracket = 1e-10;
constexpr double k_aside = 1e-9;  ///< how far before and behind a swap it is looked at

struct Swap {
  const StraightPath* path;
  double t;
};

/// Where the K-th and the next edge of one of the bodies change places.
std::vector<Swap> find_swaps(const EdgedBody& body, std::span<const StraightPath> paths, int samples) {
  std::vector<Swap> swaps;
  for (const StraightPath& path : paths) {
    const auto selected_at = [&](double t) { return selected(body, path.at<double>(t)); };
    std::vector<int> before = selected_at(-k_half_length);
    for (int i = 1; i <= samples; ++i) {
      double high = k_half_length * (2.0 * i / samples - 1.0), low = high - 2.0 * k_half_length / samples;
      const std::vector<int> now = selected_at(high);
      const std::vector<int> at_low = before;
      before = now;
      if (now == at_low) continue;
      while (high - low > k_bracket) {
        const double middle = 0.5 * (low + high);
        (selected_at(middle) == at_low ? low : high) = middle;
      }
      swaps.push_back({&path, 0.5 * (low + high)});
    }
  }
  return swaps;
}

using Along = Dual<double, 1>;

/// The sum of all forces and its derivative along a path.
struct TotalForce {
  Vec3<double> value = Vec3<double>::Zero(), slope = Vec3<double>::Zero();
};

template <typename Model>
TotalForce total_force(const Model& model, const StraightPath& path, double t) {
  TotalForce total;
  for (const Force<Along>& force : model.at(path.at<Along>(Along::variable(t, 0)))) {
    for (int i = 0; i < 3; ++i) {
      const Along f = force.magnitude * force.normal[i];
      total.value[i] += f.value;
      total.slope[i] += f.d[0];
    }
  }
  return total;
}

template <typename Model>
void add_row(const char* name, const Model& model, std::span<const Pose<double>> poses,
             std::span<const Swap> swaps, Table& table) {
  using D = Dual<double, 6>;
  Vec6<D> tangent;
  for (int i = 0; i < 6; ++i) tangent[i] = D::variable(0.0, i);
  Samples slopes, forces, value_jumps, slope_jumps;
  for (const Pose<double>& X_AB : poses) {
    for (const Force<D>& force : model.at(retract<D>(X_AB.cast<D>(), tangent))) {
      for (const double slope : force.magnitude.d) slopes.add(std::abs(slope));
    }
  }
  for (const Swap& swap : swaps) {
    const TotalForce before = total_force(model, *swap.path, swap.t - k_aside),
                     after = total_force(model, *swap.path, swap.t + k_aside);
    const Vec3<double> expected = k_aside * (before.slope + after.slope);
    forces.add(before.value.norm());
    value_jumps.add((after.value - before.value - expected).norm());
    slope_jumps.add((after.slope - before.slope).norm());
  }
  table.add_row({name, static_cast<double>(slopes.size()), slopes.quantile(0.99), slopes.largest(),
                 static_cast<double>(value_jumps.size()), forces.median(), value_jumps.median(),
                 value_jumps.largest(), slope_jumps.median(), slope_jumps.largest()});
}

}  // namespace

Table measure_force(bool quick) {
  const EdgedBody armadillo(unit_size_asset("armadillo"));
  const std::vector<Pose<double>> poses = benchmarks::colliding_poses(armadillo.body, quick ? 2 : 100);
  const std::vector<StraightPath> paths = paths_through(poses);
  const std::size_t used = quick ? 1 : 20;
  const std::vector<Swap> swaps = find_swaps(armadillo, std::span(paths).first(used), quick ? 10 : 20);
  // SoftSort mixes all edges, which takes long.
  const std::span<const Pose<double>> few = std::span(poses).first(quick ? 1 : 20);
  Table table({"form", "components", "slope 99 %", "slope max", "swaps", "F median", "jump of F median",
               "jump of F max", "jump of dF median", "jump of dF max"});
  const ContactConfig config;
  add_row("default, soft K", DefaultForces(armadillo, config), poses, swaps, table);
  add_row("paper, K by rank", PaperForces(armadillo, false, config), few, swaps, table);
  add_row("paper, SoftSort", PaperForces(armadillo, true, config), few, swaps, table);
  return table;
}

}  // namespace abut::accuracy
