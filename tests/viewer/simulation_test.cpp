#include "apps/viewer/simulation/ghost_file.h"
#include "apps/viewer/simulation/simulation_core.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "apps/viewer/simulation/simulation_thread.h"
#include "engine/input_error.h"
#include "tests/support/close.h"
#include "tests/support/temporary_folder.h"
#include "tests/viewer/scene_file.h"

namespace abut::viewer {
namespace {

using Catch::Contains;
using test::TemporaryFolder;

const std::string k_ball = R"([simulation]
time_step = 0.002
[[body]]
name = "floor"
[[body.primitive]]
kind = "half_space"
[[body]]
name = "ball"
density = 700.0
position = [0.0, 0.0, 0.2]
linear_velocity = [0.3, 0.0, 0.0]
[[body.primitive]]
kind = "sphere"
radius = 0.1
)";

SimulationCore core_of(const std::string& scene, std::size_t history = 20000) {
  SimulationOptions options;
  options.scene = scene;
  options.history = history;
  return SimulationCore(options);
}

void step(SimulationCore& core, int count) {
  for (int i = 0; i < count; ++i) core.step_forward();
}

}  // namespace

TEST_CASE("SimulationCore: runs to the scene's steps, on from there if it is told to, or round and round",
          "[viewer][value]") {
  const TemporaryFolder folder;
  const std::string scene =
      folder.write("ball.toml", "[simulation]\nsteps = 30\n" + k_ball.substr(13)).string();
  SimulationCore core = core_of(scene);
  const auto run = [&] { core.advance(1.0, [] { return true; }); };
  CHECK(core.end() == 30);
  core.set_running(true);
  run();
  CHECK(core.number() == 30);
  CHECK_FALSE(core.running());
  CHECK(core.make_frame(0.0)->end == 30);
  core.set_running(true);
  run();
  CHECK(core.number() == 530);  // a second of steps of 2 ms more
  CHECK(core.running());

  core.reset();
  core.set_loops(true);
  core.set_running(true);
  int largest = 0;
  core.advance(0.25, [&] { return largest = std::max(largest, static_cast<int>(core.number())), true; });
  CHECK(core.running());
  CHECK(core.number() < 30);
  CHECK(largest == 29);
  CHECK(core.history().last() == 30);  // seen again, not simulated again
}

TEST_CASE("SimulationCore: knows where the whole motion leads, and shows another one beside it",
          "[viewer][value]") {
  const TemporaryFolder folder;
  SimulationCore core = core_of(folder.write("ball.toml", k_ball).string());
  const auto contains = [](const Points& points, const Vec3<double>& p) {
    return (points.rowwise().minCoeff().array() <= p.array()).all() &&
           (points.rowwise().maxCoeff().array() >= p.array()).all();
  };
  const auto motion = core.make_frame(0.0)->motion_W;
  REQUIRE(motion);
  CHECK(core.make_frame(0.0)->ghosts.empty());
  step(core, 100);
  CHECK(contains(*motion, core.state().X_WB[1].p));
  const Vec3<double> then = core.state().X_WB[1].p;
  core.save_trajectory(folder.path() / "motion.npz");

  core.reset();
  core.set_pose(1, {core.state().X_WB[1].q, Vec3<double>(0, 1, 0.2)});
  core.set_ghosts(read_ghosts(folder.path() / "motion.npz", *core.model()));
  step(core, 100);
  const SharedFrame frame = core.make_frame(0.0);
  REQUIRE(frame->ghosts.size() == 2);
  CHECK((frame->ghosts[1].X_WB.p - then).norm() < 1e-9);
  step(core, 50);  // the ghosts' motion has ended
  CHECK((core.make_frame(0.0)->ghosts[1].X_WB.p - then).norm() < 1e-9);
  core.set_ghosts({});
  CHECK(core.make_frame(0.0)->ghosts.empty());
  CHECK_THROWS_AS(read_ghosts(folder.path() / "none.npz", *core.model()), InputError);
}

TEST_CASE(
    "SimulationCore: steps are those of the library, and going back and on again repeats them to the last "
    "bit",
    "[viewer][determinism]") {
  SimulationCore core = core_of(scene_file("drill_mustard"));
  step(core, 120);
  CHECK(core.number() == 120);
  const std::uint64_t there = state_hash(core.state());
  const Simulator& simulator = core.model()->simulator;
  State end;
  (void)simulate(simulator.stepper(), core.model()->scene->initial, 120, {}, end);
  CHECK(state_hash(end) == there);

  for (int i = 0; i < 50; ++i) core.step_back();
  CHECK(core.number() == 70);
  CHECK(core.state().time == Approx(70 * 0.002));
  step(core, 50);  // seen before
  CHECK(state_hash(core.state()) == there);
  core.seek(70);
  core.branch();  // and simulated anew
  CHECK(core.history().last() == 70);
  step(core, 50);
  CHECK(state_hash(core.state()) == there);
  core.reset();
  CHECK(core.history().last() == 0);
  CHECK(state_hash(core.state()) == state_hash(core.model()->scene->initial));
}

TEST_CASE("SimulationCore: only so many moments are kept", "[viewer][value]") {
  SimulationCore core = core_of(scene_file("sphere_bounce"), 10);
  step(core, 25);
  CHECK(core.number() == 25);
  CHECK(core.history().first() == 16);
  core.seek(0);
  CHECK(core.number() == 16);
  core.seek(1000);
  CHECK(core.number() == 25);
}

TEST_CASE("SimulationCore: time passes at the speed that is asked for, and not while it is paused",
          "[viewer][value]") {
  SimulationCore core = core_of(scene_file("sphere_bounce"));
  const auto always = [] { return true; };
  core.advance(1.0, always);
  CHECK(core.state().time == 0.0);
  core.set_running(true);
  core.advance(0.5, always);
  CHECK(core.state().time == Approx(0.5).margin(0.003));
  core.set_speed(0.25);
  for (int i = 0; i < 100; ++i) core.advance(0.01, always);
  CHECK(core.state().time == Approx(0.75).margin(0.003));
  core.set_speed(std::nan(""));
  CHECK(core.speed() == 1.0);
  core.advance(1.0, [] { return false; });  // no time to simulate in: what it owes is dropped
  CHECK(core.state().time == Approx(0.75).margin(0.003));
}

TEST_CASE("SimulationCore: edits act from the moment shown on; those that make no sense change nothing",
          "[viewer][value]") {
  SimulationCore core = core_of(scene_file("box_slide"));
  step(core, 50);
  const SharedModel before = core.model();
  const State state = core.state();
  core.seek(30);
  core.edit([](Scene& scene) { scene.model.bodies[1].material.friction = 0.9; });
  CHECK(core.message().empty());
  CHECK(core.model()->model().bodies[1].material.friction == 0.9);
  CHECK(core.model()->as_read->model.bodies[1].material.friction != 0.9);
  CHECK(core.model()->geometry_version == before->geometry_version);
  CHECK(core.history().last() == 30);
  step(core, 20);
  CHECK(state_hash(core.state()) != state_hash(state));

  const SharedModel edited = core.model();
  const std::uint64_t version = core.version();
  core.edit([](Scene& scene) { scene.config.step.h = -1.0; });
  CHECK_THAT(core.message(), Contains("-1"));
  CHECK(core.version() > version);
  CHECK(core.model() == edited);
  CHECK(core.history().last() == 50);
  core.edit([](Scene& scene) { scene.model.bodies.pop_back(); });
  CHECK_THAT(core.message(), Contains("removed"));
  CHECK(core.model() == edited);
  core.dismiss_message();
  CHECK(core.message().empty());
}

TEST_CASE("SimulationCore: a scene is kept once until something of it is changed", "[viewer][value]") {
  SimulationCore core = core_of(scene_file("box_slide"));
  const SharedScene file = core.model()->as_read;
  CHECK(core.model()->scene == file);
  core.edit([](Scene& scene) { scene.model.bodies[1].material.friction = 0.9; });
  CHECK(core.model()->as_read == file);
  CHECK(core.model()->scene != file);
  CHECK(core.model()->model().bodies[1].material.friction == 0.9);
}

TEST_CASE("SimulationCore: a step that fails stops it with the reason, and what was is still there",
          "[viewer][value]") {
  SimulationCore core = core_of(scene_file("sphere_bounce"));
  step(core, 5);
  core.edit([](Scene& scene) { scene.config.step.speed_limit = 1e-9; });
  core.set_running(true);
  core.advance(1.0, [] { return true; });
  CHECK_FALSE(core.running());
  CHECK_THAT(core.message(), Contains("speed of") && Contains("ball"));
  CHECK(core.number() == 5);
  core.step_back();
  CHECK(core.number() == 4);
}

TEST_CASE("SimulationCore: a spring pulls a body to the mouse, where it comes to rest", "[viewer][value]") {
  const TemporaryFolder folder;
  std::string text = k_ball;
  text.insert(text.find("time_step"), "gravity = [0, 0, 0]\n");
  SimulationCore core = core_of(folder.write("ball.toml", text));
  core.set_pull({1, Vec3<double>::Zero(), {0.5, 0.4, 0.9}});
  step(core, 1500);
  CHECK(test::close(core.state().X_WB[1].p, Vec3<double>(0.5, 0.4, 0.9), 0.0, 1e-3));
  CHECK(core.state().V_WB[1].norm() < 1e-3);
  CHECK_FALSE(core.history().at(1).control.wrenches.empty());
  core.set_pull({});
  step(core, 1);
  CHECK(core.history().at(core.number()).control.wrenches.empty());
  core.set_pull({7, Vec3<double>::Zero(), {0.5, 0.4, 0.9}});  // of a scene with more bodies
  CHECK(core.make_frame(0.0)->pull.body == -1);
}

TEST_CASE("pull_wrench: is bounded, acts at the point that is held, and never on fixed bodies",
          "[viewer][value]") {
  SimulationCore core = core_of(scene_file("spot_on_pole"));
  const Model& model = core.model()->model();
  const Vec3<double> held(0.02, 0.01, 0.0);
  const Vec6<double> far = pull_wrench(model, core.state(), {2, held, {1e6, 0, 0}});
  CHECK(far.tail<3>().norm() == Approx(20 * 9.81 * model.bodies[2].mass));
  const Vec3<double> arm = core.state().X_WB[2].q * held;
  CHECK(test::close(Vec3<double>(far.head<3>()), Vec3<double>(arm.cross(Vec3<double>(far.tail<3>()))), 1e-12,
                    1e-12));
  CHECK(pull_wrench(model, core.state(), {1, held, {1e6, 0, 0}}).isZero(0.0));
  CHECK(pull_wrench(model, core.state(), {}).isZero(0.0));
}

TEST_CASE("SimulationCore: a pose that is set stays, its body at rest; later moments are forgotten",
          "[viewer][value]") {
  SimulationCore core = core_of(scene_file("sphere_bounce"));
  step(core, 40);
  core.seek(20);
  const Pose<double> X_WB{Quat<double>(1, 0, 0, 0), {0.3, 0.2, 2.0}};
  core.set_pose(1, X_WB);
  CHECK(core.history().last() == 20);
  CHECK(core.state().X_WB[1].p == X_WB.p);
  CHECK(core.state().V_WB[1].isZero(0.0));
  core.set_pose(1, {Quat<double>(1, 0, 0, 0), Vec3<double>::Constant(std::nan(""))});
  core.set_pose(7, X_WB);
  CHECK(core.state().X_WB[1].p == X_WB.p);
}

TEST_CASE("SimulationCore: what it saves replays as it was, up to the end, where a branch goes on",
          "[viewer][value]") {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "drill.npz";
  SimulationCore core = core_of(scene_file("drill_mustard"));
  step(core, 60);
  core.save_trajectory(file);

  SimulationOptions options;
  options.scene = scene_file("drill_mustard");
  options.trajectory = file;
  SimulationCore replay(options);
  CHECK(replay.make_frame(0.0)->is_replay);
  CHECK(replay.history().last() == 60);
  CHECK(replay.make_frame(0.0)->curves.of(Curve::contacts)[60] ==
        core.make_frame(0.0)->curves.of(Curve::contacts)[60]);
  CHECK(
      std::isnan(replay.make_frame(0.0)->curves.of(Curve::penetration)[60]));  // which the file does not say
  replay.seek(37);
  replay.reset();  // to where it starts; it is still there
  CHECK(replay.number() == 0);
  CHECK(replay.history().last() == 60);
  replay.seek(37);
  const State &a = replay.state(), &b = core.history().at(37).state;
  CHECK(a.time == Approx(b.time).epsilon(1e-12));  // files have 12 digits of a time
  for (std::size_t i = 0; i < a.X_WB.size(); ++i) {
    CHECK(test::close(a.X_WB[i].p, b.X_WB[i].p, 1e-14, 1e-14));
    CHECK(a.V_WB[i] == b.V_WB[i]);
  }
  replay.set_running(true);
  replay.advance(1.0, [] { return true; });
  CHECK(replay.number() == 60);
  CHECK_FALSE(replay.running());
  replay.seek(40);
  replay.branch();
  step(replay, 30);
  CHECK(replay.number() == 70);
  CHECK_FALSE(replay.make_frame(0.0)->is_replay);

  CHECK_THROWS_WITH(replay.replay(folder.path() / "none.npz"), Contains("none.npz"));
  CHECK_THROWS_WITH(core_of(scene_file("sphere_bounce")).replay(file),
                    Contains("not a trajectory of this scene"));
  CHECK_THROWS_WITH(core_of(scene_file("spot_on_pole")).replay(file),
                    Contains("mustard bottle"));  // as many bodies
}

TEST_CASE("SimulationCore: a scene file that changes is read again; one with a mistake leaves all as it is",
          "[viewer][value]") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const std::string file = folder.write("ball.toml", k_ball);
  SimulationCore core = core_of(file);
  step(core, 10);
  core.reload_if_changed();
  CHECK(core.number() == 10);
  const auto write = [&](const std::string& text, int seconds) {
    std::ofstream(file) << text;
    fs::last_write_time(file, fs::file_time_type::clock::now() + std::chrono::seconds(seconds));
  };
  std::string text = k_ball;
  text.replace(text.find("radius = 0.1"), 12, "radius = 0.2");
  write(text, 10);
  const std::uint64_t geometry = core.model()->geometry_version;
  core.reload_if_changed();
  CHECK(core.number() == 0);
  CHECK(core.model()->model().bodies[1].size == Approx(0.4));
  CHECK(core.model()->geometry_version != geometry);

  step(core, 3);
  write(text + "nonsense = 1\n", 20);
  core.reload_if_changed();
  CHECK_THAT(core.message(), Contains("ball.toml") && Contains("nonsense"));
  CHECK(core.number() == 3);
  core.dismiss_message();
  core.reload_if_changed();  // not again until it changes again
  CHECK(core.message().empty());
  write(text, 30);
  core.reload_if_changed();
  CHECK(core.number() == 0);
}

TEST_CASE("make_frame: the contacts of the library, and forces that carry the bodies", "[viewer][value]") {
  SimulationCore core = core_of(scene_file("box_on_box"));
  step(core, 300);
  core.set_look_without_edges(true);
  const SharedFrame frame = core.make_frame(0.7);
  const ContactManifold manifold = core.model()->simulator.contacts(core.state());
  REQUIRE(frame->contacts.size() == manifold.contacts.size());
  double carried = 0.0, mass = 0.0;
  for (std::size_t i = 0; i < manifold.contacts.size(); ++i) {
    CHECK(frame->contacts[i].contact.signed_distance == manifold.contacts[i].signed_distance);
    CHECK(frame->contacts[i].contact.activity == manifold.contacts[i].activity);
    if (frame->contacts[i].contact.feature.body_A == 0) carried += frame->contacts[i].force.force_B_W.z();
  }
  for (const Body& body : core.model()->model().bodies) mass += body.fixed ? 0.0 : body.mass;
  CHECK(carried == Approx(9.81 * mass).epsilon(1e-3));
  CHECK(frame->real_time_factor == 0.7);
  CHECK_FALSE(frame->without_edges.empty());
  CHECK(frame->without_edges.size() < frame->contacts.size());
  for (const ContactView& view : frame->without_edges)
    CHECK(view.contact.feature.kind != ContactKind::edge_edge);
  CHECK(frame->curves.time.size() == 301);
  CHECK(frame->curves.of(Curve::contacts).back() == static_cast<float>(frame->report.contacts));
}

TEST_CASE("make_frame: warns of bodies that overlap where they are put, and of steps that are too long",
          "[viewer][value]") {
  const TemporaryFolder folder;
  std::string text = k_ball;
  CHECK(core_of(folder.write("free.toml", text)).make_frame(0.0)->warnings.empty());

  text.replace(text.find("0.2]"), 4, "0.05]");
  SimulationCore core = core_of(folder.write("overlap.toml", text));
  const std::vector<std::string> warnings = core.make_frame(0.0)->warnings;
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Contains("At step 0, 'floor' and 'ball' overlap by 0.05 m"));
  step(core, 3);
  CHECK(core.make_frame(0.0)->warnings == warnings);  // it is still how the run began
  core.set_pose(1, {Quat<double>(1, 0, 0, 0), {0.0, 0.0, 0.2}});
  CHECK(core.make_frame(0.0)->warnings.empty());
  core.set_pose(1, {Quat<double>(1, 0, 0, 0), {0.0, 0.0, 0.02}});
  REQUIRE(core.make_frame(0.0)->warnings.size() == 1);
  CHECK_THAT(core.make_frame(0.0)->warnings[0], Contains("At step 3, "));
  core.reset();
  CHECK(core.make_frame(0.0)->warnings == warnings);

  text = k_ball;
  text.replace(text.find("0.2]"), 4, "0.1]");
  text.replace(text.find("0.002"), 5, "0.3");
  core = core_of(folder.write("long.toml", text));
  CHECK(core.make_frame(0.0)->warnings.empty());
  step(core, 1);
  const std::vector<std::string> of_step = core.make_frame(0.0)->warnings;
  REQUIRE(of_step.size() == 1);
  CHECK_THAT(of_step[0], Contains("try a smaller time_step"));
  core.step_back();
  CHECK(core.make_frame(0.0)->warnings.empty());
}

TEST_CASE("make_frame: curves of a long past have at most a thousand points", "[viewer][value]") {
  SimulationCore core = core_of(scene_file("sphere_bounce"));
  step(core, 2500);
  const SharedFrame frame = core.make_frame(0.0);
  CHECK(frame->curves.time.size() <= 1000);
  CHECK(frame->curves.time.size() > 500);
  CHECK(frame->curves.time.back() == static_cast<float>(frame->state.time));
  for (const auto& values : frame->curves.values) CHECK(values.size() == frame->curves.time.size());
}

TEST_CASE(
    "SimulationThread: runs beside its user, does commands in their order and passes on what they throw",
    "[viewer][value]") {
  SimulationOptions options;
  options.scene = scene_file("sphere_bounce");
  SimulationThread simulation(options);
  CHECK(simulation.frame()->number == 0);
  std::string order;
  simulation.post([&](SimulationCore&) { order += 'a'; });
  simulation.post([&](SimulationCore& core) {
    order += 'b';
    core.set_running(true);
  });
  simulation.call([&](SimulationCore&) { order += 'c'; });
  CHECK(order == "abc");
  std::int64_t number = 0;
  for (int i = 0; i < 5000 && number < 20; ++i) {  // frames come by themselves while it runs
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const SharedFrame frame = simulation.frame();
    CHECK(frame->number >= number);
    number = frame->number;
  }
  CHECK(number >= 20);
  CHECK_THROWS_AS(simulation.call([](SimulationCore&) { throw std::runtime_error("no"); }),
                  std::runtime_error);
  simulation.post([](SimulationCore&) { throw std::runtime_error("it cannot"); });
  std::string message;
  for (int i = 0; i < 5000 && message.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    message = simulation.frame()->message;
  }
  CHECK(message == "it cannot");
  options.scene = scene_file("no such");
  CHECK_THROWS_AS(SimulationThread(options), InputError);
}

TEST_CASE("SimulationThread: without a thread the same calls make the same frames", "[viewer][determinism]") {
  SimulationOptions options;
  options.scene = scene_file("spot_on_pole");
  const auto play = [&] {
    SimulationThread simulation(options, Threading::none);
    simulation.post([](SimulationCore& core) { core.set_running(true); });
    for (int i = 0; i < 20; ++i) simulation.update(1.0 / 60.0);
    return state_hash(simulation.frame()->state);
  };
  const std::uint64_t once = play();
  CHECK(play() == once);
}

}  // namespace abut::viewer
