#include "apps/viewer/viewer_options.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/options.h"
#include "apps/abut/trajectory_file.h"
#include "apps/render/gl_objects.h"
#include "apps/viewer/file_listing.h"
#include "apps/viewer/panels/actions.h"
#include "engine/input_error.h"
#include "engine/toml_table.h"

namespace abut::viewer {
namespace {

/// What can be shown and hidden, by its name on the command line.
const std::map<std::string, std::function<void(DisplayOptions&, bool)>>& switches() {
  using D = DisplayOptions;
  static const std::map<std::string, std::function<void(D&, bool)>> table{
      {"points", [](D& d, bool on) { d.contacts.points = on; }},
      {"normals", [](D& d, bool on) { d.contacts.normals = on; }},
      {"witness-points", [](D& d, bool on) { d.contacts.witness_points = on; }},
      {"forces", [](D& d, bool on) { d.contacts.forces = on; }},
      {"discs", [](D& d, bool on) { d.contacts.friction_discs = on; }},
      {"force-numbers", [](D& d, bool on) { d.contacts.force_numbers = on; }},
      {"cones", [](D& d, bool on) { d.contacts.friction_cones = on; }},
      {"pressure", [](D& d, bool on) { d.contacts.pressure = on; }},
      {"tables", [](D& d, bool on) { d.contacts.tables = on; }},
      {"lens", [](D& d, bool on) { d.lens = on; }},
      {"candidates", [](D& d, bool on) { d.contacts.candidates = on; }},
      {"vertex-sdf", [](D& d, bool on) { d.contacts.vertex_sdf = on; }},
      {"edge-edge", [](D& d, bool on) { d.contacts.edge_edge = on; }},
      {"edge-sdf", [](D& d, bool on) { d.contacts.edge_sdf = on; }},
      {"convex-parts", [](D& d, bool on) { d.contacts.convex_parts = on; }},
      {"triangle-sdf", [](D& d, bool on) { d.contacts.triangle_sdf = on; }},
      {"scaling", [](D& d, bool on) { d.contacts.scale_by_indicator = on; }},
      {"bodies", [](D& d, bool on) { d.surface = on ? BodySurface::visual : BodySurface::none; }},
      {"visual", [](D& d, bool on) { d.surface = on ? BodySurface::visual : BodySurface::mesh; }},
      {"sdf", [](D& d, bool on) { d.surface = on ? BodySurface::sdf : BodySurface::visual; }},
      {"floor", [](D& d, bool on) { d.floor = on; }},
      {"wireframe", [](D& d, bool on) { d.wireframe = on; }},
      {"translucent", [](D& d, bool on) { d.translucent = on; }},
      {"discrepancy", [](D& d, bool on) { d.discrepancy = on; }},
      {"slice", [](D& d, bool on) { d.slice.shown = on; }},
      {"gradient", [](D& d, bool on) { d.gradient_arrows = on; }},
      {"side-by-side", [](D& d, bool on) { d.side_by_side = on; }},
      {"panels", [](D& d, bool on) { d.panels = on; }},
  };
  return table;
}

[[noreturn]] void refuse(const std::string& option, const std::string& word,
                         const std::vector<std::string>& known) {
  const std::string closest = closest_word(word, known);
  throw std::invalid_argument(
      fmt::format("{} '{}', allowed: {}{}", option, word, fmt::join(known, ", "),
                  closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest)));
}

/// The number of a word in a list.
std::size_t place_of(const std::string& word, std::span<const char* const> names, const std::string& option) {
  const std::vector<std::string> known(names.begin(), names.end());
  const auto found = std::find(known.begin(), known.end(), word);
  if (found == known.end()) refuse(option, word, known);
  return static_cast<std::size_t>(found - known.begin());
}

void pin_largest(const Frame& frame, int count, Selection& selection) {
  std::vector<const ContactView*> contacts;
  for (const ContactView& view : frame.contacts) {
    if (view.has_force) contacts.push_back(&view);
  }
  std::stable_sort(contacts.begin(), contacts.end(), [](const ContactView* a, const ContactView* b) {
    return a->force.normal_force() > b->force.normal_force();
  });
  for (std::size_t i = 0; i < std::min(contacts.size(), static_cast<std::size_t>(count)); ++i)
    selection.toggle_pin(contacts[i]->contact.feature);
}

void set_switches(const std::vector<std::string>& words, bool on, const std::string& option,
                  DisplayOptions& display) {
  std::vector<std::string> known;
  for (const auto& entry : switches()) known.push_back(entry.first);
  for (const std::string& word : words) {
    const auto found = switches().find(word);
    if (found == switches().end()) refuse(option, word, known);
    found->second(display, on);
  }
}

int body_named(const Model& model, const std::string& name, const std::string& option) {
  std::vector<std::string> known;
  for (int b = 0; b < model.body_count(); ++b) {
    known.push_back(model.bodies[static_cast<std::size_t>(b)].name);
    if (known.back() == name) return b;
  }
  refuse(option, name, known);
}

/// Panels in place of those that are open, and what appears over them.
void open_by_name(const std::vector<std::string>& names, Viewer& viewer) {
  const std::map<std::string, Action> popups{
      {"files", Action::open_dialog}, {"palette", Action::palette}, {"hints", Action::hints}};
  std::vector<std::string> known;
  for (const auto& panel : viewer.panels()) known.push_back(panel->name());
  const auto panel_of = [&](const std::string& name) {
    return std::find(known.begin(), known.end(), name) - known.begin();
  };
  const auto count = static_cast<std::ptrdiff_t>(viewer.panels().size());
  for (const auto& popup : popups) known.push_back(popup.first);
  std::vector<std::size_t> panels;
  for (const std::string& name : names) {
    if (popups.contains(name)) {
      viewer.act(popups.at(name));
    } else if (const std::ptrdiff_t i = panel_of(name); i < count) {
      panels.push_back(static_cast<std::size_t>(i));
    } else {
      refuse("--open", name, known);
    }
  }
  if (panels.empty()) return;
  for (const auto& panel : viewer.panels()) panel->set_open(false);
  for (const std::size_t i : panels) viewer.panels()[i]->set_open(true);
}

/// "x:BODY", "y:BODY", "z:BODY", "kinetic-energy", "energy", "distance:BODY:BODY" or, of an experiment,
/// "measurements".
Loss loss_of(const Frame& frame, const std::string& text) {
  const Model& model = frame.model->model();
  Loss loss;
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon),
                    rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (kind == "energy" || kind == "kinetic-energy") {
    loss.kind = kind == "energy" ? LossKind::energy : LossKind::kinetic_energy;
    return loss;
  }
  if (kind == "x" || kind == "y" || kind == "z") {
    loss.direction = Vec3<double>::Unit(kind[0] - 'x');
    loss.body = body_named(model, rest, "--loss");
    return loss;
  }
  if (kind == "distance") {
    const std::size_t second = rest.find(':');
    loss.kind = LossKind::distance_of_bodies;
    loss.body = body_named(model, rest.substr(0, second), "--loss");
    loss.other = body_named(model, second == std::string::npos ? "" : rest.substr(second + 1), "--loss");
    return loss;
  }
  if (kind == "measurements" && frame.experiment) {
    loss.kind = LossKind::measurements;
    loss.motion = frame.experiment->measured;
    return loss;
  }
  refuse("--loss", text,
         {"x:BODY", "y:BODY", "z:BODY", "distance:BODY:BODY", "kinetic-energy", "energy",
          "measurements (of an experiment)"});
}

}  // namespace

void add_options(CLI::App& app, ViewerOptions& options) {
  app.add_option("FILE", options.scene,
                 "scene (.toml), trajectory (.npz) that `abut run --out` wrote, or experiment (.toml) of\n"
                 "`abut identify` and `abut optimize`")
      ->required()
      ->type_name("");
  app.add_option("TRAJECTORY", options.trajectory,
                 "trajectory of the scene, to replay; measurements of it (.csv), shown as ghosts; or the\n"
                 "result.json of the experiment")
      ->type_name("");
  add_picture_options(app, options.picture);
  app.add_option("--ui-scale,--text-scale", options.text_scale,
                 "of text and widgets; default: as the desktop has it")
      ->check(number_between(0.25, 8.0))
      ->type_name("X");
  app.add_option("--ghosts", options.ghosts,
                 "bodies of another motion, seen through: a trajectory (.npz), another scene of the same\n"
                 "bodies (.toml), or measurements (.csv)")
      ->type_name("FILE");
  app.add_option("--motion", options.motion, "of an experiment: its name, or its number from 0")
      ->type_name("NAME");
  app.add_option("--values", options.values,
                 "of the unknowns of an experiment: guesses, estimates or truth; default: estimates where\n"
                 "a result.json is given, else guesses")
      ->type_name("WHICH");
  app.add_flag("--paused", options.paused, "do not run at the start");
  app.add_flag("--loop", options.loop, "begin again where the motion ends");
  app.add_option("--speed", options.speed, "of real time")
      ->check(number_between(1.0 / 1024.0, 64.0))
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--steps", options.steps, "simulate so many before the first picture")
      ->check(whole_number(0))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--headless", options.headless,
               "draw without a display; a picture is 1/60 s of simulated time");
  app.add_option("--frames", options.frames,
                 "end after so many pictures; default of --headless: 1,\n"
                 "with --video until the motion ends")
      ->check(whole_number(1))
      ->type_name("N");
  app.add_option("--screenshot", options.screenshot, "write the last picture")->type_name("FILE.png");
  app.add_option(
         "--video", options.video,
         "write a video of all pictures (.mp4, by ffmpeg), or the pictures one by one (.png, numbered);\n"
         "in a window from the start until it is closed or Shift + F12")
      ->type_name("FILE");
  app.add_option("--state", options.state,
                 "remember layout and recent files there; default: $XDG_STATE_HOME/abut/viewer.toml,\n"
                 "and nothing with --headless or --frames")
      ->type_name("FILE.toml");
  const auto list = [&](const char* name, std::vector<std::string>& words, const std::string& what) {
    app.add_option(name, words, what)->delimiter(',')->type_name("NAME,...");
  };
  std::vector<std::string> names;
  for (const auto& entry : switches()) names.push_back(entry.first);
  list("--show", options.show, fmt::format("any of {}", fmt::join(names, ", ")));
  list("--hide", options.hide, "the same names");
  list("--open", options.open_panels,
       "panels, by the first word of their titles (all others are closed); also: files, palette, hints");
  app.add_option("--indicator", options.indicator, "what colours contacts")->type_name("NAME");
  app.add_option("--forces-of", options.forces_of,
                 "what arrows of forces are the sum of: contact, pair or body")
      ->type_name("NAME");
  app.add_option("--glyph-size", options.glyph_size, "of arrows and points")
      ->check(finite_positive())
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--select", options.select, "a body")->type_name("BODY");
  app.add_option("--pin", options.pin, "so many contacts, those of the largest forces")
      ->check(whole_number(0))
      ->type_name("N");
  app.add_option("--slice-azimuth", options.slice_azimuth,
                 "direction of the slice's normal [rad]; default: towards the camera")
      ->check(number_between())
      ->type_name("ANGLE");
  CLI::Option* loss = app.add_option("--loss", options.loss,
                                     "show its gradient: x:BODY, y:BODY, z:BODY, distance:BODY:BODY,\n"
                                     "energy, kinetic-energy, or measurements (of an experiment), after\n"
                                     "--gradient-steps")
                          ->type_name("LOSS");
  app.add_option("--gradient-steps", options.gradient_steps, "steps of the gradient")
      ->check(whole_number(1))
      ->needs(loss)
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--check-gradient", options.check_gradient, "against differences")->needs(loss);
}

SimulationOptions simulation_options(const ViewerOptions& options) {
  SimulationOptions simulation;
  simulation.scene = options.scene;
  simulation.trajectory = options.trajectory;
  if (options.scene.extension() == ".npz" && options.trajectory.empty()) {
    simulation.trajectory = options.scene;
    simulation.scene = scene_of_trajectory(options.scene);
  }
  if (is_measurements(options.scene))
    throw InputError(
        options.scene.string(), 0,
        "measurements do not say of which scene they are: abut-view SCENE.toml " + options.scene.string());
  if (is_measurements(options.trajectory)) simulation.trajectory.clear();  // see ghosts_file()
  const bool has_result = options.trajectory.extension() == ".json";
  if (!is_experiment(simulation.scene)) {
    if (has_result || !options.motion.empty() || !options.values.empty())
      throw InputError(options.scene.string(), 0,
                       "is no experiment: result.json, --motion and --values go with one");
    return simulation;
  }
  ExperimentChoice& choice = simulation.experiment;
  choice.file = simulation.scene;
  choice.motion = options.motion;
  if (has_result) {
    choice.result = options.trajectory;
    simulation.trajectory.clear();
    choice.values = UnknownValues::estimates;
  }
  const std::vector<std::string> known{"guesses", "estimates", "truth"};
  const auto found = std::find(known.begin(), known.end(), options.values);
  if (found != known.end()) {
    choice.values = static_cast<UnknownValues>(found - known.begin());
  } else if (!options.values.empty()) {
    refuse("--values", options.values, known);
  }
  return simulation;
}

std::filesystem::path state_file_of(const ViewerOptions& options) {
  if (!options.state.empty()) return options.state;
  return options.headless || options.frames ? std::filesystem::path() : default_state_file();
}

std::filesystem::path ghosts_file(const ViewerOptions& options) {
  return options.ghosts.empty() && is_measurements(options.trajectory) ? options.trajectory : options.ghosts;
}

void apply(const ViewerOptions& options, Viewer& viewer) {
  const SharedFrame frame = viewer.frame();
  const Model& model = frame->model->model();
  const OrbitCamera camera = camera_of(options.picture, model, frame->state.X_WB, viewer.camera);
  if (options.picture.place_camera()) {
    viewer.look_from(camera);
  } else {
    viewer.camera = camera;
  }
  viewer.shows_motion_first = !options.headless || !options.video.empty();
  const bool is_slow = !options.headless && draws_in_software();
  viewer.display.look = {options.picture.quality.value_or(is_slow ? Quality::plain : Quality::full),
                         options.picture.outlines};
  set_switches(options.show, true, "--show", viewer.display);
  set_switches(options.hide, false, "--hide", viewer.display);
  viewer.display.contacts.size = options.glyph_size;
  if (!options.select.empty()) viewer.selection.select_body(body_named(model, options.select, "--select"));
  pin_largest(*frame, options.pin, viewer.selection);
  if (!options.indicator.empty())
    viewer.display.contacts.indicator =
        static_cast<Indicator>(place_of(options.indicator, k_indicator_names, "--indicator"));
  if (!options.forces_of.empty())
    viewer.display.contacts.force_sum =
        static_cast<ForceSum>(place_of(options.forces_of, k_force_sum_names, "--forces-of"));
  if (viewer.display.slice.shown) {
    viewer.display.slice.shown = false;
    viewer.act(Action::slice);  // through what the camera looks at
    if (options.slice_azimuth) {
      viewer.display.slice.azimuth = *options.slice_azimuth;
      viewer.display.slice.elevation = 0.0;
    }
  }
  if (viewer.display.side_by_side) {
    viewer.display.side_by_side = false;
    viewer.act(Action::side_by_side);
  }
  open_by_name(options.open_panels, viewer);
  if (!options.loss.empty()) {
    viewer.gradients.loss = loss_of(*frame, options.loss);
    viewer.gradients.steps = options.gradient_steps;
    viewer.compute_gradient_now(options.check_gradient);
    if (viewer.gradients.result && !viewer.gradients.result->error.empty())
      throw std::invalid_argument("--loss: " + viewer.gradients.result->error);
  }
}

}  // namespace abut::viewer
