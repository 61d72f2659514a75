// Rest: where bodies lie, by geometry.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tests/truth/situations/bodies.h"

namespace abut::truth {

namespace {

constexpr double k_start = 0.02;  // height above rest that a body is let go at [L]
const char* const k_height_tolerance =
    "1 % of its size: near-rigid contacts, rounded edges of 0.4 % and less";

/// The height of the last body at the end.
void measure_height(Setup& setup, const Scale& s, double exact, double T = 8.0) {
  const int b = setup.scene.model.body_count() - 1;
  setup.exact = exact;
  setup.tolerance = 0.01 * 2.0 * s.L;
  setup.seconds = T * s.T();
  setup.measure = [b](const Motion& m) { return m.position(b).z(); };
}

/// The largest displacement of the last body from where it is put.
void measure_stay(Setup& setup, const Scale& s, double T = 8.0) {
  const int b = setup.scene.model.body_count() - 1;
  setup.tolerance = 0.01 * 2.0 * s.L;
  setup.seconds = T * s.T();
  setup.measure = [b](const Motion& m) { return m.displacement(b).norm(); };
}

const std::vector<std::string> k_lying{"sphere", "capsule", "cylinder", "drum"};

void add_groove(test::TestScene& scene, double L, double half_angle) {
  for (const double side : {-1.0, 1.0}) {
    const Eigen::Quaterniond q = exp_quaternion<double>(Vec3<double>(0.0, -side * half_angle, 0.0));
    scene.add(fixed(box_body("box", {3.0 * L, 3.0 * L, L})),
              {q, Vec3<double>(q * Vec3<double>(side * 3.0 * L, 0.0, -L))});
  }
}

/// Two tables with a gap of that width between them, across x; their tops are z = 0.
void add_gap(test::TestScene& scene, double L, double gap) {
  for (const double side : {-1.0, 1.0})
    scene.add(fixed(box_body("box", {3.0 * L, 3.0 * L, 2.0 * L})),
              test::pose_at({side * (3.0 * L + 0.5 * gap), 0.0, -2.0 * L}));
}

}  // namespace

void add_rests(Situations& all) {
  for (const auto& [name, ground] : {std::pair<std::string, std::string>{"on a floor", "half_space"},
                                     {"on a table", "box"},
                                     {"on a table that is a polyhedron", "polyhedron"},
                                     {"on a seam of two tables", "seam"}}) {
    const double x = ground == "seam" ? 1.15 : 0.0;
    all.push_back({"rest: lies " + name, "height of its centre", "that of its centre of mass above its face",
                   k_height_tolerance, flat_kinds(), [ground, x](const std::string& kind, const Scale& s) {
                     Setup setup;
                     add_ground(setup.scene, ground, {}, s.L);
                     Actor actor = flat_actor(kind, s.L);
                     setup.scene.add(std::move(actor.body),
                                     test::pose_at({x * s.L, 0.0, actor.height + k_start * s.L}));
                     measure_height(setup, s, actor.height);
                     return setup;
                   }});
  }
  for (const auto& [name, ground] : {std::pair<std::string, std::string>{"a floor", "half_space"},
                                     {"a table", "box"},
                                     {"a seam of two tables", "seam"}}) {
    const double x = ground == "seam" ? 1.15 : 0.0;
    all.push_back({"rest: a round body rests on " + name, "largest displacement", "0", "1 % of its size",
                   rolling_kinds(), [ground, x](const std::string& kind, const Scale& s) {
                     Setup setup;
                     add_ground(setup.scene, ground, {}, s.L);
                     Actor actor = rolling_actor(kind, s.L);
                     setup.scene.add(std::move(actor.body), {actor.q, {x * s.L, 0.0, actor.height}});
                     measure_stay(setup, s);
                     return setup;
                   }});
  }

  all.push_back({"rest: a box overhangs the end of a table by less than half", "largest displacement",
                 "0: its centre of mass is 0.1 of its length inside", "1 % of its size", box_kinds(),
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   add_ground(setup.scene, "box", {}, s.L);
                   setup.scene.add(box_body(kind, {s.L, 0.8 * s.L, 0.6 * s.L}),
                                   test::pose_at({11.8 * s.L, 0.0, 0.6 * s.L}));
                   measure_stay(setup, s);
                   return setup;
                 }});

  all.push_back({"rest: a box bridges a gap", "largest displacement", "0", "1 % of its size", flat_kinds(),
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   add_gap(setup.scene, s.L, 0.6 * s.L);
                   Actor actor = flat_actor(kind, s.L);
                   setup.scene.add(std::move(actor.body), test::pose_at({0.0, 0.0, actor.height}));
                   measure_stay(setup, s);
                   return setup;
                 }});

  for (const double half_angle : {0.25 * std::numbers::pi, 0.5}) {
    all.push_back({half_angle < 0.7 ? "rest: a round body lies in a shallow groove"
                                    : "rest: a round body lies in a right-angled groove",
                   "height of its centre", "r/cos(slope of the walls)", k_height_tolerance, k_lying,
                   [half_angle](const std::string& kind, const Scale& s) {
                     Setup setup;
                     add_groove(setup.scene, s.L, half_angle);
                     Actor actor = rolling_actor(kind, s.L);
                     const double z = s.L / std::cos(half_angle);
                     setup.scene.add(std::move(actor.body), {actor.q, {0.0, 0.0, z + k_start * s.L}});
                     measure_height(setup, s, z);
                     return setup;
                   }});
  }

  all.push_back({"rest: a box lies with its edge in a right-angled groove", "height of its centre",
                 "half diagonal of its section", k_height_tolerance, box_kinds(),
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   add_groove(setup.scene, s.L, 0.25 * std::numbers::pi);
                   const double z = std::sqrt(2.0) * 0.8 * s.L;
                   setup.scene.add(
                       box_body(kind, {0.8 * s.L, s.L, 0.8 * s.L}),
                       test::pose_at({0.0, 0.0, z + k_start * s.L}, {0.0, 0.25 * std::numbers::pi, 0.0}));
                   measure_height(setup, s, z);
                   return setup;
                 }});

  all.push_back({"rest: a round body lies across a gap of two tables, along it", "height of its centre",
                 "sqrt(r^2 - (gap/2)^2)", k_height_tolerance, k_lying,
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   add_gap(setup.scene, s.L, 1.2 * s.L);
                   Actor actor = rolling_actor(kind, s.L);
                   const double z = 0.8 * s.L;
                   setup.scene.add(std::move(actor.body), {actor.q, {0.0, 0.0, z + k_start * s.L}});
                   measure_height(setup, s, z);
                   return setup;
                 }});

  all.push_back(
      {"rest: a ball lies on a round hole", "height of its centre", "sqrt(r^2 - a^2)", k_height_tolerance,
       ball_kinds(), [](const std::string& kind, const Scale& s) {
         Setup setup;
         Body plate =
             scaled_body("holed plate",
                         {primitive(PrimitiveKind::rounded_box, {3.0, 3.0, 1.0, 0.0}, {0.0, 0.0, -1.0}),
                          primitive(PrimitiveKind::cone, {0.8, 0.8, 1.5, 0.003}, {0.0, 0.0, -1.0},
                                    PrimitiveOperation::subtract)},
                         s.L);
         const Vec3<double> p = -plate.p_BA;
         setup.scene.add(fixed(std::move(plate)), test::pose_at(p));
         setup.scene.add(ball_body(kind, s.L), test::pose_at({0.01 * s.L, 0.0, (0.6 + k_start) * s.L}));
         measure_height(setup, s, 0.6 * s.L);
         return setup;
       }});

  all.push_back({"rest: a ball lies on a ring", "height of its centre", "sqrt((r + t)^2 - R^2)",
                 k_height_tolerance, ball_kinds(), [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene.add(fixed(torus_body(0.8 * s.L, 0.2 * s.L)));
                   const double z = std::sqrt(1.2 * 1.2 - 0.8 * 0.8) * s.L;
                   setup.scene.add(ball_body(kind, s.L), test::pose_at({0.01 * s.L, 0.0, z + k_start * s.L}));
                   measure_height(setup, s, z);
                   return setup;
                 }});

  all.push_back({"rest: a ball lies on three balls", "height of its centre",
                 "sqrt((r + r)^2 - d^2), d the distance of theirs from the axis", k_height_tolerance,
                 ball_kinds(), [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   const double d = 1.3 * s.L, z = std::sqrt(4.0 - 1.3 * 1.3) * s.L;
                   for (int i = 0; i < 3; ++i) {
                     const double turn = 2.0 * std::numbers::pi * i / 3.0;
                     setup.scene.add(fixed(ball_body(kind, s.L)),
                                     test::pose_at({d * std::cos(turn), d * std::sin(turn), 0.0}));
                   }
                   setup.scene.add(ball_body(kind, s.L), test::pose_at({0.01 * s.L, 0.0, z + k_start * s.L}));
                   measure_height(setup, s, z);
                   return setup;
                 }});

  all.push_back(
      {"rest: a body lies on two rails", "height of its centre", "r of the rails + its own height",
       k_height_tolerance, flat_kinds(), [](const std::string& kind, const Scale& s) {
         Setup setup;
         for (const double x : {-0.45, 0.45})
           setup.scene.add(fixed(capsule_body(0.2 * s.L, 2.0 * s.L)), {along_y(), {x * s.L, 0.0, 0.0}});
         Actor actor = flat_actor(kind, s.L);
         const double z = 0.2 * s.L + actor.height;
         setup.scene.add(std::move(actor.body), test::pose_at({0.0, 0.0, z + k_start * s.L}));
         measure_height(setup, s, z);
         return setup;
       }});

  all.push_back(
      {"rest: a body lies on a lying ring", "height of its centre",
       "t of the ring + its own height; of a ring, sqrt((t + t')^2 - (R - R')^2)", k_height_tolerance,
       flat_kinds(), [](const std::string& kind, const Scale& s) {
         Setup setup;
         setup.scene.add(fixed(torus_body(0.5 * s.L, 0.15 * s.L)));
         Actor actor = flat_actor(kind, s.L);
         // Of two rings, in the middle of each other, the circles are (0.7 - 0.5) L apart.
         const double z =
             kind == "torus" ? std::sqrt(0.45 * 0.45 - 0.2 * 0.2) * s.L : 0.15 * s.L + actor.height;
         setup.scene.add(std::move(actor.body), test::pose_at({0.02 * s.L, 0.0, z + k_start * s.L}));
         measure_height(setup, s, z);
         return setup;
       }});

  all.push_back({"rest: a body lies in a corner of two walls and a floor",
                 "largest displacement",
                 "0",
                 "1 % of its size",
                 {"sphere", "box", "rounded_box", "polyhedron", "drum"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   add_ground(setup.scene, "half_space", {}, s.L);
                   for (int i = 0; i < 2; ++i) {
                     Vec3<double> half = Vec3<double>::Constant(3.0 * s.L), at(0.0, 0.0, 0.0);
                     half[i] = 0.5 * s.L;
                     at[i] = -0.5 * s.L;
                     setup.scene.add(fixed(box_body("box", half)), test::pose_at(at));
                   }
                   Actor actor = kind == "sphere" ? rolling_actor(kind, s.L) : flat_actor(kind, s.L);
                   const double x = kind == "drum" ? 0.8 : 1.0, y = kind == "sphere" ? 1.0 : 0.8;
                   setup.scene.add(std::move(actor.body), test::pose_at({x * s.L, y * s.L, actor.height}));
                   measure_stay(setup, s);
                   return setup;
                 }});

  const auto add_ladder = [&](const std::string& name, double factor) {
    const bool stays = factor > 1.0;
    all.push_back(
        {"rest: a ladder against a smooth wall " + name,
         "whether it slips (1) or stays (0)",
         "mu of the floor against l sin a/(2 (r + l cos a)), moments about its foot",
         "outcome; mu is 5 % from the limit; it slips when its foot has moved by 5 %",
         {"capsule", "box"},
         [=](const std::string& kind, const Scale& s) {
           Setup setup;
           const double a = 0.5, r = kind == "box" ? 0.0 : 0.03, l = 2.0 - 2.0 * r;
           const double limit = 0.5 * l * std::sin(a) / (r + l * std::cos(a)), mu = factor * limit;
           add_ground(setup.scene, "half_space", {mu, 0.0}, s.L);
           setup.scene.add(fixed(box_body("box", {s.L, 3.0 * s.L, 4.0 * s.L})),
                           test::pose_at({-s.L, 0.0, 0.0}));
           setup.scene.body(1).material.friction = 0.0;
           Body ladder = kind == "box" ? box_body("box", {0.03 * s.L, 0.3 * s.L, s.L})
                                       : capsule_body(r * s.L, 0.5 * l * s.L);
           ladder.material.friction = mu;
           // A box touches with the lower edge of its lower face and the upper edge of its upper one.
           double x = r + 0.5 * l * std::sin(a), z = r + 0.5 * l * std::cos(a);
           if (kind == "box") {
             x = 0.03 * std::cos(a) + std::sin(a);
             z = 0.03 * std::sin(a) + std::cos(a);
             const double top = 2.0 * std::cos(a), arm = std::sin(a) - 0.03 * std::cos(a);
             const double box_limit = arm / top;
             setup.scene.body(0).material.friction = ladder.material.friction = factor * box_limit;
           }
           setup.scene.add(std::move(ladder), test::pose_at({x * s.L, 0.0, z * s.L}, {0.0, -a, 0.0}));
           setup.exact = stays ? 0.0 : 1.0;
           setup.tolerance = 0.5;
           setup.seconds = 8.0 * s.T();
           setup.measure = [L = s.L](const Motion& m) {
             return m.displacement(2).norm() > 0.05 * L ? 1.0 : 0.0;
           };
           return setup;
         }});
  };
  add_ladder("stays with enough friction", 1.05);
  add_ladder("slips with too little friction", 0.95);

  all.push_back(
      {"rest: a body at rest does not creep", "displacement in 20 sqrt(L/g)", "0", "0.1 % of its size",
       flat_kinds(), [](const std::string& kind, const Scale& s) {
         Setup setup;
         add_ground(setup.scene, "box", {}, s.L);
         Actor actor = flat_actor(kind, s.L);
         setup.scene.add(std::move(actor.body), test::pose_at({0.3 * s.L, 0.2 * s.L, actor.height}));
         measure_stay(setup, s, 20.0);
         setup.tolerance = 0.001 * 2.0 * s.L;
         setup.measure = [](const Motion& m) { return m.displacement(1).head<2>().norm(); };
         return setup;
       }});
}

}  // namespace abut::truth
