#include "dynamics/rollout/shape_change.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rollout/padded_polygon_points.h"
#include "engine/check.h"
#include "engine/primitive_check.h"

namespace abut {
namespace {

/// How contact points depend on the parameters of the one primitive they were made from:
///   p = X_BP (t o scale(parameters)),   contact radius = parameters[radius_index],
/// with t constant. Only for a single added sphere, capsule or rounded box whose radius is the contact
/// radius.
struct PointsOfPrimitive {
  int radius_index = -1;
  Vec3<double> scale = Vec3<double>::Ones();
  bool valid = false;

  explicit PointsOfPrimitive(const Body& body) {
    if (body.shape.primitives.size() != 1) return;
    const Primitive& primitive = body.shape.primitives.front();
    if (primitive.operation != PrimitiveOperation::add) return;
    const auto& q = primitive.parameters;
    switch (primitive.kind) {
      case PrimitiveKind::sphere:
        radius_index = 0;
        break;
      case PrimitiveKind::capsule:
        radius_index = 0;
        scale = {1.0, 1.0, q[1]};
        break;
      case PrimitiveKind::rounded_box:
        radius_index = 3;
        scale = {q[0] - q[3], q[1] - q[3], q[2] - q[3]};
        break;
      case PrimitiveKind::superquadric:
      case PrimitiveKind::half_space:
      case PrimitiveKind::convex_polyhedron:
      case PrimitiveKind::oriented_point_cloud:
      case PrimitiveKind::extruded_superquadric:
      case PrimitiveKind::cone:
      case PrimitiveKind::torus:
      case PrimitiveKind::padded_polygon:
        return;
    }
    valid = body.contact_radius == q[static_cast<std::size_t>(radius_index)];  // 0 for a box with sharp edges
  }
};

bool keep_their_place(const Body& body) {
  return PointsOfPrimitive(body).valid || PaddedPolygonPoints::of(body).has_value();
}

/// t of a point in P. All points lie in the middle of what has no length, and stay there: 0.
Vec3<double> relative_place(const Vec3<double>& point_P, const Vec3<double>& scale) {
  return (scale.array() == 0.0).select(0.0, point_P.array() / scale.array());
}

/// dL/d(parameters) from dL/d(scale) of PointsOfPrimitive.
void scale_vjp(PrimitiveKind kind, const Vec3<double>& scale_bar, PrimitiveGradient& bar) {
  if (kind == PrimitiveKind::capsule) bar.parameters[1] += scale_bar.z();
  if (kind == PrimitiveKind::rounded_box) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      bar.parameters[axis] += scale_bar[static_cast<Eigen::Index>(axis)];
    bar.parameters[3] -= scale_bar.sum();
  }
}

bool points_follow_zero_set(const Body& body) {
  return body.contact_radius == 0.0 && body.contact_points_on_surface && !body.shape.primitives.empty();
}

/// The place nearest to x where the line through it with direction u crosses the level set of value `level`
/// outwards; nothing if there is none within `reach`. Looks at the line in steps that grow, on both sides,
/// and closes in between the first two of different sign by bisection and secants.
std::optional<Vec3<double>> meet_level(const ShapeSdf& sdf, const Vec3<double>& x, const Vec3<double>& u,
                                       double level, double reach, double tolerance) {
  const auto off = [&](double s) { return sdf.distance<double>(Vec3<double>(x + s * u)) - level; };
  const double start = off(0.0);
  if (std::abs(start) <= tolerance) return x;
  // Outside of the surface it lies backwards, else forwards.
  const double way = start > 0.0 ? -1.0 : 1.0;
  double near = 0.0, far = 0.0, off_near = start, off_far = start;
  for (double s = std::max(1.2 * std::abs(start), 1e-6 * reach); s <= reach; s *= 1.3) {
    near = far;
    off_near = off_far;
    far = way * s;
    off_far = off(far);
    if ((off_far > 0.0) != (start > 0.0)) break;
  }
  if ((off_far > 0.0) == (start > 0.0)) return std::nullopt;
  constexpr int k_max_iterations = 200;
  double best = near;
  for (int iteration = 0; iteration < k_max_iterations; ++iteration) {
    const double secant = near - off_near * (far - near) / (off_far - off_near);
    best = iteration % 3 == 2 ? 0.5 * (near + far) : secant;
    const double off_best = off(best);
    if (std::abs(off_best) <= tolerance || std::abs(far - near) <= tolerance) break;
    if ((off_best > 0.0) == (off_near > 0.0)) {
      near = best;
      off_near = off_best;
    } else {
      far = best;
      off_far = off_best;
    }
  }
  return x + best * u;
}

/// The primitive of the shape whose surface is nearest; the first of several.
int nearest_primitive(const ShapeSdf& sdf, const Vec3<double>& x) {
  int nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  const std::vector<PreparedPrimitive<double>>& primitives = sdf.primitives<double>();
  for (std::size_t i = 0; i < primitives.size(); ++i) {
    if (primitive_bounds<double>(primitives[i], sdf.distance_mode(), x).lower > least) continue;
    const double distance =
        std::abs(primitive_sample<SdfOrder::normal, double>(primitives[i], sdf.distance_mode(), x).distance);
    const int p = sdf.primitive_of_shape(i);
    if (!(distance < least || (distance == least && p < nearest))) continue;
    least = distance;
    nearest = p;
  }
  return nearest;
}

/// The direction, in B, in which contact point v moves when primitive p of the body changes: across the zero
/// set. On the flat end of a cone such a line misses the rim of a smaller one; there it is the ray from the
/// cone's centre, which meets every cone once.
Vec3<double> line_direction(const Body& body, int p, const Vec3<double>& v, const Vec3<double>& gradient) {
  const Primitive& primitive = body.shape.primitives[static_cast<std::size_t>(p)];
  if (primitive.kind == PrimitiveKind::cone) return (v - primitive.X_BP.p).normalized();
  return gradient.normalized();
}

}  // namespace

ContactPointLines contact_point_lines(const Body& body) {
  ContactPointLines lines;
  if (keep_their_place(body) || !points_follow_zero_set(body)) return lines;
  const ShapeSdf sdf(body.shape);
  lines.directions.resize(3, body.contact_points.cols());
  for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
    const Vec3<double> v = body.contact_points.col(i);
    const int nearest = nearest_primitive(sdf, v);
    lines.primitive.push_back(nearest);
    const Pose<double>& X_BP = body.shape.primitives[static_cast<std::size_t>(nearest)].X_BP;
    lines.directions.col(i) =
        X_BP.q.conjugate() * line_direction(body, nearest, v, sdf.evaluate<double>(v).gradient);
  }
  return lines;
}

Body with_primitives(const Body& body, const std::vector<Primitive>& primitives) {
  require(primitives.size() == body.shape.primitives.size(),
          "with_primitives: the number of primitives may not change");
  for (std::size_t i = 0; i < primitives.size(); ++i)
    require_valid(primitives[i], fmt::format("{}: primitive {}", body.name, i));
  Body changed = body;
  changed.shape.primitives = primitives;
  const PointsOfPrimitive before(body);
  if (before.valid) {
    changed.contact_radius = primitives.front().parameters[static_cast<std::size_t>(before.radius_index)];
    const PointsOfPrimitive after(changed);
    for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
      const Vec3<double> local = relative_place(
          inverse_point<double>(body.shape.primitives.front().X_BP, body.contact_points.col(i)),
          before.scale);
      changed.contact_points.col(i) = primitives.front().X_BP * Vec3<double>(local.cwiseProduct(after.scale));
    }
  } else if (const auto of_polygon = PaddedPolygonPoints::of(body)) {
    changed.contact_points = of_polygon->points(primitives.front());
  } else if (points_follow_zero_set(body)) {
    const ShapeSdf old_sdf(body.shape), new_sdf(changed.shape);
    const ContactPointLines lines = contact_point_lines(body);
    for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
      const Vec3<double> v = body.contact_points.col(i);
      const auto p = static_cast<std::size_t>(lines.primitive[static_cast<std::size_t>(i)]);
      const Pose<double>& X_BP = primitives[p].X_BP;
      const Vec3<double> carried = X_BP * inverse_point<double>(body.shape.primitives[p].X_BP, v),
                         u = X_BP.q * Vec3<double>(lines.directions.col(i));
      const auto moved =
          meet_level(new_sdf, carried, u, old_sdf.distance<double>(v), 0.5 * body.size, 1e-15 * body.size);
      require(moved.has_value(),
              fmt::format("{}: contact point {} does not find the changed surface; the change is too large",
                          body.name, i));
      changed.contact_points.col(i) = *moved;
    }
  }
  const bool are_vertices =
      body.mesh.vertices.cols() == body.contact_points.cols() && body.mesh.vertices == body.contact_points;
  if (are_vertices) changed.mesh.vertices = changed.contact_points;
  return changed;
}

namespace {

/// Of points that keep their place relative to the parameters.
void add_points_of_primitive(const Body& body, const PointsOfPrimitive& points,
                             const GeometryGradient& partial, PrimitiveGradient& bar) {
  const Primitive& primitive = body.shape.primitives.front();
  bar.parameters[static_cast<std::size_t>(points.radius_index)] += partial.contact_radius;
  for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
    const Vec3<double> local = inverse_point<double>(primitive.X_BP, body.contact_points.col(i));
    const auto point_bar = point_vjp<double>(primitive.X_BP, local, partial.contact_points.col(i));
    bar.pose += point_bar.pose;
    scale_vjp(primitive.kind, point_bar.point.cwiseProduct(relative_place(local, points.scale)), bar);
  }
}

/// Of a point v that moves on a line of primitive p with direction u: adds what its primitive carries along,
/// and returns dL/d(phi at v) by the shape.
double add_carried_point(const Body& body, const Vec3<double>& gradient, const Vec3<double>& v, std::size_t p,
                         const Vec3<double>& u, const Vec3<double>& v_bar,
                         std::vector<PrimitiveGradient>& total) {
  const double along = u.dot(v_bar) / u.dot(gradient);
  const Pose<double>& X_BP = body.shape.primitives[p].X_BP;
  total[p].pose += point_vjp<double>(X_BP, inverse_point<double>(X_BP, v), v_bar - along * gradient).pose;
  return -along;
}

/// Direction of the line of a contact point, in B.
Vec3<double> line_of(const Body& body, const ContactPointLines& lines, Eigen::Index point) {
  const auto p = static_cast<std::size_t>(lines.primitive[static_cast<std::size_t>(point)]);
  return body.shape.primitives[p].X_BP.q * Vec3<double>(lines.directions.col(point));
}

void add_scaled(const PrimitiveGradient& from, double factor, PrimitiveGradient& to) {
  for (std::size_t k = 0; k < to.parameters.size(); ++k) to.parameters[k] += factor * from.parameters[k];
  if (to.values.size() < from.values.size()) to.values.resize(from.values.size(), 0.0);
  for (std::size_t k = 0; k < from.values.size(); ++k) to.values[k] += factor * from.values[k];
  to.pose += factor * from.pose;
}

bool is_zero(const PrimitiveGradient& gradient) {
  const auto is_null = [](double x) { return x == 0.0; };
  return gradient.pose.isZero(0.0) &&
         std::all_of(gradient.parameters.begin(), gradient.parameters.end(), is_null) &&
         std::all_of(gradient.values.begin(), gradient.values.end(), is_null);
}

}  // namespace

std::vector<PrimitiveGradient> total_shape_gradient(const Body& body, const ShapeSdf& sdf,
                                                    const GeometryGradient& partial,
                                                    const ContactPointLines* lines) {
  std::vector<PrimitiveGradient> total = partial.primitives;
  const PointsOfPrimitive points(body);
  if (points.valid) {
    add_points_of_primitive(body, points, partial, total.front());
  } else if (const auto of_polygon = PaddedPolygonPoints::of(body)) {
    of_polygon->vjp(body.shape.primitives.front(), partial.contact_points, total.front());
  } else if (points_follow_zero_set(body)) {
    for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
      const Vec3<double> v = body.contact_points.col(i), v_bar = partial.contact_points.col(i);
      if (v_bar.isZero(0.0)) continue;
      const int p =
          lines == nullptr ? nearest_primitive(sdf, v) : lines->primitive[static_cast<std::size_t>(i)];
      const Vec3<double> gradient = sdf.evaluate<double>(v).gradient,
                         u = lines == nullptr ? line_direction(body, p, v, gradient)
                                              : line_of(body, *lines, i);
      const double phi_bar =
          add_carried_point(body, gradient, v, static_cast<std::size_t>(p), u, v_bar, total);
      sdf.parameter_vjp(v, phi_bar, Vec3<double>::Zero(), total);
    }
  }
  return total;
}

TotalShapeGradient::TotalShapeGradient(const Body& body, const ShapeSdf& sdf, const ContactPointLines& lines)
    : body_(body), sdf_(sdf), lines_(lines) {
  if (!keep_their_place(body) && points_follow_zero_set(body))
    shares_.resize(static_cast<std::size_t>(body.contact_points.cols()));
}

std::vector<TotalShapeGradient::Share> TotalShapeGradient::shares_of(Eigen::Index point) const {
  const Vec3<double> v = body_.contact_points.col(point), gradient = sdf_.evaluate<double>(v).gradient;
  const auto carrier = static_cast<std::size_t>(lines_.primitive[static_cast<std::size_t>(point)]);
  const std::vector<PrimitiveGradient> none(body_.shape.primitives.size());
  std::vector<PrimitiveGradient> distance_by_shape = none;
  sdf_.parameter_vjp(v, 1.0, Vec3<double>::Zero(), distance_by_shape);
  std::vector<Share> shares;
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<PrimitiveGradient> of_axis = none;
    const double phi_bar = add_carried_point(body_, gradient, v, carrier, line_of(body_, lines_, point),
                                             Vec3<double>::Unit(axis), of_axis);
    for (std::size_t p = 0; p < of_axis.size(); ++p) {
      add_scaled(distance_by_shape[p], phi_bar, of_axis[p]);
      if (!is_zero(of_axis[p])) shares.push_back({axis, p, std::move(of_axis[p])});
    }
  }
  return shares;
}

std::vector<PrimitiveGradient> TotalShapeGradient::operator()(const GeometryGradient& partial) {
  if (shares_.empty()) return total_shape_gradient(body_, sdf_, partial, &lines_);
  std::vector<PrimitiveGradient> total = partial.primitives;
  for (Eigen::Index i = 0; i < body_.contact_points.cols(); ++i) {
    if (partial.contact_points.col(i).isZero(0.0)) continue;
    std::optional<std::vector<Share>>& shares = shares_[static_cast<std::size_t>(i)];
    if (!shares) shares = shares_of(i);
    for (const Share& share : *shares)
      add_scaled(share.gradient, partial.contact_points(share.axis, i), total[share.primitive]);
  }
  return total;
}

}  // namespace abut
