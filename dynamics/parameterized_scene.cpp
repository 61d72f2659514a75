#include "dynamics/parameterized_scene.h"

#include <algorithm>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"

namespace abut {

const SceneParameter& ParameterizedScene::add_parameter(const std::string& name) {
  SceneParameter parameter = find_parameter(scene_, name);
  for (const SceneParameter& other : parameters_) {
    const bool same_place = other.body_A == parameter.body_A && other.body_B == parameter.body_B;
    require(!is_same(other, parameter), fmt::format("'{}' is given twice", name));
    require(!same_place || !other.is_mass() || !parameter.is_mass(),
            fmt::format("only one of '{}' and '{}' can be given", other.name, name));
  }
  return parameters_.emplace_back(std::move(parameter));
}

bool ParameterizedScene::has_one_model() const {
  return std::all_of(parameters_.begin(), parameters_.end(),
                     [](const SceneParameter& parameter) { return parameter.is_initial_state(); });
}

void ParameterizedScene::prepare() {
  simulator_ = std::make_shared<const Simulator>(scene_.model, scene_.config.step);
}

Scene ParameterizedScene::with(std::span<const double> values) const {
  Scene scene = scene_;
  set_parameters(parameters_, values, scene);
  return scene;
}

std::shared_ptr<const Simulator> ParameterizedScene::simulator_of(const Scene& changed) const {
  ABUT_ASSERT(simulator_ != nullptr);
  if (has_one_model()) return simulator_;
  return std::make_shared<const Simulator>(changed.model, changed.config.step, simulator_.get());
}

}  // namespace abut
