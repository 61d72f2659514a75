#include "contact_pose.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

namespace abut::benchmarks {
namespace {

const PoseMethod& method_named(const std::vector<PoseMethod>& methods, const std::string& name) {
  const auto found =
      std::find_if(methods.begin(), methods.end(), [&](const PoseMethod& m) { return m.name == name; });
  REQUIRE(found != methods.end());
  return *found;
}

TEST_CASE("contact poses: smoothing that ends with the residual solves what differences do not",
          "[collision][derivative]") {
  const std::vector<PoseMethod> methods = pose_methods();
  const ContactPoseProblems problems = make_contact_pose_problems(100, PoseTargets::vertices, 2);
  const auto solved = [&](const std::string& name) {
    const std::vector<double> costs = solve_contact_poses(problems, method_named(methods, name), 50, 1);
    return std::count_if(costs.begin(), costs.end(), [](double cost) { return cost < 1e-12; });
  };
  const auto by_differences = solved("finite differences, 1e-6"), exact = solved("exact"),
             cooling = solved("first Gumbel, 3 rings, 0.1 residual"),
             scaling = solved("scaling problem, first Gumbel, 3 rings, 0.1 residual");
  CAPTURE(by_differences, exact, cooling, scaling);
  CHECK(by_differences < 60);
  CHECK(exact < 60);
  CHECK(cooling > 80);
  CHECK(scaling > 80);
}

TEST_CASE("contact poses: threads change no result", "[collision][determinism]") {
  const std::vector<PoseMethod> methods = pose_methods();
  const ContactPoseProblems problems = make_contact_pose_problems(20, PoseTargets::surface, 3);
  const PoseMethod& method = method_named(methods, "first Gaussian, M = 20, 1e-3");
  CHECK(solve_contact_poses(problems, method, 5, 1) == solve_contact_poses(problems, method, 5, 3));
}

}  // namespace
}  // namespace abut::benchmarks
