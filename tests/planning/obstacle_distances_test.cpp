#include "apps/planning/obstacle_distances.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace abut::test {
namespace {

using Capsules = CarProblem::CapsuleDistances;

std::vector<CarProblem::Car> every_car() {
  std::vector<CarProblem::Car> cars(4);
  cars[1].half_length = 0.0;
  cars[2].polygon = {{-0.6, -0.65}, {3.3, -0.65}, {3.3, 0.65}, {-0.6, 0.65}};
  cars[2].padding = 0.3;
  cars[3].polygon = {{-0.6, -0.65}, {2.0, -0.65}, {3.3, -0.2}, {3.3, 0.2}, {2.0, 0.65}, {-0.6, 0.65}};
  cars[3].padding = 0.1;
  return cars;
}

std::vector<CarObstacle> every_obstacle() {
  return {{"capsule", {0.3, 0.1}, 0.3, 0.7, 2.0},
          {"disc", {0.0, -0.4}, 0.3, 0.6, 0.0},
          {"triangle", {0.0, 0.0}, -0.4, 1, 0, {{-2, -1}, {2, -1}, {0, 1.5}}, 0.4},
          {"rectangle", {0.5, 0.0}, 0.1, 1, 0, {{-5.5, -0.75}, {5.5, -0.75}, {5.5, 0.75}, {-5.5, 0.75}}, 0.5},
          {"pentagon, sharp", {0.0, 0.0}, 0.0, 1, 0, {{-3, -1}, {0, -1.8}, {3, -1}, {1, 1}, {-2, 1}}, 0.0},
          {"octagon",
           {1.0, 1.0},
           0.7,
           1,
           0,
           {{2, -1}, {2, 1}, {1, 2}, {-1, 2}, {-2, 1}, {-2, -1}, {-1, -2}, {1, -2}},
           0.2}};
}

CarState random_pose_of(Random& random, double range) {
  CarState state;
  state << random_vector<2>(random, range), random.uniform(-3.0, 3.0), random.uniform(-5.0, 10.0), 0.1;
  return state;
}

/// Of cores that do not overlap: the least distance of a corner of one from an edge of the other.
double distance_of_cores(const PaddedOutline& A, const PaddedOutline& B) {
  double least = std::numeric_limits<double>::infinity();
  const auto from_edges = [&](const PaddedOutline& one, const PaddedOutline& other) {
    for (const Vec2<double>& p : one.corners) {
      for (std::size_t i = 0; i < other.corners.size(); ++i) {
        const Vec2<double>& start = other.corners[i];
        const Vec2<double> along = other.corners[(i + 1) % other.corners.size()] - start;
        const double length = along.squaredNorm();
        const double share = length > 0.0 ? std::clamp((p - start).dot(along) / length, 0.0, 1.0) : 0.0;
        least = std::min(least, (start + share * along - p).norm());
      }
    }
  };
  from_edges(A, B);
  from_edges(B, A);
  return least;
}

/// The signed distance by plane geometry.
double expected_distance(const CarProblem::Car& car, const CarState& state, const CarObstacle& obstacle) {
  const PaddedOutline A = outline_of(car, state), B = outline_of(obstacle);
  const double gap = core_separation(A, B).gap;
  return (gap < 0.0 ? gap : distance_of_cores(A, B)) - A.padding - B.padding;
}

}  // namespace

TEST_CASE("ObstacleDistances: are those of plane geometry, of every pair of shapes", "[planning][value]") {
  Random random(1);
  const std::vector<CarObstacle> obstacles = every_obstacle();
  for (const Capsules capsules : {Capsules::closed_form, Capsules::quadratic_programs}) {
    for (const CarProblem::Car& car : every_car()) {
      ObstacleDistances distances(car, obstacles, capsules);
      std::vector<CarState> states;
      for (int i = 0; i < 400; ++i) states.push_back(random_pose_of(random, i % 2 == 0 ? 4.0 : 40.0));
      distances.evaluate(states);
      std::vector<int> overlaps(obstacles.size());
      for (std::size_t k = 0; k < states.size(); ++k) {
        double nearest = std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < obstacles.size(); ++j) {
          const CarDistance& at = distances.at(k, j);
          const double expected = expected_distance(car, states[k], obstacles[j]);
          CAPTURE(k, states[k].transpose(), obstacles[j].name, car.polygon.size());
          CHECK(close(at.distance, expected, 1e-10, 1e-7));
          nearest = std::min(nearest, at.distance);
          const PaddedOutline car_W = outline_of(car, states[k]);
          overlaps[j] += core_separation(car_W, outline_of(obstacles[j])).gap < 0.0;
        }
        CHECK(distances.nearest(k).distance == nearest);
      }
      if (!car.polygon.empty()) CHECK(*std::min_element(overlaps.begin(), overlaps.end()) > 5);
      if (car.polygon.empty() && capsules == Capsules::closed_form) {
        CHECK(distances.work().programs == 4 * 400);
      } else {
        CHECK(distances.work().programs == 6 * 400);
      }
      CHECK(distances.work().iterations > 5 * distances.work().programs);
      CHECK(distances.work().iterations < 15 * distances.work().programs);
    }
  }
}

TEST_CASE("ObstacleDistances: gradients agree with differences, of cores that overlap too",
          "[planning][derivative]") {
  Random random(2);
  int overlaps = 0, kinks = 0, checks = 0;
  for (const CarProblem::Car& car : every_car()) {
    for (const CarObstacle& obstacle : every_obstacle()) {
      for (const Capsules capsules : {Capsules::closed_form, Capsules::quadratic_programs}) {
        ObstacleDistances distances(car, {&obstacle, 1}, capsules);
        for (int i = 0; i < 40; ++i) {
          const CarState state = random_pose_of(random, i % 2 == 0 ? 3.0 : 8.0);
          distances.evaluate({&state, 1});
          const CarDistance at = distances.at(0, 0);
          CAPTURE(i, state.transpose(), obstacle.name, car.polygon.size(), at.distance);
          CHECK(at.by_state.tail<2>().isZero(0.0));
          CHECK(close(at.by_state.head<2>().norm(), 1.0, 1e-12, 0));
          const CarState weights = random_vector<5>(random);
          const auto along = [&](double h) {
            const CarState moved_state = state + h * weights;
            distances.evaluate({&moved_state, 1});
            return distances.at(0, 0).distance;
          };
          const SweptDerivative swept = fd_sweep(along, 0.0, 1e-3, 1e-6, 1e-6);
          ++checks;
          const double padding = outline_of(car).padding + outline_of(obstacle).padding;
          overlaps += at.distance < -padding;
          if (swept.disagrees_with_itself) {
            ++kinks;
            continue;
          }
          CHECK(close(at.by_state.dot(weights), swept.value, 1e-5, 1e-5));
        }
      }
    }
  }
  CHECK(overlaps > 200);
  CHECK(kinks < checks / 50);
}

TEST_CASE("ObstacleDistances: many states at once are those one by one, bit for bit", "[planning][batch]") {
  Random random(3);
  const std::vector<CarObstacle> obstacles = every_obstacle();
  for (const CarProblem::Car& car : every_car()) {
    std::vector<CarState> states;
    for (int i = 0; i < 37; ++i) states.push_back(random_pose_of(random, 8.0));
    ObstacleDistances all(car, obstacles, Capsules::quadratic_programs);
    all.evaluate(states);
    for (std::size_t k = 0; k < states.size(); ++k) {
      for (std::size_t j = 0; j < obstacles.size(); ++j) {
        const CarDistance one = car_distance(car, states[k], obstacles[j], Capsules::quadratic_programs);
        CAPTURE(k, obstacles[j].name);
        CHECK(one.distance == all.at(k, j).distance);
        CHECK(one.by_state == all.at(k, j).by_state);
      }
    }
  }
}

TEST_CASE("ObstacleDistances: edges that are exactly parallel, and states that are not finite",
          "[planning][value]") {
  const CarProblem::Car car = every_car()[2];
  std::vector<CarObstacle> obstacles{
      {"hedge", {27.0, -9.5}, 0.0, 0.4, 5.0},
      {"wall", {0.0, 0.0}, 0.0, 1, 0, {{0, 4}, {40, 4}, {40, 5}, {0, 5}}, 0.2}};
  ObstacleDistances distances(car, obstacles, Capsules::quadratic_programs);
  std::vector<CarState> states;
  for (int i = 0; i <= 60; ++i) states.push_back(CarState(i / 60.0 * CarState(34.0, -6.0, 0.0, 0.0, 0.0)));
  distances.evaluate(states);
  for (std::size_t k = 0; k < states.size(); ++k) {
    for (std::size_t j = 0; j < obstacles.size(); ++j) {
      CAPTURE(k, j);
      CHECK(close(distances.at(k, j).distance, expected_distance(car, states[k], obstacles[j]), 0, 1e-8));
      CHECK(distances.at(k, j).by_state.allFinite());
    }
  }
  states[3][0] = std::numeric_limits<double>::quiet_NaN();
  distances.evaluate(states);
  CHECK(std::isnan(distances.at(3, 0).distance));
  CHECK(std::isnan(distances.at(3, 1).distance));
  CHECK(std::isfinite(distances.at(4, 0).distance));
}

TEST_CASE("ObstacleDistances: without obstacles nothing is near", "[planning][value]") {
  const CarState state = CarState::Zero();
  ObstacleDistances none({}, {}, Capsules::closed_form);
  none.evaluate({&state, 1});
  CHECK(none.nearest(0).obstacle == -1);
  CHECK(std::isinf(none.nearest(0).distance));
}

}  // namespace abut::test
