#include "collision/fitting/union_refiner.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <Eigen/SparseCholesky>

#include "collision/fitting/hashed_part.h"
#include "collision/fitting/marching_cubes.h"
#include "collision/fitting/parallel_chunks.h"
#include "collision/fitting/shape_jacobian.h"
#include "collision/fitting/shape_on_grid.h"
#include "engine/check.h"

namespace abut {
namespace {

constexpr Eigen::Index k_samples_of_chunk = 256;
constexpr double k_blended = 10.0;  // of union smoothings further than the nearest: it changes no distance
constexpr int k_most_merges = 8;    // that are compared exactly

/// Bits of three coordinates below 2^21, interleaved.
std::uint64_t morton_code(const Eigen::Vector3i& p) {
  std::uint64_t code = 0;
  for (int bit = 0; bit < 21; ++bit) {
    for (int axis = 0; axis < 3; ++axis)
      code |= static_cast<std::uint64_t>(p[axis] >> bit & 1) << (3 * bit + axis);
  }
  return code;
}

bool is_superquadric(const Primitive& primitive) { return primitive.kind == PrimitiveKind::superquadric; }

}  // namespace

UnionRefiner::UnionRefiner(const Shape& shape, const DistanceGrid& grid,
                           const UnionRefinementOptions& options)
    : grid_(grid), options_(options), h_(grid.grid.cell_size), T_(options.truncation * h_), shape_(shape) {}

void UnionRefiner::set_shape(const Shape& shape) { shape_ = shape; }

std::vector<double> UnionRefiner::distances() const {
  return distances_on_grid(ShapeSdf(shape_), grid_, options_.band * h_, options_.threads);
}

void UnionRefiner::choose_samples(const std::vector<double>& distances) {
  const double band = options_.band * h_;
  const auto position = [n = grid_.points()](std::size_t i) {
    const auto p = static_cast<int>(i);
    return Eigen::Vector3i(p % n.x(), p / n.x() % n.y(), p / n.x() / n.y());
  };
  std::vector<std::size_t> near;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    if (std::min(std::abs(grid_.values[i]), std::abs(distances[i])) < band) near.push_back(i);
  }
  const HashedPart part(static_cast<double>(options_.max_samples) / static_cast<double>(near.size()));
  std::erase_if(near, [&](std::size_t i) { return !part.contains(i); });
  // Along a curve that fills space: points that are evaluated together have few primitives near them.
  std::vector<std::pair<std::uint64_t, std::size_t>> along_curve;
  for (const std::size_t i : near) along_curve.emplace_back(morton_code(position(i)), i);
  std::sort(along_curve.begin(), along_curve.end());
  std::transform(along_curve.begin(), along_curve.end(), near.begin(),
                 [](const auto& p) { return p.second; });
  points_.resize(3, static_cast<Eigen::Index>(near.size()));
  targets_.clear();
  for (const std::size_t i : near) {
    const Eigen::Vector3i p = position(i);
    points_.col(static_cast<Eigen::Index>(targets_.size())) = grid_.point(p.x(), p.y(), p.z());
    targets_.push_back(std::clamp(grid_.values[i], -T_, T_));
  }
}

double UnionRefiner::cost_of(const Shape& shape) const {
  const std::vector<double> distances = distances_at_samples(ShapeSdf(shape));
  double cost = 0.0;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const double e = residual(distances[i], i);
    cost += e * e;
  }
  return cost;
}

double UnionRefiner::error() const {
  return std::sqrt(cost_of(shape_) / static_cast<double>(std::max<std::size_t>(targets_.size(), 1)));
}

int UnionRefiner::descend(int most_steps, const std::function<void()>& after_step) {
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

void UnionRefiner::prune(UnionRefinementReport& report) {
  while (shape_.primitives.size() > 1) {
    const bool has_too_many = static_cast<int>(shape_.primitives.size()) > options_.max_primitives;
    const PrimitiveRemoval removal = has_too_many ? cheapest_removal() : least_useful();
    if (!(removal.change <= 0.0) && !has_too_many) break;
    remove(removal);
    ++(removal.second < 0 ? report.left_out : report.merged);
  }
}

PrimitiveRemoval UnionRefiner::cheapest_removal() const {
  PrimitiveRemoval removal = least_useful();
  if (removal.change > 0.0) {
    PrimitiveRemoval merge = cheapest_merge();
    if (merge.change < removal.change) removal = std::move(merge);
  }
  return removal;
}

void UnionRefiner::remove(const PrimitiveRemoval& removal) {
  std::vector<Primitive>& primitives = shape_.primitives;
  if (removal.second >= 0) {
    primitives[at(removal.first)] = removal.merged;
    primitives.erase(primitives.begin() + removal.second);
  } else {
    primitives.erase(primitives.begin() + removal.first);
  }
}

/// Calls work(chunk, first, count) for chunks of the samples, on threads.
template <typename Work>
void UnionRefiner::for_each_part(const Work& work) const {
  for_each_chunk(chunk_count(), options_.threads, [&](int chunk) {
    const Eigen::Index first = Eigen::Index{chunk} * k_samples_of_chunk;
    work(chunk, first, std::min(k_samples_of_chunk, points_.cols() - first));
  });
}
int UnionRefiner::chunk_count() const {
  return static_cast<int>((points_.cols() + k_samples_of_chunk - 1) / k_samples_of_chunk);
}

std::vector<double> UnionRefiner::distances_at_samples(const ShapeSdf& sdf) const {
  std::vector<double> distances(targets_.size());
  const ScalarField field = field_of(sdf);
  for_each_part([&](int, Eigen::Index first, Eigen::Index count) {
    field(points_.middleCols(first, count), {distances.data() + first, static_cast<std::size_t>(count)});
  });
  return distances;
}

double UnionRefiner::residual(double distance, std::size_t sample) const {
  return std::clamp(distance, -T_, T_) - targets_[sample];
}

/// Samples at which a union of added primitives is less than T away, or blended with others.
std::vector<Eigen::Index> UnionRefiner::points_near(const ShapeSdf& sdf) const {
  Eigen::AlignedBox3d box = sdf.bounds();  // beyond it by T kappa a distance counts as T
  const double margin = T_ * sdf.distance_ratio() + k_blended * shape_.union_smoothing;
  box.min().array() -= margin;
  box.max().array() += margin;
  std::vector<Eigen::Index> near;
  for (Eigen::Index i = 0; i < points_.cols(); ++i) {
    if (box.contains(Vec3<double>(points_.col(i)))) near.push_back(i);
  }
  return near;
}

PrimitiveRemoval UnionRefiner::least_useful() const {
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
    const std::vector<Eigen::Index> near = points_near(sdf_alone);
    std::vector<double> values(near.size());
    field_of(sdf_alone)(points_(Eigen::all, near), values);
    std::vector<Eigen::Index> matters;
    for (std::size_t i = 0; i < near.size(); ++i) {
      const double d = distances[static_cast<std::size_t>(near[i])];
      if (values[i] <= (is_added(primitive) ? d : -d) + k_blended * shape_.union_smoothing)
        matters.push_back(near[i]);
    }
    values.resize(matters.size());
    field_of(sdf_others)(points_(Eigen::all, matters), values);
    for (std::size_t i = 0; i < matters.size(); ++i) {
      const auto sample = static_cast<std::size_t>(matters[i]);
      const double with = residual(distances[sample], sample), without = residual(values[i], sample);
      changes[at(l)] += without * without - with * with;
    }
  });
  const auto least = std::min_element(changes.begin(), changes.end());
  PrimitiveRemoval removal;
  removal.first = static_cast<int>(least - changes.begin());
  removal.change = *least;
  return removal;
}

PrimitiveRemoval UnionRefiner::cheapest_merge() const {
  if (!std::all_of(shape_.primitives.begin(), shape_.primitives.end(), is_superquadric)) return {};
  const SuperquadricFitOptions fit = {.truncation = options_.truncation,
                                      .least_exponent = options_.least_exponent,
                                      .most_exponent = options_.most_exponent};
  std::vector<SuperquadricMerge> merges =
      superquadric_merges(shape_, points_, targets_, grid_.grid, fit, options_.threads);
  merges.resize(std::min(merges.size(), std::size_t{k_most_merges}));
  std::vector<PrimitiveRemoval> removals(merges.size());
  for_each_chunk(static_cast<int>(merges.size()), options_.threads, [&](int m) {
    const SuperquadricMerge& merge = merges[at(m)];
    removals[at(m)] = {merge.first, merge.second, merge.merged,
                       change_by(merge.first, merge.second, merge.merged)};
  });
  const auto least = std::min_element(removals.begin(), removals.end(),
                                      [](const auto& a, const auto& b) { return a.change < b.change; });
  return least != removals.end() ? *least : PrimitiveRemoval{};
}

double UnionRefiner::change_by(int first, int second, const Primitive& other) const {
  Shape moving = shape_, next = shape_;
  moving.primitives = {shape_.primitives[at(first)], other};
  next.primitives[at(first)] = other;
  if (second >= 0) {
    moving.primitives.push_back(shape_.primitives[at(second)]);
    next.primitives.erase(next.primitives.begin() + second);
  }
  for (Primitive& primitive : moving.primitives) primitive.operation = PrimitiveOperation::add;
  const std::vector<Eigen::Index> near = points_near(ShapeSdf(moving));
  const Points points = points_(Eigen::all, near);
  std::vector<double> before(near.size()), after(near.size());
  field_of(ShapeSdf(shape_))(points, before);
  field_of(ShapeSdf(next))(points, after);
  double change = 0.0;
  for (std::size_t i = 0; i < near.size(); ++i) {
    const auto sample = static_cast<std::size_t>(near[i]);
    const double with = residual(before[i], sample), without = residual(after[i], sample);
    change += without * without - with * with;
  }
  return change;
}

UnionRefiner::NormalEquations UnionRefiner::normal_equations() const {
  const ShapeJacobian jacobian(shape_);
  std::vector<NormalEquations> parts(at(chunk_count()));
  for_each_part([&](int chunk, Eigen::Index first, Eigen::Index count) {
    NormalEquations& part = parts[at(chunk)];
    part.Je.assign(shape_.primitives.size(), PrimitiveTangent::Zero());
    const DistanceJacobian J = jacobian.evaluate(points_.middleCols(first, count), T_);
    for (std::size_t i = 0; i < J.points.size(); ++i) {
      const double e =
          J.distance[static_cast<Eigen::Index>(i)] - targets_[static_cast<std::size_t>(first + J.points[i])];
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
  sum.Je.assign(shape_.primitives.size(), PrimitiveTangent::Zero());
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
Eigen::VectorXd UnionRefiner::solve(const NormalEquations& equations, double damping) const {
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
double UnionRefiner::damped(const SuperquadricMatrix& block, int a, double damping) const {
  const double unit = a < 3 ? 1.0 : h_ * h_;
  return (1.0 + damping) * block(a, a) + 1e-6 * unit;
}

/// Moves the free primitives of a shape; false if the change is not finite.
bool UnionRefiner::move(Shape& shape, const Eigen::VectorXd& change) const {
  if (!change.allFinite()) return false;
  const FreePrimitiveBounds bounds = {options_.least_axis * h_, h_ * grid_.grid.cells.cast<double>().norm(),
                                      options_.least_exponent, options_.most_exponent};
  for (std::size_t l = 0; l < shape.primitives.size(); ++l) {
    Primitive& primitive = shape.primitives[l];
    if (!is_free(primitive)) continue;
    const PrimitiveTangent by =
        change.segment<k_superquadric_numbers>(static_cast<Eigen::Index>(l) * k_superquadric_numbers);
    primitive = moved(primitive, limited(by, reach_of(primitive, T_)), bounds);
  }
  return true;
}

}  // namespace abut
