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
#include "collision/fitting/marching_cubes.h"
#include "collision/fitting/parallel_chunks.h"
#include "collision/fitting/shape_jacobian.h"
#include "collision/fitting/shape_on_grid.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/check.h"

namespace abut {
namespace {

constexpr Eigen::Index k_samples_of_chunk = 256;
constexpr double k_blended = 10.0;  // of union smoothings further than the nearest: it changes no distance

bool is_added(const Primitive& primitive) { return primitive.operation == PrimitiveOperation::add; }

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
    std::erase_if(near, [&](std::size_t i) { return !part.contains(i); });
    points_.resize(3, static_cast<Eigen::Index>(near.size()));
    targets_.clear();
    const Eigen::Vector3i n = grid_.points();
    for (const std::size_t i : near) {
      const auto p = static_cast<int>(i);
      points_.col(static_cast<Eigen::Index>(targets_.size())) =
          grid_.point(p % n.x(), p / n.x() % n.y(), p / n.x() / n.y());
      targets_.push_back(std::clamp(grid_.values[i], -T_, T_));
    }
  }

  /// Sum of squared residuals of a shape [m^2].
  [[nodiscard]] double cost_of(const Shape& shape) const {
    const std::vector<double> distances = distances_at_samples(ShapeSdf(shape));
    double cost = 0.0;
    for (std::size_t i = 0; i < distances.size(); ++i) {
      const double e = residual(distances[i], i);
      cost += e * e;
    }
    return cost;
  }

  /// Root mean square of the residuals [m].
  [[nodiscard]] double error() const {
    return std::sqrt(cost_of(shape_) / static_cast<double>(std::max<std::size_t>(targets_.size(), 1)));
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

  /// Leaves out primitives as long as the cost does not rise, or there are too many; returns how many.
  int prune() {
    int left_out = 0;
    for (; shape_.primitives.size() > 1; ++left_out) {
      const std::vector<double> changes = changes_without_each();
      const auto least = std::min_element(changes.begin(), changes.end());
      if (*least > 0.0 && static_cast<int>(shape_.primitives.size()) <= options_.max_primitives) break;
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
  /// Calls work(chunk, first, count) for chunks of the samples, on threads.
  template <typename Work>
  void for_each_part(const Work& work) const {
    for_each_chunk(chunk_count(), options_.threads, [&](int chunk) {
      const Eigen::Index first = Eigen::Index{chunk} * k_samples_of_chunk;
      work(chunk, first, std::min(k_samples_of_chunk, points_.cols() - first));
    });
  }
  [[nodiscard]] int chunk_count() const {
    return static_cast<int>((points_.cols() + k_samples_of_chunk - 1) / k_samples_of_chunk);
  }

  [[nodiscard]] std::vector<double> distances_at_samples(const ShapeSdf& sdf) const {
    std::vector<double> distances(targets_.size());
    const ScalarField field = field_of(sdf);
    for_each_part([&](int, Eigen::Index first, Eigen::Index count) {
      field(points_.middleCols(first, count), {distances.data() + first, static_cast<std::size_t>(count)});
    });
    return distances;
  }

  void leave_out(std::ptrdiff_t l) { shape_.primitives.erase(shape_.primitives.begin() + l); }

  [[nodiscard]] double residual(double distance, std::size_t sample) const {
    return std::clamp(distance, -T_, T_) - targets_[sample];
  }

  /// By how much the cost rises without each of the primitives [m^2]; infinitely without the only added one.
  [[nodiscard]] std::vector<double> changes_without_each() const {
    const std::vector<double> distances = distances_at_samples(ShapeSdf(shape_));
    const auto added = std::count_if(shape_.primitives.begin(), shape_.primitives.end(), is_added);
    std::vector<double> changes(shape_.primitives.size(), 0.0);
    for_each_chunk(static_cast<int>(changes.size()), options_.threads, [&](int l) {
      const Primitive& primitive = shape_.primitives[at(l)];
      if (is_added(primitive) && added == 1) {
        changes[at(l)] = k_infinity;
        return;
      }
      Shape alone = shape_, others = shape_;
      alone.primitives = {primitive};
      alone.primitives[0].operation = PrimitiveOperation::add;
      others.primitives.erase(others.primitives.begin() + l);
      const ShapeSdf sdf_alone(alone), sdf_others(others);
      Eigen::AlignedBox3d box = sdf_alone.bounds();  // beyond it by T kappa the primitive counts as T
      const double blended = k_blended * shape_.union_smoothing;
      const double margin = T_ * sdf_alone.distance_ratio() + blended;
      box.min().array() -= margin;
      box.max().array() += margin;
      std::vector<Eigen::Index> near;
      for (Eigen::Index i = 0; i < points_.cols(); ++i) {
        if (box.contains(Vec3<double>(points_.col(i)))) near.push_back(i);
      }
      std::vector<double> values(near.size());
      field_of(sdf_alone)(points_(Eigen::all, near), values);
      std::vector<Eigen::Index> matters;
      for (std::size_t i = 0; i < near.size(); ++i) {
        const double d = distances[static_cast<std::size_t>(near[i])];
        if (values[i] <= (is_added(primitive) ? d : -d) + blended) matters.push_back(near[i]);
      }
      values.resize(matters.size());
      field_of(sdf_others)(points_(Eigen::all, matters), values);
      for (std::size_t i = 0; i < matters.size(); ++i) {
        const auto sample = static_cast<std::size_t>(matters[i]);
        const double with = residual(distances[sample], sample), without = residual(values[i], sample);
        changes[at(l)] += without * without - with * with;
      }
    });
    return changes;
  }

  [[nodiscard]] NormalEquations normal_equations() const {
    const ShapeJacobian jacobian(shape_);
    std::vector<NormalEquations> parts(at(chunk_count()));
    for_each_part([&](int chunk, Eigen::Index first, Eigen::Index count) {
      NormalEquations& part = parts[at(chunk)];
      part.Je.assign(shape_.primitives.size(), SuperquadricTangent::Zero());
      const DistanceJacobian J = jacobian.evaluate(points_.middleCols(first, count), T_);
      for (std::size_t i = 0; i < J.points.size(); ++i) {
        const double e = J.distance[static_cast<Eigen::Index>(i)] -
                         targets_[static_cast<std::size_t>(first + J.points[i])];
        for (std::size_t a = J.begin[i]; a < J.begin[i + 1]; ++a) {
          const auto& [l, slope] = J.slopes[a];
          part.Je[at(l)] += e * slope;
          for (std::size_t b = J.begin[i]; b <= a; ++b) {
            const auto& [k, other_slope] = J.slopes[b];
            const bool is_lower = l >= k;
            SuperquadricMatrix& block =
                part.JJ.try_emplace(std::minmax(l, k, std::greater<>()), SuperquadricMatrix::Zero())
                    .first->second;
            block.noalias() += is_lower ? slope * other_slope.transpose() : other_slope * slope.transpose();
          }
        }
      }
    });
    NormalEquations sum;
    sum.Je.assign(shape_.primitives.size(), SuperquadricTangent::Zero());
    for (std::size_t l = 0; l < sum.Je.size(); ++l)
      sum.JJ.try_emplace({static_cast<int>(l), static_cast<int>(l)}, SuperquadricMatrix::Zero());
    for (const NormalEquations& part : parts) {
      for (std::size_t l = 0; l < sum.Je.size(); ++l) sum.Je[l] += part.Je[l];
      for (const auto& [pair, block] : part.JJ)
        sum.JJ.try_emplace(pair, SuperquadricMatrix::Zero()).first->second += block;
    }
    return sum;
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
      const double diagonal = h_ * grid_.grid.cells.cast<double>().norm();
      sq.axes = sq.axes.cwiseMax(options_.least_axis * h_).cwiseMin(diagonal);
      sq.eps1 = std::clamp(sq.eps1, options_.least_exponent, options_.most_exponent);
      sq.eps2 = std::clamp(sq.eps2, options_.least_exponent, options_.most_exponent);
      const PrimitiveOperation operation = shape.primitives[l].operation;
      shape.primitives[l] = primitive_of(sq);
      shape.primitives[l].operation = operation;
    }
    return true;
  }

  const DistanceGrid& grid_;
  const UnionRefinementOptions& options_;
  double h_, T_;  // spacing and truncation [m]
  Shape shape_;
  Points points_{3, 0};
  std::vector<double> targets_;  // truncated distances
};

}  // namespace

UnionRefinementReport refine_union(Shape& shape, const DistanceGrid& grid,
                                   const UnionRefinementOptions& options) {
  for (const Primitive& primitive : shape.primitives) {
    require(primitive.kind == PrimitiveKind::superquadric, "only superquadrics can be refined");
  }
  require(shape.distance_mode == DistanceMode::taubin, "only Taubin's distance can be refined");
  require(options.truncation > 0.0 && options.band >= 0.5 && options.least_axis > 0.0,
          "truncation and least_axis must be > 0, and band >= 0.5");
  require(options.max_samples >= 1 && options.max_primitives >= 1 && options.rounds >= 0 &&
              options.steps >= 1 && options.thinning_steps >= 1,
          "max_samples, max_primitives and steps must be >= 1, and rounds >= 0");
  require(options.least_exponent >= 0.02 && options.least_exponent <= options.most_exponent &&
              options.most_exponent <= 1.9,
          "exponents must be in [0.02, 1.9]");
  UnionRefinementReport report;
  if (std::none_of(shape.primitives.begin(), shape.primitives.end(), is_added)) return report;
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
  const bool had_too_many = static_cast<int>(shape.primitives.size()) > options.max_primitives;
  report.kept = had_too_many || occupancy_iou(grid, after) > occupancy_iou(grid, before);
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
