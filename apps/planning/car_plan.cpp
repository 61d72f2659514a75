#include "apps/planning/car_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include <ceres/ceres.h>
#include <ceres/evaluation_callback.h>
#include <spdlog/fmt/fmt.h>

#include "apps/planning/car_constraints.h"
#include "apps/planning/obstacle_distances.h"
#include "engine/count_text.h"

namespace abut {
namespace {

using namespace car_constraints;

// The search ------------------------------------------------------------------------------------------------

/// States to start from.
struct Guess {
  CarPlan::Guess kind = CarPlan::Guess::straight;
  std::vector<CarState> states;
};

/// The straight line from start to goal, and where there are obstacles on it lines bent so far to its left
/// and right that the middle of the car passes beyond what they occupy across it.
std::vector<Guess> guesses_of(const CarProblem& problem) {
  constexpr double k_least_share = 0.3;  // of its largest bend that a line has where it meets an obstacle
  const auto last = static_cast<std::size_t>(problem.knots - 1);
  const Vec2<double> way = (problem.goal - problem.start).head<2>();
  const double length = way.norm();
  const Vec2<double> ahead = length > 0.0
                                 ? Vec2<double>(way / length)
                                 : Vec2<double>(std::cos(problem.start[2]), std::sin(problem.start[2]));
  const Vec2<double> left(-ahead.y(), ahead.x());
  const auto bent = [&](CarPlan::Guess kind, double bend) {
    Guess guess{kind, {}};
    for (std::size_t k = 0; k <= last; ++k) {
      const double share = static_cast<double>(k) / static_cast<double>(last);
      CarState state = problem.start + share * (problem.goal - problem.start);
      state.head<2>() += bend * std::sin(std::numbers::pi * share) * left;
      guess.states.push_back(state);
    }
    guess.states.front() = problem.start;  // exactly
    guess.states.back() = problem.goal;
    return guess;
  };
  std::vector<Guess> guesses{bent(CarPlan::Guess::straight, 0.0)};
  ObstacleDistances distances(problem);
  distances.evaluate(guesses.front().states);
  double half_width = 0.0;
  const PaddedOutline car = outline_of(problem.car);
  for (const Vec2<double>& corner : car.corners)
    half_width = std::max(half_width, std::abs(corner.y()) + car.padding);
  double to_left = 0.0, to_right = 0.0;
  for (std::size_t j = 0; j < problem.obstacles.size(); ++j) {
    double least = k_infinity;
    for (std::size_t k = 0; k <= last; ++k) least = std::min(least, distances.at(k, j).distance);
    if (least >= problem.clearance) continue;
    const PaddedOutline obstacle = outline_of(problem.obstacles[j]);
    double rightmost = k_infinity, leftmost = -k_infinity, nearest = k_infinity, farthest = -k_infinity;
    for (const Vec2<double>& corner : obstacle.corners) {
      const Vec2<double> there = corner - problem.start.head<2>();
      rightmost = std::min(rightmost, there.dot(left));
      leftmost = std::max(leftmost, there.dot(left));
      nearest = std::min(nearest, there.dot(ahead));
      farthest = std::max(farthest, there.dot(ahead));
    }
    const double share = std::clamp(0.5 * (nearest + farthest) / std::max(length, 1e-9), 0.0, 1.0);
    const double height = std::max(k_least_share, std::sin(std::numbers::pi * share));
    const double room = obstacle.padding + half_width + problem.clearance;
    to_left = std::max(to_left, (leftmost + room) / height);
    to_right = std::max(to_right, (room - rightmost) / height);
  }
  if (to_left > 0.0) guesses.push_back(bent(CarPlan::Guess::left, to_left));
  if (to_right > 0.0) guesses.push_back(bent(CarPlan::Guess::right, -to_right));
  return guesses;
}

class Planner {
 public:
  Planner(const CarProblem& problem, const Guess& guess, int iterations_before,
          const std::function<bool(const CarPlanProgress&)>& progress)
      : problem_(problem),
        intervals_(static_cast<std::size_t>(problem.knots - 1)),
        iterations_before_(iterations_before),
        progress_(progress),
        distances_(problem) {
    plan_.guess = guess.kind;
    plan_.states = guess.states;
    plan_.inputs.assign(intervals_, CarInput::Zero());
    set_up();
  }
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  CarPlan run() {
    search();
    plan_.cost = cost_now();
    plan_.worst_defect = dynamics_.violation();
    plan_.worst_collision = collisions_.violation();
    plan_.worst_limit = limits_.violation();
    plan_.message = message();
    for (std::size_t k = 0; k <= intervals_; ++k) plan_.distances.push_back(distances_.nearest(k).distance);
    plan_.programs = distances_.work().programs;
    plan_.program_iterations = distances_.work().iterations;
    plan_.least_distance_on_the_way = least_distance_on_the_way();
    return std::move(plan_);
  }

 private:
  /// Passes iterations on, and what the caller says to them.
  class Callback : public ceres::IterationCallback {
   public:
    explicit Callback(Planner& planner) : planner_(planner) {}

    ceres::CallbackReturnType operator()(const ceres::IterationSummary& summary) override {
      if (summary.iteration == 0) return ceres::SOLVER_CONTINUE;  // where the last one ended
      CarPlan& plan = planner_.plan_;
      ++plan.iterations;
      if (!planner_.progress_) return ceres::SOLVER_CONTINUE;
      planner_.update_distances();
      const CarPlanProgress now{plan.guess,
                                plan.outer_iterations,
                                planner_.iterations_before_ + plan.iterations,
                                planner_.cost_now(),
                                planner_.dynamics_.violation(),
                                planner_.collisions_.violation(),
                                planner_.limits_.violation()};
      return planner_.progress_(now) ? ceres::SOLVER_CONTINUE : ceres::SOLVER_ABORT;
    }

   private:
    Planner& planner_;
  };

  /// To the states as they are, unless they are those of the last time.
  void update_distances() {
    if (plan_.states == states_of_distances_) return;
    distances_.evaluate(plan_.states);
    states_of_distances_ = plan_.states;
  }

  /// Distances from all obstacles at all knots before the constraints ask for them one by one.
  class Distances : public ceres::EvaluationCallback {
   public:
    explicit Distances(Planner& planner) : planner_(planner) {}

    void PrepareForEvaluation(bool, bool is_new_point) override {
      if (is_new_point) planner_.update_distances();
    }

   private:
    Planner& planner_;
  };

  [[nodiscard]] static ceres::Problem::Options options_with(Distances& before_evaluation) {
    ceres::Problem::Options options;
    options.evaluation_callback = &before_evaluation;
    return options;
  }

  template <typename Kind, typename... Blocks>
  void add(ConstraintGroup& group, Kind* constraint, Blocks&... blocks) {
    group.members.push_back(constraint);
    least_squares_.AddResidualBlock(constraint, nullptr, blocks.data()...);  // which owns it from here on
  }

  void set_up() {
    const CarProblem::Limits& limits = problem_.limits;
    const CarProblem::Weights& weights = problem_.weights;
    const double h = problem_.time_step;
    const Vec2<double> lowest_state(limits.lowest_speed, -limits.steering),
        highest_state(limits.highest_speed, limits.steering),
        highest_input(limits.acceleration, limits.steering_rate);
    for (std::size_t k = 1; k < intervals_; ++k) {
      CarState& state = plan_.states[k];
      if (weights.steering > 0.0)
        least_squares_.AddResidualBlock(new Square<5>(4, h * weights.steering), nullptr, state.data());
      add(limits_, new Limit<5>(3, lowest_state, highest_state, limits_.penalty, state), state);
      for (std::size_t j = 0; j < problem_.obstacles.size(); ++j) {
        add(collisions_, new Collision(distances_, k, j, problem_.clearance, collisions_.penalty, state),
            state);
      }
    }
    for (std::size_t k = 0; k < intervals_; ++k) {
      CarState &state = plan_.states[k], &next = plan_.states[k + 1];
      CarInput& input = plan_.inputs[k];
      least_squares_.AddResidualBlock(new Square<2>(0, h * weights.acceleration), nullptr, input.data());
      least_squares_.AddResidualBlock(new Square<2>(1, h * weights.steering_rate), nullptr, input.data());
      add(limits_, new Limit<2>(0, -highest_input, highest_input, limits_.penalty, input), input);
      add(dynamics_, new Defect(problem_, dynamics_.penalty, state, input, next), state, input, next);
    }
    least_squares_.SetParameterBlockConstant(plan_.states.front().data());
    least_squares_.SetParameterBlockConstant(plan_.states.back().data());
  }

  /// Fills the plan and its status.
  void search() {
    constexpr int k_idle_updates = 3;
    const double tolerance = problem_.solver.tolerance;
    plan_.status = CarPlan::Status::exhausted;
    for (int outer = 1, idle = 0; outer <= problem_.solver.max_outer_iterations; ++outer) {
      plan_.outer_iterations = outer;
      const ceres::TerminationType end = minimize();
      if (end == ceres::USER_FAILURE) plan_.status = CarPlan::Status::stopped;
      if (end == ceres::FAILURE) plan_.status = CarPlan::Status::failed;
      if (end == ceres::USER_FAILURE || end == ceres::FAILURE) return;
      const double worst = std::max({dynamics_.measure(), collisions_.measure(), limits_.measure()});
      if (end == ceres::CONVERGENCE && worst <= tolerance) {
        plan_.status = CarPlan::Status::solved;
        return;
      }
      if (plan_.iterations >= problem_.solver.max_iterations) return;
      bool is_idle = false;
      for (ConstraintGroup* group : {&dynamics_, &collisions_, &limits_}) {
        const double measure = group->measure();
        for (Constraint* constraint : group->members) constraint->update_multipliers();
        if (measure > tolerance && measure > 0.25 * group->measure_before) {
          is_idle = is_idle || group->penalty >= k_largest_penalty;
          group->penalty = std::min(10.0 * group->penalty, k_largest_penalty);
        }
        group->measure_before = measure;
      }
      idle = is_idle ? idle + 1 : 0;
      if (idle == k_idle_updates) {
        plan_.status = CarPlan::Status::infeasible;
        return;
      }
    }
  }

  [[nodiscard]] ceres::TerminationType minimize() {
    constexpr int k_iterations_at_once = 150;
    Callback callback(*this);
    ceres::Solver::Options options;
    options.minimizer_type = ceres::TRUST_REGION;
    options.linear_solver_type = ceres::SPARSE_NORMAL_CHOLESKY;
    options.sparse_linear_algebra_library_type =
        ceres::IsSparseLinearAlgebraLibraryTypeAvailable(ceres::SUITE_SPARSE) ? ceres::SUITE_SPARSE
                                                                              : ceres::EIGEN_SPARSE;
    options.max_num_iterations =
        std::min(k_iterations_at_once, problem_.solver.max_iterations - plan_.iterations);
    options.function_tolerance = options.parameter_tolerance = 1e-4 * problem_.solver.tolerance;
    options.gradient_tolerance = 1e-3 * problem_.solver.tolerance;
    options.num_threads = 1;  // sums in one order
    options.logging_type = ceres::SILENT;
    options.update_state_every_iteration = true;
    options.callbacks.push_back(&callback);
    ceres::Solver::Summary summary;
    ceres::Solve(options, &least_squares_, &summary);
    update_distances();
    return summary.termination_type;
  }

  [[nodiscard]] double cost_now() const {
    double cost = 0.0;
    for (const CarInput& input : plan_.inputs) {
      cost += problem_.weights.acceleration * input[0] * input[0] +
              problem_.weights.steering_rate * input[1] * input[1];
    }
    for (std::size_t k = 1; k < intervals_; ++k)
      cost += problem_.weights.steering * plan_.states[k][4] * plan_.states[k][4];
    return 0.5 * problem_.time_step * cost;
  }

  [[nodiscard]] double least_distance_on_the_way() const {
    constexpr int k_parts = 10;
    std::vector<CarState> states{plan_.states.back()};
    for (std::size_t k = 0; k < intervals_; ++k) {
      for (int part = 0; part < k_parts; ++part) {
        states.push_back(car_step<double>(plan_.states[k], plan_.inputs[k], problem_.car.wheelbase,
                                          problem_.time_step * part / k_parts));
      }
    }
    ObstacleDistances distances(problem_);
    distances.evaluate(states);
    double least = k_infinity;
    for (std::size_t i = 0; i < states.size(); ++i) least = std::min(least, distances.nearest(i).distance);
    return least;
  }

  /// What is violated most.
  [[nodiscard]] std::string fault() const {
    const double h = problem_.time_step;
    const double most = std::max({plan_.worst_defect, plan_.worst_collision, plan_.worst_limit});
    if (most == plan_.worst_defect) {
      const auto k = static_cast<double>(dynamics_.worst());
      return fmt::format(
          "between {:.2f} s and {:.2f} s the states are {:.2g} (m, rad, m/s) off what the car "
          "can drive",
          k * h, (k + 1.0) * h, most);
    }
    if (most == plan_.worst_collision) {
      const std::size_t obstacles = problem_.obstacles.size(), worst = collisions_.worst();
      const std::size_t k = 1 + worst / obstacles;
      return fmt::format("at {:.2f} s the car is {:.2g} m too far in on '{}'", static_cast<double>(k) * h,
                         most, problem_.obstacles[worst % obstacles].name);
    }
    return fmt::format("a limit is exceeded by {:.2g}", most);
  }

  [[nodiscard]] std::string message() const {
    switch (plan_.status) {
      case CarPlan::Status::solved:
        return fmt::format("found a plan from the {} line", to_string(plan_.guess));
      case CarPlan::Status::infeasible:
        return fmt::format("found no plan: at best {} (more time or wider limits may help)", fault());
      case CarPlan::Status::stopped:
        return "stopped by the caller";
      case CarPlan::Status::exhausted:
        return fmt::format("found no plan in {} and {} of the multipliers: {}",
                           count_text(plan_.iterations, "iteration"),
                           count_text(plan_.outer_iterations, "update"), fault());
      case CarPlan::Status::failed:
        break;
    }
    return "the least squares could not be solved after " + count_text(plan_.iterations, "iteration");
  }

  static constexpr double k_largest_penalty = 1e7;
  // Stiff enough that what pushes the car out of an obstacle moves the whole of its path, and hardly tears
  // it.
  static constexpr double k_dynamics_penalty = 100.0, k_collision_penalty = 10.0, k_limit_penalty = 1.0;

  const CarProblem& problem_;
  std::size_t intervals_;
  int iterations_before_;  // with other guesses
  const std::function<bool(const CarPlanProgress&)>& progress_;
  CarPlan plan_;
  ConstraintGroup dynamics_{k_dynamics_penalty}, collisions_{k_collision_penalty}, limits_{k_limit_penalty};
  ObstacleDistances distances_;  // at plan_.states
  std::vector<CarState> states_of_distances_;
  Distances before_evaluation_{*this};
  ceres::Problem least_squares_{options_with(before_evaluation_)};
};

double worst_violation(const CarPlan& plan) {
  return plan.status == CarPlan::Status::failed
             ? k_infinity
             : std::max({plan.worst_defect, plan.worst_collision, plan.worst_limit});
}

}  // namespace

const char* to_string(CarPlan::Guess guess) {
  switch (guess) {
    case CarPlan::Guess::straight:
      return "straight";
    case CarPlan::Guess::left:
      return "left";
    case CarPlan::Guess::right:
      return "right";
  }
  return "straight";
}

const char* to_string(CarPlan::Status status) {
  switch (status) {
    case CarPlan::Status::solved:
      return "solved";
    case CarPlan::Status::infeasible:
      return "infeasible";
    case CarPlan::Status::stopped:
      return "stopped";
    case CarPlan::Status::exhausted:
      return "exhausted";
    case CarPlan::Status::failed:
      return "failed";
  }
  return "failed";
}

CarPlan plan_car(const CarProblem& problem, const std::function<bool(const CarPlanProgress&)>& progress) {
  validate(problem);
  CarPlan best;
  int iterations = 0;
  long programs = 0, program_iterations = 0;
  for (const Guess& guess : guesses_of(problem)) {
    CarPlan plan = Planner(problem, guess, iterations, progress).run();
    iterations += plan.iterations;
    programs += plan.programs;
    program_iterations += plan.program_iterations;
    const bool ends = plan.ok() || plan.status == CarPlan::Status::stopped;
    if (ends || best.states.empty() || worst_violation(plan) < worst_violation(best)) best = std::move(plan);
    if (ends) break;
  }
  best.iterations = iterations;
  best.programs = programs;
  best.program_iterations = program_iterations;
  return best;
}

}  // namespace abut
