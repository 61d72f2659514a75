#include "dynamics/motion/link_motion.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include <Eigen/LU>

#include "dynamics/block_matrix/block_cholesky.h"
#include "dynamics/block_matrix/block_lu.h"
#include "dynamics/other_laws/dense_factor.h"
#include "dynamics/solver/impulse_norm.h"
#include "engine/lie.h"
#include "engine/random.h"

namespace {

using namespace abut;

int pick(Random& random, int count) {
  return static_cast<int>(random.integer(static_cast<std::uint64_t>(count)));
}

GrowableVector random_vector(Random& random, Eigen::Index size) {
  GrowableVector v(size);
  for (double& x : v) x = random.uniform(-1.0, 1.0);
  return v;
}

Vec3<double> random_3(Random& random) { return random_vector(random, 3); }

/// A forest over all slots, in any order: about a quarter are free, roots included; the others are fixed to a
/// parent or to the world, or turn, slide or roll about it.
LinkMotions random_links(Random& random, int slots) {
  std::vector<int> order(static_cast<std::size_t>(slots));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t k = order.size(); k-- > 1;)
    std::swap(order[k], order[static_cast<std::size_t>(pick(random, static_cast<int>(k) + 1))]);
  LinkMotions links;
  for (int k = 0; k < slots; ++k) {
    if (pick(random, 4) == 0) continue;
    LinkMotion& link = links.emplace_back();
    link.slot = order[static_cast<std::size_t>(k)];
    if (k > 0 && pick(random, 6) > 0) {
      link.parent = order[static_cast<std::size_t>(pick(random, k))];
      link.r = random_3(random);
    }
    const Mat3<double> R = exp_so3<double>(3.0 * random_3(random));
    switch (pick(random, 4)) {
      case 0:
        break;
      case 1:
        link.rates = 1;
        link.S.col(0) << R.col(0), random_3(random);
        break;
      case 2:
        link.rates = 1;
        link.slides = true;
        link.S.col(0).tail<3>() = R.col(0);
        break;
      default:
        link.rates = 3;
        link.S.topRows<3>() = R;
        for (int i = 0; i < 3; ++i) link.S.col(i).tail<3>() = random_3(random);
    }
  }
  return links;
}

/// J, column by column from what a link's motion is said to be.
Eigen::MatrixXd motions(const LinkMotions& links, int slots) {
  std::vector<const LinkMotion*> of_slot(static_cast<std::size_t>(slots), nullptr);
  for (const LinkMotion& link : links) of_slot[static_cast<std::size_t>(link.slot)] = &link;
  Eigen::MatrixXd J(6 * slots, 0);
  const auto add = [&](int slot, const Vec6<double>& V) {
    Eigen::VectorXd column = Eigen::VectorXd::Zero(6 * slots);
    column.segment<6>(6 * slot) = V;
    for (const LinkMotion& link : links) {
      if (link.parent < 0 || link.slot == slot) continue;
      const Vec6<double> above = column.segment<6>(6 * link.parent);
      const Vec3<double> w = above.head<3>(), v = above.tail<3>();
      column.segment<6>(6 * link.slot) << w, v + w.cross(link.r);
    }
    J.conservativeResize(Eigen::NoChange, J.cols() + 1);
    J.col(J.cols() - 1) = column;
  };
  for (int slot = 0; slot < slots; ++slot) {
    const LinkMotion* const link = of_slot[static_cast<std::size_t>(slot)];
    for (int k = 0; k < (link == nullptr ? 6 : link->rates); ++k)
      add(slot, link == nullptr ? Vec6<double>(Vec6<double>::Unit(k)) : Vec6<double>(link->S.col(k)));
  }
  return J;
}

std::vector<BlockCoupling> random_couplings(Random& random, int slots) {
  std::vector<BlockCoupling> couplings;
  for (int k = slots == 1 ? 0 : pick(random, 2 * slots); k-- > 0;) {
    const int a = pick(random, slots), b = pick(random, slots);
    if (a != b) couplings.push_back({a, b});
  }
  return couplings;
}

Mat6<double> random_block(Random& random) {
  Mat6<double> m;
  for (double& x : m.reshaped()) x = random.uniform(-1.0, 1.0);
  return m;
}

/// J (J' H J)^-1 J'
Eigen::MatrixXd allowed_inverse(const Eigen::MatrixXd& J, const Eigen::MatrixXd& H) {
  return J * (J.transpose() * H * J).inverse() * J.transpose();
}

}  // namespace

TEST_CASE("link motions: block factors solve for what joints allow, as dense ones do", "[dynamics][value]") {
  Random random(7);
  BlockCholesky cholesky;  // one for all: nothing is left over
  BlockLu lu;
  int negative = 0;
  for (int i = 0; i < 300; ++i) {
    const int n = 1 + pick(random, 12);
    CAPTURE(i, n);
    const LinkMotions links = random_links(random, n);
    const std::vector<BlockCoupling> couplings = random_couplings(random, n);
    const Eigen::MatrixXd J = motions(links, n);
    if (J.cols() == 0) continue;
    const GrowableVector x = random_vector(random, 6 * n);
    const auto agrees = [&](const GrowableVector& y, const Eigen::VectorXd& expected, double growth) {
      return (y - expected).norm() <= 1e-13 * growth * (1.0 + expected.norm());
    };

    Eigen::MatrixXd H = Eigen::MatrixXd::Zero(6 * n, 6 * n);
    cholesky.reset(n, couplings, links, true);
    for (int b = 0; b < n; ++b) {
      const Mat6<double> m = random_block(random);
      cholesky.diagonal(b) = m * m.transpose() + (1.0 + 12.0 * n) * Mat6<double>::Identity();
      H.block<6, 6>(6 * b, 6 * b) = cholesky.diagonal(b);
      cholesky.diagonal(b).triangularView<Eigen::StrictlyUpper>().setZero();  // does not count
    }
    for (std::size_t k = 0; k < couplings.size(); ++k) {
      const Mat6<double> m = random_block(random);
      cholesky.add_coupling(k, m);
      H.block<6, 6>(6 * couplings[k].second, 6 * couplings[k].first) += m;
      H.block<6, 6>(6 * couplings[k].first, 6 * couplings[k].second) += m.transpose();
    }
    REQUIRE(cholesky.factorize());
    const Eigen::VectorXd solution = allowed_inverse(J, H) * x;
    GrowableVector y = x;
    cholesky.solve_in_place(y);
    CHECK(agrees(y, solution, 10.0));
    y = x;
    CHECK(cholesky.inverse_norm_in_place(y) == Approx(std::sqrt(x.dot(solution))).epsilon(1e-12));
    if (!links.empty()) {
      cholesky.multiply(x, y);
      CHECK(agrees(y, H * x, 10.0));
    }

    H.setZero();
    lu.reset(n, couplings, links, true);
    for (int b = 0; b < n; ++b) {
      lu.diagonal(b) = random_block(random);
      H.block<6, 6>(6 * b, 6 * b) = lu.diagonal(b);
    }
    for (std::size_t k = 0; k < couplings.size(); ++k) {
      const Mat6<double> BA = 0.1 * random_block(random), AB = 0.1 * random_block(random);
      lu.add_coupling(k, BA, AB);
      H.block<6, 6>(6 * couplings[k].second, 6 * couplings[k].first) += BA;
      H.block<6, 6>(6 * couplings[k].first, 6 * couplings[k].second) += AB;
    }
    REQUIRE(lu.factorize());
    const Eigen::MatrixXd reduced = J.transpose() * H * J, inverse = allowed_inverse(J, H);
    const double growth = std::pow(reduced.norm() * reduced.inverse().norm(), 2);
    y = x;
    lu.solve_in_place(y);
    CHECK(agrees(y, inverse * x, growth));
    y = x;
    lu.solve_transposed_in_place(y);
    CHECK(agrees(y, inverse.transpose() * x, growth));
    CHECK(lu.determinant_sign() == (reduced.determinant() > 0.0 ? 1 : -1));
    negative += lu.determinant_sign() < 0;
    if (links.empty()) continue;
    lu.multiply(x, y);
    CHECK(agrees(y, H * x, 10.0));
    lu.multiply_transposed(x, y);
    CHECK(agrees(y, H.transpose() * x, 10.0));

    DenseFactor dense;
    dense.whole = H;
    dense.factorize(links);
    y = x;
    dense.solve_in_place(y);
    CHECK(agrees(y, inverse * x, growth));
    y = x;
    dense.solve_transposed_in_place(y);
    CHECK(agrees(y, inverse.transpose() * x, growth));
  }
  CHECK(negative > 100);
  CHECK(negative < 200);
}

TEST_CASE("link motions: velocities are moved to those that joints allow, and stay there",
          "[dynamics][value]") {
  Random random(8);
  for (int i = 0; i < 100; ++i) {
    const int n = 1 + pick(random, 10);
    const LinkMotions links = random_links(random, n);
    const Eigen::MatrixXd J = motions(links, n);
    if (J.cols() == 0) continue;
    const GrowableVector reference = random_vector(random, 6 * n);
    GrowableVector v = random_vector(random, 6 * n);
    allow(links, reference, v);
    const Eigen::VectorXd change = v - reference;
    CHECK((J * J.completeOrthogonalDecomposition().solve(change) - change).norm() <=
          1e-12 * (1.0 + change.norm()));
    GrowableVector again = v;
    allow(links, reference, again);
    CHECK((again - v).norm() <= 1e-13 * (1.0 + v.norm()));
  }
}

TEST_CASE("link motions: derivatives agree with differences of J", "[dynamics][gradient]") {
  constexpr double k_step = 1e-6;
  Random random(9);
  for (int i = 0; i < 100; ++i) {
    const int n = 1 + pick(random, 8);
    const LinkMotions links = random_links(random, n);
    const Eigen::MatrixXd J = motions(links, n);
    if (J.cols() == 0 || links.empty()) continue;
    std::vector<LinkMotionBar> dots(links.size());
    LinkMotions more = links, less = links;
    for (std::size_t k = 0; k < links.size(); ++k) {
      LinkMotionBar& dot = dots[k];
      if (links[k].parent >= 0) dot.r = random_3(random);
      const Vec3<double> turn = random_3(random);  // axes stay orthonormal
      for (int c = 0; c < links[k].rates; ++c) {
        const Vec3<double> w = links[k].S.col(c).head<3>(), v = links[k].S.col(c).tail<3>();
        dot.S.col(c) << turn.cross(w), (links[k].slides ? Vec3<double>(turn.cross(v)) : random_3(random));
      }
      more[k].r += k_step * dot.r;
      more[k].S += k_step * dot.S;
      less[k].r -= k_step * dot.r;
      less[k].S -= k_step * dot.S;
    }
    const Eigen::MatrixXd dJ = (motions(more, n) - motions(less, n)) / (2.0 * k_step);
    const Eigen::VectorXd rates = random_vector(random, J.cols());
    const GrowableVector change = J * rates, g = random_vector(random, 6 * n),
                         F = random_vector(random, 6 * n);
    CAPTURE(i, n);

    GrowableVector moved;
    motion_jvp(links, dots, change, moved);
    CHECK((moved - dJ * rates).norm() <= 1e-8 * (1.0 + moved.norm()));

    std::vector<LinkMotionBar> bars(links.size());
    motion_vjp(links, g, change, 2.0, bars);
    double sum = 0.0;
    for (std::size_t k = 0; k < bars.size(); ++k)
      sum += bars[k].r.dot(dots[k].r) + bars[k].S.cwiseProduct(dots[k].S).sum();
    CHECK(sum == Approx(2.0 * g.dot(moved)).epsilon(1e-11).margin(1e-11));

    GrowableVector impulse = GrowableVector::Zero(6 * n);
    subtract_reaction_jvp(links, dots, F, impulse);
    CHECK((J.transpose() * impulse + dJ.transpose() * F).norm() <= 1e-8 * (1.0 + F.norm() * dJ.norm()));
  }
}
