#include "collision/manifold/kernel/pair_buffers.h"

#include <algorithm>

namespace abut {
namespace {

/// The widest pack of any kernel, and how much a column may be overrun by one.
constexpr int k_pack = 32;

constexpr int whole_packs(int count) { return (count + k_pack - 1) / k_pack * k_pack + k_pack; }

}  // namespace

template <typename T>
PairProblem<T>::PairProblem(const BodyFeatures<T>& body_A, const BodyFeatures<T>& body_B,
                            const ContactConfig& config, bool all_contacts)
    : A(&body_A),
      B(&body_B),
      vertices{config.vertex_contacts != VertexContacts::none, config.vertex_contacts == VertexContacts::both},
      edge_edge(config.edge_edge && body_A.edges.edges > 0 && body_B.edges.edges > 0 && !body_A.bounds.empty() &&
                !body_B.bounds.empty()),
      everything(all_contacts),
      edges(config, static_cast<double>(std::min(body_A.size, body_B.size))) {
  const double size = static_cast<double>(std::min(body_A.size, body_B.size));
  activity_smoothing = static_cast<T>(config.activity_smoothing * size);
  neighbour_smoothing = static_cast<T>(config.neighbour_smoothing * size);
  neighbour_cutoff = static_cast<T>(config.neighbour_cutoff * config.neighbour_smoothing * size);
  selection_band = static_cast<T>(config.selection_band * size);
  metric_range = static_cast<T>(config.metric_range * size);
}

template <typename T>
PairBuffers<T>::PairBuffers(const PairProblem<T>& problem, ManifoldOrder order) {
  const BodyFeatures<T>* bodies[2] = {problem.A, problem.B};
  int points[2], edges[2], primitives = 0;
  for (int side = 0; side < 2; ++side) {
    points[side] = bodies[side]->points.blocks * k_block_points;
    edges[side] = problem.edge_edge ? bodies[side]->edges.edges : 0;
    primitives = std::max(primitives, static_cast<int>(bodies[side]->bounds.size()));
  }
  const int most_points = whole_packs(std::max(points[0], points[1])), row = whole_packs(edges[1]);
  const int pairs = edges[0] * row + k_pack, list = std::max(most_points, whole_packs(pairs));
  capacity = whole_packs(points[0] + points[1] + 2 * edges[0] * edges[1]);

  std::vector<std::pair<T**, int>> wanted;
  const auto want = [&](T*& pointer, int count) { wanted.emplace_back(&pointer, whole_packs(count)); };
  want(columns, capacity * column_count(order));
  for (T*& numbers : list_numbers) want(numbers, list);
  want(lower, primitives * k_pack);
  want(candidate_metric, std::max(edges[0], edges[1]));
  want(candidate_edge, std::max(edges[0], edges[1]));
  for (int side = 0; side < 2; ++side) {
    want(metric[side], points[side]);
    SelectedEdges<T>& s = selected[side];
    for (int i = 0; i < 3; ++i) {
      want(s.start[i], edges[side]);
      want(s.vector[i], edges[side]);
      want(s.normal[i], edges[side]);
    }
    want(s.weight, edges[side]);
    want(s.place, edges[side]);
    want(s.sum, edges[side]);
    want(pair_alpha[side], pairs);
  }
  want(pair_interior, pairs);
  want(pair_clash, pairs);
  want(pair_nearness, pairs);
  for (T*& numbers : survivor) want(numbers, pairs);

  std::size_t total = 16;
  for (const auto& [pointer, count] : wanted) total += static_cast<std::size_t>(count);
  numbers_.assign(total, T(0));
  std::size_t offset = 0;
  while (reinterpret_cast<std::uintptr_t>(numbers_.data() + offset) % 64 != 0) ++offset;
  for (const auto& [pointer, count] : wanted) {
    *pointer = numbers_.data() + offset;
    offset += static_cast<std::size_t>(count);
  }
  masks_.assign(static_cast<std::size_t>(list / 4 + 2), 0);
  list_primitives = masks_.data();
  kept_.assign(static_cast<std::size_t>(primitives + 1), 0);
  kept = kept_.data();
  nearby_.assign(static_cast<std::size_t>(primitives + 1), 0);
  nearby = nearby_.data();
}

template struct PairProblem<float>;
template struct PairProblem<double>;
template struct PairBuffers<float>;
template struct PairBuffers<double>;

}  // namespace abut
