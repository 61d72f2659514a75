#include "collision/fitting/surface_mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "collision/fitting/editable_mesh.h"
#include "collision/fitting/simplify_mesh.h"
#include "collision/fitting/surface_creases.h"
#include "collision/fitting/surface_refiner.h"
#include "collision/fitting/triangle_bvh.h"
#include "engine/check.h"

namespace abut {
namespace {

constexpr double k_projection_tolerance = 1e-12;  // of the size; reached up to rounding
constexpr double k_accepted_distance = 1e-9;      // of the size
constexpr int k_first_reduction = 2;              // times the vertices wanted: the rest is done with care
constexpr double k_most_corners = 0.5;            // of the vertices
constexpr int k_samples_per_vertex = 20;          // of the fine mesh, that stand for the surface at most

double enclosed_volume(const TriangleMesh& mesh) {
  double volume = 0.0;
  for (const Eigen::Vector3i& t : mesh.triangles) {
    const Vec3<double> a = mesh.vertices.col(t[0]), b = mesh.vertices.col(t[1]), c = mesh.vertices.col(t[2]);
    volume += a.dot(b.cross(c)) / 6.0;
  }
  return volume;
}

/// Corners stay: with many of them, as of a surface that is rough, none would be left for the rest.
bool has_few_corners(const CreasedMesh& creased, int vertices) {
  std::vector<int> creases_of(static_cast<std::size_t>(creased.mesh.vertex_count()), 0);
  for (const auto& [a, b] : creased.creases) {
    for (const int v : {a, b}) ++creases_of[static_cast<std::size_t>(v)];
  }
  return std::count_if(creases_of.begin(), creases_of.end(), [](int count) { return count > 2; }) <=
         k_most_corners * vertices;
}

void measure_distance_from(const TriangleMesh& reference, const TriangleMesh& mesh,
                           const MeshingProgress& progress, SurfaceReport& report) {
  const TriangleBvh bvh(mesh);
  double sum = 0.0;
  for (int v = 0; v < reference.vertex_count(); ++v) {
    const double distance = bvh.nearest(reference.vertices.col(v)).distance;
    report.max_distance = std::max(report.max_distance, distance);
    sum += distance;
    if (progress) progress("distances", v + 1, reference.vertex_count());
  }
  report.mean_distance = sum / reference.vertex_count();
}

}  // namespace

double projection_tolerance(double size) { return k_projection_tolerance * size; }

bool project_to_surface(const SurfaceField& field, Vec3<double>& x, double tolerance) {
  SdfSample<double> at = field(x);
  for (int i = 0; i < 50; ++i) {
    if (std::abs(at.distance) <= tolerance) return true;
    const double squared_gradient = at.gradient.squaredNorm();
    if (!(squared_gradient > 1e-8)) return false;
    Vec3<double> step = -at.distance / squared_gradient * at.gradient;
    bool is_nearer = false;
    for (int halvings = 0; halvings < 5 && !is_nearer; ++halvings, step *= 0.5) {
      const SdfSample<double> next = field(x + step);
      if (std::abs(next.distance) < std::abs(at.distance)) {
        x += step;
        at = next;
        is_nearer = true;
      }
    }
    if (!is_nearer) return std::abs(at.distance) <= 1e3 * tolerance;  // as near as rounding lets it come
  }
  return std::abs(at.distance) <= tolerance;
}

std::vector<TriangleMesh> connected_components(const TriangleMesh& mesh) {
  std::vector<int> root(static_cast<std::size_t>(mesh.vertex_count()));
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int v) {
    while (root[static_cast<std::size_t>(v)] != v) {
      int& r = root[static_cast<std::size_t>(v)];
      r = root[static_cast<std::size_t>(r)];
      v = r;
    }
    return v;
  };
  for (const Eigen::Vector3i& t : mesh.triangles) {
    for (const int v : {t[1], t[2]}) {
      const int p = find(t[0]), q = find(v);
      root[static_cast<std::size_t>(std::max(p, q))] = std::min(p, q);
    }
  }
  std::vector<int> component_of_root(root.size(), -1), new_number(root.size());
  std::vector<std::vector<int>> vertices;
  for (int v = 0; v < mesh.vertex_count(); ++v) {
    int& component = component_of_root[static_cast<std::size_t>(find(v))];
    if (component < 0) {
      component = static_cast<int>(vertices.size());
      vertices.emplace_back();
    }
    auto& list = vertices[static_cast<std::size_t>(component)];
    new_number[static_cast<std::size_t>(v)] = static_cast<int>(list.size());
    list.push_back(v);
  }
  std::vector<TriangleMesh> result(vertices.size());
  for (std::size_t c = 0; c < vertices.size(); ++c) {
    result[c].vertices.resize(3, static_cast<Eigen::Index>(vertices[c].size()));
    for (std::size_t i = 0; i < vertices[c].size(); ++i) {
      result[c].vertices.col(static_cast<Eigen::Index>(i)) = mesh.vertices.col(vertices[c][i]);
    }
  }
  for (const Eigen::Vector3i& t : mesh.triangles) {
    const auto number = [&](int i) { return new_number[static_cast<std::size_t>(t[i])]; };
    result[static_cast<std::size_t>(component_of_root[static_cast<std::size_t>(find(t[0]))])]
        .triangles.emplace_back(number(0), number(1), number(2));
  }
  std::stable_sort(result.begin(), result.end(), [](const TriangleMesh& a, const TriangleMesh& b) {
    return enclosed_volume(a) > enclosed_volume(b);
  });
  return result;
}

TriangleMesh make_surface_mesh(const SurfaceField& field, const TriangleMesh& fine,
                               const SurfaceMeshOptions& options) {
  return make_surface_mesh(field, with_creases(field, fine, projection_tolerance(largest_extent(fine))),
                           options);
}

TriangleMesh make_surface_mesh(const SurfaceField& field, const CreasedMesh& creased,
                               const SurfaceMeshOptions& options) {
  const TriangleMesh& fine = creased.mesh;
  const double size = largest_extent(fine);
  CreasedMesh reduced = has_few_corners(creased, options.vertices)
                            ? simplify_mesh(creased, k_first_reduction * options.vertices)
                            : simplify_mesh(CreasedMesh{fine, {}}, k_first_reduction * options.vertices);
  TriangleMesh& coarse = reduced.mesh;
  std::vector<bool> is_on_crease(static_cast<std::size_t>(coarse.vertex_count()), false);
  for (const auto& [a, b] : reduced.creases) {
    for (const int v : {a, b}) is_on_crease[static_cast<std::size_t>(v)] = true;
  }
  for (int v = 0; v < coarse.vertex_count(); ++v) {
    if (is_on_crease[static_cast<std::size_t>(v)]) continue;
    Vec3<double> x = coarse.vertices.col(v);
    if (!project_to_surface(field, x, k_projection_tolerance * size)) {
      const auto is_near = [&] { return std::abs(field(x).distance) <= k_accepted_distance * size; };
      if (!is_near()) {
        // In a crease, as between two primitives that touch, no gradient leads out: a vertex of the fine mesh
        // is on the surface already.
        Eigen::Index nearest = 0;
        (fine.vertices.colwise() - coarse.vertices.col(v)).colwise().squaredNorm().minCoeff(&nearest);
        x = fine.vertices.col(nearest);
        require(project_to_surface(field, x, k_projection_tolerance * size) || is_near(),
                fmt::format(
                    "vertex {} at ({:.6g}, {:.6g}, {:.6g}) cannot be brought to the surface: {:.3g} m are "
                    "left",
                    v, x.x(), x.y(), x.z(), std::abs(field(x).distance)));
      }
    }
    coarse.vertices.col(v) = x;
  }
  const int stride = 1 + (fine.vertex_count() - 1) / (k_samples_per_vertex * options.vertices);
  Points samples(3, (fine.vertex_count() + stride - 1) / stride);
  for (Eigen::Index i = 0; i < samples.cols(); ++i) samples.col(i) = fine.vertices.col(i * stride);
  EditableMesh mesh(reduced);
  if (!reduced.creases.empty()) untangle(field, mesh);
  refine_surface(field, samples, options, k_projection_tolerance * size, mesh);
  return mesh.mesh();
}

SurfaceReport inspect_surface(const SurfaceField& field, const TriangleMesh& mesh,
                              const TriangleMesh& reference, const MeshingProgress& progress) {
  SurfaceReport report;
  report.vertices = mesh.vertex_count();
  report.triangles = mesh.triangle_count();
  report.size = largest_extent(mesh);
  try {
    require_closed_surface(mesh, "mesh");
    report.closed = true;
  } catch (const std::invalid_argument&) {
    report.closed = false;
  }
  for (int v = 0; v < mesh.vertex_count(); ++v) {
    report.max_vertex_distance =
        std::max(report.max_vertex_distance, std::abs(field(mesh.vertices.col(v)).distance));
  }

  std::vector<std::pair<int, int>> edges;
  std::vector<double> sags;
  report.min_angle = std::numbers::pi;
  for (const Eigen::Vector3i& t : mesh.triangles) {
    Vec3<double> sum = Vec3<double>::Zero();
    for (int i = 0; i < 3; ++i) {
      const Vec3<double> p = mesh.vertices.col(t[i]);
      const Vec3<double> u = mesh.vertices.col(t[(i + 1) % 3]) - p, v = mesh.vertices.col(t[(i + 2) % 3]) - p;
      report.min_angle = std::min(report.min_angle, std::atan2(u.cross(v).norm(), u.dot(v)));
      edges.emplace_back(std::minmax(t[i], t[(i + 1) % 3]));
      sum += p;
    }
    sags.push_back(std::abs(field(sum / 3.0).distance));
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  for (const auto& [a, b] : edges) {
    sags.push_back(std::abs(field(0.5 * (mesh.vertices.col(a) + mesh.vertices.col(b))).distance));
  }
  report.euler_characteristic = report.vertices - static_cast<int>(edges.size()) + report.triangles;
  if (!sags.empty()) {
    report.max_sag = *std::max_element(sags.begin(), sags.end());
    report.mean_sag = std::accumulate(sags.begin(), sags.end(), 0.0) / static_cast<double>(sags.size());
  }
  if (reference.vertex_count() > 0) measure_distance_from(reference, mesh, progress, report);
  return report;
}

}  // namespace abut
