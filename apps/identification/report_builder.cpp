#include "apps/identification/report_builder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "apps/identification/estimate_rows.h"
#include "apps/identification/identifiability.h"
#include "apps/identification/residual_check.h"
#include "apps/identification/unit_check.h"
#include "dynamics/simulator.h"
#include "dynamics/start_warnings.h"
#include "engine/count_text.h"
#include "engine/input_error.h"
#include "engine/joint_geometry.h"

namespace abut {
namespace {

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

/// The unit of a joint's coordinate, or rate.
const char* unit_of(const Model& model, int joint, bool is_rate) {
  if (model.joints[at(joint)].kind == JointKind::hinge) return is_rate ? "rad/s" : "rad";
  return is_rate ? "m/s" : "m";
}

/// The joints of a motion at the solution beside what was measured of them.
void add_joint_series(const MeasuredMotion& motion, const UnknownSpace::Simulation& simulation,
                      IdentificationReport& report) {
  const auto& [inputs, simulator, trajectory] = simulation;
  const Model& model = simulator.model();
  std::map<std::pair<int, bool>, ComparedSeries> all;  // of a joint, its rate or coordinate
  for (const Measurement& measurement : motion.measurements) {
    const auto* measured = std::get_if<MeasuredJoint>(&measurement.what);
    if (measured == nullptr) continue;
    const Eigen::VectorXd off = linearize(simulator, measurement, trajectory.states).residual;
    Eigen::Index row = 0;
    for (const bool is_rate : {false, true}) {
      const std::optional<double>& value = is_rate ? measured->rate : measured->coordinate;
      if (!value) continue;
      ComparedSeries& series = all[{measured->joint, is_rate}];
      series.motion = motion.name;
      series.joint = model.joints[at(measured->joint)].name;
      series.quantity = is_rate ? "rate" : "coordinate";
      series.unit = unit_of(model, measured->joint, is_rate);
      series.time.push_back(measurement.time);
      series.measured.push_back(*value);
      series.deviation.push_back(is_rate ? measured->rate_noise : measured->coordinate_noise);
      series.residual.push_back(off[row++]);
    }
  }
  for (auto& [of, series] : all) {
    for (const State& state : trajectory.states) {
      series.simulated_time.push_back(state.time);
      series.simulated.push_back(of.second ? joint_rate(model.joints[at(of.first)], state)
                                           : joint_coordinate(model, of.first, state));
    }
    report.series.push_back(std::move(series));
  }
}

/// The same of bodies.
void add_body_series(const MeasuredMotion& motion, const UnknownSpace::Simulation& simulation,
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
    std::vector<int> components = pose->components();
    if (pose->q_WA) components.insert(components.end(), {3, 4, 5});
    for (std::size_t row = 0; row < components.size(); ++row) {
      const int i = components[row];
      const double residual = off.residual[static_cast<Eigen::Index>(row)];
      ComparedSeries& one = series[at(i)];
      one.time.push_back(measurement.time);
      one.residual.push_back(residual);
      one.deviation.push_back(i < 3 ? pose->position_noise : pose->rotation_noise);
      one.measured.push_back(i < 3 ? pose->p_WA[i] : -residual * pose->rotation_noise);
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
  const auto name = [&bodies = simulator.model().bodies](int body) { return bodies[at(body)].name; };
  for (const Measurement& goal : motion.measurements) {
    if (!goal.is_goal) continue;
    const Eigen::VectorXd off = linearize(simulator, goal, trajectory.states).residual;
    const auto add = [&](const std::string& quantity, const char* unit, double deviations, double tolerance) {
      if (!std::isfinite(tolerance)) return;  // that part does not count
      report.goals.push_back({motion.name, fmt::format("{} at {:.6g} s", quantity, goal.time), unit,
                              tolerance * deviations, tolerance});
    };
    if (const auto* pose = std::get_if<MeasuredPose>(&goal.what)) {
      add(fmt::format("position of '{}'", name(pose->body)), "m", off.head<3>().norm(), pose->position_noise);
      if (pose->q_WA)
        add(fmt::format("rotation of '{}'", name(pose->body)), "rad", off.tail<3>().norm(),
            pose->rotation_noise);
    } else if (const auto* twist = std::get_if<MeasuredTwist>(&goal.what)) {
      add(fmt::format("linear velocity of '{}'", name(twist->body)), "m/s", off.tail<3>().norm(),
          twist->linear_noise);
      add(fmt::format("angular velocity of '{}'", name(twist->body)), "rad/s", off.head<3>().norm(),
          twist->angular_noise);
    } else if (const auto* joint = std::get_if<MeasuredJoint>(&goal.what)) {
      if (joint->coordinate)
        add(fmt::format("coordinate of {}", subject_text(simulator.model(), goal)),
            unit_of(simulator.model(), joint->joint, false), std::abs(off[0]), joint->coordinate_noise);
      if (joint->rate)
        add(fmt::format("rate of {}", subject_text(simulator.model(), goal)),
            unit_of(simulator.model(), joint->joint, true), std::abs(off[off.size() - 1]), joint->rate_noise);
    } else if (const auto* place = std::get_if<ContactPlace>(&goal.what)) {
      const std::string bodies = fmt::format("'{}' and '{}'", name(place->body_A), name(place->body_B));
      add("contact points of " + bodies, "m", off.head<3>().norm(), place->position_noise);
      add("opposite normals of " + bodies, "", off.tail<3>().norm(), place->normal_noise);
    } else if (const auto* clearance = std::get_if<Clearance>(&goal.what)) {
      add(fmt::format("overlap of '{}' and '{}'", name(clearance->body_A), name(clearance->body_B)), "m",
          off.size() > 0 ? off.maxCoeff() : 0.0, clearance->noise);
    }
  }
}

/// Pairs of bodies with a contact in some step.
void add_touching(const Trajectory& trajectory, std::set<std::pair<int, int>>& touching) {
  for (const StepRecord& record : trajectory.records) {
    for (const SubstepRecord& substep : record.substeps) {
      for (const ContactFeature& feature : substep.features) touching.emplace(feature.body_A, feature.body_B);
    }
  }
}

/// What no body has ever done, in a motion at the solution.
void add_implausible_motion(const MeasuredMotion& motion, const UnknownSpace::Simulation& simulation,
                            IdentificationReport& report) {
  constexpr double k_sound = 343.0;  // [m/s]
  const Model& model = simulation.simulator.model();
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    if (model.bodies[b].fixed) continue;
    double fastest = 0.0;
    for (const State& state : simulation.trajectory.states)
      fastest = std::max(fastest, state.V_WB[b].tail<3>().norm());
    if (!(fastest > k_sound)) continue;
    report.implausible.push_back(fmt::format("{}: '{}' moves at {:.4g} m/s, faster than sound", motion.name,
                                             model.bodies[b].name, fastest));
    return;  // one will do
  }
}

/// Numbers that no material and no body has.
void add_implausible_numbers(const MotionFit& fit, const Eigen::VectorXd& x, IdentificationReport& report) {
  constexpr double k_rough = 3.0;                           // friction: beyond rubber on rubber
  constexpr double k_lightest = 0.1, k_heaviest = 25000.0;  // [kg/m^3]: an aerogel, and beyond osmium
  const UnknownSpace& unknowns = fit.unknowns();
  const Scene scene = unknowns.inputs(x, unknowns.segments().front()).scene;
  for (const Unknown& unknown : fit.experiment().unknowns) {
    if (unknown.kind != Unknown::Kind::number || unknown.in_each_motion) continue;
    using Kind = SceneParameter::Kind;
    const Kind kind = unknown.parameter.kind;
    const double value = value_of(scene, unknown.parameter);
    if (kind == Kind::friction && value > k_rough)
      report.implausible.push_back(fmt::format("{} = {:.4g}: no two materials have a friction above {:g}",
                                               unknown.name, value, k_rough));
    if (kind != Kind::mass && kind != Kind::density) continue;
    const Body& body = scene.model.bodies[at(unknown.parameter.body_A)];
    const double density = body.volume > 0.0 ? body.mass / body.volume : std::nan("");
    if (density < k_lightest || density > k_heaviest)
      report.implausible.push_back(fmt::format("{} = {:.4g}: a density of {:.4g} kg/m^3 for its volume",
                                               unknown.name, value, density));
  }
}

/// The components of positions that were not measured.
void add_notes(const ExperimentFile& file, IdentificationReport& report) {
  for (std::size_t m = 0; m < file.experiment.motions.size(); ++m) {
    const auto& measurements = file.experiment.motions[m].measurements;
    const auto planar = std::find_if(measurements.begin(), measurements.end(), [](const Measurement& one) {
      const auto* pose = std::get_if<MeasuredPose>(&one.what);
      return pose != nullptr && pose->components().size() < 3;
    });
    if (planar == measurements.end()) continue;
    const auto& is_measured = std::get<MeasuredPose>(planar->what).is_measured;
    std::string missing;
    for (std::size_t i = 0; i < 3; ++i) {
      if (!is_measured[i]) missing += fmt::format("{}position_{}", missing.empty() ? "" : ", ", "xyz"[i]);
    }
    report.notes.push_back(fmt::format("{}: no column {}, which leaves no residuals",
                                       file.data[m].source.file.string(), missing));
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
}

}  // namespace

Question question_of(const ExperimentFile& file, Question asked) {
  const auto has_any = [&](bool is_goal) {
    const std::vector<MeasuredMotion>& motions = file.experiment.motions;
    return std::any_of(motions.begin(), motions.end(), [&](const MeasuredMotion& motion) {
      return std::any_of(motion.measurements.begin(), motion.measurements.end(),
                         [&](const Measurement& one) { return one.is_goal == is_goal; });
    });
  };
  if (!has_any(false)) return Question::optimize;
  if (asked == Question::optimize && !has_any(true))
    throw InputError(file.path.string(), 0,
                     "there is no [[motion.goal]] to reach; 'abut identify' explains measurements");
  return asked;
}

std::vector<std::string> start_warning_texts(const MotionFit& fit, const Eigen::VectorXd& x) {
  struct Worst {
    int motions = 0;
    double value = 0;
    std::string motion, text;
  };
  // by what overlaps (two bodies), or by what is wrong (a kind) with a joint
  std::map<std::array<int, 3>, Worst> of_pairs, of_joints;
  const auto note = [](Worst& worst, double value, const std::string& motion, const std::string& text) {
    ++worst.motions;
    if (value > worst.value) worst = {worst.motions, value, motion, text};
  };
  const UnknownSpace& unknowns = fit.unknowns();
  for (const Segment& segment : unknowns.segments()) {
    if (segment.number > 0) continue;
    const UnknownSpace::Inputs inputs = unknowns.inputs(x, segment);
    const Simulator simulator = unknowns.simulator(inputs);
    const Model& model = simulator.model();
    const StartWarnings found = find_start_warnings(simulator.stepper(), inputs.scene.initial);
    const std::string& motion = fit.experiment().motions[at(segment.motion)].name;
    for (const Overlap& overlap : found.overlaps)
      note(of_pairs[{overlap.body_A, overlap.body_B, -1}], overlap.depth, motion,
           overlap_text(model, overlap));
    for (const JointStartWarning& warning : found.joints)
      note(of_joints[{warning.joint, warning.coupling, static_cast<int>(warning.kind)}], warning.value,
           motion, warning_text(model, warning));
  }
  std::vector<std::string> texts;
  for (const auto* worst_of : {&of_pairs, &of_joints}) {
    for (const auto& [what, worst] : *worst_of) {
      texts.push_back(worst.motions == 1
                          ? fmt::format("at the start of motion '{}', {}", worst.motion, worst.text)
                          : fmt::format("at the start of {}, the worst of which is '{}', {}",
                                        count_text(worst.motions, "motion"), worst.motion, worst.text));
    }
  }
  return texts;
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
  report.notes = best.notes;
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
  if (question == Question::identify) {
    report.residual_check = check_residuals(file, fit, evaluation.residuals);
    add_notes(file, report);
    add_implausible_numbers(fit, x, report);
    for (const UnitSuspicion& suspicion : suspected_units(fit))
      report.suspected_units.push_back(suspicion.text);
  }
  add_inertias(fit, x, told, report.derived);
  for (const std::string& text : start_warning_texts(fit, x)) report.warnings.push_back(text);
  add_warnings(fit, x, file.search, report);
  const auto prepared = unknowns.prepare(x);
  const std::vector<MeasuredMotion>& motions = fit.experiment().motions;
  std::set<std::pair<int, int>> touching;
  for (std::size_t m = 0; m < motions.size(); ++m) {
    const UnknownSpace::Simulation simulation = unknowns.simulate(x, static_cast<int>(m), prepared);
    if (!simulation.trajectory.ok()) continue;
    if (question == Question::optimize) {
      add_goals(motions[m], simulation, report);
      continue;
    }
    add_touching(simulation.trajectory, touching);
    if (report.implausible.empty()) add_implausible_motion(motions[m], simulation, report);
    add_body_series(motions[m], simulation, report);
    add_joint_series(motions[m], simulation, report);
  }
  add_pair_frictions(fit, x, told, touching, report.derived);
  return report;
}

}  // namespace abut
