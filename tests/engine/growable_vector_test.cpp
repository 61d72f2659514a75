#include "engine/growable_vector.h"

#include <catch2/catch.hpp>

#include <utility>

#include "tests/support/no_alloc.h"

using abut::GrowableVector;

TEST_CASE("GrowableVector: computes what Eigen's vector does, to the last bit", "[engine][value]") {
  for (int n = 0; n < 40; ++n) {
    const Eigen::VectorXd a = Eigen::VectorXd::Random(n), b = Eigen::VectorXd::Random(n);
    const Eigen::MatrixXd A = Eigen::MatrixXd::Random(n, n);
    GrowableVector x = a, y(b), z = GrowableVector::Zero(n);
    CAPTURE(n);
    CHECK(x == a);
    CHECK(x.dot(y) == a.dot(b));
    CHECK(x.norm() == a.norm());
    CHECK(x.sum() == a.sum());
    z = x + 3.0 * y;
    CHECK(z == a + 3.0 * b);
    z = A * z;  // of itself
    CHECK(z == A * (a + 3.0 * b));
    x -= y;
    CHECK(x == a - b);
  }
}

TEST_CASE("GrowableVector: copies, moves and swaps elements", "[engine][value]") {
  GrowableVector a = Eigen::VectorXd::LinSpaced(5, 1.0, 5.0);
  const GrowableVector copy = a;
  a[0] = 7.0;
  CHECK(copy[0] == 1.0);
  GrowableVector moved = std::move(a);
  CHECK((moved.size() == 5 && moved[0] == 7.0));
  GrowableVector empty;
  CHECK(empty.size() == 0);
  swap(moved, empty);
  CHECK(moved.size() == 0);
  CHECK(empty[0] == 7.0);
  moved = copy;
  moved = static_cast<const GrowableVector&>(moved);
  CHECK(moved == copy);
  moved = GrowableVector();
  CHECK(moved.size() == 0);
}

TEST_CASE("GrowableVector: allocates only beyond its largest size", "[engine][property]") {
  if (!abut::test::k_counts_allocations) return;
  GrowableVector x(100), y;
  const abut::test::NoAlloc guard;
  for (const int n : {100, 3, 0, 99, 50}) x.setZero(n);
  const std::size_t within = guard.allocations();
  y = x;
  x.resize(101);
  const std::size_t beyond = guard.allocations();
  CHECK(within == 0);
  CHECK(beyond == 2);
}
