/// The programs of proximity_benchmark.cpp by general solvers of quadratic programs, for comparison. Where
/// their packages are not installed there is none of this.
///
/// quadprog (Debian's r-cran-quadprog) is the dual active-set method of Goldfarb and Idnani (1983) in
/// Fortran: dense, in double, made for small strictly convex programs, and called here without R. CGAL's
/// solver (libcgal-dev) is a simplex method for quadratic programs in exact arithmetic. Both are under the
/// GPL: for measurements only.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "collision/convex/proximity_qp.h"
#include "collision/convex/proximity_qp_active_set.h"
#include "proximity_pairs.h"

#ifdef ABUT_HAVE_CGAL
#include <CGAL/Gmpzf.h>
#include <CGAL/QP_functions.h>
#include <CGAL/QP_models.h>
#endif

#ifdef ABUT_HAVE_QUADPROG
extern "C" void qpgen2_(double* D, double* d, const int* D_rows, const int* n, double* x, double* multipliers,
                        double* cost, double* A, double* b, const int* A_rows, const int* q,
                        const int* equalities, int* active, int* active_count, int* iterations, double* work,
                        int* error);
#endif

#if defined(ABUT_HAVE_CGAL) || defined(ABUT_HAVE_QUADPROG)

namespace abut::benchmarks {
namespace {

constexpr int k_n = 4, k_m = 8;

/// minimise 1/2 x^T P x + c^T x, G x <= 1, and what is needed to judge a solution.
struct GeneralProgram {
  double P[k_n][k_n] = {}, c[k_n] = {}, G[k_m][k_n] = {};
  ProximityProgram<double, 2, 4, 2, 4> program;
  Vec3<double> between;      ///< w
  double core_distance = 0;  ///< by the active-set method [m]

  explicit GeneralProgram(const RectanglePair<double>& pair) {
    const ProximitySettings<double> settings;
    program = proximity_program(pair.A, pair.B, settings.lambda);
    for (int i = 0; i < k_n; ++i) {
      c[i] = program.c[i];
      for (int j = 0; j < k_n; ++j) P[i][j] = program.P[i][j];
      for (int j = 0; j < 2; ++j) {
        G[i][j] = program.G_A[i][j];
        G[4 + i][2 + j] = program.G_B[i][j];
      }
    }
    between = (pair.A.centre - pair.B.centre) / program.length;
    core_distance = distance_at(active_set(program).x);
  }
  /// [m]
  [[nodiscard]] double distance_at(const double (&x)[k_n]) const {
    Vec3<double> d = between;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < k_n; ++j) d[i] += program.F[i][j] * x[j];
    }
    return program.length * d.norm();
  }
};

/// The counter `error` is the largest difference of a distance from that of the active-set method [m].
template <typename Solve>
void each_program(benchmark::State& state, std::size_t count, const Solve& solve) {
  std::vector<GeneralProgram> programs;
  for (const RectanglePair<double>& pair : rectangle_pairs()) {
    if (programs.size() < count) programs.emplace_back(pair);
  }
  double error = 0.0, x[k_n] = {};
  for (const GeneralProgram& program : programs) {
    solve(program, x);
    error = std::max(error, std::abs(program.distance_at(x) - program.core_distance));
  }
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(programs.size()))) {
    for (const GeneralProgram& program : programs) {
      solve(program, x);
      benchmark::DoNotOptimize(x);
    }
  }
  state.counters["error"] = error;
}

#ifdef ABUT_HAVE_QUADPROG
void by_quadprog(benchmark::State& state) {
  each_program(state, k_pairs, [](const GeneralProgram& program, double(&x)[k_n]) {
    constexpr int k_none = 0, k_work = 2 * k_n + k_n * (k_n + 5) / 2 + 2 * k_m + 1;
    double D[k_n][k_n], d[k_n], A[k_m][k_n], b[k_m], multipliers[k_m], cost = 0.0, work[k_work];
    int active[k_m], active_count = 0, iterations[2], error = 0;
    for (int i = 0; i < k_n;
         ++i) {  // it overwrites what it is given: minimise 1/2 x^T D x - d^T x, A^T x >= b
      d[i] = -program.c[i];
      for (int j = 0; j < k_n; ++j) D[i][j] = program.P[i][j];
    }
    for (int i = 0; i < k_m; ++i) {
      b[i] = -1.0;
      for (int j = 0; j < k_n; ++j) A[i][j] = -program.G[i][j];
    }
    qpgen2_(&D[0][0], d, &k_n, &k_n, x, multipliers, &cost, &A[0][0], b, &k_n, &k_m, &k_none, active,
            &active_count, iterations, work, &error);
  });
}
BENCHMARK(by_quadprog)->Name("proximity/polygons_quadprog");
#endif

#ifdef ABUT_HAVE_CGAL
void by_cgal(benchmark::State& state) {
  constexpr std::size_t k_some = 64;
  each_program(state, k_some, [](const GeneralProgram& program, double(&x)[k_n]) {
    CGAL::Quadratic_program<double> general(CGAL::SMALLER, false, 0, false, 0);
    for (int j = 0; j < k_n; ++j) {
      general.set_c(j, program.c[j]);
      for (int i = 0; i <= j; ++i) general.set_d(j, i, program.P[j][i]);
    }
    for (int i = 0; i < k_m; ++i) {
      general.set_b(i, 1.0);
      for (int j = 0; j < k_n; ++j) {
        if (program.G[i][j] != 0.0) general.set_a(j, i, program.G[i][j]);
      }
    }
    const auto solution = CGAL::solve_quadratic_program(general, CGAL::Gmpzf());
    auto value = solution.variable_values_begin();
    for (int j = 0; j < k_n; ++j, ++value) x[j] = CGAL::to_double(*value);
  });
}
BENCHMARK(by_cgal)->Name("proximity/polygons_cgal");
#endif

}  // namespace
}  // namespace abut::benchmarks

#endif
