/// Random drops and blows: bodies that fall on a floor, or on others at rest on it, and bodies in a row that meet
/// in free flight.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "dynamics/rollout/rollout.h"
#include "tests/support/impacts.h"
#include "tests/support/scenes.h"

namespace abut::test {

/// A sphere, box or capsule of 6 to 20 cm, and how high its centre is when it lies on a floor [m].
inline std::pair<Body, double> random_solid(Random& random, double mass) {
  const double size = random.uniform(0.03, 0.1);
  const auto kind = random.integer(3);
  if (kind == 0) return {sphere_of_mass(size, mass), size};
  if (kind == 1) {
    const Vec3<double> half = size * Vec3<double>(random.uniform(0.6, 1.0), random.uniform(0.6, 1.0), 1.0);
    return {box_of_mass(half, mass, 1), half.z()};
  }
  Body capsule = make_capsule(0.5 * size, 0.5 * size, 1000.0);
  set_mass(capsule, mass);
  return {std::move(capsule), size};  // upright
}

/// The largest distance of a contact point's surface from the centre [m].
inline double reach_of(const Body& body) {
  double reach = 0.0;
  for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i)
    reach = std::max(reach, body.contact_points.col(i).norm() + body.contact_radius);
  return reach;
}

/// A body that falls on the floor (body 0) or on one to three others that rest on it, in a row or on each other,
/// or that hits them from the side. Those at rest have 1 kg, it has 10^-3 to 10^3 kg. Friction and restitution
/// are between 0 and 1, the latter 0 or 1 in a tenth of the scenes each.
inline TestScene random_drop(Random& random) {
  TestScene scene = floor_scene();
  const auto at_rest = static_cast<int>(random.integer(4));
  const bool is_stack = random.uniform()<0.5, from_side = at_rest> 0 && random.uniform() < 0.3;
  double top = 0.0, along = 0.0, hit_height = 0.05;
  for (int i = 0; i < at_rest; ++i) {
    if (is_stack && at_rest > 1) {
      const double half = 0.05;
      scene.add(box_of_mass(Vec3<double>::Constant(half), 1.0, 1), pose_at({0, 0, top + half}));
      hit_height = top + half;
      top += 2.0 * half;
    } else {
      auto [body, height] = random_solid(random, 1.0);
      const double reach = reach_of(body);
      if (i > 0) along += reach;
      scene.add(std::move(body), pose_at({along, 0, height}));
      along += reach + 1e-3;
      if (i == 0) hit_height = height;
      top = std::max(top, 2.0 * height);
    }
  }
  Body striker = random_solid(random, std::pow(10.0, random.uniform(-3.0, 3.0))).first;
  const double reach = reach_of(striker), speed = random.uniform(0.5, 3.0), way = random.uniform(0.01, 0.3);
  Vec3<double> p(random.uniform(-0.03, 0.03), random.uniform(-0.03, 0.03), top + reach + way),
      v(random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0), -speed);
  if (from_side) {
    p = {-0.1 * std::sqrt(3.0) - reach - 0.2 * way, random.uniform(-0.03, 0.03), std::max(hit_height, reach)};
    v = {speed + 1.0, 0.0, 0.0};
  }
  scene.add(std::move(striker), {random.quaternion(), p}, stack<double>(random_vector(random, 5.0), v));
  const double draw = random.uniform(), restitution = draw < 0.1 ? 0.0 : draw < 0.2 ? 1.0 : random.uniform();
  const double friction = random.uniform();
  for (Body& body : scene.model.bodies) {
    body.material.restitution = restitution;
    body.material.friction = friction;
  }
  return scene;
}

/// Lets all but the last body come to rest, while that one is far above: bodies that touch exactly rise to the
/// gap at which the law lets them rest. Goes on for up to ten times as many steps while a body is faster than
/// 1e-3 g h, as on the springs of `impedance`, which bodies that touch exactly fall into.
inline void settle(TestScene& scene, const StepConfig& config, int steps) {
  constexpr double k_far = 1e3, k_slow = 1e-3;
  constexpr int k_most = 10;
  State state = scene.state;
  state.X_WB.back().p.z() += k_far;
  const Stepper stepper(scene.model, config);
  StepScratch scratch;
  State settled = state;
  const auto is_at_rest = [&] {
    return std::all_of(settled.V_WB.begin(), settled.V_WB.end() - 1, [&](const Vec6<double>& V) {
      return V.tail<3>().norm() <= k_slow * scene.model.gravity.norm() * config.h;
    });
  };
  for (int k = 0; k == 0 || (k < k_most && !is_at_rest()); ++k) {
    (void)simulate(stepper, state, steps, {}, settled, scratch);
    state = settled;
  }
  settled.X_WB.back() = scene.state.X_WB.back();
  settled.V_WB.back() = scene.state.V_WB.back();
  scene.state = settled;
}

/// A box of 1 kg at rest on a floor and one that falls on it, `ratio` times as heavy, tilted at random.
inline TestScene random_blow(Random& random, double ratio, double restitution) {
  TestScene scene = floor_scene();
  scene.add(box_of_mass({0.05, 0.05, 0.05}, 1.0, 1), pose_at({0, 0, 0.05}));
  const Vec3<double> aside = random_vector(random, 0.02);
  scene.add(box_of_mass({0.05, 0.05, 0.05}, ratio, 1),
            pose_at({aside.x(), aside.y(), 0.17 + random.uniform(0.0, 0.02)}, random_vector(random, 0.3)),
            moving_at({0, 0, -1.5}));
  for (Body& body : scene.model.bodies) body.material.restitution = restitution;
  return scene;
}

/// Four spheres or boxes of 1 g to 1 kg in a row along x without gravity, 0.5 mm apart or more, and the first of
/// them coming at 3 m/s; restitution 0.5 to 1, friction 0 to 1.
inline TestScene random_free_row(Random& random) {
  TestScene scene;
  scene.model.gravity.setZero();
  const bool are_spheres = random.uniform() < 0.5;
  double x = 0.0;
  for (int i = 0; i < 4; ++i) {
    const double mass = std::pow(10.0, random.uniform(-3.0, 0.0)), half = 0.05;
    Body body = are_spheres ? sphere_of_mass(half, mass) : box_of_mass(Vec3<double>::Constant(half), mass, 1);
    const double gap = i == 1 ? 0.02 : random.uniform(5e-4, 2e-3);
    const Vec3<double> turn = are_spheres ? Vec3<double>(Vec3<double>::Zero()) : random_vector(random, 0.05);
    if (i > 0) x += 2.0 * half + gap + (are_spheres ? 0.0 : 0.012);
    scene.add(std::move(body),
              pose_at(Vec3<double>(x, random.uniform(-0.02, 0.02), random.uniform(-0.02, 0.02)), turn),
              i == 0 ? stack<double>(random_vector(random, 3.0), Vec3<double>(3.0, 0, 0))
                     : Vec6<double>(Vec6<double>::Zero()));
  }
  const double restitution = random.uniform(0.5, 1.0), friction = random.uniform();
  for (Body& body : scene.model.bodies) {
    body.material.restitution = restitution;
    body.material.friction = friction;
  }
  return scene;
}

}  // namespace abut::test
