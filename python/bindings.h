/// Parts of the module _abut, which the package abut wraps: every function of it takes and gives arrays by
/// the buffer protocol, so that the module depends on no version of NumPy.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>

#include "dynamics/parameterized_scene.h"
#include "dynamics/tiled_rollouts.h"
#include "engine/control.h"
#include "engine/joint_geometry.h"
#include "engine/scene.h"
#include "engine/shared_array.h"

namespace abut::python {

namespace py = pybind11;

/// A scene and the file it comes from.
struct LoadedScene {
  std::filesystem::path path;
  Scene scene;
};

/// A scene with named parameters, prepared; and a scratch for steps by themselves.
struct SceneSimulator {
  std::filesystem::path path;
  ParameterizedScene scene;
  StepScratch scratch;  ///< of step(), which one thread at a time may call
  std::mutex mutex;     ///< of the scratch

  [[nodiscard]] const Model& model() const { return scene.scene().model; }
  [[nodiscard]] std::size_t body_count() const { return model().bodies.size(); }
  [[nodiscard]] std::size_t joint_count() const { return joints_with_coordinate(model()).size(); }
  [[nodiscard]] std::size_t motor_count() const { return abut::motor_count(model()); }
};

/// An array of the library's numbers, which Python sees through the buffer protocol. The numbers live as long
/// as any view of them.
struct Buffer {
  std::shared_ptr<const void> owner;
  void* data = nullptr;
  std::vector<py::ssize_t> shape;
  std::string format;
  py::ssize_t item_size = 0;
};

template <typename T>
[[nodiscard]] Buffer buffer_of(const SharedArray<T>& array) {
  return {array.numbers, const_cast<std::remove_const_t<T>*>(array.data()),
          std::vector<py::ssize_t>(array.shape.begin(), array.shape.end()),
          py::format_descriptor<T>::format(), static_cast<py::ssize_t>(sizeof(T))};
}

/// The doubles of a buffer in C order, whose request must outlive them. Throws ValueError for any other.
[[nodiscard]] std::span<const double> doubles_of(const py::buffer_info& info, const char* name);

/// An argument that may be None, held as long as its numbers are used.
class RowsArgument {
 public:
  RowsArgument(const py::object& object, const char* name);
  [[nodiscard]] const TiledRows& rows() const { return rows_; }
  [[nodiscard]] const double* data() const {
    return info_ ? static_cast<const double*>(info_->ptr) : nullptr;
  }
  /// The length of an axis.
  [[nodiscard]] std::size_t extent(std::size_t axis) const {
    return static_cast<std::size_t>(info_->shape.at(axis));
  }

 private:
  std::optional<py::buffer_info> info_;
  TiledRows rows_;
};

/// The six arrays of states (state_arrays.h), each of which may be None.
struct StateArguments {
  RowsArgument position, orientation_wxyz, linear_velocity, angular_velocity, joint_coordinate, joint_rate;

  explicit StateArguments(const std::array<py::object, 6>& arrays)
      : position(arrays[0], "position"),
        orientation_wxyz(arrays[1], "orientation_wxyz"),
        linear_velocity(arrays[2], "linear_velocity"),
        angular_velocity(arrays[3], "angular_velocity"),
        joint_coordinate(arrays[4], "joint_coordinate"),
        joint_rate(arrays[5], "joint_rate") {}

  /// Throws std::invalid_argument for one that has neither one row nor as many as these.
  void require_rows(const SceneSimulator& simulator, int rows) const {
    const std::size_t n = simulator.body_count(), m = simulator.joint_count();
    abut::require_rows(position.rows(), "position", rows, 3 * n);
    abut::require_rows(orientation_wxyz.rows(), "orientation_wxyz", rows, 4 * n);
    abut::require_rows(linear_velocity.rows(), "linear_velocity", rows, 3 * n);
    abut::require_rows(angular_velocity.rows(), "angular_velocity", rows, 3 * n);
    abut::require_rows(joint_coordinate.rows(), "joint_coordinate", rows, m);
    abut::require_rows(joint_rate.rows(), "joint_rate", rows, m);
  }
  [[nodiscard]] StateNumbers<const double> of_row(std::size_t row) const {
    const auto numbers = [row](const RowsArgument& of) {
      return of.rows().are_given() ? of.rows().of_world(row).data() : nullptr;
    };
    return {numbers(position),         numbers(orientation_wxyz), numbers(linear_velocity),
            numbers(angular_velocity), numbers(joint_coordinate), numbers(joint_rate)};
  }
  [[nodiscard]] StateNumbers<const double> all() const {
    return {position.data(),         orientation_wxyz.data(), linear_velocity.data(),
            angular_velocity.data(), joint_coordinate.data(), joint_rate.data()};
  }
};

/// Properties of a class that has arrays of states.
///
/// @param arrays_of  from an object of the class
template <typename Class, typename ArraysOf>
void bind_state_arrays(Class& bound, const ArraysOf& arrays_of) {
  using Object = typename Class::type;
  const auto add = [&](const char* name, SharedArray<double> StateArrays::*array) {
    bound.def_property_readonly(name, [=](Object& of) { return buffer_of(arrays_of(of).*array); });
  };
  add("position", &StateArrays::position);
  add("orientation_wxyz", &StateArrays::orientation_wxyz);
  add("linear_velocity", &StateArrays::linear_velocity);
  add("angular_velocity", &StateArrays::angular_velocity);
  add("joint_coordinate", &StateArrays::joint_coordinate);
  add("joint_rate", &StateArrays::joint_rate);
}

void bind_scene(py::module_& module);
void bind_rollouts(py::module_& module);
void bind_environment(py::module_& module);
void bind_identification(py::module_& module);

}  // namespace abut::python
