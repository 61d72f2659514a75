#include "collision/convex/face_patch.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>

#include "engine/lie.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/convex_parts.h"

namespace abut {
namespace {

using test::close;

FacePatch<double> patch_of(const ConvexPart<double>& A, const Pose<double>& X_WA, const ConvexPart<double>& B,
                           const Pose<double>& X_WB) {
  ConvexScratch scratch;
  FacePatchScratch<double> patch_scratch;
  FacePatch<double> patch;
  find_face_patch(A, X_WA, B, X_WB, convex_distance(A, X_WA, B, X_WB, {}, scratch), patch_scratch, patch);
  return patch;
}

Pose<double> placed_at(double x, double y, double z) { return {Quat<double>::Identity(), {x, y, z}}; }

Vec3<double> mean_point(const FacePatch<double>& patch) {
  Vec3<double> mean = Vec3<double>::Zero();
  for (const PatchPoint<double>& p : patch.points) mean += p.weight * p.point_W;
  return mean;
}

double total_weight(const FacePatch<double>& patch) {
  double sum = 0.0;
  for (const PatchPoint<double>& p : patch.points) sum += p.weight;
  return sum;
}

/// Force and torque (about the origin) of a smooth law at each point.
Vec6<double> wrench_of(const FacePatch<double>& patch, double smoothing) {
  Vec6<double> wrench = Vec6<double>::Zero();
  for (const PatchPoint<double>& p : patch.points) {
    const Vec3<double> force = p.weight * std::log1p(std::exp(-p.distance / smoothing)) * p.normal_AB_W;
    wrench += stack<double>(p.point_W.cross(force), force);
  }
  return wrench;
}

TEST_CASE("face_patch: a box on a box has the rectangle that they share", "[collision][value]") {
  const ConvexPart<double> box = test::box_part({0.5, 0.5, 0.5});
  Random random(3);
  for (const double gap : {0.01, 0.0, -0.01}) {
    for (int turn = 0; turn < 4; ++turn) {
      const Pose<double> X = turn == 0 ? Pose<double>{} : test::random_pose(random);
      const FacePatch<double> patch = patch_of(box, X, box, X * placed_at(0.3, -0.2, 1.0 + gap));
      CAPTURE(gap, turn, patch.points.size());
      REQUIRE(patch.points.size() == 6);
      CHECK(patch.flushness == Approx(1.0));
      CHECK(close(patch.area, 0.7 * 0.8, 1e-9, 0.0));
      CHECK(close(total_weight(patch), 1.0, 1e-12, 0.0));
      CHECK(close(mean_point(patch), X * Vec3<double>(0.15, -0.1, 0.5 + 0.5 * gap), 0.0, 1e-9));
      for (const PatchPoint<double>& p : patch.points) CHECK(close(p.distance, gap, 0.0, 1e-9));
    }
  }
}

TEST_CASE("face_patch: of other shapes that rest on each other", "[collision][value]") {
  const ConvexPart<double> box = test::box_part({0.5, 0.5, 0.5}),
                           rounded = test::box_part({0.5, 0.5, 0.5}, 0.1),
                           capsule = test::capsule_part(0.1, 0.8), cylinder = test::cone_part(0.3, 0.3, 0.4),
                           ground = test::half_space_part(), ball = test::sphere_part(0.5);
  const Quat<double> lying(Eigen::AngleAxisd(0.5 * std::numbers::pi, Vec3<double>::UnitX()));
  const Quat<double> eighth(Eigen::AngleAxisd(0.25 * std::numbers::pi, Vec3<double>::UnitZ()));

  const FacePatch<double> octagon = patch_of(box, {}, box, {eighth, {0.0, 0.0, 1.0}});
  CHECK(octagon.points.size() == 10);
  CHECK(close(octagon.area, 2.0 * (std::sqrt(2.0) - 1.0), 1e-9, 0.0));

  const FacePatch<double> core = patch_of(ground, {}, rounded, placed_at(0.0, 0.0, 0.49));
  CHECK(core.points.size() == 6);
  CHECK(close(core.area, 0.8 * 0.8, 1e-12, 0.0));
  for (const PatchPoint<double>& p : core.points) CHECK(close(p.distance, -0.01, 0.0, 1e-12));

  const FacePatch<double> line = patch_of(box, {}, capsule, {lying, {0.2, 0.0, 0.6}});
  REQUIRE(line.points.size() == 4);
  CHECK(line.flushness == Approx(1.0));
  CHECK(line.area == 0.0);
  CHECK(close(std::abs(line.points[1].point_W[1]), 0.5, 0.0, 1e-9));  // as long as the box is
  CHECK(close(mean_point(line), Vec3<double>(0.2, 0.0, 0.5), 0.0, 1e-9));

  const FacePatch<double> lines =
      patch_of(capsule, {}, capsule, placed_at(0.2, 0.0, 1.0));  // side by side, 0.6 m in common
  REQUIRE(lines.points.size() == 4);
  CHECK(close(mean_point(lines), Vec3<double>(0.1, 0.0, 0.5), 0.0, 1e-9));
  CHECK(patch_of(capsule, {}, capsule, {lying, {0.2, 0.0, 0.0}}).points.size() == 1);  // crossed

  const FacePatch<double> disc = patch_of(ground, {}, cylinder, placed_at(0.0, 0.0, 0.4));
  CHECK(disc.points.size() == k_disc_corners + 2);
  CHECK(close(disc.area, std::numbers::pi * 0.09, 0.02, 0.0));
  CHECK(close(mean_point(disc), Vec3<double>::Zero(), 0.0, 1e-9));
  CHECK(patch_of(ground, {}, cylinder, {lying, {0.0, 0.0, 0.3}}).points.size() == 4);

  CHECK(patch_of(box, {}, ball, placed_at(0.1, 0.0, 1.0)).points.size() == 1);
  CHECK(patch_of(box, {}, box, {eighth, {1.3, 0.0, 0.0}}).points.size() == 1);  // edge at face
}

TEST_CASE("face_patch: weights add up to 1 where corners and sides lie on each other", "[collision][value]") {
  const ConvexPart<double> box = test::box_part({0.5, 0.5, 0.5}), disc = test::cone_part(0.5, 0.5, 0.3);
  const Quat<double> eighth(Eigen::AngleAxisd(0.25 * std::numbers::pi, Vec3<double>::UnitZ()));
  for (const Quat<double>& turn : {Quat<double>::Identity(), eighth}) {
    for (const ConvexPart<double>* other : {&disc, &box}) {
      const Vec3<double> place(0.0, 0.0, other == &disc ? 0.8 : 1.0);
      const FacePatch<double> patch = patch_of(box, {}, *other, {turn, place});
      CAPTURE(patch.points.size());
      CHECK(close(total_weight(patch), 1.0, 1e-9, 0.0));
      CHECK(close(mean_point(patch), Vec3<double>(0.0, 0.0, 0.5), 0.0, 1e-6));
    }
  }
}

TEST_CASE("face_patch: weights integrate linear pressures exactly", "[collision][property]") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    const ConvexPart<double> A = test::box_part({0.5, 0.6, 0.5}),
                             B = test::box_part({random.uniform(0.2, 0.9), random.uniform(0.2, 0.9), 0.5});
    const Quat<double> turn(Eigen::AngleAxisd(random.uniform(0.0, 3.0), Vec3<double>::UnitZ()));
    const Pose<double> X_WB{turn, {random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), 1.0}};
    const FacePatch<double> patch = patch_of(A, {}, B, X_WB);
    // By counting points of a lattice that lie on both.
    double count = 0.0;
    Vec3<double> sum = Vec3<double>::Zero();
    constexpr int k_cells = 400;
    for (int i = 0; i < k_cells; ++i) {
      for (int j = 0; j < k_cells; ++j) {
        const Vec3<double> x((i + 0.5) / k_cells - 0.5, 1.2 * (j + 0.5) / k_cells - 0.6, 0.5);
        const Vec3<double> in_B = inverse_point(X_WB, x);
        if (std::abs(in_B[0]) > B.extents[0] || std::abs(in_B[1]) > B.extents[1]) continue;
        count += 1.0;
        sum += x;
      }
    }
    CAPTURE(seed, patch.points.size());
    REQUIRE(count > 0.0);
    CHECK(close(patch.area, count * 1.2 / (k_cells * k_cells), 0.0, 4e-3));
    CHECK(close(mean_point(patch), sum / count, 0.0, 4e-3));
  }
}

TEST_CASE("face_patch: forces change smoothly as bodies slide, turn and tilt", "[collision][property]") {
  const ConvexPart<double> A = test::box_part({0.5, 0.5, 0.5}), B = test::box_part({0.4, 0.3, 0.2});
  // Past the edge of A, around through all numbers of corners, and from flush to standing on an edge.
  const auto slide = [&](double s) { return placed_at(0.2 + 0.5 * s, 0.05, 0.699); };
  const auto turn = [&](double s) {
    return Pose<double>{Quat<double>(Eigen::AngleAxisd(1.5 * s, Vec3<double>::UnitZ())), {0.2, 0.1, 0.699}};
  };
  const auto tilt = [&](double s) {
    const Quat<double> q(Eigen::AngleAxisd(0.05 + 0.2 * s, Vec3<double>(1.0, 0.3, 0.0).normalized()));
    return Pose<double>{q, {0.0, 0.0, 0.72}};
  };
  const auto largest_jump = [&](const auto& path, int steps) {
    double largest = 0.0;
    Vec6<double> last = Vec6<double>::Zero();
    for (int i = 0; i <= steps; ++i) {
      const Vec6<double> wrench = wrench_of(patch_of(A, {}, B, path(double(i) / steps)), 0.02);
      if (i > 0) largest = std::max(largest, (wrench - last).norm());
      last = wrench;
    }
    return largest;
  };
  for (int which = 0; which < 3; ++which) {
    const auto path = [&](double s) { return which == 0 ? slide(s) : which == 1 ? turn(s) : tilt(s); };
    const double coarse = largest_jump(path, 200), fine = largest_jump(path, 2000);
    CAPTURE(which, coarse, fine);
    CHECK(coarse > 1e-5);
    CHECK(fine < 0.2 * coarse);  // a jump would stay as large
  }
}

TEST_CASE("face_patch: sides in one plane are a kink, and so are lines that end at a corner",
          "[collision][value]") {
  const ConvexPart<double> box = test::box_part({0.5, 0.5, 0.5}), small = test::box_part({0.2, 0.2, 0.2}),
                           capsule = test::capsule_part(0.1, 0.3);
  const auto at = [&](const ConvexPart<double>& B, const Pose<double>& X) { return patch_of(box, {}, B, X); };
  const FacePatch<double> equal = at(box, placed_at(0.0, 0.0, 1.0));
  CHECK(equal.is_aligned);
  CHECK(equal.has_kink);  // of turns about any point but the middle
  CHECK(equal.points.size() == 6);
  CHECK(close(equal.area, 1.0, 1e-6, 0.0));

  const FacePatch<double> apart = at(box, placed_at(0.3, 0.1, 1.0));
  CHECK_FALSE(apart.is_aligned);
  CHECK_FALSE(apart.has_kink);

  const FacePatch<double> aside = at(box, placed_at(0.3, 0.0, 1.0));  // aligned front and back
  CHECK(aside.is_aligned);
  CHECK(aside.has_kink);

  const FacePatch<double> at_a_side = at(small, placed_at(0.3, 0.0, 0.7));  // flush on the right only
  CHECK(at_a_side.is_aligned);
  CHECK(at_a_side.has_kink);
  CHECK_FALSE(at(small, placed_at(0.0, 0.0, 0.7)).is_aligned);

  const auto beside = [&](double z) { return patch_of(capsule, {}, capsule, placed_at(0.2, 0.0, z)); };
  CHECK(beside(0.0).is_aligned);
  CHECK_FALSE(beside(0.0).has_kink);
  CHECK_FALSE(beside(0.1).is_aligned);
  const FacePatch<double> short_one =
      patch_of(capsule, {}, test::capsule_part(0.1, 0.2), placed_at(0.2, 0.0, 0.1));  // one end aligned
  CHECK(short_one.is_aligned);
  CHECK(short_one.has_kink);

  // A line that ends at a corner of a face, or in the middle of a side
  const auto lying = [&](double y) {
    return patch_of(box, {}, capsule,
                    {exp_quaternion<double>(Vec3<double>(-0.25 * std::numbers::pi, 0.0, 0.0)),
                     Vec3<double>(0.6, y, 0.5)});
  };
  CHECK(lying(0.5).has_kink);
  CHECK_FALSE(lying(0.4).has_kink);
}

}  // namespace
}  // namespace abut
