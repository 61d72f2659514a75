#include "apps/planning/car_plan_io.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <system_error>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "apps/picture/markup_text.h"
#include "apps/picture/palette.h"
#include "engine/atomic_file.h"
#include "engine/input_error.h"

namespace abut {
namespace {

/// From metres, y up, to the units of a picture, y down.
struct PictureFrame {
  Vec2<double> lower = Vec2<double>::Constant(k_infinity), upper = -lower;  ///< corners of what is shown [m]
  double scale = 1;                                                         ///< units per metre
  double margin = 60;                                                       ///< for the axes' numbers

  void include(const PaddedOutline& outline) {
    for (const Vec2<double>& corner : outline.corners) {
      lower = lower.cwiseMin((corner.array() - outline.padding).matrix());
      upper = upper.cwiseMax((corner.array() + outline.padding).matrix());
    }
  }
  [[nodiscard]] Vec2<double> operator()(const Vec2<double>& p) const {
    return {margin + scale * (p.x() - lower.x()), margin + scale * (upper.y() - p.y())};
  }
};

std::string colour(std::size_t index) {
  const auto& rgb = k_body_palette[index];
  return fmt::format("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]);
}

/// @param anchor  what of it stands at the place: start, middle or end
std::string text_element(const Vec2<double>& place, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\">{}</text>\n", place.x(), place.y(),
                     anchor, escaped(text));
}

/// The sides of an outline, anticlockwise, and the arcs round its corners from one to the next.
std::string outline_element(const PictureFrame& frame, const PaddedOutline& outline, const std::string& fill,
                            const std::string& stroke) {
  const std::size_t corners = outline.corners.size();
  std::vector<Vec2<double>> ends;  // of sides, two each
  Vec2<double> ahead(-1.0, 0.0);
  for (std::size_t i = 0; i < std::max<std::size_t>(2, corners); ++i) {  // a disc is a capsule of length 0
    const Vec2<double>&start = outline.corners[i % corners], &end = outline.corners[(i + 1) % corners];
    ahead = corners > 1 ? Vec2<double>((end - start).normalized()) : Vec2<double>(-ahead);
    const Vec2<double> outward = outline.padding * Vec2<double>(ahead.y(), -ahead.x());
    ends.push_back(frame(start + outward));
    ends.push_back(frame(end + outward));
  }
  const double r = frame.scale * outline.padding;
  std::string path = fmt::format("M{:.2f} {:.2f}", ends[0].x(), ends[0].y());
  for (std::size_t i = 0; i < ends.size(); i += 2) {
    const Vec2<double>&end = ends[i + 1], &next = ends[(i + 2) % ends.size()];
    path += fmt::format("L{:.2f} {:.2f}A{:.2f} {:.2f} 0 0 0 {:.2f} {:.2f}", end.x(), end.y(), r, r, next.x(),
                        next.y());
  }
  return fmt::format("<path d=\"{}Z\" fill=\"{}\" stroke=\"{}\"/>\n", path, fill, stroke);
}

/// The least of 1, 2 and 5 times powers of ten that divides an extent into ten parts or fewer.
double tick_step(double extent) {
  const double rough = extent / 10.0, power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10.0 * power;
}

/// A frame with ticks and numbers.
std::string axes(const PictureFrame& frame) {
  const Vec2<double> low = frame(frame.lower), high = frame(frame.upper);
  const std::string grey = "#888888";
  std::string svg = fmt::format(
      "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"none\" stroke=\"{}\"/>\n",
      low.x(), high.y(), high.x() - low.x(), low.y() - high.y(), grey);
  const double step = tick_step((frame.upper - frame.lower).maxCoeff());
  for (int axis = 0; axis < 2; ++axis) {
    const Vec2<double> tick = axis == 0 ? Vec2<double>(0.0, 6.0) : Vec2<double>(-6.0, 0.0),
                       number = axis == 0 ? Vec2<double>(0.0, 20.0) : Vec2<double>(-9.0, 4.0);
    const auto first = static_cast<int>(std::ceil(frame.lower[axis] / step)),
               last = static_cast<int>(std::floor(frame.upper[axis] / step));
    for (int i = first; i <= last; ++i) {
      Vec2<double> place = frame.lower;
      place[axis] = i * step;
      const Vec2<double> from = frame(place), to = from + tick;
      svg += fmt::format("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"{}\"/>\n",
                         from.x(), from.y(), to.x(), to.y(), grey);
      svg += text_element(from + number, axis == 0 ? "middle" : "end", fmt::format("{:g}", place[axis]));
    }
  }
  svg += text_element({0.5 * (low.x() + high.x()), low.y() + 42.0}, "middle", "x [m]");
  svg += text_element({low.x() - 9.0, high.y() - 9.0}, "end", "y [m]");
  return svg;
}

}  // namespace

std::string car_plan_csv(const CarProblem& problem, const CarPlan& plan) {
  std::string csv = "time,x,y,heading,speed,steering,acceleration,steering_rate,distance\n";
  for (std::size_t k = 0; k < plan.states.size(); ++k) {
    const CarState& x = plan.states[k];
    csv += fmt::format("{},{},{},{},{},{},", static_cast<double>(k) * problem.time_step, x[0], x[1], x[2],
                       x[3], x[4]);
    csv += k < plan.inputs.size() ? fmt::format("{},{},", plan.inputs[k][0], plan.inputs[k][1]) : ",,";
    csv += fmt::format("{}\n", plan.distances[k]);
  }
  return csv;
}

std::string car_plan_svg(const CarProblem& problem, const CarPlan& plan) {
  constexpr double k_width = 900.0, k_padding = 1.0;  // of what is shown; around it [m]
  constexpr std::size_t k_cars = 10;                  // about as many are shown
  PictureFrame frame;
  for (const CarObstacle& obstacle : problem.obstacles) frame.include(outline_of(obstacle));
  for (const CarState& state : plan.states) frame.include(outline_of(problem.car, state));
  frame.lower.array() -= k_padding;
  frame.upper.array() += k_padding;
  frame.scale = k_width / (frame.upper.x() - frame.lower.x());
  const double width = k_width + 2.0 * frame.margin,
               height = frame.scale * (frame.upper.y() - frame.lower.y()) + 2.0 * frame.margin;

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#ffffff\"/>\n",
      width, height);
  svg += text_element({frame.margin, 24.0}, "start",
                      fmt::format("{}: {} knots, {:.3g} s, least distance {:.3g} m", to_string(plan.status),
                                  problem.knots, problem.duration(), plan.least_distance_on_the_way));
  svg += axes(frame);
  for (const CarObstacle& obstacle : problem.obstacles) {
    const PaddedOutline outline = outline_of(obstacle);
    svg += outline_element(frame, outline, colour(5), "#000000");
    Vec2<double> middle = Vec2<double>::Zero();
    for (const Vec2<double>& corner : outline.corners) middle += corner;
    middle /= static_cast<double>(outline.corners.size());
    svg += text_element(frame(middle) + Vec2<double>(0.0, 4.0), "middle", obstacle.name);
  }
  const std::size_t last = plan.states.size() - 1, stride = std::max<std::size_t>(1, last / k_cars);
  for (std::size_t k = 0; k <= last; ++k) {
    if (k % stride == 0 || k == last)
      svg += outline_element(frame, outline_of(problem.car, plan.states[k]), "none", colour(6));
  }
  std::string points;
  for (const CarState& state : plan.states) {
    const Vec2<double> p = frame(state.head<2>());
    points += fmt::format("{:.2f},{:.2f} ", p.x(), p.y());
  }
  svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n</svg>\n",
                     points, colour(3));
  return svg;
}

void write_car_plan(const CarProblem& problem, const CarPlan& plan, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw InputError(folder.string(), 0, "cannot be made: " + error.message());
  write_file(folder / "plan.csv", car_plan_csv(problem, plan));
  write_file(folder / "plan.svg", car_plan_svg(problem, plan));
}

}  // namespace abut
