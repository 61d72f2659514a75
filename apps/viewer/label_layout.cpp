#include "apps/viewer/label_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace abut::viewer {
namespace {

constexpr int k_directions = 12;
constexpr std::array k_distances{0.4, 1.2, 2.4, 4.0};  // of a label from its anchor, in its heights

bool is_within(const Rectangle& inner, const Rectangle& outer) {
  return inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.width <= outer.x + outer.width &&
         inner.y + inner.height <= outer.y + outer.height;
}

struct SegmentPart {
  double begin, end;  // in [0, 1] from its start to its end
};

/// What of a segment lies within a rectangle.
std::optional<SegmentPart> part_within(const ScreenSegment& line, const Rectangle& area) {
  SegmentPart part{0.0, 1.0};
  const Vec2<double> low(area.x, area.y), high(area.x + area.width, area.y + area.height);
  for (int axis = 0; axis < 2; ++axis) {
    const double from = line.from[axis], along = line.to[axis] - from;
    if (along == 0.0) {
      if (from < low[axis] || from > high[axis]) return std::nullopt;
      continue;
    }
    const double a = (low[axis] - from) / along, b = (high[axis] - from) / along;
    part.begin = std::max(part.begin, std::min(a, b));
    part.end = std::min(part.end, std::max(a, b));
  }
  return part.begin <= part.end ? std::optional(part) : std::nullopt;
}

/// Places of a label, the best first: near ones, and of these what lies in the direction that is wanted.
std::vector<Rectangle> candidates(const LabelRequest& request) {
  std::vector<Rectangle> places;
  const double wanted = std::atan2(request.direction.y(), request.direction.x());
  for (const double distance : k_distances) {
    const double away = distance * request.height;
    for (int i = 0; i < k_directions; ++i) {
      const int turn = (i % 2 == 0 ? 1 : -1) * ((i + 1) / 2);  // 0, -1, 1, -2, 2 ...
      const double angle = wanted + 2.0 * std::numbers::pi * turn / k_directions;
      const double x = request.anchor.x() + std::cos(angle) * (0.5 * request.width + away),
                   y = request.anchor.y() + std::sin(angle) * (0.5 * request.height + away);
      places.push_back({static_cast<float>(x) - 0.5f * request.width,
                        static_cast<float>(y) - 0.5f * request.height, request.width, request.height});
    }
  }
  return places;
}

}  // namespace

bool intersect(const Rectangle& a, const Rectangle& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

std::optional<Vec2<double>> visible_end(const ScreenSegment& line, const Rectangle& area) {
  const std::optional<SegmentPart> part = part_within(line, area);
  if (!part) return std::nullopt;
  return line.from + part->end * (line.to - line.from);
}

std::vector<std::optional<Rectangle>> place_labels(std::span<const LabelRequest> requests,
                                                   const Rectangle& bounds, std::vector<Rectangle> taken,
                                                   std::span<const ScreenSegment> lines) {
  std::vector<std::size_t> order(requests.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return requests[i].priority > requests[j].priority; });
  std::vector<std::optional<Rectangle>> placed(requests.size());
  for (const std::size_t i : order) {
    std::size_t least = lines.size() + 1;  // lines that it covers
    for (const Rectangle& place : candidates(requests[i])) {
      if (!is_within(place, bounds)) continue;
      if (std::any_of(taken.begin(), taken.end(), [&](const Rectangle& r) { return intersect(r, place); }))
        continue;
      const auto covered =
          static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&](const ScreenSegment& line) {
            return part_within(line, place).has_value();
          }));
      if (covered >= least) continue;
      least = covered;
      placed[i] = place;
      if (covered == 0) break;
    }
    if (placed[i]) taken.push_back(*placed[i]);
  }
  return placed;
}

}  // namespace abut::viewer
