// Fuzz target: scenes; those that are accepted make a few steps.

#include "dynamics/simulator.h"
#include "engine/scene_io.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const abut::fuzz::FuzzFile file("scenes", "input.toml");
  return file.try_to(bytes, size, [](const std::filesystem::path& path) {
    abut::Scene scene = abut::read_scene(path);
    const abut::Simulator simulator(std::move(scene.model), scene.config.step);
    abut::State end;
    (void)simulate(simulator.stepper(), scene.initial, 2, {}, end, {});
  });
}
