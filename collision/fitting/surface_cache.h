/// Surfaces of shapes, remembered on disk from one run of a program to the next.
#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "engine/shape_surface.h"

namespace abut {

/// A folder of surfaces, each in a file named by a hash of the numbers that it depends on, and found by all
/// of them, by the version of the program and the instruction set. Files are written atomically, so that
/// several programs may share the folder. Whatever cannot be read or written, as without permission or with a
/// damaged file, counts as not remembered: no error.
class SurfaceCache {
 public:
  /// @param folder  made when something is stored; empty: remembers nothing
  explicit SurfaceCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::optional<ShapeSurface> find(std::span<const double> numbers) const;
  void store(std::span<const double> numbers, const ShapeSurface& surface) const;

 private:
  [[nodiscard]] std::filesystem::path file_of(std::span<const double> numbers) const;

  std::filesystem::path folder_;
};

/// Where programs keep surfaces: `$ABUT_CACHE_DIR`, and with that empty nowhere; else `abut` in
/// `$XDG_CACHE_HOME`, or in `~/.cache`. Empty if there is no home either.
[[nodiscard]] std::filesystem::path user_cache_folder();

}  // namespace abut
