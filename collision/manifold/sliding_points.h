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

template <typename T>
struct SlidingPoints {
  bool slide = false;  ///< otherwise the rest is not used
  SlidingSurface<T> surface{};
  Mat3<T> R_BP;
  Vec3<T> p_BP;  ///< [m]
  Columns<T> seeds;
  T farthest = 0;  ///< the largest travel [m]
};

/// The sliding points of a body that has seeds (engine/surface_seeds.h): none of a superquadric with exponents
/// much above 1.
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

[[nodiscard]] inline SlidingSeed<double> seed_at(const SlidingPoints<double>& sliding, int point) {
  return seed_of<double>([&](int c) { return sliding.seeds.column(c)[point]; });
}

/// dL/d(parameters of the primitive) and dL/d(place of the contact point, in P).
struct SlideBar {
  std::array<double, 5> parameters{};
  Vec3<double> place = Vec3<double>::Zero();
};
/// The VJP of sliding a point along a direction: `bar` is dL/d(slid point).
[[nodiscard]] SlideBar slide_vjp(const Body& owner, int point, const Vec3<double>& direction,
                                 const SlidPoint<double>& bar);

/// N of a seed at a normal of the other body, and its derivative with respect to that, in the body's frame.
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
