// Fuzz target: tables of measurements, read as poses, as positions and as points on the surface.

#include "apps/identification/measurement_io.h"
#include "engine/scene_io.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const abut::fuzz::FuzzFile file("experiments", "input.csv");
  static const abut::Scene scene =
      abut::read_scene(ABUT_SOURCE_DIR "/assets/experiments/tumbling_box/scene.toml");
  using Kind = abut::MeasurementSource::Kind;
  for (const Kind kind : {Kind::poses, Kind::positions, Kind::surface_points}) {
    (void)file.try_to(bytes, size, [kind](const std::filesystem::path& path) {
      abut::MeasurementSource source;
      source.file = path;
      source.kind = kind;
      (void)abut::read_measurements(source, scene.model, scene.initial.time);
    });
  }
  return 0;
}
