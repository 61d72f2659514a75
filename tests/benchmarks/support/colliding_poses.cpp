#include "colliding_poses.h"

#include <algorithm>

#include "collision/manifold/pair_manifold.h"
#include "engine/random.h"

namespace abut::benchmarks {
namespace {

constexpr double k_nearest = 0.25, k_farthest = 0.75;  // distance of the centres, by the size

}  // namespace

std::vector<Pose<double>> colliding_poses(const Body& body, int count) {
  ContactConfig config;
  config.edge_edge = false;
  const PairManifold<double> pair(body, body, config);
  PairScratch<double> scratch;
  ContactBlock<double> block;
  std::vector<Pose<double>> poses;
  Random random(1);
  while (static_cast<int>(poses.size()) < count) {
    Pose<double> X_AB;
    X_AB.q = random.quaternion();
    const Vec3<double> direction = random.unit_vector();
    X_AB.p = random.uniform(k_nearest, k_farthest) * body.size * direction;
    pair.find({Pose<double>(), X_AB}, ManifoldOrder::value, scratch, block);
    const auto distances = block.column(k_contact_distance);
    if (std::any_of(distances.begin(), distances.end(), [](double d) { return d < 0.0; }))
      poses.push_back(X_AB);
  }
  return poses;
}

}  // namespace abut::benchmarks
