// Bodies that are not convex thrown at each other: no piece of one passes through a piece of the other.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "dynamics/simulator.h"
#include "tests/support/random_compounds.h"
#include "tests/support/samples.h"

using namespace abut;
using test::CompoundBody;
using test::ConvexPiece;

namespace {

constexpr double k_throw_step = 1e-3;  // [s]

/// Where a piece is, and its axes: the first along its longest edge.
struct PieceFrame {
  Vec3<double> center = Vec3<double>::Zero();
  double half_length = 0.0;
  Mat3<double> axes;
};

PieceFrame frame_of(const ConvexPiece& piece) {
  PieceFrame frame;
  for (const Vec3<double>& x : piece.vertices) frame.center += x / static_cast<double>(piece.vertices.size());
  for (const Vec3<double>& t : piece.edge_directions) {
    double half = 0.0;
    for (const Vec3<double>& x : piece.vertices) half = std::max(half, t.dot(x - frame.center));
    if (half <= frame.half_length) continue;
    frame.half_length = half;
    frame.axes.col(0) = t;
  }
  const Vec3<double> a = frame.axes.col(0);
  Vec3<double> b = a.unitOrthogonal();
  for (const Vec3<double>& n : piece.face_normals)
    if (std::abs(n.dot(a)) < 1e-9) b = n;
  frame.axes.col(1) = b;
  frame.axes.col(2) = a.cross(b);
  return frame;
}

/// Two bodies, one of which flies towards the other without gravity.
struct CompoundThrow {
  Model model;
  State start;
  int steps = 0;
  double free_share = 0.0;  ///< how deep they would be in each other if they did not touch: CompoundOverlap
};

/// A piece of B flies towards a piece of A: crosswise, along it or at any angle, face or edge ahead.
///
/// @param speed  of a step, in thicknesses of the thinner body
CompoundThrow throw_together(const CompoundBody& A, const CompoundBody& B, Random& random, double speed) {
  const PieceFrame a = frame_of(A.pieces[random.integer(A.pieces.size())]),
                   b = frame_of(B.pieces[random.integer(B.pieces.size())]);
  const double inradius = std::min(A.inradius(), B.inradius());
  const auto one_of = [&](double first, double second) {
    const auto which = random.integer(3);
    return which == 0 ? first : which == 1 ? second : random.uniform(0.0, 2.0 * std::numbers::pi);
  };
  const auto turned = [](const Vec3<double>& x, const Vec3<double>& axis, double angle) {
    return Vec3<double>(Eigen::AngleAxisd(angle, axis) * x);
  };
  constexpr double k_quarter = 0.5 * std::numbers::pi;
  const Pose<double> X_A{random.quaternion(), Vec3<double>::Zero()};
  const Mat3<double> axes_A = X_A.rotation() * a.axes;
  const Vec3<double> along = turned(axes_A.col(1), axes_A.col(0), one_of(0.0, 0.5 * k_quarter));
  Mat3<double> axes_B;
  axes_B.col(0) = turned(axes_A.col(0), along, one_of(k_quarter, 0.0));
  axes_B.col(1) = turned(along, axes_B.col(0), one_of(0.0, 0.5 * k_quarter));
  axes_B.col(2) = axes_B.col(0).cross(axes_B.col(1));
  Pose<double> X_B{Quat<double>(Mat3<double>(axes_B * b.axes.transpose())), Vec3<double>::Zero()};
  if (random.uniform() < 0.5)
    X_B.q = exp_quaternion<double>(
                test::random_rotation_vector(random, std::pow(10.0, random.uniform(-4.0, -1.0)))) *
            X_B.q;
  const Vec3<double> on_A = X_A * Vec3<double>(a.center +
                                               random.uniform(-0.8, 0.8) * a.half_length * a.axes.col(0)),
                     on_B = X_B * Vec3<double>(b.center +
                                               random.uniform(-0.8, 0.8) * b.half_length * b.axes.col(0));
  Vec3<double> aside = random.unit_vector();
  aside -= along * along.dot(aside);
  X_B.p = on_A - on_B + (random.uniform() < 0.3 ? 0.0 : random.uniform(0.0, 0.5) * inradius) * aside;

  CompoundThrow result;
  result.model.bodies = {A.body, B.body};
  result.model.gravity.setZero();
  const double before = B.extent_along(X_B, along) + A.extent_along(X_A, -along),
               beyond = A.extent_along(X_A, along) + B.extent_along(X_B, -along), stride = 0.5 * inradius;
  double first = beyond;
  for (double way = -before; way < beyond; way += stride) {
    const test::CompoundOverlap free = test::overlap(A, X_A, B, {X_B.q, X_B.p + way * along});
    if (free.depth > 0.0) first = std::min(first, way);
    result.free_share = std::max(result.free_share, free.share);
  }
  const double a_step = speed * 2.0 * inradius;
  result.start.X_WB = {X_A, {X_B.q, X_B.p + (first - stride) * along}};
  result.start.V_WB.assign(2, Vec6<double>::Zero());
  result.start.V_WB[1].tail<3>() = a_step / k_throw_step * along;
  result.steps = std::min(20 + static_cast<int>((beyond - first + stride) / a_step), 150);
  return result;
}

struct ThrowResult {
  bool hit = false;
  double deepest = 0.0;  ///< CompoundOverlap::share
};

ThrowResult thrown(std::uint64_t seed, StepConfig config) {
  Random random(seed);
  const CompoundBody A = test::random_compound("A", random), B = test::random_compound("B", random);
  const CompoundThrow start = throw_together(A, B, random, random.uniform(0.05, 0.5));
  ThrowResult result;
  if (start.free_share < 0.3) return result;  // a miss
  config.h = k_throw_step;
  const Simulator simulator(start.model, config);
  const Trajectory trajectory = simulator.rollout(start.start, start.steps);
  REQUIRE(trajectory.ok());
  result.hit = trajectory.states.back().V_WB[0].norm() > 0.0;
  for (const State& state : trajectory.states)
    result.deepest = std::max(result.deepest, test::overlap(A, state.X_WB[0], B, state.X_WB[1]).share);
  return result;
}

}  // namespace

TEST_CASE("no piece of a body passes through another, at up to half its thickness a step",
          "[dynamics][property][nightly]") {
  const bool edge_sdf = GENERATE(false, true);
  const int throws = test::samples(1000);
  int hits = 0, passed = 0;
  double deepest_of_all = 0.0;
  for (const std::uint64_t seed : test::seeds(1000)) {
    StepConfig config;
    config.contact.edge_sdf = edge_sdf;
    CAPTURE(edge_sdf, seed);
    const ThrowResult result = thrown(seed, config);
    hits += result.hit;
    passed += result.deepest >= 1.0;  // what is deeper is pushed out on the other side
    deepest_of_all = std::max(deepest_of_all, result.deepest);
  }
  CAPTURE(edge_sdf, deepest_of_all);
  CHECK(hits > 0.95 * throws);
  CHECK(passed == 0);
  CHECK(deepest_of_all < (edge_sdf ? 0.4 : 0.6));
}

TEST_CASE("without contacts of edges, bodies that are not convex pass through each other",
          "[dynamics][property][nightly]") {
  // So that the test above could fail.
  StepConfig config;
  config.contact.edge_edge = false;
  const int throws = test::samples(60);
  int passed = 0;
  for (const std::uint64_t seed : test::seeds(60)) passed += thrown(seed, config).deepest >= 1.0;
  CHECK(6 * passed >= throws);
}
