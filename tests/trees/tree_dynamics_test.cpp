#include "dynamics/trees/tree_dynamics.h"

#include <catch2/catch.hpp>

#include <type_traits>

#include "tests/support/close.h"
#include "tests/trees/tree_directions.h"

namespace {

using namespace abut;
using test::TreeCase;
using test::TreeInputs;

/// Momenta of the links about their centres of mass, [I w; m v].
std::vector<Vec6<double>> momenta(const TreeCase& c, const TreeKinematics<double>& kinematics,
                                  const VecX<double>& u) {
  std::vector<Vec6<double>> P;
  link_twists(c.trees, kinematics, u, P);
  for (std::size_t i = 0; i < P.size(); ++i) {
    const LinkParameters<double>& link = c.parameters.links[i];
    const Mat3<double> R = kinematics.X_WB[i].rotation();
    P[i].head<3>() = R * link.inertia * R.transpose() * P[i].head<3>();
    P[i].tail<3>() *= link.mass;
  }
  return P;
}

double slope_of(const TreeDynamicsBar& bar, const VecX<double>& a_bar, const test::TreeInputsTangent& dot) {
  double slope =
      bar.q.dot(dot.q) + bar.u.dot(dot.u) + a_bar.dot(dot.a) + inner_product(bar.parameters, dot.parameters);
  for (std::size_t i = 0; i < bar.wrenches.size(); ++i) slope += bar.wrenches[i].dot(dot.wrenches[i]);
  return slope;
}

/// Checks a reverse pass in random directions against Jet, Dual and differences.
template <typename Loss>
void check_slopes(Random& random, const TreeCase& c, const TreeInputs<double>& inputs,
                  const TreeDynamicsBar& bar, const VecX<double>& a_bar, double scale, const Loss& loss) {
  for (int direction = 0; direction < 3; ++direction) {
    const test::TreeInputsTangent dot = test::random_direction(random, c);
    const double slope = slope_of(bar, a_bar, dot);
    const test::Slopes others = test::slopes(c, inputs, dot, loss);
    CAPTURE(c.name, direction, others.differences.error);
    CHECK(slope != 0.0);
    CHECK(test::close(slope, others.jet, 1e-10, 1e-11 * scale));
    CHECK(test::close(slope, others.dual, 1e-10, 1e-11 * scale));
    CHECK(test::close(slope, others.differences.value, 1e-6, 1e-7 * scale));
  }
}

}  // namespace

TEST_CASE("tree_mass_matrix: its energy is that of the links, and its rows are inverse dynamics",
          "[trees][value]") {
  Random random(21);
  for (TreeCase& c : test::tree_cases(21)) {
    CAPTURE(c.name);
    TreeKinematics<double> kinematics;
    tree_kinematics(c.trees, c.parameters, c.q, kinematics);
    const MatX<double> M = tree_mass_matrix(c.trees, c.parameters, kinematics);
    CHECK(M == M.transpose());
    const VecX<double> u = c.random_rates(random, 1.0);
    std::vector<Vec6<double>> V_WB;
    link_twists(c.trees, kinematics, u, V_WB);
    const std::vector<Vec6<double>> P = momenta(c, kinematics, u);
    double twice_energy = u.dot(c.parameters.armature.cwiseProduct(u));
    for (std::size_t i = 0; i < P.size(); ++i) twice_energy += P[i].dot(V_WB[i]);
    CHECK(test::close(u.dot(M * u), twice_energy, 1e-12, 0));

    TreeParameters<double> weightless = c.parameters;
    weightless.gravity.setZero();
    NewtonEulerPass<double> motion;
    const VecX<double> rest = VecX<double>::Zero(c.trees.nv);
    const VecX<double> tau = inverse_dynamics<double>(c.trees, weightless, kinematics, rest, u, {}, motion);
    CHECK(test::close(M * u, tau, 1e-11, 1e-12 * tau.norm()));
  }
}

TEST_CASE("inverse_dynamics: balances the rate of the links' momenta with all wrenches", "[trees][value]") {
  Random random(22);
  for (TreeCase& c : test::tree_cases(22)) {
    CAPTURE(c.name);
    const TreeInputs<double> inputs = test::random_inputs(random, c);
    TreeKinematics<double> kinematics;
    tree_kinematics(c.trees, c.parameters, c.q, kinematics);
    NewtonEulerPass<double> motion;
    const VecX<double> tau = inverse_dynamics<double>(c.trees, c.parameters, kinematics, inputs.u, inputs.a,
                                                      inputs.wrenches, motion);
    // Power at any rates x: that of d(momentum)/dt less gravity and external wrenches.
    const VecX<double> x = c.random_rates(random, 1.0);
    std::vector<Vec6<double>> X;
    link_twists(c.trees, kinematics, x, X);
    const auto momentum_along = [&](double t) {
      VecX<double> q;
      integrate_coordinates(c.trees, c.q, VecX<double>(inputs.u + 0.5 * t * inputs.a), t, q);
      TreeKinematics<double> later;
      tree_kinematics(c.trees, c.parameters, q, later);
      const std::vector<Vec6<double>> P = momenta(c, later, inputs.u + t * inputs.a);
      double sum = 0.0;
      for (std::size_t i = 0; i < P.size(); ++i) sum += P[i].dot(X[i]);
      return sum;
    };
    double power = x.dot(c.parameters.armature.cwiseProduct(inputs.a));
    for (std::size_t i = 0; i < X.size(); ++i) {
      power -= c.parameters.links[i].mass * c.parameters.gravity.dot(X[i].tail<3>());
      power -= inputs.wrenches[i].dot(X[i]);
    }
    const double rate = test::fd_sweep(momentum_along, 0.0, 0.02).value;
    CHECK(test::close(x.dot(tau), power + rate, 1e-8, 1e-7));
  }
}

TEST_CASE("forward_dynamics: inverts inverse dynamics", "[trees][value]") {
  Random random(23);
  for (TreeCase& c : test::tree_cases(23)) {
    CAPTURE(c.name);
    const TreeInputs<double> inputs = test::random_inputs(random, c);
    TreeKinematics<double> kinematics;
    tree_kinematics(c.trees, c.parameters, c.q, kinematics);
    NewtonEulerPass<double> motion;
    TreeElimination<double> elimination;
    const VecX<double> tau = inverse_dynamics<double>(c.trees, c.parameters, kinematics, inputs.u, inputs.a,
                                                      inputs.wrenches, motion);
    const VecX<double> a = forward_dynamics<double>(c.trees, c.parameters, kinematics, inputs.u, tau,
                                                    inputs.wrenches, elimination);
    const MatX<double> M = tree_mass_matrix(c.trees, c.parameters, kinematics);
    CHECK(test::close(M * a, M * inputs.a, 1e-9, 1e-9 * (M * inputs.a).norm()));
    CHECK(test::close(a, inputs.a, 1e-7, 1e-7));
  }
}

TEST_CASE("tree_mass_matrix: reverse pass agrees with Jet and differences", "[trees][derivative]") {
  Random random(24);
  for (TreeCase& c : test::tree_cases(24)) {
    const TreeInputs<double> inputs = test::random_inputs(random, c);
    MatX<double> M_bar(c.trees.nv, c.trees.nv);
    for (int k = 0; k < M_bar.cols(); ++k) M_bar.col(k) = c.random_rates(random, 1.0);
    const auto loss = [&](const auto& x) {
      using S = typename std::decay_t<decltype(x.q)>::Scalar;
      TreeKinematics<S> kinematics;
      tree_kinematics(c.trees, x.parameters, x.q, kinematics);
      return S(
          tree_mass_matrix(c.trees, x.parameters, kinematics).cwiseProduct(M_bar.template cast<S>()).sum());
    };
    TreeKinematics<double> kinematics;
    tree_kinematics(c.trees, inputs.parameters, inputs.q, kinematics);
    TreeDynamicsBar bar(c.trees);
    tree_mass_matrix_vjp(c.trees, inputs.parameters, kinematics, M_bar, bar);
    check_slopes(random, c, inputs, bar, bar.a, 1.0, loss);
  }
}

TEST_CASE("inverse_dynamics: reverse pass agrees with Jet and differences", "[trees][derivative]") {
  Random random(25);
  for (const std::uint64_t seed : {25, 26, 27}) {
    for (TreeCase& c : test::tree_cases(seed)) {
      const TreeInputs<double> inputs = test::random_inputs(random, c);
      const VecX<double> tau_bar = c.random_rates(random, 1.0);
      const auto loss = [&](const auto& x) {
        using S = typename std::decay_t<decltype(x.q)>::Scalar;
        TreeKinematics<S> kinematics;
        tree_kinematics(c.trees, x.parameters, x.q, kinematics);
        NewtonEulerPass<S> motion;
        const VecX<S> tau =
            inverse_dynamics<S>(c.trees, x.parameters, kinematics, x.u, x.a, x.wrenches, motion);
        return S(tau.dot(tau_bar.template cast<S>()));
      };
      TreeKinematics<double> kinematics;
      tree_kinematics(c.trees, inputs.parameters, inputs.q, kinematics);
      TreeDynamicsBar bar(c.trees);
      inverse_dynamics_vjp(c.trees, inputs.parameters, kinematics, inputs.u, inputs.a, inputs.wrenches,
                           tau_bar, bar);
      check_slopes(random, c, inputs, bar, bar.a, 1.0, loss);
    }
  }
}

TEST_CASE("forward_dynamics: reverse pass agrees with Jet and differences", "[trees][derivative]") {
  Random random(28);
  for (TreeCase& c : test::tree_cases(28)) {
    const TreeInputs<double> inputs = test::random_inputs(random, c);
    TreeKinematics<double> kinematics;
    tree_kinematics(c.trees, inputs.parameters, inputs.q, kinematics);
    // Weighted as momenta, so that light links do not drown the others.
    const MatX<double> M = tree_mass_matrix(c.trees, inputs.parameters, kinematics);
    const VecX<double> a_bar = M * c.random_rates(random, 1.0);
    const auto loss = [&](const auto& x) {
      using S = typename std::decay_t<decltype(x.q)>::Scalar;
      TreeKinematics<S> there;
      tree_kinematics(c.trees, x.parameters, x.q, there);
      TreeElimination<S> elimination;
      const VecX<S> a = forward_dynamics<S>(c.trees, x.parameters, there, x.u, x.a, x.wrenches, elimination);
      return S(a.dot(a_bar.template cast<S>()));
    };
    TreeElimination<double> elimination;
    const VecX<double> a = forward_dynamics<double>(c.trees, inputs.parameters, kinematics, inputs.u,
                                                    inputs.a, inputs.wrenches, elimination);
    TreeDynamicsBar bar(c.trees);
    forward_dynamics_vjp(c.trees, inputs.parameters, kinematics, inputs.u, a, inputs.wrenches, elimination,
                         a_bar, bar);
    check_slopes(random, c, inputs, bar, bar.tau, 1.0 + std::abs(a_bar.dot(a)), loss);
  }
}
