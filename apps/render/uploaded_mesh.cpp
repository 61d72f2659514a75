#include "apps/render/uploaded_mesh.h"

#include <cstdint>

#include "engine/check.h"

namespace abut {

UploadedMesh::UploadedMesh(const Surface& surface)
    : index_count_(static_cast<GLsizei>(surface.triangles.size())),
      has_colours_(!surface.colours.empty()),
      two_sided_(surface.two_sided) {
  const std::size_t count = surface.positions.size();
  ABUT_ASSERT(surface.normals.size() == count && (!has_colours_ || surface.colours.size() == count));
  const std::size_t positions = count * sizeof(Eigen::Vector3f), normals = positions,
                    colours = has_colours_ ? count * sizeof(Colour) : 0;
  glBindVertexArray(array_.name());
  glBindBuffer(GL_ARRAY_BUFFER, vertices_.name());
  glBufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(positions + normals + colours), nullptr,
               GL_STATIC_DRAW);
  const auto fill = [](std::size_t at, std::size_t bytes, const void* data) {
    if (bytes > 0)
      glBufferSubData(GL_ARRAY_BUFFER, static_cast<GLintptr>(at), static_cast<GLsizeiptr>(bytes), data);
  };
  fill(0, positions, surface.positions.data());
  fill(positions, normals, surface.normals.data());
  fill(positions + normals, colours, surface.colours.data());
  const auto attribute = [](GLuint location, GLint size, std::size_t at) {
    glEnableVertexAttribArray(location);
    glVertexAttribPointer(location, size, GL_FLOAT, GL_FALSE, 0, buffer_offset(at));
  };
  attribute(0, 3, 0);
  attribute(1, 3, positions);
  if (has_colours_) attribute(2, 4, positions + normals);
  glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, indices_.name());
  glBufferData(GL_ELEMENT_ARRAY_BUFFER,
               static_cast<GLsizeiptr>(surface.triangles.size() * sizeof(std::uint32_t)),
               surface.triangles.data(), GL_STATIC_DRAW);
  Eigen::AlignedBox3f box;
  for (const Eigen::Vector3f& position : surface.positions) box.extend(position);
  if (box.isEmpty()) return;
  centre_ = box.center().cast<double>();
  radius_ = 0.5 * static_cast<double>(box.diagonal().norm());
}

const UploadedMesh& SurfaceStore::mesh_of(const SharedSurface& surface) {
  const auto found = meshes_.find(surface.get());
  if (found != meshes_.end()) return found->second.mesh;
  return meshes_.emplace(surface.get(), Entry{surface, UploadedMesh(*surface)}).first->second.mesh;
}

void PendingTriangles::add(std::int64_t triangles) {
  count_ += triangles;
  if (!is_software_ || count_ < k_most) return;
  glFinish();
  count_ = 0;
}

}  // namespace abut
