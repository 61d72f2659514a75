#include "contact_pose.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include <Eigen/Cholesky>

#include "collision/convex/growth_distance.h"
#include "collision/convex/support.h"
#include "engine/random.h"

namespace abut::benchmarks {
namespace {

constexpr int k_most_pairs = 100, k_corners = 12;
constexpr double k_damping = 1e-7;     ///< added to the diagonal of J^T J [m^2/rad^2; -]
constexpr double k_sufficient = 1e-4;  ///< of the decrease that the slope promises
constexpr int k_most_halvings = 25;
constexpr double k_least_epsilon = 1e-9;  ///< [m]
constexpr double k_least_gap = 1e-12;     ///< [m]

using Residual = Eigen::Matrix<double, 9, 1>;
using ResidualJacobian = Eigen::Matrix<double, 9, 6>;

ConvexPart<double> rough_ellipsoid(const std::array<double, 2>& axes, Random& random) {
  const auto axis = [&] { return random.uniform(axes[0], axes[1]); };
  const double x = axis(), y = axis(), z = axis();
  Points points(3, k_corners);
  for (int i = 0; i < k_corners; ++i)
    points.col(i) = Vec3<double>(x, y, z).cwiseProduct(random.unit_vector());
  return make_convex_part(points);
}

Pose<double> random_pose_of(const RoughPair& pair, Random& random) {
  const Quat<double> q = random.quaternion();
  const double distance = random.uniform(1.0, 1.5) * (pair.A.size + pair.B.size);
  return {q, distance * random.unit_vector()};
}

/// Uniform by area.
Vec3<double> random_surface_point(const PolyhedronGraph<double>& graph, Random& random) {
  struct Triangle {
    Vec3<double> corner, e1, e2;
  };
  std::vector<Triangle> triangles;
  std::vector<double> areas;  // cumulated
  for (int f = 0; f < graph.face_count(); ++f) {
    const auto corner = [&](int k) {
      return graph.vertices[at(graph.corners[at(graph.first_corner[at(f)] + k)])];
    };
    const int corners = graph.first_corner[at(f) + 1] - graph.first_corner[at(f)];
    for (int k = 1; k + 1 < corners; ++k) {
      triangles.push_back({corner(0), corner(k) - corner(0), corner(k + 1) - corner(0)});
      areas.push_back((areas.empty() ? 0.0 : areas.back()) +
                      triangles.back().e1.cross(triangles.back().e2).norm());
    }
  }
  const double area = random.uniform() * areas.back();
  const auto i = static_cast<std::size_t>(std::upper_bound(areas.begin(), areas.end(), area) - areas.begin());
  const Triangle& t = triangles[std::min(i, triangles.size() - 1)];
  double s = random.uniform(), r = random.uniform();
  if (s + r > 1.0) s = 1.0 - s, r = 1.0 - r;
  return t.corner + s * t.e1 + r * t.e2;
}

/// Witness points at poses of B, and their derivatives.
class WitnessModel {
 public:
  WitnessModel(const RoughPair& pair, const PoseMethod& method, std::uint64_t seed)
      : pair_(pair),
        method_(method),
        seed_(seed),
        centre_A_(growth_centre(pair.A)),
        centre_B_(growth_centre(pair.B)) {}

  Vec3<double> point_A, point_B;

  void find(const Pose<double>& X_AB) {
    if (method_.detector == PoseDetector::growth) {
      growth_ = growth_distance(pair_.A, centre_A_, {}, pair_.B, centre_B_, X_AB);
      point_A = growth_.point_A_W;
      point_B = growth_.point_B_W;
    } else {
      distance_ = convex_distance(pair_.A, {}, pair_.B, X_AB, {}, scratch_.convex, &warm_);
      point_A = distance_.point_A_W;
      point_B = distance_.point_B_W;
    }
  }

  /// Of what find() found last, by the tangent of X_AB.
  void differentiate(const Pose<double>& X_AB, double residual, Mat36<double>& J_A, Mat36<double>& J_B) {
    SmoothingSettings smoothing = method_.smoothing;
    smoothing.seed = seed_++;
    if (method_.unit == EpsilonUnit::residual)
      smoothing.epsilon = std::max(k_least_epsilon, smoothing.epsilon * residual);
    if (method_.unit == EpsilonUnit::inverse_gap)
      smoothing.epsilon /= std::max(k_least_gap, std::abs(distance_.core_distance));
    const bool is_exact = method_.derivative == PoseDerivative::exact;
    if (method_.detector == PoseDetector::distance) {
      const WitnessDerivatives J =
          is_exact ? witness_derivatives(pair_.A, {}, pair_.B, X_AB, distance_)
                   : smoothed_derivatives(pair_.A, {}, pair_.B, X_AB, distance_, smoothing, scratch_);
      J_A = J.point_A_B;
      J_B = J.point_B_B;
      return;
    }
    GrowthDerivatives J;
    if (is_exact) {
      J = growth_derivatives({}, X_AB, growth_);
    } else {
      const Mat3<double> R = X_AB.rotation();
      const Vec3<double> n = growth_.normal_AB_W();
      const Mat3<double> W_A = gumbel_support_jacobian(pair_.A, n, smoothing.epsilon, smoothing.rings,
                                                       scratch_),
                         W_B = gumbel_support_jacobian(pair_.B, Vec3<double>(-(R.transpose() * n)),
                                                       smoothing.epsilon, smoothing.rings, scratch_);
      J = growth_derivatives({}, X_AB, growth_, W_A, Mat3<double>(R * W_B * R.transpose()));
    }
    J_A = J.point_A_B;
    J_B = J.point_B_B;
  }

 private:
  const RoughPair& pair_;
  const PoseMethod& method_;
  std::uint64_t seed_;
  GrowthCentre centre_A_, centre_B_;
  SmoothingScratch scratch_;
  ConvexWarmStart warm_;
  ConvexDistance<double> distance_;
  GrowthDistance growth_;
};

Residual residual_at(WitnessModel& model, const ContactPoseProblem& problem, const Pose<double>& X_AB) {
  model.find(X_AB);
  Residual r;
  r << model.point_A - problem.target_A, inverse_point(X_AB, model.point_B) - problem.target_B,
      model.point_A - model.point_B;
  return r;
}

ResidualJacobian jacobian_at(WitnessModel& model, const Pose<double>& X_AB, double residual) {
  Mat36<double> J_A, J_B, fixed;  // fixed: of a point fixed to B
  model.differentiate(X_AB, residual, J_A, J_B);
  const Vec3<double> r = model.point_B - X_AB.p;
  fixed << 0.0, r[2], -r[1], 1.0, 0.0, 0.0,  //
      -r[2], 0.0, r[0], 0.0, 1.0, 0.0,       //
      r[1], -r[0], 0.0, 0.0, 0.0, 1.0;
  ResidualJacobian J;
  J << J_A, X_AB.rotation().transpose() * (J_B - fixed), J_A - J_B;
  return J;
}

}  // namespace

ContactPoseProblems make_contact_pose_problems(int count, PoseTargets targets, std::uint64_t seed,
                                               std::array<double, 2> axes) {
  Random random(seed);
  ContactPoseProblems made;
  for (int i = 0; i < std::min(count, k_most_pairs); ++i) {
    ConvexPart<double> A = rough_ellipsoid(axes, random);
    made.pairs.push_back({std::move(A), rough_ellipsoid(axes, random)});
  }
  const auto support = [&](const ConvexPart<double>& part) {
    int vertex = -1;
    return core_support(part, random.unit_vector(), vertex);
  };
  ConvexScratch scratch;
  for (int i = 0; i < count; ++i) {
    ContactPoseProblem problem;
    problem.pair = at(i) % made.pairs.size();
    const RoughPair& pair = made.pairs[problem.pair];
    problem.initial = random_pose_of(pair, random);
    problem.seed = random.bits();
    switch (targets) {
      case PoseTargets::vertices:
        problem.target_A = support(pair.A);
        problem.target_B = support(pair.B);
        break;
      case PoseTargets::witnesses: {
        const Pose<double> X = random_pose_of(pair, random);
        const ConvexDistance<double> found = convex_distance(pair.A, {}, pair.B, X, {}, scratch);
        problem.target_A = found.point_A_W;
        problem.target_B = inverse_point(X, found.point_B_W);
        break;
      }
      case PoseTargets::surface:
        problem.target_A = random_surface_point(*pair.A.polyhedron, random);
        problem.target_B = random_surface_point(*pair.B.polyhedron, random);
        break;
    }
    made.problems.push_back(problem);
  }
  return made;
}

std::vector<PoseMethod> pose_methods() {
  using enum PoseDetector;
  using enum PoseDerivative;
  using enum SmoothingMethod;
  using enum EpsilonUnit;
  const SmoothingSettings fine{.method = finite_differences, .epsilon = 1e-6};
  const SmoothingSettings coarse{.method = finite_differences, .epsilon = 1e-3};
  const SmoothingSettings zeroth{.method = zeroth_gaussian, .epsilon = 1e-2, .samples = 50};
  const SmoothingSettings gaussian{.method = first_gaussian, .epsilon = 1e-3, .samples = 20};
  const SmoothingSettings gumbel{.method = first_gumbel, .epsilon = 1e-4, .rings = 1};
  const SmoothingSettings cooling{.method = first_gumbel, .epsilon = 0.1, .rings = 3};
  return {
      {"finite differences, 1e-6", distance, smoothed, fine, one, {2e-33, 4e-32, 3e-3, 4e-2, 8e-2}},
      {"finite differences, 1e-3", distance, smoothed, coarse, one, {8e-33, 7e-23, 4e-14, 1e-2, 5e-2}},
      {"zeroth Gaussian, M = 50, 1e-2", distance, smoothed, zeroth, one, {4e-23, 5e-20, 2e-13, 2e-3, 5e-3}},
      {"first Gaussian, M = 20, 1e-3/gap",
       distance,
       smoothed,
       gaussian,
       inverse_gap,
       {4e-16, 1e-10, 4e-8, 3e-7, 2e-6}},
      {"first Gaussian, M = 20, 1e-3", distance, smoothed, gaussian, one, {}},
      {"first Gumbel, 1 ring, 1e-4/gap",
       distance,
       smoothed,
       gumbel,
       inverse_gap,
       {6e-16, 3e-10, 1e-8, 7e-8, 2e-5}},
      {"first Gumbel, 1 ring, 1e-4", distance, smoothed, gumbel, one, {}},
      {"first Gumbel, 3 rings, 0.1 residual", distance, smoothed, cooling, residual, {}},
      {"exact", distance, exact, {}, one, {}},
      {"scaling problem, exact", growth, exact, {}, one, {}},
      {"scaling problem, first Gumbel, 3 rings, 0.1 residual", growth, smoothed, cooling, residual, {}},
  };
}

double solve_contact_pose(const RoughPair& pair, const ContactPoseProblem& problem, const PoseMethod& method,
                          int iterations) {
  WitnessModel model(pair, method, problem.seed);
  Pose<double> X_AB = problem.initial;
  Residual r = residual_at(model, problem, X_AB);
  const bool is_random = method.derivative == PoseDerivative::smoothed &&
                         (method.smoothing.method == SmoothingMethod::zeroth_gaussian ||
                          method.smoothing.method == SmoothingMethod::first_gaussian);
  for (int k = 0; k < iterations; ++k) {
    const ResidualJacobian J = jacobian_at(model, X_AB, r.norm());
    if (!J.allFinite()) break;
    const Vec6<double> gradient = J.transpose() * r;
    const Mat6<double> H = J.transpose() * J + k_damping * Mat6<double>::Identity();
    const Vec6<double> step = -H.ldlt().solve(gradient);
    bool is_better = false;
    double length = 1.0;
    for (int halving = 0; halving < k_most_halvings && !is_better; ++halving, length *= 0.5) {
      const Pose<double> moved = retract<double>(X_AB, Vec6<double>(length * step));
      const Residual there = residual_at(model, problem, moved);
      is_better = there.squaredNorm() < r.squaredNorm() + 2.0 * k_sufficient * length * gradient.dot(step);
      if (!is_better) continue;
      X_AB = moved;
      r = there;
    }
    if (is_better) continue;
    if (!is_random) break;  // the next iteration would be the same
    model.find(X_AB);
  }
  return 0.5 * r.squaredNorm();
}

std::vector<double> solve_contact_poses(const ContactPoseProblems& problems, const PoseMethod& method,
                                        int iterations, int threads) {
  std::vector<double> costs(problems.problems.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < costs.size(); i = next++) {
      const ContactPoseProblem& problem = problems.problems[i];
      costs[i] = solve_contact_pose(problems.pairs[problem.pair], problem, method, iterations);
    }
  };
  const int count =
      threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<std::thread> others;
  for (int i = 1; i < count; ++i) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
  return costs;
}

}  // namespace abut::benchmarks
