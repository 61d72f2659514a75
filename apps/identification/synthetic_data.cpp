#include "apps/identification/synthetic_data.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/report.h"
#include "dynamics/simulator.h"
#include "engine/check.h"
#include "engine/lie.h"

namespace abut {
namespace {

/// Where noise comes from, if there is any.
class Noise {
 public:
  Noise(Random* random, const DataFlaws& flaws) : random_(random), flaws_(flaws) {}

  [[nodiscard]] bool is_none() const { return random_ == nullptr; }
  [[nodiscard]] Random& random() { return *random_; }
  /// How many times as large as stated it is of the next measurement.
  [[nodiscard]] double next_factor() {
    const bool is_outlier = !is_none() && flaws_.outliers > 0.0 && random_->uniform() < flaws_.outliers;
    return flaws_.noise_factor * (is_outlier ? flaws_.outlier_factor : 1.0);
  }
  [[nodiscard]] Vec3<double> vector(double deviation) {
    if (is_none() || !std::isfinite(deviation)) return Vec3<double>::Zero();
    const double x = random_->normal(), y = random_->normal(), z = random_->normal();
    return deviation * Vec3<double>(x, y, z);
  }

 private:
  Random* random_;
  DataFlaws flaws_;
};

/// A body at the time of a measurement.
struct Seen {
  const Body& body;
  const ShapeSdf& sdf;
  Pose<double> X_WB;
  Vec6<double> V_WB;
};

void simulate(MeasuredPose& pose, const Seen& seen, Noise& noise) {
  const double factor = noise.next_factor();
  pose.p_WA = seen.X_WB * seen.body.p_BA + noise.vector(factor * pose.position_noise);
  if (pose.q_WA)
    pose.q_WA = (exp_quaternion(noise.vector(factor * pose.rotation_noise)) * seen.X_WB.q).normalized();
}

void simulate(MeasuredTwist& twist, const Seen& seen, Noise& noise) {
  const double factor = noise.next_factor();
  const Vec3<double> angular = noise.vector(factor * twist.angular_noise),
                     linear = noise.vector(factor * twist.linear_noise);
  twist.V_WB = seen.V_WB + stack<double>(angular, linear);
}

void simulate(SurfacePoints& points, const Seen& seen, Noise& noise) {
  const Points& vertices = seen.body.mesh.vertices;
  require(vertices.cols() > 0,
          fmt::format("body '{}' has no mesh to draw surface points from", seen.body.name));
  Random choice(static_cast<std::uint64_t>(points.p_W.cols()) + 1);
  Random& drawn = noise.is_none() ? choice : noise.random();
  for (Eigen::Index i = 0; i < points.p_W.cols(); ++i) {
    const auto vertex =
        std::min(static_cast<Eigen::Index>(drawn.uniform() * static_cast<double>(vertices.cols())),
                 vertices.cols() - 1);
    Vec3<double> p_B = vertices.col(vertex);
    Vec3<double> normal = Vec3<double>::UnitZ();
    constexpr int k_projections = 20;
    for (int k = 0; k < k_projections; ++k) {
      const auto sample = seen.sdf.evaluate<double>(p_B);
      normal = sample.normal;
      p_B -= sample.distance / sample.gradient.squaredNorm() * sample.gradient;
    }
    if (!noise.is_none()) {
      const double deviation = noise.next_factor() * points.noise;
      p_B += deviation * drawn.normal() * normal;
    }
    points.p_W.col(i) = seen.X_WB * p_B;
  }
}

}  // namespace

Experiment with_simulated_data(const MotionFit& fit, const Eigen::VectorXd& x, Random* random,
                               const DataFlaws& flaws) {
  Noise noise(random, flaws);
  Experiment experiment = fit.experiment();
  const double h = experiment.scene.config.step.h;
  const auto prepared = fit.unknowns().prepare(x);
  for (std::size_t m = 0; m < experiment.motions.size(); ++m) {
    MeasuredMotion& motion = experiment.motions[m];
    const auto [inputs, simulator, trajectory] = fit.unknowns().simulate(x, static_cast<int>(m), prepared);
    if (!trajectory.ok()) {
      const double end = inputs.scene.initial.time + (trajectory.failed_step + 1) * h;
      throw std::invalid_argument(
          fmt::format("motion '{}': {}", motion.name,
                      failure_text(inputs.scene.model, inputs.scene.config.step, end, trajectory.failure)));
    }
    for (Measurement& measurement : motion.measurements) {
      const Moment moment = moment_of(measurement.time, trajectory.states.front().time, h,
                                      static_cast<int>(trajectory.states.size()) - 1);
      const State &earlier = trajectory.states[at(moment.earlier)],
                  &later = trajectory.states[at(moment.later)];
      const std::size_t b = at(body_of(measurement));
      const Seen seen{simulator.model().bodies[b], simulator.stepper().detector().sdf(static_cast<int>(b)),
                      interpolate(earlier.X_WB[b], later.X_WB[b], moment.share).X_WB,
                      (1.0 - moment.share) * earlier.V_WB[b] + moment.share * later.V_WB[b]};
      std::visit(
          [&](auto& what) {
            if constexpr (requires { simulate(what, seen, noise); }) simulate(what, seen, noise);
          },
          measurement.what);
    }
  }
  return experiment;
}

}  // namespace abut
