/// What the manifold kernels need of a body, laid out for lanes: points in spatial blocks, edges, solid.
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Geometry>

#include "collision/sdf/shape_sdf.h"
#include "engine/model.h"
#include "engine/types.h"

namespace abut {

/// Points of a block; blocks are balls of points near each other, made by splitting along the longest side.
inline constexpr int k_block_points = 16;

/// Blocks beyond this number share the bits of the masks that say which blocks matter.
inline constexpr int k_mask_bits = 64;

/// Structure of arrays of T, B frame, [m]. The first `contact_points` points of the body carry vertex
/// contacts; ends of edges that are no contact points follow as further points.
template <typename T>
struct PointBlocks {
  int points = 0;          ///< all of them
  int blocks = 0;          ///< ceil(points/16)
  std::vector<T> x, y, z;  ///< 16 a block, the last one filled up with copies of the last point
  std::vector<int> point;  ///< index of each in the body: contact point, or -1 - mesh vertex
  std::vector<T> area;     ///< quadrature weight [m^2], 0 where it is no contact point
  std::vector<T> center_x, center_y, center_z, radius;  ///< of the balls; as many as fill whole packs

  /// Which bit of a mask over blocks stands for one.
  [[nodiscard]] int bit_of(int block) const {
    return block * k_mask_bits / (blocks > k_mask_bits ? blocks : k_mask_bits);
  }
};

/// The edges of a body's mesh.
template <typename T>
struct EdgeTable {
  int edges = 0;
  std::vector<int> start, end;            ///< places in PointBlocks
  std::vector<int> edge;                  ///< index in mesh_edges() of the body
  std::vector<std::uint64_t> group_mask;  ///< a bit for each block with an end of the 16 edges of a group
  std::vector<T> vector_x, vector_y, vector_z;  ///< end - start [m]
  std::vector<T> normal_x, normal_y, normal_z;  ///< unit, constant in the body
  std::vector<T> area;                          ///< a third of its two triangles [m^2]
  int selected = 0;                             ///< K = |E_b|
};

/// Where a primitive of a solid is, for culling.
template <typename T>
struct PrimitiveBound {
  Mat3<T> to_scaled;     ///< of a superquadric: t = to_scaled (x - center); else R_PB
  Vec3<T> center;        ///< [m]
  Vec3<T> inverse_axes;  ///< |dt| <= inverse_axes |dx|
  Vec3<T> half;          ///< the solid lies in |t_i| <= half_i
  T steepest;            ///< distance >= steepest (max_i |t_i| - half_i), and 0 where that is < 0
};

/// A body for the kernels; const once made.
template <typename T>
struct BodyFeatures {
  explicit BodyFeatures(const Body& body);

  ShapeSdf sdf;
  std::vector<PrimitiveBound<T>> bounds;  ///< in the order of the SDF: added primitives, then subtracted
  PointBlocks<T> points;
  EdgeTable<T> edges;
  T contact_radius = 0;
  T size = 0;
};

extern template struct BodyFeatures<float>;
extern template struct BodyFeatures<double>;

}  // namespace abut
