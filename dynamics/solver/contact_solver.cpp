#include "dynamics/solver/contact_solver.h"

#include <stdexcept>

namespace abut {

void ContactSolver::jvp(const ContactProblem&, const ContactSolution&, const SolutionLinearization&,
                        const ContactProblemDot&, SolverMemory&, EndMotionBar&) const {
  throw std::logic_error("a law without a forward derivative");
}

bool ContactSolver::has_pair_vjp(const SolutionLinearization&) const { return false; }

void ContactSolver::multiplier_vjp(const ContactProblem&, const ContactSolution&,
                                   const SolutionLinearization&, const EndMotionBar&, SolverMemory&,
                                   ContactProblemBar&, GrowableVector&) const {
  throw std::logic_error("a law whose VJP has no parts");
}

Vec3<double> ContactSolver::pair_vjp(const ContactProblem&, const ContactSolution&,
                                     const SolutionLinearization&, std::size_t, const Vec6<double>&,
                                     SolverMemory&, ContactProblemBar&) const {
  throw std::logic_error("a law whose VJP has no parts");
}

int ContactSolver::contacts_near_kink(const ContactProblem& problem, const ContactSolution&,
                                      std::vector<bool>& near_kink) const {
  near_kink.assign(problem.rows.rows.size(), false);
  return 0;
}

}  // namespace abut
