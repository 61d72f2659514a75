#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rollout/rollout.h"
#include "dynamics/step/make_contact_solver.h"
#include "dynamics/step/step_memory.h"
#include "engine/body_io.h"
#include "tests/benchmarks/dynamics_tables/tables.h"
#include "tests/support/scenes.h"

namespace abut::tables {
namespace {

using namespace abut::test;

/// A bowl of a floor and eight walls that lean out by 35 degrees: 20 cm wide at its floor, 49 cm at its rim,
/// 25 cm deep.
Body bowl() {
  constexpr double k_floor_radius = 0.1, k_half_wall = 0.15, k_half_thickness = 0.02;
  constexpr double k_lean = 35.0 * std::numbers::pi / 180.0;
  BodyDescription description;
  description.name = "bowl";
  description.fixed = true;
  const auto add_slab = [&](const Vec3<double>& half, const Pose<double>& X) {
    Primitive p;
    p.kind = PrimitiveKind::rounded_box;
    p.parameters = {half.x(), half.y(), half.z(), 0.002};
    p.X_BP = X;
    description.shape.primitives.push_back(p);
  };
  add_slab({0.14, 0.14, k_half_thickness}, pose_at({0.0, 0.0, -k_half_thickness}));
  for (int i = 0; i < 8; ++i) {
    const double at = 0.25 * std::numbers::pi * i;
    const Vec3<double> out(std::cos(at), std::sin(at), 0.0), along(-std::sin(at), std::cos(at), 0.0);
    const Vec3<double> up = std::sin(k_lean) * out + std::cos(k_lean) * Vec3<double>::UnitZ();
    Mat3<double> axes;
    axes << along, up.cross(along), up;
    const Vec3<double> inward =
        along.cross(up).dot(out) < 0.0 ? Vec3<double>(along.cross(up)) : Vec3<double>(up.cross(along));
    add_slab({0.14, k_half_thickness, k_half_wall},
             {Eigen::Quaterniond(axes), k_floor_radius * out + k_half_wall * up - k_half_thickness * inward});
  }
  description.contact_points = Points(3, 0);
  Body body = make_body(description);
  body.oscillation.amplitude = {0.03, 0.0, 0.0};
  body.oscillation.rotation_amplitude = {0.0, 0.1, 0.0};
  body.oscillation.frequency = 2.0;
  return body;
}

/// |signed distance| [m] of every contact that carries more than a thousandth of the lighter body's weight,
/// in every step.
struct Distances {
  std::vector<double> values;
  StepStatus status = StepStatus::ok;
};

Distances shake(const TestScene& scene, const StepConfig& config, int steps) {
  const Stepper stepper(scene.model, config);
  const auto solver = make_contact_solver(config, stepper.acceleration_scale());
  const auto memory = solver->make_memory();
  StepScratch scratch;
  State state = scene.state, next;
  std::vector<Vec3<double>> impulses;
  Distances found;
  const double weight = 9.81 * std::min(scene.model.bodies[1].mass, scene.model.bodies[2].mass);
  for (int k = 0; k < steps && found.status == StepStatus::ok; ++k) {
    found.status = stepper.step(state, {}, next, scratch).status;
    const SolvedSubstep& solved = scratch.memory().solved;
    const ContactProblem problem{solved.mass, solved.rows, solved.free.v_start, solved.free.v_free, config.h};
    solver->impulses(problem, solved.solution, *memory, impulses);
    for (std::size_t i = 0; i < impulses.size(); ++i) {
      if (impulses[i].norm() < 1e-3 * weight * config.h) continue;
      found.values.push_back(std::abs(solved.rows.rows[i].distance));
    }
    std::swap(state, next);
  }
  return found;
}

/// Mean, mean of the largest tenth, and maximum.
Vec3<double> statistics(std::vector<double> values) {
  if (values.empty()) return Vec3<double>::Zero();
  std::sort(values.begin(), values.end(), std::greater<>());
  const std::size_t tenth = std::max<std::size_t>(1, values.size() / 10);
  double sum = 0.0, top = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    if (i < tenth) top += values[i];
  }
  return {sum / static_cast<double>(values.size()), top / static_cast<double>(tenth), values[0]};
}

std::vector<std::string> cells_of(const std::vector<double>& values) {
  const Vec3<double> s = statistics(values);
  return {fmt::format("{:.5f}", s[0]), fmt::format("{:.5f}", s[1]), fmt::format("{:.5f}", s[2])};
}

}  // namespace

void print_penetration(const Options& options) {
  StepConfig config;
  config.h = 2.5e-3;
  const int steps = static_cast<int>(std::lround(options.seconds / config.h));
  fmt::print("\nTwo bodies fall into a shaken bowl, {} steps of {} ms. |Signed distance| [m].\n\n", steps,
             1e3 * config.h);
  print_header({"bodies", "contacts with force", "mean", "of the largest 10 %", "largest", "ms a step"});
  const std::vector<std::string> names{"armadillo", "power_drill", "spot", "mustard_bottle"};
  std::vector<double> all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = i + 1; j < names.size(); ++j) {
      TestScene scene;
      scene.add(bowl());
      double z = 0.25;
      for (const std::size_t b : {i, j}) {
        Body body = read_body(ABUT_SOURCE_DIR "/assets/bodies/" + names[b]);
        scene.add(std::move(body), pose_at({0.01, 0.005, z}, {1.2, 0.3 * static_cast<double>(b), 0.4}));
        z += 0.3;
      }
      const double start = processor_time();
      const Distances found = shake(scene, config, steps);
      std::vector<std::string> row{names[i] + ", " + names[j], fmt::format("{}", found.values.size())};
      for (std::string& cell : cells_of(found.values)) row.push_back(std::move(cell));
      row.push_back(found.status == StepStatus::ok
                        ? fmt::format("{:.2f}", 1e3 * (processor_time() - start) / steps)
                        : std::string(to_string(found.status)));
      print_row(row);
      all.insert(all.end(), found.values.begin(), found.values.end());
    }
  }
  std::vector<std::string> row{"all", fmt::format("{}", all.size())};
  for (std::string& cell : cells_of(all)) row.push_back(std::move(cell));
  row.emplace_back();
  print_row(row);
}

}  // namespace abut::tables
