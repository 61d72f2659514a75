#include <array>
#include <cmath>

#include <epoxy/gl.h>
#include <catch2/catch.hpp>

#include "apps/render/headless_context.h"
#include "apps/render/renderer.h"
#include "engine/mesh_shapes.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

constexpr int k_width = 160, k_height = 120;

/// Draws without a window. Every picture is followed by a look at OpenGL's errors.
struct Studio {
  HeadlessContext context{k_width, k_height};
  Renderer renderer;

  Image draw(const Picture& picture, const Viewport& viewport = {0, 0, k_width, k_height}) {
    renderer.draw(picture, viewport, context.framebuffer());
    const Image image = read_pixels(context.width(), context.height(), context.framebuffer());
    require_no_gl_error("after a picture");
    return image;
  }
};

struct Pixel {
  int red, green, blue;
  friend bool operator==(const Pixel&, const Pixel&) = default;
};

/// x to the right, y downwards.
Pixel pixel(const Image& image, int x, int y) {
  const std::uint8_t* p = &image.pixels[3 * static_cast<std::size_t>(y * image.width + x)];
  return {p[0], p[1], p[2]};
}

bool is_near(const Pixel& p, const Colour& colour, int tolerance = 3) {
  const std::array<int, 3> channels{p.red, p.green, p.blue};
  for (int i = 0; i < 3; ++i) {
    if (std::abs(channels[static_cast<std::size_t>(i)] - std::lround(255.0f * colour[i])) > tolerance)
      return false;
  }
  return true;
}

Colour background_at(int y) {
  const auto t = (static_cast<float>(y) + 0.5f) / static_cast<float>(k_height);
  return (1.0f - t) * k_background_top + t * k_background_bottom;
}

bool is_background(const Image& image, int x, int y) { return is_near(pixel(image, x, y), background_at(y)); }
bool is_red(const Pixel& p) { return p.red > 100 && p.red > 2 * p.green && p.red > 2 * p.blue; }
bool is_green(const Pixel& p) { return p.green > 80 && p.green > p.red + 40 && p.green > p.blue + 40; }
bool is_blue(const Pixel& p) { return p.blue > 80 && p.blue > p.red + 40 && p.blue > p.green + 40; }

const Colour k_red = rgb(220, 20, 20), k_green = rgb(20, 200, 20), k_blue = rgb(30, 30, 230);

/// Looks along x at the origin from -x; 0.2 m there are a quarter of the height.
Picture empty_picture() {
  Picture picture;
  picture.camera.azimuth = std::acos(-1.0);
  picture.camera.elevation = 0.0;
  picture.camera.distance = 0.4 / std::tan(0.35);
  return picture;
}

DrawnSurface ball(const Colour& colour, double radius = 0.2,
                  const Vec3<double>& centre = Vec3<double>::Zero()) {
  DrawnSurface drawn;
  drawn.surface = mesh_surface(sphere_mesh(radius, 3));
  drawn.X_WB.p = centre;
  drawn.colour = colour;
  return drawn;
}

TEST_CASE("Renderer: nothing but background is its two colours and what is between", "[viewer][value]") {
  Studio studio;
  const Image image = studio.draw(empty_picture());
  REQUIRE(image.width == k_width);
  REQUIRE(image.pixels.size() == 3u * k_width * k_height);
  for (const int y : {0, 30, 60, 119}) {
    for (const int x : {0, 80, 159}) CHECK(is_background(image, x, y));
  }
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
  // The lamp is over the left shoulder.
  const Pixel lit = pixel(image, 80 - 12, 60 - 14), dark = pixel(image, 80 + 15, 60 + 18);
  CHECK(lit.red > dark.red + 40);
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

TEST_CASE("Renderer: glyphs on top are seen through an opaque surface, solid ones are not",
          "[viewer][value]") {
  Studio studio;
  Picture picture = empty_picture();
  picture.surfaces = {ball(k_red)};
  picture.glyphs.add_sphere(Vec3<double>::Zero(), 0.05, k_green);
  Image image = studio.draw(picture);
  CHECK(is_red(pixel(image, 80, 60)));

  std::swap(picture.glyphs, picture.glyphs_on_top);
  image = studio.draw(picture);
  CHECK(is_green(pixel(image, 80, 60)));
  CHECK(is_red(pixel(image, 80 + 15, 60)));

  // They keep hiding each other: the nearer one, added first, stays in front.
  picture.glyphs_on_top.clear();
  picture.glyphs_on_top.add_sphere({-0.1, 0, 0}, 0.03, k_blue);
  picture.glyphs_on_top.add_sphere({0.1, 0, 0}, 0.05, k_green);
  image = studio.draw(picture);
  CHECK(is_blue(pixel(image, 80, 60)));
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
  picture.floors = {{pose_at({0, 0, -0.3})}};
  const Image image = studio.draw(picture);
  int floor = 0;
  for (int x = 0; x < k_width; x += 3) {
    for (int y = 0; y < 58; ++y) REQUIRE(is_background(image, x, y));
    for (int y = 105; y < k_height; ++y) floor += !is_near(pixel(image, x, y), background_at(y), 8);
  }
  CHECK(floor == 54 * 15);
  int colours = 0;  // it is checkered
  for (int x = 1; x < k_width; ++x)
    colours += std::abs(pixel(image, x, 115).red - pixel(image, x - 1, 115).red) > 8;
  CHECK(colours >= 2);

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
