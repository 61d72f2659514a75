/// The energy of a group of bodies after the impacts of a step.
#pragma once

#include "dynamics/step/impact_phases.h"

namespace abut {

/// Whether the bodies of a group end with more energy than v_0 would leave them, though none of their
/// impacts adds any: velocities are constant in a phase, and a slender body that turns far in it does
/// not keep the energy of its rotation. False for groups that have work of their own.
///
/// @param first  event of the group
[[nodiscard]] bool gains_energy(const PhasesStart& start, const impact::Settings& settings,
                                const PhasesMemory& m, int group, std::size_t first);

}  // namespace abut
