#include "apps/picture/perceptual_colour.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace abut {
namespace {

/// XYZ of the sRGB primaries, in columns.
Mat3<double> xyz_of_primaries() {
  Mat3<double> matrix;
  matrix << 0.4124564, 0.3575761, 0.1804375,  //
      0.2126729, 0.7151522, 0.0721750,        //
      0.0193339, 0.1191920, 0.9503041;
  return matrix;
}

constexpr double k_delta = 6.0 / 29.0;  // below its cube CIELAB is linear

}  // namespace

Vec3<double> to_linear(const Colour& colour) {
  Vec3<double> light;
  for (int i = 0; i < 3; ++i) {
    const double c = colour[i];
    light[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  }
  return light;
}

Colour from_linear(const Vec3<double>& light) {
  Colour colour = Colour::Ones();
  for (int i = 0; i < 3; ++i) {
    const double c = std::clamp(light[i], 0.0, 1.0);
    colour[i] = static_cast<float>(c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1.0 / 2.4) - 0.055);
  }
  return colour;
}

Vec3<double> to_lab(const Colour& colour) {
  const Mat3<double> primaries = xyz_of_primaries();
  const Vec3<double> white = primaries.rowwise().sum();
  const Vec3<double> xyz = (primaries * to_linear(colour)).cwiseQuotient(white);
  const auto f = [](double t) {
    return t > k_delta * k_delta * k_delta ? std::cbrt(t) : t / (3.0 * k_delta * k_delta) + 4.0 / 29.0;
  };
  const double x = f(xyz.x()), y = f(xyz.y()), z = f(xyz.z());
  return {116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)};
}

Colour from_lab(const Vec3<double>& lab) {
  const Mat3<double> primaries = xyz_of_primaries();
  const Vec3<double> white = primaries.rowwise().sum();
  const auto inverse = [](double f) {
    return f > k_delta ? f * f * f : 3.0 * k_delta * k_delta * (f - 4.0 / 29.0);
  };
  const double y = (lab[0] + 16.0) / 116.0;
  const Vec3<double> xyz(inverse(y + lab[1] / 500.0), inverse(y), inverse(y - lab[2] / 200.0));
  return from_linear(primaries.inverse() * xyz.cwiseProduct(white));
}

Colour heat_colour(double x) {
  const double t = x > 0.0 ? std::min(x, 1.0) : 0.0;  // NaN is 0
  const double lightness = 16.0 + 76.0 * t;
  const double hue = (-60.0 + 155.0 * t) * std::numbers::pi / 180.0;
  const double chroma = 30.0 + 120.0 * t * (1.0 - t) + 10.0 * t;
  return from_lab({lightness, chroma * std::cos(hue), chroma * std::sin(hue)});
}

}  // namespace abut
