/// Edge-SDF contacts: two where an edge of one body runs through the other's solid, and their derivatives.
///
/// An edge e(t) = a + t (b - a), t in [0, 1], of the owner O in the frame of the solid S, whose signed
/// distance function is phi; r the owner's contact radius, d_e(t) = phi(e(t)) - r, u = (b - a)/|b - a|:
///   shares   c_a = S((d_e(0) - l)/(4 tau)),   c_b = S((d_e(1) - l)/(4 tau)),   S = smoothstep5, l = 6 tau_p
///   roots    d_e(r_a) = l closest to a,   d_e(1 - r_b) = l closest to b
///   chord    t_a = c_a r_a,   t_b = 1 - c_b r_b,   L = t_b - t_a
///   points   t = t_a + L w(s),   w(s) = (1 + s/sqrt(1 + s^2))/2,
///            with s from   u.n(e(t)) + kappa (s -+ q) = 0,
///            q = 1/sqrt(2): without the first term the two Gauss-Legendre points of the chord
///   normal   m = n - u (u.n),   p = |m|^2,   n_e = m sqrt(1 + eta^2)/sqrt(p + eta^2)
///   distance d = d_e(t),   point = e(t) - (r + d/2) n_e
///   activity S(1/2 - d/(8 tau_p)) c p L,   c = c_a for the contact nearer to a, c_b for the other
///
/// Why this form. The roots are well conditioned where the edge crosses the surface, but there d is the same
/// everywhere: depth and normal have to be taken inside the chord. The deepest point alone, argmin d_e, holds
/// a ridge but is anywhere on a flat face, where one point could not carry a moment either. Two Gauss points
/// integrate a pressure that is linear along the chord, and its moment, exactly: they support a plank that
/// lies across a box. On a ridge they would miss the crest and report half the depth, so each is the minimum
/// of distance plus a pull to its Gauss point: small slopes hardly move it, the two flanks of a ridge send
/// both points to the crest. The minimum is taken of the gauge, whose gradient has the direction of n: that
/// needs only what the SDF gives (n, dn/dx and dL/dn by shape), no second derivatives of phi. The normal of
/// an edge is perpendicular to it; what n has along the edge is removed, so that errors of t hardly turn it.
///
/// Nothing is counted twice, and all is continuously differentiable:
///   - An end inside the solid belongs to the vertex contact there: its share is 0 before the end comes near.
///     A crossed end has the share 1. Where the edge is deepest at such an end, u is along n and p goes to 0.
///   - The chord is that of the level l > 4 tau_p, so it is there before any activity is, and its two ends
///     part and meet only where the activity is 0: d > 4 tau_p near them.
///   - L makes the activity a share of the edge's area, so splitting an edge changes nothing but the
///     quadrature.
/// Not smooth: where the solid is not convex along the edge, another part of it may take over as the first
/// one met from an end; outputs then jump. An edge is not seen before it comes within l of the solid.
///
/// @see  The entry and exit parameters, their derivative -(grad phi)/(grad phi.(b - a)) and the regularised
///       minimum follow arXiv 2604.17538 in outline; shares, quadrature and normal are ours.
#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "collision/manifold/contact_list.h"
#include "collision/manifold/geometry_gradient.h"
#include "collision/manifold/mesh_edges.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/contact_config.h"
#include "engine/pose.h"
#include "engine/smooth.h"
#include "engine/types.h"

namespace abut {

/// ContactConfig, made ready for one body's edges against the other's solid.
struct EdgeSdfSettings {
  double tau = 0;     ///< tau_p [m]
  double level = 0;   ///< l [m], > 4 tau_p
  double radius = 0;  ///< r [m]
  double pull = 0;    ///< kappa [-]
  double fade = 0;    ///< eta [-]

  EdgeSdfSettings() = default;
  /// @param size    of the smaller body of the pair [m]
  /// @param contact_radius  of the owner [m]
  EdgeSdfSettings(const ContactConfig& config, double size, double contact_radius)
      : tau(config.activity_smoothing * size),
        level(6.0 * tau),
        radius(contact_radius),
        pull(config.chord_pull),
        fade(config.normal_fade) {}
};

/// What is solved for, for one edge. `S` is double or a Pack.
template <typename S>
struct EdgeChord {
  std::array<S, 2> root;   ///< r_a, r_b; 0 where the share is
  std::array<S, 2> place;  ///< s of the contact nearer to a and of that nearer to b
};

/// A contact in the frame of the solid, its normal out of the solid.
template <typename S>
struct EdgeSdfContact {
  Vec3<S> point;   ///< [m]
  S distance;      ///< d [m]
  Vec3<S> normal;  ///< n_e
  S weight;        ///< c p L [-]
  S activity;      ///< [-]
};

/// Index of a contact in ContactFeature: two for each edge, end 0 nearer to its start, end 1 to its end.
[[nodiscard]] constexpr int edge_sdf_feature(int edge, int end) { return 2 * edge + end; }
[[nodiscard]] constexpr int edge_of_feature(int feature) { return feature / 2; }

namespace edge_sdf_detail {

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S dot3(const Vec3<S>& a, const Vec3<S>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> along(const Vec3<S>& a, const Vec3<S>& vector, const S& t) {
  return {a[0] + t * vector[0], a[1] + t * vector[1], a[2] + t * vector[2]};
}

/// w(s), and dw/ds below.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S chord_share(const S& s) {
  using std::sqrt;
  return S(0.5) * (S(1) + s / sqrt(S(1) + s * s));
}
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S chord_share_ds(const S& s) {
  using std::sqrt;
  const S square = S(1) + s * s;
  return S(0.5) / (square * sqrt(square));
}

/// -+ q.
[[nodiscard]] constexpr double gauss_place(int end) {
  return end == 0 ? -0.5 * std::numbers::sqrt2 : 0.5 * std::numbers::sqrt2;
}

}  // namespace edge_sdf_detail

/// The contact at `end` of an edge from a to b (in S) whose chord has been solved for. The roots and the
/// place take one Newton step more, on S: with it they, and derivatives that S carries, are right to the
/// second order of their error.
template <typename S, typename V>
[[nodiscard]] EdgeSdfContact<S> edge_sdf_contact(const ShapeSdf& sdf, const Vec3<S>& a, const Vec3<S>& b,
                                                 const EdgeSdfSettings& settings, const EdgeChord<V>& chord,
                                                 int end) {
  using namespace edge_sdf_detail;
  using std::sqrt;
  const Vec3<S> vector(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
  const S length = sqrt(dot3(vector, vector)), inverse_length = S(1) / length;
  const Vec3<S> u(vector[0] * inverse_length, vector[1] * inverse_length, vector[2] * inverse_length);
  const S level(settings.level + settings.radius), fade_width(1.0 / (4.0 * settings.tau));

  const auto share = [&](const Vec3<S>& x) {
    return smoothstep5<S>((sdf.distance<S>(x) - level) * fade_width);
  };
  const auto newton = [&](const V& root, const S& sign) {  // of the distance from either end
    const S r(root), t = select(sign > S(0), r, S(1) - r);
    const SdfSample<S> at = sdf.evaluate<S>(along(a, vector, t));
    return r - (at.distance - level) / (sign * dot3(at.gradient, vector));
  };
  const S share_a = share(a), share_b = share(b);
  const S root_a = select(share_a > S(0), newton(chord.root[0], S(1)), S(0));
  const S root_b = select(share_b > S(0), newton(chord.root[1], S(-1)), S(0));
  const S t_a = share_a * root_a, L = S(1) - share_b * root_b - t_a;

  const auto side = static_cast<std::size_t>(end);
  S s(chord.place[side]);
  {
    const SdfSampleJacobian<S> at = sdf.evaluate_jacobian<S>(along(a, vector, S(t_a + L * chord_share(s))));
    const Vec3<S>& n = at.normal;
    const Mat3<S>& N = at.normal_jacobian;
    S curvature(0);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) curvature = curvature + u[i] * N(i, j) * u[j];
    }
    const S residual = dot3(u, n) + S(settings.pull) * (s - S(gauss_place(end)));
    s = s - residual / (S(settings.pull) + L * chord_share_ds(s) * length * curvature);
  }

  const Vec3<S> x = along(a, vector, S(t_a + L * chord_share(s)));
  const SdfNormal<S> at = sdf.evaluate_normal<S>(x);
  const S q = dot3(u, at.normal), fade_squared(settings.fade * settings.fade);
  const Vec3<S> m(at.normal[0] - u[0] * q, at.normal[1] - u[1] * q, at.normal[2] - u[2] * q);
  const S p = dot3(m, m), scale = sqrt((S(1) + fade_squared) / (p + fade_squared));
  EdgeSdfContact<S> contact;
  contact.distance = at.distance - S(settings.radius);
  contact.normal = Vec3<S>(m[0] * scale, m[1] * scale, m[2] * scale);
  contact.point = along(x, contact.normal, S(-(S(settings.radius) + S(0.5) * contact.distance)));
  contact.weight = (end == 0 ? share_a : share_b) * p * L;
  contact.activity = smoothstep5<S>(S(0.5) - contact.distance * S(0.125 / settings.tau)) * contact.weight;
  return contact;
}

/// Edges of one body against the solid of another, at given poses.
struct EdgeSdfQuery {
  const ShapeSdf* sdf = nullptr;     ///< of the solid
  std::span<const MeshEdge> edges;   ///< of the owner
  const Points* vertices = nullptr;  ///< of the owner, (3, n) in O [m]
  int owner = -1, solid = -1;        ///< bodies; A of the contacts is the lower one
  Pose<double> X_WO, X_WS;
  EdgeSdfSettings settings;
};

/// First derivatives of a contact: what its JVP and VJP need. In the frame of the solid, but for the arms.
struct EdgeSdfLinearization {
  bool crosses = false;  ///< otherwise everything is 0
  int edge = -1, end = 0;
  double sign = 1;  ///< normal_AB = sign * n_e: +1 if the owner is B
  EdgeSdfSettings settings;
  Vec3<double> a, b, u;                          ///< ends, direction
  double length = 0;                             ///< |b - a| [m]
  std::array<double, 2> share{}, share_slope{};  ///< c and dc/dd_e [1/m] of the two ends
  std::array<double, 2> root{}, root_slope{};    ///< r and grad phi.(b - a) [m] there; slope 0 where unused
  std::array<Vec3<double>, 2> end_gradient, root_gradient;  ///< dphi/dx at the ends and at the roots
  double t_a = 0, L = 0, w = 0, w_ds = 0;
  Vec3<double> x, gradient, n;  ///< e(t), dphi/dx and the SDF's normal there
  Mat3<double> N;               ///< dn/dx
  double place_slope = 1;       ///< d(u.n + kappa s)/ds
  Vec3<double> m;
  double p = 0, scale = 0;
  EdgeSdfContact<double> contact;
  double depth_activity = 0, depth_activity_slope = 0;  ///< S(1/2 - d/(8 tau_p)), and by d [1/m]
  Mat3<double> R_WS;
  Vec3<double> arm_a, arm_b;    ///< ends in W, from the owner's origin
  Vec3<double> arm_S;           ///< contact point in W, from the solid's origin
  Vec3<double> arm_Sa, arm_Sb;  ///< ends in W, from the solid's origin
};

/// Scratch of one thread; allocates only while it grows.
struct EdgeSdfScratch {
  std::vector<int> candidates;
  std::vector<Vec3<double>> starts, ends;
  std::vector<EdgeChord<double>> chords;
  std::vector<char> crosses;
};

/// Solves for the chords of edges (a, b given in S); crosses[i] tells whether edge i has one, i.e. comes
/// within the level of the solid. Four edges at a time; an edge's chord does not depend on the others.
void solve_edge_chords(const ShapeSdf& sdf, std::span<const Vec3<double>> starts,
                       std::span<const Vec3<double>> ends, const EdgeSdfSettings& settings,
                       std::vector<EdgeChord<double>>& chords, std::vector<char>& crosses);

/// Appends the contacts of the given edges (all, if `selected` is empty) whose distance is below `reach` [m]
/// and whose activity would not be 0 for another distance. Area: half that of the edge.
void append_edge_sdf_contacts(const EdgeSdfQuery& query, std::span<const int> selected, double reach,
                              EdgeSdfScratch& scratch, ContactList& contacts);

/// Contacts of features (kind edge_sdf, of this pair and owner), from the place `begin` on, with their first
/// derivatives. Where the edge does not come near the solid any more: at its middle, distance = level,
/// without normal and activity.
void linearize_edge_sdf(const EdgeSdfQuery& query, std::span<const ContactFeature> features,
                        EdgeSdfScratch& scratch, ContactList& contacts, std::size_t begin,
                        std::vector<EdgeSdfLinearization>& linearizations);

/// d(outputs of a contact) for left perturbations [rotation; translation] of the poses of owner and solid.
[[nodiscard]] ContactBar edge_sdf_jvp(const EdgeSdfLinearization& at, const Vec6<double>& pose_O,
                                      const Vec6<double>& pose_S);

/// (8, 12): rows point (3), signed distance, normal from A to B (3), activity; columns pose of owner, of
/// solid.
[[nodiscard]] Eigen::Matrix<double, 8, 12> edge_sdf_jacobian(const EdgeSdfLinearization& at);

/// Adds dL/d(poses) and, unless null, dL/d(geometry), given dL/d(outputs of a contact).
void edge_sdf_vjp(const EdgeSdfLinearization& at, const EdgeSdfQuery& query, const ContactBar& bar,
                  Vec6<double>& pose_O_bar, Vec6<double>& pose_S_bar, GeometryGradient* geometry_O = nullptr,
                  GeometryGradient* geometry_S = nullptr);

}  // namespace abut
