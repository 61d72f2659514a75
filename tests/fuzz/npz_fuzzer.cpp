// Fuzz target: archives of arrays, as they are and with checksums that fit.

#include "engine/npz.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/npz_checksums.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const abut::fuzz::FuzzFile file("scenes", "input.npz");
  const auto read = [](const std::filesystem::path& path) { (void)abut::read_npz(path); };
  (void)file.try_to(bytes, size, read);
  return file.try_to(abut::fuzz::with_right_checksums(bytes, size), read);
}
