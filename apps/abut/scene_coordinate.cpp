#include "apps/abut/scene_coordinate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/toml_table.h"

namespace abut {
namespace {

struct Named {
  std::string_view name, unit;
  SceneCoordinate::Kind kind;
  int index;
};

constexpr std::array<Named, 13> k_coordinates{{{"x", "m", SceneCoordinate::Kind::position, 0},
                                               {"y", "m", SceneCoordinate::Kind::position, 1},
                                               {"z", "m", SceneCoordinate::Kind::position, 2},
                                               {"roll", "rad", SceneCoordinate::Kind::angle, 0},
                                               {"pitch", "rad", SceneCoordinate::Kind::angle, 1},
                                               {"yaw", "rad", SceneCoordinate::Kind::angle, 2},
                                               {"vx", "m/s", SceneCoordinate::Kind::velocity, 0},
                                               {"vy", "m/s", SceneCoordinate::Kind::velocity, 1},
                                               {"vz", "m/s", SceneCoordinate::Kind::velocity, 2},
                                               {"wx", "rad/s", SceneCoordinate::Kind::angular_velocity, 0},
                                               {"wy", "rad/s", SceneCoordinate::Kind::angular_velocity, 1},
                                               {"wz", "rad/s", SceneCoordinate::Kind::angular_velocity, 2},
                                               {"distance", "m", SceneCoordinate::Kind::distance, 0}}};

/// The bodies of "A:B", whatever colons their names have.
void find_two_bodies(const Model& model, const std::string& name, const std::string& both,
                     SceneCoordinate& coordinate) {
  const auto is_body = [&](const std::string& word) {
    return std::any_of(model.bodies.begin(), model.bodies.end(),
                       [&](const Body& body) { return body.name == word; });
  };
  std::size_t colon = both.find(':');
  require(colon != std::string::npos,
          fmt::format("'{}': a distance is between two bodies, distance:BODY:BODY", name));
  for (std::size_t at = colon; at != std::string::npos; at = both.find(':', at + 1)) {
    if (!is_body(both.substr(0, at)) || !is_body(both.substr(at + 1))) continue;
    colon = at;
    break;
  }
  coordinate.body_A = model.body(both.substr(0, colon));
  coordinate.body_B = model.body(both.substr(colon + 1));
  require(coordinate.body_A != coordinate.body_B,
          fmt::format("'{}': a body has no distance from itself", name));
}

template <typename S>
S value_of(const Model& model, const SceneCoordinate& coordinate, const StateView<S>& x) {
  using std::atan2, std::sqrt;
  const auto origin = [&](int body) { return x.point(body, model.bodies[at(body)].p_BA); };
  switch (coordinate.kind) {
    case SceneCoordinate::Kind::position:
      return origin(coordinate.body_A)[coordinate.index];
    case SceneCoordinate::Kind::velocity:
      return x.velocity(coordinate.body_A)[coordinate.index];
    case SceneCoordinate::Kind::angular_velocity:
      return x.angular_velocity(coordinate.body_A)[coordinate.index];
    case SceneCoordinate::Kind::distance: {
      const Vec3<S> p = origin(coordinate.body_B) - origin(coordinate.body_A);
      return sqrt(p.squaredNorm());
    }
    case SceneCoordinate::Kind::angle:
      break;
  }
  const Mat3<S> R = x.rotation(coordinate.body_A);
  if (coordinate.index == 0) return atan2(R(2, 1), R(2, 2));
  if (coordinate.index == 1) return atan2(-R(2, 0), sqrt(R(0, 0) * R(0, 0) + R(1, 0) * R(1, 0)));
  return atan2(R(1, 0), R(0, 0));
}

}  // namespace

SceneCoordinate find_coordinate(const Model& model, const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string word = name.substr(0, colon);
  const auto found = std::find_if(k_coordinates.begin(), k_coordinates.end(),
                                  [&](const Named& named) { return named.name == word; });
  if (found == k_coordinates.end()) {
    std::vector<std::string> words;
    for (const Named& named : k_coordinates) words.emplace_back(named.name);
    const std::string closest = closest_word(word, words);
    throw std::invalid_argument(fmt::format(
        "'{}': there is no coordinate '{}'{}; known are {}", name, word,
        closest.empty() ? "" : fmt::format(", did you mean '{}'?", closest), fmt::join(words, ", ")));
  }
  require(colon != std::string::npos, fmt::format("'{}': of which body? Write {}:BODY", name, word));
  SceneCoordinate coordinate{name, std::string(found->unit), found->kind, found->index, -1, -1};
  const std::string rest = name.substr(colon + 1);
  try {
    if (found->kind == SceneCoordinate::Kind::distance) {
      find_two_bodies(model, name, rest, coordinate);
    } else {
      coordinate.body_A = model.body(rest);
    }
  } catch (const std::invalid_argument& error) {
    const std::string what = error.what();
    throw std::invalid_argument(what.starts_with("'") ? what : fmt::format("'{}': {}", name, what));
  }
  return coordinate;
}

std::string why_not_differentiable(const Model& model, const SceneCoordinate& coordinate,
                                   const State& state) {
  if (coordinate.kind != SceneCoordinate::Kind::angle) return {};
  constexpr double k_least_cosine = 1e-6;
  const Mat3<double> R = state.X_WB[at(coordinate.body_A)].rotation();
  if (std::hypot(R(0, 0), R(1, 0)) > k_least_cosine) return {};
  return fmt::format(
      "{}: '{}' is pitched by {} degrees, where a roll is a yaw, and neither these nor the pitch have "
      "derivatives",
      coordinate.name, model.bodies[at(coordinate.body_A)].name, R(2, 0) < 0.0 ? "90" : "-90");
}

RolloutLoss coordinate_loss(const Model& model, const SceneCoordinate& coordinate, int steps) {
  return final_loss(steps, [&model, coordinate](const auto& x) { return value_of(model, coordinate, x); });
}

}  // namespace abut
