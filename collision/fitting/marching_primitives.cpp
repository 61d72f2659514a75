#include "collision/fitting/marching_primitives.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>

#include <spdlog/fmt/fmt.h>
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "collision/fitting/superquadric_residual.h"
#include "engine/check.h"
#include "engine/pack.h"

namespace abut {
namespace {

// All in units of the spacing, from the lower corner of the grid.

using FitLanes = Pack<float, 8>;
using Tangent11 = Eigen::Matrix<double, 11, 1>;
using Matrix11 = Eigen::Matrix<double, 11, 11>;

constexpr int k_lanes_of_fit = FitLanes::k_lanes;
constexpr int k_most_samples = 60000;     // points of a region that a fit looks at
constexpr int k_outer = 15, k_inner = 2;  // updates of weights; steps between them
constexpr int k_least_outer = 3;
constexpr double k_settled = 1e-4;  // relative change of the cost with which a fit ends
constexpr double k_calm = 0.1;      // and with which other axes are tried
constexpr int k_most_switches = 2;
constexpr double k_first_deviation = 40.0;  // of errors [truncations]: at first no point is an outlier
constexpr double k_least_deviation = 0.05;
constexpr double k_threshold_factor = 0.6, k_least_threshold = 0.3;  // [-], [truncations]
constexpr int k_thresholds = 9;

constexpr float k_no_other = 1e4f;
constexpr int k_most_refined_samples = 20000;

struct IntBox {
  Eigen::Vector3i lower = Eigen::Vector3i::Zero(), upper = Eigen::Vector3i::Zero();  // both included

  [[nodiscard]] double count() const {
    return (upper - lower + Eigen::Vector3i::Ones()).cast<double>().prod();
  }
};

/// Connected points below a threshold.
struct DeepRegion {
  std::vector<int> points;
  IntBox box;
};

/// Points that a fit looks at: coordinates, truncated distance, weight; as many as fill whole packs.
struct FitSamples {
  std::vector<float> x, y, z, d, w;
  std::vector<float> others;  ///< distance of the other superquadrics; large where they are of no concern
  std::size_t count = 0;      ///< without those that fill the last pack

  void add(float i, float j, float k, float distance, float weight) {
    x.push_back(i);
    y.push_back(j);
    z.push_back(k);
    d.push_back(distance);
    w.push_back(weight);
    ++count;
  }
  void fill_packs() {
    const std::size_t padded = (count + k_lanes_of_fit - 1) / k_lanes_of_fit * k_lanes_of_fit;
    for (auto* row : {&x, &y, &z, &d}) row->resize(padded, 1e4f);
    w.resize(padded, 0.0f);
    others.assign(padded, k_no_other);
  }
};

/// A superquadric as packs evaluate it.
struct PackedSuperquadric {
  std::array<FitLanes, 9> R;
  Vec3<FitLanes> center, inverse_axes;
  FitLanes eps1, eps2;

  explicit PackedSuperquadric(const FreeSuperquadric& sq) : eps1(sq.eps1), eps2(sq.eps2) {
    for (int i = 0; i < 3; ++i) {
      center[i] = FitLanes(sq.center[i]);
      inverse_axes[i] = FitLanes(1.0 / sq.axes[i]);
      for (int j = 0; j < 3; ++j) R[at(3 * i + j)] = FitLanes(sq.R(i, j));
    }
  }
  template <bool derivative>
  [[nodiscard]] FitLanes distance(const FitLanes& x, const FitLanes& y, const FitLanes& z,
                                  std::array<FitLanes, 11>& J) const {
    const FitLanes p0 = x - center[0], p1 = y - center[1], p2 = z - center[2];
    const Vec3<FitLanes> local(R[0] * p0 + R[3] * p1 + R[6] * p2, R[1] * p0 + R[4] * p1 + R[7] * p2,
                               R[2] * p0 + R[5] * p1 + R[8] * p2);
    return radial_distance<derivative>(local, inverse_axes, eps1, eps2, J);
  }
};

class PrimitiveMarcher {
 public:
  PrimitiveMarcher(const DistanceGrid& grid, const MarchingPrimitivesOptions& options)
      : grid_(grid),
        options_(options),
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
      for (std::size_t i = 0; i < depth_.size(); ++i) {
        if (covered_[i] == 0) deepest = std::min(deepest, static_cast<double>(depth_[i]));
      }
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
    for (const FreeSuperquadric& sq : found) result.primitives.push_back(primitive_of(sq));
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
        fit(box, sq);
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
    const double part = most / box.count();
    const auto limit = part >= 1.0 ? std::uint64_t{1} << 32 : static_cast<std::uint64_t>(part * 4294967296.0);
    for (int k = box.lower.z(); k <= box.upper.z(); ++k) {
      for (int j = box.lower.y(); j <= box.upper.y(); ++j) {
        for (int i = box.lower.x(); i <= box.upper.x(); ++i) {
          const std::size_t p = index(i, j, k);
          if (covered_[p] != 0 && !with_covered) continue;
          std::uint64_t hash = (p + 1) * 0x9e3779b97f4a7c15u;
          hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
          if (((hash ^ (hash >> 31)) & 0xffffffffu) < limit)
            samples.add(static_cast<float>(i), static_cast<float>(j), static_cast<float>(k), truncated(p),
                        1.0f);
        }
      }
    }
    samples.fill_packs();
    return samples;
  }

  void clamp(FreeSuperquadric& sq, const IntBox& box) const {
    const double longest = (box.upper - box.lower).cast<double>().norm();
    sq.axes = sq.axes.cwiseMax(T_).cwiseMin(longest);
    sq.center = sq.center.cwiseMax(box.lower.cast<double>()).cwiseMin(box.upper.cast<double>());
    sq.eps1 = std::clamp(sq.eps1, options_.least_exponent, options_.most_exponent);
    sq.eps2 = std::clamp(sq.eps2, options_.least_exponent, options_.most_exponent);
  }

  [[nodiscard]] double outlier_level(double deviation) const {
    return (1.0 - options_.inlier_prior) / options_.inlier_prior * std::sqrt(2.0 * std::numbers::pi) *
           deviation / T_;
  }

  /// Distances of all samples; to the weights, if they are wanted, what each counts.
  ///
  /// @return the robust cost per sample: e^2 outside, -2 s^2 log((exp(-e^2/2s^2) + kappa)/(1 + kappa)) inside
  double weigh(const FreeSuperquadric& sq, double deviation, const FitSamples& samples,
               std::vector<float>& distances, std::vector<float>* weights) const {
    const PackedSuperquadric packed(sq);
    std::array<FitLanes, 11> unused;
    distances.resize(samples.d.size());
    for (std::size_t s = 0; s < samples.d.size(); s += k_lanes_of_fit) {
      packed
          .distance<false>(FitLanes::load(&samples.x[s]), FitLanes::load(&samples.y[s]),
                           FitLanes::load(&samples.z[s]), unused)
          .store(&distances[s]);
    }
    const auto T = static_cast<float>(T_);
    const double kappa = outlier_level(deviation), scale = -0.5 / (deviation * deviation);
    double cost = 0.0;
    for (std::size_t s = 0; s < samples.count; ++s) {
      const double e = std::clamp(distances[s], -T, T) - samples.d[s], e2 = e * e;
      if (samples.d[s] >= 0.0f) {
        cost += e2;
        if (weights != nullptr) (*weights)[s] = 1.0f;
        continue;
      }
      const double p = fast_exp(scale * e2);
      cost -= 2.0 * deviation * deviation * fast_log((p + kappa) / (1.0 + kappa));
      if (weights != nullptr) (*weights)[s] = static_cast<float>(p / (p + kappa));
    }
    return cost / static_cast<double>(std::max<std::size_t>(samples.count, 1));
  }

  /// Sums of w J J^T and w e J, and that of w; the error is that of the union with the other superquadrics.
  /// @return sum of w e^2
  double normal_equations(const FreeSuperquadric& sq, const FitSamples& samples, Matrix11& JJ, Tangent11& Je,
                          double& weight) const {
    const PackedSuperquadric packed(sq);
    const FitLanes T(T_);
    std::array<FitLanes, 66> products;
    std::array<FitLanes, 11> J, sums;
    products.fill(FitLanes(0.0f));
    sums.fill(FitLanes(0.0f));
    FitLanes cost(0.0f), total(0.0f);
    for (std::size_t s = 0; s < samples.d.size(); s += k_lanes_of_fit) {
      const FitLanes x = FitLanes::load(&samples.x[s]), y = FitLanes::load(&samples.y[s]),
                     z = FitLanes::load(&samples.z[s]);
      const FitLanes outline = packed.distance<false>(x, y, z, J),
                     others = FitLanes::load(&samples.others[s]);
      const FitLanes w = FitLanes::load(&samples.w[s]);
      const FitLanes e = min(max(min(outline, others), -T), T) - FitLanes::load(&samples.d[s]);
      cost = cost + w * e * e;
      total = total + w;
      const auto moves = abs(outline) < T && outline < others;
      if (!any(moves)) continue;
      static_cast<void>(packed.distance<true>(x, y, z, J));
      const FitLanes slope = select(moves, w, FitLanes(0.0f));
      std::size_t product = 0;
      for (std::size_t a = 0; a < 11; ++a) {
        const FitLanes wJ = slope * J[a];
        sums[a] = sums[a] + wJ * e;
        for (std::size_t b = 0; b <= a; ++b, ++product) products[product] = products[product] + wJ * J[b];
      }
    }
    std::size_t product = 0;
    for (int a = 0; a < 11; ++a) {
      Je[a] = reduce_sum(sums[at(a)]);
      for (int b = 0; b <= a; ++b, ++product) JJ(a, b) = JJ(b, a) = reduce_sum(products[product]);
    }
    weight = reduce_sum(total);
    return reduce_sum(cost);
  }

  /// Damped Gauss-Newton steps with the weights as they are. @return mean w e^2
  double step(const IntBox& box, const FitSamples& samples, FreeSuperquadric& sq) const {
    Matrix11 JJ, JJ_next;
    Tangent11 Je, Je_next;
    double weight = 0.0, weight_next = 0.0, damping = 1e-3;
    double cost = normal_equations(sq, samples, JJ, Je, weight);
    for (int inner = 0; inner < k_inner; ++inner) {
      if (!(weight > 0.0)) break;
      for (int attempt = 0; attempt < 5; ++attempt, damping *= 10.0) {
        Matrix11 A = JJ;
        A.diagonal() = (1.0 + damping) * JJ.diagonal().array() + 1e-9 * (1.0 + JJ.diagonal().maxCoeff());
        Tangent11 change = -A.ldlt().solve(Je);
        if (!change.allFinite()) continue;
        const auto limit = [&](int first, int count, double most) {
          const double largest = change.segment(first, count).cwiseAbs().maxCoeff();
          if (largest > most) change.segment(first, count) *= most / largest;
        };
        limit(0, 3, std::max(2.0 * T_, 0.3 * sq.axes.maxCoeff()));
        limit(3, 3, 0.4);
        limit(6, 3, 0.5);
        limit(9, 2, 0.3);
        FreeSuperquadric next = moved(sq, change);
        clamp(next, box);
        const double cost_next = normal_equations(next, samples, JJ_next, Je_next, weight_next);
        if (!(weight_next > 0.0) || !(cost_next / weight_next < cost / weight)) continue;
        sq = next;
        cost = cost_next;
        weight = weight_next;
        JJ = JJ_next;
        Je = Je_next;
        damping = std::max(0.1 * damping, 1e-6);
        break;
      }
    }
    return weight > 0.0 ? cost / weight : k_infinity;
  }

  /// The superquadrics to start again from: axes exchanged in a circle, and turned by 45 degrees about an
  /// axis whose two others are about equal, where the exponent about it is reflected at 1.
  [[nodiscard]] static std::vector<FreeSuperquadric> others_of(const FreeSuperquadric& sq) {
    std::vector<FreeSuperquadric> others;
    const auto exchanged = [](const FreeSuperquadric& s) {
      FreeSuperquadric r = s;
      for (int i = 0; i < 3; ++i) {
        r.R.col(i) = s.R.col((i + 1) % 3);
        r.axes[i] = s.axes[(i + 1) % 3];
      }
      std::swap(r.eps1, r.eps2);
      return r;
    };
    others.push_back(exchanged(sq));
    others.push_back(exchanged(others.back()));
    const double ratio = sq.axes.x() / sq.axes.y();
    if (ratio > 0.8 && ratio < 1.25) {
      FreeSuperquadric turned = sq;
      turned.R = sq.R * Eigen::AngleAxisd(0.25 * std::numbers::pi, Vec3<double>::UnitZ()).toRotationMatrix();
      const double e = sq.eps2, root2 = std::numbers::sqrt2;
      const double factor =
          e <= 1.0 ? (1.0 - root2) * e + root2 : (0.5 * root2 - 1.0) * e + 2.0 - 0.5 * root2;
      turned.eps2 = 2.0 - e;
      turned.axes.head<2>().setConstant(factor * std::min(sq.axes.x(), sq.axes.y()));
      others.push_back(turned);
    }
    return others;
  }

  void fit(const IntBox& box, FreeSuperquadric& sq) const {
    FitSamples samples = samples_of(box, k_most_samples, false);
    std::vector<float> distances;
    clamp(sq, box);
    double deviation = k_first_deviation * T_, previous = k_infinity;
    int switches = 0;
    // Which samples count is settled before the steps: those near the surface as it is then.
    const auto settle = [&](FreeSuperquadric& s) {
      weigh(s, deviation, samples, distances, &samples.w);
      FitSamples near;
      for (std::size_t i = 0; i < samples.count; ++i) {
        if (std::abs(distances[i]) < 3.0 * T_)
          near.add(samples.x[i], samples.y[i], samples.z[i], samples.d[i], samples.w[i]);
      }
      near.fill_packs();
      return step(box, near, s);
    };
    for (int outer = 0; outer < k_outer; ++outer) {
      const double mean = settle(sq);
      if (!std::isfinite(mean)) return;
      deviation = std::max(std::sqrt(mean), k_least_deviation * T_);
      const double cost = weigh(sq, deviation, samples, distances, nullptr);
      const double change = std::abs(previous - cost) / std::max(cost, 1e-12);
      previous = cost;
      if (outer + 1 < k_least_outer) continue;
      if (change < k_calm && switches < k_most_switches) {
        ++switches;
        std::vector<std::pair<double, FreeSuperquadric>> others;
        for (FreeSuperquadric& other : others_of(sq)) {
          clamp(other, box);
          others.emplace_back(weigh(other, deviation, samples, distances, nullptr), other);
        }
        std::stable_sort(others.begin(), others.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (auto& [unused, other] : others) {
          for (int i = 0; i < 2; ++i) settle(other);
          const double cost_of_other = weigh(other, deviation, samples, distances, nullptr);
          if (!(cost_of_other < cost)) continue;
          sq = other;
          previous = k_infinity;
          break;
        }
      } else if (change < k_settled) {
        return;
      }
    }
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
        step(box, samples, all[s]);
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

  [[nodiscard]] Primitive primitive_of(const FreeSuperquadric& sq) const {
    const double h = grid_.grid.cell_size;
    Primitive primitive;
    primitive.parameters = {h * sq.axes.x(), h * sq.axes.y(), h * sq.axes.z(), sq.eps1, sq.eps2};
    primitive.X_BP = {Quat<double>(sq.R).normalized(), grid_.grid.lower + h * sq.center};
    return primitive;
  }

  const DistanceGrid& grid_;
  const MarchingPrimitivesOptions& options_;
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
    const double h = grid.grid.cell_size;
    FreeSuperquadric sq;
    sq.R = primitive.X_BP.rotation();
    sq.center = (primitive.X_BP.p - grid.grid.lower) / h;
    sq.axes = Vec3<double>(primitive.parameters[0], primitive.parameters[1], primitive.parameters[2]) / h;
    sq.eps1 = primitive.parameters[3];
    sq.eps2 = primitive.parameters[4];
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
