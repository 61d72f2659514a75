#include "dynamics/step/step_warnings.h"

#include <algorithm>
#include <cmath>

#include "dynamics/contact_laws/penalty.h"
#include "dynamics/other_laws/penalty_solver.h"
#include "dynamics/solver/smooth_coulomb_settings.h"
#include "engine/joint_geometry.h"

namespace abut {
namespace {

double size_of(const Model& model, int body) { return model.bodies[static_cast<std::size_t>(body)].size; }

/// A pair of bodies in a step of h seconds.
struct PairOfStep {
  const StepConfig& config;
  const RowPair& pair;
  double h;
  double size;          ///< of the smaller body [m]
  double inverse_mass;  ///< W [1/kg]
};

/// How much of a contact's sinking is not that of the materials' springs [-].
double share_of_regularization(const PairOfStep& of, const smooth_coulomb::Settings& settings,
                               const SolvedSubstep& solved, const ContactRow& row) {
  const PairMaterial& material = of.pair.material;
  if (material.compliance == 0.0 || of.config.law == ContactLaw::impedance) return 1.0;
  if (of.config.law == ContactLaw::penalty) {
    const double k = 1.0 / material.compliance;
    const double W = penalty_inverse_mass(solved.mass, solved.rows, row);
    return 1.0 - penalty::stable_spring(k, material.dissipation_time, of.pair.shares, W, of.h).stiffness / k;
  }
  return settings.near_rigid * of.inverse_mass /
         smooth_coulomb::normal_resistance(of.inverse_mass, material.compliance, material.dissipation_time,
                                           settings);
}

/// How deep the deepest contact that is under a load has sunk [m], 0 if none has.
double sunken_depth(const PairOfStep& of, double acceleration_scale, const StepMemory& scratch) {
  smooth_coulomb::Settings settings = smooth_coulomb_settings(of.config, acceleration_scale * of.config.h);
  settings.h = of.h;
  const double relaxation = of.h + of.pair.material.dissipation_time;
  double deepest = 0.0;
  for (int i = of.pair.begin; i < of.pair.end; ++i) {
    const ContactRow& row = scratch.solved.rows.rows[static_cast<std::size_t>(i)];
    const double depth = -row.distance, least = std::max(deepest, k_sunken_depth * of.size);
    if (!(depth > least)) continue;
    const double share = share_of_regularization(of, settings, scratch.solved, row);
    if (!(share * depth > least)) continue;
    const double parting = row.n.dot(relative_velocity(row, scratch.solved.solution.velocity));
    if (parting < 0.5 * std::min(depth / relaxation, settings.push_out_speed)) deepest = share * depth;
  }
  return deepest;
}

/// What forces make of v_B - v_A in the step, without contact [m/s].
double change_by_forces(const RowPair& pair, const FreeMotion& free) {
  Vec3<double> change = Vec3<double>::Zero();
  const auto add = [&](int slot, double sign) {
    if (slot < 0) return;
    const Eigen::Index i = 6 * static_cast<Eigen::Index>(slot) + 3;
    change += sign * (free.v_free.segment<3>(i) - free.v_start.segment<3>(i));
  };
  add(pair.slot_A, -1.0);
  add(pair.slot_B, 1.0);
  return change.norm();
}

/// Keeps the worse of two.
void warn(StepReport& report, StepWarning::Kind kind, int body, int other, double value) {
  StepWarning& warning = report.warning(kind);
  if (value > warning.value) warning = {body, other, value};
}

/// [J]
double kinetic_energy(const MassMatrix& mass, const GrowableVector& v, const GrowableVector& v_lead) {
  double energy = 0.0;
  for (int s = 0; s < mass.slot_count(); ++s) {
    const Vec6<double> V = v.segment<6>(6 * s) + v_lead.segment<6>(6 * s);
    energy += 0.5 * V.head<3>().dot(mass.inertia_W(s) * V.head<3>()) +
              0.5 * mass.mass(s) * V.tail<3>().squaredNorm();
  }
  return energy;
}

/// The pairs of an impact that leave it without their restitution.
///
/// @param impact_speed  v_thr [m/s]
void warn_of_lost_restitution(const MassMatrix& mass, const PhaseEvent& event, double impact_speed,
                              StepReport& report) {
  impact::Settings settings;
  settings.threshold = impact_speed;
  for (const RowPair& pair : event.rows.pairs) {
    double lost = 0.0;
    for (int i = pair.begin; i < pair.end; ++i) {
      const ContactRow& row = event.rows.rows[static_cast<std::size_t>(i)];
      if (!row.hits || row.answers < 1.0) continue;  // the others are too far away to close now
      const double approach = -row.n.dot(relative_velocity(row, event.v_before)),
                   share = impact::share(-approach, settings);
      if (!(share > 0.0)) continue;  // too slow to bounce
      const double parting = row.n.dot(relative_velocity(row, event.solution.velocity)),
                   target = event.restitution_share < 1.0 ? pair.material.restitution * share * approach
                                                          : row.rebound + row.settle;
      if (target - parting > k_lost_restitution * approach) lost = std::max(lost, target - parting);
    }
    if (!(lost > 0.0)) continue;
    // An impact whose restitution is reduced lest energy rises keeps all of it.
    constexpr double k_rounding = 1e-6;
    const double before = kinetic_energy(mass, event.v_before, event.v_lead),
                 after = kinetic_energy(mass, event.solution.velocity, event.v_lead);
    if (event.restitution_share < 1.0 || after < (1.0 - k_rounding) * before)
      warn(report, StepWarning::Kind::lost_restitution, pair.body_A, pair.body_B, lost);
  }
}

}  // namespace

void find_step_warnings(const Model& model, const StepConfig& config, double acceleration_scale, double h,
                        std::span<const char> is_link, const StepMemory& scratch, const State& next,
                        StepReport& report) {
  if (report.residual > config.tolerance) {
    const int body = scratch.solved.mass.body(scratch.solved.solution.worst_slot);
    warn(report, StepWarning::Kind::rounding, body, -1, report.residual);
  }
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    if (std::isfinite(joint.stiffness) || (!is_link.empty() && is_link[j] != 0)) continue;
    const double other_size = joint.body_A < 0 ? k_infinity : size_of(model, joint.body_A);
    const double apart =
        joint_error(joint, next).position / std::min(size_of(model, joint.body_B), other_size);
    if (apart > k_parted) warn(report, StepWarning::Kind::parted_joint, joint.body_B, joint.body_A, apart);
  }
  const double impact_speed = smooth_coulomb_settings(config, acceleration_scale * config.h).impact_speed;
  for (std::size_t k = 0; scratch.solved.has_impacts && k < scratch.phases.event_count; ++k) {
    const PhaseEvent& event = scratch.phases.events[k];
    if (event.has_impact()) warn_of_lost_restitution(scratch.solved.mass, event, impact_speed, report);
  }
  for (const ContactPair& pair : scratch.manifold.pairs) {
    if (pair.left_out >= k_left_out)
      warn(report, StepWarning::Kind::left_out, pair.body_A, pair.body_B, pair.left_out);
  }
  for (const RowPair& pair : scratch.solved.rows.pairs) {
    const double size = std::min(size_of(model, pair.body_A), size_of(model, pair.body_B));
    const double way = h * change_by_forces(pair, scratch.solved.free);
    if (way > k_long_way * size) {
      // The one that moves or, of two, the smaller.
      const bool is_A =
          pair.slot_B < 0 || (pair.slot_A >= 0 && size_of(model, pair.body_A) < size_of(model, pair.body_B));
      warn(report, StepWarning::Kind::long_step, is_A ? pair.body_A : pair.body_B,
           is_A ? pair.body_B : pair.body_A, way / size);
    }
    const double w_A = scratch.solved.mass.inverse_mass(pair.body_A),
                 w_B = scratch.solved.mass.inverse_mass(pair.body_B);
    if (w_A == 0.0 || w_B == 0.0 || std::max(w_A, w_B) < k_heavy_ratio * std::min(w_A, w_B)) continue;
    const double depth = sunken_depth({config, pair, h, size, w_A + w_B}, acceleration_scale, scratch);
    const bool is_A = w_A < w_B;
    if (depth > 0.0) {
      warn(report, StepWarning::Kind::heavy_on_light, is_A ? pair.body_A : pair.body_B,
           is_A ? pair.body_B : pair.body_A, depth);
    }
  }
}

}  // namespace abut
