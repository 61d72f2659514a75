#include "engine/convex_hull.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>

extern "C" {
#include <libqhull_r/libqhull_r.h>
}

#include "engine/check.h"
#include "engine/count_text.h"

namespace abut {
namespace {

/// A facet of the hull as Qhull gives it: normal.x <= offset.
struct Facet {
  Vec3<double> normal;
  double offset, area;
};

struct Hull {
  std::vector<Facet> facets;
  std::vector<Eigen::Vector3i> triangles;  // point indices, of facets with three vertices
  std::vector<int> vertices;               // sorted
};

/// A stream in memory, for what Qhull has to say when it fails.
class MessageStream {
 public:
  MessageStream() : file_(open_memstream(&text_, &size_)) {
    require(file_ != nullptr, "no memory for messages of the convex hull");
  }
  ~MessageStream() {
    std::fclose(file_);
    std::free(text_);  // NOLINT: it was made by malloc
  }
  MessageStream(const MessageStream&) = delete;
  MessageStream& operator=(const MessageStream&) = delete;

  [[nodiscard]] FILE* file() const { return file_; }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  FILE* file_;
};

double area_of(const qhT* qh, facetT* facet) {
  vertexT *vertex, **vertexp;
  std::vector<Vec3<double>> corners;
  FOREACHvertex_(facet->vertices) corners.emplace_back(vertex->point[0], vertex->point[1], vertex->point[2]);
  (void)qh;
  return corners.size() == 3 ? 0.5 * (corners[1] - corners[0]).cross(corners[2] - corners[0]).norm() : 0.0;
}

/// The points of a facet with three vertices, counter-clockwise seen from outside.
Eigen::Vector3i corners_of(qhT* qh, facetT* facet) {
  Eigen::Vector3i corners = Eigen::Vector3i::Zero();
  vertexT *vertex, **vertexp;
  int count = 0;
  FOREACHvertex_(facet->vertices) {
    if (count < 3) corners[count++] = qh_pointid(qh, vertex->point);
  }
  // Qhull orders the vertices of such a facet clockwise.
  if (facet->toporient != qh_ORIENTclock) std::swap(corners[1], corners[2]);
  return corners;
}

/// Facets are triangles with the option "Qt", and as large as they are without. Throws if Qhull fails,
/// which in exact terms means points in one plane.
Hull run_qhull(const Points& points, const char* options, const std::string& failure) {
  const auto count = points.cols();
  std::vector<double> coordinates(static_cast<std::size_t>(3 * count));
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index k = 0; k < 3; ++k) coordinates[static_cast<std::size_t>(3 * i + k)] = points(k, i);
  }
  const MessageStream messages;
  qhT state;
  qhT* qh = &state;
  qh_zero(qh, messages.file());
  std::string command(options);
  const int error = qh_new_qhull(qh, 3, static_cast<int>(count), coordinates.data(), False, command.data(),
                                 nullptr, messages.file());
  Hull hull;
  if (error == 0) {
    facetT* facet;
    FORALLfacets {
      const Vec3<double> normal(facet->normal[0], facet->normal[1], facet->normal[2]);
      hull.facets.push_back({normal.normalized(), -facet->offset / normal.norm(), area_of(qh, facet)});
      if (facet->simplicial) hull.triangles.push_back(corners_of(qh, facet));
    }
    vertexT* vertex;
    FORALLvertices hull.vertices.push_back(qh_pointid(qh, vertex->point));
  }
  qh_freeqhull(qh, !qh_ALL);
  int unfreed = 0, pieces = 0;
  qh_memfreeshort(qh, &unfreed, &pieces);
  require(error == 0, failure);
  std::sort(hull.vertices.begin(), hull.vertices.end());
  return hull;
}

}  // namespace

ConvexHull convex_hull(const Points& points, double merge_angle) {
  require(points.cols() >= 4, fmt::format("a convex hull needs at least 4 points, not {}", points.cols()));
  require(points.allFinite(), "the points of a convex hull must be finite");
  require(merge_angle >= 0.0 && merge_angle < 1.0,
          fmt::format("merge_angle = {}, allowed: in [0, 1) rad", merge_angle));
  Hull hull =
      run_qhull(points, "qhull Qt", "the points lie in one plane, or nearly so: they have no solid hull");

  ConvexHull result;
  result.vertices.resize(3, static_cast<Eigen::Index>(hull.vertices.size()));
  for (Eigen::Index i = 0; i < result.vertices.cols(); ++i) {
    result.vertices.col(i) = points.col(hull.vertices[static_cast<std::size_t>(i)]);
  }
  for (const Eigen::Vector3i& corners : hull.triangles) {
    result.triangles.emplace_back(corners.unaryExpr([&](int point) {
      return static_cast<int>(std::lower_bound(hull.vertices.begin(), hull.vertices.end(), point) -
                              hull.vertices.begin());
    }));
  }
  std::stable_sort(hull.facets.begin(), hull.facets.end(),
                   [](const Facet& a, const Facet& b) { return a.area > b.area; });
  std::vector<Vec3<double>> largest, sums;
  for (const Facet& facet : hull.facets) {
    std::size_t group = 0;
    while (group < largest.size() &&
           2.0 * std::asin(std::min(1.0, 0.5 * (largest[group] - facet.normal).norm())) > merge_angle) {
      ++group;
    }
    if (group == largest.size()) {
      largest.push_back(facet.normal);
      sums.emplace_back(facet.area * facet.normal);
      if (!(facet.area > 0.0)) sums.back() = 1e-300 * facet.normal;
    } else {
      sums[group] += facet.area * facet.normal;
    }
  }
  result.normals.resize(3, static_cast<Eigen::Index>(sums.size()));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const Vec3<double> n = sums[i] / sums[i].norm() + Vec3<double>::Zero();  // no negative zeros, for files
    result.normals.col(static_cast<Eigen::Index>(i)) = n;
    result.offsets.push_back((n.transpose() * result.vertices).maxCoeff());
  }
  return result;
}

Points polyhedron_vertices(const Points& normals, std::span<const double> offsets) {
  const std::string unbounded = "the planes leave the solid open: it would extend for ever";
  require(normals.cols() == static_cast<Eigen::Index>(offsets.size()), "there must be one offset a normal");
  require(offsets.size() >= 4, count_text(offsets.size(), "plane") + ", but a solid has at least 4");
  // Each corner is a facet m.y <= b of the convex hull of the points n_i/o_i, and lies at m/b.
  Points dual(3, normals.cols());
  for (Eigen::Index i = 0; i < normals.cols(); ++i) {
    const double offset = offsets[static_cast<std::size_t>(i)];
    require(offset > 0.0 && std::isfinite(offset),
            fmt::format("the offset of plane {} is {}, allowed: > 0, for the solid contains the origin", i,
                        offset));
    dual.col(i) = normals.col(i) / offset;
  }
  require(dual.allFinite(), "the normals of a polyhedron must be finite");
  const double size = dual.colwise().norm().maxCoeff();
  const Hull hull = run_qhull(dual, "qhull", unbounded);
  Points vertices(3, static_cast<Eigen::Index>(hull.facets.size()));
  for (std::size_t i = 0; i < hull.facets.size(); ++i) {
    const Facet& facet = hull.facets[i];
    require(facet.offset > 1e-9 * size, unbounded);
    vertices.col(static_cast<Eigen::Index>(i)) = facet.normal / facet.offset;
  }
  return vertices;
}

}  // namespace abut
