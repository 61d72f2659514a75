// Contacts of vertices that slide: those of detect() are those of linearize(), whose derivatives agree with differences.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "collision/fitting/make_body.h"
#include "collision/manifold/contact_detector.h"
#include "engine/random.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/samples.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

Body meshed(PrimitiveKind kind, const std::array<double, 5>& parameters) {
  Shape shape;
  shape.primitives.emplace_back();
  shape.primitives.front().kind = kind;
  shape.primitives.front().parameters = parameters;
  return make_meshed_body(shape, {}).body;
}

struct SlidPair {
  std::string name;
  Body A, B;
};

const std::vector<SlidPair>& slid_pairs() {
  using enum PrimitiveKind;
  static const std::vector<SlidPair> all = [] {
    const Body wheel = meshed(superquadric, {0.05, 0.05, 0.02, 0.05, 1.0}),
               ellipsoid = meshed(superquadric, {0.1, 0.04, 0.03, 1.0, 1.0}),
               ring = meshed(torus, {0.035, 0.015, 0.0, 0.0, 0.0}),
               drum = meshed(cone, {0.05, 0.03, 0.04, 5e-4, 0.0}),
               box = make_box({0.1, 0.08, 0.06}, 0.0, 1, 1000.0);
    return std::vector<SlidPair>{{"wheel on box", wheel, box},
                                 {"box on wheel", box, wheel},
                                 {"wheel on floor", make_half_space(), wheel},
                                 {"ring on floor", make_half_space(), ring},
                                 {"drum on floor", make_half_space(), drum},
                                 {"ellipsoids", ellipsoid, ellipsoid},
                                 {"ring and ellipsoid", ring, ellipsoid},
                                 {"drum and ellipsoid", drum, ellipsoid}};
  }();
  return all;
}

double weighted(const ContactBar& bar, const Contact& c) {
  return bar.point_W.dot(c.point_W) + bar.signed_distance * c.signed_distance +
         bar.normal_AB_W.dot(c.normal_AB_W) + bar.activity * c.activity + bar.weight * c.weight +
         bar.area * c.area;
}
double weighted(const ContactBar& bar, const ContactBar& dot) {
  return bar.point_W.dot(dot.point_W) + bar.signed_distance * dot.signed_distance +
         bar.normal_AB_W.dot(dot.normal_AB_W) + bar.activity * dot.activity + bar.weight * dot.weight +
         bar.area * dot.area;
}

/// Both bodies turned at random, as far apart along a random direction as they barely overlap.
TestScene touching(const SlidPair& pair, Random& random) {
  TestScene scene;
  scene.add(pair.A);
  scene.add(pair.B);
  scene.X_WB(1).q = random.quaternion();
  if (pair.A.shape.primitives.front().kind != PrimitiveKind::half_space)
    scene.X_WB(0).q = random.quaternion();
  const Vec3<double> u = pair.A.shape.primitives.front().kind == PrimitiveKind::half_space
                             ? Vec3<double>(Vec3<double>::UnitZ())
                             : random.unit_vector();
  const ContactDetector detector(scene.model, {});
  DetectorScratch scratch;
  ContactManifold manifold;
  double near = 0.0, far = 0.3;
  for (int i = 0; i < 30; ++i) {
    scene.X_WB(1).p = 0.5 * (near + far) * u;
    detector.detect(scene.state.X_WB, {}, scratch, manifold);
    const bool overlaps =
        std::any_of(manifold.contacts.begin(), manifold.contacts.end(),
                    [](const Contact& c) { return c.weight > 0.01 && c.signed_distance < -2e-5; });
    (overlaps ? near : far) = 0.5 * (near + far);
  }
  return scene;
}

}  // namespace

TEST_CASE("slid vertices: detect() agrees with linearize(), JVP with differences, VJP is its transpose",
          "[collision][derivative]") {
  int slid = 0, compared = 0, disagreements = 0;
  for (const SlidPair& pair : slid_pairs()) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      Random random(seed);
      const TestScene scene = touching(pair, random);
      const ContactDetector detector(scene.model, {});
      DetectorScratch scratch;
      ContactManifold manifold;
      detector.detect(scene.state.X_WB, {}, scratch, manifold);
      for (const Contact& found : manifold.contacts) {
        const ContactFeature& feature = found.feature;
        const Body& owner = scene.model.bodies[feature.feature_A >= 0 ? 0 : 1];
        if (feature.kind != ContactKind::vertex_sdf || found.weight < 1e-3 ||
            std::max(feature.feature_A, feature.feature_B) < owner.contact_points.cols())
          continue;
        ++slid;
        CAPTURE(pair.name, seed, feature.feature_A, feature.feature_B, found.weight, found.signed_distance);
        ManifoldLinearization linearization;
        detector.linearize(scene.state.X_WB, {&feature, 1}, linearization);
        const Contact contact = linearization.contacts[0];
        REQUIRE(close(found.weight, contact.weight, 1e-7, 1e-9));
        REQUIRE(close(found.activity, contact.activity, 1e-7, 1e-9));
        REQUIRE(close(found.signed_distance, contact.signed_distance, 1e-9, 1e-11));
        REQUIRE(close(found.normal_AB_W, contact.normal_AB_W, 1e-9, 1e-9));
        REQUIRE(close(found.point_W, contact.point_W, 1e-9, 1e-9));
        REQUIRE(close(found.area, contact.area, 1e-7, 1e-12));
        if (compared >= 60 * static_cast<int>(&pair - slid_pairs().data() + 1)) continue;

        ContactBar bar;
        bar.point_W = random_vector(random);
        bar.signed_distance = random.uniform(-1.0, 1.0);
        bar.normal_AB_W = random_vector(random, 0.1);
        bar.activity = random.uniform(-1e-2, 1e-2);
        bar.weight = random.uniform(-1e-2, 1e-2);
        bar.area = random.uniform(-1.0, 1.0);
        const std::vector<Vec6<double>> pose_dot{random_vector<6>(random), random_vector<6>(random)};
        ContactBar jvp;
        detector.jvp(scene.state.X_WB, pose_dot, linearization, {&jvp, 1});
        const double slope = weighted(bar, jvp);
        const auto loss = [&](double t) {
          auto X_WB = scene.state.X_WB;
          for (std::size_t b = 0; b < 2; ++b) X_WB[b] = retract<double>(X_WB[b], t * pose_dot[b]);
          return weighted(bar, detector.contact(X_WB, feature));
        };
        const auto fd = fd_sweep(loss, 0.0, 1e-3, 1e-7, 1e-8);
        CAPTURE(slope, fd.value, fd.error);
        ++compared;
        if (fd.disagrees_with_itself) {
          ++disagreements;
        } else {
          CHECK(close(slope, fd.value, 1e-4, 1e-5));
        }
        std::vector<Vec6<double>> pose_bar(2, Vec6<double>::Zero());
        detector.vjp(scene.state.X_WB, {&bar, 1}, linearization, pose_bar);
        CHECK(close(pose_bar[0].dot(pose_dot[0]) + pose_bar[1].dot(pose_dot[1]), slope, 1e-9, 1e-9));
      }
    }
  }
  CAPTURE(slid, compared, disagreements);
  CHECK(compared >= 200);
  CHECK(disagreements <= compared / 10);
}

TEST_CASE(
    "slid vertices: derivatives by shape, pose of the primitive and contact points agree with differences",
    "[collision][derivative][nightly]") {
  int compared = 0, slid = 0, disagreements = 0;
  for (const SlidPair& pair : slid_pairs()) {
    int of_pair = 0;
    for (std::uint64_t seed = 1; seed <= 6 && of_pair < samples(40); ++seed) {
      Random random(seed);
      const TestScene scene = touching(pair, random);
      const ContactDetector detector(scene.model, {});
      DetectorScratch scratch;
      ContactManifold manifold;
      detector.detect(scene.state.X_WB, {}, scratch, manifold);
      for (const Contact& found : manifold.contacts) {
        const ContactFeature& feature = found.feature;
        if (feature.kind != ContactKind::vertex_sdf || found.weight < 1e-5 || of_pair >= samples(40)) continue;
        const std::size_t owner = feature.feature_A >= 0 ? 0 : 1;
        if (scene.model.bodies[owner].seeds.normals.cols() == 0) continue;
        const bool is_slid =
            std::max(feature.feature_A, feature.feature_B) >= scene.model.bodies[owner].contact_points.cols();
        ManifoldLinearization linearization;
        detector.linearize(scene.state.X_WB, {&feature, 1}, linearization);
        ContactBar bar;
        bar.point_W = random_vector(random);
        bar.signed_distance = random.uniform(-1.0, 1.0);
        bar.normal_AB_W = random_vector(random, 0.1);
        bar.activity = random.uniform(-1e-2, 1e-2);
        bar.weight = random.uniform(-1e-2, 1e-2);
        bar.area = random.uniform(-1.0, 1.0);
        std::vector<Vec6<double>> pose_bar(2, Vec6<double>::Zero());
        std::vector<GeometryGradient> geometry(2);
        for (std::size_t b = 0; b < 2; ++b) geometry[b].set_zero(scene.model.bodies[b]);
        detector.vjp(scene.state.X_WB, {&bar, 1}, linearization, pose_bar, geometry);

        for (const std::string what : {"parameters", "pose", "contact points"}) {
          std::vector<PrimitiveGradient> change(2);
          std::vector<Points> moved(2);
          double slope = 0.0;
          for (std::size_t b = 0; b < 2; ++b) {
            const Body& body = scene.model.bodies[b];
            const Primitive& primitive = body.shape.primitives.front();
            if (what == "parameters") {
              for (std::size_t k = 0; k < static_cast<std::size_t>(parameter_count(primitive)); ++k)
                change[b].parameters[k] = random.uniform(-1.0, 1.0) * primitive.parameters[k];
            }
            if (what == "pose" && primitive.kind != PrimitiveKind::half_space)
              change[b].pose = random_vector<6>(random, 0.1);
            moved[b] = Points::Zero(3, body.contact_points.cols());
            if (what == "contact points") {
              for (Eigen::Index i = 0; i < moved[b].cols(); ++i)
                moved[b].col(i) = random_vector(random, 0.01);
            }
            slope += inner_product(geometry[b].primitives, {&change[b], 1}) +
                     geometry[b].contact_points.cwiseProduct(moved[b]).sum();
          }
          const auto loss = [&](double t) {
            Model model = scene.model;
            for (std::size_t b = 0; b < 2; ++b) {
              Primitive& primitive = model.bodies[b].shape.primitives.front();
              for (std::size_t k = 0; k < 5; ++k) primitive.parameters[k] += t * change[b].parameters[k];
              primitive.X_BP = retract<double>(primitive.X_BP, t * change[b].pose);
              model.bodies[b].contact_points += t * moved[b];
            }
            return weighted(bar, ContactDetector(model, {}).contact(scene.state.X_WB, feature));
          };
          const auto fd = fd_sweep(loss, 0.0, 1e-3, 1e-7, 1e-8);
          CAPTURE(pair.name, seed, what, is_slid, found.weight, slope, fd.value, fd.error);
          ++compared;
          slid += static_cast<int>(is_slid);
          if (fd.disagrees_with_itself) {
            ++disagreements;
          } else {
            CHECK(close(slope, fd.value, 1e-4, 1e-5));
          }
        }
        ++of_pair;
      }
    }
  }
  CAPTURE(compared, slid, disagreements);
  CHECK(slid >= samples(200));
  CHECK(disagreements <= compared / 10);
}

}  // namespace abut::test
