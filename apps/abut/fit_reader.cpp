#include "apps/abut/fit_reader.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <nlohmann/json.hpp>

#include "engine/atomic_file.h"
#include "engine/input_error.h"

namespace abut {
namespace {

class FitReader {
 public:
  explicit FitReader(const std::filesystem::path& path) : path_(path.string()) {}

  Shape read() {
    const std::string text = read_file(path_);
    nlohmann::json json;
    try {
      json = nlohmann::json::parse(text);
    } catch (const nlohmann::json::parse_error& error) {
      const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
      const auto line = 1 + std::count(text.begin(), end, '\n');
      throw InputError(path_, static_cast<int>(line), fmt::format("not JSON: {}", error.what()));
    } catch (const nlohmann::json::out_of_range& error) {  // a number that no double can hold
      fail(error.what());
    }
    if (!json.is_object() || !json.contains("superquadrics") || !json["superquadrics"].is_array() ||
        json["superquadrics"].empty()) {
      fail("there is no list \"superquadrics\", or it is empty");
    }
    Shape shape;
    for (const nlohmann::json& element : json["superquadrics"]) {
      where_ = fmt::format("superquadrics[{}]", shape.primitives.size());
      shape.primitives.push_back(superquadric(element));
    }
    return shape;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(path_, 0, where_.empty() ? message : where_ + ": " + message);
  }

  std::vector<double> numbers(const nlohmann::json& element, const std::string& key,
                              std::size_t count) const {
    if (!element.is_object() || !element.contains(key)) fail(fmt::format("\"{}\" is missing", key));
    const nlohmann::json& array = element[key];
    const bool is_good =
        array.is_array() && array.size() == count &&
        std::all_of(array.begin(), array.end(), [](const nlohmann::json& x) { return x.is_number(); });
    if (!is_good) fail(fmt::format("\"{}\" must be a list of {} numbers", key, count));
    std::vector<double> values = array.get<std::vector<double>>();
    if (!std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); })) {
      fail(fmt::format("\"{}\" has a number too large", key));
    }
    return values;
  }

  Primitive superquadric(const nlohmann::json& element) const {
    const std::vector<double> exponents = numbers(element, "epsilon", 2),
                              axes = numbers(element, "semi_axes", 3),
                              q = numbers(element, "rotation_wxyz", 4),
                              center = numbers(element, "center", 3);
    for (const double axis : axes) {
      if (!(axis > 0.0)) fail(fmt::format("semi-axis {}, allowed: > 0", axis));
    }
    for (const double exponent : exponents) {
      if (!(exponent >= 0.0)) fail(fmt::format("exponent {}, allowed: >= 0", exponent));
    }
    Primitive primitive;
    primitive.parameters = {axes[0], axes[1], axes[2], exponents[0], exponents[1]};
    primitive.X_BP.q = Quat<double>(q[0], q[1], q[2], q[3]);
    const double norm = primitive.X_BP.q.norm();
    if (!(std::abs(norm - 1.0) < 1e-3))
      fail(fmt::format("\"rotation_wxyz\" has length {}, allowed: 1", norm));
    primitive.X_BP = primitive.X_BP.normalized();
    primitive.X_BP.p = Vec3<double>(center[0], center[1], center[2]);
    return primitive;
  }

  std::string path_, where_;
};

}  // namespace

Shape read_superquadric_fit(const std::filesystem::path& path) { return FitReader(path).read(); }

}  // namespace abut
