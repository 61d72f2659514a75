#include "dynamics/solver/contact_problem.h"

namespace abut {

const char* to_string(SolutionPath path) {
  switch (path) {
    case SolutionPath::newton:
      return "newton";
    case SolutionPath::convex_pass:
      return "convex_pass";
    case SolutionPath::graduated_friction:
      return "graduated_friction";
    case SolutionPath::other_start:
      return "other_start";
    case SolutionPath::none:
      return "none";
  }
  return "";
}

void ContactSolution::reset() {
  push_out.resize(0);
  displacement.resize(0);
  phase_speeds.resize(0);
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
  v_lead.setZero(problem.v_lead == nullptr ? 0 : problem.mass.size());
  inertia_W.assign(slots, Mat3<double>::Zero());
  mass.assign(slots, 0.0);
  rows.assign(problem.rows.rows.size(), {});
  pairs.assign(problem.rows.pairs.size(), {});
  joints.reset(problem.joints);
  links.assign(problem.mass.links().size(), {});
}

ContactProblemBar& ContactProblemBar::operator+=(const ContactProblemBar& other) {
  v_start += other.v_start;
  v_free += other.v_free;
  v_lead += other.v_lead;
  for (std::size_t s = 0; s < mass.size(); ++s) {
    inertia_W[s] += other.inertia_W[s];
    mass[s] += other.mass[s];
  }
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += other.rows[i];
  for (std::size_t p = 0; p < pairs.size(); ++p) pairs[p] += other.pairs[p];
  joints += other.joints;
  for (std::size_t k = 0; k < links.size(); ++k) links[k] += other.links[k];
  return *this;
}

void ContactProblemDot::add_mass_product(const GrowableVector& v, double factor, GrowableVector& out) const {
  for (std::size_t s = 0; s < mass.size(); ++s) {
    const Eigen::Index i = 6 * static_cast<Eigen::Index>(s);
    out.segment<3>(i) += factor * (inertia_W[s] * v.segment<3>(i));
    out.segment<3>(i + 3) += factor * mass[s] * v.segment<3>(i + 3);
  }
}

void ContactProblemDot::set_balance(const ContactProblem& problem, const GrowableVector& v,
                                    GrowableVector& out) const {
  problem.mass.multiply(v_free, out);
  add_mass_product(v, -1.0, out);
  add_mass_product(problem.v_free, 1.0, out);
  if (joint_impulses.size() > 0) out += joint_impulses;
}

void set_start(const ContactProblem& problem, GrowableVector& v) {
  v = problem.v_start;
  allow(problem.mass.links(), problem.v_free, v);
}

void balance_vjp(const ContactProblem& problem, const GrowableVector& w, const GrowableVector& v,
                 GrowableVector& momentum, ContactProblemBar& bar) {
  for (int s = 0; s < problem.mass.slot_count(); ++s) {  // -w^T dM (v - v*)
    const auto k = static_cast<std::size_t>(s);
    const Vec6<double> dv = v.segment<6>(6 * s) - problem.v_free.segment<6>(6 * s);
    bar.inertia_W[k].noalias() -= w.segment<3>(6 * s) * dv.head<3>().transpose();
    bar.mass[k] -= w.segment<3>(6 * s + 3).dot(dv.tail<3>());
  }
  problem.joints.vjp(v, w, bar.joints);
  problem.mass.multiply(w, momentum);
  bar.v_free += momentum;
}

}  // namespace abut
