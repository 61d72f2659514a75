/// What the contacts of a recorded step did.
#include <algorithm>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "dynamics/step/contact_force.h"
#include "dynamics/step/step_memory.h"
#include "dynamics/step/stepper.h"

namespace abut {
namespace {

bool is_same(const ContactFeature& a, const ContactFeature& b) {
  return a.kind == b.kind && a.body_A == b.body_A && a.body_B == b.body_B && a.feature_A == b.feature_A &&
         a.feature_B == b.feature_B;
}

/// Velocity of B relative to A at a row's point, across its normal.
Vec3<double> slip_of(const ContactRow& row, const GrowableVector& v) {
  const auto velocity = [&](int slot, const Vec3<double>& r) -> Vec3<double> {
    if (slot < 0) return Vec3<double>::Zero();
    return point_velocity(Vec6<double>(v.segment<6>(6 * slot)), r);
  };
  const Vec3<double> u = velocity(row.slot_B, row.r_B) - velocity(row.slot_A, row.r_A) + row.drift;
  const Vec3<double> n = row.n.normalized();  // that of opposing surfaces is shorter than 1
  return u - u.dot(n) * n;
}

}  // namespace

double ContactForce::normal_force() const { return force_B_W.dot(normal_AB_W.normalized()); }

double ContactForce::friction_use() const {
  const double normal = normal_force(), bound = friction * normal;
  return bound > 0.0 ? (force_B_W - normal * normal_AB_W.normalized()).norm() / bound : 0.0;
}

void Stepper::contact_forces(const State& state, const Control& control, const StepRecord& record,
                             StepScratch& scratch, std::vector<ContactForce>& forces) const {
  StepMemory& memory = scratch.memory();
  if (record.report.status != StepStatus::ok)
    throw std::logic_error(
        fmt::format("a step that ended '{}' has no forces", to_string(record.report.status)));
  forces.clear();
  std::vector<Vec3<double>> impulses;
  const State* given = &state;
  for (const SubstepRecord& part : record.substeps) {
    const State& start = close_joints(*given, part.h, memory.linearized.own.solved.trees, memory);
    restore(start, control, part, LinearizeFor::vjp, memory);
    LinearizedSubstep& at = memory.linearized;
    const SolvedSubstep& solved = at.solved();
    const std::size_t earlier = forces.size();
    // Where a step is divided, the same contact acts in several parts of it, as in its impacts.
    const auto add = [&](const ContactRows& rows, std::span<const ContactFeature> features,
                         std::span<const Pose<double>> X_WB, const GrowableVector& velocity, bool is_impact) {
      const std::size_t now = forces.size();
      for (std::size_t i = 0; i < impulses.size(); ++i) {
        const ContactRow& row = rows.rows[i];
        if (row.answers == 0.0) continue;
        ContactForce force;
        force.feature = {ContactKind::blended, row.body_A, row.body_B, -1, -1};
        if (row.contact >= 0) force.feature = features[static_cast<std::size_t>(row.contact)];
        force.point_W = X_WB[static_cast<std::size_t>(row.body_A)].p + row.r_A;
        force.normal_AB_W = row.n;
        force.force_B_W = impulses[i] / config_.h;
        force.slip_W = slip_of(row, velocity);
        force.friction = rows.pairs[static_cast<std::size_t>(row.pair)].material.friction;
        const std::size_t before = row.contact < 0 ? 0 : is_impact ? now : earlier;
        const auto end = forces.begin() + static_cast<std::ptrdiff_t>(before);
        const auto same = std::find_if(forces.begin(), end, [&](const ContactForce& other) {
          return is_same(other.feature, force.feature);
        });
        if (same == end) {
          forces.push_back(force);
        } else {
          same->force_B_W += force.force_B_W;
          same->slip_W = force.slip_W;
        }
      }
    };
    solver_->impulses(problem_of(solved, part.h), solved.solution, memory.solver, impulses);
    add(solved.rows, at.contacts.features, start.X_WB, solved.solution.velocity, false);
    if (solved.has_impacts) {
      PhasesMemory& phases = memory.phases;
      run_phases(start, part.h, part.phase_pairs, nullptr, true, at.own.solved, memory);
      const PhasesStart phases_from = phases_start(start, part.h, solved, part.phase_pairs, memory);
      for (std::size_t k = 0; k < phases.event_count; ++k) {
        const PhaseEvent& event = phases.events[k];
        if (!event.has_impact()) continue;
        phases_->impulses(phases_from, event, phases, impulses);
        phases_->set_poses(phases_from, event, phases);
        add(event.rows, event.features, phases.state.X_WB, event.solution.velocity, true);
      }
    }
    given = &part.end;
  }
}

}  // namespace abut
