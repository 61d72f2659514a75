#include "apps/picture/surface.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>
#include <unordered_map>
#include <utility>

#include "collision/fitting/marching_cubes.h"

namespace abut {
namespace {

/// Sets of numbers, of which two can become one.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parents_(count) {
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
  }
  [[nodiscard]] std::size_t find(std::size_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  void unite(std::size_t i, std::size_t j) {
    const std::size_t a = find(i), b = find(j);
    parents_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parents_;
};

/// A surface, and of which vertex of the mesh each of its positions is.
struct SplitSurface {
  Surface surface;
  std::vector<int> vertices;
};

Vec3<double> unit_or(const Vec3<double>& v, const Vec3<double>& otherwise) {
  const double norm = v.norm();
  return std::isfinite(norm) && norm > 0.0 ? Vec3<double>(v / norm) : otherwise;
}

/// The angle of a triangle between two of its edges [rad].
double angle_between(const Vec3<double>& a, const Vec3<double>& b) {
  return std::atan2(a.cross(b).norm(), a.dot(b));
}

/// For each vertex the first one at the same place.
std::vector<int> first_at_same_place(const Points& vertices) {
  std::vector<int> order(static_cast<std::size_t>(vertices.cols())), first(order.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](int i) { return std::array{vertices(0, i), vertices(1, i), vertices(2, i)}; };
  std::sort(order.begin(), order.end(),
            [&](int i, int j) { return std::pair(key(i), i) < std::pair(key(j), j); });
  for (std::size_t k = 0; k < order.size(); ++k) {
    const bool is_same = k > 0 && key(order[k]) == key(order[k - 1]);
    first[static_cast<std::size_t>(order[k])] =
        is_same ? first[static_cast<std::size_t>(order[k - 1])] : order[k];
  }
  return first;
}

/// Corners of triangles that meet at a vertex share a normal if one can walk from the one to the other round
/// that vertex without crossing a sharp edge, and a position if they have the same colour, too.
///
/// @param colours  of the corners; null: they have none
SplitSurface split_at_creases(const TriangleMesh& mesh, double crease,
                              const ColouredMesh* colours = nullptr) {
  const std::size_t triangle_count = mesh.triangles.size();
  const auto vertex = [&](std::size_t corner) {
    return mesh.triangles[corner / 3][static_cast<int>(corner % 3)];
  };
  const auto colour = [&](std::size_t corner) {
    return colours != nullptr ? colours->colour(static_cast<int>(corner / 3), static_cast<int>(corner % 3))
                              : std::nullopt;
  };
  const auto next = [](std::size_t corner) { return corner / 3 * 3 + (corner + 1) % 3; };
  const auto position = [&](std::size_t corner) -> Vec3<double> { return mesh.vertices.col(vertex(corner)); };

  std::vector<Vec3<double>> normals(triangle_count);  // zero of a triangle without area
  for (std::size_t t = 0; t < triangle_count; ++t) {
    const Vec3<double> a = position(3 * t);
    normals[t] = unit_or((position(3 * t + 1) - a).cross(position(3 * t + 2) - a), Vec3<double>::Zero());
  }

  // Each edge from corner to next(corner), found by the vertices at its ends, meets the one that runs back.
  const auto key = [](int from, int to) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(from)) << 32 |
           static_cast<std::uint32_t>(to);
  };
  std::unordered_map<std::uint64_t, std::size_t> corner_of_edge;
  corner_of_edge.reserve(3 * triangle_count);
  for (std::size_t c = 0; c < 3 * triangle_count; ++c) {
    if (!normals[c / 3].isZero()) corner_of_edge.emplace(key(vertex(c), vertex(next(c))), c);
  }
  DisjointSets sets(3 * triangle_count);
  const double least_cosine = std::cos(crease);
  for (std::size_t c = 0; c < 3 * triangle_count; ++c) {
    const auto back = corner_of_edge.find(key(vertex(next(c)), vertex(c)));
    if (back == corner_of_edge.end() || back->second < c) continue;
    const std::size_t other = back->second;
    const Vec3<double>&n = normals[c / 3], &m = normals[other / 3];
    if (n.isZero() || n.dot(m) < least_cosine) continue;
    sets.unite(c, next(other));
    sets.unite(next(c), other);
  }

  SplitSurface split;
  std::vector<Vec3<double>> sums(3 * triangle_count, Vec3<double>::Zero());  // at the first corner of a set
  std::vector<std::size_t> first_corners;                                    // of the set of each position
  std::vector<std::uint32_t> number(3 *
                                    triangle_count);  // of the first position, at the first corner of a set
  std::map<std::pair<std::size_t, std::optional<Rgb>>, std::uint32_t>
      others;  // in another colour than that one
  const auto add_position = [&](std::size_t c, std::size_t first) {
    first_corners.push_back(first);
    split.vertices.push_back(vertex(c));
    split.surface.positions.emplace_back(position(c).cast<float>());
    const std::optional<Rgb> of_file = colour(c);
    if (colours != nullptr)
      split.surface.colours.push_back(of_file ? Colour((*of_file)[0], (*of_file)[1], (*of_file)[2], 1.0f)
                                              : Colour(0.0f, 0.0f, 0.0f, -1.0f));
    return static_cast<std::uint32_t>(first_corners.size() - 1);
  };
  for (std::size_t c = 0; c < 3 * triangle_count; ++c) {
    const std::size_t first = sets.find(c);
    if (first == c) number[c] = add_position(c, c);  // the least of its set, hence the first to come
    std::uint32_t i = number[first];
    if (colour(c) != colour(first)) {
      const auto [place, is_new] = others.try_emplace({first, colour(c)}, 0);
      if (is_new) place->second = add_position(c, first);
      i = place->second;
    }
    const Vec3<double> p = position(c);
    // By angles, so that how a flat face is cut into triangles does not matter.
    sums[first] += angle_between(position(next(c)) - p, position(next(next(c))) - p) * normals[c / 3];
    split.surface.triangles.push_back(i);
  }
  for (const std::size_t first : first_corners)
    split.surface.normals.emplace_back(unit_or(sums[first], Vec3<double>::UnitZ()).cast<float>());
  return split;
}

/// Along a seam the normals of a grid's vertices lean to the one side or the other by chance, which looks
/// frayed: there each becomes the mean of those around it.
void smooth_seams(Surface& surface) {
  constexpr float k_least_cosine = 0.5f;
  std::vector<Eigen::Vector3f> sums(surface.normals.size(), Eigen::Vector3f::Zero());
  std::vector<bool> is_seam(surface.normals.size(), false);
  for (std::size_t t = 0; t < surface.triangles.size(); t += 3) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::uint32_t i = surface.triangles[t + c], j = surface.triangles[t + (c + 1) % 3];
      sums[i] += surface.normals[j];
      sums[j] += surface.normals[i];
      if (surface.normals[i].dot(surface.normals[j]) < k_least_cosine) is_seam[i] = is_seam[j] = true;
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const Eigen::Vector3f sum = sums[i] + surface.normals[i];
    if (is_seam[i] && sum.norm() > 0.0f) surface.normals[i] = sum.normalized();
  }
}

/// The field, its points shared out among all cores.
ScalarField in_parallel(const ScalarField& field) {
  const auto threads = static_cast<Eigen::Index>(std::max(1u, std::thread::hardware_concurrency()));
  return [&field, threads](const Points& points, std::span<double> values) {
    constexpr Eigen::Index k_least = 256;  // of a thread: less is sooner done than begun
    const Eigen::Index count = points.cols(), share = std::max(k_least, (count + threads - 1) / threads);
    const auto compute = [&](Eigen::Index first) {
      const Eigen::Index part = std::min(share, count - first);
      field(points.middleCols(first, part),
            values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(part)));
    };
    std::vector<std::future<void>> others;
    for (Eigen::Index first = share; first < count; first += share)
      others.push_back(std::async(std::launch::async, compute, first));
    if (count > 0) compute(0);
    for (std::future<void>& other : others) other.get();
  };
}

/// The closed surface field = 0 around a box that is made larger until it holds all of it; nothing if that
/// fails.
std::optional<TriangleMesh> closed_surface(const ScalarField& field, const Eigen::AlignedBox3d& solid,
                                           double margin, int resolution) {
  constexpr int k_attempts = 6;
  const double size = solid.sizes().maxCoeff();
  for (int attempt = 0; attempt < k_attempts; ++attempt) {
    Eigen::AlignedBox3d box = solid;
    box.min().array() -= margin;
    box.max().array() += margin;
    try {
      return marching_cubes(field, grid_around(box, resolution));
    } catch (const std::invalid_argument&) {  // it crosses the border
      margin = 1.6 * margin + 0.04 * size;
    }
  }
  return std::nullopt;
}

struct CutSurface {
  Surface surface;
  Points points;  // its positions
};

/// Each triangle cut in pieces^2 of its own shape, smooth where it was; neighbours share no corners.
CutSurface cut_in_pieces(const SplitSurface& split, const TriangleMesh& mesh, int pieces) {
  const std::vector<std::uint32_t>& triangles = split.surface.triangles;
  const auto corners = static_cast<std::uint32_t>((pieces + 1) * (pieces + 2) / 2);
  CutSurface cut;
  cut.points.resize(3, static_cast<Eigen::Index>(triangles.size() / 3 * corners));
  Eigen::Index place = 0;
  for (std::size_t t = 0; t < triangles.size(); t += 3) {
    const auto first = static_cast<std::uint32_t>(place);
    const auto corner = [&](int i, int j) {  // in rows i of pieces + 1 - i corners
      return first + static_cast<std::uint32_t>(i * (pieces + 1) - i * (i - 1) / 2 + j);
    };
    for (int i = 0; i <= pieces; ++i) {
      for (int j = 0; i + j <= pieces; ++j) {
        const int weights[] = {pieces - i - j, i, j};
        Vec3<double> point = Vec3<double>::Zero(), normal = point;
        for (std::size_t k = 0; k < 3; ++k) {
          const std::uint32_t at = triangles[t + k];
          point += weights[k] * Vec3<double>(mesh.vertices.col(split.vertices[at]));
          normal += weights[k] * split.surface.normals[at].cast<double>();
        }
        cut.points.col(place++) = point / pieces;
        cut.surface.positions.emplace_back((point / pieces).cast<float>());
        cut.surface.normals.emplace_back(
            unit_or(normal, split.surface.normals[triangles[t]].cast<double>()).cast<float>());
        if (i + j == pieces) continue;
        cut.surface.triangles.insert(cut.surface.triangles.end(),
                                     {corner(i, j), corner(i + 1, j), corner(i, j + 1)});
        if (i + j + 1 == pieces) continue;
        cut.surface.triangles.insert(cut.surface.triangles.end(),
                                     {corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)});
      }
    }
  }
  return cut;
}

}  // namespace

SharedSurface mesh_surface(const TriangleMesh& mesh, double crease) {
  if (mesh.triangles.empty()) return nullptr;
  return std::make_shared<const Surface>(split_at_creases(mesh, crease).surface);
}

SharedSurface visual_surface(const ColouredMesh& mesh, const Vec3<double>& displacement) {
  if (mesh.mesh.triangles.empty()) return nullptr;
  TriangleMesh moved = mesh.mesh;
  moved.vertices.colwise() += displacement;
  const std::vector<int> first = first_at_same_place(moved.vertices);
  for (Eigen::Vector3i& triangle : moved.triangles) {
    for (int& v : triangle) v = first[static_cast<std::size_t>(v)];
  }
  const bool is_coloured = !mesh.vertex_colours.empty() || !mesh.triangle_colours.empty();
  Surface surface = split_at_creases(moved, k_crease, is_coloured ? &mesh : nullptr).surface;
  surface.two_sided = true;
  return std::make_shared<const Surface>(std::move(surface));
}

// A cube blown up to a ball, its eight octants moved to the corners of the inner box.
SharedSurface rounded_box_surface(const Primitive& rounded_box) {
  constexpr int k_segments = 6, k_nodes = 2 * (k_segments + 1);  // of a quarter turn, of an edge of the cube
  const auto& [x, y, z, radius, unused] = rounded_box.parameters;
  const Vec3<double> inner = Vec3<double>(x, y, z).array() - radius;
  const auto sign = [](int i) { return i <= k_segments ? -1.0 : 1.0; };
  const auto slope = [](int i) {
    const int steps = i <= k_segments ? i - k_segments : i - k_segments - 1;
    return std::tan(0.25 * std::numbers::pi * steps / k_segments);
  };
  auto surface = std::make_shared<Surface>();
  for (int face = 0; face < 6; ++face) {
    const int axis = face % 3, u = (axis + 1) % 3, v = (axis + 2) % 3;
    const double side = face < 3 ? 1.0 : -1.0;
    const auto first = static_cast<std::uint32_t>(surface->positions.size());
    for (int j = 0; j < k_nodes; ++j) {
      for (int i = 0; i < k_nodes; ++i) {
        Vec3<double> octant, normal;
        octant[axis] = normal[axis] = side;
        octant[u] = side * sign(i);  // mirrored on the far side: its triangles look outwards too
        normal[u] = side * slope(i);
        octant[v] = sign(j);
        normal[v] = slope(j);
        normal.normalize();
        const Vec3<double> p = octant.cwiseProduct(inner) + radius * normal;
        surface->positions.emplace_back((rounded_box.X_BP * p).cast<float>());
        surface->normals.emplace_back((rounded_box.X_BP.q * normal).cast<float>());
        if (i + 1 == k_nodes || j + 1 == k_nodes) continue;
        const std::uint32_t a = first + static_cast<std::uint32_t>(j * k_nodes + i), b = a + 1,
                            c = b + k_nodes, d = a + k_nodes;
        surface->triangles.insert(surface->triangles.end(), {a, b, c, a, c, d});
      }
    }
  }
  return surface;
}

SharedSurface iso_surface(const ShapeSdf& sdf, double level, int resolution,
                          const std::function<void()>& pulse) {
  const Eigen::AlignedBox3d& bounds = sdf.bounds();
  if (bounds.isEmpty() || !bounds.sizes().allFinite() || !(bounds.sizes().minCoeff() > 0.0)) return nullptr;
  const ScalarField of_one_core = field_of(sdf), distance = in_parallel(of_one_core);
  const ScalarField field = [&](const Points& points, std::span<double> values) {
    if (pulse) pulse();
    distance(points, values);
    for (double& value : values) value -= level;
  };
  const std::optional<TriangleMesh> mesh = closed_surface(field, bounds, std::max(level, 0.0), resolution);
  if (!mesh || mesh->triangles.empty()) return nullptr;

  // Where the gradient says nothing, as between primitives that oppose each other, the triangles do.
  const Points normals_of_triangles = vertex_area_vectors(*mesh);
  auto surface = std::make_shared<Surface>();
  for (int i = 0; i < mesh->vertex_count(); ++i) {
    const Vec3<double> p = mesh->vertices.col(i);
    const Vec3<double> normal = unit_or(normals_of_triangles.col(i), Vec3<double>::UnitZ());
    surface->positions.emplace_back(p.cast<float>());
    surface->normals.emplace_back(unit_or(sdf.evaluate(p).gradient, normal).cast<float>());
  }
  for (const Eigen::Vector3i& triangle : mesh->triangles) {
    for (const int i : triangle) surface->triangles.push_back(static_cast<std::uint32_t>(i));
  }
  smooth_seams(*surface);
  return surface;
}

Shape bounded_part(const Shape& shape) {
  Shape part = shape;
  std::erase_if(part.primitives, [](const Primitive& p) {
    return p.kind == PrimitiveKind::half_space && p.operation == PrimitiveOperation::add;
  });
  return part;
}

SharedSurface primitive_surface(const Body& body, int primitive, int resolution) {
  Shape alone = body.shape;
  alone.primitives = {body.shape.primitives[static_cast<std::size_t>(primitive)]};
  alone.primitives[0].operation = PrimitiveOperation::add;
  return iso_surface(ShapeSdf(alone), 0.0, resolution);
}

DiscrepancySurface discrepancy_surface(const TriangleMesh& mesh, const ShapeSdf& sdf, int pieces) {
  constexpr double k_rounding = 1e-9;  // of the mesh's extent: it lies on the surface
  DiscrepancySurface result;
  if (mesh.triangles.empty()) return result;
  std::vector<double> phi(static_cast<std::size_t>(mesh.vertex_count()));
  field_of(sdf)(mesh.vertices, phi);
  for (const double d : phi) {
    result.largest = std::max(result.largest, std::abs(d));
    result.mean += std::abs(d) / static_cast<double>(phi.size());
  }
  auto [surface, points] = cut_in_pieces(split_at_creases(mesh, k_crease), mesh, pieces);
  phi.resize(surface.positions.size());
  field_of(sdf)(points, phi);
  for (const double d : phi) result.between = std::max(result.between, std::abs(d));
  const bool is_off = result.between > k_rounding * largest_extent(mesh);
  for (const double d : phi) surface.colours.push_back(diverging_colour(is_off ? d / result.between : 0.0));
  result.surface = std::make_shared<const Surface>(std::move(surface));
  return result;
}

}  // namespace abut
