/// Primitives in body.toml and scenes: the tables `[[primitive]]` and `[[body.primitive]]`.
#pragma once

#include <string>

#include "engine/model.h"

namespace abut {

class TomlTable;

/// Reads a table; every key of it must be one of its kind. Paths are relative to the folder of its file.
/// Throws InputError: "file:line: what is wrong".
[[nodiscard]] Primitive read_primitive(const TomlTable& table);

/// That table, with its heading `[[primitive]]`; it reads back as the same primitive.
[[nodiscard]] std::string primitive_text(const Primitive& primitive);

}  // namespace abut
