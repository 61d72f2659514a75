// What impacts make of velocities: the law's answer, its bound of energy, and derivatives.
#include "dynamics/solver/impact_solver.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/close.h"
#include "tests/support/contact_problems.h"
#include "tests/support/gradient_check.h"
#include "tests/support/impacts.h"
#include "tests/support/samples.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::TestScene;

/// A problem of impacts: rows of which some are hit and others answer, velocities before.
struct ImpactTestProblem {
  test::ContactTestProblem contacts;
  GrowableVector v_start, v_free, v_lead;

  explicit ImpactTestProblem(test::ContactTestProblem of) : contacts(std::move(of)) {
    v_start = v_free = contacts.free.v_start;
    v_lead.setZero(v_start.size());
  }
  [[nodiscard]] ContactProblem problem() const {
    ContactProblem out{contacts.mass,     contacts.rows,     v_start,    v_free,
                       contacts.config.h, contacts.config.h, k_no_joints};
    out.v_lead = &v_lead;
    return out;
  }
  [[nodiscard]] ImpactSolver solver(bool is_bounded = true) const {
    StepConfig config = contacts.config;
    config.passive_impacts = is_bounded;
    return {config, test::ContactTestProblem::gravity()};
  }
  [[nodiscard]] ContactSolution solve(bool is_bounded = true) const {
    return test::solve(solver(is_bounded), problem());
  }
  /// The same without restitution.
  [[nodiscard]] ImpactTestProblem plastic() const {
    ImpactTestProblem out = *this;
    for (ContactRow& row : out.contacts.rows.rows) row.rebound = 0.0;
    return out;
  }
  /// E(v) [J]
  [[nodiscard]] double energy(const GrowableVector& v) const {
    GrowableVector momentum;
    const GrowableVector sum = v + v_lead;
    contacts.mass.multiply(sum, momentum);
    return 0.5 * sum.dot(momentum);
  }
};

/// Rows that approach are hit, the others answer, some only in part; those that are hit settle by J v_lead.
void set_impacts(ImpactTestProblem& p, double restitution, Random& random) {
  for (ContactRow& row : p.contacts.rows.rows) {
    const double lead = row.n.dot(relative_change(row, p.v_lead)),
                 u = row.n.dot(relative_velocity(row, p.v_start)) + lead;
    row.hits = u < -0.05;
    row.answers = row.hits ? 1.0 : random.uniform() < 0.5 ? 1.0 : random.uniform(0.05, 0.95);
    row.rebound = row.hits ? -restitution * u : 0.0;
    row.settle = row.hits ? -lead : 0.0;
  }
}

/// Of bodies on a floor.
std::vector<ImpactTestProblem> floor_problems(int count, int max_bodies, double restitution, Random& random) {
  std::vector<ImpactTestProblem> problems;
  for (test::ContactTestProblem& contacts : test::random_problems(count, max_bodies)) {
    ImpactTestProblem p(std::move(contacts));
    for (double& x : p.v_start) x *= 3.0;
    p.v_free = p.v_start;
    for (double& x : p.v_lead) x = random.uniform(-0.05, 0.05);
    set_impacts(p, restitution, random);
    problems.push_back(std::move(p));
  }
  return problems;
}

/// Of two boxes thrown at each other, at the last step before they meet.
std::vector<ImpactTestProblem> thrown_problems(int count, double restitution, double friction,
                                               Random& random) {
  std::vector<ImpactTestProblem> problems;
  for (std::uint64_t seed = 1; static_cast<int>(problems.size()) < count; ++seed) {
    Random of_scene(seed);
    TestScene scene =
        test::thrown_bodies(test::ThrownKind::box, test::ThrownKind::box, restitution, friction, of_scene);
    const StepConfig config = test::impact_config(2e-3);
    const Trajectory trajectory = rollout(Stepper(scene.model, config), scene.state, 60);
    const auto meets = std::find_if(trajectory.records.begin(), trajectory.records.end(),
                                    [](const StepRecord& record) { return record.report.impacts > 0; });
    if (meets == trajectory.records.end()) continue;
    scene.state = trajectory.states[static_cast<std::size_t>(meets - trajectory.records.begin())];
    ImpactTestProblem p(test::ContactTestProblem(std::move(scene), config));
    if (p.contacts.rows.rows.empty()) continue;
    for (double& x : p.v_lead) x = random.uniform(-0.05, 0.05);
    set_impacts(p, restitution, random);
    problems.push_back(std::move(p));
  }
  return problems;
}

/// The potential of the law without push-out, with bounds of friction held fixed at those of a solution.
struct ImpactPotential {
  const ImpactTestProblem& p;
  smooth_coulomb::Settings s;
  std::vector<double> bounds;

  ImpactPotential(const ImpactTestProblem& problem, const GrowableVector& v) : p(problem) {
    SmoothCoulombSolver law(p.contacts.config, test::ContactTestProblem::gravity(),
                            SmoothCoulombSolver::Without::push_out);
    law.set_near_rigid(1e-5);
    s = law.settings();
    for (const ContactRow& row : p.contacts.rows.rows) {
      const double x = (target(row) - row.n.dot(p.contacts.slip<double>(row, v))) / width(row);
      const double softplus = x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
      bounds.push_back(p.contacts.friction(row) * row.weight / resistance(row) * width(row) * softplus);
    }
  }
  [[nodiscard]] const PairMaterial& material(const ContactRow& row) const {
    return p.contacts.rows.pairs[static_cast<std::size_t>(row.pair)].material;
  }
  [[nodiscard]] double width(const ContactRow& row) const {
    return (row.hits ? smooth_coulomb::k_impact_width : 1.0) * s.velocity_smoothing;
  }
  [[nodiscard]] double resistance(const ContactRow& row) const {
    const PairMaterial& m = material(row);
    const double spring = row.hits ? 0.0 : m.compliance / (s.h * (s.h + m.dissipation_time));
    return spring + (1e-5 + 1.0 / row.answers - 1.0) * row.inverse_mass;
  }
  [[nodiscard]] double target(const ContactRow& row) const {
    if (row.hits) return std::max(0.0, row.rebound + row.settle);
    const PairMaterial& m = material(row);
    return smooth_coulomb::normal_target(row.distance, row.inverse_mass, m.compliance, m.dissipation_time, s)
        .value;
  }
  template <typename S>
  [[nodiscard]] S operator()(const VecX<S>& v) const {
    using std::sqrt;
    VecX<S> from_free = v;  // kinetic() is about free.v_free
    for (Eigen::Index i = 0; i < v.size(); ++i)
      from_free[i] = v[i] + S(p.contacts.free.v_free[i] - p.v_free[i]);
    S sum = p.contacts.kinetic(from_free);
    for (std::size_t i = 0; i < p.contacts.rows.rows.size(); ++i) {
      const ContactRow& row = p.contacts.rows.rows[i];
      const Vec3<S> n(S(row.n[0]), S(row.n[1]), S(row.n[2])), u = p.contacts.slip(row, v);
      const S u_n = n.dot(u);
      const double w = width(row);
      sum += S(row.weight / resistance(row) * w * w) * test::softplus_integral(S((S(target(row)) - u_n) / w));
      const Vec3<S> u_t = u - n * u_n;
      sum +=
          S(bounds[i]) * (sqrt(u_t.dot(u_t) + S(s.stiction_speed * s.stiction_speed)) - S(s.stiction_speed));
    }
    return sum;
  }
};

bool is_mixed(const ImpactTestProblem& p) {
  return (p.solve(true).velocity - p.solve(false).velocity).norm() > 1e-6 * p.v_start.norm();
}

/// Numbers of a problem along a direction.
struct MovedProblem {
  ImpactTestProblem p;
  Model model;

  MovedProblem(const ImpactTestProblem& at, const ContactProblemDot& dot, const std::vector<double>& masses,
               double t)
      : p(at), model(at.contacts.scene.model) {
    p.v_start += t * dot.v_start;
    p.v_free += t * dot.v_free;
    p.v_lead += t * dot.v_lead;
    for (int s = 0; s < p.contacts.mass.slot_count(); ++s) {
      Body& body = model.bodies[static_cast<std::size_t>(p.contacts.mass.body(s))];
      set_mass(body, body.mass * (1.0 + t * masses[static_cast<std::size_t>(s)]));
    }
    p.contacts.mass.update(model, p.contacts.scene.state);
    for (std::size_t i = 0; i < dot.rows.size(); ++i) {
      ContactRow& row = p.contacts.rows.rows[i];
      const ContactRowBar& by = dot.rows[i];
      row.r_A += t * by.r_A;
      row.r_B += t * by.r_B;
      row.n += t * by.n;
      row.drift += t * by.drift;
      row.distance += t * by.distance;
      row.weight += t * by.weight;
      row.inverse_mass += t * by.inverse_mass;
      row.answers += t * by.answers;
      row.rebound += t * by.rebound;
      row.settle += t * by.settle;
    }
    for (RowPair& pair : p.contacts.rows.pairs) {  // drifts are translations of bodies of infinite mass
      const Vec3<double> drift = t * dot.rows[static_cast<std::size_t>(pair.begin)].drift;
      if (pair.slot_A < 0) pair.V_A.tail<3>() -= drift;
      if (pair.slot_B < 0) pair.V_B.tail<3>() += drift;
    }
    for (std::size_t k = 0; k < dot.pairs.size(); ++k) {
      PairMaterial& material = p.contacts.rows.pairs[k].material;
      material.friction += t * dot.pairs[k].friction;
      material.compliance += t * dot.pairs[k].compliance;
      material.dissipation_time += t * dot.pairs[k].dissipation_time;
    }
  }
};

constexpr const char* k_inputs[] = {"v before", "v lead",    "masses",   "arms",           "normals",
                                    "drifts",   "distances", "weights",  "inverse masses", "answers",
                                    "rebounds", "settles",   "materials"};

/// A random direction of one of these, or of all.
ContactProblemDot random_direction(const ImpactTestProblem& p, const std::string& input, Random& random,
                                   std::vector<double>& masses) {
  const bool all = input == "all";
  const auto is = [&](const char* name) { return all || input == name; };
  const auto vector = [&](bool moves, double scale) {
    GrowableVector x;
    x.setZero(p.v_start.size());
    for (double& number : x) number = moves ? random.uniform(-scale, scale) : 0.0;
    return x;
  };
  ContactProblemDot dot;
  dot.v_start = vector(is("v before"), 1.0);
  dot.v_free = dot.v_start + vector(is("v before"), 0.1);
  dot.v_lead = vector(is("v lead"), 1.0);
  masses.clear();
  for (int s = 0; s < p.contacts.mass.slot_count(); ++s) {
    masses.push_back(is("masses") ? random.uniform(-0.3, 0.3) : 0.0);
    dot.mass.push_back(masses.back() * p.contacts.mass.mass(s));
    dot.inertia_W.emplace_back(masses.back() * p.contacts.mass.inertia_W(s));
  }
  for (const ContactRow& row : p.contacts.rows.rows) {
    ContactRowBar e;
    if (is("normals")) e.n = test::random_vector(random, 0.1);
    if (is("distances")) e.distance = random.uniform(-1e-3, 1e-3);
    if (is("weights")) e.weight = random.uniform(-0.3, 0.3) * row.weight;
    if (is("inverse masses")) e.inverse_mass = random.uniform(-0.3, 0.3) * row.inverse_mass;
    if (is("answers") && row.answers < 1.0) e.answers = random.uniform(-0.3, 0.3);
    if (is("rebounds") && row.hits) e.rebound = random.uniform(-1.0, 1.0);
    if (is("settles") && row.hits) e.settle = random.uniform(-1.0, 1.0);
    dot.rows.push_back(e);
  }
  for (const RowPair& pair : p.contacts.rows.pairs) {
    if (is("arms")) {  // r_B - r_A is the same for all rows of a pair
      const Vec3<double> d_A = test::random_vector(random, 0.05), d_B = test::random_vector(random, 0.05);
      for (int i = pair.begin; i < pair.end; ++i) {
        dot.rows[static_cast<std::size_t>(i)].r_A = d_A;
        dot.rows[static_cast<std::size_t>(i)].r_B = d_B;
      }
    }
    if (is("drifts") && (pair.slot_A < 0 || pair.slot_B < 0)) {
      const Vec3<double> drift = test::random_vector(random, 0.1);
      for (int i = pair.begin; i < pair.end; ++i) dot.rows[static_cast<std::size_t>(i)].drift = drift;
    }
    PairMaterialBar e;
    if (is("materials")) {
      e.friction = random.uniform(-0.3, 0.3);
      e.compliance = random.uniform(-0.3, 0.3) * pair.material.compliance;
      e.dissipation_time = random.uniform(-1e-3, 1e-3);
    }
    dot.pairs.push_back(e);
  }
  return dot;
}

double inner_product(const ContactProblemBar& bar, const ContactProblemDot& dot, double& scale) {
  double sum = 0.0;
  const auto add = [&](double term) {
    sum += term;
    scale += std::abs(term);
  };
  add(bar.v_start.dot(dot.v_start));
  add(bar.v_free.dot(dot.v_free));
  add(bar.v_lead.dot(dot.v_lead));
  for (std::size_t s = 0; s < dot.mass.size(); ++s) {
    add(bar.mass[s] * dot.mass[s]);
    add(bar.inertia_W[s].cwiseProduct(dot.inertia_W[s]).sum());
  }
  for (std::size_t i = 0; i < dot.rows.size(); ++i) {
    const ContactRowBar &by = bar.rows[i], &e = dot.rows[i];
    add(by.r_A.dot(e.r_A) + by.r_B.dot(e.r_B));
    add(by.n.dot(e.n));
    add(by.drift.dot(e.drift));
    add(by.distance * e.distance);
    add(by.weight * e.weight);
    add(by.inverse_mass * e.inverse_mass);
    add(by.answers * e.answers);
    add(by.rebound * e.rebound);
    add(by.settle * e.settle);
  }
  for (std::size_t k = 0; k < dot.pairs.size(); ++k) {
    add(bar.pairs[k].friction * dot.pairs[k].friction);
    add(bar.pairs[k].compliance * dot.pairs[k].compliance);
    add(bar.pairs[k].dissipation_time * dot.pairs[k].dissipation_time);
  }
  return sum;
}

struct DerivativeComparison {
  int compared = 0, unresolved = 0, mixed = 0;
  std::string names;  ///< of the unresolved
};

/// VJP and JVP of one problem against differences, one input after the other, and against each other.
void compare_derivatives(const ImpactTestProblem& p, Random& random, DerivativeComparison& count) {
  const ImpactSolver solver = p.solver();
  const ContactProblem problem = p.problem();
  const auto memory = solver.make_memory();
  const auto linearization = solver.make_linearization();
  ContactSolution solution;
  solver.solve(problem, *memory, solution);
  REQUIRE(solution.converged);
  REQUIRE(solver.linearize(problem, solution, LinearizeFor::both, *memory, *linearization));
  if (linearization->is_near_kink()) return;
  const bool mixes = is_mixed(p);
  count.mixed += mixes;
  EndMotionBar end_bar;
  end_bar.velocity.resize(p.v_start.size());
  for (double& x : end_bar.velocity) x = random.uniform(-1.0, 1.0);
  ContactProblemBar bar;
  bar.set_zero(problem);
  solver.vjp(problem, solution, *linearization, end_bar, *memory, bar);

  std::vector<std::string> inputs(std::begin(k_inputs), std::end(k_inputs));
  inputs.emplace_back("all");
  for (const std::string& input : inputs) {
    if (mixes && (input == "drifts" || input == "all")) continue;  // a driven body has no bound
    std::vector<double> masses;
    const ContactProblemDot dot = random_direction(p, input, random, masses);
    EndMotionBar end_dot;
    solver.jvp(problem, solution, *linearization, dot, *memory, end_dot);
    double scale = 0.0;
    const double slope = inner_product(bar, dot, scale), forward = end_bar.velocity.dot(end_dot.velocity);
    CAPTURE(input, slope, forward, scale, p.contacts.rows.rows.size());
    // Of the order of 1 is what Newton's and plastic impacts contribute, which may cancel.
    REQUIRE(test::close(forward, slope, 1e-9, 1e-9 * (scale + 1.0)));
    const auto loss = [&](double t) {
      return end_bar.velocity.dot(MovedProblem(p, dot, masses, t).p.solve().velocity);
    };
    const auto fd = test::fd_sweep(loss, 0.0, 1e-4, 1e-6, 1e-8);
    ++count.compared;
    CAPTURE(fd.value, fd.error);
    if (fd.disagrees_with_itself && !test::close(slope, fd.value, 1e-5, 1e-6)) {
      ++count.unresolved;
      count.names += input + ", ";
      continue;
    }
    REQUIRE(test::close(slope, fd.value, 1e-5, 1e-6));
  }
}

}  // namespace

TEST_CASE("ImpactSolver: is right against the gradient of a potential and a bisection", "[dynamics][value]") {
  Random random(3);
  int mixed = 0, plain = 0;
  std::vector<ImpactTestProblem> problems = floor_problems(10, 2, 0.5, random);
  for (ImpactTestProblem& p : thrown_problems(80, 1.0, 1.0, random)) problems.push_back(std::move(p));
  for (const ImpactTestProblem& p : problems) {
    REQUIRE(p.v_start.size() <= test::k_reference_size);
    const auto minimum = [&](const ImpactTestProblem& of) {
      const GrowableVector found = of.solve(false).velocity;
      const ImpactPotential L(of, found);
      // The potential is convex: where its gradient is 0 it is least.
      GrowableVector momentum;
      of.contacts.mass.multiply(found - of.v_free, momentum);
      const double gradient = test::gradient_of(L, found).norm();
      CAPTURE(gradient, momentum.norm());
      REQUIRE(gradient <=
              1e-7 * (momentum.norm() + of.contacts.mass.total_mass() * 9.81 * of.contacts.config.h));
      return found;
    };
    const GrowableVector newton = minimum(p), got = p.solve().velocity;
    const double before = p.energy(p.v_start);
    if (p.energy(newton) <= before) {
      CHECK(test::close(got, newton, 1e-7, 1e-7));
      ++plain;
      continue;
    }
    const GrowableVector plastic = minimum(p.plastic());
    const double bound = std::max(before, p.energy(plastic));
    const auto mixture = [&](double alpha) -> GrowableVector { return plastic + alpha * (newton - plastic); };
    double low = 0.0, high = 1.0;  // the energy is convex along it, and below the bound at 0
    for (int k = 0; k < 60; ++k) {
      const double middle = 0.5 * (low + high);
      (p.energy(mixture(middle)) <= bound ? low : high) = middle;
    }
    CAPTURE(low, before, p.energy(newton), p.energy(plastic));
    CHECK(test::close(got, mixture(low), 1e-6, 1e-6));
    ++mixed;
  }
  CHECK(plain >= 10);
  CHECK(mixed >= 10);
}

TEST_CASE("ImpactSolver: the energy stays below that before and that after plastic impacts",
          "[dynamics][property]") {
  const double restitution = GENERATE(0.5, 0.9, 1.0), friction = GENERATE(0.0, 0.5, 1.0);
  Random random(4);
  int mixed = 0;
  double newton = 0.0;
  std::vector<ImpactTestProblem> problems = thrown_problems(40, restitution, friction, random);
  for (ImpactTestProblem& p : floor_problems(40, 4, restitution, random)) problems.push_back(std::move(p));
  for (const ImpactTestProblem& p : problems) {
    const ContactSolution solution = p.solve();
    REQUIRE(solution.converged);
    const double bound = std::max(p.energy(p.v_start), p.energy(p.plastic().solve(false).velocity)),
                 of_newton = p.energy(p.solve(false).velocity), after = p.energy(solution.velocity);
    CAPTURE(restitution, friction, after / bound - 1.0, of_newton / bound - 1.0);
    REQUIRE(after <= (1.0 + 2e-9) * bound);
    // No more is taken than that: the largest alpha.
    if (of_newton > (1.0 + 1e-6) * bound) REQUIRE(after >= (1.0 - 1e-9) * bound);
    mixed += is_mixed(p);
    newton = std::max(newton, of_newton / bound - 1.0);
  }
  CAPTURE(mixed, newton);
  if (restitution == 1.0 && friction > 0.0) CHECK(mixed >= 10);
  if (restitution == 1.0 && friction > 0.0) CHECK(newton > 1e-2);
}

TEST_CASE("ImpactSolver: where energy does not rise, the answer is Newton's to the last bit",
          "[dynamics][value]") {
  Random random(5);
  for (const ImpactTestProblem& p : thrown_problems(30, 0.3, 0.3, random)) {
    if (p.energy(p.solve(false).velocity) > p.energy(p.v_start)) continue;
    REQUIRE(p.solve(true).velocity == p.solve(false).velocity);
  }
}

TEST_CASE("ImpactSolver: free bodies keep momentum and angular momentum, mixed or not",
          "[dynamics][property]") {
  Random random(6);
  int mixed = 0;
  for (const ImpactTestProblem& p : thrown_problems(200, 1.0, 1.0, random)) {
    const ContactSolution solution = p.solve();
    mixed += is_mixed(p);
    Vec3<double> momentum = Vec3<double>::Zero(), angular = Vec3<double>::Zero();
    double size = 0.0, angular_size = 0.0;
    GrowableVector change;
    p.contacts.mass.multiply(solution.velocity - p.v_start, change);
    for (int s = 0; s < p.contacts.mass.slot_count(); ++s) {
      const Vec3<double> x = p.contacts.scene.state.X_WB[static_cast<std::size_t>(p.contacts.mass.body(s))].p,
                         dp = change.segment<3>(6 * s + 3), dL = change.segment<3>(6 * s);
      momentum += dp;
      angular += dL + x.cross(dp);
      size += dp.norm();
      angular_size += dL.norm() + x.norm() * dp.norm();
    }
    CAPTURE(momentum.norm(), angular.norm(), size, angular_size);
    REQUIRE(momentum.norm() <= 1e-11 * (size + 1.0));
    REQUIRE(angular.norm() <= 1e-11 * (angular_size + 1.0));
  }
  CHECK(mixed >= 20);
}

TEST_CASE("ImpactSolver: impulses add up to the change of momentum and lie in their cones, mixed or not",
          "[dynamics][property]") {
  Random random(7);
  std::vector<ImpactTestProblem> problems = thrown_problems(40, 1.0, 1.0, random);
  for (ImpactTestProblem& p : floor_problems(40, 4, 0.9, random)) problems.push_back(std::move(p));
  for (const ImpactTestProblem& p : problems) {
    const ImpactSolver solver = p.solver();
    const ContactSolution solution = p.solve();
    std::vector<Vec3<double>> impulses;
    solver.impulses(p.problem(), solution, *solver.make_memory(), impulses);
    GrowableVector momentum = GrowableVector::Zero(p.v_start.size()), change;
    double scale = 0.0;
    for (std::size_t i = 0; i < impulses.size(); ++i) {
      const ContactRow& row = p.contacts.rows.rows[i];
      add_impulse(row, impulses[i], momentum);
      scale += impulses[i].norm();
      const Vec3<double> n = row.n.normalized();
      const double normal = n.dot(impulses[i]);
      if (std::abs(row.n.norm() - 1.0) > 1e-12) continue;
      REQUIRE((impulses[i] - normal * n).norm() <=
              p.contacts.friction(row) * normal * (1.0 + 1e-9) + 1e-12 * impulses[i].norm());
    }
    p.contacts.mass.multiply(solution.velocity - p.v_free, change);
    CAPTURE((change - momentum).norm(), scale);
    REQUIRE((change - momentum).norm() <= 1e-8 * (scale + 9.81 * p.contacts.config.h));
  }
}

TEST_CASE("ImpactSolver: VJP and JVP agree with differences and each other",
          "[dynamics][derivative][nightly]") {
  Random random(8);
  DerivativeComparison count;
  for (const ImpactTestProblem& p : floor_problems(test::samples(60), 3, 0.5, random))
    compare_derivatives(p, random, count);
  CAPTURE(count.compared, count.unresolved, count.names);
  CHECK(count.unresolved <= count.compared / 50);
}

TEST_CASE("ImpactSolver: VJP and JVP agree with differences and each other where restitution is reduced",
          "[dynamics][derivative][nightly]") {
  // The bound is the energy before; or that after plastic impacts, where bodies settle by more than v_lead.
  const bool settles = GENERATE(false, true);
  Random random(9);
  DerivativeComparison count;
  for (ImpactTestProblem& p : thrown_problems(test::samples(200), 1.0, 1.0, random)) {
    if (settles) {
      for (ContactRow& row : p.contacts.rows.rows) row.settle += row.hits ? 10.0 : 0.0;
    }
    if (!is_mixed(p)) continue;
    const bool is_bound_by_plastic = p.energy(p.plastic().solve(false).velocity) > p.energy(p.v_start);
    REQUIRE(is_bound_by_plastic == settles);
    compare_derivatives(p, random, count);
  }
  CAPTURE(settles, count.compared, count.unresolved, count.names, count.mixed);
  CHECK(count.unresolved <= count.compared / 50);
  CHECK(count.mixed >= test::samples(20));
}

TEST_CASE(
    "ImpactSolver: what the search does not solve at once it solves from softer contacts to harder ones",
    "[dynamics][value]") {
  Random random(11);
  int continued = 0, unsolved = 0, count = 0;
  for (test::ContactTestProblem& contacts : test::hard_problems(300, 5)) {
    ImpactTestProblem p(std::move(contacts));
    set_impacts(p, 0.8, random);
    SmoothCoulombSolver law(p.contacts.config, test::ContactTestProblem::gravity(),
                            SmoothCoulombSolver::Without::push_out);
    law.set_near_rigid(1e-5);
    const bool is_hard = !test::solve(law, p.problem()).converged;
    const ImpactSolver solver = p.solver(false);
    const ContactSolution solution = test::solve(solver, p.problem());
    ++count;
    unsolved += !solution.converged;
    if (!solution.converged) continue;
    continued += is_hard;
    CAPTURE(is_hard, solution.iterations, solution.residual);
    std::vector<Vec3<double>> impulses;
    solver.impulses(p.problem(), solution, *solver.make_memory(), impulses);
    GrowableVector momentum = GrowableVector::Zero(p.v_start.size()), change;
    for (std::size_t i = 0; i < impulses.size(); ++i)
      add_impulse(p.contacts.rows.rows[i], impulses[i], momentum);
    p.contacts.mass.multiply(solution.velocity - p.v_free, change);
    REQUIRE(test::close(change, momentum, 0, 1e-6 * change.norm() + 1e-12));
  }
  CAPTURE(count, continued, unsolved);
  CHECK(continued >= 1);
  CHECK(unsolved <= 3);
}
