/// Solids of many kinds made by CSG, which fits of meshes are judged by.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/solids.h"

namespace abut::test {

struct NamedSolid {
  std::string name;
  Solid solid;
};

inline const std::vector<NamedSolid>& solid_suite() {
  static const std::vector<NamedSolid> solids = {
      {"box",
       [](const Vec3<double>& p) {
         return block(p, {0, 0, 0}, {0.8, 0.5, 0.3});
       }},
      {"L",
       [](const Vec3<double>& p) {
         return std::min(block(p, {0, -0.5, 0}, {0.8, 0.25, 0.3}),
                         block(p, {-0.55, 0.1, 0}, {0.25, 0.8, 0.3}));
       }},
      {"cross",
       [](const Vec3<double>& p) {
         return std::min({block(p, {0, 0, 0}, {0.8, 0.2, 0.2}), block(p, {0, 0, 0}, {0.2, 0.8, 0.2}),
                          block(p, {0, 0, 0}, {0.2, 0.2, 0.8})});
       }},
      {"cylinder", [](const Vec3<double>& p) { return cylinder(p, 0.5, -0.8, 0.8); }},
      {"table",
       [](const Vec3<double>& p) {
         const Vec3<double> q(std::abs(p.x()), std::abs(p.y()), p.z());
         return std::min(block(q, {0, 0, 0.6}, {0.9, 0.9, 0.12}),
                         block(q, {0.7, 0.7, -0.1}, {0.12, 0.12, 0.75}));
       }},
      {"torus", [](const Vec3<double>& p) { return torus(p, 0.65, 0.22); }},
      {"chain link",
       [](const Vec3<double>& p) {
         const Vec3<double> q(p.x() - std::clamp(p.x(), -0.4, 0.4), p.y(), p.z());
         return torus(q, 0.4, 0.16);
       }},
      {"plate",
       [](const Vec3<double>& p) {
         return block(p, {0, 0, 0}, {0.9, 0.6, 0.1});
       }},
      {"plate of 2.2 spacings",
       [](const Vec3<double>& p) {
         return block(p, {0, 0, 0}, {0.9, 0.6, 0.05});
       }},
      {"mug with a handle, solid",
       [](const Vec3<double>& p) {
         const Vec3<double> q(p.x() - 0.3, p.z(), p.y());
         return std::min(cylinder(p + Vec3<double>(0.25, 0, 0), 0.5, -0.6, 0.6), torus(q, 0.4, 0.11));
       }},
      {"dumbbell",
       [](const Vec3<double>& p) {
         const Vec3<double> q(std::abs(p.x()), p.y(), p.z());
         return std::min((q - Vec3<double>(0.6, 0, 0)).norm() - 0.35, block(q, {0, 0, 0}, {0.6, 0.1, 0.1}));
       }},
      {"bowl", bowl},
      {"mug with a handle", mug},
      {"tube",
       [](const Vec3<double>& p) { return std::max(cylinder(p, 0.6, -0.8, 0.8), 0.4 - p.head<2>().norm()); }},
      {"box with a hole",
       [](const Vec3<double>& p) {
         return std::max(block(p, {0, 0, 0}, {0.8, 0.6, 0.3}), 0.3 - p.head<2>().norm());
       }},
      {"channel",
       [](const Vec3<double>& p) {
         return std::max(block(p, {0, 0, 0}, {0.9, 0.5, 0.4}), -block(p, {0, 0, 0.4}, {1.0, 0.3, 0.6}));
       }},
      {"washer",
       [](const Vec3<double>& p) {
         return std::max(cylinder(p, 0.9, -0.1, 0.1), 0.45 - p.head<2>().norm());
       }},
      {"hammer",
       [](const Vec3<double>& p) {
         const Vec3<double> q(p.z(), p.y(), p.x());
         return std::min(cylinder(p, 0.12, -0.9, 0.7),
                         cylinder(q - Vec3<double>(0.65, 0, 0), 0.22, -0.5, 0.4));
       }},
      {"screw",
       [](const Vec3<double>& p) {
         const double phase = std::atan2(p.y(), p.x()) - 2.0 * std::numbers::pi * p.z() / 0.3;
         const double thread =
             std::max(p.head<2>().norm() - 0.25 - 0.04 * std::cos(phase), std::abs(p.z()) - 0.8);
         return std::min(thread, cylinder(p, 0.5, 0.6, 0.9));
       }},
      {"cone", [](const Vec3<double>& p) {
         return std::max(p.head<2>().norm() - 0.35 * (0.9 - p.z()), -0.8 - p.z());
       }}};
  return solids;
}

/// Throws std::out_of_range for a name that is not in the suite.
inline const Solid& solid_named(std::string_view name) {
  for (const NamedSolid& s : solid_suite()) {
    if (s.name == name) return s.solid;
  }
  throw std::out_of_range("no solid '" + std::string(name) + "' in the suite");
}

}  // namespace abut::test
