/// Names of OpenGL objects that delete themselves, and programs made of shaders.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include <epoxy/gl.h>

#include "engine/types.h"

namespace abut {

/// Whether the processor draws, for want of a graphics card.
[[nodiscard]] bool draws_in_software();

/// Owns one object. Kind::make() gives its name, Kind::destroy(name) takes it back.
template <typename Kind>
class GlObject {
 public:
  GlObject() : name_(Kind::make()) {}
  ~GlObject() {
    if (name_ != 0) Kind::destroy(name_);
  }
  GlObject(GlObject&& other) noexcept : name_(std::exchange(other.name_, 0)) {}
  GlObject& operator=(GlObject&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  [[nodiscard]] GLuint name() const { return name_; }

 private:
  GLuint name_;
};

#define ABUT_GL_KIND(Kind, generate, remove)               \
  struct Kind {                                            \
    static GLuint make() {                                 \
      GLuint name = 0;                                     \
      generate(1, &name);                                  \
      return name;                                         \
    }                                                      \
    static void destroy(GLuint name) { remove(1, &name); } \
  }
ABUT_GL_KIND(BufferKind, glGenBuffers, glDeleteBuffers);
ABUT_GL_KIND(VertexArrayKind, glGenVertexArrays, glDeleteVertexArrays);
ABUT_GL_KIND(TextureKind, glGenTextures, glDeleteTextures);
ABUT_GL_KIND(FramebufferKind, glGenFramebuffers, glDeleteFramebuffers);
ABUT_GL_KIND(SamplerKind, glGenSamplers, glDeleteSamplers);
ABUT_GL_KIND(RenderbufferKind, glGenRenderbuffers, glDeleteRenderbuffers);
#undef ABUT_GL_KIND
struct ProgramKind {
  static GLuint make() { return glCreateProgram(); }
  static void destroy(GLuint name) { glDeleteProgram(name); }
};

using Buffer = GlObject<BufferKind>;
using VertexArray = GlObject<VertexArrayKind>;
using Texture = GlObject<TextureKind>;
using Sampler = GlObject<SamplerKind>;
using Framebuffer = GlObject<FramebufferKind>;
using Renderbuffer = GlObject<RenderbufferKind>;

/// A vertex and a fragment shader.
class Program {
 public:
  /// Throws std::runtime_error with `name` and the compiler's words.
  Program(const char* name, const std::string& vertex_shader, const std::string& fragment_shader);

  void use() const { glUseProgram(program_.name()); }

  // Of the program in use. A uniform that the compiler has found to be without effect is set to no effect.
  void set(const char* uniform, int value) const { glUniform1i(location(uniform), value); }
  void set(const char* uniform, double value) const {
    glUniform1f(location(uniform), static_cast<float>(value));
  }
  void set(const char* uniform, const Vec2<double>& value) const;
  void set(const char* uniform, const Vec3<double>& value) const;
  void set(const char* uniform, const Eigen::Vector4f& value) const;
  void set(const char* uniform, const Mat4<double>& value) const;

 private:
  [[nodiscard]] GLint location(const char* uniform) const {
    return glGetUniformLocation(program_.name(), uniform);
  }

  GlObject<ProgramKind> program_;
};

/// A framebuffer of one texture, which shaders can read: depths, or 8 bits of grey.
class TextureBuffer {
 public:
  enum class Content { depth, grey };
  explicit TextureBuffer(Content content) : content_(content) {}

  /// What it holds is undefined after its size has changed. Throws std::runtime_error if there is no memory.
  void resize(int width, int height);
  [[nodiscard]] GLuint framebuffer() const { return framebuffer_.name(); }
  [[nodiscard]] GLuint texture() const { return texture_.name(); }

 private:
  Content content_;
  int width_ = 0, height_ = 0;
  Framebuffer framebuffer_;
  Texture texture_;
};

/// A framebuffer of our own: colour of 8 bits a channel, and depth.
class DrawingBuffer {
 public:
  /// @param samples  a pixel; 0 is one without resolving
  explicit DrawingBuffer(int samples, bool with_depth) : samples_(samples), with_depth_(with_depth) {}

  /// Its content is undefined after its size has changed. Throws std::runtime_error if there is no memory for
  /// it, or the size is none that OpenGL knows.
  void resize(int width, int height);
  [[nodiscard]] GLuint name() const { return framebuffer_.name(); }
  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }
  /// The same colour before another depth.
  [[nodiscard]] GLuint name_with_second_depth() const { return second_framebuffer_.name(); }

 private:
  int samples_;
  bool with_depth_;
  int width_ = 0, height_ = 0;
  Framebuffer framebuffer_, second_framebuffer_;
  Renderbuffer colour_, depth_, second_depth_;
};

}  // namespace abut
