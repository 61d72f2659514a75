/// States as arrays of numbers, as trajectory files and Python have them, with the derivatives of the
/// conversion.
///
/// | array            | shape  |                                                           |
/// | ---------------- | ------ | --------------------------------------------------------- |
/// | position         | (n, 3) | of the origin of the asset's frame A, in the world [m]    |
/// | orientation_wxyz | (n, 4) | unit quaternion of the frame, which has the axes of B     |
/// | linear_velocity  | (n, 3) | of the centre of mass, in the world [m/s]                 |
/// | angular_velocity | (n, 3) | in the world [rad/s]                                      |
/// | joint_coordinate | (m)    | of joints_with_coordinate(): angle with all turns, travel [rad or m] |
/// | joint_rate       | (m)    | of these [rad/s or m/s]                                   |
///
/// The first four say what the state is but for whole turns of hinges.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "engine/model.h"
#include "engine/shared_array.h"
#include "engine/state.h"

namespace abut {

/// The arrays of one state, or cotangents of them. A null pointer stands for an array that is not there.
template <typename T>
struct StateNumbers {
  T* position = nullptr;
  T* orientation_wxyz = nullptr;
  T* linear_velocity = nullptr;
  T* angular_velocity = nullptr;
  T* joint_coordinate = nullptr;
  T* joint_rate = nullptr;

  /// The arrays of state number `row`, of states with n bodies and m joints one behind the other.
  [[nodiscard]] StateNumbers at_row(std::size_t row, std::size_t n, std::size_t m) const {
    const auto moved = [](T* numbers, std::size_t by) { return numbers == nullptr ? nullptr : numbers + by; };
    return {moved(position, 3 * row * n),        moved(orientation_wxyz, 4 * row * n),
            moved(linear_velocity, 3 * row * n), moved(angular_velocity, 3 * row * n),
            moved(joint_coordinate, row * m),    moved(joint_rate, row * m)};
  }

  /// The arrays that are there, each with the numbers it has of a state of n bodies and m joints.
  [[nodiscard]] std::vector<std::span<T>> arrays(std::size_t n, std::size_t m) const {
    std::vector<std::span<T>> all;
    for (const auto& [array, width] :
         {std::pair(position, 3 * n), std::pair(orientation_wxyz, 4 * n), std::pair(linear_velocity, 3 * n),
          std::pair(angular_velocity, 3 * n), std::pair(joint_coordinate, m), std::pair(joint_rate, m)}) {
      if (array != nullptr) all.emplace_back(array, width);
    }
    return all;
  }
};

/// Writes the arrays that are there.
void write_state(const Model& model, const State& state, const StateNumbers<double>& to);

/// The cotangents of write_state(): adds dL/d(state) to `bar`, and dL/d(p_BA) of each body to `p_BA_bar`
/// unless that is empty.
void write_state_vjp(const Model& model, const State& state, const StateNumbers<const double>& numbers_bar,
                     StateTangent& bar, std::span<Vec3<double>> p_BA_bar = {});

/// Sets what the arrays give; the rest of the state stays. Quaternions are normalised. Joints come last, and move what is
/// beyond them (set_joints()). Throws std::invalid_argument naming the body for a number that is not finite or a
/// quaternion shorter than 1e-3, and as set_joints().
void read_state(const Model& model, const StateNumbers<const double>& from, State& state);

/// The cotangents of read_state(): writes dL/d(numbers of the bodies), and dL/d(coordinate and rate of each joint) where
/// all others stay, NaN of one that cannot move by itself (can_move()).
///
/// @param state        that was read
/// @param orientation  (n, 4) as given, before it was normalised; null: of unit length
void read_state_vjp(const Model& model, const State& state, const double* orientation,
                    const StateTangent& bar, const StateNumbers<double>& numbers_bar);

/// Arrays of many states.
struct StateArrays {
  SharedArray<double> position, orientation_wxyz, linear_velocity, angular_velocity, joint_coordinate,
      joint_rate;

  StateArrays() = default;
  /// Of shape (leading..., bodies, 3 or 4) and (leading..., joints), uninitialised.
  StateArrays(const std::vector<std::size_t>& leading, std::size_t bodies, std::size_t joints);

  [[nodiscard]] StateNumbers<double> numbers() const {
    return {position.data(),         orientation_wxyz.data(), linear_velocity.data(),
            angular_velocity.data(), joint_coordinate.data(), joint_rate.data()};
  }
};

/// From arrays of [torque; force] (n, 6) and of commands (u); either may be empty.
[[nodiscard]] Control control_of(std::span<const double> wrenches, std::span<const double> commands);

}  // namespace abut
