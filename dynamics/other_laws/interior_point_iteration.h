/// The way of one problem of complementarity conditions to its solution: see interior_point_solver.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dynamics/other_laws/interior_point_memory.h"
#include "engine/lie.h"

namespace abut::interior_point {

using complementarity::Settings;
using complementarity::Tangents;

template <typename Law>
ContactIterate<Law> iterate_of(const ContactProblem& problem, const ContactRow& row, const Settings& s) {
  const PairMaterial& material = problem.rows.pairs[static_cast<std::size_t>(row.pair)].material;
  ContactIterate<Law> c;
  c.n = row.n;
  c.tangents = Law::tangents(row.n);
  const smooth_coulomb::Parameters parameters{row.distance, row.weight, row.inverse_mass, material.compliance,
                                              material.dissipation_time};
  c.target = smooth_coulomb::normal_target(parameters, s.normal);
  c.resistance_of = complementarity::Resistance(parameters, row.answers, s.normal);
  c.resistance = c.resistance_of.value;
  c.relaxation = s.relaxation / row.inverse_mass;
  c.friction_coefficient = material.friction;
  c.weight = row.weight;
  return c;
}

/// The point at relative velocity u of the path whose products are `product` [J].
template <typename Law>
void centre(ContactIterate<Law>& c, const Vec3<double>& u, double product) {
  c.x = c.tangents.of(u);
  c.normal.centre(c.n.dot(u) - c.target.value, c.resistance, product);
  c.x_residual.setZero();
  c.normal_residual = 0.0;
  if (c.has_friction()) c.friction.centre(c.x, c.bound(), product);
}

/// Linearises the conditions of a contact towards products of `target` [J], with the second-order terms of
/// the step it holds.
template <typename Law>
void linearize(ContactIterate<Law>& c, double target) {
  c.normal_linear = complementarity::linearize(
      c.normal, c.resistance, target - c.normal_step.impulse * c.normal_step.slack, c.normal_residual);
  if (c.has_friction()) {
    c.friction_linear =
        c.friction.linearize(c.x, c.bound(), target, c.friction_step, c.x_step, c.bound_step());
  }
}

template <typename Law>
void forget_step(ContactIterate<Law>& c) {
  c.x_step.setZero();
  c.longest_step = 1.0;
  c.normal_step = {};
  c.friction_step = {};
}

/// At the end of the path, to twice kappa: the constants of the step are then kappa times the derivative by
/// kappa.
template <typename Law>
void linearize_solution(ContactIterate<Law>& c, const Vec3<double>& u) {
  centre(c, u, c.relaxation);
  forget_step(c);
  linearize(c, 2.0 * c.relaxation);
}

/// -d impulse/du of the linearised contact, with its weight [kg].
template <typename Law>
Mat3<double> resistance_matrix(const ContactIterate<Law>& c) {
  Mat3<double> K = c.normal_linear.slope * c.n * c.n.transpose();
  if (c.has_friction()) {
    const Vec3<double> t_0 = c.tangents * c.friction_linear.by_velocity.col(0),
                       t_1 = c.tangents * c.friction_linear.by_velocity.col(1),
                       t_b = c.tangents * c.friction_linear.by_bound;
    K += t_0 * c.tangents.first.transpose() + t_1 * c.tangents.second.transpose() +
         (c.friction_coefficient * c.normal_linear.slope) * t_b * c.n.transpose();
  }
  return c.weight * K;
}

/// What the linearised contact adds to its impulse where u does not change.
template <typename Law>
Vec3<double> impulse_constant(const ContactIterate<Law>& c) {
  Vec3<double> g = c.normal_linear.constant * c.n;
  if (c.has_friction()) {
    g += c.tangents * (c.friction_linear.constant + c.friction_linear.by_velocity * c.x_residual +
                       (c.friction_coefficient * c.normal_linear.constant) * c.friction_linear.by_bound);
  }
  return c.weight * g;
}

template <typename Law>
double longest_step(const ContactIterate<Law>& c) {
  double a = 1.0;
  if (c.normal_step.impulse < 0.0) a = std::min(a, -c.normal.impulse / c.normal_step.impulse);
  if (c.normal_step.slack < 0.0) a = std::min(a, -c.normal.slack / c.normal_step.slack);
  if (c.has_friction()) {
    a = std::min(a, c.friction.longest_step(c.x, c.bound(), c.friction_step, c.x_step, c.bound_step()));
  }
  return a;
}

/// The step of a contact that goes with du.
template <typename Law>
void set_step(ContactIterate<Law>& c, const Vec3<double>& du) {
  const double du_n = c.n.dot(du);
  c.x_step = c.tangents.of(du) - c.x_residual;
  c.normal_step.impulse = c.normal_linear.constant - c.normal_linear.slope * du_n;
  c.normal_step.slack = du_n + c.resistance * c.normal_step.impulse - c.normal_residual;
  if (c.has_friction()) c.friction_step = c.friction.change(c.x_step, c.bound_step());
  c.longest_step = longest_step(c);
}

/// Products of both sides of the conditions, over kappa.
struct Centrality {
  double weighted_sum = 0.0, weight = 0.0;
  double largest = 0.0, least = std::numeric_limits<double>::infinity();

  /// `sum`: of `count` products of a contact, the largest and least of which are given.
  void add(double contact_weight, double sum, int count, double high, double low) {
    weighted_sum += contact_weight * sum;
    weight += contact_weight * count;
    largest = std::max(largest, high);
    least = std::min(least, low);
  }
  /// Each counts with its contact's weight, as it does in the problem's own gap: those of faint contacts can
  /// be orders of magnitude larger.
  [[nodiscard]] double mean() const { return weighted_sum / weight; }
  /// Close enough to the end of the path for Newton's method.
  [[nodiscard]] bool is_at_end(const InteriorPointConstants& constants) const {
    return largest <= constants.largest_at_end && least >= constants.least_at_end;
  }
};

/// After a step of length a.
template <typename Law>
void add_products(const ContactIterate<Law>& c, double a, Centrality& centrality) {
  const double inverse = 1.0 / c.relaxation;
  a = std::min(a, c.longest_step);
  const double product =
      (c.normal.impulse + a * c.normal_step.impulse) * (c.normal.slack + a * c.normal_step.slack) * inverse;
  centrality.add(c.weight, product, 1, product, product);
  if (!c.has_friction()) return;
  typename Law::Friction friction = c.friction;
  friction.add(a, c.friction_step);
  const auto p = friction.products(c.x + a * c.x_step, c.bound() + a * c.bound_step());
  centrality.add(c.weight, p.sum * inverse, p.count, p.largest * inverse, p.least * inverse);
}

template <typename Law>
Centrality centrality_after(const std::vector<ContactIterate<Law>>& contacts, double a) {
  Centrality centrality;
  for (const auto& c : contacts) add_products(c, a, centrality);
  return centrality;
}

/// M + sum J^T K J of contacts and joints, factorized.
template <typename Law>
void factorize(const ContactProblem& problem, const GrowableVector& v,
               const std::vector<ContactIterate<Law>>& contacts, InteriorPointMemory<Law>& memory) {
  const MassMatrix& mass = problem.mass;
  Eigen::MatrixXd& H = memory.jacobian.whole;
  H.setZero(mass.size(), mass.size());
  for (int s = 0; s < mass.slot_count(); ++s) H.block<6, 6>(6 * s, 6 * s) = mass.block(s);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const ContactRow& row = problem.rows.rows[i];
    const Mat3<double> K = resistance_matrix(contacts[i]);
    const Mat3<double> r_A = skew<double>(row.r_A), r_B = skew<double>(row.r_B);
    /// += sign J_left^T K J_right, J = [-skew(r), 1]
    const auto add = [&](int slot_left, const Mat3<double>& left, int slot_right, const Mat3<double>& right,
                         double sign) {
      if (slot_left < 0 || slot_right < 0) return;
      const Mat3<double> K_s = sign * K, left_K = left * K_s;
      auto block = H.block<6, 6>(6 * slot_left, 6 * slot_right);
      block.template topLeftCorner<3, 3>() -= left_K * right;
      block.template topRightCorner<3, 3>() += left_K;
      block.template bottomLeftCorner<3, 3>() -= K_s * right;
      block.template bottomRightCorner<3, 3>() += K_s;
    };
    add(row.slot_A, r_A, row.slot_A, r_A, 1.0);
    add(row.slot_B, r_B, row.slot_B, r_B, 1.0);
    add(row.slot_A, r_A, row.slot_B, r_B, -1.0);
    add(row.slot_B, r_B, row.slot_A, r_A, -1.0);
  }
  for (const JointGroup& group : problem.joints.groups) {
    problem.joints.each_hessian_block(
        group, v, [&](int slot, const Mat6<double>& block) { H.block<6, 6>(6 * slot, 6 * slot) += block; },
        [&](int a, int b, const Mat6<double>& block) {
          H.block<6, 6>(6 * b, 6 * a) += block;
          H.block<6, 6>(6 * a, 6 * b) += block.transpose();
        });
  }
  memory.jacobian.factorize(mass.links());
}

/// -M (v - v*) and the impulses of joints into memory.force: all but contacts.
template <typename Law>
void set_force_without_contacts(const ContactProblem& problem, const GrowableVector& v,
                                InteriorPointMemory<Law>& memory) {
  GrowableVector& force = memory.force;
  memory.momentum = v - problem.v_free;
  problem.mass.multiply(memory.momentum, force);
  problem.joints.add_gradient(v, force);
  force = -force;
}

/// Newton's direction of the linearised contacts into memory.direction, and their steps.
template <typename Law>
void set_direction(const ContactProblem& problem, const GrowableVector& v,
                   std::vector<ContactIterate<Law>>& contacts, InteriorPointMemory<Law>& memory) {
  GrowableVector& force = memory.force;
  set_force_without_contacts(problem, v, memory);
  for (std::size_t i = 0; i < contacts.size(); ++i)
    add_impulse(problem.rows.rows[i], contacts[i].impulse() + impulse_constant(contacts[i]), force);
  memory.direction = memory.jacobian.solve(force);
  for (std::size_t i = 0; i < contacts.size(); ++i)
    set_step(contacts[i], relative_change(problem.rows.rows[i], memory.direction));
}

template <typename Law>
double longest_step(const std::vector<ContactIterate<Law>>& contacts,
                    const InteriorPointConstants& constants) {
  double a = 1.0;
  for (const auto& c : contacts) {
    if (c.weight >= constants.light) a = std::min(a, c.longest_step);
  }
  return a;
}

/// What the conditions take for velocities, less what these are.
template <typename Law>
void set_residuals(ContactIterate<Law>& c, const Vec3<double>& u) {
  c.x_residual = c.x - c.tangents.of(u);
  c.normal_residual = c.normal.slack - (c.n.dot(u) - c.target.value + c.resistance * c.normal.impulse);
}

/// The largest speed that contacts are about [m/s].
template <typename Law>
double largest_speed(const ContactProblem& problem, double speed_scale, const GrowableVector& v,
                     const std::vector<ContactIterate<Law>>& contacts) {
  double speed = speed_scale;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Vec3<double> u = relative_velocity(problem.rows.rows[i], v);
    speed = std::max({speed, std::abs(contacts[i].n.dot(u) - contacts[i].target.value), u.norm()});
  }
  return speed;
}

/// Interior and central, far up the path: the normal row's residual is for the iteration to take away.
template <typename Law>
void start(const ContactProblem& problem, double speed, const GrowableVector& v,
           std::vector<ContactIterate<Law>>& contacts) {
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    ContactIterate<Law>& c = contacts[i];
    const Vec3<double> u = relative_velocity(problem.rows.rows[i], v);
    c.normal = {speed / (c.resistance + c.weight * problem.rows.rows[i].inverse_mass), speed};
    c.x = c.tangents.of(u);
    if (c.has_friction()) c.friction.centre(c.x, c.bound(), c.normal.impulse * speed);
    set_residuals(c, u);
  }
}

template <typename Law>
void move(const ContactProblem& problem, double a, const GrowableVector& v,
          const InteriorPointConstants& constants, std::vector<ContactIterate<Law>>& contacts) {
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    ContactIterate<Law>& c = contacts[i];
    const double own = std::min(a, constants.inside * c.longest_step);
    c.normal.impulse += own * c.normal_step.impulse;
    c.normal.slack += own * c.normal_step.slack;
    c.x += own * c.x_step;
    if (c.has_friction()) {
      c.friction.add(own, c.friction_step);
      const auto products = c.friction.products(c.x, c.bound());
      const double mean = products.sum / products.count;
      if (products.least < constants.off_centre * mean) c.friction.centre(c.x, c.bound(), mean);
    }
    set_residuals(c, relative_velocity(problem.rows.rows[i], v));
  }
}

/// One problem on its way.
template <typename Law>
class Iteration {
 public:
  Iteration(const ContactProblem& problem, double speed_scale, InteriorPointMemory<Law>& memory,
            ContactSolution& solution, const InteriorPointConstants& constants)
      : problem_(problem),
        constants_(constants),
        memory_(memory),
        solution_(solution),
        contacts_(memory.contacts),
        v_(solution.velocity) {
    problem.mass.multiply(problem.v_free, memory.momentum);
    scale_ = std::sqrt(memory.momentum.dot(problem.v_free) +
                       problem.mass.total_mass() * speed_scale * speed_scale);
    memory.norm.update(problem.mass);
  }

  /// From far up the central path to its end. True if the residual there is within the tolerance.
  [[nodiscard]] bool follow(double tolerance, int max_iterations) {
    double previous = std::numeric_limits<double>::infinity(), a = 1.0;
    for (int iteration = 0;; ++iteration) {
      for (auto& c : contacts_) forget_step(c);
      const Centrality centrality = centrality_after(contacts_, 0.0);
      const bool is_at_end = centrality.is_at_end(constants_);
      double goal = is_at_end ? 1.0 : 0.0;
      if (a < constants_.short_step)
        goal = std::max(1.0, centrality.mean());  // back towards the middle of the cones
      for (auto& c : contacts_) linearize(c, goal * c.relaxation);
      factorize(problem_, v_, contacts_, memory_);
      set_direction(problem_, v_, contacts_, memory_);

      const double residual = length(memory_.direction) / scale_;
      solution_.residual = residual;
      if (is_at_end && (residual <= tolerance || is_rounding(residual, previous))) return true;
      if (iteration == max_iterations || !std::isfinite(residual)) return false;
      previous = is_at_end ? residual : std::numeric_limits<double>::infinity();

      a = longest_step(contacts_, constants_);
      if (goal == 0.0) {
        const double ratio = centrality_after(contacts_, a).mean() / centrality.mean();
        goal = std::max(
            1.0, std::clamp(ratio * ratio * ratio, constants_.least_centring, constants_.most_centring) *
                     centrality.mean());
        for (auto& c : contacts_) linearize(c, goal * c.relaxation);
        set_direction(problem_, v_, contacts_, memory_);
        a = longest_step(contacts_, constants_);
      }
      if (a < 1.0) a *= constants_.inside;
      v_ += a * memory_.direction;
      move(problem_, a, v_, constants_, contacts_);
      ++solution_.iterations;
    }
  }

  /// Newton's method for F(v, t) = 0, in short steps where |F| would rise; |F| in the metric of M^-1. True if
  /// the residual is within the tolerance.
  [[nodiscard]] bool correct(double t, double tolerance, int max_iterations) {
    GrowableVector &start = memory_.trial, &step = memory_.step;
    double norm = centre_all(t), previous = std::numeric_limits<double>::infinity();
    for (int iteration = 0;; ++iteration) {
      set_tangent(t);
      const double residual = length(memory_.direction) / scale_;
      solution_.residual = residual;
      if (residual <= tolerance || is_rounding(residual, previous)) return true;
      if (iteration == max_iterations || !std::isfinite(residual)) return false;
      previous = residual;
      start = v_;
      step = memory_.direction;
      double next = 0.0;
      for (double a = 1.0; a > constants_.shortest_step; a *= 0.5) {
        v_ = start + a * step;
        next = centre_all(t);
        if (next <= (1.0 - constants_.sufficient_decrease * a) * norm) break;
      }
      ++solution_.iterations;
      if (!(next <= norm)) return residual < constants_.rounding;
      // The next step is shorter as |F| is smaller: not worth a factorization where that is plain.
      const double expected = residual * next / norm;
      if (expected <= constants_.plain_end * tolerance) {
        solution_.residual = expected;
        return true;
      }
      norm = next;
    }
  }

  /// Along the path from one t down to another. True if the residual there is within the tolerance.
  [[nodiscard]] bool track(double t, double end, double tolerance, int max_iterations) {
    GrowableVector& start = memory_.stage_start;
    if (!correct(t, constants_.stage_tolerance, max_iterations)) return false;
    for (double ratio = constants_.first_ratio; t > end;) {
      const double next = std::max(end, ratio * t);
      const int before = solution_.iterations;
      start = v_;
      centre_all(t);
      set_tangent(next);
      v_ += memory_.direction;
      ++solution_.iterations;
      if (correct(next, constants_.stage_tolerance, std::min(constants_.stage_iterations, max_iterations))) {
        t = next;
        if (solution_.iterations - before <= constants_.few_iterations)
          ratio = std::max(constants_.least_ratio, ratio * ratio);
      } else {
        v_ = start;
        ratio = std::sqrt(ratio);
        if (!(ratio < constants_.largest_ratio) || !std::isfinite(solution_.residual)) return false;
      }
    }
    return correct(end, tolerance, max_iterations);
  }

  /// The same around a fold: the first half of the way without friction, where there is none, as that problem
  /// is convex; then friction grows from nothing, and the second half goes with it.
  [[nodiscard]] bool track_around_fold(double t, double tolerance, int max_iterations) {
    const double middle = std::sqrt(t);
    GrowableVector& start = memory_.stage_start;
    scale_friction(0.0);
    if (!track(t, middle, constants_.stage_tolerance, max_iterations)) return false;
    double share = 0.0;
    for (double part = constants_.first_friction; share < 1.0 && part >= constants_.least_friction;) {
      const double next = std::min(1.0, share + part);
      start = v_;
      scale_friction(next);
      if (correct(middle, constants_.stage_tolerance,
                  std::min(constants_.stage_iterations, max_iterations))) {
        share = next;
      } else {
        v_ = start;
        part *= 0.5;
      }
    }
    return share == 1.0 && track(middle, 1.0, tolerance, max_iterations);
  }

  /// All coefficients of friction to a share of what they are.
  void scale_friction(double share) {
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
      const auto pair = static_cast<std::size_t>(problem_.rows.rows[i].pair);
      contacts_[i].friction_coefficient = share * problem_.rows.pairs[pair].material.friction;
    }
  }

 private:
  /// Whether a residual that no longer falls is put down to rounding.
  [[nodiscard]] bool is_rounding(double residual, double previous) const {
    return residual < constants_.rounding && residual > 0.5 * previous;
  }

  /// All contacts to where they are on the path at t, given v. Returns |F|.
  double centre_all(double t) {
    GrowableVector& force = memory_.force;
    set_force_without_contacts(problem_, v_, memory_);
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
      const ContactRow& row = problem_.rows.rows[i];
      centre(contacts_[i], relative_velocity(row, v_), t * contacts_[i].relaxation);
      add_impulse(row, contacts_[i].impulse(), force);
    }
    return memory_.norm(problem_.mass, force);
  }

  /// The direction from where contacts are to F(v, t) = 0, linearised.
  void set_tangent(double t) {
    for (auto& c : contacts_) {
      forget_step(c);
      linearize(c, t * c.relaxation);
    }
    factorize(problem_, v_, contacts_, memory_);
    set_direction(problem_, v_, contacts_, memory_);
  }

  [[nodiscard]] double length(const GrowableVector& dv) {
    problem_.mass.multiply(dv, memory_.mass_direction);
    return std::sqrt(memory_.mass_direction.dot(dv));
  }

  const ContactProblem& problem_;
  const InteriorPointConstants& constants_;
  InteriorPointMemory<Law>& memory_;
  ContactSolution& solution_;
  std::vector<ContactIterate<Law>>& contacts_;
  GrowableVector& v_;
  double scale_ = 1.0;
};

}  // namespace abut::interior_point
