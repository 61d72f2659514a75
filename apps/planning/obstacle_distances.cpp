#include "apps/planning/obstacle_distances.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "collision/capsule_distance.h"
#include "collision/convex/proximity_qp.h"
#include "collision/convex/proximity_qp_sets.h"
#include "engine/pack.h"

namespace abut {
namespace {

using DoubleLanes = Pack<double, 8>;

/// Cores nearer than this, relative to ell, are asked whether they overlap.
constexpr double k_near = 1e-4;
/// Of a program: where edges are exactly parallel, rounding leaves up to 1e-7 in multipliers of weights far
/// apart, which does not move the distance.
constexpr double k_largest_residual = 1e-6;

Vec3<double> in_space(const Vec2<double>& p) { return {p.x(), p.y(), 0.0}; }

/// The core of an outline as a segment, or a polygon with spare constraints.
template <int dim, int constraints>
PaddedCore<double, dim, constraints> core_of(const PaddedOutline& outline) {
  if constexpr (dim == 1) {
    if (outline.corners.size() == 2) {
      return padded<1, 2>(segment_core(in_space(outline.corners[0]), in_space(outline.corners[1])),
                          outline.padding);
    }
    // A point: a segment along a vector of length 0, of any size.
    PaddedCore<double, 1, 2> point{};
    point.centre = in_space(outline.corners[0]);
    point.axes[0].setZero();
    point.size = point.padding = outline.padding;
    point.normals[0][0] = 1.0 / point.size;
    point.normals[1][0] = -1.0 / point.size;
    return point;
  } else {
    std::vector<Vec3<double>> corners;
    for (const Vec2<double>& corner : outline.corners) corners.push_back(in_space(corner));
    return padded<dim, constraints>(polygon_core(corners), outline.padding);
  }
}

template <int dim, int constraints>
void set_lane(PaddedCore<DoubleLanes, dim, constraints>& to, const PaddedCore<double, dim, constraints>& from,
              int lane) {
  for (int i = 0; i < 3; ++i) {
    to.centre[i].set_lane(lane, from.centre[i]);
    for (int k = 0; k < dim; ++k) to.axes[k][i].set_lane(lane, from.axes[k][i]);
  }
  for (int i = 0; i < constraints; ++i) {
    for (int k = 0; k < dim; ++k) to.normals[i][k].set_lane(lane, from.normals[i][k]);
  }
  to.size.set_lane(lane, from.size);
  to.padding.set_lane(lane, from.padding);
}

/// Rotations and places of cars in W.
struct CarPoses {
  Mat3<DoubleLanes> R_WC = Mat3<DoubleLanes>::Identity();
  Vec3<DoubleLanes> p_WC = Vec3<DoubleLanes>::Zero();

  void set_lane(const CarState& state, int lane) {
    const double c = std::cos(state[2]), s = std::sin(state[2]);
    R_WC(0, 0).set_lane(lane, c);
    R_WC(0, 1).set_lane(lane, -s);
    R_WC(1, 0).set_lane(lane, s);
    R_WC(1, 1).set_lane(lane, c);
    p_WC[0].set_lane(lane, state[0]);
    p_WC[1].set_lane(lane, state[1]);
  }
};

/// d phi/d state of the car: the normal n, from car to obstacle, at a point that moves with the car.
Eigen::Matrix<double, 1, 5> by_state_of(const CarState& state, const Vec2<double>& normal,
                                        const Vec2<double>& point) {
  const Vec2<double> arm = point - state.head<2>();
  Eigen::Matrix<double, 1, 5> r;
  r << -normal.x(), -normal.y(), arm.y() * normal.x() - arm.x() * normal.y(), 0.0, 0.0;
  return r;
}

/// Greatest |P x + c + G^T y| by max(1, |c|).
template <int dim_A, int m_A, int dim_B, int m_B>
DoubleLanes residual_of(const ProximityProgram<DoubleLanes, dim_A, m_A, dim_B, m_B>& program,
                        const ProximitySolution<DoubleLanes, dim_A + dim_B, m_A + m_B>& solution) {
  using namespace proximity_qp_detail;
  DoubleLanes r[dim_A + dim_B], scale(1), largest(0);
  program.gradient(solution.x, r);
  program.add_transposed(solution.y, r);
  for (int i = 0; i < dim_A + dim_B; ++i) {
    scale = larger(scale, magnitude(program.c[i]));
    largest = select(largest > magnitude(r[i]), largest, magnitude(r[i]));  // keeps NaN
  }
  return largest / scale;
}

/// Calls work(first, count) for pairs 0 to `pairs`, so many at a time as there are lanes.
template <typename Work>
void in_lanes(std::size_t pairs, const Work& work) {
  for (std::size_t first = 0; first < pairs; first += DoubleLanes::k_lanes) {
    work(first, std::min<std::size_t>(DoubleLanes::k_lanes, pairs - first));
  }
}

/// The number of constraints of the types of polygons.
int constraint_room(std::size_t corners) { return corners <= 4 ? 4 : 8; }
static_assert(PaddedOutline::k_most_corners <= 8);

}  // namespace

ObstacleDistances::ObstacleDistances(const CarProblem& problem)
    : ObstacleDistances(problem.car, problem.obstacles, problem.solver.capsule_distances) {}

ObstacleDistances::ObstacleDistances(const CarProblem::Car& car, std::span<const CarObstacle> obstacles,
                                     CarProblem::CapsuleDistances capsules)
    : obstacles_(obstacles.size()) {
  const PaddedOutline of_car = outline_of(car);
  std::vector<PaddedOutline> outlines;
  for (const CarObstacle& obstacle : obstacles) outlines.push_back(outline_of(obstacle));
  // Kinds of obstacles by the room that the polygon with more corners needs, 0: neither is one.
  const bool is_polygon_car = of_car.corners.size() > 2;
  for (const int room : {0, 4, 8}) {
    std::vector<std::size_t> round, cornered;
    for (std::size_t j = 0; j < outlines.size(); ++j) {
      const bool is_polygon = outlines[j].corners.size() > 2;
      std::size_t most = 0;
      if (is_polygon) most = outlines[j].corners.size();
      if (is_polygon_car) most = std::max(most, of_car.corners.size());
      if (room == (most == 0 ? 0 : constraint_room(most))) (is_polygon ? cornered : round).push_back(j);
    }
    if (room == 0 && capsules == CarProblem::CapsuleDistances::closed_form) {
      add_capsules(of_car, outlines, round);
    } else if (room == 0) {
      add_programs<1, 2, 1, 2>(of_car, outlines, round);
    } else if (room == 4 && is_polygon_car) {
      add_programs<2, 4, 1, 2>(of_car, outlines, round);
      add_programs<2, 4, 2, 4>(of_car, outlines, cornered);
    } else if (room == 4) {
      add_programs<1, 2, 2, 4>(of_car, outlines, cornered);
    } else if (is_polygon_car) {
      add_programs<2, 8, 1, 2>(of_car, outlines, round);
      add_programs<2, 8, 2, 8>(of_car, outlines, cornered);
    } else {
      add_programs<1, 2, 2, 8>(of_car, outlines, cornered);
    }
  }
}

template <int dim_A, int m_A, int dim_B, int m_B>
void ObstacleDistances::add_programs(const PaddedOutline& car, const std::vector<PaddedOutline>& obstacles,
                                     const std::vector<std::size_t>& chosen) {
  if (chosen.empty()) return;
  const auto core_C = core_of<dim_A, m_A>(car);
  std::vector<PaddedCore<double, dim_B, m_B>> cores_W;
  std::vector<PaddedOutline> outlines;
  for (const std::size_t j : chosen) {
    cores_W.push_back(core_of<dim_B, m_B>(obstacles[j]));
    outlines.push_back(obstacles[j]);
  }
  kinds_.push_back(
      [car, core_C, cores_W, outlines, chosen](std::span<const CarState> states, ObstacleDistances& all) {
        constexpr ProximitySettings<double> k_settings;
        const auto car_lanes = cast<DoubleLanes>(core_C);
        const std::size_t n = states.size();
        in_lanes(n * chosen.size(), [&](std::size_t first, std::size_t count) {
          CarPoses poses;
          PaddedCore<DoubleLanes, dim_B, m_B> obstacle = cast<DoubleLanes>(cores_W[first / n]);
          for (int lane = 0; lane < DoubleLanes::k_lanes; ++lane) {
            const std::size_t pair = first + std::min<std::size_t>(static_cast<std::size_t>(lane), count - 1);
            poses.set_lane(states[pair % n], lane);
            if (pair / n != first / n) set_lane(obstacle, cores_W[pair / n], lane);
          }
          const auto car_W = placed(car_lanes, poses.R_WC, poses.p_WC);
          const auto program = proximity_program(car_W, obstacle, DoubleLanes(k_settings.lambda));
          const auto solution = interior_point(program, k_settings.solver);
          const Vec3<DoubleLanes> axis(DoubleLanes(1), DoubleLanes(0), DoubleLanes(0));
          const auto at = proximity_of_solution(car_W, obstacle, solution, k_settings, axis);
          const DoubleLanes residual = residual_of(program, solution);
          for (std::size_t i = 0; i < count; ++i) {
            const auto lane = static_cast<int>(i);
            const std::size_t o = (first + i) / n, k = (first + i) % n;
            CarDistance& result = all.entry(k, chosen[o]);
            ++all.work_.programs;
            all.work_.iterations += static_cast<long>(solution.iterations[lane]);
            result.distance = at.distance[lane];
            result.by_state = by_state_of(states[k], {at.normal[0][lane], at.normal[1][lane]},
                                          {at.core_A[0][lane], at.core_A[1][lane]});
            if (!(residual[lane] <= k_largest_residual))
              result.distance = std::numeric_limits<double>::quiet_NaN();
            if (at.core_distance[lane] > k_near * (core_C.size + cores_W[o].size)) continue;
            const CoreSeparation parting =
                core_separation(moved(car, states[k].template head<2>(), states[k][2]), outlines[o]);
            if (parting.gap > 0.0) continue;
            result.distance = parting.gap - car.padding - outlines[o].padding;
            result.by_state = by_state_of(states[k], parting.normal, parting.point);
          }
        });
      });
}

void ObstacleDistances::add_capsules(const PaddedOutline& car, const std::vector<PaddedOutline>& obstacles,
                                     const std::vector<std::size_t>& chosen) {
  if (chosen.empty()) return;
  const auto ends_of = [](const PaddedOutline& outline) {
    return CapsuleEnds<double>{in_space(outline.corners.front()), in_space(outline.corners.back()),
                               outline.padding};
  };
  std::vector<CapsuleEnds<double>> capsules_W;
  for (const std::size_t j : chosen) capsules_W.push_back(ends_of(obstacles[j]));
  kinds_.push_back(
      [ends_C = ends_of(car), capsules_W, chosen](std::span<const CarState> states, ObstacleDistances& all) {
        const Vec3<DoubleLanes> up(DoubleLanes(0), DoubleLanes(0), DoubleLanes(1));
        const std::size_t n = states.size();
        in_lanes(n * chosen.size(), [&](std::size_t first, std::size_t count) {
          CarPoses poses;
          CapsuleEnds<DoubleLanes> car_W, obstacle;
          for (int lane = 0; lane < DoubleLanes::k_lanes; ++lane) {
            const std::size_t pair = first + std::min<std::size_t>(static_cast<std::size_t>(lane), count - 1);
            poses.set_lane(states[pair % n], lane);
            const CapsuleEnds<double>& from = capsules_W[pair / n];
            for (int i = 0; i < 3; ++i) {
              obstacle.start[i].set_lane(lane, from.start[i]);
              obstacle.end[i].set_lane(lane, from.end[i]);
            }
            obstacle.radius.set_lane(lane, from.radius);
          }
          const auto placed_end = [&](const Vec3<double>& end) {
            const Vec3<DoubleLanes> r =
                transform<DoubleLanes, DoubleLanes>(poses.R_WC, end.template cast<DoubleLanes>());
            return Vec3<DoubleLanes>(r[0] + poses.p_WC[0], r[1] + poses.p_WC[1], r[2]);
          };
          car_W.start = placed_end(ends_C.start);
          car_W.end = placed_end(ends_C.end);
          car_W.radius = DoubleLanes(ends_C.radius);
          const CapsuleDistance<DoubleLanes> at = capsule_distance_in_plane(car_W, obstacle, up);
          for (std::size_t i = 0; i < count; ++i) {
            const auto lane = static_cast<int>(i);
            const std::size_t k = (first + i) % n;
            CarDistance& result = all.entry(k, chosen[(first + i) / n]);
            result.distance = at.distance[lane];
            result.by_state = by_state_of(states[k], {at.normal[0][lane], at.normal[1][lane]},
                                          {at.point_A[0][lane], at.point_A[1][lane]});
          }
        });
      });
}

void ObstacleDistances::evaluate(std::span<const CarState> states) {
  distances_.resize(states.size() * obstacles_);
  for (const Evaluate& kind : kinds_) kind(states, *this);
}

NearestObstacle ObstacleDistances::nearest(std::size_t state) const {
  NearestObstacle nearest{k_infinity, -1};
  for (std::size_t j = 0; j < obstacles_; ++j) {
    const NearestObstacle other{at(state, j).distance, static_cast<int>(j)};
    if (std::isnan(other.distance)) return other;
    if (other.distance < nearest.distance) nearest = other;
  }
  return nearest;
}

CarDistance car_distance(const CarProblem::Car& car, const CarState& state, const CarObstacle& obstacle,
                         CarProblem::CapsuleDistances capsules) {
  ObstacleDistances distances(car, {&obstacle, 1}, capsules);
  distances.evaluate({&state, 1});
  return distances.at(0, 0);
}

NearestObstacle nearest_obstacle(const CarProblem& problem, const CarState& state) {
  ObstacleDistances distances(problem);
  distances.evaluate({&state, 1});
  return distances.nearest(0);
}

}  // namespace abut
