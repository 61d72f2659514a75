#include "collision/manifold/edge_contacts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "collision/manifold/contact_activity.h"
#include "collision/manifold/kernel/manifold_kernels.h"
#include "engine/dual.h"
#include "engine/smooth.h"

namespace abut {
namespace {

Edge<double> edge_in_world(const EdgeBody& body, int edge, const Pose<double>& X_WO) {
  const MeshEdge& e = body.edges[static_cast<std::size_t>(edge)];
  const Vec3<double> a = body.body->contact_points.col(e.start), b = body.body->contact_points.col(e.end);
  const Mat3<double> R = X_WO.rotation();
  return {R * a + X_WO.p, R * (b - a), R * e.normal};
}

/// Where a feature is in the matrices of a pair: row and column, or rows and columns where it is not.
std::pair<std::size_t, std::size_t> place_of(const EdgePair& pair, const ContactFeature& feature) {
  const auto place = [&](int side, int edge) {
    const auto& edges = pair.sides[side].edges;
    const auto found = std::lower_bound(edges.begin(), edges.end(), edge);
    return found != edges.end() && *found == edge ? static_cast<std::size_t>(found - edges.begin())
                                                  : edges.size();
  };
  return {place(0, feature.feature_A), place(1, feature.feature_B)};
}

}  // namespace

EdgeBody::EdgeBody(const Body& of, const ShapeSdf& its_sdf)
    : body(&of), sdf(&its_sdf), selected(of.selected_edges) {
  if (!has_mesh_edges(of) || of.selected_edges == 0) return;
  const MeshEdgeOptions options = mesh_edge_options(of);
  normals_of_faces = options.normals_of_faces;
  edges = mesh_edges(contact_mesh(of), its_sdf, options);
  for (const MeshEdge& edge : edges) ends.push_back({edge.start, edge.end});
  // Areas are those of the contact points, shared out among the edges that meet there.
  std::vector<int> valence(of.contact_areas.size(), 0);
  for (const MeshEdge& edge : edges) {
    for (const int end : {edge.start, edge.end}) ++valence[static_cast<std::size_t>(end)];
  }
  for (MeshEdge& edge : edges) {
    edge.area = 0.0;
    for (const int end : {edge.start, edge.end}) {
      const auto v = static_cast<std::size_t>(end);
      edge.area += of.contact_areas[v] / valence[v];
    }
  }
}

EdgeContacts::EdgeContacts(const EdgeBody& A, const EdgeBody& B, const ContactConfig& config,
                           NeighbourTail tail)
    : A_(&A),
      B_(&B),
      settings_(config, std::min(A.body->size, B.body->size)),
      neighbours_{config.neighbour_smoothing * std::min(A.body->size, B.body->size), config.neighbour_cutoff,
                  tail} {
  const double size = std::min(A.body->size, B.body->size);
  activity_smoothing_ = config.activity_smoothing * size;
  band_ = config.selection_band * size;
  clamp_width_ = config.metric_range * size / 3.0;
  largest_metric_ = 2.0 * clamp_width_;
}

void EdgeContacts::prepare(const Pose<double>& X_WA, const Pose<double>& X_WB, EdgePair& pair) const {
  for (int side = 0; side < 2; ++side) {
    const EdgeBody &owner = body(side), &solid = body(1 - side);
    const Pose<double>&X_WO = side == 0 ? X_WA : X_WB, &X_WS = side == 0 ? X_WB : X_WA;
    EdgePair::Side& s = pair.sides[side];
    const double radius = owner.body->contact_radius;
    point_distances(owner.body->contact_points, *solid.sdf, X_WS.inverse() * X_WO,
                    largest_metric_ + clamp_width_ + radius, k_far_away, pair.memory.near, s.distances);
    for (double& distance : s.distances) distance -= radius;
    s.metrics.resize(owner.edges.size());
    const auto clamped = [&](int point) {
      return clamped_metric<double>(s.distances[static_cast<std::size_t>(point)], largest_metric_,
                                    clamp_width_);
    };
    for (std::size_t e = 0; e < owner.edges.size(); ++e)
      s.metrics[e] = 0.5 * (clamped(owner.edges[e].start) + clamped(owner.edges[e].end));
    s.selection = soft_selection<double>(s.metrics, owner.selected, band_, largest_metric_);
    s.edges.clear();
    s.weights.clear();
    s.geometry.clear();
    for (std::size_t e = 0; e < owner.edges.size(); ++e) {
      const double weight = s.selection.weight(s.metrics[e]);
      if (!(weight > 0.0)) continue;
      s.edges.push_back(static_cast<int>(e));
      s.weights.push_back(weight);
      s.geometry.push_back(edge_in_world(owner, static_cast<int>(e), X_WO));
    }
  }

  const std::size_t rows = pair.sides[0].edges.size(), columns = pair.sides[1].edges.size(),
                    count = rows * columns;
  for (auto* numbers : {&pair.softened, &pair.interior, &pair.clash}) numbers->resize(count);
  for (auto& points : pair.points) points.resize(3, static_cast<Eigen::Index>(count));
  for (std::size_t i = 0; i < 6; ++i) pair.matrices[i].resize(i < 4 ? count : i == 4 ? rows : columns);
  for (int side = 0; side < 2; ++side) {
    const std::vector<Edge<double>>& edges = pair.sides[side].geometry;
    std::vector<double>& numbers = pair.memory.columns[side];
    numbers.resize(9 * edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) {
      for (int c = 0; c < 3; ++c) {
        const auto column = static_cast<std::size_t>(c);
        numbers[column * edges.size() + i] = edges[i].start[c];
        numbers[(3 + column) * edges.size() + i] = edges[i].vector[c];
        numbers[(6 + column) * edges.size() + i] = edges[i].normal[c];
      }
    }
  }
  EdgeRelations relations{pair.softened.data(), pair.interior.data(), pair.clash.data(), {}};
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < 3; ++i) relations.points[side][i] = pair.points[side].row(i).data();
  }
  manifold_kernels().relate_edges(settings_, {pair.memory.columns[0].data(), static_cast<int>(rows)},
                                  {pair.memory.columns[1].data(), static_cast<int>(columns)}, relations);
  for (double& softened : pair.softened) softened -= radii();
  NeighbourWeights<double>& n = pair.neighbours;
  n.rows = rows;
  n.columns = columns;
  n.by_row = pair.matrices[0];
  n.by_column = pair.matrices[1];
  n.nearness = pair.matrices[2];
  n.slopes = pair.matrices[3];
  n.row_sums = pair.matrices[4];
  n.column_sums = pair.matrices[5];
  neighbour_weights<double>(pair.softened, pair.sides[0].weights, pair.sides[1].weights, neighbours_, n);
}

Contact EdgeContacts::make_contact(const Pose<double>& X_WA, const Pose<double>& X_WB, const EdgePair& pair,
                                   std::size_t k, std::size_t l, int side) const {
  const std::size_t at = k * pair.neighbours.columns + l;
  const Edge<double>&edge_A = pair.sides[0].geometry[k], &edge_B = pair.sides[1].geometry[l];
  const EdgeNormal<double> normal = edge_normal<double>(edge_A, edge_B, settings_);
  Contact contact;
  contact.feature = {ContactKind::edge_edge, pair.body_A, pair.body_B, pair.sides[0].edges[k],
                     pair.sides[1].edges[l], side == 1};
  contact.point_W = 0.5 * (pair.point(0, at) + pair.point(1, at)) + midway() * normal.n;
  contact.signed_distance = normal.n.dot(pair.point(0, at) - pair.point(1, at)) - normal.n.norm() * radii();
  contact.normal_AB_W = -normal.n;
  const Pose<double>& X_WS = side == 0 ? X_WB : X_WA;
  contact.penetration =
      body(1 - side).sdf->distance<double>(inverse_point<double>(X_WS, pair.point(side, at))) -
      body(side).body->contact_radius;
  contact.weight = pair.interior[at] * pair.clash[at] *
                   (side == 0 ? pair.neighbours.by_row[at] : pair.neighbours.by_column[at]);
  contact.activity = contact.weight * activity(contact.penetration, activity_smoothing_);
  const EdgeBody& owner = body(side);
  contact.area =
      owner.edges[static_cast<std::size_t>(side == 0 ? pair.sides[0].edges[k] : pair.sides[1].edges[l])].area;
  return contact;
}

void EdgeContacts::select(int side, const Pose<double>& X_WO, const NearFeatures& near,
                          EdgeSearch::Side& s) const {
  const EdgeBody& owner = body(side);
  const bool all = selects_all(side);
  s.metrics.clear();
  s.edges.clear();
  s.weights.clear();
  if (!all) {
    s.point_metrics.resize(near.points().size());
    for (std::size_t i = 0; i < s.point_metrics.size(); ++i) {
      s.point_metrics[i] = clamped_metric<double>(near.distance(i) - owner.body->contact_radius,
                                                  largest_metric_, clamp_width_);
    }
  }
  const auto metric = [&](int place) {
    return place < 0 ? largest_metric_ : s.point_metrics[static_cast<std::size_t>(place)];
  };
  for (const NearFeatures::NearEdge& edge : near.edges()) {
    if (!all) {
      const double mean = 0.5 * (metric(edge.start) + metric(edge.end));
      if (!(mean < largest_metric_)) continue;
      s.metrics.push_back(mean);
    }
    s.edges.push_back(edge.edge);
  }
  if (all) {
    s.weights.assign(s.edges.size(), 1.0);
  } else {
    // Those left out have the largest metric and weight 0: one of them stands for all, and enough of them for
    // there to be a choice.
    const std::size_t wanted = static_cast<std::size_t>(owner.selected) + 1;
    s.metrics.resize(std::max(s.metrics.size() + 1, wanted), largest_metric_);
    const auto selection = soft_selection<double>(s.metrics, owner.selected, band_, largest_metric_);
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < s.edges.size(); ++i) {
      const double weight = selection.weight(s.metrics[i]);
      if (!(weight > 0.0)) continue;
      s.weights.push_back(weight);
      s.edges[chosen++] = s.edges[i];
    }
    s.edges.resize(chosen);
  }
  const std::size_t count = s.edges.size();
  s.columns.resize(9 * count);
  const Mat3<double> R = X_WO.rotation();
  for (std::size_t i = 0; i < count; ++i) {
    const MeshEdge& edge = owner.edges[static_cast<std::size_t>(s.edges[i])];
    const Vec3<double> a = owner.body->contact_points.col(edge.start),
                       b = owner.body->contact_points.col(edge.end);
    const Vec3<double> vectors[3] = {R * a + X_WO.p, R * (b - a), R * edge.normal};
    for (std::size_t c = 0; c < 9; ++c) s.columns[c * count + i] = vectors[c / 3][static_cast<int>(c % 3)];
  }
}

void EdgeContacts::detect(const Pose<double>& X_WA, const Pose<double>& X_WB, double reach,
                          const PairMemory::Sides& near, const BoundedSolid (&solids)[2],
                          std::pair<int, int> bodies, EdgeSearch& search,
                          std::vector<Contact>& contacts) const {
  constexpr std::size_t k_pack = 8;
  const DetectionKernels& kernels = detection_kernels();
  select(0, X_WA, near[0], search.sides[0]);
  if (search.sides[0].edges.empty()) return;
  select(1, X_WB, near[1], search.sides[1]);
  const std::size_t rows = search.sides[0].edges.size(), columns = search.sides[1].edges.size();
  if (columns == 0) return;

  const std::size_t room = rows * columns + k_pack;
  search.rows.resize(room);
  search.columns.resize(room);
  search.pairs.resize(12 * room + rows +
                      30 * static_cast<std::size_t>(edge_pairs_waiting(static_cast<int>(columns))));
  double* const numbers = search.pairs.data();
  const auto column = [&](std::size_t c) { return numbers + c * room; };
  const EdgePairColumns pairs{search.rows.data(),
                              search.columns.data(),
                              column(0),
                              column(1),
                              column(2),
                              column(3),
                              {column(4), column(5)},
                              {{column(6), column(7), column(8)}, {column(9), column(10), column(11)}},
                              column(12)};
  const EdgeColumns edges[2] = {{search.sides[0].columns.data(), static_cast<int>(rows)},
                                {search.sides[1].columns.data(), static_cast<int>(columns)}};
  const EdgePairProblem problem{
      &settings_, neighbours_, radii(), {search.sides[0].weights.data(), search.sides[1].weights.data()}};
  const int found = kernels.find_edge_pairs(problem, edges[0], edges[1], pairs);
  if (found == 0) return;

  const auto count = static_cast<std::size_t>(found), padded = (count + k_pack - 1) / k_pack * k_pack;
  search.normals.resize(3 * padded);
  kernels.edge_normals(settings_, edges[0], edges[1], pairs.row, pairs.column, found, search.normals.data());
  for (int side = 0; side < 2; ++side) {
    EdgeSearch::Side& s = search.sides[side];
    const BoundedSolid& solid = solids[1 - side];
    const Pose<double> X_SW = (side == 0 ? X_WB : X_WA).inverse();
    const RigidMap map{X_SW.rotation(), X_SW.p};
    for (double* const* axis = pairs.points[side]; axis != pairs.points[side] + 3; ++axis) {
      for (std::size_t i = count; i < padded; ++i) (*axis)[i] = (*axis)[count - 1];
    }
    const PointColumns points{pairs.points[side][0], pairs.points[side][1], pairs.points[side][2], found};
    const auto added = static_cast<std::size_t>(solid.sdf->added());
    const double range = reach + body(side).body->contact_radius;
    s.first.resize(padded / k_pack + 1);
    s.primitives.resize(padded / k_pack * added);
    s.lower.resize(k_pack * added);
    s.samples.resize(4 * padded);
    const ListedPrimitives listed{s.first.data(), s.primitives.data()};
    if (added > 1) kernels.list_primitives(solid, map, points, range, 0.0, listed);
    kernels.sample_near(solid, map, points, range, listed, s.lower.data(), s.samples.data());
  }
  for (int side = 0; side < 2; ++side) {
    const EdgeSearch::Side& s = search.sides[side];
    const EdgeBody& owner = body(side);
    for (std::size_t at = 0; at < count; ++at) {
      const double penetration = s.samples[at] - owner.body->contact_radius, weight = pairs.weights[side][at];
      if (!(weight > 0.0 && penetration < reach)) continue;
      const auto k = static_cast<std::size_t>(pairs.row[at]), l = static_cast<std::size_t>(pairs.column[at]);
      const auto point = [&](int which) {
        return Vec3<double>(pairs.points[which][0][at], pairs.points[which][1][at],
                            pairs.points[which][2][at]);
      };
      const Vec3<double> n(search.normals[at], search.normals[padded + at], search.normals[2 * padded + at]);
      const Vec3<double> e_A = point(0), e_B = point(1);
      Contact contact;
      const int edge_A = search.sides[0].edges[k], edge_B = search.sides[1].edges[l];
      contact.feature = {ContactKind::edge_edge, bodies.first, bodies.second, edge_A, edge_B, side == 1};
      contact.point_W = 0.5 * (e_A + e_B) + midway() * n;
      contact.signed_distance = n.dot(e_A - e_B) - n.norm() * radii();
      contact.normal_AB_W = -n;
      contact.penetration = penetration;
      contact.weight = weight;
      contact.activity = weight * activity(penetration, activity_smoothing_);
      contact.area = owner.edges[static_cast<std::size_t>(side == 0 ? edge_A : edge_B)].area;
      contacts.push_back(contact);
    }
  }
}

Contact EdgeContacts::contact(const Pose<double>& X_WA, const Pose<double>& X_WB, const EdgePair& pair,
                              const ContactFeature& feature) const {
  const auto [k, l] = place_of(pair, feature);
  if (k < pair.neighbours.rows && l < pair.neighbours.columns)
    return make_contact(X_WA, X_WB, pair, k, l, feature.on_B ? 1 : 0);

  Contact contact;  // its edges are not among the selected ones
  contact.feature = feature;
  const EdgeContact<double> edges = edge_contact<double>(
      edge_in_world(*A_, feature.feature_A, X_WA), edge_in_world(*B_, feature.feature_B, X_WB), settings_);
  contact.point_W = 0.5 * (edges.witness.e1 + edges.witness.e2) + midway() * edges.normal.n;
  contact.signed_distance = edges.distance - edges.normal.n.norm() * radii();
  contact.normal_AB_W = -edges.normal.n;
  contact.penetration = k_far_away;
  contact.weight = 0.0;
  return contact;
}

void EdgeContacts::add_bar(const Contact& contact, const ContactBar& bar, EdgePair& pair) const {
  const ContactFeature& feature = contact.feature;
  const double tau = activity_smoothing_;
  EdgePair::Bars& bars = pair.bars;
  const std::size_t count = pair.softened.size();
  if (!bars.any) {
    bars.any = true;
    bars.distance.assign(count, 0.0);
    for (int side = 0; side < 2; ++side) {
      bars.penetration[side].assign(count, 0.0);
      bars.weight[side].assign(count, 0.0);
    }
    bars.point.assign(count, Vec3<double>::Zero());
    bars.normal.assign(count, Vec3<double>::Zero());
  }
  const auto [k, l] = place_of(pair, feature);
  if (k == pair.neighbours.rows || l == pair.neighbours.columns) return;
  const std::size_t at = k * pair.neighbours.columns + l;
  const std::size_t side = feature.on_B ? 1 : 0;
  bars.distance[at] += bar.signed_distance;
  bars.penetration[side][at] +=
      bar.penetration + bar.activity * contact.weight * activity_d_penetration(contact.penetration, tau);
  bars.weight[side][at] += bar.weight + bar.activity * activity(contact.penetration, tau);
  bars.point[at] += bar.point_W;
  bars.normal[at] -= bar.normal_AB_W;
}

void EdgeContacts::vjp(const Pose<double>& X_WA, const Pose<double>& X_WB, const EdgePair& pair,
                       Vec6<double>& pose_A_bar, Vec6<double>& pose_B_bar, GeometryGradient* geometry_A,
                       GeometryGradient* geometry_B) const {
  const EdgePair::Bars& bars = pair.bars;
  if (!bars.any) return;
  const Pose<double>* poses[2] = {&X_WA, &X_WB};
  Vec6<double>* pose_bars[2] = {&pose_A_bar, &pose_B_bar};
  GeometryGradient* geometries[2] = {geometry_A, geometry_B};
  const std::size_t rows = pair.neighbours.rows, columns = pair.neighbours.columns, count = rows * columns;

  const auto distance_vjp = [&](int solid, const Vec3<double>& x_W, double distance_bar) {
    return solid_distance_vjp(*body(solid).sdf, *poses[solid], x_W, distance_bar, *pose_bars[solid],
                              geometries[solid]);
  };
  double radius_bar[2] = {0.0, 0.0};

  // The weight is a product of three factors.
  std::vector<double> near_bar[2], weights_bar[2], neighbour_bar(count, 0.0);
  for (auto& numbers : near_bar) numbers.assign(count, 0.0);
  weights_bar[0].assign(rows, 0.0);
  weights_bar[1].assign(columns, 0.0);
  std::vector<EdgeContactBar<double>> contact_bars(count);
  for (std::size_t at = 0; at < count; ++at) {
    EdgeContactBar<double>& bar = contact_bars[at];
    bar.distance = bars.distance[at];
    bar.n = bars.normal[at] + midway() * bars.point[at];
    bar.e1 = bar.e2 = 0.5 * bars.point[at];
    if (bar.distance != 0.0 || !bars.point[at].isZero(0.0)) {  // radii, along n
      const Vec3<double> n = edge_normal<double>(pair.sides[0].geometry[at / columns],
                                                 pair.sides[1].geometry[at % columns], settings_)
                                 .n;
      const double length = n.norm(), along = bars.point[at].dot(n);
      if (length > 0.0) bar.n -= n * (bar.distance * radii() / length);
      radius_bar[0] -= 0.5 * along + length * bar.distance;
      radius_bar[1] += 0.5 * along - length * bar.distance;
    }
    for (int side = 0; side < 2; ++side) {
      const double near = side == 0 ? pair.neighbours.by_row[at] : pair.neighbours.by_column[at];
      const double w_bar = bars.weight[side][at];
      near_bar[side][at] = w_bar * pair.interior[at] * pair.clash[at];
      bar.gamma_con += w_bar * near * pair.clash[at];
      bar.clash += w_bar * near * pair.interior[at];
      radius_bar[side] -= bars.penetration[side][at];
      if (bars.penetration[side][at] == 0.0) continue;
      (side == 0 ? bar.e1 : bar.e2) +=
          distance_vjp(1 - side, pair.point(side, at), bars.penetration[side][at]);
    }
  }
  neighbour_weights_vjp<double>(pair.neighbours, pair.sides[0].weights, pair.sides[1].weights, near_bar[0],
                                near_bar[1], neighbour_bar, weights_bar[0], weights_bar[1]);

  // Pairs of edges to edges.
  std::vector<Edge<double>> edge_bars[2];
  const Edge<double> zero{Vec3<double>::Zero(), Vec3<double>::Zero(), Vec3<double>::Zero()};
  edge_bars[0].assign(rows, zero);
  edge_bars[1].assign(columns, zero);
  for (std::size_t k = 0; k < rows; ++k) {
    for (std::size_t l = 0; l < columns; ++l) {
      const std::size_t at = k * columns + l;
      EdgeContactBar<double>& bar = contact_bars[at];
      bar.softened = neighbour_bar[at];
      for (double& r : radius_bar) r -= bar.softened;
      const bool is_zero = bar.distance == 0.0 && bar.softened == 0.0 && bar.gamma_con == 0.0 &&
                           bar.clash == 0.0 && bar.n.isZero(0.0) && bar.e1.isZero(0.0) && bar.e2.isZero(0.0);
      if (is_zero) continue;
      const Edge<double>&edge_A = pair.sides[0].geometry[k], &edge_B = pair.sides[1].geometry[l];
      const EdgePairBar<double> r =
          edge_contact_vjp(edge_A, edge_B, edge_contact<double>(edge_A, edge_B, settings_), settings_, bar);
      const auto add = [](Edge<double>& to, const Edge<double>& from) {
        to.start += from.start;
        to.vector += from.vector;
        to.normal += from.normal;
      };
      add(edge_bars[0][k], r.edge1);
      add(edge_bars[1][l], r.edge2);
    }
  }

  // Edges to poses and points; selection weights to metrics to distances of points.
  for (int side = 0; side < 2; ++side) {
    const EdgeBody& owner = body(side);
    const EdgePair::Side& s = pair.sides[side];
    const Pose<double>& X_WO = *poses[side];
    for (std::size_t i = 0; i < s.edges.size(); ++i) {
      const Edge<double>& bar = edge_bars[side][i];
      *pose_bars[side] += edge_tangent_bar<double>(s.geometry[i], bar, X_WO.p);
      if (geometries[side] == nullptr) continue;
      const MeshEdge& edge = owner.edges[static_cast<std::size_t>(s.edges[i])];
      Vec3<double> a_bar = X_WO.q.conjugate() * Vec3<double>(bar.start - bar.vector),
                   b_bar = X_WO.q.conjugate() * bar.vector;
      const Vec3<double> normal_bar = X_WO.q.conjugate() * bar.normal;
      if (owner.normals_of_faces) {
        face_edge_normal_vjp(contact_mesh(*owner.body), edge, normal_bar, geometries[side]->contact_points);
      } else {
        mesh_edge_normal_vjp(*owner.sdf, owner.body->contact_points.col(edge.start),
                             owner.body->contact_points.col(edge.end), edge, normal_bar, a_bar, b_bar,
                             geometries[side]->primitives);
      }
      geometries[side]->contact_points.col(edge.start) += a_bar;
      geometries[side]->contact_points.col(edge.end) += b_bar;
    }

    std::vector<double> all_weights_bar(owner.edges.size(), 0.0), metrics_bar(owner.edges.size(), 0.0);
    for (std::size_t i = 0; i < s.edges.size(); ++i)
      all_weights_bar[static_cast<std::size_t>(s.edges[i])] = weights_bar[side][i];
    soft_selection_vjp<double>(s.metrics, s.selection, all_weights_bar, metrics_bar);
    std::vector<double> distances_bar(s.distances.size(), 0.0);
    for (std::size_t e = 0; e < owner.edges.size(); ++e) {
      if (metrics_bar[e] == 0.0) continue;
      for (const int point : {owner.edges[e].start, owner.edges[e].end}) {
        const auto p = static_cast<std::size_t>(point);
        distances_bar[p] +=
            0.5 * metrics_bar[e] * clamped_metric_dx<double>(s.distances[p], largest_metric_, clamp_width_);
      }
    }
    radius_bar[side] -= std::accumulate(distances_bar.begin(), distances_bar.end(), 0.0);
    point_distances_vjp(owner.body->contact_points, *body(1 - side).sdf, X_WO, *poses[1 - side],
                        distances_bar, *pose_bars[side], *pose_bars[1 - side], geometries[side],
                        geometries[1 - side]);
  }
  for (int side = 0; side < 2; ++side) {
    if (geometries[side] != nullptr) geometries[side]->contact_radius += radius_bar[side];
  }
}

std::vector<ContactBar> EdgeContacts::shape_jvp(const Pose<double>& X_WA, const Pose<double>& X_WB,
                                                const EdgePair& pair,
                                                std::span<const ContactFeature> features,
                                                const GeometryGradient& geometry_A_dot,
                                                const GeometryGradient& geometry_B_dot) const {
  using D = Dual<double, 1>;
  const Pose<double>* poses[2] = {&X_WA, &X_WB};
  const GeometryGradient* dots[2] = {&geometry_A_dot, &geometry_B_dot};
  const std::size_t rows = pair.neighbours.rows, columns = pair.neighbours.columns, count = rows * columns;

  // phi of a body's solid at a point of W that moves.
  const auto distance_jvp = [&](int solid, const Vec3<double>& x_W, const Vec3<double>& x_W_dot) {
    const Vec3<double> x_S = inverse_point<double>(*poses[solid], x_W);
    const Vec3<double> gradient = poses[solid]->q * body(solid).sdf->evaluate<double>(x_S).gradient;
    return gradient.dot(x_W_dot) + parameter_jvp(*body(solid).sdf, x_S, dots[solid]->primitives);
  };

  // Edges and their weights.
  std::vector<Edge<D>> edges[2];
  std::vector<double> weights_dot[2];
  for (int side = 0; side < 2; ++side) {
    const EdgeBody& owner = body(side);
    const EdgePair::Side& s = pair.sides[side];
    const Pose<double>& X_WO = *poses[side];
    const GeometryGradient& dot = *dots[side];
    const auto dual = [](const Vec3<double>& x, const Vec3<double>& x_dot) {
      return Vec3<D>(D(x[0], {x_dot[0]}), D(x[1], {x_dot[1]}), D(x[2], {x_dot[2]}));
    };
    for (std::size_t i = 0; i < s.edges.size(); ++i) {
      const MeshEdge& edge = owner.edges[static_cast<std::size_t>(s.edges[i])];
      const Vec3<double> a_dot = dot.contact_points.col(edge.start), b_dot = dot.contact_points.col(edge.end);
      Vec3<double> normal_dot;
      for (int c = 0; c < 3; ++c) {
        Vec3<double> by_a = Vec3<double>::Zero(), by_b = by_a;
        std::vector<PrimitiveGradient> by_primitives(dot.primitives.size());
        if (owner.normals_of_faces) {
          Points by_points = Points::Zero(3, dot.contact_points.cols());
          face_edge_normal_vjp(contact_mesh(*owner.body), edge, Vec3<double>::Unit(c), by_points);
          normal_dot[c] = by_points.cwiseProduct(dot.contact_points).sum();
          continue;
        }
        mesh_edge_normal_vjp(*owner.sdf, owner.body->contact_points.col(edge.start),
                             owner.body->contact_points.col(edge.end), edge, Vec3<double>::Unit(c), by_a,
                             by_b, by_primitives);
        normal_dot[c] = by_a.dot(a_dot) + by_b.dot(b_dot) + inner_product(by_primitives, dot.primitives);
      }
      edges[side].push_back({dual(s.geometry[i].start, X_WO.q * a_dot),
                             dual(s.geometry[i].vector, X_WO.q * Vec3<double>(b_dot - a_dot)),
                             dual(s.geometry[i].normal, X_WO.q * normal_dot)});
    }

    const auto metric_dot = [&](int point) {
      const auto p = static_cast<std::size_t>(point);
      const double slope = clamped_metric_dx<double>(s.distances[p], largest_metric_, clamp_width_);
      if (slope == 0.0) return 0.0;
      const Vec3<double> v = owner.body->contact_points.col(point), v_dot = dot.contact_points.col(point);
      return slope * (distance_jvp(1 - side, X_WO * v, X_WO.q * v_dot) - dot.contact_radius);
    };
    std::vector<double> metrics_dot(owner.edges.size(), 0.0), all_weights_dot(owner.edges.size(), 0.0);
    for (std::size_t e = 0; e < owner.edges.size(); ++e) {
      if (s.selection.slope(s.metrics[e]) == 0.0) continue;
      metrics_dot[e] = 0.5 * (metric_dot(owner.edges[e].start) + metric_dot(owner.edges[e].end));
    }
    soft_selection_jvp<double>(s.metrics, s.selection, metrics_dot, all_weights_dot);
    for (const int e : s.edges) weights_dot[side].push_back(all_weights_dot[static_cast<std::size_t>(e)]);
  }

  // Pairs of edges.
  std::vector<double> softened_dot(count), near_dot[2];
  for (auto& numbers : near_dot) numbers.resize(count);
  const double radii_dot = geometry_A_dot.contact_radius + geometry_B_dot.contact_radius;
  for (std::size_t at = 0; at < count; ++at)
    softened_dot[at] =
        edge_witness<D>(edges[0][at / columns], edges[1][at % columns], settings_).softened.d[0] - radii_dot;
  neighbour_weights_jvp<double>(pair.neighbours, pair.sides[0].weights, pair.sides[1].weights, softened_dot,
                                weights_dot[0], weights_dot[1], near_dot[0], near_dot[1]);

  std::vector<ContactBar> changes(features.size());
  for (std::size_t i = 0; i < features.size(); ++i) {
    const auto [k, l] = place_of(pair, features[i]);
    if (k == rows || l == columns) continue;
    const std::size_t at = k * columns + l;
    const int side = features[i].on_B ? 1 : 0;
    const EdgeContact<D> contact = edge_contact<D>(edges[0][k], edges[1][l], settings_);
    const auto change_of = [](const Vec3<D>& x) { return Vec3<double>(x[0].d[0], x[1].d[0], x[2].d[0]); };
    const Vec3<double> e_dot[2] = {change_of(contact.witness.e1), change_of(contact.witness.e2)};
    ContactBar& change = changes[i];
    const Vec3<D>& normal = contact.normal.n;
    const Vec3<double> n(normal[0].value, normal[1].value, normal[2].value), n_dot = change_of(normal);
    const double length = n.norm(), length_dot = length > 0.0 ? n.dot(n_dot) / length : 0.0;
    const double midway_dot = 0.5 * (geometry_B_dot.contact_radius - geometry_A_dot.contact_radius);
    change.point_W = 0.5 * (e_dot[0] + e_dot[1]) + midway() * n_dot + midway_dot * n;
    change.signed_distance = contact.distance.d[0] - length_dot * radii() - length * radii_dot;
    change.normal_AB_W = -n_dot;
    change.penetration =
        distance_jvp(1 - side, pair.point(side, at), e_dot[side]) - dots[side]->contact_radius;
    const D near(side == 0 ? pair.neighbours.by_row[at] : pair.neighbours.by_column[at],
                 {near_dot[side][at]});
    change.weight = (contact.witness.minimum.gamma * contact.clash * near).d[0];
  }
  return changes;
}

DistanceHessian EdgeContacts::distance_hessian(const Pose<double>& X_WA, const Pose<double>& X_WB, int edge_A,
                                               int edge_B) const {
  return edge_distance_hessian(edge_in_world(*A_, edge_A, X_WA), edge_in_world(*B_, edge_B, X_WB), X_WA.p,
                               X_WB.p, settings_, radii());
}

}  // namespace abut
