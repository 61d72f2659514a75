#include "engine/body_io.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <spdlog/fmt/fmt.h>

#include "engine/atomic_file.h"
#include "engine/count_text.h"
#include "engine/input_error.h"
#include "engine/mass_properties.h"
#include "engine/mesh_io.h"
#include "engine/parameters.h"
#include "engine/primitive_io.h"
#include "engine/staged_file.h"
#include "engine/toml_table.h"
#include "engine/toml_text.h"

namespace abut {
namespace fs = std::filesystem;

namespace {

const TomlTable::Words<DistanceMode> k_distance_modes{{"taubin", DistanceMode::taubin},
                                                      {"radial", DistanceMode::radial},
                                                      {"projected", DistanceMode::projected}};

template <typename Enum>
std::string_view word_of(Enum value, const TomlTable::Words<Enum>& words) {
  for (const auto& [word, other] : words) {
    if (other == value) return word;
  }
  return "?";
}

/// Mesh and mass properties of a shape without either.
void make_surface_of(const TomlTable& table, const SurfaceMaker& make_surface, BodyDescription& description) {
  ShapeSurface surface;
  try {
    surface = make_surface(description.shape);
  } catch (const std::invalid_argument& error) {
    table.fail("", fmt::format("no mesh is given, and none can be made: {}", error.what()));
  }
  description.mesh = std::move(surface.mesh);
  description.of_unit_density = surface.of_unit_density;
  description.shape.union_smoothing = surface.union_smoothing;
}

/// A mesh that is closed and has its inside inside.
TriangleMesh read_solid(const fs::path& path) {
  TriangleMesh mesh = read_mesh(path);
  try {
    require_closed_surface(mesh, "the mesh");
    (void)mass_properties(mesh, 1.0);
  } catch (const std::invalid_argument& error) {
    throw InputError(path.string(), 0, error.what());
  }
  return mesh;
}

Mat3<double> read_inertia(const TomlTable& table) {
  const auto i = table.required_numbers("inertia", 6, any_number());
  Mat3<double> inertia;
  // clang-format off
  inertia << i[0], i[3], i[4],
             i[3], i[1], i[5],
             i[4], i[5], i[2];
  // clang-format on
  try {
    require_physical(1.0, inertia, "not that of a body");
  } catch (const std::invalid_argument& error) {
    table.fail("inertia", error.what());
  }
  return inertia;
}

/// Whether the contact points are given, not those of the mesh.
bool gives_points(const TomlTable& body) {
  const TomlTable contact = body.table("contact");
  return contact.has("points") && !contact.is_text("points");
}

void read_contact_keys(const TomlTable& table, BodyDescription& description) {
  if (table.is_text("points")) {
    (void)table.required_choice<int>("points", {{"mesh", 0}});
    if (description.mesh.vertex_count() == 0)
      table.fail("points", "there is no mesh, so give a list of points");
    description.contact_points = description.mesh.vertices;
    description.contact_areas = vertex_areas(description.mesh);
  } else if (table.has("points")) {
    description.contact_points = table.required_points("points");
  }
  if (table.has("areas")) description.contact_areas = table.required_numbers("areas", positive());
  description.contact_radius = table.optional_number("radius", at_least(0.0));
  table.finish();
}

/// [r, g, b] or "#rrggbb".
Rgb read_colour(const TomlTable& table, std::string_view key) {
  Rgb colour{};
  if (!table.is_text(key) && !table.is_array(key))
    table.fail(key, "allowed: [red, green, blue], each in [0, 1], or \"#rrggbb\"");
  if (!table.is_text(key)) {
    const std::vector<double> numbers = table.required_numbers(key, 3, between(0.0, 1.0));
    std::transform(numbers.begin(), numbers.end(), colour.begin(),
                   [](double x) { return static_cast<float>(x); });
    return colour;
  }
  constexpr std::size_t k_digits = 6;
  const std::string text = table.required_text(key);
  const char *const first = text.data() + 1, *const last = text.data() + text.size();
  std::uint32_t number = 0;
  if (text.size() != 1 + k_digits || text[0] != '#' || std::from_chars(first, last, number, 16).ptr != last)
    table.fail(key, fmt::format("\"{}\", allowed: [red, green, blue], each in [0, 1], or \"#rrggbb\"", text));
  for (std::size_t i = 0; i < 3; ++i) colour[i] = static_cast<float>(number >> (16 - 8 * i) & 0xFF) / 255.0f;
  return colour;
}

}  // namespace

Appearance read_appearance_keys(const TomlTable& table, const Appearance& appearance) {
  Appearance result = appearance;
  if (table.has("color")) result.colour = read_colour(table, "color");
  if (table.has("visual")) {
    result.visual_mesh = table.required_file("visual").string();
    if (!is_mesh_file(result.visual_mesh))
      table.fail("visual",
                 fmt::format("'{}' is no mesh, allowed: {}", fs::path(result.visual_mesh).filename().string(),
                             mesh_file_endings()));
  }
  return result;
}

Material read_material_keys(const TomlTable& table, const Material& material) {
  Material result;
  for (const MaterialParameter& parameter : k_material_parameters) {
    result.*parameter.of_body = table.number(parameter.key, material.*parameter.of_body, parameter.range);
  }
  return result;
}

void read_selection_keys(const TomlTable& table, Body& body) {
  const auto read = [&](std::string_view key, int lower, void (*set)(Body&, int)) {
    if (!table.has(key)) return;
    const int count = table.integer(key, lower, lower);
    try {
      set(body, count);
    } catch (const std::invalid_argument& error) {
      table.fail(key, error.what());
    }
  };
  read("selected_vertices", 0, set_selected_vertices);
  read("selected_edges", 0, set_selected_edges);
}

Body read_body_keys(const TomlTable& table, const std::string& name, const Material& material, bool fixed,
                    const SurfaceMaker& make_surface) {
  BodyDescription description;
  description.name = name;
  description.material = material;
  const std::vector<TomlTable> primitives = table.tables("primitive");
  if (primitives.empty())
    table.fail("", fmt::format("no [[primitive]]: {}; 'abut fit MESH -o FOLDER' finds those of a mesh",
                               table.has("mesh") ? "a mesh alone is no shape" : "a body needs at least one"));
  for (const TomlTable& primitive : primitives)
    description.shape.primitives.push_back(read_primitive(primitive));
  const bool unbounded = is_unbounded(description.shape);
  description.fixed = fixed || unbounded;

  description.shape.distance_mode = table.choice("distance_mode", DistanceMode::taubin, k_distance_modes);
  description.shape.union_smoothing = table.number("union_smoothing", 0.0, positive());
  table.require_one_of({"density", "mass"}, !description.fixed);
  if (unbounded) {
    for (const std::string_view key :
         {"density", "mass", "volume", "inertia", "center_of_mass", "mesh", "contact"}) {
      if (table.has(key))
        table.fail(key, "a body with a half_space never moves and has no mass, mesh or contact points");
    }
  }
  if (table.has("density"))
    description.mass_or_density = Density{table.required_number("density", range_of(ParameterKind::density))};
  if (table.has("mass"))
    description.mass_or_density = Mass{table.required_number("mass", range_of(ParameterKind::mass))};
  description.volume = table.optional_number("volume", positive());
  if (table.has("center_of_mass") || table.has("inertia")) {
    description.inertia = read_inertia(table);
    const auto c = table.required_numbers("center_of_mass", 3, any_number());
    description.center_of_mass = Vec3<double>(c[0], c[1], c[2]);
  }
  if (table.has("mesh")) {
    description.mesh = read_solid(table.required_file("mesh"));
  } else if (make_surface && !unbounded && !has_closed_form(description.shape)) {
    const bool has_inertia = description.inertia || description.fixed;
    if (!has_inertia || !gives_points(table)) make_surface_of(table, make_surface, description);
  }
  read_contact_keys(table.table("contact"), description);
  Body body;
  try {
    body = make_body(description);
  } catch (const std::invalid_argument& error) {
    table.fail("", error.what());
  }
  read_selection_keys(table, body);
  body.appearance = read_appearance_keys(table, {});
  return body;
}

Body read_body(const fs::path& path, const SurfaceMaker& make_surface) {
  std::error_code ignored;
  if (is_mesh_file(path) && fs::is_regular_file(path, ignored)) {
    throw InputError(path.string(), 0,
                     fmt::format("is a mesh, not a body; 'abut fit {} -o {}' makes a body of it",
                                 path.string(), fs::path(path).replace_extension().string()));
  }
  const bool is_folder = fs::is_directory(path, ignored);
  const fs::path file = is_folder ? path / "body.toml" : path;
  if (is_folder && !fs::exists(file, ignored)) {
    throw InputError(
        file.string(), 0,
        fmt::format("no such file; 'abut fit MESH -o {}' makes a body of a mesh", path.string()));
  }
  const TomlTable table = TomlTable::read(file);
  const std::string name = table.text("name", fs::absolute(file).parent_path().filename().string());
  const TomlTable material_table = table.table("material");
  const Material material = read_material_keys(material_table, Material());
  material_table.finish();
  Body body = read_body_keys(table, name, material, false, make_surface);
  table.finish();
  return body;
}

// Writing ---------------------------------------------------------------------------------------------------

namespace {

bool close(const Points& a, const Points& b, double tolerance) {
  return a.cols() == b.cols() && (a.cols() == 0 || (a - b).cwiseAbs().maxCoeff() <= tolerance);
}

bool close(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= 1e-12 * std::abs(b[i]))) return false;
  }
  return true;
}

/// The [contact] table; empty where reading the rest of the asset gives the same contact points anyway.
std::string contact_text(const Body& body, const BodyDescription& in_A) {
  const double tolerance = 1e-12 * body.size;
  std::optional<Body> otherwise;
  try {
    otherwise = make_body(in_A);
  } catch (const std::invalid_argument&) {
    // No mesh: reading it needs the points.
  }
  if (otherwise && close(body.contact_points, otherwise->contact_points, tolerance) &&
      close(body.contact_areas, otherwise->contact_areas) &&
      body.contact_radius == otherwise->contact_radius) {
    return {};
  }
  std::string text = "\n[contact]\n";
  const bool is_mesh =
      body.mesh.vertex_count() > 0 && close(body.contact_points, body.mesh.vertices, tolerance);
  if (is_mesh) {
    text += "points = \"mesh\"\n";
  } else {
    text += "points = [\n";
    for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
      text += fmt::format("  {},\n", toml_vector(Vec3<double>(body.contact_points.col(i)) - body.p_BA));
    }
    text += "]\n";
  }
  if (!is_mesh || !close(body.contact_areas, vertex_areas(body.mesh))) {
    text += fmt::format("areas = {}\n", toml_array(body.contact_areas));
  }
  return text + fmt::format("radius = {}\n", toml_number(body.contact_radius));
}

}  // namespace

void write_body(const fs::path& folder, const Body& body, const std::string& comment,
                const ColouredMesh* visual) {
  constexpr std::string_view k_mesh_name = "mesh.obj", k_visual_name = "visual.obj";
  const bool unbounded = is_unbounded(body.shape), has_mesh = body.mesh.vertex_count() > 0;

  // The asset's frame A is where its author had put it: x_A = x_B - p_BA.
  BodyDescription in_A;
  in_A.name = body.name;
  in_A.shape = body.shape;
  for (Primitive& primitive : in_A.shape.primitives) primitive.X_BP.p -= body.p_BA;
  in_A.mesh = body.mesh;
  in_A.mesh.vertices.colwise() -= body.p_BA;
  in_A.material = body.material;
  const Vec3<double> center_of_mass = -body.p_BA;
  if (!unbounded) {
    in_A.mass_or_density = Mass{body.mass};
    in_A.inertia = body.inertia;
    in_A.center_of_mass = center_of_mass;
    if (body.volume > 0.0) in_A.volume = body.volume;
    BodyDescription whole = in_A;
    whole.contact_points = body.contact_points;
    whole.contact_areas = body.contact_areas;
    whole.contact_radius = body.contact_radius;
    (void)make_body(whole);  // throws before anything is written if this is no body
  }

  std::string text;
  for (std::string_view rest = comment; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text += fmt::format("# {}\n", rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  text += fmt::format("name = {}\n", toml_string(body.name));
  if (has_mesh) text += fmt::format("mesh = \"{}\"\n", k_mesh_name);
  const fs::path visual_path =
      visual != nullptr ? folder / k_visual_name : fs::path(body.appearance.visual_mesh);
  if (!visual_path.empty())
    text += fmt::format("visual = {}\n", toml_string(fs::proximate(visual_path, folder).generic_string()));
  if (const std::optional<Rgb>& colour = body.appearance.colour)
    text += fmt::format("color = [{}, {}, {}]\n", (*colour)[0], (*colour)[1], (*colour)[2]);
  if (!unbounded) {
    const Mat3<double>& i = body.inertia;
    text += fmt::format("mass = {}\n", toml_number(body.mass));
    if (body.volume > 0.0) text += fmt::format("volume = {}\n", toml_number(body.volume));
    text += fmt::format("center_of_mass = {}\n", toml_vector(center_of_mass));
    text +=
        fmt::format("inertia = {}\n",
                    toml_array(std::array<double, 6>{i(0, 0), i(1, 1), i(2, 2), i(0, 1), i(0, 2), i(1, 2)}));
  }
  text += fmt::format("union_smoothing = {}\n", toml_number(body.shape.union_smoothing));
  text += fmt::format("distance_mode = \"{}\"\n", word_of(body.shape.distance_mode, k_distance_modes));
  if (body.selected_vertices != 0) text += fmt::format("selected_vertices = {}\n", body.selected_vertices);
  if (body.selected_edges != 0) text += fmt::format("selected_edges = {}\n", body.selected_edges);
  if (!unbounded) text += contact_text(body, in_A);
  text += fmt::format("\n[material]\nfriction = {}\nstiffness = {}\n", toml_number(body.material.friction),
                      toml_number(body.material.stiffness));
  if (body.material.dissipation_time >= 0.0) {
    text += fmt::format("dissipation_time = {}\n", toml_number(body.material.dissipation_time));
  }
  if (body.material.restitution > 0.0) {
    text += fmt::format("restitution = {}\n", toml_number(body.material.restitution));
  }
  for (const Primitive& primitive : in_A.shape.primitives) text += primitive_text(primitive);

  const auto write_files = [&] {
    // All files are complete before the first of them gets its name, and body.toml, which refers to the
    // others, is last.
    StagedFile body_file(folder / "body.toml");
    write_file(body_file.temporary(), text);
    std::optional<StagedFile> mesh_file, visual_file;
    if (has_mesh) write_obj(mesh_file.emplace(folder / k_mesh_name).temporary(), in_A.mesh);
    if (visual != nullptr)
      write_coloured_obj(visual_file.emplace(folder / k_visual_name).temporary(), *visual);
    if (mesh_file) mesh_file->commit();
    if (visual_file) visual_file->commit();
    body_file.commit();
  };
  std::error_code error;
  const bool is_new = fs::create_directory(folder, error);
  if (error)
    throw InputError(folder.string(), 0, fmt::format("this folder cannot be made: {}", error.message()));
  try {
    write_files();
  } catch (...) {
    if (is_new) fs::remove(folder, error);
    throw;
  }
}

}  // namespace abut
