#include "dynamics/step/make_contact_solver.h"

#include "dynamics/other_laws/convex_cone_solver.h"
#include "dynamics/other_laws/lcp_solver.h"
#include "dynamics/other_laws/penalty_solver.h"
#include "dynamics/other_laws/relaxed_complementarity_solver.h"
#include "dynamics/other_laws/split_push_out_solver.h"
#include "dynamics/solver/smooth_coulomb_solver.h"

namespace abut {

std::unique_ptr<ContactSolver> make_contact_solver(const StepConfig& config, double acceleration_scale) {
  switch (config.law) {
    case ContactLaw::penalty:
      return std::make_unique<PenaltySolver>(config, acceleration_scale);
    case ContactLaw::convex_cone:
    case ContactLaw::impedance:
      return std::make_unique<ConvexConeSolver>(config, acceleration_scale);
    case ContactLaw::lcp:
      return std::make_unique<LcpSolver>(config, acceleration_scale);
    case ContactLaw::relaxed_complementarity:
      return std::make_unique<RelaxedComplementaritySolver>(config, acceleration_scale);
    case ContactLaw::smooth_coulomb:
      break;
  }
  if (config.push_out == PushOut::split)
    return std::make_unique<SplitPushOutSolver>(config, acceleration_scale);
  return std::make_unique<SmoothCoulombSolver>(config, acceleration_scale);
}

}  // namespace abut
