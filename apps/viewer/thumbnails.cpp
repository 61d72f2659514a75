#include "apps/viewer/thumbnails.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/file_hash.h"
#include "apps/abut/trajectory_file.h"
#include "apps/picture/body_surfaces.h"
#include "apps/render/gl_objects.h"
#include "collision/fitting/shape_surface.h"
#include "collision/fitting/surface_cache.h"
#include "engine/hash.h"
#include "engine/input_error.h"
#include "engine/scene_io.h"
#include "engine/scene_writer.h"

namespace abut::viewer {
namespace {

namespace fs = std::filesystem;

/// To be changed with how pictures look: files of an earlier look are not used then.
constexpr std::uint64_t k_look = 2;

Picture picture_of_scene(const Scene& scene, const std::atomic<bool>& stop) {
  Picture picture;
  BodySurfaces surfaces([&] {
    if (stop) throw std::runtime_error("the viewer is being closed");
  });
  surfaces.reset(visual_surfaces(scene.model));
  const std::vector<Pose<double>>& X_WB = scene.initial.X_WB;
  surfaces.add_bodies(scene.model, X_WB, {}, -1, picture);
  picture.camera =
      camera_around(scene.model, X_WB, static_cast<double>(Thumbnails::k_width) / Thumbnails::k_height);
  return picture;
}

/// None if there is no such file, or one that is damaged.
std::optional<Image> kept_picture(const fs::path& file) {
  try {
    Image image = read_png(file);
    if (image.width == Thumbnails::k_width && image.height == Thumbnails::k_height) return image;
  } catch (const InputError&) {
  }
  return std::nullopt;
}

}  // namespace

struct Thumbnails::Resources {
  DrawingBuffer buffer{0, true};
  std::vector<Texture> textures;
};

Thumbnails::Thumbnails(fs::path folder)
    : folder_(std::move(folder)), resources_(std::make_unique<Resources>()) {}

Thumbnails::~Thumbnails() {
  stop_ = true;
  if (made_.valid()) made_.wait();
}

const Thumbnails::Thumbnail& Thumbnails::of(const fs::path& scene) { return thumbnails_[scene]; }

bool Thumbnails::busy() const {
  return made_.valid() || std::any_of(thumbnails_.begin(), thumbnails_.end(), [](const auto& entry) {
           return entry.second.texture == 0 && entry.second.problem.empty();
         });
}

Thumbnails::Made Thumbnails::make(const fs::path& scene, const fs::path& folder,
                                  const std::atomic<bool>& stop) {
  Made made;
  try {
    if (!folder.empty()) {
      const std::uint64_t hash = hash_of_files(scene_files(scene), k_hash_of_nothing + k_look);
      made.file = folder / fmt::format("{:016x}.png", hash);
      made.image = kept_picture(made.file);
      if (made.image) return made;
    }
    made.picture = picture_of_scene(read_scene(scene, surface_maker(user_cache_folder())), stop);
  } catch (const std::exception& error) {
    made.problem = error.what();
  }
  return made;
}

Image Thumbnails::draw(const Picture& picture, Renderer& renderer) {
  resources_->buffer.resize(k_width, k_height);
  renderer.draw(picture, {0, 0, k_width, k_height}, resources_->buffer.name());
  return read_pixels(k_width, k_height, resources_->buffer.name());
}

void Thumbnails::update(Renderer& renderer) {
  if (made_.valid() && made_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
    Made made = made_.get();
    Thumbnail& thumbnail = thumbnails_[making_];
    thumbnail.problem = made.problem;
    if (made.problem.empty()) {
      if (!made.image) {
        made.image = draw(made.picture, renderer);
        try {
          if (!made.file.empty()) {
            make_folder_of(made.file);
            write_png(made.file, *made.image);
          }
        } catch (const InputError&) {  // it is drawn again in the next run
        }
      }
      const Texture& texture = resources_->textures.emplace_back();
      glBindTexture(GL_TEXTURE_2D, texture.name());
      glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
      glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
      glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
      glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, k_width, k_height, 0, GL_RGB, GL_UNSIGNED_BYTE,
                   made.image->pixels.data());
      glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
      glBindTexture(GL_TEXTURE_2D, 0);
      thumbnail.texture = texture.name();
    }
  }
  if (made_.valid()) return;
  for (const auto& [scene, thumbnail] : thumbnails_) {
    if (thumbnail.texture != 0 || !thumbnail.problem.empty()) continue;
    making_ = scene;
    made_ = std::async(std::launch::async, [this, scene = scene] { return make(scene, folder_, stop_); });
    return;
  }
}

}  // namespace abut::viewer
