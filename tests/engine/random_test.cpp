#include "engine/random.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstdint>

namespace abut {

TEST_CASE("random: the stream of a seed is the one of xoshiro256++ on every machine",
          "[engine][value][golden]") {
  Random random(1);
  std::array<std::uint64_t, 4> bits{};
  for (auto& b : bits) b = random.bits();
  CHECK(bits == std::array<std::uint64_t, 4>{0xcfc5d07f6f03c29b, 0xbf424132963fe08d, 0x19a37d5757aaf520,
                                             0xbf08119f05cd56d6});
  CHECK(random.uniform() == 0x1.7a38c25c30c34p-3);
  CHECK(random.uniform(-3.0, 5.0) == 0x1.b94cfe573901p+0);
  CHECK(random.normal() == 0x1.4652ec32968b3p-2);
  CHECK(random.integer(1000) == 720);
  CHECK(random.unit_vector()[2] == -0x1.3da1bdc8afd69p-4);
  CHECK(random.quaternion().w() == -0x1.8382819a6c5dep-1);
}

TEST_CASE("random: equal seeds give equal streams, copies too, and neighbouring seeds unlike ones",
          "[engine][value]") {
  Random a(7), b(7), c(8);
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t x = a.bits();
    REQUIRE(x == b.bits());
    REQUIRE(x != c.bits());
  }
  Random copy = a;
  CHECK(copy.bits() == a.bits());
}

TEST_CASE("random: moments are those of the distributions", "[engine][property]") {
  constexpr int k_n = 200'000;  // standard errors about 0.002
  Random random(3);
  double uniform_mean = 0.0, normal_mean = 0.0, normal_square = 0.0, normal_fourth = 0.0, rotated_mean = 0.0;
  Vec3<double> direction_mean = Vec3<double>::Zero();
  Mat3<double> direction_square = Mat3<double>::Zero();
  std::array<int, 7> counts{};
  for (int i = 0; i < k_n; ++i) {
    const double u = random.uniform(-1.0, 3.0), z = random.normal();
    REQUIRE((u >= -1.0 && u <= 3.0));
    uniform_mean += u / k_n;
    normal_mean += z / k_n;
    normal_square += z * z / k_n;
    normal_fourth += z * z * z * z / k_n;
    const Vec3<double> n = random.unit_vector();
    REQUIRE(std::abs(n.norm() - 1.0) < 1e-15);
    direction_mean += n / k_n;
    direction_square += n * n.transpose() / k_n;
    const Quat<double> q = random.quaternion();
    REQUIRE(std::abs(q.norm() - 1.0) < 1e-15);
    rotated_mean += (q * Vec3<double>(0, 0, 1)).z() / k_n;
    const std::uint64_t k = random.integer(7);
    REQUIRE(k < 7);
    ++counts[k];
  }
  CHECK(std::abs(uniform_mean - 1.0) < 0.01);
  CHECK(std::abs(normal_mean) < 0.01);
  CHECK(std::abs(normal_square - 1.0) < 0.02);
  CHECK(std::abs(normal_fourth - 3.0) < 0.12);
  CHECK(direction_mean.norm() < 0.01);
  CHECK((direction_square - Mat3<double>::Identity() / 3.0).norm() < 0.01);
  CHECK(std::abs(rotated_mean) < 0.01);
  for (const int count : counts) CHECK(std::abs(count - k_n / 7) < 900);
}

}  // namespace abut
