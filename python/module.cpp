#include "engine/input_error.h"
#include "python/bindings.h"

namespace abut::python {
namespace {

/// InputError of C++ as that of Python, with its attributes `file` and `line` (None where the whole file is
/// meant).
void bind_input_error(py::module_& module) {
  static const py::handle k_type =
      py::exception<InputError>(module, "InputError", PyExc_ValueError).release();
  k_type.attr("__doc__") =
      "Bad input in a file. `file` is its path, `line` the line from 1, or None where the whole file is "
      "meant.";
  k_type.attr("file") = py::none();
  k_type.attr("line") = py::none();
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const InputError& error) {
      const py::object exception = k_type(error.what());
      exception.attr("file") = error.file();
      if (error.line() > 0) exception.attr("line") = error.line();
      PyErr_SetObject(k_type.ptr(), exception.ptr());
    }
  });
}

void bind_buffer(py::module_& module) {
  py::class_<Buffer>(module, "Buffer", py::buffer_protocol(), "Numbers of the library's, to be read only.")
      .def_buffer([](Buffer& buffer) {
        std::vector<py::ssize_t> strides(buffer.shape.size());
        py::ssize_t stride = buffer.item_size;
        for (std::size_t axis = strides.size(); axis-- > 0;) {
          strides[axis] = stride;
          stride *= buffer.shape[axis];
        }
        return py::buffer_info(buffer.data, buffer.item_size, buffer.format,
                               static_cast<py::ssize_t>(buffer.shape.size()), buffer.shape, strides, true);
      });
}

}  // namespace

std::span<const double> doubles_of(const py::buffer_info& info, const char* name) {
  if (info.format != py::format_descriptor<double>::format() || info.itemsize != sizeof(double))
    throw py::value_error(std::string(name) + ": an array of float64 is expected");
  py::ssize_t stride = info.itemsize;
  for (std::size_t axis = info.shape.size(); axis-- > 0;) {
    if (info.shape[axis] > 1 && info.strides[axis] != stride)
      throw py::value_error(std::string(name) + ": an array in C order is expected");
    stride *= info.shape[axis];
  }
  return {static_cast<const double*>(info.ptr), static_cast<std::size_t>(info.size)};
}

RowsArgument::RowsArgument(const py::object& object, const char* name) {
  if (object.is_none()) return;
  info_ = py::cast<py::buffer>(object).request();
  if (info_->shape.empty()) throw py::value_error(std::string(name) + ": an array of rows is expected");
  rows_ = {doubles_of(*info_, name), extent(0)};
}

}  // namespace abut::python

PYBIND11_MODULE(_abut, module) {
  module.doc() = "The C++ side of the package abut.";
  module.attr("__version__") = ABUT_VERSION;
  abut::python::bind_input_error(module);
  abut::python::bind_buffer(module);
  abut::python::bind_scene(module);
  abut::python::bind_rollouts(module);
  abut::python::bind_environment(module);
  abut::python::bind_identification(module);
}
