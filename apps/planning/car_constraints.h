/// The terms of a car's plan as cost functions of Ceres: constraints with multipliers of an augmented
/// Lagrangian, and what is to be small. For car_plan.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <ceres/sized_cost_function.h>

#include "apps/planning/car_problem.h"
#include "apps/planning/obstacle_distances.h"

namespace abut::car_constraints {

class Constraint {
 public:
  virtual ~Constraint() = default;
  /// How far the unknowns as they are violate it, 0 where they do not.
  [[nodiscard]] virtual double violation() const = 0;
  /// The same, or how far multipliers of what is not violated are from 0.
  [[nodiscard]] virtual double measure() const = 0;
  virtual void update_multipliers() = 0;
};

/// Those of one kind, and their penalty rho.
struct ConstraintGroup {
  explicit ConstraintGroup(double first_penalty) : penalty(first_penalty) {}

  double penalty;
  std::vector<Constraint*> members;
  double measure_before = std::numeric_limits<double>::infinity();

  [[nodiscard]] double violation() const { return members.empty() ? 0.0 : members[worst()]->violation(); }
  [[nodiscard]] std::size_t worst() const {
    std::size_t worst = 0;
    for (std::size_t i = 1; i < members.size(); ++i) {
      if (members[i]->violation() > members[worst]->violation()) worst = i;
    }
    return worst;
  }
  [[nodiscard]] double measure() const {
    double largest = 0.0;
    for (const Constraint* constraint : members) largest = std::max(largest, constraint->measure());
    return largest;
  }
};

/// c_k = 0 as sqrt(rho) (c_k + y_k/rho).
class Defect : public ceres::SizedCostFunction<5, 5, 2, 5>, public Constraint {
 public:
  Defect(const CarProblem& problem, const double& penalty, const CarState& state, const CarInput& input,
         const CarState& next)
      : problem_(problem), penalty_(penalty), state_(state), input_(input), next_(next) {}

  bool Evaluate(double const* const* unknowns, double* residuals, double** jacobians) const override {
    const Eigen::Map<const CarState> state(unknowns[0]), next(unknowns[2]);
    const Eigen::Map<const CarInput> input(unknowns[1]);
    const double root = std::sqrt(penalty_);
    const CarStep step = car_step_derivatives(state, input, problem_.car.wheelbase, problem_.time_step);
    const CarState off = step.state - next + y_ / penalty_;
    Eigen::Map<CarState>{residuals} = root * off;
    using ByState = Eigen::Matrix<double, 5, 5, Eigen::RowMajor>;
    using ByInput = Eigen::Matrix<double, 5, 2, Eigen::RowMajor>;
    if (jacobians != nullptr) {
      if (jacobians[0] != nullptr) Eigen::Map<ByState>{jacobians[0]} = root * step.by_state;
      if (jacobians[1] != nullptr) Eigen::Map<ByInput>{jacobians[1]} = root * step.by_input;
      if (jacobians[2] != nullptr) Eigen::Map<ByState>{jacobians[2]} = -root * ByState::Identity();
    }
    return off.allFinite();
  }
  [[nodiscard]] double violation() const override { return value().cwiseAbs().maxCoeff(); }
  [[nodiscard]] double measure() const override { return violation(); }
  void update_multipliers() override { y_ += penalty_ * value(); }

 private:
  [[nodiscard]] CarState value() const {
    return car_step<double>(state_, input_, problem_.car.wheelbase, problem_.time_step) - next_;
  }

  const CarProblem& problem_;
  const double& penalty_;
  const CarState& state_;
  const CarInput& input_;
  const CarState& next_;
  CarState y_ = CarState::Zero();
};

/// g(x) >= 0 of so many `rows` as sqrt(rho) max(0, z/rho - g).
template <int rows, int size>
class Inequalities : public ceres::SizedCostFunction<rows, size>, public Constraint {
 public:
  using Unknowns = Eigen::Matrix<double, size, 1>;
  using Value = Eigen::Matrix<double, rows, 1>;
  using Jacobian = Eigen::Matrix<double, rows, size>;

  Inequalities(const double& penalty, const Unknowns& unknowns) : penalty_(penalty), unknowns_(unknowns) {}

  bool Evaluate(double const* const* unknowns, double* residuals, double** jacobians) const override {
    Jacobian by_unknowns;
    const double root = std::sqrt(penalty_);
    const Value lack = z_ / penalty_ - value(Eigen::Map<const Unknowns>(unknowns[0]), by_unknowns);
    Eigen::Map<Value>{residuals} = root * lack.cwiseMax(0.0);
    if (jacobians != nullptr && jacobians[0] != nullptr) {
      for (int i = 0; i < rows; ++i) {
        const double factor = lack[i] > 0.0 ? -root : 0.0;
        for (int j = 0; j < size; ++j) jacobians[0][i * size + j] = factor * by_unknowns(i, j);
      }
    }
    return !lack.hasNaN();
  }
  [[nodiscard]] double violation() const override { return std::max(0.0, -value_now().minCoeff()); }
  [[nodiscard]] double measure() const override {
    return value_now().cwiseMin(z_ / penalty_).cwiseAbs().maxCoeff();
  }
  void update_multipliers() override { z_ = (z_ - penalty_ * value_now()).cwiseMax(0.0); }

 protected:
  [[nodiscard]] virtual Value value(const Unknowns& x, Jacobian& by_x) const = 0;

 private:
  [[nodiscard]] Value value_now() const {
    Jacobian ignored;
    return value(unknowns_, ignored);
  }

  const double& penalty_;
  const Unknowns& unknowns_;
  Value z_ = Value::Zero();
};

/// The distance from an obstacle, less the clearance: of a knot and an obstacle of `distances`, which must
/// have been evaluated at the states as they are.
class Collision : public Inequalities<1, 5> {
 public:
  Collision(const ObstacleDistances& distances, std::size_t knot, std::size_t obstacle, double clearance,
            const double& penalty, const CarState& state)
      : Inequalities(penalty, state),
        distances_(distances),
        knot_(knot),
        obstacle_(obstacle),
        clearance_(clearance) {}

 protected:
  [[nodiscard]] Value value(const CarState&, Jacobian& by_state) const override {
    const CarDistance& at = distances_.at(knot_, obstacle_);
    by_state = at.by_state;
    return Value(at.distance - clearance_);
  }

 private:
  const ObstacleDistances& distances_;
  std::size_t knot_, obstacle_;
  double clearance_;
};

/// lower <= x <= upper of two components of x that follow each other.
template <int size>
class Limit : public Inequalities<4, size> {
 public:
  using typename Inequalities<4, size>::Unknowns;
  using typename Inequalities<4, size>::Value;
  using typename Inequalities<4, size>::Jacobian;

  Limit(int first, const Vec2<double>& lower, const Vec2<double>& upper, const double& penalty,
        const Unknowns& unknowns)
      : Inequalities<4, size>(penalty, unknowns), first_(first), lower_(lower), upper_(upper) {}

 protected:
  [[nodiscard]] Value value(const Unknowns& x, Jacobian& by_x) const override {
    by_x.setZero();
    by_x(0, first_) = by_x(1, first_ + 1) = 1.0;
    by_x(2, first_) = by_x(3, first_ + 1) = -1.0;
    Value room;
    room << x.template segment<2>(first_) - lower_, upper_ - x.template segment<2>(first_);
    return room;
  }

 private:
  int first_;
  Vec2<double> lower_, upper_;
};

/// sqrt(weight) x of one component of a block of `size` unknowns.
template <int size>
class Square : public ceres::SizedCostFunction<1, size> {
 public:
  Square(int component, double weight) : component_(component), root_(std::sqrt(weight)) {}

  bool Evaluate(double const* const* unknowns, double* residuals, double** jacobians) const override {
    residuals[0] = root_ * unknowns[0][component_];
    if (jacobians != nullptr && jacobians[0] != nullptr)
      Eigen::Map<Eigen::Matrix<double, 1, size>>{jacobians[0]} =
          root_ * Eigen::Matrix<double, 1, size>::Unit(component_);
    return true;
  }

 private:
  int component_;
  double root_;
};

}  // namespace abut::car_constraints
