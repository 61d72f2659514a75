#include "apps/viewer/gradient_arrows.h"

#include <algorithm>
#include <cmath>

#include <spdlog/fmt/fmt.h>

namespace abut::viewer {
namespace {

struct ArrowKind {
  const char* name;
  const char* unit;  // of what the loss is differentiated by
  Colour colour;
  double radius, aside;  // [lengths of the longest]
};

bool overlaps(const Rectangle& a, const Rectangle& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

}  // namespace

std::vector<GradientArrow> gradient_arrows(const Frame& frame, const GradientResult& result, double size,
                                           const GlyphScale& scale) {
  std::vector<GradientArrow> arrows;
  const Model& model = frame.model->model();
  const Gradient& gradient = result.gradient;
  if (!result.error.empty() || gradient.initial.pose.size() != model.bodies.size()) return arrows;
  const auto add = [&](const std::vector<Vec6<double>>& bars, const ArrowKind& kind) {
    double largest = 0.0;
    for (const Vec6<double>& bar : bars) largest = std::max(largest, bar.tail<3>().norm());
    if (!(largest > 0.0)) return;
    const std::string unit = derivative_unit(loss_unit(result.request.loss.kind), kind.unit);
    for (std::size_t b = 0; b < bars.size(); ++b) {
      constexpr double k_negligible = 1e-3;  // of the longest
      const double norm = bars[b].tail<3>().norm();
      if (model.bodies[b].fixed || norm < k_negligible * largest) continue;
      const double length = k_largest_length * size * scale.point_at(frame.state.X_WB[b].p);
      GradientArrow arrow;
      arrow.body = static_cast<int>(b);
      const Vec3<double> along = length / largest * bars[b].tail<3>();
      arrow.from_W = frame.state.X_WB[b].p + kind.aside * length * along.unitOrthogonal();
      arrow.to_W = arrow.from_W + along;
      arrow.radius = kind.radius * length;
      arrow.colour = kind.colour;
      arrow.share = norm / largest;
      arrow.label = fmt::format("{} {:.3g} {}", kind.name, norm, unit);
      arrows.push_back(std::move(arrow));
    }
  };
  // Side by side, as those of different kinds may point the same way.
  add(gradient.initial.pose, {"dL/dx", "m", k_gradient_position_colour, 0.022, 0.0});
  add(gradient.initial.twist, {"dL/dv", "m/s", k_gradient_velocity_colour, 0.018, 0.05});
  const std::int64_t step = frame.number - result.request.number;
  if (step >= 0 && step < static_cast<std::int64_t>(gradient.controls.size()))
    add(gradient.controls[static_cast<std::size_t>(step)],
        {"dL/dF", "N", k_gradient_force_colour, 0.014, -0.05});
  return arrows;
}

std::vector<const GradientArrow*> labelled_arrows(std::span<const GradientArrow> arrows, int selected_body) {
  constexpr std::size_t k_most = 9;
  std::vector<const GradientArrow*> chosen;
  for (const GradientArrow& arrow : arrows) chosen.push_back(&arrow);
  std::stable_sort(chosen.begin(), chosen.end(), [&](const GradientArrow* a, const GradientArrow* b) {
    const bool a_first = a->body == selected_body, b_first = b->body == selected_body;
    return a_first != b_first ? a_first : a->share > b->share;
  });
  if (chosen.size() > k_most) chosen.resize(k_most);
  return chosen;
}

std::vector<Rectangle> place_labels(std::span<const Vec2<double>> points, std::span<const Vec2<double>> sizes,
                                    const Rectangle& area) {
  constexpr float k_gap = 8.0f;
  constexpr int k_most_tries = 64;
  std::vector<Rectangle> places;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const float width = static_cast<float>(sizes[i].x()), height = static_cast<float>(sizes[i].y());
    const auto inside = [&](float x, float y) -> Rectangle {
      return {std::clamp(x, area.x, std::max(area.x, area.x + area.width - width)),
              std::clamp(y, area.y, std::max(area.y, area.y + area.height - height)), width, height};
    };
    const float right = static_cast<float>(points[i].x()) + k_gap,
                left = static_cast<float>(points[i].x()) - k_gap - width,
                middle = static_cast<float>(points[i].y()) - 0.5f * height;
    Rectangle place = inside(right, middle);
    // Right and left of the point, then ever farther above and below it.
    for (int n = 0; n < k_most_tries; ++n) {
      const float off = static_cast<float>((n / 2 + 1) / 2) * height * ((n / 2) % 2 == 0 ? 1.0f : -1.0f);
      const Rectangle candidate = inside(n % 2 == 0 ? right : left, middle + off);
      const bool is_free = std::none_of(places.begin(), places.end(),
                                        [&](const Rectangle& other) { return overlaps(candidate, other); });
      if (!is_free) continue;
      place = candidate;
      break;
    }
    places.push_back(place);
  }
  return places;
}

}  // namespace abut::viewer
