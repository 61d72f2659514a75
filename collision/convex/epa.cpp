#include "collision/convex/epa.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace abut {
namespace {

/// The cosine between the normals of triangles that may be parts of one face of D.
constexpr double k_one_face = 1.0 - 1e-6;

/// The polytope of EPA within D.
template <typename T>
class Polytope {
 public:
  Polytope(MinkowskiDifference<T>& difference, EpaScratch& scratch)
      : difference_(difference), s_(scratch), size_(difference.size()), rounding_(difference.rounding()) {
    s_.points.clear();
    s_.faces.clear();
    s_.heap.clear();
  }

  /// Makes a tetrahedron of the points of a simplex and what it takes of others. False if D is flat: then
  /// flat_normal() is a normal of it.
  bool start(const DifferenceSimplex& simplex);
  [[nodiscard]] const Vec3<double>& flat_normal() const { return flat_normal_; }

  /// The face whose plane is closest to the origin.
  int closest_face();

  /// Replaces the faces that a point sees by faces to it. False where rounding would leave no proper
  /// polytope; then nothing has changed.
  bool add(const DifferencePoint& point, int seen_face);
  /// A face that cannot be divided is no longer the closest one; the bound of the depth that it gives stays.
  void set_aside(int face);
  [[nodiscard]] double least_set_aside() const { return least_set_aside_; }

  /// The face, among those as close as `face`, that is closest to the origin itself.
  void report(int face, DifferenceSimplex& simplex) const;

  [[nodiscard]] const EpaScratch::Face& face(int i) const { return s_.faces[at(i)]; }
  [[nodiscard]] bool has_point(const Vec3<double>& w) const {
    return std::any_of(s_.points.begin(), s_.points.end(), [&](const auto& point) { return point.w == w; });
  }

 private:
  using Face = EpaScratch::Face;
  /// False if the corners are in one line, up to rounding.
  bool make_face(int a, int b, int c, Face& face) const;
  void push_face(const Face& face);
  bool find_horizon(const DifferencePoint& point, int seen_face, double tolerance);
  bool make_cone(int apex);
  bool grow_along(const Vec3<double>& direction);
  [[nodiscard]] const Vec3<double>& w(int i) const { return s_.points[at(i)].w; }

  MinkowskiDifference<T>& difference_;
  EpaScratch& s_;
  double size_, rounding_;
  Vec3<double> flat_normal_ = Vec3<double>::UnitZ();
  double least_set_aside_ = std::numeric_limits<double>::infinity();
};

/// Adds the farther of the support points along +-direction if it leaves the affine hull of the points there
/// are.
template <typename T>
bool Polytope<T>::grow_along(const Vec3<double>& direction) {
  const DifferencePoint ahead = difference_.support(direction),
                        behind = difference_.support(Vec3<double>(-direction));
  const Vec3<double> n = direction.normalized();
  const double up = n.dot(ahead.w - w(0)), down = -n.dot(behind.w - w(0));
  if (!(std::max(up, down) > 64.0 * rounding_)) return false;
  s_.points.push_back(up >= down ? ahead : behind);
  return true;
}

/// A unit vector normal to e.
Vec3<double> some_normal(const Vec3<double>& e) {
  Eigen::Index least = 0;
  e.cwiseAbs().minCoeff(&least);
  return e.cross(Vec3<double>::Unit(least)).normalized();
}

template <typename T>
bool Polytope<T>::start(const DifferenceSimplex& simplex) {
  // The largest part of the simplex that is not flat.
  const auto& points = simplex.points;
  const double apart = 64.0 * rounding_;
  s_.points.push_back(points[0]);
  for (int i = 1; i < simplex.count; ++i) {
    const Vec3<double> r = points[at(i)].w - w(0);
    double height = r.norm();
    if (s_.points.size() == 2) height = r.cross((w(1) - w(0)).normalized()).norm();
    if (s_.points.size() == 3) height = std::abs(r.dot((w(1) - w(0)).cross(w(2) - w(0)).normalized()));
    if (height > apart) s_.points.push_back(points[at(i)]);
  }
  if (s_.points.size() == 1) {
    for (int axis = 0; axis < 3 && s_.points.size() == 1; ++axis) grow_along(Vec3<double>::Unit(axis));
    if (s_.points.size() == 1) return false;  // D is a point: any normal, z
  }
  if (s_.points.size() == 2) {
    const Vec3<double> e = (w(1) - w(0)).normalized(), x = some_normal(e), y = e.cross(x);
    if (!grow_along(x) && !grow_along(y)) {
      flat_normal_ = x;
      return false;
    }
  }
  if (s_.points.size() == 3) {
    const Vec3<double> n = (w(1) - w(0)).cross(w(2) - w(0)).normalized();
    if (!grow_along(n)) {
      flat_normal_ = n;
      return false;
    }
  }
  if ((w(1) - w(0)).cross(w(2) - w(0)).dot(w(3) - w(0)) > 0.0) std::swap(s_.points[1], s_.points[2]);
  constexpr int corners[4][3] = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
  constexpr int neighbours[4][3] = {{1, 3, 2}, {2, 3, 0}, {0, 3, 1}, {1, 2, 0}};
  for (int f = 0; f < 4; ++f) {
    Face face;
    if (!make_face(corners[f][0], corners[f][1], corners[f][2], face)) return false;
    for (int k = 0; k < 3; ++k) face.neighbours[at(k)] = neighbours[f][k];
    push_face(face);
  }
  return true;
}

template <typename T>
bool Polytope<T>::make_face(int a, int b, int c, Face& face) const {
  const Vec3<double> ab = w(b) - w(a), ac = w(c) - w(a), n = ab.cross(ac);
  const double length = n.norm();
  if (!(length > rounding_ * (w(c) - w(b)).norm())) return false;  // the height is all rounding
  face.corners = {a, b, c};
  face.neighbours = {-1, -1, -1};
  face.normal = n / length;
  face.distance = face.normal.dot(w(a) + w(b) + w(c)) / 3.0;
  face.is_alive = true;
  return true;
}

template <typename T>
void Polytope<T>::push_face(const Face& face) {
  s_.heap.emplace_back(face.distance, static_cast<int>(s_.faces.size()));
  std::push_heap(s_.heap.begin(), s_.heap.end(), std::greater<>());
  s_.faces.push_back(face);
}

/// -1 if all are set aside.
template <typename T>
int Polytope<T>::closest_face() {
  while (!s_.heap.empty() && !face(s_.heap.front().second).is_alive) {
    std::pop_heap(s_.heap.begin(), s_.heap.end(), std::greater<>());
    s_.heap.pop_back();
  }
  return s_.heap.empty() ? -1 : s_.heap.front().second;
}

template <typename T>
void Polytope<T>::set_aside(int f) {
  least_set_aside_ = std::min(least_set_aside_, face(f).distance);
  std::pop_heap(s_.heap.begin(), s_.heap.end(), std::greater<>());  // it is the first
  s_.heap.pop_back();
}

/// Marks the faces that a point sees as leaving, and finds the edges around them. False if they are not one
/// loop.
template <typename T>
bool Polytope<T>::find_horizon(const DifferencePoint& point, int seen_face, double tolerance) {
  // Faces in one plane with the point go, too: those left beside it would be slivers.
  const auto is_seen = [&](int f) { return face(f).normal.dot(point.w) - face(f).distance > -tolerance; };
  s_.leaving.assign(1, seen_face);
  s_.faces[at(seen_face)].is_alive = false;
  s_.horizon.clear();
  for (std::size_t i = 0; i < s_.leaving.size(); ++i) {
    const Face gone = face(s_.leaving[i]);
    for (int k = 0; k < 3; ++k) {
      const int other = gone.neighbours[at(k)];
      if (!face(other).is_alive) continue;
      if (is_seen(other)) {
        s_.faces[at(other)].is_alive = false;
        s_.leaving.push_back(other);
      } else {
        s_.horizon.push_back({gone.corners[at(k)], gone.corners[at((k + 1) % 3)], other});
      }
    }
  }
  s_.face_from.assign(s_.points.size(), -1);
  for (std::size_t i = 0; i < s_.horizon.size(); ++i) {
    int& from = s_.face_from[at(s_.horizon[i].from)];
    if (from != -1) return false;
    from = static_cast<int>(i);
  }
  // Around once from the first edge.
  std::size_t length = 0;
  for (int edge = 0; length <= s_.horizon.size() && edge != -1; ++length) {
    if (length > 0 && edge == 0) break;
    edge = s_.face_from[at(s_.horizon[at(edge)].to)];
  }
  return s_.horizon.size() >= 3 && length == s_.horizon.size();
}

/// Faces from the horizon to a point, in new_faces. False if one of them is a sliver.
template <typename T>
bool Polytope<T>::make_cone(int apex) {
  const int first = static_cast<int>(s_.faces.size());
  s_.new_faces.resize(s_.horizon.size());
  for (std::size_t i = 0; i < s_.horizon.size(); ++i) {
    const auto& edge = s_.horizon[i];
    if (!make_face(edge.from, edge.to, apex, s_.new_faces[i])) return false;
    s_.new_faces[i].neighbours[0] = edge.face;
  }
  for (std::size_t i = 0; i < s_.horizon.size(); ++i) {
    const int next = s_.face_from[at(s_.horizon[i].to)];
    s_.new_faces[i].neighbours[1] = first + next;
    s_.new_faces[at(next)].neighbours[2] = first + static_cast<int>(i);
  }
  return true;
}

template <typename T>
bool Polytope<T>::add(const DifferencePoint& point, int seen_face) {
  const int apex = static_cast<int>(s_.points.size());
  s_.points.push_back(point);
  double tolerance = rounding_;
  for (int attempt = 0; attempt < 4; ++attempt, tolerance *= 16.0) {
    const bool is_proper = find_horizon(point, seen_face, tolerance) && make_cone(apex);
    if (is_proper) break;
    for (const int f : s_.leaving) s_.faces[at(f)].is_alive = true;
    if (attempt < 3) continue;
    s_.points.pop_back();
    return false;
  }
  for (std::size_t i = 0; i < s_.horizon.size(); ++i) {
    const auto& edge = s_.horizon[i];
    auto& stays = s_.faces[at(edge.face)];
    for (int k = 0; k < 3; ++k)
      if (stays.corners[at(k)] == edge.to && stays.corners[at((k + 1) % 3)] == edge.from)
        stays.neighbours[at(k)] = static_cast<int>(s_.faces.size());
    push_face(s_.new_faces[i]);
  }
  return true;
}

template <typename T>
void Polytope<T>::report(int closest, DifferenceSimplex& simplex) const {
  double least = std::numeric_limits<double>::infinity();
  const double limit = face(closest).distance + 4.0 * rounding_;
  const auto try_face = [&](const EpaScratch::Face& f) {
    const auto found = closest_on_triangle(w(f.corners[0]), w(f.corners[1]), w(f.corners[2]), f.corners[0],
                                           f.corners[1], f.corners[2]);
    if (!(found.squared < least)) return;
    least = found.squared;
    simplex.count = 3;  // all corners, whose edges the normal is perpendicular to
    for (int i = 0; i < 3; ++i) {
      const int corner = f.corners[at(i)];
      simplex.points[at(i)] = s_.points[at(corner)];
      simplex.weights[at(i)] = 0.0;
      for (int k = 0; k < found.count; ++k)
        if (found.corners[at(k)] == corner) simplex.weights[at(i)] = found.weights[at(k)];
    }
  };
  try_face(face(closest));
  for (const auto& f : s_.faces)
    if (f.is_alive && f.distance <= limit && f.normal.dot(face(closest).normal) > k_one_face) try_face(f);
}

}  // namespace

template <typename T>
EpaResult epa(MinkowskiDifference<T>& difference, const EpaSettings& settings, DifferenceSimplex& simplex,
              EpaScratch& scratch) {
  EpaResult result;
  const double tolerance = std::max(settings.tolerance * difference.size(), difference.rounding());
  Polytope<T> polytope(difference, scratch);
  if (!polytope.start(simplex)) {
    result.end = EpaEnd::flat;
    const Vec3<double>& n = polytope.flat_normal();
    result.normal = n.dot(difference.p_AB()) < 0.0 ? Vec3<double>(-n) : n;
    return result;
  }
  result.upper = std::numeric_limits<double>::infinity();
  int closest = -1, best = 0;
  for (;; ++result.iterations) {
    closest = polytope.closest_face();
    if (closest == -1 || polytope.face(closest).distance > result.upper + tolerance) break;
    const Vec3<double> normal = polytope.face(closest).normal;
    const DifferencePoint next = difference.support(normal);
    const double distance = polytope.face(closest).distance, reach = std::max(normal.dot(next.w), distance);
    if (reach <= result.upper + tolerance) {  // of normals that are as good, that of the later face
      result.normal = normal;
      best = closest;
    }
    result.upper = std::min(result.upper, reach);
    if (reach - distance <= tolerance || polytope.has_point(next.w)) break;
    if (result.iterations >= settings.max_iterations) break;
    if (!polytope.add(next, closest)) polytope.set_aside(closest);
  }
  result.lower = polytope.least_set_aside();
  if (closest != -1) result.lower = std::min(result.lower, polytope.face(closest).distance);
  result.lower = std::min(result.lower, result.upper);
  if (result.upper - result.lower > tolerance) result.end = EpaEnd::iterations;
  polytope.report(best, simplex);
  return result;
}

template EpaResult epa(MinkowskiDifference<double>&, const EpaSettings&, DifferenceSimplex&, EpaScratch&);
template EpaResult epa(MinkowskiDifference<float>&, const EpaSettings&, DifferenceSimplex&, EpaScratch&);

}  // namespace abut
