#include "collision/fitting/mesh_shells.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "collision/fitting/disjoint_sets.h"

namespace abut {
namespace {

/// A side of a triangle, seen from the lower of its two vertices.
struct EdgeSide {
  int other = 0;  ///< the higher vertex
  int side = 0;   ///< 3 triangle + i, the edge from corner i to the next
};

/// All sides of a mesh, those of one edge together and in their order.
class EdgeSides {
 public:
  explicit EdgeSides(const TriangleMesh& mesh) : begin_(at(mesh.vertex_count() + 1), 0) {
    for (const Eigen::Vector3i& t : mesh.triangles) {
      for (int i = 0; i < 3; ++i) ++begin_[at(std::min(t[i], t[(i + 1) % 3]) + 1)];
    }
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    sides_.resize(3 * mesh.triangles.size());
    std::vector<int> end(begin_.begin(), begin_.end() - 1);
    for (int t = 0; t < mesh.triangle_count(); ++t) {
      for (int i = 0; i < 3; ++i) {
        const auto [lower, higher] =
            std::minmax({mesh.triangles[at(t)][i], mesh.triangles[at(t)][(i + 1) % 3]});
        sides_[at(end[at(lower)]++)] = {higher, 3 * t + i};
      }
    }
    for (std::size_t v = 0; v + 1 < begin_.size(); ++v) {
      std::sort(sides_.begin() + begin_[v], sides_.begin() + begin_[v + 1],
                [](const EdgeSide& a, const EdgeSide& b) {
                  return std::tie(a.other, a.side) < std::tie(b.other, b.side);
                });
    }
  }

  /// Calls visit(lower vertex, higher vertex, its first side, how many) for each edge.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t v = 0; v + 1 < begin_.size(); ++v) {
      for (int i = begin_[v]; i < begin_[v + 1];) {
        int end = i + 1;
        while (end < begin_[v + 1] && sides_[at(end)].other == sides_[at(i)].other) ++end;
        visit(static_cast<int>(v), sides_[at(i)].other, &sides_[at(i)], end - i);
        i = end;
      }
    }
  }

 private:
  std::vector<int> begin_;
  std::vector<EdgeSide> sides_;
};

bool goes_up(const TriangleMesh& mesh, int side) {
  const Eigen::Vector3i& t = mesh.triangles[at(side / 3)];
  return t[side % 3] < t[(side % 3 + 1) % 3];
}

Vec3<double> area_vector_of(const TriangleMesh& mesh, int triangle) {
  const Eigen::Vector3i& t = mesh.triangles[at(triangle)];
  const Vec3<double> a = mesh.vertices.col(t[0]);
  return 0.5 * (mesh.vertices.col(t[1]) - a).cross(mesh.vertices.col(t[2]) - a);
}

/// Adds area, box and volume of each shell.
void measure_shells(const TriangleMesh& mesh, const std::vector<int>& partner, MeshShells& result) {
  std::vector<Vec3<double>> apexes(result.shells.size(), Vec3<double>::Zero());
  std::vector<double> lengths(result.shells.size(), 0.0);
  for (int t = 0; t < mesh.triangle_count(); ++t) {
    const std::size_t s = at(result.shell_of_triangle[at(t)]);
    MeshShell& shell = result.shells[s];
    for (int i = 0; i < 3; ++i) {
      const Vec3<double> x = mesh.vertices.col(mesh.triangles[at(t)][i]);
      const Vec3<double> y = mesh.vertices.col(mesh.triangles[at(t)][(i + 1) % 3]);
      shell.box.extend(x);
      if (partner[at(3 * t + i)] >= 0) continue;
      ++shell.rim_edges;
      lengths[s] += (y - x).norm();
      apexes[s] += 0.5 * (y - x).norm() * (x + y);
    }
    ++shell.triangles;
    shell.area += area_vector_of(mesh, t).norm();
  }
  for (std::size_t s = 0; s < apexes.size(); ++s) {
    if (lengths[s] > 0.0)
      apexes[s] /= lengths[s];
    else
      apexes[s] = result.shells[s].box.center();
  }
  for (int t = 0; t < mesh.triangle_count(); ++t) {
    const std::size_t s = at(result.shell_of_triangle[at(t)]);
    const Vec3<double> corner = mesh.vertices.col(mesh.triangles[at(t)][0]);
    result.shells[s].volume += area_vector_of(mesh, t).dot(corner - apexes[s]) / 3.0;
  }
}

}  // namespace

MeshShells orient_shells(TriangleMesh& mesh) {
  const int count = mesh.triangle_count();
  MeshShells result;
  std::vector<int> partner(3 * at(count), -1);  // the side on the other side of the edge
  {
    DisjointSets rims(mesh.vertex_count());
    std::vector<int> rim_vertices;
    EdgeSides(mesh).for_each([&](int v, int w, const EdgeSide* side, int number) {
      if (number == 1) {
        ++result.boundary_edges;
        rims.unite(v, w);
        rim_vertices.push_back(v);
      } else if (number == 2) {
        partner[at(side[0].side)] = side[1].side;
        partner[at(side[1].side)] = side[0].side;
      } else {
        ++result.non_manifold_edges;
      }
    });
    for (int& v : rim_vertices) v = rims.find(v);
    std::sort(rim_vertices.begin(), rim_vertices.end());
    result.holes =
        static_cast<int>(std::unique(rim_vertices.begin(), rim_vertices.end()) - rim_vertices.begin());
  }

  // From the lowest triangle of each shell to its neighbours, which are turned if they pass the edge between
  // them the same way.
  result.shell_of_triangle.assign(at(count), -1);
  result.turned.assign(at(count), 0);
  std::vector<int> waiting;
  for (int start = 0; start < count; ++start) {
    if (result.shell_of_triangle[at(start)] >= 0) continue;
    const int shell = static_cast<int>(result.shells.size());
    result.shells.emplace_back().first_triangle = start;
    result.shell_of_triangle[at(start)] = shell;
    waiting.push_back(start);
    double as_it_was = 0.0, turned = 0.0;  // area
    std::vector<int>& members = waiting;  // all of the shell stay in the list, so that it can be turned whole
    for (std::size_t next = 0; next < members.size(); ++next) {
      const int t = members[next];
      (result.turned[at(t)] != 0 ? turned : as_it_was) += area_vector_of(mesh, t).norm();
      for (int i = 0; i < 3; ++i) {
        const int side = 3 * t + i, other = partner[at(side)];
        if (other < 0) continue;
        const bool same_way = goes_up(mesh, side) == goes_up(mesh, other);
        const auto must_turn = static_cast<std::uint8_t>(result.turned[at(t)] ^ (same_way ? 1 : 0));
        if (result.shell_of_triangle[at(other / 3)] < 0) {
          result.shell_of_triangle[at(other / 3)] = shell;
          result.turned[at(other / 3)] = must_turn;
          members.push_back(other / 3);
        } else if (result.turned[at(other / 3)] != must_turn && side < other) {
          ++result.twisted_edges;
        }
      }
    }
    if (turned > as_it_was) {
      for (const int t : members) result.turned[at(t)] ^= 1;
    }
    members.clear();
  }
  // Turning keeps corner 0, and with it sides that face the same neighbours: 0 and 2 change places.
  for (int t = 0; t < count; ++t) {
    if (result.turned[at(t)] == 0) continue;
    std::swap(mesh.triangles[at(t)][1], mesh.triangles[at(t)][2]);
    std::swap(partner[at(3 * t)], partner[at(3 * t + 2)]);
  }
  measure_shells(mesh, partner, result);
  return result;
}

bool is_balanced(const TriangleMesh& mesh) {
  bool balanced = true;
  EdgeSides(mesh).for_each([&](int, int, const EdgeSide* side, int number) {
    int sum = 0;
    for (int i = 0; i < number; ++i) sum += goes_up(mesh, side[i].side) ? 1 : -1;
    balanced = balanced && sum == 0;
  });
  return balanced;
}

}  // namespace abut
