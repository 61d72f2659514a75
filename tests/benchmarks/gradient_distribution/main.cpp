/// abut_gradient_distribution [--law LAW ...] [--scenes N] [--seed S] [--every-kind | --body NAME ...]
/// [--list]: exit codes as those of `abut`.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "dynamics/gradient_check/gradient_check.h"
#include "dynamics/rollout/shape_change.h"
#include "tests/benchmarks/gradient_distribution/random_direction.h"
#include "tests/support/bodies_of_kinds.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using namespace abut::benchmarks;

constexpr std::array<int, 3> k_steps{1, 10, 100};

/// One scene with one loss and one direction.
struct SceneResult {
  int steps = 0;
  bool failed = false;                      ///< the nominal rollout, which has no gradient then
  bool near_kink = false, chaotic = false;  ///< as its gradient's health says
  std::string bodies;                       ///< the names of those that move
  GradientSample sample;
};

/// NaN if the rollout fails.
double loss_of(const RolloutInputs& inputs, const StepConfig& config, int steps, const RandomLoss& loss) {
  const Stepper stepper(inputs.model, config);
  double sum = 0.0;
  State end;
  const StepReport report = simulate(stepper, inputs.initial, steps, inputs.controls, end,
                                     [&](int k, const State& state, const StepReport&) {
                                       sum += loss.value(k + 1, state);
                                       return true;
                                     });
  return report.status == StepStatus::ok ? sum : std::numeric_limits<double>::quiet_NaN();
}

SceneResult check_scene(StepConfig config, int steps, const test::RandomSceneOptions& options,
                        Random random) {
  SceneResult result;
  result.steps = steps;
  test::TestScene scene = test::without_ignored(test::random_contact_scene(random, options), config.law);
  for (const Body& body : scene.model.bodies) {
    if (!body.fixed) result.bodies += " [" + body.name + "]";
  }
  const RolloutInputs nominal{std::move(scene.model), std::move(scene.state), {}};
  config.tolerance = k_gradient_check_tolerance;
  config.acceleration_scale = nominal.model.gravity.norm();  // as it is while gravity changes
  const Stepper stepper(nominal.model, config);
  const Trajectory trajectory = rollout(stepper, nominal.initial, steps);
  result.failed = !trajectory.ok();
  if (result.failed) return result;

  const RandomLoss loss(trajectory, stepper, random);
  const RandomDirection direction(nominal, stepper, steps, random);
  const Gradient gradient = adjoint(
      stepper, trajectory, [&](int k, const State&, StateTangent& bar) { loss.add_gradient(k, bar); });
  result.near_kink = gradient.health.contacts_near_kink > 0;
  for (const GradientWarning& warning : gradient.health.warnings)
    result.chaotic |= warning.kind == GradientWarning::Kind::chaos;

  GradientSample& sample = result.sample;
  const std::vector<double> parts = direction.derivatives(gradient);
  sample.adjoint = std::accumulate(parts.begin(), parts.end(), 0.0);
  for (const double part : parts) sample.largest = std::max(sample.largest, std::abs(part));
  score_by_differences(
      [&](double x) { return loss_of(direction.moved(nominal, x), stepper.config(), steps, loss); }, sample);
  return result;
}

/// Depends on the arguments alone, not on the number of threads.
std::vector<SceneResult> check_scenes(const StepConfig& config, int scenes,
                                      const test::RandomSceneOptions& options, std::uint64_t seed) {
  Random seeds(seed);
  std::vector<Random> random;
  for (int i = 0; i < scenes; ++i) random.emplace_back(seeds.bits());
  std::vector<SceneResult> results(random.size());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto run = [&] {
    for (std::size_t i = next++; i < results.size(); i = next++) {
      try {
        results[i] = check_scene(config, k_steps[i % k_steps.size()], options, random[i]);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!error) error = std::current_exception();
        next = results.size();
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) helpers.emplace_back(run);
    run();
  }
  if (error) std::rethrow_exception(error);
  return results;
}

void print_row(std::string_view law, const std::string& steps, const std::vector<SceneResult>& results) {
  std::vector<GradientSample> all, resolved;
  int failed = 0, at_kinks = 0, chaotic = 0;
  for (const SceneResult& result : results) {
    failed += result.failed;
    if (result.failed) continue;
    all.push_back(result.sample);
    if (!result.sample.unresolved) resolved.push_back(result.sample);
    at_kinks += result.sample.unresolved && result.near_kink;
    chaotic += result.sample.unresolved && !result.near_kink && result.chaotic;
  }
  const GradientCheckSummary of_all = summarize(all), of_resolved = summarize(resolved);
  fmt::print("| {} | {} | {} | {} | {:.1e} | {:.1e} | {:.1e} | {} | {} | {} | {} | {:.1e} | {:.1e} |\n", law,
             steps, results.size(), failed, of_all.median_relative_error, of_all.p99_relative_error,
             of_all.max_relative_error, of_all.non_finite, at_kinks, chaotic,
             of_all.unresolved - at_kinks - chaotic, of_resolved.p99_relative_error,
             of_resolved.max_relative_error);
}

/// What there is to say of the scenes that differences do not resolve.
void print_unresolved(const std::vector<SceneResult>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const SceneResult& of = results[i];
    if (of.failed || !of.sample.unresolved) continue;
    fmt::print("scene {}, {} steps:{}: adjoint {:.6g}, differences {:.6g}, {}\n", i, of.steps, of.bodies,
               of.sample.adjoint, of.sample.difference,
               of.near_kink ? "near a kink"
               : of.chaotic ? "chaotic"
                            : "no kink known");
  }
}

/// Adds bodies of every kind of primitive; or has those of `names` alone, if there are any.
test::RandomSceneOptions scene_options(bool every_kind, const std::vector<std::string>& names) {
  test::RandomSceneOptions options;
  options.min_bodies = 2;
  options.max_bodies = 10;
  options.only_more_bodies = !names.empty();
  for (test::NamedBody& named : test::bodies_of_all_kinds()) {
    const bool is_named = std::find(names.begin(), names.end(), named.name) != names.end();
    named.body.name = named.name;
    if (!named.body.fixed && (every_kind || is_named))
      options.more_bodies.push_back(named.body);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Prints how far gradients of random scenes are from differences: docs/gradients.md.",
               "abut_gradient_distribution");
  std::vector<std::string> laws;
  int scenes = 1000;
  std::uint64_t seed = 1;
  bool every_kind = false, list = false;
  std::vector<std::string> bodies, body_names;
  for (const auto& [word, law] : contact_laws()) laws.emplace_back(word);
  for (const test::NamedBody& named : test::bodies_of_all_kinds()) {
    if (!named.body.fixed) body_names.push_back(named.name);
  }
  app.add_option("--law", laws, "contact laws; default: all")->check(CLI::IsMember(laws));
  app.add_option("--scenes", scenes, "a law")->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_option("--seed", seed, "of the random numbers")->capture_default_str();
  CLI::Option* const kinds =
      app.add_flag("--every-kind", every_kind, "bodies of every kind of primitive, besides the others");
  app.add_option("--body", bodies, "bodies of all scenes")->check(CLI::IsMember(body_names))->excludes(kinds);
  app.add_flag("--list", list, "list the scenes that differences do not resolve");
  CLI11_PARSE(app, argc, argv);
  try {
    const test::RandomSceneOptions options = scene_options(every_kind, bodies);
    fmt::print(
        "| law | steps | scenes | failed | median | 99 % | largest | not finite | unresolved: kinks | chaos "
        "| "
        "other | resolved: 99 % | largest |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (const auto& [word, law] : contact_laws()) {
      if (std::find(laws.begin(), laws.end(), word) == laws.end()) continue;
      StepConfig config;
      config.law = law;
      const std::vector<SceneResult> results = check_scenes(config, scenes, options, seed);
      for (const int steps : k_steps) {
        std::vector<SceneResult> some;
        std::copy_if(results.begin(), results.end(), std::back_inserter(some),
                     [&](const SceneResult& result) { return result.steps == steps; });
        if (!some.empty()) print_row(word, fmt::format("{}", steps), some);
      }
      print_row(word, "all", results);
      if (list) print_unresolved(results);
      std::fflush(stdout);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "abut_gradient_distribution: {}\n", error.what());
    return 1;
  }
  return 0;
}
