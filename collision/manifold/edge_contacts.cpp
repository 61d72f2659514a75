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
  const Vec3<double> a = body->contact_points.col(e.start), vector = body->contact_points.col(e.end) - a;
  const double length = vector.norm();
  return {a, vector / length, length, {e.face_normals[0], e.face_normals[1]}};
}

EdgeContacts::EdgeContacts(const EdgeBody& A, const EdgeBody& B, const ContactConfig& config)
    : A_(A),
      B_(B),
      activity_smoothing_(config.activity_smoothing * std::min(A.body->size, B.body->size)),
      settings_(config, std::min(A.body->size, B.body->size), std::min(A.body->inradius, B.body->inradius)) {}

void EdgeContacts::linearize(const Pose<double>& X_WA, const Pose<double>& X_WB,
                             std::span<const ContactFeature> features, const FeatureSelection (&selection)[2],
                             EdgeContactMemory& memory, ContactList& contacts, std::size_t begin,
                             std::span<EdgeEdgeLinearization> linearizations) const {
  const Pose<double>* const poses[2] = {&X_WA, &X_WB};
  const Mat3<double> rotations[2] = {X_WA.rotation(), X_WB.rotation()};
  const double radii[2] = {radius(0), radius(1)};
  const std::size_t count = features.size();
  memory.points.resize(6 * count);
  for (std::size_t i = 0; i < count; ++i) {
    EdgeEdgeLinearization& at_contact = linearizations[i];
    const int numbers[2] = {features[i].feature_A, features[i].feature_B};
    for (int side = 0; side < 2; ++side) {
      at_contact.edges[side] = numbers[side];
      at_contact.chosen[side] = selection[side].weight(numbers[side]);
      at_contact.in_world[side] =
          moved(body(side).edge_in_body(numbers[side]), rotations[side], poses[side]->p);
    }
    at_contact.pair = edge_edge<double>(at_contact.in_world[0], at_contact.in_world[1], radii, settings_);
    for (std::size_t side = 0; side < 2; ++side) {
      const Vec3<double> x = rotations[side].transpose() * (at_contact.pair.probe - poses[side]->p);
      for (std::size_t axis = 0; axis < 3; ++axis)
        memory.points[(3 * side + axis) * count + i] = x[static_cast<Eigen::Index>(axis)];
    }
  }
  memory.samples.resize(2 * k_sample_normal_columns * count);
  for (std::size_t side = 0; side < 2; ++side) {
    const double* const x = memory.points.data() + 3 * side * count;
    double* const samples = memory.samples.data() + side * k_sample_normal_columns * count;
    chosen_kernels<PointKernels>().sample_points(*body(static_cast<int>(side)).solid.sdf, SdfOrder::normal, x,
                                                 x + count, x + 2 * count, static_cast<int>(count), samples);
  }
  for (std::size_t i = 0; i < count; ++i) {
    EdgeEdgeLinearization& at_contact = linearizations[i];
    double distances[2];
    for (std::size_t side = 0; side < 2; ++side) {
      at_contact.probe_distances[side] = memory.samples[side * k_sample_normal_columns * count + i];
      distances[side] = at_contact.probe_distances[side] + radii[side];
    }
    at_contact.gates = edge_gates<double>(gate_input(at_contact.pair), distances, settings_);
    Contact contact;
    contact.feature = features[i];
    contact.point_W = at_contact.pair.point;
    contact.signed_distance = at_contact.pair.distance;
    contact.normal_AB_W = at_contact.pair.normal;
    contact.weight = at_contact.weight();
    contact.activity = contact.weight * activity(contact.signed_distance, activity_smoothing_);
    contact.area = 0.5 * (A_.edges[at(at_contact.edges[0])].area + B_.edges[at(at_contact.edges[1])].area);
    contacts.set(begin + i, contact);
  }
}

void EdgeContacts::vjp(const Pose<double>& X_WA, const Pose<double>& X_WB,
                       std::span<const EdgeEdgeLinearization> linearizations,
                       std::span<const ContactBar> bars, FeatureSelection (&selection)[2],
                       EdgeContactMemory& memory, Vec6<double>& pose_A_bar, Vec6<double>& pose_B_bar,
                       GeometryGradient* geometry_A, GeometryGradient* geometry_B) const {
  const Pose<double>* const poses[2] = {&X_WA, &X_WB};
  const Mat3<double> rotations[2] = {X_WA.rotation(), X_WB.rotation()};
  Vec6<double>* const poses_bar[2] = {&pose_A_bar, &pose_B_bar};
  GeometryGradient* const geometries[2] = {geometry_A, geometry_B};
  const double radii[2] = {radius(0), radius(1)};
  const std::size_t count = linearizations.size();

  // Gates, to the solids at the probes.
  memory.bars.resize(count);
  for (SolidBars& solid : memory.solids) solid.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const EdgeEdgeLinearization& at_contact = linearizations[i];
    const ContactBar& bar = bars[i];
    const double distance = at_contact.pair.distance;
    const double any_weight_bar = bar.weight + bar.activity * activity(distance, activity_smoothing_),
                 whole = at_contact.pair.weight * at_contact.gates.both;
    for (int side = 0; side < 2; ++side) {
      if (selection[side].all) continue;
      selection[side].weights_bar[at(at_contact.edges[side])] +=
          any_weight_bar * whole * at_contact.chosen[1 - side];
    }
    const double weight_bar = any_weight_bar * at_contact.chosen[0] * at_contact.chosen[1];
    EdgeEdgeBar<double>& pair_bar = memory.bars[i];
    pair_bar.normal = bar.normal_AB_W;
    pair_bar.point = bar.point_W;
    pair_bar.distance = bar.signed_distance + bar.activity * at_contact.weight() *
                                                  activity_d_penetration(distance, activity_smoothing_);
    pair_bar.weight = weight_bar * at_contact.gates.both;
    for (std::size_t side = 0; side < 2; ++side) {
      pair_bar.gates[side] = weight_bar * at_contact.pair.weight * at_contact.gates.by_distance[side];
      const Vec3<double> x = rotations[side].transpose() * (at_contact.pair.probe - poses[side]->p);
      memory.solids[side].add(x, at_contact.probe_distances[side], pair_bar.gates[side]);
    }
  }
  for (std::size_t side = 0; side < 2; ++side) {
    GeometryGradient* const geometry = geometries[side];
    memory.solids[side].vjp(body(static_cast<int>(side)).solid,
                            geometry != nullptr ? std::span<PrimitiveGradient>(geometry->primitives)
                                                : std::span<PrimitiveGradient>());
    if (geometry != nullptr && geometry->face_normals.cols() == 0) {
      geometry->face_normals.setZero(
          3, 2 * static_cast<Eigen::Index>(body(static_cast<int>(side)).edges.size()));
    }
  }

  // Pairs of edges, to poses and vertices.
  for (std::size_t i = 0; i < count; ++i) {
    const EdgeEdgeLinearization& at_contact = linearizations[i];
    EdgeEdgeBar<double>& pair_bar = memory.bars[i];
    pair_bar.probe.setZero();
    for (std::size_t side = 0; side < 2; ++side) {
      const Vec3<double> force = rotations[side] * memory.solids[side].x_bar(i);
      pair_bar.probe += force;
      *poses_bar[side] -= stack<double>((at_contact.pair.probe - poses[side]->p).cross(force), force);
    }
    ConvexEdge<double> edges_bar[2];
    double radii_bar[2];
    edge_edge_vjp<double>(at_contact.in_world[0], at_contact.in_world[1], radii, at_contact.pair, settings_,
                          pair_bar, edges_bar[0], edges_bar[1], radii_bar);
    for (std::size_t side = 0; side < 2; ++side) {
      const ConvexEdge<double>&edge = at_contact.in_world[side], &edge_bar = edges_bar[side];
      const Vec3<double> torque = (edge.start - poses[side]->p).cross(edge_bar.start) +
                                  edge.direction.cross(edge_bar.direction) +
                                  edge.face_normals[0].cross(edge_bar.face_normals[0]) +
                                  edge.face_normals[1].cross(edge_bar.face_normals[1]);
      *poses_bar[side] += stack<double>(torque, edge_bar.start);
      GeometryGradient* const geometry = geometries[side];
      if (geometry == nullptr) continue;
      const Mat3<double> R_OW = rotations[side].transpose();
      const int number = at_contact.edges[side];
      const MeshEdge& of_mesh = body(static_cast<int>(side)).edges[at(number)];
      const Vec3<double> vector_bar =
          (edge_bar.direction - edge.direction * edge.direction.dot(edge_bar.direction)) / edge.length +
          edge.direction * edge_bar.length;
      geometry->contact_points.col(of_mesh.start) += R_OW * (edge_bar.start - vector_bar);
      geometry->contact_points.col(of_mesh.end) += R_OW * vector_bar;
      for (int face = 0; face < 2; ++face)
        geometry->face_normals.col(2 * number + face) += R_OW * edge_bar.face_normals[face];
      geometry->contact_radius += radii_bar[side];
    }
  }
}

ContactBar EdgeContacts::jvp(const Pose<double>& X_WA, const Pose<double>& X_WB,
                             const EdgeEdgeLinearization& linearization, EdgeContactMemory& memory,
                             const Vec6<double>& pose_A, const Vec6<double>& pose_B,
                             const std::array<double, 2>& chosen_dot) const {
  FeatureSelection constant[2];
  const auto along = [&](const ContactBar& bar) {
    Vec6<double> A_bar = Vec6<double>::Zero(), B_bar = A_bar;
    vjp(X_WA, X_WB, {&linearization, 1}, {&bar, 1}, constant, memory, A_bar, B_bar, nullptr, nullptr);
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
  const double by_chosen =
      linearization.pair.weight * linearization.gates.both *
      (chosen_dot[0] * linearization.chosen[1] + linearization.chosen[0] * chosen_dot[1]);
  dot.weight = along(unit) + by_chosen;
  unit = {};
  unit.activity = 1.0;
  dot.activity = along(unit) + by_chosen * activity(linearization.pair.distance, activity_smoothing_);
  return dot;
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
