#include "engine/check.h"

#include <cmath>

#include <spdlog/fmt/fmt.h>

namespace abut {

void require_positive(double value, std::string_view what) {
  require(value > 0.0 && std::isfinite(value), fmt::format("{} = {}, allowed: > 0 and finite", what, value));
}

}  // namespace abut
