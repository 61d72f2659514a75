// What impacts make of velocities: its derivatives.
#include "dynamics/solver/impact_solver.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/impact_problems.h"
#include "tests/support/samples.h"

namespace {

using namespace abut;
using test::floor_problems, test::ImpactTestProblem, test::is_mixed, test::thrown_problems;

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
