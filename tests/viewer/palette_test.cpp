#include <algorithm>
#include <array>
#include <cmath>

#include <catch2/catch.hpp>

#include "apps/picture/colours.h"
#include "apps/picture/palette.h"

namespace abut::test {
namespace {

double linear(double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); }

/// CIE L*a*b* of a colour as an eye with a transformation of linear RGB sees it.
Vec3<double> lab_of(const Colour& colour, const Mat3<double>& eye) {
  Vec3<double> rgb;
  for (int c = 0; c < 3; ++c) rgb[c] = linear(static_cast<double>(colour[c]));
  rgb = (eye * rgb).cwiseMax(0.0).cwiseMin(1.0);
  Mat3<double> to_xyz;  // in units of the white point
  to_xyz << 0.4339, 0.3762, 0.1899, 0.2126, 0.7152, 0.0722, 0.0177, 0.1095, 0.8729;
  const Vec3<double> f = (to_xyz * rgb).unaryExpr([](double t) {
    return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116.0;
  });
  return {116.0 * f.y() - 16.0, 500.0 * (f.x() - f.y()), 200.0 * (f.y() - f.z())};
}

/// Normal sight, protanopia, deuteranopia and tritanopia.
/// @see  Machado, Oliveira and Fernandes (2009), "A physiologically-based model for simulation of color
/// vision
///       deficiency".
std::array<Mat3<double>, 4> eyes() {
  std::array<Mat3<double>, 4> eyes;
  eyes[0].setIdentity();
  eyes[1] << 0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998;
  eyes[2] << 0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881;
  eyes[3] << 1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900;
  return eyes;
}

TEST_CASE("body_colour: differ from each other and from the floor to every kind of eye",
          "[viewer][property]") {
  constexpr double k_clear = 15.0;  // ten times what two eyes can just tell apart
  const int count = static_cast<int>(k_body_palette.size());
  for (std::size_t e = 0; e < eyes().size(); ++e) {
    const Mat3<double> eye = eyes()[e];
    for (int i = 0; i < count; ++i) {
      const Vec3<double> lab = lab_of(body_colour(i), eye);
      CAPTURE(e, i);
      CHECK((lab - lab_of(k_floor_colour, eye)).norm() > k_clear);
      for (int j = 0; j < i; ++j) CHECK((lab - lab_of(body_colour(j), eye)).norm() > k_clear);
    }
  }
}

}  // namespace
}  // namespace abut::test
