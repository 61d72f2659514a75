/// The visual mesh of a fitted body: the input itself.
#pragma once

#include <string>
#include <vector>

#include "engine/coloured_mesh.h"

namespace abut {

inline constexpr int k_most_visual_triangles = 200'000;

/// A mesh with at most about `most` triangles (>= 1) and the colours of the one given, which it is itself if
/// it has no more than that. Else vertices that are near to each other become one, whether the mesh is closed
/// or not; a note says so.
[[nodiscard]] ColouredMesh reduced_visual_mesh(ColouredMesh mesh, int most, std::vector<std::string>& notes);

}  // namespace abut
