#include "dynamics/other_laws/dense_factor.h"

#include <algorithm>

namespace abut {

void DenseFactor::set_motions(const LinkMotions& links) {
  const Eigen::Index slots = whole.rows() / 6;
  std::vector<char> is_link(at(slots), 0);
  Eigen::Index columns = 6 * slots;
  for (const LinkMotion& link : links) {
    is_link[at(link.slot)] = 1;
    columns += link.rates - 6;
  }
  J_.setZero(whole.rows(), columns);
  Eigen::Index column = 0;
  for (Eigen::Index slot = 0; slot < slots; ++slot) {
    if (is_link[at(slot)] != 0) continue;
    J_.block<6, 6>(6 * slot, column).setIdentity();
    column += 6;
  }
  for (const LinkMotion& link : links) {
    if (link.parent >= 0) {
      for (Eigen::Index k = 0; k < column; ++k)
        J_.block<6, 1>(6 * link.slot, k) = link.carried(J_.block<6, 1>(6 * link.parent, k));
    }
    J_.block(6 * link.slot, column, 6, link.rates) = link.S.leftCols(link.rates);
    column += link.rates;
  }
}

}  // namespace abut
