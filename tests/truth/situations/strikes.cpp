// Strike: bodies that meet in flight or at rest, without gravity unless something lies.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "engine/body_builder.h"
#include "tests/truth/situations/bodies.h"

namespace abut::truth {

namespace {

void set_restitution(Setup& setup, double e) {
  for (Body& body : setup.scene.model.bodies) body.material.restitution = e;
}
const std::vector<std::string> k_pairs{"sphere", "capsule",     "cylinder",   "drum",        "torus",
                                       "box",    "rounded_box", "polyhedron", "superquadric"};

/// Two bodies of a kind on the x axis that touch with their sides, the first with a speed along x.
Setup two_bodies(const std::string& kind, const Scale& s, double mass_ratio, double e) {
  Setup setup;
  setup.scene.model.gravity.setZero();
  const bool is_round =
      kind == "sphere" || kind == "capsule" || kind == "cylinder" || kind == "drum" || kind == "torus";
  Body body =
      is_round ? rolling_actor(kind, 0.5 * s.L).body : box_body(kind, {0.5 * s.L, 0.5 * s.L, 0.5 * s.L});
  for (const double x : {0.0, 1.31}) setup.scene.add(body, test::pose_at({x * s.L, 0.0, 0.0}));
  set_mass(setup.scene.body(1), mass_ratio * body.mass);
  setup.scene.V_WB(0)[3] = s.V();
  setup.scene.set_friction(0.0);
  set_restitution(setup, e);
  setup.seconds = 1.0 * s.T();
  return setup;
}

}  // namespace

void add_strikes(Situations& all) {
  const auto add_pair = [&](const std::string& name, double ratio, double e) {
    all.push_back({"strike: " + name, "velocity of the body that was at rest", "(1 + e) v/(1 + M/m)",
                   "1 % of v", k_pairs, [=](const std::string& kind, const Scale& s) {
                     Setup setup = two_bodies(kind, s, ratio, e);
                     setup.exact = (1.0 + e) / (1.0 + ratio) * s.V();
                     setup.tolerance = 0.01 * s.V();
                     setup.measure = [](const Motion& m) { return m.velocity(1).x(); };
                     return setup;
                   }});
  };
  add_pair("equal elastic bodies exchange velocities", 1.0, 1.0);
  add_pair("equal bodies, e = 0.5", 1.0, 0.5);
  add_pair("plastic bodies go on together", 1.0, 0.0);
  add_pair("an elastic body strikes one ten times as heavy", 10.0, 1.0);
  add_pair("an elastic body strikes one of a tenth of its mass", 0.1, 1.0);
  add_pair("a plastic body strikes one a hundred times as heavy", 100.0, 0.0);

  all.push_back({"strike: a straight impact turns neither body", "largest angular velocity times size",
                 "0 by symmetry", "1 % of v", k_pairs, [](const std::string& kind, const Scale& s) {
                   Setup setup = two_bodies(kind, s, 1.0, 0.0);
                   setup.tolerance = 0.01 * s.V();
                   setup.measure = [L = s.L](const Motion& m) {
                     return L * std::max(m.angular_velocity(0).norm(), m.angular_velocity(1).norm());
                   };
                   return setup;
                 }});

  const auto add_cradle = [&](const std::string& name, double gap, int moving) {
    all.push_back({"strike: " + name, "largest deviation of a velocity, over v",
                   "as many leave as come: elastic impacts of two at a time", "2 %", ball_kinds(),
                   [=](const std::string& kind, const Scale& s) {
                     Setup setup;
                     setup.scene.model.gravity.setZero();
                     const Body ball = ball_body(kind, 0.5 * s.L);
                     for (int i = 0; i < 5; ++i) {
                       const double x = i < moving ? -0.3 : 0.0;
                       setup.scene.add(ball, test::pose_at({((1.0 + gap) * i + x) * s.L, 0.0, 0.0}));
                       if (i < moving) setup.scene.V_WB(i)[3] = s.V();
                     }
                     setup.scene.set_friction(0.0);
                     set_restitution(setup, 1.0);
                     setup.seconds = 1.2 * s.T();
                     setup.tolerance = 0.02;
                     setup.measure = [moving, V = s.V()](const Motion& m) {
                       double largest = 0.0;
                       for (int i = 0; i < 5; ++i)
                         largest = std::max(largest,
                                            std::abs(m.velocity(i).x() / V - (i >= 5 - moving ? 1.0 : 0.0)));
                       return largest;
                     };
                     return setup;
                   }});
  };
  add_cradle("a cradle with wide gaps, one ball", 0.02, 1);
  add_cradle("a cradle with narrow gaps, one ball", 0.001, 1);
  add_cradle("a cradle with narrow gaps, two balls", 0.001, 2);

  all.push_back(
      {"strike: equal elastic balls part at a right angle", "cosine of the angle between their velocities",
       "0: momentum and energy", "0.02", ball_kinds(), [](const std::string& kind, const Scale& s) {
         Setup setup;
         setup.scene.model.gravity.setZero();
         const Body ball = ball_body(kind, 0.5 * s.L);
         setup.scene.add(ball, test::pose_at({-1.3 * s.L, 0.0, 0.0}), test::moving_at({s.V(), 0.0, 0.0}));
         setup.scene.add(ball, test::pose_at({0.0, 0.5 * s.L, 0.0}));
         setup.scene.set_friction(0.0);
         set_restitution(setup, 1.0);
         setup.seconds = 1.2 * s.T();
         setup.tolerance = 0.02;
         setup.measure = [](const Motion& m) {
           return m.velocity(0).normalized().dot(m.velocity(1).normalized());
         };
         return setup;
       }});

  const auto add_rod = [&](const std::string& name, double e) {
    all.push_back(
        {"strike: " + name,
         "angular velocity of the rod",
         "b J/I, J = (1 + e) v/(1/m + 1/M + b^2/I), b off its centre",
         "2 %",
         {"capsule", "box", "polyhedron", "drum", "cylinder"},
         [=](const std::string& kind, const Scale& s) {
           Setup setup;
           setup.scene.model.gravity.setZero();
           const double r = 0.2 * s.L, b = 0.7 * s.L;
           Body rod = kind == "capsule"                       ? capsule_body(r, 0.8 * s.L)
                      : kind == "box" || kind == "polyhedron" ? box_body(kind, {r, r, s.L})
                                                              : cylinder_body(kind, r, s.L);
           const Body ball = sphere_body(0.3 * s.L);
           const double I = rod.inertia(1, 1),
                        J = (1.0 + e) * s.V() / (1.0 / rod.mass + 1.0 / ball.mass + b * b / I);
           setup.exact = b * J / I;
           setup.tolerance = 0.02 * setup.exact;
           setup.scene.add(std::move(rod));
           setup.scene.add(ball, test::pose_at({-0.73 * s.L, 0.0, b}), test::moving_at({s.V(), 0.0, 0.0}));
           setup.scene.set_friction(0.0);
           set_restitution(setup, e);
           setup.seconds = 0.32 * s.T();  // 0.23 to the impact; in more a plastic one goes on pressing
           setup.measure = [](const Motion& m) { return m.angular_velocity(0).y(); };
           return setup;
         }});
  };
  add_rod("a ball strikes a rod off its centre, e = 1", 1.0);
  add_rod("a ball strikes a rod off its centre, e = 0", 0.0);

  all.push_back({"strike: a ball meets a wall that comes towards it", "velocity after the impact",
                 "-v - 2 w, e = 1", "1 % of v", ball_kinds(), [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene.model.gravity.setZero();
                   setup.scene.add(ball_body(kind, 0.5 * s.L), {}, test::moving_at({s.V(), 0.0, 0.0}));
                   setup.scene.add(fixed(box_body("box", {s.L, 3.0 * s.L, 3.0 * s.L})),
                                   test::pose_at({2.0 * s.L, 0.0, 0.0}),
                                   test::moving_at({-0.5 * s.V(), 0.0, 0.0}));
                   setup.scene.set_friction(0.0);
                   set_restitution(setup, 1.0);
                   setup.seconds = 0.8 * s.T();
                   setup.exact = -2.0 * s.V();
                   setup.tolerance = 0.01 * s.V();
                   setup.measure = [](const Motion& m) { return m.velocity(0).x(); };
                   return setup;
                 }});

  all.push_back(
      {"strike: a small ball on a large one that falls", "velocity of the small one after both impacts",
       "((3 M - m) v)/(M + m): the large one meets the floor first", "3 %", ball_kinds(),
       [](const std::string& kind, const Scale& s) {
         Setup setup;
         add_ground(setup.scene, "half_space", {}, s.L);
         setup.scene.model.gravity.setZero();
         const auto ball = [&](double r) { return ball_body(kind, r); };
         const double r = 0.4 * s.L;
         setup.scene.add(ball(s.L), test::pose_at({0.0, 0.0, 1.3 * s.L}), test::moving_at({0, 0, -s.V()}));
         setup.scene.add(ball(r), test::pose_at({0.0, 0.0, 2.5 * s.L + r}), test::moving_at({0, 0, -s.V()}));
         const double M = setup.scene.body(1).mass, m = setup.scene.body(2).mass;
         set_restitution(setup, 1.0);
         setup.exact = (3.0 * M - m) / (M + m) * s.V();
         setup.tolerance = 0.03 * setup.exact;
         setup.seconds = 0.7 * s.T();
         setup.measure = [](const Motion& m2) { return m2.velocity(2).z(); };
         return setup;
       }});

  const auto add_struck = [&](const std::string& name, double ratio) {
    all.push_back(
        {"strike: " + name,
         "largest depth of the lower body's centre below or above rest",
         "0: it lies on the floor and cannot move",
         "1 % of its size",
         {"sphere", "box", "rounded_box", "drum"},
         [=](const std::string& kind, const Scale& s) {
           Setup setup;
           add_ground(setup.scene, "half_space", {}, s.L);
           const Actor actor = kind == "sphere" ? rolling_actor(kind, 0.6 * s.L) : flat_actor(kind, s.L);
           setup.scene.add(actor.body, test::pose_at({0.0, 0.0, actor.height}));
           Body upper = actor.body;
           set_mass(upper, ratio * upper.mass);
           setup.scene.add(std::move(upper), test::pose_at({0.0, 0.0, 3.0 * actor.height + 0.3 * s.L}),
                           test::moving_at({0.0, 0.0, -0.5 * s.V()}));
           setup.tolerance = 0.01 * 2.0 * s.L;
           setup.seconds = 2.0 * s.T();
           setup.measure = [](const Motion& m) {
             double largest = 0.0;
             for (const State& state : m.states)
               largest = std::max(largest, std::abs(state.X_WB[1].p.z() - m.first().X_WB[1].p.z()));
             return largest;
           };
           return setup;
         }});
  };
  add_struck("an equal body falls on one that lies on the floor", 1.0);
  add_struck("a body twenty times as heavy falls on one that lies on the floor", 20.0);

  all.push_back(
      {"strike: a ball strikes a block, which slides on",
       "distance that the block slides",
       "u^2/(2 mu g) (m + M)/M, u = m v/(m + M): plastic impact; the ball, without friction, pushes on",
       "3 % and a step's travel",
       {"box", "rounded_box", "polyhedron", "drum", "cylinder"},
       [](const std::string& kind, const Scale& s) {
         Setup setup;
         const double mu = 0.4, v = 4.0;
         add_ground(setup.scene, "half_space", {mu, 0.0}, s.L);
         Actor actor = flat_actor(kind, s.L);
         actor.body.material.friction = mu;
         const double reach = actor.half_width, height = actor.height, M = actor.body.mass;
         setup.scene.add(std::move(actor.body), test::pose_at({0.0, 0.0, height}));
         Body ball = sphere_body(0.5 * s.L);
         const double m = 0.5 * M;
         set_mass(ball, m);
         ball.material.friction = 0.0;
         setup.scene.add(std::move(ball), test::pose_at({-reach - 0.55 * s.L, 0.0, height}),
                         test::moving_at({v * s.V(), 0.0, 0.0}));
         const double u = m * v / (m + M);
         setup.exact = 0.5 * u * u / mu * (m + M) / M * s.L;
         setup.tolerance = 0.03 * setup.exact + s.h * u * s.V();
         setup.seconds = 1.5 * u / mu * (m + M) / M * s.T();
         setup.measure = [](const Motion& m2) { return m2.displacement(1).x(); };
         return setup;
       }});
}

}  // namespace abut::truth
