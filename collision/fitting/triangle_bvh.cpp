#include "collision/fitting/triangle_bvh.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "collision/fitting/triangle_geometry.h"
#include "engine/count_text.h"
#include "engine/pack.h"

namespace abut {
namespace {

using BoxLanes = Pack<float, 4>;

constexpr int k_bins = 16;
constexpr int k_balanced_from = 24;  // levels of nodes; below, halves of equal number bound the depth

/// The sum of angles of complex numbers, by their product: one arc tangent for all of them.
class AngleSum {
 public:
  /// Adds the angle of x + i y, which lies in (-pi, pi]. Zero has none.
  void add(double x, double y) {
    const double re = re_ * x - im_ * y, im = re_ * y + im_ * x;
    const double scale = std::abs(re) + std::abs(im);
    if (!(scale > 0.0)) return;
    const auto is_positive = [](double u, double v) { return v > 0.0 || (v == 0.0 && u < 0.0); };
    // Two angles of one sign whose sum has the other have passed pi, the cut of the arc tangent.
    if (is_positive(re_, im_) && is_positive(x, y) && !is_positive(re, im)) ++turns_;
    if (im_ < 0.0 && y < 0.0 && !(im < 0.0)) --turns_;
    re_ = re / scale;
    im_ = im / scale;
  }
  [[nodiscard]] double value() const { return std::atan2(im_, re_) + 2.0 * std::numbers::pi * turns_; }

 private:
  double re_ = 1.0, im_ = 0.0;
  int turns_ = 0;
};

/// Adds half the solid angle of the triangle (a, b, c), corners seen from the point: the angle of
/// |a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|  +  i a.(b x c).
void add_half_solid_angle(const Vec3<double>& a, const Vec3<double>& b, const Vec3<double>& c,
                          AngleSum& sum) {
  const double la = a.norm(), lb = b.norm(), lc = c.norm();
  sum.add(la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb, a.dot(b.cross(c)));
}

}  // namespace

/// A triangle while the tree is built: its box and index.
struct TriangleBvh::Item {
  Vec3<float> lower, upper;
  int triangle;

  [[nodiscard]] float middle(int axis) const { return 0.5f * (lower[axis] + upper[axis]); }
};

TriangleBvh::TriangleBvh(const TriangleMesh& mesh) {
  require(!mesh.triangles.empty(), "a mesh without triangles");
  require(mesh.triangles.size() < (std::size_t{1} << 27), "a mesh of more than 2^27 triangles");
  const int count = mesh.triangle_count();
  for (int t = 0; t < count; ++t) {
    for (const int v : mesh.triangles[at(t)]) {
      if (v < 0 || v >= mesh.vertex_count()) {
        throw std::invalid_argument(fmt::format("triangle {} has vertex {}, but the mesh has {}", t, v,
                                                count_text(mesh.vertex_count(), "vertex", "vertices")));
      }
      const Vec3<double> x = mesh.vertices.col(v);
      if (!x.allFinite()) throw std::invalid_argument(fmt::format("vertex {} is not finite", v));
      bounds_.extend(x);
    }
  }
  center_ = bounds_.center();
  const double size = bounds_.sizes().maxCoeff();
  if (size > 0.0) scale_ = 1.0 / size;
  require(std::isfinite(scale_) && std::isfinite(size), fmt::format("a mesh of size {:.3g} m", size));
  const Vec3<float> margin = Vec3<float>::Constant(k_margin);
  std::vector<Item> items(at(count));
  for (int t = 0; t < count; ++t) {
    const Eigen::Vector3i& corners = mesh.triangles[at(t)];
    const Vec3<double> a = mesh.vertices.col(corners[0]), b = mesh.vertices.col(corners[1]),
                       c = mesh.vertices.col(corners[2]);
    items[at(t)] = {to_unit(a.cwiseMin(b).cwiseMin(c)).cast<float>() - margin,
                    to_unit(a.cwiseMax(b).cwiseMax(c)).cast<float>() + margin, t};
  }
  nodes_.reserve(at(count / 5 + 1));
  build(items, {0, count}, 0);
  nodes_.shrink_to_fit();

  corners_.reserve(3 * at(count));
  triangle_of_slot_.reserve(at(count));
  for (const Item& item : items) {
    triangle_of_slot_.push_back(item.triangle);
    for (const int v : mesh.triangles[at(item.triangle)]) corners_.emplace_back(mesh.vertices.col(v));
  }
  moments_.resize(nodes_.size());
  add_moments(0);
}

std::size_t TriangleBvh::memory() const {
  return nodes_.capacity() * sizeof(Node) + moments_.capacity() * sizeof(Moments) +
         corners_.capacity() * sizeof(Vec3<double>) + triangle_of_slot_.capacity() * sizeof(int);
}

/// Divides a range in two, neither empty, where the surface area heuristic finds it best among 16 planes
/// across the longest axis of the middles of boxes. From a certain depth on it is divided into halves of
/// equal number, so that no tree is deeper than k_balanced_from + 14 nodes of 4 children, of which a
/// traversal keeps at most 3 each on its stack.
int TriangleBvh::split(std::vector<Item>& items, Range range, int depth) const {
  const auto begin = items.begin() + range.first, end = items.begin() + range.last;
  const int half = range.first + (range.last - range.first) / 2;
  Eigen::AlignedBox3f middles;
  for (auto item = begin; item != end; ++item)
    middles.extend(Vec3<float>(item->middle(0), item->middle(1), item->middle(2)));
  int axis = 0;
  const float extent = middles.sizes().maxCoeff(&axis);
  if (!(extent > 0.0f)) return half;
  const auto before = [axis](const Item& a, const Item& b) {
    return a.middle(axis) != b.middle(axis) ? a.middle(axis) < b.middle(axis) : a.triangle < b.triangle;
  };
  if (depth >= k_balanced_from) {
    std::nth_element(begin, items.begin() + half, end, before);
    return half;
  }

  const float origin = middles.min()[axis], scale = k_bins / extent;
  const auto bin_of = [=](const Item& item) {
    return std::min(static_cast<int>(scale * (item.middle(axis) - origin)), k_bins - 1);
  };
  std::array<Eigen::AlignedBox3f, k_bins> boxes;
  std::array<int, k_bins> counts{};
  for (auto item = begin; item != end; ++item) {
    const std::size_t bin = at(bin_of(*item));
    ++counts[bin];
    boxes[bin].extend(item->lower).extend(item->upper);
  }
  const auto half_area = [](const Eigen::AlignedBox3f& box) {
    const Vec3<float> s = box.sizes();
    return s.x() * s.y() + s.y() * s.z() + s.z() * s.x();
  };
  std::array<float, k_bins> cost_right{};  // of the bins from this one on
  Eigen::AlignedBox3f box;
  int number = 0;
  for (int bin = k_bins - 1; bin > 0; --bin) {
    if (counts[at(bin)] > 0) box.extend(boxes[at(bin)]);
    number += counts[at(bin)];
    cost_right[at(bin)] = number > 0 ? half_area(box) * static_cast<float>(number) : 0.0f;
  }
  box.setEmpty();
  number = 0;
  int best_bin = 0;
  float best_cost = std::numeric_limits<float>::infinity();
  for (int bin = 1; bin < k_bins; ++bin) {
    if (counts[at(bin - 1)] > 0) box.extend(boxes[at(bin - 1)]);
    number += counts[at(bin - 1)];
    if (number == 0 || number == range.last - range.first) continue;
    const float cost = half_area(box) * static_cast<float>(number) + cost_right[at(bin)];
    if (cost < best_cost) {
      best_cost = cost;
      best_bin = bin;
    }
  }
  if (best_bin == 0) return half;  // boxes without area to speak of
  const auto middle = std::partition(begin, end, [&](const Item& item) { return bin_of(item) < best_bin; });
  return static_cast<int>(middle - items.begin());
}

/// Adds the node of a range, and those below it; returns its index.
std::int32_t TriangleBvh::build(std::vector<Item>& items, Range range, int depth) {
  std::array<Range, 4> parts{range};
  int count = 1;
  while (count < 4) {  // the largest part is divided next
    int largest = 0;
    for (int i = 1; i < count; ++i) {
      if (parts[at(i)].last - parts[at(i)].first > parts[at(largest)].last - parts[at(largest)].first)
        largest = i;
    }
    Range& part = parts[at(largest)];
    if (part.last - part.first <= k_leaf) break;
    const int middle = split(items, part, depth);
    parts[at(count++)] = {middle, part.last};
    part.last = middle;
  }

  const auto index = static_cast<std::int32_t>(nodes_.size());
  nodes_.emplace_back();
  for (int lane = 0; lane < 4; ++lane) {
    constexpr float inf = std::numeric_limits<float>::infinity();
    Eigen::AlignedBox3f box(Vec3<float>::Constant(inf), Vec3<float>::Constant(-inf));
    std::int32_t child = ~0;  // no triangles
    if (lane < count) {
      const Range part = parts[at(lane)];
      for (int i = part.first; i < part.last; ++i) box.extend(items[at(i)].lower).extend(items[at(i)].upper);
      child = part.last - part.first <= k_leaf ? ~(8 * part.first + part.last - part.first)
                                               : build(items, part, depth + 1);
    }
    Node& node = nodes_[at(index)];
    for (int k = 0; k < 3; ++k) {
      node.lower[k][lane] = box.min()[k];
      node.upper[k][lane] = box.max()[k];
    }
    node.child[lane] = child;
  }
  return index;
}

/// Sets the moments of a node and those below it; returns its slots.
TriangleBvh::Range TriangleBvh::add_moments(std::int32_t index) {
  Range all{triangle_count(), 0};
  Moments moments{};
  for (int lane = 0; lane < 4; ++lane) {
    const std::int32_t child = nodes_[at(index)].child[lane];
    const Range range =
        !is_leaf(child) ? add_moments(child) : Range{first_of(child), first_of(child) + count_of(child)};
    if (range.first == range.last) continue;
    all = {std::min(all.first, range.first), std::max(all.last, range.last)};

    double area = 0.0;
    Vec3<double> weighted = Vec3<double>::Zero(), mean = weighted, dipole = weighted;
    const auto area_vector = [&](int slot) -> Vec3<double> {
      const Vec3<double> u = scale_ * (corner(slot, 1) - corner(slot, 0));
      return 0.5 * u.cross(scale_ * (corner(slot, 2) - corner(slot, 0)));
    };
    const auto centroid = [&](int slot) -> Vec3<double> {
      return to_unit((corner(slot, 0) + corner(slot, 1) + corner(slot, 2)) / 3.0);
    };
    for (int slot = range.first; slot < range.last; ++slot) {
      const Vec3<double> vector = area_vector(slot);
      const double a = vector.norm();
      area += a;
      weighted += a * centroid(slot);
      mean += centroid(slot);
      dipole += vector;
    }
    Vec3<double> c = mean / (range.last - range.first);
    if (area > 0.0) c = weighted / area;
    c = c.cast<float>().cast<double>();  // as it is stored
    double squared_radius = 0.0;
    Mat3<double> second = Mat3<double>::Zero();
    for (int slot = range.first; slot < range.last; ++slot) {
      second += area_vector(slot) * (centroid(slot) - c).transpose();
      for (int i = 0; i < 3; ++i)
        squared_radius = std::max(squared_radius, (to_unit(corner(slot, i)) - c).squaredNorm());
    }
    for (int k = 0; k < 3; ++k) {
      moments.center[k][lane] = static_cast<float>(c[k]);
      moments.dipole[k][lane] = static_cast<float>(dipole[k]);
      moments.second[k][lane] = static_cast<float>(second(k, k));
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      moments.second[3 + k][lane] = static_cast<float>(second(i, j) + second(j, i));
    }
    // The mean normal; none where normals cancel, so that the slab is everywhere and bounds nothing.
    Vec3<double> normal = Vec3<double>::Zero();
    if (dipole.norm() > 0.1 * area) normal = dipole.normalized().cast<float>().cast<double>();
    double low = k_infinity, high = -k_infinity;
    for (int i = 3 * range.first; i < 3 * range.last; ++i) {
      const double height = normal.dot(to_unit(corners_[at(i)]));
      low = std::min(low, height);
      high = std::max(high, height);
    }
    Node& node = nodes_[at(index)];
    for (int k = 0; k < 3; ++k) node.normal[k][lane] = static_cast<float>(normal[k]);
    node.low[lane] = static_cast<float>(low) - k_margin;
    node.high[lane] = static_cast<float>(high) + k_margin;
    moments.squared_radius[lane] = static_cast<float>(squared_radius * (1.0 + 1e-6));
  }
  moments_[at(index)] = moments;
  return all;
}

TriangleBvh::Nearest TriangleBvh::nearest(const Vec3<double>& p, const Accuracy& accuracy,
                                          const std::array<int, 3>& hints) const {
  Nearest best;
  double squared = k_infinity;  // of the best distance
  Vec3<double> offset = p;      // from its point to p
  double bound = k_infinity;    // the same of size 1: from there on boxes are not opened
  const double squared_scale = scale_ * scale_;
  const double exact_below = accuracy.exact_below * accuracy.exact_below;
  const double shrink = 1.0 / ((1.0 + accuracy.far_tolerance) * (1.0 + accuracy.far_tolerance));
  const auto try_slot = [&](int slot) {
    const Vec3<double> d = offset_from_triangle(p, corner(slot, 0), corner(slot, 1), corner(slot, 2));
    const double d2 = d.squaredNorm();
    if (!(d2 < squared)) return;
    squared = d2;
    offset = d;
    best.slot = slot;
    bound = static_cast<float>(squared_scale * std::min(d2, std::max(d2 * shrink, exact_below)));
  };
  for (const int slot : hints) {
    ABUT_ASSERT(slot < triangle_count());
    if (slot >= 0 && slot != best.slot) try_slot(slot);
  }
  if (nodes_.empty()) return best;

  const Vec3<float> unit = query(p);
  const std::array<BoxLanes, 3> q{BoxLanes(unit.x()), BoxLanes(unit.y()), BoxLanes(unit.z())};
  struct Entry {
    float squared;
    std::int32_t child;
  };
  std::array<Entry, k_stack> stack;
  int size = 0;
  stack[at(size++)] = {0.0f, 0};
  while (size > 0) {
    const Entry entry = stack[at(--size)];
    if (!(entry.squared < bound)) continue;
    if (is_leaf(entry.child)) {
      for (int i = 0; i < count_of(entry.child); ++i) try_slot(first_of(entry.child) + i);
      continue;
    }
    const Node& node = nodes_[at(entry.child)];
    BoxLanes sum(0.0f);
    for (int k = 0; k < 3; ++k) {
      const BoxLanes outside =
          max(max(BoxLanes::load(node.lower[k]) - q[at(k)], q[at(k)] - BoxLanes::load(node.upper[k])), 0.0f);
      sum = sum + outside * outside;
    }
    const BoxLanes height = q[0] * BoxLanes::load(node.normal[0]) + q[1] * BoxLanes::load(node.normal[1]) +
                            q[2] * BoxLanes::load(node.normal[2]);
    const BoxLanes beside =
        max(max(BoxLanes::load(node.low) - height, height - BoxLanes::load(node.high)), 0.0f);
    sum = max(sum, beside * beside) * k_shrink;
    const int first = size;
    for (std::uint32_t open = bits(sum < bound); open != 0; open &= open - 1) {
      ABUT_ASSERT(size < k_stack);
      const int lane = std::countr_zero(open);
      const float d2 = sum[lane];
      int i = size++;  // by insertion: the nearest comes last, and is opened first
      for (; i > first && stack[at(i - 1)].squared < d2; --i) stack[at(i)] = stack[at(i - 1)];
      stack[at(i)] = {d2, node.child[lane]};
    }
  }
  if (best.slot < 0) return best;
  best.triangle = triangle_of_slot_[at(best.slot)];
  best.distance = std::sqrt(squared);
  best.point = p - offset;
  return best;
}

double TriangleBvh::winding_number(const Vec3<double>& p, double opening) const {
  if (nodes_.empty()) return 0.0;
  const Vec3<float> q = query(p);
  const float squared_opening = static_cast<float>(opening * opening);
  double far_sum = 0.0;  // 4 pi times its part of the winding number
  AngleSum near_sum;
  std::array<std::int32_t, k_stack> stack;
  int size = 0;
  stack[at(size++)] = 0;
  while (size > 0) {
    const std::int32_t index = stack[at(--size)];
    const Moments& m = moments_[at(index)];
    const BoxLanes x = BoxLanes::load(m.center[0]) - q.x(), y = BoxLanes::load(m.center[1]) - q.y(),
                   z = BoxLanes::load(m.center[2]) - q.z();
    const BoxLanes r2 = x * x + y * y + z * z, limit = squared_opening * BoxLanes::load(m.squared_radius);
    const BoxLanes inverse2 = BoxLanes(1.0f) / r2, inverse3 = inverse2 * sqrt(inverse2);
    // N.r/r^3 + tr M/r^3 - 3 r^T M r/r^5
    const BoxLanes quadratic = BoxLanes::load(m.second[0]) * x * x + BoxLanes::load(m.second[1]) * y * y +
                               BoxLanes::load(m.second[2]) * z * z + BoxLanes::load(m.second[3]) * y * z +
                               BoxLanes::load(m.second[4]) * z * x + BoxLanes::load(m.second[5]) * x * y;
    const BoxLanes value =
        (BoxLanes::load(m.dipole[0]) * x + BoxLanes::load(m.dipole[1]) * y + BoxLanes::load(m.dipole[2]) * z +
         BoxLanes::load(m.second[0]) + BoxLanes::load(m.second[1]) + BoxLanes::load(m.second[2]) -
         3.0f * inverse2 * quadratic) *
        inverse3;
    const Node& node = nodes_[at(index)];
    for (int lane = 0; lane < 4; ++lane) {
      const std::int32_t child = node.child[lane];
      if (child == ~0) continue;  // none: near the middle of the mesh its moments are 0 times infinity
      if (r2[lane] > limit[lane]) {
        far_sum += static_cast<double>(value[lane]);
      } else if (is_leaf(child)) {
        for (int i = 0; i < count_of(child); ++i) {
          const int slot = first_of(child) + i;
          add_half_solid_angle(corner(slot, 0) - p, corner(slot, 1) - p, corner(slot, 2) - p, near_sum);
        }
      } else {
        ABUT_ASSERT(size < k_stack);
        stack[at(size++)] = child;
      }
    }
  }
  return (0.5 * far_sum + near_sum.value()) / (2.0 * std::numbers::pi);
}

TriangleBvh::Crossings TriangleBvh::crossings(const Vec3<double>& origin,
                                              const Vec3<double>& direction) const {
  Crossings result;
  if (nodes_.empty()) return result;
  const Vec3<float> o = query(origin);
  Vec3<float> inverse = direction.normalized().cast<float>();
  for (float& x : inverse) x = 1.0f / (std::abs(x) > 1e-20f ? x : 1e-20f);  // finite: no product is NaN
  std::array<std::int32_t, k_stack> stack;
  int size = 0;
  stack[at(size++)] = 0;
  while (size > 0) {
    const Node& node = nodes_[at(stack[at(--size)])];
    BoxLanes enter(0.0f), leave(std::numeric_limits<float>::max());
    for (int k = 0; k < 3; ++k) {
      const BoxLanes a = (BoxLanes::load(node.lower[k]) - o[k]) * inverse[k],
                     b = (BoxLanes::load(node.upper[k]) - o[k]) * inverse[k];
      enter = max(enter, min(a, b));
      leave = min(leave, max(a, b));
    }
    for (int lane = 0; lane < 4; ++lane) {
      const std::int32_t child = node.child[lane];
      if (child == ~0 || !(enter[lane] <= leave[lane] * (1.0f + 1e-5f))) continue;
      if (!is_leaf(child)) {
        ABUT_ASSERT(size < k_stack);
        stack[at(size++)] = child;
        continue;
      }
      for (int i = 0; i < count_of(child); ++i) {
        const int slot = first_of(child) + i;
        const Vec3<double> a = corner(slot, 0) - origin, b = corner(slot, 1) - origin,
                           c = corner(slot, 2) - origin;
        // Volumes that the line spans with the edges: of one sign where it passes through the triangle.
        const double u = direction.dot(b.cross(c)), v = direction.dot(c.cross(a)),
                     w = direction.dot(a.cross(b)), sum = u + v + w;
        if (sum == 0.0 || !((u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0)))
          continue;
        const double t = (u * a + v * b + w * c).dot(direction) / (sum * direction.squaredNorm());
        if (!(t > 0.0)) continue;
        ++result.count;
        if (t >= result.first) continue;
        result.first = t;
        result.triangle = triangle_of_slot_[at(slot)];
      }
    }
  }
  return result;
}

}  // namespace abut
