#include "collision/manifold/pair_manifold.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "collision/manifold/edge_contacts.h"
#include "collision/manifold/vertex_sdf.h"
#include "engine/check.h"
#include "engine/config.h"

namespace abut {
namespace {

void require_pair_settings(const Body& A, const Body& B, const ContactConfig& config) {
  validate(config);
  for (const Body* const body : {&A, &B}) {
    require(body->selected_vertices == 0 && body->selected_edges == 0,
            "a pair of bodies is evaluated with all vertices and edges (selected_vertices = 0, "
            "selected_edges = 0)");
  }
  require(config.detector == DetectorKind::manifold,
          "a pair of bodies is evaluated with the detector \"manifold\"");
  require(!config.edge_sdf && config.reduction == Reduction::none,
          "a pair of bodies is evaluated without edge_sdf and without a reduction");
}

}  // namespace

template <typename T>
PairManifold<T>::Geometry::Geometry(const Body& body)
    : sdf(body.shape), edges(contact_edges(body)), features(body, sdf, edges) {}

template <typename T>
PairManifold<T>::PairManifold(const Body& A, const Body& B, const ContactConfig& config) : A_(A), B_(B) {
  require_pair_settings(A, B, config);
  const double size = std::min(A.size, B.size);
  auto problem = std::make_unique<PairProblem<T>>(A_.features, B_.features, config, size,
                                                  std::min(A.inradius, B.inradius),
                                                  4.0 * config.activity_smoothing * size);
  for (int side = 0; side < 2; ++side) problem->vertices[side] = carries_vertices(config, A, side);
  problem_ = std::move(problem);
}

template <typename T>
void PairManifold<T>::find(const PosePair& X_W, ManifoldOrder order, PairScratch<T>& scratch,
                           ContactBlock<T>& block) const {
  for (const Pose<double>& X : X_W)
    require(X.q.coeffs().allFinite() && X.p.allFinite(), "a pose is not finite");
  block.clear(order, center_of(X_W[0], X_W[1]));
  find_pair_contacts(*problem_, X_W[0], X_W[1], scratch, block);
}

template <typename T>
void PairManifold<T>::find(std::span<const PosePair> X_W, ManifoldOrder order, int threads,
                           std::vector<ContactBlock<T>>& blocks) const {
  require(threads >= 0, "the number of threads must be >= 0");
  blocks.resize(X_W.size());
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&] {
    try {
      PairScratch<T> scratch;
      for (std::size_t i = next++; i < X_W.size(); i = next++) find(X_W[i], order, scratch, blocks[i]);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  const std::size_t wanted =
      threads > 0 ? static_cast<std::size_t>(threads) : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < std::min(wanted, X_W.size()); ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

template class PairManifold<float>;
template class PairManifold<double>;

}  // namespace abut
