#include "dynamics/step/step_failure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/lie.h"

namespace abut {
namespace {

const Body& body_of(const Model& model, int body) { return model.bodies[static_cast<std::size_t>(body)]; }

/// The smaller of the two; one of them is bounded.
int smaller_body(const Model& model, const ContactRow& row) {
  return body_of(model, row.body_B).size <= body_of(model, row.body_A).size ? row.body_B : row.body_A;
}

/// The contact of the largest measure(row, depth [m]) among those that took part.
struct Worst {
  double value = -std::numeric_limits<double>::infinity();
  const ContactRow* row = nullptr;
};

template <typename Measure>
Worst find_worst(const StepMemory& scratch, const Measure& measure) {
  Worst worst;
  scratch.solved.rows.each_member([&](const ContactRow& row) {
    const double value =
        measure(row, -scratch.manifold.contacts.block().number(k_contact_distance, row.contact));
    if (value > worst.value) worst = {value, &row};
  });
  return worst;
}

void blame(const StepMemory& scratch, const Worst& worst, StepReport& report) {
  if (worst.row == nullptr) return;
  report.contact = scratch.manifold.contacts.feature(static_cast<std::size_t>(worst.row->contact));
  if (report.body < 0) report.body = worst.row->slot_B >= 0 ? worst.row->body_B : worst.row->body_A;
}

/// The deepest contact of the report's body or, if it names none, of `among` (empty: of all).
void blame_deepest(const StepMemory& scratch, const std::vector<int>& among, StepReport& report) {
  constexpr double k_never = -std::numeric_limits<double>::infinity();
  const auto has = [&](int slot) {
    return slot >= 0 && (among.empty() || std::find(among.begin(), among.end(), slot) != among.end());
  };
  blame(scratch,
        find_worst(scratch,
                   [&](const ContactRow& row, double depth) {
                     const bool takes_part = report.body >= 0
                                                 ? row.body_A == report.body || row.body_B == report.body
                                                 : has(row.slot_A) || has(row.slot_B);
                     return takes_part ? depth : k_never;
                   }),
        report);
}

/// Where no contact is to blame, in a chain of joints say: a body whose velocity was not found. No slots are
/// named where all bodies hang together.
void blame_unconverged(const StepMemory& scratch, StepReport& report) {
  const std::vector<int>& slots = scratch.solver.unconverged_slots;
  if (report.body < 0 && scratch.solved.mass.slot_count() > 0)
    report.body = scratch.solved.mass.body(slots.empty() ? 0 : slots.front());
}

/// A body that moved farther than its velocities explain, and by how much.
struct Jump {
  int body = -1;
  double length = 0.0;  ///< [m]; of a rotation at the body's reach
};

/// What velocities of a step of h seconds explain, of one half of the twists (w or v).
struct Explained {
  double h;
  const MotionLag& lag;
  const ContactSolution& solution;
  const FreeMotion& free;

  /// @param first  index of the half in the vectors of velocities
  /// @param phase  its index in ContactSolution::phase_speeds
  [[nodiscard]] double way(Eigen::Index first, Eigen::Index phase) const {
    const auto half = [&](const GrowableVector& v) { return v.segment<3>(first); };
    double speed = std::max(half(free.v_start).norm(), half(solution.velocity).norm()), more = 0.0;
    if (solution.phase_speeds.size() > 0) speed = std::max(speed, solution.phase_speeds[phase]);
    if (solution.push_out.size() > 0) more = h * (half(solution.push_out) - half(solution.velocity)).norm();
    if (lag.time != 0.0) more += std::abs(lag.time) * (half(solution.velocity) - half(free.v_start)).norm();
    constexpr double k_rounding = 1e-9;
    return (1.0 + k_rounding) * (h * speed + more);
  }
};

/// The farthest of all bodies. Poses have rounding of their own: that of coordinates and of quaternions.
///
/// @param slack      see TreeMotion::find_slack(); empty: none
/// @param is_for_any  any that jumped will do
Jump find_jump(const ContactDetector& detector, double h, const MotionLag& lag, const State& state,
               const State& next, std::span<const Vec2<double>> slack, bool is_for_any,
               const StepMemory& scratch) {
  constexpr double k_rounding = 8.0 * std::numeric_limits<double>::epsilon(), k_half_turn = 3.0;
  const MassMatrix& mass = scratch.solved.mass;
  const Explained explained{h, lag, scratch.solved.solution, scratch.solved.free};
  Jump jump;
  for (int s = 0; s < mass.slot_count(); ++s) {
    const int body = mass.body(s);
    const Pose<double>&before = state.X_WB[static_cast<std::size_t>(body)],
          &after = next.X_WB[static_cast<std::size_t>(body)];
    const Vec2<double> of_joints = slack.empty() ? Vec2<double>(0.0, 0.0) : slack[at(s)];
    double length = (after.p - before.p).norm() - explained.way(6 * s + 3, 2 * s + 1) - of_joints[1] -
                    k_rounding * (after.p.norm() + before.p.norm());
    // |vec(q+ q^-1)| = sin(|theta|/2); beyond half a turn poses do not tell how far it was.
    const double turn = explained.way(6 * s, 2 * s) + of_joints[0] + k_rounding;
    if (turn < k_half_turn) {
      const double sine = (after.q * before.q.conjugate()).vec().norm();
      if (sine > std::sin(0.5 * turn) + k_rounding)
        length = std::max(length, detector.reach(body) * (2.0 * std::asin(std::min(1.0, sine)) - turn));
    }
    if (length > jump.length) jump = {body, length};
    if (is_for_any && jump.body >= 0) break;
  }
  return jump;
}

}  // namespace

bool is_finite(const State& state, int& culprit) {
  for (std::size_t b = 0; b < state.X_WB.size(); ++b) {
    if (std::isfinite(state.X_WB[b].q.squaredNorm()) && std::isfinite(state.X_WB[b].p.squaredNorm()) &&
        std::isfinite(state.V_WB[b].squaredNorm())) {
      continue;
    }
    culprit = static_cast<int>(b);
    return false;
  }
  return true;
}

void judge_step(const Model& model, const StepConfig& config, const ContactDetector& detector, double h,
                const MotionLag& lag, const State& state, const State& next, const TreesOfStep& trees,
                const StepMemory& scratch, StepReport& report) {
  report.contacts = static_cast<int>(scratch.solved.rows.rows.size());
  report.max_penetration =
      std::max(0.0, find_worst(scratch, [](const ContactRow&, double depth) { return depth; }).value);
  report.iterations = scratch.solved.solution.iterations;
  report.residual = scratch.solved.solution.residual;
  report.path = scratch.solved.solution.path;
  report.has_negative_determinant = scratch.solved.solution.has_negative_determinant;

  if (!is_finite(next, report.body) || !std::isfinite(report.residual)) {
    report.status = StepStatus::non_finite;
    blame_deepest(scratch, {}, report);
    blame_unconverged(scratch, report);
    return;
  }
  const FreeMotion& free = scratch.solved.free;
  if (!free.converged || !scratch.solved.solution.converged) {
    report.status = free.converged ? StepStatus::not_converged : StepStatus::turns_too_far;
    if (!free.converged) report.body = scratch.solved.mass.body(free.unconverged_slot);
    blame_deepest(scratch, scratch.solver.unconverged_slots, report);
    blame_unconverged(scratch, report);
    return;
  }
  // The size of the smaller body is at least that of the smallest: most steps need no second look.
  double smallest = std::numeric_limits<double>::infinity();
  for (const Body& body : model.bodies) smallest = std::min(smallest, body.size);
  Worst deepest;
  if (report.max_penetration > config.penetration_limit * smallest) {
    deepest = find_worst(scratch, [&](const ContactRow& row, double depth) {
      return depth / body_of(model, smaller_body(model, row)).size;
    });
  }
  if (deepest.value > config.penetration_limit) {
    report.status = StepStatus::too_deep;
    const int smaller = smaller_body(model, *deepest.row);
    if (!body_of(model, smaller).fixed) report.body = smaller;
    report.penetration = deepest.value;
    blame(scratch, deepest, report);
    return;
  }
  int fastest = -1;
  for (int s = 0; s < scratch.solved.mass.slot_count(); ++s) {
    const int b = scratch.solved.mass.body(s);
    const Vec6<double>& V = next.V_WB[static_cast<std::size_t>(b)];
    const double speed = V.tail<3>().norm() + V.head<3>().norm() * detector.reach(b);
    if (speed <= report.max_speed) continue;
    report.max_speed = speed;
    fastest = b;
  }
  if (report.max_speed > config.speed_limit) {
    report.status = StepStatus::too_fast;
    report.body = fastest;
    blame_deepest(scratch, {}, report);
    return;
  }
  Jump jump = find_jump(detector, h, lag, state, next, {}, trees.motion != nullptr, scratch);
  if (jump.body >= 0 && trees.motion != nullptr) {
    trees.motion->find_slack(scratch.solved.mass, scratch.solved.end_motion(lag), h, *trees.step,
                             *trees.memory);
    jump = find_jump(detector, h, lag, state, next, trees.memory->slack, false, scratch);
  }
  if (jump.body >= 0) {
    report.status = StepStatus::jumped;
    report.body = jump.body;
    report.jump = jump.length;
    blame_deepest(scratch, {}, report);
  }
}

}  // namespace abut
