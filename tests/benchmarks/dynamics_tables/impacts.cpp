/// The tables of impacts: displacements, overlap, energy and momentum of random drops and blows under every law,
/// rows of balls, heights of bounces, and what steps with impacts cost.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rollout/rollout.h"
#include "tests/benchmarks/dynamics_tables/tables.h"
#include "tests/support/ball_rows.h"
#include "tests/support/random_drops.h"
#include "tests/support/watched_run.h"

namespace abut::tables {
namespace {

using namespace abut::test;

StepConfig config_of(double h, ContactLaw law = ContactLaw::smooth_coulomb) {
  StepConfig config;
  config.h = h;
  config.law = law;
  return config;
}

int steps_in(double seconds, double h) { return std::max(1, static_cast<int>(std::lround(seconds / h))); }

std::string milliseconds(double h) { return fmt::format("{:g}", 1e3 * h); }

/// Laws with restitution only, or all; of these the one that is asked for.
std::vector<std::pair<std::string, ContactLaw>> laws_of(const Options& options, bool with_restitution) {
  std::vector<std::pair<std::string, ContactLaw>> laws;
  for (const auto& [name, law] : contact_laws()) {
    if (with_restitution && setting_use("restitution", law) != SettingUse::honoured) continue;
    if (options.law.empty() || options.law == name) laws.emplace_back(name, law);
  }
  return laws;
}

bool has_restitution(ContactLaw law) { return setting_use("restitution", law) == SettingUse::honoured; }

/// The worst of several runs.
struct Worst {
  int runs = 0, failed = 0, jumping = 0, gaining = 0;
  double jump = 0.0, size_jump = 0.0, overlap = 0.0, gain = 0.0;  ///< [m], sizes, [m], over the first energy

  void add(const WatchedRun& run) {
    constexpr double k_jump = 1e-3, k_gain = 1e-3;  // that count: sizes of the body, and of the energy
    ++runs;
    failed += run.status != StepStatus::ok;
    jumping += run.size_jump > k_jump;
    jump = std::max(jump, run.jump);
    size_jump = std::max(size_jump, run.size_jump);
    overlap = std::max(overlap, run.overlap);
    const double run_gain = run.energy_gain() / run.start_energy;
    gaining += run_gain > k_gain;
    gain = std::max(gain, run_gain);
  }
};

void print_drops(const Options& options, int drops) {
  fmt::print(
      "\n{} drops and blows of random bodies per law: mass ratios of 1e-3 to 1e3, restitution (0 under laws "
      "without) "
      "and friction of 0 to 1. A displacement is that beyond h times the larger speed before and after the "
      "step, in "
      "sizes of the body. Velocities are those of the middles of steps: a body's speed at the end of a step "
      "is v + g "
      "h/2, with which its energy is evaluated, at the start, too.\n\n",
      drops);
  print_header({"law", "h [ms]", "drops", "failed", "with displacements > 1e-3",
                "largest displacement [sizes]", "gains > 0.1 %", "largest gain"});
  constexpr double k_seconds = 0.4;
  constexpr std::array steps{1e-4, 5e-4, 2e-3, 1e-2, 2e-2};
  for (const auto& [name, law] : laws_of(options, false)) {
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const double h = steps[k];
      Worst worst;
      for (int i = static_cast<int>(k); i < drops; i += static_cast<int>(steps.size())) {
        Random random(static_cast<std::uint64_t>(1 + i));
        TestScene scene = without_ignored(random_drop(random), law);
        settle(scene, config_of(h, law), steps_in(k_seconds, h));
        worst.add(watch(scene, config_of(h, law), steps_in(k_seconds, h)));
      }
      if (worst.runs == 0) continue;
      print_row({fmt::format("{}{}", name, has_restitution(law) ? "" : ", e = 0"), milliseconds(h),
                 fmt::format("{}", worst.runs), fmt::format("{}", worst.failed),
                 fmt::format("{}", worst.jumping), fmt::format("{:.1e}", worst.size_jump),
                 fmt::format("{}", worst.gaining), fmt::format("{:.2g} %", 100.0 * worst.gain)});
      std::fflush(stdout);
    }
  }
}

void print_blows(const Options& options, int blows) {
  fmt::print(
      "\n{} blows each of a tilted box on a box of 1 kg that rests on a floor, at 1.5 m/s: the largest "
      "displacement "
      "that speeds before and after a step do not explain, the deepest contact, the largest gain of "
      "energy.\n\n",
      blows);
  print_header({"law", "h [ms]", "mass ratio", "e", "failed", "displacement [mm]", "overlap [mm]", "gain"});
  struct Case {
    double h, least, most;
  };
  for (const auto& [name, law] : laws_of(options, false)) {
    for (const Case& of :
         {Case{5e-4, 1.0, 32.0}, {2e-3, 1.0, 32.0}, {1e-2, 1.0, 32.0}, {1e-2, 100.0, 100.0}}) {
      for (const double e : {0.3, 0.8, 1.0}) {
        if (e != 0.3 && !has_restitution(law)) continue;
        Worst worst;
        for (int i = 0; i < blows; ++i) {
          Random random(static_cast<std::uint64_t>(1 + i));
          const double ratio = of.least * std::pow(of.most / of.least, random.uniform());
          const TestScene scene = without_ignored(random_blow(random, ratio, e), law);
          worst.add(watch(scene, config_of(of.h, law), steps_in(0.3, of.h)));
        }
        print_row({name, milliseconds(of.h),
                   of.least == of.most ? fmt::format("{:g}", of.least)
                                       : fmt::format("{:g} to {:g}", of.least, of.most),
                   has_restitution(law) ? fmt::format("{:g}", e) : "0", fmt::format("{}", worst.failed),
                   fmt::format("{:.3f}", 1e3 * worst.jump), fmt::format("{:.3f}", 1e3 * worst.overlap),
                   fmt::format("{:.2g} %", 100.0 * worst.gain)});
        std::fflush(stdout);
      }
    }
  }
}

void print_momentum(const Options& options, int throws) {
  fmt::print(
      "\n{} rows each of four spheres or boxes of 1 g to 1 kg in free flight, several impacts to a step: "
      "relative change of momentum, and of angular momentum over the sum of |r| |p| and I |w|.\n\n",
      throws);
  print_header({"law", "h [ms]", "failed", "momentum", "angular momentum", "largest gain of energy"});
  for (const auto& [name, law] : laws_of(options, true)) {
    for (const double h : {1e-3, 1e-2}) {
      int failed = 0;
      double linear = 0.0, angular = 0.0, gain = 0.0;
      for (int i = 0; i < throws; ++i) {
        Random random(static_cast<std::uint64_t>(1 + i));
        const TestScene scene = without_ignored(random_free_row(random), law);
        const WatchedRun run = watch(scene, config_of(h, law), steps_in(0.06, h));
        if (run.status != StepStatus::ok) {
          ++failed;
          continue;
        }
        const Totals start(scene.model, scene.state), end(scene.model, run.end);
        double size = 0.0;
        for (std::size_t b = 0; b < run.end.X_WB.size(); ++b) {
          size += run.end.X_WB[b].p.norm() * scene.model.bodies[b].mass * run.end.V_WB[b].tail<3>().norm() +
                  scene.model.bodies[b].inertia.trace() / 3.0 * run.end.V_WB[b].head<3>().norm();
        }
        linear = std::max(linear, (end.momentum - start.momentum).norm() / start.momentum.norm());
        angular = std::max(angular, (end.angular_momentum - start.angular_momentum).norm() / size);
        gain = std::max(gain, run.energy_gain() / run.start_energy);
      }
      print_row({name, milliseconds(h), fmt::format("{}", failed), fmt::format("{:.0e}", linear),
                 fmt::format("{:.0e}", angular), fmt::format("{:.2g} %", 100.0 * gain)});
      std::fflush(stdout);
    }
  }
}

/// The largest error of a speed of a row of elastic balls [m/s], NaN where a step fails.
double cradle_error(int count, double gap, const StepConfig& config) {
  const BallRow row{std::vector<double>(static_cast<std::size_t>(count), 1.0), gap};
  constexpr double k_seconds = 0.3;
  const WatchedRun run = watch(row.scene(), config, steps_in(k_seconds, config.h));
  if (run.status != StepStatus::ok) return std::nan("");
  const std::vector<double> exact = row.velocities(k_seconds);
  double worst = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    worst = std::max(worst, std::abs(run.end.V_WB[i][3] - exact[i]));
  return worst;
}

void print_cradles(const Options& options) {
  fmt::print(
      "\nRows of equal elastic balls, the first of which comes at 1 m/s: the largest error of a speed "
      "[m/s].\n\n");
  constexpr std::array steps{5e-4, 2e-3, 1e-2};
  std::vector<std::string> header{"law", "balls", "gap [mm]"};
  for (const double h : steps) header.push_back(fmt::format("h = {} ms", milliseconds(h)));
  print_header(header);
  for (const auto& [name, law] : laws_of(options, true)) {
    for (int count = 2; count <= 7; ++count) {
      for (const double gap : {0.0, 1e-6, 1e-4, 1e-3}) {
        std::vector<std::string> row{name, fmt::format("{}", count), fmt::format("{:g}", 1e3 * gap)};
        for (const double h : steps)
          row.push_back(fmt::format("{:.4f}", cradle_error(count, gap, config_of(h, law))));
        print_row(row);
      }
    }
  }
}

/// Height of the n-th flight over e^(2n) times that of the fall, less 1, by the energy of the flight.
std::vector<double> height_errors(double e, const StepConfig& config, const std::vector<int>& flights) {
  constexpr double k_height = 1.0, k_radius = 0.1;
  TestScene scene = floor_scene();
  scene.add(sphere_of_mass(k_radius, 1.0), pose_at({0, 0, k_radius + k_height}),
            moving_at({0, 0, 0.5 * k_g * config.h}));
  set_restitution(scene, e);
  std::map<int, double> apexes;
  int bounces = 0;
  double speed = scene.V_WB(1)[5];
  (void)watch(scene, config, steps_in(12.0, config.h), [&](const State& state) {
    const double v = state.V_WB[1][5], true_v = v - 0.5 * k_g * config.h;
    const bool flies = std::abs(v - speed + k_g * config.h) < 1e-9;
    bounces += !flies && v > 0.0 && speed < 0.0;
    speed = v;
    if (flies) apexes.emplace(bounces, state.X_WB[1].p.z() - k_radius + true_v * true_v / (2.0 * k_g));
  });
  std::vector<double> errors;
  for (const int n : flights)
    errors.push_back(apexes.count(n) == 0 ? std::nan("") : apexes[n] / (k_height * std::pow(e, 2 * n)) - 1.0);
  return errors;
}

void print_heights(const Options& options) {
  fmt::print(
      "\nA ball that falls by 1 m: height after n bounces against e^(2n), relative error. -: too slow by "
      "then for "
      "restitution to count in full (approach below 1.375 impact speeds).\n\n");
  const std::vector<int> flights{1, 2, 5, 10};
  std::vector<std::string> header{"law", "e", "h [ms]"};
  for (const int n : flights) header.push_back(fmt::format("n = {}", n));
  print_header(header);
  for (const auto& [name, law] : laws_of(options, true)) {
    for (const double e : {0.5, 0.9, 1.0}) {
      for (const double h : {5e-4, 2e-3, 1e-2}) {
        const StepConfig config = config_of(h, law);
        const double slowest = 1.375 * std::max(config.impact_speed, 3.0 * k_g * h);
        const std::vector<double> errors = height_errors(e, config, flights);
        std::vector<std::string> row{name, fmt::format("{:g}", e), milliseconds(h)};
        for (std::size_t i = 0; i < flights.size(); ++i) {
          const bool counts = std::sqrt(2.0 * k_g) * std::pow(e, flights[i] - 1) > slowest;
          row.push_back(!counts                 ? "-"
                        : std::isnan(errors[i]) ? "none"
                                                : fmt::format("{:+.2f} %", 100.0 * errors[i]));
        }
        print_row(row);
      }
    }
  }
}

/// Processor time of the same step again and again [us].
double step_microseconds(const TestScene& scene, const StepConfig& config, const State& start) {
  constexpr int k_warm = 50, k_steps = 1000, k_rounds = 5;
  const Stepper stepper(scene.model, config);
  StepScratch scratch;
  State next;
  double best = k_infinity;
  for (int round = 0; round < k_rounds; ++round) {
    for (int k = 0; k < k_warm; ++k) (void)stepper.step(start, {}, next, scratch);
    const double begin = processor_time();
    for (int k = 0; k < k_steps; ++k) (void)stepper.step(start, {}, next, scratch);
    best = std::min(best, (processor_time() - begin) / k_steps);
  }
  return 1e6 * best;
}

void print_cost() {
  fmt::print("\nA step in which one body hits another, the same with a restitution of 0, at 2 ms.\n\n");
  print_header({"impact", "e = 0.3 [us]", "e = 0 [us]", "ratio"});
  struct Case {
    std::string name;
    TestScene scene;
  };
  std::vector<Case> cases;
  {
    TestScene ball = floor_scene();
    ball.add(sphere_of_mass(0.1, 1.0), pose_at({0, 0, 0.101}), moving_at({0, 0, -2}));
    cases.push_back({"ball on a floor", ball});
    TestScene box = floor_scene();
    box.add(box_of_mass({0.05, 0.05, 0.05}, 1.0, 1), pose_at({0, 0, 0.051}), moving_at({0, 0, -2}));
    cases.push_back({"box flat on a floor", box});
    TestScene stack = stack_scene(5, 0.1, 1.0, 0.5, 1);
    stack.add(sphere_of_mass(0.05, 1.0), pose_at({0.01, 0, 0.551}), moving_at({0, 0, -2}));
    cases.push_back({"ball on a stack of five boxes", stack});
  }
  const StepConfig config = config_of(2e-3);
  for (Case& of : cases) {
    set_restitution(of.scene, 0.3);
    const double with = step_microseconds(of.scene, config, of.scene.state);
    set_restitution(of.scene, 0.0);
    const double without = step_microseconds(of.scene, config, of.scene.state);
    print_row({of.name, fmt::format("{:.1f}", with), fmt::format("{:.1f}", without),
               fmt::format("{:.2f}", with / without)});
  }
  fmt::print("\nTwenty boxes that fall on each other, 300 steps of 2 ms.\n\n");
  print_header({"e", "ms a step", "end", "largest displacement [mm]", "overlap [mm]"});
  for (const double e : {0.0, 0.3}) {
    Random random(1);
    TestScene scene = floor_scene();
    for (int i = 0; i < 20; ++i) {
      scene.add(box_of_mass({0.05, 0.05, 0.05}, 1.0, 1),
                pose_at({random.uniform(-0.06, 0.06), random.uniform(-0.06, 0.06), 0.1 + 0.15 * i},
                        random_vector(random, 1.0)));
    }
    set_restitution(scene, e);
    constexpr int k_steps = 300;
    State end;
    const double begin = processor_time();
    const StepReport report = simulate(Stepper(scene.model, config), scene.state, k_steps, {}, end);
    const double seconds = processor_time() - begin;
    const WatchedRun run = watch(scene, config, k_steps);
    print_row({fmt::format("{:g}", e), fmt::format("{:.2f}", 1e3 * seconds / k_steps),
               to_string(report.status), fmt::format("{:.3f}", 1e3 * run.jump),
               fmt::format("{:.3f}", 1e3 * run.overlap)});
  }
}

}  // namespace

void print_impacts(const Options& options) {
  print_drops(options, options.drops);
  print_blows(options, std::max(1, options.drops / 16));
  print_momentum(options, std::max(1, options.drops / 10));
  print_cradles(options);
  print_heights(options);
  print_cost();
}

}  // namespace abut::tables
