#include "collision/fitting/superquadric_fit.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <Eigen/Cholesky>

#include "engine/pack.h"

namespace abut {
namespace {

constexpr int k_outer = 15, k_inner = 2;  // updates of weights; steps between them
constexpr int k_least_outer = 3;
constexpr double k_settled = 1e-4;  // relative change of the cost with which a fit ends
constexpr double k_calm = 0.1;      // and with which other axes are tried
constexpr int k_most_switches = 2;
constexpr double k_first_deviation = 40.0;  // of errors [truncations]: at first no point is an outlier
constexpr double k_least_deviation = 0.05;
constexpr float k_no_other = 1e4f;

/// The superquadrics to start again from: axes exchanged in a circle, and turned by 45 degrees about an
/// axis whose two others are about equal, where the exponent about it is reflected at 1.
std::vector<FreeSuperquadric> others_of(const FreeSuperquadric& sq) {
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
    const double factor = e <= 1.0 ? (1.0 - root2) * e + root2 : (0.5 * root2 - 1.0) * e + 2.0 - 0.5 * root2;
    turned.eps2 = 2.0 - e;
    turned.axes.head<2>().setConstant(factor * std::min(sq.axes.x(), sq.axes.y()));
    others.push_back(turned);
  }
  return others;
}

}  // namespace

void FitSamples::fill_packs() {
  const std::size_t padded = (count + k_lanes_of_fit - 1) / k_lanes_of_fit * k_lanes_of_fit;
  for (auto* row : {&x, &y, &z, &d}) row->resize(padded, 1e4f);
  w.resize(padded, 0.0f);
  others.assign(padded, k_no_other);
}

void SuperquadricFitter::clamp(FreeSuperquadric& sq, const IntBox& box) const {
  const double longest = (box.upper - box.lower).cast<double>().norm();
  sq.axes = sq.axes.cwiseMax(T_).cwiseMin(longest);
  sq.center = sq.center.cwiseMax(box.lower.cast<double>()).cwiseMin(box.upper.cast<double>());
  sq.eps1 = std::clamp(sq.eps1, options_.least_exponent, options_.most_exponent);
  sq.eps2 = std::clamp(sq.eps2, options_.least_exponent, options_.most_exponent);
}

double SuperquadricFitter::outlier_level(double deviation) const {
  return (1.0 - options_.inlier_prior) / options_.inlier_prior * std::sqrt(2.0 * std::numbers::pi) *
         deviation / T_;
}

SuperquadricFitter::Weighed SuperquadricFitter::weigh(const FreeSuperquadric& sq, double deviation,
                                                      const FitSamples& samples) const {
  Weighed result;
  result.distances.resize(samples.d.size());
  result.weights.resize(samples.d.size(), 1.0f);
  distances_of(sq, samples.x.data(), samples.y.data(), samples.z.data(), static_cast<int>(samples.d.size()),
               result.distances.data());
  const auto T = static_cast<float>(T_);
  const double kappa = outlier_level(deviation), scale = -0.5 / (deviation * deviation);
  double cost = 0.0;
  for (std::size_t s = 0; s < samples.count; ++s) {
    const double e = std::clamp(result.distances[s], -T, T) - samples.d[s], e2 = e * e;
    if (samples.d[s] >= 0.0f) {
      cost += e2;
      continue;
    }
    const double p = fast_exp(scale * e2);
    cost -= 2.0 * deviation * deviation * fast_log((p + kappa) / (1.0 + kappa));
    result.weights[s] = static_cast<float>(p / (p + kappa));
  }
  result.cost = cost / static_cast<double>(std::max<std::size_t>(samples.count, 1));
  return result;
}

double SuperquadricFitter::step_near(const IntBox& box, const FitSamples& samples, const Weighed& weighed,
                                     FreeSuperquadric& sq) const {
  FitSamples near;
  for (std::size_t i = 0; i < samples.count; ++i) {
    if (std::abs(weighed.distances[i]) < 3.0 * T_)
      near.add(samples.x[i], samples.y[i], samples.z[i], samples.d[i], weighed.weights[i]);
  }
  near.fill_packs();
  return step(box, near, sq);
}

double SuperquadricFitter::normal_equations(const FreeSuperquadric& sq, const FitSamples& samples,
                                            SuperquadricMatrix& JJ, SuperquadricTangent& Je,
                                            double& weight) const {
  FitSums sums;
  chosen_kernels<FitKernels>().normal_equations(
      SuperquadricNumbers(sq),
      {samples.x.data(), samples.y.data(), samples.z.data(), samples.d.data(), samples.w.data(),
       samples.others.data(), static_cast<int>(samples.d.size())},
      static_cast<float>(T_), sums);
  int product = 0;
  for (int a = 0; a < 11; ++a) {
    Je[a] = sums.Je[a];
    for (int b = 0; b <= a; ++b, ++product) JJ(a, b) = JJ(b, a) = sums.JJ[product];
  }
  weight = sums.weight;
  return sums.cost;
}

double SuperquadricFitter::step(const IntBox& box, const FitSamples& samples, FreeSuperquadric& sq) const {
  SuperquadricMatrix JJ, JJ_next;
  SuperquadricTangent Je, Je_next;
  double weight = 0.0, weight_next = 0.0;
  LevenbergMarquardtDamping damping;
  double cost = normal_equations(sq, samples, JJ, Je, weight);
  for (int inner = 0; inner < k_inner; ++inner) {
    if (!(weight > 0.0)) break;
    for (int attempt = 0; attempt < 5; ++attempt, damping.reject()) {
      SuperquadricMatrix A = JJ;
      A.diagonal() = (1.0 + damping.value) * JJ.diagonal().array() + 1e-9 * (1.0 + JJ.diagonal().maxCoeff());
      const SuperquadricTangent change = -A.ldlt().solve(Je);
      if (!change.allFinite()) continue;
      FreeSuperquadric next = moved(sq, limited(change, reach_of(sq, T_)));
      clamp(next, box);
      const double cost_next = normal_equations(next, samples, JJ_next, Je_next, weight_next);
      if (!(weight_next > 0.0) || !(cost_next / weight_next < cost / weight)) continue;
      sq = next;
      cost = cost_next;
      weight = weight_next;
      JJ = JJ_next;
      Je = Je_next;
      damping.accept();
      break;
    }
  }
  return weight > 0.0 ? cost / weight : k_infinity;
}

void SuperquadricFitter::fit(const IntBox& box, const FitSamples& samples, FreeSuperquadric& sq) const {
  clamp(sq, box);
  double deviation = k_first_deviation * T_, previous = k_infinity;
  int switches = 0;
  Weighed current = weigh(sq, deviation, samples);
  for (int outer = 0; outer < k_outer; ++outer) {
    const double mean = step_near(box, samples, current, sq);
    if (!std::isfinite(mean)) return;
    deviation = std::max(std::sqrt(mean), k_least_deviation * T_);
    current = weigh(sq, deviation, samples);
    const double change = std::abs(previous - current.cost) / std::max(current.cost, 1e-12);
    previous = current.cost;
    if (outer + 1 < k_least_outer) continue;
    if (change < k_calm && switches < k_most_switches) {
      ++switches;
      std::vector<std::pair<Weighed, FreeSuperquadric>> others;
      for (FreeSuperquadric& other : others_of(sq)) {
        clamp(other, box);
        others.emplace_back(weigh(other, deviation, samples), other);
      }
      std::stable_sort(others.begin(), others.end(),
                       [](const auto& a, const auto& b) { return a.first.cost < b.first.cost; });
      for (auto& [weighed, other] : others) {
        for (int i = 0; i < 2; ++i) {
          step_near(box, samples, weighed, other);
          weighed = weigh(other, deviation, samples);
        }
        if (!(weighed.cost < current.cost)) continue;
        sq = other;
        current = std::move(weighed);
        previous = k_infinity;
        break;
      }
    } else if (change < k_settled) {
      return;
    }
  }
}

}  // namespace abut
