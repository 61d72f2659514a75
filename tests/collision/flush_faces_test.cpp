/// Faces that lie flush: few contacts that push as all would, smoothly, with derivatives.
#include "collision/manifold/flush_faces.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "collision/manifold/pair_manifold.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

ContactConfig config_with(bool flush_faces, bool edges = false) {
  ContactConfig config;
  config.flush_faces = flush_faces;
  config.edge_edge = edges;
  return config;
}

ContactManifold detect(const TestScene& scene, const ContactConfig& config) {
  const ContactDetector detector(scene.model, config);
  DetectorScratch scratch;
  ContactManifold manifold;
  detector.detect(scene.state.X_WB, {}, scratch, manifold);
  return manifold;
}

/// What the shares of a pair's stiffness add up to: area times weight, and its moments with the depth.
struct Shares {
  double sum = 0.0, depth = 0.0;
  Vec3<double> first = Vec3<double>::Zero(), torque = Vec3<double>::Zero();
  Mat3<double> second = Mat3<double>::Zero();

  explicit Shares(const ContactManifold& manifold) {
    for (const Contact& contact : manifold.contacts) {
      const double share = contact.area * contact.weight, force = -share * contact.signed_distance;
      const Vec3<double> x = contact.point_W + 0.5 * contact.signed_distance * contact.normal_AB_W;
      sum += share;
      depth += force;
      first += share * x;
      torque += force * x.cross(contact.normal_AB_W);
      second += share * x * x.transpose();
    }
  }
};

enum class Ground { floor, plate, equal_box };
constexpr Ground k_grounds[] = {Ground::floor, Ground::plate, Ground::equal_box};

/// A box on something, pressed in by `depth` [m] and tilted a little.
TestScene box_on(Ground ground, double depth, const Vec3<double>& tilt = Vec3<double>::Zero()) {
  const Vec3<double> half(0.06, 0.05, 0.04);
  TestScene scene = ground == Ground::floor ? floor_scene() : TestScene();
  if (ground == Ground::plate) scene.add(box_of_mass({0.2, 0.2, 0.05}, 10.0), pose_at({0.03, 0.01, -0.05}));
  if (ground == Ground::equal_box) scene.add(box_of_mass(half, 10.0), pose_at({0, 0, -half.z()}));
  scene.add(box_of_mass(half, 1.0), pose_at({0, 0, half.z() - depth}, tilt));
  return scene;
}

std::size_t count_of_owner(const ContactManifold& manifold, bool of_A) {
  return static_cast<std::size_t>(
      std::count_if(manifold.contacts.begin(), manifold.contacts.end(),
                    [&](const Contact& contact) { return (contact.feature.feature_A >= 0) == of_A; }));
}

/// df/dt at 0 by central differences of two steps, extrapolated. Weights of vertices turn over within 0.02 rad and
/// have third derivatives that jump: larger steps see these.
template <typename F>
double difference_of(const F& f) {
  constexpr double h = 5e-8;
  return (4.0 * fd_derivative(f, 0.0, 0.5 * h) - fd_derivative(f, 0.0, h)) / 3.0;
}

}  // namespace

TEST_CASE("flush faces: eight points push as twenty-five", "[collision][value]") {
  const Ground ground = GENERATE(Ground::floor, Ground::plate);
  const double depth = GENERATE(-1e-4, 0.0, 1e-6, 1e-4);
  // Tilted within the band, where psi is still 1.
  const Vec3<double> tilt = GENERATE(Vec3<double>(0, 0, 0), Vec3<double>(2e-4, 1e-4, 0.4));
  const TestScene scene = box_on(ground, depth, tilt);
  const ContactManifold all = detect(scene, config_with(false)), few = detect(scene, config_with(true));
  CHECK(count_of_owner(all, false) == 25);
  CHECK(count_of_owner(few, false) == 8);
  CHECK(count_of_owner(few, true) == count_of_owner(all, true));  // of the plate, which reaches farther
  // The areas of the rim turn with its sides: factors are those of a face that is not tilted.
  const double relative = tilt.isZero(0.0) ? 1e-9 : 1e-4;
  const Shares of_all(all), of_few(few);
  const double area = of_all.sum, length = 0.06;
  CHECK(close(of_few.sum, area, relative, 0));
  CHECK(close(of_few.depth, of_all.depth, relative, relative * 1e-4 * area));
  CHECK(close(of_few.first, of_all.first, 0, relative * area * length));
  // P of the pair, and with it the weight of a vertex of the plate beside the rim, is 1 % higher by eight points.
  CHECK(close(of_few.torque, of_all.torque, 0, 4.0 * relative * 1e-4 * area * length));
  CHECK(close(of_few.second.topLeftCorner<2, 2>().eval(), of_all.second.topLeftCorner<2, 2>().eval(), 0,
              10.0 * relative * area * length * length));
  for (const Contact& contact : few.contacts) CHECK((contact.activity >= 0.0 && contact.activity <= 1.0));
}

TEST_CASE("flush faces: equal boxes touch with their vertices alone", "[collision][value]") {
  const int subdivisions = GENERATE(1, 4);
  TestScene scene;
  for (int i = 0; i < 2; ++i)
    scene.add(box_of_mass({0.05, 0.05, 0.05}, 1.0, subdivisions), pose_at({0, 0, i * (0.1 - 1e-5)}));
  const auto count = [&](bool flush_faces) {
    return detect(scene, config_with(flush_faces, true)).contacts.size();
  };
  CHECK(count(true) == (subdivisions == 1 ? 8 : 16));
  CHECK(count(false) == (subdivisions == 1 ? 16 : 58));
  scene.X_WB(1).q = exp_quaternion<double>(Vec3<double>(0, 0, 0.5));  // corners hang over
  CHECK(count(true) == count(false));
}

TEST_CASE("flush faces: all points count where a face is tilted, hangs over, or meets a bump or a seam",
          "[collision][value]") {
  const auto is_as_without = [](const TestScene& scene, const ContactConfig& config) {
    ContactConfig without = config;
    without.flush_faces = false;
    const ContactManifold all = detect(scene, without), few = detect(scene, config);
    REQUIRE(few.contacts.size() == all.contacts.size());
    for (std::size_t i = 0; i < all.contacts.size(); ++i) {
      const Contact a = all.contacts[i], b = few.contacts[i];
      CHECK((a.weight == b.weight && a.area == b.area && a.signed_distance == b.signed_distance));
    }
  };
  SECTION("tilted") { is_as_without(box_on(Ground::floor, 1e-3, {0.02, 0, 0}), config_with(true)); }
  SECTION("over the edge of a plate") {
    TestScene scene = box_on(Ground::plate, 1e-4);
    scene.X_WB(1).p.x() = 0.2;
    is_as_without(scene, config_with(true));
  }
  SECTION("on a bump") {
    TestScene scene;
    Shape shape;
    shape.primitives.resize(2);
    shape.primitives[0].kind = PrimitiveKind::half_space;
    shape.primitives[1].kind = PrimitiveKind::sphere;
    shape.primitives[1].parameters = {0.02};
    shape.primitives[1].X_BP = pose_at({0.015, 0.0125, -0.0195});
    shape.union_smoothing = 1e-5;
    Body ground = make_half_space();
    ground.shape = shape;
    scene.add(ground);
    scene.add(box_of_mass({0.06, 0.05, 0.04}, 1.0), pose_at({0, 0, 0.04 - 1e-4}));
    is_as_without(scene, config_with(true));
  }
  SECTION("equal boxes with sharp edges, whose corners are on corners") {
    TestScene scene;
    scene.add(make_box({0.05, 0.05, 0.05}, 0.0, 4, 1000.0));
    scene.add(make_box({0.05, 0.05, 0.05}, 0.0, 4, 1000.0), pose_at({0, 0, 0.1 - 1e-4}));
    is_as_without(scene, config_with(true));
  }
  SECTION("a choice of the deepest points") {
    TestScene scene = box_on(Ground::floor, 1e-4);
    scene.body(1).selected_vertices = 30;
    is_as_without(scene, config_with(true));
  }
}

TEST_CASE("flush faces: kernel and linearization agree, in the band and out of it", "[collision][property]") {
  Random random(3);
  int changing = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const double angle = 0.01 * std::pow(10.0, random.uniform(-3.0, 0.0));
    const Vec3<double> tilt(angle * random.uniform(-1, 1), angle * random.uniform(-1, 1),
                            trial % 3 == 2 ? random.uniform(-1e-3, 1e-3) : random.uniform(-3, 3));
    const TestScene scene = box_on(k_grounds[trial % 3], random.uniform(-1e-4, 3e-4), tilt);
    const ContactConfig config = config_with(true, true);
    const ContactDetector detector(scene.model, config);
    const ContactManifold found = detect(scene, config);
    std::vector<ContactFeature> features;
    for (std::size_t i = 0; i < found.contacts.size(); ++i) features.push_back(found.contacts.feature(i));
    ManifoldLinearization linearization;
    detector.linearize(scene.state.X_WB, features, linearization);
    for (std::size_t i = 0; i < features.size(); ++i) {
      const Contact a = found.contacts[i], b = linearization.contacts[i];
      CHECK(close(a.weight, b.weight, 1e-8, 1e-10));
      CHECK(close(a.activity, b.activity, 1e-8, 1e-10));
      CHECK(close(a.area, b.area, 1e-8, 0));
      changing += a.feature.kind == ContactKind::vertex_sdf && a.weight > 1e-3 && a.weight < 0.999;
    }
  }
  CHECK(changing > 100);
}

TEST_CASE("flush faces: JVP and VJP by poses and shapes are the derivatives", "[collision][derivative]") {
  Random random(5);
  int checked = 0, with_edges = 0;
  for (int trial = 0; checked < 30 && trial < 2000; ++trial) {
    TestScene scene = box_on(k_grounds[trial % 3], 1e-4,
                             {random.uniform(-5e-3, 5e-3), random.uniform(-5e-3, 5e-3),
                              trial % 3 == 2 ? random.uniform(-1e-3, 1e-3) : random.uniform(-3, 3)});
    const ContactConfig config = config_with(true, true);
    const ContactManifold found = detect(scene, config);
    std::vector<ContactFeature> features;
    bool is_changing = false;
    for (std::size_t i = 0; i < found.contacts.size(); ++i) {
      features.push_back(found.contacts.feature(i));
      is_changing = is_changing || (found.contacts[i].weight > 0.02 && found.contacts[i].weight < 0.98);
    }
    if (!is_changing) continue;
    ++checked;
    const bool has_edges = std::any_of(features.begin(), features.end(), [](const ContactFeature& feature) {
      return feature.kind == ContactKind::edge_edge;
    });
    with_edges += has_edges;
    // A loss of random sums of weights, areas and activities.
    std::vector<ContactBar> bars(features.size());
    for (ContactBar& bar : bars) {
      bar.weight = random.uniform(-1, 1);
      bar.area = 1e3 * random.uniform(-1, 1);
      bar.activity = random.uniform(-1, 1);
    }
    const auto loss = [&](const TestScene& at) {
      const ContactDetector detector(at.model, config);
      ManifoldLinearization linearization;
      detector.linearize(at.state.X_WB, features, linearization);
      double sum = 0.0;
      for (std::size_t i = 0; i < features.size(); ++i) {
        const Contact contact = linearization.contacts[i];
        sum += bars[i].weight * contact.weight + bars[i].area * contact.area +
               bars[i].activity * contact.activity;
      }
      return sum;
    };
    const ContactDetector detector(scene.model, config);
    std::vector<Vec6<double>> motion(2), pose_bar(2, Vec6<double>::Zero());
    for (Vec6<double>& v : motion)
      for (int k = 0; k < 6; ++k) v[k] = random.uniform(-1, 1);
    const auto along = [&](double t) {
      TestScene moved = scene;
      for (int b = 0; b < 2; ++b) {
        const Vec6<double> step = t * motion[at(b)];
        moved.X_WB(b) = {exp_quaternion<double>(Vec3<double>(step.head<3>())) * scene.X_WB(b).q,
                         scene.X_WB(b).p + step.tail<3>()};
      }
      return loss(moved);
    };
    const double difference = difference_of(along);
    for (const LinearizeFor what_for : {LinearizeFor::both, LinearizeFor::many_vjps}) {
      ManifoldLinearization linearization;
      detector.linearize(scene.state.X_WB, features, linearization, what_for);
      std::vector<GeometryGradient> geometry(2);
      for (int b = 0; b < 2; ++b) geometry[at(b)].set_zero(scene.body(b));
      std::fill(pose_bar.begin(), pose_bar.end(), Vec6<double>::Zero());
      detector.vjp(scene.state.X_WB, bars, linearization, pose_bar, geometry);
      const double by_vjp = pose_bar[0].dot(motion[0]) + pose_bar[1].dot(motion[1]);
      CAPTURE(trial, difference, by_vjp);
      CHECK(close(by_vjp, difference, 1e-5, 1e-5 * std::abs(difference)));
      if (what_for == LinearizeFor::both) {
        std::vector<ContactBar> dots(features.size());
        detector.jvp(scene.state.X_WB, motion, linearization, dots);
        double by_jvp = 0.0;
        for (std::size_t i = 0; i < dots.size(); ++i)
          by_jvp += bars[i].weight * dots[i].weight + bars[i].area * dots[i].area +
                    bars[i].activity * dots[i].activity;
        CHECK(close(by_jvp, by_vjp, 1e-9, 1e-9 * std::abs(by_vjp)));
      }
      // A support of the face moves (which would divide edges), or the box below grows.
      if (!has_edges) {
        const int point = scene.body(1).flat_faces.front().points.front();
        const double by_point = difference_of([&](double t) {
          TestScene moved = scene;
          moved.body(1).contact_points(2, point) += t;
          return loss(moved);
        });
        CHECK(close(geometry[1].contact_points(2, point), by_point, 1e-5, 1e-5 * std::abs(difference)));
      }
      if (scene.body(0).shape.primitives[0].kind != PrimitiveKind::rounded_box) continue;
      const double by_radius = difference_of([&](double t) {
        TestScene moved = scene;
        moved.body(0).shape.primitives[0].parameters[2] += t;
        return loss(moved);
      });
      CHECK(close(geometry[0].primitives[0].parameters[2], by_radius, 1e-5, 1e-5 * std::abs(difference)));
    }
  }
  CHECK(checked == 30);
  CHECK(with_edges > 3);
}

TEST_CASE("flush faces: a pair's derivatives of activities are those of differences",
          "[collision][derivative]") {
  Random random(9);
  int checked = 0;
  const Ground ground = GENERATE(Ground::plate, Ground::equal_box);
  const TestScene scene = box_on(ground, 1e-4);
  const PairManifold<double> manifold(scene.model.bodies[0], scene.model.bodies[1], config_with(true, true));
  for (int trial = 0; checked < 20 && trial < 2000; ++trial) {
    const PosePair X{scene.state.X_WB[0],
                     pose_at(scene.state.X_WB[1].p, {random.uniform(-2e-3, 2e-3), random.uniform(-2e-3, 2e-3),
                                                     ground == Ground::equal_box ? random.uniform(-1e-3, 1e-3)
                                                                                 : random.uniform(-3, 3)})};
    PairScratch<double> scratch;
    ContactBlock<double> block;
    manifold.find(X, ManifoldOrder::complete, scratch, block);
    // Of a changing vertex, or of the last pair of edges where there is one beside it.
    int place = -1;
    for (int i = 0; i < block.ends[k_vertices_of_B]; ++i) {
      const double weight = block.number(k_contact_weight, i);
      if (weight > 0.1 && weight < 0.9) place = i;
    }
    if (place < 0) continue;
    if (ground == Ground::equal_box && block.count > block.ends[k_vertices_of_B]) place = block.count - 1;
    ++checked;
    const Vec3<double> center = center_of(X[0], X[1]);
    for (int k = 0; k < 6; ++k) {
      const auto along = [&](double t) {
        Vec6<double> motion = Vec6<double>::Zero();
        motion[k] = t;
        const Quat<double> turn = exp_quaternion<double>(Vec3<double>(motion.head<3>()));
        const PosePair moved{X[0], {turn * X[1].q, center + turn * (X[1].p - center) + motion.tail<3>()}};
        ContactBlock<double> there;
        manifold.find(moved, ManifoldOrder::value, scratch, there);
        for (int i = 0; i < there.count; ++i) {
          if (there.feature(0, i) == block.feature(0, place) &&
              there.feature(1, i) == block.feature(1, place))
            return there.number(k_contact_activity, i);
        }
        return 0.0;
      };
      const double difference = difference_of(along);
      CHECK(close(block.number(k_activity_by_motion + k, place), difference, 1e-5, 1e-4));
    }
  }
  CHECK(checked == 20);
}

TEST_CASE("flush faces: shares of the pressure change smoothly as a box tips", "[collision][property]") {
  // The largest slope of what contacts add up to, on ever finer steps: it does not grow.
  const auto largest_slope = [](int steps) {
    double largest = 0.0;
    Vec3<double> before = Vec3<double>::Zero();
    for (int i = 0; i <= steps; ++i) {
      const double angle = 4e-3 * i / steps;
      const Shares shares(detect(box_on(Ground::floor, 3e-4, {angle, 0.4 * angle, 0.3}), config_with(true)));
      const Vec3<double> now(shares.sum, shares.depth, shares.second(0, 0));
      const Vec3<double> scale(0.012, 0.012 * 3e-4, 0.012 * 1e-3);
      if (i > 0) largest = std::max(largest, (now - before).cwiseQuotient(scale).norm() * steps);
      before = now;
    }
    return largest;
  };
  const double coarse = largest_slope(200), fine = largest_slope(400), finest = largest_slope(800);
  CHECK(fine <= 1.2 * coarse);
  CHECK(finest <= 1.2 * fine);
}

}  // namespace abut::test
