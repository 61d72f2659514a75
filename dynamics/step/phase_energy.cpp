#include "dynamics/step/phase_energy.h"

#include <cmath>

#include "dynamics/solver/work.h"
#include "engine/lie.h"

namespace abut {
namespace {

/// Energy of the links of a group at the end of a step that a solve leaves with `end`.
double link_energy(const PhasesStart& start, const EndMotion& end, double lead, const PhasesMemory& m,
                   int group) {
  const auto& [motion, step, memory] = start.trees;
  TreeStep& trial = memory->trial;
  trial = *step;
  (void)motion->end_step(start.mass, start.free, end, start.h, false, *memory, trial);
  double energy = 0.0;
  for (std::size_t i = 0; i < trial.end.momentum.size(); ++i) {
    const Link& link = motion->trees().links[i];
    if (m.group_of_slot[at(start.mass.slot(link.body))] != group) continue;
    const LinkParameters<double>& numbers = trial.parameters.links[i];
    const Pose<double>& X_WB = trial.kinematics_next.X_WB[i];
    const Vec3<double> L = trial.end.momentum[i].head<3>(),
                       a = trial.parameters.gravity + trial.loads.wrenches[i].tail<3>() / numbers.mass,
                       v = trial.end.momentum[i].tail<3>() / numbers.mass + lead * a,
                       way = X_WB.p - trial.kinematics.X_WB[i].p;
    energy += 0.5 * L.dot(angular_velocity(X_WB, numbers.inertia, L)) +
              numbers.mass * (0.5 * v.squaredNorm() - a.dot(way));
  }
  return energy;
}

}  // namespace

bool gains_energy(const PhasesStart& start, const impact::Settings& settings, const PhasesMemory& m,
                  int group, std::size_t first) {
  constexpr double k_most = 1e-4;
  for (const LinkMotion& link : start.mass.links()) {
    if (link.base_moves && m.group_of_slot[at(link.slot)] == group) return false;
  }
  for (std::size_t k = first; k < m.event_count; ++k) {
    if (has_work_of_its_own(m.events[k].rows_after, m.events[k].joints, {})) return false;
  }
  const double h = start.h, lead = settings.lead(h);
  double gain = 0.0, before = 0.0;
  for (int s = 0; s < start.mass.slot_count(); ++s) {
    if (m.group_of_slot[at(s)] != group || start.free.moves_with_tree(s)) continue;
    const auto part = [&](const GrowableVector& v, int k) -> Vec3<double> { return v.segment<3>(6 * s + k); };
    const Vec3<double> w_free = part(start.free.v_free, 0), w_rest = part(start.v_rest, 0),
                       v_rest = part(start.v_rest, 3), w = part(m.velocity, 0), v = part(m.velocity, 3),
                       a = part(m.acceleration, 3), turn = h * w + part(m.displacement, 0),
                       later = (h + start.lag) * (v - v_rest) + part(m.displacement, 3);
    const Mat3<double>&I = start.mass.inertia_W(s), &I_inverse = start.mass.inverse_inertia_W(s);
    const auto turned = [](const Mat3<double>& of, const Vec3<double>& by, const Vec3<double>& x) {
      const Mat3<double> Q = exp_so3<double>(by);
      return Vec3<double>(Q * (of * (Q.transpose() * x)));
    };
    const Vec3<double> L_free = turned(I, 0.5 * h * w_free, w_free), L_rest = L_free + I * (w_rest - w_free),
                       L = L_free + I * (w - w_free);
    const double of_turning = 0.5 * L_rest.dot(turned(I_inverse, h * w_rest, L_rest)),
                 of_motion = 0.5 * start.mass.mass(s) * (v_rest + lead * a).squaredNorm();
    before += of_turning + of_motion;
    gain += 0.5 * L.dot(turned(I_inverse, turn, L)) - of_turning +
            start.mass.mass(s) * (0.5 * (v + lead * a).squaredNorm() - a.dot(later)) - of_motion;
  }
  if (start.trees.motion != nullptr) {
    const GrowableVector nothing;
    const double of_rest = link_energy(start, {start.v_rest, nothing}, lead, m, group);
    gain += link_energy(start, {m.velocity, m.displacement}, lead, m, group) - of_rest;
    before += std::abs(of_rest);
  }
  return gain > k_most * before;
}

}  // namespace abut
