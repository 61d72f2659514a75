/// PairManifold<float> against PairManifold<double>.
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "../support/colliding_poses.h"
#include "accuracy_table.h"
#include "collision/manifold/manifold_batch.h"
#include "edge_pairs.h"
#include "samples.h"
#include "test_bodies.h"

namespace abut::accuracy {
namespace {

constexpr double k_counts = 1e-3;  ///< activity from which on a contact that only one of them has is missed

/// Section, feature of A, feature of B.
using Key = std::tuple<int, int, int>;

template <typename T>
std::map<Key, int> index_of(const ManifoldView<T>& view) {
  std::map<Key, int> index;
  int i = 0;
  for (int section = 0; section < k_sections; ++section) {
    for (int k = 0; k < view.counts()[static_cast<std::size_t>(section)]; ++k, ++i)
      index.emplace(Key(section, view.feature_A(i), view.feature_B(i)), i);
  }
  return index;
}

struct Errors {
  Samples point, distance, normal, activity;
  int missed = 0;
};

}  // namespace

Table measure_single_precision(bool quick) {
  const EdgedBody armadillo(unit_size_asset("armadillo"));
  const std::vector<Pose<double>> poses = benchmarks::colliding_poses(armadillo.body, quick ? 5 : 1000);
  const PairManifold<double> exact(armadillo.body, armadillo.body, ContactConfig());
  const PairManifold<float> single(armadillo.body, armadillo.body, ContactConfig());
  PairBuffers<double> exact_buffers = exact.make_buffers(ManifoldOrder::value);
  PairBuffers<float> single_buffers = single.make_buffers(ManifoldOrder::value);
  Errors of_vertices, of_edges;
  for (const Pose<double>& X_AB : poses) {
    exact.evaluate(X_AB, ManifoldOrder::value, exact_buffers);
    single.evaluate(X_AB, ManifoldOrder::value, single_buffers);
    const ManifoldView<double> wanted = exact.view(exact_buffers);
    const ManifoldView<float> found = single.view(single_buffers);
    const std::map<Key, int> wanted_index = index_of(wanted), found_index = index_of(found);
    const auto errors_of = [&](const Key& key) -> Errors& {
      return std::get<0>(key) < k_edge_on_A ? of_vertices : of_edges;
    };
    for (const auto& [key, i] : found_index) {
      if (!wanted_index.contains(key) && static_cast<double>(found.activity(i)) > k_counts)
        ++errors_of(key).missed;
    }
    for (const auto& [key, i] : wanted_index) {
      Errors& errors = errors_of(key);
      const auto at = found_index.find(key);
      if (at == found_index.end()) {
        errors.missed += wanted.activity(i) > k_counts ? 1 : 0;
        continue;
      }
      const int j = at->second;
      errors.point.add((found.point(j).cast<double>() - wanted.point(i)).norm());
      errors.distance.add(
          std::abs(static_cast<double>(found.signed_distance(j)) - wanted.signed_distance(i)));
      errors.normal.add((found.normal(j).cast<double>() - wanted.normal(i)).norm());
      errors.activity.add(std::abs(static_cast<double>(found.activity(j)) - wanted.activity(i)));
    }
  }
  Table table({"contacts", "error of", "compared", "missed", "median", "99 %", "max"});
  for (Errors* errors : {&of_vertices, &of_edges}) {
    const char* kind = errors == &of_vertices ? "vertex-SDF" : "edge-edge";
    const auto add = [&](const char* what, Samples& samples) {
      table.add_row({kind, what, static_cast<double>(samples.size()), static_cast<double>(errors->missed),
                     samples.median(), samples.quantile(0.99), samples.largest()});
    };
    add("point", errors->point);
    add("distance", errors->distance);
    add("normal", errors->normal);
    add("activity", errors->activity);
  }
  return table;
}

}  // namespace abut::accuracy
