#include "scenes.h"

#include <algorithm>
#include <bit>
#include <filesystem>

#include <spdlog/fmt/fmt.h>

#include "collision/manifold/contact_detector.h"
#include "engine/body_io.h"
#include "engine/random.h"

namespace abut::benchmarks {
namespace {

constexpr int k_poses = 100;
constexpr std::uint64_t k_seed = 1;
constexpr double k_nearest = 0.25, k_farthest = 0.75;  // distance of the centres, by the size

std::filesystem::path assets() { return std::filesystem::path(ABUT_SOURCE_DIR) / "assets"; }

PoseSet make_colliding_armadillos() {
  PoseSet set;
  const Body armadillo = read_body(assets() / "bodies" / "armadillo");
  for (const char* name : {"A", "B"}) {
    set.model.bodies.push_back(armadillo);
    set.model.bodies.back().name = name;
  }
  const ContactDetector detector(set.model, ContactConfig());
  DetectorScratch scratch;
  ContactManifold manifold;
  Random random(k_seed);
  while (set.X_WB.size() < k_poses) {
    PosePair X_WB;
    X_WB[0].q = random.quaternion();
    X_WB[1].q = random.quaternion();
    const Vec3<double> direction = random.unit_vector();
    X_WB[1].p = random.uniform(k_nearest, k_farthest) * armadillo.size * direction;
    detector.detect(X_WB, {}, scratch, manifold);
    const bool overlap = std::any_of(manifold.contacts.begin(), manifold.contacts.end(),
                                     [](const Contact& contact) { return contact.signed_distance < 0.0; });
    if (overlap) set.X_WB.push_back(X_WB);
  }
  return set;
}

}  // namespace

Scene read_asset_scene(const std::string& name) { return read_scene(assets() / "scenes" / (name + ".toml")); }

const PoseSet& colliding_armadillos() {
  static const PoseSet set = make_colliding_armadillos();
  return set;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

void Hash::add(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  for (int byte = 0; byte < 8; ++byte) {
    hash_ ^= (bits >> (8 * byte)) & 0xffu;
    hash_ *= 0x100000001b3u;
  }
}

std::string Hash::text() const { return text(hash_); }

std::string Hash::text(std::uint64_t hash) { return fmt::format("hash {:016x}", hash); }

}  // namespace abut::benchmarks
