#include "apps/planning/car_problem.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/planning/car_plan.h"
#include "apps/planning/car_plan_io.h"
#include "apps/planning/obstacle_distances.h"
#include "engine/atomic_file.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/malformed.h"
#include "tests/support/temporary_folder.h"

namespace abut::test {
namespace {

using Catch::Contains;

const std::filesystem::path k_file = std::filesystem::path(ABUT_SOURCE_DIR) /
                                     "assets/experiments/car_past_bus.toml",
                            k_polygon_file = std::filesystem::path(ABUT_SOURCE_DIR) /
                                             "assets/experiments/car_past_polygons.toml";

/// What is asked of a plan: 1e-6 m, rad, m/s.
constexpr double k_feasible = 1e-6;

CarState random_state(Random& random) {
  CarState state;
  state << random_vector<2>(random, 5.0), random.uniform(-3.0, 3.0), random.uniform(-5.0, 10.0),
      random.uniform(-0.6, 0.6);
  return state;
}

/// The states of a plan's inputs, driven from its start with `parts` steps of the integrator an interval.
std::vector<CarState> driven(const CarProblem& problem, const CarPlan& plan, int parts) {
  std::vector<CarState> states{problem.start};
  for (const CarInput& input : plan.inputs) {
    CarState state = states.back();
    for (int i = 0; i < parts; ++i)
      state = car_step<double>(state, input, problem.car.wheelbase, problem.time_step / parts);
    states.push_back(state);
  }
  return states;
}

/// Checks what solved means, with nothing of the planner's own figures.
void check_feasible(const CarProblem& problem, const CarPlan& plan) {
  REQUIRE(plan.states.size() == static_cast<std::size_t>(problem.knots));
  REQUIRE(plan.inputs.size() + 1 == plan.states.size());
  CHECK(plan.states.front() == problem.start);
  CHECK(plan.states.back() == problem.goal);
  double defect = 0.0, collision = 0.0;
  for (std::size_t k = 0; k < plan.states.size(); ++k) {
    const NearestObstacle nearest = nearest_obstacle(problem, plan.states[k]);
    CHECK(plan.distances[k] == nearest.distance);
    collision = std::max(collision, problem.clearance - nearest.distance);
    CHECK(std::abs(plan.states[k][4]) <= problem.limits.steering + k_feasible);
    CHECK(plan.states[k][3] <= problem.limits.highest_speed + k_feasible);
    CHECK(plan.states[k][3] >= problem.limits.lowest_speed - k_feasible);
    if (k == plan.inputs.size()) break;
    CHECK(std::abs(plan.inputs[k][0]) <= problem.limits.acceleration + k_feasible);
    CHECK(std::abs(plan.inputs[k][1]) <= problem.limits.steering_rate + k_feasible);
    const CarState next =
        car_step<double>(plan.states[k], plan.inputs[k], problem.car.wheelbase, problem.time_step);
    defect = std::max(defect, (next - plan.states[k + 1]).cwiseAbs().maxCoeff());
  }
  CHECK(defect == plan.worst_defect);
  CHECK(std::max(0.0, collision) == plan.worst_collision);
  CHECK(defect <= k_feasible);
  CHECK(collision <= k_feasible);
}

/// A short drive past a post.
CarProblem small_problem() {
  CarProblem problem;
  problem.knots = 31;
  problem.start << 0.0, 0.0, 0.0, 5.0, 0.0;
  problem.goal << 16.0, 0.0, 0.0, 5.0, 0.0;
  problem.obstacles.push_back({"post", {9.0, 0.3}, 0.0, 0.4, 0.0});
  return problem;
}

}  // namespace

TEST_CASE("car_step: Jacobians agree with Jet and differences", "[planning][derivative]") {
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const CarState state = random_state(random);
    const CarInput input = random_vector<2>(random, 2.0);
    const double wheelbase = random.uniform(1.0, 4.0), time = random.uniform(0.01, 0.5);
    const CarStep step = car_step_derivatives(state, input, wheelbase, time);
    CHECK(close(step.state, car_step<double>(state, input, wheelbase, time), 1e-15, 1e-15));
    Eigen::Matrix<double, 7, 1> both;
    both << state, input;
    const auto function = [&](const auto& x) {
      using S = typename std::decay_t<decltype(x)>::Scalar;
      return car_step<S>(x.template head<5>(), x.template tail<2>(), wheelbase, time);
    };
    Eigen::Matrix<double, 5, 7> jacobian;
    jacobian << step.by_state, step.by_input;
    CAPTURE(i, both.transpose());
    CHECK(close(jacobian, jet_jacobian(function, both), 1e-12, 1e-13));
    for (int c = 0; c < 7; ++c) {
      const Eigen::Matrix<double, 7, 1> step_c = 1e-6 * Eigen::Matrix<double, 7, 1>::Unit(c);
      const CarState forward = function(Eigen::Matrix<double, 7, 1>(both + step_c)),
                     backward = function(Eigen::Matrix<double, 7, 1>(both - step_c));
      CHECK(close(jacobian.col(c), CarState((forward - backward) / 2e-6), 1e-7, 1e-7));
    }
  }
}

TEST_CASE("car_step: turns on a circle, and is of order four", "[planning][value]") {
  // Constant steering: radius wheelbase/tan(gamma) about the rear axle.
  CarState state;
  state << 1.0, 2.0, 0.4, 3.0, 0.3;
  const double wheelbase = 2.5, radius = wheelbase / std::tan(0.3), time = 0.8, turn = 3.0 * time / radius;
  CarState exact = state;
  exact[0] += radius * (std::sin(0.4 + turn) - std::sin(0.4));
  exact[1] -= radius * (std::cos(0.4 + turn) - std::cos(0.4));
  exact[2] += turn;
  const auto error = [&](int parts) {
    CarState x = state;
    for (int i = 0; i < parts; ++i) x = car_step<double>(x, CarInput::Zero(), wheelbase, time / parts);
    return (x - exact).norm();
  };
  CHECK(error(1) < 1e-3);
  CHECK(error(8) > 0.0);
  CHECK(std::log2(error(4) / error(8)) == Approx(4.0).margin(0.1));
}

TEST_CASE("car_distance: gradient agrees with differences, of crossing centre lines too",
          "[planning][derivative]") {
  Random random(2);
  const CarProblem::Car car;
  int crossings = 0, kinks = 0;
  for (int i = 0; i < 500; ++i) {
    const CarState state = random_state(random);
    const CarObstacle obstacle{"", random_vector<2>(random, 5.0), random.uniform(-3, 3), 0.7,
                               random.uniform(0, 5)};
    const CarDistance at = car_distance(car, state, obstacle);
    crossings += at.distance < -car.radius - obstacle.radius;
    CAPTURE(i, state.transpose(), at.distance);
    CHECK(at.by_state.tail<2>().isZero(0.0));
    CHECK(close(at.by_state.head<2>().norm(), 1.0, 1e-12, 0));
    const CarState weights = random_vector<5>(random);
    const auto along = [&](double h) {
      return car_distance(car, CarState(state + h * weights), obstacle).distance;
    };
    const SweptDerivative swept = fd_sweep(along, 0.0, 1e-3, 1e-6, 1e-8);
    if (swept.disagrees_with_itself) {
      ++kinks;
      continue;
    }
    CHECK(close(at.by_state.dot(weights), swept.value, 1e-6, 1e-7));
  }
  CHECK(crossings > 20);
  CHECK(kinks < 10);
}

TEST_CASE("plan_car: the car of assets/experiments gets past the bus, from right through it",
          "[planning][value]") {
  const CarProblem problem = read_car_problem(k_file);
  double deepest = 0.0;
  for (int i = 0; i <= 100; ++i)
    deepest = std::min(deepest, nearest_obstacle(problem, CarState(problem.start +
                                                                   0.01 * i * (problem.goal - problem.start)))
                                    .distance);
  REQUIRE(deepest < -problem.car.radius - problem.obstacles[0].radius);  // centre lines cross
  REQUIRE(car_step<double>(problem.start, CarInput::Zero(), problem.car.wheelbase, problem.duration())
              .isApprox(problem.goal) == false);

  std::vector<CarPlanProgress> progress;
  const CarPlan plan = plan_car(problem, [&](const CarPlanProgress& now) {
    progress.push_back(now);
    return true;
  });
  CAPTURE(plan.message);
  REQUIRE(plan.ok());
  CHECK(plan.guess == CarPlan::Guess::straight);
  check_feasible(problem, plan);
  CHECK(plan.worst_limit <= k_feasible);
  REQUIRE(static_cast<int>(progress.size()) == plan.iterations);
  CHECK(progress.front().worst_defect > 0.1);
  CHECK(progress.front().worst_collision > 1.0);
  CHECK(progress.back().cost == plan.cost);
  // It touches the bus, and does not cut its corner between two knots.
  CHECK(*std::min_element(plan.distances.begin(), plan.distances.end()) < 1e-3);
  CHECK(plan.least_distance_on_the_way > -0.01);

  // The same inputs, driven from the start.
  const std::vector<CarState> same = driven(problem, plan, 1), fine = driven(problem, plan, 20);
  for (std::size_t k = 0; k < plan.states.size(); ++k) {
    CAPTURE(k);
    CHECK(close(same[k], plan.states[k], 0, 2e-3));
    CHECK(close(fine[k], same[k], 0, 1e-4));
    CHECK(nearest_obstacle(problem, fine[k]).distance > -2e-3);
  }
}

TEST_CASE("plan_car: quadratic programs as constraints find the plan of the closed form",
          "[planning][value]") {
  CarProblem problem = read_car_problem(k_file);
  const CarPlan closed = plan_car(problem);
  problem.solver.capsule_distances = CarProblem::CapsuleDistances::quadratic_programs;
  const CarPlan plan = plan_car(problem);
  CAPTURE(plan.message);
  REQUIRE(plan.ok());
  check_feasible(problem, plan);
  CHECK(closed.programs == 0);
  CHECK(plan.programs > 60L * plan.iterations);
  CHECK(plan.program_iterations < 15 * plan.programs);
  CHECK(close(plan.cost, closed.cost, 1e-6, 0));
  CHECK(plan.iterations < 2 * closed.iterations);
}

TEST_CASE("plan_car: a padded polygon gets past polygons, a post and a hedge", "[planning][value]") {
  CarProblem problem = read_car_problem(k_polygon_file);
  const CarPlan plan = plan_car(problem);
  CAPTURE(plan.message);
  REQUIRE(plan.ok());
  check_feasible(problem, plan);
  CHECK(*std::min_element(plan.distances.begin(), plan.distances.end()) < 1e-3);
  CHECK(plan.least_distance_on_the_way > -0.1);
  // The same shapes, and a car that is a capsule.
  problem.car = read_car_problem(k_file).car;
  const CarPlan round = plan_car(problem);
  CAPTURE(round.message);
  REQUIRE(round.ok());
  check_feasible(problem, round);
  // A polygon turned with its frame is the polygon turned.
  CarProblem same = problem;
  CarObstacle& bus = same.obstacles[0];
  const PaddedOutline outline = outline_of(bus);
  bus.polygon = outline.corners;
  bus.position.setZero();
  bus.heading = 0.0;
  CHECK(close(plan_car(same).cost, round.cost, 1e-5, 0));
}

TEST_CASE("plan_car: is a minimum of the cost, and the same each time", "[planning][property]") {
  CarProblem problem = small_problem();
  const CarPlan plan = plan_car(problem), again = plan_car(problem);
  REQUIRE(plan.ok());
  check_feasible(problem, plan);
  CHECK(plan.states == again.states);
  CHECK(plan.inputs == again.inputs);
  CHECK(plan.cost > 0.0);
  problem.solver.tolerance = 1e-8;
  const CarPlan finer = plan_car(problem);
  REQUIRE(finer.ok());
  CHECK(close(finer.cost, plan.cost, 1e-4, 0));
  // More room costs more, no obstacle nothing.
  problem.solver.tolerance = 1e-6;
  problem.clearance = 0.2;
  const CarPlan wide = plan_car(problem);
  REQUIRE(wide.ok());
  check_feasible(problem, wide);
  CHECK(wide.cost > 1.05 * plan.cost);
  CHECK(*std::min_element(wide.distances.begin(), wide.distances.end()) >= 0.2 - k_feasible);
  problem.obstacles.clear();
  problem.goal[0] = 15.0;  // 3 s at 5 m/s
  const CarPlan free = plan_car(problem);
  REQUIRE(free.ok());
  CHECK(free.cost < 1e-8);
  CHECK(std::isinf(free.least_distance_on_the_way));
}

TEST_CASE("plan_car: a bus in any place that leaves room is passed", "[planning][property]") {
  const CarProblem problem = read_car_problem(k_file);
  Random random(3);
  for (int i = 0; i < 15; ++i) {
    CarProblem other = problem;
    CarObstacle& bus = other.obstacles[0];
    bus.position = {random.uniform(14.0, 22.0), random.uniform(-5.0, -1.0)};
    bus.heading = i == 0 ? std::atan2(-6.0, 34.0) : random.uniform(-1.5, 1.5);
    if (i == 0) bus.position = {17.0, -3.0};  // on the straight line, along it
    const CarPlan plan = plan_car(other);
    CAPTURE(i, bus.position.transpose(), bus.heading, plan.message);
    REQUIRE(plan.ok());
    check_feasible(other, plan);
  }
}

TEST_CASE("plan_car: limits hold where they matter", "[planning][value]") {
  CarProblem problem = small_problem();
  const CarPlan plan = plan_car(problem);
  REQUIRE(plan.ok());
  double fastest = 0.0;
  for (const CarInput& input : plan.inputs) fastest = std::max(fastest, std::abs(input[1]));
  problem.limits.steering_rate = 0.9 * fastest;
  const CarPlan slower = plan_car(problem);
  REQUIRE(slower.ok());
  check_feasible(problem, slower);
  CHECK(slower.cost > plan.cost);
  problem.limits.steering_rate = std::numeric_limits<double>::infinity();
  const CarPlan unlimited = plan_car(problem);
  REQUIRE(unlimited.ok());
  CHECK(unlimited.cost <= plan.cost * (1.0 + 1e-4));
}

TEST_CASE("plan_car: says so where the road is blocked, or the goal too far", "[planning][value]") {
  CarProblem problem = small_problem();
  for (int i = -3; i <= 3; ++i)
    problem.obstacles.push_back({"wall " + std::to_string(i), {9.0, 10.0 * i}, 1.5708, 0.5, 6.0});
  const CarPlan blocked = plan_car(problem);
  CAPTURE(blocked.message);
  CHECK_FALSE(blocked.ok());
  CHECK(blocked.status == CarPlan::Status::infeasible);
  CHECK(std::max({blocked.worst_defect, blocked.worst_collision, blocked.worst_limit}) > 0.01);
  CHECK_THAT(blocked.message, Contains("found no plan"));
  REQUIRE(blocked.distances.size() == blocked.states.size());

  CarProblem far = small_problem();
  far.goal[0] = 100.0;
  const CarPlan too_far = plan_car(far);
  CAPTURE(too_far.message);
  CHECK_FALSE(too_far.ok());
  CHECK_THAT(too_far.message, Contains("found no plan"));

  CarProblem few = small_problem();
  few.solver.max_iterations = 3;
  const CarPlan exhausted = plan_car(few);
  CHECK(exhausted.status == CarPlan::Status::exhausted);
  CHECK(exhausted.iterations <= 9);
}

TEST_CASE("plan_car: stops when it is told to", "[planning][value]") {
  const CarPlan plan =
      plan_car(small_problem(), [](const CarPlanProgress& now) { return now.iteration < 4; });
  CHECK(plan.status == CarPlan::Status::stopped);
  CHECK(plan.iterations == 4);
  CHECK(plan.states.size() == 31);
  CHECK(plan.distances.size() == 31);
}

TEST_CASE("validate(CarProblem): names what makes no sense", "[planning][value]") {
  const auto cause = [](const std::function<void(CarProblem&)>& change) {
    CarProblem problem = small_problem();
    change(problem);
    try {
      validate(problem);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  CHECK(cause([](CarProblem&) {}) == "nothing");
  CHECK_THAT(cause([](CarProblem& p) { p.knots = 1; }), Contains("knots = 1"));
  CHECK_THAT(cause([](CarProblem& p) { p.time_step = 0.0; }), Contains("time_step"));
  CHECK_THAT(cause([](CarProblem& p) { p.car.wheelbase = std::nan(""); }), Contains("wheelbase"));
  CHECK_THAT(cause([](CarProblem& p) { p.limits.steering = 1.6; }), Contains("steering"));
  CHECK_THAT(cause([](CarProblem& p) { p.limits.lowest_speed = 20.0; }), Contains("lowest_speed"));
  CHECK_THAT(cause([](CarProblem& p) { p.weights.acceleration = 0.0; }), Contains("weights.acceleration"));
  CHECK_THAT(cause([](CarProblem& p) { p.obstacles[0].radius = -1.0; }), Contains("'post'"));
  CHECK_THAT(cause([](CarProblem& p) {
               p.car.polygon = {{0, 0}, {1, 0}};
             }),
             Contains("car.polygon") && Contains("2 corners"));
  CHECK_THAT(cause([](CarProblem& p) {
               p.car.polygon = {{0, 0}, {1, 0}, {0, 1}};
             }),
             Contains("car.padding = 0"));
  CHECK_THAT(cause([](CarProblem& p) {
               p.obstacles[0].polygon = {{0, 0}, {1, 0}, {0, 1}};
               p.obstacles[0].padding = -1.0;
             }),
             Contains("'post': padding = -1"));
  CHECK_THAT(cause([](CarProblem& p) {
               p.obstacles[0].position = {16.5, 0.0};
             }),
             Contains("goal") && Contains("'post'"));
  CHECK_THAT(cause([](CarProblem& p) { p.start[3] = -1.0; }), Contains("start") && Contains("speed"));
  CHECK_THAT(cause([](CarProblem& p) { p.goal[4] = 0.7; }), Contains("goal") && Contains("steering"));
  CarProblem no_knots = small_problem();
  no_knots.knots = 0;
  CHECK_THROWS_AS(plan_car(no_knots), std::invalid_argument);
}

TEST_CASE("read_car_problem: reads every key, and names what is wrong by file and line",
          "[planning][value]") {
  const CarProblem problem = read_car_problem(k_file);
  CHECK(problem.knots == 61);
  CHECK(problem.duration() == Approx(6.0));
  CHECK(problem.car.radius == 0.95);
  CHECK(problem.start[3] == 6.0);
  CHECK(problem.goal.head<2>() == Vec2<double>(34.0, -6.0));
  REQUIRE(problem.obstacles.size() == 1);
  CHECK(problem.obstacles[0].name == "bus");
  CHECK(problem.obstacles[0].half_length == 4.75);
  CHECK(problem.solver.tolerance == 1e-6);

  const TemporaryFolder folder;
  const std::string text = read_file(k_file);
  const auto rejected = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t place = changed.find(from);
    REQUIRE(place != std::string::npos);
    changed.replace(place, from.size(), to);
    const std::filesystem::path file = folder.write("car.toml", changed);
    const auto line =
        1 + std::count(changed.begin(), changed.begin() + static_cast<std::ptrdiff_t>(place), '\n');
    const std::string message = rejection([&] { return read_car_problem(file); });
    CAPTURE(from, to, message);
    CHECK_THAT(message, Contains("car.toml:" + std::to_string(line) + ":"));
    return message;
  };
  CHECK_THAT(rejected("knots = 61", "knots = 1"), Contains("knots"));
  CHECK_THAT(rejected("knots = 61", "knots = 61.5"), Contains("whole number"));
  CHECK_THAT(rejected("knots = 61", "knot = 61"), Contains("knots"));
  CHECK_THAT(rejected("experiment = \"car\"", "experiment = \"cart\""), Contains("car"));
  CHECK_THAT(rejected("wheelbase = 2.7", "wheelbase = -2.7"), Contains("car.wheelbase"));
  CHECK_THAT(rejected("radius = 1.25", "radius = nan"), Contains("radius"));
  CHECK_THAT(rejected("half_length = 4.75", "half_lenght = 4.75"), Contains("half_length"));
  CHECK_THAT(rejected("steering = 0.6", "steering = 2.0"), Contains("limits.steering"));
  CHECK_THAT(rejected("lowest_speed = 0.0", "lowest_speed = 15.0"), Contains("below highest_speed"));
  CHECK_THAT(rejected("position = [0.0, 0.0]", "position = [0.0]"), Contains("start.position"));
  CHECK_THAT(rejected("tolerance = 1e-6", "tolerance = 0"), Contains("solver.tolerance"));
  CHECK_THAT(rejected("lowest_speed", "lowst_speed"), Contains("did you mean 'lowest_speed'"));
  const std::string inside = rejection([&] {
    std::string changed = text;
    changed.replace(changed.find("[34.0, -6.0]"), 12, "[20.0, -3.0]");
    return read_car_problem(folder.write("car.toml", changed));
  });
  CHECK_THAT(inside, Contains("goal") && Contains("'bus'"));
  CHECK_THAT(rejection([&] { return read_car_problem(folder.path() / "none.toml"); }), Contains("none.toml"));
}

TEST_CASE("read_car_problem: reads polygons, and names what is wrong with one by file and line",
          "[planning][value]") {
  const CarProblem problem = read_car_problem(k_polygon_file);
  REQUIRE(problem.obstacles.size() == 4);
  CHECK(problem.car.polygon.size() == 4);
  CHECK(problem.car.padding == 0.3);
  CHECK(problem.obstacles[0].polygon[2] == Vec2<double>(5.5, 0.75));
  CHECK(problem.obstacles[0].padding == 0.5);
  CHECK(problem.obstacles[1].position == Vec2<double>(0.0, 0.0));
  CHECK(problem.obstacles[2].polygon.empty());

  const TemporaryFolder folder;
  const std::string text = read_file(k_polygon_file);
  const auto rejected = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t place = changed.find(from);
    REQUIRE(place != std::string::npos);
    changed.replace(place, from.size(), to);
    const std::filesystem::path file = folder.write("car.toml", changed);
    const auto line =
        1 + std::count(changed.begin(), changed.begin() + static_cast<std::ptrdiff_t>(place), '\n');
    const std::string message = rejection([&] { return read_car_problem(file); });
    CAPTURE(from, to, message);
    CHECK_THAT(message, Contains("car.toml:" + std::to_string(line) + ":"));
    return message;
  };
  const std::string island = "polygon = [[24.0, 2.0], [27.0, 1.2], [30.0, 2.0], [28.0, 4.0], [25.0, 4.0]]",
                    allowed = "allowed: a convex polygon of 3 to 8 corners";
  CHECK_THAT(rejected(island, "polygon = [[24, 2], [25, 2], [26, 2]]"),
             Contains("on a line") && Contains(allowed));
  CHECK_THAT(rejected(island, "polygon = [[24, 2], [25, 2]]"), Contains("2 corners") && Contains(allowed));
  CHECK_THAT(rejected(island, "polygon = []"), Contains("0 corners") && Contains(allowed));
  CHECK_THAT(rejected(island, "polygon = [[24, 2], [28, 2], [25, 2.5], [24, 6]]"),
             Contains("not convex at corner 3") && Contains(allowed));
  CHECK_THAT(rejected(island, "polygon = [[24, 2], [28, 2], [25, 3, 4]]"), Contains("polygon[2]"));
  CHECK_THAT(rejected(island, "polygon = [[24, 2], [28, 2], [25, inf]]"), Contains("corner 3 is not finite"));
  CHECK_THAT(rejected(island, "polygon = 3"), Contains("array"));
  CHECK_THAT(rejected("padding = 0.5", "padding = -0.5"), Contains("padding") && Contains(">= 0"));
  CHECK_THAT(rejected("padding = 0.3", "padding = 0.0"), Contains("car.padding") && Contains("> 0"));
  CHECK_THAT(rejected("capsule_distances = \"closed_form\"", "capsule_distances = \"qp\""),
             Contains("quadratic_programs"));
  const std::string unpadded = rejection([&] {
    std::string changed = text;
    changed.erase(changed.find("padding = 0.5"), 13);
    return read_car_problem(folder.write("car.toml", changed));
  });
  CHECK_THAT(unpadded, Contains("padding"));
  CHECK_THAT(rejection([&] {
               std::string changed = text;
               changed.replace(changed.find("padding = 0.5"), 13, "radius = 0.5");
               return read_car_problem(folder.write("car.toml", changed));
             }),
             Contains("only one of 'radius', 'polygon'"));
}

TEST_CASE("write_car_plan: a table of the plan and a picture", "[planning][value]") {
  CarProblem problem = small_problem();
  problem.obstacles[0].name = "post <&>";
  const CarPlan plan = plan_car(problem);
  const TemporaryFolder folder;
  write_car_plan(problem, plan, folder.path() / "new" / "place");
  const std::string csv = read_file(folder.path() / "new" / "place" / "plan.csv"),
                    svg = read_file(folder.path() / "new" / "place" / "plan.svg");
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 1 + problem.knots);
  CHECK_THAT(csv, Catch::StartsWith(
                      "time,x,y,heading,speed,steering,acceleration,steering_rate,distance\n0,0,0,0,5,0,"));
  CHECK(svg == car_plan_svg(problem, plan));
  CHECK_THAT(svg, Catch::StartsWith("<svg") && Contains("post &lt;&amp;&gt;") && Contains("x [m]") &&
                      Catch::EndsWith("</svg>\n"));
  CHECK_THAT(svg, !Contains("nan") && !Contains("inf "));
  (void)folder.write("file", "");
  CHECK_THAT(rejection([&] {
               write_car_plan(problem, plan, folder.path() / "file" / "folder");
               return 0;
             }),
             Contains("cannot be made"));
}

}  // namespace abut::test
