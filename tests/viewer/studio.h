/// Small pictures, drawn without a window.
#pragma once

#include <array>
#include <cmath>
#include <memory>

#include "apps/render/headless_context.h"
#include "apps/render/renderer.h"
#include "engine/mesh_shapes.h"

namespace abut::test {

inline constexpr int k_width = 160, k_height = 120;

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
inline Pixel pixel(const Image& image, int x, int y) {
  const std::uint8_t* p = &image.pixels[3 * static_cast<std::size_t>(y * image.width + x)];
  return {p[0], p[1], p[2]};
}

inline bool is_near(const Pixel& p, const Colour& colour, int tolerance = 3) {
  const std::array<int, 3> channels{p.red, p.green, p.blue};
  for (int i = 0; i < 3; ++i) {
    if (std::abs(channels[static_cast<std::size_t>(i)] - std::lround(255.0f * colour[i])) > tolerance)
      return false;
  }
  return true;
}

/// What is behind everything, by the slope of the ray through a pixel of a picture whose camera is level.
inline Colour background_at(int x, int y) {
  const double slope = std::tan(0.35), up = slope * (1.0 - 2.0 * (y + 0.5) / k_height),
               right = slope * (2.0 * (x + 0.5) - k_width) / k_height;
  const double height = up / std::hypot(1.0, up, right);
  const auto part = static_cast<float>(1.0 - std::pow(1.0 - std::abs(height), height > 0.0 ? 3.0 : 6.0));
  return (1.0f - part) * k_background_horizon +
         part * (height > 0.0 ? k_background_sky : k_background_ground);
}

inline bool is_background(const Image& image, int x, int y) {
  return is_near(pixel(image, x, y), background_at(x, y));
}
inline bool is_red(const Pixel& p) { return p.red > 100 && p.red > 2 * p.green && p.red > 2 * p.blue; }
inline bool is_green(const Pixel& p) { return p.green > 80 && p.green > p.red + 40 && p.green > p.blue + 40; }
inline bool is_blue(const Pixel& p) { return p.blue > 80 && p.blue > p.red + 40 && p.blue > p.green + 40; }

inline const Colour k_red = rgb(220, 20, 20), k_green = rgb(20, 200, 20), k_blue = rgb(30, 30, 230);

/// Looks along x at the origin from -x; 0.2 m there are a quarter of the height.
inline Picture empty_picture() {
  Picture picture;
  picture.camera.azimuth = std::acos(-1.0);
  picture.camera.elevation = 0.0;
  picture.camera.distance = 0.4 / std::tan(0.35);
  return picture;
}

inline DrawnSurface ball(const Colour& colour, double radius = 0.2,
                         const Vec3<double>& centre = Vec3<double>::Zero()) {
  DrawnSurface drawn;
  drawn.surface = mesh_surface(sphere_mesh(radius, 3));
  drawn.X_WB.p = centre;
  drawn.colour = colour;
  return drawn;
}

inline int brightness(const Pixel& p) { return p.red + p.green + p.blue; }

/// A ball over a floor, seen from above.
inline Picture ball_over_floor() {
  Picture picture = empty_picture();
  picture.surfaces = {ball(k_red, 0.1, {0, 0, 0.25})};
  picture.floors = {{Pose<double>()}};
  picture.camera.elevation = 0.9;
  return picture;
}

}  // namespace abut::test
