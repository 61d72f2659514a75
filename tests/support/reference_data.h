#pragma once

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace abut::test {

/// Path of a file of the reference data (third-party meshes and fits, not part of this repository).
///
/// @param name  path below the data folder: $ABUT_DATA_DIR, or ../shared/data beside the checkout where that
/// is unset.
/// @return      the path, or an empty one where there is no such file.
inline std::filesystem::path reference_data(const std::string& name) {
  const char* folder = std::getenv("ABUT_DATA_DIR");
  const auto path =
      (folder ? std::filesystem::path(folder) : std::filesystem::path(ABUT_SOURCE_DIR) / "../shared/data") /
      name;
  return std::filesystem::exists(path) ? path : std::filesystem::path();
}

}  // namespace abut::test

/// Declares `variable` as the path of reference data, or leaves the test case, which ctest then counts as
/// skipped.
#define ABUT_REFERENCE_DATA_OR_SKIP(variable, name)                                       \
  const std::filesystem::path variable = abut::test::reference_data(name);                \
  if ((variable).empty()) {                                                               \
    WARN("skipped: no reference data " << (name) << "; set ABUT_DATA_DIR to its folder"); \
    return;                                                                               \
  }                                                                                       \
  static_assert(true)
