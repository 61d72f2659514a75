#include "dynamics/step/step_record.h"

#include "dynamics/step/step_memory.h"

namespace abut {

std::size_t StepRecord::bytes() const {
  std::size_t sum = sizeof(StepRecord);
  for (const SubstepRecord& substep : substeps) {
    sum += sizeof(SubstepRecord) + sizeof(ContactFeature) * substep.features.size() +
           sizeof(CandidatePair) * substep.phase_pairs.size() +
           (sizeof(Pose<double>) + sizeof(Vec6<double>)) * substep.end.X_WB.size();
    for (const GrowableVector* v : {&substep.velocity, &substep.push_out, &substep.displacement})
      sum += sizeof(double) * static_cast<std::size_t>(v->size());
    if (substep.tape) sum += substep.tape->bytes();
  }
  return sum;
}

std::size_t SubstepTape::bytes() const {
  const auto slots = static_cast<std::size_t>(solved.mass.slot_count());
  constexpr std::size_t k_of_slot =
      2 * sizeof(Mat3<double>) + 4 * sizeof(Vec6<double>);  // masses, velocities
  return sizeof(SubstepTape) + k_of_slot * slots +
         sizeof(ContactRow) * (solved.rows.rows.size() + solved.rows.members.size()) +
         sizeof(RowPair) * solved.rows.pairs.size() + sizeof(Contact) * solved.rows.member_contacts.size() +
         sizeof(FollowedGap) * solved.followed.size() + sizeof(JointRow) * solved.joints.rows.size() +
         islands.bytes();
}

}  // namespace abut
