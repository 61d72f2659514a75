#include "apps/viewer/gradient_arrows.h"

#include <algorithm>
#include <cmath>

#include <spdlog/fmt/fmt.h>

namespace abut::viewer {
namespace {

struct ArrowKind {
  const char* name;
  const char* by;
  const char* unit;  // of what the loss is differentiated by
  Colour colour;
  double radius, aside;  // [lengths of the longest]
};

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
      arrow.value = norm;
      arrow.points_per_unit = k_largest_length * size / largest;
      arrow.unit = unit;
      arrow.label = fmt::format("{} {:.3g} {}", kind.name, norm, unit);
      arrow.meaning = fmt::format("{} by {}", kind.name, kind.by);
      arrows.push_back(std::move(arrow));
    }
  };
  // Side by side, as those of different kinds may point the same way.
  add(gradient.initial.pose, {"dL/dx", "initial position", "m", k_gradient_position_colour, 0.022, 0.0});
  add(gradient.initial.twist, {"dL/dv", "initial velocity", "m/s", k_gradient_velocity_colour, 0.018, 0.05});
  const std::int64_t step = frame.number - result.request.number;
  if (step >= 0 && step < static_cast<std::int64_t>(gradient.controls.size()))
    add(gradient.controls[static_cast<std::size_t>(step)].wrenches,
        {"dL/dF", "force in this step", "N", k_gradient_force_colour, 0.014, -0.05});
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

}  // namespace abut::viewer
