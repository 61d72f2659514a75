#include "box_quadratic.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "active_set.h"
#include "engine/pack.h"
#include "engine/random.h"
#include "engine/types.h"
#include "tests/support/close.h"

namespace abut::paper000 {
namespace {

using test::close;

template <typename T = double>
BoxSmoothing<T> smoothing_of_width(double width) {
  return BoxSmoothing<T>({.clip = width, .minimum = width, .interior = width});
}

/// Of two random segments in the unit cube.
QuadraticProgram<double> random_program(Random& random, double lambda = 0.01) {
  Vec3<double> p, t, q, u;
  for (int i = 0; i < 3; ++i) {
    p[i] = random.uniform(), t[i] = random.uniform() - p[i];
    q[i] = random.uniform(), u[i] = random.uniform() - q[i];
  }
  return edge_edge_program<double>(p, t, q, u, lambda);
}

TEST_CASE("box_minimum: reference values of the published routine with its errors mended",
          "[paper000][golden]") {
  // Edges (0,0,0)-(1,0,0) and (.3,-.5,.2)-(.4,.6,.3), lambda 0.01, all widths 0.1.
  const auto program =
      edge_edge_program<double>({0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.3, -0.5, 0.2}, {0.1, 1.1, 0.1}, 0.01);
  const BoxMinimum<double> m = box_minimum(program, smoothing_of_width(0.1));
  CHECK(close(m.free[0], 0.3450579523502898, 1e-14, 0));
  CHECK(close(m.free[1], 0.4350853187379265, 1e-14, 0));
  CHECK(close(m.alpha[0], 0.3400384784608862, 1e-13, 0));
  CHECK(close(m.alpha[1], 0.43231852079949806, 1e-13, 0));
  CHECK(close(m.gamma, 0.9521887900877739, 1e-13, 0));
}

TEST_CASE("box_minimum: narrow choices give the exact minimiser", "[paper000][value]") {
  Random random(2);
  const BoxSmoothing<double> smoothing = smoothing_of_width(1.0 / 700.0);
  std::vector<double> excess;
  for (int trial = 0; trial < 2000; ++trial) {
    const QuadraticProgram<double> program = random_program(random);
    const BoxMinimum<double> soft = box_minimum(program, smoothing);
    excess.push_back(program.value({soft.alpha[0], soft.alpha[1]}) -
                     program.value(active_set(program, UnitSquare()).x));
  }
  std::sort(excess.begin(), excess.end());
  CHECK(excess.front() > -1e-6);  // the soft minimiser may lie outside the square: by 3e-4 here
  CHECK(excess[1000] < 1e-6);
  CHECK(excess[1980] < 2e-3);
}

TEST_CASE("box_minimum: distances exceed the exact ones as measured for the mended routine",
          "[paper000][value]") {
  // Uniform edges in the unit cube; means of 200,000 pairs in an independent run: .0148 (95 %: .0490),
  // .0024 (.0110), and with lambda .001, .0010 (.0050).
  struct Row {
    double width, lambda, mean, quantile;
  };
  for (const Row row :
       {Row{0.1, 0.01, 0.0148, 0.0490}, Row{0.02, 0.01, 0.0024, 0.0110}, Row{0.01, 0.001, 0.0010, 0.0050}}) {
    Random random(3);
    const BoxSmoothing<double> smoothing = smoothing_of_width(row.width);
    std::vector<double> excess;
    double sum = 0.0;
    for (int trial = 0; trial < 40000; ++trial) {
      Vec3<double> p0, p1, q0, q1;
      for (int i = 0; i < 3; ++i) {
        p0[i] = random.uniform(), p1[i] = random.uniform(), q0[i] = random.uniform(),
        q1[i] = random.uniform();
      }
      const Vec3<double> t = p1 - p0, u = q1 - q0;
      const BoxMinimum<double> soft =
          box_minimum(edge_edge_program<double>(p0, t, q0, u, row.lambda), smoothing);
      const auto hard = active_set(edge_edge_program<double>(p0, t, q0, u, 1e-12), UnitSquare());
      const auto distance = [&](double a, double b) { return (p0 + a * t - q0 - b * u).norm(); };
      excess.push_back(distance(soft.alpha[0], soft.alpha[1]) - distance(hard.x[0], hard.x[1]));
      sum += excess.back();
    }
    std::sort(excess.begin(), excess.end());
    const double mean = sum / static_cast<double>(excess.size());
    CAPTURE(row.width, row.lambda, mean, excess[38000]);
    CHECK(close(mean, row.mean, 0.06, 0));
    CHECK(close(excess[38000], row.quantile, 0.06, 0));
  }
}

TEST_CASE("box_minimum: a problem has the same answer in other units of its costs", "[paper000][property]") {
  Random random(4);
  const BoxSmoothing<double> in_m2 = smoothing_of_width(0.1),
                             in_km2({.clip = 0.1, .minimum = 0.1e-6, .interior = 0.1});
  for (int trial = 0; trial < 100; ++trial) {
    const QuadraticProgram<double> p = random_program(random);
    const auto a = box_minimum(p, in_m2);
    const auto b =
        box_minimum<double>({1e-6 * p.Q11, 1e-6 * p.Q12, 1e-6 * p.Q22, 1e-6 * p.c1, 1e-6 * p.c2}, in_km2);
    CHECK(close(a.alpha[0], b.alpha[0], 1e-11, 1e-13));
    CHECK(close(a.alpha[1], b.alpha[1], 1e-11, 1e-13));
    CHECK(close(a.gamma, b.gamma, 1e-10, 1e-13));
  }
}

TEST_CASE("box_minimum: packs give what single numbers give", "[paper000][batch]") {
  Random random(6);
  using P = Pack<float, 8>;
  for (int trial = 0; trial < 200; ++trial) {
    QuadraticProgram<P> packed;
    QuadraticProgram<double> single[8];
    for (int lane = 0; lane < 8; ++lane) {
      QuadraticProgram<double>& p = single[lane];
      p = random_program(random);
      packed.Q11.set_lane(lane, static_cast<float>(p.Q11));
      packed.Q12.set_lane(lane, static_cast<float>(p.Q12));
      packed.Q22.set_lane(lane, static_cast<float>(p.Q22));
      packed.c1.set_lane(lane, static_cast<float>(p.c1));
      packed.c2.set_lane(lane, static_cast<float>(p.c2));
    }
    const BoxMinimum<P> m = box_minimum(packed, smoothing_of_width<float>(0.1));
    for (int lane = 0; lane < 8; ++lane) {
      const BoxMinimum<double> expected = box_minimum(single[lane], smoothing_of_width(0.1));
      CHECK(close(m.alpha[0][lane], expected.alpha[0], 0, 1e-4));
      CHECK(close(m.alpha[1][lane], expected.alpha[1], 0, 1e-4));
      CHECK(close(m.gamma[lane], expected.gamma, 0, 1e-4));
    }
  }
}

}  // namespace
}  // namespace abut::paper000
