#include "collision/fitting/surface_samples.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace abut {

Eigen::Vector2d roberts_point(int i) {
  return {std::fmod(0.5 + 0.7548776662466927 * i, 1.0), std::fmod(0.5 + 0.5698402909980532 * i, 1.0)};
}

double quantile(std::vector<double> values, double part) {
  const auto there = values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size()));
  std::nth_element(values.begin(), there, values.end());
  return *there;
}

SurfaceSamples surface_samples(const TriangleMesh& mesh, std::size_t count) {
  std::vector<double> areas;
  double total = 0.0;
  const auto corner = [&](const Eigen::Vector3i& t, int i) { return Vec3<double>(mesh.vertices.col(t[i])); };
  for (const Eigen::Vector3i& t : mesh.triangles) {
    areas.push_back(0.5 * (corner(t, 1) - corner(t, 0)).cross(corner(t, 2) - corner(t, 0)).norm());
    total += areas.back();
  }
  // The shares of the area add up triangle by triangle; a point is due whenever the sum passes a whole
  // number. Points of one triangle follow a low-discrepancy sequence (Roberts' R2), folded into it.
  SurfaceSamples samples;
  if (!(total > 0.0)) return samples;
  std::vector<Vec3<double>> points, normals;
  double due = 0.5;
  for (std::size_t f = 0; f < areas.size(); ++f) {
    if (!(areas[f] > 0.0)) continue;
    due += areas[f] / total * static_cast<double>(count);
    const Eigen::Vector3i& t = mesh.triangles[f];
    const Vec3<double> a = corner(t, 0), ab = corner(t, 1) - a, ac = corner(t, 2) - a;
    for (int i = 1; due >= 1.0; ++i, due -= 1.0) {
      double u = roberts_point(i).x(), v = roberts_point(i).y();
      if (u + v > 1.0) u = 1.0 - u, v = 1.0 - v;
      points.emplace_back(a + u * ab + v * ac);
      normals.emplace_back(ab.cross(ac).normalized());
    }
  }
  samples.points.resize(3, static_cast<Eigen::Index>(points.size()));
  samples.normals.resize(3, samples.points.cols());
  for (Eigen::Index i = 0; i < samples.points.cols(); ++i) {
    samples.points.col(i) = points[static_cast<std::size_t>(i)];
    samples.normals.col(i) = normals[static_cast<std::size_t>(i)];
  }
  return samples;
}

}  // namespace abut
