#include "engine/whole_lanes.h"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstdint>

#include "engine/random.h"

namespace abut {
namespace {

using P = Pack<float, 16>;
using Whole = WholeLanes<16>;

std::int32_t lane(const Whole& x, int i) { return std::bit_cast<std::int32_t>(x.bits()[i]); }

/// Of any size that 16 bits hold, the least and the greatest among them.
P any_numbers(Random& random) {
  P x;
  for (int i = 0; i < 16; ++i) {
    const double u = random.uniform(-1.0, 1.0);
    x.set_lane(i, u < -0.95 ? -32768.0f : u > 0.95 ? 32767.0f : static_cast<float>(32767.0 * u));
  }
  return x;
}

std::int32_t rounded(float x) { return static_cast<std::int32_t>(std::nearbyint(x)); }

}  // namespace

TEST_CASE("whole lanes: products of pairs are those of the rounded numbers, exactly", "[engine][value]") {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    const P x = any_numbers(random), y = any_numbers(random), z = any_numbers(random),
            w = any_numbers(random);
    const Whole a = Whole::pairs(x, y), b = Whole::pairs(z, w), products = products_added(a, b);
    for (int i = 0; i < 16; ++i) {
      CAPTURE(round, i, x[i], y[i], z[i], w[i]);
      CHECK((lane(a, i) << 16 >> 16) == rounded(x[i]));
      CHECK(lane(a, i) >> 16 == rounded(y[i]));
      const std::int64_t sum =
          std::int64_t{rounded(x[i])} * rounded(z[i]) + std::int64_t{rounded(y[i])} * rounded(w[i]);
      if (sum <= INT32_MAX) CHECK(lane(products, i) == sum);
    }
  }
}

TEST_CASE("whole lanes: sums, differences, bits and signs are those of the lanes", "[engine][value]") {
  Random random(2);
  for (int round = 0; round < 50; ++round) {
    const Whole a = Whole::pairs(any_numbers(random), P(0.4f) * any_numbers(random)),
                b = Whole::pairs(any_numbers(random), P(0.4f) * any_numbers(random));
    std::uint32_t negative = 0;
    for (int i = 0; i < 16; ++i) {
      CHECK(lane(a + b, i) == lane(a, i) + lane(b, i));
      CHECK(lane(a - b, i) == lane(a, i) - lane(b, i));
      CHECK(lane(a | b, i) == (lane(a, i) | lane(b, i)));
      CHECK(lane(a & b, i) == (lane(a, i) & lane(b, i)));
      CHECK(lane(Whole(round - 25), i) == round - 25);
      negative |= std::uint32_t{lane(a, i) < 0} << i;
    }
    CHECK(a.negative() == negative);
  }
}

}  // namespace abut
