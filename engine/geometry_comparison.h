/// Whether what is prepared for the geometry of one body serves another.
#pragma once

#include <vector>

#include "engine/model.h"

namespace abut {

/// Whether shape, mesh, contact points and what contacts select of them are the same, to the last bit.
/// Materials, mass and motion do not count.
[[nodiscard]] bool have_same_geometry(const Body& a, const Body& b);

/// For each body the index of the first one that has the same geometry.
[[nodiscard]] std::vector<int> first_of_same_geometry(const std::vector<Body>& bodies);

}  // namespace abut
