#include "collision/manifold/paper_manifold.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "collision/manifold/edge_edge.h"
#include "collision/manifold/neighbour_weights.h"
#include "collision/manifold/soft_selection.h"
#include "collision/manifold/vertex_sdf.h"
#include "collision/manifold/witness_safeguards.h"

namespace abut {
namespace {

constexpr double k_normal_square = 1e-12;

struct Sample {
  double distance;
  Vec3<double> normal;  // in W
};

Sample sample(const EdgeBody& body, const Pose<double>& X_WB, const Vec3<double>& x_W) {
  const SdfSample<double> at = body.sdf->evaluate<double>(inverse_point<double>(X_WB, x_W));
  const Vec3<double> n = at.gradient / std::sqrt(at.gradient.squaredNorm() + k_normal_square);
  return {at.distance, X_WB.q * n};
}

/// K soft edges in W; their normals are not used.
std::vector<Edge<double>> soft_edges(const EdgeBody& owner, const EdgeBody& solid, const Pose<double>& X_WO,
                                     const Pose<double>& X_WS, double tau) {
  const Points& vertices = owner.body->contact_points;
  std::vector<double> distances;
  for (Eigen::Index i = 0; i < vertices.cols(); ++i) {
    const Vec3<double> x_W = X_WO * Vec3<double>(vertices.col(i));
    distances.push_back(solid.sdf->distance<double>(inverse_point<double>(X_WS, x_W)));
  }
  const std::size_t n = owner.edges.size();
  std::vector<double> metrics, sorted(n);
  for (const MeshEdge& edge : owner.edges) {
    metrics.push_back(0.5 * (distances[static_cast<std::size_t>(edge.start)] +
                             distances[static_cast<std::size_t>(edge.end)]));
  }
  const std::size_t count = std::min(static_cast<std::size_t>(owner.selected), n);
  std::vector<double> weights(count * n);
  paper_top_k<double>(metrics, static_cast<int>(count), tau, sorted, weights);
  std::vector<Edge<double>> edges;
  for (std::size_t k = 0; k < count; ++k) {
    Vec3<double> start = Vec3<double>::Zero(), end = start;
    for (std::size_t i = 0; i < n; ++i) {
      start += weights[k * n + i] * vertices.col(owner.edges[i].start);
      end += weights[k * n + i] * vertices.col(owner.edges[i].end);
    }
    edges.push_back({X_WO * start, X_WO.q * Vec3<double>(end - start), Vec3<double>::Zero()});
  }
  return edges;
}

double mean_area(const EdgeBody& body) {
  double sum = 0.0;
  for (const MeshEdge& edge : body.edges) sum += edge.area;
  return sum / static_cast<double>(std::max<std::size_t>(1, body.edges.size()));
}

}  // namespace

void append_paper_contacts(const EdgeBody& A, const EdgeBody& B, int index_A, int index_B,
                           const ContactConfig& config, const Pose<double>& X_WA, const Pose<double>& X_WB,
                           double reach, std::vector<Contact>& contacts) {
  const double size = std::min(A.body->size, B.body->size), tau = config.activity_smoothing * size;
  const EdgeBody* bodies[2] = {&A, &B};
  const Pose<double>* poses[2] = {&X_WA, &X_WB};
  const auto finish = [&](Contact& contact) {
    contact.activity = contact.weight * sigmoid(-contact.penetration / tau);
    if (contact.penetration < reach) contacts.push_back(contact);
  };

  for (int side = 0; side < 2; ++side) {
    const EdgeBody &owner = *bodies[side], &solid = *bodies[1 - side];
    if (!carries_vertices(config, *A.body, side) || solid.body->shape.primitives.empty()) continue;
    for (int i = 0; i < static_cast<int>(owner.body->contact_points.cols()); ++i) {
      const Vec3<double> x_W = *poses[side] * Vec3<double>(owner.body->contact_points.col(i));
      const Sample at = sample(solid, *poses[1 - side], x_W);
      Contact contact;
      contact.feature = {ContactKind::vertex_sdf, index_A, index_B, side == 0 ? i : -1, side == 0 ? -1 : i};
      contact.point_W = x_W - owner.body->contact_radius * at.normal;
      contact.signed_distance = contact.penetration = at.distance - owner.body->contact_radius;
      contact.normal_AB_W = side == 0 ? Vec3<double>(-at.normal) : at.normal;
      contact.area = owner.body->contact_areas[static_cast<std::size_t>(i)];
      finish(contact);
    }
  }
  const bool has_radius = A.body->contact_radius + B.body->contact_radius > 0.0;
  if (!config.edge_edge || has_radius || A.edges.empty() || B.edges.empty()) return;

  const EdgeEdgeSettings<double> settings(config, size);
  const std::vector<Edge<double>> edges[2] = {soft_edges(A, B, X_WA, X_WB, tau),
                                              soft_edges(B, A, X_WB, X_WA, tau)};
  const std::size_t rows = edges[0].size(), columns = edges[1].size();
  std::vector<EdgeWitness<double>> witnesses;
  std::vector<double> distances, near[2];
  for (const Edge<double>& a : edges[0]) {
    for (const Edge<double>& b : edges[1]) {
      witnesses.push_back(edge_witness<double>(a, b, settings));
      distances.push_back(witnesses.back().softened);
    }
  }
  for (auto& weights : near) weights.resize(rows * columns);
  paper_neighbour_weights<double>(distances, rows, columns, config.neighbour_smoothing * size, near[0],
                                  near[1]);
  for (int side = 0; side < 2; ++side) {
    const double area = mean_area(*bodies[side]);
    for (std::size_t at = 0; at < witnesses.size(); ++at) {
      const EdgeWitness<double>& witness = witnesses[at];
      const Sample own[2] = {sample(A, X_WA, witness.e1), sample(B, X_WB, witness.e2)};
      const Vec3<double>& point = side == 0 ? witness.e1 : witness.e2;
      const PaperEdgeContact<double> pair =
          paper_edge_contact<double>(witness, own[0].normal, own[1].normal, settings);
      Contact contact;
      contact.feature = {ContactKind::edge_edge,         index_A,  index_B, static_cast<int>(at / columns),
                         static_cast<int>(at % columns), side == 1};
      contact.point_W = point;
      contact.signed_distance = side == 0 ? pair.distance1 : pair.distance2;
      contact.normal_AB_W = side == 0 ? Vec3<double>(-pair.normal1) : pair.normal2;
      contact.penetration = sample(*bodies[1 - side], *poses[1 - side], point).distance;
      contact.weight = witness.minimum.gamma * pair.clash * near[side][at] *
                       paper_inside_own_body(own[side].distance, tau);
      contact.area = area;
      finish(contact);
    }
  }
}

}  // namespace abut
