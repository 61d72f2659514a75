/// Motors, couplings and actuators of scene files. Every key: docs/scene_format.md.
#pragma once

#include "engine/model.h"
#include "engine/parameters.h"
#include "engine/toml_table.h"

namespace abut {

/// The number of a joint or of a coupling, which stays where its key is left out.
void read_parameter_of(const TomlTable& table, ParameterKind kind, Joint& joint);
void read_parameter_of(const TomlTable& table, ParameterKind kind, Coupling& coupling);

/// The keys of a motor. The table may have others.
void read_motor(const TomlTable& table, Joint& joint);
void read_motor(const TomlTable& table, Coupling& coupling);

// Each adds one to Model::couplings. They throw InputError naming the file, key, line and value for a joint or coupling
// that is not there or has no coordinate, a name that is taken, and numbers that do not fit.

/// A [[coupling]].
void read_coupling(const TomlTable& table, Model& model);
/// Throws InputError if nothing acts on a coupling that was read from the table, once all actuators are there.
void require_forces(const TomlTable& table, const Coupling& coupling, const Model& model);
/// An [[actuator]], which stands after all couplings.
void read_actuator(const TomlTable& table, Model& model);

}  // namespace abut
