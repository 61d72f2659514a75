// The energy that an impact adds to a body.
#include <catch2/catch.hpp>

#include "dynamics/contact_laws/impact.h"
#include "dynamics/contact_laws/impact_energy.h"
#include "engine/random.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using impact::BodyMotion;

/// Everything of a motion as one vector: vectors, inertia, mass, h.
constexpr int k_size = 7 * 3 + 9 + 3;

template <typename T>
BodyMotion<T> motion_of(const Eigen::Matrix<T, k_size, 1>& x) {
  BodyMotion<T> motion;
  int i = 0;
  for (Vec3<T>* part : {&motion.w, &motion.v, &motion.turn, &motion.way, &motion.w_free, &motion.v_free,
                        &motion.acceleration}) {
    *part = x.template segment<3>(i);
    i += 3;
  }
  motion.inertia_W = Eigen::Map<const Mat3<T>>(x.data() + i);
  motion.mass = x[i + 9];
  motion.h = x[i + 10];
  motion.tau = x[i + 11];
  return motion;
}

Eigen::Matrix<double, k_size, 1> vector_of(const BodyMotion<double>& motion) {
  Eigen::Matrix<double, k_size, 1> x;
  x << motion.w, motion.v, motion.turn, motion.way, motion.w_free, motion.v_free, motion.acceleration,
      Eigen::Map<const Eigen::Matrix<double, 9, 1>>(motion.inertia_W.data()), motion.mass, motion.h,
      motion.tau;
  return x;
}

BodyMotion<double> random_motion(Random& random, double spin) {
  BodyMotion<double> motion;
  motion.w = test::random_vector(random, spin);
  motion.w_free = test::random_vector(random, spin);
  motion.v = test::random_vector(random, 3.0);
  motion.v_free = test::random_vector(random, 3.0);
  motion.acceleration = test::random_vector(random, 10.0);
  motion.turn = test::random_vector(random, 0.1);
  motion.way = test::random_vector(random, 0.02);
  const Mat3<double> R = exp_so3<double>(test::random_vector(random, 2.0));
  motion.inertia_W = R * Vec3<double>(1e-2, 2e-2, 2.5e-2).asDiagonal() * R.transpose();
  motion.mass = random.uniform(0.5, 2.0);
  motion.h = random.uniform(1e-3, 3e-2);
  motion.tau = random.uniform(-0.5, 0.5) * motion.h;
  return motion;
}

}  // namespace

TEST_CASE("impact_energy: the gradient agrees with Jets, fast and slow, without spin too",
          "[dynamics][derivative]") {
  const double spin = GENERATE(0.0, 1e-6, 1.0, 30.0);
  Random random(3);
  for (int i = 0; i < 50; ++i) {
    const BodyMotion<double> motion = random_motion(random, spin);
    const Eigen::Matrix<double, k_size, 1> x = vector_of(motion);
    const auto jet = test::jet_gradient([](const auto& at) { return impact::energy_gain(motion_of(at)); }, x);
    const Eigen::Matrix<double, k_size, 1> gradient = vector_of(impact::energy_gain_gradient(motion));
    CAPTURE(spin, i, (gradient - jet).transpose());
    CHECK((gradient - jet).norm() <= 1e-12 * jet.norm());
  }
}

TEST_CASE("impact_energy: what no impact changes gains nothing, a central one what its velocities say",
          "[dynamics][value]") {
  Random random(5);
  BodyMotion<double> motion = random_motion(random, 10.0);
  motion.w = motion.w_free;
  motion.v = motion.v_free;
  motion.turn.setZero();
  motion.way.setZero();
  CHECK(std::abs(impact::energy_gain(motion)) < 1e-15);
  motion.v += Vec3<double>(1, 0, 0);
  motion.acceleration.setZero();
  CHECK(test::close(impact::energy_gain(motion),
                    0.5 * motion.mass * (motion.v.squaredNorm() - motion.v_free.squaredNorm()), 1e-12, 0));
}

TEST_CASE("impact_energy: a ball that bounces off the floor keeps its energy", "[dynamics][value]") {
  // It falls to the floor in t, hits it at v* + a (t - H/2), leaves at minus that, and falls for the rest.
  Random random(6);
  for (int i = 0; i < 50; ++i) {
    BodyMotion<double> motion = random_motion(random, 0.0);
    const double H = motion.h, t = random.uniform(0.0, H);
    motion.tau = 0.5 * H;
    motion.acceleration = Vec3<double>(0, 0, -9.81);
    const Vec3<double> later = motion.acceleration * (0.5 * H - t);
    motion.v_free = Vec3<double>(random.uniform(-1.0, 1.0), 0, -3);
    motion.v = motion.v_free;
    motion.v.z() = -(motion.v_free - later).z() + later.z();
    motion.turn.setZero();
    motion.way = -t * (motion.v - motion.v_free);
    const double energy = 0.5 * motion.mass * motion.v_free.squaredNorm();
    CAPTURE(i, t, motion.v.transpose());
    CHECK(std::abs(impact::energy_gain(motion)) < 1e-13 * energy);
  }
}
