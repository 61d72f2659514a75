#include "engine/state_arrays.h"

#include <cmath>
#include <stdexcept>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/body_builder.h"
#include "engine/random.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/cases.h"

namespace abut::test {
namespace {

constexpr int k_state_numbers = 13;  // of a body

Model state_model() {
  Model model;
  model.bodies = {make_sphere(0.1, 1000.0), make_sphere(0.2, 500.0)};
  model.bodies[0].name = "first";
  model.bodies[1].name = "second";
  model.bodies[1].p_BA = Vec3<double>(0.03, -0.02, 0.05);
  return model;
}

State random_moving_state(Random& random) {
  State state = state_at_rest(2);
  for (std::size_t b = 0; b < 2; ++b) {
    Vec3<double> turn;
    for (int i = 0; i < 3; ++i) {
      turn[i] = random.uniform(-1.0, 1.0);
      state.X_WB[b].p[i] = random.uniform(-1.0, 1.0);
    }
    state.X_WB[b].q = exp_quaternion(turn).normalized();
    for (int i = 0; i < 6; ++i) state.V_WB[b][i] = random.uniform(-1.0, 1.0);
  }
  return state;
}

/// The four arrays of two bodies, one behind the other.
struct Flat {
  std::vector<double> numbers = std::vector<double>(2 * k_state_numbers);

  [[nodiscard]] StateNumbers<double> write() {
    double* const d = numbers.data();
    return {d, d + 6, d + 14, d + 20};
  }
  [[nodiscard]] StateNumbers<const double> read() const {
    const double* const d = numbers.data();
    return {d, d + 6, d + 14, d + 20};
  }
};

/// Moves the state of body b by a tangent, or its twist.
State state_moved(State state, std::size_t b, int i, double by) {
  Vec6<double> tangent = Vec6<double>::Zero();
  tangent[i % 6] = by;
  if (i < 6) {
    state.X_WB[b] = retract(state.X_WB[b], tangent);
  } else {
    state.V_WB[b] += tangent;
  }
  return state;
}

}  // namespace

TEST_CASE("state_arrays: what is read is what was written, in the frames of files", "[engine][value]") {
  Random random(3);
  const Model model = state_model();
  const State state = random_moving_state(random);
  Flat flat;
  write_state(model, state, flat.write());
  const Vec3<double> p_WA = state.X_WB[1] * model.bodies[1].p_BA;
  CHECK(flat.numbers[3] == p_WA.x());
  CHECK(flat.numbers[6] == state.X_WB[0].q.w());
  CHECK(flat.numbers[14] == state.V_WB[0][3]);
  CHECK(flat.numbers[20] == state.V_WB[0][0]);
  State read = state_at_rest(2);
  read_state(model, flat.read(), read);
  for (std::size_t b = 0; b < 2; ++b) {
    CHECK(close(read.X_WB[b].p, state.X_WB[b].p, 1e-14, 1e-15));
    CHECK(close(read.X_WB[b].q.coeffs(), state.X_WB[b].q.coeffs(), 1e-14, 1e-15));
    CHECK(close(read.V_WB[b], state.V_WB[b], 0, 0));
  }

  SECTION("an orientation alone turns a body about the origin of its asset's frame") {
    const double turned[] = {1, 0, 0, 0, 0, 2, 0, 0};  // the second one of length 2
    State after = state;
    read_state(model, {nullptr, turned, nullptr, nullptr}, after);
    CHECK(close(Vec3<double>(after.X_WB[1] * model.bodies[1].p_BA), p_WA, 1e-14, 1e-15));
    CHECK(after.X_WB[1].q.x() == 1.0);
  }
  SECTION("what is no state is refused by the name of its body") {
    flat.numbers[6 + 4] = flat.numbers[6 + 5] = flat.numbers[6 + 6] = flat.numbers[6 + 7] = 0.0;
    CHECK_THROWS_WITH(read_state(model, flat.read(), read),
                      "body 'second': orientation_wxyz = [0, 0, 0, 0], allowed: a quaternion");
    CHECK_THROWS_AS(read_state(model, flat.read(), read), std::invalid_argument);
  }
}

TEST_CASE("state_arrays: cotangents agree with differences", "[engine][derivative]") {
  Random random(4);
  const Model model = state_model();
  const State state = random_moving_state(random);
  Flat weights;
  for (double& weight : weights.numbers) weight = random.uniform(-1.0, 1.0);
  constexpr double k_h = 1e-5;

  SECTION("of writing") {
    const auto value = [&](const Model& of_model, const State& of) {
      Flat flat;
      write_state(of_model, of, flat.write());
      double sum = 0.0;
      for (std::size_t i = 0; i < flat.numbers.size(); ++i) sum += weights.numbers[i] * flat.numbers[i];
      return sum;
    };
    StateTangent bar(2);
    std::vector<Vec3<double>> p_BA_bar(2, Vec3<double>::Zero());
    write_state_vjp(model, state, weights.read(), bar, p_BA_bar);
    for (std::size_t b = 0; b < 2; ++b) {
      for (int i = 0; i < 12; ++i) {
        CAPTURE(b, i);
        const double derivative = i < 6 ? bar.pose[b][i] : bar.twist[b][i - 6];
        const double difference =
            fd_derivative([&](double x) { return value(model, state_moved(state, b, i, x)); }, 0.0, k_h);
        CHECK(derivative != 0.0);
        CHECK(close(derivative, difference, 1e-8, 1e-9));
      }
      for (int i = 0; i < 3; ++i) {
        const auto of_frame = [&](double x) {
          Model changed = model;
          changed.bodies[b].p_BA[i] += x;
          return value(changed, state);
        };
        CHECK(close(p_BA_bar[b][i], fd_derivative(of_frame, 0.0, k_h), 1e-8, 1e-9));
      }
    }
  }

  SECTION("of reading, of quaternions of any length") {
    StateTangent bar(2);
    for (std::size_t b = 0; b < 2; ++b) {
      for (int i = 0; i < 6; ++i) {
        bar.pose[b][i] = random.uniform(-1.0, 1.0);
        bar.twist[b][i] = random.uniform(-1.0, 1.0);
      }
    }
    Flat given;
    write_state(model, state, given.write());
    for (std::size_t i = 6; i < 14; ++i) given.numbers[i] *= i < 10 ? 1.0 : 1.7;
    Flat numbers_bar;
    read_state_vjp(model, state, given.numbers.data() + 6, bar, numbers_bar.write());
    for (std::size_t i = 0; i < given.numbers.size(); ++i) {
      CAPTURE(i);
      const auto value = [&](double x) {
        Flat changed = given;
        changed.numbers[i] = x;
        State read = state_at_rest(2);
        read_state(model, changed.read(), read);
        double sum = 0.0;
        for (std::size_t b = 0; b < 2; ++b)
          sum += bar.pose[b].dot(difference(read.X_WB[b], state.X_WB[b])) + bar.twist[b].dot(read.V_WB[b]);
        return sum;
      };
      CHECK(close(numbers_bar.numbers[i], fd_derivative(value, given.numbers[i], k_h), 1e-7, 1e-8));
    }
  }
}

TEST_CASE("state_arrays: cotangents of joints agree with differences, off what joints hold, too",
          "[engine][derivative]") {
  Random random(6);
  Model model = state_model();
  for (const JointKind kind : {JointKind::hinge, JointKind::slider}) {
    for (const int body_A : {-1, 0}) {
      Joint& joint = model.joints.emplace_back();
      joint.kind = kind;
      joint.body_A = body_A;
      joint.body_B = 1;
      joint.X_AJ = random_pose(random);
      joint.X_BJ = random_pose(random);
    }
  }
  State state = random_moving_state(random);
  state.hinge_angles = {7.0, -20.0, 0.0, 0.0};
  const std::vector<double> weights{0.3, -0.7, 1.1, 0.4, -0.2, 0.9, 0.5, -1.3};
  const auto value = [&](const State& of) {
    std::vector<double> q(4), u(4);
    StateNumbers<double> to;
    to.joint_coordinate = q.data();
    to.joint_rate = u.data();
    write_state(model, of, to);
    double sum = 0.0;
    for (std::size_t i = 0; i < 4; ++i) sum += weights[i] * q[i] + weights[4 + i] * u[i];
    return sum;
  };
  StateNumbers<const double> numbers_bar;
  numbers_bar.joint_coordinate = weights.data();
  numbers_bar.joint_rate = weights.data() + 4;
  StateTangent bar(2);
  write_state_vjp(model, state, numbers_bar, bar);
  for (std::size_t b = 0; b < 2; ++b) {
    for (int i = 0; i < 12; ++i) {
      CAPTURE(b, i);
      const double derivative = i < 6 ? bar.pose[b][i] : bar.twist[b][i - 6];
      const auto moved = [&](double x) { return value(state_moved(state, b, i, x)); };
      CHECK(close(derivative, fd_derivative(moved, 0.0, 1e-5), 1e-8, 1e-9));
    }
  }
}

}  // namespace abut::test
