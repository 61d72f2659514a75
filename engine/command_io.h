/// Commands of motors from scene files and the tables that these name. Every key: docs/scene_format.md.
#pragma once

#include <vector>

#include "engine/scene.h"
#include "engine/toml_table.h"

namespace abut {

/// The tables of one [[command]]: from its keys `times` and `values`, or one per joint from the file of the key `file`.
///
///   .csv  a header of names, then one row per time: `time` and columns named after joints with a motor
///   .npz  time (T), command (T, n), joint_names (n)
///
/// With the key `joint` only that joint's column is read, and others may be anything. Throws InputError naming the
/// file, key, line or array, and the value, for: a joint that is not there or has no motor, times that do not
/// increase, another number of values than of times, no time at all, a number that is not finite, and both or neither
/// of `times` and `file`.
[[nodiscard]] std::vector<CommandTable> read_commands(const TomlTable& table, const Model& model);

}  // namespace abut
