#include "dynamics/rows/joint_constraints.h"
#include "dynamics/solver/momentum_balance.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "engine/joint_geometry.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace {

using namespace abut;

Body free_body(Random& random) {
  Body body;
  body.mass = random.uniform(0.5, 2.0);
  const Mat3<double> R = test::random_pose(random).rotation();
  body.inertia = R *
                 Vec3<double>(random.uniform(0.1, 0.2), random.uniform(0.1, 0.2), random.uniform(0.1, 0.2))
                     .asDiagonal() *
                 R.transpose();
  body.size = 0.8;
  return body;
}

/// Two bodies and a joint between them whose frames lie `apart` [m] and are turned by up to `turn` [rad].
struct Case {
  Model model;
  State state;
  JointSettings settings;
  MassMatrix mass;
  FreeMotion free;
  JointRows rows;

  Case(Random& random, JointKind kind, double apart, double turn, bool A_is_fixed = false) {
    model.bodies = {free_body(random), free_body(random)};
    model.bodies[0].fixed = A_is_fixed;
    state.X_WB = {test::random_pose(random), test::random_pose(random)};
    state.V_WB = {test::random_vector<6>(random), test::random_vector<6>(random)};
    Joint joint;
    joint.name = "joint";
    joint.kind = kind;
    joint.body_A = 0;
    joint.body_B = 1;
    joint.X_AJ = test::random_pose(random);
    const Pose<double> X_JJ{exp_quaternion<double>(test::random_rotation_vector(random, turn)),
                            apart * random.unit_vector()};
    joint.X_BJ = state.X_WB[1].inverse() * state.X_WB[0] * joint.X_AJ * X_JJ;
    joint.length = 0.9 * apart + 0.01;
    joint.dissipation_time = 0.004;
    model.joints = {joint};
    settings.law.h = settings.substep = 2e-3;
    settings.law.near_rigid = 2.5e-4;
    settings.law.velocity_smoothing = 0.05;
    settings.law.stiction_speed = 0.5;
    settings.law.push_out_speed = 1.0;
    update();
  }

  [[nodiscard]] Joint& joint() { return model.joints[0]; }

  void update() {
    mass.update(model, state);
    if (free.v_start.size() == 0) free.v_start = free.v_free = GrowableVector::Zero(mass.size());
    make_joint_rows(model, mass, state, settings, rows, &free);
  }
  /// J of a row, for body 0 or 1.
  [[nodiscard]] const Vec6<double>& J(std::size_t row, int body) const {
    const int i = static_cast<int>(row);
    std::size_t g = 0;
    while (i >= rows.groups[g].end) ++g;
    return rows.direction(rows.groups[g], i, body);
  }
  void set_free(Random& random) {
    free.v_start = random_velocity(random);
    free.v_free = random_velocity(random);
  }

  [[nodiscard]] GrowableVector random_velocity(Random& random) const {
    GrowableVector v(mass.size());
    for (Eigen::Index i = 0; i < v.size(); ++i) v[i] = random.uniform(-1.0, 1.0);
    return v;
  }
};

JointKind any_kind() {
  return GENERATE(JointKind::fixed, JointKind::ball, JointKind::hinge, JointKind::slider,
                  JointKind::distance);
}

/// What the rows of a kind hold at zero, in their order.
template <typename S>
std::vector<S> errors_of(JointKind kind, const JointPose<S>& pose, double length) {
  const Vec3<S> d = pose.d, turn = pose.rotation_error();
  switch (kind) {
    case JointKind::fixed:
      return {d.x(), d.y(), d.z(), turn.x(), turn.y(), turn.z()};
    case JointKind::ball:
      return {d.x(), d.y(), d.z()};
    case JointKind::hinge:
      return {d.x(), d.y(), d.z(), turn.x(), turn.y()};
    case JointKind::slider:
      return {d.x(), d.y(), turn.x(), turn.y(), turn.z()};
    case JointKind::distance:
      return {pose.distance(S(length)) - S(length)};
  }
  return {};
}

}  // namespace

TEST_CASE("JointRows: J is the derivative of the error by the poses", "[dynamics][derivative]") {
  const JointKind kind = any_kind();
  const double turn = GENERATE(0.0, 0.3, 1.5, 2.8);
  Random random(7);
  for (int repeat = 0; repeat < 5; ++repeat) {
    Case c(random, kind, 0.2, turn);
    using Jet = test::Jet<12>;
    const auto moved = [&](const Pose<double>& X, int first) {
      Vec6<Jet> tangent;
      for (int i = 0; i < 6; ++i) tangent[i] = Jet(0.0, first + i);
      return retract<Jet>(X.cast<Jet>(), tangent);
    };
    const JointPose<Jet> pose(moved(c.state.X_WB[0], 0) * c.joint().X_AJ.cast<Jet>(),
                              moved(c.state.X_WB[1], 6) * c.joint().X_BJ.cast<Jet>());
    const std::vector<Jet> errors = errors_of(kind, pose, c.joint().length);
    REQUIRE(errors.size() == c.rows.rows.size());
    for (std::size_t i = 0; i < errors.size(); ++i) {
      CAPTURE(static_cast<int>(kind), turn, repeat, i);
      const JointRow& row = c.rows.rows[i];
      CHECK(test::close(row.error, errors[i].a, 0, 1e-14));
      CHECK(test::close(c.J(i, 0), errors[i].v.head<6>(), 0, 1e-13));
      CHECK(test::close(c.J(i, 1), errors[i].v.tail<6>(), 0, 1e-13));
      CHECK(c.J(i, 1).norm() > 0.1);  // no direction is lost, up to 160 degrees
    }
  }
}

TEST_CASE("JointRows: the rate of a coordinate is that of a motor's row once what is held is zero",
          "[dynamics][derivative]") {
  const JointKind kind = GENERATE(JointKind::hinge, JointKind::slider);
  Random random(8);
  Case c(random, kind, 0.0, 0.0);
  const Vec3<double> z = Vec3<double>::UnitZ();
  const Pose<double> free = kind == JointKind::hinge
                                ? Pose<double>{exp_quaternion<double>(2.3 * z), Vec3<double>::Zero()}
                                : Pose<double>{Quat<double>::Identity(), 0.4 * z};
  c.joint().X_BJ = c.state.X_WB[1].inverse() * c.state.X_WB[0] * c.joint().X_AJ * free;
  c.joint().motor = {MotorKind::velocity, 0.3};
  c.joint().lower = -2.9;
  c.joint().upper = 2.5;
  c.update();
  CHECK(test::close(joint_coordinate(c.model, 0, c.state), kind == JointKind::hinge ? 2.3 : 0.4, 1e-14, 0));
  constexpr std::size_t k_motor = 5, k_lower = 6, k_upper = 7;
  REQUIRE(c.rows.rows[k_motor].law == JointLaw::motor);
  for (int side = 0; side < 2; ++side) {
    const auto coordinate = [&](const Vec6<double>& tangent) {
      State state = c.state;
      auto& X = state.X_WB[static_cast<std::size_t>(side)];
      X = retract<double>(X, tangent);
      return Vec3<double>(joint_coordinate(c.model, 0, state), 0, 0);
    };
    const auto J = test::fd_jacobian(coordinate, Vec6<double>(Vec6<double>::Zero()), 1e-5);
    CHECK(test::close(c.J(k_motor, side), J.row(0).transpose(), 0, 1e-9));
  }
  const auto arm = [](const Pose<double>& X) {
    return 0.4 * 0.4 + X.p.squaredNorm();
  };  // half the size of a body
  const double both = 1.0 / arm(c.joint().X_AJ) + 1.0 / arm(c.joint().X_BJ);
  const double radius = kind == JointKind::hinge ? 1.0 / std::sqrt(both) : 1.0;
  CHECK(test::close(c.J(k_lower, 1), radius * c.J(k_motor, 1), 1e-14, 0));
  CHECK(test::close(c.J(k_upper, 1), -radius * c.J(k_motor, 1), 1e-14, 0));
}

TEST_CASE("JointRows: the impulses on two free bodies cancel, about any point", "[dynamics][property]") {
  const JointKind kind = any_kind();
  Random random(9);
  for (int repeat = 0; repeat < 5; ++repeat) {
    Case c(random, kind, 0.3, 1.0);
    if (has_coordinate(kind)) {
      c.joint().motor = {MotorKind::position, 0.3, 10.0, 1.0};
      c.joint().lower = -3.0;
      c.joint().upper = 3.0;
      c.update();
    }
    for (std::size_t i = 0; i < c.rows.rows.size(); ++i) {
      const auto about_origin = [](const Pose<double>& X, const Vec6<double>& J) {
        return Vec3<double>(J.head<3>() + X.p.cross(J.tail<3>()));
      };
      const Vec6<double>&J_A = c.J(i, 0), &J_B = c.J(i, 1);
      CHECK((J_A.tail<3>() + J_B.tail<3>()).norm() < 1e-15);
      CHECK((about_origin(c.state.X_WB[0], J_A) + about_origin(c.state.X_WB[1], J_B)).norm() < 2e-15);
    }
  }
}

TEST_CASE("JointRows: line, gradient, sparse and dense Hessian are derivatives of each other",
          "[dynamics][derivative]") {
  Random random(10);
  Case c(random, JointKind::hinge, 0.01, 0.1);
  c.joint().motor = {MotorKind::velocity, 2.0, 0.0, 30.0, 1.5};
  c.joint().lower = 0.5 * joint_coordinate(c.model, 0, c.state);
  c.update();
  const GrowableVector v = c.random_velocity(random), dv = c.random_velocity(random);
  const auto gradient = [&](const GrowableVector& at) {
    GrowableVector g = GrowableVector::Zero(12);
    c.rows.add_gradient(at, g);
    return g;
  };
  const auto hessian = [&](const GrowableVector& at) {
    Eigen::MatrixXd H = Eigen::MatrixXd::Zero(12, 12);
    for (const JointGroup& group : c.rows.groups) {
      c.rows.each_hessian_block(
          group, at, [&](int slot, const Mat6<double>& block) { H.block<6, 6>(6 * slot, 6 * slot) += block; },
          [&](int a, int b, const Mat6<double>& block) {
            H.block<6, 6>(6 * b, 6 * a) += block;
            H.block<6, 6>(6 * a, 6 * b) += block.transpose();
          });
    }
    return H;
  };
  const Eigen::MatrixXd H = hessian(v);
  CHECK(test::close(H, H.transpose(), 1e-13, 1e-10));
  const Eigen::MatrixXd differences = test::fd_jacobian(gradient, Eigen::VectorXd(v), 1e-6);
  CHECK(test::close(H, differences, 1e-6, 1e-5 * H.norm()));

  for (const double a : {0.0, 0.7}) {
    double slope = 0.0, curvature = 0.0;
    c.rows.add_line(v, dv, a, slope, curvature);
    const GrowableVector v_a = v + a * dv;
    const Eigen::MatrixXd H_a = hessian(v_a);
    CHECK(test::close(slope, gradient(v_a).dot(dv), 1e-12, 0));
    CHECK(test::close(curvature, dv.dot(H_a * dv), 1e-12, 0));
  }

  // The balance of momentum has the same Hessian, and solves with it.
  const ContactRows no_contacts;
  const ContactProblem problem{c.mass, no_contacts, v, dv, c.settings.law.h, c.rows};
  RowBlocks no_rows;
  NewtonMemory memory;
  MomentumBalance balance(problem, c.settings.law, 1.0, no_rows, memory);
  BlockLu lu;
  REQUIRE(balance.factorize(v, RowLaw::frictionless, memory.hessian));
  REQUIRE(balance.factorize_coupled(v, lu));
  GrowableVector x = dv, y = dv, Mx;
  memory.hessian.solve_in_place(x);
  lu.solve_in_place(y);
  c.mass.multiply(x, Mx);
  CHECK(test::close(Mx + H * x, dv, 0, 1e-9));
  CHECK(test::close(x, y, 1e-9, 1e-12));
}

TEST_CASE("JointRows: a motor gives its limit and no more, whatever the speed", "[dynamics][value]") {
  Random random(11);
  Case c(random, JointKind::hinge, 0.0, 0.0);
  c.joint().motor = {MotorKind::velocity, 0.0, 0.0, k_infinity, 3.0};
  c.update();
  const double limit = c.settings.law.h * 3.0;
  std::vector<double> impulses;
  for (const double speed : {1e-12, 1.0, 1e3, 1e200}) {
    GrowableVector v = GrowableVector::Zero(12);
    v.segment<3>(6) = -speed * c.J(5, 1).head<3>();
    c.rows.impulses(v, impulses);
    CAPTURE(speed);
    CHECK(impulses[5] <= limit * (1.0 + 1e-15));
    if (speed >= 1.0) CHECK(impulses[5] > 0.999 * limit);
    const double rigid = speed / c.rows.rows[5].resistance;
    if (speed < 1e-9) CHECK(test::close(impulses[5], rigid, 1e-6, 0));
  }
}

TEST_CASE("joint_rows_vjp: every input agrees with differences", "[dynamics][derivative]") {
  const JointKind kind = any_kind();
  const bool A_is_fixed = GENERATE(false, true), is_servo = GENERATE(false, true);
  if (is_servo && !has_coordinate(kind)) return;
  Random random(12);
  Case c(random, kind, 0.05, 0.4, A_is_fixed);
  c.joint().stiffness = 3e4;
  c.joint().angular_stiffness = 2e3;
  if (has_coordinate(kind)) {
    if (is_servo) {
      c.joint().motor = {MotorKind::position, 0.2, 40.0, 3.0, 20.0};
    } else {
      c.joint().motor = {MotorKind::velocity, 0.2, 0.0, 3.0, 2.0};
    }
    c.joint().damping = 4.0;
    c.joint().friction = 1.5;
    c.joint().armature = 0.02;
    c.joint().spring_stiffness = 50.0;
    c.joint().spring_position = 0.1;
    c.set_free(random);
    const double q = joint_coordinate(c.model, 0, c.state);
    c.joint().lower = q + 1e-4;  // beyond it, and within the smoothing
    c.joint().upper = q + 2e-4;
  }
  c.update();
  const GrowableVector v = c.random_velocity(random), w = c.random_velocity(random);
  const auto value = [&](const Case& at) {
    GrowableVector g = GrowableVector::Zero(at.mass.size());
    at.rows.add_gradient(v, g);
    return -w.dot(g);
  };

  JointRowBars bars;
  bars.reset(c.rows);
  c.rows.vjp(v, w, bars);
  const auto slots = static_cast<std::size_t>(c.mass.slot_count());
  std::vector<Vec6<double>> pose(2, Vec6<double>::Zero()), twist = pose;
  std::vector<double> mass(slots, 0.0);
  std::vector<Mat3<double>> inertia_W(slots, Mat3<double>::Zero());
  std::vector<JointGradient> joints(1);
  GrowableVector v_start = GrowableVector::Zero(v.size()), v_free = v_start;
  joint_rows_vjp(c.model, c.mass, c.state, c.settings, c.rows, bars,
                 {pose, twist, mass, inertia_W, joints, {}, &v_start, &v_free}, &c.free);
  const JointGradient& bar = joints[0];

  // Values are of the order of 1e2, so that differences with a step of 1e-6 know ten digits of 1e4.
  const auto check = [&](const std::string& what, double expected, double step,
                         const std::function<void(Case&, double)>& move) {
    const double found = test::fd_derivative(
        [&](double x) {
          Case moved = c;
          move(moved, x);
          moved.update();
          return value(moved);
        },
        0.0, step);
    CAPTURE(static_cast<int>(kind), A_is_fixed, is_servo, what);
    CHECK(test::close(expected, found, 1e-5, 1e-5 * std::abs(value(c))));
  };
  const auto unit = [](int i, double x) { return Vec6<double>(x * Vec6<double>::Unit(i)); };
  for (int i = 0; i < 6; ++i) {
    for (std::size_t b = 0; b < 2; ++b) {
      // The inertia in the world turns with its body; that part belongs to who knows the inertia.
      double turned = 0.0;
      if (const int slot = c.mass.slot(static_cast<int>(b)); slot >= 0 && i < 3) {
        const Mat3<double> S = skew<double>(Vec3<double>::Unit(i)), I = c.mass.inertia_W(slot);
        turned = inertia_W[static_cast<std::size_t>(slot)].cwiseProduct(S * I - I * S).sum();
      }
      check("pose", pose[b][i] + turned, 1e-6,
            [&](Case& m, double x) { m.state.X_WB[b] = retract<double>(m.state.X_WB[b], unit(i, x)); });
    }
    if (A_is_fixed) check("twist", twist[0][i], 1e-4, [&](Case& m, double x) { m.state.V_WB[0][i] += x; });
    check("X_AJ", bar.X_AJ[i], 1e-6,
          [&](Case& m, double x) { m.joint().X_AJ = retract<double>(m.joint().X_AJ, unit(i, x)); });
    check("X_BJ", bar.X_BJ[i], 1e-6,
          [&](Case& m, double x) { m.joint().X_BJ = retract<double>(m.joint().X_BJ, unit(i, x)); });
  }
  check("length", bar.length, 1e-6, [](Case& m, double x) { m.joint().length += x; });
  check("stiffness", -bar.compliance / (3e4 * 3e4), 1.0, [](Case& m, double x) { m.joint().stiffness += x; });
  check("angular stiffness", -bar.angular_compliance / (2e3 * 2e3), 0.1,
        [](Case& m, double x) { m.joint().angular_stiffness += x; });
  check("dissipation time", bar.dissipation_time, 1e-8,
        [](Case& m, double x) { m.joint().dissipation_time += x; });
  check("lower", bar.lower, 1e-8, [](Case& m, double x) { m.joint().lower += x; });
  check("upper", bar.upper, 1e-8, [](Case& m, double x) { m.joint().upper += x; });
  check("target", bar.motor.target, 1e-5, [](Case& m, double x) { m.joint().motor.target += x; });
  check("motor stiffness", bar.motor.stiffness, 1e-3,
        [](Case& m, double x) { m.joint().motor.stiffness += x; });
  check("motor damping", bar.motor.damping, 1e-4, [](Case& m, double x) { m.joint().motor.damping += x; });
  check("motor limit", bar.motor.limit, 1e-4, [](Case& m, double x) { m.joint().motor.limit += x; });
  check("damping", bar.damping, 1e-4, [](Case& m, double x) { m.joint().damping += x; });
  check("armature", bar.armature, 1e-7, [](Case& m, double x) { m.joint().armature += x; });
  check("spring stiffness", bar.spring_stiffness, 1e-3,
        [](Case& m, double x) { m.joint().spring_stiffness += x; });
  check("spring position", bar.spring_position, 1e-6,
        [](Case& m, double x) { m.joint().spring_position += x; });
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    check("start velocity", v_start[i], 1e-4, [&](Case& m, double x) { m.free.v_start[i] += x; });
    check("free velocity", v_free[i], 1e-4, [&](Case& m, double x) { m.free.v_free[i] += x; });
  }
  check("friction", bar.friction, 1e-4, [](Case& m, double x) { m.joint().friction += x; });
  const int last = c.mass.slot(1);
  check("mass", mass[static_cast<std::size_t>(last)], 1e-5,
        [](Case& m, double x) { m.model.bodies[1].mass += x; });
  const Mat3<double> R = c.state.X_WB[1].rotation();
  const Mat3<double> inertia_B = R.transpose() * inertia_W[static_cast<std::size_t>(last)] * R;
  for (int i = 0; i < 3; ++i)
    check("inertia", inertia_B(i, i), 1e-6, [&](Case& m, double x) { m.model.bodies[1].inertia(i, i) += x; });
}
