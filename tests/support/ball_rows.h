/// Rows of balls (Newton's cradle), and the sequence of impacts of two at a time that they go through.
#pragma once

#include <limits>
#include <stdexcept>
#include <vector>

#include "tests/support/scenes.h"

namespace abut::test {

/// Balls along x without gravity and friction, the first 0.1 m before the others and at `speed` [m/s].
struct BallRow {
  std::vector<double> masses;
  double gap = 1e-4;  ///< between the others [m]
  double restitution = 1.0;
  double speed = 1.0;

  static constexpr double k_radius = 0.05, k_approach = 0.1;

  [[nodiscard]] double start(std::size_t i) const {
    return 2.0 * k_radius * static_cast<double>(i) +
           (i == 0 ? -k_approach : gap * static_cast<double>(i - 1));
  }

  [[nodiscard]] TestScene scene() const {
    TestScene scene;
    scene.model.gravity.setZero();
    for (std::size_t i = 0; i < masses.size(); ++i) {
      scene.add(sphere_of_mass(k_radius, masses[i]), pose_at({start(i), 0, 0}),
                moving_at({i == 0 ? speed : 0.0, 0, 0}));
    }
    for (Body& body : scene.model.bodies) body.material.restitution = restitution;
    scene.set_friction(0.0);
    return scene;
  }

  /// Velocities after `seconds`, of impacts of two neighbours at a time, each by Newton's law
  ///     m_1 v_1' + m_2 v_2' = m_1 v_1 + m_2 v_2,   v_2' - v_1' = -e (v_2 - v_1).
  /// In contact (gap 0) two neighbours meet when they approach, those on the left first.
  [[nodiscard]] std::vector<double> velocities(double seconds) const {
    const std::size_t n = masses.size();
    std::vector<double> x(n), v(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) x[i] = start(i);
    v[0] = speed;
    double remaining = seconds;
    constexpr int k_most_impacts = 10000;
    for (int impact = 0; impact < k_most_impacts; ++impact) {
      double time = std::numeric_limits<double>::infinity();
      std::size_t first = n;
      for (std::size_t i = 0; i + 1 < n; ++i) {
        const double closing = v[i] - v[i + 1];
        if (closing <= 1e-12 * speed) continue;
        const double until = std::max(0.0, x[i + 1] - x[i] - 2.0 * k_radius) / closing;
        if (until < time) {
          time = until;
          first = i;
        }
      }
      if (!(time < remaining)) return v;
      for (std::size_t i = 0; i < n; ++i) x[i] += time * v[i];
      remaining -= time;
      const double m_1 = masses[first], m_2 = masses[first + 1],
                   impulse = (1.0 + restitution) * (v[first] - v[first + 1]) * m_1 * m_2 / (m_1 + m_2);
      v[first] -= impulse / m_1;
      v[first + 1] += impulse / m_2;
    }
    throw std::runtime_error("the impacts of a row of balls do not end");
  }
};

}  // namespace abut::test
