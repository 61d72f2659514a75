#include "apps/identification/rollout_jacobian.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "engine/control.h"

namespace abut {
namespace {

using LinearizedRows = LinearizedResidual::Rows;

std::vector<int> entries_of(const SegmentRollout& rollout) {
  std::vector<int> entries;
  for (int e = 0; e < rollout.unknowns.tangent_size(); ++e) {
    if (rollout.unknowns.concerns(e, rollout.segment)) entries.push_back(e);
  }
  return entries;
}

/// How the state changes with every unknown, carried through one step after another.
class TangentSweep {
 public:
  explicit TangentSweep(const SegmentRollout& rollout)
      : rollout_(rollout),
        entries_(entries_of(rollout)),
        no_change_(rollout.simulator.model().bodies.size()),
        changes_(entries_.size()),
        wrenches_(entries_.size(), std::vector<Vec6<double>>(no_change_.size())),
        tangents_(entries_.size()),
        next_(entries_.size()),
        steps_(entries_.size()),
        shapes_(rollout.unknowns.shape_gradients(rollout.inputs, rollout.simulator.stepper())) {
    const Model& model = rollout.simulator.model();
    std::vector<bool> moves(model.bodies.size());
    for (std::size_t b = 0; b < moves.size(); ++b) moves[b] = !model.bodies[b].fixed;
    for (std::size_t c = 0; c < entries_.size(); ++c) {
      tangents_[c] = rollout.unknowns.initial_direction(entries_[c], rollout.inputs);
      for (std::size_t b = 0; b < moves.size(); ++b)
        moves[b] = moves[b] || !tangents_[c].pose[b].isZero(0.0) || !tangents_[c].twist[b].isZero(0.0);
      if (!rollout.unknowns.is_initial(entries_[c])) parameters_.push_back(c);
      if (rollout.unknowns.has_direction(entries_[c])) {
        changes_[c] = rollout.unknowns.direction(entries_[c], rollout.segment, rollout.inputs);
      } else {
        // Joints and couplings act in every step; shapes, centres of mass and pairs only where bodies touch.
        const SceneParameter& parameter =
            rollout.unknowns.unknown_of(rollout.unknowns.variable_of(entries_[c]))->parameter;
        const bool acts_always = parameter.is_of_joint() || parameter.is_of_coupling();
        reverse_pass_ = std::max(reverse_pass_, acts_always ? ReversePass::always : ReversePass::in_contact);
      }
      steps_[c].gravity = changes_[c].gravity;
      steps_[c].bodies = changes_[c].bodies.empty() ? no_change_ : changes_[c].bodies;
    }
    for (std::size_t b = 0; b < moves.size(); ++b) {
      if (moves[b]) moving_.push_back(b);
    }
  }

  [[nodiscard]] const std::vector<int>& entries() const { return entries_; }
  /// Of the state reached, by each of entries().
  [[nodiscard]] const std::vector<StateTangent>& tangents() const { return tangents_; }

  void advance(int step) {
    if (needs_reverse_pass(rollout_.trajectory.records[at(step)])) {
      advance_backward(step);
    } else {
      advance_forward(step);
    }
    std::swap(tangents_, next_);
  }

 private:
  /// Steps that depend on a parameter without a RolloutDirection.
  enum class ReversePass { never, in_contact, always };

  /// Whether the tangent of a step is only known by its reverse pass.
  [[nodiscard]] bool needs_reverse_pass(const StepRecord& record) const {
    if (!rollout_.simulator.stepper().has_jvp()) return true;
    if (reverse_pass_ != ReversePass::in_contact) return reverse_pass_ == ReversePass::always;
    return std::any_of(record.substeps.begin(), record.substeps.end(),
                       [](const SubstepRecord& substep) { return !substep.features.empty(); });
  }

  void advance_forward(int step) {
    for (std::size_t c = 0; c < steps_.size(); ++c) {
      const RolloutDirection& change = changes_[c];
      const Control* const control = change.controls.empty() ? nullptr : &change.controls[at(step)];
      for (std::size_t b = 0; b < no_change_.size(); ++b) {
        wrenches_[c][b] = steps_[c].bodies[b].external_wrench;
        if (control != nullptr && !control->wrenches.empty()) wrenches_[c][b] += control->wrenches[b];
      }
      steps_[c].wrench = wrenches_[c];
      steps_[c].command =
          control != nullptr ? std::span<const double>(control->commands) : std::span<const double>();
      steps_[c].state = &tangents_[c];
      steps_[c].next = &next_[c];
    }
    const Trajectory& trajectory = rollout_.trajectory;
    rollout_.simulator.stepper().step_jvp(trajectory.states[at(step)], control_of(step),
                                          trajectory.states[at(step) + 1], trajectory.records[at(step)],
                                          steps_, scratch_);
  }

  /// A row of the step's derivative at a time: that of one number of the state after it.
  void advance_backward(int step) {
    const Model& model = rollout_.simulator.model();
    rows_.resize(12 * moving_.size());
    bars_.resize(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      Row& row = rows_[i];
      row.next.set_zero(model.body_count());
      Vec6<double>& half = i % 12 < 6 ? row.next.pose[moving_[i / 12]] : row.next.twist[moving_[i / 12]];
      half[static_cast<Eigen::Index>(i % 6)] = 1.0;
      row.control = zero_control(model);
      row.gradient.initial.set_zero(model.body_count());
      row.gradient.model.set_zero(model);
      bars_[i] = {&row.next,           &row.before, row.control.wrenches,
                  &row.gradient.model, {},          row.control.commands};
    }
    const Trajectory& trajectory = rollout_.trajectory;
    rollout_.simulator.stepper().step_vjp(trajectory.states[at(step)], control_of(step),
                                          trajectory.states[at(step) + 1], trajectory.records[at(step)],
                                          bars_, scratch_);
    for (StateTangent& next : next_) next.set_zero(model.body_count());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto number = [&](StateTangent& of) -> double& {
        Vec6<double>& half = i % 12 < 6 ? of.pose[moving_[i / 12]] : of.twist[moving_[i / 12]];
        return half[static_cast<Eigen::Index>(i % 6)];
      };
      for (std::size_t c = 0; c < entries_.size(); ++c) {
        double& out = number(next_[c]);
        for (const std::size_t b : moving_) {
          out += rows_[i].before.pose[b].dot(tangents_[c].pose[b]) +
                 rows_[i].before.twist[b].dot(tangents_[c].twist[b]);
        }
      }
      add_parameters(step, rows_[i], number);
    }
  }

  struct Row {
    StateTangent next, before;
    Control control;
    Gradient gradient;
  };

  /// What the unknowns do in this very step.
  template <typename Number>
  void add_parameters(int step, Row& row, const Number& number) {
    const UnknownSpace& unknowns = rollout_.unknowns;
    bool is_complete = false;
    for (const std::size_t c : parameters_) {
      const Variable& variable = unknowns.variable_of(entries_[c]);
      const Unknown& unknown = *unknowns.unknown_of(variable);
      if (unknown.kind == Unknown::Kind::control) {
        if (unknowns.acts(variable, rollout_.segment, step))
          number(next_[c]) += number_in(row.control, unknown);
        continue;
      }
      if (!is_complete) {
        complete(row);
        is_complete = true;
      }
      number(next_[c]) += unknowns.derivative(entries_[c], rollout_.segment, rollout_.inputs, row.gradient);
    }
  }

  void complete(Row& row) {
    const ContactDetector& detector = rollout_.simulator.stepper().detector();
    for (std::size_t b = 0; b < row.control.wrenches.size(); ++b) {
      BodyGradient& body = row.gradient.model.bodies[b];
      body.external_wrench += row.control.wrenches[b];
      detector.finish_geometry(static_cast<int>(b), body.geometry);
    }
    UnknownSpace::complete_shapes(shapes_, row.gradient);
  }

  [[nodiscard]] const Control& control_of(int step) const {
    static const Control none;
    const Controls& controls = rollout_.trajectory.controls;
    return controls.empty() ? none : controls[at(step)];
  }

  const SegmentRollout& rollout_;
  std::vector<int> entries_;
  std::vector<std::size_t> moving_;      // bodies, also fixed ones that start elsewhere
  std::vector<std::size_t> parameters_;  // of entries_: what acts in every step
  ReversePass reverse_pass_ = ReversePass::never;
  std::vector<BodyDirection> no_change_;
  std::vector<RolloutDirection> changes_;  // of each entry, as far as steps know them forward
  std::vector<std::vector<Vec6<double>>> wrenches_;
  std::vector<StateTangent> tangents_, next_;
  std::vector<StepDirection> steps_;
  std::vector<Row> rows_;
  std::vector<StepBar> bars_;
  UnknownSpace::ShapeGradients shapes_;
  StepScratch scratch_;
};

void forward_jacobian(const SegmentRollout& rollout, const std::vector<LinearizedResidual>& rows,
                      Eigen::MatrixXd& jacobian) {
  struct Use {
    Eigen::Index begin;
    const LinearizedResidual::OfState* of;
  };
  std::vector<Use> uses;
  Eigen::Index begin = 0;
  for (const LinearizedResidual& row : rows) {
    for (const auto& of : row.states) uses.push_back({begin, &of});
    begin += row.residual.size();
  }
  std::stable_sort(uses.begin(), uses.end(),
                   [](const Use& a, const Use& b) { return a.of->step < b.of->step; });
  TangentSweep sweep(rollout);
  int step = 0;
  for (const Use& use : uses) {
    for (; step < use.of->step; ++step) sweep.advance(step);
    for (std::size_t c = 0; c < sweep.entries().size(); ++c) {
      const StateTangent& tangent = sweep.tangents()[c];
      const auto add = [&](const LinearizedRows& by, const Vec6<double>& change) {
        if (by.rows() > 0) jacobian.col(sweep.entries()[c]).segment(use.begin, by.rows()) += by * change;
      };
      add(use.of->by_pose, tangent.pose[at(use.of->body)]);
      add(use.of->by_twist, tangent.twist[at(use.of->body)]);
    }
  }
}

void adjoint_jacobian(const SegmentRollout& rollout, const std::vector<LinearizedResidual>& rows,
                      Eigen::MatrixXd& jacobian) {
  const std::vector<int> entries = entries_of(rollout);
  auto shapes = rollout.unknowns.shape_gradients(rollout.inputs, rollout.simulator.stepper());
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
      UnknownSpace::complete_shapes(shapes, gradient);
      for (const int e : entries)
        jacobian(begin, e) = rollout.unknowns.derivative(e, rollout.segment, rollout.inputs, gradient);
    }
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

  const InterpolatedState between = interpolate(earlier, later, share);
  std::vector<const ShapeSdf*> sdfs;
  for (int b = 0; b < model.body_count(); ++b) sdfs.push_back(&simulator.stepper().detector().sdf(b));
  MeasurementResidual at_time = measurement_residual(model, sdfs, measurement, between.state);
  LinearizedResidual out;
  out.residual = std::move(at_time.residual);
  out.geometry = std::move(at_time.geometry);
  for (const MeasurementResidual::OfBody& of : at_time.bodies) {
    const InterpolatedPose& pose = between.poses[at(of.body)];
    const auto add = [&](int k, const Mat6<double>& by, double weight) {
      LinearizedResidual::OfState state{k, of.body, LinearizedRows(0, 6), LinearizedRows(0, 6)};
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
  auto shapes = rollout.unknowns.shape_gradients(rollout.inputs, rollout.simulator.stepper());
  UnknownSpace::complete_shapes(shapes, of_rollout);
  for (const int e : entries_of(rollout))
    gradient[e] += rollout.unknowns.derivative(e, rollout.segment, rollout.inputs, of_rollout);
  for_each_geometry_dependence(rollout, rows, [&](std::size_t, Eigen::Index row, int e, double change) {
    gradient[e] += weighted[row] * change;
  });
  return gradient;
}

}  // namespace abut
