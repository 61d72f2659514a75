#include "apps/abut/ray_tracer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <thread>
#include <vector>

#include "apps/abut/palette.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/body_builder.h"
#include "engine/pack.h"

namespace abut {
namespace {

constexpr int k_lanes = 8;
using S = Pack<double, k_lanes>;
using Mask8 = Mask<double, k_lanes>;
using Color = Vec3<double>;  // linear light

constexpr int k_max_steps = 300;
constexpr double k_infinity = std::numeric_limits<double>::infinity();

Color palette_color(int index) {
  const auto& bytes = k_body_palette[static_cast<std::size_t>(index) % k_body_palette.size()];
  Color color;
  for (int i = 0; i < 3; ++i) color[i] = std::pow(bytes[static_cast<std::size_t>(i)] / 255.0, 2.2);
  return color;
}

Vec3<S> broadcast(const Vec3<double>& v) { return {S(v.x()), S(v.y()), S(v.z())}; }
S dot(const Vec3<S>& a, const Vec3<S>& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vec3<S> along(const Vec3<S>& origin, const Vec3<S>& direction, const S& t) {
  return {origin[0] + t * direction[0], origin[1] + t * direction[1], origin[2] + t * direction[2]};
}
void set_lane(Vec3<S>& v, int lane, const Vec3<double>& x) {
  for (int i = 0; i < 3; ++i) v[i].set_lane(lane, x[i]);
}
Vec3<double> lane_of(const Vec3<S>& v, int lane) { return {v[0][lane], v[1][lane], v[2][lane]}; }

/// A body that sphere tracing can find: everything but a lone half-space.
struct Solid {
  int body;
  Color color;
  ShapeSdf sdf;
  Mat3<double> R_BW;
  Vec3<double> p_WB;
  Vec3<double> center_W;  // of a ball that holds it
  double radius;          // [m]; infinite if it is unbounded
};

/// A lone half-space, which rays meet in closed form.
struct Plane {
  Vec3<double> point_W, normal_W, u_W, v_W;
};

/// What a ray has met.
struct Hit {
  double t = k_infinity;  // [m]
  int solid = -1, plane = -1;
};

class RayTracer {
 public:
  RayTracer(const Model& model, std::span<const Pose<double>> X_WB, const Camera& camera,
            const PictureOptions& options)
      : camera_(camera), width_(options.width), height_(options.height) {
    int colors = 0;
    double upper = 0.0;
    for (int b = 0; b < model.body_count(); ++b) {
      const Body& body = model.bodies[static_cast<std::size_t>(b)];
      const Pose<double>& X = X_WB[static_cast<std::size_t>(b)];
      if (body.shape.primitives.size() == 1 && body.shape.primitives[0].kind == PrimitiveKind::half_space) {
        const Pose<double> X_WP = X * body.shape.primitives[0].X_BP;
        const Mat3<double> R = X_WP.rotation();
        planes_.push_back({X_WP.p, R.col(2), R.col(0), R.col(1)});
        continue;
      }
      const Color color = body.fixed ? Color(0.3, 0.3, 0.32) : palette_color(colors++);
      Solid solid{b, color, ShapeSdf(body.shape), X.rotation().transpose(), X.p, X.p, k_infinity};
      const Eigen::AlignedBox3d& box = solid.sdf.bounds();
      if (!is_unbounded(body.shape)) {
        solid.center_W = X * Vec3<double>(box.center());
        solid.radius = 0.5 * box.diagonal().norm();
        upper = std::max(upper, solid.radius);
      }
      solids_.push_back(std::move(solid));
    }
    scene_scale_ = upper > 0.0 ? upper : (camera.to - camera.from).norm();
    far_ = 100.0 * std::max(scene_scale_, (camera.to - camera.from).norm());
    // Tiles of a round size, about a tenth of the way to what is looked at.
    const double tile = 0.15 * (camera.to - camera.from).norm(),
                 power = std::pow(10.0, std::floor(std::log10(tile)));
    tile_ = tile / power >= 5.0 ? 5.0 * power : tile / power >= 2.0 ? 2.0 * power : power;

    forward_ = (camera.to - camera.from).normalized();
    right_ = forward_.cross(camera.up).squaredNorm() > 1e-12 ? forward_.cross(camera.up).normalized()
                                                             : forward_.unitOrthogonal();
    up_ = right_.cross(forward_);
    pixel_ = 2.0 * std::tan(0.5 * camera.vertical_angle) / height_;
    light_ = (camera.up.normalized() * 1.0 - 0.45 * forward_ - 0.5 * right_).normalized();
  }

  Image draw(int threads) const {
    struct Sample {
      Color color = Color::Zero();
      Hit hit;
      Vec3<double> normal = Vec3<double>::Zero();
    };
    std::vector<Sample> samples(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
    const auto at = [&](int x, int y) -> Sample& {
      return samples[static_cast<std::size_t>(x) +
                     static_cast<std::size_t>(width_) * static_cast<std::size_t>(y)];
    };
    for_each_row(threads, [&](int y) {
      for (int first = 0; first < width_; first += k_lanes) {
        std::array<Vec3<double>, k_lanes> directions;
        for (int i = 0; i < k_lanes; ++i) {
          directions[static_cast<std::size_t>(i)] = direction(std::min(first + i, width_ - 1) + 0.5, y + 0.5);
        }
        const Shaded shaded = shade(directions);
        for (int i = 0; i < k_lanes && first + i < width_; ++i) {
          const auto k = static_cast<std::size_t>(i);
          at(first + i, y) = {shaded.color[k], shaded.hit[k], shaded.normal[k]};
        }
      }
    });

    Image image{width_, height_, std::vector<std::uint8_t>(3 * samples.size())};
    const auto differ = [](const Sample& a, const Sample& b) {
      return a.hit.solid != b.hit.solid || a.hit.plane != b.hit.plane || a.normal.dot(b.normal) < 0.9 ||
             (a.color - b.color).cwiseAbs().maxCoeff() > 0.05;
    };
    for_each_row(threads, [&](int y) {  // eight more rays where neighbours differ
      for (int x = 0; x < width_; ++x) {
        const Sample& sample = at(x, y);
        bool is_edge = false;
        for (const auto& [dx, dy] : {std::pair{-1, 0}, std::pair{1, 0}, std::pair{0, -1}, std::pair{0, 1}}) {
          const int nx = std::clamp(x + dx, 0, width_ - 1), ny = std::clamp(y + dy, 0, height_ - 1);
          is_edge = is_edge || differ(sample, at(nx, ny));
        }
        Color color = sample.color;
        if (is_edge) {
          std::array<Vec3<double>, k_lanes> directions;
          for (int i = 0; i < k_lanes; ++i) {  // a rook's pattern: each row and column once
            constexpr std::array<int, k_lanes> k_columns{3, 6, 0, 5, 2, 7, 1, 4};
            directions[static_cast<std::size_t>(i)] = direction(
                x + (k_columns[static_cast<std::size_t>(i)] + 0.5) / k_lanes, y + (i + 0.5) / k_lanes);
          }
          color.setZero();
          for (const Color& c : shade(directions).color) color += c.cwiseMin(1.0) / k_lanes;
        }
        for (int i = 0; i < 3; ++i) {
          const std::size_t pixel =
              static_cast<std::size_t>(x) + static_cast<std::size_t>(width_) * static_cast<std::size_t>(y);
          image.pixels[3 * pixel + static_cast<std::size_t>(i)] = srgb_byte(color[i]);
        }
      }
    });
    return image;
  }

 private:
  template <typename F>
  void for_each_row(int threads, const F& draw_row) const {
    std::atomic<int> next{0};
    const auto work = [&] {
      for (int y = next++; y < height_; y = next++) draw_row(y);
    };
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(work);
    work();
    for (std::thread& thread : others) thread.join();
  }

  [[nodiscard]] Vec3<double> direction(double x, double y) const {
    return (forward_ + pixel_ * ((x - 0.5 * width_) * right_ - (y - 0.5 * height_) * up_)).normalized();
  }

  /// Distance [m] to the nearest solid, or less: where it is beyond `exact_within`, to a ball that holds the
  /// solid.
  [[nodiscard]] S distance(const Vec3<S>& x_W, const S& exact_within = S(0.0)) const {
    S best = S(1e30);
    for (const Solid& solid : solids_) {
      if (solid.radius < k_infinity) {
        const Vec3<S> r = relative(x_W, solid.center_W);
        const S to_ball = sqrt(dot(r, r)) - S(solid.radius);
        const Mask8 is_far = to_ball > max(S(0.1 * solid.radius), exact_within);
        if (all(is_far || to_ball > best)) {
          best = min(best, to_ball);
          continue;
        }
      }
      best = min(best, solid.sdf.distance(transform<S>(solid.R_BW, relative(x_W, solid.p_WB))));
    }
    return best;
  }

  /// Goes along the rays, up to `limit`, until a solid is no farther than `width` of the pixel there.
  [[nodiscard]] S march(const Vec3<S>& origin, const Vec3<S>& ray, const S& limit) const {
    S t = S(0.0);
    Mask8 is_done(false);
    for (int i = 0; i < k_max_steps && !all(is_done); ++i) {
      const S d = distance(along(origin, ray, t));
      const Mask8 has_hit = d < S(0.05 * pixel_) * t + S(1e-6 * scene_scale_);
      is_done = is_done || has_hit;
      t = select(is_done, t, t + S(0.95) * d);
      const Mask8 is_beyond = t > limit;
      t = select(is_beyond && !is_done, S(k_infinity), t);
      is_done = is_done || is_beyond;
    }
    return t;
  }

  /// How much of the lamp is seen [0, 1], in a penumbra as wide as if it were some degrees across.
  [[nodiscard]] S light_seen(const Vec3<S>& x_W) const {
    constexpr double k_sharpness = 12.0;
    const Vec3<S> ray = broadcast(light_);
    const double reach = 12.0 * scene_scale_;
    S t = S(2e-3 * scene_scale_), seen = S(1.0);
    for (int i = 0; i < 60; ++i) {
      const S d = distance(along(x_W, ray, t), t / S(k_sharpness));
      seen = min(seen, S(k_sharpness) * d / t);
      t = t + max(S(0.9) * d, S(4e-3 * scene_scale_));
      if (all(t > S(reach) || seen <= S(0.0))) break;
    }
    seen = max(S(0.0), min(S(1.0), seen));
    return seen * seen * (S(3.0) - S(2.0) * seen);
  }

  /// Part of the sky that is not hidden by what is near, from distances along the normal.
  [[nodiscard]] S sky_seen(const Vec3<S>& x_W, const Vec3<S>& normal) const {
    S hidden = S(0.0);
    double weight = 0.5;
    for (int i = 1; i <= 4; ++i) {
      const double step = 0.06 * scene_scale_ * i;
      const Vec3<S> x = along(x_W, normal, S(step));
      S d = distance(x, S(step));
      for (const Plane& plane : planes_)
        d = min(d, dot(relative(x, plane.point_W), broadcast(plane.normal_W)));
      hidden = hidden + S(weight) * max(S(0.0), S(1.0) - d / S(step));
      weight *= 0.6;
    }
    return max(S(0.25), S(1.0) - S(0.8) * hidden);
  }

  struct Shaded {
    std::array<Color, k_lanes> color;
    std::array<Hit, k_lanes> hit;
    std::array<Vec3<double>, k_lanes> normal;
  };

  [[nodiscard]] Shaded shade(const std::array<Vec3<double>, k_lanes>& directions) const {
    Shaded result;
    Vec3<S> ray;
    S limit;
    for (int i = 0; i < k_lanes; ++i) {
      const auto k = static_cast<std::size_t>(i);
      set_lane(ray, i, directions[k]);
      for (std::size_t p = 0; p < planes_.size(); ++p) {
        const Plane& plane = planes_[p];
        const double approach = -plane.normal_W.dot(directions[k]);
        const double t = plane.normal_W.dot(camera_.from - plane.point_W) / approach;
        if (approach > 1e-9 && t > 0.0 && t < result.hit[k].t) result.hit[k] = {t, -1, static_cast<int>(p)};
      }
      limit.set_lane(i, std::min(result.hit[k].t, far_));
    }
    const S t = march(broadcast(camera_.from), ray, limit);
    Vec3<S> x_W, normal;
    for (int i = 0; i < k_lanes; ++i) {
      const auto k = static_cast<std::size_t>(i);
      Hit& hit = result.hit[k];
      const int solid = t[i] < k_infinity ? nearest_solid(camera_.from + t[i] * directions[k]) : -1;
      if (solid >= 0) hit = {t[i], solid, -1};  // none where numbers are too large to tell
      const Vec3<double> x =
          hit.t < k_infinity ? Vec3<double>(camera_.from + hit.t * directions[k]) : camera_.from;
      result.normal[k] = normal_at(hit, x);
      set_lane(x_W, i, x + 1e-4 * scene_scale_ * result.normal[k]);
      set_lane(normal, i, result.normal[k]);
    }
    const bool has_hit =
        std::any_of(result.hit.begin(), result.hit.end(), [](const Hit& h) { return h.t < k_infinity; });
    const S lamp = has_hit ? light_seen(x_W) : S(0.0), sky = has_hit ? sky_seen(x_W, normal) : S(0.0);
    for (int i = 0; i < k_lanes; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const Hit& hit = result.hit[k];
      const Color background = background_color(directions[k]);
      if (hit.t == k_infinity) {
        result.color[k] = background;
        continue;
      }
      const Vec3<double>& n = result.normal[k];
      const double facing = std::max(0.0, n.dot(light_)),
                   upwards = 0.5 + 0.5 * n.dot(camera_.up.normalized());
      const Color light = lamp[i] * facing * Color(0.95, 0.92, 0.87) +
                          sky[i] * ((0.18 + 0.22 * upwards) * Color(0.85, 0.93, 1.0));
      Color color = surface_color(hit, lane_of(x_W, i), directions[k]).cwiseProduct(light);
      if (hit.plane >= 0) {  // the floor fades into the distance
        const double fade = std::exp(-std::pow(hit.t / (0.35 * far_), 2));
        color = fade * color + (1.0 - fade) * background;
      }
      result.color[k] = color;
    }
    return result;
  }

  [[nodiscard]] int nearest_solid(const Vec3<double>& x_W) const {
    int best = -1;
    double least = k_infinity;
    for (std::size_t s = 0; s < solids_.size(); ++s) {
      const Solid& solid = solids_[s];
      if ((x_W - solid.center_W).norm() > 1.1 * solid.radius) continue;
      const double d = solid.sdf.distance<double>(solid.R_BW * (x_W - solid.p_WB));
      if (d < least) {
        least = d;
        best = static_cast<int>(s);
      }
    }
    return best;
  }

  [[nodiscard]] Vec3<double> normal_at(const Hit& hit, const Vec3<double>& x_W) const {
    if (hit.plane >= 0) return planes_[static_cast<std::size_t>(hit.plane)].normal_W;
    if (hit.solid < 0) return Vec3<double>::Zero();
    const Solid& solid = solids_[static_cast<std::size_t>(hit.solid)];
    const Vec3<double> gradient = solid.sdf.evaluate<double>(solid.R_BW * (x_W - solid.p_WB)).gradient;
    return gradient.norm() > 1e-9 ? Vec3<double>(solid.R_BW.transpose() * gradient.normalized())
                                  : Vec3<double>(camera_.from - x_W).normalized();
  }

  [[nodiscard]] Color surface_color(const Hit& hit, const Vec3<double>& x_W, const Vec3<double>& ray) const {
    if (hit.solid >= 0) return solids_[static_cast<std::size_t>(hit.solid)].color;
    const Plane& plane = planes_[static_cast<std::size_t>(hit.plane)];
    const Vec3<double> r = x_W - plane.point_W;
    // Tiles smaller than a few pixels become grey.
    const double slant = std::max(1e-3, std::abs(plane.normal_W.dot(ray)));
    const double blur = std::clamp(2.0 * pixel_ * hit.t / (slant * tile_) - 0.3, 0.0, 1.0);
    const int parity =
        static_cast<int>(std::floor(r.dot(plane.u_W) / tile_) + std::floor(r.dot(plane.v_W) / tile_)) & 1;
    const double light = 0.62, dark = 0.36, middle = 0.5 * (light + dark);
    const double value = middle + (1.0 - blur) * ((parity != 0 ? light : dark) - middle);
    return Color(value, value, 1.02 * value);
  }

  [[nodiscard]] Color background_color(const Vec3<double>& ray) const {
    const double height = std::clamp(0.5 + 1.2 * ray.dot(camera_.up.normalized()), 0.0, 1.0);
    return (1.0 - height) * Color(0.88, 0.9, 0.92) + height * Color(0.62, 0.74, 0.88);
  }

  Camera camera_;
  int width_, height_;
  std::vector<Solid> solids_;
  std::vector<Plane> planes_;
  Vec3<double> forward_, right_, up_, light_;
  double pixel_ = 0.0;        // width of a pixel at distance 1
  double scene_scale_ = 1.0;  // radius of the largest solid [m]
  double far_ = 1.0;          // no farther than this [m]
  double tile_ = 1.0;         // of the floor [m]
};

}  // namespace

Camera camera_for(const Model& model, std::span<const Pose<double>> X_WB, const PictureOptions& options) {
  Camera camera;
  if (model.gravity.norm() > 0.0) camera.up = -model.gravity.normalized();
  // Corners of what is to be seen.
  std::vector<Vec3<double>> corners;
  for (int b = 0; b < model.body_count(); ++b) {
    const Body& body = model.bodies[static_cast<std::size_t>(b)];
    const Pose<double>& X = X_WB[static_cast<std::size_t>(b)];
    if (is_unbounded(body.shape)) continue;
    const Eigen::AlignedBox3d box = ShapeSdf(body.shape).bounds();
    for (int c = 0; c < 8; ++c) {
      corners.push_back(X * Vec3<double>(box.corner(static_cast<Eigen::AlignedBox3d::CornerType>(c))));
    }
  }
  if (corners.empty()) corners = {Vec3<double>(-1, -1, -1), Vec3<double>(1, 1, 1)};
  Eigen::AlignedBox3d box;
  for (const Vec3<double>& corner : corners) box.extend(corner);
  camera.to = options.to.value_or(box.center());
  if (options.from) {
    camera.from = *options.from;
    return camera;
  }
  // As near as every corner allows.
  Vec3<double> side = camera.up.unitOrthogonal();
  if (std::abs(camera.up.z()) > 0.5)
    side = (Vec3<double>(0, -1, 0) - camera.up * camera.up.dot(Vec3<double>(0, -1, 0)));
  side = Eigen::AngleAxisd(0.5, camera.up) * side.normalized();
  const Vec3<double> backward = (side + 0.36 * camera.up).normalized();
  const Vec3<double> right = camera.up.cross(backward).normalized(), up = backward.cross(right);
  const double tan_up = std::tan(0.5 * camera.vertical_angle),
               tan_right = tan_up * options.width / options.height;
  double distance = 0.0;
  for (const Vec3<double>& corner : corners) {
    const Vec3<double> r = corner - camera.to;
    distance = std::max({distance, r.dot(backward) + 1.15 * std::abs(r.dot(right)) / tan_right,
                         r.dot(backward) + 1.15 * std::abs(r.dot(up)) / tan_up});
  }
  camera.from = camera.to + distance * backward;
  return camera;
}

Image draw_picture(const Model& model, std::span<const Pose<double>> X_WB, const PictureOptions& options) {
  return RayTracer(model, X_WB, camera_for(model, X_WB, options), options).draw(options.threads);
}

}  // namespace abut
