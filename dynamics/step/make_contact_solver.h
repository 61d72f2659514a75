/// The contact law that a config asks for.
#pragma once

#include <memory>

#include "dynamics/solver/contact_solver.h"
#include "engine/config.h"

namespace abut {

/// @param acceleration_scale  g [m/s^2], > 0: turns the scale-free factors of the config into speeds.
[[nodiscard]] std::unique_ptr<ContactSolver> make_contact_solver(const StepConfig& config,
                                                                 double acceleration_scale);

}  // namespace abut
