/// Contacts of two armadillos that overlap, and their derivatives by the two poses. One iteration is one
/// query; the time is the mean over the poses.
#include <benchmark/benchmark.h>

#include <vector>

#include "collision/manifold/contact_detector.h"
#include "scenes.h"

namespace abut::benchmarks {
namespace {

/// By the left perturbations of both poses, [A; B]: rows d, n_AB (x, y, z).
using ContactJacobian = Eigen::Matrix<double, 4, 12>;

/// The median number of contacts, of those that are inside, and a hash of all contacts.
void report_contacts(benchmark::State& state, const ContactDetector& detector, const PoseSet& set) {
  DetectorScratch scratch;
  ContactManifold manifold;
  std::vector<double> contacts, inside;
  Hash hash;
  for (const PosePair& X_WB : set.X_WB) {
    detector.detect(X_WB, {}, scratch, manifold);
    contacts.push_back(static_cast<double>(manifold.contacts.size()));
    inside.push_back(0.0);
    for (const Contact& contact : manifold.contacts)
      inside.back() += contact.signed_distance < 0.0 ? 1.0 : 0.0;
    hash.add(manifold);
  }
  state.counters["contacts"] = median(contacts);
  state.counters["inside"] = median(inside);
  state.SetLabel(hash.text());
}

void vertex_sdf(benchmark::State& state) {
  const PoseSet& set = colliding_armadillos();
  const ContactDetector detector(set.model, ContactConfig());
  DetectorScratch scratch;
  ContactManifold manifold;
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(set.X_WB.size()))) {
    for (const PosePair& X_WB : set.X_WB) {
      detector.detect(X_WB, {}, scratch, manifold);
      benchmark::DoNotOptimize(manifold.contacts.data());
      benchmark::ClobberMemory();
    }
  }
  report_contacts(state, detector, set);
}

void contact_jacobian(const ContactLinearization& at, ContactJacobian& jacobian) {
  const bool owner_is_A = at.owner == 0;
  const Vec6<double> zero = Vec6<double>::Zero();
  for (int column = 0; column < 12; ++column) {
    const Vec6<double> unit = Vec6<double>::Unit(column % 6);
    const bool of_owner = (column < 6) == owner_is_A;
    const ContactBar d = ContactDetector::jvp(at, of_owner ? unit : zero, of_owner ? zero : unit);
    jacobian(0, column) = d.signed_distance;
    jacobian.block<3, 1>(1, column) = d.normal_AB_W;
  }
}

void vertex_sdf_jacobian(benchmark::State& state) {
  const PoseSet& set = colliding_armadillos();
  const ContactDetector detector(set.model, ContactConfig());
  DetectorScratch scratch;
  ContactManifold manifold;
  std::vector<ContactFeature> features;
  std::vector<Contact> contacts;
  std::vector<ContactLinearization> linearizations;
  std::vector<ContactJacobian> jacobians;
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(set.X_WB.size()))) {
    for (const PosePair& X_WB : set.X_WB) {
      detector.detect(X_WB, {}, scratch, manifold);
      features.clear();
      for (const Contact& contact : manifold.contacts) features.push_back(contact.feature);
      detector.linearize(X_WB, features, contacts, linearizations);
      jacobians.resize(linearizations.size());
      for (std::size_t i = 0; i < linearizations.size(); ++i)
        contact_jacobian(linearizations[i], jacobians[i]);
      benchmark::DoNotOptimize(jacobians.data());
      benchmark::ClobberMemory();
    }
  }
  report_contacts(state, detector, set);
}

BENCHMARK(vertex_sdf)->Name("manifold/armadillo/vertex_sdf")->Unit(benchmark::kMicrosecond);
BENCHMARK(vertex_sdf_jacobian)->Name("manifold/armadillo/vertex_sdf_jacobian")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace abut::benchmarks
