#include "engine/model.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "engine/closest_word.h"

namespace abut {
namespace {

template <typename Named>
int index_of(const std::vector<Named>& all, std::string_view what, std::string_view plural,
             std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.name == name; });
  if (found != all.end()) return static_cast<int>(found - all.begin());
  constexpr std::size_t k_most_names = 20;
  std::vector<std::string> names;
  for (const Named& one : all) names.push_back(one.name);
  const std::string closest = closest_word(name, names);
  std::string message = fmt::format("there is no {} '{}'", what, name);
  if (!closest.empty()) message += fmt::format("; did you mean '{}'?", closest);
  const std::size_t shown = std::min(k_most_names, names.size());
  if (names.empty()) message += fmt::format("; there are no {}", plural);
  if (!names.empty()) {
    message +=
        fmt::format(" (there {} '{}'{})", names.size() == 1 ? "is" : "are",
                    fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), "', '"),
                    shown < names.size() ? fmt::format(" and {} more", names.size() - shown) : "");
  }
  throw std::invalid_argument(message);
}

}  // namespace

Vec6<double> Oscillation::twist(double time) const {
  const double rate = 2.0 * std::numbers::pi * frequency;
  return rate * std::cos(rate * time + phase) * stack<double>(rotation_amplitude, amplitude);
}

Vec6<double> Oscillation::mean_twist(double time, double h) const {
  const double half_turn = std::numbers::pi * frequency * h;
  const double way =
      2.0 * std::sin(half_turn) * std::cos(2.0 * std::numbers::pi * frequency * time + half_turn + phase);
  return way / h * stack<double>(rotation_amplitude, amplitude);
}

int Model::body(std::string_view name) const { return index_of(bodies, "body", "bodies", name); }
int Model::joint(std::string_view name) const { return index_of(joints, "joint", "joints", name); }

}  // namespace abut
