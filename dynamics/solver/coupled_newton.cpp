#include "dynamics/solver/coupled_newton.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dynamics/solver/convex_newton.h"
#include "engine/random.h"

namespace abut {
namespace {

/// Iterations that a search may take: at all, and without progress (NewtonConstants::progress).
struct Patience {
  int iterations, without_progress;
};

class CoupledNewton {
 public:
  CoupledNewton(const ContactProblem& problem, const smooth_coulomb::Settings& settings, double speed_scale,
                RowBlocks& rows, CoupledNewtonMemory& memory, ContactSolution& solution,
                const NewtonConstants& constants)
      : problem_(problem),
        settings_(settings),
        stiction_speed_(settings.stiction_speed),
        balance_(problem, settings_, speed_scale, rows, memory.newton, constants),
        rows_(rows),
        memory_(memory),
        solution_(solution),
        constants_(constants) {}

  [[nodiscard]] bool solve(double tolerance, int max_iterations, GrowableVector& v);

 private:
  [[nodiscard]] bool approach(int max_iterations, GrowableVector& v);
  [[nodiscard]] bool direct(double tolerance, int max_iterations, GrowableVector& v);
  [[nodiscard]] bool graduated(double tolerance, int max_iterations, GrowableVector& v);
  [[nodiscard]] bool from_elsewhere(double tolerance, int max_iterations, GrowableVector& v);
  [[nodiscard]] bool iterate(double tolerance, Patience patience, GrowableVector& v);
  [[nodiscard]] bool find_coupled_direction(const GrowableVector& v, double& slope);
  [[nodiscard]] double step_length(const GrowableVector& v, double slope_at_0, double slope_at_1,
                                   bool is_coupled);
  [[nodiscard]] bool has_negative_determinant(const GrowableVector& v);
  void keep_negative(const GrowableVector& v);
  void finish(const GrowableVector& v, SolutionPath path, bool negative_determinant);

  const ContactProblem& problem_;
  smooth_coulomb::Settings settings_;
  double stiction_speed_;
  MomentumBalance balance_;
  RowBlocks& rows_;
  CoupledNewtonMemory& memory_;
  ContactSolution& solution_;
  const NewtonConstants& constants_;
  double residual_ = 0.0;
  bool has_negative_ = false;  // memory_.negative is a solution
};

/// A root of F(v + a d).d along the direction that has been set: in (0, 1), or beyond where the slope has not
/// come down at 1.
double CoupledNewton::step_length(const GrowableVector& v, double slope_at_0, double slope_at_1,
                                  bool is_coupled) {
  balance_.set_direction(v, memory_.newton.direction);
  if (slope_at_1 > 0.0)
    return balance_.root_along(0.0, 1.0, slope_at_0, is_coupled ? RowLaw::coupled : RowLaw::bounded);
  const double limit = constants_.full_step_slope * std::abs(slope_at_0);
  double low = 1.0, high = 1.0;
  for (int k = 0; k < constants_.line_expansions; ++k) {
    high *= constants_.line_expansion;
    const double slope = balance_.along(high, RowLaw::coupled).slope;
    if (slope > limit) return balance_.root_along(low, high, slope_at_0, RowLaw::coupled);
    if (slope > -limit) break;
    low = high;
  }
  return high;
}

/// Newton's direction from v on, by the slopes that rows_ have. False if it does not lead down.
bool CoupledNewton::find_coupled_direction(const GrowableVector& v, double& slope) {
  GrowableVector& d = memory_.newton.direction;
  ++solution_.factorizations;
  if (!balance_.factorize_coupled(v, memory_.jacobian)) return false;
  d = -memory_.newton.gradient;
  memory_.jacobian.solve_in_place(d);
  slope = memory_.newton.gradient.dot(d);
  return slope < 0.0;  // false, too, where d is not finite
}

/// From v on, which is to be evaluated; leaves there the iterate of least residual if it does not converge.
bool CoupledNewton::iterate(double tolerance, Patience patience, GrowableVector& v) {
  GrowableVector &d = memory_.newton.direction, &best = memory_.best;
  double residual = balance_.residual(), previous = std::numeric_limits<double>::infinity(),
         last_progress = residual;
  residual_ = residual;
  best = v;
  int without_progress = 0;
  for (int iteration = 0;; ++iteration) {
    if (residual < residual_) {
      residual_ = residual;
      best = v;
    }
    if (residual <= tolerance || (iteration > constants_.least_iterations &&
                                  balance_.is_rounding(residual, previous, v, RowLaw::coupled))) {
      residual_ = residual;
      return true;
    }
    without_progress = residual < constants_.progress * last_progress ? 0 : without_progress + 1;
    if (without_progress == 0) last_progress = residual;
    if (iteration >= patience.iterations || without_progress > patience.without_progress ||
        !std::isfinite(residual)) {
      v = best;
      return false;
    }
    previous = residual;
    double slope = 0.0;
    const bool is_coupled = find_coupled_direction(v, slope);
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
    const double slope_at_1 = memory_.newton.gradient.dot(d),
                 limit = constants_.full_step_slope * std::abs(slope);
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

/// Full steps by the tangents of dual_tangent.h, from v to near a solution; false if it does not get there.
bool CoupledNewton::approach(int max_iterations, GrowableVector& v) {
  GrowableVector &d = memory_.newton.direction, &before = memory_.newton.trial;
  const int most = std::min(max_iterations, constants_.approach_iterations);
  for (int iteration = 0; iteration < most; ++iteration) {
    balance_.evaluate(v, RowLaw::dual, iteration > 0 ? &before : nullptr);
    if (balance_.residual() <= constants_.approach_end) return true;
    ++solution_.factorizations;
    if (!balance_.factorize_coupled(v, memory_.jacobian, false, RowLaw::dual)) return false;
    d = -memory_.newton.gradient;
    memory_.jacobian.solve_in_place(d);
    if (!d.allFinite()) return false;
    before = v;
    v += d;
    ++solution_.iterations;
  }
  return false;
}

bool CoupledNewton::direct(double tolerance, int max_iterations, GrowableVector& v) {
  const int passes = constants_.convex_passes;
  set_start(problem_, v);
  balance_.evaluate(v, RowLaw::coupled);
  double at_start = balance_.residual();
  int left = max_iterations;
  if (at_start > constants_.far_from_solution) {
    const int before = solution_.iterations;
    if (!approach(max_iterations, v)) set_start(problem_, v);
    left -= solution_.iterations - before;
    balance_.evaluate(v, RowLaw::coupled);
    at_start = balance_.residual();
  }
  if (!(at_start <= constants_.near_solution) && problem_.v_free != v) {
    balance_.evaluate(problem_.v_free, RowLaw::coupled);
    if (balance_.residual() >= at_start) {
      balance_.evaluate(v, RowLaw::coupled);
    } else {
      v = problem_.v_free;
    }
  }
  for (int pass = 0;; ++pass) {
    const int patience = pass == passes ? constants_.last_patience : constants_.patience;
    if (iterate(tolerance, {pass == 0 ? left : max_iterations, patience}, v)) {
      solution_.path = pass == 0 ? SolutionPath::newton : SolutionPath::convex_pass;
      return true;
    }
    if (pass == passes || !std::isfinite(residual_)) return false;
    balance_.evaluate(v, RowLaw::coupled);
    rows_.set_bounds();
    (void)minimise(balance_, RowLaw::bounded, constants_.rough_tolerance, max_iterations, v, solution_);
    if (!v.allFinite()) return false;
    balance_.evaluate(v, RowLaw::coupled);
  }
}

bool CoupledNewton::graduated(double tolerance, int max_iterations, GrowableVector& v) {
  const double coarsest = std::log(constants_.coarsest_stage);
  double step = coarsest, logarithm = std::log(constants_.widest_stiction) + coarsest;
  GrowableVector& reached = memory_.reached;
  set_start(problem_, reached);
  bool is_first = true, is_done = false;
  for (int stage = 0; stage < constants_.stages && !is_done; ++stage) {
    const double next = std::max(0.0, logarithm - step);
    const bool is_last = next <= 0.0;
    settings_.stiction_speed = stiction_speed_ * std::exp(next);
    v = reached;
    balance_.evaluate(v, RowLaw::coupled);
    const int most = is_first ? constants_.first_stage_iterations : constants_.stage_iterations;
    const Patience patience{is_last ? max_iterations : std::min(max_iterations, most),
                            is_first ? constants_.first_stage_patience : constants_.stage_patience};
    if (iterate(is_last ? tolerance : constants_.rough_tolerance, patience, v)) {
      is_done = is_last;
      reached = v;
      logarithm = next;
      step = std::min(constants_.coarser_stage * step, coarsest);
      is_first = false;
    } else {
      step *= constants_.finer_stage;
      if (is_first || step < constants_.finest_stage) break;
    }
  }
  settings_.stiction_speed = stiction_speed_;
  return is_done;
}

/// Solutions of negative determinant do not count, and are left in memory_.negative.
bool CoupledNewton::from_elsewhere(double tolerance, int max_iterations, GrowableVector& v) {
  Random random(static_cast<std::uint64_t>(constants_.start_seed));
  const MassMatrix& mass = problem_.mass;
  const double speed = constants_.start_speed * balance_.momentum_scale() / std::sqrt(mass.total_mass());
  for (int start = 0; start < constants_.starts; ++start) {
    v = problem_.v_start;
    for (int s = 0; s < mass.slot_count(); ++s) {
      const double radius = std::sqrt(mass.inertia_W(s).trace() / (3.0 * mass.mass(s)));
      for (int k = 0; k < 6; ++k)
        v[6 * s + k] += (k < 3 ? speed / radius : speed) * random.uniform(-1.0, 1.0);
    }
    allow(mass.links(), problem_.v_free, v);
    balance_.evaluate(v, RowLaw::coupled);
    if (!iterate(tolerance, {max_iterations, constants_.start_patience}, v)) continue;
    if (!has_negative_determinant(v)) return true;
    keep_negative(v);
  }
  return false;
}

void CoupledNewton::keep_negative(const GrowableVector& v) {
  memory_.negative = v;
  has_negative_ = true;
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
  if (direct(tolerance, max_iterations, v)) {
    const bool is_suspect = solution_.factorizations > before && memory_.jacobian.determinant_sign() < 0;
    if (!is_suspect || !has_negative_determinant(v)) {
      solution_.residual = residual_;
      return true;
    }
    keep_negative(v);
  }
  GrowableVector& other = memory_.other;
  if (graduated(tolerance, max_iterations, other)) {
    if (!has_negative_determinant(other)) {
      v = other;
      finish(v, SolutionPath::graduated_friction, false);
      return true;
    }
    keep_negative(other);
  }
  if (from_elsewhere(tolerance, max_iterations, other)) {
    v = other;
    finish(v, SolutionPath::other_start, false);
    return true;
  }
  if (has_negative_) {
    v = memory_.negative;
    finish(v, SolutionPath::other_start, true);
    return true;
  }
  finish(v, SolutionPath::none, false);
  return false;
}

}  // namespace

bool solve_coupled(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                   double speed_scale, double tolerance, int max_iterations, RowBlocks& rows,
                   CoupledNewtonMemory& memory, GrowableVector& v, ContactSolution& solution,
                   const NewtonConstants& constants) {
  return CoupledNewton(problem, settings, speed_scale, rows, memory, solution, constants)
      .solve(tolerance, max_iterations, v);
}

}  // namespace abut
