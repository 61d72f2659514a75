// Slide: bodies that lie on a face, on floors, tables, seams, slopes and in grooves.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tests/truth/situations/bodies.h"

namespace abut::truth {

namespace {

constexpr double k_mu = 0.4;

struct Slide {
  std::string ground = "half_space";
  double friction = k_mu, angle = 0.0;
  double speed = 0.0;  ///< down the slope, in V
};

/// The actor (the last body) on its ground; the floor's friction is also that of the actor.
Setup flat_on_ground(const std::string& kind, const Scale& s, const Slide& slide) {
  Setup setup;
  const Ground ground{slide.friction, slide.angle};
  add_ground(setup.scene, slide.ground, ground, s.L);
  Actor actor = flat_actor(kind, s.L);
  actor.body.material.friction = slide.friction;
  setup.scene.add(std::move(actor.body), ground.pose(0.0, actor.height),
                  test::moving_at(slide.speed * s.V() * ground.down()));
  const int b = setup.scene.model.body_count() - 1;
  setup.measure = [b, down = ground.down()](const Motion& m) { return down.dot(m.displacement(b)); };
  return setup;
}

Body& actor_of(Setup& setup) { return setup.scene.model.bodies.back(); }

/// x = v^2/(2 mu g), shorter by h v/2 as a step moves a body with the velocity of its end.
Setup stops(const std::string& kind, const Scale& s, const std::string& ground, double speed) {
  Setup setup = flat_on_ground(kind, s, {ground, k_mu, 0.0, speed});
  setup.exact = 0.5 * speed * speed / k_mu * s.L;
  setup.tolerance = 0.01 * setup.exact + s.h * speed * s.V();
  setup.seconds = 1.3 * speed / k_mu * s.T();
  return setup;
}
const char* const k_stop_tolerance =
    "1 % and a step's travel: a step moves a body with the velocity of its end, which is short by h v/2";

}  // namespace

void add_slides(Situations& all) {
  const auto add_stop = [&](const std::string& name, const std::string& ground, double speed) {
    all.push_back({"slide: " + name, "distance", "v^2/(2 mu g)", k_stop_tolerance, flat_kinds(),
                   [=](const std::string& kind, const Scale& s) { return stops(kind, s, ground, speed); }});
  };
  add_stop("stops on a floor", "half_space", 1.5);
  add_stop("stops on a table that is a box", "box", 1.5);
  add_stop("stops on a table that is a polyhedron", "polyhedron", 1.5);
  add_stop("stops on flush tables, across their seams", "seam", 2.2);
  add_stop("stops after a short way", "half_space", 0.5);

  const auto add_slope = [&](const std::string& name, const std::string& ground, double friction,
                             double tangent, double speed, const std::string& source) {
    all.push_back({"slide: " + name, "distance down the slope", source,
                   "1 % and two steps' travel at the last speed: first order in h", flat_kinds(),
                   [=](const std::string& kind, const Scale& s) {
                     const double angle = std::atan(tangent);
                     Setup setup = flat_on_ground(kind, s, {ground, friction, angle, speed});
                     const double a = std::sin(angle) - friction * std::cos(angle), T = 3.0;
                     setup.seconds = T * s.T();
                     setup.exact = (speed * T + 0.5 * a * T * T) * s.L;
                     setup.tolerance = 0.01 * setup.exact + 2.0 * s.h * (speed + a * T) * s.V();
                     return setup;
                   }});
  };
  add_slope("speeds up on a slope", "half_space", 0.3, 0.6, 0.0, "g (sin a - mu cos a) t^2/2");
  add_slope("speeds up on a tilted table", "box", 0.3, 0.6, 0.0, "g (sin a - mu cos a) t^2/2");
  add_slope("speeds up on a slope without friction", "half_space", 0.0, 0.3, 0.0, "g sin a t^2/2");
  add_slope("speeds up just beyond the angle of friction", "half_space", 0.5, 0.6, 0.0,
            "g (sin a - mu cos a) t^2/2");
  add_slope("keeps its speed without friction", "half_space", 0.0, 0.0, 1.0, "v t");
  add_slope("keeps its speed on a table without friction", "box", 0.0, 0.0, 1.0, "v t");
  add_slope("keeps its speed across seams without friction", "seam", 0.0, 0.0, 1.0, "v t");
  add_slope("keeps its speed at the angle of friction", "half_space", 0.5, 0.5, 1.0, "v t as tan a = mu");

  const auto add_hold = [&](const std::string& name, const std::string& ground, double tangent) {
    all.push_back({"slide: " + name, "displacement", "0 as tan a < mu",
                   "0.5 % of its size: creep of regularised friction is allowed that much in 5 sqrt(L/g)",
                   flat_kinds(), [=](const std::string& kind, const Scale& s) {
                     Setup setup = flat_on_ground(kind, s, {ground, 0.5, std::atan(tangent), 0.0});
                     setup.seconds = 5.0 * s.T();
                     setup.tolerance = 0.005 * 2.0 * s.L;
                     return setup;
                   }});
  };
  add_hold("stays on a slope below the angle of friction", "half_space", 0.4);
  add_hold("stays on a tilted table below the angle of friction", "box", 0.4);
  add_hold("stays on a slope just below the angle of friction", "half_space", 0.48);

  all.push_back({"slide: goes up a slope and stops there", "distance up the slope",
                 "v^2/(2 g (sin a + mu cos a))", k_stop_tolerance, flat_kinds(),
                 [](const std::string& kind, const Scale& s) {
                   const double angle = std::atan(0.3), v = 1.5, mu = 0.5;
                   Setup setup = flat_on_ground(kind, s, {"half_space", mu, angle, -v});
                   const double a = std::sin(angle) + mu * std::cos(angle);
                   setup.exact = -0.5 * v * v / a * s.L;
                   setup.tolerance = 0.01 * std::abs(setup.exact) + s.h * v * s.V();
                   setup.seconds = 1.5 * v / a * s.T();
                   return setup;
                 }});

  const auto add_push = [&](const std::string& name, double force, double direction,
                            const std::string& source) {
    all.push_back({"slide: " + name, "distance along the push", source,
                   "1 % (0.5 % of the size where it stays) and two steps' travel", flat_kinds(),
                   [=](const std::string& kind, const Scale& s) {
                     Setup setup = flat_on_ground(kind, s, {"half_space", k_mu, 0.0, 0.0});
                     Body& body = actor_of(setup);
                     const Vec3<double> along(std::cos(direction), std::sin(direction), 0.0);
                     body.external_wrench.tail<3>() = force * k_mu * body.mass * k_g * along;
                     const double a = std::max(0.0, force - 1.0) * k_mu, T = 4.0;
                     setup.seconds = T * s.T();
                     setup.exact = 0.5 * a * T * T * s.L;
                     setup.tolerance = 0.01 * setup.exact + 2.0 * s.h * a * T * s.V() + 0.01 * s.L;
                     const int b = setup.scene.model.body_count() - 1;
                     setup.measure = [b, along](const Motion& m) { return along.dot(m.displacement(b)); };
                     return setup;
                   }});
  };
  add_push("is pushed by less than friction holds", 0.8, 0.0, "0 as F < mu m g");
  add_push("is pushed by more than friction holds", 1.6, 0.0, "(F/m - mu g) t^2/2");
  add_push("is pushed obliquely", 1.6, 0.125 * std::numbers::pi, "(F/m - mu g) t^2/2 along the push");

  all.push_back({"slide: is pushed obliquely and does not leave the line of the push",
                 "distance across the push", "0 by symmetry of friction", "2 % of the way along the push",
                 flat_kinds(), [](const std::string& kind, const Scale& s) {
                   Setup setup = flat_on_ground(kind, s, {"half_space", k_mu, 0.0, 0.0});
                   Body& body = actor_of(setup);
                   const double c = std::sqrt(0.5);
                   body.external_wrench.tail<3>() = 1.6 * k_mu * body.mass * k_g * Vec3<double>(c, c, 0.0);
                   setup.seconds = 4.0 * s.T();
                   setup.tolerance = 0.02 * 0.5 * 0.6 * k_mu * 16.0 * s.L;
                   const int b = setup.scene.model.body_count() - 1;
                   setup.measure = [b, c](const Motion& m) {
                     return c * (m.displacement(b).y() - m.displacement(b).x());
                   };
                   return setup;
                 }});

  all.push_back({"slide: does not turn where it slides straight", "angle turned",
                 "0: friction of an evenly loaded face has no moment about the vertical, and it lies flat",
                 "0.01 rad", flat_kinds(), [](const std::string& kind, const Scale& s) {
                   Setup setup = stops(kind, s, "box", 1.5);
                   const int b = setup.scene.model.body_count() - 1;
                   setup.exact = 0.0;
                   setup.tolerance = 0.01;
                   setup.measure = [b](const Motion& m) { return m.turn(b); };
                   return setup;
                 }});

  all.push_back({"slide: stays at its height while it slides", "largest change of height",
                 "0: a flat face on a plane", "0.5 % of its size", flat_kinds(),
                 [](const std::string& kind, const Scale& s) {
                   Setup setup = stops(kind, s, "box", 1.5);
                   const auto b = static_cast<std::size_t>(setup.scene.model.body_count() - 1);
                   setup.exact = 0.0;
                   setup.tolerance = 0.005 * 2.0 * s.L;
                   setup.measure = [b](const Motion& m) {
                     double largest = 0.0;
                     for (const State& state : m.states)
                       largest = std::max(largest, std::abs(state.X_WB[b].p.z() - m.first().X_WB[b].p.z()));
                     return largest;
                   };
                   return setup;
                 }});

  all.push_back({"slide: a capsule or cylinder on its side stops along its axis",
                 "distance",
                 "v^2/(2 mu g)",
                 k_stop_tolerance,
                 {"capsule", "cylinder", "drum"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene = test::floor_scene(k_mu);
                   Body body = kind == "capsule" ? capsule_body(0.5 * s.L, 0.5 * s.L)
                                                 : cylinder_body(kind, 0.5 * s.L, s.L);
                   body.material.friction = k_mu;
                   setup.scene.add(std::move(body), {along_x(), {0.0, 0.0, 0.5 * s.L}},
                                   test::moving_at({1.5 * s.V(), 0.0, 0.0}));
                   setup.exact = 0.5 * 1.5 * 1.5 / k_mu * s.L;
                   setup.tolerance = 0.01 * setup.exact + 1.5 * s.h * s.V();
                   setup.seconds = 5.0 * s.T();
                   setup.measure = [](const Motion& m) { return m.displacement(1).x(); };
                   return setup;
                 }});

  all.push_back({"slide: a box stops in a right-angled groove", "distance",
                 "v^2/(2 sqrt(2) mu g): N = m g/sqrt(2) at either wall", k_stop_tolerance, box_kinds(),
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   for (const double side : {-1.0, 1.0}) {
                     const double angle = side * 0.25 * std::numbers::pi;
                     const Pose<double> wall = test::pose_at(Vec3<double>::Zero(), {angle, 0.0, 0.0});
                     setup.scene.add(fixed(box_body("box", {8.0 * s.L, 4.0 * s.L, s.L})),
                                     {wall.q, wall.q * Vec3<double>(0.0, side * 4.0 * s.L, -s.L)});
                   }
                   const double v = 1.8, half = 0.8 * s.L;
                   setup.scene.add(box_body(kind, {s.L, half, half}),
                                   test::pose_at({-2.0 * s.L, 0.0, std::sqrt(2.0) * half},
                                                 {0.25 * std::numbers::pi, 0.0, 0.0}),
                                   test::moving_at({v * s.V(), 0.0, 0.0}));
                   setup.scene.set_friction(k_mu);
                   setup.exact = 0.5 * v * v / (std::sqrt(2.0) * k_mu) * s.L;
                   setup.tolerance = 0.01 * setup.exact + s.h * v * s.V();
                   setup.seconds = 1.3 * v / (std::sqrt(2.0) * k_mu) * s.T();
                   setup.measure = [](const Motion& m) { return m.displacement(2).x(); };
                   return setup;
                 }});

  all.push_back({"slide: slows down by linear damping",
                 "distance",
                 "v/c (1 - exp(-c t))",
                 "1 % and a step's travel: damping is of first order in h",
                 {"box", "cylinder", "torus"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup = flat_on_ground(kind, s, {"half_space", 0.0, 0.0, 1.0});
                   const double c = 0.5 / s.T();
                   actor_of(setup).linear_damping = c;
                   setup.seconds = 4.0 * s.T();
                   setup.exact = s.V() / c * (1.0 - std::exp(-2.0));
                   setup.tolerance = 0.01 * setup.exact + s.h * s.V();
                   return setup;
                 }});

  all.push_back({"slide: crosses from a smooth table to a rough one",
                 "speed at the end",
                 "0: friction stops it within v^2/(2 mu g)",
                 "1 % of its first speed",
                 {"box", "rounded_box", "polyhedron"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   for (const double side : {-1.0, 1.0}) {
                     const int b = setup.scene.add(fixed(box_body("box", {4.0 * s.L, 4.0 * s.L, s.L})),
                                                   test::pose_at({side * 4.0 * s.L, 0.0, -s.L}));
                     setup.scene.body(b).material.friction = side < 0.0 ? 0.0 : 0.5;
                   }
                   Actor actor = flat_actor(kind, s.L);
                   setup.scene.add(std::move(actor.body), test::pose_at({-2.0 * s.L, 0.0, actor.height}),
                                   test::moving_at({1.2 * s.V(), 0.0, 0.0}));
                   setup.tolerance = 0.012 * s.V();
                   setup.seconds = 8.0 * s.T();
                   setup.measure = [](const Motion& m) { return m.velocity(2).norm(); };
                   return setup;
                 }});
}

}  // namespace abut::truth
