#include "apps/identification/unit_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>

#include <spdlog/fmt/fmt.h>

#include "engine/joint_geometry.h"

namespace abut {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr std::array<Unit, 5> k_lengths{
    {{"metres", 1.0}, {"millimetres", 1e-3}, {"centimetres", 1e-2}, {"inches", 0.0254}, {"feet", 0.3048}}};
constexpr std::array<Unit, 2> k_angles{{{"radians", 1.0}, {"degrees", std::numbers::pi / 180.0}}};
constexpr std::array<Unit, 3> k_times{{{"seconds", 1.0}, {"milliseconds", 1e-3}, {"microseconds", 1e-6}}};

/// A number that was measured at a time: a component of the position of a body's asset frame (of surface points: of
/// their mean), or the coordinate of a joint.
struct SeenNumber {
  int body = -1, component = 0;
  int joint = -1;
  bool is_angle = false;
  double time = 0, measured = 0, noise = 1;
};

std::vector<SeenNumber> numbers_of(const Model& model, const MeasuredMotion& motion) {
  std::vector<SeenNumber> seen;
  const auto add_position = [&](int body, double time, const Vec3<double>& p_WA, double noise,
                                const std::array<bool, 3>& is_measured) {
    for (int i = 0; i < 3; ++i) {
      if (is_measured[at(i)]) seen.push_back({body, i, -1, false, time, p_WA[i], noise});
    }
  };
  for (const Measurement& measurement : motion.measurements) {
    const double time = measurement.time;
    if (const auto* pose = std::get_if<MeasuredPose>(&measurement.what)) {
      add_position(pose->body, time, pose->p_WA, pose->position_noise, pose->is_measured);
    } else if (const auto* points = std::get_if<SurfacePoints>(&measurement.what)) {
      add_position(points->body, time, points->p_W.rowwise().mean(), points->noise, {true, true, true});
    } else if (const auto* joint = std::get_if<MeasuredJoint>(&measurement.what)) {
      const bool is_angle = model.joints[at(joint->joint)].kind == JointKind::hinge;
      if (joint->coordinate)
        seen.push_back({-1, 0, joint->joint, is_angle, time, *joint->coordinate, joint->coordinate_noise});
    }
  }
  return seen;
}

/// How well a motion explains measured numbers. Sums of squares, each number in its standard deviation.
struct Misfit {
  double squares = 0;    // of simulated less measured
  double variation = 0;  // of what is simulated, about its start
  double measured = 0;   // the same of what was measured, times the factor
  double count = 0;

  void add(const Misfit& other) {
    squares += other.squares;
    variation += other.variation;
    measured += other.measured;
    count += other.count;
  }
  void add(double simulated, double value, double start, double noise) {
    squares += std::pow((simulated - value) / noise, 2);
    variation += std::pow((simulated - start) / noise, 2);
    measured += std::pow((value - start) / noise, 2);
    count += 1.0;
  }
  /// Of both motions, that of the larger one. Where the motion hardly moves, nothing can be said.
  [[nodiscard]] double share() const {
    constexpr double k_moves = 10.0;  // standard deviations on average
    return variation > k_moves * k_moves * count && variation > 0.0 ? squares / std::max(variation, measured)
                                                                    : 1.0;
  }
};

/// Of numbers in each of the units that they may have.
struct Misfits {
  std::array<Misfit, k_lengths.size()> lengths{};
  std::array<Misfit, k_angles.size()> angles{};

  void add(const Misfits& other) {
    for (std::size_t u = 0; u < lengths.size(); ++u) lengths[u].add(other.lengths[u]);
    for (std::size_t u = 0; u < angles.size(); ++u) angles[u].add(other.angles[u]);
  }
  /// In these units, all numbers together.
  [[nodiscard]] double share(std::size_t length, std::size_t angle) const {
    Misfit both = lengths[length];
    both.add(angles[angle]);
    return both.share();
  }
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
      model_ = simulator.model();
      h_ = h;
    } catch (const std::invalid_argument&) {
      // a shape that cannot be, as the search will say
    }
  }
  [[nodiscard]] bool is_known(double time) const {
    return !states_.empty() && time <= states_.back().time + 0.5 * h_;
  }
  [[nodiscard]] double number(const SeenNumber& seen, double time) const {
    const Moment moment = moment_of(time, states_.front().time, h_, static_cast<int>(states_.size()) - 1);
    return (1.0 - moment.share) * number_in(seen, states_[at(moment.earlier)]) +
           moment.share * number_in(seen, states_[at(moment.later)]);
  }
  [[nodiscard]] double start(const SeenNumber& seen) const { return number_in(seen, states_.front()); }

 private:
  [[nodiscard]] double number_in(const SeenNumber& seen, const State& state) const {
    if (seen.joint >= 0) return joint_coordinate(model_, seen.joint, state);
    return Vec3<double>(state.X_WB[at(seen.body)] * model_.bodies[at(seen.body)].p_BA)[seen.component];
  }

  std::vector<State> states_;
  Model model_;
  double h_ = 0.0;
};

/// The misfits of one motion in all units, its times multiplied by a factor. None if that much is not simulated.
std::optional<Misfits> misfits(const MotionFit& fit, int motion, const std::vector<SeenNumber>& seen,
                               double time_factor) {
  constexpr int k_least = 3;  // times, which say something of how numbers vary
  const GuessedMotion guessed(fit, motion, time_factor * seen.back().time);
  Misfits out;
  std::set<double> times;
  for (const SeenNumber& s : seen) {
    const double time = time_factor * s.time;
    if (!guessed.is_known(time)) break;
    times.insert(time);
    const double simulated = guessed.number(s, time), start = guessed.start(s);
    const auto add = [&](auto& in_units, const auto& units) {
      for (std::size_t u = 0; u < units.size(); ++u)
        in_units[u].add(simulated, units[u].factor * s.measured, start, s.noise);
    };
    if (s.is_angle) {
      add(out.angles, k_angles);
    } else {
      add(out.lengths, k_lengths);
    }
  }
  if (times.size() < k_least) return std::nullopt;
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
  std::array<Misfits, k_times.size()> sums{};
  std::array<int, k_times.size()> known{};
  int motions = 0;
  for (std::size_t m = 0; m < fit.experiment().motions.size(); ++m) {
    const std::vector<SeenNumber> seen =
        numbers_of(fit.experiment().scene.model, fit.experiment().motions[m]);
    if (seen.empty()) continue;
    ++motions;
    for (std::size_t t = 0; t < k_times.size(); ++t) {
      const auto of_motion = misfits(fit, static_cast<int>(m), seen, k_times[t].factor);
      if (!of_motion) continue;
      ++known[t];
      sums[t].add(*of_motion);
    }
  }
  struct Units {
    std::size_t time = 0, length = 0, angle = 0;
  };
  const auto share = [&](const Units& units) {
    const bool is_known = known[units.time] == motions && motions > 0;
    return is_known ? sums[units.time].share(units.length, units.angle) : 1.0;
  };
  Units best;
  for (std::size_t t = 0; t < k_times.size(); ++t) {
    for (std::size_t u = 0; u < k_lengths.size(); ++u) {
      for (std::size_t a = 0; a < k_angles.size(); ++a) {
        if (share({t, u, a}) < share(best)) best = {t, u, a};
      }
    }
  }
  const double left = share(best);
  const bool is_as_given = share({}) < k_explained;
  std::vector<UnitSuspicion> found;
  if (!(left < k_explained) || is_as_given) return found;
  const auto add = [&](UnitSuspicion::Quantity quantity, const char* name, const Unit& unit) {
    if (unit.factor != 1.0) found.push_back({quantity, unit.factor, sentence(name, unit, 1.0 - left)});
  };
  add(UnitSuspicion::Quantity::positions, "positions", k_lengths[best.length]);
  add(UnitSuspicion::Quantity::angles, "angles", k_angles[best.angle]);
  add(UnitSuspicion::Quantity::times, "times", k_times[best.time]);
  return found;
}

}  // namespace abut
