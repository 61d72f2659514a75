#include "apps/picture/stroke_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "engine/types.h"

namespace abut {
namespace {

constexpr double k_cap = 21.0, k_descent = 7.0;  // above and below the line [units]

/// Strokes of a letter: places (x, y) in units, y upwards from the line; a pen that is lifted is {k_up, 0}.
struct Letter {
  char name;
  int advance;
  std::span<const std::array<int, 2>> strokes;
};

using Place = std::array<int, 2>;
constexpr int k_up = -100;

// clang-format off
constexpr Place k_0[] = {{9,21},{6,20},{4,17},{3,12},{3,9},{4,4},{6,1},{9,0},{11,0},{14,1},{16,4},{17,9},{17,12},{16,17},{14,20},{11,21},{9,21}};
constexpr Place k_1[] = {{6,17},{8,18},{11,21},{11,0}};
constexpr Place k_2[] = {{4,16},{4,17},{5,19},{6,20},{8,21},{12,21},{14,20},{15,19},{16,17},{16,15},{15,13},{13,10},{3,0},{17,0}};
constexpr Place k_3[] = {{5,21},{16,21},{10,13},{13,13},{15,12},{16,11},{17,8},{17,6},{16,3},{14,1},{11,0},{8,0},{5,1},{4,2},{3,4}};
constexpr Place k_4[] = {{13,21},{3,7},{18,7},{k_up,0},{13,21},{13,0}};
constexpr Place k_5[] = {{15,21},{5,21},{4,12},{5,13},{8,14},{11,14},{14,13},{16,11},{17,8},{17,6},{16,3},{14,1},{11,0},{8,0},{5,1},{4,2},{3,4}};
constexpr Place k_6[] = {{16,18},{15,20},{12,21},{10,21},{7,20},{5,17},{4,12},{4,7},{5,3},{7,1},{10,0},{11,0},{14,1},{16,3},{17,6},{17,7},{16,10},{14,12},{11,13},{10,13},{7,12},{5,10},{4,7}};
constexpr Place k_7[] = {{17,21},{7,0},{k_up,0},{3,21},{17,21}};
constexpr Place k_8[] = {{8,21},{5,20},{4,18},{4,16},{5,14},{7,13},{11,12},{14,11},{16,9},{17,7},{17,4},{16,2},{15,1},{12,0},{8,0},{5,1},{4,2},{3,4},{3,7},{4,9},{6,11},{9,12},{13,13},{15,14},{16,16},{16,18},{15,20},{12,21},{8,21}};
constexpr Place k_9[] = {{16,14},{15,11},{13,9},{10,8},{9,8},{6,9},{4,11},{3,14},{3,15},{4,18},{6,20},{9,21},{10,21},{13,20},{15,18},{16,14},{16,9},{15,4},{13,1},{10,0},{8,0},{5,1},{4,3}};
constexpr Place k_minus[] = {{4,9},{16,9}};
constexpr Place k_plus[] = {{10,15},{10,3},{k_up,0},{4,9},{16,9}};
constexpr Place k_point[] = {{5,1},{4,0},{5,0},{5,1}};
constexpr Place k_e[] = {{3,8},{15,8},{15,10},{14,12},{13,13},{11,14},{8,14},{6,13},{4,11},{3,8},{3,6},{4,3},{6,1},{8,0},{11,0},{13,1},{15,3}};
constexpr Place k_k[] = {{4,21},{4,0},{k_up,0},{14,14},{4,4},{k_up,0},{8,8},{15,0}};
constexpr Place k_m[] = {{4,14},{4,0},{k_up,0},{4,10},{7,13},{9,14},{12,14},{14,13},{15,10},{15,0},{k_up,0},{15,10},{18,13},{20,14},{23,14},{25,13},{26,10},{26,0}};
constexpr Place k_u[] = {{4,14},{4,4},{5,1},{7,0},{10,0},{12,1},{15,4},{k_up,0},{15,14},{15,0}};
constexpr Place k_x[] = {{3,14},{14,0},{k_up,0},{14,14},{3,0}};
constexpr Place k_y[] = {{2,14},{8,0},{k_up,0},{14,14},{8,0},{6,-4},{4,-6},{2,-7},{1,-7}};
// clang-format on

constexpr Letter k_letters[] = {{'0', 20, k_0},    {'1', 20, k_1}, {'2', 20, k_2},     {'3', 20, k_3},
                                {'4', 20, k_4},    {'5', 20, k_5}, {'6', 20, k_6},     {'7', 20, k_7},
                                {'8', 20, k_8},    {'9', 20, k_9}, {'-', 20, k_minus}, {'+', 20, k_plus},
                                {'.', 9, k_point}, {'e', 18, k_e}, {'k', 17, k_k},     {'m', 30, k_m},
                                {'u', 19, k_u},    {'x', 17, k_x}, {'y', 16, k_y}};
constexpr Letter k_blank{' ', 12, {}};

const Letter& letter_of(char name) {
  const auto* const found = std::find_if(std::begin(k_letters), std::end(k_letters),
                                         [name](const Letter& letter) { return letter.name == name; });
  return found == std::end(k_letters) ? k_blank : *found;
}

double distance_to(const Vec2<double>& p, const Vec2<double>& a, const Vec2<double>& b) {
  const Vec2<double> along = b - a;
  const double square = along.squaredNorm();
  const double t = square > 0.0 ? std::clamp((p - a).dot(along) / square, 0.0, 1.0) : 0.0;
  return (p - a - t * along).norm();
}

std::uint8_t share(double coverage) {
  return static_cast<std::uint8_t>(std::lround(255.0 * std::clamp(coverage, 0.0, 1.0)));
}

}  // namespace

StrokeText stroke_text(std::string_view text, double cap_height) {
  constexpr double k_stroke = 0.07, k_rim = 0.14;  // half of a stroke, and the rim beside it, of the height
  const double unit = cap_height / k_cap, stroke = std::max(0.75, k_stroke * cap_height),
               reach = stroke + std::max(1.2, k_rim * cap_height) + 1.0;
  double advance = 0.0;
  for (const char c : text) advance += unit * letter_of(c).advance;
  StrokeText result;
  result.width = static_cast<int>(std::ceil(advance + 2.0 * reach));
  result.height = static_cast<int>(std::ceil(unit * (k_cap + k_descent) + 2.0 * reach));
  const auto width = static_cast<std::size_t>(result.width), height = static_cast<std::size_t>(result.height);
  std::vector<double> distances(width * height, std::numeric_limits<double>::infinity());
  const auto draw = [&](const Vec2<double>& a, const Vec2<double>& b) {
    const auto low = [&](int i) {
      return static_cast<int>(std::max(0.0, std::floor(std::min(a[i], b[i]) - reach)));
    };
    const auto high = [&](int i, int size) {
      return std::min(size - 1, static_cast<int>(std::ceil(std::max(a[i], b[i]) + reach)));
    };
    for (int y = low(1); y <= high(1, result.height); ++y) {
      for (int x = low(0); x <= high(0, result.width); ++x) {
        double& nearest = distances[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)];
        nearest = std::min(nearest, distance_to({x + 0.5, y + 0.5}, a, b));
      }
    }
  };
  Vec2<double> pen(reach, reach + cap_height);  // at the left end of the line
  for (const char c : text) {
    const Letter& letter = letter_of(c);
    const auto place = [&](const Place& p) -> Vec2<double> { return pen + unit * Vec2<double>(p[0], -p[1]); };
    for (std::size_t i = 1; i < letter.strokes.size(); ++i) {
      const Place &from = letter.strokes[i - 1], &to = letter.strokes[i];
      if (from[0] != k_up && to[0] != k_up) draw(place(from), place(to));
    }
    pen.x() += unit * letter.advance;
  }
  for (const double distance : distances) {
    result.ink.push_back(share(stroke + 0.5 - distance));
    result.rim.push_back(share(reach - 0.5 - distance));
  }
  return result;
}

}  // namespace abut
