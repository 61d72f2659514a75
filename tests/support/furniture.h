/// Solids made of boxes side by side, as modellers draw them.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "engine/mesh.h"
#include "engine/mesh_shapes.h"
#include "engine/types.h"
#include "tests/support/meshes.h"

namespace abut::test {

inline TriangleMesh box_between(const Vec3<double>& lower, const Vec3<double>& upper) {
  return translated(box_mesh(0.5 * (upper - lower), 1), 0.5 * (lower + upper));
}

struct Boxes {
  std::string name;
  std::vector<std::pair<Vec3<double>, Vec3<double>>> boxes;  // corners
  std::size_t parts;                                         // that it takes, at most
};

inline const std::vector<Boxes>& furniture() {
  static const std::vector<Boxes> list = {
      {"L", {{{0, 0, 0}, {1, 0.2, 0.4}}, {{0, 0.2, 0}, {0.25, 0.8, 0.4}}}, 2},
      {"T", {{{-0.5, 0.3, 0}, {0.5, 0.5, 1}}, {{-0.1, -0.5, 0}, {0.1, 0.3, 1}}}, 2},
      {"U", {{{0, 0, 0}, {1, 0.1, 1}}, {{0, 0.1, 0}, {0.1, 0.7, 1}}, {{0.9, 0.1, 0}, {1, 0.7, 1}}}, 3},
      {"cross",
       {{{-0.5, -0.1, -0.1}, {0.5, 0.1, 0.1}},
        {{-0.1, -0.5, -0.1}, {0.1, 0.5, 0.1}},
        {{-0.1, -0.1, -0.5}, {0.1, 0.1, 0.5}}},
       3},
      {"staircase",
       {{{0, 0, 0}, {1, 0.5, 0.2}},
        {{0.25, 0, 0.2}, {1, 0.5, 0.4}},
        {{0.5, 0, 0.4}, {1, 0.5, 0.6}},
        {{0.75, 0, 0.6}, {1, 0.5, 0.8}}},
       5},
      {"table",
       {{{-0.5, -0.3, 0.36}, {0.5, 0.3, 0.4}},
        {{-0.48, -0.28, 0}, {-0.43, -0.23, 0.36}},
        {{0.43, -0.28, 0}, {0.48, -0.23, 0.36}},
        {{-0.48, 0.23, 0}, {-0.43, 0.28, 0.36}},
        {{0.43, 0.23, 0}, {0.48, 0.28, 0.36}}},
       5},
      {"chair",
       {{{-0.22, -0.22, 0.43}, {0.22, 0.22, 0.47}},
        {{-0.22, -0.22, 0.47}, {-0.18, 0.22, 0.94}},
        {{-0.21, -0.21, 0}, {-0.17, -0.17, 0.43}},
        {{0.17, -0.21, 0}, {0.21, -0.17, 0.43}},
        {{-0.21, 0.17, 0}, {-0.17, 0.21, 0.43}},
        {{0.17, 0.17, 0}, {0.21, 0.21, 0.43}}},
       6},
  };
  return list;
}

/// Boxes as modellers leave them: each with all of its faces, so that sheets lie within the solid.
inline TriangleMesh mesh_of(const Boxes& solid) {
  TriangleMesh mesh;
  for (const auto& [lower, upper] : solid.boxes) mesh = joined(mesh, box_between(lower, upper));
  return mesh;
}

}  // namespace abut::test
