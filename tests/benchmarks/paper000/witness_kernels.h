/// The loops over a batch, on packs that fill one register or two. Included by one source for each
/// instruction set; what these make of the templates has names of its own, as Pack has.
#pragma once

#include "active_set.h"
#include "engine/pack.h"
#include "witness_batch.h"

namespace abut::paper000 {
inline namespace ABUT_SIMD {

template <WitnessMethod method, typename S, typename T>
ABUT_KERNEL_PART void solve_edge_edge(const std::array<S, 12>& in, const WitnessSettings<T>& settings,
                                      std::array<S, 7>& out) {
  Edge<S> edge[2];
  for (std::size_t b = 0; b < 2; ++b) {
    for (int i = 0; i < 3; ++i) {
      const std::size_t first = 6 * b + static_cast<std::size_t>(i);
      edge[b].start[i] = in[first];
      edge[b].vector[i] = in[first + 3] - in[first];
    }
  }
  const QuadraticProgram<S> program = edge_problem(edge[0], edge[1], settings.edge_edge);
  std::array<S, 2> x;
  if constexpr (method == WitnessMethod::smooth) {
    const BoxMinimum<S> minimum = box_minimum(program, settings.edge_edge.box);
    x = {minimum.alpha[0], minimum.alpha[1]};
    out[6] = minimum.gamma;
  } else if constexpr (method == WitnessMethod::active_set) {
    const auto answer = active_set(program, UnitSquare());
    x = answer.x;
    out[6] = answer.gamma;
  } else if constexpr (method == WitnessMethod::interior_point) {
    const auto answer = interior_point<UnitSquare>(program, settings.interior_point);
    x = answer.x;
    out[6] = answer.iterations;
  } else {
    const auto answer = barrier_lbfgs<QuadraticProgram<S>, S>(program, settings.barrier);
    x = answer.x;
    out[6] = answer.iterations;
  }
  for (std::size_t b = 0; b < 2; ++b) {
    const Vec3<S> point = point_on(edge[b], x[b]);
    for (int i = 0; i < 3; ++i) out[3 * b + static_cast<std::size_t>(i)] = point[i];
  }
}

template <WitnessMethod method, typename S, typename T>
ABUT_KERNEL_PART void solve_vertex_face(const std::array<S, 12>& in, const WitnessSettings<T>& settings,
                                        std::array<S, 7>& out) {
  Vec3<S> points[4];
  for (std::size_t i = 0; i < 12; ++i) points[i / 3][static_cast<Eigen::Index>(i % 3)] = in[i];
  const auto& [v, a, b, c] = points;
  Vec3<S> point;
  if constexpr (method == WitnessMethod::smooth) {
    const Vec3<S> corners[3] = {a, b, c};
    const VertexFaceWitness<S> witness = vertex_face_witness(v, corners, settings.vertex_face);
    point = witness.point;
    out[6] = witness.inside;
  } else if constexpr (method == WitnessMethod::barrier_lbfgs) {
    const BilinearFace<S> face{difference(b, a), difference(c, b), difference(v, a)};
    const auto answer = barrier_lbfgs<BilinearFace<S>, S>(face, settings.barrier);
    for (int i = 0; i < 3; ++i) {
      point[i] = a[i] + answer.x[0] * (face.e1[i] + answer.x[1] * face.e2[i]);
    }
    out[6] = answer.iterations;
  } else {
    const QuadraticProgram<S> program = vertex_face_program(v, a, b, c);
    std::array<S, 2> x;
    if constexpr (method == WitnessMethod::active_set) {
      const auto answer = active_set(program, UnitTriangle());
      x = answer.x;
      out[6] = answer.gamma;
    } else {
      const auto answer = interior_point<UnitTriangle>(program, settings.interior_point);
      x = answer.x;
      out[6] = answer.iterations;
    }
    for (int i = 0; i < 3; ++i) point[i] = a[i] + x[0] * (b[i] - a[i]) + x[1] * (c[i] - a[i]);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    out[i] = point[static_cast<Eigen::Index>(i)];
    out[3 + i] = S(0);
  }
}

template <WitnessPair pair, WitnessMethod method, typename T>
ABUT_KERNEL void solve_all(const WitnessSettings<T>& of_batch, const WitnessView<T>& view) {
  // A copy: outputs are not stored over it, so that the compiler may keep its numbers in registers.
  const WitnessSettings<T> settings = of_batch;
  // Two registers at once are what long chains of operations gain from; the exact methods have none.
  constexpr int k_registers = method == WitnessMethod::active_set ? 1 : 2;
  constexpr int k_lanes = k_registers * simd::k_register_bytes / static_cast<int>(sizeof(T));
  static_assert(k_padding % k_lanes == 0);
  using S = Pack<T, k_lanes>;
  for (std::size_t begin = 0; begin < view.count; begin += k_lanes) {
    std::array<S, 12> in;
    std::array<S, 7> out;
    for (std::size_t i = 0; i < 12; ++i) in[i] = S::load(view.inputs[i] + begin);
    if constexpr (pair == WitnessPair::edge_edge) {
      solve_edge_edge<method>(in, settings, out);
    } else {
      solve_vertex_face<method>(in, settings, out);
    }
    for (std::size_t i = 0; i < 7; ++i) out[i].store(view.outputs[i] + begin);
  }
}

template <WitnessPair pair, typename T>
void solve_pair(WitnessMethod method, const WitnessSettings<T>& settings, const WitnessView<T>& view) {
  switch (method) {
    case WitnessMethod::smooth:
      return solve_all<pair, WitnessMethod::smooth>(settings, view);
    case WitnessMethod::active_set:
      return solve_all<pair, WitnessMethod::active_set>(settings, view);
    case WitnessMethod::interior_point:
      return solve_all<pair, WitnessMethod::interior_point>(settings, view);
    case WitnessMethod::barrier_lbfgs:
      return solve_all<pair, WitnessMethod::barrier_lbfgs>(settings, view);
    case WitnessMethod::dense_interior_point:
      return;  // not of packs
  }
}

template <typename T>
void solve_on_packs(WitnessPair pair, WitnessMethod method, const WitnessSettings<T>& settings,
                    const WitnessView<T>& view) {
  if (pair == WitnessPair::edge_edge) {
    solve_pair<WitnessPair::edge_edge, T>(method, settings, view);
  } else {
    solve_pair<WitnessPair::vertex_face, T>(method, settings, view);
  }
}

}  // namespace ABUT_SIMD
}  // namespace abut::paper000
