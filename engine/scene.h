/// A scene: a model, its initial state, settings, and the wrenches that act for a time.
#pragma once

#include <string>
#include <vector>

#include "engine/config.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut {

/// A wrench on a body in the steps whose middles m lie in  from <= m < until  (to a thousandth of a step).
struct Push {
  int body = -1;
  double from = 0, until = 0;                  ///< [s], from < until
  Vec6<double> wrench = Vec6<double>::Zero();  ///< [torque; force] in W at the centre of mass [N m; N]
};

struct Scene {
  std::string name;
  Model model;
  RunConfig config;
  State initial;
  std::vector<Push> pushes{};
};

/// The wrenches of the scene's pushes during a step of h seconds from `time` on, one per body; empty where
/// the scene has no pushes.
[[nodiscard]] Control control_at(const Scene& scene, double time, double h);

/// Those of so many steps from the scene's initial state on, as rollouts take them; empty where the scene has
/// no pushes.
[[nodiscard]] std::vector<Control> controls_of(const Scene& scene, int steps);

}  // namespace abut
