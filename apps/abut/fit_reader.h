/// Superquadric fits in JSON files, as programs that fit shapes write them.
#pragma once

#include <filesystem>

#include "engine/model.h"

namespace abut {

/// Reads {"superquadrics": [{"epsilon": [eps1, eps2], "semi_axes": [a, b, c], "rotation_wxyz": [w, x, y, z],
/// "center": [x, y, z]}, ...]}: f = ((x/a)^(2/eps2) + (y/b)^(2/eps2))^(eps2/eps1) + (z/c)^(2/eps1) in the
/// frame of each, whose rotation takes it to the body's. Other keys are passed over.
///
/// Lengths stay in the unit of the file, and exponents may lie outside the range of the simulator; rotations
/// are normalised. The shape has no union smoothing yet (0). Throws InputError with file, element and cause.
[[nodiscard]] Shape read_superquadric_fit(const std::filesystem::path& path);

}  // namespace abut
