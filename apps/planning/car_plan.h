/// Plans how a car gets past obstacles.
///
/// Direct transcription: the states at all knots and the inputs between them are unknowns of
///   minimise    sum_k h (w_a a_k^2 + w_r gamma_rate_k^2 + w_s gamma_k^2)/2
///   subject to  c_k = car_step(x_k, u_k) - x_(k+1) = 0      between all knots
///               phi_j(x_k) - clearance >= 0                 at every knot, of every obstacle j
///               x - lower >= 0, upper - x >= 0              of speed, steering, acceleration, steering rate
/// with the first and the last state given. An augmented Lagrangian makes it least squares,
///   rho/2 |c_k + y_k/rho|^2,   rho/2 max(0, z/rho - g)^2 for every g >= 0,
/// which Levenberg and Marquardt's method solves (Ceres). Then multipliers become y <- y + rho c,
/// z <- max(0, z - rho g), and the penalty rho of a kind of constraint grows tenfold where its violation did
/// not fall to a quarter. Limits are constraints like the others and not bounds of Ceres': it projects its
/// steps onto bounds, and crawls where a stiff penalty pulls along one.
///
/// The search starts from the straight line between the given states, with inputs 0: nothing the car can
/// drive, and where an obstacle is in the way right through it. What leads out is that the distance keeps its
/// gradient there (obstacle_distances.h). Each knot is led out by the shortest way, though, which may
/// pull a path apart between two sides of an obstacle; if the search ends so, it starts again from lines bent
/// past everything in the way on the left, and on the right. The plan is a local minimum: another side may be
/// cheaper.
/// @see  Nocedal, Wright (2006), "Numerical optimization", 17.3-17.4. Inequalities are violated by
///       |min(g, z/rho)|, as in Andreani et al. (2007), SIAM J. Optim. 18(4). The problem is that of Tracy,
///       Howell, Manchester (2022), V, who solve it with ALTRO; a goal reached exactly and the limits are
///       ours.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/planning/car_problem.h"

namespace abut {

struct CarPlan {
  /// The line that the search started from.
  enum class Guess { straight, left, right } guess = Guess::straight;
  enum class Status {
    solved,      ///< no violation above the tolerance, and a minimum of the cost
    infeasible,  ///< the best compromise found still violates a constraint; there may be a plan elsewhere
    stopped,     ///< by the caller
    exhausted,   ///< out of iterations
    failed,      ///< numbers are no longer finite
  } status = Status::failed;
  std::string message;                   ///< what that means, in one sentence
  std::vector<CarState> states;          ///< at the knots
  std::vector<CarInput> inputs;          ///< from each knot to the next, one fewer
  int iterations = 0;                    ///< from all lines that the search started from
  int outer_iterations = 0;              ///< updates of the multipliers, from this one
  long programs = 0;                     ///< quadratic programs of distances solved, from all lines
  long program_iterations = 0;           ///< of the interior-point method, of all of them
  double cost = 0;                       ///< the sum above, without a dimension
  double worst_defect = 0;               ///< largest |component| of all c_k [m, rad, m/s]
  double worst_collision = 0;            ///< largest of clearance - phi, or 0 [m]
  double worst_limit = 0;                ///< by how far a limit is exceeded [m/s, rad, m/s^2, rad/s]
  std::vector<double> distances;         ///< to the nearest obstacle at each knot [m]
  double least_distance_on_the_way = 0;  ///< along the motion, knots and ten times between two of them [m]

  [[nodiscard]] bool ok() const { return status == Status::solved; }
};
[[nodiscard]] const char* to_string(CarPlan::Guess guess);
[[nodiscard]] const char* to_string(CarPlan::Status status);

/// Where the search is, after an iteration of Levenberg and Marquardt's method.
struct CarPlanProgress {
  CarPlan::Guess guess = CarPlan::Guess::straight;
  int outer_iteration = 0;                                                  ///< from this guess, from 1
  int iteration = 0;                                                        ///< in all, from 1
  double cost = 0, worst_defect = 0, worst_collision = 0, worst_limit = 0;  ///< as in CarPlan
};

/// @param progress  called after every iteration; false stops there
/// Throws std::invalid_argument for a problem that validate() does not accept. The same problem gives the
/// same plan, bit for bit.
[[nodiscard]] CarPlan plan_car(const CarProblem& problem,
                               const std::function<bool(const CarPlanProgress&)>& progress = {});

}  // namespace abut
