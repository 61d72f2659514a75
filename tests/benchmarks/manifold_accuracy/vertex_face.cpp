/// The smooth nearest point of a triangle against the exact one.
#include "collision/manifold/vertex_face.h"

#include <cmath>
#include <numbers>

#include "accuracy_table.h"
#include "collision/fitting/triangle_geometry.h"
#include "samples.h"
#include "test_bodies.h"

namespace abut::accuracy {
namespace {

struct VertexAndFace {
  Vec3<double> vertex;
  Vec3<double> corners[3];
};

/// Corners at 0.4 to 0.6 from the origin in the plane z = 0, each within its third of the directions; the
/// vertex `gap` above a point of the triangle, or of the plane around it.
VertexAndFace random_vertex_and_face(bool above, double gap, Random& random) {
  VertexAndFace r;
  for (int k = 0; k < 3; ++k) {
    const double angle = (k + random.uniform(-0.2, 0.2)) * 2.0 * std::numbers::pi / 3.0,
                 radius = random.uniform(0.4, 0.6);
    r.corners[k] = {radius * std::cos(angle), radius * std::sin(angle), 0.0};
  }
  while (true) {
    r.vertex = {random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0), 0.0};
    const bool is_inside =
        offset_from_triangle(r.vertex, r.corners[0], r.corners[1], r.corners[2]).norm() < 1e-12;
    if (is_inside == above) break;
  }
  r.vertex.z() = gap;
  return r;
}

}  // namespace

Table measure_vertex_face(bool quick) {
  const int count = quick ? 200 : 10000;
  Table table({"vertex", "widths", "gap", "distance error median", "distance error 95 %",
               "point error median", "point error 95 %"});
  for (const bool above : {true, false}) {
    for (const double width : {0.1, 0.05, 0.01}) {
      ContactConfig config;
      config.clip_smoothing = config.minimum_smoothing = config.interior_smoothing = width;
      const VertexFaceSettings settings(config);
      for (const double gap : {1e-2, 1e-1}) {
        Random random(3);
        Samples distances, points;
        for (int i = 0; i < count; ++i) {
          const VertexAndFace at = random_vertex_and_face(above, gap, random);
          const Vec3<double> offset =
              offset_from_triangle(at.vertex, at.corners[0], at.corners[1], at.corners[2]);
          const Vec3<double> found = vertex_face_witness<double>(at.vertex, at.corners, settings).point;
          distances.add(std::abs((at.vertex - found).norm() - offset.norm()));
          points.add((at.vertex - offset - found).norm());
        }
        table.add_row({above ? "above the face" : "beside it", width, gap, distances.median(),
                       distances.quantile(0.95), points.median(), points.quantile(0.95)});
      }
    }
  }
  return table;
}

}  // namespace abut::accuracy
