#include "apps/picture/floor_grid.h"

#include <cmath>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace abut {
namespace {

constexpr double k_least_major = 0.11;  // of the reach
constexpr double k_labelled = 0.33;     // of the farthest numbers from the middle, of the reach

struct LengthUnit {
  const char* name;
  double metres;
};

/// The unit in which multiples of a length are short.
LengthUnit unit_for(double length) {
  if (length >= 999.0) return {"km", 1e3};
  if (length >= 0.099) return {"m", 1.0};
  if (length >= 0.99e-4) return {"mm", 1e-3};
  return {"um", 1e-6};
}

}  // namespace

FloorGrid floor_grid(const DrawnFloor& floor, const OrbitCamera& camera) {
  FloorGrid grid;
  grid.X_WG = floor.X_WP;
  const Vec3<double> normal_W = floor.X_WP.q * Vec3<double>::UnitZ();
  constexpr double k_level = 1e-9;
  if (normal_W.head<2>().norm() < k_level && normal_W.z() > 0.0)
    grid.X_WG = {Quat<double>::Identity(), Vec3<double>(0.0, 0.0, floor.X_WP.p.z())};
  const Vec3<double> target_G = inverse_point(grid.X_WG, camera.target);
  grid.middle = target_G.head<2>();
  grid.reach = camera.distance + std::abs(target_G.z());

  const double least = k_least_major * grid.reach, power = std::pow(10.0, std::floor(std::log10(least)));
  const double digit = least / power;  // in [1, 10)
  const double round = digit <= 1.0 ? 1.0 : digit <= 2.0 ? 2.0 : digit <= 5.0 ? 5.0 : 10.0;
  grid.major = round * power;
  grid.minor = grid.major / (round == 2.0 ? 4.0 : 5.0);
  return grid;
}

std::vector<GridLabel> grid_labels(const FloorGrid& grid, const OrbitCamera& camera, double aspect) {
  std::vector<GridLabel> best;
  const Vec3<double> eye_G = inverse_point(grid.X_WG, camera.position());
  if (!(eye_G.z() > 0.0)) return best;
  const LengthUnit unit = unit_for(grid.major);
  const Vec2<double> middle = (grid.middle / grid.major).array().round();  // in thick lines
  const auto is_seen = [&](const Vec3<double>& p_W) {
    const Vec3<double> p = camera.project(p_W, aspect);
    return p.z() > 0.0 && std::abs(p.x()) < 0.92 && p.y() > -0.9 && p.y() < 0.9;
  };
  const auto farthest = static_cast<int>(std::ceil(k_labelled * grid.reach / grid.major));
  for (int half = 1; half <= farthest; ++half) {
    std::vector<GridLabel> labels;
    for (int along = 0; along < 2; ++along) {
      const int across = 1 - along;
      const double towards = eye_G[along] >= grid.middle[along] ? 1.0 : -1.0,
                   side = eye_G[across] >= grid.middle[across] ? 1.0 : -1.0;
      // Up to where the two rows meet, where numbers of both would be in one place.
      for (int i = -farthest; i < half; ++i) {
        Vec3<double> p_G = Vec3<double>::Zero();
        p_G[along] = (middle[along] + towards * i) * grid.major;
        p_G[across] = (middle[across] + side * half) * grid.major;
        const Vec3<double> p_W = grid.X_WG * p_G;
        const double number = p_G[along] / unit.metres + 0.0;  // 0, not -0
        if (is_seen(p_W))
          labels.push_back({p_W, fmt::format("{} {:.6g} {}", along == 0 ? 'x' : 'y', number, unit.name)});
      }
    }
    if (labels.size() >= best.size()) best = std::move(labels);
  }
  return best;
}

}  // namespace abut
