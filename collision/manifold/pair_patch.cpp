#include "collision/manifold/pair_patch.h"

#include <array>
#include <span>

#include "collision/manifold/kernel/point_kernels.h"
#include "engine/instruction_set.h"

namespace abut {
namespace {

/// dL/d of what P takes from a seed.
struct SeedBar {
  double area;      ///< by b C(w_p)
  double distance;  ///< [1/m]
  double cone;      ///< by C(w_p)

  SeedBar(const PatchShare<double>& share, const PairPatch::Seed& seed, double inverse_tau, double share_bar)
      : area(share_bar * share.by_area(seed.depth)),
        distance(-share_bar * inverse_tau *
                 share.by_depth(seed.area * seed.flush * seed.wide.value, seed.depth)),
        cone(area * seed.area * seed.flush) {}
};

enum SeedColumn { k_x = 0, k_phi = 3, k_phi_bar = 4, k_n_bar = 5, k_x_bar = 8, k_seed_columns = 11 };

/// The contact points of one body that overlap, with weight.
void find_seeds(const PatchQuery::Side& side, double inverse_area, const FlushFaces& flush, NearPoints& near,
                std::vector<PairPatch::Seed>& seeds) {
  const VertexSdfQuery& query = side.vertices;
  const Body& owner = *query.owner_body;
  find_near_points(owner.contact_points, *query.sdf, query.X_WS.inverse() * query.X_WO, owner.contact_radius,
                   near);
  const std::size_t count = near.points.size();
  near.samples.resize(k_sample_normal_columns * count);
  const PointKernels kernels = chosen_kernels<PointKernels>();
  const auto sample = measures_to_rims(query) ? kernels.sample_points_to_rims : kernels.sample_points;
  sample(*query.sdf, SdfOrder::normal, near.coordinates[0].data(), near.coordinates[1].data(),
         near.coordinates[2].data(), static_cast<int>(count), near.samples.data());
  const Mat3<double> R_WO = query.X_WO.rotation(), R_WS = query.X_WS.rotation();
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = [&](std::size_t column) { return near.samples[column * count + i]; };
    PairPatch::Seed seed;
    seed.point = near.points[i];
    seed.flush = flush.weight(seed.point);
    seed.phi = number(k_sample_distance);
    seed.depth = (owner.contact_radius - seed.phi) / query.tau;
    if (!(seed.depth > 0.0 && seed.flush > 0.0)) continue;
    seed.area = owner.contact_areas[at(seed.point)] * inverse_area;
    seed.normal = R_WS * Vec3<double>(number(k_sample_normal), number(k_sample_normal + 1),
                                      number(k_sample_normal + 2));
    seed.wide = point_cones(query, seed.point, R_WO, seed.normal).wide;
    if (!(seed.wide.value > 0.0)) continue;
    seed.x_S = {near.coordinates[0][i], near.coordinates[1][i], near.coordinates[2][i]};
    seed.arm_O = R_WO * owner.contact_points.col(seed.point);
    seeds.push_back(seed);
  }
}

/// Of the contact points of one body.
void seeds_vjp(const PatchQuery::Side& side, PairPatch& patch, std::span<const PairPatch::Seed> seeds,
               double share_bar, FlushFaces* flush, Vec6<double>& pose_O_bar, Vec6<double>& pose_S_bar,
               GeometryGradient* geometry_O, GeometryGradient* geometry_S) {
  if (seeds.empty()) return;
  const VertexSdfQuery& query = side.vertices;
  const Mat3<double> R_WO = query.X_WO.rotation(), R_WS = query.X_WS.rotation();
  ContactColumns& columns = patch.columns;
  columns.resize(seeds.size(), k_seed_columns);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const SeedBar bar(patch.share, seeds[i], 1.0 / query.tau, share_bar);
    columns.set(k_x, i, seeds[i].x_S);
    columns.set(k_phi, i, seeds[i].phi);
    columns.set(k_phi_bar, i, bar.distance);
    columns.set(k_n_bar, i, Vec3<double>(R_WS.transpose() * (bar.cone * seeds[i].wide.by_normal)));
  }
  columns.fill_up(seeds.size(), k_x, k_phi_bar);
  columns.clear_rest(seeds.size(), k_phi_bar, k_seed_columns - k_phi_bar);
  const auto three = [&](int c) {
    return std::array{columns.column(c), columns.column(c + 1), columns.column(c + 2)};
  };
  const auto x = three(k_x), n_bar = three(k_n_bar), x_bar = three(k_x_bar);
  solid_vjp(side.solid,
            {{x[0], x[1], x[2]},
             static_cast<int>(columns.stride()),
             columns.column(k_phi),
             columns.column(k_phi_bar),
             {n_bar[0], n_bar[1], n_bar[2]},
             {x_bar[0], x_bar[1], x_bar[2]}},
            seeds.size(), patch.solid,
            geometry_S != nullptr ? std::span<PrimitiveGradient>(geometry_S->primitives)
                                  : std::span<PrimitiveGradient>(),
            measures_to_rims(query));
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const PairPatch::Seed& seed = seeds[i];
    const SeedBar bar(patch.share, seed, 1.0 / query.tau, share_bar);
    const Vec3<double> force = R_WS * columns.vector(k_x_bar, i), by_normal = bar.cone * seed.wide.by_normal,
                       arm_S = seed.arm_O + query.X_WO.p - query.X_WS.p;
    pose_O_bar += stack<double>(seed.arm_O.cross(force) + by_normal.cross(seed.normal), force);
    pose_S_bar -= stack<double>(arm_S.cross(force) + by_normal.cross(seed.normal), force);
    if (flush != nullptr && !flush->none)
      flush->weights_bar[at(seed.point)] += bar.area * seed.area * seed.wide.value;
    if (geometry_O == nullptr) continue;
    geometry_O->contact_points.col(seed.point) += R_WO.transpose() * force;
    cone_edges_vjp(query, seed.point, R_WO.transpose() * seed.normal, 0.0, bar.cone,
                   geometry_O->contact_points);
    geometry_O->contact_radius -= bar.distance;
  }
}

}  // namespace

void find_patch(const PatchQuery& query, const FlushFaces* const (&flush)[2], NearPoints& near,
                PairPatch& patch) {
  PatchSums<double> sums[2];
  for (std::size_t side = 0; side < 2; ++side) {
    patch.seeds[side].clear();
    if (!query.sides[side].carries_contacts) continue;
    find_seeds(query.sides[side], query.inverse_area, *flush[side], near, patch.seeds[side]);
    for (const PairPatch::Seed& seed : patch.seeds[side])
      sums[side].add(seed.area * seed.flush * seed.wide.value, seed.depth);
  }
  patch.share = PatchShare<double>({sums[0].fourths + sums[1].fourths, sums[0].cubes + sums[1].cubes});
}

double patch_jvp(const PatchQuery& query, PairPatch& patch, const Vec6<double>& pose_A,
                 const Vec6<double>& pose_B, const FlushFacesDot (&flush_dot)[2]) {
  if (!patch.share.changes()) return 0.0;
  double dot = 0.0;
  for (std::size_t side = 0; side < 2; ++side) {
    Vec6<double> by_O = Vec6<double>::Zero(), by_S = by_O;
    seeds_vjp(query.sides[side], patch, patch.seeds[side], 1.0, nullptr, by_O, by_S, nullptr, nullptr);
    dot += by_O.dot(side == 0 ? pose_A : pose_B) + by_S.dot(side == 0 ? pose_B : pose_A);
    if (flush_dot[side].weights.empty()) continue;
    for (const PairPatch::Seed& seed : patch.seeds[side])
      dot += patch.share.by_area(seed.depth) * seed.area * seed.wide.value *
             flush_dot[side].weights[at(seed.point)];
  }
  return dot;
}

void patch_vjp(const PatchQuery& query, PairPatch& patch, double share_bar, FlushFaces* const (&flush)[2],
               Vec6<double>* const (&poses_bar)[2], GeometryGradient* const (&geometry)[2]) {
  if (!patch.share.changes() || share_bar == 0.0) return;
  for (std::size_t side = 0; side < 2; ++side)
    seeds_vjp(query.sides[side], patch, patch.seeds[side], share_bar, flush[side], *poses_bar[side],
              *poses_bar[1 - side], geometry[side], geometry[1 - side]);
}

}  // namespace abut
