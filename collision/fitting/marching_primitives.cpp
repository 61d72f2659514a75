#include "collision/fitting/marching_primitives.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include <spdlog/fmt/fmt.h>
#include <Eigen/Eigenvalues>

#include "collision/fitting/hashed_part.h"
#include "collision/fitting/point_lattice.h"
#include "collision/fitting/superquadric_fit.h"
#include "engine/check.h"

namespace abut {
namespace {

// All in units of the spacing, from the lower corner of the grid.

constexpr int k_most_samples = 60000;                                // points of a region that a fit looks at
constexpr double k_threshold_factor = 0.6, k_least_threshold = 0.3;  // [-], [truncations]
constexpr int k_thresholds = 9;
constexpr double k_least_missing = 0.1;  // depth of a region that a shape lacks

constexpr int k_most_refined_samples = 20000;

/// Connected points below a threshold.
struct DeepRegion {
  std::vector<int> points;
  IntBox box;
};

/// A superquadric, and how many points are right by it that were not before, less those that are wrong by it.
struct Found {
  FreeSuperquadric superquadric;
  int gain;
};

class PrimitiveMarcher {
 public:
  /// For the inside of the grid.
  PrimitiveMarcher(const DistanceGrid& grid, const MarchingPrimitivesOptions& options)
      : grid_(grid),
        options_(options),
        fitter_({options.truncation, options.inlier_prior, options.least_exponent, options.most_exponent}),
        T_(options.truncation),
        least_threshold_(k_least_threshold * T_),
        lattice_(grid.points()),
        depth_(grid.values.size()),
        covered_(grid.values.size(), 0) {
    for (std::size_t i = 0; i < depth_.size(); ++i)
      depth_[i] = static_cast<float>(grid.values[i] / grid.grid.cell_size);
    missing_ = depth_;
  }

  /// For what a shape with these distances lacks (add), or has too much (subtract), of that inside.
  PrimitiveMarcher(const DistanceGrid& grid, const std::vector<double>& distances,
                   PrimitiveOperation operation, const MarchingPrimitivesOptions& options)
      : PrimitiveMarcher(grid, options) {
    least_threshold_ = k_least_missing;
    const float sign = operation == PrimitiveOperation::add ? 1.0f : -1.0f;
    for (std::size_t i = 0; i < depth_.size(); ++i) {
      const float d = sign * static_cast<float>(distances[i] / grid.grid.cell_size);
      depth_[i] *= sign;
      missing_[i] = std::max(depth_[i], -d);
      covered_[i] = depth_[i] <= 0.0f && d < static_cast<float>(k_least_missing) ? 1 : 0;
    }
  }

  FittedSuperquadrics run() {
    FittedSuperquadrics result;
    std::vector<FreeSuperquadric> found;
    for (const Found& accepted : march(result.report)) found.push_back(accepted.superquadric);
    refine(found);
    result.report.left_out = leave_out(found);
    if (result.report.left_out > 0) {
      refine(found);
      result.report.left_out += leave_out(found);
    }
    for (const FreeSuperquadric& sq : found)
      result.primitives.push_back(primitive_of(in_metres(sq, grid_.grid)));
    result.report.iou = volumetric_iou(grid_, result.primitives);
    return result;
  }

  /// Superquadrics for the regions, the deepest first, as they were accepted.
  std::vector<Found> march(MarchingPrimitivesReport& report) {
    std::vector<Found> found;
    int threshold_index = 0, fitted = 0;
    while (report.rounds < options_.max_rounds && threshold_index < k_thresholds) {
      double deepest = 0.0;
      int inside = 0, covered = 0;
      for (std::size_t i = 0; i < depth_.size(); ++i) {
        if (covered_[i] == 0) deepest = std::min(deepest, static_cast<double>(missing_[i]));
        inside += depth_[i] < 0.0f ? 1 : 0;
        covered += depth_[i] < 0.0f && covered_[i] != 0 ? 1 : 0;
      }
      if (options_.progress && inside > 0) options_.progress("points inside", covered, inside);
      const double threshold = std::pow(k_threshold_factor, threshold_index) * deepest;
      if (threshold > -least_threshold_) break;
      const std::vector<DeepRegion> regions = regions_below(static_cast<float>(threshold));
      if (regions.empty()) {
        ++threshold_index;
        continue;
      }
      threshold_index = 0;
      ++report.rounds;
      for (const DeepRegion& region : regions) {
        if (fitted++ == options_.max_regions) return found;
        if (const std::optional<Found> accepted = fit_region(region)) {
          found.push_back(*accepted);
        } else {
          ++report.rejected;
        }
      }
    }
    return found;
  }

 private:
  [[nodiscard]] float truncated(std::size_t i) const {
    return std::clamp(depth_[i], static_cast<float>(-T_), static_cast<float>(T_));
  }
  /// Largest first.
  [[nodiscard]] std::vector<DeepRegion> regions_below(float threshold) const {
    std::vector<DeepRegion> regions;
    std::vector<std::uint8_t> seen(depth_.size(), 0);
    for (int start = 0; start < static_cast<int>(depth_.size()); ++start) {
      if (seen[at(start)] != 0 || covered_[at(start)] != 0 || missing_[at(start)] > threshold) continue;
      DeepRegion region;
      region.box = {lattice_.point(start), lattice_.point(start)};
      region.points.push_back(start);
      seen[at(start)] = 1;
      for (std::size_t next = 0; next < region.points.size(); ++next) {
        const Eigen::Vector3i p = lattice_.point(region.points[next]);
        region.box.lower = region.box.lower.cwiseMin(p);
        region.box.upper = region.box.upper.cwiseMax(p);
        const IntBox around = lattice_.padded({p, p}, 1);
        for (int k = around.lower.z(); k <= around.upper.z(); ++k) {
          for (int j = around.lower.y(); j <= around.upper.y(); ++j) {
            for (int i = around.lower.x(); i <= around.upper.x(); ++i) {
              const std::size_t other = lattice_.index(i, j, k);
              if (seen[other] != 0 || covered_[other] != 0 || missing_[other] > threshold) continue;
              seen[other] = 1;
              region.points.push_back(static_cast<int>(other));
            }
          }
        }
      }
      if (static_cast<int>(region.points.size()) >= options_.least_region)
        regions.push_back(std::move(region));
    }
    std::stable_sort(regions.begin(), regions.end(), [](const DeepRegion& a, const DeepRegion& b) {
      return a.points.size() > b.points.size();
    });
    return regions;
  }

  /// Fits a superquadric; takes what it covers off the grid, or, if it is not accepted, the region.
  [[nodiscard]] std::optional<Found> fit_region(const DeepRegion& region) {
    const auto is_free = [&](int p) { return covered_[at(p)] == 0; };
    if (std::count_if(region.points.begin(), region.points.end(), is_free) >= options_.least_region) {
      FreeSuperquadric sq = first_guess(region);
      IntBox box = lattice_.padded(region.box, options_.padding);
      for (int attempt = 0; attempt < 4; ++attempt) {
        const FitSamples samples = samples_of(box, k_most_samples, false);
        fitter_.fit(box, samples, sq);
        const IntBox larger = grown_to(box, sq);
        if (larger.lower == box.lower && larger.upper == box.upper) break;
        box = larger;
      }
      if (const std::optional<int> gain = accept(sq)) return Found{sq, *gain};
    }
    for (const int p : region.points) covered_[at(p)] = 1;
    return std::nullopt;
  }

  /// Half of the ellipsoid with the second moments of the region, about a point of it.
  [[nodiscard]] FreeSuperquadric first_guess(const DeepRegion& region) const {
    Vec3<double> mean = Vec3<double>::Zero();
    for (const int p : region.points) mean += lattice_.point(p).cast<double>();
    mean /= static_cast<double>(region.points.size());
    Mat3<double> moments = Mat3<double>::Identity() / 12.0;
    int nearest = region.points.front();
    double least = k_infinity;
    for (const int p : region.points) {
      const Vec3<double> x = lattice_.point(p).cast<double>() - mean;
      moments += x * x.transpose() / static_cast<double>(region.points.size());
      if (x.squaredNorm() < least) {
        least = x.squaredNorm();
        nearest = p;
      }
    }
    const Eigen::SelfAdjointEigenSolver<Mat3<double>> eigen(moments);
    FreeSuperquadric sq;
    sq.R = eigen.eigenvectors();
    if (sq.R.determinant() < 0.0) sq.R.col(0) *= -1.0;
    sq.center = least < 1.0 ? mean : Vec3<double>(lattice_.point(nearest).cast<double>());
    sq.axes = (0.5 * (5.0 * eigen.eigenvalues().array()).sqrt()).max(T_);
    return sq;
  }

  /// The box, larger by the padding on each side that an end of the superquadric's axes passes.
  [[nodiscard]] IntBox grown_to(const IntBox& box, const FreeSuperquadric& sq) const {
    const IntBox larger = lattice_.padded(box, options_.padding);
    IntBox result = box;
    for (int i = 0; i < 3; ++i) {
      for (const double sign : {-1.0, 1.0}) {
        const Vec3<double> tip = sq.center + sign * sq.axes[i] * sq.R.col(i);
        for (int k = 0; k < 3; ++k) {
          if (tip[k] < box.lower[k] - T_) result.lower[k] = larger.lower[k];
          if (tip[k] > box.upper[k] + T_) result.upper[k] = larger.upper[k];
        }
      }
    }
    return result;
  }

  /// The points of a box, covered ones only if they are asked for; of a large box a part of them, chosen by a
  /// hash.
  [[nodiscard]] FitSamples samples_of(const IntBox& box, int most, bool with_covered) const {
    FitSamples samples;
    const HashedPart part(most / box.count());
    for (int k = box.lower.z(); k <= box.upper.z(); ++k) {
      for (int j = box.lower.y(); j <= box.upper.y(); ++j) {
        for (int i = box.lower.x(); i <= box.upper.x(); ++i) {
          const std::size_t p = lattice_.index(i, j, k);
          if (covered_[p] != 0 && !with_covered) continue;
          if (part.contains(p))
            samples.add(static_cast<float>(i), static_cast<float>(j), static_cast<float>(k), truncated(p),
                        1.0f);
        }
      }
    }
    samples.fill_packs();
    return samples;
  }

  /// Moves each superquadric in turn to where the union of all fits best, the others staying where they are.
  void refine(std::vector<FreeSuperquadric>& all) const {
    const double margin = 3.0 * T_ + 1.0;
    for (int sweep = 0; sweep < options_.refinement_sweeps; ++sweep) {
      for (std::size_t s = 0; s < all.size(); ++s) {
        const IntBox box = lattice_.box_around(all[s], margin);
        FitSamples samples = samples_of(box, k_most_refined_samples, true);
        std::vector<float> distances(samples.d.size());
        for (std::size_t other = 0; other < all.size(); ++other) {
          const IntBox around = lattice_.box_around(all[other], margin);
          if (other == s || (around.lower.array() > box.upper.array()).any() ||
              (around.upper.array() < box.lower.array()).any())
            continue;
          distances_of(all[other], samples.x.data(), samples.y.data(), samples.z.data(),
                       static_cast<int>(distances.size()), distances.data());
          for (std::size_t i = 0; i < distances.size(); ++i)
            samples.others[i] = std::min(samples.others[i], distances[i]);
        }
        fitter_.step(box, samples, all[s]);
      }
    }
  }

  /// Takes what it covers off the grid if it is good enough. @return points newly covered, less those outside
  std::optional<int> accept(const FreeSuperquadric& sq) {
    int inside = 0, outside = 0, fresh = 0;
    lattice_.for_each_inside(sq, [&](std::size_t p, float phi) {
      if (phi >= 0.0f) return;
      if (depth_[p] > 0.0f) {
        ++outside;
      } else {
        ++inside;
        fresh += covered_[p] == 0 ? 1 : 0;
      }
    });
    if (inside < options_.least_region || fresh < 2 ||
        outside > options_.most_outside * static_cast<double>(inside + outside))
      return std::nullopt;
    lattice_.for_each_inside(sq, [&](std::size_t p, float phi) {
      if (depth_[p] <= 0.0f && phi < 0.5f) covered_[p] = 1;
    });
    return fresh - outside;
  }

  /// Leaves out superquadrics, the least useful first; returns how many.
  [[nodiscard]] int leave_out(std::vector<FreeSuperquadric>& found) const {
    std::vector<std::vector<int>> points(found.size());
    std::vector<std::uint16_t> uses(depth_.size(), 0);
    double both = 0.0, either = static_cast<double>(
                           std::count_if(depth_.begin(), depth_.end(), [](float d) { return d < 0.0f; }));
    for (std::size_t s = 0; s < found.size(); ++s) {
      lattice_.for_each_inside(found[s], [&](std::size_t p, float phi) {
        if (phi >= 0.0f) return;
        points[s].push_back(static_cast<int>(p));
        if (++uses[p] > 1) return;
        (depth_[p] < 0.0f ? both : either) += 1.0;
      });
    }
    int left_out = 0;
    while (!found.empty()) {
      std::size_t least = 0;
      double best = -1.0, best_both = 0.0, best_either = 0.0;
      for (std::size_t s = 0; s < found.size(); ++s) {
        double both_without = both, either_without = either;
        for (const int p : points[s]) {
          if (uses[at(p)] == 1) (depth_[at(p)] < 0.0f ? both_without : either_without) -= 1.0;
        }
        if (both_without / either_without <= best) continue;
        best = both_without / either_without;
        best_both = both_without;
        best_either = either_without;
        least = s;
      }
      if (static_cast<int>(found.size()) <= options_.max_primitives && best < both / either) break;
      for (const int p : points[least]) --uses[at(p)];
      points.erase(points.begin() + static_cast<std::ptrdiff_t>(least));
      found.erase(found.begin() + static_cast<std::ptrdiff_t>(least));
      both = best_both;
      either = best_either;
      ++left_out;
    }
    return left_out;
  }

  const DistanceGrid& grid_;
  const MarchingPrimitivesOptions& options_;
  SuperquadricFitter fitter_;
  double T_, least_threshold_;
  PointLattice lattice_;
  std::vector<float> depth_;           // signed distance of what is to be filled
  std::vector<float> missing_;         // of that part of it which regions are looked for in
  std::vector<std::uint8_t> covered_;  // 1: of no more concern
};

void validate(const MarchingPrimitivesOptions& options) {
  const auto check = [](bool holds, const char* name, double value, const char* allowed) {
    require(holds, fmt::format("{} is {}, allowed: {}", name, value, allowed));
  };
  check(options.truncation > 0.0, "truncation", options.truncation, "> 0");
  check(options.padding >= 1, "padding", options.padding, ">= 1");
  check(options.least_region >= 1, "least_region", options.least_region, ">= 1");
  check(options.most_outside > 0.0 && options.most_outside <= 1.0, "most_outside", options.most_outside,
        "(0, 1]");
  check(options.inlier_prior > 0.0 && options.inlier_prior < 1.0, "inlier_prior", options.inlier_prior,
        "(0, 1)");
  check(options.max_rounds >= 1, "max_rounds", options.max_rounds, ">= 1");
  check(options.max_regions >= 1, "max_regions", options.max_regions, ">= 1");
  check(options.refinement_sweeps >= 0, "refinement_sweeps", options.refinement_sweeps, ">= 0");
  check(options.max_primitives >= 1, "max_primitives", options.max_primitives, ">= 1");
  check(options.least_exponent >= 0.02 && options.least_exponent <= options.most_exponent, "least_exponent",
        options.least_exponent, "0.02 to most_exponent");
  check(options.most_exponent <= 1.9, "most_exponent", options.most_exponent, "up to 1.9");
}

}  // namespace

FittedSuperquadrics march_primitives(const DistanceGrid& grid, const MarchingPrimitivesOptions& options) {
  validate(options);
  return PrimitiveMarcher(grid, options).run();
}

std::vector<ResidualPrimitive> march_residual(const DistanceGrid& grid, const std::vector<double>& distances,
                                              PrimitiveOperation operation,
                                              const MarchingPrimitivesOptions& options) {
  validate(options);
  require(distances.size() == grid.values.size(), "a distance is needed for each point of the grid");
  MarchingPrimitivesReport unused;
  std::vector<ResidualPrimitive> result;
  for (const Found& found : PrimitiveMarcher(grid, distances, operation, options).march(unused)) {
    result.push_back({primitive_of(in_metres(found.superquadric, grid.grid)), found.gain});
    result.back().primitive.operation = operation;
  }
  return result;
}

double volumetric_iou(const DistanceGrid& grid, const std::vector<Primitive>& superquadrics) {
  const PointLattice lattice(grid.points());
  std::vector<std::uint8_t> filled(grid.values.size(), 0);
  for (const Primitive& primitive : superquadrics) {
    lattice.for_each_inside(in_spacings(free_superquadric(primitive), grid.grid),
                            [&](std::size_t p, float phi) {
                              if (phi < 0.0f) filled[p] = 1;
                            });
  }
  std::size_t both = 0, either = 0;
  for (std::size_t i = 0; i < filled.size(); ++i) {
    const bool inside = grid.values[i] < 0.0;
    both += inside && filled[i] != 0 ? 1 : 0;
    either += inside || filled[i] != 0 ? 1 : 0;
  }
  return either > 0 ? static_cast<double>(both) / static_cast<double>(either) : 1.0;
}

}  // namespace abut
