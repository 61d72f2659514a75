#include "apps/abut/fit_visual.h"

#include <cmath>
#include <numeric>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "collision/fitting/mesh_cleaning.h"
#include "collision/fitting/triangle_bvh.h"

namespace abut {
namespace {

/// Colours of a mesh whose vertices are some of those of `like`, from where it has that one's surface.
void take_colours(const ColouredMesh& like, ColouredMesh& mesh) {
  const TriangleBvh bvh(like.mesh);
  const Points& points = mesh.mesh.vertices;
  const auto nearest_triangle = [&](const Vec3<double>& p) {
    return static_cast<std::size_t>(bvh.nearest(p).triangle);
  };
  for (int v = 0; v < mesh.mesh.vertex_count() && !like.vertex_colours.empty(); ++v) {
    const Vec3<double> p = points.col(v);
    const Eigen::Vector3i& corners = like.mesh.triangles[nearest_triangle(p)];
    int nearest = corners[0];
    for (const int corner : corners) {
      if ((like.mesh.vertices.col(corner) - p).squaredNorm() <
          (like.mesh.vertices.col(nearest) - p).squaredNorm())
        nearest = corner;
    }
    mesh.vertex_colours.push_back(like.vertex_colours[static_cast<std::size_t>(nearest)]);
  }
  for (std::size_t t = 0; t < mesh.mesh.triangles.size() && !like.triangle_colours.empty(); ++t) {
    const Eigen::Vector3i& corners = mesh.mesh.triangles[t];
    const Vec3<double> centroid =
        (points.col(corners[0]) + points.col(corners[1]) + points.col(corners[2])) / 3.0;
    mesh.triangle_colours.push_back(like.triangle_colours[nearest_triangle(centroid)]);
  }
}

}  // namespace

ColouredMesh reduced_visual_mesh(ColouredMesh mesh, int most, std::vector<std::string>& notes) {
  const int given = mesh.mesh.triangle_count();
  if (given <= most) return mesh;
  const std::vector<double> areas = vertex_areas(mesh.mesh);
  constexpr double k_growth = 1.15;  // of the distance below which vertices become one
  double tolerance = std::sqrt(std::accumulate(areas.begin(), areas.end(), 0.0) / most);
  ColouredMesh coarse;
  do {
    CleaningCounts counts;
    coarse.mesh = clean_mesh(mesh.mesh, tolerance, counts);
    tolerance *= k_growth;
  } while (coarse.mesh.triangle_count() > most);
  take_colours(mesh, coarse);
  notes.push_back(fmt::format("the visual mesh has {} of the {} triangles of the input",
                              coarse.mesh.triangle_count(), given));
  return coarse;
}

}  // namespace abut
