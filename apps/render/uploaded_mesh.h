/// Triangles that OpenGL keeps.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "apps/picture/surface.h"
#include "apps/render/gl_objects.h"

namespace abut {

/// A pointer to a place in the buffer that is bound, as OpenGL has wanted it since it had no buffers.
[[nodiscard]] inline const void* buffer_offset(std::size_t bytes) {
  return reinterpret_cast<const void*>(bytes);  // NOLINT(performance-no-int-to-ptr)
}

/// Positions, normals and, if there are any, colours one after the other.
class UploadedMesh {
 public:
  explicit UploadedMesh(const Surface& surface);

  [[nodiscard]] const Vec3<double>& centre() const { return centre_; }
  /// Of a ball about the centre that holds all of it [m].
  [[nodiscard]] double radius() const { return radius_; }
  [[nodiscard]] bool has_colours() const { return has_colours_; }
  [[nodiscard]] bool two_sided() const { return two_sided_; }
  [[nodiscard]] const VertexArray& array() const { return array_; }
  [[nodiscard]] GLsizei index_count() const { return index_count_; }

  void draw() const {
    glBindVertexArray(array_.name());
    glDrawElements(GL_TRIANGLES, index_count_, GL_UNSIGNED_INT, nullptr);
  }

 private:
  VertexArray array_;
  Buffer vertices_, indices_;
  GLsizei index_count_;
  bool has_colours_, two_sided_;
  Vec3<double> centre_ = Vec3<double>::Zero();  // of a box around it
  double radius_ = 0.0;
};

/// Triangles that a software renderer was given since it last drew. It keeps those of several pictures, half
/// a kilobyte each and a gigabyte of thousands of bodies: it is made to draw them now and then.
class PendingTriangles {
 public:
  static constexpr std::int64_t k_most = 50'000;

  /// To be called after they were given to it.
  void add(std::int64_t triangles);

 private:
  bool is_software_ = draws_in_software();
  std::int64_t count_ = 0;
};

/// The surfaces that have been drawn, as long as somebody owns them.
class SurfaceStore {
 public:
  /// To be called before a picture is drawn: an address may have a new owner afterwards.
  void forget_unowned() {
    std::erase_if(meshes_, [](const auto& entry) { return entry.second.surface.expired(); });
  }
  const UploadedMesh& mesh_of(const SharedSurface& surface);
  /// Draws a mesh of it.
  void draw(const UploadedMesh& mesh) {
    mesh.draw();
    pending_.add(mesh.index_count() / 3);
  }
  [[nodiscard]] PendingTriangles& pending() { return pending_; }  ///< also of what else is drawn

 private:
  struct Entry {
    std::weak_ptr<const Surface> surface;
    UploadedMesh mesh;
  };
  std::unordered_map<const Surface*, Entry> meshes_;
  PendingTriangles pending_;
};

}  // namespace abut
