#include "collision/manifold/edge_contacts.h"

#include <algorithm>

#include "collision/manifold/contact_activity.h"
#include "collision/manifold/kernel/point_kernels.h"

namespace abut {

EdgeBody::EdgeBody(const Body& of, const ShapeSdf& its_sdf, const FeatureColumns& its_features)
    : body(&of), sdf(&its_sdf), features(&its_features), selected(of.selected_edges) {
  if (!has_mesh_edges(of) || of.selected_edges == 0) return;
  const MeshEdgeOptions options = mesh_edge_options(of);
  set_edges(mesh_edges(contact_mesh(of), its_sdf, options));
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

void EdgeBody::set_edges(std::vector<MeshEdge> of_mesh) {
  edges = std::move(of_mesh);
  ends.clear();
  for (const MeshEdge& edge : edges) ends.push_back({edge.start, edge.end});
}

Edge<double> EdgeBody::edge_in_world(int edge, const Pose<double>& X_WO) const {
  const MeshEdge& e = edges[static_cast<std::size_t>(edge)];
  const Vec3<double> a = body->contact_points.col(e.start), b = body->contact_points.col(e.end);
  const Mat3<double> R = X_WO.rotation();
  return {R * a + X_WO.p, R * (b - a), R * e.normal};
}

EdgeContacts::EdgeContacts(const EdgeBody& A, const EdgeBody& B, const ContactConfig& config,
                           NeighbourTail tail)
    : A_(&A),
      B_(&B),
      settings_(config, std::min(A.body->size, B.body->size)),
      neighbours_{config.neighbour_smoothing * std::min(A.body->size, B.body->size), config.neighbour_cutoff,
                  tail} {
  size_ = std::min(A.body->size, B.body->size);
  activity_smoothing_ = config.activity_smoothing * size_;
  band_ = config.selection_band * size_;
  clamp_width_ = config.metric_range * size_ / 3.0;
  largest_metric_ = 2.0 * clamp_width_;
}

NearQuery EdgeContacts::near_query(int side, const Pose<double>& X_WA, const Pose<double>& X_WB) const {
  NearQuery query;
  query.owner = body(side).features;
  query.edges = body(side).ends;
  query.all_edges = selects_all(side);
  query.solid = body(1 - side).features;
  query.sdf = body(1 - side).sdf;
  query.X_SO = side == 0 ? X_WB.inverse() * X_WA : X_WA.inverse() * X_WB;
  query.range = range(side);
  query.size = size_;
  return query;
}

EdgePairMatrices EdgeContacts::matrices(EdgePair& pair) const {
  return {static_cast<int>(pair.rows),
          static_cast<int>(pair.columns),
          neighbours_,
          radii(),
          {pair.sides[0].weights.data(), pair.sides[1].weights.data()},
          pair.softened.data(),
          pair.interior.data(),
          pair.clash.data(),
          pair.nearness.data(),
          pair.slopes.data(),
          pair.by_row.data(),
          pair.by_column.data(),
          pair.row_sums.data(),
          pair.column_sums.data()};
}

void EdgeContacts::prepare(const Pose<double>& X_WA, const Pose<double>& X_WB, const PairMemory::Sides& near,
                           EdgePair& pair) const {
  for (int side = 0; side < 2; ++side) {
    const EdgeBody& owner = body(side);
    const NearFeatures& nearby = near[static_cast<std::size_t>(side)];
    EdgePair::Side& s = pair.sides[side];
    select(side, side == 0 ? X_WA : X_WB, nearby, side == 1, s);
    s.place.assign(owner.edges.size(), -1);
    for (std::size_t i = 0; i < s.edges.size(); ++i)
      s.place[static_cast<std::size_t>(s.edges[i])] = static_cast<int>(i);
    if (s.selection.all) continue;
    s.distances.resize(s.edges.size());
    s.slopes.resize(s.edges.size());
    for (std::size_t i = 0; i < s.edges.size(); ++i) {
      const bool is_in_band = s.selection.slope(s.metrics[i]) > 0.0;
      for (std::size_t end = 0; end < 2; ++end) {
        const int place = end == 0 ? s.ends[i].start : s.ends[i].end;
        double &distance = s.distances[i][end], &slope = s.slopes[i][end];
        distance = k_far_away;
        slope = 0.0;
        if (!is_in_band || place < 0) continue;
        distance = nearby.distance(static_cast<std::size_t>(place)) - owner.body->contact_radius;
        slope = clamped_metric_dx<double>(distance, largest_metric_, clamp_width_);
      }
    }
  }

  pair.rows = pair.sides[0].edges.size();
  pair.columns = pair.sides[1].stride;
  const std::size_t count = pair.rows * pair.columns;
  for (auto* numbers : {&pair.softened, &pair.interior, &pair.clash, &pair.nearness, &pair.slopes,
                        &pair.by_row, &pair.by_column})
    numbers->resize(count);
  pair.row_sums.resize(pair.rows);
  pair.column_sums.resize(pair.columns);
  EdgeRelations relations{pair.softened.data(), pair.interior.data(), pair.clash.data(), {}};
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < 3; ++i) {
      pair.points[side][i].resize(count);
      relations.points[side][i] = pair.points[side][i].data();
    }
  }
  if (count == 0) return;
  point_kernels().relate_edges(settings_, pair.sides[0].edge_columns(), pair.sides[1].edge_columns(),
                                  relations);
  derivative_kernels().relate_neighbours(matrices(pair));
}

void EdgeContacts::set_geometry(const Vec3<double>& e_A, const Vec3<double>& e_B, const Vec3<double>& n,
                                Contact& contact) const {
  contact.point_W = 0.5 * (e_A + e_B) + midway() * n;
  contact.signed_distance = n.dot(e_A - e_B) - n.norm() * radii();
  contact.normal_AB_W = -n;
}

void EdgeContacts::select(int side, const Pose<double>& X_WO, const NearFeatures& near, bool whole_packs,
                          EdgeSelection& s) const {
  const EdgeBody& owner = body(side);
  const bool all = selects_all(side);
  s.metrics.clear();
  s.edges.clear();
  s.ends.clear();
  s.weights.clear();
  if (all) {  // whichever are near
    s.selection = SoftSelection<double>();
    s.selection.all = true;
    for (std::size_t e = 0; e < owner.edges.size(); ++e) s.edges.push_back(static_cast<int>(e));
    s.weights.assign(s.edges.size(), 1.0);
  } else {
    s.point_metrics.resize(near.points().size());
    for (std::size_t i = 0; i < s.point_metrics.size(); ++i) {
      s.point_metrics[i] = clamped_metric<double>(near.distance(i) - owner.body->contact_radius,
                                                  largest_metric_, clamp_width_);
    }
    const auto metric = [&](int place) {
      return place < 0 ? largest_metric_ : s.point_metrics[static_cast<std::size_t>(place)];
    };
    for (const NearFeatures::NearEdge& edge : near.edges()) {
      const double mean = 0.5 * (metric(edge.start) + metric(edge.end));
      if (!(mean < largest_metric_)) continue;
      s.metrics.push_back(mean);
      s.edges.push_back(edge.edge);
      s.ends.push_back({edge.start, edge.end});
    }
    // Those left out have the largest metric and weight 0: one of them stands for all, and enough of them for
    // there to be a choice.
    const std::size_t wanted = static_cast<std::size_t>(owner.selected) + 1;
    s.metrics.resize(std::max(s.metrics.size() + 1, wanted), largest_metric_);
    s.selection = soft_selection<double>(s.metrics, owner.selected, band_, largest_metric_);
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < s.edges.size(); ++i) {
      const double weight = s.selection.weight(s.metrics[i]);
      if (!(weight > 0.0)) continue;
      s.weights.push_back(weight);
      s.metrics[chosen] = s.metrics[i];
      s.ends[chosen] = s.ends[i];
      s.edges[chosen++] = s.edges[i];
    }
    s.metrics.resize(chosen);
    s.ends.resize(chosen);
    s.edges.resize(chosen);
  }
  constexpr std::size_t k_pack = 8;
  const std::size_t count = s.edges.size();
  s.stride = whole_packs ? (count + k_pack - 1) / k_pack * k_pack : count;
  s.weights.resize(s.stride, 0.0);
  s.columns.resize(9 * s.stride);
  const Mat3<double> R = X_WO.rotation();
  for (std::size_t i = 0; i < count; ++i) {
    const MeshEdge& edge = owner.edges[static_cast<std::size_t>(s.edges[i])];
    const Vec3<double> a = owner.body->contact_points.col(edge.start),
                       b = owner.body->contact_points.col(edge.end);
    const Vec3<double> vectors[3] = {R * a + X_WO.p, R * (b - a), R * edge.normal};
    for (std::size_t c = 0; c < 9; ++c) s.columns[c * s.stride + i] = vectors[c / 3][static_cast<int>(c % 3)];
  }
  for (std::size_t c = 0; c < 9; ++c) {
    for (std::size_t i = count; i < s.stride; ++i)
      s.columns[c * s.stride + i] = s.columns[c * s.stride + i - 1];
  }
}

void EdgeContacts::detect(const Pose<double>& X_WA, const Pose<double>& X_WB, double reach,
                          const PairMemory::Sides& near, std::pair<int, int> bodies, EdgeSearch& search,
                          std::vector<Contact>& contacts) const {
  constexpr std::size_t k_pack = 8;
  const DetectionKernels& kernels = detection_kernels();
  select(0, X_WA, near[0], false, search.sides[0]);
  if (search.sides[0].edges.empty()) return;
  select(1, X_WB, near[1], false, search.sides[1]);
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
  const EdgeColumns edges[2] = {search.sides[0].edge_columns(), search.sides[1].edge_columns()};
  const EdgePairProblem problem{
      &settings_, neighbours_, radii(), {search.sides[0].weights.data(), search.sides[1].weights.data()}};
  const int found = kernels.find_edge_pairs(problem, edges[0], edges[1], pairs);
  if (found == 0) return;

  const auto count = static_cast<std::size_t>(found), padded = (count + k_pack - 1) / k_pack * k_pack;
  search.normals.resize(3 * padded);
  kernels.edge_normals(settings_, edges[0], edges[1], pairs.row, pairs.column, found, search.normals.data());
  for (int side = 0; side < 2; ++side) {
    EdgeSearch::Side& s = search.sides[side];
    const BoundedSolid solid = body(1 - side).solid();
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
      set_geometry(e_A, e_B, n, contact);
      contact.penetration = penetration;
      contact.weight = weight;
      contact.activity = weight * activity(penetration, activity_smoothing_);
      contact.area = owner.edges[static_cast<std::size_t>(side == 0 ? edge_A : edge_B)].area;
      contacts.push_back(contact);
    }
  }
}

void EdgeContacts::contacts(const Pose<double>& X_WA, const Pose<double>& X_WB,
                            std::span<const ContactFeature> features, EdgePair& pair,
                            std::span<Contact> contacts) const {
  constexpr std::size_t k_pack = 8;
  EdgePair::Memory& memory = pair.memory;
  const std::size_t count = features.size(), padded = (count + k_pack - 1) / k_pack * k_pack;
  memory.rows.assign(padded, 0);
  memory.columns.assign(padded, 0);
  memory.places.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto [k, l] = pair.place_of(features[i]);
    const bool is_selected = k >= 0 && l >= 0;
    memory.places[i] = is_selected ? k * static_cast<std::ptrdiff_t>(pair.columns) + l : -1;
    if (!is_selected) continue;
    memory.rows[i] = k;
    memory.columns[i] = l;
  }
  memory.normals.resize(3 * padded);
  if (pair.rows > 0 && pair.columns > 0) {
    detection_kernels().edge_normals(settings_, pair.sides[0].edge_columns(), pair.sides[1].edge_columns(),
                                     memory.rows.data(), memory.columns.data(), static_cast<int>(count),
                                     memory.normals.data());
  }
  // Witness points in the frames of the solids that they are at.
  const Pose<double>* const solids[2] = {&X_WB, &X_WA};
  const Mat3<double> to_solid[2] = {X_WB.rotation().transpose(), X_WA.rotation().transpose()};
  std::size_t many[2] = {0, 0};
  for (auto& coordinates : memory.coordinates) {
    for (auto& numbers : coordinates) numbers.resize(count);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const ContactFeature& feature = features[i];
    Contact& contact = contacts[i];
    contact.feature = feature;
    contact.activity = contact.area = 0.0;
    if (memory.places[i] < 0) {  // its edges are not among the selected ones
      const EdgeContact<double> edges = edge_contact<double>(
          A_->edge_in_world(feature.feature_A, X_WA), B_->edge_in_world(feature.feature_B, X_WB), settings_);
      set_geometry(edges.witness.e1, edges.witness.e2, edges.normal.n, contact);
      contact.penetration = k_far_away;
      contact.weight = 0.0;
      continue;
    }
    const auto at = static_cast<std::size_t>(memory.places[i]);
    const std::size_t side = feature.on_B ? 1 : 0;
    const double* const n = memory.normals.data() + i;
    const Vec3<double> e_A = pair.point(0, at), e_B = pair.point(1, at);
    set_geometry(e_A, e_B, {n[0], n[padded], n[2 * padded]}, contact);
    contact.weight = pair.interior[at] * pair.clash[at] * (feature.on_B ? pair.by_column : pair.by_row)[at];
    contact.area = feature.on_B ? B_->edges[static_cast<std::size_t>(feature.feature_B)].area
                                : A_->edges[static_cast<std::size_t>(feature.feature_A)].area;
    const Vec3<double> x_S = to_solid[side] * ((feature.on_B ? e_B : e_A) - solids[side]->p);
    for (int axis = 0; axis < 3; ++axis) memory.coordinates[side][axis][many[side]] = x_S[axis];
    ++many[side];
  }
  std::size_t next[2] = {0, 0};
  for (int side = 0; side < 2; ++side) {
    const auto& [x, y, z] = memory.coordinates[side];
    memory.samples[side].resize(k_sample_normal_columns * many[side]);
    point_kernels().sample_points(*body(1 - side).sdf, SdfOrder::normal, x.data(), y.data(), z.data(),
                                     static_cast<int>(many[side]), memory.samples[side].data());
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (memory.places[i] < 0) continue;
    const int side = features[i].on_B ? 1 : 0;
    contacts[i].penetration = memory.samples[side][next[side]++] - body(side).body->contact_radius;
    contacts[i].activity = contacts[i].weight * activity(contacts[i].penetration, activity_smoothing_);
  }
}

}  // namespace abut
