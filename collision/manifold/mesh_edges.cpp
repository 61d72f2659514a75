#include "collision/manifold/mesh_edges.h"

#include <algorithm>
#include <tuple>

#include <Eigen/Geometry>

namespace abut {

std::vector<MeshEdge> mesh_edges(const TriangleMesh& mesh) {
  std::vector<MeshEdge> edges;
  edges.reserve(mesh.triangles.size() * 3);
  for (const Eigen::Vector3i& triangle : mesh.triangles) {
    const Vec3<double> p = mesh.vertices.col(triangle[0]), q = mesh.vertices.col(triangle[1]),
                       r = mesh.vertices.col(triangle[2]);
    const double area = 0.5 * (q - p).cross(r - p).norm();
    for (int i = 0; i < 3; ++i) {
      const auto [start, end] = std::minmax(triangle[i], triangle[(i + 1) % 3]);
      if (mesh.vertices.col(start) == mesh.vertices.col(end)) continue;
      edges.push_back({start, end, area / 3.0});
    }
  }
  std::sort(edges.begin(), edges.end(), [](const MeshEdge& a, const MeshEdge& b) {
    return std::tie(a.start, a.end, a.area) < std::tie(b.start, b.end, b.area);
  });
  std::size_t count = 0;
  for (const MeshEdge& edge : edges) {
    if (count > 0 && edges[count - 1].start == edge.start && edges[count - 1].end == edge.end) {
      edges[count - 1].area += edge.area;
    } else {
      edges[count++] = edge;
    }
  }
  edges.resize(count);
  return edges;
}

}  // namespace abut
