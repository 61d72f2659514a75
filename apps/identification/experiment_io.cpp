#include "apps/identification/experiment_io.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "apps/identification/joint_measurement_io.h"
#include "collision/fitting/shape_surface.h"
#include "collision/fitting/surface_cache.h"
#include "dynamics/step/stepper.h"
#include "engine/check.h"
#include "engine/control.h"
#include "engine/input_error.h"
#include "engine/joint_geometry.h"
#include "engine/lie.h"
#include "engine/toml_table.h"

namespace abut {
namespace {

/// Turns complaints about arguments into ones about a line of the file.
template <typename Use>
auto at_line(const TomlTable& table, std::string_view key, const Use& use) {
  try {
    return use();
  } catch (const std::invalid_argument& error) {
    table.fail_at(table.line(key), error.what());
  }
}

/// Where a name stands among those of the scene's bodies, or joints.
int place_of(const TomlTable& table, std::string_view key, const std::string& name, const char* kind,
             const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  const std::string closest = closest_word(name, names);
  table.fail(key, fmt::format("the scene has no {} '{}'{}", kind, name,
                              closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest)));
}

int body_named(const Model& model, const TomlTable& table, std::string_view key) {
  std::vector<std::string> names;
  for (const Body& body : model.bodies) names.push_back(body.name);
  return place_of(table, key, table.required_text(key), "body", names);
}

/// Index of a joint that has a coordinate.
int joint_named(const Model& model, const TomlTable& table, std::string_view key, const std::string& name) {
  const std::vector<int> joints = joints_with_coordinate(model);
  return joints[at(place_of(table, key, name, "hinge or slider", names_of(model, joints)))];
}

// Unknowns --------------------------------------------------------------------------------------------------

/// A number or an array of one for each component; the default for all where the key is left out.
std::vector<double> numbers_for(const TomlTable& table, std::string_view key, std::size_t count,
                                const std::vector<double>& otherwise, const NumberRange& range) {
  if (!table.has(key)) return otherwise;
  if (table.is_array(key)) return table.required_numbers(key, static_cast<int>(count), range);
  return std::vector<double>(count, table.required_number(key, range));
}

/// "control.ball.force" and the like, "command.elbow"; nothing for other names.
struct ControlName {
  int body = -1, motor = -1;
  std::vector<int> components;  // of [torque; force]
  std::vector<std::string> endings;
};
std::optional<ControlName> control_named(const Model& model, const std::string& name) {
  for (int b = 0; b < model.body_count(); ++b) {
    for (const auto& [key, first] : {std::pair{"torque", 0}, std::pair{"force", 3}}) {
      const std::string prefix = fmt::format("control.{}.{}", model.bodies[at(b)].name, key);
      if (name == prefix) return ControlName{b, -1, {first, first + 1, first + 2}, {".x", ".y", ".z"}};
      for (int i = 0; i < 3; ++i) {
        if (name == fmt::format("{}.{}", prefix, "xyz"[i])) return ControlName{b, -1, {first + i}, {""}};
      }
    }
  }
  const std::vector<std::string> motors = motor_names(model);
  for (std::size_t m = 0; m < motors.size(); ++m) {
    if (name == fmt::format("command.{}", motors[m]))
      return ControlName{-1, static_cast<int>(m), {0}, {""}};
  }
  return std::nullopt;
}

std::optional<int> orientation_named(const Model& model, const std::string& name) {
  for (int b = 0; b < model.body_count(); ++b) {
    if (name == fmt::format("body.{}.orientation", model.bodies[at(b)].name)) return b;
  }
  return std::nullopt;
}

void read_orientation(const TomlTable& table, const Scene& scene, Unknown unknown,
                      std::vector<Unknown>& unknowns) {
  unknown.kind = Unknown::Kind::orientation;
  unknown.initial_orientation = scene.initial.X_WB[at(unknown.body)].q;
  const auto orientation = [&](std::string_view key) {
    const std::vector<double> turn = table.required_numbers(key, 3, any_number());
    return exp_quaternion(Vec3<double>(turn[0], turn[1], turn[2]));
  };
  if (table.has("initial")) unknown.initial_orientation = orientation("initial");
  if (table.has("truth")) unknown.true_orientation = orientation("truth");
  unknowns.push_back(std::move(unknown));
}

void read_unknown(const TomlTable& table, const Scene& scene, std::vector<Unknown>& unknowns) {
  Unknown common;
  common.name = table.required_text("name");
  common.in_each_motion = table.boolean("in_each_motion", false);
  if (const auto body = orientation_named(scene.model, common.name)) {
    common.body = *body;
    read_orientation(table, scene, std::move(common), unknowns);
    table.finish();
    return;
  }
  common.logarithmic = table.boolean("logarithmic", false);
  std::vector<Unknown> components;
  if (const auto control = control_named(scene.model, common.name)) {
    common.kind = Unknown::Kind::control;
    common.body = control->body;
    common.motor = control->motor;
    if (control->motor >= 0) {
      const MotorPlace place = motors_of(scene.model)[at(control->motor)];
      common.parameter = find_parameter(scene, target_name(scene.model, place));
    }
    common.from = table.number("from", scene.initial.time, any_number());
    common.until = table.required_number("until", any_number());
    common.pieces = table.integer("pieces", 1, 1);
    for (std::size_t i = 0; i < control->components.size(); ++i) {
      components.push_back(common);
      components.back().component = control->components[i];
      components.back().name += control->endings[i];
    }
  } else {
    const auto names = at_line(table, "name", [&] { return component_names(scene, common.name); });
    for (const std::string& name : names) {
      components.push_back(common);
      components.back().name = name;
      components.back().parameter = at_line(table, "name", [&] { return find_parameter(scene, name); });
    }
  }
  const std::size_t count = components.size();
  std::vector<double> guesses(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    if (common.kind == Unknown::Kind::number) guesses[i] = value_of(scene, components[i].parameter);
  }
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> initial = numbers_for(table, "initial", count, guesses, any_number()),
                            lower = numbers_for(table, "lower", count, std::vector(count, -infinity),
                                                any_number()),
                            upper = numbers_for(table, "upper", count, std::vector(count, infinity),
                                                any_number());
  std::vector<double> truth, mean, deviation;
  if (table.has("truth")) truth = numbers_for(table, "truth", count, {}, any_number());
  if (table.has("prior")) {
    const TomlTable prior = table.table("prior");
    mean = numbers_for(prior, "mean", count, initial, any_number());
    if (!prior.has("deviation")) prior.fail("", "missing key 'deviation', allowed: a number > 0");
    deviation = numbers_for(prior, "deviation", count, {}, positive());
    prior.finish();
  }
  for (std::size_t i = 0; i < count; ++i) {
    Unknown& unknown = components[i];
    const bool is_given = table.has("initial") || common.kind != Unknown::Kind::number;
    if (!is_given && !unknown.parameter.range.contains(initial[i]))
      table.fail("name",
                 fmt::format("the scene gives '{}' no value of its own: 'initial' is needed", unknown.name));
    unknown.initial = initial[i];
    unknown.lower = lower[i];
    unknown.upper = upper[i];
    if (!truth.empty()) unknown.truth = truth[i];
    if (!mean.empty()) unknown.prior = Unknown::Prior{mean[i], deviation[i]};
    unknowns.push_back(std::move(unknown));
  }
  table.finish();
}

// Motions ---------------------------------------------------------------------------------------------------

std::vector<double> times_of(const TomlTable& goal, double start) {
  goal.require_one_of({"time", "times"}, true);
  std::vector<double> times = goal.has("times") ? goal.required_numbers("times", any_number())
                                                : std::vector{goal.required_number("time", any_number())};
  for (const double time : times) {
    if (time < start)
      goal.fail(goal.has("times") ? "times" : "time",
                fmt::format("{} s lies before the start of the scene, {} s", time, start));
  }
  return times;
}

void read_goal(const TomlTable& goal, const Scene& scene, std::vector<Measurement>& measurements) {
  enum class Kind { pose, twist, joint, contact, clearance };
  const Kind kind = goal.required_choice<Kind>("kind", {{"pose", Kind::pose},
                                                        {"twist", Kind::twist},
                                                        {"joint", Kind::joint},
                                                        {"contact", Kind::contact},
                                                        {"clearance", Kind::clearance}});
  const Model& model = scene.model;
  const auto two_bodies = [&](int& body_A, int& body_B) {
    const std::vector<std::string> names = goal.required_texts("bodies", 2);
    std::vector<int> found;
    for (const std::string& name : names) {
      for (int b = 0; b < model.body_count(); ++b) {
        if (model.bodies[at(b)].name == name) found.push_back(b);
      }
    }
    if (found.size() != 2 || found[0] == found[1])
      goal.fail("bodies",
                fmt::format("'{}' and '{}', allowed: two different bodies of the scene", names[0], names[1]));
    body_A = found[0];
    body_B = found[1];
  };
  Measurement measurement;
  measurement.is_goal = true;
  switch (kind) {
    case Kind::pose: {
      MeasuredPose pose;
      pose.body = body_named(model, goal, "body");
      const std::vector<double> p = goal.required_numbers("position", 3, any_number());
      pose.p_WA = Vec3<double>(p[0], p[1], p[2]);
      pose.position_noise = goal.number("position_tolerance", 1e-3, positive());
      goal.require_one_of({"orientation", "rotation_vector"}, false);
      if (goal.has("orientation")) pose.q_WA = goal.quaternion("orientation");
      if (goal.has("rotation_vector"))
        pose.q_WA = exp_quaternion(goal.vector3("rotation_vector", Vec3<double>::Zero()));
      pose.rotation_noise = goal.number("rotation_tolerance", 1e-2, positive());
      measurement.what = pose;
      break;
    }
    case Kind::twist: {
      MeasuredTwist twist;
      twist.body = body_named(model, goal, "body");
      if (!goal.has("angular_velocity") && !goal.has("linear_velocity"))
        goal.fail("", "a goal of kind \"twist\" needs 'linear_velocity' or 'angular_velocity'");
      const double infinity = std::numeric_limits<double>::infinity();
      twist.V_WB = stack<double>(goal.vector3("angular_velocity", Vec3<double>::Zero()),
                                 goal.vector3("linear_velocity", Vec3<double>::Zero()));
      twist.angular_noise = goal.number("angular_tolerance", goal.has("angular_velocity") ? 1e-1 : infinity,
                                        positive_or_infinite());
      twist.linear_noise = goal.number("linear_tolerance", goal.has("linear_velocity") ? 1e-2 : infinity,
                                       positive_or_infinite());
      measurement.what = twist;
      break;
    }
    case Kind::joint: {
      const int index = joint_named(model, goal, "joint", goal.required_text("joint"));
      MeasuredJoint joint = unmeasured({}, model, index);
      if (!goal.has("coordinate") && !goal.has("rate"))
        goal.fail("", "a goal of kind \"joint\" needs 'coordinate' or 'rate'");
      if (goal.has("coordinate")) {
        joint.coordinate = goal.required_number("coordinate", any_number());
        joint.coordinate_noise = goal.number("coordinate_tolerance", joint.coordinate_noise, positive());
      }
      if (goal.has("rate")) {
        joint.rate = goal.required_number("rate", any_number());
        joint.rate_noise = goal.number("rate_tolerance", joint.rate_noise, positive());
      }
      measurement.what = joint;
      break;
    }
    case Kind::contact: {
      ContactPlace place;
      two_bodies(place.body_A, place.body_B);
      const std::vector<double> a = goal.required_numbers("point_A", 3, any_number()),
                                b = goal.required_numbers("point_B", 3, any_number());
      place.p_A = Vec3<double>(a[0], a[1], a[2]);
      place.p_B = Vec3<double>(b[0], b[1], b[2]);
      place.position_noise = goal.number("position_tolerance", 1e-3, positive());
      place.normal_noise = goal.number("normal_tolerance", 1e-2, positive());
      measurement.what = place;
      break;
    }
    case Kind::clearance: {
      Clearance clearance;
      two_bodies(clearance.body_A, clearance.body_B);
      clearance.noise = goal.number("tolerance", 1e-4, positive());
      measurement.what = clearance;
      break;
    }
  }
  for (const double time : times_of(goal, scene.initial.time)) {
    measurement.time = time;
    measurements.push_back(measurement);
  }
  goal.finish();
}

/// Measurements that are still to be made, at the times of a sampling.
std::vector<Measurement> planned(const MotionData& data, const Scene& scene) {
  std::vector<Measurement> measurements;
  const MotionData::Sampling& sampling = *data.sampling;
  const Model& model = scene.model;
  const bool is_of_joints = data.source.kind == MeasurementSource::Kind::joints;
  const std::vector<std::string>& listed = data.source.joints;
  const int count = static_cast<int>(std::floor((sampling.until - sampling.from) / sampling.every + 1e-9));
  for (int i = 0; i <= count; ++i) {
    for (const int joint : is_of_joints ? joints_with_coordinate(model) : std::vector<int>()) {
      const std::string& name = model.joints[at(joint)].name;
      if (!listed.empty() && std::find(listed.begin(), listed.end(), name) == listed.end()) continue;
      MeasuredJoint measured = unmeasured(data.source, model, joint);
      measured.coordinate = 0.0;
      if (data.source.has_rates) measured.rate = 0.0;
      measurements.emplace_back().time = sampling.from + i * sampling.every;
      measurements.back().what = measured;
    }
    if (is_of_joints) continue;
    for (int b = 0; b < model.body_count(); ++b) {
      const Body& body = model.bodies[at(b)];
      const auto& bodies = data.source.bodies;
      const bool is_listed = std::find(bodies.begin(), bodies.end(), body.name) != bodies.end();
      if (bodies.empty() ? body.fixed : !is_listed) continue;
      Measurement measurement;
      measurement.time = sampling.from + i * sampling.every;
      if (data.source.kind == MeasurementSource::Kind::surface_points) {
        measurement.what = SurfacePoints{b, Points::Zero(3, sampling.points), data.source.position_noise};
      } else {
        MeasuredPose pose;
        pose.body = b;
        if (data.source.kind == MeasurementSource::Kind::poses) pose.q_WA = Quat<double>::Identity();
        pose.position_noise = data.source.position_noise;
        pose.rotation_noise = data.source.rotation_noise;
        measurement.what = pose;
      }
      measurements.push_back(measurement);
    }
  }
  return measurements;
}

MotionData read_data(const TomlTable& table, const std::filesystem::path& folder, const Scene& scene) {
  const double start_time = scene.initial.time;
  MotionData data;
  if (!table.has("file")) return data;
  using Kind = MeasurementSource::Kind;
  data.source.file = folder / table.required_text("file");
  if (table.has("bodies")) data.source.bodies = table.required_texts("bodies");
  data.source.kind = table.choice<Kind>("kind", Kind::poses,
                                        {{"poses", Kind::poses},
                                         {"positions", Kind::positions},
                                         {"surface_points", Kind::surface_points},
                                         {"joints", Kind::joints}});
  if (data.source.kind == Kind::joints) {
    if (table.has("bodies")) table.fail("bodies", "measured are joints: name these in 'joints'");
    if (table.has("joints")) {
      data.source.joints = table.required_texts("joints");
      if (data.source.joints.empty())
        table.fail("joints", "is empty: leave it out for all joints of the file");
    }
    std::set<std::string> names;
    for (const std::string& name : data.source.joints) {
      (void)joint_named(scene.model, table, "joints", name);
      if (!names.insert(name).second) table.fail("joints", fmt::format("names '{}' twice", name));
    }
    data.source.has_rates = table.boolean("rates", false);
    data.source.linear_noise = table.number("linear_noise", data.source.linear_noise, positive());
    data.source.angular_noise = table.number("angular_noise", data.source.angular_noise, positive());
  } else {
    for (const char* key : {"joints", "rates", "linear_noise", "angular_noise"}) {
      if (table.has(key)) table.fail(key, "goes with kind = \"joints\"");
    }
  }
  data.source.position_noise = table.number("position_noise", data.source.position_noise, positive());
  data.source.rotation_noise = table.number("rotation_noise", data.source.rotation_noise, positive());
  if (table.has("sampling")) {
    const TomlTable sampling = table.table("sampling");
    MotionData::Sampling times;
    times.every = sampling.required_number("every", positive());
    times.from = sampling.number("from", start_time + times.every, any_number());
    times.until = sampling.required_number("until", any_number());
    if (times.from < start_time)
      sampling.fail(
          "from", fmt::format("= {}, allowed: from the start of the scene on, {} s", times.from, start_time));
    if (times.until < times.from + times.every) sampling.fail("until", "leaves no time for two measurements");
    constexpr double k_most = 1e5;
    if ((times.until - times.from) / times.every > k_most)
      sampling.fail("every", fmt::format("asks for more than {:.0g} measurements", k_most));
    times.points = sampling.integer("points", 20, 1);
    sampling.finish();
    data.sampling = times;
  }
  return data;
}

void read_settings(const TomlTable& table, const Scene& scene, MeasuredMotion& motion) {
  for (const NamedNumbers& setting : table.all_numbers(true)) {
    const std::vector<std::string> names = component_names(scene, setting.name);
    try {
      for (std::size_t i = 0; i < names.size(); ++i) {
        const SceneParameter parameter = find_parameter(scene, names[i]);
        require(setting.numbers.size() == names.size(),
                fmt::format("'{}': {} given, allowed: {}", setting.name, setting.numbers.size(),
                            names.size() == 1 ? "one number" : fmt::format("{} numbers", names.size())));
        require_allowed(parameter, setting.numbers[i]);
        motion.settings.emplace_back(parameter, setting.numbers[i]);
      }
    } catch (const std::invalid_argument& error) {
      table.fail_at(setting.line, error.what());
    }
  }
}

void read_motion(const TomlTable& table, const std::filesystem::path& folder, DataUse use, int number,
                 ExperimentFile& file) {
  const Scene& scene = file.experiment.scene;
  MeasuredMotion motion;
  MotionData data = read_data(table, folder, scene);
  const std::string otherwise =
      data.source.file.empty() ? fmt::format("motion {}", number) : data.source.file.filename().string();
  motion.name = table.text("name", otherwise);
  read_settings(table.table("set"), scene, motion);
  if (!data.source.file.empty()) {
    if (use == DataUse::read) {
      motion.measurements = read_measurements(data.source, scene.model, scene.initial.time);
    } else if (data.sampling) {
      if (data.source.file.extension() != ".csv")
        table.fail("file", fmt::format("'{}': data are made as .csv files", data.source.file.string()));
      for (const MotionData& other : file.data) {
        if (other.source.file == data.source.file)
          table.fail("file", fmt::format("'{}' is that of another motion, too", data.source.file.string()));
      }
      motion.measurements = planned(data, scene);
      if (motion.measurements.empty() && data.source.kind == MeasurementSource::Kind::joints)
        table.fail("kind", "the scene has no hinge and no slider");
      if (motion.measurements.empty()) table.fail("bodies", "none of these is a body of the scene");
    } else {
      table.fail("", "there is no table 'sampling', which says when to measure");
    }
  }
  for (const TomlTable& goal : table.tables("goal")) read_goal(goal, scene, motion.measurements);
  if (motion.measurements.empty())
    table.fail("", "there is neither a 'file' of measurements nor a [[motion.goal]]");
  std::stable_sort(motion.measurements.begin(), motion.measurements.end(),
                   [](const Measurement& a, const Measurement& b) { return a.time < b.time; });
  table.finish();
  file.experiment.motions.push_back(std::move(motion));
  file.data.push_back(std::move(data));
}

// Search ----------------------------------------------------------------------------------------------------

SearchSettings read_search(const TomlTable& table) {
  SearchSettings search;
  search.method = table.choice<SearchMethod>(
      "method", search.method,
      {{"least_squares", SearchMethod::least_squares}, {"gradient", SearchMethod::gradient}});
  if (table.has("jacobian")) {
    search.jacobian = table.required_choice<JacobianMethod>(
        "jacobian", {{"forward", JacobianMethod::forward}, {"adjoint", JacobianMethod::adjoint}});
  }
  search.max_iterations = table.integer("max_iterations", search.max_iterations, 1);
  search.tolerance = table.number("tolerance", search.tolerance, positive());
  search.trust_region = table.number("trust_region", search.trust_region, between(1e-12, 1e16));
  search.loss.kind = table.choice<RobustLoss::Kind>("loss", search.loss.kind,
                                                    {{"square", RobustLoss::Kind::square},
                                                     {"huber", RobustLoss::Kind::huber},
                                                     {"cauchy", RobustLoss::Kind::cauchy}});
  search.loss.width = table.number("loss_width", search.loss.width, positive());
  search.intervals = table.choice<IntervalBasis>(
      "intervals", search.intervals,
      {{"stated", IntervalBasis::stated}, {"residuals", IntervalBasis::residuals}});
  search.starts = table.integer("starts", 1, 1);
  search.seed = static_cast<std::uint64_t>(table.integer("seed", 0, 0));
  if (table.has("continuation")) {
    search.continuation = table.required_numbers("continuation", at_least(1.0));
    if (search.continuation.empty() || search.continuation.back() != 1.0)
      table.fail("continuation", "allowed: factors >= 1 of which the last is 1");
  }
  table.finish();
  return search;
}

MultipleShooting read_shooting(const TomlTable& table) {
  MultipleShooting shooting;
  shooting.segments = table.integer("segments", shooting.segments, 1);
  shooting.position_noise = table.number("position_noise", shooting.position_noise, positive());
  shooting.rotation_noise = table.number("rotation_noise", shooting.rotation_noise, positive());
  shooting.linear_noise = table.number("linear_noise", shooting.linear_noise, positive());
  shooting.angular_noise = table.number("angular_noise", shooting.angular_noise, positive());
  table.finish();
  return shooting;
}

}  // namespace

ExperimentFile read_experiment(const std::filesystem::path& path, DataUse use) {
  const TomlTable table = TomlTable::read(path);
  const std::filesystem::path folder = path.parent_path();
  ExperimentFile file;
  file.path = path;
  file.scene = folder / table.required_text("scene");
  file.experiment.scene = read_scene(file.scene, surface_maker(user_cache_folder()));
  file.experiment.name = table.text("name", path.stem().string());
  for (const TomlTable& unknown : table.tables("unknown"))
    read_unknown(unknown, file.experiment.scene, file.experiment.unknowns);
  // Smoothing scales that default to |gravity| must not change with it.
  Scene& scene = file.experiment.scene;
  scene.config.step.acceleration_scale = naming_file(
      file.scene.string(), [&] { return Stepper(scene.model, scene.config.step).acceleration_scale(); });
  int number = 0;
  for (const TomlTable& motion : table.tables("motion")) read_motion(motion, folder, use, number++, file);
  file.search = read_search(table.table("search"));
  file.experiment.shooting = read_shooting(table.table("shooting"));
  table.finish();
  try {
    validate(file.experiment);
  } catch (const std::invalid_argument& error) {
    throw InputError(path.string(), 0, error.what());  // the message names what is wrong
  }
  return file;
}

}  // namespace abut
