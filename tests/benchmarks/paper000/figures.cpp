#include <array>

#include "figure.h"

namespace abut::paper000 {

std::span<const Figure> figures() {
  static constexpr std::array list{
      Figure{"2", "signed distance functions at growing smoothing", draw_smoothed_primitives},
      Figure{"3", "witness point of a rotating edge, and its derivative", draw_rotating_edge},
      Figure{"5", "contacts of a box on a box", draw_stacked_boxes},
      Figure{"6", "times of witness routines by the number of queries", draw_witness_times},
      Figure{"7", "times of manifolds of two armadillos, and of gradients", draw_manifold_times},
      Figure{"8", "times of manifolds without some kinds of contacts", draw_ablation_times},
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
