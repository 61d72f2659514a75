#include "apps/identification/report_builder.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "apps/identification/identifiability.h"
#include "dynamics/simulator.h"
#include "engine/inertia_coordinates.h"
#include "engine/lie.h"

namespace abut {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::string loss_text(const RobustLoss& loss) {
  switch (loss.kind) {
    case RobustLoss::Kind::huber:
      return fmt::format("huber of width {:.3g}", loss.width);
    case RobustLoss::Kind::cauchy:
      return fmt::format("cauchy of width {:.3g}", loss.width);
    default:
      return "square";
  }
}

/// What Jacobians would have cost each way.
std::string jacobian_reason(const MotionFit& fit, const SearchSettings& settings) {
  if (settings.method == SearchMethod::gradient) return "one adjoint a motion gives the gradient of the loss";
  std::string text = "in passes of an adjoint:";
  for (const JacobianMethod method : {JacobianMethod::forward, JacobianMethod::adjoint}) {
    text += fmt::format(" {} {:.3g}{}", to_string(method), fit.cost(method),
                        method == JacobianMethod::adjoint ? "" : ",");
  }
  return text + (settings.jacobian ? "; as the experiment asks" : "; the fewest");
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

/// The six elements of each inertia that is unknown, with deviations to first order.
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

/// A motion at the solution beside what was measured of it.
void add_series(const MeasuredMotion& motion, const UnknownSpace::Simulation& simulation,
                IdentificationReport& report) {
  const auto& [inputs, simulator, trajectory] = simulation;
  std::map<int, std::vector<ComparedSeries>> of_body;
  for (const Measurement& measurement : motion.measurements) {
    const auto* pose = std::get_if<MeasuredPose>(&measurement.what);
    if (pose == nullptr) continue;
    const Body& body = simulator.model().bodies[at(pose->body)];
    std::vector<ComparedSeries>& series = of_body[pose->body];
    if (series.empty()) {
      for (int i = 0; i < 6; ++i) {
        ComparedSeries one;
        one.motion = motion.name;
        one.body = body.name;
        one.quantity = fmt::format("{}.{}", i < 3 ? "position" : "rotation off by", "xyz"[i % 3]);
        one.unit = i < 3 ? "m" : "rad";
        series.push_back(std::move(one));
      }
    }
    const LinearizedResidual off = linearize(simulator, measurement, trajectory.states);
    for (int i = 0; i < static_cast<int>(off.residual.size()); ++i) {
      ComparedSeries& one = series[at(i)];
      one.time.push_back(measurement.time);
      one.residual.push_back(off.residual[i]);
      one.deviation.push_back(i < 3 ? pose->position_noise : pose->rotation_noise);
      one.measured.push_back(i < 3 ? pose->p_WA[i] : -off.residual[i] * pose->rotation_noise);
    }
  }
  for (auto& [b, series] : of_body) {
    const Vec3<double> p_BA = simulator.model().bodies[at(b)].p_BA;
    for (const State& state : trajectory.states) {
      const Vec3<double> p_WA = state.X_WB[at(b)] * p_BA;
      for (int i = 0; i < 6; ++i) {
        series[at(i)].simulated_time.push_back(state.time);
        series[at(i)].simulated.push_back(i < 3 ? p_WA[i] : 0.0);
      }
    }
    for (ComparedSeries& one : series) {
      if (!one.time.empty()) report.series.push_back(std::move(one));
    }
  }
}

/// How near the goals of a motion were reached.
void add_goals(const MeasuredMotion& motion, const UnknownSpace::Simulation& simulation,
               IdentificationReport& report) {
  const auto& [inputs, simulator, trajectory] = simulation;
  for (const Measurement& goal : motion.measurements) {
    const Eigen::VectorXd off = linearize(simulator, goal, trajectory.states).residual;
    const std::string& body = simulator.model().bodies[at(body_of(goal))].name;
    const auto where = [&](const std::string& what) {
      return fmt::format("{}, {} at {:.6g} s: {}", motion.name, body, goal.time, what);
    };
    if (const auto* pose = std::get_if<MeasuredPose>(&goal.what)) {
      std::string text = fmt::format("position off by {:.2g} m", pose->position_noise * off.head<3>().norm());
      if (pose->q_WA)
        text += fmt::format(", rotation by {:.2g} rad", pose->rotation_noise * off.tail<3>().norm());
      report.goals.push_back(where(text));
    } else if (const auto* twist = std::get_if<MeasuredTwist>(&goal.what)) {
      std::string text;
      if (std::isfinite(twist->linear_noise))
        text = fmt::format("linear velocity off by {:.2g} m/s", twist->linear_noise * off.tail<3>().norm());
      if (std::isfinite(twist->angular_noise))
        text += fmt::format("{}angular velocity off by {:.2g} rad/s", text.empty() ? "" : ", ",
                            twist->angular_noise * off.head<3>().norm());
      report.goals.push_back(where(text));
    } else if (const auto* place = std::get_if<ContactPlace>(&goal.what)) {
      report.goals.push_back(where(fmt::format("points of contact {:.2g} m apart, sum of the normals {:.2g}",
                                               place->position_noise * off.head<3>().norm(),
                                               place->normal_noise * off.tail<3>().norm())));
    } else if (const auto* clearance = std::get_if<Clearance>(&goal.what)) {
      report.goals.push_back(where(fmt::format("overlaps '{}' by {:.2g} m at most",
                                               simulator.model().bodies[at(clearance->body_B)].name,
                                               clearance->noise * off.maxCoeff())));
    }
  }
}

void add_warnings(const MotionFit& fit, const Eigen::VectorXd& x, const SearchSettings& settings,
                  IdentificationReport& report) {
  constexpr std::size_t k_most = 10;
  const MotionFit::Evaluation health = fit.evaluate(x, MotionFit::Want::gradient, settings.loss);
  for (const std::string& warning : health.warnings) {
    if (report.warnings.size() == k_most) {
      report.warnings.push_back(fmt::format("and {} more of the gradient", health.warnings.size() - k_most));
      break;
    }
    report.warnings.push_back(warning);
  }
  const double chi = report.reduced_chi_square;
  const double freedom = report.residuals - report.unknowns;
  if (!std::isfinite(chi) || report.question == "optimize") return;
  const bool is_stated = report.intervals == IntervalBasis::stated;
  const double surprising = 1.0 + 5.0 * std::sqrt(2.0 / freedom);
  if (chi > surprising) {
    report.warnings.push_back(fmt::format(
        "residuals are {:.3g} times what the stated noise makes of them: the noise is larger than stated, or "
        "the scene does not explain the motions{}",
        std::sqrt(chi), is_stated ? "; intervals are too narrow (see 'intervals = \"residuals\"')" : ""));
  } else if (chi < 1.0 / surprising) {
    report.warnings.push_back(
        fmt::format("residuals are {:.3g} of what the stated noise makes of them: the noise is smaller than "
                    "stated{}",
                    std::sqrt(chi), is_stated ? "; intervals are too wide" : ""));
  }
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
  if (unknown->kind == Unknown::Kind::control) return unknown->component < 3 ? "N m" : "N";
  using Kind = SceneParameter::Kind;
  const SceneParameter& parameter = unknown->parameter;
  switch (parameter.kind) {
    case Kind::gravity:
      return "m/s^2";
    case Kind::stiffness:
      return "N/m";
    case Kind::dissipation_time:
      return "s";
    case Kind::linear_damping:
    case Kind::angular_damping:
      return "1/s";
    case Kind::mass:
      return "kg";
    case Kind::density:
      return "kg/m^3";
    case Kind::inertia:
      return parameter.index < 3 ? "" : "m";
    case Kind::center_of_mass:
    case Kind::primitive_position:
    case Kind::position:
      return "m";
    case Kind::shape: {
      const Primitive& primitive =
          unknowns.experiment().scene.model.bodies[at(parameter.body_A)].shape.primitives[at(
              parameter.primitive)];
      return is_length(primitive.kind, at(parameter.index)) ? "m" : "";
    }
    case Kind::primitive_rotation_vector:
    case Kind::rotation_vector:
      return "rad";
    case Kind::linear_velocity:
      return "m/s";
    case Kind::angular_velocity:
      return "rad/s";
    case Kind::force:
      return "N";
    case Kind::torque:
      return "N m";
    case Kind::friction:
    case Kind::restitution:
    case Kind::step_setting:
      return "";
  }
  return "";
}

IdentificationReport build_report(const ExperimentFile& file, const SearchResult& result, Question question,
                                  int threads) {
  const Experiment experiment = whole_motions(file.experiment);
  MotionFit fit(experiment, threads);
  if (file.search.jacobian) fit.set_method(*file.search.jacobian);
  const UnknownSpace& unknowns = fit.unknowns();
  IdentificationReport report;
  report.title = file.experiment.name;
  report.experiment = file.path.string();
  report.scene = file.scene.string();
  report.question = question == Question::identify ? "identify" : "optimize";
  const StartState& best = result.starts[at(result.best)];
  report.status = result.is_whole ? to_string(best.status) : "stopped";
  report.message = best.message;
  report.method = file.search.method == SearchMethod::least_squares ? "least_squares" : "gradient";
  report.jacobian = to_string(fit.method());
  report.jacobian_reason = jacobian_reason(fit, file.search);
  report.loss = loss_text(file.search.loss);
  report.motions = static_cast<int>(file.experiment.motions.size());
  report.residuals = fit.residual_count();
  report.unknowns = unknowns.tangent_size();
  report.evaluations = result.evaluations;
  report.jacobians = result.jacobians;
  report.seconds = result.seconds;
  report.initial_cost = best.initial_cost;
  report.cost = best.cost;
  for (std::size_t s = 0; s < result.starts.size(); ++s) {
    const StartState& start = result.starts[s];
    report.starts.push_back({static_cast<int>(s), to_string(start.status), start.initial_cost, start.cost,
                             start.iterations, static_cast<int>(s) == result.best});
  }
  for (const StageIteration& note : result.iterations) {
    const Iteration& i = note.iteration;
    const bool is_whole = at(note.stage) >= file.search.continuation.size();
    const double smoothing = is_whole ? 1.0 : file.search.continuation[at(note.stage)];
    report.iterations.push_back({note.start, note.stage, i.number, smoothing, i.cost, i.gradient, i.step,
                                 i.contacts, i.seconds, i.accepted});
  }
  if (best.x.size() == 0) return report;
  const Eigen::VectorXd x = best.x.head(unknowns.size());  // without states of segments
  const MotionFit::Evaluation evaluation = fit.evaluate(x, MotionFit::Want::jacobian);
  if (!evaluation.ok) {
    report.status = to_string(Solution::Status::failed);
    report.message = evaluation.failure;
    return report;
  }
  const Identifiability told =
      identifiability_of(fit, x, evaluation, file.search.loss, file.search.intervals);
  report.intervals = told.has_too_few_residuals ? IntervalBasis::stated : file.search.intervals;
  if (told.has_too_few_residuals) {
    report.warnings.emplace_back(
        "there are fewer than five measurements for each unknown: too few for intervals of the residuals, "
        "these are of the noise stated");
  }
  report.reduced_chi_square = told.reduced_chi_square;
  report.condition = told.condition;
  const Eigen::VectorXd first = guess_of_start(fit, file.search.seed, result.best);
  std::vector<int> shown;  // not where segments start
  for (int e = 0; e < unknowns.tangent_size(); ++e) {
    if (unknowns.unknown_of(unknowns.variable_of(e)) == nullptr) continue;
    shown.push_back(e);
    report.estimates.push_back(estimate_of(unknowns, e, x, first, told));
  }
  report.correlation = told.correlation(shown, shown);
  for (const OpenDirection& open : told.open) report.open_directions.push_back(open.text);
  add_inertias(fit, x, told, report.derived);
  add_warnings(fit, x, file.search, report);
  const auto prepared = unknowns.prepare(x);
  const std::vector<MeasuredMotion>& motions = fit.experiment().motions;
  for (std::size_t m = 0; m < motions.size(); ++m) {
    const UnknownSpace::Simulation simulation = unknowns.simulate(x, static_cast<int>(m), prepared);
    if (!simulation.trajectory.ok()) continue;
    if (question == Question::optimize) add_goals(motions[m], simulation, report);
    add_series(motions[m], simulation, report);
  }
  return report;
}

}  // namespace abut
