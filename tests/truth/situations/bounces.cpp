// Bounce: one body against ground that does not move.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tests/truth/situations/bodies.h"

namespace abut::truth {

namespace {

void set_restitution(Setup& setup, double e) {
  for (Body& body : setup.scene.model.bodies) body.material.restitution = e;
}

std::vector<std::string> falling_kinds() {
  std::vector<std::string> kinds = flat_kinds();
  kinds.insert(kinds.end(), {"sphere", "capsule", "ellipsoid"});
  return kinds;
}
Actor falling(const std::string& kind, double L) {
  return kind == "sphere" || kind == "capsule" || kind == "ellipsoid" ? rolling_actor(kind, L)
                                                                      : flat_actor(kind, L);
}

/// A body let go at L above rest.
Setup dropped(const std::string& kind, const Scale& s, const std::string& ground, double e) {
  Setup setup;
  add_ground(setup.scene, ground, {}, s.L);
  const Actor actor = falling(kind, s.L);
  setup.scene.add(actor.body, {actor.q, {0.0, 0.0, actor.height + s.L}});
  set_restitution(setup, e);
  return setup;
}

}  // namespace

void add_bounces(Situations& all) {
  const auto add_drop = [&](const std::string& name, const std::string& ground, double e) {
    all.push_back({"bounce: " + name, "height of the rebound", "e^2 times the fall",
                   "2 % of the fall, and the speed of impact is known to a step: 2 g h u", falling_kinds(),
                   [=](const std::string& kind, const Scale& s) {
                     Setup setup = dropped(kind, s, ground, e);
                     const double u = std::sqrt(2.0);
                     setup.exact = e * e * s.L;
                     setup.tolerance = 0.02 * s.L + (e > 0.0 ? s.h * u * s.V() : 0.0);
                     setup.seconds = (u + 1.4 * e * u + 0.2) * s.T();
                     setup.measure = [u, T = s.T(), L = s.L](const Motion& m) {
                       double largest = -L;
                       for (std::size_t k = 0; k < m.states.size(); ++k) {
                         if (static_cast<double>(k) * m.h < u * T + 2.0 * m.h) continue;
                         largest = std::max(largest, m.states[k].X_WB[1].p.z());
                       }
                       return largest - (m.first().X_WB[1].p.z() - L);
                     };
                     return setup;
                   }});
  };
  add_drop("falls on a floor and rebounds, e = 0.8", "half_space", 0.8);
  add_drop("falls on a floor and rebounds, e = 1", "half_space", 1.0);
  add_drop("falls on a floor and rebounds, e = 0.3", "half_space", 0.3);
  add_drop("falls on a floor and does not rebound, e = 0", "half_space", 0.0);
  add_drop("falls on a table and rebounds, e = 0.8", "box", 0.8);
  add_drop("falls on a table and does not rebound, e = 0", "box", 0.0);

  all.push_back({"bounce: a flat landing does not turn it", "angle turned by the rebound", "0 by symmetry",
                 "0.02 rad", flat_kinds(), [](const std::string& kind, const Scale& s) {
                   Setup setup = dropped(kind, s, "half_space", 0.8);
                   setup.tolerance = 0.02;
                   setup.seconds = 2.5 * s.T();
                   setup.measure = [](const Motion& m) { return m.turn(1); };
                   return setup;
                 }});

  all.push_back({"bounce: comes to rest in a finite time",
                 "height above rest after 1.3 times that time",
                 "0 after t (1 + e)/(1 - e), t the time of the first fall: geometric series",
                 "1 % of the fall",
                 {"sphere", "capsule", "ellipsoid"},
                 [](const std::string& kind, const Scale& s) {
                   const double e = 0.5;
                   Setup setup = dropped(kind, s, "half_space", e);
                   setup.tolerance = 0.01 * s.L;
                   setup.seconds = 1.3 * std::sqrt(2.0) * (1.0 + e) / (1.0 - e) * s.T();
                   setup.measure = [](const Motion& m) {
                     const double rest = m.first().X_WB[1].p.z();
                     return m.position(1).z() - rest;
                   };
                   setup.exact = -s.L;
                   return setup;
                 }});

  const auto add_oblique = [&](const std::string& name, double mu, double e, double angle) {
    all.push_back({"bounce: " + name, "speed along the floor after the impact",
                   "v - min(mu (1 + e) u, v k/(1 + k)), k = I/(m r^2)", "1 % of v", ball_kinds(),
                   [=](const std::string& kind, const Scale& s) {
                     Setup setup;
                     setup.scene.model.gravity.setZero();
                     setup.scene.add(fixed(box_body("box", {6.0 * s.L, 6.0 * s.L, s.L})),
                                     test::pose_at({0.0, 0.0, -s.L}));
                     const double v = std::sin(angle), u = std::cos(angle);
                     Body ball = ball_body(kind, s.L);
                     const double k = ball.inertia(1, 1) / (ball.mass * s.L * s.L);
                     setup.scene.add(std::move(ball), test::pose_at({0.0, 0.0, s.L + 1.013 * u * s.L}),
                                     test::moving_at({v * s.V(), 0.0, -u * s.V()}));
                     setup.scene.set_friction(mu);
                     set_restitution(setup, e);
                     setup.exact = (v - std::min(mu * (1.0 + e) * u, v * k / (1.0 + k))) * s.V();
                     setup.tolerance = 0.01 * s.V();
                     setup.seconds = 1.5 * s.T();
                     setup.measure = [](const Motion& m) { return m.velocity(1).x(); };
                     return setup;
                   }});
  };
  add_oblique("a ball meets a wall obliquely without friction", 0.0, 0.8, 0.8);
  add_oblique("a ball meets a wall obliquely and slips", 0.1, 0.8, 0.8);
  add_oblique("a ball meets a wall obliquely and grips", 0.8, 0.8, 0.8);
  add_oblique("a ball meets a wall obliquely without rebound, and grips", 0.8, 0.0, 0.8);

  all.push_back({"bounce: a ball flies to and fro between two walls", "speed after four impacts", "v e^4",
                 "2 % of v", ball_kinds(), [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene.model.gravity.setZero();
                   for (const double side : {-1.0, 1.0})
                     setup.scene.add(fixed(box_body("box", {s.L, 3.0 * s.L, 3.0 * s.L})),
                                     test::pose_at({side * 3.0 * s.L, 0.0, 0.0}));
                   setup.scene.add(ball_body(kind, s.L), {}, test::moving_at({s.V(), 0.0, 0.0}));
                   const double e = 0.9;
                   set_restitution(setup, e);
                   setup.scene.set_friction(0.0);
                   // 1 + 2/e + 2/e^2 + 2/e^3 times L/V until the fourth, 2/e^4 until the fifth.
                   setup.seconds = (1.0 + 2.0 / e + 2.0 / (e * e) + 2.0 / (e * e * e) + 1.0) * s.T();
                   setup.exact = std::pow(e, 4) * s.V();
                   setup.tolerance = 0.02 * s.V();
                   setup.measure = [](const Motion& m) { return m.velocity(2).norm(); };
                   return setup;
                 }});

  all.push_back({"bounce: a rod lands on one end without friction",
                 "angular velocity after the impact",
                 "m l cos(a)/(I + m (l cos a)^2) (1 + e) u, l to the centre of the end",
                 "2 %",
                 {"capsule"},
                 [](const std::string&, const Scale& s) {
                   Setup setup;
                   setup.scene.model.gravity.setZero();
                   setup.scene.add(fixed(box_body("box", {6.0 * s.L, 6.0 * s.L, s.L})),
                                   test::pose_at({0.0, 0.0, -s.L}));
                   const double r = 0.1 * s.L, l = 0.9 * s.L, a = 0.6, e = 0.5, u = s.V();
                   Body rod = capsule_body(r, l);
                   const double arm = l * std::cos(a);
                   setup.exact = rod.mass * arm / (rod.inertia(0, 0) + rod.mass * arm * arm) * (1.0 + e) * u;
                   setup.tolerance = 0.02 * setup.exact;
                   setup.scene.add(std::move(rod),
                                   {Eigen::Quaterniond::FromTwoVectors(
                                        Vec3<double>(0, 0, 1), Vec3<double>(std::cos(a), 0.0, std::sin(a))),
                                    {0.0, 0.0, r + l * std::sin(a) + 0.2 * s.L}},
                                   test::moving_at({0.0, 0.0, -u}));
                   setup.scene.set_friction(0.0);
                   set_restitution(setup, e);
                   setup.seconds = 0.35 * s.T();
                   setup.measure = [](const Motion& m) { return m.angular_velocity(1).norm(); };
                   return setup;
                 }});
  all.push_back(
      {"bounce: a rod lands on one end without friction or rebound",
       "angular velocity after the impact",
       "m l cos(a)/(I + m (l cos a)^2) u",
       "2 %",
       {"capsule", "box", "polyhedron"},
       [](const std::string& kind, const Scale& s) {
         Setup setup;
         setup.scene.model.gravity.setZero();
         setup.scene.add(fixed(box_body("box", {6.0 * s.L, 6.0 * s.L, s.L})),
                         test::pose_at({0.0, 0.0, -s.L}));
         const bool is_capsule = kind == "capsule";
         const double r = is_capsule ? 0.1 : 0.0, l = 1.0 - r, t = is_capsule ? 0.0 : 0.1, a = 0.6, u = s.V();
         Body rod =
             is_capsule ? capsule_body(r * s.L, l * s.L) : box_body(kind, {t * s.L, 0.3 * s.L, l * s.L});
         // The lowest corner of a box is at (t, -l) of its section.
         const double arm = (l * std::cos(a) - t * std::sin(a)) * s.L,
                      down = (r + l * std::sin(a) + t * std::cos(a)) * s.L;
         setup.exact = rod.mass * arm / (rod.inertia(1, 1) + rod.mass * arm * arm) * u;
         setup.tolerance = 0.02 * setup.exact;
         setup.scene.add(std::move(rod),
                         test::pose_at({0.0, 0.0, down + 0.2 * s.L}, {0.0, 0.5 * std::numbers::pi - a, 0.0}),
                         test::moving_at({0.0, 0.0, -u}));
         setup.scene.set_friction(0.0);
         setup.seconds = 0.35 * s.T();
         setup.measure = [](const Motion& m) { return m.angular_velocity(1).norm(); };
         return setup;
       }});
}

}  // namespace abut::truth
