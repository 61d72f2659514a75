#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "apps/abut/commands.h"
#include "apps/abut/options.h"
#include "apps/abut/progress_bar.h"
#include "apps/abut/report.h"
#include "collision/fitting/shape_surface.h"
#include "collision/fitting/surface_cache.h"
#include "collision/manifold/contact_detector.h"
#include "dynamics/gradient_check/gradient_check.h"
#include "dynamics/simulator.h"
#include "engine/count_text.h"
#include "engine/input_error.h"
#include "engine/scene_io.h"

namespace abut {
namespace {

struct GradcheckArguments {
  std::filesystem::path scene;
  std::optional<int> steps;
  int samples = GradientCheckConfig().samples;
  int components = 24;
  std::uint64_t seed = GradientCheckConfig().seed;
  double tolerance = GradientCheckConfig().tolerance;
  std::optional<double> backward_distance;  ///< [m]
  bool json = false;
};

/// How a group's part of a gradient with contacts from a distance differs from that of the exact one.
struct BackwardDifference {
  std::string group;
  double cosine = 0.0;                      ///< of the angle between them; 0 where one of them is 0
  double exact = 0.0, from_distance = 0.0;  ///< their norms
};

/// The gradient of one loss, the sum of all coordinates of the bodies at the end, lengths in body sizes.
struct NominalGradient {
  GradientHealth health;
  std::vector<BackwardDifference> backward;  ///< none without a distance
};

/// A group, or what of it was checked component by component.
std::string group_of(const GradientSample& sample) {
  return sample.component.empty() ? sample.group : sample.group + ", by component";
}

/// The samples of one group, and how much its inputs matter: the largest derivative, relative to the most
/// sensitive group.
struct GroupSummary {
  std::string group;
  GradientCheckSummary summary;
  double sensitivity = 0.0;
};

/// The parts of a gradient that all scenes have, as vectors.
std::vector<std::pair<std::string, std::vector<double>>> groups_of(const Gradient& gradient) {
  std::vector<double> pose, twist, controls, commands, wrench, mass, friction;
  const auto append = [](std::vector<double>& list, const Vec6<double>& x) {
    list.insert(list.end(), x.data(), x.data() + x.size());
  };
  for (const Vec6<double>& x : gradient.initial.pose) append(pose, x);
  for (const Vec6<double>& x : gradient.initial.twist) append(twist, x);
  for (const auto& step : gradient.controls) {
    for (const Vec6<double>& x : step.wrenches) append(controls, x);
    commands.insert(commands.end(), step.commands.begin(), step.commands.end());
  }
  for (const BodyGradient& body : gradient.model.bodies) {
    append(wrench, body.external_wrench);
    mass.push_back(body.mass);
    friction.push_back(body.friction);
  }
  const Vec3<double>& g = gradient.model.gravity;
  std::vector<std::pair<std::string, std::vector<double>>> groups{{"initial pose", pose},
                                                                  {"initial twist", twist},
                                                                  {"controls", controls},
                                                                  {"mass", mass},
                                                                  {"friction", friction},
                                                                  {"external wrench", wrench},
                                                                  {"gravity", {g.x(), g.y(), g.z()}}};
  if (!commands.empty()) groups.push_back({"commands", commands});
  return groups;
}

std::vector<BackwardDifference> compare(const Gradient& exact, const Gradient& from_distance) {
  std::vector<BackwardDifference> differences;
  const auto a = groups_of(exact), b = groups_of(from_distance);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto& x = a[i].second;
    const auto& y = b[i].second;
    const auto dot = [](const auto& u, const auto& v) {
      return std::inner_product(u.begin(), u.end(), v.begin(), 0.0);
    };
    BackwardDifference difference{a[i].first, 0.0, std::sqrt(dot(x, x)), std::sqrt(dot(y, y))};
    if (difference.exact > 0.0 && difference.from_distance > 0.0)
      difference.cosine = dot(x, y) / (difference.exact * difference.from_distance);
    differences.push_back(std::move(difference));
  }
  return differences;
}

/// Of a rollout that was checked before, hence ends well with the tolerance of the check.
NominalGradient nominal_gradient(const Scene& scene, int steps, double solver_tolerance,
                                 const std::optional<double>& distance) {
  StepConfig config = scene.config.step;
  config.tolerance = solver_tolerance;
  const Stepper stepper(scene.model, config);
  const Trajectory trajectory = rollout(stepper, scene.initial, steps, controls_of(scene, steps));
  const LossGradient loss = [&](int k, const State&, StateTangent& bar) {
    if (k != steps) return;
    for (std::size_t b = 0; b < scene.model.bodies.size(); ++b) {
      const Body& body = scene.model.bodies[b];
      if (!body.fixed)
        bar.pose[b] += stack<double>(Vec3<double>::Ones(), Vec3<double>::Constant(1.0 / body.size));
    }
  };
  const Gradient exact = adjoint(stepper, trajectory, loss);
  NominalGradient nominal{exact.health, {}};
  if (distance) {
    const Stepper soft(scene.model, contacts_from_distance(scene.model, config, *distance));
    nominal.backward = compare(exact, adjoint(stepper, trajectory, loss, {.backward = &soft}));
  }
  return nominal;
}

std::vector<GroupSummary> summarize_groups(const std::vector<GradientSample>& samples, double tolerance) {
  std::vector<GroupSummary> groups;
  for (const GradientSample& first : samples) {
    if (std::any_of(groups.begin(), groups.end(),
                    [&](const auto& group) { return group.group == group_of(first); }))
      continue;
    std::vector<GradientSample> of_group;
    GroupSummary group{group_of(first), {}, 0.0};
    for (const GradientSample& sample : samples) {
      if (group_of(sample) != group.group) continue;
      of_group.push_back(sample);
      if (sample.largest > 0.0)
        group.sensitivity = std::max(group.sensitivity, std::abs(sample.adjoint) / sample.largest);
    }
    group.summary = summarize(of_group, tolerance);
    groups.push_back(std::move(group));
  }
  return groups;
}

Json json_of(const GradientCheckSummary& s) {
  return {{"samples", s.samples},
          {"median_relative_error", s.median_relative_error},
          {"p99_relative_error", s.p99_relative_error},
          {"max_relative_error", s.max_relative_error},
          {"max_resolved_error", s.max_resolved_error},
          {"off", s.off},
          {"one_sided", s.one_sided},
          {"at_bound", s.at_bound},
          {"unresolved", s.unresolved},
          {"non_finite", s.non_finite}};
}

/// "forward" and "backward" are what the program steps along; a user wants to know what was compared.
const char* status_of(const GradientSample& sample, double tolerance) {
  if (sample.non_finite) return "not finite";
  if (sample.at_bound) return "at a bound";
  if (sample.unresolved) return "unresolved";
  if (sample.relative_error > tolerance) return "off";
  return sample.side == DifferenceSide::both ? "right" : "right on one side";
}

/// The samples of which there is something to say.
Json notes_of(const GradientCheck& check, double tolerance) {
  Json notes = Json::array();
  for (const GradientSample& sample : check.samples) {
    const std::string status = status_of(sample, tolerance);
    if (status == "right") continue;
    notes.push_back({{"group", sample.group},
                     {"component", sample.component},
                     {"status", status},
                     {"side", to_string(sample.side)},
                     {"adjoint", sample.adjoint},
                     {"difference", sample.difference},
                     {"relative_error", sample.relative_error},
                     {"self_disagreement", sample.self_disagreement},
                     {"reason", sample.reason}});
  }
  return notes;
}

Json json_of(const GradientCheck& check, double tolerance) {
  Json groups = Json::array();
  for (const GroupSummary& group : summarize_groups(check.samples, tolerance)) {
    Json object = {{"group", group.group}, {"sensitivity", group.sensitivity}};
    object.update(json_of(group.summary));
    groups.push_back(std::move(object));
  }
  Json json = {{"passed", check.verdict.passed},
               {"reason", check.verdict.reason},
               {"tolerance", tolerance},
               {"solver_tolerance", check.solver_tolerance}};
  json.update(json_of(check.summary));
  json["groups"] = std::move(groups);
  json["notes"] = notes_of(check, tolerance);
  return json;
}

Json json_of(const std::vector<BackwardDifference>& backward) {
  Json groups = Json::array();
  for (const BackwardDifference& of : backward) {
    groups.push_back({{"group", of.group},
                      {"cosine", of.cosine},
                      {"exact_norm", of.exact},
                      {"from_distance_norm", of.from_distance}});
  }
  return groups;
}

void print_backward(double distance, const std::vector<BackwardDifference>& backward) {
  fmt::print("contacts from {:.6g} m in the backward pass, against the exact gradient:\n", distance);
  Table table({"group", "cosine", "exact size", "size from distance"});
  for (const BackwardDifference& of : backward) {
    table.add({of.group, fmt::format("{:.4f}", of.cosine), fmt::format("{:.2e}", of.exact),
               fmt::format("{:.2e}", of.from_distance)});
  }
  fmt::print("{}", table.text());
}

void print_table(const Scene& scene, const GradientCheckConfig& config, const GradientCheck& check) {
  fmt::print("{}: adjoint of {} of {:.6g} s against differences, seed {}\n", scene.name,
             count_text(config.steps, "step"), scene.config.step.h, config.seed);
  if (check.solver_tolerance > k_gradient_check_tolerance)
    fmt::print("solved to {:.3g}: the contact law reaches no less here\n", check.solver_tolerance);
  Table table({"group", "samples", "sensitivity", "median error", "largest error", "off", "one-sided",
               "at a bound", "unresolved", "not finite"});
  for (const GroupSummary& group : summarize_groups(check.samples, config.tolerance)) {
    const GradientCheckSummary& s = group.summary;
    table.add({group.group, fmt::format("{}", s.samples), fmt::format("{:.1e}", group.sensitivity),
               fmt::format("{:.1e}", s.median_relative_error), fmt::format("{:.1e}", s.max_relative_error),
               fmt::format("{}", s.off), fmt::format("{}", s.one_sided), fmt::format("{}", s.at_bound),
               fmt::format("{}", s.unresolved), fmt::format("{}", s.non_finite)});
  }
  fmt::print("{}", table.text());
  const GradientCheckSummary& s = check.summary;
  fmt::print(
      "relative error of {}: median {:.1e}, 99 % below {:.1e}, largest {:.1e} ({:.1e} of resolved "
      "ones)\n{} off by more than {:.3g}, {} one-sided, {} at a bound, {} unresolved, {} not finite\n",
      count_text(s.samples, "sample"), s.median_relative_error, s.p99_relative_error, s.max_relative_error,
      s.max_resolved_error, s.off, config.tolerance, s.one_sided, s.at_bound, s.unresolved, s.non_finite);
  std::set<std::string> said;
  for (const GradientSample& sample : check.samples) {
    if (sample.reason.empty()) continue;
    const std::string note =
        fmt::format("{}, {}: {}", sample.component.empty() ? sample.group : sample.component,
                    sample.at_bound || sample.unresolved ? status_of(sample, config.tolerance) : "one-sided",
                    sample.reason);
    if (said.insert(note).second) fmt::print("{}\n", note);
  }
}

/// 100 steps, or 50 past the first contact if that comes late: a gradient without contact is no test. At most
/// those of the scene.
int default_steps(const Scene& scene) {
  constexpr int k_steps = 100, k_steps_in_contact = 50;
  const Stepper stepper(scene.model, scene.config.step);
  int first_contact = 0;
  State end;
  (void)simulate(stepper, scene.initial, scene.config.steps, controls_of(scene, scene.config.steps), end,
                 [&](int step, const State&, const StepReport& report) {
                   first_contact = step;
                   return report.contacts == 0;
                 });
  return std::min(scene.config.steps, std::max(k_steps, first_contact + k_steps_in_contact));
}

int gradcheck(const GradcheckArguments& arguments) {
  const Scene scene = read_scene(arguments.scene, surface_maker(user_cache_folder()));
  GradientCheckConfig config;
  config.steps = naming_file(arguments.scene.string(), [&] {
    for (const Body& body : scene.model.bodies) require_points_on_surface(body);
    return arguments.steps ? *arguments.steps : default_steps(scene);
  });
  config.controls = controls_of(scene, config.steps);
  config.samples = arguments.samples;
  config.components = arguments.components;
  config.seed = arguments.seed;
  config.tolerance = arguments.tolerance;
  {
    const Stepper stepper(scene.model, scene.config.step);
    warn_of_start("gradcheck", scene.model, find_start_warnings(stepper, scene.initial));
  }

  GradientCheck check;
  {
    std::optional<ProgressBar> bar;
    check = check_gradient(scene.model, scene.config.step, scene.initial, config, [&](int done, int samples) {
      if (!bar) bar.emplace("samples", samples, false);
      bar->update(done);
    });
  }
  const double h = scene.config.step.h;
  if (check.failed_step >= 0) {
    StepConfig used = scene.config.step;
    used.tolerance = check.solver_tolerance;
    fmt::print(
        stderr, "abut gradcheck: {}\n",
        failure_text(scene.model, used, scene.initial.time + (check.failed_step + 1) * h, check.failure));
    return 1;
  }
  const NominalGradient nominal =
      nominal_gradient(scene, config.steps, check.solver_tolerance, arguments.backward_distance);
  if (arguments.json) {
    Json json = json_of(check, config.tolerance);
    json["health"] = json_of(scene.model, nominal.health);
    if (arguments.backward_distance) json["backward"] = json_of(nominal.backward);
    print_json(json);
  } else {
    print_table(scene, config, check);
    print_health(scene.model, nominal.health);
    if (arguments.backward_distance) print_backward(*arguments.backward_distance, nominal.backward);
  }
  if (!check.verdict.passed) fmt::print(stderr, "abut gradcheck: failed: {}\n", check.verdict.reason);
  return check.verdict.passed ? 0 : 1;
}

}  // namespace

void add_gradcheck_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<GradcheckArguments>();
  CLI::App* command = app.add_subcommand("gradcheck", "check a scene's gradient against differences");
  command->add_option("SCENE", arguments->scene, "scene file (TOML)")->required()->type_name("");
  command
      ->add_option("--steps", arguments->steps,
                   "number of time steps; default: 100, or 50 past the first contact")
      ->check(whole_number(1))
      ->type_name("N");
  command->add_option("--samples", arguments->samples, "number of random losses and directions")
      ->check(whole_number(1))
      ->type_name("P")
      ->capture_default_str();
  command
      ->add_option("--components", arguments->components,
                   "number of components of the initial state that are checked one by one")
      ->check(whole_number(0))
      ->type_name("C")
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "of the random numbers")
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()))
      ->type_name("S")
      ->capture_default_str();
  command
      ->add_option("--tolerance", arguments->tolerance, "largest relative error of a sample that is not off")
      ->check(finite_positive())
      ->type_name("T")
      ->capture_default_str();
  command
      ->add_option("--backward-distance", arguments->backward_distance,
                   "compare with contacts from this distance in the backward pass [m]")
      ->check(finite_positive())
      ->type_name("D");
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer(
      "Each sample takes a random loss of the motion and a random direction in one group of inputs (initial\n"
      "state, controls, mass, inertia, friction, shape, ...; the groups take turns) and compares the\n"
      "derivative by the adjoint with differences of whole rollouts at several step sizes: central ones, or\n"
      "where an input lies at a bound (a friction of 0, an exponent of 1.9), one-sided ones inwards.\n"
      "Samples by component follow: along one of the twelve numbers of the initial state of a moving body, "
      "all\n"
      "of them or a random choice. A random direction mixes all bodies, and hides an error of one number.\n"
      "  sensitivity   largest derivative of the group, relative to that of the most sensitive group\n"
      "  error         |adjoint - difference| / (|adjoint| + 1e-3 |derivative of the most sensitive group|)\n"
      "  off           resolved samples with an error above --tolerance\n"
      "  one-sided     samples compared with one-sided differences\n"
      "  at a bound    one-sided differences do not converge: the model is another one at the bound (with a\n"
      "                restitution of 0 there are no impacts); or contacts lie at kinks, as the health says, "
      "and\n"
      "                with a small change of the state the adjoint is right. Not in the errors\n"
      "  unresolved    differences disagree among themselves by more than --tolerance: the motion is too\n"
      "                sensitive, or has a kink there. In the errors as the others are\n"
      "Below the table stands the health of the gradient of one loss, the sum of all coordinates at the "
      "end:\n"
      "its largest growth in a step, how many contacts lie near a kink of the contact law, and warnings.\n"
      "The exit code is 1 if a sample is off, if anything is not finite, or if more than a tenth of the\n"
      "samples are unresolved; a line on stderr says which.\n"
      "\n"
      "Examples:\n"
      "  abut gradcheck assets/scenes/armadillo_drop.toml\n"
      "  abut gradcheck assets/scenes/box_slide.toml --steps 20 --samples 200 --seed 7 --json");
  command->callback([arguments, &exit_code] { exit_code = gradcheck(*arguments); });
}

}  // namespace abut
