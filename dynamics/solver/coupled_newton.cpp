#include "dynamics/solver/coupled_newton.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dynamics/solver/convex_newton.h"
#include "engine/random.h"

namespace abut {
namespace {

/// How long a search may last: at all, and without a residual that halves.
struct Patience {
  int iterations, without_progress;
};

class CoupledNewton {
 public:
  CoupledNewton(const ContactProblem& problem, const smooth_coulomb::Settings& settings, double speed_scale,
                RowBlocks& rows, CoupledNewtonMemory& memory, ContactSolution& solution)
      : problem_(problem),
        settings_(settings),
        stiction_speed_(settings.stiction_speed),
        balance_(problem, settings_, speed_scale, rows, memory.newton),
        rows_(rows),
        memory_(memory),
        solution_(solution) {}

  [[nodiscard]] bool solve(double tolerance, int max_iterations, GrowableVector& v);

 private:
  [[nodiscard]] bool direct(double tolerance, int max_iterations, GrowableVector& v);
  [[nodiscard]] bool graduated(double tolerance, int max_iterations, GrowableVector& v);
  [[nodiscard]] bool from_elsewhere(double tolerance, int max_iterations, GrowableVector& v,
                                    GrowableVector& negative);
  [[nodiscard]] bool iterate(double tolerance, Patience patience, GrowableVector& v);
  [[nodiscard]] double step_length(const GrowableVector& v, double slope_at_0, double slope_at_1,
                                   bool is_coupled);
  [[nodiscard]] bool has_negative_determinant(const GrowableVector& v);
  void finish(const GrowableVector& v, SolutionPath path, bool negative_determinant);

  const ContactProblem& problem_;
  smooth_coulomb::Settings settings_;
  double stiction_speed_;
  MomentumBalance balance_;
  RowBlocks& rows_;
  CoupledNewtonMemory& memory_;
  ContactSolution& solution_;
  double residual_ = 0.0;
};

/// A root of F(v + a d).d along the direction that has been set: in (0, 1), or beyond where the slope has not
/// come down at 1.
double CoupledNewton::step_length(const GrowableVector& v, double slope_at_0, double slope_at_1,
                                  bool is_coupled) {
  constexpr int k_expansions = 12;
  constexpr double k_factor = 4.0;
  balance_.set_direction(v, memory_.newton.direction);
  if (slope_at_1 > 0.0)
    return balance_.root_along(0.0, 1.0, slope_at_0, is_coupled ? RowLaw::coupled : RowLaw::bounded);
  double low = 1.0, high = 1.0;
  for (int k = 0; k < k_expansions; ++k) {
    high *= k_factor;
    const double slope = balance_.along(high, RowLaw::coupled).slope;
    if (slope > 0.5 * std::abs(slope_at_0))
      return balance_.root_along(low, high, slope_at_0, RowLaw::coupled);
    if (slope > -0.5 * std::abs(slope_at_0)) break;
    low = high;
  }
  return high;
}

/// From v on, which is to be evaluated; leaves there the iterate of least residual if it does not converge.
bool CoupledNewton::iterate(double tolerance, Patience patience, GrowableVector& v) {
  GrowableVector &d = memory_.newton.direction, &best = memory_.best;
  double residual = balance_.residual(), previous = std::numeric_limits<double>::infinity(),
         halved = residual;
  residual_ = residual;
  best = v;
  int since_halved = 0;
  for (int iteration = 0;; ++iteration) {
    if (residual < residual_) {
      residual_ = residual;
      best = v;
    }
    if (residual <= tolerance || (iteration > 3 && is_rounding(residual, previous))) {
      residual_ = residual;
      return true;
    }
    since_halved = residual < 0.5 * halved ? 0 : since_halved + 1;
    if (since_halved == 0) halved = residual;
    if (iteration >= patience.iterations || since_halved > patience.without_progress ||
        !std::isfinite(residual)) {
      v = best;
      return false;
    }
    previous = residual;
    double slope = 0.0;
    bool is_coupled = balance_.factorize_coupled(v, memory_.jacobian);
    ++solution_.factorizations;
    if (is_coupled) {
      d = -memory_.newton.gradient;
      memory_.jacobian.solve_in_place(d);
      slope = memory_.newton.gradient.dot(d);
      is_coupled = slope < 0.0;  // false, too, where d is not finite
    }
    if (!is_coupled) {
      rows_.set_bounds();
      ++solution_.factorizations;
      if (!balance_.factorize(v, RowLaw::bounded, memory_.newton.hessian)) {
        v = best;
        return false;
      }
      d = -memory_.newton.gradient;
      memory_.newton.hessian.solve_in_place(d);
      slope = memory_.newton.gradient.dot(d);
    }
    memory_.newton.trial = v + d;
    balance_.evaluate(memory_.newton.trial, RowLaw::coupled);
    const double slope_at_1 = memory_.newton.gradient.dot(d), limit = 0.5 * std::abs(slope);
    if (!(slope_at_1 <= limit) || (!is_coupled && slope_at_1 < -limit)) {
      const double a = step_length(v, slope, std::isfinite(slope_at_1) ? slope_at_1 : 1.0, is_coupled);
      memory_.newton.trial = v + a * d;
      balance_.evaluate(memory_.newton.trial, RowLaw::coupled);
    }
    residual = balance_.residual();
    v.swap(memory_.newton.trial);
    ++solution_.iterations;
  }
}

bool CoupledNewton::direct(double tolerance, int max_iterations, GrowableVector& v) {
  constexpr double k_near = 1e-3, k_rough = 1e-6;
  constexpr int k_passes = 3, k_patience = 12, k_last_patience = 20, k_most = 60;
  max_iterations = std::min(max_iterations, k_most);
  v = problem_.v_start;
  balance_.evaluate(v, RowLaw::coupled);
  const double at_start = balance_.residual();
  if (!(at_start <= k_near)) {
    balance_.evaluate(problem_.v_free, RowLaw::coupled);
    if (balance_.residual() >= at_start) {
      balance_.evaluate(v, RowLaw::coupled);
    } else {
      v = problem_.v_free;
    }
  }
  for (int pass = 0;; ++pass) {
    const int patience = pass == k_passes ? k_last_patience : k_patience;
    if (iterate(tolerance, {max_iterations, patience}, v)) {
      solution_.path = pass == 0 ? SolutionPath::newton : SolutionPath::convex_pass;
      return true;
    }
    if (pass == k_passes || !std::isfinite(residual_)) return false;
    balance_.evaluate(v, RowLaw::coupled);
    rows_.set_bounds();
    (void)minimise(balance_, RowLaw::bounded, k_rough, max_iterations, v, solution_);
    if (!v.allFinite()) return false;
    balance_.evaluate(v, RowLaw::coupled);
  }
}

bool CoupledNewton::graduated(double tolerance, int max_iterations, GrowableVector& v) {
  constexpr double k_widest = 1e5, k_rough = 1e-6, k_finer = 0.4, k_coarser = 1.5, k_finest = 1e-3;
  constexpr int k_stages = 200;
  const double coarsest = std::log(3.0);
  double step = coarsest, logarithm = std::log(k_widest) + coarsest;
  GrowableVector reached = problem_.v_start;
  bool is_first = true, is_done = false;
  for (int stage = 0; stage < k_stages && !is_done; ++stage) {
    const double next = std::max(0.0, logarithm - step);
    settings_.stiction_speed = stiction_speed_ * std::exp(next);
    v = reached;
    balance_.evaluate(v, RowLaw::coupled);
    const Patience patience{std::min(max_iterations, is_first ? 60 : 30), is_first ? 20 : 10};
    if (iterate(next == 0.0 ? tolerance : k_rough, patience, v)) {
      is_done = next == 0.0;
      reached = v;
      logarithm = next;
      step = std::min(k_coarser * step, coarsest);
      is_first = false;
    } else {
      step *= k_finer;
      if (is_first || step < k_finest) break;
    }
  }
  settings_.stiction_speed = stiction_speed_;
  return is_done;
}

/// Solutions of negative determinant do not count, and are left in `negative`.
bool CoupledNewton::from_elsewhere(double tolerance, int max_iterations, GrowableVector& v,
                                   GrowableVector& negative) {
  constexpr int k_starts = 20, k_patience = 15, k_most = 60;
  max_iterations = std::min(max_iterations, k_most);
  constexpr std::uint64_t k_seed = 1;
  Random random(k_seed);
  const MassMatrix& mass = problem_.mass;
  const double speed = 0.5 * balance_.momentum_scale() / std::sqrt(mass.total_mass());
  for (int start = 0; start < k_starts; ++start) {
    v = problem_.v_start;
    for (int s = 0; s < mass.slot_count(); ++s) {
      const double radius = std::sqrt(mass.inertia_W(s).trace() / (3.0 * mass.mass(s)));
      for (int k = 0; k < 6; ++k)
        v[6 * s + k] += (k < 3 ? speed / radius : speed) * random.uniform(-1.0, 1.0);
    }
    balance_.evaluate(v, RowLaw::coupled);
    if (!iterate(tolerance, {max_iterations, k_patience}, v)) continue;
    if (!has_negative_determinant(v)) return true;
    negative = v;
  }
  return false;
}

bool CoupledNewton::has_negative_determinant(const GrowableVector& v) {
  balance_.evaluate(v, RowLaw::coupled);
  return !balance_.factorize_coupled(v, memory_.jacobian) || memory_.jacobian.determinant_sign() < 0;
}

void CoupledNewton::finish(const GrowableVector& v, SolutionPath path, bool negative_determinant) {
  balance_.evaluate(v, RowLaw::coupled);
  solution_.path = path;
  solution_.residual = balance_.residual();
  solution_.has_negative_determinant = negative_determinant;
}

bool CoupledNewton::solve(double tolerance, int max_iterations, GrowableVector& v) {
  const int before = solution_.factorizations;
  GrowableVector negative;  // a solution of negative determinant
  if (direct(tolerance, max_iterations, v)) {
    const bool is_suspect = solution_.factorizations > before && memory_.jacobian.determinant_sign() < 0;
    if (!is_suspect || !has_negative_determinant(v)) {
      solution_.residual = residual_;
      return true;
    }
    negative = v;
  }
  GrowableVector other;
  if (graduated(tolerance, max_iterations, other)) {
    if (!has_negative_determinant(other)) {
      v = other;
      finish(v, SolutionPath::graduated_friction, false);
      return true;
    }
    negative = other;
  }
  if (from_elsewhere(tolerance, max_iterations, other, negative)) {
    v = other;
    finish(v, SolutionPath::other_start, false);
    return true;
  }
  if (negative.size() > 0) {
    v = negative;
    finish(v, SolutionPath::other_start, true);
    return true;
  }
  finish(v, SolutionPath::none, false);
  return false;
}

}  // namespace

bool solve_coupled(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                   double speed_scale, double tolerance, int max_iterations, RowBlocks& rows,
                   CoupledNewtonMemory& memory, GrowableVector& v, ContactSolution& solution) {
  return CoupledNewton(problem, settings, speed_scale, rows, memory, solution)
      .solve(tolerance, max_iterations, v);
}

}  // namespace abut
