#include "dynamics/block_matrix/block_lu.h"

#include <catch2/catch.hpp>

#include <vector>

#include <Eigen/LU>

#include "engine/random.h"
#include "tests/support/close.h"

namespace {

using namespace abut;

Mat6<double> random_block(Random& random) {
  Mat6<double> m;
  for (double& x : m.reshaped()) x = random.uniform(-1.0, 1.0);
  return m;
}

/// The same matrix in blocks and densely; blocks of the diagonal are as likely to have a negative
/// determinant.
void fill(Random& random, int n, int couplings, BlockLu& matrix, Eigen::MatrixXd& dense) {
  std::vector<BlockCoupling> pattern;
  while (static_cast<int>(pattern.size()) < couplings) {
    const int a = static_cast<int>(random.integer(static_cast<std::uint64_t>(n))),
              b = static_cast<int>(random.integer(static_cast<std::uint64_t>(n)));
    if (a != b) pattern.push_back({a, b});
  }
  matrix.reset(n, pattern);
  dense.setZero(6 * n, 6 * n);
  for (int b = 0; b < n; ++b) {
    matrix.diagonal(b) = random_block(random);
    dense.block<6, 6>(6 * b, 6 * b) = matrix.diagonal(b);
  }
  for (std::size_t k = 0; k < pattern.size(); ++k) {
    const Mat6<double> BA = 0.1 * random_block(random), AB = 0.1 * random_block(random);
    matrix.add_coupling(k, BA, AB);
    dense.block<6, 6>(6 * pattern[k].second, 6 * pattern[k].first) += BA;
    dense.block<6, 6>(6 * pattern[k].first, 6 * pattern[k].second) += AB;
  }
}

}  // namespace

TEST_CASE("BlockLu: solves as a dense factorization does, transposed too, and knows the determinant's sign",
          "[dynamics][value]") {
  Random random(5);
  BlockLu matrix;  // one for all: nothing is left over
  int negative = 0;
  for (int i = 0; i < 300; ++i) {
    const int n = 1 + static_cast<int>(random.integer(12));
    Eigen::MatrixXd dense;
    fill(random, n, n == 1 ? 0 : static_cast<int>(random.integer(static_cast<std::uint64_t>(3 * n))), matrix,
         dense);
    GrowableVector b(6 * n);
    for (double& x : b) x = random.uniform(-1.0, 1.0);
    const Eigen::FullPivLU<Eigen::MatrixXd> reference(dense);
    REQUIRE(matrix.factorize());
    CAPTURE(i, n);
    const double growth = dense.norm() * reference.inverse().norm();
    GrowableVector x = b;
    matrix.solve_in_place(x);
    CHECK((dense * x - b).norm() <= 1e-13 * growth * b.norm());
    x = b;
    matrix.solve_transposed_in_place(x);
    CHECK((dense.transpose() * x - b).norm() <= 1e-13 * growth * b.norm());
    CHECK(matrix.determinant_sign() == (reference.determinant() > 0.0 ? 1 : -1));
    negative += matrix.determinant_sign() < 0;
  }
  CHECK(negative > 100);
  CHECK(negative < 200);
}

TEST_CASE("BlockLu: says so if a block of the diagonal is singular or not finite", "[dynamics][value]") {
  BlockLu matrix;
  matrix.reset(1, {});
  CHECK_FALSE(matrix.factorize());
  matrix.reset(1, {});
  matrix.diagonal(0).setIdentity();
  matrix.diagonal(0)(3, 3) = std::nan("");
  CHECK_FALSE(matrix.factorize());
}
