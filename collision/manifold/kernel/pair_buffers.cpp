#include "collision/manifold/kernel/pair_buffers.h"

#include <algorithm>
#include <cmath>

namespace abut {
namespace {

/// The widest pack of any kernel, and how much a column may be overrun by one.
constexpr int k_pack = 32;

/// As carries_vertices() says of bodies.
template <typename T>
bool carries(const ContactConfig& config, const BodyFeatures<T>& A, int side) {
  const int first = A.points.points > 0 ? 0 : 1;
  return config.vertex_contacts == VertexContacts::both ||
         (config.vertex_contacts == VertexContacts::first && side == first);
}

constexpr int whole_packs(int count) { return (count + k_pack - 1) / k_pack * k_pack + k_pack; }

/// A cache line, by which arrays are longer than whole packs: else many of them would be a power of two apart
/// and share their places in the cache.
template <typename T>
constexpr int k_line = 64 / static_cast<int>(sizeof(T));

}  // namespace

template <typename T>
PairProblem<T>::PairProblem(const BodyFeatures<T>& body_A, const BodyFeatures<T>& body_B,
                            const ContactConfig& config, bool all_contacts)
    : A(&body_A),
      B(&body_B),
      vertices{carries(config, body_A, 0), carries(config, body_A, 1)},
      edge_edge(config.edge_edge && body_A.edges.edges > 0 && body_B.edges.edges > 0 &&
                !body_A.bounds.empty() && !body_B.bounds.empty()),
      everything(all_contacts),
      edges(config, static_cast<double>(std::min(body_A.size, body_B.size))) {
  const double size = static_cast<double>(std::min(body_A.size, body_B.size));
  activity_smoothing = static_cast<T>(config.activity_smoothing * size);
  neighbour_smoothing = static_cast<T>(config.neighbour_smoothing * size);
  neighbour_cutoff = static_cast<T>(config.neighbour_cutoff * config.neighbour_smoothing * size);
  selection_band = static_cast<T>(config.selection_band * size);
  metric_range = static_cast<T>(config.metric_range * size);
  largest_metric = static_cast<T>(config.metric_range * size * 2.0 / 3.0);
  radii = body_A.contact_radius + body_B.contact_radius;
  constexpr double k_most = 60.0, k_least = 1e-30;
  const double exponent =
      config.neighbour_cutoff + static_cast<double>(radii) / (config.neighbour_smoothing * size);
  nearest = static_cast<T>(std::min(exponent, k_most));
  nearness_rest = static_cast<T>(std::max(std::exp(std::min(0.0, k_most - exponent)), k_least));
  midway = T(0.5) * (body_B.contact_radius - body_A.contact_radius);
}

template <typename T>
PairBuffers<T>::PairBuffers(const PairProblem<T>& problem, ManifoldOrder order) : order_(order) {
  const BodyFeatures<T>* bodies[2] = {problem.A, problem.B};
  int likely[2];  // edges that a soft choice of K leaves, in general
  for (int side = 0; side < 2; ++side) {
    const EdgeTable<T>& edges = bodies[side]->edges;
    points_[side] = bodies[side]->points.blocks * k_block_points;
    edges_[side] = problem.edge_edge ? edges.edges : 0;
    likely[side] = whole_packs(std::min(edges_[side], 3 * edges.selected));
    primitives_ = std::max(primitives_, static_cast<int>(bodies[side]->bounds.size()));
  }
  pair_capacity = problem.edge_edge ? likely[0] * likely[1] : 0;
  allocate();
}

template <typename T>
void PairBuffers<T>::grow(int pairs) {
  pair_capacity = pairs;
  allocate();
}

template <typename T>
void PairBuffers<T>::allocate() {
  const int pairs = pair_capacity,
            list = std::max({whole_packs(points_[0]), whole_packs(points_[1]), whole_packs(pairs)});
  capacity = whole_packs(points_[0] + points_[1] + 2 * pairs) + k_line<T>;

  std::vector<std::pair<T**, int>> wanted;
  const auto want = [&](T*& pointer, int size) {
    wanted.emplace_back(&pointer, whole_packs(size) + k_line<T>);
  };
  want(columns, capacity * column_count(order_));
  for (T*& numbers : list_numbers) want(numbers, list);
  want(lower, primitives_ * k_pack);
  want(candidate_metric, std::max(edges_[0], edges_[1]));
  want(candidate_edge, std::max(edges_[0], edges_[1]));
  for (int side = 0; side < 2; ++side) {
    want(metric[side], points_[side]);
    SelectedEdges<T>& s = selected[side];
    for (int i = 0; i < 3; ++i) {
      want(s.start[i], edges_[side]);
      want(s.vector[i], edges_[side]);
      want(s.normal[i], edges_[side]);
    }
    want(s.weight, edges_[side]);
    want(s.place, edges_[side]);
    want(s.sum, edges_[side]);
    if (order_ == ManifoldOrder::complete) {
      for (int k = 0; k < 6; ++k) {
        want(s.weight_by_motion[k], edges_[side]);
        want(s.sum_by_motion[k], edges_[side]);
      }
    }
    want(pair_alpha[side], pairs);
    want(pair_activity[side], pairs);
  }
  want(pair_interior, pairs);
  want(pair_clash, pairs);
  want(pair_nearness, pairs);
  for (T*& numbers : survivor) want(numbers, list);

  std::size_t total = 16;
  for (const auto& [pointer, size] : wanted) total += static_cast<std::size_t>(size);
  numbers_.assign(total, T(0));
  std::size_t offset = 0;
  while (reinterpret_cast<std::uintptr_t>(numbers_.data() + offset) % 64 != 0) ++offset;
  for (const auto& [pointer, size] : wanted) {
    *pointer = numbers_.data() + offset;
    offset += static_cast<std::size_t>(size);
  }
  const int groups = list / 4 + 2;  // of the narrowest packs
  masks_.assign(static_cast<std::size_t>(2 * groups), 0);
  list_primitives = masks_.data();
  survivor_primitives = masks_.data() + groups;
  kept_.assign(static_cast<std::size_t>(primitives_ + 1), 0);
  kept = kept_.data();
  nearby_.assign(static_cast<std::size_t>(primitives_ + 1), 0);
  nearby = nearby_.data();
}

template struct PairProblem<float>;
template struct PairProblem<double>;
template struct PairBuffers<float>;
template struct PairBuffers<double>;

}  // namespace abut
