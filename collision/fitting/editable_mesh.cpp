#include "collision/fitting/editable_mesh.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"

namespace abut {
namespace {

void insert_sorted(std::vector<int>& list, int v) {
  const auto place = std::lower_bound(list.begin(), list.end(), v);
  if (place == list.end() || *place != v) list.insert(place, v);
}

void erase_sorted(std::vector<int>& list, int v) {
  const auto place = std::lower_bound(list.begin(), list.end(), v);
  if (place != list.end() && *place == v) list.erase(place);
}

}  // namespace

EditableMesh::EditableMesh(const TriangleMesh& mesh) : EditableMesh(CreasedMesh{mesh, {}}) {}

EditableMesh::EditableMesh(const CreasedMesh& creased) {
  const TriangleMesh& mesh = creased.mesh;
  require_closed_surface(mesh, "mesh to be edited");
  incident_.resize(static_cast<std::size_t>(mesh.vertex_count()));
  creases_.resize(incident_.size());
  for (int v = 0; v < mesh.vertex_count(); ++v) positions_.emplace_back(mesh.vertices.col(v));
  for (const Eigen::Vector3i& t : mesh.triangles) {
    for (const int v : t)
      incident_[static_cast<std::size_t>(v)].push_back(static_cast<int>(triangles_.size()));
    triangles_.push_back({t[0], t[1], t[2]});
  }
  vertex_count_ = mesh.vertex_count();
  for (const auto& [a, b] : creased.creases) mark_crease(a, b);
}

TriangleMesh EditableMesh::mesh() const { return creased_mesh().mesh; }

CreasedMesh EditableMesh::creased_mesh() const {
  CreasedMesh creased;
  TriangleMesh& mesh = creased.mesh;
  mesh.vertices.resize(3, vertex_count_);
  std::vector<int> new_number(positions_.size(), -1);
  int count = 0;
  for (int v = 0; v < vertex_slots(); ++v) {
    if (!has_vertex(v)) continue;
    mesh.vertices.col(count) = position(v);
    new_number[static_cast<std::size_t>(v)] = count++;
  }
  for (const Triangle& t : triangles_) {
    if (t[0] < 0) continue;
    const auto number = [&](std::size_t i) { return new_number[static_cast<std::size_t>(t[i])]; };
    mesh.triangles.emplace_back(number(0), number(1), number(2));
  }
  for (int v = 0; v < vertex_slots(); ++v) {
    for (const int other : creases_of(v)) {
      if (v < other)
        creased.creases.emplace_back(new_number[static_cast<std::size_t>(v)],
                                     new_number[static_cast<std::size_t>(other)]);
    }
  }
  return creased;
}

void EditableMesh::mark_crease(int a, int b) {
  ABUT_ASSERT(triangles_of_edge(a, b)[0] >= 0);
  insert_sorted(creases_[static_cast<std::size_t>(a)], b);
  insert_sorted(creases_[static_cast<std::size_t>(b)], a);
}

bool EditableMesh::is_crease(int a, int b) const {
  return std::binary_search(creases_of(a).begin(), creases_of(a).end(), b);
}

EditableMesh::Survivor EditableMesh::survivor(int a, int b) const {
  if (!is_on_crease(a) && !is_on_crease(b)) return Survivor::any;
  if (!is_on_crease(b)) return Survivor::first;
  if (!is_on_crease(a)) return Survivor::second;
  if (!is_crease(a, b) || (is_corner(a) && is_corner(b))) return Survivor::none;
  // Two creases must not become one.
  const auto has_common = [&](int v) { return v != a && is_crease(v, b); };
  if (std::any_of(creases_of(a).begin(), creases_of(a).end(), has_common)) return Survivor::none;
  return is_corner(a) ? Survivor::first : is_corner(b) ? Survivor::second : Survivor::along_crease;
}

int EditableMesh::next(int t, int v) const {
  const Triangle& of = triangle(t);
  return of[0] == v ? of[1] : of[1] == v ? of[2] : of[0];
}

std::vector<int> EditableMesh::neighbors(int v) const {
  std::vector<int> result;
  result.reserve(triangles_of(v).size());
  for (const int t : triangles_of(v)) result.push_back(next(t, v));
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<std::pair<int, int>> EditableMesh::edges() const {
  std::vector<std::pair<int, int>> result;
  for (int v = 0; v < vertex_slots(); ++v) {
    for (const int other : neighbors(v)) {
      if (v < other) result.emplace_back(v, other);
    }
  }
  return result;
}

std::array<int, 2> EditableMesh::triangles_of_edge(int a, int b) const {
  std::array<int, 2> result{-1, -1};
  for (const int t : triangles_of(a)) {
    const Triangle& v = triangle(t);
    for (std::size_t i = 0; i < 3; ++i) {
      if (v[i] == a && v[(i + 1) % 3] == b) result[0] = t;
      if (v[i] == b && v[(i + 1) % 3] == a) result[1] = t;
    }
  }
  return result;
}

int EditableMesh::third(int t, int a, int b) const {
  const Triangle& v = triangle(t);
  return v[0] + v[1] + v[2] - a - b;
}

std::array<int, 2> EditableMesh::opposite(int a, int b) const {
  const auto [left, right] = triangles_of_edge(a, b);
  ABUT_ASSERT(left >= 0 && right >= 0);
  return {third(left, a, b), third(right, a, b)};
}

bool EditableMesh::can_collapse(int a, int b) const {
  if (vertex_count_ <= 4) return false;
  int common = 0;
  for (const int t : triangles_of(a)) {
    const int v = next(t, a);
    const bool is_common = std::any_of(triangles_of(b).begin(), triangles_of(b).end(),
                                       [&](int of_b) { return next(of_b, b) == v; });
    if (!is_common) continue;
    if (++common > 2 || triangles_of(v).size() <= 3) return false;
  }
  return common == 2;
}

void EditableMesh::remove_incidence(int v, int t) {
  auto& list = incident_[static_cast<std::size_t>(v)];
  list.erase(std::find(list.begin(), list.end(), t));
}

void EditableMesh::collapse(int a, int b) {
  ABUT_ASSERT(can_collapse(a, b));
  for (const int t : triangles_of_edge(a, b)) {
    for (const int v : triangle(t)) remove_incidence(v, t);
    triangles_[static_cast<std::size_t>(t)] = {-1, -1, -1};
  }
  auto& of_a = incident_[static_cast<std::size_t>(a)];
  for (const int t : incident_[static_cast<std::size_t>(b)]) {
    auto& triangle = triangles_[static_cast<std::size_t>(t)];
    std::replace(triangle.begin(), triangle.end(), b, a);
    of_a.push_back(t);
  }
  std::sort(of_a.begin(), of_a.end());
  incident_[static_cast<std::size_t>(b)].clear();
  for (const int v : std::exchange(creases_[static_cast<std::size_t>(b)], {})) {
    erase_sorted(creases_[static_cast<std::size_t>(v)], b);
    if (v == a) continue;
    insert_sorted(creases_[static_cast<std::size_t>(v)], a);
    insert_sorted(creases_[static_cast<std::size_t>(a)], v);
  }
  --vertex_count_;
}

bool EditableMesh::can_flip(int a, int b) const {
  if (is_crease(a, b)) return false;
  const auto [c, d] = opposite(a, b);
  return c != d && triangles_of(a).size() > 3 && triangles_of(b).size() > 3 && triangles_of_edge(c, d)[0] < 0;
}

void EditableMesh::flip(int a, int b) {
  ABUT_ASSERT(can_flip(a, b));
  const auto [left, right] = triangles_of_edge(a, b);
  const auto [c, d] = opposite(a, b);
  remove_incidence(b, left);
  remove_incidence(a, right);
  triangles_[static_cast<std::size_t>(left)] = {a, d, c};
  triangles_[static_cast<std::size_t>(right)] = {b, c, d};
  for (const auto& [v, t] : {std::pair{d, left}, std::pair{c, right}}) {
    auto& list = incident_[static_cast<std::size_t>(v)];
    list.insert(std::lower_bound(list.begin(), list.end(), t), t);
  }
}

int EditableMesh::split(int a, int b, const Vec3<double>& position) {
  const auto [left, right] = triangles_of_edge(a, b);
  const auto [c, d] = opposite(a, b);
  const int v = vertex_slots(), new_left = static_cast<int>(triangles_.size()), new_right = new_left + 1;
  positions_.push_back(position);
  triangles_[static_cast<std::size_t>(left)] = {a, v, c};
  triangles_[static_cast<std::size_t>(right)] = {v, a, d};
  triangles_.push_back({v, b, c});
  triangles_.push_back({b, v, d});
  remove_incidence(b, left);
  remove_incidence(b, right);
  for (const auto& [u, t] :
       {std::pair{b, new_left}, std::pair{c, new_left}, std::pair{b, new_right}, std::pair{d, new_right}}) {
    incident_[static_cast<std::size_t>(u)].push_back(t);  // the largest numbers so far, so still ascending
  }
  incident_.push_back({std::min(left, right), std::max(left, right), new_left, new_right});
  creases_.emplace_back();
  if (is_crease(a, b)) {
    erase_sorted(creases_[static_cast<std::size_t>(a)], b);
    erase_sorted(creases_[static_cast<std::size_t>(b)], a);
    mark_crease(a, v);
    mark_crease(v, b);
  }
  ++vertex_count_;
  return v;
}

}  // namespace abut
