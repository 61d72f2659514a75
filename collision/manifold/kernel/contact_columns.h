/// Contacts of one kind and one owner on the way back from their numbers to poses and shapes: columns of
/// whole packs of 8 contacts. What fills the last pack up is a copy of the last contact with bars of 0.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// A pose for files compiled for one instruction set: rotation row by row, position [m].
struct PlainPose {
  double R[9];
  double p[3];

  PlainPose() = default;
  explicit PlainPose(const Pose<double>& X) {
    const Mat3<double> rotation = X.rotation();
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) R[3 * i + j] = rotation(i, j);
      p[i] = X.p[i];
    }
  }
};

/// Columns of contact points of an owner O at a solid S, in the order of the way back.
namespace vertex_columns {
enum Column {
  k_point = 0,          ///< 3, in O [m]
  k_area_vector = 3,    ///< 3, in O [m^2]; all 0 with the area if areas are constant
  k_area = 6,           ///< [m^2]
  k_distance = 7,       ///< d [m]
  k_normal = 8,         ///< 3, from A to B, in W
  k_point_bar = 11,     ///< 3: dL/d of the contact
  k_distance_bar = 14,  ///< by the distance, that of the activity included
  k_normal_bar = 15,    ///< 3
  k_area_bar = 18,      ///< by the logarithm of the area
  k_cone_bar = 19,      ///< 3, in W: by the normal of the solid, of what turns with O (closest_features.h)
  k_x_S = 22,           ///< 3, written: the contact point in S [m]
  k_phi = 25,           ///< written: its signed distance [m]
  k_phi_bar = 26,       ///< written
  k_n_bar = 27,         ///< 3, written: by the normal of the solid, in S
  k_x_bar = 30,         ///< 3: by the contact point, in S; given to the second part
  k_by_point = 33,      ///< 3, written: by the contact point, in O
  k_count = 36
};
}  // namespace vertex_columns

/// Columns of pairs of convex edges of A and B.
namespace edge_columns {
enum Column {
  k_geometry = 0,         ///< 12 of A, 12 of B: start, end, both face normals, in the body
  k_point = 24,           ///< 3, written, as those down to the probes: the contact, in W
  k_distance = 27,        ///< [m]
  k_normal = 28,          ///< 3
  k_weight = 31,          ///< but for the gates
  k_gate_input = 32,      ///< 3: GateInput
  k_probe = 35,           ///< 3 in A, 3 in B [m]
  k_probe_distance = 41,  ///< of A, of B: phi there [m], given
  k_gates = 43,           ///< written
  k_point_bar = 44,       ///< 3: dL/d of the contact
  k_distance_bar = 47,
  k_normal_bar = 48,  ///< 3
  k_weight_bar = 51,  ///< by the weight with its gates
  k_gate_bar = 52,    ///< of A, of B: by phi there, written
  k_probe_bar = 54,   ///< 3 in A, 3 in B: by the probe in the body, given
  k_start_bar = 60,   ///< 3 in A, 3 in B, written, as those below: by the ends of the edges
  k_end_bar = 66,
  k_face_bar = 72,  ///< 6 in A, 6 in B: by the face normals
  k_count = 84
};
}  // namespace edge_columns

/// Memory of such columns; allocates only while it grows.
class ContactColumns {
 public:
  static constexpr std::size_t k_pack = 8;

  void resize(std::size_t contacts, int columns) {
    stride_ = (contacts + k_pack - 1) / k_pack * k_pack;
    if (numbers_.size() < stride_ * static_cast<std::size_t>(columns))
      numbers_.resize(stride_ * static_cast<std::size_t>(columns));
  }
  /// Of a column.
  [[nodiscard]] std::size_t stride() const { return stride_; }
  [[nodiscard]] double* column(int c) { return numbers_.data() + static_cast<std::size_t>(c) * stride_; }
  [[nodiscard]] const double* column(int c) const {
    return numbers_.data() + static_cast<std::size_t>(c) * stride_;
  }
  void set(int c, std::size_t i, double x) { column(c)[i] = x; }
  void set(int c, std::size_t i, const Vec3<double>& x) {
    for (int k = 0; k < 3; ++k) column(c + k)[i] = x[k];
  }
  [[nodiscard]] Vec3<double> vector(int c, std::size_t i) const {
    return {column(c)[i], column(c + 1)[i], column(c + 2)[i]};
  }
  /// Copies the last of `contacts` contacts into what fills the last pack up: `columns` columns from c on.
  void fill_up(std::size_t contacts, int c, int columns) {
    for (int k = c; k < c + columns; ++k) {
      double* const numbers = column(k);
      for (std::size_t i = contacts; i < stride_; ++i) numbers[i] = numbers[contacts - 1];
    }
  }
  /// Sets what fills the last pack up to 0.
  void clear_rest(std::size_t contacts, int c, int columns) {
    for (int k = c; k < c + columns; ++k) {
      double* const numbers = column(k);
      for (std::size_t i = contacts; i < stride_; ++i) numbers[i] = 0.0;
    }
  }

 private:
  std::size_t stride_ = 0;
  std::vector<double> numbers_;
};

}  // namespace abut
