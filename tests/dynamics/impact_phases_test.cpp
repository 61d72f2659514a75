// Impacts one after the other within a step: derivatives, replay, forces, conservation, order of bodies.
#include "dynamics/step/contact_force.h"
#include "dynamics/step/impact_phases.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/rollout/rollout_jvp.h"
#include "dynamics/step/step_memory.h"
#include "engine/lie.h"
#include "tests/support/close.h"
#include "tests/support/fitted_derivative.h"
#include "tests/support/impacts.h"
#include "tests/support/samples.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::TestScene;

/// Bodies that meet within a few steps.
struct SwarmCase {
  TestScene scene;
  StepConfig config;
  int steps = 10;
};

const std::vector<std::string> k_swarm_kinds{"free",    "floor", "joint",    "driven plate", "blend",
                                             "cluster", "split", "substeps", "lcp",          "balls"};

/// Two to six balls and boxes around a point that they fly to, with restitution 0.1 to 1, friction 0 to 1 and
/// masses of 0.1 to 10 kg.
SwarmCase swarm_case(const std::string& kind, std::uint64_t seed) {
  Random random(seed);
  SwarmCase out;
  TestScene& scene = out.scene;
  StepConfig& config = out.config;
  config = test::impact_config(random.uniform() < 0.5 ? 2e-3 : 1e-2);
  out.steps = config.h > 5e-3 ? 12 : 50;
  const bool has_floor = kind == "floor" || kind == "split" || kind == "lcp",
             has_plate = kind == "driven plate";
  if (!has_floor && random.uniform() < 0.5) scene.model.gravity.setZero();
  const int bodies = 2 + static_cast<int>(random.integer(5));
  for (int i = 0; i < bodies; ++i) {
    const double size = random.uniform(0.04, 0.08), mass = 0.1 * std::pow(100.0, random.uniform());
    const bool is_ball = kind == "balls" || random.uniform() < 0.4;
    Body body =
        is_ball ? test::sphere_of_mass(size, mass)
                : test::box_of_mass(
                      size * Vec3<double>(random.uniform(0.6, 1.2), 1.0, random.uniform(0.6, 1.2)), mass, 1);
    const double angle = 2.0 * EIGEN_PI * (i + 0.2 * random.uniform(-1, 1)) / bodies,
                 radius = std::max(0.13, 0.055 * bodies) + random.uniform(0.0, 0.03);
    const Vec3<double> out_there(std::cos(angle), std::sin(angle), random.uniform(-0.2, 0.2));
    scene.add(std::move(body),
              test::pose_at(radius * out_there + Vec3<double>(0, 0, 0.12), test::random_vector(random, 2.0)),
              stack<double>(
                  test::random_vector(random, 6.0),
                  Vec3<double>(-random.uniform(1.5, 4.0) * out_there + test::random_vector(random, 0.3))));
  }
  if (has_floor) scene.add(make_half_space());
  if (has_plate) {  // that moves upwards
    Body plate = test::box_of_mass({0.3, 0.3, 0.03}, 1.0, 1);
    plate.fixed = true;
    scene.add(std::move(plate), test::pose_at({0, 0, -0.05}, {0.1, 0.05, 0}),
              stack<double>(Vec3<double>(0.2, 0, 0.3), Vec3<double>(0.2, 0.1, 1.5)));
  }
  const double restitution = random.uniform(0.1, 1.0), friction = random.uniform();
  for (Body& body : scene.model.bodies) {
    body.material.restitution = restitution;
    body.material.friction = friction;
  }
  if (kind == "joint") {
    Joint joint;
    joint.name = "elbow";
    joint.kind = random.uniform() < 0.5 ? JointKind::ball : JointKind::hinge;
    joint.body_A = 0;
    joint.body_B = 1;
    const Pose<double> X_WJ = test::pose_at(0.5 * (scene.X_WB(0).p + scene.X_WB(1).p));
    joint.X_AJ = scene.X_WB(0).inverse() * X_WJ;
    joint.X_BJ = scene.X_WB(1).inverse() * X_WJ;
    scene.V_WB(1) = scene.V_WB(0);
    scene.V_WB(1).tail<3>() += scene.V_WB(0).head<3>().cross(scene.X_WB(1).p - scene.X_WB(0).p);
    scene.model.joints.push_back(joint);
  }
  if (kind == "blend") config.contact.reduction = Reduction::blend;
  if (kind == "cluster") config.contact.reduction = Reduction::cluster;
  if (kind == "split") config.push_out = PushOut::split;
  if (kind == "lcp") config.law = ContactLaw::lcp;
  if (kind == "substeps") {
    config.adaptive_substeps = true;
    config.penetration_growth = 2e-4;
  }
  return out;
}

/// How far a body's numbers move along a direction of all inputs.
RolloutDirection swarm_direction(const TestScene& scene, Random& random) {
  RolloutDirection direction;
  direction.initial.set_zero(scene.model.body_count());
  direction.bodies.resize(scene.model.bodies.size());
  for (std::size_t b = 0; b < scene.model.bodies.size(); ++b) {
    const Body& body = scene.model.bodies[b];
    BodyDirection& d = direction.bodies[b];
    d.restitution = 0.1 * random.uniform(-1, 1);
    d.friction = 0.1 * random.uniform(-1, 1);
    direction.initial.pose[b] = 0.01 * test::random_vector<6>(random);
    // A floor that moves does work of its own: it has no bound of energy, however slow it is.
    if (!(body.fixed && scene.state.V_WB[b].isZero(0.0)))
      direction.initial.twist[b] = test::random_vector<6>(random);
    if (body.fixed) continue;
    d.mass = 0.1 * body.mass * random.uniform(-1, 1);
    d.inertia = 0.1 * random.uniform(-1, 1) * body.inertia;
  }
  return direction;
}

TestScene moved_swarm(const TestScene& scene, const RolloutDirection& direction, double t) {
  TestScene moved = scene;
  for (std::size_t b = 0; b < scene.model.bodies.size(); ++b) {
    const BodyDirection& d = direction.bodies[b];
    moved.state.X_WB[b] = retract<double>(moved.state.X_WB[b], t * direction.initial.pose[b]);
    moved.state.V_WB[b] += t * direction.initial.twist[b];
    Body& body = moved.model.bodies[b];
    body.material.restitution += t * d.restitution;
    body.material.friction += t * d.friction;
    if (body.fixed) continue;
    body.mass += t * d.mass;
    body.inertia += t * d.inertia;
  }
  return moved;
}

struct SwarmGradient {
  bool is_compared = false;  ///< there are impacts
  double slope = 0, forward = 0, scale = 0;
  double by_restitution = 0;  ///< its part of the slope
  test::FittedDerivative reference;
  int impacts = 0, most_in_step = 0, near_kink = 0;
};

/// Half ranges of the inputs that a rollout is differentiated over: the usual first.
constexpr double k_widths[] = {1e-5, 3e-6, 1e-6, 3e-5, 1e-4, 3e-7,  1e-7, 3e-4,
                               1e-3, 3e-8, 1e-8, 3e-9, 1e-9, 3e-10, 1e-10};

/// To this Newton's method ends on the same iterate at neighbouring points. To 1e-12 rounding decides on its last
/// ones, and impacts upon impacts magnify that to 1e-9 and more of the end.
constexpr double k_gradient_tolerance = 1e-10;

SwarmGradient swarm_gradient(SwarmCase swarm, Random& random) {
  SwarmGradient out;
  swarm.config.tolerance = k_gradient_tolerance;
  const TestScene& scene = swarm.scene;
  const Stepper stepper(scene.model, swarm.config);
  const Trajectory trajectory = rollout(stepper, scene.state, swarm.steps);
  if (!trajectory.ok()) return out;
  for (const StepRecord& record : trajectory.records) {
    out.impacts += record.report.impacts;
    out.most_in_step = std::max(out.most_in_step, record.report.impacts);
  }
  if (out.impacts == 0) return out;
  out.is_compared = true;
  const StateTangent weights = test::random_tangent(random, scene.model.body_count());
  RolloutDirection direction = swarm_direction(scene, random);
  const auto bodies = scene.model.bodies.size();
  const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
    if (k != swarm.steps) return;
    for (std::size_t b = 0; b < bodies; ++b) {
      bar.pose[b] += weights.pose[b];
      bar.twist[b] += weights.twist[b];
    }
  });
  out.near_kink = gradient.health.contacts_near_kink;
  const auto add = [&](double term) {
    out.slope += term;
    out.scale += std::abs(term);
  };
  for (std::size_t b = 0; b < bodies; ++b) {
    add(gradient.initial.pose[b].dot(direction.initial.pose[b]));
    add(gradient.initial.twist[b].dot(direction.initial.twist[b]));
    const BodyGradient& by = gradient.model.bodies[b];
    const BodyDirection& d = direction.bodies[b];
    add(by.restitution * d.restitution);
    out.by_restitution += by.restitution * d.restitution;
    add(by.friction * d.friction);
    add(by.mass * d.mass);
    add(by.inertia.cwiseProduct(d.inertia).sum());
  }
  out.forward = out.slope;
  if (stepper.has_jvp())
    out.forward = test::inner_product(weights, rollout_jvp(stepper, trajectory, direction).back());
  const auto loss = [&](double t) {
    const TestScene moved = moved_swarm(scene, direction, t);
    State end;
    (void)simulate(Stepper(moved.model, swarm.config), moved.state, swarm.steps, {}, end);
    double sum = 0.0;
    for (std::size_t b = 0; b < bodies; ++b)
      sum += weights.pose[b].dot(difference(end.X_WB[b], trajectory.states.back().X_WB[b])) +
             weights.twist[b].dot(end.V_WB[b] - trajectory.states.back().V_WB[b]);
    return sum;
  };
  out.reference = test::fitted_derivative(loss, 0.0, k_widths);
  return out;
}

}  // namespace

TEST_CASE("ImpactPhases: adjoint and JVP agree with differences of rollouts through many impacts",
          "[dynamics][derivative][nightly]") {
  int compared = 0, right = 0, wrong = 0, unresolved = 0, impacts = 0, several = 0;
  int right_if_off = 0, right_without_restitution = 0;  // what the comparison makes of wrong adjoints
  for (const std::uint64_t seed : test::seeds(300)) {
    const std::string& kind = k_swarm_kinds[seed % k_swarm_kinds.size()];
    Random random(1000 + seed);
    const SwarmGradient got = swarm_gradient(swarm_case(kind, seed), random);
    if (!got.is_compared) continue;
    const test::FittedDerivative& reference = got.reference;
    CAPTURE(seed, kind, got.slope, got.forward, got.scale, reference.value, reference.error, got.impacts,
            got.near_kink);
    CHECK(std::abs(got.forward - got.slope) <= 1e-9 * got.scale);
    ++compared;
    impacts += got.impacts;
    several += got.most_in_step > 1;
    if (!reference.is_resolved()) {  // a motion that magnifies rounding by 10^5 has no more digits
      ++unresolved;
      CHECK(std::abs(got.slope - reference.value) <= 3.0 * reference.error);
      continue;
    }
    right_if_off += reference.agrees_with(got.slope + 2.0 * reference.tolerance());
    right_without_restitution += reference.agrees_with(got.slope - got.by_restitution);
    if (reference.agrees_with(got.slope)) {
      ++right;
    } else {  // how far a pair that is loaded in part answers, by its load, is left out; health counts these
      ++wrong;
      CHECK(got.near_kink > 0);
    }
  }
  CAPTURE(compared, right, wrong, unresolved, right_if_off, right_without_restitution, impacts, several);
  CHECK(compared >= test::samples(300) - test::samples(300) / 20);
  CHECK(several >= compared / 2);
  CHECK(impacts >= 5 * compared);
  CHECK(100 * wrong <= right + wrong);
  CHECK(50 * unresolved <= compared);
  CHECK(right_if_off == wrong);
  CHECK(20 * right_without_restitution <= compared);
}

TEST_CASE(
    "ImpactPhases: gradients of a joint's pose and of its bodies hold where another joint's island moves",
    "[dynamics][derivative]") {
  for (const std::uint64_t seed : {22, 132, 172, 242, 282}) {
    const SwarmCase swarm = swarm_case("joint", seed);
    Random random(1000 + seed);
    const SwarmGradient got = swarm_gradient(swarm, random);
    CAPTURE(seed, got.slope, got.forward, got.reference.value, got.reference.error);
    REQUIRE(got.impacts > 0);
    CHECK(got.reference.is_resolved());
    CHECK(got.reference.agrees_with(got.slope));
  }
}

TEST_CASE("ImpactPhases: boxes that others squeeze from all sides do not close again and again",
          "[dynamics][property]") {
  // 18 cubes that start in each other, in a bin: opposite normals leave some of them approach by g h/50 and more.
  constexpr int k_side = 3, k_layers = 2, k_steps = 6;
  const double restitution = GENERATE(0.2, 1.0), h = GENERATE(1e-3, 2e-3, 5e-3);
  TestScene scene = test::floor_scene();
  Random random(1);
  for (int side = 0; side < 4; ++side) {
    const double angle = 0.5 * EIGEN_PI * side;
    const Vec3<double> inwards(-std::cos(angle), -std::sin(angle), 0.0);
    Pose<double> X_WB = test::pose_at(-0.05 * k_side * inwards);
    X_WB.q = shortest_rotation(Vec3<double>::UnitZ(), inwards);
    scene.add(make_half_space(), X_WB);
  }
  for (int k = 0; k < k_side * k_side * k_layers; ++k) {
    Pose<double> X_WB;
    X_WB.q = random.quaternion();
    X_WB.p = {0.1 * (k % k_side - 1), 0.1 * (k / k_side % k_side - 1), 0.11 + 0.18 * (k / k_side / k_side)};
    scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 2), X_WB);
  }
  for (Body& body : scene.model.bodies) body.material.restitution = restitution;
  StepConfig config;
  config.h = h;
  const Trajectory trajectory = rollout(Stepper(scene.model, config), scene.state, k_steps);
  REQUIRE(trajectory.ok());
  int impacts = 0;
  for (const StepRecord& record : trajectory.records) {
    CAPTURE(restitution, h, record.report.impacts);
    CHECK_FALSE(record.report.are_impacts_cut_short);
    CHECK(record.report.impacts <= 18);
    impacts += record.report.impacts;
  }
  CHECK(impacts > 0);
}

TEST_CASE("ImpactPhases: the rows of impacts are those of their replay", "[dynamics][value]") {
  const std::string kind = GENERATE(from_range(k_swarm_kinds));
  int impacts = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const SwarmCase swarm = swarm_case(kind, seed);
    const Stepper stepper(swarm.scene.model, swarm.config);
    StepScratch forward, replay;
    State state = swarm.scene.state, next;
    for (int k = 0; k < swarm.steps; ++k) {
      StepRecord record;
      REQUIRE(stepper.step(state, {}, next, forward, &record).status == StepStatus::ok);
      if (record.report.impacts > 0 && record.substeps.size() == 1) {
        std::vector<ContactForce> forces;
        stepper.contact_forces(state, {}, record, replay, forces);
        const PhasesMemory &a = forward.memory().phases, &b = replay.memory().phases;
        CAPTURE(kind, seed, k);
        // A replay looks once more at impacts, at their own time.
        std::vector<const PhaseEvent*> of_forward, of_replay;
        for (std::size_t i = 0; i < a.event_count; ++i) of_forward.push_back(&a.events[i]);
        for (std::size_t i = 0; i < b.event_count; ++i) {
          const bool is_own = b.events[i].is_look && i + 1 < b.event_count && b.events[i + 1].has_impact() &&
                              b.events[i + 1].foreseen_by == static_cast<int>(i) &&
                              b.events[i + 1].time == b.events[i].time;
          if (!is_own) of_replay.push_back(&b.events[i]);
        }
        REQUIRE(of_forward.size() == of_replay.size());
        for (std::size_t i = 0; i < of_forward.size(); ++i) {
          const PhaseEvent &x = *of_forward[i], &y = *of_replay[i];
          CAPTURE(i);
          REQUIRE(x.closing == y.closing);
          REQUIRE(test::close(x.time, y.time, 1e-9, 1e-12 * swarm.config.h));
          REQUIRE(test::close(x.solution.velocity, y.solution.velocity, 1e-9, 1e-9));
          const auto require_same = [&](const ContactRows& p, const ContactRows& q) {
            // Of a cluster's contacts that lie at one point, rounding decides which are kept.
            if (kind == "cluster") return;
            REQUIRE(p.rows.size() == q.rows.size());
            for (std::size_t r = 0; r < p.rows.size(); ++r) {
              const ContactRow &f = p.rows[r], &g = q.rows[r];
              REQUIRE(f.hits == g.hits);
              REQUIRE(test::close(f.n, g.n, 0, 1e-9));
              REQUIRE(test::close(f.r_A, g.r_A, 0, 1e-9));
              REQUIRE(test::close(f.r_B, g.r_B, 0, 1e-9));
              REQUIRE(test::close(f.drift, g.drift, 0, 1e-9));
              REQUIRE(test::close(f.distance, g.distance, 0, 1e-10));
              REQUIRE(test::close(f.weight, g.weight, 0, 1e-7));
              REQUIRE(test::close(f.answers, g.answers, 0, 1e-7));
              REQUIRE(test::close(f.rebound, g.rebound, 0, 1e-8));
              REQUIRE(test::close(f.settle, g.settle, 0, 1e-8));
            }
          };
          if (x.has_impact()) require_same(x.rows, y.rows);
          require_same(x.rows_after, y.rows_after);
        }
        impacts += record.report.impacts;
      }
      state = next;
    }
  }
  CAPTURE(kind, impacts);
  CHECK(impacts >= 6);
}

TEST_CASE("ImpactPhases: contact forces of a step with impacts add up to the change of momentum",
          "[dynamics][property]") {
  const std::string kind =
      GENERATE(filter([](const std::string& of) { return of != "joint"; }, from_range(k_swarm_kinds)));
  int impacts = 0;
  for (std::uint64_t seed = 11; seed <= 18; ++seed) {
    const SwarmCase swarm = swarm_case(kind, seed);
    const Model& model = swarm.scene.model;
    const Stepper stepper(model, swarm.config);
    const Trajectory trajectory = rollout(stepper, swarm.scene.state, swarm.steps);
    REQUIRE(trajectory.ok());
    StepScratch scratch;
    for (std::size_t k = 0; k < trajectory.records.size(); ++k) {
      std::vector<ContactForce> forces;
      const State &start = trajectory.states[k], &end = trajectory.states[k + 1];
      stepper.contact_forces(start, {}, trajectory.records[k], scratch, forces);
      std::vector<Vec3<double>> sums(model.bodies.size(), Vec3<double>::Zero());
      double size = 0.0;
      for (const ContactForce& force : forces) {
        sums[static_cast<std::size_t>(force.feature.body_B)] += force.force_B_W;
        sums[static_cast<std::size_t>(force.feature.body_A)] -= force.force_B_W;
        size += force.force_B_W.norm();
      }
      for (std::size_t b = 0; b < model.bodies.size(); ++b) {
        const Body& body = model.bodies[b];
        if (body.fixed) continue;
        const double h = swarm.config.h;
        const Vec3<double> change =
            body.mass * (end.V_WB[b].tail<3>() - start.V_WB[b].tail<3>() - h * model.gravity);
        CAPTURE(kind, seed, k, b, (change / h - sums[b]).norm(), size, trajectory.records[k].report.impacts);
        // Impulses of the lcp law are computed again from velocities.
        REQUIRE((change / h - sums[b]).norm() <= 1e-8 * size + (kind == "lcp" ? 1e-6 : 1e-9));
      }
      impacts += trajectory.records[k].report.impacts;
    }
  }
  CAPTURE(kind, impacts);
  CHECK(impacts >= 8);
}

TEST_CASE("ImpactPhases: free bodies keep momentum and angular momentum through many impacts",
          "[dynamics][property][nightly]") {
  int impacts = 0;
  double worst = 0.0, worst_angular = 0.0;
  for (const std::uint64_t seed : test::seeds(300)) {
    SwarmCase swarm = swarm_case(seed % 2 == 0 ? "free" : "balls", seed);
    swarm.scene.model.gravity.setZero();
    const Model& model = swarm.scene.model;
    const Trajectory trajectory = rollout(Stepper(model, swarm.config), swarm.scene.state, swarm.steps);
    REQUIRE(trajectory.ok());
    for (const StepRecord& record : trajectory.records) impacts += record.report.impacts;
    const test::Totals start(model, swarm.scene.state), end(model, trajectory.states.back());
    double size = 0.0, angular_size = 0.0;
    for (std::size_t b = 0; b < model.bodies.size(); ++b) {
      const double p = model.bodies[b].mass * swarm.scene.state.V_WB[b].tail<3>().norm();
      size += p;
      angular_size += p * swarm.scene.state.X_WB[b].p.norm();
    }
    const double change = (end.momentum - start.momentum).norm() / size,
                 angular_change = (end.angular_momentum - start.angular_momentum).norm() / angular_size;
    worst = std::max(worst, change);
    worst_angular = std::max(worst_angular, angular_change);
    CAPTURE(seed, change, angular_change);
    CHECK(change <= 9e-13);
    CHECK(angular_change <= 7e-11);
  }
  CAPTURE(impacts, worst, worst_angular);
  CHECK(impacts >= 5 * test::samples(300));
}

TEST_CASE("ImpactPhases: results do not depend on the order of bodies", "[dynamics][property]") {
  // A reduction blends in the frame of one body of a pair, and the friction directions of the lcp law follow
  // the normal's sign.
  const std::string kind =
      GENERATE(as<std::string>{}, "free", "floor", "driven plate", "cluster", "split", "substeps", "balls");
  int impacts = 0, magnified = 0;
  for (std::uint64_t seed = 21; seed <= 32; ++seed) {
    const SwarmCase swarm = swarm_case(kind, seed);
    Random random(seed);
    const auto bodies = swarm.scene.model.bodies.size();
    std::vector<std::size_t> order(bodies);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t b = bodies; b-- > 1;) std::swap(order[b], order[random.integer(b + 1)]);
    TestScene permuted;
    permuted.model.gravity = swarm.scene.model.gravity;
    for (const std::size_t b : order)
      permuted.add(swarm.scene.model.bodies[b], swarm.scene.state.X_WB[b], swarm.scene.state.V_WB[b]);
    const Trajectory a = rollout(Stepper(swarm.scene.model, swarm.config), swarm.scene.state, swarm.steps);
    const Trajectory c = rollout(Stepper(permuted.model, swarm.config), permuted.state, swarm.steps);
    // Impacts upon impacts magnify rounding: by as much as it does when the velocities change by some of it.
    State nearly = swarm.scene.state;
    for (Vec6<double>& V : nearly.V_WB) V *= 1.0 + 1e-15;
    const Trajectory rounded = rollout(Stepper(swarm.scene.model, swarm.config), nearly, swarm.steps);
    REQUIRE(a.ok());
    REQUIRE(c.ok());
    REQUIRE(rounded.ok());
    double rounding = 0.0;
    for (std::size_t b = 0; b < bodies; ++b)
      rounding = std::max(rounding, (a.states.back().V_WB[b] - rounded.states.back().V_WB[b]).norm());
    magnified += rounding > 1e-8;
    for (std::size_t k = 0; k < a.records.size(); ++k) {
      impacts += a.records[k].report.impacts;
      CAPTURE(kind, seed, k);
      CHECK(a.records[k].report.impacts == c.records[k].report.impacts);
    }
    for (std::size_t b = 0; b < bodies; ++b) {
      const Vec6<double>&V = a.states.back().V_WB[order[b]], &V_permuted = c.states.back().V_WB[b];
      CAPTURE(kind, seed, b, (V - V_permuted).norm());
      CHECK((V - V_permuted).norm() <= 1e-7 * (1.0 + V.norm()) + 100.0 * rounding);
    }
  }
  CAPTURE(kind, impacts, magnified);
  CHECK(magnified <= 2);
  CHECK(impacts >= 12);
}
