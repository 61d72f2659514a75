/// A scene made ready to simulate; never changes, so that threads can share it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "apps/picture/body_surfaces.h"
#include "dynamics/simulator.h"
#include "engine/scene_io.h"

namespace abut::viewer {

/// Tens of megabytes of many bodies: nobody copies it.
using SharedScene = std::shared_ptr<const Scene>;

struct SceneModel {
  std::filesystem::path file;
  SharedScene as_read;             ///< as the file says it
  SharedScene scene;               ///< with what was changed live; the same one where nothing was
  std::uint64_t geometry_version;  ///< the same for models whose bodies have the same shapes
  VisualSurfaces visuals;          ///< of its bodies
  Simulator simulator;             ///< of `scene`

  /// Throws std::invalid_argument for a model or settings that make no sense.
  ///
  /// @param prepared  of a similar model, see Simulator
  SceneModel(std::filesystem::path path, SharedScene original, SharedScene changed, std::uint64_t version,
             VisualSurfaces visual_meshes, const Simulator* prepared = nullptr);

  [[nodiscard]] const Model& model() const { return simulator.model(); }
  [[nodiscard]] const StepConfig& config() const { return simulator.stepper().config(); }
  [[nodiscard]] const std::string& body_name(int body) const {
    return model().bodies[static_cast<std::size_t>(body)].name;
  }
};
using SharedModel = std::shared_ptr<const SceneModel>;

/// Throws InputError.
[[nodiscard]] SharedModel read_scene_model(const std::filesystem::path& path);

/// Of a scene that was made from a file. Throws InputError.
[[nodiscard]] SharedModel make_scene_model(const std::filesystem::path& path, Scene scene);

/// The same scene with other settings, materials, masses; its bodies' shapes must be the same. Throws
/// std::invalid_argument.
[[nodiscard]] SharedModel changed_model(const SceneModel& model, Scene changed);

}  // namespace abut::viewer
