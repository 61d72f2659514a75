/// Normals of edges: the mean of nine normals of the signed distance function against the mean of the two
/// faces', and what either makes of a contact.
#include "collision/manifold/edge_normals.h"

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "accuracy_table.h"
#include "edge_pairs.h"
#include "samples.h"
#include "test_bodies.h"

namespace abut::accuracy {
namespace {

/// An edge of a closed mesh with the normals of its faces, that along the faces made perpendicular to it.
struct FacedEdge {
  Edge<double> edge;  ///< with the normal of the signed distance function
  Vec3<double> of_faces;
  std::array<Vec3<double>, 2> faces;
};

/// Those that can touch: where the mesh is convex.
std::vector<FacedEdge> convex_edges(const EdgedBody& body) {
  std::vector<FacedEdge> result;
  const Points& x = body.body.mesh.vertices;
  for (const MeshEdge& e : body.edges) {
    FacedEdge faced;
    const Vec3<double> start = x.col(e.start), vector = Vec3<double>(x.col(e.end)) - start;
    Vec3<double> third = Vec3<double>::Zero();
    for (std::size_t side = 0; side < 2; ++side) {
      const Eigen::Vector3i& t = body.body.mesh.triangles[static_cast<std::size_t>(e.triangles[side])];
      const Vec3<double> a = x.col(t[0]), b = x.col(t[1]), c = x.col(t[2]);
      faced.faces[side] = (b - a).cross(c - a).normalized();
      if (side == 1) third = a + b + c - 2.0 * start - vector;  // the corner off the edge
    }
    const bool is_convex = faced.faces[0].dot(third - start) < 0.0;
    if (!is_convex) continue;
    faced.edge = {start, vector, e.normal};
    faced.of_faces = (faced.faces[0] + faced.faces[1]).normalized();
    result.push_back(faced);
  }
  return result;
}

/// A direction in which the edge can touch something: between the normals of its faces.
Vec3<double> contact_direction(const FacedEdge& edge, Random& random) {
  const double angle = angle_between(edge.faces[0], edge.faces[1]) * std::numbers::pi / 180.0;
  const double share = random.uniform();
  const Vec3<double> sum =
      std::sin((1.0 - share) * angle) * edge.faces[0] + std::sin(share * angle) * edge.faces[1];
  return sum.normalized();
}

/// The edge moved: `direction` of its body becomes that of z, the point at `at` of it goes to `place`.
FacedEdge moved(const FacedEdge& edge, const Vec3<double>& direction, const Vec3<double>& z, double turn,
                double at, const Vec3<double>& place) {
  const Quat<double> q =
      Quat<double>(Eigen::AngleAxisd(turn, z)) * Quat<double>::FromTwoVectors(direction, z);
  FacedEdge r = edge;
  r.edge.vector = q * edge.edge.vector;
  r.edge.start = place - at * r.edge.vector;
  r.edge.normal = q * edge.edge.normal;
  r.of_faces = q * edge.of_faces;
  return r;
}

}  // namespace

Table measure_edge_normals(bool quick) {
  const int count = quick ? 300 : 10000;
  Table table({"body", "normals", "gap", "between the two, median", "between the two, 95 %",
               "wrong by, median", "wrong by, 95 %", "tilt median", "tilt 99 %", "excess % low",
               "excess % high"});
  for (const char* name : {"armadillo", "mustard_bottle"}) {
    const EdgedBody body(unit_size_asset(name));
    const std::vector<FacedEdge> edges = convex_edges(body);
    Samples between;
    for (const FacedEdge& edge : edges) between.add(angle_between(edge.edge.normal, edge.of_faces));
    const EdgeEdgeSettings<double> settings(ContactConfig(), 1.0);
    for (const bool of_faces : {false, true}) {
      for (const double gap : {1e-3, 1e-2}) {
        Random random(5);
        Samples wrong, tilts, excess;
        while (static_cast<int>(tilts.size()) < count) {
          const auto draw = [&](const Vec3<double>& z, double height) {
            const FacedEdge& edge = edges[static_cast<std::size_t>(random.integer(edges.size()))];
            const double turn = random.uniform(0.0, 2.0 * std::numbers::pi), at = random.uniform(0.2, 0.8);
            return moved(edge, contact_direction(edge, random), z, turn, at, {0.0, 0.0, height});
          };
          FacedEdge edge1 = draw(Vec3<double>::UnitZ(), -0.5 * gap),
                    edge2 = draw(-Vec3<double>::UnitZ(), 0.5 * gap);
          const double crossing = angle_between(edge1.edge.vector, edge2.edge.vector);
          if (crossing < 30.0 || crossing > 150.0) continue;
          if (of_faces) {
            edge1.edge.normal = edge1.of_faces;
            edge2.edge.normal = edge2.of_faces;
          }
          const EdgeContact<double> contact = edge_contact<double>(edge1.edge, edge2.edge, settings);
          wrong.add(angle_between(edge1.edge.normal, Vec3<double>::UnitZ()));
          tilts.add(angle_between(contact.normal.n, -Vec3<double>::UnitZ()));
          excess.add(100.0 * (contact.distance / gap - 1.0));
        }
        table.add_row({name, of_faces ? "of the faces" : "of the distance", gap, between.median(),
                       between.quantile(0.95), wrong.median(), wrong.quantile(0.95), tilts.median(),
                       tilts.quantile(0.99), excess.quantile(0.01), excess.quantile(0.99)});
      }
    }
  }
  return table;
}

}  // namespace abut::accuracy
