#include <stdexcept>
#include <string>

#include <pybind11/stl.h>
#include <spdlog/fmt/fmt.h>

#include "apps/abut/report.h"
#include "dynamics/rollout/position_feedback.h"
#include "python/bindings.h"
#include "python/warning_tuples.h"

namespace abut::python {
namespace {

/// Rollouts with what their gradients are computed from.
struct PythonRollouts {
  std::shared_ptr<const SceneSimulator> simulator;
  std::unique_ptr<const Policy> policy;  ///< null: none
  TiledRollouts rollouts;
};

std::shared_ptr<PythonRollouts> rollout(const std::shared_ptr<const SceneSimulator>& simulator, int worlds,
                                        int steps, const py::object& values, const py::object& controls,
                                        const py::object& commands, const std::array<py::object, 6>& initial,
                                        int threads, bool record, std::size_t tape_bytes,
                                        const py::object& feedback) {
  const RowsArgument of_values(values, "values"), of_controls(controls, "controls"),
      of_commands(commands, "commands");
  const StateArguments of_initial(initial);
  TiledInputs inputs;
  inputs.worlds = worlds;
  inputs.steps = steps;
  inputs.values = of_values.rows();
  inputs.controls = of_controls.rows();
  if (inputs.controls.are_given()) inputs.control_steps = static_cast<int>(of_controls.extent(1));
  inputs.commands = of_commands.rows();
  if (inputs.commands.are_given()) inputs.command_steps = static_cast<int>(of_commands.extent(1));
  inputs.position = of_initial.position.rows();
  inputs.orientation_wxyz = of_initial.orientation_wxyz.rows();
  inputs.linear_velocity = of_initial.linear_velocity.rows();
  inputs.angular_velocity = of_initial.angular_velocity.rows();
  inputs.joint_coordinate = of_initial.joint_coordinate.rows();
  inputs.joint_rate = of_initial.joint_rate.rows();
  std::unique_ptr<const Policy> policy;
  std::optional<RowsArgument> gains;
  if (!feedback.is_none()) {
    const auto [body, x, y, z, array] = feedback.cast<std::tuple<int, double, double, double, py::object>>();
    policy = std::make_unique<const Policy>(position_feedback(body, Vec3<double>(x, y, z)));
    gains.emplace(array, "gains");
    require_rows(gains->rows(), "gains", worlds, k_position_gains);
    inputs.policy = policy.get();
    inputs.policy_parameters = gains->rows();
  }
  const py::gil_scoped_release no_gil;
  TiledRollouts rollouts = tiled_rollouts(simulator->scene, inputs, {threads, record, tape_bytes});
  return std::make_shared<PythonRollouts>(PythonRollouts{simulator, std::move(policy), std::move(rollouts)});
}

void require_world(int world, int worlds) {
  if (world < 0 || world >= worlds) throw py::index_error(fmt::format("world {} of {}", world, worlds));
}

/// What became of a world that failed: (steps that ended well, status, sentence).
std::tuple<int, std::string, std::string> failure(const PythonRollouts& of, int world) {
  require_world(world, of.rollouts.worlds);
  const TiledRollouts::World& one = of.rollouts.world[at(world)];
  if (one.ok()) return {one.steps, to_string(one.report.status), ""};
  const Stepper& stepper = one.simulator->stepper();
  const double time = of.rollouts.time.data()[static_cast<std::size_t>(world) * (at(of.rollouts.steps) + 1)] +
                      (one.steps + 1) * stepper.config().h;
  return {one.steps, to_string(one.report.status),
          failure_text(one.simulator->model(), stepper.config(), time, one.report)};
}

/// The initial state of a world, as its arrays have it.
State initial_state(const PythonRollouts& of, int world) {
  const TiledRollouts& rollouts = of.rollouts;
  const Model& model = rollouts.world[at(world)].simulator->model();
  const std::size_t row = at(world) * (at(rollouts.steps) + 1);
  const StateNumbers<double> numbers =
      rollouts.states.numbers().at_row(row, model.bodies.size(), of.simulator->joint_count());
  State state = of.simulator->scene.scene().initial;
  read_state(model,
             {numbers.position, numbers.orientation_wxyz, numbers.linear_velocity, numbers.angular_velocity,
              numbers.joint_coordinate},
             state);
  state.time = rollouts.time.data()[row];
  return state;
}

std::vector<WarningTuple> warnings(const PythonRollouts& of) {
  const py::gil_scoped_release no_gil;
  std::vector<WarningTuple> found;
  StartWarnings start;
  State checked;  // the state that `start` is about, of the simulator before
  for (int world = 0; world < of.rollouts.worlds; ++world) {
    const TiledRollouts::World& one = of.rollouts.world[at(world)];
    State initial = initial_state(of, world);
    const bool is_same = world > 0 && one.simulator == of.rollouts.world[at(world) - 1].simulator &&
                         state_hash(initial) == state_hash(checked);
    if (!is_same) start = find_start_warnings(one.simulator->stepper(), initial);
    checked = std::move(initial);
    add_warnings(one.simulator->stepper(), world, start, one.warnings, found);
  }
  return found;
}

struct PythonGradients {
  std::shared_ptr<const SceneSimulator> simulator;
  TiledGradients gradients;
};

std::shared_ptr<PythonGradients> gradient(const PythonRollouts& of,
                                          const std::array<py::object, 6>& states_bar, int threads) {
  const StateArguments bar(states_bar);
  const std::size_t states = at(of.rollouts.worlds) * (at(of.rollouts.steps) + 1),
                    n = of.simulator->body_count(), m = of.simulator->joint_count();
  for (const auto& [argument, width, name] : {std::tuple{&bar.position, 3 * n, "position"},
                                              std::tuple{&bar.orientation_wxyz, 4 * n, "orientation_wxyz"},
                                              std::tuple{&bar.linear_velocity, 3 * n, "linear_velocity"},
                                              std::tuple{&bar.angular_velocity, 3 * n, "angular_velocity"},
                                              std::tuple{&bar.joint_coordinate, m, "joint_coordinate"},
                                              std::tuple{&bar.joint_rate, m, "joint_rate"}}) {
    if (argument->rows().are_given() && argument->rows().numbers.size() != states * width)
      throw py::value_error(std::string(name) + ": a cotangent has the shape of the rollouts' array");
  }
  const py::gil_scoped_release no_gil;
  return std::make_shared<PythonGradients>(
      PythonGradients{of.simulator, tiled_gradients(of.simulator->scene, of.rollouts, bar.all(), threads)});
}

py::dict health(const PythonGradients& of, int world) {
  require_world(world, static_cast<int>(of.gradients.health.size()));
  const GradientHealth& found = of.gradients.health[at(world)];
  std::vector<std::string> warnings;
  for (const GradientWarning& warning : found.warnings)
    warnings.push_back(warning_text(of.simulator->model(), warning));
  py::dict numbers;
  numbers["largest_growth"] = found.largest_growth;
  numbers["growth_over_free"] = found.growth_over_free;
  numbers["share_near_kink"] = found.share_near_kink();
  numbers["contacts"] = found.contacts;
  numbers["warnings"] = warnings;
  return numbers;
}

}  // namespace

void bind_rollouts(py::module_& module) {
  module.def("rollout", &rollout, py::arg("simulator"), py::arg("worlds"), py::arg("steps"),
             py::arg("values"), py::arg("controls"), py::arg("commands"), py::arg("initial"),
             py::arg("threads"), py::arg("record"), py::arg("tape_bytes"), py::arg("feedback"));

  py::class_<PythonRollouts, std::shared_ptr<PythonRollouts>> rollouts(module, "Rollouts");
  rollouts.def_property_readonly("worlds", [](const PythonRollouts& of) { return of.rollouts.worlds; })
      .def_property_readonly("steps", [](const PythonRollouts& of) { return of.rollouts.steps; })
      .def_property_readonly("first_failed",
                             [](const PythonRollouts& of) { return of.rollouts.first_failed(); })
      .def_property_readonly("time", [](const PythonRollouts& of) { return buffer_of(of.rollouts.time); })
      .def_property_readonly("energy", [](const PythonRollouts& of) { return buffer_of(of.rollouts.energy); })
      .def_property_readonly("contacts",
                             [](const PythonRollouts& of) { return buffer_of(of.rollouts.contacts); })
      .def_property_readonly("motor_force",
                             [](const PythonRollouts& of) { return buffer_of(of.rollouts.motor_force); })
      .def("failure", &failure, py::arg("world"))
      .def("warnings", &warnings)
      .def("gradient", &gradient, py::arg("states_bar"), py::arg("threads"));
  bind_state_arrays(rollouts, [](PythonRollouts& of) -> const StateArrays& { return of.rollouts.states; });

  py::class_<PythonGradients, std::shared_ptr<PythonGradients>> gradients(module, "Gradients");
  gradients
      .def_property_readonly("values",
                             [](const PythonGradients& of) { return buffer_of(of.gradients.values); })
      .def_property_readonly(
          "gains", [](const PythonGradients& of) { return buffer_of(of.gradients.policy_parameters); })
      .def_property_readonly("controls",
                             [](const PythonGradients& of) { return buffer_of(of.gradients.controls); })
      .def_property_readonly("commands",
                             [](const PythonGradients& of) { return buffer_of(of.gradients.commands); })
      .def("health", &health, py::arg("world"));
  bind_state_arrays(gradients,
                    [](PythonGradients& of) -> const StateArrays& { return of.gradients.initial; });
}

}  // namespace abut::python
