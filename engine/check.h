/// Two of the three kinds of wrong: the programmer's (ABUT_ASSERT) and the user's at set-up (require).
/// The third, a computation that did not converge, is a value in a report, never an error.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace abut {

/// Throws std::invalid_argument(message) unless the condition holds. For set-up, never inside a time step.
inline void require(bool condition, std::string_view message) {
  if (!condition) throw std::invalid_argument(std::string(message));
}

/// Throws std::invalid_argument naming `what` unless the value is > 0 and finite.
void require_positive(double value, std::string_view what);

/// What a failed ABUT_ASSERT does: says where on stderr, and aborts.
[[noreturn]] inline void assertion_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace abut

/// Aborts if the condition, which a caller of ours must have made true, is not. Alive in Debug and
/// RelWithDebInfo (the build defines ABUT_ENABLE_ASSERTIONS there); elsewhere the condition is compiled but
/// not evaluated.
#if defined(ABUT_ENABLE_ASSERTIONS) || !defined(NDEBUG)
#define ABUT_ASSERT(...) \
  (static_cast<bool>(__VA_ARGS__) ? void(0) : ::abut::assertion_failed(#__VA_ARGS__, __FILE__, __LINE__))
#else
#define ABUT_ASSERT(...) static_cast<void>(sizeof(static_cast<bool>(__VA_ARGS__)))
#endif
