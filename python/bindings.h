/// Parts of the module _abut, which the package abut wraps: every function of it takes and gives arrays by
/// the buffer protocol, so that the module depends on no version of NumPy.
#pragma once

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

void bind_scene(py::module_& module);
void bind_rollouts(py::module_& module);
void bind_environment(py::module_& module);
void bind_identification(py::module_& module);

}  // namespace abut::python
