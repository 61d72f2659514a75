#include "collision/fitting/mesh_cleaning.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <vector>

#include "collision/fitting/disjoint_sets.h"
#include "engine/types.h"

namespace abut {
namespace {

/// Vertices that have been left, in a hash table of cells of four tolerances; of their coordinates if that is
/// zero.
class VertexWelder {
 public:
  VertexWelder(const Points& vertices, double tolerance)
      : vertices_(vertices),
        tolerance_(tolerance),
        first_(std::bit_ceil(2 * at(static_cast<int>(vertices.cols())) + 1), -1),
        next_(at(static_cast<int>(vertices.cols())), -1) {}

  /// The first vertex left that vertex v is within the tolerance of; v itself, which is left, if there is
  /// none.
  int weld(int v) {
    const Vec3<double> x = vertices_.col(v);
    const Cell home = cell_of(x), lower = cell_of(x - Vec3<double>::Constant(tolerance_)),
               upper = cell_of(x + Vec3<double>::Constant(tolerance_));
    int result = v;
    const auto search = [&](const Cell& cell) {
      for (int w = first_[bucket(cell)]; w >= 0; w = next_[at(w)]) {
        if (w < result && (vertices_.col(w) - x).norm() <= tolerance_) result = w;
      }
    };
    if (tolerance_ > 0.0) {
      for (std::int64_t i = lower[0]; i <= upper[0]; ++i) {
        for (std::int64_t j = lower[1]; j <= upper[1]; ++j) {
          for (std::int64_t k = lower[2]; k <= upper[2]; ++k) search({i, j, k});
        }
      }
    } else {
      search(home);
    }
    if (result == v) {
      int& head = first_[bucket(home)];
      next_[at(v)] = head;
      head = v;
    }
    return result;
  }

 private:
  using Cell = std::array<std::int64_t, 3>;

  [[nodiscard]] Cell cell_of(const Vec3<double>& x) const {
    Cell cell;
    for (int k = 0; k < 3; ++k) {
      cell[at(k)] = tolerance_ > 0.0 ? static_cast<std::int64_t>(std::floor(x[k] / (4.0 * tolerance_)))
                                     : std::bit_cast<std::int64_t>(x[k] + 0.0);  // -0 becomes 0
    }
    return cell;
  }
  [[nodiscard]] std::size_t bucket(const Cell& cell) const {
    std::uint64_t hash = 0;
    for (const std::int64_t c : cell) {  // the mixing of splitmix64
      hash += static_cast<std::uint64_t>(c) + 0x9e3779b97f4a7c15u;
      hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
      hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
      hash ^= hash >> 31;
    }
    return hash & (first_.size() - 1);
  }

  const Points& vertices_;
  double tolerance_;
  std::vector<int> first_, next_;  // chains of the vertices left, by bucket
};

/// The corners in ascending order, and whether they go round the same way.
struct SortedCorners {
  Eigen::Vector3i corners;
  bool same_way = true;

  explicit SortedCorners(const Eigen::Vector3i& triangle) : corners(triangle) {
    const auto order = [this](int i, int j) {
      if (corners[i] <= corners[j]) return;
      std::swap(corners[i], corners[j]);
      same_way = !same_way;
    };
    order(0, 1);
    order(1, 2);
    order(0, 1);
  }
};

double height_of(const TriangleMesh& mesh, const Eigen::Vector3i& t) {
  const Vec3<double> a = mesh.vertices.col(t[0]), b = mesh.vertices.col(t[1]), c = mesh.vertices.col(t[2]);
  const double longest =
      std::sqrt(std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()}));
  return longest > 0.0 ? (b - a).cross(c - a).norm() / longest : 0.0;
}

/// Triangles in an order in which those of equal smallest vertex, or another key below `keys`, are together;
/// their own order otherwise.
template <typename Key>
std::vector<int> grouped(int count, int keys, const Key& key, std::vector<int>& begin) {
  begin.assign(at(keys + 1), 0);
  for (int t = 0; t < count; ++t) ++begin[at(key(t) + 1)];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<int> order(at(count)), end(begin.begin(), begin.end() - 1);
  for (int t = 0; t < count; ++t) order[at(end[at(key(t))]++)] = t;
  return order;
}

/// Drops all triangles but one on the same corners, or all of them; see clean_mesh().
void drop_coincident(TriangleMesh& mesh, CleaningCounts& counts) {
  const int count = mesh.triangle_count();
  std::vector<int> begin;
  std::vector<int> order = grouped(
      count, mesh.vertex_count(), [&](int t) { return mesh.triangles[at(t)].minCoeff(); }, begin);
  enum class Fate : std::uint8_t { keep, duplicate, first_of_cancelled, cancelled };
  std::vector<Fate> fates(at(count), Fate::keep);
  bool any_cancelled = false;
  for (std::size_t v = 0; v + 1 < begin.size(); ++v) {
    const auto first = order.begin() + begin[v], last = order.begin() + begin[v + 1];
    if (last - first < 2) continue;
    const auto key = [&](int t) {
      const Eigen::Vector3i c = SortedCorners(mesh.triangles[at(t)]).corners;
      return std::tuple(c[1], c[2]);
    };
    std::sort(first, last, [&](int s, int t) { return std::tuple(key(s), s) < std::tuple(key(t), t); });
    for (auto i = first; i != last;) {
      auto end = i + 1;
      while (end != last && key(*end) == key(*i)) ++end;
      if (end - i > 1) {
        int balance = 0;
        for (auto j = i; j != end; ++j) balance += SortedCorners(mesh.triangles[at(*j)]).same_way ? 1 : -1;
        for (auto j = i; j != end; ++j) fates[at(*j)] = balance == 0 ? Fate::cancelled : Fate::duplicate;
        if (balance == 0) {
          fates[at(*i)] = Fate::first_of_cancelled;
          any_cancelled = true;
        } else {
          const auto kept = std::find_if(
              i, end, [&](int t) { return SortedCorners(mesh.triangles[at(t)]).same_way == (balance > 0); });
          fates[at(*kept)] = Fate::keep;
        }
      }
      i = end;
    }
  }

  std::vector<char> is_solid;  // of the root of a set of connected vertices: has triangles that stay
  DisjointSets sets(any_cancelled ? mesh.vertex_count() : 0);
  if (any_cancelled) {
    for (const Eigen::Vector3i& t : mesh.triangles) sets.unite(t[0], t[1]), sets.unite(t[1], t[2]);
    is_solid.assign(at(mesh.vertex_count()), 0);
    for (int t = 0; t < count; ++t) {
      if (fates[at(t)] == Fate::keep) is_solid[at(sets.find(mesh.triangles[at(t)][0]))] = 1;
    }
  }
  std::size_t kept = 0;
  for (int t = 0; t < count; ++t) {
    const Eigen::Vector3i triangle = mesh.triangles[at(t)];
    const Fate fate = fates[at(t)];
    bool keep = fate == Fate::keep;
    if (fate == Fate::duplicate) ++counts.duplicate_triangles;
    if (fate == Fate::cancelled || fate == Fate::first_of_cancelled) {
      const bool cancel = is_solid[at(sets.find(triangle[0]))] != 0;
      keep = !cancel && fate == Fate::first_of_cancelled;
      if (cancel) ++counts.cancelled_triangles;
      if (!cancel && !keep) ++counts.duplicate_triangles;
    }
    if (keep) mesh.triangles[kept++] = triangle;
  }
  mesh.triangles.resize(kept);
}

/// Drops triangles thinner than the tolerance that have an edge to themselves.
void drop_slivers(TriangleMesh& mesh, double tolerance, CleaningCounts& counts) {
  std::vector<int> slivers;
  for (int t = 0; t < mesh.triangle_count(); ++t) {
    if (height_of(mesh, mesh.triangles[at(t)]) <= tolerance) slivers.push_back(t);
  }
  if (slivers.empty()) return;
  using Edge = std::pair<int, int>;
  const auto edge = [&](int t, int i) -> Edge {
    return std::minmax(mesh.triangles[at(t)][i], mesh.triangles[at(t)][(i + 1) % 3]);
  };
  std::vector<Edge> edges;  // those of slivers, each with the number of its triangles
  for (const int t : slivers) {
    for (int i = 0; i < 3; ++i) edges.push_back(edge(t, i));
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::vector<int> uses(edges.size(), 0);
  const auto find = [&](int t, int i) {
    const auto found = std::lower_bound(edges.begin(), edges.end(), edge(t, i));
    return found != edges.end() && *found == edge(t, i) ? found - edges.begin() : -1;
  };
  for (int t = 0; t < mesh.triangle_count(); ++t) {
    for (int i = 0; i < 3; ++i) {
      if (const auto e = find(t, i); e >= 0) ++uses[static_cast<std::size_t>(e)];
    }
  }
  std::size_t kept = 0, next = 0;
  for (int t = 0; t < mesh.triangle_count(); ++t) {
    bool drop = false;
    if (next < slivers.size() && slivers[next] == t) {
      ++next;
      for (int i = 0; i < 3; ++i) drop = drop || uses[static_cast<std::size_t>(find(t, i))] == 1;
    }
    if (drop) {
      ++counts.degenerate_triangles;
    } else {
      mesh.triangles[kept++] = mesh.triangles[at(t)];
    }
  }
  mesh.triangles.resize(kept);
}

/// Leaves out vertices without a triangle; returns how many.
int drop_unused(TriangleMesh& mesh) {
  std::vector<int> index(at(mesh.vertex_count()), -1);
  for (const Eigen::Vector3i& t : mesh.triangles) {
    for (const int v : t) index[at(v)] = 0;
  }
  int count = 0;
  for (int v = 0; v < mesh.vertex_count(); ++v) {
    if (index[at(v)] == 0) index[at(v)] = count++;
  }
  const int dropped = mesh.vertex_count() - count;
  Points vertices(3, count);
  for (int v = 0; v < mesh.vertex_count(); ++v) {
    if (index[at(v)] >= 0) vertices.col(index[at(v)]) = mesh.vertices.col(v);
  }
  mesh.vertices = std::move(vertices);
  for (Eigen::Vector3i& t : mesh.triangles) {
    for (int& v : t) v = index[at(v)];
  }
  return dropped;
}

}  // namespace

TriangleMesh clean_mesh(const TriangleMesh& mesh, double tolerance, CleaningCounts& counts) {
  TriangleMesh result;
  std::vector<int> left(at(mesh.vertex_count()), -1);
  {
    VertexWelder welder(mesh.vertices, tolerance);
    for (const Eigen::Vector3i& t : mesh.triangles) {
      for (const int v : t) left[at(v)] = v;
    }
    for (int v = 0; v < mesh.vertex_count(); ++v) {
      if (left[at(v)] < 0) {
        ++counts.unused_vertices;
      } else {
        left[at(v)] = welder.weld(v);
        counts.welded_vertices += left[at(v)] != v ? 1 : 0;
      }
    }
  }
  result.triangles.reserve(mesh.triangles.size());
  for (const Eigen::Vector3i& t : mesh.triangles) {
    const Eigen::Vector3i welded(left[at(t[0])], left[at(t[1])], left[at(t[2])]);
    if (welded[0] == welded[1] || welded[1] == welded[2] || welded[2] == welded[0]) {
      ++counts.degenerate_triangles;
    } else {
      result.triangles.push_back(welded);
    }
  }
  result.vertices = mesh.vertices;
  drop_unused(result);
  drop_coincident(result, counts);
  drop_slivers(result, tolerance, counts);
  drop_unused(result);
  return result;
}

}  // namespace abut
