// Roll: bodies that are round about an axis, on floors, tables, seams, slopes, in grooves and bowls.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tests/truth/situations/bodies.h"

namespace abut::truth {

namespace {

constexpr double k_mu = 0.5;

struct Roll {
  std::string ground = "half_space";
  double friction = k_mu, angle = 0.0;
  double speed = 0.0;  ///< down the slope, in V
  double spin = 0.0;   ///< speed of the surface, w r, in V; rolling down the slope: `speed`
};

/// The roller is the last body; what is measured is the displacement down the slope.
Setup roller_on_ground(const std::string& kind, const Scale& s, const Roll& roll,
                       double* inertia_ratio = nullptr) {
  Setup setup;
  const Ground ground{roll.friction, roll.angle};
  add_ground(setup.scene, roll.ground, ground, s.L);
  Actor actor = rolling_actor(kind, s.L);
  if (inertia_ratio != nullptr) *inertia_ratio = actor.inertia_ratio();
  actor.body.material.friction = roll.friction;
  const Vec3<double> v = roll.speed * s.V() * ground.down(), w(0.0, roll.spin * s.V() / actor.height, 0.0);
  const double height = actor.height;
  setup.scene.add(std::move(actor.body), ground.pose(0.0, height, actor.q), stack<double>(w, v));
  const int b = setup.scene.model.body_count() - 1;
  setup.measure = [b, down = ground.down()](const Motion& m) { return down.dot(m.displacement(b)); };
  return setup;
}

void measure_speed(Setup& setup) {
  const int b = setup.scene.model.body_count() - 1;
  setup.measure = [b](const Motion& m) { return m.velocity(b).x(); };
}

/// A box with a hollow of a sphere of radius R in its top, whose lowest point is the origin.
Body bowl(double R) {
  return fixed(
      scaled_body("bowl",
                  {primitive(PrimitiveKind::rounded_box, {0.8, 0.8, 0.35, 0.0}, {0.0, 0.0, 0.15}),
                   primitive(PrimitiveKind::sphere, {1.0}, {0.0, 0.0, 1.0}, PrimitiveOperation::subtract)},
                  R));
}

}  // namespace

void add_rolls(Situations& all) {
  const auto add_steady = [&](const std::string& name, const std::string& ground, double speed, double T) {
    all.push_back({"roll: " + name, "speed", "v: rolling does no work", "0.5 %", rolling_kinds(),
                   [=](const std::string& kind, const Scale& s) {
                     Setup setup = roller_on_ground(kind, s, {ground, k_mu, 0.0, speed, speed});
                     measure_speed(setup);
                     setup.exact = speed * s.V();
                     setup.tolerance = 0.005 * setup.exact;
                     setup.seconds = T * s.T();
                     return setup;
                   }});
  };
  add_steady("keeps its speed on a floor", "half_space", 1.0, 8.0);
  add_steady("keeps its speed on a table", "box", 1.0, 8.0);
  add_steady("keeps its speed on a table that is a polyhedron", "polyhedron", 1.0, 8.0);
  add_steady("keeps its speed across seams of flush tables", "seam", 1.0, 8.0);
  add_steady("keeps a low speed", "half_space", 0.2, 10.0);

  const auto add_slope = [&](const std::string& name, const std::string& ground, double tangent,
                             double speed) {
    all.push_back({"roll: " + name, "distance down the slope", "v t + g sin a/(1 + I/(m r^2)) t^2/2",
                   "1 % and two steps' travel: first order in h", rolling_kinds(),
                   [=](const std::string& kind, const Scale& s) {
                     double k = 0.0;
                     const double angle = std::atan(tangent), T = 4.0;
                     Setup setup = roller_on_ground(kind, s, {ground, k_mu, angle, speed, speed}, &k);
                     const double a = std::sin(angle) / (1.0 + k);
                     setup.exact = (speed * T + 0.5 * a * T * T) * s.L;
                     setup.tolerance = 0.01 * (std::abs(speed) * T + 0.5 * a * T * T) * s.L +
                                       2.0 * s.h * (std::abs(speed) + a * T) * s.V();
                     setup.seconds = T * s.T();
                     return setup;
                   }});
  };
  add_slope("speeds up on a slope", "half_space", 0.2, 0.0);
  add_slope("speeds up on a gentle slope", "half_space", 0.02, 0.0);
  add_slope("speeds up on a tilted table", "box", 0.2, 0.0);
  add_slope("goes up a slope and comes back", "half_space", 0.3, -0.4);

  all.push_back({"roll: slips down a slope that is too steep for rolling", "distance down the slope",
                 "g (sin a - mu cos a) t^2/2 as tan a > mu (1 + m r^2/I)", "1 % and two steps' travel",
                 rolling_kinds(), [](const std::string& kind, const Scale& s) {
                   const double mu = 0.1, angle = std::atan(0.8), T = 3.0;
                   Setup setup = roller_on_ground(kind, s, {"half_space", mu, angle, 0.0, 0.0});
                   const double a = std::sin(angle) - mu * std::cos(angle);
                   setup.exact = 0.5 * a * T * T * s.L;
                   setup.tolerance = 0.01 * setup.exact + 2.0 * s.h * a * T * s.V();
                   setup.seconds = T * s.T();
                   return setup;
                 }});

  /// From slip v and surface speed u to rolling at (v + k u)/(1 + k).
  const auto add_slip = [&](const std::string& name, double speed, double spin, const std::string& ground) {
    all.push_back({"roll: " + name, "speed once it rolls", "(v + k w r)/(1 + k), k = I/(m r^2)",
                   "0.5 % of the larger of v and w r", rolling_kinds(),
                   [=](const std::string& kind, const Scale& s) {
                     double k = 0.0;
                     Setup setup = roller_on_ground(kind, s, {ground, 0.3, 0.0, speed, spin}, &k);
                     measure_speed(setup);
                     setup.exact = (speed + k * spin) / (1.0 + k) * s.V();
                     setup.tolerance = 0.005 * std::max(std::abs(speed), std::abs(spin)) * s.V();
                     setup.seconds = 1.5 * std::abs(speed - spin) / (0.3 * (1.0 + 1.0 / k)) * s.T();
                     return setup;
                   }});
  };
  add_slip("slides first, then rolls", 1.5, 0.0, "half_space");
  add_slip("slides first, then rolls, on a table", 1.5, 0.0, "box");
  add_slip("starts from spin in place", 0.0, 1.5, "half_space");
  add_slip("has top spin", 0.8, 1.6, "half_space");
  add_slip("has back spin and comes back", 0.5, -2.5, "half_space");

  all.push_back({"roll: is not braked without friction", "angular velocity about its axis, times its radius",
                 "v: nothing turns it", "0.5 %", rolling_kinds(),
                 [](const std::string& kind, const Scale& s) {
                   Setup setup = roller_on_ground(kind, s, {"half_space", 0.0, 0.3, 0.0, 1.0});
                   const int b = setup.scene.model.body_count() - 1;
                   const double r = setup.scene.state.X_WB.back().p.norm();
                   setup.exact = s.V();
                   setup.tolerance = 0.005 * s.V();
                   setup.seconds = 4.0 * s.T();
                   setup.measure = [b, r](const Motion& m) { return r * m.angular_velocity(b).y(); };
                   return setup;
                 }});

  all.push_back({"roll: goes straight", "sideways displacement", "0 by symmetry", "1 % of the distance",
                 rolling_kinds(), [](const std::string& kind, const Scale& s) {
                   Setup setup = roller_on_ground(kind, s, {"box", k_mu, 0.0, 1.0, 1.0});
                   const int b = setup.scene.model.body_count() - 1;
                   setup.tolerance = 0.01 * 8.0 * s.L;
                   setup.seconds = 8.0 * s.T();
                   setup.measure = [b](const Motion& m) { return m.displacement(b).y(); };
                   return setup;
                 }});

  all.push_back({"roll: stays at its height", "largest change of height", "0", "0.5 % of its size",
                 rolling_kinds(), [](const std::string& kind, const Scale& s) {
                   Setup setup = roller_on_ground(kind, s, {"half_space", k_mu, 0.0, 1.0, 1.0});
                   const auto b = static_cast<std::size_t>(setup.scene.model.body_count() - 1);
                   setup.tolerance = 0.005 * 2.0 * s.L;
                   setup.seconds = 6.0 * s.T();
                   setup.measure = [b](const Motion& m) {
                     double largest = 0.0;
                     for (const State& state : m.states)
                       largest = std::max(largest, std::abs(state.X_WB[b].p.z() - m.first().X_WB[b].p.z()));
                     return largest;
                   };
                   return setup;
                 }});

  all.push_back(
      {"roll: a ball rolls down a right-angled groove", "distance down the groove",
       "g sin a/(1 + 2 I/(m r^2)) t^2/2: it turns about a line r/sqrt(2) below its centre",
       "1 % and two steps' travel", ball_kinds(), [](const std::string& kind, const Scale& s) {
         Setup setup;
         const double slope = 0.2, T = 4.0;
         const Ground ground{k_mu, slope};
         for (const double side : {-1.0, 1.0}) {
           const Eigen::Quaterniond q =
               ground.turn() * exp_quaternion<double>(Vec3<double>(side * 0.25 * std::numbers::pi, 0.0, 0.0));
           setup.scene.add(fixed(box_body("box", {12.0 * s.L, 4.0 * s.L, s.L})),
                           {q, Vec3<double>(q * Vec3<double>(0.0, side * 4.0 * s.L, -s.L))});
         }
         Body ball = ball_body(kind, s.L);
         const double k = 2.0 * ball.inertia(1, 1) / (ball.mass * s.L * s.L);
         setup.scene.add(std::move(ball), ground.pose(-2.0 * s.L, std::sqrt(2.0) * s.L));
         setup.scene.set_friction(k_mu);
         const double a = std::sin(slope) / (1.0 + k);
         setup.exact = 0.5 * a * T * T * s.L;
         setup.tolerance = 0.01 * setup.exact + 2.0 * s.h * a * T * s.V();
         setup.seconds = T * s.T();
         setup.measure = [down = ground.down()](const Motion& m) { return down.dot(m.displacement(2)); };
         return setup;
       }});

  all.push_back(
      {"roll: a ball rolls to and fro in a bowl", "displacement after half a period",
       "-2 A: T = 2 pi sqrt((1 + I/(m r^2)) (R - r)/g)",
       "2 % of 2 A: the amplitude is 0.1 of R - r, whose period is 0.06 % longer, and h/T", ball_kinds(),
       [](const std::string& kind, const Scale& s) {
         Setup setup;
         const double R = 4.0 * s.L, A = 0.1, arm = R - s.L;
         setup.scene.add(bowl(R));
         Body ball = ball_body(kind, s.L);
         const double k = ball.inertia(1, 1) / (ball.mass * s.L * s.L);
         setup.scene.add(std::move(ball), test::pose_at({arm * std::sin(A), 0.0, R - arm * std::cos(A)}));
         setup.scene.X_WB(0).p = setup.scene.body(0).p_BA * -1.0;
         setup.exact = -2.0 * arm * std::sin(A);
         setup.tolerance = 0.02 * std::abs(setup.exact);
         setup.seconds = std::numbers::pi * std::sqrt((1.0 + k) * arm / k_g);
         setup.measure = [](const Motion& m) { return m.displacement(1).x(); };
         return setup;
       }});

  all.push_back({"roll: a plank on two rollers goes twice as far as they",
                 "distance of the plank over theirs",
                 "2",
                 "2 %",
                 {"sphere", "capsule", "cylinder", "drum"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene = test::floor_scene(k_mu);
                   const Actor roller = rolling_actor(kind, 0.5 * s.L);
                   for (const double x : {-1.0, 1.0})
                     setup.scene.add(roller.body, {roller.q, {x * s.L, 0.0, 0.5 * s.L}},
                                     stack<double>(Vec3<double>(0.0, 0.6 * s.V() / s.L, 0.0),
                                                   Vec3<double>(0.3 * s.V(), 0.0, 0.0)));
                   setup.scene.add(box_body("box", {3.0 * s.L, 0.6 * s.L, 0.1 * s.L}),
                                   test::pose_at({0.0, 0.0, 1.1 * s.L}),
                                   test::moving_at({0.6 * s.V(), 0.0, 0.0}));
                   setup.scene.set_friction(k_mu);
                   setup.exact = 2.0;
                   setup.tolerance = 0.04;
                   setup.seconds = 3.0 * s.T();
                   setup.measure = [](const Motion& m) {
                     return 2.0 * m.displacement(3).x() / (m.displacement(1).x() + m.displacement(2).x());
                   };
                   return setup;
                 }});

  const auto add_step = [&](const std::string& name, double factor) {
    const bool passes = factor > 1.0;
    all.push_back(
        {"roll: " + name,
         "whether it is beyond the step (1) or before it (0)",
         "plastic blow at the edge keeps (1 + k - s/r)/(1 + k) of the speed; it gets up if then (1 + k) "
         "v^2/2 > g s",
         "outcome; the speed is 10 % from the limit",
         {"sphere", "capsule", "cylinder", "drum"},
         [=](const std::string& kind, const Scale& s) {
           double k = 0.0;
           const double step = 0.2;
           Setup setup = roller_on_ground(kind, s, {"half_space", 3.0, 0.0, 0.0, 0.0}, &k);
           const double speed = factor * std::sqrt(2.0 * step * (1.0 + k)) / (1.0 + k - step) * s.V();
           setup.scene.state.V_WB.back() =
               stack<double>(Vec3<double>(0.0, speed / s.L, 0.0), Vec3<double>(speed, 0.0, 0.0));
           // Its side is met below the height of the axis, at sqrt(r^2 - (r - s)^2) ahead.
           const double ahead = std::sqrt(1.0 - (1.0 - step) * (1.0 - step));
           const int b = setup.scene.add(fixed(box_body("box", {6.0 * s.L, 4.0 * s.L, 0.5 * step * s.L})),
                                         test::pose_at({(6.5 + ahead) * s.L, 0.0, 0.5 * step * s.L}));
           setup.scene.body(b).material.friction = 3.0;
           setup.exact = passes ? 1.0 : 0.0;
           setup.tolerance = 0.5;
           setup.seconds = 6.0 * s.T();
           setup.measure = [L = s.L, ahead](const Motion& m) {
             return m.position(1).x() > (0.5 + ahead) * L && m.position(1).z() > 1.1 * L ? 1.0 : 0.0;
           };
           return setup;
         }});
  };
  add_step("gets up a step", 1.1);
  add_step("does not get up a step", 0.9);
}

}  // namespace abut::truth
