#include "dynamics/tiled_rollouts.h"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "collision/fitting/parallel_chunks.h"
#include "collision/manifold/contact_detector.h"
#include "dynamics/batch_rollout.h"
#include "dynamics/parameters/scene_parameter_derivatives.h"
#include "engine/check.h"
#include "engine/control.h"
#include "engine/joint_geometry.h"

namespace abut {
namespace {

constexpr double k_no_number = std::numeric_limits<double>::quiet_NaN();

/// Scratches that were used before, for whichever thread asks next.
class ScratchPool {
 public:
  [[nodiscard]] std::unique_ptr<StepScratch> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<StepScratch>();
    std::unique_ptr<StepScratch> scratch = std::move(free_.back());
    free_.pop_back();
    return scratch;
  }
  void give_back(std::unique_ptr<StepScratch> scratch) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<StepScratch>> free_;
};

void require_inputs(const ParameterizedScene& scene, const TiledInputs& inputs) {
  const auto n = static_cast<std::size_t>(scene.scene().model.body_count());
  require(inputs.worlds >= 1, fmt::format("{} worlds, allowed: >= 1", inputs.worlds));
  require(inputs.steps >= 1, fmt::format("{} steps, allowed: >= 1", inputs.steps));
  require_rows(inputs.values, "values", inputs.worlds, scene.parameters().size());
  const auto require_steps = [&](const TiledRows& rows, int steps, std::string_view name, std::size_t width) {
    if (!rows.are_given()) return;
    require(steps == 1 || steps == inputs.steps,
            fmt::format("{}: {} steps of {}, allowed: 1, or all of them", name, steps, inputs.steps));
    require_rows(rows, name, inputs.worlds, at(steps) * width);
  };
  require_steps(inputs.controls, inputs.control_steps, "controls", n * 6);
  require_steps(inputs.commands, inputs.command_steps, "commands", motor_count(scene.scene().model));
  require_rows(inputs.position, "position", inputs.worlds, 3 * n);
  require_rows(inputs.orientation_wxyz, "orientation_wxyz", inputs.worlds, 4 * n);
  require_rows(inputs.linear_velocity, "linear_velocity", inputs.worlds, 3 * n);
  require_rows(inputs.angular_velocity, "angular_velocity", inputs.worlds, 3 * n);
  const std::size_t m = joints_with_coordinate(scene.scene().model).size();
  require_rows(inputs.joint_coordinate, "joint_coordinate", inputs.worlds, m);
  require_rows(inputs.joint_rate, "joint_rate", inputs.worlds, m);
  require(inputs.policy == nullptr || inputs.policy_parameters.are_given(),
          "a policy without its parameters");
  if (inputs.policy != nullptr)
    require_rows(inputs.policy_parameters, "policy parameters", inputs.worlds,
                 inputs.policy_parameters.numbers.size() / inputs.policy_parameters.rows);
  if (!inputs.has_initial()) return;
  for (const SceneParameter& parameter : scene.parameters()) {
    require(!parameter.is_initial_state(),
            fmt::format("the initial state is given twice: by arrays, and by '{}'", parameter.name));
  }
}

/// The numbers of a step.
std::span<const double> of_step(const TiledRows& rows, int steps, std::size_t world, std::size_t k) {
  if (!rows.are_given()) return {};
  const std::span<const double> numbers = rows.of_world(world);
  const std::size_t width = numbers.size() / at(steps);
  return numbers.subspan(steps == 1 ? 0 : k * width, width);
}

/// Adds the wrenches and commands of a world to those of the scene.
void add_controls(const TiledInputs& inputs, std::size_t world, Controls& controls) {
  if (!inputs.controls.are_given() && !inputs.commands.are_given()) return;
  controls.resize(at(inputs.steps));
  for (std::size_t k = 0; k < controls.size(); ++k) {
    controls[k] += control_of(of_step(inputs.controls, inputs.control_steps, world, k),
                              of_step(inputs.commands, inputs.command_steps, world, k));
  }
}

/// The scene of a world that has values of its own; none where they are those of the scene.
std::optional<Scene> changed_scene(const ParameterizedScene& scene, const TiledInputs& inputs,
                                   std::size_t world) {
  if (!inputs.values.are_given() || scene.parameters().empty()) return std::nullopt;
  const std::span<const double> values = inputs.values.of_world(world);
  for (std::size_t i = 0; i < values.size(); ++i) require_allowed(scene.parameters()[i], values[i]);
  return scene.with(values);
}

/// The initial state of a world of the scene.
State initial_state(const Scene& scene, const TiledInputs& inputs, std::size_t world) {
  const auto row = [&](const TiledRows& rows) {
    return rows.are_given() ? rows.of_world(world).data() : nullptr;
  };
  State initial = scene.initial;
  read_state(scene.model,
             {row(inputs.position), row(inputs.orientation_wxyz), row(inputs.linear_velocity),
              row(inputs.angular_velocity), row(inputs.joint_coordinate), row(inputs.joint_rate)},
             initial);
  return initial;
}

/// The rollout of a world, under a policy where there is one.
Trajectory recorded_rollout(const Stepper& stepper, const State& initial, int steps, Controls controls,
                            const Policy* policy, std::span<const double> parameters,
                            const StepObserver& observer, std::size_t tape_bytes) {
  if (policy == nullptr) return rollout(stepper, initial, steps, std::move(controls), observer, tape_bytes);
  const Control zero = zero_control(stepper.model());
  return feedback_rollout(
      stepper, initial, steps,
      [&](int k, const State& state, Control& control) {
        control = zero;
        policy->control(k, state, parameters, control);
        if (!controls.empty()) control += controls[at(k)];
      },
      observer, tape_bytes);
}

/// Writes the states of one world.
class WorldWriter {
 public:
  WorldWriter(TiledRollouts& rollouts, std::size_t world, const Model& model, double start, double h)
      : rollouts_(rollouts),
        model_(model),
        joints_(joints_with_coordinate(model).size()),
        motors_(motor_count(model)),
        first_(world * (at(rollouts.steps) + 1)),
        start_(start),
        h_(h) {}

  void write(int k, const State& state, int contacts) const {
    const std::size_t row = begin(k);
    write_state(model_, state, rollouts_.states.numbers().at_row(row, model_.bodies.size(), joints_));
    rollouts_.energy.data()[row] = mechanical_energy(model_, state);
    rollouts_.contacts.data()[row] = contacts;
    write_motor_forces(state, motors_, motor_force(row));
  }
  void write_nothing(int k) const {
    const std::size_t row = begin(k), n = model_.bodies.size();
    const StateNumbers<double> to = rollouts_.states.numbers().at_row(row, n, joints_);
    for (const std::span<double> array : to.arrays(n, joints_)) std::ranges::fill(array, k_no_number);
    rollouts_.energy.data()[row] = k_no_number;
    rollouts_.contacts.data()[row] = 0;
    std::fill_n(motor_force(row), motors_, k_no_number);
  }

 private:
  [[nodiscard]] double* motor_force(std::size_t row) const {
    return rollouts_.motor_force.data() + row * motors_;
  }
  [[nodiscard]] std::size_t begin(int k) const {
    const std::size_t row = first_ + at(k);
    rollouts_.time.data()[row] = start_ + k * h_;
    return row;
  }

  TiledRollouts& rollouts_;
  const Model& model_;
  std::size_t joints_, motors_;
  std::size_t first_;
  double start_, h_;
};

void run_world(const ParameterizedScene& scene, const TiledInputs& inputs, const TiledOptions& options,
               std::size_t index, ScratchPool& scratches, TiledRollouts& rollouts) {
  TiledRollouts::World& world = rollouts.world[index];
  const std::optional<Scene> changed = changed_scene(scene, inputs, index);
  const Scene& own = changed ? *changed : scene.scene();
  const State initial = initial_state(own, inputs, index);
  world.simulator = changed ? scene.simulator_of(own) : scene.simulator();
  if (inputs.values.are_given()) {
    const std::span<const double> values = inputs.values.of_world(index);
    world.values.assign(values.begin(), values.end());
  }
  if (inputs.orientation_wxyz.are_given()) {
    const std::span<const double> orientation = inputs.orientation_wxyz.of_world(index);
    world.orientation.assign(orientation.begin(), orientation.end());
  }
  if (inputs.policy != nullptr) {
    const std::span<const double> gains = inputs.policy_parameters.of_world(index);
    world.policy_parameters.assign(gains.begin(), gains.end());
  }
  const Model& model = world.simulator->model();
  Controls controls = controls_of(own, inputs.steps);
  add_controls(inputs, index, controls);
  const WorldWriter writer(rollouts, index, model, initial.time, own.config.step.h);
  writer.write(0, initial, 0);
  const auto observe = [&](int step, const State& state, const StepReport& report) {
    if (report.status != StepStatus::ok) return false;
    world.report = report;
    world.steps = step + 1;
    world.warnings.add(step, report);
    writer.write(step + 1, state, report.contacts);
    return true;
  };
  if (options.record || inputs.policy != nullptr) {
    Trajectory trajectory = recorded_rollout(world.simulator->stepper(), initial, inputs.steps,
                                             std::move(controls), inputs.policy, world.policy_parameters,
                                             observe, options.record ? options.tape_bytes : 0);
    if (!trajectory.ok()) world.report = trajectory.failure;
    if (options.record) world.trajectory = std::move(trajectory);
  } else {
    std::unique_ptr<StepScratch> scratch = scratches.take();
    State end;
    world.report =
        simulate(world.simulator->stepper(), initial, inputs.steps, controls, end, *scratch, observe);
    scratches.give_back(std::move(scratch));
  }
  for (int k = world.steps + 1; k <= inputs.steps; ++k) writer.write_nothing(k);
}

/// Calls work(world) for each, and names the world in what it throws.
template <typename Work>
void for_each_world(int worlds, int threads, const Work& work) {
  for_each_chunk(worlds, batch_threads(threads), [&](int world) {
    try {
      work(at(world));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(worlds == 1 ? error.what()
                                              : fmt::format("world {}: {}", world, error.what()));
    }
  });
}

/// Whether every number of the arrays is 0; arrays that are not there have none.
bool is_zero(const StateNumbers<const double>& numbers, std::size_t bodies, std::size_t joints) {
  return std::ranges::all_of(numbers.arrays(bodies, joints), [](std::span<const double> array) {
    return std::ranges::all_of(array, [](double number) { return number == 0.0; });
  });
}

void differentiate_world(const ParameterizedScene& scene, const TiledRollouts& rollouts,
                         const StateNumbers<const double>& states_bar, const AdjointOptions& options,
                         std::size_t index, TiledGradients& gradients) {
  const TiledRollouts::World& world = rollouts.world[index];
  const Model& model = world.simulator->model();
  const std::vector<SceneParameter>& parameters = scene.parameters();
  const std::size_t n = model.bodies.size(), m = joints_with_coordinate(model).size(),
                    motors = motor_count(model), states = at(rollouts.steps) + 1,
                    wrenches = at(rollouts.steps) * n;
  double* const values = gradients.values.data() + index * parameters.size();
  double* const controls = gradients.controls.data() + index * wrenches * 6;
  double* const commands = gradients.commands.data() + index * at(rollouts.steps) * motors;
  double* const gains = gradients.policy_parameters.data() + index * world.policy_parameters.size();
  const StateNumbers<double> initial = gradients.initial.numbers().at_row(index, n, m);
  const StateNumbers<const double> bar = states_bar.at_row(index * states, n, m);
  if (!world.ok()) {
    // A loss that leaves the world out, as one over the worlds that ended well does, has a derivative: 0.
    const double number = is_zero(bar, n * states, m * states) ? 0.0 : k_no_number;
    std::fill_n(values, parameters.size(), number);
    std::fill_n(controls, wrenches * 6, number);
    std::fill_n(commands, at(rollouts.steps) * motors, number);
    std::fill_n(gains, world.policy_parameters.size(), number);
    for (const std::span<double> array : initial.arrays(n, m)) std::ranges::fill(array, number);
    return;
  }
  std::vector<Vec3<double>> p_BA_bar(n,
                                     Vec3<double>::Zero());  // of where the assets' frames are in the bodies
  const LossGradient loss = [&](int k, const State& state, StateTangent& state_bar) {
    write_state_vjp(model, state, bar.at_row(at(k), n, m), state_bar, p_BA_bar);
  };
  PolicyGradient of_policy;
  if (rollouts.policy == nullptr) {
    of_policy.gradient = world.simulator->gradient(world.trajectory, loss, options);
  } else {
    of_policy = world.simulator->closed_loop_gradient(world.trajectory, *rollouts.policy,
                                                      world.policy_parameters, loss, options);
    std::copy(of_policy.parameters.begin(), of_policy.parameters.end(), gains);
  }
  const Gradient& gradient = of_policy.gradient;
  for (int k = 0; k < rollouts.steps; ++k) {
    const Control& control = gradient.controls[at(k)];
    for (std::size_t b = 0; b < n; ++b)
      Eigen::Map<Vec6<double>>(controls + 6 * (at(k) * n + b)) = control.wrenches[b];
    std::ranges::copy(control.commands, commands + at(k) * motors);
  }
  const double* const orientation = world.orientation.empty() ? nullptr : world.orientation.data();
  const State& start = world.trajectory.states.front();
  read_state_vjp(model, start, orientation, gradient.initial, initial);
  gradients.health[index] = gradient.health;
  if (parameters.empty()) return;
  Scene changed = world.values.empty() ? scene.scene() : scene.with(world.values);
  changed.initial = start;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const SceneParameter& parameter = parameters[i];
    values[i] =
        is_differentiable_at(changed, parameter) ? derivative_by(changed, parameter, gradient) : k_no_number;
    if (parameter.kind == ParameterKind::center_of_mass)  // p_BA = -(centre of mass)
      values[i] -= p_BA_bar[at(parameter.body_A)][parameter.index];
  }
}

}  // namespace

void require_rows(const TiledRows& rows, std::string_view name, int worlds, std::size_t width) {
  if (!rows.are_given()) return;
  const auto count = static_cast<std::size_t>(worlds);
  require(rows.rows == 1 || rows.rows == count,
          fmt::format("{}: {} rows for {} worlds, allowed: 1, or one for each", name, rows.rows, worlds));
  require(rows.numbers.size() == rows.rows * width,
          fmt::format("{}: {} numbers in {} rows, expected {} a row", name, rows.numbers.size(), rows.rows,
                      width));
}

int TiledRollouts::first_failed() const {
  const auto found = std::find_if(world.begin(), world.end(), [](const World& one) { return !one.ok(); });
  return found == world.end() ? -1 : static_cast<int>(found - world.begin());
}

TiledRollouts tiled_rollouts(const ParameterizedScene& scene, const TiledInputs& inputs,
                             const TiledOptions& options) {
  require_inputs(scene, inputs);
  const auto worlds = static_cast<std::size_t>(inputs.worlds), states = at(inputs.steps) + 1,
             n = static_cast<std::size_t>(scene.scene().model.body_count());
  TiledRollouts rollouts;
  rollouts.worlds = inputs.worlds;
  rollouts.steps = inputs.steps;
  rollouts.states = StateArrays({worlds, states}, n, joints_with_coordinate(scene.scene().model).size());
  rollouts.time = SharedArray<double>({worlds, states});
  rollouts.energy = SharedArray<double>({worlds, states});
  rollouts.contacts = SharedArray<std::int64_t>({worlds, states});
  rollouts.motor_force = SharedArray<double>({worlds, states, motor_count(scene.scene().model)});
  rollouts.world.resize(worlds);
  rollouts.is_recorded = options.record;
  rollouts.policy = inputs.policy;
  ScratchPool scratches;
  for_each_world(inputs.worlds, options.threads,
                 [&](std::size_t world) { run_world(scene, inputs, options, world, scratches, rollouts); });
  return rollouts;
}

TiledGradients tiled_gradients(const ParameterizedScene& scene, const TiledRollouts& rollouts,
                               const StateNumbers<const double>& states_bar, int threads) {
  if (!rollouts.is_recorded) throw std::logic_error("rollouts that were not recorded have no gradient");
  const auto worlds = static_cast<std::size_t>(rollouts.worlds),
             n = static_cast<std::size_t>(scene.scene().model.body_count());
  require_known_derivatives(scene.scene(), scene.parameters());
  AdjointOptions options;
  options.mask.shapes =
      std::any_of(scene.parameters().begin(), scene.parameters().end(),
                  [](const SceneParameter& parameter) { return parameter.is_of_geometry(); });
  require(!options.mask.shapes || scene.simulator()->stepper().detector().has_shape_derivatives(),
          "derivatives by shapes and centres of mass need detector = \"manifold\"");
  TiledGradients gradients;
  gradients.values = SharedArray<double>({worlds, scene.parameters().size()});
  gradients.controls = SharedArray<double>({worlds, at(rollouts.steps), n, 6});
  gradients.commands = SharedArray<double>({worlds, at(rollouts.steps), motor_count(scene.scene().model)});
  gradients.policy_parameters = SharedArray<double>({worlds, rollouts.world[0].policy_parameters.size()});
  gradients.initial = StateArrays({worlds}, n, joints_with_coordinate(scene.scene().model).size());
  gradients.health.resize(worlds);
  for_each_world(rollouts.worlds, threads, [&](std::size_t world) {
    differentiate_world(scene, rollouts, states_bar, options, world, gradients);
  });
  return gradients;
}

}  // namespace abut
