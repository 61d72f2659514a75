#include "dynamics/solver/passive_impact_solver.h"

#include <algorithm>
#include <cmath>

#include "dynamics/contact_laws/impact_energy.h"

namespace abut {
namespace {

/// The same impacts with e = 0.
ContactProblem plastic(const ContactProblem& problem) {
  ContactProblem out = problem;
  out.impacts_are_plastic = true;
  return out;
}

bool has_impacts(const ContactProblem& problem, const impact::Settings& settings) {
  for (const RowPair& pair : problem.rows.pairs) {
    if (pair.material.restitution == 0.0) continue;
    for (int r = pair.begin; r < pair.end; ++r)
      if (impact_of_row(problem, static_cast<std::size_t>(r), settings).hit) return true;
  }
  return false;
}

bool has_work_of_its_own(const ContactProblem& problem) {
  const auto& pairs = problem.rows.pairs;
  const auto& joints = problem.joints.groups;
  return std::any_of(joints.begin(), joints.end(), [](const JointGroup& joint) { return joint.does_work; }) ||
         std::any_of(pairs.begin(), pairs.end(),
                     [](const RowPair& pair) { return !pair.V_A.isZero(0.0) || !pair.V_B.isZero(0.0); });
}

/// What impacts do to energy.
class ImpactEnergy {
 public:
  /// Whether there are any that may gain energy; if not, there is nothing else to ask.
  [[nodiscard]] bool assign(const ContactProblem& problem, const impact::Settings& settings) {
    if (has_work_of_its_own(problem) || !has_impacts(problem, settings)) return false;
    before_ = 0.0;
    for (int s = 0; s < problem.mass.slot_count(); ++s) {
      const impact::BodyMotion<double> x = motion(problem, problem.v_free, {}, s);
      before_ += 0.5 * (x.w.dot(x.inertia_W * x.w) + x.mass * x.v.squaredNorm());
    }
    return before_ > 0.0;
  }

  /// How much they add that end with these velocities and displacements, over what there was.
  [[nodiscard]] double gain(const ContactProblem& problem, const GrowableVector& velocity,
                            const GrowableVector& displacement) const {
    double sum = 0.0;
    for (int s = 0; s < problem.mass.slot_count(); ++s)
      sum += impact::energy_gain(motion(problem, velocity, displacement, s));
    return sum / before_;
  }

  /// Its derivative by these alone, along a direction.
  [[nodiscard]] double gain_along(const ContactProblem& problem, const GrowableVector& velocity,
                                  const GrowableVector& displacement, const GrowableVector& velocity_dot,
                                  const GrowableVector& displacement_dot) const {
    double sum = 0.0;
    for (int s = 0; s < problem.mass.slot_count(); ++s) {
      const impact::BodyMotion<double> by = energy_gain_gradient(motion(problem, velocity, displacement, s));
      sum += stack<double>(by.w, by.v).dot(velocity_dot.segment<6>(6 * s)) +
             stack<double>(by.turn, by.way).dot(displacement_dot.segment<6>(6 * s));
    }
    return sum / before_;
  }

  /// Adds the gradient of scale gain(), but for what `before_` adds to it: the gain is that of a root.
  void vjp(const ContactProblem& problem, const GrowableVector& velocity, const GrowableVector& displacement,
           double scale, EndMotionBar& end_bar, ContactProblemBar& bar) const {
    for (int s = 0; s < problem.mass.slot_count(); ++s) {
      const auto k = static_cast<std::size_t>(s);
      const impact::BodyMotion<double> by = energy_gain_gradient(motion(problem, velocity, displacement, s));
      const double c = scale / before_;
      end_bar.velocity.segment<6>(6 * s) += c * stack<double>(by.w, by.v);
      end_bar.displacement.segment<6>(6 * s) += c * stack<double>(by.turn, by.way);
      bar.v_free.segment<6>(6 * s) += c * stack<double>(by.w_free, by.v_free);
      bar.inertia_W[k] += c * by.inertia_W;
      bar.mass[k] += c * by.mass;
      bar.h += c * (by.h + by.tau);
      const Vec3<double> change_bar = c / problem.h * by.acceleration;
      bar.v_free.segment<3>(6 * s + 3) += change_bar;
      bar.v_start.segment<3>(6 * s + 3) -= change_bar;
      bar.h -= change_bar.dot(acceleration_of(problem, s));
    }
  }

  /// The other way round, along changes of everything.
  [[nodiscard]] double jvp(const ContactProblem& problem, const GrowableVector& velocity,
                           const GrowableVector& displacement, const EndMotionBar& end_dot,
                           const ContactProblemDot& dot) const {
    double sum = 0.0;
    for (int s = 0; s < problem.mass.slot_count(); ++s) {
      const auto k = static_cast<std::size_t>(s);
      const impact::BodyMotion<double> by = energy_gain_gradient(motion(problem, velocity, displacement, s));
      const Vec3<double> acceleration_dot = (dot.v_free - dot.v_start).segment<3>(6 * s + 3) / problem.h;
      sum += stack<double>(by.w, by.v).dot(end_dot.velocity.segment<6>(6 * s)) +
             stack<double>(by.turn, by.way).dot(end_dot.displacement.segment<6>(6 * s)) +
             stack<double>(by.w_free, by.v_free).dot(dot.v_free.segment<6>(6 * s)) +
             by.inertia_W.cwiseProduct(dot.inertia_W[k]).sum() + by.mass * dot.mass[k] +
             by.acceleration.dot(acceleration_dot);
    }
    return sum / before_;
  }

 private:
  double before_ = 0.0;  ///< about the kinetic energy before [J]

  static Vec3<double> acceleration_of(const ContactProblem& problem, int slot) {
    return (problem.v_free - problem.v_start).segment<3>(6 * slot + 3) / problem.h;
  }

  /// @param displacement  empty: none
  [[nodiscard]] impact::BodyMotion<double> motion(const ContactProblem& problem,
                                                  const GrowableVector& velocity,
                                                  const GrowableVector& displacement, int slot) const {
    const Vec6<double> V = velocity.segment<6>(6 * slot), V_free = problem.v_free.segment<6>(6 * slot);
    Vec6<double> delta = Vec6<double>::Zero();
    if (displacement.size() > 0) delta = displacement.segment<6>(6 * slot);
    return {V.head<3>(),
            V.tail<3>(),
            delta.head<3>(),
            delta.tail<3>(),
            V_free.head<3>(),
            V_free.tail<3>(),
            acceleration_of(problem, slot),
            problem.mass.inertia_W(slot),
            problem.mass.mass(slot),
            problem.h,
            problem.h - 0.5 * problem.nominal_h};
  }
};

/// Zeros for a displacement that is none: bodies with joints have none by impacts.
void set_zero_if_none(GrowableVector& displacement, Eigen::Index size) {
  if (displacement.size() == 0) displacement.setZero(size);
}

/// The two solutions and how they are mixed; both with a displacement where they are.
struct Mixture {
  ContactSolution newton, plastic;
  double alpha = 1.0;
  bool is_mixed = false;       ///< else the solution is that of the law
  bool plastic_gains = false;  ///< the bound is what plastic impacts gain, not 0
  bool is_near_kink = false;   ///< energy nearly rises, or hardly does

  void mix(ContactSolution& out) const {
    out = newton;
    out.velocity = plastic.velocity + alpha * (newton.velocity - plastic.velocity);
    out.displacement = plastic.displacement + alpha * (newton.displacement - plastic.displacement);
    out.iterations += plastic.iterations;
    out.factorizations += plastic.factorizations;
    out.residual = std::max(newton.residual, plastic.residual);
    out.path = std::max(newton.path, plastic.path);
    out.has_negative_determinant |= plastic.has_negative_determinant;
    out.converged = newton.converged && plastic.converged;
  }
};

struct PassiveImpactMemory final : SolverMemory {
  SmoothCoulombMemory law;
  ImpactEnergy energy;
  Mixture mixture;  ///< of the last solution
  std::vector<Vec3<double>> plastic_impulses;
  EndMotionBar difference, part, plastic_part;
};

struct PassiveImpactLinearization final : SolutionLinearization {
  SmoothCoulombLinearization law, plastic;
  Mixture mixture;

  [[nodiscard]] std::size_t bytes() const override {
    if (!mixture.is_mixed) return law.bytes();
    return law.bytes() + plastic.bytes() +
           4 * sizeof(double) * static_cast<std::size_t>(mixture.newton.velocity.size());
  }
  [[nodiscard]] bool is_near_kink() const override { return mixture.is_near_kink; }
  [[nodiscard]] bool has_negative_determinant() const override {
    return law.has_negative_determinant() || (mixture.is_mixed && plastic.has_negative_determinant());
  }
};

constexpr double k_rounding = 1e-9;  // of the energy

bool is_near_kink(double gain) {
  constexpr double k_near = 1e-4, k_conserved = 1e-7;  // what conserves energy does so nearby, too
  return std::abs(gain) < k_near && std::abs(gain) > k_conserved;
}

void set_difference(const Mixture& mixture, EndMotionBar& difference) {
  difference.velocity = mixture.newton.velocity - mixture.plastic.velocity;
  difference.displacement = mixture.newton.displacement - mixture.plastic.displacement;
}

/// The largest alpha whose gain is at most `bound`. The gain is nearly a parabola that opens upwards, so that
/// Newton's method comes down to it from alpha = 1.
///
/// @param gain  at alpha = 1, > bound
/// @param end   memory
double largest_alpha(const ContactProblem& problem, const ImpactEnergy& energy, const Mixture& mixture,
                     const EndMotionBar& difference, double gain, double bound, EndMotionBar& end) {
  constexpr int k_iterations = 50;
  constexpr double k_converged = 1e-15;
  double low = 0.0, high = 1.0, alpha = 1.0;
  for (int iteration = 0; iteration < k_iterations; ++iteration) {
    end.velocity = mixture.plastic.velocity + alpha * difference.velocity;
    end.displacement = mixture.plastic.displacement + alpha * difference.displacement;
    if (iteration > 0) gain = energy.gain(problem, end.velocity, end.displacement);
    if (std::abs(gain - bound) <= k_converged) break;
    (gain > bound ? high : low) = alpha;
    const double slope = energy.gain_along(problem, end.velocity, end.displacement, difference.velocity,
                                           difference.displacement),
                 next = alpha - (gain - bound) / slope;
    alpha = next > low && next < high ? next : 0.5 * (low + high);
    if (high - low <= k_converged) break;
  }
  return alpha;
}

/// Whether and how mixture.newton is to be mixed; leaves the law's memory with the plastic solution then.
void find_mixture(const SmoothCoulombSolver& law, const ContactProblem& problem,
                  PassiveImpactMemory& memory) {
  Mixture& mixture = memory.mixture;
  const ContactSolution& newton = mixture.newton;
  const double gain = memory.energy.gain(problem, newton.velocity, newton.displacement);
  mixture.is_mixed = gain > k_rounding && newton.converged;
  mixture.is_near_kink = is_near_kink(gain);
  if (!mixture.is_mixed) return;
  law.solve(plastic(problem), memory.law, mixture.plastic);
  for (ContactSolution* of : {&mixture.newton, &mixture.plastic})
    set_zero_if_none(of->displacement, of->velocity.size());
  const double of_plastic =
      memory.energy.gain(problem, mixture.plastic.velocity, mixture.plastic.displacement);
  mixture.plastic_gains = of_plastic > 0.0;
  mixture.alpha = 1.0;
  if (gain <= of_plastic + k_rounding) return;
  set_difference(mixture, memory.difference);
  mixture.alpha = largest_alpha(problem, memory.energy, mixture, memory.difference, gain,
                                std::max(of_plastic, 0.0), memory.part);
}

/// The mixture that a solution is, found anew where it may be one.
void recover_mixture(const SmoothCoulombSolver& law, const ContactProblem& problem,
                     const ContactSolution& solution, PassiveImpactMemory& memory) {
  Mixture& mixture = memory.mixture;
  mixture.is_mixed = mixture.is_near_kink = false;
  if (!memory.energy.assign(problem, impact_settings(problem, law.impact_speed()))) return;
  const double gain = memory.energy.gain(problem, solution.velocity, solution.displacement);
  mixture.is_near_kink = is_near_kink(gain);
  if (gain < -k_rounding) return;
  law.solve(problem, memory.law, mixture.newton);
  find_mixture(law, problem, memory);
}

}  // namespace

std::unique_ptr<SolverMemory> PassiveImpactSolver::make_memory() const {
  return std::make_unique<PassiveImpactMemory>();
}

std::unique_ptr<SolutionLinearization> PassiveImpactSolver::make_linearization() const {
  return std::make_unique<PassiveImpactLinearization>();
}

void PassiveImpactSolver::solve(const ContactProblem& problem, SolverMemory& any_memory,
                                ContactSolution& solution) const {
  auto& memory = static_cast<PassiveImpactMemory&>(any_memory);
  Mixture& mixture = memory.mixture;
  mixture.is_mixed = mixture.is_near_kink = false;
  if (!memory.energy.assign(problem, impact_settings(problem, impact_speed()))) {
    law_.solve(problem, memory.law, solution);
    return;
  }
  law_.solve(problem, memory.law, mixture.newton);
  find_mixture(law_, problem, memory);
  if (mixture.is_mixed) {
    mixture.mix(solution);
  } else {
    solution = mixture.newton;
  }
}

bool PassiveImpactSolver::linearize(const ContactProblem& problem, const ContactSolution& solution,
                                    LinearizeFor what_for, SolverMemory& any_memory,
                                    SolutionLinearization& linearization) const {
  auto& memory = static_cast<PassiveImpactMemory&>(any_memory);
  auto& at = static_cast<PassiveImpactLinearization&>(linearization);
  recover_mixture(law_, problem, solution, memory);
  std::swap(at.mixture, memory.mixture);
  if (!at.mixture.is_mixed) return law_.linearize(problem, solution, what_for, memory.law, at.law);
  return law_.linearize(problem, at.mixture.newton, what_for, memory.law, at.law) &&
         law_.linearize(plastic(problem), at.mixture.plastic, what_for, memory.law, at.plastic);
}

bool PassiveImpactSolver::linearize_solved(const ContactProblem& problem, const ContactSolution& solution,
                                           SolverMemory& any_memory,
                                           SolutionLinearization& linearization) const {
  auto& memory = static_cast<PassiveImpactMemory&>(any_memory);
  auto& at = static_cast<PassiveImpactLinearization&>(linearization);
  std::swap(at.mixture, memory.mixture);
  if (!at.mixture.is_mixed) return law_.linearize_solved(problem, solution, memory.law, at.law);
  return law_.linearize_solved(plastic(problem), at.mixture.plastic, memory.law, at.plastic) &&
         law_.linearize(problem, at.mixture.newton, LinearizeFor::vjp, memory.law, at.law);
}

// With F the gain above its bound: dalpha = -dF/(dF/dalpha), where F is that of the solution, and less that
// of plastic impacts where these are the bound.

void PassiveImpactSolver::vjp(const ContactProblem& problem, const ContactSolution& solution,
                              const SolutionLinearization& linearization, const EndMotionBar& solution_bar,
                              SolverMemory& any_memory, ContactProblemBar& bar) const {
  const auto& at = static_cast<const PassiveImpactLinearization&>(linearization);
  auto& memory = static_cast<PassiveImpactMemory&>(any_memory);
  const Mixture& mixture = at.mixture;
  if (!mixture.is_mixed) {
    law_.vjp(problem, solution, at.law, solution_bar, memory.law, bar);
    return;
  }
  const double alpha = mixture.alpha;
  const ContactSolution& plastic_end = mixture.plastic;
  EndMotionBar &end_bar = memory.part, &plastic_bar = memory.plastic_part, &difference = memory.difference;
  end_bar = solution_bar;
  plastic_bar.velocity.setZero(end_bar.velocity.size());
  plastic_bar.displacement.setZero(end_bar.displacement.size());
  set_difference(mixture, difference);
  (void)memory.energy.assign(problem, impact_settings(problem, impact_speed()));
  const double slope = memory.energy.gain_along(problem, solution.velocity, solution.displacement,
                                                difference.velocity, difference.displacement);
  if (alpha < 1.0 && alpha > 0.0 && slope > 0.0) {
    const double alpha_bar = solution_bar.velocity.dot(difference.velocity) +
                             solution_bar.displacement.dot(difference.displacement),
                 gain_bar = -alpha_bar / slope;
    memory.energy.vjp(problem, solution.velocity, solution.displacement, gain_bar, end_bar, bar);
    if (mixture.plastic_gains) {
      memory.energy.vjp(problem, plastic_end.velocity, plastic_end.displacement, -gain_bar, plastic_bar, bar);
    }
  }
  plastic_bar.velocity += (1.0 - alpha) * end_bar.velocity;
  plastic_bar.displacement += (1.0 - alpha) * end_bar.displacement;
  end_bar.velocity *= alpha;
  end_bar.displacement *= alpha;
  law_.vjp(problem, mixture.newton, at.law, end_bar, memory.law, bar);
  law_.vjp(plastic(problem), plastic_end, at.plastic, plastic_bar, memory.law, bar);
}

// Of a solution that is no mixture.

bool PassiveImpactSolver::has_pair_vjp(const SolutionLinearization& linearization) const {
  const auto& at = static_cast<const PassiveImpactLinearization&>(linearization);
  return !at.mixture.is_mixed && law_.has_pair_vjp(at.law);
}

void PassiveImpactSolver::multiplier_vjp(const ContactProblem& problem, const ContactSolution& solution,
                                         const SolutionLinearization& linearization,
                                         const EndMotionBar& solution_bar, SolverMemory& memory,
                                         ContactProblemBar& bar, GrowableVector& w) const {
  law_.multiplier_vjp(problem, solution, static_cast<const PassiveImpactLinearization&>(linearization).law,
                      solution_bar, static_cast<PassiveImpactMemory&>(memory).law, bar, w);
}

Vec3<double> PassiveImpactSolver::pair_vjp(const ContactProblem& problem, const ContactSolution& solution,
                                           const SolutionLinearization& linearization, std::size_t pair,
                                           const Vec6<double>& W, SolverMemory& memory,
                                           ContactProblemBar& bar) const {
  return law_.pair_vjp(problem, solution, static_cast<const PassiveImpactLinearization&>(linearization).law,
                       pair, W, static_cast<PassiveImpactMemory&>(memory).law, bar);
}

void PassiveImpactSolver::jvp(const ContactProblem& problem, const ContactSolution& solution,
                              const SolutionLinearization& linearization, const ContactProblemDot& dot,
                              SolverMemory& any_memory, EndMotionBar& solution_dot) const {
  const auto& at = static_cast<const PassiveImpactLinearization&>(linearization);
  auto& memory = static_cast<PassiveImpactMemory&>(any_memory);
  const Mixture& mixture = at.mixture;
  law_.jvp(problem, mixture.is_mixed ? mixture.newton : solution, at.law, dot, memory.law, solution_dot);
  if (!mixture.is_mixed) return;
  const double alpha = mixture.alpha;
  const ContactSolution& plastic_end = mixture.plastic;
  EndMotionBar &plastic_dot = memory.plastic_part, &difference = memory.difference;
  law_.jvp(plastic(problem), plastic_end, at.plastic, dot, memory.law, plastic_dot);
  for (EndMotionBar* of : {&solution_dot, &plastic_dot})
    set_zero_if_none(of->displacement, of->velocity.size());
  solution_dot.velocity = alpha * solution_dot.velocity + (1.0 - alpha) * plastic_dot.velocity;
  solution_dot.displacement = alpha * solution_dot.displacement + (1.0 - alpha) * plastic_dot.displacement;
  set_difference(mixture, difference);
  (void)memory.energy.assign(problem, impact_settings(problem, impact_speed()));
  const double slope = memory.energy.gain_along(problem, solution.velocity, solution.displacement,
                                                difference.velocity, difference.displacement);
  if (!(alpha < 1.0 && alpha > 0.0 && slope > 0.0)) return;
  double gain_dot = memory.energy.jvp(problem, solution.velocity, solution.displacement, solution_dot, dot);
  if (mixture.plastic_gains) {
    gain_dot -= memory.energy.jvp(problem, plastic_end.velocity, plastic_end.displacement, plastic_dot, dot);
  }
  const double alpha_dot = -gain_dot / slope;
  solution_dot.velocity += alpha_dot * difference.velocity;
  solution_dot.displacement += alpha_dot * difference.displacement;
}

void PassiveImpactSolver::impulses(const ContactProblem& problem, const ContactSolution& solution,
                                   SolverMemory& any_memory, std::vector<Vec3<double>>& impulses) const {
  auto& memory = static_cast<PassiveImpactMemory&>(any_memory);
  recover_mixture(law_, problem, solution, memory);
  const Mixture& mixture = memory.mixture;
  law_.impulses(problem, mixture.is_mixed ? mixture.newton : solution, memory.law, impulses);
  if (!mixture.is_mixed) return;
  law_.impulses(plastic(problem), mixture.plastic, memory.law, memory.plastic_impulses);
  for (std::size_t i = 0; i < impulses.size(); ++i)
    impulses[i] = mixture.alpha * impulses[i] + (1.0 - mixture.alpha) * memory.plastic_impulses[i];
}

std::unique_ptr<ContactSolver> make_smooth_coulomb_solver(const StepConfig& config, double acceleration_scale,
                                                          SmoothCoulombSolver::Without without) {
  if (config.passive_impacts)
    return std::make_unique<PassiveImpactSolver>(config, acceleration_scale, without);
  return std::make_unique<SmoothCoulombSolver>(config, acceleration_scale, without);
}

}  // namespace abut
