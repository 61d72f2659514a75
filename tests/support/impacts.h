/// Bodies that are thrown at each other, and what their impacts change.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "dynamics/rollout/rollout.h"
#include "tests/support/scenes.h"

namespace abut::test {

/// What bodies have together: momentum, angular momentum about the origin, kinetic and potential energy.
///
/// @param h  a step: energy is that at its end, while velocities are those in its middle; 0: with velocities
/// as
///           they are
struct Totals {
  Vec3<double> momentum = Vec3<double>::Zero(), angular_momentum = Vec3<double>::Zero();
  double energy = 0.0;

  Totals(const Model& model, const State& state, double h = 0.0) {
    for (std::size_t b = 0; b < model.bodies.size(); ++b) {
      const Body& body = model.bodies[b];
      const Mat3<double> R = state.X_WB[b].rotation(), I = R * body.inertia * R.transpose();
      const Vec3<double> w = state.V_WB[b].head<3>(), v = state.V_WB[b].tail<3>(), p = body.mass * v,
                         v_end = v + 0.5 * h * model.gravity;
      momentum += p;
      angular_momentum += state.X_WB[b].p.cross(p) + I * w;
      energy +=
          body.mass * (0.5 * v_end.squaredNorm() - model.gravity.dot(state.X_WB[b].p)) + 0.5 * w.dot(I * w);
    }
  }
};

enum class ThrownKind { sphere, box, capsule };

inline Body thrown_body(ThrownKind kind, double mass) {
  switch (kind) {
    case ThrownKind::sphere:
      return sphere_of_mass(0.1, mass);
    case ThrownKind::box:
      return box_of_mass({0.08, 0.1, 0.06}, mass, 1);
    case ThrownKind::capsule:
      break;
  }
  Primitive capsule;
  capsule.kind = PrimitiveKind::capsule;
  capsule.parameters = {0.06, 0.05};
  Shape shape;
  shape.primitives = {capsule};
  return star_shaped_body(shape, mass, 2);
}

/// Two bodies thrown at each other, off centre, spinning, without gravity.
inline TestScene thrown_bodies(ThrownKind kind_A, ThrownKind kind_B, double restitution, double friction,
                               Random& random) {
  TestScene scene;
  scene.model.gravity.setZero();
  for (const int side : {-1, 1}) {
    scene.add(thrown_body(side < 0 ? kind_A : kind_B, random.uniform(0.5, 2.0)),
              pose_at(Vec3<double>(0.2 * side, side < 0 ? 0.0 : 0.05, 0.0) + random_vector(random, 0.05),
                      random_vector(random, 2.0)),
              stack<double>(random_vector(random, 8.0),
                            Vec3<double>(-3.0 * side, 0, 0) + random_vector(random, 1.0)));
  }
  for (Body& body : scene.model.bodies) {
    body.material.restitution = restitution;
    body.material.friction = friction;
  }
  return scene;
}

inline StepConfig impact_config(double h) {
  StepConfig config;
  config.h = h;
  config.acceleration_scale = 9.81;
  config.tolerance = 1e-12;
  return config;
}

/// Energy a step later, had the bodies not met.
inline double free_energy(const TestScene& scene, const State& state, const StepConfig& config) {
  double sum = 0.0;
  for (std::size_t b = 0; b < scene.model.bodies.size(); ++b) {
    TestScene alone;
    alone.model.gravity = scene.model.gravity;
    alone.add(scene.model.bodies[b], state.X_WB[b], state.V_WB[b]);
    State end;
    if (simulate(Stepper(alone.model, config), alone.state, 1, {}, end).status != StepStatus::ok)
      throw std::runtime_error("a free flight failed");
    sum += Totals(alone.model, end, config.h).energy;
  }
  return sum;
}

/// What the impacts of one step add at most, over what there is. Free flight is left out: it changes the
/// energy of a spinning body by O((h w)^2).
inline double largest_gain(const TestScene& scene, const Trajectory& trajectory, const StepConfig& config) {
  double largest = 0.0;
  for (std::size_t k = 0; k < trajectory.records.size(); ++k) {
    if (trajectory.records[k].report.impacts == 0) continue;
    const double free = free_energy(scene, trajectory.states[k], config);
    const double energy = Totals(scene.model, trajectory.states[k + 1], config.h).energy;
    largest = std::max(largest, energy / free - 1.0);
  }
  return largest;
}

}  // namespace abut::test
