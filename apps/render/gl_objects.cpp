#include "apps/render/gl_objects.h"

#include <algorithm>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

namespace abut {
namespace {

/// Compiled and attached; deleted by OpenGL together with the program.
void attach(GLuint program, GLenum kind, const char* name, const std::string& text) {
  const GLuint shader = glCreateShader(kind);
  const char* const begin = text.c_str();
  glShaderSource(shader, 1, &begin, nullptr);
  glCompileShader(shader);
  glAttachShader(program, shader);
  glDeleteShader(shader);
  GLint is_compiled = GL_FALSE, length = 0;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &is_compiled);
  if (is_compiled == GL_TRUE) return;
  glGetShaderiv(shader, GL_INFO_LOG_LENGTH, &length);
  std::string words(static_cast<std::size_t>(std::max(length, 1)), '\0');
  glGetShaderInfoLog(shader, length, nullptr, words.data());
  throw std::runtime_error(fmt::format("the {} shader of '{}' does not compile: {}",
                                       kind == GL_VERTEX_SHADER ? "vertex" : "fragment", name,
                                       words.c_str()));
}

}  // namespace

Program::Program(const char* name, const std::string& vertex_shader, const std::string& fragment_shader) {
  attach(program_.name(), GL_VERTEX_SHADER, name, vertex_shader);
  attach(program_.name(), GL_FRAGMENT_SHADER, name, fragment_shader);
  glLinkProgram(program_.name());
  GLint is_linked = GL_FALSE, length = 0;
  glGetProgramiv(program_.name(), GL_LINK_STATUS, &is_linked);
  if (is_linked == GL_TRUE) return;
  glGetProgramiv(program_.name(), GL_INFO_LOG_LENGTH, &length);
  std::string words(static_cast<std::size_t>(std::max(length, 1)), '\0');
  glGetProgramInfoLog(program_.name(), length, nullptr, words.data());
  throw std::runtime_error(fmt::format("the shaders of '{}' do not fit together: {}", name, words.c_str()));
}

void Program::set(const char* uniform, const Vec2<double>& value) const {
  const Vec2<float> v = value.cast<float>();
  glUniform2fv(location(uniform), 1, v.data());
}

void Program::set(const char* uniform, const Vec3<double>& value) const {
  const Vec3<float> v = value.cast<float>();
  glUniform3fv(location(uniform), 1, v.data());
}

void Program::set(const char* uniform, const Eigen::Vector4f& value) const {
  glUniform4fv(location(uniform), 1, value.data());
}

void Program::set(const char* uniform, const Mat4<double>& value) const {
  const Mat4<float> m = value.cast<float>();
  glUniformMatrix4fv(location(uniform), 1, GL_FALSE, m.data());
}

void DrawingBuffer::resize(int width, int height) {
  if (width == width_ && height == height_) return;
  GLint largest = 0;
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
  if (width > largest || height > largest) {
    throw std::runtime_error(fmt::format(
        "a picture of {} x {} pixels is larger than the {} that OpenGL allows here", width, height, largest));
  }
  const auto allocate = [&](const Renderbuffer& buffer, GLenum format, GLenum attachment) {
    glBindRenderbuffer(GL_RENDERBUFFER, buffer.name());
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples_, format, width, height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, attachment, GL_RENDERBUFFER, buffer.name());
  };
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_.name());
  allocate(colour_, GL_RGBA8, GL_COLOR_ATTACHMENT0);
  if (with_depth_) allocate(depth_, GL_DEPTH_COMPONENT24, GL_DEPTH_ATTACHMENT);
  glBindRenderbuffer(GL_RENDERBUFFER, 0);
  width_ = height_ = 0;
  if (const GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER); status != GL_FRAMEBUFFER_COMPLETE) {
    throw std::runtime_error(
        fmt::format("OpenGL gives no framebuffer of {} x {} pixels with {} samples (status {:#x})", width,
                    height, samples_, status));
  }
  width_ = width;
  height_ = height;
}

}  // namespace abut
