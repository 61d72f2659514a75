#include "collision/convex/growth_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "collision/convex/core_feature.h"
#include "collision/convex/minkowski_difference.h"
#include "engine/check.h"

namespace abut {
namespace {

/// The radius of a ball around a point that a core contains [m]; <= 0: the point does not lie inside.
double inner_radius(const ConvexPart<double>& part, const Vec3<double>& x) {
  const Vec3<double>& e = part.extents;
  switch (part.core) {
    case ConvexCore::box:
      return (e - x.cwiseAbs()).minCoeff();
    case ConvexCore::superquadric:  // contains the octahedron between the ends of its axes
      return 1.0 / e.cwiseInverse().norm();
    case ConvexCore::cone: {
      const double slope = (e[1] - e[0]) / (2.0 * e[2]);
      return std::min(e[2], 0.5 * (e[0] + e[1]) / std::sqrt(1.0 + slope * slope));
    }
    case ConvexCore::polyhedron: {
      const PolyhedronGraph<double>& graph = *part.polyhedron;
      double least = k_infinity;
      for (int f = 0; f < graph.face_count(); ++f) {
        const Vec3<double>& corner = graph.vertices[at(graph.corners[at(graph.first_corner[at(f)])])];
        least = std::min(least, graph.face_normals[at(f)].dot(corner - x));
      }
      return least;
    }
    case ConvexCore::point:
      return -x.norm();
    case ConvexCore::segment:
      return -std::hypot(x[0], x[1], std::max(0.0, std::abs(x[2]) - e[2]));
    case ConvexCore::half_space:
      break;
  }
  return -k_infinity;
}

GrowthCentre checked_centre(const ConvexPart<double>& part, const Vec3<double>& point_P) {
  require(part.core != ConvexCore::half_space, "a half-space has no bound and no centre to grow from");
  const GrowthCentre centre{point_P, inner_radius(part, point_P) + part.radius};
  require(centre.inner_radius > 0.0, "a convex part grows from a point in its interior only");
  return centre;
}

/// A point w = a - b of K; a and b from the centres, in the frame P of A's part [m].
struct GrowthColumn {
  Vec3<double> a, b, w;
};

/// The simplex method on the gauge of K at p, with a triangle of columns that the ray along p passes through.
class GaugeProgram {
 public:
  GaugeProgram(const ConvexPart<double>& A, const GrowthCentre& centre_A, const ConvexPart<double>& B,
               const GrowthCentre& centre_B, const Pose<double>& X_PQ)
      : difference_(A, B, X_PQ),
        c_A_(centre_A.point_P),
        c_B_(centre_B.point_P),
        p_(X_PQ * centre_B.point_P - centre_A.point_P) {
    // Points of a ball that K contains, on the axes around p.
    const double r_A = centre_A.inner_radius, r_B = centre_B.inner_radius;
    for (int i = 0; i < 3; ++i) {
      const Vec3<double> axis = std::copysign(1.0, p_[i]) * Vec3<double>::Unit(i);
      triangle_.columns[at(i)] = {r_A * axis, -r_B * axis, (r_A + r_B) * axis};
    }
    (void)triangle_.place(p_);
  }

  void run(const GrowthSettings& settings) {
    for (; iterations < settings.max_iterations; ++iterations) {
      const GrowthColumn next = support(triangle_.u);
      const double height = std::max(1.0, triangle_.u.dot(next.w));
      lower = std::max(lower, triangle_.alpha / height);
      if (height <= 1.0 + settings.tolerance || lower >= triangle_.alpha) return;
      const int leaving = leaving_for(next);
      if (leaving < 0) return;
      Triangle entered = triangle_;
      entered.columns[at(leaving)] = next;
      if (!entered.place(p_) || entered.alpha > triangle_.alpha) return;  // rounding
      triangle_ = entered;
    }
  }

  /// Columns in convex position, and where the ray meets their plane.
  struct Triangle {
    std::array<GrowthColumn, 3> columns;
    Vec3<double> u = Vec3<double>::Zero();        ///< u.w = 1 of all three columns [1/m]
    Vec3<double> weights = Vec3<double>::Zero();  ///< l/alpha of the columns
    double alpha = 0.0;

    /// False if the columns lie in a line, or in one plane with the origin, up to rounding.
    [[nodiscard]] bool place(const Vec3<double>& p) {
      e1_ = columns[1].w - columns[0].w;
      e2_ = columns[2].w - columns[0].w;
      normal_ = e1_.cross(e2_);
      const double offset = normal_.dot(columns[0].w), area = normal_.norm();
      constexpr double k_flat = 64.0 * std::numeric_limits<double>::epsilon();
      if (!(area > k_flat * e1_.norm() * e2_.norm()) ||
          !(std::abs(offset) > k_flat * area * columns[0].w.norm()))
        return false;
      u = normal_ / offset;
      alpha = u.dot(p);
      if (!(alpha > 0.0)) return p.isZero(0.0);
      weights = coefficients(p).cwiseMax(0.0);
      weights /= weights.sum();
      return true;
    }

    /// l with sum l_i w_i = x, relative to a corner: well-conditioned even where the columns are close
    /// together.
    [[nodiscard]] Vec3<double> coefficients(const Vec3<double>& x) const {
      const double sum = u.dot(x);
      const Vec3<double> in_plane = x - sum * columns[0].w, m = normal_ / normal_.squaredNorm();
      const double l_1 = in_plane.cross(e2_).dot(m), l_2 = e1_.cross(in_plane).dot(m);
      return {sum - l_1 - l_2, l_1, l_2};
    }

   private:
    Vec3<double> e1_ = Vec3<double>::Zero(), e2_ = Vec3<double>::Zero(), normal_ = Vec3<double>::Zero();
  };

  [[nodiscard]] const Triangle& triangle() const { return triangle_; }

  double lower = 0.0;  ///< never above alpha
  int iterations = 0;

 private:
  [[nodiscard]] GrowthColumn support(const Vec3<double>& direction) {
    const Vec3<double> n = direction.normalized();
    const DifferencePoint point = difference_.support(n);
    GrowthColumn column;
    column.a = point.on_A - c_A_ + difference_.A().radius * n;
    column.b = difference_.R_AB() * (point.on_B - c_B_) - difference_.B().radius * n;
    column.w = column.a - column.b;
    return column;
  }

  /// The column that a new one replaces such that p stays in the cone of all three, or -1 where rounding
  /// leaves none. Of several, the one that the ray would have if p were moved by (eps, eps^2, eps^3): no
  /// cycles.
  [[nodiscard]] int leaving_for(const GrowthColumn& next) const {
    const Vec3<double> d = triangle_.coefficients(next.w);
    constexpr double k_pivot = 1e-12;  // of the largest
    const double least = k_pivot * d.cwiseAbs().maxCoeff();
    const auto leaves_before = [&](int i, int k) {
      const double l_i = triangle_.weights[i] / d[i], l_k = triangle_.weights[k] / d[k];
      if (l_i != l_k) return l_i < l_k;
      for (int axis = 0; axis < 3; ++axis) {
        const Vec3<double> row = triangle_.coefficients(Vec3<double>::Unit(axis));
        if (row[i] / d[i] != row[k] / d[k]) return row[i] / d[i] < row[k] / d[k];
      }
      return false;
    };
    int leaving = -1;
    for (int i = 0; i < 3; ++i)
      if (d[i] > least && (leaving < 0 || leaves_before(i, leaving))) leaving = i;
    return leaving;
  }

  MinkowskiDifference<double> difference_;
  Vec3<double> c_A_, c_B_, p_;
  Triangle triangle_;
};

/// Twist of a body's tangent to the velocity of a point at r from the body's origin: [-[r]x, I].
Mat36<double> velocity_at(const Vec3<double>& r) {
  Mat36<double> V;
  V << 0.0, r[2], -r[1], 1.0, 0.0, 0.0,  //
      -r[2], 0.0, r[0], 0.0, 1.0, 0.0,   //
      r[1], -r[0], 0.0, 0.0, 0.0, 1.0;
  return V;
}

/// Rotation of a body's tangent to the change of a vector fixed to it: [-[y]x, 0].
Mat36<double> turn_of(const Vec3<double>& y) {
  Mat36<double> V = velocity_at(y);
  V.rightCols<3>().setZero();
  return V;
}

/// What both kinds of derivatives begin with.
struct GrowthMotion {
  double alpha;
  Vec3<double> y_A = Vec3<double>::Zero(),
               y_B = Vec3<double>::Zero();  ///< surface points from the centres [m]
  Mat36<double> dp_A, dp_B;                 ///< d(c_B - c_A)

  GrowthMotion(const Pose<double>& X_WA, const Pose<double>& X_WB, const GrowthDistance& found)
      : alpha(found.alpha) {
    for (std::size_t i = 0; i < 3; ++i) {
      y_A += found.weights[i] * found.on_A_W[i];
      y_B += found.weights[i] * found.on_B_W[i];
    }
    dp_A = -velocity_at(found.point_A_W - y_A - X_WA.p);
    dp_B = velocity_at(found.point_B_W - y_B - X_WB.p);
  }
};

}  // namespace

GrowthCentre growth_centre(const ConvexPart<double>& part) {
  Vec3<double> middle = Vec3<double>::Zero();
  if (part.core == ConvexCore::polyhedron) {
    for (const Vec3<double>& x : part.polyhedron->vertices) middle += x;
    middle /= part.polyhedron->vertex_count();
  }
  return checked_centre(part, middle);
}

GrowthCentre growth_centre(const ConvexPart<double>& part, const Vec3<double>& point_P) {
  require((part.core != ConvexCore::superquadric && part.core != ConvexCore::cone) || point_P.isZero(0.0),
          "superquadrics and cones grow from the origin of their frame");
  return checked_centre(part, point_P);
}

GrowthDistance growth_distance(const ConvexPart<double>& A, const GrowthCentre& centre_A,
                               const Pose<double>& X_WA, const ConvexPart<double>& B,
                               const GrowthCentre& centre_B, const Pose<double>& X_WB,
                               const GrowthSettings& settings) {
  GrowthDistance result;
  const Pose<double> X_WP = (X_WA * A.X_BP).normalized(), X_WQ = (X_WB * B.X_BP).normalized();
  const auto is_finite = [](const Pose<double>& X) { return X.p.allFinite() && X.q.coeffs().allFinite(); };
  if (!is_finite(X_WP) || !is_finite(X_WQ)) return result;
  GaugeProgram program(A, centre_A, B, centre_B, X_WP.inverse() * X_WQ);
  program.run(settings);
  const GaugeProgram::Triangle& face = program.triangle();
  result.iterations = program.iterations;
  result.alpha = face.alpha;
  result.error = std::max(0.0, face.alpha - program.lower);
  const double tolerance = std::max(settings.tolerance, 64.0 * std::numeric_limits<double>::epsilon());
  const bool is_accurate = result.error <= tolerance * result.alpha;
  result.status = is_accurate ? ConvexStatus::converged : ConvexStatus::inaccurate;
  result.u_W = X_WP.q * face.u;
  Vec3<double> y_A = Vec3<double>::Zero(), y_B = Vec3<double>::Zero();
  for (int i = 0; i < 3; ++i) {
    const GrowthColumn& column = face.columns[at(i)];
    result.weights[at(i)] = result.alpha > 0.0 ? face.weights[i] : 1.0 / 3.0;
    result.on_A_W[at(i)] = X_WP.q * column.a;
    result.on_B_W[at(i)] = X_WP.q * column.b;
    y_A += result.weights[at(i)] * result.on_A_W[at(i)];
    y_B += result.weights[at(i)] * result.on_B_W[at(i)];
  }
  const Vec3<double> c_A = X_WP * centre_A.point_P, c_B = X_WQ * centre_B.point_P;
  result.point_A_W = c_A + y_A;
  result.point_B_W = c_B + y_B;
  result.touch_W = 0.5 * ((c_A + result.alpha * y_A) + (c_B + result.alpha * y_B));
  return result;
}

GrowthGradient growth_gradient(const Pose<double>& X_WA, const Pose<double>& X_WB,
                               const GrowthDistance& found) {
  const Vec3<double>& u = found.u_W;
  return {-stack<double>((found.touch_W - X_WA.p).cross(u), u),
          stack<double>((found.touch_W - X_WB.p).cross(u), u)};
}

GrowthDerivatives growth_derivatives(const Pose<double>& X_WA, const Pose<double>& X_WB,
                                     const GrowthDistance& found) {
  const GrowthMotion motion(X_WA, X_WB, found);
  Mat3<double> w, a, b;
  for (int i = 0; i < 3; ++i) {
    a.col(i) = found.on_A_W[at(i)];
    b.col(i) = found.on_B_W[at(i)];
    w.col(i) = a.col(i) - b.col(i);
  }
  // alpha d(weights) = (I - weights 1^T) dl, which is orthogonal to 1.
  Mat3<double> inverse;
  const Vec3<double> w0 = w.col(0), w1 = w.col(1), w2 = w.col(2), n0 = w1.cross(w2);
  inverse << n0.transpose(), w2.cross(w0).transpose(), w0.cross(w1).transpose();
  inverse /= w0.dot(n0);
  const Vec3<double> weights(found.weights[0], found.weights[1], found.weights[2]);
  const Mat3<double> of_l =
      (inverse - weights * (inverse.row(0) + inverse.row(1) + inverse.row(2))) / motion.alpha;
  const Mat36<double> by_A = of_l * (motion.dp_A - motion.alpha * turn_of(motion.y_A)),
                      by_B = of_l * (motion.dp_B + motion.alpha * turn_of(motion.y_B));
  const GrowthGradient gradient = growth_gradient(X_WA, X_WB, found);
  GrowthDerivatives J;
  J.alpha_A = gradient.A;
  J.alpha_B = gradient.B;
  J.point_A_A = velocity_at(found.point_A_W - X_WA.p) + a * by_A;
  J.point_A_B = a * by_B;
  J.point_B_A = b * by_A;
  J.point_B_B = velocity_at(found.point_B_W - X_WB.p) + b * by_B;
  return J;
}

GrowthDerivatives growth_derivatives(const Pose<double>& X_WA, const Pose<double>& X_WB,
                                     const GrowthDistance& found, const Mat3<double>& W_A,
                                     const Mat3<double>& W_B, double least_radius) {
  const GrowthMotion motion(X_WA, X_WB, found);
  const GrowthGradient gradient = growth_gradient(X_WA, X_WB, found);
  const Vec3<double> n = found.normal_AB_W(), across = motion.y_A - motion.y_B;  // p/alpha
  const TangentPlane plane(n);
  const Mat2<double> inverse = eigenvalues_raised(plane.of(Mat3<double>(W_A + W_B)), least_radius).inverse();
  const auto normal_by = [&](const Mat36<double>& dp, const Vec6<double>& dalpha,
                             const Mat36<double>& turned) {
    const Mat36<double> right = (dp - across * dalpha.transpose()) / motion.alpha + turned;
    Eigen::Matrix<double, 2, 6> in_plane;
    in_plane << plane.x.transpose() * right, plane.y.transpose() * right;
    in_plane = inverse * in_plane;
    return Mat36<double>(plane.x * in_plane.row(0) + plane.y * in_plane.row(1));
  };
  const Mat36<double> turn_n = turn_of(n);
  const Mat36<double> dn_A = normal_by(motion.dp_A, gradient.A, W_A * turn_n - turn_of(motion.y_A)),
                      dn_B = normal_by(motion.dp_B, gradient.B, W_B * turn_n + turn_of(motion.y_B));
  GrowthDerivatives J;
  J.alpha_A = gradient.A;
  J.alpha_B = gradient.B;
  J.point_A_A = velocity_at(found.point_A_W - X_WA.p) + W_A * (dn_A - turn_n);
  J.point_A_B = W_A * dn_B;
  J.point_B_A = -W_B * dn_A;
  J.point_B_B = velocity_at(found.point_B_W - X_WB.p) - W_B * (dn_B - turn_n);
  return J;
}

}  // namespace abut
