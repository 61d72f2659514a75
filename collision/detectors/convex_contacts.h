/// Contacts of bodies that are made of convex parts: witness points by GJK and EPA or by proximity QPs, and
/// the patches of flush faces.
///
/// Each pair of parts that are nearer than the reach has a contact at its witness points, whose point lies
/// midway between them, and one at each point of its patch (convex/face_patch.h). The weights of a pair of
/// parts add up to 1.
///
/// Feature A of a contact is a n_B + b of the parts a of A and b of B, of which B has n_B; feature B is 0 for
/// the witness points and the number of a point of the patch otherwise, which starts anew where corners come
/// or go.
///
/// Where parts of one body overlap, what lies inside of their union touches, too.
#pragma once

#include <span>
#include <vector>

#include "collision/convex/convex_distance.h"
#include "collision/convex/face_patch.h"
#include "collision/convex/smoothed_derivatives.h"
#include "collision/detectors/padded_part.h"
#include "collision/detectors/point_contact.h"
#include "engine/contact_config.h"

namespace abut {

/// Memory of one thread; allocates only while it grows.
struct ConvexContactScratch {
  ConvexScratch convex;
  SmoothingScratch smoothing;
  FacePatchScratch<double> patch_memory;
  FacePatchScratch<PatchDual> dual_memory;
  FacePatch<double> patch;
  FacePatch<PatchDual> dual_patch;
  std::vector<PointContact> of_parts;
};

/// The parts of two bodies, as one detector sees them: views.
class ConvexContacts {
 public:
  /// By GJK and EPA.
  ConvexContacts(std::span<const ConvexPart<double>> A, std::span<const ConvexPart<double>> B,
                 const ContactConfig& config)
      : A_(A), B_(B), config_(config) {}
  /// By proximity QPs.
  ConvexContacts(std::span<const PaddedPart> A, std::span<const PaddedPart> B, const ContactConfig& config)
      : padded_A_(A), padded_B_(B), config_(config) {}

  /// Appends the contacts nearer than `reach` [m], without derivatives.
  void find(const Pose<double>& X_WA, const Pose<double>& X_WB, double reach, ConvexContactScratch& scratch,
            std::vector<PointContact>& contacts) const;

  /// Appends the contacts of features, in their order, with derivatives. A point that a patch has no longer
  /// is that of the witness points.
  void linearize(const Pose<double>& X_WA, const Pose<double>& X_WB, std::span<const ContactFeature> features,
                 ConvexContactScratch& scratch, std::vector<PointContact>& contacts) const;

 private:
  [[nodiscard]] bool is_padded() const { return !padded_A_.empty(); }
  [[nodiscard]] int count_A() const { return static_cast<int>(is_padded() ? padded_A_.size() : A_.size()); }
  [[nodiscard]] int count_B() const { return static_cast<int>(is_padded() ? padded_B_.size() : B_.size()); }
  [[nodiscard]] const ConvexPart<double>& part_A(int a) const {
    return is_padded() ? padded_A_[at(a)].part : A_[at(a)];
  }
  [[nodiscard]] const ConvexPart<double>& part_B(int b) const {
    return is_padded() ? padded_B_[at(b)].part : B_[at(b)];
  }
  /// Derivatives of witness points as the settings ask for.
  struct AskedDerivatives {
    WitnessByB by_B;
    bool differ_from_exact = false;  ///< by more than a hundredth, as they are smoothed
  };
  /// Witness points of a pair of parts, and derivatives if there is somewhere to put them. False if they are
  /// farther apart than the reach, or have none.
  bool find_witness(int a, int b, const Pose<double>& X_WA, const Pose<double>& X_WB, double reach,
                    ConvexContactScratch& scratch, Witness<double>& witness, AskedDerivatives* asked) const;
  bool find_padded_witness(const PaddedPart& A, const Pose<double>& X_WA, const PaddedPart& B,
                           const Pose<double>& X_WB, Witness<double>& witness, AskedDerivatives* asked) const;
  /// Contacts of one pair of parts: overwrites `contacts`.
  void find_of_parts(int a, int b, const Pose<double>& X_WA, const Pose<double>& X_WB, double reach,
                     bool with_derivatives, ConvexContactScratch& scratch,
                     std::vector<PointContact>& contacts) const;

  std::span<const ConvexPart<double>> A_, B_;
  std::span<const PaddedPart> padded_A_, padded_B_;
  ContactConfig config_;
};

/// Of the configuration's witness_derivative, which is not `exact`.
[[nodiscard]] SmoothingSettings smoothing_settings(const ContactConfig& config);

}  // namespace abut
