/// Steps that are divided: at impacts, whose time is a smooth function of the state, and where penetration
/// grows too fast.
///
/// An impact substep ends where the distance d of a contact that was ahead becomes 0,
///     d(x(theta, h)) = 0   =>   dh/dtheta = -(d_x x_theta)/(d_x x_h),
/// x being the state at its end; no contact that is to close later acts in it. The rest of the step begins
/// with the impact. Other lengths are constants: the test for them is a kink.
#include <algorithm>
#include <cmath>
#include <limits>

#include "dynamics/step/impact_time.h"
#include "dynamics/step/step_memory.h"
#include "dynamics/step/stepper.h"

namespace abut {
namespace {

constexpr int k_most_impacts = 32;          // in one step; what is left of it is one substep then
constexpr double k_earliest_impact = 1e-3;  // of the step's length: sooner is now
constexpr int k_least_fraction = 1024;      // substeps are at least this part of a step long
constexpr int k_clean_substeps = 5;         // after so many without halving they grow again
constexpr double k_regrowth = 1.5;

void add(const StepReport& substep, bool first, StepReport& report) {
  const StepReport before = report;
  report = substep;
  if (first) return;
  report.contacts = std::max(before.contacts, substep.contacts);
  report.max_penetration = std::max(before.max_penetration, substep.max_penetration);
  report.iterations = before.iterations + substep.iterations;
  report.path = std::max(before.path, substep.path);
  report.has_negative_determinant = before.has_negative_determinant || substep.has_negative_determinant;
  keep_worse(before.warnings, report.warnings);
  if (std::isfinite(substep.residual)) report.residual = std::max(before.residual, substep.residual);
}

}  // namespace

Stepper::Impacts Stepper::impacts_of(SubstepRecord::Length length) const {
  if (!config_.impact_substeps) return Impacts::with_restitution;
  return length == SubstepRecord::Length::impact ? Impacts::closed : Impacts::all;
}

/// On the way from `state`, which lasts at most h seconds: shortens h to where the contact closes. False if
/// it does not.
bool Stepper::find_impact_time(const State& state, const Control& control, const ContactFeature& feature,
                               StepMemory& scratch, double& h) const {
  const auto gap_after = [&](double t) {
    (void)substep(state, control, t, Impacts::closed, scratch.end, scratch, nullptr);
    return detector_->contact(scratch.end.X_WB, feature).signed_distance;
  };
  const double gap_at_0 = detector_->contact(state.X_WB, feature).signed_distance, gap_at_h = gap_after(h);
  if (!(gap_at_0 > 0.0 && gap_at_h < 0.0)) return false;
  const auto A = static_cast<std::size_t>(feature.body_A), B = static_cast<std::size_t>(feature.body_B);
  const double size = std::min(model_->bodies[A].size, model_->bodies[B].size),
               rounding = std::numeric_limits<double>::epsilon() *
                          (size + state.X_WB[A].p.norm() + state.X_WB[B].p.norm());
  h = find_root_of_gap(gap_after, gap_at_0, h, gap_at_h, rounding).time;
  return true;
}

/// Up to where contacts close, if one of those that are ahead closes within h: takes the substep that ends
/// there. False if none does.
bool Stepper::stop_at_impact(const State& state, const Control& control, State& next, StepMemory& scratch,
                             double& h, StepReport& report, SubstepRecord* record, Tape tape) const {
  const auto closes_within = [&](double time) {
    return scratch.solved.solution.impact_row >= 0 &&
           scratch.solved.solution.impact_time > k_earliest_impact * h &&
           scratch.solved.solution.impact_time < time;
  };
  ContactFeature feature;
  bool found = false;
  constexpr double k_shorter = 1.0 - 1e-9;  // each further contact found closes earlier, or it is the same
  double before = std::numeric_limits<double>::infinity();
  while (h < k_shorter * before &&
         closes_within(found ? (1.0 - k_earliest_impact) * h : std::numeric_limits<double>::infinity())) {
    before = h;
    const ContactRow& row =
        scratch.solved.rows.rows[static_cast<std::size_t>(scratch.solved.solution.impact_row)];
    if (row.contact < 0) break;  // made of several, which have no distance to watch
    const ContactFeature next_feature =
        scratch.manifold.contacts.feature(static_cast<std::size_t>(row.contact));
    if (!find_impact_time(state, control, next_feature, scratch, h)) break;
    feature = next_feature;
    found = true;
    report =
        substep(state, control, h, Impacts::all, next, scratch, nullptr);  // does another one close before?
    if (report.status != StepStatus::ok) return true;
  }
  if (!found) return false;
  report = substep(state, control, h, Impacts::closed, next, scratch, record, tape);
  if (record) record->impact = feature;
  return true;
}

StepReport Stepper::divided_step(const State& state, const Control& control, State& next, StepMemory& scratch,
                                 StepRecord* record, Tape tape) const {
  using Length = SubstepRecord::Length;
  StepReport report;
  if (record) record->substeps.clear();
  const double least = config_.h / k_least_fraction;
  double remaining = config_.h, longest = config_.h;
  int impacts = 0, clean = 0;
  bool first = true;
  scratch.start = state;
  for (;;) {
    SubstepRecord substep_record;
    SubstepRecord* const keep = record ? &substep_record : nullptr;
    // Pieces that almost fill what remains fill it: rounding leaves no piece of 1e-19 s behind.
    constexpr double k_almost = 1.0 - 1e-9;
    Length length = longest < k_almost * remaining ? Length::given : Length::remainder;
    double h = length == Length::given ? longest : remaining;
    StepReport substep_report =
        substep(scratch.start, control, h, impacts_of(length), next, scratch, keep, tape);
    if (config_.impact_substeps && substep_report.status == StepStatus::ok && impacts < k_most_impacts &&
        stop_at_impact(scratch.start, control, next, scratch, h, substep_report, keep, tape)) {
      length = Length::impact;
    }
    if (config_.adaptive_substeps && substep_report.status == StepStatus::ok) {
      detector_->detect(next.X_WB, {}, scratch.detector, scratch.manifold);
      double depth = 0.0;
      for (const double distance : scratch.manifold.contacts.block().column(k_contact_distance))
        depth = std::max(depth, -distance);
      // A given length does not depend on the state, while h may be what an impact left.
      double shorter = longest;
      while (shorter > 0.5 * h) shorter *= 0.5;
      if (depth - substep_report.max_penetration > config_.penetration_growth && shorter >= least) {
        longest = shorter;
        clean = 0;
        continue;
      }
      if (++clean % k_clean_substeps == 0) longest = std::min(config_.h, k_regrowth * longest);
    }
    if (length == Length::impact) ++impacts;
    add(substep_report, first, report);
    first = false;
    remaining -= h;
    const bool done = length == Length::remainder || !(remaining > 0.0) || report.status != StepStatus::ok;
    if (record) {
      substep_record.length = length;
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
