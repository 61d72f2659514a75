#include "dynamics/solver/contact_solver.h"

#include <stdexcept>

namespace abut {

void ContactSolver::jvp(const ContactProblem&, const ContactSolution&, const SolutionLinearization&,
                        const ContactProblemDot&, SolverMemory&, EndMotionBar&) const {
  throw std::logic_error("a law without a forward derivative");
}

int ContactSolver::contacts_near_kink(const ContactProblem& problem, const ContactSolution&,
                                      std::vector<bool>& near_kink) const {
  near_kink.assign(problem.rows.rows.size(), false);
  return 0;
}

}  // namespace abut
