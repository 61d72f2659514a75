// Bodies that start in each other: what overlaps by up to half the inradius is pushed out, and what is not is
// reported as an overlap.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "dynamics/simulator.h"
#include "tests/support/convex_bodies.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

/// Two convex bodies at rest in each other, without gravity.
struct StartedOverlap {
  ConvexBody A, B;
  Pose<double> X_WA, X_WB;

  [[nodiscard]] double depth() const { return overlap_depth(A, X_WA, B, X_WB); }
};

/// What becomes of an overlap.
struct OverlapCourse {
  double start = 0.0, end = 0.0, deepest = 0.0;  ///< true depths [sizes of the smaller body], < 0 apart
  double reported = 0.0;                         ///< at the end, by Simulator::overlaps() [same unit]
  bool is_ok = false;
};

OverlapCourse course_of(const StartedOverlap& overlap, int steps, bool edge_sdf = false) {
  Model model;
  model.bodies = {overlap.A.body, overlap.B.body};
  model.gravity.setZero();
  State state;
  state.X_WB = {overlap.X_WA, overlap.X_WB};
  state.V_WB.assign(2, Vec6<double>::Zero());
  const double size = std::min(overlap.A.body.size, overlap.B.body.size);
  StepConfig config;
  config.contact.edge_sdf = edge_sdf;
  const Simulator simulator(model, config);
  OverlapCourse course;
  course.start = overlap.depth() / size;
  const Trajectory trajectory = simulator.rollout(state, steps);
  course.is_ok = trajectory.ok();
  for (std::size_t k = 0; k < trajectory.states.size(); k += 5) {
    const State& at = trajectory.states[k];
    course.deepest =
        std::max(course.deepest, overlap_depth(overlap.A, at.X_WB[0], overlap.B, at.X_WB[1]) / size);
  }
  const State& end = trajectory.states.back();
  course.end = overlap_depth(overlap.A, end.X_WB[0], overlap.B, end.X_WB[1]) / size;
  for (const Overlap& found : simulator.overlaps(end))
    course.reported = std::max(course.reported, found.depth / size);
  return course;
}

/// Moves B towards A along a line until they overlap by `depth` [m]; false if they never do.
bool start_at_depth(StartedOverlap& overlap, const Vec3<double>& direction, double depth) {
  const auto depth_at = [&](double away) {
    overlap.X_WB.p = overlap.X_WA.p + away * direction;
    return overlap.depth();
  };
  double out = 2.0 * (overlap.A.body.size + overlap.B.body.size), in = 0.0;
  if (depth_at(in) < depth) return false;
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (in + out);
    (depth_at(middle) > depth ? in : out) = middle;
  }
  return true;
}

}  // namespace

TEST_CASE(
    "started overlaps: two sharp cubes part that start edge on edge, however deep up to half an inradius",
    "[dynamics][value]") {
  constexpr double k_edge = 0.1, k_eighth = 0.25 * std::numbers::pi;
  for (const double depth : {0.06, 0.15, 0.25}) {
    for (const double turn : {0.5 * std::numbers::pi, 0.7, 0.2}) {
      const ConvexBody cube = block("cube", Vec3<double>::Constant(0.5 * k_edge));
      StartedOverlap overlap{cube, cube, {}, {}};
      const Quat<double> on_edge(Eigen::AngleAxisd(k_eighth, Vec3<double>::UnitX()));
      overlap.X_WA.q = on_edge;
      overlap.X_WB.q = Quat<double>(Eigen::AngleAxisd(turn, Vec3<double>::UnitZ())) * on_edge;
      overlap.X_WB.p = {0.0, 0.0, (std::numbers::sqrt2 - depth) * k_edge};
      const OverlapCourse course = course_of(overlap, 400);
      CAPTURE(depth, turn, course.start, course.end, course.deepest, course.reported);
      CHECK(course.is_ok);
      CHECK(course.start > 0.9 * std::min(depth, 0.1));
      CHECK(course.end < 1e-3);
      CHECK(course.deepest < 1.02 * course.start);
    }
  }
}

TEST_CASE("started overlaps: convex bodies up to half an inradius deep part, or are reported",
          "[dynamics][property]") {
  // A spike that reaches through a wedge is seen by edge_sdf alone.
  const bool edge_sdf = GENERATE(false, true);
  constexpr double k_parted = 2e-3;  // [sizes of the smaller body]: as deep as bodies rest in each other
  int started = 0, parted = 0, silent = 0, failed = 0;
  std::vector<std::uint64_t> left;
  for (std::uint64_t seed = 1; seed <= (edge_sdf ? 100u : 300u); ++seed) {
    Random random(seed);
    StartedOverlap overlap{random_convex_body("A", random), random_convex_body("B", random), {}, {}};
    overlap.X_WA.q = random.quaternion();
    overlap.X_WB.q = random.quaternion();
    const double inradius = std::min(overlap.A.inradius, overlap.B.inradius);
    if (!start_at_depth(overlap, random.unit_vector(), random.uniform(0.05, 0.5) * inradius)) continue;
    ++started;
    const OverlapCourse course = course_of(overlap, 400, edge_sdf);
    failed += !course.is_ok;
    if (course.end < k_parted) {
      ++parted;
    } else {
      left.push_back(seed);
      silent += course.reported < k_least_overlap;
    }
  }
  const double share = static_cast<double>(parted) / started;
  CAPTURE(edge_sdf, started, parted, share, left, silent);
  CHECK(started > (edge_sdf ? 90 : 270));
  CHECK(failed == 0);
  CHECK(share >= (edge_sdf ? 0.99 : 0.97));
  CHECK(silent == 0);
}

}  // namespace abut::test
