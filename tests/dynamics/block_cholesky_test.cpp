#include "dynamics/block_matrix/block_cholesky.h"

#include <catch2/catch.hpp>

#include <vector>

#include <Eigen/Cholesky>

#include "engine/random.h"
#include "tests/support/close.h"

namespace {

using namespace abut;

/// One of 0 ... count - 1.
int pick(Random& random, int count) { return static_cast<int>(random.uniform() * count); }

/// A matrix as a list of blocks, and densely.
struct Matrix {
  int blocks = 0;
  std::vector<BlockCoupling> couplings;
  std::vector<Mat6<double>> off_diagonal;
  std::vector<Mat6<double>> diagonal;
  Eigen::MatrixXd dense;

  Matrix(Random& random, int n, std::vector<BlockCoupling> pattern) : blocks(n), couplings(std::move(pattern)) {
    const auto block = [&] {
      Mat6<double> m;
      for (int i = 0; i < 36; ++i) m(i) = random.uniform(-1.0, 1.0);
      return m;
    };
    dense.setZero(6 * n, 6 * n);
    std::vector<int> degree(static_cast<std::size_t>(n), 0);
    for (const BlockCoupling& c : couplings) {
      const Mat6<double> m = off_diagonal.emplace_back(block());
      dense.block<6, 6>(6 * c.second, 6 * c.first) += m;
      dense.block<6, 6>(6 * c.first, 6 * c.second) += m.transpose();
      ++degree[static_cast<std::size_t>(c.first)];
      ++degree[static_cast<std::size_t>(c.second)];
    }
    for (int b = 0; b < n; ++b) {  // dominant, hence positive definite
      const Mat6<double> m = block();
      diagonal.push_back(m * m.transpose() +
                         (1.0 + 6.0 * degree[static_cast<std::size_t>(b)]) * Mat6<double>::Identity());
      dense.block<6, 6>(6 * b, 6 * b) += diagonal.back();
    }
  }

  void fill(BlockCholesky& matrix) const {
    matrix.reset(blocks, couplings);
    for (int b = 0; b < blocks; ++b) matrix.diagonal(b) += diagonal[static_cast<std::size_t>(b)];
    for (std::size_t k = 0; k < couplings.size(); ++k) matrix.add_coupling(k, off_diagonal[k]);
  }
};

std::vector<BlockCoupling> random_couplings(Random& random, int n, int count) {
  std::vector<BlockCoupling> couplings;
  while (static_cast<int>(couplings.size()) < count) {
    const int a = pick(random, n), b = pick(random, n);
    if (a != b) couplings.push_back({a, b});
  }
  return couplings;
}

std::vector<BlockCoupling> chain(int n) {
  std::vector<BlockCoupling> couplings;
  for (int i = 0; i + 1 < n; ++i) couplings.push_back(i % 2 == 0 ? BlockCoupling{i, i + 1} : BlockCoupling{i + 1, i});
  return couplings;
}

}  // namespace

TEST_CASE("BlockCholesky: solves as a dense factorization does, whatever the pattern", "[dynamics][value]") {
  Random random(5);
  BlockCholesky matrix;  // one for all: nothing is left over
  for (int i = 0; i < 60; ++i) {
    const int n = 1 + pick(random, 12);
    const Matrix m(random, n,
                   n == 1 ? std::vector<BlockCoupling>() : random_couplings(random, n, pick(random, 3 * n)));
    CAPTURE(i, n, m.couplings.size());
    GrowableVector b(6 * n);
    for (double& x : b) x = random.uniform(-1.0, 1.0);
    for (int repeat = 0; repeat < 2; ++repeat) {
      m.fill(matrix);
      REQUIRE(matrix.factorize());
      GrowableVector x = b;
      matrix.solve_in_place(x);
      REQUIRE(test::close(x, GrowableVector(m.dense.llt().solve(b)), 1e-12, 1e-12));
    }
  }
}

TEST_CASE("BlockCholesky: chains, trees and separate bodies have a factor without fill-in",
          "[dynamics][property]") {
  Random random(6);
  const int n = 200;
  std::vector<BlockCoupling> tree;
  for (int i = 1; i < n; ++i) tree.push_back({pick(random, i), i});
  BlockCholesky matrix;
  for (const std::vector<BlockCoupling>& couplings : {chain(n), tree, std::vector<BlockCoupling>()}) {
    const Matrix m(random, n, couplings);
    m.fill(matrix);
    REQUIRE(matrix.factorize());
    CHECK(matrix.off_diagonal_blocks() == couplings.size());
  }
}

TEST_CASE("BlockCholesky: a matrix that is not positive definite, or not a number, has no factor",
          "[dynamics][value]") {
  Random random(7);
  BlockCholesky matrix;
  const Matrix m(random, 5, chain(5));
  m.fill(matrix);
  matrix.diagonal(3)(2, 2) = -1.0;
  CHECK_FALSE(matrix.factorize());
  m.fill(matrix);
  matrix.diagonal(2)(4, 1) = std::nan("");
  CHECK_FALSE(matrix.factorize());
  m.fill(matrix);
  CHECK(matrix.factorize());
}
