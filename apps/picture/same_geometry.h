/// Bodies that look the same, so that one surface stands for all of them.
#pragma once

#include <vector>

#include "engine/model.h"

namespace abut {

/// For each body the first one whose shape and collision mesh are the same, number by number.
[[nodiscard]] std::vector<int> first_of_same_geometry(const std::vector<Body>& bodies);

}  // namespace abut
