// Spin and turn over: free tops, spinning discs and balls, tippe top and celt.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "engine/body_builder.h"
#include "tests/truth/situations/bodies.h"

namespace abut::truth {

namespace {

constexpr double k_pi = std::numbers::pi;
const std::vector<std::string> k_tops{"cylinder", "drum", "torus", "ellipsoid", "capsule"};

/// A body that is symmetric about z.
Body top_of(const std::string& kind, double L) {
  return kind == "capsule" || kind == "ellipsoid" ? rolling_actor(kind, L).body : flat_actor(kind, L).body;
}

/// Adds a body that spins about the vertical on a floor.
Setup spinning(Body body, const Pose<double>& X, double friction, double rate) {
  Setup setup;
  setup.scene = test::floor_scene(friction);
  body.material.friction = friction;
  setup.scene.add(std::move(body), X, stack<double>(Vec3<double>(0.0, 0.0, rate), Vec3<double>::Zero()));
  return setup;
}

/// An ellipsoid of given semi-axes whose principal axes of inertia are turned about z against it: a celt.
Body celt(const Vec3<double>& axes, double turn, double L) {
  const Body plain = scaled_body(
      "celt", {primitive(PrimitiveKind::superquadric, {axes.x(), axes.y(), axes.z(), 1.0, 1.0})}, L);
  Body body = plain;
  const Mat3<double> R = exp_quaternion<double>(Vec3<double>(0.0, 0.0, turn)).toRotationMatrix();
  body.inertia = R * plain.inertia * R.transpose();
  return body;
}

}  // namespace

void add_spins(Situations& all) {
  all.push_back({"spin: a free symmetric top precesses",
                 "turn of its axis about the momentum in time 1 [rad]", "L/I_1 t, L the angular momentum",
                 "1 %", k_tops, [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene.model.gravity.setZero();
                   Body body = top_of(kind, s.L);
                   const Mat3<double> I = body.inertia;
                   const Vec3<double> w = Vec3<double>(0.5, 0.0, 3.0) / s.T(), momentum = I * w;
                   setup.scene.add(std::move(body), {}, stack<double>(w, Vec3<double>::Zero()));
                   const double rate = momentum.norm() / I(0, 0);
                   setup.seconds = 1.5 / rate;
                   setup.exact = 1.5;
                   setup.tolerance = 0.015 + s.h * rate;
                   setup.measure = [n = Vec3<double>(momentum.normalized())](const Motion& m) {
                     const auto part = [&](const Vec3<double>& x) {
                       return Vec3<double>((x - n.dot(x) * n).normalized());
                     };
                     const Vec3<double> a = part({0, 0, 1}), b = part(m.axis(0, {0, 0, 1}));
                     return std::atan2(n.dot(a.cross(b)), a.dot(b));
                   };
                   return setup;
                 }});
  all.push_back({"spin: a free body keeps its angular momentum",
                 "relative change in 20 turns",
                 "0",
                 "1e-6",
                 {"box", "polyhedron", "superquadric", "extrusion", "drum", "torus"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene.model.gravity.setZero();
                   Body body = flat_actor(kind, s.L).body;
                   const Mat3<double> I = body.inertia;
                   const Vec3<double> w = Vec3<double>(0.3, 2.0, 0.4) / s.T();
                   setup.scene.add(std::move(body), {}, stack<double>(w, Vec3<double>::Zero()));
                   setup.seconds = 60.0 * s.T();
                   setup.tolerance = 1e-6;
                   setup.measure = [I, first = Vec3<double>(I * w)](const Motion& m) {
                     const Mat3<double> R = m.last().X_WB[0].rotation();
                     return (R * I * R.transpose() * m.angular_velocity(0) - first).norm() / first.norm();
                   };
                   return setup;
                 }});
  all.push_back({"spin: a free body about its middle axis turns over",
                 "whether that axis has pointed backwards (1)",
                 "1: Euler, the middle axis is unstable",
                 "outcome",
                 {"box", "polyhedron", "superquadric"},
                 [](const std::string& kind, const Scale& s) {
                   Setup setup;
                   setup.scene.model.gravity.setZero();
                   setup.scene.add(flat_actor(kind, s.L).body, {},
                                   stack<double>(Vec3<double>(Vec3<double>(0.03, 3.0, 0.03) / s.T()),
                                                 Vec3<double>::Zero()));
                   setup.exact = 1.0;
                   setup.tolerance = 0.5;
                   setup.seconds = 40.0 * s.T();
                   setup.measure = [](const Motion& m) {
                     double least = 1.0;
                     for (const State& state : m.states)
                       least = std::min(least, (state.X_WB[0].q * Vec3<double>(0, 1, 0)).y());
                     return least < -0.5 ? 1.0 : 0.0;
                   };
                   return setup;
                 }});

  all.push_back({"spin: a ball spins on one point for ever", "angular velocity over the first",
                 "1: friction at a point has no moment about the vertical", "0.5 %", ball_kinds(),
                 [](const std::string& kind, const Scale& s) {
                   Body ball = ball_body(kind, s.L);
                   Setup setup = spinning(std::move(ball), test::pose_at({0.0, 0.0, s.L}), 0.5, 3.0 / s.T());
                   setup.exact = 1.0;
                   setup.tolerance = 0.005;
                   setup.seconds = 6.0 * s.T();
                   setup.measure = [T = s.T()](const Motion& m) {
                     return m.angular_velocity(1).z() * T / 3.0;
                   };
                   return setup;
                 }});

  /// A spinning face stops after w I/M, M = mu m g times the mean lever of its contact.
  const auto add_stop = [&](const std::string& name, const std::string& source,
                            const std::vector<std::string>& kinds,
                            const std::function<double(const std::string&)>& lever) {
    all.push_back({"spin: " + name, "angle turned until it stops [rad]", source,
                   "3 % and a step's turn: the load is even by symmetry", kinds,
                   [=](const std::string& kind, const Scale& s) {
                     const Actor actor = kind == "capsule"
                                             ? Actor{capsule_body(0.2 * s.L, 0.8 * s.L), along_x(), 0.2 * s.L}
                                             : flat_actor(kind, s.L);
                     const double mu = 0.4, rate = 1.5 / s.T();
                     const Vec3<double> up = actor.q.conjugate() * Vec3<double>(0, 0, 1);
                     const double I = up.dot(actor.body.inertia * up),
                                  deceleration = mu * actor.body.mass * k_g * lever(kind) * s.L / I;
                     Setup setup = spinning(actor.body, {actor.q, {0.0, 0.0, actor.height}}, mu, rate);
                     setup.exact = 0.5 * rate * rate / deceleration;
                     setup.tolerance = 0.03 * setup.exact + s.h * rate;
                     setup.seconds = 1.4 * rate / deceleration;
                     setup.measure = [](const Motion& m) {
                       double turned = 0.0;
                       for (const State& state : m.states) turned += m.h * state.V_WB[1][2];
                       return turned;
                     };
                     return setup;
                   }});
  };
  add_stop("a disc that spins on its face stops", "w^2 I/(2 M), M = 2/3 mu m g R", {"drum"},
           [](const std::string&) { return 2.0 / 3.0 * 0.8; });
  add_stop("a ring that spins on the floor stops", "w^2 I/(2 M), M = mu m g R", {"torus"},
           [](const std::string&) { return 0.7; });
  add_stop("a rod that spins on its side stops", "w^2 I/(2 M), M = mu m g l/2", {"capsule"},
           [](const std::string&) { return 0.4; });
  add_stop("a block that spins on its face stops",
           "w^2 I/(2 M), M = mu m g times the mean distance from the middle", plane_kinds(),
           [](const std::string& kind) {
             const double r = foot_radius(kind, {1.0, 0.8, 0.6});
             double sum = 0.0;
             constexpr int k_n = 400;
             for (int i = 0; i < k_n; ++i) {
               for (int j = 0; j < k_n; ++j)
                 sum += std::hypot((1.0 - r) * (i + 0.5) / k_n, (0.8 - r) * (j + 0.5) / k_n);
             }
             return sum / (k_n * k_n);
           });
  all.push_back(
      {"spin: a spinning block stays where it is", "displacement", "0 by symmetry", "1 % of its size",
       flat_kinds(), [](const std::string& kind, const Scale& s) {
         const Actor actor = flat_actor(kind, s.L);
         Setup setup = spinning(actor.body, test::pose_at({0.0, 0.0, actor.height}), 0.4, 1.5 / s.T());
         setup.tolerance = 0.02 * s.L;
         setup.seconds = 5.0 * s.T();
         setup.measure = [](const Motion& m) { return m.displacement(1).norm(); };
         return setup;
       }});
  all.push_back(
      {"spin: a sliding body that spins slides farther",
       "whether it goes farther than without spin (1)",
       "1: friction of a spinning face is directed less against the motion (Farkas et al. 2003)",
       "outcome",
       {"cylinder", "drum", "torus"},
       [](const std::string& kind, const Scale& s) {
         const Actor actor = flat_actor(kind, s.L);
         Setup setup = spinning(actor.body, test::pose_at({0.0, 0.0, actor.height}), 0.4, 3.0 / s.T());
         setup.scene.V_WB(1)[3] = 1.5 * s.V();
         setup.exact = 1.0;
         setup.tolerance = 0.5;
         setup.seconds = 12.0 * s.T();
         const double without = 0.5 * 1.5 * 1.5 / 0.4 * s.L;
         setup.measure = [without](const Motion& m) {
           return m.displacement(1).x() > 1.1 * without ? 1.0 : 0.0;
         };
         return setup;
       }});

  const auto add_heavy_top = [&](const std::string& name, double nutation, double slow) {
    all.push_back({"spin: " + name,
                   "turn of its axis about the vertical [rad]",
                   "steady precession p: m g l = p (I_3 w_3 - I_1 p cos(angle)), smaller root",
                   "3 %",
                   {"cylinder", "drum", "torus"},
                   [=](const std::string& kind, const Scale& s) {
                     Setup setup;
                     Body body = flat_actor(kind, s.L).body;
                     const double l = 1.2 * s.L, angle = nutation, I3 = body.inertia(2, 2),
                                  I1 = body.inertia(0, 0) + body.mass * l * l, weight = body.mass * k_g * l;
                     const double w3 = slow * std::sqrt(4.0 * I1 * std::cos(angle) * weight) / I3;
                     const double c = I1 * std::cos(angle),
                                  p = (I3 * w3 - std::sqrt(I3 * I3 * w3 * w3 - 4.0 * c * weight)) / (2.0 * c);
                     const Eigen::Quaterniond q = exp_quaternion<double>(Vec3<double>(0.0, angle, 0.0));
                     const Vec3<double> axis = q * Vec3<double>(0, 0, 1), up(0, 0, 1);
                     // w = p up + (w3 - p cos(angle)) axis: w . axis = w3.
                     const Vec3<double> w = p * up + (w3 - p * std::cos(angle)) * axis, at = l * axis;
                     setup.scene.add(std::move(body), {q, at}, stack<double>(w, Vec3<double>(w.cross(at))));
                     Joint joint;
                     joint.name = "foot";
                     joint.kind = JointKind::ball;
                     joint.body_B = 0;
                     joint.X_BJ = setup.scene.X_WB(0).inverse();
                     setup.scene.model.joints.push_back(joint);
                     setup.seconds = 1.0 / p;
                     setup.exact = 1.0;
                     setup.tolerance = 0.03;
                     setup.measure = [](const Motion& m) {
                       return std::atan2(m.position(0).y(), m.position(0).x());
                     };
                     return setup;
                   }});
  };
  add_heavy_top("a heavy top on a joint precesses", 0.5, 2.0);

  all.push_back(
      {"turn over: a tippe top turns over", "whether its stem points down at the end (1)",
       "1: sliding friction turns it, as 1 - d/r < I_1/I_3 < 1 + d/r and it spins fast (Cohen 1977)",
       "outcome", ball_kinds(), [](const std::string& kind, const Scale& s) {
         const double r = s.L, d = 0.3 * s.L;
         BodyDescription description;
         const Body ball = ball_body(kind, r);
         description.shape = ball.shape;
         if (kind != "sphere") description.mesh = ball.mesh;
         description.mass_or_density = Mass{ball.mass};
         description.center_of_mass = Vec3<double>(0.0, 0.0, -d);
         description.inertia = Mat3<double>(0.4 * ball.mass * r * r * Mat3<double>::Identity());
         const double tilt = 0.1;
         const Eigen::Quaterniond q = exp_quaternion<double>(Vec3<double>(0.0, tilt, 0.0));
         Setup setup = spinning(make_body(description),
                                {q, Vec3<double>(Vec3<double>(0, 0, r) - d * (q * Vec3<double>(0, 0, 1)))},
                                0.3, 12.0 / s.T());
         setup.exact = 1.0;
         setup.tolerance = 0.5;
         setup.seconds = 60.0 * s.T();
         setup.measure = [](const Motion& m) { return m.axis(1, {0, 0, 1}).z() < -0.7 ? 1.0 : 0.0; };
         return setup;
       }});

  const auto add_celt = [&](const std::string& name, double direction) {
    all.push_back(
        {"turn over: " + name,
         "spin at the end, over its first size",
         "positive in both directions: its axes of inertia are turned against its shape, so that it pitches "
         "and reverses from one of them (Walker 1896); integrated with Coulomb friction",
         "0.4",
         {"ellipsoid"},
         [=](const std::string&, const Scale& s) {
           const double c = 0.3, rate = 0.5 / s.T();
           Setup setup = spinning(celt({1.0, 0.4, c}, 0.15, s.L), test::pose_at({0.0, 0.0, c * s.L}), 1.0,
                                  direction * rate);
           setup.scene.V_WB(1)[1] = 0.1 * rate;
           setup.scene.V_WB(1)[3] = 0.1 * rate * c * s.L;
           setup.exact = 0.95;
           setup.tolerance = 0.4;
           setup.seconds = 60.0 * s.T();
           setup.measure = [rate](const Motion& m) { return m.angular_velocity(1).z() / rate; };
           return setup;
         }});
  };
  add_celt("a celt keeps its spin in one direction", 1.0);
  add_celt("a celt reverses its spin from the other", -1.0);

  all.push_back(
      {"turn over: an egg that spins fast on its side stands up",
       "height of its centre over that at rest",
       "semi-axis ratio: spinning about its long axis is stable when fast (Moffatt and Shimomura 2002)",
       "10 % of the rise",
       {"ellipsoid"},
       [](const std::string& kind, const Scale& s) {
         const Actor egg = rolling_actor(kind, s.L);
         const Eigen::Quaterniond tilt = exp_quaternion<double>(Vec3<double>(0.05, 0.0, 0.0));
         Setup setup =
             spinning(egg.body, {tilt * egg.q, {0.0, 0.0, egg.height + 0.001 * s.L}}, 0.2, 15.0 / s.T());
         setup.exact = 1.0 / 0.7;
         setup.tolerance = 0.1 * (1.0 / 0.7 - 1.0);
         setup.seconds = 60.0 * s.T();
         setup.measure = [z = egg.height](const Motion& m) { return m.position(1).z() / z; };
         return setup;
       }});
}

}  // namespace abut::truth
