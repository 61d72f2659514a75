// Fall, enter and pass: free flight, bodies that fall beside, between, into and through others.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tests/truth/situations/bodies.h"

namespace abut::truth {

namespace {

/// The height of the last body at the end is `exact`.
void measure_height(Setup& setup, const Scale& s, double exact, double T) {
  const int b = setup.scene.model.body_count() - 1;
  setup.exact = exact;
  setup.tolerance = 0.01 * 2.0 * s.L;
  setup.seconds = T * s.T();
  setup.measure = [b](const Motion& m) { return m.position(b).z(); };
}
const char* const k_height_tolerance = "1 % of its size";

/// The last body keeps the velocity that it has: the largest change of it, of any point.
void measure_untouched(Setup& setup, const Scale& s, double T) {
  setup.scene.model.gravity.setZero();
  const auto b = static_cast<std::size_t>(setup.scene.model.body_count() - 1);
  setup.tolerance = 1e-6 * s.V();
  setup.seconds = T * s.T();
  setup.measure = [b, L = s.L](const Motion& m) {
    const Vec6<double> change = m.last().V_WB[b] - m.first().V_WB[b];
    return change.tail<3>().norm() + L * change.head<3>().norm();
  };
}
const char* const k_untouched_tolerance = "1e-6 of its speed: nothing touches it";

/// Fixed boxes on both sides of a slot of that width along y, their tops at z = 0, on a floor 2 L below.
void add_slot(test::TestScene& scene, double L, double width, double friction = 0.1) {
  scene.add(fixed(box_body("box", {4.0 * L, 4.0 * L, L})), test::pose_at({0.0, 0.0, -4.0 * L}));
  for (const double side : {-1.0, 1.0})
    scene.add(fixed(box_body("box", {L, 2.0 * L, 1.5 * L})),
              test::pose_at({side * (L + 0.5 * width), 0.0, -1.5 * L}));
  scene.set_friction(friction);
}

/// A plate 2 L thick with a hole through it, the plate's top at z = 0, on a floor.
void add_holed_plate(test::TestScene& scene, const Primitive& hole, double L, double friction = 0.1) {
  Body plate = scaled_body(
      "holed plate", {primitive(PrimitiveKind::rounded_box, {2.0, 2.0, 1.0, 0.0}, {0, 0, -1.0}), hole}, L);
  scene.add(fixed(box_body("box", {4.0 * L, 4.0 * L, L})), test::pose_at({0.0, 0.0, -3.0 * L}));
  const Vec3<double> p = -plate.p_BA;
  scene.add(fixed(std::move(plate)), test::pose_at(p));
  scene.set_friction(friction);
}

}  // namespace

void add_falls(Situations& all) {
  std::vector<std::string> any = flat_kinds();
  any.insert(any.end(), {"sphere", "capsule", "ellipsoid"});
  const auto actor_of = [](const std::string& kind, double L) {
    return kind == "sphere" || kind == "capsule" || kind == "ellipsoid" ? rolling_actor(kind, L)
                                                                        : flat_actor(kind, L);
  };

  all.push_back({"fall: falls freely", "height fallen", "g t^2/2", "1 % and a step's travel: g h t/2", any,
                 [=](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene.add(actor_of(kind, s.L).body);
                   setup.seconds = 3.0 * s.T();
                   setup.exact = -4.5 * s.L;
                   setup.tolerance = 0.045 * s.L + 3.0 * s.h * s.V();
                   setup.measure = [](const Motion& m) { return m.displacement(0).z(); };
                   return setup;
                 }});
  all.push_back({"fall: is thrown, and lands as far as a throw goes",
                 "range at the height of the throw",
                 "2 v_x v_z/g",
                 "1 % and a step's travel",
                 {"sphere", "box", "torus"},
                 [=](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene.add(actor_of(kind, s.L).body, {}, test::moving_at({s.V(), 0.0, 1.5 * s.V()}));
                   setup.seconds = 3.0 * s.T();
                   setup.exact = 3.0 * s.L;
                   setup.tolerance = 0.03 * s.L + s.h * s.V();
                   setup.measure = [](const Motion& m) { return m.displacement(0).x(); };
                   return setup;
                 }});
  all.push_back({"fall: falls flat on a floor and stays there", "height at the end",
                 "its own height above its face", k_height_tolerance, flat_kinds(),
                 [=](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene = test::floor_scene();
                   const Actor actor = actor_of(kind, s.L);
                   setup.scene.add(actor.body, test::pose_at({0.0, 0.0, actor.height + s.L}));
                   measure_height(setup, s, actor.height, 6.0);
                   return setup;
                 }});
  all.push_back({"fall: falls tilted on a floor and comes to lie on a face", "height at the end",
                 "its own height above its face", k_height_tolerance, box_kinds(),
                 [=](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene = test::floor_scene();
                   setup.scene.add(box_body(kind, {s.L, 0.8 * s.L, 0.4 * s.L}),
                                   test::pose_at({0.0, 0.0, 1.2 * s.L}, {0.2, 0.3, 0.1}));
                   measure_height(setup, s, 0.4 * s.L, 12.0);
                   return setup;
                 }});
  all.push_back({"fall: falls tilted on a table and comes to lie on a face", "height at the end",
                 "its own height above its face", k_height_tolerance, box_kinds(),
                 [=](const std::string& kind, const Scale& s) {
                   Setup setup;
                   add_ground(setup.scene, "box", {}, s.L);
                   setup.scene.add(box_body(kind, {s.L, 0.8 * s.L, 0.4 * s.L}),
                                   test::pose_at({0.0, 0.0, 1.2 * s.L}, {0.2, 0.3, 0.1}));
                   measure_height(setup, s, 0.4 * s.L, 12.0);
                   return setup;
                 }});

  const auto add_beside = [&](const std::string& name, double gap) {
    all.push_back({"fall: " + name, "height fallen", "g t^2/2: it touches nothing", "1 % and a step's travel",
                   any, [=](const std::string& kind, const Scale& s) {
                     Setup setup;
                     setup.scene.add(fixed(box_body("box", {2.0 * s.L, 3.0 * s.L, 2.0 * s.L})),
                                     test::pose_at({-2.0 * s.L, 0.0, -2.0 * s.L}));
                     const Actor actor = actor_of(kind, s.L);
                     double reach = actor.half_width > 0.0 ? actor.half_width : actor.height;
                     if (kind == "torus" || kind == "padded_polygon") reach = s.L;
                     setup.scene.add(actor.body, {actor.q, {reach + gap * s.L, 0.0, 1.2 * s.L}});
                     setup.scene.set_friction(1.0);
                     setup.seconds = 2.5 * s.T();
                     setup.exact = -0.5 * 2.5 * 2.5 * s.L;
                     setup.tolerance = 0.01 * std::abs(setup.exact) + 2.5 * s.h * s.V();
                     setup.measure = [](const Motion& m) { return m.displacement(1).z(); };
                     return setup;
                   }});
  };
  add_beside("falls beside a table, 5 % of its size away", 0.1);
  add_beside("falls beside a table, 1 % of its size away", 0.02);

  const auto add_between = [&](const std::string& name, double room, const std::vector<std::string>& kinds) {
    all.push_back(
        {"enter: " + name, "height at the end", "floor + its own height: it is narrower than the slot",
         k_height_tolerance, kinds, [=](const std::string& kind, const Scale& s) {
           Setup setup;
           const double half = 0.3 * s.L;
           add_slot(setup.scene, s.L, 2.0 * (half + room * 2.0 * half));
           Body body = kind == "sphere"                       ? sphere_body(half)
                       : kind == "capsule"                    ? capsule_body(half, s.L)
                       : kind == "drum" || kind == "cylinder" ? cylinder_body(kind, half, s.L)
                                                              : box_body(kind, {half, 0.8 * s.L, s.L});
           const double up = kind == "sphere" ? half : kind == "capsule" ? half + s.L : s.L;
           setup.scene.add(std::move(body), test::pose_at({0.0, 0.0, up + 0.1 * s.L}));
           setup.scene.set_friction(0.1);
           measure_height(setup, s, up - 3.0 * s.L, 6.0);
           return setup;
         }});
  };
  add_between("falls into a slot with 5 % of room on either side", 0.05,
              {"box", "rounded_box", "polyhedron", "superquadric", "extrusion", "sphere", "capsule",
               "cylinder", "drum"});
  add_between("falls into a slot with 1 % of room on either side", 0.01,
              {"box", "rounded_box", "polyhedron", "superquadric", "extrusion", "sphere", "capsule",
               "cylinder", "drum"});

  const auto add_peg = [&](const std::string& name, double room, bool is_round) {
    const std::vector<std::string> kinds = is_round
                                               ? std::vector<std::string>{"cylinder", "drum", "capsule"}
                                               : std::vector<std::string>{"box", "rounded_box", "polyhedron"};
    all.push_back({"enter: " + name, "height at the end",
                   "floor + its own height: it is narrower than the hole", k_height_tolerance, kinds,
                   [=](const std::string& kind, const Scale& s) {
                     Setup setup;
                     const double half = 0.4, hole = half * (1.0 + 2.0 * room);
                     add_holed_plate(setup.scene,
                                     is_round ? primitive(PrimitiveKind::cone, {hole, hole, 1.5, 0.002},
                                                          {0, 0, -1.0}, PrimitiveOperation::subtract)
                                              : primitive(PrimitiveKind::rounded_box, {hole, hole, 1.5, 0.0},
                                                          {0, 0, -1.0}, PrimitiveOperation::subtract),
                                     s.L);
                     Body peg = kind == "capsule" ? capsule_body(half * s.L, 0.8 * s.L)
                                : is_round        ? cylinder_body(kind, half * s.L, s.L)
                                                  : box_body(kind, {half * s.L, half * s.L, s.L});
                     const double up = kind == "capsule" ? 1.2 * s.L : s.L;
                     setup.scene.add(std::move(peg), test::pose_at({0.0, 0.0, up + 0.1 * s.L}));
                     setup.scene.set_friction(0.1);
                     measure_height(setup, s, up - 2.0 * s.L, 6.0);
                     return setup;
                   }});
  };
  add_peg("a round peg falls into a round hole with 5 % of room all round", 0.05, true);
  add_peg("a round peg falls into a round hole with 1 % of room all round", 0.01, true);
  add_peg("a square peg falls into a square hole with 5 % of room all round", 0.05, false);
  add_peg("a square peg falls into a square hole with 1 % of room all round", 0.01, false);

  all.push_back({"enter: a ring falls over a peg",
                 "height at the end",
                 "floor + t of the ring",
                 k_height_tolerance,
                 {"capsule", "cylinder", "drum", "box"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene = test::floor_scene(0.1);
                   const double r = 0.45 * s.L, c = std::sqrt(0.5) * r;  // the hole has 0.5 L
                   Body peg = kind == "capsule" ? capsule_body(r, s.L)
                              : kind == "box"   ? box_body("box", {c, c, s.L})
                                                : cylinder_body(kind, r, s.L);
                   setup.scene.add(fixed(std::move(peg)), test::pose_at({0.0, 0.0, s.L}));
                   setup.scene.add(torus_body(0.75 * s.L, 0.25 * s.L), test::pose_at({0.0, 0.0, 3.0 * s.L}));
                   setup.scene.set_friction(0.1);
                   measure_height(setup, s, 0.25 * s.L, 7.0);
                   return setup;
                 }});

  all.push_back({"enter: a ball falls through a hole that is wider than it", "height fallen", "g t^2/2",
                 "1 % and a step's travel", ball_kinds(), [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   Body plate =
                       scaled_body("holed plate",
                                   {primitive(PrimitiveKind::rounded_box, {3.0, 3.0, 0.5, 0.0}, {0, 0, -0.5}),
                                    primitive(PrimitiveKind::cone, {1.06, 1.06, 1.0, 0.003}, {0, 0, -0.5},
                                              PrimitiveOperation::subtract)},
                                   s.L);
                   const Vec3<double> p = -plate.p_BA;
                   setup.scene.add(fixed(std::move(plate)), test::pose_at(p));
                   setup.scene.add(ball_body(kind, s.L), test::pose_at({0.0, 0.0, 1.2 * s.L}));
                   setup.seconds = 2.8 * s.T();
                   setup.exact = -0.5 * 2.8 * 2.8 * s.L;
                   setup.tolerance = 0.01 * std::abs(setup.exact) + 2.8 * s.h * s.V();
                   setup.measure = [](const Motion& m) { return m.displacement(1).z(); };
                   return setup;
                 }});

  all.push_back({"enter: a notched beam falls over another one",
                 "height of the notch above the other beam",
                 "0: the notch is 10 % wider than the beam",
                 k_height_tolerance,
                 {"box", "rounded_box", "polyhedron"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene.add(fixed(box_body(kind, {0.3 * s.L, 2.0 * s.L, 0.5 * s.L})),
                                   test::pose_at({0.0, 0.0, -0.5 * s.L}));  // its top is z = 0
                   Body beam = scaled_body("notched beam",
                                           {primitive(PrimitiveKind::rounded_box, {1.0, 0.3, 0.4, 0.0}),
                                            primitive(PrimitiveKind::rounded_box, {0.33, 0.5, 0.4, 0.0},
                                                      {0, 0, -0.4}, PrimitiveOperation::subtract)},
                                           s.L);
                   const double bottom = beam.p_BA.z();  // of the notch, in B
                   setup.scene.add(std::move(beam), test::pose_at({0.0, 0.0, 0.55 * s.L - bottom}));
                   setup.scene.set_friction(0.1);
                   measure_height(setup, s, -bottom, 6.0);
                   return setup;
                 }});

  all.push_back({"enter: a drawer slides between rails",
                 "distance",
                 "v t: without friction",
                 "0.5 %",
                 {"box", "rounded_box", "polyhedron"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   add_ground(setup.scene, "box", {0.0, 0.0}, s.L);
                   for (const double side : {-1.0, 1.0})
                     setup.scene.add(fixed(box_body("box", {2.0 * s.L, 0.3 * s.L, s.L})),
                                     test::pose_at({3.0 * s.L, side * 1.12 * s.L, 0.0}));
                   setup.scene.add(fixed(box_body("box", {2.0 * s.L, 1.4 * s.L, 0.2 * s.L})),
                                   test::pose_at({3.0 * s.L, 0.0, 1.04 * s.L}));
                   Actor actor = flat_actor(kind, s.L);
                   actor.body = box_body(kind, {s.L, 0.8 * s.L, 0.4 * s.L});
                   setup.scene.add(std::move(actor.body), test::pose_at({-0.5 * s.L, 0.0, 0.4 * s.L}),
                                   test::moving_at({0.6 * s.V(), 0.0, 0.0}));
                   setup.scene.set_friction(0.0);
                   setup.seconds = 5.0 * s.T();
                   setup.exact = 3.0 * s.L;
                   setup.tolerance = 0.015 * s.L;
                   setup.measure = [](const Motion& m) { return m.displacement(4).x(); };
                   return setup;
                 }});

  const auto add_pass = [&](const std::string& name,
                            const std::function<Setup(const std::string&, const Scale&)>& build,
                            const std::vector<std::string>& kinds) {
    all.push_back({"pass: " + name, "change of its velocity", "0: there is 1 % of its size between them",
                   k_untouched_tolerance, kinds, build});
  };
  add_pass(
      "flies over a table",
      [=](const std::string& kind, const Scale& s) {
        Setup setup;
        setup.scene.add(fixed(box_body("box", {2.0 * s.L, 3.0 * s.L, s.L})), test::pose_at({0.0, 0.0, -s.L}));
        const Actor actor = actor_of(kind, s.L);
        setup.scene.add(actor.body, {actor.q, {-4.0 * s.L, 0.0, actor.height + 0.02 * s.L}},
                        test::moving_at({s.V(), 0.0, 0.0}));
        measure_untouched(setup, s, 8.0);
        return setup;
      },
      any);
  add_pass(
      "flies past an upright edge",
      [=](const std::string& kind, const Scale& s) {
        Setup setup;
        const double c = std::sqrt(0.5);
        setup.scene.add(fixed(box_body("box", {s.L, s.L, 3.0 * s.L})),
                        test::pose_at({0.0, -s.L / c, 0.0}, {0.0, 0.0, 0.25 * std::numbers::pi}));
        const Actor actor = actor_of(kind, s.L);
        const double reach = kind == "sphere" || kind == "torus" ? 1.0
                             : kind == "ellipsoid"               ? 1.0
                             : kind == "capsule"                 ? 1.5
                             : kind == "padded_polygon"          ? 0.9
                                                                 : 0.8;
        setup.scene.add(actor.body, {actor.q, {-3.0 * s.L, (reach + 0.02) * s.L, 0.0}},
                        test::moving_at({s.V(), 0.0, 0.0}));
        measure_untouched(setup, s, 6.0);
        return setup;
      },
      any);
  add_pass("a capsule flies over a crossed one",
           [=](const std::string&, const Scale& s) {
             Setup setup;
             setup.scene.add(fixed(capsule_body(0.3 * s.L, s.L)), {along_x(), Vec3<double>::Zero()});
             setup.scene.add(capsule_body(0.3 * s.L, s.L), {along_y(), {-3.0 * s.L, 0.3 * s.L, 0.62 * s.L}},
                             test::moving_at({s.V(), 0.0, 0.0}));
             measure_untouched(setup, s, 6.0);
             return setup;
           },
           {"capsule"});
  add_pass(
      "a bar flies over a crossed one",
      [=](const std::string& kind, const Scale& s) {
        Setup setup;
        setup.scene.add(fixed(box_body(kind, {s.L, 0.2 * s.L, 0.2 * s.L})));
        setup.scene.add(box_body(kind, {0.2 * s.L, s.L, 0.2 * s.L}),
                        test::pose_at({-3.0 * s.L, 0.3 * s.L, 0.42 * s.L}),
                        test::moving_at({s.V(), 0.0, 0.0}));
        measure_untouched(setup, s, 6.0);
        return setup;
      },
      box_kinds());
  add_pass("a pole flies through a ring",
           [=](const std::string& kind, const Scale& s) {
             Setup setup;
             setup.scene.add(fixed(torus_body(0.75 * s.L, 0.25 * s.L)));
             Body pole = kind == "capsule"  ? capsule_body(0.48 * s.L, s.L)
                         : kind == "sphere" ? sphere_body(0.48 * s.L)
                                            : cylinder_body(kind, 0.48 * s.L, s.L);
             setup.scene.add(std::move(pole), test::pose_at({0.0, 0.0, 3.0 * s.L}),
                             test::moving_at({0.0, 0.0, -s.V()}));
             measure_untouched(setup, s, 6.0);
             return setup;
           },
           {"sphere", "capsule", "cylinder", "drum"});

  all.push_back({"fall: rolls off a table and falls beside it",
                 "height fallen",
                 "g (t - d/v)^2/2: v^2 > g r, so that it leaves the edge at once",
                 "3 % and a step's travel",
                 {"sphere", "capsule", "drum", "cylinder"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   add_ground(setup.scene, "box", {}, s.L);
                   const Actor actor = rolling_actor(kind, s.L);
                   const double v = 1.2 * s.V();
                   setup.scene.add(actor.body, {actor.q, {10.8 * s.L, 0.0, s.L}},
                                   stack<double>(Vec3<double>(0.0, v / s.L, 0.0), Vec3<double>(v, 0.0, 0.0)));
                   // 1.2 L to the edge take sqrt(L/g), the fall sqrt(6) of it.
                   setup.seconds = (1.0 + std::sqrt(6.0)) * s.T();
                   setup.exact = -3.0 * s.L;
                   setup.tolerance = 0.09 * s.L + 2.5 * s.h * s.V();
                   setup.measure = [](const Motion& m) { return m.displacement(1).z(); };
                   return setup;
                 }});

  all.push_back({"fall: a box pushed over the end of a table falls off it",
                 "whether it lies below (1) or on it (0)", "1: its centre of mass is beyond the end",
                 "outcome", box_kinds(), [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   add_ground(setup.scene, "box", {}, s.L);
                   setup.scene.add(box_body(kind, {s.L, 0.8 * s.L, 0.6 * s.L}),
                                   test::pose_at({12.1 * s.L, 0.0, 0.6 * s.L}));
                   setup.exact = 1.0;
                   setup.tolerance = 0.5;
                   setup.seconds = 8.0 * s.T();
                   setup.measure = [L = s.L](const Motion& m) {
                     return m.position(1).z() < -2.0 * L ? 1.0 : 0.0;
                   };
                   return setup;
                 }});
}

}  // namespace abut::truth
