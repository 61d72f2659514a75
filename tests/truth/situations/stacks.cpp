// Stack: bodies on bodies.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "engine/body_builder.h"
#include "tests/truth/situations/bodies.h"

namespace abut::truth {

namespace {

const char* const k_stack_tolerance = "1 % of the size of one body; it stands after 10 sqrt(L/g)";

void measure_top(Setup& setup, const Scale& s, double exact, double T = 10.0) {
  const int b = setup.scene.model.body_count() - 1;
  setup.exact = exact;
  setup.tolerance = 0.01 * 2.0 * s.L;
  setup.seconds = T * s.T();
  setup.measure = [b](const Motion& m) { return m.position(b).z(); };
}

/// The largest displacement of any body.
void measure_all_stay(Setup& setup, const Scale& s, double T = 10.0) {
  setup.tolerance = 0.01 * 2.0 * s.L;
  setup.seconds = T * s.T();
  setup.measure = [](const Motion& m) {
    double largest = 0.0;
    for (std::size_t b = 0; b < m.last().X_WB.size(); ++b)
      largest = std::max(largest, m.displacement(static_cast<int>(b)).norm());
    return largest;
  };
}

}  // namespace

void add_stacks(Situations& all) {
  const auto add_stack = [&](const std::string& name, int count, const std::vector<std::string>& kinds,
                             double ratio = 1.0) {
    all.push_back({"stack: " + name, "height of the uppermost centre", "sum of their heights",
                   k_stack_tolerance, kinds, [=](const std::string& kind, const Scale& s) {
                     Setup setup;
                     setup.scene = test::floor_scene();
                     const Actor actor = flat_actor(kind, s.L);
                     const double thickness =
                         2.0 * (kind == "torus" || kind == "padded_polygon" ? 0.3 : 0.6) * s.L;
                     for (int i = 0; i < count; ++i) {
                       setup.scene.add(actor.body, test::pose_at({0.0, 0.0, actor.height + i * thickness}));
                       if (i + 1 == count) set_mass(setup.scene.model.bodies.back(), ratio * actor.body.mass);
                     }
                     measure_top(setup, s, actor.height + (count - 1) * thickness);
                     return setup;
                   }});
  };
  std::vector<std::string> stackable = flat_kinds();
  std::erase(stackable, "cone");
  add_stack("two equal bodies", 2, stackable);
  add_stack("five equal bodies", 5, stackable);
  add_stack("ten equal boxes", 10, {"box", "rounded_box", "polyhedron", "drum"});
  add_stack("ten times its mass on a body", 2, stackable, 10.0);
  add_stack("a hundred times its mass on a body", 2, {"box", "rounded_box", "polyhedron", "drum"}, 100.0);
  add_stack("a hundredth of its mass on a body", 2, {"box", "rounded_box", "polyhedron", "drum"}, 0.01);

  all.push_back(
      {"stack: a wall of bricks in bond",
       "largest displacement",
       "0",
       k_stack_tolerance,
       {"box", "rounded_box", "polyhedron"},
       [](const std::string& kind, const Scale& s) {
         Setup setup;
         setup.scene = test::floor_scene();
         const Body brick = box_body(kind, {s.L, 0.5 * s.L, 0.4 * s.L});
         // Every row is shorter by one: what overhangs by half would be balanced on an edge.
         for (int row = 0; row < 3; ++row) {
           for (int i = 0; i < 3 - row; ++i)
             setup.scene.add(brick, test::pose_at({(2.0 * i + row) * s.L, 0.0, (0.4 + 0.8 * row) * s.L}));
         }
         measure_all_stay(setup, s);
         return setup;
       }});

  const auto add_corbel = [&](const std::string& name, double factor) {
    const bool stays = factor < 1.0;
    all.push_back({"stack: three blocks that overhang " + name,
                   "whether the uppermost falls (1) or stays (0)",
                   "each may overhang the next by L/n of what is above: harmonic series",
                   "outcome; overhangs are 5 % from the limit",
                   {"box", "polyhedron"},
                   [=](const std::string& kind, const Scale& s) {
                     Setup setup;
                     add_ground(setup.scene, "box", {}, s.L);
                     const Body block = box_body(kind, {s.L, 0.6 * s.L, 0.2 * s.L});
                     // From the top: the first overhangs by L, the second by L/2, the third by L/3.
                     double x = 12.0 * s.L - s.L + factor * s.L / 3.0;
                     for (int i = 0; i < 3; ++i) {
                       setup.scene.add(block, test::pose_at({x, 0.0, (0.2 + 0.4 * i) * s.L}));
                       x += factor * s.L / (2.0 - i);
                     }
                     setup.scene.set_friction(0.6);
                     setup.exact = stays ? 0.0 : 1.0;
                     setup.tolerance = 0.5;
                     setup.seconds = 10.0 * s.T();
                     setup.measure = [L = s.L](const Motion& m) {
                       return m.displacement(3).z() < -0.3 * L ? 1.0 : 0.0;
                     };
                     return setup;
                   }});
  };
  add_corbel("by less than they may", 0.95);
  add_corbel("by more than they may", 1.05);

  const auto add_cards = [&](const std::string& name, double factor) {
    const bool stays = factor > 1.0;
    all.push_back({"stack: two plates lean against each other " + name,
                   "whether they slip (1) or stay (0)",
                   "mu against H/(m g) by moments about a foot: (c sin a - e cos a)/(2 c cos a)",
                   "outcome; mu is 5 % from the limit",
                   {"box", "polyhedron"},
                   [=](const std::string& kind, const Scale& s) {
                     Setup setup;
                     const double a = 0.5, e = 0.04, c = 1.0;
                     // They meet at the inner upper edges and stand on the inner lower edges of their lower faces.
                     const double limit = (c * std::sin(a) - e * std::cos(a)) / (2.0 * c * std::cos(a));
                     setup.scene = test::floor_scene();
                     const Body plate = box_body(kind, {e * s.L, 0.5 * s.L, c * s.L});
                     const double x = e * std::cos(a) + c * std::sin(a),
                                  z = e * std::sin(a) + c * std::cos(a);
                     setup.scene.add(plate, test::pose_at({-x * s.L, 0.0, z * s.L}, {0.0, a, 0.0}));
                     setup.scene.add(plate, test::pose_at({x * s.L, 0.0, z * s.L}, {0.0, -a, 0.0}));
                     setup.scene.set_friction(factor * limit);
                     setup.exact = stays ? 0.0 : 1.0;
                     setup.tolerance = 0.5;
                     setup.seconds = 8.0 * s.T();
                     setup.measure = [L = s.L](const Motion& m) {
                       return m.displacement(1).norm() > 0.05 * L ? 1.0 : 0.0;
                     };
                     return setup;
                   }});
  };
  add_cards("with enough friction", 1.05);
  add_cards("with too little friction", 0.95);

  all.push_back({"stack: a log lies on two logs between walls",
                 "height of the uppermost centre",
                 "r + sqrt((2 r)^2 - d^2), 2 d the distance of the lower ones",
                 k_stack_tolerance,
                 {"sphere", "capsule", "cylinder", "drum"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene = test::floor_scene();
                   const double d = 1.2;
                   for (const double side : {-1.0, 1.0})
                     setup.scene.add(fixed(box_body("box", {s.L, 3.0 * s.L, 3.0 * s.L})),
                                     test::pose_at({side * (d + 2.0) * s.L, 0.0, 0.0}));
                   const Actor log = rolling_actor(kind, s.L);
                   for (const double side : {-1.0, 1.0})
                     setup.scene.add(log.body, {log.q, {side * d * s.L, 0.0, s.L}});
                   const double z = 1.0 + std::sqrt(4.0 - d * d);
                   setup.scene.add(log.body, {log.q, {0.0, 0.0, z * s.L}});
                   measure_top(setup, s, z * s.L);
                   return setup;
                 }});

  all.push_back(
      {"stack: a plate on three balls", "height of the uppermost centre",
       "2 r of the balls + half its height", k_stack_tolerance, box_kinds(),
       [](const std::string& kind, const Scale& s) {
         Setup setup;
         setup.scene = test::floor_scene();
         for (int i = 0; i < 3; ++i) {
           const double turn = 2.0 * std::numbers::pi * i / 3.0;
           setup.scene.add(sphere_body(0.3 * s.L), test::pose_at({0.5 * s.L * std::cos(turn),
                                                                  0.5 * s.L * std::sin(turn), 0.3 * s.L}));
         }
         setup.scene.add(box_body(kind, {s.L, 0.8 * s.L, 0.3 * s.L}), test::pose_at({0.0, 0.0, 0.9 * s.L}));
         measure_top(setup, s, 0.9 * s.L);
         return setup;
       }});

  all.push_back({"stack: a tower of different bodies", "height of the uppermost centre",
                 "sum of their heights", k_stack_tolerance, stackable,
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene = test::floor_scene();
                   double z = 0.0;
                   for (const std::string& each : {std::string("box"), kind, std::string("drum")}) {
                     Actor actor = flat_actor(each, s.L);
                     setup.scene.add(std::move(actor.body), test::pose_at({0.0, 0.0, z + actor.height}));
                     z += 2.0 * actor.height;
                   }
                   measure_top(setup, s, z - 0.6 * s.L);
                   return setup;
                 }});
}

}  // namespace abut::truth
