#include "dynamics/rollout/adjoint.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "collision/manifold/contact_detector.h"
#include "dynamics/rollout/shape_change.h"
#include "engine/check.h"
#include "engine/control.h"
#include "engine/law_settings.h"

namespace abut {
namespace {

int largest_body(const StateTangent& tangent) {
  int largest = -1;
  double most = 0.0;
  for (std::size_t b = 0; b < tangent.pose.size(); ++b) {
    const double size = tangent.pose[b].squaredNorm() + tangent.twist[b].squaredNorm();
    if (!(size > most)) continue;
    most = size;
    largest = static_cast<int>(b);
  }
  return largest;
}

/// NaN, so that nobody takes it for a derivative.
std::vector<PrimitiveGradient> unknown_shape_gradient(const Body& body) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<PrimitiveGradient> gradient;
  for (const Primitive& primitive : body.shape.primitives) {
    PrimitiveGradient& of = gradient.emplace_back();
    of.parameters.fill(nan);
    of.values.assign(primitive.values.size(), nan);
    of.pose.setConstant(nan);
  }
  return gradient;
}

/// What follows from the sums over all steps: density, stiffness and the total shape gradient.
void complete(const Stepper& stepper, const GradientMask& mask, ModelGradient& gradient) {
  const Model& model = stepper.model();
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    BodyGradient& bar = gradient.bodies[b];
    const double k = body.material.stiffness;
    bar.stiffness = std::isfinite(k) ? -bar.compliance / (k * k) : 0.0;
    if (!body.fixed && body.volume > 0.0) {
      bar.density =
          (body.mass * bar.mass + body.inertia.cwiseProduct(bar.inertia).sum()) / (body.mass / body.volume);
    }
    if (!mask.shapes) continue;
    if (!stepper.detector().has_shape_derivatives()) {
      bar.shape = unknown_shape_gradient(body);
      continue;
    }
    stepper.detector().finish_geometry(static_cast<int>(b), bar.geometry);
    bar.shape = total_shape_gradient(body, stepper.detector().sdf(static_cast<int>(b)), bar.geometry);
  }
  for (std::size_t p = 0; p < model.pair_overrides.size(); ++p) {
    const double k = model.pair_overrides[p].stiffness;
    if (std::isfinite(k)) gradient.pairs[p].stiffness = -gradient.pairs[p].compliance / (k * k);
  }
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const double k = model.joints[j].stiffness, k_angular = model.joints[j].angular_stiffness;
    JointGradient& bar = gradient.joints[j];
    if (std::isfinite(k)) bar.stiffness = -bar.compliance / (k * k);
    if (std::isfinite(k_angular)) bar.angular_stiffness = -bar.angular_compliance / (k_angular * k_angular);
  }
  for (std::size_t c = 0; c < model.couplings.size(); ++c) {
    const double k = model.couplings[c].stiffness;
    if (std::isfinite(k)) gradient.couplings[c].stiffness = -gradient.couplings[c].compliance / (k * k);
  }
}

}  // namespace

std::string warning_text(const Model& model, const GradientWarning& warning) {
  const std::string body =
      warning.body < 0
          ? std::string()
          : fmt::format(", body '{}'", model.bodies[static_cast<std::size_t>(warning.body)].name);
  switch (warning.kind) {
    case GradientWarning::Kind::chaos:
      return fmt::format(
          "back to step {}{} the adjoint grows {:.3g} times as much as in free motion: the motion is "
          "sensitive, and its "
          "gradient may hold in a small neighbourhood only",
          warning.step, body, warning.value);
    case GradientWarning::Kind::branch:
      return fmt::format(
          "step {}: friction is so strong there that the step may have several answers; the gradient is that "
          "of the one "
          "that was taken",
          warning.step);
  }
  return {};
}

AdjointSweep::AdjointSweep(const Stepper& stepper, int steps, const Controls& controls,
                           const LossGradient& loss, const AdjointOptions& options,
                           const ControlVjp* feedback)
    : stepper_(stepper),
      steps_(steps),
      controls_(controls),
      loss_(loss),
      options_(options),
      feedback_(feedback),
      growth_(stepper.model(), stepper.config().h),
      bar_(stepper.model().body_count()) {
  require(options.backward == nullptr || &options.backward->model() == &stepper.model(),
          "the backward pass needs a stepper of the same model");
  gradient_.model.set_zero(stepper.model());
  gradient_.controls.assign(static_cast<std::size_t>(steps), zero_control(stepper.model()));
  gradient_.health.has_shape_derivatives = stepper.detector().has_shape_derivatives();
  gradient_.health.smoother_backward = options.backward != nullptr;
  gradient_.health.adjoint_norm.assign(static_cast<std::size_t>(steps) + 1, 0.0);
  gradient_.health.kinks.resize(static_cast<std::size_t>(steps));
}

void AdjointSweep::add_loss(int k, const State& state) {
  before_ = bar_;
  loss_(k, state, bar_);
  gradient_.health.adjoint_norm[static_cast<std::size_t>(k)] = norm(bar_);
  growth_.add_loss(before_, bar_);
  note_growth(k);
}

void AdjointSweep::start(const State& last) { add_loss(steps_, last); }

void AdjointSweep::step_back(int k, const State& state, const State& next, const StepRecord& record) {
  static const Control no_control;
  const auto i = static_cast<std::size_t>(k);
  const Control& control = controls_.empty() ? no_control : controls_[i];
  const double norm_before = norm(bar_);
  Control& control_bar = gradient_.controls[i];
  const StepBar bar{
      &bar_, &before_, control_bar.wrenches, &gradient_.model, options_.mask, control_bar.commands};
  KinkCount kinks;
  if (options_.backward == nullptr) {
    kinks = stepper_.step_vjp(state, control, next, record, {&bar, 1}, scratch_);
  } else {
    options_.backward->step(state, control, backward_next_, scratch_, &backward_record_);
    kinks =
        options_.backward->step_vjp(state, control, backward_next_, backward_record_, {&bar, 1}, scratch_);
  }
  for (std::size_t b = 0; b < control_bar.wrenches.size(); ++b) {
    gradient_.model.bodies[b].external_wrench += control_bar.wrenches[b];
  }
  std::swap(bar_, before_);
  if (feedback_ != nullptr && *feedback_) (*feedback_)(k, state, control_bar, bar_);
  growth_.step_back();
  note(k, options_.backward == nullptr ? record : backward_record_, kinks, norm_before);
  add_loss(k, state);
}

void AdjointSweep::note(int k, const StepRecord& record, const KinkCount& kinks, double norm_before) {
  GradientHealth& health = gradient_.health;
  if (record.report.path >= SolutionPath::graduated_friction || record.report.has_negative_determinant ||
      kinks.has_negative_determinant) {
    ++health.steps_on_branches;
    health.warnings.push_back(
        {GradientWarning::Kind::branch, k, -1, static_cast<double>(record.report.path)});
  }
  if (record.report.warning(StepWarning::Kind::lost_restitution).is_given())
    ++health.steps_lacking_restitution;
  health.kinks[static_cast<std::size_t>(k)] = kinks;
  health.contacts += kinks.contacts;
  health.contacts_near_kink += kinks.near_kink;
  if (norm_before > 0.0) health.largest_growth = std::max(health.largest_growth, norm(bar_) / norm_before);
}

void AdjointSweep::note_growth(int k) {
  GradientHealth& health = gradient_.health;
  const double growth = growth_.of(bar_);
  const bool was_calm = !(health.growth_over_free > options_.chaos_warning);
  health.growth_over_free = std::max(health.growth_over_free, growth);
  if (was_calm && growth > options_.chaos_warning)
    health.warnings.push_back({GradientWarning::Kind::chaos, k, largest_body(bar_), growth});
}

Gradient AdjointSweep::finish() {
  gradient_.initial = std::move(bar_);
  complete(stepper_, options_.mask, gradient_.model);
  return std::move(gradient_);
}

Gradient adjoint(const Stepper& stepper, const Trajectory& trajectory, const LossGradient& loss,
                 const AdjointOptions& options, const ControlVjp& feedback) {
  if (!trajectory.ok()) {
    throw std::logic_error(fmt::format("step {} of the rollout ended '{}': it has no gradient",
                                       trajectory.failed_step, to_string(trajectory.failure.status)));
  }
  const int steps = trajectory.step_count();
  AdjointSweep sweep(stepper, steps, trajectory.controls, loss, options, &feedback);
  sweep.start(trajectory.states[static_cast<std::size_t>(steps)]);
  for (int k = steps; k-- > 0;) {
    const auto i = static_cast<std::size_t>(k);
    sweep.step_back(k, trajectory.states[i], trajectory.states[i + 1], trajectory.records[i]);
  }
  return sweep.finish();
}

StepConfig contacts_from_distance(const Model& model, const StepConfig& config, double distance) {
  require(std::isfinite(distance) && distance > 0.0, fmt::format("distance = {}, allowed: > 0", distance));
  double smallest = std::numeric_limits<double>::infinity();
  for (const Body& body : model.bodies) {
    if (std::isfinite(body.size)) smallest = std::min(smallest, body.size);
  }
  StepConfig soft = config;
  const double g = Stepper(model, config).acceleration_scale();
  // The target velocity -d/h changes by tau_v over `distance`; at d = 0 the impulse tau_v log(2)/R is that of
  // a weight, m g h.
  const double travel = distance / (g * config.h * config.h);
  soft.normal_smoothing_factor = std::max(config.normal_smoothing_factor, travel);
  soft.near_rigid_factor =
      std::max(config.near_rigid_factor,
               2.0 * std::numbers::pi * std::sqrt(std::numbers::ln2 * soft.normal_smoothing_factor));
  if (std::isfinite(smallest)) {
    soft.contact.activity_smoothing = std::max(config.contact.activity_smoothing, distance / smallest);
  }
  soft.adaptive_substeps = false;
  reset_ignored(!model.joints.empty(), soft);
  return soft;
}

}  // namespace abut
