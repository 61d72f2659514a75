/// Random bodies that are not convex.
#pragma once

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "tests/support/compound_bodies.h"
#include "tests/support/scenes.h"

namespace abut::test {

/// Unions of capsules and prisms, with collision meshes by marching cubes: made once, as that takes a while.
inline const std::vector<CompoundBody>& meshed_compounds() {
  static const std::vector<CompoundBody> bodies = [] {
    const auto corner = [](double radius, double turn, double z) {
      const double angle = 2.0 * std::numbers::pi * turn;
      return Vec3<double>(radius * std::cos(angle), radius * std::sin(angle), z);
    };
    std::vector<CompoundBody> made;
    CompoundParts ring, stool, ladder, jack;
    for (int i = 0; i < 6; ++i)
      ring.add_capsule(corner(0.4, i / 6.0, 0.0), corner(0.4, (i + 1) / 6.0, 0.0), 0.05);
    made.push_back(meshed_compound("capsule ring", ring, 500));
    stool.add_box(Pose<double>(), {0.3, 0.3, 0.05}, 0.02);
    for (int i = 0; i < 3; ++i)
      stool.add_capsule(corner(0.2, i / 3.0, 0.0), corner(0.35, i / 3.0, -0.6), 0.05);
    made.push_back(meshed_compound("stool", stool, 500));
    for (const double y : {-0.2, 0.2}) ladder.add_box(pose_at({0.0, y, 0.0}), {0.5, 0.05, 0.05}, 0.01);
    for (const double x : {-0.35, 0.0, 0.35}) {
      ladder.add(prism("rung",
                       x < 0.0   ? 3
                       : x > 0.0 ? 6
                                 : 5,
                       0.05, 0.44),
                 pose_at({x, 0.0, 0.0}, {0.5 * std::numbers::pi, 0.0, 0.0}));
    }
    made.push_back(meshed_compound("ladder of prisms", ladder, 900));
    jack.add(prism("bar", 4, 0.08, 0.9));
    jack.add(prism("bar", 3, 0.09, 0.8), pose_at(Vec3<double>::Zero(), {0.0, 0.5 * std::numbers::pi, 0.0}));
    jack.add(prism("bar", 8, 0.07, 0.7), pose_at(Vec3<double>::Zero(), {0.5 * std::numbers::pi, 0.0, 0.0}));
    made.push_back(meshed_compound("jack of prisms", jack, 850));
    return made;
  }();
  return bodies;
}

/// One of the bodies of compound_bodies.h or of these, sharp or rounded, with coarse or fine meshes.
inline CompoundBody random_compound(const std::string& name, Random& random) {
  Finish finish;
  if (random.uniform() < 0.5) finish.rounding = random.uniform(0.1, 0.9);
  if (random.uniform() < 0.25) finish.divisions = 2;
  const double t = random.uniform(0.03, 0.08);
  switch (random.integer(9)) {
    case 0:
      return bar(name, {random.uniform(0.4, 0.7), t, random.uniform(1.0, 2.0) * t}, finish);
    case 1:
      return square_ring(name, random.uniform(0.25, 0.45), t, finish);
    case 2:
      return ladder(name, 0.5, random.uniform(0.2, 0.3), 3 + static_cast<int>(random.integer(3)), 0.7 * t,
                    finish);
    case 3:
      return cage(name, {random.uniform(0.25, 0.5), random.uniform(0.25, 0.5), 0.4}, t, finish);
    case 4:
      return chair(name, random.uniform(0.2, 0.3), random.uniform(0.3, 0.5), random.uniform(0.2, 0.5), t,
                   finish);
    case 5:
      return grooved_block(name, random.uniform(0.1, 0.2), random.uniform(0.1, 0.3), random.uniform(0.2, 0.5),
                           t, finish);
    case 6:
      return notched_block(name, random.uniform(0.25, 0.4), random.uniform(0.05, 0.2),
                           random.uniform(0.1, 0.3), random.uniform(0.08, 0.12), random.uniform(0.2, 0.5),
                           finish.divisions);
    case 7:
      return triangle_plate(name, random.uniform(0.8, 1.2), random.uniform(0.15, 0.4),
                            random.uniform(0.03, 0.06), finish.divisions);
    default:
      return meshed_compounds()[random.integer(meshed_compounds().size())];
  }
}

}  // namespace abut::test
