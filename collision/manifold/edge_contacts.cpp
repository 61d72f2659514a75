#include "collision/manifold/edge_contacts.h"

#include <algorithm>
#include <cmath>

#include "collision/manifold/contact_activity.h"
#include "collision/manifold/kernel/point_kernels.h"
#include "engine/instruction_set.h"

namespace abut {
namespace {

ConvexEdge<double> moved(const ConvexEdge<double>& edge, const Mat3<double>& R, const Vec3<double>& p) {
  return {R * edge.start + p,
          R * edge.direction,
          edge.length,
          {R * edge.face_normals[0], R * edge.face_normals[1]}};
}

}  // namespace

ConvexEdge<double> EdgeBody::edge_in_body(int edge) const {
  const MeshEdge& e = edges[at(edge)];
  const auto [a, b] = e.ends(body->contact_points);
  const Vec3<double> vector = b - a;
  const double length = vector.norm();
  return {a, vector / length, length, {e.face_normals[0], e.face_normals[1]}};
}

EdgeContacts::EdgeContacts(const EdgeBody& A, const EdgeBody& B, const ContactConfig& config)
    : A_(A),
      B_(B),
      activity_smoothing_(config.activity_smoothing * std::min(A.body->size, B.body->size)),
      settings_(config, std::min(A.body->size, B.body->size), std::min(A.body->inradius, B.body->inradius)) {}

void EdgeContacts::find_pairs(const EdgeVjp& problem, std::span<const ContactFeature> features,
                              EdgeContactMemory& memory) const {
  using namespace edge_columns;
  const std::size_t count = features.size();
  ContactColumns& columns = memory.columns;
  columns.resize(count, edge_columns::k_count);
  for (std::size_t i = 0; i < count; ++i) {
    const int numbers[2] = {features[i].feature_A, features[i].feature_B};
    for (int side = 0; side < 2; ++side) {
      const MeshEdge& edge = body(side).edges[at(numbers[side])];
      const auto [start, end] = edge.ends(body(side).body->contact_points);
      const int c = k_geometry + 12 * side;
      columns.set(c, i, start);
      columns.set(c + 3, i, end);
      for (std::size_t face = 0; face < 2; ++face)
        columns.set(c + 6 + 3 * static_cast<int>(face), i, edge.face_normals[face]);
    }
  }
  columns.fill_up(count, k_geometry, 24);
  const int padded = static_cast<int>(columns.stride());
  chosen_kernels<DerivativeKernels>().edge_pairs(problem, columns.column(0), padded);
  for (int side = 0; side < 2; ++side) {
    const int x = k_probe + 3 * side;
    chosen_kernels<PointKernels>().sample_points(*body(side).solid.sdf, SdfOrder::distance, columns.column(x),
                                                 columns.column(x + 1), columns.column(x + 2), padded,
                                                 columns.column(k_probe_distance + side));
  }
}

void EdgeContacts::evaluate(const Pose<double>& X_WA, const Pose<double>& X_WB,
                            std::span<const ContactFeature> features, const FeatureSelection (&selection)[2],
                            EdgeContactMemory& memory, ContactList& contacts, std::size_t begin) const {
  using namespace edge_columns;
  const EdgeVjp pairs = problem(X_WA, X_WB);
  find_pairs(pairs, features, memory);
  ContactColumns& columns = memory.columns;
  chosen_kernels<DerivativeKernels>().edge_gates(pairs, columns.column(0), static_cast<int>(columns.stride()),
                                                 false);
  for (std::size_t i = 0; i < features.size(); ++i) {
    Contact contact;
    contact.feature = features[i];
    contact.point_W = columns.vector(k_point, i);
    contact.signed_distance = columns.column(k_distance)[i];
    contact.normal_AB_W = columns.vector(k_normal, i);
    contact.weight = columns.column(k_weight)[i] * columns.column(k_gates)[i] *
                     selection[0].weight(features[i].feature_A) * selection[1].weight(features[i].feature_B);
    contact.activity = contact.weight * activity(contact.signed_distance, activity_smoothing_);
    contact.area =
        0.5 * (A_.edges[at(features[i].feature_A)].area + B_.edges[at(features[i].feature_B)].area);
    contacts.set(begin + i, contact);
  }
}

void EdgeContacts::vjp(const Pose<double>& X_WA, const Pose<double>& X_WB,
                       std::span<const ContactFeature> features, std::span<const ContactBar> bars,
                       FeatureSelection (&selection)[2], EdgeContactMemory& memory, Vec6<double>& pose_A_bar,
                       Vec6<double>& pose_B_bar, GeometryGradient* geometry_A,
                       GeometryGradient* geometry_B) const {
  using namespace edge_columns;
  const DerivativeKernels& kernels = chosen_kernels<DerivativeKernels>();
  const std::size_t count = features.size();
  const EdgeVjp pairs = problem(X_WA, X_WB);
  find_pairs(pairs, features, memory);
  ContactColumns& columns = memory.columns;
  const int padded = static_cast<int>(columns.stride());
  const auto chosen = [&](std::size_t i, int side) {
    return selection[side].weight(side == 0 ? features[i].feature_A : features[i].feature_B);
  };
  const auto any_weight_bar = [&](std::size_t i) {
    const double distance = columns.column(k_distance)[i];
    return bars[i].weight +
           (bars[i].activity == 0.0 ? 0.0 : bars[i].activity * activity(distance, activity_smoothing_));
  };
  for (std::size_t i = 0; i < count; ++i)
    columns.set(k_weight_bar, i, any_weight_bar(i) * chosen(i, 0) * chosen(i, 1));
  columns.clear_rest(count, k_weight_bar, 1);
  kernels.edge_gates(pairs, columns.column(0), padded, true);

  for (std::size_t i = 0; i < count; ++i) {
    const ContactBar& bar = bars[i];
    const double whole = columns.column(k_weight)[i] * columns.column(k_gates)[i];
    double distance_bar = bar.signed_distance;
    if (bar.activity != 0.0) {
      distance_bar += bar.activity * whole * chosen(i, 0) * chosen(i, 1) *
                      activity_d_penetration(columns.column(k_distance)[i], activity_smoothing_);
    }
    columns.set(k_point_bar, i, bar.point_W);
    columns.set(k_distance_bar, i, distance_bar);
    columns.set(k_normal_bar, i, bar.normal_AB_W);
    for (int side = 0; side < 2; ++side) {
      if (selection[side].all) continue;
      const int edge = side == 0 ? features[i].feature_A : features[i].feature_B;
      selection[side].weights_bar[at(edge)] += any_weight_bar(i) * whole * chosen(i, 1 - side);
    }
  }
  columns.clear_rest(count, k_point_bar, k_weight_bar - k_point_bar);
  GeometryGradient* const geometries[2] = {geometry_A, geometry_B};
  for (int side = 0; side < 2; ++side) {
    GeometryGradient* const geometry = geometries[side];
    const int x = k_probe + 3 * side, x_bar = k_probe_bar + 3 * side;
    columns.clear_rest(count, x_bar, 3);
    solid_vjp(body(side).solid,
              {{columns.column(x), columns.column(x + 1), columns.column(x + 2)},
               padded,
               columns.column(k_probe_distance + side),
               columns.column(k_gate_bar + side),
               {nullptr, nullptr, nullptr},
               {columns.column(x_bar), columns.column(x_bar + 1), columns.column(x_bar + 2)}},
              count, memory.solid,
              geometry != nullptr ? std::span<PrimitiveGradient>(geometry->primitives)
                                  : std::span<PrimitiveGradient>());
  }
  EdgeVjpSums sums{};
  kernels.edges_from_solids(pairs, columns.column(0), padded, sums);
  for (int k = 0; k < 6; ++k) {
    pose_A_bar[k] += sums.poses[0][k];
    pose_B_bar[k] += sums.poses[1][k];
  }
  for (int side = 0; side < 2; ++side) {
    GeometryGradient* const geometry = geometries[side];
    if (geometry == nullptr) continue;
    if (geometry->face_normals.cols() == 0)
      geometry->face_normals.setZero(3, 2 * static_cast<Eigen::Index>(body(side).edges.size()));
    geometry->contact_radius += sums.radii[side];
    for (std::size_t i = 0; i < count; ++i) {
      const int number = side == 0 ? features[i].feature_A : features[i].feature_B;
      const MeshEdge& edge = body(side).edges[at(number)];
      edge.ends_vjp(columns.vector(k_start_bar + 3 * side, i), columns.vector(k_end_bar + 3 * side, i),
                    geometry->contact_points);
      for (int face = 0; face < 2; ++face)
        geometry->face_normals.col(2 * number + face) += columns.vector(k_face_bar + 6 * side + 3 * face, i);
    }
  }
}

ContactBar EdgeContacts::jvp(const Pose<double>& X_WA, const Pose<double>& X_WB,
                             const ContactFeature& feature, const FeatureSelection (&selection)[2],
                             EdgeContactMemory& memory, const Vec6<double>& pose_A,
                             const Vec6<double>& pose_B, const std::array<double, 2>& chosen_dot) const {
  const double chosen[2] = {selection[0].weight(feature.feature_A), selection[1].weight(feature.feature_B)};
  FeatureSelection constant[2];
  const auto along = [&](const ContactBar& bar) {
    Vec6<double> A_bar = Vec6<double>::Zero(), B_bar = A_bar;
    vjp(X_WA, X_WB, {&feature, 1}, {&bar, 1}, constant, memory, A_bar, B_bar, nullptr, nullptr);
    return A_bar.dot(pose_A) + B_bar.dot(pose_B);
  };
  ContactBar dot, unit;
  for (int i = 0; i < 3; ++i) {
    unit = {};
    unit.point_W[i] = 1.0;
    dot.point_W[i] = along(unit);
    unit = {};
    unit.normal_AB_W[i] = 1.0;
    dot.normal_AB_W[i] = along(unit);
  }
  unit = {};
  unit.signed_distance = 1.0;
  dot.signed_distance = along(unit);
  unit = {};
  unit.weight = 1.0;
  const double by_poses = along(unit);
  const ContactColumns& columns = memory.columns;
  const double whole = columns.column(edge_columns::k_weight)[0] * columns.column(edge_columns::k_gates)[0],
               distance = columns.column(edge_columns::k_distance)[0];
  dot.weight =
      by_poses * chosen[0] * chosen[1] + whole * (chosen_dot[0] * chosen[1] + chosen[0] * chosen_dot[1]);
  dot.activity = activity(distance, activity_smoothing_) * dot.weight +
                 whole * chosen[0] * chosen[1] * activity_d_penetration(distance, activity_smoothing_) *
                     dot.signed_distance;
  return dot;
}

EdgeContactDetails EdgeContacts::details(const Pose<double>& X_WA, const Pose<double>& X_WB,
                                         const ContactFeature& feature,
                                         const FeatureSelection (&selection)[2]) const {
  const Pose<double>* const poses[2] = {&X_WA, &X_WB};
  const int numbers[2] = {feature.feature_A, feature.feature_B};
  const double radii[2] = {radius(0), radius(1)};
  ConvexEdge<double> edges[2];
  EdgeContactDetails details;
  for (int side = 0; side < 2; ++side) {
    edges[side] = moved(body(side).edge_in_body(numbers[side]), poses[side]->rotation(), poses[side]->p);
    details.chosen[side] = selection[side].weight(numbers[side]);
  }
  details.pair = edge_edge<double>(edges[0], edges[1], radii, settings_);
  double distances[2];
  for (int side = 0; side < 2; ++side) {
    distances[side] =
        body(side).solid.sdf->distance<double>(poses[side]->inverse() * details.pair.probe) + radii[side];
  }
  details.gates = edge_gates<double>(gate_input(details.pair), distances, settings_);
  return details;
}

void finish_face_normals(const EdgeBody& body, GeometryGradient& geometry) {
  if (geometry.face_normals.cols() == 0) return;
  const TriangleMesh mesh = contact_mesh(*body.body);
  for (std::size_t i = 0; i < body.edges.size(); ++i) {
    const auto column = 2 * static_cast<Eigen::Index>(i);
    const std::array<Vec3<double>, 2> bars{geometry.face_normals.col(column),
                                           geometry.face_normals.col(column + 1)};
    if (bars[0].isZero(0.0) && bars[1].isZero(0.0)) continue;
    face_normals_vjp(mesh, body.edges[i], bars, geometry.contact_points);
    geometry.face_normals.col(column).setZero();
    geometry.face_normals.col(column + 1).setZero();
  }
}

}  // namespace abut
