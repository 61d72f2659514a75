#include "dynamics/gradient_check/gradient_check.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dynamics/gradient_check/gradient_inputs.h"
#include "dynamics/rows/joint_constraints.h"
#include "engine/check.h"
#include "engine/law_settings.h"
#include "engine/random.h"

namespace abut {

void validate(const GradientCheckConfig& config) {
  std::string wrong;
  if (config.steps < 1) wrong += fmt::format("; steps = {}, allowed: >= 1", config.steps);
  if (config.samples < 1) wrong += fmt::format("; samples = {}, allowed: >= 1", config.samples);
  if (config.components < 0) wrong += fmt::format("; components = {}, allowed: >= 0", config.components);
  if (!(config.tolerance > 0.0)) wrong += fmt::format("; tolerance = {}, allowed: > 0", config.tolerance);
  require(wrong.empty(), "gradient check" + wrong);
}

namespace {

// Losses ----------------------------------------------------------------------------------------------------

/// L = sum over times k and moving bodies of a weight times [log(R R_nominal^-1); (p - p_nominal)/size;
/// twist/speed]. What is subtracted does not change the gradient, but keeps differences of L from losing
/// digits.
class RandomLoss {
 public:
  RandomLoss(const Trajectory& nominal, const InputGroups& inputs, Random& random) : nominal_(nominal) {
    const int steps = nominal.step_count();
    for (const int k : std::set<int>{steps, 2 * steps / 3, steps / 3}) {
      if (k == 0) continue;
      const double importance = k == steps ? 1.0 : 0.5;
      for (const std::size_t b : inputs.moving) {
        Term term{k, b, {}, {}};
        const double v = inputs.speeds[b], length = inputs.lengths[b];
        for (Eigen::Index i = 0; i < 6; ++i) {
          term.pose[i] = importance * random.uniform(-1.0, 1.0) / (i < 3 ? 1.0 : length);
          term.twist[i] = importance * random.uniform(-1.0, 1.0) / (i < 3 ? v / length : v);
        }
        terms_.push_back(term);
      }
    }
  }

  [[nodiscard]] double value(int k, const State& state) const {
    double sum = 0.0;
    for (const Term& term : terms_) {
      if (term.step != k) continue;
      const State& from = nominal_.states[static_cast<std::size_t>(k)];
      sum += term.pose.dot(difference<double>(state.X_WB[term.body], from.X_WB[term.body]));
      sum += term.twist.dot(state.V_WB[term.body] - from.V_WB[term.body]);
    }
    return sum;
  }

  /// At the nominal states, where the Jacobian of log is the identity.
  void add_gradient(int k, StateTangent& bar) const {
    for (const Term& term : terms_) {
      if (term.step != k) continue;
      bar.pose[term.body] += term.pose;
      bar.twist[term.body] += term.twist;
    }
  }

 private:
  struct Term {
    int step;
    std::size_t body;
    Vec6<double> pose, twist;
  };
  const Trajectory& nominal_;
  std::vector<Term> terms_;
};

// Samples ---------------------------------------------------------------------------------------------------

/// The loss along a direction in a group, less that at its start. Notes why it has no value.
class LossAlong {
 public:
  LossAlong(const RolloutInputs& nominal, const StepConfig& config, int steps, const InputGroup& group,
            const std::vector<double>& direction, const RandomLoss& loss)
      : nominal_(nominal),
        config_(config),
        steps_(steps),
        group_(group),
        direction_(direction),
        loss_(loss) {}

  /// NaN if there are no such inputs or their rollout fails.
  [[nodiscard]] double operator()(double h) {
    std::vector<double> x = direction_;
    for (double& xi : x) xi *= h;
    try {
      RolloutInputs moved = nominal_;
      group_.move(moved, x);
      return after_rollout(moved, h);
    } catch (const std::invalid_argument& error) {
      reason_ = error.what();
    }
    return std::numeric_limits<double>::quiet_NaN();
  }

  [[nodiscard]] bool met_non_finite_state() const { return met_non_finite_state_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }  ///< of the last NaN; empty if none

 private:
  [[nodiscard]] double after_rollout(const RolloutInputs& inputs, double h) {
    const Stepper stepper(inputs.model, config_);
    double sum = 0.0;
    State end;
    const StepReport report = simulate(stepper, inputs.initial, steps_, inputs.controls, end,
                                       [&](int k, const State& state, const StepReport&) {
                                         sum += loss_.value(k + 1, state);
                                         return true;
                                       });
    if (report.status == StepStatus::ok) return sum;
    met_non_finite_state_ = met_non_finite_state_ || report.status == StepStatus::non_finite;
    reason_ = fmt::format("the rollout with a change of {:.1e} ends '{}'", h, to_string(report.status));
    return std::numeric_limits<double>::quiet_NaN();
  }

  const RolloutInputs& nominal_;
  const StepConfig& config_;
  int steps_;
  const InputGroup& group_;
  const std::vector<double>& direction_;
  const RandomLoss& loss_;
  bool met_non_finite_state_ = false;
  std::string reason_;
};

/// Where central differences do not converge, the adjoint may still be the derivative on one of the sides: of
/// a kink, or of a jump.
void compare_on_one_side(LossAlong& loss, double tolerance, GradientSample& sample) {
  for (const DifferenceSide side : {DifferenceSide::forward, DifferenceSide::backward}) {
    GradientSample one_sided = sample;
    one_sided.side = side;
    score_by_differences([&](double h) { return loss(h); }, one_sided, tolerance);
    if (one_sided.unresolved || !(one_sided.relative_error <= tolerance)) continue;
    sample = one_sided;
    sample.reason = fmt::format("differences {} alone converge: there is a kink or a jump", to_string(side));
    return;
  }
}

/// Scores by differences along a direction, and says what came of a bound.
void compare_along(const BoundedDirection& along, LossAlong& loss, double tolerance, GradientSample& sample) {
  const bool is_adjoint_finite = !sample.non_finite;
  sample.side = along.side;
  score_by_differences([&](double h) { return loss(h); }, sample, tolerance);
  if (sample.side != DifferenceSide::both) sample.reason = along.bound.empty() ? loss.reason() : along.bound;
  if (!std::isfinite(sample.difference)) sample.reason = loss.reason();
  if (sample.unresolved && sample.side == DifferenceSide::both) compare_on_one_side(loss, tolerance, sample);
  // A difference that does not exist is unresolved, not infinite.
  sample.non_finite = !is_adjoint_finite || loss.met_non_finite_state();
  if (sample.non_finite || !sample.unresolved || along.bound.empty()) return;
  sample.at_bound = true;
  sample.unresolved = false;
}

/// A rollout whose gradient is checked.
struct NominalMotion {
  const RolloutInputs& inputs;
  const Stepper& stepper;
  const Trajectory& trajectory;
  const InputGroups& groups;
};

/// What a sample is along: a random direction in a group, or one component of it.
struct SampleInput {
  std::size_t group;
  const StateComponent* component = nullptr;
};

struct ComparedSample {
  GradientSample sample;
  bool has_kinks = false;  ///< says the gradient's health
};

ComparedSample check_sample(const NominalMotion& motion, const SampleInput& input, Random random,
                            double tolerance, const GradientFunction& gradient_function) {
  const RandomLoss loss(motion.trajectory, motion.groups, random);
  const Gradient gradient =
      gradient_function(motion.stepper, motion.trajectory,
                        [&](int k, const State&, StateTangent& bar) { loss.add_gradient(k, bar); });

  GradientSample sample;
  BoundedDirection along;
  const std::vector<InputGroup>& groups = motion.groups.groups;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<double> x = groups[g].scale;
    for (double& xi : x) xi *= random.uniform(-1.0, 1.0);
    if (g == input.group) {
      if (input.component != nullptr) {
        std::fill(x.begin(), x.end(), 0.0);
        x[input.component->entry] = groups[g].scale[input.component->entry];
        sample.component = input.component->name;
      }
      along = within_bounds(groups[g], x);
    }
    const double derivative = groups[g].derivative(gradient, g == input.group ? along.x : x);
    if (!std::isfinite(derivative)) sample.non_finite = true;
    sample.largest = std::max(sample.largest, std::abs(derivative));
    if (g != input.group) continue;
    sample.group = groups[g].name;
    sample.adjoint = derivative;
  }
  LossAlong loss_along(motion.inputs, motion.stepper.config(), motion.trajectory.step_count(),
                       groups[input.group], along.x, loss);
  compare_along(along, loss_along, tolerance, sample);
  return {std::move(sample), gradient.health.contacts_near_kink > 0};
}

/// The initial state with random changes of poses and twists that are small, but large against most steps of
/// differences.
State nearby_state(const State& initial, const InputGroups& groups, Random& random) {
  constexpr double k_change = 1e-4;  // of what a large change is
  State state = initial;
  const auto six_random = [&] {
    Vec6<double> x;
    for (double& xi : x) xi = k_change * random.uniform(-1.0, 1.0);
    return x;
  };
  for (const std::size_t b : groups.moving) {
    const double length = groups.lengths[b], speed = groups.speeds[b];
    Vec6<double> pose = six_random(), twist = six_random();
    pose.tail<3>() *= length;
    twist.head<3>() *= speed / length;
    twist.tail<3>() *= speed;
    state.X_WB[b] = retract<double>(state.X_WB[b], pose);
    state.V_WB[b] += twist;
  }
  return state;
}

/// Of a sample that is off though its differences converge, with contacts at kinks: whether the same sample
/// is right for states nearby.
bool is_right_nearby(const NominalMotion& motion, const SampleInput& input, const Random& random,
                     double tolerance, const GradientFunction& gradient_function) {
  constexpr int k_states = 3;
  Random change = random;
  for (int i = 0; i < k_states; ++i) {
    RolloutInputs inputs = motion.inputs;
    inputs.initial = nearby_state(motion.inputs.initial, motion.groups, change);
    const Trajectory trajectory =
        rollout(motion.stepper, inputs.initial, motion.trajectory.step_count(), inputs.controls);
    if (!trajectory.ok()) continue;
    const InputGroups groups = input_groups(inputs, motion.stepper, motion.trajectory.step_count());
    const GradientSample sample = check_sample({inputs, motion.stepper, trajectory, groups}, input, random,
                                               tolerance, gradient_function)
                                      .sample;
    if (sample.unresolved || sample.non_finite || sample.at_bound) continue;
    return sample.relative_error <= tolerance;
  }
  return false;
}

/// How far the adjoint of a motion may be off that is solved to a tolerance, where the law reaches none
/// tighter: complementarity laws know which contacts slide to its square root. By measurement: up to 16
/// square roots of it under lcp, whose conditions of friction have the smallest products.
double resolution_of(double solver_tolerance) {
  constexpr double k_factor = 20.0;
  return solver_tolerance > k_gradient_check_tolerance ? k_factor * std::sqrt(solver_tolerance) : 0.0;
}

/// A sample; where it is off, with a second look at whether that is the adjoint's fault.
GradientSample judged_sample(const NominalMotion& motion, const SampleInput& input, const Random& random,
                             double tolerance, const GradientFunction& gradient_function) {
  auto [sample, has_kinks] = check_sample(motion, input, random, tolerance, gradient_function);
  if (sample.unresolved || sample.at_bound || sample.non_finite || sample.relative_error <= tolerance)
    return sample;
  const double solver_tolerance = motion.stepper.config().tolerance;
  if (sample.relative_error <= resolution_of(solver_tolerance)) {
    sample.unresolved = true;
    sample.reason = fmt::format("the law is solved to {:.1g} only", solver_tolerance);
  } else if (has_kinks && is_right_nearby(motion, input, random, tolerance, gradient_function)) {
    sample.at_bound = true;
    sample.reason = "contacts lie at kinks: with a small change of the state the adjoint is right";
  }
  return sample;
}

/// All components of the initial state, or `count` of them: a random choice, in their order.
std::vector<StateComponent> chosen_components(const NominalMotion& motion, int count, Random& random) {
  std::vector<StateComponent> all = state_components(motion.inputs.model, motion.groups), chosen;
  auto wanted = std::min(static_cast<std::size_t>(count), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {  // as many of those that are left as are still wanted
    const auto left = static_cast<double>(all.size() - i);
    if (!(random.uniform(0.0, left) < static_cast<double>(wanted))) continue;
    chosen.push_back(std::move(all[i]));
    --wanted;
  }
  return chosen;
}

/// Calls work(0), ..., work(count - 1) on all cores; the first exception is passed on.
template <typename Work>
void in_parallel(int count, const Work& work) {
  std::atomic<int> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto run = [&] {
    for (int i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!error) error = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    const int helpers =
        std::min(count, std::max(1, static_cast<int>(std::thread::hardware_concurrency()))) - 1;
    threads.reserve(static_cast<std::size_t>(helpers));
    for (int i = 0; i < helpers; ++i) threads.emplace_back(run);
    run();
  }
  if (error) std::rethrow_exception(error);
}

/// The model with what defaults to a function of it made explicit, and the settings likewise.
RolloutInputs explicit_inputs(const Model& model, const State& initial, const Controls& controls,
                              StepConfig& step) {
  RolloutInputs nominal{model, initial, controls};
  const Stepper defaults(model, step);
  step.acceleration_scale = defaults.acceleration_scale();
  for (Body& body : nominal.model.bodies) {
    double& time = body.material.dissipation_time;
    const bool is_honoured = setting_use("dissipation_time", step.law) == SettingUse::honoured;
    if (time < 0.0 && is_honoured) time = defaults.default_dissipation_time();
  }
  for (Joint& joint : nominal.model.joints) {
    if (joint.dissipation_time < 0.0)
      joint.dissipation_time = defaults.joint_settings().default_dissipation_time;
  }
  for (Coupling& coupling : nominal.model.couplings) {
    if (coupling.dissipation_time < 0.0)
      coupling.dissipation_time = defaults.joint_settings().default_dissipation_time;
  }
  return nominal;
}

}  // namespace

double reachable_tolerance(const Model& model, const StepConfig& config, const State& initial, int steps,
                           const Controls& controls) {
  constexpr double k_ratio = 10.0;
  StepConfig tight = config;
  tight.tolerance = std::min(config.tolerance, k_gradient_check_tolerance);
  const double tightest = tight.tolerance;
  for (; tight.tolerance < config.tolerance; tight.tolerance *= k_ratio) {
    State end;
    const StepReport report = simulate(Stepper(model, tight), initial, steps, controls, end);
    if (report.status == StepStatus::not_converged) continue;
    // Inputs nearby have to reach it as well: keep away from where they may not.
    return tight.tolerance == tightest ? tightest : std::min(k_ratio * tight.tolerance, config.tolerance);
  }
  return config.tolerance;
}

GradientCheck check_gradient(const Model& model, const StepConfig& step_config, const State& initial,
                             const GradientCheckConfig& config, const GradientCheckProgress& progress,
                             const GradientFunction& gradient) {
  validate(config);
  StepConfig step = step_config;
  const RolloutInputs nominal = explicit_inputs(model, initial, config.controls, step);
  GradientCheck check;
  step.tolerance = check.solver_tolerance =
      reachable_tolerance(nominal.model, step, initial, config.steps, nominal.controls);
  const Stepper stepper(nominal.model, step);
  const Trajectory trajectory = rollout(stepper, nominal.initial, config.steps, nominal.controls);
  if (!trajectory.ok()) {
    check.failed_step = trajectory.failed_step;
    check.failure = trajectory.failure;
    return check;
  }
  const InputGroups groups = input_groups(nominal, stepper, config.steps);
  const NominalMotion motion{nominal, stepper, trajectory, groups};
  Random seeds(config.seed);
  std::vector<Random> random;
  std::vector<SampleInput> inputs;
  for (int i = 0; i < config.samples; ++i) {
    random.emplace_back(seeds.bits());
    inputs.push_back({static_cast<std::size_t>(i) % groups.groups.size()});
  }
  const std::vector<StateComponent> components = chosen_components(motion, config.components, seeds);
  for (const StateComponent& component : components) {
    random.emplace_back(seeds.bits());
    inputs.push_back({component.group, &component});
  }
  check.samples.resize(inputs.size());
  std::mutex mutex;
  const int count = static_cast<int>(inputs.size());
  int done = 0;
  in_parallel(count, [&](int i) {
    const auto k = static_cast<std::size_t>(i);
    check.samples[k] = judged_sample(motion, inputs[k], random[k], config.tolerance, gradient);
    const std::scoped_lock lock(mutex);
    ++done;
    if (progress) progress(done, count);
  });
  check.summary = summarize(check.samples, config.tolerance);
  check.verdict = verdict_of(check.summary, config.tolerance);
  return check;
}

}  // namespace abut
