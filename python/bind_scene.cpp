#include <mutex>
#include <string>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>
#include <spdlog/fmt/fmt.h>

#include "apps/abut/report.h"
#include "collision/fitting/shape_surface.h"
#include "collision/fitting/surface_cache.h"
#include "dynamics/parameters/scene_parameter_derivatives.h"
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

  const StateArrays& numbers() {
    if (!arrays) {
      arrays.emplace(std::vector<std::size_t>(), state.X_WB.size());
      write_state(simulator->model(), state, arrays->numbers());
    }
    return *arrays;
  }
};

void require_size(const RowsArgument& argument, std::size_t size, const char* name) {
  const std::size_t given = argument.rows().numbers.size();
  if (argument.rows().are_given() && given != size)
    throw py::value_error(fmt::format("{}: {} numbers, expected {}", name, given, size));
}

PythonState make_state(std::shared_ptr<const SceneSimulator> simulator, const py::object& position,
                       const py::object& orientation, const py::object& linear, const py::object& angular) {
  const std::size_t n = simulator->body_count();
  const RowsArgument p(position, "position"), q(orientation, "orientation_wxyz"),
      v(linear, "linear_velocity"), w(angular, "angular_velocity");
  require_size(p, 3 * n, "position");
  require_size(q, 4 * n, "orientation_wxyz");
  require_size(v, 3 * n, "linear_velocity");
  require_size(w, 3 * n, "angular_velocity");
  PythonState made{std::move(simulator), {}, {}};
  made.state = made.simulator->scene.scene().initial;
  read_state(made.simulator->model(), {p.data(), q.data(), v.data(), w.data()}, made.state);
  return made;
}

void require_same(const SceneSimulator& simulator, const PythonState& state) {
  if (state.simulator.get() != &simulator) throw py::value_error("the state is of another simulator");
}

PythonState step(const std::shared_ptr<SceneSimulator>& simulator, const PythonState& from,
                 const py::object& controls) {
  require_same(*simulator, from);
  const RowsArgument given(controls, "controls");
  const std::size_t n = simulator->body_count();
  require_size(given, 6 * n, "controls");
  PythonState next{simulator, {}, {}};
  {
    const py::gil_scoped_release no_gil;
    const Scene& scene = simulator->scene.scene();
    Control control = control_at(scene, from.state.time, scene.config.step.h);
    if (given.data() != nullptr) {
      if (control.empty()) control.assign(n, Vec6<double>::Zero());
      for (std::size_t b = 0; b < n; ++b) control[b] += Eigen::Map<const Vec6<double>>(given.data() + 6 * b);
    }
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

  py::class_<PythonState>(module, "State")
      .def_property_readonly("time", [](const PythonState& state) { return state.state.time; })
      .def_property_readonly("contacts", [](const PythonState& state) { return state.report.contacts; })
      .def_property_readonly("status",
                             [](const PythonState& state) { return to_string(state.report.status); })
      .def_property_readonly("failure", &failure_of)
      .def_property_readonly("position", [](PythonState& s) { return buffer_of(s.numbers().position); })
      .def_property_readonly("orientation_wxyz",
                             [](PythonState& s) { return buffer_of(s.numbers().orientation_wxyz); })
      .def_property_readonly("linear_velocity",
                             [](PythonState& s) { return buffer_of(s.numbers().linear_velocity); })
      .def_property_readonly("angular_velocity",
                             [](PythonState& s) { return buffer_of(s.numbers().angular_velocity); });

  py::class_<SceneSimulator, std::shared_ptr<SceneSimulator>>(module, "SceneSimulator")
      .def_property_readonly("path", [](const SceneSimulator& simulator) { return simulator.path; })
      .def_property_readonly("body_names",
                             [](const SceneSimulator& simulator) { return body_names(simulator.model()); })
      .def("parameters",
           [](const SceneSimulator& simulator) {
             return described(simulator.scene.scene(), simulator.scene.parameters());
           })
      .def("state", &make_state, py::arg("position"), py::arg("orientation_wxyz"), py::arg("linear_velocity"),
           py::arg("angular_velocity"))
      .def("step", &step, py::arg("state"), py::arg("controls"))
      .def("contacts", &contacts, py::arg("state"));
}

}  // namespace abut::python
