/// The mixed linear complementarity problem with a polyhedral friction cone and restitution:
/// contact_laws/lcp.h, solved as interior_point_solver.h says.
#pragma once

#include "dynamics/contact_laws/lcp.h"
#include "dynamics/other_laws/interior_point_solver.h"

namespace abut {

using LcpSolver = InteriorPointSolver<lcp::Law>;

}  // namespace abut
