/// States as arrays of numbers, as trajectory files and Python have them, with the derivatives of the
/// conversion.
///
/// | array            | shape  |                                                           |
/// | ---------------- | ------ | --------------------------------------------------------- |
/// | position         | (n, 3) | of the origin of the asset's frame A, in the world [m]    |
/// | orientation_wxyz | (n, 4) | unit quaternion of the frame, which has the axes of B     |
/// | linear_velocity  | (n, 3) | of the centre of mass, in the world [m/s]                 |
/// | angular_velocity | (n, 3) | in the world [rad/s]                                      |
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "engine/model.h"
#include "engine/shared_array.h"
#include "engine/state.h"

namespace abut {

/// The four arrays of one state, or cotangents of them. A null pointer stands for an array that is not there.
template <typename T>
struct StateNumbers {
  T* position = nullptr;
  T* orientation_wxyz = nullptr;
  T* linear_velocity = nullptr;
  T* angular_velocity = nullptr;

  /// Those of another state, `row` states further on in arrays of n bodies.
  [[nodiscard]] StateNumbers at_row(std::size_t row, std::size_t n) const {
    const auto moved = [](T* numbers, std::size_t by) { return numbers == nullptr ? nullptr : numbers + by; };
    return {moved(position, 3 * row * n), moved(orientation_wxyz, 4 * row * n),
            moved(linear_velocity, 3 * row * n), moved(angular_velocity, 3 * row * n)};
  }
};

/// Writes the arrays that are there.
void write_state(const Model& model, const State& state, const StateNumbers<double>& to);

/// The cotangents of write_state(): adds dL/d(state) to `bar`, and dL/d(p_BA) of each body to `p_BA_bar`
/// unless that is empty.
void write_state_vjp(const Model& model, const State& state, const StateNumbers<const double>& numbers_bar,
                     StateTangent& bar, std::span<Vec3<double>> p_BA_bar = {});

/// Sets what the arrays give; the rest of the state stays. Quaternions are normalised. Throws
/// std::invalid_argument naming the body for a number that is not finite or a quaternion shorter than 1e-3.
void read_state(const Model& model, const StateNumbers<const double>& from, State& state);

/// The cotangents of read_state(): writes dL/d(numbers).
///
/// @param state        that was read
/// @param orientation  (n, 4) as given, before it was normalised; null: of unit length
void read_state_vjp(const Model& model, const State& state, const double* orientation,
                    const StateTangent& bar, const StateNumbers<double>& numbers_bar);

/// Arrays of many states.
struct StateArrays {
  SharedArray<double> position, orientation_wxyz, linear_velocity, angular_velocity;

  StateArrays() = default;
  /// Of shape (leading..., bodies, 3 or 4), uninitialised.
  StateArrays(const std::vector<std::size_t>& leading, std::size_t bodies);

  [[nodiscard]] StateNumbers<double> numbers() const {
    return {position.data(), orientation_wxyz.data(), linear_velocity.data(), angular_velocity.data()};
  }
};

}  // namespace abut
