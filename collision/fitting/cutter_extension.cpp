#include "collision/fitting/cutter_extension.h"

#include <algorithm>
#include <cstddef>

#include "collision/fitting/free_primitive.h"
#include "collision/fitting/union_refiner.h"
#include "collision/sdf/cutter_ends.h"

namespace abut {
namespace {

constexpr double k_most = 4.0;    // half widths that an end moves by
constexpr double k_rise = 1e-3;   // of the error, relative
constexpr int k_shortenings = 2;  // of that, where it would cut something

/// Half the width across an axis [m].
double half_width(const Primitive& primitive, int axis) {
  const auto& p = primitive.parameters;
  if (primitive.kind == PrimitiveKind::capsule) return p[0];
  if (primitive.kind == PrimitiveKind::cone) return std::max(p[0], p[1]);
  return std::max(p[at((axis + 1) % 3)], p[at((axis + 2) % 3)]);
}

}  // namespace

int extend_cutters(Shape& shape, const DistanceGrid& grid, const UnionRefinementOptions& options) {
  require_refinable(shape);
  if (std::all_of(shape.primitives.begin(), shape.primitives.end(), is_added)) return 0;
  UnionRefiner refiner(shape, grid, options);
  refiner.choose_samples(refiner.distances());
  const double most_rise = k_rise * refiner.cost_of(shape);
  int moved_ends = 0;
  const auto extend = [&](std::size_t l, int axis, bool is_upper) {
    Primitive& primitive = shape.primitives[l];
    if (!half_length_parameter(primitive.kind, axis)) return false;
    double by = k_most * half_width(primitive, axis);
    for (int attempt = 0; attempt <= k_shortenings; ++attempt, by *= 0.5) {
      EndExtensions extension{};
      extension[at(axis)][is_upper ? 1 : 0] = by;
      const Primitive longer = lengthened(primitive, extension);
      if (refiner.change_by(static_cast<int>(l), -1, longer) > most_rise) continue;
      primitive = longer;
      refiner.set_shape(shape);
      return true;
    }
    return false;
  };
  for (std::size_t l = 0; l < shape.primitives.size(); ++l) {
    if (is_added(shape.primitives[l])) continue;
    for (int axis = 0; axis < 3; ++axis) {
      for (const bool is_upper : {false, true}) moved_ends += extend(l, axis, is_upper) ? 1 : 0;
    }
  }
  return moved_ends;
}

}  // namespace abut
