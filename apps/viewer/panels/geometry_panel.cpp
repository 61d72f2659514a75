#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <future>
#include <limits>
#include <numbers>
#include <string>

#include <imgui.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/picture/surface.h"
#include "apps/viewer/panels/actions.h"
#include "apps/viewer/panels/panel.h"
#include "apps/viewer/panels/widgets.h"
#include "engine/count_text.h"

namespace abut::viewer {
namespace {

constexpr const char* k_primitive_names[] = {"superquadric",
                                             "half-space",
                                             "sphere",
                                             "capsule",
                                             "rounded box",
                                             "convex polyhedron",
                                             "oriented point cloud",
                                             "extruded superquadric",
                                             "cone",
                                             "torus",
                                             "padded polygon"};
constexpr const char* k_mode_names[] = {"taubin", "radial", "projected"};

const char* parameter_name(PrimitiveKind kind, std::size_t i) {
  static constexpr const char* k_superquadric[] = {"a", "b", "c", "eps 1", "eps 2"};
  static constexpr const char* k_capsule[] = {"radius", "half length"};
  static constexpr const char* k_cone[] = {"radius", "top radius", "half length", "smoothing"};
  static constexpr const char* k_torus[] = {"radius", "tube radius"};
  static constexpr const char* k_box[] = {"half x", "half y", "half z", "edge radius"};
  switch (kind) {
    case PrimitiveKind::superquadric:
    case PrimitiveKind::extruded_superquadric:
      return k_superquadric[i];
    case PrimitiveKind::sphere:
    case PrimitiveKind::padded_polygon:
      return "radius";
    case PrimitiveKind::capsule:
      return k_capsule[i];
    case PrimitiveKind::rounded_box:
      return k_box[i];
    case PrimitiveKind::cone:
      return k_cone[i];
    case PrimitiveKind::torus:
      return k_torus[i];
    case PrimitiveKind::convex_polyhedron:
      return "smoothing";
    case PrimitiveKind::oriented_point_cloud:
      return "width";
    case PrimitiveKind::half_space:
      break;
  }
  return "";
}

struct Discrepancy {
  double largest = 0, mean = 0, between = 0;  // [m]
};

class GeometryPanel : public Panel {
 public:
  GeometryPanel() : Panel("Geometry", GLFW_KEY_F5, Pane::right, false) {}

  void draw(PanelContext& context) override {
    const int bodies = context.frame.model->model().body_count();
    body_ = std::clamp(body_, 0, bodies - 1);
    if (context.selection.body >= 0 && context.selection.body != selected_) body_ = context.selection.body;
    selected_ = context.selection.body;

    draw_surface(context);
    if (ImGui::CollapsingHeader("Mesh and SDF of a body", ImGuiTreeNodeFlags_DefaultOpen))
      draw_discrepancy(context);
    if (ImGui::CollapsingHeader("Primitives one by one", ImGuiTreeNodeFlags_DefaultOpen))
      draw_primitives(context);
    if (ImGui::CollapsingHeader("Slice", ImGuiTreeNodeFlags_DefaultOpen)) draw_slice(context);
  }

 private:
  static void draw_surface(PanelContext& context) {
    DisplayOptions& display = context.display;
    const auto choice = [&](const char* label, BodySurface surface, const std::string& help) {
      if (ImGui::RadioButton(label, display.surface == surface)) display.surface = surface;
      tooltip(help);
    };
    choice(
        "Visual", BodySurface::visual,
        "The visual mesh of a body that has one, else the smooth surface of its SDF, or its collision mesh "
        "where edges are sharp.");
    ImGui::SameLine();
    choice("Mesh", BodySurface::mesh,
           fmt::format("The collision mesh, whose vertices and edges touch.\nKey: {}",
                       key_text(Action::collision_mesh)));
    ImGui::SameLine();
    choice("SDF", BodySurface::sdf, "A surface of equal signed distance.");
    ImGui::SameLine();
    choice("Nothing", BodySurface::none, "Contacts and slice alone.");

    // Some size of what is there: a floor has none.
    double size = 0.0;
    for (const Body& body : context.frame.model->model().bodies) {
      if (std::isfinite(body.size)) size = std::max(size, body.size);
    }
    if (size == 0.0) size = 1.0;
    ImGui::BeginDisabled(display.surface != BodySurface::sdf);
    (void)slider("Level", display.iso_level,
                 {"m", -0.1 * size, 0.1 * size, false, 0.0,
                  "Signed distance of the surface that is shown; 0 is the body's own."});
    ImGui::EndDisabled();
    if (!std::isfinite(display.iso_level)) display.iso_level = 0.0;
    if (ImGui::BeginTable("look", 2)) {
      ImGui::TableNextColumn();
      checkbox_with_key("Wireframe", display.wireframe, key_text(Action::wireframe),
                        "Edges of the triangles.");
      ImGui::TableNextColumn();
      checkbox_with_key("Translucent", display.translucent, key_text(Action::translucent),
                        "Bodies that are seen through.");
      ImGui::TableNextColumn();
      ImGui::Checkbox("Floor", &display.floor);
      tooltip("Half-spaces, as a checkered plane.");
      ImGui::EndTable();
    }
  }

  void draw_discrepancy(PanelContext& context) {
    DisplayOptions& display = context.display;
    ImGui::BeginDisabled(display.surface == BodySurface::sdf || display.surface == BodySurface::none);
    checkbox_with_key("Coloured by mesh less SDF", display.discrepancy, key_text(Action::discrepancy),
                      "The mesh coloured by the signed distance, at its vertices and between them.");
    ImGui::EndDisabled();
    if (display.discrepancy) colour_bar(&diverging_of_unit, "inside", "on the SDF", "outside");
    const Model& model = context.frame.model->model();
    (void)body_combo("Body##of the mesh", model, body_, nullptr,
                     "Whose mesh is measured; follows what is selected in the picture.");
    const Body& body = model.bodies[static_cast<std::size_t>(body_)];
    show("{}, {}, {}", count_text(body.mesh.vertex_count(), "vertex", "vertices"),
         count_text(body.mesh.triangle_count(), "triangle"),
         count_text(body.shape.primitives.size(), "primitive"));
    show_note(fmt::format("{} of radius {}, distance: {}",
                          count_text(body.contact_points.cols(), "contact point"),
                          with_prefix(body.contact_radius, "m"),
                          k_mode_names[static_cast<std::size_t>(body.shape.distance_mode)]));
    if (body.mesh.vertex_count() == 0) return show_note("It has no mesh.");
    measure(context.frame.model);
    if (computation_.valid()) return show_note("The discrepancy is being measured.");
    show("Vertices off the SDF by at most {}", with_prefix(discrepancy_.largest, "m"));
    show("and in the mean by {}", with_prefix(discrepancy_.mean, "m"));
    show("Triangles off the SDF by at most {}", with_prefix(discrepancy_.between, "m"));
    if (body.contact_radius > 0.0)
      show_note("of which the contact radius is meant: balls about the mesh touch, not the mesh.");
    if (std::isfinite(body.size) && body.size > 0.0)
      show_note(fmt::format("{:.3g} %, {:.3g} % and {:.3g} % of the body's size",
                            100.0 * discrepancy_.largest / body.size, 100.0 * discrepancy_.mean / body.size,
                            100.0 * discrepancy_.between / body.size));
  }

  static Colour diverging_of_unit(double x) { return diverging_colour(2.0 * x - 1.0); }

  /// Beside the picture, as it may take longer than one.
  void measure(const SharedModel& model) {
    if (computation_.valid() && computation_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
      try {
        discrepancy_ = computation_.get();
      } catch (const std::exception&) {  // an SDF without an answer somewhere
        constexpr double k_unknown = std::numeric_limits<double>::quiet_NaN();
        discrepancy_ = {k_unknown, k_unknown, k_unknown};
      }
    }
    const bool is_known = measured_version_ == model->geometry_version && measured_body_ == body_;
    if (is_known || computation_.valid()) return;
    measured_version_ = model->geometry_version;
    measured_body_ = body_;
    computation_ = std::async(std::launch::async, [model, b = static_cast<std::size_t>(body_)] {
      const Body& body = model->model().bodies[b];
      const DiscrepancySurface surface = discrepancy_surface(body.mesh, ShapeSdf(body.shape));
      return Discrepancy{surface.largest, surface.mean, surface.between};
    });
  }

  static void draw_primitives(PanelContext& context) {
    DisplayOptions& display = context.display;
    const Model& model = context.frame.model->model();
    if (display.primitive_body >= model.body_count()) display.primitive_body = -1;
    if (body_combo(
            "Body##of primitives", model, display.primitive_body, "none",
            "Its primitives are shown in place of its surface.\nKey: " + key_text(Action::next_primitive)))
      display.primitive = -1;
    if (display.primitive_body < 0) return;
    const Shape& shape = model.bodies[static_cast<std::size_t>(display.primitive_body)].shape;
    const int count = static_cast<int>(shape.primitives.size());
    display.primitive = std::clamp(display.primitive, -1, count - 1);
    if (ImGui::ArrowButton("previous", ImGuiDir_Left))
      display.primitive = std::max(-1, display.primitive - 1);
    tooltip("The primitive before; before the first one, all.");
    ImGui::SameLine();
    if (ImGui::ArrowButton("next", ImGuiDir_Right))
      display.primitive = std::min(count - 1, display.primitive + 1);
    tooltip("The primitive after this.\nKey: " + key_text(Action::next_primitive));
    ImGui::SameLine();
    ImGui::SetNextItemWidth(-1.0f);
    ImGui::SliderInt("##primitive", &display.primitive, -1, count - 1,
                     display.primitive < 0 ? "all" : fmt::format("%d, the last is {}", count - 1).c_str(),
                     ImGuiSliderFlags_AlwaysClamp);
    tooltip("Which primitive is shown alone; at the left end, all.");
    if (display.primitive < 0) {
      show_note(fmt::format("{}, united with smoothing {}", count_text(count, "primitive"),
                            with_prefix(shape.union_smoothing, "m")));
      return;
    }
    const Primitive& primitive = shape.primitives[static_cast<std::size_t>(display.primitive)];
    show_text(fmt::format("{}, {}", k_primitive_names[static_cast<std::size_t>(primitive.kind)],
                          primitive.operation == PrimitiveOperation::add ? "added" : "subtracted"));
    const auto parameters = static_cast<std::size_t>(parameter_count(primitive.kind));
    for (std::size_t i = 0; i < parameters; ++i) {
      show_text(is_length(primitive.kind, i) ? fmt::format("  {} = {}", parameter_name(primitive.kind, i),
                                                           with_prefix(primitive.parameters[i], "m"))
                                             : fmt::format("  {} = {:.4g}", parameter_name(primitive.kind, i),
                                                           primitive.parameters[i]));
    }
    if (!primitive.values.empty()) show_note(fmt::format("  and {} more numbers", primitive.values.size()));
    const Vec3<double>& p = primitive.X_BP.p;
    show_text(fmt::format("  at ({:.4g}, {:.4g}, {:.4g}) m of the body", p.x(), p.y(), p.z()));
  }

  static void draw_slice(PanelContext& context) {
    SliceDisplay& slice = context.display.slice;
    const SliceDisplay standard;
    const Model& model = context.frame.model->model();
    if (slice.body >= model.body_count()) slice.body = -1;
    if (checkbox_with_key(
            "Shown##slice", slice.shown, key_text(Action::slice),
            "Signed distance on a plane: blue inside, orange outside, a dark line where it is zero.") &&
        slice.shown)
      place_slice(context);
    ImGui::BeginDisabled(!slice.shown);
    (void)body_combo("Distance of", model, slice.body, "all bodies",
                     "Whose distance; of all it is the least.");
    const int selected = context.selection.body;
    ImGui::BeginDisabled(selected < 0);
    if (wide_button("Through the body", 2) && selected >= 0) {
      const auto b = static_cast<std::size_t>(selected);
      slice.centre = context.frame.state.X_WB[b].p;
      slice.offset = 0.0;
      if (std::isfinite(model.bodies[b].size)) slice.size = 1.5 * model.bodies[b].size;
    }
    ImGui::EndDisabled();
    tooltip("Through the centre of mass of the selected body.");
    ImGui::SameLine();
    if (wide_button("Face the camera", 2)) {
      slice.azimuth = context.camera.azimuth;
      slice.elevation = context.camera.elevation;
    }
    tooltip("Turns the plane towards the camera.");
    constexpr double k_half_turn = std::numbers::pi;
    const auto angle = [&](const char* label, double& radians, double most, double usual, const char* help) {
      // What comes of 1.5708 is 90.
      double degrees = std::round(radians * 180.0 / k_half_turn * 1e3) / 1e3;
      if (slider(label, degrees, {"°", -most, most, false, std::round(usual * 180.0 / k_half_turn), help}))
        radians = degrees * k_half_turn / 180.0;
    };
    // The camera may have been turned round several times.
    slice.azimuth = std::remainder(slice.azimuth, 2.0 * k_half_turn);
    slice.elevation = std::clamp(slice.elevation, -0.5 * k_half_turn, 0.5 * k_half_turn);
    angle("Azimuth", slice.azimuth, 180.0, standard.azimuth, "Of the plane's normal, about z from x.");
    angle("Elevation", slice.elevation, 90.0, standard.elevation,
          "Of the plane's normal, above the horizon.");
    (void)slider("Offset", slice.offset,
                 {"m", -0.5 * slice.size, 0.5 * slice.size, false, 0.0, "Along the normal."});
    (void)slider("Width", slice.size, {"m", 1e-3, 10.0, true, std::nullopt, "Of the square that is shown."});
    slice.size = std::clamp(slice.size, 1e-6, 1e6);
    (void)slider("Arrows", slice.arrows,
                 {"", 0.0, 40.0, false, standard.arrows, "Of the gradient, along each side; 0 is none."});
    slice.arrows = std::clamp(slice.arrows, 0, 200);
    (void)slider(
        "Pixels", slice.resolution,
        {"", 32.0, 512.0, false, standard.resolution, "Along each side: more are finer and slower."});
    slice.resolution = std::clamp(slice.resolution, 2, 2048);
    colour_bar(&diverging_of_unit, "inside", "surface", "outside");
    ImGui::EndDisabled();
  }

  int body_ = 1, selected_ = -1;
  std::future<Discrepancy> computation_;
  Discrepancy discrepancy_;
  std::uint64_t measured_version_ = 0;
  int measured_body_ = -1;
};

}  // namespace

std::unique_ptr<Panel> make_geometry_panel() { return std::make_unique<GeometryPanel>(); }

}  // namespace abut::viewer
