/// What half and double of each constant of the velocity solvers (dynamics/solver/newton_constants.h) do to
/// problems that are hard to solve.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dynamics/other_laws/lcp_solver.h"
#include "dynamics/solver/smooth_coulomb_solver.h"
#include "tests/benchmarks/dynamics_tables/tables.h"
#include "tests/support/contact_problems.h"

namespace abut::tables {
namespace {

using test::ContactTestProblem;

constexpr int k_bodies = 6;  // at most
constexpr double k_none = std::numeric_limits<double>::infinity();

/// A constant, and the open interval that it has to stay in.
template <typename Constants>
struct Constant {
  const char* name;
  std::variant<double Constants::*, int Constants::*> member;
  double lower = 0.0, upper = k_none;
};

using N = NewtonConstants;
constexpr Constant<N> k_newton[]{{"full_step_slope", &N::full_step_slope, 0.0, 1.0},
                                 {"progress", &N::progress, 0.0, 1.0},
                                 {"least_iterations", &N::least_iterations},
                                 {"rounding_factor", &N::rounding_factor},
                                 {"largest_rounding", &N::largest_rounding},
                                 {"far_from_solution", &N::far_from_solution},
                                 {"approach_iterations", &N::approach_iterations},
                                 {"approach_end", &N::approach_end},
                                 {"line_slope", &N::line_slope, 0.0, 1.0},
                                 {"line_iterations", &N::line_iterations},
                                 {"line_interval", &N::line_interval},
                                 {"line_expansion", &N::line_expansion, 1.0},
                                 {"line_expansions", &N::line_expansions},
                                 {"near_solution", &N::near_solution},
                                 {"patience", &N::patience},
                                 {"convex_passes", &N::convex_passes},
                                 {"last_patience", &N::last_patience},
                                 {"rough_tolerance", &N::rough_tolerance},
                                 {"widest_stiction", &N::widest_stiction, 1.0},
                                 {"coarsest_stage", &N::coarsest_stage, 1.0},
                                 {"finer_stage", &N::finer_stage, 0.0, 1.0},
                                 {"coarser_stage", &N::coarser_stage, 1.0},
                                 {"finest_stage", &N::finest_stage},
                                 {"stages", &N::stages},
                                 {"first_stage_iterations", &N::first_stage_iterations},
                                 {"first_stage_patience", &N::first_stage_patience},
                                 {"stage_iterations", &N::stage_iterations},
                                 {"stage_patience", &N::stage_patience},
                                 {"starts", &N::starts},
                                 {"start_patience", &N::start_patience},
                                 {"start_speed", &N::start_speed},
                                 {"start_seed", &N::start_seed}};

using I = InteriorPointConstants;
constexpr Constant<I> k_interior_point[]{{"inside", &I::inside, 0.0, 1.0},
                                         {"light", &I::light},
                                         {"rounding", &I::rounding},
                                         {"largest_at_end", &I::largest_at_end, 1.0},
                                         {"least_at_end", &I::least_at_end, 0.0, 1.0},
                                         {"short_step", &I::short_step, 0.0, 1.0},
                                         {"least_centring", &I::least_centring, 0.0, 1.0},
                                         {"most_centring", &I::most_centring, 0.0, 1.0},
                                         {"off_centre", &I::off_centre, 0.0, 1.0},
                                         {"at_start_iterations", &I::at_start_iterations},
                                         {"interior_iterations", &I::interior_iterations},
                                         {"sufficient_decrease", &I::sufficient_decrease, 0.0, 1.0},
                                         {"shortest_step", &I::shortest_step, 0.0, 1.0},
                                         {"plain_end", &I::plain_end, 0.0, 1.0},
                                         {"stage_tolerance", &I::stage_tolerance},
                                         {"stage_iterations", &I::stage_iterations},
                                         {"few_iterations", &I::few_iterations},
                                         {"first_ratio", &I::first_ratio, 0.0, 1.0},
                                         {"least_ratio", &I::least_ratio, 0.0, 1.0},
                                         {"largest_ratio", &I::largest_ratio, 0.0, 1.0},
                                         {"first_friction", &I::first_friction, 0.0, 1.0},
                                         {"least_friction", &I::least_friction, 0.0, 1.0},
                                         {"smooth_start", &I::smooth_start, 1.0},
                                         {"smooth_start_factor", &I::smooth_start_factor, 1.0},
                                         {"smooth_starts", &I::smooth_starts}};

/// Neither compiles once a structure has a member more: which then needs a line above. (`friction_passes` and
/// `last_digits_iterations` decide on no solution.)
[[maybe_unused]] void list_is_complete(const NewtonConstants& constants) {
  [[maybe_unused]] const auto& [c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17,
                                c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32,
                                friction_passes] = constants;
  static_assert(std::size(k_newton) == 32);
}
[[maybe_unused]] void list_is_complete(const InteriorPointConstants& constants) {
  [[maybe_unused]] const auto& [c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17,
                                c18, c19, c20, c21, c22, c23, c24, c25, last_digits_iterations] = constants;
  static_assert(std::size(k_interior_point) == 25);
}

/// The constants with one of them times `factor`, or half way to its bound where that is nearer.
template <typename Constants>
Constants scaled(const Constant<Constants>& constant, double factor) {
  Constants all;
  std::visit(
      [&](auto member) {
        const auto value = static_cast<double>(all.*member);
        double to = factor * value;
        if (to <= constant.lower) to = 0.5 * (value + constant.lower);
        if (to >= constant.upper) to = 0.5 * (value + constant.upper);
        using Type = std::remove_reference_t<decltype(all.*member)>;
        all.*member = std::is_integral_v<Type> ? static_cast<Type>(std::max(1.0, std::floor(to)))
                                               : static_cast<Type>(to);
      },
      constant.member);
  return all;
}

template <typename Constants>
std::string value_of(const Constant<Constants>& constant) {
  return std::visit([](auto member) { return fmt::format("{:g}", static_cast<double>(Constants().*member)); },
                    constant.member);
}

struct Score {
  int unsolved = 0, negative = 0;
  double factorizations = 0;  ///< a problem

  [[nodiscard]] std::string text() const { return fmt::format("{}, {:.1f}", unsolved, factorizations); }
};

template <typename MakeSolver>
Score score(const std::vector<ContactTestProblem>& problems, const MakeSolver& make_solver) {
  Score sum;
  for (const ContactTestProblem& p : problems) {
    const ContactSolution solution = test::solve(make_solver(p.config), p);
    sum.unsolved += !solution.converged;
    sum.negative += solution.has_negative_determinant;
    sum.factorizations += std::max(solution.factorizations, solution.iterations);
  }
  sum.factorizations /= static_cast<double>(problems.size());
  return sum;
}

/// Problems that are hard, and as many as they come.
struct Problems {
  std::vector<ContactTestProblem> hard, ordinary;
  int tried = 0;
};

template <typename IsHard>
Problems find_problems(int count, const IsHard& is_hard) {
  Problems problems;
  for (std::uint64_t seed = 1; static_cast<int>(problems.hard.size()) < count; ++seed) {
    ContactTestProblem p = test::hard_problem(seed, k_bodies);
    if (p.rows.rows.empty()) continue;
    ++problems.tried;
    const bool hard = is_hard(p);
    if (static_cast<int>(problems.ordinary.size()) < count) problems.ordinary.push_back(p);
    if (hard) problems.hard.push_back(std::move(p));
  }
  return problems;
}

template <typename Constants, std::size_t count, typename MakeSolver>
void print_constants(const Constant<Constants> (&list)[count], const Problems& problems,
                     const MakeSolver& make_solver) {
  const auto both = [&](const Constants& constants) {
    const auto make = [&](const StepConfig& config) { return make_solver(config, constants); };
    return std::pair(score(problems.hard, make), score(problems.ordinary, make));
  };
  const auto [hard, ordinary] = both({});
  fmt::print(
      "{} hard problems among {}, and the first {} of these. Cells: unsolved, factorizations a problem. As "
      "is: "
      "{} of the hard ones, {} of the others.\n\n",
      problems.hard.size(), problems.tried, problems.ordinary.size(), hard.text(), ordinary.text());
  print_header({"constant", "value", "half: hard", "double: hard", "half: others", "double: others"});
  for (const Constant<Constants>& constant : list) {
    const auto [half, half_others] = both(scaled(constant, 0.5));
    const auto [twice, twice_others] = both(scaled(constant, 2.0));
    print_row({constant.name, value_of(constant), half.text(), twice.text(), half_others.text(),
               twice_others.text()});
  }
}

SmoothCoulombSolver newton_solver(const StepConfig& config, const NewtonConstants& constants) {
  return {config, config.acceleration_scale, SmoothCoulombSolver::Without::nothing, constants};
}

}  // namespace

void print_newton_constants(const Options& options) {
  const Problems problems = find_problems(options.scenes, [](const ContactTestProblem& p) {
    const ContactSolution solution = test::solve(newton_solver(p.config, {}), p);
    return solution.path != SolutionPath::newton || solution.iterations > 20;
  });
  fmt::print("\n");
  print_constants(k_newton, problems, newton_solver);
  fmt::print("\nRounding: the same problems, to a tolerance of 1e-18.\n\n");
  print_header(
      {"rounding_factor", "unsolved: hard", "unsolved: others", "residual: hard", "residual: others"});
  for (const double factor : {0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 1e9}) {
    NewtonConstants constants;
    constants.rounding_factor = factor;
    std::vector<std::string> unsolved, residual;
    for (const auto* of : {&problems.hard, &problems.ordinary}) {
      int count = 0;
      std::vector<double> residuals;
      for (const ContactTestProblem& p : *of) {
        StepConfig config = p.config;
        config.tolerance = 1e-18;
        const ContactSolution solution = test::solve(newton_solver(config, constants), p);
        count += !solution.converged;
        if (solution.converged) residuals.push_back(solution.residual);
      }
      std::sort(residuals.begin(), residuals.end());
      unsolved.push_back(fmt::format("{}", count));
      residual.push_back(residuals.empty() ? "-"
                                           : fmt::format("{:.1e}, {:.1e}", residuals[residuals.size() / 2],
                                                         residuals.back()));
    }
    print_row({fmt::format("{:g}", factor), unsolved[0], unsolved[1], residual[0], residual[1]});
  }
}

void print_interior_point_constants(const Options& options) {
  const auto make = [](const StepConfig& config, const InteriorPointConstants& constants) {
    StepConfig of_lcp = config;
    of_lcp.law = ContactLaw::lcp;
    return LcpSolver(of_lcp, config.acceleration_scale, constants);
  };
  const Problems problems = find_problems(options.scenes, [&](const ContactTestProblem& p) {
    return test::solve(make(p.config, {}), p).iterations > 48;
  });
  fmt::print("\n");
  print_constants(k_interior_point, problems, make);
}

}  // namespace abut::tables
