#include "collision/fitting/union_refinement.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <Eigen/SparseCholesky>

#include "collision/fitting/free_superquadric.h"
#include "collision/fitting/hashed_part.h"
#include "collision/fitting/parallel_chunks.h"
#include "collision/fitting/shape_on_grid.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/check.h"

namespace abut {
namespace {

constexpr int k_samples_of_chunk = 512;
constexpr double k_blended = 10.0;  // of union smoothings further than the nearest: it changes no distance
constexpr double k_least_slope = 1e-6;  // of a residual by a primitive: what is below couples nothing

/// The derivative of a residual by one primitive.
struct ResidualBlock {
  int primitive;
  SuperquadricTangent slope;
};

/// A sum of squares about the current shape.
struct NormalEquations {
  std::map<std::pair<int, int>, SuperquadricMatrix> JJ;  // of pairs of primitives i >= j
  std::vector<SuperquadricTangent> Je;
};

class UnionRefiner {
 public:
  UnionRefiner(const Shape& shape, const DistanceGrid& grid, const UnionRefinementOptions& options)
      : grid_(grid), options_(options), h_(grid.grid.cell_size), T_(options.truncation * h_), shape_(shape) {}

  [[nodiscard]] const Shape& shape() const { return shape_; }
  void set_shape(const Shape& shape) { shape_ = shape; }

  /// The shape's distances on the grid, where they are within the band.
  [[nodiscard]] std::vector<double> distances() const {
    return distances_on_grid(ShapeSdf(shape_), grid_, options_.band * h_, options_.threads);
  }

  /// Chooses grid points near the zero set of the grid or of the shape, given distances().
  void choose_samples(const std::vector<double>& distances) {
    const double band = options_.band * h_;
    std::vector<std::size_t> near;
    for (std::size_t i = 0; i < distances.size(); ++i) {
      if (std::min(std::abs(grid_.values[i]), std::abs(distances[i])) < band) near.push_back(i);
    }
    const HashedPart part(static_cast<double>(options_.max_samples) / static_cast<double>(near.size()));
    points_.clear();
    targets_.clear();
    const Eigen::Vector3i n = grid_.points();
    for (const std::size_t i : near) {
      if (!part.contains(i)) continue;
      const auto p = static_cast<int>(i);
      points_.push_back(grid_.point(p % n.x(), p / n.x() % n.y(), p / n.x() / n.y()));
      targets_.push_back(std::clamp(grid_.values[i], -T_, T_));
    }
  }

  /// Sum of squared residuals of a shape [m^2].
  [[nodiscard]] double cost_of(const Shape& shape) const {
    const ShapeSdf sdf(shape);
    std::vector<double> costs(chunk_count(), 0.0);
    for_each_chunk(static_cast<int>(costs.size()), options_.threads, [&](int chunk) {
      for_each_sample(chunk, [&](std::size_t i) {
        const double e = residual(sdf.distance<double>(points_[i]), i);
        costs[at(chunk)] += e * e;
      });
    });
    double cost = 0.0;
    for (const double part : costs) cost += part;
    return cost;
  }

  /// Root mean square of the residuals [m].
  [[nodiscard]] double error() const {
    return std::sqrt(cost_of(shape_) / static_cast<double>(std::max<std::size_t>(points_.size(), 1)));
  }

  /// Levenberg-Marquardt steps until the cost settles; returns how many were accepted.
  int descend(int most_steps, const std::function<void()>& after_step = {}) {
    double cost = cost_of(shape_);
    LevenbergMarquardtDamping damping;
    int accepted = 0;
    while (accepted < most_steps) {
      const NormalEquations equations = normal_equations();
      const double before = cost;
      for (int attempt = 0; attempt < 6 && cost == before; ++attempt) {
        Shape next = shape_;
        if (move(next, solve(equations, damping.value))) {
          const double cost_of_next = cost_of(next);
          if (cost_of_next < cost) {
            cost = cost_of_next;
            shape_ = std::move(next);
            damping.accept();
            break;
          }
        }
        damping.reject();
      }
      if (cost == before) break;
      ++accepted;
      if (after_step) after_step();
      if (before - cost < options_.settled * before) break;
    }
    return accepted;
  }

  /// Leaves out primitives as long as the cost does not rise; returns how many.
  int prune() {
    int left_out = 0;
    for (; shape_.primitives.size() > 1; ++left_out) {
      const std::vector<double> changes = changes_without_each();
      const auto least = std::min_element(changes.begin(), changes.end());
      if (*least > 0.0) break;
      leave_out(least - changes.begin());
    }
    return left_out;
  }

  /// Leaves out the primitive without which the cost rises least.
  void leave_out_least_useful() {
    const std::vector<double> changes = changes_without_each();
    leave_out(std::min_element(changes.begin(), changes.end()) - changes.begin());
  }

 private:
  [[nodiscard]] std::size_t chunk_count() const {
    return (points_.size() + k_samples_of_chunk - 1) / k_samples_of_chunk;
  }
  template <typename Visit>
  void for_each_sample(int chunk, const Visit& visit) const {
    const std::size_t first = at(chunk) * k_samples_of_chunk;
    for (std::size_t i = first; i < std::min(first + k_samples_of_chunk, points_.size()); ++i) visit(i);
  }

  void leave_out(std::ptrdiff_t l) { shape_.primitives.erase(shape_.primitives.begin() + l); }

  [[nodiscard]] double residual(double distance, std::size_t sample) const {
    return std::clamp(distance, -T_, T_) - targets_[sample];
  }

  /// By how much the cost rises without each of the primitives [m^2].
  [[nodiscard]] std::vector<double> changes_without_each() const {
    std::vector<double> distances(points_.size());
    const ShapeSdf sdf(shape_);
    for_each_chunk(static_cast<int>(chunk_count()), options_.threads, [&](int chunk) {
      for_each_sample(chunk, [&](std::size_t i) { distances[i] = sdf.distance<double>(points_[i]); });
    });
    std::vector<double> changes(shape_.primitives.size(), 0.0);
    for_each_chunk(static_cast<int>(changes.size()), options_.threads, [&](int l) {
      Shape alone = shape_, others = shape_;
      alone.primitives = {shape_.primitives[at(l)]};
      others.primitives.erase(others.primitives.begin() + l);
      const ShapeSdf sdf_alone(alone), sdf_others(others);
      Eigen::AlignedBox3d box = sdf_alone.bounds();  // beyond it by T kappa the primitive counts as T
      const double margin = T_ * sdf_alone.distance_ratio() + k_blended * shape_.union_smoothing;
      box.min().array() -= margin;
      box.max().array() += margin;
      for (std::size_t i = 0; i < points_.size(); ++i) {
        if (!box.contains(points_[i])) continue;
        if (sdf_alone.distance<double>(points_[i]) > distances[i] + k_blended * shape_.union_smoothing)
          continue;
        const double with = residual(distances[i], i),
                     without = residual(sdf_others.distance<double>(points_[i]), i);
        changes[at(l)] += without * without - with * with;
      }
    });
    return changes;
  }

  [[nodiscard]] NormalEquations normal_equations() const {
    const ShapeSdf sdf(shape_);
    std::vector<NormalEquations> parts(chunk_count());
    std::vector<Mat3<double>> R;
    for (const Primitive& primitive : shape_.primitives) R.push_back(primitive.X_BP.rotation());
    for_each_chunk(static_cast<int>(parts.size()), options_.threads, [&](int chunk) {
      NormalEquations& part = parts[at(chunk)];
      part.Je.assign(R.size(), SuperquadricTangent::Zero());
      std::vector<PrimitiveGradient> bar(R.size());
      std::vector<ResidualBlock> blocks;
      for_each_sample(chunk, [&](std::size_t i) {
        const double d = sdf.distance<double>(points_[i]);
        if (std::abs(d) >= T_) return;
        std::fill(bar.begin(), bar.end(), PrimitiveGradient());
        sdf.parameter_vjp(points_[i], 1.0, Vec3<double>::Zero(), bar);
        blocks.clear();
        for (std::size_t l = 0; l < bar.size(); ++l) {
          const ResidualBlock block{static_cast<int>(l), slope_of(bar[l], shape_.primitives[l], R[l])};
          if (block.slope.head<3>().squaredNorm() > k_least_slope * k_least_slope) blocks.push_back(block);
        }
        const double e = d - targets_[i];
        for (const ResidualBlock& a : blocks) {
          part.Je[at(a.primitive)] += e * a.slope;
          for (const ResidualBlock& b : blocks) {
            if (b.primitive > a.primitive) break;
            const auto [entry, is_new] =
                part.JJ.try_emplace({a.primitive, b.primitive}, SuperquadricMatrix::Zero());
            entry->second.noalias() += a.slope * b.slope.transpose();
          }
        }
      });
    });
    NormalEquations sum;
    sum.Je.assign(R.size(), SuperquadricTangent::Zero());
    for (std::size_t l = 0; l < R.size(); ++l)
      sum.JJ.try_emplace({static_cast<int>(l), static_cast<int>(l)}, SuperquadricMatrix::Zero());
    for (const NormalEquations& part : parts) {
      for (std::size_t l = 0; l < R.size(); ++l) sum.Je[l] += part.Je[l];
      for (const auto& [pair, block] : part.JJ)
        sum.JJ.try_emplace(pair, SuperquadricMatrix::Zero()).first->second += block;
    }
    return sum;
  }

  /// By the tangent of moved(), of a derivative by parameters and a left perturbation of the pose.
  [[nodiscard]] static SuperquadricTangent slope_of(const PrimitiveGradient& bar, const Primitive& primitive,
                                                    const Mat3<double>& R) {
    SuperquadricTangent slope;
    slope.segment<3>(0) = R.transpose() * bar.pose.tail<3>();
    slope.segment<3>(3) = R.transpose() * bar.pose.head<3>();
    for (int k = 0; k < 3; ++k) slope[6 + k] = primitive.parameters[at(k)] * bar.parameters[at(k)];
    slope[9] = bar.parameters[3];
    slope[10] = bar.parameters[4];
    return slope;
  }

  /// Displacements and lengths are in metres, all else is in radians and the like: the damping is relative to
  /// the diagonal, and what is added to it takes the unit of each row from there.
  [[nodiscard]] Eigen::VectorXd solve(const NormalEquations& equations, double damping) const {
    const Eigen::Index size = k_superquadric_numbers * static_cast<Eigen::Index>(equations.Je.size());
    Eigen::VectorXd rhs(size);
    std::vector<Eigen::Triplet<double>> entries;
    for (std::size_t l = 0; l < equations.Je.size(); ++l)
      rhs.segment<k_superquadric_numbers>(static_cast<Eigen::Index>(l) * k_superquadric_numbers) =
          -equations.Je[l];
    for (const auto& [pair, block] : equations.JJ) {
      for (int a = 0; a < k_superquadric_numbers; ++a) {
        for (int b = 0; b < (pair.first == pair.second ? a + 1 : k_superquadric_numbers); ++b) {
          double value = block(a, b);
          if (pair.first == pair.second && a == b) value = damped(block, a, damping);
          entries.emplace_back(pair.first * k_superquadric_numbers + a,
                               pair.second * k_superquadric_numbers + b, value);
        }
      }
    }
    Eigen::SparseMatrix<double> A(size, size);
    A.setFromTriplets(entries.begin(), entries.end());
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>, Eigen::Lower> factor(A);
    return factor.solve(rhs);
  }

  /// Displacements [m] have a diagonal of another unit than rotations and exponents [m^2].
  [[nodiscard]] double damped(const SuperquadricMatrix& block, int a, double damping) const {
    const double unit = a < 3 ? 1.0 : h_ * h_;
    return (1.0 + damping) * block(a, a) + 1e-6 * unit;
  }

  /// Moves all primitives of a shape; false if the change is not finite.
  [[nodiscard]] bool move(Shape& shape, const Eigen::VectorXd& change) const {
    if (!change.allFinite()) return false;
    for (std::size_t l = 0; l < shape.primitives.size(); ++l) {
      FreeSuperquadric sq = free_superquadric(shape.primitives[l]);
      sq = moved(sq, limited(change.segment<k_superquadric_numbers>(static_cast<Eigen::Index>(l) *
                                                                    k_superquadric_numbers),
                             reach_of(sq, T_)));
      sq.axes = sq.axes.cwiseMax(options_.least_axis * h_);
      sq.eps1 = std::clamp(sq.eps1, options_.least_exponent, options_.most_exponent);
      sq.eps2 = std::clamp(sq.eps2, options_.least_exponent, options_.most_exponent);
      shape.primitives[l] = primitive_of(sq);
    }
    return true;
  }

  const DistanceGrid& grid_;
  const UnionRefinementOptions& options_;
  double h_, T_;  // spacing and truncation [m]
  Shape shape_;
  std::vector<Vec3<double>> points_;
  std::vector<double> targets_;  // truncated distances
};

}  // namespace

UnionRefinementReport refine_union(Shape& shape, const DistanceGrid& grid,
                                   const UnionRefinementOptions& options) {
  for (const Primitive& primitive : shape.primitives) {
    require(primitive.kind == PrimitiveKind::superquadric && primitive.operation == PrimitiveOperation::add,
            "only added superquadrics can be refined");
  }
  require(options.truncation > 0.0 && options.band >= 0.5 && options.least_axis > 0.0,
          "truncation and least_axis must be > 0, and band >= 0.5");
  require(
      options.max_samples >= 1 && options.rounds >= 0 && options.steps >= 1 && options.thinning_steps >= 1,
      "max_samples and steps must be >= 1, and rounds >= 0");
  require(options.least_exponent >= 0.02 && options.least_exponent <= options.most_exponent &&
              options.most_exponent <= 1.9,
          "exponents must be in [0.02, 1.9]");
  UnionRefinementReport report;
  if (shape.primitives.empty()) return report;
  UnionRefiner refiner(shape, grid, options);
  const std::vector<double> before = refiner.distances();
  report.iou_before = report.iou_after = volumetric_iou(grid, before);
  refiner.choose_samples(before);
  report.error_before = refiner.error();
  const int most_steps = options.rounds * options.steps;
  for (int round = 0; round < options.rounds; ++round) {
    if (round > 0) {
      report.left_out += refiner.prune();
      refiner.choose_samples(refiner.distances());
    }
    int done = round * options.steps;
    report.steps += refiner.descend(options.steps, [&] {
      if (options.progress) options.progress("steps", ++done, most_steps);
    });
  }
  if (options.progress) options.progress("steps", most_steps, most_steps);
  report.error_after = refiner.error();
  const std::vector<double> after = refiner.distances();
  report.kept = occupancy_iou(grid, after) > occupancy_iou(grid, before);
  if (report.kept) {
    report.iou_after = volumetric_iou(grid, after);
    shape = refiner.shape();
  } else {
    report.left_out = 0;
    report.error_after = report.error_before;
  }
  if (!options.is_good_enough || !options.is_good_enough(shape)) return report;
  refiner.set_shape(shape);
  while (shape.primitives.size() > 1) {
    refiner.leave_out_least_useful();
    refiner.descend(options.thinning_steps);
    if (!options.is_good_enough(refiner.shape())) break;
    shape = refiner.shape();
    ++report.thinned_out;
    if (options.progress)
      options.progress("primitives left out", report.thinned_out,
                       report.thinned_out + static_cast<int>(shape.primitives.size()));
  }
  if (report.thinned_out > 0) report.iou_after = volumetric_iou(grid, ShapeSdf(shape), options.threads);
  return report;
}

}  // namespace abut
