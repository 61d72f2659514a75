#include <filesystem>
#include <memory>
#include <numbers>
#include <optional>
#include <string>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "apps/abut/commands.h"
#include "apps/abut/fit_reader.h"
#include "apps/abut/options.h"
#include "apps/abut/progress_bar.h"
#include "apps/abut/trajectory_file.h"
#include "collision/fitting/make_body.h"
#include "engine/body_io.h"
#include "engine/count_text.h"
#include "engine/input_error.h"

namespace abut {
namespace {

struct MeshArguments {
  std::filesystem::path fit, body, out;
  std::optional<double> size, density, friction, union_smoothing;
  std::optional<std::string> name;
  int vertices = SurfaceMeshOptions().vertices;
  int resolution = MeshedBodyOptions().resolution;
  bool quiet = false;
};

/// The command that makes the same asset again; without folders, so that it is the same wherever it was
/// typed.
std::string command_text(const MeshArguments& arguments) {
  std::string text = "Made by: abut mesh";
  text += arguments.fit.empty() ? fmt::format(" --body {}", arguments.body.filename().string())
                                : fmt::format(" --fit {}", arguments.fit.filename().string());
  if (arguments.name) text += fmt::format(" --name '{}'", *arguments.name);
  if (arguments.size) text += fmt::format(" --size {}", *arguments.size);
  if (arguments.vertices != MeshArguments().vertices)
    text += fmt::format(" --vertices {}", arguments.vertices);
  if (arguments.resolution != MeshArguments().resolution)
    text += fmt::format(" --resolution {}", arguments.resolution);
  if (arguments.density) text += fmt::format(" --density {}", *arguments.density);
  if (arguments.friction) text += fmt::format(" --friction {}", *arguments.friction);
  if (arguments.union_smoothing) text += fmt::format(" --smoothing {}", *arguments.union_smoothing);
  return text;
}

void print_report(const MeshedBody& made, const std::filesystem::path& out) {
  for (const std::string& note : made.notes) fmt::print("note: {}\n", note);
  const Body& body = made.body;
  const SurfaceReport& r = made.report;
  const auto percent = [&](double length) { return 100.0 * length / body.size; };
  fmt::print("{}: {}, size {:.4g} m, mass {:.4g} kg, volume {:.4g} m^3\n", body.name,
             count_text(body.shape.primitives.size(), "primitive"), body.size, body.mass, body.volume);
  fmt::print("  mesh            {} vertices, {} triangles, {}, V - E + F = {}\n", r.vertices, r.triangles,
             r.closed ? "closed" : "OPEN", r.euler_characteristic);
  fmt::print("  vertices        at most {:.1e} of the size off the surface\n",
             r.max_vertex_distance / body.size);
  fmt::print("  chord sag       mean {:.3f} %, largest {:.3f} % of the size\n", percent(r.mean_sag),
             percent(r.max_sag));
  if (r.max_distance > 0.0) {
    fmt::print("  fine surface    mean {:.3f} %, largest {:.3f} % of the size away from the mesh\n",
               percent(r.mean_distance), percent(r.max_distance));
  }
  fmt::print("  smallest angle  {:.1f} degrees\n", r.min_angle * 180.0 / std::numbers::pi);
  fmt::print("written to {}\n", out.string());
}

/// A progress bar for each stage of the work, one after another.
class StageBars {
 public:
  explicit StageBars(bool quiet) : quiet_(quiet) {}

  void update(const std::string& what, int done, int total) {
    if (what != what_ || done < done_) {
      bar_.reset();
      bar_.emplace(what, total, quiet_);
      what_ = what;
    }
    done_ = done;
    bar_->update(done);
  }

 private:
  bool quiet_;
  std::string what_;
  int done_ = 0;
  std::optional<ProgressBar> bar_;
};

void run(const MeshArguments& arguments) {
  const std::filesystem::path parent =
      std::filesystem::absolute(arguments.out).lexically_normal().parent_path();
  if (!std::filesystem::is_directory(parent)) throw InputError(parent.string(), 0, "there is no such folder");
  require_output_folder(arguments.out);
  MeshedBodyOptions options;
  Shape shape;
  if (!arguments.fit.empty()) {
    shape = read_superquadric_fit(arguments.fit);
    options.name = arguments.fit.stem().string();
  } else {
    const Body body = read_body(arguments.body);
    shape = body.shape;
    options.name = body.name;
    options.material = body.material;
    if (body.volume > 0.0) options.mass_or_density = Density{body.mass / body.volume};
    if (!arguments.size) options.union_smoothing = shape.union_smoothing;
  }
  if (arguments.name && arguments.name->empty()) throw std::invalid_argument("--name must not be empty");
  if (arguments.name) options.name = *arguments.name;
  if (arguments.size) options.size = arguments.size;
  if (arguments.density) options.mass_or_density = Density{*arguments.density};
  if (arguments.friction) options.material.friction = *arguments.friction;
  if (arguments.union_smoothing) options.union_smoothing = arguments.union_smoothing;
  options.resolution = arguments.resolution;
  options.mesh.vertices = arguments.vertices;
  const MeshedBody made = [&] {
    StageBars bars(arguments.quiet);
    options.mesh.progress = [&](const char* what, int done, int total) { bars.update(what, done, total); };
    return make_meshed_body(shape, options);
  }();
  write_body(arguments.out, made.body, command_text(arguments));
  print_report(made, arguments.out);
}

}  // namespace

void add_mesh_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<MeshArguments>();
  CLI::App* command =
      app.add_subcommand("mesh", "make a body asset of superquadrics: collision mesh, mass, frame");
  CLI::Option* fit =
      command->add_option("--fit", arguments->fit, "superquadrics in a JSON file")->type_name("FILE");
  CLI::Option* body = command->add_option("--body", arguments->body, "body asset: its folder or body.toml")
                          ->type_name("PATH");
  fit->excludes(body);
  command->add_option("--out", arguments->out, "folder to write body.toml and mesh.obj to")
      ->required()
      ->type_name("FOLDER");
  command->add_option("--size", arguments->size, "scale to this largest extent [m]")
      ->check(finite_positive());
  command->add_option("--vertices", arguments->vertices, "vertices of the collision mesh")
      ->check(whole_number(4, 100000))
      ->capture_default_str();
  command->add_option("--density", arguments->density, "[kg/m^3]; default: that of --body, or 1000")
      ->check(finite_positive());
  command->add_option("--friction", arguments->friction, "coefficient; default: that of --body, or 0.5")
      ->check(number_between(0.0));
  command
      ->add_option("--smoothing", arguments->union_smoothing,
                   "of the union of primitives [m]; default: 0.002 of the size")
      ->check(finite_positive());
  command->add_option("--name", arguments->name, "of the body; default: that of --body, or of the file");
  command->add_option("--resolution", arguments->resolution, "cubes of the fine grid along the longest side")
      ->check(whole_number(16, 1000))
      ->capture_default_str();
  command->add_flag("--quiet", arguments->quiet, "no progress bars");
  command->callback([arguments, &exit_code] {
    if (arguments->fit.empty() && arguments->body.empty()) throw CLI::RequiredError("--fit or --body");
    run(*arguments);
    exit_code = 0;
  });
}

}  // namespace abut
