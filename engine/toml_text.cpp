#include "engine/toml_text.h"

#include <spdlog/fmt/fmt.h>

namespace abut {

std::string toml_number(double x) {
  std::string text = fmt::format("{}", x);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string toml_vector(const Vec3<double>& v) {
  return toml_array(std::array<double, 3>{v.x(), v.y(), v.z()});
}

std::string toml_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string toml_vectors(const Points& vectors) {
  std::string text = "[\n";
  for (Eigen::Index i = 0; i < vectors.cols(); ++i)
    text += fmt::format("  {},\n", toml_vector(vectors.col(i)));
  return text + "]";
}

}  // namespace abut
