/// Pairs of bodies pressed into each other by known depths, with the patches in which they touch.
#pragma once

#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/contact_wrench.h"
#include "tests/support/wrench_bodies.h"

namespace abut::test {

inline constexpr double k_wrench_stiffness = 1e4;  ///< of the pair [N/m]
inline constexpr double k_coarser = 1.3;           ///< how much larger the cells of body 0 are

/// Body 0 is fixed, body 1 has its depth of overlap given in closed form.
struct WrenchCase {
  std::string name;
  std::function<TestScene(const Tessellation&)> scene;
  std::vector<PressurePatch> patches;
  double patch_size = 0.0;                     ///< L: the largest extent of the patch [m]
  double patch_width = 0.0;                    ///< w: its narrowest extent [m]
  Vec3<double> origin = Vec3<double>::Zero();  ///< of body 1
};
/// The body 1 has `cells_across` cells across the narrowest extent of the patch.
inline Tessellation tessellation_of(const WrenchCase& c, double cells_across, bool irregular = false) {
  return {c.patch_width / cells_across, irregular};
}

namespace wrench_cases {

inline double radians(double degrees) { return degrees * std::numbers::pi / 180.0; }

inline const Vec3<double> k_box_half(0.1, 0.08, 0.05);

inline TestScene pair_scene(Body A, Body B, const Pose<double>& X_WB) {
  TestScene scene;
  A.fixed = true;
  scene.add(std::move(A));
  scene.add(std::move(B), X_WB);
  PairOverride material;
  material.body_A = 0;
  material.body_B = 1;
  material.stiffness = k_wrench_stiffness;
  scene.model.pair_overrides.push_back(material);
  return scene;
}

/// What lies under body 1, its surface at z = 0.
enum class Ground { plane, plate };

/// A plate |x| <= half_x, |y| <= half_y, its squares a little larger than those of what lies on it.
inline Body ground_body(Ground ground, double half_x, double half_y, const Tessellation& tessellation) {
  if (ground == Ground::plane) return make_half_space();
  return body_of_boxes("plate", {{{-half_x, -half_y, -0.05}, {half_x, half_y, 0.0}}},
                       {k_coarser * tessellation.cell, tessellation.irregular});
}

/// The direction of the force where a face of body 1 with the inward normal `inward` touches a ground along
/// z. A plane alone has the normals of contacts; of a plate and a body each has those of half of the
/// contacts.
inline Vec3<double> ground_normal(Ground ground, const Vec3<double>& inward) {
  if (ground == Ground::plane) return Vec3<double>::UnitZ();
  return (0.5 * (Vec3<double>::UnitZ() + inward));
}

/// A face of body 1, its depth being how far it lies below z = 0.
inline PressurePatch face_on_ground(Ground ground, const Pose<double>& X_WB, const Vec3<double>& center_B,
                                    double half_u, double half_v) {
  PressurePatch patch;
  patch.center = X_WB * center_B;
  patch.u = X_WB.q * Vec3<double>(Vec3<double>::UnitX());
  patch.v = X_WB.q * Vec3<double>(Vec3<double>::UnitY());
  patch.half_u = half_u;
  patch.half_v = half_v;
  patch.normal = ground_normal(ground, X_WB.q * Vec3<double>(Vec3<double>::UnitZ()));
  patch.depth = [=](double s, double t) { return -(patch.center + s * patch.u + t * patch.v).z(); };
  return patch;
}

/// A box whose lower face has its middle at `at` (z: minus the depth there), turned by the rotation vector.
inline WrenchCase box_case(std::string name, Ground ground, double width, const Vec3<double>& at,
                           const Quat<double>& turn) {
  WrenchCase c;
  c.name = std::move(name);
  const Pose<double> X_WB{turn, at + turn * Vec3<double>(0.0, 0.0, k_box_half.z())};
  c.scene = [=](const Tessellation& tessellation) {
    return pair_scene(ground_body(ground, 0.2, 0.18, tessellation),
                      body_of_boxes("box", {{-k_box_half, k_box_half}}, tessellation), X_WB);
  };
  c.origin = X_WB.p;
  PressurePatch patch =
      face_on_ground(ground, X_WB, {0.0, 0.0, -k_box_half.z()}, k_box_half.x(), k_box_half.y());
  if (ground == Ground::plate) {
    patch.inside = [patch](double s, double t) {
      return (patch.center + s * patch.u + t * patch.v).x() <= 0.2;
    };
  }
  c.patches = {patch};
  c.patch_size = 2.0 * k_box_half.x();
  c.patch_width = width;
  return c;
}

/// Two equal boxes with parallel sides on each other, with sharp edges or edges of 5 mm radius. Those with a
/// radius touch with balls about the vertices of their inner boxes, hence within the flat part of the face.
inline WrenchCase equal_boxes_case(std::string name, double edge_radius, double depth, double tilt) {
  WrenchCase c;
  c.name = std::move(name);
  const Quat<double> turn = exp_quaternion<double>(Vec3<double>(0.0, tilt, 0.0));
  const Vec3<double> up(0.0, 0.0, k_box_half.z());
  const Pose<double> X_WB{turn, Vec3<double>(0.0, 0.0, -depth) + turn * up};
  c.scene = [=](const Tessellation& tessellation) {
    const auto box = [&](const Vec3<double>& center, double cell) {
      if (edge_radius == 0.0) {
        return body_of_boxes("box", {{center - k_box_half, center + k_box_half}},
                             {cell, tessellation.irregular});
      }
      BodyDescription description;
      description.name = "box";
      Primitive rounded;
      rounded.kind = PrimitiveKind::rounded_box;
      rounded.parameters = {k_box_half.x(), k_box_half.y(), k_box_half.z(), edge_radius};
      description.shape.primitives = {rounded};
      const Vec3<double> inner = k_box_half.array() - edge_radius;
      description.mesh = mesh_of_boxes({{-inner, inner}}, {cell, tessellation.irregular});
      description.mass_or_density = Mass{1.0};
      Body body = make_body(description);
      return body;
    };
    TestScene scene = pair_scene(box(Vec3<double>::Zero(), k_coarser * tessellation.cell),
                                 box(Vec3<double>::Zero(), tessellation.cell), X_WB);
    scene.X_WB(0).p = -up;
    return scene;
  };
  c.origin = X_WB.p;
  PressurePatch patch =
      face_on_ground(Ground::plate, X_WB, -up, k_box_half.x() - edge_radius, k_box_half.y() - edge_radius);
  c.patches = {patch};
  c.patch_size = 2.0 * k_box_half.x();
  c.patch_width = 2.0 * k_box_half.y();
  return c;
}

inline constexpr double k_cylinder_radius = 0.05, k_cylinder_half_length = 0.06, k_lying_half_length = 0.03;

inline WrenchCase standing_cylinder_case(std::string name, Ground ground, double width, double depth,
                                         double tilt) {
  WrenchCase c;
  c.name = std::move(name);
  const Quat<double> turn = exp_quaternion<double>(Vec3<double>(0.0, tilt, 0.0));
  const Pose<double> X_WB{
      turn, Vec3<double>(0.0, 0.0, -depth) + turn * Vec3<double>(0.0, 0.0, k_cylinder_half_length)};
  c.scene = [=](const Tessellation& tessellation) {
    return pair_scene(ground_body(ground, 0.09, 0.08, tessellation),
                      cylinder_body(k_cylinder_radius, k_cylinder_half_length, tessellation, 1.0, 1.0), X_WB);
  };
  c.origin = X_WB.p;
  PressurePatch patch =
      face_on_ground(ground, X_WB, {0.0, 0.0, -k_cylinder_half_length}, k_cylinder_radius, k_cylinder_radius);
  patch.inside = [](double s, double t) { return s * s + t * t <= k_cylinder_radius * k_cylinder_radius; };
  c.patches = {patch};
  c.patch_size = 2.0 * k_cylinder_radius;
  c.patch_width = width;
  return c;
}

/// A cylinder with its axis along y, its lowest line sloping by `tilt`.
inline WrenchCase lying_cylinder_case(std::string name, Ground ground, double depth, double tilt) {
  WrenchCase c;
  c.name = std::move(name);
  const Quat<double> turn = exp_quaternion<double>(Vec3<double>(tilt, 0.0, 0.0)) *
                            exp_quaternion<double>(Vec3<double>(0.5 * std::numbers::pi, 0.0, 0.0));
  const Vec3<double> down =
      exp_quaternion<double>(Vec3<double>(tilt, 0.0, 0.0)) * Vec3<double>(0.0, 0.0, -1.0);
  const Pose<double> X_WB{turn, Vec3<double>(0.0, 0.0, -depth) - k_cylinder_radius * down};
  c.scene = [=](const Tessellation& tessellation) {
    return pair_scene(ground_body(ground, 0.04, 0.04, tessellation),
                      cylinder_body(k_cylinder_radius, k_lying_half_length, tessellation, 2.0, 4.0), X_WB);
  };
  c.origin = X_WB.p;
  PressurePatch patch;
  patch.center = {0.0, 0.0, -depth};
  patch.u = Vec3<double>::UnitX();
  patch.v = exp_quaternion<double>(Vec3<double>(tilt, 0.0, 0.0)) * Vec3<double>(0.0, 1.0, 0.0);
  patch.half_u = 0.6 * k_cylinder_radius;
  patch.half_v = k_lying_half_length;
  patch.normal = ground_normal(ground, -down);
  patch.depth = [=](double s, double t) {
    const double rise = k_cylinder_radius - std::sqrt(k_cylinder_radius * k_cylinder_radius - s * s);
    return depth - std::sin(tilt) * t - rise;
  };
  c.patches = {patch};
  c.patch_size = 2.0 * k_lying_half_length;
  c.patch_width = 2.0 * std::sqrt(2.0 * k_cylinder_radius * depth);
  return c;
}

/// A rail whose slot is shaped like a T upside down (a block less two boxes), and a bar shaped like the slot
/// in it, held by the two lips of the rail: 0.06 m of both overlap along y. The flange of the bar is pressed
/// into the lips by `lift` in the middle, into the wall at +x by `shift` if that is > 0, and rolled about y.
inline WrenchCase rail_case(std::string name, double lift, double shift, double roll) {
  WrenchCase c;
  c.name = std::move(name);
  constexpr double flange = 0.055, thickness = 0.025, slot = 0.06, opening = 0.025, lip = 0.06, floor = 0.03;
  constexpr double half_length = 0.03, play = slot - flange;
  const Quat<double> turn = exp_quaternion<double>(Vec3<double>(0.0, roll, 0.0));
  const double x = shift > 0.0 ? play + shift : 0.0;
  const Pose<double> X_WB{turn, Vec3<double>(x, 0.0, lip + lift) - turn * Vec3<double>(0.0, 0.0, thickness)};
  c.scene = [=](const Tessellation& tessellation) {
    const std::vector<BoxPart> rail = {
        {{-0.1, -half_length, 0.0}, {0.1, half_length, 0.1}},
        {{-slot, -0.05, floor}, {slot, 0.05, lip}, PrimitiveOperation::subtract},
        {{-opening, -0.05, floor}, {opening, 0.05, 0.15}, PrimitiveOperation::subtract}};
    const std::vector<BoxPart> bar = {{{-flange, -0.04, 0.0}, {flange, 0.04, thickness}},
                                      {{-0.015, -0.04, 0.0}, {0.015, 0.04, 0.09}}};
    return pair_scene(body_of_boxes("rail", rail, {k_coarser * tessellation.cell, tessellation.irregular}),
                      body_of_boxes("bar", bar, tessellation), X_WB);
  };
  c.origin = X_WB.p;
  const auto strip = [&](double from, double to) {  // of the flange's upper face, in W
    PressurePatch patch;
    patch.center = {0.5 * (from + to), 0.0, lip + lift};
    patch.u = Vec3<double>::UnitX();
    patch.v = Vec3<double>::UnitY();
    patch.half_u = 0.5 * (to - from);
    patch.half_v = half_length;
    patch.normal = -0.5 * (Vec3<double>::UnitZ() + turn * Vec3<double>(0.0, 0.0, 1.0));
    const double middle = patch.center.x() - x;
    patch.depth = [=](double s, double) { return lift - std::tan(roll) * (middle + s); };
    return patch;
  };
  c.patches = {strip(x - flange, -opening), strip(opening, std::min(x + flange, slot))};
  if (shift > 0.0) {
    PressurePatch wall;
    const double low = lip + lift - thickness;
    wall.center = {slot, 0.0, 0.5 * (low + lip)};
    wall.u = Vec3<double>::UnitZ();
    wall.v = Vec3<double>::UnitY();
    wall.half_u = 0.5 * (lip - low);
    wall.half_v = half_length;
    wall.normal = -Vec3<double>::UnitX();
    wall.depth = [=](double, double) { return shift; };
    c.patches.push_back(wall);
  }
  c.patch_size = 2.0 * flange;
  c.patch_width = flange - opening;
  return c;
}

/// A channel (three boxes joined) and a bar shaped like a T whose stem stands on its floor, pressed into it
/// by `floor` and into the wall at +x by `wall`.
inline WrenchCase channel_case(std::string name, double floor, double wall) {
  WrenchCase c;
  c.name = std::move(name);
  constexpr double inner = 0.05, outer = 0.08, height = 0.08, stem = 0.045, half_length = 0.1;
  const Pose<double> X_WB{Quat<double>::Identity(), Vec3<double>(inner - stem + wall, 0.0, -floor)};
  c.scene = [=](const Tessellation& tessellation) {
    const std::vector<BoxPart> channel = {{{-outer, -half_length, -0.03}, {outer, half_length, 0.0}},
                                          {{-outer, -half_length, -0.03}, {-inner, half_length, height}},
                                          {{inner, -half_length, -0.03}, {outer, half_length, height}}};
    const std::vector<BoxPart> bar = {{{-stem, -0.12, 0.0}, {stem, 0.12, 0.12}},
                                      {{-0.09, -0.12, 0.1}, {0.09, 0.12, 0.12}}};
    return pair_scene(
        body_of_boxes("channel", channel, {k_coarser * tessellation.cell, tessellation.irregular}),
        body_of_boxes("bar", bar, tessellation), X_WB);
  };
  c.origin = X_WB.p;
  const auto patch = [&](const Vec3<double>& center, const Vec3<double>& u, double half_u,
                         const Vec3<double>& normal, double depth) {
    PressurePatch p;
    p.center = center;
    p.u = u;
    p.v = Vec3<double>::UnitY();
    p.half_u = half_u;
    p.half_v = half_length;
    p.normal = normal;
    p.depth = [=](double, double) { return depth; };
    return p;
  };
  const double left = X_WB.p.x() - stem;
  c.patches = {
      patch({0.5 * (left + inner), 0.0, 0.0}, Vec3<double>::UnitX(), 0.5 * (inner - left),
            Vec3<double>::UnitZ(), floor),
      patch({inner, 0.0, 0.5 * height}, Vec3<double>::UnitZ(), 0.5 * height, -Vec3<double>::UnitX(), wall)};
  c.patch_size = 2.0 * half_length;
  c.patch_width = height;
  return c;
}

}  // namespace wrench_cases

/// On a plane, whose contacts are the vertices of body 1 alone, and on a plate, which has its own.
inline std::vector<WrenchCase> box_wrench_cases() {
  using namespace wrench_cases;
  const auto tilted = [](double degrees) {
    return exp_quaternion<double>(Vec3<double>(0.0, radians(degrees), 0.0));
  };
  const Quat<double> both = exp_quaternion<double>(Vec3<double>(radians(-0.4), radians(0.3), 0.0));
  const Quat<double> yaw = exp_quaternion<double>(Vec3<double>(0.0, 0.0, radians(45.0)));
  std::vector<WrenchCase> cases;
  for (const Ground ground : {Ground::plane, Ground::plate}) {
    const auto add = [&](const std::string& how, double width, double depth, const Quat<double>& turn) {
      const std::string on = ground == Ground::plane ? "box on plane, " : "box on plate, ";
      cases.push_back(box_case(on + how, ground, width, {0.0, 0.0, -depth}, turn));
    };
    add("flat, 0.5 mm", 0.16, 0.0005, tilted(0.0));
    add("flat, 2 mm", 0.16, 0.002, tilted(0.0));
    add("flat, 4 mm", 0.16, 0.004, tilted(0.0));
    add("0.5 deg, 2 mm", 0.16, 0.002, tilted(0.5));
    add("0.5 deg about a diagonal, 2 mm", 0.16, 0.002, both);
    add("2 deg, 4 mm", 0.16, 0.004, tilted(2.0));
    add("2 deg, on part of its face, 0.5 mm", 0.114, 0.0005, tilted(2.0));
  }
  const Ground plate = Ground::plate;
  const auto add = [&](const std::string& how, double width, const Vec3<double>& at,
                       const Quat<double>& turn) {
    cases.push_back(box_case("box on plate, " + how, plate, width, at, turn));
  };
  add("turned 45 deg, 2 mm", 0.16, {0.0, 0.0, -0.002}, yaw);
  add("turned 45 deg, 2 deg, 4 mm", 0.16, {0.0, 0.0, -0.004}, tilted(2.0) * yaw);
  add("half over its edge, 1 mm", 0.1, {0.2, 0.0, -0.001}, tilted(0.0));
  add("half over its edge, turned 45 deg, 1 mm", 0.1, {0.2, 0.0, -0.001}, yaw);
  add("half over its edge, 2 deg, 2 mm", 0.057, {0.2, 0.0, -0.002}, tilted(2.0));
  cases.push_back(equal_boxes_case("equal rounded boxes, flat, 1 mm", 0.005, 0.001, 0.0));
  cases.push_back(equal_boxes_case("equal rounded boxes, 0.3 deg, 1 mm", 0.005, 0.001, radians(0.3)));
  cases.push_back(equal_boxes_case("equal sharp boxes, flat, 1 mm", 0.0, 0.001, 0.0));
  cases.push_back(equal_boxes_case("equal sharp boxes, 0.3 deg, 1 mm", 0.0, 0.001, radians(0.3)));
  return cases;
}

inline std::vector<WrenchCase> cylinder_wrench_cases() {
  using namespace wrench_cases;
  std::vector<WrenchCase> cases;
  for (const Ground ground : {Ground::plane, Ground::plate}) {
    const std::string on = ground == Ground::plane ? " on plane, " : " on plate, ";
    const auto standing = [&](const std::string& how, double width, double depth, double degrees) {
      cases.push_back(
          standing_cylinder_case("standing cylinder" + on + how, ground, width, depth, radians(degrees)));
    };
    standing("1 mm", 0.1, 0.001, 0.0);
    standing("0.5 deg, 1 mm", 0.1, 0.001, 0.5);
    standing("2 deg, on part of its end, 1 mm", 0.078, 0.001, 2.0);
    const auto lying = [&](const std::string& how, double depth, double degrees) {
      cases.push_back(lying_cylinder_case("lying cylinder" + on + how, ground, depth, radians(degrees)));
    };
    lying("0.5 mm", 0.0005, 0.0);
    lying("2 mm", 0.002, 0.0);
    lying("0.5 deg, 2 mm", 0.002, 0.5);
  }
  return cases;
}

inline std::vector<WrenchCase> interlocking_wrench_cases() {
  using namespace wrench_cases;
  return {rail_case("bar in rail, lifted 0.5 mm", 0.0005, 0.0, 0.0),
          rail_case("bar in rail, lifted 2 mm", 0.002, 0.0, 0.0),
          rail_case("bar in rail, lifted 0.5 mm, shifted 0.5 mm", 0.0005, 0.0005, 0.0),
          rail_case("bar in rail, lifted 1 mm, rolled 0.5 deg", 0.001, 0.0, radians(0.5)),
          rail_case("bar in rail, lifted 0.5 mm, rolled 2 deg", 0.0005, 0.0, radians(2.0)),
          channel_case("bar in channel, floor 1 mm, wall 0.5 mm", 0.001, 0.0005),
          channel_case("bar in channel, floor 1 mm, wall 3 mm", 0.001, 0.003)};
}

/// What a scene may make of the contacts of a pair.
struct WrenchSetting {
  std::string name;
  ContactConfig contact;
  // From 16 cells across a patch on: bounds on force and arm, as in force_difference() and arm_difference().
  double force_bound = 0.05, arm_bound = 0.03;
};

/// Of force and arm, between all tessellations from 16 cells on, for every setting.
inline constexpr double k_wrench_spread = 0.05;

inline std::vector<WrenchSetting> wrench_settings() {
  ContactConfig vertices;
  vertices.edge_edge = false;
  ContactConfig solids, blended, clustered;
  solids.edge_sdf = true;
  blended.reduction = Reduction::blend;
  clustered.reduction = Reduction::cluster;
  return {{"vertices", vertices},
          {"vertices and edges", {}},
          {"edges against solids too", solids},
          // A few points stand for a pressure that is not even: they are nearer to its deep side.
          {"blended", blended, 0.3, 0.3},
          {"clustered", clustered, 0.06}};  // corners speak for whole clusters
}

}  // namespace abut::test
