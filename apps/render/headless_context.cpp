#include "apps/render/headless_context.h"

#include <array>
#include <stdexcept>

#include <dlfcn.h>

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <spdlog/fmt/fmt.h>

#include "apps/render/gl_objects.h"
#include "engine/check.h"

namespace abut {
namespace {

// epoxy ends the program where a function is called that it believes not to exist. Extensions are looked at
// first; and functions of EGL 1.5 itself are left alone, as before there is a context it believes in EGL 1.4
// only.

EGLDisplay platform_display(EGLenum platform, void* native) {
  return epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_base")
             ? eglGetPlatformDisplayEXT(platform, native, nullptr)
             : EGL_NO_DISPLAY;
}

/// epoxy ends the program if it needs these and finds none of them.
bool has_opengl_library() {
  for (const char* name : {"libGL.so.1", "libOpenGL.so.0"}) {
    if (void* const library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {
      ::dlclose(library);
      return true;
    }
  }
  return false;
}

/// Whether a display is there, is ready, and can do without surfaces.
bool is_usable(EGLDisplay display) {
  return display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr) == EGL_TRUE &&
         epoxy_has_egl_extension(display, "EGL_KHR_surfaceless_context");
}

/// Never terminated: other contexts of this program may be of the same display.
EGLDisplay open_display() {
  if (!epoxy_has_egl()) throw std::runtime_error("drawing without a window needs EGL: there is no libEGL");
  if (!has_opengl_library()) throw std::runtime_error("drawing needs OpenGL: there is no libGL or libOpenGL");
  if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless")) {
    const EGLDisplay display = platform_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY);
    if (is_usable(display)) return display;
  }
  if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") &&
      epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration")) {
    std::array<EGLDeviceEXT, 16> devices{};
    EGLint count = 0;
    if (eglQueryDevicesEXT(static_cast<EGLint>(devices.size()), devices.data(), &count) != EGL_TRUE)
      count = 0;
    for (EGLint i = 0; i < count; ++i) {
      const EGLDisplay display =
          platform_display(EGL_PLATFORM_DEVICE_EXT, devices[static_cast<std::size_t>(i)]);
      if (is_usable(display)) return display;
    }
  }
  if (const EGLDisplay display = eglGetDisplay(EGL_DEFAULT_DISPLAY); is_usable(display)) return display;
  throw std::runtime_error(
      "drawing without a window needs a driver for EGL without surfaces (EGL_MESA_platform_surfaceless, a "
      "device, or the default display, with EGL_KHR_surfaceless_context), such as Mesa's");
}

EGLContext make_context(EGLDisplay display) {
  if (eglBindAPI(EGL_OPENGL_API) != EGL_TRUE) throw std::runtime_error("EGL here knows no desktop OpenGL");
  const EGLint wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (eglChooseConfig(display, wanted, &config, 1, &count) != EGL_TRUE || count < 1) {
    throw std::runtime_error("EGL has no configuration for desktop OpenGL");
  }
  if (epoxy_egl_version(display) < 15 && !epoxy_has_egl_extension(display, "EGL_KHR_create_context")) {
    throw std::runtime_error("EGL cannot make a context of OpenGL 3.3: EGL_KHR_create_context is missing");
  }
  const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION,
                               3,
                               EGL_CONTEXT_MINOR_VERSION,
                               3,
                               EGL_CONTEXT_OPENGL_PROFILE_MASK,
                               EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                               EGL_NONE};
  const EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, attributes);
  if (context == EGL_NO_CONTEXT) {
    throw std::runtime_error(
        fmt::format("EGL makes no context of OpenGL 3.3 (core profile): error {:#x}", eglGetError()));
  }
  return context;
}

/// Current in this thread from its beginning to its end.
class Context {
 public:
  Context() : display_(open_display()), context_(make_context(display_)) {
    if (!make_current()) {
      const EGLint error = eglGetError();
      eglDestroyContext(display_, context_);
      throw std::runtime_error(fmt::format("EGL cannot use a context without surfaces: error {:#x}", error));
    }
  }
  ~Context() {
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display_, context_);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  bool make_current() const {
    return eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_) == EGL_TRUE;
  }

 private:
  EGLDisplay display_;
  EGLContext context_;
};

}  // namespace

struct HeadlessContext::Resources {
  Context context;  // before what needs it
  DrawingBuffer buffer{0, true};
};

HeadlessContext::HeadlessContext(int width, int height) : resources_(std::make_unique<Resources>()) {
  resize(width, height);
}

HeadlessContext::~HeadlessContext() {
  resources_->context.make_current();  // another one may have been made since
}

void HeadlessContext::resize(int width, int height) {
  ABUT_ASSERT(width > 0 && height > 0);
  resources_->buffer.resize(width, height);
}

int HeadlessContext::width() const { return resources_->buffer.width(); }
int HeadlessContext::height() const { return resources_->buffer.height(); }
unsigned HeadlessContext::framebuffer() const { return resources_->buffer.name(); }

}  // namespace abut
