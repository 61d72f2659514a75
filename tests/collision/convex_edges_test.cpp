#include "collision/manifold/convex_edges.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "engine/pack.h"
#include "engine/pose.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace abut {
namespace {

using test::close;

constexpr int k_edge_numbers = 13;
/// Two edges and two radii.
template <typename S>
using PairNumbers = Eigen::Matrix<S, 2 * k_edge_numbers + 2, 1>;

template <typename S, typename Numbers>
ConvexEdge<S> edge_from(const Numbers& x, int first) {
  ConvexEdge<S> edge;
  for (int i = 0; i < 3; ++i) {
    edge.start[i] = S(x[first + i]);
    edge.direction[i] = S(x[first + 3 + i]);
    edge.face_normals[0][i] = S(x[first + 7 + i]);
    edge.face_normals[1][i] = S(x[first + 10 + i]);
  }
  edge.length = S(x[first + 6]);
  return edge;
}

template <typename Numbers>
void write_edge(const ConvexEdge<double>& edge, int first, Numbers& x) {
  x.template segment<3>(first) = edge.start;
  x.template segment<3>(first + 3) = edge.direction;
  x[first + 6] = edge.length;
  x.template segment<3>(first + 7) = edge.face_normals[0];
  x.template segment<3>(first + 10) = edge.face_normals[1];
}

ConvexEdgeSettings<double> edge_settings() { return {ContactConfig(), 1.0, 0.1}; }

/// An edge through a point, between faces whose normals are `arc` apart.
ConvexEdge<double> edge_through(Random& random, const Vec3<double>& point, const Vec3<double>& direction,
                                double length, double arc) {
  const Vec3<double> u = random.unit_vector();
  const Vec3<double> first = (u - direction * direction.dot(u)).normalized();
  return {point - random.uniform() * length * direction,
          direction,
          length,
          {first, std::cos(arc) * first + std::sin(arc) * direction.cross(first)}};
}

struct TwoEdges {
  ConvexEdge<double> A, B;
  double radii[2];
};

EdgeEdge<double> contact_of(const TwoEdges& edges) {
  return edge_edge<double>(edges.A, edges.B, edges.radii, edge_settings());
}

/// Two edges near each other with weight: every third pair nearly parallel, half of them with radii.
TwoEdges crossing_edges(Random& random) {
  for (;;) {
    const double spread = std::pow(10.0, random.uniform(-3.0, -1.0));
    const auto length = [&] { return std::pow(10.0, random.uniform(-2.5, 0.0)); };
    const Vec3<double> direction = random.unit_vector();
    Vec3<double> other = random.unit_vector();
    if (random.uniform() < 0.33) {
      other = (direction + std::pow(10.0, random.uniform(-2.2, -1.0)) * other).normalized();
    }
    TwoEdges edges{
        edge_through(random, spread * random.unit_vector(), direction, length(), random.uniform(0.1, 3.1)),
        edge_through(random, spread * random.unit_vector(), other, length(), random.uniform(0.1, 3.1)),
        {0.0, 0.0}};
    if (random.uniform() < 0.5) {
      for (double& radius : edges.radii) radius = random.uniform(0.0, 0.02);
    }
    if (contact_of(edges).weight > 1e-6) return edges;
  }
}

/// A signed distance function without corners, for the gates.
struct Field {
  Vec3<double> slope;
  double level;

  template <typename S>
  S at(const Vec3<S>& x) const {
    S r = S(level);
    for (int i = 0; i < 3; ++i) r = r + S(slope[i]) * x[i] + S(0.1) * x[i] * x[i];
    return r;
  }
  Vec3<double> gradient(const Vec3<double>& x) const { return slope + 0.2 * x; }
};

/// Point, distance, normal and weight with both gates.
template <typename S>
Eigen::Matrix<S, 8, 1> contact_numbers(const PairNumbers<S>& x, const Field (&fields)[2]) {
  const S radii[2] = {x[26], x[27]};
  const EdgeEdge<S> pair =
      edge_edge<S>(edge_from<S>(x, 0), edge_from<S>(x, k_edge_numbers), radii, edge_settings());
  const S distances[2] = {fields[0].at(pair.probe) + radii[0], fields[1].at(pair.probe) + radii[1]};
  Eigen::Matrix<S, 8, 1> r;
  r << pair.point, pair.distance, pair.normal,
      pair.weight * edge_gates<S>(gate_input(pair), distances, edge_settings()).both;
  return r;
}

PairNumbers<double> numbers_of(const TwoEdges& edges) {
  PairNumbers<double> x;
  write_edge(edges.A, 0, x);
  write_edge(edges.B, k_edge_numbers, x);
  x[26] = edges.radii[0];
  x[27] = edges.radii[1];
  return x;
}

ConvexEdge<double> moved_edge(const ConvexEdge<double>& edge, const Pose<double>& X) {
  return {X * edge.start,
          X.q * edge.direction,
          edge.length,
          {X.q * edge.face_normals[0], X.q * edge.face_normals[1]}};
}

/// The edge moved along itself so that the other line crosses it `from_start` after its start, seen along the
/// normal [m].
ConvexEdge<double> crossed_at(const ConvexEdge<double>& edge, const EdgeWindow<double>& window, double sine,
                              double from_start) {
  ConvexEdge<double> moved = edge;
  moved.start += (window.alpha * edge.length - from_start / sine) * edge.direction;
  return moved;
}

/// Where a line lies in the wedge of an edge, along it from its start [m].
struct LineInWedge {
  double begin = -1e30, end = 1e30;
};

LineInWedge line_in_wedge(const ConvexEdge<double>& line, const ConvexEdge<double>& edge) {
  LineInWedge in;
  for (const Vec3<double>& f : edge.face_normals) {
    const double slope = f.dot(line.direction), crossing = f.dot(edge.start - line.start) / slope;
    if (slope > 0.0) {
      in.end = std::min(in.end, crossing);
    } else {
      in.begin = std::max(in.begin, crossing);
    }
  }
  return in;
}

}  // namespace

TEST_CASE("edge_edge: the distance is that of the lines, the witness points are their crossing",
          "[collision][value]") {
  Random random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const TwoEdges edges = crossing_edges(random);
    const EdgeEdge<double> pair = contact_of(edges);
    CAPTURE(trial, pair.distance, pair.sine);
    CHECK(close(pair.normal.norm(), 1.0, 1e-14, 0.0));
    CHECK(std::abs(pair.normal.dot(edges.A.direction)) < 1e-12 / pair.sine);
    CHECK(std::abs(pair.normal.dot(edges.B.direction)) < 1e-12 / pair.sine);
    CHECK(pair.normal.dot(pair.bisectors[0].b) > 0.0);
    CHECK(pair.normal.dot(pair.bisectors[1].b) < 0.0);
    const Vec3<double> gap = pair.witnesses[1] - pair.witnesses[0];
    CHECK(close(gap, Vec3<double>(pair.line_distance * pair.normal), 0.0, 1e-12 / pair.sine));
    CHECK(close(pair.distance, pair.line_distance - edges.radii[0] - edges.radii[1], 1e-14, 1e-16));
  }
}

TEST_CASE("edge_edge: a contact ends just beyond an edge, and is whole from the fade on",
          "[collision][property]") {
  Random random(2);
  const double w = ContactConfig().edge_smoothing;
  int long_edges = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    TwoEdges edges = crossing_edges(random);
    const EdgeEdge<double> pair = contact_of(edges);
    if (pair.depth * pair.entries[1].ratio != 0.0) continue;  // of A, into the wedge of B
    const ConvexEdge<double> edge = edges.A;
    const double across = pair.sine * edge.length, fade = 1.0 / (1.0 / w + 2.0 / across);
    const auto window_at = [&](double from_start) {
      edges.A = crossed_at(edge, pair.windows[0], pair.sine, from_start);
      return contact_of(edges).windows[0].weight;
    };
    const WindowReach<double> reach(edge, edges.B);
    CAPTURE(trial, pair.sine, across, fade, reach.at_end[0], reach.at_end[1]);
    for (const double beyond : {1e-9, 0.1 * fade, fade, across}) {
      CHECK(window_at(-reach.at_end[0] * fade / k_window_rate - beyond) == 0.0);
      CHECK(window_at(across + reach.at_end[1] * fade / k_window_rate + beyond) == 0.0);
    }
    for (const double share : {0.0, 0.02, 0.2, 0.5, 0.9}) {
      CHECK(
          close(window_at(share * fade), smoothstep5(reach.at_end[0] + k_window_rate * share), 1e-8, 1e-10));
      CHECK(close(window_at(across - share * fade), smoothstep5(reach.at_end[1] + k_window_rate * share),
                  1e-8, 1e-10));
    }
    for (const double share : {0.0, 0.3, 0.5, 1.0})
      CHECK(close(window_at(fade + share * (across - 2.0 * fade)), 1.0, 1e-9, 0.0));
    long_edges += across > 4.0 * w;
  }
  CHECK(long_edges > 100);
}

TEST_CASE("edge_edge: what overlaps by less than a step is no contact, what ends on the same side is one",
          "[collision][value]") {
  // The upper edge of a table at x > 0, z < 0, along y.
  const ConvexEdge<double> top{{0.0, -0.5, 0.0}, {0.0, 1.0, 0.0}, 1.0, {{-1.0, 0.0, 0.0}, {0.0, 0.0, 1.0}}};
  const double w = ContactConfig().edge_smoothing;
  const auto weight = [&](const ConvexEdge<double>& edge) {
    return contact_of({edge, top, {0.0, 0.0}}).weight;
  };
  // An upright edge of a box that comes along x, with its lower end below the top.
  const auto upright = [&](double below) {
    return weight({{-1e-4, 0.0, -below}, {0.0, 0.0, 1.0}, 0.3, {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}});
  };
  for (const double below : {-0.1 * w, 0.0, 0.01 * w, 0.02 * w}) CHECK(upright(below) == 0.0);
  CHECK(upright(0.1 * w) > 1e-4);
  CHECK(upright(0.5 * w) > 0.1);
  // A lower edge of a box that lies on the table, with its end beside that of the table.
  const auto lying = [&](double beyond) {
    return weight({{-beyond, 0.0, 1e-4}, {1.0, 0.0, 0.0}, 0.3, {{0.0, 0.0, -1.0}, {0.0, 1.0, 0.0}}});
  };
  for (const double beyond : {-0.05 * w, 0.0, 0.02 * w}) CHECK(lying(beyond) > 0.0);
  CHECK(lying(-0.3 * w) == 0.0);
}

TEST_CASE("edge_edge: an edge enters a narrow wedge where its line does, and a wide one at the crossing",
          "[collision][value]") {
  Random random(8);
  int narrow = 0, wide = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const TwoEdges edges = crossing_edges(random);
    const EdgeEdge<double> pair = contact_of(edges);
    const ConvexEdge<double>* const both[2] = {&edges.A, &edges.B};
    const double farthest = k_farthest_entry * edge_settings().deepest;
    if (!(pair.line_distance < -0.5 * edge_settings().band)) continue;  // delta = -d_0 from there on
    for (int b = 0; b < 2; ++b) {
      const ConvexEdge<double>&edge = *both[b], &other = *both[1 - b];
      const LineInWedge in = line_in_wedge(edge, other);
      const double at_crossing = pair.windows[b].alpha * edge.length,
                   entry = pair.windows[b].entry * edge.length;
      if (in.begin >= in.end) continue;  // the normal is beyond the cone
      const double exact = std::clamp(at_crossing, in.begin, in.end), shift = std::abs(exact - at_crossing);
      CAPTURE(trial, b, pair.sine, pair.depth, at_crossing, entry, exact);
      double sharpest = 0.0, bluntest = 1.0;  // cosines of n and the faces
      for (const Vec3<double>& f : other.face_normals) {
        const double cosine = f.dot(b == 0 ? Vec3<double>(-pair.normal) : pair.normal);
        sharpest = std::min(sharpest, cosine);
        bluntest = std::min(bluntest, std::abs(cosine));
      }
      if (sharpest < -0.9 || shift > 0.7 * farthest) continue;  // beyond the smooth form, the cap
      if (shift == 0.0) {
        ++wide;
        CHECK(std::abs(entry - at_crossing) <= 0.01 * pair.depth / pair.sine);  // 5/32 of the ramp
        if (bluntest > k_entry_ramp) CHECK(close(entry, at_crossing, 1e-14, 1e-14));
      } else {
        ++narrow;
        CHECK(std::abs(entry - exact) <= 0.03 * shift + 0.01 * pair.depth / pair.sine);
      }
    }
  }
  CHECK(narrow > 100);
  CHECK(wide > 300);
}

TEST_CASE(
    "edge_edge: edges that an edge is bevelled into have its weight in sum, but for the reach of windows",
    "[collision][property]") {
  Random random(9);
  int bevels = 0, at_ends = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const TwoEdges edges = crossing_edges(random);
    const EdgeEdge<double> whole = contact_of(edges);
    // The end of a wide cone is that of each narrow one: k_inverse_cone_end. Narrow wedges are entered elsewhere.
    if (whole.normal.dot(whole.bisectors[1].b) > -0.5 || whole.depth * whole.entries[1].ratio != 0.0)
      continue;
    double bevelled = 0.0;
    const int parts = 2 + static_cast<int>(random.uniform(0.0, 15.0));
    for (int part = 0; part < parts; ++part) {
      const auto between = [&](double share) -> Vec3<double> {
        const Vec3<double>&f = edges.B.face_normals[0], &g = edges.B.face_normals[1];
        const double arc = std::atan2(f.cross(g).norm(), f.dot(g)) * share;
        return std::cos(arc) * f + std::sin(arc) * edges.B.direction.cross(f);
      };
      TwoEdges of_part = edges;
      of_part.B.face_normals[0] = between(static_cast<double>(part) / parts);
      of_part.B.face_normals[1] = between((part + 1.0) / parts);
      bevelled += contact_of(of_part).weight;
    }
    CAPTURE(trial, parts, whole.weight, whole.sine);
    // Where A's ends are near, their reach depends on the faces of the other edge: between both of its bounds.
    const EdgeWindow<double>& window = whole.windows[0];
    const WindowReach<double> reach(edges.A, edges.B);
    const auto with_reach = [&](double k) {
      return whole.weight / window.weight * smoothstep5(window.from_start - reach.at_end[0] + k) *
             smoothstep5(window.from_end - reach.at_end[1] + k);
    };
    const double least = with_reach(-k_least_step), most = with_reach(k_window_reach);
    CHECK(bevelled > least - 1e-9 * whole.weight - 1e-12);
    CHECK(bevelled < most + 1e-9 * whole.weight + 1e-12);
    if (most - least > 1e-12 * most) {
      ++at_ends;
      continue;
    }
    ++bevels;
    CHECK(close(bevelled, whole.weight, 1e-9, 1e-12));
  }
  CHECK(bevels > 300);
  CHECK(at_ends < bevels);
}

TEST_CASE("edge_edge: the edge of a flat face and parallel edges have no weight at all",
          "[collision][value]") {
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    TwoEdges edges = crossing_edges(random);
    TwoEdges flat = edges;
    flat.A.face_normals[1] = flat.A.face_normals[0];
    CHECK(contact_of(flat).weight == 0.0);
    TwoEdges parallel = edges;
    parallel.B.direction = parallel.A.direction;
    CHECK(contact_of(parallel).weight == 0.0);
    CHECK(contact_of(parallel).normal.allFinite());
    CHECK(contact_of(parallel).point.allFinite());
  }
}

TEST_CASE("edge_edge: swapping the edges turns the normal round, and nothing else", "[collision][property]") {
  Random random(4);
  for (int trial = 0; trial < 500; ++trial) {
    const TwoEdges edges = crossing_edges(random),
                   swapped{edges.B, edges.A, {edges.radii[1], edges.radii[0]}};
    const EdgeEdge<double> pair = contact_of(edges), other = contact_of(swapped);
    CHECK(close(other.normal, Vec3<double>(-pair.normal), 0.0, 1e-14));
    CHECK(close(other.distance, pair.distance, 1e-12, 1e-15));
    CHECK(close(other.point, pair.point, 0.0, 1e-13 / pair.sine));
    CHECK(close(other.weight, pair.weight, 1e-10, 1e-14));
    CHECK(close(other.probe, pair.probe, 0.0, 1e-13 / pair.sine));
  }
}

TEST_CASE("edge_edge: moves with the frame", "[collision][property]") {
  Random random(5);
  for (int trial = 0; trial < 500; ++trial) {
    const TwoEdges edges = crossing_edges(random);
    const Pose<double> X = test::random_pose(random);
    const TwoEdges moved{moved_edge(edges.A, X), moved_edge(edges.B, X), {edges.radii[0], edges.radii[1]}};
    const EdgeEdge<double> pair = contact_of(edges), other = contact_of(moved);
    CHECK(close(other.normal, Vec3<double>(X.q * pair.normal), 0.0, 1e-13 / pair.sine));
    CHECK(close(other.point, X * pair.point, 0.0, 1e-12 / pair.sine));
    CHECK(close(other.distance, pair.distance, 0.0, 1e-13 / pair.sine));
    CHECK(close(other.weight, pair.weight, 1e-8, 1e-12));
  }
}

TEST_CASE("edge_edge: VJP agrees with Jet and with differences", "[collision][derivative]") {
  Random random(6);
  double worst_by_jet = 0.0;
  int gated = 0, shifted = 0, resolved = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const TwoEdges edges = crossing_edges(random);
    const EdgeEdge<double> pair = contact_of(edges);
    const Field fields[2] = {{0.05 * random.unit_vector(), random.uniform(-0.01, 0.01)},
                             {0.05 * random.unit_vector(), random.uniform(-0.01, 0.01)}};
    Eigen::Matrix<double, 8, 1> weights;
    for (int i = 0; i < 8; ++i) weights[i] = random.uniform(-1.0, 1.0);
    const PairNumbers<double> x = numbers_of(edges);
    const auto loss = [&](const auto& y) {
      using S = typename std::remove_cvref_t<decltype(y)>::Scalar;
      return S(contact_numbers<S>(y, fields).dot(weights.cast<S>()));
    };
    const PairNumbers<double> by_jet = test::jet_gradient(loss, x);

    const double distances[2] = {fields[0].at(pair.probe) + edges.radii[0],
                                 fields[1].at(pair.probe) + edges.radii[1]};
    const EdgeGates<double> gates = edge_gates<double>(gate_input(pair), distances, edge_settings());
    gated += gates.both > 0.01 && gates.both < 0.99;
    for (int b = 0; b < 2; ++b)
      shifted += pair.windows[b].weight < 0.99 && pair.windows[b].entry != pair.windows[b].alpha;
    EdgeEdgeBar<double> bar;
    bar.point = weights.head<3>();
    bar.distance = weights[3];
    bar.normal = weights.segment<3>(4);
    bar.weight = weights[7] * gates.both;
    bar.probe.setZero();
    for (int b = 0; b < 2; ++b) {
      bar.gates[b] = weights[7] * pair.weight * gates.by_distance[b];
      bar.probe += bar.gates[b] * fields[b].gradient(pair.probe);
    }
    ConvexEdge<double> edges_bar[2];
    double radii_bar[2];
    edge_edge_vjp<double>(edges.A, edges.B, edges.radii, pair, edge_settings(), bar, edges_bar[0],
                          edges_bar[1], radii_bar);
    PairNumbers<double> gradient;
    write_edge(edges_bar[0], 0, gradient);
    write_edge(edges_bar[1], k_edge_numbers, gradient);
    gradient[26] = radii_bar[0];
    gradient[27] = radii_bar[1];
    const double size = by_jet.cwiseAbs().maxCoeff();
    worst_by_jet = std::max(worst_by_jet, (gradient - by_jet).cwiseAbs().maxCoeff() / size);

    if (trial % 30 != 0) continue;
    PairNumbers<double> along;
    for (int i = 0; i < along.size(); ++i) along[i] = random.uniform(-1.0, 1.0);
    const auto on_line = [&](double t) { return loss(PairNumbers<double>(x + t * along)); };
    const auto swept = test::fd_sweep(on_line, 0.0, 1e-3 * pair.sine, 1e-6, 1e-6 * size);
    if (swept.disagrees_with_itself) continue;
    ++resolved;
    CAPTURE(trial, pair.sine, swept.value, gradient.dot(along));
    CHECK(close(gradient.dot(along), swept.value, 1e-5, 1e-5 * size));
  }
  CHECK(worst_by_jet < 1e-11);
  CHECK(gated > 100);
  CHECK(shifted > 30);
  CHECK(resolved > 70);
}

TEST_CASE("edge_edge: packs of either precision agree with single numbers", "[collision][batch]") {
  Random random(7);
  double worst_single = 0.0;
  for (int trial = 0; trial < 300; ++trial) {
    using P = Pack<double, 8>;
    using F = Pack<float, 16>;
    const ConvexEdgeSettings<float> single(ContactConfig(), 1.0, 0.1);
    TwoEdges edges[16];
    PairNumbers<P> x;
    PairNumbers<F> y;
    for (int lane = 0; lane < 16; ++lane) {
      edges[lane] = crossing_edges(random);
      const PairNumbers<double> numbers = numbers_of(edges[lane]);
      for (int i = 0; i < numbers.size(); ++i) {
        if (lane < 8) x[i].set_lane(lane, numbers[i]);
        y[i].set_lane(lane, static_cast<float>(numbers[i]));
      }
    }
    const P radii[2] = {x[26], x[27]};
    const F radii_single[2] = {y[26], y[27]};
    const EdgeEdge<P> pack = edge_edge<P>(edge_from<P>(x, 0), edge_from<P>(x, 13), radii, edge_settings());
    const EdgeEdge<F> pack_single =
        edge_edge<F>(edge_from<F>(y, 0), edge_from<F>(y, 13), radii_single, single);
    for (int lane = 0; lane < 16; ++lane) {
      const EdgeEdge<double> alone = contact_of(edges[lane]);
      if (lane < 8) {
        CHECK(close(pack.weight[lane], alone.weight, 1e-12, 1e-15));
        CHECK(close(pack.distance[lane], alone.distance, 1e-12, 1e-15));
        for (int i = 0; i < 3; ++i) CHECK(close(pack.point[i][lane], alone.point[i], 1e-12, 1e-14));
      }
      worst_single =
          std::max({worst_single, std::abs(pack_single.weight[lane] - alone.weight) * alone.sine,
                    std::abs(static_cast<double>(pack_single.distance[lane]) - alone.distance) * alone.sine});
    }
  }
  CHECK(worst_single < 8e-5);  // rounding of places over w = 4e-3
}

}  // namespace abut
