#include <mutex>

#include <pybind11/stl.h>
#include <spdlog/fmt/fmt.h>

#include "apps/abut/report.h"
#include "dynamics/rollout_env.h"
#include "engine/control.h"
#include "python/bindings.h"
#include "python/warning_tuples.h"

namespace abut::python {
namespace {

/// Worlds that are stepped together, with arrays of their states that follow them.
class PythonEnvironment {
 public:
  PythonEnvironment(std::shared_ptr<const SceneSimulator> simulator, int worlds, int threads)
      : simulator_(std::move(simulator)),
        environment_(*simulator_->scene.simulator(), simulator_->scene.scene().initial, worlds, threads),
        states_({at(worlds)}, simulator_->body_count(), simulator_->joint_count()),
        time_({at(worlds)}),
        steps_({at(worlds)}),
        contacts_({at(worlds)}),
        motor_force_({at(worlds), simulator_->motor_count()}),
        failed_({at(worlds)}),
        starts_(at(worlds), simulator_->scene.scene().initial),
        warnings_(at(worlds)),
        controls_(at(worlds)) {
    environment_.observe([this](int world, const State& state) { write(at(world), state); });
    note_reports();
  }

  void step(const py::object& controls, const py::object& commands) {
    const RowsArgument of_controls(controls, "controls"), of_commands(commands, "commands");
    const std::size_t worlds = controls_.size();
    require_rows(of_controls.rows(), "controls", environment_.world_count(), 6 * simulator_->body_count());
    require_rows(of_commands.rows(), "commands", environment_.world_count(), simulator_->motor_count());
    const py::gil_scoped_release no_gil;
    const std::lock_guard lock(mutex_);
    const Scene& scene = simulator_->scene.scene();
    for (std::size_t world = 0; world < worlds; ++world) {
      const auto row = [&](const RowsArgument& argument) {
        return argument.rows().are_given() ? argument.rows().of_world(world) : std::span<const double>();
      };
      controls_[world] = control_of(row(of_controls), row(of_commands));
      controls_[world] += control_at(scene, environment_.states()[world].time, scene.config.step.h);
    }
    environment_.step(controls_);
    note_reports();
    for (std::size_t world = 0; world < worlds; ++world) {
      const StepReport& report = environment_.reports()[world];
      if (report.status == StepStatus::ok) warnings_[world].add(report.step, report);
    }
  }

  /// To the initial state, or to states of the caller's.
  void reset(const std::vector<int>& worlds, const std::array<py::object, 6>& arrays) {
    const StateArguments given(arrays);
    given.require_rows(*simulator_, environment_.world_count());
    std::vector<State> states;  // all of them, before one is changed
    for (const int world : worlds) {
      State state = simulator_->scene.scene().initial;
      read_state(simulator_->model(), given.of_row(at(world)), state);
      states.push_back(std::move(state));
    }
    const py::gil_scoped_release no_gil;
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < worlds.size(); ++i) {
      environment_.reset(worlds[i], states[i]);
      starts_[at(worlds[i])] = std::move(states[i]);
      warnings_[at(worlds[i])] = {};
    }
    note_reports();
  }

  [[nodiscard]] std::string failure(int world) const {
    if (world < 0 || world >= environment_.world_count())
      throw py::index_error(fmt::format("world {} of {}", world, environment_.world_count()));
    const py::gil_scoped_release no_gil;
    const std::lock_guard lock(mutex_);
    const StepReport& report = environment_.reports()[at(world)];
    if (report.status == StepStatus::ok) return {};
    const Scene& scene = simulator_->scene.scene();
    return failure_text(scene.model, scene.config.step,
                        environment_.states()[at(world)].time + scene.config.step.h, report);
  }

  /// Of the states that worlds were last reset to, and of the steps since.
  [[nodiscard]] std::vector<WarningTuple> warnings() const {
    const py::gil_scoped_release no_gil;
    const std::lock_guard lock(mutex_);
    const Stepper& stepper = simulator_->scene.simulator()->stepper();
    std::vector<WarningTuple> found;
    StartWarnings start;
    for (std::size_t world = 0; world < starts_.size(); ++world) {
      if (world == 0 || state_hash(starts_[world]) != state_hash(starts_[world - 1]))
        start = find_start_warnings(stepper, starts_[world]);
      add_warnings(stepper, static_cast<int>(world), start, warnings_[world], found);
    }
    return found;
  }

  [[nodiscard]] const StateArrays& states() const { return states_; }
  [[nodiscard]] const SharedArray<double>& time() const { return time_; }
  [[nodiscard]] const SharedArray<std::int64_t>& steps() const { return steps_; }
  [[nodiscard]] const SharedArray<std::int64_t>& contacts() const { return contacts_; }
  [[nodiscard]] const SharedArray<double>& motor_force() const { return motor_force_; }
  [[nodiscard]] const SharedArray<bool>& failed() const { return failed_; }
  [[nodiscard]] int worlds() const { return environment_.world_count(); }

 private:
  void write(std::size_t world, const State& state) const {
    write_state(simulator_->model(), state,
                states_.numbers().at_row(world, simulator_->body_count(), simulator_->joint_count()));
    time_.data()[world] = state.time;
    const std::size_t motors = simulator_->motor_count();
    write_motor_forces(state, motors, motor_force_.data() + world * motors);
  }
  void note_reports() const {
    for (std::size_t world = 0; world < controls_.size(); ++world) {
      steps_.data()[world] = environment_.steps()[world];
      contacts_.data()[world] = environment_.reports()[world].contacts;
      failed_.data()[world] = environment_.failed(static_cast<int>(world));
    }
  }

  std::shared_ptr<const SceneSimulator> simulator_;
  mutable std::mutex mutex_;  ///< of all below: threads of Python take turns
  RolloutEnv environment_;
  StateArrays states_;
  SharedArray<double> time_;
  SharedArray<std::int64_t> steps_, contacts_;
  SharedArray<double> motor_force_;
  SharedArray<bool> failed_;
  std::vector<State> starts_;  ///< that each world was last reset to
  std::vector<RunWarnings> warnings_;
  std::vector<Control> controls_;
};

}  // namespace

void bind_environment(py::module_& module) {
  using Environment = PythonEnvironment;
  py::class_<Environment, std::shared_ptr<Environment>> environment(module, "Environment");
  environment
      .def(py::init<std::shared_ptr<SceneSimulator>, int, int>(), py::arg("simulator"), py::arg("worlds"),
           py::arg("threads"))
      .def("step", &Environment::step, py::arg("controls"), py::arg("commands"))
      .def("reset", &Environment::reset, py::arg("worlds"), py::arg("arrays"))
      .def("failure", &Environment::failure, py::arg("world"))
      .def("warnings", &Environment::warnings)
      .def_property_readonly("worlds", &Environment::worlds)
      .def_property_readonly("time", [](const Environment& e) { return buffer_of(e.time()); })
      .def_property_readonly("steps", [](const Environment& e) { return buffer_of(e.steps()); })
      .def_property_readonly("contacts", [](const Environment& e) { return buffer_of(e.contacts()); })
      .def_property_readonly("motor_force", [](const Environment& e) { return buffer_of(e.motor_force()); })
      .def_property_readonly("failed", [](const Environment& e) { return buffer_of(e.failed()); });
  bind_state_arrays(environment, [](const Environment& e) -> const StateArrays& { return e.states(); });
}

}  // namespace abut::python
