#include "apps/viewer/simulation/loss.h"

#include <cmath>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "apps/identification/rollout_jacobian.h"
#include "dynamics/step/stepper.h"
#include "engine/check.h"

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

/// Calls visit(residual, linear in the states) of every measurement within a rollout.
template <typename F>
void for_each_measurement(const Simulator& simulator, const std::vector<State>& states, const Loss& loss,
                          F visit) {
  require(loss.motion != nullptr, "there are no measurements to compare with");
  const double h = simulator.stepper().config().h, start = states.front().time - 1e-6 * h,
               end = start + (static_cast<double>(states.size()) - 1.0 + 2e-6) * h;
  bool has_any = false;
  for (const Measurement& measurement : loss.motion->measurements) {
    if (measurement.time < start || measurement.time > end) continue;
    has_any = true;
    visit(linearize(simulator, measurement, states));
  }
  require(has_any, fmt::format("nothing was measured between {:.6g} s and {:.6g} s, in which these steps lie",
                               states.front().time, states.back().time));
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
    case LossKind::measurements:
      break;
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
    case LossKind::measurements:
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
    case LossKind::measurements:
      return "misfit of the measurements";
  }
  return {};
}

const char* loss_unit(LossKind kind) {
  if (kind == LossKind::measurements) return "";
  return kind == LossKind::kinetic_energy || kind == LossKind::energy ? "J" : "m";
}

double rollout_loss(const Simulator& simulator, const std::vector<State>& states, const Loss& loss) {
  if (loss.kind != LossKind::measurements) return loss_value(simulator.model(), states.back(), loss);
  double sum = 0.0;
  for_each_measurement(simulator, states, loss,
                       [&](const LinearizedResidual& row) { sum += 0.5 * row.residual.squaredNorm(); });
  return sum;
}

std::vector<StateTangent> rollout_loss_gradient(const Simulator& simulator, const std::vector<State>& states,
                                                const Loss& loss) {
  std::vector<StateTangent> bars(states.size(), StateTangent(simulator.model().body_count()));
  if (loss.kind != LossKind::measurements) {
    add_loss_gradient(simulator.model(), states.back(), loss, bars.back());
    return bars;
  }
  for_each_measurement(simulator, states, loss, [&](const LinearizedResidual& row) {
    for (const LinearizedResidual::OfState& of : row.states) {
      StateTangent& bar = bars[at(of.step)];
      if (of.by_pose.rows() > 0) bar.pose[at(of.body)] += of.by_pose.transpose() * row.residual;
      if (of.by_twist.rows() > 0) bar.twist[at(of.body)] += of.by_twist.transpose() * row.residual;
    }
  });
  return bars;
}

std::string derivative_unit(std::string_view loss, std::string_view number) {
  if (number.empty()) return std::string(loss);
  const bool is_compound = number.find_first_of("/ ") != std::string_view::npos;
  return fmt::format("{}/{}{}{}", loss.empty() ? "1" : loss, is_compound ? "(" : "", number,
                     is_compound ? ")" : "");
}

}  // namespace abut::viewer
