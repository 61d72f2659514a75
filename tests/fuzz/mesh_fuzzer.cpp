// Fuzz target: meshes, in the format of ABUT_FUZZ_EXTENSION.

#include "engine/mesh_io.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const abut::fuzz::FuzzFile file("bodies", "input" ABUT_FUZZ_EXTENSION);
  return file.try_to(bytes, size, [](const std::filesystem::path& path) {
    (void)abut::read_coloured_mesh(path);
    (void)abut::read_mesh(path);
  });
}
