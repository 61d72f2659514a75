/// Small pictures of scenes, made one at a time beside what else is drawn and kept as files.
#pragma once

#include <atomic>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "apps/picture/image.h"
#include "apps/picture/picture.h"
#include "apps/render/renderer.h"

namespace abut::viewer {

/// Needs a current OpenGL 3.3 context as long as it lives.
class Thumbnails {
 public:
  static constexpr int k_width = 320, k_height = 200;  ///< [pixels]

  struct Thumbnail {
    unsigned texture = 0;  ///< of OpenGL; 0 while there is none
    std::string problem;   ///< why there will be none, as reading the scene says it
  };

  /// @param folder  of the files, by the content of a scene's; empty: none are kept
  explicit Thumbnails(std::filesystem::path folder);
  /// Waits for no more than the reading of one scene.
  ~Thumbnails();
  Thumbnails(const Thumbnails&) = delete;
  Thumbnails& operator=(const Thumbnails&) = delete;

  /// Asks for it if it is not there.
  [[nodiscard]] const Thumbnail& of(const std::filesystem::path& scene);
  /// Once per picture: takes what has been made meanwhile, and begins with the next.
  void update(Renderer& renderer);
  /// Whether one that was asked for is yet to come.
  [[nodiscard]] bool busy() const;

 private:
  /// Of a thread beside: either a picture to draw, or one that was drawn before.
  struct Made {
    std::optional<Image> image;
    Picture picture;
    std::filesystem::path file;  ///< to keep it as; may be empty
    std::string problem;
  };
  struct Resources;

  [[nodiscard]] static Made make(const std::filesystem::path& scene, const std::filesystem::path& folder,
                                 const std::atomic<bool>& stop);
  [[nodiscard]] Image draw(const Picture& picture, Renderer& renderer);

  std::filesystem::path folder_;
  std::map<std::filesystem::path, Thumbnail> thumbnails_;
  std::filesystem::path making_;  // the scene
  std::future<Made> made_;
  std::atomic<bool> stop_{false};
  std::unique_ptr<Resources> resources_;
};

}  // namespace abut::viewer
