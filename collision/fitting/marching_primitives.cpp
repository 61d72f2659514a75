#include "collision/fitting/marching_primitives.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include <spdlog/fmt/fmt.h>
#include <Eigen/Eigenvalues>

#include "collision/fitting/hashed_part.h"
#include "collision/fitting/superquadric_fit.h"
#include "engine/check.h"

namespace abut {
namespace {

// All in units of the spacing, from the lower corner of the grid.

constexpr int k_most_samples = 60000;                                // points of a region that a fit looks at
constexpr double k_threshold_factor = 0.6, k_least_threshold = 0.3;  // [-], [truncations]
constexpr int k_thresholds = 9;

constexpr int k_most_refined_samples = 20000;

/// Connected points below a threshold.
struct DeepRegion {
  std::vector<int> points;
  IntBox box;
};

/// From the units of a fit to metres.
FreeSuperquadric in_metres(FreeSuperquadric sq, const SampleGrid& grid) {
  sq.center = grid.lower + grid.cell_size * sq.center;
  sq.axes *= grid.cell_size;
  return sq;
}
FreeSuperquadric in_spacings(FreeSuperquadric sq, const SampleGrid& grid) {
  sq.center = (sq.center - grid.lower) / grid.cell_size;
  sq.axes /= grid.cell_size;
  return sq;
}

class PrimitiveMarcher {
 public:
  PrimitiveMarcher(const DistanceGrid& grid, const MarchingPrimitivesOptions& options)
      : grid_(grid),
        options_(options),
        fitter_({options.truncation, options.inlier_prior, options.least_exponent, options.most_exponent}),
        T_(options.truncation),
        n_(grid.points()),
        depth_(grid.values.size()),
        covered_(grid.values.size(), 0) {
    for (std::size_t i = 0; i < depth_.size(); ++i)
      depth_[i] = static_cast<float>(grid.values[i] / grid.grid.cell_size);
  }

  FittedSuperquadrics run() {
    FittedSuperquadrics result;
    std::vector<FreeSuperquadric> found;
    int threshold_index = 0;
    while (result.report.rounds < options_.max_rounds && threshold_index < k_thresholds) {
      double deepest = 0.0;
      int inside = 0, covered = 0;
      for (std::size_t i = 0; i < depth_.size(); ++i) {
        if (covered_[i] == 0) deepest = std::min(deepest, static_cast<double>(depth_[i]));
        inside += depth_[i] < 0.0f ? 1 : 0;
        covered += depth_[i] < 0.0f && covered_[i] != 0 ? 1 : 0;
      }
      if (options_.progress && inside > 0) options_.progress("points inside", covered, inside);
      const double threshold = std::pow(k_threshold_factor, threshold_index) * deepest;
      if (threshold > -k_least_threshold * T_) break;
      const std::vector<DeepRegion> regions = regions_below(static_cast<float>(threshold));
      if (regions.empty()) {
        ++threshold_index;
        continue;
      }
      threshold_index = 0;
      ++result.report.rounds;
      for (const DeepRegion& region : regions) {
        if (const std::optional<FreeSuperquadric> sq = fit_region(region)) {
          found.push_back(*sq);
        } else {
          ++result.report.rejected;
        }
      }
    }
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

 private:
  [[nodiscard]] std::size_t index(int i, int j, int k) const {
    return (at(k) * at(n_.y()) + at(j)) * at(n_.x()) + at(i);
  }
  [[nodiscard]] Eigen::Vector3i point(int index) const {
    return {index % n_.x(), index / n_.x() % n_.y(), index / n_.x() / n_.y()};
  }
  [[nodiscard]] float truncated(std::size_t i) const {
    return std::clamp(depth_[i], static_cast<float>(-T_), static_cast<float>(T_));
  }
  [[nodiscard]] IntBox padded(const IntBox& box, int by) const {
    return {(box.lower.array() - by).max(0), (box.upper.array() + by).min(n_.array() - 1)};
  }

  /// Largest first.
  [[nodiscard]] std::vector<DeepRegion> regions_below(float threshold) const {
    std::vector<DeepRegion> regions;
    std::vector<std::uint8_t> seen(depth_.size(), 0);
    for (int start = 0; start < static_cast<int>(depth_.size()); ++start) {
      if (seen[at(start)] != 0 || covered_[at(start)] != 0 || depth_[at(start)] > threshold) continue;
      DeepRegion region;
      region.box = {point(start), point(start)};
      region.points.push_back(start);
      seen[at(start)] = 1;
      for (std::size_t next = 0; next < region.points.size(); ++next) {
        const Eigen::Vector3i p = point(region.points[next]);
        region.box.lower = region.box.lower.cwiseMin(p);
        region.box.upper = region.box.upper.cwiseMax(p);
        const IntBox around = padded({p, p}, 1);
        for (int k = around.lower.z(); k <= around.upper.z(); ++k) {
          for (int j = around.lower.y(); j <= around.upper.y(); ++j) {
            for (int i = around.lower.x(); i <= around.upper.x(); ++i) {
              const std::size_t other = index(i, j, k);
              if (seen[other] != 0 || covered_[other] != 0 || depth_[other] > threshold) continue;
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
  [[nodiscard]] std::optional<FreeSuperquadric> fit_region(const DeepRegion& region) {
    const auto is_free = [&](int p) { return covered_[at(p)] == 0; };
    if (std::count_if(region.points.begin(), region.points.end(), is_free) >= options_.least_region) {
      FreeSuperquadric sq = first_guess(region);
      IntBox box = padded(region.box, options_.padding);
      for (int attempt = 0; attempt < 4; ++attempt) {
        FitSamples samples = samples_of(box, k_most_samples, false);
        fitter_.fit(box, samples, sq);
        const IntBox larger = grown_to(box, sq);
        if (larger.lower == box.lower && larger.upper == box.upper) break;
        box = larger;
      }
      if (accept(sq)) return sq;
    }
    for (const int p : region.points) covered_[at(p)] = 1;
    return std::nullopt;
  }

  /// Half of the ellipsoid with the second moments of the region, about a point of it.
  [[nodiscard]] FreeSuperquadric first_guess(const DeepRegion& region) const {
    Vec3<double> mean = Vec3<double>::Zero();
    for (const int p : region.points) mean += point(p).cast<double>();
    mean /= static_cast<double>(region.points.size());
    Mat3<double> moments = Mat3<double>::Identity() / 12.0;
    int nearest = region.points.front();
    double least = k_infinity;
    for (const int p : region.points) {
      const Vec3<double> x = point(p).cast<double>() - mean;
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
    sq.center = least < 1.0 ? mean : Vec3<double>(point(nearest).cast<double>());
    sq.axes = (0.5 * (5.0 * eigen.eigenvalues().array()).sqrt()).max(T_);
    return sq;
  }

  /// The box, larger by the padding on each side that an end of the superquadric's axes passes.
  [[nodiscard]] IntBox grown_to(const IntBox& box, const FreeSuperquadric& sq) const {
    const IntBox larger = padded(box, options_.padding);
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
          const std::size_t p = index(i, j, k);
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

  [[nodiscard]] IntBox box_around(const FreeSuperquadric& sq, double margin) const {
    const Vec3<double> half = sq.R.cwiseAbs() * sq.axes + Vec3<double>::Constant(margin);
    IntBox box;
    for (int k = 0; k < 3; ++k) {
      box.lower[k] = std::clamp(static_cast<int>(std::floor(sq.center[k] - half[k])), 0, n_[k] - 1);
      box.upper[k] = std::clamp(static_cast<int>(std::ceil(sq.center[k] + half[k])), 0, n_[k] - 1);
    }
    return box;
  }

  /// Moves each superquadric in turn to where the union of all fits best, the others staying where they are.
  void refine(std::vector<FreeSuperquadric>& all) const {
    const double margin = 3.0 * T_ + 1.0;
    for (int sweep = 0; sweep < options_.refinement_sweeps; ++sweep) {
      for (std::size_t s = 0; s < all.size(); ++s) {
        const IntBox box = box_around(all[s], margin);
        FitSamples samples = samples_of(box, k_most_refined_samples, true);
        std::array<FitLanes, 11> unused;
        for (std::size_t other = 0; other < all.size(); ++other) {
          const IntBox around = box_around(all[other], margin);
          if (other == s || (around.lower.array() > box.upper.array()).any() ||
              (around.upper.array() < box.lower.array()).any())
            continue;
          const PackedSuperquadric packed(all[other]);
          for (std::size_t i = 0; i < samples.d.size(); i += k_lanes_of_fit) {
            const FitLanes phi =
                packed.distance<false>(FitLanes::load(&samples.x[i]), FitLanes::load(&samples.y[i]),
                                       FitLanes::load(&samples.z[i]), unused);
            min(phi, FitLanes::load(&samples.others[i])).store(&samples.others[i]);
          }
        }
        fitter_.step(box, samples, all[s]);
      }
    }
  }

  /// Calls visit(point, distance) for the grid points within 1 of the superquadric.
  template <typename Visit>
  void for_each_inside(const FreeSuperquadric& sq, const Visit& visit) const {
    const IntBox box = box_around(sq, 2.0);
    const PackedSuperquadric packed(sq);
    std::array<FitLanes, 11> unused;
    std::array<float, k_lanes_of_fit> ramp, distances;
    for (int i = 0; i < k_lanes_of_fit; ++i) ramp[at(i)] = static_cast<float>(i);
    for (int k = box.lower.z(); k <= box.upper.z(); ++k) {
      for (int j = box.lower.y(); j <= box.upper.y(); ++j) {
        for (int i = box.lower.x(); i <= box.upper.x(); i += k_lanes_of_fit) {
          const FitLanes x = FitLanes(i) + FitLanes::load(ramp.data());
          const FitLanes phi = packed.distance<false>(x, FitLanes(j), FitLanes(k), unused);
          if (!any(phi < FitLanes(1.0f))) continue;
          phi.store(distances.data());
          for (int lane = 0; lane < k_lanes_of_fit && i + lane <= box.upper.x(); ++lane) {
            if (distances[at(lane)] < 1.0f) visit(index(i + lane, j, k), distances[at(lane)]);
          }
        }
      }
    }
  }

  bool accept(const FreeSuperquadric& sq) {
    int inside = 0, outside = 0, fresh = 0;
    for_each_inside(sq, [&](std::size_t p, float phi) {
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
      return false;
    for_each_inside(sq, [&](std::size_t p, float phi) {
      if (depth_[p] <= 0.0f && phi < 0.5f) covered_[p] = 1;
    });
    return true;
  }

  /// Leaves out superquadrics, the least useful first; returns how many.
  [[nodiscard]] int leave_out(std::vector<FreeSuperquadric>& found) const {
    std::vector<std::vector<int>> points(found.size());
    std::vector<std::uint16_t> uses(depth_.size(), 0);
    double both = 0.0, either = static_cast<double>(
                           std::count_if(depth_.begin(), depth_.end(), [](float d) { return d < 0.0f; }));
    for (std::size_t s = 0; s < found.size(); ++s) {
      for_each_inside(found[s], [&](std::size_t p, float phi) {
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
  double T_;
  Eigen::Vector3i n_;
  std::vector<float> depth_;           // signed distance
  std::vector<std::uint8_t> covered_;  // 1: of no more concern
};

}  // namespace

FittedSuperquadrics march_primitives(const DistanceGrid& grid, const MarchingPrimitivesOptions& options) {
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
  check(options.refinement_sweeps >= 0, "refinement_sweeps", options.refinement_sweeps, ">= 0");
  check(options.max_primitives >= 1, "max_primitives", options.max_primitives, ">= 1");
  check(options.least_exponent >= 0.02 && options.least_exponent <= options.most_exponent, "least_exponent",
        options.least_exponent, "0.02 to most_exponent");
  check(options.most_exponent <= 1.9, "most_exponent", options.most_exponent, "up to 1.9");
  return PrimitiveMarcher(grid, options).run();
}

double volumetric_iou(const DistanceGrid& grid, const std::vector<Primitive>& superquadrics) {
  const Eigen::Vector3i n = grid.points();
  std::vector<std::uint8_t> filled(grid.values.size(), 0);
  std::array<FitLanes, 11> unused;
  std::array<float, k_lanes_of_fit> ramp, distances;
  for (int i = 0; i < k_lanes_of_fit; ++i) ramp[at(i)] = static_cast<float>(i);
  for (const Primitive& primitive : superquadrics) {
    const FreeSuperquadric sq = in_spacings(free_superquadric(primitive), grid.grid);
    const Vec3<double> half = sq.R.cwiseAbs() * sq.axes;
    const PackedSuperquadric packed(sq);
    Eigen::Vector3i lower, upper;
    for (int k = 0; k < 3; ++k) {
      lower[k] = std::max(static_cast<int>(std::floor(sq.center[k] - half[k])), 0);
      upper[k] = std::min(static_cast<int>(std::ceil(sq.center[k] + half[k])), n[k] - 1);
    }
    for (int k = lower.z(); k <= upper.z(); ++k) {
      for (int j = lower.y(); j <= upper.y(); ++j) {
        for (int i = lower.x(); i <= upper.x(); i += k_lanes_of_fit) {
          packed.distance<false>(FitLanes(i) + FitLanes::load(ramp.data()), FitLanes(j), FitLanes(k), unused)
              .store(distances.data());
          for (int lane = 0; lane < k_lanes_of_fit && i + lane <= upper.x(); ++lane) {
            if (distances[at(lane)] < 0.0f) filled[grid.index(i + lane, j, k)] = 1;
          }
        }
      }
    }
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
