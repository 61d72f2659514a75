#include "witness_batch.h"

#include <type_traits>

#include "dense_interior_point.h"
#include "engine/instruction_set.h"
#include "engine/random.h"

namespace abut::paper000 {

namespace {

template <typename T>
void solve_one_by_one(WitnessPair pair, const WitnessSettings<T>& settings, const WitnessView<T>& view) {
  for (std::size_t k = 0; k < view.count; ++k) {
    Vec3<T> points[4], first, second = Vec3<T>::Zero();
    for (std::size_t i = 0; i < 12; ++i) points[i / 3][static_cast<Eigen::Index>(i % 3)] = view.inputs[i][k];
    const auto& [a, b, c, d] = points;
    int iterations = 0;
    if (pair == WitnessPair::edge_edge) {
      const Vec3<T> t1 = b - a, t2 = d - c;
      const auto program = edge_edge_program<T>(a, t1, c, t2, settings.edge_edge.regularization);
      const auto answer = dense_interior_point(dense_program<UnitSquare>(program), settings.interior_point);
      first = a + answer.x[0] * t1;
      second = c + answer.x[1] * t2;
      iterations = answer.iterations;
    } else {
      const auto program = vertex_face_program(a, b, c, d);
      const auto answer = dense_interior_point(dense_program<UnitTriangle>(program), settings.interior_point);
      first = b + answer.x[0] * (c - b) + answer.x[1] * (d - b);
      iterations = answer.iterations;
    }
    for (std::size_t i = 0; i < 3; ++i) {
      view.outputs[i][k] = first[static_cast<Eigen::Index>(i)];
      view.outputs[3 + i][k] = second[static_cast<Eigen::Index>(i)];
    }
    view.outputs[6][k] = static_cast<T>(iterations);
  }
}

}  // namespace

template <typename T>
WitnessSettings<T> published_witness_settings() {
  constexpr T k_kappa = T(1e-3);
  constexpr bool is_float = std::is_same_v<T, float>;
  constexpr T k_residual = is_float ? T(1e-5) : T(1e-9);
  return {EdgeWitnessSettings<T>({.clip = 0.1, .minimum = 0.1, .interior = 0.1}, 0.01),
          VertexFaceSettings{.clip = 0.1, .minimum = 0.1, .interior = 0.1},
          {k_kappa, k_residual, is_float ? T(1e-5) : T(1e-9), 40},
          {k_kappa, is_float ? T(1e-3) : T(1e-6), 60}};
}

template <typename T>
WitnessBatch<T>::WitnessBatch(std::size_t count, std::uint64_t seed)
    : count_(count),
      padded_((count + k_padding - 1) / k_padding * k_padding),
      stride_(padded_ + k_padding),  // else arrays a power of two apart would share their places in the cache
      numbers_(19 * stride_, T(0)) {
  Random random(seed);
  for (std::size_t k = 0; k < padded_; ++k) {
    for (std::size_t i = 0; i < 12; ++i) {
      numbers_[i * stride_ + k] = k < count ? static_cast<T>(random.uniform()) : input(i, count - 1);
    }
  }
}

template <typename T>
WitnessView<T> WitnessBatch<T>::view() {
  WitnessView<T> view{count_, {}, {}};
  for (std::size_t i = 0; i < 12; ++i) view.inputs[i] = numbers_.data() + i * stride_;
  for (std::size_t i = 0; i < 7; ++i) view.outputs[i] = numbers_.data() + (12 + i) * stride_;
  return view;
}

template <typename T>
void solve_witnesses(WitnessPair pair, WitnessMethod method, const WitnessSettings<T>& settings,
                     const WitnessView<T>& view) {
  if (method == WitnessMethod::dense_interior_point) return solve_one_by_one(pair, settings, view);
  const WitnessKernels& kernels = chosen_kernels<WitnessKernels>();
  if constexpr (std::is_same_v<T, float>) {
    kernels.solve_float(pair, method, settings, view);
  } else {
    kernels.solve_double(pair, method, settings, view);
  }
}

int witness_register_bits() { return chosen_kernels<WitnessKernels>().register_bits; }

template WitnessSettings<float> published_witness_settings();
template WitnessSettings<double> published_witness_settings();
template class WitnessBatch<float>;
template class WitnessBatch<double>;
template void solve_witnesses(WitnessPair, WitnessMethod, const WitnessSettings<float>&,
                              const WitnessView<float>&);
template void solve_witnesses(WitnessPair, WitnessMethod, const WitnessSettings<double>&,
                              const WitnessView<double>&);

}  // namespace abut::paper000
