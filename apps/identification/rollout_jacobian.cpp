#include "apps/identification/rollout_jacobian.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rollout_jvp.h"
#include "engine/check.h"

namespace abut {
namespace {

using Rows = LinearizedResidual::Rows;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::vector<int> entries_of(const SegmentRollout& rollout) {
  std::vector<int> entries;
  for (int e = 0; e < rollout.unknowns.tangent_size(); ++e) {
    if (rollout.unknowns.concerns(e, rollout.segment)) entries.push_back(e);
  }
  return entries;
}

/// d(residuals) along tangents of all states.
void add_changes(const std::vector<LinearizedResidual>& rows, const StateTangents& tangents,
                 Eigen::Ref<Eigen::VectorXd> column) {
  Eigen::Index begin = 0;
  for (const LinearizedResidual& row : rows) {
    const Eigen::Index count = row.residual.size();
    for (const auto& of : row.states) {
      const StateTangent& tangent = tangents[at(of.step)];
      if (of.by_pose.rows() > 0) column.segment(begin, count) += of.by_pose * tangent.pose[at(of.body)];
      if (of.by_twist.rows() > 0) column.segment(begin, count) += of.by_twist * tangent.twist[at(of.body)];
    }
    begin += count;
  }
}

void forward_jacobian(const SegmentRollout& rollout, const std::vector<LinearizedResidual>& rows,
                      Eigen::MatrixXd& jacobian) {
  for (const int e : entries_of(rollout)) {
    require(rollout.unknowns.has_direction(e),
            fmt::format("'{}' has derivatives backwards only", rollout.unknowns.name(e)));
    const RolloutDirection direction = rollout.unknowns.direction(e, rollout.segment, rollout.inputs);
    StateTangents tangents{direction.initial};
    if (rollout.trajectory.step_count() > 0)
      tangents = rollout_jvp(rollout.simulator.stepper(), rollout.trajectory, direction);
    add_changes(rows, tangents, jacobian.col(e));
  }
}

void adjoint_jacobian(const SegmentRollout& rollout, const std::vector<LinearizedResidual>& rows,
                      Eigen::MatrixXd& jacobian) {
  const std::vector<int> entries = entries_of(rollout);
  Eigen::Index begin = 0;
  for (const LinearizedResidual& row : rows) {
    for (Eigen::Index i = 0; i < row.residual.size(); ++i, ++begin) {
      Gradient gradient =
          rollout.simulator.gradient(rollout.trajectory, [&](int k, const State&, StateTangent& bar) {
            for (const auto& of : row.states) {
              if (of.step != k) continue;
              if (of.by_pose.rows() > 0) bar.pose[at(of.body)] += of.by_pose.row(i).transpose();
              if (of.by_twist.rows() > 0) bar.twist[at(of.body)] += of.by_twist.row(i).transpose();
            }
          });
      rollout.unknowns.complete_shapes(rollout.inputs, rollout.simulator.stepper(), gradient);
      for (const int e : entries)
        jacobian(begin, e) = rollout.unknowns.derivative(e, rollout.segment, rollout.inputs, gradient);
    }
  }
}

/// The derivatives of one step after another by the unknowns, S_k+1 = A_k S_k + B_k.
class Transitions {
 public:
  explicit Transitions(const SegmentRollout& rollout) : rollout_(rollout), entries_(entries_of(rollout)) {
    const Model& model = rollout.simulator.model();
    for (int b = 0; b < model.body_count(); ++b) {
      if (!model.bodies[at(b)].fixed) moving_.push_back(b);
    }
    for (std::size_t c = 0; c < entries_.size(); ++c) {
      if (!rollout.unknowns.is_initial(entries_[c])) parameters_.push_back(c);
    }
    gradient_.initial.set_zero(model.body_count());
    state_.resize(12 * static_cast<Eigen::Index>(moving_.size()), static_cast<Eigen::Index>(entries_.size()));
    for (std::size_t c = 0; c < entries_.size(); ++c) {
      const StateTangent start = rollout.unknowns.initial_direction(entries_[c], rollout.inputs);
      for (std::size_t m = 0; m < moving_.size(); ++m) {
        const std::size_t b = at(moving_[m]);
        const auto i = static_cast<Eigen::Index>(12 * m), j = static_cast<Eigen::Index>(c);
        state_.col(j).segment<6>(i) = start.pose[b];
        state_.col(j).segment<6>(i + 6) = start.twist[b];
      }
    }
  }

  [[nodiscard]] const std::vector<int>& entries() const { return entries_; }
  /// d(state of the step reached) (12 of each moving body, entries).
  [[nodiscard]] const Eigen::MatrixXd& state() const { return state_; }
  /// Where a body stands in it; -1 for a fixed one.
  [[nodiscard]] Eigen::Index place(int body) const {
    const auto found = std::find(moving_.begin(), moving_.end(), body);
    return found == moving_.end() ? -1 : 12 * (found - moving_.begin());
  }

  void advance(int step) {
    const Stepper& stepper = rollout_.simulator.stepper();
    const Trajectory& trajectory = rollout_.trajectory;
    const Model& model = stepper.model();
    const std::size_t k = at(step);
    static const Control no_control;
    const Control& control = trajectory.controls.empty() ? no_control : trajectory.controls[k];
    const Eigen::Index n = state_.rows();
    Eigen::MatrixXd by_state(n, n), by_parameters = Eigen::MatrixXd::Zero(n, state_.cols());
    StateTangent bar(model.body_count()), before(model.body_count());
    for (Eigen::Index i = 0; i < n; ++i) {
      const std::size_t b = at(moving_[static_cast<std::size_t>(i / 12)]);
      double& one = i % 12 < 6 ? bar.pose[b][i % 12] : bar.twist[b][i % 12 - 6];
      one = 1.0;
      gradient_.model.set_zero(model);
      std::vector<Vec6<double>> wrench_bar(model.bodies.size(), Vec6<double>::Zero());
      stepper.step_vjp(trajectory.states[k], control, trajectory.states[k + 1], trajectory.records[k], bar,
                       before, wrench_bar, gradient_.model, scratch_);
      one = 0.0;
      for (std::size_t m = 0; m < moving_.size(); ++m) {
        const std::size_t body = at(moving_[m]);
        const auto j = static_cast<Eigen::Index>(12 * m);
        by_state.row(i).segment<6>(j) = before.pose[body].transpose();
        by_state.row(i).segment<6>(j + 6) = before.twist[body].transpose();
      }
      by_parameters.row(i) = parameters_row(step, wrench_bar);
    }
    state_ = by_state * state_ + by_parameters;
  }

 private:
  /// d(what the bars are of)/d(entries) in one step, its state held fixed.
  [[nodiscard]] Eigen::RowVectorXd parameters_row(int step, const std::vector<Vec6<double>>& wrench_bar) {
    Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(state_.cols());
    const UnknownSpace& unknowns = rollout_.unknowns;
    bool is_complete = false;
    for (const std::size_t c : parameters_) {
      const Variable& variable = unknowns.variable_of(entries_[c]);
      const Unknown& unknown = *unknowns.unknown_of(variable);
      double& out = row[static_cast<Eigen::Index>(c)];
      if (unknown.kind == Unknown::Kind::control) {
        if (unknowns.acts(variable, rollout_.segment, step))
          out = wrench_bar[at(unknown.body)][unknown.component];
        continue;
      }
      if (!is_complete) {
        complete(wrench_bar);
        is_complete = true;
      }
      out = unknowns.derivative(entries_[c], rollout_.segment, rollout_.inputs, gradient_);
    }
    return row;
  }
  void complete(const std::vector<Vec6<double>>& wrench_bar) {
    const ContactDetector& detector = rollout_.simulator.stepper().detector();
    for (std::size_t b = 0; b < wrench_bar.size(); ++b) {
      BodyGradient& body = gradient_.model.bodies[b];
      body.external_wrench += wrench_bar[b];
      detector.finish_geometry(static_cast<int>(b), body.geometry);
    }
    rollout_.unknowns.complete_shapes(rollout_.inputs, rollout_.simulator.stepper(), gradient_);
  }

  const SegmentRollout& rollout_;
  std::vector<int> entries_, moving_;
  std::vector<std::size_t> parameters_;  // columns of what acts in every step
  Eigen::MatrixXd state_;
  Gradient gradient_;
  StepScratch scratch_;
};

void transition_jacobian(const SegmentRollout& rollout, const std::vector<LinearizedResidual>& rows,
                         Eigen::MatrixXd& jacobian) {
  struct Use {
    int step;
    Eigen::Index begin;
    const LinearizedResidual::OfState* of;
  };
  std::vector<Use> uses;
  Eigen::Index begin = 0;
  for (const LinearizedResidual& row : rows) {
    for (const auto& of : row.states) uses.push_back({of.step, begin, &of});
    begin += row.residual.size();
  }
  std::stable_sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.step < b.step; });

  Transitions transitions(rollout);
  int step = 0;
  for (const Use& use : uses) {
    for (; step < use.step; ++step) transitions.advance(step);
    const Eigen::Index place = transitions.place(use.of->body);
    if (place < 0) continue;
    const auto add = [&](const Rows& by, Eigen::Index from) {
      if (by.rows() == 0) return;
      const Eigen::MatrixXd change = by * transitions.state().middleRows<6>(from);
      for (std::size_t c = 0; c < transitions.entries().size(); ++c)
        jacobian.col(transitions.entries()[c]).segment(use.begin, by.rows()) +=
            change.col(static_cast<Eigen::Index>(c));
    };
    add(use.of->by_pose, place);
    add(use.of->by_twist, place + 6);
  }
}

/// What residuals depend on but through the motion.
template <typename Add>
void for_each_geometry_dependence(const SegmentRollout& rollout, const std::vector<LinearizedResidual>& rows,
                                  const Add& add) {
  const std::vector<int> entries = entries_of(rollout);
  Eigen::Index begin = 0;
  for (std::size_t m = 0; m < rows.size(); ++m) {
    for (const GeometryDependence& dependence : rows[m].geometry) {
      for (const int e : entries) {
        const double change = rollout.unknowns.derivative(e, rollout.inputs, dependence);
        if (change != 0.0) add(m, begin + dependence.row, e, change);
      }
    }
    begin += rows[m].residual.size();
  }
}

}  // namespace

const char* to_string(JacobianMethod method) {
  switch (method) {
    case JacobianMethod::forward:
      return "forward";
    case JacobianMethod::transition:
      return "transition";
    case JacobianMethod::adjoint:
      return "adjoint";
    case JacobianMethod::differences:
      return "differences";
  }
  return "unknown";
}

LinearizedResidual linearize(const Simulator& simulator, const Measurement& measurement,
                             const std::vector<State>& states) {
  const Model& model = simulator.model();
  const int steps = static_cast<int>(states.size()) - 1;
  const Moment moment =
      moment_of(measurement.time, states.front().time, simulator.stepper().config().h, steps);
  const double share = moment.share;
  const State &earlier = states[at(moment.earlier)], &later = states[at(moment.later)];

  std::vector<Pose<double>> X_WB = earlier.X_WB;
  std::vector<Vec6<double>> V_WB = earlier.V_WB;
  std::vector<InterpolatedPose> between(X_WB.size());
  std::vector<const ShapeSdf*> sdfs;
  for (std::size_t b = 0; b < X_WB.size(); ++b) {
    sdfs.push_back(&simulator.stepper().detector().sdf(static_cast<int>(b)));
    between[b] = interpolate(earlier.X_WB[b], later.X_WB[b], share);
    X_WB[b] = between[b].X_WB;
    V_WB[b] = (1.0 - share) * earlier.V_WB[b] + share * later.V_WB[b];
  }
  MeasurementResidual at_time = measurement_residual(model, sdfs, measurement, X_WB, V_WB);
  LinearizedResidual out;
  out.residual = std::move(at_time.residual);
  out.geometry = std::move(at_time.geometry);
  for (const MeasurementResidual::OfBody& of : at_time.bodies) {
    const InterpolatedPose& pose = between[at(of.body)];
    const auto add = [&](int k, const Mat6<double>& by, double weight) {
      LinearizedResidual::OfState state{k, of.body, Rows(0, 6), Rows(0, 6)};
      if (of.by_pose.rows() > 0) state.by_pose = of.by_pose * by;
      if (of.by_twist.rows() > 0) state.by_twist = weight * of.by_twist;
      out.states.push_back(std::move(state));
    };
    if (steps == 0) {
      add(0, Mat6<double>::Identity(), 1.0);
      continue;
    }
    add(moment.earlier, pose.by_earlier, 1.0 - share);
    add(moment.later, pose.by_later, share);
  }
  return out;
}

Eigen::MatrixXd rollout_jacobian(const SegmentRollout& rollout, const std::vector<LinearizedResidual>& rows,
                                 JacobianMethod method) {
  Eigen::Index count = 0;
  for (const LinearizedResidual& row : rows) count += row.residual.size();
  Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(count, rollout.unknowns.tangent_size());
  switch (method) {
    case JacobianMethod::forward:
      forward_jacobian(rollout, rows, jacobian);
      break;
    case JacobianMethod::transition:
      transition_jacobian(rollout, rows, jacobian);
      break;
    case JacobianMethod::adjoint:
      adjoint_jacobian(rollout, rows, jacobian);
      break;
    case JacobianMethod::differences:
      throw std::logic_error("differences are taken of whole evaluations");
  }
  for_each_geometry_dependence(rollout, rows, [&](std::size_t, Eigen::Index row, int e, double change) {
    jacobian(row, e) += change;
  });
  return jacobian;
}

Eigen::VectorXd rollout_gradient(const SegmentRollout& rollout, const std::vector<LinearizedResidual>& rows,
                                 const std::vector<Eigen::VectorXd>& weights, GradientHealth& health) {
  Eigen::VectorXd gradient = Eigen::VectorXd::Zero(rollout.unknowns.tangent_size());
  std::vector<StateTangent> bars(rollout.trajectory.states.size(),
                                 StateTangent(rollout.simulator.model().body_count()));
  Eigen::VectorXd weighted(0);
  for (std::size_t m = 0; m < rows.size(); ++m) {
    const Eigen::VectorXd bar = weights[m].cwiseProduct(rows[m].residual);
    for (const auto& of : rows[m].states) {
      StateTangent& state = bars[at(of.step)];
      if (of.by_pose.rows() > 0) state.pose[at(of.body)] += of.by_pose.transpose() * bar;
      if (of.by_twist.rows() > 0) state.twist[at(of.body)] += of.by_twist.transpose() * bar;
    }
    weighted.conservativeResize(weighted.size() + bar.size());
    weighted.tail(bar.size()) = bar;
  }
  Gradient of_rollout =
      rollout.simulator.gradient(rollout.trajectory, [&](int k, const State&, StateTangent& bar) {
        for (std::size_t b = 0; b < bar.pose.size(); ++b) {
          bar.pose[b] += bars[at(k)].pose[b];
          bar.twist[b] += bars[at(k)].twist[b];
        }
      });
  health = of_rollout.health;
  rollout.unknowns.complete_shapes(rollout.inputs, rollout.simulator.stepper(), of_rollout);
  for (const int e : entries_of(rollout))
    gradient[e] += rollout.unknowns.derivative(e, rollout.segment, rollout.inputs, of_rollout);
  for_each_geometry_dependence(rollout, rows, [&](std::size_t, Eigen::Index row, int e, double change) {
    gradient[e] += weighted[row] * change;
  });
  return gradient;
}

}  // namespace abut
