#include "collision/manifold/kernel/pair_kernels.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <type_traits>

#include "engine/check.h"
#include "engine/instruction_set.h"

namespace abut {

template <typename T>
PairProblem<T>::PairProblem(const BodyFeatures<T>& A, const BodyFeatures<T>& B, const ContactConfig& config,
                            double size, double inradius, double its_reach)
    : bodies{&A, &B},
      vertices{true, true},
      edge_edge(config.edge_edge && A.edges.edges > 0 && B.edges.edges > 0),
      reach(static_cast<T>(its_reach)),
      activity_smoothing(static_cast<T>(config.activity_smoothing * size)),
      edges(config, size, inradius) {
  const double sine = std::min(0.5 * config.cone_smoothing, 1.0);
  cone_sin = static_cast<T>(sine);
  cone_cos = static_cast<T>(std::sqrt(1.0 - sine * sine));
  beside = static_cast<T>(std::numbers::sqrt2 * config.edge_smoothing * size);
}

template <typename T>
PairPoses<T>::PairPoses(const Pose<double>& X_WA, const Pose<double>& X_WB) {
  const Vec3<double> half = 0.5 * (X_WB.p - X_WA.p);
  const Pose<double>* const poses[2] = {&X_WA, &X_WB};
  for (int side = 0; side < 2; ++side) {
    const Pose<double> in_other_side = poses[1 - side]->inverse() * *poses[side];
    in_center[side] = {poses[side]->rotation().template cast<T>(),
                       (side == 0 ? Vec3<double>(-half) : half).template cast<T>()};
    in_other[side] = {in_other_side.rotation().template cast<T>(), in_other_side.p.template cast<T>()};
  }
}

template <typename T>
void PairScratch<T>::prepare(const PairProblem<T>& problem) {
  constexpr std::size_t k_pack = 16;
  std::size_t points = 0, primitives = 0, blocks = 0;
  for (const BodyFeatures<T>* body : problem.bodies) {
    points = std::max(points, at(body->points.blocks * k_block));
    primitives = std::max(primitives, body->bounds.size());
    blocks = std::max(blocks, at(body->edges.blocks));
  }
  const std::size_t block_pairs = problem.edge_edge ? at(k_block_pairs) + blocks : 0,
                    quarter_pairs = 16 * block_pairs, edge_pairs = 16 * quarter_pairs;
  candidate_room = std::max(candidate_room, 256);

  std::size_t numbers = 8 * (points + k_pack) + (primitives + 1) * k_pack +
                        std::size(candidates) * (at(candidate_room) + k_pack);
  for (const BodyFeatures<T>* body : problem.bodies) {
    for (const auto& bounds : body->edges.bounds) numbers += bounds.numbers.size() + k_pack;
  }
  const auto make_room = [](auto& memory, std::size_t count) {
    if (memory.size() < count) memory.resize(count);
    return memory.data();
  };
  T* next = make_room(numbers_, numbers);
  const auto take = [&](std::size_t count) {
    T* const place = next;
    next += count;
    return place;
  };
  for (T*& column : list) column = take(points + k_pack);
  for (T*& column : touching) column = take(points + k_pack);
  lower = take((primitives + 1) * k_pack);
  for (T*& column : candidates) column = take(at(candidate_room) + k_pack);
  for (std::size_t side = 0; side < 2; ++side) {
    const EdgeBlocks<T>& of = problem.bodies[side]->edges;
    for (std::size_t level = 0; level < 3; ++level)
      edge_bounds[side][level] = take(of.bounds[level].numbers.size() + k_pack);
  }
  list_primitives = make_room(masks_, 2 * (points + k_pack));
  touching_primitives = list_primitives + points + k_pack;
  kept = make_room(words_, primitives + k_pack + quarter_pairs);
  chosen = kept + primitives + k_pack;
  nearby = make_room(nearby_, primitives + k_pack);
  std::uint8_t* const bytes = make_room(bytes_, 2 * (blocks + k_pack));
  std::int32_t* index =
      make_room(indices_, 2 * (block_pairs + quarter_pairs + edge_pairs + at(candidate_room) + 4 * k_pack));
  for (std::size_t side = 0; side < 2; ++side) {
    near_blocks[side] = bytes + side * (blocks + k_pack);
    const auto take_indices = [&](std::size_t count) {
      std::int32_t* const place = index;
      index += count + k_pack;
      return place;
    };
    groups[0][side] = take_indices(block_pairs);
    groups[1][side] = take_indices(quarter_pairs);
    pairs[side] = take_indices(edge_pairs);
    candidate_edges[side] = take_indices(at(candidate_room));
  }
}

template <typename T>
void PairScratch<T>::grow(const PairProblem<T>& problem) {
  candidate_room *= 2;
  prepare(problem);
}

template <typename T>
void find_pair_contacts(const PairProblem<T>& problem, const Pose<double>& X_WA, const Pose<double>& X_WB,
                        PairScratch<T>& scratch, ContactBlock<T>& block) {
  const PairKernelFunction<T> find = [] {
    if constexpr (std::is_same_v<T, float>) {
      return chosen_kernels<PairKernels>().find_float;
    } else {
      return chosen_kernels<PairKernels>().find_double;
    }
  }();
  constexpr int k_least_room = 256;
  scratch.prepare(problem);
  block.reserve(k_least_room);
  const PairPoses<T> poses(X_WA, X_WB);
  const int begin = block.count;
  while (!find(problem, poses, scratch, block)) {
    scratch.grow(problem);
    block.reserve(2 * block.capacity);
  }
  const Vec3<double> origin = center_of(X_WA, X_WB) - block.origin_W;
  if (origin.isZero(0.0)) return;
  ABUT_ASSERT(block.order == ManifoldOrder::value);
  for (int axis = 0; axis < 3; ++axis) {
    for (int i = begin; i < block.count; ++i) {
      block.set_number(k_contact_point + axis, i,
                       static_cast<T>(origin[axis]) + block.number(k_contact_point + axis, i));
    }
  }
}

template struct PairProblem<float>;
template struct PairProblem<double>;
template struct PairPoses<float>;
template struct PairPoses<double>;
template struct PairScratch<float>;
template struct PairScratch<double>;
template void find_pair_contacts(const PairProblem<float>&, const Pose<double>&, const Pose<double>&,
                                 PairScratch<float>&, ContactBlock<float>&);
template void find_pair_contacts(const PairProblem<double>&, const Pose<double>&, const Pose<double>&,
                                 PairScratch<double>&, ContactBlock<double>&);

}  // namespace abut
