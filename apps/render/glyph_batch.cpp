#include "apps/render/glyph_batch.h"

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

void GlyphBatch::draw(const std::vector<Glyph>& glyphs) const {
  if (glyphs.empty()) return;
  glBindBuffer(GL_ARRAY_BUFFER, glyphs_.name());
  glBufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(glyphs.size() * sizeof(Glyph)), glyphs.data(),
               GL_STREAM_DRAW);
  glBindVertexArray(mesh_.array().name());
  glDrawElementsInstanced(GL_TRIANGLES, mesh_.index_count(), GL_UNSIGNED_INT, nullptr,
                          static_cast<GLsizei>(glyphs.size()));
}

}  // namespace abut
