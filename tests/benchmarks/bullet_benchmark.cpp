/// Steps of settled boxes in Bullet, for comparison: what step_settled() of settled_benchmark.cpp measures.
#ifdef ABUT_HAVE_BULLET

#include <benchmark/benchmark.h>
#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "scenes.h"

namespace abut::benchmarks {
namespace {

btVector3 bullet_vector(const Vec3<double>& v) { return {v.x(), v.y(), v.z()}; }

btTransform bullet_transform(const Pose<double>& X) {
  return btTransform(btQuaternion(X.q.x(), X.q.y(), X.q.z(), X.q.w()), bullet_vector(X.p));
}

/// A scene of ours as Bullet sees it, in double precision.
///
/// Mass, gravity, time step and the friction of equal bodies are those of the model; the edges of boxes are
/// not rounded, and their inertia is that of a box. No body is put to sleep. The rest of Bullet's settings
/// are its defaults, ten iterations of the sequential-impulse solver among them.
class BulletPeer {
 public:
  /// Throws std::invalid_argument for shapes other than one box or one half-space.
  explicit BulletPeer(const Scene& scene) : h_(scene.config.step.h) {
    world_.setGravity(bullet_vector(scene.model.gravity));
    for (std::size_t b = 0; b < scene.model.bodies.size(); ++b)
      add(scene.model.bodies[b], scene.initial.X_WB[b]);
  }
  ~BulletPeer() {
    for (const auto& body : bodies_) world_.removeRigidBody(body.get());
  }
  BulletPeer(const BulletPeer&) = delete;
  BulletPeer& operator=(const BulletPeer&) = delete;

  void step() { world_.stepSimulation(h_, 0); }  // 0 substeps: one step of h

  [[nodiscard]] int contacts() {
    int contacts = 0;
    for (int k = 0; k < dispatcher_.getNumManifolds(); ++k)
      contacts += dispatcher_.getManifoldByIndexInternal(k)->getNumContacts();
    return contacts;
  }

  /// Of the fastest body [m/s].
  [[nodiscard]] double largest_speed() const {
    double speed = 0.0;
    for (const auto& body : bodies_) speed = std::max<double>(speed, body->getLinearVelocity().length());
    return speed;
  }

 private:
  void add(const Body& body, const Pose<double>& X_WB) {
    if (body.shape.primitives.size() != 1)
      throw std::invalid_argument("one primitive is translated for Bullet");
    const Primitive& primitive = body.shape.primitives.front();
    const auto& p = primitive.parameters;
    if (primitive.kind == PrimitiveKind::half_space) {
      shapes_.push_back(std::make_unique<btStaticPlaneShape>(btVector3(0, 0, 1), 0));
    } else if (primitive.kind == PrimitiveKind::rounded_box) {
      shapes_.push_back(std::make_unique<btBoxShape>(btVector3(p[0], p[1], p[2])));
    } else {
      throw std::invalid_argument("this kind of primitive is not translated for Bullet");
    }
    const double mass = body.fixed ? 0.0 : body.mass;
    btVector3 inertia(0, 0, 0);
    if (!body.fixed) shapes_.back()->calculateLocalInertia(mass, inertia);
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shapes_.back().get(), inertia);
    info.m_startWorldTransform = bullet_transform(X_WB);
    info.m_friction = std::sqrt(body.material.friction);  // Bullet multiplies those of both bodies
    bodies_.push_back(std::make_unique<btRigidBody>(info));
    bodies_.back()->setActivationState(DISABLE_DEACTIVATION);
    world_.addRigidBody(bodies_.back().get());
  }

  double h_;
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_{&configuration_};
  btDbvtBroadphase broadphase_;
  btSequentialImpulseConstraintSolver solver_;
  btDiscreteDynamicsWorld world_{&dispatcher_, &broadphase_, &solver_, &configuration_};
  std::vector<std::unique_ptr<btCollisionShape>> shapes_;
  std::vector<std::unique_ptr<btRigidBody>> bodies_;
};

void step_settled(benchmark::State& state, const char* name, int settling) {
  constexpr int k_steps = 50;
  BulletPeer peer(read_benchmark_scene(name));
  for (int k = 0; k < settling; ++k) peer.step();
  double contacts = 0.0;
  while (state.KeepRunningBatch(k_steps)) {
    for (int k = 0; k < k_steps; ++k) {
      peer.step();
      contacts += peer.contacts();
    }
  }
  const auto measured = static_cast<double>(state.iterations());
  state.counters["steps_per_second"] = benchmark::Counter(measured, benchmark::Counter::kIsRate);
  state.counters["contacts"] = contacts / measured;
  state.counters["largest_speed"] = peer.largest_speed();
}

BENCHMARK_CAPTURE(step_settled, box_stack, "box_stack", 1000)
    ->Name("bullet/step/box_stack_10")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(step_settled, box_pile, "box_pile", 1600)
    ->Name("bullet/step/box_pile_100")
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace abut::benchmarks

#endif
