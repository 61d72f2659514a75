/// Surfaces given by points with normals: the mean of the planes of the points, weighted by a radial basis.
///
///   phi = sum_i w_i delta_i,   delta_i = n_i.(x - p_i),   w_i = B_i/sum_j B_j,
///   B_i = exp(-q_i^2/2),   q_i^2 = (|x - p_i|^2 - 3/4 delta_i^2)/h^2:
///   width h along the surface, 2 h across.
///
/// The B_i are taken relative to the largest of them, so that sums are of size 1 however far x is: beyond the
/// reach of all points phi is the distance from the plane of the nearest (by q), blended smoothly from one to
/// the next. Points with a weight below exp(-40) (exp(-18) in float) of the largest are left out: on the
/// surface that is everything farther than 8.9 h (6 h), and changes phi by less than N exp(-40) times the
/// spread of the delta_i, so phi is smooth to rounding. They are found by a tree of bounding balls and cones
/// of normals.
///
/// What planes say far away need not be true, and a surface with a hole encloses nothing. Hence the distance
/// from the box of the points less 4 h, a lower bound of the distance to a surface that stays within 4 h of
/// that box, is put in by a smooth maximum, whose width h/10 leaves phi untouched near such a surface. The
/// solid is bounded by that, and its distance is never below that from its bounds.
///
/// The planes of neighbours pass below a convex surface, so phi is lower than the distance by about h^2 times
/// the mean curvature. Features below 2 h are lost, and the two sides of a sheet thinner than some 4 h melt
/// into each other.
/// @see  the contact manifold paper, eq. (6), which leaves the basis open.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "collision/sdf/exact_primitives.h"
#include "collision/sdf/potential.h"
#include "collision/sdf/sdf_sample.h"
#include "engine/model.h"
#include "engine/pose.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

inline constexpr double k_cloud_margin = 4.0;     ///< of the box around the points, by h
inline constexpr double k_cloud_box_width = 0.1;  ///< width of the smooth maximum, by h
inline constexpr std::size_t k_cloud_leaf_size = 8;

template <typename T>
class OrientedPointCloud {
 public:
  struct Sample {
    Vec3<T> point;   ///< in B, relative to the origin of P [m]
    Vec3<T> normal;  ///< in B
    std::size_t index;
  };
  T width;         ///< h [m]
  Vec3<T> centre;  ///< p_BP [m]
  Mat3<T> R_BP;
  Vec3<T> box_centre_P;  ///< [m]
  std::array<std::array<std::size_t, 2>, 3>
      extreme;        ///< [axis of P][lower, upper]: which point makes the box
  RoundedBox<T> box;  ///< of the points, and 4 h more

  OrientedPointCloud(const Primitive& primitive, const std::array<T, 5>& parameters)
      : width(parameters[0]),
        centre(primitive.X_BP.p.template cast<T>()),
        R_BP(primitive.X_BP.rotation().template cast<T>()),
        box(make_box(primitive)) {
    const std::size_t count = primitive.values.size() / 3;
    const Mat3<double> R = primitive.X_BP.rotation();
    std::vector<Draft> drafts(count);
    for (std::size_t i = 0; i < count; ++i) {
      drafts[i] = {R * point_of(primitive, i), R * primitive.directions.col(static_cast<Eigen::Index>(i)), i};
    }
    add_node(drafts);
  }

  /// Calls use(sample) for all samples of leaves that have lanes in which q^2 h^2 may be at most `limit`,
  /// which may fall meanwhile. `r` is relative to the centre.
  template <typename V, typename Use>
  void visit(const Vec3<V>& r, const V& limit, const Use& use) const {
    for (std::size_t i = 0; i < nodes_.size();) {
      const Node& node = nodes_[i];
      if (all(lower_bound(node, r) > limit)) {
        i = node.next;
        continue;
      }
      for (std::size_t s = node.begin; s < node.end; ++s) use(samples_[s]);
      ++i;
    }
  }

 private:
  struct Node {
    Vec3<T> centre;                  ///< of a ball around the points [m]
    T radius;                        ///< [m]
    Vec3<T> axis;                    ///< of a cone around the normals
    T cosine, sine;                  ///< of its half angle
    std::size_t begin = 0, end = 0;  ///< samples of a leaf
    std::size_t next = 0;            ///< the first node after this one's subtree
  };
  struct Draft {
    Vec3<double> point, normal;
    std::size_t index;
  };

  static Vec3<double> point_of(const Primitive& primitive, std::size_t i) {
    return {primitive.values[3 * i], primitive.values[3 * i + 1], primitive.values[3 * i + 2]};
  }

  RoundedBox<T> make_box(const Primitive& primitive) {
    std::array<T, 5> half{};
    Vec3<double> middle;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      extreme[axis] = {0, 0};
      const auto coordinate = [&](std::size_t i) { return primitive.values[3 * i + axis]; };
      for (std::size_t i = 0; i < primitive.values.size() / 3; ++i) {
        if (coordinate(i) < coordinate(extreme[axis][0])) extreme[axis][0] = i;
        if (coordinate(i) > coordinate(extreme[axis][1])) extreme[axis][1] = i;
      }
      const double lower = coordinate(extreme[axis][0]), upper = coordinate(extreme[axis][1]);
      middle[static_cast<Eigen::Index>(axis)] = 0.5 * (lower + upper);
      half[axis] = T(0.5 * (upper - lower)) + T(k_cloud_margin) * width;
    }
    half[3] = T(k_cloud_margin) * width;
    box_centre_P = middle.template cast<T>();
    constexpr double k_no_seam = 0.0;  // its normal is the gradient of its distance
    return RoundedBox<T>(half, {primitive.X_BP.q, primitive.X_BP * middle}, k_no_seam);
  }

  /// Splits at the median of the longest side until leaves are small; nodes are in depth-first order.
  void add_node(std::span<Draft> drafts) {
    Vec3<double> lower = drafts[0].point, upper = lower, axis = Vec3<double>::Zero();
    for (const Draft& draft : drafts) {
      lower = lower.cwiseMin(draft.point);
      upper = upper.cwiseMax(draft.point);
      axis += draft.normal;
    }
    const Vec3<double> middle = 0.5 * (lower + upper);
    axis = axis.squaredNorm() > 1e-12 ? Vec3<double>(axis.normalized()) : Vec3<double>::UnitX();
    double radius = 0.0, cosine = 1.0;
    for (const Draft& draft : drafts) {
      radius = std::max(radius, (draft.point - middle).norm());
      cosine = std::min(cosine, axis.dot(draft.normal));
    }
    cosine = std::max(cosine - 1e-6, 0.0);  // of a right angle or more: all directions
    const std::size_t index = nodes_.size();
    nodes_.push_back({middle.template cast<T>(), T(radius * (1.0 + 1e-6)), axis.template cast<T>(), T(cosine),
                      T(std::sqrt(1.0 - cosine * cosine))});
    if (drafts.size() <= k_cloud_leaf_size) {
      nodes_[index].begin = samples_.size();
      for (const Draft& draft : drafts) {
        samples_.push_back({draft.point.template cast<T>(), draft.normal.template cast<T>(), draft.index});
      }
      nodes_[index].end = samples_.size();
    } else {
      Eigen::Index side = 0;
      (upper - lower).maxCoeff(&side);
      const std::size_t half = drafts.size() / 2;
      std::nth_element(drafts.begin(), drafts.begin() + static_cast<std::ptrdiff_t>(half), drafts.end(),
                       [side](const Draft& a, const Draft& b) {
                         return a.point[side] != b.point[side] ? a.point[side] < b.point[side]
                                                               : a.index < b.index;
                       });
      add_node(drafts.first(half));
      add_node(drafts.subspan(half));
    }
    nodes_[index].next = nodes_.size();
  }

  /// q^2 h^2 of every sample of the node is at least this. With the ball's centre at r from x, |x - p| is at
  /// least |r| - radius, and |delta| at most radius more than the largest |n.r| of the cone of normals.
  template <typename V>
  [[nodiscard]] ABUT_KERNEL_PART V lower_bound(const Node& node, const Vec3<V>& x) const {
    using std::abs, std::sqrt;
    const Vec3<V> r = relative(x, node.centre);
    const V squared = r[0] * r[0] + r[1] * r[1] + r[2] * r[2], length = sqrt(squared),
            radius = V(node.radius);
    const V along = abs(V(node.axis[0]) * r[0] + V(node.axis[1]) * r[1] + V(node.axis[2]) * r[2]);
    const V rest = squared - along * along, across = sqrt(select(rest > V(0), rest, V(0)));
    const auto is_in_cone = across * V(node.cosine) < along * V(node.sine);
    const V delta = select(is_in_cone, length, along * V(node.cosine) + across * V(node.sine)) + radius;
    const V beyond = length - radius, distance = select(beyond > V(0), beyond, V(0));
    const V by_cone = distance * distance - V(0.75) * delta * delta, by_ball = V(0.25) * distance * distance;
    const V rounding = V(64 * std::numeric_limits<T>::epsilon()) * (squared + radius * radius);
    return select(by_cone > by_ball, by_cone, by_ball) - rounding;
  }

  std::vector<Node> nodes_;
  std::vector<Sample> samples_;
};

/// One point as x sees it.
template <typename S>
struct CloudTerm {
  S delta;        ///< [m]
  S q_squared;    ///< q^2 h^2 [m^2]
  Vec3<S> slope;  ///< h^2 grad log B = -(x - p) + 3/4 delta n [m]
};

template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART CloudTerm<S> cloud_term(const typename OrientedPointCloud<T>::Sample& sample,
                                                       const Vec3<S>& x) {
  const Vec3<S> r = relative(x, sample.point);
  const Vec3<T>& n = sample.normal;
  CloudTerm<S> term;
  term.delta = S(n[0]) * r[0] + S(n[1]) * r[1] + S(n[2]) * r[2];
  term.q_squared = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] - S(0.75) * term.delta * term.delta;
  for (int a = 0; a < 3; ++a) term.slope[a] = S(0.75) * term.delta * S(n[a]) - r[a];
  return term;
}

/// The mean of the planes, before the box comes in.
template <typename S>
struct CloudMean {
  using V = decltype(plain_value(std::declval<S>()));
  Vec3<S> r;           ///< x relative to the origin of P [m]
  V least;             ///< q^2 h^2 of the nearest [m^2]
  V limit;             ///< of the farthest that count
  S inverse_weight;    ///< 1/sum of exp((least - q^2 h^2)/(2 h^2))
  S value;             ///< phi [m]
  Vec3<S> mean_slope;  ///< [m]
};

/// Calls use(sample, term, w) with the weight of every sample that has one, the weights adding up to 1 times
/// 1/inverse_weight.
template <typename S, typename T, typename Use>
void for_each_sample(const OrientedPointCloud<T>& cloud, const CloudMean<S>& mean, const Use& use) {
  using std::exp;
  using V = typename CloudMean<S>::V;
  const Vec3<V> r(plain_value(mean.r[0]), plain_value(mean.r[1]), plain_value(mean.r[2]));
  const S scale = S(T(0.5) / (cloud.width * cloud.width));
  cloud.visit(r, mean.limit, [&](const auto& sample) {
    const CloudTerm<S> term = cloud_term<S, T>(sample, mean.r);
    const auto is_negligible = plain_value(term.q_squared) > mean.limit;
    if (all(is_negligible)) return;
    const S w = select(is_negligible, S(0), S(exp((S(mean.least) - term.q_squared) * scale)));
    use(sample, term, w);
  });
}

template <typename S, typename T>
[[nodiscard]] CloudMean<S> cloud_mean(const OrientedPointCloud<T>& cloud, const Vec3<S>& x_B) {
  using V = typename CloudMean<S>::V;
  CloudMean<S> mean;
  mean.r = relative(x_B, cloud.centre);
  const Vec3<V> r(plain_value(mean.r[0]), plain_value(mean.r[1]), plain_value(mean.r[2]));
  mean.least = V(std::numeric_limits<T>::max());
  cloud.visit(r, mean.least, [&](const auto& sample) {
    const V q_squared = cloud_term<V, T>(sample, r).q_squared;
    mean.least = select(q_squared < mean.least, q_squared, mean.least);
  });
  mean.limit = mean.least + V(T(2.0 * k_negligible<T>) * cloud.width * cloud.width);
  S weight = S(0), sum = S(0);
  mean.mean_slope = Vec3<S>(S(0), S(0), S(0));
  for_each_sample(cloud, mean, [&](const auto&, const CloudTerm<S>& term, const S& w) {
    weight = weight + w;
    sum = sum + w * term.delta;
    for (int a = 0; a < 3; ++a) mean.mean_slope[a] = mean.mean_slope[a] + w * term.slope[a];
  });
  mean.inverse_weight = S(1) / weight;
  mean.value = sum * mean.inverse_weight;
  for (int a = 0; a < 3; ++a) mean.mean_slope[a] = mean.mean_slope[a] * mean.inverse_weight;
  return mean;
}

/// phi with, c_i = grad log B_i less its mean,
///   grad phi = sum w_i (n_i + (delta_i - phi) c_i)
///   Hessian  = sum w_i (c_i n_i^T + n_i c_i^T + (delta_i - phi)(c_i c_i^T + 3/4 n_i n_i^T/h^2)).
template <SdfOrder order, typename S, typename T>
[[nodiscard]] Potential<S> mean_of_planes(const OrientedPointCloud<T>& cloud, const CloudMean<S>& mean) {
  Potential<S> phi;
  phi.value = mean.value;
  if constexpr (order >= SdfOrder::normal) {
    const S inverse_square = S(T(1) / (cloud.width * cloud.width)), curvature = S(0.75) * inverse_square;
    phi.gradient = Vec3<S>(S(0), S(0), S(0));
    if constexpr (order >= SdfOrder::jacobian) phi.hessian.setConstant(S(0));
    for_each_sample(cloud, mean, [&](const auto& sample, const CloudTerm<S>& term, const S& weight) {
      const S w = weight * mean.inverse_weight, off = term.delta - mean.value;
      Vec3<S> n, c;
      for (int a = 0; a < 3; ++a) {
        n[a] = S(sample.normal[a]);
        c[a] = (term.slope[a] - mean.mean_slope[a]) * inverse_square;
        phi.gradient[a] = phi.gradient[a] + w * (n[a] + off * c[a]);
      }
      if constexpr (order >= SdfOrder::jacobian) {
        for (int a = 0; a < 3; ++a) {
          for (int b = 0; b <= a; ++b) {
            phi.hessian(a, b) = phi.hessian(a, b) + w * (c[a] * n[b] + n[a] * c[b] +
                                                         off * (c[a] * c[b] + curvature * n[a] * n[b]));
          }
        }
      }
    });
    if constexpr (order >= SdfOrder::jacobian) {
      for (int a = 0; a < 3; ++a) {
        for (int b = a + 1; b < 3; ++b) phi.hessian(a, b) = phi.hessian(b, a);
      }
    }
  }
  return phi;
}

/// phi and the distance from the box under a smooth maximum, width h/10.
template <SdfOrder order, typename S, typename T>
[[nodiscard]] Potential<S> potential(const OrientedPointCloud<T>& cloud, const Vec3<S>& x_B) {
  using std::exp, std::log;
  Potential<S> phi = mean_of_planes<order, S>(cloud, cloud_mean(cloud, x_B));
  const T tau = T(k_cloud_box_width) * cloud.width;
  const auto box = exact_sample<order, S>(cloud.box, x_B);
  const auto excess = plain_value(box.distance) - plain_value(phi.value);
  const auto is_inactive = excess < decltype(excess)(-T(k_negligible<T>) * tau);
  if (all(is_inactive)) return phi;
  const S gap = box.distance - phi.value;
  const auto is_box = gap > S(0);
  const S fade = select(is_inactive, S(0), S(exp(select(is_box, -gap, gap) / S(tau))));
  const S total = S(1) + fade, larger = S(1) / total, smaller = fade * larger;
  const S w = select(is_box, larger, smaller), rest = select(is_box, smaller, larger);
  phi.value = select(is_box, box.distance, phi.value) + S(tau) * log(total);
  if constexpr (order >= SdfOrder::jacobian) {
    const S spread = w * rest / S(tau);
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        phi.hessian(a, b) = rest * phi.hessian(a, b) + w * box.normal_jacobian(a, b) +
                            spread * (box.normal[a] - phi.gradient[a]) * (box.normal[b] - phi.gradient[b]);
      }
    }
  }
  if constexpr (order >= SdfOrder::normal) {
    for (int a = 0; a < 3; ++a) phi.gradient[a] = rest * phi.gradient[a] + w * box.normal[a];
  }
  return phi;
}

/// Calls use(i, d phi/d(parameter i)), possibly more than once: 0 is h, 1 + 3 k + axis a coordinate of point
/// k.
///   by a point   -w_i (n_i + (delta_i - phi) grad log B_i)
///   by h         sum w_i (delta_i - phi) q_i^2/h
/// and, through the box and the smooth maximum, by the points that make the box and by h.
template <typename S, typename Use>
void for_each_parameter_derivative(const OrientedPointCloud<double>& cloud, const Vec3<S>& x_B,
                                   const Use& use) {
  using std::exp, std::log;
  const CloudMean<S> mean = cloud_mean(cloud, x_B);
  const SdfSample<S> box = exact_sample<SdfOrder::gradient, S>(cloud.box, x_B);
  const double tau = k_cloud_box_width * cloud.width;
  S w_box = S(0), w_mean = S(1), entropy = S(0);
  if (plain_value(box.distance) - plain_value(mean.value) > -k_negligible<double> * tau) {
    const S gap = (box.distance - mean.value) / S(tau);
    const auto is_box = gap > S(0);
    const S magnitude = select(is_box, gap, -gap), fade = exp(-magnitude), total = S(1) + fade;
    w_box = select(is_box, S(1), fade) / total;
    w_mean = select(is_box, fade, S(1)) / total;
    entropy = log(total) + magnitude * fade / total;
  }
  const double inverse_square = 1.0 / (cloud.width * cloud.width);
  S by_width = S(k_cloud_box_width) * entropy - S(k_cloud_margin) * w_box;
  for_each_sample(cloud, mean, [&](const auto& sample, const CloudTerm<S>& term, const S& weight) {
    const S w = w_mean * weight * mean.inverse_weight, off = term.delta - mean.value;
    by_width = by_width + w * off * (term.q_squared - S(mean.least)) * S(inverse_square / cloud.width);
    Vec3<S> by_point;
    for (int a = 0; a < 3; ++a) {
      by_point[a] = -w * (S(sample.normal[a]) + off * term.slope[a] * S(inverse_square));
    }
    by_point = transform_transposed<S>(cloud.R_BP, by_point);
    for (std::size_t a = 0; a < 3; ++a) {
      use(1 + 3 * sample.index + a, by_point[static_cast<Eigen::Index>(a)]);
    }
  });
  use(std::size_t{0}, by_width);
  if (!(plain_value(w_box) > 0.0)) return;
  const Vec3<S> x_P = transform_transposed<S>(cloud.R_BP, relative(x_B, cloud.centre));
  const Vec3<S> slope = transform_transposed<S>(cloud.R_BP, box.gradient);
  for (std::size_t a = 0; a < 3; ++a) {
    const auto axis = static_cast<Eigen::Index>(a);
    const bool is_upper = plain_value(x_P[axis]) > cloud.box_centre_P[axis];
    use(1 + 3 * cloud.extreme[a][is_upper ? 1 : 0] + a, S(-w_box * slope[axis]));
  }
}

/// From below by the box; from above by the distance to whatever point is farthest.
template <typename S, typename T>
[[nodiscard]] DistanceBounds<S> distance_bounds(const OrientedPointCloud<T>& cloud, const Vec3<S>& x_B) {
  using std::sqrt;
  const S lower = exact_sample<SdfOrder::distance, S>(cloud.box, x_B).distance;
  const Vec3<S> r = relative(x_B, cloud.box.centre);
  const S reach = S(cloud.box.core.norm());
  const S farthest = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) + reach;
  return {lower, farthest + S(T(k_cloud_box_width) * cloud.width)};
}

}  // namespace abut
