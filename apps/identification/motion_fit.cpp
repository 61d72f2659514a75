#include "apps/identification/motion_fit.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <stdexcept>
#include <thread>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/report.h"
#include "dynamics/simulator.h"
#include "engine/check.h"
#include "engine/lie.h"

namespace abut {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

const Experiment& checked(const Experiment& experiment) {
  validate(experiment);
  return experiment;
}

/// How far a segment's end is off the start of the next, in standard deviations, by both.
struct SegmentJoint {
  Eigen::Matrix<double, 12, 1> residual;
  Eigen::Matrix<double, 12, 12> by_end, by_start;
};

SegmentJoint joint_between(const Pose<double>& X_end, const Vec6<double>& V_end, const Pose<double>& X_start,
                           const Vec6<double>& V_start, const MultipleShooting& shooting) {
  SegmentJoint joint;
  const Vec6<double> off = difference(X_end, X_start);
  const Vec3<double> turn = off.head<3>();
  Eigen::Matrix<double, 12, 1> weight;
  weight << Vec3<double>::Constant(1.0 / shooting.rotation_noise),
      Vec3<double>::Constant(1.0 / shooting.position_noise),
      Vec3<double>::Constant(1.0 / shooting.angular_noise),
      Vec3<double>::Constant(1.0 / shooting.linear_noise);
  joint.residual << off, V_end - V_start;
  joint.residual.array() *= weight.array();
  joint.by_end.setIdentity();
  joint.by_end.topLeftCorner<3, 3>() = left_jacobian_inverse_so3(turn);
  joint.by_start = -Eigen::Matrix<double, 12, 12>::Identity();
  joint.by_start.topLeftCorner<3, 3>() = -left_jacobian_inverse_so3(Vec3<double>(-turn));
  joint.by_end = weight.asDiagonal() * joint.by_end;
  joint.by_start = weight.asDiagonal() * joint.by_start;
  return joint;
}

}  // namespace

double RobustLoss::value(double s) const {
  const double squared = width * width;
  switch (kind) {
    case Kind::huber:
      return s <= squared ? s : 2.0 * width * std::sqrt(s) - squared;
    case Kind::cauchy:
      return squared * std::log1p(s / squared);
    default:
      return s;
  }
}

double RobustLoss::slope(double s) const {
  switch (kind) {
    case Kind::huber:
      return s <= width * width ? 1.0 : width / std::sqrt(s);
    case Kind::cauchy:
      return 1.0 / (1.0 + s / (width * width));
    default:
      return 1.0;
  }
}

struct MotionFit::SegmentResult {
  std::string failure;
  Eigen::VectorXd residuals;  // measurements, then joints
  Eigen::MatrixXd jacobian;
  Eigen::VectorXd gradient;
  double contacts = 0.0;
  std::vector<std::string> warnings;
};

MotionFit::MotionFit(const Experiment& experiment, int threads)
    : experiment_(checked(experiment)), unknowns_(experiment), threads_(threads) {
  require(threads >= 1, fmt::format("threads = {}, allowed: >= 1", threads));
  const double h = experiment.scene.config.step.h;
  const auto add = [&](ResidualBlock block, int count) {
    block.begin = residual_count_;
    block.count = count;
    blocks_.push_back(block);
    residual_count_ += count;
  };
  const std::vector<Segment>& segments = unknowns_.segments();
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const Segment& segment = segments[s];
    first_block_.push_back(static_cast<int>(blocks_.size()));
    measurements_.emplace_back();
    const auto& measurements = experiment.motions[at(segment.motion)].measurements;
    const bool is_last = s + 1 == segments.size() || segments[s + 1].motion != segment.motion;
    for (std::size_t i = 0; i < measurements.size(); ++i) {
      const double place = (measurements[i].time - experiment.scene.initial.time) / h;
      const bool is_before_end = place < segment.first_step + segment.step_count - 1e-9;
      if (place < segment.first_step - 1e-9 || !(is_before_end || is_last)) continue;
      const int index = static_cast<int>(i);
      measurements_.back().push_back(index);
      // Points are seen one by one, whatever their time.
      const int count = abut::residual_count(experiment.scene.model, measurements[i]);
      const bool is_points = std::holds_alternative<SurfacePoints>(measurements[i].what);
      for (int part = 0; part < (is_points ? count : 1); ++part)
        add({ResidualBlock::Kind::measurement, static_cast<int>(s), index, -1, 0, 0}, is_points ? 1 : count);
    }
    if (is_last) continue;
    for (const int v : unknowns_.start_variables(segment.motion, segment.number + 1))
      add({ResidualBlock::Kind::joint, static_cast<int>(s), -1, v, 0, 0}, 12);
  }
  for (std::size_t v = 0; v < unknowns_.variables().size(); ++v) {
    const Unknown* unknown = unknowns_.unknown_of(unknowns_.variables()[v]);
    if (unknown != nullptr && unknown->prior)
      add({ResidualBlock::Kind::prior, -1, -1, static_cast<int>(v), 0, 0}, 1);
  }
  require(residual_count_ > 0, "nothing is measured: there is no residual");
  for (const JacobianMethod method : {JacobianMethod::transition, JacobianMethod::adjoint}) {
    if (cost(method) < cost(method_)) method_ = method;
  }
}

double MotionFit::cost(JacobianMethod method) const {
  const auto segments = static_cast<double>(unknowns_.segments().size());
  double sum = 0.0;
  switch (method) {
    case JacobianMethod::forward:
      if (experiment_.scene.config.step.impact_substeps) return std::numeric_limits<double>::infinity();
      for (int e = 0; e < unknowns_.tangent_size(); ++e) {
        if (!unknowns_.has_direction(e)) return std::numeric_limits<double>::infinity();
        for (const Segment& segment : unknowns_.segments()) sum += unknowns_.concerns(e, segment);
      }
      return sum / segments;
    case JacobianMethod::transition:
      for (const Body& body : experiment_.scene.model.bodies) sum += body.fixed ? 0.0 : 12.0;
      return sum;
    case JacobianMethod::adjoint:
      return residual_count_ / segments;
    case JacobianMethod::differences:
      return std::numeric_limits<double>::infinity();  // not exact: never chosen
  }
  return sum;
}

void MotionFit::set_method(JacobianMethod method) {
  if (method == JacobianMethod::forward) {
    for (int e = 0; e < unknowns_.tangent_size(); ++e) {
      require(unknowns_.has_direction(e),
              fmt::format("'{}' has derivatives backwards only", unknowns_.name(e)));
    }
  }
  method_ = method;
}

double MotionFit::cost_of(const Eigen::VectorXd& residuals, const RobustLoss& loss) const {
  double sum = 0.0;
  for (const ResidualBlock& block : blocks_) {
    const double s = residuals.segment(block.begin, block.count).squaredNorm();
    sum += block.kind == ResidualBlock::Kind::measurement ? loss.value(s) : s;
  }
  return 0.5 * sum;
}

void MotionFit::evaluate_segment(int number, const Eigen::VectorXd& x, Want want, const RobustLoss& loss,
                                 SegmentResult& result) const {
  const Segment& segment = unknowns_.segments()[at(number)];
  const MeasuredMotion& motion = experiment_.motions[at(segment.motion)];
  const UnknownSpace::Inputs inputs = unknowns_.inputs(x, segment);
  const StepConfig& config = inputs.scene.config.step;
  const Simulator simulator(inputs.scene.model, config);
  Trajectory trajectory;
  double contacts = 0.0;
  if (segment.step_count > 0) {
    trajectory = simulator.rollout(inputs.scene.initial, segment.step_count, inputs.controls,
                                   [&](int, const State&, const StepReport& report) {
                                     contacts += report.contacts;
                                     return true;
                                   });
    result.contacts = contacts / segment.step_count;
  } else {
    trajectory.states = {inputs.scene.initial};
  }
  if (!trajectory.ok()) {
    const double end = inputs.scene.initial.time + (trajectory.failed_step + 1) * config.h;
    result.failure = fmt::format("motion '{}': {}", motion.name,
                                 failure_text(inputs.scene.model, config, end, trajectory.failure));
    return;
  }
  std::vector<LinearizedResidual> rows;
  std::vector<Eigen::VectorXd> weights;
  for (const int m : measurements_[at(number)]) {
    rows.push_back(linearize(simulator, motion.measurements[at(m)], trajectory.states));
    const Eigen::VectorXd& residual = rows.back().residual;
    weights.emplace_back(residual.size());
    if (std::holds_alternative<SurfacePoints>(motion.measurements[at(m)].what)) {
      for (Eigen::Index i = 0; i < residual.size(); ++i)
        weights.back()[i] = loss.slope(residual[i] * residual[i]);
    } else {
      weights.back().setConstant(loss.slope(residual.squaredNorm()));
    }
  }
  // Where the next segment starts is an unknown, too: the joint is a residual of this segment's last state.
  for (const int v : unknowns_.start_variables(segment.motion, segment.number + 1)) {
    const Variable& variable = unknowns_.variables()[at(v)];
    const std::size_t b = at(variable.body);
    const Pose<double> X_start{
        Quat<double>(x[variable.begin], x[variable.begin + 1], x[variable.begin + 2], x[variable.begin + 3])
            .normalized(),
        x.segment<3>(variable.begin + 4)};
    const State& end = trajectory.states.back();
    const SegmentJoint joint = joint_between(end.X_WB[b], end.V_WB[b], X_start,
                                             x.segment<6>(variable.begin + 7), experiment_.shooting);
    LinearizedResidual row;
    row.residual = joint.residual;
    row.states.push_back(
        {segment.step_count, variable.body, joint.by_end.leftCols<6>(), joint.by_end.rightCols<6>()});
    rows.push_back(std::move(row));
    weights.emplace_back(Eigen::VectorXd::Ones(rows.back().residual.size()));
  }
  Eigen::Index count = 0;
  for (const LinearizedResidual& row : rows) count += row.residual.size();
  result.residuals.resize(count);
  count = 0;
  for (const LinearizedResidual& row : rows) {
    result.residuals.segment(count, row.residual.size()) = row.residual;
    count += row.residual.size();
  }
  const SegmentRollout rollout{unknowns_, segment, inputs, simulator, trajectory};
  if (want == Want::jacobian) {
    result.jacobian = rollout_jacobian(rollout, rows, method_);
  } else if (want == Want::gradient) {
    GradientHealth health;
    result.gradient = rollout_gradient(rollout, rows, weights, health);
    for (const GradientWarning& warning : health.warnings)
      result.warnings.push_back(
          fmt::format("motion '{}': {}", motion.name, warning_text(inputs.scene.model, warning)));
  }
}

void MotionFit::add_priors_and_starts(const Eigen::VectorXd& x, Want want, Evaluation& evaluation) const {
  for (const ResidualBlock& block : blocks_) {
    if (block.kind == ResidualBlock::Kind::measurement) continue;
    const Variable& variable = unknowns_.variables()[at(block.variable)];
    if (block.kind == ResidualBlock::Kind::prior) {
      const Unknown::Prior& prior = *unknowns_.unknown_of(variable)->prior;
      const double off = (unknowns_.value(variable, x[variable.begin]) - prior.mean) / prior.deviation;
      evaluation.residuals[block.begin] = off;
      if (want == Want::jacobian)
        evaluation.jacobian(block.begin, variable.tangent_begin) = 1.0 / prior.deviation;
      if (want == Want::gradient) evaluation.gradient[variable.tangent_begin] += off / prior.deviation;
      continue;
    }
    // The joint's derivative by the start of the next segment, from its residual alone.
    const Eigen::VectorXd residual = evaluation.residuals.segment<12>(block.begin);
    const MultipleShooting& shooting = experiment_.shooting;
    const Vec3<double> turn = shooting.rotation_noise * residual.head<3>();
    const SegmentJoint joint =
        joint_between({exp_quaternion(turn), Vec3<double>::Zero()}, Vec6<double>::Zero(), Pose<double>{},
                      Vec6<double>::Zero(), shooting);
    if (want == Want::jacobian) {
      evaluation.jacobian.block<12, 12>(block.begin, variable.tangent_begin) += joint.by_start;
    } else if (want == Want::gradient) {
      evaluation.gradient.segment<12>(variable.tangent_begin) += joint.by_start.transpose() * residual;
    }
  }
}

void MotionFit::add_differences(const Eigen::VectorXd& x, Evaluation& evaluation) const {
  constexpr double k_relative_step = 1e-7;
  const auto entries = static_cast<Eigen::Index>(unknowns_.tangent_size());
  evaluation.jacobian.resize(residual_count_, entries);
  for (Eigen::Index e = 0; e < entries; ++e) {
    const Variable& variable = unknowns_.variable_of(static_cast<int>(e));
    const double size = variable.kind == Variable::Kind::number ? std::abs(x[variable.begin]) : 1.0;
    const double step = k_relative_step * std::max(size, 1e-2);
    Eigen::VectorXd tangent = Eigen::VectorXd::Zero(entries);
    tangent[e] = step;
    const Evaluation moved = evaluate(unknowns_.plus(x, tangent), Want::residuals);
    if (!moved.ok) {
      evaluation.ok = false;
      evaluation.failure = moved.failure;
      return;
    }
    evaluation.jacobian.col(e) = (moved.residuals - evaluation.residuals) / step;
  }
}

MotionFit::Evaluation MotionFit::evaluate(const Eigen::VectorXd& x, Want want, const RobustLoss& loss) const {
  if (want == Want::jacobian && method_ == JacobianMethod::differences) {
    Evaluation evaluation = evaluate(x, Want::residuals, loss);
    if (evaluation.ok) add_differences(x, evaluation);
    return evaluation;
  }
  const int segments = static_cast<int>(unknowns_.segments().size());
  std::vector<SegmentResult> results(at(segments));
  std::vector<std::exception_ptr> errors(at(segments));
  std::atomic<int> next{0};
  const auto work = [&] {
    for (int s = next++; s < segments; s = next++) {
      try {
        evaluate_segment(s, x, want, loss, results[at(s)]);
      } catch (const std::invalid_argument& error) {
        results[at(s)].failure = error.what();  // a shape that cannot be
      } catch (...) {
        errors[at(s)] = std::current_exception();
      }
    }
  };
  std::vector<std::thread> helpers;
  for (int i = 1; i < std::min(threads_, segments); ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }

  Evaluation evaluation;
  evaluation.residuals.resize(residual_count_);
  const auto entries = static_cast<Eigen::Index>(unknowns_.tangent_size());
  if (want == Want::jacobian) evaluation.jacobian = Eigen::MatrixXd::Zero(residual_count_, entries);
  if (want == Want::gradient) evaluation.gradient = Eigen::VectorXd::Zero(entries);
  for (int s = 0; s < segments; ++s) {
    const SegmentResult& result = results[at(s)];
    if (!result.failure.empty()) {
      evaluation.failure = result.failure;
      return evaluation;
    }
    if (result.residuals.size() > 0) {
      const int begin = blocks_[at(first_block_[at(s)])].begin;
      evaluation.residuals.segment(begin, result.residuals.size()) = result.residuals;
      if (want == Want::jacobian)
        evaluation.jacobian.middleRows(begin, result.residuals.size()) = result.jacobian;
      if (want == Want::gradient) evaluation.gradient += result.gradient;
    }
    evaluation.contacts += result.contacts / segments;
    evaluation.warnings.insert(evaluation.warnings.end(), result.warnings.begin(), result.warnings.end());
  }
  add_priors_and_starts(x, want, evaluation);
  for (Eigen::Index e = 0; e < entries; ++e) {
    const double slope = unknowns_.slope(static_cast<int>(e), x);
    if (want == Want::jacobian) evaluation.jacobian.col(e) *= slope;
    if (want == Want::gradient) evaluation.gradient[e] *= slope;
  }
  evaluation.ok = std::isfinite(evaluation.residuals.squaredNorm());
  if (want == Want::jacobian) evaluation.ok = evaluation.ok && evaluation.jacobian.allFinite();
  if (want == Want::gradient) evaluation.ok = evaluation.ok && evaluation.gradient.allFinite();
  if (!evaluation.ok) evaluation.failure = "a residual or its derivative is not finite";
  return evaluation;
}

}  // namespace abut
