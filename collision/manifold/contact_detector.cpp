#include "collision/manifold/contact_detector.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <utility>
#include <variant>

#include <spdlog/fmt/fmt.h>

#include "collision/manifold/contact_activity.h"
#include "engine/check.h"
#include "engine/detector_choice.h"
#include "engine/geometry_comparison.h"

namespace abut {
namespace {

Eigen::AlignedBox3d contact_point_box(const Body& body) {
  Eigen::AlignedBox3d box;
  for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
    const Vec3<double> p = body.contact_points.col(i);
    const Vec3<double> r = Vec3<double>::Constant(body.contact_radius);
    box.extend(p - r);
    box.extend(p + r);
  }
  return box;
}

/// dL/d of contacts of edges before flush faces left only a part of them; adds to that part's bar.
std::span<const ContactBar> bars_of_whole_edges(const ContactList& contacts, std::size_t begin,
                                                std::span<const ContactBar> bars, PairContacts& pair,
                                                std::vector<ContactBar>& memory) {
  const double left = pair.edges_left();
  if (left == 1.0) return bars;
  memory.assign(bars.begin(), bars.end());
  double left_bar = 0.0;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const Contact contact = contacts[begin + i];
    if (left > 0.0)
      left_bar += (bars[i].weight * contact.weight + bars[i].activity * contact.activity) / left;
    memory[i].weight *= left;
    memory[i].activity *= left;
  }
  for (int side = 0; side < 2; ++side)
    pair.vertices[side].flush.edges_left_bar += left_bar * pair.vertices[1 - side].flush.edges_left;
  return memory;
}

/// A contact of another detector. Its area is the same for all of a pair, and as much as the pair's
/// smallest_area, so that weights alone share out what a pair carries.
Contact contact_of_pair(const PointContact& contact, const PairQuery& query, double size) {
  const DetectorKind detector = query.config.detector;
  const ContactKind kind =
      detector == DetectorKind::frank_wolfe ? ContactKind::triangle_sdf : ContactKind::convex_parts;
  const double tau = query.config.activity_smoothing * size;
  return {{kind, query.body_A, query.body_B, contact.feature_A, contact.feature_B},
          contact.point_W,
          contact.signed_distance,
          contact.normal_AB_W,
          contact.weight,
          contact.weight * activity(contact.signed_distance, tau),
          size * size};
}

bool is_bounded(const Eigen::AlignedBox3d& box) { return box.min().allFinite() && box.max().allFinite(); }

/// The box in W around a box in B, grown by `margin`.
WorldBox world_box(const Eigen::AlignedBox3d& box, const Mat3<double>& R, const Vec3<double>& p,
                   double margin) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (box.isEmpty()) return {};
  if (!is_bounded(box)) return {Vec3<double>::Constant(-infinity), Vec3<double>::Constant(infinity)};
  const Vec3<double> center = R * box.center() + p;
  const Vec3<double> half = R.cwiseAbs() * (0.5 * box.sizes()) + Vec3<double>::Constant(margin);
  return {center - half, center + half};
}

/// Whether a box lies farther than `distance` above a solid that is a half-space and no more.
bool is_above(const WorldBox& box, const ShapeSdf& solid, const Pose<double>& X_WS, double distance) {
  const std::vector<PreparedPrimitive<double>>& primitives = solid.primitives<double>();
  const auto* const half_space =
      primitives.size() == 1 ? std::get_if<HalfSpace<double>>(&primitives[0].solid) : nullptr;
  if (half_space == nullptr) return false;
  const Vec3<double> n = X_WS.q * half_space->normal, lowest = (n.array() > 0.0).select(box.min(), box.max());
  return n.dot(lowest - X_WS * half_space->point) > distance;
}

}  // namespace

ContactDetector::BodyGeometry::BodyGeometry(const Body& body)
    : sdf(body.shape), edges(contact_edges(body)), features(body, sdf, edges), box(contact_point_box(body)) {
  for (const auto& vertex : body.mesh.vertices.colwise()) box.extend(Vec3<double>(vertex));  // of triangles
  if (!box.isEmpty()) {
    for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
      reach = std::max(reach, body.contact_points.col(i).norm() + body.contact_radius);
    }
    for (const auto& vertex : body.mesh.vertices.colwise()) reach = std::max(reach, vertex.norm());
  }
  if (body.shape.primitives.empty()) return;
  box.extend(sdf.bounds());
  if (!is_bounded(sdf.bounds())) return;
  reach = std::max(reach, sdf.bounds().min().cwiseAbs().cwiseMax(sdf.bounds().max().cwiseAbs()).norm());
}

ContactDetector::ContactDetector(const Model& model, const ContactConfig& config,
                                 const ContactDetector* prepared)
    : model_(&model), config_(config) {
  bodies_.reserve(model.bodies.size());
  std::vector<int> first_of_same;  // found where a body cannot take what was prepared
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (prepared != nullptr && b < prepared->bodies_.size() &&
        have_same_geometry(body, prepared->model_->bodies[b])) {
      bodies_.push_back(prepared->bodies_[b]);
    } else {
      if (first_of_same.empty()) first_of_same = first_of_same_geometry(model.bodies);
      const auto first = static_cast<std::size_t>(first_of_same[b]);
      bodies_.push_back(first < b ? bodies_[first] : std::make_shared<const BodyGeometry>(body));
    }
    largest_distance_ratio_ = std::max(largest_distance_ratio_, bodies_[b]->sdf.distance_ratio());
  }
  if (needs_other_detectors(model, config)) others_ = std::make_unique<const OtherDetectors>(model, config);
}

ContactPair ContactDetector::make_pair(int body_A, int body_B) const {
  const ContactConfig config = pair_config(body_A, body_B);
  const double size = pair_size(body_A, body_B);
  const double smallest_area =
      config.detector == DetectorKind::manifold
          ? std::min(geometry(body_A).features.smallest_area, geometry(body_B).features.smallest_area)
          : size * size;
  const bool reference_is_B = model_body(body_B).name < model_body(body_A).name;
  return {body_A,
          body_B,
          0,
          0,
          config.activity_smoothing * size,
          ContactReduction(config, size, reference_is_B),
          smallest_area,
          {}};
}

PairQuery ContactDetector::pair_query(int body_A, int body_B, const ContactConfig& config,
                                      std::span<const Pose<double>> X_WB) const {
  return {body_A, body_B, &X_WB[at(body_A)], &X_WB[at(body_B)], &sdf(body_A), &sdf(body_B), config};
}

VertexSdfQuery ContactDetector::vertex_query(int owner, int solid, const ContactConfig& config,
                                             std::span<const Pose<double>> X_WB) const {
  VertexSdfQuery query;
  query.owner_body = &model_body(owner);
  query.sdf = &sdf(solid);
  query.owner = owner;
  query.solid = solid;
  query.X_WO = X_WB[static_cast<std::size_t>(owner)];
  query.X_WS = X_WB[static_cast<std::size_t>(solid)];
  query.tau = config.activity_smoothing * pair_size(owner, solid);
  query.edges = &geometry(owner).features.point_edges;
  query.sliding = &geometry(owner).features.sliding;
  const int A = std::min(owner, solid);
  query.solid_is_round =
      geometry(solid).features.is_round && carries_vertices(config, model_body(A), solid == A ? 0 : 1);
  query.cone_width = config.cone_smoothing;
  return query;
}

PatchQuery ContactDetector::patch_query(int body_A, int body_B, const ContactConfig& config,
                                        std::span<const Pose<double>> X_WB) const {
  const int bodies[2] = {body_A, body_B};
  PatchQuery query;
  for (int side = 0; side < 2; ++side) {
    const int owner = bodies[side], solid = bodies[1 - side];
    if (!carries_vertices(config, model_body(body_A), side) || !has_solid(solid)) continue;
    query.sides[side] = {vertex_query(owner, solid, config, X_WB), bounded_solid(solid), true};
  }
  query.inverse_area =
      1.0 / std::min(geometry(body_A).features.smallest_area, geometry(body_B).features.smallest_area);
  return query;
}

SelectionQuery ContactDetector::selection_query(int owner, int solid, bool of_edges,
                                                const ContactConfig& config,
                                                std::span<const Pose<double>> X_WB) const {
  const Body& body = model_body(owner);
  const double size = pair_size(owner, solid);
  SelectionQuery query{&body,
                       &sdf(solid),
                       X_WB[at(owner)],
                       X_WB[at(solid)],
                       {},
                       body.selected_vertices,
                       config.selection_band * size,
                       config.metric_range * size};
  if (of_edges) {
    query.edges = geometry(owner).edges;
    query.most = query.edges.empty() ? 0 : body.selected_edges;
  }
  return query;
}

FlushQuery ContactDetector::flush_query(int owner, int solid, const ContactConfig& config,
                                        std::span<const Pose<double>> X_WB) const {
  const int side = owner < solid ? 0 : 1;
  return {&model_body(owner),
          &sdf(owner),
          &sdf(solid),
          X_WB[at(owner)],
          X_WB[at(solid)],
          FlushBand(config.activity_smoothing * pair_size(owner, solid)),
          config.flush_faces && config.reduction == Reduction::none &&
              carries_vertices(config, model_body(std::min(owner, solid)), side)};
}

EdgeSdfQuery ContactDetector::edge_sdf_query(int owner, int solid, const ContactConfig& config,
                                             std::span<const Pose<double>> X_WB) const {
  EdgeSdfQuery query;
  query.sdf = &sdf(solid);
  query.edges = geometry(owner).edges;
  query.vertices = &model_body(owner).contact_points;
  query.owner = owner;
  query.solid = solid;
  query.X_WO = X_WB[static_cast<std::size_t>(owner)];
  query.X_WS = X_WB[static_cast<std::size_t>(solid)];
  query.settings = EdgeSdfSettings(config, pair_size(owner, solid), model_body(owner).contact_radius);
  return query;
}

void ContactDetector::prepare(std::span<const Pose<double>> X_WB, const ContactConfig& config,
                              ManifoldLinearization& linearization, PairContacts& pair,
                              const KnownWeights* known) const {
  const bool patch_changes = known == nullptr || known->patch_changes(),
             needs_faces = patch_changes || known->faces_change;
  for (int side = 0; side < 2; ++side) {
    const int owner = side == 0 ? pair.body_A : pair.body_B, solid = side == 0 ? pair.body_B : pair.body_A;
    PointWeights& vertices = pair.vertices[side];
    vertices.selection.all = pair.edges[side].all = true;
    vertices.flush.clear();
    if (!has_solid(solid)) continue;
    if (model_body(owner).selected_vertices > 0) {
      select_features(selection_query(owner, solid, false, config, X_WB), linearization.near,
                      vertices.selection);
    }
    if (needs_faces) find_flush_faces(flush_query(owner, solid, config, X_WB), vertices.flush);
    if (model_body(owner).selected_edges > 0) {
      select_features(selection_query(owner, solid, true, config, X_WB), linearization.near,
                      pair.edges[side]);
    }
  }
  pair.patch.clear();
  if (patch_changes) {
    find_patch(patch_query(pair.body_A, pair.body_B, config, X_WB),
               {&pair.vertices[0].flush, &pair.vertices[1].flush}, linearization.near, pair.patch);
  }
  for (PointWeights& vertices : pair.vertices) {
    vertices.patch = patch_changes ? pair.patch.share.value : known->patch;
    vertices.patch_bar = 0.0;
  }
}

void ContactDetector::append_other_contacts(const PairQuery& query, double reach, DetectorScratch& scratch,
                                            ContactList& contacts) const {
  scratch.point_contacts.clear();
  others_->find(query, reach, scratch.other, scratch.point_contacts);
  for (const PointContact& contact : scratch.point_contacts)
    contacts.push_back(contact_of_pair(contact, query, pair_size(query.body_A, query.body_B)));
}

void ContactDetector::linearize_other(const PairQuery& query, std::span<const ContactFeature> features,
                                      std::size_t begin, ManifoldLinearization& out) const {
  const std::size_t first = out.point_contacts.size();
  others_->linearize(query, features, out.other_scratch, out.point_contacts);
  for (std::size_t k = 0; k < features.size(); ++k) {
    out.places[begin + k] = {out.pair_count, first + k};
    Contact contact =
        contact_of_pair(out.point_contacts[first + k], query, pair_size(query.body_A, query.body_B));
    contact.feature = features[k];
    out.contacts.set(begin + k, contact);
  }
}

void ContactDetector::detect(std::span<const Pose<double>> X_WB, std::span<const double> margins,
                             DetectorScratch& scratch, ContactManifold& manifold) const {
  manifold.clear();
  const auto margin = [&](int body) {
    return margins.empty() ? 0.0 : margins[static_cast<std::size_t>(body)];
  };
  scratch.boxes.resize(bodies_.size());
  double widest = config_.activity_smoothing;
  for (const PairOverride& pair : model_->pair_overrides)
    widest = std::max(widest, pair.contact.activity_smoothing.value_or(0.0));
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const double size = model_->bodies[b].size;
    const double band = std::isfinite(size) ? 4.0 * widest * size : 0.0;
    // A solid's distance may be smaller than the true one, by as much as its distance_ratio.
    const double grown = largest_distance_ratio_ * (margin(static_cast<int>(b)) + band) +
                         (largest_distance_ratio_ - 1.0) * model_->bodies[b].contact_radius;
    scratch.boxes[b] = world_box(bodies_[b]->box, X_WB[b].rotation(), X_WB[b].p, grown);
  }
  for (const auto& [A, B] : scratch.broad_phase.overlapping_pairs(scratch.boxes)) {
    if (!may_touch(*model_, A, B)) continue;
    if (is_above(scratch.boxes[at(B)], sdf(A), X_WB[at(A)], margin(A)) ||
        is_above(scratch.boxes[at(A)], sdf(B), X_WB[at(B)], margin(B)))
      continue;
    append_pair(X_WB, {A, B, margin(A) + margin(B)}, scratch, manifold);
  }
}

void ContactDetector::detect_pairs(std::span<const Pose<double>> X_WB, std::span<const CandidatePair> pairs,
                                   DetectorScratch& scratch, ContactManifold& manifold) const {
  manifold.clear();
  for (const CandidatePair& pair : pairs) append_pair(X_WB, pair, scratch, manifold);
}

void ContactDetector::append_pair(std::span<const Pose<double>> X_WB, const CandidatePair& candidate,
                                  DetectorScratch& scratch, ContactManifold& manifold) const {
  const int A = candidate.body_A, B = candidate.body_B;
  ContactPair pair = make_pair(A, B);
  pair.begin = static_cast<int>(manifold.contacts.size());
  const double reach = 4.0 * pair.activity_smoothing + candidate.margin;
  const ContactConfig config = pair_config(A, B);
  if (config.detector != DetectorKind::manifold) {
    append_other_contacts(pair_query(A, B, config, X_WB), reach, scratch, manifold.contacts);
    pair.end = static_cast<int>(manifold.contacts.size());
    if (pair.end > pair.begin) manifold.pairs.push_back(pair);
    return;
  }
  PairProblem<double> problem(geometry(A).features, geometry(B).features, config, pair_size(A, B),
                              std::min(model_body(A).inradius, model_body(B).inradius), reach);
  for (int side = 0; side < 2; ++side) problem.vertices[side] = carries_vertices(config, model_body(A), side);
  ContactBlock<double>& block = manifold.contacts.block();
  find_pair_contacts(problem, X_WB[at(A)], X_WB[at(B)], scratch.pair, block);
  pair.known = {scratch.pair.faces_change, scratch.pair.patch};
  choose_contacts(config, X_WB, scratch, pair, block);
  manifold.contacts.set_sources(block.ends[k_vertices_of_B], ContactKind::vertex_sdf, A, B);
  manifold.contacts.set_sources(block.count, ContactKind::edge_edge, A, B);
  for (const auto& [owner, solid] : {std::pair(A, B), std::pair(B, A)}) {
    if (!config.edge_sdf || !has_solid(solid)) continue;
    append_edge_sdf_contacts(edge_sdf_query(owner, solid, config, X_WB), {}, reach, scratch.chords,
                             manifold.contacts);
  }
  pair.end = static_cast<int>(manifold.contacts.size());
  // A pair without a contact is there where its limits have taken them all: steps warn of it.
  if (pair.end > pair.begin || pair.left_out > 0.0) manifold.pairs.push_back(pair);
}

void ContactDetector::choose_contacts(const ContactConfig& config, std::span<const Pose<double>> X_WB,
                                      DetectorScratch& scratch, ContactPair& pair,
                                      ContactBlock<double>& block) const {
  const int bodies[2] = {pair.body_A, pair.body_B};
  const auto has_limit = [&](int body) {
    return model_body(body).selected_vertices > 0 || model_body(body).selected_edges > 0;
  };
  if (!has_limit(pair.body_A) && !has_limit(pair.body_B)) return;
  FeatureSelection& vertices = scratch.vertex_selection;
  FeatureSelection* const edges = scratch.edge_selection;
  int left = pair.begin, i = pair.begin;
  for (int section = 0; section < k_contact_sections; ++section) {
    const bool is_of_edges = section == k_edge_pairs;
    const int end = block.ends[section];
    if (i < end && is_of_edges) {
      for (int side = 0; side < 2; ++side)
        select_features(selection_query(bodies[side], bodies[1 - side], true, config, X_WB), scratch.near,
                        edges[side]);
    } else if (i < end) {
      select_features(selection_query(bodies[section], bodies[1 - section], false, config, X_WB),
                      scratch.near, vertices);
    }
    for (; i < end; ++i) {
      const double chosen = is_of_edges
                                ? edges[0].weight(block.feature(0, i)) * edges[1].weight(block.feature(1, i))
                                : vertices.weight(block.feature(section, i));
      const double activity = block.number(k_contact_activity, i);
      pair.left_out = std::max(pair.left_out, (1.0 - chosen) * activity);
      if (!(chosen > 0.0)) continue;
      block.copy(i, left);
      block.set_number(k_contact_weight, left, chosen * block.number(k_contact_weight, i));
      block.set_number(k_contact_activity, left, chosen * activity);
      ++left;
    }
    block.ends[section] = left;
  }
  block.count = left;
}

Contact ContactDetector::contact(std::span<const Pose<double>> X_WB, const ContactFeature& feature) const {
  ManifoldLinearization linearization;
  linearize(X_WB, {&feature, 1}, linearization);
  return linearization.contacts[0];
}

void ContactDetector::linearize(std::span<const Pose<double>> X_WB, std::span<const ContactFeature> features,
                                ManifoldLinearization& out, LinearizeFor what_for) const {
  ContactList& contacts = out.contacts;
  const bool is_known = what_for == LinearizeFor::vjp_of_known;
  if (!is_known) contacts.clear();
  contacts.resize(features.size());
  out.places.resize(features.size());
  out.vertices.clear();
  out.slid_vertices.clear();
  out.features.assign(features.begin(), features.end());
  out.edges_in_solids.clear();
  out.solid_jacobians.clear();
  out.point_contacts.clear();
  out.pair_count = 0;
  const auto is_same_pair = [&](std::size_t i, std::size_t k) {
    return features[i].body_A == features[k].body_A && features[i].body_B == features[k].body_B;
  };
  const auto owner_of = [&](std::size_t i) {
    return features[i].feature_A >= 0 ? features[i].body_A : features[i].body_B;
  };
  const auto is_slid = [&](std::size_t i) { return is_slid_vertex(model_body(owner_of(i)), features[i]); };
  for (std::size_t begin = 0, end = 0; begin < features.size(); begin = end) {
    // The features of one pair.
    for (end = begin; end < features.size() && is_same_pair(begin, end); ++end)
      ABUT_ASSERT(features[end].kind != ContactKind::blended);
    const int A = features[begin].body_A, B = features[begin].body_B;
    const ContactConfig config = pair_config(A, B);
    if (out.pairs.size() == out.pair_count) out.pairs.emplace_back();
    PairContacts& pair = out.pairs[out.pair_count];
    pair.body_A = A;
    pair.body_B = B;
    pair.is_manifold = config.detector == DetectorKind::manifold;
    if (!pair.is_manifold) {
      linearize_other(pair_query(A, B, config, X_WB), features.subspan(begin, end - begin), begin, out);
      ++out.pair_count;
      continue;
    }
    // Of values P is found where one depends on it.
    bool has_patch = what_for != LinearizeFor::values;
    constexpr KnownWeights k_no_patch{true, 0.0};
    prepare(X_WB, config, out, pair,
            is_known    ? &out.known[out.pair_count]
            : has_patch ? nullptr
                        : &k_no_patch);
    const auto require_patch = [&] {
      if (!std::exchange(has_patch, true)) prepare(X_WB, config, out, pair);
    };
    const EdgeContacts edges(edge_body(A), edge_body(B), config);

    for (std::size_t i = begin, next = begin; i < end; i = next) {
      // Those of one kind and one owner.
      const ContactKind kind = features[i].kind;
      const int owner = owner_of(i), solid = owner == A ? B : A;
      const bool is_edge_edge = kind == ContactKind::edge_edge;
      for (next = i + 1; next < end && features[next].kind == kind; ++next) {
        if (!is_edge_edge && (owner_of(next) != owner || is_slid(next) != is_slid(i))) break;
      }
      const auto run = features.subspan(i, next - i);
      const std::size_t first = is_slid(i)                        ? out.slid_vertices.size()
                                : kind == ContactKind::vertex_sdf ? out.vertices.size()
                                                                  : out.edges_in_solids.size();
      for (std::size_t k = i; k < next; ++k) out.places[k] = {out.pair_count, first + k - i};
      switch (kind) {
        case ContactKind::vertex_sdf: {
          if (is_slid(i)) {
            const VertexSdfQuery query = vertex_query(owner, solid, config, X_WB);
            require_patch();
            for (std::size_t k = i; k < next; ++k) {
              const int feature = std::max(features[k].feature_A, features[k].feature_B);
              out.slid_vertices.push_back(linearize_slid_vertex(
                  query, feature - static_cast<int>(query.owner_body->contact_points.cols()),
                  pair.vertices[0].patch));
              if (!is_known) contacts.set(k, slid_contact(query, out.slid_vertices.back()));
            }
            break;
          }
          if (is_known) break;
          if (!is_for_one_vjp(what_for)) out.vertices.resize(first + run.size());
          const auto linearize_run = [&] {
            return linearize_vertex_sdf(vertex_query(owner, solid, config, X_WB), bounded_solid(solid),
                                        pair.vertices[owner == A ? 0 : 1], what_for, run, contacts, i,
                                        std::span(out.vertices).subspan(first), out.vertex_values,
                                        out.solid_jacobians);
          };
          if (linearize_run() && !has_patch) {
            require_patch();
            if (pair.patch.share.value != 0.0) (void)linearize_run();
          }
          break;
        }
        case ContactKind::edge_edge:
          if (is_known) break;
          edges.evaluate(X_WB[static_cast<std::size_t>(A)], X_WB[static_cast<std::size_t>(B)], run,
                         pair.edges, out.edge_memory, contacts, i);
          for (std::size_t k = i; k < next && pair.edges_left() != 1.0; ++k)
            contacts.scale_weight(k, pair.edges_left());
          break;
        case ContactKind::edge_sdf:
          linearize_edge_sdf(edge_sdf_query(owner, solid, config, X_WB), run, out.chords, contacts, i,
                             out.linearized);
          out.edges_in_solids.insert(out.edges_in_solids.end(), out.linearized.begin(), out.linearized.end());
          break;
        case ContactKind::convex_parts:
        case ContactKind::triangle_sdf:
        case ContactKind::blended:
          break;
      }
    }
    ++out.pair_count;
  }
}

void ContactDetector::vjp(std::span<const Pose<double>> X_WB, std::span<const ContactBar> bars,
                          ManifoldLinearization& at, std::span<Vec6<double>> pose_bar,
                          std::span<GeometryGradient> geometry) const {
  add_vjp(X_WB, bars, at, pose_bar, geometry);
  for (std::size_t b = 0; b < geometry.size(); ++b) finish_geometry(static_cast<int>(b), geometry[b]);
}

void ContactDetector::add_vjp(std::span<const Pose<double>> X_WB, std::span<const ContactBar> bars,
                              ManifoldLinearization& at, std::span<Vec6<double>> pose_bar,
                              std::span<GeometryGradient> geometry) const {
  const auto pose = [&](int body) -> Vec6<double>& { return pose_bar[static_cast<std::size_t>(body)]; };
  const auto shape = [&](int body) {
    return geometry.empty() ? nullptr : &geometry[static_cast<std::size_t>(body)];
  };
  ContactConfig config;
  for (std::size_t i = 0, next = 0; i < bars.size(); i = next) {
    // A run of contacts of one pair, kind and owner, as linearize() has them.
    const auto kind_of = [&](std::size_t k) { return at.features[k].kind; };
    const auto owner_is_A = [&](std::size_t k) { return at.features[k].feature_A >= 0; };
    const auto is_slid = [&](std::size_t k) {
      const ContactFeature& feature = at.features[k];
      return is_slid_vertex(model_body(owner_is_A(k) ? feature.body_A : feature.body_B), feature);
    };
    for (next = i + 1; next < bars.size(); ++next) {
      if (at.places[next].pair != at.places[i].pair || kind_of(next) != kind_of(i) ||
          owner_is_A(next) != owner_is_A(i) || is_slid(next) != is_slid(i))
        break;
    }
    PairContacts& pair = at.pairs[at.places[i].pair];
    const int A = pair.body_A, B = pair.body_B, owner = owner_is_A(i) ? A : B, solid = owner_is_A(i) ? B : A;
    if (i == 0 || at.places[i].pair != at.places[i - 1].pair) config = pair_config(A, B);
    switch (kind_of(i)) {
      case ContactKind::vertex_sdf:
        if (is_slid(i)) {
          const VertexSdfQuery query = vertex_query(owner, solid, config, X_WB);
          for (std::size_t k = i; k < next; ++k)
            slid_vertex_vjp(query, at.slid_vertices[at.places[k].index], bars[k], pair.vertices[0].patch_bar,
                            pose(owner), pose(solid), shape(owner), shape(solid));
          break;
        }
        if (!at.vertices.empty() && at.vertices[at.places[i].index].jacobian >= 0) {
          vertex_sdf_vjp(std::span(at.vertices).subspan(at.places[i].index, next - i),
                         vertex_query(owner, solid, config, X_WB), at.solid_jacobians,
                         bars.subspan(i, next - i), pair.vertices[owner_is_A(i) ? 0 : 1], pose(owner),
                         pose(solid), shape(owner), shape(solid));
          break;
        }
        vertex_sdf_vjp(vertex_query(owner, solid, config, X_WB), bounded_solid(solid),
                       std::span(at.features).subspan(i, next - i), at.contacts, i, bars.subspan(i, next - i),
                       pair.vertices[owner_is_A(i) ? 0 : 1], at.vertex_memory, pose(owner), pose(solid),
                       shape(owner), shape(solid));
        break;
      case ContactKind::edge_edge:
        EdgeContacts(edge_body(A), edge_body(B), config)
            .vjp(X_WB[static_cast<std::size_t>(A)], X_WB[static_cast<std::size_t>(B)],
                 std::span(at.features).subspan(i, next - i),
                 bars_of_whole_edges(at.contacts, i, bars.subspan(i, next - i), pair, at.bars), pair.edges,
                 at.edge_memory, pose(A), pose(B), shape(A), shape(B));
        break;
      case ContactKind::edge_sdf:
        for (std::size_t k = i; k < next; ++k) {
          edge_sdf_vjp(at.edges_in_solids[at.places[k].index], edge_sdf_query(owner, solid, config, X_WB),
                       bars[k], pose(owner), pose(solid), shape(owner), shape(solid));
        }
        break;
      case ContactKind::convex_parts:
      case ContactKind::triangle_sdf:
        for (std::size_t k = i; k < next; ++k) {
          point_contact_vjp(at.point_contacts[at.places[k].index], X_WB[abut::at(A)].p, X_WB[abut::at(B)].p,
                            config.activity_smoothing * pair_size(A, B), bars[k], pose(A), pose(B));
        }
        break;
      case ContactKind::blended:
        break;
    }
  }
  for (std::size_t p = 0; p < at.pair_count; ++p) {
    PairContacts& pair = at.pairs[p];
    if (!pair.is_manifold) continue;
    const int A = pair.body_A, B = pair.body_B;
    config = pair_config(A, B);
    if (pair.patch.share.changes()) {
      patch_vjp(patch_query(A, B, config, X_WB), pair.patch,
                pair.vertices[0].patch_bar + pair.vertices[1].patch_bar,
                {&pair.vertices[0].flush, &pair.vertices[1].flush}, {&pose(A), &pose(B)},
                {shape(A), shape(B)});
    }
    for (PointWeights& vertices : pair.vertices) vertices.patch_bar = 0.0;
    for (int side = 0; side < 2; ++side) {
      const int owner = side == 0 ? A : B, solid = side == 0 ? B : A;
      const auto selection_vjp = [&](FeatureSelection& selection, bool of_edges) {
        if (selection.all) return;
        select_features_vjp(selection_query(owner, solid, of_edges, config, X_WB), selection, pose(owner),
                            pose(solid), shape(owner), shape(solid));
      };
      selection_vjp(pair.vertices[side].selection, false);
      if (!pair.vertices[side].flush.changing.empty()) {
        flush_faces_vjp(flush_query(owner, solid, config, X_WB), pair.vertices[side].flush, pose(owner),
                        pose(solid), shape(owner), shape(solid));
      }
      selection_vjp(pair.edges[side], true);
    }
  }
}

void ContactDetector::jvp(std::span<const Pose<double>> X_WB, std::span<const Vec6<double>> pose_dot,
                          ManifoldLinearization& at, std::span<ContactBar> dots) const {
  const auto pose = [&](int body) -> const Vec6<double>& { return pose_dot[static_cast<std::size_t>(body)]; };
  const auto place = [&](int body) -> const Pose<double>& { return X_WB[static_cast<std::size_t>(body)]; };
  for (std::size_t begin = 0, end = 0; begin < dots.size(); begin = end) {
    PairContacts& pair = at.pairs[at.places[begin].pair];
    const int A = pair.body_A, B = pair.body_B;
    const ContactConfig config = pair_config(A, B);
    if (!pair.is_manifold) {
      for (end = begin; end < dots.size() && at.places[end].pair == at.places[begin].pair; ++end) {
        dots[end] = point_contact_jvp(at.point_contacts[at.places[end].index], place(A).p, place(B).p,
                                      config.activity_smoothing * pair_size(A, B), pose(A), pose(B));
      }
      continue;
    }
    std::vector<double> vertices_dot[2], edges_dot[2];
    FlushFacesDot(&flush_dot)[2] = at.flush_dot;
    for (int side = 0; side < 2; ++side) {
      const int owner = side == 0 ? A : B, solid = side == 0 ? B : A;
      vertices_dot[side] = select_features_jvp(selection_query(owner, solid, false, config, X_WB),
                                               pair.vertices[side].selection, pose(owner), pose(solid));
      flush_faces_jvp(flush_query(owner, solid, config, X_WB), pair.vertices[side].flush, pose(owner),
                      pose(solid), flush_dot[side]);
      edges_dot[side] = select_features_jvp(selection_query(owner, solid, true, config, X_WB),
                                            pair.edges[side], pose(owner), pose(solid));
    }
    const double patch_dot =
        patch_jvp(patch_query(A, B, config, X_WB), pair.patch, pose(A), pose(B), flush_dot);
    const auto weight_dot = [](const std::vector<double>& weights_dot, int feature) {
      return weights_dot.empty() ? 0.0 : weights_dot[static_cast<std::size_t>(feature)];
    };
    for (end = begin; end < dots.size() && at.places[end].pair == at.places[begin].pair; ++end) {
      const ContactFeature feature = at.contacts.feature(end);
      const bool owner_is_A = feature.feature_A >= 0;
      const int owner = owner_is_A ? A : B, solid = owner_is_A ? B : A;
      switch (feature.kind) {
        case ContactKind::vertex_sdf: {
          const VertexSdfQuery query = vertex_query(owner, solid, config, X_WB);
          if (is_slid_vertex(*query.owner_body, feature)) {
            dots[end] = slid_vertex_jvp(query, at.slid_vertices[at.places[end].index], pose(owner),
                                        pose(solid), patch_dot);
            break;
          }
          const VertexSdfLinearization& vertex = at.vertices[at.places[end].index];
          const int side = owner_is_A ? 0 : 1;
          dots[end] = vertex_sdf_jvp(vertex, pose(owner), pose(solid),
                                     weight_dot(vertices_dot[side], vertex.point) +
                                         weight_dot(flush_dot[side].weights, vertex.point),
                                     patch_dot, weight_dot(flush_dot[side].area_factors, vertex.point));
          break;
        }
        case ContactKind::edge_edge:
          dots[end] = EdgeContacts(edge_body(A), edge_body(B), config)
                          .jvp(place(A), place(B), feature, pair.edges, at.edge_memory, pose(A), pose(B),
                               {weight_dot(edges_dot[0], feature.feature_A),
                                weight_dot(edges_dot[1], feature.feature_B)});
          if (const double left = pair.edges_left(); left > 0.0) {
            const double left_dot = flush_dot[0].edges_left * pair.vertices[1].flush.edges_left +
                                    flush_dot[1].edges_left * pair.vertices[0].flush.edges_left;
            const Contact contact = at.contacts[end];
            dots[end].weight = left * dots[end].weight + contact.weight / left * left_dot;
            dots[end].activity = left * dots[end].activity + contact.activity / left * left_dot;
          }
          break;
        case ContactKind::edge_sdf:
          dots[end] = edge_sdf_jvp(at.edges_in_solids[at.places[end].index], pose(owner), pose(solid));
          break;
        case ContactKind::convex_parts:
        case ContactKind::triangle_sdf:
        case ContactKind::blended:
          ABUT_ASSERT(false);
          break;
      }
    }
  }
}

namespace {

/// Distance of the edges, rims and tips of a sharp solid from the primitive that rounds them, at most [m].
double rounding_of_edges(const Primitive& primitive) {
  if (primitive.kind == PrimitiveKind::convex_polyhedron)
    return primitive.parameters[0] * std::log(static_cast<double>(primitive.values.size()));
  if (primitive.kind == PrimitiveKind::cone) return primitive.parameters[3] * std::log1p(std::numbers::e);
  return 0.0;
}

}  // namespace

void require_points_on_surface(const Body& body, double tolerance) {
  if (body.shape.primitives.empty()) return;
  const ShapeSdf sdf(body.shape);
  constexpr double k_most_meeting = 4.0;  // primitives at a crease, that its vertices may take to be sharp
  double rounding = 0.0;
  for (const Primitive& primitive : body.shape.primitives)
    rounding = std::max(rounding, rounding_of_edges(primitive));
  rounding += body.shape.union_smoothing *
              std::log(std::min(static_cast<double>(body.shape.primitives.size()), k_most_meeting));
  const double most = tolerance * body.size + rounding;
  for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
    const double off = sdf.distance<double>(body.contact_points.col(i)) + body.contact_radius;
    if (!(std::abs(off) <= most)) {
      throw std::invalid_argument(
          fmt::format("body '{}': contact point {} lies {:.3g} m off the surface of its signed distance "
                      "function (at most {:.3g} m)",
                      body.name, i, off, most));
    }
  }
}

}  // namespace abut
