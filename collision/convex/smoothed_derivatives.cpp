#include "collision/convex/smoothed_derivatives.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include <spdlog/fmt/fmt.h>

#include "collision/convex/support.h"

namespace abut {
namespace {

/// (I - n n^T) (W + W^T)/2 (I - n n^T).
Mat3<double> tangential(const Mat3<double>& W, const Vec3<double>& n) {
  const Mat3<double> P = Mat3<double>::Identity() - n * n.transpose();
  return P * (0.5 * (W + W.transpose())) * P;
}

/// Everything that is differentiated, one below the other: phi, n, x_A, x_B.
using Answer = Eigen::Matrix<double, 10, 1>;
using AnswerJacobian = Eigen::Matrix<double, 10, 6>;

Answer answer_of(const ConvexDistance<double>& d) {
  Answer a;
  a << d.distance, d.normal_AB_W, d.point_A_W, d.point_B_W;
  return a;
}

/// From the Jacobian by B's pose, that by A's: for a twist V of both about the origin of W,
///   J_A T_A V + J_B T_B V = change of the answer as if fixed to both,  T V = [w; v + w x p].
WitnessDerivatives with_both(const AnswerJacobian& by_B, const Vec3<double>& p_A, const Vec3<double>& p_B,
                             const Answer& a) {
  const auto cross = [](const Vec3<double>& x) {  // w -> w x x
    Mat3<double> m;
    m << 0.0, x[2], -x[1], -x[2], 0.0, x[0], x[1], -x[0], 0.0;
    return m;
  };
  // T_A's inverse: a tangent [w; t] of A is the twist [w; t - w x p_A], which moves B by [w; t + w x (p_B -
  // p_A)].
  AnswerJacobian fixed = AnswerJacobian::Zero();
  const Vec3<double> n = a.segment<3>(1), x_A = a.segment<3>(4), x_B = a.segment<3>(7);
  fixed.block<3, 3>(1, 0) = cross(n);
  fixed.block<3, 3>(4, 0) = cross(x_A - p_A);
  fixed.block<3, 3>(7, 0) = cross(x_B - p_A);
  fixed.block<3, 3>(4, 3).setIdentity();
  fixed.block<3, 3>(7, 3).setIdentity();
  Mat6<double> of_B = Mat6<double>::Identity();
  of_B.block<3, 3>(3, 0) = cross(p_B - p_A);
  const AnswerJacobian by_A = fixed - by_B * of_B;
  WitnessDerivatives J;
  J.distance_A = by_A.row(0).transpose();
  J.distance_B = by_B.row(0).transpose();
  J.normal_A = by_A.middleRows<3>(1);
  J.normal_B = by_B.middleRows<3>(1);
  J.point_A_A = by_A.middleRows<3>(4);
  J.point_A_B = by_B.middleRows<3>(4);
  J.point_B_A = by_A.middleRows<3>(7);
  J.point_B_B = by_B.middleRows<3>(7);
  return J;
}

/// Derivatives that queries at other poses of B give.
WitnessDerivatives by_queries(const ConvexPart<double>& A, const Pose<double>& X_WA,
                              const ConvexPart<double>& B, const Pose<double>& X_WB,
                              const ConvexDistance<double>& found, const SmoothingSettings& settings,
                              SmoothingScratch& scratch) {
  const double size = std::max(B.size + B.radius + B.X_BP.p.norm(), 1e-3 * settings.epsilon);
  Vec6<double> unit;  // a step of 1 m at the surface of B
  unit << Vec3<double>::Constant(1.0 / size), Vec3<double>::Ones();
  ConvexWarmStart warm;
  const auto answer_at = [&](const Vec6<double>& direction) {
    const Pose<double> moved = retract<double>(X_WB, Vec6<double>(unit.cwiseProduct(direction)));
    return answer_of(convex_distance(A, X_WA, B, moved, {}, scratch.convex, &warm));
  };
  AnswerJacobian J = AnswerJacobian::Zero();
  const double eps = settings.epsilon;
  const auto add_pair = [&](const Vec6<double>& z, double weight) {
    J += (weight / (2.0 * eps)) * (answer_at(eps * z) - answer_at(-eps * z)) * z.transpose();
  };
  if (settings.method == SmoothingMethod::finite_differences) {
    for (int i = 0; i < 6; ++i) add_pair(Vec6<double>::Unit(i), 1.0);
  } else {
    Random random(settings.seed);
    const int pairs = settings.samples / 2;
    for (int i = 0; i < pairs; ++i) {
      Vec6<double> z;
      for (int k = 0; k < 6; ++k) z[k] = random.normal();
      add_pair(z, 1.0 / pairs);
    }
  }
  for (int k = 0; k < 6; ++k) J.col(k) /= unit[k];
  return with_both(J, X_WA.p, X_WB.p, answer_of(found));
}

/// The vertices of a core, and which of them an edge leads to.
class VertexGraph {
 public:
  explicit VertexGraph(const ConvexPart<double>& part) : part_(part) {
    if (part.core == ConvexCore::polyhedron) count_ = part.polyhedron->vertex_count();
    if (part.core == ConvexCore::box) count_ = 8;
    if (part.core == ConvexCore::segment) count_ = 2;
  }
  [[nodiscard]] int count() const { return count_; }  ///< 0 of curved cores, and of points
  [[nodiscard]] Vec3<double> vertex(int i) const {
    const Vec3<double>& e = part_.extents;
    if (part_.core == ConvexCore::polyhedron) return part_.polyhedron->vertices[at(i)];
    if (part_.core == ConvexCore::segment) return {0.0, 0.0, i ? e[2] : -e[2]};
    return {i & 1 ? e[0] : -e[0], i & 2 ? e[1] : -e[1], i & 4 ? e[2] : -e[2]};
  }
  /// Calls use(j) for every neighbour.
  template <typename Use>
  void for_each_neighbour(int i, const Use& use) const {
    if (part_.core == ConvexCore::polyhedron) {
      const PolyhedronGraph<double>& graph = *part_.polyhedron;
      for (int k = graph.first_neighbour[at(i)]; k < graph.first_neighbour[at(i) + 1]; ++k)
        use(graph.neighbours[at(k)]);
    } else {
      for (int bit = 1; bit < count_; bit *= 2) use(i ^ bit);
    }
  }
  [[nodiscard]] int highest(const Vec3<double>& n) const {
    int best = -1;
    if (part_.core == ConvexCore::polyhedron) {
      (void)core_support(part_, n, best);
      return best;
    }
    best = 0;
    for (int i = 1; i < count_; ++i)
      if (n.dot(vertex(i)) > n.dot(vertex(best))) best = i;
    return best;
  }

 private:
  const ConvexPart<double>& part_;
  int count_ = 0;
};

}  // namespace

void validate(const SmoothingSettings& s) {
  std::string wrong;
  const auto check = [&](bool is_right, const std::string& what) {
    if (!is_right) wrong += (wrong.empty() ? "" : "; ") + what;
  };
  check(s.epsilon > 0.0 && std::isfinite(s.epsilon), fmt::format("epsilon is {}, allowed: > 0", s.epsilon));
  check(s.samples >= 2 && s.samples % 2 == 0, fmt::format("samples is {}, allowed: 2, 4, 6, ...", s.samples));
  check(s.rings >= 1, fmt::format("rings is {}, allowed: >= 1", s.rings));
  check(s.least_radius > 0.0, fmt::format("least_radius is {}, allowed: > 0", s.least_radius));
  if (!wrong.empty()) throw std::invalid_argument("smoothing of derivatives: " + wrong);
}

Mat3<double> gaussian_support_jacobian(const ConvexPart<double>& part, const Vec3<double>& normal,
                                       double epsilon, int samples, Random& random) {
  Mat3<double> W = Mat3<double>::Zero();
  int vertex = -1;
  for (int i = 0; i < samples; ++i) {
    const Vec3<double> z(random.normal(), random.normal(), random.normal());
    const Vec3<double> ahead = core_support(part, Vec3<double>(normal + epsilon * z), vertex),
                       behind = core_support(part, Vec3<double>(normal - epsilon * z), vertex);
    W += (0.5 / (epsilon * samples)) * (ahead - behind) * z.transpose();
  }
  return tangential(W, normal);
}

Mat3<double> gumbel_support_jacobian(const ConvexPart<double>& part, const Vec3<double>& normal,
                                     double epsilon, int rings, SmoothingScratch& scratch) {
  const VertexGraph graph(part);
  if (graph.count() == 0) return core_support_jacobian(part, normal);
  auto &ring = scratch.ring, &distance = scratch.distance;
  const int top = graph.highest(normal);
  distance.assign(at(graph.count()), -1);
  ring.assign(1, top);
  distance[at(top)] = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const int from = ring[i], next = distance[at(from)] + 1;
    if (next > rings) break;
    graph.for_each_neighbour(from, [&](int to) {
      if (distance[at(to)] >= 0) return;
      distance[at(to)] = next;
      ring.push_back(to);
    });
  }
  const Vec3<double> origin = graph.vertex(top);
  double sum = 0.0;
  Vec3<double> mean = Vec3<double>::Zero();
  scratch.weights.clear();
  for (const int i : ring) {
    const Vec3<double> x = graph.vertex(i) - origin;
    const double weight = std::exp(normal.dot(x) / epsilon);
    scratch.weights.push_back(weight);
    sum += weight;
    mean += weight * x;
  }
  mean /= sum;
  Mat3<double> W = Mat3<double>::Zero();
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Vec3<double> x = graph.vertex(ring[i]) - origin - mean;
    W += (scratch.weights[i] / (sum * epsilon)) * x * x.transpose();
  }
  return tangential(W, normal);
}

WitnessDerivatives smoothed_derivatives(const ConvexPart<double>& A, const Pose<double>& X_WA,
                                        const ConvexPart<double>& B, const Pose<double>& X_WB,
                                        const ConvexDistance<double>& found,
                                        const SmoothingSettings& settings, SmoothingScratch& scratch) {
  if (settings.method == SmoothingMethod::finite_differences ||
      settings.method == SmoothingMethod::zeroth_gaussian)
    return by_queries(A, X_WA, B, X_WB, found, settings, scratch);
  Random random(settings.seed);
  const auto jacobian = [&](const ConvexPart<double>& part, const Pose<double>& X_WB_of,
                            const Vec3<double>& n_W) {
    const Mat3<double> R = (X_WB_of.q * part.X_BP.q).toRotationMatrix();
    const Vec3<double> n = (R.transpose() * n_W).normalized();
    const Mat3<double> W =
        settings.method == SmoothingMethod::first_gaussian
            ? gaussian_support_jacobian(part, n, settings.epsilon, settings.samples, random)
            : gumbel_support_jacobian(part, n, settings.epsilon, settings.rings, scratch);
    return Mat3<double>(R * W * R.transpose());
  };
  const Mat3<double> W_A = jacobian(A, X_WA, found.normal_AB_W), W_B = jacobian(B, X_WB, -found.normal_AB_W);
  return witness_derivatives(A, X_WA, B, X_WB, found, W_A, W_B, settings.least_radius);
}

}  // namespace abut
