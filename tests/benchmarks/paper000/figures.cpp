#include <array>

#include "figure.h"

namespace abut::paper000 {

std::span<const Figure> figures() {
  static constexpr std::array list{
      Figure{"2", "signed distance functions at growing smoothing", draw_smoothed_primitives},
  };
  return list;
}

const Figure* find_figure(std::string_view name) {
  for (const Figure& figure : figures()) {
    if (figure.name == name) return &figure;
  }
  return nullptr;
}

}  // namespace abut::paper000
