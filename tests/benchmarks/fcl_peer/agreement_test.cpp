/// convex_distance() against FCL, of whatever version is installed.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "collision/convex/convex_distance.h"
#include "engine/random.h"
#include "fcl_peer.h"
#include "tests/support/convex_parts.h"

namespace abut {
namespace {

enum class PeerKind { sphere, capsule, box, cylinder, small_hull, large_hull };
constexpr int k_peer_kinds = 6;

ConvexPart<double> peer_part(PeerKind kind, Random& random) {
  const double x = random.uniform(0.2, 0.6), y = random.uniform(0.2, 0.6), z = random.uniform(0.2, 0.6);
  switch (kind) {
    case PeerKind::sphere:
      return test::sphere_part(x);
    case PeerKind::capsule:
      return test::capsule_part(x, y);
    case PeerKind::box:
      return test::box_part({x, y, z});
    case PeerKind::cylinder:
      return test::cone_part(x, x, y);
    case PeerKind::small_hull:
      return test::make_hull_part(random, 12);
    case PeerKind::large_hull:
      break;
  }
  return test::make_hull_part(random, 60);
}

bool is_sharp(PeerKind kind) {
  return kind == PeerKind::box || kind == PeerKind::small_hull || kind == PeerKind::large_hull;
}

TEST_CASE("convex_distance: agrees with FCL, apart, touching and deep", "[collision][value]") {
  // FCL's default; libccd's polytopes abort with finer ones. Of flat faces both end at the same face; of
  // curved ones FCL ends by the length of its last step, which is not its error.
  constexpr double k_tolerance = 1e-6;
  const int first = GENERATE(range(0, k_peer_kinds)), second = GENERATE(range(0, k_peer_kinds));
  const auto kind_A = static_cast<PeerKind>(first), kind_B = static_cast<PeerKind>(second);
  const bool are_sharp = is_sharp(kind_A) && is_sharp(kind_B);
  int compared = 0, deeper = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const ConvexPart<double> A = peer_part(kind_A, random), B = peer_part(kind_B, random);
    const benchmarks::FclPair peer(A, B);
    const Pose<double> X_WA{random.quaternion(), random.unit_vector()};
    Pose<double> X_WB{random.quaternion(), X_WA.p + 3.0 * random.unit_vector()};
    ConvexScratch scratch;
    const ConvexDistance<double> far = convex_distance(A, X_WA, B, X_WB, {}, scratch);
    const Vec3<double> away = X_WB.p - far.distance * far.normal_AB_W;  // where they touch
    for (const double gap : {0.5, 1e-2, 1e-5, -1e-5, -1e-2, -0.2}) {
      X_WB.p = away + gap * far.normal_AB_W;
      const ConvexDistance<double> ours = convex_distance(A, X_WA, B, X_WB, {}, scratch);
      const benchmarks::FclDistance theirs = peer.distance(X_WA, X_WB, k_tolerance);
      CAPTURE(first, second, seed, gap, ours.distance, theirs.distance);
      REQUIRE_FALSE(theirs.failed);
      const double difference = theirs.distance - ours.distance;
      REQUIRE(std::abs(difference) < (are_sharp ? 1e-13 : gap < -1e-3 ? 2e-6 : 2e-3));
      // Two points of both bodies are never closer than the bodies are.
      if (gap > 0.0) REQUIRE(difference > -1e-13);
      ++compared;
      deeper += ours.distance < -1e-3 ? 1 : 0;
    }
  }
  CHECK(compared == 120);
  CHECK(deeper >= 30);
}

}  // namespace
}  // namespace abut
