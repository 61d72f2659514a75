// Tip and rock: bodies that fall over, stay, and swing on what they stand on.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "engine/body_builder.h"
#include "tests/truth/situations/bodies.h"

namespace abut::truth {

namespace {

constexpr double k_pi = std::numbers::pi;

/// Whether the last body has fallen over: its z axis is more than 1 rad from what it was.
void measure_fallen(Setup& setup, double T, bool falls, const Scale& s) {
  const int b = setup.scene.model.body_count() - 1;
  setup.exact = falls ? 1.0 : 0.0;
  setup.tolerance = 0.5;
  setup.seconds = T * s.T();
  setup.measure = [b](const Motion& m) { return m.turn(b) > 1.0 ? 1.0 : 0.0; };
}

/// An upright body: half width w L, height 2 L.
constexpr double k_width = 0.4;
Body pillar(const std::string& kind, double L) {
  return kind == "cylinder" || kind == "drum" ? cylinder_body(kind, k_width * L, L)
                                              : box_body(kind, {k_width * L, k_width * L, L});
}
/// Bodies with a flat foot to its rim. A superquadric is a little convex, and tips from 0.85 of w/h on.
const std::vector<std::string> k_pillars{"box", "rounded_box", "polyhedron", "drum"};
/// w/h: half the width of the foot over the height of the centre of mass.
double foot_ratio(const std::string& kind) { return k_width - foot_radius(kind, {k_width, k_width, 1.0}); }

/// A round body whose centre of mass lies d below its centre: its frame has its origin there.
Body weighted(const std::string& kind, double r, double d) {
  Body body = rolling_actor(kind, r).body;
  // Along the body's axis that points down when it plays its part: that of z turned into y lies in x.
  BodyDescription description;
  description.name = kind;
  description.shape = body.shape;
  description.mesh = body.mesh;
  description.mass_or_density = Mass{body.mass};
  description.center_of_mass = Vec3<double>(-d, 0.0, 0.0);
  description.inertia = body.inertia;
  if (has_closed_form(description.shape)) description.mesh = {};
  return make_body(description);
}

/// Time [s] of a thin fall of a rigid body about a fixed edge from angle `from` to `to` off the balance, at rest
/// first: angle'' = p^2 sin(angle), p^2 = m g l/I. By quadrature of dt = dangle/(p sqrt(2 (cos from - cos angle))).
double falling_time(double from, double to, double p) {
  constexpr int k_steps = 20000;
  // angle = from + (to - from) u^2 takes away the singularity at rest.
  double sum = 0.0;
  for (int i = 0; i < k_steps; ++i) {
    const double u = (i + 0.5) / k_steps, angle = from + (to - from) * u * u;
    sum += 2.0 * (to - from) * u / std::sqrt(2.0 * (std::cos(from) - std::cos(angle)));
  }
  return sum / k_steps / p;
}

}  // namespace

void add_tips(Situations& all) {
  const auto add_slope = [&](const std::string& name, const std::string& ground, double factor) {
    all.push_back({"tip: " + name, "whether it falls over (1) or stands (0)", "tan a against w/h of its foot",
                   "outcome; tan a is 5 % from the limit", k_pillars,
                   [=](const std::string& kind, const Scale& s) {
                     Setup setup;
                     const Ground tilted{2.0, std::atan(factor * foot_ratio(kind))};
                     add_ground(setup.scene, ground, tilted, s.L);
                     setup.scene.add(pillar(kind, s.L), tilted.pose(0.0, s.L));
                     setup.scene.set_friction(2.0);
                     measure_fallen(setup, 12.0, factor > 1.0, s);
                     return setup;
                   }});
  };
  add_slope("stands on a slope that is not too steep", "half_space", 0.95);
  add_slope("falls over on a slope that is too steep", "half_space", 1.05);
  add_slope("stands on a tilted table that is not too steep", "box", 0.95);
  add_slope("falls over on a tilted table that is too steep", "box", 1.05);

  const auto add_push = [&](const std::string& name, double friction, double force, bool falls) {
    all.push_back(
        {"tip: " + name, "whether it falls over (1) or stands (0)",
         "pushed at its centre it tips from F/(m g) = w/h on, and slides from mu on, whichever is less",
         "outcome", k_pillars, [=](const std::string& kind, const Scale& s) {
           Setup setup;
           add_ground(setup.scene, "half_space", {friction, 0.0}, s.L);
           Body body = pillar(kind, s.L);
           body.material.friction = friction;
           body.external_wrench[3] = force * foot_ratio(kind) * body.mass * k_g;
           setup.scene.add(std::move(body), test::pose_at({0.0, 0.0, s.L}));
           measure_fallen(setup, 10.0, falls, s);
           return setup;
         }});
  };
  add_push("is pushed over where friction holds its foot", 0.8, 1.1, true);
  add_push("slides where friction is too little for tipping", 0.3, 1.1, false);
  add_push("is not pushed over by too little", 0.8, 0.95, false);

  const auto add_release = [&](const std::string& name, double factor) {
    all.push_back(
        {"tip: " + name, "turn from where it is let go [rad]",
         "it falls back or over according to its centre of mass and its edge; then it lies on a face",
         "0.1 rad", plane_kinds(), [=](const std::string& kind, const Scale& s) {
           Setup setup;
           setup.scene = test::floor_scene(1.0);
           const double balance = std::atan(k_width), a = factor * balance;
           // On its edge at x = w, z = -1 of the body, which lies at the origin.
           const Pose<double> X = test::pose_at(Vec3<double>::Zero(), {0.0, a, 0.0});
           const Vec3<double> p = X.q * Vec3<double>(-k_width * s.L, 0.0, s.L);
           setup.scene.add(pillar(kind, s.L), {X.q, p});
           setup.scene.set_friction(1.0);
           setup.exact = factor > 1.0 ? 0.5 * k_pi - a : a;
           setup.tolerance = 0.1;
           setup.seconds = 14.0 * s.T();
           setup.measure = [](const Motion& m) { return m.turn(1); };
           return setup;
         }});
  };
  add_release("falls back from short of the balance", 0.8);
  add_release("falls over from beyond the balance", 1.2);

  all.push_back(
      {"tip: takes its time to fall over an edge",
       "angle from the balance [rad]",
       "time by quadrature of angle'' = (m g l/I) sin(angle), I about the edge",
       "3 % of the angle, and h",
       {"box", "polyhedron"},
       [](const std::string& kind, const Scale& s) {
         Setup setup;
         setup.scene = test::floor_scene(1.0);
         const double balance = std::atan(k_width), from = 0.15, to = 0.8, a = balance + from;
         const Eigen::Quaterniond q = exp_quaternion<double>(Vec3<double>(0.0, a, 0.0));
         Body body = pillar(kind, s.L);
         const double l = std::hypot(k_width, 1.0) * s.L, I = body.inertia(1, 1) + body.mass * l * l;
         const double p = std::sqrt(body.mass * k_g * l / I);
         setup.scene.add(std::move(body), {q, Vec3<double>(q * Vec3<double>(-k_width * s.L, 0.0, s.L))});
         setup.scene.set_friction(1.0);
         setup.seconds = falling_time(from, to, p);
         setup.exact = to;
         const double rate = p * std::sqrt(2.0 * (std::cos(from) - std::cos(to)));
         setup.tolerance = 0.03 * to + 2.0 * s.h * rate;
         setup.measure = [from](const Motion& m) { return from + m.turn(1); };
         return setup;
       }});

  all.push_back({"rock: a block rocks to and fro once less high",
                 "largest tilt on the other side [rad]",
                 "Housner: the blow keeps 1 - 3/2 sin^2(alpha) of the rate; energy in between",
                 "5 % of the tilt",
                 {"box", "polyhedron"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene = test::floor_scene(1.0);
                   const double w = 0.25, alpha = std::atan(w), tilt = 0.5 * alpha;
                   Body body = box_body(kind, {w * s.L, 0.6 * s.L, s.L});
                   const double l2 = (w * w + 1.0) * s.L * s.L;
                   const double k =
                       1.0 - 2.0 * body.mass * w * w * s.L * s.L / (body.inertia(1, 1) + body.mass * l2);
                   // 1 - cos falls by (rate)^2: cos(alpha - tilt) - cos(alpha) scales with k^2.
                   const double gained = std::cos(alpha - tilt) - std::cos(alpha);
                   setup.exact = alpha - std::acos(std::cos(alpha) + k * k * gained);
                   setup.tolerance = 0.05 * setup.exact;
                   const Eigen::Quaterniond q = exp_quaternion<double>(Vec3<double>(0.0, tilt, 0.0));
                   setup.scene.add(std::move(body), {q, Vec3<double>(q * Vec3<double>(-w * s.L, 0.0, s.L))});
                   setup.scene.set_friction(1.0);
                   setup.seconds = 8.0 * s.T();
                   setup.measure = [](const Motion& m) {
                     double largest = 0.0;
                     for (const State& state : m.states)
                       largest = std::max(largest, -(state.X_WB[1].q * Vec3<double>(0.0, 0.0, 1.0)).x());
                     return std::asin(std::min(1.0, largest));
                   };
                   return setup;
                 }});

  all.push_back(
      {"rock: a weighted round body swings to and fro",
       "tilt after half a period, over the first",
       "-1: T = 2 pi sqrt((I + m (r - d)^2)/(m g d)), d from centre to centre of mass",
       "3 %: amplitude 0.1 rad",
       {"sphere", "capsule", "cylinder", "drum", "torus"},
       [](const std::string& kind, const Scale& s) {
         Setup setup;
         setup.scene = test::floor_scene(1.0);
         const double d = 0.3 * s.L, tilt = 0.1;
         Body body = weighted(kind, s.L, d);
         // Its x axis points from the centre of mass to the centre: up; its z axis lies along y.
         Mat3<double> R;
         R.col(0) = Vec3<double>(std::sin(tilt), 0.0, std::cos(tilt));
         R.col(2) = Vec3<double>(0.0, 1.0, 0.0);
         R.col(1) = R.col(2).cross(R.col(0));
         const double I = body.inertia(2, 2) + body.mass * (s.L - d) * (s.L - d);
         setup.seconds = k_pi * std::sqrt(I / (body.mass * k_g * d));
         setup.scene.add(std::move(body),
                         {Eigen::Quaterniond(R), Vec3<double>(Vec3<double>(0.0, 0.0, s.L) - d * R.col(0))});
         setup.scene.set_friction(1.0);
         setup.exact = -1.0;
         setup.tolerance = 0.03;
         setup.measure = [tilt](const Motion& m) { return std::asin(m.axis(1, {1.0, 0.0, 0.0}).x()) / tilt; };
         return setup;
       }});

  const auto add_plank = [&](const std::string& name, double thickness,
                             const std::vector<std::string>& kinds) {
    const bool falls = thickness > 1.0;
    all.push_back({"rock: " + name,
                   falls ? "whether it leaves the balance (1)" : "tilt after half a period, over the first",
                   falls ? "unstable as its half thickness is larger than the radius"
                         : "-1: T = 2 pi sqrt((k^2 + a^2)/(g (R - a))), a its half thickness",
                   falls ? "outcome" : "4 %: amplitude 0.08 rad, whose square is 0.6 %", kinds,
                   [=](const std::string& kind, const Scale& s) {
                     Setup setup;
                     const double R = 0.4 * s.L, a = thickness * R, tilt = 0.08;
                     Body support = kind == "sphere"    ? sphere_body(R)
                                    : kind == "capsule" ? capsule_body(R, 0.6 * s.L)
                                                        : cylinder_body(kind, R, 0.6 * s.L);
                     setup.scene.add(fixed(std::move(support)), {along_y(), Vec3<double>::Zero()});
                     Body plank = box_body("box", {s.L, 0.4 * s.L, a});
                     const double k2 = plank.inertia(1, 1) / plank.mass;
                     // Rolled by `tilt`: the point of contact has moved along the plank by R tilt.
                     const Vec3<double> n(std::sin(tilt), 0.0, std::cos(tilt)),
                         t(std::cos(tilt), 0.0, -std::sin(tilt));
                     const Vec3<double> p = (R + a) * n - R * tilt * t;
                     setup.scene.add(std::move(plank), test::pose_at(p, {0.0, tilt, 0.0}));
                     setup.scene.set_friction(1.0);
                     if (falls) {
                       setup.exact = 1.0;
                       setup.tolerance = 0.5;
                       setup.seconds = 12.0 * s.T();
                       setup.measure = [](const Motion& m) { return m.turn(1) > 0.3 ? 1.0 : 0.0; };
                     } else {
                       setup.seconds = k_pi * std::sqrt((k2 + a * a) / (k_g * (R - a)));
                       setup.exact = -1.0;
                       setup.tolerance = 0.04;
                       setup.measure = [tilt](const Motion& m) {
                         return -std::asin(m.axis(1, {1.0, 0.0, 0.0}).z()) / tilt;
                       };
                     }
                     return setup;
                   }});
  };
  add_plank("a thin plank rocks on a round support", 0.25, {"capsule", "cylinder", "drum", "sphere"});
  add_plank("a thick block slides or rolls off a round support", 1.3,
            {"capsule", "cylinder", "drum", "sphere"});

  all.push_back({"tip: the first of four dominoes fells the others",
                 "whether the last has fallen (1)",
                 "1: each is met above its middle by one that is as heavy",
                 "outcome",
                 {"box", "rounded_box", "polyhedron"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene = test::floor_scene(0.6);
                   const Body domino = box_body(kind, {0.15 * s.L, 0.5 * s.L, s.L});
                   const double a = std::atan(0.15) + 0.15;
                   const Eigen::Quaterniond q = exp_quaternion<double>(Vec3<double>(0.0, a, 0.0));
                   setup.scene.add(domino, {q, Vec3<double>(Vec3<double>(0.15 * s.L, 0.0, 0.0) +
                                                            q * Vec3<double>(-0.15 * s.L, 0.0, s.L))});
                   for (int i = 1; i < 4; ++i)
                     setup.scene.add(domino, test::pose_at({1.0 * i * s.L, 0.0, s.L}));
                   setup.scene.set_friction(0.6);
                   measure_fallen(setup, 14.0, true, s);
                   setup.measure = [](const Motion& m) { return m.turn(4) > 0.8 ? 1.0 : 0.0; };
                   return setup;
                 }});
}

}  // namespace abut::truth
