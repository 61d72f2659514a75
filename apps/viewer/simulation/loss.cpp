#include "apps/viewer/simulation/loss.h"

#include <spdlog/fmt/fmt.h>

#include "dynamics/step/stepper.h"

namespace abut::viewer {
namespace {

/// I_W w.
Vec3<double> spin(const Body& body, const Pose<double>& X_WB, const Vec6<double>& V) {
  const Vec3<double> w = V.head<3>();
  return X_WB.q * Vec3<double>(body.inertia * (X_WB.q.conjugate() * w));
}

/// Along x, or 0 where it has no direction.
Vec3<double> direction_of(const Vec3<double>& x) {
  const double length = x.norm();
  return length > 0.0 ? Vec3<double>(x / length) : Vec3<double>::Zero();
}

double kinetic_energy(const Model& model, const State& state) {
  double energy = 0.0;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (body.fixed) continue;
    const Vec6<double>& V = state.V_WB[b];
    energy +=
        0.5 * V.head<3>().dot(spin(body, state.X_WB[b], V)) + 0.5 * body.mass * V.tail<3>().squaredNorm();
  }
  return energy;
}

}  // namespace

double loss_value(const Model& model, const State& state, const Loss& loss) {
  const Vec3<double>& p = state.X_WB[at(loss.body)].p;
  switch (loss.kind) {
    case LossKind::position:
      return loss.direction.dot(p);
    case LossKind::distance_to_target:
      return (p - loss.target).norm();
    case LossKind::distance_of_bodies:
      return (p - state.X_WB[at(loss.other)].p).norm();
    case LossKind::kinetic_energy:
      return kinetic_energy(model, state);
    case LossKind::energy:
      return mechanical_energy(model, state);
  }
  return 0.0;
}

void add_loss_gradient(const Model& model, const State& state, const Loss& loss, StateTangent& bar) {
  const Vec3<double>& p = state.X_WB[at(loss.body)].p;
  const auto position_bar = [&](int body) { return bar.pose[at(body)].tail<3>(); };
  switch (loss.kind) {
    case LossKind::position:
      position_bar(loss.body) += loss.direction;
      return;
    case LossKind::distance_to_target:
      position_bar(loss.body) += direction_of(p - loss.target);
      return;
    case LossKind::distance_of_bodies: {
      const Vec3<double> n = direction_of(p - state.X_WB[at(loss.other)].p);
      position_bar(loss.body) += n;
      position_bar(loss.other) -= n;
      return;
    }
    case LossKind::kinetic_energy:
    case LossKind::energy:
      for (std::size_t b = 0; b < model.bodies.size(); ++b) {
        const Body& body = model.bodies[b];
        if (body.fixed) continue;
        const Vec6<double>& V = state.V_WB[b];
        const Vec3<double> w = V.head<3>(), L = spin(body, state.X_WB[b], V);
        bar.twist[b] += stack<double>(L, body.mass * V.tail<3>());
        bar.pose[b].head<3>() += L.cross(w);  // of 1/2 w . I_W w, as the body's axes turn
        if (loss.kind == LossKind::energy)
          bar.pose[b].tail<3>() -= body.mass * model.gravity + body.external_wrench.tail<3>();
      }
      return;
  }
}

std::string loss_name(const Model& model, const Loss& loss) {
  const auto name = [&](int body) { return model.bodies[at(body)].name; };
  switch (loss.kind) {
    case LossKind::position:
      return fmt::format("position of {} along ({:.2g}, {:.2g}, {:.2g})", name(loss.body), loss.direction.x(),
                         loss.direction.y(), loss.direction.z());
    case LossKind::distance_to_target:
      return fmt::format("distance of {} to the target", name(loss.body));
    case LossKind::distance_of_bodies:
      return fmt::format("distance of {} and {}", name(loss.body), name(loss.other));
    case LossKind::kinetic_energy:
      return "kinetic energy";
    case LossKind::energy:
      return "energy";
  }
  return {};
}

const char* loss_unit(LossKind kind) {
  return kind == LossKind::kinetic_energy || kind == LossKind::energy ? "J" : "m";
}

}  // namespace abut::viewer
