#include "apps/abut/batch_table.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "collision/fitting/shape_surface.h"
#include "collision/fitting/surface_cache.h"
#include "engine/random.h"

namespace abut {
namespace {

void require_in_range(const TomlTable& table, int line, const std::string& where,
                      const SceneParameter& parameter, double value) {
  try {
    require_allowed(parameter, value);
  } catch (const std::invalid_argument& error) {
    table.fail_at(line, where + error.what());
  }
}

}  // namespace

const SceneParameter& BatchTable::add_parameter(const TomlTable& table, int line, const std::string& name) {
  try {
    return scene_.add_parameter(name);
  } catch (const std::invalid_argument& error) {
    table.fail_at(line, error.what());
  }
}

BatchTable::BatchTable(const std::filesystem::path& file) {
  const TomlTable table = TomlTable::read(file);
  const std::filesystem::path scene = table.required_text("scene");
  scene_file_ = file.parent_path() / scene;
  if (std::error_code ignored; !std::filesystem::is_regular_file(scene_file_, ignored))
    table.fail("scene", fmt::format("there is no file '{}'", scene_file_.string()));
  scene_ = ParameterizedScene(read_scene(scene_file_, surface_maker(user_cache_folder())));
  steps_ = table.integer("steps", this->scene().config.steps, 1);

  // Explicit rows.
  std::vector<NamedNumbers> rows;
  if (table.has("columns") || table.has("rows")) {
    const std::vector<std::string> columns = table.required_texts("columns");
    if (columns.empty()) table.fail("columns", "no column");
    for (const std::string& column : columns) add_parameter(table, table.line("columns"), column);
    rows = table.required_rows("rows", static_cast<int>(columns.size()));
    if (rows.empty()) table.fail("rows", "no row");
    for (const NamedNumbers& row : rows) {
      for (std::size_t i = 0; i < columns.size(); ++i)
        require_in_range(table, row.line, fmt::format("{}, column ", row.name), parameters()[i],
                         row.numbers[i]);
    }
  }

  // Every combination of the lists of a grid.
  const TomlTable grid_table = table.table("grid");
  const std::vector<NamedNumbers> grid = grid_table.all_numbers();
  if (table.has("grid") && grid.empty()) table.fail("grid", "no parameter");
  for (const NamedNumbers& list : grid) {
    const SceneParameter& parameter = add_parameter(table, list.line, list.name);
    if (list.numbers.empty()) table.fail_at(list.line, fmt::format("'{}' has no value", list.name));
    for (std::size_t i = 0; i < list.numbers.size(); ++i)
      require_in_range(table, list.line, fmt::format("value {} of ", i), parameter, list.numbers[i]);
  }

  // Random numbers, new ones for every rollout.
  const TomlTable random_table = table.table("random");
  int samples = 1;
  std::vector<NamedNumbers> uniform;
  int seed = 0;
  if (table.has("random")) {
    seed = random_table.integer("seed", 0, 0);
    if (!random_table.has("count"))
      random_table.fail("", "missing key 'count', allowed: a whole number >= 1");
    samples = random_table.integer("count", 1, 1);
    uniform = random_table.table("uniform").all_numbers();
    if (uniform.empty()) random_table.fail("", "no parameter in [random.uniform]");
    random_table.finish();
  }
  for (const NamedNumbers& interval : uniform) {
    const SceneParameter& parameter = add_parameter(table, interval.line, interval.name);
    const std::vector<double>& ends = interval.numbers;
    if (ends.size() != 2 || !std::isfinite(ends[0]) || !std::isfinite(ends[1]) || ends[0] > ends[1]) {
      table.fail_at(interval.line,
                    fmt::format("'{}', allowed: two finite numbers, the smaller one first", interval.name));
    }
    if (!std::isfinite(ends[1] - ends[0])) {
      table.fail_at(interval.line, fmt::format("'{}' = [{}, {}]: the width of the interval must be finite",
                                               interval.name, ends[0], ends[1]));
    }
    for (const double end : ends) require_in_range(table, interval.line, "end of ", parameter, end);
    if (parameter.whole)
      table.fail_at(interval.line,
                    fmt::format("'{}' is a whole number: give it in rows or [grid]", interval.name));
  }
  table.finish();
  if (parameters().empty()) table.fail("", "nothing differs: 'rows', [grid] or [random] is needed");

  constexpr double k_most = 1e6;
  double count = static_cast<double>(std::max<std::size_t>(rows.size(), 1)) * samples;
  for (const NamedNumbers& list : grid) count *= static_cast<double>(list.numbers.size());
  if (count > k_most) table.fail("", fmt::format("{:.0f} rollouts, allowed: at most {:.0f}", count, k_most));
  rollouts_ = static_cast<int>(count);

  // The rows change slowest, the samples fastest, of the grid the last list.
  Random random(static_cast<std::uint64_t>(seed));
  values_.reserve(at(rollouts_) * parameters().size());
  for (int rollout = 0; rollout < rollouts_; ++rollout) {
    std::size_t place = at(rollout) / at(samples);
    std::vector<double> from_grid(grid.size());
    for (std::size_t i = grid.size(); i-- > 0;) {
      from_grid[i] = grid[i].numbers[place % grid[i].numbers.size()];
      place /= grid[i].numbers.size();
    }
    if (!rows.empty()) values_.insert(values_.end(), rows[place].numbers.begin(), rows[place].numbers.end());
    values_.insert(values_.end(), from_grid.begin(), from_grid.end());
    for (const NamedNumbers& interval : uniform)
      values_.push_back(random.uniform(interval.numbers[0], interval.numbers[1]));
  }

  try {
    scene_.prepare();
  } catch (const std::invalid_argument& error) {
    table.fail("", error.what());
  }
}

std::span<const double> BatchTable::values_of(int rollout) const {
  return std::span(values_).subspan(at(rollout) * parameters().size(), parameters().size());
}

double BatchTable::time_step(int rollout) const {
  for (std::size_t i = 0; i < parameters().size(); ++i) {
    if (parameters()[i].name == "simulation.time_step") return values_of(rollout)[i];
  }
  return scene().config.step.h;
}

Scene BatchTable::scene_of(int rollout) const { return scene_.with(values_of(rollout)); }

BatchTask BatchTable::task_of(int rollout) const {
  Scene scene = scene_of(rollout);
  BatchTask task;
  task.steps = steps_;
  task.controls = controls_of(scene, steps_);
  task.simulator = scene_.simulator_of(scene);
  task.initial = std::move(scene.initial);
  return task;
}

}  // namespace abut
