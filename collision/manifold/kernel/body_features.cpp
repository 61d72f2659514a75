#include "collision/manifold/kernel/body_features.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <variant>

#include "collision/manifold/edge_normals.h"
#include "collision/manifold/kernel/detection_kernels.h"
#include "engine/body_builder.h"

namespace abut {
namespace {

/// Reorders `indices` so that runs of 16 are near each other: halves along the longest side, each a whole
/// number of blocks.
void split_into_blocks(const Points& points, std::span<int> indices) {
  if (indices.size() <= k_block_points) return;
  Eigen::AlignedBox3d box;
  for (const int i : indices) box.extend(Vec3<double>(points.col(i)));
  Eigen::Index axis = 0;
  box.sizes().maxCoeff(&axis);
  const std::size_t blocks = (indices.size() + k_block_points - 1) / k_block_points;
  const std::size_t middle = (blocks / 2) * k_block_points;
  std::nth_element(indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(middle), indices.end(),
                   [&](int a, int b) {
                     return points(axis, a) < points(axis, b) ||
                            (points(axis, a) == points(axis, b) && a < b);
                   });
  split_into_blocks(points, indices.first(middle));
  split_into_blocks(points, indices.subspan(middle));
}

/// A small ball around points: each step moves the centre towards the farthest (Badoiu and Clarkson 2003).
std::pair<Vec3<double>, double> bounding_ball(const Points& points, std::span<const int> indices) {
  Vec3<double> center = Vec3<double>::Zero();
  for (const int i : indices) center += points.col(i);
  center /= static_cast<double>(indices.size());
  const auto farthest = [&] {
    return *std::max_element(indices.begin(), indices.end(), [&](int a, int b) {
      return (points.col(a) - center).squaredNorm() < (points.col(b) - center).squaredNorm();
    });
  };
  for (int step = 0; step < 300; ++step) center += (points.col(farthest()) - center) / (step + 2.0);
  return {center, (points.col(farthest()) - center).norm()};
}

template <typename T>
PointBlocks<T> make_blocks(const Points& points, int contact_points, std::span<const double> areas) {
  PointBlocks<T> out;
  out.points = static_cast<int>(points.cols());
  out.blocks = (out.points + k_block_points - 1) / k_block_points;
  std::vector<int> order(static_cast<std::size_t>(out.points));
  std::iota(order.begin(), order.end(), 0);
  split_into_blocks(points, order);
  for (int k = 0; k < out.blocks * k_block_points; ++k) {
    const int i = order[static_cast<std::size_t>(std::min(k, out.points - 1))];
    out.x.push_back(static_cast<T>(points(0, i)));
    out.y.push_back(static_cast<T>(points(1, i)));
    out.z.push_back(static_cast<T>(points(2, i)));
    out.point.push_back(i < contact_points ? i : contact_points - 1 - i);
    out.area.push_back(i < contact_points ? static_cast<T>(areas[static_cast<std::size_t>(i)]) : T(0));
  }
  constexpr int k_padding = 16;
  const int padded = (out.blocks + k_padding - 1) / k_padding * k_padding;
  for (auto* numbers : {&out.center_x, &out.center_y, &out.center_z, &out.radius})
    numbers->assign(static_cast<std::size_t>(padded), T(0));
  for (int b = 0; b < out.blocks; ++b) {
    const std::size_t begin = static_cast<std::size_t>(b) * k_block_points;
    const auto indices = std::span<const int>(order).subspan(
        begin, std::min<std::size_t>(k_block_points, order.size() - begin));
    const auto [center, radius] = bounding_ball(points, indices);
    const auto at = static_cast<std::size_t>(b);
    out.center_x[at] = static_cast<T>(center.x());
    out.center_y[at] = static_cast<T>(center.y());
    out.center_z[at] = static_cast<T>(center.z());
    out.radius[at] = static_cast<T>(radius * 1.0001);
  }
  return out;
}

template <typename T>
EdgeTable<T> make_edges(const Body& body, const ShapeSdf& sdf, const PointBlocks<T>& points) {
  EdgeTable<T> out;
  std::vector<int> place_of_vertex(static_cast<std::size_t>(body.mesh.vertex_count()), -1);
  for (std::size_t k = 0; k < points.point.size() && static_cast<int>(k) < points.points; ++k) {
    const int i = points.point[k] >= 0 ? points.point[k] : -1 - points.point[k];
    place_of_vertex[static_cast<std::size_t>(i)] = static_cast<int>(k);
  }
  const std::vector<MeshEdge> edges = mesh_edges(contact_mesh(body), sdf, mesh_edge_options(body));
  std::vector<int> order(edges.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](int e) {
    const int a = place_of_vertex[static_cast<std::size_t>(edges[static_cast<std::size_t>(e)].start)] /
                  k_block_points,
              b = place_of_vertex[static_cast<std::size_t>(edges[static_cast<std::size_t>(e)].end)] /
                  k_block_points;
    return std::pair<int, int>(std::minmax(a, b));
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  constexpr int k_group = 16;
  const int padded = (static_cast<int>(edges.size()) + k_group - 1) / k_group * k_group;
  out.edges = static_cast<int>(edges.size());
  out.group_mask.assign(static_cast<std::size_t>(padded / k_group), 0);
  for (int k = 0; k < padded; ++k) {
    const int e = order[static_cast<std::size_t>(std::min(k, out.edges - 1))];
    const MeshEdge& edge = edges[static_cast<std::size_t>(e)];
    const int a = place_of_vertex[static_cast<std::size_t>(edge.start)],
              b = place_of_vertex[static_cast<std::size_t>(edge.end)];
    const Vec3<double> t = body.contact_points.col(edge.end) - body.contact_points.col(edge.start);
    out.edge.push_back(e);
    out.start.push_back(a);
    out.end.push_back(b);
    out.group_mask[static_cast<std::size_t>(k / k_group)] |=
        std::uint64_t{1} << points.bit_of(a / k_block_points) | std::uint64_t{1}
                                                                    << points.bit_of(b / k_block_points);
    for (int i = 0; i < 3; ++i) {
      (i == 0 ? out.vector_x : i == 1 ? out.vector_y : out.vector_z).push_back(static_cast<T>(t[i]));
      (i == 0   ? out.normal_x
       : i == 1 ? out.normal_y
                : out.normal_z)
          .push_back(static_cast<T>(edge.normal[i]));
    }
    out.area.push_back(static_cast<T>(edge.area));
  }
  return out;
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
  const Eigen::AlignedBox3d& box = sdf.box_of_primitive(i);
  constexpr double k_unbounded = 1e30;
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

std::vector<PrimitiveBound<double>> bounds_of_primitives(const ShapeSdf& sdf) {
  std::vector<PrimitiveBound<double>> bounds;
  for (std::size_t i = 0; i < sdf.primitives<double>().size(); ++i)
    bounds.push_back(make_bound<double>(sdf, i));
  return bounds;
}

template <typename T>
BodyFeatures<T>::BodyFeatures(const Body& body)
    : sdf(body.shape), contact_radius(static_cast<T>(body.contact_radius)), size(static_cast<T>(body.size)) {
  for (std::size_t i = 0; i < body.shape.primitives.size(); ++i) bounds.push_back(make_bound<T>(sdf, i));
  if (body.contact_points.cols() > 0)
    points =
        make_blocks<T>(body.contact_points, static_cast<int>(body.contact_points.cols()), body.contact_areas);
  if (has_mesh_edges(body)) edges = make_edges<T>(body, sdf, points);
  edges.selected = body.selected_edges > 0 ? body.selected_edges : default_selected_edges(body);
}

template struct BodyFeatures<float>;
template struct BodyFeatures<double>;

}  // namespace abut
