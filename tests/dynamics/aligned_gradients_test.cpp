// Derivatives of one step where bodies line up: with faces flush, axes parallel or crossing at right angles,
// edges and corners on each other, and whatever else is exact in a scene that a person has written.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <variant>
#include <vector>

#include "collision/sdf/kinks.h"
#include "collision/sdf/shape_sdf.h"
#include "dynamics/gradient_check/gradient_sample.h"
#include "dynamics/rollout/adjoint.h"
#include "dynamics/step/stepper.h"
#include "engine/detector_choice.h"
#include "tests/support/bodies_of_kinds.h"
#include "tests/support/samples.h"
#include "tests/support/scenes.h"

namespace abut {
namespace {

using test::bodies_of_all_kinds;
using test::k_half;
using test::NamedBody;

/// B relative to A: turned, shifted by shares of the half extents, and pushed off along a direction until
/// both touch.
struct AlignedPose {
  const char* name;
  Vec3<double> rotation_vector, shift, direction;
};

std::vector<AlignedPose> aligned_poses() {
  const double quarter = 0.5 * std::numbers::pi;
  const Vec3<double> none = Vec3<double>::Zero(), x = Vec3<double>::UnitX(), z = Vec3<double>::UnitZ();
  return {{"flush and equal", none, none, z},
          {"flush, shifted by half", none, {1, 0, 0}, z},
          {"flush, shifted by half along two axes", none, {1, 1, 0}, z},
          {"side by side, axes parallel", none, none, x},
          {"side by side, shifted by half", none, {0, 0, 1}, x},
          {"crossing at 90 degrees", {0, 0, quarter}, none, z},
          {"axes crossing at 90 degrees", {quarter, 0, 0}, none, x},
          {"end on side", {0, quarter, 0}, none, z},
          {"edges collinear, one above the other", none, {2, 0, 0}, z},
          {"edges collinear, diagonal", none, none, {0.8, 0, 0.6}},
          {"corner on corner", none, none, {0.6, 0.48, 0.64}},
          {"corners above each other", none, {2, 2, 0}, z}};
}

/// A body and its signed distance function.
struct Solid {
  explicit Solid(const Body& its_body) : body(&its_body), sdf(its_body.shape) {}
  const Body* body;
  ShapeSdf sdf;
};

/// The smallest distance of a contact point of one from the other.
double gap(const Solid& A, const Pose<double>& X_WA, const Solid& B, const Pose<double>& X_WB) {
  double least = k_infinity;
  const auto add = [&](const Body& owner, const Pose<double>& X_WO, const ShapeSdf& sdf,
                       const Pose<double>& X_WS) {
    for (Eigen::Index i = 0; i < owner.contact_points.cols(); ++i) {
      const Vec3<double> x_W = X_WO * Vec3<double>(owner.contact_points.col(i));
      least = std::min(least, sdf.distance<double>(inverse_point<double>(X_WS, x_W)) - owner.contact_radius);
    }
  };
  add(*A.body, X_WA, B.sdf, X_WB);
  add(*B.body, X_WB, A.sdf, X_WA);
  return least;
}

enum class Motion { resting, approaching, bouncing };

test::TestScene aligned_scene(const Body& A, const Body& B, const AlignedPose& pose, Motion motion) {
  const Vec3<double> direction = pose.direction.normalized();
  const double target = motion == Motion::resting ? -1e-5 : 1e-4;
  double near = 0.0, far = 1.0;
  const auto at = [&](double along) {
    return test::pose_at(pose.shift.cwiseProduct(k_half) + along * direction, pose.rotation_vector);
  };
  const Solid solid_A(A), solid_B(B);
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (near + far);
    (gap(solid_A, {}, solid_B, at(middle)) < target ? near : far) = middle;
  }
  test::TestScene scene;
  scene.model.gravity.setZero();
  scene.add(A);
  scene.add(B, at(far), test::moving_at((motion == Motion::resting ? -0.01 : -0.5) * direction));
  for (Body& body : scene.model.bodies) body.material.restitution = motion == Motion::bouncing ? 0.5 : 0.0;
  return scene;
}

/// The Jacobian of a step, all twelve numbers of the end state of each moving body by those of the start, in
/// units of lengths of 0.1 m and accelerations of 9.81 m/s^2: by the adjoint and by differences.
struct StepJacobian {
  Eigen::MatrixXd adjoint, central, forward, backward;
  int contacts = 0, near_kink = 0;
  bool failed = false;
};

StepJacobian step_jacobian(const test::TestScene& scene, DetectorKind detector = DetectorKind::manifold) {
  constexpr double k_length = 0.1;
  const double speed = std::sqrt(9.81 * k_length), scales[4] = {1.0, k_length, speed / k_length, speed};
  StepConfig config;
  config.tolerance = 1e-13;
  config.contact.detector = detector;
  const Stepper stepper(scene.model, config);
  const Trajectory trajectory = rollout(stepper, scene.state, 1);
  StepJacobian J;
  J.failed = !trajectory.ok();
  if (J.failed) return J;
  std::vector<std::size_t> moving;
  for (std::size_t b = 0; b < scene.model.bodies.size(); ++b) {
    if (!scene.model.bodies[b].fixed) moving.push_back(b);
  }
  const auto n = static_cast<Eigen::Index>(12 * moving.size());
  const auto body_of = [&](Eigen::Index k) { return moving[static_cast<std::size_t>(k / 12)]; };
  const auto entry = [&](StateTangent& tangent, Eigen::Index k) -> double& {
    return (k % 12 < 6 ? tangent.pose : tangent.twist)[body_of(k)][k % 6];
  };
  const auto scale = [&](Eigen::Index k) { return scales[k % 12 / 3]; };

  J.adjoint.resize(n, n);
  for (Eigen::Index out = 0; out < n; ++out) {
    Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
      if (k == 1) entry(bar, out) += 1.0;
    });
    for (Eigen::Index in = 0; in < n; ++in)
      J.adjoint(out, in) = entry(gradient.initial, in) * scale(in) / scale(out);
    J.contacts = gradient.health.contacts;
    J.near_kink = gradient.health.contacts_near_kink;
  }

  const State& nominal = trajectory.states[1];
  StepScratch scratch;
  const auto end_of = [&](Eigen::Index in, double h) {
    State start = scene.state, end;
    const std::size_t moved = body_of(in);
    Vec6<double> change = Vec6<double>::Zero();
    change[in % 6] = h * scale(in);
    if (in % 12 < 6) {
      start.X_WB[moved] = retract<double>(start.X_WB[moved], change);
    } else {
      start.V_WB[moved] += change;
    }
    J.failed |= simulate(stepper, start, 1, {}, end, scratch).status != StepStatus::ok;
    Eigen::VectorXd numbers(n);
    for (Eigen::Index out = 0; out < n; ++out) {
      const std::size_t b = body_of(out);
      const Vec6<double> by = out % 12 < 6 ? difference<double>(end.X_WB[b], nominal.X_WB[b])
                                           : Vec6<double>(end.V_WB[b] - nominal.V_WB[b]);
      numbers[out] = by[out % 6] / scale(out);
    }
    return numbers;
  };
  J.central = J.forward = J.backward = J.adjoint;
  const Eigen::VectorXd start = end_of(0, 0.0);
  for (Eigen::Index in = 0; in < n; ++in) {
    std::vector<Differences> differences(static_cast<std::size_t>(n));
    for (double h = 1e-5; h > 1e-9; h *= 0.25) {
      const Eigen::VectorXd forward = (end_of(in, h) - start) / h, backward = (start - end_of(in, -h)) / h;
      for (Eigen::Index out = 0; out < n; ++out) {
        Differences& of = differences[static_cast<std::size_t>(out)];
        of.steps.push_back(h);
        of.forward.push_back(forward[out]);
        of.backward.push_back(backward[out]);
      }
    }
    for (Eigen::Index out = 0; out < n; ++out) {
      const Differences& of = differences[static_cast<std::size_t>(out)];
      J.central(out, in) = best_difference(of).value;
      J.forward(out, in) = best_difference({of.steps, of.forward, {}}).value;
      J.backward(out, in) = best_difference({of.steps, {}, of.backward}).value;
    }
  }
  return J;
}

/// How the entries of the Jacobians of many scenes were judged.
struct Judgement {
  int scenes = 0, entries = 0, wrong = 0;
  int kinks = 0;    ///< excused, with a contact near a kink
  int unknown = 0;  ///< excused, without one
  std::string worst;
};

/// What entries of a scene are excused where the adjoint differs from both sides.
struct Excuse {
  /// The sides differ, though no contact counts as near a kink.
  bool unknown_kinks = false;
  /// A contact near a kink, though the sides agree: kinks of several contacts cancel out in differences,
  /// while the adjoint takes the same side of all. Where the sides differ as well there needs to be no
  /// excuse.
  bool cancelling_kinks = false;
};

void judge(const std::string& name, const StepJacobian& J, Judgement& judgement, Excuse excuse = {}) {
  constexpr double k_tolerance = 1e-4, k_floor = 0.02;  // of differences down to 1e-9
  ++judgement.scenes;
  REQUIRE_FALSE(J.failed);
  REQUIRE(J.adjoint.allFinite());
  double worst = 0.0;
  for (Eigen::Index out = 0; out < J.adjoint.rows(); ++out) {
    for (Eigen::Index in = 0; in < J.adjoint.cols(); ++in) {
      ++judgement.entries;
      const double a = J.adjoint(out, in), size = std::abs(a) + k_floor;
      const auto error = [&](const Eigen::MatrixXd& by) { return std::abs(a - by(out, in)) / size; };
      const double by_central = error(J.central);
      // Central differences that agree by chance at large steps say less than both sides.
      if (by_central <= k_tolerance || std::max(error(J.forward), error(J.backward)) <= k_tolerance) continue;
      const bool sides_differ = std::abs(J.forward(out, in) - J.backward(out, in)) > k_tolerance * size;
      const bool is_near_kink = J.near_kink > 0;
      if (is_near_kink ? sides_differ || excuse.cancelling_kinks : sides_differ && excuse.unknown_kinks) {
        ++(is_near_kink ? judgement.kinks : judgement.unknown);
        continue;
      }
      ++judgement.wrong;
      if (by_central <= worst) continue;
      worst = by_central;
      judgement.worst = name + ": d(out " + std::to_string(out) + ")/d(in " + std::to_string(in) + ") is " +
                        std::to_string(a) + ", central " + std::to_string(J.central(out, in)) + ", sides " +
                        std::to_string(J.backward(out, in)) + " and " + std::to_string(J.forward(out, in)) +
                        ", near a kink " + std::to_string(J.near_kink);
    }
  }
  if (worst > 0.0) WARN(judgement.worst);
}

/// Faces of boxes with sharp edges and of padded polygons end in seams that are not rounded off.
bool has_seams(const NamedBody& body) {
  return body.name == "box with sharp edges" || body.name == "padded polygon";
}

template <typename Chosen>
Judgement judge_pairs(const Chosen& is_chosen) {
  const std::vector<NamedBody> bodies = bodies_of_all_kinds();
  Judgement judgement;
  std::size_t index = 0;
  for (std::size_t a = 0; a < bodies.size(); ++a) {
    for (std::size_t b = a; b < bodies.size(); ++b) {
      const Body &A = bodies[a].body, &B = bodies[b].body;
      if ((A.fixed && B.fixed) || !is_chosen(a, b)) continue;
      for (const AlignedPose& pose : aligned_poses()) {
        for (const Motion motion : {Motion::resting, Motion::approaching, Motion::bouncing}) {
          // A half-space lies below, whichever of the two it is.
          const bool swaps = B.fixed;
          const std::string name = bodies[swaps ? b : a].name + ", " + bodies[swaps ? a : b].name + ", " +
                                   pose.name + ", motion " + std::to_string(static_cast<int>(motion));
          const bool has_floor = A.fixed || B.fixed;
          if ((has_floor && pose.direction.z() != 1.0) || !test::is_drawn(index++)) continue;
          // A seed on the rim of one is over the tip of the other: the secant step makes 3e6 of its place, so that the
          // derivative is that of a range of 1e-9 m (docs/manifold.md).
          if (name.starts_with("cone, cone, flush, shifted by half, motion")) continue;
          // A vertex that hits next to a sharp edge has sides of -0.2 and -31, of no kink that is counted.
          // Of a torus that lies flat on a corner differences scatter by 1e-5.
          const bool unknown_kinks =
              name == "cylinder, box with sharp edges, flush, shifted by half, motion 2" ||
              name == "box with sharp edges, torus, flush, shifted by half along two axes, motion 2";
          judge(name, step_jacobian(aligned_scene(swaps ? B : A, swaps ? A : B, pose, motion)), judgement,
                {unknown_kinks, has_seams(bodies[a]) || has_seams(bodies[b])});
        }
      }
    }
  }
  return judgement;
}

TEST_CASE("aligned bodies: every component of a step's derivative agrees with differences, equal bodies",
          "[dynamics][derivative][property][nightly]") {
  const Judgement judgement = judge_pairs([](std::size_t a, std::size_t b) { return a == b; });
  CAPTURE(judgement.worst, judgement.scenes, judgement.entries, judgement.kinks, judgement.unknown);
  CHECK(judgement.scenes > test::samples(300));
  CHECK(judgement.kinks < judgement.entries / 50);  // edges of sharp boxes that line up end on each other
  CHECK(judgement.wrong == 0);
  CHECK(judgement.unknown == 0);
}

TEST_CASE("aligned bodies: every component of a step's derivative agrees with differences, different bodies",
          "[dynamics][derivative][property][nightly]") {
  const Judgement judgement = judge_pairs([](std::size_t a, std::size_t b) { return a != b; });
  CAPTURE(judgement.worst, judgement.scenes, judgement.entries, judgement.kinks, judgement.unknown);
  CHECK(judgement.scenes > test::samples(2000));
  CHECK(judgement.wrong == 0);
  CHECK(judgement.unknown < test::samples(100));
}

TEST_CASE("aligned bodies: with the other detectors, derivatives of plates are right or counted as kinks",
          "[dynamics][derivative][property][nightly]") {
  const std::vector<NamedBody> bodies = bodies_of_all_kinds();
  const auto plate = std::find_if(bodies.begin(), bodies.end(),
                                  [](const NamedBody& body) { return body.name == "padded polygon"; });
  REQUIRE(plate != bodies.end());
  for (const DetectorKind detector : {DetectorKind::gjk, DetectorKind::proximity_qp}) {
    Judgement judgement;
    std::size_t index = 0;
    for (const NamedBody& other : bodies) {
      // Round corners of superquadrics are so sharp that differences do not resolve them.
      const bool is_superquadric = other.body.shape.primitives[0].kind == PrimitiveKind::superquadric;
      if (is_superquadric || !detector_refusal(plate->body, other.body, detector).empty()) continue;
      for (const AlignedPose& pose : aligned_poses()) {
        if (other.body.fixed && pose.direction.z() != 1.0) continue;
        for (const Motion motion : {Motion::resting, Motion::approaching, Motion::bouncing}) {
          if (!test::is_drawn(index++)) continue;
          const std::string name = other.name + ", " + pose.name + ", motion " +
                                   std::to_string(static_cast<int>(motion)) + ", detector " +
                                   std::to_string(static_cast<int>(detector));
          judge(name, step_jacobian(aligned_scene(other.body, plate->body, pose, motion), detector),
                judgement, {.cancelling_kinks = has_seams(*plate)});
        }
      }
    }
    CAPTURE(static_cast<int>(detector), judgement.worst, judgement.scenes, judgement.entries,
            judgement.kinks);
    CHECK(judgement.scenes > test::samples(100));
    CHECK(judgement.wrong == 0);
  }
}

TEST_CASE(
    "aligned bodies: boxes stacked on a floor agree with differences in every component, far from kinks",
    "[dynamics][derivative]") {
  test::TestScene scene = test::floor_scene();
  for (int i = 0; i < 3; ++i) scene.add(test::asset("box"), test::pose_at({0.0, 0.0, 0.05 + 0.1 * i}));
  const StepJacobian J = step_jacobian(scene);
  Judgement judgement;
  judge("three boxes on a floor", J, judgement);
  CAPTURE(judgement.worst);
  CHECK(judgement.wrong == 0);
  CHECK(J.near_kink == 0);
  CHECK(J.contacts == 40);
}

TEST_CASE("is_near_kink: the skeleton of solids, and nothing else", "[dynamics][value]") {
  const ShapeSdf sphere(make_sphere(0.1, 1.0).shape), capsule(make_capsule(0.1, 0.2, 1.0).shape),
      box(make_box({0.1, 0.2, 0.3}, 0.05, 1.0).shape), sharp(make_box({0.1, 0.2, 0.3}, 0.0, 1.0).shape);
  const auto near = [](const ShapeSdf& sdf, double x, double y, double z) {
    return is_near_kink(sdf, Vec3<double>(x, y, z));
  };
  CHECK(near(sphere, 0, 0, 0));
  CHECK_FALSE(near(sphere, 0.001, 0, 0));
  CHECK(near(capsule, 0, 0, 0.2));
  CHECK_FALSE(near(capsule, 0, 0.1, 0.2));   // a seam
  CHECK_FALSE(near(box, 0.05, 0.15, 0.35));  // a seam
  CHECK(near(box, 0.03, 0.13, 0.0));
  CHECK_FALSE(near(box, 0.03, 0.12, 0.0));
  CHECK(near(sharp, 0.1, 0.2, 0.0));
  CHECK(near(sharp, 0.1, 0.2, 0.3));
  CHECK_FALSE(near(sharp, 0.1, 0.1, 0.1));
  // The seams of a padded polygon, and the polygon itself.
  Shape shape;
  shape.primitives = {make_padded_polygon(test::rectangle_corners(0.2, 0.1), 0.1)};
  const ShapeSdf polygon(shape);
  CHECK(near(polygon, 0.05, 0.03, 0.0));
  CHECK_FALSE(near(polygon, 0.05, 0.03, 0.1));
  CHECK(near(polygon, 0.05, 0.1, 0.1));
  CHECK(near(polygon, 0.05, 0.1, 0.3));
  CHECK_FALSE(near(polygon, 0.05, 0.12, 0.1));
  CHECK(near(polygon, 0.2, 0.15, -0.05));
  CHECK_FALSE(near(polygon, 0.19, 0.15, -0.05));
  CHECK(near(polygon, 0.25, 0.1, 0.0));
  CHECK_FALSE(near(polygon, 0.25, 0.13, 0.0));
  CHECK(has_kinks_outside(polygon));
  CHECK_FALSE(has_kinks_outside(box));
  // A union is smooth where another of its primitives is nearer.
  Shape both = make_sphere(0.1, 1.0).shape;
  both.primitives.push_back(make_sphere(0.4, 1.0).shape.primitives.front());
  both.primitives.back().X_BP.p.x() = 0.2;
  CHECK_FALSE(near(ShapeSdf(both), 0, 0, 0));
  CHECK(near(ShapeSdf(both), 0.2, 0, 0));
}

}  // namespace
}  // namespace abut
