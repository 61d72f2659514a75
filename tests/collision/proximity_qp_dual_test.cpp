#include "collision/convex/proximity_qp_dual_active_set.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "collision/convex/proximity_qp.h"
#include "collision/convex/proximity_qp_active_set.h"
#include "collision/convex/proximity_qp_sets.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/no_alloc.h"
#include "tests/support/proximity_cases.h"

namespace abut {
namespace {

using test::close;

const Vec3<double> k_some_axis(1, 0, 0);

}  // namespace

TEST_CASE("dual_active_set: finds the distances of the primal method, in awkward poses too",
          "[collision][property]") {
  const ProximitySettings<double> settings;
  double most_changes = 0.0;
  for (int trial = 0; trial < 8000; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const test::CornersPair pair = test::corners_pair(random, trial);
    const auto A = padded<2, 8>(polygon_core(pair.A), 0.1), B = padded<2, 8>(polygon_core(pair.B), 0.25);
    const auto program = proximity_program(A, B, settings.lambda);
    const auto dual = dual_active_set(program), primal = active_set(program);
    const auto at = proximity_of_solution(A, B, dual, settings, k_some_axis),
               expected = proximity_of_solution(A, B, primal, settings, k_some_axis);
    CAPTURE(trial, pair.kind);
    REQUIRE(dual.converged == 1.0);
    most_changes = std::max(most_changes, dual.iterations);
    const double size = A.size + B.size;
    CHECK(close(at.core_distance, expected.core_distance, 1e-11, 1e-9 * size));
    CHECK(at.meeting == expected.meeting);
    CHECK((at.core_A - expected.core_A).norm() < 1e-4 * size);
    if (trial % 8 == 0 && expected.core_distance > 0.05) {
      CHECK(close(at.core_A, expected.core_A, 0, 1e-7));
      CHECK(close(at.normal, expected.normal, 0, 1e-7));
    }
    // Feasible, multipliers of active constraints alone, and optimal.
    double residual[4], Gx[16];
    program.gradient(dual.x, residual);
    program.add_transposed(dual.y, residual);
    program.times(dual.x, Gx);
    for (const double g : residual) CHECK(std::abs(g) < 1e-9 * (1.0 + expected.core_distance));
    for (int i = 0; i < 16; ++i) {
      CHECK(Gx[i] <= 1.0 + 1e-9 * (1.0 + expected.core_distance));
      CHECK(dual.y[i] >= 0.0);
      CHECK(dual.s[i] * dual.y[i] == 0.0);
    }
  }
  CHECK(most_changes < 25.0);
}

TEST_CASE("dual_active_set: segments and polytopes", "[collision][property]") {
  const ProximitySettings<double> settings;
  for (int trial = 0; trial < 2000; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const auto point = [&] { return Vec3<double>(test::random_vector(random, 1.5)); };
    const auto segment = padded<1, 2>(segment_core(point(), point()), 0.1);
    Points vertices(3, 4);
    for (int i = 0; i < 4; ++i) vertices.col(i) = point();
    CAPTURE(trial);
    if (std::abs((vertices.col(1) - vertices.col(0))
                     .matrix()
                     .cross((vertices.col(2) - vertices.col(0)).matrix())
                     .dot((vertices.col(3) - vertices.col(0)).matrix())) < 0.05)
      continue;
    const auto tetrahedron = padded<3, 4>(polytope_core(vertices), 0.0);
    const auto program = proximity_program(segment, tetrahedron, settings.lambda);
    const auto dual = dual_active_set(program);
    const auto primal = active_set(program);
    REQUIRE(dual.converged == 1.0);
    const auto at = proximity_of_solution(segment, tetrahedron, dual, settings, k_some_axis),
               expected = proximity_of_solution(segment, tetrahedron, primal, settings, k_some_axis);
    CHECK(close(at.core_distance, expected.core_distance, 1e-11, 1e-9 * (segment.size + tetrahedron.size)));
    const auto two = padded<1, 2>(segment_core(point(), point()), 0.1);
    const auto of_segments = proximity_program(segment, two, settings.lambda);
    CHECK(close(
        proximity_of_solution(segment, two, dual_active_set(of_segments), settings, k_some_axis).distance,
        proximity_of_solution(segment, two, active_set(of_segments), settings, k_some_axis).distance, 1e-11,
        1e-9));
  }
}

TEST_CASE("dual_active_set: does not allocate, and NaN does not converge", "[collision][value]") {
  Random random(1);
  const test::CornersPair pair = test::corners_pair(random, 0);
  const auto A = padded<2, 8>(polygon_core(pair.A), 0.1);
  auto B = padded<2, 8>(polygon_core(pair.B), 0.25);
  const double lambda = ProximitySettings<double>().lambda;
  const test::NoAlloc guard;
  const auto solution = dual_active_set(proximity_program(A, B, lambda));
  const auto allocations = guard.allocations();
  CHECK(allocations == 0);
  CHECK(solution.converged == 1.0);
  B.centre[1] = std::numeric_limits<double>::quiet_NaN();
  CHECK(dual_active_set(proximity_program(A, B, lambda)).converged == 0.0);
}

}  // namespace abut
