/// What the user has asked of the camera beside where it is.
#pragma once

#include <array>
#include <optional>

#include "apps/picture/camera.h"

namespace abut::viewer {

inline constexpr std::size_t k_bookmarks = 3;

struct CameraState {
  bool follows = false;  ///< the selected body, keeping distance and direction
  bool flies = false;    ///< keys move it, and drags look around from where it is
  std::array<std::optional<OrbitCamera>, k_bookmarks> bookmarks;

  /// Moves the camera as the body has moved since the last call about the same body.
  void follow(int body, const Vec3<double>& p_WB, OrbitCamera& camera) {
    if (follows && body == body_ && p_WB.allFinite() && last_p_WB_.allFinite())
      camera.target += p_WB - last_p_WB_;
    body_ = body;
    last_p_WB_ = p_WB;
  }

 private:
  int body_ = -1;
  Vec3<double> last_p_WB_ = Vec3<double>::Zero();
};

}  // namespace abut::viewer
