#include "apps/identification/unit_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string_view>

#include <spdlog/fmt/fmt.h>

namespace abut {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr std::array<Unit, 5> k_lengths{
    {{"metres", 1.0}, {"millimetres", 1e-3}, {"centimetres", 1e-2}, {"inches", 0.0254}, {"feet", 0.3048}}};
constexpr std::array<Unit, 3> k_times{{{"seconds", 1.0}, {"milliseconds", 1e-3}, {"microseconds", 1e-6}}};

/// A measured position, with the components that were not measured left out.
struct SeenPoint {
  int body;
  double time;
  Vec3<double> p_WA;
  std::array<bool, 3> is_measured;
};

std::vector<SeenPoint> positions_of(const MeasuredMotion& motion) {
  std::vector<SeenPoint> seen;
  for (const Measurement& measurement : motion.measurements) {
    if (const auto* pose = std::get_if<MeasuredPose>(&measurement.what)) {
      seen.push_back({pose->body, measurement.time, pose->p_WA, pose->is_measured});
    } else if (const auto* points = std::get_if<SurfacePoints>(&measurement.what)) {
      seen.push_back({points->body, measurement.time, points->p_W.rowwise().mean(), {true, true, true}});
    }
  }
  return seen;
}

/// How much of measured positions a motion explains, by sums over all components.
struct Misfit {
  double squares = 0;    // of simulated less measured
  double variation = 0;  // of what is simulated, about its start
  double measured = 0;   // the same of what was measured, times the factor

  void add(const Misfit& other) {
    squares += other.squares;
    variation += other.variation;
    measured += other.measured;
  }
  /// Of both motions, that of the larger one.
  [[nodiscard]] double share() const { return squares / std::max(variation, measured); }
};

/// The states of the first part of a motion at the guesses; none if it cannot be simulated.
class GuessedMotion {
 public:
  GuessedMotion(const MotionFit& fit, int motion, double until) {
    constexpr double k_most_steps = 2000;
    const Scene& scene = fit.experiment().scene;
    const double h = scene.config.step.h;
    const double steps = std::min(std::ceil((until - scene.initial.time) / h - 1e-9), k_most_steps);
    if (!(steps >= 1.0)) return;
    try {
      const UnknownSpace& unknowns = fit.unknowns();
      const Segment segment{motion, 0, 0, static_cast<int>(steps)};
      const UnknownSpace::Inputs inputs = unknowns.inputs(unknowns.initial(), segment);
      const Simulator simulator = unknowns.simulator(inputs);
      Trajectory trajectory = simulator.rollout(inputs.scene.initial, segment.step_count, inputs.controls);
      if (!trajectory.ok()) return;
      states_ = std::move(trajectory.states);
      bodies_ = simulator.model().bodies;
      h_ = h;
    } catch (const std::invalid_argument&) {
      // a shape that cannot be, as the search will say
    }
  }
  [[nodiscard]] bool is_known(double time) const {
    return !states_.empty() && time <= states_.back().time + 0.5 * h_;
  }
  [[nodiscard]] Vec3<double> position(int body, double time) const {
    const Moment moment = moment_of(time, states_.front().time, h_, static_cast<int>(states_.size()) - 1);
    const auto p_WA = [&](int state) {
      return Vec3<double>(states_[at(state)].X_WB[at(body)] * bodies_[at(body)].p_BA);
    };
    return (1.0 - moment.share) * p_WA(moment.earlier) + moment.share * p_WA(moment.later);
  }
  [[nodiscard]] Vec3<double> start(int body) const {
    return states_.front().X_WB[at(body)] * bodies_[at(body)].p_BA;
  }

 private:
  std::vector<State> states_;
  std::vector<Body> bodies_;
  double h_ = 0.0;
};

/// Of one motion, with all factors of lengths at a factor of times; nothing where it is not simulated.
std::optional<std::array<Misfit, k_lengths.size()>> misfits(const MotionFit& fit, int motion,
                                                            const std::vector<SeenPoint>& seen,
                                                            double time_factor) {
  constexpr int k_least = 3;  // positions, which say something of how they vary
  const GuessedMotion guessed(fit, motion, time_factor * seen.back().time);
  std::array<Misfit, k_lengths.size()> out;
  int count = 0;
  for (const SeenPoint& s : seen) {
    if (!guessed.is_known(time_factor * s.time)) break;
    ++count;
    const Vec3<double> p = guessed.position(s.body, time_factor * s.time), start = guessed.start(s.body);
    for (std::size_t u = 0; u < k_lengths.size(); ++u) {
      for (int i = 0; i < 3; ++i) {
        if (!s.is_measured[at(i)]) continue;
        const double measured = k_lengths[u].factor * s.p_WA[i];
        out[u].squares += std::pow(p[i] - measured, 2);
        out[u].variation += std::pow(p[i] - start[i], 2);
        out[u].measured += std::pow(measured - start[i], 2);
      }
    }
  }
  if (count < k_least) return std::nullopt;
  return out;
}

std::string sentence(const char* quantity, const Unit& unit, double explained) {
  return fmt::format(
      "{} look like {}: multiplied by {:g}, the motion of the guesses explains {:.0f} % of how "
      "they vary",
      quantity, unit.name, unit.factor, 100.0 * explained);
}

}  // namespace

std::vector<UnitSuspicion> suspected_units(const MotionFit& fit) {
  constexpr double k_explained = 0.3;  // of the variation, that is left: guesses are but guesses
  constexpr double k_moves = 10.0;     // deviations of the noise on average, or nothing can be said
  std::array<std::array<Misfit, k_lengths.size()>, k_times.size()> sums{};
  std::array<int, k_times.size()> known{};
  double noise = 0.0;
  int motions = 0;
  for (std::size_t m = 0; m < fit.experiment().motions.size(); ++m) {
    const std::vector<SeenPoint> seen = positions_of(fit.experiment().motions[m]);
    if (seen.empty()) continue;
    ++motions;
    for (const Measurement& measurement : fit.experiment().motions[m].measurements) {
      if (const auto* pose = std::get_if<MeasuredPose>(&measurement.what))
        noise += static_cast<double>(pose->components().size()) * std::pow(pose->position_noise, 2);
    }
    for (std::size_t t = 0; t < k_times.size(); ++t) {
      const auto of_motion = misfits(fit, static_cast<int>(m), seen, k_times[t].factor);
      if (!of_motion) continue;
      ++known[t];
      for (std::size_t u = 0; u < k_lengths.size(); ++u) sums[t][u].add((*of_motion)[u]);
    }
  }
  const auto share = [&](std::size_t t, std::size_t u) {
    const bool moves = sums[t][u].variation > k_moves * k_moves * noise && sums[t][u].variation > 0.0;
    return known[t] == motions && motions > 0 && moves ? sums[t][u].share() : 1.0;
  };
  std::size_t best_time = 0, best_length = 0;
  for (std::size_t t = 0; t < k_times.size(); ++t) {
    for (std::size_t u = 0; u < k_lengths.size(); ++u) {
      if (share(t, u) < share(best_time, best_length)) {
        best_time = t;
        best_length = u;
      }
    }
  }
  const double left = share(best_time, best_length);
  const bool is_as_given = share(0, 0) < k_explained;
  std::vector<UnitSuspicion> found;
  if (!(left < k_explained) || is_as_given) return found;
  if (best_length > 0) {
    found.push_back({UnitSuspicion::Quantity::positions, k_lengths[best_length].factor,
                     sentence("positions", k_lengths[best_length], 1.0 - left)});
  }
  if (best_time > 0) {
    found.push_back({UnitSuspicion::Quantity::times, k_times[best_time].factor,
                     sentence("times", k_times[best_time], 1.0 - left)});
  }
  return found;
}

}  // namespace abut
