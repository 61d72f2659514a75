/// Unilateral contact and Coulomb's cone, relaxed to the central path:
/// contact_laws/relaxed_complementarity.h, solved as interior_point_solver.h says.
#pragma once

#include "dynamics/contact_laws/relaxed_complementarity.h"
#include "dynamics/other_laws/interior_point_solver.h"

namespace abut {

using RelaxedComplementaritySolver = InteriorPointSolver<relaxed_complementarity::Law>;

}  // namespace abut
