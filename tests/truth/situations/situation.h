/// Situations whose outcome mechanics gives: the types of the truth suite (docs/truth.md).
///
/// SI units; gravity is 9.81 m/s^2 along -z unless a situation says otherwise. Slopes fall towards +x.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "engine/config.h"
#include "tests/support/scenes.h"

namespace abut::truth {

inline constexpr double k_g = 9.81;  ///< [m/s^2]

/// Size and time step that a situation is set up with. Speeds and times of a situation are multiples of V and T,
/// so that it is the same motion at every size.
struct Scale {
  double L = 0.1;   ///< half the largest extent of the main body [m]
  double h = 2e-3;  ///< time step [s]
  [[nodiscard]] double V() const { return std::sqrt(k_g * L); }  ///< [m/s]
  [[nodiscard]] double T() const { return std::sqrt(L / k_g); }  ///< [s]
};

/// States of a run, the initial one first.
struct Motion {
  std::vector<State> states;
  double h = 0.0;  ///< between them [s]

  [[nodiscard]] const State& first() const { return states.front(); }
  [[nodiscard]] const State& last() const { return states.back(); }
  /// The state nearest to a time.
  [[nodiscard]] const State& at(double time) const;
  [[nodiscard]] Vec3<double> displacement(int body) const;
  [[nodiscard]] Vec3<double> position(int body) const {
    return last().X_WB[static_cast<std::size_t>(body)].p;
  }
  [[nodiscard]] Vec3<double> velocity(int body) const {
    return last().V_WB[static_cast<std::size_t>(body)].tail<3>();
  }
  [[nodiscard]] Vec3<double> angular_velocity(int body) const {
    return last().V_WB[static_cast<std::size_t>(body)].head<3>();
  }
  /// The image of an axis of the body's frame in the last state.
  [[nodiscard]] Vec3<double> axis(int body, const Vec3<double>& axis_B) const {
    return last().X_WB[static_cast<std::size_t>(body)].q * axis_B;
  }
  /// Angle between the last orientation of a body and its first [rad].
  [[nodiscard]] double turn(int body) const;
};

/// A scene, what is measured of its motion, and the right value of that.
struct Setup {
  test::TestScene scene;
  double seconds = 0.0;    ///< of simulated time
  double exact = 0.0;      ///< right value, from mechanics
  double tolerance = 0.0;  ///< largest |measured - exact| that counts as true, in the same unit
  std::function<double(const Motion&)> measure;
};

/// An ordinary situation with a known outcome.
struct Situation {
  std::string name;       ///< "family: sentence"
  std::string quantity;   ///< what is measured
  std::string source;     ///< formula of the right value, or the program that gave it
  std::string tolerance;  ///< and the reason for it
  std::vector<std::string> kinds;
  std::function<Setup(const std::string& kind, const Scale& scale)> build;
};

/// All of them, family by family, in the order of docs/truth.md.
[[nodiscard]] const std::vector<Situation>& situations();

using Situations = std::vector<Situation>;
void add_slides(Situations& all);
void add_rolls(Situations& all);
void add_rests(Situations& all);
void add_stacks(Situations& all);
void add_falls(Situations& all);
void add_tips(Situations& all);
void add_bounces(Situations& all);
void add_strikes(Situations& all);
void add_joints(Situations& all);
void add_spins(Situations& all);
void add_carries(Situations& all);
void add_pinches(Situations& all);

}  // namespace abut::truth
