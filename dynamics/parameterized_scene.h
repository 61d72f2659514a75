/// A scene with named numbers that differ from one rollout to the next, and the simulators of their values.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dynamics/parameters/scene_parameter.h"
#include "dynamics/simulator.h"
#include "engine/scene.h"

namespace abut {

class ParameterizedScene {
 public:
  ParameterizedScene() = default;
  explicit ParameterizedScene(Scene scene) : scene_(std::move(scene)) {}

  /// Adds a parameter of scene_parameter.h. Throws std::invalid_argument for a name that the scene has not, a
  /// number that is given twice, and the density of a body beside its mass.
  const SceneParameter& add_parameter(const std::string& name);

  [[nodiscard]] const Scene& scene() const { return scene_; }
  [[nodiscard]] const std::vector<SceneParameter>& parameters() const { return parameters_; }
  /// Whether all parameters are of the initial state: then all rollouts have one simulator.
  [[nodiscard]] bool has_one_model() const;

  /// Makes the simulator of the scene itself, whose geometry others share where it is the same. To be called
  /// once, before simulator_of(). Throws std::invalid_argument as Simulator does.
  void prepare();
  [[nodiscard]] const std::shared_ptr<const Simulator>& simulator() const { return simulator_; }

  /// The scene with other values of the parameters, one for each. Throws as set_parameters().
  [[nodiscard]] Scene with(std::span<const double> values) const;
  /// The simulator of a scene that with() made. May be called by several threads at the same time.
  [[nodiscard]] std::shared_ptr<const Simulator> simulator_of(const Scene& changed) const;

 private:
  Scene scene_;
  std::vector<SceneParameter> parameters_;
  std::shared_ptr<const Simulator> simulator_;
};

}  // namespace abut
