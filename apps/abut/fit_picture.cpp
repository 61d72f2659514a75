#include "apps/abut/fit_picture.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/canvas.h"
#include "apps/picture/body_surfaces.h"
#include "apps/picture/image_drawing.h"
#include "collision/fitting/triangle_bvh.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/count_text.h"

namespace abut {
namespace {

constexpr int k_views = 4, k_view_width = 480, k_view_height = 460, k_head_height = 44, k_foot_height = 84;
const Colour k_plain = rgb(122, 152, 190), k_text = rgb(236, 238, 240), k_frame_colour = rgb(88, 96, 108),
             k_head_colour = rgb(44, 50, 60);

/// Every triangle divided evenly until no edge is longer than `longest` [m], or than is needed to stay below
/// a number of triangles, so that a colour at each position can show what varies within a triangle.
Surface subdivided(const Surface& surface, double longest) {
  constexpr std::size_t k_most = 600'000;
  const auto corner = [&](std::size_t t, std::size_t k) { return surface.triangles[3 * t + k]; };
  const std::size_t count = surface.triangles.size() / 3;
  std::vector<std::uint32_t> parts(count);  // of each edge of a triangle
  for (std::size_t total = k_most + 1; total > k_most && longest < 1e300; longest *= 1.5) {
    total = 0;
    for (std::size_t t = 0; t < count; ++t) {
      float edge = 0.0f;
      for (std::size_t k = 0; k < 3; ++k)
        edge = std::max(edge,
                        (surface.positions[corner(t, k)] - surface.positions[corner(t, (k + 1) % 3)]).norm());
      parts[t] =
          static_cast<std::uint32_t>(std::clamp(std::ceil(static_cast<double>(edge) / longest), 1.0, 1000.0));
      total += std::size_t{parts[t]} * parts[t];
    }
    if (std::all_of(parts.begin(), parts.end(), [](std::uint32_t n) { return n == 1; })) break;
  }
  Surface result;
  result.two_sided = surface.two_sided;
  for (std::size_t t = 0; t < count; ++t) {
    const std::uint32_t n = parts[t];
    std::vector<std::uint32_t> before;  // the row of positions before this one
    for (std::uint32_t i = 0; i <= n; ++i) {
      std::vector<std::uint32_t> row;
      for (std::uint32_t j = 0; j <= n - i; ++j) {
        const float u = static_cast<float>(i) / static_cast<float>(n),
                    v = static_cast<float>(j) / static_cast<float>(n);
        const auto mixed = [&](const std::vector<Eigen::Vector3f>& of) -> Eigen::Vector3f {
          return (1.0f - u - v) * of[corner(t, 0)] + u * of[corner(t, 1)] + v * of[corner(t, 2)];
        };
        row.push_back(static_cast<std::uint32_t>(result.positions.size()));
        result.positions.push_back(mixed(surface.positions));
        result.normals.push_back(mixed(surface.normals).normalized());
      }
      for (std::size_t j = 0; j < row.size() && i > 0; ++j) {
        result.triangles.insert(result.triangles.end(), {before[j], row[j], before[j + 1]});
        if (j + 1 < row.size())
          result.triangles.insert(result.triangles.end(), {row[j], row[j + 1], before[j + 1]});
      }
      before = std::move(row);
    }
  }
  return result;
}

/// The surface of the input coloured by its signed distance from the zero set: blue inside of the body,
/// orange outside.
SharedSurface error_surface(const FitSubject& subject) {
  constexpr double k_edges_per_size = 80.0;
  const SharedSurface input = visual_surface({subject.input.mesh, {}, {}});
  if (!input) return nullptr;
  Surface surface = subdivided(*input, subject.body.size / k_edges_per_size);
  const TriangleBvh zero_set(subject.zero_set);
  const ShapeSdf sdf(subject.body.shape);
  const double range = colour_range(subject);
  for (const Eigen::Vector3f& position : surface.positions) {
    const Vec3<double> p = position.cast<double>();
    const double distance = std::copysign(zero_set.nearest(p).distance, sdf.distance<double>(p));
    surface.colours.push_back(diverging_colour(distance / range));
  }
  return std::make_shared<const Surface>(std::move(surface));
}

/// The largest of 1, 2 and 5 times a power of ten that is at most x > 0.
double round_below(double x) {
  const double power = std::pow(10.0, std::floor(std::log10(x)));
  for (const double step : {5.0, 2.0}) {
    if (step * power <= x) return step * power;
  }
  return power;
}

std::string length_text(double metres) {
  return metres >= 1.0 ? fmt::format("{:.3g} m", metres) : fmt::format("{:.3g} mm", 1e3 * metres);
}

void draw_centred(Image& image, int middle, int y, const std::string& text) {
  draw_text(image, middle - text_width(text) / 2, y, text, k_text);
}

void draw_scale_bar(Image& image, const OrbitCamera& camera, int left, int top) {
  constexpr double k_share = 0.4;  // of a view's width, at most
  constexpr int k_thickness = 4, k_tick = 12;
  const double pixel = camera.pixel_size(camera.distance, k_view_height);
  const double length = round_below(k_share * k_view_width * pixel);
  const int width = static_cast<int>(std::lround(length / pixel));
  fill_rectangle(image, left, top + (k_tick - k_thickness) / 2, width, k_thickness, k_text);
  for (const int x : {left, left + width - k_thickness})
    fill_rectangle(image, x, top, k_thickness, k_tick, k_text);
  draw_text(image, left, top + k_tick + 10, length_text(length), k_text);
}

void draw_legend(Image& image, double range, double size, int left, int top) {
  constexpr int k_width = 400, k_height = 14, k_gap = 8;
  for (int x = 0; x < k_width; ++x)
    fill_rectangle(image, left + x, top, 1, k_height, diverging_colour(2.0 * (x + 0.5) / k_width - 1.0));
  const double percent = 100.0 * range / size;
  const auto label = [&](int x, const std::string& relative, const std::string& absolute) {
    const int first = top + k_height + k_gap, second = first + text_height() + k_gap;
    for (const auto& [text, y] : {std::pair(relative, first), std::pair(absolute, second)})
      draw_text(image, std::clamp(left + x - text_width(text) / 2, left, left + k_width - text_width(text)),
                y, text, k_text);
  };
  label(0, fmt::format("-{:.3g} %: inside", percent), fmt::format("-{:.3g} mm", 1e3 * range));
  label(k_width / 2, "0", "0");
  label(k_width, fmt::format("outside: +{:.3g} %", percent), fmt::format("+{:.3g} mm", 1e3 * range));
}

}  // namespace

std::string primitives_title(const Shape& shape) {
  const auto subtracted =
      std::count_if(shape.primitives.begin(), shape.primitives.end(),
                    [](const Primitive& p) { return p.operation == PrimitiveOperation::subtract; });
  const std::string all = count_text(shape.primitives.size(), "primitive");
  return subtracted == 0 ? all : fmt::format("{}, {} subtracted", all, subtracted);
}

double colour_range(const FitSubject& subject) {
  constexpr double k_least = 1e-3;
  const double size = largest_extent(subject.input.mesh);
  const double share = std::max(k_least, subject.quality.mesh_to_zero_set.percentile_95 / size);
  for (const double step : {1.0, 2.0, 5.0, 10.0}) {
    const double range = step * std::pow(10.0, std::floor(std::log10(share)));
    if (range >= share * (1.0 - 1e-9)) return range * size;
  }
  return size;
}

std::array<Picture, k_views> fit_views(const FitSubject& subject, double aspect) {
  std::array<Picture, k_views> views;
  Model model;
  model.bodies = {subject.body, {}};
  model.bodies[0].appearance = {};
  model.bodies[1].mesh = subject.input.mesh;  // for the camera: the body may have lost some part of it
  const std::array<Pose<double>, 2> X_WB{};

  DrawnSurface input;
  input.surface = visual_surface(subject.input);
  input.colour = k_plain;
  views[0].surfaces = {input};
  BodySurfaces surfaces;
  BodyDisplay display;
  display.primitive_body = 0;
  surfaces.add_body(model, 0, X_WB[0], display, false, views[1]);
  display = {};
  display.surface = BodySurface::sdf;
  surfaces.add_body(model, 0, X_WB[0], display, false, views[2]);
  for (DrawnSurface& drawn : views[2].surfaces) drawn.colour = k_plain;
  DrawnSurface error = input;
  error.surface = error_surface(subject);
  views[3].surfaces = {error};

  OrbitCamera like;
  like.vertical_angle = 0.25;      // little perspective, so that one scale holds for all of it
  std::vector<Points> primitives;  // subtracted ones reach out of the body
  for (const DrawnSurface& drawn : views[1].surfaces) primitives.push_back(positions_of(drawn));
  const OrbitCamera camera = camera_around(model, X_WB, aspect, like, std::nullopt, primitives);
  for (Picture& view : views) {
    view.camera = camera;
    view.look.outlines = true;
  }
  return views;
}

Image fit_picture(const FitSubject& subject) {
  constexpr int k_width = k_views * k_view_width, k_margin = 40;
  Canvas canvas(k_width, k_view_height);  // first, as it is what may fail
  const std::array<Picture, k_views> views =
      fit_views(subject, static_cast<double>(k_view_width) / k_view_height);
  Image image = blank_image(k_width, k_head_height + k_view_height + k_foot_height, k_frame_colour);
  fill_rectangle(image, 0, 0, k_width, k_head_height, k_head_colour);
  paste(image, 0, k_head_height, canvas.draw(views));

  const double size = largest_extent(subject.input.mesh);
  const FitQuality& quality = subject.quality;
  const std::array<std::string, k_views> titles{"input: " + count_text(subject.input_triangles, "triangle"),
                                                primitives_title(subject.body.shape), "body: smooth union",
                                                "distance of the input from the body"};
  for (int i = 0; i < k_views; ++i)
    draw_centred(image, i * k_view_width + k_view_width / 2, (k_head_height - text_height()) / 2,
                 titles[static_cast<std::size_t>(i)]);
  const int top = k_head_height + k_view_height + 16, line = text_height() + 10;
  draw_scale_bar(image, views[0].camera, k_margin, top);
  draw_centred(
      image, k_view_width * 5 / 2, top,
      fmt::format("IoU {:.3f}, volume {:+.1f} %", quality.occupancy_iou, 100.0 * quality.volume_error));
  draw_centred(
      image, k_view_width * 5 / 2, top + line,
      fmt::format("distance: mean {:.2g} %, largest {:.2g} %", 100.0 * quality.mesh_to_zero_set.mean / size,
                  100.0 * quality.mesh_to_zero_set.max / size));
  draw_legend(image, colour_range(subject), size, 3 * k_view_width + k_margin, top);
  return image;
}

}  // namespace abut
