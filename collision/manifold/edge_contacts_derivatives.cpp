/// The derivatives of edge_contacts.h.
#include <algorithm>
#include <cmath>

#include "collision/manifold/contact_activity.h"
#include "collision/manifold/edge_contacts.h"
#include "collision/manifold/kernel/point_kernels.h"
#include "engine/dual.h"
#include "engine/smooth.h"

namespace abut {

void pass_on_edge_normals(const EdgeBody& body, GeometryGradient& geometry) {
  for (Eigen::Index i = 0; i < geometry.edge_normals.cols(); ++i) {
    const Vec3<double> normal_bar = geometry.edge_normals.col(i);
    if (normal_bar.isZero(0.0)) continue;
    geometry.edge_normals.col(i).setZero();
    const MeshEdge& edge = body.edges[static_cast<std::size_t>(i)];
    if (edge.of_faces) {
      face_edge_normal_vjp(contact_mesh(*body.body), edge, normal_bar, geometry.contact_points);
      continue;
    }
    Vec3<double> a_bar = Vec3<double>::Zero(), b_bar = a_bar;
    mesh_edge_normal_vjp(*body.sdf, body.body->contact_points.col(edge.start),
                         body.body->contact_points.col(edge.end), edge, normal_bar, a_bar, b_bar,
                         geometry.primitives);
    geometry.contact_points.col(edge.start) += a_bar;
    geometry.contact_points.col(edge.end) += b_bar;
  }
}

void EdgeContacts::add_bar(const Contact& contact, const ContactBar& bar, EdgePair& pair) const {
  const ContactFeature& feature = contact.feature;
  const double tau = activity_smoothing_;
  EdgePair::Bars& bars = pair.bars;
  if (!bars.any) {
    bars.any = true;
    const std::size_t count = pair.rows * pair.columns;
    bars.distance.assign(count, 0.0);
    for (int side = 0; side < 2; ++side) {
      bars.penetration[side].assign(count, 0.0);
      bars.weight[side].assign(count, 0.0);
      bars.sdf[side].resize(count);
    }
    for (auto& numbers : bars.point) numbers.assign(count, 0.0);
    for (auto& numbers : bars.normal) numbers.assign(count, 0.0);
  }
  const auto [k, l] = pair.place_of(feature);
  if (k < 0 || l < 0) return;
  const auto at = static_cast<std::size_t>(k) * pair.columns + static_cast<std::size_t>(l);
  const std::size_t side = feature.on_B ? 1 : 0;
  bars.distance[at] += bar.signed_distance;
  bars.penetration[side][at] +=
      bar.penetration + bar.activity * contact.weight * activity_d_penetration(contact.penetration, tau);
  bars.weight[side][at] += bar.weight + bar.activity * activity(contact.penetration, tau);
  bars.sdf[side][at] = contact.penetration + body(static_cast<int>(side)).body->contact_radius;
  for (int axis = 0; axis < 3; ++axis) {
    bars.point[axis][at] += bar.point_W[axis];
    bars.normal[axis][at] -= bar.normal_AB_W[axis];
  }
}

void EdgeContacts::vjp(const Pose<double>& X_WA, const Pose<double>& X_WB, EdgePair& pair,
                       Vec6<double>& pose_A_bar, Vec6<double>& pose_B_bar, GeometryGradient* geometry_A,
                       GeometryGradient* geometry_B) const {
  constexpr std::size_t k_pack = 8;
  const EdgePair::Bars& bars = pair.bars;
  EdgePair::Memory& memory = pair.memory;
  const std::size_t rows = pair.rows, columns = pair.columns, count = rows * columns;
  if (!bars.any || count == 0) return;
  const Pose<double>* poses[2] = {&X_WA, &X_WB};
  const Mat3<double> rotations[2] = {X_WA.rotation(), X_WB.rotation()};
  Vec6<double>* pose_bars[2] = {&pose_A_bar, &pose_B_bar};
  GeometryGradient* geometries[2] = {geometry_A, geometry_B};
  double radius_bar[2] = {0.0, 0.0};

  // Weights of contacts to pairs of edges and to weights of edges.
  for (auto* numbers : {&memory.softened, &memory.interior, &memory.clash}) numbers->resize(count);
  for (int side = 0; side < 2; ++side) {
    memory.of_edges[side].resize(side == 0 ? rows : columns);
    memory.sums[side].resize(side == 0 ? rows : columns);
  }
  derivative_kernels().edge_weights_vjp(matrices(pair),
                                        {{bars.weight[0].data(), bars.weight[1].data()},
                                         memory.softened.data(),
                                         memory.interior.data(),
                                         memory.clash.data(),
                                         {memory.of_edges[0].data(), memory.of_edges[1].data()},
                                         {memory.sums[0].data(), memory.sums[1].data()}});

  // Penetrations, and weights of edges by the distances of their ends, to points at the other solid.
  for (int side = 0; side < 2; ++side) {
    const EdgeBody& owner = body(side);
    const EdgePair::Side& s = pair.sides[side];
    const Pose<double>&X_WO = *poses[side], &X_WS = *poses[1 - side];
    const Mat3<double> R_SW = rotations[1 - side].transpose();
    SolidBars& at_solid = memory.solids[side];
    at_solid.clear();
    memory.witnesses[side].clear();
    for (std::size_t at = 0; at < count; ++at) {
      const double bar = bars.penetration[side][at];
      if (bar == 0.0) continue;
      radius_bar[side] -= bar;
      memory.witnesses[side].emplace_back(
          at, at_solid.add(R_SW * (pair.point(side, at) - X_WS.p), bars.sdf[side][at], bar));
    }
    memory.ends[side].clear();
    if (s.selection.all) continue;
    memory.weights.assign(memory.of_edges[side].begin(),
                          memory.of_edges[side].begin() + static_cast<std::ptrdiff_t>(s.edges.size()));
    memory.metrics.resize(s.edges.size());
    soft_selection_vjp<double>(s.metrics, s.selection, memory.weights, memory.metrics);
    for (std::size_t i = 0; i < s.edges.size(); ++i) {
      const MeshEdge& edge = owner.edges[static_cast<std::size_t>(s.edges[i])];
      for (std::size_t end = 0; end < 2; ++end) {
        const double bar = 0.5 * memory.metrics[i] * s.slopes[i][end];
        if (bar == 0.0) continue;
        radius_bar[side] -= bar;
        const int point = end == 0 ? edge.start : edge.end;
        auto& ends = memory.ends[side];
        const auto found =
            std::find_if(ends.begin(), ends.end(), [&](const auto& known) { return known.first == point; });
        if (found != ends.end()) {
          at_solid.add_to(found->second, bar);
          continue;
        }
        const Vec3<double> x_W = rotations[side] * owner.body->contact_points.col(point) + X_WO.p;
        ends.emplace_back(point, at_solid.add(R_SW * (x_W - X_WS.p),
                                              s.distances[i][end] + owner.body->contact_radius, bar));
      }
    }
  }
  for (int side = 0; side < 2; ++side) {
    GeometryGradient* const geometry = geometries[1 - side];
    memory.solids[side].vjp(body(1 - side).solid(), geometry != nullptr
                                                        ? std::span<PrimitiveGradient>(geometry->primitives)
                                                        : std::span<PrimitiveGradient>());
  }

  // Pairs of edges that matter, as columns: distance, softened, interior, clash, point, normal, witness
  // points.
  constexpr std::size_t k_columns = 16;
  const std::size_t room = count + k_pack;
  memory.rows.resize(room);
  memory.columns.resize(room);
  memory.pairs.resize(k_columns * room);
  const auto column = [&](std::size_t c) { return memory.pairs.data() + c * room; };
  std::size_t chosen = 0, next[2] = {0, 0};
  for (std::size_t k = 0, at = 0; k < rows; ++k) {
    for (std::size_t l = 0; l < columns; ++l, ++at) {
      Vec3<double> forces[2] = {Vec3<double>::Zero(), Vec3<double>::Zero()};
      bool has_contact = bars.distance[at] != 0.0 || memory.interior[at] != 0.0 || memory.clash[at] != 0.0 ||
                         bars.point[0][at] != 0.0 || bars.point[1][at] != 0.0 || bars.point[2][at] != 0.0 ||
                         bars.normal[0][at] != 0.0 || bars.normal[1][at] != 0.0 || bars.normal[2][at] != 0.0;
      for (int side = 0; side < 2; ++side) {
        const auto& witnesses = memory.witnesses[side];
        if (next[side] == witnesses.size() || witnesses[next[side]].first != at) continue;
        const int solid = 1 - side;
        forces[side] = rotations[solid] * memory.solids[side].x_bar(witnesses[next[side]++].second);
        *pose_bars[solid] -= stack<double>(
            Vec3<double>(pair.point(side, at) - poses[solid]->p).cross(forces[side]), forces[side]);
        has_contact = true;
      }
      if (!has_contact && memory.softened[at] == 0.0) continue;
      memory.rows[chosen] = static_cast<int>(k);
      memory.columns[chosen] = static_cast<int>(l);
      column(0)[chosen] = bars.distance[at];
      column(1)[chosen] = memory.softened[at];
      column(2)[chosen] = memory.interior[at];
      column(3)[chosen] = memory.clash[at];
      for (std::size_t i = 0; i < 3; ++i) {
        column(4 + i)[chosen] = bars.point[i][at];
        column(7 + i)[chosen] = bars.normal[i][at];
        column(10 + i)[chosen] = forces[0][static_cast<int>(i)];
        column(13 + i)[chosen] = forces[1][static_cast<int>(i)];
      }
      ++chosen;
    }
  }
  for (std::size_t i = chosen; i < (chosen + k_pack - 1) / k_pack * k_pack; ++i) {
    memory.rows[i] = memory.columns[i] = 0;
    for (std::size_t c = 0; c < k_columns; ++c) column(c)[i] = 0.0;
  }
  for (int side = 0; side < 2; ++side) memory.edges[side].assign(9 * (side == 0 ? rows : columns), 0.0);
  derivative_kernels().edge_pairs_vjp(
      settings_, pair.sides[0].edge_columns(), pair.sides[1].edge_columns(),
      {A_->body->contact_radius, B_->body->contact_radius},
      {memory.rows.data(),
       memory.columns.data(),
       static_cast<int>(chosen),
       column(0),
       column(1),
       column(2),
       column(3),
       {column(4), column(5), column(6)},
       {column(7), column(8), column(9)},
       {{column(10), column(11), column(12)}, {column(13), column(14), column(15)}}},
      memory.edges[0].data(), memory.edges[1].data(), radius_bar);

  // Edges and their ends to poses and points.
  for (int side = 0; side < 2; ++side) {
    const EdgeBody& owner = body(side);
    const EdgePair::Side& s = pair.sides[side];
    const Pose<double>& X_WO = *poses[side];
    const Mat3<double> R_OW = rotations[side].transpose();
    GeometryGradient* const geometry = geometries[side];
    Vec6<double>& pose_bar = *pose_bars[side];
    if (geometry != nullptr && geometry->edge_normals.cols() == 0)
      geometry->edge_normals.setZero(3, static_cast<Eigen::Index>(owner.edges.size()));
    for (std::size_t i = 0; i < s.edges.size(); ++i) {
      const Eigen::Map<const Mat3<double>> numbers(memory.edges[side].data() + 9 * i);
      const Edge<double> bar{numbers.col(0), numbers.col(1), numbers.col(2)};
      pose_bar += edge_tangent_bar<double>(s.edge(i), bar, X_WO.p);
      if (geometry == nullptr) continue;
      const MeshEdge& edge = owner.edges[static_cast<std::size_t>(s.edges[i])];
      geometry->contact_points.col(edge.start) += R_OW * (bar.start - bar.vector);
      geometry->contact_points.col(edge.end) += R_OW * bar.vector;
      geometry->edge_normals.col(s.edges[i]) += R_OW * bar.normal;
    }
    for (const auto& [point, place] : memory.ends[side]) {
      const Vec3<double> arm = rotations[side] * owner.body->contact_points.col(point),
                         x_bar = rotations[1 - side] * memory.solids[side].x_bar(place);
      pose_bar += stack<double>(arm.cross(x_bar), x_bar);
      *pose_bars[1 - side] -=
          stack<double>(Vec3<double>(arm + X_WO.p - poses[1 - side]->p).cross(x_bar), x_bar);
      if (geometry != nullptr) geometry->contact_points.col(point) += R_OW * x_bar;
    }
    if (geometry != nullptr) geometry->contact_radius += radius_bar[side];
  }
}

std::vector<ContactBar> EdgeContacts::shape_jvp(const Pose<double>& X_WA, const Pose<double>& X_WB,
                                                const EdgePair& pair,
                                                std::span<const ContactFeature> features,
                                                const GeometryGradient& geometry_A_dot,
                                                const GeometryGradient& geometry_B_dot) const {
  using D = Dual<double, 1>;
  const Pose<double>* poses[2] = {&X_WA, &X_WB};
  const GeometryGradient* dots[2] = {&geometry_A_dot, &geometry_B_dot};
  const std::size_t columns = pair.columns, count = pair.rows * columns;

  // phi of a body's solid at a point of W that moves.
  const auto distance_jvp = [&](int solid, const Vec3<double>& x_W, const Vec3<double>& x_W_dot) {
    const Vec3<double> x_S = inverse_point<double>(*poses[solid], x_W);
    const Vec3<double> gradient = poses[solid]->q * body(solid).sdf->evaluate<double>(x_S).gradient;
    return gradient.dot(x_W_dot) + parameter_jvp(*body(solid).sdf, x_S, dots[solid]->primitives);
  };

  // Edges and their weights.
  std::vector<Edge<D>> edges[2];
  std::vector<double> weights_dot[2];
  for (int side = 0; side < 2; ++side) {
    const EdgeBody& owner = body(side);
    const EdgePair::Side& s = pair.sides[side];
    const Pose<double>& X_WO = *poses[side];
    const GeometryGradient& dot = *dots[side];
    const auto dual = [](const Vec3<double>& x, const Vec3<double>& x_dot) {
      return Vec3<D>(D(x[0], {x_dot[0]}), D(x[1], {x_dot[1]}), D(x[2], {x_dot[2]}));
    };
    for (std::size_t i = 0; i < s.edges.size(); ++i) {
      const MeshEdge& edge = owner.edges[static_cast<std::size_t>(s.edges[i])];
      const Vec3<double> a_dot = dot.contact_points.col(edge.start), b_dot = dot.contact_points.col(edge.end);
      Vec3<double> normal_dot;
      for (int c = 0; c < 3; ++c) {
        Vec3<double> by_a = Vec3<double>::Zero(), by_b = by_a;
        std::vector<PrimitiveGradient> by_primitives(dot.primitives.size());
        if (edge.of_faces) {
          Points by_points = Points::Zero(3, dot.contact_points.cols());
          face_edge_normal_vjp(contact_mesh(*owner.body), edge, Vec3<double>::Unit(c), by_points);
          normal_dot[c] = by_points.cwiseProduct(dot.contact_points).sum();
          continue;
        }
        mesh_edge_normal_vjp(*owner.sdf, owner.body->contact_points.col(edge.start),
                             owner.body->contact_points.col(edge.end), edge, Vec3<double>::Unit(c), by_a,
                             by_b, by_primitives);
        normal_dot[c] = by_a.dot(a_dot) + by_b.dot(b_dot) + inner_product(by_primitives, dot.primitives);
      }
      const Edge<double> in_world = s.edge(i);
      edges[side].push_back({dual(in_world.start, X_WO.q * a_dot),
                             dual(in_world.vector, X_WO.q * Vec3<double>(b_dot - a_dot)),
                             dual(in_world.normal, X_WO.q * normal_dot)});
    }

    weights_dot[side].assign(s.weights.size(), 0.0);
    if (s.selection.all) continue;
    const auto metric_dot = [&](std::size_t i, std::size_t end) {
      const double slope = s.slopes[i][end];
      if (slope == 0.0) return 0.0;
      const MeshEdge& edge = owner.edges[static_cast<std::size_t>(s.edges[i])];
      const int point = end == 0 ? edge.start : edge.end;
      const Vec3<double> v = owner.body->contact_points.col(point), v_dot = dot.contact_points.col(point);
      return slope * (distance_jvp(1 - side, X_WO * v, X_WO.q * v_dot) - dot.contact_radius);
    };
    std::vector<double> metrics_dot(s.edges.size());
    for (std::size_t i = 0; i < s.edges.size(); ++i)
      metrics_dot[i] = 0.5 * (metric_dot(i, 0) + metric_dot(i, 1));
    soft_selection_jvp<double>(s.metrics, s.selection, metrics_dot,
                               std::span(weights_dot[side]).first(s.edges.size()));
  }

  // Pairs of edges.
  std::vector<double> softened_dot(count), near_dot[2];
  for (auto& numbers : near_dot) numbers.resize(count);
  const double radii_dot = geometry_A_dot.contact_radius + geometry_B_dot.contact_radius;
  for (std::size_t at = 0; at < count; ++at) {
    if (at % columns >= edges[1].size()) continue;
    softened_dot[at] =
        edge_witness<D>(edges[0][at / columns], edges[1][at % columns], settings_).softened.d[0] - radii_dot;
  }
  std::vector<double> matrices[6] = {pair.by_row,   pair.by_column,   pair.nearness,
                                     pair.row_sums, pair.column_sums, pair.slopes};
  const NeighbourWeights<double> neighbours{pair.rows,   columns,     matrices[0], matrices[1],
                                            matrices[2], matrices[3], matrices[4], matrices[5]};
  neighbour_weights_jvp<double>(neighbours, pair.sides[0].weights, pair.sides[1].weights, softened_dot,
                                weights_dot[0], weights_dot[1], near_dot[0], near_dot[1]);

  std::vector<ContactBar> changes(features.size());
  for (std::size_t i = 0; i < features.size(); ++i) {
    const auto [row, column] = pair.place_of(features[i]);
    if (row < 0 || column < 0) continue;
    const auto k = static_cast<std::size_t>(row), l = static_cast<std::size_t>(column), at = k * columns + l;
    const int side = features[i].on_B ? 1 : 0;
    const EdgeContact<D> contact = edge_contact<D>(edges[0][k], edges[1][l], settings_);
    const auto change_of = [](const Vec3<D>& x) { return Vec3<double>(x[0].d[0], x[1].d[0], x[2].d[0]); };
    const Vec3<double> e_dot[2] = {change_of(contact.witness.e1), change_of(contact.witness.e2)};
    ContactBar& change = changes[i];
    const Vec3<D>& normal = contact.normal.n;
    const Vec3<double> n(normal[0].value, normal[1].value, normal[2].value), n_dot = change_of(normal);
    const double length = n.norm(), length_dot = length > 0.0 ? n.dot(n_dot) / length : 0.0;
    const double midway_dot = 0.5 * (geometry_B_dot.contact_radius - geometry_A_dot.contact_radius);
    change.point_W = 0.5 * (e_dot[0] + e_dot[1]) + midway() * n_dot + midway_dot * n;
    change.signed_distance = contact.distance.d[0] - length_dot * radii() - length * radii_dot;
    change.normal_AB_W = -n_dot;
    change.penetration =
        distance_jvp(1 - side, pair.point(side, at), e_dot[side]) - dots[side]->contact_radius;
    const D near((side == 0 ? pair.by_row : pair.by_column)[at], {near_dot[side][at]});
    change.weight = (contact.witness.minimum.gamma * contact.clash * near).d[0];
  }
  return changes;
}

DistanceHessian EdgeContacts::distance_hessian(const Pose<double>& X_WA, const Pose<double>& X_WB, int edge_A,
                                               int edge_B) const {
  return edge_distance_hessian(A_->edge_in_world(edge_A, X_WA), B_->edge_in_world(edge_B, X_WB), X_WA.p,
                               X_WB.p, settings_, radii());
}

}  // namespace abut
