/// Scenes: a TOML file with settings, bodies, their initial state, and pairs. Every key:
/// docs/scene_format.md.
#pragma once

#include <filesystem>
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

/// Throws InputError: "file:line: what is wrong (value), what is allowed; did you mean ...?". What it returns
/// is valid: every number finite but where the format allows inf, names unique, orientations of unit length.
[[nodiscard]] Scene read_scene(const std::filesystem::path& path);

}  // namespace abut
