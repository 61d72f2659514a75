/// Handles to move and turn a body by: three arrows and three rings about its centre, along the world's axes.
#pragma once

#include <optional>
#include <vector>

#include "apps/picture/camera.h"
#include "engine/pose.h"

namespace abut::viewer {

enum class GizmoHandle { move_x, move_y, move_z, turn_x, turn_y, turn_z };
inline constexpr GizmoHandle k_gizmo_handles[] = {GizmoHandle::move_x, GizmoHandle::move_y,
                                                  GizmoHandle::move_z, GizmoHandle::turn_x,
                                                  GizmoHandle::turn_y, GizmoHandle::turn_z};

class PoseGizmo {
 public:
  /// A handle as a line through points in the world, about a centre, `size` long [m].
  [[nodiscard]] static std::vector<Vec3<double>> line(GizmoHandle handle, const Vec3<double>& centre,
                                                      double size);

  /// Takes hold of a handle of a body at X_WB by the point where the ray meets it.
  void begin(GizmoHandle handle, const Pose<double>& X_WB, const Ray& ray);
  /// Where the body is now that the mouse is at `ray`; as before where the ray says nothing (along the
  /// handle).
  [[nodiscard]] Pose<double> drag(const Ray& ray);
  void end() { handle_.reset(); }
  [[nodiscard]] std::optional<GizmoHandle> held() const { return handle_; }

 private:
  /// How far along the handle [m], or by what angle around it [rad], a ray points.
  [[nodiscard]] std::optional<double> place_of(const Ray& ray) const;

  std::optional<GizmoHandle> handle_;
  Pose<double> X_WB_start_, X_WB_;
  double start_ = 0.0;
};

}  // namespace abut::viewer
