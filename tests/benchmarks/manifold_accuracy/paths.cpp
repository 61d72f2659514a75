/// Finite-difference Lipschitz constants of contacts along paths, and how they grow as the step is halved.
#include "paths.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "../support/colliding_poses.h"
#include "accuracy_table.h"
#include "block_contacts.h"
#include "collision/manifold/pair_manifold.h"
#include "convex_bodies.h"
#include "engine/random.h"
#include "test_bodies.h"

namespace abut::accuracy {
namespace {

constexpr double k_step = 2e-6;  ///< h, of the path's parameter [rad, size]
constexpr int k_halvings = 3;
constexpr int k_parts = 1 << k_halvings;  ///< of a step, at the finest
constexpr double k_allowed_growth = 1.2;  ///< from one halving to the next
constexpr double k_negligible = 1e-2;     ///< share of the set's constant below which a path's is left out

enum Quantity { k_point, k_distance, k_normal, k_activity, k_wrench, k_quantities };
constexpr std::array k_quantity_names{"point", "distance", "normal", "activity", "net wrench"};

/// Lipschitz constants at the steps h, h/2, h/4, h/8.
using Constants = std::array<double, k_halvings + 1>;
using PathConstants = std::array<Constants, k_quantities>;

struct ContactNumbers {
  ContactKey key;
  Vec3<double> point, normal;
  double distance, activity;
};

/// The contacts at one pose, in the order of their keys, and their wrench on B about the origin of A.
struct ContactState {
  std::vector<ContactNumbers> contacts;
  Vec6<double> wrench;
};

/// The contacts along a path: of one thread.
class ContactsAlong {
 public:
  ContactsAlong(const PairManifold<double>& manifold, const StraightPath& path)
      : manifold_(&manifold), path_(&path) {}

  void evaluate(double t, ContactState& state) {
    manifold_->find({Pose<double>(), path_->at<double>(t)}, ManifoldOrder::value, scratch_, block_);
    const double tau = manifold_->activity_smoothing();
    state.contacts.clear();
    state.wrench.setZero();
    for (int i = 0; i < block_.count; ++i) {
      const ContactNumbers& contact = state.contacts.emplace_back(
          ContactNumbers{key_of(block_, i), block_.origin_W + block_.vector(k_contact_point, i),
                         block_.vector(k_contact_normal, i), block_.number(k_contact_distance, i),
                         block_activity(block_, i, tau)});
      const double d = contact.distance, psi = 0.5 * (std::sqrt(d * d + tau * tau) - d);
      const Vec3<double> force = contact.activity * psi * contact.normal;
      state.wrench += stack<double>(contact.point.cross(force), force);
    }
    std::sort(state.contacts.begin(), state.contacts.end(),
              [](const ContactNumbers& a, const ContactNumbers& b) { return a.key < b.key; });
  }

 private:
  const PairManifold<double>* manifold_;
  const StraightPath* path_;
  PairScratch<double> scratch_;
  ContactBlock<double> block_;
};

/// Raises the constants of a step h to what two states have. A contact that one of them lacks has activity 0
/// there.
void compare(const ContactState& before, const ContactState& now, double h, std::size_t halvings,
             PathConstants& constants) {
  const auto raise = [&](Quantity of, double change) {
    double& constant = constants[of][halvings];
    constant = std::max(constant, change / h);
  };
  raise(k_wrench, (now.wrench - before.wrench).norm());
  auto a = before.contacts.begin(), b = now.contacts.begin();
  while (a != before.contacts.end() || b != now.contacts.end()) {
    if (b == now.contacts.end() || (a != before.contacts.end() && a->key < b->key)) {
      raise(k_activity, a->activity);
      ++a;
    } else if (a == before.contacts.end() || b->key < a->key) {
      raise(k_activity, b->activity);
      ++b;
    } else {
      raise(k_activity, std::abs(b->activity - a->activity));
      if (std::max(a->activity, b->activity) > k_least_activity) {
        raise(k_point, (b->point - a->point).norm());
        raise(k_distance, std::abs(b->distance - a->distance));
        raise(k_normal, (b->normal - a->normal).norm());
      }
      ++a;
      ++b;
    }
  }
}

/// Along a path of so many steps of h, about its middle.
PathConstants constants_along(const PairManifold<double>& manifold, const StraightPath& path, int steps) {
  PathConstants constants{};
  ContactsAlong contacts(manifold, path);
  std::array<ContactState, k_parts + 1> states;  // the last ones, in turn
  const auto state = [&](int i) -> ContactState& { return states[at(i % (k_parts + 1))]; };
  const double finest = k_step / k_parts;
  for (int i = 0; i <= steps * k_parts; ++i) {
    contacts.evaluate((i - steps * k_parts / 2) * finest, state(i));
    for (int halvings = 0; halvings <= k_halvings; ++halvings) {
      const int stride = k_parts >> halvings;
      if (i >= stride && i % stride == 0)
        compare(state(i - stride), state(i), stride * finest, at(halvings), constants);
    }
  }
  return constants;
}

/// Of each path, by all threads of the machine.
std::vector<PathConstants> constants_of(const PairManifold<double>& manifold,
                                        std::span<const StraightPath> paths, int steps) {
  std::vector<PathConstants> constants(paths.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size(); i = next++)
      constants[i] = constants_along(manifold, paths[i], steps);
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  return constants;
}

/// The largest growth from one halving to the next.
double growth(const Constants& constants, double negligible) {
  double largest = 0.0;
  for (std::size_t k = 0; k < k_halvings; ++k)
    largest = std::max(largest, constants[k + 1] / std::max(constants[k], negligible));
  return largest;
}

void add_rows(const char* name, const PairManifold<double>& manifold, std::span<const StraightPath> paths,
              int steps, Table& table) {
  const std::vector<PathConstants> of_paths = constants_of(manifold, paths, steps);
  for (std::size_t quantity = 0; quantity < k_quantities; ++quantity) {
    Constants all{};
    for (const PathConstants& constants : of_paths) {
      for (std::size_t k = 0; k <= k_halvings; ++k) all[k] = std::max(all[k], constants[quantity][k]);
    }
    const double negligible = k_negligible * all.back();
    const auto growing = std::count_if(of_paths.begin(), of_paths.end(), [&](const PathConstants& constants) {
      return growth(constants[quantity], negligible) > k_allowed_growth;
    });
    table.add_row({name, k_quantity_names[quantity], static_cast<double>(paths.size()), all[0], all[1],
                   all[2], all[3], growth(all, 0.0), static_cast<double>(growing)});
  }
}

// Poses of two equal boxes at which edges are parallel ------------------------------------------------------

const Vec3<double> k_half_extents(0.5, 0.4, 0.3);

/// 0 in every third case: edges, or their ends, at the same place.
double offset_or_none(double largest, Random& random) {
  const double offset = random.uniform(-largest, largest);
  return random.integer(3) == 0 ? 0.0 : offset;
}

double random_depth(Random& random) { return random.uniform(-0.004, 0.01); }

/// B on top of A, turned by a multiple of 90 degrees: all edges are parallel to others, and faces lie flush.
Pose<double> face_on_face(Random& random) {
  const double quarters = static_cast<double>(random.integer(4));
  Pose<double> X_AB;
  X_AB.q = Eigen::AngleAxisd(0.5 * std::numbers::pi * quarters, Vec3<double>::UnitZ());
  const double x = offset_or_none(0.3, random), y = offset_or_none(0.3, random);
  X_AB.p = {x, y, 2.0 * k_half_extents.z() - random_depth(random)};
  return X_AB;
}

/// Both turned about the x axis, B's lowest edge along A's topmost one.
Pose<double> edge_along_edge(Random& random) {
  Pose<double> X_WA, X_WB;
  const auto turned = [&] {
    const double angle = random.uniform(10.0, 80.0) * std::numbers::pi / 180.0;
    return Quat<double>(Eigen::AngleAxisd(angle, Vec3<double>::UnitX()));
  };
  X_WA.q = turned();
  X_WB.q = turned();
  const Vec3<double> corner(0.0, k_half_extents.y(), k_half_extents.z());
  const double x = offset_or_none(0.3, random), y = offset_or_none(0.02, random);
  X_WB.p = X_WA.q * corner + X_WB.q * corner + Vec3<double>(x, y, -random_depth(random));
  return X_WA.inverse() * X_WB;
}

std::vector<Pose<double>> poses_of(int count, Pose<double> (*pose)(Random&)) {
  Random random(8);
  std::vector<Pose<double>> poses;
  for (int i = 0; i < count; ++i) poses.push_back(pose(random));
  return poses;
}

}  // namespace

Table measure_paths(bool quick) {
  const int steps = quick ? 200 : 2000;
  Table table(
      {"paths", "of", "count", "L at h", "L at h/2", "L at h/4", "L at h/8", "growth", "paths above 1.2"});
  const Body armadillo = unit_size_asset("armadillo"), box = make_sharp_box(k_half_extents).body;
  const PairManifold<double> armadillos(armadillo, armadillo, ContactConfig()),
      boxes(box, box, ContactConfig());
  const int of_armadillos = quick ? 4 : 400, of_boxes = quick ? 4 : 300;
  add_rows("armadillos", armadillos, paths_through(benchmarks::colliding_poses(armadillo, of_armadillos)),
           steps, table);
  add_rows("boxes, face on face", boxes, paths_through(poses_of(of_boxes, face_on_face)), steps, table);
  add_rows("boxes, edge along edge", boxes, paths_through(poses_of(of_boxes, edge_along_edge)), steps, table);
  return table;
}

}  // namespace abut::accuracy
