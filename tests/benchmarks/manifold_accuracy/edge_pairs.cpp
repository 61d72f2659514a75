#include "edge_pairs.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace abut::accuracy {

std::vector<EdgeForm> edge_forms() {
  std::vector<EdgeForm> forms{{"paper", {}}, {"default, kappa 0.05", {}}, {"default, kappa 0.1", {}}};
  forms[0].config.fidelity = Fidelity::paper;
  forms[2].config.parallel_blend = 0.1;
  return forms;
}

EdgedBody::EdgedBody(Body of) : body(std::move(of)), sdf(body.shape), edges(mesh_edges(body.mesh, sdf)) {
  body.selected_edges = k_selected_edges;
}

std::vector<double> edge_metrics(const EdgedBody& owner, const ShapeSdf& solid, const Pose<double>& X_SO) {
  std::vector<double> distances, metrics;
  for (Eigen::Index i = 0; i < owner.body.mesh.vertices.cols(); ++i)
    distances.push_back(solid.distance<double>(X_SO * Vec3<double>(owner.body.mesh.vertices.col(i))));
  for (const MeshEdge& edge : owner.edges) {
    metrics.push_back(0.5 * (distances[static_cast<std::size_t>(edge.start)] +
                             distances[static_cast<std::size_t>(edge.end)]));
  }
  return metrics;
}

std::vector<int> deepest_edges(const std::vector<double>& metrics, int count) {
  std::vector<int> order(metrics.size());
  std::iota(order.begin(), order.end(), 0);
  const auto metric = [&](int edge) { return metrics[static_cast<std::size_t>(edge)]; };
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](int a, int b) { return metric(a) != metric(b) ? metric(a) < metric(b) : a < b; });
  order.resize(static_cast<std::size_t>(count));
  return order;
}

}  // namespace abut::accuracy
