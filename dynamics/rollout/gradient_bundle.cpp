#include "dynamics/rollout/gradient_bundle.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/random.h"

namespace abut {
namespace {

constexpr Eigen::Index k_coordinates = 12;  // of a body: pose and twist

/// Running mean and variance of vectors (Welford).
class Moments {
 public:
  explicit Moments(Eigen::Index size) : mean_(Eigen::ArrayXd::Zero(size)), sum_(Eigen::ArrayXd::Zero(size)) {}
  void add(const Eigen::ArrayXd& x) {
    ++count_;
    const Eigen::ArrayXd before = x - mean_;
    mean_ += before / count_;
    sum_ += before * (x - mean_);
  }
  [[nodiscard]] const Eigen::ArrayXd& mean() const { return mean_; }
  /// Of the mean.
  [[nodiscard]] Eigen::ArrayXd variance() const {
    return sum_ / (static_cast<double>(count_) * (count_ - 1));
  }

 private:
  int count_ = 0;
  Eigen::ArrayXd mean_, sum_;
};

StateTangent unstack(const Eigen::ArrayXd& x) {
  StateTangent tangent(static_cast<int>(x.size() / k_coordinates));
  for (std::size_t b = 0; b < tangent.pose.size(); ++b) {
    const Eigen::Index i = k_coordinates * static_cast<Eigen::Index>(b);
    tangent.pose[b] = x.segment<6>(i).matrix();
    tangent.twist[b] = x.segment<6>(i + 6).matrix();
  }
  return tangent;
}

Eigen::ArrayXd stack_tangent(const StateTangent& tangent) {
  Eigen::ArrayXd x(k_coordinates * static_cast<Eigen::Index>(tangent.pose.size()));
  for (std::size_t b = 0; b < tangent.pose.size(); ++b) {
    const Eigen::Index i = k_coordinates * static_cast<Eigen::Index>(b);
    x.segment<6>(i) = tangent.pose[b].array();
    x.segment<6>(i + 6) = tangent.twist[b].array();
  }
  return x;
}

BundleEstimate estimate(const Eigen::ArrayXd& mean, const Eigen::ArrayXd& variance) {
  return {unstack(mean), unstack(variance.sqrt())};
}

/// Standard normal, by Box and Muller.
double normal(Random& random) {
  const double u = 1.0 - random.uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * random.uniform());
}

/// Standard deviation of each coordinate; 0 of bodies that do not move.
Eigen::ArrayXd deviations(const Model& model, const BundleConfig& config) {
  Eigen::ArrayXd sigma = Eigen::ArrayXd::Zero(k_coordinates * model.body_count());
  for (int b = 0; b < model.body_count(); ++b) {
    if (model.bodies[static_cast<std::size_t>(b)].fixed) continue;
    sigma.segment<3>(k_coordinates * b) = config.rotation;
    sigma.segment<3>(k_coordinates * b + 3) = config.translation;
    sigma.segment<3>(k_coordinates * b + 6) = config.angular_velocity;
    sigma.segment<3>(k_coordinates * b + 9) = config.velocity;
  }
  return sigma;
}

}  // namespace

void validate(const BundleConfig& config) {
  require(config.samples >= 2, fmt::format("samples = {}, allowed: >= 2", config.samples));
  for (const auto& [name, value] :
       std::array<std::pair<const char*, double>, 4>{{{"rotation", config.rotation},
                                                      {"translation", config.translation},
                                                      {"angular_velocity", config.angular_velocity},
                                                      {"velocity", config.velocity}}}) {
    require(std::isfinite(value) && value >= 0.0, fmt::format("{} = {}, allowed: >= 0, finite", name, value));
  }
}

GradientBundle gradient_bundle(const Stepper& stepper, const State& initial, int steps,
                               const Controls& controls, const RolloutLoss& loss,
                               const BundleConfig& config) {
  validate(config);
  const auto total = [&](const Trajectory& trajectory) {
    double sum = 0.0;
    for (int k = 0; k <= steps; ++k) sum += loss.value(k, trajectory.states[static_cast<std::size_t>(k)]);
    return sum;
  };
  const Trajectory nominal = rollout(stepper, initial, steps, controls);
  if (!nominal.ok()) throw std::logic_error("the rollout itself fails: there is nothing to vary");
  const double baseline = total(nominal);

  const Eigen::ArrayXd sigma = deviations(stepper.model(), config);
  Moments first(sigma.size()), zeroth(sigma.size());
  Random random(config.seed);
  GradientBundle bundle;
  int used = 0;
  for (int i = 0; i < config.samples; ++i) {
    Eigen::ArrayXd z(sigma.size());
    for (double& x : z) x = normal(random);
    const StateTangent change = unstack(sigma * z);
    State start = initial;
    for (std::size_t b = 0; b < start.X_WB.size(); ++b) {
      start.X_WB[b] = retract<double>(start.X_WB[b], change.pose[b]);
      start.V_WB[b] += change.twist[b];
    }
    const Trajectory trajectory = rollout(stepper, start, steps, controls, {}, k_gradient_tape_bytes);
    if (!trajectory.ok()) {
      ++bundle.failed;
      continue;
    }
    const double value = total(trajectory);
    ++used;
    bundle.mean_loss += (value - bundle.mean_loss) / used;
    first.add(stack_tangent(adjoint(stepper, trajectory, loss.gradient).initial));
    zeroth.add((sigma > 0.0).select((value - baseline) * z / sigma.max(1e-300), 0.0));
  }
  if (used < 2) throw std::logic_error(fmt::format("only {} of {} rollouts end well", used, config.samples));

  const Eigen::ArrayXd v1 = first.variance(), v0 = zeroth.variance();
  // Where a coordinate is not varied there is only one of the two.
  const Eigen::ArrayXd share = (sigma > 0.0).select(v0 / (v0 + v1).max(1e-300), 1.0);
  bundle.first_order = estimate(first.mean(), v1);
  bundle.zeroth_order = estimate(zeroth.mean(), v0);
  bundle.combined = estimate(share * first.mean() + (1.0 - share) * zeroth.mean(),
                             share.square() * v1 + (1.0 - share).square() * v0);
  for (Eigen::Index i = 0; i < sigma.size(); ++i) {
    if (!(sigma[i] > 0.0) || !(v0[i] + v1[i] > 0.0)) continue;
    bundle.largest_disagreement = std::max(
        bundle.largest_disagreement, std::abs(first.mean()[i] - zeroth.mean()[i]) / std::sqrt(v0[i] + v1[i]));
  }
  return bundle;
}

}  // namespace abut
