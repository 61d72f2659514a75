/// Steps that are divided where penetration grows too fast. The lengths of substeps are constants: the test
/// for them is a kink.
#include <algorithm>
#include <cmath>

#include "dynamics/step/step_memory.h"
#include "dynamics/step/stepper.h"

namespace abut {
namespace {

constexpr int k_least_fraction = 1024;  // substeps are at least this part of a step long
constexpr int k_clean_substeps = 5;     // after so many without halving they grow again
constexpr double k_regrowth = 1.5;

void add(const StepReport& substep, bool first, StepReport& report) {
  const StepReport before = report;
  report = substep;
  if (first) return;
  report.contacts = std::max(before.contacts, substep.contacts);
  report.max_penetration = std::max(before.max_penetration, substep.max_penetration);
  report.iterations = before.iterations + substep.iterations;
  report.impacts = before.impacts + substep.impacts;
  report.are_impacts_cut_short = before.are_impacts_cut_short || substep.are_impacts_cut_short;
  report.path = std::max(before.path, substep.path);
  report.has_negative_determinant = before.has_negative_determinant || substep.has_negative_determinant;
  keep_worse(before.warnings, report.warnings);
  if (std::isfinite(substep.residual)) report.residual = std::max(before.residual, substep.residual);
}

}  // namespace

StepReport Stepper::divided_step(const State& state, const Control& control, State& next, StepMemory& scratch,
                                 StepRecord* record, Tape tape) const {
  StepReport report;
  if (record) record->substeps.clear();
  const double least = config_.h / k_least_fraction;
  double remaining = config_.h, longest = config_.h;
  int clean = 0;
  bool first = true;
  scratch.start = state;
  std::vector<double> motor_impulses;  // before a substep that may not be the last
  for (;;) {
    SubstepRecord substep_record;
    SubstepRecord* const keep = record ? &substep_record : nullptr;
    // Pieces that almost fill what remains fill it: rounding leaves no piece of 1e-19 s behind.
    constexpr double k_almost = 1.0 - 1e-9;
    const bool is_last = longest >= k_almost * remaining;
    const double h = is_last ? remaining : longest;
    motor_impulses = scratch.motor_impulses;
    const StepReport substep_report = substep(scratch.start, control, h, next, scratch, keep, tape);
    if (substep_report.status == StepStatus::ok) {
      detector_->detect(next.X_WB, {}, scratch.detector, scratch.manifold);
      double depth = 0.0;
      for (const double distance : scratch.manifold.contacts.block().column(k_contact_distance))
        depth = std::max(depth, -distance);
      double shorter = longest;  // halved from here on where h is only what was left of the step
      while (shorter > 0.5 * h) shorter *= 0.5;
      if (depth - substep_report.max_penetration > config_.penetration_growth && shorter >= least) {
        longest = shorter;
        clean = 0;
        std::swap(scratch.motor_impulses, motor_impulses);
        continue;
      }
      if (++clean % k_clean_substeps == 0) longest = std::min(config_.h, k_regrowth * longest);
    }
    add(substep_report, first, report);
    first = false;
    remaining -= h;
    const bool done = is_last || report.status != StepStatus::ok;
    if (record) {
      if (!done) substep_record.end = next;
      record->substeps.push_back(std::move(substep_record));
    }
    if (done) break;
    std::swap(scratch.start, next);
  }
  next.time = state.time + config_.h;
  if (record) record->report = report;
  return report;
}

}  // namespace abut
