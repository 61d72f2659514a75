/// Experiments in the viewer: motions as scenes, measurements as ghosts.
#include "apps/viewer/simulation/experiment_view.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <string>
#include <thread>

#include "apps/viewer/picture_maker.h"
#include "apps/viewer/simulation/ghost_file.h"
#include "apps/viewer/simulation/ghost_job.h"
#include "apps/viewer/simulation/gradient_job.h"
#include "apps/viewer/viewer_options.h"
#include "dynamics/parameters/scene_parameter_derivatives.h"
#include "engine/atomic_file.h"
#include "engine/input_error.h"
#include "tests/support/close.h"
#include "tests/support/temporary_folder.h"
#include "tests/viewer/headless_viewer.h"
#include "tests/viewer/panel_desk.h"

namespace abut::viewer {
namespace {

using Catch::Contains;
using test::TemporaryFolder;

std::string experiment_file(const std::string& name) {
  return ABUT_SOURCE_DIR "/assets/experiments/" + name + ".toml";
}

ExperimentChoice choice_of(const std::string& name, UnknownValues values = UnknownValues::guesses,
                           const std::string& motion = {}) {
  return {experiment_file(name), {}, motion, values};
}

/// A scene with more steps than anybody has time for.
std::filesystem::path endless_of(const TemporaryFolder& folder, const std::string& name) {
  std::string text = read_file(scene_file(name));
  const std::size_t steps = text.find("steps = ");
  REQUIRE(steps != std::string::npos);
  text.replace(steps, text.find('\n', steps) - steps, "steps = 100000000");
  for (std::size_t at = 0; (at = text.find("\"../bodies", at)) != std::string::npos;)
    text.replace(at, 4, "\"" ABUT_SOURCE_DIR "/assets/");
  return folder.write("endless.toml", text);
}

SimulationCore core_of_experiment(const ExperimentChoice& choice) {
  SimulationOptions options;
  options.experiment = choice;
  return SimulationCore(options);
}

}  // namespace

TEST_CASE("is_experiment: tells experiments from scenes", "[viewer][value]") {
  CHECK(is_experiment(experiment_file("box_friction")));
  CHECK(is_experiment(experiment_file("drill_push")));
  CHECK_FALSE(is_experiment(scene_file("box_slide")));
  CHECK_FALSE(is_experiment(ABUT_SOURCE_DIR "/assets/experiments/box_friction/motion_00.csv"));
  CHECK_FALSE(is_experiment("none.toml"));
}

TEST_CASE("experiments: a motion is a scene with its settings and the values of the unknowns",
          "[viewer][value]") {
  const ExperimentScene guess = read_experiment_scene(choice_of("box_friction"));
  CHECK(guess.scene.model.bodies[1].material.friction == 0.6);
  CHECK(guess.scene.model.bodies[1].mass == Approx(2.0));
  CHECK(guess.scene.initial.V_WB[1][4] == Approx(-0.523));
  CHECK(guess.scene.config.steps == 300);
  CHECK(guess.view.motions.size() == 20);
  CHECK(guess.view.has_truth);
  REQUIRE(guess.view.unknowns.size() == 2);
  CHECK(guess.view.unknowns[0].name == "body.box.friction");
  CHECK(guess.view.unknowns[0].guess == Approx(0.6));
  CHECK(guess.view.unknowns[0].truth.value() == Approx(0.35));
  CHECK_FALSE(guess.view.unknowns[0].estimate);
  CHECK(guess.view.unknowns[1].unit == "kg");

  const ExperimentScene truth =
      read_experiment_scene(choice_of("box_friction", UnknownValues::truth, "motion_01.csv"));
  CHECK(truth.view.motion == 1);
  CHECK(truth.scene.model.bodies[1].material.friction == 0.35);
  CHECK(truth.scene.initial.V_WB[1][4] == Approx(0.711));
  CHECK(read_experiment_scene(choice_of("box_friction", {}, "3")).view.motion == 3);
}

TEST_CASE("experiments: unknown pushes act as the scene's", "[viewer][value]") {
  const ExperimentScene push = read_experiment_scene(choice_of("drill_push"));
  REQUIRE_FALSE(push.scene.pushes.empty());
  CHECK(push.scene.pushes[0].wrench[3] == Approx(4.0));
  CHECK(push.view.unknowns.size() == 9);
}

TEST_CASE("experiments: estimates come from the result.json", "[viewer][value]") {
  const TemporaryFolder folder;
  ExperimentChoice choice = choice_of("box_friction", UnknownValues::estimates);
  CHECK_THROWS_WITH(read_experiment_scene(choice), Contains("box_friction.toml: there are no estimates"));
  choice.result = folder.write("result.json", R"({"estimates": [{"name": "body.box.friction", "value": 0.41},
 {"name": "body.box.mass", "value": 0.9}]})");
  const ExperimentScene found = read_experiment_scene(choice);
  CHECK(found.scene.model.bodies[1].material.friction == Approx(0.41));
  CHECK(found.scene.model.bodies[1].mass == Approx(0.9));
  CHECK(found.view.unknowns[1].estimate.value() == Approx(0.9));

  choice.result =
      folder.write("other.json", R"({"estimates": [{"name": "body.box.friction", "value": 0.4}]})");
  CHECK_THROWS_WITH(read_experiment_scene(choice),
                    Contains("other.json: has no estimate of 'body.box.mass'"));
  choice.result = folder.write("broken.json", "{\n\n\"estimates\": [}");
  CHECK_THROWS_WITH(read_experiment_scene(choice), Contains("broken.json:3: no JSON"));
  choice.result = folder.write("none.json", "{}");
  CHECK_THROWS_WITH(read_experiment_scene(choice), Contains("none.json: no result of 'abut identify'"));
}

TEST_CASE("experiments: what is wrong in them is said with file and line", "[viewer][value]") {
  const TemporaryFolder folder;
  const auto wrong = folder.write("wrong.toml", "scene = \"" ABUT_SOURCE_DIR
                                                "/assets/experiments/box_friction/scene.toml\"\n"
                                                "[[unknown]]\nname = \"body.box.weight\"\n[[motion]]\n");
  CHECK(is_experiment(wrong));
  CHECK_THROWS_WITH(read_experiment_scene({wrong, {}, {}, UnknownValues::guesses}),
                    Contains("wrong.toml:3:"));
  CHECK_THROWS_WITH(read_experiment_scene(choice_of("box_friction", {}, "motion_0.csv")),
                    Contains("there is no motion 'motion_0.csv'") && Contains("did you mean 'motion_0"));
  CHECK_THROWS_WITH(read_experiment_scene(choice_of("drill_push", UnknownValues::truth)),
                    Contains("no unknown of it has a 'truth'"));
}

TEST_CASE("experiments: measured poses are ghosts, on the way from one to the next", "[viewer][value]") {
  SimulationCore core = core_of_experiment(choice_of("box_friction", UnknownValues::truth));
  const SharedFrame start = core.make_frame(0.0);
  REQUIRE(start->experiment);
  CHECK(start->ghosts_name == "what was measured");
  REQUIRE(start->ghosts.size() == 1);  // the floor was not measured
  CHECK(start->ghosts[0].body == 1);
  double largest = 0.0;
  for (int i = 0; i < 295; ++i) {
    core.step_forward();
    if (i < 10) continue;  // nothing was measured before 0.02 s
    const SharedFrame frame = core.make_frame(0.0);
    largest = std::max(largest, (frame->ghosts[0].X_WB.p - frame->state.X_WB[1].p).norm());
  }
  CHECK(largest > 1e-4);
  CHECK(largest < 6e-3);  // noise of 1 mm, and no lag between measurements 20 ms apart

  core.open_experiment(choice_of("box_friction", UnknownValues::guesses, "motion_02"));
  CHECK(core.message().empty());
  CHECK(core.make_frame(0.0)->experiment->motion == 2);
  core.reload();
  CHECK(core.make_frame(0.0)->experiment->motion == 2);
  core.open_experiment(choice_of("box_friction", UnknownValues::guesses, "none"));
  CHECK_THAT(core.message(), Contains("there is no motion 'none'"));
  core.open(scene_file("box_slide"));
  CHECK_FALSE(core.make_frame(0.0)->experiment);
  CHECK(core.make_frame(0.0)->ghosts.empty());
}

TEST_CASE("experiments: ghosts whose shape is unknown say whose they have", "[viewer][value]") {
  const auto name = [](UnknownValues values) {
    return core_of_experiment(choice_of("sphere_bounce", values)).make_frame(0.0)->ghosts_name;
  };
  CHECK(name(UnknownValues::guesses) == "what was measured, shapes as guessed");
  CHECK(name(UnknownValues::truth) == "what was measured");
}

TEST_CASE("ghosts: what was not measured is as it is simulated", "[viewer][value]") {
  const TemporaryFolder folder;
  SimulationOptions options;
  options.scene = scene_file("sphere_bounce");
  SimulationCore core(options);
  // A planar track.
  const auto track = folder.write("track.csv", "time,position_x,position_z\n0,1,0.5\n0.1,2,0.7\n");
  core.set_ghosts(read_ghosts(track, *core.model()));
  for (int i = 0; i < 100; ++i) core.step_forward();
  const SharedFrame frame = core.make_frame(0.0);
  REQUIRE(frame->ghosts.size() == 1);
  CHECK(frame->ghosts_name == "track.csv");
  const double share = frame->state.time / 0.1;
  const Vec3<double>& p = frame->ghosts[0].X_WB.p;
  CHECK(p.x() == Approx(1.0 + std::min(1.0, share)));
  CHECK(p.y() == Approx(frame->state.X_WB[1].p.y()));
  CHECK(p.z() == Approx(0.5 + 0.2 * std::min(1.0, share)));

  const auto wrong = folder.write("wrong.csv", "time,position_x\n0,1\nx,2\n");
  CHECK_THROWS_WITH(read_ghosts(wrong, *core.model()), Contains("wrong.csv:3"));
  CHECK_THROWS_WITH(read_ghosts(scene_file("box_slide"), *core.model()), Contains("other bodies"));

  // Another scene of the same bodies.
  core.set_ghosts(read_ghosts(scene_file("sphere_bounce"), *core.model()));
  const SharedFrame same = core.make_frame(0.0);
  REQUIRE(same->ghosts.size() == 2);
  CHECK((same->ghosts[1].X_WB.p - same->state.X_WB[1].p).norm() < 1e-9);
}

TEST_CASE("GhostJob: another scene is simulated beside the viewer, and ends within a step",
          "[viewer][value]") {
  const TemporaryFolder folder;
  SimulationOptions options;
  options.scene = scene_file("sphere_bounce");
  SimulationCore core(options);
  const auto wait = [](GhostJob& job) {
    std::optional<Ghosts> ghosts;
    while (job.busy() && !ghosts) {
      ghosts = job.poll();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return ghosts;
  };
  GhostJob job;
  CHECK_FALSE(job.busy());
  CHECK(job.progress().empty());
  job.start(options.scene, core.model());
  const std::optional<Ghosts> whole = wait(job);
  REQUIRE(whole);
  CHECK(whole->of_body.at(1).size() == static_cast<std::size_t>(core.end()) + 1);
  CHECK(whole->name == "sphere_bounce.toml");
  CHECK_FALSE(job.busy());

  // Of days: it says how far it is, another file takes its place, and nothing waits for it.
  const auto endless = endless_of(folder, "sphere_bounce");
  job.start(endless, core.model());
  const auto step = [&] { return std::stoi(job.progress().substr(job.progress().find("step ") + 5)); };
  CHECK_THAT(job.progress(), Contains("ghosts of endless.toml: step") && Contains("of 100000000"));
  while (step() < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto track = folder.write("track.csv", "time,position_x\n0,1\n0.1,2\n");
  job.start(track, core.model());
  const std::optional<Ghosts> measured = wait(job);
  REQUIRE(measured);
  CHECK(measured->name == "track.csv");

  CHECK_THROWS_WITH(job.start(folder.path() / "none.toml", core.model()), Contains("none.toml"));
  CHECK_FALSE(job.busy());
  job.start(endless, core.model());
  CHECK(job.busy());
}

TEST_CASE("Viewer: ghosts that are simulated appear when they are there, and hold nothing up",
          "[viewer][value]") {
  const TemporaryFolder folder;
  HeadlessViewer user(scene_file("sphere_bounce"), 640, 400);
  user.viewer.show_ghosts(scene_file("sphere_bounce"));
  user.viewer.wait_for_ghosts([] { return true; });
  user.draw(2);
  CHECK(user.frame().ghosts.size() == 2);
  CHECK(user.frame().ghosts_name == "sphere_bounce.toml");
  const auto endless = endless_of(folder, "sphere_bounce");
  const Image before = user.image();
  user.viewer.show_ghosts(endless);
  user.draw(2);
  CHECK(difference(before, user.image()) > 100);  // how far they are
  int asked = 0;
  user.viewer.wait_for_ghosts([&] { return ++asked < 5; });
  CHECK(asked == 5);
  user.draw(2);
  CHECK(difference(before, user.image()) < 20);
  CHECK_THROWS_WITH(user.viewer.show_ghosts(scene_file("box_slide")), Contains("other bodies"));
  user.viewer.show_ghosts(endless);
  user.viewer.open(scene_file("box_slide"));  // ends with its scene
  user.draw(3);
  CHECK(user.frame().ghosts.empty());
  user.viewer.show_ghosts(scene_file("box_slide"));
  user.viewer.wait_for_ghosts([] { return true; });
  user.viewer.show_ghosts(endless_of(folder, "box_slide"));
}

TEST_CASE("ghosts: surface points are shown as balls of their standard deviation", "[viewer][value]") {
  SimulationCore core = core_of_experiment(choice_of("shape_from_points", UnknownValues::truth));
  for (int i = 0; i < 60; ++i) core.step_forward();
  const SharedFrame frame = core.make_frame(0.0);
  CHECK(frame->ghosts.empty());
  REQUIRE(frame->ghost_points.points_W.cols() > 5);
  const auto stone = static_cast<std::size_t>(frame->model->model().body("stone"));
  for (const auto& p_W : frame->ghost_points.points_W.colwise())
    CHECK((Vec3<double>(p_W) - frame->state.X_WB[stone].p).norm() < 0.1);
  const double noise = frame->ghost_points.noise;
  CHECK(noise > 0.0);
  CHECK(noise < 0.01);
  for (const double nearer : {1.0, 0.01}) {  // where it could not be seen, a dot stands for it
    GlyphScale scale{OrbitCamera(), 720};
    scale.camera.target = frame->state.X_WB[stone].p;
    scale.camera.distance = nearer;
    DisplayOptions display;
    display.contacts.points = display.contacts.normals = false;
    PictureMaker maker;
    const PictureMaker::Made made = maker.make(*frame, contacts_of(*frame), display, {}, nullptr, scale);
    const auto& balls = made.picture.glyphs_on_top.glyphs(GlyphShape::sphere);
    REQUIRE(static_cast<Eigen::Index>(balls.size()) == frame->ghost_points.points_W.cols());
    for (const Glyph& ball : balls) {
      const double dot = 2.0 * scale.point_at(ball.origin.cast<double>());
      CHECK(ball.axes(0, 0) == Approx(std::max(dot, noise)).epsilon(1e-3));
    }
    REQUIRE(made.notes.legend.entries.size() == 1);
    CHECK_THAT(made.notes.legend.entries[0].text, Contains("standard deviation"));
  }
}

TEST_CASE("loss of measurements: its gradient is that of differences", "[viewer][derivative]") {
  const ExperimentScene opened = read_experiment_scene(choice_of("box_friction", {}, "motion_01.csv"));
  GradientRequest request;
  request.model = make_scene_model(opened.scene_file, opened.scene);
  request.initial = opened.scene.initial;
  request.steps = opened.view.steps;
  request.loss.kind = LossKind::measurements;
  request.loss.motion = opened.view.measured;
  const GradientResult result = compute_gradient(request);
  REQUIRE(result.error.empty());
  CHECK(result.loss > 100.0);  // of the guess
  const SceneParameter friction = find_parameter(opened.scene, "body.box.friction");
  const auto loss_at = [&](double value) {
    Scene moved = opened.scene;
    set_parameters({friction}, std::vector<double>{value}, moved);
    const Simulator simulator(moved.model, moved.config.step);
    return rollout_loss(simulator, simulator.rollout(moved.initial, request.steps).states, request.loss);
  };
  constexpr double k_step = 1e-5;
  const double difference = (loss_at(0.6 + k_step) - loss_at(0.6 - k_step)) / (2.0 * k_step);
  CHECK(test::close(derivative_by(opened.scene, friction, result.gradient), difference, 1e-4, 0.0));

  request.initial.time = 1e3;  // long after the last measurement
  CHECK_THAT(compute_gradient(request).error, Contains("nothing was measured between"));
  request.loss.motion.reset();
  CHECK_THAT(compute_gradient(request).error, Contains("there are no measurements"));
}

TEST_CASE("experiment section: chooses motions and values; the loss follows", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  desk.simulation.call([](SimulationCore& core) { core.open_experiment(choice_of("box_friction")); });
  desk.frame = desk.simulation.frame();
  follow_experiment(*desk.frame, desk.gradients);
  CHECK(desk.gradients.loss.kind == LossKind::measurements);
  CHECK(desk.gradients.steps == 300);
  Panel& panel = desk.panel(GLFW_KEY_F7);
  for (int i = 0; i < 4; ++i) desk.draw(panel);
  CHECK(desk.beyond_the_edge == 0.0f);
  desk.gradients.loss.kind = LossKind::energy;  // the user's choice stays
  follow_experiment(*desk.frame, desk.gradients);
  CHECK(desk.gradients.loss.kind == LossKind::energy);

  const auto motion = desk.find(panel, [] { return id_in("Motion", "##choice"); });
  REQUIRE(motion);
  desk.click(panel, *motion);
  desk.click(panel, {motion->x, motion->y + 2.5f * ImGui::GetFrameHeight()});
  desk.simulation.update(0.0);
  desk.frame = desk.simulation.frame();
  REQUIRE(desk.frame->experiment);
  CHECK(desk.frame->experiment->motion > 0);
  follow_experiment(*desk.frame, desk.gradients);
  CHECK(desk.gradients.loss.kind == LossKind::measurements);
  CHECK(desk.gradients.loss.motion == desk.frame->experiment->measured);

  desk.simulation.call([](SimulationCore& core) { core.open(scene_file("box_slide")); });
  desk.frame = desk.simulation.frame();
  follow_experiment(*desk.frame, desk.gradients);
  CHECK(desk.gradients.loss.kind == LossKind::position);
}

TEST_CASE("command line: experiments, their results, and measurements of a scene", "[viewer][value]") {
  ViewerOptions options;
  options.scene = experiment_file("box_friction");
  options.motion = "motion_03.csv";
  SimulationOptions simulation = simulation_options(options);
  CHECK(simulation.experiment.file == options.scene);
  CHECK(simulation.experiment.motion == "motion_03.csv");
  CHECK(simulation.experiment.values == UnknownValues::guesses);
  options.trajectory = "result.json";
  simulation = simulation_options(options);
  CHECK(simulation.experiment.result == "result.json");
  CHECK(simulation.experiment.values == UnknownValues::estimates);
  CHECK(simulation.trajectory.empty());
  options.values = "truth";
  CHECK(simulation_options(options).experiment.values == UnknownValues::truth);
  options.values = "truths";
  CHECK_THROWS_WITH(simulation_options(options), Contains("did you mean 'truth'"));

  ViewerOptions measured;
  measured.scene = scene_file("sphere_bounce");
  measured.trajectory = "track.csv";
  CHECK(simulation_options(measured).trajectory.empty());
  CHECK(simulation_options(measured).experiment.file.empty());
  CHECK(ghosts_file(measured) == "track.csv");
  measured.motion = "0";
  CHECK_THROWS_WITH(simulation_options(measured), Contains("is no experiment"));
  ViewerOptions alone;
  alone.scene = "track.csv";
  CHECK_THROWS_WITH(simulation_options(alone), Contains("abut-view SCENE.toml track.csv"));
}

TEST_CASE("a trajectory with its scene is replayed without simulating the scene's motion",
          "[viewer][value]") {
  const TemporaryFolder folder;
  SimulationOptions options;
  options.scene = scene_file("sphere_bounce");
  SimulationCore core(options);
  const std::int64_t foreseen = core.foreseen_steps();
  CHECK(foreseen > 0);
  for (int i = 0; i < 5; ++i) core.step_forward();
  const auto file = folder.path() / "motion.npz";
  core.save_trajectory(file);
  core.open(options.scene, file);
  CHECK(core.message().empty());
  CHECK(core.make_frame(0.0)->is_replay);
  CHECK(core.make_frame(0.0)->last == 5);
  CHECK(core.foreseen_steps() == foreseen);

  // What cannot be read changes nothing.
  const SharedModel before = core.model();
  core.open(scene_file("box_slide"), file);
  CHECK_FALSE(core.message().empty());
  CHECK(core.model() == before);
  CHECK(core.make_frame(0.0)->is_replay);
}

}  // namespace abut::viewer
