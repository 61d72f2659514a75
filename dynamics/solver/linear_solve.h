/// The linear solves of implicit derivatives, with links of trees among the bodies:
///     v = v* + J d,  J^T F(v) = 0,  H = dF/dv,
///     dv = e + J dd,  e = dv* + dJ d,   J^T H J dd = -J^T (dF + H e) - dJ^T F,
/// dF at fixed v. F, what joints answer, is 0 where there are no links, and J is 1.
#pragma once

#include "dynamics/motion/link_motion.h"
#include "dynamics/solver/contact_problem.h"

namespace abut {

/// out = the blocks of v that belong to trees, 0 elsewhere.
inline void restrict_to_trees(const LinkMotions& links, const GrowableVector& v, GrowableVector& out) {
  out.setZero(v.size());
  for (const LinkMotion& link : links) {
    for (const int slot : {link.parent, link.slot}) {
      if (slot >= 0) out.segment<6>(6 * slot) = v.segment<6>(6 * slot);
    }
  }
}

/// From v_bar to w = J (J^T H J)^-T J^T v_bar, in place. Adds what links and, beyond M w, v* take.
///
/// @param factor    of J^T H J, e.g. BlockLu
/// @param reaction  F at the solution v
template <typename Factor>
void solve_vjp(const ContactProblem& problem, const Factor& factor, const GrowableVector& reaction,
               const GrowableVector& v, GrowableVector& w, ContactProblemBar& bar) {
  const LinkMotions& links = problem.mass.links();
  if (links.empty()) {
    factor.solve_transposed_in_place(w);
    return;
  }
  const GrowableVector v_bar = w;
  factor.solve_transposed_in_place(w);
  GrowableVector g, by_trees;
  factor.multiply_transposed(w, g);
  g = v_bar - g;  // J^T g = 0
  restrict_to_trees(links, g, by_trees);
  bar.v_free += by_trees;
  motion_vjp(links, by_trees, v - problem.v_free, 1.0, bar.links);
  motion_vjp(links, reaction, w, -1.0, bar.links);
}

/// From -dF to dv, in place.
template <typename Factor>
void solve_jvp(const ContactProblem& problem, const Factor& factor, const GrowableVector& reaction,
               const ContactProblemDot& dot, const GrowableVector& v, GrowableVector& v_dot) {
  const LinkMotions& links = problem.mass.links();
  if (links.empty()) {
    factor.solve_in_place(v_dot);
    return;
  }
  GrowableVector e, of_motion, He;
  restrict_to_trees(links, dot.v_free, e);
  motion_jvp(links, dot.links, v - problem.v_free, of_motion);
  e += of_motion;
  factor.multiply(e, He);
  v_dot -= He;
  subtract_reaction_jvp(links, dot.links, reaction, v_dot);
  factor.solve_in_place(v_dot);
  v_dot += e;
}

}  // namespace abut
