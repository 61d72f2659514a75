// Fuzz target: superquadrics fitted elsewhere, in JSON.

#include "apps/abut/fit_reader.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const abut::fuzz::FuzzFile file("bodies", "input.json");
  return file.try_to(bytes, size,
                     [](const std::filesystem::path& path) { (void)abut::read_superquadric_fit(path); });
}
