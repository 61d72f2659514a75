#include "apps/picture/slice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "collision/fitting/marching_cubes.h"
#include "collision/manifold/contact_detector.h"
#include "engine/check.h"

namespace abut {
namespace {

constexpr double k_nothing = 1e30;  // [m], where there is nothing
constexpr double k_nowhere = 0.5 * k_nothing;
constexpr double k_opacity = 0.9;
constexpr double k_zero_line = 1.3, k_band_line = 0.6;  // half of their widths [pixels]
constexpr double k_arrow_length = 0.75;                 // in steps between arrows

/// How much of a pixel a line covers whose middle is `away` pixels from its centre.
double coverage(double away, double half_width) {
  return std::clamp(half_width + 0.5 - std::abs(away), 0.0, 1.0);
}

class Slicer {
 public:
  Slicer(const ContactDetector& detector, std::span<const Pose<double>> X_WB, int body)
      : detector_(detector),
        X_WB_(X_WB),
        first_(body < 0 ? 0 : body),
        last_(body < 0 ? static_cast<int>(X_WB.size()) : body + 1) {
    ABUT_ASSERT(last_ <= static_cast<int>(X_WB.size()));
  }

  /// The least of all bodies at points (3, n) in W; k_nothing where an SDF has no answer.
  [[nodiscard]] std::vector<double> distances(const Points& points_W) const {
    const auto n = static_cast<std::size_t>(points_W.cols());
    std::vector<double> least(n, k_nothing), values(n);
    for (int b = first_; b < last_; ++b) {
      if (!is_solid(b)) continue;
      const Pose<double> X_BW = pose(b).inverse();
      Points points_B = X_BW.rotation() * points_W;
      points_B.colwise() += X_BW.p;
      field_of(detector_.sdf(b))(points_B, values);
      for (std::size_t i = 0; i < n; ++i) least[i] = values[i] < least[i] ? values[i] : least[i];
    }
    return least;
  }

  /// That of the closest body at a point, in W; zero where there is none.
  [[nodiscard]] Vec3<double> gradient(const Vec3<double>& p_W) const {
    double least = k_nowhere;
    Vec3<double> gradient_W = Vec3<double>::Zero();
    for (int b = first_; b < last_; ++b) {
      if (!is_solid(b)) continue;
      const SdfSample<double> sample = detector_.sdf(b).evaluate(inverse_point(pose(b), p_W));
      if (!(sample.distance < least) || !sample.gradient.allFinite()) continue;
      least = sample.distance;
      gradient_W = pose(b).q * sample.gradient;
    }
    return gradient_W;
  }

 private:
  [[nodiscard]] const Pose<double>& pose(int b) const { return X_WB_[static_cast<std::size_t>(b)]; }
  [[nodiscard]] bool is_solid(int b) const {
    return detector_.sdf(b).added() > 0 && pose(b).p.allFinite() && pose(b).q.coeffs().allFinite();
  }

  const ContactDetector& detector_;
  std::span<const Pose<double>> X_WB_;
  int first_, last_;
};

/// @param change  of phi from a pixel to the next [m], >= 0
Colour pixel_colour(double phi, double change, double band) {
  Colour colour = slice_colour(phi / band);
  const auto darken = [&](double amount, const Colour& ink) {
    colour += static_cast<float>(amount) * (ink - colour);
  };
  static const Colour k_ink = rgb(24, 26, 32);
  const double pixels_per_band = band / change, bands = phi / band;
  const double number = std::round(bands);
  if (number != 0.0 && std::isfinite(pixels_per_band)) {
    // Lines that would come closer than a few pixels fade, before they become a pattern of their own.
    const double contrast = 0.4 * std::clamp((pixels_per_band - 3.0) / 4.0, 0.0, 1.0);
    darken(contrast * coverage((bands - number) * pixels_per_band, k_band_line), k_ink);
  }
  darken(change > 0.0 ? coverage(phi / change, k_zero_line) : (phi == 0.0 ? 1.0 : 0.0), k_ink);
  return colour;
}

}  // namespace

// Half of the way to their full strength at 6 bands.
Colour slice_colour(double bands) {
  const double strength = 1.0 - std::exp2(-std::abs(bands) / 6.0);
  return diverging_colour(std::copysign(0.08 + 0.82 * strength, bands));
}

SlicePicture slice_picture(const ContactDetector& detector, std::span<const Pose<double>> X_WB, int body,
                           const SlicePlane& plane, int resolution, int arrows, double band) {
  ABUT_ASSERT(resolution >= 1 && arrows >= 0 && band > 0.0 && plane.size > 0.0);
  const Slicer slicer(detector, X_WB, body);
  SlicePicture picture;
  picture.plane = plane;
  picture.resolution = resolution;

  const int n = resolution;
  const auto place = [](int i, int count) { return (2.0 * i + 1.0) / count - 1.0; };  // of the i-th middle
  Points points_W(3, Eigen::Index{n} * n);
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) points_W.col(Eigen::Index{y} * n + x) = plane.point(place(x, n), place(y, n));
  }
  const std::vector<double> phi = slicer.distances(points_W);

  const auto at = [&](int x, int y) {
    return phi[static_cast<std::size_t>(y) * static_cast<std::size_t>(n) + static_cast<std::size_t>(x)];
  };
  // The smaller of the two one-sided differences: where the closest body changes, none is across the edge.
  const auto slope = [&](int x, int y, int dx, int dy) {
    double least = std::numeric_limits<double>::infinity();
    for (const int side : {-1, 1}) {
      const int i = x + side * dx, j = y + side * dy;
      if (i >= 0 && j >= 0 && i < n && j < n) least = std::min(least, std::abs(at(i, j) - at(x, y)));
    }
    return std::isfinite(least) ? least : 0.0;
  };
  picture.pixels.reserve(4 * phi.size());
  picture.distances.reserve(phi.size());
  static const Colour k_grey = rgb(110, 114, 120);
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) {
      const double d = at(x, y);
      const double change = std::hypot(slope(x, y, 1, 0), slope(x, y, 0, 1));
      Colour colour = std::abs(d) < k_nowhere ? pixel_colour(d, change, band) : k_grey;
      colour.w() = static_cast<float>(k_opacity);
      for (int channel = 0; channel < 4; ++channel) {
        picture.pixels.push_back(static_cast<std::uint8_t>(std::lround(255.0f * colour[channel])));
      }
      picture.distances.push_back(static_cast<float>(d));
    }
  }

  const Vec3<double> normal = plane.normal();
  const double length = arrows > 0 ? k_arrow_length * plane.size / arrows : 0.0;
  for (int y = 0; y < arrows; ++y) {
    for (int x = 0; x < arrows; ++x) {
      const Vec3<double> p_W = plane.point(place(x, arrows), place(y, arrows));
      const Vec3<double> g = slicer.gradient(p_W);
      Vec3<double> along = g - normal.dot(g) * normal;
      const double steepness = along.norm();
      if (!(steepness > 0.05)) continue;  // it points out of the plane, or nowhere
      along *= length * std::min(steepness, 1.0) / steepness;
      picture.arrows.push_back({p_W - 0.5 * along, p_W + 0.5 * along});
    }
  }
  return picture;
}

}  // namespace abut
