/// Signed distances of a car from obstacles in the plane of the road, of many states at once.
///
///   phi = delta - r_car - r_obstacle,
/// with the paddings r and the distance delta of the cores: of two capsules by a closed form
/// (collision/capsule_distance.h), of pairs with a polygon by the quadratic program of
/// collision/convex/proximity_qp.h, all pairs of a kind in lanes. Its regularisation makes delta too large by
/// less than 1e-10 ell^2/delta, where ell [m] is the sum of the sizes of the cores, 1e-9 m for cars.
///
/// phi of the program ends at -r_car - r_obstacle, where the cores meet. From there on phi is less by how far
/// the cores have to go to part (core_separation()), as in the closed form of capsules, so that a search that
/// starts inside of an obstacle is led out. There phi has kinks, where the shortest way out changes.
///
/// The gradient takes the closest points for fixed to car and obstacle (the envelope theorem).
/// @see  Tracy, Howell, Manchester (2022), "DiffPills", IV, V.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "apps/planning/car_problem.h"

namespace abut {

/// Signed distance in the plane of the car from an obstacle [m], with its gradient by the state. Where cores
/// overlap it is less than minus the sum of the paddings by how far they have to go to part. NaN where the
/// state is not finite or a quadratic program was not solved.
struct CarDistance {
  double distance = 0;
  Eigen::Matrix<double, 1, 5> by_state = Eigen::Matrix<double, 1, 5>::Zero();
};

/// The obstacle that is nearest to the car, -1 and infinitely far where there is none; one of which the
/// distance is NaN before all others.
struct NearestObstacle {
  double distance = 0;
  int obstacle = -1;
};

/// Not for several threads at once.
class ObstacleDistances {
 public:
  explicit ObstacleDistances(const CarProblem& problem);
  ObstacleDistances(const CarProblem::Car& car, std::span<const CarObstacle> obstacles,
                    CarProblem::CapsuleDistances capsules);

  /// From all obstacles in all states; overwrites what was there.
  void evaluate(std::span<const CarState> states);

  /// Of the states that were evaluated last.
  [[nodiscard]] const CarDistance& at(std::size_t state, std::size_t obstacle) const {
    return distances_[state * obstacles_ + obstacle];
  }
  [[nodiscard]] NearestObstacle nearest(std::size_t state) const;

  /// Quadratic programs solved so far, and the interior-point iterations of all of them.
  struct Work {
    long programs = 0, iterations = 0;
  };
  [[nodiscard]] const Work& work() const { return work_; }

 private:
  /// Distances from obstacles of one kind.
  using Evaluate = std::function<void(std::span<const CarState>, ObstacleDistances&)>;

  [[nodiscard]] CarDistance& entry(std::size_t state, std::size_t obstacle) {
    return distances_[state * obstacles_ + obstacle];
  }
  template <int dim_A, int m_A, int dim_B, int m_B>
  void add_programs(const PaddedOutline& car, const std::vector<PaddedOutline>& obstacles,
                    const std::vector<std::size_t>& chosen);
  void add_capsules(const PaddedOutline& car, const std::vector<PaddedOutline>& obstacles,
                    const std::vector<std::size_t>& chosen);

  std::size_t obstacles_;
  std::vector<Evaluate> kinds_;
  std::vector<CarDistance> distances_;  // of a state one after the other
  Work work_;
};

/// Of one state from one obstacle.
[[nodiscard]] CarDistance car_distance(
    const CarProblem::Car& car, const CarState& state, const CarObstacle& obstacle,
    CarProblem::CapsuleDistances capsules = CarProblem::CapsuleDistances::closed_form);

[[nodiscard]] NearestObstacle nearest_obstacle(const CarProblem& problem, const CarState& state);

}  // namespace abut
