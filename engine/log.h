/// The one logger of the library.
#pragma once

#include <memory>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace abut {

/// The logger "abut", writing to stderr unless an application has registered another sink under this name
/// first. Libraries set neither level nor sink; applications do:
/// `abut::log().set_level(spdlog::level::debug)`. Not to be called inside a time step.
inline spdlog::logger& log() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto existing = spdlog::get("abut");
    return existing ? existing : spdlog::stderr_color_mt("abut");
  }();
  return *logger;
}

}  // namespace abut
