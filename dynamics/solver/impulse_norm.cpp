#include "dynamics/solver/impulse_norm.h"

namespace abut {

void ImpulseNorm::update(const MassMatrix& mass) {
  if (mass.links().empty()) return;
  factor_.reset(mass.slot_count(), {}, mass.links());
  for (int s = 0; s < mass.slot_count(); ++s) factor_.diagonal(s) = mass.block(s);
  (void)factor_.factorize();  // masses are positive
}

}  // namespace abut
