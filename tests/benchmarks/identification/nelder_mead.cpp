#include "tests/benchmarks/identification/nelder_mead.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace abut {

NelderMeadResult nelder_mead(const std::function<double(const Eigen::VectorXd&)>& f, const Eigen::VectorXd& x,
                             const Eigen::VectorXd& steps, double target, int max_evaluations) {
  struct Corner {
    Eigen::VectorXd x;
    double value;
  };
  const auto n = static_cast<double>(x.size());
  const double reflect = 1.0, expand = 1.0 + 2.0 / n, contract = 0.75 - 0.5 / n, shrink = 1.0 - 1.0 / n;
  NelderMeadResult result;
  const auto corner_at = [&](Eigen::VectorXd at) {
    ++result.evaluations;
    const double value = f(at);
    return Corner{std::move(at), value};
  };
  std::vector<Corner> simplex{corner_at(x)};
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    Eigen::VectorXd moved = x;
    moved[i] += steps[i];
    simplex.push_back(corner_at(moved));
  }
  const auto by_value = [](const Corner& a, const Corner& b) { return a.value < b.value; };
  while (true) {
    std::sort(simplex.begin(), simplex.end(), by_value);
    const Corner& best = simplex.front();
    result.x = best.x;
    result.value = best.value;
    result.reached = best.value <= target;
    if (result.reached || result.evaluations >= max_evaluations) return result;
    Eigen::VectorXd centre = Eigen::VectorXd::Zero(x.size());
    for (std::size_t i = 0; i + 1 < simplex.size(); ++i) centre += simplex[i].x / n;
    Corner& worst = simplex.back();
    const double second_worst = simplex[simplex.size() - 2].value;
    const Eigen::VectorXd away = centre - worst.x;
    Corner reflected = corner_at(centre + reflect * away);
    if (reflected.value < best.value) {
      Corner expanded = corner_at(centre + reflect * expand * away);
      worst = expanded.value < reflected.value ? std::move(expanded) : std::move(reflected);
      continue;
    }
    if (reflected.value < second_worst) {
      worst = std::move(reflected);
      continue;
    }
    const bool is_outside = reflected.value < worst.value;
    Corner contracted = corner_at(centre + (is_outside ? contract : -contract) * away);
    if (contracted.value < std::min(reflected.value, worst.value)) {
      worst = std::move(contracted);
      continue;
    }
    for (std::size_t i = 1; i < simplex.size(); ++i)
      simplex[i] = corner_at(simplex[0].x + shrink * (simplex[i].x - simplex[0].x));
  }
}

}  // namespace abut
