#include "engine/scene_io.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/atomic_file.h"
#include "engine/body_builder.h"
#include "engine/body_io.h"
#include "engine/config_fields.h"
#include "engine/lie.h"
#include "engine/mesh_io.h"
#include "engine/mesh_shapes.h"
#include "engine/random.h"
#include "tests/support/close.h"
#include "tests/support/malformed.h"
#include "tests/support/mesh_files.h"
#include "tests/support/temporary_folder.h"

using namespace abut;

namespace {

/// Every key of the format but those of other laws, none at its default but the law.
const std::string k_full_scene = R"(name = "everything"

[simulation]
time_step = 0.004
steps = 321
law = "smooth_coulomb"
gravity = [0.1, 0.2, -3]
near_rigid_factor = 0.2
dissipation_steps = 11
stiction_factor = 0.02
normal_smoothing_factor = 0.03
acceleration_scale = 4.5
push_out_factor = 40
impact_speed = 0.07
passive_impacts = false
adaptive_substeps = true
penetration_growth = 0.002
tolerance = 1e-9
max_iterations = 77
start_time = -1.5
speed_limit = 70
penetration_limit = 0.4

[simulation.contact]
detector = "frank_wolfe"
vertex_contacts = "first"
edge_edge = false
edge_sdf = true
flush_faces = false
activity_smoothing = 3e-3
edge_smoothing = 0.02
cone_smoothing = 0.3
parallel_sine = 0.07
selection_band = 0.03
metric_range = 0.05
normal_fade = 0.09
chord_pull = 2
witness_derivative = "first_gumbel"
witness_epsilon = 2e-4
witness_samples = 30
witness_seed = 7
qp_padding = 0.11
qp_relaxation = 1e-7
search_iterations = 20
cluster_angle = 0.021
reduction = "cluster"
blend_length = 0.04
cluster_radius = 0.15
cluster_points = 3

[[body]]
name = "floor"
friction = 0.7
rotation_vector = [0.1, 0, 0]
[[body.primitive]]
kind = "half_space"

[[body]]
name = "brick"
asset = "../bodies/brick"
position = [1, 2, 3]
orientation = [0.5, 0.5, 0.5, 0.5]
linear_velocity = [4, 5, 6]
angular_velocity = [7, 8, 9]
mass = 5
friction = 0.25
stiffness = 1e6
dissipation_time = 0.01
restitution = 0.6
selected_vertices = 6
selected_edges = 9
linear_damping = 0.1
angular_damping = 0.2
force = [1, 0, 2]
torque = [3, 0, 4]

[[body]]
name = "second brick"
asset = "../bodies/brick/body.toml"
density = 100
fixed = true

[[body]]
name = "ball"
mass = 2
stiffness = 1e4
[[body.primitive]]
kind = "sphere"
radius = 0.5
position = [0, 0, 1]

[[pair]]
bodies = ["ball", "floor"]
friction = 0.9
stiffness = inf
dissipation_time = 0
restitution = 0.7
[pair.contact]
detector = "gjk"
vertex_contacts = "none"
edge_edge = true
edge_sdf = false
flush_faces = true
activity_smoothing = 1e-3
edge_smoothing = 0.035
cone_smoothing = 0.4
parallel_sine = 0.08
selection_band = 0.04
metric_range = 0.06
normal_fade = 0.1
chord_pull = 3
witness_derivative = "zeroth_gaussian"
witness_epsilon = 3e-4
witness_samples = 40
witness_seed = 8
qp_padding = 0.12
qp_relaxation = 2e-7
search_iterations = 25
cluster_angle = 0.022
reduction = "blend"
blend_length = 0.05
cluster_radius = 0.16
cluster_points = 5

[[pair]]
bodies = ["brick", "second brick"]
collide = false
)";

/// The settings of other laws, none at its default.
const std::string k_penalty = "law = \"penalty\"\npenalty_stiffness = 2e4\npenalty_stiction_factor = 6\n",
                  k_convex_cone = "law = \"convex_cone\"\ntangential_factor = 2e-3\n",
                  k_impedance =
                      "law = \"impedance\"\nsolref = [0.03, 0.9]\nsolimp = [0.8, 0.9, 0.002, 0.4, 3]\n"
                      "impratio = 5\n",
                  k_lcp = "law = \"lcp\"\ncomplementarity_factor = 2e-4\n";

/// A folder with scenes/, and bodies/brick: a box of 2 x 4 x 6 m whose asset frame is off its centre by (1,
/// 0, 0).
struct SceneFolder {
  SceneFolder() {
    TriangleMesh mesh = box_mesh({1, 2, 3}, 1);
    mesh.vertices.row(0).array() += 1.0;
    folder.write("bodies/brick/mesh.obj", test::obj_text(mesh));
    folder.write(
        "bodies/brick/body.toml",
        "density = 1000\nmesh = \"mesh.obj\"\n[material]\nfriction = 0.4\n[[primitive]]\n"
        "kind = \"superquadric\"\nsemi_axes = [1, 2, 3]\nexponents = [0.1, 0.1]\nposition = [1, 0, 0]\n");
  }
  Scene read(const std::string& text) const { return read_scene(folder.write("scenes/scene.toml", text)); }

  test::TemporaryFolder folder;
};

}  // namespace

TEST_CASE("scene_io: every key arrives where it belongs", "[engine][value]") {
  const SceneFolder folder;
  const Scene scene = folder.read(k_full_scene);
  CHECK(scene.name == "everything");
  CHECK(scene.config.steps == 321);
  const StepConfig& step = scene.config.step;
  CHECK(step.h == 0.004);
  CHECK(step.law == ContactLaw::smooth_coulomb);
  CHECK(step.near_rigid_factor == 0.2);
  CHECK(step.dissipation_steps == 11.0);
  CHECK(step.stiction_factor == 0.02);
  CHECK(step.normal_smoothing_factor == 0.03);
  CHECK(step.acceleration_scale == 4.5);
  CHECK(step.push_out_factor == 40.0);
  CHECK(step.impact_speed == 0.07);
  CHECK(!step.passive_impacts);
  CHECK(step.adaptive_substeps);
  CHECK(step.penetration_growth == 0.002);
  CHECK(step.tolerance == 1e-9);
  CHECK(step.max_iterations == 77);
  CHECK(scene.initial.time == -1.5);
  CHECK(step.speed_limit == 70.0);
  CHECK(step.penetration_limit == 0.4);
  const std::string all = k_full_scene + k_penalty + k_convex_cone + k_impedance + k_lcp;
  for (const StepConfigField& field : step_config_fields()) {
    CHECK(all.find("\n" + std::string(field.key) + " = ") != std::string::npos);
  }
  CHECK(step.contact.vertex_contacts == VertexContacts::first);
  CHECK_FALSE(step.contact.edge_edge);
  CHECK(step.contact.edge_sdf);
  CHECK(step.contact.activity_smoothing == 3e-3);
  CHECK(step.contact.parallel_sine == 0.07);
  CHECK(step.contact.chord_pull == 2.0);
  CHECK(step.contact.reduction == Reduction::cluster);
  CHECK(step.contact.cluster_points == 3);

  const Model& model = scene.model;
  CHECK(model.gravity == Vec3<double>(0.1, 0.2, -3));
  REQUIRE(model.body_count() == 4);
  const Body &floor = model.bodies[0], &brick = model.bodies[1], &second = model.bodies[2],
             &ball = model.bodies[3];
  CHECK(floor.name == "floor");
  CHECK(floor.fixed);
  CHECK(floor.material.friction == 0.7);
  CHECK(brick.mass == 5.0);
  CHECK(test::close(brick.inertia(0, 0), 5.0 / 3.0 * (4 + 9), 1e-12, 0));
  CHECK(brick.material.friction == 0.25);
  CHECK(brick.material.stiffness == 1e6);
  CHECK(brick.material.dissipation_time == 0.01);
  CHECK(brick.material.restitution == 0.6);
  CHECK(brick.selected_vertices == 6);
  CHECK(brick.selected_edges == 9);
  CHECK(second.selected_vertices == 0);
  CHECK(second.selected_edges == 0);
  CHECK(brick.linear_damping == 0.1);
  CHECK(brick.angular_damping == 0.2);
  Vec6<double> wrench;
  wrench << 3, 0, 4, 1, 0, 2;
  CHECK(brick.external_wrench == wrench);
  CHECK_FALSE(brick.fixed);
  CHECK(second.name == "second brick");
  CHECK(second.fixed);
  CHECK(test::close(second.mass, 100.0 * 48.0, 1e-13, 0));
  CHECK(second.material.friction == 0.4);
  CHECK(std::isinf(second.material.stiffness));
  CHECK(ball.mass == 2.0);
  CHECK(ball.material.stiffness == 1e4);
  CHECK(ball.contact_radius == 0.5);

  // The file gives the pose of the asset's frame A; the state that of B, at the centre of mass.
  const State& state = scene.initial;
  REQUIRE(state.X_WB.size() == 4);
  REQUIRE(state.V_WB.size() == 4);
  CHECK(state.time == -1.5);
  CHECK(
      test::close(state.X_WB[0].q.coeffs(), exp_quaternion(Vec3<double>(0.1, 0, 0)).coeffs(), 1e-15, 1e-16));
  CHECK(test::close(brick.p_BA, Vec3<double>(-1, 0, 0), 1e-14, 1e-15));
  CHECK(test::close(state.X_WB[1].p, Vec3<double>(1, 3, 3), 1e-14,
                    0));  // x -> y under the rotation about (1, 1, 1)
  CHECK(test::close((state.X_WB[1] * brick.p_BA).eval(), Vec3<double>(1, 2, 3), 1e-14, 0));
  Vec6<double> twist;
  twist << 7, 8, 9, 4, 5, 6;
  CHECK(state.V_WB[1] == twist);
  CHECK(state.V_WB[2].norm() == 0.0);
  CHECK(test::close(state.X_WB[3].p, Vec3<double>(0, 0, 1), 1e-15, 0));

  REQUIRE(model.pair_overrides.size() == 2);
  const PairOverride &pair = model.pair_overrides[0], &none = model.pair_overrides[1];
  CHECK(pair.body_A == 0);
  CHECK(pair.body_B == 3);
  CHECK(pair.friction == 0.9);
  CHECK(std::isinf(pair.stiffness));
  CHECK(pair.dissipation_time == 0.0);
  CHECK(pair.restitution == 0.7);
  CHECK(pair.collide);
  CHECK(none.body_A == 1);
  CHECK(none.body_B == 2);
  CHECK(std::isnan(none.friction));
  CHECK(std::isnan(none.stiffness));
  CHECK(std::isnan(none.dissipation_time));
  CHECK(std::isnan(none.restitution));
  CHECK_FALSE(none.collide);
  CHECK(pair.contact.vertex_contacts == VertexContacts::none);
  CHECK(pair.contact.edge_edge == true);
  CHECK(pair.contact.reduction == Reduction::blend);
  CHECK(pair.contact.cluster_points == 5);
  CHECK_FALSE(none.contact.edge_edge.has_value());

  // Every setting arrives at its own place: all differ from the defaults, the pair's from the scene's, and
  // all numbers from each other.
  const ContactConfig defaults, of_pair = contact_config_of(model, step.contact, 3, 0),
                                of_none = contact_config_of(model, step.contact, 1, 2),
                                of_others = contact_config_of(model, step.contact, 0, 1);
  std::vector<double> numbers;
  for (const ContactField& field : contact_fields()) {
    std::visit(
        [&](const auto& f) {
          CAPTURE(f.key);
          CHECK(step.contact.*f.value != defaults.*f.value);
          REQUIRE((pair.contact.*f.override_value).has_value());
          CHECK(of_pair.*f.value == *(pair.contact.*f.override_value));
          CHECK(of_pair.*f.value != step.contact.*f.value);
          CHECK(of_none.*f.value == step.contact.*f.value);
          CHECK(of_others.*f.value == step.contact.*f.value);
          CHECK(k_full_scene.find("\n" + std::string(f.key) + " = ") != std::string::npos);
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(f)>, ContactNumber>) {
            numbers.push_back(step.contact.*f.value);
          }
        },
        field);
  }
  std::sort(numbers.begin(), numbers.end());
  CHECK(std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end());
}

TEST_CASE("scene_io: a pair overrides only the contact settings that it names", "[engine][value]") {
  const SceneFolder folder;
  const Scene scene = folder.read(
      "[simulation.contact]\nchord_pull = 0.5\n[[body]]\nname = \"a\"\nasset = \"../bodies/brick\"\n"
      "[[body]]\nname = \"b\"\nasset = \"../bodies/brick\"\n"
      "[[pair]]\nbodies = [\"b\", \"a\"]\n[pair.contact]\nedge_sdf = true\n");
  const ContactConfig config = contact_config_of(scene.model, scene.config.step.contact, 0, 1);
  CHECK(config.edge_sdf);
  CHECK(config.chord_pull == 0.5);
  CHECK(config.activity_smoothing == ContactConfig().activity_smoothing);
}

TEST_CASE("scene_io: what is left out has the documented default", "[engine][value]") {
  const SceneFolder folder;
  const Scene scene = folder.read("[[body]]\nname = \"brick\"\nasset = \"../bodies/brick\"\n");
  CHECK(scene.name == "scene");
  const StepConfig defaults;
  for (const StepConfigField& field : step_config_fields()) {
    StepConfig a = scene.config.step, b = defaults;
    if (const auto* number = std::get_if<double& (*)(StepConfig&)>(&field.get)) {
      CHECK((*number)(a) == (*number)(b));
    } else if (const auto* flag = std::get_if<bool& (*)(StepConfig&)>(&field.get)) {
      CHECK((*flag)(a) == (*flag)(b));
    } else {
      const auto get = std::get<int& (*)(StepConfig&)>(field.get);
      CHECK(get(a) == get(b));
    }
  }
  for (const ContactField& field : contact_fields()) {
    std::visit([&](const auto& f) { CHECK(scene.config.step.contact.*f.value == defaults.contact.*f.value); },
               field);
  }
  CHECK(scene.config.step.impedance.solref == defaults.impedance.solref);
  CHECK(scene.config.step.impedance.solimp == defaults.impedance.solimp);
  CHECK(scene.config.steps == RunConfig().steps);
  CHECK(scene.model.gravity == Vec3<double>(0, 0, -9.81));
  CHECK(test::close(scene.initial.X_WB[0].p, Vec3<double>(1, 0, 0), 1e-14, 1e-15));
  CHECK(scene.model.bodies[0].external_wrench.norm() == 0.0);
}

TEST_CASE("scene_io: the documentation names every setting, and its examples are valid", "[engine][value]") {
  const std::string text = read_file(std::filesystem::path(ABUT_SOURCE_DIR) / "docs" / "scene_format.md");
  for (const StepConfigField& field : step_config_fields()) {
    CAPTURE(field.key);
    CHECK(text.find("| `" + std::string(field.key) + "` |") != std::string::npos);
  }
  for (const char* name : {"| `solref` |", "| `solimp` |", "`\"convex_cone\"`", "`\"impedance\"`"}) {
    CAPTURE(name);
    CHECK(text.find(name) != std::string::npos);
  }
  for (const ContactField& field : contact_fields()) {
    const std::string_view key = std::visit([](const auto& f) { return f.key; }, field);
    CAPTURE(key);
    CHECK(text.find("| `" + std::string(key) + "` |") != std::string::npos);
  }
  std::vector<std::string> examples;
  for (std::size_t end = 0, at = 0; (at = text.find("```toml\n", end)) != std::string::npos;) {
    end = text.find("```\n", at + 8);
    const std::string example = text.substr(at + 8, end - at - 8);
    if (example.rfind("scene = ", 0) != 0) examples.push_back(example);  // a batch: BatchTable's to read
  }
  REQUIRE(examples.size() == 2);
  const SceneFolder folder;
  write_body(folder.folder.path() / "bodies" / "box", make_box({0.1, 0.1, 0.1}, 0.01, 1000.0));
  const Scene scene = folder.read(examples[0]);
  CHECK(scene.name == "a ball and a brick on a floor");
  CHECK(scene.model.body_count() == 3);
  folder.folder.write("bodies/bottle/body.toml", examples[1]);
  write_obj(folder.folder.path() / "bodies" / "bottle" / "mesh.obj", sphere_mesh(0.1));
  CHECK(read_body(folder.folder.path() / "bodies" / "bottle").name == "mustard bottle");
}

TEST_CASE("scene_io: the settings of every law arrive where they belong", "[engine][value]") {
  const SceneFolder folder;
  const auto read = [&](const std::string& settings) {
    return folder.read("[simulation]\n" + settings + "[[body]]\nname = \"b\"\nasset = \"../bodies/brick\"\n")
        .config.step;
  };
  const StepConfig penalty = read(k_penalty), cone = read(k_convex_cone), impedance = read(k_impedance),
                   lcp = read(k_lcp);
  CHECK(penalty.law == ContactLaw::penalty);
  CHECK(penalty.penalty_stiffness == 2e4);
  CHECK(penalty.penalty_stiction_factor == 6.0);
  CHECK(cone.law == ContactLaw::convex_cone);
  CHECK(cone.tangential_factor == 2e-3);
  CHECK(impedance.law == ContactLaw::impedance);
  CHECK(impedance.impedance.solref == std::array{0.03, 0.9});
  CHECK(impedance.impedance.solimp == std::array{0.8, 0.9, 0.002, 0.4, 3.0});
  CHECK(impedance.impedance.impratio == 5.0);
  CHECK(lcp.law == ContactLaw::lcp);
  CHECK(lcp.complementarity_factor == 2e-4);
}

TEST_CASE("scene_io: overlap may be split off, with the law that knows how", "[engine][value]") {
  const SceneFolder folder;
  const std::string body = "[[body]]\nname = \"b\"\nasset = \"../bodies/brick\"\n";
  CHECK(folder.read("[simulation]\npush_out = \"split\"\n" + body).config.step.push_out == PushOut::split);
  CHECK_THROWS_WITH(folder.read("[simulation]\npush_out = \"split\"\nlaw = \"penalty\"\n" + body),
                    Catch::Contains("push_out"));
}

TEST_CASE("scene_io: a quaternion of nearly unit length is normalised", "[engine][value]") {
  const SceneFolder folder;
  const Scene scene = folder.read(
      "[[body]]\nname = \"b\"\nasset = \"../bodies/brick\"\norientation = [0.7071, 0.7071, 0, 0]\n");
  CHECK(test::close(scene.initial.X_WB[0].q.norm(), 1.0, 1e-15, 0));
}

TEST_CASE("scene_io: a fixed body needs neither mass nor, given contact points, a mesh", "[engine][value]") {
  const SceneFolder folder;
  const Scene scene = folder.read(
      "[[body]]\nname = \"channel\"\nfixed = true\n[body.contact]\npoints = []\n"
      "[[body.primitive]]\nkind = \"rounded_box\"\nhalf_extents = [1, 1, 1]\n"
      "[[body.primitive]]\nkind = \"rounded_box\"\nhalf_extents = [1, 0.5, 0.5]\noperation = \"subtract\"\n"
      "position = [0, 0, 1]\n");
  const Body& body = scene.model.bodies[0];
  CHECK(body.fixed);
  CHECK(body.contact_points.cols() == 0);
  CHECK(body.size == 2.0);
  CHECK(body.mass > 0.0);
}

TEST_CASE("scene_io: a malformed scene is rejected with file, line, key and cause", "[engine][value]") {
  const SceneFolder folder;
  folder.folder.write("bodies/broken/body.toml",
                      "densty = 1\n[[primitive]]\nkind = \"sphere\"\nradius = 1\n");
  folder.folder.write("bodies/open/mesh.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\n");
  folder.folder.write("bodies/open/body.toml",
                      "mass = 1\nmesh = \"mesh.obj\"\n[[primitive]]\nkind = \"superquadric\"\n"
                      "semi_axes = [1, 1, 1]\nexponents = [1, 1]\n");
  folder.folder.write("bodies/meshless/body.toml",
                      "mass = 1\nmesh = \"mesh.obj\"\n[[primitive]]\nkind = \"superquadric\"\n"
                      "semi_axes = [1, 1, 1]\nexponents = [1, 1]\n");
  folder.folder.write("bodies/ground/body.toml", "[[primitive]]\nkind = \"half_space\"\n");
  const std::string ball =
      "[[body]]\nname = \"ball\"\nmass = 1\nprimitive = [{kind = \"sphere\", radius = 1}]\n";
  const std::string brick = "[[body]]\nname = \"brick\"\nasset = \"../bodies/brick\"\n";
  const std::string floor = "[[body]]\nname = \"floor\"\nprimitive = [{kind = \"half_space\"}]\n";

  struct Case {
    std::string text;
    std::vector<std::string> parts;
  };
  const std::vector<Case> cases{
      {"", {"scene.toml", "no [[body]]"}},
      {"name = 1\n" + ball, {"scene.toml:1: name = 1, allowed: a string"}},
      {"\x01\x02\xff", {"scene.toml:1: not valid TOML"}},
      {std::string(100, '\0'), {"scene.toml:1: not valid TOML"}},
      {"[[body]\n" + ball, {"scene.toml:1: not valid TOML"}},
      {"[simulation\ntime_step = 1\n", {"scene.toml:1: not valid TOML"}},
      {"[simulation]\n[simulation]\n" + ball, {"scene.toml:2: not valid TOML"}},
      {"[[bodies]]\nname = \"a\"\n",
       {"scene.toml:1: unknown key 'bodies', allowed: name, simulation, body, pair"}},
      {"[simulations]\n" + ball, {"scene.toml:1: unknown key 'simulations'", "did you mean 'simulation'?"}},
      {"simulation = 3\n" + ball, {"scene.toml:1: simulation = 3, allowed: a table, [simulation]"}},
      {"[body]\nname = \"ball\"\n", {"scene.toml:1: body = a table, allowed: tables, [[body]]"}},
      {"[simulation]\ntimestep = 0.1\n" + ball,
       {"scene.toml:2: unknown key 'timestep' in simulation", "did you mean 'time_step'?"}},
      {"[simulation]\nh = 0.1\n" + ball,
       {"scene.toml:2: unknown key 'h' in simulation, allowed: steps, gravity, law, push_out, start_time, "
        "time_step"}},
      {"[simulation]\ntime_step = 0\n" + ball, {"scene.toml:2: simulation.time_step = 0, allowed: > 0"}},
      {"[simulation]\ntime_step = -1e-3\n" + ball,
       {"scene.toml:2: simulation.time_step = -0.001, allowed: > 0"}},
      {"[simulation]\ntime_step = inf\n" + ball,
       {"scene.toml:2: simulation.time_step = inf, allowed: > 0, finite"}},
      {"[simulation]\ntime_step = nan\n" + ball, {"scene.toml:2: simulation.time_step = nan"}},
      {"[simulation]\ntime_step = \"1ms\"\n" + ball,
       {"scene.toml:2: simulation.time_step = \"1ms\", allowed: a number"}},
      {"[simulation]\nsteps = 0\n" + ball,
       {"scene.toml:2: simulation.steps = 0, allowed: a whole number >= 1"}},
      {"[simulation]\nsteps = 1.5\n" + ball,
       {"scene.toml:2: simulation.steps = 1.5, allowed: a whole number"}},
      {"[simulation]\nsteps = 3000000000\n" + ball, {"scene.toml:2: simulation.steps = 3000000000, allowed"}},
      {"[simulation]\nlaw = \"coulomb\"\n" + ball,
       {"scene.toml:2: simulation.law = \"coulomb\", allowed: smooth_coulomb, penalty, convex_cone, "
        "impedance, lcp, relaxed_complementarity"}},
      {"[simulation]\nlaw = \"penality\"\n" + ball, {"did you mean 'penalty'?"}},
      {"[simulation]\nsolref = [0.02]\n" + ball,
       {"scene.toml:2: simulation.solref = an array of 1, allowed: an array of 2"}},
      {"[simulation]\nsolimp = [0, 0.9, -1, 0.5, 2]\n" + ball,
       {"scene.toml:2: simulation.solimp[2] = -1, allowed: >= 0"}},
      {"[simulation]\nsolimp = [0, 0.9, 0.001, 1, 2]\n" + ball,
       {"simulation", "solimp[3] = 1, allowed: in (0, 1)"}},
      {"[simulation]\ngravity = -9.81\n" + ball,
       {"scene.toml:2: simulation.gravity = -9.81, allowed: an array of 3"}},
      {"[simulation]\ngravity = [0, 0]\n" + ball,
       {"scene.toml:2: simulation.gravity = an array of 2, allowed: an array of 3"}},
      {"[simulation]\ngravity = [0, 0, nan]\n" + ball, {"scene.toml:2: simulation.gravity[2] = nan"}},
      {"[simulation]\nmax_iterations = -1\n" + ball, {"scene.toml:2: simulation.max_iterations = -1"}},
      {"[simulation]\ntolerance = 0\n" + ball, {"scene.toml:2: simulation.tolerance = 0"}},
      {"[simulation]\nacceleration_scale = -1\n" + ball,
       {"scene.toml:2: simulation.acceleration_scale = -1, allowed: > 0"}},
      {"[simulation]\nactivity_smoothing = 1e-3\n" + ball,
       {"scene.toml:2: unknown key 'activity_smoothing' in simulation"}},
      {"[simulation.contact]\nactivity_smoothing = 0\n" + ball,
       {"scene.toml:2: simulation.contact.activity_smoothing = 0, allowed: > 0, finite"}},
      {"[simulation.contact]\nparallel_sine = 1\n" + ball,
       {"scene.toml:2: simulation.contact.parallel_sine = 1, allowed: (0, 1)"}},
      {"[simulation.contact]\nparallel_sine = 0\n" + ball,
       {"scene.toml:2: simulation.contact.parallel_sine = 0, allowed: (0, 1)"}},
      {"[simulation.contact]\nedge_edge = 1\n" + ball,
       {"scene.toml:2: simulation.contact.edge_edge = 1, allowed: true or false"}},
      {"[simulation.contact]\nvertex_contacts = \"second\"\n" + ball,
       {"scene.toml:2: simulation.contact.vertex_contacts = \"second\", allowed: both, first, none"}},
      {"[simulation.contact]\nreduction = \"clustr\"\n" + ball, {"did you mean 'cluster'?"}},
      {"[simulation.contact]\ncluster_points = 0\n" + ball,
       {"scene.toml:2: simulation.contact.cluster_points = 0, allowed: a whole number >= 1"}},
      {"[simulation.contact]\nedge_smoothin = 1\n" + ball,
       {"scene.toml:2: unknown key 'edge_smoothin' in simulation.contact", "did you mean 'edge_smoothing'?"}},
      {ball + brick + "[[pair]]\nbodies = [\"ball\", \"brick\"]\n[pair.contact]\nnormal_fade = nan\n",
       {"scene.toml:11: pair[0].contact.normal_fade = nan, allowed: > 0, finite"}},
      {ball + brick + "[[pair]]\nbodies = [\"ball\", \"brick\"]\n[pair.contact]\nblend = true\n",
       {"scene.toml:11: unknown key 'blend' in pair[0].contact"}},
      {brick + "selected_vertices = 9\n",
       {"scene.toml:4: body[0].selected_vertices: 9, allowed: 0 (all) to 8, the number of contact points"}},
      {brick + "selected_vertices = -1\n",
       {"scene.toml:4: body[0].selected_vertices = -1, allowed: a whole number >= 0"}},
      {brick + "selected_edges = 19\n",
       {"scene.toml:4: body[0].selected_edges: 19, allowed: 0 (all) to 18, the number of edges of the mesh"}},
      {brick + "selected_edges = -1\n",
       {"scene.toml:4: body[0].selected_edges = -1, allowed: a whole number >= 0"}},
      {floor + "selected_edges = 1\n", {"scene.toml:4: body[0].selected_edges: 1, but 'floor' has no mesh"}},
      {"[[body]]\nasset = \"../bodies/brick\"\n", {"scene.toml:1: missing key 'name' in body[0]"}},
      {"[[body]]\nname = 3\n", {"scene.toml:2: body[0].name = 3, allowed: a string"}},
      {"[[body]]\nname = \"a\"\n",
       {"scene.toml:1: body[0]: either 'asset' or at least one [[body.primitive]]"}},
      {ball + ball, {"scene.toml:6: body[1].name: 'ball' is the name of two bodies"}},
      {"[[body]]\nname = \"a\"\nasset = \"../bodies/none\"\n",
       {"scene.toml:3: body[0].asset: ", "bodies/none: no such file"}},
      {"[[body]]\nname = \"a\"\nasset = \"..\"\n",
       {"scene.toml:3: body[0].asset: ", "body.toml: no such file"}},
      {"[[body]]\nname = \"a\"\nasset = \"" + std::string(5000, 'x') + "\"\n",
       {"scene.toml:3: body[0].asset: ", "too long"}},
      {"[[body]]\nname = \"a\"\nasset = 5\n", {"scene.toml:3: body[0].asset = 5, allowed: a string"}},
      {"[[body]]\nname = \"a\"\nasset = \"../bodies/broken\"\n",
       {"broken/body.toml:1: ", "did you mean 'density'?"}},
      {"[[body]]\nname = \"a\"\nasset = \"../bodies/open\"\n", {"open/mesh.obj: ", "open at the edge"}},
      {"[[body]]\nname = \"a\"\nasset = \"../bodies/meshless\"\n",
       {"meshless/body.toml:2: mesh: there is no file"}},
      {brick + "primitive = [{kind = \"sphere\", radius = 1}]\n",
       {"scene.toml:3: body[0].asset: only one of"}},
      {brick + "frictoin = 0.5\n",
       {"scene.toml:4: unknown key 'frictoin' in body[0]", "did you mean 'friction'?"}},
      {brick + "velocity = [1, 0, 0]\n",
       {"scene.toml:4: unknown key 'velocity' in body[0], allowed: ", "linear_velocity"}},
      {brick + "friction = -0.5\n", {"scene.toml:4: body[0].friction = -0.5, allowed: >= 0"}},
      {brick + "friction = \"high\"\n", {"scene.toml:4: body[0].friction = \"high\", allowed: a number"}},
      {brick + "stiffness = 0\n", {"scene.toml:4: body[0].stiffness = 0, allowed: > 0, or inf"}},
      {brick + "dissipation_time = -1\n", {"scene.toml:4: body[0].dissipation_time = -1, allowed: >= 0"}},
      {brick + "dissipation_time = inf\n", {"scene.toml:4: body[0].dissipation_time = inf"}},
      {brick + "restitution = 1.5\n", {"scene.toml:4: body[0].restitution = 1.5"}},
      {brick + "mass = 0\n", {"scene.toml:4: body[0].mass = 0, allowed: > 0"}},
      {brick + "mass = 1\ndensity = 1\n", {"scene.toml:5: body[0].density: only one of 'mass', 'density'"}},
      {brick + "position = [0, 0]\n", {"scene.toml:4: body[0].position = an array of 2"}},
      {brick + "position = [0, 0, inf]\n", {"scene.toml:4: body[0].position[2] = inf"}},
      {brick + "orientation = [1, 0, 0]\n",
       {"scene.toml:4: body[0].orientation = an array of 3, allowed: an array of 4"}},
      {brick + "orientation = [0, 0, 0, 0]\n",
       {"scene.toml:4: body[0].orientation = a quaternion of length 0"}},
      {brick + "orientation = [1, 0, 0, 0.1]\n",
       {"scene.toml:4: body[0].orientation = a quaternion of length 1.00"}},
      {brick + "orientation = [nan, 0, 0, 0]\n", {"scene.toml:4: body[0].orientation[0] = nan"}},
      {brick + "orientation = [1, 0, 0, 0]\nrotation_vector = [0, 0, 0]\n",
       {"scene.toml:5: body[0].rotation_vector: only one of"}},
      {brick + "rotation_vector = [1e999, 0, 0]\n", {"scene.toml:4:"}},
      {brick + "rotation_vector = [1e155, 0, 1]\n",
       {"scene.toml:4: body[0].rotation_vector", "at most 1000"}},
      {brick + "linear_velocity = 3\n",
       {"scene.toml:4: body[0].linear_velocity = 3, allowed: an array of 3"}},
      {brick + "fixed = 1\n", {"scene.toml:4: body[0].fixed = 1, allowed: true or false"}},
      {brick + "[body.oscillation]\namplitude = [1, 0, 0]\nfrequency = 1\n",
       {"body[0].oscillation: only a fixed body can oscillate"}},
      {floor + "[body.oscillation]\namplitude = [1, 0, 0]\n", {"missing key 'frequency'"}},
      {floor + "[body.oscillation]\namplitude = [1, 0, 0]\nfrequency = 0\n", {"frequency = 0, allowed: > 0"}},
      {floor + "[body.oscillation]\nfrequency = 1\n", {"'amplitude' or 'rotation_amplitude' is needed"}},
      {brick + "linear_damping = -1\n", {"scene.toml:4: body[0].linear_damping = -1"}},
      {brick + "force = [1, 2, 3, 4]\n", {"scene.toml:4: body[0].force = an array of 4"}},
      {floor + "fixed = false\n",
       {"scene.toml:4: body[0].fixed: false, but a body with a half_space never moves"}},
      {floor + "mass = 1\n", {"scene.toml:4: body[0].mass: a body with a half_space"}},
      {"[[body]]\nname = \"g\"\nasset = \"../bodies/ground\"\ndensity = 1\n",
       {"scene.toml:4: body[0].density: a body with a half_space"}},
      {"[[body]]\nname = \"s\"\nprimitive = [{kind = \"sphere\", radius = 1}]\n",
       {"scene.toml:1: missing key 'density' in body[0]"}},
      {"[[body]]\nname = \"s\"\nmass = 1\n[[body.primitive]]\nkind = \"sphere\"\nradius = 0\n",
       {"scene.toml:6: body[0].primitive[0].radius = 0"}},
      {"[[body]]\nname = \"s\"\nmass = 1\n[[body.primitive]]\nkind = \"superquadric\"\nsemi_axes = [1, 1, "
       "1]\nexponents = [1, 2]\n",
       {"scene.toml:7: body[0].primitive[0].exponents[1] = 2, allowed: [0.02, 1.9]"}},
      {ball + "[body.contact]\nradius = 1\npoint = []\n",
       {"scene.toml:7: unknown key 'point' in body[0].contact", "did you mean 'points'?"}},
      {ball + "[[pair]]\nfriction = 1\n", {"scene.toml:5: missing key 'bodies' in pair[0]"}},
      {ball + "[[pair]]\nbodies = [\"ball\"]\n",
       {"scene.toml:6: pair[0].bodies = an array of 1, allowed: an array of 2 strings"}},
      {ball + "[[pair]]\nbodies = [\"ball\", 2]\n",
       {"scene.toml:6: pair[0].bodies[1] = 2, allowed: a string"}},
      {ball + "[[pair]]\nbodies = [\"ball\", \"bal\"]\n",
       {"scene.toml:6: pair[0].bodies: there is no body 'bal'; did you mean 'ball'?"}},
      {ball + "[[pair]]\nbodies = [\"ball\", \"ball\"]\n",
       {"scene.toml:6: pair[0].bodies: 'ball' cannot be paired with itself"}},
      {ball + brick + "[[pair]]\nbodies = [\"ball\", \"brick\"]\n[[pair]]\nbodies = [\"brick\", \"ball\"]\n",
       {"scene.toml:11: pair[1].bodies: 'brick' and 'ball' have a [[pair]] already"}},
      {ball + brick + "[[pair]]\nbodies = [\"ball\", \"brick\"]\nfriction = -1\n",
       {"scene.toml:10: pair[0].friction = -1"}},
      {ball + brick + "[[pair]]\nbodies = [\"ball\", \"brick\"]\ncolide = false\n",
       {"scene.toml:10: unknown key 'colide' in pair[0]", "did you mean 'collide'?"}},
  };
  for (const Case& c : cases) {
    const std::string message = test::rejection([&] { return folder.read(c.text); });
    CAPTURE(c.text, message);
    CHECK(message.starts_with(folder.folder.path().string()));
    CHECK(test::missing_part(message, c.parts) == "");
  }
  CHECK(cases.size() >= 60);
  const auto rejection_of = [&](const std::filesystem::path& path) {
    return test::rejection([&] { return read_scene(path); });
  };
  CHECK(test::missing_part(rejection_of(folder.folder.path() / "no.toml"), {"no.toml: no such file"}) == "");
  CHECK(test::missing_part(rejection_of(folder.folder.path()), {"is a folder, not a file"}) == "");
}

TEST_CASE(
    "scene_io: no mutation of a scene makes the reader crash or lets a number that is not finite through",
    "[engine][property]") {
  const SceneFolder folder;
  const char* rounds_text = std::getenv("ABUT_FUZZ_ROUNDS");
  const int rounds = rounds_text != nullptr ? std::atoi(rounds_text) : 2000;
  const std::uint64_t seed = 5;
  Random random(seed);
  int accepted = 0;
  for (int i = 0; i < rounds; ++i) {
    const std::string text = test::mutated(k_full_scene, random);
    CAPTURE(seed, i, text);
    try {
      const Scene scene = folder.read(text);
      ++accepted;
      REQUIRE_NOTHROW(validate(scene.config.step));
      REQUIRE(scene.model.gravity.allFinite());
      for (std::size_t k = 0; k < scene.model.bodies.size(); ++k) {
        const Body& body = scene.model.bodies[k];
        REQUIRE(body.mass > 0.0);
        REQUIRE(body.inertia.allFinite());
        REQUIRE(body.external_wrench.allFinite());
        REQUIRE(scene.initial.X_WB[k].p.allFinite());
        REQUIRE(std::abs(scene.initial.X_WB[k].q.norm() - 1.0) < 1e-12);
        REQUIRE(scene.initial.V_WB[k].allFinite());
      }
    } catch (const InputError&) {
    }
  }
  CHECK(accepted > 0);
  CHECK(accepted < rounds);
}
