#include "engine/coupling.h"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/joint_geometry.h"
#include "engine/model.h"
#include "engine/parameters.h"

namespace abut {

CouplingTerm::Value CouplingTerm::at(double q) const {
  Value sum{0.0, 0.0, 0.0};
  for (std::size_t i = coefficients.size(); i-- > 0;) {  // Horner: f = q (c_1 + q (c_2 + ...))
    const double inner = coefficients[i] + sum.value;
    sum.curvature = q * sum.curvature + 2.0 * sum.slope;
    sum.slope = q * sum.slope + inner;
    sum.value = q * inner;
  }
  return sum;
}

bool turns(const Model& model, const Coupling& coupling) {
  return std::all_of(coupling.terms.begin(), coupling.terms.end(), [&](const CouplingTerm& term) {
    return model.joints[static_cast<std::size_t>(term.joint)].kind == JointKind::hinge;
  });
}

double gear_of(const Model& model, const Coupling& coupling) {
  if (coupling.on < 0) return coupling.gear;
  return coupling.gear * model.couplings[static_cast<std::size_t>(coupling.on)].gear;
}

void gear_vjp(const Model& model, int coupling, double bar, std::span<JointTangent> bars) {
  const Coupling& of = model.couplings[static_cast<std::size_t>(coupling)];
  JointTangent& own_bar = bars[static_cast<std::size_t>(coupling)];
  if (of.on < 0) {
    own_bar.gear += bar;
    return;
  }
  const auto on = static_cast<std::size_t>(of.on);
  own_bar.gear += bar * model.couplings[on].gear;
  bars[on].gear += bar * of.gear;
}

double coupling_coordinate(const Model& model, const Coupling& coupling, const State& state) {
  double sum = 0.0;
  for (const CouplingTerm& term : coupling.terms)
    sum += term.at(joint_coordinate(model, term.joint, state)).value;
  return gear_of(model, coupling) * sum;
}

void validate(const Coupling& coupling, const Model& model) {
  const std::string owner =
      fmt::format("{} '{}'", coupling.is_actuator ? "actuator" : "coupling", coupling.name);
  const auto fail_unless = [&](bool is_right, const std::string& what) {
    require(is_right, fmt::format("{}: {}", owner, what));
  };
  fail_unless(!coupling.terms.empty(), "it has no joint, at least one is needed");
  for (std::size_t i = 0; i < coupling.terms.size(); ++i) {
    const CouplingTerm& term = coupling.terms[i];
    fail_unless(term.joint >= 0 && static_cast<std::size_t>(term.joint) < model.joints.size(),
                fmt::format("joint {} of {}", term.joint, model.joints.size()));
    const Joint& joint = model.joints[static_cast<std::size_t>(term.joint)];
    fail_unless(has_coordinate(joint.kind),
                fmt::format("joint '{}' has no coordinate, only a hinge or a slider has one", joint.name));
    fail_unless(std::none_of(coupling.terms.begin(), coupling.terms.begin() + static_cast<std::ptrdiff_t>(i),
                             [&](const CouplingTerm& other) { return other.joint == term.joint; }),
                fmt::format("it has the joint '{}' twice", joint.name));
    fail_unless(!term.coefficients.empty() &&
                    std::all_of(term.coefficients.begin(), term.coefficients.end(),
                                [](double c) { return std::isfinite(c); }) &&
                    std::any_of(term.coefficients.begin(), term.coefficients.end(),
                                [](double c) { return c != 0.0; }),
                fmt::format("coefficients of joint '{}' are [{}], allowed: finite numbers, not all of them 0",
                            joint.name, fmt::join(term.coefficients, ", ")));
    const bool needs_linear =
        coupling.friction > 0.0 || std::isfinite(coupling.lower) || std::isfinite(coupling.upper);
    fail_unless(
        !needs_linear || term.coefficients.front() != 0.0,
        fmt::format("with friction or limits the first coefficient of joint '{}' cannot be 0", joint.name));
  }
  fail_unless(range_of(ParameterKind::coupling_gear).contains(coupling.gear) && coupling.gear != 0.0,
              fmt::format("gear = {}, allowed: finite, not 0", coupling.gear));
  fail_unless(!std::isinf(coupling.held_at), fmt::format("held_at = {}, allowed: finite", coupling.held_at));
  fail_unless(range_of(ParameterKind::joint_stiffness).contains(coupling.stiffness),
              fmt::format("stiffness = {}, allowed: > 0", coupling.stiffness));
  fail_unless(std::isfinite(coupling.dissipation_time),
              fmt::format("dissipation time = {}, allowed: finite", coupling.dissipation_time));
  validate(static_cast<const CoordinateForces&>(coupling), owner);
}

}  // namespace abut
