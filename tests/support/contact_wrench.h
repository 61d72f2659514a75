/// The net wrench of a pair's contacts at rest, and that of the pressure distribution which they sample.
///
/// A pair has one stiffness k [N/m], shared out over what touches (dynamics/rows/contact_rows.h). Where the
/// depth of overlap is delta >= 0 [m] at each place of a patch, its limit for fine meshes is the pressure
///     p = k a(delta) delta / integral of a(delta) dA,   a(delta) = S(1/2 + delta/(8 tau)),
/// and with tau -> 0, where a is 1 inside the patch and 0 outside, an elastic foundation of modulus k/A:
///     p = (k/A) delta,   F = k (mean depth over the patch),   docs/contact_wrench.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "dynamics/step/make_contact_solver.h"
#include "dynamics/step/stepper.h"
#include "engine/smooth.h"
#include "tests/support/scenes.h"

namespace abut::test {

/// What two bodies at rest do to each other.
struct NetWrench {
  Vec3<double> force = Vec3<double>::Zero();   ///< on body 1, in W [N]
  Vec3<double> torque = Vec3<double>::Zero();  ///< on body 1 about its origin, in W [N m]
  double tau = 0.0;       ///< of the pair: tau_p + tau_h [m]; of the analytic ones, that given
  int contacts = 0;       ///< with a share of the stiffness
  int edge_contacts = 0;  ///< those of pairs of edges among them
};

/// The impulses that the contact law applies in a step at whose end bodies 0 and 1 are at rest, over h.
inline NetWrench net_contact_wrench(const TestScene& scene, const StepConfig& config) {
  const Stepper stepper(scene.model, config);
  MassMatrix mass;
  mass.update(scene.model, scene.state);
  DetectorScratch scratch;
  ContactManifold manifold;
  // The band of depths in which a contact sets in is wider by tau_h than the detector's own.
  const std::vector<double> margins(scene.model.bodies.size(), 2.0 * stepper.row_settings().resting_band);
  stepper.detector().detect(scene.state.X_WB, margins, scratch, manifold);
  ContactRows rows;
  make_rows(scene.model, mass, scene.state, manifold.contacts, manifold.pairs, stepper.row_settings(), rows);
  const GrowableVector rest = GrowableVector::Zero(mass.size());
  const auto solver = make_contact_solver(config, stepper.acceleration_scale());
  ContactSolution solution;
  solution.velocity = rest;
  std::vector<Vec3<double>> impulses;
  solver->impulses({mass, rows, rest, rest, config.h}, solution, *solver->make_memory(), impulses);
  NetWrench net;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const ContactRow& row = rows.rows[i];
    net.force += impulses[i] / config.h;
    net.torque += row.r_B.cross(impulses[i]) / config.h;
    if (row.contact < 0) continue;  // of a reduced pair
    const Contact& contact = manifold.contacts[static_cast<std::size_t>(row.contact)];
    if (contact.feature.kind == ContactKind::edge_edge) ++net.edge_contacts;
  }
  net.contacts = static_cast<int>(rows.rows.size());
  if (!rows.pairs.empty()) net.tau = rows.pairs[0].tau;
  return net;
}

/// A flat part of the surface in which two bodies may touch: center + s u + t v with |s| <= half_u and
/// |t| <= half_v, and there `inside`.
struct PressurePatch {
  Vec3<double> center;                               ///< in W [m]
  Vec3<double> u, v;                                 ///< unit vectors in W
  double half_u = 0, half_v = 0;                     ///< [m]
  Vec3<double> normal;                               ///< of the force on body 1, in W
  std::function<double(double s, double t)> depth;   ///< delta [m], < 0 where the bodies are apart
  std::function<bool(double s, double t)> inside{};  ///< none: everywhere
};

/// The wrench on a body with its origin at `origin`, by the midpoint rule on n x n places a patch.
///
/// @param tau  [m]; 0: the elastic foundation
inline NetWrench pressure_wrench(const std::vector<PressurePatch>& patches, double stiffness, double tau,
                                 const Vec3<double>& origin, int n = 500) {
  NetWrench net;
  net.tau = tau;
  double active_area = 0.0;
  for (const PressurePatch& patch : patches) {
    const double cell = 4.0 * patch.half_u * patch.half_v / (n * n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        const double s = patch.half_u * ((2.0 * i + 1.0) / n - 1.0),
                     t = patch.half_v * ((2.0 * j + 1.0) / n - 1.0);
        if (patch.inside && !patch.inside(s, t)) continue;
        const double depth = patch.depth(s, t);
        const double active = cell * (tau > 0.0     ? smoothstep5(0.5 + depth / (8.0 * tau))
                                      : depth > 0.0 ? 1.0
                                                    : 0.0);
        active_area += active;
        const Vec3<double> force = active * std::max(depth, 0.0) * patch.normal;
        net.force += force;
        net.torque += (patch.center + s * patch.u + t * patch.v - origin).cross(force);
      }
    }
  }
  if (active_area > 0.0) {
    net.force *= stiffness / active_area;
    net.torque *= stiffness / active_area;
  }
  return net;
}
/// |F - F_0|/|F_0|.
inline double force_difference(const NetWrench& a, const NetWrench& reference) {
  return (a.force - reference.force).norm() / reference.force.norm();
}

/// |M - M_0|/(|F_0| L): how far the line of action is off, relative to the size L of the patch.
inline double arm_difference(const NetWrench& a, const NetWrench& reference, double patch_size) {
  return (a.torque - reference.torque).norm() / (reference.force.norm() * patch_size);
}

/// How much the wrenches of several tessellations differ from each other at most.
struct WrenchSpread {
  double force = 0.0;  ///< |F - F'|/|F_0|
  double arm = 0.0;    ///< |M - M'|/(|F_0| L)
};

inline WrenchSpread spread(const std::vector<NetWrench>& nets, const NetWrench& reference,
                           double patch_size) {
  WrenchSpread greatest;
  for (const NetWrench& a : nets) {
    for (const NetWrench& b : nets) {
      greatest.force = std::max(greatest.force, (a.force - b.force).norm() / reference.force.norm());
      greatest.arm =
          std::max(greatest.arm, (a.torque - b.torque).norm() / (reference.force.norm() * patch_size));
    }
  }
  return greatest;
}

}  // namespace abut::test
