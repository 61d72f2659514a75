/// Whether what is prepared for the geometry of one body serves another.
#pragma once

#include "engine/model.h"

namespace abut {

/// Whether shape, mesh, contact points and what contacts select of them are the same, to the last bit.
/// Materials, mass and motion do not count.
[[nodiscard]] bool have_same_geometry(const Body& a, const Body& b);

}  // namespace abut
