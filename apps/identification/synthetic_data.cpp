#include "apps/identification/synthetic_data.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/report.h"
#include "dynamics/simulator.h"
#include "engine/check.h"
#include "engine/joint_geometry.h"
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
  [[nodiscard]] double number(double deviation) {
    return is_none() || !std::isfinite(deviation) ? 0.0 : deviation * random_->normal();
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

/// The state at the time of a measurement.
struct Seen {
  const Stepper& stepper;
  State state;

  [[nodiscard]] const Model& model() const { return stepper.model(); }
  [[nodiscard]] const Body& body(int b) const { return model().bodies[at(b)]; }
  [[nodiscard]] const Pose<double>& X_WB(int b) const { return state.X_WB[at(b)]; }
};

void simulate(MeasuredPose& pose, const Seen& seen, Noise& noise) {
  const double factor = noise.next_factor();
  const Pose<double>& X_WB = seen.X_WB(pose.body);
  pose.p_WA = X_WB * seen.body(pose.body).p_BA + noise.vector(factor * pose.position_noise);
  if (pose.q_WA)
    pose.q_WA = (exp_quaternion(noise.vector(factor * pose.rotation_noise)) * X_WB.q).normalized();
}

void simulate(MeasuredTwist& twist, const Seen& seen, Noise& noise) {
  const double factor = noise.next_factor();
  const Vec3<double> angular = noise.vector(factor * twist.angular_noise),
                     linear = noise.vector(factor * twist.linear_noise);
  twist.V_WB = seen.state.V_WB[at(twist.body)] + stack<double>(angular, linear);
}

void simulate(MeasuredJoint& joint, const Seen& seen, Noise& noise) {
  const double factor = noise.next_factor();
  if (joint.coordinate)
    joint.coordinate = joint_coordinate(seen.model(), joint.joint, seen.state) +
                       noise.number(factor * joint.coordinate_noise);
  if (joint.rate)
    joint.rate = joint_rate(seen.model().joints[at(joint.joint)], seen.state) +
                 noise.number(factor * joint.rate_noise);
}

void simulate(SurfacePoints& points, const Seen& seen, Noise& noise) {
  const Body& body = seen.body(points.body);
  const ShapeSdf& sdf = seen.stepper.detector().sdf(points.body);
  const Points& vertices = body.mesh.vertices;
  require(vertices.cols() > 0, fmt::format("body '{}' has no mesh to draw surface points from", body.name));
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
      const auto sample = sdf.evaluate<double>(p_B);
      normal = sample.normal;
      p_B -= sample.distance / sample.gradient.squaredNorm() * sample.gradient;
    }
    if (!noise.is_none()) {
      const double deviation = noise.next_factor() * points.noise;
      p_B += deviation * drawn.normal() * normal;
    }
    points.p_W.col(i) = seen.X_WB(points.body) * p_B;
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
      const Seen seen{simulator.stepper(), interpolate(trajectory.states[at(moment.earlier)],
                                                       trajectory.states[at(moment.later)], moment.share)
                                               .state};
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
