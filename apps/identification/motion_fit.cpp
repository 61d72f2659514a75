#include "apps/identification/motion_fit.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <stdexcept>
#include <thread>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/report.h"
#include "apps/abut/scene_parameter_derivatives.h"
#include "dynamics/rollout_jvp.h"
#include "dynamics/simulator.h"
#include "engine/check.h"

namespace abut {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// The two states around a time, and how far it is from the first to the second.
struct Moment {
  int step = 0;
  double share = 0;
};

Moment moment_of(double time, double start, double h, int steps) {
  const double place = (time - start) / h;
  Moment moment;
  moment.step = std::clamp(static_cast<int>(std::floor(place)), 0, steps - 1);
  moment.share = place - moment.step;
  return moment;
}

/// Residuals of a measurement by the tangents of the two poses around it.
struct LinearizedMeasurement {
  Moment moment;
  int body = 0, count = 0;
  Vec6<double> residual;
  Mat6<double> by_earlier, by_later;
};

LinearizedMeasurement linearize(const Model& model, const Measurement& measurement, const Moment& moment,
                                const std::vector<State>& states) {
  const std::size_t b = at(measurement.body), k = at(moment.step);
  const InterpolatedPose pose = interpolate(states[k].X_WB[b], states[k + 1].X_WB[b], moment.share);
  const MeasurementResidual off = measurement_residual(model.bodies[b], measurement, pose.X_WB);
  return {moment,
          measurement.body,
          measurement.residual_count(),
          off.residual,
          off.by_pose * pose.by_earlier,
          off.by_pose * pose.by_later};
}

}  // namespace

struct MotionFit::MotionResult {
  std::string failure;
  Eigen::VectorXd residuals;
  Eigen::MatrixXd jacobian;  // (residuals of the motion, all entries)
  int contacts_near_kink = 0, contacts = 0;
};

MotionFit::MotionFit(const Experiment& experiment, int threads) : experiment_(experiment), threads_(threads) {
  validate(experiment);
  require(threads >= 1, fmt::format("threads = {}, allowed: >= 1", threads));
  for (std::size_t u = 0; u < experiment.unknowns.size(); ++u) {
    const int count = experiment.unknowns[u].in_each_motion ? static_cast<int>(experiment.motions.size()) : 1;
    for (int i = 0; i < count; ++i) entries_.push_back({u, experiment.unknowns[u].in_each_motion ? i : -1});
  }
  const auto add = [&](int motion, int measurement, int count) {
    blocks_.push_back({motion, measurement, residual_count_, count});
    residual_count_ += count;
  };
  for (std::size_t m = 0; m < experiment.motions.size(); ++m) {
    first_block_.push_back(static_cast<int>(blocks_.size()));
    const auto& measurements = experiment.motions[m].measurements;
    for (std::size_t i = 0; i < measurements.size(); ++i)
      add(static_cast<int>(m), static_cast<int>(i), measurements[i].residual_count());
  }
  const bool all_forward =
      std::all_of(experiment.unknowns.begin(), experiment.unknowns.end(),
                  [](const Unknown& unknown) { return has_direction(unknown.parameter); });
  const bool is_divided = experiment.scene.config.step.impact_substeps;
  const bool forward_is_cheaper = static_cast<int>(experiment.unknowns.size()) <=
                                  residual_count_ / static_cast<int>(experiment.motions.size());
  method_ =
      all_forward && !is_divided && forward_is_cheaper ? JacobianMethod::forward : JacobianMethod::adjoint;
  for (const UnknownEntry& entry : entries_) {
    if (experiment.unknowns[entry.unknown].prior) add(-1, -1, 1);
  }
}

void MotionFit::set_method(JacobianMethod method) {
  if (method == JacobianMethod::forward) {
    for (const Unknown& unknown : experiment_.unknowns) {
      require(has_direction(unknown.parameter),
              fmt::format("'{}' has derivatives backwards only", unknown.parameter.name));
    }
  }
  method_ = method;
}

std::string MotionFit::entry_name(std::size_t entry) const {
  const UnknownEntry& e = entries_[entry];
  const std::string& name = experiment_.unknowns[e.unknown].parameter.name;
  return e.motion < 0 ? name : fmt::format("{} ({})", name, experiment_.motions[at(e.motion)].name);
}

Eigen::VectorXd MotionFit::initial() const {
  Eigen::VectorXd x(static_cast<Eigen::Index>(entries_.size()));
  for (std::size_t i = 0; i < entries_.size(); ++i)
    x[static_cast<Eigen::Index>(i)] = experiment_.unknowns[entries_[i].unknown].initial;
  return x;
}

Scene MotionFit::scene_of(int motion, const Eigen::VectorXd& x) const {
  Scene scene = experiment_.scene;
  std::vector<SceneParameter> parameters;
  std::vector<double> values;
  for (const auto& [parameter, value] : experiment_.motions[at(motion)].settings) {
    parameters.push_back(parameter);
    values.push_back(value);
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].motion >= 0 && entries_[i].motion != motion) continue;
    parameters.push_back(experiment_.unknowns[entries_[i].unknown].parameter);
    values.push_back(x[static_cast<Eigen::Index>(i)]);
  }
  set_parameters(parameters, values, scene);
  return scene;
}

int MotionFit::steps_of(int motion) const {
  const double duration =
      experiment_.motions[at(motion)].measurements.back().time - experiment_.scene.initial.time;
  const double steps = std::ceil(duration / experiment_.scene.config.step.h - 1e-9);
  constexpr double k_most = 1e7;
  require(steps <= k_most,
          fmt::format("motion '{}' takes {:.3g} steps, allowed: at most {:.0g}; are its times seconds?",
                      experiment_.motions[at(motion)].name, steps, k_most));
  return std::max(1, static_cast<int>(steps));
}

MotionFit::MotionResult MotionFit::evaluate_motion(int motion, const Eigen::VectorXd& x,
                                                   bool with_jacobian) const {
  MotionResult result;
  const MeasuredMotion& measured = experiment_.motions[at(motion)];
  const Scene scene = scene_of(motion, x);
  const StepConfig& config = scene.config.step;
  const Simulator simulator(scene.model, config);
  const int steps = steps_of(motion);
  const Trajectory trajectory = simulator.rollout(scene.initial, steps);
  if (!trajectory.ok()) {
    const double end = scene.initial.time + (trajectory.failed_step + 1) * config.h;
    result.failure = fmt::format("motion '{}': {}", measured.name,
                                 failure_text(scene.model, config, end, trajectory.failure));
    return result;
  }
  std::vector<LinearizedMeasurement> rows;
  Eigen::Index count = 0;
  for (const Measurement& measurement : measured.measurements) {
    rows.push_back(linearize(simulator.model(), measurement,
                             moment_of(measurement.time, scene.initial.time, config.h, steps),
                             trajectory.states));
    count += rows.back().count;
  }
  result.residuals.resize(count);
  Eigen::Index begin = 0;
  for (const LinearizedMeasurement& row : rows) {
    result.residuals.segment(begin, row.count) = row.residual.head(row.count);
    begin += row.count;
  }
  if (!with_jacobian) return result;

  const auto entries = static_cast<Eigen::Index>(entries_.size());
  result.jacobian = Eigen::MatrixXd::Zero(count, entries);
  const auto concerns = [&](Eigen::Index e) {
    const int of = entries_[static_cast<std::size_t>(e)].motion;
    return of < 0 || of == motion;
  };
  const auto parameter_of = [&](Eigen::Index e) -> const SceneParameter& {
    return experiment_.unknowns[entries_[static_cast<std::size_t>(e)].unknown].parameter;
  };
  if (method_ == JacobianMethod::forward) {
    for (Eigen::Index e = 0; e < entries; ++e) {
      if (!concerns(e)) continue;
      const StateTangents tangents =
          rollout_jvp(simulator.stepper(), trajectory, rollout_direction_of(scene, parameter_of(e)));
      begin = 0;
      for (const LinearizedMeasurement& row : rows) {
        const std::size_t k = at(row.moment.step), b = at(row.body);
        const Vec6<double> change =
            row.by_earlier * tangents[k].pose[b] + row.by_later * tangents[k + 1].pose[b];
        result.jacobian.col(e).segment(begin, row.count) = change.head(row.count);
        begin += row.count;
      }
    }
    return result;
  }
  begin = 0;
  for (const LinearizedMeasurement& row : rows) {
    for (Eigen::Index i = 0; i < row.count; ++i, ++begin) {
      const Gradient gradient = simulator.gradient(trajectory, [&](int k, const State&, StateTangent& bar) {
        Vec6<double>& pose_bar = bar.pose[at(row.body)];
        if (k == row.moment.step) pose_bar += row.by_earlier.row(i).transpose();
        if (k == row.moment.step + 1) pose_bar += row.by_later.row(i).transpose();
      });
      for (Eigen::Index e = 0; e < entries; ++e) {
        if (concerns(e)) result.jacobian(begin, e) = derivative_by(scene, parameter_of(e), gradient);
      }
      result.contacts = gradient.health.contacts;
      result.contacts_near_kink = gradient.health.contacts_near_kink;
    }
  }
  return result;
}

MotionFit::Evaluation MotionFit::evaluate(const Eigen::VectorXd& x, bool with_jacobian) const {
  const int motions = static_cast<int>(experiment_.motions.size());
  std::vector<MotionResult> results(at(motions));
  std::vector<std::exception_ptr> errors(at(motions));
  std::atomic<int> next{0};
  const auto work = [&] {
    for (int m = next++; m < motions; m = next++) {
      try {
        results[at(m)] = evaluate_motion(m, x, with_jacobian);
      } catch (...) {
        errors[at(m)] = std::current_exception();
      }
    }
  };
  std::vector<std::thread> helpers;
  for (int i = 1; i < std::min(threads_, motions); ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }

  Evaluation evaluation;
  evaluation.residuals.resize(residual_count_);
  if (with_jacobian) evaluation.jacobian = Eigen::MatrixXd::Zero(residual_count_, x.size());
  for (int m = 0; m < motions; ++m) {
    const MotionResult& result = results[at(m)];
    if (!result.failure.empty()) {
      evaluation.failure = result.failure;
      return evaluation;
    }
    const int begin = blocks_[at(first_block_[at(m)])].begin;
    evaluation.residuals.segment(begin, result.residuals.size()) = result.residuals;
    if (with_jacobian) evaluation.jacobian.middleRows(begin, result.residuals.size()) = result.jacobian;
    evaluation.contacts += result.contacts;
    evaluation.contacts_near_kink += result.contacts_near_kink;
  }
  int row = residual_count_;
  for (std::size_t i = entries_.size(); i-- > 0;) {
    const auto& prior = experiment_.unknowns[entries_[i].unknown].prior;
    if (!prior) continue;
    const auto e = static_cast<Eigen::Index>(i);
    evaluation.residuals[--row] = (x[e] - prior->mean) / prior->deviation;
    if (with_jacobian) evaluation.jacobian(row, e) = 1.0 / prior->deviation;
  }
  evaluation.ok = evaluation.residuals.allFinite();
  if (!evaluation.ok) evaluation.failure = "a residual is not finite";
  return evaluation;
}

}  // namespace abut
