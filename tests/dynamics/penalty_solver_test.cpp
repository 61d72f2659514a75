// The explicit penalty law as a step meets it: stable for contacts with any lever arms, and its derivatives.
#include "dynamics/other_laws/penalty_solver.h"

#include <catch2/catch.hpp>

#include <cmath>

#include <Eigen/Eigenvalues>

#include "tests/support/contact_problems.h"
#include "tests/support/gradient_check.h"

using namespace abut;
using test::ContactTestProblem;

namespace {

/// Random scenes of bodies on top of each other whose inertias are a hundredth to all of their shapes': levers
/// of their contacts add up to hundreds of times their inverse masses.
std::vector<ContactTestProblem> problems_with_long_levers(int count, const StepConfig& config,
                                                          double friction) {
  std::vector<ContactTestProblem> problems;
  for (std::uint64_t seed = 1; static_cast<int>(problems.size()) < count; ++seed) {
    Random random(seed);
    test::TestScene scene = test::random_contact_scene(random, {1, 4, true, seed % 4 == 0, 0.5, 2.0});
    for (Body& body : scene.model.bodies) body.inertia *= std::pow(10.0, random.uniform(-2.0, 0.0));
    if (friction >= 0.0) scene.set_friction(friction);
    ContactTestProblem p(std::move(scene), config);
    if (!p.rows.rows.empty()) problems.push_back(std::move(p));
  }
  return problems;
}

StepConfig stiff_config(double h) {
  StepConfig config = test::exact_config(ContactLaw::penalty);
  config.h = h;
  config.penalty_stiffness = 1e6;
  return config;
}

/// The largest eigenvalue of M^-1 sum_c J_c^T Gamma_c (k (h^2 + 2 h tau_d) n n^T + 2 h mu f_1/v P) J_c, the
/// matrix that a linearized step is stable with where it is below 4.
///
/// @param inverse_mass_of  that which limits a row's spring, damping and stiction speed [1/kg]
template <typename InverseMass>
double largest_eigenvalue(const ContactTestProblem& p, double force, const InverseMass& inverse_mass_of) {
  const double h = p.config.h;
  Eigen::MatrixXd D = Eigen::MatrixXd::Zero(p.mass.size(), p.mass.size()), M = D;
  for (const ContactRow& row : p.rows.rows) {
    const RowPair& pair = p.rows.pairs[static_cast<std::size_t>(row.pair)];
    const double W = inverse_mass_of(row);
    const penalty::Spring spring = penalty::stable_spring(p.config.penalty_stiffness, 1.0, pair.shares, W, h);
    const double reached = h * pair.material.friction * force;
    const double v = penalty::stable_stiction_speed(1e-6, reached * W).value;
    const Mat3<double> along_n = row.n * row.n.transpose(), P = Mat3<double>::Identity() - along_n;
    const Mat3<double> of_contact =
        row.weight *
        (spring.stiffness * h * (h + 2.0 * spring.dissipation_time) * along_n + 2.0 * reached / v * P);
    Eigen::MatrixXd J = Eigen::MatrixXd::Zero(3, p.mass.size());
    const auto add = [&](int slot, double sign, const Vec3<double>& r) {
      if (slot < 0) return;
      J.block<3, 3>(0, 6 * slot) = -sign * skew<double>(r);
      J.block<3, 3>(0, 6 * slot + 3) = sign * Mat3<double>::Identity();
    };
    add(row.slot_A, -1.0, row.r_A);
    add(row.slot_B, 1.0, row.r_B);
    D += J.transpose() * of_contact * J;
  }
  for (int s = 0; s < p.mass.slot_count(); ++s) {
    M.block<3, 3>(6 * s, 6 * s) = p.mass.inertia_W(s);
    M.block<3, 3>(6 * s + 3, 6 * s + 3) = p.mass.mass(s) * Mat3<double>::Identity();
  }
  return Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd>(D, M, Eigen::EigenvaluesOnly)
      .eigenvalues()
      .maxCoeff();
}

}  // namespace

TEST_CASE("PenaltySolver: steps are stable in their linearization, whatever the levers of contacts",
          "[dynamics][property]") {
  const double h = GENERATE(5e-4, 2e-3, 1e-2);
  double worst = 0.0, worst_by_masses = 0.0;
  for (const ContactTestProblem& p : problems_with_long_levers(100, stiff_config(h), 1.0)) {
    for (const double force : {0.0, 1e6}) {  // f_1 [N]
      const double largest = largest_eigenvalue(
          p, force, [&](const ContactRow& row) { return penalty_inverse_mass(p.mass, p.rows, row); });
      CAPTURE(h, force, p.rows.rows.size(), largest);
      REQUIRE(largest <= 3.84 * (1.0 + 1e-9));
      worst = std::max(worst, largest);
      worst_by_masses =
          std::max(worst_by_masses,
                   largest_eigenvalue(p, force, [](const ContactRow& row) { return row.inverse_mass; }));
    }
  }
  CAPTURE(h, worst, worst_by_masses);
  CHECK(worst > 1.0);             // the limits are not out of reach
  CHECK(worst_by_masses > 40.0);  // limits by masses alone would not do
}

TEST_CASE("PenaltySolver: VJP agrees with differences in everything a problem is made of",
          "[dynamics][derivative]") {
  test::VjpComparison comparison;
  Random random(31);
  int limited = 0, loaded = 0;
  for (const ContactTestProblem& p : problems_with_long_levers(60, stiff_config(2e-3), -1.0)) {
    const PenaltySolver solver(p.config, p.gravity());
    (void)test::compare_vjp(solver, p, random, comparison);
    for (const ContactRow& row : p.rows.rows) {
      const double W = penalty_inverse_mass(p.mass, p.rows, row);
      limited += W > 2.0 * row.inverse_mass;
      loaded += row.slot_A >= 0 && row.slot_B >= 0;
    }
  }
  CAPTURE(comparison.compared, comparison.disagreements, comparison.unresolved, limited, loaded);
  CHECK(comparison.disagreements <= comparison.compared / 10);
  CHECK(limited >= 100);
  CHECK(loaded >= 100);
}

TEST_CASE("PenaltySolver: JVP and VJP are transposes of each other", "[dynamics][derivative]") {
  Random random(32);
  for (const ContactTestProblem& p : problems_with_long_levers(60, stiff_config(2e-3), -1.0)) {
    const PenaltySolver solver(p.config, p.gravity());
    const ContactProblem problem = p.problem();
    const ContactSolution solution = test::solve(solver, problem);
    const auto vector = [&] {
      GrowableVector x;
      x.resize(p.mass.size());
      for (double& number : x) number = random.uniform(-1.0, 1.0);
      return x;
    };
    EndMotionBar end_bar, end_dot;
    end_bar.velocity = vector();
    const ContactProblemBar bar = test::vjp(solver, problem, solution, end_bar);
    ContactProblemDot dot;
    dot.v_start = vector();
    dot.v_free = vector();
    double expected = bar.v_start.dot(dot.v_start) + bar.v_free.dot(dot.v_free), scale = 0.0;
    const auto add = [&](double term) {
      expected += term;
      scale += std::abs(term);
    };
    for (int s = 0; s < p.mass.slot_count(); ++s) {
      const auto k = static_cast<std::size_t>(s);
      const Mat3<double> X = Eigen::Map<const Mat3<double>>(test::random_vector<9>(random).data()),
                         dI = p.mass.inertia_W(s).norm() * (X + X.transpose());
      dot.inertia_W.push_back(dI);
      dot.mass.push_back(random.uniform(-1.0, 1.0));
      add(bar.inertia_W[k].cwiseProduct(dI).sum());
      add(bar.mass[k] * dot.mass.back());
    }
    for (const ContactRowBar& by : bar.rows) {
      ContactRowBar row;
      row.r_A = test::random_vector(random, 0.05);
      row.r_B = test::random_vector(random, 0.05);
      row.n = test::random_vector(random, 0.1);
      row.distance = random.uniform(-1e-3, 1e-3);
      row.weight = random.uniform(-0.1, 0.1);
      row.inverse_mass = random.uniform(-0.3, 0.3);
      dot.rows.push_back(row);
      add(by.r_A.dot(row.r_A) + by.r_B.dot(row.r_B));
      add(by.n.dot(row.n));
      add(by.distance * row.distance);
      add(by.weight * row.weight);
      add(by.inverse_mass * row.inverse_mass);
    }
    for (const PairMaterialBar& by : bar.pairs) {
      PairMaterialBar material;
      material.friction = random.uniform(-0.1, 0.1);
      material.compliance = random.uniform(-1e-5, 1e-5);
      material.dissipation_time = random.uniform(-1e-3, 1e-3);
      dot.pairs.push_back(material);
      add(by.friction * material.friction);
      add(by.compliance * material.compliance);
      add(by.dissipation_time * material.dissipation_time);
    }
    const auto memory = solver.make_memory();
    const auto linearization = solver.make_linearization();
    REQUIRE(solver.linearize(problem, solution, LinearizeFor::both, *memory, *linearization));
    solver.jvp(problem, solution, *linearization, dot, *memory, end_dot);
    const double along = end_bar.velocity.dot(end_dot.velocity);
    CAPTURE(p.rows.rows.size(), along, expected, scale);
    REQUIRE(test::close(along, expected, 1e-9, 1e-11 * scale));
  }
}
