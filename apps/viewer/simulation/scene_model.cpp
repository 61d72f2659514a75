#include "apps/viewer/simulation/scene_model.h"

#include <atomic>
#include <utility>

#include "collision/fitting/shape_surface.h"
#include "collision/fitting/surface_cache.h"
#include "engine/input_error.h"

namespace abut::viewer {

SceneModel::SceneModel(std::filesystem::path path, SharedScene original, SharedScene changed,
                       std::uint64_t version, VisualSurfaces visual_meshes, const Simulator* prepared)
    : file(std::move(path)),
      as_read(std::move(original)),
      scene(std::move(changed)),
      geometry_version(version),
      visuals(std::move(visual_meshes)),
      simulator(std::shared_ptr<const Model>(scene, &scene->model), scene->config.step, prepared) {}

SharedModel read_scene_model(const std::filesystem::path& path) {
  return make_scene_model(path, read_scene(path, surface_maker(user_cache_folder())));
}

SharedModel make_scene_model(const std::filesystem::path& path, Scene scene) {
  static std::atomic<std::uint64_t> versions{0};
  VisualSurfaces visuals = visual_surfaces(scene.model);
  const auto shared = std::make_shared<const Scene>(std::move(scene));
  return naming_file(path.string(), [&] {
    return std::make_shared<const SceneModel>(path, shared, shared, ++versions, std::move(visuals));
  });
}

SharedModel changed_model(const SceneModel& model, Scene changed) {
  return std::make_shared<const SceneModel>(model.file, model.as_read,
                                            std::make_shared<const Scene>(std::move(changed)),
                                            model.geometry_version, model.visuals, &model.simulator);
}

}  // namespace abut::viewer
