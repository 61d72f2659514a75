// Carry: bodies on ground that moves, on other bodies, and pushed in rows.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tests/truth/situations/bodies.h"

namespace abut::truth {

namespace {

constexpr double k_pi = std::numbers::pi;

/// The actor on fixed ground of a kind that moves or shakes.
Setup carried(const std::string& kind, const Scale& s, const std::string& ground, double friction,
              const Vec6<double>& twist) {
  Setup setup;
  add_ground(setup.scene, ground, {friction, 0.0}, s.L);
  for (Vec6<double>& V : setup.scene.state.V_WB) V = twist;
  Actor actor = flat_actor(kind, s.L);
  actor.body.material.friction = friction;
  setup.scene.add(std::move(actor.body), test::pose_at({0.0, 0.0, actor.height}));
  return setup;
}

void shake(Setup& setup, const Vec3<double>& amplitude, double rate) {
  Oscillation& oscillation = setup.scene.body(0).oscillation;
  oscillation.amplitude = amplitude;
  oscillation.frequency = rate / (2.0 * k_pi);
  setup.scene.V_WB(0) = oscillation.twist(0.0);
}

}  // namespace

void add_carries(Situations& all) {
  for (const auto& [name, ground] : {std::pair<std::string, std::string>{"an endless belt", "half_space"},
                                     {"a moving table", "box"},
                                     {"a moving table that is a polyhedron", "polyhedron"}}) {
    all.push_back({"carry: " + name + " speeds a body up", "speed before it has that of the ground", "mu g t",
                   "1 % and a step's gain", flat_kinds(), [ground](const std::string& kind, const Scale& s) {
                     Setup setup = carried(kind, s, ground, 0.4, test::moving_at({s.V(), 0.0, 0.0}));
                     setup.seconds = 1.5 * s.T();
                     setup.exact = 0.4 * 1.5 * s.V();
                     setup.tolerance = 0.01 * setup.exact + 0.4 * k_g * s.h;
                     setup.measure = [](const Motion& m) { return m.velocity(1).x(); };
                     return setup;
                   }});
    all.push_back({"carry: " + name + " leaves a body behind by what it slips",
                   "slip until it is carried along", "v^2/(2 mu g)", "1 % and a step's travel", flat_kinds(),
                   [ground](const std::string& kind, const Scale& s) {
                     Setup setup = carried(kind, s, ground, 0.4, test::moving_at({s.V(), 0.0, 0.0}));
                     setup.seconds = 4.0 * s.T();
                     setup.exact = 0.5 / 0.4 * s.L;
                     setup.tolerance = 0.01 * setup.exact + s.h * s.V();
                     setup.measure = [](const Motion& m) {
                       return m.displacement(0).x() - m.displacement(1).x();
                     };
                     return setup;
                   }});
  }

  const auto add_turntable = [&](const std::string& name, const std::string& ground) {
    all.push_back({"carry: " + name, "change of its distance from the axis", "0: w^2 r = mu g/4",
                   "0.5 % of its size", flat_kinds(), [=](const std::string& kind, const Scale& s) {
                     const double mu = 0.6, r = 3.0 * s.L, w = std::sqrt(0.25 * mu * k_g / r);
                     const Vec6<double> twist =
                         stack<double>(Vec3<double>(0.0, 0.0, w), Vec3<double>::Zero());
                     Setup setup = carried(kind, s, ground, mu, twist);
                     setup.scene.X_WB(1).p.x() = r;
                     setup.scene.V_WB(1) =
                         stack<double>(Vec3<double>(0.0, 0.0, w), Vec3<double>(0.0, w * r, 0.0));
                     setup.seconds = 2.0 * k_pi / w;
                     setup.tolerance = 0.01 * s.L;
                     setup.measure = [r](const Motion& m) { return m.position(1).head<2>().norm() - r; };
                     return setup;
                   }});
  };
  add_turntable("a turntable carries a body round once", "half_space");
  add_turntable("a turning table carries a body round once", "box");

  all.push_back({"carry: a shaken floor carries a body", "largest slip", "0: A w^2 = mu g/2",
                 "0.5 % of its size", flat_kinds(), [](const std::string& kind, const Scale& s) {
                   const double mu = 0.5, A = 0.5 * s.L, w = std::sqrt(0.5 * mu * k_g / A);
                   Setup setup = carried(kind, s, "half_space", mu, Vec6<double>::Zero());
                   shake(setup, {A, 0.0, 0.0}, w);
                   setup.scene.V_WB(1)[3] = A * w;
                   setup.seconds = 2.0 * 2.0 * k_pi / w;
                   setup.tolerance = 0.01 * s.L;
                   setup.measure = [](const Motion& m) {
                     double largest = 0.0;
                     for (const State& state : m.states)
                       largest = std::max(largest, std::abs(state.X_WB[1].p.x() - state.X_WB[0].p.x()));
                     return largest;
                   };
                   return setup;
                 }});
  all.push_back({"carry: a floor shaken up and down keeps a body on it", "largest distance", "0: A w^2 = g/2",
                 "1 % of its size", flat_kinds(), [](const std::string& kind, const Scale& s) {
                   const double A = 0.5 * s.L, w = std::sqrt(0.5 * k_g / A);
                   Setup setup = carried(kind, s, "half_space", 0.5, Vec6<double>::Zero());
                   shake(setup, {0.0, 0.0, A}, w);
                   setup.scene.V_WB(1)[5] = A * w;
                   setup.seconds = 2.0 * 2.0 * k_pi / w;
                   setup.tolerance = 0.02 * s.L;
                   setup.measure = [](const Motion& m) {
                     const double height = m.first().X_WB[1].p.z();
                     double largest = 0.0;
                     for (const State& state : m.states)
                       largest =
                           std::max(largest, std::abs(state.X_WB[1].p.z() - state.X_WB[0].p.z() - height));
                     return largest;
                   };
                   return setup;
                 }});
  all.push_back({"carry: a lift carries a body up", "its rise", "v t", "0.5 % of its size", flat_kinds(),
                 [](const std::string& kind, const Scale& s) {
                   const double v = 0.5 * s.V();
                   Setup setup = carried(kind, s, "box", 0.5, test::moving_at({0.0, 0.0, v}));
                   setup.scene.V_WB(1)[5] = v;
                   setup.seconds = 6.0 * s.T();
                   setup.exact = 3.0 * s.L;
                   setup.tolerance = 0.01 * s.L;
                   setup.measure = [](const Motion& m) { return m.displacement(1).z(); };
                   return setup;
                 }});

  all.push_back({"carry: a block slides on a plank that slides freely", "speed of both at the end",
                 "m v/(m + M)", "1 % of v", flat_kinds(), [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   add_ground(setup.scene, "half_space", {0.0, 0.0}, s.L);
                   Actor actor = flat_actor(kind, s.L);
                   actor.body.material.friction = 0.4;
                   Body plank = box_body("box", {4.0 * s.L, 2.0 * s.L, 0.3 * s.L});
                   plank.material.friction = 0.4;
                   const double m = actor.body.mass, M = plank.mass;
                   setup.scene.add(std::move(plank), test::pose_at({0.0, 0.0, 0.3 * s.L}));
                   setup.scene.add(std::move(actor.body),
                                   test::pose_at({-2.0 * s.L, 0.0, 0.6 * s.L + actor.height}),
                                   test::moving_at({s.V(), 0.0, 0.0}));
                   setup.exact = m / (m + M) * s.V();
                   setup.tolerance = 0.01 * s.V();
                   setup.seconds = 4.0 * s.T();
                   setup.measure = [](const Motion& m2) {
                     const double a = m2.velocity(1).x(), b = m2.velocity(2).x();
                     return std::abs(a - b) > 0.02 * std::abs(a + b) ? 10.0 * std::max(a, b) : 0.5 * (a + b);
                   };
                   return setup;
                 }});

  const auto add_row = [&](const std::string& name, int count) {
    all.push_back(
        {"carry: " + name,
         "distance",
         "(F/(n m) - mu g) t^2/2",
         "1 % and two steps' travel",
         {"box", "rounded_box", "polyhedron", "drum", "cylinder"},
         [=](const std::string& kind, const Scale& s) {
           Setup setup;
           const double mu = 0.3, T = 3.0;
           add_ground(setup.scene, "half_space", {mu, 0.0}, s.L);
           const Actor actor = flat_actor(kind, s.L);
           for (int i = 0; i < count; ++i)
             setup.scene.add(actor.body, test::pose_at({2.0 * actor.half_width * i, 0.0, actor.height}));
           setup.scene.set_friction(mu);
           setup.scene.body(1).external_wrench[3] = 0.6 * count * actor.body.mass * k_g;
           setup.exact = 0.5 * (0.6 - mu) * T * T * s.L;
           setup.tolerance = 0.01 * setup.exact + 2.0 * s.h * (0.6 - mu) * T * s.V();
           setup.seconds = T * s.T();
           setup.measure = [count](const Motion& m) { return m.displacement(count).x(); };
           return setup;
         }});
  };
  add_row("a push moves two bodies in a row", 2);
  add_row("a push moves four bodies in a row", 4);

  all.push_back({"carry: a cart that brakes gently keeps its load",
                 "largest slip",
                 "0: a = mu g/2",
                 "0.5 % of its size",
                 {"box", "polyhedron", "drum", "torus", "padded_polygon"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   add_ground(setup.scene, "half_space", {0.0, 0.0}, s.L);
                   Body cart = box_body("box", {3.0 * s.L, 2.0 * s.L, 0.4 * s.L});
                   Actor actor = flat_actor(kind, s.L);
                   actor.body.material.friction = cart.material.friction = 0.5;
                   cart.external_wrench[3] = -0.25 * k_g * (cart.mass + actor.body.mass);
                   setup.scene.add(std::move(cart), test::pose_at({0.0, 0.0, 0.4 * s.L}),
                                   test::moving_at({s.V(), 0.0, 0.0}));
                   setup.scene.add(std::move(actor.body), test::pose_at({0.0, 0.0, 0.8 * s.L + actor.height}),
                                   test::moving_at({s.V(), 0.0, 0.0}));
                   setup.tolerance = 0.01 * s.L;
                   setup.seconds = 4.0 * s.T();
                   setup.measure = [](const Motion& m) {
                     return m.displacement(2).x() - m.displacement(1).x();
                   };
                   return setup;
                 }});
  all.push_back({"carry: a cart that brakes hard loses its load",
                 "slip",
                 "(a - mu g) t^2/2",
                 "2 % and two steps' travel",
                 {"box", "polyhedron", "drum", "torus", "padded_polygon"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   add_ground(setup.scene, "half_space", {0.0, 0.0}, s.L);
                   Body cart = box_body("box", {3.0 * s.L, 2.0 * s.L, 0.4 * s.L});
                   Actor actor = flat_actor(kind, s.L);
                   const double mu = 0.2, a = 0.6, T = 2.0;
                   actor.body.material.friction = cart.material.friction = mu;
                   cart.external_wrench[3] = -k_g * (a * cart.mass + mu * actor.body.mass);
                   setup.scene.add(std::move(cart), test::pose_at({0.0, 0.0, 0.4 * s.L}),
                                   test::moving_at({s.V(), 0.0, 0.0}));
                   setup.scene.add(std::move(actor.body), test::pose_at({0.0, 0.0, 0.8 * s.L + actor.height}),
                                   test::moving_at({s.V(), 0.0, 0.0}));
                   setup.exact = 0.5 * (a - mu) * T * T * s.L;
                   setup.tolerance = 0.02 * setup.exact + 2.0 * s.h * (a - mu) * T * s.V();
                   setup.seconds = T * s.T();
                   setup.measure = [](const Motion& m) {
                     return m.displacement(2).x() - m.displacement(1).x();
                   };
                   return setup;
                 }});

  all.push_back(
      {"carry: a block slides down a wedge that slides away",
       "distance of the wedge",
       "m g sin a cos a/(M + m sin^2 a) t^2/2, without friction",
       "2 % and two steps' travel",
       {"box", "rounded_box", "polyhedron", "drum", "cylinder", "torus", "padded_polygon"},
       [](const std::string& kind, const Scale& s) {
         Setup setup;
         add_ground(setup.scene, "half_space", {0.0, 0.0}, s.L);
         const double a = 0.4, T = 2.0;
         // A long bar tilted by a stands for the wedge: a slider along x holds it upright.
         Body wedge = box_body("box", {5.0 * s.L, 2.0 * s.L, 0.3 * s.L});
         Actor actor = flat_actor(kind, s.L);
         const double M = wedge.mass, m = actor.body.mass;
         const Ground slope{0.0, a};
         const Vec3<double> up(0.0, 0.0, 6.0 * s.L);
         setup.scene.add(std::move(wedge), {slope.turn(), Vec3<double>(up - 0.3 * s.L * slope.normal())});
         Joint rail;
         rail.name = "rail";
         rail.kind = JointKind::slider;
         rail.body_B = 1;
         rail.X_AJ = {along_x(), up};
         rail.X_BJ = setup.scene.X_WB(1).inverse() * rail.X_AJ;
         setup.scene.model.joints.push_back(rail);
         Pose<double> X = slope.pose(-2.0 * s.L, actor.height);
         X.p += up;
         setup.scene.add(std::move(actor.body), X);
         setup.scene.set_friction(0.0);
         const double acceleration = m * std::sin(a) * std::cos(a) / (M + m * std::sin(a) * std::sin(a));
         setup.exact = -0.5 * acceleration * T * T * s.L;
         setup.tolerance = 0.02 * std::abs(setup.exact) + 2.0 * s.h * acceleration * T * s.V();
         setup.seconds = T * s.T();
         setup.measure = [](const Motion& m2) { return m2.displacement(1).x(); };
         return setup;
       }});

  all.push_back({"carry: turning rollers speed a plank up",
                 "speed",
                 "mu g t while it slips on all of them",
                 "2 % and a step's gain",
                 {"sphere", "capsule", "cylinder", "drum"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   const Actor roller = rolling_actor(kind, 0.4 * s.L);
                   for (int i = -2; i <= 3; ++i)
                     setup.scene.add(fixed(roller.body), {roller.q, {1.0 * i * s.L, 0.0, 0.0}},
                                     stack<double>(Vec3<double>(0.0, 2.0 * s.V() / (0.4 * s.L), 0.0),
                                                   Vec3<double>::Zero()));
                   setup.scene.add(box_body("box", {2.2 * s.L, 0.5 * s.L, 0.2 * s.L}),
                                   test::pose_at({0.0, 0.0, 0.6 * s.L}));
                   setup.scene.set_friction(0.3);
                   setup.seconds = 1.5 * s.T();
                   setup.exact = 0.3 * 1.5 * s.V();
                   setup.tolerance = 0.02 * setup.exact + 0.3 * k_g * s.h;
                   setup.measure = [](const Motion& m) { return m.velocity(6).x(); };
                   return setup;
                 }});
}

}  // namespace abut::truth
