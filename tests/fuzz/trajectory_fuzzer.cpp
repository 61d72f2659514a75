// Fuzz target: recorded trajectories with checksums that fit, whose every state is looked at.

#include "apps/abut/trajectory_file.h"
#include "engine/scene_io.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/npz_checksums.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const abut::fuzz::FuzzFile file("scenes", "input.npz");
  static const abut::Scene scene = abut::read_scene(ABUT_SOURCE_DIR "/assets/scenes/sphere_bounce.toml");
  return file.try_to(abut::fuzz::with_right_checksums(bytes, size), [](const std::filesystem::path& path) {
    const abut::RecordedTrajectory trajectory(path, scene.model);
    for (std::size_t frame = 0; frame < trajectory.size(); ++frame) {
      (void)trajectory.state(frame);
      (void)trajectory.contacts(frame);
    }
    (void)abut::scene_of_trajectory(path);
  });
}
