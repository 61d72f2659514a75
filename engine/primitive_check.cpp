#include "engine/primitive_check.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/convex_hull.h"
#include "engine/count_text.h"
#include "engine/padded_polygon.h"
#include "engine/primitive_builder.h"

namespace abut {
namespace {

void require_unit_normals(const Primitive& primitive, const std::string& name) {
  for (Eigen::Index i = 0; i < primitive.directions.cols(); ++i) {
    const double length = primitive.directions.col(i).norm();
    require(std::abs(length - 1.0) <= 1e-6, fmt::format("{} ({}): normal {} has length {}, allowed: 1", name,
                                                        kind_name(primitive.kind), i, length));
  }
}

void require_valid_planes(const Primitive& primitive, const std::string& name) {
  const std::string where = fmt::format("{} ({})", name, kind_name(primitive.kind));
  const auto count = primitive.values.size();
  require(primitive.directions.cols() == static_cast<Eigen::Index>(count),
          fmt::format("{}: {} normals have {} offsets", where, primitive.directions.cols(), count));
  require_unit_normals(primitive, name);
  try {
    (void)polyhedron_vertices(primitive.directions, primitive.values);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", where, error.what()));
  }
  const double most = *std::min_element(primitive.values.begin(), primitive.values.end()) /
                      std::log(static_cast<double>(count));
  require(primitive.parameters[0] < most,
          fmt::format("{}: smoothing = {}, allowed: < {}, the least offset by log({} planes)", where,
                      primitive.parameters[0], most, count));
}

void require_valid_points(const Primitive& primitive, const std::string& name) {
  const std::string where = fmt::format("{} ({})", name, kind_name(primitive.kind));
  const auto count = primitive.directions.cols();
  require(count >= 4, fmt::format("{}: {}, allowed: at least 4", where, count_text(count, "point")));
  require(primitive.values.size() == 3 * static_cast<std::size_t>(count),
          fmt::format("{}: {} normals have {} coordinates of points", where, count, primitive.values.size()));
  for (std::size_t i = 0; i < primitive.values.size(); ++i) {
    require(std::isfinite(primitive.values[i]), fmt::format("{}: point {} is not finite", where, i / 3));
  }
  require_unit_normals(primitive, name);
}

void require_valid_cuts(const Primitive& primitive, const std::string& name) {
  const std::string where = fmt::format("{} ({})", name, kind_name(primitive.kind));
  const auto& v = primitive.values;
  require(v.size() % 2 == 1 && primitive.directions.size() == 0,
          fmt::format("{}: {} values, allowed: p3, then an angle and an offset a cut, no directions", where,
                      v.size()));
  require(v[0] >= k_min_profile_power && v[0] <= k_max_profile_power,
          fmt::format("{}: profile power = {}, allowed: in [{}, {}]", where, v[0], k_min_profile_power,
                      k_max_profile_power));
  for (std::size_t i = 1; i < v.size(); i += 2) {
    require(std::isfinite(v[i]),
            fmt::format("{}: the angle of cut {} is {}, allowed: finite", where, i / 2, v[i]));
    require(v[i + 1] > 0.0 && std::isfinite(v[i + 1]),
            fmt::format("{}: the offset of cut {} is {}, allowed: > 0", where, i / 2, v[i + 1]));
  }
}

void require_valid_corners(const Primitive& primitive, const std::string& name) {
  const std::string where = fmt::format("{} ({})", name, kind_name(primitive.kind));
  const auto& v = primitive.values;
  require(v.size() % 2 == 0 && primitive.directions.size() == 0,
          fmt::format("{}: {} values, allowed: x and y of each corner, no directions", where, v.size()));
  constexpr double k_farthest = 1e9;  // [m]
  for (std::size_t i = 0; i < v.size(); ++i) {
    require(std::abs(v[i]) <= k_farthest,
            fmt::format("{}: {} of corner {} is {}, allowed: in [{}, {}] m", where, i % 2 == 0 ? 'x' : 'y',
                        i / 2, v[i], -k_farthest, k_farthest));
  }
  try {
    require_wide_polygon(polygon_corners(primitive));
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", where, error.what()));
  }
}

}  // namespace

std::string_view kind_name(PrimitiveKind kind) {
  switch (kind) {
    case PrimitiveKind::superquadric:
      return "superquadric";
    case PrimitiveKind::half_space:
      return "half_space";
    case PrimitiveKind::sphere:
      return "sphere";
    case PrimitiveKind::capsule:
      return "capsule";
    case PrimitiveKind::rounded_box:
      return "rounded_box";
    case PrimitiveKind::convex_polyhedron:
      return "convex_polyhedron";
    case PrimitiveKind::oriented_point_cloud:
      return "oriented_point_cloud";
    case PrimitiveKind::extruded_superquadric:
      return "extruded_superquadric";
    case PrimitiveKind::cone:
      return "cone";
    case PrimitiveKind::torus:
      return "torus";
    case PrimitiveKind::padded_polygon:
      return "padded_polygon";
  }
  return "primitive";
}

void require_valid(const Primitive& primitive, const std::string& name) {
  const auto need = [&](bool condition, std::string_view what, double value, std::string_view allowed) {
    require(condition, fmt::format("{} ({}): {} = {}, allowed: {}", name, kind_name(primitive.kind), what,
                                   value, allowed));
  };
  const auto positive = [&](std::size_t i, std::string_view what) {
    const double value = primitive.parameters[i];
    // Beyond, squares and cubes leave double precision.
    need(value >= k_least_length && value <= k_largest_length, what, value,
         fmt::format("in [{}, {}] m", k_least_length, k_largest_length));
  };
  const auto& p = primitive.parameters;
  const bool has_values = primitive.kind == PrimitiveKind::convex_polyhedron ||
                          primitive.kind == PrimitiveKind::oriented_point_cloud ||
                          primitive.kind == PrimitiveKind::extruded_superquadric ||
                          primitive.kind == PrimitiveKind::padded_polygon;
  require(has_values || primitive.values.empty(),
          fmt::format("{} ({}): {}, allowed: none", name, kind_name(primitive.kind),
                      count_text(primitive.values.size(), "value")));
  switch (primitive.kind) {
    case PrimitiveKind::superquadric:
    case PrimitiveKind::extruded_superquadric:
      for (std::size_t i = 0; i < 3; ++i) positive(i, "semi-axis");
      for (std::size_t i = 3; i < 5; ++i) {
        need(p[i] >= k_min_exponent && p[i] <= k_max_exponent, "exponent", p[i],
             fmt::format("in [{}, {}]", k_min_exponent, k_max_exponent));
      }
      if (primitive.kind == PrimitiveKind::extruded_superquadric) require_valid_cuts(primitive, name);
      break;
    case PrimitiveKind::convex_polyhedron:
      positive(0, "smoothing");
      require_valid_planes(primitive, name);
      break;
    case PrimitiveKind::oriented_point_cloud:
      positive(0, "width");
      require_valid_points(primitive, name);
      break;
    case PrimitiveKind::half_space:
      break;
    case PrimitiveKind::sphere:
      positive(0, "radius");
      break;
    case PrimitiveKind::capsule:
      positive(0, "radius");
      need(p[1] >= 0.0 && std::isfinite(p[1]), "half_length", p[1], ">= 0 and finite");
      break;
    case PrimitiveKind::rounded_box: {
      for (std::size_t i = 0; i < 3; ++i) positive(i, "half extent");
      const double smallest = std::min({p[0], p[1], p[2]});
      need(p[3] >= 0.0 && p[3] < smallest, "edge_radius", p[3],
           fmt::format(">= 0 and < {}, the smallest half extent", smallest));
      break;
    }
    case PrimitiveKind::cone: {
      positive(p[0] >= p[1] ? 0 : 1, p[0] >= p[1] ? "radius" : "top_radius");
      need(p[0] >= 0.0, "radius", p[0], ">= 0");
      need(p[1] >= 0.0, "top_radius", p[1], ">= 0");
      positive(2, "half_length");
      const double most = k_most_cone_smoothing * std::min(std::max(p[0], p[1]), p[2]);
      positive(3, "smoothing");
      need(p[3] <= most, "smoothing", p[3],
           fmt::format("<= {}, a tenth of the smaller of half_length and larger radius", most));
      break;
    }
    case PrimitiveKind::torus:
      positive(0, "radius");
      positive(1, "tube_radius");
      need(p[1] < p[0], "tube_radius", p[1], fmt::format("< {}, the radius of the circle", p[0]));
      break;
    case PrimitiveKind::padded_polygon:
      positive(0, "radius");
      require_valid_corners(primitive, name);
      break;
  }
  for (Eigen::Index i = 0; i < 3; ++i) {
    need(std::isfinite(primitive.X_BP.p[i]), "position", primitive.X_BP.p[i], "finite");
  }
  const double norm = primitive.X_BP.q.norm();
  need(std::abs(norm - 1.0) <= 1e-6, "length of the orientation", norm, "1");
}

}  // namespace abut
