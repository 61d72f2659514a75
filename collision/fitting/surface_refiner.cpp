#include "collision/fitting/surface_refiner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "collision/fitting/surface_creases.h"
#include "collision/fitting/triangle_geometry.h"

namespace abut {
namespace {

constexpr double k_min_cosine = 0.3;       // between the normals of triangle and surface
constexpr double k_least_quality = 1e-6;   // worse triangles cost no more, so they can be mended
constexpr double k_highest_bridge = 3e-4;  // chord of a crease above the surface, by the size
constexpr double k_most_vertices = 1.5;    // times those wanted, with what such chords are split by
constexpr double k_crease_reach = 0.25;    // of its length, around a crease
constexpr double k_first_slide = 0.2;      // of the mean length of a vertex' edges
constexpr double k_outlier_weight = 0.1;   // of the fourth power of the distance
constexpr double k_min_gain = 1e-3;        // what a change must bring to be made
constexpr double k_surplus = 1.05;         // times the vertices wanted: with more, none is added
constexpr double k_settled = 2e-3;         // relative gain of a round that is the last

using Corners = std::array<Vec3<double>, 3>;

/// Around a triangle.
struct Ball {
  Vec3<double> center;
  double radius;

  explicit Ball(const Corners& x) : center((x[0] + x[1] + x[2]) / 3.0) {
    radius = std::sqrt(std::max(
        {(x[0] - center).squaredNorm(), (x[1] - center).squaredNorm(), (x[2] - center).squaredNorm()}));
  }
};

std::vector<Ball> balls_around(std::span<const Corners> triangles) {
  std::vector<Ball> balls;
  balls.reserve(triangles.size());
  for (const Corners& x : triangles) balls.emplace_back(x);
  return balls;
}

/// Triangles that stand for some samples: a part of the mesh as it is, or as it could be.
struct Patch {
  std::vector<Corners> triangles;
  std::vector<int> samples;
  std::vector<std::size_t> owners;  // of the samples: a triangle that is likely the nearest
  double energy_before = 0.0;       // of the part of the mesh that it was made of
};

class SurfaceRefiner {
 public:
  SurfaceRefiner(const SurfaceField& field, const Points& samples, const SurfaceMeshOptions& options,
                 double tolerance, EditableMesh& mesh)
      : field_(field), samples_(samples), options_(options), tolerance_(tolerance), mesh_(mesh) {
    const Vec3<double> extents = samples.rowwise().maxCoeff() - samples.rowwise().minCoeff();
    size_ = extents.maxCoeff();
    least_squared_distance_ = std::pow(1e-6 * size_, 2);
    squared_distances_.resize(static_cast<std::size_t>(samples.cols()));
    set_scales();
    slide_steps_.assign(static_cast<std::size_t>(mesh_.vertex_slots()), k_first_slide);
  }

  void refine() {
    const int surplus = mesh_.vertex_count() - options_.vertices;
    while (mesh_.vertex_count() > options_.vertices) {  // each pass takes away one in six or so
      const int before = mesh_.vertex_count();
      flip_edges();
      slide_vertices(1);
      move_vertices();
      set_scales();
      if (options_.progress) {
        const int left = std::max(0, mesh_.vertex_count() - options_.vertices);
        options_.progress("vertices removed", surplus - left, surplus);
      }
      if (mesh_.vertex_count() == before) break;
    }
    double before = energy_of_mesh();
    for (int round = 0; round < options_.rounds; ++round) {
      flip_edges();
      slide_vertices(3);
      move_vertices();
      assign_all_samples();
      set_energies();
      const double after = energy_of_mesh();
      const bool has_settled = before - after < k_settled * before;
      before = after;
      if (options_.progress)
        options_.progress("rounds", has_settled ? options_.rounds : round + 1, options_.rounds);
      if (has_settled) break;
    }
    flip_edges();
    slide_vertices(10);
    flip_edges();
    if (split_bridges()) flip_edges();
  }

 private:
  /// Makes the energy one a triangle for distance, as the mesh is now.
  void set_scales() {
    double area = 0.0;
    int triangles = 0;
    for (int t = 0; t < mesh_.triangle_slots(); ++t) {
      if (mesh_.triangle(t)[0] < 0) continue;
      const Corners x = corners(t);
      area += 0.5 * (x[1] - x[0]).cross(x[2] - x[0]).norm();
      ++triangles;
    }
    mean_area_ = area / triangles;
    sample_weight_ = triangles / static_cast<double>(samples_.cols());
    mean_squared_distance_ =
        std::max(assign_all_samples() / static_cast<double>(samples_.cols()), least_squared_distance_);
    set_energies();
  }

  /// Splits creases whose chords lie in the air, as those of the rim of a hole: what fits into the hole is to find room.
  /// Returns whether there were any.
  bool split_bridges() {
    const double most = k_highest_bridge * size_;
    const int before = mesh_.vertex_count();
    for (bool is_done = false; !is_done;) {
      is_done = true;
      for (const auto& [a, b] : mesh_.edges()) {
        if (!mesh_.is_crease(a, b) || mesh_.vertex_count() >= k_most_vertices * options_.vertices ||
            field_(0.5 * (mesh_.position(a) + mesh_.position(b))).distance <= most)
          continue;
        const std::optional<Vec3<double>> middle = on_crease(a, b, 0.5);
        if (!middle) continue;
        split(a, b, *middle);
        is_done = false;
      }
    }
    return mesh_.vertex_count() > before;
  }

  // What a patch costs -------------------------------------------------------------------------------------

  [[nodiscard]] Corners corners(int t) const {
    const auto& v = mesh_.triangle(t);
    return {mesh_.position(v[0]), mesh_.position(v[1]), mesh_.position(v[2])};
  }

  [[nodiscard]] double energy_of_shape(const Corners& x) const {
    const auto& [a, b, c] = x;
    const double quality = std::max(triangle_quality(a, b, c), k_least_quality);
    const double relative_area = 0.5 * (b - a).cross(c - a).norm() / mean_area_;
    return options_.shape_weight * (1.0 / quality - 1.0) +
           options_.area_weight * relative_area * relative_area;
  }
  [[nodiscard]] double energy_of_distance(double squared_distance) const {
    const double relative = squared_distance / mean_squared_distance_;
    return sample_weight_ * relative * (1.0 + k_outlier_weight * relative);
  }

  /// The energy of the patch, or infinity as soon as it exceeds `limit`.
  [[nodiscard]] double energy(const Patch& patch, double limit) const {
    double sum = 0.0;
    for (const Corners& x : patch.triangles) sum += energy_of_shape(x);
    const std::vector<Ball> balls = balls_around(patch.triangles);
    for (std::size_t i = 0; i < patch.samples.size(); ++i) {
      if (sum >= limit) return k_infinity;
      const std::size_t owner = std::min(patch.owners[i], balls.size() - 1);
      sum += energy_of_distance(nearest(patch.triangles, balls, patch.samples[i], owner).squared_distance);
    }
    return sum;
  }

  struct Nearest {
    double squared_distance;
    std::size_t triangle;
  };
  /// Compared with triangle `first` first; the more others are then ruled out by their balls.
  [[nodiscard]] Nearest nearest(std::span<const Corners> triangles, std::span<const Ball> balls, int sample,
                                std::size_t first) const {
    const Vec3<double> p = samples_.col(sample);
    const auto squared_distance_to = [&](std::size_t i) {
      const auto& [a, b, c] = triangles[i];
      return squared_distance_to_triangle(p, a, b, c);
    };
    Nearest best{squared_distance_to(first), first};
    double distance = std::sqrt(best.squared_distance);
    for (std::size_t i = 0; i < triangles.size(); ++i) {
      const double reach = distance + balls[i].radius;
      if (i == first || (balls[i].center - p).squaredNorm() >= reach * reach) continue;
      const double d = squared_distance_to(i);
      if (d >= best.squared_distance) continue;
      best = {d, i};
      distance = std::sqrt(d);
    }
    return best;
  }

  /// How many triangles face away from the surface.
  [[nodiscard]] std::ptrdiff_t inward_count(const std::vector<Corners>& triangles) const {
    return std::count_if(triangles.begin(), triangles.end(), [this](const Corners& x) {
      const Vec3<double> normal = (x[1] - x[0]).cross(x[2] - x[0]);
      const Vec3<double> gradient = field_((x[0] + x[1] + x[2]) / 3.0).gradient;
      return !(normal.dot(gradient) >= k_min_cosine * normal.norm() * gradient.norm());
    });
  }

  /// Whether `after` turns no triangle away from the surface that was not so before.
  [[nodiscard]] bool is_allowed(const Patch& after, const std::vector<Corners>& before) const {
    const std::ptrdiff_t count = inward_count(after.triangles);
    return count == 0 || count <= inward_count(before);
  }

  // Which samples a triangle stands for --------------------------------------------------------------------

  std::vector<int>& samples_of(int t) { return samples_of_triangle_[static_cast<std::size_t>(t)]; }
  [[nodiscard]] const std::vector<int>& samples_of(int t) const {
    return samples_of_triangle_[static_cast<std::size_t>(t)];
  }

  [[nodiscard]] Patch patch_of(std::span<const int> triangles) const {
    Patch patch;
    for (const int t : triangles) {
      patch.owners.insert(patch.owners.end(), samples_of(t).size(), patch.triangles.size());
      patch.triangles.push_back(corners(t));
      patch.samples.insert(patch.samples.end(), samples_of(t).begin(), samples_of(t).end());
      patch.energy_before += energy_of_triangle_[static_cast<std::size_t>(t)];
    }
    return patch;
  }

  /// Of the whole mesh, given what its samples are nearest to.
  [[nodiscard]] double energy_of_mesh() const {
    double sum = 0.0;
    for (int t = 0; t < mesh_.triangle_slots(); ++t) {
      if (mesh_.triangle(t)[0] >= 0) sum += energy_of_triangle_[static_cast<std::size_t>(t)];
    }
    return sum;
  }

  /// The energy of each triangle with the samples that it stands for.
  void set_energies() {
    energy_of_triangle_.assign(static_cast<std::size_t>(mesh_.triangle_slots()), 0.0);
    for (int t = 0; t < mesh_.triangle_slots(); ++t) {
      if (mesh_.triangle(t)[0] < 0) continue;
      double& energy = energy_of_triangle_[static_cast<std::size_t>(t)];
      energy = energy_of_shape(corners(t));
      for (const int s : samples_of(t))
        energy += energy_of_distance(squared_distances_[static_cast<std::size_t>(s)]);
    }
  }

  /// Gives each sample to the nearest of the triangles, which had them before or are new.
  void assign(std::span<const int> triangles, const std::vector<int>& samples) {
    samples_of_triangle_.resize(static_cast<std::size_t>(mesh_.triangle_slots()));
    energy_of_triangle_.resize(static_cast<std::size_t>(mesh_.triangle_slots()));
    std::vector<Corners> all;
    for (const int t : triangles) {
      all.push_back(corners(t));
      samples_of(t).clear();
      energy_of_triangle_[static_cast<std::size_t>(t)] = energy_of_shape(all.back());
    }
    const std::vector<Ball> balls = balls_around(all);
    for (const int s : samples) {
      const Nearest found = nearest(all, balls, s, 0);
      const int t = triangles[found.triangle];
      samples_of(t).push_back(s);
      energy_of_triangle_[static_cast<std::size_t>(t)] += energy_of_distance(found.squared_distance);
    }
  }

  /// Gives every sample to the triangle that is nearest in the whole mesh. Returns the sum of squared
  /// distances.
  double assign_all_samples() {
    samples_of_triangle_.assign(static_cast<std::size_t>(mesh_.triangle_slots()), {});
    std::vector<int> triangles;
    std::vector<Corners> all;
    for (int t = 0; t < mesh_.triangle_slots(); ++t) {
      if (mesh_.triangle(t)[0] < 0) continue;
      triangles.push_back(t);
      all.push_back(corners(t));
    }
    const std::vector<Ball> balls = balls_around(all);
    double sum = 0.0;
    std::size_t first = 0;
    for (int s = 0; s < static_cast<int>(samples_.cols()); ++s) {
      const Nearest found = nearest(all, balls, s, first);
      first = found.triangle;  // samples that follow each other are near each other
      samples_of(triangles[first]).push_back(s);
      squared_distances_[static_cast<std::size_t>(s)] = found.squared_distance;
      sum += found.squared_distance;
    }
    return sum;
  }

  // Changes that keep the number of vertices ---------------------------------------------------------------

  void flip_edges() {
    for (int sweep = 0; sweep < 10; ++sweep) {
      bool is_done = true;
      for (const auto& [a, b] : mesh_.edges()) {
        if (mesh_.triangles_of_edge(a, b)[0] < 0 || !mesh_.can_flip(a, b)) continue;
        const std::array<int, 2> triangles = mesh_.triangles_of_edge(a, b);
        const auto [c, d] = mesh_.opposite(a, b);
        Patch patch = patch_of(triangles);
        const double before = patch.energy_before;
        const Vec3<double>&pa = mesh_.position(a), &pb = mesh_.position(b), &pc = mesh_.position(c),
              &pd = mesh_.position(d);
        const std::vector<Corners> old = std::exchange(patch.triangles, {{pa, pd, pc}, {pb, pc, pd}});
        if (energy(patch, before) > before - k_min_gain || !is_allowed(patch, old)) continue;
        mesh_.flip(a, b);
        assign(triangles, patch.samples);
        is_done = false;
      }
      if (is_done) break;
    }
  }

  void slide_vertices(int sweeps) {
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      for (int v = 0; v < mesh_.vertex_slots(); ++v) {
        if (mesh_.has_vertex(v)) slide(v);
      }
    }
  }

  /// Pattern search along the surface: towards the middle of the neighbours, and four ways around. On a crease, to
  /// and fro along that.
  void slide(int v) {
    if (mesh_.is_corner(v)) return;
    const Vec3<double> p = mesh_.position(v);
    const Vec3<double> normal = field_(p).gradient.normalized();
    Vec3<double> middle = Vec3<double>::Zero();
    double length = 0.0;
    const std::vector<int> neighbors = mesh_.neighbors(v);
    for (const int u : neighbors) {
      middle += mesh_.position(u) / static_cast<double>(neighbors.size());
      length += (mesh_.position(u) - p).norm() / static_cast<double>(neighbors.size());
    }
    double& step = slide_steps_[static_cast<std::size_t>(v)];
    const Vec3<double> first = step * length * normal.unitOrthogonal(), second = normal.cross(first);
    const Vec3<double> to_middle = middle - p - normal * normal.dot(middle - p);

    const std::vector<int>& triangles = mesh_.triangles_of(v);
    Patch patch = patch_of(triangles);
    const std::vector<Corners> old = patch.triangles;
    double best = patch.energy_before - k_min_gain * step;
    Vec3<double> best_position = p;
    std::vector<Vec3<double>> places;
    if (mesh_.is_on_crease(v)) {
      for (const int u : mesh_.creases_of(v)) {
        if (const auto x = on_crease(v, u, step)) places.push_back(*x);
      }
    } else {
      for (const Vec3<double>& way :
           {to_middle, first, Vec3<double>(-first), second, Vec3<double>(-second)}) {
        Vec3<double> x = p + way;
        if (project_to_surface(field_, x, tolerance_) && (x - p).norm() <= 2.0 * way.norm())
          places.push_back(x);
      }
    }
    for (const Vec3<double>& x : places) {
      for (std::size_t i = 0; i < triangles.size(); ++i) {
        const auto& of_triangle = mesh_.triangle(triangles[i]);
        for (std::size_t k = 0; k < 3; ++k) {
          if (of_triangle[k] == v) patch.triangles[i][k] = x;
        }
      }
      const double e = energy(patch, best);
      if (e < best && is_allowed(patch, old)) {
        best = e;
        best_position = x;
      }
    }
    const bool has_moved = best_position != p;
    step = std::clamp(has_moved ? 1.3 * step : 0.5 * step, 1e-3, 0.5);
    if (!has_moved) return;
    mesh_.set_position(v, best_position);
    assign(triangles, patch.samples);
  }

  /// The point of the crease from a to b at that part of it.
  [[nodiscard]] std::optional<Vec3<double>> on_crease(int a, int b, double part) const {
    const Vec3<double>&p = mesh_.position(a), &q = mesh_.position(b), x = p + part * (q - p);
    const auto [c, d] = mesh_.opposite(a, b);
    const std::array<Vec3<double>, 2> sides{mesh_.position(c), mesh_.position(d)};
    const double length = (q - p).norm();
    const double reach = k_crease_reach * std::min({length, (sides[0] - x).norm(), (sides[1] - x).norm()});
    const std::optional<Vec3<double>> found = crease_point(field_, x, sides, reach, reach, tolerance_);
    if (!found || (*found - x).norm() > k_crease_reach * length) return std::nullopt;
    return found;
  }

  // Vertices that go from one place to another -------------------------------------------------------------

  /// A collapse, or a split, that could be done, and what it would do to the energy.
  struct Change {
    double energy;
    int a, b;
    Vec3<double> position;
    bool operator<(const Change& other) const {
      return std::tie(energy, a, b) < std::tie(other.energy, other.a, other.b);
    }
  };

  /// To one of the ends or the middle; of an infinite energy if that would rise by more than `most`.
  [[nodiscard]] Change best_collapse(int a, int b, double most) const {
    Change best{k_infinity, a, b, mesh_.position(a)};
    const EditableMesh::Survivor survivor = mesh_.survivor(a, b);
    if (survivor == EditableMesh::Survivor::none || !mesh_.can_collapse(a, b)) return best;
    const std::array<int, 2> gone = mesh_.triangles_of_edge(a, b);
    std::vector<int> all;
    for (const int v : {a, b}) {
      for (const int t : mesh_.triangles_of(v)) {
        if (t != gone[0] && t != gone[1]) all.push_back(t);
      }
    }
    const std::size_t kept = all.size();
    all.insert(all.end(), gone.begin(), gone.end());
    Patch patch = patch_of(all);
    const double before = patch.energy_before;
    const std::vector<Corners> old = patch.triangles;
    patch.triangles.resize(kept);

    for (const Vec3<double>& p : places_of(a, b, survivor)) {
      for (std::size_t i = 0; i < kept; ++i) {
        const auto& of_triangle = mesh_.triangle(all[i]);
        for (std::size_t k = 0; k < 3; ++k) {
          if (of_triangle[k] == a || of_triangle[k] == b) patch.triangles[i][k] = p;
        }
      }
      const double change = energy(patch, before + std::min(best.energy, most)) - before;
      if (change < best.energy && is_allowed(patch, old)) best = {change, a, b, p};
    }
    return best;
  }

  /// Where the vertex may be to which an edge collapses.
  [[nodiscard]] std::vector<Vec3<double>> places_of(int a, int b, EditableMesh::Survivor survivor) const {
    if (survivor == EditableMesh::Survivor::first) return {mesh_.position(a)};
    if (survivor == EditableMesh::Survivor::second) return {mesh_.position(b)};
    std::vector<Vec3<double>> places{mesh_.position(a), mesh_.position(b)};
    if (const auto middle = middle_of(a, b)) places.push_back(*middle);
    return places;
  }

  /// The middle of an edge, moved onto the surface, or along its crease if it is one.
  [[nodiscard]] std::optional<Vec3<double>> middle_of(int a, int b) const {
    if (mesh_.is_crease(a, b)) return on_crease(a, b, 0.5);
    Vec3<double> middle = 0.5 * (mesh_.position(a) + mesh_.position(b));
    if (!project_to_surface(field_, middle, tolerance_)) return std::nullopt;
    return middle;
  }

  [[nodiscard]] Change best_split(int a, int b) const {
    Change best{k_infinity, a, b, mesh_.position(a)};
    const std::optional<Vec3<double>> middle = middle_of(a, b);
    if (!middle) return best;
    best.position = *middle;
    const std::array<int, 2> triangles = mesh_.triangles_of_edge(a, b);
    const auto [c, d] = mesh_.opposite(a, b);
    Patch patch = patch_of(triangles);
    const double before = patch.energy_before;
    const Vec3<double>&pa = mesh_.position(a), &pb = mesh_.position(b), &pc = mesh_.position(c),
          &pd = mesh_.position(d), &p = best.position;
    const std::vector<Corners> old =
        std::exchange(patch.triangles, {{pa, p, pc}, {p, pb, pc}, {p, pa, pd}, {pb, p, pd}});
    const double change = energy(patch, k_infinity) - before;
    if (is_allowed(patch, old)) best.energy = change;
    return best;
  }

  /// Collapses where it costs least and splits where it gains most, while the two together gain; brings the
  /// number of vertices to what was asked for, too.
  void move_vertices() {
    std::vector<Change> collapses, splits;
    const auto edges = mesh_.edges();
    const bool only_shrinks = mesh_.vertex_count() > k_surplus * options_.vertices;
    if (!only_shrinks) {
      for (const auto& [a, b] : edges) splits.push_back(best_split(a, b));
      std::sort(splits.begin(), splits.end());
    }
    const bool has_surplus = mesh_.vertex_count() > options_.vertices;
    const double most = has_surplus || splits.empty() ? k_infinity : -splits.front().energy;
    for (const auto& [a, b] : edges) collapses.push_back(best_collapse(a, b, most));
    std::sort(collapses.begin(), collapses.end());
    is_touched_.assign(static_cast<std::size_t>(mesh_.vertex_slots()), false);
    auto collapse = collapses.begin();
    auto split = splits.begin();
    while (true) {
      const int surplus = mesh_.vertex_count() - options_.vertices;
      while (collapse != collapses.end() && is_stale(*collapse)) ++collapse;
      while (split != splits.end() && is_stale(*split)) ++split;
      const double collapse_energy = collapse != collapses.end() ? collapse->energy : k_infinity;
      const double split_energy = split != splits.end() ? split->energy : k_infinity;
      if (surplus > 0 && collapse_energy < k_infinity) {
        apply_collapse(*collapse);
      } else if ((surplus < 0 && split_energy < k_infinity) ||
                 (surplus == 0 && collapse_energy + split_energy < -k_min_gain)) {
        apply_split(*split);  // where there was no surplus, the next turn collapses something nearly as good
      } else {
        break;
      }
    }
    // A split whose collapse has become stale leaves one vertex too many for the next round.
  }

  /// Whether something around the edge has changed since its energy was found.
  [[nodiscard]] bool is_stale(const Change& change) const {
    if (is_touched(change.a) || is_touched(change.b)) return true;
    const auto [c, d] = mesh_.opposite(change.a, change.b);
    return is_touched(c) || is_touched(d);
  }
  [[nodiscard]] bool is_touched(int v) const { return is_touched_[static_cast<std::size_t>(v)]; }
  void touch_around(int v) {
    for (const int u : mesh_.neighbors(v)) is_touched_[static_cast<std::size_t>(u)] = true;
    is_touched_[static_cast<std::size_t>(v)] = true;
  }

  void apply_collapse(const Change& change) {
    const auto& [change_energy, a, b, position] = change;
    touch_around(a);
    touch_around(b);
    std::vector<int> samples;
    for (const int v : {a, b}) {
      for (const int t : mesh_.triangles_of(v)) {
        samples.insert(samples.end(), samples_of(t).begin(), samples_of(t).end());
        samples_of(t).clear();  // so those of the two shared triangles come once
      }
    }
    mesh_.collapse(a, b);
    mesh_.set_position(a, position);
    assign(mesh_.triangles_of(a), samples);
    slide_steps_[static_cast<std::size_t>(a)] = k_first_slide;
  }

  void apply_split(const Change& change) {
    const int v = split(change.a, change.b, change.position);
    is_touched_.push_back(true);
    touch_around(v);
  }

  /// Puts a new vertex on the edge and returns its number.
  int split(int a, int b, const Vec3<double>& position) {
    const Patch patch = patch_of(mesh_.triangles_of_edge(a, b));
    const int v = mesh_.split(a, b, position);
    assign(mesh_.triangles_of(v), patch.samples);
    slide_steps_.push_back(k_first_slide);
    return v;
  }

  const SurfaceField& field_;
  const Points& samples_;
  SurfaceMeshOptions options_;
  double tolerance_;
  EditableMesh& mesh_;
  double size_ = 0.0, mean_area_ = 0.0, mean_squared_distance_ = 0.0, sample_weight_ = 0.0;
  double least_squared_distance_ = 0.0;  // that is taken for the mean; a mesh may be exact
  std::vector<std::vector<int>> samples_of_triangle_;
  std::vector<double> squared_distances_;  // of the samples, when all were given to triangles
  std::vector<double> energy_of_triangle_;
  std::vector<double> slide_steps_;  // how far a vertex slides, relative to the mean length of its edges
  std::vector<bool> is_touched_;     // vertices near a change of this round
};

}  // namespace

void refine_surface(const SurfaceField& field, const Points& samples, const SurfaceMeshOptions& options,
                    double tolerance, EditableMesh& mesh) {
  SurfaceRefiner(field, samples, options, tolerance, mesh).refine();
}

}  // namespace abut
