#include "collision/convex/face_patch.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "collision/convex/core_feature.h"
#include "engine/smooth.h"

namespace abut {
namespace {

/// Parts of a face below which its patch fades.
constexpr double k_least_part = 1e-4;

/// A face, or a line that is a face seen from one side: two corners.
struct SupportFace {
  Vec3<double> normal_W;  ///< outwards, of unit length
  double uneven = 2.0;    ///< sin^2 of its angle to the normal of the contact; >= 1: there is none
  bool is_unbounded = false;
};

/// Plane and corners of the face of a core that a normal in P points out of most.
class FaceOfCore {
 public:
  FaceOfCore(const ConvexPart<double>& part, const Vec3<double>& n, std::vector<Vec3<double>>& corners)
      : part_(part), n_(n), corners_(corners) {
    corners_.clear();
    switch (part.core) {
      case ConvexCore::half_space:
        take({0.0, 0.0, 1.0});
        face.is_unbounded = true;
        corners_.emplace_back(Vec3<double>::Zero());
        break;
      case ConvexCore::box:
        box();
        break;
      case ConvexCore::segment:
        line({0.0, 0.0, -part.extents[2]}, {0.0, 0.0, part.extents[2]});
        break;
      case ConvexCore::cone:
        cone();
        break;
      case ConvexCore::polyhedron:
        polyhedron();
        break;
      case ConvexCore::point:
      case ConvexCore::superquadric:
        break;
    }
  }

  SupportFace face;  ///< in P

 private:
  void take(const Vec3<double>& normal) {
    face.normal_W = normal;
    face.uneven = normal.dot(n_) > 0.0 ? normal.cross(n_).squaredNorm() : 2.0;
  }
  void line(const Vec3<double>& from, const Vec3<double>& to) {
    const Vec3<double> e = to - from;
    const double length = e.norm();
    if (!(length > 0.0)) return;
    const double along = n_.dot(e) / length;
    const Vec3<double> across = n_ - along * (e / length);
    if (!(across.squaredNorm() > 0.25)) return;
    face.normal_W = across.normalized();
    face.uneven = along * along;
    corners_ = {from, to};
  }
  void box() {
    Eigen::Index axis = 0;
    n_.cwiseAbs().maxCoeff(&axis);
    const double sign = n_[axis] < 0.0 ? -1.0 : 1.0;
    take(sign * Vec3<double>::Unit(axis));
    const Eigen::Index x = (axis + 1) % 3, y = (axis + 2) % 3;
    for (const auto& [sx, sy] :
         {std::pair(1.0, 1.0), std::pair(-1.0, 1.0), std::pair(-1.0, -1.0), std::pair(1.0, -1.0)}) {
      Vec3<double> corner;
      corner[axis] = sign * part_.extents[axis];
      corner[x] = sx * part_.extents[x];
      corner[y] = sy * part_.extents[y];
      corners_.push_back(corner);
    }
  }
  void cone() {
    const Vec3<double>& e = part_.extents;
    const bool is_top = n_[2] > 0.0;
    const double radius = is_top ? e[1] : e[0], z = is_top ? e[2] : -e[2];
    const double across = std::hypot(n_[0], n_[1]);
    if (across < 0.5 && radius > 0.0) {
      take({0.0, 0.0, is_top ? 1.0 : -1.0});
      for (int i = 0; i < k_disc_corners; ++i) {
        const double angle = 2.0 * std::numbers::pi * i / k_disc_corners;
        corners_.emplace_back(radius * std::cos(angle), radius * std::sin(angle), z);
      }
    } else if (across > 0.0) {
      const Vec3<double> u(n_[0] / across, n_[1] / across, 0.0);
      line(e[0] * u - Vec3<double>(0.0, 0.0, e[2]), e[1] * u + Vec3<double>(0.0, 0.0, e[2]));
    }
  }
  void polyhedron() {
    const PolyhedronGraph<double>& graph = *part_.polyhedron;
    int best = 0;
    for (int f = 1; f < graph.face_count(); ++f)
      if (graph.face_normals[at(f)].dot(n_) > graph.face_normals[at(best)].dot(n_)) best = f;
    take(graph.face_normals[at(best)]);
    for (int k = graph.first_corner[at(best)]; k < graph.first_corner[at(best) + 1]; ++k)
      corners_.push_back(graph.vertices[at(graph.corners[at(k)])]);
  }

  const ConvexPart<double>& part_;
  const Vec3<double>& n_;
  std::vector<Vec3<double>>& corners_;
};

SupportFace find_face(const ConvexPart<double>& part, const Pose<double>& X_WB,
                      const Vec3<double>& outwards_W, std::vector<Vec3<double>>& corners_W) {
  const Pose<double> X_WP = X_WB * part.X_BP;
  SupportFace face = FaceOfCore(part, X_WP.q.conjugate() * outwards_W, corners_W).face;
  face.normal_W = X_WP.q * face.normal_W;
  for (Vec3<double>& x : corners_W) x = X_WP * x;
  return face;
}

double cross2(const Vec2<double>& a, const Vec2<double>& b) { return a[0] * b[1] - a[1] * b[0]; }

double signed_area(const std::vector<Vec2<double>>& polygon) {
  double sum = 0.0;
  for (std::size_t i = 2; i < polygon.size(); ++i)
    sum += cross2(polygon[i - 1] - polygon[0], polygon[i] - polygon[0]);
  return 0.5 * sum;
}

double measure(const std::vector<Vec2<double>>& polygon) {
  if (polygon.size() == 2) return (polygon[1] - polygon[0]).norm();
  return std::abs(signed_area(polygon));
}

/// What of a polygon (or segment) lies on the side  normal.x >= offset.
/// @see  Sutherland, Hodgman (1974), "Reentrant polygon clipping".
void clip(std::vector<Vec2<double>>& polygon, const Vec2<double>& normal, double offset,
          std::vector<Vec2<double>>& memory) {
  memory.clear();
  const std::size_t count = polygon.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Vec2<double>&a = polygon[i], &b = polygon[(i + 1) % count];
    const double h_a = normal.dot(a) - offset, h_b = normal.dot(b) - offset;
    if (h_a >= 0.0) memory.push_back(a);
    const bool is_side = count > 2 || i == 0;  // a segment has one
    if (is_side && (h_a >= 0.0) != (h_b >= 0.0)) memory.push_back(a + (h_a / (h_a - h_b)) * (b - a));
  }
  polygon.swap(memory);
}

/// Clips by the sides of a region, or between planes through the ends of a segment.
void clip_by(const std::vector<Vec2<double>>& region, std::vector<Vec2<double>>& polygon,
             std::vector<Vec2<double>>& memory) {
  if (region.size() == 2) {
    const Vec2<double> e = region[1] - region[0];
    clip(polygon, e, e.dot(region[0]), memory);
    clip(polygon, -e, -e.dot(region[1]), memory);
    return;
  }
  const double orientation = signed_area(region) < 0.0 ? -1.0 : 1.0;
  for (std::size_t i = 0; i < region.size() && !polygon.empty(); ++i) {
    const Vec2<double>&a = region[i], &b = region[(i + 1) % region.size()];
    const Vec2<double> inwards(orientation * (a[1] - b[1]), orientation * (b[0] - a[0]));
    clip(polygon, inwards, inwards.dot(a), memory);
  }
}

/// Where the line through `at` along n meets the plane of a face, from `at` [m].
double height(const SupportFace& face, const Vec3<double>& corner, const Vec3<double>& n,
              const Vec3<double>& at) {
  return face.normal_W.dot(corner - at) / face.normal_W.dot(n);
}

}  // namespace

void find_face_patch(const ConvexPart<double>& A, const Pose<double>& X_WA, const ConvexPart<double>& B,
                     const Pose<double>& X_WB, const ConvexDistance<double>& found, FacePatchScratch& scratch,
                     FacePatch& patch) {
  const Vec3<double> n = found.normal_AB_W, middle = 0.5 * (found.point_A_W + found.point_B_W);
  patch.normal_AB_W = n;
  patch.flushness = patch.area = 0.0;
  patch.points.assign(1, {middle, found.distance, 1.0});
  const SupportFace face_A = find_face(A, X_WA, n, scratch.corners_A),
                    face_B = find_face(B, X_WB, -n, scratch.corners_B);
  double uneven = face_A.uneven + face_B.uneven;
  auto &polygon = scratch.polygon, &region = scratch.region;
  const TangentPlane plane(n);
  const auto project = [&](const std::vector<Vec3<double>>& corners, std::vector<Vec2<double>>& projected) {
    projected.clear();
    for (const Vec3<double>& x : corners) projected.push_back(plane.of(Vec3<double>(x - middle)));
  };
  const bool starts_at_A = !face_A.is_unbounded && scratch.corners_A.size() <= scratch.corners_B.size();
  const bool is_A_subject = starts_at_A || face_B.is_unbounded;  // a segment is clipped by a face
  project(is_A_subject ? scratch.corners_A : scratch.corners_B, polygon);
  project(is_A_subject ? scratch.corners_B : scratch.corners_A, region);
  const bool is_region_unbounded = is_A_subject ? face_B.is_unbounded : face_A.is_unbounded;
  if (polygon.size() < 2 || (!is_region_unbounded && region.size() < 2)) return;
  if (polygon.size() == 2 && region.size() == 2) {  // lines that cross are not flush
    const Vec2<double> e = (polygon[1] - polygon[0]).normalized(), f = (region[1] - region[0]).normalized();
    uneven += cross2(e, f) * cross2(e, f);
  }
  const double psi = smoothstep5<double>(2.0 - uneven / (k_flush_angle * k_flush_angle));
  if (!(psi > 0.0)) return;
  const bool is_segment = polygon.size() == 2;
  double whole = measure(polygon);
  if (!is_segment && !is_region_unbounded) whole = std::min(whole, measure(region));
  if (!is_region_unbounded) clip_by(region, polygon, scratch.clipped);
  if (polygon.size() < 2 || (!is_segment && polygon.size() < 3)) return;
  const double common = measure(polygon);
  const double part = smoothstep5<double>(common / (k_least_part * whole)), share = psi * part;
  if (!(share > 0.0)) return;

  patch.flushness = share;
  patch.area = is_segment ? 0.0 : common;
  patch.points[0].weight = 1.0 - share;
  const auto add = [&](const Vec2<double>& y, double weight) {
    const Vec3<double> at = middle + plane.lift(y);
    const double top_A = height(face_A, scratch.corners_A[0], n, at) + A.radius,
                 low_B = height(face_B, scratch.corners_B[0], n, at) - B.radius;
    patch.points.push_back({at + 0.5 * (top_A + low_B) * n, low_B - top_A, share * weight});
  };
  if (is_segment) {
    add(polygon[0], 1.0 / 6.0);
    add(0.5 * (polygon[0] + polygon[1]), 2.0 / 3.0);
    add(polygon[1], 1.0 / 6.0);
    return;
  }
  Vec2<double> centroid = Vec2<double>::Zero();
  for (std::size_t i = 2; i < polygon.size(); ++i) {
    const double area = 0.5 * std::abs(cross2(polygon[i - 1] - polygon[0], polygon[i] - polygon[0]));
    centroid += area / common * ((polygon[0] + polygon[i - 1] + polygon[i]) / 3.0);
  }
  const std::size_t count = polygon.size();
  const auto triangle = [&](std::size_t i) {
    return 0.5 * std::abs(cross2(polygon[i] - centroid, polygon[(i + 1) % count] - centroid));
  };
  for (std::size_t i = 0; i < count; ++i)
    add(polygon[i], (triangle((i + count - 1) % count) + triangle(i)) / (3.0 * common));
  add(centroid, 1.0 / 3.0);
}

}  // namespace abut
