/// `abut optimize` for experiments of the kind "car".
#pragma once

#include <filesystem>

namespace abut {

/// Whether an experiment file asks for the plan of a car (`experiment = "car"`), not for unknowns of a scene.
[[nodiscard]] bool is_car_experiment(const std::filesystem::path& path);

struct CarArguments {
  std::filesystem::path experiment, out;  ///< out: folder of plan.csv and plan.svg
  bool json = false, quiet = false;
};

/// Returns the exit code: 1 unless the plan is solved.
[[nodiscard]] int plan_car_experiment(const CarArguments& arguments);

}  // namespace abut
