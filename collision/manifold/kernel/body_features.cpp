#include "collision/manifold/kernel/body_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <set>
#include <variant>

#include <Eigen/Geometry>

#include "collision/manifold/closest_features.h"
#include "collision/manifold/convex_edges.h"
#include "collision/manifold/flush_faces.h"
#include "engine/row_lanes.h"

namespace abut {
namespace {

constexpr int k_padding = 16;  // the longest pack

/// Directions across which a group may be divided.
constexpr std::array<std::array<int, 3>, 13> k_dividing{{{1, 0, 0},
                                                         {0, 1, 0},
                                                         {0, 0, 1},
                                                         {1, 1, 0},
                                                         {1, -1, 0},
                                                         {1, 0, 1},
                                                         {1, 0, -1},
                                                         {0, 1, 1},
                                                         {0, 1, -1},
                                                         {1, 1, 1},
                                                         {1, 1, -1},
                                                         {1, -1, 1},
                                                         {-1, 1, 1}}};

/// Reorders `indices` so that runs of `group` cost little: halves, each a whole number of groups, across the
/// direction for which the costs of both add up to least.
///
/// @param cost  of some indices
template <typename Cost>
void split_into_groups(const Points& points, std::span<int> indices, std::size_t group, const Cost& cost) {
  if (indices.size() <= group) return;
  const std::size_t middle = (indices.size() + group - 1) / group / 2 * group;
  struct Place {
    double along;
    int index;
    bool operator<(const Place& other) const {
      return along < other.along || (along == other.along && index < other.index);
    }
  };
  std::vector<Place> places(indices.size());
  std::vector<int> best, order(indices.size());
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [x, y, z] : k_dividing) {
    for (std::size_t k = 0; k < indices.size(); ++k) {
      const int i = indices[k];
      places[k] = {x * points(0, i) + y * points(1, i) + z * points(2, i), i};
    }
    std::nth_element(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(middle), places.end());
    std::transform(places.begin(), places.end(), order.begin(),
                   [](const Place& place) { return place.index; });
    const std::span<const int> halves(order);
    const double sum = cost(halves.first(middle)) + cost(halves.subspan(middle));
    if (sum >= least) continue;
    least = sum;
    best = order;
  }
  std::copy(best.begin(), best.end(), indices.begin());
  split_into_groups(points, indices.first(middle), group, cost);
  split_into_groups(points, indices.subspan(middle), group, cost);
}

constexpr int k_bounding_steps = 100;  // balls and cones are then within about a percent of the smallest

struct Ball {
  Vec3<double> center;
  double radius;
};

/// A small ball around points: each step moves the centre towards the farthest (Badoiu and Clarkson 2003).
Ball bounding_ball(std::span<const Vec3<double>> points) {
  Vec3<double> center = Vec3<double>::Zero();
  for (const Vec3<double>& x : points) center += x;
  center /= static_cast<double>(points.size());
  Ball smallest{center, std::numeric_limits<double>::infinity()};
  for (int step = 0; step < k_bounding_steps; ++step) {
    const Vec3<double> farthest =
        *std::max_element(points.begin(), points.end(), [&](const Vec3<double>& a, const Vec3<double>& b) {
          return (a - center).squaredNorm() < (b - center).squaredNorm();
        });
    const double radius = (farthest - center).norm();
    if (radius < smallest.radius) smallest = {center, radius};
    center += (farthest - center) / (step + 2.0);
  }
  smallest.radius *= 1.0001;
  return smallest;
}

struct Cone {
  Vec3<double> axis;
  double angle;  ///< [rad]
};

/// A narrow cone around unit vectors, found as bounding_ball() is.
Cone bounding_cone(std::span<const Vec3<double>> directions) {
  Vec3<double> axis = Vec3<double>::Zero();
  for (const Vec3<double>& direction : directions) axis += direction;
  axis.stableNormalize();
  Vec3<double> best = axis;
  double largest_cosine = -std::numeric_limits<double>::infinity();
  for (int step = 0; step < k_bounding_steps; ++step) {
    const Vec3<double> farthest = *std::min_element(
        directions.begin(), directions.end(),
        [&](const Vec3<double>& a, const Vec3<double>& b) { return axis.dot(a) < axis.dot(b); });
    const double cosine = axis.dot(farthest);
    if (cosine > largest_cosine) {
      largest_cosine = cosine;
      best = axis;
    }
    axis += (farthest - axis) / (step + 2.0);
    axis.stableNormalize();
  }
  return {best, std::acos(std::clamp(largest_cosine, -1.0, 1.0))};
}

int whole_packs(int count) { return (count + k_padding - 1) / k_padding * k_padding; }

template <typename T>
PointBlocks<T> make_point_blocks(const Body& body) {
  const Points& points = body.contact_points;
  PointBlocks<T> out;
  out.points = static_cast<int>(points.cols());
  out.blocks = (out.points + k_block - 1) / k_block;
  std::vector<int> order(at(out.points));
  std::iota(order.begin(), order.end(), 0);
  split_into_groups(points, order, k_block, [&](std::span<const int> group) {
    Eigen::AlignedBox3d box;
    for (const int i : group) box.extend(Vec3<double>(points.col(i)));
    return static_cast<double>(group.size()) * box.diagonal().squaredNorm();
  });
  for (int k = 0; k < out.blocks * k_block; ++k) {
    const int i = order[at(std::min(k, out.points - 1))];
    out.x.push_back(static_cast<T>(points(0, i)));
    out.y.push_back(static_cast<T>(points(1, i)));
    out.z.push_back(static_cast<T>(points(2, i)));
    out.point.push_back(i);
    out.area.push_back(static_cast<T>(body.contact_areas[at(i)]));
    if (body.contact_area_vectors.cols() == 0) continue;
    out.area_x.push_back(static_cast<T>(body.contact_area_vectors(0, i)));
    out.area_y.push_back(static_cast<T>(body.contact_area_vectors(1, i)));
    out.area_z.push_back(static_cast<T>(body.contact_area_vectors(2, i)));
  }
  for (auto* numbers : {&out.center_x, &out.center_y, &out.center_z, &out.radius})
    numbers->assign(at(whole_packs(out.blocks)), T(0));
  for (int b = 0; b < out.blocks; ++b) {
    std::vector<Vec3<double>> members;
    for (int k = b * k_block; k < (b + 1) * k_block; ++k) members.push_back(points.col(out.point[at(k)]));
    const Ball ball = bounding_ball(members);
    out.center_x[at(b)] = static_cast<T>(ball.center.x());
    out.center_y[at(b)] = static_cast<T>(ball.center.y());
    out.center_z[at(b)] = static_cast<T>(ball.center.z());
    out.radius[at(b)] = static_cast<T>(ball.radius);
  }
  return out;
}

/// 2 pi less the angles of the triangles at each contact point [rad]: the solid angle of its normal cone.
std::vector<double> angle_deficits(const Body& body) {
  std::vector<double> deficits(at(static_cast<int>(body.contact_points.cols())), 2.0 * std::numbers::pi);
  for (const Eigen::Vector3i& corners : body.mesh.triangles) {
    for (int k = 0; k < 3; ++k) {
      const Vec3<double> x = body.contact_points.col(corners[k]),
                         a = body.contact_points.col(corners[(k + 1) % 3]) - x,
                         b = body.contact_points.col(corners[(k + 2) % 3]) - x;
      deficits[at(corners[k])] -= std::atan2(a.cross(b).norm(), a.dot(b));
    }
  }
  return deficits;
}

/// For each contact point, whether the triangles of the mesh around it lie in one plane. Contact points that have been
/// moved since count as the vertices that they were.
std::vector<bool> points_within_faces(const Body& body) {
  constexpr double k_rounding = 1e-9;  // of 1 - cos of angles between normals
  const int points = static_cast<int>(body.mesh.vertices.cols());
  Points sums = Points::Zero(3, points);
  std::vector<double> areas(at(points));
  for (const Eigen::Vector3i& corners : body.mesh.triangles) {
    const Vec3<double> x = body.mesh.vertices.col(corners[0]),
                       area = (body.mesh.vertices.col(corners[1]) - x)
                                  .cross(Vec3<double>(body.mesh.vertices.col(corners[2]) - x));
    for (const int i : corners) {
      sums.col(i) += area;
      areas[at(i)] += area.norm();
    }
  }
  std::vector<bool> within(at(points));
  for (int i = 0; i < points; ++i) within[at(i)] = sums.col(i).norm() > (1.0 - k_rounding) * areas[at(i)];
  return within;
}

template <typename T>
PointEdges<T> make_point_edges(const Body& body, const SlidingPoints<T>& sliding) {
  constexpr double k_corner = 1.0;  // [sr]; of a cube's corner pi/2
  constexpr double k_flat = 1e-9, k_unbounded = 1e30;
  PointEdges<T> out;
  out.is_feature.assign(at(static_cast<int>(body.contact_points.cols())), T(1));
  out.floor.assign(out.is_feature.size(), T(k_patch_floor));
  if (!has_mesh_edges(body)) return out;
  const std::vector<bool> within_faces = points_within_faces(body);
  for (std::size_t i = 0; i < within_faces.size(); ++i) {
    if (within_faces[i]) out.is_feature[i] = out.floor[i] = T(0);
  }
  for (const FlatFace& face : body.flat_faces) {
    for (std::size_t k = 0; k < face.factors.size(); ++k) out.is_feature[at(face.points[k])] = T(1);
  }
  std::vector<std::set<int>> neighbours(at(static_cast<int>(body.contact_points.cols())));
  for (const Eigen::Vector3i& corners : body.mesh.triangles) {
    for (const int i : corners) neighbours[at(i)].insert(corners.begin(), corners.end());
  }
  const std::vector<double> deficits = angle_deficits(body);
  for (auto* const numbers : {&out.x, &out.y, &out.z}) numbers->push_back(T(0));
  out.end.push_back(-1);
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    const Vec3<double> area_vector = body.contact_area_vectors.col(static_cast<Eigen::Index>(i));
    double area = area_vector.norm();
    double steepest = -k_unbounded;  // |A| times the largest rise of an edge along A
    out.first.push_back(static_cast<std::int32_t>(out.x.size()));
    if (sliding.slides(static_cast<int>(i)) || deficits[i] <= k_corner) {
      for (const int k : neighbours[i]) {
        const Vec3<double> edge =
            body.contact_points.col(k) - body.contact_points.col(static_cast<Eigen::Index>(i));
        if (!(edge.squaredNorm() > 0.0)) continue;
        const Vec3<double> along = edge.normalized();
        steepest = std::max(steepest, area_vector.dot(along));
        out.x.push_back(static_cast<T>(along.x()));
        out.y.push_back(static_cast<T>(along.y()));
        out.z.push_back(static_cast<T>(along.z()));
        out.end.push_back(k);
      }
    }
    if (steepest > -k_unbounded && !(steepest < k_flat * area)) {  // no such cone
      area = k_unbounded;
      steepest = 0.0;
    }
    out.cone_sin.push_back(static_cast<T>(-steepest));
    out.cone_cos.push_back(static_cast<T>(std::sqrt(std::max(area * area - steepest * steepest, 0.0))));
  }
  out.first.push_back(static_cast<std::int32_t>(out.x.size()));
  for (auto* const numbers : {&out.x, &out.y, &out.z}) numbers->insert(numbers->end(), at(k_block), T(0));
  return out;
}

template <typename T>
FaceSupports<T> make_face_supports(const Body& body, const ShapeSdf& sdf, const PointBlocks<T>& blocks) {
  FaceSupports<T> out;
  std::vector<int> place(at(blocks.points));
  for (int k = 0; k < blocks.points; ++k) place[at(blocks.point[at(k)])] = k;
  std::vector<T>* const coordinates[3] = {&out.x, &out.y, &out.z};
  std::vector<T>* const middles[3] = {&out.middle_x, &out.middle_y, &out.middle_z};
  std::vector<T>* const normals[3] = {&out.normal_x, &out.normal_y, &out.normal_z};
  for (const FlatFace& face : body.flat_faces) {
    if (!counts_as_flush(face, sdf)) continue;
    const int supports = static_cast<int>(face.factors.size());
    out.faces.push_back({static_cast<int>(out.x.size()), supports, static_cast<int>(out.points.size()),
                         static_cast<int>(face.points.size())});
    for (std::size_t k = 0; k < face.points.size(); ++k) {
      const bool is_support = k < face.factors.size();
      out.points.push_back({place[at(face.points[k])], static_cast<T>(is_support ? face.factors[k] : 0.0)});
    }
    for (int k = 0; k < whole_packs(supports); ++k)
      out.place.push_back(place[at(face.points[at(k < supports ? k : 0)])]);
    Vec3<double> middle = Vec3<double>::Zero();
    for (int k = 0; k < supports; ++k)
      middle += body.contact_points.col(face.points[at(k)]) / static_cast<double>(supports);
    for (int axis = 0; axis < 3; ++axis) {
      middles[axis]->push_back(static_cast<T>(middle[axis]));
      normals[axis]->push_back(static_cast<T>(face.normal[axis]));
      for (int k = 0; k < whole_packs(supports); ++k)
        coordinates[axis]->push_back(
            static_cast<T>(body.contact_points(axis, face.points[at(k < supports ? k : 0)])));
    }
    out.reach.push_back(static_cast<T>(face.reach));
  }
  for (auto* const numbers :
       {&out.middle_x, &out.middle_y, &out.middle_z, &out.normal_x, &out.normal_y, &out.normal_z, &out.reach})
    numbers->resize(at(whole_packs(static_cast<int>(out.faces.size()))));
  return out;
}

/// Ball and cone of a group of edges.
Eigen::Matrix<double, k_edge_bound_columns, 1> edge_bound(const Points& vertices,
                                                          std::span<const MeshEdge> edges,
                                                          std::span<const int> group) {
  Eigen::Matrix<double, k_edge_bound_columns, 1> bound;
  bound.setZero();
  bound[k_ball_radius] = k_no_edge;
  bound[k_narrowest] = 1.0;
  std::vector<Vec3<double>> ends, normals;
  for (const int i : group) {
    if (i < 0) continue;
    const MeshEdge& edge = edges[at(i)];
    const auto [a, b] = edge.ends(vertices);
    const Vec3<double> beyond = 0.5 * k_window_reach * (b - a);  // k w_b along the edge, at most
    ends.push_back(a - beyond);
    ends.push_back(b + beyond);
    for (const Vec3<double>& normal : edge.face_normals) {
      if (std::find(normals.begin(), normals.end(), normal) == normals.end()) normals.push_back(normal);
    }
    bound[k_narrowest] = std::min(bound[k_narrowest], edge.face_normals[0].dot(edge.face_normals[1]));
  }
  if (ends.empty()) return bound;
  constexpr double k_rounding = 1e-4;  // [rad]
  const Ball ball = bounding_ball(ends);
  const Cone cone = bounding_cone(normals);
  bound.segment<3>(k_ball_center) = ball.center;
  bound[k_ball_radius] = ball.radius;
  bound.segment<3>(k_cone_axis) = cone.axis;
  const double angle = cone.angle + k_rounding;
  const bool is_open = angle > 0.5 * std::numbers::pi;
  bound[k_cone_cos] = is_open ? 0.0 : std::cos(angle);
  bound[k_cone_sin] = is_open ? 0.0 : std::sin(angle);
  bound[k_cone_open] = is_open ? 2.0 : 0.0;
  return bound;
}

/// So many edges, times about the area that touching ones of another body may lie in: of as large a ball, and
/// beside it what normals of a cone reach `depth` below [m].
double cost_of_edges(const Points& vertices, std::span<const MeshEdge> edges, double depth,
                     std::span<const int> group) {
  Eigen::AlignedBox3d box;
  Vec3<double> axis = Vec3<double>::Zero();
  for (const int i : group) {
    const MeshEdge& edge = edges[at(i)];
    for (const int end : {edge.start, edge.end}) box.extend(Vec3<double>(vertices.col(end)));
    for (const Vec3<double>& normal : edge.face_normals) axis += normal;
  }
  axis.stableNormalize();
  const Vec3<double> center = box.center();
  double radius = 0.0, cosine = 1.0;
  for (const int i : group) {
    const MeshEdge& edge = edges[at(i)];
    for (const int end : {edge.start, edge.end})
      radius = std::max(radius, (vertices.col(end) - center).norm());
    for (const Vec3<double>& normal : edge.face_normals) cosine = std::min(cosine, normal.dot(axis));
  }
  const double reach = radius + depth * std::acos(std::max(cosine, -1.0));
  return static_cast<double>(group.size()) * reach * reach;
}

EdgeBlocks make_edge_blocks(const Points& vertices, std::span<const MeshEdge> edges, double size) {
  constexpr double k_narrow = 0.2;  // cosine: wedge_entry() may be 0 in wedges that are wider
  EdgeBlocks out;
  out.edges = static_cast<int>(edges.size());
  Points middles(3, out.edges);
  for (int i = 0; i < out.edges; ++i)
    middles.col(i) = 0.5 * (vertices.col(edges[at(i)].start) + vertices.col(edges[at(i)].end));
  std::vector<int> of_kind[2];  // wide, narrow
  for (int i = 0; i < out.edges; ++i) {
    const auto& [first, second] = edges[at(i)].face_normals;
    of_kind[first.dot(second) < k_narrow ? 1 : 0].push_back(i);
    out.narrowest = std::min(out.narrowest, first.dot(second));
  }
  const auto cost = [&](std::span<const int> group) {
    return cost_of_edges(vertices, edges, 0.04 * size, group);
  };
  for (std::vector<int>& order : of_kind) {
    split_into_groups(middles, order, k_block, cost);
    for (std::size_t first = 0; first < order.size(); first += k_block) {
      const auto block = std::span(order).subspan(first, std::min(at(k_block), order.size() - first));
      split_into_groups(middles, block, at(k_edge_group[1]), cost);
    }
    order.resize((order.size() + k_block - 1) / k_block * k_block, -1);
    out.edge.insert(out.edge.end(), order.begin(), order.end());
  }
  out.blocks = static_cast<int>(out.edge.size()) / k_block;
  out.farthest = static_cast<float>(vertices.cwiseAbs().colwise().sum().maxCoeff());
  return out;
}

/// Bounds of the groups of a level.
Columns<double> bounds_of_groups(const Points& vertices, std::span<const MeshEdge> edges,
                                 const EdgeBlocks& blocks, int level) {
  const int group = k_edge_group[level], groups = blocks.blocks * k_block / group;
  Columns<double> columns(k_edge_bound_columns, whole_packs(groups));
  for (int i = 0; i < columns.stride; ++i) {
    const auto members = i < groups ? std::span<const int>(blocks.edge).subspan(at(i * group), at(group))
                                    : std::span<const int>();
    const auto bound = edge_bound(vertices, edges, members);
    for (int c = 0; c < k_edge_bound_columns; ++c) columns.set(c, i, bound[c]);
  }
  return columns;
}

template <typename T>
Columns<T> converted(const Columns<double>& columns) {
  Columns<T> result;
  result.stride = columns.stride;
  result.numbers.assign(columns.numbers.begin(), columns.numbers.end());
  return result;
}

template <typename T>
Columns<T> geometry_of_edges(const Points& vertices, std::span<const MeshEdge> edges,
                             const EdgeBlocks& blocks) {
  Columns<T> columns(k_convex_edge_columns, blocks.blocks * k_block);
  for (int i = 0; i < columns.stride; ++i) {
    const MeshEdge& edge = edges[at(std::max(0, blocks.edge[at(i)]))];
    const auto [start, end] = edge.ends(vertices);
    const Vec3<double> vector = end - start;
    Eigen::Matrix<double, k_convex_edge_columns, 1> numbers;
    numbers << start, vector / vector.norm(), vector.norm(), edge.face_normals[0], edge.face_normals[1],
        edge.area;
    if (blocks.edge[at(i)] < 0) numbers[k_edge_length] = k_no_edge;
    for (int c = 0; c < k_convex_edge_columns; ++c) columns.set(c, i, numbers[c]);
  }
  return columns;
}

std::vector<float> rows_of(const Columns<float>& geometry) {
  static_assert(k_edge_row_numbers <= k_row);
  std::vector<float> rows(at(geometry.stride * k_row));
  for (int i = 0; i < geometry.stride; ++i) {
    float* const row = &rows[at(i * k_row)];
    for (int c = 0; c < k_row_cosine; ++c) row[c] = geometry.column(k_edge_start + c)[i];
    row[k_row_cosine] = 0.0f;
    for (int axis = 0; axis < 3; ++axis) {
      const float f1 = geometry.column(k_edge_face_normals + axis)[i],
                  f2 = geometry.column(k_edge_face_normals + 3 + axis)[i];
      row[k_row_cosine] += f1 * f2;
      row[k_row_outward + axis] = f1 + f2;
    }
  }
  return rows;
}

template <typename T>
PrimitiveBound<T> make_bound(const ShapeSdf& sdf, std::size_t i) {
  PrimitiveBound<T> bound;
  if (const auto* sq = std::get_if<Superquadric<double>>(&sdf.primitives<double>()[i].solid)) {
    bound.to_scaled = sq->to_scaled.template cast<T>();
    bound.center = sq->centre.template cast<T>();
    bound.inverse_axes = sq->inverse_axes.template cast<T>();
    bound.half.setConstant(T(1));
    bound.steepest = static_cast<T>(sq->shortest_axis / sq->norm_bound);
    return bound;
  }
  constexpr double k_unbounded = 1e30;
  if (const auto* plane = std::get_if<HalfSpace<double>>(&sdf.primitives<double>()[i].solid)) {
    bound.to_scaled.setZero();
    bound.to_scaled.row(0) = plane->normal.template cast<T>().transpose();
    bound.center = plane->point.template cast<T>();
    bound.inverse_axes.setConstant(T(1));
    bound.half << T(0), T(k_unbounded), T(k_unbounded);
    bound.below = T(1);
    bound.steepest = static_cast<T>(1.0 / sdf.distance_ratio());
    return bound;
  }
  const Eigen::AlignedBox3d& box = sdf.box_of_primitive(i);
  const bool is_bounded = box.sizes().allFinite();
  bound.to_scaled.setIdentity();
  bound.center = is_bounded ? Vec3<T>(box.center().cast<T>()) : Vec3<T>(Vec3<T>::Zero());
  bound.inverse_axes.setConstant(T(1));
  bound.half =
      is_bounded ? Vec3<T>((0.5 * box.sizes()).cast<T>()) : Vec3<T>(Vec3<T>::Constant(T(k_unbounded)));
  bound.steepest = static_cast<T>(1.0 / sdf.distance_ratio());
  return bound;
}

}  // namespace

template <typename T>
std::vector<PrimitiveBound<T>> bounds_of_primitives(const ShapeSdf& sdf) {
  std::vector<PrimitiveBound<T>> bounds;
  for (std::size_t i = 0; i < sdf.primitives<double>().size(); ++i) bounds.push_back(make_bound<T>(sdf, i));
  return bounds;
}

template std::vector<PrimitiveBound<float>> bounds_of_primitives(const ShapeSdf& sdf);
template std::vector<PrimitiveBound<double>> bounds_of_primitives(const ShapeSdf& sdf);

template <typename T>
BodyFeatures<T>::BodyFeatures(const Body& body, const ShapeSdf& its_sdf, std::span<const MeshEdge> mesh_edges)
    : sdf(&its_sdf),
      bounds(bounds_of_primitives<T>(its_sdf)),
      is_convex(its_sdf.is_convex()),
      contact_radius(static_cast<T>(body.contact_radius)),
      size(static_cast<T>(body.size)),
      smallest_area(std::numeric_limits<T>::infinity()) {
  for (const double area : body.contact_areas) smallest_area = std::min(smallest_area, static_cast<T>(area));
  if (body.contact_points.cols() > 0) points = make_point_blocks<T>(body);
  sliding = sliding_points<T>(body);
  is_round = sliding.slide || (!body.contact_points_on_surface && body.flat_faces.empty());
  point_edges = make_point_edges<T>(body, sliding);
  if (body.selected_vertices == 0) flat_faces = make_face_supports(body, its_sdf, points);
  if (mesh_edges.empty()) return;
  edges = make_edge_blocks(body.contact_points, mesh_edges, body.size);
  for (int level = 0; level < k_edge_levels; ++level) {
    const Columns<double> of_groups = bounds_of_groups(body.contact_points, mesh_edges, edges, level);
    edges.bounds[level] = converted<float>(of_groups);
    if (level == 0) edge_balls = converted<T>(of_groups);
  }
  edges.geometry = geometry_of_edges<float>(body.contact_points, mesh_edges, edges);
  edges.rows = rows_of(edges.geometry);
  edge_geometry = geometry_of_edges<T>(body.contact_points, mesh_edges, edges);
}

template struct BodyFeatures<float>;
template struct BodyFeatures<double>;

}  // namespace abut
