// Fuzz target: body assets.

#include "engine/body_io.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const abut::fuzz::FuzzFile file("bodies", "input.toml");
  static const bool has_mesh = file.link("mesh.obj", "bodies/hex_nut/mesh.obj");
  (void)has_mesh;
  return file.try_to(bytes, size, [](const std::filesystem::path& path) { (void)abut::read_body(path); });
}
