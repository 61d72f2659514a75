/// A car's plan as a table and as a picture.
#pragma once

#include <filesystem>
#include <string>

#include "apps/planning/car_plan.h"

namespace abut {

/// Columns time [s], x, y [m], heading [rad], speed [m/s], steering [rad], acceleration [m/s^2],
/// steering_rate [rad/s] and distance [m], a row for each knot. Inputs last from their row to the next; the
/// last row has none.
[[nodiscard]] std::string car_plan_csv(const CarProblem& problem, const CarPlan& plan);

/// The plan seen from above: obstacles, the path of the rear axle, the car at some of the knots, and axes in
/// metres. One <svg> element, which may stand in a page or be a file.
[[nodiscard]] std::string car_plan_svg(const CarProblem& problem, const CarPlan& plan);

/// Writes plan.csv and plan.svg into a folder, which is made if need be. Throws InputError if that is
/// impossible.
void write_car_plan(const CarProblem& problem, const CarPlan& plan, const std::filesystem::path& folder);

}  // namespace abut
