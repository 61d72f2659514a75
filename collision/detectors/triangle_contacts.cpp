#include "collision/detectors/triangle_contacts.h"

#include "collision/sdf/kinks.h"

namespace abut {
namespace {

/// What of a contact has no derivatives.
PointContact contact_at(const TriangleQuery& query, const TriangleContact& found) {
  const Vec3<double> n = query.X_WS.q * found.normal, x_W = query.X_WS * found.point;
  PointContact contact;
  (query.owner_is_A ? contact.feature_A : contact.feature_B) = found.triangle;
  contact.signed_distance = found.distance - query.radius;
  contact.point_W = x_W - (query.radius + 0.5 * contact.signed_distance) * n;
  contact.normal_AB_W = query.owner_is_A ? Vec3<double>(-n) : n;
  return contact;
}

Mat3<double> cross_product_with(const Vec3<double>& a) {
  return (Mat3<double>() << 0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0).finished();
}

}  // namespace

FrankWolfeSettings frank_wolfe_settings(const ContactConfig& config, double margin) {
  FrankWolfeSettings settings;
  settings.margin = margin;
  settings.iterations = config.search_iterations;
  settings.normal_angle = config.cluster_angle;
  return settings;
}

void find_triangle_contacts(const TriangleQuery& query, std::vector<TriangleContact>& memory,
                            std::vector<PointContact>& contacts) {
  query.triangles->contacts(*query.sdf, query.X_WS.inverse() * query.X_WO, query.settings, memory);
  for (const TriangleContact& found : query.triangles->filtered(memory, query.settings))
    contacts.push_back(contact_at(query, found));
}

PointContact linearize_triangle_contact(const TriangleQuery& query, int triangle) {
  const TriangleContact found =
      query.triangles->contact(*query.sdf, query.X_WS.inverse() * query.X_WO, triangle, query.settings);
  PointContact contact = contact_at(query, found);
  const SdfSampleJacobian<double> at_x = query.sdf->evaluate_jacobian<double>(found.point);
  contact.is_near_kink =
      !query.triangles->is_held(found, (query.X_WO.q.conjugate() * query.X_WS.q) * at_x.gradient) ||
      is_near_kink(*query.sdf, found.point);
  const Mat3<double> R = query.X_WS.rotation();
  const Vec3<double> n = R * found.normal, gradient = R * at_x.gradient;
  const Mat3<double> normal_jacobian = R * at_x.normal_jacobian * R.transpose();

  // By the motion of the owner about point_W while the solid rests
  Mat36<double> x_by_motion;
  x_by_motion << -cross_product_with(query.X_WS * found.point - contact.point_W), Mat3<double>::Identity();
  const Eigen::Matrix<double, 1, 6> distance = gradient.transpose() * x_by_motion;
  const Mat36<double> normal = normal_jacobian * x_by_motion,
                      point = x_by_motion - 0.5 * n * distance -
                              (query.radius + 0.5 * contact.signed_distance) * normal;
  if (!query.owner_is_A) {
    contact.by_motion << point, distance, normal, Eigen::Matrix<double, 1, 6>::Zero();
    return contact;
  }
  // The solid moves: the contact moves along, less what the owner's motion would do.
  Mat36<double> along_point, along_normal;
  along_point << Mat3<double>::Zero(), Mat3<double>::Identity();
  along_normal << -cross_product_with(contact.normal_AB_W), Mat3<double>::Zero();
  contact.by_motion << along_point - point, -distance, along_normal + normal,
      Eigen::Matrix<double, 1, 6>::Zero();
  return contact;
}

}  // namespace abut
