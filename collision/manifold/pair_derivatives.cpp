#include "collision/manifold/pair_derivatives.h"

#include <vector>

#include "engine/body_builder.h"
#include "engine/check.h"
#include "engine/smooth.h"

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
EdgeBody edge_body(const Body& body, int selected, const ShapeSdf& sdf) {
  EdgeBody r(body, sdf);
  if (body.mesh.vertex_count() == body.contact_points.cols() && body.mesh.vertices == body.contact_points)
    r.edges = mesh_edges(body.mesh, sdf);
  r.selected = selected > 0 ? selected : default_selected_edges(body);
  r.chosen_with_radius = true;
  return r;
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
    : model_(model_of(A, B)),
      detector_(model_, config),
      edge_bodies_{edge_body(model_.bodies[0], A.selected_edges, detector_.sdf(0)),
                   edge_body(model_.bodies[1], B.selected_edges, detector_.sdf(1))},
      edges_(edge_bodies_[0], edge_bodies_[1], config, NeighbourTail::whole) {}

template <typename T>
void PairDerivatives::shape_vjp(const Pose<double>& X_AB, const ManifoldView<T>& manifold,
                                const Eigen::Ref<const ContactNumbers<double>>& bars,
                                PosePairTangent<double>& pose_bar,
                                std::span<GeometryGradient, 2> geometry) const {
  require(bars.rows() == manifold.size(), "derivatives of contacts need as many rows as there are contacts");
  std::vector<ContactFeature> features;
  for (int i = 0; i < manifold.size(); ++i) features.push_back(feature(manifold, i));
  shape_vjp(X_AB, features, bars, pose_bar, geometry);
}

void PairDerivatives::shape_vjp(const Pose<double>& X_AB, std::span<const ContactFeature> features,
                                const Eigen::Ref<const ContactNumbers<double>>& bars,
                                PosePairTangent<double>& pose_bar,
                                std::span<GeometryGradient, 2> geometry) const {
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

  std::size_t vertices = 0;  // they come first
  while (vertices < features.size() && features[vertices].kind == ContactKind::vertex_sdf) ++vertices;
  std::vector<Contact> contacts;
  std::vector<ContactLinearization> linearizations;
  detector_.linearize(X_WB, features.first(vertices), contacts, linearizations);
  for (std::size_t i = 0; i < vertices; ++i)
    detector_.vjp(linearizations[i], features[i], contact_bar(i), X_WB, pose_bars, geometry);

  if (vertices < features.size()) {
    const double per_distance = -0.125 / detector_.activity_smoothing(0, 1);
    EdgePair pair;
    pair.body_A = 0;
    pair.body_B = 1;
    edges_.prepare(X_WB[0], X_WB[1], pair);
    for (std::size_t i = vertices; i < features.size(); ++i) {
      const Contact contact = edges_.contact(X_WB[0], X_WB[1], pair, features[i]);
      const double x = 0.5 + per_distance * contact.penetration;
      ContactBar bar = contact_bar(i);
      bar.weight = bar.activity * smoothstep5(x);
      bar.penetration = bar.activity * contact.weight * per_distance * smoothstep5_dx(x);
      EdgeContacts::add_bar(pair, features[i], bar, pair.bars);
    }
    edges_.vjp(X_WB[0], X_WB[1], pair, pair.bars, pose_bars[0], pose_bars[1], &geometry[0], &geometry[1]);
  }
  pose_bar.head<6>() += pose_bars[0];
  pose_bar.tail<6>() += pose_bars[1];
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

template void PairDerivatives::shape_vjp(const Pose<double>&, const ManifoldView<float>&,
                                         const Eigen::Ref<const ContactNumbers<double>>&,
                                         PosePairTangent<double>&, std::span<GeometryGradient, 2>) const;
template void PairDerivatives::shape_vjp(const Pose<double>&, const ManifoldView<double>&,
                                         const Eigen::Ref<const ContactNumbers<double>>&,
                                         PosePairTangent<double>&, std::span<GeometryGradient, 2>) const;

}  // namespace abut
