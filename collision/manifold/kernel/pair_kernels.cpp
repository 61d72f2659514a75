#include "collision/manifold/kernel/pair_kernels.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <type_traits>

#include "collision/manifold/flush_faces.h"
#include "collision/manifold/kernel/edge_conditions.h"
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
      cone_width(static_cast<T>(config.cone_smoothing)),
      inverse_area(T(1) / std::min(A.smallest_area, B.smallest_area)),
      edges(config, size, inradius),
      edge_search(config, size, inradius) {
  for (int side = 0; side < 2; ++side)
    may_lie_flush[side] = config.flush_faces && config.reduction == Reduction::none &&
                          !bodies[side]->flat_faces.faces.empty() && bodies[1 - side]->is_convex;
  const FlushBand band(config.activity_smoothing * size);
  flush_distance = static_cast<T>(band.distance);
  flush_normal = static_cast<T>(band.normal);
  flush_away = static_cast<T>(band.away);
  flush_gap = static_cast<T>(band.gap);
  const double sine = std::min(0.5 * config.cone_smoothing, 1.0);
  cone_sin = static_cast<T>(sine);
  cone_cos = static_cast<T>(std::sqrt(1.0 - sine * sine));
  for (int side = 0; side < 2; ++side) {
    const bool may_be_narrow =
        largest_entry_ratio<double>(bodies[1 - side]->edges.narrowest - 1e-6, cone_cos, cone_sin) > 0.0;
    entry_shift[side] = may_be_narrow ? static_cast<T>(k_farthest_entry) * edges.deepest : T(0);
  }
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

namespace {

constexpr std::size_t k_pack = 16;

/// Memory for `count` numbers, of which nothing is kept.
template <typename T>
T* make_room(std::vector<T>& memory, std::size_t count) {
  if (memory.size() < count) memory.resize(count);
  return memory.data();
}

/// Takes parts of it, one after the other, with room for a pack behind each.
template <typename T>
struct Parts {
  T* next;

  T* take(std::size_t count) {
    T* const part = next;
    next += count + k_pack;
    return part;
  }
};

}  // namespace

void EdgeSearchScratch::prepare(const EdgeBlocks& A, const EdgeBlocks& B) {
  const EdgeBlocks* const bodies[2] = {&A, &B};
  constexpr std::size_t k_cone_numbers = at(k_edge_cone_columns), k_pairs = at(k_edge_pairs_at_once) + k_pack;
  std::size_t count = 0, blocks = 0;
  for (const EdgeBlocks* body : bodies) {
    for (const Columns<float>& level : body->bounds) count += level.numbers.size() + k_pack;
    count += k_cone_numbers * at(body->geometry.stride) + k_pack;
    blocks = std::max(blocks, at(body->blocks));
  }
  Parts<float> numbers{make_room(numbers_, count)};
  Parts<std::uint8_t> bytes{make_room(bytes_, 2 * (blocks + k_pack))};
  Parts<std::int32_t> indices{make_room(indices_, 6 * (k_pairs + k_pack))};
  for (std::size_t side = 0; side < 2; ++side) {
    for (std::size_t level = 0; level < k_edge_levels; ++level)
      bounds[side][level] = numbers.take(bodies[side]->bounds[level].numbers.size());
    cones[side] = numbers.take(k_cone_numbers * at(bodies[side]->geometry.stride));
    near_blocks[side] = bytes.take(blocks);
    for (EdgePairList* const pairs : {&block_pairs, &quarter_pairs, &edge_pairs})
      pairs->of[side] = indices.take(k_pairs);
  }
}

template <typename T>
void PairScratch<T>::prepare(const PairProblem<T>& problem) {
  std::size_t points = 0, primitives = 0, supports = 0, faces = 0, vertices_of_both = 0;
  for (const BodyFeatures<T>* body : problem.bodies) {
    vertices_of_both +=
        at((body->sliding.slide ? 2 : 1) * body->points.blocks * k_block) + body->flat_faces.x.size();
    points = std::max(points, at(body->points.blocks * k_block));
    supports = std::max(supports, body->flat_faces.x.size());
    faces = std::max(faces, body->flat_faces.faces.size());
    primitives = std::max(primitives, body->bounds.size());
  }
  if (problem.edge_edge) search.prepare(problem.bodies[0]->edges, problem.bodies[1]->edges);
  candidate_room = std::max(candidate_room, 256);

  const std::size_t lower_bounds = (primitives + 1) * k_pack;
  Parts<T> numbers{make_room(numbers_, 22 * (points + k_pack) + lower_bounds + k_pack +
                                           std::size(vertices) * (vertices_of_both + k_pack) +
                                           std::size(at_supports) * (supports + k_pack) +
                                           std::size(candidates) * (at(candidate_room) + k_pack))};
  for (T*& column : list) column = numbers.take(points);
  for (auto& of_side : touching) {
    for (auto& columns : of_side) {
      for (T*& column : columns) column = numbers.take(points);
    }
  }
  for (T*& column : vertices) column = numbers.take(vertices_of_both);
  weights = numbers.take(points);
  area_factors = numbers.take(points);
  for (T*& column : at_supports) column = numbers.take(supports);
  lower = numbers.take(lower_bounds);
  for (T*& column : candidates) column = numbers.take(at(candidate_room));
  Parts<std::uint64_t> masks{make_room(masks_, 5 * (points + k_pack))};
  list_primitives = masks.take(points);
  for (auto& of_side : touching_primitives) {
    for (std::uint64_t*& primitives_of_packs : of_side) primitives_of_packs = masks.take(points);
  }
  kept = make_room(words_, primitives + k_pack);
  nearby = make_room(nearby_, primitives + k_pack);
  Parts<std::int32_t> indices{
      make_room(indices_, 2 * (at(candidate_room) + k_pack) + 2 * points + faces + 3 * k_pack)};
  for (std::int32_t*& edges : candidate_edges) edges = indices.take(at(candidate_room));
  for (std::int32_t*& of_side : contact_of_point) of_side = indices.take(points);
  flush_faces = indices.take(faces);
}

namespace {

/// Twice the room, but no more than `most`, which is always enough.
int grown(int room, std::int64_t most) {
  ABUT_ASSERT(room < most);
  return static_cast<int>(std::min<std::int64_t>(2 * static_cast<std::int64_t>(room), most));
}

template <typename T>
std::int64_t edge_pairs(const PairProblem<T>& problem) {
  if (!problem.edge_edge) return 0;
  return static_cast<std::int64_t>(problem.bodies[0]->edges.edges) * problem.bodies[1]->edges.edges;
}

/// Contacts that a pair can have, with room for a pack behind each section.
template <typename T>
std::int64_t most_contacts(const PairProblem<T>& problem) {
  std::int64_t sum = edge_pairs(problem) + k_contact_sections * static_cast<std::int64_t>(k_pack);
  for (const BodyFeatures<T>* body : problem.bodies)
    sum += (body->sliding.slide ? 2 : 1) * static_cast<std::int64_t>(body->points.blocks) * k_block +
           std::ssize(body->flat_faces.x);
  return sum;
}

}  // namespace

template <typename T>
void PairScratch<T>::grow(const PairProblem<T>& problem) {
  candidate_room = grown(candidate_room, edge_pairs(problem) + static_cast<std::int64_t>(k_pack));
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
    if (scratch.lacks_candidate_room) {
      scratch.grow(problem);
    } else {
      block.reserve(grown(block.capacity, begin + most_contacts(problem)));
    }
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
