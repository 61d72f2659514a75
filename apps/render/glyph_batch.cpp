#include "apps/render/glyph_batch.h"

#include <algorithm>
#include <cstdint>

#include "apps/render/glyph_meshes.h"

namespace abut {

GlyphBatch::GlyphBatch(GlyphShape shape) : mesh_(glyph_mesh(shape)) {
  glBindVertexArray(mesh_.array().name());
  glBindBuffer(GL_ARRAY_BUFFER, glyphs_.name());
  const auto attribute = [](GLuint location, GLint size, std::size_t floats_before) {
    glEnableVertexAttribArray(location);
    glVertexAttribPointer(location, size, GL_FLOAT, GL_FALSE, sizeof(Glyph),
                          buffer_offset(floats_before * sizeof(float)));
    glVertexAttribDivisor(location, 1);
  };
  attribute(2, 3, 0);
  attribute(3, 3, 3);
  attribute(4, 3, 6);
  attribute(5, 3, 9);
  attribute(6, 4, 12);
}

void GlyphBatch::draw(const std::vector<Glyph>& glyphs, PendingTriangles& pending) const {
  const std::int64_t triangles = mesh_.index_count() / 3;
  const auto most = static_cast<std::size_t>(PendingTriangles::k_most / triangles);
  glBindBuffer(GL_ARRAY_BUFFER, glyphs_.name());
  glBindVertexArray(mesh_.array().name());
  for (std::size_t begin = 0; begin < glyphs.size(); begin += most) {
    const std::size_t count = std::min(most, glyphs.size() - begin);
    glBufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(count * sizeof(Glyph)), glyphs.data() + begin,
                 GL_STREAM_DRAW);
    glDrawElementsInstanced(GL_TRIANGLES, mesh_.index_count(), GL_UNSIGNED_INT, nullptr,
                            static_cast<GLsizei>(count));
    pending.add(triangles * static_cast<std::int64_t>(count));
  }
}

}  // namespace abut
