/// Values as TOML has them: what reads back is the same, to the last bit.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "engine/mesh.h"
#include "engine/types.h"

namespace abut {

/// The shortest text that reads back as the same number, and that TOML takes for a floating-point one.
[[nodiscard]] std::string toml_number(double x);

template <typename Values>
[[nodiscard]] std::string toml_array(const Values& values) {
  std::string text = "[";
  for (const double x : values) text += (text.size() > 1 ? ", " : "") + toml_number(x);
  return text + "]";
}

[[nodiscard]] std::string toml_vector(const Vec3<double>& v);

/// An array of vectors, one a line.
[[nodiscard]] std::string toml_vectors(const Points& vectors);

/// In quotes, with whatever needs it escaped.
[[nodiscard]] std::string toml_string(std::string_view text);

}  // namespace abut
