/// The smooth contact manifold of two bodies, written plainly: every vertex, every edge, every pair, one
/// number at a time, nothing left out but what has weight 0 by definition. S is double or a ceres::Jet.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "collision/manifold/edge_edge.h"
#include "collision/manifold/edge_normals.h"
#include "collision/manifold/kernel/pair_buffers.h"
#include "collision/manifold/neighbour_weights.h"
#include "collision/manifold/soft_selection.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/body_builder.h"
#include "engine/contact_config.h"
#include "engine/model.h"
#include "engine/pose.h"
#include "engine/smooth.h"

namespace abut::test {

/// Section of the manifold, feature of A, feature of B (-1: none).
using ContactKey = std::tuple<int, int, int>;

template <typename S>
struct ReferenceContact {
  S distance = S(0), activity = S(0);
  S weight = S(1);  ///< of the two edges' selection, in (0, 1]
  Vec3<S> point, normal;
};

template <typename S>
using ReferenceContacts = std::map<ContactKey, ReferenceContact<S>>;

class ManifoldReference {
 public:
  ManifoldReference(const Body& A, const Body& B, const ContactConfig& config)
      : sides_{Side(A), Side(B)},
        config_(config),
        size_(std::min(A.size, B.size)),
        settings_(config, size_) {}

  /// In the world frame of the poses.
  template <typename S>
  [[nodiscard]] ReferenceContacts<S> contacts(const Pose<S>& X_WA, const Pose<S>& X_WB) const {
    const Pose<S> X[2] = {X_WA, X_WB};
    ReferenceContacts<S> result;
    std::vector<S> metric[2];
    for (int side = 0; side < 2; ++side) metric[side] = vertex_contacts(side, X, result);
    const bool has_edges =
        !sides_[0].edges.empty() && !sides_[1].edges.empty() && has_solid(0) && has_solid(1);
    if (config_.edge_edge && has_edges) edge_contacts(metric, X, result);
    return result;
  }

 private:
  struct Side {
    explicit Side(const Body& b) : body(&b), sdf(b.shape) {
      if (has_mesh_edges(b)) edges = mesh_edges(b.mesh, sdf, mesh_edge_options(b));
      selected = b.selected_edges > 0 ? b.selected_edges : default_selected_edges(b);
    }
    const Body* body;
    ShapeSdf sdf;
    std::vector<MeshEdge> edges;
    int selected = 0;
  };

  [[nodiscard]] bool has_solid(int side) const { return !sides_[side].body->shape.primitives.empty(); }

  template <typename S>
  [[nodiscard]] S indicator(const S& distance) const {
    return smoothstep5(S(S(0.5) - distance / S(8.0 * config_.activity_smoothing * size_)));
  }

  /// Appends the contacts of a body's contact points; returns their metrics.
  template <typename S>
  std::vector<S> vertex_contacts(int side, const Pose<S> (&X)[2], ReferenceContacts<S>& result) const {
    const Body& owner = *sides_[side].body;
    const ShapeSdf& solid = sides_[1 - side].sdf;
    const double range = config_.metric_range * size_ * 2.0 / 3.0;  // the largest metric
    std::vector<S> metric;
    const bool carries = side == 0 ? config_.vertex_contacts != VertexContacts::none
                                   : config_.vertex_contacts == VertexContacts::both;
    for (Eigen::Index i = 0; i < owner.contact_points.cols(); ++i) {
      const Vec3<double> v = owner.contact_points.col(i);
      const Vec3<S> x_W = X[side] * Vec3<S>(S(v[0]), S(v[1]), S(v[2]));
      if (!has_solid(1 - side)) {
        metric.push_back(S(range));
        continue;
      }
      const SdfNormal<S> sample = solid.evaluate_normal<S>(inverse_point(X[1 - side], x_W));
      const Vec3<S> n = X[1 - side].q * sample.normal;
      ReferenceContact<S> contact;
      contact.distance = sample.distance - S(owner.contact_radius);
      contact.normal = side == 0 ? Vec3<S>(-n) : n;
      contact.point = x_W - (S(owner.contact_radius) + S(0.5) * contact.distance) * n;
      contact.activity = indicator(contact.distance);
      metric.push_back(clamped_metric<S>(contact.distance, S(range), S(0.5 * range)));
      if (!carries) continue;
      const int point = static_cast<int>(i);
      result.emplace(side == 0 ? ContactKey(k_vertex_of_A, point, -1) : ContactKey(k_vertex_of_B, -1, point),
                     contact);
    }
    return metric;
  }

  /// Which edges take part, and their weights.
  template <typename S>
  void select(int side, const std::vector<S>& metric, std::vector<int>& chosen,
              std::vector<S>& weights) const {
    std::vector<S> of_edge;
    std::vector<double> values;
    for (const MeshEdge& edge : sides_[side].edges) {
      of_edge.push_back(S(0.5) * (metric[static_cast<std::size_t>(edge.start)] +
                                  metric[static_cast<std::size_t>(edge.end)]));
      values.push_back(value_of(of_edge.back()));
    }
    const double range = config_.metric_range * size_ * 2.0 / 3.0, band = config_.selection_band * size_;
    const int K = sides_[side].selected;
    const SoftSelection<double> selection = soft_selection<double>(values, K, band, range);
    // One more step of Newton's method, in S: its derivatives are those of the threshold.
    S threshold = S(selection.threshold);
    if (!selection.all && selection.slope_sum > 0.0) {
      S excess = S(K) * smoothstep5(S((threshold - S(range)) / S(band) + S(1))) - S(K);
      for (const S& m : of_edge) excess += smoothstep5(S((threshold - m) / S(band)));
      threshold -= excess * S(band / selection.slope_sum);
    }
    for (std::size_t i = 0; i < of_edge.size(); ++i) {
      const S weight = selection.all ? S(1) : smoothstep5(S((threshold - of_edge[i]) / S(band)));
      if (!(weight > S(0))) continue;
      chosen.push_back(static_cast<int>(i));
      weights.push_back(weight);
    }
  }

  template <typename S>
  [[nodiscard]] Edge<S> edge_in_world(int side, int which, const Pose<S>& X) const {
    const MeshEdge& edge = sides_[side].edges[static_cast<std::size_t>(which)];
    const Points& vertices = sides_[side].body->mesh.vertices;
    const auto lifted = [](const Vec3<double>& v) { return Vec3<S>(S(v[0]), S(v[1]), S(v[2])); };
    return {X * lifted(vertices.col(edge.start)),
            X.q * lifted(vertices.col(edge.end) - vertices.col(edge.start)), X.q * lifted(edge.normal)};
  }

  template <typename S>
  void edge_contacts(const std::vector<S> (&metric)[2], const Pose<S> (&X)[2],
                     ReferenceContacts<S>& result) const {
    std::vector<int> chosen[2];
    std::vector<S> weights[2];
    for (int side = 0; side < 2; ++side) select(side, metric[side], chosen[side], weights[side]);
    const std::size_t rows = chosen[0].size(), columns = chosen[1].size();
    if (rows == 0 || columns == 0) return;
    const double radius[2] = {sides_[0].body->contact_radius, sides_[1].body->contact_radius},
                 radii = radius[0] + radius[1];
    std::vector<EdgeContact<S>> contacts;
    std::vector<S> distances, by_row(rows * columns), by_column(rows * columns), nearness(rows * columns),
        row_sums(rows), column_sums(columns);
    for (const int k : chosen[0]) {
      for (const int l : chosen[1]) {
        contacts.push_back(edge_contact(edge_in_world(0, k, X[0]), edge_in_world(1, l, X[1]), settings_));
        distances.push_back(contacts.back().witness.softened - S(radii));
      }
    }
    NeighbourWeights<S> neighbours{rows, columns, by_row, by_column, nearness, row_sums, column_sums};
    neighbour_weights<S>(distances, weights[0], weights[1],
                         {S(config_.neighbour_smoothing * size_), S(config_.neighbour_cutoff)}, neighbours);
    for (std::size_t at = 0; at < contacts.size(); ++at) {
      const EdgeContact<S>& c = contacts[at];
      ReferenceContact<S> contact;
      // Between the surfaces of capsules around the edges, as far as n is long.
      using std::sqrt;
      const Vec3<S>& n = c.normal.n;
      contact.distance = radii > 0.0 ? S(c.distance - S(radii) * sqrt(n.dot(n))) : c.distance;
      contact.normal = -n;
      contact.point = S(0.5) * ((c.witness.e1 - n * S(radius[0])) + (c.witness.e2 + n * S(radius[1])));
      for (int side = 0; side < 2; ++side) {
        const Vec3<S>& e = side == 0 ? c.witness.e1 : c.witness.e2;
        const S penetration =
            sides_[1 - side].sdf.evaluate_normal<S>(inverse_point(X[1 - side], e)).distance - S(radius[side]);
        contact.activity = c.witness.minimum.gamma * c.clash * (side == 0 ? by_row[at] : by_column[at]) *
                           indicator(penetration);
        result.emplace(ContactKey(side == 0 ? k_edge_on_A : k_edge_on_B, chosen[0][at / columns],
                                  chosen[1][at % columns]),
                       contact);
      }
    }
  }

  /// An activity that is no less than 0, whatever it is multiplied by.
  static constexpr double k_nothing = 1e-20;

  Side sides_[2];
  ContactConfig config_;
  double size_;
  EdgeEdgeSettings<double> settings_;
};

}  // namespace abut::test
