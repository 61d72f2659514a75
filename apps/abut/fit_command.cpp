#include <array>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "apps/abut/commands.h"
#include "apps/abut/fit_input.h"
#include "apps/abut/fit_picture.h"
#include "apps/abut/fit_reader.h"
#include "apps/abut/fit_report.h"
#include "apps/abut/fit_visual.h"
#include "apps/abut/options.h"
#include "apps/abut/stage_bars.h"
#include "apps/abut/stopwatch.h"
#include "apps/abut/trajectory_file.h"
#include "collision/fitting/fit_mesh.h"
#include "collision/fitting/fit_quality.h"
#include "collision/fitting/make_body.h"
#include "collision/fitting/shape_surface.h"
#include "collision/fitting/surface_cache.h"
#include "engine/atomic_file.h"
#include "engine/body_io.h"
#include "engine/input_error.h"
#include "engine/mesh_io.h"
#include "engine/staged_file.h"

namespace abut {
namespace {

namespace fs = std::filesystem;

/// Options without a value have the default of the library, or that of the body that is the input.
struct FitArguments {
  fs::path input, out;
  std::optional<std::string> method, unit, up, name, tolerance, json;
  std::optional<double> scale, size, mass, density, friction, union_smoothing;
  std::optional<int> max_primitives, vertices, resolution, threads;
  fs::path picture;
  bool no_visual = false, quiet = false;

  [[nodiscard]] bool needs_visual() const { return !no_visual || !picture.empty(); }
};

/// The command that makes the same asset again; without folders, so that it is the same wherever it was
/// typed.
std::string command_text(const FitArguments& arguments) {
  const fs::path input = arguments.input.has_filename() ? arguments.input : arguments.input.parent_path();
  std::string text = fmt::format("Made by: abut fit {}", input.filename().string());
  const auto add = [&](const char* option, const auto& value) {
    if (value) text += fmt::format(" {} {}", option, *value);
  };
  if (arguments.name) text += fmt::format(" --name '{}'", *arguments.name);
  add("--unit", arguments.unit);
  add("--scale", arguments.scale);
  add("--up", arguments.up);
  add("--size", arguments.size);
  add("--method", arguments.method);
  add("--max-primitives", arguments.max_primitives);
  add("--tolerance", arguments.tolerance);
  if (arguments.vertices != MeshedBodyOptions().mesh.vertices) add("--vertices", arguments.vertices);
  add("--resolution", arguments.resolution);
  add("--mass", arguments.mass);
  add("--density", arguments.density);
  add("--friction", arguments.friction);
  add("--smoothing", arguments.union_smoothing);
  if (arguments.no_visual) text += " --no-visual";
  return text;
}

/// What is made into a body, and from what it was fitted if the input is a mesh.
struct FitSource {
  Shape shape;
  std::optional<FittedMesh> fitted;
  std::optional<ColouredMesh> visual;  ///< visual mesh, in the frame of the shape
  std::optional<Rgb> colour;
  std::vector<std::string> notes;
};

/// "0.5%" is 0.005. Throws std::invalid_argument for anything else.
double parse_tolerance(const std::string& text) {
  double percent = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, percent);
  if (error != std::errc() || std::string_view(stopped, static_cast<std::size_t>(end - stopped)) != "%" ||
      !(percent > 0.0 && percent <= 100.0)) {
    throw std::invalid_argument(
        fmt::format("--tolerance {}, allowed: a percentage of the size, such as 0.5%", text));
  }
  return percent / 100.0;
}

FitSource read_mesh_source(const FitArguments& arguments, MeshedBodyOptions& options) {
  MeshPlacement placement;
  placement.unit = arguments.unit.value_or(placement.unit);
  placement.scale = arguments.scale.value_or(placement.scale);
  placement.up = arguments.up.value_or(placement.up);
  placement.size = arguments.size;
  (void)length_unit(placement.unit);  // before the mesh is read
  MeshFitOptions fit;
  if (arguments.resolution)
    fit.resolution = static_cast<int>(std::lround(*arguments.resolution / k_cubes_per_spacing));
  if (arguments.method) fit.method = fit_methods().at(*arguments.method);
  if (fit.method == FitMethod::hull || fit.method == FitMethod::point_cloud) {
    if (arguments.max_primitives || arguments.tolerance)
      throw std::invalid_argument(
          fmt::format("--max-primitives and --tolerance are for superquadrics and convex polyhedra, not for "
                      "--method {}",
                      *arguments.method));
  }
  fit.max_primitives = arguments.max_primitives.value_or(fit.max_primitives);
  if (arguments.tolerance) fit.tolerance = parse_tolerance(*arguments.tolerance);
  fit.union_smoothing = arguments.union_smoothing;
  fit.threads = arguments.threads.value_or(fit.threads);
  fit.progress = options.mesh.progress;
  FitSource source;
  ColouredMesh input = arguments.needs_visual() ? read_coloured_mesh(arguments.input)
                                                : ColouredMesh{read_triangles(arguments.input)};
  source.fitted = naming_file(arguments.input.string(), [&] {
    input.mesh = placed(std::move(input.mesh), placement);
    return fit_mesh(input.mesh, fit);
  });
  if (arguments.needs_visual())
    source.visual = reduced_visual_mesh(std::move(input), k_most_visual_triangles, source.notes);
  source.shape = source.fitted->shape;
  options.name = arguments.input.stem().string();
  if (!arguments.resolution) options.resolution = source.fitted->resolution.cubes();
  options.size.reset();  // the mesh has it already
  options.union_smoothing = source.shape.union_smoothing;
  return source;
}

void refuse_options_of_meshes(const FitArguments& arguments) {
  const auto refuse = [&](const char* option, bool is_given) {
    if (is_given) {
      throw std::invalid_argument(
          fmt::format("{} is for meshes, but {} holds primitives already", option, arguments.input.string()));
    }
  };
  refuse("--unit", arguments.unit.has_value());
  refuse("--scale", arguments.scale.has_value());
  refuse("--up", arguments.up.has_value());
  refuse("--method", arguments.method.has_value());
  refuse("--max-primitives", arguments.max_primitives.has_value());
  refuse("--tolerance", arguments.tolerance.has_value());
  refuse("--threads", arguments.threads.has_value());
  refuse("--picture", !arguments.picture.empty());
}

FitSource read_source(const FitArguments& arguments, FitInputKind kind, MeshedBodyOptions& options) {
  if (kind == FitInputKind::mesh) return read_mesh_source(arguments, options);
  refuse_options_of_meshes(arguments);
  FitSource source;
  if (kind == FitInputKind::superquadrics) {
    source.shape = read_superquadric_fit(arguments.input);
    options.name = arguments.input.stem().string();
  } else {
    const Body body = read_body(arguments.input, surface_maker(user_cache_folder()));
    source.shape = body.shape;
    options.name = body.name;
    options.material = body.material;
    source.colour = body.appearance.colour;
    if (const fs::path file = body.appearance.visual_mesh; !file.empty() && !arguments.no_visual) {
      source.visual = read_coloured_mesh(file);
      source.visual->mesh.vertices.colwise() += body.p_BA;
    }
    if (body.volume > 0.0) options.mass_or_density = Density{body.mass / body.volume};
    options.union_smoothing =
        source.shape.union_smoothing * (arguments.size ? *arguments.size / body.size : 1.0);
  }
  return source;
}

bool writes_json_to_stdout(const FitArguments& arguments) { return arguments.json == "-"; }

// A signal handler reaches nothing but this.
volatile std::sig_atomic_t deferred_signal = 0;
extern "C" void defer_signal(int number) { deferred_signal = number; }

/// Defers SIGINT and SIGTERM, whichever thread they arrive in: one that came while this lived takes effect at
/// its end.
class DeferredSignals {
 public:
  DeferredSignals() {
    deferred_signal = 0;
    for (std::size_t i = 0; i < k_signals.size(); ++i) {
      ::sigaction(k_signals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;  // nohup
      struct sigaction action {};
      action.sa_handler = defer_signal;
      action.sa_flags = SA_RESTART;
      ::sigemptyset(&action.sa_mask);
      ::sigaction(k_signals[i], &action, nullptr);
    }
  }
  ~DeferredSignals() {
    for (std::size_t i = 0; i < k_signals.size(); ++i) ::sigaction(k_signals[i], &before_[i], nullptr);
    if (received()) (void)::raise(deferred_signal);
  }
  DeferredSignals(const DeferredSignals&) = delete;
  DeferredSignals& operator=(const DeferredSignals&) = delete;

  [[nodiscard]] bool received() const { return deferred_signal != 0; }

 private:
  static constexpr std::array k_signals{SIGINT, SIGTERM};
  std::array<struct sigaction, k_signals.size()> before_{};
};

/// Throws, before any work, about what could not be written after it.
void require_writable_outputs(const FitArguments& arguments) {
  const auto require_folder_of = [](const fs::path& path) {
    const fs::path parent = fs::absolute(path).lexically_normal().parent_path();
    if (!fs::is_directory(parent)) throw InputError(parent.string(), 0, "there is no such folder");
  };
  require_folder_of(arguments.out);
  require_output_folder(arguments.out);
  const auto require_file = [&](const fs::path& path, const char* extension) {
    require_output_path(path, {extension});
    require_folder_of(path);
    const DeferredSignals deferred;
    const AtomicFile attempt(path);  // discarded
  };
  if (arguments.json && !writes_json_to_stdout(arguments)) require_file(*arguments.json, ".json");
  if (!arguments.picture.empty()) require_file(arguments.picture, ".png");
}

/// A picture, or why there is none.
struct Drawing {
  std::optional<Image> image;
  std::string failure;
};

Drawing draw(const FitSubject& subject) {
  try {
    return {fit_picture(subject), {}};
  } catch (const std::runtime_error& error) {  // no EGL, no OpenGL 3.3
    return {std::nullopt, error.what()};
  }
}

/// Writes the body, its report and its picture. All files are complete before the first gets its name, and an
/// interrupt in the meantime leaves either what was there before or all that is new.
void write_outputs(const FitArguments& arguments, const FitReport& report, const ColouredMesh* visual,
                   const std::optional<Image>& image) {
  const DeferredSignals deferred;
  std::optional<StagedFile> json, picture;
  if (arguments.json && !writes_json_to_stdout(arguments))
    write_file(json.emplace(*arguments.json).temporary(), json_text(json_of(report)));
  if (image) write_png(picture.emplace(arguments.picture).temporary(), *image);
  if (deferred.received()) return;
  write_body(arguments.out, report.made.body, command_text(arguments), visual);
  if (json) json->commit();
  if (picture) picture->commit();
}

/// Returns the exit code.
int run(const FitArguments& arguments) {
  const Stopwatch watch;
  const FitInputKind kind = kind_of_fit_input(arguments.input);
  require_writable_outputs(arguments);
  MeshedBodyOptions options;
  options.size = arguments.size;
  options.resolution = arguments.resolution.value_or(options.resolution);
  options.mesh.vertices = arguments.vertices.value_or(options.mesh.vertices);
  FitReport report;
  std::optional<ColouredMesh> visual;
  {
    StageBars bars(arguments.quiet);
    options.mesh.progress = [&](const char* what, int done, int total) { bars.update(what, done, total); };
    FitSource source = read_source(arguments, kind, options);
    if (arguments.name) options.name = *arguments.name;
    if (arguments.density) options.mass_or_density = Density{*arguments.density};
    if (arguments.mass) options.mass_or_density = Mass{*arguments.mass};
    if (arguments.friction) options.material.friction = *arguments.friction;
    if (arguments.union_smoothing) options.union_smoothing = arguments.union_smoothing;
    report.made = make_meshed_body(source.shape, options);
    report.made.body.appearance.colour = source.colour;
    report.made.notes.insert(report.made.notes.begin(), source.notes.begin(), source.notes.end());
    visual = std::move(source.visual);
    if (visual) {
      visual->mesh.vertices *= report.made.scale;
      visual->mesh.vertices.colwise() -= report.made.origin;
    }
    report.fitted = std::move(source.fitted);
    if (report.fitted) {
      report.quality = fit_quality(report.made, report.fitted->repaired, report.fitted->grid,
                                   arguments.threads.value_or(0), options.mesh.progress);
    }
  }
  Drawing drawing;
  if (!arguments.picture.empty())
    drawing = draw({*visual, report.fitted->repaired.report.input_triangles, report.made.body,
                    report.made.surface, *report.quality});
  report.input = arguments.input.string();
  if (arguments.tolerance) report.tolerance = parse_tolerance(*arguments.tolerance);
  report.seconds = watch.seconds();
  write_outputs(arguments, report, visual && !arguments.no_visual ? &*visual : nullptr, drawing.image);
  if (writes_json_to_stdout(arguments)) {
    print_json(json_of(report));
  } else {
    fmt::print("{}written to {}\n", text_of(report), arguments.out.string());
    if (drawing.image) fmt::print("drawn in {}\n", arguments.picture.string());
  }
  const std::vector<std::string> complaints = shortcomings(report);
  std::fflush(stdout);
  for (const std::string& complaint : complaints) fmt::print(stderr, "abut fit: poor fit: {}\n", complaint);
  if (!drawing.failure.empty())
    fmt::print(stderr, "abut fit: the body is written, but no picture of it: {}\n", drawing.failure);
  return complaints.empty() && drawing.failure.empty() ? 0 : 1;
}

}  // namespace

void add_fit_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<FitArguments>();
  FitArguments& a = *arguments;
  CLI::App* command =
      app.add_subcommand("fit", "make a body asset of a mesh: primitives, collision mesh, mass, frame");
  command
      ->add_option("input", a.input,
                   "a mesh (.obj, .stl, .ply, .gltf, .glb), superquadrics (.json), or a body asset (its "
                   "folder or .toml) to make again")
      ->required()
      ->type_name("INPUT");
  command->add_option("-o,--out", a.out, "folder to write body.toml, mesh.obj and visual.obj to")
      ->required()
      ->type_name("FOLDER");
  command
      ->add_option(
          "--method", a.method,
          "what the body is made of: superquadrics; convex, a union of convex polyhedra; hull, one convex "
          "polyhedron; pointcloud, one cloud of points; or auto, the best of the first three, with spheres, "
          "capsules, boxes and cylinders for superquadrics that are about that [auto]")
      ->check(CLI::IsMember({"auto", "superquadrics", "convex", "hull", "pointcloud"}))
      ->type_name("METHOD");
  command
      ->add_option("--max-primitives", a.max_primitives,
                   fmt::format("at most so many superquadrics or convex polyhedra [{}]",
                               MeshFitOptions().max_primitives))
      ->check(whole_number(1, 10000));
  command->add_option(
      "--tolerance", a.tolerance,
      "leave out superquadrics or convex polyhedra as long as the mesh is on the mean no further from the "
      "surface than this percentage of its size, such as 0.5%");
  CLI::Option* unit =
      command->add_option("--unit", a.unit, "of the mesh's coordinates: m, dm, cm, mm, um, km, in, ft [m]");
  CLI::Option* scale = command->add_option("--scale", a.scale, "metres that a unit of the mesh is [1]")
                           ->check(finite_positive());
  CLI::Option* size = command->add_option("--size", a.size, "scale to this largest extent [m]");
  size->check(finite_positive())->excludes(unit)->excludes(scale);
  scale->excludes(unit);
  command->add_option("--up", a.up, "axis of the mesh that becomes z: x, y or z [z]")
      ->check(CLI::IsMember({"x", "y", "z"}));
  CLI::Option* mass = command->add_option("--mass", a.mass, "[kg]")->check(finite_positive());
  command->add_option("--density", a.density, "[kg/m^3]; default: that of a body as input, or 1000")
      ->check(finite_positive())
      ->excludes(mass);
  command->add_option("--friction", a.friction, "coefficient; default: that of a body as input, or 0.5")
      ->check(number_between(0.0));
  command->add_option("--name", a.name, "of the body; default: that of a body as input, or of the file");
  command
      ->add_option("--vertices", a.vertices,
                   fmt::format("vertices of the collision mesh [{}]", MeshedBodyOptions().mesh.vertices))
      ->check(whole_number(4, 100000));
  command
      ->add_option(
          "--resolution", a.resolution,
          fmt::format("cubes along the longest side in which the surface is looked for; the "
                      "spacing of a mesh's distances is {} of them; default: {}, or up to {} where "
                      "walls or gaps of the mesh are thin",
                      k_cubes_per_spacing, MeshedBodyOptions().resolution, k_finest_resolution.cubes()))
      ->check(whole_number(16, 1000));
  command
      ->add_option("--smoothing", a.union_smoothing,
                   "of the union of primitives [m]; default: 0.002 of the size, and of several primitives at "
                   "most 0.01 of the thickness of the thinnest")
      ->check(finite_positive());
  command->add_option("--threads", a.threads, "0: as many as the machine has; the result is the same [0]")
      ->check(whole_number(0, 1024));
  command
      ->add_option("--json", a.json, "write the report as one JSON object; -: to stdout, instead of the text")
      ->type_name("FILE.json");
  command
      ->add_option("--picture", a.picture,
                   "draw the mesh, the primitives, the body, and how far the mesh is from it in colour")
      ->type_name("FILE.png");
  command->add_flag("--no-visual", a.no_visual, "do not write the mesh as what pictures show (visual.obj)");
  command->add_flag("--quiet", a.quiet, "no progress bars");
  command->footer(
      "How it works, and how good it is: docs/fitting.md. A poor fit (IoU below 0.8, volume more than 10 % "
      "off, parts\n"
      "lost or gaps filled, the tolerance not reached) is written too, but the exit code is 1.\n"
      "\n"
      "Examples:\n"
      "  abut fit drill.stl --unit mm --mass 1.1 -o bodies/drill\n"
      "  abut fit statue.glb --size 0.3 --up y --max-primitives 40 -o bodies/statue\n"
      "  abut fit assets/bodies/spot --size 0.5 --vertices 500 -o bodies/large_spot");
  command->callback([arguments, &exit_code] {
    if (arguments->tolerance) (void)parse_tolerance(*arguments->tolerance);
    exit_code = run(*arguments);
  });
}

}  // namespace abut
