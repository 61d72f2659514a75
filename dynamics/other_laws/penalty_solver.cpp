#include "dynamics/other_laws/penalty_solver.h"

#include <stdexcept>

#include "dynamics/contact_laws/friction.h"
#include "dynamics/solver/convex_newton.h"
#include "dynamics/solver/linear_solve.h"

namespace abut {

PenaltySolver::PenaltySolver(const StepConfig& config, double acceleration_scale)
    : config_(config),
      stiction_speed_(config.penalty_stiction_factor * acceleration_scale * config.h),
      speed_scale_(acceleration_scale * config.h) {}

namespace {

/// The joints alone, those of trees too, from the velocity that the contacts leave.
ContactProblem joint_problem(const ContactProblem& problem, const GrowableVector& v_contact) {
  static const ContactRows no_contacts;
  return {problem.mass, no_contacts, problem.v_start, v_contact, problem.h, problem.joints};
}

const smooth_coulomb::Settings k_no_contact_settings{};

struct PenaltyMemory final : SolverMemory {
  RowBlocks no_rows;
  NewtonMemory newton;
  GrowableVector contact_velocity, multiplier;
  std::vector<double> loads, load_changes;  ///< S_b of each moving body; its tangent or cotangent
};

/// Whether joints change the velocities after contacts.
bool has_joints(const ContactProblem& problem) {
  return !problem.joints.empty() || !problem.mass.links().empty();
}

/// Without joints there is nothing to keep.
struct PenaltyLinearization final : SolutionLinearization {
  BlockCholesky hessian;
  GrowableVector reaction;  ///< see MomentumBalance::keep_reaction()
  [[nodiscard]] std::size_t bytes() const override {
    return hessian.bytes() + sizeof(double) * static_cast<std::size_t>(reaction.size());
  }
};

/// out = sums of numbers of rows over the contacts of each moving body.
template <typename F>
void sum_over_bodies(const ContactRows& rows, int slots, const F& number, std::vector<double>& out) {
  out.assign(static_cast<std::size_t>(slots), 0.0);
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const ContactRow& row = rows.rows[i];
    for (const int slot : {row.slot_A, row.slot_B}) {
      if (slot >= 0) out[static_cast<std::size_t>(slot)] += number(i);
    }
  }
}

void find_loads(const ContactProblem& problem, std::vector<double>& loads) {
  sum_over_bodies(
      problem.rows, problem.mass.slot_count(), [&](std::size_t i) { return problem.rows.rows[i].weight; },
      loads);
}

double of_slot(const std::vector<double>& numbers, int slot) {
  return slot < 0 ? 0.0 : numbers[static_cast<std::size_t>(slot)];
}

/// W_c of a contact, and what it is made of.
struct RowLimit {
  penalty::detail::SoftMaximum load;  ///< S_c
  penalty::LimitingInverseMass limiting;

  RowLimit(const MassMatrix& mass, const ContactRow& row, double load_A, double load_B)
      : load(load_A, load_B),
        limiting(penalty::limiting_inverse_mass(
            row.inverse_mass, levers(mass, row.slot_A, row.r_A) + levers(mass, row.slot_B, row.r_B),
            load.value)) {}
  RowLimit(const MassMatrix& mass, const ContactRow& row, const std::vector<double>& loads)
      : RowLimit(mass, row, of_slot(loads, row.slot_A), of_slot(loads, row.slot_B)) {}

  [[nodiscard]] double inverse_mass() const { return limiting.value; }

  /// From dL/dW_c to the arms, the inertias and the loads: adds to all of these.
  void vjp(const MassMatrix& mass, const ContactRow& row, double inverse_mass_bar, ContactRowBar& row_bar,
           std::vector<Mat3<double>>& inertia_bar, std::vector<double>& load_bar) const {
    row_bar.inverse_mass += inverse_mass_bar * limiting.d_inverse_mass;
    const double levers_bar = inverse_mass_bar * limiting.d_levers,
                 S_bar = inverse_mass_bar * limiting.d_load;
    const auto add = [&](int slot, const Vec3<double>& r, double S_by_load, Vec3<double>& r_bar) {
      if (slot < 0) return;
      const auto k = static_cast<std::size_t>(slot);
      const penalty::LeverGradient by = penalty::lever_inverse_mass_gradient(r, mass.inverse_inertia_W(slot));
      r_bar += levers_bar * by.r;
      inertia_bar[k] += levers_bar * by.inertia;
      load_bar[k] += S_bar * S_by_load;
    };
    add(row.slot_A, row.r_A, load.d_x, row_bar.r_A);
    add(row.slot_B, row.r_B, load.d_y, row_bar.r_B);
  }

  /// dW_c along a direction.
  [[nodiscard]] double jvp(const MassMatrix& mass, const ContactRow& row, const ContactRowBar& row_dot,
                           const std::vector<Mat3<double>>& inertia_dot,
                           const std::vector<double>& load_dot) const {
    double levers_dot = 0.0;
    const auto add = [&](int slot, const Vec3<double>& r, const Vec3<double>& r_dot) {
      if (slot < 0) return;
      const penalty::LeverGradient by = penalty::lever_inverse_mass_gradient(r, mass.inverse_inertia_W(slot));
      levers_dot +=
          by.r.dot(r_dot) + by.inertia.cwiseProduct(inertia_dot[static_cast<std::size_t>(slot)]).sum();
    };
    add(row.slot_A, row.r_A, row_dot.r_A);
    add(row.slot_B, row.r_B, row_dot.r_B);
    const double S_dot = load.d_x * of_slot(load_dot, row.slot_A) + load.d_y * of_slot(load_dot, row.slot_B);
    return limiting.d_inverse_mass * row_dot.inverse_mass + limiting.d_levers * levers_dot +
           limiting.d_load * S_dot;
  }

 private:
  static double levers(const MassMatrix& mass, int slot, const Vec3<double>& r) {
    return slot < 0 ? 0.0 : penalty::lever_inverse_mass(r, mass.inverse_inertia_W(slot));
  }
};

}  // namespace

double penalty_inverse_mass(const MassMatrix& mass, const ContactRows& rows, const ContactRow& row) {
  double load_A = 0.0, load_B = 0.0;
  const auto is_of = [](const ContactRow& other, int slot) {
    return slot >= 0 && (other.slot_A == slot || other.slot_B == slot);
  };
  for (const ContactRow& other : rows.rows) {
    if (is_of(other, row.slot_A)) load_A += other.weight;
    if (is_of(other, row.slot_B)) load_B += other.weight;
  }
  return RowLimit(mass, row, load_A, load_B).inverse_mass();
}

std::unique_ptr<SolverMemory> PenaltySolver::make_memory() const { return std::make_unique<PenaltyMemory>(); }

std::unique_ptr<SolutionLinearization> PenaltySolver::make_linearization() const {
  return std::make_unique<PenaltyLinearization>();
}

/// f_1 by all that it depends on.
struct PenaltySolver::UnitForce {
  double value, d_velocity, d_distance, d_inverse_mass, d_compliance, d_dissipation_time;
};

PenaltySolver::UnitForce PenaltySolver::unit_force(const RowPair& pair, const ContactRow& row,
                                                   double inverse_mass, double u_n, double h) const {
  const double compliance = pair.material.compliance;
  const double stiffness = compliance > 0.0 ? 1.0 / compliance : config_.penalty_stiffness;
  const penalty::Spring spring =
      penalty::stable_spring(stiffness, pair.material.dissipation_time, pair.shares, inverse_mass, h);
  const penalty::Force f =
      penalty::normal_force(u_n, row.distance, spring.stiffness, spring.dissipation_time, 0.25 * pair.tau);
  const double d_compliance =
      f.d_stiffness * spring.stiffness_by_compliance + f.d_dissipation_time * spring.time_by_compliance;
  return {
      f.value,
      f.d_velocity,
      f.d_distance,
      f.d_stiffness * spring.stiffness_by_inverse_mass + f.d_dissipation_time * spring.time_by_inverse_mass,
      compliance > 0.0 ? d_compliance : 0.0,
      f.d_dissipation_time * spring.time_by_time};
}

/// The impulse of a contact of relative velocity u, and what it is made of.
struct PenaltySolver::Impulse {
  UnitForce unit;
  double normal;  ///< h Gamma f_1 [N s]
  double bound;   ///< mu h Gamma f_1 [N s]
  penalty::StictionSpeed stiction_speed;
  Friction friction;
  Vec3<double> value;  ///< [N s]

  Impulse(const PenaltySolver& law, const RowPair& pair, const ContactRow& row, double inverse_mass,
          const Vec3<double>& u, double h)
      : unit(law.unit_force(pair, row, inverse_mass, row.n.dot(u), h)),
        normal(h * row.weight * unit.value),
        bound(pair.material.friction * normal),
        stiction_speed(penalty::stable_stiction_speed(
            law.stiction_speed_, h * pair.material.friction * unit.value * inverse_mass)),
        friction(u, row.n, stiction_speed.value),
        value(normal * row.n + friction.impulse(bound)) {}

  /// d value by h mu f_1 W_c.
  [[nodiscard]] Vec3<double> by_reached() const {
    return stiction_speed.d_force * friction.impulse_by_stiction_speed(bound, stiction_speed.value);
  }
};

void PenaltySolver::find_contact_velocity(const ContactProblem& problem, std::vector<double>& loads,
                                          GrowableVector& momentum, GrowableVector& velocity) const {
  momentum.setZero(problem.mass.size());
  find_loads(problem, loads);
  for (const RowPair& pair : problem.rows.pairs) {
    for (int k = pair.begin; k < pair.end; ++k) {
      const ContactRow& row = problem.rows.rows[static_cast<std::size_t>(k)];
      const double W = RowLimit(problem.mass, row, loads).inverse_mass();
      const Impulse impulse(*this, pair, row, W, relative_velocity(row, problem.v_start), problem.h);
      add_impulse(row, impulse.value, momentum);
    }
  }
  problem.mass.solve(momentum, velocity);
  velocity += problem.v_free;
}

void PenaltySolver::solve(const ContactProblem& problem, SolverMemory& any_memory,
                          ContactSolution& solution) const {
  auto& memory = static_cast<PenaltyMemory&>(any_memory);
  solution.reset();
  find_contact_velocity(problem, memory.loads, memory.newton.momentum, memory.contact_velocity);
  solution.velocity = memory.contact_velocity;
  if (!has_joints(problem)) return;
  allow(problem.mass.links(), problem.v_free, solution.velocity);
  const ContactProblem joints = joint_problem(problem, memory.contact_velocity);
  MomentumBalance balance(joints, k_no_contact_settings, speed_scale_, memory.no_rows, memory.newton);
  solution.converged = minimise(balance, RowLaw::frictionless, config_.tolerance, config_.max_iterations,
                                solution.velocity, solution);
}

bool PenaltySolver::linearize(const ContactProblem& problem, const ContactSolution& solution, LinearizeFor,
                              SolverMemory& any_memory, SolutionLinearization& linearization) const {
  if (!has_joints(problem)) return true;
  auto& memory = static_cast<PenaltyMemory&>(any_memory);
  auto& at = static_cast<PenaltyLinearization&>(linearization);
  find_contact_velocity(problem, memory.loads, memory.newton.momentum, memory.contact_velocity);
  const ContactProblem joints = joint_problem(problem, memory.contact_velocity);
  MomentumBalance balance(joints, k_no_contact_settings, speed_scale_, memory.no_rows, memory.newton);
  balance.evaluate(solution.velocity, RowLaw::frictionless);
  balance.keep_reaction(at.reaction);
  return balance.factorize(solution.velocity, RowLaw::frictionless, at.hessian, true);
}

void PenaltySolver::vjp(const ContactProblem& problem, const ContactSolution& solution,
                        const SolutionLinearization& linearization, const EndMotionBar& solution_bar,
                        SolverMemory& any_memory, ContactProblemBar& bar) const {
  const GrowableVector& v_bar = solution_bar.velocity;
  auto& memory = static_cast<PenaltyMemory&>(any_memory);
  GrowableVector& w = memory.multiplier;
  if (!has_joints(problem)) {
    problem.mass.solve(v_bar, w);
  } else {
    const auto& at = static_cast<const PenaltyLinearization&>(linearization);
    w = v_bar;
    solve_vjp(problem, at.hessian, at.reaction, solution.velocity, w, bar);
  }
  balance_vjp(problem, w, solution.velocity, memory.newton.momentum, bar);
  find_loads(problem, memory.loads);
  memory.load_changes.assign(memory.loads.size(), 0.0);
  const double h = problem.h;
  for (std::size_t p = 0; p < problem.rows.pairs.size(); ++p) {
    const RowPair& pair = problem.rows.pairs[p];
    PairMaterialBar& material_bar = bar.pairs[p];
    const double mu = pair.material.friction;
    for (int k = pair.begin; k < pair.end; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const ContactRow& row = problem.rows.rows[i];
      ContactRowBar& row_bar = bar.rows[i];
      const Vec3<double> u = relative_velocity(row, problem.v_start), u_w = relative_change(row, w);
      const RowLimit limit(problem.mass, row, memory.loads);
      const double W = limit.inverse_mass();
      const Impulse impulse(*this, pair, row, W, u, h);
      const UnitForce& unit = impulse.unit;
      const Friction::Bar friction_bar = impulse.friction.vjp(impulse.bound, u, u_w);

      const double normal_bar = row.n.dot(u_w) + mu * friction_bar.bound;  // by h Gamma f_1
      const double reached_bar = u_w.dot(impulse.by_reached());            // by h mu f_1 W_c
      const double unit_bar = h * (row.weight * normal_bar + mu * W * reached_bar);
      material_bar.friction += impulse.normal * friction_bar.bound + h * unit.value * W * reached_bar;
      material_bar.dissipation_time += unit_bar * unit.d_dissipation_time;
      material_bar.compliance += unit_bar * unit.d_compliance;
      limit.vjp(problem.mass, row, unit_bar * unit.d_inverse_mass + h * mu * unit.value * reached_bar,
                row_bar, bar.inertia_W, memory.load_changes);
      row_bar.distance += unit_bar * unit.d_distance;
      row_bar.weight += h * unit.value * normal_bar;
      row_bar.n += impulse.normal * u_w + unit_bar * unit.d_velocity * u + friction_bar.n;
      const Vec3<double> u_bar = unit_bar * unit.d_velocity * row.n + friction_bar.u;
      add_arm_bar(row, impulse.value, w, row_bar);
      add_velocity_bar(row, u_bar, problem.v_start, row_bar);
      add_impulse(row, u_bar, bar.v_start);
    }
  }
  for (std::size_t i = 0; i < problem.rows.rows.size(); ++i) {
    const ContactRow& row = problem.rows.rows[i];
    bar.rows[i].weight += of_slot(memory.load_changes, row.slot_A) + of_slot(memory.load_changes, row.slot_B);
  }
}

void PenaltySolver::jvp(const ContactProblem& problem, const ContactSolution& solution,
                        const SolutionLinearization& linearization, const ContactProblemDot& dot,
                        SolverMemory& any_memory, EndMotionBar& solution_dot) const {
  // H dv = M dv* - dM (v - v*) + d(J^T h f) + d(J^T lambda), H being M and the joints' resistance.
  const GrowableVector& v = solution.velocity;
  GrowableVector& v_dot = solution_dot.velocity;
  dot.set_balance(problem, v, v_dot);
  auto& memory = static_cast<PenaltyMemory&>(any_memory);
  find_loads(problem, memory.loads);
  sum_over_bodies(
      problem.rows, problem.mass.slot_count(), [&](std::size_t i) { return dot.rows[i].weight; },
      memory.load_changes);
  const double h = problem.h;
  for (std::size_t p = 0; p < problem.rows.pairs.size(); ++p) {
    const RowPair& pair = problem.rows.pairs[p];
    const PairMaterialBar& material_dot = dot.pairs[p];
    const double mu = pair.material.friction;
    for (int k = pair.begin; k < pair.end; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const ContactRow& row = problem.rows.rows[i];
      const ContactRowBar& row_dot = dot.rows[i];
      const Vec3<double> u = relative_velocity(row, problem.v_start),
                         u_dot = relative_velocity_jvp(row, row_dot, problem.v_start, dot.v_start);
      const RowLimit limit(problem.mass, row, memory.loads);
      const double W = limit.inverse_mass(),
                   W_dot = limit.jvp(problem.mass, row, row_dot, dot.inertia_W, memory.load_changes);
      const Impulse impulse(*this, pair, row, W, u, h);
      const UnitForce& unit = impulse.unit;
      const double unit_dot = unit.d_velocity * (row_dot.n.dot(u) + row.n.dot(u_dot)) +
                              unit.d_distance * row_dot.distance + unit.d_inverse_mass * W_dot +
                              unit.d_compliance * material_dot.compliance +
                              unit.d_dissipation_time * material_dot.dissipation_time;
      const double normal_dot = h * (row_dot.weight * unit.value + row.weight * unit_dot);
      const double bound_dot = material_dot.friction * impulse.normal + mu * normal_dot;
      const double reached_dot =
          h * (material_dot.friction * unit.value * W + mu * unit_dot * W + mu * unit.value * W_dot);
      const Vec3<double> impulse_dot = normal_dot * row.n + impulse.normal * row_dot.n +
                                       reached_dot * impulse.by_reached() +
                                       impulse.friction.jvp(impulse.bound, u, u_dot, row_dot.n, bound_dot);
      add_impulse_jvp(row, row_dot, impulse.value, impulse_dot, v_dot);
    }
  }
  if (!has_joints(problem)) {
    GrowableVector& momentum = memory.newton.momentum;
    momentum = v_dot;
    problem.mass.solve(momentum, v_dot);
    return;
  }
  const auto& at = static_cast<const PenaltyLinearization&>(linearization);
  solve_jvp(problem, at.hessian, at.reaction, dot, v, v_dot);
}

void PenaltySolver::impulses(const ContactProblem& problem, const ContactSolution&, SolverMemory& any_memory,
                             std::vector<Vec3<double>>& impulses) const {
  std::vector<double>& loads = static_cast<PenaltyMemory&>(any_memory).loads;
  find_loads(problem, loads);
  impulses.resize(problem.rows.rows.size());
  for (std::size_t i = 0; i < impulses.size(); ++i) {
    const ContactRow& row = problem.rows.rows[i];
    impulses[i] = Impulse(*this, problem.rows.pairs[static_cast<std::size_t>(row.pair)], row,
                          RowLimit(problem.mass, row, loads).inverse_mass(),
                          relative_velocity(row, problem.v_start), problem.h)
                      .value;
  }
}

}  // namespace abut
