#include <algorithm>
#include <exception>
#include <string>
#include <thread>

#include <pybind11/stl/filesystem.h>

#include "apps/identification/report_builder.h"
#include "dynamics/batch_rollout.h"
#include "python/bindings.h"

namespace abut::python {
namespace {

/// The report of a search as JSON. `progress` is None or a function (start, stage, iteration, loss) that
/// returns False to stop; a signal such as Ctrl-C stops the search, too.
std::string identify(const std::filesystem::path& path, bool optimize, int threads,
                     const py::object& progress) {
  std::exception_ptr thrown;
  std::string text;
  {
    const py::gil_scoped_release no_gil;
    const ExperimentFile file = read_experiment(path);
    const Question question = question_of(file, optimize ? Question::optimize : Question::identify);
    SearchOptions options;
    options.threads = batch_threads(threads);
    options.progress = [&](const StageIteration& note) {
      const py::gil_scoped_acquire gil;
      try {
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        if (progress.is_none()) return true;
        const py::object answer =
            progress(note.start, note.stage, note.iteration.number, note.iteration.cost);
        return answer.is_none() || answer.cast<bool>();
      } catch (...) {
        if (!thrown) thrown = std::current_exception();
        return false;
      }
    };
    const SearchResult result = search(file, options);
    if (!thrown) text = json_text(json_of(build_report(file, result, question, options.threads)));
  }
  if (thrown) std::rethrow_exception(thrown);
  return text;
}

}  // namespace

void bind_identification(py::module_& module) {
  module.def("identify", &identify, py::arg("path"), py::arg("optimize"), py::arg("threads"),
             py::arg("progress"));
}

}  // namespace abut::python
