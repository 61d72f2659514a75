#include "dynamics/step/pair_jacobian.h"

#include <algorithm>
#include <span>

#include "dynamics/step/step_memory.h"
#include "dynamics/step/stepper.h"

namespace abut {

bool Stepper::may_share_pairs(std::span<const StepBar> bars, const StepRecord& record) {
  constexpr std::size_t k_twists = 6;  // that a pair is differentiated along
  return bars.size() > k_twists && record.substeps.size() == 1 &&
         std::all_of(bars.begin(), bars.end(), [](const StepBar& bar) {
           return !bar.mask.shapes && !bar.mask.materials && !bar.mask.masses;
         });
}

bool Stepper::can_share_pairs(const LinearizedSubstep& at) const {
  return !at.solved().has_impacts && at.solved().followed.empty() && solver_->has_pair_vjp(at.islands());
}

void Stepper::find_pair_jacobians(const State& state, const SubstepRecord& record,
                                  StepMemory& scratch) const {
  const SolvedSubstep& solved = scratch.linearized.solved();
  const ContactProblem problem = problem_of(solved, record.h);
  StepVjpScratch& memory = scratch.vjp;
  ContactProblemBar& bar = memory.problem;
  StateTangent& state_bar = memory.of_pair;
  bar.set_zero(problem);
  memory.contacts.resize(record.features.size());
  state_bar.set_zero(model_->body_count());
  memory.pairs.resize(solved.rows.pairs.size());
  std::size_t begin = 0;  // of its contacts
  for (std::size_t p = 0; p < memory.pairs.size(); ++p) {
    const RowPair& pair = solved.rows.pairs[p];
    const bool is_reduced = pair.member_end > pair.member_begin;
    const auto count =
        static_cast<std::size_t>(is_reduced ? pair.member_end - pair.member_begin : pair.end - pair.begin);
    const std::span<ContactBar> contacts = std::span(memory.contacts).subspan(begin, count);
    detector_->linearize(state.X_WB, std::span(record.features).subspan(begin, count), memory.pair_contacts,
                         LinearizeFor::many_vjps);
    begin += count;

    PairJacobian& of_pair = memory.pairs[p];
    of_pair.body_A = pair.body_A;
    of_pair.body_B = pair.body_B;
    of_pair.pair.slot_A = pair.slot_A;
    of_pair.pair.slot_B = pair.slot_B;
    const ContactRow& first = solved.rows.rows[static_cast<std::size_t>(pair.begin)];
    if (of_pair.pair.both_move()) of_pair.pair.shift = first.r_B - first.r_A;
    for (int k = 0; k < 6; ++k) {
      std::fill(bar.rows.begin() + pair.begin, bar.rows.begin() + pair.end, ContactRowBar{});
      std::fill(contacts.begin(), contacts.end(), ContactBar{});
      of_pair.impulse = solver_->pair_vjp(problem, solved.solution, scratch.linearized.islands(), p,
                                          Vec6<double>::Unit(k), scratch.solver, bar);
      rows_vjp(solved.rows, pair, record.h, solved.free.v_start, bar.rows,
               {memory.contacts, state_bar.pose, &bar.v_start, state_bar.twist});
      detector_->add_vjp(state.X_WB, contacts, memory.pair_contacts, state_bar.pose, {});
      const auto take = [&](int body, int slot, Eigen::Matrix<double, 12, 6>& by) {
        const auto b = static_cast<std::size_t>(body);
        by.col(k) << state_bar.pose[b], state_bar.twist[b];
        state_bar.pose[b].setZero();
        state_bar.twist[b].setZero();
        if (slot < 0) return;
        by.col(k).tail<6>() += bar.v_start.segment<6>(6 * slot);
        bar.v_start.segment<6>(6 * slot).setZero();
      };
      take(pair.body_A, pair.slot_A, of_pair.by_A);
      take(pair.body_B, pair.slot_B, of_pair.by_B);
    }
  }
}

}  // namespace abut
