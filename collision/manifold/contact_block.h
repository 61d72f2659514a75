/// Contacts as a structure of arrays: what the kernel writes, and others read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "engine/types.h"

namespace abut {

/// How much of contacts is computed; each includes those before it. Derivatives are by the motion (w; v) of B
/// about the origin of the block, that moves x to x + w x x + v, while A rests. Those by the poses of both
/// bodies follow: BlockDerivative.
enum class ManifoldOrder {
  value,
  jacobian,  ///< derivatives of signed distances and normals
  complete   ///< and of points and activities: of all but areas
};

/// Columns of numbers, one a contact.
enum ContactColumn {
  k_contact_point = 0,     ///< 3, midway between the surfaces, from the origin of the block, axes of W [m]
  k_contact_distance = 3,  ///< d [m]
  k_contact_normal = 4,    ///< 3, from A to B, in W
  k_contact_weight = 7,    ///< of all factors of the activity but that of the distance
  k_contact_activity = 8,  ///< weight S(1/2 - d/(8 tau_p))
  /// Quadrature weight: of a vertex that which faces the solid, of edges the mean of both [m^2].
  k_contact_area = 9,
  k_distance_by_motion = 10,  ///< 6
  k_normal_by_motion = 16,    ///< 18, row by row
  k_point_by_motion = 34,     ///< 18
  k_activity_by_motion = 52,  ///< 6
};

[[nodiscard]] constexpr int column_count(ManifoldOrder order) {
  return order == ManifoldOrder::value ? 10 : order == ManifoldOrder::jacobian ? 34 : 58;
}

/// A contact without derivatives, with both of its features, takes at most a quarter of a kilobyte.
static_assert(column_count(ManifoldOrder::value) * sizeof(double) + 2 * sizeof(int) <= 250);

/// The contacts of a pair are in the order vertices of A, vertices of B, pairs of edges.
enum ContactSection { k_vertices_of_A, k_vertices_of_B, k_edge_pairs, k_contact_sections };

template <typename T>
struct ContactBlock {
  int count = 0;                               ///< contacts
  int ends[k_contact_sections] = {};           ///< of each section of the last pair
  int capacity = 0;                            ///< contacts that there is room for
  ManifoldOrder order = ManifoldOrder::value;  ///< of what there is
  std::vector<T> numbers;                      ///< column c of contact i is numbers[c * capacity + i]
  std::vector<int>
      features;  ///< of A: features[i], of B: features[capacity + i]; contact point or edge, -1: none
  Vec3<double> origin_W = Vec3<double>::Zero();  ///< [m]

  /// Starts anew; keeps the memory.
  void clear(ManifoldOrder its_order, const Vec3<double>& its_origin_W) {
    count = 0;
    order = its_order;
    origin_W = its_origin_W;
    const std::size_t needed =
        static_cast<std::size_t>(column_count(order)) * static_cast<std::size_t>(capacity);
    if (numbers.size() < needed) numbers.resize(needed);
  }

  /// Makes room for as many contacts.
  void reserve(int contacts) {
    if (contacts <= capacity) return;
    const auto widened = [&](auto& columns, int how_many) {
      auto wider = columns;
      wider.resize(static_cast<std::size_t>(how_many) * static_cast<std::size_t>(contacts));
      for (int c = 0; c < how_many; ++c)
        std::copy_n(columns.begin() + static_cast<std::ptrdiff_t>(c) * capacity, count,
                    wider.begin() + static_cast<std::ptrdiff_t>(c) * contacts);
      columns.swap(wider);
    };
    widened(numbers, column_count(order));
    widened(features, 2);
    capacity = contacts;
  }

  /// Contact `from` also in the place of contact `to`.
  void copy(int from, int to) {
    for (int c = 0; c < column_count(order); ++c) set_number(c, to, number(c, from));
    for (int side = 0; side < 2; ++side) set_feature(side, to, feature(side, from));
  }

  [[nodiscard]] T number(int column, int i) const {
    return numbers[static_cast<std::size_t>(column) * static_cast<std::size_t>(capacity) +
                   static_cast<std::size_t>(i)];
  }
  void set_number(int column, int i, T value) {
    numbers[static_cast<std::size_t>(column) * static_cast<std::size_t>(capacity) +
            static_cast<std::size_t>(i)] = value;
  }
  void set_vector(int column, int i, const Vec3<T>& value) {
    for (int k = 0; k < 3; ++k) set_number(column + k, i, value[k]);
  }
  void set_feature(int side, int i, int value) {
    features[static_cast<std::size_t>(side) * static_cast<std::size_t>(capacity) +
             static_cast<std::size_t>(i)] = value;
  }
  [[nodiscard]] Vec3<T> vector(int column, int i) const {
    return {number(column, i), number(column + 1, i), number(column + 2, i)};
  }
  [[nodiscard]] int feature(int side, int i) const {
    return features[static_cast<std::size_t>(side) * static_cast<std::size_t>(capacity) +
                    static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::span<const T> column(int c) const {
    return {numbers.data() + static_cast<std::size_t>(c) * static_cast<std::size_t>(capacity),
            static_cast<std::size_t>(count)};
  }
};

}  // namespace abut
