#include "apps/planning/car_problem.h"

#include <limits>
#include <numbers>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "apps/planning/obstacle_distances.h"
#include "engine/check.h"
#include "engine/toml_table.h"

namespace abut {
namespace {

NumberRange number_or_infinite() { return {-k_infinity, k_infinity, false, true}; }
/// Rounding allows no less.
NumberRange tolerance_range() { return between(1e-9, 1e-2); }
NumberRange steering_range() { return strictly_between(0.0, 0.5 * std::numbers::pi); }

/// d velocity/d state. That by the input is constant: acceleration and steering rate are parts of it.
Eigen::Matrix<double, 5, 5> velocity_by_state(const CarState& state, double wheelbase) {
  const double c = std::cos(state[2]), s = std::sin(state[2]), v = state[3], t = std::tan(state[4]);
  Eigen::Matrix<double, 5, 5> J = Eigen::Matrix<double, 5, 5>::Zero();
  J(0, 2) = -v * s;
  J(0, 3) = c;
  J(1, 2) = v * c;
  J(1, 3) = s;
  J(2, 3) = t / wheelbase;
  J(2, 4) = v * (1.0 + t * t) / wheelbase;
  return J;
}

/// What is wrong with one of the two states that are given, or "".
std::string fault_of(const CarProblem& problem, const CarState& state) {
  const CarProblem::Limits& limits = problem.limits;
  if (!state.allFinite()) return "is not finite";
  if (state[3] < limits.lowest_speed || state[3] > limits.highest_speed)
    return fmt::format("has speed = {}, allowed by the limits: [{}, {}]", state[3], limits.lowest_speed,
                       limits.highest_speed);
  if (std::abs(state[4]) > limits.steering)
    return fmt::format("has steering = {}, allowed by the limits: [{}, {}]", state[4], -limits.steering,
                       limits.steering);
  const NearestObstacle nearest = nearest_obstacle(problem, state);
  if (!(nearest.distance >= problem.clearance))
    return fmt::format("is {:.3g} m from obstacle '{}', allowed: at least the clearance of {} m",
                       nearest.distance, problem.obstacles[static_cast<std::size_t>(nearest.obstacle)].name,
                       problem.clearance);
  return {};
}

CarState read_state(const TomlTable& table) {
  const std::vector<double> position = table.required_numbers("position", 2, any_number());
  CarState state;
  state << position[0], position[1], table.required_number("heading", any_number()),
      table.required_number("speed", any_number()), table.number("steering", 0.0, any_number());
  table.finish();
  return state;
}

std::vector<Vec2<double>> read_polygon(const TomlTable& table) {
  std::vector<Vec2<double>> corners;
  for (const NamedNumbers& row : table.required_rows("polygon", 2))
    corners.emplace_back(row.numbers[0], row.numbers[1]);
  if (const std::string fault = polygon_fault(corners); !fault.empty())
    table.fail("polygon", fmt::format("{}, allowed: {}", fault, allowed_polygon_text()));
  return corners;
}

CarObstacle read_obstacle(const TomlTable& table, std::size_t index) {
  CarObstacle obstacle;
  obstacle.name = table.text("name", fmt::format("obstacle {}", index + 1));
  table.require_one_of({"radius", "polygon"}, true);
  if (table.has("polygon")) {
    obstacle.polygon = read_polygon(table);
    obstacle.padding = table.required_number("padding", at_least(0.0));
  } else {
    obstacle.radius = table.required_number("radius", positive());
    obstacle.half_length = table.required_number("half_length", at_least(0.0));
  }
  if (obstacle.polygon.empty() || table.has("position")) {
    const std::vector<double> position = table.required_numbers("position", 2, any_number());
    obstacle.position = {position[0], position[1]};
  }
  if (obstacle.polygon.empty() || table.has("heading"))
    obstacle.heading = table.required_number("heading", any_number());
  table.finish();
  return obstacle;
}

CarProblem::Car read_car(const TomlTable& table) {
  CarProblem::Car car;
  car.wheelbase = table.required_number("wheelbase", positive());
  table.require_one_of({"radius", "polygon"}, true);
  if (table.has("polygon")) {
    car.polygon = read_polygon(table);
    car.padding = table.required_number("padding", positive());
  } else {
    car.radius = table.required_number("radius", positive());
    car.half_length = table.required_number("half_length", at_least(0.0));
    car.centre_ahead = table.number("centre_ahead", 0.5 * car.wheelbase, any_number());
  }
  table.finish();
  return car;
}

}  // namespace

void validate(const CarProblem& problem) {
  const auto check = [](const std::string& name, double value, const NumberRange& range) {
    require(range.contains(value), fmt::format("{} = {}, allowed: {}", name, value, range.text()));
  };
  check("knots", problem.knots, at_least(2));
  check("time_step", problem.time_step, positive());
  check("clearance", problem.clearance, at_least(0.0));
  check("car.wheelbase", problem.car.wheelbase, positive());
  const auto check_polygon = [&](const std::string& of, const std::vector<Vec2<double>>& polygon) {
    const std::string fault = polygon_fault(polygon);
    require(fault.empty(), fmt::format("{}polygon: {}, allowed: {}", of, fault, allowed_polygon_text()));
  };
  if (problem.car.polygon.empty()) {
    check("car.radius", problem.car.radius, positive());
    check("car.half_length", problem.car.half_length, at_least(0.0));
    check("car.centre_ahead", problem.car.centre_ahead, any_number());
  } else {
    check_polygon("car.", problem.car.polygon);
    check("car.padding", problem.car.padding, positive());
  }
  check("limits.steering", problem.limits.steering, steering_range());
  check("limits.steering_rate", problem.limits.steering_rate, positive_or_infinite());
  check("limits.acceleration", problem.limits.acceleration, positive_or_infinite());
  check("weights.acceleration", problem.weights.acceleration, positive());
  check("weights.steering_rate", problem.weights.steering_rate, positive());
  check("weights.steering", problem.weights.steering, at_least(0.0));
  check("solver.tolerance", problem.solver.tolerance, tolerance_range());
  check("solver.max_outer_iterations", problem.solver.max_outer_iterations, at_least(1));
  check("solver.max_iterations", problem.solver.max_iterations, at_least(1));
  require(problem.limits.lowest_speed < problem.limits.highest_speed,
          fmt::format("limits.lowest_speed = {} does not lie below highest_speed = {}",
                      problem.limits.lowest_speed, problem.limits.highest_speed));
  for (const CarObstacle& obstacle : problem.obstacles) {
    const std::string of = fmt::format("obstacle '{}': ", obstacle.name);
    require(obstacle.position.allFinite() && std::isfinite(obstacle.heading),
            of + "position or heading is not finite");
    if (obstacle.polygon.empty()) {
      check(of + "radius", obstacle.radius, positive());
      check(of + "half_length", obstacle.half_length, at_least(0.0));
    } else {
      check_polygon(of, obstacle.polygon);
      check(of + "padding", obstacle.padding, at_least(0.0));
    }
  }
  for (const auto& [name, state] : {std::pair{"start", &problem.start}, std::pair{"goal", &problem.goal}}) {
    const std::string fault = fault_of(problem, *state);
    require(fault.empty(), fmt::format("{} {}", name, fault));
  }
}

CarProblem read_car_problem(const std::filesystem::path& file) {
  const TomlTable table = TomlTable::read(file);
  enum class Kind { car };
  (void)table.required_choice<Kind>("experiment", {{"car", Kind::car}});
  CarProblem problem;
  problem.knots = table.integer("knots", problem.knots, 2);
  problem.time_step = table.number("time_step", problem.time_step, positive());
  problem.clearance = table.number("clearance", problem.clearance, at_least(0.0));

  problem.car = read_car(table.table("car"));

  const TomlTable limits = table.table("limits");
  problem.limits.steering = limits.number("steering", problem.limits.steering, steering_range());
  problem.limits.steering_rate =
      limits.number("steering_rate", problem.limits.steering_rate, positive_or_infinite());
  problem.limits.acceleration =
      limits.number("acceleration", problem.limits.acceleration, positive_or_infinite());
  problem.limits.lowest_speed =
      limits.number("lowest_speed", problem.limits.lowest_speed, number_or_infinite());
  problem.limits.highest_speed =
      limits.number("highest_speed", problem.limits.highest_speed, number_or_infinite());
  if (!(problem.limits.lowest_speed < problem.limits.highest_speed))
    limits.fail("lowest_speed", fmt::format("{} does not lie below highest_speed = {}",
                                            problem.limits.lowest_speed, problem.limits.highest_speed));
  limits.finish();

  const TomlTable weights = table.table("weights");
  problem.weights.acceleration = weights.number("acceleration", problem.weights.acceleration, positive());
  problem.weights.steering_rate = weights.number("steering_rate", problem.weights.steering_rate, positive());
  problem.weights.steering = weights.number("steering", problem.weights.steering, at_least(0.0));
  weights.finish();

  const TomlTable solver = table.table("solver");
  problem.solver.tolerance = solver.number("tolerance", problem.solver.tolerance, tolerance_range());
  problem.solver.max_outer_iterations =
      solver.integer("max_outer_iterations", problem.solver.max_outer_iterations, 1);
  problem.solver.max_iterations = solver.integer("max_iterations", problem.solver.max_iterations, 1);
  using Distances = CarProblem::CapsuleDistances;
  problem.solver.capsule_distances = solver.choice<Distances>(
      "capsule_distances", problem.solver.capsule_distances,
      {{"closed_form", Distances::closed_form}, {"quadratic_programs", Distances::quadratic_programs}});
  solver.finish();

  for (const TomlTable& obstacle : table.tables("obstacle"))
    problem.obstacles.push_back(read_obstacle(obstacle, problem.obstacles.size()));
  const std::pair<const char*, CarState*> states[] = {{"start", &problem.start}, {"goal", &problem.goal}};
  for (const auto& [name, state] : states) {
    *state = read_state(table.table(name));
    if (const std::string fault = fault_of(problem, *state); !fault.empty()) table.fail(name, fault);
  }
  table.finish();
  return problem;
}

CarStep car_step_derivatives(const CarState& state, const CarInput& input, double wheelbase, double time) {
  using ByState = Eigen::Matrix<double, 5, 5>;
  using ByInput = Eigen::Matrix<double, 5, 2>;
  ByInput B = ByInput::Zero();
  B(3, 0) = B(4, 1) = 1.0;
  const double half = 0.5 * time;

  const CarState k1 = car_velocity<double>(state, input, wheelbase);
  const ByState k1_state = velocity_by_state(state, wheelbase);

  const CarState x2 = state + half * k1, k2 = car_velocity<double>(x2, input, wheelbase);
  const ByState A2 = velocity_by_state(x2, wheelbase), k2_state = A2 + half * (A2 * k1_state);
  const ByInput k2_input = B + half * (A2 * B);

  const CarState x3 = state + half * k2, k3 = car_velocity<double>(x3, input, wheelbase);
  const ByState A3 = velocity_by_state(x3, wheelbase), k3_state = A3 + half * (A3 * k2_state);
  const ByInput k3_input = B + half * (A3 * k2_input);

  const CarState x4 = state + time * k3, k4 = car_velocity<double>(x4, input, wheelbase);
  const ByState A4 = velocity_by_state(x4, wheelbase), k4_state = A4 + time * (A4 * k3_state);
  const ByInput k4_input = B + time * (A4 * k3_input);

  const double sixth = time / 6.0;
  CarStep step;
  step.state = state + sixth * (k1 + 2.0 * (k2 + k3) + k4);
  step.by_state = ByState::Identity() + sixth * (k1_state + 2.0 * (k2_state + k3_state) + k4_state);
  step.by_input = sixth * (B + 2.0 * (k2_input + k3_input) + k4_input);
  return step;
}

PaddedOutline outline_of(const CarProblem::Car& car) {
  if (!car.polygon.empty()) return polygon_outline(car.polygon, car.padding);
  if (car.half_length == 0.0) return {{{car.centre_ahead, 0.0}}, car.radius};
  return {{{car.centre_ahead - car.half_length, 0.0}, {car.centre_ahead + car.half_length, 0.0}}, car.radius};
}

PaddedOutline outline_of(const CarProblem::Car& car, const CarState& state) {
  return moved(outline_of(car), state.head<2>(), state[2]);
}

PaddedOutline outline_of(const CarObstacle& obstacle) {
  PaddedOutline outline;
  if (!obstacle.polygon.empty()) {
    outline = polygon_outline(obstacle.polygon, obstacle.padding);
  } else if (obstacle.half_length == 0.0) {
    outline = {{Vec2<double>::Zero()}, obstacle.radius};
  } else {
    outline = {{{-obstacle.half_length, 0.0}, {obstacle.half_length, 0.0}}, obstacle.radius};
  }
  return moved(outline, obstacle.position, obstacle.heading);
}

}  // namespace abut
