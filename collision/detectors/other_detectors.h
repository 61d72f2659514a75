/// The detectors beside the manifold, behind one interface: what they prepare of bodies, the contacts of a
/// pair, and their derivatives.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "collision/detectors/convex_contacts.h"
#include "collision/detectors/padded_part.h"
#include "collision/detectors/point_contact.h"
#include "collision/detectors/triangle_contacts.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/contact_config.h"
#include "engine/model.h"

namespace abut {

/// Memory of one thread.
struct OtherDetectorScratch {
  ConvexContactScratch convex;
  std::vector<TriangleContact> triangles;
};

/// Two bodies at their poses, and how their contacts are found.
struct PairQuery {
  int body_A = -1, body_B = -1;
  const Pose<double>*X_WA = nullptr, *X_WB = nullptr;
  const ShapeSdf *sdf_A = nullptr, *sdf_B = nullptr;
  ContactConfig config;  ///< its detector is not the manifold
};

class OtherDetectors {
 public:
  /// Prepares what pairs of bodies that may touch need. Throws std::invalid_argument where a detector refuses
  /// a pair (engine/detector_choice.h).
  OtherDetectors(const Model& model, const ContactConfig& defaults);

  /// Appends the contacts nearer than `reach` [m], without derivatives.
  void find(const PairQuery& query, double reach, OtherDetectorScratch& scratch,
            std::vector<PointContact>& contacts) const;

  /// Appends the contacts of features, in their order, with derivatives.
  void linearize(const PairQuery& query, std::span<const ContactFeature> features,
                 OtherDetectorScratch& scratch, std::vector<PointContact>& contacts) const;

 private:
  /// What is prepared of a body: empty where no detector asks for it.
  struct Prepared {
    std::vector<ConvexPart<double>> parts;
    std::map<double, std::vector<PaddedPart>> padded;  ///< by qp_padding
    std::unique_ptr<const TriangleSearch> triangles;
    double triangle_radius = 0;  ///< of a ball that is swept over them [m]
  };
  void prepare(const Body& body, const ContactConfig& config, Prepared& prepared) const;
  [[nodiscard]] ConvexContacts convex_contacts(const PairQuery& query) const;
  [[nodiscard]] TriangleQuery triangle_query(const PairQuery& query, bool owner_is_A, double margin) const;
  [[nodiscard]] const Prepared& prepared(int body) const { return prepared_[at(body)]; }

  std::vector<Prepared> prepared_;  ///< one for each body
};

}  // namespace abut
