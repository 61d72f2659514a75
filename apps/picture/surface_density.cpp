#include "apps/picture/surface_density.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace abut {
namespace {

constexpr double k_edge = 0.17;  // longest of a triangle of the patch, of the kernel's radius

struct Corner {
  Vec3<double> p, n;  // position, normal
};
using Triangle = std::array<Corner, 3>;

struct Ball {
  Vec3<double> centre;
  double radius;
};

Ball ball_around(const Triangle& t) {
  const Vec3<double> centre = (t[0].p + t[1].p + t[2].p) / 3.0;
  double square = 0.0;
  for (const Corner& corner : t) square = std::max(square, (corner.p - centre).squaredNorm());
  return {centre, std::sqrt(square)};
}

Vec3<double> area_vector(const Triangle& t) { return 0.5 * (t[1].p - t[0].p).cross(t[2].p - t[0].p); }

Vec3<double> nearest_on_edge(const Vec3<double>& p, const Vec3<double>& a, const Vec3<double>& b) {
  const Vec3<double> along = b - a;
  const double square = along.squaredNorm();
  const double s = square > 0.0 ? std::clamp((p - a).dot(along) / square, 0.0, 1.0) : 0.0;
  return a + s * along;
}

Vec3<double> nearest_on(const Triangle& t, const Vec3<double>& p) {
  const Vec3<double> normal = area_vector(t);
  if (normal.squaredNorm() > 0.0) {
    bool is_inside = true;
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec3<double>&a = t[i].p, &b = t[(i + 1) % 3].p;
      is_inside = is_inside && normal.dot((b - a).cross(p - a)) >= 0.0;
    }
    if (is_inside) return p - normal * (normal.dot(p - t[0].p) / normal.squaredNorm());
  }
  Vec3<double> best = t[0].p;
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3<double> here = nearest_on_edge(p, t[i].p, t[(i + 1) % 3].p);
    if (i == 0 || (here - p).squaredNorm() < (best - p).squaredNorm()) best = here;
  }
  return best;
}

class Spreader {
 public:
  Spreader(const Surface& surface, std::span<const SpreadAmount> amounts)
      : two_sided_(surface.two_sided), amounts_(amounts.begin(), amounts.end()) {
    const auto corner = [&](std::size_t i) {
      const std::uint32_t v = surface.triangles[i];
      return Corner{surface.positions[v].cast<double>(), surface.normals[v].cast<double>()};
    };
    for (std::size_t i = 0; i + 2 < surface.triangles.size(); i += 3) {
      triangles_.push_back({corner(i), corner(i + 1), corner(i + 2)});
      balls_.push_back(ball_around(triangles_.back()));
    }
    for (SpreadAmount& amount : amounts_) {
      if (amount.outwards.norm() > 0.0) amount.outwards.normalize();
      amount.place = nearest_place(amount);
    }
  }

  SurfaceDensity spread() {
    for (std::size_t i = 0; i < triangles_.size(); ++i) {
      std::vector<std::size_t> all;
      for (std::size_t a = 0; a < amounts_.size(); ++a) {
        if (is_near(a, balls_[i])) all.push_back(a);
      }
      refine(triangles_[i], all, 0);
    }
    add_densities();
    return std::move(result_);
  }

 private:
  /// One kernel at one position of the patch.
  struct Weight {
    std::size_t position, amount;
    double kernel, facing, area;  // that the position stands for
  };

  [[nodiscard]] bool is_near(std::size_t amount, const Ball& ball) const {
    const double reach = amounts_[amount].radius + ball.radius;
    return (amounts_[amount].place - ball.centre).squaredNorm() < reach * reach;
  }

  /// Of the side that it lies on, if there is one.
  [[nodiscard]] Vec3<double> nearest_place(const SpreadAmount& amount) const {
    for (const bool any_side : {two_sided_, true}) {
      Vec3<double> best = amount.place;
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < triangles_.size(); ++i) {
        const double at_least = (balls_[i].centre - amount.place).norm() - balls_[i].radius;
        if (at_least >= least) continue;
        if (!any_side && area_vector(triangles_[i]).dot(amount.outwards) < 0.0) continue;
        const Vec3<double> here = nearest_on(triangles_[i], amount.place);
        const double distance = (here - amount.place).norm();
        if (distance >= least) continue;
        least = distance;
        best = here;
      }
      if (std::isfinite(least)) return best;
    }
    return amount.place;
  }

  /// Halves at the longest edge until it is short compared with all kernels that reach the triangle.
  void refine(const Triangle& t, const std::vector<std::size_t>& candidates, int depth) {
    constexpr int k_deepest = 40;
    const Ball ball = ball_around(t);
    std::vector<std::size_t> near;
    double longest_allowed = std::numeric_limits<double>::infinity();
    for (const std::size_t a : candidates) {
      if (!is_near(a, ball)) continue;
      near.push_back(a);
      longest_allowed = std::min(longest_allowed, k_edge * amounts_[a].radius);
    }
    if (near.empty()) return;
    std::size_t longest = 0;
    const auto length = [&](std::size_t i) { return (t[(i + 1) % 3].p - t[i].p).norm(); };
    for (std::size_t i = 1; i < 3; ++i) {
      if (length(i) > length(longest)) longest = i;
    }
    if (length(longest) <= longest_allowed || depth >= k_deepest) return add(t, near);
    const Corner &a = t[longest], &b = t[(longest + 1) % 3], &c = t[(longest + 2) % 3];
    const Corner middle{0.5 * (a.p + b.p), 0.5 * (a.n + b.n)};
    refine({a, middle, c}, near, depth + 1);
    refine({middle, b, c}, near, depth + 1);
  }

  void add(const Triangle& t, const std::vector<std::size_t>& near) {
    const double area = area_vector(t).norm() / 3.0;
    for (const Corner& corner : t) {
      const std::size_t position = result_.patch.positions.size();
      const Vec3<double> normal = corner.n.normalized();
      result_.patch.positions.push_back(corner.p.cast<float>());
      result_.patch.normals.push_back(normal.cast<float>());
      result_.patch.triangles.push_back(static_cast<std::uint32_t>(position));
      for (const std::size_t a : near) {
        const SpreadAmount& amount = amounts_[a];
        const double x = 1.0 - (corner.p - amount.place).squaredNorm() / (amount.radius * amount.radius);
        if (!(x > 0.0)) continue;
        const bool has_side = !two_sided_ && amount.outwards.squaredNorm() > 0.0;
        weights_.push_back(
            {position, a, x * x, has_side ? std::max(0.0, normal.dot(amount.outwards)) : 1.0, area});
      }
    }
  }

  void add_densities() {
    std::vector<double> facing(amounts_.size(), 0.0), any(amounts_.size(), 0.0);  // integrals
    for (const Weight& weight : weights_) {
      any[weight.amount] += weight.area * weight.kernel;
      facing[weight.amount] += weight.area * weight.kernel * weight.facing;
    }
    result_.density.assign(result_.patch.positions.size(), 0.0);
    constexpr double k_nothing = 1e-3;  // of the kernel's integral
    for (const Weight& weight : weights_) {
      const std::size_t a = weight.amount;
      const bool by_side = facing[a] > k_nothing * any[a];
      const double integral = by_side ? facing[a] : any[a];
      if (!(integral > 0.0)) continue;
      result_.density[weight.position] +=
          amounts_[a].amount * weight.kernel * (by_side ? weight.facing : 1.0) / integral;
    }
  }

  bool two_sided_;
  std::vector<SpreadAmount> amounts_;
  std::vector<Triangle> triangles_;
  std::vector<Ball> balls_;
  std::vector<Weight> weights_;
  SurfaceDensity result_;
};

}  // namespace

SurfaceDensity spread_over(const Surface& surface, std::span<const SpreadAmount> amounts) {
  return Spreader(surface, amounts).spread();
}

}  // namespace abut
