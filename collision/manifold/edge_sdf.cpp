#include "collision/manifold/edge_sdf.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/pack.h"

namespace abut {
namespace {

using namespace edge_sdf_detail;

constexpr std::size_t k_lanes = 4;
using Lanes = Pack<double, static_cast<int>(k_lanes)>;
using LaneMask = Lanes::Mask;

constexpr double k_least_step = 1.0 / 32.0;  ///< of the march along an edge where the root is not near
constexpr int k_root_iterations = 120, k_place_iterations = 100;

struct Root {
  Lanes place;   ///< in [0, upper]; meaningless if not found
  Lanes inside;  ///< a place beyond it where the function is negative or 0
  LaneMask found;
};

/// The first root of f(t) = phi(x + t v) - level in [0, 1], where f(0) > 0; for lanes that are `wanted`.
///
/// Marches by the distance, four times that where it falls, or by Newton's step where that is less; a point
/// found inside makes a bracket, in which Newton's method goes on with bisection as its guard. `inside` is
/// where f is known to be negative (2 if nowhere): the end of the march.
Root first_root(const ShapeSdf& sdf, const Vec3<Lanes>& x, const Vec3<Lanes>& vector, const Lanes& length,
                double level, const LaneMask& wanted, const Lanes& inside) {
  const Lanes tolerance = Lanes(1e-14) * (length + Lanes(std::abs(level)));
  Lanes t(0), low(0), high = inside;
  LaneMask found(false), active = wanted;
  for (int iteration = 0; iteration < k_root_iterations && any(active); ++iteration) {
    const SdfSample<Lanes> at = sdf.evaluate<Lanes>(along(x, vector, t));
    const Lanes f = at.distance - Lanes(level), slope = dot3(at.gradient, vector);
    const LaneMask is_inside = f < Lanes(0), is_root = abs(f) <= tolerance;
    high = select(active && (is_inside || is_root), min(high, t), high);
    low = select(active && !is_inside, max(low, t), low);
    const LaneMask missed = !is_inside && !is_root && t >= Lanes(1);
    const LaneMask narrow = high - low <= Lanes(4e-16);
    found = found || (active && (is_root || narrow));
    active = active && !is_root && !missed && !narrow;

    const LaneMask falls = slope < Lanes(0);
    const Lanes newton = t - f / select(falls, slope, Lanes(-1)), sphere = abs(f) / length;
    const LaneMask is_steep = falls && newton - t <= Lanes(4) * sphere;
    const Lanes stride =
        select(is_steep, newton - t, max(select(falls, Lanes(4) * sphere, sphere), Lanes(k_least_step)));
    const Lanes march = min(t + stride, Lanes(1));
    const LaneMask newton_is_good = falls && newton > low && newton < high && LaneMask(iteration % 4 != 3);
    const Lanes within = select(newton_is_good, newton, Lanes(0.5) * (low + high));
    const LaneMask is_close = high <= Lanes(1) && (is_inside || march >= high);
    t = select(active, select(is_close, within, march), t);
  }
  return {t, high, found || (wanted && high <= Lanes(1))};
}

/// The place s of the contact at `end` of every lane.
Lanes solve_place(const ShapeSdf& sdf, const Vec3<Lanes>& a, const Vec3<Lanes>& vector, const Lanes& length,
                  const Lanes& t_a, const Lanes& L, double pull, int end, const LaneMask& wanted) {
  const Lanes inverse_length = Lanes(1) / length;
  const Vec3<Lanes> u(vector[0] * inverse_length, vector[1] * inverse_length, vector[2] * inverse_length);
  const double start = gauss_place(end), reach = 1.02 / pull;  // |u.n| <= sqrt(1.01)
  Lanes s(start), low(start - reach), high(start + reach);
  LaneMask active = wanted;
  for (int iteration = 0; iteration < k_place_iterations && any(active); ++iteration) {
    const Lanes t = t_a + L * chord_share(s);
    const SdfSampleJacobian<Lanes> at = sdf.evaluate_jacobian<Lanes>(along(a, vector, t));
    Lanes curvature(0);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) curvature = curvature + u[i] * at.normal_jacobian(i, j) * u[j];
    }
    const Lanes residual = dot3(u, at.normal) + Lanes(pull) * (s - Lanes(start));
    const Lanes slope = Lanes(pull) + L * chord_share_ds(s) * length * curvature;
    const LaneMask is_above = residual > Lanes(0);
    high = select(active && is_above, s, high);
    low = select(active && !is_above, s, low);
    const Lanes newton = s - residual / select(slope > Lanes(0), slope, Lanes(1));
    const LaneMask is_good =
        slope > Lanes(0) && newton > low && newton < high && LaneMask(iteration % 4 != 3);
    const Lanes next = select(is_good, newton, Lanes(0.5) * (low + high));
    const LaneMask done =
        abs(residual) <= Lanes(1e-14 * std::max(1.0, pull)) || abs(next - s) <= Lanes(1e-16);
    active = active && !done;
    s = select(active, next, s);
  }
  return s;
}

struct LaneEdges {
  Vec3<Lanes> a, b, vector;
  Lanes length;
};

/// Edges first, first + 1, ...; lanes beyond the last repeat it.
LaneEdges load(std::span<const Vec3<double>> starts, std::span<const Vec3<double>> ends, std::size_t first) {
  alignas(64) double lanes[6][k_lanes];
  for (std::size_t lane = 0; lane < k_lanes; ++lane) {
    const std::size_t i = std::min(first + lane, starts.size() - 1);
    for (int axis = 0; axis < 3; ++axis) {
      lanes[axis][lane] = starts[i][axis];
      lanes[3 + axis][lane] = ends[i][axis];
    }
  }
  LaneEdges edges;
  for (int axis = 0; axis < 3; ++axis) {
    edges.a[axis] = Lanes::load(lanes[axis]);
    edges.b[axis] = Lanes::load(lanes[3 + axis]);
    edges.vector[axis] = edges.b[axis] - edges.a[axis];
  }
  edges.length = sqrt(dot3(edges.vector, edges.vector));
  return edges;
}

struct LaneChords {
  EdgeChord<Lanes> chord;
  LaneMask crosses;
};

LaneChords solve_lanes(const ShapeSdf& sdf, const LaneEdges& edges, const EdgeSdfSettings& settings) {
  const double level = settings.level + settings.radius;
  const Lanes f_a = sdf.distance<Lanes>(edges.a) - Lanes(level),
              f_b = sdf.distance<Lanes>(edges.b) - Lanes(level);
  const LaneMask a_is_out = f_a > Lanes(0), b_is_out = f_b > Lanes(0);
  const Lanes nowhere(2);
  const Root from_a = first_root(sdf, edges.a, edges.vector, edges.length, level, a_is_out,
                                 select(b_is_out, nowhere, Lanes(1)));
  LaneChords result;
  result.crosses = !a_is_out || !b_is_out || from_a.found;
  const Vec3<Lanes> back(-edges.vector[0], -edges.vector[1], -edges.vector[2]);
  const Lanes known = select(a_is_out, Lanes(1) - from_a.inside, Lanes(1));
  const Root from_b = first_root(sdf, edges.b, back, edges.length, level, b_is_out && result.crosses, known);
  const Lanes fade(1.0 / (4.0 * settings.tau));
  const Lanes share_a = smoothstep5<Lanes>(f_a * fade), share_b = smoothstep5<Lanes>(f_b * fade);
  result.chord.root[0] = select(share_a > Lanes(0) && result.crosses, from_a.place, Lanes(0));
  result.chord.root[1] = select(share_b > Lanes(0) && result.crosses, from_b.place, Lanes(0));
  const Lanes t_a = share_a * result.chord.root[0];
  const Lanes L = Lanes(1) - share_b * result.chord.root[1] - t_a;
  // An end without a share has no contact: its place would be solved for in vain.
  for (int end = 0; end < 2; ++end) {
    const LaneMask wanted = result.crosses && (end == 0 ? share_a : share_b) > Lanes(0);
    result.chord.place[static_cast<std::size_t>(end)] =
        solve_place(sdf, edges.a, edges.vector, edges.length, t_a, L, settings.pull, end, wanted);
  }
  return result;
}

Contact oriented(const EdgeSdfQuery& query, int edge, int end, const EdgeSdfContact<double>& at) {
  Contact contact;
  ContactFeature& feature = contact.feature;
  feature = {ContactKind::edge_sdf, std::min(query.owner, query.solid), std::max(query.owner, query.solid),
             -1, -1};
  (query.owner < query.solid ? feature.feature_A : feature.feature_B) = edge_sdf_feature(edge, end);
  contact.point_W = query.X_WS * at.point;
  contact.signed_distance = at.distance;
  contact.normal_AB_W = (query.owner < query.solid ? -1.0 : 1.0) * (query.X_WS.q * at.normal);
  contact.weight = at.weight;
  contact.activity = at.activity;
  contact.area = 0.5 * query.edges[static_cast<std::size_t>(edge)].area;
  return contact;
}

template <typename S>
EdgeSdfContact<double> lane_of(const EdgeSdfContact<S>& contact, int lane) {
  EdgeSdfContact<double> r;
  for (int i = 0; i < 3; ++i) {
    r.point[i] = contact.point[i][lane];
    r.normal[i] = contact.normal[i][lane];
  }
  r.distance = contact.distance[lane];
  r.weight = contact.weight[lane];
  r.activity = contact.activity[lane];
  return r;
}

}  // namespace

void solve_edge_chords(const ShapeSdf& sdf, std::span<const Vec3<double>> starts,
                       std::span<const Vec3<double>> ends, const EdgeSdfSettings& settings,
                       std::vector<EdgeChord<double>>& chords, std::vector<char>& crosses) {
  chords.resize(starts.size());
  crosses.resize(starts.size());
  for (std::size_t first = 0; first < starts.size(); first += k_lanes) {
    const LaneChords solved = solve_lanes(sdf, load(starts, ends, first), settings);
    for (std::size_t lane = 0; lane < k_lanes && first + lane < starts.size(); ++lane) {
      const int l = static_cast<int>(lane);
      EdgeChord<double>& chord = chords[first + lane];
      for (std::size_t end = 0; end < 2; ++end) {
        chord.root[end] = solved.chord.root[end][l];
        chord.place[end] = solved.chord.place[end][l];
      }
      crosses[first + lane] = solved.crosses[l] ? 1 : 0;
    }
  }
}

void append_edge_sdf_contacts(const EdgeSdfQuery& query, std::span<const int> selected, double reach,
                              EdgeSdfScratch& scratch, ContactList& contacts) {
  const ShapeSdf& sdf = *query.sdf;
  const Pose<double> X_SO = query.X_WS.inverse() * query.X_WO;
  const double union_depth = sdf.smoothing() * std::log(static_cast<double>(std::max(1, sdf.added())));
  const Vec3<double> grown = Vec3<double>::Constant(
      sdf.distance_ratio() * (query.settings.level + query.settings.radius + union_depth));
  const auto is_near = [&](const Eigen::AlignedBox3d& box, const Vec3<double>& a, const Vec3<double>& b) {
    return (a.cwiseMax(b).array() >= (box.min() - grown).array()).all() &&
           (a.cwiseMin(b).array() <= (box.max() + grown).array()).all();
  };
  const auto is_near_a_part = [&](const Vec3<double>& a, const Vec3<double>& b) {
    for (int i = 0; i < sdf.added(); ++i) {
      if (is_near(sdf.box_of_primitive(static_cast<std::size_t>(i)), a, b)) return true;
    }
    return false;
  };
  scratch.candidates.clear();
  scratch.starts.clear();
  scratch.ends.clear();
  const std::size_t count = selected.empty() ? query.edges.size() : selected.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = selected.empty() ? i : static_cast<std::size_t>(selected[i]);
    const MeshEdge& edge = query.edges[index];
    const Vec3<double> a = X_SO * Vec3<double>(query.vertices->col(edge.start)),
                       b = X_SO * Vec3<double>(query.vertices->col(edge.end));
    if (!is_near(sdf.bounds(), a, b) || !is_near_a_part(a, b)) continue;
    scratch.candidates.push_back(static_cast<int>(index));
    scratch.starts.push_back(a);
    scratch.ends.push_back(b);
  }
  for (std::size_t first = 0; first < scratch.starts.size(); first += k_lanes) {
    const LaneEdges edges = load(scratch.starts, scratch.ends, first);
    const LaneChords solved = solve_lanes(sdf, edges, query.settings);
    if (!any(solved.crosses)) continue;
    for (int end = 0; end < 2; ++end) {
      const EdgeSdfContact<Lanes> found =
          edge_sdf_contact<Lanes, Lanes>(sdf, edges.a, edges.b, query.settings, solved.chord, end);
      for (std::size_t lane = 0; lane < k_lanes && first + lane < scratch.starts.size(); ++lane) {
        const int l = static_cast<int>(lane);
        const EdgeSdfContact<double> contact = lane_of(found, l);
        if (!solved.crosses[l] || !(contact.distance < reach)) continue;
        if (!(contact.activity > 0.0) && contact.distance < 4.0 * query.settings.tau) continue;
        contacts.push_back(oriented(query, scratch.candidates[first + lane], end, contact));
      }
    }
  }
}

void linearize_edge_sdf(const EdgeSdfQuery& query, std::span<const ContactFeature> features,
                        EdgeSdfScratch& scratch, ContactList& contacts, std::size_t begin,
                        std::vector<EdgeSdfLinearization>& linearizations) {
  const ShapeSdf& sdf = *query.sdf;
  const Pose<double> X_SW = query.X_WS.inverse();
  linearizations.assign(features.size(), EdgeSdfLinearization{});
  scratch.starts.resize(features.size());
  scratch.ends.resize(features.size());
  for (std::size_t i = 0; i < features.size(); ++i) {
    const int index = std::max(features[i].feature_A, features[i].feature_B);
    EdgeSdfLinearization& at = linearizations[i];
    at.edge = index / 2;
    at.end = index % 2;
    at.sign = query.owner < query.solid ? -1.0 : 1.0;
    at.settings = query.settings;
    at.R_WS = query.X_WS.rotation();
    const MeshEdge& edge = query.edges[static_cast<std::size_t>(at.edge)];
    at.arm_a = query.X_WO.q * Vec3<double>(query.vertices->col(edge.start));
    at.arm_b = query.X_WO.q * Vec3<double>(query.vertices->col(edge.end));
    at.arm_Sa = at.arm_a + query.X_WO.p - query.X_WS.p;
    at.arm_Sb = at.arm_b + query.X_WO.p - query.X_WS.p;
    scratch.starts[i] = at.a = X_SW.q * at.arm_Sa;
    scratch.ends[i] = at.b = X_SW.q * at.arm_Sb;
  }
  solve_edge_chords(sdf, scratch.starts, scratch.ends, query.settings, scratch.chords, scratch.crosses);

  const EdgeSdfSettings& settings = query.settings;
  for (std::size_t i = 0; i < features.size(); ++i) {
    EdgeSdfLinearization& at = linearizations[i];
    at.crosses = scratch.crosses[i] != 0;
    if (!at.crosses) {
      at.contact.point = 0.5 * (at.a + at.b);
      at.contact.distance = settings.level;
      at.contact.normal.setZero();
      at.contact.weight = at.contact.activity = 0.0;
      contacts.set(begin + i, oriented(query, at.edge, at.end, at.contact));
      continue;
    }
    const EdgeChord<double>& chord = scratch.chords[i];
    const Vec3<double> vector = at.b - at.a;
    at.length = vector.norm();
    at.u = vector / at.length;

    // The ends and the roots, in one pack.
    alignas(64) double lanes[3][k_lanes];
    const std::array<Vec3<double>, k_lanes> places{at.a, at.b, at.a + chord.root[0] * vector,
                                                   at.b - chord.root[1] * vector};
    for (std::size_t lane = 0; lane < k_lanes; ++lane) {
      for (int axis = 0; axis < 3; ++axis) lanes[axis][lane] = places[lane][axis];
    }
    const SdfSample<Lanes> samples =
        sdf.evaluate<Lanes>({Lanes::load(lanes[0]), Lanes::load(lanes[1]), Lanes::load(lanes[2])});
    const auto gradient_of = [&](int lane) {
      return Vec3<double>(samples.gradient[0][lane], samples.gradient[1][lane], samples.gradient[2][lane]);
    };
    for (std::size_t side = 0; side < 2; ++side) {
      const int lane = static_cast<int>(side);
      const double fade = 1.0 / (4.0 * settings.tau);
      const double place = (samples.distance[lane] - settings.radius - settings.level) * fade;
      at.share[side] = smoothstep5(place);
      at.share_slope[side] = smoothstep5_dx(place) * fade;
      at.end_gradient[side] = gradient_of(lane);
      at.root_gradient[side] = gradient_of(lane + 2);
      at.root[side] = chord.root[side];
      at.root_slope[side] = at.share[side] > 0.0 ? at.root_gradient[side].dot(vector) : 0.0;
    }
    at.t_a = at.share[0] * at.root[0];
    at.L = 1.0 - at.share[1] * at.root[1] - at.t_a;
    const double s = chord.place[static_cast<std::size_t>(at.end)];
    at.w = chord_share(s);
    at.w_ds = chord_share_ds(s);
    at.x = at.a + (at.t_a + at.L * at.w) * vector;

    const SdfSampleJacobian<double> sample = sdf.evaluate_jacobian<double>(at.x);
    at.gradient = sample.gradient;
    at.n = sample.normal;
    at.N = sample.normal_jacobian;
    at.place_slope = settings.pull + at.L * at.w_ds * at.length * at.u.dot(at.N * at.u);
    const double fade_squared = settings.fade * settings.fade;
    at.m = at.n - at.u.dot(at.n) * at.u;
    at.p = at.m.squaredNorm();
    at.scale = std::sqrt((1.0 + fade_squared) / (at.p + fade_squared));
    EdgeSdfContact<double>& contact = at.contact;
    contact.distance = sample.distance - settings.radius;
    contact.normal = at.scale * at.m;
    contact.point = at.x - (settings.radius + 0.5 * contact.distance) * contact.normal;
    const double depth = 0.5 - contact.distance / (8.0 * settings.tau);
    at.depth_activity = smoothstep5(depth);
    at.depth_activity_slope = -smoothstep5_dx(depth) / (8.0 * settings.tau);
    contact.weight = at.share[static_cast<std::size_t>(at.end)] * at.p * at.L;
    contact.activity = at.depth_activity * contact.weight;
    at.arm_S = at.R_WS * contact.point;
    contacts.set(begin + i, oriented(query, at.edge, at.end, contact));
  }
}

namespace {

/// d(outputs in S) for motions of the two ends in S.
EdgeSdfContact<double> jvp_in_solid(const EdgeSdfLinearization& at, const Vec3<double>& da,
                                    const Vec3<double>& db) {
  const Vec3<double> vector = at.b - at.a, dvector = db - da;
  const double length_change = at.u.dot(dvector);
  const Vec3<double> du = (dvector - length_change * at.u) / at.length;
  const auto end = static_cast<std::size_t>(at.end);
  const std::array<double, 2> dshare{at.share_slope[0] * at.end_gradient[0].dot(da),
                                     at.share_slope[1] * at.end_gradient[1].dot(db)};
  std::array<double, 2> droot{};
  if (at.root_slope[0] != 0.0)
    droot[0] = -at.root_gradient[0].dot(da + at.root[0] * dvector) / at.root_slope[0];
  if (at.root_slope[1] != 0.0)
    droot[1] = at.root_gradient[1].dot(db - at.root[1] * dvector) / at.root_slope[1];
  const double dt_a = dshare[0] * at.root[0] + at.share[0] * droot[0];
  const double dL = -dshare[1] * at.root[1] - at.share[1] * droot[1] - dt_a;

  const double t = at.t_a + at.L * at.w;
  const Vec3<double> dx_fixed = da + t * dvector + (dt_a + dL * at.w) * vector;  // with s fixed
  const double ds = -(at.u.dot(at.N * dx_fixed) + du.dot(at.n)) / at.place_slope;
  const Vec3<double> dx = dx_fixed + at.L * at.w_ds * ds * vector;

  EdgeSdfContact<double> d;
  d.distance = at.gradient.dot(dx);
  const Vec3<double> dn = at.N * dx;
  const Vec3<double> dm = dn - (du.dot(at.n) + at.u.dot(dn)) * at.u - at.u.dot(at.n) * du;
  const double dp = 2.0 * at.m.dot(dm), fade_squared = at.settings.fade * at.settings.fade;
  d.normal = at.scale * (dm - 0.5 * dp / (at.p + fade_squared) * at.m);
  d.point =
      dx - 0.5 * d.distance * at.contact.normal - (at.settings.radius + 0.5 * at.contact.distance) * d.normal;
  d.weight = dshare[end] * at.p * at.L + at.share[end] * (dp * at.L + at.p * dL);
  d.activity = at.depth_activity_slope * d.distance * at.contact.weight + at.depth_activity * d.weight;
  return d;
}

}  // namespace

ContactBar edge_sdf_jvp(const EdgeSdfLinearization& at, const Vec6<double>& pose_O,
                        const Vec6<double>& pose_S) {
  ContactBar d;
  if (!at.crosses) return d;
  const Vec3<double> theta_O = pose_O.head<3>(), theta_S = pose_S.head<3>();
  const Vec3<double> relative = pose_O.tail<3>() - pose_S.tail<3>();
  const Mat3<double> R_SW = at.R_WS.transpose();
  const auto in_solid =
      jvp_in_solid(at, R_SW * (relative + theta_O.cross(at.arm_a) - theta_S.cross(at.arm_Sa)),
                   R_SW * (relative + theta_O.cross(at.arm_b) - theta_S.cross(at.arm_Sb)));
  d.signed_distance = in_solid.distance;
  d.weight = in_solid.weight;
  d.activity = in_solid.activity;
  d.normal_AB_W =
      at.sign * (at.R_WS * in_solid.normal + theta_S.cross(Vec3<double>(at.R_WS * at.contact.normal)));
  d.point_W = at.R_WS * in_solid.point + theta_S.cross(at.arm_S) + pose_S.tail<3>();
  return d;
}

Eigen::Matrix<double, 8, 12> edge_sdf_jacobian(const EdgeSdfLinearization& at) {
  Eigen::Matrix<double, 8, 12> J;
  for (int column = 0; column < 12; ++column) {
    const Vec6<double> unit = Vec6<double>::Unit(column % 6), zero = Vec6<double>::Zero();
    const ContactBar d = edge_sdf_jvp(at, column < 6 ? unit : zero, column < 6 ? zero : unit);
    J.col(column) << d.point_W, d.signed_distance, d.normal_AB_W, d.activity;
  }
  return J;
}

void edge_sdf_vjp(const EdgeSdfLinearization& at, const EdgeSdfQuery& query, const ContactBar& bar,
                  Vec6<double>& pose_O_bar, Vec6<double>& pose_S_bar, GeometryGradient* geometry_O,
                  GeometryGradient* geometry_S) {
  if (!at.crosses) return;
  const auto end = static_cast<std::size_t>(at.end);
  const Vec3<double> vector = at.b - at.a;
  const Mat3<double> R_SW = at.R_WS.transpose();
  const Vec3<double> point_bar = R_SW * bar.point_W;
  const double reach = at.settings.radius + 0.5 * at.contact.distance;

  // Outputs to x, phi(x), n(x), u, shares and chord.
  const Vec3<double> normal_bar = at.sign * (R_SW * bar.normal_AB_W) - reach * point_bar;
  const double along_normal = point_bar.dot(at.contact.normal);
  const double distance_bar =
      bar.signed_distance - 0.5 * along_normal + at.depth_activity_slope * at.contact.weight * bar.activity;
  const double weight_bar = bar.weight + at.depth_activity * bar.activity;
  std::array<double, 2> share_bar{}, root_bar{};
  share_bar[end] = weight_bar * at.p * at.L;
  double L_bar = weight_bar * at.share[end] * at.p;
  const double p_bar = weight_bar * at.share[end] * at.L -
                       0.5 * at.scale * at.m.dot(normal_bar) / (at.p + at.settings.fade * at.settings.fade);
  const Vec3<double> m_bar = at.scale * normal_bar + 2.0 * p_bar * at.m;
  Vec3<double> n_bar = m_bar - at.u.dot(m_bar) * at.u;
  Vec3<double> u_bar = -at.u.dot(m_bar) * at.n - at.u.dot(at.n) * m_bar;
  Vec3<double> x_bar = point_bar + distance_bar * at.gradient + at.N.transpose() * n_bar;

  // The place s, by its equation.
  const double s_bar = at.L * at.w_ds * vector.dot(x_bar), mu = -s_bar / at.place_slope;
  n_bar += mu * at.u;
  u_bar += mu * at.n;
  x_bar += mu * (at.N.transpose() * at.u);

  // x = a + (t_a + L w) (b - a), L = 1 - c_b r_b - t_a, t_a = c_a r_a.
  const double t = at.t_a + at.L * at.w, t_bar = vector.dot(x_bar);
  L_bar += at.w * t_bar;
  const double t_a_bar = t_bar - L_bar;
  share_bar[0] += t_a_bar * at.root[0];
  root_bar[0] = t_a_bar * at.share[0];
  share_bar[1] -= L_bar * at.root[1];
  root_bar[1] = -L_bar * at.share[1];
  Vec3<double> vector_bar = t * x_bar + (u_bar - at.u.dot(u_bar) * at.u) / at.length;
  Vec3<double> a_bar = x_bar, b_bar = Vec3<double>::Zero();

  // Roots and shares, by the SDF there.
  std::array<double, 2> end_distance_bar{}, root_distance_bar{};
  for (std::size_t side = 0; side < 2; ++side) {
    end_distance_bar[side] = at.share_slope[side] * share_bar[side];
    if (at.root_slope[side] != 0.0)
      root_distance_bar[side] = (side == 0 ? -1.0 : 1.0) * root_bar[side] / at.root_slope[side];
  }
  a_bar += end_distance_bar[0] * at.end_gradient[0] + root_distance_bar[0] * at.root_gradient[0];
  b_bar += end_distance_bar[1] * at.end_gradient[1] + root_distance_bar[1] * at.root_gradient[1];
  vector_bar += at.root[0] * root_distance_bar[0] * at.root_gradient[0] -
                at.root[1] * root_distance_bar[1] * at.root_gradient[1];
  a_bar -= vector_bar;
  b_bar += vector_bar;

  const Vec3<double> a_W_bar = at.R_WS * a_bar, b_W_bar = at.R_WS * b_bar;
  pose_O_bar += stack<double>(at.arm_a.cross(a_W_bar) + at.arm_b.cross(b_W_bar), a_W_bar + b_W_bar);
  const Vec3<double> n_W = at.R_WS * at.contact.normal;
  pose_S_bar += stack<double>(at.arm_S.cross(bar.point_W) + at.sign * n_W.cross(bar.normal_AB_W) -
                                  at.arm_Sa.cross(a_W_bar) - at.arm_Sb.cross(b_W_bar),
                              bar.point_W - a_W_bar - b_W_bar);
  std::array<Vec3<double>, 2> end_points{at.a, at.b},
      root_points{Vec3<double>(at.a + at.root[0] * vector), Vec3<double>(at.b - at.root[1] * vector)};
  if (geometry_O != nullptr) {
    const MeshEdge& edge = query.edges[static_cast<std::size_t>(at.edge)];
    geometry_O->contact_points.col(edge.start) += query.X_WO.q.conjugate() * a_W_bar;
    geometry_O->contact_points.col(edge.end) += query.X_WO.q.conjugate() * b_W_bar;
    geometry_O->contact_radius -= along_normal + distance_bar;
    for (std::size_t side = 0; side < 2; ++side)
      geometry_O->contact_radius -= end_distance_bar[side] + root_distance_bar[side];
  }
  if (geometry_S == nullptr) return;
  const auto add = [&](const Vec3<double>& x, double of_distance, const Vec3<double>& of_normal) {
    query.sdf->parameter_vjp(x, of_distance, of_normal, geometry_S->primitives);
  };
  const Vec3<double> none = Vec3<double>::Zero();
  add(at.x, distance_bar, n_bar);
  for (std::size_t side = 0; side < 2; ++side) {
    if (end_distance_bar[side] != 0.0) add(end_points[side], end_distance_bar[side], none);
    if (root_distance_bar[side] != 0.0) add(root_points[side], root_distance_bar[side], none);
  }
}

}  // namespace abut
