/// The forward derivative of rollouts: against the adjoint by dot products, against differences, and in
/// products of the Gauss-Newton matrix.
#include "dynamics/rollout/rollout_jvp.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/random.h"
#include "tests/support/close.h"
#include "tests/support/precise_config.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using Catch::Matchers::Contains;

/// All inputs at once, each of the size of what it changes.
RolloutDirection random_direction(Random& random, const Model& model, std::size_t steps) {
  RolloutDirection d;
  d.initial = test::random_tangent(random, model.body_count());
  d.gravity = test::random_vector(random, 3.0);
  for (std::size_t k = 0; k < steps; ++k) {
    auto& wrenches = d.controls.emplace_back().wrenches;
    for (int b = 0; b < model.body_count(); ++b)
      wrenches.push_back(stack<double>(test::random_vector(random, 0.01), test::random_vector(random, 0.3)));
  }
  for (const Body& body : model.bodies) {
    BodyDirection& p = d.bodies.emplace_back();
    p.friction = random.uniform(-0.3, 0.3);
    p.compliance = random.uniform(-1e-6, 1e-6);
    p.dissipation_time = random.uniform(-0.005, 0.005);
    p.restitution = random.uniform(-0.2, 0.2);
    p.linear_damping = random.uniform(-1.0, 1.0);
    p.angular_damping = random.uniform(-1.0, 1.0);
    p.external_wrench = stack<double>(test::random_vector(random, 0.01), test::random_vector(random, 0.3));
    if (body.fixed) continue;
    p.mass = 0.3 * body.mass * random.uniform(-1.0, 1.0);
    const Mat3<double> A =
        0.1 * body.inertia.trace() * Mat3<double>::NullaryExpr([&] { return random.uniform(-1.0, 1.0); });
    p.inertia = A + A.transpose();
  }
  return d;
}

double inner_product(const Gradient& gradient, const RolloutDirection& d) {
  double sum = test::inner_product(gradient.initial, d.initial) + gradient.model.gravity.dot(d.gravity);
  for (std::size_t k = 0; k < d.controls.size(); ++k) {
    for (std::size_t b = 0; b < d.controls[k].wrenches.size(); ++b)
      sum += gradient.controls[k].wrenches[b].dot(d.controls[k].wrenches[b]);
  }
  for (std::size_t b = 0; b < d.bodies.size(); ++b) {
    const BodyGradient& g = gradient.model.bodies[b];
    const BodyDirection& p = d.bodies[b];
    sum += g.mass * p.mass + g.inertia.cwiseProduct(p.inertia).sum() + g.friction * p.friction +
           g.compliance * p.compliance + g.dissipation_time * p.dissipation_time +
           g.restitution * p.restitution + g.linear_damping * p.linear_damping +
           g.angular_damping * p.angular_damping + g.external_wrench.dot(p.external_wrench);
  }
  return sum;
}

/// Random weights on all states: the dot products of both derivatives, and what measures their difference.
struct DotProducts {
  double forward = 0, backward = 0, scale = 0;
  [[nodiscard]] double error() const { return std::abs(forward - backward) / scale; }
};
DotProducts dot_products(const Stepper& stepper, const Trajectory& trajectory, Random& random) {
  const int bodies = stepper.model().body_count();
  std::vector<StateTangent> weights;
  for (std::size_t k = 0; k < trajectory.states.size(); ++k)
    weights.push_back(test::random_tangent(random, bodies));
  const RolloutDirection direction =
      random_direction(random, stepper.model(), static_cast<std::size_t>(trajectory.step_count()));
  DotProducts result;
  const StateTangents tangents = rollout_jvp(stepper, trajectory, direction);
  REQUIRE(tangents.size() == trajectory.states.size());
  for (std::size_t k = 0; k < tangents.size(); ++k) {
    result.forward += test::inner_product(weights[k], tangents[k]);
    result.scale += norm(weights[k]) * norm(tangents[k]);
  }
  const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
    const StateTangent& w = weights[static_cast<std::size_t>(k)];
    for (std::size_t b = 0; b < bar.pose.size(); ++b) {
      bar.pose[b] += w.pose[b];
      bar.twist[b] += w.twist[b];
    }
  });
  result.backward = inner_product(gradient, direction);
  return result;
}

/// Of the edges and vertices of two boxes, one on the other with a turn, on a floor.
test::TestScene boxes(Random& random, int selected_vertices) {
  test::TestScene scene = test::floor_scene(0.5, 0.05);
  double z = 0.0;
  for (int i = 0; i < 2; ++i) {
    const Vec3<double> half(0.09, 0.06, 0.04);
    Body box = test::box_of_mass(half, 0.7, 2);
    if (selected_vertices < box.contact_points.cols()) box.selected_vertices = selected_vertices;
    z += half.z() - 5e-4;
    scene.add(box, test::pose_at({0.01 * i, 0.0, z}, {0.01, 0.02 * i, 0.5 * i}),
              Vec6<double>(0.3 * test::random_vector<6>(random)));
    z += half.z();
  }
  for (Body& body : scene.model.bodies) {
    body.material.dissipation_time = 0.01;
    body.material.stiffness = 2e4;
  }
  return scene;
}

}  // namespace

TEST_CASE("rollout_jvp: its products with weights are those of the adjoint with the direction",
          "[dynamics][derivative]") {
  const ContactLaw law =
      GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty, ContactLaw::convex_cone,
               ContactLaw::impedance, ContactLaw::lcp, ContactLaw::relaxed_complementarity);
  const int steps = GENERATE(1, 10, 50), scenes = steps == 50 ? 4 : 12;
  double largest = 0.0;
  int contacts = 0, compared = 0;
  for (int i = 0; i < scenes; ++i) {
    Random random(400 + static_cast<std::uint64_t>(i));
    test::RandomSceneOptions options;
    options.aligned = i % 4 == 3;
    const test::TestScene scene = test::without_ignored(test::random_contact_scene(random, options), law);
    const Stepper stepper(scene.model, test::precise_config(law));
    const Trajectory trajectory = rollout(stepper, scene.state, steps);
    if (!trajectory.ok()) continue;
    for (const StepRecord& record : trajectory.records) contacts += record.report.contacts;
    const DotProducts products = dot_products(stepper, trajectory, random);
    CAPTURE(i, products.forward, products.backward, products.scale);
    CHECK(std::isfinite(products.scale));
    CHECK(products.error() <= 1e-8);
    largest = std::max(largest, products.error());
    ++compared;
  }
  CAPTURE(to_string(law), steps, largest);
  CHECK(compared >= scenes / 2);
  CHECK(contacts > 10 * steps);
  // The matrices of an interior point hold numbers of very different size, as slacks and impulses go to
  // kappa.
  const bool is_interior_point = law == ContactLaw::lcp || law == ContactLaw::relaxed_complementarity;
  CHECK(largest <= (steps == 50 ? 1e-8 : is_interior_point ? 5e-10 : 1e-10));
}

namespace {

/// Two boxes that touch in a way, or are held by joints.
struct ContactCase {
  test::TestScene scene;
  StepConfig config;
};

const std::vector<std::string> k_contact_kinds{
    "edges",   "edges in solids", "selected vertices",   "blend",
    "cluster", "restitution",     "restitution, lcp",    "adaptive substeps",
    "joints",  "joints, penalty", "joints, convex_cone", "joints, lcp"};

ContactCase contact_case(const std::string& kind, Random& random) {
  ContactCase result{boxes(random, kind == "selected vertices" ? 8 : 10000), {}};
  test::TestScene& scene = result.scene;
  const bool has_joints = kind.starts_with("joints"), has_impacts = kind.starts_with("restitution");
  StepConfig& config = result.config;
  config = test::precise_config(kind.ends_with("penalty")       ? ContactLaw::penalty
                                : kind.ends_with("convex_cone") ? ContactLaw::convex_cone
                                : kind.ends_with("lcp")         ? ContactLaw::lcp
                                                                : ContactLaw::smooth_coulomb);
  config.contact.edge_edge = kind == "edges" || kind == "cluster";
  config.contact.edge_sdf = kind == "edges in solids";
  if (kind == "blend") config.contact.reduction = Reduction::blend;
  if (kind == "cluster") config.contact.reduction = Reduction::cluster;
  if (kind == "adaptive substeps") config.adaptive_substeps = true;
  if (has_impacts) {
    for (Body& body : scene.model.bodies) body.material.restitution = 0.5;
    scene.V_WB(1)[5] = -1.5;
    scene.V_WB(2)[5] = -3.0;
    scene.X_WB(1).p.z() += 2e-3;
    scene.X_WB(2).p.z() += 4e-3;
  }
  if (kind == "adaptive substeps") scene.V_WB(1)[5] = scene.V_WB(2)[5] = -3.0;
  if (has_joints) {
    Joint joint;
    joint.name = "hinge";
    joint.kind = JointKind::hinge;
    joint.body_A = 1;
    joint.body_B = 2;
    const Pose<double> X_WJ = test::pose_at({0.1, 0.0, 0.08});
    joint.X_AJ = scene.X_WB(1).inverse() * X_WJ;
    joint.X_BJ = scene.X_WB(2).inverse() * X_WJ;
    joint.lower = -0.01;
    joint.upper = 0.01;
    scene.model.joints.push_back(joint);
    joint.name = "hook";
    joint.kind = JointKind::ball;
    joint.body_A = -1;
    joint.X_AJ = X_WJ;
    joint.lower = -INFINITY;
    joint.upper = INFINITY;
    joint.stiffness = 300.0;
    scene.model.joints.push_back(joint);
  }
  return result;
}

}  // namespace

TEST_CASE("rollout_jvp: agrees with the adjoint for every kind of contact, and what is made of them",
          "[dynamics][derivative]") {
  const std::string kind = GENERATE(from_range(k_contact_kinds));
  Random random(17);
  const auto [scene, config] = contact_case(kind, random);
  const Stepper stepper(scene.model, config);
  const Trajectory trajectory = rollout(stepper, scene.state, 6);
  REQUIRE(trajectory.ok());
  int contacts = 0, of_kind = 0, substeps = 0, impacts = 0;
  for (const StepRecord& record : trajectory.records) {
    contacts += record.report.contacts;
    impacts += record.report.impacts;
    for (const SubstepRecord& substep : record.substeps) {
      ++substeps;
      for (const ContactFeature& feature : substep.features) {
        of_kind += kind == "edges"             ? feature.kind == ContactKind::edge_edge
                   : kind == "edges in solids" ? feature.kind == ContactKind::edge_sdf
                                               : 1;
      }
    }
  }
  CAPTURE(kind, contacts, of_kind, substeps, impacts);
  CHECK((contacts > 0 || !scene.model.joints.empty()));
  CHECK((of_kind > 0 || !scene.model.joints.empty()));
  if (kind == "adaptive substeps") CHECK(substeps > trajectory.step_count());
  if (kind == "restitution") CHECK(impacts > 0);
  const DotProducts products = dot_products(stepper, trajectory, random);
  CAPTURE(products.forward, products.backward, products.scale);
  CHECK(products.error() <= 1e-10);
}

TEST_CASE("step_jvp, step_vjp: several at once are those one by one, to the last bit",
          "[dynamics][derivative]") {
  std::vector<std::string> kinds = k_contact_kinds;
  kinds.insert(kinds.end(), {"relaxed_complementarity", "impedance", "split"});
  const std::string kind = GENERATE_COPY(from_range(kinds));
  Random random(23);
  auto [scene, config] = contact_case(kind, random);
  if (kind == "relaxed_complementarity") config.law = ContactLaw::relaxed_complementarity;
  if (kind == "impedance") config.law = ContactLaw::impedance;
  scene = test::without_ignored(std::move(scene), config.law);
  if (kind == "split") config.push_out = PushOut::split;
  const Stepper stepper(scene.model, config);
  const Trajectory trajectory = rollout(stepper, scene.state, 4);
  REQUIRE(trajectory.ok());
  constexpr std::size_t k_count = 3;
  const int bodies = scene.model.body_count();
  int with_jvp = 0;
  for (std::size_t k = 0; k < trajectory.records.size(); ++k) {
    const State &state = trajectory.states[k], &next = trajectory.states[k + 1];
    const StepRecord& record = trajectory.records[k];
    CAPTURE(kind, k);

    struct Backward {
      StateTangent next, state;
      std::vector<Vec6<double>> wrench;
      ModelGradient model;
    };
    std::vector<Backward> together, alone;
    for (std::size_t i = 0; i < k_count; ++i) {
      Backward& backward = together.emplace_back();
      backward.next = test::random_tangent(random, bodies);
      backward.wrench.assign(static_cast<std::size_t>(bodies), Vec6<double>::Zero());
      backward.model.set_zero(scene.model);
      alone.push_back(backward);
    }
    std::vector<StepBar> bars;
    for (Backward& b : together) bars.push_back({&b.next, &b.state, b.wrench, &b.model});
    StepScratch scratch;
    const KinkCount kinks = stepper.step_vjp(state, {}, next, record, bars, scratch);
    for (std::size_t i = 0; i < k_count; ++i) {
      Backward& b = alone[i];
      const StepBar bar{&b.next, &b.state, b.wrench, &b.model};
      StepScratch fresh;
      CHECK(stepper.step_vjp(state, {}, next, record, {&bar, 1}, fresh).contacts == kinks.contacts);
      REQUIRE(together[i].state.pose == b.state.pose);
      REQUIRE(together[i].state.twist == b.state.twist);
      REQUIRE(together[i].wrench == b.wrench);
      REQUIRE(together[i].model.gravity == b.model.gravity);
      for (std::size_t body = 0; body < b.model.bodies.size(); ++body) {
        const BodyGradient &x = together[i].model.bodies[body], &y = b.model.bodies[body];
        REQUIRE(x.mass == y.mass);
        REQUIRE(x.inertia == y.inertia);
        REQUIRE(x.friction == y.friction);
        REQUIRE(x.compliance == y.compliance);
        REQUIRE(x.geometry.contact_points == y.geometry.contact_points);
        REQUIRE(x.geometry.face_normals == y.geometry.face_normals);
        for (std::size_t p = 0; p < x.geometry.primitives.size(); ++p) {
          REQUIRE(x.geometry.primitives[p].parameters == y.geometry.primitives[p].parameters);
          REQUIRE(x.geometry.primitives[p].pose == y.geometry.primitives[p].pose);
        }
      }
    }

    if (!stepper.has_jvp()) continue;
    ++with_jvp;
    std::vector<RolloutDirection> directions;
    for (std::size_t i = 0; i < k_count; ++i) directions.push_back(random_direction(random, scene.model, 1));
    std::vector<StateTangent> ends(k_count);
    std::vector<StepDirection> steps;
    for (std::size_t i = 0; i < k_count; ++i) {
      const RolloutDirection& d = directions[i];
      steps.push_back({&d.initial, d.controls[0].wrenches, d.gravity, d.bodies, &ends[i]});
    }
    stepper.step_jvp(state, {}, next, record, steps, scratch);
    for (std::size_t i = 0; i < k_count; ++i) {
      StateTangent end;
      StepDirection step = steps[i];
      step.next = &end;
      StepScratch fresh;
      stepper.step_jvp(state, {}, next, record, {&step, 1}, fresh);
      REQUIRE(ends[i].pose == end.pose);
      REQUIRE(ends[i].twist == end.twist);
    }
  }
  CHECK((with_jvp > 0) == (kind != "split"));
}

TEST_CASE("rollout_jvp: agrees with central differences of the rollout", "[dynamics][derivative]") {
  const ContactLaw law =
      GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty, ContactLaw::convex_cone,
               ContactLaw::impedance, ContactLaw::lcp, ContactLaw::relaxed_complementarity);
  Random random(5);
  const test::TestScene scene = test::without_ignored(boxes(random, 10000), law);
  const int steps = 5;
  StepConfig config = test::precise_config(law);
  config.contact.edge_edge = false;
  const RolloutDirection d = random_direction(random, scene.model, steps);
  const auto end_at = [&](double t) {
    test::TestScene moved = scene;
    moved.model.gravity += t * d.gravity;
    Controls controls;
    for (const Control& change : d.controls) {
      Control& control = controls.emplace_back();
      for (const Vec6<double>& wrench : change.wrenches) control.wrenches.push_back(t * wrench);
    }
    for (std::size_t b = 0; b < d.bodies.size(); ++b) {
      Body& body = moved.model.bodies[b];
      moved.state.X_WB[b] = retract<double>(scene.state.X_WB[b], t * d.initial.pose[b]);
      moved.state.V_WB[b] += t * d.initial.twist[b];
      body.mass += t * d.bodies[b].mass;
      body.inertia += t * d.bodies[b].inertia;
      body.linear_damping += t * d.bodies[b].linear_damping;
      body.angular_damping += t * d.bodies[b].angular_damping;
      body.external_wrench += t * d.bodies[b].external_wrench;
      body.material.friction += t * d.bodies[b].friction;
      body.material.stiffness = 1.0 / (1.0 / body.material.stiffness + t * d.bodies[b].compliance);
      body.material.dissipation_time += t * d.bodies[b].dissipation_time;
    }
    moved = test::without_ignored(std::move(moved), law);
    const Trajectory trajectory = rollout(Stepper(moved.model, config), moved.state, steps, controls);
    REQUIRE(trajectory.ok());
    return trajectory.states.back();
  };
  RolloutDirection without_restitution = d;
  for (BodyDirection& body : without_restitution.bodies) body.restitution = 0.0;
  const Stepper stepper(scene.model, config);
  const Trajectory trajectory = rollout(stepper, scene.state, steps);
  REQUIRE(trajectory.ok());
  const StateTangent tangent = rollout_jvp(stepper, trajectory, without_restitution).back();
  // Corners of the friction of lcp are rounded over kappa/b, 1e-6 m/s and less: there the second order shows.
  // Weights of vertices change within 0.02 rad; under impedance the second order shows at 1e-6.
  const double t = law == ContactLaw::lcp ? 1e-7 : 3e-7;
  const State plus = end_at(t), minus = end_at(-t);
  StateTangent error = tangent;
  for (std::size_t b = 0; b < d.bodies.size(); ++b) {
    error.pose[b] -= difference<double>(plus.X_WB[b], minus.X_WB[b]) / (2.0 * t);
    error.twist[b] -= (plus.V_WB[b] - minus.V_WB[b]) / (2.0 * t);
  }
  CAPTURE(to_string(law), norm(error), norm(tangent));
  CHECK(norm(tangent) > 1.0);
  CHECK(norm(error) <= 1e-5 * norm(tangent));
}

TEST_CASE("gauss_newton_product: symmetric, positive, and the product of the Jacobian with its transpose",
          "[dynamics][derivative]") {
  Random random(9);
  const test::TestScene scene = boxes(random, 10000);
  StepConfig config =
      test::precise_config(GENERATE(ContactLaw::smooth_coulomb, ContactLaw::convex_cone, ContactLaw::lcp));
  config.contact.edge_edge = false;
  const int bodies = scene.model.body_count(), steps = 4;
  const Stepper stepper(scene.model, config);
  const Trajectory trajectory = rollout(stepper, scene.state, steps);
  REQUIRE(trajectory.ok());
  const auto weight_of = [](int k) { return 1.0 + 0.5 * k; };
  const StateWeight weight = [&](int k, const State&, const StateTangent& x, StateTangent& product) {
    for (std::size_t b = 0; b < x.pose.size(); ++b) {
      product.pose[b] += weight_of(k) * x.pose[b];
      product.twist[b] += weight_of(k) * x.twist[b];
    }
  };
  const RolloutDirection a = random_direction(random, scene.model, steps),
                         b = random_direction(random, scene.model, steps);
  const double ab = inner_product(gauss_newton_product(stepper, trajectory, weight, a), b),
               ba = inner_product(gauss_newton_product(stepper, trajectory, weight, b), a),
               aa = inner_product(gauss_newton_product(stepper, trajectory, weight, a), a),
               bb = inner_product(gauss_newton_product(stepper, trajectory, weight, b), b);
  CAPTURE(ab, ba, aa, bb);
  CHECK(aa > 0.0);
  CHECK(bb > 0.0);
  CHECK(std::abs(ab - ba) <= 1e-10 * std::sqrt(aa * bb));

  RolloutDirection of_start;
  of_start.initial = test::random_tangent(random, bodies);
  const StateTangent product = gauss_newton_product(stepper, trajectory, weight, of_start).initial;
  const StateTangents along = rollout_jvp(stepper, trajectory, of_start);
  StateTangent expected(bodies);
  for (std::size_t body = 0; body < expected.pose.size(); ++body) {
    for (int i = 0; i < 12; ++i) {
      RolloutDirection unit;
      unit.initial = StateTangent(bodies);
      (i < 6 ? unit.initial.pose : unit.initial.twist)[body][i % 6] = 1.0;
      const StateTangents column = rollout_jvp(stepper, trajectory, unit);
      double sum = 0.0;
      for (int k = 0; k <= steps; ++k) {
        const auto at = static_cast<std::size_t>(k);
        sum += weight_of(k) * test::inner_product(column[at], along[at]);
      }
      (i < 6 ? expected.pose : expected.twist)[body][i % 6] = sum;
    }
  }
  const double scale = norm(expected);
  for (std::size_t body = 0; body < expected.pose.size(); ++body) {
    CHECK(test::close(product.pose[body], expected.pose[body], 0, 1e-10 * scale));
    CHECK(test::close(product.twist[body], expected.twist[body], 0, 1e-10 * scale));
  }
}

TEST_CASE("rollout_jvp: refuses what has no forward derivative", "[dynamics][value]") {
  Random random(3);
  test::TestScene scene = boxes(random, 10000);
  const auto jvp_of = [&](const StepConfig& config, int steps) {
    const Stepper stepper(scene.model, config);
    const Trajectory trajectory = rollout(stepper, scene.state, steps);
    RolloutDirection direction;
    direction.initial = test::random_tangent(random, scene.model.body_count());
    return rollout_jvp(stepper, trajectory, direction);
  };
  SECTION("overlap that is pushed out without a velocity") {
    StepConfig config = test::precise_config(ContactLaw::smooth_coulomb);
    config.push_out = PushOut::split;
    CHECK_THROWS_WITH(jvp_of(config, 1), Contains("split"));
  }
  SECTION("failed trajectories, as the adjoint does") {
    scene.V_WB(1)[0] = 1e300;
    CHECK_THROWS_AS(jvp_of(test::precise_config(ContactLaw::smooth_coulomb), 2), std::logic_error);
  }
  SECTION("directions of other sizes") {
    const Stepper stepper(scene.model, test::precise_config(ContactLaw::smooth_coulomb));
    const Trajectory trajectory = rollout(stepper, scene.state, 2);
    CHECK_THROWS_WITH(rollout_jvp(stepper, trajectory, {}), Contains("0 poses"));
    RolloutDirection direction;
    direction.initial = StateTangent(scene.model.body_count());
    direction.controls.resize(1);
    CHECK_THROWS_WITH(rollout_jvp(stepper, trajectory, direction), Contains("1 controls for 2 steps"));
  }
}
