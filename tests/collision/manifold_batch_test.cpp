#include "collision/manifold/manifold_batch.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "collision/manifold/kernel/pair_kernels.h"
#include "engine/instruction_set.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/jet_support.h"
#include "tests/support/manifold_cases.h"
#include "tests/support/manifold_reference.h"
#include "tests/support/no_alloc.h"
#include "tests/support/scenes.h"

namespace abut {
namespace {

using test::asset;
using test::cases;
using test::ContactKey;
using test::index_of;
using test::ManifoldReference;
using test::NormalJumps;
using test::pair_of;
using test::PairCase;
using test::random_poses;
using test::ReferenceContact;
using test::ReferenceContacts;

/// Errors allowed: of lengths by the size, of normals, of activities.
struct Tolerance {
  double length, normal, activity;
};

template <typename T>
Tolerance tolerance() {
  // In float, a length of the size is known to 1e-7 of it, a primitive's distance to a few times that, and
  // the weights of a union (smoothing 1/500 of the size) turn 1e-6 of the size into 1e-3 of a normal.
  return sizeof(T) == sizeof(float) ? Tolerance{2e-4, 1e-2, 1e-2} : Tolerance{1e-9, 1e-7, 1e-8};
}

constexpr double k_counts = 1e-6;  ///< activity from which on a contact must be there

/// Counts of what is wrong, with the worst errors.
struct Comparison {
  int contacts = 0, missing = 0, extra = 0, not_finite = 0, twice = 0;
  double length = 0, normal = 0, point = 0, activity = 0;

  template <typename T>
  void add(const PairCase& c, const ReferenceContacts<double>& expected, const ManifoldView<T>& found,
           bool all) {
    const std::map<ContactKey, int> index = index_of(found);
    twice += found.size() - static_cast<int>(index.size());
    const double size = std::isfinite(c.size()) ? c.size() : 1.0;
    for (const auto& [key, contact] : expected) {
      const auto it = index.find(key);
      if (it == index.end()) {
        missing += contact.activity > k_counts || (all && contact.weight > k_counts) ? 1 : 0;
        continue;
      }
      ++contacts;
      const int i = it->second;
      length = std::max(length, std::abs(double(found.signed_distance(i)) - contact.distance) / size);
      activity = std::max(activity, std::abs(double(found.activity(i)) - contact.activity));
      const double turned = (found.normal(i).template cast<double>() - contact.normal).norm();
      const bool may_jump = c.jumps == NormalJumps::surface ||
                            (c.jumps == NormalJumps::inside && contact.distance < -0.02 * size);
      if (std::get<0>(key) >= k_edge_on_A || !may_jump) {
        normal = std::max(normal, turned);
        point = std::max(point, (found.point(i).template cast<double>() - contact.point).norm() / size);
      }
    }
    for (const auto& [key, i] : index)
      extra += expected.contains(key) || double(found.activity(i)) < 1e-2 * k_counts ? 0 : 1;
    for (int i = 0; i < found.size(); ++i) {
      const bool finite = std::isfinite(found.signed_distance(i)) && found.normal(i).allFinite() &&
                          found.point(i).allFinite() && std::isfinite(found.activity(i));
      not_finite += finite ? 0 : 1;
    }
  }
};

/// One comparison for each of the instruction sets.
template <typename T>
std::vector<Comparison> compared(const PairCase& c, const ContactConfig& config, ManifoldScope scope,
                                 std::span<const std::string_view> sets) {
  const ManifoldReference reference(c.A, c.B, config);
  const BodyFeatures<T> A(c.A), B(c.B);
  const PairProblem<T> problem(A, B, config, scope == ManifoldScope::all);
  PairBuffers<T> buffers(problem, ManifoldOrder::value);
  std::vector<Comparison> results(sets.size());
  for (const Pose<double>& X_AB : c.X_AB) {
    const ReferenceContacts<double> expected = reference.contacts<double>({}, X_AB);
    const RelativePose<T> pose{X_AB.rotation().template cast<T>(), X_AB.p.template cast<T>()};
    for (std::size_t i = 0; i < sets.size(); ++i) {
      while (!pair_kernels_for(sets[i]).run<T>(problem, ManifoldOrder::value, pose, buffers))
        buffers.grow(buffers.selected[0].count * buffers.selected[1].padded);
      const ManifoldView<T> view(buffers.columns, buffers.capacity, buffers.count, A, B,
                                 ManifoldOrder::value);
      results[i].add(c, expected, view, scope == ManifoldScope::all);
    }
  }
  return results;
}

template <typename T>
void check(const Comparison& r) {
  const Tolerance allowed = tolerance<T>();
  CAPTURE(r.contacts, r.missing, r.extra, r.not_finite, r.length, r.normal, r.point, r.activity);
  CHECK(r.missing == 0);
  CHECK(r.extra == 0);
  CHECK(r.twice == 0);
  CHECK(r.not_finite == 0);
  CHECK(r.length < allowed.length);
  CHECK(r.point < allowed.normal);
  CHECK(r.normal < allowed.normal);
  CHECK(r.activity < allowed.activity);
}

TEMPLATE_TEST_CASE("manifold_batch: every instruction set finds the contacts of the plain formulas",
                   "[collision][value]", double, float) {
  const auto at = static_cast<std::size_t>(GENERATE(range(0, 14)));
  const PairCase& c = cases().at(at);
  const auto sets = available_instruction_sets();
  const auto results = compared<TestType>(c, {}, ManifoldScope::active, sets);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    CAPTURE(c.name, sets[i]);
    check<TestType>(results[i]);
    CHECK((results[i].contacts > 0) == (c.name != "far apart"));
  }
  REQUIRE(cases().size() == 14);
}

TEMPLATE_TEST_CASE("manifold_batch: scope all has every vertex and every pair of selected edges",
                   "[collision][value]", double, float) {
  const auto at = static_cast<std::size_t>(GENERATE(0, 1, 4, 5, 7, 9, 10));
  const PairCase& c = cases().at(at);
  CAPTURE(c.name);
  const std::string_view set = instruction_set();
  const Comparison r = compared<TestType>(c, {}, ManifoldScope::all, {&set, 1})[0];
  check<TestType>(r);
  CHECK(r.contacts >= static_cast<int>(c.X_AB.size()) *
                          static_cast<int>(c.A.contact_points.cols() + c.B.contact_points.cols()));
}

TEST_CASE("manifold_batch: settings do what they do to the plain formulas", "[collision][value]") {
  const PairCase& c = cases()[0];
  ContactConfig config;
  SECTION("vertices of one body only") { config.vertex_contacts = VertexContacts::first; }
  SECTION("edges only") { config.vertex_contacts = VertexContacts::none; }
  SECTION("vertices only") { config.edge_edge = false; }
  SECTION("other lengths") {
    config.activity_smoothing = 5e-3;
    config.neighbour_smoothing = 2e-2;
    config.neighbour_cutoff = 2.0;
    config.selection_band = 5e-3;
    config.metric_range = 6e-2;
  }
  SECTION("other edges") {
    config.clash_smoothing = 0.2;
    config.clash_threshold = 0.5;
    config.edge_regularization = 0.1;
    config.clip_smoothing = 0.05;
    config.minimum_smoothing = 0.2;
    config.interior_smoothing = 0.05;
    config.cross_smoothing = 0.1;
    config.parallel_blend = 0.1;
    config.normal_fade = 0.1;
  }
  const std::string_view set = instruction_set();
  const Comparison r = compared<double>(c, config, ManifoldScope::active, {&set, 1})[0];
  check<double>(r);
  CHECK(r.contacts > 0);
}

/// Every number of a manifold, columns one after the other.
template <typename T>
std::vector<T> numbers_of(const ManifoldView<T>& view, ManifoldOrder order) {
  std::vector<T> numbers(view.counts().begin(), view.counts().end());
  for (int c = 0; c < column_count(order); ++c) {
    const std::span<const T> column = view.column(c);
    numbers.insert(numbers.end(), column.begin(), column.end());
  }
  return numbers;
}

TEMPLATE_TEST_CASE("manifold_batch: results do not depend on threads, on the size of the batch or its order",
                   "[collision][determinism]", double, float) {
  const Body A = asset("armadillo");
  const PairManifold<TestType> manifold(A, A, {});
  const std::vector<Pose<double>> poses = random_poses(A, A, 77, 0.2, 0.8, 3);
  const ManifoldOrder order =
      GENERATE(ManifoldOrder::value, ManifoldOrder::jacobian, ManifoldOrder::complete);
  ManifoldBatch<TestType> batch;
  manifold.evaluate(poses, order, 1, batch);
  std::vector<std::vector<TestType>> expected;
  for (int i = 0; i < batch.size(); ++i) expected.push_back(numbers_of(batch[i], order));
  REQUIRE(std::any_of(expected.begin(), expected.end(), [](const auto& x) { return x.size() > 1000; }));

  for (const int threads : {2, 3, 0}) {
    manifold.evaluate(poses, order, threads, batch);
    REQUIRE(batch.size() == 77);
    for (int i = 0; i < batch.size(); ++i)
      REQUIRE(numbers_of(batch[i], order) == expected[static_cast<std::size_t>(i)]);
  }
  for (const std::size_t size : {std::size_t{1}, std::size_t{5}, std::size_t{17}}) {
    for (std::size_t first = 0; first < poses.size(); first += size) {
      const auto part = std::span(poses).subspan(first, std::min(size, poses.size() - first));
      manifold.evaluate(part, order, 1, batch);
      for (int i = 0; i < batch.size(); ++i)
        REQUIRE(numbers_of(batch[i], order) == expected[first + static_cast<std::size_t>(i)]);
    }
  }
  const std::vector<Pose<double>> reversed(poses.rbegin(), poses.rend());
  manifold.evaluate(reversed, order, 2, batch);
  for (int i = 0; i < batch.size(); ++i)
    REQUIRE(numbers_of(batch[i], order) == expected[poses.size() - 1 - static_cast<std::size_t>(i)]);

  auto buffers = manifold.make_buffers(order);
  for (std::size_t i = 0; i < poses.size(); ++i) {
    manifold.evaluate(poses[i], order, buffers);
    REQUIRE(numbers_of(manifold.view(buffers), order) == expected[i]);
  }
  manifold.evaluate({}, order, 2, batch);
  CHECK(batch.size() == 0);
}

TEMPLATE_TEST_CASE("manifold_batch: a further evaluation into the same buffers allocates nothing",
                   "[collision][property]", double, float) {
  const PairCase& c = cases()[0];
  const ManifoldScope scope = GENERATE(ManifoldScope::active, ManifoldScope::all);
  const PairManifold<TestType> manifold(c.A, c.B, {}, scope);
  for (const ManifoldOrder order : {ManifoldOrder::value, ManifoldOrder::distance_gradient,
                                    ManifoldOrder::jacobian, ManifoldOrder::complete}) {
    auto buffers = manifold.make_buffers(order);
    for (const Pose<double>& X_AB : c.X_AB) manifold.evaluate(X_AB, order, buffers);
    const test::NoAlloc guard;
    for (const Pose<double>& X_AB : c.X_AB) manifold.evaluate(X_AB, order, buffers);
    const auto allocations = guard.allocations();
    CHECK(allocations == 0);
  }
}

double at_quantile(std::vector<double>& errors, double q) {
  std::sort(errors.begin(), errors.end());
  return errors[static_cast<std::size_t>(q * static_cast<double>(errors.size() - 1))];
}

TEST_CASE("manifold_batch: Jacobians agree with those of the plain formulas by Jet",
          "[collision][derivative]") {
  using Jet = test::Jet<12>;
  const auto at = static_cast<std::size_t>(GENERATE(0, 1, 5, 6, 7));
  const PairCase& c = cases().at(at);
  CAPTURE(c.name);
  const ManifoldReference reference(c.A, c.B, {});
  const PairManifold<double> manifold(c.A, c.B, {});
  const PairManifold<float> manifold_float(c.A, c.B, {});
  auto buffers = manifold.make_buffers(ManifoldOrder::jacobian);
  auto buffers_float = manifold_float.make_buffers(ManifoldOrder::jacobian);
  std::vector<double> errors, errors_float;
  for (const Pose<double>& X_AB : c.X_AB) {
    const auto tangent = test::variables(Eigen::Matrix<double, 12, 1>::Zero().eval());
    const Vec6<Jet> of_A = tangent.head<6>(), of_B = tangent.tail<6>();
    const auto expected =
        reference.contacts<Jet>(retract(Pose<Jet>(), of_A), retract(X_AB.cast<Jet>(), of_B));
    const auto add = [&](const auto& view, const auto& index, std::vector<double>& list) {
      for (const auto& [key, i] : index) {
        const ReferenceContact<Jet>& contact = expected.at(key);
        Eigen::Matrix<double, 4, 12> J, want;
        J.row(0) = view.distance_jacobian(i).template cast<double>();
        J.template bottomRows<3>() = view.normal_jacobian(i).template cast<double>();
        want.row(0) = contact.distance.v.transpose();
        for (int r = 0; r < 3; ++r) want.row(1 + r) = contact.normal[r].v.transpose();
        for (int r = 0; r < 4; ++r) {
          // Of an element, but not below a thousandth of the largest of its row.
          const double largest = want.row(r).cwiseAbs().maxCoeff();
          for (int k = 0; k < 12; ++k) {
            const double scale = std::max({std::abs(want(r, k)), 1e-3 * largest, 1e-12});
            list.push_back(std::abs(J(r, k) - want(r, k)) / scale);
            REQUIRE(std::isfinite(J(r, k)));
          }
        }
      }
    };
    manifold.evaluate(X_AB, ManifoldOrder::jacobian, buffers);
    add(manifold.view(buffers), index_of(manifold.view(buffers)), errors);
    manifold_float.evaluate(X_AB, ManifoldOrder::jacobian, buffers_float);
    add(manifold_float.view(buffers_float), index_of(manifold_float.view(buffers_float)), errors_float);
  }
  CAPTURE(errors.size(), at_quantile(errors, 0.5), at_quantile(errors, 0.99), errors.back(),
          at_quantile(errors_float, 0.5), at_quantile(errors_float, 0.99), errors_float.back());
  REQUIRE(errors.size() >= 10000);
  CHECK(at_quantile(errors, 0.5) < 1e-8);
  CHECK(at_quantile(errors, 0.99) < 1e-5);
  CHECK(at_quantile(errors_float, 0.5) < 1e-4);
  CHECK(at_quantile(errors_float, 0.99) < 0.1);
}

TEST_CASE("manifold_batch: a common motion of both bodies turns normals and changes no distance",
          "[collision][property]") {
  const auto at = static_cast<std::size_t>(GENERATE(0, 1, 5, 7));
  const PairCase& c = cases().at(at);
  CAPTURE(c.name);
  const PairManifold<double> manifold(c.A, c.B, {});
  auto buffers = manifold.make_buffers(ManifoldOrder::jacobian);
  Random random(4);
  int contacts = 0;
  for (const Pose<double>& X_AB : c.X_AB) {
    manifold.evaluate(X_AB, ManifoldOrder::jacobian, buffers);
    const ManifoldView<double> view = manifold.view(buffers);
    contacts += view.size();
    for (int i = 0; i < view.size(); ++i) {
      const Vec3<double> w = random.unit_vector(), v = random.unit_vector();
      Eigen::Matrix<double, 12, 1> motion;
      motion << w, v, w, v + w.cross(X_AB.p);
      const Eigen::Matrix<double, 1, 12> J_d = view.distance_jacobian(i);
      const Eigen::Matrix<double, 3, 12> J_n = view.normal_jacobian(i);
      REQUIRE(std::abs(J_d * motion) < 1e-11 * (1.0 + J_d.norm()));
      REQUIRE((J_n * motion - w.cross(view.normal(i))).norm() < 1e-11 * (1.0 + J_n.norm()));
    }
  }
  CHECK(contacts > 100);
}

TEST_CASE("manifold_batch: orders of derivatives agree with each other", "[collision][derivative]") {
  const PairCase& c = cases()[0];
  const PairManifold<double> manifold(c.A, c.B, {});
  ManifoldBatch<double> value, gradient, jacobian;
  manifold.evaluate(c.X_AB, ManifoldOrder::value, 1, value);
  manifold.evaluate(c.X_AB, ManifoldOrder::distance_gradient, 1, gradient);
  manifold.evaluate(c.X_AB, ManifoldOrder::jacobian, 1, jacobian);
  for (int pose = 0; pose < value.size(); ++pose) {
    const auto v = value[pose], g = gradient[pose], j = jacobian[pose];
    REQUIRE(v.size() == j.size());
    REQUIRE(g.size() == j.size());
    for (int i = 0; i < v.size(); ++i) {
      REQUIRE(test::close(v.signed_distance(i), j.signed_distance(i), 0, 1e-14));
      REQUIRE(test::close(v.normal(i), j.normal(i), 0, 1e-11));
      REQUIRE(v.activity(i) == j.activity(i));
      REQUIRE(test::close(g.distance_jacobian(i), j.distance_jacobian(i), 1e-10, 1e-12));
    }
  }
}

TEST_CASE("mean_distance_gradient: agrees with differences of the mean of the same contacts",
          "[collision][derivative]") {
  const auto at = static_cast<std::size_t>(GENERATE(0, 5));
  const PairCase& c = cases().at(at);
  CAPTURE(c.name);
  const PairManifold<double> manifold(c.A, c.B, {}, ManifoldScope::all);
  auto buffers = manifold.make_buffers(ManifoldOrder::distance_gradient);
  constexpr double k_step = 1e-7;
  int components = 0;
  for (const Pose<double>& X_AB : c.X_AB) {
    Eigen::Matrix<double, 12, 1> gradient, unused;
    manifold.evaluate(X_AB, ManifoldOrder::distance_gradient, buffers);
    const std::vector<int> counts(buffers.count, buffers.count + k_sections);
    const double mean = mean_distance_gradient(manifold.view(buffers), gradient);
    double sum = 0.0;
    for (int i = 0; i < manifold.view(buffers).size(); ++i) sum += manifold.view(buffers).signed_distance(i);
    REQUIRE(test::close(mean, sum / manifold.view(buffers).size(), 1e-12, 1e-14));
    for (int k = 0; k < 12; ++k) {
      double difference = 0.0;
      bool same_contacts = true;
      for (const double sign : {1.0, -1.0}) {
        const Vec6<double> tangent = sign * k_step * Vec6<double>::Unit(k % 6);
        const Pose<double> X_WA = k < 6 ? retract(Pose<double>(), tangent) : Pose<double>(),
                           X_WB = k < 6 ? X_AB : retract(X_AB, tangent);
        manifold.evaluate(X_WA.inverse() * X_WB, ManifoldOrder::distance_gradient, buffers);
        same_contacts = same_contacts && std::equal(counts.begin(), counts.end(), buffers.count);
        difference += sign * mean_distance_gradient(manifold.view(buffers), unused) / (2.0 * k_step);
      }
      if (!same_contacts) continue;
      ++components;
      CAPTURE(k, gradient[k], difference);
      REQUIRE(std::abs(gradient[k] - difference) < 1e-6 * gradient.norm());
    }
  }
  CHECK(components > 100);

  Eigen::Matrix<double, 12, 1> gradient = Eigen::Matrix<double, 12, 1>::Ones();
  const PairManifold<double> active(c.A, c.B, {});
  auto of_active = active.make_buffers(ManifoldOrder::distance_gradient);
  active.evaluate(test::pose_at({100.0, 0.0, 0.0}), ManifoldOrder::distance_gradient, of_active);
  CHECK(mean_distance_gradient(active.view(of_active), gradient) == 0.0);
  CHECK(gradient.norm() == 0.0);
}

/// activity d/size and activity n of every contact on a path, and by Jet their derivatives by its parameter.
using Weighted = std::map<ContactKey, Eigen::Vector4d>;

class Path {
 public:
  Path(const PairCase& c, const Pose<double>& from, const Pose<double>& to)
      : size_(c.size()),
        reference_(c.A, c.B, {}),
        manifold_(c.A, c.B, {}),
        buffers_(manifold_.make_buffers(ManifoldOrder::value)) {
    set(from, to);
  }

  /// Straight in SE(3): the translation at a constant velocity, the rotation about a fixed axis.
  void set(const Pose<double>& from, const Pose<double>& to) {
    from_ = from;
    tangent_ = difference(to, from);
  }

  [[nodiscard]] Weighted values(double s) {
    manifold_.evaluate(retract(from_, Vec6<double>(s * tangent_)), ManifoldOrder::value, buffers_);
    const ManifoldView<double> view = manifold_.view(buffers_);
    Weighted result;
    for (const auto& [key, i] : index_of(view)) {
      Eigen::Vector4d y;
      y << view.signed_distance(i) / size_, view.normal(i);
      result.emplace(key, view.activity(i) * y);
    }
    return result;
  }

  [[nodiscard]] Weighted slopes(double s) const {
    using Jet = test::Jet<1>;
    const Vec6<Jet> tangent = Jet(s, 0) * tangent_.cast<Jet>();
    Weighted result;
    for (const auto& [key, c] : reference_.contacts<Jet>({}, retract(from_.cast<Jet>(), tangent))) {
      if (!(c.activity.a > 0.0)) continue;
      Eigen::Vector4d slope((c.activity * c.distance).v[0] / size_, (c.activity * c.normal[0]).v[0],
                            (c.activity * c.normal[1]).v[0], (c.activity * c.normal[2]).v[0]);
      result.emplace(key, slope);
    }
    return result;
  }

 private:
  double size_;
  Pose<double> from_;
  Vec6<double> tangent_;
  ManifoldReference reference_;
  PairManifold<double> manifold_;
  PairBuffers<double> buffers_;
};

/// Whether all values change between s and s + h by no more than twice what their derivatives at the ends
/// allow for. Where they do, halves are looked at: a jump stays however small h becomes.
struct JumpSearch {
  Path& path;
  double smallest_step;
  int intervals = 0, jumps = 0;
  double steepest = 0.0;

  void look(double s, double h, const Weighted& y0, const Weighted& dy0, const Weighted& y1,
            const Weighted& dy1) {
    ++intervals;
    const auto at = [](const Weighted& y, const ContactKey& key) -> Eigen::Vector4d {
      const auto it = y.find(key);
      return it == y.end() ? Eigen::Vector4d(Eigen::Vector4d::Zero()) : it->second;
    };
    bool explained = true;
    const auto test_key = [&](const ContactKey& key) {
      const double change = (at(y1, key) - at(y0, key)).norm();
      const double slope = std::max(at(dy0, key).norm(), at(dy1, key).norm());
      steepest = std::max(steepest, slope);
      explained = explained && change <= 2.0 * h * slope + 1e-6;
    };
    for (const auto& entry : y0) test_key(entry.first);
    for (const auto& entry : y1) test_key(entry.first);
    if (explained) return;
    if (h < smallest_step) {
      ++jumps;
      return;
    }
    const double middle = s + 0.5 * h;
    const Weighted y = path.values(middle), dy = path.slopes(middle);
    look(s, 0.5 * h, y0, dy0, y, dy);
    look(middle, 0.5 * h, y, dy, y1, dy1);
  }
};

TEST_CASE("manifold_batch: along paths through contact nothing jumps", "[collision][property][slow]") {
  struct Set {
    PairCase pair;
    int paths, samples;
  };
  // 1,000 paths of two small bodies, 40 of two armadillos, in 4 steps each: from a random pose with contacts
  // 0.05 of the size and 0.05 rad on, in a random direction.
  const bool small = GENERATE(true, false);
  const Set set = small ? Set{pair_of("crosses", test::cross_of_mass({0.1, 0.08, 0.06}, 0.5, 0.7, 1.0, 1),
                                      test::cross_of_mass({0.07, 0.09, 0.05}, 0.8, 0.4, 1.0, 1), 0),
                              1000, 4}
                        : Set{pair_of("armadillos", asset("armadillo"), asset("armadillo"), 0), 40, 4};
  CAPTURE(set.pair.name);
  Random random(5);
  Path path(set.pair, {}, {});
  JumpSearch search{path, 1e-9};
  for (int done = 0; done < set.paths;) {
    const double size = set.pair.size();
    Pose<double> from;
    from.q = random.quaternion();
    from.p = random.uniform(0.2, 0.8) * size * random.unit_vector();
    const Vec3<double> turn = 0.05 * random.unit_vector(), way = 0.05 * size * random.unit_vector();
    path.set(from, retract(from, stack<double>(turn, way)));
    const double h = 1.0 / set.samples;
    Weighted y0 = path.values(0.0);
    if (y0.empty()) continue;
    Weighted dy0 = path.slopes(0.0);
    for (int k = 0; k < set.samples; ++k) {
      Weighted y1 = path.values((k + 1) * h), dy1 = path.slopes((k + 1) * h);
      search.look(k * h, h, y0, dy0, y1, dy1);
      y0 = std::move(y1);
      dy0 = std::move(dy1);
    }
    ++done;
  }
  CAPTURE(search.intervals, search.steepest);
  CHECK(search.jumps == 0);
  CHECK(search.steepest > 1.0);
}

TEMPLATE_TEST_CASE("manifold_batch: no result is infinite or no number, however degenerate the pose",
                   "[collision][property]", double, float) {
  const auto at = static_cast<std::size_t>(GENERATE(2, 4, 5));
  const PairCase& c = cases().at(at);
  CAPTURE(c.name);
  std::vector<Pose<double>> poses = c.X_AB;
  poses.emplace_back();
  poses.push_back(test::pose_at({1e-12, 0.0, 0.0}));
  poses.push_back(test::pose_at({0.0, 0.0, 0.0}, {std::numbers::pi, 0.0, 0.0}));
  poses.push_back(test::pose_at({0.0, 0.0, 1e-3 * c.size()}, {0.0, 0.0, std::numbers::pi / 2.0}));
  poses.push_back(test::pose_at({1e3, 0.0, 0.0}));
  for (const ManifoldScope scope : {ManifoldScope::active, ManifoldScope::all}) {
    const PairManifold<TestType> manifold(c.A, c.B, {}, scope);
    ManifoldBatch<TestType> batch;
    manifold.evaluate(poses, ManifoldOrder::jacobian, 1, batch);
    int not_finite = 0;
    for (int pose = 0; pose < batch.size(); ++pose) {
      for (const TestType x : numbers_of(batch[pose], ManifoldOrder::jacobian))
        not_finite += std::isfinite(x) ? 0 : 1;
    }
    CHECK(not_finite == 0);
  }
}

TEST_CASE("manifold_batch: what is asked for wrongly is refused", "[collision][value]") {
  const Body body = test::superquadric_of_mass({0.1, 0.1, 0.1}, 1.0, 1.0, 1.0);
  ContactConfig config;
  config.fidelity = Fidelity::paper;
  CHECK_THROWS_AS(PairManifold<float>(body, body, config), std::invalid_argument);
  config = {};
  config.activity_smoothing = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(PairManifold<float>(body, body, config), Catch::Contains("activity_smoothing"));
  ManifoldBatch<float> batch;
  const PairManifold<float> manifold(body, body, {});
  CHECK_THROWS_AS(manifold.evaluate({}, ManifoldOrder::value, -1, batch), std::invalid_argument);
}

}  // namespace
}  // namespace abut
