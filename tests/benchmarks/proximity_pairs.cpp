#include "proximity_pairs.h"

#include "collision/convex/proximity_qp_sets.h"
#include "engine/pose.h"
#include "engine/random.h"

namespace abut::benchmarks {

std::vector<RectanglePair<double>> rectangle_pairs() {
  Random random(1);
  const auto rectangle = [&] {
    const double x = random.uniform(0.3, 0.5), y = random.uniform(0.1, 0.5);
    const Pose<double> X{random.quaternion(),
                         Vec3<double>(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1))};
    const Vec3<double> corners[4] = {X * Vec3<double>(-x, -y, 0), X * Vec3<double>(x, -y, 0),
                                     X * Vec3<double>(x, y, 0), X * Vec3<double>(-x, y, 0)};
    return padded<2, 4>(polygon_core(corners), 0.1);
  };
  std::vector<RectanglePair<double>> pairs;
  for (int i = 0; i < k_pairs; ++i) pairs.push_back({rectangle(), rectangle()});
  return pairs;
}

}  // namespace abut::benchmarks
