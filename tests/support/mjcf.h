/// Trees as MuJoCo's scene files, for comparisons.
#pragma once

#include <string>

#include <spdlog/fmt/fmt.h>
#include <Eigen/Eigenvalues>

#include "engine/lie.h"
#include "engine/pose.h"
#include "tests/support/mechanisms.h"

namespace abut::test {
namespace mjcf_text {

[[nodiscard]] inline std::string numbers(const Eigen::Ref<const VecX<double>>& x) {
  std::string text;
  for (const double number : x) text += fmt::format("{:.17g} ", number);
  return text;
}

[[nodiscard]] inline std::string pose_attributes(const Pose<double>& X) {
  const Vec4<double> wxyz(X.q.w(), X.q.x(), X.q.y(), X.q.z());
  return fmt::format("pos=\"{}\" quat=\"{}\"", numbers(X.p), numbers(wxyz));
}

/// A link and what hangs from it, at coordinates zero.
[[nodiscard]] inline std::string body_element(const TreeCase& c, int i) {
  const Link& link = c.trees.links[at(i)];
  const LinkParameters<double>& link_numbers = c.parameters.links[at(i)];
  const Mat3<double>& I = link_numbers.inertia;
  std::string text =
      fmt::format("<body {}>", pose_attributes(link_numbers.X_PJ * link_numbers.X_CJ.inverse()));
  const Vec3<double> axis = (link.reversed ? -1.0 : 1.0) * (link_numbers.X_CJ.q * Vec3<double>::UnitZ());
  constexpr const char* types[] = {"", "hinge", "slide", "ball", "free"};
  if (link.nv > 0) {
    text += fmt::format("<joint type=\"{}\" armature=\"{:.17g}\" ", types[static_cast<int>(link.kind)],
                        c.parameters.armature[link.u]);
    if (link.kind != LinkKind::free) text += fmt::format("pos=\"{}\" ", numbers(link_numbers.X_CJ.p));
    if (link.nv == 1) text += fmt::format("axis=\"{}\" ", numbers(axis));
    text += "/>";
  }
  // Diagonal: MuJoCo finds the axes of a full inertia to 1e-8 only.
  const Eigen::SelfAdjointEigenSolver<Mat3<double>> principal(I);
  Mat3<double> R_BI = principal.eigenvectors();
  if (R_BI.determinant() < 0.0) R_BI.col(0) *= -1.0;
  text += fmt::format("<inertial mass=\"{:.17g}\" diaginertia=\"{}\" {}/>", link_numbers.mass,
                      numbers(principal.eigenvalues()),
                      pose_attributes({quaternion_of(R_BI), Vec3<double>::Zero()}));
  for (int k = i + 1; k < c.trees.link_count(); ++k) {
    if (c.trees.links[at(k)].parent == i) text += body_element(c, k);
  }
  return text + "</body>";
}

}  // namespace mjcf_text

/// The links of a case as nested bodies, in their order, whose frames are those of ours at coordinates zero; with
/// gravity and armature, without geometry.
///
/// @param h  time step [s]
[[nodiscard]] inline std::string mjcf(const TreeCase& c, double h = 2e-3) {
  std::string text = fmt::format(
      "<mujoco><compiler angle=\"radian\" inertiafromgeom=\"false\"/><option timestep=\"{}\" gravity=\"{}\"/>"
      "<worldbody>",
      h, mjcf_text::numbers(c.parameters.gravity));
  for (int i = 0; i < c.trees.link_count(); ++i) {
    if (c.trees.links[at(i)].parent < 0) text += mjcf_text::body_element(c, i);
  }
  return text + "</worldbody></mujoco>";
}

}  // namespace abut::test
