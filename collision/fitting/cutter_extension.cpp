#include "collision/fitting/cutter_extension.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "collision/fitting/free_primitive.h"
#include "collision/fitting/union_refiner.h"
#include "engine/check.h"

namespace abut {
namespace {

constexpr double k_most = 4.0;    // half widths that an end moves by
constexpr double k_rise = 1e-3;   // of the error, relative
constexpr int k_shortenings = 2;  // of that, where it would cut something

/// Which parameter is half the length along an axis, less what is round at the ends.
std::optional<std::size_t> half_length(PrimitiveKind kind, int axis) {
  switch (kind) {
    case PrimitiveKind::superquadric:
    case PrimitiveKind::rounded_box:
      return static_cast<std::size_t>(axis);
    case PrimitiveKind::capsule:
      return axis == 2 ? std::optional<std::size_t>(1) : std::nullopt;
    case PrimitiveKind::cone:
      return axis == 2 ? std::optional<std::size_t>(2) : std::nullopt;
    default:
      return std::nullopt;
  }
}

/// Half the width across an axis [m].
double half_width(const Primitive& primitive, int axis) {
  const auto& p = primitive.parameters;
  if (primitive.kind == PrimitiveKind::capsule) return p[0];
  if (primitive.kind == PrimitiveKind::cone) return std::max(p[0], p[1]);
  return std::max(p[at((axis + 1) % 3)], p[at((axis + 2) % 3)]);
}

/// One end further out by a length [m], the other one where it is; a cone goes on as it is.
Primitive lengthened(Primitive primitive, int axis, double sign, double by) {
  const std::size_t k = *half_length(primitive.kind, axis);
  if (primitive.kind == PrimitiveKind::cone) {
    double& end = primitive.parameters[sign > 0.0 ? 1 : 0];
    const double other = primitive.parameters[sign > 0.0 ? 0 : 1];
    end = std::max(end + (end - other) * by / (2.0 * primitive.parameters[2]), 0.0);
  }
  primitive.parameters[k] += 0.5 * by;
  primitive.X_BP.p += primitive.X_BP.rotation() * (0.5 * sign * by * Vec3<double>::Unit(axis));
  return primitive;
}

}  // namespace

int extend_cutters(Shape& shape, const DistanceGrid& grid, const UnionRefinementOptions& options) {
  require_refinable(shape);
  if (std::all_of(shape.primitives.begin(), shape.primitives.end(), is_added)) return 0;
  UnionRefiner refiner(shape, grid, options);
  refiner.choose_samples(refiner.distances());
  const double most_rise = k_rise * refiner.cost_of(shape);
  int moved_ends = 0;
  const auto extend = [&](std::size_t l, int axis, double sign) {
    Primitive& primitive = shape.primitives[l];
    if (!half_length(primitive.kind, axis)) return false;
    double by = k_most * half_width(primitive, axis);
    for (int attempt = 0; attempt <= k_shortenings; ++attempt, by *= 0.5) {
      const Primitive longer = lengthened(primitive, axis, sign, by);
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
      for (const double sign : {-1.0, 1.0}) moved_ends += extend(l, axis, sign) ? 1 : 0;
    }
  }
  return moved_ends;
}

}  // namespace abut
