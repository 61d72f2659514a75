/// Pressure painted on surfaces.
#include "apps/viewer/pressure_paint.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "apps/picture/perceptual_colour.h"
#include "engine/mesh_shapes.h"
#include "tests/viewer/headless_viewer.h"

namespace abut::viewer {
namespace {

/// Of the density, by the areas of triangles.
double integral(const SurfaceDensity& density) {
  double sum = 0.0;
  const Surface& patch = density.patch;
  for (std::size_t i = 0; i < patch.triangles.size(); i += 3) {
    const std::uint32_t* const v = &patch.triangles[i];
    const auto p = [&](int k) -> Vec3<double> { return patch.positions[v[k]].cast<double>(); };
    const double area = 0.5 * (p(1) - p(0)).cross(p(2) - p(0)).norm();
    sum += area * (density.density[v[0]] + density.density[v[1]] + density.density[v[2]]) / 3.0;
  }
  return sum;
}

double highest(const SurfaceDensity& density) {
  return *std::max_element(density.density.begin(), density.density.end());
}

}  // namespace

TEST_CASE("spread_over: in the middle of a face the density is that of the kernel on a plane",
          "[viewer][value]") {
  const SharedSurface box = mesh_surface(box_mesh({0.5, 0.4, 0.3}, 1));  // two triangles a face
  const double r = 0.07, amount = 3.0;
  // A little outside of the surface and inside of it.
  for (const double height : {0.3, 0.32, 0.27}) {
    const SurfaceDensity density =
        spread_over(*box, std::vector{SpreadAmount{{0.1, -0.2, height}, {0, 0, 2}, amount, r}});
    CHECK(integral(density) == Approx(amount).epsilon(1e-5));
    CHECK(highest(density) == Approx(3.0 * amount / (std::numbers::pi * r * r)).epsilon(0.03));
    for (std::size_t i = 0; i < density.density.size(); ++i) {
      const Vec3<double> p = density.patch.positions[i].cast<double>();
      const double x = 1.0 - (p - Vec3<double>(0.1, -0.2, 0.3)).squaredNorm() / (r * r);
      const double expected = x > 0.0 ? 3.0 * amount / (std::numbers::pi * r * r) * x * x : 0.0;
      CHECK(std::abs(density.density[i] - expected) < 0.03 * highest(density));
    }
    CHECK(density.density.size() < 20000);
  }
}

TEST_CASE(
    "spread_over: amounts are kept wherever they lie: at edges and corners, on curved and thin surfaces",
    "[viewer][property]") {
  struct Case {
    SharedSurface surface;
    SpreadAmount amount;
  };
  const SharedSurface box = mesh_surface(box_mesh({0.5, 0.4, 0.3}, 1)),
                      ball = mesh_surface(sphere_mesh(0.2, 3)),
                      plate = mesh_surface(box_mesh({0.5, 0.5, 1e-3}, 4));
  const Case cases[] = {
      {box, {{0.5, 0.4, 0.3}, {0, 0, 1}, 2.0, 0.1}},     // a corner
      {box, {{0.5, 0.4, 0.3}, {1, 1, 1}, 2.0, 0.1}},     // of all three sides
      {box, {{0.5, 0.0, 0.3}, {1, 0, 1}, 2.0, 0.1}},     // an edge
      {box, {{0.0, 0.0, 0.3}, {0, 0, 0}, 2.0, 0.1}},     // of any side
      {box, {{0.0, 0.0, 0.3}, {0, 0, 1}, 2.0, 5.0}},     // larger than the body
      {box, {{0.0, 0.0, 0.3}, {0, 0, 1}, 2.0, 1e-5}},    // far smaller than its triangles
      {ball, {{0.0, 0.0, 0.2}, {0, 0, 1}, 2.0, 0.1}},    // curved
      {ball, {{0.0, 0.0, 0.25}, {0, 0, 1}, 2.0, 0.01}},  // farther away than the kernel reaches
      {plate, {{0.1, 0.1, 0.0}, {0, 0, 1}, 2.0, 0.05}},  // nearer to the other side, or as near
      {plate, {{0.1, 0.1, -0.9e-3}, {0, 0, 1}, 2.0, 0.05}},
  };
  for (const Case& one : cases) {
    CAPTURE(&one - cases);
    const SurfaceDensity density = spread_over(*one.surface, std::vector{one.amount});
    CHECK(integral(density) == Approx(2.0).epsilon(1e-3));
    for (const double value : density.density) REQUIRE(value >= 0.0);
    if (one.surface == plate) {  // the side that it presses on alone
      for (std::size_t i = 0; i < density.density.size(); ++i) {
        if (density.density[i] > 0.0) CHECK(density.patch.positions[i].z() > 0.0f);
      }
    }
  }
  // Several add up.
  const std::vector<SpreadAmount> both{cases[0].amount, cases[2].amount};
  CHECK(integral(spread_over(*box, both)) == Approx(4.0).epsilon(1e-3));
  CHECK(spread_over(Surface(), both).density.empty());
  CHECK(spread_over(*box, {}).density.empty());
}

TEST_CASE("pressure: its integral over a body's surface is the sum of the normal forces on it",
          "[viewer][property]") {
  for (const char* scene : {"box_stack", "drill_mustard", "gripper"}) {
    CAPTURE(scene);
    HeadlessViewer user(scene_file(scene));
    user.steps(200);
    user.draw();
    const Frame& frame = user.frame();
    const Model& model = frame.model->model();
    ContactDisplay display;
    display.least = 0.0;
    BodySurfaces surfaces;
    surfaces.reset(frame.model->visuals);
    int pressed = 0;
    for (int body = 0; body < model.body_count(); ++body) {
      const Body& of = model.bodies[static_cast<std::size_t>(body)];
      const std::vector<SpreadAmount> amounts = spread_forces(frame, contacts_of(frame), display, body);
      const SharedSurface surface = pressed_surface(of, surfaces.surface_of(model, body, {}), amounts);
      if (amounts.empty()) continue;
      REQUIRE(surface);
      ++pressed;
      CAPTURE(of.name);
      const double newtons = force_on(frame, body).normal_force;
      CHECK(integral(spread_over(*surface, amounts)) == Approx(newtons).epsilon(1e-3));
    }
    CHECK(pressed > 0);
  }
}

TEST_CASE("pressure: what is pressed harder is lighter, and no force is spread over less than its area",
          "[viewer][property]") {
  HeadlessViewer user(scene_file("box_stack"));
  user.steps(100);
  user.draw();
  const Frame& frame = user.frame();
  const Model& model = frame.model->model();
  DisplayOptions display;
  display.contacts.least = 0.0;
  BodySurfaces surfaces;
  surfaces.reset(frame.model->visuals);
  Picture picture;
  PictureNotes notes;
  REQUIRE(add_pressures(frame, contacts_of(frame), display, surfaces, picture, notes) > 3);
  REQUIRE(static_cast<int>(picture.see_through_surfaces.size()) == model.body_count());  // the floor, too
  std::vector<std::pair<double, double>> shades;                                         // density, lightness
  for (int body = 0; body < model.body_count(); ++body) {
    const Body& of = model.bodies[static_cast<std::size_t>(body)];
    const std::vector<SpreadAmount> amounts =
        spread_forces(frame, contacts_of(frame), display.contacts, body);
    for (const SpreadAmount& amount : amounts) {
      const Vec3<double> p_W = frame.state.X_WB[static_cast<std::size_t>(body)] * amount.place;
      const auto contact =
          std::find_if(frame.contacts.begin(), frame.contacts.end(),
                       [&](const ContactView& view) { return (view.force.point_W - p_W).norm() < 1e-9; });
      REQUIRE(contact != frame.contacts.end());
      CHECK(std::numbers::pi * amount.radius * amount.radius >= contact->contact.area);
    }
    const SurfaceDensity density =
        spread_over(*pressed_surface(of, surfaces.surface_of(model, body, display), amounts), amounts);
    const Surface& painted = *picture.see_through_surfaces[static_cast<std::size_t>(body)].surface;
    REQUIRE(painted.colours.size() == density.density.size());
    for (std::size_t i = 0; i < painted.colours.size(); ++i)
      shades.emplace_back(density.density[i], to_lab(painted.colours[i])[0]);
  }
  std::sort(shades.begin(), shades.end());
  double darker = 0.0;  // at most
  for (std::size_t i = 1; i < shades.size(); ++i)
    darker = std::max(darker, shades[i - 1].second - shades[i].second);
  CHECK(darker < 0.01);
  CHECK(shades.back().second > shades.front().second + 30.0);
}

TEST_CASE("pressure: is painted on the plane of a tilted floor, around what presses on it",
          "[viewer][value]") {
  Body floor;
  Primitive plane;
  plane.kind = PrimitiveKind::half_space;
  plane.X_BP = {Quat<double>(Eigen::AngleAxisd(0.4, Vec3<double>::UnitY())), {0.1, 0.2, 0.3}};
  floor.shape.primitives = {plane};
  const Vec3<double> normal = plane.X_BP.q * Vec3<double>::UnitZ();
  std::vector<SpreadAmount> amounts;
  for (const double x : {-0.5, 2.0}) {
    const Vec3<double> place = plane.X_BP * Vec3<double>(x, 1.0, 0.0);
    amounts.push_back({place, normal, 3.0, 0.1});
  }
  const SharedSurface surface = pressed_surface(floor, nullptr, amounts);
  REQUIRE(surface);
  const SurfaceDensity density = spread_over(*surface, amounts);
  CHECK(integral(density) == Approx(6.0).epsilon(1e-3));
  for (std::size_t i = 0; i < density.density.size(); ++i) {
    const Vec3<double> p = density.patch.positions[i].cast<double>();
    CHECK(std::abs(inverse_point(plane.X_BP, p).z()) < 1e-6);
    if (density.density[i] > 0.0)
      CHECK(std::min((p - amounts[0].place).norm(), (p - amounts[1].place).norm()) < 0.1);
  }
  // Of a body with a surface of its own that stays, and without half-spaces nothing is added.
  const SharedSurface ball = mesh_surface(sphere_mesh(0.2, 2));
  CHECK(pressed_surface(floor, ball, amounts)->triangles.size() == ball->triangles.size() + 6);
  floor.shape.primitives.clear();
  CHECK(pressed_surface(floor, ball, amounts) == ball);
  CHECK_FALSE(pressed_surface(floor, nullptr, amounts));
}

TEST_CASE("Viewer: pressure is painted on what is below a box, with a legend, and a hidden body has none",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("box_stack"), 640, 400);
  user.steps(300);
  user.viewer.display.contacts.points = user.viewer.display.contacts.normals = false;
  user.draw();
  const Image without = user.image();
  user.press(GLFW_KEY_Y);
  CHECK(difference(without, user.image()) > 500);
  CHECK(user.viewer.glyph_counts().pressures > 3);
  REQUIRE(user.viewer.notes().legend.entries.size() == 1);
  CHECK(user.viewer.notes().legend.entries[0].text == "pressure on surfaces");
  CHECK(user.viewer.notes().legend.entries[0].high.find("Pa") != std::string::npos);
  for (int body = 0; body < user.frame().model->model().body_count(); ++body)
    user.viewer.display.visibility.toggle_body(body);
  user.draw();
  CHECK(user.viewer.glyph_counts().pressures == 0);
  CHECK(user.viewer.notes().legend.entries.empty());
}

}  // namespace abut::viewer
