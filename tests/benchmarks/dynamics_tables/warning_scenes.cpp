#include "tests/benchmarks/dynamics_tables/warning_scenes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "tests/support/jointed_scenes.h"
#include "tests/support/random_drops.h"
#include "tests/truth/situations/run.h"

namespace abut::tables {
namespace {

using namespace abut::test;

constexpr std::array k_laws{ContactLaw::penalty, ContactLaw::convex_cone, ContactLaw::impedance,
                            ContactLaw::lcp, ContactLaw::relaxed_complementarity};
constexpr std::array k_steps{1e-3, 2e-3, 5e-3};  // [s]

Vec3<double> across(Random& random, double most) {
  return {random.uniform(-most, most), random.uniform(-most, most), 0.0};
}

void set_materials(TestScene& scene, double friction, double restitution) {
  scene.set_friction(friction);
  for (Body& body : scene.model.bodies) body.material.restitution = restitution;
}

/// Cubes on each other, exactly aligned in half of the scenes; the last one or the lowest one is pushed.
void make_stack(Random& random, WarningScene& made) {
  const int count = 2 + static_cast<int>(random.integer(5));
  made.scene = stack_scene(count, 0.1, random.uniform(0.2, 2.0), random.uniform(0.2, 0.9));
  const double aside = random.uniform() < 0.5 ? 0.0 : 0.01;
  for (int b = 1; b <= count; ++b) made.scene.X_WB(b).p += across(random, aside);
  made.body = random.uniform() < 0.5 ? count : 1;
  made.scene.V_WB(made.body).tail<3>() = across(random, random.uniform(0.0, 1.5));
}

/// Cubes side by side on a floor, or a little apart; the first one comes along the row.
void make_row(Random& random, WarningScene& made) {
  const int count = 2 + static_cast<int>(random.integer(4));
  made.scene = floor_scene();
  const double gap = random.uniform() < 0.3 ? 0.0 : random.uniform(1e-3, 0.05), half = 0.05;
  for (int i = 0; i < count; ++i)
    made.scene.add(box_of_mass(Vec3<double>::Constant(half), random.uniform(0.2, 2.0), 1),
                   pose_at({(2.0 * half + gap) * i, 0.0, half}));
  set_materials(made.scene, random.uniform(0.0, 0.8),
                random.uniform() < 0.5 ? 0.0 : random.uniform(0.2, 1.0));
  made.scene.V_WB(1)[3] = random.uniform(0.3, 2.0);
  made.body = random.uniform() < 0.5 ? 1 : count;
}

/// A box that slides down a slope or along a floor.
void make_slide(Random& random, WarningScene& made) {
  const Vec3<double> half(random.uniform(0.03, 0.1), random.uniform(0.03, 0.1), random.uniform(0.02, 0.06));
  made.scene =
      box_on_floor(box_of_mass(half, random.uniform(0.2, 2.0), 2), half, random.uniform(0.05, 0.8),
                   random.uniform() < 0.5 ? 0.0 : random.uniform(0.0, 0.6), random.uniform(0.2, 2.0));
  made.body = 1;
}

/// A ball or a capsule that rolls or slips on a slope.
void make_roll(Random& random, WarningScene& made) {
  const double angle = random.uniform(0.0, 0.4), radius = random.uniform(0.03, 0.1);
  made.scene = floor_scene(0.5, angle);
  Body body = random.uniform() < 0.5 ? sphere_of_mass(radius, 1.0) : make_capsule(radius, radius, 1000.0);
  const Eigen::Quaterniond lying(Eigen::AngleAxisd(0.5 * std::numbers::pi, Vec3<double>::UnitX()));
  made.body = made.scene.add(
      std::move(body), {lying, radius * Vec3<double>(std::sin(angle), 0.0, std::cos(angle))},
      stack<double>(random_vector(random, random.uniform(0.0, 10.0)), Vec3<double>(across(random, 1.0))));
  made.scene.set_friction(random.uniform(0.05, 0.9));
}

/// A body that falls on the floor, or on others at rest.
void make_drop(Random& random, WarningScene& made) {
  made.scene = random_drop(random);
  made.body = made.scene.model.body_count() - 1;
  set_mass(made.scene.body(made.body), random.uniform(0.3, 3.0));
  if (random.uniform() < 0.5) set_materials(made.scene, random.uniform(0.0, 1.0), 0.0);
}

/// A box, capsule or ball thrown across a floor.
void make_toss(Random& random, WarningScene& made) {
  made.scene = floor_scene();
  Body body = random_solid(random, random.uniform(0.2, 2.0)).first;
  made.body =
      made.scene.add(std::move(body), {random.quaternion(), Vec3<double>(0.0, 0.0, random.uniform(0.1, 0.6))},
                     stack<double>(random_vector(random, random.uniform(0.0, 10.0)),
                                   Vec3<double>(random.uniform(0.5, 3.0), 0.0, random.uniform(-1.0, 2.0))));
  set_materials(made.scene, random.uniform(0.0, 1.0),
                random.uniform() < 0.5 ? 0.0 : random.uniform(0.1, 0.9));
}

void make_joints(Random& random, WarningScene& made) {
  made.scene = random_contact_scene(random, {.min_bodies = 2, .max_bodies = 5});
  add_joints(made.scene, random);
  made.body = made.scene.model.body_count() - 1;
}

/// Links in a row that hang from the world, from a horizontal start; the floor is within reach in half of the scenes.
void make_chain(Random& random, WarningScene& made) {
  const int count = 1 + static_cast<int>(random.integer(5));
  const double half = 0.05, length = 2.0 * (half + 0.01);
  made.scene = floor_scene(0.5);
  const double height = random.uniform() < 0.5 ? 0.3 : length * count + 0.3;
  const bool are_hinges = random.uniform() < 0.5;
  for (int i = 0; i < count; ++i) {
    const int b = made.scene.add(box_of_mass({half, 0.02, 0.02}, random.uniform(0.1, 0.5), 1),
                                 pose_at({length * (i + 0.5), 0.0, height}));
    Joint joint;
    joint.name = fmt::format("joint {}", b);
    joint.kind = are_hinges ? JointKind::hinge : JointKind::ball;
    joint.body_A = i == 0 ? -1 : b - 1;
    joint.body_B = b;
    const Eigen::Quaterniond about_y(Eigen::AngleAxisd(-0.5 * std::numbers::pi, Vec3<double>::UnitX()));
    joint.X_AJ = {about_y, i == 0 ? Vec3<double>(0.0, 0.0, height) : Vec3<double>(0.5 * length, 0.0, 0.0)};
    joint.X_BJ = {about_y, Vec3<double>(-0.5 * length, 0.0, 0.0)};
    made.scene.model.joints.push_back(joint);
  }
  made.body = count;
  if (!are_hinges) made.scene.V_WB(made.body)[4] = random.uniform(-1.0, 1.0);
}

void make_pile(Random& random, WarningScene& made) {
  made.scene =
      random_contact_scene(random, {.min_bodies = 3, .max_bodies = 6, .speed = random.uniform(0.0, 1.0)});
  made.body =
      1 + static_cast<int>(random.integer(static_cast<std::uint64_t>(made.scene.model.body_count() - 1)));
}

const std::vector<truth::Case>& situation_cases() {
  static const std::vector<truth::Case> all = [] {
    std::vector<truth::Case> cases = truth::cases();
    std::erase_if(cases, [](const truth::Case& at) { return at.column->is_slow; });
    return cases;
  }();
  return all;
}

/// A situation of the truth suite, at one of its sizes and in one of its columns: law, detector and step.
void make_situation(Random& random, WarningScene& made) {
  const std::vector<truth::Case>& all = situation_cases();
  const truth::Case& at = all[random.integer(all.size())];
  truth::Setup setup = at.situation->build(at.kind, at.scale);
  made.family = at.situation->name.substr(0, at.situation->name.find(':'));
  made.scene = std::move(setup.scene);
  made.config = at.column->config;
  made.config.h = at.scale.h;
  made.steps = std::max(1, static_cast<int>(std::lround(setup.seconds / at.scale.h)));
  for (int b = 0; b < made.scene.model.body_count(); ++b) {
    if (!made.scene.body(b).fixed) made.body = b;
  }
}

constexpr std::array<std::pair<const char*, void (*)(Random&, WarningScene&)>, 12> k_families{
    {{"stack", make_stack},
     {"situation", make_situation},
     {"row", make_row},
     {"slide", make_slide},
     {"roll", make_roll},
     {"situation", make_situation},
     {"drop", make_drop},
     {"toss", make_toss},
     {"joints", make_joints},
     {"situation", make_situation},
     {"chain", make_chain},
     {"pile", make_pile}}};

}  // namespace

WarningScene warning_scene(int index, std::uint64_t seed) {
  Random random(seed + 1000003 * static_cast<std::uint64_t>(index));
  const auto& [family, make] = k_families[static_cast<std::size_t>(index) % k_families.size()];
  WarningScene made;
  made.family = family;
  make(random, made);
  if (made.steps > 0) return made;
  if (random.uniform() < 0.4) made.config.law = k_laws[random.integer(k_laws.size())];
  made.config.h = k_steps[random.integer(k_steps.size())];
  made.steps = static_cast<int>(random.uniform(0.2, 1.0) / made.config.h);
  made.scene = without_ignored(std::move(made.scene), made.config.law);
  return made;
}

}  // namespace abut::tables
