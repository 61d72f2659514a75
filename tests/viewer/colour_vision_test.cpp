#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "apps/picture/palette.h"
#include "apps/picture/perceptual_colour.h"

namespace abut {
namespace {

struct Vision {
  const char* name;
  Mat3<double> matrix;  // on light of the screen's primaries
};

/// Machado, Oliveira and Fernandes (2009), "A physiologically-based model for simulation of color vision
/// deficiency", severity 1: without one kind of cones.
std::vector<Vision> visions() {
  Mat3<double> protanopia, deuteranopia, tritanopia;
  // clang-format off
  protanopia << 0.152286, 1.052583, -0.204868,
                0.114503, 0.786281, 0.099216,
                -0.003882, -0.048116, 1.051998;
  deuteranopia << 0.367322, 0.860646, -0.227968,
                  0.280085, 0.672501, 0.047413,
                  -0.011820, 0.042940, 0.968881;
  tritanopia << 1.255528, -0.076749, -0.178779,
                -0.078411, 0.930809, 0.147602,
                0.004733, 0.691367, 0.303900;
  // clang-format on
  return {{"all cones", Mat3<double>::Identity()},
          {"protanopia", protanopia},
          {"deuteranopia", deuteranopia},
          {"tritanopia", tritanopia}};
}

Vec3<double> seen(const Vision& vision, const Colour& colour) {
  return to_lab(from_linear(vision.matrix * to_linear(colour)));
}

/// The least distance in CIELAB that two colours have for anybody.
double least_difference(const Colour& a, const Colour& b) {
  double least = 1e9;
  for (const Vision& vision : visions()) least = std::min(least, (seen(vision, a) - seen(vision, b)).norm());
  return least;
}

struct Coded {
  std::string what;
  Colour colour;
};

std::vector<Coded> scale_of(const std::string& name, Colour (*colour_at)(double)) {
  std::vector<Coded> colours;
  for (int i = 0; i <= 20; ++i)
    colours.push_back({name + " " + std::to_string(0.05 * i), colour_at(0.05 * i)});
  return colours;
}

constexpr double k_distinct = 15.0;  // a difference of 2.3 is just noticed where two colours touch

void check_distinct(const std::vector<Coded>& colours) {
  for (std::size_t i = 0; i < colours.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      CAPTURE(colours[i].what, colours[j].what);
      CHECK(least_difference(colours[i].colour, colours[j].colour) >= k_distinct);
    }
  }
}

void check_off_scale(const std::vector<Coded>& colours, const std::vector<Coded>& scale) {
  for (const Coded& one : colours) {
    for (const Coded& other : scale) {
      CAPTURE(one.what, other.what);
      CHECK(least_difference(one.colour, other.colour) >= k_distinct);
    }
  }
}

const std::vector<Coded>& arrows() {
  static const std::vector<Coded> all{{"force", k_force_colour},
                                      {"gradient by position", k_gradient_position_colour},
                                      {"gradient by velocity", k_gradient_velocity_colour},
                                      {"gradient by force", k_gradient_force_colour}};
  return all;
}

}  // namespace

TEST_CASE("Colour vision: the simulation leaves greys, and joins what people without cones confuse",
          "[viewer][value]") {
  for (const Vision& vision : visions()) {
    CAPTURE(vision.name);
    for (const int grey : {0, 90, 200, 255}) {
      const Colour colour = rgb(grey, grey, grey);
      CHECK((seen(vision, colour) - to_lab(colour)).norm() < 0.5);
    }
  }
  const Colour red = rgb(200, 60, 60), green = rgb(108, 115, 50);
  CHECK((to_lab(red) - to_lab(green)).norm() > 50.0);
  CHECK(least_difference(red, green) < 15.0);
}

TEST_CASE("Colour vision: CIELAB has its known values, and goes back to the same colour", "[viewer][value]") {
  CHECK((to_lab(rgb(255, 255, 255)) - Vec3<double>(100, 0, 0)).norm() < 0.05);
  CHECK((to_lab(rgb(255, 0, 0)) - Vec3<double>(53.24, 80.09, 67.20)).norm() < 0.1);
  CHECK((to_lab(rgb(0, 0, 255)) - Vec3<double>(32.30, 79.19, -107.86)).norm() < 0.1);
  for (const Colour& colour : {rgb(1, 2, 3), rgb(10, 200, 100), rgb(213, 94, 0)})
    CHECK((from_lab(to_lab(colour)) - colour).norm() < 1e-3);
}

TEST_CASE("Colour vision: what glyphs of one shape mean is told by their colours", "[viewer][value]") {
  check_distinct(arrows());
  check_off_scale(arrows(), scale_of("indicator", &sequential_colour));
  const std::vector<Coded> rods{{"witness points", k_witness_colour}, {"pull", k_pull_colour}};
  check_distinct(rods);
  check_off_scale(rods, scale_of("indicator", &sequential_colour));
  check_distinct({{"another motion", k_ghost_colour}, {"that of the sliders", k_passing_ghost_colour}});
  check_distinct({{"sticks", k_stick_colour}, {"slides", k_slip_colour}});
  check_off_scale({{"pinned", k_selection_colour}}, scale_of("indicator", &sequential_colour));
}

TEST_CASE("Colour vision: bodies of the palette are told apart", "[viewer][value]") {
  std::vector<Coded> bodies;
  for (int body = 0; body < static_cast<int>(k_body_palette.size()); ++body)
    bodies.push_back({"body " + std::to_string(body), body_colour(body)});
  check_distinct(bodies);
}

TEST_CASE("Colour vision: the dark rim separates every arrow from every body", "[viewer][value]") {
  for (int body = 0; body < static_cast<int>(k_body_palette.size()); ++body) {
    CAPTURE(body);
    CHECK(least_difference(k_rim_colour, body_colour(body)) > 30.0);
  }
  for (const Coded& arrow : arrows()) {
    CAPTURE(arrow.what);
    CHECK(least_difference(k_rim_colour, arrow.colour) > 30.0);
  }
}

TEST_CASE("Colour vision: scales grow lighter for everybody, that of pressures evenly", "[viewer][value]") {
  const std::vector<Vision> all = visions();
  for (const Vision& vision : all) {
    CAPTURE(vision.name);
    double least = 1e9, most = 0.0;
    for (int i = 0; i < 20; ++i) {
      CAPTURE(i);
      const Vec3<double> from = seen(vision, heat_colour(0.05 * i)),
                         to = seen(vision, heat_colour(0.05 * (i + 1)));
      CHECK(to[0] > from[0]);
      CHECK(seen(vision, sequential_colour(0.05 * (i + 1)))[0] >
            seen(vision, sequential_colour(0.05 * i))[0]);
      least = std::min(least, (to - from).norm());
      most = std::max(most, (to - from).norm());
    }
    CHECK(least > 2.0);
    if (&vision == &all.front()) CHECK(most < 1.5 * least);
  }
  CHECK((heat_colour(-1.0) - heat_colour(0.0)).norm() == 0.0f);
  CHECK((heat_colour(2.0) - heat_colour(1.0)).norm() == 0.0f);
  CHECK((heat_colour(std::nan("")) - heat_colour(0.0)).norm() == 0.0f);
}

}  // namespace abut
