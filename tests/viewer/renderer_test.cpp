#include <cmath>
#include <limits>
#include <vector>

#include <epoxy/gl.h>
#include <catch2/catch.hpp>

#include "tests/support/scenes.h"
#include "tests/viewer/studio.h"

namespace abut::test {
namespace {

TEST_CASE("Renderer: without anything there is the sky above a horizon and the ground below",
          "[viewer][value]") {
  Studio studio;
  const Image image = studio.draw(empty_picture());
  REQUIRE(image.width == k_width);
  REQUIRE(image.pixels.size() == 3u * k_width * k_height);
  for (const int y : {0, 30, 60, 119}) {
    for (const int x : {0, 80, 159}) CHECK(is_background(image, x, y));
  }
  CHECK(is_near(pixel(image, 80, 60), k_background_horizon, 6));
  Picture steep = empty_picture();
  steep.camera.elevation = 1.5;  // down from above: the ground alone, and its colour in the middle
  CHECK(is_near(pixel(studio.draw(steep), 80, 60), k_background_ground));
}

TEST_CASE("Renderer: a red sphere is red where it is, and background is elsewhere", "[viewer][value]") {
  Studio studio;
  Picture picture = empty_picture();
  picture.surfaces = {ball(k_red)};
  const Image image = studio.draw(picture);
  CHECK(is_red(pixel(image, 80, 60)));
  for (const int d : {-25, 25}) {  // its radius is 30 pixels
    CHECK(is_red(pixel(image, 80 + d, 60)));
    CHECK(is_red(pixel(image, 80, 60 + d)));
  }
  for (const int d : {-36, 36}) {
    CHECK(is_background(image, 80 + d, 60));
    CHECK(is_background(image, 80, 60 + d));
  }
  CHECK(pixel(image, 80, 60 - 22).red > pixel(image, 80, 60 + 22).red + 10);  // light comes from above
}

TEST_CASE("Renderer: the key light stands still in the world", "[viewer][value]") {
  Studio studio;
  Picture picture = empty_picture();
  picture.surfaces = {ball(k_red)};
  const int away = pixel(studio.draw(picture), 80, 60).red;
  picture.camera.azimuth = 0.0;  // from +x, where the light is
  const int towards = pixel(studio.draw(picture), 80, 60).red;
  CHECK(towards > away + 30);
  CHECK(away > 100);  // and no side is black
}

TEST_CASE("Renderer: the pose moves a surface, and the nearer one is in front whatever their order",
          "[viewer][value]") {
  Studio studio;
  Picture picture = empty_picture();
  picture.surfaces = {ball(k_red, 0.1, {0, -0.2, 0.1})};
  Image image = studio.draw(picture);  // seen along x, -y is to the right
  CHECK(is_red(pixel(image, 80 + 30, 60 - 15)));
  CHECK(is_background(image, 80 - 30, 60 - 15));

  const DrawnSurface red = ball(k_red), green = ball(k_green, 0.1, {-0.3, 0, 0});
  for (const auto& order : {std::vector{red, green}, std::vector{green, red}}) {
    picture.surfaces = order;
    image = studio.draw(picture);
    CHECK(is_green(pixel(image, 80, 60)));
    CHECK(is_red(pixel(image, 80 + 25, 60)));
  }
}

TEST_CASE("Renderer: colours of vertices come before that of the surface", "[viewer][value]") {
  Studio studio;
  Picture picture = empty_picture();
  Surface painted = *mesh_surface(sphere_mesh(0.2, 3));
  for (const Eigen::Vector3f& position : painted.positions)
    painted.colours.push_back(position.z() > 0 ? k_green : k_blue);
  DrawnSurface drawn = ball(k_red);
  drawn.surface = std::make_shared<const Surface>(std::move(painted));
  picture.surfaces = {drawn, ball(k_red, 0.05, {0, -0.3, 0})};
  const Image image = studio.draw(picture);
  CHECK(is_green(pixel(image, 80, 60 - 15)));
  CHECK(is_blue(pixel(image, 80, 60 + 15)));
  CHECK(is_red(pixel(image, 80 + 45, 60)));
}

TEST_CASE("Renderer: a translucent surface blends with what is behind it, and hides nothing of it",
          "[viewer][value]") {
  Studio studio;
  Picture picture = empty_picture();
  Colour glass = k_blue;
  glass.w() = 0.4f;
  picture.surfaces = {ball(glass, 0.2, {-0.3, 0, 0}), ball(k_red, 0.1)};
  const Image image = studio.draw(picture);
  picture.surfaces.erase(picture.surfaces.begin());
  const Image behind = studio.draw(picture);
  const Pixel mixed = pixel(image, 80, 60), red = pixel(behind, 80, 60);
  CHECK(mixed.red > 50);
  CHECK(mixed.red < red.red - 20);
  CHECK(mixed.blue > red.blue + 20);
  const Pixel edge = pixel(image, 80 + 25, 60);  // glass in front of the background
  CHECK(edge.blue > edge.red + 20);

  Colour other_glass = k_green;  // of two, the farther is drawn first
  other_glass.w() = 0.6f;
  const DrawnSurface near = ball(glass, 0.2, {-0.3, 0, 0}), far = ball(other_glass, 0.2, {0.3, 0, 0});
  picture.surfaces = {near, far};
  const Image one_order = studio.draw(picture);
  picture.surfaces = {far, near};
  CHECK(studio.draw(picture).pixels == one_order.pixels);
  CHECK(is_blue(pixel(one_order, 80, 60)));

  Colour nothing = k_blue;
  nothing.w() = 0.0f;
  picture.surfaces = {ball(nothing)};
  CHECK(is_background(studio.draw(picture), 80, 60));
}

TEST_CASE("Renderer: what is selected is brighter, and its rim most of all", "[viewer][value]") {
  Studio studio;
  Picture picture = empty_picture();
  picture.surfaces = {ball(rgb(150, 40, 40))};
  const Image plain = studio.draw(picture);
  picture.surfaces[0].highlighted = true;
  const Image highlighted = studio.draw(picture);
  const auto gain = [&](int x, int y) {
    const Pixel a = pixel(plain, x, y), b = pixel(highlighted, x, y);
    return b.red + b.green + b.blue - a.red - a.green - a.blue;
  };
  CHECK(gain(80, 60) > 10);
  CHECK(gain(80 + 28, 60) > gain(80, 60) + 30);
}

TEST_CASE("Renderer: edges of a wireframe are darker than the surface, which stays", "[viewer][value]") {
  Studio studio;
  Picture picture = empty_picture();
  DrawnSurface box;
  box.surface = mesh_surface(box_mesh({0.2, 0.2, 0.2}, 2));  // its middle is a vertex
  box.colour = k_green;
  picture.surfaces = {box};
  const Image plain = studio.draw(picture);
  picture.surfaces[0].wireframe = true;
  const Image wires = studio.draw(picture);
  int darker = 0, same = 0;
  for (int y = 40; y < 80; ++y) {
    for (int x = 60; x < 100; ++x) {
      const Pixel a = pixel(plain, x, y), b = pixel(wires, x, y);
      CHECK(b.green <= a.green + 1);
      darker += b.green < a.green - 40;
      same += b == a;
    }
  }
  CHECK(darker > 40);
  CHECK(same > 1000);
}

TEST_CASE("Renderer: glyphs on top are seen faintly through what hides them, and in full before it",
          "[viewer][value]") {
  Studio studio;
  Picture picture = empty_picture();
  picture.surfaces = {ball(k_red)};
  const Image without = studio.draw(picture);
  picture.glyphs.add_sphere(Vec3<double>::Zero(), 0.05, k_green);
  CHECK(studio.draw(picture).pixels == without.pixels);  // a solid glyph is hidden

  std::swap(picture.glyphs, picture.glyphs_on_top);
  Image image = studio.draw(picture);
  const Pixel plain = pixel(without, 80, 60), faint = pixel(image, 80, 60);
  CHECK(faint.green > plain.green + 30);
  CHECK(faint.red < plain.red - 30);
  CHECK(faint.red > plain.red / 2);  // most of it is still the ball
  CHECK(pixel(image, 80 + 15, 60) == pixel(without, 80 + 15, 60));

  picture.glyphs_on_top.clear();
  picture.glyphs_on_top.add_sphere({-0.3, 0, 0}, 0.05, k_green);
  const Image before = studio.draw(picture);
  CHECK(is_green(pixel(before, 80, 60)));
  picture.surfaces.clear();
  CHECK(pixel(studio.draw(picture), 80, 60) == pixel(before, 80, 60));

  // They keep hiding each other, seen faintly, too: the nearer one, added first, stays in front.
  for (const bool hidden : {false, true}) {
    picture.surfaces = hidden ? std::vector{ball(k_red)} : std::vector<DrawnSurface>();
    picture.glyphs_on_top.clear();
    picture.glyphs_on_top.add_sphere({-0.1, 0, 0}, 0.03, k_blue);
    const Image alone = studio.draw(picture);
    picture.glyphs_on_top.add_sphere({0.1, 0, 0}, 0.05, k_green);
    CHECK(pixel(studio.draw(picture), 80, 60) == pixel(alone, 80, 60));
  }
}

TEST_CASE("Renderer: see-through glyphs are seen inside of a body, and hide no glyph on top",
          "[viewer][value]") {
  Studio studio;
  Picture picture = empty_picture();
  picture.surfaces = {ball(k_red)};
  Colour half_blue = k_blue;
  half_blue.w() = 0.5f;
  picture.see_through_glyphs.add_cone({0, 0, 0.1}, {0, 0, -0.1}, 0.1, half_blue);
  Image image = studio.draw(picture);
  const Pixel through = pixel(image, 80, 66);
  CHECK(through.blue > 60);  // blue over red
  CHECK(through.red > 60);
  picture.surfaces.clear();
  picture.glyphs_on_top.add_sphere({0.15, 0, 0}, 0.05, k_green);  // behind the cone
  image = studio.draw(picture);
  CHECK(is_green(pixel(image, 80, 60)));
}

TEST_CASE("Renderer: every shape of glyph is drawn where it is, discs from both sides", "[viewer][value]") {
  Studio studio;
  Picture picture = empty_picture();
  picture.glyphs.add_arrow({0, 0.2, 0}, {0, -0.2, 0}, 0.01, k_green);  // to the right
  Image image = studio.draw(picture);
  CHECK(is_green(pixel(image, 80 - 28, 60)));
  CHECK(is_green(pixel(image, 80 + 26, 60)));
  CHECK(is_background(image, 80 + 33, 60));
  CHECK(is_background(image, 80 - 33, 60));
  CHECK(is_background(image, 80, 60 - 4));
  CHECK(is_green(pixel(image, 80 + 23, 60 - 2)));  // the head is thicker

  for (const double side : {-1.0, 1.0}) {
    picture.glyphs.clear();
    picture.glyphs.add_disc({0, 0, 0}, {side, 0.3, 0.2}, 0.1, k_blue);
    image = studio.draw(picture);
    CAPTURE(side);
    CHECK(is_blue(pixel(image, 80, 60)));
    CHECK(is_blue(pixel(image, 80, 60 - 12)));
    CHECK(is_background(image, 80, 60 - 18));
  }
}

TEST_CASE("Renderer: a floor is seen below the horizon, and not above it", "[viewer][value]") {
  Studio studio;
  Picture picture = empty_picture();
  picture.floors = {{pose_at({0, 0, -0.3}), k_green}};
  const Image image = studio.draw(picture);
  int floor = 0;
  for (int x = 0; x < k_width; x += 3) {
    for (int y = 0; y < 58; ++y) REQUIRE(is_background(image, x, y));
    for (int y = 105; y < k_height; ++y) floor += is_green(pixel(image, x, y));
  }
  CHECK(floor == 54 * 15);
  // From inside of its solid one sees what is outside.
  picture.floors = {{pose_at({0, 0, 0.3})}};
  picture.surfaces = {ball(k_red, 0.1, {0.6, 0, 0.5})};
  picture.camera.elevation = -0.2;
  picture.camera.target = {0, 0, 0.2};
  const Image below = studio.draw(picture);
  const Vec3<double> place = picture.camera.project({0.6, 0, 0.5}, double(k_width) / k_height);
  const int x = static_cast<int>(k_width * (0.5 + 0.5 * place.x())),
            y = static_cast<int>(k_height * (0.5 - 0.5 * place.y()));
  const Pixel seen = pixel(below, x, y);
  CHECK(seen.red > seen.blue + 40);
}

TEST_CASE("Renderer: a slice shows its pixels from both sides, and is hidden by what is before it",
          "[viewer][value]") {
  Studio studio;
  Picture picture = empty_picture();
  SlicePicture slice;
  slice.plane.right = -Vec3<double>::UnitY();  // to the right, as seen from -x
  slice.plane.size = 0.4;
  slice.resolution = 2;
  for (const Colour& colour : {k_red, k_green, k_blue, rgb(255, 255, 255)}) {
    for (int i = 0; i < 4; ++i) {
      slice.pixels.push_back(i == 3 ? 230 : static_cast<std::uint8_t>(std::lround(255.0f * colour[i])));
    }
  }
  slice.distances.assign(4, 0.0f);
  picture.slice = slice;
  Image image = studio.draw(picture);
  CHECK(is_red(pixel(image, 80 - 20, 60 + 20)));  // rows from below
  CHECK(is_green(pixel(image, 80 + 20, 60 + 20)));
  CHECK(is_blue(pixel(image, 80 - 20, 60 - 20)));
  CHECK(pixel(image, 80 + 20, 60 - 20).red > 200);
  CHECK(is_background(image, 80 + 35, 60));

  for (std::size_t i = 0; i < 4; ++i) std::swap(picture.slice->pixels[i], picture.slice->pixels[4 + i]);
  image = studio.draw(picture);  // another one of the same size
  CHECK(is_green(pixel(image, 80 - 20, 60 + 20)));
  picture.slice = slice;

  picture.surfaces = {ball(k_blue, 0.02, {-0.2, 0.1, -0.1})};
  image = studio.draw(picture);
  const Vec3<double> place = picture.camera.project({-0.2, 0.1, -0.1}, double(k_width) / k_height);
  CHECK(is_blue(pixel(image, static_cast<int>(k_width * (0.5 + 0.5 * place.x())),
                      static_cast<int>(k_height * (0.5 - 0.5 * place.y())))));

  picture.surfaces.clear();
  picture.camera.azimuth = 0.0;
  image = studio.draw(picture);
  CHECK(is_red(pixel(image, 80 + 20, 60 + 20)));
}

TEST_CASE("Renderer: draws into its viewport only, and into none at all", "[viewer][value]") {
  Studio studio;
  Picture picture = empty_picture();
  picture.surfaces = {ball(k_red)};
  glBindFramebuffer(GL_FRAMEBUFFER, studio.context.framebuffer());
  glClearColor(0.0f, 0.0f, 1.0f, 1.0f);
  glClear(GL_COLOR_BUFFER_BIT);
  for (const Viewport& none : {Viewport{}, Viewport{10, 10, 0, 50}, Viewport{10, 10, 50, -1}}) {
    CHECK(pixel(studio.draw(picture, none), 20, 60) == Pixel{0, 0, 255});
  }
  const Image image = studio.draw(picture, {80, 0, 80, 60});  // the lower right quarter
  CHECK(is_red(pixel(image, 120, 90)));
  CHECK(pixel(image, 40, 90) == Pixel{0, 0, 255});
  CHECK(pixel(image, 120, 59) == Pixel{0, 0, 255});
  CHECK(pixel(image, 79, 90) == Pixel{0, 0, 255});
  CHECK_FALSE(pixel(image, 81, 118) == Pixel{0, 0, 255});
}

TEST_CASE("Renderer: whatever state OpenGL is left in, the next picture is the same", "[viewer][property]") {
  Studio studio;
  Picture picture = empty_picture();
  picture.surfaces = {ball(k_red)};
  picture.floors = {{pose_at({0, 0, -0.3})}};
  picture.glyphs_on_top.add_arrow({0, 0, 0}, {0, 0, 0.3}, 0.02, k_green);
  const Image first = studio.draw(picture);
  Picture other = empty_picture();
  other.surfaces = {ball(k_blue, 0.4)};
  studio.draw(other);  // so that the same picture is not simply still there
  glEnable(GL_SCISSOR_TEST);
  glScissor(0, 0, 10, 10);
  glEnable(GL_BLEND);
  glBlendFunc(GL_ZERO, GL_ZERO);
  glEnable(GL_CULL_FACE);
  glCullFace(GL_FRONT);
  glDisable(GL_DEPTH_TEST);
  glDepthFunc(GL_NEVER);
  glDepthMask(GL_FALSE);
  glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
  glColorMask(GL_FALSE, GL_TRUE, GL_TRUE, GL_TRUE);
  glViewport(3, 3, 5, 5);
  glActiveTexture(GL_TEXTURE2);
  CHECK(studio.draw(picture).pixels == first.pixels);
}

TEST_CASE("Renderer: poses that are not finite and surfaces that are null are left out", "[viewer][value]") {
  Studio studio;
  Picture picture = empty_picture();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  picture.surfaces = {ball(k_red, 0.2, {nan, 0, 0}), DrawnSurface{}, ball(k_red)};
  picture.surfaces[2].surface = std::make_shared<const Surface>();
  picture.floors = {{pose_at({0, 0, nan})}};
  const Image image = studio.draw(picture);
  CHECK(is_background(image, 80, 60));
  CHECK(is_background(image, 80, 119));
}

/// How many buffers OpenGL has of the names that it gives out first.
int buffer_count() {
  int count = 0;
  for (GLuint name = 1; name < 2000; ++name) count += glIsBuffer(name) == GL_TRUE;
  return count;
}

TEST_CASE("Renderer: what it has uploaded of a surface goes with the surface's last owner",
          "[viewer][property]") {
  Studio studio;
  Picture picture = empty_picture();
  picture.glyphs.add_sphere(Vec3<double>::Zero(), 0.01, k_green);
  const DrawnSurface kept = ball(k_blue, 0.05, {0, 0.3, 0});
  picture.surfaces = {kept};
  studio.draw(picture);
  const int before = buffer_count();
  REQUIRE(before > 2);
  for (int i = 0; i < 50; ++i) {
    picture.surfaces = {kept, ball(i % 2 == 0 ? k_red : k_green)};  // often at the address of the one before
    const Image image = studio.draw(picture);
    CHECK((i % 2 == 0 ? is_red(pixel(image, 80, 60)) : is_green(pixel(image, 80, 60))));
    CHECK(is_blue(pixel(image, 80 - 45, 60)));
    CHECK(buffer_count() <= before + 2);
  }
  picture.surfaces = {kept};
  studio.draw(picture);
  CHECK(buffer_count() == before);

  // Not drawn for a while, but owned: it stays.
  picture.surfaces.clear();
  studio.draw(picture);
  CHECK(buffer_count() == before);
}

TEST_CASE("Renderer: gives all its buffers back when it ends", "[viewer][property]") {
  const HeadlessContext context(32, 32);
  const int before = buffer_count();
  {
    Renderer renderer;
    Picture picture = empty_picture();
    picture.surfaces = {ball(k_red)};
    renderer.draw(picture, {0, 0, 32, 32}, context.framebuffer());
    CHECK(buffer_count() > before);
  }
  CHECK(buffer_count() == before);
  require_no_gl_error("after the renderer");
}

TEST_CASE("HeadlessContext: its size can change, and several can be there at a time", "[viewer][value]") {
  HeadlessContext context(40, 30);
  CHECK(context.width() == 40);
  CHECK(context.height() == 30);
  context.resize(64, 20);
  CHECK(context.width() == 64);
  {
    const HeadlessContext other(8, 8);
    CHECK(other.framebuffer() != 0);
  }
  CHECK(context.height() == 20);
}

TEST_CASE("require_no_gl_error: says where and what, once", "[viewer][value]") {
  const HeadlessContext context(8, 8);
  glEnable(0xFFFF);
  CHECK_THROWS_WITH(require_no_gl_error("in a test"),
                    Catch::Contains("in a test") && Catch::Contains("invalid enum"));
  CHECK_NOTHROW(require_no_gl_error("in a test"));
}

}  // namespace
}  // namespace abut::test
