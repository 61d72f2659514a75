/// Contact-pose problems: relative poses of two rough bodies that bring given points of both into contact.
///
/// For witness points x_A, x_B of a detector and targets fixed to the bodies, all in meters,
///   C(X_AB) = 1/2 |x_A - target_A|^2 + 1/2 |x_B - target_B|^2 + 1/2 |x_A - x_B|^2,
/// x_B and target_B of the second term in the frame of B. A is at the origin of W.
/// @see  Montaut et al. (2023), "Differentiable collision detection: a randomized smoothing approach", eq.
/// (30).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "collision/convex/convex_part.h"
#include "collision/convex/smoothed_derivatives.h"
#include "engine/pose.h"

namespace abut::benchmarks {

/// vertices   support points of random directions
/// witnesses  the witness points of the pair at a random pose: some pose reaches them, up to a translation
/// surface    uniform by area: inside faces, that only poses with flush faces reach
enum class PoseTargets { vertices, witnesses, surface };

/// With these, finite differences end about where they do in the document.
inline constexpr std::array k_pose_axes{0.05, 0.3};

struct RoughPair {
  ConvexPart<double> A, B;
};

struct ContactPoseProblem {
  std::size_t pair = 0;
  Pose<double> initial;             ///< X_AB
  Vec3<double> target_A, target_B;  ///< in the frame of their body [m]
  std::uint64_t seed = 0;           ///< of the estimate's samples
};

struct ContactPoseProblems {
  std::vector<RoughPair> pairs;
  std::vector<ContactPoseProblem> problems;
};

/// Hulls of 12 points on ellipsoids: semi-axes uniform in `axes` [m], points normalised Gaussians times
/// these. Poses have uniform rotations, and centres 1 to 1.5 times the sum of both radii apart in a uniform
/// direction. Up to 100 pairs, problems in turns. The same on every machine.
[[nodiscard]] ContactPoseProblems make_contact_pose_problems(int count, PoseTargets targets,
                                                             std::uint64_t seed,
                                                             std::array<double, 2> axes = k_pose_axes);

/// Whose witness points, and how they are differentiated.
enum class PoseDetector { distance, growth };
enum class PoseDerivative { exact, smoothed };
/// What epsilon of the smoothing is multiplied with.
///   one                 as it is: of the unit normal
///   inverse_gap         1/|x_A - x_B|: of the vector between the witness points, as the document has it
///   residual            sqrt(2 C): it ends as the problem is solved
enum class EpsilonUnit { one, inverse_gap, residual };

struct PoseMethod {
  std::string name;
  PoseDetector detector = PoseDetector::distance;
  PoseDerivative derivative = PoseDerivative::exact;
  SmoothingSettings smoothing{};
  EpsilonUnit unit = EpsilonUnit::one;
  std::array<double, 5> document{};  ///< its quantiles of C in the document [m^2], or 0
};

/// The rows of the table, in their order.
[[nodiscard]] std::vector<PoseMethod> pose_methods();

/// C after `iterations` of the Gauss-Newton method with backtracking [m^2].
[[nodiscard]] double solve_contact_pose(const RoughPair& pair, const ContactPoseProblem& problem,
                                        const PoseMethod& method, int iterations);

/// Of all problems, in their order.
/// @param threads  > 0, or 0 for as many as the machine has; the results are the same
[[nodiscard]] std::vector<double> solve_contact_poses(const ContactPoseProblems& problems,
                                                      const PoseMethod& method, int iterations, int threads);

}  // namespace abut::benchmarks
