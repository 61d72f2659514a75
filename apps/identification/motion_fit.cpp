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

double RobustLoss::curvature(double s) const {
  const double squared = width * width;
  switch (kind) {
    case Kind::huber:
      return s <= squared ? 0.0 : -0.5 * slope(s) / s;
    case Kind::cauchy:
      return -slope(s) * slope(s) / squared;
    default:
      return 0.0;
  }
}

/// A segment at some x, simulated and compared with what was measured.
struct MotionFit::SegmentMotion {
  SegmentMotion(int number_of_it, const Segment& of, UnknownSpace::Inputs at_x)
      : number(number_of_it), segment(of), inputs(std::move(at_x)) {}

  int number;
  const Segment& segment;
  UnknownSpace::Inputs inputs;
  std::optional<Simulator> simulator;
  Trajectory trajectory;
  std::vector<LinearizedResidual> rows;  // of measurements, then of the joint
  double contacts = 0.0;                 // of a step, on average
  std::string failure;
};

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
  if (cost(JacobianMethod::adjoint) < cost(JacobianMethod::forward)) method_ = JacobianMethod::adjoint;
}

double MotionFit::cost(JacobianMethod method) const {
  constexpr double k_jvp = 0.25, k_vjp = 0.5;  // of a pass, beside the linearization that they share
  const auto segments = static_cast<double>(unknowns_.segments().size());
  const StepConfig& config = experiment_.scene.config.step;
  switch (method) {
    case JacobianMethod::forward: {
      bool has_jvp = config.push_out != PushOut::split;
      double entries = 0.0, rows = 0.0;
      for (int e = 0; e < unknowns_.tangent_size(); ++e) {
        has_jvp = has_jvp && unknowns_.has_direction(e);
        for (const Segment& segment : unknowns_.segments()) entries += unknowns_.concerns(e, segment);
      }
      for (const Body& body : experiment_.scene.model.bodies) rows += body.fixed ? 0.0 : 12.0;
      return 1.0 + (has_jvp ? k_jvp * entries / segments : k_vjp * rows);
    }
    case JacobianMethod::adjoint:
      return residual_count_ / segments;
    case JacobianMethod::differences:
      break;
  }
  return std::numeric_limits<double>::infinity();  // not exact: never chosen
}

double MotionFit::cost_of(const Eigen::VectorXd& residuals, const RobustLoss& loss) const {
  double sum = 0.0;
  for (const ResidualBlock& block : blocks_) {
    const double s = residuals.segment(block.begin, block.count).squaredNorm();
    sum += block.kind == ResidualBlock::Kind::measurement ? loss.value(s) : s;
  }
  return 0.5 * sum;
}

std::shared_ptr<const MotionFit::SegmentMotion> MotionFit::simulate(
    int number, const Eigen::VectorXd& x, const std::optional<UnknownSpace::Prepared>& prepared) const {
  const Segment& segment = unknowns_.segments()[at(number)];
  const MeasuredMotion& motion = experiment_.motions[at(segment.motion)];
  auto result = std::make_shared<SegmentMotion>(number, segment, unknowns_.inputs(x, segment, prepared));
  const Scene& scene = result->inputs.scene;
  result->simulator.emplace(unknowns_.simulator(result->inputs, prepared));
  Trajectory& trajectory = result->trajectory;
  if (segment.step_count > 0) {
    trajectory = result->simulator->rollout(scene.initial, segment.step_count, result->inputs.controls,
                                            [&](int, const State&, const StepReport& report) {
                                              result->contacts += report.contacts;
                                              if (steps_ != nullptr) steps_->fetch_add(1);
                                              return true;
                                            });
    result->contacts /= segment.step_count;
  } else {
    trajectory.states = {scene.initial};
  }
  if (!trajectory.ok()) {
    const StepConfig& config = scene.config.step;
    const double end = scene.initial.time + (trajectory.failed_step + 1) * config.h;
    result->failure = fmt::format("motion '{}': {}", motion.name,
                                  failure_text(scene.model, config, end, trajectory.failure));
    return result;
  }
  for (const int m : measurements_[at(number)])
    result->rows.push_back(linearize(*result->simulator, motion.measurements[at(m)], trajectory.states));
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
    result->rows.push_back(std::move(row));
  }
  return result;
}

void MotionFit::evaluate_segment(const SegmentMotion& motion, Want want, const RobustLoss& loss,
                                 SegmentResult& result) const {
  result.failure = motion.failure;
  if (!result.failure.empty()) return;
  result.contacts = motion.contacts;
  Eigen::Index count = 0;
  for (const LinearizedResidual& row : motion.rows) count += row.residual.size();
  result.residuals.resize(count);
  count = 0;
  for (const LinearizedResidual& row : motion.rows) {
    result.residuals.segment(count, row.residual.size()) = row.residual;
    count += row.residual.size();
  }
  const SegmentRollout rollout{unknowns_, motion.segment, motion.inputs, *motion.simulator,
                               motion.trajectory};
  if (want == Want::jacobian) {
    result.jacobian = rollout_jacobian(rollout, motion.rows, method_);
  } else if (want == Want::gradient) {
    GradientHealth health;
    result.gradient = rollout_gradient(rollout, motion.rows, weights_of(motion, loss), health);
    for (const GradientWarning& warning : health.warnings)
      result.warnings.push_back(fmt::format("motion '{}': {}",
                                            experiment_.motions[at(motion.segment.motion)].name,
                                            warning_text(motion.inputs.scene.model, warning)));
  }
}

/// rho' of each residual; those of joints are 1.
std::vector<Eigen::VectorXd> MotionFit::weights_of(const SegmentMotion& motion,
                                                   const RobustLoss& loss) const {
  const auto& measurements = experiment_.motions[at(motion.segment.motion)].measurements;
  const std::vector<int>& measured = measurements_[at(motion.number)];
  std::vector<Eigen::VectorXd> weights;
  for (std::size_t i = 0; i < motion.rows.size(); ++i) {
    const Eigen::VectorXd& residual = motion.rows[i].residual;
    Eigen::VectorXd& weight = weights.emplace_back(Eigen::VectorXd::Ones(residual.size()));
    if (i >= measured.size()) continue;
    if (std::holds_alternative<SurfacePoints>(measurements[at(measured[i])].what)) {
      for (Eigen::Index k = 0; k < residual.size(); ++k) weight[k] = loss.slope(residual[k] * residual[k]);
    } else {
      weight.setConstant(loss.slope(residual.squaredNorm()));
    }
  }
  return weights;
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

MotionFit::Evaluation MotionFit::evaluate(const Eigen::VectorXd& x, Want want, const RobustLoss& loss,
                                          Memory* memory) const {
  if (want == Want::jacobian && method_ == JacobianMethod::differences) {
    Evaluation evaluation = evaluate(x, Want::residuals, loss, memory);
    if (evaluation.ok) add_differences(x, evaluation);
    return evaluation;
  }
  const int segments = static_cast<int>(unknowns_.segments().size());
  std::vector<SegmentResult> results(at(segments));
  std::vector<std::exception_ptr> errors(at(segments));
  const bool are_known = memory != nullptr && memory->x.size() == x.size() && memory->x == x;
  if (memory != nullptr && !are_known) {
    memory->x.resize(0);
    memory->segments.assign(at(segments), nullptr);
  }
  const auto prepared = are_known ? std::nullopt : unknowns_.prepare(x);
  std::atomic<int> next{0};
  const auto work = [&] {
    for (int s = next++; s < segments; s = next++) {
      try {
        const auto motion = are_known ? memory->segments[at(s)] : simulate(s, x, prepared);
        if (memory != nullptr) memory->segments[at(s)] = motion;
        evaluate_segment(*motion, want, loss, results[at(s)]);
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
  if (memory != nullptr && std::all_of(memory->segments.begin(), memory->segments.end(),
                                       [](const auto& motion) { return motion != nullptr; }))
    memory->x = x;

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
