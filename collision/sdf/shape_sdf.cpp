#include "collision/sdf/shape_sdf.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <spdlog/fmt/fmt.h>

#include "collision/sdf/cutter_ends.h"
#include "collision/sdf/padded_polygon_vjp.h"
#include "collision/sdf/parameter_vjp.h"
#include "engine/check.h"
#include "engine/convex_hull.h"
#include "engine/dual.h"
#include "engine/pose.h"
#include "engine/primitive_check.h"
#include "engine/smooth.h"

namespace abut {
namespace {

template <typename T>
std::array<T, 5> parameters_as(const Primitive& primitive) {
  std::array<T, 5> parameters;
  for (std::size_t i = 0; i < 5; ++i) parameters[i] = T(primitive.parameters[i]);
  return parameters;
}

/// Throws std::invalid_argument where the function of a primitive would not be one.
void require_solid(const Primitive& primitive, std::size_t index) {
  const auto& p = primitive.parameters;
  bool is_valid = primitive.values.empty();
  switch (primitive.kind) {
    case PrimitiveKind::superquadric:
      is_valid &=
          p[0] > 0.0 && p[1] > 0.0 && p[2] > 0.0 && p[3] > 0.0 && p[3] <= 2.0 && p[4] > 0.0 && p[4] <= 2.0;
      break;
    case PrimitiveKind::half_space:
      break;
    case PrimitiveKind::sphere:
      is_valid &= p[0] > 0.0;
      break;
    case PrimitiveKind::capsule:
      is_valid &= p[0] > 0.0 && p[1] >= 0.0;
      break;
    case PrimitiveKind::rounded_box:
      is_valid &= p[3] >= 0.0 && p[3] < p[0] && p[3] < p[1] && p[3] < p[2];
      break;
    case PrimitiveKind::cone:
      is_valid &= p[0] >= 0.0 && p[1] >= 0.0 && std::max(p[0], p[1]) > 0.0 && p[2] > 0.0 && p[3] > 0.0;
      break;
    case PrimitiveKind::torus:
      is_valid &= p[1] > 0.0 && p[1] < p[0];
      break;
    case PrimitiveKind::convex_polyhedron:
    case PrimitiveKind::oriented_point_cloud:
    case PrimitiveKind::extruded_superquadric:
    case PrimitiveKind::padded_polygon:
      require_valid(primitive, fmt::format("primitive {}", index));
      return;
  }
  if (is_valid) return;
  throw std::invalid_argument(fmt::format("primitive {}: no solid has the parameters {}, {}, {}, {}, {}",
                                          index, p[0], p[1], p[2], p[3], p[4]));
}

/// (u^(1/e) + v^(1/e))^e, e in [0, 1], of u, v >= 0; max(u, v) for e = 0.
double norm_of_squares(double u, double v, double e) {
  const double larger = std::max(u, v), smaller = std::min(u, v);
  if (larger == 0.0 || e <= 0.0) return larger;
  return larger * std::pow(1.0 + std::pow(smaller / larger, 1.0 / e), e);
}

/// The largest x.m over a superquadric: the norm dual to F.
double support(const Primitive& sq, const Vec3<double>& m_P) {
  const auto& [a, b, c, eps1, eps2] = sq.parameters;
  const double x = a * m_P.x(), y = b * m_P.y(), z = c * m_P.z();
  return std::sqrt(norm_of_squares(norm_of_squares(x * x, y * y, 2.0 - eps2), z * z, 2.0 - eps1));
}

/// Radius of the largest ball about the centre inside, of the smallest around. The rounding of ridges shrinks
/// the solid by less than 1.5 delta^2 < 0.4 %.
struct Radii {
  double inner, outer;
};

Radii radii(const Primitive& sq) {
  const auto& [a, b, c, eps1, eps2] = sq.parameters;
  const double outer = norm_of_squares(norm_of_squares(a * a, b * b, std::max(0.0, 1.0 - eps2)), c * c,
                                       std::max(0.0, 1.0 - eps1));
  const double inner =
      norm_of_squares(norm_of_squares(1.0 / (a * a), 1.0 / (b * b), std::max(0.0, eps2 - 1.0)), 1.0 / (c * c),
                      std::max(0.0, eps1 - 1.0));
  return {0.996 / std::sqrt(inner), std::sqrt(outer)};
}

/// Where a primitive is, and how far its distance may be from metric: d >= (distance from the box)/ratio.
struct Extent {
  Eigen::AlignedBox3d box;  // in B
  double ratio = 1.0;
};

/// With M the largest plane distance: M >= |p| D in front of a corner, D being the distance to it and p the
/// shortest vector in the convex hull of the normals n_i that meet there, and |p| >= min_i n_i.u for any unit
/// u. Everywhere M >= D r/R with balls of radius r inside and R around.
Extent polyhedron_extent(const Primitive& polyhedron) {
  Extent extent;
  const Points vertices = polyhedron_vertices(polyhedron.directions, polyhedron.values);
  const double largest = vertices.colwise().norm().maxCoeff();
  const double ratio_of_balls =
      largest / *std::min_element(polyhedron.values.begin(), polyhedron.values.end());
  for (Eigen::Index v = 0; v < vertices.cols(); ++v) {
    const Vec3<double> vertex = vertices.col(v);
    extent.box.extend(polyhedron.X_BP * vertex);
    std::vector<Vec3<double>> normals;
    Vec3<double> u = Vec3<double>::Zero();
    for (std::size_t i = 0; i < polyhedron.values.size(); ++i) {
      const Vec3<double> n = polyhedron.directions.col(static_cast<Eigen::Index>(i));
      if (n.dot(vertex) < polyhedron.values[i] - 1e-6 * largest) continue;
      normals.push_back(n);
      u += n;
    }
    double shortest = 0.0;
    for (int iteration = 1; iteration <= 20; ++iteration) {  // towards the normal that is farthest off
      const Vec3<double> direction = u.normalized();
      const auto worst = std::min_element(
          normals.begin(), normals.end(),
          [&](const Vec3<double>& a, const Vec3<double>& b) { return a.dot(direction) < b.dot(direction); });
      shortest = std::max(shortest, worst->dot(direction));
      u = direction + *worst / (1.0 + iteration);
    }
    extent.ratio = std::max(extent.ratio, shortest > 0.0 ? 1.0 / shortest : ratio_of_balls);
  }
  extent.ratio = std::min(extent.ratio, ratio_of_balls);
  return extent;
}

/// Of a cloud the box that its distance is never below, which is larger by 4 h.
Extent extent_of(const Primitive& primitive, double tau, DistanceMode mode) {
  const auto& p = primitive.parameters;
  const Mat3<double> R_BP = primitive.X_BP.rotation();
  Extent extent;
  if (primitive.kind == PrimitiveKind::convex_polyhedron) return polyhedron_extent(primitive);
  if (primitive.kind == PrimitiveKind::oriented_point_cloud) {
    const RoundedBox<double> box = OrientedPointCloud<double>(primitive, p).box;
    const Vec3<double> half = R_BP.cwiseAbs() * box.core + Vec3<double>::Constant(box.radius);
    extent.box = Eigen::AlignedBox3d(box.centre - half, box.centre + half);
    return extent;
  }
  if (primitive.kind == PrimitiveKind::padded_polygon) {
    for (const Vec2<double>& corner : polygon_corners(primitive))
      extent.box.extend(primitive.X_BP * Vec3<double>(corner.x(), corner.y(), 0.0));
    extent.box.min().array() -= p[0];
    extent.box.max().array() += p[0];
    return extent;
  }
  Vec3<double> half;
  for (int i = 0; i < 3; ++i) {
    const Vec3<double> m_P = R_BP.row(i).transpose();
    switch (primitive.kind) {
      case PrimitiveKind::superquadric:
      case PrimitiveKind::extruded_superquadric:
        half[i] = support(primitive, m_P);
        break;
      case PrimitiveKind::sphere:
        half[i] = p[0];
        break;
      case PrimitiveKind::capsule:
        half[i] = p[0] + p[1] * std::abs(m_P.z());
        break;
      case PrimitiveKind::rounded_box:
        half[i] = p[3] + (Vec3<double>(p[0], p[1], p[2]).array() - p[3]).matrix().dot(m_P.cwiseAbs());
        break;
      case PrimitiveKind::cone:
        half[i] = std::max(p[0], p[1]) * std::hypot(m_P.x(), m_P.y()) + p[2] * std::abs(m_P.z());
        break;
      case PrimitiveKind::torus:
        half[i] = p[0] * std::hypot(m_P.x(), m_P.y()) + p[1];
        break;
      default:
        half[i] = std::numeric_limits<double>::infinity();
    }
  }
  extent.box = Eigen::AlignedBox3d(primitive.X_BP.p - half, primitive.X_BP.p + half);
  if (primitive.kind == PrimitiveKind::superquadric && mode != DistanceMode::radial) {
    const Radii r = radii(primitive);
    extent.ratio = r.outer / r.inner;
  }
  if (primitive.kind == PrimitiveKind::torus) {  // on its axis, distances are lower by 3/8 of the rounding
    extent.ratio = 1.0 / (1.0 - 0.375 * Torus<double>::k_hole);
  }
  if (primitive.kind == PrimitiveKind::cone) {
    // Before the sharper of its two edges: |p| of polyhedron_extent() is the cosine of half the angle between
    // the normals of side and end.
    extent.ratio = std::sqrt(2.0 / (1.0 - std::abs(TruncatedCone<double>(p, primitive.X_BP).side_along)));
  }
  if (primitive.kind == PrimitiveKind::extruded_superquadric) {
    extent.ratio = radii(primitive).outer / ExtrudedSuperquadric<double>(primitive, p, tau).steepest;
  }
  return extent;
}

/// The extensions of a cutter beyond the added primitives, by the size of the body rounded up to a power of two:
/// small changes of parameters leave them as they are.
EndExtensions extensions_of(const Primitive& cutter, std::span<const Obstacle> obstacles, double tau) {
  constexpr double k_margin = 8.0;  // smoothings: exp(-8) of them is what the surface may move by
  Eigen::AlignedBox3d all = extent_of(cutter, tau, DistanceMode::taubin).box;
  double rounding = tau;
  if (cutter.kind == PrimitiveKind::cone) rounding = std::max(rounding, cutter.parameters[3]);
  for (const Obstacle& obstacle : obstacles)
    if (obstacle.box.sizes().allFinite()) all.extend(obstacle.box);
  const double size = all.sizes().norm();
  if (!std::isfinite(size)) return {};
  return open_ends(cutter, obstacles, std::exp2(std::ceil(std::log2(size))), k_margin * rounding);
}

/// Of the other two ways from a gauge to a distance, forwards.
void superquadric_parameter_vjp(const Primitive& primitive, const Shape& shape, const SampleBar<double>& at,
                                std::array<double, 5>& bar) {
  using D = Dual<double, 5>;
  std::array<D, 5> parameters;
  for (std::size_t k = 0; k < 5; ++k)
    parameters[k] = D::variable(primitive.parameters[k], static_cast<int>(k));
  const auto sample = superquadric_sample<SdfOrder::normal, D>(
      Superquadric<D>(parameters, primitive.X_BP, shape.union_smoothing), shape.distance_mode,
      at.x.cast<D>());
  for (std::size_t k = 0; k < 5; ++k) {
    bar[k] += at.distance_bar * sample.distance.d[k];
    for (int i = 0; i < 3; ++i) bar[k] += at.normal_bar[i] * sample.normal[i].d[k];
  }
}

/// dL/dm of scale_normal().
Vec3<double> scale_normal_vjp(const Vec3<double>& m, const Vec3<double>& normal_bar) {
  const double square = m.squaredNorm() + k_normal_fade * k_normal_fade;
  const double scale = std::sqrt((1.0 + k_normal_fade * k_normal_fade) / square);
  return scale * (normal_bar - m * (m.dot(normal_bar) / square));
}

/// The VJP of smooth_difference(): d = smooth max(a, -b), m = w m_a - (1 - w) m_b,
/// dw = w (1 - w) (da + db)/tau. Adds to those of a and b.
void smooth_difference_vjp(const SdfNormal<double>& a, const SdfNormal<double>& b, double tau,
                           const SdfNormal<double>& bar, SdfNormal<double> (&bars)[2]) {
  const double w = sigmoid((a.distance + b.distance) / tau);
  const double by_weight = bar.normal.dot(a.normal + b.normal) * w * (1.0 - w) / tau;
  bars[0].distance += w * bar.distance + by_weight;
  bars[1].distance += by_weight - (1.0 - w) * bar.distance;
  bars[0].normal += w * bar.normal;
  bars[1].normal -= (1.0 - w) * bar.normal;
}

}  // namespace

ShapeSdf::ShapeSdf(const Shape& shape) : shape_(shape) {
  if (!(shape.union_smoothing >= 0.0))
    throw std::invalid_argument(
        fmt::format("union_smoothing is {} m, but must be >= 0", shape.union_smoothing));
  for (std::size_t i = 0; i < shape.primitives.size(); ++i) require_solid(shape.primitives[i], i);
  for (const PrimitiveOperation operation : {PrimitiveOperation::add, PrimitiveOperation::subtract}) {
    for (std::size_t i = 0; i < shape.primitives.size(); ++i) {
      if (shape.primitives[i].operation == operation) order_.push_back(static_cast<int>(i));
    }
    if (operation == PrimitiveOperation::add) added_ = static_cast<int>(order_.size());
  }
  std::vector<Obstacle> obstacles;
  for (const int i : order_) {
    const Primitive& primitive = shape.primitives[static_cast<std::size_t>(i)];
    const bool is_added = primitive.operation == PrimitiveOperation::add;
    extensions_.push_back(is_added ? EndExtensions{}
                                   : extensions_of(primitive, obstacles, shape.union_smoothing));
    const Primitive longer = lengthened(primitive, extensions_.back());
    prepared_double_.emplace_back(longer, parameters_as<double>(longer), shape.union_smoothing);
    prepared_float_.emplace_back(longer, parameters_as<float>(longer), shape.union_smoothing);
    const Extent extent = extent_of(longer, shape.union_smoothing, shape.distance_mode);
    boxes_.push_back(extent.box);
    if (is_added) {
      obstacles.push_back(
          {extent.box, extent.ratio, [this, k = prepared_double_.size() - 1](const Vec3<double>& x_B) {
             return primitive_sample<SdfOrder::distance, double>(prepared_double_[k], shape_.distance_mode,
                                                                 x_B)
                 .distance;
           }});
    }
    const double reach = primitive.values.empty() ? 0.0 : extent.box.sizes().norm();
    rounding_ = std::max(rounding_, 16.0 * (primitive.X_BP.p.norm() + primitive.parameters[0] +
                                            primitive.parameters[1] + primitive.parameters[2] + reach));
    if (primitive.operation == PrimitiveOperation::subtract) continue;
    bounds_.extend(extent.box);
    distance_ratio_ = std::max(distance_ratio_, extent.ratio);
  }
  has_vjp_by_lanes_ =
      added_ > 0 && added_ == static_cast<int>(order_.size()) &&
      std::all_of(shape.primitives.begin(), shape.primitives.end(), [&](const Primitive& primitive) {
        return primitive.values.empty() &&
               (primitive.kind != PrimitiveKind::superquadric || shape.distance_mode == DistanceMode::taubin);
      });
  constexpr PrimitiveKind k_convex[] = {PrimitiveKind::half_space,        PrimitiveKind::sphere,
                                        PrimitiveKind::capsule,           PrimitiveKind::rounded_box,
                                        PrimitiveKind::convex_polyhedron, PrimitiveKind::cone,
                                        PrimitiveKind::padded_polygon};
  is_convex_ =
      added_ == 1 && order_.size() == 1 &&
      std::find(std::begin(k_convex), std::end(k_convex), shape.primitives[0].kind) != std::end(k_convex);
  tau_ = shape.union_smoothing > 0.0 ? shape.union_smoothing : 1e-10 * std::max(rounding_, 1e-10);
  if (added_ > 0) {
    const double grown = distance_ratio_ * tau_ * std::log(static_cast<double>(added_));
    const auto sizes = bounds_.sizes().array();  // infinite where a half-space is
    const double rounding = 1e-12 * sizes.isFinite().select(sizes, 0.0).maxCoeff();
    bounds_.min().array() -= grown + rounding;
    bounds_.max().array() += grown + rounding;
  }
}

void ShapeSdf::parameter_vjp(const Vec3<double>& x_B, double distance_bar, const Vec3<double>& normal_bar,
                             std::span<PrimitiveGradient> bar) const {
  ABUT_ASSERT(bar.size() == prepared_double_.size());
  if (added_ == 0) return;
  const auto added = static_cast<std::size_t>(added_), count = prepared_double_.size();
  // Forward as in sample(): the unions (d_+, m_+), (d_-, m_-) and their difference (d, m).
  const SdfNormal<double> sum = union_sample<SdfOrder::normal, double>(x_B, 0, added);
  if (!has_rims()) {
    const Vec3<double> m_bar = count > 1 ? scale_normal_vjp(sum.normal, normal_bar) : normal_bar;
    union_vjp(x_B, 0, added, sum, {distance_bar, m_bar}, bar);
    return;
  }
  const SdfNormal<double> subtracted = union_sample<SdfOrder::normal, double>(x_B, added, count);
  const SdfNormal<double> m = smooth_difference<SdfOrder::normal, double>(sum, subtracted, tau_);
  SdfNormal<double> bars[2] = {{0.0, Vec3<double>::Zero()}, {0.0, Vec3<double>::Zero()}};
  smooth_difference_vjp(sum, subtracted, tau_, {distance_bar, scale_normal_vjp(m.normal, normal_bar)}, bars);
  union_vjp(x_B, 0, added, sum, bars[0], bar);
  union_vjp(x_B, added, count, subtracted, bars[1], bar);
}

void ShapeSdf::parameter_vjp_to_rims(const Vec3<double>& x_B, double distance_bar,
                                     const Vec3<double>& normal_bar, std::span<PrimitiveGradient> bar) const {
  if (!has_rims()) return parameter_vjp(x_B, distance_bar, normal_bar, bar);
  ABUT_ASSERT(bar.size() == prepared_double_.size());
  constexpr SdfOrder k_normal = SdfOrder::normal;
  const auto added = static_cast<std::size_t>(added_), count = prepared_double_.size();
  const SdfNormal<double> subtracted = union_sample<k_normal, double>(x_B, added, count);
  // Forward as in sample_to_rims(), where the sum of what is left of all is known last.
  const auto sample_of = [&](std::size_t i) {
    return primitive_sample<SdfOrder::jacobian, double>(prepared_double_[i], shape_.distance_mode, x_B);
  };
  const auto left_of = [&](const SdfNormal<double>& sample) {
    return difference_to_rims<k_normal, double>(sample, subtracted, tau_);
  };
  UnionSum<k_normal, double> union_sum(tau_);
  for (std::size_t i = 0; i < added; ++i) {
    const auto sample = sample_of(i);
    union_sum.add(left_of({sample.distance, sample.normal}));
  }
  const SdfNormal<double> sum = union_sum.result();
  const Vec3<double> m_bar = scale_normal_vjp(sum.normal, normal_bar);
  SdfNormal<double> subtracted_bar{0.0, Vec3<double>::Zero()};
  for (std::size_t i = 0; i < added; ++i) {
    const SdfSampleJacobian<double> sample = sample_of(i);
    const SdfNormal<double> own{sample.distance, sample.normal}, left = left_of(own);
    if (left.distance > sum.distance + k_negligible<double> * tau_) continue;
    const double w = std::exp((sum.distance - left.distance) / tau_);
    const SdfNormal<double> difference = smooth_difference<k_normal, double>(own, subtracted, tau_),
                            outside{-subtracted.distance, -subtracted.normal};
    const RimBar by =
        distance_to_rim_vjp(difference, own, outside, tau_,
                            w * (distance_bar - m_bar.dot(left.normal - sum.normal) / tau_), w * m_bar);
    SdfNormal<double> bars[2] = {{by.distance[0], by.normal[0]}, {-by.distance[1], -by.normal[1]}};
    smooth_difference_vjp(own, subtracted, tau_, {by.distance[2], by.normal[2]}, bars);
    primitive_vjp(x_B, i, sample, bars[0].distance, bars[0].normal, bar);
    subtracted_bar.distance += bars[1].distance;
    subtracted_bar.normal += bars[1].normal;
  }
  union_vjp(x_B, added, count, subtracted, subtracted_bar, bar);
}

void ShapeSdf::union_vjp(const Vec3<double>& x_B, std::size_t begin, std::size_t end,
                         const SdfNormal<double>& sum, const SdfNormal<double>& sum_bar,
                         std::span<PrimitiveGradient> bar) const {
  const bool alone = end - begin == 1;
  const double negligible = sum.distance + k_negligible<double> * tau_;
  for (std::size_t i = begin; i < end; ++i) {
    const PreparedPrimitive<double>& prepared = prepared_double_[i];
    if (!alone && primitive_bounds<double>(prepared, shape_.distance_mode, x_B).lower > negligible) continue;
    const auto sample = primitive_sample<SdfOrder::jacobian, double>(prepared, shape_.distance_mode, x_B);
    if (!alone && sample.distance > negligible) continue;
    const double w = alone ? 1.0 : std::exp((sum.distance - sample.distance) / tau_);
    const double spread = alone ? 0.0 : sum_bar.normal.dot(sample.normal - sum.normal) / tau_;
    primitive_vjp(x_B, i, sample, w * (sum_bar.distance - spread), w * sum_bar.normal, bar);
  }
}

void ShapeSdf::primitive_vjp(const Vec3<double>& x_B, std::size_t i, const SdfSampleJacobian<double>& sample,
                             double distance_bar, const Vec3<double>& normal_bar,
                             std::span<PrimitiveGradient> bar) const {
  const PreparedPrimitive<double>& prepared = prepared_double_[i];
  // Moving the primitive by (theta, t) moves the point in it by y = -t - theta x (x - p), and turns n.
  const std::size_t original = static_cast<std::size_t>(order_[i]);
  const Primitive& primitive = shape_.primitives[original];
  const Vec3<double> r = x_B - primitive.X_BP.p;
  const Vec3<double> y_bar = sample_vjp(sample, distance_bar, normal_bar);
  bar[original].pose += stack<double>(sample.normal.cross(normal_bar) - r.cross(y_bar), -y_bar);

  if (!primitive.values.empty()) {
    if (bar[original].values.empty()) bar[original].values.resize(primitive.values.size());
    const auto add = [&](std::size_t k, double by) {
      shape_parameter(bar[original], primitive.kind, k) += by;
    };
    if (const auto* polyhedron = std::get_if<ConvexPolyhedron<double>>(&prepared.solid)) {
      sample_parameter_vjp(*polyhedron, x_B, sample.gradient, distance_bar, normal_bar, add);
    } else if (const auto* cloud = std::get_if<OrientedPointCloud<double>>(&prepared.solid)) {
      sample_parameter_vjp(*cloud, x_B, sample.gradient, distance_bar, normal_bar, add);
    } else if (const auto* polygon = std::get_if<PaddedPolygonSolid<double>>(&prepared.solid)) {
      sample_parameter_vjp(*polygon, x_B, distance_bar, normal_bar, add);
    } else {  // d = (F - 1)/G and n = grad F/G, G = |grad F|
      const auto& solid = std::get<ExtrudedSuperquadric<double>>(prepared.solid);
      const auto g = gauge_point<double>(solid, x_B);
      const double inverse = g.F / g.F_gradient.norm();
      const Vec3<double>& n = sample.normal;
      const Vec3<double> by_gradient =
          (normal_bar - n * (n.dot(normal_bar) + distance_bar * sample.distance)) * inverse;
      potential_parameter_vjp(solid, x_B, distance_bar * inverse, by_gradient, add);
    }
    return;
  }
  const SampleBar<double> at{x_B, sample.distance, sample.normal, distance_bar, normal_bar, y_bar};
  std::array<double, 5> parameters_bar{};  // of the longer primitive
  std::visit(
      [&](const auto& solid) {
        using Solid = std::remove_cvref_t<decltype(solid)>;
        if constexpr (std::is_same_v<Solid, Superquadric<double>>) {
          if (shape_.distance_mode == DistanceMode::taubin) {
            abut::parameter_vjp(solid, at, parameters_bar);
          } else {
            superquadric_parameter_vjp(primitive, shape_, at, parameters_bar);
          }
        } else if constexpr (k_has_parameter_vjp<Solid>) {
          abut::parameter_vjp(solid, at, parameters_bar);
        }
      },
      prepared.solid);
  parameters_bar = lengthened_vjp(primitive, extensions_[i], parameters_bar);
  for (std::size_t k = 0; k < 5; ++k) bar[original].parameters[k] += parameters_bar[k];
}

ABUT_SDF_SAMPLES()
ABUT_SDF_SAMPLES_OF_LANES()

}  // namespace abut
