// Hang: bodies on joints, springs, motors and pegs.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tests/support/added_joint.h"
#include "tests/truth/situations/bodies.h"

namespace abut::truth {

namespace {

constexpr double k_pi = std::numbers::pi;
const std::vector<std::string> k_any{"sphere", "capsule", "box", "polyhedron", "drum", "torus"};

Body any_body(const std::string& kind, double L) {
  return kind == "sphere" || kind == "capsule" ? rolling_actor(kind, L).body : flat_actor(kind, L).body;
}

/// A frame whose z axis lies along y.
Pose<double> hinge_at(const Vec3<double>& p) { return {along_y(), p}; }

/// A pendulum of any body on a hinge `arm` above its centre, let go at an angle.
struct Pendulum {
  Setup setup;
  double period = 0.0;  ///< of small swings, times that of the amplitude
};
Pendulum pendulum(const std::string& kind, const Scale& s, double arm, double angle, JointKind joint) {
  Pendulum result;
  test::TestScene& scene = result.setup.scene;
  Body body = any_body(kind, s.L);
  const double I = body.inertia(1, 1), m = body.mass, l = arm * s.L;
  scene.add(std::move(body),
            test::pose_at({l * std::sin(angle), 0.0, -l * std::cos(angle)}, {0.0, -angle, 0.0}));
  test::add_joint(scene, joint, -1, 0, hinge_at(Vec3<double>::Zero()));
  double a = 1.0, b = std::cos(0.5 * angle);  // arithmetic-geometric mean
  for (int i = 0; i < 20; ++i) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  result.period = 2.0 * k_pi * std::sqrt((I + m * l * l) / (m * k_g * l)) / a;
  return result;
}

double angle_of(const Vec3<double>& p) { return std::atan2(p.x(), -p.z()); }

}  // namespace

void add_joints(Situations& all) {
  const auto add_pendulum = [&](const std::string& name, double angle, JointKind joint) {
    all.push_back({"hang: " + name, "angle after a period, over the first",
                   "1: T = 4 sqrt((I + m l^2)/(m g l)) K(sin(angle/2))",
                   "3 %: symplectic steps lose nothing, a joint takes back errors within a step", k_any,
                   [=](const std::string& kind, const Scale& s) {
                     Pendulum p = pendulum(kind, s, 3.0, angle, joint);
                     p.setup.seconds = p.period;
                     p.setup.exact = 1.0;
                     p.setup.tolerance = 0.03;
                     p.setup.measure = [angle](const Motion& m) { return angle_of(m.position(0)) / angle; };
                     return p.setup;
                   }});
  };
  add_pendulum("a hinge, small swings", 0.1, JointKind::hinge);
  add_pendulum("a hinge, large swings", 1.5, JointKind::hinge);
  add_pendulum("a ball joint, large swings", 1.5, JointKind::ball);

  all.push_back({"hang: a pendulum keeps its energy",
                 "height of its turning point after three periods, over the first",
                 "1",
                 "3 % a period",
                 {"sphere", "box", "torus"},
                 [](const std::string& kind, const Scale& s) {
                   Pendulum p = pendulum(kind, s, 3.0, 1.0, JointKind::hinge);
                   p.setup.seconds = 3.2 * p.period;
                   p.setup.exact = 1.0;
                   p.setup.tolerance = 0.09;
                   p.setup.measure = [from = 2.7 * p.period](const Motion& m) {
                     double highest = -1e9;
                     for (std::size_t k = 0; k < m.states.size(); ++k) {
                       if (static_cast<double>(k) * m.h >= from)
                         highest = std::max(highest, m.states[k].X_WB[0].p.z());
                     }
                     const double l = m.first().X_WB[0].p.norm();
                     return (highest + l) / (m.first().X_WB[0].p.z() + l);
                   };
                   return p.setup;
                 }});

  all.push_back({"hang: a body on a thread swings",
                 "angle after a period, over the first",
                 "1: T = 2 pi sqrt(l/g) (1 + angle^2/16), as a point without rotation",
                 "5 %: amplitude 0.1, and the body turns by its own inertia",
                 {"sphere"},
                 [](const std::string&, const Scale& s) {
                   Setup setup;
                   const double l = 6.0 * s.L, angle = 0.1;
                   setup.scene.add(sphere_body(0.2 * s.L),
                                   test::pose_at({l * std::sin(angle), 0.0, -l * std::cos(angle)}));
                   Joint& thread =
                       test::add_joint(setup.scene, JointKind::distance, -1, 0, setup.scene.X_WB(0));
                   thread.X_AJ = {};
                   thread.X_BJ = {};
                   thread.length = l;
                   setup.seconds = 2.0 * k_pi * std::sqrt(l / k_g) * (1.0 + angle * angle / 16.0);
                   setup.exact = 1.0;
                   setup.tolerance = 0.05;
                   setup.measure = [angle](const Motion& m) { return angle_of(m.position(0)) / angle; };
                   return setup;
                 }});

  all.push_back({"hang: a conical pendulum keeps its angle",
                 "angle from the vertical after a turn [rad]",
                 "w^2 = g/(l cos(angle)) of a point; here of a small ball on a thread",
                 "2 %",
                 {"sphere"},
                 [](const std::string&, const Scale& s) {
                   Setup setup;
                   const double l = 4.0 * s.L, angle = 0.6, w = std::sqrt(k_g / (l * std::cos(angle)));
                   setup.scene.add(sphere_body(0.2 * s.L),
                                   test::pose_at({l * std::sin(angle), 0.0, -l * std::cos(angle)}),
                                   test::moving_at({0.0, w * l * std::sin(angle), 0.0}));
                   Joint& thread =
                       test::add_joint(setup.scene, JointKind::distance, -1, 0, setup.scene.X_WB(0));
                   thread.X_AJ = {};
                   thread.X_BJ = {};
                   thread.length = l;
                   setup.seconds = 2.0 * k_pi / w;
                   setup.exact = angle;
                   setup.tolerance = 0.02 * angle;
                   setup.measure = [](const Motion& m) {
                     const Vec3<double> p = m.position(0);
                     return std::atan2(p.head<2>().norm(), -p.z());
                   };
                   return setup;
                 }});

  all.push_back({"hang: slides down a slanted rail", "distance", "g sin a t^2/2", "1 % and two steps' travel",
                 k_any, [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   const double a = 0.5, T = 3.0;
                   const Vec3<double> down(std::cos(a), 0.0, -std::sin(a));
                   setup.scene.add(any_body(kind, s.L));
                   test::add_joint(setup.scene, JointKind::slider, -1, 0,
                                   {Eigen::Quaterniond::FromTwoVectors(Vec3<double>(0, 0, 1), down),
                                    Vec3<double>::Zero()});
                   setup.exact = 0.5 * std::sin(a) * T * T * s.L;
                   setup.tolerance = 0.01 * setup.exact + 2.0 * s.h * std::sin(a) * T * s.V();
                   setup.seconds = T * s.T();
                   setup.measure = [down](const Motion& m) { return down.dot(m.displacement(0)); };
                   return setup;
                 }});

  all.push_back(
      {"hang: a fixed joint holds a body in the air", "largest displacement", "0", "0.5 % of its size", k_any,
       [](const std::string& kind, const Scale& s) {
         Setup setup;
         setup.scene.add(any_body(kind, s.L));
         test::add_joint(setup.scene, JointKind::fixed, -1, 0, test::pose_at({2.0 * s.L, 0.0, 0.0}));
         setup.tolerance = 0.01 * s.L;
         setup.seconds = 5.0 * s.T();
         setup.measure = [](const Motion& m) { return m.displacement(0).norm(); };
         return setup;
       }});
  all.push_back({"hang: two bodies on a fixed joint fall as one", "change of their distance", "0: rigid",
                 "0.1 % of it", k_any, [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   for (const double x : {0.0, 3.0})
                     setup.scene.add(any_body(kind, s.L), test::pose_at({x * s.L, 0, 0}));
                   setup.scene.V_WB(0).head<3>() = Vec3<double>(0.0, 0.5, 0.3) / s.T();
                   setup.scene.V_WB(1) = stack<double>(
                       setup.scene.V_WB(0).head<3>(),
                       Vec3<double>(setup.scene.V_WB(0).head<3>().cross(Vec3<double>(3.0 * s.L, 0.0, 0.0))));
                   test::add_joint(setup.scene, JointKind::fixed, 0, 1, test::pose_at({1.5 * s.L, 0.0, 0.0}));
                   setup.tolerance = 0.003 * s.L;
                   setup.seconds = 3.0 * s.T();
                   setup.measure = [L = s.L](const Motion& m) {
                     return (m.position(1) - m.position(0)).norm() - 3.0 * L;
                   };
                   return setup;
                 }});

  all.push_back({"hang: a spring stretches under a weight", "depth at rest", "m g/k", "2 %", k_any,
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene.add(any_body(kind, s.L));
                   Joint& spring = test::add_joint(setup.scene, JointKind::ball, -1, 0, {});
                   spring.stiffness = setup.scene.body(0).mass * k_g / (0.5 * s.L);
                   spring.dissipation_time = 1.4 * s.T();
                   setup.exact = -0.5 * s.L;
                   setup.tolerance = 0.01 * s.L;
                   setup.seconds = 10.0 * s.T();
                   setup.measure = [](const Motion& m) { return m.displacement(0).z(); };
                   return setup;
                 }});
  all.push_back({"hang: a weight swings on an undamped spring", "depth after half a period",
                 "2 m g/k, T = 2 pi sqrt(m/k)", "3 % and the damping of an implicit step: exp(-h w pi/2)",
                 k_any, [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene.add(any_body(kind, s.L));
                   Joint& spring = test::add_joint(setup.scene, JointKind::ball, -1, 0, {});
                   spring.stiffness = setup.scene.body(0).mass * k_g / s.L;
                   spring.dissipation_time = 0.0;
                   setup.exact = -2.0 * s.L;
                   setup.seconds = k_pi * s.T();
                   setup.tolerance = (0.06 + (1.0 - std::exp(-0.5 * k_pi * s.h / s.T()))) * s.L;
                   setup.measure = [](const Motion& m) { return m.displacement(0).z(); };
                   return setup;
                 }});

  all.push_back({"hang: a flap comes to rest on its stop",
                 "angle [rad]",
                 "the stop",
                 "0.01 rad",
                 {"box", "capsule", "drum"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene.add(any_body(kind, s.L), test::pose_at({2.0 * s.L, 0.0, 0.0}));
                   Joint& hinge =
                       test::add_joint(setup.scene, JointKind::hinge, -1, 0, hinge_at(Vec3<double>::Zero()));
                   hinge.lower = -0.6;
                   hinge.upper = 0.6;
                   setup.exact = 0.6;
                   setup.tolerance = 0.01;
                   setup.seconds = 8.0 * s.T();
                   setup.measure = [](const Motion& m) { return m.turn(0); };
                   return setup;
                 }});
  all.push_back({"hang: a motor turns a body at its speed", "angular velocity", "the target", "0.5 %", k_any,
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene.add(any_body(kind, s.L));
                   Joint& hinge =
                       test::add_joint(setup.scene, JointKind::hinge, -1, 0, hinge_at(Vec3<double>::Zero()));
                   hinge.motor.kind = MotorKind::velocity;
                   hinge.motor.target = 2.0 / s.T();
                   setup.exact = hinge.motor.target;
                   setup.tolerance = 0.005 * setup.exact;
                   setup.seconds = 2.0 * s.T();
                   setup.measure = [](const Motion& m) { return std::abs(m.angular_velocity(0).y()); };
                   return setup;
                 }});
  all.push_back({"hang: an arm on a servo sags under its weight",
                 "angle [rad]",
                 "k q = m g l cos(q)",
                 "2 %",
                 {"box", "sphere", "drum"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   const double l = 2.0 * s.L, q = 0.3;
                   setup.scene.add(any_body(kind, s.L), test::pose_at({l, 0.0, 0.0}));
                   Joint& hinge =
                       test::add_joint(setup.scene, JointKind::hinge, -1, 0, hinge_at(Vec3<double>::Zero()));
                   const double weight = setup.scene.body(0).mass * k_g * l;
                   hinge.motor.kind = MotorKind::position;
                   hinge.motor.target = 0.0;
                   hinge.motor.stiffness = weight * std::cos(q) / q;
                   hinge.motor.damping = 1.0 * hinge.motor.stiffness * s.T();
                   setup.exact = q;
                   setup.tolerance = 0.02 * q;
                   setup.seconds = 12.0 * s.T();
                   setup.measure = [](const Motion& m) { return m.turn(0); };
                   return setup;
                 }});
  all.push_back(
      {"hang: a beam balances two weights",
       "angle [rad]",
       "0: equal moments",
       "0.01 rad",
       {"sphere", "box", "drum"},
       [](const std::string& kind, const Scale& s) {
         Setup setup;
         setup.scene.add(box_body("box", {3.0 * s.L, 0.1 * s.L, 0.1 * s.L}));
         test::add_joint(setup.scene, JointKind::hinge, -1, 0, hinge_at({0.0, 0.0, 0.1 * s.L}));
         for (const double x : {-2.8, 1.4}) {
           Body weight = any_body(kind, 0.4 * s.L);
           if (x > 0.0) weight.mass *= 2.0, weight.inertia *= 2.0;
           const int b = setup.scene.add(std::move(weight), test::pose_at({x * s.L, 0.0, -1.0 * s.L}));
           test::add_joint(setup.scene, JointKind::ball, 0, b, test::pose_at({x * s.L, 0.0, 0.0}));
         }
         setup.tolerance = 0.01;
         setup.seconds = 6.0 * s.T();
         setup.measure = [](const Motion& m) { return m.turn(0); };
         return setup;
       }});
  all.push_back(
      {"hang: a chain of five hangs at its length",
       "depth of the last link at rest",
       "sum of the links",
       "1 %",
       {"capsule", "box", "drum"},
       [](const std::string& kind, const Scale& s) {
         Setup setup;
         const Body link = kind == "capsule" ? capsule_body(0.1 * s.L, 0.4 * s.L)
                           : kind == "box"   ? box_body("box", {0.1 * s.L, 0.1 * s.L, 0.5 * s.L})
                                             : cylinder_body(kind, 0.1 * s.L, 0.5 * s.L);
         for (int i = 0; i < 5; ++i) {
           setup.scene.add(link, test::pose_at({0.0, 0.0, -(0.5 + i) * s.L}));
           test::add_joint(setup.scene, JointKind::ball, i - 1, i, test::pose_at({0.0, 0.0, -i * s.L}));
         }
         setup.exact = -4.5 * s.L;
         setup.tolerance = 0.045 * s.L;
         setup.seconds = 6.0 * s.T();
         setup.measure = [](const Motion& m) { return m.position(4).z(); };
         return setup;
       }});

  all.push_back({"hang: a ring hangs on a round peg",
                 "depth of its centre below the peg's",
                 "R - t - r",
                 "1 % of its size",
                 {"capsule", "cylinder", "drum"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   const double r = 0.2 * s.L, z = -(0.8 - 0.2 - 0.2) * s.L;
                   setup.scene.add(
                       fixed(kind == "capsule" ? capsule_body(r, s.L) : cylinder_body(kind, r, s.L)),
                       {along_y(), Vec3<double>::Zero()});
                   setup.scene.add(torus_body(0.8 * s.L, 0.2 * s.L), {along_y(), {0.0, 0.0, z + 0.02 * s.L}});
                   setup.exact = z;
                   setup.tolerance = 0.02 * s.L;
                   setup.seconds = 8.0 * s.T();
                   setup.measure = [](const Motion& m) { return m.position(1).z(); };
                   return setup;
                 }});
}

}  // namespace abut::truth
