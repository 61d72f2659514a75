#include <mutex>
#include <string>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>
#include <spdlog/fmt/fmt.h>

#include "apps/abut/report.h"
#include "collision/fitting/shape_surface.h"
#include "collision/fitting/surface_cache.h"
#include "dynamics/parameters/scene_parameter_derivatives.h"
#include "engine/control.h"
#include "engine/input_error.h"
#include "engine/scene_io.h"
#include "python/bindings.h"

namespace abut::python {
namespace {

std::shared_ptr<LoadedScene> load(const std::filesystem::path& path) {
  const py::gil_scoped_release no_gil;
  return std::make_shared<LoadedScene>(
      LoadedScene{path, read_scene(path, surface_maker(user_cache_folder()))});
}

std::shared_ptr<SceneSimulator> make_simulator(const LoadedScene& loaded,
                                               const std::vector<std::string>& names) {
  const py::gil_scoped_release no_gil;
  auto simulator = std::make_shared<SceneSimulator>();
  simulator->path = loaded.path;
  simulator->scene = ParameterizedScene(loaded.scene);
  for (const std::string& name : names) {
    for (const std::string& component : component_names(loaded.scene, name))
      simulator->scene.add_parameter(component);
  }
  naming_file(loaded.path.string(), [&] { simulator->scene.prepare(); });
  return simulator;
}

std::vector<std::string> body_names(const Model& model) {
  std::vector<std::string> names;
  for (const Body& body : model.bodies) names.push_back(body.name);
  return names;
}

/// (name, value, unit) of parameters.
std::vector<std::tuple<std::string, double, std::string>> described(
    const Scene& scene, const std::vector<SceneParameter>& parameters) {
  std::vector<std::tuple<std::string, double, std::string>> list;
  for (const SceneParameter& parameter : parameters)
    list.emplace_back(parameter.name, value_of(scene, parameter), std::string(parameter.unit));
  return list;
}

/// A state with its arrays, written when they are first asked for.
struct PythonState {
  std::shared_ptr<const SceneSimulator> simulator;
  State state;
  StepReport report;  ///< of the step that led to it
  std::optional<StateArrays> arrays{};
  std::optional<SharedArray<double>> forces{};

  const StateArrays& numbers() {
    if (!arrays) {
      arrays.emplace(std::vector<std::size_t>(), state.X_WB.size(), simulator->joint_count());
      write_state(simulator->model(), state, arrays->numbers());
    }
    return *arrays;
  }
  const SharedArray<double>& motor_force() {
    if (!forces) {
      forces.emplace(std::vector<std::size_t>{simulator->motor_count()});
      write_motor_forces(state, simulator->motor_count(), forces->data());
    }
    return *forces;
  }
};

void require_size(const RowsArgument& argument, std::size_t size, const char* name) {
  const std::size_t given = argument.rows().numbers.size();
  if (argument.rows().are_given() && given != size)
    throw py::value_error(fmt::format("{}: {} numbers, expected {}", name, given, size));
}

PythonState make_state(std::shared_ptr<const SceneSimulator> simulator,
                       const std::array<py::object, 6>& arrays) {
  const StateArguments given(arrays);
  given.require_rows(*simulator, 1);
  PythonState made{std::move(simulator), {}, {}};
  made.state = made.simulator->scene.scene().initial;
  read_state(made.simulator->model(), given.of_row(0), made.state);
  return made;
}

void require_same(const SceneSimulator& simulator, const PythonState& state) {
  if (state.simulator.get() != &simulator) throw py::value_error("the state is of another simulator");
}

PythonState step(const std::shared_ptr<SceneSimulator>& simulator, const PythonState& from,
                 const py::object& controls, const py::object& commands) {
  require_same(*simulator, from);
  const RowsArgument of_controls(controls, "controls"), of_commands(commands, "commands");
  require_size(of_controls, 6 * simulator->body_count(), "controls");
  require_size(of_commands, simulator->motor_count(), "commands");
  PythonState next{simulator, {}, {}};
  {
    const py::gil_scoped_release no_gil;
    const Scene& scene = simulator->scene.scene();
    Control control = control_at(scene, from.state.time, scene.config.step.h);
    control += control_of(of_controls.rows().numbers, of_commands.rows().numbers);
    const std::lock_guard lock(simulator->mutex);
    next.report = simulator->scene.simulator()->step(from.state, control, simulator->scratch, next.state);
  }
  return next;
}

std::string failure_of(const PythonState& state) {
  if (state.report.status == StepStatus::ok) return {};
  const Scene& scene = state.simulator->scene.scene();
  return failure_text(scene.model, scene.config.step, state.state.time, state.report);
}

/// Arrays of the contacts of a state, by name.
py::dict contacts(const SceneSimulator& simulator, const PythonState& state) {
  require_same(simulator, state);
  const ContactManifold manifold = [&] {
    const py::gil_scoped_release no_gil;
    return simulator.scene.simulator()->contacts(state.state);
  }();
  const std::size_t count = static_cast<std::size_t>(manifold.contacts.size());
  SharedArray<std::int64_t> bodies({count, 2});
  SharedArray<double> point({count, 3}), normal({count, 3}), distance({count}), activity({count});
  for (std::size_t i = 0; i < count; ++i) {
    const Contact contact = manifold.contacts[i];
    bodies.data()[2 * i] = contact.feature.body_A;
    bodies.data()[2 * i + 1] = contact.feature.body_B;
    Eigen::Map<Vec3<double>>(point.data() + 3 * i) = contact.point_W;
    Eigen::Map<Vec3<double>>(normal.data() + 3 * i) = contact.normal_AB_W;
    distance.data()[i] = contact.signed_distance;
    activity.data()[i] = contact.activity;
  }
  py::dict arrays;
  arrays["bodies"] = buffer_of(bodies);
  arrays["point"] = buffer_of(point);
  arrays["normal"] = buffer_of(normal);
  arrays["distance"] = buffer_of(distance);
  arrays["activity"] = buffer_of(activity);
  return arrays;
}

}  // namespace

void bind_scene(py::module_& module) {
  module.def("load", &load, py::arg("path"));

  py::class_<LoadedScene, std::shared_ptr<LoadedScene>>(module, "LoadedScene")
      .def_property_readonly("path", [](const LoadedScene& loaded) { return loaded.path; })
      .def_property_readonly("name", [](const LoadedScene& loaded) { return loaded.scene.name; })
      .def_property_readonly("time_step",
                             [](const LoadedScene& loaded) { return loaded.scene.config.step.h; })
      .def_property_readonly("steps", [](const LoadedScene& loaded) { return loaded.scene.config.steps; })
      .def_property_readonly("body_names",
                             [](const LoadedScene& loaded) { return body_names(loaded.scene.model); })
      .def("differentiable_parameters",
           [](const LoadedScene& loaded) {
             return described(loaded.scene, differentiable_parameters(loaded.scene));
           })
      .def(
          "value",
          [](const LoadedScene& loaded, const std::string& name) {
            return value_of(loaded.scene, find_parameter(loaded.scene, name));
          },
          py::arg("name"))
      .def("simulator", &make_simulator, py::arg("parameters"));

  py::class_<PythonState> state(module, "State");
  state.def_property_readonly("time", [](const PythonState& of) { return of.state.time; })
      .def_property_readonly("contacts", [](const PythonState& of) { return of.report.contacts; })
      .def_property_readonly("motor_force", [](PythonState& of) { return buffer_of(of.motor_force()); })
      .def_property_readonly("status", [](const PythonState& of) { return to_string(of.report.status); })
      .def_property_readonly("failure", &failure_of);
  bind_state_arrays(state, [](PythonState& of) -> const StateArrays& { return of.numbers(); });

  py::class_<SceneSimulator, std::shared_ptr<SceneSimulator>>(module, "SceneSimulator")
      .def_property_readonly("path", [](const SceneSimulator& simulator) { return simulator.path; })
      .def_property_readonly("body_names",
                             [](const SceneSimulator& simulator) { return body_names(simulator.model()); })
      .def("parameters",
           [](const SceneSimulator& simulator) {
             return described(simulator.scene.scene(), simulator.scene.parameters());
           })
      .def_property_readonly("joint_names",
                             [](const SceneSimulator& simulator) {
                               return names_of(simulator.model(), joints_with_coordinate(simulator.model()));
                             })
      .def_property_readonly("motor_names",
                             [](const SceneSimulator& simulator) {
                               return motor_names(simulator.model());
                             })
      .def("state", &make_state, py::arg("arrays"))
      .def("step", &step, py::arg("state"), py::arg("controls"), py::arg("commands"))
      .def("contacts", &contacts, py::arg("state"));
}

}  // namespace abut::python
