#include "dynamics/contact_solver.h"

#include <stdexcept>

#include "dynamics/convex_cone_solver.h"
#include "dynamics/lcp_solver.h"
#include "dynamics/penalty_solver.h"
#include "dynamics/relaxed_complementarity_solver.h"
#include "dynamics/smooth_coulomb_solver.h"
#include "dynamics/split_push_out_solver.h"

namespace abut {

void ContactSolution::reset() {
  push_out.resize(0);
  displacement.resize(0);
  impact_row = -1;
  impact_time = 0.0;
  iterations = factorizations = 0;
  residual = 0.0;
  path = SolutionPath::newton;
  has_negative_determinant = false;
  converged = true;
}

void ContactProblemBar::set_zero(const ContactProblem& problem) {
  const auto slots = static_cast<std::size_t>(problem.mass.slot_count());
  v_start.setZero(problem.mass.size());
  v_free.setZero(problem.mass.size());
  inertia_W.assign(slots, Mat3<double>::Zero());
  mass.assign(slots, 0.0);
  rows.assign(problem.rows.rows.size(), {});
  pairs.assign(problem.rows.pairs.size(), {});
  joints.assign(problem.joints.rows.size(), {});
  h = 0.0;
}

ContactProblemBar& ContactProblemBar::operator+=(const ContactProblemBar& other) {
  v_start += other.v_start;
  v_free += other.v_free;
  for (std::size_t s = 0; s < mass.size(); ++s) {
    inertia_W[s] += other.inertia_W[s];
    mass[s] += other.mass[s];
  }
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += other.rows[i];
  for (std::size_t p = 0; p < pairs.size(); ++p) pairs[p] += other.pairs[p];
  for (std::size_t j = 0; j < joints.size(); ++j) joints[j] += other.joints[j];
  h += other.h;
  return *this;
}

void ContactProblemDot::add_mass_product(const Eigen::VectorXd& v, double factor,
                                         Eigen::VectorXd& out) const {
  for (std::size_t s = 0; s < mass.size(); ++s) {
    const Eigen::Index i = 6 * static_cast<Eigen::Index>(s);
    out.segment<3>(i) += factor * (inertia_W[s] * v.segment<3>(i));
    out.segment<3>(i + 3) += factor * mass[s] * v.segment<3>(i + 3);
  }
}

void ContactProblemDot::set_balance(const ContactProblem& problem, const Eigen::VectorXd& v,
                                    Eigen::VectorXd& out) const {
  problem.mass.multiply(v_free, out);
  add_mass_product(v, -1.0, out);
  add_mass_product(problem.v_free, 1.0, out);
  if (!problem.joints.empty()) add_joint_impulses(v, out);
}

void ContactSolver::prepare_jvp(const ContactProblem&, const ContactSolution&, SolverScratch&) const {
  throw std::logic_error("a law without a forward derivative");
}

void ContactSolver::jvp(const ContactProblem&, const ContactSolution&, const ContactProblemDot&,
                        SolverScratch&, EndMotionBar&) const {
  throw std::logic_error("a law without a forward derivative");
}

int ContactSolver::contacts_near_kink(const ContactProblem& problem, const ContactSolution&,
                                      std::vector<bool>& near_kink) const {
  near_kink.assign(problem.rows.rows.size(), false);
  return 0;
}

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
