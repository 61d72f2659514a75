/// The vertices of a round body that slide (surface_slide.h), and their constants.
#pragma once

#include <array>
#include <cstdint>

#include "collision/manifold/geometry_gradient.h"
#include "collision/manifold/kernel/columns.h"
#include "collision/manifold/surface_slide.h"
#include "engine/model.h"
#include "engine/types.h"

namespace abut {

/// Columns of SlidingSeed, of each contact point.
enum SeedColumn {
  k_seed_place = 0,    ///< r, z, c_x, c_y
  k_seed_turn = 4,     ///< l_x, l_y, n_r, n_z
  k_seed_normal = 8,   ///< 3
  k_seed_cells = 11,   ///< both inverse lengths [1/m]
  k_seed_ring = 13,    ///< R, Z, rho, sigma, and whether it bends
  k_seed_travel = 18,  ///< farthest that a seed with weight moves [m]
  k_seed_columns = 19
};

/// Columns of the surface and the frame of a seed, where these are its own.
enum SeedFrameColumn {
  k_frame_surface = 0,   ///< a, b, c, q1, q2, sqrt(a b), both psi^2
  k_frame_rotation = 8,  ///< 9: R_PF, row by row
  k_frame_origin = 17,   ///< 3: p_PF [m]
  k_frame_slides = 20,   ///< 1, or 0 of a contact point that is no seed
  k_frame_columns = 21
};

template <typename T>
struct SlidingPoints {
  bool slide = false;           ///< otherwise the rest is not used
  bool framed = false;          ///< each seed has a surface and a frame of its own, and P is the body's frame
  SlidingSurface<T> surface{};  ///< that of all seeds, in P, otherwise
  Mat3<T> R_BP;
  Vec3<T> p_BP;  ///< [m]
  Columns<T> seeds;
  Columns<T> frames;  ///< where `framed`
  T farthest = 0;     ///< the largest travel [m]

  /// Whether a contact point is a seed.
  [[nodiscard]] bool slides(int point) const {
    return slide && (!framed || frames.column(k_frame_slides)[point] > T(0));
  }
};

/// The sliding points of a body that has seeds (engine/surface_seeds.h).
template <typename T>
[[nodiscard]] SlidingPoints<T> sliding_points(const Body& body);

extern template SlidingPoints<float> sliding_points(const Body&);
extern template SlidingPoints<double> sliding_points(const Body&);

/// The seed of a contact point. `column(c)` is the number of its column.
template <typename S, typename Column>
[[nodiscard]] ABUT_KERNEL_PART SlidingSeed<S> seed_of(const Column& column) {
  return {column(k_seed_place),
          column(k_seed_place + 1),
          column(k_seed_place + 2),
          column(k_seed_place + 3),
          column(k_seed_turn),
          column(k_seed_turn + 1),
          column(k_seed_turn + 2),
          column(k_seed_turn + 3),
          {column(k_seed_normal), column(k_seed_normal + 1), column(k_seed_normal + 2)},
          column(k_seed_cells),
          column(k_seed_cells + 1),
          column(k_seed_ring),
          column(k_seed_ring + 1),
          column(k_seed_ring + 2),
          column(k_seed_ring + 3),
          column(k_seed_ring + 4)};
}

/// The same with its surface and frame, where these are its own; `frame(c)` is the number of a SeedFrameColumn.
template <typename S, typename Column, typename Frame>
[[nodiscard]] ABUT_KERNEL_PART FramedSeed<S> framed_seed_of(const Column& column, const Frame& frame) {
  FramedSeed<S> at{seed_of<S>(column),
                   {frame(k_frame_surface), frame(k_frame_surface + 1), frame(k_frame_surface + 2),
                    frame(k_frame_surface + 3), frame(k_frame_surface + 4), frame(k_frame_surface + 5),
                    frame(k_frame_surface + 6), frame(k_frame_surface + 7)},
                   {},
                   {},
                   {},
                   frame(k_frame_slides)};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) at.R_PF(i, j) = frame(k_frame_rotation + 3 * i + j);
    at.p_PF[i] = frame(k_frame_origin + i);
    at.n[i] = at.R_PF(i, 0) * at.seed.n[0] + at.R_PF(i, 1) * at.seed.n[1] + at.R_PF(i, 2) * at.seed.n[2];
  }
  return at;
}

/// The seed of a contact point of any body whose vertices slide.
[[nodiscard]] FramedSeed<double> seed_at(const SlidingPoints<double>& sliding, int point);

/// dL/d(parameters of the primitive that the seed is on, if any) and dL/d(place of the contact point, in P).
struct SlideBar {
  std::array<double, 5> parameters{};
  Vec3<double> place = Vec3<double>::Zero();
};
/// The VJP of sliding a point along a direction: `bar` is dL/d(slid point).
[[nodiscard]] SlideBar slide_vjp(const Body& owner, int point, const Vec3<double>& direction,
                                 const SlidPoint<double>& bar);

/// The number of the primitive that the seed of a contact point is on; -1 if it is on none.
[[nodiscard]] int primitive_of_seed(const Body& body, int point);

/// N of a contact point at a normal of the other body, and its derivative with respect to that, in the body's
/// frame; 0 of one that is no seed.
struct SeedArrival {
  double value = 0.0;
  Vec3<double> by_normal = Vec3<double>::Zero();
};
[[nodiscard]] SeedArrival seed_arrival(const SlidingPoints<double>& sliding, int point,
                                       const Vec3<double>& n_B);
/// Adds dL/d(shape) of N: by parameters and pose of the primitive and by contact points.
void seed_arrival_vjp(const Body& owner, const SlidingPoints<double>& sliding, int point,
                      const Vec3<double>& n_B, double arrived_bar, GeometryGradient& geometry);

}  // namespace abut
