/// Warnings of simulations as tuples for Python.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "dynamics/start_warnings.h"
#include "dynamics/step/run_warnings.h"
#include "dynamics/step/stepper.h"

namespace abut::python {

/// (kind, world, first step, steps with it, body, text); the first step is -1 for the initial state.
using WarningTuple = std::tuple<std::string, int, int, int, std::string, std::string>;

/// Adds those of a world, of its initial state first.
void add_warnings(const Stepper& stepper, int world, const StartWarnings& start, const RunWarnings& steps,
                  std::vector<WarningTuple>& warnings);

}  // namespace abut::python
