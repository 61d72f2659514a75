/// What the contact kernel needs of a body, laid out for lanes: contact points and convex edges in spatial
/// blocks, and the bounds of its solid's primitives.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collision/manifold/kernel/columns.h"
#include "collision/manifold/kernel/solid_bound.h"
#include "collision/manifold/mesh_edges.h"
#include "collision/manifold/sliding_points.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/model.h"
#include "engine/types.h"

namespace abut {

/// Features of a block: points or edges near each other.
inline constexpr int k_block = 16;

/// Structure of arrays of T in the body's frame [m]. Blocks are filled up with copies of the last point.
template <typename T>
struct PointBlocks {
  int points = 0;
  int blocks = 0;
  std::vector<T> x, y, z;
  std::vector<int> point;  ///< index of each in the body
  std::vector<T> area;     ///< [m^2]
  std::vector<T> area_x, area_y,
      area_z;  ///< area vectors in the body's frame [m^2]; none: the whole area counts
  std::vector<T> center_x, center_y, center_z, radius;  ///< of the blocks' balls; as many as fill whole packs
};

/// Unit vectors along the edges of the mesh at each contact point, in the body's frame (closest_features.h).
///
/// With the area vector A of a point and the least angle alpha + 90 degrees between A and an edge, no edge leads down
/// by more than sin(beta) along a normal n that is within alpha + beta of -A. A point without edges is within any
/// such cone, one whose edges lead up along A within none.
template <typename T>
struct PointEdges {
  std::vector<std::int32_t>
      first;  ///< of each contact point in turn, and the end; empty where these are no vertices
  /// The first is 0, for packs of points that have different numbers of edges, and so is a pack at the end.
  std::vector<T> x, y, z;
  std::vector<int> end;               ///< contact point at the other end of each
  std::vector<T> cone_cos, cone_sin;  ///< |A| cos(alpha), |A| sin(alpha) [m^2], of each contact point
  /// One number for each contact point: 0 within a flat face, where it is no closest feature at a round body, but for
  /// those that stand for others where the face lies flush; else 1.
  std::vector<T> is_feature;
  std::vector<T> floor;  ///< f of closest_features.h, of each contact point: 0 within a flat face
};

/// The flat faces of a body (engine/flat_faces.h).
template <typename T>
struct FaceSupports {
  /// A point of PointBlocks: its place there, and its factor, 0 if it is no support.
  struct Point {
    int place;
    T factor;
  };
  struct Face {
    int first_support, supports;
    int first_point, points;
  };
  std::vector<Face> faces;
  std::vector<Point> points;
  std::vector<T> x, y, z;  ///< of supports [m]; each face's fill whole packs, up with copies of the first
  std::vector<std::int32_t> place;  ///< of each of these in PointBlocks
  // Of each face, in whole packs.
  std::vector<T> middle_x, middle_y, middle_z;  ///< mean of the supports [m]
  std::vector<T> normal_x, normal_y, normal_z;
  std::vector<T> reach;  ///< FlatFace::reach [m]
};

/// Columns of what bounds a group of edges: a ball around them, and a cone around the normals at which they
/// can touch.
enum EdgeBoundColumn {
  k_ball_center = 0,  ///< 3 [m]
  k_ball_radius = 3,  ///< [m]; of a group that is empty k_no_edge
  k_cone_axis = 4,    ///< 3
  k_cone_cos = 7,     ///< of the angle between the axis and the normals, at most 90 degrees
  k_cone_sin = 8,
  k_cone_open = 9,   ///< 2 where there is no such cone (cos and sin are 0 then), else 0
  k_narrowest = 10,  ///< least f_1.f_2 of an edge
  k_edge_bound_columns = 11
};

/// Columns of a convex edge (convex_edges.h).
enum ConvexEdgeColumn {
  k_edge_start = 0,         ///< 3 [m]
  k_edge_direction = 3,     ///< 3
  k_edge_length = 6,        ///< [m]; of what fills up a block k_no_edge
  k_edge_face_normals = 7,  ///< 3, 3
  k_edge_area = 13,         ///< [m^2]
  k_convex_edge_columns = 14
};

/// What the search for edges that cross needs of one.
enum EdgeRowNumber {
  k_row_start = 0,      ///< 3 [m]
  k_row_direction = 3,  ///< 3
  k_row_length = 6,     ///< [m]
  k_row_cosine = 7,     ///< f_1.f_2
  k_row_outward = 8,    ///< 3: f_1 + f_2
  k_edge_row_numbers = 11
};

/// Groups of edges, in each other: blocks of 16, and quarters of these.
inline constexpr int k_edge_levels = 2;
inline constexpr int k_edge_group[k_edge_levels] = {16, 4};

/// A length so far below 0 that nothing meets it.
inline constexpr double k_no_edge = -1e18;

/// The convex edges of a body, for the search for pairs.
struct EdgeBlocks {
  int edges = 0;
  int blocks = 0;
  std::vector<int> edge;  ///< index of each in mesh_edges(); blocks are filled up with -1. Those of narrow
                          ///< wedges, which may touch from farther beside, come last, in blocks of their own
  Columns<float> bounds[k_edge_levels];  ///< of the groups, by k_edge_group; as many as fill whole packs
  Columns<float> geometry;               ///< ConvexEdgeColumn of each edge
  std::vector<float> rows;               ///< EdgeRowNumber, k_row numbers an edge (engine/row_lanes.h)
  float farthest = 0;                    ///< sum of the coordinates of a vertex, at most [m]
  double narrowest = 1.0;                ///< least f_1.f_2 of an edge
};

/// A body for the kernel; const once made. The SDF must outlive it.
template <typename T>
struct BodyFeatures {
  /// @param mesh_edges  of the body; none if it has no edge contacts
  BodyFeatures(const Body& body, const ShapeSdf& its_sdf, std::span<const MeshEdge> mesh_edges);

  const ShapeSdf* sdf;
  std::vector<PrimitiveBound<T>> bounds;  ///< in the order of the SDF: added primitives, then subtracted
  bool is_convex;                         ///< ShapeSdf::is_convex()
  bool
      is_round;  ///< touches faces with points of its own that are where they should be: balls, or vertices that slide
  PointBlocks<T> points;
  PointEdges<T> point_edges;
  SlidingPoints<T> sliding;
  FaceSupports<T> flat_faces;  ///< none where contact points are chosen by their depth
  EdgeBlocks edges;
  Columns<T> edge_geometry;  ///< ConvexEdgeColumn of each edge of `edges`
  Columns<T> edge_balls;     ///< of the blocks: k_ball_center, k_ball_radius
  T contact_radius = 0;      ///< [m]
  T size = 0;                ///< [m]
  T smallest_area = 0;       ///< of the contact points; infinite if there are none [m^2]
};

extern template struct BodyFeatures<float>;
extern template struct BodyFeatures<double>;

}  // namespace abut
