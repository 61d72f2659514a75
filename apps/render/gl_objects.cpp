#include "apps/render/gl_objects.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>

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

/// Throws std::runtime_error unless the framebuffer that is bound can be drawn into.
void require_complete(int width, int height, int samples) {
  if (const GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER); status != GL_FRAMEBUFFER_COMPLETE) {
    throw std::runtime_error(
        fmt::format("OpenGL gives no framebuffer of {} x {} pixels with {} samples (status {:#x})", width,
                    height, samples, status));
  }
}

}  // namespace

bool draws_in_software() {
  const auto* const name = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
  const std::string_view renderer = name != nullptr ? name : "";
  constexpr std::string_view k_software[] = {"llvmpipe", "softpipe", "swrast", "SwiftShader"};
  return std::any_of(std::begin(k_software), std::end(k_software),
                     [&](std::string_view word) { return renderer.find(word) != std::string_view::npos; });
}

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

void TextureBuffer::resize(int width, int height) {
  if (width == width_ && height == height_) return;
  const bool is_depth = content_ == Content::depth;
  width_ = height_ = 0;
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_.name());
  glActiveTexture(GL_TEXTURE0);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  glBindTexture(GL_TEXTURE_2D, texture_.name());
  glTexImage2D(GL_TEXTURE_2D, 0, is_depth ? GL_DEPTH_COMPONENT24 : GL_R8, width, height, 0,
               is_depth ? GL_DEPTH_COMPONENT : GL_RED, is_depth ? GL_UNSIGNED_INT : GL_UNSIGNED_BYTE,
               nullptr);
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
  for (const GLenum wrap : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
    glTexParameteri(GL_TEXTURE_2D, wrap, GL_CLAMP_TO_EDGE);
  glFramebufferTexture2D(GL_FRAMEBUFFER, is_depth ? GL_DEPTH_ATTACHMENT : GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
                         texture_.name(), 0);
  glBindTexture(GL_TEXTURE_2D, 0);
  if (is_depth) {
    glDrawBuffer(GL_NONE);
    glReadBuffer(GL_NONE);
  }
  require_complete(width, height, 0);
  width_ = width;
  height_ = height;
}

void DrawingBuffer::resize(int width, int height) {
  if (width == width_ && height == height_) return;
  GLint largest = 0;
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
  if (width > largest || height > largest) {
    throw std::runtime_error(fmt::format(
        "a picture of {} x {} pixels is larger than the {} that OpenGL allows here", width, height, largest));
  }
  width_ = height_ = 0;
  const auto allocate = [&](const Renderbuffer& buffer, GLenum format) {
    glBindRenderbuffer(GL_RENDERBUFFER, buffer.name());
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples_, format, width, height);
  };
  allocate(colour_, GL_RGBA8);
  if (with_depth_) {
    allocate(depth_, GL_DEPTH_COMPONENT24);
    allocate(second_depth_, GL_DEPTH_COMPONENT24);
  }
  glBindRenderbuffer(GL_RENDERBUFFER, 0);
  const auto join = [&](const Framebuffer& framebuffer, const Renderbuffer& depth) {
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer.name());
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colour_.name());
    if (with_depth_)
      glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth.name());
    require_complete(width, height, samples_);
  };
  if (with_depth_) join(second_framebuffer_, second_depth_);
  join(framebuffer_, depth_);
  width_ = width;
  height_ = height;
}

}  // namespace abut
