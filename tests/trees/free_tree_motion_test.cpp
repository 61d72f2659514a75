#include "dynamics/trees/free_tree_motion.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "dynamics/trees/tree_dynamics.h"
#include "tests/support/close.h"
#include "tests/support/no_alloc.h"
#include "tests/trees/tree_directions.h"

namespace {

using namespace abut;
using test::TreeCase;

/// A mechanism in motion.
struct MovingTrees {
  TreeCase c;
  TreeState<double> state;
  TreeLoads<double> loads;
  FreeTreeMotion motion;
  double h = 2e-3;

  explicit MovingTrees(TreeCase tree_case) : c(std::move(tree_case)) { set_momentum(); }

  /// Momenta of the links at the rates of the case.
  void set_momentum() {
    TreeKinematics<double> kinematics;
    tree_kinematics(c.trees, c.parameters, c.q, kinematics);
    state.q = c.q;
    state.u = c.u;
    link_twists(c.trees, kinematics, c.u, state.momentum);
    for (std::size_t i = 0; i < state.momentum.size(); ++i) {
      const LinkParameters<double>& link = c.parameters.links[i];
      const Mat3<double> R = kinematics.X_WB[i].rotation();
      state.momentum[i].head<3>() = R * link.inertia * R.transpose() * state.momentum[i].head<3>();
      state.momentum[i].tail<3>() *= link.mass;
    }
    loads.wrenches.assign(state.momentum.size(), Vec6<double>::Zero());
    loads.tau.setZero(c.trees.nv);
  }

  TreeMotionReport step(TreeMotionRecord* record = nullptr) {
    return motion.step(c.trees, c.parameters, loads, h, state, record);
  }

  /// Potential energy, and kinetic energy of the rates v with M v = J'P.
  [[nodiscard]] double energy() const {
    TreeKinematics<double> kinematics;
    tree_kinematics(c.trees, c.parameters, state.q, kinematics);
    double sum = 0.0;
    for (std::size_t i = 0; i < state.momentum.size(); ++i) {
      sum -= c.parameters.links[i].mass * c.parameters.gravity.dot(kinematics.X_WB[i].p);
    }
    const VecX<double> p = generalized_forces<double>(c.trees, kinematics, state.momentum);
    VecX<double> v = p;
    TreeElimination<double> elimination;
    factor_mass_matrix(c.trees, c.parameters, kinematics, elimination);
    elimination.solve(c.trees, c.trees.all(), kinematics.axes, kinematics.axes, v);
    return sum + 0.5 * p.dot(v);
  }

  /// Total momentum about the origin of the world.
  [[nodiscard]] Vec6<double> total_momentum() const {
    TreeKinematics<double> kinematics;
    tree_kinematics(c.trees, c.parameters, state.q, kinematics);
    Vec6<double> sum = Vec6<double>::Zero();
    for (std::size_t i = 0; i < state.momentum.size(); ++i) {
      sum += wrench_about_origin(kinematics.X_WB[i].p, state.momentum[i]);
    }
    return sum;
  }
};

/// Weights of a loss of a state: the sum of products with the tangent from a reference state.
struct StateWeights {
  TreeStateTangent bar;

  StateWeights(Random& random, const TreeCase& c) : bar(c.trees) {
    bar.q = c.random_rates(random, 1.0);
    bar.u = c.random_rates(random, 0.01);
    for (Vec6<double>& momentum : bar.momentum) momentum = test::random_vector<6>(random);
  }
  [[nodiscard]] double loss(const TreeCase& c, const TreeState<double>& state,
                            const TreeState<double>& from) const {
    double sum = bar.q.dot(coordinate_difference(c.trees, state.q, from.q)) + bar.u.dot(state.u - from.u);
    for (std::size_t i = 0; i < bar.momentum.size(); ++i) {
      sum += bar.momentum[i].dot(state.momentum[i] - from.momentum[i]);
    }
    return sum;
  }
};

TreeMotionTangent random_motion_tangent(Random& random, const TreeCase& c) {
  const test::TreeInputsTangent numbers = test::random_direction(random, c);
  TreeMotionTangent dot(c.trees);
  dot.parameters = numbers.parameters;
  dot.parameters.armature = c.random_rates(random, 1.0).cwiseAbs();
  dot.state.q = numbers.q;
  dot.state.u = numbers.u;
  dot.loads.wrenches = numbers.wrenches;
  dot.loads.tau = numbers.a;
  for (Vec6<double>& momentum : dot.state.momentum) momentum = test::random_vector<6>(random);
  return dot;
}

double product(const TreeMotionTangent& bar, const TreeMotionTangent& dot) {
  double sum = bar.state.q.dot(dot.state.q) + bar.state.u.dot(dot.state.u) +
               bar.loads.tau.dot(dot.loads.tau) + inner_product(bar.parameters, dot.parameters);
  for (std::size_t i = 0; i < bar.loads.wrenches.size(); ++i) {
    sum +=
        bar.loads.wrenches[i].dot(dot.loads.wrenches[i]) + bar.state.momentum[i].dot(dot.state.momentum[i]);
  }
  return sum;
}

MovingTrees moved_along(const MovingTrees& m, const TreeMotionTangent& dot, double t) {
  MovingTrees other = m;
  test::TreeInputs<double> inputs{m.c.parameters, m.state.q, m.state.u, m.loads.tau, m.loads.wrenches};
  const test::TreeInputs<double> moved = test::moved(
      m.c, inputs, {dot.parameters, dot.state.q, dot.state.u, dot.loads.tau, dot.loads.wrenches}, t);
  other.c.parameters = moved.parameters;
  other.state.q = moved.q, other.state.u = moved.u;
  other.loads = {moved.wrenches, moved.a};
  for (std::size_t i = 0; i < dot.state.momentum.size(); ++i) {
    other.state.momentum[i] += t * dot.state.momentum[i];
  }
  return other;
}

/// Checks JVP and VJP of one step against differences.
void check_step_derivatives(Random& random, MovingTrees m, int substeps) {
  for (Vec6<double>& wrench : m.loads.wrenches) wrench = test::random_vector<6>(random, 0.1);
  m.loads.tau = m.c.random_rates(random, 0.02);
  const StateWeights weights(random, m.c);
  MovingTrees end = m;
  TreeMotionRecord record;
  const TreeMotionReport report = end.step(&record);
  REQUIRE(report.unsolved_tree == -1);
  REQUIRE(report.substeps == substeps);
  TreeMotionTangent bar(m.c.trees);
  bar.state = weights.bar;
  end.motion.step_vjp(m.c.trees, m.c.parameters, m.loads, record, bar);
  for (int direction = 0; direction < 3; ++direction) {
    const TreeMotionTangent dot = random_motion_tangent(random, m.c);
    TreeMotionTangent end_dot = dot;
    end.motion.step_jvp(m.c.trees, m.c.parameters, m.loads, record, end_dot);
    TreeMotionTangent weights_bar(m.c.trees);
    weights_bar.state = weights.bar;
    TreeMotionTangent results(m.c.trees);
    results.state = end_dot.state;
    const double slope = product(bar, dot), forward = product(weights_bar, results);
    const auto loss = [&](double t) {
      MovingTrees moved = moved_along(m, dot, t);
      moved.step();
      return weights.loss(m.c, moved.state, end.state);
    };
    const test::SweptDerivative differences = test::fd_sweep(loss, 0.0, 1e-3);
    CAPTURE(m.c.name, direction, differences.error);
    CHECK(slope != 0.0);
    CHECK(test::close(slope, forward, 1e-10, 1e-10));
    CHECK(test::close(slope, differences.value, 1e-6, 1e-7));
  }
}

/// The largest |E - E(0)| over 10 s at 2 ms.
double largest_energy_error(MovingTrees m, int steps = 5000) {
  const double start = m.energy();
  double largest = 0.0;
  for (int k = 0; k < steps; ++k) {
    REQUIRE(m.step().unsolved_tree == -1);
    largest = std::max(largest, std::abs(m.energy() - start));
  }
  return largest;
}

}  // namespace

TEST_CASE("free_tree_motion: energy of falling arms and chains stays over 10 s", "[trees][property]") {
  std::vector<double> of_arms;  // chaotic: the last bit of a start decides between 0.2 and 0.6 J
  for (const double shift : {-2e-4, -1e-4, 0.0, 1e-4, 2e-4}) {
    MovingTrees arm({"", test::arm7()});
    arm.state.q[0] += shift;
    of_arms.push_back(largest_energy_error(std::move(arm)));
  }
  std::sort(of_arms.begin(), of_arms.end());
  CAPTURE(of_arms.front(), of_arms.back());
  CHECK(of_arms[2] <= 0.4);
  CHECK(largest_energy_error(MovingTrees({"", test::chain(6, 0.2, 0.02, 0.3)})) <= 0.2);
  CHECK(largest_energy_error(MovingTrees({"", test::chain(30, 0.1, 0.01, 0.1)})) <= 0.5);
}

TEST_CASE("free_tree_motion: links of 3 g that carry 20 kg keep their energy", "[trees][property]") {
  CHECK(largest_energy_error(MovingTrees({"", test::light_chain_with_load()}), 2500) <= 0.005);
}

TEST_CASE("free_tree_motion: positions converge to those of a fine integration at the first order",
          "[trees][value]") {
  const auto end = [](double h) {
    MovingTrees m({"", test::arm7()});
    m.h = h;
    for (int k = 0; k < std::lround(0.3 / h); ++k) REQUIRE(m.step().unsolved_tree == -1);
    return m.state.q;
  };
  // Runge-Kutta's method of order 4 on forward dynamics
  TreeCase c("", test::arm7());
  const auto acceleration = [&](const VecX<double>& q, const VecX<double>& u) {
    TreeKinematics<double> kinematics;
    tree_kinematics(c.trees, c.parameters, q, kinematics);
    TreeElimination<double> elimination;
    return forward_dynamics<double>(c.trees, c.parameters, kinematics, u, VecX<double>::Zero(c.trees.nv), {},
                                    elimination);
  };
  const double dt = 1e-3;
  for (int k = 0; k < 300; ++k) {
    const VecX<double> u1 = c.u, a1 = acceleration(c.q, u1), u2 = c.u + 0.5 * dt * a1,
                       a2 = acceleration(c.q + 0.5 * dt * u1, u2), u3 = c.u + 0.5 * dt * a2,
                       a3 = acceleration(c.q + 0.5 * dt * u2, u3), u4 = c.u + dt * a3,
                       a4 = acceleration(c.q + dt * u3, u4);
    c.q += dt / 6.0 * (u1 + 2.0 * u2 + 2.0 * u3 + u4);
    c.u += dt / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
  }
  const double coarse = (end(2e-3) - c.q).norm(), fine = (end(5e-4) - c.q).norm();
  CAPTURE(coarse, fine, c.q.norm());
  CHECK(coarse <= 0.02 * c.q.norm());
  CHECK(fine >= 0.2 * coarse);
  CHECK(fine <= 0.3 * coarse);
}

TEST_CASE("free_tree_motion: a floating tree keeps both momenta, and falls as gravity says",
          "[trees][property]") {
  Random random(31);
  for (const bool has_gravity : {false, true}) {
    MovingTrees m({"", test::humanoid()});
    m.c.scatter(random, 0.5, 3.0);
    if (!has_gravity) m.c.parameters.gravity.setZero();
    m.set_momentum();
    double mass = 0.0;
    for (const LinkParameters<double>& link : m.c.parameters.links) mass += link.mass;
    const Vec6<double> before = m.total_momentum();
    for (int k = 0; k < 500; ++k) REQUIRE(m.step().unsolved_tree == -1);
    const Vec6<double> after = m.total_momentum();
    CHECK(test::close(after.tail<3>(), before.tail<3>() + mass * m.c.parameters.gravity, 1e-11, 1e-10));
    if (!has_gravity) CHECK(test::close(after, before, 1e-10, 1e-10 * before.norm()));
  }
}

TEST_CASE("free_tree_motion: a free body moves as the midpoint equation says", "[trees][value]") {
  test::Mechanism body;
  Random random(32);
  body.add_body("top", {0.1, 0.2, 0.3}, 2.0, test::random_body_inertia(random, 2.0, 0.2));
  MovingTrees m({"", std::move(body)});
  m.c.u << 3.0, -7.0, 5.0, 0.3, 0.2, -0.1;
  m.set_momentum();
  const Vec3<double> L = m.state.momentum[0].head<3>();
  const Pose<double> X = {quaternion_at(m.state.q, 0), m.state.q.segment<3>(4)};
  REQUIRE(m.step().unsolved_tree == -1);
  const Vec3<double> w = m.state.u.head<3>();
  const Mat3<double> R = (exp_quaternion<double>(0.5 * m.h * w) * X.q).toRotationMatrix();
  CHECK(test::close(R * m.c.parameters.links[0].inertia * R.transpose() * w, L, 1e-12, 1e-14));
  CHECK(test::close(m.state.momentum[0].head<3>(), L, 1e-12, 0));
}

TEST_CASE("free_tree_motion: torques that balance gravity hold an arm still", "[trees][property]") {
  MovingTrees m({"", test::arm7()});
  Random random(33);
  m.c.scatter(random, 1.0, 0.0);
  m.set_momentum();
  TreeKinematics<double> kinematics;
  NewtonEulerPass<double> motion;
  for (int k = 0; k < 5000; ++k) {
    tree_kinematics(m.c.trees, m.c.parameters, m.state.q, kinematics);
    m.loads.tau = bias_forces<double>(m.c.trees, m.c.parameters, kinematics, m.c.u, {}, motion);
    REQUIRE(m.step().unsolved_tree == -1);
  }
  CHECK((m.state.q - m.c.q).cwiseAbs().maxCoeff() < 1e-9);
}

TEST_CASE("free_tree_motion: steps of a fast joint are halved, those of other trees are not",
          "[trees][value]") {
  test::Mechanism two = test::chain(1, 0.2, 0.02, 0.3);
  const int second = two.add_capsule("second", {0, 1, 3}, {0.2, 1, 3}, 0.02, 0.3);
  two.add_joint(JointKind::hinge, -1, second, {0, 1, 3}, Vec3<double>::UnitY());
  MovingTrees m({"", std::move(two)});
  m.c.u << 350.0, 1.0;  // 0.7 rad and 0.002 rad a step
  m.set_momentum();
  const TreeMotionReport report = m.step();
  CHECK(report.unsolved_tree == -1);
  CHECK(report.substeps == 4 + 1);
  CHECK(test::close(m.state.q[0], 0.7, 5e-3, 0));
}

TEST_CASE("free_tree_motion: a step allocates nothing", "[trees][property]") {
  MovingTrees m({"", test::humanoid()});
  m.step();
  test::NoAlloc guard;
  for (int k = 0; k < 10; ++k) m.step();
  const std::size_t allocations = guard.allocations();
  CHECK(allocations == 0);
}

TEST_CASE("free_tree_motion: JVP and VJP of a step agree with each other and differences",
          "[trees][derivative]") {
  Random random(34);
  for (const std::uint64_t seed : {34, 35, 36}) {
    for (TreeCase& c : test::tree_cases(seed)) {
      CAPTURE(seed);
      MovingTrees m(std::move(c));
      check_step_derivatives(random, std::move(m), m.c.trees.tree_count());
    }
  }
}

TEST_CASE("free_tree_motion: gradients pass through halved steps", "[trees][derivative]") {
  Random random(37);
  MovingTrees m({"", test::chain(4, 0.2, 0.02, 0.3, false), 0.001});
  m.c.u << 60.0, -150.0, 40.0, 90.0;
  m.set_momentum();
  check_step_derivatives(random, std::move(m), 2);
}
