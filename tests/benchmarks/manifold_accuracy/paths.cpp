#include "paths.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "../support/colliding_poses.h"
#include "accuracy_table.h"
#include "collision/manifold/kernel/manifold_kernels.h"
#include "edge_pairs.h"
#include "engine/dual.h"
#include "test_bodies.h"

namespace abut::accuracy {
namespace {

constexpr double k_half_length = 0.1;  ///< a path goes from -0.1 to 0.1 [rad, size]
constexpr double k_slack = 0.1;        ///< of the bound, relative
constexpr double k_floor = 1e-9;       ///< changes below that are rounding

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
    manifold_kernels().sample_points(sdf, SdfOrder::jacobian, rows_[0].data(), rows_[1].data(),
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

/// Changes f(t + h) - f(t) against  h (1.1 max(|f'(t)|, |f'(t + h)|) + |f'(t + h) - f'(t)|/2) + 1e-9:  what
/// the derivatives at both ends allow for, a tenth of it, and h^2/2 |f''| with f'' by their difference.
struct Violations {
  double count = 0.0, worst = 0.0, steepest = 0.0;  ///< worst: largest change by its bound

  void note(double change, double slope0, double slope1, double slope_change, double h) {
    const double slope = std::max(slope0, slope1);
    const double bound = h * ((1.0 + k_slack) * slope + 0.5 * slope_change) + k_floor;
    count += change > bound ? 1.0 : 0.0;
    worst = std::max(worst, change / bound);
    steepest = std::max(steepest, slope);
  }
};

Vec3<double> value_of_normal(const Vec3<D>& n) { return {n[0].value, n[1].value, n[2].value}; }
Vec3<double> slope_of_normal(const Vec3<D>& n) { return {n[0].d[0], n[1].d[0], n[2].d[0]}; }

}  // namespace

Table measure_paths(bool quick) {
  const int paths = quick ? 2 : 200, steps = quick ? 50 : 250;
  Table table({"form", "tau", "steps", "violations d", "violations n", "worst d", "worst n", "steepest d",
               "steepest n"});
  for (const double tau : {0.002, 0.01}) {
    Body asset = unit_size_asset("armadillo");
    const std::vector<StraightPath> all = paths_through(benchmarks::colliding_poses(asset, paths));
    asset.shape.union_smoothing = tau;
    const EdgedBody armadillo(asset);
    for (EdgeForm form : edge_forms()) {
      form.config.activity_smoothing = tau;
      form.config.neighbour_smoothing = 5.0 * tau;
      PairsAlong pairs(armadillo, form.config);
      Violations of_d, of_n;
      double compared = 0.0;
      PairNumbers before, now;
      for (const StraightPath& path : all) {
        pairs.set(path);
        const double h = 2.0 * k_half_length / steps;
        pairs.evaluate(-k_half_length, before);
        for (int step = 1; step <= steps; ++step) {
          pairs.evaluate(-k_half_length + step * h, now);
          for (std::size_t i = 0; i < now.size(); ++i) {
            const D &d0 = before[i].distance, &d1 = now[i].distance;
            of_d.note(std::abs(d1.value - d0.value), std::abs(d0.d[0]), std::abs(d1.d[0]),
                      std::abs(d1.d[0] - d0.d[0]), h);
            const Vec3<D>&n0 = before[i].normal, &n1 = now[i].normal;
            const Vec3<double> slope0 = slope_of_normal(n0), slope1 = slope_of_normal(n1);
            of_n.note((value_of_normal(n1) - value_of_normal(n0)).norm(), slope0.norm(), slope1.norm(),
                      (slope1 - slope0).norm(), h);
          }
          compared += static_cast<double>(now.size());
          std::swap(before, now);
        }
      }
      table.add_row({form.name, tau, compared, of_d.count, of_n.count, of_d.worst, of_n.worst, of_d.steepest,
                     of_n.steepest});
    }
  }
  return table;
}

}  // namespace abut::accuracy
