/// Derivatives of d and n of pairs of edges by the pose of B, against central differences.
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "../support/colliding_poses.h"
#include "accuracy_table.h"
#include "collision/manifold/manifold_batch.h"
#include "edge_pairs.h"
#include "engine/dual.h"
#include "samples.h"
#include "test_bodies.h"

namespace abut::accuracy {
namespace {

using Matrix46 = Eigen::Matrix<double, 4, 6>;
constexpr std::array k_steps{1e-3, 1e-4, 1e-5};
constexpr double k_active = 1e-2;  ///< activity above which a pair of edges is called active

/// (d, n) of a pair of edges by the motion of B; W has its origin at that of B.
class EdgePairFunction {
 public:
  EdgePairFunction(const EdgedBody& armadillo, const ContactConfig& config)
      : armadillo_(&armadillo), config_(config), settings_(config, 1.0) {}

  void set(const Pose<double>& X_AB, int edge_A, int edge_B) {
    X_WA_ = {Quat<double>::Identity(), -X_AB.p};
    X_WB_ = {X_AB.q, Vec3<double>::Zero()};
    edge_A_ = edge_A;
    edge_B_ = edge_B;
  }

  template <typename S>
  [[nodiscard]] Eigen::Matrix<S, 4, 1> value(const Vec6<S>& tangent_B) const {
    const Pose<S> X_WA = X_WA_.cast<S>(), X_WB = retract<S>(X_WB_.cast<S>(), tangent_B);
    const DistanceNormal<S> contact =
        distance_normal<S>(*armadillo_, *armadillo_, X_WA, X_WB, armadillo_->edge_at<S>(edge_A_, X_WA),
                           armadillo_->edge_at<S>(edge_B_, X_WB), config_, settings_);
    return {contact.distance, contact.normal[0], contact.normal[1], contact.normal[2]};
  }

  /// As the library has them; of the paper's form, of which it has none, by dual numbers.
  [[nodiscard]] Matrix46 derivative() const {
    if (config_.fidelity == Fidelity::corrected) {
      const Edge<double> edge_A = armadillo_->edge_at<double>(edge_A_, X_WA_),
                         edge_B = armadillo_->edge_at<double>(edge_B_, X_WB_);
      const EdgeContact<double> contact = edge_contact<double>(edge_A, edge_B, settings_);
      return edge_contact_jacobian<double>(edge_A, edge_B, contact, settings_).distance_normal;
    }
    using D = Dual<double, 6>;
    Vec6<D> tangent;
    for (int i = 0; i < 6; ++i) tangent[i] = D::variable(0.0, i);
    const Eigen::Matrix<D, 4, 1> y = value<D>(tangent);
    Matrix46 J;
    for (int row = 0; row < 4; ++row) {
      for (int i = 0; i < 6; ++i) J(row, i) = y[row].d[static_cast<std::size_t>(i)];
    }
    return J;
  }

  [[nodiscard]] Matrix46 differences(double step) const {
    Matrix46 J;
    for (int i = 0; i < 6; ++i) {
      const Vec6<double> tangent = step * Vec6<double>::Unit(i);
      J.col(i) = (value<double>(tangent) - value<double>(-tangent)) / (2.0 * step);
    }
    return J;
  }

 private:
  const EdgedBody* armadillo_;
  ContactConfig config_;
  EdgeEdgeSettings<double> settings_;
  Pose<double> X_WA_, X_WB_;
  int edge_A_ = 0, edge_B_ = 0;
};

/// Pairs of edges (of A, of B) with a contact of at least that activity, on either edge.
std::set<std::pair<int, int>> active_pairs(const ManifoldView<double>& manifold) {
  std::set<std::pair<int, int>> pairs;
  for (int i = 0; i < manifold.size(); ++i) {
    if (manifold.kind(i) == ContactKind::edge_edge && manifold.activity(i) > k_active)
      pairs.emplace(manifold.feature_A(i), manifold.feature_B(i));
  }
  return pairs;
}

/// Of d, or of n.
struct Errors {
  std::array<Samples, k_steps.size()> by_step;
  double largest = 0.0, largest_active = 0.0;
};

}  // namespace

Table measure_derivative_differences(bool quick) {
  std::vector<std::string> columns{"form", "of", "components"};
  for (const double step : k_steps) {
    for (const char* what : {"99 %", "max"}) columns.push_back(fmt::format("h {:.0e} {}", step, what));
  }
  columns.insert(columns.end(), {"largest derivative", "largest active"});
  Table table(columns);

  const EdgedBody armadillo(unit_size_asset("armadillo"));
  const std::vector<Pose<double>> poses = benchmarks::colliding_poses(armadillo.body, quick ? 2 : 100);
  const PairManifold<double> manifold(armadillo.body, armadillo.body, ContactConfig());
  PairBuffers<double> buffers = manifold.make_buffers(ManifoldOrder::value);
  for (const EdgeForm& form : edge_forms()) {
    EdgePairFunction function(armadillo, form.config);
    Errors of_d, of_n;
    for (const Pose<double>& X_AB : poses) {
      manifold.evaluate(X_AB, ManifoldOrder::value, buffers);
      const std::set<std::pair<int, int>> active = active_pairs(manifold.view(buffers));
      for (const int edge_A :
           deepest_edges(edge_metrics(armadillo, armadillo.sdf, X_AB.inverse()), k_selected_edges)) {
        for (const int edge_B :
             deepest_edges(edge_metrics(armadillo, armadillo.sdf, X_AB), k_selected_edges)) {
          function.set(X_AB, edge_A, edge_B);
          const Matrix46 J = function.derivative();
          const bool is_active = active.contains({edge_A, edge_B});
          const auto note = [&](Errors& errors, const auto& rows_of) {
            const double largest = rows_of(J).cwiseAbs().maxCoeff();
            errors.largest = std::max(errors.largest, largest);
            if (is_active) errors.largest_active = std::max(errors.largest_active, largest);
          };
          const auto d_of = [](const Matrix46& M) { return M.topRows<1>(); };
          const auto n_of = [](const Matrix46& M) { return M.bottomRows<3>(); };
          note(of_d, d_of);
          note(of_n, n_of);
          for (std::size_t h = 0; h < k_steps.size(); ++h) {
            const Matrix46 error = (J - function.differences(k_steps[h])).cwiseAbs();
            for (const double x : d_of(error).reshaped()) of_d.by_step[h].add(x);
            for (const double x : n_of(error).reshaped()) of_n.by_step[h].add(x);
          }
        }
      }
    }
    for (Errors* errors : {&of_d, &of_n}) {
      std::vector<benchmarks::Cell> row{form.name, errors == &of_d ? "d" : "n",
                                        static_cast<double>(errors->by_step[0].size())};
      for (Samples& samples : errors->by_step) {
        row.emplace_back(samples.quantile(0.99));
        row.emplace_back(samples.largest());
      }
      row.emplace_back(errors->largest);
      row.emplace_back(errors->largest_active);
      table.add_row(std::move(row));
    }
  }
  return table;
}

}  // namespace abut::accuracy
