#include "apps/identification/estimate_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "engine/inertia_coordinates.h"
#include "engine/lie.h"

namespace abut {
namespace {

/// The unknown friction of each body that all motions have alike: its tangent entry.
std::map<int, int> friction_entries(const UnknownSpace& unknowns) {
  std::map<int, int> entries;
  for (int e = 0; e < unknowns.tangent_size(); ++e) {
    const Variable& variable = unknowns.variable_of(e);
    const Unknown* unknown = unknowns.unknown_of(variable);
    if (unknown == nullptr || unknown->kind != Unknown::Kind::number || variable.motion >= 0) continue;
    const SceneParameter& parameter = unknown->parameter;
    if (parameter.kind == SceneParameter::Kind::friction && !parameter.is_of_pair())
      entries[parameter.body_A] = e;
  }
  return entries;
}

}  // namespace

std::string unit_of(const UnknownSpace& unknowns, int tangent_entry) {
  const Variable& variable = unknowns.variable_of(tangent_entry);
  const Unknown* unknown = unknowns.unknown_of(variable);
  const int component = tangent_entry - variable.tangent_begin;
  if (variable.kind == Variable::Kind::orientation) return "rad";
  if (unknown == nullptr) {
    static constexpr const char* k_units[] = {"rad", "m", "rad/s", "m/s"};
    return k_units[component / 3];
  }
  if (unknown->kind == Unknown::Kind::control && unknown->motor < 0)
    return unknown->component < 3 ? "N m" : "N";
  return std::string(unknown->parameter.unit);
}

EstimateRow estimate_of(const UnknownSpace& unknowns, int entry, const Eigen::VectorXd& x,
                        const Eigen::VectorXd& first, const Identifiability& told) {
  EstimateRow row;
  row.name = unknowns.name(entry);
  row.unit = unit_of(unknowns, entry);
  const Variable& variable = unknowns.variable_of(entry);
  const Unknown* unknown = unknowns.unknown_of(variable);
  switch (told.entries[at(entry)]) {
    case Identifiability::Entry::told:
      row.state = EstimateRow::State::told;
      break;
    case Identifiability::Entry::open:
      row.state = EstimateRow::State::open;
      break;
    case Identifiability::Entry::at_bound:
      row.state = EstimateRow::State::at_bound;
      break;
  }
  const double deviation = told.deviation[entry];
  const int component = entry - variable.tangent_begin;
  if (variable.kind == Variable::Kind::number) {
    const double in_x = x[variable.begin];
    row.value = unknowns.value(variable, in_x);
    row.initial = unknowns.value(variable, first[variable.begin]);
    row.deviation = deviation * unknowns.slope(entry, x);
    row.lower_95 = unknowns.value(variable, in_x - k_normal_95 * deviation);
    row.upper_95 = unknowns.value(variable, in_x + k_normal_95 * deviation);
    const auto [lower, upper] = unknowns.bounds(variable);
    row.lower_95 = std::max(row.lower_95, unknowns.value(variable, lower));
    row.upper_95 = std::min(row.upper_95, unknowns.value(variable, upper));
    if (std::isfinite(lower)) row.lower_bound = unknowns.value(variable, lower);
    if (std::isfinite(upper)) row.upper_bound = unknowns.value(variable, upper);
    row.truth = unknown->truth;
    if (unknown->prior) {
      row.prior_mean = unknown->prior->mean;
      row.prior_deviation = unknown->prior->deviation;
    }
    return row;
  }
  const auto number_at = [&](const Eigen::VectorXd& at_x) {
    if (component >= 3) return at_x[variable.begin + 1 + component];
    const int b = variable.begin;
    return log_quaternion(Quat<double>(at_x[b], at_x[b + 1], at_x[b + 2], at_x[b + 3]))[component];
  };
  row.value = number_at(x);
  row.initial = number_at(first);
  row.deviation = deviation;
  if (component < 3 && told.entries[at(entry)] == Identifiability::Entry::told) {
    // From turns about the world's axes to the components of the rotation vector.
    const Vec3<double> turn(log_quaternion(Quat<double>(x[variable.begin], x[variable.begin + 1],
                                                        x[variable.begin + 2], x[variable.begin + 3])));
    const Mat3<double> J = left_jacobian_inverse_so3(turn);
    const Mat3<double> covariance =
        told.covariance.block<3, 3>(variable.tangent_begin, variable.tangent_begin);
    row.deviation = std::sqrt(std::max(0.0, (J * covariance * J.transpose())(component, component)));
  }
  if (unknown != nullptr && unknown->true_orientation && component < 3)
    row.truth = log_quaternion(*unknown->true_orientation)[component];
  row.lower_95 = row.value - k_normal_95 * row.deviation;
  row.upper_95 = row.value + k_normal_95 * row.deviation;
  return row;
}

void add_inertias(const MotionFit& fit, const Eigen::VectorXd& x, const Identifiability& told,
                  std::vector<EstimateRow>& derived) {
  const UnknownSpace& unknowns = fit.unknowns();
  struct Parts {
    std::vector<std::pair<int, int>> coordinates;  // tangent entry, coordinate
    int mass = -1;                                 // tangent entry
  };
  std::map<int, Parts> bodies;
  for (int e = 0; e < unknowns.tangent_size(); ++e) {
    const Variable& variable = unknowns.variable_of(e);
    const Unknown* unknown = unknowns.unknown_of(variable);
    if (unknown == nullptr || unknown->kind != Unknown::Kind::number || variable.motion >= 0) continue;
    const SceneParameter& parameter = unknown->parameter;
    if (parameter.kind == SceneParameter::Kind::inertia)
      bodies[parameter.body_A].coordinates.emplace_back(e, parameter.index);
    if (parameter.kind == SceneParameter::Kind::mass) bodies[parameter.body_A].mass = e;
  }
  const Scene scene = unknowns.inputs(x, unknowns.segments().front()).scene;
  for (const auto& [b, parts] : bodies) {
    if (parts.coordinates.empty()) continue;
    const Body& body = scene.model.bodies[at(b)];
    const Vec6<double> c = inertia_coordinates(body.mass, body.inertia);
    constexpr std::pair<int, int> k_elements[] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (const auto& [i, j] : k_elements) {
      Eigen::VectorXd slope = Eigen::VectorXd::Zero(unknowns.tangent_size());
      bool is_told = true;
      for (const auto& [e, k] : parts.coordinates) {
        slope[e] = inertia_coordinate_direction(body.mass, c, k)(i, j) * unknowns.slope(e, x);
        is_told = is_told && told.entries[at(e)] != Identifiability::Entry::open;
      }
      if (parts.mass >= 0) {
        slope[parts.mass] = body.inertia(i, j) / body.mass * unknowns.slope(parts.mass, x);
        is_told = is_told && told.entries[at(parts.mass)] != Identifiability::Entry::open;
      }
      EstimateRow row;
      row.name = fmt::format("body.{}.inertia {}{}", body.name, "xyz"[i], "xyz"[j]);
      row.unit = "kg m^2";
      row.value = body.inertia(i, j);
      row.initial = fit.experiment().scene.model.bodies[at(b)].inertia(i, j);
      row.state = is_told ? EstimateRow::State::told : EstimateRow::State::open;
      if (is_told) {
        row.deviation = std::sqrt(std::max(0.0, slope.dot(told.covariance * slope)));
        row.lower_95 = row.value - k_normal_95 * row.deviation;
        row.upper_95 = row.value + k_normal_95 * row.deviation;
      }
      derived.push_back(std::move(row));
    }
  }
}

void add_pair_frictions(const MotionFit& fit, const Eigen::VectorXd& x, const Identifiability& told,
                        const std::set<std::pair<int, int>>& touching, std::vector<EstimateRow>& derived) {
  const UnknownSpace& unknowns = fit.unknowns();
  const std::map<int, int> entries = friction_entries(unknowns);
  const Model model = unknowns.inputs(x, unknowns.segments().front()).scene.model;
  const std::vector<Body>& guessed = fit.experiment().scene.model.bodies;
  for (const auto& [a, b] : touching) {
    const auto& overrides = model.pair_overrides;
    const bool is_given =
        std::any_of(overrides.begin(), overrides.end(), [a = a, b = b](const PairOverride& pair) {
          return pair.body_A == a && pair.body_B == b && !std::isnan(pair.friction);
        });
    if (is_given || (entries.count(a) == 0 && entries.count(b) == 0)) continue;
    const double mu_A = model.bodies[at(a)].material.friction, mu_B = model.bodies[at(b)].material.friction;
    if (!(mu_A + mu_B > 0.0)) continue;
    // The harmonic mean, as PairMaterial has it, and its derivatives.
    const auto mean = [](double mu, double other) { return 2.0 * mu * other / (mu + other); };
    const auto by = [&](double mu, double other) { return 2.0 * std::pow(other / (mu + other), 2); };
    Eigen::VectorXd slope = Eigen::VectorXd::Zero(unknowns.tangent_size());
    EstimateRow row;
    row.state = EstimateRow::State::told;
    double initial[2] = {guessed[at(a)].material.friction, guessed[at(b)].material.friction};
    int side = 0;
    for (const auto& [body, mu, other] : {std::tuple{a, mu_A, mu_B}, std::tuple{b, mu_B, mu_A}}) {
      const auto entry = entries.find(body);
      if (entry != entries.end()) {
        const int e = entry->second;
        slope[e] = by(mu, other) * unknowns.slope(e, x);
        if (told.entries[at(e)] == Identifiability::Entry::open) row.state = EstimateRow::State::open;
        if (told.entries[at(e)] == Identifiability::Entry::at_bound) row.state = EstimateRow::State::at_bound;
        initial[side] = unknowns.unknown_of(unknowns.variable_of(e))->initial;
        row.of = row.of.empty() ? unknowns.name(e) : row.of;
      }
      ++side;
    }
    row.name = fmt::format("friction of '{}' and '{}'", model.bodies[at(a)].name, model.bodies[at(b)].name);
    row.value = mean(mu_A, mu_B);
    row.initial = initial[0] + initial[1] > 0.0 ? mean(initial[0], initial[1]) : 0.0;
    if (row.state == EstimateRow::State::told) {
      row.deviation = std::sqrt(std::max(0.0, slope.dot(told.covariance * slope)));
      row.lower_95 = row.value - k_normal_95 * row.deviation;
      row.upper_95 = row.value + k_normal_95 * row.deviation;
    }
    derived.push_back(std::move(row));
  }
}

}  // namespace abut
