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

/// What is added to the target of a motor over time: the numbers of a table, each held until the next or joined by
/// lines, the first before and the last after them all. Steps take the number at their middle.
struct CommandTable {
  int motor = -1;  ///< in the order of motors_of()
  bool is_linear = false;
  std::vector<double> times;   ///< [s], increasing, at least one
  std::vector<double> values;  ///< in units of the motor's target, one per time
};

struct Scene {
  std::string name;
  Model model;
  RunConfig config;
  State initial;
  std::vector<Push> pushes{};
  std::vector<CommandTable> commands{};
};

/// The wrenches of the scene's pushes and the commands of its tables during a step of h seconds from `time` on; empty
/// where the scene has none.
[[nodiscard]] Control control_at(const Scene& scene, double time, double h);

/// Those of so many steps from the scene's initial state on, as rollouts take them; empty where the scene has
/// neither.
[[nodiscard]] std::vector<Control> controls_of(const Scene& scene, int steps);

}  // namespace abut
