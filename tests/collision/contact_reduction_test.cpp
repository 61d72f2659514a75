#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "collision/manifold/contact_blending.h"
#include "collision/manifold/contact_clustering.h"
#include "collision/manifold/contact_reduction.h"
#include "engine/pose.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace {

using namespace abut;

ContactBlendingSettings blending() {
  ContactBlendingSettings settings;
  settings.length = 0.03;
  settings.depth = 0.01;
  settings.fade = 0.05;
  return settings;
}
ContactClusteringSettings clustering(double radius = 0.2, int points = 4) {
  ContactClusteringSettings settings;
  settings.radius = radius;
  settings.depth = 0.01;
  settings.fade = 0.05;
  settings.points = points;
  return settings;
}

Contact contact_at(const Vec3<double>& point, double distance, const Vec3<double>& normal,
                   double activity = 0.5, double area = 1.0) {
  Contact c;
  c.feature = {ContactKind::vertex_sdf, 0, 1, 0, -1};
  c.point_W = point;
  c.signed_distance = distance;
  c.normal_AB_W = normal;
  c.activity = activity;
  c.area = area;
  return c;
}

/// n x n contacts of a square of side 0.2 in the plane z = 0.
std::vector<Contact> square_face(int n) {
  std::vector<Contact> contacts;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < n; ++k) {
      contacts.push_back(contact_at({0.2 * i / (n - 1) - 0.1, 0.2 * k / (n - 1) - 0.1, 0.0}, -1e-3,
                                    Vec3<double>::UnitZ(), 0.6, 0.04 / (n * n)));
    }
  }
  return contacts;
}

std::vector<Contact> random_contacts(Random& random, int count) {
  std::vector<Contact> contacts;
  const Vec3<double> mean = random.unit_vector();
  for (int i = 0; i < count; ++i) {
    const double spread = random.uniform() < 0.3 ? 2.0 : 0.2;
    Vec3<double> normal = (mean + test::random_vector(random, spread)).normalized();
    if (random.uniform() < 0.2) normal *= random.uniform(0.02, 0.9);
    contacts.push_back(contact_at(test::random_vector(random, 0.1), random.uniform(-0.02, 0.01), normal,
                                  random.uniform() < 0.15 ? 0.0 : random.uniform(0.01, 1.0),
                                  random.uniform(0.1, 1.0)));
  }
  return contacts;
}

ContactBar random_reduced_bar(Random& random) {
  return {test::random_vector(random), random.uniform(-1.0, 1.0), test::random_vector(random),
          random.uniform(-1.0, 1.0)};
}

double weighted(const std::vector<Contact>& contacts, const std::vector<ContactBar>& bars) {
  double sum = 0.0;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    sum += bars[i].point_W.dot(contacts[i].point_W) + bars[i].signed_distance * contacts[i].signed_distance +
           bars[i].normal_AB_W.dot(contacts[i].normal_AB_W) + bars[i].activity * contacts[i].activity;
  }
  return sum;
}

std::vector<Contact> moved(std::vector<Contact> contacts, const std::vector<ContactBar>& way, double e) {
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    contacts[i].point_W += e * way[i].point_W;
    contacts[i].signed_distance += e * way[i].signed_distance;
    contacts[i].normal_AB_W += e * way[i].normal_AB_W;
    contacts[i].activity += e * way[i].activity;
  }
  return contacts;
}

/// A motion that leaves contacts without activity without it, as one-sided ones have no derivative there.
std::vector<ContactBar> random_way(Random& random, const std::vector<Contact>& contacts) {
  std::vector<ContactBar> way;
  for (const Contact& c : contacts) {
    ContactBar bar = random_reduced_bar(random);
    if (c.activity == 0.0) bar.activity = 0.0;
    way.push_back(bar);
  }
  return way;
}

double dot(const std::vector<ContactBar>& a, const std::vector<ContactBar>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i].point_W.dot(b[i].point_W) + a[i].signed_distance * b[i].signed_distance +
           a[i].normal_AB_W.dot(b[i].normal_AB_W) + a[i].activity * b[i].activity;
  }
  return sum;
}

double active_area(const std::vector<Contact>& contacts) {
  double sum = 0.0;
  for (const Contact& c : contacts) sum += c.area * c.activity;
  return sum;
}

}  // namespace

TEST_CASE("blending: a face keeps its distance, normal, area times activity and nearly its extent",
          "[collision][property]") {
  Random random(3);
  for (int i = 0; i < 30; ++i) {
    const std::vector<Contact> contacts = square_face(9);
    std::vector<Contact> blended;
    blend_contacts(contacts, random.quaternion().toRotationMatrix(), blending(), blended);
    REQUIRE_FALSE(blended.empty());
    CHECK(blended.size() % 4 == 0);
    CHECK(blended.size() <= 16);
    CHECK(test::close(active_area(blended), active_area(contacts), 1e-12, 0));
    for (const Contact& c : blended) {
      REQUIRE(c.feature.kind == ContactKind::blended);
      REQUIRE(test::close(c.signed_distance, -1e-3, 1e-12, 0));
      REQUIRE(test::close(c.normal_AB_W, Vec3<double>(0, 0, 1), 0, 1e-12));
      REQUIRE(c.point_W.head<2>().cwiseAbs().maxCoeff() <= 0.1);
      REQUIRE(c.point_W.head<2>().norm() > 0.05);  // 0.03 log 9 within the rim
    }
    // The centre lies within the support polygon by a margin: every direction has a support beyond 4 cm.
    for (int k = 0; k < 12; ++k) {
      const Vec3<double> u(std::cos(k * 0.5236), std::sin(k * 0.5236), 0.0);
      double farthest = -1.0;
      for (const Contact& c : blended) farthest = std::max(farthest, u.dot(c.point_W));
      REQUIRE(farthest > 0.04);
    }
  }
}

TEST_CASE("blending: opposite walls stay apart", "[collision][property]") {
  std::vector<Contact> contacts;
  for (const double side : {-1.0, 1.0}) {
    for (const double y : {-0.1, 0.1})
      contacts.push_back(contact_at({0.05 * side, y, 0.0}, -2e-3, {side, 0.0, 0.0}));
  }
  std::vector<Contact> blended;
  blend_contacts(contacts, Mat3<double>::Identity(), blending(), blended);
  REQUIRE_FALSE(blended.empty());
  double left = 0.0, right = 0.0;
  for (const Contact& c : blended) {
    CHECK(test::close(c.normal_AB_W.norm(), 1.0, 1e-12, 0));
    CHECK(test::close(c.point_W.x(), 0.05 * c.normal_AB_W.x(), 1e-12, 0));
    (c.normal_AB_W.x() < 0.0 ? left : right) += c.activity * c.area;
  }
  CHECK(test::close(left, right, 1e-12, 0));
  CHECK(test::close(left, 1.0, 1e-12, 0));
}

TEST_CASE("blending: no contact, none active, one alone", "[collision][value]") {
  std::vector<Contact> blended{contact_at({1, 2, 3}, 0.1, {0, 0, 1})};
  blend_contacts({}, Mat3<double>::Identity(), blending(), blended);
  CHECK(blended.empty());
  std::vector<Contact> one{contact_at({1, 2, 3}, 0.1, {0, 0, 1}, 0.0)};
  blend_contacts(one, Mat3<double>::Identity(), blending(), blended);
  CHECK(blended.empty());
  one[0].activity = 1.0;
  blend_contacts(one, Mat3<double>::Identity(), blending(), blended);
  REQUIRE_FALSE(blended.empty());
  for (const Contact& c : blended) CHECK(test::close(c.point_W, one[0].point_W, 1e-14, 0));
}

TEST_CASE("blending: VJP agrees with differences", "[collision][derivative]") {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    const std::vector<Contact> contacts = random_contacts(random, 1 + static_cast<int>(random.integer(20)));
    const Mat3<double> R_WA = random.quaternion().toRotationMatrix();
    std::vector<Contact> blended;
    blend_contacts(contacts, R_WA, blending(), blended);
    std::vector<ContactBar> bars;
    for (std::size_t i = 0; i < blended.size(); ++i) bars.push_back(random_reduced_bar(random));
    std::vector<ContactBar> contact_bar(contacts.size());
    Vec3<double> rotation_bar = Vec3<double>::Zero();
    blend_contacts_vjp(contacts, R_WA, blending(), bars, contact_bar, rotation_bar);
    const std::vector<ContactBar> way = random_way(random, contacts);
    const Vec3<double> turn = test::random_vector(random);
    bool same_outputs = true;
    const auto value = [&](double e) {
      std::vector<Contact> other;
      const Mat3<double> R = exp_quaternion<double>(e * turn).toRotationMatrix() * R_WA;
      blend_contacts(moved(contacts, way, e), R, blending(), other);
      same_outputs = same_outputs && other.size() == bars.size();
      return same_outputs ? weighted(other, bars) : 0.0;
    };
    const test::SweptDerivative difference = test::fd_sweep(value, 0.0, 1e-4, 1e-7, 1e-9);
    if (!same_outputs || difference.disagrees_with_itself) continue;
    CAPTURE(seed, contacts.size(), blended.size());
    ++compared;
    REQUIRE(test::close(difference.value, dot(contact_bar, way) + rotation_bar.dot(turn), 1e-5, 1e-6));
  }
  CHECK(compared > 80);
}

TEST_CASE("blending: outputs follow the reference body and the world alike", "[collision][property]") {
  Random random(11);
  const std::vector<Contact> contacts = random_contacts(random, 12);
  const Mat3<double> R_WA = random.quaternion().toRotationMatrix(),
                     R = random.quaternion().toRotationMatrix();
  std::vector<Contact> turned = contacts, one, other;
  for (Contact& c : turned) {
    c.point_W = R * c.point_W;
    c.normal_AB_W = R * c.normal_AB_W;
  }
  blend_contacts(contacts, R_WA, blending(), one);
  blend_contacts(turned, R * R_WA, blending(), other);
  REQUIRE(one.size() == other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(test::close((R * one[i].point_W).eval(), other[i].point_W, 1e-9, 1e-11));
    CHECK(test::close((R * one[i].normal_AB_W).eval(), other[i].normal_AB_W, 1e-9, 1e-11));
    CHECK(test::close(one[i].activity, other[i].activity, 1e-9, 1e-14));
  }
}

TEST_CASE("reduce_contacts: with the other body as A all is the same but the sign of normals, bars too",
          "[collision][property]") {
  ContactReduction of_A, of_B;
  of_A.kind = of_B.kind = GENERATE(Reduction::blend, Reduction::cluster);
  of_A.blending = of_B.blending = blending();
  of_A.clustering = of_B.clustering = clustering();
  of_B.reference_is_B = true;
  const auto mirror = [](auto& one) { one.normal_AB_W = -one.normal_AB_W; };
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::vector<Contact> contacts = random_contacts(random, 1 + static_cast<int>(random.integer(20)));
    for (std::size_t i = 0; i < contacts.size(); ++i) contacts[i].feature.feature_A = static_cast<int>(i);
    std::vector<Contact> mirrored = contacts;
    for (Contact& c : mirrored) {
      mirror(c);
      std::swap(c.feature.feature_A, c.feature.feature_B);
    }
    std::reverse(mirrored.begin(), mirrored.end());  // nor does the order in which they are found matter
    const Mat3<double> R_WR = random.quaternion().toRotationMatrix();
    ContactClusters clusters, mirrored_clusters;
    std::vector<Contact> reduced, other;
    reduce_contacts(contacts, R_WR, of_A, clusters, reduced);
    reduce_contacts(mirrored, R_WR, of_B, mirrored_clusters, other);
    REQUIRE(reduced.size() == other.size());
    std::vector<ContactBar> bars, other_bars;
    for (std::size_t k = 0; k < reduced.size(); ++k) {
      REQUIRE(other[k].point_W == reduced[k].point_W);
      REQUIRE(other[k].normal_AB_W == -reduced[k].normal_AB_W);
      REQUIRE(other[k].signed_distance == reduced[k].signed_distance);
      REQUIRE(other[k].activity == reduced[k].activity);
      bars.push_back(random_reduced_bar(random));
      other_bars.push_back(bars.back());
      mirror(other_bars.back());
    }
    std::vector<ContactBar> contact_bar(contacts.size()), mirrored_bar(contacts.size());
    Vec3<double> rotation_bar = Vec3<double>::Zero(), other_rotation_bar = Vec3<double>::Zero();
    reduce_contacts_vjp(contacts, R_WR, of_A, clusters, bars, contact_bar, rotation_bar);
    reduce_contacts_vjp(mirrored, R_WR, of_B, mirrored_clusters, other_bars, mirrored_bar,
                        other_rotation_bar);
    REQUIRE(other_rotation_bar == rotation_bar);
    std::reverse(mirrored_bar.begin(), mirrored_bar.end());
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      REQUIRE(mirrored_bar[i].point_W == contact_bar[i].point_W);
      REQUIRE(mirrored_bar[i].normal_AB_W == -contact_bar[i].normal_AB_W);
      REQUIRE(mirrored_bar[i].signed_distance == contact_bar[i].signed_distance);
      REQUIRE(mirrored_bar[i].activity == contact_bar[i].activity);
    }
  }
}

TEST_CASE("clustering: a face keeps its corners", "[collision][value]") {
  const std::vector<Contact> contacts = square_face(9);
  const ContactClusters clusters = cluster_contacts(contacts, clustering(1.0));
  std::vector<Contact> clustered;
  clustered_contacts(contacts, clusters, clustering(1.0), clustered);
  REQUIRE(clustered.size() == 4);
  std::set<std::pair<int, int>> corners;
  for (const Contact& c : clustered) {
    CHECK(test::close(c.point_W.cwiseAbs().eval(), Vec3<double>(0.1, 0.1, 0.0), 1e-12, 1e-15));
    corners.insert({c.point_W.x() > 0 ? 1 : -1, c.point_W.y() > 0 ? 1 : -1});
    CHECK(test::close(c.signed_distance, -1e-3, 1e-12, 0));
    CHECK(test::close(c.activity, 0.6, 1e-12, 0));
  }
  CHECK(corners.size() == 4);
  CHECK(test::close(active_area(clustered), active_area(contacts), 1e-12, 0));
}

TEST_CASE("clustering: members are near and alike, the deepest is kept, nothing is lost",
          "[collision][property]") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    const std::vector<Contact> contacts = random_contacts(random, static_cast<int>(random.integer(40)));
    const int points = 1 + static_cast<int>(random.integer(5));
    const ContactClusteringSettings settings = clustering(random.uniform(0.01, 0.2), points);
    const ContactClusters clusters = cluster_contacts(contacts, settings);
    CAPTURE(seed, contacts.size(), points);
    REQUIRE(clusters.kept_of.size() == contacts.size());
    std::vector<Contact> clustered;
    clustered_contacts(contacts, clusters, settings, clustered);
    REQUIRE(clustered.size() <= contacts.size());
    REQUIRE(test::close(active_area(clustered), active_area(contacts), 1e-12, 1e-15));
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const Contact& kept =
          contacts[static_cast<std::size_t>(clusters.kept[static_cast<std::size_t>(clusters.kept_of[i])])];
      const double cosine = kept.normal_AB_W.normalized().dot(contacts[i].normal_AB_W.normalized());
      REQUIRE(cosine > std::cos(0.5236) - 1e-4);
    }
    if (contacts.empty()) continue;
    const auto deepest = std::min_element(
        contacts.begin(), contacts.end(),
        [](const Contact& a, const Contact& b) { return a.signed_distance < b.signed_distance; });
    REQUIRE(std::count(clusters.kept.begin(), clusters.kept.end(),
                       static_cast<int>(deepest - contacts.begin())) == 1);
    for (std::size_t k = 0; k < clusters.kept.size(); ++k)
      REQUIRE(clusters.kept_of[static_cast<std::size_t>(clusters.kept[k])] == static_cast<int>(k));
  }
}

TEST_CASE("clustering: VJP for fixed clusters agrees with differences", "[collision][derivative]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const std::vector<Contact> contacts = random_contacts(random, 2 + static_cast<int>(random.integer(20)));
    const ContactClusters clusters = cluster_contacts(contacts, clustering());
    std::vector<ContactBar> bars;
    for (std::size_t i = 0; i < clusters.kept.size(); ++i) bars.push_back(random_reduced_bar(random));
    std::vector<ContactBar> contact_bar(contacts.size());
    clustered_contacts_vjp(contacts, clusters, clustering(), bars, contact_bar);
    const std::vector<ContactBar> way = random_way(random, contacts);
    const auto value = [&](double e) {
      std::vector<Contact> other;
      clustered_contacts(moved(contacts, way, e), clusters, clustering(), other);
      return weighted(other, bars);
    };
    const test::SweptDerivative difference = test::fd_sweep(value, 0.0, 1e-4, 1e-8, 1e-10);
    CAPTURE(seed);
    REQUIRE(test::close(difference.value, dot(contact_bar, way), 1e-6, 1e-7));
  }
}
