/// PairManifold<float> against PairManifold<double>.
#include <array>
#include <map>
#include <vector>

#include "../support/colliding_poses.h"
#include "accuracy_table.h"
#include "block_contacts.h"
#include "collision/manifold/pair_manifold.h"
#include "samples.h"
#include "test_bodies.h"

namespace abut::accuracy {
namespace {

/// Numbers of a contact that are compared together.
struct ColumnGroup {
  const char* name;
  int first, count;
};
constexpr std::array k_groups{ColumnGroup{"point", k_contact_point, 3},
                              ColumnGroup{"distance", k_contact_distance, 1},
                              ColumnGroup{"normal", k_contact_normal, 3},
                              ColumnGroup{"weight", k_contact_weight, 1},
                              ColumnGroup{"distance by motion", k_distance_by_motion, 6},
                              ColumnGroup{"normal by motion", k_normal_by_motion, 18},
                              ColumnGroup{"point by motion", k_point_by_motion, 18},
                              ColumnGroup{"activity by motion", k_activity_by_motion, 6}};

template <typename T>
Eigen::VectorXd numbers(const ContactBlock<T>& block, int contact, const ColumnGroup& group) {
  Eigen::VectorXd x(group.count);
  for (int k = 0; k < group.count; ++k) x[k] = static_cast<double>(block.number(group.first + k, contact));
  return x;
}

/// Of one kind of contact.
struct Errors {
  std::array<Samples, k_groups.size()> errors, sizes;
  double missed = 0.0;
};

}  // namespace

Table measure_single_precision(bool quick) {
  const Body armadillo = unit_size_asset("armadillo");
  const std::vector<Pose<double>> poses = benchmarks::colliding_poses(armadillo, quick ? 5 : 1000);
  const PairManifold<double> in_double(armadillo, armadillo, ContactConfig());
  const PairManifold<float> in_float(armadillo, armadillo, ContactConfig());
  PairScratch<double> double_scratch;
  PairScratch<float> float_scratch;
  ContactBlock<double> exact;
  ContactBlock<float> single;
  Errors of_vertices, of_edges;
  for (const Pose<double>& X_AB : poses) {
    in_double.find({Pose<double>(), X_AB}, ManifoldOrder::complete, double_scratch, exact);
    in_float.find({Pose<double>(), X_AB}, ManifoldOrder::complete, float_scratch, single);
    const std::map<ContactKey, int> in_exact = places_of(exact), in_single = places_of(single);
    const auto errors_of = [&](const ContactKey& key) -> Errors& {
      return is_edge_pair(key) ? of_edges : of_vertices;
    };
    for (const auto& [key, i] : in_single) {
      if (!in_exact.contains(key) &&
          block_activity(single, i, in_float.activity_smoothing()) > k_least_activity)
        ++errors_of(key).missed;
    }
    for (const auto& [key, i] : in_exact) {
      if (block_activity(exact, i, in_double.activity_smoothing()) <= k_least_activity) continue;
      Errors& errors = errors_of(key);
      const auto found = in_single.find(key);
      if (found == in_single.end()) {
        ++errors.missed;
        continue;
      }
      for (std::size_t g = 0; g < k_groups.size(); ++g) {
        const Eigen::VectorXd wanted = numbers(exact, i, k_groups[g]);
        errors.errors[g].add((numbers(single, found->second, k_groups[g]) - wanted).norm());
        errors.sizes[g].add(wanted.norm());
      }
    }
  }
  Table table({"contacts", "error of", "compared", "missed", "median", "99 %", "max", "largest value"});
  for (Errors* of : {&of_vertices, &of_edges}) {
    const char* kind = of == &of_vertices ? "vertex-SDF" : "edge-edge";
    for (std::size_t g = 0; g < k_groups.size(); ++g) {
      Samples& errors = of->errors[g];
      table.add_row({kind, k_groups[g].name, static_cast<double>(errors.size()), of->missed, errors.median(),
                     errors.quantile(0.99), errors.largest(), of->sizes[g].largest()});
    }
  }
  return table;
}

}  // namespace abut::accuracy
