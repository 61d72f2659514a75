#include "collision/manifold/neighbour_weights.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/random.h"
#include "engine/types.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace abut {
namespace {

using test::close;

/// The storage behind a NeighbourWeights.
struct Storage {
  Storage(std::size_t rows, std::size_t columns)
      : by_row(rows * columns),
        by_column(rows * columns),
        nearness(rows * columns),
        slopes(rows * columns),
        row_sums(rows),
        column_sums(columns),
        view{rows, columns, by_row, by_column, nearness, row_sums, column_sums, slopes} {}
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::vector<double> by_row, by_column, nearness, slopes, row_sums, column_sums;
  NeighbourWeights<double> view;
};

constexpr NeighbourSettings<double> k_settings{0.01, 3.0}, k_ends{0.01, 3.0, NeighbourTail::ends};

TEST_CASE("neighbour_weights: the formulas, written out", "[collision][value]") {
  const std::vector<double> D{0.01, 0.02, 0.05, 0.03, 0.015, 0.4}, w1{1.0, 0.5}, w2{1.0, 0.3, 0.9};
  Storage s(2, 3);
  neighbour_weights<double>(D, w1, w2, k_settings, s.view);
  for (std::size_t k = 0; k < 2; ++k) {
    for (std::size_t l = 0; l < 3; ++l) {
      const auto E = [&](std::size_t i, std::size_t j) { return std::exp(-D[3 * i + j] / 0.01); };
      double row = std::exp(-3.0), column = std::exp(-3.0);
      for (std::size_t j = 0; j < 3; ++j) row += w2[j] * E(k, j);
      for (std::size_t i = 0; i < 2; ++i) column += w1[i] * E(i, l);
      CHECK(close(s.by_row[3 * k + l], w1[k] * w2[l] * E(k, l) / row, 1e-13, 0));
      CHECK(close(s.by_column[3 * k + l], w1[k] * w2[l] * E(k, l) / column, 1e-13, 0));
    }
  }
}

TEST_CASE("neighbour_weights: far pairs have no weight, deselected edges leave no trace",
          "[collision][value]") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> D{0.01, 1e3, inf, 1e6, 1e3, 1e30}, w1{1.0, 1.0}, w2{1.0, 1.0, 1.0};
  Storage s(2, 3), t(2, 2);
  neighbour_weights<double>(D, w1, w2, k_settings, s.view);
  CHECK(close(s.by_row[0], std::exp(2.0) / (std::exp(2.0) + 1.0), 1e-13, 0));
  for (std::size_t at = 1; at < 6; ++at) {
    CHECK(s.by_row[at] == 0.0);
    CHECK(s.by_column[at] == 0.0);
  }
  std::vector<double> bar(6, 1.0), D_bar(6), w1_bar(2), w2_bar(3);
  neighbour_weights_vjp<double>(s.view, w1, w2, bar, bar, D_bar, w1_bar, w2_bar);
  for (const double b : D_bar) CHECK(std::isfinite(b));

  const std::vector<double> near{0.01, 0.02, 0.012, 0.013, 0.011, 0.014}, without{0.01, 0.012, 0.013, 0.014};
  neighbour_weights<double>(near, w1, std::vector<double>{1.0, 0.0, 0.7}, k_settings, s.view);
  neighbour_weights<double>(without, w1, std::vector<double>{1.0, 0.7}, k_settings, t.view);
  CHECK(s.by_row[1] == 0.0);
  CHECK(s.by_row[0] == t.by_row[0]);
  CHECK(s.by_row[5] == t.by_row[3]);
  CHECK(s.by_column[2] == t.by_column[1]);
}

TEST_CASE("neighbour_weights: a tail that ends leaves no trace beyond its end", "[collision][value]") {
  const std::vector<double> w1{1.0, 1.0}, w2{1.0, 1.0, 0.7};
  const double end = k_ends.end(), inf = std::numeric_limits<double>::infinity();
  CHECK(close(end, 0.15, 1e-15, 0));
  Storage beyond(2, 3), without(2, 2), whole(2, 3);
  const std::vector<double> D{0.01, end, 0.012, 0.013, inf, 0.14}, left{0.01, 0.012, 0.013, 0.14};
  neighbour_weights<double>(D, w1, w2, k_ends, beyond.view);
  neighbour_weights<double>(left, w1, std::vector<double>{1.0, 0.7}, k_ends, without.view);
  neighbour_weights<double>(D, w1, w2, k_settings, whole.view);
  for (const std::size_t at : {1u, 4u}) {
    CHECK(beyond.by_row[at] == 0.0);
    CHECK(beyond.slopes[at] == 0.0);
  }
  CHECK(whole.by_row[1] > 0.0);
  const std::size_t kept[] = {0, 2, 3, 5};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(beyond.by_row[kept[i]] == without.by_row[i]);
    CHECK(beyond.by_column[kept[i]] == without.by_column[i]);
    CHECK(close(beyond.by_row[kept[i]], whole.by_row[kept[i]], 0, 3.4e-4));
  }
  CHECK(beyond.by_row[5] > 0.0);
  CHECK(beyond.by_row[5] < whole.by_row[5]);
}

TEST_CASE("neighbour_weights: exchanging the bodies exchanges rows and columns", "[collision][property]") {
  Random random(1);
  std::vector<double> D, transposed(20), w1, w2;
  for (int i = 0; i < 20; ++i) D.push_back(random.uniform(0.01, 0.1));
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t l = 0; l < 5; ++l) transposed[4 * l + k] = D[5 * k + l];
  }
  for (int i = 0; i < 4; ++i) w1.push_back(random.uniform());
  for (int i = 0; i < 5; ++i) w2.push_back(random.uniform());
  Storage a(4, 5), b(5, 4);
  neighbour_weights<double>(D, w1, w2, k_settings, a.view);
  neighbour_weights<double>(transposed, w2, w1, k_settings, b.view);
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t l = 0; l < 5; ++l) {
      CHECK(close(a.by_row[5 * k + l], b.by_column[4 * l + k], 1e-13, 0));
      CHECK(close(a.by_column[5 * k + l], b.by_row[4 * l + k], 1e-13, 0));
    }
  }
}

TEST_CASE("neighbour_weights: VJP is that of differences", "[collision][derivative]") {
  Random random(2);
  std::vector<double> errors;
  double largest = 0.0;
  for (int trial = 0; trial < 2000; ++trial) {
    const std::size_t rows = 1 + random.integer(4), columns = 1 + random.integer(4), n = rows * columns;
    const bool ends = trial % 2 == 1;
    VecX<double> x(static_cast<Eigen::Index>(n + rows + columns));
    for (Eigen::Index i = 0; i < x.size(); ++i)
      x[i] = static_cast<std::size_t>(i) < n ? random.uniform(0.01, ends ? 0.17 : 0.06) : random.uniform();
    if (trial % 4 == 0) x[static_cast<Eigen::Index>(n)] = 0.0;
    std::vector<double> row_bar, column_bar;
    for (std::size_t i = 0; i < n; ++i) {
      row_bar.push_back(random.uniform(-1.0, 1.0));
      column_bar.push_back(random.uniform(-1.0, 1.0));
    }
    Storage s(rows, columns);
    const auto evaluate = [&](const VecX<double>& y) {
      const std::span<const double> all(y.data(), static_cast<std::size_t>(y.size()));
      neighbour_weights<double>(all.subspan(0, n), all.subspan(n, rows), all.subspan(n + rows),
                                ends ? k_ends : k_settings, s.view);
      double loss = 0.0;
      for (std::size_t i = 0; i < n; ++i) loss += row_bar[i] * s.by_row[i] + column_bar[i] * s.by_column[i];
      return loss;
    };
    const VecX<double> fd = test::fd_gradient(evaluate, x, 1e-7);
    evaluate(x);
    VecX<double> gradient = VecX<double>::Zero(x.size());
    const std::span<double> all(gradient.data(), static_cast<std::size_t>(x.size()));
    const std::span<const double> in(x.data(), static_cast<std::size_t>(x.size()));
    neighbour_weights_vjp<double>(s.view, in.subspan(n, rows), in.subspan(n + rows), row_bar, column_bar,
                                  all.subspan(0, n), all.subspan(n, rows), all.subspan(n + rows));
    errors.push_back((fd - gradient).cwiseAbs().maxCoeff() / std::max(1.0, gradient.cwiseAbs().maxCoeff()));
    largest = std::max(largest, gradient.cwiseAbs().maxCoeff());
  }
  std::sort(errors.begin(), errors.end());
  CAPTURE(errors[1000], errors.back());
  CHECK(largest > 10.0);
  CHECK(errors[1000] < 1e-8);
  CHECK(errors.back() < 1e-6);
}

TEST_CASE("paper_neighbour_weights: each row and each column adds up to 1, far away too",
          "[collision][value]") {
  const std::vector<double> D{1.0, 1.01, 3.0, 2.0, 1e4, 5.0};
  std::vector<double> by_row(6), by_column(6);
  paper_neighbour_weights<double>(D, 2, 3, 0.01, by_row, by_column);
  for (std::size_t k = 0; k < 2; ++k)
    CHECK(close(by_row[3 * k] + by_row[3 * k + 1] + by_row[3 * k + 2], 1.0, 1e-14, 0));
  for (std::size_t l = 0; l < 3; ++l) CHECK(close(by_column[l] + by_column[3 + l], 1.0, 1e-14, 0));
  CHECK(close(by_row[1] / by_row[0], std::exp(-1.0), 1e-10, 0));
  CHECK(by_column[1] == 1.0);
}

}  // namespace
}  // namespace abut
