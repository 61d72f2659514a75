/// The contact kernel: what it leaves out has no weight, and nothing depends on the order of bodies, on
/// memory or, but for rounding, on instructions.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "collision/manifold/contact_activity.h"
#include "collision/manifold/contact_detector.h"
#include "collision/manifold/kernel/pair_kernels.h"
#include "collision/manifold/pair_manifold.h"
#include "engine/body_builder.h"
#include "engine/instruction_set.h"
#include "engine/random.h"
#include "tests/collision/complete_contacts.h"
#include "tests/support/close.h"
#include "tests/support/convex_bodies.h"
#include "tests/support/no_alloc.h"
#include "tests/support/samples.h"
#include "tests/support/scenes.h"
#include "tests/support/test_bodies.h"

using namespace abut;
using test::check_complete;
using test::ContactCounts;
using test::FeatureKey;
using test::NamedPair;
using test::pairs_of_bodies;
using test::placed_pair;
using test::TestScene;

namespace {

/// A floor, and bodies of every kind of search: one primitive, many, some subtracted, edges and none.
TestScene mixed_scene() {
  TestScene scene;
  scene.add(make_half_space());
  scene.add(test::asset("armadillo"));
  scene.add(test::asset("armadillo"));
  scene.add(test::asset("ring"));
  scene.add(test::asset("spot"));
  scene.add(test::asset("hex_nut"));
  scene.add(test::dented_body());
  scene.add(test::box_of_mass({0.1, 0.06, 0.04}, 1.0));
  scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0));
  scene.add(make_sphere(0.05, 1000.0));
  scene.add(make_capsule(0.03, 0.06, 1000.0));
  set_selected_vertices(scene.body(6), 20);
  return scene;
}

void scatter(Random& random, std::vector<Pose<double>>& X_WB) {
  for (std::size_t b = 1; b < X_WB.size(); ++b) {
    X_WB[b].q = random.quaternion();
    X_WB[b].p = {random.uniform(-0.15, 0.15), random.uniform(-0.15, 0.15), random.uniform(0.0, 0.25)};
  }
}

std::size_t check_equal(const ContactManifold& a, const ContactManifold& b) {
  REQUIRE(a.contacts.size() == b.contacts.size());
  REQUIRE(a.pairs.size() == b.pairs.size());
  for (std::size_t i = 0; i < a.contacts.size(); ++i) {
    const Contact x = a.contacts[i], y = b.contacts[i];
    const auto key = [](const ContactFeature& f) {
      return std::tuple(f.kind, f.body_A, f.body_B, f.feature_A, f.feature_B);
    };
    REQUIRE(key(x.feature) == key(y.feature));
    REQUIRE(x.point_W == y.point_W);  // bit for bit, all of it
    REQUIRE(x.normal_AB_W == y.normal_AB_W);
    REQUIRE(std::tuple(x.signed_distance, x.weight, x.activity, x.area) ==
            std::tuple(y.signed_distance, y.weight, y.activity, y.area));
  }
  return a.contacts.size();
}

}  // namespace

TEST_CASE("detect: a scratch that was used gives the contacts of a fresh one, bit for bit",
          "[collision][property]") {
  const TestScene scene = mixed_scene();
  const ContactDetector detector(scene.model, ContactConfig());
  DetectorScratch kept;
  ContactManifold again, fresh;
  std::size_t contacts = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Random random(seed);
    CAPTURE(seed);
    std::vector<Pose<double>> X_WB = scene.state.X_WB;
    std::vector<double> margins(X_WB.size(), 0.0);
    for (int step = 0; step < 40; ++step) {
      CAPTURE(step);
      // Rest, creeping, fast motion, and now and then everything somewhere else.
      const double speed = step % 10 == 0 ? 0.0 : std::pow(10.0, random.uniform(-7.0, -1.7));
      if (step % 13 == 0) scatter(random, X_WB);
      for (std::size_t b = 1; b < X_WB.size(); ++b) {
        X_WB[b].q = exp_quaternion<double>(Vec3<double>(5.0 * speed * random.unit_vector())) * X_WB[b].q;
        X_WB[b].p += speed * random.unit_vector();
        margins[b] = random.uniform(0.0, 3e-3);
      }
      DetectorScratch empty;
      detector.detect(X_WB, margins, empty, fresh);
      detector.detect(X_WB, margins, kept, again);
      contacts += check_equal(again, fresh);
    }
  }
  CHECK(contacts > 10000);
}

TEST_CASE("detect: a scratch that has served another model or other settings gives the same contacts",
          "[collision][property]") {
  Random random(3);
  TestScene one = mixed_scene(), other = mixed_scene();
  std::swap(other.model.bodies[1], other.model.bodies[7]);  // other bodies by the same numbers
  std::swap(other.model.bodies[2], other.model.bodies[5]);
  ContactConfig wide;
  wide.metric_range = 0.1;
  wide.activity_smoothing = 5e-3;
  scatter(random, one.state.X_WB);
  other.state = one.state;
  DetectorScratch kept;
  ContactManifold again, fresh;
  for (int round = 0; round < 3; ++round) {
    for (const TestScene* scene : {&one, &other}) {
      for (const ContactConfig& config : {ContactConfig(), wide}) {
        const ContactDetector detector(scene->model, config);  // possibly where the last one was
        DetectorScratch empty;
        detector.detect(scene->state.X_WB, {}, empty, fresh);
        detector.detect(scene->state.X_WB, {}, kept, again);
        CHECK(check_equal(again, fresh) > 100);
      }
    }
  }
}

namespace {

/// What a kernel finds of the two bodies of a scene.
template <typename T>
ContactBlock<T> found(TestScene& scene, std::string_view instruction_set,
                      ManifoldOrder order = ManifoldOrder::value) {
  const Body &A = scene.body(0), &B = scene.body(1);
  const ShapeSdf sdf_A(A.shape), sdf_B(B.shape);
  const std::vector<MeshEdge> edges_A = contact_edges(A), edges_B = contact_edges(B);
  const BodyFeatures<T> features_A(A, sdf_A, edges_A), features_B(B, sdf_B, edges_B);
  const double size = std::min(A.size, B.size), inradius = std::min(A.inradius, B.inradius);
  const ContactConfig config;
  const PairProblem<T> problem(features_A, features_B, config, size, inradius,
                               4.0 * config.activity_smoothing * size);
  ContactBlock<T> block;
  block.clear(order, center_of(scene.state.X_WB[0], scene.state.X_WB[1]));
  block.reserve(4096);
  PairScratch<T> scratch;
  scratch.prepare(problem);
  const PairKernels kernels = kernels_for<PairKernels>(instruction_set);
  const PairPoses<T> poses(scene.state.X_WB[0], scene.state.X_WB[1]);
  bool has_room = false;
  while (!has_room) {
    if constexpr (std::is_same_v<T, float>) {
      has_room = kernels.find_float(problem, poses, scratch, block);
    } else {
      has_room = kernels.find_double(problem, poses, scratch, block);
    }
    if (!has_room) scratch.grow(problem);
  }
  return block;
}

template <typename T>
std::map<FeatureKey, int> places(const ContactBlock<T>& block) {
  std::map<FeatureKey, int> result;
  for (int i = 0; i < block.count; ++i) {
    const ContactKind kind =
        i < block.ends[k_vertices_of_B] ? ContactKind::vertex_sdf : ContactKind::edge_edge;
    result.emplace(FeatureKey{kind, block.feature(0, i), block.feature(1, i)}, i);
  }
  return result;
}

}  // namespace

TEST_CASE("detect: has all contacts with weight, as if every vertex and pair of edges were evaluated",
          "[collision][property][nightly]") {
  int edges_of_kinds = 0, other_edges = 0;
  for (const NamedPair& pair : pairs_of_bodies()) {
    const std::size_t edge_pairs = contact_edges(pair.A).size() * contact_edges(pair.B).size();
    ContactCounts found;
    for (const std::uint64_t seed :
         test::seeds(static_cast<int>(std::clamp<std::size_t>(600'000 / (1 + edge_pairs), 4, 60)))) {
      CAPTURE(pair.name, seed);
      TestScene scene = placed_pair(pair, seed, seed % 2 == 0);
      check_complete(scene, found);
    }
    CAPTURE(pair.name);
    CHECK(found.vertices > test::samples(20));
    CHECK(found.weightless > test::samples(100));
    (pair.is_of_kinds ? edges_of_kinds : other_edges) += found.edges;
  }
  CHECK(edges_of_kinds > test::samples(50));
  CHECK(other_edges > test::samples(50));
}

TEST_CASE("detect: has all contacts of convex bodies, near ends and at small angles too, in any setting",
          "[collision][property]") {
  const bool has_defaults = GENERATE(true, false);
  ContactCounts found;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    TestScene scene;
    scene.add(test::random_convex_body("A", random).body);
    scene.add(test::random_convex_body("B", random).body);
    if (scene.body(0).contact_points.cols() * scene.body(1).contact_points.cols() > 400) continue;
    // An end of an edge of each, side by side, and turned little against each other in every other scene.
    Vec3<double> ends[2];
    for (int b = 0; b < 2; ++b) {
      const Points& points = scene.body(b).contact_points;
      ends[b] =
          points.col(static_cast<Eigen::Index>(random.integer(static_cast<std::uint64_t>(points.cols()))));
    }
    scene.X_WB(0).q = random.quaternion();
    scene.X_WB(1).q = seed % 2 == 0 ? random.quaternion()
                                    : exp_quaternion<double>(0.3 * random.unit_vector()) * scene.X_WB(0).q;
    const double size = std::min(scene.body(0).size, scene.body(1).size);
    scene.X_WB(1).p =
        scene.X_WB(0).q * ends[0] - scene.X_WB(1).q * ends[1] + 0.05 * size * test::random_vector(random);
    ContactConfig config;
    if (!has_defaults) {
      const auto power_of_ten = [&](double low, double high) {
        return std::pow(10.0, random.uniform(low, high));
      };
      config.cone_smoothing = power_of_ten(-4.0, 1.0);
      config.edge_smoothing = power_of_ten(-3.0, -0.5);
      config.parallel_sine = power_of_ten(-3.0, -0.1);
      config.activity_smoothing = power_of_ten(-4.0, -1.5);
    }
    check_complete(scene, found, config);
  }
  CHECK(found.vertices > 500);
  CHECK(found.edges > 500);
}

TEST_CASE("detect: has all contacts of rounded boxes, however different their radii",
          "[collision][property]") {
  ContactCounts found;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    TestScene scene;
    for (int b = 0; b < 2; ++b) {
      const Vec3<double> half(random.uniform(0.05, 0.3), random.uniform(0.05, 0.3), random.uniform(0.3, 0.6));
      scene.add(make_box(half, random.uniform(0.0, 0.95) * half.minCoeff(), 1, 1000.0));
    }
    // Edges cross near their middles.
    const auto middle = [&](int b) {
      const MeshEdge edge = contact_edges(scene.body(b)).front();
      return Vec3<double>(
          0.5 * (scene.body(b).contact_points.col(edge.start) + scene.body(b).contact_points.col(edge.end)));
    };
    const Vec3<double> middles[2] = {middle(0), middle(1)};
    scene.X_WB(0).q = shortest_rotation(middles[0], Vec3<double>::UnitZ());
    scene.X_WB(1).q = exp_quaternion<double>({0.0, 0.0, random.uniform(0.3, 2.8)}) *
                      shortest_rotation(middles[1], -Vec3<double>::UnitZ());
    const double radii = scene.body(0).contact_radius + scene.body(1).contact_radius,
                 size = std::min(scene.body(0).size, scene.body(1).size);
    scene.X_WB(1).p = scene.X_WB(0).q * middles[0] - scene.X_WB(1).q * middles[1] +
                      Vec3<double>(0.0, 0.0, radii) + 0.02 * size * test::random_vector(random);
    check_complete(scene, found);
  }
  CHECK(found.vertices > 10);
  CHECK(found.edges > 300);
}

TEST_CASE("find_pair_contacts: the order of the bodies changes the sign of normals, and not one bit more",
          "[collision][property]") {
  int contacts = 0;
  for (const NamedPair& pair : pairs_of_bodies()) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      TestScene scene = placed_pair(pair, seed);
      TestScene exchanged;
      for (const int body : {1, 0}) {
        exchanged.add(scene.body(body));
        exchanged.state.X_WB.back() = scene.state.X_WB[static_cast<std::size_t>(body)];
      }
      for (const std::string_view set : available_instruction_sets()) {
        CAPTURE(pair.name, seed, set);
        const ContactBlock<double> a = found<double>(scene, set), b = found<double>(exchanged, set);
        const std::map<FeatureKey, int> in_a = places(a), in_b = places(b);
        REQUIRE(in_a.size() == in_b.size());
        for (const auto& [key, i] : in_a) {
          const auto& [kind, feature_A, feature_B] = key;
          const auto it = in_b.find({kind, feature_B, feature_A});
          REQUIRE(it != in_b.end());
          const int k = it->second;
          for (const int c : {int(k_contact_distance), int(k_contact_weight)})
            REQUIRE(a.number(c, i) == b.number(c, k));
          REQUIRE(a.vector(k_contact_point, i) == b.vector(k_contact_point, k));
          REQUIRE(a.vector(k_contact_normal, i) == -b.vector(k_contact_normal, k));
          ++contacts;
        }
      }
    }
  }
  CHECK(contacts > 500);
}

TEST_CASE("find_pair_contacts: instruction sets agree to rounding, single precision to 1e-4",
          "[collision][property]") {
  const std::string_view reference = available_instruction_sets().front();
  for (const NamedPair& pair : pairs_of_bodies()) {
    const double size = std::min(pair.A.size, pair.B.size);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      TestScene scene = placed_pair(pair, seed);
      const ContactBlock<double> expected = found<double>(scene, reference);
      const std::map<FeatureKey, int> in_expected = places(expected);
      const auto compare = [&](const auto& block, double tolerance) {
        const std::map<FeatureKey, int> in_block = places(block);
        for (const auto& [key, i] : in_expected) {
          const auto it = in_block.find(key);
          if (it == in_block.end()) {  // at the edge of its reach
            const double weight = expected.number(k_contact_weight, i);
            CHECK((weight < tolerance || std::get<0>(key) == ContactKind::vertex_sdf));
            continue;
          }
          const int k = it->second;
          const auto vector = [&](int column) {
            return Vec3<double>(block.vector(column, k).template cast<double>());
          };
          CAPTURE(expected.number(k_contact_distance, i), expected.number(k_contact_weight, i));
          REQUIRE(test::close(double(block.number(k_contact_weight, k)), expected.number(k_contact_weight, i),
                              0.0, 20.0 * tolerance));
          REQUIRE(test::close(double(block.number(k_contact_distance, k)),
                              expected.number(k_contact_distance, i), 0.0, tolerance * size));
          REQUIRE(test::close(vector(k_contact_point), expected.vector(k_contact_point, i), 0.0,
                              10.0 * tolerance * size));
          REQUIRE(test::close(vector(k_contact_normal), expected.vector(k_contact_normal, i), 0.0,
                              20.0 * tolerance));
        }
      };
      for (const std::string_view set : available_instruction_sets()) {
        CAPTURE(pair.name, seed, set);
        compare(found<double>(scene, set), 1e-10);
        compare(found<float>(scene, set), 1e-4);
      }
    }
  }
}

TEST_CASE("find_pair_contacts: derivatives agree with differences, those of single precision with these",
          "[collision][derivative]") {
  std::vector<double> errors;
  for (const NamedPair& pair : pairs_of_bodies()) {
    const double size = std::min(pair.A.size, pair.B.size);
    for (std::uint64_t seed = 1; seed <= (pair.name == "many primitives" ? 1u : 4u); ++seed) {
      TestScene scene = placed_pair(pair, seed);
      const Pose<double> X_WB = scene.state.X_WB[1];
      const std::string_view widest = available_instruction_sets().back();
      const ContactBlock<double> block = found<double>(scene, widest, ManifoldOrder::complete);
      const double tau = ContactConfig().activity_smoothing * size;
      // point, distance, normal, activity
      const auto outputs = [&](const ContactBlock<double>& of, int i) {
        Eigen::Matrix<double, 8, 1> y;
        y << of.vector(k_contact_point, i) + of.origin_W, of.number(k_contact_distance, i),
            of.vector(k_contact_normal, i),
            of.number(k_contact_weight, i) * activity(of.number(k_contact_distance, i), tau);
        return y;
      };
      const auto derivatives = [](const auto& of, int i, int motion) {
        Eigen::Matrix<double, 8, 1> y;
        for (int k = 0; k < 3; ++k) y[k] = of.number(k_point_by_motion + 6 * k + motion, i);
        y[3] = of.number(k_distance_by_motion + motion, i);
        for (int k = 0; k < 3; ++k) y[4 + k] = of.number(k_normal_by_motion + 6 * k + motion, i);
        y[7] = of.number(k_activity_by_motion + motion, i);
        return y;
      };
      for (int motion = 0; motion < 6; ++motion) {
        const auto moved = [&](double h) {
          const Vec6<double> t = h * Vec6<double>::Unit(motion);
          const Quat<double> turn = exp_quaternion<double>(Vec3<double>(t.head<3>()));
          scene.state.X_WB[1] = {turn * X_WB.q,
                                 block.origin_W + turn * (X_WB.p - block.origin_W) + t.tail<3>()};
          return found<double>(scene, widest);
        };
        const double h = motion < 3 ? 1e-6 : 1e-6 * size;
        const ContactBlock<double> forward = moved(h), backward = moved(-h);
        const std::map<FeatureKey, int> in_forward = places(forward), in_backward = places(backward);
        for (const auto& [key, i] : places(block)) {
          const auto f = in_forward.find(key), b = in_backward.find(key);
          if (f == in_forward.end() || b == in_backward.end() || block.number(k_contact_weight, i) < 1e-6)
            continue;
          const Eigen::Matrix<double, 8, 1> difference =
                                                (outputs(forward, f->second) - outputs(backward, b->second)) /
                                                (2.0 * h),
                                            analytic = derivatives(block, i, motion);
          errors.push_back((difference - analytic).norm() / (1.0 + analytic.norm()));
          CAPTURE(pair.name, seed, motion, std::get<1>(key), std::get<2>(key), difference.transpose(),
                  analytic.transpose());
          CHECK(errors.back() < 1e-2);
        }
      }
      scene.state.X_WB[1] = X_WB;
      for (const std::string_view set : available_instruction_sets()) {
        const auto compare = [&](const auto& other, double tolerance) {
          const std::map<FeatureKey, int> in_other = places(other);
          for (const auto& [key, i] : places(block)) {
            const auto it = in_other.find(key);
            if (it == in_other.end()) continue;
            for (int motion = 0; motion < 6; ++motion) {
              const Eigen::Matrix<double, 8, 1> expected = derivatives(block, i, motion),
                                                got = derivatives(other, it->second, motion);
              CAPTURE(pair.name, seed, set, motion, expected.transpose(), got.transpose());
              CHECK((expected - got).norm() <= tolerance * (1.0 + expected.norm()));
            }
          }
        };
        CAPTURE(set);
        compare(found<double>(scene, set, ManifoldOrder::complete), 1e-7);
        compare(found<float>(scene, set, ManifoldOrder::complete), 2e-2);
      }
    }
  }
  REQUIRE(errors.size() > 1000);
  std::sort(errors.begin(), errors.end());
  CHECK(errors[errors.size() / 2] < 1e-7);
  CHECK(errors[errors.size() * 98 / 100] < 1e-4);
}

TEST_CASE("PairManifold: results do not depend on threads or on how many states are asked for",
          "[collision][batch]") {
  const Body armadillo = test::asset("armadillo"), box = test::box_of_mass({0.1, 0.06, 0.04}, 1.0);
  const PairManifold<float> manifold(armadillo, box, ContactConfig());
  std::vector<PosePair> X_W;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    TestScene scene = placed_pair({"", armadillo, box, 0.15}, seed);
    X_W.push_back({scene.state.X_WB[0], scene.state.X_WB[1]});
  }
  std::vector<ContactBlock<float>> one, four;
  manifold.find(X_W, ManifoldOrder::complete, 1, one);
  manifold.find(X_W, ManifoldOrder::complete, 4, four);
  PairScratch<float> scratch;
  ContactBlock<float> alone;
  int contacts = 0;
  for (std::size_t i = 0; i < X_W.size(); ++i) {
    manifold.find(X_W[i], ManifoldOrder::complete, scratch, alone);
    for (const ContactBlock<float>* const other : {&four[i], &alone}) {
      REQUIRE(other->count == one[i].count);
      for (int c = 0; c < column_count(ManifoldOrder::complete); ++c) {
        const auto a = one[i].column(c), b = other->column(c);
        REQUIRE(std::equal(a.begin(), a.end(), b.begin()));
      }
    }
    contacts += alone.count;
  }
  CHECK(contacts > 100);
  CHECK_THROWS_AS(manifold.find(X_W, ManifoldOrder::value, -1, one), std::invalid_argument);
  X_W[3][1].p[0] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(manifold.find(X_W, ManifoldOrder::value, 2, one), Catch::Contains("not finite"));
  ContactConfig blended;
  blended.reduction = Reduction::blend;
  CHECK_THROWS_AS(PairManifold<double>(armadillo, box, blended), std::invalid_argument);
}

TEMPLATE_TEST_CASE(
    "PairManifold: its memory can be moved, not copied, and the block has the room that contacts need",
    "[collision][property]", double, float) {
  static_assert(!std::is_copy_constructible_v<PairScratch<TestType>> &&
                !std::is_copy_assignable_v<PairScratch<TestType>>);  // it points into itself
  static_assert(std::is_nothrow_move_constructible_v<PairScratch<TestType>>);
  const Body armadillo = test::asset("armadillo");
  const PairManifold<TestType> manifold(armadillo, armadillo, ContactConfig());
  PairScratch<TestType> scratch;
  ContactBlock<TestType> block;
  int most = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const PosePair X_W{Pose<double>(), test::pose_at(test::random_vector(random, 0.02 * armadillo.size),
                                                     test::random_vector(random, 1.0))};
    manifold.find(X_W, ManifoldOrder::value, scratch, block);
    most = std::max(most, block.count);
    CAPTURE(seed, most, block.capacity);
    REQUIRE(block.capacity <= std::max(256, 2 * (most + 3 * 16)));
    PairScratch<TestType> moved = std::move(scratch);  // and goes on where it is
    const ContactBlock<TestType> before = block;
    manifold.find(X_W, ManifoldOrder::value, moved, block);
    REQUIRE(block.count == before.count);
    REQUIRE(std::ranges::equal(block.column(k_contact_distance), before.column(k_contact_distance)));
    scratch = std::move(moved);
  }
  CHECK(most > 20);
}

TEMPLATE_TEST_CASE("PairManifold: a further query with the same memory allocates nothing",
                   "[collision][batch]", double, float) {
  const Body armadillo = test::asset("armadillo"), box = test::box_of_mass({0.1, 0.06, 0.04}, 1.0);
  const PairManifold<TestType> manifold(armadillo, box, ContactConfig());
  std::vector<PosePair> X_W;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    TestScene scene = placed_pair({"", armadillo, box, 0.15}, seed);
    X_W.push_back({scene.X_WB(0), scene.X_WB(1)});
  }
  for (const ManifoldOrder order : {ManifoldOrder::value, ManifoldOrder::jacobian, ManifoldOrder::complete}) {
    PairScratch<TestType> scratch;
    ContactBlock<TestType> block;
    for (const PosePair& poses : X_W) manifold.find(poses, order, scratch, block);
    const test::NoAlloc guard;
    for (const PosePair& poses : X_W) manifold.find(poses, order, scratch, block);
    const auto allocations = guard.allocations();
    CHECK(allocations == 0);
  }
}

TEMPLATE_TEST_CASE("PairManifold: no result is infinite or no number, however degenerate the poses",
                   "[collision][batch]", double, float) {
  const Body cube = make_box({0.05, 0.05, 0.05}, 0.0, 2, 1000.0),
             box = test::box_of_mass({0.1, 0.06, 0.04}, 1.0), armadillo = test::asset("armadillo"),
             prism = test::prism("prism", 6, 0.02, 0.2).body;
  for (const auto& [A, B] : {std::pair(&cube, &cube), std::pair(&box, &cube),
                             std::pair(&armadillo, &armadillo), std::pair(&prism, &prism)}) {
    const PairManifold<TestType> manifold(*A, *B, ContactConfig());
    const double size = A->size, right = 0.5 * std::numbers::pi;
    const std::vector<Pose<double>> poses{{},
                                          test::pose_at({1e-12, 0.0, 0.0}),
                                          test::pose_at({0.0, 0.0, 0.0}, {std::numbers::pi, 0.0, 0.0}),
                                          test::pose_at({0.0, 0.0, 1e-3 * size}, {0.0, 0.0, right}),
                                          test::pose_at({size, 0.0, 0.0}),
                                          test::pose_at({size, size, 0.0}),
                                          test::pose_at({size, size, size}),
                                          test::pose_at({0.5 * size, 0.0, 0.0}, {0.0, right, 0.0}),
                                          test::pose_at({0.0, 0.0, size}, {0.0, 0.0, 0.5 * right}),
                                          test::pose_at({1e3, 0.0, 0.0})};
    PairScratch<TestType> scratch;
    ContactBlock<TestType> block;
    int not_finite = 0, contacts = 0;
    for (const Pose<double>& X : poses) {
      manifold.find(PosePair{Pose<double>(), X}, ManifoldOrder::complete, scratch, block);
      contacts += block.count;
      for (int c = 0; c < column_count(ManifoldOrder::complete); ++c) {
        for (const TestType x : block.column(c)) not_finite += !std::isfinite(x);
      }
    }
    CAPTURE(A->name, B->name);
    CHECK(not_finite == 0);
    CHECK(contacts > 0);
  }
}

TEST_CASE("PairManifold: what is asked for wrongly is refused", "[collision][value]") {
  Body body = test::asset("armadillo");
  ContactConfig config;
  config.activity_smoothing = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(PairManifold<float>(body, body, config), Catch::Contains("activity_smoothing"));
  config = {};
  config.edge_sdf = true;
  CHECK_THROWS_AS(PairManifold<float>(body, body, config), std::invalid_argument);
  body.selected_edges = 3;
  CHECK_THROWS_WITH(PairManifold<float>(body, body, ContactConfig()), Catch::Contains("selected_edges"));
}
