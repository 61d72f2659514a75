/// A contact and its derivatives by the relative motion of both bodies: what every detector but the manifold
/// finds, and all that JVP and VJP by poses need.
///
/// Where both bodies move together, a contact moves along. So what it does when A moves alone follows from
/// what it does when B does, and six columns say it all.
#pragma once

#include "collision/manifold/contact.h"
#include "collision/manifold/contact_activity.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// Rows of PointContact::by_motion.
enum PointContactRow { k_row_point = 0, k_row_distance = 3, k_row_normal = 4, k_row_weight = 7 };

struct PointContact {
  int feature_A = -1, feature_B = -1;           ///< as in ContactFeature
  Vec3<double> point_W = Vec3<double>::Zero();  ///< midway between the surfaces [m]
  double signed_distance = 0.0;                 ///< [m]
  Vec3<double> normal_AB_W = Vec3<double>::Zero();
  double weight = 1.0;
  /// By the motion (w; v) of B about point_W, which moves x to x + w x (x - point_W) + v, while A rests.
  Eigen::Matrix<double, 8, 6> by_motion = Eigen::Matrix<double, 8, 6>::Zero();
  bool is_near_kink = false;  ///< derivatives are those of one side, or the mean of both
};

/// The motion about a point [m] that a tangent [rotation; translation] of a pose with origin p is.
[[nodiscard]] inline Vec6<double> motion_about(const Vec3<double>& point, const Vec3<double>& p,
                                               const Vec6<double>& tangent) {
  const Vec3<double> turn = tangent.head<3>();
  return stack<double>(turn, tangent.tail<3>() + turn.cross(point - p));
}
/// VJP of motion_about(): dL/d(tangent).
[[nodiscard]] inline Vec6<double> motion_about_vjp(const Vec3<double>& point, const Vec3<double>& p,
                                                   const Vec6<double>& motion_bar) {
  const Vec3<double> v_bar = motion_bar.tail<3>();
  return stack<double>(motion_bar.head<3>() + (point - p).cross(v_bar), v_bar);
}

/// How a contact changes along tangents of the poses of both bodies.
///
/// @param tau  tau_p of the pair [m]
[[nodiscard]] inline ContactBar point_contact_jvp(const PointContact& contact, const Vec3<double>& p_WA,
                                                  const Vec3<double>& p_WB, double tau,
                                                  const Vec6<double>& pose_A, const Vec6<double>& pose_B) {
  const Vec6<double> motion_A = motion_about(contact.point_W, p_WA, pose_A),
                     motion_B = motion_about(contact.point_W, p_WB, pose_B);
  const Eigen::Matrix<double, 8, 1> change = contact.by_motion * (motion_B - motion_A);
  ContactBar dot;
  dot.point_W = change.segment<3>(k_row_point) + motion_A.tail<3>();
  dot.signed_distance = change[k_row_distance];
  dot.normal_AB_W = change.segment<3>(k_row_normal) + motion_A.head<3>().cross(contact.normal_AB_W);
  dot.weight = change[k_row_weight];
  dot.activity = activity(contact.signed_distance, tau) * dot.weight +
                 contact.weight * activity_d_penetration(contact.signed_distance, tau) * dot.signed_distance;
  return dot;
}

/// VJP of that: adds to dL/d(poses).
inline void point_contact_vjp(const PointContact& contact, const Vec3<double>& p_WA, const Vec3<double>& p_WB,
                              double tau, const ContactBar& bar, Vec6<double>& pose_A_bar,
                              Vec6<double>& pose_B_bar) {
  Eigen::Matrix<double, 8, 1> change_bar;
  change_bar.segment<3>(k_row_point) = bar.point_W;
  change_bar[k_row_distance] = bar.signed_distance + bar.activity * contact.weight *
                                                         activity_d_penetration(contact.signed_distance, tau);
  change_bar.segment<3>(k_row_normal) = bar.normal_AB_W;
  change_bar[k_row_weight] = bar.weight + bar.activity * activity(contact.signed_distance, tau);
  const Vec6<double> motion_B_bar = contact.by_motion.transpose() * change_bar;
  const Vec6<double> motion_A_bar =
      stack<double>(contact.normal_AB_W.cross(bar.normal_AB_W), bar.point_W) - motion_B_bar;
  pose_A_bar += motion_about_vjp(contact.point_W, p_WA, motion_A_bar);
  pose_B_bar += motion_about_vjp(contact.point_W, p_WB, motion_B_bar);
}

}  // namespace abut
