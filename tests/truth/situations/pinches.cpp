// Pinch and wedge: bodies held between others by friction, or driven between them.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tests/truth/situations/bodies.h"

namespace abut::truth {

namespace {

constexpr double k_pi = std::numbers::pi;

/// A body between two jaws on rails along x that press with a force each.
Setup pinched(const std::string& kind, const Scale& s, const std::string& jaw, double friction,
              double force) {
  Setup setup;
  const bool is_round = kind == "sphere" || kind == "capsule";
  Actor actor = is_round ? rolling_actor(kind, s.L) : flat_actor(kind, s.L);
  const double reach = is_round ? s.L : kind == "torus" || kind == "padded_polygon" ? s.L : actor.half_width;
  const double weight = actor.body.mass * k_g;
  const double half = 0.6 * s.L;
  for (const double side : {-1.0, 1.0}) {
    Body body = jaw == "sphere" ? sphere_body(half) : box_body(jaw, {half, half, half});
    body.external_wrench[3] = -side * force * weight;
    body.external_wrench[5] = 0.0;
    const int b = setup.scene.add(std::move(body), test::pose_at({side * (reach + half), 0.0, 0.0}));
    Joint rail;
    rail.name = "rail " + std::to_string(b);
    rail.kind = JointKind::slider;
    rail.body_B = b;
    rail.X_AJ = {along_x(), Vec3<double>::Zero()};
    rail.X_BJ = setup.scene.X_WB(b).inverse() * rail.X_AJ;
    setup.scene.model.joints.push_back(rail);
  }
  setup.scene.add(std::move(actor.body), {actor.q, Vec3<double>::Zero()});
  setup.scene.set_friction(friction);
  setup.measure = [](const Motion& m) { return m.displacement(2).z(); };
  return setup;
}

/// Two walls that are tilted by `angle` off the vertical on either side, a funnel whose planes meet at z = 0.
void add_funnel(test::TestScene& scene, double L, double angle) {
  for (const double side : {-1.0, 1.0}) {
    const Eigen::Quaterniond q = exp_quaternion<double>(Vec3<double>(0.0, side * angle, 0.0));
    // The inner face goes up along q z from the origin.
    scene.add(fixed(box_body("box", {L, 3.0 * L, 4.0 * L})),
              {q, Vec3<double>(q * Vec3<double>(side * L, 0.0, 4.0 * L))});
  }
}

}  // namespace

void add_pinches(Situations& all) {
  const std::vector<std::string> held{"box",       "rounded_box", "polyhedron",    "superquadric",
                                      "extrusion", "sphere",      "capsule",       "cylinder",
                                      "drum",      "torus",       "padded_polygon"};
  for (const auto& [name, jaw] :
       {std::pair<std::string, std::string>{"two flat jaws", "box"}, {"two balls", "sphere"}}) {
    all.push_back({"pinch: " + name + " hold a body", "displacement downwards", "0: 2 mu N = 1.5 m g",
                   "0.5 % of its size", held, [jaw](const std::string& kind, const Scale& s) {
                     Setup setup = pinched(kind, s, jaw, 0.5, 1.5);
                     setup.tolerance = 0.01 * s.L;
                     setup.seconds = 4.0 * s.T();
                     return setup;
                   }});
    all.push_back({"pinch: " + name + " let a body slip",
                   "displacement downwards",
                   "(g - 2 mu N/m) t^2/2",
                   "1 % and two steps' travel",
                   {"box", "rounded_box", "polyhedron", "extrusion", "drum", "cylinder"},
                   [jaw](const std::string& kind, const Scale& s) {
                     Setup setup = pinched(kind, s, jaw, 0.5, 0.6);
                     const double T = 1.2, a = 0.4;
                     setup.exact = -0.5 * a * T * T * s.L;
                     setup.tolerance = 0.01 * std::abs(setup.exact) + 2.0 * s.h * a * T * s.V();
                     setup.seconds = T * s.T();
                     return setup;
                   }});
  }
  all.push_back({"pinch: two flat jaws hold a body against its turning",
                 "angle turned",
                 "0: the jaws press on its whole side, off its centre by less than friction holds",
                 "0.01 rad",
                 {"box", "rounded_box", "polyhedron"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup = pinched(kind, s, "box", 0.8, 4.0);
                   setup.scene.X_WB(2).p.y() = 0.3 * s.L;
                   setup.tolerance = 0.01;
                   setup.seconds = 4.0 * s.T();
                   setup.measure = [](const Motion& m) { return m.turn(2); };
                   return setup;
                 }});

  const auto add_wedge = [&](const std::string& name, double friction, double angle, bool slips) {
    all.push_back({"wedge: " + name,
                   "height of its centre",
                   slips ? "r/sin(angle): it sinks until both walls touch it"
                         : "where it is put: tan(angle) < mu, squeezed by its own weight it does not rise",
                   "1 % of its size",
                   {"sphere", "capsule", "cylinder", "drum"},
                   [=](const std::string& kind, const Scale& s) {
                     Setup setup;
                     add_funnel(setup.scene, s.L, angle);
                     const Actor actor = rolling_actor(kind, 0.5 * s.L);
                     const double z = 0.5 * s.L / std::sin(angle);
                     setup.scene.add(actor.body, {actor.q, {0.0, 0.0, z + (slips ? 0.1 : 0.005) * s.L}});
                     setup.scene.set_friction(friction);
                     setup.exact = z;
                     setup.tolerance = 0.02 * s.L;
                     setup.seconds = 6.0 * s.T();
                     setup.measure = [](const Motion& m) { return m.position(2).z(); };
                     return setup;
                   }});
  };
  add_wedge("a round body falls into a funnel without friction", 0.0, 0.4, true);
  add_wedge("a round body falls into a funnel with friction", 0.5, 0.6, true);

  all.push_back({"wedge: a wedge-shaped body jams in a funnel of its angle",
                 "height of its tip",
                 "0: its faces lie on the walls",
                 "1 % of its size",
                 {"polyhedron"},
                 [](const std::string&, const Scale& s) {
                   Setup setup;
                   const double angle = 0.4;
                   add_funnel(setup.scene, s.L, angle);
                   // Tip at z = 0, top at z = 1.2, its origin at z = 0.8.
                   Points normals(3, 5);
                   const double c = std::cos(angle), t = std::sin(angle);
                   normals << c, -c, 0, 0, 0, 0, 0, 1, -1, 0, -t, -t, 0, 0, 1;
                   Primitive prism;
                   prism = [&] {
                     Primitive p;
                     p.kind = PrimitiveKind::convex_polyhedron;
                     p.parameters[0] = 1e-3;
                     p.directions = normals;
                     p.values = {0.8 * t, 0.8 * t, 0.8, 0.8, 0.4};
                     return p;
                   }();
                   Body wedge = scaled_body("wedge", {prism}, s.L);
                   const double z = 0.8 * s.L - wedge.p_BA.z();
                   setup.scene.add(std::move(wedge), test::pose_at({0.0, 0.0, z + 0.1 * s.L}));
                   setup.scene.set_friction(0.2);
                   setup.exact = z;
                   setup.tolerance = 0.02 * s.L;
                   setup.seconds = 6.0 * s.T();
                   setup.measure = [](const Motion& m) { return m.position(2).z(); };
                   return setup;
                 }});

  const auto add_jam = [&](const std::string& name, double friction, bool holds) {
    all.push_back({"wedge: " + name,
                   "whether it has been pressed out (1) or stays (0)",
                   "jaws at an angle 2 a squeeze a round body out unless tan a < mu",
                   "outcome",
                   {"sphere", "capsule", "cylinder", "drum"},
                   [=](const std::string& kind, const Scale& s) {
                     Setup setup;
                     setup.scene.model.gravity.setZero();
                     const double a = 0.35;
                     add_funnel(setup.scene, s.L, a);
                     const Actor actor = rolling_actor(kind, 0.5 * s.L);
                     const double z = 0.5 * s.L / std::sin(a);
                     setup.scene.add(actor.body, {actor.q, {0.0, 0.0, z}});
                     setup.scene.set_friction(friction);
                     // One jaw closes on the other along x, slowly, by a twentieth of the body.
                     setup.scene.V_WB(1)[3] = -0.05 * s.V();
                     setup.exact = holds ? 0.0 : 1.0;
                     setup.tolerance = 0.5;
                     setup.seconds = 2.0 * s.T();
                     setup.measure = [L = s.L](const Motion& m) {
                       return m.displacement(2).z() > 0.03 * L ? 1.0 : 0.0;
                     };
                     return setup;
                   }});
  };
  add_jam("closing jaws press a round body out", 0.1, false);

  all.push_back({"wedge: a key stone hangs between two blocks",
                 "displacement",
                 "0: its faces lie on theirs",
                 "1 % of its size",
                 {"polyhedron"},
                 [](const std::string&, const Scale& s) {
                   Setup setup;
                   const double angle = 0.2, c = std::cos(angle), t = std::sin(angle);
                   add_funnel(setup.scene, s.L, angle);
                   Points normals(3, 6);
                   normals << c, -c, 0, 0, 0, 0, 0, 0, 1, -1, 0, 0, -t, -t, 0, 0, 1, -1;
                   Primitive p;
                   p.kind = PrimitiveKind::convex_polyhedron;
                   p.parameters[0] = 1e-3;
                   p.directions = normals;
                   p.values = {2.0 * t, 2.0 * t, 0.8, 0.8, 0.5, 0.5};  // its origin is at z = 2
                   Body stone = scaled_body("key stone", {p}, s.L);
                   const double z = 2.0 * s.L - stone.p_BA.z();
                   setup.scene.add(std::move(stone), test::pose_at({0.0, 0.0, z}));
                   setup.scene.set_friction(0.5);
                   setup.tolerance = 0.02 * s.L;
                   setup.seconds = 6.0 * s.T();
                   setup.measure = [](const Motion& m) { return m.displacement(2).norm(); };
                   return setup;
                 }});
}

}  // namespace abut::truth
