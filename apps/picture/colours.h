/// Colours of pictures; those that carry meaning can be told apart by colour-blind people.
#pragma once

#include <array>

#include "engine/types.h"

namespace abut {

/// Red, green, blue, opacity in [0, 1], as a screen has them (sRGB).
using Colour = Eigen::Vector4f;

[[nodiscard]] inline Colour rgb(int r, int g, int b, float opacity = 1.0f) {
  return {static_cast<float>(r) / 255.0f, static_cast<float>(g) / 255.0f, static_cast<float>(b) / 255.0f,
          opacity};
}

/// Of bodies, in turn: those of k_body_palette.
[[nodiscard]] Colour body_colour(int body);

/// From dark violet at 0 over blue-green to yellow at 1, ever brighter; clamped.
/// @see  Smith and van der Walt (2015), "viridis".
[[nodiscard]] Colour sequential_colour(double x);

/// From blue at -1 over nearly white at 0 to orange at 1; clamped.
[[nodiscard]] Colour diverging_colour(double x);

// Of glyphs. Those of one shape differ from each other and from sequential_colour(), whoever looks: see
// tests/viewer/colour_vision_test.cpp.
inline const Colour k_rim_colour = rgb(15, 17, 20), k_stick_colour = rgb(86, 180, 233),
                    k_slip_colour = rgb(213, 94, 0), k_force_colour = rgb(204, 51, 255),
                    k_gradient_position_colour = rgb(255, 255, 255),
                    k_gradient_velocity_colour = rgb(255, 160, 235),
                    k_gradient_force_colour = rgb(190, 80, 0), k_selection_colour = rgb(255, 255, 255),
                    k_witness_colour = rgb(250, 250, 250), k_pull_colour = rgb(230, 0, 60);
/// What bodies of other motions, which are seen through, are tinted with.
inline const Colour k_ghost_colour = rgb(255, 255, 255), k_passing_ghost_colour = rgb(240, 228, 66),
                    k_predicted_ghost_colour = rgb(230, 120, 0);
/// Of the studio that bodies stand in: neutral, so that every body's colour stands out from it.
inline const Colour k_background_sky = rgb(118, 129, 145), k_background_horizon = rgb(218, 221, 225),
                    k_background_ground = rgb(192, 196, 201), k_floor_colour = rgb(205, 208, 212);

}  // namespace abut
