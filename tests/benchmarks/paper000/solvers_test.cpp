#include <catch2/catch.hpp>

#include <cmath>

#include "active_set.h"
#include "barrier_lbfgs.h"
#include "dense_interior_point.h"
#include "engine/pack.h"
#include "engine/random.h"
#include "interior_point.h"
#include "tests/support/close.h"

namespace abut::paper000 {
namespace {

constexpr double k_regularization = 1e-2;

/// Two edges uniform in the unit cube; every fourth time almost parallel or short.
QuadraticProgram<double> random_edge_program(Random& random, int which) {
  Vec3<double> start1, start2, t1, t2;
  for (int i = 0; i < 3; ++i) {
    start1[i] = random.uniform();
    start2[i] = random.uniform();
    t1[i] = random.uniform() - start1[i];
    t2[i] = random.uniform() - start2[i];
  }
  if (which % 8 == 0) t2 = t1 * random.uniform(-1.0, 1.0) + 1e-6 * t2;
  if (which % 8 == 4) t1 *= 1e-4;
  const Vec3<double> b = start1 - start2;
  return {t1.dot(t1) + k_regularization, -t1.dot(t2), t2.dot(t2) + k_regularization,
          t1.dot(b) - 0.5 * k_regularization, -t2.dot(b) - 0.5 * k_regularization};
}

struct VertexAndFace {
  Vec3<double> v, a, b, c;
};

VertexAndFace random_vertex_and_face(Random& random) {
  VertexAndFace r;
  for (Vec3<double>* x : {&r.v, &r.a, &r.b, &r.c})
    for (int i = 0; i < 3; ++i) (*x)[i] = random.uniform();
  return r;
}

QuadraticProgram<double> program_of(const VertexAndFace& f) {
  return vertex_face_program(f.v, f.a, f.b, f.c);
}

/// The largest amount by which x misses the conditions of a minimum over the set, which make it one:
/// multipliers of the least norm of the gradient over nearly touched rows.
template <typename Set>
double optimality_error(const QuadraticProgram<double>& program, const std::array<double, 2>& x) {
  const auto slacks = Set::slacks(x);
  double error = 0.0;
  for (const double s : slacks) error = std::fmax(error, -s);
  // f is convex: x is a minimum if no vertex of the set lies downhill of it
  const auto g = program.gradient(x);
  for (const double u : {0.0, 1.0}) {
    for (const double v : {0.0, 1.0}) {
      if (Set::k_rows == 3 && u + v > 1.0) continue;
      error = std::fmax(error, -(g[0] * (u - x[0]) + g[1] * (v - x[1])));
    }
  }
  return error;
}

/// The gap bounds the squared distance of the witness point to the exact one, 2 (f(x) - f*) <= 8 gap; that of
/// the parameters is 1/k_regularization times as large.
template <typename Set>
InteriorPointSettings<double> exact_settings() {
  return Set::k_rows == 4 ? InteriorPointSettings<double>{0, 1e-12, 1e-15, 60}
                          : InteriorPointSettings<double>{0, 1e-9, 1e-13, 60};
}

/// |A (x - y)| of two points, Q = A^T A.
double distance(const QuadraticProgram<double>& p, double x1, double x2, const std::array<double, 2>& y) {
  const double d1 = x1 - y[0], d2 = x2 - y[1];
  return std::sqrt(std::fmax(0.0, p.Q11 * d1 * d1 + 2.0 * p.Q12 * d1 * d2 + p.Q22 * d2 * d2));
}

}  // namespace

TEMPLATE_TEST_CASE("active_set: its answer meets the conditions of a minimum", "[paper000][value]",
                   UnitSquare, UnitTriangle) {
  Random random(11);
  int inside = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto program =
        TestType::k_rows == 4 ? random_edge_program(random, i) : program_of(random_vertex_and_face(random));
    const auto answer = active_set(program, TestType());
    inside += answer.gamma == 1.0 ? 1 : 0;
    CAPTURE(i, answer.x[0], answer.x[1]);
    REQUIRE(optimality_error<TestType>(program, answer.x) < 1e-12);
  }
  CHECK(inside > 1000);
  CHECK(inside < 19000);
}

TEMPLATE_TEST_CASE("interior_point: agrees with the exact active set to 1e-6", "[paper000][value]",
                   UnitSquare, UnitTriangle) {
  Random random(12);
  for (int i = 0; i < 20000; ++i) {
    const auto program =
        TestType::k_rows == 4 ? random_edge_program(random, i) : program_of(random_vertex_and_face(random));
    const auto exact = active_set(program, TestType());
    const auto answer = interior_point<TestType>(program, exact_settings<TestType>());
    const auto dense = dense_interior_point(dense_program<TestType>(program), exact_settings<TestType>());
    CAPTURE(i, exact.x[0], exact.x[1], answer.x[0], answer.x[1], answer.iterations, dense.iterations);
    REQUIRE(answer.has_converged);
    REQUIRE(dense.has_converged);
    if (TestType::k_rows == 4) {  // Q >= k_regularization: the minimiser is as well determined as the minimum
      for (int j = 0; j < 2; ++j) {
        REQUIRE(std::abs(answer.x[std::size_t(j)] - exact.x[std::size_t(j)]) < 1e-6);
        REQUIRE(std::abs(dense.x[j] - exact.x[std::size_t(j)]) < 1e-6);
      }
    }
    REQUIRE(distance(program, answer.x[0], answer.x[1], exact.x) < 1e-6);
    REQUIRE(distance(program, dense.x[0], dense.x[1], exact.x) < 1e-6);
  }
}

TEMPLATE_TEST_CASE("interior_point: at kappa the product of slack and multiplier balances the gradient",
                   "[paper000][value]", UnitSquare, UnitTriangle) {
  Random random(13);
  const double kappa = 1e-3;
  const InteriorPointSettings<double> settings{kappa, 1e-11, 1e-12, 60};
  for (int i = 0; i < 5000; ++i) {
    const auto program =
        TestType::k_rows == 4 ? random_edge_program(random, i) : program_of(random_vertex_and_face(random));
    const auto answer = interior_point<TestType>(program, settings);
    REQUIRE(answer.has_converged);
    auto force = TestType::slacks(answer.x);
    for (double& s : force) s = kappa / s;
    const auto barrier = TestType::transposed_times(force);
    const auto g = program.gradient(answer.x);
    CAPTURE(i, answer.x[0], answer.x[1]);
    for (std::size_t j = 0; j < 2; ++j) REQUIRE(std::abs(g[j] + barrier[j]) < 1e-7 * (1.0 + std::abs(g[j])));
    const auto dense = dense_interior_point(dense_program<TestType>(program), settings);
    REQUIRE(dense.has_converged);
    for (std::size_t j = 0; j < 2; ++j) REQUIRE(std::abs(dense.x[int(j)] - answer.x[j]) < 1e-9);
  }
}

TEST_CASE("barrier_lbfgs: finds the point of the interior-point method at the same kappa",
          "[paper000][value]") {
  Random random(14);
  const double kappa = 1e-3;
  for (int i = 0; i < 5000; ++i) {
    const auto program = random_edge_program(random, i);
    const auto expected =
        interior_point<UnitSquare>(program, InteriorPointSettings<double>{kappa, 1e-11, 1e-12, 60});
    const auto answer =
        barrier_lbfgs<QuadraticProgram<double>, double>(program, BarrierSettings<double>{kappa, 1e-7, 200});
    CAPTURE(i, answer.x[0], answer.x[1], expected.x[0], expected.x[1], answer.iterations);
    REQUIRE(answer.has_converged);
    for (std::size_t j = 0; j < 2; ++j) REQUIRE(std::abs(answer.x[j] - expected.x[j]) < 1e-5);
  }
}

TEST_CASE("barrier_lbfgs: on a face, comes to the exact point as kappa vanishes", "[paper000][value]") {
  Random random(15);
  int exact = 0;
  for (int i = 0; i < 2000; ++i) {
    const VertexAndFace f = random_vertex_and_face(random);
    const BilinearFace<double> face{f.b - f.a, f.c - f.b, f.v - f.a};
    const auto answer =
        barrier_lbfgs<BilinearFace<double>, double>(face, BarrierSettings<double>{1e-7, 1e-6, 500});
    const auto program = program_of(f);
    const double least = program.value(active_set(program, UnitTriangle()).x) + 0.5 * face.d.dot(face.d);
    CAPTURE(i, answer.x[0], answer.x[1], answer.iterations);
    exact += face.value(answer.x) - least < 1e-5 ? 1 : 0;
    REQUIRE(face.value(answer.x) > least - 1e-12);
  }
  // Not all: the side x_1 = 0 is one corner of the face, and the barrier keeps x_2 from where it is left.
  CHECK(exact >= 1960);
}

TEST_CASE("barrier_lbfgs: the gradient on a face is that of its value", "[paper000][derivative]") {
  Random random(16);
  for (int i = 0; i < 200; ++i) {
    const VertexAndFace f = random_vertex_and_face(random);
    const BilinearFace<double> face{f.b - f.a, f.c - f.b, f.v - f.a};
    const std::array<double, 2> x{random.uniform(), random.uniform()};
    const auto g = face.gradient(x);
    for (std::size_t j = 0; j < 2; ++j) {
      const double h = 1e-5;
      auto above = x, below = x;
      above[j] += h;
      below[j] -= h;
      CAPTURE(i, j);
      CHECK(test::close(g[j], (face.value(above) - face.value(below)) / (2.0 * h), 1e-7, 1e-9));
    }
  }
}

TEST_CASE("interior_point: a pack gives what its lanes give", "[paper000][batch]") {
  using S = Pack<double, 4>;
  Random random(17);
  const InteriorPointSettings<double> settings{1e-3, 1e-9, 1e-9, 40};
  const BarrierSettings<double> barrier{1e-3, 1e-6, 100};
  for (int i = 0; i < 500; ++i) {
    QuadraticProgram<S> programs{};
    QuadraticProgram<double> program[4];
    for (int lane = 0; lane < 4; ++lane) {
      program[lane] = random_edge_program(random, i + lane);
      programs.Q11.set_lane(lane, program[lane].Q11);
      programs.Q12.set_lane(lane, program[lane].Q12);
      programs.Q22.set_lane(lane, program[lane].Q22);
      programs.c1.set_lane(lane, program[lane].c1);
      programs.c2.set_lane(lane, program[lane].c2);
    }
    const auto packs = interior_point<UnitSquare>(programs, settings);
    const auto barrier_packs = barrier_lbfgs<QuadraticProgram<S>, S>(programs, barrier);
    for (int lane = 0; lane < 4; ++lane) {
      const auto one = interior_point<UnitSquare>(program[lane], settings);
      const auto other = barrier_lbfgs<QuadraticProgram<double>, double>(program[lane], barrier);
      CAPTURE(i, lane);
      REQUIRE(one.iterations == packs.iterations[lane]);
      for (std::size_t j = 0; j < 2; ++j) {
        REQUIRE(one.x[j] == packs.x[j][lane]);
        REQUIRE(std::abs(other.x[j] - barrier_packs.x[j][lane]) < 1e-5);  // log differs in the last bit
      }
    }
  }
}

}  // namespace abut::paper000
