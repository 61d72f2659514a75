#include "dynamics/solver/impact_solver.h"

#include <algorithm>
#include <cmath>

#include "dynamics/solver/work.h"

namespace abut {

/// The two solutions and how they are mixed.
struct Mixture {
  ContactSolution newton, plastic;
  double alpha = 1.0;
  bool is_mixed = false;             ///< else the solution is that of the law
  bool is_bound_by_plastic = false;  ///< the bound is the energy of plastic impacts, not that before
  bool is_narrow = false;            ///< the law of both
  bool is_near_kink = false;         ///< energy nearly rises, or hardly does

  void mix(ContactSolution& out) const {
    out = newton;
    out.velocity = plastic.velocity + alpha * (newton.velocity - plastic.velocity);
    out.iterations += plastic.iterations;
    out.factorizations += plastic.factorizations;
    out.residual = std::max(newton.residual, plastic.residual);
    out.path = std::max(newton.path, plastic.path);
    out.has_negative_determinant |= plastic.has_negative_determinant;
    out.converged = newton.converged && plastic.converged;
  }
};

struct ImpactMemory final : SolverMemory {
  SmoothCoulombMemory law;
  Mixture mixture;  ///< of the last solution
  GrowableVector difference, velocity, momentum, scratch;
  EndMotionBar part, plastic_part;
  std::vector<Vec3<double>> plastic_impulses;
};

namespace {

/// The same impacts with e = 0.
ContactProblem plastic(const ContactProblem& problem) {
  ContactProblem out = problem;
  out.impacts_are_plastic = true;
  return out;
}

/// E(v), and the momentum M (v + v_lead) that its derivatives are made of.
double kinetic_energy(const ContactProblem& problem, const GrowableVector& v, GrowableVector& velocity,
                      GrowableVector& momentum) {
  velocity = v + *problem.v_lead;
  problem.mass.multiply(velocity, momentum);
  return 0.5 * velocity.dot(momentum);
}

/// Adds scale dE/d(M, v_lead) at a velocity v + v_lead. That by v is the one by v_lead, scale times the
/// momentum.
void energy_vjp(const GrowableVector& velocity, const GrowableVector& momentum, double scale,
                ContactProblemBar& bar) {
  bar.v_lead += scale * momentum;
  for (std::size_t s = 0; s < bar.mass.size(); ++s) {
    const auto k = 6 * static_cast<Eigen::Index>(s);
    const Vec3<double> w = velocity.segment<3>(k);
    bar.inertia_W[s].noalias() += 0.5 * scale * w * w.transpose();
    bar.mass[s] += 0.5 * scale * velocity.segment<3>(k + 3).squaredNorm();
  }
}

double energy_jvp(const GrowableVector& velocity, const GrowableVector& momentum, const GrowableVector& v_dot,
                  const ContactProblemDot& dot, GrowableVector& memory) {
  memory.setZero(velocity.size());
  dot.add_mass_product(velocity, 0.5, memory);
  return momentum.dot(v_dot) + momentum.dot(dot.v_lead) + memory.dot(velocity);
}

struct ImpactLinearization final : SolutionLinearization {
  SmoothCoulombLinearization law, plastic;
  Mixture mixture;

  [[nodiscard]] std::size_t bytes() const override { return law.bytes() + plastic.bytes(); }
  [[nodiscard]] bool is_near_kink() const override { return mixture.is_near_kink; }
  [[nodiscard]] bool has_negative_determinant() const override {
    return law.has_negative_determinant() || (mixture.is_mixed && plastic.has_negative_determinant());
  }
};

/// A contact that is not hit and takes part.
bool answers(const ContactRow& row) { return !row.hits && row.answers > 0.0; }

bool is_near_kink(double relative_gain) {
  constexpr double k_near = 1e-4, k_conserved = 1e-7;  // what conserves energy does so nearby, too
  return std::abs(relative_gain) < k_near && std::abs(relative_gain) > k_conserved;
}

}  // namespace

ImpactSolver::ImpactSolver(const StepConfig& config, double acceleration_scale)
    : is_bounded_(config.passive_impacts), is_always_narrow_(config.law == ContactLaw::lcp) {
  constexpr double k_narrow = 0.25;
  for (const double near_rigid : {1e-2, 1e-3, 1e-4, 1e-5}) {
    laws_.emplace_back(config, acceleration_scale, SmoothCoulombSolver::Without::push_out);
    laws_.back().set_near_rigid(near_rigid);
    narrow_laws_.push_back(laws_.back());
    narrow_laws_.back().set_narrower(k_narrow);
    if (is_always_narrow_) laws_.back() = narrow_laws_.back();
  }
}

void ImpactSolver::solve_law(const Laws& laws, const ContactProblem& problem, SmoothCoulombMemory& memory,
                             ContactSolution& solution) {
  laws.back().solve(problem, memory, solution);
  if (solution.converged) return;
  GrowableVector from = problem.v_start;
  int iterations = solution.iterations;
  for (const SmoothCoulombSolver& law : laws) {
    ContactProblem softer{problem.mass, problem.rows, from, problem.v_free, problem.h, problem.joints};
    softer.v_lead = problem.v_lead;
    softer.impacts_are_plastic = problem.impacts_are_plastic;
    law.solve(softer, memory, solution);
    iterations += solution.iterations;
    from = solution.velocity;
  }
  solution.iterations = iterations;
}

/// Whether and how memory.mixture.newton is to be mixed.
void ImpactSolver::find_mixture(const ContactProblem& problem, ImpactMemory& memory) const {
  constexpr double k_rounding = 1e-9;  // of the energy
  Mixture& mixture = memory.mixture;
  mixture.is_mixed = mixture.is_near_kink = mixture.is_narrow = false;
  const auto energy = [&](const GrowableVector& v) {
    return kinetic_energy(problem, v, memory.velocity, memory.momentum);
  };
  const double before = energy(problem.v_start);
  double after = energy(mixture.newton.velocity);
  if (!(before > 0.0) || !mixture.newton.converged) return;
  const double gain = after / before - 1.0;
  mixture.is_near_kink = is_near_kink(gain);
  mixture.is_mixed = gain > k_rounding;
  if (!mixture.is_mixed) return;
  solve_law(laws_, plastic(problem), memory.law, mixture.plastic);
  double of_plastic = energy(mixture.plastic.velocity);
  const bool may_narrow =
      !is_always_narrow_ && std::any_of(problem.rows.rows.begin(), problem.rows.rows.end(), answers);
  if (may_narrow) mixture.is_near_kink |= is_near_kink(of_plastic / before - 1.0);
  if (may_narrow && of_plastic > before * (1.0 + k_rounding)) {
    const int iterations = mixture.newton.iterations + mixture.plastic.iterations;
    const auto solve_both = [&](const Laws& laws) {
      solve_law(laws, problem, memory.law, mixture.newton);
      solve_law(laws, plastic(problem), memory.law, mixture.plastic);
      return mixture.newton.converged && mixture.plastic.converged;
    };
    mixture.is_narrow = solve_both(narrow_laws_);
    if (!mixture.is_narrow) (void)solve_both(laws_);
    mixture.newton.iterations += iterations;
    after = energy(mixture.newton.velocity);
    of_plastic = energy(mixture.plastic.velocity);
  }
  const double bound = std::max(before, of_plastic);
  mixture.is_bound_by_plastic = of_plastic > before;
  mixture.alpha = 1.0;
  if (after <= bound * (1.0 + k_rounding)) return;
  // E(alpha) = E_P + alpha slope + alpha^2 curvature/2
  memory.difference = mixture.newton.velocity - mixture.plastic.velocity;
  const double slope = memory.momentum.dot(memory.difference);
  problem.mass.multiply(memory.difference, memory.scratch);
  const double curvature = memory.scratch.dot(memory.difference), room = bound - of_plastic,
               root = std::sqrt(slope * slope + 2.0 * curvature * room);
  if (slope > 0.0) {
    mixture.alpha = 2.0 * room / (slope + root);
  } else {
    mixture.alpha = (root - slope) / curvature;
  }
  mixture.alpha = std::clamp(mixture.alpha, 0.0, 1.0);
}

std::unique_ptr<SolverMemory> ImpactSolver::make_memory() const { return std::make_unique<ImpactMemory>(); }

std::unique_ptr<SolutionLinearization> ImpactSolver::make_linearization() const {
  return std::make_unique<ImpactLinearization>();
}

void ImpactSolver::solve(const ContactProblem& problem, SolverMemory& any_memory,
                         ContactSolution& solution) const {
  auto& memory = static_cast<ImpactMemory&>(any_memory);
  Mixture& mixture = memory.mixture;
  solve_law(laws_, problem, memory.law, mixture.newton);
  mixture.is_mixed = mixture.is_near_kink = mixture.is_narrow = false;
  if (is_bounded_ && !has_work_of_its_own(problem.rows, problem.joints, problem.mass.links()))
    find_mixture(problem, memory);
  if (mixture.is_mixed) {
    mixture.mix(solution);
  } else {
    solution = mixture.newton;
  }
}

bool ImpactSolver::linearize_solved(const ContactProblem& problem, const ContactSolution& solution,
                                    SolverMemory& memory, SolutionLinearization& linearization) const {
  return linearize(problem, solution, LinearizeFor::both, memory, linearization);
}

bool ImpactSolver::linearize(const ContactProblem& problem, const ContactSolution&, LinearizeFor what_for,
                             SolverMemory& any_memory, SolutionLinearization& linearization) const {
  auto& memory = static_cast<ImpactMemory&>(any_memory);
  auto& at = static_cast<ImpactLinearization&>(linearization);
  at.mixture = memory.mixture;
  const SmoothCoulombSolver& used = law(at.mixture.is_narrow);
  if (!used.linearize(problem, at.mixture.newton, what_for, memory.law, at.law)) return false;
  return !at.mixture.is_mixed ||
         used.linearize(plastic(problem), at.mixture.plastic, what_for, memory.law, at.plastic);
}

// With F = E(v) - bound: dalpha = -dF/(dF/dalpha).

void ImpactSolver::vjp(const ContactProblem& problem, const ContactSolution& solution,
                       const SolutionLinearization& linearization, const EndMotionBar& solution_bar,
                       SolverMemory& any_memory, ContactProblemBar& bar) const {
  const auto& at = static_cast<const ImpactLinearization&>(linearization);
  auto& memory = static_cast<ImpactMemory&>(any_memory);
  const Mixture& mixture = at.mixture;
  if (!mixture.is_mixed) {
    law(mixture.is_narrow).vjp(problem, mixture.newton, at.law, solution_bar, memory.law, bar);
    return;
  }
  const double alpha = mixture.alpha;
  GrowableVector &newton_bar = memory.part.velocity, &plastic_bar = memory.plastic_part.velocity;
  newton_bar = solution_bar.velocity;
  plastic_bar.setZero(newton_bar.size());
  if (alpha > 0.0 && alpha < 1.0) {
    memory.difference = mixture.newton.velocity - mixture.plastic.velocity;
    (void)kinetic_energy(problem, solution.velocity, memory.velocity, memory.momentum);
    const double slope = memory.momentum.dot(memory.difference);
    if (slope > 0.0) {
      const double multiplier = -solution_bar.velocity.dot(memory.difference) / slope;
      energy_vjp(memory.velocity, memory.momentum, multiplier, bar);
      newton_bar += multiplier * memory.momentum;
      const GrowableVector& bound = mixture.is_bound_by_plastic ? mixture.plastic.velocity : problem.v_start;
      (void)kinetic_energy(problem, bound, memory.velocity, memory.momentum);
      energy_vjp(memory.velocity, memory.momentum, -multiplier, bar);
      (mixture.is_bound_by_plastic ? plastic_bar : bar.v_start) -= multiplier * memory.momentum;
    }
  }
  plastic_bar += (1.0 - alpha) * newton_bar;
  newton_bar *= alpha;
  law(mixture.is_narrow).vjp(problem, mixture.newton, at.law, memory.part, memory.law, bar);
  law(mixture.is_narrow)
      .vjp(plastic(problem), mixture.plastic, at.plastic, memory.plastic_part, memory.law, bar);
}

void ImpactSolver::jvp(const ContactProblem& problem, const ContactSolution& solution,
                       const SolutionLinearization& linearization, const ContactProblemDot& dot,
                       SolverMemory& any_memory, EndMotionBar& solution_dot) const {
  const auto& at = static_cast<const ImpactLinearization&>(linearization);
  auto& memory = static_cast<ImpactMemory&>(any_memory);
  const Mixture& mixture = at.mixture;
  law(mixture.is_narrow).jvp(problem, mixture.newton, at.law, dot, memory.law, solution_dot);
  if (!mixture.is_mixed) return;
  const double alpha = mixture.alpha;
  GrowableVector& plastic_dot = memory.plastic_part.velocity;
  law(mixture.is_narrow)
      .jvp(plastic(problem), mixture.plastic, at.plastic, dot, memory.law, memory.plastic_part);
  solution_dot.velocity = alpha * solution_dot.velocity + (1.0 - alpha) * plastic_dot;
  if (!(alpha > 0.0 && alpha < 1.0)) return;
  memory.difference = mixture.newton.velocity - mixture.plastic.velocity;
  (void)kinetic_energy(problem, solution.velocity, memory.velocity, memory.momentum);
  const double slope = memory.momentum.dot(memory.difference);
  if (!(slope > 0.0)) return;
  double gain_dot = energy_jvp(memory.velocity, memory.momentum, solution_dot.velocity, dot, memory.scratch);
  const bool by_plastic = mixture.is_bound_by_plastic;
  (void)kinetic_energy(problem, by_plastic ? mixture.plastic.velocity : problem.v_start, memory.velocity,
                       memory.momentum);
  gain_dot -= energy_jvp(memory.velocity, memory.momentum, by_plastic ? plastic_dot : dot.v_start, dot,
                         memory.scratch);
  solution_dot.velocity -= gain_dot / slope * memory.difference;
}

void ImpactSolver::impulses(const ContactProblem& problem, const ContactSolution&, SolverMemory& any_memory,
                            std::vector<Vec3<double>>& impulses) const {
  auto& memory = static_cast<ImpactMemory&>(any_memory);
  const Mixture& mixture = memory.mixture;
  ContactSolution again;
  solve(problem, any_memory, again);
  law(mixture.is_narrow).impulses(problem, mixture.newton, memory.law, impulses);
  if (!mixture.is_mixed) return;
  law(mixture.is_narrow).impulses(plastic(problem), mixture.plastic, memory.law, memory.plastic_impulses);
  for (std::size_t i = 0; i < impulses.size(); ++i)
    impulses[i] = mixture.alpha * impulses[i] + (1.0 - mixture.alpha) * memory.plastic_impulses[i];
}

}  // namespace abut
