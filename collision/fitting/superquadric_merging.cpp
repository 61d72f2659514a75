#include "collision/fitting/superquadric_merging.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include "collision/fitting/parallel_chunks.h"
#include "collision/fitting/point_lattice.h"

namespace abut {
namespace {

// All in units of the spacing, from the lower corner of the grid.

constexpr double k_apart = 1.0;           // of the boxes of two that may become one
constexpr std::size_t k_most_pairs = 24;  // that are fitted
constexpr int k_fit_steps = 3;            // calls of SuperquadricFitter::step()
constexpr double k_margin = 2.0;          // truncations around both, in which points count

Eigen::AlignedBox3d box_around(const FreeSuperquadric& sq) {
  const Vec3<double> half = sq.R.cwiseAbs() * sq.axes;
  return {sq.center - half, sq.center + half};
}

Eigen::AlignedBox3d enlarged(Eigen::AlignedBox3d box, double by) {
  box.min().array() -= by;
  box.max().array() += by;
  return box;
}

/// The ellipsoid of the second moments of both, taken as ellipsoids.
FreeSuperquadric of_moments(const FreeSuperquadric& a, const FreeSuperquadric& b) {
  constexpr double k_moment = 0.2;  // of an ellipsoid: <x^2> = a^2/5
  const double volume_a = a.axes.prod(), volume_b = b.axes.prod(), share = volume_a / (volume_a + volume_b);
  FreeSuperquadric sq;
  sq.center = share * a.center + (1.0 - share) * b.center;
  const auto moments = [&](const FreeSuperquadric& s) -> Mat3<double> {
    const Vec3<double> off = s.center - sq.center;
    const Mat3<double> axes = s.R * s.axes.asDiagonal();
    return k_moment * axes * axes.transpose() + off * off.transpose();
  };
  const Mat3<double> both = share * moments(a) + (1.0 - share) * moments(b);
  const Eigen::SelfAdjointEigenSolver<Mat3<double>> eigen(both);
  sq.R = eigen.eigenvectors();
  if (sq.R.determinant() < 0.0) sq.R.col(0) *= -1.0;
  sq.axes = (eigen.eigenvalues().array().max(1e-12) / k_moment).sqrt();
  return sq;
}

/// The larger one, as large as both along its axes.
FreeSuperquadric around_both(const FreeSuperquadric& a, const FreeSuperquadric& b) {
  const bool a_is_larger = a.axes.prod() >= b.axes.prod();
  const FreeSuperquadric &larger = a_is_larger ? a : b, &other = a_is_larger ? b : a;
  FreeSuperquadric seen = other;
  seen.R = larger.R.transpose() * other.R;
  seen.center = larger.R.transpose() * (other.center - larger.center);
  Eigen::AlignedBox3d box(Vec3<double>(-larger.axes), larger.axes);
  box.extend(box_around(seen));
  FreeSuperquadric sq = larger;
  sq.center = larger.center + larger.R * box.center();
  sq.axes = 0.5 * box.sizes();
  return sq;
}

class PairMerger {
 public:
  PairMerger(const Shape& shape, const Points& points, const std::vector<double>& targets,
             const SampleGrid& grid, const SuperquadricFitOptions& fit)
      : grid_(grid), fitter_(fit), T_(static_cast<float>(fit.truncation)), targets_(targets) {
    for (const Primitive& primitive : shape.primitives) {
      all_.push_back(in_spacings(free_superquadric(primitive), grid));
      operations_.push_back(primitive.operation);
      boxes_.push_back(box_around(all_.back()));
    }
    points_ = (points.colwise() - grid.lower) / grid.cell_size;
  }

  /// Those that fill an ellipsoid of the second moments of both best, first.
  [[nodiscard]] std::vector<std::pair<int, int>> pairs() const {
    std::vector<std::pair<double, std::pair<int, int>>> found;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      for (std::size_t j = i + 1; j < all_.size(); ++j) {
        if (operations_[i] != operations_[j] || !enlarged(boxes_[i], k_apart).intersects(boxes_[j])) continue;
        const double volume = all_[i].axes.prod() + all_[j].axes.prod();
        found.push_back(
            {of_moments(all_[i], all_[j]).axes.prod() / volume, {static_cast<int>(i), static_cast<int>(j)}});
      }
    }
    std::sort(found.begin(), found.end());
    found.resize(std::min(found.size(), k_most_pairs));
    std::vector<std::pair<int, int>> result;
    for (const auto& [unused, pair] : found) result.push_back(pair);
    return result;
  }

  [[nodiscard]] SuperquadricMerge merge_of(int i, int j) const {
    const FreeSuperquadric &a = all_[at(i)], &b = all_[at(j)];
    const Eigen::AlignedBox3d region = enlarged(boxes_[at(i)].merged(boxes_[at(j)]), k_margin * T_);
    FitSamples samples = samples_in(region, i, j);
    std::vector<float> current = samples.others;
    lower_to(a, samples, current);
    lower_to(b, samples, current);
    const double before = error(samples, current);
    const IntBox box = {region.min().array().floor().cast<int>(), region.max().array().ceil().cast<int>()};
    SuperquadricMerge result{i, j, {}, k_infinity};
    for (FreeSuperquadric& sq : std::array{of_moments(a, b), around_both(a, b)}) {
      fitter_.clamp(sq, box);
      for (int step = 0; step < k_fit_steps; ++step) fitter_.step(box, samples, sq);
      std::vector<float> distances = samples.others;
      lower_to(sq, samples, distances);
      const double change = (error(samples, distances) - before) * grid_.cell_size * grid_.cell_size;
      if (!(change < result.change)) continue;
      result.change = change;
      result.merged = primitive_of(in_metres(sq, grid_));
      result.merged.operation = operations_[at(i)];
    }
    return result;
  }

 private:
  /// Points in a region, with the distance of all others of the same operation; as if it were added.
  [[nodiscard]] FitSamples samples_in(const Eigen::AlignedBox3d& region, int i, int j) const {
    const PrimitiveOperation operation = operations_[at(i)];
    const float sign = operation == PrimitiveOperation::add ? 1.0f : -1.0f;
    FitSamples samples;
    for (Eigen::Index p = 0; p < points_.cols(); ++p) {
      const Vec3<double> x = points_.col(p);
      if (!region.contains(x)) continue;
      const auto target = static_cast<float>(targets_[static_cast<std::size_t>(p)] / grid_.cell_size);
      samples.add(static_cast<float>(x.x()), static_cast<float>(x.y()), static_cast<float>(x.z()),
                  sign * target, 1.0f);
    }
    samples.fill_packs();
    std::vector<float> opposite = samples.others;
    for (std::size_t k = 0; k < all_.size(); ++k) {
      if (static_cast<int>(k) == i || static_cast<int>(k) == j ||
          !enlarged(boxes_[k], 2.0 * T_).intersects(region))
        continue;
      lower_to(all_[k], samples, operations_[k] == operation ? samples.others : opposite);
    }
    // An added one decides where no subtracted one cuts; a subtracted one where something is to be cut.
    for (std::size_t p = 0; p < samples.count; ++p) {
      const bool is_decided = sign > 0.0f ? -opposite[p] > -T_ : opposite[p] > -T_;
      if (is_decided) samples.w[p] = 0.0f;
    }
    return samples;
  }

  static void lower_to(const FreeSuperquadric& sq, const FitSamples& samples, std::vector<float>& distances) {
    std::vector<float> own(distances.size());
    distances_of(sq, samples.x.data(), samples.y.data(), samples.z.data(), static_cast<int>(own.size()),
                 own.data());
    for (std::size_t p = 0; p < own.size(); ++p) distances[p] = std::min(distances[p], own[p]);
  }

  [[nodiscard]] double error(const FitSamples& samples, const std::vector<float>& distances) const {
    double sum = 0.0;
    for (std::size_t p = 0; p < samples.count; ++p) {
      const double e = std::clamp(distances[p], -T_, T_) - samples.d[p];
      sum += samples.w[p] * e * e;
    }
    return sum;
  }

  const SampleGrid& grid_;
  SuperquadricFitter fitter_;
  float T_;
  std::vector<FreeSuperquadric> all_;
  std::vector<PrimitiveOperation> operations_;
  std::vector<Eigen::AlignedBox3d> boxes_;
  Points points_;
  const std::vector<double>& targets_;
};

}  // namespace

std::vector<SuperquadricMerge> superquadric_merges(const Shape& shape, const Points& points,
                                                   const std::vector<double>& targets, const SampleGrid& grid,
                                                   const SuperquadricFitOptions& fit, int threads) {
  const PairMerger merger(shape, points, targets, grid, fit);
  const std::vector<std::pair<int, int>> pairs = merger.pairs();
  std::vector<SuperquadricMerge> merges(pairs.size());
  for_each_chunk(static_cast<int>(pairs.size()), threads,
                 [&](int p) { merges[at(p)] = merger.merge_of(pairs[at(p)].first, pairs[at(p)].second); });
  std::erase_if(merges, [](const SuperquadricMerge& merge) { return !std::isfinite(merge.change); });
  std::stable_sort(merges.begin(), merges.end(),
                   [](const auto& a, const auto& b) { return a.change < b.change; });
  return merges;
}

}  // namespace abut
