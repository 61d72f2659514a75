#include "engine/scalar.h"

#include <catch2/catch.hpp>

#include <type_traits>

#include "engine/dual.h"
#include "engine/pack.h"
#include "engine/types.h"
#include "tests/support/jet_support.h"

namespace abut {

TEST_CASE("scalar: select takes value and derivative of the chosen side", "[engine][value]") {
  CHECK(select(true, 1.0, 2.0) == 1.0);
  CHECK(select(false, 1.0f, 2.0f) == 2.0f);
  const test::Jet<1> x(3.0, 0);
  CHECK(select(x > 2.0, x * x, x).v[0] == 6.0);
  CHECK(select(x < 2.0, x * x, x).v[0] == 1.0);
  const auto y = Dual<double, 1>::variable(3.0, 0);
  CHECK(select(y > 2.0, y * y, y).d[0] == 6.0);
  using P = Pack<double, 4>;
  const auto z = Dual<P, 1>::variable(P::load(std::array{1.0, 2.0, 3.0, 4.0}.data()), 0);
  const auto chosen = select(z > P(2.5), z * z, z);
  CHECK((chosen.value[1] == 2.0 && chosen.d[0][1] == 1.0 && chosen.value[2] == 9.0 && chosen.d[0][2] == 6.0));
  CHECK(select(1 < 2, Vec3<double>(1, 2, 3), Vec3<double>(4, 5, 6)) == Vec3<double>(1, 2, 3));
}

TEST_CASE("scalar: value_of and scalar_value_t see through every number of ours and through Jet",
          "[engine][value]") {
  CHECK(value_of(2) == 2.0);
  CHECK(value_of(2.5f) == 2.5);
  CHECK(value_of(test::Jet<3>(2.5, 1)) == 2.5);
  CHECK(value_of(ceres::Jet<test::Jet<2>, 2>(test::Jet<2>(1.5, 0))) == 1.5);
  CHECK(value_of(Dual<Dual<double, 2>, 2>(4)) == 4.0);
  STATIC_REQUIRE(std::is_same_v<scalar_value_t<float>, float>);
  STATIC_REQUIRE(std::is_same_v<scalar_value_t<test::Jet<3>>, double>);
  STATIC_REQUIRE(std::is_same_v<scalar_value_t<ceres::Jet<float, 2>>, float>);
  STATIC_REQUIRE(std::is_same_v<scalar_value_t<Pack<float, 8>>, float>);
  STATIC_REQUIRE(std::is_same_v<scalar_value_t<Dual<Dual<double, 2>, 2>>, double>);
  STATIC_REQUIRE(std::is_same_v<scalar_value_t<Dual<Pack<float, 8>, 2>>, float>);
}

TEST_CASE("scalar: any and all mean the same of one number as of a pack of it", "[engine][value]") {
  const double x = GENERATE(-1.0, 1.0);
  CHECK(any(x > 0.0) == any(Pack<double, 4>(x) > Pack<double, 4>(0.0)));
  CHECK(all(x > 0.0) == all(Pack<double, 4>(x) > Pack<double, 4>(0.0)));
}

}  // namespace abut
