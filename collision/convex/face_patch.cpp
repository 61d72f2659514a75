#include "collision/convex/face_patch.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "collision/convex/aligned_sides.h"
#include "collision/convex/core_feature.h"
#include "engine/scalar.h"
#include "engine/smooth.h"

namespace abut {
namespace {

/// Parts of a face below which its patch fades.
constexpr double k_least_part = 1e-4;
/// By the extent of both faces: sides closer than that count as one, and what is shifted is.
constexpr double k_aligned = 1e-9, k_shift = 1e-8;

template <typename S>
Vec3<double> values(const Vec3<S>& x) {
  return {value_of(x[0]), value_of(x[1]), value_of(x[2])};
}
template <typename S>
Vec3<S> constant(const Vec3<double>& x) {
  return {S(x[0]), S(x[1]), S(x[2])};
}
template <typename S>
S length_of(const Vec3<S>& x) {
  using std::sqrt;
  return sqrt(x.dot(x));
}

/// A face, or a line that is a face seen from one side: two corners.
template <typename S>
struct SupportFace {
  Vec3<S> normal_W = Vec3<S>::Zero();  ///< outwards, of unit length
  S uneven = S(2.0);  ///< sin^2 of its angle to the normal of the contact; >= 1: there is none
  bool is_unbounded = false;
};

/// Plane and corners of the face of a core that a normal in P points out of most.
template <typename S>
class FaceOfCore {
 public:
  FaceOfCore(const ConvexPart<double>& part, const Vec3<S>& n, std::vector<Vec3<S>>& corners)
      : part_(part), n_(n), corners_(corners) {
    corners_.clear();
    switch (part.core) {
      case ConvexCore::half_space:
        take({0.0, 0.0, 1.0});
        face.is_unbounded = true;
        corners_.push_back(Vec3<S>::Zero());
        break;
      case ConvexCore::box:
        box();
        break;
      case ConvexCore::segment:
        line(constant<S>({0.0, 0.0, -part.extents[2]}), constant<S>({0.0, 0.0, part.extents[2]}));
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

  SupportFace<S> face;  ///< in P

 private:
  void take(const Vec3<double>& normal) {
    face.normal_W = constant<S>(normal);
    const Vec3<S> across = face.normal_W.cross(n_);
    face.uneven = value_of(S(face.normal_W.dot(n_))) > 0.0 ? S(across.dot(across)) : S(2.0);
  }
  void line(const Vec3<S>& from, const Vec3<S>& to) {
    const Vec3<S> e = to - from;
    const S length = length_of(e);
    if (!(value_of(length) > 0.0)) return;
    const S along = n_.dot(e) / length;
    const Vec3<S> across = n_ - along * (e / length);
    const S squared = across.dot(across);
    if (!(value_of(squared) > 0.25)) return;
    face.normal_W = across / length_of(across);
    face.uneven = along * along;
    corners_ = {from, to};
  }
  void box() {
    const Vec3<double> n = values(n_);
    Eigen::Index axis = 0;
    n.cwiseAbs().maxCoeff(&axis);
    const double sign = n[axis] < 0.0 ? -1.0 : 1.0;
    take(sign * Vec3<double>::Unit(axis));
    const Eigen::Index x = (axis + 1) % 3, y = (axis + 2) % 3;
    for (const auto& [sx, sy] :
         {std::pair(1.0, 1.0), std::pair(-1.0, 1.0), std::pair(-1.0, -1.0), std::pair(1.0, -1.0)}) {
      Vec3<double> corner;
      corner[axis] = sign * part_.extents[axis];
      corner[x] = sx * part_.extents[x];
      corner[y] = sy * part_.extents[y];
      corners_.push_back(constant<S>(corner));
    }
  }
  void cone() {
    using std::sqrt;
    const Vec3<double>& e = part_.extents;
    const bool is_top = value_of(n_[2]) > 0.0;
    const double radius = is_top ? e[1] : e[0], z = is_top ? e[2] : -e[2];
    const S squared = n_[0] * n_[0] + n_[1] * n_[1];
    if (value_of(squared) < 0.25 && radius > 0.0) {
      take({0.0, 0.0, is_top ? 1.0 : -1.0});
      for (int i = 0; i < k_disc_corners; ++i) {
        const double angle = 2.0 * std::numbers::pi * i / k_disc_corners;
        corners_.push_back(constant<S>({radius * std::cos(angle), radius * std::sin(angle), z}));
      }
    } else if (value_of(squared) > 0.0) {
      const S inverse = S(1.0) / sqrt(squared);
      const Vec3<S> u(n_[0] * inverse, n_[1] * inverse, S(0.0));
      line(e[0] * u + constant<S>({0.0, 0.0, -e[2]}), e[1] * u + constant<S>({0.0, 0.0, e[2]}));
    }
  }
  void polyhedron() {
    const PolyhedronGraph<double>& graph = *part_.polyhedron;
    const Vec3<double> n = values(n_);
    int best = 0;
    for (int f = 1; f < graph.face_count(); ++f)
      if (graph.face_normals[at(f)].dot(n) > graph.face_normals[at(best)].dot(n)) best = f;
    take(graph.face_normals[at(best)]);
    for (int k = graph.first_corner[at(best)]; k < graph.first_corner[at(best) + 1]; ++k)
      corners_.push_back(constant<S>(graph.vertices[at(graph.corners[at(k)])]));
  }

  const ConvexPart<double>& part_;
  const Vec3<S>& n_;
  std::vector<Vec3<S>>& corners_;
};

template <typename S>
SupportFace<S> find_face(const ConvexPart<double>& part, const PartPlacement<S>& X_WP,
                         const Vec3<S>& outwards_W, std::vector<Vec3<S>>& corners_W) {
  const Vec3<S> outwards_P = X_WP.R_WP.transpose() * outwards_W;
  SupportFace<S> face = FaceOfCore<S>(part, outwards_P, corners_W).face;
  face.normal_W = X_WP.R_WP * face.normal_W;
  for (Vec3<S>& x : corners_W) x = X_WP.R_WP * x + X_WP.p_WP;
  return face;
}

template <typename S>
S signed_area(const std::vector<Vec2<S>>& polygon) {
  S sum(0.0);
  for (std::size_t i = 2; i < polygon.size(); ++i)
    sum += cross2<S>(polygon[i - 1] - polygon[0], polygon[i] - polygon[0]);
  return 0.5 * sum;
}

template <typename S>
S measure(const std::vector<Vec2<S>>& polygon) {
  using std::abs, std::sqrt;
  if (polygon.size() == 2) {
    const Vec2<S> e = polygon[1] - polygon[0];
    const S squared = e.dot(e);
    return value_of(squared) > 0.0 ? S(sqrt(squared)) : S(0.0);
  }
  return abs(signed_area(polygon));
}

template <typename S>
double area_of_face(const std::vector<Vec3<S>>& corners) {
  Vec3<double> sum = Vec3<double>::Zero();
  for (std::size_t i = 2; i < corners.size(); ++i)
    sum += (values(corners[i - 1]) - values(corners[0])).cross(values(corners[i]) - values(corners[0]));
  return 0.5 * sum.norm();
}

/// Clips polygons and segments in a plane.
/// @see  Sutherland, Hodgman (1974), "Reentrant polygon clipping".
template <typename S>
class Clipping {
 public:
  /// @param tolerance  distance [m] to a side below which a corner lies on it
  Clipping(std::vector<Vec2<S>>& polygon, std::vector<Vec2<S>>& memory, double tolerance)
      : polygon_(polygon), memory_(memory), tolerance_(tolerance) {}

  /// By the sides of a region, or between planes through the ends of a segment.
  void by(const std::vector<Vec2<S>>& region) {
    if (region.size() == 2) {
      const Vec2<S> e = region[1] - region[0];
      clip(e, e.dot(region[0]));
      clip(-e, -e.dot(region[1]));
      return;
    }
    const double orientation = value_of(signed_area(region)) < 0.0 ? -1.0 : 1.0;
    for (std::size_t i = 0; i < region.size() && !polygon_.empty(); ++i) {
      const Vec2<S>&a = region[i], &b = region[(i + 1) % region.size()];
      const Vec2<S> inwards(orientation * (a[1] - b[1]), orientation * (b[0] - a[0]));
      clip(inwards, inwards.dot(a));
    }
  }

  bool is_aligned = false;  ///< a corner lay on a side

 private:
  /// What lies on the side  normal.x >= offset.
  void clip(const Vec2<S>& normal, const S& offset) {
    memory_.clear();
    const std::size_t count = polygon_.size();
    const double near = tolerance_ * std::hypot(value_of(normal[0]), value_of(normal[1]));
    for (std::size_t i = 0; i < count; ++i) {
      const Vec2<S>&a = polygon_[i], &b = polygon_[(i + 1) % count];
      const S h_a = normal.dot(a) - offset, h_b = normal.dot(b) - offset;
      const bool a_inside = value_of(h_a) >= 0.0, b_inside = value_of(h_b) >= 0.0;
      if (std::abs(value_of(h_a)) <= near) is_aligned = true;
      if (a_inside) memory_.push_back(a);
      const bool is_side = count > 2 || i == 0;  // a segment has one
      if (is_side && a_inside != b_inside) memory_.push_back(a + (h_a / (h_a - h_b)) * (b - a));
    }
    polygon_.swap(memory_);
  }

  std::vector<Vec2<S>>&polygon_, &memory_;
  double tolerance_;
};

/// Where the line through `at` along n meets the plane of a face, from `at` [m].
template <typename S>
S height(const SupportFace<S>& face, const Vec3<S>& corner, const Vec3<S>& n, const Vec3<S>& at) {
  return face.normal_W.dot(corner - at) / face.normal_W.dot(n);
}

/// Two vectors that span the plane perpendicular to m. Constant ones: what is clipped is projected along m.
struct ProjectionPlane {
  explicit ProjectionPlane(const Vec3<double>& m) : axes(m) {}
  TangentPlane axes;

  template <typename S>
  [[nodiscard]] Vec2<S> project(const Vec3<S>& v, const Vec3<S>& m) const {
    const Vec3<double> n = axes.x.cross(axes.y);
    const S up = n[0] * v[0] + n[1] * v[1] + n[2] * v[2], m_up = n[0] * m[0] + n[1] * m[1] + n[2] * m[2];
    const Vec3<S> in_plane = v - (up / m_up) * m;
    return {axes.x[0] * in_plane[0] + axes.x[1] * in_plane[1] + axes.x[2] * in_plane[2],
            axes.y[0] * in_plane[0] + axes.y[1] * in_plane[1] + axes.y[2] * in_plane[2]};
  }
  template <typename S>
  [[nodiscard]] Vec3<S> lift(const Vec2<S>& v) const {
    Vec3<S> x;
    for (int i = 0; i < 3; ++i) x[i] = axes.x[i] * v[0] + axes.y[i] * v[1];
    return x;
  }
};

/// The patch of two parts at their places, or with B shifted in the plane of their faces.
template <typename S>
class PatchFinder {
 public:
  PatchFinder(const ConvexPart<double>& A, const PartPlacement<S>& X_A, const ConvexPart<double>& B,
              const PartPlacement<S>& X_B, const Witness<S>& witness, FacePatchScratch<S>& scratch)
      : A_(A),
        B_(B),
        X_A_(X_A),
        X_B_(X_B),
        witness_(witness),
        memory_(scratch),
        face_A_(find_face(A, X_A, witness.normal_AB_W, scratch.corners_A)),
        face_B_(find_face(B, X_B, Vec3<S>(-witness.normal_AB_W), scratch.corners_B)),
        is_line_A_(scratch.corners_A.size() == 2),
        is_line_B_(scratch.corners_B.size() == 2),
        middle_(0.5 * (values(witness.point_A_W) + values(witness.point_B_W))),
        normal_(normal_of_patch()),
        plane_(values(normal_)) {
    for (const std::vector<Vec3<S>>* corners : {&scratch.corners_A, &scratch.corners_B})
      for (const Vec3<S>& x : *corners) extent_ = std::max(extent_, (values(x) - middle_).norm());
  }

  /// Of the patch that find(0.0) left: whether its centre has other derivatives on either side.
  [[nodiscard]] bool has_kink() {
    if (face_A_.is_unbounded || face_B_.is_unbounded) return false;
    std::vector<Vec2<double>>&common = memory_.common, &region = memory_.values;
    set_values(memory_.polygon, common);
    set_values(memory_.region, region);
    const double tolerance = k_aligned * extent_;
    if (is_line_A_ && is_line_B_ && !are_segments() && are_lines_parallel()) return true;
    if (common.size() == 2)
      return has_end_at_corner(common, region, tolerance) ||
             has_one_aligned_end(common, memory_.subject, region, tolerance);
    return common.size() > 2 && has_aligned_side(common, memory_.subject, region, tolerance);
  }

  /// @param shift  of B, in extents of the faces
  /// Overwrites `patch`. Returns whether sides are aligned.
  bool find(double shift, FacePatch<S>& patch) {
    take_witness_only(witness_, patch);
    const bool starts_at_A = !face_A_.is_unbounded && memory_.corners_A.size() <= memory_.corners_B.size();
    const bool is_A_subject = starts_at_A || face_B_.is_unbounded;  // a segment is clipped by a face
    const bool is_region_unbounded = is_A_subject ? face_B_.is_unbounded : face_A_.is_unbounded;
    auto &polygon = memory_.polygon, &region = memory_.region;
    const Vec2<double> moved = shift * extent_ * Vec2<double>(std::cos(1.0), std::sin(1.0));
    project(memory_.corners_A, Vec2<double>::Zero(), is_A_subject ? polygon : region);
    project(memory_.corners_B, moved, is_A_subject ? region : polygon);
    if (polygon.size() < 2 || (!is_region_unbounded && region.size() < 2)) return false;
    S uneven = face_A_.uneven + face_B_.uneven;
    if (polygon.size() == 2 && region.size() == 2) {  // lines that cross are not flush
      const Vec2<S> e = polygon[1] - polygon[0], f = region[1] - region[0];
      const S sine = cross2<S>(e, f);
      uneven += sine * sine / (e.dot(e) * f.dot(f));
    }
    const S psi = smoothstep5<S>(2.0 - uneven / (k_flush_angle * k_flush_angle));
    if (!(value_of(psi) > 0.0)) return false;
    const bool is_segment = polygon.size() == 2;
    double whole = value_of(measure(polygon));
    if (!is_segment && !is_region_unbounded) whole = std::min(whole, value_of(measure(region)));
    bool is_aligned = false;
    if (!is_region_unbounded) {
      if (shift == 0.0) set_values(polygon, memory_.subject);
      Clipping<S> clipping(polygon, memory_.clipped, k_aligned * extent_);
      clipping.by(region);
      is_aligned = clipping.is_aligned;
    }
    if (polygon.size() < 2 || (!is_segment && polygon.size() < 3)) return is_aligned;
    const S common = measure(polygon);
    const S share = psi * smoothstep5<S>(common / (k_least_part * whole));
    if (!(value_of(share) > 0.0)) return is_aligned;

    patch.flushness = value_of(share);
    patch.area = is_segment ? 0.0 : value_of(common);
    patch.points[0].weight = 1.0 - share;
    if (is_segment) {
      add(polygon[0], share / 6.0, patch);
      add(0.5 * (polygon[0] + polygon[1]), share * (2.0 / 3.0), patch);
      add(polygon[1], share / 6.0, patch);
      return is_aligned;
    }
    add_polygon(polygon, common, share, patch);
    return is_aligned;
  }

 private:
  void project(const std::vector<Vec3<S>>& corners, const Vec2<double>& moved,
               std::vector<Vec2<S>>& projected) const {
    projected.clear();
    for (const Vec3<S>& x : corners) {
      const Vec3<S> from_middle = x - constant<S>(middle_);
      Vec2<S> y = plane_.project<S>(from_middle, normal_);
      for (int i = 0; i < 2; ++i) y[i] = y[i] + moved[i];
      projected.push_back(y);
    }
  }

  static void set_values(const std::vector<Vec2<S>>& points, std::vector<Vec2<double>>& values_of) {
    values_of.clear();
    for (const Vec2<S>& x : points) values_of.emplace_back(value_of(x[0]), value_of(x[1]));
  }

  [[nodiscard]] bool are_segments() const {
    return A_.core == ConvexCore::segment && B_.core == ConvexCore::segment;
  }
  /// To a thousandth: then the normal of the witness points jumps from one end of the lines to the other.
  [[nodiscard]] bool are_lines_parallel() const {
    const auto along = [](const std::vector<Vec3<S>>& line) {
      return Vec3<double>((values(line[1]) - values(line[0])).normalized());
    };
    return along(memory_.corners_A).cross(along(memory_.corners_B)).norm() <= 1e-3;
  }

  /// Of two segments: from one to the other in the middle of what they have in common, perpendicular to both.
  /// That of their witness points turns with these where they are ends.
  [[nodiscard]] Vec3<S> normal_of_lines() const {
    const Vec3<S>&a = memory_.corners_A[0], &b = memory_.corners_B[0];
    const Vec3<S> e = memory_.corners_A[1] - a, f = memory_.corners_B[1] - b;
    const double sign = value_of(S(e.dot(f))) < 0.0 ? -1.0 : 1.0;
    const Vec3<S> sum = e / length_of(e) + (sign / length_of(f)) * f, axis = sum / length_of(sum);
    const S a0 = axis.dot(a), a1 = axis.dot(memory_.corners_A[1]), b0 = axis.dot(b),
            b1 = axis.dot(memory_.corners_B[1]);
    const auto less = [](const S& x, const S& y) { return value_of(x) < value_of(y); };
    const S from = std::max(std::min(a0, a1, less), std::min(b0, b1, less), less),
            to = std::min(std::max(a0, a1, less), std::max(b0, b1, less), less), middle = 0.5 * (from + to);
    const auto point = [&](const Vec3<S>& start, const Vec3<S>& line) {
      return Vec3<S>(start + ((middle - axis.dot(start)) / axis.dot(line)) * line);
    };
    const Vec3<S> between = point(b, f) - point(a, e), across = between - between.dot(axis) * axis;
    const S length = length_of(across);
    if (!(value_of(length) > k_aligned * (A_.size + B_.size))) return witness_.normal_AB_W;
    const double side = value_of(S(across.dot(witness_.normal_AB_W))) < 0.0 ? -1.0 : 1.0;
    return (side / length) * across;
  }

  /// Turns lines of a cone that touch a face to where they are nearest to it: the normal of the witness
  /// points jumps, and would take such a line along.
  [[nodiscard]] Vec3<S> normal_of_patch() {
    const Vec3<S> m = mean_normal();
    if (is_line_A_ && !is_line_B_ && A_.core == ConvexCore::cone)
      face_A_ = find_face(A_, X_A_, m, memory_.corners_A);
    if (is_line_B_ && !is_line_A_ && B_.core == ConvexCore::cone)
      face_B_ = find_face(B_, X_B_, Vec3<S>(-m), memory_.corners_B);
    return m;
  }

  [[nodiscard]] Vec3<S> mean_normal() const {
    if (memory_.corners_A.empty() || memory_.corners_B.empty()) return witness_.normal_AB_W;
    if (is_line_A_ && is_line_B_) return are_segments() ? normal_of_lines() : witness_.normal_AB_W;
    double share_A = is_line_A_ ? 0.0 : 1.0;
    if (face_B_.is_unbounded) {
      share_A = 0.0;
    } else if (!is_line_A_ && !is_line_B_ && !face_A_.is_unbounded) {
      const double a = area_of_face(memory_.corners_A), b = area_of_face(memory_.corners_B);
      share_A = a + b > 0.0 ? smoothstep5(0.5 + (a - b) / (a + b)) : 0.5;
    }
    const Vec3<S> mean = share_A * face_A_.normal_W - (1.0 - share_A) * face_B_.normal_W;
    const S length = length_of(mean);
    return value_of(length) > 0.5 ? Vec3<S>(mean / length) : witness_.normal_AB_W;
  }

  void add(const Vec2<S>& y, const S& weight, FacePatch<S>& patch) const {
    const Vec3<S> at = constant<S>(middle_) + plane_.lift<S>(y);
    const S top_A = height(face_A_, memory_.corners_A[0], normal_, at) + A_.radius,
            low_B = height(face_B_, memory_.corners_B[0], normal_, at) - B_.radius;
    patch.points.push_back({at + (0.5 * (top_A + low_B)) * normal_, low_B - top_A, normal_, weight});
  }

  void add_polygon(const std::vector<Vec2<S>>& polygon, const S& common, const S& share,
                   FacePatch<S>& patch) const {
    using std::abs;
    Vec2<S> centroid = Vec2<S>::Zero();
    for (std::size_t i = 2; i < polygon.size(); ++i) {
      const S area = 0.5 * abs(cross2<S>(polygon[i - 1] - polygon[0], polygon[i] - polygon[0]));
      centroid += (area / (3.0 * common)) * (polygon[0] + polygon[i - 1] + polygon[i]);
    }
    const std::size_t count = polygon.size();
    const auto triangle = [&](std::size_t i) {
      return S(0.5 * abs(cross2<S>(polygon[i] - centroid, polygon[(i + 1) % count] - centroid)));
    };
    for (std::size_t i = 0; i < count; ++i)
      add(polygon[i], share * (triangle((i + count - 1) % count) + triangle(i)) / (3.0 * common), patch);
    add(centroid, share / 3.0, patch);
  }

  const ConvexPart<double>&A_, &B_;
  const PartPlacement<S>&X_A_, &X_B_;
  const Witness<S>& witness_;
  FacePatchScratch<S>& memory_;
  SupportFace<S> face_A_, face_B_;
  bool is_line_A_, is_line_B_;
  Vec3<double> middle_;
  Vec3<S> normal_;
  ProjectionPlane plane_;
  double extent_ = 0.0;
};

/// The mean of two patches: point by point where they have the same ones, else all points of both.
template <typename S>
void take_mean(const FacePatch<S>& other, double near, FacePatch<S>& patch) {
  const std::size_t count = patch.points.size();
  const auto distance = [&](std::size_t i, std::size_t k) {
    return (values(patch.points[i].point_W) - values(other.points[k].point_W)).norm();
  };
  bool are_same = count == other.points.size();
  std::vector<std::size_t> partners(count, 0);  // one to one
  for (std::size_t i = 1; i < count && are_same; ++i) {
    std::size_t nearest = 0;
    for (std::size_t k = 1; k < count; ++k) {
      const bool is_taken = std::find(partners.begin() + 1, partners.begin() + static_cast<std::ptrdiff_t>(i),
                                      k) != partners.begin() + static_cast<std::ptrdiff_t>(i);
      if (!is_taken && (nearest == 0 || distance(i, k) < distance(i, nearest))) nearest = k;
    }
    partners[i] = nearest;
    are_same = distance(i, nearest) <= near;
  }
  if (!are_same) {
    for (PatchPoint<S>& point : patch.points) point.weight = 0.5 * point.weight;
    for (PatchPoint<S> point : other.points) {
      point.weight = 0.5 * point.weight;
      patch.points.push_back(point);
    }
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    PatchPoint<S>& a = patch.points[i];
    const PatchPoint<S>& b = other.points[partners[i]];
    a.point_W = 0.5 * (a.point_W + b.point_W);
    a.distance = 0.5 * (a.distance + b.distance);
    a.weight = 0.5 * (a.weight + b.weight);
  }
}

}  // namespace

PartPlacement<double> part_placement(const ConvexPart<double>& part, const Pose<double>& X_WB) {
  const Pose<double> X_WP = X_WB * part.X_BP;
  return {X_WP.rotation(), X_WP.p};
}

template <typename S>
void find_face_patch(const ConvexPart<double>& A, const PartPlacement<S>& X_A, const ConvexPart<double>& B,
                     const PartPlacement<S>& X_B, const Witness<S>& witness, FacePatchScratch<S>& scratch,
                     FacePatch<S>& patch) {
  PatchFinder<S> finder(A, X_A, B, X_B, witness, scratch);
  const bool is_aligned = finder.find(0.0, patch), is_segment = patch.points.size() == 4;
  const bool has_kink = (is_aligned || is_segment) && finder.has_kink();
  patch.has_kink = has_kink;
  if (!is_aligned) return;
  finder.find(k_shift, patch);
  finder.find(-k_shift, scratch.shifted);
  take_mean(scratch.shifted, 1e3 * k_shift * std::max(A.size + A.radius, B.size + B.radius), patch);
  patch.is_aligned = true;
  patch.has_kink = has_kink;
}

template void find_face_patch(const ConvexPart<double>&, const PartPlacement<double>&,
                              const ConvexPart<double>&, const PartPlacement<double>&, const Witness<double>&,
                              FacePatchScratch<double>&, FacePatch<double>&);
template void find_face_patch(const ConvexPart<double>&, const PartPlacement<PatchDual>&,
                              const ConvexPart<double>&, const PartPlacement<PatchDual>&,
                              const Witness<PatchDual>&, FacePatchScratch<PatchDual>&, FacePatch<PatchDual>&);

void find_face_patch(const ConvexPart<double>& A, const Pose<double>& X_WA, const ConvexPart<double>& B,
                     const Pose<double>& X_WB, const ConvexDistance<double>& found,
                     FacePatchScratch<double>& scratch, FacePatch<double>& patch) {
  const Witness<double> witness{found.normal_AB_W, found.point_A_W, found.point_B_W, found.distance};
  find_face_patch<double>(A, part_placement(A, X_WA), B, part_placement(B, X_WB), witness, scratch, patch);
}

}  // namespace abut
