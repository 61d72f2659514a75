/// A car that has to get past obstacles: what is asked for, and how the car moves.
///
/// All in the plane of the road, frame W: x and y in metres, headings in radians from x towards y. A state is
/// [x; y; heading; speed; steering], where x and y are of the middle of the rear axle, and an input
/// [acceleration; steering_rate]. The car moves by the bicycle model,
///   x' = v cos(theta),  y' = v sin(theta),  theta' = v tan(gamma)/wheelbase,  v' = a,  gamma' = gamma_rate,
/// steering to the left is > 0. Car and obstacles are capsules or padded polygons (padded_outline.h).
/// @see  Tracy, Howell, Manchester (2022), "DiffPills: differentiable collision detection for capsules and
///       padded polygons", V. Their (38)-(39) leave out the equation of the heading.
#pragma once

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/planning/padded_outline.h"
#include "engine/types.h"

namespace abut {

using CarState = Eigen::Matrix<double, 5, 1>;  ///< [x m; y m; heading rad; speed m/s; steering rad]
using CarInput = Vec2<double>;                 ///< [acceleration m/s^2; steering_rate rad/s]

/// Something parked: all points within `radius` of a segment of twice `half_length` along its heading, or
/// within `padding` of a polygon where that has corners.
struct CarObstacle {
  std::string name;
  Vec2<double> position = Vec2<double>::Zero();  ///< of its middle, or of the polygon's frame [m]
  double heading = 0;                            ///< [rad]
  double radius = 1, half_length = 0;            ///< of a capsule [m], > 0 and >= 0
  std::vector<Vec2<double>> polygon = {};        ///< convex, in its frame [m]; empty: a capsule
  double padding = 0;                            ///< of the polygon [m], >= 0
};

struct CarProblem {
  int knots = 61;          ///< states that are planned, start and goal among them, >= 2
  double time_step = 0.1;  ///< between two of them, during which inputs are constant [s], > 0
  double clearance = 0;    ///< least distance from obstacles at the knots [m], >= 0

  struct Car {
    double wheelbase = 2.7;                  ///< [m], > 0
    double radius = 0.9, half_length = 1.3;  ///< of its capsule [m], > 0 and >= 0
    double centre_ahead = 1.35;              ///< of the rear axle lies the middle of the capsule [m]
    /// Convex, x ahead of the middle of the rear axle and y to the left [m]; empty: a capsule.
    std::vector<Vec2<double>> polygon = {};
    double padding = 0;  ///< of the polygon [m], > 0
  } car;
  struct Limits {
    double steering = 0.6;       ///< largest angle [rad], in (0, pi/2)
    double steering_rate = 0.8;  ///< largest [rad/s], > 0, may be infinite
    double acceleration = 4.0;   ///< largest, forwards and backwards [m/s^2], > 0, may be infinite
    double lowest_speed = 0, highest_speed = 15;  ///< [m/s], may be infinite; < 0 is backwards
  } limits;
  /// Of the squares of inputs and of the steering angle in the cost, an integral over the time.
  struct Weights {
    double acceleration = 1.0;    ///< [s^3/m^2], > 0
    double steering_rate = 10.0;  ///< [s/rad^2], > 0
    double steering = 1.0;        ///< [1/(s rad^2)], >= 0
  } weights;
  /// How distances of two capsules are found; those of polygons are always of quadratic programs.
  enum class CapsuleDistances { closed_form, quadratic_programs };
  struct Solver {
    double tolerance = 1e-6;        ///< largest violation that is none [m, rad, m/s], in [1e-9, 1e-2]
    int max_outer_iterations = 40;  ///< updates of multipliers and penalties, >= 1
    int max_iterations = 2000;      ///< of Levenberg and Marquardt's method from each first guess, >= 1
    CapsuleDistances capsule_distances = CapsuleDistances::closed_form;
  } solver;

  CarState start = CarState::Zero(), goal = CarState::Zero();  ///< where the plan begins and ends, exactly
  std::vector<CarObstacle> obstacles;

  [[nodiscard]] double duration() const { return (knots - 1) * time_step; }  ///< [s]
};

/// Throws std::invalid_argument naming a value that is not allowed, or the obstacle too near to start or
/// goal.
void validate(const CarProblem& problem);

/// Reads a TOML file (assets/experiments/car_past_bus.toml shows every key). Throws InputError, "file:line:
/// what is wrong", of whatever validate() would not accept.
[[nodiscard]] CarProblem read_car_problem(const std::filesystem::path& file);

// How the car moves -----------------------------------------------------------------------------------------

/// d state/dt of the bicycle model.
template <typename S>
[[nodiscard]] Eigen::Matrix<S, 5, 1> car_velocity(const Eigen::Matrix<S, 5, 1>& state, const Vec2<S>& input,
                                                  double wheelbase) {
  using std::cos, std::sin, std::tan;
  Eigen::Matrix<S, 5, 1> r;
  r << state[3] * cos(state[2]), state[3] * sin(state[2]), state[3] * tan(state[4]) / S(wheelbase), input[0],
      input[1];
  return r;
}

/// The state after `time` [s] under a constant input: one step of the classic Runge-Kutta method, of order 4.
template <typename S>
[[nodiscard]] Eigen::Matrix<S, 5, 1> car_step(const Eigen::Matrix<S, 5, 1>& state, const Vec2<S>& input,
                                              double wheelbase, double time) {
  using Vector = Eigen::Matrix<S, 5, 1>;
  const S half(0.5 * time), whole(time);
  const Vector k1 = car_velocity<S>(state, input, wheelbase);
  const Vector k2 = car_velocity<S>(state + half * k1, input, wheelbase);
  const Vector k3 = car_velocity<S>(state + half * k2, input, wheelbase);
  const Vector k4 = car_velocity<S>(state + whole * k3, input, wheelbase);
  return state + S(time / 6.0) * (k1 + S(2) * (k2 + k3) + k4);
}

/// car_step() and its Jacobians.
struct CarStep {
  CarState state;
  Eigen::Matrix<double, 5, 5> by_state;
  Eigen::Matrix<double, 5, 2> by_input;
};
[[nodiscard]] CarStep car_step_derivatives(const CarState& state, const CarInput& input, double wheelbase,
                                           double time);

/// The car's outline in its own frame: x ahead of the middle of the rear axle, y to the left [m].
[[nodiscard]] PaddedOutline outline_of(const CarProblem::Car& car);
/// The car's outline in state `state`, in W.
[[nodiscard]] PaddedOutline outline_of(const CarProblem::Car& car, const CarState& state);
/// An obstacle's outline in W.
[[nodiscard]] PaddedOutline outline_of(const CarObstacle& obstacle);

}  // namespace abut
