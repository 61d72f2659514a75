#include "collision/manifold/pair_derivatives.h"

#include <algorithm>
#include <vector>

#include "collision/manifold/contact_activity.h"
#include "engine/body_builder.h"
#include "engine/check.h"

namespace abut {
namespace {

Model model_of(const Body& A, const Body& B) {
  Model model;
  for (const Body* body : {&A, &B}) {
    model.bodies.push_back(*body);
    model.bodies.back().selected_edges = 0;
    model.bodies.back().fixed = false;
  }
  return model;
}

/// Edges as in BodyFeatures.
EdgeBody edge_body(const Body& body, int selected, const ContactDetector& detector, int index) {
  const ShapeSdf& sdf = detector.sdf(index);
  EdgeBody r(body, sdf, detector.features(index));
  if (has_mesh_edges(body)) r.set_edges(mesh_edges(contact_mesh(body), sdf, mesh_edge_options(body)));
  r.selected = selected > 0 ? selected : default_selected_edges(body);
  return r;
}

void require_rows(Eigen::Index rows, const std::vector<ContactFeature>& features) {
  require(rows == static_cast<Eigen::Index>(features.size()),
          "derivatives of contacts need as many rows as there are contacts");
}

/// They come first.
std::span<const ContactFeature> vertices_of(const std::vector<ContactFeature>& features) {
  const auto end = std::find_if(features.begin(), features.end(), [](const ContactFeature& feature) {
    return feature.kind != ContactKind::vertex_sdf;
  });
  return {features.begin(), end};
}

Mat3<double> cross_matrix(const Vec3<double>& a) {
  Mat3<double> m;
  m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return m;
}

/// d = phi_S(x_S) - r_O with x_S = X_WS^-1 X_WO v. With arms a_O = R_WO v, a_S = x_W - p_WS, y = R_WS grad
/// phi,
///   gradient   (a_O x y, y) by the owner's tangent, (-a_S x y, -y) by the solid's,
/// and along a tangent  a_O' = w_O x a_O,  a_S' = a_O' + v_O - v_S,  y' = w_S x y + H (a_S' - w_S x a_S),
/// H the Hessian of phi in W.
DistanceHessian vertex_distance_hessian(const ShapeSdf& solid, const Body& owner, const Vec3<double>& v,
                                        const Pose<double>& X_WO, const Pose<double>& X_WS, bool owner_is_A) {
  const Mat3<double> R_WS = X_WS.rotation();
  const Vec3<double> arm_O = X_WO.q * v, arm_S = arm_O + X_WO.p - X_WS.p;
  const Vec3<double> x_S = R_WS.transpose() * arm_S;
  const SdfSample<double> sample = solid.evaluate<double>(x_S);
  const Vec3<double> y = R_WS * sample.gradient;
  const Mat3<double> H = R_WS * solid.hessian(x_S) * R_WS.transpose();

  using Rows = Eigen::Matrix<double, 3, 12>;  // along (w_O, v_O, w_S, v_S)
  Rows arm_O_change = Rows::Zero();
  arm_O_change.leftCols<3>() = -cross_matrix(arm_O);
  Rows arm_S_change = arm_O_change;
  arm_S_change.middleCols<3>(3).setIdentity();
  arm_S_change.rightCols<3>() = -Mat3<double>::Identity();
  Rows seen_change = arm_S_change;
  seen_change.middleCols<3>(6) += cross_matrix(arm_S);
  Rows y_change = H * seen_change;
  y_change.middleCols<3>(6) -= cross_matrix(y);

  Eigen::Matrix<double, 12, 1> gradient;
  gradient << arm_O.cross(y), y, -arm_S.cross(y), -y;
  Eigen::Matrix<double, 12, 12> change;
  change.middleRows<3>(0) = cross_matrix(arm_O) * y_change - cross_matrix(y) * arm_O_change;
  change.middleRows<3>(3) = y_change;
  change.middleRows<3>(6) = cross_matrix(y) * arm_S_change - cross_matrix(arm_S) * y_change;
  change.middleRows<3>(9) = -y_change;
  // Small turns on the left differ from a rotation vector by what is antisymmetric: edge_edge.cpp.
  const Eigen::Matrix<double, 12, 12> hessian = 0.5 * (change + change.transpose());

  DistanceHessian r;
  r.distance = sample.distance - owner.contact_radius;
  const int of_O = owner_is_A ? 0 : 6, of_S = 6 - of_O;
  r.gradient.segment<6>(of_O) = gradient.head<6>();
  r.gradient.segment<6>(of_S) = gradient.tail<6>();
  r.hessian.block<6, 6>(of_O, of_O) = hessian.topLeftCorner<6, 6>();
  r.hessian.block<6, 6>(of_O, of_S) = hessian.topRightCorner<6, 6>();
  r.hessian.block<6, 6>(of_S, of_O) = hessian.bottomLeftCorner<6, 6>();
  r.hessian.block<6, 6>(of_S, of_S) = hessian.bottomRightCorner<6, 6>();
  return r;
}

}  // namespace

PairDerivatives::PairDerivatives(const Body& A, const Body& B, const ContactConfig& config)
    : model_((require_batch_settings(A, B, config), model_of(A, B))),
      detector_(model_, config),
      edge_bodies_{edge_body(model_.bodies[0], A.selected_edges, detector_, 0),
                   edge_body(model_.bodies[1], B.selected_edges, detector_, 1)},
      edges_(edge_bodies_[0], edge_bodies_[1], config, NeighbourTail::whole) {}

void PairDerivatives::shape_vjp(const Pose<double>& X_AB, const std::vector<ContactFeature>& features,
                                const Eigen::Ref<const ContactNumbers<double>>& bars,
                                PosePairTangent<double>& pose_bar,
                                std::span<GeometryGradient, 2> geometry) const {
  require_rows(bars.rows(), features);
  const std::array<Pose<double>, 2> X_WB{Pose<double>(), X_AB};
  std::array<Vec6<double>, 2> pose_bars{Vec6<double>::Zero(), Vec6<double>::Zero()};
  const auto contact_bar = [&](std::size_t i) {
    const auto row = bars.row(static_cast<Eigen::Index>(i));
    ContactBar bar;
    bar.point_W = row.segment<3>(k_point).transpose();
    bar.signed_distance = row[k_distance];
    bar.normal_AB_W = row.segment<3>(k_normal).transpose();
    bar.activity = row[k_activity];
    return bar;
  };

  const std::span<const ContactFeature> vertices = vertices_of(features),
                                        edges = std::span(features).subspan(vertices.size());
  std::vector<ContactBar> vertex_bars;
  for (std::size_t i = 0; i < vertices.size(); ++i) vertex_bars.push_back(contact_bar(i));
  ManifoldLinearization linearization;
  detector_.linearize(X_WB, vertices, linearization);
  detector_.vjp(X_WB, vertex_bars, linearization, pose_bars, geometry);

  if (!edges.empty()) {
    EdgePair pair = prepared_edges(X_WB);
    std::vector<Contact> contacts(edges.size());
    edges_.contacts(X_WB[0], X_WB[1], edges, pair, contacts);
    for (std::size_t i = 0; i < edges.size(); ++i)
      edges_.add_bar(contacts[i], contact_bar(vertices.size() + i), pair);
    edges_.vjp(X_WB[0], X_WB[1], pair, pose_bars[0], pose_bars[1], &geometry[0], &geometry[1]);
    for (std::size_t b = 0; b < 2; ++b) pass_on_edge_normals(edge_bodies_[b], geometry[b]);
  }
  pose_bar.head<6>() += pose_bars[0];
  pose_bar.tail<6>() += pose_bars[1];
}

void PairDerivatives::shape_jvp(const Pose<double>& X_AB, const std::vector<ContactFeature>& features,
                                std::span<const GeometryGradient, 2> geometry_dot,
                                Eigen::Ref<ContactNumbers<double>> dots) const {
  require_rows(dots.rows(), features);
  const std::array<Pose<double>, 2> X_WB{Pose<double>(), X_AB};
  const double tau = detector_.make_pair(0, 1).activity_smoothing;
  const auto put = [&](std::size_t i, const ContactBar& change) {
    dots.row(static_cast<Eigen::Index>(i)) << change.point_W.transpose(), change.signed_distance,
        change.normal_AB_W.transpose(), change.activity;
  };

  const std::span<const ContactFeature> vertices = vertices_of(features),
                                        edges = std::span(features).subspan(vertices.size());
  ManifoldLinearization linearization;
  detector_.linearize(X_WB, vertices, linearization);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const VertexSdfLinearization& at = linearization.vertices[i];
    const auto o = static_cast<std::size_t>(at.owner), s = static_cast<std::size_t>(at.solid);
    const GeometryGradient& owner_dot = geometry_dot[o];
    const ShapeSdf& solid = detector_.sdf(at.solid);
    const Vec3<double> x_dot = X_WB[o].q * Vec3<double>(owner_dot.contact_points.col(at.point));
    const Vec3<double> normal_dot =
        at.normal_jacobian * x_dot +
        X_WB[s].q * normal_parameter_jvp(solid, at.x_S, geometry_dot[s].primitives);
    ContactBar change;
    change.signed_distance = at.gradient.dot(x_dot) +
                             parameter_jvp(solid, at.x_S, geometry_dot[s].primitives) -
                             owner_dot.contact_radius;
    change.normal_AB_W = at.sign * normal_dot;
    change.point_W = x_dot - (owner_dot.contact_radius + 0.5 * change.signed_distance) * at.normal -
                     (at.radius + 0.5 * at.distance) * normal_dot;
    change.activity = activity_d_penetration(at.distance, tau) * change.signed_distance;
    put(i, change);
  }

  if (edges.empty()) return;
  EdgePair pair = prepared_edges(X_WB);
  std::vector<Contact> contacts(edges.size());
  edges_.contacts(X_WB[0], X_WB[1], edges, pair, contacts);
  std::vector<ContactBar> changes =
      edges_.shape_jvp(X_WB[0], X_WB[1], pair, edges, geometry_dot[0], geometry_dot[1]);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Contact& contact = contacts[i];
    changes[i].activity =
        changes[i].weight * activity(contact.penetration, tau) +
        contact.weight * activity_d_penetration(contact.penetration, tau) * changes[i].penetration;
    put(vertices.size() + i, changes[i]);
  }
}

EdgePair PairDerivatives::prepared_edges(std::span<const Pose<double>, 2> X_WB) const {
  EdgePair pair;
  pair.body_A = 0;
  pair.body_B = 1;
  PairMemory::Sides near;
  for (int side = 0; side < 2; ++side)
    near[static_cast<std::size_t>(side)].update(edges_.near_query(side, X_WB[0], X_WB[1]));
  edges_.prepare(X_WB[0], X_WB[1], near, pair);
  return pair;
}

DistanceHessian PairDerivatives::distance_hessian(const Pose<double>& X_AB,
                                                  const ContactFeature& feature) const {
  const Pose<double> X_WA;
  if (feature.kind == ContactKind::edge_edge)
    return edges_.distance_hessian(X_WA, X_AB, feature.feature_A, feature.feature_B);
  const bool owner_is_A = feature.feature_A >= 0;
  const Body& owner = model_.bodies[owner_is_A ? 0 : 1];
  const Vec3<double> v = owner.contact_points.col(owner_is_A ? feature.feature_A : feature.feature_B);
  return vertex_distance_hessian(detector_.sdf(owner_is_A ? 1 : 0), owner, v, owner_is_A ? X_WA : X_AB,
                                 owner_is_A ? X_AB : X_WA, owner_is_A);
}

}  // namespace abut
