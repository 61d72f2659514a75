#include "collision/manifold/edge_sdf.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/scenes.h"
#include "tests/support/test_bodies.h"

namespace {

using namespace abut;
using test::Jet;
using Vec8 = Eigen::Matrix<double, 8, 1>;

Primitive rounded_box(const Vec3<double>& half, double edge, const Pose<double>& X_BP = {}) {
  return {PrimitiveKind::rounded_box, PrimitiveOperation::add, {half.x(), half.y(), half.z(), edge}, X_BP};
}

/// One edge of body `owner` 0 or 1 against the solid of the other.
struct OneEdge {
  ShapeSdf sdf;
  Points vertices{3, 2};
  std::vector<MeshEdge> edges{1};
  EdgeSdfQuery query;

  OneEdge(const Shape& shape, const Vec3<double>& start, const Vec3<double>& end, double tau,
          double radius = 0.0, int owner = 1)
      : sdf(shape) {
    vertices << start, end;
    edges[0].start = 0;
    edges[0].end = 1;
    edges[0].area = 0.02;
    ContactConfig config;
    config.activity_smoothing = tau;
    query.sdf = &sdf;
    query.edges = edges;
    query.vertices = &vertices;
    query.owner = owner;
    query.solid = 1 - owner;
    query.settings = EdgeSdfSettings(config, 1.0, radius);
  }
  OneEdge(const OneEdge&) = delete;

  [[nodiscard]] ContactFeature feature(int end) const {
    ContactFeature f{ContactKind::edge_sdf, 0, 1, -1, -1};
    (query.owner == 0 ? f.feature_A : f.feature_B) = edge_sdf_feature(0, end);
    return f;
  }
  [[nodiscard]] Contact contact(int end, EdgeSdfLinearization* at = nullptr) const {
    const ContactFeature f = feature(end);
    EdgeSdfScratch scratch;
    ContactList contacts;
    contacts.resize(1);
    std::vector<EdgeSdfLinearization> linearizations;
    linearize_edge_sdf(query, {&f, 1}, scratch, contacts, 0, linearizations);
    if (at != nullptr) *at = linearizations[0];
    return contacts[0];
  }
};

Vec8 outputs(const Contact& c) {
  Vec8 y;
  y << c.point_W, c.signed_distance, c.normal_AB_W, c.activity;
  return y;
}
Vec8 outputs(const ContactBar& c) {
  Vec8 y;
  y << c.point_W, c.signed_distance, c.normal_AB_W, c.activity;
  return y;
}

/// The outputs after left perturbations of the poses of owner and solid, to the first order.
Eigen::Matrix<Jet<12>, 8, 1> outputs_jet(const EdgeSdfQuery& query, const EdgeSdfLinearization& at,
                                         const EdgeChord<double>& chord, int end) {
  using J = Jet<12>;
  Eigen::Matrix<J, 12, 1> pose;
  for (int i = 0; i < 12; ++i) pose[i] = J(0.0, i);
  const auto turned = [&](const Vec3<J>& w, const Vec3<J>& x) -> Vec3<J> { return x + w.cross(x); };
  const Mat3<J> R_WS = at.R_WS.cast<J>();
  const auto in_S = [&](const Vec3<double>& arm_O) -> Vec3<J> {
    const Vec3<J> x_W = query.X_WO.p.cast<J>() + pose.segment<3>(3) + turned(pose.head<3>(), arm_O.cast<J>());
    const Vec3<J> from_S = x_W - query.X_WS.p.cast<J>() - pose.tail<3>();
    return R_WS.transpose() * turned(-pose.segment<3>(6), from_S);
  };
  const EdgeSdfContact<J> c =
      edge_sdf_contact<J>(*query.sdf, in_S(at.arm_a), in_S(at.arm_b), query.settings, chord, end);
  Eigen::Matrix<J, 8, 1> y;
  y.head<3>() = query.X_WS.p.cast<J>() + pose.tail<3>() + turned(pose.segment<3>(6), R_WS * c.point);
  y[3] = c.distance;
  y.segment<3>(4) = turned(pose.segment<3>(6), R_WS * c.normal) * J(at.sign);
  y[7] = c.activity;
  return y;
}

Pose<double> moved(const Pose<double>& X, const Vec6<double>& tangent) {
  return {(exp_quaternion<double>(tangent.head<3>()) * X.q).normalized(), X.p + tangent.tail<3>()};
}

/// A random edge near a random solid at random poses, with both its ends outside, one of them, or (rarely)
/// none.
struct RandomCase {
  std::unique_ptr<OneEdge> edge;
  Body solid;
};

RandomCase random_case(Random& random) {
  const Vec3<double> half =
      0.1 * Vec3<double>(random.uniform(0.5, 1.0), random.uniform(0.5, 1.0), random.uniform(0.4, 1.0));
  RandomCase c;
  switch (random.integer(4)) {
    case 0:
      c.solid = test::sphere_of_mass(half.x(), 1.0);
      break;
    case 1:
      c.solid = make_capsule(half.z(), half.x(), 1000.0);
      break;
    case 2:
      c.solid = test::superquadric_of_mass(half, random.uniform(0.1, 1.2), random.uniform(0.1, 1.2), 1.0);
      break;
    default:
      c.solid = test::cross_of_mass(half, random.uniform(0.2, 0.8), random.uniform(0.3, 1.0), 1.0);
  }
  const Points& surface = c.solid.mesh.vertices;
  const Vec3<double> near =
      surface.col(static_cast<Eigen::Index>(random.integer(static_cast<std::uint64_t>(surface.cols()))));
  const ShapeSdf sdf(c.solid.shape);
  const Vec3<double> normal = sdf.evaluate<double>(near).normal;
  const Vec3<double> tangent = normal.cross(random.unit_vector()).normalized();
  const Vec3<double> direction = (tangent + random.uniform(-0.4, 0.4) * normal).normalized();
  const double tau = 0.0004 * std::pow(10.0, random.uniform(0.0, 1.0)),
               radius = random.uniform() < 0.5 ? 0.0 : 0.01;
  const Vec3<double> middle = near + (radius + random.uniform(-4.0, 3.0) * tau) * normal;
  const Pose<double> X_WS = test::random_pose(random), X_WO = test::random_pose(random);
  const Pose<double> X_OS = X_WO.inverse() * X_WS;
  const double forward = random.uniform(0.02, 0.3), backward = random.uniform(0.02, 0.3);
  c.edge = std::make_unique<OneEdge>(c.solid.shape, X_OS * Vec3<double>(middle - backward * direction),
                                     X_OS * Vec3<double>(middle + forward * direction), tau, radius,
                                     static_cast<int>(random.integer(2)));
  c.edge->query.X_WO = X_WO;
  c.edge->query.X_WS = X_WS;
  return c;
}

}  // namespace

TEST_CASE("edge_sdf: an edge across a flat face is held at the two Gauss points of its chord",
          "[collision][value]") {
  const double tau = 1e-3, gap = GENERATE(-3e-3, -5e-4, 0.0, 2e-3), radius = GENERATE(0.0, 0.02);
  // A face from x = -0.1 to 0.1 at z = 0.1; the edge runs from x = -0.5 to 0.3.
  const Vec3<double> half(0.1, 0.2, 0.1);
  const OneEdge edge(test::single_primitive(rounded_box(half, 1e-4)), {-0.5, 0.03, 0.1 + radius + gap},
                     {0.3, 0.03, 0.1 + radius + gap}, tau, radius);
  const double level = 6.0 * tau + radius;
  const double height =
      std::max(gap + radius, 0.0);  // of the centre line; below the face, the wall is the closest
  const double overhang = std::sqrt(level * level - height * height);
  const double expected = (0.1 + overhang) / std::sqrt(3.0);
  for (int end = 0; end < 2; ++end) {
    const Contact c = edge.contact(end);
    CAPTURE(gap, radius, end);
    CHECK(test::close(c.signed_distance, gap, 0, 1e-14));
    CHECK(test::close(c.normal_AB_W, Vec3<double>(0, 0, 1), 0, 1e-12));
    const Vec3<double> point(end == 0 ? -expected : expected, 0.03, 0.1 + 0.5 * gap);
    CHECK(test::close(c.point_W, point, 0, 1e-3 * expected));  // the box's own radius
    const double x = 0.5 - gap / (8.0 * tau), step = x * x * x * (10.0 - 15.0 * x + 6.0 * x * x);
    CHECK(test::close(c.activity, step * (0.2 + 2.0 * overhang) / 0.8, 2e-3, 0));
    CHECK(c.area == 0.01);
  }
}

TEST_CASE("edge_sdf: a tilted edge is deeper at the contact that is lower", "[collision][value]") {
  const double slope = 0.02;
  const OneEdge edge(test::single_primitive(rounded_box({0.1, 0.2, 0.1}, 1e-3)),
                     {-0.5, 0.0, 0.1 - 0.5 * slope}, {0.5, 0.0, 0.1 + 0.5 * slope}, 2e-3);
  const Contact low = edge.contact(0), high = edge.contact(1);
  CHECK(low.signed_distance < -0.4 * slope * 0.1);
  CHECK(high.signed_distance > 0.4 * slope * 0.1);
  CHECK(low.point_W.x() < -0.05);
  CHECK(high.point_W.x() > 0.05);
}

TEST_CASE("edge_sdf: on a ridge both contacts are at its crest, with its depth and an upright normal",
          "[collision][value]") {
  const double tau = 1e-3, gap = GENERATE(-4e-3, -1e-3, 0.0, 2e-3), turn = GENERATE(0.0, 0.5);
  const double edge_radius = 5e-3, half = 0.1;
  const Pose<double> on_edge = test::pose_at({0, 0, 0}, {0.0, 0.25 * 3.14159265358979323846, 0.0});
  const double crest = (half - edge_radius) * std::sqrt(2.0) + edge_radius;
  const Vec3<double> direction(std::cos(turn), std::sin(turn), 0.0), center(0.01, 0.0, crest + gap);
  const OneEdge edge(test::single_primitive(rounded_box({half, 0.3, half}, edge_radius, on_edge)),
                     center - 0.4 * direction, center + 0.2 * direction, tau);
  for (int end = 0; end < 2; ++end) {
    const Contact c = edge.contact(end);
    CAPTURE(gap, turn, end);
    CHECK(test::close(c.signed_distance, gap, 0, 0.2 * tau));
    CHECK(test::close(c.normal_AB_W, Vec3<double>(0, 0, 1), 0, 0.12));
    CHECK(std::abs(c.point_W.x()) < 2.0 * tau + edge_radius);
    CHECK(c.activity > 0.0);
  }
}

TEST_CASE("edge_sdf: an end inside the solid leaves its contact to the vertex there", "[collision][value]") {
  const double tau = 1e-3;
  const ShapeSdf sdf(test::single_primitive(rounded_box({0.1, 0.2, 0.1}, 1e-3)));
  const auto activities = [&](const Vec3<double>& a, const Vec3<double>& b) {
    const OneEdge edge(test::single_primitive(rounded_box({0.1, 0.2, 0.1}, 1e-3)), a, b, tau);
    return std::pair(edge.contact(0).activity, edge.contact(1).activity);
  };
  // Flat on the face: both ends on it, one of them, none.
  const auto [in_0, in_1] = activities({-0.05, 0, 0.099}, {0.05, 0, 0.099});
  CHECK(in_0 == 0.0);
  CHECK(in_1 == 0.0);
  const auto [over_0, over_1] = activities({-0.05, 0, 0.099}, {0.25, 0, 0.099});
  CHECK(over_0 == 0.0);
  CHECK(over_1 > 0.2);
  const auto [out_0, out_1] = activities({-0.25, 0, 0.099}, {0.25, 0, 0.099});
  CHECK(out_0 > 0.2);
  CHECK(test::close(out_0, out_1, 1e-9, 0));
  // Straight down: the deepest point is the vertex.
  const auto [down_0, down_1] = activities({0, 0, 0.3}, {0, 0, 0.09});
  CHECK(down_0 < 1e-6);
  CHECK(down_1 == 0.0);
  // Not near.
  const OneEdge far(test::single_primitive(rounded_box({0.1, 0.2, 0.1}, 1e-3)), {-0.5, 0, 0.1 + 7 * tau},
                    {0.5, 0, 0.1 + 7 * tau}, tau);
  EdgeSdfLinearization at;
  const Contact none = far.contact(0, &at);
  CHECK_FALSE(at.crosses);
  CHECK(none.activity == 0.0);
  CHECK(edge_sdf_jacobian(at).isZero(0.0));
}

TEST_CASE("edge_sdf: turning an edge round exchanges its two contacts, and nothing else",
          "[collision][property]") {
  int active = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const RandomCase c = random_case(random);
    CAPTURE(seed);
    const Contact first = c.edge->contact(0), second = c.edge->contact(1);
    c.edge->vertices.col(0).swap(c.edge->vertices.col(1));
    REQUIRE(test::close(outputs(first), outputs(c.edge->contact(1)), 1e-8, 1e-9));
    REQUIRE(test::close(outputs(second), outputs(c.edge->contact(0)), 1e-8, 1e-9));
    active += first.activity > 0.0;
  }
  CHECK(active > 50);
}

TEST_CASE(
    "edge_sdf: contacts found for many edges are those of each alone, and none with activity is missing",
    "[collision][batch]") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    const Body upper = test::box_of_mass({0.1, 0.08, 0.06}, 1.0, 2), lower = random_case(random).solid;
    const ShapeSdf sdf(lower.shape);
    const std::vector<MeshEdge> edges = mesh_edges(upper.mesh);
    EdgeSdfQuery query;
    query.sdf = &sdf;
    query.edges = edges;
    query.vertices = &upper.mesh.vertices;
    query.owner = 0;
    query.solid = 1;
    query.X_WO = test::random_pose(random, 0.06);
    query.X_WS = test::random_pose(random, 0.06);
    query.settings = EdgeSdfSettings({}, std::min(upper.size, lower.size), upper.contact_radius);
    EdgeSdfScratch scratch;
    ContactList contacts, alone;
    alone.resize(1);
    append_edge_sdf_contacts(query, {}, 4.0 * query.settings.tau, scratch, contacts);
    CAPTURE(seed, contacts.size());
    std::size_t next = 0;
    for (int i = 0; i < static_cast<int>(edges.size()); ++i) {
      for (int end = 0; end < 2; ++end) {
        const ContactFeature feature{ContactKind::edge_sdf, 0, 1, edge_sdf_feature(i, end), -1};
        std::vector<EdgeSdfLinearization> at;
        linearize_edge_sdf(query, {&feature, 1}, scratch, alone, 0, at);
        const auto found = std::find_if(contacts.begin(), contacts.end(), [&](const Contact& c) {
          return c.feature.feature_A == feature.feature_A;
        });
        if (found == contacts.end()) {
          REQUIRE(alone[0].activity == 0.0);
        } else {
          REQUIRE((*found).activity > 0.0);
          REQUIRE(test::close(outputs(*found), outputs(alone[0]), 1e-9, 1e-10));
          ++next;
        }
      }
    }
    CHECK(next == contacts.size());
  }
}

TEST_CASE("edge_sdf: Jacobian, JVP and VJP agree with Jet and with differences", "[collision][derivative]") {
  int compared = 0, with_difference = 0, shares = 0;
  double worst_jet = 0.0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    Random random(seed);
    const RandomCase c = random_case(random);
    const EdgeSdfQuery& query = c.edge->query;
    const int end = static_cast<int>(random.integer(2));
    EdgeSdfLinearization at;
    const Contact contact = c.edge->contact(end, &at);
    if (!at.crosses || contact.activity == 0.0) continue;
    CAPTURE(seed, end);
    ++compared;
    shares += at.share[0] < 1.0 || at.share[1] < 1.0;
    const Eigen::Matrix<double, 8, 12> J = edge_sdf_jacobian(at);

    std::vector<EdgeChord<double>> chords;
    std::vector<char> crosses;
    solve_edge_chords(*query.sdf, {&at.a, 1}, {&at.b, 1}, query.settings, chords, crosses);
    const auto y = outputs_jet(query, at, chords[0], end);
    Eigen::Matrix<double, 8, 12> J_jet;
    for (int i = 0; i < 8; ++i) {
      J_jet.row(i) = y[i].v.transpose();
      REQUIRE(test::close(y[i].a, outputs(contact)[i], 1e-9, 1e-10));
    }
    const double scale = J_jet.cwiseAbs().maxCoeff();
    worst_jet = std::max(worst_jet, (J - J_jet).cwiseAbs().maxCoeff() / scale);
    REQUIRE(test::close(J, J_jet, 1e-7, 1e-8 * scale));

    const Vec6<double> pose_O = test::random_vector<6>(random), pose_S = test::random_vector<6>(random);
    Eigen::Matrix<double, 12, 1> tangent;
    tangent << pose_O, pose_S;
    const ContactBar jvp = edge_sdf_jvp(at, pose_O, pose_S);
    REQUIRE(test::close(outputs(jvp), (J * tangent).eval(), 1e-10, 1e-12 * scale));
    ContactBar bar;
    bar.point_W = test::random_vector(random);
    bar.signed_distance = random.uniform(-1.0, 1.0);
    bar.normal_AB_W = test::random_vector(random);
    bar.activity = random.uniform(-1.0, 1.0);
    Vec6<double> bar_O = Vec6<double>::Zero(), bar_S = bar_O;
    edge_sdf_vjp(at, query, bar, bar_O, bar_S);
    Eigen::Matrix<double, 12, 1> vjp;
    vjp << bar_O, bar_S;
    REQUIRE(test::close(vjp, (J.transpose() * outputs(bar)).eval(), 1e-9, 1e-11 * scale));

    // The whole, roots and all, along the random direction.
    const auto value = [&](double e) {
      OneEdge other(c.solid.shape, c.edge->vertices.col(0), c.edge->vertices.col(1), 1.0, 0.0, query.owner);
      other.query.settings = query.settings;
      other.query.X_WO = moved(query.X_WO, e * pose_O);
      other.query.X_WS = moved(query.X_WS, e * pose_S);
      return outputs(other.contact(end)).dot(outputs(bar));
    };
    const test::SweptDerivative difference =
        test::fd_sweep(value, 0.0, 0.05 * query.settings.tau, 1e-5, 1e-7 * scale);
    if (difference.disagrees_with_itself) continue;
    ++with_difference;
    REQUIRE(test::close(difference.value, (J * tangent).dot(outputs(bar)), 1e-4, 1e-5 * scale));
  }
  CAPTURE(worst_jet);
  CHECK(compared > 150);
  CHECK(shares > 20);
  CHECK(with_difference > 0.9 * compared);
}

TEST_CASE("edge_sdf: derivatives by vertices, radius and shape agree with differences",
          "[collision][derivative]") {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const RandomCase c = random_case(random);
    const EdgeSdfQuery& query = c.edge->query;
    const int end = static_cast<int>(random.integer(2));
    EdgeSdfLinearization at;
    if (!(c.edge->contact(end, &at).activity > 0.0)) continue;
    ContactBar bar;
    bar.point_W = test::random_vector(random);
    bar.signed_distance = random.uniform(-1.0, 1.0);
    bar.normal_AB_W = test::random_vector(random);
    bar.activity = random.uniform(-1.0, 1.0);
    GeometryGradient owner, solid;
    owner.contact_points = Points::Zero(3, 2);
    solid.set_zero(c.solid);
    const std::vector<PrimitiveGradient>& primitives = solid.primitives;
    Vec6<double> bar_O = Vec6<double>::Zero(), bar_S = bar_O;
    edge_sdf_vjp(at, query, bar, bar_O, bar_S, &owner, &solid);

    const Vec3<double> start_way = test::random_vector(random), end_way = test::random_vector(random);
    const double radius_way = random.uniform(-1.0, 1.0);
    std::vector<std::array<double, 5>> ways(primitives.size());
    std::vector<Vec6<double>> pose_ways(primitives.size());
    double expected = owner.contact_points.col(0).dot(start_way) + owner.contact_points.col(1).dot(end_way) +
                      owner.contact_radius * radius_way;
    for (std::size_t i = 0; i < primitives.size(); ++i) {
      const int count = parameter_count(c.solid.shape.primitives[i].kind);
      for (int k = 0; k < 5; ++k) {
        const auto parameter = static_cast<std::size_t>(k);
        ways[i][parameter] = k < count ? random.uniform(-1.0, 1.0) : 0.0;
        expected += primitives[i].parameters[parameter] * ways[i][parameter];
      }
      pose_ways[i] = test::random_vector<6>(random);
      expected += primitives[i].pose.dot(pose_ways[i]);
    }
    const auto value = [&](double e) {
      Shape shape = c.solid.shape;
      for (std::size_t i = 0; i < primitives.size(); ++i) {
        for (std::size_t k = 0; k < 5; ++k) shape.primitives[i].parameters[k] += e * ways[i][k];
        shape.primitives[i].X_BP = moved(shape.primitives[i].X_BP, e * pose_ways[i]);
      }
      OneEdge other(shape, c.edge->vertices.col(0) + e * start_way, c.edge->vertices.col(1) + e * end_way,
                    1.0, 0.0, query.owner);
      other.query.settings = query.settings;
      other.query.settings.radius += e * radius_way;
      other.query.X_WO = query.X_WO;
      other.query.X_WS = query.X_WS;
      return outputs(other.contact(end)).dot(outputs(bar));
    };
    const double scale = edge_sdf_jacobian(at).cwiseAbs().maxCoeff();
    const test::SweptDerivative difference =
        test::fd_sweep(value, 0.0, 0.02 * query.settings.tau, 1e-5, 1e-7 * scale);
    if (difference.disagrees_with_itself) continue;
    CAPTURE(seed, end);
    ++compared;
    REQUIRE(expected != 0.0);
    REQUIRE(test::close(difference.value, expected, 1e-4, 1e-5 * scale));
  }
  CHECK(compared > 40);
}

TEST_CASE("edge_sdf: force and activity have no jump in value or slope along paths over a convex solid",
          "[collision][property]") {
  // An edge comes down on a rounded ridge, and slides over the end of a face: chords open, close and pass
  // ends.
  const double tau = 1e-3;
  const Shape shape = test::single_primitive(test::superquadric({0.1, 0.15, 0.08}, 0.25, 0.3));
  const int path = GENERATE(0, 1, 2);
  const int steps = 4000;
  const double span = path == 0 ? 0.03 : 0.25;
  OneEdge edge(shape, {-0.12, 0.01, 0.0}, {0.14, 0.02, 0.0}, tau);
  std::vector<double> activity, slope;
  for (int i = 0; i <= steps; ++i) {
    const double at = span * i / steps;
    switch (path) {
      case 0:  // down on the ridge
        edge.query.X_WO = test::pose_at({0.1, 0.0, 0.09 - at}, {0.0, 0.6, 0.1});
        break;
      case 1:  // across the face, so that the ends come in and leave
        edge.query.X_WO = test::pose_at({-0.15 + at, 0.0, 0.0795}, {0.0, 0.01, 0.2});
        break;
      default:  // tilting
        edge.query.X_WO = test::pose_at({0.02, 0.0, 0.081}, {0.0, -0.1 + at, 0.3});
    }
    double sum = 0.0, sum_slope = 0.0;
    for (int end = 0; end < 2; ++end) {
      EdgeSdfLinearization linearization;
      const Contact c = edge.contact(end, &linearization);
      // As a force would be: activity times a function of depth, and its arm.
      Vec6<double> way = Vec6<double>::Zero();
      if (path == 0) way[5] = -1.0;
      if (path == 1) way[3] = 1.0;
      if (path == 2) {
        // d(rotation vector)/d(at) about y, as a rotation in W.
        const double h = 1e-6;
        const Quat<double> forward = exp_quaternion<double>({0.0, -0.1 + at + h, 0.3}),
                           backward = exp_quaternion<double>({0.0, -0.1 + at - h, 0.3});
        const Quat<double> turn = forward * backward.conjugate();
        way.head<3>() = turn.vec() / h;
      }
      const ContactBar d = edge_sdf_jvp(linearization, way, Vec6<double>::Zero());
      const double moment = 0.1 + c.point_W.x();
      sum += c.activity * moment;
      sum_slope += d.activity * moment + c.activity * d.point_W.x();
    }
    activity.push_back(sum);
    slope.push_back(sum_slope);
  }
  const double step = span / steps, largest = *std::max_element(activity.begin(), activity.end());
  if (path == 0) CHECK(*std::min_element(activity.begin(), activity.end()) == 0.0);
  double steepest = 0.0, mismatch = 0.0, bend = 0.0;
  for (std::size_t i = 1; i < activity.size(); ++i) {
    steepest = std::max(steepest, std::abs(slope[i]));
    mismatch =
        std::max(mismatch, std::abs(activity[i] - activity[i - 1] - 0.5 * step * (slope[i] + slope[i - 1])));
    bend = std::max(bend, std::abs(slope[i] - slope[i - 1]));
  }
  CHECK(largest > 0.05);
  CAPTURE(path, largest, steepest, mismatch, bend);
  CHECK(mismatch < 2e-2 * step * steepest);  // a jump would stand here in full
  CHECK(bend < 0.05 * steepest);             // and one of the slope here
}
