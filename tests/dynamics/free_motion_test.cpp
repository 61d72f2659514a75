#include "dynamics/motion/free_motion.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "dynamics/step/stepper.h"
#include "engine/lie.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;

/// One body in free flight, without gravity unless it is set.
struct Flight {
  Model model;
  State state;
  Control control;
  double h = 1e-3;
  MassMatrix mass;
  FreeMotion free;

  Flight(double body_mass, const Mat3<double>& inertia) {
    Body body;
    body.mass = body_mass;
    body.inertia = inertia;
    model.bodies.push_back(body);
    model.gravity.setZero();
    state.X_WB.emplace_back();
    state.V_WB.emplace_back(Vec6<double>::Zero());
  }

  void step() {
    mass.update(model, state);
    free_motion(model, mass, state, control, h, free);
    State next;
    advance(model, mass, state, control, h, free, {free.v_free, {}}, next);
    state = next;
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) step();
  }

  [[nodiscard]] const Body& body() const { return model.bodies[0]; }
  [[nodiscard]] Vec3<double> w() const { return state.V_WB[0].head<3>(); }
  [[nodiscard]] Vec3<double> w_B() const { return state.X_WB[0].q.conjugate() * w(); }
  [[nodiscard]] Vec3<double> angular_momentum() const {
    return state.X_WB[0].q * Vec3<double>(body().inertia * w_B());
  }
  [[nodiscard]] double spin_energy() const { return 0.5 * w_B().dot(body().inertia * w_B()); }
};

Mat3<double> diagonal(double a, double b, double c) { return Vec3<double>(a, b, c).asDiagonal(); }

/// An asymmetric top spinning about its middle axis, nearly.
Flight dzhanibekov(double h) {
  Flight flight(2.0, diagonal(0.01, 0.02, 0.027));
  flight.h = h;
  flight.state.X_WB[0].q = Random(3).quaternion();
  flight.state.V_WB[0] =
      stack<double>(flight.state.X_WB[0].q * Vec3<double>(0.01, 6.0, 0.02), {0.3, -0.2, 0.5});
  return flight;
}

/// A random inertia that a body can have.
Mat3<double> random_inertia(Random& random) {
  const Mat3<double> R = random.quaternion().toRotationMatrix();
  const Vec3<double> second_moments(random.uniform(0.05, 1.0), random.uniform(0.05, 1.0),
                                    random.uniform(0.05, 1.0));
  const Mat3<double> I =
      R * Mat3<double>((second_moments.sum() - second_moments.array()).matrix().asDiagonal()) * R.transpose();
  return 0.025 * (I + I.transpose());
}

}  // namespace

// Conservation ---------------------------------------------------------------------------------------------

TEST_CASE("free_motion: an asymmetric top keeps both momenta over 100000 steps", "[dynamics][property]") {
  Flight flight = dzhanibekov(2e-3);
  const Vec3<double> L = flight.angular_momentum(), v = flight.state.V_WB[0].tail<3>(),
                     p = flight.state.X_WB[0].p;
  double worst = 0.0;
  int flips = 0;
  double side = flight.w_B().y();
  for (int k = 0; k < 100000; ++k) {
    flight.step();
    worst = std::max(worst, (flight.angular_momentum() - L).norm());
    if (side * flight.w_B().y() < 0.0) ++flips, side = flight.w_B().y();
  }
  CAPTURE(worst, flips);
  CHECK(flips > 20);                           // it does tumble, so I(R) w has to be carried
  CHECK(worst <= 1e-11 * L.norm());            // 1e-16 a step, were all roundings of one sign
  CHECK(flight.state.V_WB[0].tail<3>() == v);  // nothing is added to the velocity, not even rounding
  CHECK(test::close(flight.state.X_WB[0].p, p + 200.0 * v, 1e-10, 0));
  CHECK(std::abs(flight.state.X_WB[0].q.norm() - 1.0) <= 1e-15);
}

TEST_CASE("free_motion: the energy of an asymmetric top oscillates, without drift, by O(h^2)",
          "[dynamics][property]") {
  struct Energy {
    double first_half = 0.0, second_half = 0.0;
  };
  const auto error = [](double h) {
    Flight flight = dzhanibekov(h);
    const double E = flight.spin_energy();
    constexpr int k_steps = 100000;
    Energy largest;
    for (int k = 0; k < k_steps; ++k) {
      flight.step();
      double& half = k < k_steps / 2 ? largest.first_half : largest.second_half;
      half = std::max(half, std::abs(flight.spin_energy() / E - 1.0));
    }
    return largest;
  };
  const Energy coarse = error(2e-3), fine = error(1e-3);
  CAPTURE(coarse.first_half, coarse.second_half, fine.first_half, fine.second_half);
  // The midpoint equation is symplectic: the error stays (h w)^2/24 or so of what tumbling exchanges between
  // the axes.
  CHECK(coarse.first_half <= 1e-5);
  CHECK(coarse.second_half <= 1.01 * coarse.first_half);
  CHECK(coarse.first_half >= 3.5 * fine.first_half);
  CHECK(coarse.first_half <= 4.5 * fine.first_half);
}

TEST_CASE("free_motion: energy stays for tops of every shape, fast and slow", "[dynamics][property]") {
  const std::uint64_t seed = GENERATE(range(1, 11));
  Random random(seed);
  Flight flight(1.0, random_inertia(random));
  const double hw = GENERATE(0.3, 0.03);  // h |w|: 0.3 is 17 degrees a step
  flight.h = 5e-3;
  flight.state.X_WB[0].q = random.quaternion();
  flight.state.V_WB[0].head<3>() = hw / flight.h * random.unit_vector();
  const double E = flight.spin_energy(), L = flight.angular_momentum().norm();
  double early = 0.0, late = 0.0;
  for (int k = 0; k < 20000; ++k) {
    flight.step();
    double& half = k < 10000 ? early : late;
    half = std::max(half, std::abs(flight.spin_energy() / E - 1.0));
  }
  CAPTURE(seed, hw, early, late);
  CHECK(early <= hw * hw);
  CHECK(late <= 1.05 * early + 1e-12);  // 1.05: the two halves see different phases
  CHECK(test::close(flight.angular_momentum().norm(), L, 2e-12, 0));
}

// Closed forms ---------------------------------------------------------------------------------------------

TEST_CASE("free_motion: the middle axis flips with the period of Jacobi's elliptic functions",
          "[dynamics][value]") {
  // Euler's equations for I1 < I2 < I3 with L^2 < 2 E I2 (the polhode around I1's axis) or > (around I3's):
  //   w_2 has the period 4 K(k)/rate; around I3:  rate^2 = (I3 - I2)(L^2 - 2 E I1)/(I1 I2 I3),
  //   k^2 = (I2 - I1)(2 E I3 - L^2)/((I3 - I2)(L^2 - 2 E I1)); around I1 swap the indices 1 and 3.
  Flight flight = dzhanibekov(1e-3);
  const Vec3<double> I = flight.body().inertia.diagonal(), w = flight.w_B();
  const double E = flight.spin_energy(), L2 = flight.angular_momentum().squaredNorm();
  double I1 = I[0], I2 = I[1], I3 = I[2];
  if (L2 < 2.0 * E * I2) std::swap(I1, I3);
  const double rate2 = (I3 - I2) * (L2 - 2.0 * E * I1) / (I1 * I2 * I3);
  const double k2 = (I2 - I1) * (2.0 * E * I3 - L2) / ((I3 - I2) * (L2 - 2.0 * E * I1));
  REQUIRE(rate2 > 0.0);
  REQUIRE(k2 > 0.99);  // near the separatrix: it lingers, then flips
  const double half_period = 2.0 * std::comp_ellint_1(std::sqrt(k2)) / std::sqrt(rate2);

  std::vector<double> crossings;  // of w_2 through 0, by linear interpolation
  double before = w.y();
  for (int k = 1; crossings.size() < 5; ++k) {
    REQUIRE(k < 100000);
    flight.step();
    const double now = flight.w_B().y();
    if (before * now < 0.0) crossings.push_back(flight.h * (k - now / (now - before)));
    before = now;
  }
  for (std::size_t i = 1; i < crossings.size(); ++i) {
    CAPTURE(i, half_period, k2);
    // The step's O((h w)^2) = 4e-5 shifts energy, to which the period is logarithmically sensitive here.
    CHECK(test::close(crossings[i] - crossings[i - 1], half_period, 1e-4, 0));
  }
}

TEST_CASE("free_motion: a symmetric top precesses at L over I1 about its angular momentum",
          "[dynamics][value]") {
  // e3(t) turns about L at the rate |L|/I1; what is left is the O(h^2) of the midpoint rule.
  const auto error = [](double h) {
    Flight flight(1.0, diagonal(0.02, 0.02, 0.03));
    flight.h = h;
    flight.state.V_WB[0].head<3>() = Vec3<double>(1.0, 0.0, 4.0);
    const Vec3<double> L = flight.angular_momentum();
    constexpr double k_time = 2.0;
    flight.steps(static_cast<int>(std::lround(k_time / h)));
    const Vec3<double> turn = k_time / 0.02 * L, axis = flight.state.X_WB[0].q * Vec3<double>::UnitZ();
    return (axis - exp_so3<double>(turn) * Vec3<double>::UnitZ()).norm();
  };
  const double coarse = error(2e-3), fine = error(1e-3);
  CAPTURE(coarse, fine);
  CHECK(coarse <= 2e-4);
  CHECK(test::close(coarse / fine, 4.0, 0.02, 0));
}

TEST_CASE("free_motion: damping is exactly exponential, whatever the step", "[dynamics][value]") {
  const double h = GENERATE(1e-3, 0.05);
  Flight flight = dzhanibekov(h);
  flight.model.bodies[0].linear_damping = 0.7;
  flight.model.bodies[0].angular_damping = 1.9;
  const Vec3<double> L = flight.angular_momentum(), v = flight.state.V_WB[0].tail<3>();
  const int steps = static_cast<int>(std::lround(1.5 / h));
  flight.steps(steps);
  CHECK(test::close(flight.state.V_WB[0].tail<3>(), std::exp(-0.7 * 1.5) * v, 1e-12, 0));
  CHECK(test::close(flight.angular_momentum(), std::exp(-1.9 * 1.5) * L, 1e-12, 1e-12 * L.norm()));
}

TEST_CASE("free_motion: force and gravity give the semi-implicit parabola", "[dynamics][value]") {
  //   v_n = v_0 + n h a,   p_n = p_0 + n h v_0 + n (n + 1)/2 h^2 a,   a = g + f/m
  Flight flight(2.5, diagonal(1.0, 2.0, 2.5));
  flight.model.gravity = {0.3, 0.0, -9.81};
  flight.model.bodies[0].external_wrench = stack<double>(Vec3<double>::Zero(), {1.0, 2.0, 3.0});
  flight.control.wrenches = {stack<double>(Vec3<double>::Zero(), {-4.0, 0.5, 20.0})};
  const Vec3<double> v(1.0, 2.0, 3.0), p(0.1, 0.2, 0.3);
  const Vec3<double> a = flight.model.gravity + Vec3<double>(-3.0, 2.5, 23.0) / 2.5;
  flight.state.V_WB[0].tail<3>() = v;
  flight.state.X_WB[0].p = p;
  const int n = 700;
  flight.steps(n);
  const double h = flight.h;
  CHECK(test::close(flight.state.V_WB[0].tail<3>(), v + n * h * a, 1e-13, 1e-13));
  CHECK(test::close(flight.state.X_WB[0].p, p + n * h * v + 0.5 * n * (n + 1) * h * h * a, 1e-12, 1e-12));
  CHECK(flight.state.V_WB[0].head<3>().isZero(0.0));
}

TEST_CASE("free_motion: a torque about a principal axis turns by exactly half alpha t^2",
          "[dynamics][value]") {
  Flight flight(1.0, diagonal(0.5, 0.8, 1.1));
  const double tau = 0.02;
  flight.control.wrenches = {stack<double>({0.0, tau, 0.0}, Vec3<double>::Zero())};
  const int n = 900;
  flight.steps(n);
  const double t = n * flight.h, alpha = tau / 0.8;
  CHECK(test::close(flight.w(), Vec3<double>(0.0, alpha * t, 0.0), 1e-12, 1e-15));
  const Vec3<double> turn = log_quaternion(flight.state.X_WB[0].q);
  CHECK(test::close(turn, Vec3<double>(0.0, 0.5 * alpha * t * t, 0.0), 1e-12, 1e-15));
}

TEST_CASE("free_motion: a constant torque changes the angular momentum of any top by tau t",
          "[dynamics][value]") {
  Flight flight = dzhanibekov(1e-3);
  const Vec3<double> L = flight.angular_momentum(), tau(0.003, -0.01, 0.02);
  flight.model.bodies[0].external_wrench.head<3>() = tau;
  flight.steps(2000);
  CHECK(test::close(flight.angular_momentum(), L + 2.0 * tau, 1e-11, 0));
}

TEST_CASE("free_motion: a falling body with damping reaches its terminal speed", "[dynamics][value]") {
  // v = e^{-c h} v + h g has the fixed point h g/(1 - e^{-c h}), which goes to g/c.
  Flight flight(1.0, diagonal(1, 1, 1));
  flight.model.gravity = {0.0, 0.0, -9.81};
  flight.model.bodies[0].linear_damping = 2.0;
  flight.steps(20000);
  CHECK(test::close(flight.state.V_WB[0][5], -9.81e-3 / (1.0 - std::exp(-2e-3)), 1e-12, 0));
  CHECK(test::close(flight.state.V_WB[0][5], -9.81 / 2.0, 2e-3, 0));
}

// The midpoint equation ------------------------------------------------------------------------------------

TEST_CASE("free_motion: w_m solves the midpoint equation", "[dynamics][value]") {
  Random random(11);
  int solved = 0;
  double worst = 0.0;
  constexpr int k_cases = 1000;
  for (int i = 0; i < k_cases; ++i) {
    Flight flight(1.0, random_inertia(random));
    flight.h = 0.01;
    flight.state.X_WB[0].q = random.quaternion();
    flight.state.V_WB[0].head<3>() =
        std::pow(10.0, random.uniform(-3.0, 2.0)) * random.unit_vector();  // h |w| to 1
    const Vec3<double> tau = std::pow(10.0, random.uniform(-3.0, 0.0)) * random.unit_vector();
    flight.control.wrenches = {stack<double>(tau, Vec3<double>::Zero())};
    const Vec3<double> right = flight.angular_momentum() + 0.5 * flight.h * tau;
    flight.mass.update(flight.model, flight.state);
    free_motion(flight.model, flight.mass, flight.state, flight.control, flight.h, flight.free);
    if (!flight.free.converged) continue;
    ++solved;
    const Vec3<double> w_m = flight.free.v_free.head<3>(), half = 0.5 * flight.h * w_m;
    const Mat3<double> R = exp_so3<double>(half) * flight.state.X_WB[0].rotation();
    worst = std::max(worst, (R * flight.body().inertia * R.transpose() * w_m - right).norm() / right.norm());
  }
  CAPTURE(worst);
  CHECK(solved == k_cases);
  CHECK(worst <= 2e-14);  // a hundred roundings
}

TEST_CASE("free_motion: says so where the midpoint equation is not solved", "[dynamics][value]") {
  Random random(12);
  int unsolved = 0, unsolved_slow = 0, lied = 0;
  for (int i = 0; i < 500; ++i) {
    Flight flight(1.0, random_inertia(random));
    flight.h = 1.0;
    const double angle = random.uniform(1.0, 30.0);
    flight.state.V_WB[0].head<3>() = angle * random.unit_vector();  // turns in one step
    const Vec3<double> right = flight.angular_momentum();
    flight.mass.update(flight.model, flight.state);
    free_motion(flight.model, flight.mass, flight.state, flight.control, flight.h, flight.free);
    const Vec3<double> w_m = flight.free.v_free.head<3>(), half = 0.5 * flight.h * w_m;
    const Mat3<double> R = exp_so3<double>(half);
    const bool is_solved =
        (R * flight.body().inertia * R.transpose() * w_m - right).norm() <= 1e-11 * right.norm();
    if (!is_solved) ++(angle <= 10.0 ? unsolved_slow : unsolved);
    if (flight.free.converged && !is_solved) ++lied;
  }
  CAPTURE(unsolved, unsolved_slow);
  CHECK(lied == 0);
  CHECK(unsolved_slow == 0);
  CHECK(unsolved <= 50);
}

// Derivatives ----------------------------------------------------------------------------------------------

namespace {

/// A random flight and a random loss  l(next) = pose weights . difference(next, next at the point) + twist
/// weights . V, where next follows from independent inputs: state, wrench, v_end, parameters.
struct FlightCase {
  Flight flight;
  Vec6<double> v_end_offset;  ///< v_end = v_free + this, so that contact has acted
  Vec6<double> pose_weight, twist_weight;

  explicit FlightCase(Random& random) : flight(random.uniform(0.5, 3.0), random_inertia(random)) {
    flight.h = std::pow(10.0, random.uniform(-3.0, -1.5));
    flight.model.gravity = test::random_vector(random, 9.81);
    Body& body = flight.model.bodies[0];
    body.linear_damping = random.uniform(0.0, 2.0);
    body.angular_damping = random.uniform(0.0, 2.0);
    body.external_wrench = test::random_vector<6>(random, 0.5);
    flight.control.wrenches = {test::random_vector<6>(random, 0.5)};
    flight.state.X_WB[0] = test::random_pose(random);
    flight.state.V_WB[0] = stack<double>(random.uniform(0.0, 0.5) / flight.h * random.unit_vector(),
                                         test::random_vector(random, 3.0));
    v_end_offset = test::random_vector<6>(random, 1.0);
    pose_weight = test::random_vector<6>(random);
    twist_weight = test::random_vector<6>(random);
  }
};

struct NamedDirection {
  std::string name;
  double slope;
  std::function<void(Flight&, double)> move;
};

}  // namespace

TEST_CASE("free_motion: VJP of v_free agrees with differences in every input", "[dynamics][derivative]") {
  Random random(21);
  int disagreements = 0;
  for (int i = 0; i < 1000; ++i) {
    const FlightCase c(random);
    Flight at = c.flight;
    at.mass.update(at.model, at.state);
    free_motion(at.model, at.mass, at.state, at.control, at.h, at.free);
    const GrowableVector displacement;
    const EndMotion end{at.free.v_free, displacement};
    State next;
    advance(at.model, at.mass, at.state, at.control, at.h, at.free, end, next);
    std::vector<BodyMotionDerivative> derivatives;
    linearize_motion(at.model, at.mass, at.state, at.h, at.free, end, next, derivatives);
    const GrowableVector bar = c.twist_weight;
    const std::vector<Vec3<double>> momentum_bar{Vec3<double>::Zero()};
    std::vector<Mat3<double>> inertia_W_bar{Mat3<double>::Zero()};
    StateTangent state_bar(1);
    std::vector<Vec6<double>> wrench_bar{Vec6<double>::Zero()};
    Vec3<double> gravity_bar = Vec3<double>::Zero();
    std::vector<FreeMotionParameterBar> parameter_bar(1);
    free_motion_vjp(at.model, at.mass, at.state, at.control, at.h, at.free, derivatives, bar, momentum_bar,
                    inertia_W_bar, state_bar, wrench_bar, gravity_bar, parameter_bar);

    const Vec6<double> d = test::random_vector<6>(random);
    const Mat3<double> dI = 0.1 * at.body().inertia.trace() *
                            (d.head<3>() * d.tail<3>().transpose() + d.tail<3>() * d.head<3>().transpose());
    const double w = at.w().norm();
    const std::vector<NamedDirection> directions{
        {"orientation", state_bar.pose[0].dot(d),
         [&](Flight& f, double t) { f.state.X_WB[0] = retract<double>(f.state.X_WB[0], t * d); }},
        {"twist", state_bar.twist[0].dot((1.0 + w) * d),
         [&](Flight& f, double t) { f.state.V_WB[0] += (1.0 + w) * t * d; }},
        {"wrench", wrench_bar[0].dot(d), [&](Flight& f, double t) { f.control.wrenches[0] += t * d; }},
        {"gravity", gravity_bar.dot(d.head<3>()),
         [&](Flight& f, double t) { f.model.gravity += t * d.head<3>(); }},
        {"mass", parameter_bar[0].mass, [&](Flight& f, double t) { f.model.bodies[0].mass += t; }},
        {"inertia", parameter_bar[0].inertia_B.cwiseProduct(dI).sum(),
         [&](Flight& f, double t) { f.model.bodies[0].inertia += t * dI; }},
        {"linear damping", parameter_bar[0].linear_damping,
         [&](Flight& f, double t) { f.model.bodies[0].linear_damping += t; }},
        {"angular damping", parameter_bar[0].angular_damping,
         [&](Flight& f, double t) { f.model.bodies[0].angular_damping += t; }}};
    for (const NamedDirection& direction : directions) {
      const auto loss = [&](double t) {
        Flight f = c.flight;
        direction.move(f, t);
        f.mass.update(f.model, f.state);
        free_motion(f.model, f.mass, f.state, f.control, f.h, f.free);
        return c.twist_weight.dot(f.free.v_free);
      };
      const auto fd = test::fd_sweep(loss, 0.0, 0.05, 1e-7, 1e-9 * (1.0 + w));
      CAPTURE(i, direction.name, direction.slope, fd.value, fd.error);
      if (fd.disagrees_with_itself) ++disagreements;
      REQUIRE(test::close(direction.slope, fd.value, 1e-6, 1e-8 * (1.0 + w)));
    }
  }
  CHECK(disagreements <= 80);  // 1 % of all
}

TEST_CASE("advance: VJP agrees with differences in every input, v_end independent of the state",
          "[dynamics][derivative]") {
  Random random(22);
  int disagreements = 0;
  for (int i = 0; i < 1000; ++i) {
    const FlightCase c(random);
    Flight at = c.flight;
    at.mass.update(at.model, at.state);
    free_motion(at.model, at.mass, at.state, at.control, at.h, at.free);
    const GrowableVector v_end = at.free.v_free + c.v_end_offset;
    GrowableVector displacement;  // every other case has one
    if (i % 2 == 0) displacement = test::random_vector<6>(random, 0.1);
    MotionLag lag;
    if (i % 3 == 0) lag = MotionLag::of_part(at.h, random.uniform(1.0, 2.0) * at.h);
    State next;
    const EndMotion end{v_end, displacement, lag};
    advance(at.model, at.mass, at.state, at.control, at.h, at.free, end, next);
    std::vector<BodyMotionDerivative> derivatives;
    linearize_motion(at.model, at.mass, at.state, at.h, at.free, end, next, derivatives);

    StateTangent next_bar(1), state_bar(1);
    next_bar.pose[0] = c.pose_weight;
    next_bar.twist[0] = c.twist_weight;
    std::vector<Vec6<double>> wrench_bar{Vec6<double>::Zero()};
    EndMotionBar end_bar;
    GrowableVector v_free_bar = GrowableVector::Zero(6);
    std::vector<Vec3<double>> momentum_bar{Vec3<double>::Zero()};
    std::vector<Mat3<double>> inertia_W_bar{Mat3<double>::Zero()};
    Vec3<double> gravity_bar = Vec3<double>::Zero();
    std::vector<FreeMotionParameterBar> parameter_bar(1);
    advance_vjp(at.model, at.mass, at.h, at.free, end, next, derivatives, next_bar, state_bar, wrench_bar,
                end_bar, v_free_bar, momentum_bar, inertia_W_bar, parameter_bar);
    free_motion_vjp(at.model, at.mass, at.state, at.control, at.h, at.free, derivatives, v_free_bar,
                    momentum_bar, inertia_W_bar, state_bar, wrench_bar, gravity_bar, parameter_bar);

    const Vec6<double> d = test::random_vector<6>(random);
    const Mat3<double> dI = 0.1 * at.body().inertia.trace() *
                            (d.head<3>() * d.tail<3>().transpose() + d.tail<3>() * d.head<3>().transpose());
    const double w = at.w().norm();
    GrowableVector v_end_moved = v_end, displacement_moved = displacement;
    const std::vector<NamedDirection> directions{
        {"pose", state_bar.pose[0].dot(d),
         [&](Flight& f, double t) { f.state.X_WB[0] = retract<double>(f.state.X_WB[0], t * d); }},
        {"twist", state_bar.twist[0].dot((1.0 + w) * d),
         [&](Flight& f, double t) { f.state.V_WB[0] += (1.0 + w) * t * d; }},
        {"displacement", displacement.size() > 0 ? end_bar.displacement.dot(d) : 0.0,
         [&](Flight&, double t) {
           if (displacement.size() > 0) displacement_moved = displacement + t * d;
         }},
        {"v_end", end_bar.velocity.dot((1.0 + w) * d),
         [&](Flight&, double t) { v_end_moved = v_end + (1.0 + w) * t * d; }},
        {"wrench", wrench_bar[0].dot(d), [&](Flight& f, double t) { f.control.wrenches[0] += t * d; }},
        {"inertia", parameter_bar[0].inertia_B.cwiseProduct(dI).sum(),
         [&](Flight& f, double t) { f.model.bodies[0].inertia += t * dI; }},
        {"angular damping", parameter_bar[0].angular_damping,
         [&](Flight& f, double t) { f.model.bodies[0].angular_damping += t; }}};
    for (const NamedDirection& direction : directions) {
      const auto loss = [&](double t) {
        Flight f = c.flight;
        v_end_moved = v_end;
        displacement_moved = displacement;
        direction.move(f, t);
        f.mass.update(f.model, f.state);
        free_motion(f.model, f.mass, f.state, f.control, f.h, f.free);
        State moved;
        advance(f.model, f.mass, f.state, f.control, f.h, f.free, {v_end_moved, displacement_moved, lag},
                moved);
        return c.pose_weight.dot(difference(moved.X_WB[0], next.X_WB[0])) + c.twist_weight.dot(moved.V_WB[0]);
      };
      const auto fd = test::fd_sweep(loss, 0.0, 0.05, 1e-7, 1e-9 * (1.0 + w));
      CAPTURE(i, direction.name, direction.slope, fd.value, fd.error);
      if (fd.disagrees_with_itself) ++disagreements;
      REQUIRE(test::close(direction.slope, fd.value, 1e-6, 1e-8 * (1.0 + w)));
    }
  }
  CHECK(disagreements <= 60);
}

TEST_CASE("advance: a fixed body stays, and its gradient passes through", "[dynamics][derivative]") {
  test::TestScene scene = test::floor_scene(0.5, 0.3);
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 0, 5}));
  const Stepper stepper(scene.model, {});
  State next;
  StepScratch scratch;
  StepRecord record;
  REQUIRE(stepper.step(scene.state, {}, next, scratch, &record).status == StepStatus::ok);
  CHECK(next.X_WB[0].p == scene.state.X_WB[0].p);
  CHECK(next.X_WB[0].q.coeffs() == scene.state.X_WB[0].q.coeffs());
  CHECK(next.time == scene.state.time + stepper.config().h);

  StateTangent next_bar(2), state_bar;
  next_bar.pose[0] << 1, 2, 3, 4, 5, 6;
  std::vector<Vec6<double>> wrench_bar(2, Vec6<double>::Zero());
  ModelGradient model_bar;
  model_bar.set_zero(scene.model);
  const StepBar bar{&next_bar, &state_bar, wrench_bar, &model_bar};
  stepper.step_vjp(scene.state, {}, next, record, {&bar, 1}, scratch);
  CHECK(state_bar.pose[0] == next_bar.pose[0]);
  CHECK(state_bar.pose[1].isZero(0.0));
  CHECK(wrench_bar[0].isZero(0.0));
}
