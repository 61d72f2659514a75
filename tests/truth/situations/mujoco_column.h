/// The columns of docs/truth.md that another simulator answers: MuJoCo, where it is installed.
#pragma once

#include <vector>

#include "tests/truth/situations/run.h"

namespace abut::truth {

/// Columns of other simulators, empty where none is installed; with the size and step of all columns but the first.
[[nodiscard]] const std::vector<Column>& peer_columns();

}  // namespace abut::truth
