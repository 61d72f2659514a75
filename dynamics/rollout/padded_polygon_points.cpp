#include "dynamics/rollout/padded_polygon_points.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/padded_polygon.h"
#include "engine/pose.h"

namespace abut {
namespace {

/// Points are on the surface up to that, by the size of the body, and between edges up to that by their
/// angle.
constexpr double k_tolerance = 1e-9, k_share_tolerance = 1e-6;

double cross2(const Vec2<double>& a, const Vec2<double>& b) { return a.x() * b.y() - a.y() * b.x(); }

/// A corner with the edges before and after it.
struct PolygonCorner {
  Vec2<double> place;
  Vec2<double> normal_before, normal_after;  ///< outwards
  double length_before, length_after;        ///< [m]
  double angle;                              ///< outer one [rad]
  std::size_t before, after;                 ///< corners at the other ends

  PolygonCorner(const std::vector<Vec2<double>>& corners, std::size_t k)
      : place(corners[k]),
        before((k + corners.size() - 1) % corners.size()),
        after((k + 1) % corners.size()) {
    const Vec2<double> u = place - corners[before], v = corners[after] - place;
    length_before = u.norm();
    length_after = v.norm();
    normal_before = Vec2<double>(u.y(), -u.x()) / length_before;
    normal_after = Vec2<double>(v.y(), -v.x()) / length_after;
    angle = std::atan2(cross2(u, v), u.dot(v));
  }

  [[nodiscard]] Vec2<double> direction(double share) const {
    const double c = std::cos(share * angle), s = std::sin(share * angle);
    return c * normal_before + s * Vec2<double>(-normal_before.y(), normal_before.x());
  }
};

std::vector<PolygonCorner> corners_of(const Primitive& polygon) {
  const std::vector<Vec2<double>> places = polygon_corners(polygon);
  std::vector<PolygonCorner> corners;
  for (std::size_t k = 0; k < places.size(); ++k) corners.emplace_back(places, k);
  return corners;
}

/// Where a point in P is; nothing if it is on no corner's part of the surface.
std::optional<PaddedPolygonPoints::Place> place_of(const std::vector<PolygonCorner>& corners, double radius,
                                                   double size, const Vec3<double>& point) {
  std::size_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  const auto from_corner = [&](std::size_t k) {
    return Vec3<double>(point.x() - corners[k].place.x(), point.y() - corners[k].place.y(), point.z());
  };
  for (std::size_t k = 0; k < corners.size(); ++k) {
    const double off = std::abs(from_corner(k).norm() - radius);
    if (off >= least) continue;
    least = off;
    nearest = k;
  }
  if (!(least <= k_tolerance * size)) return std::nullopt;
  const PolygonCorner& corner = corners[nearest];
  const Vec3<double> r = from_corner(nearest);
  const Vec2<double> across = r.head<2>();
  const double beside = across.norm();
  if (beside <= k_tolerance * size) return PaddedPolygonPoints::Place{nearest, 0.5, std::atan2(r.z(), 0.0)};
  const double share =
      std::atan2(cross2(corner.normal_before, across), corner.normal_before.dot(across)) / corner.angle;
  if (!(share >= -k_share_tolerance && share <= 1.0 + k_share_tolerance)) return std::nullopt;
  return PaddedPolygonPoints::Place{nearest, share, std::atan2(r.z(), beside)};
}

}  // namespace

std::optional<PaddedPolygonPoints> PaddedPolygonPoints::of(const Body& body) {
  if (body.shape.primitives.size() != 1 || body.contact_radius != 0.0 || !body.contact_points_on_surface)
    return std::nullopt;
  const Primitive& polygon = body.shape.primitives.front();
  if (polygon.kind != PrimitiveKind::padded_polygon || polygon.operation != PrimitiveOperation::add)
    return std::nullopt;
  const std::vector<PolygonCorner> corners = corners_of(polygon);
  PaddedPolygonPoints result;
  for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
    const auto place = place_of(corners, polygon.parameters[0], body.size,
                                inverse_point<double>(polygon.X_BP, body.contact_points.col(i)));
    if (!place) return std::nullopt;
    result.places.push_back(*place);
  }
  return result;
}

Points PaddedPolygonPoints::points(const Primitive& polygon) const {
  const std::vector<PolygonCorner> corners = corners_of(polygon);
  const double r = polygon.parameters[0];
  Points points(3, static_cast<Eigen::Index>(places.size()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    const PolygonCorner& corner = corners[places[i].corner];
    const Vec2<double> p =
        corner.place + r * std::cos(places[i].latitude) * corner.direction(places[i].share);
    points.col(static_cast<Eigen::Index>(i)) =
        polygon.X_BP * Vec3<double>(p.x(), p.y(), r * std::sin(places[i].latitude));
  }
  return points;
}

void PaddedPolygonPoints::vjp(const Primitive& polygon, const Points& points_bar,
                              PrimitiveGradient& bar) const {
  const std::vector<PolygonCorner> corners = corners_of(polygon);
  const double r = polygon.parameters[0];
  bar.values.resize(polygon.values.size(), 0.0);
  const auto add_to_corner = [&](std::size_t k, const Vec2<double>& by) {
    bar.values[2 * k] += by.x();
    bar.values[2 * k + 1] += by.y();
  };
  // An edge from a to b with the normal e and length l turns by d theta = -e.(db - da)/l.
  const auto add_turn = [&](std::size_t from, std::size_t to, const Vec2<double>& normal, double length,
                            double theta_bar) {
    const Vec2<double> by = theta_bar / length * normal;
    add_to_corner(from, by);
    add_to_corner(to, -by);
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Vec3<double> point_bar = points_bar.col(static_cast<Eigen::Index>(i));
    if (point_bar.isZero(0.0)) continue;
    const PolygonCorner& corner = corners[places[i].corner];
    const Vec2<double> direction = corner.direction(places[i].share);
    const double c = std::cos(places[i].latitude), s = std::sin(places[i].latitude);
    const Vec2<double> p = corner.place + r * c * direction;
    const auto by_point = point_vjp<double>(polygon.X_BP, Vec3<double>(p.x(), p.y(), r * s), point_bar);
    bar.pose += by_point.pose;
    const Vec2<double> in_plane = by_point.point.head<2>();
    bar.parameters[0] += c * direction.dot(in_plane) + s * by_point.point.z();
    add_to_corner(places[i].corner, in_plane);
    const double theta_bar = r * c * cross2(direction, in_plane);
    add_turn(corner.before, places[i].corner, corner.normal_before, corner.length_before,
             (1.0 - places[i].share) * theta_bar);
    add_turn(places[i].corner, corner.after, corner.normal_after, corner.length_after,
             places[i].share * theta_bar);
  }
}

}  // namespace abut
